// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of user access to counters on arm64 (rdpmc): which task may read which
 * counter
 */
#include <kunit/test.h>

#include <linux/cpu.h>
#include <linux/cpu_pm.h>
#include <linux/device.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sysctl.h>

#include <corepmu/module.h>
#include <corepmu/rdpmc.h>

#include "fixture/testbed.h"
#include "fixture/userpage.h"
#include "models/arm64/access.h"
#include "arm64/pmuv3.h"
#include "arm64/sysreg.h"

static u64 open_counters(struct fixture *b)
{
	return per_cpu_ptr(&pmuv3_model_state, b->cpu)->pmuserenr;
}

/* A task can read counters while its event is scheduled in. */
static void rdpmc_arm64_task(struct kunit *test)
{
	const struct testbed *testbed = testbed_by_name(test->param_value);
	struct fixture *b = readable_fixture(test, testbed);
	bool has_mask = !strcmp(testbed->name, "pmuv3p9");
	u64 open = PMUSERENR_ER | PMUSERENR_CR | (has_mask ? PMUSERENR_UEN : 0);
	struct perf_event_attr attr = {
		.size = sizeof(attr), .config = PMUV3_EVENT_INST_RETIRED,
		.config1 = CONFIG1_RDPMC,
	};
	struct perf_event *event, *before[2];
	int idx[2];

	KUNIT_ASSERT_EQ(test, perf_pmu_register(&b->pmu->perf_pmu, "corepmu_kunit", -1), 0);
	attr.type = b->pmu->perf_pmu.type;

	/* Other events leave values in two counters; the task's event gets the first of them. */
	for (unsigned int i = 0; i < ARRAY_SIZE(before); i++) {
		before[i] = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
		KUNIT_EXPECT_EQ(test, fixture_add(before[i], PERF_EF_START), 0);
		idx[i] = before[i]->hw.idx;
	}
	fixture_run(b, TESTBED_BRANCHES, 4711);
	for (unsigned int i = 0; i < ARRAY_SIZE(before); i++) {
		fixture_del(before[i]);
		fixture_close(before[i]);
	}
	KUNIT_EXPECT_EQ(test, open_counters(b), 0);

	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	KUNIT_EXPECT_EQ(test, event->hw.idx, idx[0]);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);
	if (has_mask)
		KUNIT_EXPECT_EQ(test, this_cpu_read(pmuv3_model_state.pmuacr), BIT_ULL(idx[0]));
	KUNIT_EXPECT_EQ(test, !pmuv3_read_counter(idx[1]), !has_mask);

	/* The task sleeps, and another task runs on the CPU. */
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_timeout(1);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);
	perf_event_disable(event);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);
	perf_event_enable(event);

	KUNIT_EXPECT_EQ(test, write_user_access("0"), 0);
	KUNIT_EXPECT_EQ(test, open_counters(b), 0);
	KUNIT_EXPECT_EQ(test, write_user_access("1"), 0);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);

	perf_event_disable(event);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_EQ(test, open_counters(b), 0);
	perf_pmu_unregister(&b->pmu->perf_pmu);
	end_readable(b);
}

/* Enable the PMU, as perf core does at a task switch. */
static void enable_pmu(struct corepmu *pmu)
{
	unsigned long flags;

	local_irq_save(flags);
	pmu->perf_pmu.pmu_enable(&pmu->perf_pmu);
	local_irq_restore(flags);
}

/* Open an event that its task may read, on a registered PMU. */
static struct perf_event *task_event(struct fixture *b)
{
	struct perf_event_attr attr = {
		.type = b->pmu->perf_pmu.type, .size = sizeof(attr),
		.config = PMUV3_EVENT_INST_RETIRED, .config1 = CONFIG1_RDPMC,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(b->test, event);

	return event;
}

static void end_task_event(struct perf_event *event)
{
	perf_event_disable(event);
	perf_event_release_kernel(event);
}

/*
 * A power-down of the CPU loses PMUSERENR_EL0 and PMUACR_EL1. Afterwards the current task, which
 * wrote to /sys/power/state, can read its counters without a task switch.
 */
static void rdpmc_arm64_power(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, testbed_by_name("pmuv3p9"));
	const u64 open = PMUSERENR_ER | PMUSERENR_CR | PMUSERENR_UEN;
	struct notifier_block *nb = &b->pmu->pm_nb;
	struct perf_event *event;
	unsigned long flags;

