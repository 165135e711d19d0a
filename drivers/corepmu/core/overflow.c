// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: handling of an overflow, the part that all backends share
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/jiffies.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include <asm/irq_regs.h>
#include <asm/ptrace.h>

#include <corepmu/counter.h>
#include <corepmu/features.h>
#include <corepmu/ksyms.h>
#include <corepmu/limiter.h>
#include <corepmu/overflow.h>
#include <corepmu/pmu.h>

/*
 * Registers of user space at address 0, for a sample whose address in user space is unknown. Not
 * const only because perf core's functions take non-const registers: nothing writes them.
 */
struct pt_regs corepmu_no_user_regs = {
#ifdef CONFIG_X86
	.cs = __USER_CS,
	.ss = __USER_DS,
#endif
};

/**
 * corepmu_saved_user_regs() - find the registers with which current entered the kernel
 *
 * A kernel thread, a worker of io_uring, and a user-mode helper before its exec have not been in
 * user space. Any context.
 *
 * Return: the registers, or corepmu_no_user_regs if current has not been in user space
 */
struct pt_regs *corepmu_saved_user_regs(void)
{
	struct pt_regs *regs = task_pt_regs(current);

	return (current->flags & PF_KTHREAD) || !user_mode(regs) ? &corepmu_no_user_regs : regs;
}

/**
 * corepmu_emit_with_frequency() - hand the sample of an event with a frequency to perf core
 * @event: the event; its next period has begun
 * @data: the sample, with the period that has ended
 * @regs: the registers that the sample shows
 *
 * Perf core adjusts the period by the time that hw.last_period took
 * (__perf_event_account_interrupt() in kernel/events/core.c). So hw.last_period is the ended
 * period while perf core runs, and then the new period again. But if perf core has restarted the
 * event to shorten its period, hw.last_period is up to date already. A restart shows in
 * period_left, which drops to an eighth or less. IRQs off, or NMI.
 *
 * Return: as corepmu_emit()
 */
noinline int corepmu_emit_with_frequency(struct perf_event *event, struct perf_sample_data *data,
					 struct pt_regs *regs)
{
	struct hw_perf_event *hwc = &event->hw;
	s64 left = local64_read(&hwc->period_left);
	u64 begun = hwc->last_period;
	int stop;

	hwc->last_period = data->period;
	stop = corepmu_emit(event, data, regs);
	if (local64_read(&hwc->period_left) == left)
		hwc->last_period = begun;

	return stop;
}

/*
 * A sample passes these functions: emit_sample(); emit_with_features() if the event has features;
 * emit_filtered(); emit_without_kernel() if the event excludes the interrupted kernel code;
 * emit_regs(); corepmu_emit().
 */
static __always_inline int emit_regs(struct perf_event *event, struct perf_sample_data *data,
				     struct pt_regs *regs)
{
	if (event->attr.freq)
		return corepmu_emit_with_frequency(event, data, regs);

	return corepmu_emit(event, data, regs);
}

/*
 * Emit the sample of an event with exclude_kernel if the interrupt came late, in the kernel. The
 * sample must not show the kernel: it shows where the task left user space. If the CPU has since
 * switched to a task without user space, no place is known: the sample shows user space, with IP 0.
 * Not inline: with CONFIG_INIT_STACK_ALL_ZERO every sample would clear these registers.
 */
static noinline int emit_without_kernel(struct perf_event *event, struct perf_sample_data *data,
					struct pt_regs *regs)
{
	const struct corepmu_backend *backend = to_corepmu(event->pmu)->backend;
	struct pt_regs entering;

	if (backend->entering_regs && backend->entering_regs(regs, &entering))
		regs = &entering;
	else
		regs = corepmu_saved_user_regs();

	return emit_regs(event, data, regs);
}

static __always_inline int emit_filtered(struct perf_event *event, struct perf_sample_data *data,
					 struct pt_regs *regs)
{
	if (event->attr.exclude_kernel && !user_mode(regs))
		return emit_without_kernel(event, data, regs);

	return emit_regs(event, data, regs);
}

static noinline int emit_with_features(struct perf_event *event, struct perf_sample_data *data,
				       struct pt_regs *regs)
{
	struct corepmu_cpu *cpuc = this_cpu_ptr(to_corepmu(event->pmu)->cpu);
	int stop;

	corepmu_features_sample(cpuc, event, data);
	stop = emit_filtered(event, data, regs);
	corepmu_features_sample_end(cpuc);

	return stop;
}

/*
 * Emit a sample for a period of @period counts. @data: buffer for the sample. Return whether to
 * stop the event. Inline: with return thunks each call and return costs several instructions.
 */
