// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of CPUs that go offline, come online or power down, and of their CPU types
 */
#include <kunit/test.h>

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cpu.h>
#include <linux/cpu_pm.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/notifier.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include <corepmu/module.h>

#include "fixture/testbed.h"
#include "models/arm64/access.h"
#include "models/x86/access.h"
#include "arm64/pmuv3.h"
#include "fixture.h"

/*
 * The PMU of a second CPU type has a number in its name. Without the driver's hotplug callbacks,
 * registration fails.
 */
static void hotplug_numbers_second_cpu_type(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("pmuv3p5");
	struct corepmu *pmu[2];

	load_power_on(testbed, LIVELY, false);
	for (int i = 0; i < 2; i++) {
		pmu[i] = testbed->ops->start(testbed);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu[i]);
		KUNIT_EXPECT_EQ(test, corepmu_register(pmu[i]), 0);
		KUNIT_EXPECT_STREQ(test, pmu[i]->perf_pmu.name, i ? "corepmu_1" : "corepmu");
	}
	for (int i = 0; i < 2; i++) {
		corepmu_unregister(pmu[i]);
		testbed->ops->end(pmu[i]);
	}

	corepmu_hotplug_exit();
	pmu[0] = testbed->ops->start(testbed);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu[0]);
	KUNIT_EXPECT_EQ(test, corepmu_register(pmu[0]), -EINVAL);
	KUNIT_EXPECT_FALSE(test, pmu[0]->open);
	testbed->ops->end(pmu[0]);
	KUNIT_ASSERT_EQ(test, corepmu_hotplug_init(), 0);
}

/* A CPU that comes back online gets its registers reset. */
static void hotplug_resets_cpu(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("intel-v4");
	int cpu = cpumask_last(cpu_online_mask);

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "there is no second CPU that could go");

	load_power_on(testbed, LIVELY, false);
	KUNIT_ASSERT_EQ(test, corepmu_arch_init(), 0);
	KUNIT_EXPECT_EQ(test, remove_cpu(cpu), 0);
	KUNIT_EXPECT_TRUE(test, per_cpu_ptr(&x86_model_state, cpu)->lvtpc & APIC_LVT_MASKED);
	per_cpu_ptr(&x86_model_state, cpu)->global_ctrl = 0xff;
	per_cpu_ptr(&x86_model_state, cpu)->select[3] = 0x5300c0;
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	KUNIT_EXPECT_EQ(test, per_cpu_ptr(&x86_model_state, cpu)->global_ctrl, 0);
	KUNIT_EXPECT_EQ(test, per_cpu_ptr(&x86_model_state, cpu)->select[3], 0);
	KUNIT_EXPECT_EQ(test, per_cpu_ptr(&x86_model_state, cpu)->lvtpc, APIC_DM_NMI);
	corepmu_arch_exit();
}

struct power_call {
	struct corepmu *pmu;
	int ret;
};

static void power_call(void *data)
{
	struct power_call *call = data;
	struct notifier_block *nb = &call->pmu->pm_nb;

	call->ret = nb->notifier_call(nb, CPU_PM_EXIT, NULL);
}

/*
 * The driver does not touch a CPU of another type that goes offline, comes online or is powered
 * down.
 */
static void hotplug_leaves_other_cpu_type(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("pmuv3p5");
	int cpu = cpumask_last(cpu_online_mask);
	struct power_call call = { };
	struct pmuv3_model *model;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "there is no second CPU that could go");

	load_power_on(testbed, LIVELY, false);
	call.pmu = testbed->ops->start(testbed);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, call.pmu);
	cpumask_clear_cpu(cpu, &call.pmu->supported_cpus);
	model = per_cpu_ptr(&pmuv3_model_state, cpu);
	model->enabled = BIT(3);
	model->type[3] = 0x11;
	KUNIT_EXPECT_EQ(test, corepmu_register(call.pmu), 0);
	KUNIT_EXPECT_EQ(test, remove_cpu(cpu), 0);
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	KUNIT_EXPECT_EQ(test, smp_call_function_single(cpu, power_call, &call, true), 0);
	KUNIT_EXPECT_EQ(test, call.ret, NOTIFY_DONE);
	KUNIT_EXPECT_EQ(test, model->enabled, BIT(3));
	KUNIT_EXPECT_EQ(test, model->type[3], 0x11);
	corepmu_unregister(call.pmu);
	KUNIT_EXPECT_EQ(test, model->enabled, BIT(3));
	testbed->ops->end(call.pmu);
}

