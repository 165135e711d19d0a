// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Last branch records (LBR) of an x86 core PMU.
 *
 * Registers as in the Intel SDM, volume 3B, "Last Branch, Interrupt, and Exception Recording"
 * (LBR since Haswell) and "Last Branch Records" (architectural LBR), volume 4; and in the AMD APM,
 * volume 2, "Last Branch Stack Registers", and AMD PPR for family 19h model 11h.
 *
 * Haswell's and Skylake's records are a ring, and MSR_LASTBRANCH_TOS has the position of the
 * youngest. In architectural LBR and AMD's, record 0 is the youngest.
 */
#include <string.h>

#include "common/options.h"
#include "common/plugin.h"
#include "x86/registers/maker.h"

/* IA32_DEBUGCTL, DbgCtl */
#define DEBUGCTL_LBR		(UINT64_C(1) << 0)
#define DEBUGCTL_FREEZE_LBR	(UINT64_C(1) << 11)

/* MSR_LBR_SELECT: branches not to record. AMD's register lacks the call stack bit. */
#define SELECT_KERNEL		(UINT64_C(1) << 0)
#define SELECT_USER		(UINT64_C(1) << 1)
#define SELECT_CALL_STACK	(UINT64_C(1) << 9)
#define SELECT_AMD		UINT64_C(0x1ff)
#define SELECT_INTEL		(SELECT_AMD | SELECT_CALL_STACK)

/* IA32_LBR_CTL: branches to record */
#define CTL_ENABLED		(UINT64_C(1) << 0)
#define CTL_OS			(UINT64_C(1) << 1)
#define CTL_USR			(UINT64_C(1) << 2)
#define CTL_CALL_STACK		(UINT64_C(1) << 3)
#define CTL_WRITABLE		UINT64_C(0x7f000f)

/* DBG_EXTN_CFG */
#define EXTN_LBRV2_ENABLED	(UINT64_C(1) << 6)

/* MSR_LBR_INFO_x, IA32_LBR_x_INFO; only IA32_LBR_x_INFO has the type and INFO_CYCLES_VALID. */
#define INFO_CYCLES_MAX		UINT64_C(0xffff)
#define INFO_COUNT_SHIFT	32	/* counter 0's; the other counters' fields follow */
#define INFO_COUNT_BITS		2
#define INFO_COUNT_MAX		3
#define INFO_TYPE_SHIFT		56
#define INFO_CYCLES_VALID	(UINT64_C(1) << 60)
#define INFO_MISPREDICTED	(UINT64_C(1) << 63)

/*
 * MSR_LASTBRANCH_x_FROM_IP of Haswell and Broadwell: MISPRED, and IN_TSX and TSX_ABORT. QEMU lacks
 * TSX. Without TSX the CPU records 0 in the last two bits, but a write must have the sign there
 * (Intel's specification updates, errata HSD172 and BDM127).
 */
#define FROM_MISPREDICTED	(UINT64_C(1) << 63)
#define FROM_TSX		(UINT64_C(3) << 61)
#define FROM_SIGN		(UINT64_C(0xffff) << 47)	/* bits 62 to 47 */

/* SAMP_BR_FROM, SAMP_BR_TO */
#define AMD_ADDRESS		((UINT64_C(1) << 58) - 1)
#define AMD_FROM_MISPREDICTED	(UINT64_C(1) << 63)
#define AMD_TO_SPECULATIVE	(UINT64_C(1) << 62)
#define AMD_TO_VALID		(UINT64_C(1) << 63)

/* The bit number of each type in the SELECT registers, and in IA32_LBR_CTL */
static const struct {
	uint8_t select;
	uint8_t ctl;
} bits[X86_LBR_TYPES] = {
	[X86_LBR_CONDITIONAL]	= { 2, 16 },
	[X86_LBR_INDIRECT_JUMP]	= { 6, 18 },
	[X86_LBR_JUMP]		= { 7, 17 },
	[X86_LBR_INDIRECT_CALL]	= { 4, 20 },
	[X86_LBR_CALL]		= { 3, 19 },
	[X86_LBR_RETURN]	= { 5, 21 },
	[X86_LBR_OTHER]		= { 8, 22 },
};

/* ---- enabling and freezing ---- */

static void clear(struct x86_lbr *lbr)
{
	memset(lbr->entry, 0, sizeof(lbr->entry));
	memset(lbr->happened, 0, sizeof(lbr->happened));
	lbr->top = 0;
}

