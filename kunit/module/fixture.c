// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: fixture of the suites that register a PMU: counters that count by themselves
 */
#include <kunit/test.h>

#include <linux/cpumask.h>

#include <corepmu/module.h>

#include "fixture/testbed.h"
#include "models/arm64/access.h"
#include "models/x86/access.h"
#include "fixture.h"

/**
 * load_power_on() - reset all CPUs
 * @testbed: the testbed
 * @counts: number of events that each register access makes: counters count by themselves
 * @deaf: hold interrupts back
 */
void load_power_on(const struct testbed *testbed, unsigned int counts, bool deaf)
{
	int cpu;

	testbed->ops->power_on(testbed);
	for_each_possible_cpu(cpu) {
		per_cpu_ptr(&x86_model_state, cpu)->counts_itself = counts;
		per_cpu_ptr(&x86_model_state, cpu)->hold = deaf;
		per_cpu_ptr(&pmuv3_model_state, cpu)->counts_itself = counts;
		per_cpu_ptr(&pmuv3_model_state, cpu)->hold = deaf;
	}
}

static unsigned int count_faults(void)
{
	unsigned int sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(&model_log, cpu)->faults;

	return sum;
}

/**
 * load_init() - suite init: register for CPU hotplug, as a load does
 * @test: the test
 *
 * Return: 0
 */
int load_init(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, corepmu_hotplug_init(), 0);
	return 0;
}

/**
 * load_exit() - suite exit: expect that no access faulted, and that no register is reserved
 * @test: the test
 */
void load_exit(struct kunit *test)
{
	corepmu_hotplug_exit();
	KUNIT_EXPECT_EQ(test, count_faults(), 0);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 0);
}
