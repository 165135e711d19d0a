/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: Intel PEBS: state of a CPU, and samples
 */
#ifndef _COREPMU_X86_PEBS_H
#define _COREPMU_X86_PEBS_H

#include <linux/bits.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <corepmu/branch.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

#include "ds.h"
#include "precise.h"
#include "record.h"
#include "../x86.h"

/* Bits of hw_perf_event.flags: the data source in the event's records is that of a load. */
#define EVENT_LOAD	BIT(COREPMU_EVENT_BACKEND)
/* The data source in the event's records is that of a store. */
#define EVENT_STORE	BIT(COREPMU_EVENT_BACKEND + 1)
/* The event counts loads that take longer than extra_reg.config (load latency). */
#define EVENT_LATENCY	BIT(COREPMU_EVENT_BACKEND + 2)
/* The event counts stores; its records have a latency, like those of EVENT_LATENCY. */
#define EVENT_STORE_LATENCY	BIT(COREPMU_EVENT_BACKEND + 3)

/* Sample fields that show user-space registers, or need the user stack pointer */
#define SAMPLE_USER_REGS	(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* event.c */
u64 x86_pebs_data(const struct perf_event *event);
u64 x86_pebs_source(const struct x86_desc *desc, const struct perf_event *event, u64 source);

/* KUnit also tests record.c on other architectures, which lack struct x86_perf_regs. */
#ifdef CONFIG_X86
/**
 * struct x86_pebs_sample - a sample that is being made
 * @record: the only record of an interrupt
 * @time: time of the event on the sample clock in ns, or 0 for the present time
 * @data: the sample, as perf core takes it
 * @shown: register values of the sample
 * @has_branches: @branches is valid: the PEBS record has branch records
 * @branches: branch stack of the sample, for events that ask for branches
 *
 * One per CPU, reused for all records. On the stack, kernels that initialise stack variables
 * would clear the structure for each record.
 */
struct x86_pebs_sample {
	struct x86_pebs_record	record;
	u64			time;
	struct perf_sample_data	data;
	struct x86_perf_regs	shown;
	bool			has_branches;
	struct corepmu_branch_list branches;
};

/**
 * struct x86_pebs_recorded - which counters have their values in the PEBS records of one CPU
 * @wanted: a placed precise event has samples with counts (PERF_SAMPLE_READ)
 * @members: counters whose values the records have, a bit each
 * @allowed: counters with PEBS_ARCH_ALLOW in IA32_PMC_GPn_CFG_C
 * @shown: the counts of the events on @drained are those at a record
 * @drained: @members at the start of the drain
 *
 * @shown and @drained are in use during a drain only.
 */
struct x86_pebs_recorded {
	bool	wanted;
	u64	members;
	u64	allowed;
	bool	shown;
	u64	drained;
};

/**
 * struct x86_pebs_scratch - what one CPU needs during a drain only
 * @sample: the sample
 * @value: value of each counter when its event had @count, sign-extended
 * @count: count of each counter's event at the last record that was shown
 * @offset: sum of the changes of each event's count for samples; the end of the drain undoes them
 * @lost: counts of each counter between an overflow and the reload after its record; only the
 *	record has them
 *
 * Allocated with the debug store: the kernel reserves 8 KiB per CPU for the variables of all
 * modules (PERCPU_MODULE_RESERVE).
 */
struct x86_pebs_scratch {
	struct x86_pebs_sample sample;
	s64	value[COREPMU_MAX_COUNTERS];
	s64	count[COREPMU_MAX_COUNTERS];
	s64	offset[COREPMU_MAX_COUNTERS];
	s64	lost[COREPMU_MAX_COUNTERS];
};

