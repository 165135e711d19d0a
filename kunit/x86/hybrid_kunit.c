// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of hybrid x86 machines
 */
#include <kunit/test.h>

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include <corepmu/module.h>

#include "fixture/suite.h"
#include "models/model.h"
#include "models/x86/pebs.h"
#include "models/x86/access.h"
#include "x86/intel/intel.h"
#include "x86/msr.h"
#include "x86/x86.h"
#include "x86/intel/uarch.h"

/* Number of events that each register access makes: counters count by themselves */
#define LIVELY	500

#define ALL_FIXED	(FIXED(0) | FIXED(1) | FIXED(2))

/* Alder Lake. CPUID leaf 0xA of a core reports only the counters that an atom has, too. */
static const struct x86_model_cpu core = {
	.name = "Golden Cove", .family = 6, .model = 0x97, .core_type = INTEL_CORE, .native = 1,
	.version = 5, .nr_gp = 8, .reported_gp = 6, .gp_width = 48, .nr_fixed = 3,
	.fixed_width = 48, .full_width = true, .nr_events = 7, .hybrid = true,
};

static const struct x86_model_cpu atom = {
	.name = "Gracemont", .family = 6, .model = 0x97, .core_type = INTEL_ATOM, .native = 1,
	.version = 5, .nr_gp = 6, .gp_width = 48, .nr_fixed = 3, .fixed_width = 48,
	.full_width = true, .nr_events = 7, .hybrid = true,
};

/* Panther Lake: the CPU types have architectural PEBS on different counters */
#define PANTHER_LAKE_CPU							\
	.family = 6, .model = 0xcc, .native = 3, .version = 6, .gp_width = 48, .nr_fixed = 3,	\
	.fixed_map = 0x7, .fixed_width = 48, .full_width = true, .nr_events = 7, .hybrid = true, \
	.pebs = PEBS_MODEL_ARCH

static const struct x86_model_cpu arch_core = {
	.name = "Cougar Cove", .core_type = INTEL_CORE, .nr_gp = 8, PANTHER_LAKE_CPU,
};

static const struct x86_model_cpu arch_atom = {
	.name = "Darkmont", .core_type = INTEL_ATOM, .nr_gp = 6, PANTHER_LAKE_CPU,
};

/* Nova Lake, with the fixed counters that both CPU types have */
#define NOVA_LAKE_CPU								\
	.family = 18, .model = 0x01, .native = 4, .version = 6, .nr_gp = 8, .gp_width = 48,	\
	.nr_fixed = 3, .fixed_map = 0x7, .fixed_width = 48, .full_width = true,		\
	.nr_events = 7, .hybrid = true

static const struct x86_model_cpu nova_core = {
	.name = "Coyote Cove", .core_type = INTEL_CORE, NOVA_LAKE_CPU,
};

static const struct x86_model_cpu nova_atom = {
	.name = "Arctic Wolf", .core_type = INTEL_ATOM, NOVA_LAKE_CPU,
};

/* Return the last CPU: tests make it an atom, or take it offline. */
static int last_cpu(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask);

	if (!cpu)
		kunit_skip(test, "there is no second CPU");

	return cpu;
}

/* Reset all CPUs to @cpus, except CPU @other to @other_cpu if that is not NULL. */
static void power_on(const struct x86_model_cpu *cpus, int other,
		     const struct x86_model_cpu *other_cpu)
{
	int cpu;

	x86_model_power_on(cpus);
	if (other_cpu)
		x86_model_power_on_other(other, other_cpu);
	for_each_possible_cpu(cpu)
		per_cpu_ptr(&x86_model_state, cpu)->counts_itself = LIVELY;
}

static int hybrid_init(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, corepmu_hotplug_init(), 0);
	return 0;
}

