/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: arm64: registers of the Branch Record Buffer Extension
 *
 * Names and fields: Arm Architecture Reference Manual for A-profile, DDI 0487, "Branch Record
 * Buffer registers" in chapter D23 (AArch64 system registers). Kernel headers before 6.17 lack the
 * fields, and those of 6.1 the registers too.
 */
#ifndef _COREPMU_ARM64_BRBE_H
#define _COREPMU_ARM64_BRBE_H

#include <linux/bits.h>

#include "../sysreg.h"

/* ID_AA64DFR0_EL1.BRBE: BRBE exists; from V1P1 on, records of EL3 may exist, too */
#define DFR0_BRBE		GENMASK_ULL(55, 52)
#define BRBE_IMP		1
#define BRBE_V1P1		2

/* BRBIDR0_EL1 */
#define BRBIDR0_NUMREC		GENMASK_ULL(7, 0)
#define BRBIDR0_FORMAT		GENMASK_ULL(11, 8)
#define BRBIDR0_CC		GENMASK_ULL(15, 12)
#define BRBIDR0_FORMAT_0	0
#define BRBIDR0_CC_20_BIT	5

/* BRBCR_EL1, BRBCR_EL2 */
#define BRBCR_E0BRE		BIT_ULL(0)	/* record EL0 */
#define BRBCR_EXBRE		BIT_ULL(1)	/* record EL1, or EL2 */
#define BRBCR_CC		BIT_ULL(3)	/* record cycles */
#define BRBCR_MPRED		BIT_ULL(4)	/* record mispredictions */
#define BRBCR_TS		GENMASK_ULL(6, 5)
#define BRBCR_TS_VIRTUAL	1
#define BRBCR_FZP		BIT_ULL(8)	/* pause when an event counter overflows */
#define BRBCR_ERTN		BIT_ULL(22)	/* record returns from exceptions */
#define BRBCR_EXCEPTION		BIT_ULL(23)	/* record exceptions */

/* BRBFCR_EL1 */
#define BRBFCR_PAUSED		BIT_ULL(7)
#define BRBFCR_DIRECT		BIT_ULL(17)
#define BRBFCR_INDIRECT		BIT_ULL(18)
#define BRBFCR_RTN		BIT_ULL(19)
#define BRBFCR_INDCALL		BIT_ULL(20)
#define BRBFCR_DIRCALL		BIT_ULL(21)
#define BRBFCR_CONDDIR		BIT_ULL(22)
#define BRBFCR_BANK		GENMASK_ULL(29, 28)

/* BRBINF<n>_EL1 */
#define BRBINF_TARGET_VALID	BIT_ULL(0)
#define BRBINF_SOURCE_VALID	BIT_ULL(1)
#define BRBINF_VALID		(BRBINF_TARGET_VALID | BRBINF_SOURCE_VALID)
#define BRBINF_MPRED		BIT_ULL(5)
#define BRBINF_TYPE		GENMASK_ULL(13, 8)
#define BRBINF_CC_MANT		GENMASK_ULL(39, 32)
#define BRBINF_CC_EXP		GENMASK_ULL(45, 40)
#define BRBINF_CCU		BIT_ULL(46)	/* the cycles are unknown */

/* BRBINF<n>_EL1.TYPE; all values not named here are exceptions, too */
#define BRBINF_DIRECT_UNCOND	0x00
#define BRBINF_INDIRECT		0x01
#define BRBINF_DIRECT_LINK	0x02
#define BRBINF_INDIRECT_LINK	0x03
#define BRBINF_RET		0x05
#define BRBINF_ERET		0x07
#define BRBINF_DIRECT_COND	0x08
#define BRBINF_CALL		0x22	/* SVC, HVC, SMC */
#define BRBINF_SERROR		0x24
#define BRBINF_ALIGN_FAULT	0x2a
#define BRBINF_INSN_FAULT	0x2b
#define BRBINF_DATA_FAULT	0x2c

#define BRBE_BRBCR_EL1		sys_reg(2, 1, 9, 0, 0)
#define BRBE_BRBFCR_EL1		sys_reg(2, 1, 9, 0, 1)
#define BRBE_BRBIDR0_EL1	sys_reg(2, 1, 9, 2, 0)
#define BRBE_BRBCR_EL12		sys_reg(2, 5, 9, 0, 0)
#define BRBE_BRB_IALL		sys_reg(1, 1, 7, 2, 4)

/*
 * Place a record's number in the encoding of its registers: bits 3:0 of the number are CRm (bits
 * 11:8 of the encoding), and bit 4 is the highest bit of op2 (bit 7). The product shifts the number
 * by 8 and by 3.
 */
#define BRBE_BANK_RECORDS	32
#define BRBE_RECORD(n)		(((n) * 0x108) & 0xf80)
#define BRBE_BRBINF(n)		(sys_reg(2, 1, 8, 0, 0) | BRBE_RECORD(n))
#define BRBE_BRBSRC(n)		(sys_reg(2, 1, 8, 0, 1) | BRBE_RECORD(n))
#define BRBE_BRBTGT(n)		(sys_reg(2, 1, 8, 0, 2) | BRBE_RECORD(n))

static inline u64 brbe_read_idr0(void)
{
	return read_sysreg_s(BRBE_BRBIDR0_EL1);
}

static inline void brbe_write_cr(u64 value)
{
	write_sysreg_s(value, BRBE_BRBCR_EL1);
}

/* Write EL1's register from EL2, where VHE gives the name BRBCR_EL1 to EL2's register */
static inline void brbe_write_cr_el12(u64 value)
{
	write_sysreg_s(value, BRBE_BRBCR_EL12);
}

static inline u64 brbe_read_fcr(void)
{
	return read_sysreg_s(BRBE_BRBFCR_EL1);
}

static inline void brbe_write_fcr(u64 value)
{
	write_sysreg_s(value, BRBE_BRBFCR_EL1);
}

static inline void brbe_invalidate_all(void)
{
#ifdef COREPMU_KUNIT
	pmuv3_model_write(BRBE_BRB_IALL, 0);
#else
	/* SYS without an operand (DDI 0487, C6.2): assemblers may not know the name. */
	asm volatile(__emit_inst(0xd5000000 | BRBE_BRB_IALL | 0x1f) : : : "memory");
#endif
}

/* The instruction encodes the record's number. PMUV3_SWITCH() has no case for a bank's last. */
#define BRBE_SWITCH(n, access)						\
	do {								\
		if ((n) == BRBE_BANK_RECORDS - 1)			\
			access(BRBE_BANK_RECORDS - 1);			\
		else							\
			PMUV3_SWITCH(n, access);			\
	} while (0)

/* Define brbe_read_NAME(n): read a register of record @n. */
#define BRBE_READ(name, access)						\
static inline u64 brbe_read_##name(unsigned int n)			\
{									\
	u64 value = 0;							\
									\
	BRBE_SWITCH(n, access);						\
									\
	return value;							\
}

#define READ_BRBINF(n)	(value = read_sysreg_s(BRBE_BRBINF(n)))
#define READ_BRBSRC(n)	(value = read_sysreg_s(BRBE_BRBSRC(n)))
#define READ_BRBTGT(n)	(value = read_sysreg_s(BRBE_BRBTGT(n)))
BRBE_READ(inf, READ_BRBINF)
BRBE_READ(src, READ_BRBSRC)
BRBE_READ(tgt, READ_BRBTGT)

#endif /* _COREPMU_ARM64_BRBE_H */
