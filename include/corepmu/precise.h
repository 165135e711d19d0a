/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: samples that say where the event happened, not where the interrupt came
 *
 * Hardware that has them (x86/pebs/core.c) writes a record in memory when a counter overflows, and
 * interrupts when there are records. See Documentation/driver-api/corepmu.rst.
 */
#ifndef _COREPMU_PRECISE_H
#define _COREPMU_PRECISE_H

#include <linux/perf_event.h>
#include <linux/types.h>

struct corepmu;
struct corepmu_branch_list;
struct corepmu_cpu;

/**
 * struct corepmu_precise_backend - the hardware of precise samples
 * @open: have it ready for one more event: 0, or an errno after saying why not. Process context
 * @close: undo @open. Process context
 * @fits: can two precise events be on a CPU at a time? Any context
 * @forget: somebody else may have written the registers since the last precise event came:
 *	corepmu_cpu.precise_users is how many there are besides the one that comes. IRQs off, the
 *	PMU stands still
 * @change: corepmu_cpu.precise_users have come or gone. IRQs off, the PMU stands still
 * @start: have records written for the events that are active, see corepmu_start_cpu().
 *	IRQs off, or NMI
 * @stop: have none written, see corepmu_stop_cpu(). IRQs off, or NMI
 * @drain: make samples of all records, for whom the registers stand where hardware does not
 *	tell. False when that is being done already, by who was interrupted, or who made perf
 *	core stop an event. IRQs off, or NMI
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
 * struct corepmu_precise_batch - samples of an event that are written one after the other
 * @handle: where the next one goes
 * @header: the header of the one before
 * @level: what that depends on besides the event: @level of it
 */
struct corepmu_precise_batch {
	struct perf_output_handle	handle;
	struct perf_event_header	header;
	unsigned long			level;
};

/* core/precise.c */
int corepmu_precise_check(struct corepmu *pmu, struct perf_event *event);
int corepmu_precise_open(struct perf_event *event);
void corepmu_precise_close(struct perf_event *event);
bool corepmu_precise_fits_group(struct perf_event *event);
bool corepmu_precise_fits(const struct corepmu_cpu *cpuc, const struct perf_event *event);
void corepmu_precise_on(void);
void corepmu_precise_off(void);
void corepmu_precise_start(struct corepmu_cpu *cpuc);
bool corepmu_precise_may_gather(const struct perf_event *event);
bool corepmu_precise_interrupts(const struct perf_event *event);
void corepmu_precise_add(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_precise_del(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_precise_switch(bool sched_in);
void corepmu_precise_late(struct corepmu_cpu *cpuc, struct perf_event *event,
			  struct pt_regs *regs);
u64 corepmu_precise_account(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_precise_emit(struct corepmu_cpu *cpuc, struct perf_event *event,
			  struct perf_sample_data *data, struct pt_regs *regs,
			  struct corepmu_branch_list *list, bool more);
int corepmu_precise_batch(struct corepmu_precise_batch *batch, struct perf_event *event,
			  struct perf_sample_data *data, struct pt_regs *regs,
			  unsigned long level, unsigned int nr);
void corepmu_precise_batch_add(struct corepmu_precise_batch *batch, struct perf_event *event,
			       struct perf_sample_data *data, struct pt_regs *regs,
			       unsigned long level);
void corepmu_precise_batch_end(struct corepmu_precise_batch *batch);

#endif /* _COREPMU_PRECISE_H */
