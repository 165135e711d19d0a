// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of x86's overflow NMIs: which driver they belong to, and what they interrupt
 */
#include <kunit/test.h>

#include <linux/delay.h>
#include <linux/perf_event.h>
#include <linux/time64.h>

#include <corepmu/counter.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/msr.h"
#include "x86/x86.h"

/* Intel's PMI masks LVTPC: the handler has to unmask it, or no other PMI comes. */
static void x86_unmasks_lvtpc(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v2");
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 100);

	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1000, 10);
	KUNIT_EXPECT_FALSE(test, this_cpu_read(x86_model_state.lvtpc) & APIC_LVT_MASKED);
	fixture_remove(event);
	b->pmu->backend->irq_disable(b->cpuc);
	KUNIT_EXPECT_TRUE(test, this_cpu_read(x86_model_state.lvtpc) & APIC_LVT_MASKED);
}

/* In coexist mode, irq_disable() leaves LVTPC unmasked. */
static void x86_leaves_lvtpc(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4-beside");

	b->pmu->backend->irq_disable(b->cpuc);
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.lvtpc), APIC_DM_NMI);
}

/* The built-in driver's handler runs after ours and stops all counters; they go on counting. */
static void x86_counts_after_builtin(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4-beside");
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 100);

	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	x86_model_builtin_stops = true;
	fixture_run(b, TESTBED_CYCLES, 1000);
	x86_model_builtin_stops = false;
	KUNIT_EXPECT_EQ(test, b->nr_samples, 10);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1000);
}

/*
 * While the registers have a guest's values (mediated vPMU), LVTPC raises no NMI. The handler of an
 * NMI from another source changes no register.
 */
static void x86_leaves_guest_values(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4-beside");
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 100);
	const u32 lvtpc = 0xf5;

	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_del(event);
	this_cpu_write(x86_model_state.lvtpc, lvtpc);
	this_cpu_write(x86_model_state.global_status, BIT_ULL(0));
	this_cpu_write(x86_model_state.global_ctrl, 0);
	x86_model_spurious_nmi();
	KUNIT_EXPECT_EQ(test, b->testbed->ops->unknown(), 1);
	b->unknown_expected = 1;
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.lvtpc), lvtpc);
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.global_status), BIT_ULL(0));
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.global_ctrl), 0);
	this_cpu_write(x86_model_state.lvtpc, APIC_DM_NMI);
	this_cpu_write(x86_model_state.global_status, 0);
}

/* An NMI in corepmu_stop_cpu(), between the flag and the register, leaves the PMU stopped. */
static void x86_nmi_in_stop(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4");
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100);

	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	b->cpuc->running = false;
	model_forget();
	fixture_run(b, TESTBED_BRANCHES, 100);
	expect_accesses(test,
			"GLOBAL_CTRL=0 GLOBAL_STATUS GLOBAL_STATUS_RESET=1 rdpmc0 A_PMC0=ffffffffff9c GLOBAL_STATUS LVTPC=400");
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
}

/* AMD: for a while the handler claims an NMI whose overflow an earlier NMI has handled. */
static void x86_claims_late_nmi(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "amd-v2");
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 100);
	unsigned int took_calls;
	unsigned long flags;

	/* Wait: another test's overflow may be recent. */
	msleep(150);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	x86_model_spurious_nmi();
	KUNIT_EXPECT_EQ(test, b->testbed->ops->unknown(), 1);
	/* No tick may come: the overflow must stay recent. */
	local_irq_save(flags);
	fixture_run(b, TESTBED_CYCLES, 100);
	took_calls = testbed_took_calls;
	b->cpuc->limiter.window = testbed_time - NSEC_PER_SEC;
	x86_model_spurious_nmi();
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, b->testbed->ops->unknown(), 1);
	/* The limiter counts the NMI's time; perf core gets the times of NMIs with samples only. */
	KUNIT_EXPECT_EQ(test, b->cpuc->limiter.window, testbed_time);
	KUNIT_EXPECT_EQ(test, testbed_took_calls, took_calls);
	msleep(150);
	x86_model_spurious_nmi();
	KUNIT_EXPECT_EQ(test, b->testbed->ops->unknown(), 2);
	b->unknown_expected = 2;
}

/*
 * The status bit of a precise counter may be set before the CPU writes the record, without an
 * interrupt. The handler does not claim another device's NMI because of this bit.
 */
static void x86_leaves_others_nmi(struct kunit *test)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .config = 0xc0, .sample_period = 100, .precise_ip = 2,
	};
	struct perf_event *event;
	struct fixture *b;

	if (!IS_ENABLED(CONFIG_X86))
		kunit_skip(test, "precise events need an x86 kernel");

	b = fixture_start_on(test, "intel-pebs-skl");
	event = fixture_open_start(b, &attr);
	this_cpu_write(x86_model_state.global_status, BIT_ULL(event->hw.idx));
	x86_model_spurious_nmi();
	KUNIT_EXPECT_EQ(test, b->testbed->ops->unknown(), 1);
	b->unknown_expected = 1;
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.global_status), 0);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 250, event, 250);
}

