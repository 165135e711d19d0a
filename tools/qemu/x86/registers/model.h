/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers of an x86 core PMU and the counters behind them, apart from
 * whatever executes the instructions.
 */
#ifndef TOOLS_QEMU_X86_MODEL_H
#define TOOLS_QEMU_X86_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/registers/events.h"
#include "x86/ibs/ibs.h"
#include "x86/lbr/lbr.h"
#include "x86/pebs/pebs.h"
#include "x86/registers/acr.h"
#include "x86/registers/extra-regs.h"

#define X86_PMU_GP_MAX		16
#define X86_PMU_FIXED_MAX	7
#define X86_PMU_COUNTERS_MAX	(X86_PMU_GP_MAX + X86_PMU_FIXED_MAX)
#define X86_PMU_NO_COUNTER	X86_PMU_COUNTERS_MAX

#define X86_PMU_DENIED_MAX	8

/* The position of the fixed-function counters in Intel's global registers. */
#define X86_PMU_GLOBAL_FIXED	32

/* The local APIC's entry for the PMU, as an MSR of x2APIC: its writes are counted. */
#define X86_PMU_X2APIC_LVTPC	0x834

enum x86_pmu_ring {
	X86_PMU_USER,
	X86_PMU_KERNEL,
	X86_PMU_RINGS
};

enum x86_pmu_version {
	X86_PMU_INTEL_V1,
	X86_PMU_INTEL_V2,
	X86_PMU_INTEL_V3,
	X86_PMU_INTEL_V4,
	X86_PMU_INTEL_V5,
	X86_PMU_INTEL_V6,
	X86_PMU_AMD_LEGACY,
	X86_PMU_AMD_CORE,
	X86_PMU_AMD_V2,
	X86_PMU_VERSIONS
};

/* Intel's kinds of CPU in one machine: CPUID leaf 0x1a, EAX[31:24] */
#define X86_PMU_CORE_NONE	0	/* there is one kind only */
#define X86_PMU_CORE_ATOM	0x20
#define X86_PMU_CORE_CORE	0x40

/* Metrics of level 1 and 2 */
#define X86_PMU_METRICS_MAX	8

/**
 * struct x86_pmu_config - what kind of PMU it is; the same for all CPUs
 * @version: which registers there are
 * @uarch: whose events and rules hold besides; NULL for the architecture alone
 * @perfmon: the version that CPUID leaf 0xa tells of; 0 for that of the registers (Intel)
 * @gp: how many general-purpose counters
 * @fixed: which of Intel's fixed-function counters, a bit each
 * @holes: general-purpose counters that are not there though one with a higher number is
 * @untold: counters that CPUID leaf 0xa does not tell of, by their bits in the global registers
 * @core_type: the kind of CPU where a machine has several, X86_PMU_CORE_*
 * @gp_width: bits of a general-purpose counter
 * @fixed_width: bits of a fixed-function counter
 * @full_width: counters can be written with all their bits (Intel)
 * @any_thread: events can be counted of all threads of a core, of which there is one (Intel)
 * @perf_metrics: the slots are divided into metrics (Intel)
 * @nr_metrics: how many
 * @tsc_mhz: MHz of the time-stamp counter that CPUID tells of; 0 for what QEMU says (Intel)
 * @svme: EFER.SVME, which is kept by QEMU
 * @lbr: its branch records
 * @pebs: its precise samples
 * @ibs: its instruction-based sampling
 * @bts: IA32_MISC_ENABLE says that there are branch trace stores; needs precise samples
 * @acr: counters can have others reloaded (Intel, auto counter reload)
 * @has_extra_regs: the extra registers of events are there
 * @misplaced: a counter counts cycles instead of an event that it cannot count
 * @denied: counters that do not count, by their bits in the global registers
 * @missing: counters that CPUID tells of and that are not there, likewise
 * @denied_events: events that do not count on general-purpose counters, the bits
 *	X86_PMU_SEL_NAME of a selector
 * @nr_denied_events: how many
 * @stuck: a counter that never counts, or X86_PMU_NO_COUNTER
 * @sticky_status: status bits do not clear at the first write
 */
