// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decode the class of an instruction, as far as counting needs it.
 *
 * QEMU has decoded the instruction and reports its length. So the decoder need not know the CPU's
 * mode: an INC of 32-bit code looks like a REX prefix, but no byte follows it.
 */
#include <stdbool.h>
#include <string.h>

#include "x86/cpu/decode.h"

#define OPCODE_0F	0x0f

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64 ... 0x67:
	case 0xf0:
	case 0xf2:
	case 0xf3:
		return true;
	}
	return false;
}

static bool is_string(uint8_t opcode)
{
	return (opcode >= 0x6c && opcode <= 0x6f) || (opcode >= 0xa4 && opcode <= 0xa7) ||
	       (opcode >= 0xaa && opcode <= 0xaf);
}

static bool is_register(uint8_t modrm)
{
	return modrm >= 0xc0;
}

static unsigned int extension(uint8_t modrm)
{
	return modrm >> 3 & 7;
}

static unsigned int branch_0f(uint8_t opcode)
{
	switch (opcode) {
	case 0x80 ... 0x8f:		/* Jcc */
		return X86_INSN_BRANCH | X86_INSN_CONDITIONAL;
	case 0x05:			/* SYSCALL, SYSRET */
	case 0x07:
	case 0x34:			/* SYSENTER, SYSEXIT */
	case 0x35:
		return X86_INSN_BRANCH | X86_INSN_FAR | X86_INSN_FAULTING;
	}
	return 0;
}

static unsigned int branch_ff(uint8_t modrm)
{
	switch (extension(modrm)) {
	case 2:
		return X86_INSN_BRANCH | X86_INSN_CALL | X86_INSN_INDIRECT | X86_INSN_FAULTING;
	case 4:
		return X86_INSN_BRANCH | X86_INSN_INDIRECT | X86_INSN_FAULTING;
	case 3:
	case 5:
		return X86_INSN_BRANCH | X86_INSN_FAR | X86_INSN_FAULTING;
	}
	return 0;
}

static unsigned int branch(uint8_t opcode, uint8_t next)
{
	switch (opcode) {
	case 0x70 ... 0x7f:		/* Jcc */
	case 0xe0 ... 0xe3:		/* LOOP, JCXZ */
		return X86_INSN_BRANCH | X86_INSN_CONDITIONAL;
	case 0xe9:			/* JMP */
	case 0xeb:
		return X86_INSN_BRANCH;
	case 0xe8:			/* CALL */
		return X86_INSN_BRANCH | X86_INSN_CALL | X86_INSN_FAULTING;
	case 0xc2:			/* RET */
	case 0xc3:
		return X86_INSN_BRANCH | X86_INSN_RETURN | X86_INSN_FAULTING;
	case 0x9a:			/* far CALL, RET, JMP, IRET */
	case 0xca:
	case 0xcb:
	case 0xcf:
	case 0xea:
		return X86_INSN_BRANCH | X86_INSN_FAR | X86_INSN_FAULTING;
	case 0xcc:			/* INT3, INT n */
	case 0xcd:
		return X86_INSN_BRANCH | X86_INSN_FAR | X86_INSN_FAULTING |
		       X86_INSN_SOFTWARE_INT;
	case 0xff:
		return branch_ff(next);
	case OPCODE_0F:
		return branch_0f(next);
	}
	return 0;
}

static bool is_simple_0f(uint8_t opcode, uint8_t modrm)
{
	switch (opcode) {
	case 0x1f:			/* NOP */
		return true;
	case 0x40 ... 0x4f:		/* CMOVcc, SETcc, IMUL, MOVZX, MOVSX */
	case 0x90 ... 0x9f:
	case 0xaf:
	case 0xb6 ... 0xb7:
	case 0xbe ... 0xbf:
		return is_register(modrm);
	}
	return false;
}

/* Return true only for known simple instructions; others are treated as if they could fault. */
static bool is_simple(const uint8_t *p, size_t left)
{
	uint8_t next = left > 1 ? p[1] : 0;

	switch (p[0]) {
	case 0x00 ... 0x3f:
		if (p[0] == OPCODE_0F)
			return left > 2 && is_simple_0f(next, p[2]);
		/* ADD, OR, ADC, SBB, AND, SUB, XOR, CMP */
		return (p[0] & 7) == 4 || (p[0] & 7) == 5 ||
		       ((p[0] & 7) < 4 && is_register(next));
	case 0x80 ... 0x81:
	case 0x83 ... 0x85:
	case 0x88 ... 0x8b:
	case 0xc0 ... 0xc1:
	case 0xd0 ... 0xd3:
		return is_register(next);
	case 0x63:			/* MOVSXD, or ARPL, which cannot fault either */
		return is_register(next);
	case 0x8d:			/* LEA */
		return !is_register(next);
	case 0x90:			/* NOP, XCHG, CBW, CWD, TEST, MOV */
	case 0x91 ... 0x99:
	case 0xa8 ... 0xa9:
	case 0xb0 ... 0xbf:
		return true;
	case 0xf6:
	case 0xf7:
		return is_register(next) && extension(next) < 6;
	case 0xfe:
	case 0xff:
		return is_register(next) && extension(next) < 2;
	}
	return false;
}