/* Status bits that stay set do not keep the CPU in the handler. */
static void x86_sticky_status(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4");
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100);

	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	this_cpu_write(x86_model_state.sticky, BIT_ULL(3));
	this_cpu_write(x86_model_state.global_status, BIT_ULL(3));
	model_forget();
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 100, 1);
	KUNIT_EXPECT_EQ(test, model_accesses("GLOBAL_STATUS"), 16);
	this_cpu_write(x86_model_state.sticky, 0);
	this_cpu_write(x86_model_state.global_status, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 100, 2);
}

/* Make an event overflow while a PMI of Intel PT is pending. */
static void trace_and_overflow(struct fixture *b)
{
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100);

	KUNIT_EXPECT_EQ(b->test, fixture_add(event, PERF_EF_START), 0);
	this_cpu_write(x86_model_state.global_status, STATUS_TRACE_TOPA_PMI);
	model_forget();
	fixture_run(b, TESTBED_BRANCHES, 100);
	KUNIT_EXPECT_EQ(b->test, b->nr_samples, 1);
	/* The status bit does not keep the CPU in the handler. */
	KUNIT_EXPECT_EQ(b->test, model_accesses("GLOBAL_STATUS"), 2);
	fixture_remove(event);
}

/* Without Intel PT, or in coexist mode, the handler leaves Intel PT's status bit alone. */
static void x86_leaves_trace_status(struct kunit *test)
{
	static const struct {
		const char *testbed;
		bool no_trace;
	} table[] = {
		{ "intel-v4-beside" },
		/* A kernel without Intel PT's driver, and a CPU without Intel PT */
		{ "intel-v4", true }, { "intel-skl" },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct fixture *b;

		x86_model_no_trace = table[i].no_trace;
		b = fixture_start_on(test, table[i].testbed);
		x86_model_no_trace = false;
		trace_and_overflow(b);
		KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.global_status),
				STATUS_TRACE_TOPA_PMI);
		KUNIT_EXPECT_EQ(test, x86_model_traced, 0);
		this_cpu_write(x86_model_state.global_status, 0);
		fixture_end(b);
	}
}

/* In replace mode the handler passes Intel PT's PMI on, with an overflow and alone. */
static void x86_passes_trace_on(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4");

	trace_and_overflow(b);
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.global_status), 0);
	KUNIT_EXPECT_EQ(test, x86_model_traced, 1);

	this_cpu_write(x86_model_state.global_status, STATUS_TRACE_TOPA_PMI);
	x86_model_spurious_nmi();
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.global_status), 0);
	KUNIT_EXPECT_EQ(test, x86_model_traced, 2);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
}

/* Let an overflow and a full trace buffer raise one NMI: the event has its sample. */
static void fill_bts(struct fixture *b)
{
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100);

	KUNIT_EXPECT_EQ(b->test, fixture_add(event, PERF_EF_START), 0);
	x86_model_hold(true);
	x86_model_fill_bts();
	fixture_run(b, TESTBED_BRANCHES, 100);
	x86_model_hold(false);
	KUNIT_EXPECT_EQ(b->test, b->nr_samples, 1);
	fixture_remove(event);
}

/*
 * The interrupt of intel_bts has no status bit: intel_bts sees each NMI, with its trace paused. The
 * trace goes on afterwards, and its next interrupt arrives.
 */
static void x86_passes_bts_on(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4");
	struct x86_model *m = this_cpu_ptr(&x86_model_state);

	fill_bts(b);
	KUNIT_EXPECT_FALSE(test, x86_model_bts_full);
	KUNIT_EXPECT_TRUE(test, x86_model_bts_runs);
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int nmis = m->nmis;

		x86_model_fill_bts();
		KUNIT_EXPECT_EQ(test, m->nmis, nmis + 1);
		KUNIT_EXPECT_FALSE(test, x86_model_bts_full);
		KUNIT_EXPECT_TRUE(test, x86_model_bts_runs);
	}
	KUNIT_EXPECT_EQ(test, m->unknown_nmis, 0);
}

/* intel_bts gets no NMI in coexist mode, on kernels without intel_bts, or without branch traces. */
static void x86_leaves_bts(struct kunit *test)
{
	static const struct {
		const char *testbed;
		bool no_bts;
		bool pti;
	} table[] = {
		{ "intel-v4-beside" }, { "intel-v4", true }, { "intel-v4", false, true },
		{ "intel-skl" },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct fixture *b;

		x86_model_no_bts = table[i].no_bts;
		x86_model_pti = table[i].pti;
		b = fixture_start_on(test, table[i].testbed);
		x86_model_no_bts = false;
		x86_model_pti = false;
		fill_bts(b);
		KUNIT_EXPECT_TRUE_MSG(test, x86_model_bts_full, "%s", table[i].testbed);
		fixture_end(b);
	}
}

