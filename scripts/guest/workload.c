// SPDX-License-Identifier: GPL-2.0
/*
 * A workload whose profile is known: 70, 20 and 10 percent of its instructions are in
 * the functions that say so. The environment's ROUNDS makes it shorter or longer.
 *
 * How many instructions it executes must not depend on when interrupts come, so there
 * is no C library: the library's start takes locks, and on arm64 an interrupt between
 * the two exclusive accesses of a lock has them done again.
 */
#define ROUNDS	5000
/*
 * Iterations of a round. Were the distance of two samples a multiple of half a round, as
 * with 20000 iterations, 1.5 GHz and 4000 samples a second, they would fall on few places
 * and miss the shares by several percent: here it is 12.38 rounds.
 */
#define UNIT	20190

#ifdef __aarch64__
asm(".global	_start\n"
	"_start:\n"
	"	mov	x29, #0\n"
	"	mov	x30, #0\n"
	"	ldr	x0, [sp]\n"		/* argc, argv[], NULL, envp[] */
	"	add	x1, sp, #8\n"
	"	add	x2, x1, x0, lsl #3\n"
	"	add	x2, x2, #8\n"
	"	bl	main\n"
	"	mov	x8, #94\n"		/* exit_group */
	"	svc	#0\n");
#else
asm(".global	_start\n"
	"_start:\n"
	"	xor	%ebp, %ebp\n"
	"	mov	(%rsp), %rdi\n"
	"	lea	8(%rsp), %rsi\n"
	"	lea	8(%rsi,%rdi,8), %rdx\n"
	"	and	$-16, %rsp\n"
	"	call	main\n"
	"	mov	%eax, %edi\n"
	"	mov	$231, %eax\n"		/* exit_group */
	"	syscall\n");
#endif

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

static int rounds_of(char **envp)
{
	static const char name[] = "ROUNDS=";
	int i, n = 0;

	for (; *envp; envp++) {
		for (i = 0; name[i] && (*envp)[i] == name[i]; i++)
			;
		if (name[i])
			continue;
		for (; (*envp)[i] >= '0' && (*envp)[i] <= '9'; i++)
			n = n * 10 + (*envp)[i] - '0';
		return n;
	}
	return ROUNDS;
}

int main(int argc, char **argv, char **envp)
{
	int i, n = rounds_of(envp);

	(void)argc;
	(void)argv;
	for (i = 0; i < n; i++)
		spin_once();
	return 0;
}
