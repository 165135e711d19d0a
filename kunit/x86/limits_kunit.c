// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of limits of some x86 CPUs, and of events that need privileges
 */
#include <kunit/test.h>

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/perf_event.h>

#include <corepmu/counter.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/intel/intel.h"
#include "x86/msr.h"
#include "x86/x86.h"
#include "x86/intel/uarch.h"

/* Properties that all CPUs of these tests share */
static const struct x86_model_cpu plain = {
	.name = "plain", .family = 6, .version = 4, .nr_gp = 8, .gp_width = 48, .nr_fixed = 3,
	.fixed_width = 48, .full_width = true, .nr_events = 7,
};

/* Minimum periods are the kernel's: nhm_limit_period(), hsw_limit_period(), bdw_limit_period(). */
static void limits_has_shortest_periods(struct kunit *test)
{
	static const struct {
		u8 model;
		u64 config, shortest, min_left;
	} table[] = {
		{ 0x1e, 0x00c4, 32, 32 }, { 0x2c, 0x01c4, 1, 2 }, { 0x2a, 0x01c0, 1, 2 },
		{ 0x3c, 0x00c4, 32, 32 }, { 0x45, 0x01c0, 128, 32 }, { 0x3d, 0x01c4, 1, 2 },
		{ 0x4f, 0x01c0, 128, 2 }, { 0x4f, 0x018401c0, 128, 2 }, { 0x5e, 0x01c0, 1, 2 },
		{ 0x8f, 0x01c4, 1, 2 }, { 0xff, 0x01c4, 1, 2 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event *event = uarch_start_model(test, table[i].model, 0, 8);
		u64 shorter = table[i].shortest - 1;
		struct fixture *b = test->priv;
		s64 left;

		KUNIT_EXPECT_EQ(test, b->cpuc->limiter.min_left, table[i].min_left);
		event->attr.sample_period = table[i].shortest;
		event->hw.sample_period = table[i].shortest;
		KUNIT_EXPECT_GT(test, uarch_counters(test, event, table[i].config), 0);
		KUNIT_EXPECT_EQ(test, b->pmu->perf_pmu.check_period(event, table[i].shortest), 0);
		if (table[i].shortest > 1) {
			event->attr.sample_period--;
			KUNIT_EXPECT_EQ(test, -EINVAL,
					uarch_counters(test, event, table[i].config));
			KUNIT_EXPECT_EQ(test, -EINVAL, b->pmu->perf_pmu.check_period(event,
										     shorter));
		}
		/* For an event with a frequency, any period is valid: perf core chooses it. */
		event->attr.freq = 1;
		event->attr.sample_freq = 1;
		KUNIT_EXPECT_GT(test, uarch_counters(test, event, table[i].config), 0);
		KUNIT_EXPECT_EQ(test, b->pmu->perf_pmu.check_period(event, 1), 0);
		event->attr.freq = 0;

		/* The rest of a period is not shorter than the minimum either. */
		event->attr.sample_period = 1000;
		KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
		KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		fixture_del(event);
		local64_set(&event->hw.period_left, 1);
		KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		left = (0 - local64_read(&event->hw.prev_count)) &
		       corepmu_hw_value_mask(&event->hw);
		KUNIT_EXPECT_EQ(test, left, max(table[i].min_left, table[i].shortest));
		/* The minimum also holds after the limiter has reset the event's own minimum. */
		corepmu_hw_set_min_period(&event->hw, BIT(20));
		corepmu_counter_limit(b->cpuc, event);
		KUNIT_EXPECT_EQ(test, corepmu_hw_min_period(&event->hw),
				max(table[i].min_left, table[i].shortest));
		fixture_remove(event);
	}
}

/*
 * Branch instructions with period 1 are rejected: with the built-in driver they are a branch trace,
 * intel_pmu_has_bts_period().
 */
static void limits_has_no_branch_trace(struct kunit *test)
{
	static const struct perf_event_attr table[] = {
		{ .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		{ .type = PERF_TYPE_RAW, .config = 0x00c4 },
		{ .type = PERF_TYPE_RAW, .config = 0x018400c4 },
	};
	static const struct perf_event_attr others[] = {
		{ .type = PERF_TYPE_RAW, .config = 0x01c4, .sample_period = 1 },
		{ .type = PERF_TYPE_RAW, .config = 0x00c4, .freq = 1, .sample_freq = 1 },
		{ .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
		  .sample_period = 1 },
	};
	struct x86_model_cpu skylake = plain;
	struct perf_event *event;
	struct fixture *b;

	skylake.model = 0x5e;
	uarch_start(test, &skylake);
	b = test->priv;
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event_attr attr = table[i];

		attr.sample_period = 1;
		KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EOPNOTSUPP);
		attr.sample_period = 2;
		KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
		KUNIT_EXPECT_EQ(test, b->pmu->perf_pmu.check_period(event, 1), -EINVAL);
		KUNIT_EXPECT_EQ(test, b->pmu->perf_pmu.check_period(event, 3), 0);
		fixture_close(event);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++) {
		KUNIT_ASSERT_EQ(test, fixture_open(b, &others[i], &event), 0);
		KUNIT_EXPECT_EQ(test, b->pmu->perf_pmu.check_period(event, 1), 0);
		fixture_close(event);
	}
}

