// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel last branch records (LBR): probing, and the legacy registers
 *
 * Two kinds of registers:
 *
 * - Legacy LBR, formats 5 to 7 of IA32_PERF_CAPABILITIES, from Skylake and Goldmont on: a ring of
 *   32 records with an index (SDM volume 3, "Last Branch, Interrupt, and Exception Recording", of
 *   Skylake). Format 6, Goldmont's, has no LBR_INFO: the register of the source also has the
 *   misprediction, and that of the target the cycles (LBR_FORMAT_TIME in
 *   arch/x86/events/intel/lbr.c). Older formats are not supported.
 * - Architectural LBR, with CPUID.7.0:EDX[19]: record 0 is always the youngest (SDM volume 3,
 *   "Architectural Last Branch Records").
 *
 * Both freeze at the PMI of an overflow (IA32_DEBUGCTL[11], FREEZE_LBRS_ON_PMI), and keep their
 * records while disabled. The LBR call stack must not freeze: a PMI next to a call or a return
 * would leave a record too many or too few (intel_pmu_lbr_enable_all() in the kernel's
 * arch/x86/events/intel/lbr.c). The call stack needs no freeze: it records user space only, and the
 * PMI handler is in the kernel.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/branch.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "lbr.h"
#include "../intel/intel.h"
#include "../msr.h"
#include "../pebs/record.h"
#include "../x86.h"

/* Records of the ring, not in CPUID: SDM volume 3, table "LBR Stack Size and TOS Pointer Range" */
#define NR_RING_RECORDS		32

/* First version of perfmon with a freeze status bit in IA32_PERF_GLOBAL_STATUS */
#define VERSION_STATUS_FREEZES	4

/**
 * x86_lbr_select() - return the value of MSR_LBR_SELECT (Intel or AMD) for the wanted branches
 * @wanted: COREPMU_BRANCH_* to record
 *
 * Return: the register's value; its bits suppress branches
 */
u64 x86_lbr_select(u64 wanted)
{
	u64 select = 0;

	select |= wanted & COREPMU_BRANCH_KERNEL ? 0 : LBR_SELECT_NO_KERNEL;
	select |= wanted & COREPMU_BRANCH_USER ? 0 : LBR_SELECT_NO_USER;
	select |= wanted & COREPMU_BRANCH_COND ? 0 : LBR_SELECT_NO_COND;
	select |= wanted & COREPMU_BRANCH_CALL ? 0 : LBR_SELECT_NO_CALL;
	select |= wanted & COREPMU_BRANCH_IND_CALL ? 0 : LBR_SELECT_NO_IND_CALL;
	select |= wanted & COREPMU_BRANCH_RET ? 0 : LBR_SELECT_NO_RET;
	select |= wanted & COREPMU_BRANCH_IND_JUMP ? 0 : LBR_SELECT_NO_IND_JUMP;
	select |= wanted & COREPMU_BRANCH_JUMP ? 0 : LBR_SELECT_NO_JUMP;
	select |= wanted & COREPMU_BRANCH_FAR ? 0 : LBR_SELECT_NO_FAR;

	return select;
}

/* Legacy LBR: a ring of records */

static u64 ring_select(u64 wanted)
{
	return x86_lbr_select(wanted) |
	       (wanted & COREPMU_BRANCH_CALL_STACK ? LBR_SELECT_CALL_STACK : 0);
}

static void ring_start(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;
	u64 select = x86_lbr_control(branches, ring_select);

	if (branches->selected != select) {
		x86_write_msr_inline(MSR_LBR_SELECT, select);
		branches->selected = select;
	}
	/*
	 * Other users have bits in IA32_DEBUGCTL. Before version 4, a freeze clears DEBUGCTL_LBR.
	 */
	x86_write_msr_inline(MSR_IA32_DEBUGCTLMSR,
			     x86_read_msr_inline(MSR_IA32_DEBUGCTLMSR) | DEBUGCTL_LBR |
			     x86_lbr_freeze_bit(branches));
}

/*
 * Check whether a clear DEBUGCTL_LBR means that recording has ended. A debug exception, of a
 * watchpoint or a single step, clears the bit without a notification (SDM volume 3, "Monitoring
 * Branches, Exceptions, and Interrupts"). While only user space is recorded, the driver leaves the
 * bit set in the kernel. Before version 4 a freeze clears the bit, too, so it tells nothing.
 */
