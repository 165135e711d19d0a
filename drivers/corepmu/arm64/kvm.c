// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: exclude_guest and exclude_host: events that count only the host, or only guests
 *
 * Guests and their host share EL0, and without VHE also EL1. To count only one of them, the driver
 * must change a counter's filter whenever a guest is entered or left. KVM does so for the built-in
 * driver, by functions that are not exported (kvm_set_pmu_events() in arch/arm64/kvm/pmu.c). This
 * driver uses the tracepoints kvm_entry and kvm_exit (kvm_arch_vcpu_ioctl_run() in
 * arch/arm64/kvm/arm.c). IRQs are disabled before kvm_entry. At kvm_exit they are enabled again,
 * pending interrupts have been handled, and the task cannot have been preempted. Between the
 * tracepoints run the guest, KVM, and interrupts of the host; KVM and interrupts run above EL0. So
 *
 * - EL0 is the guest's between the tracepoints, and the host's otherwise;
 * - with VHE, EL1 is the guests' and EL2 is the host's at all times;
 * - without VHE, EL1 is shared between the tracepoints. An event that excludes guests then also
 *   misses what the host does at EL1. An event that excludes the host would also count the host
 *   there; such an event is rejected unless it excludes the kernel.
 *
 * Guests have no PMU: KVM can only give them the built-in driver's (kvm_host_pmu_init()). Guests
 * cannot access the registers either, since KVM sets MDCR_EL2.TPM
 * (kvm_arm_setup_mdcr_el2() in arch/arm64/kvm/debug.c).
 *
 * With VHE, KVM owns PMUSERENR_EL0 of a CPU while a vCPU is loaded there. On 6.1 and 6.12 KVM owns
 * it only if the built-in driver has a PMU, of any CPU type; on 7.x, if the CPUs have a PMU. KVM
 * saves the register's value when it loads the vCPU, and restores the value when it puts the vCPU
 * (__activate_traps_common(), __deactivate_traps_common() in
 * arch/arm64/kvm/hyp/include/hyp/switch.h). A write by the driver while the vCPU is loaded would
 * affect the guest, and be lost at the put. Such a write is usual: when the vCPU's thread is
 * scheduled out, perf core schedules out the thread's events before KVM puts the vCPU. So the
 * driver gives the value to KVM instead, see pmuv3_kvm_write_pmuserenr().
 *
 * At a tracepoint the driver rewrites the filters of counters that have an event. A counter without
 * an event keeps its old filter, and the next event on the counter writes a new one. The built-in
 * driver of 6.1 wrongly counts a guest's EL0 in events that a tick places while the guest runs.
 * Linux 6.1 lacks kvm_set_pmuserenr().
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/ksyms.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "../module/kvm-trace.h"
#include "pmuv3.h"
#include "sysreg.h"

/* This CPU is between the tracepoints kvm_entry and kvm_exit. */
static DEFINE_PER_CPU(bool, runs_guest);

/* The tracepoints are registered: the driver is notified when KVM enters and leaves guests. */
static bool is_notified;

/* kvm_set_pmuserenr(), arch/arm64/kvm/pmu.c: not exported; NULL before Linux 6.4 and without KVM */
bool (*pmuv3_kvm_set_pmuserenr)(u64 value);

/*
 * Counters whose present or last event has PMUV3_HOST_ALONE or PMUV3_GUESTS_ALONE. The next entry
 * into or exit from a guest clears the bits of counters without an event.
 */
static DEFINE_PER_CPU(u64, filtered_counters);

/*
 * Return the bits of PMEVTYPER<n>_EL0 for an event with PMUV3_HOST_ALONE or PMUV3_GUESTS_ALONE:
 * whether it counts depends on whether this CPU is running a guest.
 */
static u64 filter_now(u64 config)
{
	u64 others = this_cpu_read(runs_guest) ? PMUV3_HOST_ALONE : PMUV3_GUESTS_ALONE;
	bool counts = !(config & others);

	config &= ~(PMUV3_HOST_ALONE | PMUV3_GUESTS_ALONE);
	if (!counts) {
		config |= PMEVTYPER_U;
		if (!is_kernel_in_hyp_mode())
			config |= PMEVTYPER_P;
	}

	return config;
}

/**
 * pmuv3_write_selection() - write the event and the filter of a counter
 * @idx: the counter
 * @config: bits of PMEVTYPER<n>_EL0, PMUV3_HOST_ALONE and PMUV3_GUESTS_ALONE
 *
 * On the CPU of the counter, IRQs off.
 */
void pmuv3_write_selection(int idx, u64 config)
{
	if (config & (PMUV3_HOST_ALONE | PMUV3_GUESTS_ALONE)) {
		this_cpu_or(filtered_counters, BIT_ULL(idx));
		config = filter_now(config);
	}

	pmuv3_write_filter(idx, config);
}

