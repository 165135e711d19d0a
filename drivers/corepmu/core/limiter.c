// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: the limiter: keep overflows of short periods from taking all of a CPU's time
 *
 * Perf core throttles an event after max_samples_per_tick interrupts in a tick. The administrator
 * may raise that limit or remove it; the limiter remains. It judges windows of 10 ms. If overflows
 * took too much of a window, it throttles the events that interrupt most: their counters are set to
 * overflow after min_left counts at least. Counts stay exact, and other events keep their periods
 * until min_left reaches LIMITER_ALL_LEFT. The limits are parts of a window that overflows took:
 *
 *   min_left                            throttles   min_left        min_left is
 *                                       above       doubles above   halved below
 *   less than LIMITER_LONG_LEFT         1/3         1/3             1/12
 *   LIMITER_LONG_LEFT                   1/3         3/4             1/12
 *   more, up to LIMITER_MAX_LEFT        1/3         3/4             1/3
 *   LIMITER_LONG_LEFT or more, and no   1/12        1/12            1/24
 *   overflow came in user space
 *
 * Why a third: the handler does not see the entry to an interrupt and its exit. With a GICv3 these
 * take longer than the handler: 52 of each 100 instructions on Linux 7.3, while overflows left no
 * time to the interrupted task.
 *
 * Why three quarters: from LIMITER_LONG_LEFT on the interrupted code makes progress between two
 * overflows. On a slow machine the samples of several events with long periods may take half of the
 * time: these events keep their periods.
 *
 * Why the last line: on a debug kernel LIMITER_LONG_LEFT counts may pass before the kernel has left
 * the interrupt. The interrupted code then makes no progress although overflows leave half of the
 * time, and all overflows come in the kernel. Overflows of an event with exclude_user or
 * exclude_host never come in user space. If such an event interrupts most, the last line does not
 * apply, except on a debug kernel.
 *
 * Overflows of an event with exclude_kernel never keep the kernel from making progress, nor user
 * space if the event's periods are LIMITER_USER_LEFT or more. The limiter stretches the periods of
 * such an event to LIMITER_USER_LEFT at most. While only such events interrupt often, min_left does
 * not grow from LIMITER_USER_LEFT on.
 *
 * A window ends with an overflow. After a window longer than LIMITER_FORGET_NS min_left is out of
 * date: the limiter resets it and throttles no event.
 *
 * A hypervisor may take the CPU away during an interrupt, for longer than a window. The limiter
 * counts only max_irq_ns of an interrupt that takes longer, and moves the start of the window by
 * the rest: the rest counts neither as busy nor as idle. max_irq_ns grows by a half each time:
 * where all interrupts take that long, a dozen are enough. It shrinks when interrupts take less
 * than a quarter of it.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>

#include <corepmu/limiter.h>
#include <corepmu/pmu.h>

#define LIMITER_FORGET_NS	(100 * COREPMU_LIMITER_WINDOW_NS)
/* max_irq_ns grows by 1/2, and shrinks by 1/8 with an interrupt that takes less than 1/4 of it. */
#define LIMITER_IRQ_GROWS	2
#define LIMITER_IRQ_SHRINKS	8
#define LIMITER_IRQ_SHORT	4
/* Counts: values of min_left */
#define LIMITER_MIN_LEFT	16
#define LIMITER_USER_LEFT	BIT(9)
#define LIMITER_LONG_LEFT	BIT(12)
#define LIMITER_MAX_LEFT	BIT(20)
/* From this min_left on, the limiter throttles all events. */
#define LIMITER_ALL_LEFT	BIT(17)

static DEFINE_RATELIMIT_STATE(limiter_log, 60 * HZ, 10);

/* Return perf core's interrupt count of the event's most recent tick. */
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

/* Return the minimum period of @event: the limiter stretches shorter periods to it. */
static s64 limiter_min_period(const struct corepmu_cpu *cpuc, const struct perf_event *event)
{
	s64 least = cpuc->limiter.min_left;

	if (event->attr.exclude_kernel)
		least = min_t(s64, least, LIMITER_USER_LEFT);

	return max_t(s64, least, corepmu_hw_period_floor(&event->hw));
}

/* Check whether @event interrupts at least half as often as the event with @most interrupts. */
static bool interrupts_much(struct perf_event *event, u64 most)
{
	return interrupts_of(event) && interrupts_of(event) >= most / 2;
}

