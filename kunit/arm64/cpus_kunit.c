// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of the PMUv3 backend: CPU-specific events and registers, and module
 * parameters
 */
#include <kunit/test.h>

#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include <corepmu/counter.h>
#include <corepmu/module.h>

#include "fixture/testbed.h"
#include "models/arm64/access.h"
#include "arm64/pmuv3.h"
#include "arm64/sysreg.h"

#define HW(id)		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##id
#define RAW(value)	.type = PERF_TYPE_RAW, .config = value
#define NSH		0x08000000ULL

/*
 * Cache events that only some CPUs have. The codes come from perf's pmu-events/arch/arm64:
 * recommended.json, and each CPU's core-imp-def.json. ThunderX has no directory there; only the
 * kernel has its codes.
 */
static void pmuv3_caches(struct kunit *test)
{
#define ROW(name, op, miss)	(PERF_COUNT_HW_CACHE_##name |		\
				 PERF_COUNT_HW_CACHE_OP_##op << 8 | (miss) << 16)
	static const struct {
		const struct pmuv3_cache_event *list;
		u64 config;
		int event;
	} table[] = {
		{ pmuv3_a53_events, ROW(L1D, PREFETCH, 1), 0xc2 },
		{ pmuv3_a53_events, ROW(L1D, PREFETCH, 0), -ENOENT },
		{ pmuv3_a53_events, ROW(NODE, READ, 0), 0x60 },
		{ pmuv3_a53_events, ROW(NODE, WRITE, 0), 0x61 },
		{ pmuv3_a53_events, ROW(NODE, READ, 1), -ENOENT },
		{ pmuv3_a53_events, ROW(L1D, WRITE, 0), -ENOENT },
		{ pmuv3_a57_events, ROW(L1D, WRITE, 0), 0x41 },
		{ pmuv3_a57_events, ROW(L1D, WRITE, 1), 0x43 },
		{ pmuv3_a57_events, ROW(DTLB, WRITE, 1), 0x4d },
		{ pmuv3_a57_events, ROW(DTLB, WRITE, 0), -ENOENT },
		{ pmuv3_a57_events, ROW(NODE, READ, 0), 0x60 },
		{ pmuv3_a57_events, ROW(NODE, WRITE, 0), 0x61 },
		{ pmuv3_a73_events, ROW(L1D, WRITE, 0), 0x41 },
		{ pmuv3_a73_events, ROW(L1D, WRITE, 1), -ENOENT },
		{ pmuv3_a73_events, ROW(NODE, READ, 0), -ENOENT },
		{ pmuv3_thunderx_events, ROW(L1D, WRITE, 1), 0xe9 },
		{ pmuv3_thunderx_events, ROW(L1D, PREFETCH, 0), 0xea },
		{ pmuv3_thunderx_events, ROW(L1D, PREFETCH, 1), 0xeb },
		{ pmuv3_thunderx_events, ROW(L1I, PREFETCH, 0), 0xec },
		{ pmuv3_thunderx_events, ROW(L1I, PREFETCH, 1), 0xed },
		{ pmuv3_thunderx_events, ROW(DTLB, WRITE, 0), 0x4f },
		{ pmuv3_vulcan_events, ROW(L1D, WRITE, 0), 0x41 },
		{ pmuv3_vulcan_events, ROW(L1D, WRITE, 1), 0x43 },
		{ pmuv3_vulcan_events, ROW(DTLB, WRITE, 0), 0x4f },
		{ pmuv3_vulcan_events, ROW(DTLB, WRITE, 1), 0x4d },
		{ pmuv3_vulcan_events, ROW(NODE, WRITE, 0), 0x61 },
		/* Common events that the CPU has come first. */
		{ pmuv3_a57_events, ROW(L1D, READ, 0), 0x04 },
		{ pmuv3_vulcan_events, ROW(L1D, READ, 1), 0x03 },
		/*
		 * An event of the CPU's own replaces a common event that the CPU lacks, if there is
		 * one.
		 */
		{ pmuv3_thunderx_events, ROW(DTLB, READ, 0), 0x4e },
		{ pmuv3_vulcan_events, ROW(DTLB, READ, 1), 0x4c },
		{ pmuv3_a57_events, ROW(DTLB, READ, 1), 0x4c },
		{ pmuv3_a53_events, ROW(DTLB, READ, 1), -ENOENT },
		{ NULL, ROW(L1D, READ, 0), 0x04 },
		{ NULL, ROW(L1D, WRITE, 0), -ENOENT },
		{ pmuv3_a57_events, ROW(MAX, READ, 0), -EINVAL },
	};
#undef ROW
	struct pmuv3 pmuv3 = {
		.pmceid = { BIT_ULL(0x03) | BIT_ULL(0x04) },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		pmuv3.cache_events = table[i].list;
		KUNIT_EXPECT_EQ_MSG(test, pmuv3_map_cache(&pmuv3, table[i].config), table[i].event,
				    "row %u", i);
	}
}

