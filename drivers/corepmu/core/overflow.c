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
 * The limiter: it keeps overflows of short periods from taking all of a CPU's time.
 *
 * Perf core throttles an event after max_samples_per_tick interrupts in a tick, a limit that the
 * administrator may raise or take away. This one stays. When overflows took more than a third of
 * the last LIMIT_WINDOW_NS, the events that interrupt the most are blamed: their counters are
 * no longer set to overflow after fewer than min_left events. min_left doubles with each such
 * window, and is halved with each in which overflows took less than a twelfth. Counts stay
 * exact, and events that are not blamed keep their periods.
 *
 * Once min_left is LIMIT_LONG_LEFT, what is interrupted gets on between two overflows: min_left is
 * then doubled only if overflows leave less than a quarter of the window. On a slow machine the
 * samples of several events may take half of the time with periods that are not short, and these
 * events keep their periods. It is halved as soon as overflows take less than a third.
 *
 * But on a kernel that checks itself the way out of an interrupt may be longer than LIMIT_LONG_LEFT
 * events. What is interrupted never gets on there, though overflows leave half of the time: the
 * next one comes before the kernel has left the interrupt, or what the tick has the kernel do on
 * its way out takes all that they leave. All of them come in the kernel then, so that if none came
 * in user space during the window min_left is doubled unless they took less than a twelfth, and
 * halved if they took less than half of that. An event that excludes user space never overflows
 * there, nor does one of KVM's guests: where such an event interrupts the most, that no overflow
 * came in user space says nothing, and the bounds are those of above. Not on a kernel that checks
 * itself: there a storm of such events can be what never ends.
 *
 * Overflows of an event with exclude_kernel never keep the kernel from making progress. Nor do they
 * stop user space, if the event's periods are LIMIT_USER_LEFT or more. So the limiter stretches
 * the periods of such an event to LIMIT_USER_LEFT at most. While only such events interrupt often,
 * min_left does not grow from LIMIT_USER_LEFT on.
 *
 * A window ends with an overflow. When one is longer than LIMIT_FORGET_NS next to nothing has come
 * for that long, and what min_left is, was due to events of then: no event is blamed any more.
 *
 * A hypervisor may take the CPU away in the middle of an interrupt, for longer than a window. So
 * an interrupt that takes longer than corepmu_cpu.longest counts as that, and what it took beyond
 * is not part of the window. With each of them longest grows by a half: where all take that long, a
 * dozen are enough. It comes back when interrupts take less than a quarter of it.
 *
 * A third, since the handler does not see what entering and leaving an interrupt takes. With a
 * GICv3 that is more than the handler itself: 52 of 100 instructions on Linux 7.3, measured in a
 * storm that left nothing to the task that it interrupted.
 */
#define LIMIT_WINDOW_NS		(10 * NSEC_PER_MSEC)
#define LIMIT_FORGET_NS		(100 * LIMIT_WINDOW_NS)
#define LIMIT_BUSY		3
#define LIMIT_STARVED		4
#define LIMIT_CALM		12
#define LIMIT_CALM_IN_KERNEL	24
/*
 * corepmu_cpu.longest grows by a half of itself, and shrinks by an eighth with an interrupt that
 * takes less than a quarter of it.
 */
#define LIMIT_LONGEST_GROWS	2
#define LIMIT_LONGEST_SHRINKS	8
#define LIMIT_LONGEST_FAR	4
#define LIMIT_MIN_LEFT		16
#define LIMIT_USER_LEFT		BIT(9)
#define LIMIT_LONG_LEFT		BIT(12)
#define LIMIT_MAX_LEFT		BIT(20)
/* When min_left is so large and overflows still take most of the time, all events are blamed. */
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

/* Return the period to which the limiter stretches shorter ones of @event. */
static s64 limit_of(const struct corepmu_cpu *cpuc, const struct perf_event *event)
{
	s64 least = cpuc->min_left;

	if (event->attr.exclude_kernel)
		least = min_t(s64, least, LIMIT_USER_LEFT);

	return max_t(s64, least, event->hw.extra_reg.alloc);
}

/* Does @event interrupt at least half as often as the event with @most interrupts? */
static bool interrupts_much(struct perf_event *event, u64 most)
{
	return interrupts_of(event) && interrupts_of(event) >= most / 2;
}

/*
 * Blame the event that interrupts most, and all that interrupt at least half as often: their
 * counters are set to overflow after min_left events at least. An inherited event's parent is
 * told too, for events that will be inherited from it. From the overflow interrupt.
 */