/* The first period for a frequency is not below the event's minimum period (Haswell). */
static void limits_has_first_periods_of_frequencies(struct kunit *test)
{
	static const struct {
		u64 config, freq, period;
	} table[] = {
		{ 0x00c4, 4000, 124999 }, { 0x01c0, 10000000, 128 }, { 0x00c4, 20000000, 32 },
	};
	struct x86_model_cpu haswell = plain;
	struct perf_event *event;
	struct fixture *b;

	haswell.model = 0x3c;
	uarch_start(test, &haswell);
	b = test->priv;
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		const struct perf_event_attr attr = {
			.type = PERF_TYPE_RAW, .config = table[i].config,
			.freq = 1, .sample_freq = table[i].freq,
		};

		KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
		KUNIT_EXPECT_EQ(test, event->hw.sample_period, table[i].period);
		fixture_close(event);
	}
}

/*
 * If CPUID lists more than ten counters, the driver uses the first ten. It writes none of the MSRs
 * after theirs, which are no counters.
 */
static void limits_counters_have_registers(struct kunit *test)
{
	struct x86_model_cpu cpu = plain;
	struct perf_event *event;
	struct fixture *b;

	cpu.family = 20;
	cpu.version = 6;
	cpu.nr_gp = 12;
	cpu.fixed_map = GENMASK(2, 0);
	event = uarch_start(test, &cpu);
	b = test->priv;
	KUNIT_EXPECT_EQ(test, b->pmu->counters, GP(10) | FIXED(0) | FIXED(1) | FIXED(2));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00c4), GP(10));

	/* The same from leaf 0xA alone */
	cpu.version = 5;
	uarch_start(test, &cpu);
	b = test->priv;
	KUNIT_EXPECT_EQ(test, b->pmu->counters, GP(10) | FIXED(0) | FIXED(1) | FIXED(2));
}

/*
 * any=1 needs the privilege of a CPU-wide event: the other hyperthread may run another user's task.
 */
static void limits_any_thread_is_privileged(struct kunit *test)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_RAW, .config = 0x2000c4 };
	struct x86_model_cpu cpu = plain;
	struct perf_event *event, *child;
	const struct cred *old;
	struct cred *powerless;

	cpu.any = true;
	event = uarch_start(test, &cpu);
	powerless = prepare_creds();
	KUNIT_ASSERT_NOT_NULL(test, powerless);
	cap_clear(powerless->cap_effective);
	old = override_creds(powerless);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x2000c4), -EACCES);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0xc4), GP(8));
	x86_model_paranoid = 0;
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x2000c4), GP(8));
	x86_model_paranoid = 1;
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x2000c4), -EACCES);
	/* A child of an open event is accepted: fork(2) must not fail. */
	child = fixture_alloc(test->priv, &attr);
	child->parent = event;
	KUNIT_EXPECT_EQ(test, fixture_init_event(child), 0);
	child->parent = NULL;
	fixture_close(child);
	revert_creds(old);
	put_cred(powerless);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x2000c4), GP(8));
}

