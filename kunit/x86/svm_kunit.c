// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of AMD's counters while KVM may run guests
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/kvm/kvm.h"
#include "x86/msr.h"
#include "x86/x86.h"

#define HG_ONLY		(EVNTSEL_AMD_GUESTONLY | EVNTSEL_AMD_HOSTONLY)

/* Return the value of the event's PERF_CTL. */
static u64 select_of(const struct perf_event *event)
{
	return this_cpu_read(x86_model_state.select[event->hw.idx]);
}

/*
 * While EFER.SVME is 0, a host-only counter does not count. While SVME is 1, a counter without the
 * host-only bit counts guests. The driver sets and clears the bit with SVME, and no count is lost.
 */
static void svm_follows_svme(struct kunit *test, const char *testbed)
{
	struct fixture *b = fixture_start_on(test, testbed);
	struct perf_event *event, *plain;

	x86_svm_init();
	event = fixture_filtered(b, false, true);
	plain = fixture_filtered(b, false, false);
	KUNIT_EXPECT_EQ(test, event->hw.config_base & HG_ONLY, EVNTSEL_AMD_HOSTONLY);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, fixture_add(plain, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, select_of(event) & HG_ONLY, 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, 100);

	x86_model_switch_svm(true);
	KUNIT_EXPECT_TRUE(test, b->cpuc->running);
	KUNIT_EXPECT_EQ(test, select_of(event) & HG_ONLY, EVNTSEL_AMD_HOSTONLY);
	KUNIT_EXPECT_EQ(test, select_of(plain) & HG_ONLY, 0);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 10, event, 110);

	x86_model_switch_svm(false);
	KUNIT_EXPECT_EQ(test, select_of(event) & HG_ONLY, 0);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 1, event, 111);
	KUNIT_EXPECT_EQ(test, fixture_read(plain), 111);

	/* KVM starts while the event has no counter. */
	fixture_del(event);
	x86_model_switch_svm(true);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, select_of(event) & HG_ONLY, EVNTSEL_AMD_HOSTONLY);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 1, event, 112);

	fixture_del(plain);
	fixture_del(event);
	fixture_close(plain);
	fixture_close(event);
	x86_svm_exit();
}

static void svm_with_global_ctrl(struct kunit *test)
{
	svm_follows_svme(test, "amd-lbr");
}

static void svm_without_global_ctrl(struct kunit *test)
{
	svm_follows_svme(test, "amd-core");
}

/*
 * reset() reads EFER.SVME: KVM may run before the module is loaded, or before a CPU comes online.
 */
static void svm_reset_reads(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "amd-lbr");

	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_select_masked), EVNTSEL_AMD_HOSTONLY);
	x86_model_svm = true;
	b->pmu->backend->reset(b->cpuc);
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_select_masked), 0);
	x86_model_svm = false;
	b->pmu->backend->reset(b->cpuc);
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_select_masked), EVNTSEL_AMD_HOSTONLY);
}

static void svm_filters(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "amd-lbr");
	struct perf_event *event;

	x86_svm_init();
	event = fixture_filtered(b, true, false);
	KUNIT_EXPECT_EQ(test, event->hw.config_base & HG_ONLY, EVNTSEL_AMD_GUESTONLY);
	fixture_close(event);
	/* Both bits together would count host and guest; the driver counts neither. */
	event = fixture_filtered(b, true, true);
	KUNIT_EXPECT_EQ(test, event->hw.config_base & (HG_ONLY | EVNTSEL_USR | EVNTSEL_OS), 0);
	fixture_close(event);
	x86_svm_exit();

	/* Without kprobes, the driver cannot learn when SVME changes. */
	x86_model_no_kprobes = true;
	x86_svm_init();
	event = fixture_filtered(b, false, true);
	KUNIT_EXPECT_EQ(test, event->hw.config_base & HG_ONLY, 0);
	fixture_close(event);
	x86_svm_exit();
}

/* A hypervisor clears the bits: the counters cannot separate guests from the host. */
static void svm_bits_cleared_by_hypervisor(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS, .exclude_host = 1,
	};
	struct perf_event *event;
	struct fixture *b;

	x86_model_ctl_kept = HG_ONLY;
	b = fixture_start_on(test, "amd-lbr");
	x86_model_ctl_kept = 0;
	x86_svm_init();
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EOPNOTSUPP);
	event = fixture_filtered(b, false, true);
	KUNIT_EXPECT_EQ(test, event->hw.config_base & HG_ONLY, 0);
	fixture_close(event);
	event = fixture_filtered(b, true, true);
	KUNIT_EXPECT_EQ(test, event->hw.config_base & (HG_ONLY | EVNTSEL_USR | EVNTSEL_OS), 0);
	fixture_close(event);
	x86_svm_exit();
}

/* On Intel, bit 41 belongs to umask2: the driver does not mask it. */
static void svm_intel(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .size = sizeof(attr), .config = BIT_ULL(41) | 0xc4,
		.exclude_guest = 1,
	};
	struct fixture *b = fixture_start_on(test, "intel-v6");
	struct perf_event *event;

	x86_svm_init();
	KUNIT_EXPECT_EQ(test, this_cpu_read(x86_select_masked), 0);
	event = fixture_open_start(b, &attr);
	KUNIT_EXPECT_TRUE(test, select_of(event) & BIT_ULL(41));
	fixture_remove(event);
	x86_svm_exit();
}

static struct kunit_case svm_cases[] = {
	KUNIT_CASE(svm_with_global_ctrl),
	KUNIT_CASE(svm_without_global_ctrl),
	KUNIT_CASE(svm_reset_reads),
	KUNIT_CASE(svm_filters),
	KUNIT_CASE(svm_bits_cleared_by_hypervisor),
	KUNIT_CASE(svm_intel),
	{ }
};

OWN_TESTBED_SUITE(svm, "corepmu_x86_svm");
