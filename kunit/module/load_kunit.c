// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of loading and unloading: probe, self-test, registration
 */
#include <kunit/test.h>

#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/reboot.h>

#include <corepmu/module.h>

#include "fixture/testbed.h"
#include "models/arm64/access.h"
#include "models/x86/access.h"
#include "x86/x86.h"
#include "fixture.h"

/*
 * Load and unload twice, as insmod and rmmod do: the first unload leaves nothing behind that
 * hinders the second load.
 */
static void load_unload(struct kunit *test)
{
	const struct testbed *testbed = test->param_value;
	struct corepmu *pmu;

	for (int round = 0; round < 2; round++) {
		load_power_on(testbed, LIVELY, false);
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

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		const struct testbed *testbed = testbed_by_name(names[i]);
		struct corepmu *pmu;

		for (bool deaf = false; ; deaf = true) {
			load_power_on(testbed, deaf ? LIVELY : 0, deaf);
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
 * The probes that write a register and read it back stay on one CPU: with preemption, another CPU
 * would read its own value.
 */
static void load_probes_on_one_cpu(struct kunit *test)
{
	static const char * const names[] = { "intel-lbr", "intel-pebs-icl", "amd-v2" };

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		load_power_on(testbed_by_name(names[i]), LIVELY, false);
		KUNIT_EXPECT_EQ(test, corepmu_arch_init(), 0);
		KUNIT_EXPECT_EQ_MSG(test, x86_model_migratable, 0, "%s", names[i]);
		corepmu_arch_exit();
	}
}

/*
 * On AMD a PMI does not mask LVTPC, but in a virtual machine it may. The self-test detects this
 * with the first PMI, and leaves out no counter because of it.
 */
static void load_learns_lvtpc(struct kunit *test)
{
	static const char * const names[] = { "amd-core", "amd-v2" };
	int cpu;

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		load_power_on(testbed_by_name(names[i]), LIVELY, false);
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
	load_power_on(testbed_by_name("amd-core"), LIVELY, false);
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
	int cpu;

	load_power_on(testbed, LIVELY, false);
	KUNIT_ASSERT_EQ(test, corepmu_arch_init(), 0);
	KUNIT_ASSERT_EQ(test, x86_reserve(), 0);
	for_each_online_cpu(cpu) {
		m = per_cpu_ptr(&x86_model_state, cpu);
		m->counts_itself = 0;
		for (int i = 0; i < 8; i++)
			m->counter[i] = 123;
	}
	x86_release(x86_cpu_type(0)->pmu);
	for_each_online_cpu(cpu) {
		m = per_cpu_ptr(&x86_model_state, cpu);
		KUNIT_EXPECT_EQ(test, per_cpu_ptr(x86_cpu_type(0)->pmu->cpu, cpu)->dirty, 0);
		for (int i = 0; i < 8; i++)
			KUNIT_EXPECT_EQ(test, m->counter[i], 0);
	}
	/* A CPU that comes online without a reservation has its counters left alone. */
	per_cpu_ptr(x86_cpu_type(0)->pmu->cpu, 0)->dirty = 0xff;
	x86_cpu_type(0)->pmu->backend->reset(per_cpu_ptr(x86_cpu_type(0)->pmu->cpu, 0));
	KUNIT_EXPECT_EQ(test, per_cpu_ptr(x86_cpu_type(0)->pmu->cpu, 0)->dirty, 0);
	corepmu_arch_exit();
}

/* Start and register a testbed's PMU. */
static struct corepmu *load_driver(struct kunit *test, const struct testbed *testbed)
{
	struct corepmu *pmu = testbed->ops->start(testbed);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu);
	KUNIT_ASSERT_EQ(test, corepmu_register(pmu), 0);

	return pmu;
}

static void unload_driver(const struct testbed *testbed, struct corepmu *pmu)
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
		/* CPUID reports more counters than the hypervisor provides, @room. */
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

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		const struct testbed *testbed = testbed_by_name(table[i].testbed);
		struct corepmu *pmu;

		load_power_on(testbed, LIVELY, false);
		per_cpu_ptr(&x86_model_state, cpu)->dead = table[i].dead;
		per_cpu_ptr(&x86_model_state, cpu)->deaf = table[i].deaf;
		per_cpu_ptr(&x86_model_state, cpu)->room = table[i].room;
		per_cpu_ptr(&pmuv3_model_state, cpu)->dead = table[i].dead;
		pmu = load_driver(test, testbed);
		KUNIT_EXPECT_EQ_MSG(test, pmu->counters, table[i].counters, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, pmu->pair_counters, table[i].pairs, "row %u", i);
		unload_driver(testbed, pmu);
	}
}

