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

#define INF(n)	case n: return read_sysreg("s2_1_c8_c" STRING(n) "_0")

/* Records 16 to 31 differ in another field of the register's name. */
#define INF_HIGH(n)	case n + 16: return read_sysreg("s2_1_c8_c" STRING(n) "_4")

static u64 information(int n)
{
	switch (n) {
	INF(0); INF(1); INF(2); INF(3); INF(4); INF(5); INF(6); INF(7);
	INF(8); INF(9); INF(10); INF(11); INF(12); INF(13); INF(14); INF(15);
	INF_HIGH(0); INF_HIGH(1); INF_HIGH(2); INF_HIGH(3);
	INF_HIGH(4); INF_HIGH(5); INF_HIGH(6); INF_HIGH(7);
	INF_HIGH(8); INF_HIGH(9); INF_HIGH(10); INF_HIGH(11);
	INF_HIGH(12); INF_HIGH(13); INF_HIGH(14); INF_HIGH(15);
	}
	return 0;
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
	int i;

	write_reg(BRBFCR, filter);
	branches();
	for (i = 0; i < RECORDS; i++) {
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
