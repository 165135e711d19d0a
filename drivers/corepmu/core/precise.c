// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: precise samples (attr.precise_ip)
 *
 * Counters of precise events count and overflow like any others. But the hardware writes a record
 * at the overflow, and the driver makes the sample from the record. The interrupt shows that there
 * are records, not which counters have overflowed. When a precise event is stopped, the driver
 * makes samples of all records, while current is still the task that the records belong to.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/counter.h>
#include <corepmu/ksyms.h>
#include <corepmu/module.h>
#include <corepmu/overflow.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

/**
 * corepmu_precise_check() - check whether an event's attr.precise_ip is available
 * @pmu: the PMU
 * @event: an event with attr.precise_ip that is being opened
 *
 * Process context.
 *
 * Return: 0, or an errno after corepmu_refuse()
 */
int corepmu_precise_check(struct corepmu *pmu, struct perf_event *event)
{
	unsigned int precise = event->attr.precise_ip;

	if (!pmu->max_precise)
		return corepmu_refuse(-EOPNOTSUPP, "precise_ip is %u and must be 0: %s",
				      precise, pmu->precise_reason ?: "samples have skid");
	if (precise > pmu->max_precise)
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u: this PMU's maximum is %u (caps/max_precise); use a lower one",
				      precise, pmu->max_precise);
	if (!is_sampling_event(event))
		return corepmu_refuse(-EINVAL,
				      "precise_ip is %u and needs a sampling event: set sample_period or sample_freq",
				      precise);

	return 0;
}

/* The feature's functions: see struct corepmu_feature_ops */

static int precise_open(struct perf_event *event)
{
	return to_corepmu(event->pmu)->precise_backend->open();
}

static void precise_close(struct perf_event *event)
{
	to_corepmu(event->pmu)->precise_backend->close();
}

static noinline bool fit_together(const struct perf_event *event, const struct perf_event *other)
{
	return other->pmu != event->pmu || !(other->hw.flags & COREPMU_EVENT_PRECISE) ||
	       to_corepmu(event->pmu)->precise_backend->fits(event, other);
}

static int precise_check_group(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	bool all_fit = fit_together(event, leader);

	for_each_sibling_event(sibling, leader)
		all_fit &= fit_together(event, sibling);
	if (all_fit)
		return 0;

	return corepmu_refuse(-EINVAL,
			      "the group has a load-latency event with another ldlat, and the CPU has one threshold: use two groups");
}

static int precise_fits(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	u64 left;

	if (!corepmu_uses(cpuc, COREPMU_FEATURE_PRECISE))
		return 0;
	for (left = cpuc->used; left; left &= left - 1) {
		const struct perf_event *other = cpuc->events[__ffs64(left)];

		if (other && !fit_together(event, other))
			return -EAGAIN;
	}

	return 0;
}

static void precise_start(struct corepmu_cpu *cpuc)
{
	cpuc->pmu->precise_backend->start(cpuc);
}

static void precise_stop(struct corepmu_cpu *cpuc)
{
	cpuc->pmu->precise_backend->stop(cpuc);
}

/**
 * corepmu_precise_allows_large() - check whether an event may use large PEBS
 * @event: a precise event that is being opened
 *
 * A record does not name its task: the driver must make the samples before the task is scheduled
 * out. For a per-task event perf core notifies the PMU of each sched_out, even where two tasks
 * exchange their contexts and no event is stopped. For a per-CPU event older kernels give no notice
 * if the outgoing task has events of other PMUs only (branch/task.c). After the notice a per-CPU
 * event still counts the kernel's switch to the next task; samples show that part as the next
 * task's, as with the built-in driver. So a per-CPU event with branch records does not use large
 * PEBS: its samples would show the branches of another task. Process context.
 *
 * Return: true if the PMU is notified of each sched_out while the event counts; false for a per-CPU
 * event with branch records
 */
bool corepmu_precise_allows_large(const struct perf_event *event)
{
	bool has_branches = event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK;

	if (!event->hw.target && (!COMPAT_NOTIFIES_EVERY_SWITCH || has_branches))
		return false;

	return corepmu_is_notified(event->pmu);
}

/**
 * corepmu_precise_interrupts() - check whether each record of an event must interrupt
 * @event: a precise event
 *
 * Large PEBS passes most samples to event->overflow_handler() only, see corepmu_precise_emit_any().
 * So an overflow limit (PERF_EVENT_IOC_REFRESH), a BPF program, a signal and an AUX trace event
 * would miss overflows. Any context.
 *
 * Return: true if the event has one of these
 */
bool corepmu_precise_interrupts(const struct perf_event *event)
{
	const struct perf_event *parent = event->parent ?: event;

	return atomic_read(&event->event_limit) || compat_event_has_prog(event) ||
	       READ_ONCE(parent->fasync) || event->aux_event;
}

/* Make samples of all records before the current task is scheduled out. */
static void precise_switch(struct corepmu_cpu *cpuc, bool sched_in)
{
	if (!sched_in)
		cpuc->pmu->precise_backend->drain(cpuc, NULL);
}