/**
 * pmuv3_kvm_reset() - forget the filters of this CPU's counters
 *
 * From the backend's reset().
 */
void pmuv3_kvm_reset(void)
{
	this_cpu_write(filtered_counters, 0);
}

/* Rewrite the filters when a guest is entered or left. */
static void pmuv3_rewrite_selections(struct corepmu_cpu *cpuc)
{
	u64 filtered = this_cpu_read(filtered_counters);
	u64 left;

	/* Forget counters without an event: the next event writes the filter. */
	if (filtered & ~cpuc->used)
		this_cpu_write(filtered_counters, filtered & cpuc->used);
	for (left = filtered & cpuc->used; left; left &= left - 1) {
		int idx = __ffs64(left);

		if (cpuc->selected[idx] & (PMUV3_HOST_ALONE | PMUV3_GUESTS_ALONE))
			pmuv3_write_selection(idx, cpuc->selected[idx]);
	}
}

static void guest_changes(bool guest)
{
	struct corepmu *pmu;
	unsigned long flags;

	/* At kvm_exit, IRQs are on: an interrupt could place other events. */
	local_irq_save(flags);
	this_cpu_write(runs_guest, guest);
	pmu = pmuv3_this_pmu();
	if (pmu)
		pmuv3_rewrite_selections(this_cpu_ptr(pmu->cpu));
	local_irq_restore(flags);
}

/* Probes of the tracepoints; arguments: arch/arm64/kvm/trace_arm.h */

static void guest_entered(void *data, unsigned long vcpu_pc)
{
	guest_changes(true);
}

static void guest_left(void *data, int ret, unsigned int esr_ec, unsigned long vcpu_pc)
{
	guest_changes(false);
}

/**
 * pmuv3_kvm_encode() - set up an event with exclude_host or exclude_guest
 * @pmuv3: the PMU
 * @attr: attributes of the event, with exclude_host, exclude_guest or both
 * @hwc: the event; config_base already has the levels that guests and host do not share
 *
 * Without KVM's tracepoints, an event with exclude_guest also counts the levels that guests and
 * host share. Process context.
 *
 * Return: 0, or -EOPNOTSUPP for exclude_host if the driver cannot distinguish guests from the host
 */
int pmuv3_kvm_encode(const struct pmuv3 *pmuv3, const struct perf_event_attr *attr,
		     struct hw_perf_event *hwc)
{
	bool vhe = is_kernel_in_hyp_mode();

	/* Such an event must count nothing. */
	if (attr->exclude_host && attr->exclude_guest) {
		hwc->config_base |= PMEVTYPER_P | PMEVTYPER_U;
		return 0;
	}

	/* Without KVM there are no guests: everything is the host's. */
	if (!kernel_has_kvm() || (!vhe && !pmuv3->has_el2)) {
		if (attr->exclude_host)
			hwc->config_base |= PMEVTYPER_P | PMEVTYPER_U;
		return 0;
	}
	if (vhe && attr->exclude_user)
		return 0;

	if (!attr->exclude_host) {
		if (is_notified)
			hwc->config_base |= PMUV3_HOST_ALONE;
		return 0;
	}
	if (!is_notified)
		return corepmu_refuse(-EOPNOTSUPP,
				      "exclude_host is 1: KVM does not notify this driver when guests run (see the log at load); leave out modifier G");
	if (!vhe && !attr->exclude_kernel)
		return corepmu_refuse(-EOPNOTSUPP,
				      "exclude_host is 1: without VHE the PMU cannot distinguish guest kernels from the host's; also set exclude_kernel");

	hwc->config_base |= PMUV3_GUESTS_ALONE;
	return 0;
}

/**
 * pmuv3_kvm_init() - register with KVM's tracepoints, and look up kvm_set_pmuserenr()
 *
 * Process context, before a PMU is registered.
 */
void __corepmu_init pmuv3_kvm_init(void)
{
	int ret;

	if (!kernel_has_kvm())
		return;

	pmuv3_kvm_set_pmuserenr = (void *)kernel_find_symbol("kvm_set_pmuserenr");
	ret = corepmu_kvm_trace_init(guest_entered, guest_left);
	is_notified = !ret;
	if (ret)
		pr_notice("no probe on KVM's tracepoints (%d): exclude_guest has no effect on user space; use a kernel with CONFIG_TRACEPOINTS\n",
			  ret);
}

/**
 * pmuv3_kvm_exit() - undo pmuv3_kvm_init()
 *
 * Process context, after all PMUs have been unregistered.
 */
void pmuv3_kvm_exit(void)
{
	pmuv3_kvm_set_pmuserenr = NULL;
	if (!is_notified)
		return;

	corepmu_kvm_trace_exit();
	is_notified = false;
}
