/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface between the model of the PMU (this folder, lbr, pebs, ibs) and the vendors' parts
 * (intel.c, amd.c). Only for the model.
 */
#ifndef TOOLS_QEMU_X86_MAKER_H
#define TOOLS_QEMU_X86_MAKER_H

#include "x86/registers/model.h"

/* IA32_PERF_GLOBAL_STATUS, PerfCntrGlobalStatus: the bits that both vendors have */
#define X86_PMU_STATUS_LBR_FROZEN	(UINT64_C(1) << 58)
#define X86_PMU_STATUS_FROZEN		(UINT64_C(1) << 59)

/* Intel's IA32_PERF_GLOBAL_STATUS: the PEBS buffer of the DS area has reached its threshold. */
#define X86_PMU_STATUS_BUFFER		(UINT64_C(1) << 62)

/* Intel's IA32_PERF_GLOBAL_STATUS: the buffer of architectural PEBS has reached its threshold. */
#define X86_PMU_STATUS_PEBS		(UINT64_C(1) << 54)

/* Intel's IA32_FIXED_CTR_CTRL: the PEBS records of a counter have all groups; RDPMC user disable */
#define X86_PMU_FIXED_ADAPTIVE(n)	(UINT64_C(1) << (32 + 4 * (n)))
#define X86_PMU_FIXED_USER_DISABLE(n)	(UINT64_C(1) << (33 + 4 * (n)))

/* Intel's IA32_PERF_GLOBAL_STATUS and IA32_PERF_GLOBAL_CTRL: the topdown metrics */
#define X86_PMU_GLOBAL_METRICS		(UINT64_C(1) << 48)

/* IA32_DEBUGCTL, DbgCtl: freeze branch records and counters at a PMI. */
#define X86_PMU_DEBUGCTL_FREEZE		(UINT64_C(3) << 11)

/* Selector bits that software can set on a PMU of either vendor */
#define X86_PMU_SEL_COMMON	(X86_PMU_SEL_EVENT | X86_PMU_SEL_UMASK | X86_PMU_SEL_USR | \
				 X86_PMU_SEL_OS | X86_PMU_SEL_EDGE | X86_PMU_SEL_INT | \
				 X86_PMU_SEL_EN | X86_PMU_SEL_INV | X86_PMU_SEL_CMASK)

/**
 * struct x86_pmu_version_info - one version of a vendor's PMU
 * @name: the version's name in options
 * @gp: default number of general-purpose counters
 * @gp_max: maximum number of general-purpose counters
 * @fixed: bitmap of the default fixed-function counters
 * @width: width of a counter, in bits
 * @full_width: counters can be written with all their bits
 * @global: the PMU has the global registers
 * @streamlined_freeze: an overflow that freezes sets X86_PMU_STATUS_FROZEN; otherwise it clears
 *	the global control register
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

/* The registers that a row stands for. */
enum x86_pmu_bank {
	X86_PMU_BANK_ONE,
	X86_PMU_BANK_GP,	/* one for each general-purpose counter */
	X86_PMU_BANK_FIXED,	/* one for each fixed-function counter */
	X86_PMU_BANK_LBR,	/* control registers of branch records */
	X86_PMU_BANK_PEBS,	/* registers of precise samples */
	X86_PMU_BANK_IBS,	/* registers of instruction-based sampling, @room of them */
	X86_PMU_BANK_RECORD,	/* one for each branch record; the counters do not use the values */
};

/**
 * struct x86_pmu_msr_row - one MSR, or a row of MSRs, such as one for each counter
 * @name: the manual's name
 * @first: number of the first MSR
 * @stride: distance from one MSR of the row to the next
 * @bank: the registers that the row has
 * @room: numbers that the row takes; an access to a number without a register faults
 * @present: check whether this PMU has the row; if not, an access faults
 * @read: read the MSR, false for #GP; NULL if reading faults
 * @write: write the MSR, false for #GP; NULL if writing faults
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
 * struct x86_pmu_maker - the part of the model that depends on the vendor
 * @versions: this vendor's versions, by enum x86_pmu_version
 * @msrs: the registers
 * @msr_rows: number of rows of @msrs
 * @select: bits of an event selector that software can set
 * @debugctl: bits of IA32_DEBUGCTL or DbgCtl that software can set
 * @reserved_ignored: a write of reserved bits to event selectors and global registers drops the
 *	bits; it does not fault
 * @config_error: as x86_pmu_config_error(), for this vendor's limits
 * @status: return the bits of the global status register that are not counters' bits
 * @events: events of any of the vendor's CPUs
 * @nr_events: number of @events
 * @umask2_events: events with a second unit mask (Intel)
 * @nr_umask2_events: number of @umask2_events
 * @activate_fixed: set the event of a fixed-function counter; NULL if there are none
 * @metrics: read the topdown metrics, if ECX of RDPMC selects them; NULL if there are none
 * @clear_metrics: clear the metrics and the slots, if an RDPMC of the metrics outside ring 0 must
 *	clear them; return true if cleared; NULL if there are no metrics
 * @rdpmc: return the counter that ECX of RDPMC selects, X86_PMU_NO_COUNTER for #GP
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
	bool (*clear_metrics)(struct x86_pmu *pmu);
	unsigned int (*rdpmc)(const struct x86_pmu_config *config, uint32_t selector);
	void (*cpuid)(const struct x86_pmu_config *config, uint32_t leaf, uint32_t subleaf,
		      struct x86_pmu_cpuid *regs);
};

extern const struct x86_pmu_maker x86_pmu_intel;
extern const struct x86_pmu_maker x86_pmu_amd;

/* Return the vendor's part of a PMU's model. */
static inline const struct x86_pmu_maker *x86_pmu_maker(const struct x86_pmu_config *config)
{
	return x86_pmu_is_amd(config) ? &x86_pmu_amd : &x86_pmu_intel;
}