/* lenient=1 ignores what the built-in driver ignores, and nothing else. */
static void pmuv3_ignores(struct kunit *test)
{
	static const struct {
		struct perf_event_attr attr;
		int err, lenient_err;
		u64 type;
	} table[] = {
		{ { RAW(0x08), .precise_ip = 2 }, -EOPNOTSUPP, 0, NSH | 0x08 },
		{ { HW(CPU_CYCLES), .precise_ip = 3 }, -EOPNOTSUPP, 0, NSH | 0x11 },
		{ { RAW(0x4000000000010008) }, -EINVAL, 0, NSH | 0x08 },
		{ { RAW(0x08), .config1 = 1ULL << 17 }, -EINVAL, 0, NSH | 0x08 },
		{ { RAW(0x08), .config2 = ~0ULL }, -EINVAL, 0, NSH | 0x08 },
		{ { RAW(0x08), .config3 = 1 }, -EINVAL, 0, NSH | 0x08 },
		/* lenient=1 does not accept these: the built-in driver rejects them, too. */
		{ { RAW(0x1001e) }, -EINVAL, -EINVAL },
		{ { RAW(0x08), .config1 = 1ULL << 5 }, -EINVAL, -EINVAL },
		{ { RAW(0x08), .exclude_idle = 1 }, -EOPNOTSUPP, -EOPNOTSUPP },
	};
	struct fixture *b = fixture_start_on(test, "pmuv3p5");
	struct perf_event *event;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		KUNIT_EXPECT_EQ_MSG(test, fixture_open(b, &table[i].attr, &event), table[i].err,
				    "row %u", i);
		pmuv3_lenient = true;
		KUNIT_EXPECT_EQ_MSG(test, fixture_open(b, &table[i].attr, &event),
				    table[i].lenient_err, "row %u", i);
		pmuv3_lenient = false;
		if (table[i].lenient_err)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, event->hw.config_base, table[i].type, "row %u", i);
		fixture_close(event);
	}
}

/* A bit without a file in format/ is rejected, and ignored with lenient=1. */
static void expect_unknown(struct fixture *b, const char *field, unsigned int bit,
			   const struct perf_event_attr *attr)
{
	struct perf_event *event;

	KUNIT_EXPECT_EQ_MSG(b->test, fixture_open(b, attr, &event), -EINVAL, "%s bit %u", field,
			    bit);
	pmuv3_lenient = true;
	KUNIT_ASSERT_EQ_MSG(b->test, fixture_open(b, attr, &event), 0, "%s bit %u", field, bit);
	pmuv3_lenient = false;
	KUNIT_EXPECT_EQ_MSG(b->test, event->hw.config_base, NSH | 0x08, "%s bit %u", field, bit);
	fixture_close(event);
}

static void pmuv3_unknown_bits(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "pmuv3p9");

	for (unsigned int bit = 0; bit < 64; bit++) {
		const struct perf_event_attr config = { RAW(0x08 | BIT_ULL(bit)) };
		const struct perf_event_attr config1 = { RAW(0x08), .config1 = BIT_ULL(bit) };
		const struct perf_event_attr config2 = { RAW(0x08), .config2 = BIT_ULL(bit) };
		const struct perf_event_attr config3 = { RAW(0x08), .config3 = BIT_ULL(bit) };

		/* event:0-15; long:0, rdpmc:1 and thresholds:2-16 */
		if (bit > 15)
			expect_unknown(b, "config", bit, &config);
		if (bit > 16)
			expect_unknown(b, "config1", bit, &config1);
		expect_unknown(b, "config2", bit, &config2);
		expect_unknown(b, "config3", bit, &config3);
	}
}

/* CPUs, by MIDR_EL1, on which PMCCNTR_EL0 also counts while the CPU waits */
static void pmuv3_waiting_cycles(struct kunit *test)
{
	static const struct {
		u32 midr;
		bool avoid;
	} table[] = {
		{ PMUV3_MODEL_MIDR, false },
		/* Olympus, revisions r0p0 and r1p2 */
		{ 0x4e0f0100, true },
		{ 0x4e1f0102, true },
		/* Carmel; Cortex-A57; the same part number of another implementer */
		{ 0x4e0f0040, false },
		{ 0x411fd070, false },
		{ 0x410f0100, false },
	};
	struct fixture *b = fixture_start_on(test, "pmuv3p5");
	struct pmuv3 *pmuv3 = to_pmuv3(b->pmu);
	int cpu;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		for_each_possible_cpu(cpu)
			per_cpu_ptr(&pmuv3_model_state, cpu)->midr = table[i].midr;
		KUNIT_EXPECT_EQ(test, pmuv3_describe(pmuv3), 0);
		KUNIT_EXPECT_EQ_MSG(test, pmuv3->avoid_pmccntr, table[i].avoid, "row %u", i);
	}
}