/* Start a PMU as with ACPI, on the CPUs of @left that have the first CPU's type. */
static struct corepmu *start_acpi(struct kunit *test, struct cpumask *left)
{
	const struct testbed *testbed = testbed_by_name("pmuv3p5");
	struct corepmu *pmu;
	int cpu;

	pmu = testbed->ops->start(testbed);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu);
	pmuv3_cpu_type_take(to_pmuv3(pmu), left);
	for_each_possible_cpu(cpu)
		per_cpu_ptr(pmu->cpu, cpu)->irq = 1;

	return pmu;
}

static void end_acpi(struct corepmu *pmu)
{
	pmuv3_cpu_type_forget(to_pmuv3(pmu));
	testbed_by_name("pmuv3p5")->ops->end(pmu);
}

/* Where the firmware does not report CPU types, MIDR_EL1 tells them apart. */
static void hotplug_cpu_types(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask);
	struct corepmu *pmu, *other;
	static struct cpumask left;

	load_power_on(testbed_by_name("pmuv3p5"), LIVELY, false);
	pmuv3_note_cpus(&left);
	KUNIT_EXPECT_TRUE(test, cpumask_equal(&left, cpu_online_mask));
	pmu = start_acpi(test, &left);
	KUNIT_EXPECT_TRUE(test, cpumask_empty(&left));
	KUNIT_EXPECT_TRUE(test, cpumask_equal(&pmu->supported_cpus, cpu_online_mask));
	KUNIT_EXPECT_EQ(test, to_pmuv3(pmu)->midr, PMUV3_MODEL_MIDR);
	KUNIT_EXPECT_EQ(test, pmuv3_cpu_of_mpidr(to_pmuv3(pmu), cpu), cpu);
	KUNIT_EXPECT_EQ(test, pmuv3_cpu_of_mpidr(to_pmuv3(pmu), BIT_ULL(24) | cpu), cpu);
	KUNIT_EXPECT_EQ(test, pmuv3_cpu_of_mpidr(to_pmuv3(pmu), BIT_ULL(32) | cpu), -ENODEV);
	end_acpi(pmu);

	if (!cpu)
		kunit_skip(test, "there is no second CPU that could be of another kind");

	/* Another revision is another CPU type, as for the built-in driver. */
	per_cpu_ptr(&pmuv3_model_state, cpu)->midr++;
	pmuv3_note_cpus(&left);
	pmu = start_acpi(test, &left);
	KUNIT_EXPECT_FALSE(test, cpumask_test_cpu(cpu, &pmu->supported_cpus));
	KUNIT_EXPECT_TRUE(test, cpumask_equal(&left, cpumask_of(cpu)));
	other = start_acpi(test, &left);
	KUNIT_EXPECT_TRUE(test, cpumask_equal(&other->supported_cpus, cpumask_of(cpu)));
	KUNIT_EXPECT_EQ(test, pmuv3_cpu_of_mpidr(to_pmuv3(pmu), cpu), -ENODEV);
	KUNIT_EXPECT_EQ(test, pmuv3_cpu_of_mpidr(to_pmuv3(other), cpu), cpu);

	/*
	 * The first PMU requests the shared interrupt; a second PMU requests only an interrupt of
	 * its own.
	 */
	KUNIT_EXPECT_PTR_EQ(test, pmuv3_irq_owner(to_pmuv3(pmu), 1), NULL);
	KUNIT_EXPECT_PTR_EQ(test, pmuv3_irq_owner(to_pmuv3(other), 1), to_pmuv3(pmu));
	KUNIT_EXPECT_PTR_EQ(test, pmuv3_irq_owner(to_pmuv3(other), 2), NULL);
	end_acpi(other);
	end_acpi(pmu);
}

/* A CPU that comes online joins the PMU of its CPU type. */
static void hotplug_joins_pmu_of_cpu_type(struct kunit *test)
{
	static const struct {
		u64 midr;
		int irq;
		bool joins;
	} table[] = {
		{ PMUV3_MODEL_MIDR, 1, true },
		{ PMUV3_MODEL_MIDR + 1, 1, false },
		/* The CPU's interrupt is unknown. */
		{ PMUV3_MODEL_MIDR, 0, false },
	};
	const struct testbed *testbed = testbed_by_name("pmuv3p5");
	int cpu = cpumask_last(cpu_online_mask);
	static struct cpumask left;
	struct pmuv3_model *model;
	struct corepmu *pmu;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "there is no second CPU that could go");

	model = per_cpu_ptr(&pmuv3_model_state, cpu);
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		load_power_on(testbed, LIVELY, false);
		KUNIT_EXPECT_EQ(test, remove_cpu(cpu), 0);
		pmuv3_note_cpus(&left);
		pmu = start_acpi(test, &left);
		per_cpu_ptr(pmu->cpu, cpu)->irq = table[i].irq;
		KUNIT_EXPECT_EQ(test, corepmu_register(pmu), 0);
		KUNIT_EXPECT_TRUE(test, corepmu_filter(&pmu->perf_pmu, cpu));

		model->midr = table[i].midr;
		model->enabled = BIT(3);
		KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
		KUNIT_EXPECT_EQ_MSG(test, cpumask_test_cpu(cpu, &pmu->supported_cpus),
				    table[i].joins, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, model->enabled, table[i].joins ? 0 : BIT(3),
				    "row %u", i);
		corepmu_unregister(pmu);
		end_acpi(pmu);
	}
}

