// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the instruction decoder of the virtual x86 PMU, without QEMU. KTAP on stdout.
 */
#include <stdint.h>

#include "common/plugin.h"
#include "tests/model-test.h"
#include "x86/cpu/decode.h"

static void test_decode(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		unsigned int class;
	} rows[] = {
		{ "\x48\xff\xc8", 3, X86_INSN_SIMPLE },			/* dec %rax */
		{ "\x75\xfb", 2, X86_INSN_BRANCH | X86_INSN_CONDITIONAL },
		{ "\x0f\x85\x00\x00\x00\x00", 6, X86_INSN_BRANCH | X86_INSN_CONDITIONAL },
		{ "\xeb\xfe", 2, X86_INSN_BRANCH },
		{ "\xe8\x00\x00\x00\x00", 5,
		  X86_INSN_BRANCH | X86_INSN_CALL | X86_INSN_FAULTING },
		{ "\xf3\xc3", 2, X86_INSN_BRANCH | X86_INSN_RETURN | X86_INSN_FAULTING },
		{ "\x41\xff\xd3", 3, X86_INSN_BRANCH | X86_INSN_CALL | X86_INSN_INDIRECT |
				     X86_INSN_FAULTING },
		{ "\xff\x25\x00\x00\x00\x00", 6,
		  X86_INSN_BRANCH | X86_INSN_INDIRECT | X86_INSN_FAULTING },
		{ "\x48\xcf", 2, X86_INSN_BRANCH | X86_INSN_FAR | X86_INSN_FAULTING },
		{ "\x0f\x05", 2, X86_INSN_BRANCH | X86_INSN_FAR | X86_INSN_FAULTING },
		{ "\xcc", 1, X86_INSN_BRANCH | X86_INSN_FAR | X86_INSN_FAULTING |
			     X86_INSN_SOFTWARE_INT },
		{ "\xf3\x48\xab", 3, X86_INSN_REPEATED },
		{ "\xab", 1, 0 },
		{ "\xf3\x90", 2, 0 },					/* pause */
		{ "\x48\x8b\x07", 3, 0 },				/* mov (%rdi),%rax */
		{ "\x48\x89\xc7", 3, X86_INSN_SIMPLE },
		{ "\x48\x8d\x07", 3, X86_INSN_SIMPLE },			/* lea */
		{ "\x48\xf7\xf1", 3, 0 },				/* div */
		{ "\x48\xf7\xe1", 3, X86_INSN_SIMPLE },			/* mul */
		{ "\xf0\x01\xc0", 3, 0 },				/* lock add: #UD */
		{ "\xf0\x48\x01\x07", 4, X86_INSN_UPDATE },		/* lock add %rax,(%rdi) */
		{ "\x48\x03\x07", 3, 0 },				/* add (%rdi),%rax */
		{ "\x48\x39\x07", 3, 0 },				/* cmp %rax,(%rdi) */
		{ "\x83\x07\x01", 3, X86_INSN_UPDATE },			/* addl $1,(%rdi) */
		{ "\x83\x3f\x01", 3, 0 },				/* cmpl $1,(%rdi) */
		{ "\xff\x07", 2, X86_INSN_UPDATE },			/* incl (%rdi) */
		{ "\xff\x37", 2, 0 },					/* push (%rdi) */
		{ "\xf7\x1f", 2, X86_INSN_UPDATE },			/* negl (%rdi) */
		{ "\xf7\x27", 2, 0 },					/* mull (%rdi) */
		{ "\x48\x87\x07", 3, X86_INSN_UPDATE },			/* xchg %rax,(%rdi) */
		{ "\xf0\x0f\xc1\x07", 4, X86_INSN_UPDATE },		/* lock xadd %eax,(%rdi) */
		{ "\x0f\xba\x27\x01", 4, 0 },				/* btl $1,(%rdi) */
		{ "\x0f\xba\x2f\x01", 4, X86_INSN_UPDATE },		/* btsl $1,(%rdi) */
		{ "\x40", 1, 0 },					/* inc, in 32 bits */
		{ "\x0f\x1f\x44\x00\x00", 5, X86_INSN_SIMPLE },
		{ "\x0f\xa2", 2, 0 },					/* cpuid */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT(x86_insn_class((const uint8_t *)rows[i].bytes, rows[i].len) ==
		       rows[i].class);
}

static void test_distance(void)
{
	static const struct {
		const char *bytes;
		size_t len;
		int32_t distance;
	} rows[] = {
		{ "\x74\x00", 2, 0 },					/* je . + 2 */
		{ "\x74\x80", 2, -128 },
		{ "\x2e\x74\x7f", 3, 127 },				/* with a hint */
		{ "\xe2\xfe", 2, -2 },					/* loop . */
		{ "\x67\xe3\x10", 3, 16 },				/* jecxz */
		{ "\x0f\x84\x00\x10\x00\x00", 6, 4096 },
		{ "\x0f\x8f\x00\xf0\xff\xff", 6, -4096 },
		{ "\x48\x0f\x84\x00\x10\x00\x00", 7, 4096 },		/* REX.W */
		{ "\x66\x0f\x84\x00\x10", 5, 4096 },			/* of 16 bits */
		{ "\x0f\x84\x00\xf0", 4, -4096 },			/* in 16-bit code */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		EXPECT(x86_insn_distance((const uint8_t *)rows[i].bytes, rows[i].len) ==
		       rows[i].distance);
}

static const struct model_test tests[] = {
	{ "instructions have their classes",		test_decode },
	{ "conditional branches have their distances",	test_distance },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
