// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: counters read from user space
 *
 * RDPMC works at CPL 3 while CR4.PCE is set (Intel SDM volume 2, "RDPMC"; AMD
 * APM volume 3). The kernel sets it for an mm whose context.perf_rdpmc_allowed
 * is not zero, whenever it switches to that (arch/x86/mm/tlb.c), and two static
 * keys overrule it: "never" and "always". As with the built-in driver an mm may
 * read while it has an event's page mapped, and the rdpmc file of the PMU says 0
 * (nobody), 1 (those with a page) or 2 (everybody).
 *
 * Perf core is not told which task comes next, and an mm keeps what it has been
 * forked with. So once a page has been mapped, every counter that loses its
 * event is cleared, whoever comes.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/static_call.h>
#include <linux/sysfs.h>

#include <asm/mmu_context.h>

#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>

#include "msr.h"
#include "x86.h"

enum {
	RDPMC_NEVER,
	RDPMC_MAPPED,
	RDPMC_ALWAYS,
};

DEFINE_STATIC_CALL_NULL(x86_update_pce, cr4_update_pce);
DEFINE_STATIC_CALL_NULL(x86_clear_builtin, perf_clear_dirty_counters);

static struct static_key_false *never_key, *always_key;
static unsigned int rdpmc_mode = RDPMC_MAPPED;
static DEFINE_MUTEX(rdpmc_mutex);

/* pmc_width of all pages; 0 while user space cannot read counters. */
static unsigned int page_width;
static int *page_width_set;

/* The width of all pages, or 0 after saying why there is none */
static unsigned int set_page_width(unsigned int width)
{
	int *bits = x86_find_cntval_bits();

	if (!bits)
		return 0;
	if (!*bits) {
		WRITE_ONCE(*bits, width);
		page_width_set = bits;
	}
	if (*bits == width)
		return width;

	pr_notice("pmc_width is %d here, of the kernel's own driver, and counters have %u bits: user space cannot read counters\n",
		  *bits, width);

	return 0;
}

/* Who may read */

static void update_pce(void *unused)
{
	static_call(x86_update_pce)(NULL);
}

static void clear_cpu(void *unused)
{
	struct corepmu *pmu = x86_this_pmu();

	if (pmu)
		corepmu_user_clear(this_cpu_ptr(pmu->cpu));
}

/**
 * x86_user_take_over() - the counters are no longer the built-in driver's
 *
 * It notes which counters its events have left a value in, and the kernel sets
 * those to 0 when it switches to a reader. Have it do so now, and not when a
 * counter is in use again. IRQs off, on each CPU.
 */
void x86_user_take_over(void)
{
	static_call_cond(x86_clear_builtin)();
}

/* Clear the counters without an event, and from now on whenever an event leaves one. */
static void expect_readers(void)
{
	if (READ_ONCE(corepmu_user_reads))
		return;

	WRITE_ONCE(corepmu_user_reads, true);
	on_each_cpu(clear_cpu, NULL, 1);
}

/*
 * Does an mm have access that no event of this load has given? One that was forked while
 * its parent had a page mapped keeps the parent's count for good.
 */
static bool somebody_may_read(void)
{
	struct task_struct *process, *task;
	bool found = false;

	rcu_read_lock();
	for_each_process_thread(process, task) {
		task_lock(task);
		if (task->mm && atomic_read(&task->mm->context.perf_rdpmc_allowed))
			found = true;
		task_unlock(task);
	}
	rcu_read_unlock();

	return found;
}

/**
 * x86_user_mapped() - the backend's user_mapped()
 * @event: a readable event
 * @mm: who has its page now
 *
 * Process context, mmap_lock held for writing: no other thread of @mm can return
 * from mapping a page before all CPUs know.
 */
void x86_user_mapped(struct perf_event *event, struct mm_struct *mm)
{
	expect_readers();
	if (atomic_inc_return(&mm->context.perf_rdpmc_allowed) == 1)
		on_each_cpu_mask(mm_cpumask(mm), update_pce, NULL, 1);
}

/**
 * x86_user_unmapped() - the backend's user_unmapped()
 * @event: a readable event
 * @mm: who had its page
 *
 * Process context.
 */
void x86_user_unmapped(struct perf_event *event, struct mm_struct *mm)
{
	if (atomic_dec_and_test(&mm->context.perf_rdpmc_allowed))
		on_each_cpu_mask(mm_cpumask(mm), update_pce, NULL, 1);
}

/**
 * x86_user_switch() - the backend's user_switch()
 * @cpuc: this CPU's state
 *
 * IRQs off.
 */
void x86_user_switch(struct corepmu_cpu *cpuc)
{
	/* Perf core enables PMUs of other kinds of CPU here, too: their counters are elsewhere. */
	if (cpumask_test_cpu(smp_processor_id(), &cpuc->pmu->supported_cpus))
		corepmu_user_clear(cpuc);
}

/**
 * x86_event_idx() - the backend's event_idx()
 * @event: an event that is placed and counts
 *
 * IRQs off, or NMI.
 *
 * Return: RDPMC's ECX plus 1; 0 when user space cannot read it, for a counter of another width
 * than the page says, and for two that are merged
 */
