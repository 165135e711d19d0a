// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel PEBS: find out which formats and features the machine has
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/smp.h>

#include <asm/cpufeature.h>
#include <asm/processor.h>

#include <corepmu/ksyms.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "pebs.h"
#include "../intel/intel.h"
#include "../lbr/lbr.h"
#include "../msr.h"
#include "../x86.h"

static bool __corepmu_init format_is_known(const struct x86_desc *desc, unsigned int format,
					   bool all)
{
	if (format == PEBS_FORMAT_SKYLAKE)
		return desc->uarch == &intel_uarches[UARCH_SKYLAKE] ||
		       desc->uarch == &intel_uarches[UARCH_GOLDMONT] ||
		       desc->uarch == &intel_uarches[UARCH_GOLDMONT_PLUS];

	return format >= PEBS_FORMAT_ADAPTIVE && format <= PEBS_FORMAT_LAST && all;
}

static bool __corepmu_init has_branches(const struct x86_desc *desc)
{
	return desc->pmu->nr_branches && desc->pmu->branch_backend->parse;
}

static __corepmu_init const char *ask_debug_store(const struct x86_desc *desc, unsigned int format)
{
	u64 value;

	if (!boot_cpu_has(X86_FEATURE_PEBS) || !boot_cpu_has(X86_FEATURE_DTES64) ||
	    !desc->global_ctrl)
		return "samples have skid: the CPU has no PEBS";

	if (!format_is_known(desc, format, desc->capabilities & PERF_CAP_PEBS_ALL))
		return "samples have skid: this driver does not know the CPU's PEBS format";
	if (x86_read_msr_safe(MSR_IA32_PEBS_ENABLE, &value) ||
	    x86_read_msr_safe(MSR_IA32_DS_AREA, &value) ||
	    (format >= PEBS_FORMAT_ADAPTIVE && !x86_msr_keeps(MSR_PEBS_DATA_CFG, PEBS_DATA_GPRS)))
		return "samples have skid: the hypervisor hides the PEBS registers";

	return NULL;
}

/* Any bit of the load-latency threshold, to test whether the register keeps it */
#define LATENCY_PROBE		5

/*
 * Describe PEBS of this CPU from CPUID and its registers. Return NULL, or why PEBS is not
 * available. On hybrid CPUs the function runs on a CPU of the type, IRQs off.
 */
static __corepmu_init const char *ask_this_cpu(struct x86_desc *desc)
{
	unsigned int format = FIELD_GET(PERF_CAP_PEBS_VERSION, desc->capabilities);
	const char *reason;

	reason = format == PEBS_FORMAT_ARCH && desc->global_ctrl ?
		 x86_pebs_arch_describe(desc) : ask_debug_store(desc, format);
	if (!reason)
		desc->pebs_latency = x86_msr_keeps(MSR_PEBS_LD_LAT_THRESHOLD,
						   BIT_ULL(LATENCY_PROBE));

	return reason;
}

struct question {
	struct x86_desc	*desc;
	const char	*answer;
};

static void __corepmu_init answer_question(void *data)
{
	struct question *question = data;

	question->answer = ask_this_cpu(question->desc);
}

/* Run on a CPU of the right type: modprobe may run on another. */
static __corepmu_init const char *ask_cpu(struct x86_desc *desc)
{
	struct question question = { .desc = desc };

	if (smp_call_function_any(&desc->pmu->supported_cpus, answer_question, &question, 1))
		return "samples have skid: no CPU of this CPU type is online";

	return question.answer;
}

/*
 * Return the counters whose values records can have. Format 6 has all counters; CPUID lists the
 * architectural groups. intel_pmu_has_pebs_counter_group() in arch/x86/events/intel/core.c
 */
static u64 __corepmu_init recorded_counters(const struct x86_desc *desc)
{
	u64 gp = GENMASK_ULL(PEBS_NR_GP - 1, 0);
	u64 fixed = GENMASK_ULL(FIXED_COUNTER_BASE + PEBS_NR_FIXED - 1, FIXED_COUNTER_BASE);

	if (desc->pebs_format < PEBS_FORMAT_COUNTERS)
		return 0;
	if (desc->pebs_format != PEBS_FORMAT_ARCH)
		return (gp | fixed) & desc->pmu->counters;
	if (!(desc->pebs_groups & PEBS_ARCH_ALLOW))
		return 0;

	return ((desc->pebs_groups & PEBS_ARCH_GP ? gp : 0) |
		(desc->pebs_groups & PEBS_ARCH_FIXED ? fixed : 0)) & desc->pmu->counters;
}

