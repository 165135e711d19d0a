// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: counters read from user space
 *
 * Documentation/arch/arm64/perf.rst, "Perf Userspace PMU Hardware Counter
 * Access": kernel.perf_user_access allows it, config1:1 asks for it, and a task
 * that has such an event may read the counters of the CPU that it is on.
 * PMUSERENR_EL0 (DDI 0487, D23.5) opens them, from when the task is scheduled
 * in until it is scheduled out. It stays open while the event is stopped or has
 * no counter: a reader may have been interrupted between the page's index and
 * the counter, and is to find out from the page's lock, not from a SIGILL.
 *
 * From PMUv3p9 on PMUACR_EL1 leaves the counters of others reading as zero.
 * That has not been run: nothing at hand implements it.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/sysctl.h>

#include <corepmu/pmu.h>

#include "pmuv3.h"
#include "sysreg.h"

static int perf_user_access;
static struct ctl_table_header *user_access_header;

/* What PMUSERENR_EL0 has is not known. */
#define ACCESS_UNKNOWN	(~0ULL)

/* PMUSERENR_EL0 of this CPU as the driver has written it, or KVM is to */
static DEFINE_PER_CPU(u64, user_access);

static bool has_access_mask(const struct pmuv3 *pmuv3)
{
	return pmuv3->pmuver >= PMUVER_V3P9 && pmuv3_reaches_v3p9(pmuv3);
}

/* Has the current task a readable event, and is its context scheduled in? */
static bool task_reads(void)
{
	struct perf_event_context *ctx = compat_task_context(current);

	return ctx && ctx->is_active && ctx->nr_user;
}

/* Counters with readable events; these are the current task's, as events of a CPU never are. */
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
 * pmuv3_user_switch() - the backend's user_switch()
 * @unused: the state of the PMU that perf core enables, which may be that of another kind of CPU
 *
 * For a task whose events are of another kind of CPU, and before Linux 6.2 for all of them but
 * those of the PMU that was registered first, perf core enables another PMU than this CPU's
 * (perf_ctx_enable() and, before 6.2, ctx->pmu in perf_event_context_sched_out(), both in
 * kernel/events/core.c). The register is the CPU's. IRQs off.
 */
void pmuv3_user_switch(struct corepmu_cpu *unused)
{
	struct corepmu *pmu = pmuv3_this_pmu();
	struct corepmu_cpu *cpuc;
	u64 access = 0;

	if (!pmu)
		return;

	cpuc = this_cpu_ptr(pmu->cpu);
	if (READ_ONCE(corepmu_user_allowed) && task_reads()) {
		access = PMUSERENR_ER;
		/* With avoid_pmccntr no event uses PMCCNTR_EL0: a task need not read it. */
		if (!to_pmuv3(pmu)->avoid_pmccntr)
			access |= PMUSERENR_CR;
		if (has_access_mask(to_pmuv3(pmu))) {
			access |= PMUSERENR_UEN;
			pmuv3_write_pmuacr(readable_counters(cpuc));
		} else {
			corepmu_user_clear(cpuc);
		}
	}

	if (access == this_cpu_read(user_access))
		return;
	this_cpu_write(user_access, access);
	pmuv3_kvm_write_pmuserenr(access);
}

/**
 * pmuv3_user_close() - nobody may read counters on this CPU, whatever the register had
 *
 * IRQs off.
 */
void pmuv3_user_close(void)
{
	this_cpu_write(user_access, 0);
	pmuv3_kvm_write_pmuserenr(0);
}

/**
 * pmuv3_user_renew() - the register may have been written by somebody else
 *
 * Where tasks read counters, pmuv3_user_switch() is called before the PMU is started. IRQs off.
 */
void pmuv3_user_renew(void)
{
	if (READ_ONCE(corepmu_user_reads))
		this_cpu_write(user_access, ACCESS_UNKNOWN);
	else
		pmuv3_user_close();
}

static bool cpu_has_access(int cpu, void *unused)
{
	return READ_ONCE(per_cpu(user_access, cpu));
}

static void user_switch_cpu(void *unused)
{
	pmuv3_user_switch(NULL);
}

/**
 * pmuv3_user_gone() - the backend's user_gone()
 * @pmu: the PMU
 *
 * Perf core does not enable the PMU when an event leaves that was not counting. The task that had
 * it may be on a CPU of another kind. Process context.
 */
void pmuv3_user_gone(struct corepmu *pmu)
{
	on_each_cpu_cond(cpu_has_access, user_switch_cpu, NULL, true);
}

/**
 * pmuv3_event_idx() - the backend's event_idx()
 * @event: an event that is placed and counts
 *
 * IRQs off, or NMI.
 *
 * Return: n + 1 for PMEVCNTR<n>_EL0, 32 for PMCCNTR_EL0; 0 when user space cannot read it
 */
