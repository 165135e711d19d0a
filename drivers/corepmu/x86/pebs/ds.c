// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel PEBS: the debug store and the buffer
 *
 * The CPU writes records to linear addresses, at any time. With page table isolation the addresses
 * must also be mapped while user space runs. The kernel's cpu_entry_area has room for the debug
 * store (percpu_setup_debug_store() in arch/x86/mm/cpu_entry_area.c), which the built-in driver
 * and intel_bts use. Without the built-in driver, exclusive.c excludes intel_bts while there are
 * precise events. The buffers exist, and IA32_DS_AREA is set, only while there are precise events.
 *
 * In a KVM guest the hardware would write records to the same address of the guest. So this driver
 * answers KVM's question for MSR values before each VM entry (x86/kvm/vmx-msrs.c). If it cannot
 * answer, a set CR4.VMXE excludes precise events: the driver checks it at open, except for
 * inherited events, and at each start of the PMU (x86/kvm/vmx.c).
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <corepmu/module.h>

#include "../lbr/lbr.h"
#include "../msr.h"
#include "pebs.h"
#include "../x86.h"

static DEFINE_MUTEX(ds_lock);
static unsigned int ds_users;

/* The debug store and the buffer of each CPU, while there are precise events */
DEFINE_PER_CPU(struct x86_ds *, x86_debug_store);
static DEFINE_PER_CPU(struct page *, ds_buffer);

/* Records go to physical memory (arch/core.c): struct x86_ds is for the driver only. */
static bool is_physical;

/**
 * x86_ds_set_physical() - choose where the CPU writes records
 * @physical: true for physical memory, false for the cpu_entry_area
 *
 * Process context, while there is no precise event.
 */
void __corepmu_init x86_ds_set_physical(bool physical)
{
	is_physical = physical;
}

/**
 * x86_ds_point() - write the address of the debug store to this CPU's register
 * @on: false to write 0 instead
 *
 * IRQs off, or on the CPU; PEBS is stopped.
 */
void x86_ds_point(bool on)
{
	if (is_physical) {
		x86_pebs_arch_point(on ? this_cpu_read(ds_buffer) : NULL);
		return;
	}
	if (!x86_ds_this())
		return;
	x86_write_msr(MSR_IA32_DS_AREA, on ? (unsigned long)x86_ds_this() : 0);
}

static void point_this_cpu(void *on)
{
	if (x86_this_pmu())
		x86_ds_point(on);
}

static int map_cpu(int cpu)
{
	struct x86_pebs_scratch *scratch;
	struct x86_ds *ds;
	struct page *page;
	void *buffer;

	scratch = kzalloc_node(sizeof(*scratch), GFP_KERNEL, cpu_to_node(cpu));
	if (!scratch)
		return -ENOMEM;

	per_cpu(x86_pebs.scratch, cpu) = scratch;
	page = alloc_pages_node(cpu_to_node(cpu), GFP_KERNEL | __GFP_ZERO,
				get_order(X86_PEBS_BUFFER_SIZE));
	if (!page)
		return -ENOMEM;

	per_cpu(ds_buffer, cpu) = page;
	if (is_physical) {
		ds = kmalloc_node(sizeof(*ds), GFP_KERNEL, cpu_to_node(cpu));
		buffer = page_address(page);
	} else {
		ds = x86_ds_area(cpu);
		buffer = x86_ds_map(cpu, page);
	}
	if (!ds)
		return -ENOMEM;
	memset(ds, 0, sizeof(*ds));
	ds->base = (unsigned long)buffer;
	ds->index = ds->base;
	ds->maximum = ds->base + X86_PEBS_BUFFER_SIZE;
	ds->threshold = ds->base;
	per_cpu(x86_debug_store, cpu) = ds;

	return 0;
}

static void unmap_all(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct x86_ds *ds = per_cpu(x86_debug_store, cpu);
		struct page *page = per_cpu(ds_buffer, cpu);

		per_cpu(x86_debug_store, cpu) = NULL;
		kfree(per_cpu(x86_pebs.scratch, cpu));
		per_cpu(x86_pebs.scratch, cpu) = NULL;
		if (!page)
			continue;
		per_cpu(ds_buffer, cpu) = NULL;
		if (is_physical) {
			kfree(ds);
		} else {
			memset(ds, 0, sizeof(*ds));
			x86_ds_unmap(cpu);
		}
		__free_pages(page, get_order(X86_PEBS_BUFFER_SIZE));
	}
}

static int map_all(void)
{
	int cpu, ret;

	for_each_possible_cpu(cpu) {
		ret = map_cpu(cpu);
		if (ret) {
			unmap_all();
			return ret;
		}
	}

	return 0;
}

/**
 * x86_ds_open() - set up the debug store of all CPUs, for one more event
 *
 * A CPU that comes online later gets the address from x86_pebs_reset(). Process context.
 *
 * Return: 0, -ENOMEM, or -EBUSY after corepmu_refuse() while intel_bts has the debug store
 */
int x86_ds_open(void)
{
	int ret;

	/* Architectural PEBS does not use the debug store. */
	ret = is_physical ? 0 : x86_exclusive_open_store();
	if (ret)
		return ret;

	mutex_lock(&ds_lock);
	if (!ds_users) {
		cpus_read_lock();
		ret = map_all();
		if (!ret)
			on_each_cpu(point_this_cpu, (void *)true, 1);
		cpus_read_unlock();
	}
	if (!ret)
		ds_users++;
	mutex_unlock(&ds_lock);
	if (ret && !is_physical)
		x86_exclusive_close_store();

	return ret;
}

/**
 * x86_ds_close() - undo x86_ds_open()
 *
 * PEBS is stopped on all CPUs when there is no precise event. Process context.
 */
void x86_ds_close(void)
{
	mutex_lock(&ds_lock);
	if (!--ds_users) {
		cpus_read_lock();
		on_each_cpu(point_this_cpu, NULL, 1);
		unmap_all();
		cpus_read_unlock();
	}
	mutex_unlock(&ds_lock);
	if (!is_physical)
		x86_exclusive_close_store();
}
