// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: detect idle states that lose the PMU's registers without an announcement
 *
 * The kernel announces that a CPU is powered down (CPU_PM_ENTER, see module/hotplug.c) if firmware
 * and devicetree describe the idle state as one that loses context. If the description is wrong,
 * after the idle state counters are stopped, other events are selected, and interrupts are
 * disabled. The driver checks PMINTENSET_EL1 at the end of each idle period, before any counter is
 * read. pmuv3_reset() has set the bit of each counter there. A reset leaves the register unknown
 * (DDI 0487, D23.5), but hardly ever with the bits of all counters set.
 *
 * Other software may have written the registers, too. Then a bit is missing before the CPU becomes
 * idle, or PMCR_EL0.LC is still set, which a reset clears or leaves unknown. In this case the
 * counters have valid counts.
 *
 * The check costs two register reads for each idle period. A check when the PMU is enabled would
 * cost one read for each context switch, and come too late: by then, counters whose event goes on
 * have been read.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitops.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/static_call.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "pmuv3.h"
#include "sysreg.h"

/* Bits of PMINTENSET_EL1 that the driver has set on this CPU, or 0 to skip the check */
static DEFINE_PER_CPU(u64, interrupts_set);

static bool hooked;

/*
 * Set up this CPU again after it has lost its registers without notice. The counters' values are
 * lost: this function does not read them. It writes the value that was last read from each counter,
 * and the counter goes on from there. IRQs off, and not between corepmu_disable() and
 * corepmu_enable().
 */
static void restore_lost_registers(struct corepmu_cpu *cpuc)
{
	bool running = cpuc->running;
	u64 left;

	cpuc->running = false;
	cpuc->pmu->backend->reset(cpuc);
	for (left = cpuc->used; left; left &= left - 1) {
		struct perf_event *event = cpuc->events[__ffs64(left)];
		struct hw_perf_event *hwc;

		/* The lower counter of a pair */
		if (!event)
			continue;

		hwc = &event->hw;
		static_call(corepmu_program_counter)(cpuc, hwc, local64_read(&hwc->prev_count) &
						     corepmu_hw_value_mask(hwc));
	}
	corepmu_resume_cpu(cpuc, running);
}

static void handle_change(struct corepmu *pmu, unsigned int cpu, bool is_idle)
{
	struct corepmu_cpu *cpuc = this_cpu_ptr(pmu->cpu);

	if (!is_idle && !(pmuv3_read_pmcr() & PMCR_LC)) {
		pr_warn_once("CPU%u lost the PMU's registers in an idle state without CPU_PM notifiers (a wrong firmware description): counts since the last read are lost; disable that idle state\n",
			     cpu);
		restore_lost_registers(cpuc);
		return;
	}

	corepmu_warn_changed(cpu);
	corepmu_registers_changed(cpuc);
}

/* Tracepoint cpu_idle, include/trace/events/power.h: a CPU enters or leaves an idle state. */
static void idle_changes(void *data, unsigned int state, unsigned int cpu)
{
	u64 set = this_cpu_read(interrupts_set);
	struct corepmu *pmu;
	unsigned long flags;

	if (!set || likely((pmuv3_read_pmintenset() & set) == set))
		return;

	local_irq_save(flags);
	pmu = pmuv3_this_pmu();
	/*
	 * During an unload this CPU may be powered down after the CPU_PM notifier is gone, but
	 * before the PMU is quiesced: the lost bits then say nothing about the firmware.
	 */
	if (pmu && READ_ONCE(pmu->open))
		handle_change(pmu, cpu, state != (u32)PWR_EVENT_EXIT);
	local_irq_restore(flags);
}

/**
 * pmuv3_idle_expect() - set the bits that the checks before and after an idle period expect
 * @interrupts: bits of PMINTENSET_EL1 that this CPU has, or 0 to skip the checks
 *
 * On the CPU.
 */
void pmuv3_idle_expect(u64 interrupts)
{
	this_cpu_write(interrupts_set, interrupts);
}

/**
 * pmuv3_idle_init() - get notified when CPUs enter and leave idle states
 *
 * Without tracepoints there are no checks, and lost registers go unnoticed. Process context.
 */
void __corepmu_init pmuv3_idle_init(void)
{
	hooked = !register_trace_cpu_idle(idle_changes, NULL);
}

/**
 * pmuv3_idle_exit() - undo pmuv3_idle_init()
 *
 * Process context, after all PMUs have been unregistered.
 */
void pmuv3_idle_exit(void)
{
	if (!hooked)
		return;

	unregister_trace_cpu_idle(idle_changes, NULL);
	tracepoint_synchronize_unregister();
	hooked = false;
}
