// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of the PMUv3 backend
 */
#include <kunit/test.h>

#include <linux/cpumask.h>
#include <linux/interrupt.h>
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
#define CACHE(id, miss)	.type = PERF_TYPE_HW_CACHE,			\
			.config = PERF_COUNT_HW_CACHE_##id | (miss) << 16
#define CYCLE		BIT_ULL(PMUV3_CYCLE_COUNTER)
#define INSTR		BIT_ULL(PMUV3_INSTR_COUNTER)
#define NSH		0x08000000ULL
#define NOT_EL0		0x40000000ULL
#define NOT_EL1		0x80000000ULL

struct encoding {
	const char *testbed;
	struct perf_event_attr attr;
	int err;
	u64 type;
	u64 allowed;
	unsigned int flags;
};

static const struct encoding encodings[] = {
	{ "pmuv3p5", { HW(CPU_CYCLES) }, 0, NSH | 0x11, 0x3f | CYCLE },
	{ "pmuv3p5", { HW(INSTRUCTIONS) }, 0, NSH | 0x08, 0x3f },
	{ "pmuv3p9", { HW(INSTRUCTIONS) }, 0, NSH | 0x08, 0x7fffffff | INSTR },
	{ "pmuv3p5", { HW(CACHE_REFERENCES) }, 0, NSH | 0x04, 0x3f },
	{ "pmuv3p5", { HW(CACHE_MISSES) }, 0, NSH | 0x03, 0x3f },
	{ "pmuv3p5", { HW(BRANCH_INSTRUCTIONS) }, 0, NSH | 0x21, 0x3f },
	{ "pmuv3p5", { HW(BRANCH_MISSES) }, 0, NSH | 0x10, 0x3f },
	{ "pmuv3p5", { HW(BUS_CYCLES) }, 0, NSH | 0x1d, 0x3f },
	{ "pmuv3p9", { HW(STALLED_CYCLES_FRONTEND) }, 0, NSH | 0x23, 0x7fffffff },
	{ "pmuv3p9", { HW(STALLED_CYCLES_BACKEND) }, 0, NSH | 0x24, 0x7fffffff },
	{ "pmuv3p9", { HW(REF_CPU_CYCLES) }, -ENOENT },
	{ "pmuv3", { HW(STALLED_CYCLES_FRONTEND) }, -ENOENT },
	{ "pmuv3p9", { CACHE(L1D, 0) }, 0, NSH | 0x04, 0x7fffffff },
	{ "pmuv3p9", { CACHE(L1D, 1) }, 0, NSH | 0x03, 0x7fffffff },
	{ "pmuv3p9", { CACHE(L1D, 0) | PERF_COUNT_HW_CACHE_OP_WRITE << 8 }, -ENOENT },
	{ "pmuv3p9", { CACHE(L1D, 1) | PERF_COUNT_HW_CACHE_OP_PREFETCH << 8 }, -ENOENT },
	{ "pmuv3p9", { CACHE(L1I, 0) }, 0, NSH | 0x14, 0x7fffffff },
	{ "pmuv3p9", { CACHE(L1I, 1) }, 0, NSH | 0x01, 0x7fffffff },
	{ "pmuv3p9", { CACHE(LL, 0) }, 0, NSH | 0x36, 0x7fffffff },
	{ "pmuv3p9", { CACHE(LL, 1) }, 0, NSH | 0x37, 0x7fffffff },
	{ "pmuv3p9", { CACHE(DTLB, 0) }, 0, NSH | 0x25, 0x7fffffff },
	{ "pmuv3p9", { CACHE(DTLB, 1) }, 0, NSH | 0x05, 0x7fffffff },
	{ "pmuv3p9", { CACHE(ITLB, 0) }, 0, NSH | 0x26, 0x7fffffff },
	{ "pmuv3p9", { CACHE(ITLB, 1) }, 0, NSH | 0x02, 0x7fffffff },
	{ "pmuv3p9", { CACHE(BPU, 0) }, 0, NSH | 0x12, 0x7fffffff },
	{ "pmuv3p9", { CACHE(BPU, 1) }, 0, NSH | 0x10, 0x7fffffff },
	{ "pmuv3p9", { CACHE(NODE, 0) }, -ENOENT },

	/* exclude_*, with the kernel at EL1 */
	{ "pmuv3p5", { RAW(0x08), .exclude_user = 1 }, 0, NSH | NOT_EL0 | 0x08, 0x3f },
	{ "pmuv3p5", { RAW(0x08), .exclude_kernel = 1 }, 0, NSH | NOT_EL1 | 0x08, 0x3f },
	{ "pmuv3p5", { RAW(0x08), .exclude_hv = 1 }, 0, 0x08, 0x3f },
	{ "pmuv3p5", { RAW(0x08), .exclude_host = 1 }, 0, NOT_EL0 | NOT_EL1 | 0x08, 0x3f },
	{ "pmuv3", { RAW(0x08), .exclude_host = 1 }, 0, NOT_EL0 | NOT_EL1 | 0x08, 0x3f },
	/* exclude_*, with the kernel at EL2 */
	{ "pmuv3p4-vhe", { RAW(0x08) }, 0, NSH | 0x08, 0x3f },
	{ "pmuv3p4-vhe", { RAW(0x08), .exclude_kernel = 1 }, 0, NOT_EL1 | 0x08, 0x3f },
	{ "pmuv3p4-vhe", { RAW(0x08), .exclude_user = 1 }, 0, NSH | NOT_EL0 | 0x08, 0x3f },
	{ "pmuv3p4-vhe", { RAW(0x08), .exclude_guest = 1 }, 0, NSH | NOT_EL1 | 0x08, 0x3f },
	{ "pmuv3p4-vhe", { RAW(0x08), .exclude_host = 1 }, 0, NOT_EL0 | NOT_EL1 | 0x08, 0x3f },

	{ "pmuv3p5", { RAW(0x10000) }, -EINVAL },
	{ "pmuv3p5", { RAW(0x1e) }, -EINVAL },
	{ "pmuv3p5", { RAW(0xffff) }, 0, NSH | 0xffff, 0x3f },
	{ "pmuv3p5", { RAW(0x08), .config1 = 1ULL << 17 }, -EINVAL },
	{ "pmuv3p5", { RAW(0x08), .config2 = 1 }, -EINVAL },
	{ "pmuv3p5", { RAW(0x08), .config3 = 1 }, -EINVAL },
	/* For a generic event, the driver ignores all fields but config. */
	{ "pmuv3p5", { HW(INSTRUCTIONS), .config1 = 1ULL << 17, .config2 = 1, .config3 = 1 }, 0,
	  NSH | 0x08, 0x3f },
	{ "pmuv3p5", { CACHE(L1D, 0), .config1 = ~0x1ffffULL, .config2 = ~0ULL }, 0,
	  NSH | 0x04, 0x3f },

	/* long: 64 bits */
	{ "pmuv3p5", { RAW(0x08), .config1 = 1 }, 0, NSH | 0x08, 0x3f, COREPMU_EVENT_LONG },
	{ "pmuv3", { RAW(0x08), .config1 = 1 }, 0, NSH | 0x08, 0x2a,
	  COREPMU_EVENT_LONG | COREPMU_EVENT_PAIR },
	{ "pmuv3", { RAW(0x11), .config1 = 1 }, 0, NSH | 0x11, 0x2a | CYCLE,
	  COREPMU_EVENT_LONG | COREPMU_EVENT_PAIR },

	/* Thresholds: on this CPU PMMIR_EL1.THWIDTH is 5. */
	{ "pmuv3p9", { RAW(0x08), .config1 = 31ULL << 5 }, 0, 0x1f00000000ULL | NSH | 0x08,
	  0x7fffffff },
	{ "pmuv3p9", { RAW(0x11), .config1 = 3ULL << 5 | 2 << 3 | 1 << 2 }, 0,
	  0xa000000300000000ULL | NSH | 0x11, 0x7fffffff },
	{ "pmuv3p9", { RAW(0x08), .config1 = 32ULL << 5 }, -EINVAL },
	{ "pmuv3p9", { RAW(0x08), .config1 = 1ULL << 16 }, -EINVAL },
	{ "pmuv3p5", { RAW(0x08), .config1 = 1ULL << 5 }, -EINVAL },
	/* Without a threshold, the driver ignores its compare and count bits. */
	{ "pmuv3p9", { RAW(0x08), .config1 = 3 << 3 | 1 << 2 }, 0, NSH | 0x08,
	  0x7fffffff | INSTR },
	{ "pmuv3p5", { RAW(0x08), .config1 = 3 << 3 | 1 << 2 }, 0, NSH | 0x08, 0x3f },
};