static unsigned int wanted_rings(const struct x86_pmu *pmu)
{
	const struct x86_lbr *lbr = &pmu->lbr;

	if (pmu->status & X86_PMU_STATUS_LBR_FROZEN && !pmu->config->lbr.unfrozen)
		return 0;
	switch (pmu->config->lbr.kind) {
	case X86_LBR_FLAGS:
	case X86_LBR_INFO:
		if (!(pmu->debugctl & DEBUGCTL_LBR))
			return 0;
		break;
	case X86_LBR_ARCH:
		if (!(lbr->ctl & CTL_ENABLED))
			return 0;
		return x86_pmu_rings(pmu, lbr->ctl & CTL_USR, lbr->ctl & CTL_OS);
	case X86_LBR_AMD:
		if (!(lbr->ctl & EXTN_LBRV2_ENABLED))
			return 0;
		break;
	default:
		return 0;
	}
	return x86_pmu_rings(pmu, !(lbr->select & SELECT_USER), !(lbr->select & SELECT_KERNEL));
}

/* Return the types to record of branches that end in the kernel, or in user space. */
static unsigned int wanted_types(const struct x86_pmu *pmu, bool kernel)
{
	const struct x86_lbr *lbr = &pmu->lbr;
	bool arch = pmu->config->lbr.kind == X86_LBR_ARCH;
	unsigned int type, types = 0;

	if (arch ? !(lbr->ctl & (kernel ? CTL_OS : CTL_USR)) :
		   lbr->select & (kernel ? SELECT_KERNEL : SELECT_USER))
		return 0;
	for (type = 0; type < X86_LBR_TYPES; type++)
		if (arch ? lbr->ctl >> bits[type].ctl & 1 : !(lbr->select >> bits[type].select & 1))
			types |= 1u << type;
	return types;
}

static bool is_call_stack(const struct x86_pmu *pmu)
{
	switch (pmu->config->lbr.kind) {
	case X86_LBR_ARCH:
		return pmu->lbr.ctl & CTL_CALL_STACK;
	case X86_LBR_FLAGS:
	case X86_LBR_INFO:
		return pmu->lbr.select & SELECT_CALL_STACK;
	default:
		return false;
	}
}

/* The kinds that records need */
#define RECORD_KINDS	(X86_PMU_KIND_BIT(X86_PMU_RECORDS) | X86_PMU_KIND_BIT(X86_PMU_CYCLES))

/**
 * x86_lbr_needs() - return a bitmap of the kinds that LBR needs now
 * @pmu: the PMU
 */
uint32_t x86_lbr_needs(const struct x86_pmu *pmu)
{
	return pmu->lbr.rings ? RECORD_KINDS : 0;
}

/**
 * x86_lbr_update() - set the branches that the CPU reports, after the change of a register
 * @pmu: the PMU of this thread's CPU
 */
void x86_lbr_update(struct x86_pmu *pmu)
{
	const struct x86_lbr_config *config = &pmu->config->lbr;
	unsigned int rings = wanted_rings(pmu);
	uint64_t cycles;

	pmu->lbr.types[false] = wanted_types(pmu, false);
	pmu->lbr.types[true] = wanted_types(pmu, true);
	pmu->lbr.calls = is_call_stack(pmu);
	pmu->lbr.simple = !pmu->lbr.calls && !config->counters && !config->lose && !config->tear;
	if (rings == pmu->lbr.rings)
		return;
	if (rings)
		pmu->ops->need(pmu, RECORD_KINDS);
	cycles = pmu->ops->record(pmu, rings);
	if (!pmu->lbr.rings)
		pmu->lbr.cycles = cycles;
	pmu->lbr.rings = rings;
}

/**
 * x86_lbr_freeze() - freeze LBR at an interrupt of the PMU, if IA32_DEBUGCTL or DbgCtl says so
 * @pmu: the PMU of this thread's CPU
 *
 * The branch being executed is still recorded: it comes before the interrupt.
 */
void x86_lbr_freeze(struct x86_pmu *pmu)
{
	if (!pmu->config->lbr.kind || !(pmu->debugctl & DEBUGCTL_FREEZE_LBR))
		return;
	if (x86_pmu_version(pmu->config)->streamlined_freeze)
		pmu->status |= X86_PMU_STATUS_LBR_FROZEN;
	else if (!pmu->config->lbr.unfrozen)
		pmu->debugctl &= ~DEBUGCTL_LBR;
	x86_lbr_update(pmu);
}

/**
 * x86_lbr_reset() - set the registers to their values after power-up and RESET
 * @pmu: the PMU
 */
void x86_lbr_reset(struct x86_pmu *pmu)
{
	struct x86_lbr *lbr = &pmu->lbr;

	if (lbr->rings)
		pmu->ops->record(pmu, 0);
	*lbr = (struct x86_lbr) { .depth = pmu->config->lbr.depth, .records = lbr->records };
}

/* ---- recording ---- */

static void pop(struct x86_lbr *lbr)
{
	lbr->entry[lbr->top] = (struct x86_lbr_entry) { 0 };
	lbr->top = (lbr->top ? lbr->top : lbr->depth) - 1;
}

