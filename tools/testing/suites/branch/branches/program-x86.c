// SPDX-License-Identifier: GPL-2.0-only
/*
 * program-x86.c - programs in assembly, and their branches
 *
 * The cycles of a step are the instructions since the previous step, including the branch, plus
 * the number of branches among them, taken or not: see tools/qemu/x86/x86-pmu.rst.
 */
#ifdef __x86_64__
#include <signal.h>

#include "program.h"

#define STR(x)	#x
#define XSTR(x)	STR(x)

/*
 * Loops, jumps and calls, direct and indirect, through a register and through memory; branches
 * that are never taken, or every other round; calls deeper than the stack; a call of the next
 * instruction. The code is in one page, so that it can be mapped anywhere.
 */
asm(".pushsection .text\n"
"	.balign	4096\n"
"	.global	plain, plain_code, plain_code_end\n"
"plain_code:\n"
"plain:	push	%rbx\n"
"	mov	%rdi, %rbx\n"
"t_round:\n"
"	mov	$5, %ecx\n"
"t_loop:\n"
"	dec	%ecx\n"
"b_loop:\n"
"	jnz	t_loop\n"
"	mov	$3, %ecx\n"
"b_self:\n"
"	loop	b_self\n"
"	xor	%eax, %eax\n"
"	jnz	t_round\n"
"b_jmp:	jmp	t_jmp\n"
"	ud2\n"
"t_jmp:	lea	t_ijmp(%rip), %rax\n"
"b_ijmp:\n"
"	jmp	*%rax\n"
"	ud2\n"
"t_ijmp:\n"
"b_call:\n"
"	call	f_leaf\n"
"a_call:\n"
"	lea	f_leaf(%rip), %rax\n"
"b_icall:\n"
"	call	*%rax\n"
"a_icall:\n"
"	lea	f_tail(%rip), %rax\n"
"	push	%rax\n"
"b_mcall:\n"
"	call	*(%rsp)\n"
"a_mcall:\n"
"	pop	%rax\n"
"	test	$1, %bl\n"
"b_alt:	jz	t_alt\n"
"	nop\n"
"t_alt:	mov	$" XSTR(DEEP) ", %edi\n"
"b_deep:\n"
"	call	f_deep\n"
"a_deep:\n"
"b_zero:\n"
"	call	t_zero\n"
"t_zero:\n"
"	pop	%rax\n"
"	dec	%rbx\n"
"b_round:\n"
"	jnz	t_round\n"
"	pop	%rbx\n"
"b_ret:	ret\n"
"f_leaf:\n"
"	nop\n"
"r_leaf:\n"
"	ret\n"
"f_tail:\n"
"	jmp	f_leaf\n"
"f_deep:\n"
"	dec	%edi\n"
"b_end:	jz	r_deep\n"
"b_deeper:\n"
"	call	f_deep\n"
"a_deeper:\n"
"	nop\n"
"r_deep:\n"
"	ret\n"
"plain_code_end:\n"
".popsection");

/* System calls, and a signal whose handler returns. */
asm(".pushsection .text\n"
"	.global	kernel\n"
"kernel:\n"
"	push	%rbx\n"
"	mov	%rdi, %rbx\n"
"k_round:\n"
"	mov	$4, %ecx\n"
"k_loop:	dec	%ecx\n"
"kb_loop:\n"
"	jnz	k_loop\n"
"	mov	$110, %eax\n"		/* getppid() */
"kb_sys:\n"
"	syscall\n"
"ka_sys:\n"
"	nop\n"
"kb_call:\n"
"	call	f_leaf\n"
"ka_call:\n"
"	nop\n"
"kb_trap:\n"
"	int3\n"
"ka_trap:\n"
"	dec	%rbx\n"
"kb_round:\n"
"	jnz	k_round\n"
"	pop	%rbx\n"
"	ret\n"
"k_handler:\n"
"	nop\n"
"kb_handled:\n"
"	ret\n"
"k_restore:\n"
"	mov	$15, %eax\n"		/* rt_sigreturn() */
"kb_restore:\n"
"	syscall\n"
".popsection");