static void encoding_desc(const struct encoding *e, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s type %u config %#llx, row %d", e->testbed,
		 e->attr.type, e->attr.config, (int)(e - encodings));
}

KUNIT_ARRAY_PARAM(encoding, encodings, encoding_desc);

static void pmuv3_encodes(struct kunit *test)
{
	const struct encoding *e = test->param_value;
	struct fixture *b = fixture_start_on(test, e->testbed);
	struct perf_event *event;

	KUNIT_EXPECT_EQ(test, fixture_open(b, &e->attr, &event), e->err);
	if (e->err)
		return;
	KUNIT_EXPECT_EQ(test, event->hw.config_base, e->type);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&event->hw), e->allowed);
	KUNIT_EXPECT_EQ(test, event->hw.flags & (COREPMU_EVENT_LONG | COREPMU_EVENT_PAIR),
			e->flags);
	KUNIT_EXPECT_EQ(test, model_accesses(NULL), 0);

	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
}

/* With several threads per core PMCCNTR_EL0 is not used: it also counts while a thread waits. */
static void pmuv3_smt_cycles(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "pmuv3p5");
	struct perf_event_attr attr = { HW(CPU_CYCLES) };
	struct perf_event *event;

	to_pmuv3(b->pmu)->avoid_pmccntr = true;
	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&event->hw), 0x3f);
}