/**
 * struct x86_pebs - PEBS state of one CPU
 * @busy: a drain is running on this CPU
 * @data_cfg: IA32_PEBS_DATA_CFG for the events that are on the CPU now
 * @written_data_cfg: value that is in IA32_PEBS_DATA_CFG
 * @size: size of a record with the groups of @data_cfg, in bytes
 * @latency: wanted load-latency threshold in cycles (MSR_PEBS_LD_LAT_THRESHOLD), or 0
 * @written_latency: value that is in MSR_PEBS_LD_LAT_THRESHOLD, 0 if unknown
 * @hw_reload: the CPU reloads counters in hardware with their next period, from @reload
 * @large: large PEBS: all counters reload in hardware, and the threshold is MAX_RECORDS records,
 *	or near the end of a buffer that holds fewer
 * @now: local_clock() at the start of the drain, in ns
 * @now_tsc: time stamp counter at the start of the drain
 * @period: for each counter with records, the period that has ended
 * @reload: for each counter, the period that the CPU reloads it with, while @hw_reload
 * @nr: number of records of each counter in the buffer
 * @overtaken: counters, a bit each, whose event perf core read or stopped during a drain: the drain
 *	updates a stopped one, too
 * @max_pending: largest number of counts that one counter's records in the buffer stand for
 * @refused: a stop, a read or an NMI asked for a drain while @busy
 * @large_allowed: an event that is on the CPU allows large PEBS
 * @up_to_date: the debug store and IA32_PEBS_ENABLE need no update at each start: no event reloads
 *	in hardware, allows large PEBS, or has samples with counts
 * @enabled: value that is in IA32_PEBS_ENABLE
 * @active: corepmu_cpu.active when the debug store and IA32_PEBS_ENABLE were last updated
 * @owned_by_kvm: KVM has owned the CPU since the last start of the PMU: no records were written
 * @index: IA32_PEBS_INDEX without its write position
 * @rewinds: number of times that IA32_PEBS_INDEX has been rewound to 0
 * @recorded: counter values in the records
 * @scratch: in use while @busy; NULL while there is no precise event
 *
 * Only its own CPU accesses the structure, with IRQs off; an NMI leaves it alone while @busy.
 */
struct x86_pebs {
	bool	busy;
	u64	data_cfg;
	u64	written_data_cfg;
	size_t	size;
	u64	latency;
	u64	written_latency;
	bool	hw_reload;
	bool	large;
	u64	now;
	u64	now_tsc;
	u64	period[COREPMU_MAX_COUNTERS];
	u64	reload[COREPMU_MAX_COUNTERS];
	u16	nr[COREPMU_MAX_COUNTERS];
	u64	overtaken;
	u64	max_pending;
	bool	refused;
	bool	large_allowed;
	bool	up_to_date;
	u64	enabled;
	u64	active;
	bool	owned_by_kvm;
	u64	index;
	unsigned int rewinds;
	struct x86_pebs_recorded recorded;
	struct x86_pebs_scratch *scratch;
};

DECLARE_PER_CPU(struct x86_pebs, x86_pebs);

static inline bool x86_pebs_is_arch(const struct corepmu_cpu *cpuc)
{
	return to_x86(cpuc->pmu)->pebs_format == PEBS_FORMAT_ARCH;
}

static inline bool x86_pebs_is_precise(const struct perf_event *event)
{
	return event && (event->hw.flags & COREPMU_EVENT_PRECISE);
}

/* core.c */
extern const struct corepmu_precise_backend x86_pebs_backend;

/* drain.c */
bool x86_pebs_drain(struct corepmu_cpu *cpuc, struct pt_regs *regs);

/* counters.c */
bool x86_pebs_counters_wanted(const struct perf_event *event);
bool x86_pebs_counters_complete(const struct corepmu_cpu *cpuc, const struct perf_event *event);
void x86_pebs_counters_choose(struct corepmu_cpu *cpuc);
void x86_pebs_counters_begin(struct corepmu_cpu *cpuc);
void x86_pebs_counters_show(struct corepmu_cpu *cpuc, const struct x86_pebs_record *record);
void x86_pebs_counters_end(struct corepmu_cpu *cpuc);

/* arch/core.c */
const char *x86_pebs_arch_describe(struct x86_desc *desc);
void x86_pebs_arch_fetch(struct x86_ds *ds);
void x86_pebs_arch_rewind(void);
void x86_pebs_arch_start(struct corepmu_cpu *cpuc, const struct x86_ds *ds, u64 enable,
			 unsigned int rewinds);
void x86_pebs_arch_stop(void);
void x86_pebs_arch_point(struct page *page);
void x86_pebs_arch_reset(const struct x86_desc *desc);

/* sample.c */
void x86_pebs_fill(struct corepmu_cpu *cpuc, struct perf_event *event, u64 period,
		   const struct x86_pebs_record *record, struct pt_regs *iregs,
		   struct x86_pebs_sample *sample);
bool x86_pebs_shows_place_only(const struct perf_event *event);
bool x86_pebs_may_refill(struct x86_pebs_sample *sample,
			 const struct x86_pebs_record *record);
void x86_pebs_refill(u64 period, const struct x86_pebs_record *record,
		     struct x86_pebs_sample *sample);
#endif

/* latency.c */
int x86_pebs_encode_latency(const struct x86_desc *desc, struct perf_event *event, u64 config);
bool x86_pebs_fits(const struct perf_event *event, const struct perf_event *other);

/* data-source.c */
u64 x86_pebs_latency_source(const struct x86_desc *desc, const struct perf_event *event,
			    u64 source);

#endif /* _COREPMU_X86_PEBS_H */
