/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: struct corepmu, a PMU, and its hot paths
 *
 * Perf core adds an event through core/pmu.c. core/assign.c chooses the counter, corepmu/counter.h
 * computes the counter's initial value, and the backend writes the registers. An overflow goes from
 * the backend to core/overflow.c, corepmu/counter.h and perf core. corepmu/hw.h lists what the
 * driver keeps in struct hw_perf_event. See Documentation/driver-api/corepmu.rst.
 */
#ifndef _COREPMU_PMU_H
#define _COREPMU_PMU_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/list.h>
#include <linux/notifier.h>
#include <linux/perf_event.h>
#include <linux/static_call.h>
#include <linux/types.h>

#include <corepmu/assign.h>
#include <corepmu/backend.h>
#include <corepmu/compat.h>
#include <corepmu/cpu.h>
#include <corepmu/features.h>
#include <corepmu/hw.h>

struct corepmu_branch_backend;
struct corepmu_branches;
struct corepmu_precise_backend;

/**
 * struct corepmu - one PMU: all CPUs of one CPU type
 * @perf_pmu: the PMU as perf core knows it
 * @node: entry in the list of PMUs that follow CPU hotplug
 * @rdpmc_node: entry in the list of PMUs that corepmu_rdpmc_refresh() goes through
 * @backend: the architecture's functions
 * @supported_cpus: CPUs of this PMU; a CPU that comes online may be added
 * @on_all_cpus: @supported_cpus has all possible CPUs
 * @cpu: state of each CPU
 * @counters: mask of counters that exist
 * @pair_counters: mask of counters that can be the upper counter of a pair
 * @width: width of each counter, in bits
 * @value_mask: the value bits of each counter, from @width
 * @pair_width: width of a pair of counters, in bits
 * @max_left: highest number of counts after which a counter can be set to overflow
 * @min_left: lowest number of counts after which a counter may be set to overflow
 * @counting_period: period of events that do not sample, in counts; an event with
 *	COREPMU_EVENT_LONG, COREPMU_EVENT_PAIR or COREPMU_EVENT_32BIT has a period of its own
 * @cpu_type: name of the CPU type, the end of the PMU's name; NULL with one CPU type, or if the
 *	types have no names
 * @builtin_name: name of the built-in driver's PMU for this CPU type, if the name does not follow
 *	from the backend's builtin_name and @cpu_type; or NULL
 * @secondary: not the PMU of the first CPU type: the parameter type= does not apply
 * @claims_generic: replace mode: no other driver has a core PMU, and this PMU also accepts
 *	PERF_TYPE_RAW. False in coexist mode: the PMU accepts its own type, and generic events,
 *	which may name the PMU in attr.config. refusal_of_generic() returns -ENOENT for a generic
 *	event that the other driver may count
 * @open: registration is complete and no unload has begun, so events may be opened
 * @follows_tasks: a feature needs notice of task switches (pmu.sched_task)
 * @nr_branches: number of branch records that the hardware keeps
 * @branch_backend: functions for the branch record registers, or NULL
 * @branch_reason: reason in messages why there are no branch records; or NULL
 * @branches: branch records of each CPU, or NULL
 * @capabilities: PERF_PMU_CAP_* of the hardware, besides the backend's
 * @max_precise: highest attr.precise_ip
 * @precise_backend: functions for precise samples, or NULL
 * @precise_reason: reason in messages why there are no precise samples; or NULL
 * @parent: parent device of the PMU in sysfs, or NULL
 * @pm_nb: CPU power-down notifier
 * @reboot_nb: reboot notifier
 * @private: the backend's description of the hardware
 */
struct corepmu {
	struct pmu			perf_pmu;
	struct hlist_node		node;
	struct list_head		rdpmc_node;
	const struct corepmu_backend	*backend;
	cpumask_t			supported_cpus;
	bool				on_all_cpus;
	struct corepmu_cpu __percpu	*cpu;
	u64				counters;
	u64				pair_counters;
	u8				width[COREPMU_MAX_COUNTERS];
	u64				value_mask[COREPMU_MAX_COUNTERS];
	u8				pair_width;
	s64				max_left;
	s64				min_left;
	u64				counting_period;
	const char			*cpu_type;
	char				*builtin_name;
	bool				secondary;
	bool				claims_generic;
	bool				open;
	bool				follows_tasks;
	unsigned int			nr_branches;
	const struct corepmu_branch_backend *branch_backend;
	const char			*branch_reason;
	struct corepmu_branches __percpu *branches;
	unsigned int			capabilities;
	unsigned int			max_precise;
	const struct corepmu_precise_backend *precise_backend;
	const char			*precise_reason;
	struct device			*parent;
	struct notifier_block		pm_nb;
	struct notifier_block		reboot_nb;
	void				*private;
};

#define to_corepmu(p) container_of(p, struct corepmu, perf_pmu)

/* Return the value mask of an event on counter @idx: the bits of the counter, or of its pair. */
static __always_inline u64 corepmu_event_mask(struct corepmu *pmu,
					      const struct hw_perf_event *hwc, int idx)
{
	if (hwc->flags & COREPMU_EVENT_32BIT)
		return GENMASK_ULL(31, 0);
	if ((hwc->flags & COREPMU_EVENT_PAIR) && (pmu->pair_counters & BIT_ULL(idx)))
		return GENMASK_ULL(pmu->pair_width - 1, 0);

	return pmu->value_mask[corepmu_valid_counter(idx) & COREPMU_COUNTER_MASK];
}

