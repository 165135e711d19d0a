// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: the callbacks of struct pmu
 *
 * This file accesses no register. Adding, deleting, starting or stopping an event changes the mask
 * of active counters. When perf core enables the PMU again, once for a whole context switch, the
 * backend writes that mask to the hardware.
 *
 * The functions of a context switch are inline: on kernels that are built without tail calls, a
 * call costs as much as the work.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/static_call.h>

#include <corepmu/assign.h>
#include <corepmu/counter.h>
#include <corepmu/features.h>
#include <corepmu/limiter.h>
#include <corepmu/module.h>
#include <corepmu/overflow.h>
#include <corepmu/pmu.h>
#include <corepmu/rdpmc.h>

DEFINE_STATIC_CALL_NULL(corepmu_enable_counters, corepmu_backend_cpu);
DEFINE_STATIC_CALL_NULL(corepmu_disable_counters, corepmu_backend_cpu);
DEFINE_STATIC_CALL_NULL(corepmu_program_counter, corepmu_backend_write);
DEFINE_STATIC_CALL_NULL(corepmu_counter_update, corepmu_backend_event);
DEFINE_STATIC_CALL_NULL(corepmu_counter_update_nmi_safe, corepmu_backend_event);
DEFINE_STATIC_CALL_NULL(corepmu_write_counter, corepmu_backend_write);

/**
 * corepmu_use_backend() - make the static calls of the hot paths call @backend
 * @backend: the backend of the PMU that is about to be registered
 *
 * Process context, before a PMU is registered; PMUs of other CPU types may be in use already.
 */
void __corepmu_init corepmu_use_backend(const struct corepmu_backend *backend)
{
	static_call_update(corepmu_enable_counters, backend->enable);
	static_call_update(corepmu_disable_counters, backend->disable);
	static_call_update(corepmu_program_counter, backend->program);
	static_call_update(corepmu_counter_update, backend->update);
	static_call_update(corepmu_counter_update_nmi_safe, backend->update_nmi_safe);
	static_call_update(corepmu_write_counter, backend->write);
	corepmu_features_use(backend);
}

static void enable_none(struct corepmu_cpu *cpuc)
{
}

static void write_none(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value)
{
}

/**
 * corepmu_use_none() - turn perf core's calls that start, stop or write counters into no-ops
 *
 * Reads of counters still work. Process context; corepmu_use_backend() undoes it.
 */
void corepmu_use_none(void)
{
	static_call_update(corepmu_enable_counters, enable_none);
	static_call_update(corepmu_disable_counters, enable_none);
	static_call_update(corepmu_program_counter, write_none);
	static_call_update(corepmu_write_counter, write_none);
	corepmu_features_off();
}

static struct corepmu_cpu *this_cpuc(struct perf_event *event)
{
	return this_cpu_ptr(to_corepmu(event->pmu)->cpu);
}

/* Return the mask of counters that an event on counter @idx occupies: one, or two of a pair. */
static __always_inline u64 counters_on(struct corepmu *pmu, const struct hw_perf_event *hwc,
				       int idx)
{
	u64 counters = BIT_ULL(corepmu_valid_counter(idx));

	if (unlikely(hwc->flags & COREPMU_EVENT_PAIR) && (pmu->pair_counters & counters))
		counters |= counters >> 1;

	return counters;
}

static __always_inline u64 event_counters(struct perf_event *event)
{
	return counters_on(to_corepmu(event->pmu), &event->hw, event->hw.idx);
}

/* The whole PMU: enable and disable */

/*
 * Update the access of user space, even if this CPU has no event: the task that was scheduled out
 * may have had access to counters, but the next task must not.
 */
static noinline void enable_for_readers(struct corepmu_cpu *cpuc)
{
	corepmu_rdpmc_switch(cpuc);
	if (cpuc->used)
		corepmu_start_cpu(cpuc);
}

/**
 * corepmu_pause_cpu() - stop this CPU's PMU if it is running
 * @cpuc: this CPU's state
 *
 * IRQs off.
 *
 * Return: true if the PMU was running, for corepmu_resume_cpu()
 */
noinline bool corepmu_pause_cpu(struct corepmu_cpu *cpuc)
{
	bool running = cpuc->running;

	if (running)
		corepmu_stop_cpu(cpuc);

	return running;
}

