// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: log that another agent writes the counters' registers
 *
 * A program with access to /dev/cpu/N/msr can write the registers, and Intel's pcm clears all of
 * them. The driver writes the registers again for the next event (corepmu_cpu.trusted), but counts
 * are wrong meanwhile. So that the log names the cause, opening an event compares two registers of
 * this CPU with the values that the driver has written.
 */
#include <linux/bitops.h>
#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <linux/smp.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "msr.h"
#include "x86.h"

/* Bits to compare: the event and its privilege levels. A hypervisor may drop the other bits. */
#define COMPARED	(EVNTSEL_EVENT | EVNTSEL_UMASK | EVNTSEL_USR | EVNTSEL_OS | EVNTSEL_EN)

/* Compare the lowest counter that has been used: most events are on that counter. */
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
 * x86_has_changed() - check whether another agent has written registers of this CPU
 * @cpuc: state of this CPU
 *
 * IRQs off.
 *
 * Return: true if a compared register differs from the driver's value; false for x86_each_backend,
 * which is not compared
 */
bool x86_has_changed(const struct corepmu_cpu *cpuc)
{
	return x86_is_global(to_x86(cpuc->pmu)) &&
	       (select_has_changed(cpuc) || fixed_has_changed(cpuc));
}

/**
 * x86_warn_of_changes() - warn once if another agent has written registers of this CPU
 * @pmu: PMU of the event that is being opened
 *
 * Process context.
 */
void x86_warn_of_changes(struct corepmu *pmu)
{
	static bool has_warned;
	unsigned long flags;

	if (READ_ONCE(has_warned))
		return;

	local_irq_save(flags);
	if (x86_this_pmu() == pmu && x86_has_changed(this_cpu_ptr(pmu->cpu))) {
		WRITE_ONCE(has_warned, true);
		corepmu_warn_changed(smp_processor_id());
	}
	local_irq_restore(flags);
}
