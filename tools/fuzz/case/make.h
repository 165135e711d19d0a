/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * make.h - parts of random cases
 */
#ifndef MAKE_H
#define MAKE_H

#include "fuzz.h"

/**
 * struct fuzz_choice - one of several values with different probabilities
 * @value: the value
 * @weight: its relative probability
 */
struct fuzz_choice {
	u64 value;
	unsigned int weight;
};

/**
 * fuzz_choose() - choose one of several values
 * @rng: random numbers
 * @choices: the values
 * @nr: their number
 *
 * Return: a value.
 */
u64 fuzz_choose(struct fuzz_rng *rng, const struct fuzz_choice *choices, unsigned int nr);

/**
 * fuzz_choose_period() - choose a sample_period
 * @rng: random numbers
 *
 * Return: a plausible period, or an edge case.
 */
u64 fuzz_choose_period(struct fuzz_rng *rng);

/**
 * fuzz_make_clean() - make an event whose samples can all be compared
 * @event: result
 * @rng: random numbers
 *
 * The event samples user space, without unusual attributes.
 */
void fuzz_make_clean(struct fuzz_event *event, struct fuzz_rng *rng);

#endif /* MAKE_H */