/**
 * corepmu_resume_cpu() - start this CPU's PMU if it is to run
 * @cpuc: this CPU's state
 * @running: start the PMU; after corepmu_pause_cpu(), its return value
 *
 * IRQs off.
 */
noinline void corepmu_resume_cpu(struct corepmu_cpu *cpuc, bool running)
{
	if (running)
		corepmu_start_cpu(cpuc);
}

static void corepmu_enable(struct pmu *pmu)
{
	struct corepmu_cpu *cpuc = this_cpu_ptr(to_corepmu(pmu)->cpu);

	/* A single plain read: a volatile one needs more instructions. */
	if (unlikely(data_race(corepmu_rdpmc_in_use)))
		enable_for_readers(cpuc);
	/* A CPU without events has nothing to start, and neither has a CPU of another PMU. */
	else if (cpuc->used)
		corepmu_start_cpu(cpuc);
}

static void corepmu_disable(struct pmu *pmu)
{
	struct corepmu_cpu *cpuc = this_cpu_ptr(to_corepmu(pmu)->cpu);

	/*
	 * Another agent may have written registers without an event since the PMU was last
	 * disabled. The driver trusts only registers of events that perf core deletes from here on.
	 */
	cpuc->trusted = 0;
	cpuc->trusted_others = 0;
	if (cpuc->running)
		corepmu_stop_cpu(cpuc);
}

/* One event: start, stop, read */

/*
 * Return the number of counts until the current period ends. A new period begins if period_left is
 * not positive. Either perf core has set period_left to 0, to change the period. Or an event that
 * does not sample was stopped between the overflow of its counter and the interrupt.
 */
static __always_inline s64 left_to_count(struct perf_event *event)
{
	u64 ended;
	s64 left;

	if (is_sampling_event(event) && unlikely(corepmu_hw_is_young(&event->hw)))
		return corepmu_freq_find(event);

	left = corepmu_counter_advance_period(event, &ended);
	if (unlikely(ended) && corepmu_hw_freq(&event->hw))
		left = corepmu_freq_restart(event);

	return left;
}

/* Return the value for the counter. Out of line: event_place(), which is hot, has a copy. */
static noinline u64 next_value(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	return corepmu_counter_expect(cpuc, event, left_to_count(event));
}

/**
 * corepmu_counter_prepare() - set the counter to overflow at the end of the current period
 * @cpuc: this CPU's state
 * @event: an event placed on a counter that is not counting
 *
 * IRQs off.
 */
void corepmu_counter_prepare(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	static_call(corepmu_write_counter)(cpuc, &event->hw, next_value(cpuc, event));
}

/**
 * corepmu_counter_program() - corepmu_counter_prepare(), and write the event selection
 * @cpuc: this CPU's state
 * @event: an event placed on a counter that is not counting
 *
 * IRQs off.
 */
void corepmu_counter_program(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	static_call(corepmu_program_counter)(cpuc, &event->hw, next_value(cpuc, event));
}

/*
 * Change active in one step: no NMI comes between its read and its write. On x86 a per-CPU
 * operation is one instruction, without a lock prefix. Elsewhere it is a loop, and the atomic
 * operation is shorter.
 */
static __always_inline void add_active(struct corepmu_cpu *cpuc, u64 counters)
{
	if (IS_ENABLED(CONFIG_X86))
		this_cpu_or(cpuc->pmu->cpu->active, counters);
	else
		atomic64_or(counters, (atomic64_t *)&cpuc->active);
}

static __always_inline void remove_active(struct corepmu_cpu *cpuc, u64 counters)
{
	if (IS_ENABLED(CONFIG_X86))
		this_cpu_and(cpuc->pmu->cpu->active, ~counters);
	else
		atomic64_andnot(counters, (atomic64_t *)&cpuc->active);
}

static __always_inline void active_changed(struct corepmu_cpu *cpuc)
{
	/* Write the mask. Rare: perf core usually disables the PMU around start() and stop(). */
	if (unlikely(cpuc->running))
		corepmu_resume_cpu(cpuc, true);
}

/*
 * Let a stopped event count on from its counter's value. @counters: the mask of counters that the
 * event occupies.
 *
 * A late NMI, for an overflow from before the PMU was stopped, may come in the middle of this
 * function. In the NMI's sample perf core may stop events.
 *
 * Perf core may stop another event: CPU A reads active; the NMI clears the other event's bit; CPU A
 * then writes its old value and would start that event again. So add_active() changes the mask in
 * one step.
 *
 * Perf core may also stop this event, when it throttles the group (from Linux 6.16 on,
 * perf_event_throttle_group()). So this function sets the bit in active first, and the state last.
 * An NMI in between finds the event stopped and does nothing: the event counts until its next
 * sample (corepmu_emit()), or until a tick ends the throttling. In the reverse order the NMI would
 * clear the bit before this function sets it, and a stopped event would count.
 */
