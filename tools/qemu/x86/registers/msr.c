// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Accesses to the registers of the virtual x86 PMU: which register a number is,
 * and what those do that PMUs of Intel and of AMD have alike.
 */
#include "x86/registers/maker.h"

/*
 * Registers that both makers have, for their tables: see struct x86_pmu_msr_row for
 * what its functions take and return.
 */

bool x86_msr_always(const struct x86_pmu_config *config)
{
	(void)config;
	return true;
}

/**
 * x86_msr_set_counter() - have a counter go on from a value
 * @pmu: the PMU
 * @i: the counter, its index in struct x86_pmu
 * @value: the value; bits that the counter does not have are left out
 */
void x86_msr_set_counter(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	pmu->counter[i].value = value & x86_pmu_low_bits(x86_pmu_width(pmu->config, i));
	pmu->counter[i].fraction = 0;
}

bool x86_msr_read_gp(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	*value = x86_pmu_counter_value(pmu, i);
	return true;
}

bool x86_msr_read_select(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	*value = pmu->counter[i].select;
	return true;
}

/* Does the write of a register set reserved bits, and fault? */
static bool reserved(const struct x86_pmu *pmu, uint64_t value, uint64_t allowed)
{
	return !x86_pmu_maker(pmu->config)->reserved_ignored && (value & ~allowed);
}

bool x86_msr_write_select(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	uint64_t known = x86_pmu_maker(pmu->config)->select;

	if (pmu->config->any_thread)
		known |= X86_PMU_SEL_ANY;
	if (pmu->config->version == X86_PMU_INTEL_V6)
		known |= X86_PMU_SEL_EQ | X86_PMU_SEL_UMASK2 | X86_PMU_SEL_USER_DISABLE;
	if (x86_pebs_adaptive(pmu->config))
		known |= X86_PMU_SEL_ADAPTIVE;
	if (pmu->config->lbr.counters >> i & 1)
		known |= X86_PMU_SEL_LBR_LOG;
	if (reserved(pmu, value, known))
		return false;
	x86_lbr_select(pmu, i, value);
	pmu->counter[i].select = value & known;
	return true;
}

bool x86_msr_read_status(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	(void)i;
	*value = pmu->status;
	return true;
}

bool x86_msr_read_global_ctrl(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	(void)i;
	*value = pmu->global_ctrl;
	return true;
}

bool x86_msr_write_global_ctrl(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	uint64_t known = x86_pmu_global_counters(pmu->config);

	(void)i;
	if (pmu->config->perf_metrics)
		known |= X86_PMU_GLOBAL_METRICS;
	if (reserved(pmu, value, known))
		return false;
	pmu->global_ctrl = value & known;
	return true;
}

/* Bits of the global status register. */
static uint64_t status_bits(const struct x86_pmu_config *config)
{
	return x86_pmu_global_counters(config) | x86_pmu_maker(config)->status(config);
}

bool x86_msr_read_zero(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	(void)pmu;
	(void)i;
	*value = 0;
	return true;
}

bool x86_msr_write_status_clear(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	uint64_t resists = 0;

	(void)i;
	if (reserved(pmu, value, status_bits(pmu->config)))
		return false;
	if (pmu->config->sticky_status) {
		resists = value & pmu->status & ~pmu->sticky;
		pmu->sticky = (pmu->sticky | resists) & ~(value & ~resists);
	}
	pmu->status &= ~value | resists;
	return true;
}

bool x86_msr_write_status_set(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	(void)i;
	if (reserved(pmu, value, status_bits(pmu->config)))
		return false;
	pmu->status |= value & status_bits(pmu->config);
	return true;
}

bool x86_msr_read_debugctl(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	(void)i;
	*value = pmu->debugctl;
	return true;
}

bool x86_msr_write_debugctl(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	uint64_t known = x86_pmu_maker(pmu->config)->debugctl;

	(void)i;
	if (pmu->config->lbr.kind)
		known |= X86_PMU_DEBUGCTL_FREEZE;
	if (value & ~known)
		return false;
	pmu->debugctl = value;
	return true;
}

