// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel PEBS: registers of architectural PEBS
 *
 * CPUID leaf 0x23, subleaves 4 and 5, enumerates the groups that records may have and the counters
 * that support PEBS. The CPU writes records to physical memory. Each counter has a register with
 * the groups of its records and with its reset value: bits 31 to 0, with all bits above set, or 0.
 * Linux 6.19: arch/x86/include/asm/msr-index.h and perf_event.h, intel_pmu_enable_event_ext() and
 * init_arch_pebs_on_cpu() in arch/x86/events/intel.
 *
 * The CPU does not use struct x86_ds here; the driver keeps the buffer's positions there.
 *
 * The groups, their counters and the counters that support PDIR are in CPUID, so the driver need
 * not know the microarchitecture. Events with periods beyond the reload value's 31 bits do not use
 * large PEBS. Without IA32_PEBS_INDEX.EN a counter overflows like any other, and the groups of an
 * earlier event have no effect. The driver clears them when an event without precise_ip gets the
 * counter while others are precise.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

#include "../pebs.h"
#include "../../intel/intel.h"
#include "../../msr.h"
#include "../../x86.h"

#define EAX_HAS_PEBS		GENMASK(5, 4)
#define PERFMON_EXT_PEBS	4
#define PERFMON_EXT_PEBS_COUNTERS 5

/* IA32_PEBS_INDEX: byte offsets from the start of the buffer; the lowest 4 bits are 0 */
#define INDEX_WR		GENMASK_ULL(26, 4)
#define INDEX_EN		BIT_ULL(32)
#define INDEX_THRESHOLD		GENMASK_ULL(58, 36)
#define INDEX_UNIT_SHIFT	4

/* IA32_PMC_GPn_CFG_C */
#define CFG_C_GROUPS_SHIFT	32
#define CFG_C_EN		BIT_ULL(63)

/**
 * x86_pebs_arch_describe() - find out which groups and counters architectural PEBS has
 * @desc: the PMU description; its counters are known
 *
 * On a CPU of this CPU type, IRQs off.
 *
 * Return: NULL, or the reason why there is no PEBS
 */
__corepmu_init const char *x86_pebs_arch_describe(struct x86_desc *desc)
{
	u32 eax, ebx, ecx, edx;
	u64 value;

	if (boot_cpu_data.cpuid_level < CPUID_PERFMON_EXT)
		return "samples have skid: CPUID reports no architectural PEBS";
	cpuid_count(CPUID_PERFMON_EXT, 0, &eax, &ebx, &ecx, &edx);
	if ((eax & EAX_HAS_PEBS) != EAX_HAS_PEBS)
		return "samples have skid: CPUID reports no architectural PEBS";

	cpuid_count(CPUID_PERFMON_EXT, PERFMON_EXT_PEBS, &eax, &ebx, &ecx, &edx);
	desc->pebs_groups = (u64)ebx << CFG_C_GROUPS_SHIFT;
	cpuid_count(CPUID_PERFMON_EXT, PERFMON_EXT_PEBS_COUNTERS, &eax, &ebx, &ecx, &edx);
	desc->pebs_counters = (eax | (u64)ecx << FIXED_COUNTER_BASE) & desc->pmu->counters;
	desc->pebs_dist = (ebx | (u64)edx << FIXED_COUNTER_BASE) & desc->pebs_counters;
	if (!desc->pebs_counters)
		return "samples have skid: no counter supports PEBS";
	if (x86_read_msr_safe(MSR_PEBS_BASE, &value) ||
	    x86_read_msr_safe(MSR_PEBS_INDEX, &value) ||
	    x86_read_msr_safe(x86_cfg_c_msr(__ffs64(desc->pebs_counters)), &value))
		return "samples have skid: the hypervisor hides the PEBS registers";

	return NULL;
}

/**
 * x86_pebs_arch_fetch() - read the write position of the CPU from IA32_PEBS_INDEX
 * @ds: buffer positions of this CPU; @ds->index is set
 *
 * PEBS is stopped. IRQs off, or NMI.
 */
void x86_pebs_arch_fetch(struct x86_ds *ds)
{
	ds->index = ds->base + (x86_read_msr(MSR_PEBS_INDEX) & INDEX_WR);
}

/**
 * x86_pebs_arch_rewind() - set the write position back to the start of the buffer
 *
 * PEBS is stopped. IRQs off, or NMI.
 */
