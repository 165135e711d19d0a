/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code for pmu.c that is in memory once and has two addresses: the one it is linked at and,
 * when paging is on, ALIAS. QEMU translates a block once, where it runs first. So each function
 * here runs some blocks of that code first at one address, and others first at the other address;
 * then it runs all of them at both.
 *
 * run_user() calls the functions. Numbers of instructions include the RET and the INT at the end.
 */
#define ALIAS		0x40000000
#define PAGE		4096

#define ROUNDS		1000
#define FAULTS		100
#define REP_ROUNDS	4

/* QEMU leaves the block of a string instruction when this many are left. */
#define REP_BATCH	65536

/* The other address of a label in the aliased pages */
#define other(label)	(label - aliased + ALIAS)

	/*
	 * void alias_*(void): call a function with a branch that is taken if EAX is 0, at two
	 * addresses. First the branch is taken at one address and not at the other. Then, in each
	 * round, it is not taken at both, and taken at both. 9 + 8 * ROUNDS instructions; the
	 * branch is taken by 1 + 2 * ROUNDS calls, and not taken by as many.
	 */
	.macro BRANCHES name, function
	.globl \name
\name:
	mov $\function, %esi
	mov $other(\function), %edi
	xor %eax, %eax
	call *%esi
	inc %eax
	call *%edi
	mov $ROUNDS, %ebx
1:	mov $1, %eax
	call *%esi
	call *%edi
	xor %eax, %eax
	call *%edi
	call *%esi
	dec %ebx
	jnz 1b
	ret
	.endm

	.text
	BRANCHES alias_branches, branch
	BRANCHES alias_twins, twin

	/*
	 * A string instruction within a block, one at the start of a block, and their remaining
	 * iterations: 4 + 23 * REP_ROUNDS
	 */
	.globl alias_rep
alias_rep:
	mov $REP_ROUNDS, %ebx
	cld
1:	call repeat
	mov $REP_BATCH + 4, %ecx
	mov $buffer_of_rep, %esi
	call *repeat_tail_pointer
	mov $REP_BATCH + 4, %ecx
	mov $buffer_of_rep, %esi
	call repeat_tail
	mov $other(repeat), %eax
	call *%eax
	dec %ebx
	jnz 1b
	ret

	/* 5 + 2 * (2 + 3 * FAULTS) */
	.globl alias_int3
alias_int3:
	call breakpoints
	mov $other(breakpoints), %eax
	call *%eax
	ret

	/*
	 * Calls through a pointer that faults; page_fault() then sets ECX to a valid pointer:
	 * 5 + 2 * (2 + 5 * FAULTS)
	 */
	.globl alias_calls
alias_calls:
	call calls
	mov $other(calls), %eax
	call *%eax
	ret

	/*
	 * A branch that could fault and does not; and a load that faults, at the same offset in
	 * another page and in a later block: 3 + 10 * FAULTS
	 */
	.globl alias_offset
alias_offset:
	mov $FAULTS, %ebx
1:	mov $jump_pointer, %ecx
	mov hole_pointer, %edx
	call jump
	dec %ebx
	jnz 1b
	ret

	/*
	 * The last instruction of a page is a branch that is not taken. The next page is mapped at
	 * one of the two addresses only; at the other the fetch faults, and page_fault() goes to
	 * past_fetch. 5 + 10 * FAULTS
	 */
	.globl alias_fetch
alias_fetch:
	mov $FAULTS, %ebx
	mov $other(page_end), %esi
	xor %eax, %eax
1:	call page_end
	call *%esi
	dec %ebx
	jnz 1b
	ret
	.globl past_fetch
past_fetch:
	ret

	.data
repeat_tail_pointer:
	.long other(repeat_tail)
jump_pointer:
	.long jump_target
	.globl return_pointer
return_pointer:
	.long nothing
	.globl hole_pointer
hole_pointer:
	.long ALIAS + 3 * PAGE

	.bss
buffer_of_rep:
	.skip REP_BATCH + 4

	/* ---- the aliased pages ---- */

	.section .text.aliased, "ax", @progbits
	.balign PAGE
	.globl aliased
aliased:
	/* 3 instructions if it is taken, 4 if not */
branch:
	test %eax, %eax
	jz 1f
	nop
	ret
1:	ret

	/* As many and a jump. Taken or not, the branch leads to the same offset in a page. */
twin:
	jmp 1f
1:	test %eax, %eax
	.byte 0x0f, 0x84	/* jz */
	.long PAGE
twin_not_taken:
	nop
	ret

repeat:
	mov $buffer_of_rep, %esi
	mov $REP_BATCH + 4, %ecx
repeat_tail:
	rep lodsb
nothing:
	ret

breakpoints:
	mov $FAULTS, %edx
1:	int3
	dec %edx
	jnz 1b
	ret

calls:
	mov $FAULTS, %ebx
1:	mov hole_pointer, %ecx
	call *(%ecx)
	dec %ebx
	jnz 1b
	ret

jump:
	nop
jump_insn:
	jmp *(%ecx)

	.org aliased + PAGE + (twin_not_taken - aliased)
	ret

	.org aliased + PAGE + (jump - aliased)
jump_target:
	nop
	mov (%edx), %eax
	ret

	.org aliased + 2 * PAGE - 5
page_end_taken:
	ret
page_end:
	test %eax, %eax
	jnz page_end_taken
	ret

	.section .note.GNU-stack, "", @progbits
