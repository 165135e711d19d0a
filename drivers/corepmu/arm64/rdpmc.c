// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: counters that user space reads
 *
 * Documentation/arch/arm64/perf.rst, "Perf Userspace PMU Hardware Counter Access":
 * kernel.perf_user_access allows access, config1:1 asks for it. A task with such an event may read
 * the counters of the CPU that it runs on. PMUSERENR_EL0 (DDI 0487, D23.5) gives access from the
 * task's sched_in to its sched_out. Access stays while the event is stopped or has no counter: a
 * reader may have been interrupted between reading the page's index and the counter. The reader
 * must then see the change in the page's lock, and not get a SIGILL.
 *
 * From PMUv3p9 on, PMUACR_EL1 makes the counters of other events read as zero. The driver's use of
 * PMUACR_EL1 has not been tested: no CPU or emulator at hand implements it.
 *
 * The switch follows the task on CPUs of all types. Perf core calls pmu_enable() whenever it
 * schedules a context in or out, and pmu_enable() checks whether the current task's context has
 * readable events, placed or not. Perf core may enable the PMU of another type there; Linux 6.1
 * always enables the PMU that was registered first.
 *
 * Linux 6.1 does not call pmu_enable() in two cases:
 * - a task exits while all its events are disabled (ctx_sched_out() returns before the call);
 * - the CPU switches from a task that lost its last event at exec (remove_on_exec).
 * If another process still has a readable event of this task open, the CPU keeps user access. The
 * access ends with the CPU's next switch from a task with events, or when the event is closed. The
 * built-in driver behaves the same way.
 *
 * With several CPU types the task must be bound to CPUs of one type, and the event must have their
 * PMU's type, as with the built-in driver. With ACPI, a CPU that was offline at load has no type
 * yet, and the check includes all CPUs that the task can run on. The driver does not repeat the
 * check for inherited events.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/sysctl.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>
#include <corepmu/rdpmc.h>

#include "pmuv3.h"
#include "sysreg.h"

static int perf_user_access;
static struct ctl_table_header *user_access_header;

/* PMUSERENR_EL0 of this CPU, as written by the driver or given to KVM */
static DEFINE_PER_CPU(u64, user_access);

static bool has_access_mask(const struct pmuv3 *pmuv3)
{
	return pmuv3->pmuver >= PMUVER_V3P9 && pmuv3_reaches_v3p9(pmuv3);
}

/* Check whether the current task has a readable event and its context is scheduled in. */
static bool task_reads(void)
{
	struct perf_event_context *ctx = compat_task_context(current);

	return ctx && ctx->is_active && ctx->nr_user;
}

/*
 * Return the counters with readable events. All are the current task's: CPU-wide events have none.
 */
static u64 readable_counters(struct corepmu_cpu *cpuc)
{
	u64 left, readable = 0;

	for (left = cpuc->used; left; left &= left - 1) {
		struct perf_event *event = cpuc->events[__ffs64(left)];

		if (event && corepmu_event_is_readable(&event->hw))
			readable |= left & -left;
	}

	return readable;
}

/**
 * pmuv3_rdpmc_switch() - give or remove the current task's access: the backend's rdpmc_switch()
 * @unused: state of the PMU that perf core enables, which may have another CPU type
 *
 * perf core may enable another PMU than this CPU's. For a task with events of another CPU type, it
 * enables that type's PMU (perf_ctx_enable() in kernel/events/core.c). Before Linux 6.2 it enables
 * the PMU that was registered first, for all tasks (ctx->pmu in perf_event_context_sched_out()).
 * PMUSERENR_EL0 belongs to this CPU, so the function looks up this CPU's PMU. IRQs off.
 */
void pmuv3_rdpmc_switch(struct corepmu_cpu *unused)
{
	struct corepmu *pmu = pmuv3_this_pmu();
	struct corepmu_cpu *cpuc;
	u64 access = 0;

	if (!pmu)
		return;

	cpuc = this_cpu_ptr(pmu->cpu);
	if (READ_ONCE(corepmu_rdpmc_allowed) && task_reads()) {
		access = PMUSERENR_ER;
		/* With avoid_pmccntr no event uses PMCCNTR_EL0, so no task needs to read it. */
		if (!to_pmuv3(pmu)->avoid_pmccntr)
			access |= PMUSERENR_CR;
		if (has_access_mask(to_pmuv3(pmu))) {
			access |= PMUSERENR_UEN;
			pmuv3_write_pmuacr(readable_counters(cpuc));
		} else {
			corepmu_rdpmc_clear(cpuc);
		}
	}

	if (access == this_cpu_read(user_access))
		return;
	this_cpu_write(user_access, access);
	pmuv3_kvm_write_pmuserenr(access);
}

