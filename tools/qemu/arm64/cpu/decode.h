/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Decode the class of an A64 instruction, as far as the PMU's events need it.
 */
#ifndef TOOLS_QEMU_ARM64_DECODE_H
#define TOOLS_QEMU_ARM64_DECODE_H

#include <stdint.h>

#define ARM64_INSN_SIMPLE	(1u << 0)	/* cannot leave its block, nor read a counter */
#define ARM64_INSN_BRANCH	(1u << 1)
#define ARM64_INSN_CONDITIONAL	(1u << 2)
#define ARM64_INSN_IMMEDIATE	(1u << 3)
#define ARM64_INSN_RETURN	(1u << 4)	/* RET, RETAA, RETAB */
#define ARM64_INSN_ERET		(1u << 5)
#define ARM64_INSN_LOAD		(1u << 6)
#define ARM64_INSN_STORE	(1u << 7)
#define ARM64_INSN_CALL		(1u << 8)	/* with link */
#define ARM64_INSN_INDIRECT	(1u << 9)	/* to the address in a register */

unsigned int arm64_insn_class(uint32_t insn);
int32_t arm64_insn_distance(uint32_t insn);

#endif /* TOOLS_QEMU_ARM64_DECODE_H */