static void hybrid_exit(struct kunit *test)
{
	unsigned int faults = 0;
	int cpu;

	corepmu_hotplug_exit();
	/* The driver has accessed no register that only the other CPU type has. */
	for_each_possible_cpu(cpu)
		faults += per_cpu_ptr(&model_log, cpu)->faults;
	KUNIT_EXPECT_EQ(test, faults, 0);
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 0);
	KUNIT_EXPECT_EQ(test, x86_nr_cpu_types(), 0);
}

/* Load and unload: each CPU type has a PMU with its own counters and CPUs. */
static void hybrid_two_cpu_types(struct kunit *test)
{
	int last = last_cpu(test), builtin;
	struct corepmu *pmu[2];

	for (builtin = 0; builtin < 2; builtin++) {
		power_on(&core, last, &atom);
		x86_model_builtin = builtin;
		KUNIT_ASSERT_EQ(test, corepmu_arch_init(), 0);
		KUNIT_ASSERT_EQ(test, x86_nr_cpu_types(), 2);
		pmu[0] = x86_cpu_type(0)->pmu;
		pmu[1] = x86_cpu_type(1)->pmu;
		KUNIT_EXPECT_STREQ(test, pmu[0]->perf_pmu.name, "corepmu_core");
		KUNIT_EXPECT_STREQ(test, pmu[1]->perf_pmu.name, "corepmu_atom");
		KUNIT_EXPECT_STREQ(test, x86_cpu_type(0)->uarch->name, "golden_cove");
		KUNIT_EXPECT_STREQ(test, x86_cpu_type(1)->uarch->name, "gracemont");
		KUNIT_EXPECT_EQ(test, pmu[0]->counters, GP(8) | ALL_FIXED);
		KUNIT_EXPECT_EQ(test, pmu[1]->counters, GP(6) | ALL_FIXED);
		KUNIT_EXPECT_TRUE(test, cpumask_equal(&pmu[1]->supported_cpus, cpumask_of(last)));
		KUNIT_EXPECT_FALSE(test, cpumask_intersects(&pmu[0]->supported_cpus,
							    &pmu[1]->supported_cpus));
		KUNIT_EXPECT_EQ(test, cpumask_weight(&pmu[0]->supported_cpus),
				num_online_cpus() - 1);
		KUNIT_EXPECT_TRUE(test, corepmu_filter(&pmu[0]->perf_pmu, last));
		KUNIT_EXPECT_FALSE(test, corepmu_filter(&pmu[1]->perf_pmu, last));
		KUNIT_EXPECT_PTR_EQ(test, pmu[0]->backend, pmu[1]->backend);
		KUNIT_EXPECT_PTR_EQ(test, pmu[0]->backend,
				    builtin ? &x86_each_backend : &x86_global_backend);
		/*
		 * Reservations cover the CPU type with more counters; in coexist mode events
		 * reserve them.
		 */
		KUNIT_EXPECT_EQ(test, x86_model_reserved(), builtin ? 0 : 2 * 8);
		corepmu_arch_exit();
	}
}

/* A CPU of each type reports its counters with architectural PEBS. */
static void hybrid_records(struct kunit *test)
{
	int last = last_cpu(test);

	if (!IS_ENABLED(CONFIG_X86))
		kunit_skip(test, "there are no precise events");
	power_on(&arch_core, last, &arch_atom);
	KUNIT_ASSERT_EQ(test, corepmu_arch_init(), 0);
	KUNIT_ASSERT_EQ(test, x86_nr_cpu_types(), 2);
	KUNIT_EXPECT_EQ(test, x86_cpu_type(0)->pmu->max_precise, 3);
	KUNIT_EXPECT_EQ(test, x86_cpu_type(1)->pmu->max_precise, 3);
	KUNIT_EXPECT_EQ(test, x86_cpu_type(0)->pebs_counters, GP(8 - 1) | ALL_FIXED);
	KUNIT_EXPECT_EQ(test, x86_cpu_type(1)->pebs_counters, GP(6 - 1) | ALL_FIXED);
	corepmu_arch_exit();
}

