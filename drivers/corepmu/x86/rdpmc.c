// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: counters that user space reads by RDPMC
 *
 * User space (CPL 3) may execute RDPMC while CR4.PCE is set (Intel SDM volume 2, "RDPMC"; AMD APM
 * volume 3). At each switch of the mm the kernel sets CR4.PCE if mm->context.perf_rdpmc_allowed is
 * not 0 (arch/x86/mm/tlb.c). Two static keys override this: "never" and "always". If one driver's
 * file sets "never" and the other's sets "always", "always" wins. As with the built-in driver, a
 * process may read while it maps an event's page. The PMU's sysfs file rdpmc says 0 (no process may
 * read), 1 (processes with a mapped page) or 2 (all processes).
 *
 * perf core does not say which task runs next, and a forked mm keeps its parent's value of
 * perf_rdpmc_allowed: any task may have access. So from the first mapped page on, the driver clears
 * every counter that loses its event.
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
#include <corepmu/module.h>
#include <corepmu/pmu.h>
#include <corepmu/rdpmc.h>

#include "btf.h"
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

/* pmc_width of all user pages; 0 while user space cannot read counters */
static unsigned int page_width;
/* x86_pmu.cntval_bits of the kernel, if this driver has set the member; or NULL */
static int *own_cntval_bits;

/* Set the width in all user pages. Returns the width, or 0 after a message. */
static unsigned int __corepmu_init set_page_width(unsigned int width)
{
	int *bits = x86_find_cntval_bits();

	if (!bits)
		return 0;
	if (!*bits) {
		WRITE_ONCE(*bits, width);
		own_cntval_bits = bits;
	}
	if (*bits == width)
		return width;

	pr_notice("the built-in driver set pmc_width to %d but counters are %u bits wide: rdpmc is disabled; use read()\n",
		  *bits, width);

	return 0;
}

/* Access */

static void update_pce(void *unused)
{
	static_call(x86_update_pce)(NULL);
}

static void clear_cpu(void *unused)
{
	struct corepmu *pmu = x86_this_pmu();

	if (pmu)
		corepmu_rdpmc_clear(this_cpu_ptr(pmu->cpu));
}

/**
 * x86_rdpmc_take_over() - clear the counters that the built-in driver's events have left dirty
 *
 * The built-in driver notes these counters, and the kernel sets them to 0 at the next switch to a
 * reader. By then, corepmu may use the counters. So let the kernel clear them now. IRQs off, on
 * each CPU.
 */
void x86_rdpmc_take_over(void)
{
	static_call_cond(x86_clear_builtin)();
}

/* Clear all counters without an event; from now on, clear each counter that loses its event. */
static void expect_readers(void)
{
	if (READ_ONCE(corepmu_rdpmc_in_use))
		return;

	WRITE_ONCE(corepmu_rdpmc_in_use, true);
	on_each_cpu(clear_cpu, NULL, 1);
}

/*
 * Check for an mm with access from before the module was loaded. An mm that was forked while its
 * parent had a mapped page keeps the parent's perf_rdpmc_allowed forever.
 */
static bool __corepmu_init any_task_may_read(void)
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
 * x86_rdpmc_mapped() - give an mm access to RDPMC: the backend's rdpmc_mapped()
 * @event: a readable event
 * @mm: the mm that has just mapped the event's page
 *
 * Process context, mmap_lock held for writing: no other thread of @mm returns from mapping a page
 * before all CPUs have updated CR4.PCE.
 */
void x86_rdpmc_mapped(struct perf_event *event, struct mm_struct *mm)
{
	expect_readers();
	if (atomic_inc_return(&mm->context.perf_rdpmc_allowed) == 1)
		on_each_cpu_mask(mm_cpumask(mm), update_pce, NULL, 1);
}

/**
 * x86_rdpmc_unmapped() - undo x86_rdpmc_mapped(): the backend's rdpmc_unmapped()
 * @event: a readable event
 * @mm: the mm that has just unmapped the event's page
 *
 * Process context.
 */
void x86_rdpmc_unmapped(struct perf_event *event, struct mm_struct *mm)
{
	if (atomic_dec_and_test(&mm->context.perf_rdpmc_allowed))
		on_each_cpu_mask(mm_cpumask(mm), update_pce, NULL, 1);
}

/**
 * x86_rdpmc_switch() - clear counters without an event before a task runs: rdpmc_switch()
 * @cpuc: state of this CPU
 *
 * IRQs off.
 */
void x86_rdpmc_switch(struct corepmu_cpu *cpuc)
{
	/* perf core also enables PMUs of other CPU types here; this CPU lacks their counters. */
	if (likely(cpuc->pmu->on_all_cpus) ||
	    cpumask_test_cpu(smp_processor_id(), &cpuc->pmu->supported_cpus))
		corepmu_rdpmc_clear(cpuc);
}

