// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of Intel's counters while KVM runs guests
 */
#include <kunit/test.h>

#include <linux/perf_event.h>
#include <linux/preempt.h>

#include <asm/perf_event.h>

#include "branch/fixture.h"
#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "pebs/fixture.h"
#include "x86/intel/intel.h"
#include "x86/kvm/kvm.h"
#include "x86/msr.h"
#include "x86/x86.h"

static struct fixture *vmx_fixture(struct kunit *test, const char *testbed)
{
	struct fixture *b = fixture_start_on(test, testbed);

	x86_vmx_init(to_x86(b->pmu));
	return b;
}

static struct perf_event *add_filtered(struct fixture *b, bool exclude_host, bool exclude_guest)
{
	struct perf_event *event = fixture_filtered(b, exclude_host, exclude_guest);

	KUNIT_ASSERT_EQ(b->test, fixture_add(event, PERF_EF_START), 0);
	return event;
}

static void run_ten(void *b)
{
	fixture_run(b, TESTBED_INSTRUCTIONS, 10);
}

static void run_in_guest(void (*run)(void *data), void *data)
{
	preempt_disable();
	vmx_model_run(run, data);
	preempt_enable();
}

static void run_guest(struct fixture *b)
{
	run_in_guest(run_ten, b);
}

static void exclude_host_and_guest_select_counts(struct kunit *test)
{
	struct fixture *b = vmx_fixture(test, "intel-pebs-icl");
	struct perf_event *both, *host, *guest, *none;

	both = add_filtered(b, false, false);
	host = add_filtered(b, false, true);
	guest = add_filtered(b, true, false);
	none = add_filtered(b, true, true);
	fixture_run(b, TESTBED_INSTRUCTIONS, 100);
	run_guest(b);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 1000, both, 1110);
	KUNIT_EXPECT_EQ(test, fixture_read(host), 1100);
	KUNIT_EXPECT_EQ(test, fixture_read(guest), 10);
	KUNIT_EXPECT_EQ(test, fixture_read(none), 0);

	/* After an event is stopped, KVM gets the remaining counters. */
	fixture_stop_event(host, PERF_EF_UPDATE);
	fixture_stop_event(guest, PERF_EF_UPDATE);
	run_guest(b);
	KUNIT_EXPECT_EQ(test, fixture_read(both), 1120);
	KUNIT_EXPECT_EQ(test, fixture_read(host), 1100);
	KUNIT_EXPECT_EQ(test, fixture_read(guest), 10);
	fixture_remove(both);
	fixture_remove(host);
	fixture_remove(guest);
	fixture_remove(none);
	x86_vmx_exit();
}

/*
 * A counter that is off in the host overflows in the guest. The NMI ends the guest's run; in the
 * model a period ends with a run.
 */
static void an_event_that_excludes_the_host_samples_the_guest(struct kunit *test)
{
	struct fixture *b = vmx_fixture(test, "intel-pebs-icl");
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period	= 20,
		.exclude_host	= 1,
	};
	struct perf_event *event = fixture_open_start(b, &attr);

	fixture_forget(b);
	for (unsigned int i = 0; i < 5; i++) {
		fixture_run(b, TESTBED_INSTRUCTIONS, 100);
		run_guest(b);
	}
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	fixture_remove(event);
	x86_vmx_exit();
}

/* After KVM has read its list of MSRs, perf core throttles the event in the sample of an NMI. */
static void throttle_before_entry(void *event)
{
	struct perf_event *throttled = event;

	throttled->pmu->stop(throttled, 0);
}

/*
 * The VM exit enables the counter of an event that an NMI has stopped. The driver ignores the
 * counter's overflow. After a restart, as by perf_event_unthrottle(), the event samples again.
 */
static void an_event_stopped_before_the_vm_entry_samples_later(struct kunit *test)
{
	static const unsigned int precise[] = { 0, 2 };

	for (unsigned int i = 0; i < ARRAY_SIZE(precise); i++) {
		struct fixture *b = vmx_fixture(test, "intel-pebs-icl");
		struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, precise[i],
							   100);
		struct perf_event *event;

		/* KVM switches the register only if its values for host and guest differ. */
		attr.exclude_guest = 1;
		/* Call chains exclude large PEBS: each record raises an interrupt. */
		attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
		event = fixture_open_start(b, &attr);
		fixture_forget(b);
		run_in_guest(throttle_before_entry, event);
		fixture_run(b, TESTBED_INSTRUCTIONS, 100);
		RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 100, 0);
		KUNIT_EXPECT_EQ(test, fixture_read(event), 0);

		event->pmu->start(event, 0);
		fixture_run(b, TESTBED_INSTRUCTIONS, 100);
		fixture_run(b, TESTBED_INSTRUCTIONS, 100);
		KUNIT_EXPECT_EQ_MSG(test, b->nr_samples, 2, "precise_ip %u", precise[i]);
		KUNIT_EXPECT_EQ_MSG(test, fixture_read(event), 200, "precise_ip %u", precise[i]);
		fixture_remove(event);
		x86_vmx_exit();
		fixture_end(b);
	}
}

