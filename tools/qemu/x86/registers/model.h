/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers and counters of an x86 core PMU. The model does not depend on what executes the
 * instructions.
 */
#ifndef TOOLS_QEMU_X86_MODEL_H
#define TOOLS_QEMU_X86_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/config.h"
#include "x86/registers/events.h"
#include "x86/ibs/ibs.h"
#include "x86/lbr/lbr.h"
#include "x86/pebs/pebs.h"
#include "x86/registers/acr.h"
#include "x86/registers/extra-regs.h"

/* The local APIC's LVTPC as an MSR of x2APIC: the model counts its accesses. */
#define X86_PMU_X2APIC_LVTPC	0x834

/* Code of SVM guests has rings of its own. The model takes rings 1 and 2 for user space. */
enum x86_pmu_ring {
	X86_PMU_USER,
	X86_PMU_KERNEL,
	X86_PMU_GUEST_USER,
	X86_PMU_GUEST_KERNEL,
	X86_PMU_RINGS
};

/* Bitmaps of rings: shifting the host's rings by X86_PMU_GUEST_USER gives the guest's. */
#define X86_PMU_HOST_RINGS	(1u << X86_PMU_USER | 1u << X86_PMU_KERNEL)
#define X86_PMU_ALL_RINGS	(X86_PMU_HOST_RINGS | X86_PMU_HOST_RINGS << X86_PMU_GUEST_USER)

struct x86_pmu;

/* Counts of a CPU, or distances between counts. */
typedef uint64_t x86_pmu_counts[X86_PMU_KINDS][X86_PMU_RINGS];

/**
 * struct x86_pmu_ops - the functions of the CPU that the model calls
 * @read: read the counts of @kinds, a bitmap; other counts stay undefined
 * @watch: have x86_pmu_check() called before a count of @kinds advances by more than its @distance
 * @need: have these kinds counted from now on, a bit each
 * @interrupt: signal an interrupt
 * @alarm: the alarm of x86_pmu_set_alarm() has expired
 * @record: have x86_pmu_branch() called for each taken branch that ends in one of these rings (a
 *	bit each), and for no other. If there are none, the branch being executed is the last one.
 *	Return the cycles of the CPU so far
 * @single: have x86_pmu_step() called after each instruction that retires in one of these rings (a
 *	bit each), from the next one on. Calls for other rings are permitted. In the middle of a
 *	block, the rest of the block may cause no calls
 * @state: read the registers between two instructions; the vector registers only if @vectors
 * @sampled: instruction-based sampling has a sample
 * @memory: read or write memory at a linear address; false if there is no memory
 * @write_physical: write memory at a physical address; false if there is no memory
 * @unknown: the guest enables a counter with an event that the PMU, or this counter, does not
 *	count; may be NULL
 */
struct x86_pmu_ops {
	void (*read)(struct x86_pmu *pmu, x86_pmu_counts counts, uint32_t kinds);
	void (*watch)(struct x86_pmu *pmu, x86_pmu_counts distance, uint32_t kinds);
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
 * @value: the value, as of the count @seen
 * @select: the event selector of a general-purpose counter
 * @unknown: the selector of an enabled counter without a known event; otherwise 0
 * @active: the counter counts; the fields below are valid only then
 * @rings: bitmap of the rings that it counts
 * @merged: the next counter holds the upper bits
 * @interrupts: an overflow signals an interrupt
 * @event: the event
 * @seen: the count of the event at the last update of @value
 * @fraction: the remainder of @event.times * count, less than @event.per
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

/* Rows that the largest table of a vendor fits in, see x86_pmu_msr_name() */
#define X86_PMU_MSR_ROWS	48

/**
 * struct x86_pmu - the PMU of one CPU
 * @config: the PMU's properties
 * @ops: functions of the CPU
 * @counter: general-purpose counters, then fixed-function ones
 * @kinds: bitmap of the kinds that active counters, IBS and the alarm need
 * @perf_metrics: MSR_PERF_METRICS as written
 * @metrics_slots: value of the slots counter that @perf_metrics belongs to
 * @slots_written: value of the slots counter at the last write of it or of MSR_PERF_METRICS
 * @fixed_ctrl: IA32_FIXED_CTR_CTRL
 * @global_ctrl: IA32_PERF_GLOBAL_CTRL, PerfCntrGlobalCtl
 * @status: IA32_PERF_GLOBAL_STATUS, PerfCntrGlobalStatus
 * @sticky: bits of @status that have ignored their first write (fault)
 * @debugctl: IA32_DEBUGCTL, DbgCtl
 * @svme: EFER.SVME; QEMU holds the register
 * @lbr: its branch records
 * @pebs: its precise samples
 * @ibs: its instruction-based sampling
 * @acr: its auto counter reload
 * @extra_regs: the extra registers of events
 * @alarm_set: an alarm is set
 * @alarm: count of instructions at which the alarm expires
 * @rdpmc: statistics: executed RDPMC
 * @msr: statistics: accesses of the MSRs, by row of the table
 * @overflows: statistics: overflows of counters
 * @checks: statistics: calls of x86_pmu_check()
 */
struct x86_pmu {
	const struct x86_pmu_config *config;
	const struct x86_pmu_ops *ops;
	struct x86_pmu_counter counter[X86_PMU_COUNTERS_MAX];
	uint32_t kinds;
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

/* The result of an access. */
enum x86_pmu_access {
	X86_PMU_NOT_HERE,	/* no register of the PMU */
	X86_PMU_DONE,
	X86_PMU_FAULT,		/* #GP(0) */
};

/* Registers of CPUID, in the order of their numbers */
struct x86_pmu_cpuid {
	uint32_t eax;
	uint32_t ecx;
	uint32_t edx;
	uint32_t ebx;
};

static inline bool x86_pmu_is_kernel(enum x86_pmu_ring ring)
{
	return ring == X86_PMU_KERNEL || ring == X86_PMU_GUEST_KERNEL;
}

void x86_pmu_init(struct x86_pmu *pmu, const struct x86_pmu_config *config,
		  const struct x86_pmu_ops *ops);
void x86_pmu_reset(struct x86_pmu *pmu);
uint32_t x86_pmu_needs(const struct x86_pmu *pmu);
void x86_pmu_check(struct x86_pmu *pmu);
bool x86_pmu_near(struct x86_pmu *pmu, unsigned int ring, unsigned int n);
void x86_pmu_set_alarm(struct x86_pmu *pmu, uint64_t distance);
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
