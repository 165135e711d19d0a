/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: helpers of the suites of Intel's microarchitectures
 */
#ifndef _COREPMU_KUNIT_X86_UARCH_H
#define _COREPMU_KUNIT_X86_UARCH_H

#include <linux/bits.h>
#include <linux/types.h>

/* Lowest general-purpose counters, and a fixed counter */
#define GP(n)		GENMASK_ULL((n) - 1, 0)
#define FIXED(n)	BIT_ULL(FIXED_COUNTER_BASE + (n))

struct kunit;
struct perf_event;
struct x86_model_cpu;

struct perf_event *uarch_start(struct kunit *test, const struct x86_model_cpu *cpu);
struct perf_event *uarch_start_family(struct kunit *test, unsigned int family,
				      unsigned int model, unsigned int core_type,
				      unsigned int nr_gp);
struct perf_event *uarch_start_model(struct kunit *test, unsigned int model,
				     unsigned int core_type, unsigned int nr_gp);
s64 uarch_counters(struct kunit *test, struct perf_event *event, u64 config);

#endif /* _COREPMU_KUNIT_X86_UARCH_H */