static void a_precise_event_counts_and_samples_the_host_alone(struct kunit *test)
{
	static const char * const names[] = {
		"intel-pebs-skl", "intel-pebs-icl", "intel-pebs-arch"
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		struct fixture *b = vmx_fixture(test, names[i]);
		struct perf_event *event;

		pebs_model_guests = true;
		event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
		KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		KUNIT_EXPECT_NE(test, pebs_model()->pebs_enable |
				pebs_model()->pebs_cfg_c[event->hw.idx], 0);
		fixture_forget(b);
		fixture_run(b, TESTBED_INSTRUCTIONS, 95);
		run_guest(b);
		KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
		RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 5, 1);
		KUNIT_EXPECT_EQ(test, fixture_read(event), 100);
		fixture_remove(event);
		pebs_model_guests = false;
		x86_vmx_exit();
		fixture_end(b);
	}
}

static void keep_enabled(void *enabled)
{
	*(u64 *)enabled = pebs_model()->pebs_enable;
}

/* Before format 4 a record may be written after the VM entry, unless KVM disables PEBS. */
static void kvm_disables_pebs_where_records_may_be_late(struct kunit *test)
{
	static const struct {
		const char *testbed;
		bool switches;
	} table[] = {
		{ "intel-pebs-skl", true }, { "intel-pebs-icl", false },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct fixture *b = vmx_fixture(test, table[i].testbed);
		struct perf_event *event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
		u64 host, guest;

		KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		host = pebs_model()->pebs_enable;
		KUNIT_EXPECT_NE(test, host, 0);
		run_in_guest(keep_enabled, &guest);
		KUNIT_EXPECT_EQ_MSG(test, guest, table[i].switches ? 0 : host, "row %u", i);
		KUNIT_EXPECT_EQ(test, pebs_model()->pebs_enable, host);
		fixture_remove(event);
		/* Without a precise event there is nothing to enable at the VM exit. */
		run_in_guest(keep_enabled, &guest);
		KUNIT_EXPECT_EQ(test, pebs_model()->pebs_enable, 0);
		x86_vmx_exit();
		fixture_end(b);
	}
}

static void keep_lbr_ctl(void *ctl)
{
	*(u64 *)ctl = x86_read_msr(MSR_ARCH_LBR_CTL);
}

/* IA32_DEBUGCTL, which the VM entry loads, does not disable architectural LBR. */
static void branches_of_guests_are_not_recorded(struct kunit *test)
{
	const struct perf_event_attr attr = { STACK(ANY_USER) };
	struct fixture *b = vmx_fixture(test, "intel-pebs-arch");
	struct perf_event *event;
	u64 host, guest;

	event = fixture_open_start(b, &attr);
	host = x86_read_msr(MSR_ARCH_LBR_CTL);
	KUNIT_EXPECT_NE(test, host, 0);
	run_in_guest(keep_lbr_ctl, &guest);
	KUNIT_EXPECT_EQ(test, guest, 0);
	KUNIT_EXPECT_EQ(test, x86_read_msr(MSR_ARCH_LBR_CTL), host);
	fixture_del(event);
	run_in_guest(keep_lbr_ctl, &guest);
	KUNIT_EXPECT_EQ(test, x86_read_msr(MSR_ARCH_LBR_CTL), 0);
	fixture_close(event);
	x86_vmx_exit();
}

/* Get IA32_LBR_CTL's row of the list that KVM switches. */
static void ask_lbr_ctl(struct kunit *test, struct perf_guest_switch_msr *lbr)
{
	const struct perf_guest_switch_msr *msr;
	int nr = 0, i;

	*lbr = (struct perf_guest_switch_msr){ };
	preempt_disable();
	msr = vmx_model_ask(&nr);
	for (i = 0; i < nr; i++) {
		if (msr[i].msr == MSR_ARCH_LBR_CTL)
			*lbr = msr[i];
	}
	preempt_enable();
	KUNIT_EXPECT_EQ(test, lbr->msr, MSR_ARCH_LBR_CTL);
}

