// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of loading and unloading: probe, self-test, registration
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
#include <linux/reboot.h>
#include <linux/smp.h>

#include <corepmu/module.h>

#include "fixture/testbed.h"
#include "models/arm64/access.h"
#include "models/x86/access.h"
#include "arm64/pmuv3.h"
#include "x86/x86.h"

/* Number of events that each register access makes: counters count by themselves */
#define LIVELY	500

/* Reset all CPUs; counters count by themselves, and with @deaf interrupts are held back. */
static void power_on(const struct testbed *testbed, unsigned int counts, bool deaf)
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

static unsigned int faults(void)
{
	unsigned int sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += per_cpu_ptr(&model_log, cpu)->faults;

	return sum;
}

static int load_init(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, corepmu_hotplug_init(), 0);
	return 0;
}

static void load_exit(struct kunit *test)
{
	corepmu_hotplug_exit();
	KUNIT_EXPECT_EQ(test, faults(), 0);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 0);
}

/* Load and unload as insmod and rmmod do, twice: the first unload leaves nothing in the way. */
static void load_unload(struct kunit *test)
{
	const struct testbed *testbed = test->param_value;
	struct corepmu *pmu;
	int round;

	for (round = 0; round < 2; round++) {
		power_on(testbed, LIVELY, false);
		if (testbed_is_x86(testbed)) {
			KUNIT_ASSERT_EQ(test, corepmu_arch_init(), 0);
			/* In coexist mode the driver reserves counters only for events. */
			KUNIT_EXPECT_EQ(test, !x86_model_reserved(), testbed->has_builtin);
			corepmu_arch_exit();
			continue;
		}
		pmu = testbed->ops->start(testbed);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu);
		KUNIT_EXPECT_EQ(test, corepmu_register(pmu), 0);
		KUNIT_EXPECT_TRUE(test, pmu->open);
		corepmu_unregister(pmu);
		testbed->ops->end(pmu);
	}
}

/* The self-test rejects counters that do not count, and overflows without an interrupt. */
static void load_self_test(struct kunit *test)
{
	static const char * const names[] = { "intel-v2", "amd-core", "pmuv3" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const struct testbed *testbed = testbed_by_name(names[i]);
		struct corepmu *pmu;
		bool deaf;

		for (deaf = false; ; deaf = true) {
			power_on(testbed, deaf ? LIVELY : 0, deaf);
			if (testbed_is_x86(testbed)) {
				KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -EIO);
			} else {
				pmu = testbed->ops->start(testbed);
				KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu);
				KUNIT_EXPECT_EQ(test, corepmu_register(pmu), -EIO);
				KUNIT_EXPECT_FALSE(test, pmu->open);
				testbed->ops->end(pmu);
			}
			if (deaf)
				break;
		}
	}
}

/*
 * On AMD a PMI does not mask LVTPC, but in a virtual machine it may. The self-test detects this
 * with the first PMI, and leaves out no counter because of it.
 */
static void load_learns_lvtpc(struct kunit *test)
{
	static const char * const names[] = { "amd-core", "amd-v2" };
	unsigned int i;
	int cpu;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		power_on(testbed_by_name(names[i]), LIVELY, false);
		x86_model_masks_all = true;
		KUNIT_EXPECT_EQ(test, corepmu_arch_init(), 0);
		KUNIT_EXPECT_EQ(test, x86_cpu_type(0)->pmu->counters, GENMASK_ULL(5, 0));
		KUNIT_EXPECT_TRUE(test, x86_cpu_type(0)->masks_lvtpc);
		for_each_online_cpu(cpu)
			KUNIT_EXPECT_EQ(test, per_cpu_ptr(&x86_model_state, cpu)->lvtpc,
					APIC_DM_NMI);
		corepmu_arch_exit();
		x86_model_masks_all = false;
	}
}

/*
 * A hypervisor provides fewer counters than the family has: the driver does not access missing
 * ones.
 */
static void load_uses_no_missing_counters(struct kunit *test)
{
	power_on(testbed_by_name("amd-core"), LIVELY, false);
	x86_model_missing = BIT(3) | BIT(5);
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), 0);
	KUNIT_EXPECT_EQ(test, x86_cpu_type(0)->pmu->counters, 0x17);
	KUNIT_EXPECT_EQ(test, x86_cpu_type(0)->pmu->pair_counters, 0x2);
	corepmu_arch_exit();
	x86_model_missing = 0;
}

