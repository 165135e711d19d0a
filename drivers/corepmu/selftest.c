// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: do the counters count, and does their interrupt come?
 *
 * A live counter that is wrong is worse than none: firmware that keeps the PMU
 * to itself, a hypervisor that offers registers with nothing behind them and a
 * devicetree with the wrong interrupt all look like a PMU. Before perf core
 * hears of it, every counter of every CPU counts towards an overflow.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/cpu.h>
#include <linux/ktime.h>
#include <linux/printk.h>
#include <linux/workqueue.h>

#include <corepmu/pmu.h>

/* Counts until a counter overflows, and for how long that is waited for. */
#define SELF_TEST_COUNTS	20000
#define SELF_TEST_NS		(500 * NSEC_PER_MSEC)

static void self_test_counter(struct corepmu_cpu *cpuc, int idx,
			      struct hw_perf_event *hwc)
{
	*hwc = (struct hw_perf_event) {
		.idx		= idx,
		.config_base	= cpuc->pmu->backend->self_test_config(cpuc->pmu, idx),
		.event_base	= GENMASK_ULL(cpuc->pmu->width[idx] - 1, 0),
	};
}

static void self_test_start(struct corepmu_cpu *cpuc)
{
	struct hw_perf_event hwc;
	unsigned long flags;
	u64 left;

	local_irq_save(flags);
	cpuc->stray = 0;
	for (left = cpuc->pmu->counters; left; left &= left - 1) {
		self_test_counter(cpuc, __ffs64(left), &hwc);
		static_call(corepmu_select_event)(cpuc, &hwc);
		static_call(corepmu_write_counter)(cpuc, &hwc,
						   -SELF_TEST_COUNTS & hwc.event_base);
	}
	cpuc->active = cpuc->pmu->counters;
	corepmu_start_cpu(cpuc);
	local_irq_restore(flags);
}

/* Returns the counters that have moved. */
static u64 self_test_look(struct corepmu_cpu *cpuc)
{
	struct hw_perf_event hwc;
	u64 moved = 0, left;

	for (left = cpuc->pmu->counters; left; left &= left - 1) {
		int idx = __ffs64(left);
		u64 value;

		self_test_counter(cpuc, idx, &hwc);
		value = cpuc->pmu->backend->read(cpuc, &hwc);
		if (value != (-SELF_TEST_COUNTS & hwc.event_base))
			moved |= BIT_ULL(idx);
	}

	return moved;
}

static long self_test_cpu(void *arg)
{
	struct corepmu *pmu = arg;
	struct corepmu_cpu *cpuc = this_cpu_ptr(pmu->cpu);
	u64 deadline = ktime_get_ns() + SELF_TEST_NS;
	u64 moved, overflowed;
	unsigned long flags;

	self_test_start(cpuc);
	do {
		moved = self_test_look(cpuc);
		cpu_relax();
	} while (READ_ONCE(cpuc->stray) != pmu->counters && ktime_get_ns() < deadline);

	local_irq_save(flags);
	corepmu_stop_cpu(cpuc);
	overflowed = READ_ONCE(cpuc->stray);
	cpuc->active = 0;
	pmu->backend->reset(cpuc);
	local_irq_restore(flags);

	if (moved != pmu->counters) {
		pr_err("CPU%u: counters %#llx do not count: not using this PMU\n",
		       smp_processor_id(), pmu->counters & ~moved);
		return -EIO;
	}
	if (overflowed != pmu->counters) {
		pr_err("CPU%u: no overflow interrupt from counters %#llx: not using this PMU\n",
		       smp_processor_id(), pmu->counters & ~overflowed);
		return -EIO;
	}

	return 0;
}

/**
 * corepmu_self_test() - try every counter of every CPU that is online
 * @pmu: a PMU set up on its CPUs and not yet registered
 *
 * Process context; takes microseconds a CPU when all is well, half a second
 * when it is not.
 *
 * Return: 0, or -EIO after saying which counters failed, and how
 */
int corepmu_self_test(struct corepmu *pmu)
{
	long ret = 0;
	int cpu;

	cpus_read_lock();
	for_each_cpu_and(cpu, &pmu->supported_cpus, cpu_online_mask) {
		ret = work_on_cpu(cpu, self_test_cpu, pmu);
		if (ret)
			break;
	}
	cpus_read_unlock();

	return ret;
}
