// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of exclude_guest and exclude_host with KVM (arm64)
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include "fixture/testbed.h"
#include "models/arm64/access.h"
#include "models/tracepoint.h"
#include "arm64/pmuv3.h"
#include "arm64/sysreg.h"

#define EL0		0
#define EL1		1
#define INSTRUCTIONS	0x08

static void kvm_test_exit(struct kunit *test)
{
	pmuv3_model_enter_guest(false);
	testbed_exit(test);
	pmuv3_kvm_exit();
	KUNIT_EXPECT_EQ(test, tracepoint_model_nr_probes(), 0);
	pmuv3_model_has_kvm = false;
	tracepoint_model_reset();
}

/* Start a fixture in a kernel with KVM, which may hide a tracepoint. */
static struct fixture *fixture_of(struct kunit *test, const char *testbed, const char *hidden)
{
	struct fixture *b = fixture_start_on(test, testbed);

	pmuv3_model_has_kvm = true;
	tracepoint_model_hidden = hidden;
	pmuv3_kvm_init();
	return b;
}

static const struct perf_event_attr no_guests = {
	.type = PERF_TYPE_RAW, .config = INSTRUCTIONS, .exclude_guest = 1,
};

static const struct perf_event_attr guests_alone = {
	.type = PERF_TYPE_RAW, .config = INSTRUCTIONS, .exclude_host = 1,
};

/*
 * Count in the host, then in a guest at both levels, then in the host again. The guest's kernel is
 * at EL1.
 */
static void run_a_guest(void)
{
	pmuv3_model_run(INSTRUCTIONS, EL0, 1000);
	pmuv3_model_enter_guest(true);
	pmuv3_model_run(INSTRUCTIONS, EL0, 100);
	pmuv3_model_run(INSTRUCTIONS, EL1, 10);
	pmuv3_model_enter_guest(false);
	pmuv3_model_run(INSTRUCTIONS, EL0, 1);
}

static void kvm_vhe(struct kunit *test)
{
	struct fixture *b = fixture_of(test, "pmuv3p4-vhe", NULL);
	struct perf_event_attr user = no_guests;
	struct perf_event *host = fixture_open_start(b, &no_guests);
	struct perf_event *guest = fixture_open_start(b, &guests_alone);
	struct perf_event *both;

	user.exclude_guest = 0;
	both = fixture_open_start(b, &user);
	run_a_guest();
	KUNIT_EXPECT_EQ(test, fixture_read(host), 1001);
	KUNIT_EXPECT_EQ(test, fixture_read(guest), 110);
	KUNIT_EXPECT_EQ(test, fixture_read(both), 1111);
	/* The host's kernel is at EL2. */
	pmuv3_model_enter_guest(true);
	pmuv3_model_run(INSTRUCTIONS, 2, 7);
	pmuv3_model_enter_guest(false);
	KUNIT_EXPECT_EQ(test, fixture_read(host), 1008);
	KUNIT_EXPECT_EQ(test, fixture_read(guest), 110);
}

static void kvm_nvhe(struct kunit *test)
{
	struct fixture *b = fixture_of(test, "pmuv3", NULL);
	struct perf_event_attr attr = guests_alone;
	struct perf_event *host = fixture_open_start(b, &no_guests), *guest;

	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &guest), -EOPNOTSUPP);
	attr.exclude_kernel = 1;
	guest = fixture_open_start(b, &attr);
	run_a_guest();
	KUNIT_EXPECT_EQ(test, fixture_read(host), 1001);
	KUNIT_EXPECT_EQ(test, fixture_read(guest), 100);
}

/* An interrupt at VM exit deletes an event, and adds another on its counter. */
static void kvm_event_added_at_exit(struct kunit *test)
{
	struct fixture *b = fixture_of(test, "pmuv3p4-vhe", NULL);
	struct perf_event *event = fixture_open_start(b, &no_guests);

	pmuv3_model_enter_guest(true);
	fixture_del(event);
	pmuv3_model_enter_guest(false);
	/* The counter has had the filter for guests since the VM entry. */
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	pmuv3_model_run(INSTRUCTIONS, EL0, 1000);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1000);
	fixture_remove(event);

	pmuv3_model_enter_guest(true);
	event = fixture_open_start(b, &no_guests);
	pmuv3_model_run(INSTRUCTIONS, EL0, 100);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 0);
	pmuv3_model_enter_guest(false);
	pmuv3_model_run(INSTRUCTIONS, EL0, 10);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 10);
}

/* VM entry and exit do not touch other events' counters. */
static void kvm_skips_unfiltered_events(struct kunit *test)
{
	struct fixture *b = fixture_of(test, "pmuv3p4-vhe", NULL);
	struct perf_event_attr attr = no_guests;

	attr.exclude_user = 1;
	fixture_open_start(b, &attr);
	attr = no_guests;
	attr.exclude_guest = 0;
	fixture_open_start(b, &attr);
	model_forget();
	pmuv3_model_enter_guest(true);
	pmuv3_model_enter_guest(false);
	KUNIT_EXPECT_EQ(test, model_accesses(NULL), 0);
}

/*
 * VM entry and exit do not touch the counter of a deleted event; the next event writes its filter.
 */
static void kvm_skips_deleted_events(struct kunit *test)
{
	struct fixture *b = fixture_of(test, "pmuv3p4-vhe", NULL);
	struct perf_event *event = fixture_open_start(b, &no_guests);

	fixture_remove(event);
	model_forget();
	pmuv3_model_enter_guest(true);
	pmuv3_model_enter_guest(false);
	KUNIT_EXPECT_EQ(test, model_accesses(NULL), 0);

	event = fixture_open_start(b, &no_guests);
	run_a_guest();
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1001);
}

/*
 * If the kernel hides a tracepoint, exclude_host works only where a filter alone can select guests.
 */
static void kvm_hidden_tracepoint(struct kunit *test)
{
	struct fixture *b = fixture_of(test, "pmuv3p4-vhe", "kvm_exit");
	struct perf_event_attr attr = guests_alone;
	struct perf_event *event;

	KUNIT_EXPECT_EQ(test, tracepoint_model_nr_probes(), 0);
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EOPNOTSUPP);
	/* At EL1 there are only guests. */
	attr.exclude_user = 1;
	event = fixture_open_start(b, &attr);
	run_a_guest();
	KUNIT_EXPECT_EQ(test, fixture_read(event), 10);
	fixture_open_start(b, &no_guests);
}

/* On a CPU without EL2, an event with exclude_host counts nothing. */
static void kvm_no_el2(struct kunit *test)
{
	struct fixture *b = fixture_of(test, "pmuv3p5", NULL);
	struct perf_event *event = fixture_open_start(b, &guests_alone);

	pmuv3_model_run(INSTRUCTIONS, EL0, 100);
	pmuv3_model_run(INSTRUCTIONS, EL1, 100);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 0);
}

static struct kunit_case kvm_cases[] = {
	KUNIT_CASE(kvm_vhe),
	KUNIT_CASE(kvm_nvhe),
	KUNIT_CASE(kvm_event_added_at_exit),
	KUNIT_CASE(kvm_skips_unfiltered_events),
	KUNIT_CASE(kvm_skips_deleted_events),
	KUNIT_CASE(kvm_hidden_tracepoint),
	KUNIT_CASE(kvm_no_el2),
	{ }
};

TEST_SUITE(kvm, "corepmu_arm64_kvm", NULL, kvm_test_exit);