static void hybrid_nova_lake(struct kunit *test)
{
	int last = last_cpu(test);

	power_on(&nova_core, last, &nova_atom);
	KUNIT_ASSERT_EQ(test, corepmu_arch_init(), 0);
	KUNIT_ASSERT_EQ(test, x86_nr_cpu_types(), 2);
	KUNIT_EXPECT_STREQ(test, x86_cpu_type(0)->pmu->perf_pmu.name, "corepmu_core");
	KUNIT_EXPECT_STREQ(test, x86_cpu_type(1)->pmu->perf_pmu.name, "corepmu_atom");
	KUNIT_EXPECT_STREQ(test, x86_cpu_type(0)->uarch->name, "coyote_cove");
	KUNIT_EXPECT_STREQ(test, x86_cpu_type(1)->uarch->name, "arctic_wolf");
	KUNIT_EXPECT_EQ(test, x86_cpu_type(0)->pmu->counters, GP(8) | ALL_FIXED);
	KUNIT_EXPECT_EQ(test, x86_cpu_type(1)->pmu->counters, GP(8) | ALL_FIXED);
	corepmu_arch_exit();
}

static struct perf_event *hybrid_event(struct kunit *test, struct corepmu *pmu, u32 type,
				       u64 config, int cpu)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	event->attr.type = type;
	event->attr.config = config;
	event->attr.size = sizeof(event->attr);
	event->cpu = cpu;
	event->group_leader = event;
	INIT_LIST_HEAD(&event->sibling_list);
	event->pmu = &pmu->perf_pmu;

	return event;
}

/* Events that a PMU accepts, and their counters */
static void hybrid_events(struct kunit *test)
{
	static const struct {
		bool atom, generic, own;
		u64 config;
		/* -1: per task; otherwise CPU: 0 of the other type, 1 of the PMU's own type */
		int where;
		s64 counters;
	} table[] = {
		{ .config = 0x00c4, .where = -1, .counters = GP(8) },
		{ .config = 0x04a4, .where = -1, .counters = GP(1) },
		{ .config = 0x00c4, .where = 1, .counters = GP(8) },
		{ .config = 0x00c4, .where = 0, .counters = -ENOENT },
		/* A raw event without a PMU's type belongs to the cores. */
		{ .atom = true, .config = 0x00c4, .where = -1, .counters = -ENOENT },
		{ .atom = true, .config = 0x00c4, .where = 1, .counters = -ENOENT },
		{ .atom = true, .own = true, .config = 0x00c4, .where = -1, .counters = GP(6) },
		{ .atom = true, .own = true, .config = 0x00c4, .where = 1, .counters = GP(6) },
		{ .atom = true, .own = true, .config = 0x00c4, .where = 0, .counters = -ENOENT },
		/* Generic events: perf core asks the cores' PMU first. */
		{ .generic = true, .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS, .where = -1,
		  .counters = GP(8) },
		{ .generic = true, .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS, .where = 0,
		  .counters = -ENOENT },
		{ .atom = true, .generic = true, .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		  .where = -1, .counters = GP(6) },
		{ .atom = true, .generic = true, .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
		  .where = 1, .counters = GP(6) },
	};
	int last = last_cpu(test);

	power_on(&core, last, &atom);
	KUNIT_ASSERT_EQ(test, corepmu_arch_init(), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct corepmu *pmu = x86_cpu_type(table[i].atom)->pmu;
		u32 type = table[i].own ? pmu->perf_pmu.type :
			   table[i].generic ? PERF_TYPE_HARDWARE : PERF_TYPE_RAW;
		int cpu = table[i].where < 0 ? -1 : table[i].where == table[i].atom ? last : 0;
		struct perf_event *event;
		int ret;

		event = hybrid_event(test, pmu, type, table[i].config, cpu);
		ret = pmu->perf_pmu.event_init(event);
		KUNIT_EXPECT_EQ_MSG(test, ret ?: (s64)corepmu_hw_counters(&event->hw),
				    table[i].counters, "row %u", i);
		if (event->destroy)
			event->destroy(event);
	}
	corepmu_arch_exit();
}

