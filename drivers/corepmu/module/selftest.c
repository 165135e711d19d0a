// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: self-test of the counters and of their overflow interrupt
 *
 * A counter that counts wrong is worse than no counter. Firmware may reserve some counters for
 * itself, a hypervisor may show registers that do nothing, and a devicetree may have the wrong
 * interrupt. So before a PMU is registered, each counter of each CPU counts up to an overflow. Each
 * counter does so alone first, and then all do so together: a hypervisor may have fewer counters
 * than it shows, and give them to the first users. Counters that fail are left out.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/ktime.h>
#include <linux/prandom.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

/* Number of counts until a counter overflows */
#define SELF_TEST_COUNTS	20000

/*
 * Time to wait for an overflow; a thousandth of it is enough on a free CPU. While a hypervisor runs
 * another virtual CPU, time passes but counters do not count. So after that time the test reads the
 * counters another SELF_TEST_LOOKS times before a counter fails. One read takes more than 20 cycles
 * and instructions: all reads take more than twice SELF_TEST_COUNTS.
 */
#define SELF_TEST_NS		(10 * NSEC_PER_MSEC)
#define SELF_TEST_LOOKS		2000

/**
 * struct self_test - self-test of a PMU on one CPU
 * @work: runs self_test_cpu() on the CPU
 * @pmu: the PMU
 * @stuck: mask of counters that do not count
 * @silent: mask of counters that count, but do not interrupt at an overflow
 */
struct self_test {
	struct work_struct	work;
	struct corepmu		*pmu;
	u64			stuck;
	u64			silent;
};

static void __corepmu_init self_test_counter(struct corepmu_cpu *cpuc, int idx,
					     struct hw_perf_event *hwc)
{
	*hwc = (struct hw_perf_event) {
		.idx		= idx,
		.config_base	= cpuc->pmu->backend->self_test_config(cpuc->pmu, idx),
	};
	corepmu_hw_set_value_mask(hwc, GENMASK_ULL(cpuc->pmu->width[idx] - 1, 0));
}

static void __corepmu_init self_test_start(struct corepmu_cpu *cpuc, u64 counters)
{
	struct hw_perf_event hwc;
	unsigned long flags;
	u64 left, value;

	local_irq_save(flags);
	cpuc->stray = 0;
	for (left = counters; left; left &= left - 1) {
		self_test_counter(cpuc, __ffs64(left), &hwc);
		value = -SELF_TEST_COUNTS & corepmu_hw_value_mask(&hwc);
		static_call(corepmu_program_counter)(cpuc, &hwc, value);
	}
	cpuc->active = counters;
	corepmu_start_cpu(cpuc);
	local_irq_restore(flags);
}

/* Return the mask of @counters that have counted since self_test_start(). */
static u64 __corepmu_init self_test_look(struct corepmu_cpu *cpuc, u64 counters)
{
	struct hw_perf_event hwc;
	u64 moved = 0, left;

	for (left = counters; left; left &= left - 1) {
		int idx = __ffs64(left);
		u64 value;

		self_test_counter(cpuc, idx, &hwc);
		value = cpuc->pmu->backend->read(cpuc, &hwc) & corepmu_hw_value_mask(&hwc);
		if (value != (-SELF_TEST_COUNTS & corepmu_hw_value_mask(&hwc)))
			moved |= BIT_ULL(idx);
	}

	return moved;
}

static void __corepmu_init self_test_report(struct corepmu *pmu, int cpu, u64 counters,
					    bool silent)
{
	char name[COREPMU_COUNTER_NAME];

	for (; counters; counters &= counters - 1) {
		pmu->backend->counter_name(__ffs64(counters), name);
		pr_warn("CPU%u: counter %s %s (used by the host or firmware?): left out\n",
			cpu, name,
			silent ? "has no overflow interrupt" : "does not count");
	}
}

static u64 __corepmu_init self_test_good(const struct self_test *test)
{
	return test->pmu->counters & ~test->stuck & ~test->silent;
}

/* Check whether all counters have interrupted, or, with sampling=0, counted. */
static bool __corepmu_init is_done(struct corepmu_cpu *cpuc, u64 counters, u64 moved)
{
	return (corepmu_has_interrupt(cpuc->pmu) ? READ_ONCE(cpuc->stray) : moved) == counters;
}

