// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel's last branch records
 *
 * Two kinds of registers. From Skylake on, formats 5 and 7 of IA32_PERF_CAPABILITIES: a ring of
 * 32 records with an index (SDM volume 3, "Last Branch, Interrupt, and Exception Recording",
 * of Skylake). With CPUID.7.0:EDX[19]: architectural ones, the youngest of which is always the
 * first (SDM volume 3, "Architectural Last Branch Records"). Older formats have other registers
 * or flags within addresses, and are not known here.
 *
 * Both stand still from an overflow's interrupt on, IA32_DEBUGCTL[11], and what they have is
 * kept while they are disabled. Not so a stack of calls: an interrupt next to a call or a return
 * may have a record too many then, or one too few (intel_pmu_lbr_enable_all() of the kernel's
 * arch/x86/events/intel/lbr.c). It follows user space alone, which stands still without that.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/bug.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/printk.h>

#include <corepmu/branch.h>
#include <corepmu/pmu.h>

#include "msr.h"
#include "x86.h"

/* Not told by CPUID; SDM volume 3, table "LBR Stack Size and TOS Pointer Range" */
#define NR_RING_RECORDS		32

#define DEBUGCTL_LBR		((u64)DEBUGCTLMSR_LBR)
#define DEBUGCTL_FREEZE_LBR	((u64)DEBUGCTLMSR_FREEZE_LBRS_ON_PMI)

/* CPUID.0AH:EAX, and the version that freezes by a bit of IA32_PERF_GLOBAL_STATUS */
#define CPUID_PERFMON		0xa
#define EAX_VERSION		GENMASK(7, 0)
#define VERSION_STATUS_FREEZES	4

/* CPUID.1CH */
#define CPUID_LBR		0x1c
#define EAX_DEPTHS		GENMASK(7, 0)
#define EBX_CPL			BIT(0)
#define EBX_FILTER		BIT(1)
#define EBX_CALL_STACK		BIT(2)
#define ECX_MISPRED		BIT(0)
#define ECX_TIMED		BIT(1)
#define ECX_TYPE		BIT(2)

/* What the architectural records of this machine tell */
static u32 arch_tells;

/**
 * x86_lbr_select() - what MSR_LBR_SELECT, of Intel or AMD, is to suppress
 * @wanted: COREPMU_BRANCH_* that are to be recorded
 *
 * Return: the register's value
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

/* Bits of struct perf_branch_entry: include/uapi/linux/perf_event.h, from the lowest on */
#define ENTRY_MISPRED		BIT_ULL(0)
#define ENTRY_PREDICTED		BIT_ULL(1)
#define ENTRY_IN_TX		BIT_ULL(2)
#define ENTRY_ABORT		BIT_ULL(3)
#define ENTRY_CYCLES		GENMASK_ULL(19, 4)

/* Flags are where they are with either kind of registers. */
static inline u64 entry_bits(u64 info)
{
	u64 bits = info & LBR_INFO_MISPRED ? ENTRY_MISPRED : ENTRY_PREDICTED;

	if (boot_cpu_has(X86_FEATURE_RTM)) {
		bits |= info & LBR_INFO_IN_TX ? ENTRY_IN_TX : 0;
		bits |= info & LBR_INFO_ABORT ? ENTRY_ABORT : 0;
	}

	return bits;
}

static inline u64 entry_cycles(u64 info)
{
	return FIELD_PREP(ENTRY_CYCLES, info & LBR_INFO_CYCLES);
}

static inline void put_entry(struct corepmu_branches *branches, unsigned int i, u64 from, u64 to,
			     u64 bits)
{
	union corepmu_branch_words *entry = (void *)&branches->entries[i];

	entry->words[0] = from;
	entry->words[1] = to;
	entry->words[COREPMU_BRANCH_BITS] = bits;
}

static bool follows_calls(const struct corepmu_branches *branches)
{
	return branches->wanted & COREPMU_BRANCH_CALL_STACK;
}

static u64 freeze_bit(const struct corepmu_branches *branches)
{
	return follows_calls(branches) ? 0 : DEBUGCTL_FREEZE_LBR;
}

/* The ring */

static void ring_start(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;
	u64 select = x86_lbr_select(branches->wanted);

	if (follows_calls(branches))
		select |= LBR_SELECT_CALL_STACK;
	if (branches->selected != select) {
		x86_write_msr(MSR_LBR_SELECT, select);
		branches->selected = select;
	}
	/* Others have bits in there; and a freeze before version 4 clears the one for records. */
	x86_write_msr(MSR_IA32_DEBUGCTLMSR,
		      x86_read_msr(MSR_IA32_DEBUGCTLMSR) | DEBUGCTL_LBR | freeze_bit(branches));
}

