// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: what one overflow does, the same for every backend
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/time64.h>

#include <asm/irq_regs.h>
#include <asm/ptrace.h>

#include <corepmu/counter.h>
#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

/*
 * Perf core throttles an event after max_samples_per_tick interrupts in a tick.
 * That limit is the administrator's to raise or to take away; this one is not.
 * When more than half of a window went into overflows, those events are blamed that
 * interrupt the most: their counters are no longer set to overflow within less than min_left
 * events, and min_left doubles from window to window until less than an eighth of one goes
 * into overflows. Counts stay exact, and other events have the periods that they ask for.
 */
#define LIMIT_WINDOW_NS		(10 * NSEC_PER_MSEC)
#define LIMIT_MIN_LEFT		16
#define LIMIT_MAX_LEFT		BIT(20)
/* If overflows take most of the time even then, all events are blamed. */
#define LIMIT_ALL_LEFT		BIT(17)

static DEFINE_RATELIMIT_STATE(limit_log, 60 * HZ, 10);

/*
 * The interrupts of an event in this tick, which perf core counts, or in the last tick in
 * which it had any
 */
static u64 interrupts_of(struct perf_event *event)
{
	return event && is_sampling_event(event) ? event->hw.interrupts : 0;
}

static struct perf_event *most_interrupting(const struct corepmu_cpu *cpuc)
{
	struct perf_event *most = NULL;
	u64 left;

	for (left = cpuc->active; left; left &= left - 1) {
		struct perf_event *event = cpuc->events[__ffs64(left)];

		if (interrupts_of(event) > interrupts_of(most))
			most = event;
	}

	return most;
}

/*
 * Those that interrupt half as often as the one that does most have their periods stretched, and
 * others that will be inherited from the same parent. From the overflow interrupt.
 */
static void limit_blame(struct corepmu_cpu *cpuc)
{
	u64 left, most = interrupts_of(most_interrupting(cpuc));

	for (left = cpuc->active; left; left &= left - 1) {
		struct perf_event *event = cpuc->events[__ffs64(left)];

		if (!event || (cpuc->min_left < LIMIT_ALL_LEFT &&
			       (!interrupts_of(event) || interrupts_of(event) < most / 2)))
			continue;
		event->hw.event_base_rdpmc = cpuc->min_left;
		if (event->parent)
			WRITE_ONCE(event->parent->hw.event_base_rdpmc, cpuc->min_left);
	}
}

/*
 * Periods are stretched from here on: tell of the event that interrupts most. Whoever was
 * told of the beginning is told of the end, see limit_ends(). From the overflow interrupt.
 */
static noinline void limit_begins(struct corepmu_cpu *cpuc)
{
	struct perf_event *blamed = most_interrupting(cpuc);

	if (!blamed || !__ratelimit(&limit_log))
		return;

	cpuc->limit_told = true;
	pr_notice("CPU%d: overflows take most of the time, of event type %u config %#llx period %llu in %s[%d]: short periods are stretched\n",
		  smp_processor_id(), blamed->attr.type, blamed->attr.config,
		  blamed->hw.sample_period, current->comm, current->tgid);
}

/*
 * Periods are as events ask for again: each learns of it with its next overflow. From the
 * overflow interrupt.
 */
static noinline void limit_ends(struct corepmu_cpu *cpuc)
{
	if (!cpuc->limit_told)
		return;

	cpuc->limit_told = false;
	pr_notice("CPU%d: overflows take less time again: periods are no longer stretched\n",
		  smp_processor_id());
}

static void limit_rate(struct corepmu_cpu *cpuc, u64 start, u64 end)
{
	u64 window = end - cpuc->window;
	s64 lowest;

	cpuc->busy += end - start;
	if (window < LIMIT_WINDOW_NS)
		return;

	lowest = cpuc->pmu->min_left;
	if (cpuc->busy > window / 2) {
		if (cpuc->min_left == lowest)
			limit_begins(cpuc);
		if (cpuc->min_left < LIMIT_MAX_LEFT)
			cpuc->min_left = max_t(s64, 2 * cpuc->min_left, LIMIT_MIN_LEFT);
		limit_blame(cpuc);
	} else if (cpuc->busy < window / 8 && cpuc->min_left > lowest) {
		cpuc->min_left /= 2;
		if (cpuc->min_left < LIMIT_MIN_LEFT || cpuc->min_left <= lowest) {
			cpuc->min_left = lowest;
			limit_ends(cpuc);
		}
	}

	cpuc->window = end;
	cpuc->busy = 0;
}

/*
 * An interrupt that comes late, after the kernel has been entered, must not show the
 * kernel to an event that excludes it: its sample shows where the task left user space.
 * Not inline: with CONFIG_INIT_STACK_ALL_ZERO every sample would clear these registers.
 */
static noinline int emit_hidden(struct perf_event *event, struct perf_sample_data *data,
				struct pt_regs *regs)
{
	const struct corepmu_backend *backend = to_corepmu(event->pmu)->backend;
	struct pt_regs entering;

	if (backend->entering_regs && backend->entering_regs(regs, &entering))
		regs = &entering;
	else
		regs = task_pt_regs(current);

