/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Branch Record Buffer Extension (BRBE) of an arm64 CPU.
 */
#ifndef TOOLS_QEMU_ARM64_BRBE_H
#define TOOLS_QEMU_ARM64_BRBE_H

#include <stdbool.h>
#include <stdint.h>

#include "arm64/registers/events.h"

#define ARM64_BRBE_RECORDS_MAX	64

/* Number of records that have registers; BRBFCR_EL1.BANK selects the records. */
#define ARM64_BRBE_BANK		32

/* Types of branches, with their numbers in BRBINF<n>_EL1.TYPE */
enum arm64_branch_type {
	ARM64_BRANCH_JUMP		= 0x00,
	ARM64_BRANCH_INDIRECT		= 0x01,
	ARM64_BRANCH_CALL		= 0x02,
	ARM64_BRANCH_INDIRECT_CALL	= 0x03,
	ARM64_BRANCH_RETURN		= 0x05,
	ARM64_BRANCH_ERET		= 0x07,
	ARM64_BRANCH_CONDITIONAL	= 0x08,
	/* Exceptions from here on */
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
 * struct arm64_brbe_config - properties of BRBE
 * @records: number of records: 8, 16, 32 or 64; 0 without BRBE
 * @lose: fault: every Nth record is lost, 0 for none
 * @tear: fault: every Nth record has the target of the one before, 0 for none
 * @unfrozen: fault: an overflow does not freeze BRBE
 */
struct arm64_brbe_config {
	unsigned int records;
	uint64_t lose;
	uint64_t tear;
	bool unfrozen;
};

/**
 * struct arm64_branch - a taken branch
 * @from: address of the branch, or return address of an exception
 * @to: address of the target
 * @type: the branch's type
 * @source: exception level of the source
 * @target: exception level of the target
 * @from_a32: the source is AArch32 code
 * @to_a32: the target is AArch32 code
 * @mispredicted: the predictor's model predicted the branch wrongly
 * @cycles: the CPU's count of cycles
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

/* System registers and instructions; a record's register also needs its number in the bank */
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

/* One record, as the values of its registers */
struct arm64_brbe_record {
	uint64_t source;
	uint64_t target;
	uint64_t info;
};

/**
 * struct arm64_brbe - BRBE of one CPU
 * @record: a ring of records
 * @top: index of the youngest record
 * @cr: BRBCR_EL1 and BRBCR_EL2
 * @fcr: BRBFCR_EL1
 * @ts: BRBTS_EL1
 * @inject: BRBINFINJ_EL1, BRBSRCINJ_EL1 and BRBTGTINJ_EL1
 * @levels: bitmap of the levels with branches that the CPU reports
 * @types: bitmap of the types of branches to record, without exceptions and exception returns
 * @simple: bitmap of the levels where @types alone decides on a branch within the level; 0 with
 *	faults
 * @gap: the next record is the first one after a prohibited region
 * @cycles: the CPU's count of cycles at the youngest record
 * @records: statistics: number of records
 */
struct arm64_brbe {
	struct arm64_brbe_record record[ARM64_BRBE_RECORDS_MAX];
	unsigned int top;
	uint64_t cr[2];
	uint64_t fcr;
	uint64_t ts;
	struct arm64_brbe_record inject;
	unsigned int levels;
	unsigned int types;
	unsigned int simple;
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
void arm64_brbe_skip(struct arm64_pmu *pmu, unsigned int nr, uint64_t cycles);

/* For the model */
void arm64_brbe_reset(struct arm64_pmu *pmu);
uint32_t arm64_brbe_needs(const struct arm64_pmu *pmu);
void arm64_brbe_overflowed(struct arm64_pmu *pmu, bool lower, bool upper);

#endif /* TOOLS_QEMU_ARM64_BRBE_H */