int pmuv3_event_idx(struct perf_event *event)
{
	return corepmu_event_may_be_read(event) ? event->hw.idx + 1 : 0;
}

/*
 * May a task come to CPUs that are not the PMU's? With ACPI a CPU that is offline is nobody's until
 * it comes: it does not count. If it turns out to be of another kind then, events that have been
 * opened before have no counter there, and their pages no index (pmuv3_joins() says so to the
 * administrator); those that are opened from then on are asked for their type. A CPU is active from
 * when corepmu_cpu_online() has been called for it.
 */
static bool kinds_differ(const struct corepmu *pmu)
{
	return corepmu_user_has_others(pmu) ||
	       !cpumask_subset(cpu_active_mask, &pmu->supported_cpus);
}

/**
 * pmuv3_encode_user() - may this event be read from user space, as it asks?
 * @pmuv3: the PMU
 * @event: an event with config1:1 whose counters have been set
 * @is_long: it wants 64 bits
 *
 * Process context.
 *
 * Return: 0, its flags set and its counters narrowed to those that user space
 * can read, or an errno of perf_event_open(2)
 */
int pmuv3_encode_user(struct pmuv3 *pmuv3, struct perf_event *event, bool is_long)
{
	struct corepmu *pmu = pmuv3->pmu;
	struct hw_perf_event *hwc = &event->hw;
	int idx;

	if (!(event->attach_state & PERF_ATTACH_TASK))
		return corepmu_refuse(-EINVAL, "rdpmc: only a task's event can be read from user space");

	/*
	 * "About heterogeneous systems". Not of an event that is inherited: fork() would fail, long
	 * after its parent was opened. Its task may run on CPUs of another kind, where perf core
	 * gives it no counter, and its page has no index.
	 */
	if (!event->parent && kinds_differ(pmu)) {
		if (event->attr.type != pmu->perf_pmu.type)
			return corepmu_refuse(-EOPNOTSUPP, "rdpmc: with several kinds of CPU, open the event by the PMU's own type");
		if (!cpumask_subset(event->hw.target->cpus_ptr, &pmu->supported_cpus))
			return corepmu_refuse(-EOPNOTSUPP, "rdpmc: the task must be bound to CPUs of one kind");
	}

	/* One counter each, and one that readers know. */
	hwc->flags &= ~COREPMU_EVENT_PAIR;
	corepmu_hw_limit_counters(hwc, ~BIT_ULL(PMUV3_INSTR_COUNTER));
	if (is_long) {
		for (idx = 0; idx < COREPMU_MAX_COUNTERS; idx++)
			if (pmu->width[idx] < 64)
				corepmu_hw_limit_counters(hwc, ~BIT_ULL(idx));
		if (!corepmu_hw_counters(hwc))
			return corepmu_refuse(-EOPNOTSUPP, "rdpmc: a counter of 64 bits is not there");
	} else {
		hwc->flags |= COREPMU_EVENT_32BIT;
	}
	hwc->flags |= PERF_EVENT_FLAG_USER_READ_CNT;

	return 0;
}

static int user_access_handler(compat_ctl_table *table, int write, void *buffer,
			       size_t *len, loff_t *pos)
{
	int ret = proc_dointvec_minmax(table, write, buffer, len, pos);

	if (ret || !write)
		return ret;

	/*
	 * corepmu_enable() calls user_switch() only while corepmu_user_reads is set: when it is
	 * cleared, corepmu_user_refresh() takes the access back on all CPUs.
	 */
	WRITE_ONCE(corepmu_user_allowed, perf_user_access);
	WRITE_ONCE(corepmu_user_reads, perf_user_access);
	corepmu_user_refresh();

	return 0;
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
 * pmuv3_sysctl_exists() - is kernel.perf_user_access another driver's?
 *
 * It is looked for in a mount of its own of /proc, since the process that loads the module
 * need not have one. Process context.
 *
 * Return: whether it is, also if it cannot be looked for
 */
bool pmuv3_sysctl_exists(void)
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
 * pmuv3_user_init() - offer kernel.perf_user_access
 * @taken: there is one already
 *
 * Process context. Without it counters cannot be read from user space: the
 * built-in driver, of which a part holds another PMU, has its own.
 *
 * To find out by registering a second one will not do: when that fails the kernel
 * takes out of the directory what it never put in, and all of /proc/sys/kernel is
 * gone (erase_header() in fs/proc/proc_sysctl.c; seen on 6.12).
 */
void pmuv3_user_init(bool taken)
{
	if (!taken)
		user_access_header = register_sysctl("kernel", user_access_table);
	if (!user_access_header)
		pr_notice("another driver has kernel.perf_user_access: user space cannot read counters\n");
}

/**
 * pmuv3_user_exit() - undo pmuv3_user_init()
 */
void pmuv3_user_exit(void)
{
	unregister_sysctl_table(user_access_header);
	user_access_header = NULL;
}
