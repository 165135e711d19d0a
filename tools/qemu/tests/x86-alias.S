/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code for x86-pmu.c that is in memory once and has two addresses: the one it
 * is linked at and, when paging is on, ALIAS. QEMU translates a block once, where it
 * runs first. Each function here has some blocks of such code run first at the one
 * address and others at the other, and then all of them at both.
 *
 * All are for run_user(). Numbers of instructions are with the RET and the INT at the end.
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
	 * void alias_*(void): call a function with a branch that is taken if EAX is 0,
	 * at two addresses. First the branch is taken at one and not at the other; then
	 * each round does not take it at both, and takes it at both. 9 + 8 * ROUNDS
	 * instructions; 1 + 2 * ROUNDS calls take the branch, as many do not.
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
	 * A string instruction within a block and at the start of one, and its
	 * remaining iterations: 4 + 23 * REP_ROUNDS
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
	 * Calls through a pointer that faults, until page_fault() sets ECX to another:
	 * 5 + 2 * (2 + 5 * FAULTS)
	 */
	.globl alias_calls
alias_calls:
	call calls
	mov $other(calls), %eax
	call *%eax
	ret

	/*
	 * Of two pages, a branch in the one that could fault and does not, and at the
	 * same offset in the other a load that does, in a block that comes later:
	 * 3 + 10 * FAULTS
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
	 * A branch at the end of a page, not taken. The page after it is there at the
	 * one address, at the other it is not: page_fault() then goes to past_fetch.
	 * 5 + 10 * FAULTS
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

	/* As many and a jump. What comes next has the same offset, taken or not. */
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
