// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Nehalem and Westmere: counters that do not count what they are told to
 *
 * Intel's specification updates, errata AAK100, AAP53 and BD53: a general-purpose counter may
 * count at core frequency, or not at all, instead of counting the event that has been programmed.
 * Before an event select register gets another event, what these CPUs monitor by is to be cleared:
 * take the events out of all four registers, have counters count the events 0xd2, 0xb1 and 0xb5,
 * each at least once and one on each counter, with bits 3-0 of IA32_PERF_GLOBAL_CTRL set, and put
 * the events back. The built-in driver does it with the values below, and sets the counters to 0
 * besides: intel_pmu_nhm_workaround() in arch/x86/events/intel/core.c.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/perf_event.h>

#include <corepmu/counter.h>
#include <corepmu/pmu.h>

#include "intel.h"
#include "../msr.h"
#include "../x86.h"

#define NR_COUNTERS	4

/* With EVNTSEL_EN, _OS and _USR; an overflow of theirs does not interrupt. */
static const u32 clearing_selects[NR_COUNTERS] = { 0x4300b5, 0x4300d2, 0x4300b1, 0x4300b1 };

/**
 * intel_has_stale_monitors() - do these CPUs have the erratum?
 * @uarch: the microarchitecture, NULL if it is not known
 * @nr_gp: general-purpose counters; a hypervisor may have fewer, of which there is no erratum
 *
 * The built-in driver has all models of the two microarchitectures do it.
 *
 * Return: whether intel_clear_monitors() is to be called before an event select changes
 */
bool intel_has_stale_monitors(const struct intel_uarch *uarch, unsigned int nr_gp)
{
	return (uarch == &intel_uarches[UARCH_NEHALEM] ||
		uarch == &intel_uarches[UARCH_WESTMERE]) && nr_gp >= NR_COUNTERS;
}

/*
 * Take a counter's value before it is overwritten. An event that counts is brought up to date,
 * and stands as stopped until put_back(): the NMI of an overflow that comes in between finds
 * nothing of it in the counter. Returns the value that any other counter has: a stopped event
 * goes on from it, and what the self-test has written has no event.
 */
static u64 take(struct corepmu_cpu *cpuc, struct perf_event *event, int idx)
{
	if (!event)
		return x86_rdpmc(idx);

	event->hw.state = PERF_HES_STOPPED;
	barrier();
	corepmu_counter_update(cpuc, event);

	return 0;
}

/*
 * The counter of an event gets what is left of its period. If nothing is, its overflow's NMI is
 * still to come, or has come in between: the period is not ended here, so that either that NMI
 * or the one that follows in a moment has its sample.
 */
static void put_back(struct corepmu_cpu *cpuc, struct perf_event *event, int idx, u64 value)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);

	if (!event) {
		x86_write_msr(desc->counter_msr + idx, value);
		return;
	}

	corepmu_counter_load(cpuc, event, local64_read(&event->hw.period_left));
	barrier();
	event->hw.state = 0;
	corepmu_update_userpage(event);
}

/**
 * intel_clear_monitors() - before a select register counts another event, clear the monitors
 * @cpuc: this CPU's state, stopped; corepmu_cpu.selected has the new event already
 * @enable: EVNTSEL_EN where select registers have it while the PMU is stopped, otherwise 0
 * @global_ctrl: what IA32_PERF_GLOBAL_CTRL has while the PMU is stopped
 *
 * All general-purpose counters and their select registers are written. Counters have afterwards
 * what they had, select registers what corepmu_cpu.selected says. IRQs off.
 */
void intel_clear_monitors(struct corepmu_cpu *cpuc, u64 enable, u64 global_ctrl)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);
	struct perf_event *counting[NR_COUNTERS];
	u64 values[NR_COUNTERS];
	int idx;

	for (idx = 0; idx < NR_COUNTERS; idx++) {
		struct perf_event *event = cpuc->events[idx];

		counting[idx] = event && !(event->hw.state & PERF_HES_STOPPED) ? event : NULL;
		values[idx] = take(cpuc, counting[idx], idx);
	}

	for (idx = 0; idx < NR_COUNTERS; idx++) {
		x86_write_msr(desc->counter_msr + idx, 0);
		x86_write_msr(desc->select_msr + idx, clearing_selects[idx]);
	}
	x86_write_msr(desc->global_ctrl, GENMASK_ULL(NR_COUNTERS - 1, 0));
	x86_write_msr(desc->global_ctrl, global_ctrl);

	for (idx = 0; idx < NR_COUNTERS; idx++) {
		u64 select = cpuc->selected[idx];

		x86_write_msr(desc->select_msr + idx, select ? select | enable : 0);
		put_back(cpuc, counting[idx], idx, values[idx]);
	}
}