/* In coexist mode the driver clears its counters before the built-in driver gets them back. */
static void load_clears_released_counters(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("intel-v4-beside");
	struct x86_model *m;
	int cpu, i;

	power_on(testbed, LIVELY, false);
	KUNIT_ASSERT_EQ(test, corepmu_arch_init(), 0);
	KUNIT_ASSERT_EQ(test, x86_reserve(), 0);
	for_each_online_cpu(cpu) {
		m = per_cpu_ptr(&x86_model_state, cpu);
		m->counts_itself = 0;
		for (i = 0; i < 8; i++)
			m->counter[i] = 123;
	}
	x86_release(x86_cpu_type(0)->pmu);
	for_each_online_cpu(cpu) {
		m = per_cpu_ptr(&x86_model_state, cpu);
		KUNIT_EXPECT_EQ(test, per_cpu_ptr(x86_cpu_type(0)->pmu->cpu, cpu)->dirty, 0);
		for (i = 0; i < 8; i++)
			KUNIT_EXPECT_EQ(test, m->counter[i], 0);
	}
	/* A CPU that comes online without a reservation has its counters left alone. */
	per_cpu_ptr(x86_cpu_type(0)->pmu->cpu, 0)->dirty = 0xff;
	x86_cpu_type(0)->pmu->backend->reset(per_cpu_ptr(x86_cpu_type(0)->pmu->cpu, 0));
	KUNIT_EXPECT_EQ(test, per_cpu_ptr(x86_cpu_type(0)->pmu->cpu, 0)->dirty, 0);
	corepmu_arch_exit();
}

/* Start and register a testbed's PMU. */
static struct corepmu *load(struct kunit *test, const struct testbed *testbed)
{
	struct corepmu *pmu = testbed->ops->start(testbed);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu);
	KUNIT_ASSERT_EQ(test, corepmu_register(pmu), 0);

	return pmu;
}

static void unload(const struct testbed *testbed, struct corepmu *pmu)
{
	corepmu_unregister(pmu);
	testbed->ops->end(pmu);
}

/* Counters that fail the self-test are left out; the others are available. */
static void load_left_out(struct kunit *test)
{
	static const struct {
		const char *testbed;
		/* Counters that fail on the last CPU, and the expected counters */
		u64 dead, deaf;
		unsigned int room;
		u64 counters, pairs;
	} table[] = {
		{ "intel-v4", .dead = BIT_ULL(3), .counters = 0x7000000f7 },
		{ "intel-v4", .dead = BIT_ULL(33), .counters = 0x5000000ff },
		{ "intel-v4", .deaf = BIT_ULL(0) | BIT_ULL(34), .counters = 0x3000000fe },
		{ "intel-v4", .dead = BIT_ULL(2), .deaf = BIT_ULL(5), .counters = 0x7000000db },
		/* The hypervisor backs fewer counters than three fixed and five others. */
		{ "intel-v4", .room = 8, .counters = 0xff },
		{ "intel-v4", .room = 1, .counters = 0x1 },
		{ "intel-v1", .dead = BIT_ULL(0), .counters = 0x2 },
		/* Counters keep their value while others get their events (errata). */
		{ "intel-wsm", .counters = 0x70000000f },
		{ "intel-wsm", .deaf = BIT_ULL(1), .counters = 0x70000000d },
		{ "intel-wsm-beside", .counters = 0x70000000f },
		{ "amd-core", .dead = BIT_ULL(5), .counters = 0x1f, .pairs = 0x0a },
		{ "amd-v2", .deaf = BIT_ULL(4), .counters = 0x2f, .pairs = 0x0a },
		{ "amd-v2", .room = 5, .counters = 0x1f, .pairs = 0x0a },
		{ "pmuv3", .dead = BIT_ULL(2), .counters = 0x8000003b, .pairs = 0x22 },
		{ "pmuv3", .dead = BIT_ULL(31), .counters = 0x3f, .pairs = 0x2a },
	};
	int cpu = cpumask_last(cpu_online_mask);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		const struct testbed *testbed = testbed_by_name(table[i].testbed);
		struct corepmu *pmu;

		power_on(testbed, LIVELY, false);
		per_cpu_ptr(&x86_model_state, cpu)->dead = table[i].dead;
		per_cpu_ptr(&x86_model_state, cpu)->deaf = table[i].deaf;
		per_cpu_ptr(&x86_model_state, cpu)->room = table[i].room;
		per_cpu_ptr(&pmuv3_model_state, cpu)->dead = table[i].dead;
		pmu = load(test, testbed);
		KUNIT_EXPECT_EQ_MSG(test, pmu->counters, table[i].counters, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, pmu->pair_counters, table[i].pairs, "row %u", i);
		unload(testbed, pmu);
	}
}

