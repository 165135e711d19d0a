/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ops.h - functions of a CPU that do nothing, for tests that do not depend on them
 */
#ifndef TOOLS_QEMU_TESTS_X86_MODEL_OPS_H
#define TOOLS_QEMU_TESTS_X86_MODEL_OPS_H

#include "x86/registers/model.h"

static inline void ignore_watch(struct x86_pmu *pmu, x86_pmu_counts distance)
{
	(void)pmu;
	(void)distance;
}

static inline void ignore_need(struct x86_pmu *pmu, uint32_t kinds)
{
	(void)pmu;
	(void)kinds;
}

static inline void ignore_alarm(struct x86_pmu *pmu)
{
	(void)pmu;
}

static inline uint64_t ignore_record(struct x86_pmu *pmu, unsigned int rings)
{
	(void)pmu;
	(void)rings;
	return 0;
}

static inline void ignore_single(struct x86_pmu *pmu, unsigned int rings)
{
	(void)pmu;
	(void)rings;
}

#endif /* TOOLS_QEMU_TESTS_X86_MODEL_OPS_H */
