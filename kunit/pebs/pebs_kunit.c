// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of precise samples, Intel CPUs
 */
#include <kunit/test.h>

#include <linux/perf_event.h>
#include <linux/perf_regs.h>
#include <linux/string.h>
#include <linux/time64.h>

/* struct perf_buffer, which perf core keeps to itself */
#include <../kernel/events/internal.h>

#include <corepmu/pmu.h>

#include "fixture/testbed.h"
#include "fixture/userpage.h"
#include "models/x86/pebs.h"
#include "models/x86/access.h"
#include "fixture.h"
#include "x86/intel/intel.h"
#include "x86/lbr/lbr.h"
#include "x86/pebs/pebs.h"
#include "x86/pebs/precise.h"
#include "x86/x86.h"
#include "x86/kvm/kvm.h"

static u64 shown_ip, shown_flags, shown_ax, shown_sp, shown_r15;

static void note_regs(struct fixture *b, struct perf_event *event)
{
	shown_ip = b->sample_regs->ip;
	shown_flags = b->sample_regs->flags;
	shown_ax = b->sample_regs->ax;
	shown_sp = b->sample_regs->sp;
	shown_r15 = b->sample_regs->r15;
}

/* Samples have the IP of their record; counts and periods are as with other events. */
static void precise_samples(struct kunit *test)
{
	struct fixture *b = test->priv;

	for (unsigned int precise = 1; precise <= 3; precise++) {
		struct perf_event *event;

		event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, precise, 100);
		b->on_sample = note_regs;
		pebs_model()->skid = 30;
		KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		fixture_forget(b);
		RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 1050, 10);
		KUNIT_EXPECT_EQ(test, fixture_read(event), 1050);
		KUNIT_EXPECT_EQ(test, shown_ip, precise == 1 ? IP + PEBS_MODEL_LENGTH : IP);
		KUNIT_EXPECT_EQ(test, !!(shown_flags & PERF_EFLAGS_EXACT), precise > 1);
		fixture_remove(event);
		b->on_sample = NULL;
	}
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_enable, 0);
	KUNIT_EXPECT_EQ(test, pebs_model()->ds_area, 0);
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_base, 0);
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_index, 0);
	KUNIT_EXPECT_EQ(test, pebs_model_mapped, 0);
}

static void precise_regs(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct perf_event *event;

	attr.sample_type = PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = BIT(PERF_REG_X86_AX);
	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
	pebs_model()->pebs_ip = IP;
	b->on_sample = note_regs;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, 100);
	KUNIT_EXPECT_EQ(test, shown_ax, PEBS_MODEL_REGS);
	KUNIT_EXPECT_EQ(test, shown_sp, PEBS_MODEL_REGS + 7);
	KUNIT_EXPECT_EQ(test, shown_r15, PEBS_MODEL_REGS + 15);
	KUNIT_EXPECT_EQ(test, shown_flags, PEBS_MODEL_FLAGS | PERF_EFLAGS_EXACT);
}

/*
 * The event is stopped after its overflow, before the interrupt: the stop emits the record's
 * sample.
 */
static void precise_record_at_stop(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);

	b->on_sample = note_regs;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_forget(b);
	b->testbed->ops->hold(true);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 120, 0);
	shown_ip = 0;
	fixture_del(event);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, shown_ip, IP);
	/* The interrupt finds no record, and the handler claims it. */
	b->testbed->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);

	/* The counts since the overflow belong to the next period. */
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 79, 1);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 1, 2);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 200);
}

/*
 * With a frequency, the record of a probe is no sample. A record that ends a period too early is
 * none either, whether its interrupt or a stop finds it (core/frequency.c).
 */
