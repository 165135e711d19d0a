/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decode the class of an instruction, as far as counting needs it.
 */
#ifndef TOOLS_QEMU_X86_DECODE_H
#define TOOLS_QEMU_X86_DECODE_H

#include <stddef.h>
#include <stdint.h>

/* Bits of an instruction's class */
#define X86_INSN_BRANCH		(1u << 0)	/* any branch */
#define X86_INSN_CONDITIONAL	(1u << 1)
#define X86_INSN_CALL		(1u << 2)	/* near */
#define X86_INSN_RETURN		(1u << 3)	/* near */
#define X86_INSN_FAR		(1u << 4)
#define X86_INSN_FAULTING	(1u << 5)	/* a branch that may fault itself */
#define X86_INSN_INDIRECT	(1u << 6)	/* near, through a register or memory */

#define X86_INSN_REPEATED	(1u << 8)	/* string instruction with a repeat prefix */
#define X86_INSN_SOFTWARE_INT	(1u << 9)	/* INT n, INT3 */
#define X86_INSN_SIMPLE		(1u << 10)	/* no memory, no fault, no branch */
#define X86_INSN_UPDATE		(1u << 11)	/* read-modify-write of an operand in memory */

unsigned int x86_insn_class(const uint8_t *insn, size_t len);
int32_t x86_insn_distance(const uint8_t *insn, size_t len);

#endif /* TOOLS_QEMU_X86_DECODE_H */
