/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * make.h - what cases are made of
 */
#ifndef MAKE_H
#define MAKE_H

#include "fuzz.h"

/**
 * struct fuzz_choice - one of several things, some likelier than others
 * @value: which
 * @weight: how much likelier
 */
struct fuzz_choice {
	u64 value;
	unsigned int weight;
};

/**
 * fuzz_choose() - one of several things
 * @rng: where it comes from
 * @choices: which there are
 * @nr: how many
 *
 * Return: its value.
 */
u64 fuzz_choose(struct fuzz_rng *rng, const struct fuzz_choice *choices, unsigned int nr);

/**
 * fuzz_choose_period() - a sample_period
 * @rng: where it comes from
 *
 * Return: one that a program may want, or an edge.
 */
u64 fuzz_choose_period(struct fuzz_rng *rng);

/**
 * fuzz_make_clean() - an event of whose samples all can be compared
 * @event: result
 * @rng: where it comes from
 *
 * It samples user space, and nothing is odd about it.
 */
void fuzz_make_clean(struct fuzz_event *event, struct fuzz_rng *rng);

#endif /* MAKE_H */
