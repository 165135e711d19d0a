// SPDX-License-Identifier: GPL-2.0
/*
 * A workload whose profile is known: 70, 20 and 10 percent of its instructions are in
 * the functions that say so. The environment's ROUNDS makes it shorter or longer.
 */
#include <stdlib.h>

#define ROUNDS	5000
#define UNIT	20000

/* Each has a loop of its own, so that the instruction pointer tells who asked. */
#define SPIN(name, share)					\
	static void __attribute__((noinline)) name(void)	\
	{							\
		unsigned long n = (share) * UNIT / 100;		\
								\
		while (n--)					\
			asm volatile("" ::: "memory");		\
	}

SPIN(spin_70_percent, 70)
SPIN(spin_20_percent, 20)
SPIN(spin_10_percent, 10)

/* Not main(): of a call chain the caller of a function without a frame is missing. */
static void __attribute__((noinline)) spin_once(void)
{
	spin_70_percent();
	spin_20_percent();
	spin_10_percent();
}

int main(void)
{
	const char *rounds = getenv("ROUNDS");
	int i, n = rounds ? atoi(rounds) : ROUNDS;

	for (i = 0; i < n; i++)
		spin_once();
	return 0;
}
