// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of architectural PEBS, Intel CPUs
 */
#include <kunit/test.h>

#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include "fixture/testbed.h"
#include "models/x86/pebs.h"
#include "models/x86/access.h"
#include "fixture.h"
#include "x86/intel/intel.h"
#include "x86/pebs/pebs.h"

#define ARCH_BASIC	BIT_ULL(63)

static struct fixture *arch_fixture(struct kunit *test)
{
	struct fixture *b = test->priv;

	if (pebs_cpu(b)->pebs != PEBS_MODEL_ARCH)
		kunit_skip(test, "the testbed has no architectural PEBS");

	return b;
}

/* Each counter has a register with its record groups and its reload value. */
static void arch_registers(struct kunit *test)
{
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct fixture *b = arch_fixture(test);
	struct perf_event *event, *plain;

	attr.sample_type = PERF_SAMPLE_ADDR;
	event = fixture_alloc(b, &attr);
	event->hw.target = current;
	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	pebs_model()->pebs_ip = IP;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_cfg_c[32],
			ARCH_BASIC | PEBS_ARCH_AUX | (-100U & GENMASK_ULL(31, 0)));
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_base & GENMASK_ULL(11, 0), 4);
	fixture_del(event);
	KUNIT_EXPECT_FALSE(test, pebs_model()->pebs_index & BIT_ULL(32));

	/* Without large PEBS, del() has nothing left to drain. */
	plain = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	KUNIT_ASSERT_EQ(test, fixture_add(plain, PERF_EF_START), 0);
	KUNIT_EXPECT_TRUE(test, pebs_model()->pebs_index & BIT_ULL(32));
	fixture_del(plain);
	KUNIT_EXPECT_FALSE(test, pebs_model()->pebs_index & BIT_ULL(32));
	fixture_close(plain);

	/* On this counter, an event that is not precise raises its own overflow interrupt. */
	plain = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 50);
	KUNIT_ASSERT_EQ(test, fixture_add(plain, PERF_EF_START), 0);
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_cfg_c[plain->hw.idx], 0);
	fixture_forget(b);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 100, 2);
}

/* A reset clears the register of each counter; a start that changes none writes none. */
static void arch_reset_and_restart(struct kunit *test)
{
	struct fixture *b = arch_fixture(test);
	struct perf_event *event;
	unsigned long flags;

	event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	local_irq_save(flags);
	event->pmu->pmu_disable(event->pmu);
	model_forget();
	event->pmu->pmu_enable(event->pmu);
	KUNIT_EXPECT_EQ(test, model_accesses("CFG_C"), 0);
	local_irq_restore(flags);
	fixture_del(event);

	memset(pebs_model()->pebs_cfg_c, 0xff, sizeof(pebs_model()->pebs_cfg_c));
	local_irq_save(flags);
	b->pmu->backend->reset(b->cpuc);
	local_irq_restore(flags);
	/* Records can have all counters; the last one has no PEBS. */
	for (unsigned int i = 0; i < pebs_cpu(b)->nr_gp; i++)
		KUNIT_EXPECT_EQ_MSG(test, pebs_model()->pebs_cfg_c[i], 0, "counter %u", i);
	for (unsigned int i = 0; i < pebs_cpu(b)->nr_fixed; i++)
		KUNIT_EXPECT_EQ_MSG(test, pebs_model()->pebs_cfg_c[32 + i], 0, "fixed %u", i);
}

/* The period exceeds the reload field, so each record interrupts. */
static void arch_long_period(struct kunit *test)
{
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2,
						   BIT_ULL(31) + 1);
	struct fixture *b = arch_fixture(test);
	struct perf_event *event;

	event = fixture_alloc(b, &attr);
	event->hw.target = current;
	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_cfg_c[32], ARCH_BASIC);
}

static void start_in_nmi(void)
{
	x86_set_cfg_c(0, 0);
}

/* Right before a start writes CFG_C, an NMI starts the PMU without the event: CFG_C stays 0. */
static void arch_register_keeps_value_of_nmi(struct kunit *test)
{
	unsigned long flags;

	arch_fixture(test);
	local_irq_save(flags);
	x86_model_before_wrmsr = start_in_nmi;
	x86_set_cfg_c(0, ARCH_BASIC);
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_cfg_c[0], 0);
	x86_set_cfg_c(0, ARCH_BASIC);
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_cfg_c[0], ARCH_BASIC);
	x86_set_cfg_c(0, 0);
	local_irq_restore(flags);
}

static struct kunit_case arch_cases[] = {
	KUNIT_CASE_PARAM(arch_registers, pebs_gen_params),
	KUNIT_CASE_PARAM(arch_reset_and_restart, pebs_gen_params),
	KUNIT_CASE_PARAM(arch_long_period, pebs_gen_params),
	KUNIT_CASE_PARAM(arch_register_keeps_value_of_nmi, pebs_gen_params),
	{ }
};

TESTBED_SUITE(arch, "corepmu_pebs_arch");