/* The last row is the local APIC's: only counted. */
#define ROW_LVTPC	(X86_PMU_MSR_ROWS - 1)

static bool bank_has(const struct x86_pmu_config *config, enum x86_pmu_bank bank, unsigned int i)
{
	switch (bank) {
	case X86_PMU_BANK_GP:
		return i < config->gp && !x86_pmu_is_missing(config, i);
	case X86_PMU_BANK_FIXED:
		return config->fixed >> i & 1 && !x86_pmu_is_missing(config, X86_PMU_GP_MAX + i);
	case X86_PMU_BANK_RECORD:
		return i < config->lbr.depth;
	default:
		return true;
	}
}

static bool is_of_records(const struct x86_pmu_msr_row *r)
{
	return r->bank == X86_PMU_BANK_LBR || r->bank == X86_PMU_BANK_RECORD;
}

static bool is_absent(const struct x86_pmu_config *config, const struct x86_pmu_msr_row *r)
{
	return (is_of_records(r) && !config->lbr.kind) ||
	       (r->bank == X86_PMU_BANK_PEBS && !config->pebs.format) ||
	       (r->bank == X86_PMU_BANK_IBS && !config->ibs.present);
}

/*
 * The row of a register, and which of its registers it is; NULL if not of the PMU. A PMU without
 * branch records leaves their registers to QEMU, which lets what it does not know pass; likewise
 * those of precise samples, and of instruction-based sampling.
 */
static const struct x86_pmu_msr_row *find_msr(const struct x86_pmu_config *config,
					      uint32_t msr, size_t *row, unsigned int *i)
{
	const struct x86_pmu_maker *maker = x86_pmu_maker(config);

	for (*row = 0; *row < maker->msr_rows; (*row)++) {
		const struct x86_pmu_msr_row *r = &maker->msrs[*row];
		uint32_t offset = msr - r->first;

		if (is_absent(config, r))
			continue;
		*i = offset / r->stride;
		if (msr >= r->first && offset % r->stride == 0 && *i < r->room)
			return r;
	}
	return NULL;
}

static bool msr_exists(const struct x86_pmu_config *config,
		       const struct x86_pmu_msr_row *r, unsigned int i)
{
	return r->present(config) && bank_has(config, r->bank, i);
}

/**
 * x86_pmu_rdmsr() - RDMSR
 * @pmu: the PMU of the CPU whose thread this is
 * @msr: the register's number
 * @value: its value, if X86_PMU_DONE
 */
enum x86_pmu_access x86_pmu_rdmsr(struct x86_pmu *pmu, uint32_t msr, uint64_t *value)
{
	const struct x86_pmu_msr_row *r;
	unsigned int i;
	size_t row;

	r = find_msr(pmu->config, msr, &row, &i);
	if (!r) {
		if (msr == X86_PMU_X2APIC_LVTPC)
			pmu->msr[ROW_LVTPC].reads++;
		return X86_PMU_NOT_HERE;
	}
	pmu->msr[row].reads++;
	if (!msr_exists(pmu->config, r, i) || !r->read)
		return X86_PMU_FAULT;
	if (r->bank != X86_PMU_BANK_RECORD && x86_pmu_advance(pmu))
		x86_pmu_activate(pmu);
	return r->read(pmu, i, value) ? X86_PMU_DONE : X86_PMU_FAULT;
}

/* IA32_MISC_ENABLE: with precise samples, bit 11 says that there is no BTS unless bts=on. */
#define MSR_MISC_ENABLE		0x1a0
#define MISC_ENABLE_PERFMON	(UINT32_C(1) << 7)
#define MISC_ENABLE_NO_BTS	(UINT32_C(1) << 11)

/**
 * x86_pmu_rdmsr_more() - what the PMU adds to a register that is not its own
 * @pmu: the PMU of the CPU whose thread this is
 * @msr: the register's number
 *
 * Return: bits that are set besides.
 */
uint32_t x86_pmu_rdmsr_more(const struct x86_pmu *pmu, uint32_t msr)
{
	if (msr != MSR_MISC_ENABLE || !x86_pebs_in_ds(pmu->config))
		return 0;
	return MISC_ENABLE_PERFMON | (pmu->config->bts ? 0 : MISC_ENABLE_NO_BTS);
}

