// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Accesses to the registers of the virtual x86 PMU: look up a register by its number, and access
 * the registers that Intel and AMD have in common.
 */
#include "x86/registers/maker.h"

/* Functions for the vendors' tables of registers, see struct x86_pmu_msr_row. */

bool x86_msr_always(const struct x86_pmu_config *config)
{
	(void)config;
	return true;
}

/**
 * x86_msr_set_counter() - set the value of a counter
 * @pmu: the PMU
 * @i: the counter, its index in struct x86_pmu
 * @value: the value; bits above the counter's width are ignored
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

X86_MSR_READ(x86_msr_read_select, counter[i].select)

/* Check whether a write to a register sets reserved bits and faults. */
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

X86_MSR_READ(x86_msr_read_status, status)

X86_MSR_READ(x86_msr_read_global_ctrl, global_ctrl)

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

/* Return the bits that the global status register has. */
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

X86_MSR_READ(x86_msr_read_debugctl, debugctl)

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

/* The last row is x2APIC's LVTPC: the model only counts its accesses. */
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
 * Return the row of a register, and set @i to its index in the row; NULL if the register is not the
 * PMU's. If the PMU lacks branch records, precise samples or instruction-based sampling, QEMU
 * handles the registers of the absent feature; it ignores accesses to registers it does not know.
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
 * x86_pmu_rdmsr() - execute RDMSR
 * @pmu: the PMU of this thread's CPU
 * @msr: the register's number
 * @value: set to the register's value if the result is X86_PMU_DONE
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

/* IA32_MISC_ENABLE: with precise samples, bit 11 reports that BTS is absent, unless bts=on. */
#define MSR_MISC_ENABLE		0x1a0
#define MISC_ENABLE_PERFMON	(UINT32_C(1) << 7)
#define MISC_ENABLE_NO_BTS	(UINT32_C(1) << 11)

/**
 * x86_pmu_rdmsr_more() - return the bits that the PMU adds to a register of QEMU's
 * @pmu: the PMU of this thread's CPU
 * @msr: the register's number
 *
 * Return: the bits to set in the value.
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

/* Note a write to a register of QEMU's that the PMU depends on. */
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
 * x86_pmu_wrmsr() - execute WRMSR
 * @pmu: the PMU of this thread's CPU
 * @msr: the register's number
 * @value: the value to write
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
 * x86_pmu_rdpmc() - execute RDPMC, which the caller has found to be allowed
 * @pmu: the PMU of this thread's CPU
 * @ring: the ring of the instruction
 * @selector: ECX
 * @value: set to the counter's value if the result is X86_PMU_DONE
 */
enum x86_pmu_access x86_pmu_rdpmc(struct x86_pmu *pmu, enum x86_pmu_ring ring,
				  uint32_t selector, uint64_t *value)
{
	const struct x86_pmu_maker *maker = x86_pmu_maker(pmu->config);
	unsigned int i;

	pmu->rdpmc++;
	if (x86_pmu_advance(pmu))
		x86_pmu_activate(pmu);
	if (maker->metrics && maker->metrics(pmu, selector, value)) {
		if (!x86_pmu_is_kernel(ring) && maker->clear_metrics(pmu))
			x86_pmu_activate(pmu);
		return X86_PMU_DONE;
	}
	i = maker->rdpmc(pmu->config, selector);
	if (i == X86_PMU_NO_COUNTER || x86_pmu_is_missing(pmu->config, i))
		return X86_PMU_FAULT;
	*value = !x86_pmu_is_kernel(ring) && is_disabled_for_user(pmu, i) ?
		 0 : x86_pmu_counter_value(pmu, i);
	return X86_PMU_DONE;
}

/**
 * x86_pmu_msr_name() - return the name of a row of struct x86_pmu's msr[]
 * @config: the PMU
 * @row: index into msr[]
 *
 * Return: the name; NULL if the row is unused.
 */
const char *x86_pmu_msr_name(const struct x86_pmu_config *config, unsigned int row)
{
	const struct x86_pmu_maker *maker = x86_pmu_maker(config);

	if (row == ROW_LVTPC)
		return "X2APIC_LVT_PMI";
	return row < maker->msr_rows ? maker->msrs[row].name : NULL;
}
