// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: AMD's counters while KVM runs guests
 *
 * APM volume 2, "Performance Event-Select Registers", HG_ONLY: a counter counts guests alone, or
 * the host alone. With either bit it stands still where EFER.SVME is 0 (Linux commit
 * 1018faa6cf23). KVM sets and clears EFER.SVME of each CPU, and tells the built-in driver by two
 * functions of that driver's (arch/x86/kvm/svm/svm.c): a kprobe on each tells this one.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/printk.h>

#include <corepmu/pmu.h>

#include "../msr.h"
#include "../x86.h"

DEFINE_PER_CPU(u64, x86_select_masked);

/* KVM tells of each change: host-only counters do not stand still unnoticed. */
static bool told_of_changes;

/*
 * A CPU begins or ends to be one that can run guests. From a kprobe: in KVM's context or as an
 * NMI, on that CPU.
 */
static void svm_change(bool on)
{
	struct corepmu *pmu = x86_this_pmu();
	struct corepmu_cpu *cpuc;
	unsigned long flags;
	bool resume;

	local_irq_save(flags);
	this_cpu_write(x86_select_masked, on ? 0 : EVNTSEL_AMD_HOSTONLY);
	if (pmu && x86_is_reserved()) {
		cpuc = this_cpu_ptr(pmu->cpu);
		resume = cpuc->running;
		if (resume)
			corepmu_stop_cpu(cpuc);
		x86_select_again(cpuc);
		if (resume)
			corepmu_start_cpu(cpuc);
	}
	local_irq_restore(flags);
}

static int svm_begins(struct kprobe *probe, struct pt_regs *regs)
{
	svm_change(true);
	return 0;
}

static int svm_ends(struct kprobe *probe, struct pt_regs *regs)
{
	svm_change(false);
	return 0;
}

static struct kprobe begin_probe = {
	.symbol_name	= "amd_pmu_enable_virt",
	.pre_handler	= svm_begins,
};

static struct kprobe end_probe = {
	.symbol_name	= "amd_pmu_disable_virt",
	.pre_handler	= svm_ends,
};

static struct kprobe *svm_probes[] = { &begin_probe, &end_probe };

/**
 * x86_svm_filter() - the bits of an event that counts guests alone, or no guests
 * @attr: its attributes, of which exclude_user and exclude_kernel are looked at elsewhere
 *
 * Both at once count nothing. Without KVM's word exclude_guest has no effect: a host-only counter
 * would stand still when KVM gives the CPU up. Process context.
 *
 * Return: bits of an event select
 */
u64 x86_svm_filter(const struct perf_event_attr *attr)
{
	if (attr->exclude_host)
		return EVNTSEL_AMD_GUESTONLY;

	return attr->exclude_guest && told_of_changes ? EVNTSEL_AMD_HOSTONLY : 0;
}

/**
 * x86_svm_reset() - find out whether this CPU can run guests now
 *
 * From the backend's reset(), on the CPU.
 */
void x86_svm_reset(void)
{
	this_cpu_write(x86_select_masked,
		       boot_cpu_has(X86_FEATURE_SVM) && !x86_svm_is_on() ?
		       EVNTSEL_AMD_HOSTONLY : 0);
}

/**
 * x86_svm_init() - be told when KVM takes CPUs on, and when it gives them up
 *
 * Process context, before the PMUs are registered: they read what is so by then
 * (x86_svm_reset()).
 */
void x86_svm_init(void)
{
	int ret;

	if (!boot_cpu_has(X86_FEATURE_SVM))
		return;

	ret = register_kprobes(svm_probes, ARRAY_SIZE(svm_probes));
	told_of_changes = !ret;
	if (ret)
		pr_notice("cannot find out when KVM runs guests (%d): exclude_guest has no effect\n",
			  ret);
}

/**
 * x86_svm_exit() - undo x86_svm_init()
 *
 * Process context, when no PMU is registered any more.
 */
void x86_svm_exit(void)
{
	if (!told_of_changes)
		return;

	unregister_kprobes(svm_probes, ARRAY_SIZE(svm_probes));
	told_of_changes = false;
}
