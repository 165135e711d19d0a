/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: Intel PEBS: the debug store (DS) and the buffer for records
 */
#ifndef _COREPMU_X86_PEBS_DS_H
#define _COREPMU_X86_PEBS_DS_H

#include <linux/percpu.h>
#include <linux/types.h>

struct page;

/* Indices in x86_ds.reset: general-purpose counters from 0 on, fixed counters from these on */
#define DS_RESET_FIXED_FMT4	8
#define DS_RESET_FIXED		32
#define DS_NR_RESETS		48

/**
 * struct x86_ds - the DS save area
 * @bts: fields for branch trace records (BTS), unused
 * @base: address of the first PEBS record
 * @index: address where the CPU writes the next record
 * @maximum: end address of the buffer; the CPU writes no record from here on
 * @threshold: address; the CPU raises a PMI when @index reaches it
 * @reset: values that the CPU writes to the counters after a record
 *
 * SDM volume 3, "Debug Store (DS) Mechanism", figure "Format of the DS save area".
 */
struct x86_ds {
	u64	bts[4];
	u64	base;
	u64	index;
	u64	maximum;
	u64	threshold;
	u64	reset[DS_NR_RESETS];
};

/* Bytes, as the kernel's PEBS buffer in the cpu_entry_area (asm/intel_ds.h); a power of two */
#define X86_PEBS_BUFFER_SIZE	(PAGE_SIZE << 4)

/* ds.c */
void x86_ds_set_physical(bool physical);
int x86_ds_open(void);
void x86_ds_close(void);
void x86_ds_point(bool on);

DECLARE_PER_CPU(struct x86_ds *, x86_debug_store);

/**
 * x86_ds_this() - return the debug store of this CPU
 *
 * IRQs off, or NMI.
 *
 * Return: the debug store, or NULL while there is no precise event
 */
static inline struct x86_ds *x86_ds_this(void)
{
	return this_cpu_read(x86_debug_store);
}

/* ds-map.c */
int x86_ds_find(void);
struct x86_ds *x86_ds_area(int cpu);
void *x86_ds_map(int cpu, struct page *page);
void x86_ds_unmap(int cpu);

#endif /* _COREPMU_X86_PEBS_DS_H */