static const struct sequence sequences[] = {
	{
		"pmuv3", PERF_COUNT_HW_INSTRUCTIONS,
		.add = "PMCNTENCLR=8000003f PMEVTYPER0=8000008 PMEVCNTR0=fffffc18 PMINTENSET=8000003f PMUSERENR=0 PMCNTENSET=1 isb PMCR=41",
		.read = "PMEVCNTR0",
		.overflow = "PMCR=40 isb PMOVSCLR PMOVSCLR=1 PMEVCNTR0 PMEVCNTR0=fffffc18 isb PMCR=41",
		.del = "PMCR=40 isb PMEVCNTR0",
	}, {
		"pmuv3", PERF_COUNT_HW_CPU_CYCLES,
		.add = "PMCNTENCLR=8000003f PMCCFILTR=8000000 PMCCNTR=fffffffffffffc18 PMINTENSET=8000003f PMUSERENR=0 PMCNTENSET=80000000 isb PMCR=41",
		.read = "PMCCNTR",
		.overflow = "PMCR=40 isb PMOVSCLR PMOVSCLR=80000000 PMCCNTR PMCCNTR=fffffffffffffc18 isb PMCR=41",
		.del = "PMCR=40 isb PMCCNTR",
	}, {
		"pmuv3p5", PERF_COUNT_HW_INSTRUCTIONS,
		.add = "PMCNTENCLR=8000003f PMEVTYPER0=8000008 PMEVCNTR0=fffffffffffffc18 PMINTENSET=8000003f PMUSERENR=0 PMCNTENSET=1 isb PMCR=c1",
		.read = "PMEVCNTR0",
		.overflow = "PMCR=c0 isb PMOVSCLR PMOVSCLR=1 PMEVCNTR0 PMEVCNTR0=fffffffffffffc18 isb PMCR=c1",
		.del = "PMCR=c0 isb PMEVCNTR0",
	}, {
		"pmuv3p9", PERF_COUNT_HW_INSTRUCTIONS,
		.add = "PMCNTENCLR=1ffffffff PMICFILTR=8000000 PMICNTR=fffffffffffffc18 PMINTENSET=1ffffffff PMUSERENR=0 PMCNTENSET=100000000 isb PMCR=c1",
		.read = "PMICNTR",
		.overflow = "PMCR=c0 isb PMOVSCLR PMOVSCLR=100000000 PMICNTR PMICNTR=fffffffffffffc18 isb PMCR=c1",
		.del = "PMCR=c0 isb PMICNTR",
	},
};

