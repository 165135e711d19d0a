// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: branch records of the Branch Record Buffer Extension, FEAT_BRBE
 *
 * Arm Architecture Reference Manual for A-profile, DDI 0487, chapter D18; the kernel's driver is
 * drivers/perf/arm_brbe.c, since 6.17. The first record is always the youngest, and a record
 * tells what kind of branch it is.
 *
 * Records pause when an event counter overflows, and stay paused until they are told to go on.
 * The cycle counter does not pause them (D18, "Freezing"): events with records are not put there.
 *
 * An exception or its return, from a level that is recorded to one that is not, has one address:
 * the other reads as 0.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/pmu.h>

#include "brbe.h"
#include "pmuv3.h"

#define BRANCH_EXCEPTIONS						\
	(COREPMU_BRANCH_SYSCALL | COREPMU_BRANCH_SOFT_INT | COREPMU_BRANCH_IRQ |	\
	 COREPMU_BRANCH_UNKNOWN)
#define BRANCH_EXCEPTION_RETURNS	(COREPMU_BRANCH_SYSRET | COREPMU_BRANCH_ERET)

/* Exceptions are for those who may have the kernel's branches: either end is an address of it. */
static u64 brbcr(u64 wanted)
{
	u64 cr = BRBCR_FZP | FIELD_PREP(BRBCR_TS, BRBCR_TS_VIRTUAL);

	cr |= wanted & COREPMU_BRANCH_USER ? BRBCR_E0BRE : 0;
	cr |= wanted & COREPMU_BRANCH_CYCLES ? BRBCR_CC : 0;
	cr |= wanted & COREPMU_BRANCH_FLAGS ? BRBCR_MPRED : 0;
	if (wanted & COREPMU_BRANCH_KERNEL) {
		cr |= BRBCR_EXBRE;
		cr |= wanted & BRANCH_EXCEPTIONS ? BRBCR_EXCEPTION : 0;
		cr |= wanted & BRANCH_EXCEPTION_RETURNS ? BRBCR_ERTN : 0;
	}

	return cr;
}

static u64 brbfcr(u64 wanted)
{
	u64 fcr = 0;

	fcr |= wanted & COREPMU_BRANCH_JUMP ? BRBFCR_DIRECT : 0;
	fcr |= wanted & COREPMU_BRANCH_IND_JUMP ? BRBFCR_INDIRECT : 0;
	fcr |= wanted & COREPMU_BRANCH_COND ? BRBFCR_CONDDIR : 0;
	fcr |= wanted & COREPMU_BRANCH_CALL ? BRBFCR_DIRCALL : 0;
	fcr |= wanted & COREPMU_BRANCH_IND_CALL ? BRBFCR_INDCALL : 0;
	fcr |= wanted & COREPMU_BRANCH_RET ? BRBFCR_RTN : 0;

	return fcr;
}

/*
 * A kernel at EL2 writes BRBCR_EL2 by the name of BRBCR_EL1. What both must agree on is in
 * either; and it is EL1's that says whether a counter that is not EL2's own pauses records.
 */
static void write_brbcr(u64 cr)
{
	if (is_kernel_in_hyp_mode())
		brbe_write_cr_el12(cr & (BRBCR_FZP | BRBCR_TS | BRBCR_CC | BRBCR_MPRED));
	brbe_write_cr(cr);
}

static void brbe_start(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;
	u64 cr = brbcr(branches->wanted);

	if (branches->selected != cr) {
		write_brbcr(cr);
		/* Levels and the freeze are as they are to be before anything is recorded. */
		isb();
		branches->selected = cr;
	}
	brbe_write_fcr(brbfcr(branches->wanted));
}

/*
 * Where an overflow has paused records, branches up to its interrupt are missing after them: who
 * takes two records that follow each other for the ends of a straight piece of code would be wrong.
 * So samples that are emitted now have them, and they are wiped before anything is recorded again.
 * brbe_enable() of drivers/perf/arm_brbe.c wipes at each start.
 */
