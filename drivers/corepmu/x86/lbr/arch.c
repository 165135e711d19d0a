// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel architectural LBR
 *
 * SDM volume 3, "Architectural Last Branch Records": record 0 is always the youngest. See core.c.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "lbr.h"
#include "../msr.h"
#include "../pebs/record.h"
#include "../x86.h"

/* CPUID.1CH */
#define CPUID_LBR		0x1c
#define EAX_DEPTHS		GENMASK(7, 0)
#define EBX_CPL			BIT(0)
#define EBX_FILTER		BIT(1)
#define EBX_CALL_STACK		BIT(2)
#define ECX_MISPRED		BIT(0)
#define ECX_TIMED		BIT(1)
#define ECX_TYPE		BIT(2)
#define ECX_COUNTERS		GENMASK(19, 16)

/* CPUID.1CH:ECX of this machine: fields that the records have */
static u32 arch_features;

static u64 make_lbr_ctl(u64 wanted)
{
	u64 ctl = ARCH_LBR_CTL_LBREN;

	ctl |= wanted & COREPMU_BRANCH_CALL_STACK ? LBR_CTL_CALL_STACK : 0;
	ctl |= wanted & COREPMU_BRANCH_KERNEL ? LBR_CTL_KERNEL : 0;
	ctl |= wanted & COREPMU_BRANCH_USER ? LBR_CTL_USER : 0;
	ctl |= wanted & COREPMU_BRANCH_COND ? LBR_CTL_COND : 0;
	ctl |= wanted & COREPMU_BRANCH_JUMP ? LBR_CTL_JUMP : 0;
	ctl |= wanted & COREPMU_BRANCH_IND_JUMP ? LBR_CTL_IND_JUMP : 0;
	ctl |= wanted & COREPMU_BRANCH_CALL ? LBR_CTL_CALL : 0;
	ctl |= wanted & COREPMU_BRANCH_IND_CALL ? LBR_CTL_IND_CALL : 0;
	ctl |= wanted & COREPMU_BRANCH_RET ? LBR_CTL_RET : 0;
	ctl |= wanted & COREPMU_BRANCH_FAR ? LBR_CTL_OTHER : 0;

	return ctl;
}

static void arch_start(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;
	u64 freeze = x86_lbr_freeze_bit(branches);

	if (branches->cached_reg != freeze) {
		u64 debugctl = x86_read_msr(MSR_IA32_DEBUGCTLMSR);

		if ((debugctl & DEBUGCTL_FREEZE_LBR) != freeze)
			x86_write_msr(MSR_IA32_DEBUGCTLMSR,
				      (debugctl & ~DEBUGCTL_FREEZE_LBR) | freeze);
		branches->cached_reg = freeze;
	}
	x86_write_msr(MSR_ARCH_LBR_CTL, x86_lbr_control(branches, make_lbr_ctl));
}

/**
 * x86_lbr_arch_ctl() - return the value of IA32_LBR_CTL on this CPU
 * @cpuc: state of this CPU
 *
 * IRQs off.
 *
 * Return: the register's value, 0 while the CPU records no branches
 */
u64 x86_lbr_arch_ctl(const struct corepmu_cpu *cpuc)
{
	const struct corepmu_branches *branches = cpuc->branches;

	return branches && READ_ONCE(branches->recording) ? branches->control : 0;
}

static void arch_stop(struct corepmu_cpu *cpuc)
{
	x86_write_msr(MSR_ARCH_LBR_CTL, 0);
}

static void arch_reset(struct corepmu_cpu *cpuc)
{
	u64 debugctl = x86_read_msr(MSR_IA32_DEBUGCTLMSR);

	arch_stop(cpuc);
	if (debugctl & DEBUGCTL_FREEZE_LBR)
		x86_write_msr(MSR_IA32_DEBUGCTLMSR, debugctl & ~DEBUGCTL_FREEZE_LBR);
}

/* "All LBR entries are reset to 0 when IA32_LBR_DEPTH is written" */
static void arch_clear(struct corepmu_cpu *cpuc)
{
	x86_write_msr(MSR_ARCH_LBR_DEPTH, cpuc->pmu->nr_branches);
}

static void arch_restart(struct corepmu_cpu *cpuc)
{
	x86_write_msr_inline(MSR_ARCH_LBR_CTL, 0);
	x86_write_msr_inline(MSR_ARCH_LBR_DEPTH, cpuc->pmu->nr_branches);
	x86_write_msr_inline(MSR_ARCH_LBR_CTL, cpuc->branches->control);
}