	KUNIT_ASSERT_EQ(test, corepmu_hotplug_init(), 0);
	KUNIT_ASSERT_EQ(test, corepmu_hotplug_add(b->pmu), 0);
	KUNIT_ASSERT_EQ(test, perf_pmu_register(&b->pmu->perf_pmu, "corepmu_kunit", -1), 0);
	event = task_event(b);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);

	local_irq_save(flags);
	nb->notifier_call(nb, CPU_PM_ENTER, NULL);
	b->testbed->ops->lose_state();
	this_cpu_write(pmuv3_model_state.pmuserenr, 0);
	this_cpu_write(pmuv3_model_state.pmuacr, 0);
	nb->notifier_call(nb, CPU_PM_EXIT, NULL);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);
	KUNIT_EXPECT_EQ(test, this_cpu_read(pmuv3_model_state.pmuacr), BIT_ULL(event->hw.idx));
	local_irq_restore(flags);

	end_task_event(event);
	perf_pmu_unregister(&b->pmu->perf_pmu);
	corepmu_hotplug_remove(b->pmu);
	corepmu_hotplug_exit();
	end_readable(b);
}

/*
 * PMUSERENR_EL0 follows the task, even if perf core enables the PMU of another CPU type on the CPU.
 * Perf core does so for a task with events of that type, and Linux 6.1 for all tasks.
 */
static void rdpmc_arm64_other_cpu_type(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, testbed_by_name("pmuv3p5"));
	const u64 open = PMUSERENR_ER | PMUSERENR_CR;
	struct corepmu *other = corepmu_alloc(&pmuv3_backend);
	struct perf_event *event;

	KUNIT_ASSERT_NOT_NULL(test, other);
	corepmu_init_pmu(other);
	KUNIT_ASSERT_EQ(test, perf_pmu_register(&b->pmu->perf_pmu, "corepmu_kunit", -1), 0);
	event = task_event(b);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);

	/* As if another task were current, and then this task again */
	WRITE_ONCE(corepmu_rdpmc_allowed, false);
	enable_pmu(other);
	KUNIT_EXPECT_EQ(test, open_counters(b), 0);
	WRITE_ONCE(corepmu_rdpmc_allowed, true);
	enable_pmu(other);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);

	end_task_event(event);
	KUNIT_EXPECT_EQ(test, open_counters(b), 0);
	perf_pmu_unregister(&b->pmu->perf_pmu);
	end_readable(b);
	/* The PMU was never registered with perf core. */
	other->perf_pmu = (struct pmu) { };
	corepmu_free(other);
}

/* User space may not read PMCCNTR_EL0 if no event uses it. */
static void rdpmc_arm64_no_pmccntr(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, testbed_by_name("pmuv3p5"));
	struct perf_event *event;

	to_pmuv3(b->pmu)->avoid_pmccntr = true;
	KUNIT_ASSERT_EQ(test, perf_pmu_register(&b->pmu->perf_pmu, "corepmu_kunit", -1), 0);
	event = task_event(b);
	KUNIT_EXPECT_EQ(test, open_counters(b), PMUSERENR_ER);
	end_task_event(event);
	KUNIT_EXPECT_EQ(test, open_counters(b), 0);
	perf_pmu_unregister(&b->pmu->perf_pmu);
	end_readable(b);
}

/*
 * While a vCPU is loaded, KVM owns PMUSERENR_EL0; KVM writes the host's value when it puts the
 * vCPU.
 */
static void rdpmc_arm64_vcpu(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, testbed_by_name("pmuv3p4-vhe"));
	const u64 open = PMUSERENR_ER | PMUSERENR_CR;
	struct perf_event *event;
	u64 guests;

	pmuv3_model_has_kvm = true;
	pmuv3_kvm_init();
	KUNIT_ASSERT_EQ(test, perf_pmu_register(&b->pmu->perf_pmu, "corepmu_kunit", -1), 0);

	/* An event is added: the guest's value stays until KVM puts the vCPU. */
	pmuv3_model_load_vcpu(true);
	guests = open_counters(b);
	event = task_event(b);
	KUNIT_EXPECT_EQ(test, open_counters(b), guests);
	pmuv3_model_load_vcpu(false);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);

	/* The administrator disables user access, and enables it again. */
	pmuv3_model_load_vcpu(true);
	KUNIT_EXPECT_EQ(test, write_user_access("0"), 0);
	KUNIT_EXPECT_EQ(test, open_counters(b), guests);
	pmuv3_model_load_vcpu(false);
	KUNIT_EXPECT_EQ(test, open_counters(b), 0);
	pmuv3_model_load_vcpu(true);
	KUNIT_EXPECT_EQ(test, write_user_access("1"), 0);
	pmuv3_model_load_vcpu(false);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);

	/* The thread's events are deleted: the next task may read nothing. */
	pmuv3_model_load_vcpu(true);
	end_task_event(event);
	KUNIT_EXPECT_EQ(test, open_counters(b), guests);
	pmuv3_model_load_vcpu(false);
	KUNIT_EXPECT_EQ(test, open_counters(b), 0);

	perf_pmu_unregister(&b->pmu->perf_pmu);
	end_readable(b);
	pmuv3_kvm_exit();
	pmuv3_model_has_kvm = false;
}