/* in_tx is accepted from Haswell to Lion Cove if the CPU has transactions. */
static void limits_tsx_bits(struct kunit *test)
{
	static const struct {
		u8 model, core_type;
		bool rtm;
		s64 counters;
	} table[] = {
		{ 0x3c, 0, true, GP(8) }, { 0x3c, 0, false, -EINVAL }, { 0x3a, 0, true, -EINVAL },
		{ 0x4f, 0, true, GP(8) }, { 0x6a, 0, true, GP(8) }, { 0x8f, 0, true, GP(8) },
		{ 0xbd, INTEL_CORE, true, GP(8) }, { 0xbd, INTEL_ATOM, true, -EINVAL },
		{ 0x5c, 0, true, -EINVAL }, { 0xff, 0, true, -EINVAL },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct x86_model_cpu cpu = plain;

		cpu.model = table[i].model;
		cpu.core_type = table[i].core_type;
		cpu.rtm = table[i].rtm;
		KUNIT_EXPECT_EQ(test, uarch_counters(test, uarch_start(test, &cpu), 0x1000000c4ULL),
				table[i].counters);
	}
}

/* Events with in_tx_cp have no overflow interrupt, which would abort the transaction. */
static void limits_tsx_without_interrupt(struct kunit *test)
{
	const u64 in_tx = EVNTSEL_IN_TX | EVENT_CORE_CYCLES, in_tx_cp = in_tx | EVNTSEL_IN_TX_CP;
	struct x86_model_cpu cpu = plain;
	struct perf_event *event;

	cpu.model = 0x5e;
	cpu.rtm = true;
	event = uarch_start(test, &cpu);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, in_tx), GP(8));
	KUNIT_EXPECT_TRUE(test, event->hw.config_base & EVNTSEL_INT);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, in_tx_cp), BIT(2));
	KUNIT_EXPECT_FALSE(test, event->hw.config_base & EVNTSEL_INT);
}

/* Counters of family 15h: arch/x86/events/amd/core.c, "AMD family 15h event code/PMC mappings" */
static void limits_family_15h(struct kunit *test)
{
	static const struct {
		u64 config;
		s64 counters;
	} table[] = {
		/* Units: FP, LS, DC, CU, IC/DE, none, EX/LS, DE, northbridge */
		{ 0x0001, 0x38 }, { 0x0010, 0x38 }, { 0x0020, 0x3f }, { 0x0037, 0x3f },
		{ 0x0040, 0x3f }, { 0x0052, 0x3f }, { 0x0060, 0x07 }, { 0x0076, 0x07 },
		{ 0x0080, 0x07 }, { 0x0095, 0x07 }, { 0x00a0, -EINVAL }, { 0x00b8, -EINVAL },
		{ 0x00c0, 0x3f }, { 0x00c2, 0x3f }, { 0x00d0, 0x07 }, { 0x00e0, -EINVAL },
		{ 0x00f7, -EINVAL },
		/* Exceptions */
		{ 0x0100, 0x38 }, { 0x1100, 0x08 }, { 0x3000, 0x38 }, { 0x0003, 0x08 },
		{ 0x0104, 0x38 }, { 0x0304, 0x08 }, { 0x000b, 0x08 }, { 0x000d, 0x08 },
		{ 0x0023, 0x07 }, { 0x002d, 0x08 }, { 0x002e, 0x09 }, { 0x0131, 0x07 },
		{ 0x0331, -EINVAL }, { 0x0043, 0x07 }, { 0x0045, 0x07 }, { 0x0046, 0x07 },
		{ 0x0054, 0x07 }, { 0x0055, 0x07 }, { 0x008f, 0x01 }, { 0x100000087ULL, 0x01 },
		{ 0x100000088ULL, 0x01 }, { 0x00db, 0x3f }, { 0x00df, 0x3f },
		{ 0x1000000c0ULL, 0x38 }, { 0x1000000d6ULL, 0x3f }, { 0x1000000d8ULL, 0x3f },
		{ 0x1000000d7ULL, 0x07 },
	};
	struct x86_model_cpu cpu = {
		.name = "15h", .amd = true, .family = 0x15, .version = 1, .nr_gp = 6,
		.gp_width = 48,
	};
	struct perf_event *event = uarch_start(test, &cpu);

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++)
		KUNIT_EXPECT_EQ_MSG(test, uarch_counters(test, event, table[i].config),
				    table[i].counters, "config %#llx", table[i].config);

	/* Family 16h has no such constraints. */
	cpu.family = 0x16;
	event = uarch_start(test, &cpu);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0003), GP(6));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00e0), GP(6));
}

