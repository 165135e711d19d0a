// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of AMD's branch records while KVM runs guests
 */
#include <kunit/test.h>

#include <linux/perf_event.h>
#include <linux/sched.h>

#include "branch/fixture.h"
#include "fixture/testbed.h"
#include "models/tracepoint.h"
#include "models/x86/access.h"
#include "x86/kvm/kvm.h"
#include "x86/x86.h"

/* Branches before, in and after a guest; the code at these addresses has branches. */
#define BEFORE	USER
#define GUEST	(USER + 0x10)
#define AFTER	(USER + 0x20)

static void guest_test_exit(struct kunit *test)
{
	x86_model_end_guest();
	testbed_exit(test);
	x86_guest_exit();
	KUNIT_EXPECT_EQ(test, tracepoint_model_nr_probes(), 0);
	tracepoint_model_reset();
}

static struct fixture *guest_fixture(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "amd-lbr");

	x86_guest_init(to_x86(b->pmu));
	return b;
}

static struct perf_event *guest_open(struct fixture *b, bool exclude_guest)
{
	const struct perf_event_attr attr = { STACK(ANY_USER), .exclude_guest = exclude_guest };

	return branch_open_attr(b, &attr);
}

static void take_branch(u64 from)
{
	x86_model_branch(from, USER_TO, X86_MODEL_COND, 0);
}

/* Take branches in the host, in a guest, and in the host again. */
static void run_a_guest(void)
{
	take_branch(BEFORE);
	x86_model_enter_guest();
	take_branch(GUEST);
	x86_model_trace_exit();
	x86_model_end_guest();
	take_branch(AFTER);
}

static void guest_is_not_recorded(struct kunit *test)
{
	struct fixture *b = guest_fixture(test);
	struct perf_event *event = branch_start(guest_open(b, true));

	run_a_guest();
	OVERFLOW_EXPECT_FROM(b, &branch_seen[0], AFTER, BEFORE);
	branch_end(event);
}

static void guest_is_recorded_if_asked(struct kunit *test)
{
	struct fixture *b = guest_fixture(test);
	struct perf_event *event = branch_start(guest_open(b, false));

	run_a_guest();
	OVERFLOW_EXPECT_FROM(b, &branch_seen[0], AFTER, GUEST, BEFORE);
	branch_end(event);
}

/* The hardware has one set of records: an event that excludes guests excludes them for others. */
static void guest_is_hidden_from_others(struct kunit *test)
{
	struct fixture *b = guest_fixture(test);
	struct perf_event *other = guest_open(b, false), *event = guest_open(b, true);

	branch_start(other);
	run_a_guest();
	/* The new event does not show records from before it was added. */
	branch_add(event);
	run_a_guest();
	OVERFLOW_EXPECT_SAMPLES(b, 2);
	EXPECT_FROM(test, &branch_seen[0], AFTER, BEFORE);
	EXPECT_FROM(test, &branch_seen[1], AFTER, BEFORE);
	fixture_del(other);
	branch_end(event);
	fixture_close(other);
}

/* The handler restarts the PMU: after an interrupt right before VMRUN the guest still runs. */
static void guest_interrupt_before_entry(struct kunit *test)
{
	struct fixture *b = guest_fixture(test);
	struct perf_event *event = branch_start(guest_open(b, true));

	take_branch(BEFORE);
	x86_model_enter_guest();
	OVERFLOW_EXPECT_FROM(b, &branch_seen[0], BEFORE);
	/* As perf core does, from an interrupt or for a switch of tasks */
	b->cpuc->branches->stale = true;
	corepmu_stop_cpu(b->cpuc);
	corepmu_start_cpu(b->cpuc);
	take_branch(GUEST);
	x86_model_trace_exit();
	x86_model_end_guest();
	take_branch(AFTER);
	OVERFLOW_EXPECT_FROM(b, &branch_seen[1], AFTER);
	branch_end(event);
}

/* 7.x: KVM reports no exit if the vCPU's state is invalid. Branches are missing meanwhile. */
static void guest_exit_is_missing(struct kunit *test)
{
	struct fixture *b = guest_fixture(test);
	struct perf_event *event = branch_start(guest_open(b, true));

	take_branch(BEFORE);
	x86_model_enter_guest();
	x86_model_end_guest();
	take_branch(AFTER);
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	run_a_guest();
	OVERFLOW_EXPECT_FROM(b, &branch_seen[1], AFTER, BEFORE);
	branch_end(event);
}

