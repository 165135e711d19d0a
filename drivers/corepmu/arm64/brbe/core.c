// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: branch records of the Branch Record Buffer Extension (BRBE)
 *
 * FEAT_BRBE: Arm Architecture Reference Manual for A-profile, DDI 0487, chapter D18. The built-in
 * driver is drivers/perf/arm_brbe.c, since 6.17. Record 0 is always the youngest, and a record has
 * the type of its branch.
 *
 * The overflow of an event counter pauses recording until the driver clears the pause. The cycle
 * counter does not pause (D18, "Freezing"): events with branch records are not placed there.
 *
 * An exception, or an exception return, between a recorded and an unrecorded level has only one
 * address; the other reads as 0.
 *
 * With VHE, BRBCR_EL1 (accessed as BRBCR_EL12) controls the pause, and BRBCR_EL2 (accessed as
 * BRBCR_EL1) selects the levels; both must enable cycles and mispredictions. For a kernel at EL1,
 * EL2 must not trap the registers. Linux ensures this since 6.17 (asm/el2_setup.h, which Kbuild
 * checks).
 *
 * Exceptions and exception returns are recorded only if an event has the kernel's branches. FIQs
 * and debug exceptions are PERF_BR_IRQ; the built-in driver omits them. The built-in driver
 * invalidates all records at each start. This driver keeps records of user space while the PMU is
 * stopped: only the kernel runs meanwhile. If an event wants the kernel's branches, or an overflow
 * has paused recording, the next start clears all records.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "brbe.h"
#include "../pmuv3.h"

#define BRANCH_EXCEPTIONS						\
	(COREPMU_BRANCH_SYSCALL | COREPMU_BRANCH_SOFT_INT | COREPMU_BRANCH_IRQ |	\
	 COREPMU_BRANCH_UNKNOWN)
#define BRANCH_EXCEPTION_RETURNS	(COREPMU_BRANCH_SYSRET | COREPMU_BRANCH_ERET)

/* Exceptions have a kernel address, so record them only if an event may have kernel branches. */
static u64 make_brbcr(u64 wanted)
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

static u64 make_brbfcr(u64 wanted)
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
 * Write the control register. At EL2 (VHE), BRBCR_EL2 has the name BRBCR_EL1, and BRBCR_EL1 the
 * name BRBCR_EL12. CC and MPRED must be set in both registers. BRBCR_EL12 gets no levels and no
 * exceptions: these bits would record a guest. FZP in BRBCR_EL12 decides whether a counter outside
 * EL2's range pauses recording.
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
	u64 cr = make_brbcr(branches->wanted);

	if (branches->cached_reg != cr) {
		write_brbcr(cr);
		/* The write takes effect before recording starts. */
		isb();
		branches->cached_reg = cr;
	}
	brbe_write_fcr(make_brbfcr(branches->wanted));
}

/*
 * Stop recording. A reader takes the code between two records for straight-line code, so no branch
 * may be missing between them. After an overflow has paused recording, the branches up to the
 * interrupt are missing. If an event records the kernel's branches, those from this stop to the
 * next start are missing. In both cases mark the records stale: samples use them until the next
 * start clears them. brbe_enable() of drivers/perf/arm_brbe.c clears them at each start.
 */