/* An event that only left-out counters could count is rejected. */
static void load_left_out_event(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("intel-v4");
	struct fixture *b = fixture_start(test, testbed);
	struct perf_event_attr raw = { .type = PERF_TYPE_RAW, .config = 0x0300 };
	struct perf_event_attr generic = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_REF_CPU_CYCLES,
	};
	struct perf_event *event;

	b->pmu->counters &= ~BIT_ULL(34);
	KUNIT_EXPECT_EQ(test, fixture_open(b, &raw, &event), -EINVAL);
	KUNIT_EXPECT_EQ(test, fixture_open(b, &generic, &event), -ENOENT);
	fixture_end(b);
}

/* The driver writes no register before it has reserved them. */
static void load_writes_nothing_unreserved(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("intel-v4");
	const struct x86_model *model;
	int cpu;

	power_on(testbed, 0, false);
	x86_model_use(true);
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -EBUSY);
	for_each_possible_cpu(cpu) {
		model = per_cpu_ptr(&x86_model_state, cpu);
		KUNIT_EXPECT_EQ(test, model->select[0], 0x5300c0);
		KUNIT_EXPECT_EQ(test, model->counter[0], 0x1234);
		KUNIT_EXPECT_EQ(test, model->global_ctrl, 0xff);
		KUNIT_EXPECT_EQ(test, model->fixed_ctrl, 0xb);
	}
}

/* A reboot notification disables the counters; later starts of events enable none. */
static void load_shutdown(struct kunit *test)
{
	static const char * const names[] = { "intel-v4", "intel-v1", "amd-core", "amd-v2" };
	struct x86_model *model;
	unsigned int i, idx;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		struct fixture *b = fixture_start(test, testbed_by_name(names[i]));
		struct perf_event *counting, *later;
		struct notifier_block *nb = &b->pmu->reboot_nb;

		counting = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);
		later = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 1000);
		KUNIT_ASSERT_EQ(test, fixture_add(counting, PERF_EF_START), 0);

		corepmu_shutdown_add(b->pmu);
		nb->notifier_call(nb, SYS_RESTART, NULL);
		KUNIT_EXPECT_EQ(test, fixture_add(later, PERF_EF_START), 0);
		fixture_stop_event(counting, PERF_EF_UPDATE);
		fixture_start_event(counting, PERF_EF_RELOAD);

		model = this_cpu_ptr(&x86_model_state);
		for (idx = 0; idx < x86_model_this()->nr_gp; idx++)
			KUNIT_EXPECT_EQ(test, model->select[idx], 0);
		KUNIT_EXPECT_EQ(test, model->fixed_ctrl, 0);
		KUNIT_EXPECT_EQ(test, model->global_ctrl, 0);

		corepmu_shutdown_remove(b->pmu);
		fixture_del(counting);
		fixture_del(later);
		corepmu_use_backend(b->pmu->backend);
		fixture_close(counting);
		fixture_close(later);
		fixture_end(b);
	}
}

/* Other reasons to reject a load on x86; nothing is left behind. */
static void load_refused(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("intel-v4");

	power_on(testbed, LIVELY, false);
	x86_model_nmi_refused = true;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -ENOMEM);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 0);

	power_on(testbed, LIVELY, false);
	x86_model_use(true);
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -EBUSY);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 0);

	power_on(testbed, LIVELY, false);
	x86_model_cpuinfo.x86_vendor = 0x7f;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -ENODEV);

	power_on(testbed, LIVELY, false);
	x86_model_no_apic = true;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -ENODEV);
	x86_model_no_apic = false;

	power_on(testbed, LIVELY, false);
	x86_model_builtin = -ENOENT;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -ENOENT);

	/*
	 * In coexist mode, version 6 is rejected: the kernel's reservation does not cover its
	 * counters.
	 */
	power_on(testbed_by_name("intel-v6"), LIVELY, false);
	x86_model_builtin = 1;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -EBUSY);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 0);
	power_on(testbed_by_name("intel-v6"), LIVELY, false);
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), 0);
	corepmu_arch_exit();

	power_on(testbed, LIVELY, false);
	x86_model_no_msrs = true;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -ENODEV);
}

/* Return the type of the PMU of task-clock; -1 before Linux 6.5. */
static int clock_type(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_TASK_CLOCK, .disabled = 1,
	};
	struct perf_event *event;
	int type;

	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	type = event->pmu->type;
	perf_event_release_kernel(event);

	return type;
}

