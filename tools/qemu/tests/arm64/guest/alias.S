/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code for pmu.c that is in memory once and has two addresses: the one it is linked at and,
 * after alias_map(), ALIAS. QEMU translates a block once, where it runs first. So each function
 * here runs some blocks of that code first at one address, and others first at the other address;
 * then it runs all of them at both. All calls are BLR: for other ways to branch to a block, QEMU
 * has other translations (PSTATE.BTYPE).
 */
#define ALIAS		0x80000000
#define PAGE		4096

#define ROUNDS		1000
#define FAULTS		100

/* Arm ARM (DDI 0487) D8.3, descriptors of stage 1 with 4 KiB pages */
#define DESC_BLOCK	1
#define DESC_TABLE	3
#define DESC_PAGE	3
#define DESC_DEVICE	(0 << 2)	/* indices into MAIR_EL1 */
#define DESC_NORMAL	(1 << 2)
#define DESC_SH_INNER	(3 << 8)
#define DESC_AF		(1 << 10)
#define DESC_MEMORY	(DESC_NORMAL | DESC_SH_INNER | DESC_AF)

#define MAIR		0xff00		/* Device-nGnRnE, Normal write-back */

/* 39 bits of address from TTBR0_EL1 alone: walks start at level 1, of 1 GiB each */
#define TCR_T0SZ	(64 - 39)
#define TCR_EPD1	(1 << 23)

#define SCTLR_M		(1 << 0)

/* The other address of a label in the aliased pages */
#define other(label)	(label - aliased + ALIAS)

	.macro DESCRIBE index, desc
	add	x3, x3, #\desc
	str	x3, [x2, #8 * (\index)]
	.endm

	.text
	/*
	 * void alias_map(void): every address its own, devices in the first GiB and
	 * memory in the second; ALIAS in the third
	 */
	.globl	alias_map
alias_map:
	adrp	x2, level1
	mov	x3, #0
	DESCRIBE 0, DESC_BLOCK | DESC_DEVICE | DESC_AF
	mov	x3, #0x40000000
	DESCRIBE 1, DESC_BLOCK | DESC_MEMORY
	adrp	x3, level2
	DESCRIBE ALIAS >> 30, DESC_TABLE
	adrp	x2, level2
	adrp	x3, level3
	DESCRIBE 0, DESC_TABLE
	adrp	x2, level3
	adrp	x3, aliased
	DESCRIBE 0, DESC_PAGE | DESC_MEMORY
	add	x3, x3, #PAGE
	str	x3, [x2, #8]

	mov	x2, #MAIR
	msr	mair_el1, x2
	ldr	x2, =TCR_T0SZ | TCR_EPD1
	msr	tcr_el1, x2
	adrp	x2, level1
	msr	ttbr0_el1, x2
	dsb	sy
	isb
	mrs	x2, sctlr_el1
	orr	x2, x2, #SCTLR_M
	msr	sctlr_el1, x2
	isb
	ret

	/*
	 * void alias_*(void): call a function with a branch that is taken if X0 is 0, at two
	 * addresses. First the branch is taken at one address and not at the other. Then, in each
	 * round, it is not taken at both, and taken at both. 10 + 8 * ROUNDS instructions; the
	 * branch is taken by 1 + 2 * ROUNDS calls, and not taken by as many.
	 */
	.macro BRANCHES name, function
	.globl	\name
\name:
	mov	x4, x30
	adrp	x2, \function
	add	x2, x2, #:lo12:\function
	ldr	x3, 2f
	mov	x0, #0
	blr	x2
	mov	x0, #1
	blr	x3
	mov	x1, #ROUNDS
1:	mov	x0, #1
	blr	x2
	blr	x3
	mov	x0, #0
	blr	x3
	blr	x2
	subs	x1, x1, #1
	b.ne	1b
	ret	x4
2:	.quad	other(\function)
	.endm

	BRANCHES alias_branches, branch
	BRANCHES alias_twins, twin

	/*
	 * The last instruction of a page is a branch that is not taken. The next page is mapped at
	 * one of the two addresses only; at the other the fetch aborts, and the handler returns to
	 * x30. Of 7 * FAULTS branches, without the handler's, all but two are taken.
	 */
	.globl	alias_fetch
alias_fetch:
	mov	x4, x30
	adrp	x2, page_end
	add	x2, x2, #:lo12:page_end
	ldr	x3, 2f
	mov	x0, #1
	mov	x1, #FAULTS
1:	blr	x2
	blr	x3
	subs	x1, x1, #1
	b.ne	1b
	ret	x4
2:	.quad	other(page_end)
	.ltorg

	/* ---- the aliased pages ---- */

	.section .text.aliased, "ax", @progbits
	.balign	PAGE
aliased:
	/* 2 instructions if it is taken, 3 if not */
branch:
	cbz	x0, 1f
	nop
	ret
1:	ret

	/* As many and a jump. Taken or not, the branch leads to the same offset in a page. */
twin:
	b	1f
1:	tbz	x0, #0, twin_taken
twin_not_taken:
	nop
	ret

	.org	aliased + PAGE + (twin_not_taken - aliased)
twin_taken:
	ret

	.org	aliased + 2 * PAGE - 8
page_end_taken:
	ret
page_end:
	cbz	x0, page_end_taken
	ret

	.section .bss.tables, "aw", %nobits
	.balign	PAGE
level1:	.skip	PAGE
level2:	.skip	PAGE
level3:	.skip	PAGE
