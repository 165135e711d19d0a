/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * random.h - random numbers, the same on every machine
 */
#ifndef FUZZ_RANDOM_H
#define FUZZ_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t u64;
typedef uint32_t u32;
typedef int64_t s64;

/**
 * struct fuzz_rng - a stream of random numbers
 * @state: state of splitmix64
 */
struct fuzz_rng {
	u64 state;
};

/**
 * fuzz_random() - return the next random number
 * @rng: the stream
 *
 * Return: any 64 bits.
 */
u64 fuzz_random(struct fuzz_rng *rng);

/**
 * fuzz_below() - return a random number below a limit
 * @rng: the stream
 * @limit: not 0
 *
 * Return: 0 to @limit - 1.
 */
u64 fuzz_below(struct fuzz_rng *rng, u64 limit);

/**
 * fuzz_percent() - return true with a given probability
 * @rng: the stream
 * @percent: the probability
 *
 * Return: true in @percent of 100 calls.
 */
bool fuzz_percent(struct fuzz_rng *rng, unsigned int percent);

/**
 * fuzz_edge() - return an edge case of a number
 * @rng: the stream
 *
 * Return: 0, 1, a power of two, one less, one more, all ones, or any number.
 */
u64 fuzz_edge(struct fuzz_rng *rng);

#endif /* FUZZ_RANDOM_H */
