// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: tell the log that somebody else writes the counters' registers
 *
 * Whoever may open /dev/cpu/N/msr can, and some tools do: Intel's pcm clears all of them. Events
 * that come after that have their registers written, see struct corepmu_cpu's trusted. Who looks
 * for what is wrong is to read of it. So when an event is opened, which takes longer by far, two
 * registers are compared with what this CPU was left with.
 */
#include <linux/bitops.h>
#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include <corepmu/pmu.h>

#include "msr.h"
#include "x86.h"

/* What is selected, and on which levels. A hypervisor may not keep all other bits. */
#define COMPARED	(EVNTSEL_EVENT | EVNTSEL_UMASK | EVNTSEL_USR | EVNTSEL_OS | EVNTSEL_EN)

/* The lowest counter that has been used has most events. */
static bool select_has_changed(const struct corepmu_cpu *cpuc)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);
	unsigned int idx;

	for (idx = 0; idx < desc->nr_gp && !cpuc->selected[idx]; idx++)
		;
	if (idx == desc->nr_gp)
		return false;

	return ((x86_read_msr(desc->select_msr + desc->step * idx) ^ cpuc->selected[idx] ^
		 EVNTSEL_EN) & COMPARED) != 0;
}

static bool fixed_has_changed(const struct corepmu_cpu *cpuc)
{
	return (u32)cpuc->shared_select &&
	       (u32)x86_read_msr(MSR_CORE_PERF_FIXED_CTR_CTRL) != (u32)cpuc->shared_select;
}

/**
 * x86_has_changed() - have registers of this CPU been written by somebody else?
 * @cpuc: its state
 *
 * IRQs off.
 *
 * Return: whether what is looked at is not what this driver has written. Counters that are enabled
 * one by one are not looked at
 */
bool x86_has_changed(const struct corepmu_cpu *cpuc)
{
	return cpuc->pmu->backend == &x86_global_backend &&
	       (select_has_changed(cpuc) || fixed_has_changed(cpuc));
}

/**
 * x86_note_changes() - warn once if registers of this CPU have been written by somebody else
 * @pmu: the PMU of which an event is being opened
 *
 * Process context.
 */
void x86_note_changes(struct corepmu *pmu)
{
	static bool told;
	unsigned long flags;

	if (READ_ONCE(told))
		return;

	local_irq_save(flags);
	if (x86_this_pmu() == pmu && x86_has_changed(this_cpu_ptr(pmu->cpu))) {
		WRITE_ONCE(told, true);
		corepmu_warn_changed(smp_processor_id());
	}
	local_irq_restore(flags);
}
