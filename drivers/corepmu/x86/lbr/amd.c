// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: AMD last branch stack, LbrExtV2
 *
 * APM volume 2, "Last Branch Stack Registers": record 0 is always the youngest. The built-in driver
 * is arch/x86/events/amd/lbr.c. A branch's source address may be that of the instruction before
 * the branch, if the CPU has fused the two.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/features.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "lbr.h"
#include "../amd/amd.h"
#include "../kvm/kvm.h"
#include "../msr.h"
#include "../x86.h"

/* CPUID Fn8000_0022 */
#define EAX_LBR_V2		BIT(1)
#define EAX_LBR_FREEZE		BIT(2)
#define EBX_NR_RECORDS		GENMASK(9, 4)

/* The hardware can freeze the records at an overflow. */
static bool can_freeze;

static u32 samp_br_from(unsigned int i)
{
	return MSR_AMD_SAMP_BR_FROM + 2 * i;
}

static u32 samp_br_to(unsigned int i)
{
	return samp_br_from(i) + 1;
}

static void lbrv2_enable(bool enable)
{
	u64 config = x86_read_msr_inline(MSR_AMD_DBG_EXTN_CFG);

	x86_write_msr_inline(MSR_AMD_DBG_EXTN_CFG, enable ? config | DBG_EXTN_CFG_LBRV2EN :
							    config & ~DBG_EXTN_CFG_LBRV2EN);
}

static bool excludes_guests(const struct corepmu_branches *branches)
{
	return branches->wanted & COREPMU_BRANCH_NO_GUESTS;
}

/**
 * amd_lbr_switch_guest() - stop recording while KVM runs a guest, if an event excludes guests
 * @enter: true: KVM enters the guest; false: KVM has left the guest
 * @missed_exit: KVM has not reported the last exit: recording is still disabled, and branches of
 *	the host are missing
 *
 * The hardware does not distinguish guests from the host, and goes on recording in guests.
 * x86_guest_update() already has the new state. IRQs off.
 */
void amd_lbr_switch_guest(bool enter, bool missed_exit)
{
	struct corepmu_cpu *cpuc = corepmu_features_this_cpu();
	struct corepmu_branches *branches;

	if (!cpuc || !corepmu_uses(cpuc, COREPMU_FEATURE_BRANCHES))
		return;
	branches = cpuc->branches;
	if (!READ_ONCE(branches->recording) || !excludes_guests(branches))
		return;

	if (missed_exit)
		x86_lbr_disown(branches);
	lbrv2_enable(!enter);
	/* An NMI before that write may have stopped recording. */
	barrier();
	if (!READ_ONCE(branches->recording))
		lbrv2_enable(false);
}

/*
 * Check whether recording has stayed disabled: KVM announced a guest, but did not report its exit.
 */
static bool lbrv2_has_ended(const struct corepmu_cpu *cpuc)
{
	return excludes_guests(cpuc->branches) && x86_guest_exit_is_missing();
}

static void lbrv2_start(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;
	u64 select = x86_lbr_select(branches->wanted);

	if (branches->cached_reg != select) {
		x86_write_msr(MSR_AMD64_LBR_SELECT, select);
		branches->cached_reg = select;
	}
	if (can_freeze && !branches->freezes) {
		x86_write_msr(MSR_IA32_DEBUGCTLMSR,
			      x86_read_msr(MSR_IA32_DEBUGCTLMSR) | DEBUGCTL_FREEZE_LBR);
		branches->freezes = true;
	}
	/* While a guest runs, recording stays disabled: the probe of kvm_exit enables it. */
	if (!excludes_guests(branches) || !x86_guest_update())
		lbrv2_enable(true);
}

/*
 * Stop recording. With the last event that has branch records, also clear the freeze bit: while it
 * is set, KVM writes IA32_DEBUGCTL twice for each run of a guest.
 */
static void lbrv2_stop(struct corepmu_cpu *cpuc)
{
	lbrv2_enable(false);
	if (!corepmu_uses(cpuc, COREPMU_FEATURE_BRANCHES) && cpuc->branches->freezes) {
		x86_write_msr(MSR_IA32_DEBUGCTLMSR,
			      x86_read_msr(MSR_IA32_DEBUGCTLMSR) & ~DEBUGCTL_FREEZE_LBR);
		cpuc->branches->freezes = false;
	}
}

static void lbrv2_reset(struct corepmu_cpu *cpuc)
{
	lbrv2_enable(false);
	if (can_freeze)
		x86_write_msr(MSR_IA32_DEBUGCTLMSR,
			      x86_read_msr(MSR_IA32_DEBUGCTLMSR) & ~DEBUGCTL_FREEZE_LBR);
}

