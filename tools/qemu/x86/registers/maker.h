/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the model of the PMU (model.c, select.c, msr.c, lbr.c, pebs.c, pebs-arch.c, ibs.c) asks of
 * its makers (intel.c, amd.c), and what it offers them. For these files only.
 */
#ifndef TOOLS_QEMU_X86_MAKER_H
#define TOOLS_QEMU_X86_MAKER_H

#include "x86/registers/model.h"

/* IA32_PERF_GLOBAL_STATUS, PerfCntrGlobalStatus: the bits that both makers have. */
#define X86_PMU_STATUS_LBR_FROZEN	(UINT64_C(1) << 58)
#define X86_PMU_STATUS_FROZEN		(UINT64_C(1) << 59)

/* Intel's IA32_PERF_GLOBAL_STATUS: the buffer of the DS area is as full as software wants it. */
#define X86_PMU_STATUS_BUFFER		(UINT64_C(1) << 62)

/* Likewise the buffer of architectural precise samples. */
#define X86_PMU_STATUS_PEBS		(UINT64_C(1) << 54)

/* Intel's IA32_FIXED_CTR_CTRL: a fixed-function counter's records have all groups. */
#define X86_PMU_FIXED_ADAPTIVE(n)	(UINT64_C(1) << (32 + 4 * (n)))
#define X86_PMU_FIXED_USER_DISABLE(n)	(UINT64_C(1) << (33 + 4 * (n)))

/* Likewise, and in IA32_PERF_GLOBAL_CTRL: the metrics. */
#define X86_PMU_GLOBAL_METRICS		(UINT64_C(1) << 48)

/* IA32_DEBUGCTL, DbgCtl: records and counters freeze on an interrupt. */
#define X86_PMU_DEBUGCTL_FREEZE		(UINT64_C(3) << 11)

/* Selector bits that can be set, whoever made it. */
#define X86_PMU_SEL_COMMON	(X86_PMU_SEL_EVENT | X86_PMU_SEL_UMASK | X86_PMU_SEL_USR | \
				 X86_PMU_SEL_OS | X86_PMU_SEL_EDGE | X86_PMU_SEL_INT | \
				 X86_PMU_SEL_EN | X86_PMU_SEL_INV | X86_PMU_SEL_CMASK)

/**
 * struct x86_pmu_version_info - one version of a maker's PMU
 * @name: what the user calls it
 * @gp: how many general-purpose counters it usually has
 * @gp_max: how many it may have
 * @fixed: which fixed-function counters it usually has, a bit each
 * @width: bits of its counters
 * @full_width: counters can be written with all their bits
 * @global: there are the global registers
 * @streamlined_freeze: an overflow that freezes sets X86_PMU_STATUS_FROZEN; if not it
 *	clears the global control register
 */
struct x86_pmu_version_info {
	const char *name;
	unsigned int gp;
	unsigned int gp_max;
	uint32_t fixed;
	unsigned int width;
	bool full_width;
	bool global;
	bool streamlined_freeze;
};

/* How many registers a row stands for. */
enum x86_pmu_bank {
	X86_PMU_BANK_ONE,
	X86_PMU_BANK_GP,	/* one for each general-purpose counter */
	X86_PMU_BANK_FIXED,	/* one for each fixed-function counter */
	X86_PMU_BANK_LBR,	/* one of the branch records' */
	X86_PMU_BANK_PEBS,	/* one of the precise samples' */
	X86_PMU_BANK_IBS,	/* so many of instruction-based sampling as there is room for */
	X86_PMU_BANK_RECORD,	/* one for each branch record: nothing depends on their values */
};

/**
 * struct x86_pmu_msr_row - one register, or one for each counter
 * @name: in the words of the manual
 * @first: the number of the first
 * @stride: from one to the next
 * @bank: how many there are
 * @room: how many numbers are set aside; those without a counter fault
 * @present: whether this PMU has it; if not an access faults
 * @read: its value; NULL if reading faults
 * @write: false for #GP; NULL if writing faults
 */
