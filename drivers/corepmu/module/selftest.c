// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: do the counters count, and does their interrupt come?
 *
 * A live counter that is wrong is worse than none: firmware that keeps some of the
 * counters to itself, a hypervisor that offers registers with nothing behind them and a
 * devicetree with the wrong interrupt all look like a PMU. Before perf core hears of it,
 * each counter of each CPU counts towards an overflow, first by itself and then together
 * with the others: a hypervisor may have fewer counters than it shows, and give those that
 * it has to whoever asks first. Counters that fail are left out.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/ktime.h>
#include <linux/prandom.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include <corepmu/pmu.h>

/* Counts until a counter overflows. */
#define SELF_TEST_COUNTS	20000

/*
 * How long to wait for an overflow; a thousandth of that is enough. While a hypervisor runs
 * another virtual CPU, time passes and counters stand still: so the counters are then read
 * SELF_TEST_LOOKS times more before one is given up. A look takes more than 20 cycles and
 * instructions, all of them together more than twice SELF_TEST_COUNTS.
 */
#define SELF_TEST_NS		(10 * NSEC_PER_MSEC)
#define SELF_TEST_LOOKS		2000

/**
 * struct self_test - what has been found out about a PMU
 * @pmu: the PMU
 * @stuck: counters that do not count on one of its CPUs
 * @silent: counters that count there, but do not interrupt when they overflow
 */
struct self_test {
	struct corepmu	*pmu;
	u64		stuck;
	u64		silent;
};

static void self_test_counter(struct corepmu_cpu *cpuc, int idx,
			      struct hw_perf_event *hwc)
{
	*hwc = (struct hw_perf_event) {
		.idx		= idx,
		.config_base	= cpuc->pmu->backend->self_test_config(cpuc->pmu, idx),
	};
	corepmu_hw_set_value_mask(hwc, GENMASK_ULL(cpuc->pmu->width[idx] - 1, 0));
}

static void self_test_start(struct corepmu_cpu *cpuc, u64 counters)
{
	struct hw_perf_event hwc;
	unsigned long flags;
	u64 left;

	local_irq_save(flags);
	cpuc->stray = 0;
	for (left = counters; left; left &= left - 1) {
		self_test_counter(cpuc, __ffs64(left), &hwc);
		static_call(corepmu_select_event)(cpuc, &hwc);
		static_call(corepmu_write_counter)(cpuc, &hwc,
						   -SELF_TEST_COUNTS & corepmu_hw_value_mask(&hwc));
	}
	cpuc->active = counters;
	corepmu_start_cpu(cpuc);
	local_irq_restore(flags);
}

/* Returns those of @counters that have moved. */
static u64 self_test_look(struct corepmu_cpu *cpuc, u64 counters)
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

static void self_test_blame(struct corepmu *pmu, u64 counters, const char *what)
{
	char name[COREPMU_COUNTER_NAME];

	for (; counters; counters &= counters - 1) {
		pmu->backend->counter_name(__ffs64(counters), name);
		pr_warn("CPU%u: counter %s %s: left out\n", smp_processor_id(), name, what);
	}
}

static u64 self_test_good(const struct self_test *test)
{
	return test->pmu->counters & ~test->stuck & ~test->silent;
}

/* Has all been seen that there is to see? */
static bool is_done(struct corepmu_cpu *cpuc, u64 counters, u64 moved)
{
	return (corepmu_has_interrupt(cpuc->pmu) ? READ_ONCE(cpuc->stray) : moved) == counters;
}

/* Have @counters count at the same time. Returns whether none of them fails. */
static bool self_test_round(struct self_test *test, struct corepmu_cpu *cpuc, u64 counters)
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
		/* No CPU predicts this: some count mispredicted work alone (Skymont's fixed 4). */
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

static long self_test_cpu(void *arg)
{
	struct self_test *test = arg;
	struct corepmu *pmu = test->pmu;
	struct corepmu_cpu *cpuc = this_cpu_ptr(pmu->cpu);
	u64 stuck = test->stuck, silent = test->silent, left;

	for (left = self_test_good(test); left; left &= left - 1)
		self_test_round(test, cpuc, left & -left);
	while (self_test_good(test))
		if (self_test_round(test, cpuc, self_test_good(test)))
			break;

	if (!self_test_good(test)) {
		const char *remedy = test->stuck ? NULL : pmu->backend->remedy;

		pr_err("CPU%u: no counter %s: not using this PMU%s%s\n", smp_processor_id(),
		       test->stuck ? "counts" : "has an overflow interrupt",
		       remedy ? "; " : "", remedy ?: "");
		return -EIO;
	}
	self_test_blame(pmu, test->stuck & ~stuck, "does not count");
	self_test_blame(pmu, test->silent & ~silent, "has no overflow interrupt");

	return 0;
}

static void self_test_quiesce(void *arg)
{
	struct corepmu *pmu = arg;

	pmu->backend->quiesce(this_cpu_ptr(pmu->cpu));
}

static void self_test_reset(void *arg)
{
	struct corepmu *pmu = arg;

	pmu->backend->reset(this_cpu_ptr(pmu->cpu));
}

/* Registers of the bad counters are put to rest before they are forgotten. */
static void self_test_leave_out(struct corepmu *pmu, u64 good)
{
	on_each_cpu_mask(&pmu->supported_cpus, self_test_quiesce, pmu, true);
	pmu->counters = good;
	pmu->pair_counters &= pmu->counters & pmu->counters << 1;
	on_each_cpu_mask(&pmu->supported_cpus, self_test_reset, pmu, true);
}

/**
 * corepmu_self_test() - try every counter of every CPU that is online
 * @pmu: a PMU set up on its CPUs and not yet registered; counters that fail on one of them
 *	are taken out of its counters
 *
 * Process context; takes microseconds for each counter that is right, ten milliseconds
 * and more for the first failure of one that is not.
 *
 * Return: 0, or -EIO after saying that no counter is left
 */
int corepmu_self_test(struct corepmu *pmu)
{
	struct self_test test = { .pmu = pmu };
	long ret = 0;
	int cpu;

	cpus_read_lock();
	for_each_cpu_and(cpu, &pmu->supported_cpus, cpu_online_mask) {
		ret = work_on_cpu(cpu, self_test_cpu, &test);
		if (ret)
			break;
	}
	if (!ret && self_test_good(&test) != pmu->counters)
		self_test_leave_out(pmu, self_test_good(&test));
	cpus_read_unlock();

	return ret;
}
