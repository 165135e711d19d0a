/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: reads of counters from user space
 */
#ifndef _COREPMU_RDPMC_H
#define _COREPMU_RDPMC_H

#include <linux/compiler.h>
#include <linux/perf_event.h>
#include <linux/types.h>

struct corepmu;
struct corepmu_cpu;
struct mm_struct;

/* core/rdpmc.c */
extern bool corepmu_rdpmc_in_use;
extern bool corepmu_rdpmc_allowed;
void corepmu_rdpmc_add(struct corepmu *pmu);
void corepmu_rdpmc_remove(struct corepmu *pmu);
bool corepmu_rdpmc_has_others(const struct corepmu *pmu);
void corepmu_rdpmc_switch(struct corepmu_cpu *cpuc);
void corepmu_rdpmc_clear(struct corepmu_cpu *cpuc);
void corepmu_rdpmc_refresh(void);
void corepmu_event_mapped(struct perf_event *event, struct mm_struct *mm);
void corepmu_event_unmapped(struct perf_event *event, struct mm_struct *mm);

/* Check whether the event was opened for counter reads from user space. */
static inline bool corepmu_event_is_readable(const struct hw_perf_event *hwc)
{
	return hwc->flags & PERF_EVENT_FLAG_USER_READ_CNT;
}

/* Check whether user space may read the event's counter now: the administrator allows it. */
static inline bool corepmu_event_may_be_read(const struct perf_event *event)
{
	return corepmu_event_is_readable(&event->hw) && READ_ONCE(corepmu_rdpmc_allowed);
}

#endif /* _COREPMU_RDPMC_H */