/**
 * pmuv3_rdpmc_close() - remove access on this CPU, whatever value the register has
 *
 * IRQs off.
 */
void pmuv3_rdpmc_close(void)
{
	this_cpu_write(user_access, 0);
	pmuv3_kvm_write_pmuserenr(0);
}

/**
 * pmuv3_rdpmc_rewrite() - write PMUSERENR_EL0 again: other software may have changed it
 *
 * From a start of the PMU, after pmuv3_rdpmc_switch(). IRQs off, or NMI.
 */
void pmuv3_rdpmc_rewrite(void)
{
	pmuv3_kvm_write_pmuserenr(this_cpu_read(user_access));
}

static bool cpu_has_access(int cpu, void *unused)
{
	return READ_ONCE(per_cpu(user_access, cpu));
}

static void user_switch_cpu(void *unused)
{
	pmuv3_rdpmc_switch(NULL);
}

/**
 * pmuv3_rdpmc_gone() - remove the access of a closed event's task: the backend's rdpmc_gone()
 * @pmu: the PMU
 *
 * perf core does not enable the PMU when an event is closed that was not counting. The event's task
 * may run on a CPU of another type. Process context.
 */
void pmuv3_rdpmc_gone(struct corepmu *pmu)
{
	on_each_cpu_cond(cpu_has_access, user_switch_cpu, NULL, true);
}

/**
 * pmuv3_event_idx() - return the counter's index for the user page: the backend's event_idx()
 * @event: the event, which was active when perf core last checked
 *
 * Any context. If the caller is not on the event's CPU, the event may lose its counter meanwhile.
 *
 * Return: n + 1 for PMEVCNTR<n>_EL0, 32 for PMCCNTR_EL0; 0 if user space cannot read the counter
 */
int pmuv3_event_idx(struct perf_event *event)
{
	return corepmu_event_may_be_read(event) ? READ_ONCE(event->hw.idx) + 1 : 0;
}

/*
 * Check whether a task may run on CPUs of other PMUs. With ACPI an offline CPU has no PMU until it
 * comes online, so it does not count. If it then has another CPU type, events that were opened
 * before have no counter there, and their pages no index (pmuv3_joins() logs the CPU). Events
 * opened later must name their PMU type. A CPU becomes active after corepmu_cpu_online() has run
 * for it.
 */
static bool cpu_types_differ(const struct corepmu *pmu)
{
	return corepmu_rdpmc_has_others(pmu) ||
	       !cpumask_subset(cpu_active_mask, &pmu->supported_cpus);
}

/**
 * pmuv3_encode_rdpmc() - set up an event that user space wants to read
 * @pmuv3: the PMU
 * @event: event with config1:1; its counters have been set
 * @is_long: the event wants 64 bits
 *
 * Process context.
 *
 * Return: 0 after setting the flags and restricting the counters to those that user space can read,
 * or an errno of perf_event_open(2)
 */
int pmuv3_encode_rdpmc(struct pmuv3 *pmuv3, struct perf_event *event, bool is_long)
{
	struct corepmu *pmu = pmuv3->pmu;
	struct hw_perf_event *hwc = &event->hw;
	int idx;

	if (!(event->attach_state & PERF_ATTACH_TASK))
		return corepmu_refuse(-EINVAL,
				      "rdpmc=1 needs a task's event: user space cannot read CPU-wide events; leave out rdpmc=1 or -a");

	/*
	 * perf.rst, "About heterogeneous systems". Inherited events are exempt: fork() would fail
	 * long after the parent's event was opened. The child may run on CPUs of another type,
	 * where the event has no counter and its page no index.
	 */
	if (!event->parent && cpu_types_differ(pmu)) {
		if (event->attr.type != pmu->perf_pmu.type)
			return corepmu_refuse(-EOPNOTSUPP,
					      "rdpmc=1 with several CPU types: set attr.type to this PMU's type");
		if (!cpumask_subset(event->hw.target->cpus_ptr, &pmu->supported_cpus))
			return corepmu_refuse(-EOPNOTSUPP,
					      "rdpmc=1 with several CPU types: bind the task to CPUs of this PMU");
	}

	/* User space can read neither pairs nor PMICNTR_EL0. */
	hwc->flags &= ~COREPMU_EVENT_PAIR;
	corepmu_hw_limit_counters(hwc, ~BIT_ULL(PMUV3_INSTR_COUNTER));
	if (is_long) {
		for (idx = 0; idx < COREPMU_MAX_COUNTERS; idx++)
			if (pmu->width[idx] < 64)
				corepmu_hw_limit_counters(hwc, ~BIT_ULL(idx));
		if (!corepmu_hw_counters(hwc))
			return corepmu_refuse(-EOPNOTSUPP,
					      "rdpmc=1 with long=1: no counter has 64 bits; omit long=1");
	} else {
		hwc->flags |= COREPMU_EVENT_32BIT;
	}
	hwc->flags |= PERF_EVENT_FLAG_USER_READ_CNT;

	return 0;
}

