/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: features of events: what an event may need besides a counter
 */
#ifndef _COREPMU_FEATURES_H
#define _COREPMU_FEATURES_H

#include <linux/static_call.h>
#include <linux/types.h>

struct corepmu_backend;
struct corepmu_cpu;
struct perf_event;
struct perf_sample_data;
struct pt_regs;

/**
 * enum corepmu_feature - numbers of the features
 * @COREPMU_FEATURE_BRANCHES: branch records
 * @COREPMU_FEATURE_PRECISE: precise samples
 * @COREPMU_FEATURE_ACR: auto counter reload
 * @COREPMU_FEATURE_EXTRA_REG: extra registers
 * @COREPMU_FEATURE_BRANCH_COUNTERS: event counts in branch records
 * @COREPMU_NR_FEATURES: number of features
 * @COREPMU_NR_SAMPLED: features from this number on lack interrupt(), sample() and sample_end()
 * @COREPMU_NR_STOPPED: features from this number on lack stop() and sched_task()
 * @COREPMU_NR_STARTED: features from this number on lack start()
 * @COREPMU_NR_SHARED: features from this number on lack fits()
 *
 * The core visits the features in this order when it starts the PMU, and in the opposite order when
 * it stops the PMU. Features with fewer functions come later: the bounds save tests.
 */
enum corepmu_feature {
	COREPMU_FEATURE_BRANCHES,
	COREPMU_FEATURE_PRECISE,
	COREPMU_FEATURE_ACR,
	COREPMU_FEATURE_EXTRA_REG,
	COREPMU_FEATURE_BRANCH_COUNTERS,
	COREPMU_NR_FEATURES,

	COREPMU_NR_SAMPLED = COREPMU_FEATURE_BRANCHES + 1,
	COREPMU_NR_STOPPED = COREPMU_FEATURE_PRECISE + 1,
	COREPMU_NR_STARTED = COREPMU_FEATURE_ACR + 1,
	COREPMU_NR_SHARED = COREPMU_FEATURE_EXTRA_REG + 1,
};

/**
 * struct corepmu_feature_ops - functions of one feature
 * @open: reserve what the feature of one more event needs. Return 0, or an errno after
 *	corepmu_refuse(). Process context
 * @close: undo @open. Process context
 * @check_group: check whether the event's group can be on a CPU at the same time. Return 0, or an
 *	errno after corepmu_refuse(). Process context
 * @fits: prepare the placement of an event. Return 0, or -EAGAIN while placed events use the
 *	feature in another way. IRQs off
 * @add: set up the feature of an event that has been placed; never NULL. IRQs off, and the PMU
 *	stopped
 * @moved: an event has moved to another counter. IRQs off, and the PMU stopped
 * @del: undo @add, for an event that has lost its counter; never NULL. IRQs off, and the PMU
 *	stopped
 * @start: the counters are about to start; a placed event has the feature. IRQs off, or NMI
 * @stop: the counters have stopped; a placed event has the feature. IRQs off, or NMI
 * @interrupt: an overflow interrupt has stopped the counters; a placed event has the feature. IRQs
 *	off, or NMI
 * @sample: add to a sample, after perf_sample_data_init(). IRQs off, or NMI
 * @sample_end: perf core has written the sample of @sample. IRQs off, or NMI
 * @late: emit the sample of a stopped event's overflow, before its interrupt comes; NULL: the core
 *	emits the sample. @regs: the interrupted registers, or the caller's. IRQs off, or NMI
 * @sched_task: the current task has been scheduled in, or is about to be scheduled out; a placed
 *	event has the feature. From pmu.sched_task, IRQs off
 *
 * All but @add and @del may be NULL.
 */
struct corepmu_feature_ops {
	int	(*open)(struct perf_event *event);
	void	(*close)(struct perf_event *event);
	int	(*check_group)(struct perf_event *event);
	int	(*fits)(struct corepmu_cpu *cpuc, struct perf_event *event);
	void	(*add)(struct corepmu_cpu *cpuc, struct perf_event *event);
	void	(*moved)(struct corepmu_cpu *cpuc, struct perf_event *event);
	void	(*del)(struct corepmu_cpu *cpuc, struct perf_event *event);
	void	(*start)(struct corepmu_cpu *cpuc);
	void	(*stop)(struct corepmu_cpu *cpuc);
	void	(*interrupt)(struct corepmu_cpu *cpuc);
	void	(*sample)(struct corepmu_cpu *cpuc, struct perf_event *event,
			  struct perf_sample_data *data);
	void	(*sample_end)(struct corepmu_cpu *cpuc);
	void	(*late)(struct corepmu_cpu *cpuc, struct perf_event *event, struct pt_regs *regs);
	void	(*sched_task)(struct corepmu_cpu *cpuc, bool sched_in);
};

/* core/features.c */
void corepmu_features_use(const struct corepmu_backend *backend);
void corepmu_features_off(void);
int corepmu_features_open(struct perf_event *event);
void corepmu_features_close(struct perf_event *event);
int corepmu_features_check_group(struct perf_event *event);
int corepmu_features_fit(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_features_add(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_features_moved(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_features_del(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_features_start_cpu(struct corepmu_cpu *cpuc);
void corepmu_features_stop_cpu(struct corepmu_cpu *cpuc);
void corepmu_features_interrupt(struct corepmu_cpu *cpuc);
bool corepmu_features_late(struct corepmu_cpu *cpuc, struct perf_event *event,
			   struct pt_regs *regs);
void corepmu_features_sched_task(bool sched_in);
struct corepmu_cpu *corepmu_features_this_cpu(void);

/* Types of the static calls; there are no such functions */
void corepmu_feature_cpu(struct corepmu_cpu *cpuc);
void corepmu_feature_event(struct corepmu_cpu *cpuc, struct perf_event *event);
int corepmu_feature_fits(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_feature_sample(struct corepmu_cpu *cpuc, struct perf_event *event,
			    struct perf_sample_data *data);
void corepmu_feature_switch(struct corepmu_cpu *cpuc, bool sched_in);

DECLARE_STATIC_CALL(corepmu_feature_sample_0, corepmu_feature_sample);
DECLARE_STATIC_CALL(corepmu_feature_sample_end_0, corepmu_feature_cpu);

/**
 * corepmu_features_sample() - let the features of an event add to its sample
 * @cpuc: this CPU's state
 * @event: an event with COREPMU_EVENT_SAMPLED
 * @data: the sample, after perf_sample_data_init()
 *
 * The caller calls corepmu_features_sample_end() after the sample. IRQs off, or NMI.
 */
static inline void corepmu_features_sample(struct corepmu_cpu *cpuc, struct perf_event *event,
					   struct perf_sample_data *data)
{
	static_call(corepmu_feature_sample_0)(cpuc, event, data);
}

/**
 * corepmu_features_sample_end() - end corepmu_features_sample() after perf core wrote the sample
 * @cpuc: this CPU's state
 */
static inline void corepmu_features_sample_end(struct corepmu_cpu *cpuc)
{
	static_call(corepmu_feature_sample_end_0)(cpuc);
}

#endif /* _COREPMU_FEATURES_H */