/* If the kernel hides kvm_set_pmuserenr(), the driver writes the register as without a vCPU. */
static void rdpmc_arm64_hidden_kvm(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, testbed_by_name("pmuv3p4-vhe"));
	struct perf_event *event;

	pmuv3_model_has_kvm = true;
	pmuv3_model_hides_pmuserenr = true;
	pmuv3_kvm_init();
	KUNIT_ASSERT_EQ(test, perf_pmu_register(&b->pmu->perf_pmu, "corepmu_kunit", -1), 0);
	event = task_event(b);
	KUNIT_EXPECT_EQ(test, open_counters(b), PMUSERENR_ER | PMUSERENR_CR);
	end_task_event(event);
	KUNIT_EXPECT_EQ(test, open_counters(b), 0);

	perf_pmu_unregister(&b->pmu->perf_pmu);
	end_readable(b);
	pmuv3_kvm_exit();
	pmuv3_model_hides_pmuserenr = false;
	pmuv3_model_has_kvm = false;
}

static const void *task_gen_params(const void *prev, char *desc)
{
	static const char * const names[] = { "pmuv3p5", "pmuv3p9" };
	const char *next = !prev ? names[0] : prev == names[0] ? names[1] : NULL;

	if (next)
		strscpy(desc, next, KUNIT_PARAM_DESC_SIZE);

	return next;
}

/* Events that user space may read */
static void rdpmc_arm64_accepts(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, testbed_by_name("pmuv3p9"));
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
		.config1 = CONFIG1_RDPMC,
	};
	struct perf_event *event = fixture_alloc(b, &attr);

	/* A per-CPU event is rejected. */
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EINVAL);

	/*
	 * The driver accepts only a single counter that user space can address, with a width that
	 * the page can show.
	 */
	event->attach_state |= PERF_ATTACH_TASK;
	event->hw.target = current;
	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&event->hw), GENMASK_ULL(30, 0));
	KUNIT_EXPECT_EQ(test, event->hw.flags,
			(int)(COREPMU_EVENT_32BIT | PERF_EVENT_FLAG_USER_READ_CNT));
	event->attr.config1 |= CONFIG1_LONG;
	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	KUNIT_EXPECT_EQ(test, event->hw.flags,
			(int)(COREPMU_EVENT_LONG | PERF_EVENT_FLAG_USER_READ_CNT));

	/* With several CPU types, the event needs its PMU's type and a task bound to these CPUs. */
	if (nr_cpu_ids > 1) {
		cpumask_copy(&b->pmu->supported_cpus, cpumask_of(b->cpu));
		KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EOPNOTSUPP);
		event->attr.type = b->pmu->perf_pmu.type;
		event->attr.config = PMUV3_EVENT_INST_RETIRED;
		KUNIT_EXPECT_EQ(test, fixture_init_event(event), 0);
		set_cpus_allowed_ptr(current, cpu_possible_mask);
		KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EOPNOTSUPP);
		/* An inherited event is not checked: fork() must not fail. */
		event->parent = fixture_alloc(b, &attr);
		KUNIT_EXPECT_EQ(test, fixture_init_event(event), 0);
		KUNIT_EXPECT_TRUE(test, corepmu_event_is_readable(&event->hw));
		event->parent = NULL;
		set_cpus_allowed_ptr(current, cpumask_of(b->cpu));
		cpumask_copy(&b->pmu->supported_cpus, cpu_possible_mask);
	}
	end_readable(b);
}

/*
 * With ACPI, a CPU that is offline at load has no CPU type yet, and does not count as another type.
 */
