// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decode the class of an A64 instruction, as far as the PMU's events need it.
 *
 * Arm Architecture Reference Manual, DDI 0487, C4.1, "A64 instruction set encoding". Undefined
 * instructions may get the class of a defined one: they fault, and are then taken back.
 */
#include "arm64/cpu/decode.h"

#define BOTH	(ARM64_INSN_LOAD | ARM64_INSN_STORE)

static unsigned int bits(uint32_t insn, unsigned int high, unsigned int low)
{
	return insn >> low & ((1u << (high - low + 1)) - 1);
}

static unsigned int bit(uint32_t insn, unsigned int n)
{
	return insn >> n & 1;
}

static unsigned int load_if(unsigned int condition)
{
	return condition ? ARM64_INSN_LOAD : ARM64_INSN_STORE;
}

static unsigned int call_if(unsigned int condition)
{
	return condition ? ARM64_INSN_CALL : 0;
}

/* Branches, exception generation, system instructions: op0 is 101x. */
static unsigned int branch_class(uint32_t insn)
{
	if ((insn & 0x7c000000) == 0x14000000)		/* B, BL */
		return ARM64_INSN_BRANCH | ARM64_INSN_IMMEDIATE | call_if(bit(insn, 31));
	if ((insn & 0xff000000) == 0x54000000 ||	/* B.cond */
	    (insn & 0x7c000000) == 0x34000000)		/* CBZ, CBNZ, TBZ, TBNZ */
		return ARM64_INSN_BRANCH | ARM64_INSN_IMMEDIATE | ARM64_INSN_CONDITIONAL;
	if ((insn & 0xfe000000) != 0xd6000000)
		return 0;
	switch (bits(insn, 24, 21)) {
	case 2:						/* RET, RETAA */
		return ARM64_INSN_BRANCH | ARM64_INSN_RETURN;
	case 4:						/* ERET, ERETAA */
		return ARM64_INSN_BRANCH | ARM64_INSN_ERET;
	default:					/* BR, BLR, BRAA, BLRAA ... */
		return ARM64_INSN_BRANCH | ARM64_INSN_INDIRECT | call_if(bit(insn, 21));
	}
}

/* Exclusive, ordered, and compare and swap: bits 29:24 are 001000. */
static unsigned int exclusive_class(uint32_t insn)
{
	if (bit(insn, 21) && (bit(insn, 23) || !bit(insn, 31)))	/* CAS, CASP */
		return BOTH;
	return load_if(bit(insn, 22));
}

/* One register: bits 29:27 are 111. */
static unsigned int register_class(uint32_t insn)
{
	unsigned int size = bits(insn, 31, 30), opc = bits(insn, 23, 22), op4 = bits(insn, 11, 10);

	if (!bit(insn, 24) && bit(insn, 21) && !bit(insn, 26)) {
		if (op4 == 0)		/* atomics, and LDAPR */
			return bits(insn, 15, 12) == 12 ? ARM64_INSN_LOAD : BOTH;
		if (op4 & 1)		/* LDRAA, LDRAB */
			return ARM64_INSN_LOAD;
	}
	if (bit(insn, 26))		/* SIMD: 128 bits have another opc */
		return load_if(opc & 1);
	if (size == 3 && opc == 2)	/* PRFM */
		return 0;
	return load_if(opc);
}

/* Tags, and LDAPR and STLR with an offset: bits 29:27 are 011, bit 24 is set. */
static unsigned int unscaled_ordered_class(uint32_t insn)
{
	unsigned int opc = bits(insn, 23, 22), op4 = bits(insn, 11, 10);

	if (!bit(insn, 21) && op4 == 1) {	/* memory copy and set */
		if (bit(insn, 26) || opc != 3)
			return BOTH;
		return ARM64_INSN_STORE;
	}
	if (bit(insn, 21))		/* LDG, LDGM; STG and so on */
		return load_if(!op4 && opc && !(opc == 2 && bits(insn, 31, 30) == 3));
	return load_if(opc);
}

/* Loads and stores: op0 is x1x0. */
static unsigned int memory_class(uint32_t insn)
{
	if ((insn & 0xbe000000) == 0x0c000000)		/* SIMD structures */
		return load_if(bit(insn, 22));
	if ((insn & 0x3f000000) == 0x08000000)
		return exclusive_class(insn);

	switch (bits(insn, 29, 27)) {
	case 3:
		if (bit(insn, 24))
			return unscaled_ordered_class(insn);
		/* literal; the last is PRFM */
		return bits(insn, 31, 30) == 3 && !bit(insn, 26) ? 0 : ARM64_INSN_LOAD;
	case 5:						/* pairs */
		return load_if(bit(insn, 22));
	case 7:
		return register_class(insn);
	default:
		return 0;
	}
}

/**
 * arm64_insn_distance() - return the distance to a conditional branch's target
 * @insn: the instruction
 *
 * Return: bytes from the next instruction to the target. The operand imm19 (imm14 of TBZ and TBNZ)
 * is relative to the branch itself (DDI 0487, C4.1, "Branches").
 */
int32_t arm64_insn_distance(uint32_t insn)
{
	unsigned int imm_bits = (insn & 0x7e000000) == 0x36000000 ? 14 : 19;
	unsigned int above = 32 - imm_bits;

	/* Extract the field from bit 5 on, with its sign */
	return ((int32_t)(insn >> 5 << above) >> above) * 4 - 4;
}

/**
 * arm64_insn_class() - return the class of an instruction
 * @insn: the instruction
 *
 * Return: ARM64_INSN_* bits.
 */
unsigned int arm64_insn_class(uint32_t insn)
{
	unsigned int op0 = bits(insn, 28, 25);

	if ((op0 & 0xe) == 0xa)
		return branch_class(insn);
	if ((op0 & 0x5) == 0x4)
		return memory_class(insn);
	/* SVE: the upper half of the encodings accesses memory. */
	if (op0 == 2 && bit(insn, 31))
		return load_if(bits(insn, 31, 29) != 7);
	/* Data processing of general-purpose registers */
	if ((op0 & 0xe) == 0x8 || (op0 & 0x7) == 0x5)
		return ARM64_INSN_SIMPLE;
	return 0;
}
