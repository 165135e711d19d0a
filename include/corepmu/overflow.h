/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: overflow interrupts, and events with a frequency
 */
#ifndef _COREPMU_OVERFLOW_H
#define _COREPMU_OVERFLOW_H

#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/static_call.h>
#include <linux/types.h>

#include <asm/ptrace.h>

#include <corepmu/ksyms.h>
#include <corepmu/limiter.h>
#include <corepmu/pmu.h>

/**
 * corepmu_overflow_begin() - stop the PMU at the start of an overflow interrupt
 * @cpuc: this CPU's state
 * @regs: the interrupted registers
 *
 * Nothing counts until corepmu_overflow_end(): no event counts the handler, and the events of a
 * group count the same instructions. This function stops the PMU even if corepmu_cpu.running is
 * false: CPU A clears running in corepmu_stop_cpu(), and an NMI comes before CPU A has stopped the
 * counters. Without the stop here, the NMI would lose counts between its read and its write of a
 * counter. From the overflow interrupt, before the backend reads the overflow status: IRQs off, or
 * NMI.
 */
static inline void corepmu_overflow_begin(struct corepmu_cpu *cpuc, struct pt_regs *regs)
{
	cpuc->overflow_start = sched_clock();
	cpuc->overflow_resume = cpuc->running;
	cpuc->regs = regs;
	cpuc->running = false;
	barrier();
	static_call(corepmu_disable_counters)(cpuc);
	if (unlikely(cpuc->features))
		corepmu_features_interrupt(cpuc);
}

/**
 * corepmu_overflow_end() - restart the PMU at the end of an overflow interrupt
 * @cpuc: this CPU's state
 * @ours: the PMU raised the interrupt, even if an earlier interrupt has handled its overflow
 * @overflowed: counters have overflowed
 *
 * The limiter accounts the time of every interrupt that the PMU raised, including the backend's
 * register accesses, which a hypervisor may emulate. Perf core averages the time of interrupts with
 * an overflow. From the overflow interrupt: IRQs off, or NMI.
 */
static __always_inline void corepmu_overflow_end(struct corepmu_cpu *cpuc, bool ours,
						 bool overflowed)
{
	bool user = user_mode(cpuc->regs);
	u64 end, took;

	cpuc->regs = NULL;
	if (cpuc->overflow_resume)
		corepmu_start_cpu(cpuc);
	if (!ours)
		return;

	cpuc->limiter.user_hit |= user;
	end = sched_clock();
	took = end - cpuc->overflow_start;
	corepmu_limiter_account(&cpuc->limiter, took);
	if (end - cpuc->limiter.window >= COREPMU_LIMITER_WINDOW_NS)
		corepmu_limiter_end_window(cpuc, end - cpuc->limiter.window);
	if (overflowed)
		corepmu_perf_sample_event_took(took);
}

/**
 * corepmu_aux_has_stopped() - check whether a sample needs trace data of a stopped event
 * @event: the event of the sample
 *
 * With PERF_SAMPLE_AUX the sample has trace data of its group's leader. Perf core stops the leader
 * first, and warns of such a sample if the leader is stopped (perf_prepare_sample_aux() in
 * kernel/events/core.c). IRQs off, or NMI.
 *
 * Return: true if perf core would warn
 */
static inline bool corepmu_aux_has_stopped(const struct perf_event *event)
{
	const struct perf_event *aux = READ_ONCE(event->aux_event);

	return unlikely(aux) && (event->attr.sample_type & PERF_SAMPLE_AUX) &&
	       READ_ONCE(aux->state) != PERF_EVENT_STATE_ACTIVE;
}

/* Check whether perf core has marked the event as throttled (MAX_INTERRUPTS there). */
static inline bool corepmu_is_throttled(const struct perf_event *event)
{
	return event->hw.interrupts == U64_MAX;
}

/*
 * Check whether an event that the driver has stopped for a moment must stay stopped. In the stop's
 * late sample, perf core may have throttled the event: a tick starts it again. Or that sample was
 * the last one that PERF_EVENT_IOC_REFRESH allows: an irq_work is about to disable the event.
 */
static inline bool corepmu_stays_stopped(const struct perf_event *event)
{
	return corepmu_is_throttled(event) || READ_ONCE(event->pending_disable);
}

/**
 * corepmu_emit() - hand a sample to perf core
 * @event: the event
 * @data: the sample
 * @regs: the registers that the sample shows
 *
 * From Linux 6.16 on perf core throttles a whole group: perf core marks each event (MAX_INTERRUPTS
 * in hw.interrupts), and then stops the event. The stop of a precise event may emit its records.
 * Then perf_event_overflow() counts an interrupt, which replaces the mark by 0 or 1. A tick starts
 * the group again only if the leader is marked (perf_adjust_freq_unthr_events() in
 * kernel/events/core.c). So this function keeps the mark.
 *
 * A marked event may still count: perf core throttled the event while the driver was starting it or
 * setting its counter. The next sample of such an event stops it. IRQs off, or NMI.
 *
 * Return: true if the caller must stop the event
 */
static __always_inline bool corepmu_emit(struct perf_event *event, struct perf_sample_data *data,
					 struct pt_regs *regs)
{
	bool is_throttled = corepmu_is_throttled(event);
	bool stop = corepmu_perf_event_overflow(event, data, regs);

	if (likely(!is_throttled))
		return stop;

	event->hw.interrupts = U64_MAX;
	return true;
}

/* core/overflow.c */
extern struct pt_regs corepmu_no_user_regs;
struct pt_regs *corepmu_saved_user_regs(void);
void corepmu_handle_overflow(struct corepmu_cpu *cpuc, u64 overflowed);
int corepmu_emit_with_frequency(struct perf_event *event, struct perf_sample_data *data,
				struct pt_regs *regs);
void corepmu_late_overflow(struct corepmu_cpu *cpuc, struct perf_event *event);

/* core/frequency.c */
void corepmu_freq_open(struct perf_event *event);
s64 corepmu_freq_find(struct perf_event *event);
bool corepmu_freq_extend(struct perf_event *event);
u64 corepmu_freq_next_period(struct corepmu_cpu *cpuc, struct perf_event *event);
s64 corepmu_freq_restart(struct perf_event *event);

#endif /* _COREPMU_OVERFLOW_H */