/* Let @counters count at the same time. Return true if all of them pass. */
static bool __corepmu_init self_test_round(struct self_test *test, struct corepmu_cpu *cpuc,
					   u64 counters)
{
	u64 deadline = ktime_get_ns() + SELF_TEST_NS;
	unsigned int looks = 0;
	struct rnd_state random;
	u64 moved, overflowed;
	unsigned long flags;

	prandom_seed_state(&random, 1);
	self_test_start(cpuc, counters);
	do {
		moved = self_test_look(cpuc, counters);
		/* Mispredict branches: nothing else here counts on Skymont's fixed counter 4. */
		if (prandom_u32_state(&random) & 1)
			cpu_relax();
		if (ktime_get_ns() >= deadline)
			looks++;
	} while (!is_done(cpuc, counters, moved) && looks < SELF_TEST_LOOKS);

	local_irq_save(flags);
	corepmu_stop_cpu(cpuc);
	overflowed = corepmu_has_interrupt(cpuc->pmu) ? READ_ONCE(cpuc->stray) : counters;
	cpuc->active = 0;
	cpuc->pmu->backend->reset(cpuc);
	if (cpuc->pmu->backend->self_test_end && overflowed)
		cpuc->pmu->backend->self_test_end(cpuc);
	local_irq_restore(flags);

	test->stuck |= counters & ~moved;
	test->silent |= counters & moved & ~overflowed;

	return !(counters & ~(moved & overflowed));
}

static void __corepmu_init self_test_cpu(struct work_struct *work)
{
	struct self_test *test = container_of(work, struct self_test, work);
	struct corepmu_cpu *cpuc = this_cpu_ptr(test->pmu->cpu);
	u64 left;

	for (left = self_test_good(test); left; left &= left - 1)
		self_test_round(test, cpuc, left & -left);
	while (self_test_good(test))
		if (self_test_round(test, cpuc, self_test_good(test)))
			break;
}

/*
 * Add the results of @cpu to @sum, the results of the CPUs before it. Log each counter that fails
 * on @cpu first. Return 0, or -EIO if no counter is left.
 */
static int __corepmu_init self_test_add(struct self_test *sum, int cpu,
					const struct self_test *test)
{
	u64 good = self_test_good(sum);

	sum->stuck |= test->stuck;
	sum->silent |= test->silent;
	if (!self_test_good(sum)) {
		const char *remedy = sum->stuck ? NULL : sum->pmu->backend->remedy;

		pr_err("CPU%u: no counter %s: not using this PMU%s%s\n", cpu,
		       sum->stuck ? "counts" : "has an overflow interrupt",
		       remedy ? "; " : "", remedy ?: "");
		return -EIO;
	}
	self_test_report(sum->pmu, cpu, test->stuck & good, false);
	self_test_report(sum->pmu, cpu, test->silent & ~test->stuck & good, true);

	return 0;
}

static void __corepmu_init self_test_quiesce(void *arg)
{
	struct corepmu *pmu = arg;

	pmu->backend->quiesce(this_cpu_ptr(pmu->cpu));
}

static void __corepmu_init self_test_reset(void *arg)
{
	struct corepmu *pmu = arg;

	pmu->backend->reset(this_cpu_ptr(pmu->cpu));
}

/* Remove the bad counters from the PMU. Quiesce their registers before, while they are known. */
static void __corepmu_init self_test_leave_out(struct corepmu *pmu, u64 good)
{
	on_each_cpu_mask(&pmu->supported_cpus, self_test_quiesce, pmu, true);
	pmu->counters = good;
	pmu->pair_counters &= pmu->counters & pmu->counters << 1;
	on_each_cpu_mask(&pmu->supported_cpus, self_test_reset, pmu, true);
}

/**
 * corepmu_self_test() - test every counter of every online CPU
 * @pmu: a PMU that is set up on its CPUs and not registered yet. A counter that fails on one CPU is
 *	removed from corepmu.counters
 *
 * Process context. The test takes microseconds for each good counter, and ten milliseconds or more
 * for the first failure of a bad one. All CPUs test at the same time.
 *
 * Return: 0, or a negative errno; -EIO after logging that no counter is left
 */
int __corepmu_init corepmu_self_test(struct corepmu *pmu)
{
	struct self_test sum = { .pmu = pmu };
	struct self_test *tests;
	int cpu, ret = 0;

	tests = kcalloc(nr_cpu_ids, sizeof(*tests), GFP_KERNEL);
	if (!tests)
		return -ENOMEM;

	cpus_read_lock();
	for_each_cpu_and(cpu, &pmu->supported_cpus, cpu_online_mask) {
		tests[cpu].pmu = pmu;
		INIT_WORK(&tests[cpu].work, self_test_cpu);
		schedule_work_on(cpu, &tests[cpu].work);
	}
	for_each_cpu_and(cpu, &pmu->supported_cpus, cpu_online_mask)
		flush_work(&tests[cpu].work);
	for_each_cpu_and(cpu, &pmu->supported_cpus, cpu_online_mask) {
		ret = self_test_add(&sum, cpu, &tests[cpu]);
		if (ret)
			break;
	}
	if (!ret && self_test_good(&sum) != pmu->counters)
		self_test_leave_out(pmu, self_test_good(&sum));
	cpus_read_unlock();
	kfree(tests);

	return ret;
}