static void expect_untouched(struct kunit *test)
{
	const struct x86_model *model;
	int cpu;

	for_each_possible_cpu(cpu) {
		model = per_cpu_ptr(&x86_model_state, cpu);
		KUNIT_EXPECT_EQ(test, model->select[0], 0x5300c0);
		KUNIT_EXPECT_EQ(test, model->select[5], 0x5300c0);
		KUNIT_EXPECT_EQ(test, model->counter[0], 0x1234);
		KUNIT_EXPECT_EQ(test, model->fixed_ctrl, 0xb);
		KUNIT_EXPECT_EQ(test, model->lvtpc, APIC_LVT_MASKED);
	}
}

/*
 * With a CPU of unknown type, or before the reservation, the driver writes no register on any CPU.
 */
static void hybrid_refused(struct kunit *test)
{
	static const struct {
		unsigned int core_type, native;
	} unknown[] = { { 0, 0 }, { 0x30, 1 }, { INTEL_CORE, 2 } };
	int last = last_cpu(test);
	struct x86_model_cpu other = atom;

	for (unsigned int i = 0; i < ARRAY_SIZE(unknown); i++) {
		other.core_type = unknown[i].core_type;
		other.native = unknown[i].native;
		x86_model_power_on(&core);
		x86_model_power_on_other(last, &other);
		KUNIT_EXPECT_EQ_MSG(test, corepmu_arch_init(), -ENODEV, "row %u", i);
		expect_untouched(test);
		KUNIT_EXPECT_EQ(test, x86_nr_cpu_types(), 0);
	}

	x86_model_power_on(&core);
	x86_model_power_on_other(last, &atom);
	x86_model_use(true);
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -EBUSY);
	expect_untouched(test);
}

/* If the counters of one CPU type fail the self-test, the other type has no PMU, either. */
static void hybrid_fails_with_one_dead_type(struct kunit *test)
{
	int last = last_cpu(test);

	power_on(&core, last, &atom);
	per_cpu_ptr(&x86_model_state, last)->dead = ~0ULL;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -EIO);
	power_on(&core, last, &atom);
	per_cpu_ptr(&x86_model_state, 0)->dead = ~0ULL;
	KUNIT_EXPECT_EQ(test, corepmu_arch_init(), -EIO);
}

/* Arrow Lake H has atoms of two microarchitectures, with different native model IDs. */
static void hybrid_low_power(struct kunit *test)
{
	struct x86_model_cpu skymont = atom, crestmont = atom;
	int last = last_cpu(test);

	skymont.model = 0xc5;
	skymont.native = 3;
	crestmont.model = 0xc5;
	crestmont.native = 2;
	power_on(&skymont, last, &crestmont);
	KUNIT_ASSERT_EQ(test, corepmu_arch_init(), 0);
	KUNIT_ASSERT_EQ(test, x86_nr_cpu_types(), 2);
	KUNIT_EXPECT_STREQ(test, x86_cpu_type(0)->pmu->perf_pmu.name, "corepmu_atom");
	KUNIT_EXPECT_STREQ(test, x86_cpu_type(1)->pmu->perf_pmu.name, "corepmu_lowpower");
	KUNIT_EXPECT_STREQ(test, x86_cpu_type(0)->uarch->name, "skymont");
	KUNIT_EXPECT_STREQ(test, x86_cpu_type(1)->uarch->name, "crestmont");
	KUNIT_EXPECT_TRUE(test, cpumask_equal(&x86_cpu_type(1)->pmu->supported_cpus,
					      cpumask_of(last)));
	corepmu_arch_exit();

	/* Meteor Lake has only Crestmont atoms. */
	crestmont.model = 0xaa;
	power_on(&crestmont, 0, NULL);
	KUNIT_ASSERT_EQ(test, corepmu_arch_init(), 0);
	KUNIT_ASSERT_EQ(test, x86_nr_cpu_types(), 1);
	KUNIT_EXPECT_STREQ(test, x86_cpu_type(0)->pmu->perf_pmu.name, "corepmu_atom");
	corepmu_arch_exit();
}

