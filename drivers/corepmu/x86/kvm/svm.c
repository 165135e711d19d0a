// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: AMD hosts that run KVM guests: HOSTONLY and GUESTONLY counters
 *
 * APM volume 2, "Performance Event-Select Registers", HG_ONLY: a counter counts the host only, or
 * guests only. With either bit set, the counter does not count while EFER.SVME is 0 (Linux commit
 * 1018faa6cf23). KVM sets and clears EFER.SVME of each CPU. Then KVM calls two functions of the
 * built-in driver (arch/x86/kvm/svm/svm.c); this driver has a kprobe on each.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/printk.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "kvm.h"
#include "../msr.h"
#include "../x86.h"

DEFINE_PER_CPU(u64, x86_select_masked);

/* The kprobes are registered: the driver is notified whenever EFER.SVME changes. */
static bool kprobes_registered;

/*
 * Rewrite the event selections after a change of x86_select_masked. The PMU is stopped. Does
 * nothing for x86_each_backend, which writes selections when it starts counters.
 */
static void x86_rewrite_selections(struct corepmu_cpu *cpuc)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);
	unsigned int idx;

	if (!x86_is_global(desc))
		return;

	for (idx = 0; idx < desc->nr_gp; idx++)
		if (cpuc->selected[idx])
			x86_write_select(desc, idx, cpuc->selected[idx] | EVNTSEL_EN);
}

/*
 * Update the event selections when KVM has enabled or disabled SVM on this CPU. From a kprobe: in
 * KVM's context or as an NMI, on that CPU.
 */
static void svm_change(bool on)
{
	struct corepmu *pmu = x86_this_pmu();
	struct corepmu_cpu *cpuc;
	unsigned long flags;
	bool running;

	local_irq_save(flags);
	this_cpu_write(x86_select_masked, on ? 0 : EVNTSEL_AMD_HOSTONLY);
	if (pmu && x86_is_reserved()) {
		cpuc = this_cpu_ptr(pmu->cpu);
		running = corepmu_pause_cpu(cpuc);
		x86_rewrite_selections(cpuc);
		corepmu_resume_cpu(cpuc, running);
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
 * x86_svm_filter() - return the HOSTONLY or GUESTONLY bit of an event
 * @attr: attributes of the event; encode_filter() handles exclude_user and exclude_kernel, and
 *	events that exclude both host and guests
 *
 * Without the kprobes, exclude_guest has no effect: a HOSTONLY counter would stop unnoticed when
 * KVM disables SVM on the CPU. Process context.
 *
 * Return: bits of an event selection register
 */
u64 x86_svm_filter(const struct perf_event_attr *attr)
{
	if (attr->exclude_host)
		return EVNTSEL_AMD_GUESTONLY;

	return attr->exclude_guest && kprobes_registered ? EVNTSEL_AMD_HOSTONLY : 0;
}

/**
 * x86_svm_reset() - find out whether KVM has enabled SVM on this CPU
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
 * x86_svm_init() - get notified when KVM enables or disables SVM on a CPU
 *
 * Process context, before the PMUs are registered: their registration reads the present state by
 * x86_svm_reset().
 */
void __corepmu_init x86_svm_init(void)
{
	int ret;

	if (!boot_cpu_has(X86_FEATURE_SVM))
		return;

	ret = register_kprobes(svm_probes, ARRAY_SIZE(svm_probes));
	kprobes_registered = !ret;
	if (ret)
		pr_notice("no kprobe on KVM's SVM functions (%d): exclude_guest has no effect; stop all guests before you count\n",
			  ret);
}

/**
 * x86_svm_exit() - undo x86_svm_init()
 *
 * Process context, after all PMUs have been unregistered.
 */
void x86_svm_exit(void)
{
	if (!kprobes_registered)
		return;

	unregister_kprobes(svm_probes, ARRAY_SIZE(svm_probes));
	kprobes_registered = false;
}