void x86_pebs_arch_rewind(void)
{
	this_cpu_inc(x86_pebs.rewinds);
	x86_write_msr(MSR_PEBS_INDEX, this_cpu_read(x86_pebs.index));
}

/*
 * Write IA32_PEBS_INDEX, which includes the write position. An NMI may drain the buffer between the
 * read of the position and this write. The position is stale then, and all records would become
 * samples again. So write position 0: the counters are stopped, so there are no new records.
 */
static void write_index(u64 index, u64 wr, unsigned int rewinds)
{
	x86_write_msr(MSR_PEBS_INDEX, index | wr);
	if (unlikely(this_cpu_read(x86_pebs.rewinds) != rewinds))
		x86_write_msr(MSR_PEBS_INDEX, index);
}

/**
 * x86_pebs_arch_start() - enable PEBS
 * @cpuc: state of this CPU
 * @ds: buffer positions of this CPU: write position and threshold
 * @enable: counters to enable PEBS for, a bit each
 * @rewinds: x86_pebs.rewinds at the last update of @ds
 *
 * x86_pebs.reload is set. The counters are stopped. IRQs off, or NMI.
 */
void x86_pebs_arch_start(struct corepmu_cpu *cpuc, const struct x86_ds *ds, u64 enable,
			 unsigned int rewinds)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	u64 left, index;

	/* A counter that has lost its event must not stay in records. */
	for (left = cpuc->used | p->recorded.allowed; left; left &= left - 1) {
		const struct perf_event *event;
		int idx = __ffs64(left);
		u64 cfg_c = 0;

		event = cpuc->events[idx];
		if (event && (event->hw.flags & COREPMU_EVENT_ACR) &&
		    !x86_pebs_is_precise(event))
			continue;
		if (enable & BIT_ULL(idx))
			cfg_c = CFG_C_EN |
				x86_pebs_arch_groups(x86_pebs_data(event) |
						     (p->data_cfg & PEBS_DATA_WHICH)) |
				(-p->reload[idx] & CFG_C_RELOAD);
		if (p->recorded.members & desc->pebs_recorded & BIT_ULL(idx))
			cfg_c |= PEBS_ARCH_ALLOW;
		x86_set_cfg_c(idx, cfg_c);
	}
	p->recorded.allowed = p->recorded.members;

	index = INDEX_EN | FIELD_PREP(INDEX_THRESHOLD,
				      (ds->threshold - ds->base) >> INDEX_UNIT_SHIFT);
	p->index = index;
	write_index(index, (ds->index - ds->base) & INDEX_WR, rewinds);
}

/**
 * x86_pebs_arch_stop() - disable PEBS; records in the buffer stay
 *
 * The counters are stopped: without PEBS, an overflow of one would raise a PMI. IRQs off, or NMI.
 */
void x86_pebs_arch_stop(void)
{
	unsigned int rewinds = this_cpu_read(x86_pebs.rewinds);
	u64 index = x86_read_msr(MSR_PEBS_INDEX);

	this_cpu_write(x86_pebs.index, 0);
	if (index & INDEX_EN)
		write_index(0, index & INDEX_WR, rewinds);
}

/**
 * x86_pebs_arch_point() - set the address of this CPU's buffer
 * @page: X86_PEBS_BUFFER_SIZE bytes of memory, or NULL
 *
 * IRQs off; PEBS is stopped.
 */
void x86_pebs_arch_point(struct page *page)
{
	x86_write_msr(MSR_PEBS_INDEX, 0);
	x86_write_msr(MSR_PEBS_BASE,
		      page ? page_to_phys(page) | get_order(X86_PEBS_BUFFER_SIZE) : 0);
}

/**
 * x86_pebs_arch_reset() - disable PEBS and clear the CFG_C registers of all counters
 * @desc: the PMU description
 *
 * IRQs off, or on the CPU; the counters are stopped.
 */
void x86_pebs_arch_reset(const struct x86_desc *desc)
{
	u64 left;

	x86_pebs_arch_stop();
	/* Also counters without PEBS can have PEBS_ARCH_ALLOW. */
	for (left = desc->pebs_counters | desc->pebs_recorded; left; left &= left - 1) {
		x86_forget_cfg_c(__ffs64(left));
		x86_set_cfg_c(__ffs64(left), 0);
	}
}