static __always_inline int emit_sample(struct perf_event *event, struct perf_sample_data *data,
				       u64 period, struct pt_regs *regs)
{
	perf_sample_data_init(data, 0, period);
	if (unlikely(event->hw.flags & COREPMU_EVENT_SAMPLED))
		return emit_with_features(event, data, regs);

	return emit_filtered(event, data, regs);
}

/**
 * corepmu_late_overflow() - emit the sample of an overflow before its interrupt comes
 * @cpuc: this CPU's state
 * @event: a stopped sampling event with an ended period
 *
 * The counter overflowed while interrupts were off. A context switch or a rotation then stopped the
 * event, before the CPU could take the interrupt. This function emits the sample while current is
 * still the task that the sample belongs to. The sample shows the registers that the current
 * interrupt interrupted. Outside of an interrupt the sample shows this function's caller:
 * interrupts have been off since the overflow. On x86 the sample also shows the caller in a
 * function call from another CPU and in an irq_work: the handlers of these IPIs do not call
 * set_irq_regs(). The overflow interrupt comes later, and emits nothing: its handler finds no event
 * on the counter, or an event with a period that has not ended.
 *
 * An early overflow of a young event emits no sample (core/frequency.c).
 *
 * The event's first count after its next start emits the sample in two cases:
 * - The sample needs trace data of a stopped event. A precise sample of that kind is dropped.
 * - Perf core throttles the event's group, from within another event's sample (from Linux 6.16 on).
 *   A sample here would nest in that one, on the small stack of an NMI. If perf core allows one
 *   sample a tick, it would throttle the group again: the samples of all members would nest.
 *
 * IRQs off, or NMI. An NMI may use corepmu_cpu.sample meanwhile: this sample has a buffer of its
 * own.
 */
noinline void corepmu_late_overflow(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct pt_regs *regs = cpuc->regs ?: get_irq_regs();
	struct perf_sample_data data;
	struct pt_regs here;

	/* perf_fetch_caller_regs() sets few registers: clear the others, a sample may show all. */
	if (!regs) {
		here = (struct pt_regs){ };
		perf_fetch_caller_regs(&here);
		regs = &here;
	}

	cpuc->last_late = jiffies;
	if ((event->hw.flags & COREPMU_EVENT_FEATURES) && corepmu_features_late(cpuc, event, regs))
		return;
	if (corepmu_is_throttled(event) || corepmu_aux_has_stopped(event)) {
		corepmu_counter_postpone(&event->hw);
		return;
	}
	if (corepmu_freq_extend(event))
		return;
	emit_sample(event, &data, corepmu_counter_end_period(event), regs);
}

/*
 * Handle an overflow of an event that only counts: load the next period. The code of
 * corepmu_counter_next_period(), which is inline, would be larger here.
 */
static noinline void overflow_counting(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if (unlikely(corepmu_hw_min_period(&event->hw) > cpuc->pmu->min_left))
		corepmu_counter_limit(cpuc, event);
	corepmu_counter_prepare(cpuc, event);
	if (event->hw.flags & COREPMU_EVENT_MAPPED)
		corepmu_update_userpage(event);
}

static void overflow_event(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	u64 ended;

	corepmu_counter_update(cpuc, event);
	if (unlikely(!is_sampling_event(event))) {
		overflow_counting(cpuc, event);
		return;
	}
	if (unlikely(corepmu_hw_is_young(&event->hw)))
		ended = corepmu_freq_next_period(cpuc, event);
	else
		ended = corepmu_counter_next_period(cpuc, event);
	if (event->hw.flags & COREPMU_EVENT_MAPPED)
		corepmu_update_userpage(event);
	if (ended && emit_sample(event, &cpuc->sample, ended, cpuc->regs))
		corepmu_event_stop(event, 0);
}

/**
 * corepmu_handle_overflow() - update, reload and sample the events of overflowed counters
 * @cpuc: this CPU's state
 * @overflowed: mask of counters that overflowed; the backend has acknowledged the overflows
 *
 * Between corepmu_overflow_begin() and corepmu_overflow_end(), once for each set of overflows that
 * the backend finds.
 */
void corepmu_handle_overflow(struct corepmu_cpu *cpuc, u64 overflowed)
{
	for (overflowed &= cpuc->active; overflowed; overflowed &= overflowed - 1) {
		struct perf_event *event = *corepmu_event_on(cpuc, __ffs64(overflowed));

		/* The lower counter of a pair, or a counter of the self-test */
		if (unlikely(!event)) {
			cpuc->stray |= overflowed & -overflowed;
			continue;
		}
		/* Perf core has stopped the event, from another sample. */
		if (event->hw.state & PERF_HES_STOPPED)
			continue;

		overflow_event(cpuc, event);
	}
}