struct x86_pmu_msr_row {
	const char *name;
	uint32_t first;
	uint8_t stride;
	enum x86_pmu_bank bank;
	uint8_t room;
	bool (*present)(const struct x86_pmu_config *config);
	bool (*read)(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
	bool (*write)(struct x86_pmu *pmu, unsigned int i, uint64_t value);
};

/**
 * struct x86_pmu_maker - what one maker's PMUs have of their own
 * @versions: by enum x86_pmu_version, those of this maker
 * @msrs: the registers
 * @msr_rows: how many rows @msrs has
 * @select: bits of an event selector that can be set
 * @debugctl: bits of IA32_DEBUGCTL or DbgCtl that may be written
 * @reserved_ignored: writes to event selectors and global registers leave reserved bits out,
 *	they do not fault
 * @config_error: as x86_pmu_config_error(), for what this maker alone demands
 * @status: bits of the global status register besides those of counters
 * @events: what event selectors can name on any CPU
 * @nr_events: how many
 * @umask2_events: what they can name with a second unit mask (Intel)
 * @nr_umask2_events: how many
 * @activate_fixed: find out what counter @i does, a fixed-function one; NULL if there are
 *	none
 * @metrics: the metrics, if ECX names them for RDPMC; NULL if there are none
 * @rdpmc: the counter that ECX names for RDPMC, X86_PMU_NO_COUNTER for #GP
 * @cpuid: see x86_pmu_cpuid()
 */
struct x86_pmu_maker {
	const struct x86_pmu_version_info *versions;
	const struct x86_pmu_msr_row *msrs;
	size_t msr_rows;
	uint64_t select;
	uint64_t debugctl;
	bool reserved_ignored;
	const char *(*config_error)(const struct x86_pmu_config *config);
	uint64_t (*status)(const struct x86_pmu_config *config);
	const struct x86_pmu_event_row *events;
	size_t nr_events;
	const struct x86_pmu_event_row *umask2_events;
	size_t nr_umask2_events;
	void (*activate_fixed)(struct x86_pmu *pmu, unsigned int i);
	bool (*metrics)(struct x86_pmu *pmu, uint32_t selector, uint64_t *value);
	unsigned int (*rdpmc)(const struct x86_pmu_config *config, uint32_t selector);
	void (*cpuid)(const struct x86_pmu_config *config, uint32_t leaf, uint32_t subleaf,
		      struct x86_pmu_cpuid *regs);
};

extern const struct x86_pmu_maker x86_pmu_intel;
extern const struct x86_pmu_maker x86_pmu_amd;

/* The maker of a PMU. */
static inline const struct x86_pmu_maker *x86_pmu_maker(const struct x86_pmu_config *config)
{
	return x86_pmu_is_amd(config) ? &x86_pmu_amd : &x86_pmu_intel;
}

/* The version that a PMU is of. */
static inline const struct x86_pmu_version_info *
x86_pmu_version(const struct x86_pmu_config *config)
{
	return &x86_pmu_maker(config)->versions[config->version];
}

/* A mask of the @n lowest bits. */
static inline uint64_t x86_pmu_low_bits(unsigned int n)
{
	return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* Set or clear @bit of a register of CPUID. */
static inline void x86_pmu_cpuid_bit(uint32_t *reg, uint32_t bit, bool value)
{
	*reg = value ? *reg | bit : *reg & ~bit;
}

/* model.c */
unsigned int x86_pmu_width(const struct x86_pmu_config *config, unsigned int i);
unsigned int x86_pmu_global_bit(unsigned int i);
uint64_t x86_pmu_global_counters(const struct x86_pmu_config *config);
bool x86_pmu_is_missing(const struct x86_pmu_config *config, unsigned int i);
uint64_t x86_pmu_counter_value(const struct x86_pmu *pmu, unsigned int i);
bool x86_pmu_advance(struct x86_pmu *pmu);
void x86_pmu_ahead(struct x86_pmu *pmu, int64_t *ahead, unsigned int nr);
void x86_pmu_activate(struct x86_pmu *pmu);
void x86_pmu_buffer_overflow(struct x86_pmu *pmu);

/* ibs.c */
void x86_ibs_advance(struct x86_pmu *pmu, x86_pmu_counts counts, uint32_t except);
uint64_t x86_ibs_distance(const struct x86_pmu *pmu, enum x86_ibs_unit unit,
			  enum x86_pmu_kind *kind);

/* select.c */
bool x86_pmu_is_denied(const struct x86_pmu *pmu, unsigned int i);
void x86_pmu_activate_gp(struct x86_pmu *pmu, unsigned int i);

/* msr.c: @present, @read and @write of registers that both makers have */
bool x86_msr_always(const struct x86_pmu_config *config);
void x86_msr_set_counter(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_msr_read_gp(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_msr_read_select(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_msr_write_select(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_msr_read_status(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_msr_read_global_ctrl(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_msr_write_global_ctrl(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_msr_read_zero(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_msr_write_status_clear(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_msr_write_status_set(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_msr_read_debugctl(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_msr_write_debugctl(struct x86_pmu *pmu, unsigned int i, uint64_t value);

#endif /* TOOLS_QEMU_X86_MAKER_H */
