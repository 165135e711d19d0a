/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: precise events on the fixture, on testbeds with PEBS
 */
#ifndef _COREPMU_KUNIT_PEBS_FIXTURE_H
#define _COREPMU_KUNIT_PEBS_FIXTURE_H

#include <kunit/test.h>

#include <linux/perf_event.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"

/* Address of the instruction in all records */
#define IP	0x401000ULL

static inline bool pebs_is_there(const struct testbed *testbed)
{
	const struct x86_model_cpu *cpu = testbed->cpu;

	return testbed_is_x86(testbed) && !cpu->amd && cpu->pebs;
}

static inline const void *pebs_gen_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, pebs_is_there);
}

static inline struct x86_model *pebs_model(void)
{
	return this_cpu_ptr(&x86_model_state);
}

static inline const struct x86_model_cpu *pebs_cpu(const struct fixture *b)
{
	return b->testbed->cpu;
}

static inline struct perf_event_attr precise_attr(u64 config, unsigned int precise, u64 period)
{
	return (struct perf_event_attr) {
		.type		= PERF_TYPE_HARDWARE,
		.config		= config,
		.precise_ip	= precise,
		.sample_period	= period,
	};
}

static inline struct perf_event *open_precise(struct fixture *b, u64 config, unsigned int precise,
					      u64 period)
{
	const struct perf_event_attr attr = precise_attr(config, precise, period);
	struct perf_event *event;

	KUNIT_ASSERT_EQ(b->test, fixture_open(b, &attr, &event), 0);
	pebs_model()->pebs_ip = IP;

	return event;
}

#endif /* _COREPMU_KUNIT_PEBS_FIXTURE_H */