static void limit_blame(struct corepmu_cpu *cpuc)
{
	u64 left, most = interrupts_of(most_interrupting(cpuc));
	s64 least;

	for (left = cpuc->active; left; left &= left - 1) {
		struct perf_event *event = cpuc->events[__ffs64(left)];

		if (!event || (cpuc->min_left < LIMIT_ALL_LEFT && !interrupts_much(event, most)))
			continue;
		least = limit_of(cpuc, event);
		event->hw.event_base_rdpmc = least;
		if (event->parent)
			WRITE_ONCE(event->parent->hw.event_base_rdpmc, least);
	}
}

/*
 * Periods are stretched from here on, if the event that interrupts most has one that is shorter
 * than min_left: log which. If the rate limit allows that, limit_ends() logs the end. From
 * the overflow interrupt.
 */
static noinline void limit_begins(struct corepmu_cpu *cpuc)
{
	struct perf_event *blamed = most_interrupting(cpuc);

	if (!blamed || blamed->hw.sample_period >= limit_of(cpuc, blamed))
		return;

	cpuc->limit_begun = true;
	cpuc->limit_told = __ratelimit(&limit_log);
	if (!cpuc->limit_told)
		return;
	pr_notice("CPU%d: overflows take most of the time, of event type %u config %#llx period %llu in %s[%d]: short periods are stretched\n",
		  smp_processor_id(), blamed->attr.type, blamed->attr.config,
		  blamed->hw.sample_period, current->comm, current->tgid);
}

/*
 * Periods are no longer stretched: each event that was blamed has its own again from its next
 * overflow on, see corepmu_counter_limit(). From the overflow interrupt.
 */
static noinline void limit_ends(struct corepmu_cpu *cpuc)
{
	cpuc->limit_begun = false;
	if (!cpuc->limit_told)
		return;

	cpuc->limit_told = false;
	pr_notice("CPU%d: overflows take less time again: periods are no longer stretched\n",
		  smp_processor_id());
}

/*
 * Is what is interrupted in doubt to get on at all? No overflow came in user space, where those of
 * the event that interrupts most could have come, or the kernel is one that may not get on.
 */
static bool is_kept_in_kernel(const struct corepmu_cpu *cpuc)
{
	struct perf_event *most;

	if (cpuc->user_hit || cpuc->min_left < LIMIT_LONG_LEFT)
		return false;
	if (COREPMU_KERNEL_CHECKS_ITSELF)
		return true;
	most = most_interrupting(cpuc);

	return most && !most->attr.exclude_user && !most->attr.exclude_host;
}

/* Overflows take too much of the window */
static bool limit_exceeded(const struct corepmu_cpu *cpuc, u64 window)
{
	return cpuc->busy > window / (is_kept_in_kernel(cpuc) ? LIMIT_CALM : LIMIT_BUSY);
}

/* Do all events that interrupt often have exclude_kernel? */
static bool is_user_alone(const struct corepmu_cpu *cpuc)
{
	u64 left, most = interrupts_of(most_interrupting(cpuc));

	for (left = cpuc->active; left; left &= left - 1) {
		struct perf_event *event = cpuc->events[__ffs64(left)];

		if (interrupts_much(event, most) && !event->attr.exclude_kernel)
			return false;
	}

	return most;
}

/* Overflows took more than is allowed: is min_left to be doubled? */
static bool limit_further(const struct corepmu_cpu *cpuc, u64 window)
{
	if (cpuc->min_left >= LIMIT_USER_LEFT && is_user_alone(cpuc))
		return false;
	if (cpuc->min_left < LIMIT_LONG_LEFT)
		return true;

	return cpuc->min_left < LIMIT_MAX_LEFT &&
	       (is_kept_in_kernel(cpuc) || cpuc->busy > window - window / LIMIT_STARVED);
}

/* Overflows take so little that min_left can be halved */
static bool limit_less(const struct corepmu_cpu *cpuc, u64 window)
{
	unsigned int calm = cpuc->min_left > LIMIT_LONG_LEFT ? LIMIT_BUSY : LIMIT_CALM;

	if (is_kept_in_kernel(cpuc))
		calm = LIMIT_CALM_IN_KERNEL;

	return cpuc->busy < window / calm && cpuc->min_left > cpuc->pmu->min_left;
}