/* Return the properties of a PMU's version. */
static inline const struct x86_pmu_version_info *
x86_pmu_version(const struct x86_pmu_config *config)
{
	return &x86_pmu_maker(config)->versions[config->version];
}

/* Return a mask of the @n lowest bits. */
static inline uint64_t x86_pmu_low_bits(unsigned int n)
{
	return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

/* Return a bitmap of user and kernel rings. Only if EFER.SVME is 1, there are guests with rings. */
static inline unsigned int x86_pmu_rings(const struct x86_pmu *pmu, bool user, bool kernel)
{
	unsigned int rings = (user ? 1u << X86_PMU_USER : 0) |
			     (kernel ? 1u << X86_PMU_KERNEL : 0);

	return pmu->svme ? rings | rings << X86_PMU_GUEST_USER : rings;
}

/* Set or clear @bit in a register of CPUID. */
static inline void x86_pmu_cpuid_bit(uint32_t *reg, uint32_t bit, bool value)
{
	*reg = value ? *reg | bit : *reg & ~bit;
}

/* x86/config.c */
unsigned int x86_pmu_width(const struct x86_pmu_config *config, unsigned int i);
unsigned int x86_pmu_global_bit(unsigned int i);
uint64_t x86_pmu_global_counters(const struct x86_pmu_config *config);
bool x86_pmu_is_missing(const struct x86_pmu_config *config, unsigned int i);

/* model.c */
uint64_t x86_pmu_counter_value(const struct x86_pmu *pmu, unsigned int i);
bool x86_pmu_advance(struct x86_pmu *pmu);
void x86_pmu_ahead(struct x86_pmu *pmu, int64_t *ahead, unsigned int nr);
void x86_pmu_activate(struct x86_pmu *pmu);
void x86_pmu_buffer_overflow(struct x86_pmu *pmu);

/* Leaf 0x23 and its registers exist from version 6 on. */
static inline bool x86_intel_has_v6(const struct x86_pmu_config *config)
{
	return config->version >= X86_PMU_INTEL_V6;
}

static inline bool x86_intel_has_capabilities(const struct x86_pmu_config *config)
{
	return config->full_width || config->lbr.kind || config->pebs.format;
}

/* intel-cpuid.c */
void x86_intel_cpuid(const struct x86_pmu_config *config, uint32_t leaf, uint32_t subleaf,
		     struct x86_pmu_cpuid *regs);

/* ibs.c */
void x86_ibs_advance(struct x86_pmu *pmu, x86_pmu_counts counts, uint32_t except);
uint64_t x86_ibs_distance(const struct x86_pmu *pmu, enum x86_ibs_unit unit,
			  enum x86_pmu_kind *kind);

/* select.c */
bool x86_pmu_is_denied(const struct x86_pmu *pmu, unsigned int i);
void x86_pmu_activate_gp(struct x86_pmu *pmu, unsigned int i);

/* Define a row's @read: it reads a field of @pmu. @i is the register's index in its row. */
#define X86_MSR_READ(name, field)						\
	bool name(struct x86_pmu *pmu, unsigned int i, uint64_t *value)		\
	{									\
		(void)i;							\
		*value = pmu->field;						\
		return true;							\
	}

/* Define a row's @write: it sets a field of @pmu. A write of bits outside of @writable faults. */
#define X86_MSR_WRITE(name, field, writable)					\
	bool name(struct x86_pmu *pmu, unsigned int i, uint64_t value)		\
	{									\
		(void)i;							\
		if (value & ~(writable))					\
			return false;						\
		pmu->field = value;						\
		return true;							\
	}

/* msr.c: @present, @read and @write of registers that both vendors have */
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