static bool may_have_ended(const struct corepmu_cpu *cpuc)
{
	return cpuc->branches->recording && !cpuc->pmu->branch_backend->freeze_ends;
}

/*
 * If recording has ended unnoticed, the records may be old: mark them stale, of no task. So an NMI
 * does not use them either, if it comes after the write and before the caller notes the stop.
 */
static void ring_stop(struct corepmu_cpu *cpuc)
{
	u64 control = x86_read_msr_inline(MSR_IA32_DEBUGCTLMSR);

	if (may_have_ended(cpuc) && !(control & DEBUGCTL_LBR)) {
		cpuc->branches->stale = true;
		cpuc->branches->task = NULL;
	}
	x86_write_msr_inline(MSR_IA32_DEBUGCTLMSR, control & ~(DEBUGCTL_LBR | DEBUGCTL_FREEZE_LBR));
}

/* A record whose source address is 0 is empty; its other registers do not matter. */
static void ring_clear(struct corepmu_cpu *cpuc)
{
	unsigned int i;

	for (i = 0; i < NR_RING_RECORDS; i++)
		x86_write_msr_inline(MSR_LBR_NHM_FROM + i, 0);
}

/* Each record has a register LBR_INFO: formats 5 and 7 */
static bool ring_has_info;

/* Format 6: bits of the registers of the source and of the target */
#define FROM_MISPRED		BIT_ULL(63)
#define FROM_SIGN		62
#define TO_CYCLES		GENMASK_ULL(63, 48)
#define TO_SIGN			47

/* Check whether to read flags and cycles. A CPU with transactions needs the flag of aborts. */
static bool ring_needs_bits(const struct corepmu_cpu *cpuc)
{
	return (cpuc->branches->wanted & (COREPMU_BRANCH_FLAGS | COREPMU_BRANCH_CYCLES)) ||
	       (cpuc->pmu->branch_backend->offers & COREPMU_BRANCH_ANY_TX);
}

static bool ring_needs_info(const struct corepmu_cpu *cpuc)
{
	return ring_has_info && ring_needs_bits(cpuc);
}

/* Add a record of format 6 to @list. @needs_bits: with its misprediction and its cycles */
static void put_timed_record(struct corepmu_branch_list *list, unsigned int i, u64 from, u64 to,
			     bool needs_bits)
{
	u64 bits = from & FROM_MISPRED ? ENTRY_MISPRED : ENTRY_PREDICTED;

	bits |= x86_lbr_entry_cycles(FIELD_GET(TO_CYCLES, to));
	x86_lbr_put_entry(list, i, sign_extend64(from, FROM_SIGN), sign_extend64(to, TO_SIGN),
			  needs_bits ? bits : 0);
}

/* Index of the record that is @i branches older than the youngest */
static unsigned int ring_at(unsigned int top, unsigned int i)
{
	return (top - i) % NR_RING_RECORDS;
}

static bool ring_has_ended(const struct corepmu_cpu *cpuc)
{
	return may_have_ended(cpuc) && !(x86_read_msr_inline(MSR_IA32_DEBUGCTLMSR) & DEBUGCTL_LBR);
}

static void ring_read(struct corepmu_cpu *cpuc, struct corepmu_branch_list *list)
{
	bool needs_bits = ring_needs_bits(cpuc);
	unsigned int top, i;

	/* The records may be old: show none. Recording restarts after this sample. */
	if (ring_has_ended(cpuc)) {
		cpuc->branches->stale = true;
		list->hw_idx = COREPMU_BRANCH_NOWHERE;
		list->nr = 0;
		return;
	}

	top = x86_read_msr_inline(MSR_LBR_TOS);
	list->hw_idx = top;
	for (i = 0; i < NR_RING_RECORDS; i++) {
		unsigned int nr = ring_at(top, i);
		u64 from, to, value, bits = 0;

		from = x86_read_msr_inline(MSR_LBR_NHM_FROM + nr);
		if (!from)
			break;
		to = x86_read_msr_inline(MSR_LBR_NHM_TO + nr);
		list->type[i] = 0;
		if (unlikely(!ring_has_info)) {
			put_timed_record(list, i, from, to, needs_bits);
			continue;
		}
		if (needs_bits) {
			value = x86_read_msr_inline(MSR_LBR_INFO_0 + nr);
			bits = x86_lbr_entry_bits(value) | x86_lbr_entry_cycles(value);
		}
		x86_lbr_put_entry(list, i, from, to, bits);
	}
	list->nr = i;
}

