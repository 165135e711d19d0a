/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: functions of amd/ that files of other folders call
 */
#ifndef _COREPMU_X86_AMD_H
#define _COREPMU_X86_AMD_H

struct corepmu;
struct perf_event;
struct x86_desc;

/* core.c */
int amd_describe(struct x86_desc *desc);

/* ibs.c */
int amd_precise(struct corepmu *pmu, struct perf_event *event);

#endif /* _COREPMU_X86_AMD_H */