/*
 * Firmware may use a left-out counter. The NMI handler does not clear the status bit of that
 * counter, and does not claim an NMI because of the bit.
 */
static void load_ignores_left_out(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("intel-v4");
	unsigned int unknown;
	struct corepmu *pmu;

	load_power_on(testbed, LIVELY, false);
	per_cpu_ptr(&x86_model_state, cpumask_last(cpu_online_mask))->dead = BIT_ULL(3);
	pmu = load_driver(test, testbed);
	preempt_disable();
	unknown = testbed->ops->unknown();
	this_cpu_write(x86_model_state.global_status, BIT_ULL(3));
	x86_model_spurious_nmi();
	KUNIT_EXPECT_EQ(test, testbed->ops->unknown(), unknown + 1);
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.global_status), BIT_ULL(3));
	this_cpu_write(x86_model_state.global_status, 0);
	preempt_enable();
	unload_driver(testbed, pmu);
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

	load_power_on(testbed, 0, false);
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

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		struct fixture *b = fixture_start_on(test, names[i]);
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
		for (unsigned int idx = 0; idx < x86_model_this()->nr_gp; idx++)
			KUNIT_EXPECT_EQ(test, model->select[idx], 0);
		KUNIT_EXPECT_EQ(test, model->fixed_ctrl, 0);
		KUNIT_EXPECT_EQ(test, model->global_ctrl, 0);

		corepmu_shutdown_remove(b->pmu);
		fixture_del(counting);
		fixture_del(later);
		corepmu_use_backend(b->pmu->backend);
		fixture_end(b);
	}
}

/* Other reasons to reject a load on x86; nothing is left behind. */
static void load_refused(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("intel-v4");

	load_power_on(testbed, LIVELY, false);
	x86_model_nmi_refused = true;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -ENOMEM);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 0);

	load_power_on(testbed, LIVELY, false);
	x86_model_use(true);
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -EBUSY);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 0);

	load_power_on(testbed, LIVELY, false);
	x86_model_cpuinfo.x86_vendor = 0x7f;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -ENODEV);

	load_power_on(testbed, LIVELY, false);
	x86_model_no_apic = true;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -ENODEV);
	x86_model_no_apic = false;

	load_power_on(testbed, LIVELY, false);
	x86_model_xen_pv = true;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -ENODEV);
	x86_model_xen_pv = false;

	load_power_on(testbed, LIVELY, false);
	x86_model_builtin = -ENOENT;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -ENOENT);

	/*
	 * In coexist mode, version 6 is rejected: the kernel's reservation does not cover its
	 * counters.
	 */
	load_power_on(testbed_by_name("intel-v6"), LIVELY, false);
	x86_model_builtin = 1;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -EBUSY);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 0);
	load_power_on(testbed_by_name("intel-v6"), LIVELY, false);
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), 0);
	corepmu_arch_exit();

	load_power_on(testbed, LIVELY, false);
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

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		load_power_on(testbed, LIVELY, false);
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

/* Without memory for its name, a PMU is not registered. */
static void load_no_name(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("pmuv3p5");
	char *name = corepmu_name;
	struct corepmu *pmu;

	load_power_on(testbed, LIVELY, false);
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
	KUNIT_CASE(load_probes_on_one_cpu),
	KUNIT_CASE(load_learns_lvtpc),
	KUNIT_CASE(load_uses_no_missing_counters),
	KUNIT_CASE(load_clears_released_counters),
	KUNIT_CASE_SLOW(load_left_out),
	KUNIT_CASE(load_ignores_left_out),
	KUNIT_CASE(load_left_out_event),
	KUNIT_CASE(load_writes_nothing_unreserved),
	KUNIT_CASE(load_shutdown),
	KUNIT_CASE(load_refused),
	KUNIT_CASE(load_rejects_taken_names),
	KUNIT_CASE(load_no_name),
	{ }
};

TEST_SUITE(load, "corepmu_load", load_init, load_exit);
