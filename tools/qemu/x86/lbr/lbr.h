/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Last branch records (LBR) of an x86 core PMU.
 */
#ifndef TOOLS_QEMU_X86_LBR_H
#define TOOLS_QEMU_X86_LBR_H

#include <stdbool.h>
#include <stdint.h>

#define X86_LBR_MAX	32

/* Number of counters that records can have event counts of: the lowest ones */
#define X86_LBR_COUNTERS	4

/* Types of LBR */
enum x86_lbr_kind {
	X86_LBR_NONE,
	X86_LBR_FLAGS,		/* Haswell, Broadwell: format 4, flags in the source's register */
	X86_LBR_INFO,		/* Intel since Skylake: format 5, with MSR_LBR_INFO_x */
	X86_LBR_ARCH,		/* Intel's architectural LBR */
	X86_LBR_AMD,		/* AMD's version 2: LbrExtV2 */
	X86_LBR_KINDS
};

/* Types of branches, with their numbers in IA32_LBR_x_INFO */
enum x86_lbr_type {
	X86_LBR_CONDITIONAL,
	X86_LBR_INDIRECT_JUMP,
	X86_LBR_JUMP,
	X86_LBR_INDIRECT_CALL,
	X86_LBR_CALL,
	X86_LBR_RETURN,
	X86_LBR_OTHER = 8,	/* far branches, exceptions and interrupts */
	X86_LBR_TYPES
};

/**
 * struct x86_lbr_config - properties of LBR
 * @kind: the type of LBR, which determines the registers
 * @depth: number of records; with architectural LBR the maximum of IA32_LBR_DEPTH
 * @counters: bitmap of the general-purpose counters with event counts in architectural records
 * @lose: fault: every Nth record is lost, 0 for none
 * @tear: fault: every Nth record has the target of the one before, 0 for none
 * @unfrozen: fault: an overflow does not freeze LBR, though the status says so
 */
struct x86_lbr_config {
	enum x86_lbr_kind kind;
	unsigned int depth;
	uint64_t counters;
	uint64_t lose;
	uint64_t tear;
	bool unfrozen;
};

/**
 * struct x86_lbr_branch - a taken branch
 * @from: address of the branch, or of the interrupted instruction
 * @to: address of the target
 * @type: the branch's type
 * @kernel: the branch ends in ring 0, of the host or of a guest
 * @mispredicted: the predictor's model predicted the branch wrongly
 * @next: the target is the next instruction
 * @cycles: the CPU's count of cycles
 */
struct x86_lbr_branch {
	uint64_t from;
	uint64_t to;
	enum x86_lbr_type type;
	bool kernel;
	bool mispredicted;
	bool next;
	uint64_t cycles;
};

/* One record, as the values of its registers */
struct x86_lbr_entry {
	uint64_t from;
	uint64_t to;
	uint64_t info;
};

/**
 * struct x86_lbr - LBR of one CPU
 * @entry: a ring of @depth records
 * @top: position of the youngest record; MSR_LASTBRANCH_TOS
 * @depth: the present number of records
 * @select: MSR_LBR_SELECT, AMD's LBR_SELECT
 * @ctl: IA32_LBR_CTL, AMD's DBG_EXTN_CFG
 * @cycles: the CPU's count of cycles at the youngest record, or when recording began
 * @types: bitmaps of the types to record, of branches that end in user space and in the kernel
 * @calls: LBR is in call stack mode
 * @simple: @types alone decides on a branch: no call stack, no event counts, no faults
 * @rings: bitmap of the rings with branches that the CPU reports
 * @records: statistics: number of records
 * @happened: event counts since the youngest record, as of the counters' last update
 */
struct x86_lbr {
	struct x86_lbr_entry entry[X86_LBR_MAX];
	uint64_t top;
	unsigned int depth;
	uint64_t select;
	uint64_t ctl;
	uint64_t cycles;
	unsigned int types[2];
	bool calls;
	bool simple;
	unsigned int rings;
	uint64_t records;
	int64_t happened[X86_LBR_COUNTERS];
};

struct x86_pmu;
struct x86_pmu_config;
struct x86_pmu_cpuid;

/* For the model and the vendors' files */
const char *x86_lbr_name(enum x86_lbr_kind kind);
unsigned int x86_lbr_default_depth(enum x86_lbr_kind kind);
void x86_lbr_select(struct x86_pmu *pmu, unsigned int i, uint64_t value);
void x86_lbr_counted(struct x86_pmu *pmu, unsigned int i, int64_t steps);
const char *x86_lbr_config_error(const struct x86_pmu_config *config);
void x86_lbr_reset(struct x86_pmu *pmu);
uint32_t x86_lbr_needs(const struct x86_pmu *pmu);
void x86_lbr_update(struct x86_pmu *pmu);
void x86_lbr_freeze(struct x86_pmu *pmu);
void x86_lbr_skip(struct x86_pmu *pmu, unsigned int nr, uint64_t cycles);
uint64_t x86_lbr_capabilities(const struct x86_lbr_config *config);
void x86_lbr_arch_leaf(const struct x86_lbr_config *config, struct x86_pmu_cpuid *regs);
bool x86_lbr_has_depth(const struct x86_lbr_config *config, uint64_t depth);
struct x86_lbr_entry x86_lbr_nth(const struct x86_pmu *pmu, unsigned int i);
void x86_lbr_amd_leaf(const struct x86_lbr_config *config, struct x86_pmu_cpuid *regs);

/* Functions for rows of registers: @present, @read and @write of struct x86_pmu_msr_row */
bool x86_lbr_has_ring(const struct x86_pmu_config *config);
bool x86_lbr_has_info(const struct x86_pmu_config *config);
bool x86_lbr_has_arch(const struct x86_pmu_config *config);
bool x86_lbr_has_amd(const struct x86_pmu_config *config);
bool x86_lbr_read_select(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_lbr_write_select(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_lbr_read_ctl(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_lbr_write_ctl(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_lbr_read_depth(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_lbr_write_depth(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_lbr_read_tos(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_lbr_write_tos(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_lbr_read_from(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_lbr_write_from(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_lbr_read_to(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_lbr_write_to(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_lbr_read_info(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_lbr_write_info(struct x86_pmu *pmu, unsigned int i, uint64_t value);

#endif /* TOOLS_QEMU_X86_LBR_H */
