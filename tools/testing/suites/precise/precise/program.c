// SPDX-License-Identifier: GPL-2.0-only
/*
 * program.c - the program in assembly, and its position at a given count
 *
 * MOVE is the first instruction to write to a page of the table: its load is complete when its
 * store faults. The system call that enables the event comes right before the first instruction of
 * the first round. So user counts start there.
 */
#include "program.h"

#define STR(x)	#x
#define XSTR(x)	STR(x)

#define NR_IOCTL		16
#define IOC_ENABLE		0x2400
#define IOC_DISABLE		0x2401

#define STEP			3	/* entries from one load to the next */
#define ADDED			5	/* is added to R15 in every other round */
#define BYTES			4	/* are copied in each round by a repeated instruction */

asm(".pushsection .text\n"
"	.balign	64\n"
"	.global	program\n"
"program:\n"
"	push	%rbx\n"
"	push	%rbp\n"
"	push	%r12\n"
"	push	%r13\n"
"	push	%r14\n"
"	push	%r15\n"
"	mov	0(%rdi), %r14\n"
"	mov	8(%rdi), %rbp\n"
"	mov	16(%rdi), %r12\n"
"	mov	24(%rdi), %r13\n"
"	mov	32(%rdi), %r9\n"
"	mov	40(%rdi), %r8\n"
"	xor	%ebx, %ebx\n"
"	xor	%r10d, %r10d\n"
"	xor	%r15d, %r15d\n"
"	movq	%rbx, %xmm3\n"
"	mov	%ebp, %edi\n"
"	mov	$" XSTR(IOC_ENABLE) ", %esi\n"
"	xor	%edx, %edx\n"
"	mov	$" XSTR(NR_IOCTL) ", %eax\n"
"	syscall\n"
"at_count:\n"
"	lea	1(%rbx), %rbx\n"
"at_load:\n"
"	mov	(%r12,%r10,8), %r11\n"
"at_store:\n"
"	mov	%r11, (%r13,%r10,8)\n"
"at_step:\n"
"	lea	(%rbx,%rbx,2), %r10\n"
"at_mask:\n"
"	and	%r9, %r10\n"
"at_test:\n"
"	test	$1, %bl\n"
"at_skip:\n"
"	jz	at_vector\n"
"at_add:\n"
"	lea	" XSTR(ADDED) "(%r15), %r15\n"
"at_vector:\n"
"	movq	%rbx, %xmm3\n"
"at_next:\n"
"	lea	(%r13,%r10,8), %rdi\n"
"at_first:\n"
"	mov	%r12, %rsi\n"
"at_move:\n"
"	movsb\n"
"at_source:\n"
"	mov	%r12, %rsi\n"
"at_target:\n"
"	mov	%r8, %rdi\n"
"at_bytes:\n"
"	mov	$" XSTR(BYTES) ", %ecx\n"
"at_string:\n"
"	rep movsb\n"
"at_left:\n"
"	dec	%r14\n"
"at_round:\n"
"	jnz	at_count\n"
"at_end:\n"
"	mov	%ebp, %edi\n"
"	mov	$" XSTR(IOC_DISABLE) ", %esi\n"
"	xor	%edx, %edx\n"
"	mov	$" XSTR(NR_IOCTL) ", %eax\n"
"	syscall\n"
"	pop	%r15\n"
"	pop	%r14\n"
"	pop	%r13\n"
"	pop	%r12\n"
"	pop	%rbp\n"
"	pop	%rbx\n"
"	ret\n"
"	.popsection\n");

extern const char at_count[], at_load[], at_store[], at_step[], at_mask[], at_test[], at_skip[],
	at_add[], at_vector[], at_next[], at_first[], at_move[], at_source[], at_target[],
	at_bytes[], at_string[], at_left[], at_round[], at_end[];

/* The instructions of a round, in order; even rounds omit ADD. */
enum {
	COUNT, LOAD, STORE, STEP_ON, MASK, TEST, SKIP, ADD, VECTOR, NEXT, FIRST, MOVE, SOURCE,
	TARGET, HOW_MANY, STRING, LEFT, ROUND, INSNS
};

static const char *const where[] = {
	at_count, at_load, at_store, at_step, at_mask, at_test, at_skip, at_add, at_vector,
	at_next, at_first, at_move, at_source, at_target, at_bytes, at_string, at_left, at_round,
	at_end,
};

static unsigned int weight(enum counted what, unsigned int insn)
{
	switch (what) {
	case CYCLES:
		return 1 + (insn == SKIP || insn == ROUND);
	case LOADS:
		return insn == STRING ? BYTES : insn == LOAD || insn == MOVE;
	case STORES:
		return insn == STRING ? BYTES : insn == STORE || insn == MOVE;
	case BRANCHES:
		return insn == SKIP || insn == ROUND;
	default:
		return 1;
	}
}

static bool is_left_out(u64 round, unsigned int insn)
{
	return insn == ADD && round % 2 == 0;
}

static u64 of_round(enum counted what, u64 round)
{
	u64 n = 0;

	for (unsigned int insn = 0; insn < INSNS; insn++)
		if (!is_left_out(round, insn))
			n += weight(what, insn);
	return n;
}

u64 program_total(const struct run *run, enum counted what)
{
	return (run->rounds + 1) / 2 * of_round(what, 1) + run->rounds / 2 * of_round(what, 2);
}