static void rdpmc_arm64_one_cpu_type(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, testbed_by_name("pmuv3p9"));
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
		.config1 = CONFIG1_RDPMC,
	};
	struct perf_event *event = fixture_alloc(b, &attr);
	int absent = cpumask_any_but(cpu_online_mask, b->cpu);
	struct corepmu *other;

	event->attach_state |= PERF_ATTACH_TASK;
	event->hw.target = current;
	/* x86's CPU 0 cannot go offline. */
	if (absent < nr_cpu_ids && !get_cpu_device(absent)->offline_disabled) {
		cpumask_copy(&b->pmu->supported_cpus, cpumask_of(b->cpu));
		KUNIT_EXPECT_EQ(test, remove_cpu(absent), 0);
		KUNIT_EXPECT_EQ(test, fixture_init_event(event), 0);
		/* The CPU comes online and has another type. */
		KUNIT_EXPECT_EQ(test, add_cpu(absent), 0);
		KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EOPNOTSUPP);
		cpumask_copy(&b->pmu->supported_cpus, cpu_possible_mask);
	}

	/* Make a second PMU whose CPUs are all offline. */
	other = corepmu_alloc(&pmuv3_backend);
	KUNIT_ASSERT_NOT_NULL(test, other);
	corepmu_rdpmc_add(other);
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EOPNOTSUPP);
	corepmu_rdpmc_remove(other);
	corepmu_free(other);
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), 0);
	end_readable(b);
}

/* Without 64-bit event counters, only the cycle counter is long. */
static void rdpmc_arm64_long(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, testbed_by_name("pmuv3"));
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
		.config1 = CONFIG1_RDPMC | CONFIG1_LONG,
	};
	struct perf_event *event = fixture_alloc(b, &attr);

	event->attach_state |= PERF_ATTACH_TASK;
	event->hw.target = current;
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -EOPNOTSUPP);
	event->attr.config = PERF_COUNT_HW_CPU_CYCLES;
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), 0);
	KUNIT_EXPECT_EQ(test, corepmu_hw_counters(&event->hw), BIT_ULL(PMUV3_CYCLE_COUNTER));
	KUNIT_EXPECT_EQ(test, event->hw.flags,
			(int)(COREPMU_EVENT_LONG | PERF_EVENT_FLAG_USER_READ_CNT));
	end_readable(b);
}

/* kernel.perf_user_access */
static void rdpmc_arm64_sysctl(struct kunit *test)
{
	char buffer[8] = "";
	size_t len = sizeof(buffer);
	loff_t pos = 0;

	pmuv3_rdpmc_init(false);
	KUNIT_ASSERT_NOT_NULL(test, pmuv3_model_sysctl);
	KUNIT_EXPECT_STREQ(test, pmuv3_model_sysctl->procname, "perf_user_access");
	KUNIT_EXPECT_EQ(test, write_user_access("2"), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_user_access("-1"), -EINVAL);
	KUNIT_EXPECT_FALSE(test, corepmu_rdpmc_allowed);
	KUNIT_EXPECT_EQ(test, write_user_access("1"), 0);
	KUNIT_EXPECT_TRUE(test, corepmu_rdpmc_allowed);
	KUNIT_EXPECT_TRUE(test, corepmu_rdpmc_in_use);
	KUNIT_EXPECT_EQ(test, pmuv3_model_sysctl->proc_handler((void *)pmuv3_model_sysctl, 0,
							       buffer, &len, &pos), 0);
	KUNIT_EXPECT_STREQ(test, buffer, "1\n");
	KUNIT_EXPECT_EQ(test, write_user_access("0"), 0);
	KUNIT_EXPECT_FALSE(test, corepmu_rdpmc_allowed);
	KUNIT_EXPECT_FALSE(test, corepmu_rdpmc_in_use);
	pmuv3_rdpmc_exit();
	KUNIT_EXPECT_NULL(test, pmuv3_model_sysctl);

	/*
	 * An existing kernel.perf_user_access is not registered again: the kernel would not
	 * recover.
	 */
	pmuv3_rdpmc_init(true);
	KUNIT_EXPECT_NULL(test, pmuv3_model_sysctl);
	pmuv3_rdpmc_exit();
}

static struct kunit_case rdpmc_arm64_cases[] = {
	KUNIT_CASE_PARAM(rdpmc_arm64_task, task_gen_params),
	KUNIT_CASE(rdpmc_arm64_power),
	KUNIT_CASE(rdpmc_arm64_other_cpu_type),
	KUNIT_CASE(rdpmc_arm64_no_pmccntr),
	KUNIT_CASE(rdpmc_arm64_vcpu),
	KUNIT_CASE(rdpmc_arm64_hidden_kvm),
	KUNIT_CASE(rdpmc_arm64_accepts),
	KUNIT_CASE(rdpmc_arm64_one_cpu_type),
	KUNIT_CASE(rdpmc_arm64_long),
	KUNIT_CASE(rdpmc_arm64_sysctl),
	{ }
};

OWN_TESTBED_SUITE(rdpmc_arm64, "corepmu_arm64_rdpmc");