	return corepmu_perf_event_overflow(event, data, regs);
}

static int emit_data(struct perf_event *event, struct perf_sample_data *data,
		     struct pt_regs *regs)
{
	if (event->attr.exclude_kernel && !user_mode(regs) &&
	    !(current->flags & PF_KTHREAD))
		return emit_hidden(event, data, regs);

	return corepmu_perf_event_overflow(event, data, regs);
}

static noinline int emit_with_branches(struct perf_event *event, struct perf_sample_data *data,
				       struct pt_regs *regs)
{
	struct corepmu_cpu *cpuc = this_cpu_ptr(to_corepmu(event->pmu)->cpu);
	int stop;

	corepmu_branch_sample(cpuc, event, data);
	stop = emit_data(event, data, regs);
	corepmu_branch_sample_end(cpuc);

	return stop;
}

/* Emit a sample for a period of @period counts. Returns whether to stop. */
static int emit_sample(struct perf_event *event, u64 period, struct pt_regs *regs)
{
	struct perf_sample_data data;

	perf_sample_data_init(&data, 0, period);
	if (unlikely(event->hw.flags & COREPMU_EVENT_BRANCHES))
		return emit_with_branches(event, &data, regs);

	return emit_data(event, &data, regs);
}

/**
 * corepmu_late_overflow() - the sample of an event that is stopped too early
 * @cpuc: this CPU's state
 * @event: a sampling event, stopped, whose period has ended
 *
 * The counter overflowed while interrupts were off, and its event was stopped,
 * by a context switch or a rotation, before the interrupt could be taken. The
 * sample is emitted now, while current is the task that it belongs to. Its place is where
 * the interrupted context was, or this one: interrupts have been off since the overflow.
 * When the interrupt comes it finds no event, or one whose period has not ended, and emits
 * nothing. IRQs off, or NMI.
 */
noinline void corepmu_late_overflow(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct pt_regs *regs = cpuc->regs ?: get_irq_regs();
	u64 period = event->hw.last_period;
	struct pt_regs here;

	if (!regs) {
		perf_fetch_caller_regs(&here);
		regs = &here;
	}

	cpuc->last_late = jiffies;
	if (event->hw.flags & COREPMU_EVENT_PRECISE) {
		corepmu_precise_late(cpuc, event, regs);
		return;
	}
	corepmu_counter_end_period(event);
	emit_sample(event, period, regs);
}

static void overflow_event(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	/* The period that has ended: corepmu_counter_next_period() sets the next one. */
	u64 period = event->hw.last_period;
	bool ended;

	corepmu_counter_update(cpuc, event);
	ended = corepmu_counter_next_period(cpuc, event);
	if (event->hw.flags & COREPMU_EVENT_MAPPED)
		perf_event_update_userpage(event);
	if (!ended || !is_sampling_event(event))
		return;

	if (emit_sample(event, period, cpuc->regs))
		corepmu_event_stop(event, 0);
}

/**
 * corepmu_handle_overflow() - count, reload and sample what overflowed
 * @cpuc: this CPU's state
 * @overflowed: counters that overflowed, already acknowledged
 *
 * Between corepmu_overflow_begin() and corepmu_overflow_end(), as often as it takes.
 */
void corepmu_handle_overflow(struct corepmu_cpu *cpuc, u64 overflowed)
{
	cpuc->stray |= overflowed & ~cpuc->used;

	for (overflowed &= cpuc->active; overflowed; overflowed &= overflowed - 1) {
		struct perf_event *event = cpuc->events[__ffs64(overflowed)];

		/* The lower counter of a pair, or an event that another's sample has stopped. */
		if (!event || (event->hw.state & PERF_HES_STOPPED))
			continue;

		overflow_event(cpuc, event);
		cpuc->overflow_handled++;
	}
}

/**
 * corepmu_overflow_excuse() - the limiter is not to count what this interrupt took so far
 * @cpuc: this CPU's state
 *
 * There was a long way to it: the CPU gets on, however many samples are made of it. From the
 * overflow interrupt, once.
 */
void corepmu_overflow_excuse(struct corepmu_cpu *cpuc)
{
	/* limit_rate() adds it all. */
	cpuc->busy -= sched_clock() - cpuc->overflow_start;
}

/**
 * corepmu_overflow_end() - the overflow interrupt has been dealt with: start the PMU
 * @cpuc: this CPU's state
 * @ours: it was the PMU's, even if an earlier one has dealt with its overflow
 *
 * The limiter is told how long each of the PMU's interrupts took, with the register
 * accesses of the backend, which a hypervisor may have to emulate. Perf core's average is
 * one of samples, and is told of interrupts that an event was handled in. From the
 * overflow interrupt: IRQs off, or NMI.
 */
void corepmu_overflow_end(struct corepmu_cpu *cpuc, bool ours)
{
	u64 end;

	cpuc->regs = NULL;
	if (cpuc->overflow_resume)
		corepmu_start_cpu(cpuc);
	if (!ours)
		return;

	end = sched_clock();
	limit_rate(cpuc, cpuc->overflow_start, end);
	if (cpuc->overflow_handled)
		corepmu_perf_sample_event_took(end - cpuc->overflow_start);
}
