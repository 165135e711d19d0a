// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Nehalem and Westmere: workaround for counters that miscount after reprogramming
 *
 * Intel's specification updates, errata AAK100, AAP53 and BD53: a general-purpose counter may
 * count at core frequency, or not at all, instead of counting the event that has been programmed.
 * The workaround clears the monitors before an event selection register gets another event:
 *
 * 1. Take the events out of all four registers.
 * 2. Let the counters count the events 0xd2, 0xb1 and 0xb5, each at least once and one on each
 *    counter, with bits 3-0 of IA32_PERF_GLOBAL_CTRL set.
 * 3. Put the events back.
 *
 * The built-in driver uses the values below and also sets the counters to 0:
 * intel_pmu_nhm_workaround() in arch/x86/events/intel/core.c.
 *
 * The driver runs the workaround before a counter gets another event; the built-in driver runs it
 * once per enable of the PMU with new events. A counting event gets the rest of its period
 * afterwards, other events get their old value. The workaround does not end a period whose overflow
 * NMI is pending: this NMI emits the sample. If the NMI comes during the workaround, it leaves the
 * event alone, and the counter overflows again after its minimum period.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/perf_event.h>

#include <corepmu/counter.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "intel.h"
#include "../msr.h"
#include "../x86.h"

#define NR_NEHALEM_COUNTERS	4

/* Selections with EVNTSEL_EN, _OS and _USR, without EVNTSEL_INT: no overflow interrupt */
static const u32 clearing_selects[NR_NEHALEM_COUNTERS] = { 0x4300b5, 0x4300d2, 0x4300b1, 0x4300b1 };

/**
 * intel_has_stale_monitors() - check whether the CPU has the erratum
 * @uarch: the microarchitecture, NULL if unknown
 * @nr_gp: number of general-purpose counters; a hypervisor with fewer than four has no erratum
 *
 * The built-in driver applies the workaround to all models of the two microarchitectures.
 *
 * Return: true if intel_clear_monitors() must run before an event selection changes
 */
bool __corepmu_init intel_has_stale_monitors(const struct intel_uarch *uarch, unsigned int nr_gp)
{
	return (uarch == &intel_uarches[UARCH_NEHALEM] ||
		uarch == &intel_uarches[UARCH_WESTMERE]) && nr_gp >= NR_NEHALEM_COUNTERS;
}

/*
 * Save a counter before the workaround overwrites it. An event that counts is updated, and marked
 * as stopped until put_back(): an NMI in between, of an earlier overflow, does not update the event
 * from the overwritten counter. Return the raw value of a counter that has no counting event: a
 * stopped event, or the self-test, which has no event, still needs it.
 */
static u64 take_counter(struct corepmu_cpu *cpuc, struct perf_event *event, int idx)
{
	if (!event)
		return x86_rdpmc(idx);

	event->hw.state = PERF_HES_STOPPED;
	barrier();
	corepmu_counter_update(cpuc, event);

	return 0;
}

/*
 * Restore a counter. For an event that counts, load what is left of the period. If nothing is left,
 * the NMI of the overflow is pending or came during the workaround. The period does not end here,
 * so that this NMI, or the one that the reloaded counter raises soon, emits the sample.
 */
static void put_back(struct corepmu_cpu *cpuc, struct perf_event *event, int idx, u64 value)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);

	if (!event) {
		x86_write_msr(desc->counter_msr + idx, value);
		return;
	}

	corepmu_counter_set(cpuc, event, local64_read(&event->hw.period_left));
	barrier();
	event->hw.state = 0;
	corepmu_update_userpage(event);
}

/**
 * intel_clear_monitors() - run the workaround before an event selection changes
 * @cpuc: state of this CPU; the PMU is stopped; corepmu_cpu.selected has the new event already
 * @enable: EVNTSEL_EN if selection registers have this bit while the PMU is stopped, otherwise 0
 * @global_ctrl: value of IA32_PERF_GLOBAL_CTRL while the PMU is stopped
 *
 * Writes all general-purpose counters and their selection registers. Afterwards the counters have
 * their old values, and the selection registers those of corepmu_cpu.selected. IRQs off.
 */
void intel_clear_monitors(struct corepmu_cpu *cpuc, u64 enable, u64 global_ctrl)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);
	struct perf_event *counting[NR_NEHALEM_COUNTERS];
	u64 values[NR_NEHALEM_COUNTERS];
	int idx;

	for (idx = 0; idx < NR_NEHALEM_COUNTERS; idx++) {
		struct perf_event *event = cpuc->events[idx];

		counting[idx] = event && !(event->hw.state & PERF_HES_STOPPED) ? event : NULL;
		values[idx] = take_counter(cpuc, counting[idx], idx);
	}

	for (idx = 0; idx < NR_NEHALEM_COUNTERS; idx++) {
		x86_write_msr(desc->counter_msr + idx, 0);
		x86_write_msr(desc->select_msr + idx, clearing_selects[idx]);
	}
	x86_write_msr(desc->global_ctrl, GENMASK_ULL(NR_NEHALEM_COUNTERS - 1, 0));
	x86_write_msr(desc->global_ctrl, global_ctrl);

	for (idx = 0; idx < NR_NEHALEM_COUNTERS; idx++) {
		u64 select = cpuc->selected[idx];

		x86_write_msr(desc->select_msr + idx, select ? select | enable : 0);
		put_back(cpuc, counting[idx], idx, values[idx]);
	}
}