KUNIT_ARRAY_PARAM(sequence, sequences, sequence_desc);

/* Each event counter has registers of its own: no value reaches another counter. */
static void pmuv3_every_counter(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "pmuv3p9");
	struct perf_event *event[PMUV3_MAX_EVENT_COUNTERS];
	char name[64];

	for (int i = 0; i < PMUV3_MAX_EVENT_COUNTERS; i++) {
		event[i] = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
		corepmu_hw_set_counters(&event[i]->hw, BIT_ULL(i));
		/* Each counter counts another event, so that a mix-up is visible. */
		event[i]->hw.config_base += i;
		KUNIT_ASSERT_EQ(test, fixture_add(event[i], PERF_EF_START), 0);
	}
	for (int i = 0; i < PMUV3_MAX_EVENT_COUNTERS; i++)
		pmuv3_model_run(PMUV3_EVENT_BR_RETIRED + i, 0, 100 + i);
	for (int i = 0; i < PMUV3_MAX_EVENT_COUNTERS; i++) {
		model_forget();
		KUNIT_EXPECT_EQ(test, fixture_read(event[i]), 100 + i);
		snprintf(name, sizeof(name), "PMEVCNTR%d", i);
		expect_accesses(test, name);
		fixture_del(event[i]);
		fixture_close(event[i]);
	}
}

/* Two chained counters count carries and long periods. */
static void pmuv3_pairs(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "pmuv3");
	struct perf_event_attr attr = { RAW(0x08), .config1 = 1 };
	struct perf_event *event, *other;

	event = fixture_open_start(b, &attr);
	KUNIT_EXPECT_EQ(test, event->hw.idx, 1);
	KUNIT_EXPECT_EQ(test, b->cpuc->used, 0x3);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 12345678901ULL, event, 12345678901ULL);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 1ULL << 40, event, (1ULL << 40) + 12345678901ULL);

	/* The next event gets the next pair; the CPU has three. */
	other = fixture_open_start(b, &attr);
	KUNIT_EXPECT_EQ(test, other->hw.idx, 3);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 100, other, 100);
	fixture_remove(other);
	fixture_remove(event);

	/* A period longer than one counter's range */
	attr.sample_period = 3ULL << 32;
	event = fixture_open_start(b, &attr);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, attr.sample_period - 1, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 1, 1);
	KUNIT_EXPECT_EQ(test, fixture_read(event), attr.sample_period);
}