u64 program_loads(u64 rounds)
{
	return rounds * of_round(LOADS, 1);
}

/* ---- registers ---- */

#define FLAG_CF			0x1
#define FLAG_PF			0x4
#define FLAG_ZF			0x40
#define FLAG_SF			0x80
#define FLAG_OF			0x800
#define FLAGS_RESULT		(FLAG_CF | FLAG_PF | FLAG_ZF | FLAG_SF | FLAG_OF)

/* Return the flags of AND, TEST and DEC, whose results are not negative here. DEC keeps CF. */
static u64 flags_of(u64 result)
{
	return (result ? 0 : FLAG_ZF) | (__builtin_parity(result & 0xff) ? 0 : FLAG_PF);
}

static u64 index_of(const struct run *run, u64 round)
{
	return round > 1 ? STEP * (round - 1) & run->mask : 0;
}

u64 program_load_addr(const struct run *run, u64 round)
{
	return (uintptr_t)&run->from[index_of(run, round)];
}

static void flags_at(const struct run *run, u64 round, unsigned int insn, struct moment *m)
{
	m->known = FLAGS_RESULT;
	if (insn >= LEFT)
		m->flags = flags_of(run->rounds - round);
	else if (insn >= TEST)
		m->flags = flags_of(round & 1);
	else if (insn == MASK)
		m->flags = flags_of(STEP * round & run->mask);
	else if (round > 1)
		m->flags = flags_of(run->rounds - (round - 1));
	else
		m->known = 0;	/* flags of the system call */
}

static void registers_at(const struct run *run, enum counted what, u64 round, unsigned int insn,
			 struct moment *m)
{
	u64 index = index_of(run, round);

	m->index = index;
	if (insn == LOAD)
		m->addr = program_load_addr(run, round);
	if (insn == STORE)
		m->addr = (uintptr_t)&run->to[index];
	if (insn == STRING)
		m->addr = (uintptr_t)(what == STORES ? (const void *)run->bytes : run->from);
	if (insn == MOVE)
		m->addr = (uintptr_t)(what == STORES ? &run->to[index_of(run, round + 1)] :
						       run->from);
	m->rbx = round;
	/* SYSCALL sets RCX to the address of the next instruction. */
	m->rcx = insn == HOW_MANY ? BYTES : insn > HOW_MANY || round > 1 ? 0 : (uintptr_t)at_count;
	m->r10 = insn < STEP_ON ? index : insn < MASK ? STEP * round : index_of(run, round + 1);
	if (insn >= LOAD)
		m->r11 = run->from[index];
	else if (round > 1)
		m->r11 = run->from[index_of(run, round - 1)];
	m->r14 = run->rounds - (insn >= LEFT ? round : round - 1);
	m->r15 = ADDED * (round / 2 + (round % 2 && insn >= ADD));
	m->xmm3 = insn >= VECTOR ? round : round - 1;
}

static unsigned int insn_after(const struct run *run, u64 round, unsigned int insn)
{
	if (insn == ROUND)
		return round < run->rounds ? COUNT : INSNS;
	return is_left_out(round, insn + 1) ? insn + 2 : insn + 1;
}

/* Find the round and the instruction at which a count reaches @n. */
static u64 round_at(enum counted what, u64 n, unsigned int *where_in)
{
	u64 two = of_round(what, 1) + of_round(what, 2);
	u64 round = (n - 1) / two * 2 + 1, left = (n - 1) % two + 1;
	unsigned int insn;

	if (left > of_round(what, round))
		left -= of_round(what, round++);
	for (insn = 0; ; insn++) {
		if (is_left_out(round, insn))
			continue;
		if (left <= weight(what, insn))
			break;
		left -= weight(what, insn);
	}
	*where_in = insn;
	return round;
}

u64 program_count(enum counted what, u64 n, enum counted other)
{
	unsigned int insn;
	u64 round = round_at(what, n, &insn), two = of_round(other, 1) + of_round(other, 2), count;

	count = (round - 1) / 2 * two;
	if (round % 2 == 0)
		count += of_round(other, 1);
	for (unsigned int i = 0; i <= insn; i++)
		if (!is_left_out(round, i))
			count += weight(other, i);
	return count;
}

void program_at(const struct run *run, enum counted what, u64 n, struct moment *m)
{
	unsigned int insn;
	u64 round = round_at(what, n, &insn);

	*m = (struct moment) {
		.ip = (uintptr_t)where[insn],
		.next = (uintptr_t)where[insn_after(run, round, insn)],
	};
	registers_at(run, what, round, insn, m);
	flags_at(run, round, insn, m);
}

/* Check whether the instruction is a taken branch. The last round's branch ends the program. */
static bool is_taken(const struct run *run, u64 round, unsigned int insn)
{
	return insn == ROUND ? round < run->rounds : insn == SKIP && is_left_out(round, ADD);
}

unsigned int program_branches(const struct run *run, enum counted what, u64 n,
			      struct branch *branches, unsigned int max)
{
	unsigned int insn, nr = 0;

	for (u64 round = round_at(what, n, &insn); round && nr < max; round--, insn = ROUND) {
		for (int i = insn; i >= 0 && nr < max; i--) {
			if (!is_taken(run, round, i))
				continue;
			branches[nr].from = (uintptr_t)where[i];
			branches[nr++].to = (uintptr_t)(i == ROUND ? at_count : at_vector);
		}
	}
	return nr;
}
