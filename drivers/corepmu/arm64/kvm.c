// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: events that leave guests of KVM out, or count them alone
 *
 * Guests and their host share EL0, and without VHE EL1 too: whoever counts one of them alone has to
 * change a counter's filter whenever a guest is entered and left. KVM does so for the built-in
 * driver, by functions that are not for modules (kvm_set_pmu_events() in arch/arm64/kvm/pmu.c).
 * But it has a tracepoint on either side of that (arch/arm64/kvm/arm.c, kvm_arch_vcpu_ioctl_run()):
 * before kvm_entry interrupts have been disabled; at kvm_exit they are enabled again, what was
 * pending has been taken, and the task cannot have been preempted. In between there are KVM and
 * interrupts of the host besides the guest, all of them above EL0. So
 *
 * - EL0 is the guest's exactly between the two, and the host's exactly outside;
 * - with VHE, EL1 is the guests' anyway, and EL2 the host's;
 * - without VHE EL1 is the guest's and the host's there. An event that leaves guests out leaves out
 *   what the host does there at EL1; one that counts guests alone would count it, and is refused
 *   unless it excludes the kernel.
 *
 * Guests have no PMU: KVM offers them the built-in driver's (kvm_host_pmu_init()) alone. With
 * MDCR_EL2.TPM, which KVM sets then too, they do not reach the registers
 * (kvm_arm_setup_mdcr_el2() in arch/arm64/kvm/debug.c).
 *
 * With VHE, and a PMU, KVM has PMUSERENR_EL0 to itself from when a vCPU is loaded on a CPU until it
 * is put, which is after perf core has scheduled the thread's events out: it keeps what it found,
 * and writes that back (__activate_traps_common(), __deactivate_traps_common() in
 * arch/arm64/kvm/hyp/include/hyp/switch.h). On 6.1 and 6.12 a PMU is one of the built-in driver,
 * of any kind of CPU; on 7.x it is what the CPUs have. Who writes the register meanwhile takes it
 * from the guest, and is undone when the vCPU is put: so KVM is told, see
 * pmuv3_kvm_write_pmuserenr().
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>

#include "pmuv3.h"
#include "sysreg.h"

/* This CPU is between kvm_entry and kvm_exit. */
static DEFINE_PER_CPU(bool, runs_guest);

/* KVM tells when it enters guests, and leaves them. */
static bool told_of_guests;

/* kvm_set_pmuserenr(), arch/arm64/kvm/pmu.c: not exported; NULL before Linux 6.4 and without KVM */
static bool (*set_pmuserenr)(u64 value);

static void guest_changes(bool guest)
{
	struct corepmu *pmu;
	unsigned long flags;

	/* kvm_exit: an interrupt may place other events. */
	local_irq_save(flags);
	this_cpu_write(runs_guest, guest);
	pmu = pmuv3_this_pmu();
	if (pmu)
		pmuv3_select_again(this_cpu_ptr(pmu->cpu));
	local_irq_restore(flags);
}

/* Their arguments: arch/arm64/kvm/trace_arm.h */

static void guest_entered(void *data, unsigned long vcpu_pc)
{
	guest_changes(true);
}

static void guest_left(void *data, int ret, unsigned int esr_ec, unsigned long vcpu_pc)
{
	guest_changes(false);
}

static struct {
	const char *name;
	void *probe;
	struct tracepoint *tracepoint;
} hooks[] = {
	{ "kvm_entry", guest_entered },
	{ "kvm_exit", guest_left },
};

static void find_hook(struct tracepoint *tracepoint, void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(tracepoint->name, hooks[i].name))
			hooks[i].tracepoint = tracepoint;
}

/**
 * pmuv3_kvm_filter() - what an event's filter is now
 * @config: what it counts: bits of PMEVTYPER<n>_EL0, and those of pmuv3_kvm_encode()
 *
 * On the CPU that has the counter, IRQs off.
 *
 * Return: bits of PMEVTYPER<n>_EL0 alone
 */
