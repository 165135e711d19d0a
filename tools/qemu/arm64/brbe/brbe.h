/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Branch Record Buffer Extension of an arm64 CPU: which branches are recorded, and where
 * they are read.
 */
#ifndef TOOLS_QEMU_ARM64_BRBE_H
#define TOOLS_QEMU_ARM64_BRBE_H

#include <stdbool.h>
#include <stdint.h>

#include "arm64/registers/events.h"

#define ARM64_BRBE_RECORDS_MAX	64

/* Registers are there for so many records; BRBFCR_EL1.BANK says which. */
#define ARM64_BRBE_BANK		32

/* What a branch is, with the numbers that BRBINF<n>_EL1.TYPE has for it. */
enum arm64_branch_type {
	ARM64_BRANCH_JUMP		= 0x00,
	ARM64_BRANCH_INDIRECT		= 0x01,
	ARM64_BRANCH_CALL		= 0x02,
	ARM64_BRANCH_INDIRECT_CALL	= 0x03,
	ARM64_BRANCH_RETURN		= 0x05,
	ARM64_BRANCH_ERET		= 0x07,
	ARM64_BRANCH_CONDITIONAL	= 0x08,
	/* Exceptions, from here on */
	ARM64_BRANCH_EXCEPTION		= 0x20,
	ARM64_BRANCH_SYSCALL		= 0x22,
	ARM64_BRANCH_TRAP		= 0x23,
	ARM64_BRANCH_SERROR		= 0x24,
	ARM64_BRANCH_DEBUG		= 0x26,
	ARM64_BRANCH_ALIGNMENT		= 0x2a,
	ARM64_BRANCH_INSN_FAULT		= 0x2b,
	ARM64_BRANCH_DATA_FAULT		= 0x2c,
	ARM64_BRANCH_IRQ		= 0x2e,
	ARM64_BRANCH_FIQ		= 0x2f,
};

/**
 * struct arm64_brbe_config - what records a CPU has
 * @records: how many: 8, 16, 32 or 64; 0 for none at all
 * @lose: a fault: every how manieth record is lost
 * @tear: a fault: every how manieth record has the target of the one before
 * @unfrozen: a fault: an overflow does not freeze them
 */
struct arm64_brbe_config {
	unsigned int records;
	uint64_t lose;
	uint64_t tear;
	bool unfrozen;
};

/**
 * struct arm64_branch - a branch that was taken
 * @from: the instruction, or where an exception would return to
 * @to: the instruction after it
 * @type: what it is
 * @source: the level that it comes from
 * @target: the level that it leads to
 * @from_a32: that was AArch32 code
 * @to_a32: this is
 * @mispredicted: by the model of a predictor
 * @cycles: of the CPU since it was made
 */
struct arm64_branch {
	uint64_t from;
	uint64_t to;
	enum arm64_branch_type type;
	enum arm64_pmu_level source;
	enum arm64_pmu_level target;
	bool from_a32;
	bool to_a32;
	bool mispredicted;
	uint64_t cycles;
};

/* System registers and instructions; those of a record are followed by its number in the bank. */
enum arm64_brbe_reg {
	ARM64_BRBCR_EL1,
	ARM64_BRBCR_EL2,
	ARM64_BRBCR_EL12,
	ARM64_BRBFCR,
	ARM64_BRBTS,
	ARM64_BRBIDR0,
	ARM64_BRBINFINJ,
	ARM64_BRBSRCINJ,
	ARM64_BRBTGTINJ,
	ARM64_BRBINF,
	ARM64_BRBSRC,
	ARM64_BRBTGT,
	ARM64_BRB_IALL,
	ARM64_BRB_INJ,
};

/* One record, as its registers show it. */
struct arm64_brbe_record {
	uint64_t source;
	uint64_t target;
	uint64_t info;
};

/**
 * struct arm64_brbe - the records of one CPU
 * @record: a ring
 * @top: the youngest one
 * @cr: BRBCR_EL1 and BRBCR_EL2
 * @fcr: BRBFCR_EL1
 * @ts: BRBTS_EL1
 * @inject: BRBINFINJ_EL1, BRBSRCINJ_EL1 and BRBTGTINJ_EL1
 * @levels: those that the CPU has been told to report the branches of, a bit each
 * @gap: the next record is the first one after a prohibited region
 * @cycles: of the CPU when the youngest was made
 * @records: how many were made, of all
 */
struct arm64_brbe {
	struct arm64_brbe_record record[ARM64_BRBE_RECORDS_MAX];
	unsigned int top;
	uint64_t cr[2];
	uint64_t fcr;
	uint64_t ts;
	struct arm64_brbe_record inject;
	unsigned int levels;
	bool gap;
	uint64_t cycles;
	uint64_t records;
};

struct arm64_pmu;
struct arm64_pmu_config;

const char *arm64_brbe_config_error(const struct arm64_pmu_config *config);
uint64_t arm64_brbe_read(struct arm64_pmu *pmu, enum arm64_brbe_reg reg, unsigned int n);
void arm64_brbe_write(struct arm64_pmu *pmu, enum arm64_brbe_reg reg, uint64_t value);
void arm64_brbe_branch(struct arm64_pmu *pmu, const struct arm64_branch *branch);

/* For the model */
void arm64_brbe_reset(struct arm64_pmu *pmu);
void arm64_brbe_overflowed(struct arm64_pmu *pmu, bool lower, bool upper);

#endif /* TOOLS_QEMU_ARM64_BRBE_H */
