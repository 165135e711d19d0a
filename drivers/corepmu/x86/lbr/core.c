// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel last branch records (LBR): probing, and the legacy registers
 *
 * Two kinds of registers:
 *
 * - Legacy LBR, formats 3 to 7 of IA32_PERF_CAPABILITIES: a ring of records with an index (SDM
 *   volume 3, "Last Branch, Interrupt, and Exception Recording"). Cores have it from Nehalem on,
 *   atoms from Goldmont on. Formats 5 and 7, Skylake's, have flags and cycles in LBR_INFO. The
 *   other formats have flags in the register of the source: format 3 (Nehalem to Ivy Bridge) the
 *   misprediction, format 4 (Haswell, Broadwell) also transactions. In format 6 (Goldmont) the
 *   register of the target has the cycles (LBR_FORMAT_TIME in arch/x86/events/intel/lbr.c).
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

/**
 * struct lbr_ring - properties of the ring that CPUID does not report
 * @nr: number of records, a power of two
 * @mask: @nr - 1
 * @has_info: each record has a register LBR_INFO (formats 5 and 7)
 * @to_has_cycles: the target's register has the cycles (format 6)
 * @doubles_aborts: an abort of a transaction may have a second, younger record without the flag
 * @is_nehalem: Nehalem or Westmere: hyperthreads share LBR_SELECT, and its bits that suppress jumps
 *	also suppress calls and returns
 * @from_sign: sign bit of the source's address, below the flags
 * @from_copied: bits of the source's address to copy to bits 62:61 before a write
 */
static struct lbr_ring {
	unsigned int	nr;
	unsigned int	mask;
	bool		has_info;
	bool		to_has_cycles;
	bool		doubles_aborts;
	bool		is_nehalem;
	unsigned int	from_sign;
	u64		from_copied;
} lbr_ring;

/*
 * Return the branches to record on Nehalem and Westmere (SDM volume 3, "Filtering of Last Branch
 * Records", and nhm_lbr_sel_map[] in arch/x86/events/intel/lbr.c). There MSR_LBR_SELECT suppresses
 * calls and returns if it suppresses jumps. If hyperthreads share the register, each of them
 * records all branches. choose_branches() drops the unwanted records.
 */
static u64 nehalem_wanted(u64 wanted)
{
	if (x86_may_have_threads())
		return COREPMU_BRANCH_ANY | COREPMU_BRANCH_KERNEL | COREPMU_BRANCH_USER;
	if (wanted & (COREPMU_BRANCH_CALL | COREPMU_BRANCH_RET))
		wanted |= COREPMU_BRANCH_JUMP;
	if (wanted & (COREPMU_BRANCH_CALL | COREPMU_BRANCH_RET | COREPMU_BRANCH_IND_CALL))
		wanted |= COREPMU_BRANCH_IND_JUMP;

	return wanted;
}

static u64 ring_select(u64 wanted)
{
	return x86_lbr_select(lbr_ring.is_nehalem ? nehalem_wanted(wanted) : wanted) |
	       (wanted & COREPMU_BRANCH_CALL_STACK ? LBR_SELECT_CALL_STACK : 0);
}

