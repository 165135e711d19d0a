// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: samples that say where the event happened
 *
 * The counter counts, overflows and is set as any other's; what differs is that the sample is
 * made of a record that the hardware has written at the overflow. The interrupt says that there
 * are records, not which counters have overflowed. Records that are left when one of
 * the events is stopped become samples then, while current is still the task they belong to.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include <corepmu/counter.h>
#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

/* The system ends: nothing is to be recorded any more. */
static bool precise_off;

/* Whose records this CPU's are, while it has precise events */
static DEFINE_PER_CPU(struct corepmu_cpu *, precise_cpuc);

/**
 * corepmu_precise_check() - can an event be as precise as it asks for?
 * @pmu: the PMU
 * @event: an event with attr.precise_ip that is being opened
 *
 * Process context.
 *
 * Return: 0, or an errno after saying why not
 */
int corepmu_precise_check(struct corepmu *pmu, struct perf_event *event)
{
	unsigned int precise = event->attr.precise_ip;

	if (!pmu->max_precise)
		return corepmu_refuse(-EOPNOTSUPP, "precise_ip is %u and must be 0: %s",
				      precise, pmu->precise_reason ?: "samples have skid");
	if (precise > pmu->max_precise)
		return corepmu_refuse(-EOPNOTSUPP, "precise_ip is %u and can be %u at most",
				      precise, pmu->max_precise);
	if (!is_sampling_event(event))
		return corepmu_refuse(-EINVAL,
				      "precise_ip is %u, which is of samples, and there are none",
				      precise);

	return 0;
}

/**
 * corepmu_precise_open() - have the hardware ready for an event
 * @event: an event that is being opened, or inherited
 *
 * Process context; corepmu_precise_close() undoes it.
 *
 * Return: 0, or an errno after saying why not
 */
int corepmu_precise_open(struct perf_event *event)
{
	if (!(event->hw.flags & COREPMU_EVENT_PRECISE))
		return 0;

	return to_corepmu(event->pmu)->precise_backend->open();
}

/**
 * corepmu_precise_close() - the event needs the hardware no more
 * @event: an event that corepmu_precise_open() has seen
 *
 * Process context.
 */
void corepmu_precise_close(struct perf_event *event)
{
	if (event->hw.flags & COREPMU_EVENT_PRECISE)
		to_corepmu(event->pmu)->precise_backend->close();
}

static bool fits(const struct perf_event *event, const struct perf_event *other)
{
	return other->pmu != event->pmu || !(other->hw.flags & COREPMU_EVENT_PRECISE) ||
	       to_corepmu(event->pmu)->precise_backend->fits(event, other);
}

/**
 * corepmu_precise_fits_group() - can an event be on a CPU together with its group?
 * @event: an event that is being opened
 *
 * Process context.
 *
 * Return: false when only one of them could have its records
 */
bool corepmu_precise_fits_group(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;

	if (!(event->hw.flags & COREPMU_EVENT_PRECISE))
		return true;
	if (!fits(event, leader))
		return false;
	for_each_sibling_event(sibling, leader)
		if (!fits(event, sibling))
			return false;

	return true;
}

/**
 * corepmu_precise_fits() - can a precise event have its records on this CPU now?
 * @cpuc: this CPU's state
 * @event: an event that is to be placed
 *
 * IRQs off.
 *
 * Return: false while there are events that keep it from that
 */
bool corepmu_precise_fits(const struct corepmu_cpu *cpuc, const struct perf_event *event)
{
	u64 left;

	if (!cpuc->precise_users || !(event->hw.flags & COREPMU_EVENT_PRECISE))
		return true;
	for (left = cpuc->used; left; left &= left - 1) {
		const struct perf_event *other = cpuc->events[__ffs64(left)];

		if (other && !fits(event, other))
			return false;
	}

	return true;
}

/**
 * corepmu_precise_start() - have records written
 * @cpuc: the CPU's state; it has precise events
 *
 * From corepmu_start_cpu().
 */
void corepmu_precise_start(struct corepmu_cpu *cpuc)
{
	if (!READ_ONCE(precise_off))
		cpuc->pmu->precise_backend->start(cpuc);
}

/**
 * corepmu_precise_off() - from now on nothing is recorded
 */
void corepmu_precise_off(void)
{
	WRITE_ONCE(precise_off, true);
}

/**
 * corepmu_precise_on() - undo corepmu_precise_off()
 */
void corepmu_precise_on(void)
{
	WRITE_ONCE(precise_off, false);
}

/* Is perf core to tell of switches of tasks, and does it tell this PMU of them? */
static bool is_told(const struct pmu *pmu)
{
	return corepmu_has_sched_cb() && compat_sched_task_is_told(pmu);
}

