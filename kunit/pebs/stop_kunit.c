// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of precise events that stop, or are read, between overflow and interrupt
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include <corepmu/pmu.h>

#include "fixture/testbed.h"
#include "models/x86/pebs.h"
#include "models/x86/access.h"
#include "fixture.h"
#include "x86/pebs/pebs.h"
#include "x86/pebs/precise.h"
#include "x86/x86.h"
#include "x86/kvm/kvm.h"

/* The drain emits no sample with trace data of an event that has been stopped before. */
static void precise_stop_without_trace(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct perf_event *trace = kunit_kzalloc(test, sizeof(*trace), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, trace);
	trace->state = PERF_EVENT_STATE_INACTIVE;
	event->aux_event = trace;
	event->attr.sample_type |= PERF_SAMPLE_AUX;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_forget(b);
	b->testbed->ops->hold(true);
	fixture_run(b, TESTBED_INSTRUCTIONS, 120);
	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	b->testbed->ops->hold(false);

	trace->state = PERF_EVENT_STATE_ACTIVE;
	fixture_start_event(event, PERF_EF_RELOAD);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 79, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 1, 1);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 200);
	event->aux_event = NULL;
}

/*
 * The event is read after its overflow and before its record; the record then resets the counter.
 */
static void precise_read_before_record(struct kunit *test)
{
	/* Number of events until the read, and from the record to the interrupt */
	static const unsigned int events[][2] = { { 105, 2 }, { 101, 0 } };
	struct fixture *b = test->priv;
	struct x86_model *m = pebs_model();
	bool interrupt;

	if (pebs_cpu(b)->pebs == PEBS_MODEL_ARCH)
		kunit_skip(test, "this test makes records of a debug store");
	for (unsigned int i = 0; i < ARRAY_SIZE(events); i++) {
		struct perf_event *event;

		event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
		KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		fixture_forget(b);
		m->pebs_lost = true;
		fixture_run(b, TESTBED_INSTRUCTIONS, events[i][0]);
		m->pebs_lost = false;
		KUNIT_EXPECT_EQ(test, fixture_read(event), events[i][0]);
		KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
		pebs_model_overflow(m, BIT_ULL(event->hw.idx), &interrupt);
		if (event->hw.idx >= 32)
			m->fixed[event->hw.idx - 32] = events[i][1];
		else
			m->counter[event->hw.idx] = events[i][1];
		x86_model_spurious_nmi();
		KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
		KUNIT_EXPECT_EQ(test, fixture_read(event), events[i][0] + events[i][1]);
		fixture_remove(event);
	}
}

/*
 * Open an event with a period of 100 and an interrupt for each record. @large: the event allows
 * large PEBS, but has a limit of samples (PERF_EVENT_IOC_REFRESH).
 */
static struct perf_event *open_interrupting(struct fixture *b, bool large)
{
	const struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct perf_event *event = fixture_alloc(b, &attr);

	event->hw.target = large ? current : NULL;
	KUNIT_ASSERT_EQ(b->test, fixture_init_event(event), 0);
	KUNIT_EXPECT_EQ(b->test, !!(event->hw.flags & COREPMU_EVENT_LARGE), large);
	atomic_set(&event->event_limit, large ? 100 : 0);

	return event;
}

/*
 * As in precise_read_before_record(), but a stop comes after the record and before the interrupt.
 * The stop adds only the counts since the read.
 */
static void precise_stop_after_record(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct x86_model *m = pebs_model();
	struct perf_event *event;
	bool interrupt;

	if (pebs_cpu(b)->pebs == PEBS_MODEL_ARCH)
		kunit_skip(test, "this test makes records of a debug store");
	for (unsigned int large = 0; large < 2; large++) {
		event = open_interrupting(b, large);
		KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		fixture_forget(b);
		m->pebs_lost = true;
		fixture_run(b, TESTBED_INSTRUCTIONS, 103);
		m->pebs_lost = false;
		KUNIT_EXPECT_EQ(test, fixture_read(event), 103);
		pebs_model_overflow(m, BIT_ULL(event->hw.idx), &interrupt);
		if (event->hw.idx >= 32)
			m->fixed[event->hw.idx - 32] = 2;
		else
			m->counter[event->hw.idx] = 2;
		fixture_stop_event(event, PERF_EF_UPDATE);
		KUNIT_EXPECT_EQ(test, local64_read(&event->count), 105);
		KUNIT_EXPECT_EQ(test, local64_read(&event->hw.period_left), 95);
		KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
		fixture_remove(event);
	}
}