/*
 * Update the LBR call stack, which has the calls without a return so far. Code calls the next
 * instruction to learn its address; such a call has no return and is not recorded. Return true if
 * the branch is to be recorded.
 */
static bool follow_calls(struct x86_lbr *lbr, const struct x86_lbr_branch *b)
{
	switch (b->type) {
	case X86_LBR_RETURN:
		pop(lbr);
		return false;
	case X86_LBR_CALL:
	case X86_LBR_INDIRECT_CALL:
		return !b->next;
	default:
		return false;
	}
}

/*
 * AMD's records show whether a branch was executed speculatively and retired: here, each
 * conditional branch that was predicted correctly.
 */
static struct x86_lbr_entry amd_entry(const struct x86_lbr_branch *b)
{
	return (struct x86_lbr_entry) {
		.from = (b->from & AMD_ADDRESS) | (b->mispredicted ? AMD_FROM_MISPREDICTED : 0),
		.to = (b->to & AMD_ADDRESS) | AMD_TO_VALID |
		      (b->type == X86_LBR_CONDITIONAL && !b->mispredicted ?
		       AMD_TO_SPECULATIVE : 0),
	};
}

/**
 * x86_lbr_counted() - add the update of a counter to the event counts of the next record
 * @pmu: the PMU
 * @i: the counter, its index in struct x86_pmu
 * @steps: the advance; negative if counts are taken back
 */
void x86_lbr_counted(struct x86_pmu *pmu, unsigned int i, int64_t steps)
{
	if (i < X86_LBR_COUNTERS)
		pmu->lbr.happened[i] += steps;
}

/**
 * x86_lbr_select() - drop the event count of a counter if a write changes its event
 * @pmu: the PMU; all its counters are up to date
 * @i: the counter, its index in struct x86_pmu
 * @value: the new value of the selector
 */
void x86_lbr_select(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	const uint64_t name = X86_PMU_SEL_EVENT | X86_PMU_SEL_UMASK;

	if (i < X86_LBR_COUNTERS && (pmu->counter[i].select ^ value) & name)
		pmu->lbr.happened[i] = 0;
}

/*
 * Return the event counts since the last record, including the branch, each at most INFO_COUNT_MAX.
 * Only counters with X86_PMU_SEL_LBR_LOG have one.
 */
static uint64_t counts_of(struct x86_pmu *pmu)
{
	int64_t ahead[X86_LBR_COUNTERS], happened;
	struct x86_lbr *lbr = &pmu->lbr;
	uint64_t info = 0;

	x86_pmu_ahead(pmu, ahead, X86_LBR_COUNTERS);
	for (unsigned int i = 0; i < X86_LBR_COUNTERS; i++) {
		happened = lbr->happened[i] + ahead[i];
		/* The counter's next update adds @ahead again. */
		lbr->happened[i] = -ahead[i];
		if (!(pmu->config->lbr.counters >> i & 1) ||
		    !(pmu->counter[i].select & X86_PMU_SEL_LBR_LOG) || happened <= 0)
			continue;
		info |= (uint64_t)(happened < INFO_COUNT_MAX ? happened : INFO_COUNT_MAX) <<
			(INFO_COUNT_SHIFT + i * INFO_COUNT_BITS);
	}
	return info;
}

static struct x86_lbr_entry intel_entry(struct x86_pmu *pmu, const struct x86_lbr_branch *b)
{
	uint64_t cycles = b->cycles - pmu->lbr.cycles;
	struct x86_lbr_entry e = {
		.from = b->from,
		.to = b->to,
		.info = (cycles < INFO_CYCLES_MAX ? cycles : INFO_CYCLES_MAX) |
			(b->mispredicted ? INFO_MISPREDICTED : 0),
	};

	if (pmu->config->lbr.kind == X86_LBR_FLAGS)
		return (struct x86_lbr_entry) {
			.from = (b->from & ~(FROM_MISPREDICTED | FROM_TSX)) |
				(b->mispredicted ? FROM_MISPREDICTED : 0),
			.to = b->to,
		};
	if (pmu->config->lbr.kind == X86_LBR_ARCH)
		e.info |= INFO_CYCLES_VALID | (uint64_t)b->type << INFO_TYPE_SHIFT;
	if (pmu->config->lbr.counters)
		e.info |= counts_of(pmu);
	return e;
}

/**
 * x86_pmu_branch() - record a taken branch, if software has enabled its type
 * @pmu: the PMU of this thread's CPU
 * @branch: the branch
 */