int x86_event_idx(struct perf_event *event)
{
	struct corepmu *pmu = to_corepmu(event->pmu);
	const struct hw_perf_event *hwc = &event->hw;

	if (!corepmu_event_may_be_read(event) || pmu->width[hwc->idx] != page_width ||
	    corepmu_event_is_paired(pmu, hwc))
		return 0;

	return x86_rdpmc_index(hwc->idx) + 1;
}

/**
 * x86_user_flags() - what a new event's hw.flags say of reading it
 *
 * Return: PERF_EVENT_FLAG_USER_READ_CNT where user space may read at all
 */
int x86_user_flags(void)
{
	return READ_ONCE(corepmu_user_allowed) ? PERF_EVENT_FLAG_USER_READ_CNT : 0;
}

/**
 * x86_user_is_everybody() - may all of user space read counters?
 *
 * Return: whether the file rdpmc says 2
 */
bool x86_user_is_everybody(void)
{
	return READ_ONCE(rdpmc_mode) == RDPMC_ALWAYS;
}

/*
 * Static keys are reference counts, shared with the built-in driver. The indices of all
 * pages are cleared before access is taken away, and written again after it is given: a
 * reader that finds an index can read the counter.
 */
static void apply_mode(unsigned int mode)
{
	if (mode == rdpmc_mode)
		return;

	if (mode == RDPMC_NEVER) {
		WRITE_ONCE(corepmu_user_allowed, false);
		corepmu_user_refresh();
		static_branch_inc(never_key);
	} else if (rdpmc_mode == RDPMC_NEVER) {
		static_branch_dec(never_key);
	}

	if (mode == RDPMC_ALWAYS) {
		expect_readers();
		static_branch_inc(always_key);
	} else if (rdpmc_mode == RDPMC_ALWAYS) {
		static_branch_dec(always_key);
	}

	on_each_cpu(update_pce, NULL, 1);
	rdpmc_mode = mode;

	if (mode != RDPMC_NEVER) {
		WRITE_ONCE(corepmu_user_allowed, true);
		corepmu_user_refresh();
	}
}

/* sysfs */

static ssize_t rdpmc_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(rdpmc_mode));
}

static ssize_t rdpmc_store(struct device *dev, struct device_attribute *attr,
			   const char *page, size_t count)
{
	unsigned int mode;
	int ret;

	ret = kstrtouint(page, 0, &mode);
	if (ret)
		return ret;
	if (mode > RDPMC_ALWAYS)
		return -EINVAL;

	mutex_lock(&rdpmc_mutex);
	apply_mode(mode);
	mutex_unlock(&rdpmc_mutex);

	return count;
}
static DEVICE_ATTR_ADMIN_RW(rdpmc);

static struct attribute *x86_user_attrs[] = {
	&dev_attr_rdpmc.attr,
	NULL
};

static umode_t x86_user_is_visible(struct kobject *kobj, struct attribute *attr, int unused)
{
	return page_width ? attr->mode : 0;
}

const struct attribute_group x86_user_group = {
	.attrs		= x86_user_attrs,
	.is_visible	= x86_user_is_visible,
};

/**
 * x86_user_init() - let user space read counters, where the kernel lets us
 * @desc: the PMU, or the first of several, described and not registered
 *
 * Process context. What is missing is said, and no event can be read then.
 */
void x86_user_init(struct x86_desc *desc)
{
	unsigned long pce = corepmu_find_symbol("cr4_update_pce");
	unsigned long clear = corepmu_find_symbol("perf_clear_dirty_counters");

	if (desc->shares_counters && clear)
		static_call_update(x86_clear_builtin, (typeof(perf_clear_dirty_counters) *)clear);

	never_key = (void *)corepmu_find_symbol("rdpmc_never_available_key");
	always_key = (void *)corepmu_find_symbol("rdpmc_always_available_key");
	if (!pce || !never_key || !always_key) {
		pr_notice("this kernel hides how CR4.PCE is set: user space cannot read counters\n");
		return;
	}
	static_call_update(x86_update_pce, (typeof(cr4_update_pce) *)pce);

	page_width = set_page_width(desc->pmu->width[0]);
	if (!page_width) {
		x86_user_exit(desc);
		return;
	}

	/* With the built-in driver its file "rdpmc" may let everybody read. */
	WRITE_ONCE(corepmu_user_reads, desc->shares_counters || somebody_may_read());
	WRITE_ONCE(corepmu_user_allowed, true);
}

/**
 * x86_user_exit() - undo x86_user_init()
 * @desc: the PMU, or the first of several, none of them registered any more
 */
void x86_user_exit(struct x86_desc *desc)
{
	if (page_width)
		apply_mode(RDPMC_MAPPED);
	WRITE_ONCE(corepmu_user_allowed, false);
	WRITE_ONCE(corepmu_user_reads, false);
	if (page_width_set)
		WRITE_ONCE(*page_width_set, 0);
	page_width_set = NULL;
	page_width = 0;
}
