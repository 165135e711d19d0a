// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: CPUs that lose their PMU's registers while they are idle, and nobody says so
 *
 * Who powers a CPU down announces it (CPU_PM_ENTER, see module/hotplug.c), if firmware and devicetree
 * describe that idle state as one that loses context. A state that is described as one that keeps
 * it, and does not, leaves counters that stand still, other events selected, and interrupts
 * disabled. Whether it was so is seen at the end of each idle period, before any counter is read:
 * PMINTENSET_EL1 has had a bit of each counter since pmuv3_reset(). A reset leaves that register
 * unknown (DDI 0487, D23.5), which the bits of all counters together hardly ever are.
 *
 * The registers may also have been written by somebody else: then they are wrong before the CPU
 * is idle, or PMCR_EL0.LC, which a reset clears or leaves unknown, is still set. Counters have what
 * was counted then.
 *
 * These are two reads for each idle period, where it would be one more for each context switch if
 * the PMU were looked at as it is enabled, and too late: a counter whose event goes on has been
 * read by then.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/smp.h>

#include <corepmu/pmu.h>

#include "pmuv3.h"
#include "sysreg.h"

/* Bits of PMINTENSET_EL1 that were set on this CPU, 0 where none needs to be */
static DEFINE_PER_CPU(u64, interrupts_set);

static bool hooked;

static void set_up_again(struct corepmu *pmu, unsigned int cpu, bool is_idle)
{
	struct corepmu_cpu *cpuc = this_cpu_ptr(pmu->cpu);

	if (!is_idle && !(pmuv3_read_pmcr() & PMCR_LC)) {
		pr_warn_once("CPU%u lost the PMU's registers in an idle state without CPU_PM notifiers (a wrong firmware description): counts since the last read are lost; disable that idle state\n",
			     cpu);
		corepmu_power_lost(cpuc);
		return;
	}

	corepmu_warn_changed(cpu);
	corepmu_registers_changed(cpuc);
}

/* The tracepoint cpu_idle, include/trace/events/power.h: a CPU begins or ends to be idle. */
static void idle_changes(void *data, unsigned int state, unsigned int cpu)
{
	u64 set = this_cpu_read(interrupts_set);
	struct corepmu *pmu;
	unsigned long flags;

	if (!set || likely((pmuv3_read_pmintenset() & set) == set))
		return;

	local_irq_save(flags);
	pmu = pmuv3_this_pmu();
	if (pmu)
		set_up_again(pmu, cpu, state != (u32)PWR_EVENT_EXIT);
	local_irq_restore(flags);
}

/**
 * pmuv3_idle_expect() - what the beginning and the end of an idle period are to find
 * @interrupts: bits of PMINTENSET_EL1 that this CPU has been given, or 0 for not to look
 *
 * On the CPU.
 */
void pmuv3_idle_expect(u64 interrupts)
{
	this_cpu_write(interrupts_set, interrupts);
}

/**
 * pmuv3_idle_init() - be told when CPUs have been idle
 *
 * Without tracepoints nobody looks: registers are lost as they were before. Process context.
 */
void pmuv3_idle_init(void)
{
	hooked = !register_trace_cpu_idle(idle_changes, NULL);
}

/**
 * pmuv3_idle_exit() - undo pmuv3_idle_init()
 *
 * Process context, when no PMU is registered any more.
 */
void pmuv3_idle_exit(void)
{
	if (!hooked)
		return;

	unregister_trace_cpu_idle(idle_changes, NULL);
	tracepoint_synchronize_unregister();
	hooked = false;
}
