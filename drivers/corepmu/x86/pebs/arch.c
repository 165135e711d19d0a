// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: architectural precise samples of Intel's CPUs
 *
 * CPUID leaf 0x23, subleaves 4 and 5, says which groups records may have and of which counters
 * there are any. They are written to physical memory, and each counter has a register that says
 * what its records are to have and where it goes on from: bits 31 to 0, with all bits above them
 * set, or 0. Linux 6.19's arch/x86/include/asm/msr-index.h and perf_event.h, and
 * intel_pmu_enable_event_ext() and init_arch_pebs_on_cpu() in arch/x86/events/intel.
 *
 * struct x86_ds is software's alone here, with the positions as addresses.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include <corepmu/pmu.h>
#include <corepmu/precise.h>

#include "../msr.h"
#include "pebs.h"
#include "../x86.h"

#define CPUID_PERFMON_EXT	0x23
#define EAX_HAS_PEBS		GENMASK(5, 4)
#define PERFMON_EXT_PEBS	4
#define PERFMON_EXT_PEBS_COUNTERS 5

/* IA32_PEBS_INDEX: positions from the start of the buffer, of which the lowest 4 bits are 0 */
#define INDEX_WR		GENMASK_ULL(26, 4)
#define INDEX_EN		BIT_ULL(32)
#define INDEX_THRESHOLD		GENMASK_ULL(58, 36)
#define INDEX_UNIT_SHIFT	4

/* IA32_PMC_GPn_CFG_C */
#define CFG_C_RELOAD		GENMASK_ULL(31, 0)
#define CFG_C_GROUPS_SHIFT	32
#define CFG_C_EN		BIT_ULL(63)

/**
 * x86_pebs_arch_describe() - find out what architectural records there are
 * @desc: the PMU, whose counters are described
 *
 * On a CPU of the kind, IRQs off.
 *
 * Return: NULL, or why there are none
 */
const char *x86_pebs_arch_describe(struct x86_desc *desc)
{
	u32 eax, ebx, ecx, edx;
	u64 value;

	if (boot_cpu_data.cpuid_level < CPUID_PERFMON_EXT)
		return "samples have skid: CPUID does not tell of the CPU's records (PEBS)";
	cpuid_count(CPUID_PERFMON_EXT, 0, &eax, &ebx, &ecx, &edx);
	if ((eax & EAX_HAS_PEBS) != EAX_HAS_PEBS)
		return "samples have skid: CPUID does not tell of the CPU's records (PEBS)";

	cpuid_count(CPUID_PERFMON_EXT, PERFMON_EXT_PEBS, &eax, &ebx, &ecx, &edx);
	desc->pebs_groups = (u64)ebx << CFG_C_GROUPS_SHIFT;
	cpuid_count(CPUID_PERFMON_EXT, PERFMON_EXT_PEBS_COUNTERS, &eax, &ebx, &ecx, &edx);
	desc->pebs_counters = (eax | (u64)ecx << FIXED_COUNTER_BASE) & desc->pmu->counters;
	desc->pebs_dist = (ebx | (u64)edx << FIXED_COUNTER_BASE) & desc->pebs_counters;
	if (!desc->pebs_counters)
		return "samples have skid: no counter writes records (PEBS)";
	if (x86_read_msr_safe(MSR_PEBS_BASE, &value) ||
	    x86_read_msr_safe(MSR_PEBS_INDEX, &value) ||
	    x86_read_msr_safe(x86_cfg_c_msr(__ffs64(desc->pebs_counters)), &value))
		return "samples have skid: this virtual machine has no registers of PEBS";

	return NULL;
}

/**
 * x86_pebs_arch_fetch() - how far has the CPU written?
 * @ds: of this CPU
 *
 * Nothing is being recorded. IRQs off, or NMI.
 */
void x86_pebs_arch_fetch(struct x86_ds *ds)
{
	ds->index = ds->base + (x86_read_msr(MSR_PEBS_INDEX) & INDEX_WR);
}

/**
 * x86_pebs_arch_rewind() - the next record is the first one
 *
 * Nothing is being recorded. IRQs off, or NMI.
 */
void x86_pebs_arch_rewind(void)
{
	this_cpu_inc(x86_pebs.rewinds);
	x86_write_msr(MSR_PEBS_INDEX, this_cpu_read(x86_pebs.index));
}

/*
 * How far has been written is part of what is written to the register. An NMI that comes between
 * reading and writing it makes samples of all records, and what has been read is too old: they
 * would become samples again. Counters stand still, so there are no others.
 */
static void write_index(u64 index, u64 wr, unsigned int rewinds)
{
	x86_write_msr(MSR_PEBS_INDEX, index | wr);
	if (unlikely(this_cpu_read(x86_pebs.rewinds) != rewinds))
		x86_write_msr(MSR_PEBS_INDEX, index);
}

/**
 * x86_pebs_arch_start() - have records written
 * @cpuc: this CPU's state
 * @ds: of this CPU: where the next one is written, and when there is to be an interrupt
 * @enable: counters of which there are to be records
 * @rewinds: x86_pebs.rewinds of when @ds was brought up to date
 *
 * x86_pebs.reload is known. Counters stand still. IRQs off, or NMI.
 */
void x86_pebs_arch_start(struct corepmu_cpu *cpuc, const struct x86_ds *ds, u64 enable,
			 unsigned int rewinds)
{
	struct x86_pebs *p = this_cpu_ptr(&x86_pebs);
	u64 left, index;

	for (left = cpuc->used; left; left &= left - 1) {
		const struct perf_event *event;
		int idx = __ffs64(left);
		u64 cfg_c = 0;

		event = cpuc->events[idx];
		if (event && (event->hw.flags & COREPMU_EVENT_RELOAD) &&
		    !x86_pebs_is_precise(event))
			continue;
		if (enable & BIT_ULL(idx))
			cfg_c = CFG_C_EN | x86_pebs_arch_groups(x86_pebs_data(event)) |
				(-p->reload[idx] & CFG_C_RELOAD);
		x86_set_cfg_c(idx, cfg_c);
	}

	index = INDEX_EN | FIELD_PREP(INDEX_THRESHOLD,
				      (ds->threshold - ds->base) >> INDEX_UNIT_SHIFT);
	p->index = index;
	write_index(index, (ds->index - ds->base) & INDEX_WR, rewinds);
}

/**
 * x86_pebs_arch_stop() - have no records written; those that there are stay
 *
 * Counters stand still: without, one would overflow as any other. IRQs off, or NMI.
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
 * x86_pebs_arch_point() - tell this CPU where its records are written
 * @page: X86_PEBS_BUFFER_SIZE of memory, or NULL
 *
 * IRQs off; nothing is being recorded.
 */
void x86_pebs_arch_point(struct page *page)
{
	x86_write_msr(MSR_PEBS_INDEX, 0);
	x86_write_msr(MSR_PEBS_BASE,
		      page ? page_to_phys(page) | get_order(X86_PEBS_BUFFER_SIZE) : 0);
}

/**
 * x86_pebs_arch_reset() - nothing is recorded, whatever the registers had
 * @desc: the counters
 *
 * IRQs off, or on the CPU; counters stand still.
 */
void x86_pebs_arch_reset(const struct x86_desc *desc)
{
	u64 left;

	x86_pebs_arch_stop();
	for (left = desc->pebs_counters; left; left &= left - 1) {
		x86_forget_cfg_c(__ffs64(left));
		x86_set_cfg_c(__ffs64(left), 0);
	}
}
