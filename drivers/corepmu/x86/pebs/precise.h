/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: Intel PEBS: functions that files outside of pebs/ call
 */
#ifndef _COREPMU_X86_PRECISE_H
#define _COREPMU_X86_PRECISE_H

#include <linux/bits.h>
#include <linux/types.h>

#include <corepmu/hw.h>

struct corepmu_cpu;
struct perf_event_attr;
struct x86_desc;

/* Formats of records: IA32_PERF_CAPABILITIES.PEBS_FMT */
#define PEBS_FORMAT_SKYLAKE	3
#define PEBS_FORMAT_ADAPTIVE	4
#define PEBS_FORMAT_COUNTERS	6
#define PEBS_FORMAT_LAST	6
/* Architectural PEBS; CPUID leaf 0x23 enumerates the groups and counters */
#define PEBS_FORMAT_ARCH	15

/*
 * Bit of hw_perf_event.flags: a precise event of the group has samples with counts
 * (PERF_SAMPLE_READ), and its PEBS records have the value of this event's counter.
 */
#define EVENT_RECORDED	BIT(COREPMU_EVENT_BACKEND + 4)

/* probe.c */
void x86_describe_precise(struct x86_desc *desc);

/* core.c */
void x86_pebs_reset(struct corepmu_cpu *cpuc);
void x86_pebs_quiesce(struct corepmu_cpu *cpuc);
bool x86_pebs_update(struct corepmu_cpu *cpuc, const struct perf_event *event);
u64 x86_pebs_overflow(struct corepmu_cpu *cpuc, u64 overflowed);
u64 x86_pebs_enabled(void);
u64 x86_precise_counters(const struct corepmu_cpu *cpuc);
void x86_pebs_drain_recorded(struct corepmu_cpu *cpuc);

/* drain.c */
void x86_pebs_follow_reset(struct corepmu_cpu *cpuc, struct perf_event *event);

/* event.c */
extern bool x86_pebs_avoids_guests;
u64 x86_pebs_config(const struct x86_desc *desc, const struct perf_event_attr *attr, u64 config);
unsigned int x86_pebs_min_period(const struct x86_desc *desc, const struct perf_event_attr *attr);
int x86_pebs_encode(const struct x86_desc *desc, struct perf_event *event);

/* counters.c */
void x86_pebs_counters_join(const struct x86_desc *desc, struct perf_event *event);
bool x86_pebs_shows_record(void);

/* latency.c */
bool x86_pebs_has_latency(const struct x86_desc *desc);
bool x86_pebs_wants_latency(const struct x86_desc *desc, const struct perf_event_attr *attr,
			    u64 config);
int x86_pebs_refuse_latency(const struct x86_desc *desc, const struct perf_event_attr *attr,
			    u64 config);

#endif /* _COREPMU_X86_PRECISE_H */