/* All counters are in use: a pair that moves to the cycle counter makes room for one more event. */
static void pmuv3_pair_makes_room(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "pmuv3");
	struct perf_event_attr attr[] = {
		{ RAW(0x11) }, { RAW(0x11), .config1 = 1 }, { RAW(0x08) }, { RAW(0x08) },
		{ RAW(0x08) }, { RAW(0x08) }, { RAW(0x08) }, { RAW(0x08) },
	};
	struct perf_event *event[ARRAY_SIZE(attr)];

	for (unsigned int i = 0; i < ARRAY_SIZE(attr); i++)
		KUNIT_ASSERT_EQ(test, fixture_open(b, &attr[i], &event[i]), 0);
	for (unsigned int i = 0; i < 6; i++)
		KUNIT_EXPECT_EQ(test, fixture_add(event[i], PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, event[1]->hw.idx, 1);
	KUNIT_EXPECT_EQ(test, b->cpuc->used, b->pmu->counters);
	KUNIT_EXPECT_EQ(test, fixture_add(event[6], PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, event[1]->hw.idx, PMUV3_CYCLE_COUNTER);
	KUNIT_EXPECT_EQ(test, fixture_add(event[7], PERF_EF_START), -EAGAIN);
}

/*
 * A read of a pair is correct even if the lower counter wraps between the reads of the two
 * counters.
 */
static void pmuv3_pair_carry(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "pmuv3");
	struct perf_event_attr attr = { RAW(0x11), .config1 = 1 };
	struct perf_event *event;
	u64 last, count;
	int i;

	/*
	 * A read of a counter takes some cycles. With these start values the counter wraps before
	 * each of the reads in turn.
	 */
	for (int near = 90; near < 110; near++) {
		KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
		corepmu_hw_set_counters(&event->hw, 0x2a);
		corepmu_start_near_wrap = near;
		KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		this_cpu_write(pmuv3_model_state.counts_itself, 3);
		for (i = 0, last = 0; i < 30; i++, last = count) {
			count = fixture_read(event);
			KUNIT_EXPECT_GT(test, count, last);
			KUNIT_EXPECT_LT(test, count, last + 20);
		}
		this_cpu_write(pmuv3_model_state.counts_itself, 0);
		fixture_remove(event);
	}
}

/*
 * reset() puts the registers into a known state, quiesce() into the state that another driver
 * expects.
 */
static void pmuv3_resets(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "pmuv3p9");
	unsigned long flags;

	local_irq_save(flags);
	b->pmu->backend->reset(b->cpuc);
	local_irq_restore(flags);
	expect_accesses(test,
			"PMCR=c6 PMCNTENCLR=1ffffffff PMINTENCLR=1ffffffff isb PMOVSCLR=1ffffffff PMUSERENR=0 PMINTENSET=1ffffffff isb");

	local_irq_save(flags);
	b->pmu->backend->quiesce(b->cpuc);
	local_irq_restore(flags);
	expect_accesses(test,
			"PMCR=c0 PMUSERENR=0 PMCNTENCLR=1ffffffff PMINTENCLR=1ffffffff isb PMOVSCLR=1ffffffff isb");
}

/* After reset(), the driver writes all registers again. */
static void pmuv3_reset_forgets(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "pmuv3p5");
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 1000);
	unsigned long flags;

	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_del(event);
	local_irq_save(flags);
	b->pmu->backend->reset(b->cpuc);
	local_irq_restore(flags);
	model_forget();
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model_accesses("PMEVTYPER"), 1);
	KUNIT_EXPECT_EQ(test, model_accesses("PMCNTENSET"), 1);
}

/*
 * Perf core disables the PMU and places an event. A late NMI then throttles an event that counted
 * before. The counter of the throttled event stays disabled when perf core enables the PMU.
 */
static void pmuv3_stop_beside_add(struct kunit *test)
{
	static const char * const testbeds[] = { "pmuv3", "pmuv3p9" };

	for (unsigned int i = 0; i < ARRAY_SIZE(testbeds); i++) {
		struct fixture *b = fixture_start_on(test, testbeds[i]);
		struct perf_event *stops = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);
		struct perf_event *counts = fixture_event(b, PERF_COUNT_HW_BRANCH_MISSES, 0);
		struct pmu *pmu = &b->pmu->perf_pmu;
		unsigned long irqs;

		KUNIT_ASSERT_EQ(test, fixture_add(stops, PERF_EF_START), 0);
		local_irq_save(irqs);
		pmu->pmu_disable(pmu);
		KUNIT_EXPECT_EQ(test, pmu->add(counts, PERF_EF_START), 0);
		pmu->stop(stops, 0);
		pmu->pmu_enable(pmu);
		local_irq_restore(irqs);
		KUNIT_EXPECT_EQ(test, read_sysreg(pmcntenset_el0), BIT_ULL(counts->hw.idx));
		fixture_end(b);
	}
}

/*
 * Perf core may place events on a CPU that comes online before the driver resets its registers. The
 * counters then overflow at their full widths, too.
 */