/*
 * Throttle the event that interrupts most, and all that interrupt at least half as often: their
 * counters are set to overflow after min_left counts at least. The parent of an inherited event
 * gets the same minimum, for events that will be inherited from it. From the overflow interrupt.
 */
static void limiter_throttle(struct corepmu_cpu *cpuc)
{
	u64 left, most = interrupts_of(most_interrupting(cpuc));
	s64 least;

	for (left = cpuc->active; left; left &= left - 1) {
		struct perf_event *event = cpuc->events[__ffs64(left)];

		if (!event || (cpuc->limiter.min_left < LIMITER_ALL_LEFT &&
			       !interrupts_much(event, most)))
			continue;
		least = limiter_min_period(cpuc, event);
		corepmu_hw_set_min_period(&event->hw, least);
		if (event->parent)
			corepmu_hw_set_min_period(&event->parent->hw, least);
	}
}

/*
 * If the event that interrupts most has a period shorter than min_left, periods are stretched from
 * here on: log that event. limiter_log_end() logs the end only if this message passed the rate
 * limit. From the overflow interrupt.
 */
static noinline void limiter_log_begin(struct corepmu_cpu *cpuc)
{
	struct perf_event *throttled = most_interrupting(cpuc);

	if (!throttled || throttled->hw.sample_period >= limiter_min_period(cpuc, throttled))
		return;

	cpuc->limiter.is_raised = true;
	cpuc->limiter.is_logged = __ratelimit(&limiter_log);
	if (!cpuc->limiter.is_logged)
		return;
	pr_notice("CPU%d: overflows of event type %u config %#llx period %llu in %s[%d] take most of the time: short periods are stretched; use a longer period\n",
		  smp_processor_id(), throttled->attr.type, throttled->attr.config,
		  throttled->hw.sample_period, current->comm, current->tgid);
}

/*
 * Log that the limiter stretches no more periods. From its next overflow on each throttled event
 * has its own period again, see corepmu_counter_limit(). From the overflow interrupt.
 */
static noinline void limiter_log_end(struct corepmu_cpu *cpuc)
{
	cpuc->limiter.is_raised = false;
	if (!cpuc->limiter.is_logged)
		return;

	cpuc->limiter.is_logged = false;
	pr_notice("CPU%d: overflows take less time again: periods are no longer stretched\n",
		  smp_processor_id());
}

/*
 * Check whether the interrupted kernel code may make no progress at all. The conditions: min_left
 * is LIMITER_LONG_LEFT or more, and no overflow came in user space. Except on a debug kernel, the
 * event that interrupts most must also count user space.
 */
static noinline bool may_hang_kernel(const struct corepmu_cpu *cpuc)
{
	struct perf_event *most;

	if (cpuc->limiter.user_hit || cpuc->limiter.min_left < LIMITER_LONG_LEFT)
		return false;
	if (COREPMU_KERNEL_CHECKS_ITSELF)
		return true;
	most = most_interrupting(cpuc);

	return most && !most->attr.exclude_user && !most->attr.exclude_host;
}

/*
 * Check whether overflows took so much of the window that the limiter throttles events. This
 * function, limiter_may_raise() and limiter_may_relax() are the columns of the table above.
 */
static bool limiter_throttles(const struct corepmu_cpu *cpuc, u64 window)
{
	return cpuc->limiter.busy_ns > window / (may_hang_kernel(cpuc) ? 12 : 3);
}

/* Check whether all events that interrupt often have exclude_kernel. */
static bool only_user_events_interrupt(const struct corepmu_cpu *cpuc)
{
	u64 left, most = interrupts_of(most_interrupting(cpuc));

	for (left = cpuc->active; left; left &= left - 1) {
		struct perf_event *event = cpuc->events[__ffs64(left)];

		if (interrupts_much(event, most) && !event->attr.exclude_kernel)
			return false;
	}

	return most;
}

/* After a window of which overflows took too much: check whether min_left doubles. */
static bool limiter_may_raise(const struct corepmu_cpu *cpuc, u64 window)
{
	const struct corepmu_limiter *limiter = &cpuc->limiter;

	if (limiter->min_left >= LIMITER_USER_LEFT && only_user_events_interrupt(cpuc))
		return false;
	if (limiter->min_left < LIMITER_LONG_LEFT)
		return true;

	return limiter->min_left < LIMITER_MAX_LEFT &&
	       (may_hang_kernel(cpuc) || limiter->busy_ns > window - window / 4);
}