static void brbe_stop(struct corepmu_cpu *cpuc)
{
	struct corepmu_branches *branches = cpuc->branches;

	if (branches->recording && ((branches->wanted & COREPMU_BRANCH_KERNEL) ||
				    (brbe_read_fcr() & BRBFCR_PAUSED)))
		branches->stale = true;
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

static void brbe_clear(struct corepmu_cpu *cpuc)
{
	/* Branches before this point are not recorded after the reset. */
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

static u32 type_of(u64 info)
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

/*
 * Return the cycles of a record. The mantissa has a hidden 1 unless the exponent is 0. An entry of
 * perf has 16 bits for the cycles.
 */
static unsigned int cycles_of(u64 info)
{
	unsigned int exponent = FIELD_GET(BRBINF_CC_EXP, info);
	u64 mantissa = FIELD_GET(BRBINF_CC_MANT, info);

	if (info & BRBINF_CCU)
		return 0;
	if (!exponent)
		return mantissa;

	/* All ones is a saturated count. */
	return min_t(u64, (mantissa | BIT(8)) << min(exponent - 1, 16U), U16_MAX);
}

/* Set the type of an exception if perf has a more exact type than PERF_BR_IRQ. */
static void set_exception_type(struct perf_branch_entry *entry, u64 info)
{
	switch (FIELD_GET(BRBINF_TYPE, info)) {
	case BRBINF_SERROR:
		entry->type = PERF_BR_SERROR;
		break;
	case BRBINF_ALIGN_FAULT:
		entry->type = PERF_BR_EXTEND_ABI;
		entry->new_type = PERF_BR_NEW_FAULT_ALGN;
		break;
	case BRBINF_INSN_FAULT:
		entry->type = PERF_BR_EXTEND_ABI;
		entry->new_type = PERF_BR_NEW_FAULT_INST;
		break;
	case BRBINF_DATA_FAULT:
		entry->type = PERF_BR_EXTEND_ABI;
		entry->new_type = PERF_BR_NEW_FAULT_DATA;
		break;
	}
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
	if (wanted & COREPMU_BRANCH_TYPE)
		set_exception_type(&entry, record->info);
	*to = entry;
}

/* Read @nr records of the bank that begins with record @first. Return the number of valid ones. */
static unsigned int read_bank(struct corepmu_branch_list *list, u64 wanted, unsigned int first,
			      unsigned int nr)
{
	unsigned int i;

	brbe_write_fcr(BRBFCR_PAUSED | FIELD_PREP(BRBFCR_BANK, first / BRBE_BANK_RECORDS));
	/* D18: the bank selection takes effect before the records are read. */
	isb();
	for (i = 0; i < nr; i++) {
		struct corepmu_branch_record record;

		read_record(i, &record);
		if (!(record.info & BRBINF_VALID))
			break;
		fill_entry(&list->entries[first + i], &record, wanted);
		list->type[first + i] = type_of(record.info);
	}

	return i;
}

/* Check whether an NMI has changed the bank: brbe_stop() of every NMI selects bank 0. */
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

/* Never called: each BRBE record has its branch type. */
static u32 brbe_decode(struct perf_branch_entry *entry)
{
	return COREPMU_BRANCH_UNKNOWN;
}

static const struct corepmu_branch_backend brbe_backend = {
	.name		= "BRBE",
	.offers		= COREPMU_BRANCH_KERNEL,
	.freeze_ends	= true,
	.halves		= true,
	.reset		= brbe_reset,
	.start		= brbe_start,
	.stop		= brbe_stop,
	.clear		= brbe_clear,
	.read		= brbe_read,
	.decode		= brbe_decode,
};

/**
 * pmuv3_describe_branches() - find out how many branch records a CPU has
 * @pmuv3: the PMU; all other members are set
 *
 * At EL1, below an EL2, accesses trap to EL2 until EL2 opens the registers in HDFGRTR_EL2,
 * HDFGWTR_EL2 and HFGITR_EL2. Kernels do that at EL2 since 6.17 (the kernel's asm/el2_setup.h). At
 * EL2, below an EL3, accesses trap until firmware opens the registers in MDCR_EL3.SBRBE. Kernels
 * require that of firmware since 6.17 (Documentation/arch/arm64/booting.rst). For older kernels the
 * bit is unknown, and most firmware does not survive such a trap. On one of the PMU's CPUs, not
 * preemptible.
 */
void __corepmu_init pmuv3_describe_branches(struct pmuv3 *pmuv3)
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
			"kernels before 6.17 do not require firmware to open BRBE";
		return;
	}

	idr0 = brbe_read_idr0();
	nr = FIELD_GET(BRBIDR0_NUMREC, idr0);
	if (FIELD_GET(BRBIDR0_FORMAT, idr0) != BRBIDR0_FORMAT_0 ||
	    FIELD_GET(BRBIDR0_CC, idr0) != BRBIDR0_CC_20_BIT ||
	    (nr != 8 && nr != 16 && nr != 32 && nr != 64)) {
		pmuv3->pmu->branch_reason = "BRBIDR0_EL1 reports an unknown record format";
		return;
	}
	pmuv3->nr_branches = nr;
}

/**
 * pmuv3_setup_branches() - set up the branch records that pmuv3_describe_branches() has found
 * @pmuv3: the PMU
 *
 * Process context.
 *
 * Return: 0, also if there are none, or -ENOMEM
 */
int __corepmu_init pmuv3_setup_branches(struct pmuv3 *pmuv3)
{
	if (!pmuv3->nr_branches)
		return 0;

	return corepmu_branch_setup(pmuv3->pmu, &brbe_backend, pmuv3->nr_branches);
}