/*
 * The driver uses the instruction counter and PMUACR_EL1 unless EL2, or firmware at EL3, may trap
 * them. This kernel must have opened them. A virtual machine may see EL3 but no EL2: the hypervisor
 * decides.
 */
static void pmuv3_v3p9_reached(struct kunit *test)
{
	static const struct {
		const char *testbed;
		bool el3, reached;
	} table[] = {
		{ "pmuv3p9", false, true },
		{ "pmuv3p9", true, true },
		{ "pmuv3-brbe-vhe", false, true },
		{ "pmuv3-brbe-vhe", true, COMPAT_EL2_OPENS_PMUV3P9 },
		{ "pmuv3-brbe-el1", true, COMPAT_EL2_OPENS_PMUV3P9 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct fixture *b;

		pmuv3_model_el3 = table[i].el3;
		b = fixture_start_on(test, table[i].testbed);
		pmuv3_model_el3 = false;
		KUNIT_EXPECT_EQ_MSG(test, !!(b->pmu->counters & BIT_ULL(PMUV3_INSTR_COUNTER)),
				    table[i].reached, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, pmuv3_reaches_v3p9(to_pmuv3(b->pmu)), table[i].reached,
				    "row %u", i);
		fixture_end(b);
	}
}

/*
 * With sampling=0 there are no samples and no interrupts, and no event is on a counter that may
 * wrap unnoticed.
 */
static void pmuv3_no_samples(struct kunit *test)
{
	static const struct {
		const char *testbed;
		struct perf_event_attr attr;
		int err;
		u64 allowed;
	} table[] = {
		{ "pmuv3", { HW(INSTRUCTIONS) }, 0, 0x2a },
		{ "pmuv3", { HW(CPU_CYCLES) }, 0, 0x2a | BIT_ULL(PMUV3_CYCLE_COUNTER) },
		{ "pmuv3p5", { HW(INSTRUCTIONS) }, 0, 0x3f },
		{ "pmuv3p5", { HW(INSTRUCTIONS), .sample_period = 1000 }, -EOPNOTSUPP },
		{ "pmuv3p5", { HW(INSTRUCTIONS), .freq = 1, .sample_freq = 1 }, -EOPNOTSUPP },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct fixture *b = fixture_start_on(test, table[i].testbed);
		struct perf_event *event;

		b->pmu->capabilities |= PERF_PMU_CAP_NO_INTERRUPT;
		KUNIT_EXPECT_EQ_MSG(test, fixture_open(b, &table[i].attr, &event), table[i].err,
				    "row %u", i);
		if (!table[i].err) {
			KUNIT_EXPECT_EQ_MSG(test, corepmu_hw_counters(&event->hw),
					    table[i].allowed, "row %u", i);
			fixture_close(event);
		}
		fixture_end(b);
	}
}

/* Without interrupts, the driver counts beyond the wrap of a 32-bit counter. */
static void pmuv3_wrap_without_interrupt(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "pmuv3");
	struct perf_event_attr attr = { HW(INSTRUCTIONS) };
	struct perf_event *event;

	b->pmu->capabilities |= PERF_PMU_CAP_NO_INTERRUPT;
	b->pmu->backend->reset(b->cpuc);
	event = fixture_open_start(b, &attr);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 3ULL << 32, event, 3ULL << 32);
}

/* With sampling=0, the self-test expects no interrupt, and no interrupt is enabled. */
static void pmuv3_tested_without_interrupt(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("pmuv3");
	struct corepmu *pmu;
	int cpu, ret;

	for (int with = 1; with >= 0; with--) {
		testbed->ops->power_on(testbed);
		for_each_possible_cpu(cpu) {
			per_cpu_ptr(&pmuv3_model_state, cpu)->counts_itself = 500;
			per_cpu_ptr(&pmuv3_model_state, cpu)->hold = true;
		}
		pmu = testbed->ops->start(testbed);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu);
		if (!with)
			pmu->capabilities |= PERF_PMU_CAP_NO_INTERRUPT;
		KUNIT_EXPECT_EQ(test, corepmu_hotplug_init(), 0);
		ret = corepmu_register(pmu);
		KUNIT_EXPECT_EQ(test, ret, with ? -EIO : 0);
		if (!ret) {
			KUNIT_EXPECT_TRUE(test, pmu->perf_pmu.capabilities &
						PERF_PMU_CAP_NO_INTERRUPT);
			for_each_online_cpu(cpu)
				KUNIT_EXPECT_EQ(test, 0ULL,
						per_cpu_ptr(&pmuv3_model_state, cpu)->interrupts);
			corepmu_unregister(pmu);
		}
		corepmu_hotplug_exit();
		testbed->ops->end(pmu);
	}
}

