// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A bare-metal program that takes a known number of branches of each type, and prints what branch
 * records show: lines "what value". The test script judges the values.
 */
#include "tests/arm64/guest/guest.h"

#define BRBFCR		s2_1_c9_c0_1

#define INF_VALID	3
#define INF_TYPE(inf)	((inf) >> 8 & 0x3f)
#define INF_CYCLES(inf)	((inf) >> 32 & 0x3fff)

#define RECORDS		32

/* 1000 rounds, each with a branch of each type and two returns: 10 instructions, 7 branches */
void branches(void);
asm("	.pushsection .text\n"
"branches:\n"
"	mov	x3, x30\n"
"	mov	x0, #1000\n"
"	sys	#1, c7, c2, #4\n"	/* BRB IALL */
"	mov	x1, #10\n"		/* BRBCR_EL1: E1BRE, CC */
"	msr	s2_1_c9_c0_0, x1\n"
"	isb\n"
"1:	bl	3f\n"
"	b	2f\n"
"2:	adr	x1, 2f\n"
"	br	x1\n"
"2:	adr	x1, 3f\n"
"	blr	x1\n"
"	subs	x0, x0, #1\n"
"	b.ne	1b\n"
"	msr	s2_1_c9_c0_0, xzr\n"
"	isb\n"
"	mov	x30, x3\n"
"3:	ret\n"
"	.popsection\n");

/* BRBINF<n>_EL1 */
#define INF(n, reg)	case (n): inf = read_sysreg("s2_1_c8_" reg); break

static u64 information(int n)
{
	u64 inf = 0;

	switch (n) {
	INF(0, "c0_0"); INF(1, "c1_0"); INF(2, "c2_0"); INF(3, "c3_0");
	INF(4, "c4_0"); INF(5, "c5_0"); INF(6, "c6_0"); INF(7, "c7_0");
	INF(8, "c8_0"); INF(9, "c9_0"); INF(10, "c10_0"); INF(11, "c11_0");
	INF(12, "c12_0"); INF(13, "c13_0"); INF(14, "c14_0"); INF(15, "c15_0");
	INF(16, "c0_4"); INF(17, "c1_4"); INF(18, "c2_4"); INF(19, "c3_4");
	INF(20, "c4_4"); INF(21, "c5_4"); INF(22, "c6_4"); INF(23, "c7_4");
	INF(24, "c8_4"); INF(25, "c9_4"); INF(26, "c10_4"); INF(27, "c11_4");
	INF(28, "c12_4"); INF(29, "c13_4"); INF(30, "c14_4"); INF(31, "c15_4");
	}
	return inf;
}

void interrupt(void)
{
	say("unexpected interrupt\n");
	stop(1);
}

void died(void)
{
	say("unexpected exception\n");
	stop(1);
}

/* @filter: BRBFCR_EL1; @type: of the records, or -1 for several types */
static void record(const char *right, const char *cycles, u64 filter, int type)
{
	u64 nr = 0, sum = 0;

	write_reg(BRBFCR, filter);
	branches();
	for (int i = 0; i < RECORDS; i++) {
		u64 inf = information(i);

		nr += (inf & INF_VALID) == INF_VALID && (type < 0 || (int)INF_TYPE(inf) == type);
		sum += INF_CYCLES(inf);
	}
	print(right, nr);
	print(cycles, sum);
}

void run(void)
{
	record("jump.right", "jump.cycles", 1 << 17, 0);
	record("indirect.right", "indirect.cycles", 1 << 18, 1);
	record("return.right", "return.cycles", 1 << 19, 5);
	record("indirect-call.right", "indirect-call.cycles", 1 << 20, 3);
	record("call.right", "call.cycles", 1 << 21, 2);
	record("conditional.right", "conditional.cycles", 1 << 22, 8);
	record("all.right", "all.cycles", 0x3f << 17, -1);
	record("none.right", "none.cycles", 0, -1);
	print("end", 1);
	stop(0);
}