/*
 * A vCPU moves from a CPU type with branch records to a type without them. If the second type's
 * list lacked IA32_LBR_CTL, KVM would keep the first type's value.
 */
static void lbr_ctl_is_listed_without_branch_records(struct kunit *test)
{
	const struct perf_event_attr attr = { STACK(ANY_USER) };
	struct fixture *b = fixture_start_on(test, "intel-pebs-arch");
	unsigned int nr_branches = b->pmu->nr_branches;
	struct perf_guest_switch_msr lbr;
	struct corepmu_branches *records;
	struct corepmu_cpu *cpuc;
	struct perf_event *event;

	b->pmu->nr_branches = 0;
	x86_vmx_init(to_x86(b->pmu));
	b->pmu->nr_branches = nr_branches;
	event = fixture_open_start(b, &attr);
	ask_lbr_ctl(test, &lbr);
	KUNIT_EXPECT_NE(test, lbr.host, 0);
	KUNIT_EXPECT_EQ(test, lbr.guest, 0);
	fixture_remove(event);

	cpuc = this_cpu_ptr(b->pmu->cpu);
	records = cpuc->branches;
	cpuc->branches = NULL;
	ask_lbr_ctl(test, &lbr);
	cpuc->branches = records;
	KUNIT_EXPECT_EQ(test, lbr.host, 0);
	KUNIT_EXPECT_EQ(test, lbr.guest, 0);
	x86_vmx_exit();
}

static void kvm_switches_nothing_without_events(struct kunit *test)
{
	const struct perf_guest_switch_msr *msr;
	struct fixture *b = vmx_fixture(test, "intel-pebs-icl");
	struct perf_event *event = add_filtered(b, false, true);
	int nr = 0;

	fixture_remove(event);
	preempt_disable();
	msr = vmx_model_ask(&nr);
	preempt_enable();
	KUNIT_ASSERT_NOT_NULL(test, msr);
	KUNIT_EXPECT_EQ(test, nr, 1);
	KUNIT_EXPECT_EQ(test, msr->msr, MSR_CORE_PERF_GLOBAL_CTRL);
	KUNIT_EXPECT_EQ(test, msr->host, msr->guest);
	x86_vmx_exit();
	KUNIT_EXPECT_NULL(test, vmx_model_ask(&nr));
}

/* The kernel hides the static call, or the built-in driver answers it. */
static void without_the_call_exclude_host_is_rejected(struct kunit *test)
{
	static const char * const hidden[] = {
		STATIC_CALL_KEY_STR(x86_pmu_guest_get_msrs),
		STATIC_CALL_TRAMP_STR(x86_pmu_guest_get_msrs),
		"__static_call_return0",
	};
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_host	= 1,
	};
	struct fixture *b = fixture_start_on(test, "intel-pebs-icl");
	struct perf_event *event;
	int nr;

	for (unsigned int i = 0; i < ARRAY_SIZE(hidden); i++) {
		x86_model_hidden = hidden[i];
		x86_vmx_init(to_x86(b->pmu));
		x86_model_hidden = NULL;
		KUNIT_EXPECT_NULL(test, vmx_model_ask(&nr));
		KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EOPNOTSUPP);
		x86_vmx_exit();
	}
}

static void a_precise_event_cannot_exclude_the_host(struct kunit *test)
{
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct fixture *b = vmx_fixture(test, "intel-pebs-icl");
	struct perf_event *event;

	attr.exclude_host = 1;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event), -EOPNOTSUPP);
	x86_vmx_exit();
}

static struct kunit_case vmx_cases[] = {
	KUNIT_CASE(exclude_host_and_guest_select_counts),
	KUNIT_CASE(an_event_that_excludes_the_host_samples_the_guest),
	KUNIT_CASE(an_event_stopped_before_the_vm_entry_samples_later),
	KUNIT_CASE(a_precise_event_counts_and_samples_the_host_alone),
	KUNIT_CASE(kvm_disables_pebs_where_records_may_be_late),
	KUNIT_CASE(branches_of_guests_are_not_recorded),
	KUNIT_CASE(lbr_ctl_is_listed_without_branch_records),
	KUNIT_CASE(kvm_switches_nothing_without_events),
	KUNIT_CASE(without_the_call_exclude_host_is_rejected),
	KUNIT_CASE(a_precise_event_cannot_exclude_the_host),
	{ }
};

OWN_TESTBED_SUITE(vmx, "corepmu_x86_vmx");