/* On older families, cores share the northbridge's counters: northbridge events are rejected. */
static void limits_shared_northbridge(struct kunit *test)
{
	struct x86_model_cpu cpu = {
		.name = "10h", .amd = true, .family = 0x10, .nr_gp = 4, .gp_width = 48,
	};
	struct perf_event *event = uarch_start(test, &cpu);

	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00e0), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x4000007e1ULL), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00df), GP(4));

	/* A virtual Zen without the core extension */
	cpu.family = 0x17;
	event = uarch_start(test, &cpu);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00e0), GP(4));
}

/* Merged events use two counters: PPR, "Large Increment per Cycle" */
static void limits_merges(struct kunit *test)
{
	static const char * const names[] = { "amd-v2", "amd-core", "amd-hygon" };
	static const struct perf_event_attr merged = {
		.type = PERF_TYPE_RAW, .config = 0xff03, .sample_period = 1000,
	};
	static const struct perf_event_attr plain_event = {
		.type = PERF_TYPE_RAW, .config = 0x00c0,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		struct fixture *b = fixture_start_on(test, names[i]);
		const struct x86_model *model = this_cpu_ptr(&x86_model_state);
		struct perf_event *event, *other;

		KUNIT_ASSERT_EQ(test, fixture_open(b, &merged, &event), 0);
		KUNIT_ASSERT_EQ(test, fixture_open(b, &plain_event, &other), 0);
		for (unsigned int round = 1; round < 3; round++) {
			fixture_forget(b);
			KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
			KUNIT_EXPECT_EQ(test, event->hw.idx, 1);
			KUNIT_EXPECT_EQ(test, b->cpuc->used, 0x3);
			KUNIT_EXPECT_EQ(test, model->select[0], 0x53ff03);
			KUNIT_EXPECT_EQ(test, model->select[1], 0xf004000ffULL);
			KUNIT_EXPECT_EQ(test, model->counter[0], (-1000) & GENMASK_ULL(47, 0));
			KUNIT_EXPECT_EQ(test, model->counter[1], 0xffff);
			x86_model_run(0xff03, true, 5500);
			KUNIT_EXPECT_EQ(test, b->nr_samples, 5);
			KUNIT_EXPECT_EQ(test, fixture_read(event), 5500 * round);
			KUNIT_EXPECT_EQ(test, model->counter[1], 0xffff);
			fixture_del(event);
			local64_set(&event->hw.period_left, 1000);

			/* Another event gets the even counter, and merging is off. */
			KUNIT_ASSERT_EQ(test, fixture_add(other, PERF_EF_START), 0);
			KUNIT_EXPECT_EQ(test, other->hw.idx, 0);
			KUNIT_EXPECT_EQ(test, model->select[0], 0x5300c0);
			KUNIT_EXPECT_EQ(test, model->select[1] & BIT_ULL(22), 0);
			x86_model_run(0x00c0, true, 70);
			KUNIT_EXPECT_EQ(test, fixture_read(other), 70 * round);
			fixture_del(other);
		}
		fixture_end(b);
	}
}