static __always_inline void event_resume(struct corepmu_cpu *cpuc, struct perf_event *event,
					 u64 counters)
{
	add_active(cpuc, counters);
	barrier();
	event->hw.state = 0;
}

/**
 * corepmu_event_start() - start a placed event
 * @event: the event
 * @flags: ignored; this function always sets the counter
 *
 * The counter may have wrapped while its event was stopped, and would then overflow only after its
 * full range. The causes:
 *
 * - Several counters overflow at the same time. In the first event's sample perf core stops the
 *   other events of the group. The driver acknowledges their overflows but does not handle them.
 * - A VM exit enables the counter of an event that an NMI has stopped (x86/kvm/vmx-msrs.c).
 *
 * Does nothing if the event is started, has no counter, or has reached its limit of samples.
 * perf_event_unthrottle_group() of Linux 6.16 also starts members that are off. A tick stops an
 * event and starts it again, even if the late sample of this stop was the last allowed one. IRQs
 * off, or from the overflow interrupt.
 */
void corepmu_event_start(struct perf_event *event, int flags)
{
	struct corepmu_cpu *cpuc = this_cpuc(event);
	struct hw_perf_event *hwc = &event->hw;

	if (!(hwc->state & PERF_HES_STOPPED) ||
	    unlikely(hwc->idx < 0 || READ_ONCE(event->pending_disable)))
		return;

	corepmu_counter_prepare(cpuc, event);
	event_resume(cpuc, event, event_counters(event));
	active_changed(cpuc);
	corepmu_update_userpage(event);
}

static noinline void event_stop_late(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	corepmu_late_overflow(cpuc, event);
	/* perf_event_overflow() may stop and start the event, to change its period. */
	if (!(event->hw.state & PERF_HES_STOPPED))
		corepmu_event_stop(event, PERF_EF_UPDATE);
}

/* The counter of @event has stopped: bring the count up to date, and mark @event as stopped. */
static __always_inline void event_mark_stopped(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;

	corepmu_counter_update(cpuc, event);

	hwc->state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (is_sampling_event(event) && unlikely(local64_read(&hwc->period_left) <= 0))
		event_stop_late(cpuc, event);
}

/**
 * corepmu_event_stop() - stop a placed event
 * @event: the event
 * @flags: ignored; this function always brings the count up to date
 *
 * Does nothing if the event is stopped. IRQs off, or from the overflow interrupt.
 */
void corepmu_event_stop(struct perf_event *event, int flags)
{
	struct corepmu_cpu *cpuc = this_cpuc(event);

	if (!(event->hw.state & PERF_HES_STOPPED)) {
		remove_active(cpuc, event_counters(event));
		active_changed(cpuc);
		event_mark_stopped(cpuc, event);
	}
	corepmu_update_userpage(event);
}

static void corepmu_event_read(struct perf_event *event)
{
	if (!(event->hw.state & PERF_HES_STOPPED))
		corepmu_counter_update_nmi_safe(this_cpuc(event), event);
}

/* Placement: add and delete. Perf core disables the PMU around both. */

/* Assign counter @idx to @event. @counters: the mask of counters that the event then occupies */
static __always_inline void event_occupy(struct corepmu *pmu, struct corepmu_cpu *cpuc,
					 struct perf_event *event, int idx, u64 counters)
{
	struct hw_perf_event *hwc = &event->hw;

	corepmu_hw_set_value_mask(hwc, corepmu_event_mask(pmu, hwc, idx));
	hwc->idx = idx;

	*corepmu_event_on(cpuc, idx) = event;
	cpuc->used |= counters;
}

/* event_occupy(), then set the counter to overflow at the period's end. @event is stopped. */
static __always_inline void event_place(struct corepmu *pmu, struct corepmu_cpu *cpuc,
					struct perf_event *event, int idx, u64 counters)
{
	u64 value;

	event_occupy(pmu, cpuc, event, idx, counters);
	value = corepmu_counter_expect(cpuc, event, left_to_count(event));
	static_call(corepmu_program_counter)(cpuc, &event->hw, value);
}