static void pmuv3_starts_before_reset(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name("pmuv3p5");
	struct corepmu_cpu *cpuc;
	struct corepmu *pmu;
	unsigned long flags;

	testbed->ops->power_on(testbed);
	pmu = testbed->ops->start(testbed);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu);
	corepmu_use_backend(pmu->backend);
	model_forget();
	local_irq_save(flags);
	cpuc = this_cpu_ptr(pmu->cpu);
	corepmu_start_cpu(cpuc);
	corepmu_stop_cpu(cpuc);
	local_irq_restore(flags);
	expect_accesses(test, "isb PMCR=c1 PMCR=c0 isb");
	testbed->ops->end(pmu);
}

static void pmuv3_describes(struct kunit *test)
{
	static const struct {
		struct pmuv3_model_cpu cpu;
		int err;
		u64 counters, pairs;
		unsigned int width;
	} table[] = {
		{ { .pmuver = 0, .nr = 6 }, -ENODEV },
		{ { .pmuver = 0xf, .nr = 6 }, -ENODEV },
		{ { .pmuver = 1, .nr = 6 }, 0, 0x8000003f, 0x2a, 32 },
		{ { .pmuver = 1, .nr = 5 }, 0, 0x8000001f, 0x0a, 32 },
		{ { .pmuver = 5, .nr = 1 }, 0, 0x80000001, 0, 32 },
		{ { .pmuver = 6, .nr = 6 }, 0, 0x8000003f, 0, 64 },
		{ { .pmuver = 6, .nr = 0 }, 0, 0x80000000, 0, 64 },
		{ { .pmuver = 9, .nr = 31, .instr_counter = true }, 0, 0x1ffffffff, 0, 64 },
	};
	struct pmuv3 pmuv3 = { };

	pmuv3.pmu = corepmu_alloc(&pmuv3_backend);
	KUNIT_ASSERT_NOT_NULL(test, pmuv3.pmu);
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct corepmu *pmu = pmuv3.pmu;

		pmuv3_model_power_on(&table[i].cpu);
		pmu->pair_counters = 0;
		KUNIT_EXPECT_EQ_MSG(test, pmuv3_describe(&pmuv3), table[i].err, "row %u", i);
		if (table[i].err)
			continue;
		KUNIT_EXPECT_EQ(test, pmu->counters, table[i].counters);
		KUNIT_EXPECT_EQ(test, pmu->pair_counters, table[i].pairs);
		KUNIT_EXPECT_EQ(test, pmu->width[0], table[i].width);
		KUNIT_EXPECT_EQ(test, pmu->width[PMUV3_CYCLE_COUNTER], 64);
		KUNIT_EXPECT_EQ(test, pmu->width[PMUV3_INSTR_COUNTER], 64);
	}
	corepmu_free(pmuv3.pmu);
}

static int branches_of(struct pmuv3 *pmuv3)
{
	pmuv3_describe_hardware(pmuv3);

	return pmuv3->hardware[PERF_COUNT_HW_BRANCH_INSTRUCTIONS];
}

/* PMCEID<n>_EL0: the upper words have the events from 0x4000 on. */
static void pmuv3_events(struct kunit *test)
{
	struct pmuv3 pmuv3 = {
		.pmceid = { 1ULL << 63 | 1 << 8, 1ULL << 63 | 1 },
	};

	KUNIT_EXPECT_TRUE(test, pmuv3_has_event(&pmuv3, 0x08));
	KUNIT_EXPECT_FALSE(test, pmuv3_has_event(&pmuv3, 0x09));
	KUNIT_EXPECT_TRUE(test, pmuv3_has_event(&pmuv3, 0x3f));
	KUNIT_EXPECT_FALSE(test, pmuv3_has_event(&pmuv3, 0x48));
	KUNIT_EXPECT_TRUE(test, pmuv3_has_event(&pmuv3, 0x4000));
	KUNIT_EXPECT_TRUE(test, pmuv3_has_event(&pmuv3, 0x403f));
	KUNIT_EXPECT_FALSE(test, pmuv3_has_event(&pmuv3, 0x4040));
	KUNIT_EXPECT_FALSE(test, pmuv3_has_event(&pmuv3, 0x8000));
	KUNIT_EXPECT_FALSE(test, pmuv3_has_event(&pmuv3, 0xffff));

	/* Branches: BR_RETIRED, or else PC_WRITE_RETIRED. */
	pmuv3.pmceid[0] = BIT_ULL(0x0c);
	KUNIT_EXPECT_EQ(test, branches_of(&pmuv3), 0x0c);
	pmuv3.pmceid[0] |= BIT_ULL(0x21);
	KUNIT_EXPECT_EQ(test, branches_of(&pmuv3), 0x21);
	pmuv3.pmceid[0] = 0;
	KUNIT_EXPECT_EQ(test, branches_of(&pmuv3), -ENOENT);
}

