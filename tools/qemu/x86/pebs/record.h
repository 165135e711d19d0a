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
#define PEBS_CFG_LBRS_SHIFT	24	/* number of branches, minus one */
#define PEBS_CFG_LBRS		(UINT64_C(0xff) << PEBS_CFG_LBRS_SHIFT)

/* IA32_PMC_GP_CFG_C, and the groups of an architectural record in its first word */
#define ARCH_PEBS_LBR		(UINT64_C(3) << 40)
#define ARCH_PEBS_XMM		(UINT64_C(1) << 49)
#define ARCH_PEBS_GPR		(UINT64_C(1) << 61)
#define ARCH_PEBS_AUX		(UINT64_C(1) << 62)
#define ARCH_PEBS_BASIC		(UINT64_C(1) << 63)	/* CFG_C: the counter writes records */

/* Words of the longest record: all groups, with 256 branches */
#define PEBS_WORDS_MAX		(4 + 8 + 8 + 20 + 34 + 6 + 3 * 256)

/**
 * struct pebs_sample - contents of a record
 * @ip: address of the instruction at the overflow
 * @counters: the overflowed counters, by their bits in the global registers
 * @store: if the instruction loads and stores, the record shows the store
 * @access: accesses of the instruction
 * @state: registers after the instruction
 */
struct pebs_sample {
	uint64_t ip;
	uint64_t counters;
	bool store;
	struct x86_pebs_access access;
	struct x86_pebs_state state;
};

size_t x86_pebs_record(const struct x86_pmu *pmu, const struct pebs_sample *s, uint64_t groups,
		       uint64_t *words);
size_t x86_pebs_arch_record(const struct x86_pmu *pmu, const struct pebs_sample *s,
			    uint64_t groups, bool fragments, uint64_t *words);
bool x86_pebs_arch_write(struct x86_pmu *pmu, struct pebs_sample *s);

#endif /* TOOLS_QEMU_X86_PEBS_RECORD_H */