/* An interrupt took longer than corepmu_cpu.longest. Return: what it counts as. */
static noinline u64 limit_cut(struct corepmu_cpu *cpuc, u64 ns)
{
	u64 longest = cpuc->longest;

	cpuc->window += ns - longest;
	cpuc->longest += longest / LIMIT_LONGEST_GROWS;

	return longest;
}

/* Interrupts have taken long: if this one did not, corepmu_cpu.longest shrinks. */
static noinline void limit_believe_less(struct corepmu_cpu *cpuc, u64 ns)
{
	u64 longest = cpuc->longest;

	if (ns < longest / LIMIT_LONGEST_FAR)
		cpuc->longest = max_t(u64, longest - longest / LIMIT_LONGEST_SHRINKS,
				      COREPMU_LIMIT_SHORT_NS);
}

/* Hot: as a rule an interrupt is shorter than COREPMU_LIMIT_SHORT_NS, and so was the one before. */
static void limit_count(struct corepmu_cpu *cpuc, u64 ns)
{
	if (unlikely(ns > cpuc->longest))
		ns = limit_cut(cpuc, ns);
	else if (unlikely(cpuc->longest > COREPMU_LIMIT_SHORT_NS))
		limit_believe_less(cpuc, ns);
	cpuc->busy += ns;
}

/*
 * A window of @window nanoseconds ends: set min_left for the next one. Not inline: every interrupt
 * would save registers for what is done once in a window.
 */