/**
 * x86_event_idx() - return the counter's number for RDPMC: the backend's event_idx()
 * @event: the event, which was active when perf core last checked
 *
 * Any context. If the caller is not on the event's CPU, the event may lose its counter meanwhile.
 *
 * Return: ECX of RDPMC plus 1; 0 if user space cannot read the event, if the event has no counter,
 * if the counter's width differs from pmc_width, or if two counters are merged
 */
int x86_event_idx(struct perf_event *event)
{
	const struct corepmu *pmu = to_corepmu(event->pmu);
	int idx = READ_ONCE(event->hw.idx);

	if (idx < 0 || !corepmu_event_may_be_read(event) || pmu->width[idx] != page_width ||
	    corepmu_is_paired(pmu, &event->hw, idx))
		return 0;

	return x86_rdpmc_index(idx) + 1;
}

/**
 * x86_rdpmc_flags() - return the hw_perf_event.flags that make a new event readable
 *
 * Return: PERF_EVENT_FLAG_USER_READ_CNT, or 0 if user space may not read counters
 */
int x86_rdpmc_flags(void)
{
	return READ_ONCE(corepmu_rdpmc_allowed) ? PERF_EVENT_FLAG_USER_READ_CNT : 0;
}

/**
 * x86_rdpmc_is_for_all() - check whether all tasks may read counters
 *
 * Return: true if the sysfs file rdpmc says 2
 */
bool x86_rdpmc_is_for_all(void)
{
	return READ_ONCE(rdpmc_mode) == RDPMC_ALWAYS;
}

/*
 * Change who may read. The static keys are reference counts, shared with the built-in driver. A
 * reader that finds an index in a user page must be able to read the counter. So the driver clears
 * the indices of all pages before it removes access, and sets them after it has given access.
 */
static void apply_mode(unsigned int mode)
{
	if (mode == rdpmc_mode)
		return;

	if (mode == RDPMC_NEVER) {
		WRITE_ONCE(corepmu_rdpmc_allowed, false);
		corepmu_rdpmc_refresh();
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
		WRITE_ONCE(corepmu_rdpmc_allowed, true);
		corepmu_rdpmc_refresh();
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
	unsigned long mode;
	int ret;

	ret = kstrtoul(page, 0, &mode);
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

static struct attribute *x86_rdpmc_attrs[] = {
	&dev_attr_rdpmc.attr,
	NULL
};

static umode_t x86_rdpmc_is_visible(struct kobject *kobj, struct attribute *attr, int unused)
{
	return page_width ? attr->mode : 0;
}

const struct attribute_group x86_rdpmc_group = {
	.attrs		= x86_rdpmc_attrs,
	.is_visible	= x86_rdpmc_is_visible,
};

/**
 * x86_rdpmc_init() - let user space read counters, if the kernel allows the driver to
 * @desc: description of the only or first PMU, which is not yet registered
 *
 * If something is missing, the log names it and no event is readable. Process context.
 */
void __corepmu_init x86_rdpmc_init(struct x86_desc *desc)
{
	unsigned long pce = corepmu_find_symbol("cr4_update_pce");
	unsigned long clear = corepmu_find_symbol("perf_clear_dirty_counters");

	if (desc->shares_counters && clear)
		static_call_update(x86_clear_builtin, (typeof(perf_clear_dirty_counters) *)clear);

	never_key = (void *)corepmu_find_symbol("rdpmc_never_available_key");
	always_key = (void *)corepmu_find_symbol("rdpmc_always_available_key");
	if (!pce || !never_key || !always_key) {
		pr_notice("this kernel hides the functions that set CR4.PCE: rdpmc is disabled; use read()\n");
		return;
	}
	static_call_update(x86_update_pce, (typeof(cr4_update_pce) *)pce);

	page_width = set_page_width(desc->pmu->width[0]);
	if (!page_width) {
		x86_rdpmc_exit(desc);
		return;
	}

	/* If the built-in driver is present, its sysfs file rdpmc may allow all tasks to read. */
	WRITE_ONCE(corepmu_rdpmc_in_use, desc->shares_counters || any_task_may_read());
	WRITE_ONCE(corepmu_rdpmc_allowed, true);
}

/**
 * x86_rdpmc_exit() - undo x86_rdpmc_init()
 * @desc: description of the only or first PMU; no PMU is registered any more
 */
void x86_rdpmc_exit(struct x86_desc *desc)
{
	if (page_width)
		apply_mode(RDPMC_MAPPED);
	WRITE_ONCE(corepmu_rdpmc_allowed, false);
	WRITE_ONCE(corepmu_rdpmc_in_use, false);
	if (own_cntval_bits)
		WRITE_ONCE(*own_cntval_bits, 0);
	own_cntval_bits = NULL;
	page_width = 0;
}