/* LBR_INFO[59:56]; all other values are "other" branches. */
static u32 arch_type(u64 info)
{
	static const u32 types[] = {
		COREPMU_BRANCH_COND, COREPMU_BRANCH_IND_JUMP, COREPMU_BRANCH_JUMP,
		COREPMU_BRANCH_IND_CALL, COREPMU_BRANCH_CALL, COREPMU_BRANCH_RET,
	};
	unsigned int type = FIELD_GET(LBR_INFO_BR_TYPE, info);

	return (arch_features & ECX_TYPE) && type < ARRAY_SIZE(types) ? types[type] : 0;
}

/*
 * Check whether samples need LBR_INFO. An LBR call stack has only calls: their type rarely matters.
 */
static bool arch_needs_info(const struct corepmu_cpu *cpuc)
{
	return cpuc->branches->nr_counted ||
	       (cpuc->branches->wanted & (COREPMU_BRANCH_FLAGS | COREPMU_BRANCH_CYCLES |
					  COREPMU_BRANCH_TYPE | COREPMU_BRANCH_CHOSEN)) ||
	       (cpuc->pmu->branch_backend->offers & COREPMU_BRANCH_ANY_TX);
}

static u64 arch_bits(u64 info)
{
	u64 bits = x86_lbr_entry_bits(info);

	if (!(arch_features & ECX_MISPRED))
		bits &= ~(ENTRY_MISPRED | ENTRY_PREDICTED);
	if ((arch_features & ECX_TIMED) && (info & LBR_INFO_CYC_CNT_VALID))
		bits |= x86_lbr_entry_cycles(info);

	return bits;
}

static inline void put_record(struct corepmu_branch_list *list, unsigned int i, u64 from, u64 to,
			      u64 value, bool info)
{
	u64 bits = info ? arch_bits(value) : 0;

	x86_lbr_put_entry(list, i, from, to, bits);
	list->counts[i] = FIELD_GET(LBR_INFO_COUNTS, value);
	list->type[i] = info && !(bits & ENTRY_ABORT) ? arch_type(value) : 0;
}

static void arch_read(struct corepmu_cpu *cpuc, struct corepmu_branch_list *list)
{
	bool info = arch_needs_info(cpuc);
	unsigned int i;

	for (i = 0; i < cpuc->pmu->nr_branches; i++) {
		u64 from = x86_read_msr_inline(MSR_ARCH_LBR_FROM_0 + i), to;

		if (!from)
			break;
		to = x86_read_msr_inline(MSR_ARCH_LBR_TO_0 + i);
		put_record(list, i, from, to,
			   info ? x86_read_msr_inline(MSR_ARCH_LBR_INFO_0 + i) : 0, info);
	}
	list->nr = i;
}

static void arch_parse(struct corepmu_cpu *cpuc, const u64 *words, unsigned int nr, bool waited,
		       struct corepmu_branch_list *list)
{
	bool info = arch_needs_info(cpuc);
	unsigned int i;

	list->hw_idx = COREPMU_BRANCH_NOWHERE;
	for (i = 0; i < nr && words[LBR_WORD_FROM]; i++, words += NR_LBR_WORDS)
		put_record(list, i, words[LBR_WORD_FROM], words[LBR_WORD_TO],
			   words[LBR_WORD_INFO], info);
	list->nr = i;
}

static void arch_save(struct corepmu_cpu *cpuc, struct corepmu_call_stack *stack)
{
	bool info = arch_needs_info(cpuc);
	unsigned int i;

	for (i = 0; i < cpuc->pmu->nr_branches; i++) {
		struct corepmu_branch_record *record = &stack->records[i];

		record->from = x86_read_msr_inline(MSR_ARCH_LBR_FROM_0 + i);
		if (!record->from)
			break;
		record->to = x86_read_msr_inline(MSR_ARCH_LBR_TO_0 + i);
		if (info)
			record->info = x86_read_msr_inline(MSR_ARCH_LBR_INFO_0 + i);
	}
	stack->nr = i;
}