static noinline void limit_rate(struct corepmu_cpu *cpuc, u64 window)
{
	if (window > LIMIT_FORGET_NS) {
		cpuc->min_left = cpuc->pmu->min_left;
		limit_ends(cpuc);
	}

	if (limit_exceeded(cpuc, window)) {
		if (limit_further(cpuc, window))
			cpuc->min_left = max_t(s64, 2 * cpuc->min_left, LIMIT_MIN_LEFT);
		if (!cpuc->limit_begun)
			limit_begins(cpuc);
		limit_blame(cpuc);
	} else if (limit_less(cpuc, window)) {
		cpuc->min_left /= 2;
		if (cpuc->min_left < LIMIT_MIN_LEFT || cpuc->min_left <= cpuc->pmu->min_left) {
			cpuc->min_left = cpuc->pmu->min_left;
			limit_ends(cpuc);
		}
	}

	cpuc->window += window;
	cpuc->busy = 0;
	cpuc->user_hit = false;
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
 * Return: the return value of perf_event_overflow()
 */
noinline int corepmu_emit_with_frequency(struct perf_event *event, struct perf_sample_data *data,
					 struct pt_regs *regs)
{
	struct hw_perf_event *hwc = &event->hw;
	s64 left = local64_read(&hwc->period_left);
	u64 begun = hwc->last_period;
	int stop;

	hwc->last_period = data->period;
	stop = corepmu_perf_event_overflow(event, data, regs);
	if (local64_read(&hwc->period_left) == left)
		hwc->last_period = begun;

	return stop;
}

static __always_inline int emit_shown(struct perf_event *event, struct perf_sample_data *data,
				      struct pt_regs *regs)
{
	if (event->attr.freq)
		return corepmu_emit_with_frequency(event, data, regs);

	return corepmu_perf_event_overflow(event, data, regs);
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

	return emit_shown(event, data, regs);
}

static __always_inline int emit_data(struct perf_event *event, struct perf_sample_data *data,
				     struct pt_regs *regs)
{
	if (event->attr.exclude_kernel && !user_mode(regs) &&
	    !(current->flags & PF_KTHREAD))
		return emit_hidden(event, data, regs);

	return emit_shown(event, data, regs);
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

/*
 * Emit a sample for a period of @period counts, made in @data. Returns whether to stop. Inline:
 * where returns go through a thunk each takes several instructions.
 */
static __always_inline int emit_sample(struct perf_event *event, struct perf_sample_data *data,
				       u64 period, struct pt_regs *regs)
{
	perf_sample_data_init(data, 0, period);
	if (unlikely(event->hw.flags & COREPMU_EVENT_BRANCHES))
		return emit_with_branches(event, data, regs);

	return emit_data(event, data, regs);
}

/**
 * corepmu_aux_has_stopped() - is a sample to have trace data of an event that has been stopped?
 * @event: whose sample it is
 *
 * Perf core stops a group's leader first, and warns of a sample with such data (PERF_SAMPLE_AUX;
 * perf_prepare_sample_aux() in kernel/events/core.c). IRQs off, or NMI.
 *
 * Return: whether it is
 */
bool corepmu_aux_has_stopped(const struct perf_event *event)
{
	const struct perf_event *aux = READ_ONCE(event->aux_event);

	return unlikely(aux) && (event->attr.sample_type & PERF_SAMPLE_AUX) &&
	       READ_ONCE(aux->state) != PERF_EVENT_STATE_ACTIVE;
}

/**
 * corepmu_late_overflow() - emit the sample of an overflow whose interrupt is still to come
 * @cpuc: this CPU's state
 * @event: a sampling event, stopped, whose period has ended
 *
 * The counter overflowed while interrupts were off, and a context switch or a rotation stopped
 * the event before the interrupt could be taken. The sample is emitted now, while current is
 * the task that it belongs to. It shows where the interrupt came that runs now, if one does,
 * and this function's caller otherwise: interrupts have been off since the overflow. The
 * overflow interrupt, when it comes, finds no event on the counter, or one whose period has
 * not ended, and emits nothing. A sample with trace data of an event that has been stopped already
 * comes with the first count after this one has started again, a precise one is left out. IRQs off,
 * or NMI: also from within another event's sample, when perf core throttles a group. So this one is
 * not made in corepmu_cpu.sample.
 */
noinline void corepmu_late_overflow(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct pt_regs *regs = cpuc->regs ?: get_irq_regs();
	struct perf_sample_data data;
	struct pt_regs here;

	/* Few of them are known here, and a sample may show all. */
	if (!regs) {
		here = (struct pt_regs){ };
		perf_fetch_caller_regs(&here);
		regs = &here;
	}

	cpuc->last_late = jiffies;
	if (event->hw.flags & COREPMU_EVENT_PRECISE) {
		corepmu_precise_late(cpuc, event, regs);
		return;
	}
	if (corepmu_aux_has_stopped(event)) {
		corepmu_counter_postpone(&event->hw);
		return;
	}
	emit_sample(event, &data, corepmu_counter_end_period(event), regs);
}

static void overflow_event(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	u64 ended;

	corepmu_counter_update(cpuc, event);
	ended = corepmu_counter_next_period(cpuc, event);
	if (unlikely(!ended) && event->hw.last_cpu == COREPMU_FREQ_YOUNG)
		corepmu_freq_probe(cpuc, event);
	if (event->hw.flags & COREPMU_EVENT_MAPPED)
		perf_event_update_userpage(event);
	if (!ended || !is_sampling_event(event))
		return;

	if (emit_sample(event, &cpuc->sample, ended, cpuc->regs))
		corepmu_event_stop(event, 0);
}

/**
 * corepmu_handle_overflow() - count, reload and sample what overflowed
 * @cpuc: this CPU's state
 * @overflowed: counters that overflowed, already acknowledged
 *
 * Between corepmu_overflow_begin() and corepmu_overflow_end(); several times if counters
 * overflow meanwhile.
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
 * corepmu_overflow_excuse() - keep from the limiter what this interrupt has taken so far
 * @cpuc: this CPU's state
 *
 * For an interrupt after many precise samples that the hardware has gathered: it takes long,
 * but does not come often. From the overflow interrupt, once.
 */
void corepmu_overflow_excuse(struct corepmu_cpu *cpuc)
{
	/* limit_count() adds it all, but no more than longest. */
	cpuc->busy -= min(sched_clock() - cpuc->overflow_start, cpuc->longest);
}

/**
 * corepmu_overflow_end() - the overflow interrupt has been dealt with: start the PMU
 * @cpuc: this CPU's state
 * @ours: the PMU raised it, even if an earlier interrupt has handled its overflow
 *
 * The limiter is told how long each of the PMU's interrupts took, including the backend's
 * register accesses, which a hypervisor may have to emulate. Perf core keeps an average of what
 * a sample takes: it is told of interrupts that handled an event. From the overflow
 * interrupt: IRQs off, or NMI.
 */
void corepmu_overflow_end(struct corepmu_cpu *cpuc, bool ours)
{
	u64 end, took;

	cpuc->user_hit |= user_mode(cpuc->regs);
	cpuc->regs = NULL;
	if (cpuc->overflow_resume)
		corepmu_start_cpu(cpuc);
	if (!ours)
		return;

	end = sched_clock();
	took = end - cpuc->overflow_start;
	limit_count(cpuc, took);
	if (end - cpuc->window >= LIMIT_WINDOW_NS)
		limit_rate(cpuc, end - cpuc->window);
	if (cpuc->overflow_handled)
		corepmu_perf_sample_event_took(took);
}