static struct fixture *read_fixture;
static unsigned int read_late;

static void overflow_after_read(void)
{
	this_cpu_write(x86_model_state.skid, read_late);
	fixture_run(read_fixture, TESTBED_BRANCHES, 100 + read_late);
	this_cpu_write(x86_model_state.skid, 0);
}

/*
 * An NMI comes after read(2) has read the counter, before it updates prev_count. The NMI is as late
 * as the previous one, so that prev_count stays the same, or later. No count is lost.
 */
static void x86_read_and_overflow(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4");
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1000);

	read_fixture = b;
	for (read_late = 0; read_late < 6; read_late += 3) {
		fixture_forget(b);
		local64_set(&event->count, 0);
		local64_set(&event->hw.period_left, 0);
		KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		fixture_run(b, TESTBED_BRANCHES, 1900);
		x86_model_after_rdpmc = overflow_after_read;
		KUNIT_EXPECT_EQ(test, fixture_read(event), 2000 + read_late);
		KUNIT_EXPECT_NULL(test, x86_model_after_rdpmc);
		KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
		RUN_EXPECT_COUNT(b, TESTBED_BRANCHES, 5, event, 2005 + read_late);
		KUNIT_EXPECT_EQ(test, local64_read(&event->hw.period_left), 995 - read_late);
		fixture_del(event);
	}
}

/*
 * read(2) updates prev_count; an NMI then comes before read(2) adds the difference. No count is
 * lost, and the counter's next counts cause the sample of the period.
 */
static void x86_read_then_overflow(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4");
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1000);
	struct hw_perf_event *hwc = &event->hw;
	u64 prev, now;

	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_run(b, TESTBED_BRANCHES, 1900);
	prev = local64_read(&hwc->prev_count);
	now = corepmu_extend_sign(b->pmu->backend->read(b->cpuc, hwc), corepmu_hw_value_mask(hwc));
	local64_set(&hwc->prev_count, now);
	fixture_run(b, TESTBED_BRANCHES, 107);
	corepmu_count_overtaken(event, prev, now);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 2007);
	RUN_EXPECT_SAMPLES(b, TESTBED_BRANCHES, 2, 2);
	KUNIT_EXPECT_EQ(test, local64_read(&hwc->period_left), 991);
}

static void write_after_nmi(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value)
{
	x86_model_hold(false);
	cpuc->pmu->backend->write(cpuc, hwc, value);
}

/*
 * As in x86_read_then_overflow(), but the counter overflows again before the reader has stopped the
 * PMU, and the NMI comes late, between the reader's writes of prev_count and the counter.
 */
static void x86_read_then_late_nmi(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4");
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1000);
	struct corepmu_backend late = *b->pmu->backend;
	struct hw_perf_event *hwc = &event->hw;
	u64 prev, now;

	late.write = write_after_nmi;
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_run(b, TESTBED_BRANCHES, 1900);
	prev = local64_read(&hwc->prev_count);
	now = corepmu_extend_sign(b->pmu->backend->read(b->cpuc, hwc), corepmu_hw_value_mask(hwc));
	local64_set(&hwc->prev_count, now);
	fixture_run(b, TESTBED_BRANCHES, 100);
	x86_model_hold(true);
	fixture_run(b, TESTBED_BRANCHES, 903);
	corepmu_use_backend(&late);
	corepmu_count_overtaken(event, prev, now);
	corepmu_use_backend(b->pmu->backend);
	RUN_EXPECT_COUNT(b, TESTBED_BRANCHES, 2, event, 2905);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, local64_read(&hwc->period_left), 95);
}

static struct kunit_case nmi_cases[] = {
	KUNIT_CASE(x86_unmasks_lvtpc),
	KUNIT_CASE(x86_leaves_lvtpc),
	KUNIT_CASE(x86_counts_after_builtin),
	KUNIT_CASE(x86_leaves_guest_values),
	KUNIT_CASE(x86_nmi_in_stop),
	KUNIT_CASE(x86_claims_late_nmi),
	KUNIT_CASE(x86_leaves_others_nmi),
	KUNIT_CASE(x86_sticky_status),
	KUNIT_CASE(x86_leaves_trace_status),
	KUNIT_CASE(x86_passes_trace_on),
	KUNIT_CASE(x86_passes_bts_on),
	KUNIT_CASE(x86_leaves_bts),
	KUNIT_CASE(x86_read_and_overflow),
	KUNIT_CASE(x86_read_then_overflow),
	KUNIT_CASE(x86_read_then_late_nmi),
	{ }
};

OWN_TESTBED_SUITE(nmi, "corepmu_x86_nmi");
