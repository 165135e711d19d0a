/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers of an arm64 PMU (PMUv3) and the counters behind them, apart from
 * whatever executes the instructions.
 */
#ifndef TOOLS_QEMU_ARM64_MODEL_H
#define TOOLS_QEMU_ARM64_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arm64/brbe/brbe.h"
#include "arm64/registers/events.h"

#define ARM64_PMU_EVENT_COUNTERS_MAX	31

/* The counters by their bits in PMCNTENSET_EL0 and others */
#define ARM64_PMU_CYCLE_COUNTER		31
#define ARM64_PMU_INSTR_COUNTER		32	/* FEAT_PMUv3_ICNTR */
#define ARM64_PMU_COUNTERS		33
#define ARM64_PMU_NO_COUNTER		ARM64_PMU_COUNTERS

#define ARM64_PMU_DENIED_MAX		8

/* ID_AA64DFR0_EL1.PMUVer */
enum arm64_pmu_version {
	ARM64_PMU_V3	= 1,
	ARM64_PMU_V3P1	= 4,
	ARM64_PMU_V3P4	= 5,
	ARM64_PMU_V3P5	= 6,
	ARM64_PMU_V3P7	= 7,
	ARM64_PMU_V3P8	= 8,
	ARM64_PMU_V3P9	= 9,
};

/**
 * struct arm64_pmu_config - what kind of PMU it is
 * @version: which registers and bits there are
 * @counters: how many event counters
 * @slots: PMMIR_EL1.SLOTS, from PMUv3p4 on
 * @threshold: bits of PMEVTYPER<n>_EL0.TH, PMMIR_EL1.THWIDTH
 * @instr_counter: there is PMICNTR_EL0
 * @has_el2: the CPU has EL2
 * @has_el3: the CPU has EL3
 * @brbe: its branch records
 * @denied: counters that stand still, by their bits in PMCNTENSET_EL0
 * @denied_events: events that no counter counts
 * @nr_denied_events: how many
 * @stuck: a counter that never counts, or ARM64_PMU_NO_COUNTER
 * @sticky_status: overflow flags do not clear at the first write
 */
struct arm64_pmu_config {
	enum arm64_pmu_version version;
	unsigned int counters;
	unsigned int slots;
	unsigned int threshold;
	bool instr_counter;
	bool has_el2;
	bool has_el3;
	struct arm64_brbe_config brbe;
	uint64_t denied;
	uint64_t denied_events[ARM64_PMU_DENIED_MAX];
	unsigned int nr_denied_events;
	unsigned int stuck;
	bool sticky_status;
};

struct arm64_pmu;

/* Counts of a CPU, or distances between counts. */
typedef uint64_t arm64_pmu_counts[ARM64_PMU_KINDS][ARM64_PMU_LEVELS];

/**
 * struct arm64_pmu_ops - what the model needs of the CPU it is part of
 * @read: how often each kind has happened so far
 * @watch: call arm64_pmu_check() before any kind has happened more often than this
 * @need: kinds that will be read from now on, a bit each
 * @level: the exception level that executes an access
 * @mdcr_el2: MDCR_EL2; only if the CPU has EL2
 * @hcr_el2: HCR_EL2; likewise, and branch records
 * @record: from now on call arm64_brbe_branch() for each branch that is taken at these levels, a
 *	bit each, and each exception or return from one that leads there or comes from there. If
 *	none, the branch that is being executed is the last one. Returns the CPU's cycles so far
 * @overflowed: a counter that interrupts has overflowed
 * @alarm: the alarm set with arm64_pmu_set_alarm() rings
 * @unknown: the guest enables a counter with an event that this PMU does not count; may be NULL
 */
struct arm64_pmu_ops {
	void (*read)(struct arm64_pmu *pmu, arm64_pmu_counts counts);
	void (*watch)(struct arm64_pmu *pmu, arm64_pmu_counts distance);
	void (*need)(struct arm64_pmu *pmu, uint32_t kinds);
	enum arm64_pmu_level (*level)(struct arm64_pmu *pmu);
	uint64_t (*mdcr_el2)(struct arm64_pmu *pmu);
	uint64_t (*hcr_el2)(struct arm64_pmu *pmu);
	uint64_t (*record)(struct arm64_pmu *pmu, unsigned int levels);
	void (*overflowed)(struct arm64_pmu *pmu);
	void (*alarm)(struct arm64_pmu *pmu);
	void (*unknown)(struct arm64_pmu *pmu, unsigned int event);
};