/*
 * Without the mutex, writer A sets perf_user_access to 1 and reads it; writer B sets it to 0 and
 * removes all access; writer A then gives access again, although the file reads as 0.
 */
static DEFINE_MUTEX(user_access_mutex);

static int user_access_handler(compat_ctl_table *table, int write, void *buffer,
			       size_t *len, loff_t *pos)
{
	int ret;

	if (!write)
		return proc_dointvec_minmax(table, write, buffer, len, pos);

	mutex_lock(&user_access_mutex);
	ret = proc_dointvec_minmax(table, write, buffer, len, pos);
	if (ret)
		goto out;

	/*
	 * corepmu_enable() calls rdpmc_switch() only while corepmu_rdpmc_in_use is set. When the
	 * flag is cleared, corepmu_rdpmc_refresh() removes the access on all CPUs.
	 */
	WRITE_ONCE(corepmu_rdpmc_allowed, perf_user_access);
	WRITE_ONCE(corepmu_rdpmc_in_use, perf_user_access);
	corepmu_rdpmc_refresh();
out:
	mutex_unlock(&user_access_mutex);

	return ret;
}

static struct ctl_table user_access_table[] = {
	{
		.procname	= "perf_user_access",
		.data		= &perf_user_access,
		.maxlen		= sizeof(perf_user_access),
		.mode		= 0644,
		.proc_handler	= user_access_handler,
		.extra1		= SYSCTL_ZERO,
		.extra2		= SYSCTL_ONE,
	},
	COMPAT_SYSCTL_END
};

/**
 * pmuv3_sysctl_exists() - check whether another driver has registered kernel.perf_user_access
 *
 * The function mounts /proc for the check, since the process that loads the module may have no
 * /proc. Process context.
 *
 * Return: true if it exists, and if the check fails
 */
bool __corepmu_init pmuv3_sysctl_exists(void)
{
	struct file_system_type *proc = get_fs_type("proc");
	struct vfsmount *mnt;
	struct file *file;

	if (!proc)
		return false;
	mnt = kern_mount(proc);
	module_put(proc->owner);
	if (IS_ERR(mnt))
		return true;

	file = file_open_root_mnt(mnt, "sys/kernel/perf_user_access", O_PATH, 0);
	if (!IS_ERR(file))
		fput(file);
	kern_unmount(mnt);

	return file != ERR_PTR(-ENOENT);
}

/**
 * pmuv3_rdpmc_init() - register kernel.perf_user_access
 * @taken: another driver has registered it: the built-in driver, which has another PMU
 *
 * If @taken, user space cannot read counters. Process context.
 *
 * The caller must check first, rather than let a second registration fail. In this case the kernel
 * removes entries that it has not added, and all of /proc/sys/kernel is gone (erase_header() in
 * fs/proc/proc_sysctl.c; seen on 6.12).
 */
void __corepmu_init pmuv3_rdpmc_init(bool taken)
{
	if (!taken)
		user_access_header = register_sysctl("kernel", user_access_table);
	if (!user_access_header)
		pr_notice("the built-in driver has kernel.perf_user_access: user space cannot read counters; boot without that driver\n");
}

/**
 * pmuv3_rdpmc_exit() - undo pmuv3_rdpmc_init()
 */
void pmuv3_rdpmc_exit(void)
{
	unregister_sysctl_table(user_access_header);
	user_access_header = NULL;
}