/* A record is empty if it is neither valid nor speculative, or has SAMP_BR_TO_RESERVED. */
static void lbrv2_clear(struct corepmu_cpu *cpuc)
{
	unsigned int i;

	for (i = 0; i < cpuc->pmu->nr_branches; i++)
		x86_write_msr_inline(samp_br_to(i), 0);
}

/* APM: the bits valid and speculative. lbrv2_read() drops records that have neither. */
static unsigned int decode_speculation(u64 to)
{
	if (!(to & SAMP_BR_TO_VALID))
		return PERF_BR_SPEC_WRONG_PATH;

	return to & SAMP_BR_TO_SPEC ? PERF_BR_SPEC_CORRECT_PATH : PERF_BR_NON_SPEC_CORRECT_PATH;
}

static void lbrv2_read(struct corepmu_cpu *cpuc, struct corepmu_branch_list *list)
{
	/* As sign_ext_branch_ip() in arch/x86/events/amd/lbr.c */
	unsigned int sign = boot_cpu_data.x86_virt_bits - 1, i, nr = 0;
	u64 from, to;

	/* Later branches are missing: show none. Recording restarts after this sample. */
	if (lbrv2_has_ended(cpuc)) {
		cpuc->branches->stale = true;
		list->nr = 0;
		return;
	}

	for (i = 0; i < cpuc->pmu->nr_branches; i++) {
		struct perf_branch_entry entry = { };

		to = x86_read_msr_inline(samp_br_to(i));
		if (!(to & (SAMP_BR_TO_VALID | SAMP_BR_TO_SPEC)) || (to & SAMP_BR_TO_RESERVED))
			continue;
		from = x86_read_msr_inline(samp_br_from(i));
		entry.from = sign_extend64(from, sign);
		entry.to = sign_extend64(to, sign);
		entry.mispred = !!(from & SAMP_BR_FROM_MISPRED);
		entry.predicted = !entry.mispred;
		entry.spec = decode_speculation(to);
		list->entries[nr] = entry;
		list->type[nr++] = 0;
	}
	list->nr = nr;
}

static struct corepmu_branch_backend lbrv2_backend = {
	.name		= "last branch stack",
	.empty_stacks	= true,
	.kernel_reason	= "the LBR does not freeze at an overflow and would show the handler",
	.decodes_all	= true,
	.reset		= lbrv2_reset,
	.start		= lbrv2_start,
	.stop		= lbrv2_stop,
	.clear		= lbrv2_clear,
	.read		= lbrv2_read,
	.has_ended	= lbrv2_has_ended,
	.decode		= x86_branch_decode_fused,
};

/**
 * amd_describe_branches() - find out what branch records the CPUs have
 * @desc: the PMU description; its counters are known and reserved
 *
 * Without a freeze, branches of user space stay as they were at the interrupt, since the handler
 * runs in the kernel. Process context.
 *
 * Return: 0, also if there are none, or -ENOMEM
 */
int __corepmu_init amd_describe_branches(struct x86_desc *desc)
{
	const u32 needed = EAX_PERFMON_V2 | EAX_LBR_V2;
	unsigned int nr;
	u32 eax = 0;
	u64 value;

	if (boot_cpu_data.extended_cpuid_level >= CPUID_PERFMON)
		eax = cpuid_eax(CPUID_PERFMON);
	if ((eax & needed) != needed) {
		desc->pmu->branch_reason = "the CPU has no LbrExtV2";
		return 0;
	}

	nr = FIELD_GET(EBX_NR_RECORDS, cpuid_ebx(CPUID_PERFMON));
	if (!nr || x86_read_msr_safe(MSR_AMD_DBG_EXTN_CFG, &value) ||
	    x86_read_msr_safe(samp_br_to(nr - 1), &value)) {
		desc->pmu->branch_reason = "CPUID reports LbrExtV2, but the registers do not exist";
		return 0;
	}

	can_freeze = eax & EAX_LBR_FREEZE;
	lbrv2_backend.offers = can_freeze ? COREPMU_BRANCH_KERNEL : 0;
	if (boot_cpu_has(X86_FEATURE_SVM))
		lbrv2_backend.offers |= COREPMU_BRANCH_NO_GUESTS;
	desc->frozen = can_freeze ? STATUS_LBR_FROZEN : 0;

	return corepmu_branch_setup(desc->pmu, &lbrv2_backend, nr);
}