/* AMD APM, volume 2, "Extended Feature Enable Register" */
#define MSR_EFER		0xc0000080
#define EFER_SVME		(UINT64_C(1) << 12)

/* A register that is QEMU's is written: what does it change for the counters? */
static void note_write(struct x86_pmu *pmu, uint32_t msr, uint64_t value)
{
	if (msr == X86_PMU_X2APIC_LVTPC)
		pmu->msr[ROW_LVTPC].writes++;
	if (msr != MSR_EFER || pmu->svme == !!(value & EFER_SVME))
		return;
	x86_pmu_advance(pmu);
	pmu->svme = value & EFER_SVME;
	x86_pmu_activate(pmu);
}

/**
 * x86_pmu_wrmsr() - WRMSR
 * @pmu: the PMU of the CPU whose thread this is
 * @msr: the register's number
 * @value: what to write
 */
enum x86_pmu_access x86_pmu_wrmsr(struct x86_pmu *pmu, uint32_t msr, uint64_t value)
{
	const struct x86_pmu_msr_row *r;
	unsigned int i;
	size_t row;

	r = find_msr(pmu->config, msr, &row, &i);
	if (!r) {
		note_write(pmu, msr, value);
		return X86_PMU_NOT_HERE;
	}
	pmu->msr[row].writes++;
	if (!msr_exists(pmu->config, r, i) || !r->write)
		return X86_PMU_FAULT;
	if (r->bank == X86_PMU_BANK_RECORD)
		return r->write(pmu, i, value) ? X86_PMU_DONE : X86_PMU_FAULT;
	x86_pmu_advance(pmu);
	if (!r->write(pmu, i, value)) {
		x86_pmu_activate(pmu);
		return X86_PMU_FAULT;
	}
	x86_pmu_activate(pmu);
	return X86_PMU_DONE;
}

/* Intel SDM, volume 3B, "RDPMC User Disable": the counter reads 0 outside ring 0. */
static bool is_disabled_for_user(const struct x86_pmu *pmu, unsigned int i)
{
	if (i >= X86_PMU_GP_MAX)
		return pmu->fixed_ctrl & X86_PMU_FIXED_USER_DISABLE(i - X86_PMU_GP_MAX);
	return !x86_pmu_is_amd(pmu->config) && pmu->counter[i].select & X86_PMU_SEL_USER_DISABLE;
}

/**
 * x86_pmu_rdpmc() - RDPMC, where it is allowed
 * @pmu: the PMU of the CPU whose thread this is
 * @ring: where
 * @selector: ECX
 * @value: the counter, if X86_PMU_DONE
 */
enum x86_pmu_access x86_pmu_rdpmc(struct x86_pmu *pmu, enum x86_pmu_ring ring,
				  uint32_t selector, uint64_t *value)
{
	const struct x86_pmu_maker *maker = x86_pmu_maker(pmu->config);
	unsigned int i;

	pmu->rdpmc++;
	if (x86_pmu_advance(pmu))
		x86_pmu_activate(pmu);
	if (maker->metrics && maker->metrics(pmu, selector, value))
		return X86_PMU_DONE;
	i = maker->rdpmc(pmu->config, selector);
	if (i == X86_PMU_NO_COUNTER || x86_pmu_is_missing(pmu->config, i))
		return X86_PMU_FAULT;
	*value = ring == X86_PMU_USER && is_disabled_for_user(pmu, i) ?
		 0 : x86_pmu_counter_value(pmu, i);
	return X86_PMU_DONE;
}

/**
 * x86_pmu_msr_name() - names for the accesses counted in struct x86_pmu
 * @config: the PMU
 * @row: index into its msr[]
 *
 * Return: NULL where nothing is counted.
 */
const char *x86_pmu_msr_name(const struct x86_pmu_config *config, unsigned int row)
{
	const struct x86_pmu_maker *maker = x86_pmu_maker(config);

	if (row == ROW_LVTPC)
		return "X2APIC_LVT_PMI";
	return row < maker->msr_rows ? maker->msrs[row].name : NULL;
}
