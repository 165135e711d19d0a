/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: features of events: branch records, precise samples, extra registers, ACR
 */
#ifndef _COREPMU_FEATURES_H
#define _COREPMU_FEATURES_H

#include <linux/types.h>

struct corepmu_cpu;
struct perf_event;

/* core/features.c */
bool corepmu_extra_reg_fits_group(struct perf_event *event);
bool corepmu_features_fit(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_extra_regs_reset(struct corepmu_cpu *cpuc);
void corepmu_features_add(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_features_del(struct corepmu_cpu *cpuc, struct perf_event *event);
void corepmu_features_start(struct corepmu_cpu *cpuc);
void corepmu_features_stop(struct corepmu_cpu *cpuc);
void corepmu_features_interrupt(struct corepmu_cpu *cpuc);

#endif /* _COREPMU_FEATURES_H */
