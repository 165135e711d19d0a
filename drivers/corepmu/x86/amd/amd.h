/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: functions of amd/ that files of other folders call
 */
#ifndef _COREPMU_X86_AMD_H
#define _COREPMU_X86_AMD_H

#include <linux/bits.h>
#include <linux/types.h>

#include <corepmu/pmu.h>

#include "../msr.h"

struct x86_desc;

/* CPUID Fn8000_0022 */
#define CPUID_PERFMON		0x80000022
#define EAX_PERFMON_V2		BIT(0)

/* Since K7 */
#define EVENT_CYCLES_NOT_HALTED	0x0076

/* Check whether counter @idx, which has or had an event, is the even one of two merged counters. */
static inline bool amd_is_merged(const struct corepmu_cpu *cpuc, int idx)
{
	return ((cpuc->pmu->pair_counters >> 1) & BIT_ULL(idx)) &&
	       cpuc->selected[idx + 1] == EVNTSEL_AMD_MERGE;
}

/* core.c */
int amd_describe(struct x86_desc *desc);

/* ibs.c */
int amd_precise(struct corepmu *pmu, struct perf_event *event);

#endif /* _COREPMU_X86_AMD_H */