static void arch_restore(struct corepmu_cpu *cpuc, const struct corepmu_call_stack *stack)
{
	bool info = arch_needs_info(cpuc);
	unsigned int i;

	if (stack->nr < cpuc->pmu->nr_branches)
		arch_clear(cpuc);
	for (i = 0; i < stack->nr; i++) {
		const struct corepmu_branch_record *record = &stack->records[i];

		x86_write_msr_inline(MSR_ARCH_LBR_FROM_0 + i, record->from);
		x86_write_msr_inline(MSR_ARCH_LBR_TO_0 + i, record->to);
		if (info)
			x86_write_msr_inline(MSR_ARCH_LBR_INFO_0 + i, record->info);
	}
}

static bool arch_still_has(struct corepmu_cpu *cpuc, const struct corepmu_call_stack *stack)
{
	return !stack->nr || x86_read_msr(MSR_ARCH_LBR_FROM_0) == stack->records[0].from;
}

static struct corepmu_branch_backend arch_backend = {
	.name		= "architectural last branch records",
	.empty_stacks	= true,
	.open		= x86_exclusive_open,
	.close		= x86_exclusive_close,
	.reset		= arch_reset,
	.start		= arch_start,
	.stop		= arch_stop,
	.clear		= arch_clear,
	.restart	= arch_restart,
	.read		= arch_read,
	.parse		= arch_parse,
	.save		= arch_save,
	.restore	= arch_restore,
	.still_has	= arch_still_has,
	.decode		= x86_branch_decode,
};

/**
 * x86_lbr_nr_counters() - return the number of events whose counts a branch record can have
 * @desc: the PMU description
 *
 * Return: 0 if records have no counts, or if the kernel does not support them
 */
unsigned int x86_lbr_nr_counters(const struct x86_desc *desc)
{
	if (!COMPAT_SAMPLE_BRANCH_COUNTERS || !desc->pmu->nr_branches)
		return 0;

	return hweight64(desc->pmu->branch_backend->counters);
}

/**
 * x86_lbr_encode_counters() - set up an event whose counts branch records should have
 * @desc: the PMU description
 * @event: event with COREPMU_EVENT_BRANCH_COUNTERS that is being opened; its possible counters are
 *	known
 * @config: event code
 *
 * As in intel_pmu_hw_config() of arch/x86/events/intel/core.c, only for an event code and a unit
 * mask: edge, inversion and threshold affect only the counter. Process context.
 *
 * Return: 0, or -EINVAL after corepmu_refuse()
 */
int x86_lbr_encode_counters(const struct x86_desc *desc, struct perf_event *event, u64 config)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 asked = event->attr.branch_sample_type;

	if (config & ~(EVNTSEL_EVENT | EVNTSEL_UMASK))
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: event counts in branch records support only event and umask, not the other bits of config %#llx; leave them out",
				      asked, config);
	corepmu_hw_limit_counters(hwc, desc->pmu->branch_backend->counters);
	if (!corepmu_hw_counters(hwc))
		return corepmu_refuse(-EINVAL,
				      "branch_sample_type is %#llx: the event's counters cannot log event counts in branch records: leave out counter",
				      asked);
	hwc->config_base |= EVNTSEL_LBR_LOG;

	return 0;
}

/**
 * x86_lbr_describe_arch() - find out which features architectural LBR has
 * @desc: the PMU description
 *
 * Process context.
 *
 * Return: 0, also if there are no records, or -ENOMEM
 */
int __corepmu_init x86_lbr_describe_arch(struct x86_desc *desc)
{
	unsigned int nr;
	u32 eax, ebx, ecx, edx;

	cpuid(CPUID_LBR, &eax, &ebx, &ecx, &edx);
	nr = 8 * fls(FIELD_GET(EAX_DEPTHS, eax));
	if (!nr || (ebx & (EBX_CPL | EBX_FILTER)) != (EBX_CPL | EBX_FILTER)) {
		desc->pmu->branch_reason = "CPUID leaf 0x1C reports no depth, or no filters";
		return 0;
	}
	if (x86_write_msr_safe(MSR_ARCH_LBR_DEPTH, nr)) {
		desc->pmu->branch_reason = "IA32_LBR_DEPTH rejects the depth of CPUID leaf 0x1C";
		return 0;
	}
	arch_features = ecx;
	arch_backend.counters = FIELD_GET(ECX_COUNTERS, ecx);

	return x86_lbr_setup(desc, &arch_backend, nr, COREPMU_BRANCH_ANY_TX |
			    (ebx & EBX_CALL_STACK ? COREPMU_BRANCH_CALL_STACK : 0));
}