/* @counters: the mask of counters that @event occupies */
static __always_inline void event_unplace(struct corepmu_cpu *cpuc, struct perf_event *event,
					  u64 counters)
{
	struct hw_perf_event *hwc = &event->hw;

	*corepmu_event_on(cpuc, hwc->idx) = NULL;
	cpuc->used &= ~counters;
	cpuc->dirty |= counters;
	cpuc->trusted |= counters;
	hwc->idx = -1;
}

/*
 * Find a counter for @event by moving other events. The PMU is stopped. Return the counter, or
 * -EAGAIN if there is no placement of all events.
 */
static noinline int place_by_moving(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct corepmu_demand *demands = cpuc->demands;
	struct perf_event *events[COREPMU_MAX_DEMANDS];
	u64 restart = 0, left, counters;
	unsigned int nr = 0, i;
	int idx;

	/* Without a free counter, only a pair that moves to a single counter makes room. */
	if (!cpuc->pmu->pair_counters && !(cpuc->pmu->counters & ~cpuc->used))
		return -EAGAIN;

	for (left = cpuc->used; left; left &= left - 1) {
		idx = __ffs64(left);
		/* No event: lower counter of a pair */
		if (!cpuc->events[idx])
			continue;
		events[nr] = cpuc->events[idx];
		corepmu_event_demand(cpuc->pmu, events[nr], &demands[nr]);
		demands[nr++].counter = idx;
	}
	corepmu_event_demand(cpuc->pmu, event, &demands[nr]);
	events[nr++] = event;

	if (corepmu_assign(demands, nr))
		return -EAGAIN;

	/* All events that move give up their counters first: one may move to another's counter. */
	for (i = 0; i < nr - 1; i++) {
		if (demands[i].counter == events[i]->hw.idx)
			continue;
		if (!(events[i]->hw.state & PERF_HES_STOPPED)) {
			corepmu_event_stop(events[i], PERF_EF_UPDATE);
			restart |= BIT_ULL(i);
		}
		event_unplace(cpuc, events[i], event_counters(events[i]));
	}

	for (i = 0; i < nr - 1; i++) {
		idx = demands[i].counter;
		if (idx == events[i]->hw.idx)
			continue;
		counters = counters_on(cpuc->pmu, &events[i]->hw, idx);
		event_occupy(cpuc->pmu, cpuc, events[i], idx, counters);
		corepmu_counter_program(cpuc, events[i]);
		if (events[i]->hw.flags & COREPMU_EVENT_FEATURES)
			corepmu_features_moved(cpuc, events[i]);
		if ((restart & BIT_ULL(i)) && !corepmu_stays_stopped(events[i]))
			event_resume(cpuc, events[i], counters);
		corepmu_update_userpage(events[i]);
	}

	return demands[nr - 1].counter;
}

static noinline int find_counter_or_pair(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 free = corepmu_hw_counters(hwc) & ~cpuc->used;

	while (free) {
		int idx = corepmu_first_choice(free);

		if (!(counters_on(cpuc->pmu, hwc, idx) & cpuc->used))
			return idx;
		free &= ~BIT_ULL(idx);
	}

	return place_by_moving(cpuc, event);
}

/* Return a counter for @event, or -EAGAIN if there is no placement of all events. */
static __always_inline int find_counter(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	u64 free = corepmu_hw_counters(&event->hw) & ~cpuc->used;

	if (unlikely(event->hw.flags & COREPMU_EVENT_PAIR))
		return find_counter_or_pair(cpuc, event);

	return likely(free) ? corepmu_first_choice(free) : place_by_moving(cpuc, event);
}

static int corepmu_event_add(struct perf_event *event, int flags)
{
	struct corepmu *pmu = to_corepmu(event->pmu);
	struct corepmu_cpu *cpuc = this_cpu_ptr(pmu->cpu);
	struct hw_perf_event *hwc = &event->hw;
	u64 counters;
	int idx, ret;

	/* Perf core adds a task's event on every CPU that the task runs on. */
	if (unlikely(!pmu->on_all_cpus) &&
	    !cpumask_test_cpu(smp_processor_id(), &pmu->supported_cpus))
		return -ENOENT;

	if (unlikely(hwc->flags & COREPMU_EVENT_FEATURES)) {
		ret = corepmu_features_fit(cpuc, event);
		if (ret)
			return ret;
	}

	idx = find_counter(cpuc, event);
	if (idx < 0)
		return idx;

	/* An event without a counter is stopped: see corepmu_event_init(). */
	counters = counters_on(pmu, hwc, idx);
	event_place(pmu, cpuc, event, idx, counters);
	if (unlikely(hwc->flags & COREPMU_EVENT_FEATURES))
		corepmu_features_add(cpuc, event);

	if (flags & PERF_EF_START)
		event_resume(cpuc, event, counters);
	corepmu_update_userpage(event);

	return 0;
}