/* Without the core extension, merged events are rejected. */
static void limits_cannot_merge(struct kunit *test)
{
	struct x86_model_cpu cpu = {
		.name = "Zen of a hypervisor", .amd = true, .family = 0x17, .nr_gp = 4,
		.gp_width = 48,
	};
	struct perf_event *event = uarch_start(test, &cpu);

	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0xff03), -EOPNOTSUPP);
	cpu.family = 0x10;
	event = uarch_start(test, &cpu);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0xff03), GP(4));
}

/* The merge event (0xfff) is rejected: only the driver uses it. */
static void limits_merge_is_no_event(struct kunit *test)
{
	static const struct {
		const char *testbed;
		int err;
	} table[] = {
		{ "amd-v2", -EINVAL }, { "amd-hygon", -EINVAL },
		/* On this CPU 0xfff is the code of a northbridge event. */
		{ "amd-legacy", -EOPNOTSUPP },
	};
	static const struct perf_event_attr merge = {
		.type = PERF_TYPE_RAW, .config = 0xf000000ffULL,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct fixture *b = fixture_start_on(test, table[i].testbed);
		struct perf_event *event;

		KUNIT_EXPECT_EQ(test, fixture_open(b, &merge, &event), table[i].err);
		fixture_end(b);
	}
}

/*
 * CPUID does not report the fixed counters of 65 nm Core 2; a hypervisor's CPUID reports all it
 * has.
 */
static void limits_fixed_counters_are_not_reported(struct kunit *test)
{
	struct x86_model_cpu cpu = {
		.name = "merom", .family = 6, .model = 0x0f, .version = 2, .nr_gp = 2,
		.gp_width = 40, .nr_fixed = 3, .fixed_width = 40, .hides_fixed = true,
		.bare = true, .nr_events = 7,
	};
	struct perf_event *event = uarch_start(test, &cpu);
	struct fixture *b = test->priv;

	KUNIT_EXPECT_EQ(test, b->pmu->counters, GP(2) | FIXED(0) | FIXED(1) | FIXED(2));
	for (unsigned int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, b->pmu->width[FIXED_COUNTER_BASE + i], 40);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00c0), GP(2) | FIXED(0));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x003c), GP(2) | FIXED(1));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0300), FIXED(2));
	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	x86_model_run(0x0300, true, 1000);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1000);
	fixture_remove(event);

	cpu.bare = false;
	event = uarch_start(test, &cpu);
	b = test->priv;
	KUNIT_EXPECT_EQ(test, b->pmu->counters, GP(2));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00c0), GP(2));

	/* A hypervisor without the hypervisor bit, and without fixed counters */
	cpu.bare = true;
	cpu.nr_fixed = 0;
	uarch_start(test, &cpu);
	b = test->priv;
	KUNIT_EXPECT_EQ(test, b->pmu->counters, GP(2));

	/* From version 5 on, fixed counters that CPUID does not report do not exist. */
	cpu.version = 5;
	cpu.nr_fixed = 3;
	uarch_start(test, &cpu);
	b = test->priv;
	KUNIT_EXPECT_EQ(test, b->pmu->counters, GP(2));
}

static struct kunit_case limits_cases[] = {
	KUNIT_CASE(limits_has_shortest_periods),
	KUNIT_CASE(limits_has_no_branch_trace),
	KUNIT_CASE(limits_has_first_periods_of_frequencies),
	KUNIT_CASE(limits_fixed_counters_are_not_reported),
	KUNIT_CASE(limits_counters_have_registers),
	KUNIT_CASE(limits_any_thread_is_privileged),
	KUNIT_CASE(limits_tsx_bits),
	KUNIT_CASE(limits_tsx_without_interrupt),
	KUNIT_CASE(limits_family_15h),
	KUNIT_CASE(limits_shared_northbridge),
	KUNIT_CASE(limits_merges),
	KUNIT_CASE(limits_cannot_merge),
	KUNIT_CASE(limits_merge_is_no_event),
	{ }
};

OWN_TESTBED_SUITE(limits, "corepmu_x86_limits");