static bool is_update_0f(uint8_t opcode, uint8_t modrm)
{
	switch (opcode) {
	case 0xab:			/* BTS, BTR, BTC */
	case 0xb3:
	case 0xbb:
	case 0xa4 ... 0xa5:		/* SHLD, SHRD */
	case 0xac ... 0xad:
	case 0xb0 ... 0xb1:		/* CMPXCHG, XADD */
	case 0xc0 ... 0xc1:
		return true;
	case 0xba:
		return extension(modrm) > 4;
	case 0xc7:			/* CMPXCHG8B, CMPXCHG16B */
		return extension(modrm) == 1;
	}
	return false;
}

/* Check whether an instruction loads and stores its operand in memory, if there is one. */
static bool is_update_one_byte(uint8_t opcode, uint8_t modrm)
{
	switch (opcode) {
	case 0x00 ... 0x37:		/* ADD, OR, ADC, SBB, AND, SUB, XOR; CMP is 0x38 */
		return (opcode & 7) < 2;
	case 0x80 ... 0x81:
	case 0x83:
		return extension(modrm) != 7;
	case 0x86 ... 0x87:		/* XCHG */
	case 0xc0 ... 0xc1:		/* rotate, shift */
	case 0xd0 ... 0xd3:
		return true;
	case 0xf6 ... 0xf7:		/* NOT, NEG */
		return extension(modrm) == 2 || extension(modrm) == 3;
	case 0xfe ... 0xff:		/* INC, DEC */
		return extension(modrm) < 2;
	}
	return false;
}

static bool is_update(const uint8_t *p, size_t left)
{
	if (p[0] == OPCODE_0F)
		return left > 2 && !is_register(p[2]) && is_update_0f(p[1], p[2]);
	return left > 1 && !is_register(p[1]) && is_update_one_byte(p[0], p[1]);
}

static size_t skip_prefixes(const uint8_t *insn, size_t len)
{
	size_t i = 0;

	while (i < len && is_prefix(insn[i]))
		i++;
	if (i + 1 < len && (insn[i] & 0xf0) == 0x40)	/* REX */
		i++;
	return i;
}

/**
 * x86_insn_distance() - return the distance to a conditional branch's target
 * @insn: the instruction's bytes
 * @len: number of bytes
 *
 * Return: bytes from the next instruction to the target: the operand rel8, rel16 or rel32 (Intel
 * SDM, volume 2, Jcc, LOOP and JCXZ).
 */
int32_t x86_insn_distance(const uint8_t *insn, size_t len)
{
	size_t i = skip_prefixes(insn, len);
	int32_t rel32;
	int16_t rel16;

	i += i < len && insn[i] == OPCODE_0F ? 2 : 1;
	if (i + sizeof(rel32) == len) {
		memcpy(&rel32, insn + i, sizeof(rel32));
		return rel32;
	}
	if (i + sizeof(rel16) == len) {
		memcpy(&rel16, insn + i, sizeof(rel16));
		return rel16;
	}
	return (int8_t)insn[len - 1];
}

/**
 * x86_insn_class() - return the class of an instruction
 * @insn: the instruction's bytes
 * @len: number of bytes
 *
 * Return: bits X86_INSN_*.
 */
unsigned int x86_insn_class(const uint8_t *insn, size_t len)
{
	bool repeat = false, locked = false;
	size_t i, opcode = skip_prefixes(insn, len);
	unsigned int class;

	if (opcode >= len)
		return 0;
	for (i = 0; i < opcode; i++) {
		repeat |= insn[i] == 0xf2 || insn[i] == 0xf3;
		locked |= insn[i] == 0xf0;
	}

	insn += opcode;
	len -= opcode;

	class = branch(insn[0], len > 1 ? insn[1] : 0);
	if (class)
		return class;
	/* Updates may have a repeat prefix: XACQUIRE or XRELEASE. */
	if (is_update(insn, len))
		return X86_INSN_UPDATE;
	if (repeat)
		return is_string(insn[0]) ? X86_INSN_REPEATED : 0;
	/* With a LOCK prefix the bytes may be another instruction, or invalid. */
	if (!locked && is_simple(insn, len))
		return X86_INSN_SIMPLE;
	return 0;
}