static void corepmu_event_del(struct perf_event *event, int flags)
{
	struct corepmu_cpu *cpuc = this_cpuc(event);
	u64 counters = event_counters(event);

	if (!(event->hw.state & PERF_HES_STOPPED)) {
		remove_active(cpuc, counters);
		event_mark_stopped(cpuc, event);
	}
	event_unplace(cpuc, event, counters);
	if (unlikely(event->hw.flags & COREPMU_EVENT_FEATURES))
		corepmu_features_del(cpuc, event);
	corepmu_update_userpage(event);
}

static void corepmu_sched_task(COMPAT_SCHED_TASK_ARGS)
{
	corepmu_features_sched_task(sched_in);
}

/**
 * corepmu_filter() - check whether a CPU belongs to another PMU: pmu.filter of perf core
 * @pmu: the PMU
 * @cpu: the CPU
 *
 * IRQs off.
 *
 * Return: true if the CPU cannot count the PMU's events
 */
bool corepmu_filter(struct pmu *pmu, int cpu)
{
	return !cpumask_test_cpu(cpu, &to_corepmu(pmu)->supported_cpus);
}

/* pmu.filter_match of perf core, before 6.2 */
static int filter_match(struct perf_event *event)
{
	return !corepmu_filter(event->pmu, smp_processor_id());
}

/**
 * corepmu_init_pmu() - initialise a PMU's limits, limiters and struct pmu
 * @pmu: a PMU that is not registered yet, with known counters
 *
 * Process context.
 */
void __corepmu_init corepmu_init_pmu(struct corepmu *pmu)
{
	static const struct hw_perf_event any_event;
	int cpu, idx;

	/* A counter that is set to 0 overflows only after its full range: the minimum is 1. */
	pmu->min_left = max_t(s64, pmu->min_left, 1);
	for_each_possible_cpu(cpu) {
		struct corepmu_cpu *cpuc = per_cpu_ptr(pmu->cpu, cpu);

		cpuc->limiter.min_left = pmu->min_left;
		cpuc->limiter.max_irq_ns = COREPMU_LIMITER_MIN_IRQ_NS;
	}
	for (idx = 0; idx < COREPMU_MAX_COUNTERS; idx++)
		if (pmu->width[idx])
			pmu->value_mask[idx] = GENMASK_ULL(pmu->width[idx] - 1, 0);
	pmu->counting_period = corepmu_counting_period(pmu, &any_event, pmu->counters);
	pmu->perf_pmu = (struct pmu) {
		.module		= THIS_MODULE,
		.task_ctx_nr	= perf_hw_context,
		.attr_groups	= pmu->backend->attr_groups,
		.capabilities	= pmu->backend->capabilities | pmu->capabilities |
				  PERF_PMU_CAP_EXTENDED_HW_TYPE |
				  COMPAT_PMU_CAP_HETEROGENEOUS_CPUS,
		.pmu_enable	= corepmu_enable,
		.pmu_disable	= corepmu_disable,
		.event_init	= corepmu_event_init,
		.add		= corepmu_event_add,
		.del		= corepmu_event_del,
		.start		= corepmu_event_start,
		.stop		= corepmu_event_stop,
		.read		= corepmu_event_read,
		.event_idx	= pmu->backend->event_idx,
		.event_mapped	= corepmu_event_mapped,
		.event_unmapped	= corepmu_event_unmapped,
		.check_period	= corepmu_check_period,
	};
	if (pmu->follows_tasks)
		pmu->perf_pmu.sched_task = corepmu_sched_task;
	pmu->on_all_cpus = cpumask_equal(&pmu->supported_cpus, cpu_possible_mask);
	if (!pmu->on_all_cpus)
		compat_pmu_set_filter(&pmu->perf_pmu, corepmu_filter, filter_match);
	compat_pmu_set_parent(&pmu->perf_pmu, pmu->parent);
}