/**
 * corepmu_precise_may_gather() - may records of an event wait for more of them?
 * @event: a precise event that is being opened
 *
 * Records do not say which task they are of: they become samples before the task leaves. Perf
 * core tells of that for the events of a task, also where two tasks exchange their contexts
 * and no event is stopped; of events of a CPU it does not where the task that leaves has events
 * of other PMUs alone (branch/task.c). Process context.
 *
 * Return: true if they may
 */
bool corepmu_precise_may_gather(const struct perf_event *event)
{
	return event->hw.target && is_told(event->pmu);
}

/**
 * corepmu_precise_interrupts() - is somebody to be told of each overflow of an event?
 * @event: a precise event
 *
 * A limit of overflows (PERF_EVENT_IOC_REFRESH), a program, a signal, or the event of a trace
 * would miss those that are samples alone, see corepmu_precise_emit(). Any context.
 *
 * Return: whether each is to interrupt
 */
bool corepmu_precise_interrupts(const struct perf_event *event)
{
	const struct perf_event *parent = event->parent ?: event;

	return atomic_read(&event->event_limit) || compat_event_has_prog(event) ||
	       READ_ONCE(parent->fasync) || event->aux_event;
}

/**
 * corepmu_precise_switch() - perf core has switched tasks
 * @sched_in: to the current one; or it is about to be switched away from
 *
 * IRQs off.
 */
void corepmu_precise_switch(bool sched_in)
{
	struct corepmu_cpu *cpuc = this_cpu_read(precise_cpuc);
	struct pt_regs none = { };

	if (cpuc && !sched_in)
		cpuc->pmu->precise_backend->drain(cpuc, &none);
}

/**
 * corepmu_precise_add() - a precise event has been placed
 * @cpuc: this CPU's state
 * @event: the event
 *
 * IRQs off, the PMU stands still.
 */
void corepmu_precise_add(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if (event->hw.flags & COREPMU_EVENT_LARGE)
		corepmu_perf_sched_cb_inc(event->pmu);
	this_cpu_write(precise_cpuc, cpuc);
	if (!(cpuc->trusted_others & COREPMU_TRUST_PRECISE))
		cpuc->pmu->precise_backend->forget(cpuc);
	cpuc->trusted_others |= COREPMU_TRUST_PRECISE;
	cpuc->precise_users++;
	cpuc->pmu->precise_backend->change(cpuc);
}

/**
 * corepmu_precise_del() - a precise event has lost its counter
 * @cpuc: this CPU's state
 * @event: the event
 *
 * IRQs off, the PMU stands still.
 */
void corepmu_precise_del(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	cpuc->trusted_others |= COREPMU_TRUST_PRECISE;
	if (event->hw.flags & COREPMU_EVENT_LARGE)
		corepmu_perf_sched_cb_dec(event->pmu);
	/* The last one: nothing will be written any more, and nobody will stop it. */
	if (cpuc->precise_users == 1)
		cpuc->pmu->precise_backend->stop(cpuc);
	cpuc->precise_users--;
	if (!cpuc->precise_users)
		this_cpu_write(precise_cpuc, NULL);
	cpuc->pmu->precise_backend->change(cpuc);
}

/**
 * corepmu_precise_late() - a precise event was stopped after its period had ended
 * @cpuc: this CPU's state
 * @event: the event, stopped
 * @regs: where this is, or what was interrupted
 *
 * The interrupt has not been taken yet: the record, and all others that there are, become
 * samples now. Hardware that writes a record with the next event after the overflow may not have
 * written it: then the event overflows anew as soon as it counts again, and the sample is of then.
 * IRQs off, or NMI.
 */
void corepmu_precise_late(struct corepmu_cpu *cpuc, struct perf_event *event,
			  struct pt_regs *regs)
{
	if (cpuc->pmu->precise_backend->drain(cpuc, regs) &&
	    local64_read(&event->hw.period_left) <= 0)
		corepmu_counter_postpone(&event->hw);
}

/**
 * corepmu_precise_account() - there is a record of an event's overflow
 * @cpuc: this CPU's state
 * @event: the event, placed on a counter; it may be stopped
 *
 * The PMU stands still. IRQs off, or NMI.
 *
 * Return: the period that has ended; 0 if none has: the counter is too narrow for the period, or
 * the record is of a probe (frequency.c)
 */
u64 corepmu_precise_account(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	u64 ended;

	if (event->hw.state & PERF_HES_STOPPED)
		return corepmu_counter_end_period(event);

	corepmu_counter_update(cpuc, event);
	ended = corepmu_counter_next_period(cpuc, event);
	if (!ended && event->hw.last_cpu == COREPMU_FREQ_YOUNG)
		corepmu_freq_probe(cpuc, event);
	if (event->hw.flags & COREPMU_EVENT_MAPPED)
		perf_event_update_userpage(event);

	return ended;
}