/* A call stack that stays the same, except for calls at its deepest level */
asm(".pushsection .text\n"
"	.global	nest, nest_turn, nest_turn_end, nest_call, nest_first, nest_called\n"
"nest:	push	%rbx\n"
"	push	%r12\n"
"	mov	%rsi, %rbx\n"
"	mov	%rdx, %r12\n"
"nest_first:\n"
"	call	nest_called\n"
"	pop	%r12\n"
"	pop	%rbx\n"
"	ret\n"
"nest_called:\n"
"	dec	%rdi\n"
"	jz	nest_inner\n"
"nest_call:\n"
"	call	nest_called\n"
"	ret\n"
"nest_inner:\n"
"	push	%rbp\n"
"	mov	%rsp, %rbp\n"
"	and	$-16, %rsp\n"
"nest_turn:\n"
"	mov	$100, %ecx\n"
"nest_loop:\n"
"	dec	%ecx\n"
"	jnz	nest_loop\n"
"nest_turn_end:\n"
"	call	*%r12\n"
"	dec	%rbx\n"
"	jnz	nest_turn\n"
"	leave\n"
"	ret\n"
".popsection");

/* plain() at two addresses, one round at each in turn */
asm(".pushsection .text\n"
"	.global	both\n"
"both:	push	%rbx\n"
"	push	%r12\n"
"	push	%r13\n"
"	mov	%rdi, %rbx\n"
"	mov	%rsi, %r12\n"
"	mov	%rdx, %r13\n"
"x_round:\n"
"	mov	$1, %edi\n"
"xb_here:\n"
"	call	*%r12\n"
"xa_here:\n"
"	mov	$1, %edi\n"
"xb_there:\n"
"	call	*%r13\n"
"xa_there:\n"
"	dec	%rbx\n"
"xb_round:\n"
"	jnz	x_round\n"
"	pop	%r13\n"
"	pop	%r12\n"
"	pop	%rbx\n"
"	ret\n"
".popsection");

LABEL t_loop[], b_loop[], b_self[], b_jmp[], t_jmp[], b_ijmp[], t_ijmp[], b_call[], a_call[],
	b_icall[], a_icall[], b_mcall[], a_mcall[], b_alt[], t_alt[], b_deep[], a_deep[],
	b_zero[], t_zero[], f_tail[], f_deep[], b_end[], b_deeper[], a_deeper[], r_deep[];
LABEL kb_sys[], kb_restore[];

static void go_deep(const struct mover *m)
{
	for (unsigned int i = 1; i < DEEP; i++)
		go(m, b_deeper, f_deep, KIND_CALL, 3, 2);
	go(m, b_end, r_deep, KIND_COND, 2, 1);
	for (unsigned int i = 1; i < DEEP; i++)
		go(m, r_deep, a_deeper, KIND_RETURN, i == 1 ? 1 : 2, 1);
	go(m, r_deep, a_deep, KIND_RETURN, 2, 1);
}

void go_round(const struct mover *m, unsigned int before, bool alternative)
{
	go(m, b_loop, t_loop, KIND_COND, before + 3, 1);
	for (unsigned int i = 0; i < 3; i++)
		go(m, b_loop, t_loop, KIND_COND, 2, 1);
	go(m, b_self, b_self, KIND_COND, 4, 2);
	go(m, b_self, b_self, KIND_COND, 1, 1);
	go(m, b_jmp, t_jmp, KIND_JUMP, 4, 3);
	go(m, b_ijmp, t_ijmp, KIND_IND_JUMP, 2, 1);
	go(m, b_call, f_leaf, KIND_CALL, 1, 1);
	go(m, r_leaf, a_call, KIND_RETURN, 2, 1);
	go(m, b_icall, f_leaf, KIND_IND_CALL, 2, 1);
	go(m, r_leaf, a_icall, KIND_RETURN, 2, 1);
	go(m, b_mcall, f_tail, KIND_IND_CALL, 3, 1);
	go(m, f_tail, f_leaf, KIND_JUMP, 1, 1);
	go(m, r_leaf, a_mcall, KIND_RETURN, 2, 1);
	if (alternative) {
		go(m, b_alt, t_alt, KIND_COND, 3, 1);
		go(m, b_deep, f_deep, KIND_CALL, 2, 1);
	} else {
		go(m, b_deep, f_deep, KIND_CALL, 6, 2);
	}
	go_deep(m);
	go(m, b_zero, t_zero, KIND_CALL, 1, 1);
}

const struct program program = {
	.again = 3, .before = 2, .trap = SIGTRAP, .sys = kb_sys, .restore = kb_restore,
};

#endif /* __x86_64__ */
