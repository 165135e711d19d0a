/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: branch records, the part that all backends share
 *
 * branch/event.c translates attr.branch_sample_type into a set of COREPMU_BRANCH_*. The hardware
 * records the union of the sets of the CPU's events. For each sample, branch/sample.c selects the
 * records of the event's own set. See Documentation/driver-api/corepmu.rst.
 */
#ifndef _COREPMU_BRANCH_H
#define _COREPMU_BRANCH_H

#include <linux/compiler.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <corepmu/branch/backend.h>
#include <corepmu/branch/records.h>

struct corepmu;
struct corepmu_cpu;
struct corepmu_feature_ops;
struct task_struct;

/**
 * struct corepmu_branches - branch records of one CPU
 * @wanted: COREPMU_BRANCH_*: union of the sets that the CPU's events want
 * @cached_reg: value of the register that the backend writes only when it changes, ~0 if unknown:
 *	the filter (legacy LBR, AMD), the freeze bit of IA32_DEBUGCTL (architectural LBR), BRBCR
 * @control: value of the backend's control register for @control_of
 * @control_of: value of @wanted that @control was computed from
 * @recording: recording is enabled; the hardware may be frozen after an overflow
 * @freezes: the backend has set the hardware's freeze-on-PMI bit (AMD)
 * @stale: the hardware's records must be cleared before recording starts again
 * @is_read: @list is a copy of the hardware's records
 * @task: task that the hardware's records belong to, NULL if unknown
 * @switches: number of times that @task had been scheduled out when @task was set
 * @in_sched_out: @task is being scheduled out: the scheduler has counted this switch, and no branch
 *	has been recorded since
 * @version: number that grows whenever the hardware's records may change
 * @nr_counted: number of placed events with COREPMU_EVENT_BRANCH_COUNTERS
 * @nesting: number of samples that are being emitted
 * @list: records that were read last
 * @stack: a struct perf_branch_stack for each sample that is being emitted
 * @counts: event counts of the branches in each of @stack, in perf core's format
 *
 * Only the CPU itself accesses its records, with interrupts disabled.
 */
struct corepmu_branches {
	u64				wanted;
	u64				cached_reg;
	u64				control;
	u64				control_of;
	bool				recording;
	bool				freezes;
	bool				stale;
	bool				is_read;
	const struct task_struct	*task;
	unsigned long			switches;
	bool				in_sched_out;
	unsigned long			version;
	unsigned int			nr_counted;
	unsigned int			nesting;
	struct corepmu_branch_list	list;
	u8				stack[COREPMU_BRANCH_NESTING][COREPMU_BRANCH_STACK_SIZE]
					__aligned(8);
	u64				counts[COREPMU_BRANCH_NESTING][COREPMU_MAX_BRANCHES];
};

/* branch/core.c */
int corepmu_branch_setup(struct corepmu *pmu, const struct corepmu_branch_backend *backend,
			 unsigned int nr);
void corepmu_branch_cleanup(struct corepmu *pmu);
void corepmu_branch_add(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_branch_del(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_branch_switch(struct corepmu_cpu *cpuc, bool sched_in);
void corepmu_branch_start(struct corepmu_cpu *cpuc);
void corepmu_branch_stop(struct corepmu_cpu *cpuc);
void corepmu_branch_pause(struct corepmu_cpu *cpuc);
void corepmu_branch_interrupt(struct corepmu_cpu *cpuc);
void corepmu_branch_reset(struct corepmu_cpu *cpuc);
void corepmu_branch_forget(struct corepmu_cpu *cpuc);

/* branch/feature.c */
extern const struct corepmu_feature_ops corepmu_branch_feature;

/* branch/task.c */
bool corepmu_branch_is_current(const struct corepmu_cpu *cpuc);
void corepmu_branch_check_gap(struct corepmu_cpu *cpuc);
void corepmu_branch_clear(struct corepmu_cpu *cpuc);
void corepmu_branch_restart(struct corepmu_cpu *cpuc);
int corepmu_branch_open(struct perf_event *event);
void corepmu_branch_close(struct perf_event *event);
void corepmu_branch_sched_out(struct corepmu_cpu *cpuc);
void corepmu_branch_sched_in(struct corepmu_cpu *cpuc);

/* branch/event.c */
int corepmu_branch_encode(struct corepmu *pmu, struct perf_event *event);
int corepmu_branch_check_group(struct perf_event *event);
int corepmu_branch_fits(struct corepmu_cpu *cpuc, struct perf_event *event);

/* branch/counters.c */
extern const struct corepmu_feature_ops corepmu_branch_counters_feature;
int corepmu_branch_encode_counted(struct corepmu *pmu, struct perf_event *event, u64 *wanted);
unsigned int corepmu_branch_find_counted(const struct perf_event *event, s8 *counters);
u64 corepmu_branch_counts(u8 counts, const s8 *counters, unsigned int nr);

/* branch/sample.c */
void corepmu_branch_read(struct corepmu_cpu *cpuc);
void corepmu_branch_acknowledge(struct corepmu_cpu *cpuc, u64 overflowed, bool frozen);
void corepmu_branch_sample(struct corepmu_cpu *cpuc, struct perf_event *event,
			   struct perf_sample_data *data);
void corepmu_branch_sample_list(struct corepmu_cpu *cpuc, struct perf_event *event,
				struct corepmu_branch_list *list,
				struct perf_sample_data *data);
void corepmu_branch_sample_end(struct corepmu_cpu *cpuc);
u32 corepmu_branch_type(const struct corepmu_branch_backend *backend,
			struct corepmu_branch_list *list, unsigned int i);

/* branch/snapshot.c */
int corepmu_branch_snapshot(struct perf_branch_entry *entries, unsigned int max);

/* Check whether an address is the kernel's: the top bit is set, on arm64 and on x86-64. */
static inline bool corepmu_branch_is_kernel(u64 addr)
{
	return (s64)addr < 0;
}

#endif /* _COREPMU_BRANCH_H */
