/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Last branch records of an x86 core PMU: which branches are recorded, and where they are
 * read.
 */
#ifndef TOOLS_QEMU_X86_LBR_H
#define TOOLS_QEMU_X86_LBR_H

#include <stdbool.h>
#include <stdint.h>

#define X86_LBR_MAX	32

/* Counters that records can have counts of: the lowest ones */
#define X86_LBR_COUNTERS	4

/* Which records a PMU has. */
enum x86_lbr_kind {
	X86_LBR_NONE,
	X86_LBR_INFO,		/* Intel's since Skylake: format 5, records with information */
	X86_LBR_ARCH,		/* Intel's architectural ones */
	X86_LBR_AMD,		/* AMD's version 2: LbrExtV2 */
	X86_LBR_KINDS
};

/* Types of branches, with the numbers that IA32_LBR_x_INFO has for them. */
enum x86_lbr_type {
	X86_LBR_CONDITIONAL,
	X86_LBR_INDIRECT_JUMP,
	X86_LBR_JUMP,
	X86_LBR_INDIRECT_CALL,
	X86_LBR_CALL,
	X86_LBR_RETURN,
	X86_LBR_OTHER = 8,	/* far ones, exceptions and interrupts */
	X86_LBR_TYPES
};

/**
 * struct x86_lbr_config - what is not the same of all records of a kind
 * @kind: which registers there are
 * @depth: how many records; the most of what IA32_LBR_DEPTH takes
 * @counters: general-purpose counters whose events architectural records have counts of, a bit each
 * @lose: a fault: every how manieth record is lost
 * @tear: a fault: every how manieth record has the target of the one before
 * @unfrozen: a fault: an overflow does not freeze them, and is told to have
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
 * struct x86_lbr_branch - a branch that was taken
 * @from: the instruction, or what an interrupt interrupts
 * @to: the instruction after it
 * @type: its type
 * @kernel: it ends in ring 0
 * @mispredicted: by the model of a predictor
 * @next: it goes to the instruction that follows it
 * @cycles: of the CPU since it was made
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

/* One record, as its registers show it. */
struct x86_lbr_entry {
	uint64_t from;
	uint64_t to;
	uint64_t info;
};

/**
 * struct x86_lbr - the records of one CPU
 * @entry: a ring of @depth records
 * @top: the youngest one; MSR_LASTBRANCH_TOS
 * @depth: how many there are at present
 * @select: what is not recorded: MSR_LBR_SELECT, AMD's LBR_SELECT
 * @ctl: IA32_LBR_CTL, AMD's DBG_EXTN_CFG
 * @cycles: of the CPU when the youngest was made, or when recording began
 * @types: which types are recorded of branches that end in user space, and in the
 *	kernel, a bit each
 * @calls: the records are a stack of calls
 * @rings: which rings the CPU has been told to report the branches to, a bit each
 * @records: how many were made, of all
 * @happened: how often the event of each counter has happened since the youngest was made, as
 *	far as the counter is up to date
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
	unsigned int rings;
	uint64_t records;
	int64_t happened[X86_LBR_COUNTERS];
};

struct x86_pmu;
struct x86_pmu_config;
struct x86_pmu_cpuid;

/* For the model and its makers */
const char *x86_lbr_name(enum x86_lbr_kind kind);
unsigned int x86_lbr_default_depth(enum x86_lbr_kind kind);
void x86_lbr_select(struct x86_pmu *pmu, unsigned int i, uint64_t value);
void x86_lbr_counted(struct x86_pmu *pmu, unsigned int i, int64_t steps);
const char *x86_lbr_config_error(const struct x86_pmu_config *config);
void x86_lbr_reset(struct x86_pmu *pmu);
void x86_lbr_update(struct x86_pmu *pmu);
void x86_lbr_freeze(struct x86_pmu *pmu);
uint64_t x86_lbr_capabilities(const struct x86_lbr_config *config);
void x86_lbr_arch_leaf(const struct x86_lbr_config *config, struct x86_pmu_cpuid *regs);
bool x86_lbr_has_depth(const struct x86_lbr_config *config, uint64_t depth);
struct x86_lbr_entry x86_lbr_nth(const struct x86_pmu *pmu, unsigned int i);
void x86_lbr_amd_leaf(const struct x86_lbr_config *config, struct x86_pmu_cpuid *regs);

/* For rows of registers: @present, @read and @write of struct x86_pmu_msr_row */
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
