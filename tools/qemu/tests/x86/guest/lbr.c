// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A bare-metal program that takes a known number of branches of each type, and prints what last
 * branch records (LBR) of Skylake show: lines "what value". The test script judges the values.
 */
#include "tests/x86/guest/guest.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define LBR_SELECT	0x1c8
#define LBR_TOS		0x1c9
#define DEBUGCTL	0x1d9
#define DEBUGCTL_LBR	1
#define LBR_FROM	0x680
#define LBR_TO		0x6c0
#define LBR_INFO	0xdc0
#define LBR_DEPTH	32
#define MISPREDICTED	(UINT64_C(1) << 63)

/* 1000 rounds, each with a branch of each type except far branches */
void branches(void);
extern const char branch_call[], branch_target[];
__asm__(".globl branches, branch_call, branch_target\n"
	"branches:\n"
	"	mov	$1000, %edi\n"
	"branch_call:\n"
	"	call	branch_target\n"
	"	jmp	1f\n"
	"	nop\n"
	"1:	mov	$1f, %eax\n"
	"	jmp	*%eax\n"
	"	nop\n"
	"1:	mov	$branch_target, %eax\n"
	"	call	*%eax\n"
	"	dec	%edi\n"
	"	jnz	branch_call\n"
	"branch_target:\n"
	"	ret\n");

/* In user space: six exceptions, whose handler returns */
void faults(void);
__asm__(".globl faults\n"
	"faults:\n"
	"	ud2; ud2; ud2; ud2; ud2; ud2\n"
	"	ret\n");

void handle(struct frame *frame)
{
	if (frame->vector == VECTOR_UD) {
		frame->eip += 2;
		return;
	}
	print("unexpected.vector", frame->vector);
	__asm__ volatile("outb %b0, %w1" : : "a"(1), "d"(0x501));
}

static void record(uint32_t select)
{
	wrmsr(LBR_SELECT, select);
	wrmsr(LBR_TOS, 0);
	wrmsr(DEBUGCTL, DEBUGCTL_LBR);
	branches();
	wrmsr(DEBUGCTL, 0);
}

int main(void)
{
	/* Bits of LBR_SELECT that exclude a type; bits 0 and 1 exclude rings */
	static const char *const names[] = {
		[2] = "conditional", "call", "indirect-call", "return", "indirect-jump", "jump",
	};
	unsigned int i, right = 0, mispredicted = 0;

	record(0);
	print("all.top", rdmsr(LBR_TOS));
	for (i = 2; i < ARRAY_SIZE(names); i++) {
		record(0x1fc & ~(1u << i));
		print(names[i], rdmsr(LBR_TOS));
	}
	record(0x1f4);
	for (i = 0; i < LBR_DEPTH; i++)
		right += rdmsr(LBR_FROM + i) == (uint32_t)branch_call &&
			 rdmsr(LBR_TO + i) == (uint32_t)branch_target;
	print("call.right", right);
	record(0x1f8);
	for (i = 0; i < LBR_DEPTH; i++)
		mispredicted += !!(rdmsr(LBR_INFO + i) & MISPREDICTED);
	print("conditional.mispredicted", mispredicted);

	wrmsr(LBR_SELECT, 0xfc);
	wrmsr(LBR_TOS, 0);
	wrmsr(DEBUGCTL, DEBUGCTL_LBR);
	run_user(faults);
	wrmsr(DEBUGCTL, 0);
	print("far", rdmsr(LBR_TOS));
	print("end", 1);
	return 0;
}
