// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: decoder of branch instructions
 *
 * For LBR hardware that does not record the type of a branch. Opcodes: Intel SDM volume 2, appendix
 * A "Opcode Map"; AMD APM volume 3, appendix A. Instructions that the CPU may fuse with a branch:
 * AMD Software Optimization Guide for family 19h, "Branch Fusion", and NOPs.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bits.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <corepmu/branch.h>
#include <corepmu/pmu.h>

#include "lbr.h"
#include "../msr.h"
#include "../x86.h"

/* Bytes of the longest instruction; SDM volume 3, "Exceptions": longer ones raise #GP */
#define MAX_INSN		15
/* Instructions to decode until the branch: one that the CPU has fused with it, and a NOP between */
#define MAX_FUSED		3

#define MODRM_REG(modrm)	((modrm) >> 3 & 7)
#define MODRM_RM(modrm)		((modrm) & 7)
#define MODRM_MOD(modrm)	((modrm) >> 6)
#define SIB_BASE(sib)		((sib) & 7)

/* Values of ModRM.reg for the opcodes FE and FF, F6 and F7, 80 to 83 */
#define GROUP_INC		0
#define GROUP_DEC		1
#define GROUP_CALL		2
#define GROUP_CALL_FAR		3
#define GROUP_JMP		4
#define GROUP_JMP_FAR		5
#define GROUP_TEST		0
#define GROUP_ADC		2
#define GROUP_SBB		3

/**
 * struct branch_insn - an instruction that is being decoded
 * @code: bytes from the first prefix on, including the next instructions
 * @len: number of bytes that are known
 * @opcode: offset of the opcode, @len if it is not known
 * @is_64bit: the code is 64-bit code
 * @operand_16: operands have 16 bits, which shortens an immediate value
 * @addr_16: addresses have 16 bits
 * @rep: the last F2 or F3 prefix, or 0
 */
struct branch_insn {
	const u8	*code;
	unsigned int	len;
	unsigned int	opcode;
	bool		is_64bit;
	bool		operand_16;
	bool		addr_16;
	u8		rep;
};

static bool is_prefix(struct branch_insn *insn, u8 byte)
{
	switch (byte) {
	case 0x66:
		insn->operand_16 = true;
		return true;
	case 0x67:
		insn->addr_16 = !insn->is_64bit;
		return true;
	case 0xf2:
	case 0xf3:
		insn->rep = byte;
		return true;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0xf0:
		return true;
	case 0x40 ... 0x4f:
		/* REX prefixes in 64-bit code; otherwise INC and DEC */
		return insn->is_64bit;
	default:
		return false;
	}
}

static struct branch_insn skip_prefixes(const u8 *code, unsigned int len, bool is_64bit)
{
	struct branch_insn insn = { .code = code, .len = len, .is_64bit = is_64bit };

	while (insn.opcode < len && is_prefix(&insn, code[insn.opcode]))
		insn.opcode++;

	return insn;
}

/* Byte at @offset after the opcode's first byte; 0 if not known */
static u8 byte_at(const struct branch_insn *insn, unsigned int offset)
{
	unsigned int i = insn->opcode + offset;

	return i < insn->len ? insn->code[i] : 0;
}

static u32 type_of_0f(const struct branch_insn *insn)
{
	switch (byte_at(insn, 1)) {
	case 0x01:
		/* ERETU and ERETS of FRED */
		return insn->rep && byte_at(insn, 2) == 0xca ? COREPMU_BRANCH_ERET : 0;
	case 0x05:
	case 0x34:
		return COREPMU_BRANCH_SYSCALL;
	case 0x07:
	case 0x35:
		return COREPMU_BRANCH_SYSRET;
	case 0x80 ... 0x8f:
		return COREPMU_BRANCH_COND;
	default:
		return 0;
	}
}

static u32 type_of_ff(const struct branch_insn *insn)
{
	switch (MODRM_REG(byte_at(insn, 1))) {
	case GROUP_CALL:
	case GROUP_CALL_FAR:
		return COREPMU_BRANCH_IND_CALL;
	case GROUP_JMP:
	case GROUP_JMP_FAR:
		return COREPMU_BRANCH_IND_JUMP;
	default:
		return 0;
	}
}

