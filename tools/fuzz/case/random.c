// SPDX-License-Identifier: GPL-2.0-only
/*
 * random.c - repeatable random numbers
 */
#include "make.h"

/* splitmix64, by Sebastiano Vigna: any seed is good, and streams of close seeds are far apart */
u64 fuzz_random(struct fuzz_rng *rng)
{
	u64 z = rng->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

u64 fuzz_below(struct fuzz_rng *rng, u64 limit)
{
	return fuzz_random(rng) % limit;
}

bool fuzz_percent(struct fuzz_rng *rng, unsigned int percent)
{
	return fuzz_below(rng, 100) < percent;
}

u64 fuzz_edge(struct fuzz_rng *rng)
{
	u64 power = 1ULL << fuzz_below(rng, 64);

	switch (fuzz_below(rng, 8)) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return power - 1;
	case 3:
		return power + 1;
	case 4:
		return ~0ULL;
	case 5:
		return fuzz_random(rng);
	default:
		return power;
	}
}

u64 fuzz_choose(struct fuzz_rng *rng, const struct fuzz_choice *choices, unsigned int nr)
{
	unsigned int sum = 0, i;
	u64 at;

	for (i = 0; i < nr; i++)
		sum += choices[i].weight;
	at = fuzz_below(rng, sum);
	for (i = 0; at >= choices[i].weight; i++)
		at -= choices[i].weight;
	return choices[i].value;
}