/* Fill in @demand: the counters that @event may be placed on. */
static inline void corepmu_event_demand(struct corepmu *pmu, struct perf_event *event,
					struct corepmu_demand *demand)
{
	struct hw_perf_event *hwc = &event->hw;

	*demand = (struct corepmu_demand) {
		.allowed	= corepmu_hw_counters(hwc),
		.pairs		= hwc->flags & COREPMU_EVENT_PAIR ?
				  corepmu_hw_counters(hwc) & pmu->pair_counters : 0,
		.counter	= -1,
	};
}

/* Check whether an event on counter @idx occupies a pair of counters. */
static inline bool corepmu_is_paired(const struct corepmu *pmu, const struct hw_perf_event *hwc,
				     int idx)
{
	return (hwc->flags & COREPMU_EVENT_PAIR) && (pmu->pair_counters & BIT_ULL(idx));
}

/* Check whether the event is placed on a pair of counters. */
static inline bool corepmu_event_is_paired(const struct corepmu *pmu,
					   const struct hw_perf_event *hwc)
{
	return corepmu_is_paired(pmu, hwc, hwc->idx);
}

/* Check whether overflows interrupt: with sampling=0 they do not. */
static inline bool corepmu_has_interrupt(const struct corepmu *pmu)
{
	return !(pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT);
}

/* Declared only as types of the static calls: no such functions exist. */
void corepmu_backend_cpu(struct corepmu_cpu *cpuc);
void corepmu_backend_event(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_backend_write(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value);

/* core/pmu.c: the hot paths of the backend in use */
DECLARE_STATIC_CALL(corepmu_enable_counters, corepmu_backend_cpu);
DECLARE_STATIC_CALL(corepmu_disable_counters, corepmu_backend_cpu);
DECLARE_STATIC_CALL(corepmu_program_counter, corepmu_backend_write);
DECLARE_STATIC_CALL(corepmu_counter_update, corepmu_backend_event);
DECLARE_STATIC_CALL(corepmu_counter_update_nmi_safe, corepmu_backend_event);
DECLARE_STATIC_CALL(corepmu_write_counter, corepmu_backend_write);

/**
 * corepmu_sibling_counts() - check whether a sibling counts when its group is scheduled in
 * @event: a sibling
 *
 * A disabled sibling needs no counter.
 *
 * Return: true if the sibling counts
 */
static inline bool corepmu_sibling_counts(const struct perf_event *event)
{
	return event->state > PERF_EVENT_STATE_OFF ||
	       (event->state == PERF_EVENT_STATE_OFF && event->attr.enable_on_exec);
}

/*
 * Start and stop a CPU's PMU as a whole. IRQs off.
 *
 * An NMI may come between the write of running and the writes of registers. The NMI stops the PMU
 * in corepmu_overflow_begin(), and restarts the PMU in corepmu_overflow_end() if running is true.
 * The interrupted function then writes the registers once more, with the same result.
 *
 * Each branch is a single call, so that callers that end with it save no registers.
 */
static inline void corepmu_start_cpu(struct corepmu_cpu *cpuc)
{
	cpuc->running = true;
	barrier();
	if (unlikely(cpuc->features))
		corepmu_features_start_cpu(cpuc);
	else
		static_call(corepmu_enable_counters)(cpuc);
}

static inline void corepmu_stop_cpu(struct corepmu_cpu *cpuc)
{
	cpuc->running = false;
	barrier();
	if (unlikely(cpuc->features))
		corepmu_features_stop_cpu(cpuc);
	else
		static_call(corepmu_disable_counters)(cpuc);
}

void corepmu_use_backend(const struct corepmu_backend *backend);
void corepmu_use_none(void);
void corepmu_init_pmu(struct corepmu *pmu);
bool corepmu_filter(struct pmu *pmu, int cpu);
bool corepmu_pause_cpu(struct corepmu_cpu *cpuc);
void corepmu_resume_cpu(struct corepmu_cpu *cpuc, bool running);
void corepmu_event_start(struct perf_event *event, int flags);
void corepmu_event_stop(struct perf_event *event, int flags);
void corepmu_counter_prepare(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_counter_program(struct corepmu_cpu *cpuc, struct perf_event *event);

/* core/event.c */
int corepmu_event_init(struct perf_event *event);
int corepmu_check_period(struct perf_event *event, u64 value);
u64 corepmu_counting_period(struct corepmu *pmu, const struct hw_perf_event *hwc, u64 counters);
int corepmu_decode_cache(u64 config, unsigned int *cache, unsigned int *op, bool *miss);

/*
 * Update the user page if a process has mapped the event. Otherwise no process reads the page, or
 * event->rb and its page belong to another event (PERF_EVENT_IOC_SET_OUTPUT).
 */
static inline void corepmu_update_userpage(struct perf_event *event)
{
	if (unlikely(compat_event_is_mapped(event)))
		perf_event_update_userpage(event);
}

#endif /* _COREPMU_PMU_H */