static u32 type_of(const struct branch_insn *insn)
{
	switch (byte_at(insn, 0)) {
	case 0x0f:
		return type_of_0f(insn);
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		return COREPMU_BRANCH_COND;
	case 0x9a:
		return insn->is_64bit ? 0 : COREPMU_BRANCH_CALL;
	case 0xe8:
		return COREPMU_BRANCH_CALL;
	case 0xc2:
	case 0xc3:
	case 0xca:
	case 0xcb:
		return COREPMU_BRANCH_RET;
	case 0xcc:
	case 0xcd:
	case 0xf1:
		return COREPMU_BRANCH_SOFT_INT;
	case 0xce:
		return insn->is_64bit ? 0 : COREPMU_BRANCH_SOFT_INT;
	case 0xcf:
		return COREPMU_BRANCH_ERET;
	case 0xea:
		return insn->is_64bit ? 0 : COREPMU_BRANCH_JUMP;
	case 0xe9:
	case 0xeb:
		return COREPMU_BRANCH_JUMP;
	case 0xff:
		return type_of_ff(insn);
	default:
		return 0;
	}
}

/* Number of bytes of ModRM, SIB and displacement */
static unsigned int modrm_size(const struct branch_insn *insn, unsigned int offset)
{
	u8 modrm = byte_at(insn, offset), mod = MODRM_MOD(modrm), rm = MODRM_RM(modrm);
	unsigned int size = 1;

	if (mod == 3)
		return size;
	if (insn->addr_16)
		return size + (mod ? mod : rm == 6 ? 2 : 0);

	if (rm == 4) {
		size++;
		if (mod == 0 && SIB_BASE(byte_at(insn, offset + 1)) == 5)
			return size + 4;
	} else if (mod == 0 && rm == 5) {
		return size + 4;
	}

	return size + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

/* Flags of an opcode: the CPU may fuse it with a branch; its operands */
#define FUSES			BIT(0)
#define HAS_MODRM		BIT(1)
#define HAS_IMM8		BIT(2)
/* An immediate value of the operands' size, at most four bytes */
#define HAS_IMM			BIT(3)

/* The six forms of an ALU instruction, in opcodes 0x00 to 0x3f */
#define ALU_ROW(opcode)							\
	[(opcode) ... (opcode) + 3]	= FUSES | HAS_MODRM,		\
	[(opcode) + 4]			= FUSES | HAS_IMM8,		\
	[(opcode) + 5]			= FUSES | HAS_IMM

/* Not fused: ADC (0x10) and SBB (0x18) */
static const u8 fusible_opcodes[] = {
	ALU_ROW(0x00),		/* ADD */
	ALU_ROW(0x08),		/* OR */
	ALU_ROW(0x20),		/* AND */
	ALU_ROW(0x28),		/* SUB */
	ALU_ROW(0x30),		/* XOR */
	ALU_ROW(0x38),		/* CMP */
	[0x80]		= FUSES | HAS_MODRM | HAS_IMM8,
	[0x81]		= FUSES | HAS_MODRM | HAS_IMM,
	[0x83]		= FUSES | HAS_MODRM | HAS_IMM8,
	[0x84 ... 0x85]	= FUSES | HAS_MODRM,		/* TEST */
	[0x90]		= FUSES,			/* NOP */
	[0xa8]		= FUSES | HAS_IMM8,		/* TEST */
	[0xa9]		= FUSES | HAS_IMM,		/* TEST */
	[0xf6]		= FUSES | HAS_MODRM | HAS_IMM8,
	[0xf7]		= FUSES | HAS_MODRM | HAS_IMM,
	[0xfe ... 0xff]	= FUSES | HAS_MODRM,
};

/*
 * Check an opcode that stands for several instructions, one of which ModRM.reg selects. Return true
 * for an opcode of one instruction.
 */
static bool group_fuses(const struct branch_insn *insn, u8 opcode)
{
	unsigned int operation = MODRM_REG(byte_at(insn, 1));

	switch (opcode) {
	case 0x80 ... 0x83:
		return operation != GROUP_ADC && operation != GROUP_SBB;
	case 0xf6 ... 0xf7:
		return operation == GROUP_TEST;
	case 0xfe ... 0xff:
		return operation == GROUP_INC || operation == GROUP_DEC;
	default:
		return true;
	}
}

/* Length of an instruction that the CPU may fuse with a branch, with prefixes; 0 for others */
static unsigned int fusible_size(const struct branch_insn *insn)
{
	u8 opcode = byte_at(insn, 0), operands = fusible_opcodes[opcode];
	unsigned int size = insn->opcode + 1;

	/* NOP of several bytes */
	if (opcode == 0x0f)
		return byte_at(insn, 1) == 0x1f ? size + 1 + modrm_size(insn, 2) : 0;
	if (!operands || !group_fuses(insn, opcode))
		return 0;
	if (operands & HAS_MODRM)
		size += modrm_size(insn, 1);
	if (operands & HAS_IMM8)
		size++;
	if (operands & HAS_IMM)
		size += insn->operand_16 ? 2 : 4;

	return size;
}

/**
 * x86_branch_type() - decode the type of a branch instruction
 * @code: bytes at the branch's source address
 * @len: number of known bytes, including the next instructions
 * @is_64bit: the code is 64-bit code
 * @fused: the address may be that of an instruction fused with the branch
 * @offset: set to the branch's offset from @code
 *
 * Return: COREPMU_BRANCH_*, or 0 if there is no branch
 */
u32 x86_branch_type(const u8 *code, unsigned int len, bool is_64bit, bool fused,
		    unsigned int *offset)
{
	unsigned int at = 0, i;

	*offset = 0;
	for (i = 0; i < (fused ? MAX_FUSED : 1); i++) {
		struct branch_insn insn = skip_prefixes(code + at, len - at, is_64bit);
		u32 type = type_of(&insn);
		unsigned int size;

		if (type) {
			*offset = at;
			return type;
		}
		size = fusible_size(&insn);
		if (!size || at + size >= len)
			break;
		at += size;
	}

	return 0;
}

/*
 * Decode a record's branch type. An interrupt or exception may occur at any instruction, even at a
 * branch. A record is an interrupt if it leads from user space to the kernel without a system call
 * or software interrupt, or if it leads to the kernel and its source is no branch.
 */
static u32 decode_branch(struct perf_branch_entry *entry, bool fused)
{
	bool from_kernel = corepmu_branch_is_kernel(entry->from);
	bool to_kernel = corepmu_branch_is_kernel(entry->to);
	unsigned int len, offset;
	u8 code[MAX_INSN + 1];
	u32 type;

	len = x86_read_code(entry->from, code, sizeof(code));
	/* The CPU does not fuse instructions that leave user space. */
	fused = fused && from_kernel == to_kernel;
	type = x86_branch_type(code, len, x86_is_64bit_code(entry->from), fused, &offset);
	if (!from_kernel && to_kernel) {
		if (type == COREPMU_BRANCH_SYSCALL || type == COREPMU_BRANCH_SOFT_INT)
			return type;
		return COREPMU_BRANCH_IRQ;
	}
	entry->from += offset;
	if (!type && len && to_kernel)
		return COREPMU_BRANCH_IRQ;

	return type ?: COREPMU_BRANCH_UNKNOWN;
}

/**
 * x86_branch_decode() - decode the type of a branch record
 * @entry: the record
 *
 * IRQs off, or NMI.
 *
 * Return: COREPMU_BRANCH_*
 */
u32 x86_branch_decode(struct perf_branch_entry *entry)
{
	return decode_branch(entry, false);
}

/**
 * x86_branch_decode_fused() - decode a record that may have the address of a fused instruction
 * @entry: the record; its source address is corrected
 *
 * IRQs off, or NMI.
 *
 * Return: COREPMU_BRANCH_*
 */
u32 x86_branch_decode_fused(struct perf_branch_entry *entry)
{
	return decode_branch(entry, true);
}
