/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: helpers of the suites of slots and topdown metrics
 */
#ifndef _COREPMU_KUNIT_X86_TOPDOWN_H
#define _COREPMU_KUNIT_X86_TOPDOWN_H

#include <linux/types.h>

#define SLOTS		0x0400
#define METRIC(n)	(0x8000 + 0x100 * (n))
#define CYCLES		0x003c

struct fixture;
struct kunit;
struct perf_event;
struct x86_model_cpu;

/* Sapphire Rapids, with eight metrics */
extern const struct x86_model_cpu topdown_spr;

struct fixture *topdown_start(struct kunit *test, const struct x86_model_cpu *cpu, bool builtin);
struct perf_event *topdown_open(struct fixture *b, struct perf_event *leader, u64 config);
void topdown_exit(struct kunit *test);

#endif /* _COREPMU_KUNIT_X86_TOPDOWN_H */