/* The SPI of another CPU arrives on this CPU: the handler handles this CPU's overflow. */
static void pmuv3_irq_of_other_cpu(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "pmuv3p5");
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 1000);
	int cpu = cpumask_any_but(cpu_possible_mask, b->cpu);
	struct corepmu_cpu *before;

	if (cpu >= nr_cpu_ids)
		kunit_skip(test, "there is no other CPU");
	before = kunit_kmalloc(test, sizeof(*before), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, before);
	memcpy(before, per_cpu_ptr(b->pmu->cpu, cpu), sizeof(*before));

	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	pmuv3_model_irq_cpu = cpu;
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 3000, 3);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 3000);
	KUNIT_EXPECT_MEMEQ(test, per_cpu_ptr(b->pmu->cpu, cpu), before, sizeof(*before));
}

/* An SPI comes to a CPU of another type: the handler does not touch its counters. */
static void pmuv3_irq_of_other_cpu_type(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "pmuv3p5");
	struct pmuv3_model *model = per_cpu_ptr(&pmuv3_model_state, b->cpu);

	model->overflowed = BIT(3);
	/*
	 * The CPU that runs this belongs to no PMU and has its interrupt disabled: the driver
	 * handles nothing.
	 */
	b->pmu->backend->irq_disable(b->cpuc);
	cpumask_clear_cpu(b->cpu, &b->pmu->supported_cpus);
	b->pmu->on_all_cpus = false;
	pmuv3_model_irq_cpu = cpumask_any_but(cpu_possible_mask, b->cpu);
	if (pmuv3_model_irq_cpu >= nr_cpu_ids)
		pmuv3_model_irq_cpu = -1;
	model_forget();
	b->testbed->ops->spurious();
	b->unknown_expected = 1;
	KUNIT_EXPECT_EQ(test, model->unknown_irqs, 1);
	KUNIT_EXPECT_EQ(test, model_accesses(NULL), 0);
	KUNIT_EXPECT_EQ(test, model->overflowed, BIT(3));
}

static struct kunit_case pmuv3_cases[] = {
	KUNIT_CASE_PARAM(pmuv3_encodes, encoding_gen_params),
	KUNIT_CASE(pmuv3_smt_cycles),
	KUNIT_CASE_PARAM(sequence_of_accesses, sequence_gen_params),
	KUNIT_CASE(pmuv3_every_counter),
	KUNIT_CASE(pmuv3_pairs),
	KUNIT_CASE(pmuv3_pair_makes_room),
	KUNIT_CASE(pmuv3_pair_carry),
	KUNIT_CASE(pmuv3_resets),
	KUNIT_CASE(pmuv3_reset_forgets),
	KUNIT_CASE(pmuv3_stop_beside_add),
	KUNIT_CASE(pmuv3_starts_before_reset),
	KUNIT_CASE(pmuv3_describes),
	KUNIT_CASE(pmuv3_events),
	KUNIT_CASE(pmuv3_irq_of_other_cpu),
	KUNIT_CASE(pmuv3_irq_of_other_cpu_type),
	{ }
};

OWN_TESTBED_SUITE(pmuv3, "corepmu_arm64_counters");
