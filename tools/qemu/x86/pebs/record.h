/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of a PEBS record. Only for this folder.
 */
#ifndef TOOLS_QEMU_X86_PEBS_RECORD_H
#define TOOLS_QEMU_X86_PEBS_RECORD_H

#include <stddef.h>

#include "x86/registers/model.h"

/* MSR_PEBS_DATA_CFG, and the groups of a record in its first word */
#define PEBS_CFG_MEMORY		(UINT64_C(1) << 0)
#define PEBS_CFG_GPR		(UINT64_C(1) << 1)
#define PEBS_CFG_XMM		(UINT64_C(1) << 2)
#define PEBS_CFG_LBR		(UINT64_C(1) << 3)
#define PEBS_CFG_COUNTERS	(UINT64_C(1) << 4)
#define PEBS_CFG_METRICS	(UINT64_C(1) << 5)
#define PEBS_CFG_LBRS_SHIFT	24	/* number of branches, minus one */
#define PEBS_CFG_LBRS		(UINT64_C(0xff) << PEBS_CFG_LBRS_SHIFT)

/* MSR_PEBS_DATA_CFG alone: bitmaps of the counters in the counters group */
#define PEBS_CFG_GP_SHIFT	32
#define PEBS_CFG_GP		(UINT64_C(0xffff) << PEBS_CFG_GP_SHIFT)
#define PEBS_CFG_FIXED_SHIFT	48
#define PEBS_CFG_FIXED		(UINT64_C(0xff) << PEBS_CFG_FIXED_SHIFT)

/* IA32_PMC_GP_CFG_C alone: records may have the counter's value. */
#define ARCH_PEBS_ALLOW		(UINT64_C(1) << 35)

/* IA32_PMC_GP_CFG_C, and the groups of an architectural record in its first word */
#define ARCH_PEBS_GP_COUNTERS	(UINT64_C(1) << 36)
#define ARCH_PEBS_FIXED_COUNTERS (UINT64_C(1) << 37)
#define ARCH_PEBS_METRICS	(UINT64_C(1) << 38)
#define ARCH_PEBS_COUNTERS	(ARCH_PEBS_GP_COUNTERS | ARCH_PEBS_FIXED_COUNTERS | \
				 ARCH_PEBS_METRICS)
#define ARCH_PEBS_LBR		(UINT64_C(3) << 40)
#define ARCH_PEBS_XMM		(UINT64_C(1) << 49)
#define ARCH_PEBS_GPR		(UINT64_C(1) << 61)
#define ARCH_PEBS_AUX		(UINT64_C(1) << 62)
#define ARCH_PEBS_BASIC		(UINT64_C(1) << 63)	/* CFG_C: the counter writes records */

/* Words of the longest record: all groups, with 256 branches */
#define PEBS_WORDS_MAX		(4 + 8 + 8 + 20 + 34 + 6 + 3 * 256 + 2 + X86_PEBS_COUNTERS + 2)

/**
 * struct pebs_sample - contents of a record
 * @ip: address of the instruction at the overflow
 * @counters: the overflowed counters, by their bits in the global registers
 * @store: if the instruction loads and stores, the record shows the store
 * @recorded: counters whose values the record has, by their bits in the global registers
 * @metrics: the record has the topdown metrics
 * @access: accesses of the instruction
 * @state: registers after the instruction
 */
struct pebs_sample {
	uint64_t ip;
	uint64_t counters;
	bool store;
	uint64_t recorded;
	bool metrics;
	struct x86_pebs_access access;
	struct x86_pebs_state state;
};

size_t x86_pebs_record(struct x86_pmu *pmu, const struct pebs_sample *s, uint64_t groups,
		       uint64_t *words);
size_t x86_pebs_arch_record(struct x86_pmu *pmu, const struct pebs_sample *s,
			    uint64_t groups, bool fragments, uint64_t *words);
bool x86_pebs_arch_write(struct x86_pmu *pmu, struct pebs_sample *s);

/* counters.c */
bool x86_pebs_has_counters(const struct x86_pmu_config *config);
uint64_t x86_pebs_counters_cfg(const struct x86_pmu_config *config);
uint64_t x86_pebs_counters_groups(const struct x86_pmu_config *config);
void x86_pebs_counters_adaptive(const struct x86_pmu *pmu, uint64_t groups, struct pebs_sample *s);
void x86_pebs_counters_arch(const struct x86_pmu *pmu, uint64_t groups, struct pebs_sample *s);
uint64_t *x86_pebs_put_counters(struct x86_pmu *pmu, const struct pebs_sample *s, uint64_t *w);

#endif /* TOOLS_QEMU_X86_PEBS_RECORD_H */