u64 pmuv3_kvm_filter(u64 config)
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
 * pmuv3_kvm_encode() - have an event count guests alone, or the host alone
 * @pmuv3: the PMU
 * @attr: the event's attributes, with exclude_host, exclude_guest or both
 * @hwc: the event; config_base has the levels already that guests and host do not share
 *
 * Process context.
 *
 * Return: 0, or -EOPNOTSUPP where guests and host cannot be told apart
 */
int pmuv3_kvm_encode(const struct pmuv3 *pmuv3, const struct perf_event_attr *attr,
		     struct hw_perf_event *hwc)
{
	bool vhe = is_kernel_in_hyp_mode();

	/* Nothing is left. */
	if (attr->exclude_host && attr->exclude_guest) {
		hwc->config_base |= PMEVTYPER_P | PMEVTYPER_U;
		return 0;
	}

	/* Where there are no guests all is the host's. */
	if (!kernel_has_kvm() || (!vhe && !pmuv3->has_el2)) {
		if (attr->exclude_host)
			hwc->config_base |= PMEVTYPER_P | PMEVTYPER_U;
		return 0;
	}
	if (vhe && attr->exclude_user)
		return 0;

	if (!attr->exclude_host) {
		if (told_of_guests)
			hwc->config_base |= PMUV3_HOST_ALONE;
		return 0;
	}
	if (!told_of_guests)
		return corepmu_refuse(-EOPNOTSUPP, "exclude_host: KVM does not tell when guests run");
	if (!vhe && !attr->exclude_kernel)
		return corepmu_refuse(-EOPNOTSUPP,
				      "exclude_host: without VHE kernels of guests cannot be told from the host's; with exclude_kernel it counts");

	hwc->config_base |= PMUV3_GUESTS_ALONE;
	return 0;
}

/**
 * pmuv3_kvm_write_pmuserenr() - say what user space of the host may read on this CPU
 * @value: PMUSERENR_EL0
 *
 * As update_pmuserenr() in drivers/perf/arm_pmuv3.c: while a vCPU is loaded KVM takes the value,
 * and writes it when the vCPU is put, before user space of the host runs. A kernel before 6.4 has
 * nothing that could be told: there a vCPU that is put undoes this if the built-in driver has a PMU
 * of another kind of CPU. IRQs off: KVM loads and puts vCPUs with IRQs off for that.
 */
void pmuv3_kvm_write_pmuserenr(u64 value)
{
	if (set_pmuserenr && set_pmuserenr(value))
		return;

	pmuv3_write_pmuserenr(value);
}

static int register_hooks(void)
{
	int i, ret = 0;

	if (!kernel_has_tracepoints())
		return -ENOENT;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		hooks[i].tracepoint = NULL;
	for_each_kernel_tracepoint(find_hook, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks) && !ret; i++) {
		ret = -ENOENT;
		if (hooks[i].tracepoint)
			ret = tracepoint_probe_register(hooks[i].tracepoint, hooks[i].probe, NULL);
	}
	/* The last one is the one that could not be had. */
	for (i -= 2; ret && i >= 0; i--)
		tracepoint_probe_unregister(hooks[i].tracepoint, hooks[i].probe, NULL);

	return ret;
}

/**
 * pmuv3_kvm_init() - be told when KVM enters guests, and leaves them; and find what to tell KVM by
 *
 * Process context, before a PMU is registered.
 */
void pmuv3_kvm_init(void)
{
	int ret;

	if (!kernel_has_kvm())
		return;

	set_pmuserenr = (void *)kernel_find_symbol("kvm_set_pmuserenr");
	ret = register_hooks();
	told_of_guests = !ret;
	if (ret)
		pr_notice("cannot find out when KVM runs guests (%d): exclude_guest has no effect on user space\n",
			  ret);
}

/**
 * pmuv3_kvm_exit() - undo pmuv3_kvm_init()
 *
 * Process context, when no PMU is registered any more.
 */
void pmuv3_kvm_exit(void)
{
	int i;

	set_pmuserenr = NULL;
	if (!kernel_has_tracepoints() || !told_of_guests)
		return;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		tracepoint_probe_unregister(hooks[i].tracepoint, hooks[i].probe, NULL);
	tracepoint_synchronize_unregister();
	told_of_guests = false;
}
