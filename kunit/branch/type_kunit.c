// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of x86/lbr/branch-type.c: branch types of instructions
 *
 * GNU as and objdump give the bytes and lengths of these instructions.
 */
#include <kunit/test.h>

#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include <corepmu/branch.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/lbr/lbr.h"
#include "x86/x86.h"

#define USER	0x401000ULL
#define KERNEL	0xffffffff81000000ULL

struct instruction {
	const char	*name;
	u8		code[16];
	u8		len;
	u32		type;
	bool		other_32bit;
	u32		type_32bit;
};

static const struct instruction instructions[] = {
	{ "je", { 0x74, 0x05 }, 2, COREPMU_BRANCH_COND },
	{ "jg near", { 0x0f, 0x8f, 1, 2, 3, 4 }, 6, COREPMU_BRANCH_COND },
	{ "jno with hint", { 0x3e, 0x71, 0x05 }, 3, COREPMU_BRANCH_COND },
	{ "loop", { 0xe2, 0xfe }, 2, COREPMU_BRANCH_COND },
	{ "jrcxz", { 0xe3, 0xfe }, 2, COREPMU_BRANCH_COND },
	{ "jmp short", { 0xeb, 0xfe }, 2, COREPMU_BRANCH_JUMP },
	{ "jmp near", { 0xe9, 0, 0, 0, 0 }, 5, COREPMU_BRANCH_JUMP },
	{ "jmp *%rax", { 0xff, 0xe0 }, 2, COREPMU_BRANCH_IND_JUMP },
	{ "notrack jmp *%rax", { 0x3e, 0xff, 0xe0 }, 3, COREPMU_BRANCH_IND_JUMP },
	{ "jmp *%r8", { 0x41, 0xff, 0xe0 }, 3, COREPMU_BRANCH_IND_JUMP, true, 0 },
	{ "jmp *0(%rip)", { 0xff, 0x25, 0, 0, 0, 0 }, 6, COREPMU_BRANCH_IND_JUMP },
	{ "rex.W ljmp *(%rax)", { 0x48, 0xff, 0x28 }, 3, COREPMU_BRANCH_IND_JUMP, true, 0 },
	{ "call", { 0xe8, 1, 2, 3, 4 }, 5, COREPMU_BRANCH_CALL },
	{ "call *%rax", { 0xff, 0xd0 }, 2, COREPMU_BRANCH_IND_CALL },
	{ "call *0x8(%rbp)", { 0xff, 0x55, 0x08 }, 3, COREPMU_BRANCH_IND_CALL },
	{ "lcall *(%rax)", { 0xff, 0x18 }, 2, COREPMU_BRANCH_IND_CALL },
	{ "ret", { 0xc3 }, 1, COREPMU_BRANCH_RET },
	{ "repz ret", { 0xf3, 0xc3 }, 2, COREPMU_BRANCH_RET },
	{ "ret $8", { 0xc2, 8, 0 }, 3, COREPMU_BRANCH_RET },
	{ "lretq", { 0x48, 0xcb }, 2, COREPMU_BRANCH_RET, true, 0 },
	{ "iretq", { 0x48, 0xcf }, 2, COREPMU_BRANCH_ERET, true, 0 },
	{ "iret", { 0xcf }, 1, COREPMU_BRANCH_ERET },
	{ "eretu", { 0xf3, 0x0f, 0x01, 0xca }, 4, COREPMU_BRANCH_ERET },
	{ "clac", { 0x0f, 0x01, 0xca }, 3, 0 },
	{ "syscall", { 0x0f, 0x05 }, 2, COREPMU_BRANCH_SYSCALL },
	{ "sysenter", { 0x0f, 0x34 }, 2, COREPMU_BRANCH_SYSCALL },
	{ "sysretq", { 0x48, 0x0f, 0x07 }, 3, COREPMU_BRANCH_SYSRET, true, 0 },
	{ "int3", { 0xcc }, 1, COREPMU_BRANCH_SOFT_INT },
	{ "int $0x80", { 0xcd, 0x80 }, 2, COREPMU_BRANCH_SOFT_INT },
	{ "lcall", { 0x9a, 0, 0, 0, 0, 0, 0 }, 7, 0, true, COREPMU_BRANCH_CALL },
	{ "ljmp", { 0xea, 0, 0, 0, 0, 0, 0 }, 7, 0, true, COREPMU_BRANCH_JUMP },
	{ "into", { 0xce }, 1, 0, true, COREPMU_BRANCH_SOFT_INT },
	{ "nop", { 0x90 }, 1, 0 },
	{ "push *%rax", { 0xff, 0x30 }, 2, 0 },
	{ "inc (%rax)", { 0xff, 0x00 }, 2, 0 },
	{ "mov", { 0x48, 0x89, 0xe5 }, 3, 0 },
	{ "setg", { 0x0f, 0x9f, 0xc0 }, 3, 0 },
	{ "ud2", { 0x0f, 0x0b }, 2, 0 },
	{ "prefixes alone", { 0x66, 0x66, 0x66 }, 3, 0 },
	{ "nothing", { }, 0, 0 },
};

