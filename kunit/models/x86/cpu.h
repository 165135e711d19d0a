/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: description of an x86 CPU for its model
 */
#ifndef _COREPMU_KUNIT_X86_CPU_H
#define _COREPMU_KUNIT_X86_CPU_H

#include <linux/types.h>

/**
 * struct x86_model_cpu - description of a CPU
 * @name: name in messages
 * @amd: the CPU has AMD's counters; otherwise Intel's
 * @hygon: a CPU of Hygon, which has AMD's counters
 * @zhaoxin: a CPU of Zhaoxin, which has the registers of Intel's version 2; see intel.c
 * @family: family of the CPU
 * @model: model in the family
 * @core_type: CPUID.1AH:EAX[31:24], 0 without this leaf
 * @native: CPUID.1AH:EAX[23:0]
 * @version: Intel: version of architectural performance monitoring;
 *	AMD: 0 legacy, 1 core extension, 2 PerfMonV2
 * @nr_gp: number of general-purpose counters
 * @reported_gp: number that CPUID leaf 0AH reports, if not @nr_gp (Intel)
 * @nr_fixed: number of fixed counters, in CPUID.0AH:EDX
 * @hides_fixed: CPUID reports no fixed counters (Intel, version 2)
 * @fixed_map: bitmap of fixed counters, CPUID.0AH:ECX (Intel, version 5)
 * @gp_width: width of a general-purpose counter
 * @fixed_width: width of a fixed counter
 * @holes: bitmap of missing counters below @nr_gp (Intel, version 6)
 * @full_width: all bits of a counter can be written (Intel)
 * @nr_events: number of architectural events that @missing covers (Intel)
 * @missing: bitmap of missing architectural events (Intel)
 * @any: AnyThread: counters can count both hyperthreads (Intel, version 3)
 * @rtm: the CPU has transactions
 * @bare: not a virtual machine: X86_FEATURE_HYPERVISOR is 0
 * @trace: the CPU has Intel PT and branch traces (BTS)
 * @virt: the CPU can run guests
 * @amx: the CPU has AMX, and AVX-VNNI
 * @hybrid: the machine has CPUs of several types
 * @hides_metrics: PERF_CAPABILITIES lacks the bit of PERF_METRICS
 * @metrics_clear: a user-space read of PERF_METRICS can clear it
 * @tsx_force_abort: microcode takes counter 3 for transactions, or aborts them
 * @tsx_deprecated: transactions always abort
 * @metrics: parts of the slots in PERF_METRICS (Intel)
 * @smm_freeze: DEBUGCTL can freeze counters in SMM (Intel)
 * @lbr_format: format of branch records in PERF_CAPABILITIES (Intel)
 * @arch_lbr: architectural branch records (Intel)
 * @lbr_ecx: CPUID.1CH:ECX (Intel)
 * @lbr_nr: number of branch records
 * @lbr_errata: MSR_LBR_SELECT loses calls if it suppresses jumps (Nehalem, Westmere)
 * @pebs: format of the records of precise events, 0 for none (Intel)
 * @lbr_freeze: an overflow can freeze the branch records (AMD)
 * @stale_monitors: the CPU has errata AAK100, AAP53 and BD53, see intel.c
 * @extra_regs: present extra registers, a bit each, in this order: MSR_OFFCORE_RSP_0 and 1,
 *	MSR_PEBS_FRONTEND, MSR_OMR_0 to 3, and MSR_SNOOP_RSP_0 and 1 (Intel)
 */
struct x86_model_cpu {
	const char	*name;
	bool		amd;
	bool		hygon;
	bool		zhaoxin;
	unsigned int	family;
	unsigned int	model;
	unsigned int	core_type;
	unsigned int	native;
	unsigned int	version;
	unsigned int	nr_gp;
	unsigned int	reported_gp;
	u32		holes;
	unsigned int	nr_fixed;
	bool		hides_fixed;
	u32		fixed_map;
	unsigned int	gp_width;
	unsigned int	fixed_width;
	bool		full_width;
	unsigned int	nr_events;
	u32		missing;
	bool		any;
	bool		rtm;
	bool		bare;
	bool		trace;
	bool		virt;
	bool		amx;
	bool		hybrid;
	bool		hides_metrics;
	bool		metrics_clear;
	bool		tsx_force_abort;
	bool		tsx_deprecated;
	bool		smm_freeze;
	unsigned int	metrics;
	unsigned int	lbr_format;
	bool		arch_lbr;
	u32		lbr_ecx;
	unsigned int	lbr_nr;
	bool		lbr_errata;
	bool		lbr_freeze;
	unsigned int	pebs;
	bool		stale_monitors;
	unsigned int	extra_regs;
};

#endif /* _COREPMU_KUNIT_X86_CPU_H */