/**
 * corepmu_precise_emit() - emit a sample that the backend has filled in
 * @cpuc: this CPU's state
 * @event: the event; it may have been stopped meanwhile
 * @data: the sample
 * @regs: what it shows, with room for what the architecture has besides
 * @list: the branches that came with it, or NULL: an event that wants any gets the CPU's last
 * @more: it is not the last one of an interrupt, or there was none
 *
 * perf_event_overflow() throttles an event by how often it interrupts: by how often it is
 * called. Samples of which one interrupt brings many are handed to what that function calls to
 * write one, but for the last: as the built-in driver's. IRQs off, or NMI.
 */
void corepmu_precise_emit(struct corepmu_cpu *cpuc, struct perf_event *event,
			  struct perf_sample_data *data, struct pt_regs *regs,
			  struct corepmu_branch_list *list, bool more)
{
	bool stopped = event->hw.state & PERF_HES_STOPPED;
	bool branches = event->hw.flags & COREPMU_EVENT_BRANCHES;
	perf_overflow_handler_t handler;
	int stop = 0;

	if (corepmu_aux_has_stopped(event))
		return;
	if (branches && list)
		corepmu_branch_sample_list(cpuc, event, list, data);
	else if (branches)
		corepmu_branch_sample(cpuc, event, data);
	if (more) {
		handler = READ_ONCE(event->overflow_handler);
		handler(event, data, regs);
	} else if (event->attr.freq) {
		stop = corepmu_emit_with_frequency(event, data, regs);
	} else {
		stop = corepmu_perf_event_overflow(event, data, regs);
	}
	if (branches)
		corepmu_branch_sample_end(cpuc);
	if (more)
		return;

	/* perf_event_overflow() may stop and start the event, to change its period. */
	if (stop || stopped)
		corepmu_event_stop(event, 0);
}

/* Samples that are as long as any other of their event */
#define BATCH_TYPES							\
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |	\
	 PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID |	\
	 PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IDENTIFIER |	\
	 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE |	\
	 PERF_SAMPLE_CODE_PAGE_SIZE)

/* Half of the smallest buffer: perf core does not ask whether the room fits in at all. */
#define BATCH_BYTES		2048U

/**
 * corepmu_precise_batch() - write the first of several samples, and keep room for the others
 * @batch: filled in, for corepmu_precise_batch_add() and corepmu_precise_batch_end()
 * @event: the event; there was no interrupt for any of them
 * @data: the sample, as corepmu_precise_emit() has it
 * @regs: likewise
 * @level: a number for what perf core tells of @regs in the sample's header: kernel or user
 *	space, exact or not
 * @nr: how many there are with it
 *
 * The same as corepmu_precise_emit() with @more for each, at half the cost: the buffer is locked
 * once, and the header is that of the sample before unless the level is another: all are as long
 * as each other. All that room is kept for are to be written. IRQs off, or NMI.
 *
 * Return: how many room has been kept for; 0 when they are to be emitted one by one, -ENOSPC when
 * the buffer is full and perf core has taken this one for lost
 */
int corepmu_precise_batch(struct corepmu_precise_batch *batch, struct perf_event *event,
			  struct perf_sample_data *data, struct pt_regs *regs,
			  unsigned long level, unsigned int nr)
{
	if (nr < 2 || (event->attr.sample_type & ~BATCH_TYPES) ||
	    !corepmu_is_plain_output(READ_ONCE(event->overflow_handler)))
		return 0;
	corepmu_perf_prepare(&batch->header, data, event, regs);
	batch->level = level;
	nr = min(nr, BATCH_BYTES / batch->header.size);
	if (corepmu_perf_output_begin(&batch->handle, data, event, nr * batch->header.size))
		return -ENOSPC;
	corepmu_perf_output_sample(&batch->handle, &batch->header, data, event);

	return nr;
}

/**
 * corepmu_precise_batch_add() - write one more sample
 * @batch: what corepmu_precise_batch() has kept room in
 * @event: the event
 * @data: the sample
 * @regs: what it shows
 * @level: as for corepmu_precise_batch()
 */
void corepmu_precise_batch_add(struct corepmu_precise_batch *batch, struct perf_event *event,
			       struct perf_sample_data *data, struct pt_regs *regs,
			       unsigned long level)
{
	if (likely(batch->level == level))
		corepmu_perf_prepare_same(&batch->header, data, event, regs);
	else
		corepmu_perf_prepare(&batch->header, data, event, regs);
	batch->level = level;
	corepmu_perf_output_sample(&batch->handle, &batch->header, data, event);
}

/**
 * corepmu_precise_batch_end() - all are written
 * @batch: what corepmu_precise_batch() has kept room in
 */
void corepmu_precise_batch_end(struct corepmu_precise_batch *batch)
{
	corepmu_perf_output_end(&batch->handle);
}