static void ring_stop(struct corepmu_cpu *cpuc)
{
	x86_write_msr(MSR_IA32_DEBUGCTLMSR,
		      x86_read_msr(MSR_IA32_DEBUGCTLMSR) & ~(DEBUGCTL_LBR | DEBUGCTL_FREEZE_LBR));
}

/* One that comes from 0 is none: what else its registers have does not matter. */
static void ring_wipe(struct corepmu_cpu *cpuc)
{
	unsigned int i;

	for (i = 0; i < NR_RING_RECORDS; i++)
		x86_write_msr(MSR_LBR_NHM_FROM + i, 0);
}

/* An abort is told from a branch by its flag. */
static bool ring_needs_info(const struct corepmu_cpu *cpuc)
{
	return (cpuc->branches->wanted & (COREPMU_BRANCH_FLAGS | COREPMU_BRANCH_CYCLES)) ||
	       (cpuc->pmu->branch_backend->offers & COREPMU_BRANCH_ANY_TX);
}

/* Where the record is that came @i branches before the youngest */
static unsigned int ring_at(unsigned int top, unsigned int i)
{
	return (top - i) % NR_RING_RECORDS;
}

static void ring_read(struct corepmu_cpu *cpuc, struct corepmu_branches *branches)
{
	bool info = ring_needs_info(cpuc);
	unsigned int top = x86_read_msr(MSR_LBR_TOS), i;

	branches->hw_idx = top;
	for (i = 0; i < NR_RING_RECORDS; i++) {
		unsigned int nr = ring_at(top, i);
		u64 from, to, value, bits = 0;

		from = x86_read_msr(MSR_LBR_NHM_FROM + nr);
		if (!from)
			break;
		to = x86_read_msr(MSR_LBR_NHM_TO + nr);
		if (info) {
			value = x86_read_msr(MSR_LBR_INFO_0 + nr);
			bits = entry_bits(value) | entry_cycles(value);
		}
		put_entry(branches, i, from, to, bits);
		branches->kind[i] = 0;
	}
	branches->nr = i;
}

static void ring_save(struct corepmu_cpu *cpuc, struct corepmu_call_stack *stack)
{
	bool info = ring_needs_info(cpuc);
	unsigned int top = x86_read_msr(MSR_LBR_TOS), i;

	stack->hw_idx = top;
	for (i = 0; i < NR_RING_RECORDS; i++) {
		struct corepmu_branch_record *record = &stack->records[i];
		unsigned int nr = ring_at(top, i);

		record->from = x86_read_msr(MSR_LBR_NHM_FROM + nr);
		if (!record->from)
			break;
		record->to = x86_read_msr(MSR_LBR_NHM_TO + nr);
		if (info)
			record->info = x86_read_msr(MSR_LBR_INFO_0 + nr);
	}
	stack->nr = i;
}

/* Where they were: user space may compare their places with those of the last sample. */
static void ring_restore(struct corepmu_cpu *cpuc, const struct corepmu_call_stack *stack)
{
	bool info = ring_needs_info(cpuc);
	unsigned int i;

	for (i = 0; i < stack->nr; i++) {
		const struct corepmu_branch_record *record = &stack->records[i];
		unsigned int nr = ring_at(stack->hw_idx, i);

		x86_write_msr(MSR_LBR_NHM_FROM + nr, record->from);
		x86_write_msr(MSR_LBR_NHM_TO + nr, record->to);
		if (info)
			x86_write_msr(MSR_LBR_INFO_0 + nr, record->info);
	}
	for (; i < NR_RING_RECORDS; i++)
		x86_write_msr(MSR_LBR_NHM_FROM + ring_at(stack->hw_idx, i), 0);
	x86_write_msr(MSR_LBR_TOS, stack->hw_idx);
}

static bool ring_still_has(struct corepmu_cpu *cpuc, const struct corepmu_call_stack *stack)
{
	return !stack->nr ||
	       x86_read_msr(MSR_LBR_NHM_FROM + stack->hw_idx) == stack->records[0].from;
}

static struct corepmu_branch_backend ring_backend = {
	.name		= "last branch records",
	.reset		= ring_stop,
	.start		= ring_start,
	.stop		= ring_stop,
	.wipe		= ring_wipe,
	.read		= ring_read,
	.save		= ring_save,
	.restore	= ring_restore,
	.still_has	= ring_still_has,
	.decode		= x86_branch_decode,
};

/* Architectural records */