/*
 * Return the metrics that records can have. Metrics are fractions of the slots counter, so records
 * must be able to have this fixed counter, too.
 */
static u64 __corepmu_init recorded_metrics(const struct x86_desc *desc)
{
	if (!(desc->pebs_recorded & BIT_ULL(SLOTS_COUNTER)) ||
	    (desc->pebs_format == PEBS_FORMAT_ARCH && !(desc->pebs_groups & PEBS_ARCH_METRICS)))
		return 0;

	return desc->metrics;
}

static void __corepmu_init describe_arch(struct x86_desc *desc)
{
	desc->pebs_format = PEBS_FORMAT_ARCH;
	desc->pebs_all = true;
	desc->pebs_timing = true;
	desc->ds_bit = STATUS_PEBS_THRESHOLD;
	desc->pmu->precise_backend = &x86_pebs_backend;
	desc->pmu->follows_tasks = true;
	desc->pebs_branches = has_branches(desc) &&
			      (desc->pebs_groups & PEBS_ARCH_LBR) == PEBS_ARCH_LBR;
	if (desc->pebs_groups & PEBS_ARCH_XMM)
		desc->pmu->capabilities |= PERF_PMU_CAP_EXTENDED_REGS;
	desc->pmu->max_precise = desc->pebs_dist ? 3 : 2;
	desc->pebs_recorded = recorded_counters(desc);
	desc->pebs_metrics = recorded_metrics(desc);
	x86_ds_set_physical(true);
}

static __corepmu_init const char *describe_pebs(struct x86_desc *desc)
{
	unsigned int format = FIELD_GET(PERF_CAP_PEBS_VERSION, desc->capabilities);
	const char *reason;

	if (!IS_ENABLED(CONFIG_X86_64))
		return "samples have skid: 32-bit kernels are not supported";
	if (desc->shares_counters)
		return "samples have skid: the built-in driver owns the debug store";
	reason = ask_cpu(desc);
	if (reason)
		return reason;
	if (!corepmu_has_callchain())
		return "samples have skid: this kernel hides perf_callchain()";
	if (format == PEBS_FORMAT_ARCH) {
		describe_arch(desc);
		return NULL;
	}
	if (x86_ds_find())
		return "samples have skid: this kernel hides a function that maps the PEBS buffer";
	if (!x86_exclusive_is_known())
		return "samples have skid: this kernel hides the function that excludes intel_bts";

	x86_ds_set_physical(false);
	desc->pebs_format = format;
	desc->pebs_all = format >= PEBS_FORMAT_ADAPTIVE;
	desc->pebs_timing = desc->capabilities & PERF_CAP_PEBS_TIMING;
	desc->ds_bit = STATUS_DS_BUFFER;
	desc->pmu->precise_backend = &x86_pebs_backend;
	desc->pmu->follows_tasks = true;
	desc->pebs_branches = desc->pebs_all && has_branches(desc);
	if (desc->pebs_all)
		desc->pmu->capabilities |= PERF_PMU_CAP_EXTENDED_REGS;
	desc->pebs_recorded = recorded_counters(desc);
	desc->pebs_metrics = recorded_metrics(desc);
	/* For an unknown microarchitecture, the counters that support PDIR are unknown. */
	desc->pmu->max_precise = desc->uarch ? 3 : 2;

	return NULL;
}

/**
 * x86_describe_precise() - find out how precise samples can be
 * @desc: the PMU description; its counters are known and reserved
 *
 * Process context, on any CPU.
 */
void __corepmu_init x86_describe_precise(struct x86_desc *desc)
{
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL)
		return;
	desc->pmu->precise_reason = describe_pebs(desc);
	if (!desc->pmu->precise_reason)
		pr_debug("PEBS records have format %u\n", desc->pebs_format);
}