static void precise_add(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	if (event->hw.flags & COREPMU_EVENT_LARGE)
		corepmu_perf_sched_cb_inc(event->pmu);
	if (!(cpuc->trusted_others & COREPMU_TRUST_PRECISE))
		cpuc->pmu->precise_backend->forget(cpuc);
	cpuc->trusted_others |= COREPMU_TRUST_PRECISE;
	cpuc->feature_users[COREPMU_FEATURE_PRECISE]++;
	cpuc->pmu->precise_backend->change(cpuc);
}

static void precise_del(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	cpuc->trusted_others |= COREPMU_TRUST_PRECISE;
	if (event->hw.flags & COREPMU_EVENT_LARGE)
		corepmu_perf_sched_cb_dec(event->pmu);
	/* Without precise events no stop of the PMU disables records: disable them here. */
	if (cpuc->feature_users[COREPMU_FEATURE_PRECISE] == 1)
		cpuc->pmu->precise_backend->stop(cpuc);
	cpuc->feature_users[COREPMU_FEATURE_PRECISE]--;
	cpuc->pmu->precise_backend->change(cpuc);
}

/*
 * The CPU has not taken the interrupt yet: make samples of all records now. Some hardware writes
 * the record only with the next event after the overflow, so that the event's record may be
 * missing. The event then overflows with its first count after its next start, and the sample shows
 * that moment.
 */
static void precise_late(struct corepmu_cpu *cpuc, struct perf_event *event, struct pt_regs *regs)
{
	if (cpuc->pmu->precise_backend->drain(cpuc, regs) &&
	    local64_read(&event->hw.period_left) <= 0)
		corepmu_counter_postpone(&event->hw);
}

const struct corepmu_feature_ops corepmu_precise_feature = {
	.open		= precise_open,
	.close		= precise_close,
	.check_group	= precise_check_group,
	.fits		= precise_fits,
	.add		= precise_add,
	.del		= precise_del,
	.start		= precise_start,
	.stop		= precise_stop,
	.late		= precise_late,
	.sched_task	= precise_switch,
};

/**
 * corepmu_precise_emit_any() - emit a sample that the backend has filled in
 * @cpuc: this CPU's state
 * @event: the event; perf core may have stopped it meanwhile
 * @data: the sample
 * @regs: the registers that the sample shows
 * @list: branch records from the PEBS record, or NULL: see corepmu_precise_emit()
 * @more: more samples of the event follow in this interrupt, or there was no interrupt
 *
 * Perf core throttles an event by its number of interrupts: it counts calls of
 * perf_event_overflow(). If an interrupt brings several samples of an event, only the last one goes
 * to perf_event_overflow(). The others go to event->overflow_handler(), as in the built-in driver.
 * IRQs off, or NMI.
 */
void corepmu_precise_emit_any(struct corepmu_cpu *cpuc, struct perf_event *event,
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
		stop = corepmu_emit(event, data, regs);
	}
	if (branches)
		corepmu_branch_sample_end(cpuc);
	if (more)
		return;

	/* perf_event_overflow() may stop and start the event, to change its period. */
	if (stop || stopped)
		corepmu_event_stop(event, 0);
}

/* Sample fields of constant length: with only these, all samples have the same length. */
#define BATCH_TYPES							\
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |	\
	 PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID |	\
	 PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IDENTIFIER |	\
	 PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE |	\
	 PERF_SAMPLE_CODE_PAGE_SIZE)

/* Half of the smallest buffer: perf core does not reject reservations beyond the buffer's size. */
#define BATCH_BYTES		2048U

/**
 * corepmu_precise_batch() - write the first of several samples and reserve space for the others
 * @batch: filled in, for corepmu_precise_batch_add() and corepmu_precise_batch_end()
 * @event: the event
 * @data: the first sample, as for corepmu_precise_emit_any()
 * @regs: the registers that the sample shows
 * @level: number that stands for the misc bits of @regs in the sample's header: kernel or user
 *	space, exact or not
 * @nr: number of samples, including the first
 *
 * The result is the same as of corepmu_precise_emit_any() with more=true for each sample, at half
 * the cost. Perf core locks the buffer once, and a sample takes the previous sample's header unless
 * the level changes. All samples have the same length. The caller must write as many samples as
 * there is space reserved for. IRQs off, or NMI.
 *
 * Return: number of samples that space is reserved for; 0 if the caller must emit the samples one
 * by one; -ENOSPC if the buffer is full, and perf core has counted the first sample as lost
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
 * corepmu_precise_batch_add() - write one more sample into the reserved space
 * @batch: the batch from corepmu_precise_batch()
 * @event: the event
 * @data: the sample
 * @regs: the registers that the sample shows
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
 * corepmu_precise_batch_end() - finish a batch after its last sample
 * @batch: the batch from corepmu_precise_batch()
 */
void corepmu_precise_batch_end(struct corepmu_precise_batch *batch)
{
	corepmu_perf_output_end(&batch->handle);
}
