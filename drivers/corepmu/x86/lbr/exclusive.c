// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: exclude Intel PT and BTS while events use branch records or the debug store
 *
 * The kernel counts the events of three users of the debug facilities: branch records, BTS (the
 * PMU intel_bts), and Intel PT (intel_pt). x86_add_exclusive() of arch/x86/events/core.c rejects
 * an event while another user has one. Two conflicts matter here:
 *
 * - From Linux 6.16 on intel_bts exists without the built-in driver, unless page table isolation is
 *   in use (bts_init() in arch/x86/events/intel/bts.c). Opening an event of intel_bts clears the
 *   debug stores in the cpu_entry_area, which x86/pebs/ds.c uses.
 * - Before Ice Lake the cores cannot trace by Intel PT and record branches at once.
 *
 * corepmu counts its events with branch records as users of branch records, and its events with a
 * debug store only if intel_bts exists. The built-in driver counts only its events with branch
 * records. If the built-in driver is present, corepmu counts none: while such an event is counted,
 * the NMI handler of the built-in driver accesses the registers.
 *
 * On CPUs where branch records and Intel PT work together, this driver sets the kernel's
 * lbr_pt_coexist at load. If an event of Intel PT or intel_bts is open at load, the driver sets the
 * flag with the first event that the driver can count. The kernel no longer counts Intel PT events
 * then. The flag stays set at unload: otherwise the kernel would subtract open, uncounted events at
 * their close. Without BTF, Intel PT and branch records exclude each other on all CPUs.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/printk.h>
#include <linux/static_call.h>

#include <corepmu/ksyms.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "../btf.h"
#include "../intel/intel.h"
#include "../msr.h"
#include "../x86.h"
#include "lbr.h"

/* x86_lbr_exclusive_lbr of arch/x86/events/perf_event.h, which is private to the kernel */
#define EXCLUSIVE_LBR	0

static int add_none(unsigned int what)
{
	return 0;
}

static void del_none(unsigned int what)
{
}

DEFINE_STATIC_CALL(x86_exclusive_add, add_none);
DEFINE_STATIC_CALL(x86_exclusive_del, del_none);

/*
 * x86_pmu.lbr_pt_coexist of the kernel. NULL where Intel PT and branch records exclude each other,
 * or if BTF lacks the member.
 */
static bool *pt_coexists;

static bool is_known;

/* The PMU intel_bts may exist. */
static bool has_bts;

/*
 * Count an event, and let Intel PT coexist. Intel PT has no counted event at this moment, since
 * such an event excludes this one. So the kernel's count of Intel PT's events stays balanced.
 */
static int count_event(void)
{
	int ret = static_call(x86_exclusive_add)(EXCLUSIVE_LBR);

	if (!ret && pt_coexists && !READ_ONCE(*pt_coexists))
		WRITE_ONCE(*pt_coexists, true);

	return ret;
}

/**
 * x86_exclusive_is_known() - check whether the kernel can account events as users of branch records
 *
 * Process context, after x86_exclusive_init().
 *
 * Return: false if the kernel hides the functions: then no such event may be opened
 */
bool __corepmu_init x86_exclusive_is_known(void)
{
	return is_known;
}

/**
 * x86_exclusive_init() - look up the kernel functions that account events
 * @desc: description of one of the PMUs, without branch records and PEBS yet
 *
 * Process context.
 */
void __corepmu_init x86_exclusive_init(const struct x86_desc *desc)
{
	unsigned long add, del;

	is_known = true;
	static_call_update(x86_exclusive_add, add_none);
	static_call_update(x86_exclusive_del, del_none);
	pt_coexists = NULL;
	has_bts = false;
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL || desc->shares_counters)
		return;

	add = corepmu_find_symbol("x86_add_exclusive");
	del = corepmu_find_symbol("x86_del_exclusive");
	is_known = add && del;
	if (!is_known)
		return;
	static_call_update(x86_exclusive_add, (typeof(x86_add_exclusive) *)add);
	static_call_update(x86_exclusive_del, (typeof(x86_del_exclusive) *)del);
	/* As corepmu_resolve_for_bts() in module/ksyms.c */
	has_bts = boot_cpu_has(X86_FEATURE_BTS) && !boot_cpu_has(X86_FEATURE_PTI) &&
		  corepmu_find_symbol("intel_pebs_init");
	if (intel_lbr_pt_coexist(desc->uarch))
		pt_coexists = x86_pmu_member("lbr_pt_coexist", sizeof(*pt_coexists));
	/* Set the flag now, unless an event of Intel PT or intel_bts is open. */
	if (pt_coexists && !count_event())
		x86_exclusive_close();
}

/**
 * x86_exclusive_open() - count an event with branch records
 *
 * Process context.
 *
 * Return: 0, or -EBUSY after corepmu_refuse()
 */
int x86_exclusive_open(void)
{
	if (count_event())
		return corepmu_refuse(-EBUSY,
				      "branch records and precise_ip exclude intel_bts and intel_pt: close the open event of these PMUs");

	return 0;
}

/**
 * x86_exclusive_close() - undo x86_exclusive_open()
 *
 * Process context.
 */
void x86_exclusive_close(void)
{
	static_call(x86_exclusive_del)(EXCLUSIVE_LBR);
}

/**
 * x86_exclusive_open_store() - count an event with a debug store, if intel_bts may exist
 *
 * Process context.
 *
 * Return: 0, or -EBUSY after corepmu_refuse()
 */
int x86_exclusive_open_store(void)
{
	return has_bts ? x86_exclusive_open() : 0;
}

/**
 * x86_exclusive_close_store() - undo x86_exclusive_open_store()
 *
 * Process context.
 */
void x86_exclusive_close_store(void)
{
	if (has_bts)
		x86_exclusive_close();
}
