// SPDX-License-Identifier: GPL-2.0
/*
 * A workload with a known profile: functions named by their share execute 70, 20 and 10 percent of
 * its instructions. The environment's ROUNDS makes it shorter or longer.
 *
 * The number of instructions must not depend on when interrupts come. So the program has no C
 * library: the library's start takes locks, and on arm64 an interrupt between the two exclusive
 * accesses of a lock makes the CPU repeat them.
 */
#define ROUNDS	5000
/*
 * Iterations of a round. The distance of two samples must not be a multiple of half a round: the
 * samples would fall on few places and miss the shares by several percent (20000 iterations, 1.5
 * GHz and 4000 samples a second). Here the distance is 12.38 rounds.
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

/* Each function has its own loop: the instruction pointer tells which function runs. */
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

/* Not main(): a call chain lacks the caller of a function without a frame. */
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