static void ring_start(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;
	u64 select = x86_lbr_control(branches, ring_select);

	if (branches->cached_reg != select) {
		x86_write_msr_inline(MSR_LBR_SELECT, select);
		branches->cached_reg = select;
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
 * If recording has ended unnoticed, the records may be old: disown them before the write. An NMI
 * between the write and the caller's note of the stop does not use them either.
 */
static void ring_stop(struct corepmu_cpu *cpuc)
{
	u64 control = x86_read_msr_inline(MSR_IA32_DEBUGCTLMSR);

	if (may_have_ended(cpuc) && !(control & DEBUGCTL_LBR))
		x86_lbr_disown(cpuc->branches);
	x86_write_msr_inline(MSR_IA32_DEBUGCTLMSR, control & ~(DEBUGCTL_LBR | DEBUGCTL_FREEZE_LBR));
}

/* A record whose source address is 0 is empty; its other registers do not matter. */
static void ring_clear(struct corepmu_cpu *cpuc)
{
	unsigned int i;

	for (i = 0; i < lbr_ring.nr; i++)
		x86_write_msr_inline(MSR_LBR_NHM_FROM + i, 0);
}

/* Formats 3 and 6: sign bit of the source's address, below the flag of a misprediction */
#define FROM_SIGN		62
/* Format 4: sign bit below the flags of transactions, and bits of the sign to copy to the flags */
#define FROM_SIGN_TSX		60
#define FROM_SIGN_TSX_BITS	GENMASK_ULL(60, 59)
/* Format 6: bits of the register of the target */
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
	return lbr_ring.has_info && ring_needs_bits(cpuc);
}

/* Index of the record that is @i branches older than the youngest */
static unsigned int ring_at(unsigned int top, unsigned int i)
{
	return (top - i) & lbr_ring.mask;
}

/*
 * Read the records of a ring without LBR_INFO. Return the number of records. The source's register
 * has the flags in the same bits as LBR_INFO. If an abort has two records, drop the younger one, as
 * with lbr_double_abort in arch/x86/events/intel/lbr.c.
 */
static noinline unsigned int read_without_info(struct corepmu_cpu *cpuc,
					       struct corepmu_branch_list *list, unsigned int top)
{
	const bool needs_bits = ring_needs_bits(cpuc);
	unsigned int i, nr = 0;

	for (i = 0; i < lbr_ring.nr; i++) {
		unsigned int at = ring_at(top, i);
		u64 from, to, bits = 0;

		from = x86_read_msr_inline(MSR_LBR_NHM_FROM + at);
		if (!from)
			break;
		to = x86_read_msr_inline(MSR_LBR_NHM_TO + at);
		if (needs_bits)
			bits = x86_lbr_entry_bits(from);
		if (lbr_ring.to_has_cycles) {
			if (needs_bits)
				bits |= x86_lbr_entry_cycles(FIELD_GET(TO_CYCLES, to));
			to = sign_extend64(to, TO_SIGN);
		}
		if ((bits & ENTRY_ABORT) && lbr_ring.doubles_aborts && nr)
			nr--;
		list->type[nr] = 0;
		x86_lbr_put_entry(list, nr++, sign_extend64(from, lbr_ring.from_sign), to, bits);
	}

	return nr;
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
	if (unlikely(!lbr_ring.has_info)) {
		list->nr = read_without_info(cpuc, list, top);
		return;
	}
	for (i = 0; i < lbr_ring.nr; i++) {
		unsigned int nr = ring_at(top, i);
		u64 from, to, value, bits = 0;

		from = x86_read_msr_inline(MSR_LBR_NHM_FROM + nr);
		if (!from)
			break;
		to = x86_read_msr_inline(MSR_LBR_NHM_TO + nr);
		list->type[i] = 0;
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
	bool needs_bits = ring_needs_bits(cpuc);
	unsigned int i;

	list->hw_idx = waited ? COREPMU_BRANCH_NOWHERE : x86_read_msr(MSR_LBR_TOS);
	for (i = 0; i < nr && words[LBR_WORD_FROM]; i++, words += NR_LBR_WORDS) {
		u64 info = words[LBR_WORD_INFO];

		x86_lbr_put_entry(list, i, words[LBR_WORD_FROM], words[LBR_WORD_TO], needs_bits ?
				  x86_lbr_entry_bits(info) | x86_lbr_entry_cycles(info) : 0);
		list->type[i] = 0;
	}
	list->nr = i;
}

static void ring_save(struct corepmu_cpu *cpuc, struct corepmu_call_stack *stack)
{
	bool info = ring_needs_info(cpuc);
	unsigned int top = x86_read_msr_inline(MSR_LBR_TOS), i;

	stack->hw_idx = top;
	for (i = 0; i < lbr_ring.nr; i++) {
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

/*
 * Restore the same places in the ring: user space may compare hw_idx with the last sample's. In
 * format 4, a CPU without transactions records 0 in place of their flags. A write must have the
 * sign there (errata HSD172, HSE117, BDM127, BDF85).
 */
static void ring_restore(struct corepmu_cpu *cpuc, const struct corepmu_call_stack *stack)
{
	const u64 copied = lbr_ring.from_copied;
	bool info = ring_needs_info(cpuc);
	unsigned int i;

	for (i = 0; i < stack->nr; i++) {
		const struct corepmu_branch_record *record = &stack->records[i];
		unsigned int nr = ring_at(stack->hw_idx, i);

		x86_write_msr_inline(MSR_LBR_NHM_FROM + nr,
				     record->from | (record->from & copied) << 2);
		x86_write_msr_inline(MSR_LBR_NHM_TO + nr, record->to);
		if (info)
			x86_write_msr_inline(MSR_LBR_INFO_0 + nr, record->info);
	}
	for (; i < lbr_ring.nr; i++)
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

/* HLE marks branches as in a transaction, too. */
static bool __corepmu_init has_transactions(void)
{
	return boot_cpu_has(X86_FEATURE_RTM) || boot_cpu_has(X86_FEATURE_HLE);
}

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
	backend->never_in_tx = !has_transactions();
	if ((offers & COREPMU_BRANCH_ANY_TX) && boot_cpu_has(X86_FEATURE_RTM))
		backend->offers |= COREPMU_BRANCH_ANY_TX;
	backend->freeze_ends = version < VERSION_STATUS_FREEZES;
	if (!backend->freeze_ends)
		desc->frozen = STATUS_LBR_FROZEN;

	return corepmu_branch_setup(desc->pmu, backend, nr);
}

/* Test the registers: under a hypervisor that only shows the format, they read as 0 or fault. */
static bool __corepmu_init ring_answers(void)
{
	const unsigned int last = lbr_ring.mask;
	const u64 wanted = 0xabc0;
	u64 value;

	if (x86_write_msr_safe(MSR_LBR_NHM_FROM + last, wanted) ||
	    x86_read_msr_safe(MSR_LBR_NHM_FROM + last, &value) ||
	    value != wanted)
		return false;

	return !x86_write_msr_safe(MSR_LBR_NHM_FROM + last, 0) &&
	       !x86_read_msr_safe(MSR_LBR_NHM_TO + last, &value) &&
	       (!lbr_ring.has_info || !x86_read_msr_safe(MSR_LBR_INFO_0 + last, &value)) &&
	       !x86_read_msr_safe(MSR_LBR_TOS, &value) &&
	       !x86_write_msr_safe(MSR_LBR_SELECT, 0);
}

/*
 * Return the number of records, which CPUID does not report, or 0 if it is unknown: SDM volume 3,
 * table "LBR Stack Size and TOS Pointer Range". Other CPUs with format 3 may have other registers.
 */
static unsigned int __corepmu_init ring_size(enum intel_uarch_id id, unsigned int format)
{
	switch (format) {
	case LBR_FORMAT_FLAGS:
		return id >= UARCH_NEHALEM && id <= UARCH_IVY_BRIDGE ? 16 : 0;
	case LBR_FORMAT_FLAGS_TSX:
		return 16;
	case LBR_FORMAT_INFO_TSX:
	case LBR_FORMAT_TIME:
	case LBR_FORMAT_INFO:
		return 32;
	default:
		return 0;
	}
}

static void __corepmu_init describe_ring(enum intel_uarch_id id, unsigned int format,
					 unsigned int nr)
{
	lbr_ring = (struct lbr_ring) {
		.nr = nr,
		.mask = nr - 1,
		.has_info = format == LBR_FORMAT_INFO_TSX || format == LBR_FORMAT_INFO,
		.to_has_cycles = format == LBR_FORMAT_TIME,
		.doubles_aborts = id == UARCH_HASWELL,
		.is_nehalem = id == UARCH_NEHALEM || id == UARCH_WESTMERE,
		.from_sign = FROM_SIGN,
	};
	if (format == LBR_FORMAT_FLAGS_TSX) {
		lbr_ring.from_sign = FROM_SIGN_TSX;
		lbr_ring.from_copied = has_transactions() ? 0 : FROM_SIGN_TSX_BITS;
	}
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
	enum intel_uarch_id id = desc->uarch ? desc->uarch - intel_uarches : UARCH_CORE;
	unsigned int format = 0, nr;
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
	nr = ring_size(id, format);
	if (!nr) {
		desc->pmu->branch_reason = "the LBR format is not supported";
		return 0;
	}
	describe_ring(id, format, nr);
	/* Stay on this CPU: another CPU would read its own registers. */
	local_irq_save(flags);
	answers = ring_answers();
	local_irq_restore(flags);
	if (!answers) {
		desc->pmu->branch_reason =
			"the LBR registers do not keep written values (hypervisor?)";
		return 0;
	}

	return x86_lbr_setup(desc, &ring_backend, nr,
			     (format >= LBR_FORMAT_FLAGS_TSX ? COREPMU_BRANCH_CALL_STACK : 0) |
			     (format == LBR_FORMAT_FLAGS_TSX || format == LBR_FORMAT_INFO_TSX ?
			      COREPMU_BRANCH_ANY_TX : 0));
}
