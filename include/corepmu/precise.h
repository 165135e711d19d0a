/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: precise samples (PEBS): they show the instruction that caused the event
 *
 * When a counter overflows, the hardware writes a record to memory, and then interrupts. The
 * driver makes the sample from the record. x86/pebs/core.c has the hardware's part. See
 * Documentation/driver-api/corepmu.rst.
 */
#ifndef _COREPMU_PRECISE_H
#define _COREPMU_PRECISE_H

#include <linux/compiler.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <corepmu/overflow.h>
#include <corepmu/pmu.h>

struct corepmu_branch_list;

/**
 * struct corepmu_precise_backend - functions for the hardware of precise samples
 * @open: reserve the hardware for one more event. Return 0, or an errno after corepmu_refuse().
 *	Process context
 * @close: undo @open. Process context
 * @fits: check whether two precise events can be on a CPU at the same time. Any context
 * @forget: forget what is known of the registers, since another agent may have written them.
 *	Called before an event is placed: corepmu_cpu.feature_users does not include this event.
 *	IRQs off, and the PMU stopped
 * @change: adapt the hardware after corepmu_cpu.feature_users has changed. IRQs off, and the PMU
 *	stopped
 * @start: enable records of the active events, see corepmu_start_cpu(). IRQs off, or NMI
 * @stop: disable records, see corepmu_stop_cpu(). IRQs off, or NMI
 * @drain: make samples of all records. @regs: registers for the sample fields that a record lacks,
 *	or NULL outside of an interrupt. Return false if a drain is already running on this CPU: an
 *	NMI interrupted it, or perf core stopped an event from within a sample. IRQs off, or NMI
 */
struct corepmu_precise_backend {
	int	(*open)(void);
	void	(*close)(void);
	bool	(*fits)(const struct perf_event *event, const struct perf_event *other);
	void	(*forget)(struct corepmu_cpu *cpuc);
	void	(*change)(struct corepmu_cpu *cpuc);
	void	(*start)(struct corepmu_cpu *cpuc);
	void	(*stop)(struct corepmu_cpu *cpuc);
	bool	(*drain)(struct corepmu_cpu *cpuc, struct pt_regs *regs);
};

/**
 * struct corepmu_precise_batch - samples of one event for which perf core has reserved buffer space
 * @handle: perf core's handle of the reserved space
 * @header: header of the previous sample
 * @level: privilege level and exactness that @header was made for, see corepmu_precise_batch()
 */
struct corepmu_precise_batch {
	struct perf_output_handle	handle;
	struct perf_event_header	header;
	unsigned long			level;
};

/* core/precise.c */
extern const struct corepmu_feature_ops corepmu_precise_feature;
int corepmu_precise_check(struct corepmu *pmu, struct perf_event *event);
bool corepmu_precise_allows_large(const struct perf_event *event);
bool corepmu_precise_interrupts(const struct perf_event *event);
void corepmu_precise_emit_any(struct corepmu_cpu *cpuc, struct perf_event *event,
			      struct perf_sample_data *data, struct pt_regs *regs,
			      struct corepmu_branch_list *list, bool more);
int corepmu_precise_batch(struct corepmu_precise_batch *batch, struct perf_event *event,
			  struct perf_sample_data *data, struct pt_regs *regs,
			  unsigned long level, unsigned int nr);
void corepmu_precise_batch_add(struct corepmu_precise_batch *batch, struct perf_event *event,
			       struct perf_sample_data *data, struct pt_regs *regs,
			       unsigned long level);
void corepmu_precise_batch_end(struct corepmu_precise_batch *batch);

/**
 * corepmu_precise_emit() - emit an interrupt's only sample, which the backend has filled in
 * @cpuc: this CPU's state
 * @event: the event; perf core may have stopped it meanwhile
 * @data: the sample
 * @regs: the registers that the sample shows, in the architecture's struct for precise samples
 * @list: branch records from the PEBS record; NULL: the sample gets the CPU's branch records, if
 *	the event wants any
 *
 * Only the usual sample is inline: with a fixed period, without branches and trace data. IRQs off,
 * or NMI.
 */
static __always_inline void
corepmu_precise_emit(struct corepmu_cpu *cpuc, struct perf_event *event,
		     struct perf_sample_data *data, struct pt_regs *regs,
		     struct corepmu_branch_list *list)
{
	if (event->attr.freq || (event->hw.state & PERF_HES_STOPPED) ||
	    (event->hw.flags & COREPMU_EVENT_BRANCHES) || unlikely(READ_ONCE(event->aux_event)))
		corepmu_precise_emit_any(cpuc, event, data, regs, list, false);
	else if (corepmu_emit(event, data, regs))
		corepmu_event_stop(event, 0);
}

#endif /* _COREPMU_PRECISE_H */