/* Check whether overflows took so little of the window that min_left is halved. */
static bool limiter_may_relax(const struct corepmu_cpu *cpuc, u64 window)
{
	const struct corepmu_limiter *limiter = &cpuc->limiter;
	unsigned int part = limiter->min_left > LIMITER_LONG_LEFT ? 3 : 12;

	if (may_hang_kernel(cpuc))
		part = 24;

	return limiter->busy_ns < window / part && limiter->min_left > cpuc->pmu->min_left;
}

/*
 * Shorten the time of an interrupt that took longer than max_irq_ns. Return the time to account for
 * the interrupt.
 */
static u64 limiter_clamp(struct corepmu_limiter *limiter, u64 ns)
{
	u64 max_irq_ns = limiter->max_irq_ns;

	limiter->window += ns - max_irq_ns;
	limiter->max_irq_ns += max_irq_ns / LIMITER_IRQ_GROWS;

	return max_irq_ns;
}

/* Shrink a max_irq_ns that has grown, after a short interrupt. */
static void limiter_decay(struct corepmu_limiter *limiter, u64 ns)
{
	u64 max_irq_ns = limiter->max_irq_ns;

	if (ns < max_irq_ns / LIMITER_IRQ_SHORT)
		limiter->max_irq_ns = max_t(u64, max_irq_ns - max_irq_ns / LIMITER_IRQ_SHRINKS,
					    COREPMU_LIMITER_MIN_IRQ_NS);
}

/**
 * corepmu_limiter_adjust() - adapt max_irq_ns to the time of an interrupt
 * @limiter: this CPU's limiter
 * @ns: time that the interrupt took
 *
 * Changes nothing if max_irq_ns and @ns are at most COREPMU_LIMITER_MIN_IRQ_NS: the caller may
 * leave out the call. From the overflow interrupt.
 *
 * Return: the time to account for the interrupt
 */
noinline u64 corepmu_limiter_adjust(struct corepmu_limiter *limiter, u64 ns)
{
	if (ns > limiter->max_irq_ns)
		return limiter_clamp(limiter, ns);

	limiter_decay(limiter, ns);
	return ns;
}

/**
 * corepmu_limiter_exclude_irq() - hide the time of this interrupt so far from the limiter
 * @cpuc: this CPU's state
 *
 * For large PEBS: an interrupt with many records takes long, but does not come often. From the
 * overflow interrupt, once.
 */
void corepmu_limiter_exclude_irq(struct corepmu_cpu *cpuc)
{
	u64 took = sched_clock() - cpuc->overflow_start;

	/*
	 * corepmu_limiter_account() later adds the time of the whole interrupt, at most max_irq_ns:
	 * subtract the time so far.
	 */
	cpuc->limiter.busy_ns -= min(took, cpuc->limiter.max_irq_ns);
}

/**
 * corepmu_limiter_end_window() - judge a window, and set min_left for the next one
 * @cpuc: this CPU's state
 * @ns: length of the window, at least COREPMU_LIMITER_WINDOW_NS
 *
 * Not inline: each interrupt would save registers for what is done once in a window. From the
 * overflow interrupt.
 */
noinline void corepmu_limiter_end_window(struct corepmu_cpu *cpuc, u64 ns)
{
	struct corepmu_limiter *limiter = &cpuc->limiter;

	if (ns > LIMITER_FORGET_NS) {
		limiter->min_left = cpuc->pmu->min_left;
		limiter_log_end(cpuc);
	}

	if (limiter_throttles(cpuc, ns)) {
		if (limiter_may_raise(cpuc, ns))
			limiter->min_left = max_t(s64, 2 * limiter->min_left, LIMITER_MIN_LEFT);
		if (!limiter->is_raised)
			limiter_log_begin(cpuc);
		limiter_throttle(cpuc);
	} else if (limiter_may_relax(cpuc, ns)) {
		limiter->min_left /= 2;
		if (limiter->min_left < LIMITER_MIN_LEFT ||
		    limiter->min_left <= cpuc->pmu->min_left) {
			limiter->min_left = cpuc->pmu->min_left;
			limiter_log_end(cpuc);
		}
	}

	limiter->window += ns;
	limiter->busy_ns = 0;
	limiter->user_hit = false;
}