static u64 lbr_ctl(u64 wanted)
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
	u64 freeze = freeze_bit(branches);

	if (branches->freezes != !!freeze) {
		u64 debugctl = x86_read_msr(MSR_IA32_DEBUGCTLMSR) & ~DEBUGCTL_FREEZE_LBR;

		x86_write_msr(MSR_IA32_DEBUGCTLMSR, debugctl | freeze);
		branches->freezes = freeze;
	}
	x86_write_msr(MSR_ARCH_LBR_CTL, lbr_ctl(branches->wanted));
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
static void arch_wipe(struct corepmu_cpu *cpuc)
{
	x86_write_msr(MSR_ARCH_LBR_DEPTH, cpuc->pmu->nr_branches);
}

/* LBR_INFO[59:56]; all that are not named are "other" branches. */
static u32 arch_kind(u64 info)
{
	static const u32 kinds[] = {
		COREPMU_BRANCH_COND, COREPMU_BRANCH_IND_JUMP, COREPMU_BRANCH_JUMP,
		COREPMU_BRANCH_IND_CALL, COREPMU_BRANCH_CALL, COREPMU_BRANCH_RET,
	};
	unsigned int type = FIELD_GET(LBR_INFO_BR_TYPE, info);

	return (arch_tells & ECX_TYPE) && type < ARRAY_SIZE(kinds) ? kinds[type] : 0;
}

/* Of a stack of calls all are calls: of what kind matters to those alone who ask for types. */
static bool arch_needs_info(const struct corepmu_cpu *cpuc)
{
	return (cpuc->branches->wanted & (COREPMU_BRANCH_FLAGS | COREPMU_BRANCH_CYCLES |
					  COREPMU_BRANCH_TYPE | COREPMU_BRANCH_CHOSEN)) ||
	       (cpuc->pmu->branch_backend->offers & COREPMU_BRANCH_ANY_TX);
}

static u64 arch_bits(u64 info)
{
	u64 bits = entry_bits(info);

	if (!(arch_tells & ECX_MISPRED))
		bits &= ~(ENTRY_MISPRED | ENTRY_PREDICTED);
	if ((arch_tells & ECX_TIMED) && (info & LBR_INFO_CYC_CNT_VALID))
		bits |= entry_cycles(info);

	return bits;
}

static void arch_read(struct corepmu_cpu *cpuc, struct corepmu_branches *branches)
{
	bool info = arch_needs_info(cpuc);
	unsigned int i;

	for (i = 0; i < cpuc->pmu->nr_branches; i++) {
		u64 from, to, value, bits = 0;
		u32 kind = 0;

		from = x86_read_msr(MSR_ARCH_LBR_FROM_0 + i);
		if (!from)
			break;
		to = x86_read_msr(MSR_ARCH_LBR_TO_0 + i);
		if (info) {
			value = x86_read_msr(MSR_ARCH_LBR_INFO_0 + i);
			bits = arch_bits(value);
			kind = bits & ENTRY_ABORT ? 0 : arch_kind(value);
		}
		put_entry(branches, i, from, to, bits);
		branches->kind[i] = kind;
	}
	branches->nr = i;
}

static void arch_save(struct corepmu_cpu *cpuc, struct corepmu_call_stack *stack)
{
	bool info = arch_needs_info(cpuc);
	unsigned int i;

	for (i = 0; i < cpuc->pmu->nr_branches; i++) {
		struct corepmu_branch_record *record = &stack->records[i];

		record->from = x86_read_msr(MSR_ARCH_LBR_FROM_0 + i);
		if (!record->from)
			break;
		record->to = x86_read_msr(MSR_ARCH_LBR_TO_0 + i);
		if (info)
			record->info = x86_read_msr(MSR_ARCH_LBR_INFO_0 + i);
	}
	stack->nr = i;
}

static void arch_restore(struct corepmu_cpu *cpuc, const struct corepmu_call_stack *stack)
{
	bool info = arch_needs_info(cpuc);
	unsigned int i;

	if (stack->nr < cpuc->pmu->nr_branches)
		arch_wipe(cpuc);
	for (i = 0; i < stack->nr; i++) {
		const struct corepmu_branch_record *record = &stack->records[i];

		x86_write_msr(MSR_ARCH_LBR_FROM_0 + i, record->from);
		x86_write_msr(MSR_ARCH_LBR_TO_0 + i, record->to);
		if (info)
			x86_write_msr(MSR_ARCH_LBR_INFO_0 + i, record->info);
	}
}

static bool arch_still_has(struct corepmu_cpu *cpuc, const struct corepmu_call_stack *stack)
{
	return !stack->nr || x86_read_msr(MSR_ARCH_LBR_FROM_0) == stack->records[0].from;
}