/* A PMU whose power-down notifier is called after those of later PMUs */
static struct corepmu *last_notified;
static struct corepmu *followed;
static atomic_t resets, unfollowed_resets;

/* reset() of a backend: check that the PMU's power-down notifier is registered. */
static void reset_watched(struct corepmu_cpu *cpuc)
{
	atomic_inc(&resets);
	if (READ_ONCE(followed->pm_nb.next) != &last_notified->pm_nb)
		atomic_inc(&unfollowed_resets);
	pmuv3_backend.reset(cpuc);
}

/*
 * The power-down notifier is registered before the first reset: a CPU may power down right after
 * it.
 */
static void hotplug_follows_power(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("pmuv3p5");
	struct corepmu_backend backend = pmuv3_backend;

	backend.reset = reset_watched;
	load_power_on(testbed, LIVELY, false);
	last_notified = testbed->ops->start(testbed);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, last_notified);
	last_notified->pm_nb.priority = -1;
	KUNIT_ASSERT_EQ(test, corepmu_register(last_notified), 0);

	followed = testbed->ops->start(testbed);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, followed);
	followed->backend = &backend;
	atomic_set(&resets, 0);
	atomic_set(&unfollowed_resets, 0);
	KUNIT_EXPECT_EQ(test, corepmu_register(followed), 0);
	KUNIT_EXPECT_GE(test, atomic_read(&resets), num_online_cpus());
	KUNIT_EXPECT_EQ(test, atomic_read(&unfollowed_resets), 0);

	corepmu_unregister(followed);
	corepmu_unregister(last_notified);
	testbed->ops->end(followed);
	testbed->ops->end(last_notified);
}

/* irq_enable() of a backend: note whether the counters have been started already. */
static bool started_masked;

static void irq_enable_watched(struct corepmu_cpu *cpuc)
{
	started_masked |= cpuc->running;
	pmuv3_backend.irq_enable(cpuc);
}

/*
 * A CPU that comes online unmasks its overflow interrupt before its counters start. The order is
 * the same for all backends. It matters on x86: an overflow while LVTPC is masked is lost.
 */
static void hotplug_unmasks_before_start(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("pmuv3p5");
	struct corepmu_backend backend = pmuv3_backend;
	int cpu = cpumask_last(cpu_online_mask);
	struct corepmu_cpu *cpuc;
	struct corepmu *pmu;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "there is no second CPU that could go");

	load_power_on(testbed, LIVELY, false);
	backend.irq_enable = irq_enable_watched;
	pmu = testbed->ops->start(testbed);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu);
	pmu->backend = &backend;
	KUNIT_ASSERT_EQ(test, corepmu_register(pmu), 0);
	cpuc = per_cpu_ptr(pmu->cpu, cpu);
	KUNIT_EXPECT_EQ(test, remove_cpu(cpu), 0);
	/* As if perf core had put an event on the CPU: a counter in use, without the event */
	cpuc->used = BIT(0);
	started_masked = false;
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	KUNIT_EXPECT_TRUE(test, cpuc->running);
	KUNIT_EXPECT_FALSE(test, started_masked);
	cpuc->used = 0;
	cpuc->running = false;
	corepmu_unregister(pmu);
	testbed->ops->end(pmu);
}

static struct kunit_case hotplug_cases[] = {
	KUNIT_CASE(hotplug_numbers_second_cpu_type),
	KUNIT_CASE(hotplug_resets_cpu),
	KUNIT_CASE(hotplug_leaves_other_cpu_type),
	KUNIT_CASE(hotplug_cpu_types),
	KUNIT_CASE(hotplug_joins_pmu_of_cpu_type),
	KUNIT_CASE(hotplug_follows_power),
	KUNIT_CASE(hotplug_unmasks_before_start),
	{ }
};

TEST_SUITE(hotplug, "corepmu_hotplug", load_init, load_exit);