static void precise_probes_are_not_sampled(struct kunit *test)
{
	const u64 probe = 28125, ns = NSEC_PER_SEC / 1000;
	struct fixture *b = test->priv;
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 1000);
	struct perf_event *event;
	u64 count, period;

	attr.freq = 1;
	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
	event->state = PERF_EVENT_STATE_ACTIVE;
	event->tstamp = testbed_time;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_forget(b);

	testbed_time += 25 * NSEC_PER_USEC;
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, probe, 0);
	count = probe + local64_read(&event->hw.period_left);
	testbed_time += 25 * NSEC_PER_USEC;
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, count - probe, 1);
	period = count * 20;
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, period);
	event->hw.freq_time_stamp = testbed_time;

	testbed_time += ns / 4;
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, period, 1);
	KUNIT_EXPECT_EQ(test, event->hw.sample_period, 4 * period);

	b->testbed->ops->hold(true);
	testbed_time += ns / 4;
	fixture_run(b, TESTBED_INSTRUCTIONS, 3 * period);
	fixture_stop_event(event, PERF_EF_UPDATE);
	b->testbed->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);

	fixture_start_event(event, PERF_EF_RELOAD);
	count += 4 * period + local64_read(&event->hw.period_left);
	testbed_time += ns / 2;
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, local64_read(&event->hw.period_left), 2);
	KUNIT_EXPECT_EQ(test, fixture_read(event), count);
}

/* One record of two events makes two samples; an event that is not precise gets its own. */
static void precise_several(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *two[2], *plain;

	for (unsigned int i = 0; i < 2; i++) {
		two[i] = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
		KUNIT_ASSERT_EQ(test, fixture_add(two[i], PERF_EF_START), 0);
	}
	plain = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 50);
	KUNIT_ASSERT_EQ(test, fixture_add(plain, PERF_EF_START), 0);
	fixture_forget(b);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 200, 2 * 2 + 4);
	KUNIT_EXPECT_EQ(test, fixture_read(two[0]), 200);
	KUNIT_EXPECT_EQ(test, fixture_read(two[1]), 200);
	KUNIT_EXPECT_EQ(test, fixture_read(plain), 200);
	for (unsigned int i = 0; i < 2; i++) {
		fixture_del(two[i]);
		fixture_close(two[i]);
	}
}

/* Two events overflow before the NMI: each of the two records makes a sample. */
static void precise_two_records(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *two[2];

	for (unsigned int i = 0; i < 2; i++) {
		two[i] = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100 + 10 * i);
		KUNIT_ASSERT_EQ(test, fixture_add(two[i], PERF_EF_START), 0);
	}
	fixture_forget(b);
	pebs_model()->skid = 30;
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 140, 2);
	pebs_model()->skid = 0;
	for (unsigned int i = 0; i < 2; i++) {
		fixture_del(two[i]);
		fixture_close(two[i]);
	}
}

/* Without a record, counts are correct and no sample is made up. */
static void precise_without_records(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);

	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_forget(b);
	pebs_model()->pebs_lost = true;
	fixture_run(b, TESTBED_INSTRUCTIONS, 150);
	pebs_model()->pebs_lost = false;
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	fixture_start_event(event, PERF_EF_RELOAD);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 2, 1);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 152);
}

/*
 * KVM starts on the CPU while a precise event counts, before CR4 shows it: the driver disables
 * PEBS. A child event is still accepted: fork(2) must not fail.
 */
static void precise_stops_for_guests(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100), *child;
	/* Architectural PEBS has no IA32_PEBS_ENABLE. */
	bool has_enable = pebs_cpu(b)->pebs != PEBS_MODEL_ARCH;

	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, !!pebs_model()->pebs_enable, has_enable);
	x86_vmx_restart_pebs(true);
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_enable, 0);
	KUNIT_EXPECT_TRUE(test, b->cpuc->running);
	fixture_forget(b);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 250, 0);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 250);

	pebs_model_guests = true;
	child = fixture_alloc(b, &event->attr);
	KUNIT_ASSERT_NOT_NULL(test, child);
	child->parent = event;
	KUNIT_EXPECT_EQ(test, fixture_init_event(child), 0);
	child->parent = NULL;
	fixture_close(child);
	pebs_model_guests = false;

	x86_vmx_restart_pebs(false);
	KUNIT_EXPECT_EQ(test, !!pebs_model()->pebs_enable, has_enable);
	/* The period that ended meanwhile ends now; the following periods are complete. */
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 350, 4);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 600);
}