/* Names and types of other PMUs are rejected before perf core and sysfs warn about them. */
static void load_rejects_taken_names(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("intel-v4");
	const int clock = clock_type(test);
	const struct {
		char *name;
		int type, ret;
	} table[] = {
		{ "software", -1, -EEXIST },
		{ "corepmu", PERF_TYPE_SOFTWARE, -EEXIST },
		{ "corepmu", clock, clock < 0 ? 0 : -EEXIST },
		/* The built-in driver's names need standin=1. */
		{ "cpu", -1, -EINVAL },
		{ "cpu", PERF_TYPE_RAW, -EINVAL },
		{ "cpu_core", -1, -EINVAL },
		{ "cpuwide", -1, 0 },
		{ "corepmu", 12345, 0 },
	};
	char *name = corepmu_name;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		power_on(testbed, LIVELY, false);
		corepmu_name = table[i].name;
		corepmu_type = table[i].type;
		KUNIT_EXPECT_EQ_MSG(test, corepmu_arch_init(), table[i].ret, "row %u", i);
		if (!table[i].ret)
			corepmu_arch_exit();
		KUNIT_EXPECT_EQ_MSG(test, x86_model_reserved(), 0, "row %u", i);
	}
	corepmu_name = name;
	corepmu_type = -1;
}

/* A second CPU type's PMU has a number in its name. Without CPU hotplug there is no PMU. */
static void load_numbers_second_cpu_type(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("pmuv3p5");
	struct corepmu *pmu[2];
	int i;

	power_on(testbed, LIVELY, false);
	for (i = 0; i < 2; i++) {
		pmu[i] = testbed->ops->start(testbed);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu[i]);
		KUNIT_EXPECT_EQ(test, corepmu_register(pmu[i]), 0);
		KUNIT_EXPECT_STREQ(test, pmu[i]->perf_pmu.name, i ? "corepmu_1" : "corepmu");
	}
	for (i = 0; i < 2; i++) {
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
static void load_hotplug(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("intel-v4");
	int cpu = cpumask_last(cpu_online_mask);

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "there is no second CPU that could go");

	power_on(testbed, LIVELY, false);
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
static void load_other_cpu_type(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("pmuv3p5");
	int cpu = cpumask_last(cpu_online_mask);
	struct power_call call = { };
	struct pmuv3_model *model;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "there is no second CPU that could go");

	power_on(testbed, LIVELY, false);
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
static void load_cpu_types(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask);
	struct corepmu *pmu, *other;
	static struct cpumask left;

	power_on(testbed_by_name("pmuv3p5"), LIVELY, false);
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
static void load_joins(struct kunit *test)
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
	unsigned int i;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU) || !cpu)
		kunit_skip(test, "there is no second CPU that could go");

	model = per_cpu_ptr(&pmuv3_model_state, cpu);
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		power_on(testbed, LIVELY, false);
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
static void load_power_followed(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("pmuv3p5");
	struct corepmu_backend backend = pmuv3_backend;

	backend.reset = reset_watched;
	power_on(testbed, LIVELY, false);
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

/* Without memory for its name, a PMU is not registered. */
static void load_no_name(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("pmuv3p5");
	char *name = corepmu_name;
	struct corepmu *pmu;

	power_on(testbed, LIVELY, false);
	pmu = testbed->ops->start(testbed);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu);
	/* kstrdup(NULL) returns NULL, as without memory. */
	corepmu_name = NULL;
	KUNIT_EXPECT_EQ(test, corepmu_register(pmu), -ENOMEM);
	corepmu_name = name;
	KUNIT_EXPECT_FALSE(test, pmu->open);
	KUNIT_EXPECT_EQ(test, corepmu_register(pmu), 0);
	corepmu_unregister(pmu);
	testbed->ops->end(pmu);
}

static struct kunit_case load_cases[] = {
	KUNIT_CASE_PARAM(load_unload, testbed_gen_params),
	KUNIT_CASE_SLOW(load_self_test),
	KUNIT_CASE(load_learns_lvtpc),
	KUNIT_CASE(load_uses_no_missing_counters),
	KUNIT_CASE(load_clears_released_counters),
	KUNIT_CASE_SLOW(load_left_out),
	KUNIT_CASE(load_left_out_event),
	KUNIT_CASE(load_writes_nothing_unreserved),
	KUNIT_CASE(load_shutdown),
	KUNIT_CASE(load_refused),
	KUNIT_CASE(load_rejects_taken_names),
	KUNIT_CASE(load_numbers_second_cpu_type),
	KUNIT_CASE(load_hotplug),
	KUNIT_CASE(load_other_cpu_type),
	KUNIT_CASE(load_cpu_types),
	KUNIT_CASE(load_joins),
	KUNIT_CASE(load_power_followed),
	KUNIT_CASE(load_no_name),
	{ }
};

static struct kunit_suite load_suite = {
	.name		= "corepmu_load",
	.init		= load_init,
	.exit		= load_exit,
	.test_cases	= load_cases,
};

kunit_test_suite(load_suite);