/*
 * Branches in a PEBS record begin with the youngest, without its place in the ring. If each PEBS
 * record raises a PMI, the sample's hw_idx is the present top of the ring. The top may be a few
 * places ahead, as with the built-in driver (intel_pmu_store_pebs_lbrs() in
 * arch/x86/events/intel/lbr.c). perf report --stitch-lbr uses hw_idx.
 */
static void ring_parse(struct corepmu_cpu *cpuc, const u64 *words, unsigned int nr, bool waited,
		       struct corepmu_branch_list *list)
{
	bool info = ring_needs_bits(cpuc);
	unsigned int i;

	list->hw_idx = waited ? COREPMU_BRANCH_NOWHERE : x86_read_msr(MSR_LBR_TOS);
	for (i = 0; i < nr && words[LBR_WORD_FROM]; i++, words += NR_LBR_WORDS) {
		u64 value = info ? words[LBR_WORD_INFO] : 0;

		x86_lbr_put_entry(list, i, words[LBR_WORD_FROM], words[LBR_WORD_TO], info ?
				  x86_lbr_entry_bits(value) | x86_lbr_entry_cycles(value) : 0);
		list->type[i] = 0;
	}
	list->nr = i;
}

static void ring_save(struct corepmu_cpu *cpuc, struct corepmu_call_stack *stack)
{
	bool info = ring_needs_info(cpuc);
	unsigned int top = x86_read_msr_inline(MSR_LBR_TOS), i;

	stack->hw_idx = top;
	for (i = 0; i < NR_RING_RECORDS; i++) {
		struct corepmu_branch_record *record = &stack->records[i];
		unsigned int nr = ring_at(top, i);

		record->from = x86_read_msr_inline(MSR_LBR_NHM_FROM + nr);
		if (!record->from)
			break;
		record->to = x86_read_msr_inline(MSR_LBR_NHM_TO + nr);
		if (info)
			record->info = x86_read_msr_inline(MSR_LBR_INFO_0 + nr);
	}
	stack->nr = i;
}

/* Restore the same places in the ring: user space may compare hw_idx with the last sample's. */
static void ring_restore(struct corepmu_cpu *cpuc, const struct corepmu_call_stack *stack)
{
	bool info = ring_needs_info(cpuc);
	unsigned int i;

	for (i = 0; i < stack->nr; i++) {
		const struct corepmu_branch_record *record = &stack->records[i];
		unsigned int nr = ring_at(stack->hw_idx, i);

		x86_write_msr_inline(MSR_LBR_NHM_FROM + nr, record->from);
		x86_write_msr_inline(MSR_LBR_NHM_TO + nr, record->to);
		if (info)
			x86_write_msr_inline(MSR_LBR_INFO_0 + nr, record->info);
	}
	for (; i < NR_RING_RECORDS; i++)
		x86_write_msr_inline(MSR_LBR_NHM_FROM + ring_at(stack->hw_idx, i), 0);
	x86_write_msr_inline(MSR_LBR_TOS, stack->hw_idx);
}

static bool ring_still_has(struct corepmu_cpu *cpuc, const struct corepmu_call_stack *stack)
{
	return !stack->nr ||
	       x86_read_msr_inline(MSR_LBR_NHM_FROM + stack->hw_idx) == stack->records[0].from;
}

static struct corepmu_branch_backend ring_backend = {
	.name		= "last branch records",
	.empty_stacks	= true,
	.open		= x86_exclusive_open,
	.close		= x86_exclusive_close,
	.reset		= ring_stop,
	.start		= ring_start,
	.stop		= ring_stop,
	.clear		= ring_clear,
	.read		= ring_read,
	.parse		= ring_parse,
	.has_ended	= ring_has_ended,
	.save		= ring_save,
	.restore	= ring_restore,
	.still_has	= ring_still_has,
	.decode		= x86_branch_decode,
};

