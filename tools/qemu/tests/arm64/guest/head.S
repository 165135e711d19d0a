/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Start of a bare-metal program: a stack, vectors, then run(). An interrupt
 * calls interrupt(); a synchronous exception goes to synchronous, which calls
 * died() unless the program has its own; any other to died().
 */
	.section .text.start, "ax"

	.globl	_start
_start:
	adr	x0, stack_top
	mov	sp, x0
	adr	x0, vectors
	msr	vbar_el1, x0
	isb
	b	run

	.balign	0x800
vectors:
	.rept	4
	b	died
	.balign	0x80
	.endr

	/* Of EL1, whose stack pointer is in use */
	b	synchronous
	.balign	0x80

	stp	x0, x1, [sp, #-160]!
	stp	x2, x3, [sp, #16]
	stp	x4, x5, [sp, #32]
	stp	x6, x7, [sp, #48]
	stp	x8, x9, [sp, #64]
	stp	x10, x11, [sp, #80]
	stp	x12, x13, [sp, #96]
	stp	x14, x15, [sp, #112]
	stp	x16, x17, [sp, #128]
	stp	x18, x30, [sp, #144]
	bl	interrupt
	ldp	x2, x3, [sp, #16]
	ldp	x4, x5, [sp, #32]
	ldp	x6, x7, [sp, #48]
	ldp	x8, x9, [sp, #64]
	ldp	x10, x11, [sp, #80]
	ldp	x12, x13, [sp, #96]
	ldp	x14, x15, [sp, #112]
	ldp	x16, x17, [sp, #128]
	ldp	x18, x30, [sp, #144]
	ldp	x0, x1, [sp], #160
	eret

	.balign	0x80
	.rept	10
	b	died
	.balign	0x80
	.endr

	.weak	synchronous
synchronous:
	b	died

	.section .bss.stack, "aw", %nobits
	.balign	16
	.skip	4096
stack_top:
