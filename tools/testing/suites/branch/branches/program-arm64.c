// SPDX-License-Identifier: GPL-2.0-only
/*
 * program-arm64.c - programs in assembly, and their branches
 *
 * The cycles of a step are the instructions since the previous step, including the branch, plus
 * the number of branches among them, taken or not: see tools/qemu/arm64/arm64-pmu.rst.
 */
#ifdef __aarch64__
#include <signal.h>

#include "program.h"

#define STR(x)	#x
#define XSTR(x)	STR(x)

/*
 * Loops, jumps and calls, direct and indirect; branches that are never taken, or every other
 * round; calls deeper than the stack; a call of the next instruction. The code is in one page, so
 * that it can be mapped anywhere.
 */
asm(".pushsection .text\n"
"	.balign	4096\n"
"	.global	plain, plain_code, plain_code_end\n"
"plain_code:\n"
"plain:	stp	x29, x30, [sp, #-32]!\n"
"	str	x19, [sp, #16]\n"
"	mov	x19, x0\n"
"t_round:\n"
"	mov	w1, #5\n"
"t_loop:\n"
"	sub	w1, w1, #1\n"
"b_loop:\n"
"	cbnz	w1, t_loop\n"
"	mov	w1, #3\n"
"	mov	x2, #0\n"
"	cbnz	x2, t_round\n"
"b_jmp:	b	t_jmp\n"
"	udf	#0\n"
"t_jmp:	adr	x2, t_ijmp\n"
"b_ijmp:\n"
"	br	x2\n"
"	udf	#0\n"
"t_ijmp:\n"
"b_call:\n"
"	bl	f_leaf\n"
"a_call:\n"
"	adr	x2, f_leaf\n"
"b_icall:\n"
"	blr	x2\n"
"a_icall:\n"
"	adr	x2, f_tail\n"
"b_tcall:\n"
"	blr	x2\n"
"a_tcall:\n"
"b_alt:	tbz	w19, #0, t_alt\n"
"	nop\n"
"t_alt:	mov	w1, #" XSTR(DEEP) "\n"
"b_deep:\n"
"	bl	f_deep\n"
"a_deep:\n"
"b_zero:\n"
"	bl	t_zero\n"
"t_zero:\n"
"	sub	x19, x19, #1\n"
"b_round:\n"
"	cbnz	x19, t_round\n"
"	ldr	x19, [sp, #16]\n"
"	ldp	x29, x30, [sp], #32\n"
"b_ret:	ret\n"
"f_leaf:\n"
"	nop\n"
"r_leaf:\n"
"	ret\n"
"f_tail:\n"
"	b	f_leaf\n"
"f_deep:\n"
"	stp	x29, x30, [sp, #-16]!\n"
"	subs	w1, w1, #1\n"
"b_end:	b.eq	t_end\n"
"b_deeper:\n"
"	bl	f_deep\n"
"a_deeper:\n"
"	nop\n"
"t_end:	ldp	x29, x30, [sp], #16\n"
"r_deep:\n"
"	ret\n"
"plain_code_end:\n"
".popsection");

/* Offset of the program counter in a signal's context: uc_mcontext.pc */
#define CONTEXT_PC		440

/*
 * System calls, and a signal whose handler returns behind the instruction that raised it. The
 * hardware records an exception at its return address: behind the system call, at the undefined
 * instruction.
 */
asm(".pushsection .text\n"
"	.global	kernel\n"
"kernel:\n"
"	stp	x29, x30, [sp, #-32]!\n"
"	str	x19, [sp, #16]\n"
"	mov	x19, x0\n"
"k_round:\n"
"	mov	w1, #4\n"
"k_loop:	sub	w1, w1, #1\n"
"kb_loop:\n"
"	cbnz	w1, k_loop\n"
"	mov	x8, #173\n"		/* getppid() */
"	svc	#0\n"
"ka_sys:\n"
"	nop\n"
"kb_call:\n"
"	bl	f_leaf\n"
"ka_call:\n"
"	nop\n"
"kb_trap:\n"
"	udf	#0\n"
"ka_trap:\n"
"	sub	x19, x19, #1\n"
"kb_round:\n"
"	cbnz	x19, k_round\n"
"	ldr	x19, [sp, #16]\n"
"	ldp	x29, x30, [sp], #32\n"
"	ret\n"
"k_handler:\n"
"	ldr	x3, [x2, #" XSTR(CONTEXT_PC) "]\n"
"	add	x3, x3, #4\n"
"	str	x3, [x2, #" XSTR(CONTEXT_PC) "]\n"
"kb_handled:\n"
"	ret\n"
"k_restore:\n"
"	mov	x8, #139\n"		/* rt_sigreturn() */
"	svc	#0\n"
"ka_restore:\n"
"	udf	#0\n"
".popsection");