/* The driver uses no counter that the CPU lacks, although the table has it. */
static void hybrid_fewer_counters(struct kunit *test)
{
	struct x86_model_cpu fewer = core;

	fewer.nr_gp = 7;
	power_on(&fewer, 0, NULL);
	KUNIT_ASSERT_EQ(test, corepmu_arch_init(), 0);
	KUNIT_EXPECT_EQ(test, x86_nr_cpu_types(), 1);
	KUNIT_EXPECT_EQ(test, x86_cpu_type(0)->pmu->counters, GP(7) | ALL_FIXED);
	corepmu_arch_exit();
}

/* A CPU that comes online joins its CPU type's PMU, if there is one. */
static void hybrid_joins(struct kunit *test)
{
	static const struct x86_model_cpu * const joining[] = { &core, &atom };
	int last = last_cpu(test);
	struct x86_model *model;
	struct corepmu *pmu;
	bool joins;

	if (!IS_ENABLED(CONFIG_HOTPLUG_CPU))
		kunit_skip(test, "no CPU goes");

	model = per_cpu_ptr(&x86_model_state, last);
	for (unsigned int i = 0; i < ARRAY_SIZE(joining); i++) {
		power_on(&core, last, joining[i]);
		KUNIT_EXPECT_EQ(test, remove_cpu(last), 0);
		KUNIT_ASSERT_EQ(test, corepmu_arch_init(), 0);
		KUNIT_EXPECT_EQ(test, x86_nr_cpu_types(), 1);
		pmu = x86_cpu_type(0)->pmu;
		KUNIT_EXPECT_FALSE(test, cpumask_test_cpu(last, &pmu->supported_cpus));

		KUNIT_EXPECT_EQ(test, add_cpu(last), 0);
		joins = joining[i] == &core;
		KUNIT_EXPECT_EQ(test, cpumask_test_cpu(last, &pmu->supported_cpus), joins);
		KUNIT_EXPECT_EQ(test, model->select[3], joins ? 0 : 0x5300c0);
		KUNIT_EXPECT_EQ(test, model->lvtpc, joins ? APIC_DM_NMI : APIC_LVT_MASKED);
		corepmu_arch_exit();
		KUNIT_EXPECT_EQ(test, model->select[3], joins ? 0 : 0x5300c0);
	}

	/* A CPU that goes offline and online again stays with its PMU. */
	power_on(&core, last, &atom);
	KUNIT_ASSERT_EQ(test, corepmu_arch_init(), 0);
	KUNIT_EXPECT_EQ(test, remove_cpu(last), 0);
	model->select[3] = 0x5300c0;
	KUNIT_EXPECT_EQ(test, add_cpu(last), 0);
	KUNIT_EXPECT_EQ(test, model->select[3], 0);
	KUNIT_EXPECT_FALSE(test, corepmu_filter(&x86_cpu_type(1)->pmu->perf_pmu, last));
	KUNIT_EXPECT_TRUE(test, corepmu_filter(&x86_cpu_type(0)->pmu->perf_pmu, last));
	corepmu_arch_exit();
}

static struct kunit_case hybrid_cases[] = {
	KUNIT_CASE(hybrid_two_cpu_types),
	KUNIT_CASE(hybrid_nova_lake),
	KUNIT_CASE(hybrid_records),
	KUNIT_CASE(hybrid_events),
	KUNIT_CASE(hybrid_refused),
	KUNIT_CASE_SLOW(hybrid_fails_with_one_dead_type),
	KUNIT_CASE(hybrid_low_power),
	KUNIT_CASE(hybrid_fewer_counters),
	KUNIT_CASE(hybrid_joins),
	{ }
};

TEST_SUITE(hybrid, "corepmu_hybrid", hybrid_init, hybrid_exit);