/*
 * The exit is missing again, and KVM enters another guest before a sample: the records have a gap.
 */
static void guest_entry_after_missing_exit(struct kunit *test)
{
	struct fixture *b = guest_fixture(test);
	struct perf_event *event = branch_start(guest_open(b, true));

	take_branch(BEFORE);
	x86_model_enter_guest();
	x86_model_end_guest();
	run_a_guest();
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	run_a_guest();
	OVERFLOW_EXPECT_FROM(b, &branch_seen[1], AFTER, BEFORE);
	branch_end(event);
}

/* 6.1: KVM reports the exit after the task has moved: recording starts for the next task. */
static void guest_exit_on_another_cpu(struct kunit *test)
{
	struct fixture *b = guest_fixture(test);
	struct perf_event *event = branch_start(guest_open(b, true));

	x86_model_enter_guest();
	x86_model_end_guest();
	corepmu_features_sched_task(true);
	corepmu_stop_cpu(b->cpuc);
	corepmu_start_cpu(b->cpuc);
	take_branch(AFTER);
	/* The exit of a guest that entered on another CPU */
	x86_model_trace_exit();
	take_branch(BEFORE);
	OVERFLOW_EXPECT_FROM(b, &branch_seen[0], BEFORE, AFTER);
	branch_end(event);

	/* Without an event, neither entry nor exit enables recording. */
	run_a_guest();
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_model_state.lbr_ctl), 0);
}

static void guest_of_a_module(struct kunit *test)
{
	struct perf_event *event;
	struct fixture *b;

	if (!IS_ENABLED(CONFIG_TRACEPOINTS) || !IS_ENABLED(CONFIG_MODULES))
		kunit_skip(test, "no tracepoints of modules");

	tracepoint_model_kvm_is_module = true;
	b = guest_fixture(test);
	KUNIT_EXPECT_EQ(test, tracepoint_model_nr_probes(), 0);
	tracepoint_model_load_kvm(true);
	KUNIT_EXPECT_EQ(test, tracepoint_model_nr_probes(), 2);

	event = guest_open(b, true);
	branch_start(event);
	run_a_guest();
	OVERFLOW_EXPECT_FROM(b, &branch_seen[0], AFTER, BEFORE);
	branch_end(event);

	/* The module is unloaded, and loaded again before and after a load of the driver. */
	tracepoint_model_load_kvm(false);
	KUNIT_EXPECT_EQ(test, tracepoint_model_nr_probes(), 0);
	tracepoint_model_load_kvm(true);
	x86_guest_exit();
	KUNIT_EXPECT_EQ(test, tracepoint_model_nr_probes(), 0);
	x86_guest_init(to_x86(b->pmu));
	KUNIT_EXPECT_EQ(test, tracepoint_model_nr_probes(), 2);
}

/* If the kernel hides a tracepoint, events are not rejected. */
static void guest_hidden_tracepoint(struct kunit *test)
{
	struct perf_event *event;
	struct fixture *b;

	tracepoint_model_hidden = "kvm_exit";
	b = guest_fixture(test);
	KUNIT_EXPECT_EQ(test, tracepoint_model_nr_probes(), 0);
	event = guest_open(b, true);
	branch_start(event);
	run_a_guest();
	OVERFLOW_EXPECT_FROM(b, &branch_seen[0], AFTER, GUEST, BEFORE);
	branch_end(event);
}

static struct kunit_case guest_cases[] = {
	KUNIT_CASE(guest_is_not_recorded),
	KUNIT_CASE(guest_is_recorded_if_asked),
	KUNIT_CASE(guest_is_hidden_from_others),
	KUNIT_CASE(guest_interrupt_before_entry),
	KUNIT_CASE(guest_exit_is_missing),
	KUNIT_CASE(guest_entry_after_missing_exit),
	KUNIT_CASE(guest_exit_on_another_cpu),
	KUNIT_CASE(guest_of_a_module),
	KUNIT_CASE(guest_hidden_tracepoint),
	{ }
};

TEST_SUITE(guest, "corepmu_x86_guest", NULL, guest_test_exit);
