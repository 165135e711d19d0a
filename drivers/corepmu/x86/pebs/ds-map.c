// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel PEBS: map the buffer into the kernel's cpu_entry_area
 *
 * alloc_pebs_buffer() and ds_update_cea() in arch/x86/events/intel/ds.c do the same. On Intel CPUs
 * the kernel allocates the page tables at boot.
 */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/static_call.h>

#include <asm/cpu_entry_area.h>
#include <asm/tlbflush.h>

#include <corepmu/ksyms.h>
#include <corepmu/module.h>

#include "../msr.h"
#include "pebs.h"
#include "../x86.h"

DEFINE_STATIC_CALL_NULL(corepmu_set_pte, cea_set_pte);
/* asm/tlbflush.h does not declare flush_tlb_kernel_range() to modules. */
static void flush_none(unsigned long start, unsigned long end)
{
}

DEFINE_STATIC_CALL(corepmu_flush_tlb, flush_none);

static char *buffer_of(int cpu)
{
	return get_cpu_entry_area(cpu)->cpu_debug_buffers.pebs_buffer;
}

/**
 * x86_ds_find() - look up the kernel functions that map a debug store
 *
 * Process context.
 *
 * Return: 0, or -ENOENT if the kernel hides them
 */
int __corepmu_init x86_ds_find(void)
{
	unsigned long set = corepmu_find_symbol("cea_set_pte");
	unsigned long flush = corepmu_find_symbol("flush_tlb_kernel_range");

	BUILD_BUG_ON(sizeof(struct x86_ds) > sizeof(struct debug_store));
	BUILD_BUG_ON(X86_PEBS_BUFFER_SIZE > PEBS_BUFFER_SIZE);

	if (!set || !flush)
		return -ENOENT;
	static_call_update(corepmu_set_pte, (typeof(cea_set_pte) *)set);
	static_call_update(corepmu_flush_tlb, (typeof(flush_none) *)flush);

	return 0;
}

/**
 * x86_ds_area() - return the debug store of a CPU
 * @cpu: the CPU
 *
 * Return: the DS save area
 */
struct x86_ds *x86_ds_area(int cpu)
{
	return (struct x86_ds *)&get_cpu_entry_area(cpu)->cpu_debug_store;
}

/**
 * x86_ds_map() - map a CPU's buffer
 * @cpu: the CPU
 * @page: X86_PEBS_BUFFER_SIZE bytes of memory
 *
 * Process context, IRQs on.
 *
 * Return: linear address of the buffer, for the CPU's writes and the driver's reads
 */
void *x86_ds_map(int cpu, struct page *page)
{
	char *buffer = buffer_of(cpu);
	unsigned long at;

	preempt_disable();
	for (at = 0; at < X86_PEBS_BUFFER_SIZE; at += PAGE_SIZE)
		static_call_cond(corepmu_set_pte)(buffer + at, page_to_phys(page) + at,
						  PAGE_KERNEL);
	static_call(corepmu_flush_tlb)((unsigned long)buffer,
				       (unsigned long)buffer + X86_PEBS_BUFFER_SIZE);
	preempt_enable();

	return buffer;
}

/**
 * x86_ds_unmap() - undo x86_ds_map()
 * @cpu: the CPU
 *
 * Process context, IRQs on.
 */
void x86_ds_unmap(int cpu)
{
	char *buffer = buffer_of(cpu);
	unsigned long at;

	preempt_disable();
	for (at = 0; at < X86_PEBS_BUFFER_SIZE; at += PAGE_SIZE)
		static_call_cond(corepmu_set_pte)(buffer + at, 0, PAGE_NONE);
	static_call(corepmu_flush_tlb)((unsigned long)buffer,
				       (unsigned long)buffer + X86_PEBS_BUFFER_SIZE);
	preempt_enable();
}