static void precise_refused(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct perf_event *event;

	attr.sample_period = 0;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EINVAL);
	attr.sample_period = 100;
	pebs_model_guests = true;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EOPNOTSUPP);
	pebs_model_guests = false;
	attr.config = PERF_COUNT_HW_REF_CPU_CYCLES;
	if (pebs_cpu(b)->pebs < PEBS_FORMAT_ADAPTIVE)
		KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EOPNOTSUPP);

	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	attr.sample_type = PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = BIT_ULL(PERF_REG_X86_XMM0);
	if (pebs_cpu(b)->pebs < PEBS_FORMAT_ADAPTIVE)
		KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EINVAL);

	/* Edge: how often instructions start to retire */
	attr = precise_attr(0x010400c0, 2, 1000);
	attr.type = PERF_TYPE_RAW;
	if (pebs_cpu(b)->pebs < PEBS_FORMAT_ADAPTIVE)
		KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, pebs_model_mapped, 0);
}

static const struct {
	unsigned int	pebs;
	u64		config;
	unsigned int	precise;
	u64		select;
	u64		counters;
	u32		type;
} encodings[] = {
	/* Cycles: INST_RETIRED with inv and cmask 16; at precise_ip 3, INST_RETIRED.PREC_DIST */
	{ 3, PERF_COUNT_HW_CPU_CYCLES, 1, 0x108300c0, 0xf },
	{ 3, PERF_COUNT_HW_CPU_CYCLES, 3, 0x108301c0, 0x2 },
	{ 3, PERF_COUNT_HW_INSTRUCTIONS, 2, 0x300c0, 0xf },
	/* Adaptive PEBS on all counters; only fixed counter 0 supports PDIR. */
	{ 4, PERF_COUNT_HW_CPU_CYCLES, 2, 0x40003003c, 0x2000000ff },
	{ 4, PERF_COUNT_HW_INSTRUCTIONS, 2, 0x4000300c0, 0x1000000ff },
	{ 4, PERF_COUNT_HW_INSTRUCTIONS, 3, 0x4000300c0, 0x100000000 },
	/* With edge, fixed counters do not count the event. */
	{ 4, 0x010400c0, 3, 0x4010700c0, 0xff, PERF_TYPE_RAW },
	/* INST_RETIRED.PREC_DIST by its code on Skylake */
	{ 4, 0x01c0, 2, 0x4000301c0, 0x100000000, PERF_TYPE_RAW },
	{ 3, 0x108000c0, 2, 0x108300c0, 0xf, PERF_TYPE_RAW },
	/* By CPUID: all counters but one; three support PDIR; RDPMC user disable */
	{ 15, PERF_COUNT_HW_CPU_CYCLES, 2, 0x200003003c, 0x20000007f },
	{ 15, PERF_COUNT_HW_INSTRUCTIONS, 1, 0x20000300c0, 0x10000007f },
	{ 15, PERF_COUNT_HW_INSTRUCTIONS, 3, 0x20000300c0, 0x100000003 },
};

static void precise_encodes(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event_attr attr;
	struct perf_event *event;

	for (unsigned int i = 0; i < ARRAY_SIZE(encodings); i++) {
		if (encodings[i].pebs != pebs_cpu(b)->pebs)
			continue;
		attr = precise_attr(encodings[i].config, encodings[i].precise, 1000);
		attr.type = encodings[i].type;
		KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
		KUNIT_EXPECT_EQ_MSG(test, event->hw.config_base, encodings[i].select, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, corepmu_hw_counters(&event->hw),
				    encodings[i].counters, "row %u", i);
		fixture_close(event);
	}
}

static void latency_attr(struct perf_event_attr *attr, u64 cycles)
{
	*attr = (struct perf_event_attr) {
		.type		= PERF_TYPE_RAW,
		.config		= 0x01cd,
		.config1	= cycles,
		.precise_ip	= 2,
		.sample_period	= 1000,
	};
}

/* Events share the load-latency threshold: an event with another ldlat waits. */
static void precise_latency(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *events[3];
	struct perf_event_attr attr;
	static const u64 cycles[] = { 30, 40, 30 };

	if (pebs_cpu(b)->pebs == PEBS_MODEL_ARCH)
		kunit_skip(test, "architectural PEBS has no IA32_PEBS_ENABLE");
	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++) {
		latency_attr(&attr, cycles[i]);
		KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &events[i]), 0);
		KUNIT_EXPECT_EQ(test, fixture_add(events[i], PERF_EF_START), i == 1 ? -EAGAIN : 0);
	}
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_latency, 30);
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_enable,
			pebs_cpu(b)->pebs == 3 ? 0x300000003 : 0x3);
	fixture_del(events[0]);
	fixture_del(events[2]);
	KUNIT_EXPECT_EQ(test, fixture_add(events[1], PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, pebs_model()->pebs_latency, 40);
	fixture_del(events[1]);
	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++)
		fixture_close(events[i]);

	latency_attr(&attr, 1 << 16);
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &events[0]), -EINVAL);
	latency_attr(&attr, 30);
	attr.precise_ip = 0;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &events[0]), -EINVAL);
}