/* A call stack that stays the same, except for calls at its deepest level */
asm(".pushsection .text\n"
"	.global	nest, nest_turn, nest_turn_end, nest_call, nest_first, nest_called\n"
"nest:	stp	x29, x30, [sp, #-32]!\n"
"	stp	x19, x20, [sp, #16]\n"
"	mov	x19, x1\n"
"	mov	x20, x2\n"
"nest_first:\n"
"	bl	nest_called\n"
"	ldp	x19, x20, [sp, #16]\n"
"	ldp	x29, x30, [sp], #32\n"
"	ret\n"
"nest_called:\n"
"	stp	x29, x30, [sp, #-16]!\n"
"	sub	x0, x0, #1\n"
"	cbz	x0, nest_turn\n"
"nest_call:\n"
"	bl	nest_called\n"
"	ldp	x29, x30, [sp], #16\n"
"	ret\n"
"nest_turn:\n"
"	mov	w1, #100\n"
"nest_loop:\n"
"	sub	w1, w1, #1\n"
"	cbnz	w1, nest_loop\n"
"nest_turn_end:\n"
"	blr	x20\n"
"	sub	x19, x19, #1\n"
"	cbnz	x19, nest_turn\n"
"	ldp	x29, x30, [sp], #16\n"
"	ret\n"
".popsection");

/* plain() at two addresses, one round at each in turn */
asm(".pushsection .text\n"
"	.global	both\n"
"both:	stp	x29, x30, [sp, #-48]!\n"
"	stp	x19, x20, [sp, #16]\n"
"	str	x21, [sp, #32]\n"
"	mov	x19, x0\n"
"	mov	x20, x1\n"
"	mov	x21, x2\n"
"x_round:\n"
"	mov	x0, #1\n"
"xb_here:\n"
"	blr	x20\n"
"xa_here:\n"
"	mov	x0, #1\n"
"xb_there:\n"
"	blr	x21\n"
"xa_there:\n"
"	sub	x19, x19, #1\n"
"xb_round:\n"
"	cbnz	x19, x_round\n"
"	ldr	x21, [sp, #32]\n"
"	ldp	x19, x20, [sp, #16]\n"
"	ldp	x29, x30, [sp], #48\n"
"	ret\n"
".popsection");

LABEL t_loop[], b_loop[], b_jmp[], t_jmp[], b_ijmp[], t_ijmp[], b_call[], a_call[], b_icall[],
	a_icall[], b_tcall[], a_tcall[], b_alt[], t_alt[], b_deep[], a_deep[], b_zero[], t_zero[],
	f_tail[], f_deep[], b_end[], b_deeper[], a_deeper[], t_end[], r_deep[];
LABEL ka_restore[];

static void go_deep(const struct mover *m)
{
	for (unsigned int i = 1; i < DEEP; i++)
		go(m, b_deeper, f_deep, KIND_CALL, 4, 2);
	go(m, b_end, t_end, KIND_COND, 3, 1);
	for (unsigned int i = 1; i < DEEP; i++)
		go(m, r_deep, a_deeper, KIND_RETURN, i == 1 ? 2 : 3, 1);
	go(m, r_deep, a_deep, KIND_RETURN, 3, 1);
}

void go_round(const struct mover *m, unsigned int before, bool alternative)
{
	go(m, b_loop, t_loop, KIND_COND, before + 3, 1);
	for (unsigned int i = 0; i < 3; i++)
		go(m, b_loop, t_loop, KIND_COND, 2, 1);
	go(m, b_jmp, t_jmp, KIND_JUMP, 6, 3);
	go(m, b_ijmp, t_ijmp, KIND_IND_JUMP, 2, 1);
	go(m, b_call, f_leaf, KIND_CALL, 1, 1);
	go(m, r_leaf, a_call, KIND_RETURN, 2, 1);
	go(m, b_icall, f_leaf, KIND_IND_CALL, 2, 1);
	go(m, r_leaf, a_icall, KIND_RETURN, 2, 1);
	go(m, b_tcall, f_tail, KIND_IND_CALL, 2, 1);
	go(m, f_tail, f_leaf, KIND_JUMP, 1, 1);
	go(m, r_leaf, a_tcall, KIND_RETURN, 2, 1);
	if (alternative) {
		go(m, b_alt, t_alt, KIND_COND, 1, 1);
		go(m, b_deep, f_deep, KIND_CALL, 2, 1);
	} else {
		go(m, b_deep, f_deep, KIND_CALL, 4, 2);
	}
	go_deep(m);
	go(m, b_zero, t_zero, KIND_CALL, 1, 1);
}

/* The hardware records SVC with the address of the next instruction. */
const struct program program = {
	.again = 2, .before = 3, .trap = SIGILL, .flags = SA_SIGINFO, .sys = ka_sys,
	.restore = ka_restore,
};

#endif /* __aarch64__ */