static void brbe_stop(struct corepmu_cpu *cpuc)
{
	if (cpuc->branches->recording && (brbe_read_fcr() & BRBFCR_PAUSED))
		cpuc->branches->stale = true;
	brbe_write_fcr(BRBFCR_PAUSED);
}

static void brbe_reset(struct corepmu_cpu *cpuc)
{
	brbe_write_fcr(BRBFCR_PAUSED);
	if (is_kernel_in_hyp_mode())
		brbe_write_cr_el12(0);
	brbe_write_cr(0);
	isb();
}

static void brbe_wipe(struct corepmu_cpu *cpuc)
{
	/* A branch before this is not recorded after it. */
	isb();
	brbe_invalidate_all();
	isb();
}

static void read_record(unsigned int n, struct corepmu_branch_record *record)
{
	record->info = brbe_read_inf(n);
	if (!(record->info & BRBINF_VALID))
		return;
	record->from = brbe_read_src(n);
	record->to = brbe_read_tgt(n);
}

static u32 kind_of(u64 info)
{
	switch (FIELD_GET(BRBINF_TYPE, info)) {
	case BRBINF_DIRECT_UNCOND:
		return COREPMU_BRANCH_JUMP;
	case BRBINF_INDIRECT:
		return COREPMU_BRANCH_IND_JUMP;
	case BRBINF_DIRECT_LINK:
		return COREPMU_BRANCH_CALL;
	case BRBINF_INDIRECT_LINK:
		return COREPMU_BRANCH_IND_CALL;
	case BRBINF_RET:
		return COREPMU_BRANCH_RET;
	case BRBINF_ERET:
		return COREPMU_BRANCH_ERET;
	case BRBINF_DIRECT_COND:
		return COREPMU_BRANCH_COND;
	case BRBINF_CALL:
		return COREPMU_BRANCH_SYSCALL;
	default:
		return COREPMU_BRANCH_IRQ;
	}
}

/* A mantissa below a 1 that is not there, but when the exponent is 0; an entry has 16 bits. */
static unsigned int cycles_of(u64 info)
{
	unsigned int exponent = FIELD_GET(BRBINF_CC_EXP, info);
	u64 mantissa = FIELD_GET(BRBINF_CC_MANT, info);

	if (info & BRBINF_CCU)
		return 0;
	if (!exponent)
		return mantissa;

	/* All ones: more than the counter has. */
	return min_t(u64, (mantissa | BIT(8)) << min(exponent - 1, 16U), U16_MAX);
}

static void fill_entry(struct perf_branch_entry *to, const struct corepmu_branch_record *record,
		       u64 wanted)
{
	struct perf_branch_entry entry = { };

	entry.from = record->info & BRBINF_SOURCE_VALID ? record->from : 0;
	entry.to = record->info & BRBINF_TARGET_VALID ? record->to : 0;
	if ((wanted & COREPMU_BRANCH_FLAGS) && (record->info & BRBINF_SOURCE_VALID)) {
		entry.mispred = !!(record->info & BRBINF_MPRED);
		entry.predicted = !entry.mispred;
	}
	if (wanted & COREPMU_BRANCH_CYCLES)
		entry.cycles = cycles_of(record->info);
	*to = entry;
}

/* Read @nr records of a bank, which begin at @first. Returns how many there are. */
static unsigned int read_bank(struct corepmu_branch_list *list, u64 wanted, unsigned int first,
			      unsigned int nr)
{
	unsigned int i;

	brbe_write_fcr(BRBFCR_PAUSED | FIELD_PREP(BRBFCR_BANK, first / BRBE_BANK_RECORDS));
	/* D18: an access to a record is to see the bank that was chosen. */
	isb();
	for (i = 0; i < nr; i++) {
		struct corepmu_branch_record record;

		read_record(i, &record);
		if (!(record.info & BRBINF_VALID))
			break;
		fill_entry(&list->entries[first + i], &record, wanted);
		list->kind[first + i] = kind_of(record.info);
	}

	return i;
}