struct x86_pmu_config {
	enum x86_pmu_version version;
	const struct x86_uarch *uarch;
	unsigned int perfmon;
	unsigned int gp;
	uint32_t fixed;
	uint32_t holes;
	uint64_t untold;
	uint8_t core_type;
	unsigned int gp_width;
	unsigned int fixed_width;
	bool full_width;
	bool any_thread;
	bool perf_metrics;
	unsigned int nr_metrics;
	uint32_t tsc_mhz;
	struct x86_lbr_config lbr;
	struct x86_pebs_config pebs;
	struct x86_ibs_config ibs;
	bool bts;
	bool acr;
	bool has_extra_regs;
	bool misplaced;
	uint64_t denied;
	uint64_t missing;
	uint64_t denied_events[X86_PMU_DENIED_MAX];
	unsigned int nr_denied_events;
	unsigned int stuck;
	bool sticky_status;
};

struct x86_pmu;
struct x86_uarch;

/* Counts of a CPU, or distances between counts. */
typedef uint64_t x86_pmu_counts[X86_PMU_KINDS][X86_PMU_RINGS];

/**
 * struct x86_pmu_ops - what the model needs of the CPU it is part of
 * @read: how often each kind has happened so far
 * @watch: call x86_pmu_check() before any kind has happened more often than this
 * @need: kinds that will be read from now on, a bit each
 * @interrupt: a counter that interrupts has overflowed
 * @alarm: the alarm set with x86_pmu_set_alarm() rings
 * @record: call x86_pmu_branch() for each branch taken that ends in one of these rings, a bit
 *	each, and for no other; if none, the branch that is being executed is the last one. It
 *	returns the cycles of the CPU so far
 * @single: call x86_pmu_step() after each instruction that retires in one of these rings, a bit
 *	each, beginning with the next one; it may be called after others, too. If the CPU is in the
 *	middle of a row of instructions it need not be for those
 * @state: what its registers are, between two instructions; those for vectors if asked for
 * @sampled: instruction-based sampling has a sample
 * @memory: read or write at a linear address; false if there is no memory
 * @write_physical: write at a physical address; likewise
 * @unknown: the guest enables a counter with an event that the PMU, or this counter, does not
 *	count; may be NULL
 */
struct x86_pmu_ops {
	void (*read)(struct x86_pmu *pmu, x86_pmu_counts counts);
	void (*watch)(struct x86_pmu *pmu, x86_pmu_counts distance);
	void (*need)(struct x86_pmu *pmu, uint32_t kinds);
	void (*interrupt)(struct x86_pmu *pmu);
	void (*alarm)(struct x86_pmu *pmu);
	uint64_t (*record)(struct x86_pmu *pmu, unsigned int rings);
	void (*single)(struct x86_pmu *pmu, unsigned int rings);
	void (*sampled)(struct x86_pmu *pmu);
	void (*state)(struct x86_pmu *pmu, struct x86_pebs_state *state, bool vectors);
	bool (*memory)(struct x86_pmu *pmu, uint64_t addr, void *buf, size_t len, bool write);
	bool (*write_physical)(struct x86_pmu *pmu, uint64_t addr, void *buf, size_t len);
	void (*unknown)(struct x86_pmu *pmu, uint64_t event);
};

/**
 * struct x86_pmu_counter - one counter
 * @value: what it shows
 * @select: the event selector of a general-purpose one
 * @unknown: its selector if it is enabled and counts nothing; 0 if it counts or is disabled
 * @active: it counts; what follows is meaningful only then
 * @rings: which rings it counts, a bit each
 * @merged: the next counter has its upper bits
 * @interrupts: overflow is signalled
 * @event: what it counts
 * @seen: the count up to which @value is right
 * @fraction: what is too little for another step of @value
 */
struct x86_pmu_counter {
	uint64_t value;
	uint64_t select;
	uint64_t unknown;
	bool active;
	uint8_t rings;
	bool merged;
	bool interrupts;
	struct x86_pmu_event event;
	uint64_t seen;
	uint64_t fraction;
};

struct x86_pmu_accesses {
	uint64_t reads;
	uint64_t writes;
};

/* Enough for the table of any maker, see x86_pmu_msr_name(). */
#define X86_PMU_MSR_ROWS	48