void x86_pmu_branch(struct x86_pmu *pmu, const struct x86_lbr_branch *branch)
{
	const struct x86_lbr_config *config = &pmu->config->lbr;
	struct x86_lbr *lbr = &pmu->lbr;
	struct x86_lbr_entry e;

	if (!(lbr->types[branch->kernel] >> branch->type & 1) ||
	    (lbr->calls && !follow_calls(lbr, branch)))
		return;

	lbr->records++;
	e = config->kind == X86_LBR_AMD ? amd_entry(branch) : intel_entry(pmu, branch);
	lbr->cycles = branch->cycles;
	if (fault_is_due(config->lose, lbr->records))
		return;
	if (fault_is_due(config->tear, lbr->records))
		e.to = lbr->entry[lbr->top].to;
	lbr->top = lbr->top + 1 < lbr->depth ? lbr->top + 1 : 0;
	lbr->entry[lbr->top] = e;
}

/**
 * x86_lbr_skip() - record branches that later records will overwrite; LBR is @simple
 * @pmu: the PMU of this thread's CPU
 * @nr: number of records
 * @cycles: count of cycles at the last of them
 */
void x86_lbr_skip(struct x86_pmu *pmu, unsigned int nr, uint64_t cycles)
{
	struct x86_lbr *lbr = &pmu->lbr;

	lbr->records += nr;
	lbr->top = (lbr->top + nr) % lbr->depth;
	lbr->cycles = cycles;
}

/**
 * x86_lbr_nth() - return a record by its age
 * @pmu: the PMU
 * @i: 0 for the youngest
 *
 * Return: the record; zeros if there is none.
 */
struct x86_lbr_entry x86_lbr_nth(const struct x86_pmu *pmu, unsigned int i)
{
	const struct x86_lbr *lbr = &pmu->lbr;

	if (i >= lbr->depth)
		return (struct x86_lbr_entry) { 0 };
	return lbr->entry[(lbr->top + lbr->depth - i) % lbr->depth];
}

/* ---- registers ---- */

X86_MSR_READ(x86_lbr_read_select, lbr.select)

X86_MSR_WRITE(x86_lbr_write_select, lbr.select,
	      x86_lbr_has_amd(pmu->config) ? SELECT_AMD : SELECT_INTEL)

X86_MSR_READ(x86_lbr_read_ctl, lbr.ctl)

/* Software has to preserve AMD's other bits, which are 0 in this model. */
X86_MSR_WRITE(x86_lbr_write_ctl, lbr.ctl,
	      x86_lbr_has_amd(pmu->config) ? EXTN_LBRV2_ENABLED : CTL_WRITABLE)

X86_MSR_READ(x86_lbr_read_depth, lbr.depth)

/* Any write clears the records. */
bool x86_lbr_write_depth(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	(void)i;
	if (!x86_lbr_has_depth(&pmu->config->lbr, value))
		return false;
	clear(&pmu->lbr);
	pmu->lbr.depth = value;
	return true;
}

X86_MSR_READ(x86_lbr_read_tos, lbr.top)

/* Linux writes this register when it restores a task's LBR call stack. */
bool x86_lbr_write_tos(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	(void)i;
	if (value >= pmu->lbr.depth)
		return false;
	pmu->lbr.top = value;
	return true;
}

/* Return a record by its register number; NULL above the depth: reads are 0, writes are ignored. */
static struct x86_lbr_entry *entry_of(struct x86_pmu *pmu, unsigned int i)
{
	struct x86_lbr *lbr = &pmu->lbr;

	if (i >= lbr->depth)
		return NULL;
	if (!x86_lbr_has_ring(pmu->config))
		i = (lbr->top + lbr->depth - i) % lbr->depth;
	return &lbr->entry[i];
}

static bool is_valid_from(const struct x86_pmu *pmu, uint64_t value)
{
	return pmu->config->lbr.kind != X86_LBR_FLAGS || !(value & FROM_SIGN) ||
	       (value & FROM_SIGN) == FROM_SIGN;
}

/*
 * Define x86_lbr_read_FIELD() and x86_lbr_write_FIELD() for a field of the records. The write
 * faults unless @is_valid.
 */
#define RECORD_MSR(field, is_valid)							\
	bool x86_lbr_read_##field(struct x86_pmu *pmu, unsigned int i, uint64_t *value)	\
	{										\
		const struct x86_lbr_entry *e = entry_of(pmu, i);			\
											\
		*value = e ? e->field : 0;						\
		return true;								\
	}										\
											\
	bool x86_lbr_write_##field(struct x86_pmu *pmu, unsigned int i, uint64_t value)	\
	{										\
		struct x86_lbr_entry *e = entry_of(pmu, i);				\
											\
		if (!(is_valid))							\
			return false;							\
		if (e)									\
			e->field = value;						\
		return true;								\
	}

RECORD_MSR(from, is_valid_from(pmu, value))
RECORD_MSR(to, true)
RECORD_MSR(info, true)