/* An NMI that has nothing to do comes all the same, and its brbe_stop() chooses bank 0. */
static bool has_lost_bank(unsigned int first)
{
	return first && FIELD_GET(BRBFCR_BANK, brbe_read_fcr()) != first / BRBE_BANK_RECORDS;
}

static void brbe_read(struct corepmu_cpu *cpuc, struct corepmu_branch_list *list)
{
	unsigned int first, nr, valid = 0;

	for (first = 0; first < cpuc->pmu->nr_branches; first += BRBE_BANK_RECORDS) {
		nr = min_t(unsigned int, cpuc->pmu->nr_branches - first, BRBE_BANK_RECORDS);
		do
			valid = read_bank(list, cpuc->branches->wanted, first, nr);
		while (unlikely(has_lost_bank(first)));
		if (valid < nr)
			break;
		valid = 0;
	}
	list->nr = min(first, cpuc->pmu->nr_branches) + valid;
}

/* All records say of what kind they are. */
static u32 brbe_decode(struct perf_branch_entry *entry)
{
	return COREPMU_BRANCH_UNKNOWN;
}

static const struct corepmu_branch_backend brbe_backend = {
	.name		= "BRBE",
	.offers		= COREPMU_BRANCH_KERNEL,
	.freeze_ends	= true,
	.reset		= brbe_reset,
	.start		= brbe_start,
	.stop		= brbe_stop,
	.wipe		= brbe_wipe,
	.read		= brbe_read,
	.decode		= brbe_decode,
};

/**
 * pmuv3_describe_branches() - find out what branch records a CPU has
 * @pmuv3: its PMU, described but for these
 *
 * On one of the PMU's CPUs, not preemptible. Where EL2 is another's, or this kernel's that has
 * left it, records trap there until they are made available, as kernels do since 6.17: in
 * HDFGRTR_EL2, HDFGWTR_EL2 and HFGITR_EL2 (the kernel's asm/el2_setup.h). To EL3 they trap until
 * firmware makes them available, in MDCR_EL3.SBRBE, which kernels ask for since 6.17
 * (Documentation/arch/arm64/booting.rst): what firmware does for an older one is not known, and
 * most does not survive such a trap.
 */
void pmuv3_describe_branches(struct pmuv3 *pmuv3)
{
	unsigned int version = FIELD_GET(DFR0_BRBE, pmuv3_read_dfr0()), nr;
	u64 idr0;

	if (version != BRBE_IMP && version != BRBE_V1P1) {
		pmuv3->pmu->branch_reason = "the CPU has no BRBE";
		return;
	}
	if (pmuv3->has_el2 && !COMPAT_EL2_OPENS_BRBE) {
		pmuv3->pmu->branch_reason = "this kernel runs at EL1, and BRBE traps to EL2";
		return;
	}
	if (pmuv3->has_el3 && !COMPAT_EL2_OPENS_BRBE) {
		pmuv3->pmu->branch_reason =
			"BRBE may trap to firmware, which kernels before 6.17 do not ask for it";
		return;
	}

	idr0 = brbe_read_idr0();
	nr = FIELD_GET(BRBIDR0_NUMREC, idr0);
	if (FIELD_GET(BRBIDR0_FORMAT, idr0) != BRBIDR0_FORMAT_0 ||
	    FIELD_GET(BRBIDR0_CC, idr0) != BRBIDR0_CC_20_BIT ||
	    (nr != 8 && nr != 16 && nr != 32 && nr != 64)) {
		pmuv3->pmu->branch_reason = "BRBIDR0_EL1 tells of records of an unknown format";
		return;
	}
	pmuv3->nr_branches = nr;
}

/**
 * pmuv3_setup_branches() - have the branch records that were found
 * @pmuv3: its PMU, described
 *
 * Process context.
 *
 * Return: 0, also where there are none, or -ENOMEM
 */
int pmuv3_setup_branches(struct pmuv3 *pmuv3)
{
	if (!pmuv3->nr_branches)
		return 0;

	return corepmu_branch_setup(pmuv3->pmu, &brbe_backend, pmuv3->nr_branches);
}
