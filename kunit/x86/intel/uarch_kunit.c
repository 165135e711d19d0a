// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of Intel's microarchitectures: models, fixed counters and reserved counters
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/intel/intel.h"
#include "x86/msr.h"
#include "x86/x86.h"
#include "uarch.h"

/* Properties that all CPUs of these tests share */
static const struct x86_model_cpu plain = {
	.name = "plain", .family = 6, .version = 4, .nr_gp = 8, .gp_width = 48, .nr_fixed = 3,
	.fixed_width = 48, .full_width = true, .nr_events = 7,
};

static struct testbed uarch_testbed;
static struct x86_model_cpu uarch_cpu;

/**
 * uarch_start() - start a PMU on a CPU, and allocate an event
 * @test: the test; its fixture, if there is one, ends, and its priv becomes the new fixture
 * @cpu: the CPU
 *
 * Return: the event, for uarch_counters()
 */
struct perf_event *uarch_start(struct kunit *test, const struct x86_model_cpu *cpu)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_RAW };
	struct fixture *b;

	if (test->priv)
		fixture_end(test->priv);
	uarch_cpu = *cpu;
	uarch_testbed = *testbed_by_name("intel-v4");
	uarch_testbed.cpu = &uarch_cpu;
	b = fixture_start(test, &uarch_testbed);

	return fixture_alloc(b, &attr);
}

/**
 * uarch_start_family() - start a PMU on an Intel CPU
 * @test: the test
 * @family: its family
 * @model: its model
 * @core_type: CPUID.1AH:EAX[31:24], or 0
 * @nr_gp: number of general-purpose counters
 *
 * Return: an event, as with uarch_start()
 */
struct perf_event *uarch_start_family(struct kunit *test, unsigned int family,
				      unsigned int model, unsigned int core_type,
				      unsigned int nr_gp)
{
	struct x86_model_cpu cpu = plain;

	cpu.family = family;
	cpu.model = model;
	cpu.core_type = core_type;
	cpu.nr_gp = nr_gp;

	return uarch_start(test, &cpu);
}

/**
 * uarch_start_model() - start a PMU on a CPU of family 6
 * @test: the test
 * @model: its model
 * @core_type: CPUID.1AH:EAX[31:24], or 0
 * @nr_gp: number of general-purpose counters
 *
 * Return: an event, as with uarch_start()
 */
struct perf_event *uarch_start_model(struct kunit *test, unsigned int model,
				     unsigned int core_type, unsigned int nr_gp)
{
	return uarch_start_family(test, FAMILY_P6, model, core_type, nr_gp);
}

/**
 * uarch_counters() - encode an event
 * @test: the test
 * @event: from uarch_start()
 * @config: its attr.config
 *
 * Return: the counters for it, or a negative errno if the driver rejects it
 */
s64 uarch_counters(struct kunit *test, struct perf_event *event, u64 config)
{
	struct fixture *b = test->priv;
	int ret;

	event->attr.config = config;
	ret = x86_encode(b->pmu, event);

	return ret ?: corepmu_hw_counters(&event->hw);
}

/* An unknown model, another family, and a core without a core type */
static void uarch_unknown_model(struct kunit *test)
{
	static const struct {
		unsigned int family, model, core_type;
		bool hybrid;
	} cpus[] = {
		{ 6, 0xff, 0 }, { 6, 0x00, 0 }, { 15, 0x5e, 0 }, { 19, 0x02, 0 },
		{ 18, 0x97, INTEL_CORE }, { 19, 0xaf, 0 },
		{ 6, 0x97, 0, true }, { 6, 0xbd, 0 }, { 6, 0xbd, 0x10 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cpus); i++) {
		struct x86_model_cpu cpu = plain;
		struct perf_event *event;
		struct fixture *b;

		cpu.family = cpus[i].family;
		cpu.model = cpus[i].model;
		cpu.core_type = cpus[i].core_type;
		cpu.hybrid = cpus[i].hybrid;
		event = uarch_start(test, &cpu);
		b = test->priv;
		KUNIT_EXPECT_NULL(test, to_x86(b->pmu)->uarch);
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0151), GP(4));
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x81d0), GP(4));
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00c4), GP(8));
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0100), -EINVAL);
	}
}

/*
 * From version 6 on, an unknown model accepts only architectural events and those of fixed
 * counters.
 */
static void uarch_rejects_unknown_events(struct kunit *test)
{
	struct x86_model_cpu cpu = plain;
	struct perf_event *event;

	cpu.family = 18;
	cpu.model = 0x02;
	cpu.version = 6;
	event = uarch_start(test, &cpu);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x01b1), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x022a), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00c4), GP(8));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0300), FIXED(2));
	/* With a cmask the event is still architectural. */
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x10000c4), GP(8));
}