/* Names of functions in drivers/perf/arm_pmuv3.c, by its armv8_pmu_of_device_ids[] */
static void pmuv3_names_of_devicetree(struct kunit *test)
{
	static const struct {
		const char *compatible;
		const char *name;
	} table[] = {
		{ "arm,armv8-pmuv3", "armv8_pmuv3" },
		{ "arm,cortex-a53-pmu", "armv8_cortex_a53" },
		{ "arm,cortex-a72-pmu", "armv8_cortex_a72" },
		{ "arm,cortex-a510-pmu", "armv9_cortex_a510" },
		{ "arm,cortex-x1-pmu", "armv8_cortex_x1" },
		{ "arm,cortex-x2-pmu", "armv9_cortex_x2" },
		{ "arm,neoverse-n1-pmu", "armv8_neoverse_n1" },
		{ "arm,neoverse-n2-pmu", "armv9_neoverse_n2" },
		{ "arm,neoverse-v2-pmu", "armv8_neoverse_v2" },
		{ "cavium,thunder-pmu", "armv8_cavium_thunder" },
		{ "brcm,vulcan-pmu", "armv8_brcm_vulcan" },
		{ "nvidia,carmel-pmu", "armv8_nvidia_carmel" },
		{ "arm,cortex-a9-pmu", NULL },
	};
	static struct property compatible = { .name = "compatible" };
	static struct device_node node = { .full_name = "pmu", .properties = &compatible };

	if (!IS_ENABLED(CONFIG_OF))
		kunit_skip(test, "a kernel without devicetrees");

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		const struct pmuv3_of_type *type;

		compatible.value = (void *)table[i].compatible;
		compatible.length = strlen(table[i].compatible) + 1;
		type = pmuv3_of_type(&node);
		KUNIT_EXPECT_STREQ(test, type ? type->name : "-", table[i].name ?: "-");
	}
}

/* standin=1: PMUs get the built-in driver's names; a type without a name gets a number */
static void pmuv3_as_builtin(struct kunit *test)
{
	static char * const given[] = { "armv8_cortex_a53", "armv8_cortex_a72", NULL };
	static const char * const names[] = {
		"armv8_cortex_a53", "armv8_cortex_a72", "armv8_pmuv3_2",
	};
	const struct testbed *testbed = testbed_by_name("pmuv3p5");
	struct corepmu *pmu[ARRAY_SIZE(given)];
	char *name = corepmu_name;
	int type = corepmu_type, cpu, i;

	testbed->ops->power_on(testbed);
	for_each_possible_cpu(cpu)
		per_cpu_ptr(&pmuv3_model_state, cpu)->counts_itself = 500;
	KUNIT_ASSERT_EQ(test, corepmu_hotplug_init(), 0);
	corepmu_as_builtin = true;
	for (i = 0; i < ARRAY_SIZE(given); i++) {
		pmu[i] = testbed->ops->start(testbed);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu[i]);
		pmu[i]->builtin_name = given[i];
		KUNIT_ASSERT_EQ(test, corepmu_register(pmu[i]), 0);
		KUNIT_EXPECT_STREQ(test, pmu[i]->perf_pmu.name, names[i]);
	}
	while (i--) {
		corepmu_unregister(pmu[i]);
		testbed->ops->end(pmu[i]);
	}
	corepmu_as_builtin = false;
	corepmu_name = name;
	corepmu_type = type;
	corepmu_hotplug_exit();
}

static void pmuv3_cpus_exit(struct kunit *test)
{
	pmuv3_lenient = false;
	if (test->priv)
		fixture_end(test->priv);
}

static struct kunit_case pmuv3_cpus_cases[] = {
	KUNIT_CASE(pmuv3_caches),
	KUNIT_CASE(pmuv3_ignores),
	KUNIT_CASE(pmuv3_unknown_bits),
	KUNIT_CASE(pmuv3_waiting_cycles),
	KUNIT_CASE(pmuv3_v3p9_reached),
	KUNIT_CASE(pmuv3_no_samples),
	KUNIT_CASE(pmuv3_wrap_without_interrupt),
	KUNIT_CASE_SLOW(pmuv3_tested_without_interrupt),
	KUNIT_CASE(pmuv3_names_of_devicetree),
	KUNIT_CASE(pmuv3_as_builtin),
	{ }
};

TEST_SUITE(pmuv3_cpus, "corepmu_arm64_cpus", NULL, pmuv3_cpus_exit);