/**
 * struct arm64_pmu_counter - one counter
 * @value: what it shows
 * @type: its PMEVTYPER<n>_EL0, PMCCFILTR_EL0 or PMICFILTR_EL0
 * @unknown: it is enabled with an event that the PMU does not count
 * @active: it counts; what follows is meaningful only then
 * @levels: at which levels, a bit each
 * @event: what it counts
 * @seen: the count up to which @value is right
 * @fraction: what is too little for another step of @value
 */
struct arm64_pmu_counter {
	uint64_t value;
	uint64_t type;
	bool unknown;
	bool active;
	uint8_t levels;
	struct arm64_pmu_event event;
	uint64_t seen;
	uint64_t fraction;
};

/* System registers; those of a counter are followed by its number. */
enum arm64_pmu_reg {
	ARM64_PMCR,
	ARM64_PMCNTENSET,
	ARM64_PMCNTENCLR,
	ARM64_PMOVSCLR,
	ARM64_PMOVSSET,
	ARM64_PMINTENSET,
	ARM64_PMINTENCLR,
	ARM64_PMSWINC,
	ARM64_PMEVCNTR,			/* and PMCCNTR_EL0, PMICNTR_EL0 */
	ARM64_PMEVTYPER,		/* and PMCCFILTR_EL0, PMICFILTR_EL0 */
	ARM64_PMU_REGS
};

/**
 * struct arm64_pmu - the PMU of one CPU
 * @config: its kind
 * @ops: the CPU
 * @counter: by number
 * @pmcr: what can be written of PMCR_EL0 and stays
 * @enabled: PMCNTENSET_EL0
 * @interrupts: PMINTENSET_EL1
 * @overflows: PMOVSSET_EL0
 * @sticky: bits of @overflows that have resisted a write already
 * @brbe: branch records
 * @alarm_set: there is an alarm
 * @alarm: at which number of instructions it rings
 * @reads: accesses, by register
 * @writes: likewise
 * @overflowed: how often counters overflowed
 * @checks: how often arm64_pmu_check() was called
 */
struct arm64_pmu {
	const struct arm64_pmu_config *config;
	const struct arm64_pmu_ops *ops;
	struct arm64_pmu_counter counter[ARM64_PMU_COUNTERS];
	uint64_t pmcr;
	uint64_t enabled;
	uint64_t interrupts;
	uint64_t overflows;
	uint64_t sticky;
	struct arm64_brbe brbe;
	bool alarm_set;
	uint64_t alarm;

	uint64_t reads[ARM64_PMU_REGS];
	uint64_t writes[ARM64_PMU_REGS];
	uint64_t overflowed;
	uint64_t checks;
};

const char *arm64_pmu_config_error(const struct arm64_pmu_config *config);
const char *arm64_pmu_reg_name(enum arm64_pmu_reg reg);

void arm64_pmu_init(struct arm64_pmu *pmu, const struct arm64_pmu_config *config,
		    const struct arm64_pmu_ops *ops);
void arm64_pmu_reset(struct arm64_pmu *pmu);
void arm64_pmu_check(struct arm64_pmu *pmu);
void arm64_pmu_refresh(struct arm64_pmu *pmu);
void arm64_pmu_set_alarm(struct arm64_pmu *pmu, uint64_t instructions);
bool arm64_pmu_line(struct arm64_pmu *pmu);
bool arm64_pmu_flagged(const struct arm64_pmu *pmu);
void arm64_pmu_check_freeze(struct arm64_pmu *pmu);

uint64_t arm64_pmu_ceid(const struct arm64_pmu *pmu, unsigned int n);
uint64_t arm64_pmu_mmir(const struct arm64_pmu *pmu);
uint64_t arm64_pmu_read(struct arm64_pmu *pmu, enum arm64_pmu_reg reg, unsigned int n);
void arm64_pmu_write(struct arm64_pmu *pmu, enum arm64_pmu_reg reg, unsigned int n,
		     uint64_t value);

#endif /* TOOLS_QEMU_ARM64_MODEL_H */