/* Alder Lake and Raptor Lake without atoms may report no core type: all cores are P-cores. */
static void uarch_without_atoms(struct kunit *test)
{
	static const u8 models[] = { 0x97, 0x9a, 0xb7, 0xba, 0xbf };
	struct perf_event *event;

	for (unsigned int i = 0; i < ARRAY_SIZE(models); i++) {
		event = uarch_start_model(test, models[i], 0, 8);
		/* TOPDOWN.BR_MISPREDICT_SLOTS, MEM_TRANS_RETIRED.STORE_SAMPLE, INST_RETIRED.ANY */
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x08a4), 0x1);
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x02cd), 0x1);
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0100), FIXED(0));
	}
}

/* Sandy Bridge to Haswell: 0xd0 to 0xd3 are rejected if cores have two threads (erratum). */
static void uarch_spares_the_sibling(struct kunit *test)
{
	static const u8 models[] = { 0x2a, 0x2d, 0x3a, 0x3e, 0x3c, 0x3f, 0x45, 0x46 };
	struct perf_event *event;

	for (unsigned int i = 0; i < ARRAY_SIZE(models); i++) {
		event = uarch_start_model(test, models[i], 0, 4);
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x81d0), GP(4));
		x86_model_threads = true;
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x81d0), -EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x01d1), -EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x10401d3), -EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x01cf), GP(4));
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x01d4), GP(4));
		event = uarch_start_model(test, models[i], 0, 8);
		x86_model_threads = true;
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x81d0), GP(4));
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x01d3), GP(4));
	}

	/* Broadwell is the first without the erratum. */
	event = uarch_start_model(test, 0x3d, 0, 4);
	x86_model_threads = true;
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x81d0), GP(4));
}

/* Names in the kernel's intel_pmu_init(), for caps/pmu_name */
static void uarch_kernel_names(struct kunit *test)
{
	static const struct {
		u8 model, core_type;
		const char *name;
	} table[] = {
		{ 0x0e, 0, "core" }, { 0x16, 0, "core2" }, { 0x1a, 0, "nehalem" },
		{ 0x25, 0, "westmere" }, { 0x3c, 0, "haswell" },
		{ 0x57, 0, "knights-landing" }, { 0x75, 0, "silvermont" },
		{ 0x7a, 0, "goldmont_plus" },
		{ 0x86, 0, "Tremont" }, { 0x8c, 0, "icelake" }, { 0x8f, 0, "sapphire_rapids" },
		{ 0xad, 0, "granite_rapids" }, { 0xaf, 0, "crestmont" }, { 0xbe, 0, "gracemont" },
		{ 0x97, INTEL_CORE, "alderlake_hybrid" }, { 0x97, INTEL_ATOM, "alderlake_hybrid" },
		{ 0xaa, INTEL_ATOM, "meteorlake_hybrid" }, { 0xbd, INTEL_CORE, "lunarlake_hybrid" },
		{ 0xb5, INTEL_CORE, "meteorlake_hybrid" },
		{ 0xc5, INTEL_ATOM, "arrowlake_h_hybrid" },
		{ 0xc6, INTEL_CORE, "arrowlake_hybrid" },
		{ 0xcc, INTEL_CORE, "pantherlake_hybrid" },
		{ 0xd5, INTEL_ATOM, "pantherlake_hybrid" }, { 0xdd, 0, "darkmont" },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct fixture *b;

		uarch_start_model(test, table[i].model, table[i].core_type, 8);
		b = test->priv;
		KUNIT_EXPECT_STREQ(test, x86_kernel_name(to_x86(b->pmu)) ?: "(none)",
				   table[i].name);
	}
}

/* From Golden Cove on, fixed counter 2 also counts the architectural reference cycles. */
static void uarch_reference_cycles(struct kunit *test)
{
	static const struct {
		u8 model, core_type;
		bool fixed;
	} table[] = {
		{ 0x5e, 0, false }, { 0x6a, 0, false }, { 0x9c, 0, false }, { 0x8f, 0, true },
		{ 0x97, INTEL_CORE, true }, { 0x97, INTEL_ATOM, true }, { 0xaf, 0, true },
		{ 0xbd, INTEL_ATOM, true },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event *event = uarch_start_model(test, table[i].model,
							     table[i].core_type, 8);

		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x013c),
				GP(8) | (table[i].fixed ? FIXED(2) : 0));
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0300), FIXED(2));
	}
}

