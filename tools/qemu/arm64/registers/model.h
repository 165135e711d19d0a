/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers and counters of an arm64 PMU (PMUv3). The model does not depend on what executes
 * the instructions.
 */
#ifndef TOOLS_QEMU_ARM64_MODEL_H
#define TOOLS_QEMU_ARM64_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arm64/brbe/brbe.h"
#include "arm64/registers/events.h"

#define ARM64_PMU_EVENT_COUNTERS_MAX	31

/* Indexes of counters: their bits in PMCNTENSET_EL0 and other registers */
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
 * struct arm64_pmu_config - properties of a PMU
 * @version: the version, which determines registers and bits
 * @counters: number of event counters
 * @slots: PMMIR_EL1.SLOTS, from PMUv3p4 on
 * @threshold: width of PMEVTYPER<n>_EL0.TH in bits, PMMIR_EL1.THWIDTH
 * @instr_counter: the PMU has PMICNTR_EL0
 * @has_el2: the CPU has EL2
 * @has_el3: the CPU has EL3
 * @brbe: properties of its branch records
 * @denied: counters that do not count, by their bits in PMCNTENSET_EL0
 * @denied_events: events that no counter counts
 * @nr_denied_events: number of @denied_events
 * @stuck: fault: a counter that never counts, or ARM64_PMU_NO_COUNTER
 * @sticky_status: fault: the first write does not clear an overflow flag
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
 * struct arm64_pmu_ops - the functions of the CPU that the model calls
 * @read: read all counts
 * @watch: have arm64_pmu_check() called before a count advances by more than its @distance
 * @need: have these kinds counted from now on, a bit each
 * @level: return the exception level of the CPU
 * @mdcr_el2: return MDCR_EL2; called only if the CPU has EL2
 * @hcr_el2: return HCR_EL2; called only if the CPU has EL2 and branch records
 * @record: have arm64_brbe_branch() called for each taken branch at these levels (a bit each), and
 *	each exception or exception return from or to them. If there are none, the branch being
 *	executed is the last one. Return the CPU's cycles so far
 * @overflowed: a counter with an enabled interrupt has overflowed
 * @alarm: the alarm of arm64_pmu_set_alarm() has expired
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
 * @value: the value, as of the count @seen
 * @type: its PMEVTYPER<n>_EL0, PMCCFILTR_EL0 or PMICFILTR_EL0
 * @unknown: the counter is enabled with an event that the PMU does not count
 * @active: the counter counts; the fields below are valid only then
 * @levels: bitmap of the levels that it counts
 * @event: the event
 * @seen: the count of the event at the last update of @value
 * @fraction: the remainder of the count, less than arm64_pmu_divider()
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

/* System registers; a counter's register also needs the counter's number */
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
 * @config: the PMU's properties
 * @ops: functions of the CPU
 * @counter: counters, by index
 * @pmcr: the stored bits of PMCR_EL0
 * @enabled: PMCNTENSET_EL0
 * @interrupts: PMINTENSET_EL1
 * @overflows: PMOVSSET_EL0
 * @sticky: bits of @overflows that have ignored their first write (fault)
 * @brbe: branch records
 * @alarm_set: an alarm is set
 * @alarm: count of instructions at which the alarm expires
 * @reads: statistics: reads, by register
 * @writes: statistics: writes, by register
 * @overflowed: statistics: overflows of counters
 * @checks: statistics: calls of arm64_pmu_check()
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
uint32_t arm64_pmu_needs(const struct arm64_pmu *pmu);
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