/**
 * struct x86_pmu - the PMU of one CPU
 * @config: its kind
 * @ops: the CPU
 * @counter: general-purpose counters, then fixed-function ones
 * @perf_metrics: MSR_PERF_METRICS as written
 * @metrics_slots: the slots that this is of
 * @slots_written: the slots' counter as written, or when MSR_PERF_METRICS was
 * @fixed_ctrl: IA32_FIXED_CTR_CTRL
 * @global_ctrl: IA32_PERF_GLOBAL_CTRL, PerfCntrGlobalCtl
 * @status: IA32_PERF_GLOBAL_STATUS, PerfCntrGlobalStatus
 * @sticky: bits of @status that have resisted a write already
 * @debugctl: IA32_DEBUGCTL, DbgCtl
 * @lbr: its branch records
 * @pebs: its precise samples
 * @ibs: its instruction-based sampling
 * @acr: its reloads
 * @extra_regs: the extra registers of events
 * @alarm_set: there is an alarm
 * @alarm: at which number of instructions it rings
 * @rdpmc: how often RDPMC was executed
 * @msr: accesses of the MSRs, by row of the table
 * @overflows: how often counters overflowed
 * @checks: how often x86_pmu_check() was called
 */
struct x86_pmu {
	const struct x86_pmu_config *config;
	const struct x86_pmu_ops *ops;
	struct x86_pmu_counter counter[X86_PMU_COUNTERS_MAX];
	uint64_t perf_metrics;
	uint64_t metrics_slots;
	uint64_t slots_written;
	uint64_t fixed_ctrl;
	uint64_t global_ctrl;
	uint64_t status;
	uint64_t sticky;
	uint64_t debugctl;
	bool svme;
	struct x86_lbr lbr;
	struct x86_pebs pebs;
	struct x86_ibs ibs;
	struct x86_acr acr;
	uint64_t extra_regs[X86_EXTRA_REGS];
	bool alarm_set;
	uint64_t alarm;

	uint64_t rdpmc;
	struct x86_pmu_accesses msr[X86_PMU_MSR_ROWS];
	uint64_t overflows;
	uint64_t checks;
};

/* What an access does. */
enum x86_pmu_access {
	X86_PMU_NOT_HERE,	/* no register of the PMU */
	X86_PMU_DONE,
	X86_PMU_FAULT,		/* #GP(0) */
};

/* Registers of CPUID, in the order of their numbers. */
struct x86_pmu_cpuid {
	uint32_t eax;
	uint32_t ecx;
	uint32_t edx;
	uint32_t ebx;
};

static inline bool x86_pmu_is_amd(const struct x86_pmu_config *config)
{
	return config->version >= X86_PMU_AMD_LEGACY;
}

const char *x86_pmu_version_name(enum x86_pmu_version version);
const char *x86_pmu_name(const struct x86_pmu_config *config);
void x86_pmu_defaults(struct x86_pmu_config *config, enum x86_pmu_version version);
void x86_pmu_uarch_defaults(struct x86_pmu_config *config, const struct x86_uarch *uarch);
const char *x86_pmu_config_error(const struct x86_pmu_config *config);

void x86_pmu_init(struct x86_pmu *pmu, const struct x86_pmu_config *config,
		  const struct x86_pmu_ops *ops);
void x86_pmu_reset(struct x86_pmu *pmu);
void x86_pmu_check(struct x86_pmu *pmu);
void x86_pmu_set_alarm(struct x86_pmu *pmu, uint64_t instructions);
void x86_pmu_step(struct x86_pmu *pmu, uint64_t ip, const struct x86_pebs_access *access);
bool x86_pmu_is_slow(const struct x86_pmu *pmu, uint64_t addr);
void x86_pmu_branch(struct x86_pmu *pmu, const struct x86_lbr_branch *branch);

enum x86_pmu_access x86_pmu_rdmsr(struct x86_pmu *pmu, uint32_t msr, uint64_t *value);
enum x86_pmu_access x86_pmu_wrmsr(struct x86_pmu *pmu, uint32_t msr, uint64_t value);
uint32_t x86_pmu_rdmsr_more(const struct x86_pmu *pmu, uint32_t msr);
enum x86_pmu_access x86_pmu_rdpmc(struct x86_pmu *pmu, enum x86_pmu_ring ring,
				  uint32_t selector, uint64_t *value);
void x86_pmu_cpuid(const struct x86_pmu_config *config, uint32_t leaf, uint32_t subleaf,
		   struct x86_pmu_cpuid *regs);
const char *x86_pmu_msr_name(const struct x86_pmu_config *config, unsigned int row);

#endif /* TOOLS_QEMU_X86_MODEL_H */