/* Probing */

/**
 * x86_lbr_setup() - set up branch records of a PMU
 * @desc: the PMU description
 * @backend: functions that access the LBR registers
 * @nr: number of records
 * @offers: COREPMU_BRANCH_* of LBR call stacks and transactions that the hardware supports
 *
 * Process context.
 *
 * Return: 0 or -ENOMEM
 */
int __corepmu_init x86_lbr_setup(struct x86_desc *desc, struct corepmu_branch_backend *backend,
				 unsigned int nr, u64 offers)
{
	unsigned int version = FIELD_GET(EAX_VERSION, cpuid_eax(CPUID_ARCH_PERFMON));

	backend->offers = COREPMU_BRANCH_KERNEL | (offers & COREPMU_BRANCH_CALL_STACK);
	/* HLE marks branches as in a transaction, too. */
	backend->never_in_tx = !boot_cpu_has(X86_FEATURE_RTM) && !boot_cpu_has(X86_FEATURE_HLE);
	if ((offers & COREPMU_BRANCH_ANY_TX) && boot_cpu_has(X86_FEATURE_RTM))
		backend->offers |= COREPMU_BRANCH_ANY_TX;
	backend->freeze_ends = version < VERSION_STATUS_FREEZES;
	if (!backend->freeze_ends)
		desc->frozen = STATUS_LBR_FROZEN;

	return corepmu_branch_setup(desc->pmu, backend, nr);
}

/* Test the registers: under a hypervisor that only shows the format, they read as 0 or fault. */
static bool __corepmu_init ring_answers(bool has_info)
{
	const u64 wanted = 0xabc0;
	u64 value;

	if (x86_write_msr_safe(MSR_LBR_NHM_FROM + NR_RING_RECORDS - 1, wanted) ||
	    x86_read_msr_safe(MSR_LBR_NHM_FROM + NR_RING_RECORDS - 1, &value) ||
	    value != wanted)
		return false;

	return !x86_write_msr_safe(MSR_LBR_NHM_FROM + NR_RING_RECORDS - 1, 0) &&
	       !x86_read_msr_safe(MSR_LBR_NHM_TO + NR_RING_RECORDS - 1, &value) &&
	       (!has_info ||
		!x86_read_msr_safe(MSR_LBR_INFO_0 + NR_RING_RECORDS - 1, &value)) &&
	       !x86_read_msr_safe(MSR_LBR_TOS, &value) &&
	       !x86_write_msr_safe(MSR_LBR_SELECT, 0);
}

/**
 * x86_lbr_describe() - find out what LBR the CPUs have
 * @desc: the PMU description; its counters are known and reserved
 *
 * Process context.
 *
 * Return: 0, also if there are none, or -ENOMEM
 */
int __corepmu_init x86_lbr_describe(struct x86_desc *desc)
{
	unsigned int format = 0;
	unsigned long flags;
	bool answers;

	if (!x86_exclusive_is_known()) {
		desc->pmu->branch_reason =
			"this kernel hides the function that excludes intel_bts and intel_pt";
		return 0;
	}
	if (boot_cpu_has(X86_FEATURE_ARCH_LBR))
		return x86_lbr_describe_arch(desc);

	if (boot_cpu_has(X86_FEATURE_PDCM))
		format = FIELD_GET(PERF_CAP_LBR_FORMAT, x86_read_msr(MSR_IA32_PERF_CAPABILITIES));
	if (format < LBR_FORMAT_INFO_TSX || format > LBR_FORMAT_INFO) {
		desc->pmu->branch_reason =
			"the LBR format is older than Skylake's";
		return 0;
	}
	ring_has_info = format != LBR_FORMAT_TIME;
	/* Stay on this CPU: another CPU would read its own registers. */
	local_irq_save(flags);
	answers = ring_answers(ring_has_info);
	local_irq_restore(flags);
	if (!answers) {
		desc->pmu->branch_reason =
			"the LBR registers do not keep written values (hypervisor?)";
		return 0;
	}

	return x86_lbr_setup(desc, &ring_backend, NR_RING_RECORDS, COREPMU_BRANCH_CALL_STACK |
			    (format == LBR_FORMAT_INFO_TSX ? COREPMU_BRANCH_ANY_TX : 0));
}