static void instruction_desc(const struct instruction *i, char *desc)
{
	strscpy(desc, i->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(instruction, instructions, instruction_desc);

static void type_of_instruction(struct kunit *test)
{
	const struct instruction *i = test->param_value;
	unsigned int offset = 99, len;

	KUNIT_EXPECT_EQ(test, x86_branch_type(i->code, i->len, true, false, &offset), i->type);
	KUNIT_EXPECT_EQ(test, offset, 0);
	KUNIT_EXPECT_EQ(test, x86_branch_type(i->code, i->len, false, false, &offset),
			i->other_32bit ? i->type_32bit : i->type);
	/* The decoder does not read beyond the known bytes, and finds no branch without bytes. */
	for (len = 0; len < i->len; len++)
		x86_branch_type(i->code, len, true, true, &offset);
	KUNIT_EXPECT_EQ(test, x86_branch_type(i->code, 0, true, true, &offset), 0);
}

/*
 * Instructions that the CPU may fuse with the branch after them; @len is the offset of the branch.
 */
struct fused {
	const char	*name;
	u8		code[12];
	u8		len;
	bool		can;
};

static const struct fused fused[] = {
	{ "cmp %eax,%ebx", { 0x39, 0xc3 }, 2, true },
	{ "cmp $1,%al", { 0x3c, 1 }, 2, true },
	{ "cmp $1,%rax", { 0x48, 0x3d, 1, 0, 0, 0 }, 6, true },
	{ "cmp $1,%ax", { 0x66, 0x3d, 1, 0 }, 4, true },
	{ "cmp $1,%edi", { 0x83, 0xff, 1 }, 3, true },
	{ "cmp $1,(%rsp)", { 0x83, 0x3c, 0x24, 1 }, 4, true },
	{ "cmp $1,0x100(%rip)", { 0x83, 0x3d, 0, 1, 0, 0, 1 }, 7, true },
	{ "cmp $1000,8(%rsp)", { 0x81, 0x7c, 0x24, 8, 0xe8, 3, 0, 0 }, 8, true },
	{ "cmp %rax,table(,%rbx,8)", { 0x48, 0x39, 0x04, 0xdd, 0, 0, 0, 0 }, 8, true },
	{ "test %eax,%eax", { 0x85, 0xc0 }, 2, true },
	{ "test $1,%al", { 0xa8, 1 }, 2, true },
	{ "test $1,%eax", { 0xa9, 1, 0, 0, 0 }, 5, true },
	{ "testb $1,(%rax)", { 0xf6, 0x00, 1 }, 3, true },
	{ "testl $1,0x80(%rax)", { 0xf7, 0x80, 0x80, 0, 0, 0, 1, 0, 0, 0 }, 10, true },
	{ "dec %ecx", { 0xff, 0xc9 }, 2, true },
	{ "sub $1,%rcx", { 0x48, 0x83, 0xe9, 1 }, 4, true },
	{ "xor %eax,%eax", { 0x31, 0xc0 }, 2, true },
	{ "nop", { 0x90 }, 1, true },
	{ "nopw 0(%rax,%rax,1)", { 0x66, 0x0f, 0x1f, 0x44, 0, 0 }, 6, true },
	{ "nop and cmp", { 0x90, 0x39, 0xc3 }, 3, true },
	{ "adc %eax,%ebx", { 0x11, 0xc3 }, 2, false },
	{ "sbb $1,%eax", { 0x83, 0xd8, 1 }, 3, false },
	{ "not %eax", { 0xf7, 0xd0 }, 2, false },
	{ "mov %rsp,%rbp", { 0x48, 0x89, 0xe5 }, 3, false },
	{ "push %rax", { 0x50 }, 1, false },
	{ "push %ss", { 0x16 }, 1, false },
	{ "three", { 0x90, 0x90, 0x90 }, 3, false },
};

static void fused_desc(const struct fused *f, char *desc)
{
	strscpy(desc, f->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(fused, fused, fused_desc);

static void type_fused(struct kunit *test)
{
	const struct fused *f = test->param_value;
	unsigned int offset;
	u8 code[16] = { };

	memcpy(code, f->code, f->len);
	code[f->len] = 0x75;	/* jne */
	KUNIT_EXPECT_EQ(test, x86_branch_type(code, sizeof(code), true, true, &offset),
			f->can ? COREPMU_BRANCH_COND : 0);
	KUNIT_EXPECT_EQ(test, offset, f->can ? f->len : 0);
	KUNIT_EXPECT_EQ(test, x86_branch_type(code, sizeof(code), true, false, &offset), 0);
	/* The branch lies beyond the known bytes. */
	KUNIT_EXPECT_EQ(test, x86_branch_type(code, f->len, true, true, &offset), 0);
}

/*
 * The branch type of a record follows from the instruction and from the privilege levels of source
 * and target.
 */
static void type_records(struct kunit *test)
{
	static const struct x86_model_code code[] = {
		{ USER, { 0x0f, 0x05 } },
		{ USER + 0x10, { 0x48, 0x89, 0xe5 } },
		{ USER + 0x20, { 0x75, 0x10 } },
		{ USER + 0x30, { 0x39, 0xc3, 0x75, 0x10 } },
		{ USER + 0x40, { 0x41 }, .is_32bit = true },
		{ USER + 0x50, { 0xcd, 0x80 } },
		{ KERNEL, { 0x48, 0x0f, 0x07 } },
		{ KERNEL + 0x10, { 0x48, 0x89, 0xe5 } },
		{ KERNEL + 0x20, { 0xe9, 0, 0, 0, 0 } },
	};
	static const struct {
		u64 from, to;
		u32 type, type_fused;
		unsigned int offset;
	} table[] = {
		{ USER, KERNEL, COREPMU_BRANCH_SYSCALL, COREPMU_BRANCH_SYSCALL },
		{ USER + 0x50, KERNEL, COREPMU_BRANCH_SOFT_INT, COREPMU_BRANCH_SOFT_INT },
		/*
		 * An interrupt comes at any instruction, also at a branch and at unreadable code.
		 */
		{ USER + 0x10, KERNEL, COREPMU_BRANCH_IRQ, COREPMU_BRANCH_IRQ },
		{ USER + 0x20, KERNEL, COREPMU_BRANCH_IRQ, COREPMU_BRANCH_IRQ },
		{ USER + 0x30, KERNEL, COREPMU_BRANCH_IRQ, COREPMU_BRANCH_IRQ },
		{ USER + 0x99, KERNEL, COREPMU_BRANCH_IRQ, COREPMU_BRANCH_IRQ },
		{ KERNEL + 0x10, KERNEL, COREPMU_BRANCH_IRQ, COREPMU_BRANCH_IRQ },
		{ KERNEL + 0x20, KERNEL, COREPMU_BRANCH_JUMP, COREPMU_BRANCH_JUMP },
		{ KERNEL, USER, COREPMU_BRANCH_SYSRET, COREPMU_BRANCH_SYSRET },
		{ USER + 0x20, USER, COREPMU_BRANCH_COND, COREPMU_BRANCH_COND },
		{ USER + 0x30, USER, COREPMU_BRANCH_UNKNOWN, COREPMU_BRANCH_COND, 2 },
		{ USER + 0x10, USER, COREPMU_BRANCH_UNKNOWN, COREPMU_BRANCH_UNKNOWN },
		{ USER + 0x99, USER, COREPMU_BRANCH_UNKNOWN, COREPMU_BRANCH_UNKNOWN },
		{ KERNEL + 0x99, KERNEL, COREPMU_BRANCH_UNKNOWN, COREPMU_BRANCH_UNKNOWN },
		{ USER + 0x40, USER, COREPMU_BRANCH_UNKNOWN, COREPMU_BRANCH_UNKNOWN },
	};

	x86_model_code = code;
	x86_model_nr_code = ARRAY_SIZE(code);
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_branch_entry entry = { .from = table[i].from, .to = table[i].to };

		KUNIT_EXPECT_EQ_MSG(test, x86_branch_decode(&entry), table[i].type, "row %u", i);
		KUNIT_EXPECT_EQ(test, entry.from, table[i].from);
		KUNIT_EXPECT_EQ_MSG(test, x86_branch_decode_fused(&entry), table[i].type_fused,
				    "row %u", i);
		KUNIT_EXPECT_EQ(test, entry.from, table[i].from + table[i].offset);
		/* A second decode gives the same result. */
		KUNIT_EXPECT_EQ(test, entry.to, table[i].to);
	}
}

static unsigned int nr_decoded;

static u32 decode_and_count(struct perf_branch_entry *entry)
{
	nr_decoded++;
	return x86_branch_decode_fused(entry);
}

/* A branch of a loop has several records: all get the type, and the address after the fused CMP. */
static void repeated_branch_is_decoded_once(struct kunit *test)
{
	static const struct corepmu_branch_backend backend = {
		.decodes_all	= true,
		.decode		= decode_and_count,
	};
	static const struct x86_model_code code[] = {
		{ USER + 0x20, { 0x75, 0x10 } },
		{ USER + 0x30, { 0x39, 0xc3, 0x75, 0x10 } },
	};
	static const struct {
		u64 from, to;
		u32 type;
		unsigned int offset, nr_decoded;
	} table[] = {
		{ USER + 0x30, USER, COREPMU_BRANCH_COND, 2, 1 },
		{ USER + 0x20, USER, COREPMU_BRANCH_COND, 0, 2 },
		{ USER + 0x30, USER, COREPMU_BRANCH_COND, 2, 2 },
		/* An interrupt at the address of the branch */
		{ USER + 0x30, KERNEL, COREPMU_BRANCH_IRQ, 0, 3 },
		/*
		 * A record of the corrected address: no earlier record has this address
		 * uncorrected.
		 */
		{ USER + 0x32, USER, COREPMU_BRANCH_UNKNOWN, 0, 4 },
		{ USER + 0x30, USER, COREPMU_BRANCH_COND, 2, 4 },
		{ USER + 0x20, USER, COREPMU_BRANCH_COND, 0, 4 },
	};
	struct corepmu_branch_list *list = kunit_kzalloc(test, sizeof(*list), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, list);
	x86_model_code = code;
	x86_model_nr_code = ARRAY_SIZE(code);
	nr_decoded = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		list->entries[i].from = table[i].from;
		list->entries[i].to = table[i].to;
		KUNIT_EXPECT_EQ_MSG(test, corepmu_branch_type(&backend, list, i), table[i].type,
				    "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, list->entries[i].from, table[i].from + table[i].offset,
				    "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, nr_decoded, table[i].nr_decoded, "row %u", i);
	}
}

static struct kunit_case type_cases[] = {
	KUNIT_CASE_PARAM(type_of_instruction, instruction_gen_params),
	KUNIT_CASE_PARAM(type_fused, fused_gen_params),
	KUNIT_CASE(type_records),
	KUNIT_CASE(repeated_branch_is_decoded_once),
	{ }
};

TEST_SUITE(type, "corepmu_branch_type", NULL, NULL);