static void take_late_nmi(void)
{
	x86_model_hold(false);
}

/*
 * The record's NMI comes late, after the stop has read the counter and before the stop updates the
 * event. The NMI updates the event and begins the next period. No count is added twice.
 */
static void precise_nmi_during_stop(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event;

	for (unsigned int large = 0; large < 2; large++) {
		event = open_interrupting(b, large);
		KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		fixture_forget(b);
		x86_model_hold(true);
		fixture_run(b, TESTBED_INSTRUCTIONS, 100);
		x86_model_after_rdpmc = take_late_nmi;
		fixture_stop_event(event, PERF_EF_UPDATE);
		KUNIT_EXPECT_NULL(test, x86_model_after_rdpmc);
		KUNIT_EXPECT_EQ_MSG(test, local64_read(&event->count), 100, "large %u", large);
		KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
		fixture_start_event(event, PERF_EF_RELOAD);
		RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 99, 1);
		RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 1, 2);
		KUNIT_EXPECT_EQ(test, fixture_read(event), 200);
		fixture_remove(event);
	}
}

static struct perf_event *throttled;
static u64 global_ctrl_after_nmi;

/* Like perf_event_throttle_group(): stop another event of the group. */
static void stop_throttled(struct fixture *b, struct perf_event *event)
{
	if (event != throttled)
		throttled->pmu->stop(throttled, 0);
}

static void write_after_nmi(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value)
{
	x86_model_hold(false);
	global_ctrl_after_nmi = pebs_model()->global_ctrl;
	cpuc->pmu->backend->write(cpuc, hwc, value);
}

/*
 * KVM stops. While the driver sets the precise event's counter, a late NMI samples another event of
 * the group, and perf core stops the precise event. The event's count does not change, and the
 * counters stay disabled until the driver has set the counter.
 */
static void precise_resumes_during_nmi(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct perf_event *other = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100);
	struct corepmu_backend late = *b->pmu->backend;

	late.write = write_after_nmi;
	throttled = event;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_ASSERT_EQ(test, fixture_add(other, PERF_EF_START), 0);
	x86_vmx_restart_pebs(true);
	fixture_run(b, TESTBED_INSTRUCTIONS, 250);
	fixture_forget(b);
	x86_model_hold(true);
	fixture_run(b, TESTBED_BRANCHES, 101);
	b->on_sample = stop_throttled;
	corepmu_use_backend(&late);
	x86_vmx_restart_pebs(false);
	corepmu_use_backend(b->pmu->backend);
	b->on_sample = NULL;
	KUNIT_EXPECT_EQ(test, global_ctrl_after_nmi, 0);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 250);
	fixture_remove(other);
	fixture_remove(event);
}

/*
 * In a record's sample perf core stops another precise event of the group. The stopped event's
 * counter has overflowed, and the CPU has not written the event's record yet. The event's first
 * count after its next start emits the sample.
 */
static void precise_throttled_without_record(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 90);
	struct perf_event *other = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);

	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	if (fixture_add(other, PERF_EF_START))
		kunit_skip(test, "one counter has precise events");
	fixture_forget(b);
	pebs_model()->pebs_lost = true;
	fixture_run(b, TESTBED_INSTRUCTIONS, 95);
	pebs_model()->pebs_lost = false;
	throttled = event;
	b->on_sample = stop_throttled;
	fixture_run(b, TESTBED_INSTRUCTIONS, 5);
	b->on_sample = NULL;
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_TRUE(test, event->hw.state & PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 100);
	fixture_start_event(event, PERF_EF_RELOAD);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 2, 2);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 102);
	fixture_remove(other);
	fixture_remove(event);
}

static struct kunit_case pebs_stop_cases[] = {
	KUNIT_CASE_PARAM(precise_stop_without_trace, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_read_before_record, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_stop_after_record, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_nmi_during_stop, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_resumes_during_nmi, pebs_gen_params),
	KUNIT_CASE_PARAM(precise_throttled_without_record, pebs_gen_params),
	{ }
};

TESTBED_SUITE(pebs_stop, "corepmu_pebs_stop");