static struct corepmu_branch_backend arch_backend = {
	.name		= "architectural last branch records",
	.reset		= arch_reset,
	.start		= arch_start,
	.stop		= arch_stop,
	.wipe		= arch_wipe,
	.read		= arch_read,
	.save		= arch_save,
	.restore	= arch_restore,
	.still_has	= arch_still_has,
	.decode		= x86_branch_decode,
};

/* What this machine has */

static int has_branches(struct x86_desc *desc, struct corepmu_branch_backend *backend,
			unsigned int nr, u64 offers)
{
	unsigned int version = FIELD_GET(EAX_VERSION, cpuid_eax(CPUID_PERFMON));

	backend->offers = COREPMU_BRANCH_KERNEL | (offers & COREPMU_BRANCH_CALL_STACK);
	if ((offers & COREPMU_BRANCH_ANY_TX) && boot_cpu_has(X86_FEATURE_RTM))
		backend->offers |= COREPMU_BRANCH_ANY_TX;
	backend->freeze_ends = version < VERSION_STATUS_FREEZES;
	if (!backend->freeze_ends)
		desc->frozen = STATUS_LBR_FROZEN;

	return corepmu_branch_setup(desc->pmu, backend, nr);
}

static int describe_arch(struct x86_desc *desc)
{
	unsigned int nr;
	u32 eax, ebx, ecx, edx;

	cpuid(CPUID_LBR, &eax, &ebx, &ecx, &edx);
	nr = 8 * fls(FIELD_GET(EAX_DEPTHS, eax));
	if (!nr || (ebx & (EBX_CPL | EBX_FILTER)) != (EBX_CPL | EBX_FILTER)) {
		desc->pmu->branch_reason = "CPUID.1CH has no depth, or no filters";
		return 0;
	}
	if (x86_write_msr_safe(MSR_ARCH_LBR_DEPTH, nr)) {
		desc->pmu->branch_reason = "IA32_LBR_DEPTH does not take what CPUID says";
		return 0;
	}
	arch_tells = ecx;

	return has_branches(desc, &arch_backend, nr, COREPMU_BRANCH_ANY_TX |
			    (ebx & EBX_CALL_STACK ? COREPMU_BRANCH_CALL_STACK : 0));
}

/* A hypervisor may show the format and have no registers: they read as 0, or fault. */
static bool ring_answers(void)
{
	const u64 wanted = 0xabc0;
	u64 value;

	if (x86_write_msr_safe(MSR_LBR_NHM_FROM + NR_RING_RECORDS - 1, wanted) ||
	    x86_read_msr_safe(MSR_LBR_NHM_FROM + NR_RING_RECORDS - 1, &value) ||
	    value != wanted)
		return false;

	return !x86_write_msr_safe(MSR_LBR_NHM_FROM + NR_RING_RECORDS - 1, 0) &&
	       !x86_read_msr_safe(MSR_LBR_NHM_TO + NR_RING_RECORDS - 1, &value) &&
	       !x86_read_msr_safe(MSR_LBR_INFO_0 + NR_RING_RECORDS - 1, &value) &&
	       !x86_read_msr_safe(MSR_LBR_TOS, &value) &&
	       !x86_write_msr_safe(MSR_LBR_SELECT, 0);
}

static int describe_intel(struct x86_desc *desc)
{
	unsigned int format = 0;

	if (boot_cpu_has(X86_FEATURE_ARCH_LBR))
		return describe_arch(desc);

	if (boot_cpu_has(X86_FEATURE_PDCM))
		format = FIELD_GET(PERF_CAP_LBR_FORMAT, x86_read_msr(MSR_IA32_PERF_CAPABILITIES));
	if (format != LBR_FORMAT_INFO_TSX && format != LBR_FORMAT_INFO) {
		desc->pmu->branch_reason =
			"the format of this CPU's records is none of Skylake and later";
		return 0;
	}
	if (!ring_answers()) {
		desc->pmu->branch_reason = "the registers do not keep what is written";
		return 0;
	}

	return has_branches(desc, &ring_backend, NR_RING_RECORDS, COREPMU_BRANCH_CALL_STACK |
			    (format == LBR_FORMAT_INFO_TSX ? COREPMU_BRANCH_ANY_TX : 0));
}

/**
 * x86_describe_branches() - find out what branch records the CPUs have
 * @desc: the PMU, whose counters are described and reserved
 *
 * Process context.
 *
 * Return: 0, also where there are none, or -ENOMEM
 */
int x86_describe_branches(struct x86_desc *desc)
{
	/* Addresses of the kernel are told by their highest bit. */
	if (!IS_ENABLED(CONFIG_64BIT)) {
		desc->pmu->branch_reason = "the kernel is of 32 bits";
		return 0;
	}
	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL)
		return describe_intel(desc);

	return amd_describe_branches(desc);
}