/* Another agent writes the PEBS registers while a precise event is open and scheduled out. */
static void precise_after_an_agent(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct x86_model *m = pebs_model();
	struct perf_event *event;

	attr.sample_type = PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = BIT(PERF_REG_X86_AX);
	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
	m->pebs_ip = IP;
	b->on_sample = note_regs;
	for (unsigned int i = 0; i < 3; i++) {
		KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		fixture_forget(b);
		shown_ip = 0;
		shown_ax = 0;
		fixture_run(b, TESTBED_INSTRUCTIONS, 250);
		KUNIT_EXPECT_GE_MSG(test, b->nr_samples, 2, "round %u", i);
		KUNIT_EXPECT_EQ_MSG(test, shown_ip, IP, "round %u", i);
		KUNIT_EXPECT_EQ_MSG(test, shown_ax, PEBS_MODEL_REGS, "round %u", i);
		fixture_del(event);
		m->ds_area = 0;
		m->pebs_enable = 0;
		m->pebs_data = 0;
		m->pebs_base = 0;
		m->pebs_index = 0x40;
		memset(m->pebs_cfg_c, 0, sizeof(m->pebs_cfg_c));
	}
	KUNIT_EXPECT_EQ(test, m->unknown_nmis, 0);
}

/*
 * An event that was mapped, and unmapped, writes its samples to another event's buffer: its records
 * leave that event's page alone.
 */
static void precise_redirected(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *owner = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);
	struct perf_event *event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	u32 lock;

	map_page(b, owner);
	KUNIT_ASSERT_EQ(test, fixture_add(owner, PERF_EF_START), 0);
	corepmu_hw_add_flag(&event->hw, COREPMU_EVENT_MAPPED);
	event->rb = owner->rb;
	event->state = PERF_EVENT_STATE_ACTIVE;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	/* Each update changes the lock. */
	lock = owner->rb->user_page->lock;
	fixture_forget(b);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 250, 2);
	KUNIT_EXPECT_EQ(test, owner->rb->user_page->lock, lock);

	event->rb = NULL;
	fixture_del(owner);
	unmap_page(owner);
}

/* If a hidden symbol rules out precise events, precise_reason says what the kernel hides. */
static void precise_reason_names_hidden(struct kunit *test)
{
	static const struct {
		const char *symbol;
		const char *named;
	} hidden[] = {
		{ "perf_callchain", "hides perf_callchain()" },
		{ "cea_set_pte", "hides a function that maps the PEBS buffer" },
		{ "x86_add_exclusive", "hides the function that excludes intel_bts" },
	};
	struct fixture *b = test->priv;
	/* Architectural PEBS needs neither a debug store nor the exclusion of intel_bts. */
	unsigned int nr = pebs_cpu(b)->pebs == PEBS_MODEL_ARCH ? 1 : ARRAY_SIZE(hidden);

	for (unsigned int i = 0; i < nr; i++) {
		x86_model_hidden = hidden[i].symbol;
		x86_exclusive_init(to_x86(b->pmu));
		x86_describe_precise(to_x86(b->pmu));
		KUNIT_ASSERT_NOT_NULL(test, b->pmu->precise_reason);
		KUNIT_EXPECT_PTR_NE_MSG(test, strstr(b->pmu->precise_reason, hidden[i].named), NULL,
					"%s: %s", hidden[i].symbol, b->pmu->precise_reason);
	}
}

static struct kunit_case pebs_cases[] = {
	KUNIT_CASE_PARAM(precise_samples, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_regs, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_record_at_stop, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_probes_are_not_sampled, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_several, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_two_records, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_without_records, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_stops_for_guests, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_refused, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_encodes, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_latency, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_after_an_agent, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_redirected, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_reason_names_hidden, pebs_gen_params),
	{ }
};

TESTBED_SUITE(pebs, "corepmu_pebs");