/*
 * Unit masks of event 0 select fixed counters ("EventCode": "0x00" in Intel's lists):
 * INST_RETIRED.ANY and PREC_DIST counter 0, CPU_CLK_UNHALTED.THREAD counter 1. Skymont has three
 * more.
 */
static void uarch_prec_dist(struct kunit *test)
{
	static const struct {
		u8 model, core_type;
		s64 counters[2];
	} table[] = {
		{ 0x1e, 0, { -EINVAL, -EINVAL } }, { 0x2c, 0, { -EINVAL, -EINVAL } },
		{ 0x1c, 0, { -EINVAL, -EINVAL } },
		{ 0x2a, 0, { FIXED(0), FIXED(1) } }, { 0x3c, 0, { FIXED(0), FIXED(1) } },
		{ 0x5e, 0, { FIXED(0), FIXED(1) } }, { 0x37, 0, { FIXED(0), FIXED(1) } },
		{ 0x57, 0, { FIXED(0), FIXED(1) } }, { 0x86, 0, { FIXED(0), FIXED(1) } },
		{ 0x6a, 0, { FIXED(0), FIXED(1) } }, { 0x8c, 0, { FIXED(0), FIXED(1) } },
		{ 0x8f, 0, { FIXED(0), FIXED(1) } }, { 0xad, 0, { FIXED(0), FIXED(1) } },
		{ 0x97, INTEL_CORE, { FIXED(0), FIXED(1) } },
		{ 0x97, INTEL_ATOM, { FIXED(0), FIXED(1) } }, { 0xaf, 0, { FIXED(0), FIXED(1) } },
	};
	struct x86_model_cpu cpu = plain;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event *event = uarch_start_model(test, table[i].model,
							     table[i].core_type, 8);

		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0100), table[i].counters[0]);
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0200), table[i].counters[1]);
		/* Unit masks of other counters are rejected. */
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0500), -EINVAL);
		/* A fixed counter has no cmask. */
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x1000100), -EINVAL);
	}

	/* Ice Lake also accepts Skylake's code of PREC_DIST. */
	KUNIT_EXPECT_EQ(test, uarch_counters(test, uarch_start_model(test, 0x6a, 0, 8), 0x01c0),
			FIXED(0));

	/* A guest without fixed counters */
	cpu.model = 0x6a;
	cpu.nr_fixed = 0;
	KUNIT_EXPECT_EQ(test, uarch_counters(test, uarch_start(test, &cpu), 0x0100), -EINVAL);
}

/* Skymont has fixed counters 4 to 6 and no 3; on other CPUs their unit masks are rejected. */
static void uarch_skymont_fixed(struct kunit *test)
{
	static const u16 events[] = { 0x0073, 0x019c, 0x02c2 };
	struct x86_model_cpu cpu = plain;
	struct perf_event *event;

	cpu.model = 0xbd;
	cpu.core_type = INTEL_ATOM;
	cpu.version = 5;
	cpu.fixed_map = 0x7f;
	event = uarch_start(test, &cpu);
	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++) {
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, events[i]),
				GP(cpu.nr_gp) | FIXED(4 + i));
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0500 + 0x100 * i),
				FIXED(4 + i));
	}
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0400), -EINVAL);

	cpu.core_type = INTEL_CORE;
	event = uarch_start(test, &cpu);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0500), -EINVAL);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0400), FIXED(3));
}

/* On CPUs where microcode uses counter 3 for transactions, no event uses it. */
static void uarch_reserves_counter_of_tsx(struct kunit *test)
{
	struct x86_model_cpu cpu = plain;
	struct perf_event *event;

	cpu.model = 0x5e;
	cpu.tsx_force_abort = true;
	event = uarch_start(test, &cpu);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00c4), GP(8) & ~BIT_ULL(3));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x81d0), GP(3));

	cpu.tsx_deprecated = true;
	event = uarch_start(test, &cpu);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00c4), GP(8));
}

static struct kunit_case uarch_cases[] = {
	KUNIT_CASE(uarch_unknown_model),
	KUNIT_CASE(uarch_rejects_unknown_events),
	KUNIT_CASE(uarch_without_atoms),
	KUNIT_CASE(uarch_spares_the_sibling),
	KUNIT_CASE(uarch_kernel_names),
	KUNIT_CASE(uarch_reference_cycles),
	KUNIT_CASE(uarch_prec_dist),
	KUNIT_CASE(uarch_skymont_fixed),
	KUNIT_CASE(uarch_reserves_counter_of_tsx),
	{ }
};

OWN_TESTBED_SUITE(uarch, "corepmu_x86_uarch");
