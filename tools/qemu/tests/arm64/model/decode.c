// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the instruction decoder of the virtual arm64 PMU, without QEMU. KTAP on stdout.
 */
#include "arm64/cpu/decode.h"
#include "common/plugin.h"
#include "tests/model-test.h"

/* Encodings of the GNU assembler */
static void test_decode(void)
{
	static const struct {
		uint32_t insn;
		unsigned int class;
	} insns[] = {
		{ 0x8b020020, ARM64_INSN_SIMPLE },			/* add x0, x1, x2 */
		{ 0xd2800020, ARM64_INSN_SIMPLE },			/* mov x0, #1 */
		{ 0xf1000400, ARM64_INSN_SIMPLE },			/* subs x0, x0, #1 */
		{ 0x14000001, ARM64_INSN_BRANCH | ARM64_INSN_IMMEDIATE }, /* b */
		{ 0x94000001, ARM64_INSN_BRANCH | ARM64_INSN_IMMEDIATE |
			      ARM64_INSN_CALL },			/* bl */
		{ 0x54000001, ARM64_INSN_BRANCH | ARM64_INSN_IMMEDIATE |
			      ARM64_INSN_CONDITIONAL },			/* b.ne */
		{ 0xb4000000, ARM64_INSN_BRANCH | ARM64_INSN_IMMEDIATE |
			      ARM64_INSN_CONDITIONAL },			/* cbz x0 */
		{ 0x37000000, ARM64_INSN_BRANCH | ARM64_INSN_IMMEDIATE |
			      ARM64_INSN_CONDITIONAL },			/* tbnz w0, #0 */
		{ 0xd61f0000, ARM64_INSN_BRANCH | ARM64_INSN_INDIRECT },	/* br x0 */
		{ 0xd63f0000, ARM64_INSN_BRANCH | ARM64_INSN_INDIRECT |
			      ARM64_INSN_CALL },			/* blr x0 */
		{ 0xd71f0801, ARM64_INSN_BRANCH | ARM64_INSN_INDIRECT },	/* braa x0, x1 */
		{ 0xd73f0801, ARM64_INSN_BRANCH | ARM64_INSN_INDIRECT |
			      ARM64_INSN_CALL },			/* blraa x0, x1 */
		{ 0xd65f03c0, ARM64_INSN_BRANCH | ARM64_INSN_RETURN },	/* ret */
		{ 0xd65f0bff, ARM64_INSN_BRANCH | ARM64_INSN_RETURN },	/* retaa */
		{ 0xd69f03e0, ARM64_INSN_BRANCH | ARM64_INSN_ERET },	/* eret */
		{ 0xd4000001, 0 },					/* svc #0 */
		{ 0xd53b9c00, 0 },					/* mrs x0, pmcr_el0 */
		{ 0xd503201f, 0 },					/* nop */
		{ 0xf9400020, ARM64_INSN_LOAD },			/* ldr x0, [x1] */
		{ 0xf9000020, ARM64_INSN_STORE },			/* str x0, [x1] */
		{ 0x39800020, ARM64_INSN_LOAD },			/* ldrsb x0, [x1] */
		{ 0x78401c20, ARM64_INSN_LOAD },			/* ldrh w0, [x1, #1]! */
		{ 0xf8626820, ARM64_INSN_LOAD },			/* ldr x0, [x1, x2] */
		{ 0xf8226820, ARM64_INSN_STORE },			/* str x0, [x1, x2] */
		{ 0xf9800020, 0 },					/* prfm pldl1keep, [x1] */
		{ 0x58000000, ARM64_INSN_LOAD },			/* ldr x0, . */
		{ 0xd8000000, 0 },					/* prfm pldl1keep, . */
		{ 0x3dc00020, ARM64_INSN_LOAD },			/* ldr q0, [x1] */
		{ 0x3d800020, ARM64_INSN_STORE },			/* str q0, [x1] */
		{ 0xfd000020, ARM64_INSN_STORE },			/* str d0, [x1] */
		{ 0xa9400420, ARM64_INSN_LOAD },			/* ldp x0, x1, [x1] */
		{ 0xa9bf7bfd, ARM64_INSN_STORE }, /* stp x29, x30, [sp, -16]! */
		{ 0x4c407020, ARM64_INSN_LOAD },			/* ld1 {v0.16b}, [x1] */
		{ 0x4c007020, ARM64_INSN_STORE },			/* st1 {v0.16b}, [x1] */
		{ 0xc85f7c20, ARM64_INSN_LOAD },			/* ldxr x0, [x1] */
		{ 0xc8027c20, ARM64_INSN_STORE },			/* stxr w2, x0, [x1] */
		{ 0xc87f0440, ARM64_INSN_LOAD },			/* ldxp x0, x1, [x2] */
		{ 0xc8dffc20, ARM64_INSN_LOAD },			/* ldar x0, [x1] */
		{ 0xc89ffc20, ARM64_INSN_STORE },			/* stlr x0, [x1] */
		{ 0xc8a07c41, ARM64_INSN_LOAD | ARM64_INSN_STORE },	/* cas */
		{ 0x48207c82, ARM64_INSN_LOAD | ARM64_INSN_STORE }, /* casp */
		{ 0xf8200041, ARM64_INSN_LOAD | ARM64_INSN_STORE },	/* ldadd */
		{ 0xf8208041, ARM64_INSN_LOAD | ARM64_INSN_STORE },	/* swp */
		{ 0xf8bfc020, ARM64_INSN_LOAD },			/* ldapr x0, [x1] */
		{ 0xf8200420, ARM64_INSN_LOAD },			/* ldraa x0, [x1] */
		{ 0xd9400020, ARM64_INSN_LOAD },			/* ldapur x0, [x1] */
		{ 0xd9000020, ARM64_INSN_STORE },			/* stlur x0, [x1] */
	};

	for (size_t i = 0; i < ARRAY_SIZE(insns) && !broken; i++)
		if (arm64_insn_class(insns[i].insn) != insns[i].class) {
			printf("# instruction %08x is of class %#x\n", insns[i].insn,
			       arm64_insn_class(insns[i].insn));
			EXPECT(arm64_insn_class(insns[i].insn) == insns[i].class);
		}
}

/* Encodings of the GNU assembler; comments have the target's distance from the branch. */
static void test_distance(void)
{
	static const struct {
		uint32_t insn;
		int32_t distance;
	} insns[] = {
		{ 0x54008020, 0x1000 },			/* b.eq . + 0x1004 */
		{ 0x54ffffe1, -8 },			/* b.ne . - 4 */
		{ 0xb5ff8023, -0x1000 },		/* cbnz x3, . - 0xffc */
		{ 0xb4000020, 0 },			/* cbz x0, . + 4 */
		{ 0x54800002, -0x100004 },		/* b.cs . - 0x100000 */
		{ 0x547fffe2, 0xffff8 },		/* b.cs . + 0xffffc */
		{ 0xb6fbffe9, 0x7ff8 },			/* tbz x9, #63, . + 0x7ffc */
		{ 0x37fc0000, -0x8004 },		/* tbnz w0, #31, . - 0x8000 */
	};

	for (size_t i = 0; i < ARRAY_SIZE(insns); i++)
		EXPECT(arm64_insn_distance(insns[i].insn) == insns[i].distance);
}

static const struct model_test tests[] = {
	{ "instructions have their classes", test_decode },
	{ "conditional branches have their distances", test_distance },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
