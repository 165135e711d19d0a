// SPDX-License-Identifier: GPL-2.0
/*
 * A workload whose profile is known: 70, 20 and 10 percent of its instructions are in
 * the functions that say so.
 */
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

int main(void)
{
	int i;

	for (i = 0; i < ROUNDS; i++) {
		spin_70_percent();
		spin_20_percent();
		spin_10_percent();
	}
	return 0;
}
