// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Architectural PEBS of an x86 core PMU: registers and buffer.
 *
 * Intel's Instruction Set Extensions Programming Reference, "Architectural PEBS"; CPUID leaf 0x23,
 * subleaves 4 and 5. A counter's IA32_PMC_GP_CFG_C or IA32_PMC_FX_CFG_C enables its records, and
 * has their groups and the reload value. The buffer has a physical address.
 */
#include "x86/registers/maker.h"
#include "x86/pebs/record.h"

_Static_assert(X86_PEBS_COUNTERS == X86_PMU_COUNTERS_MAX, "X86_PEBS_COUNTERS");

/* IA32_PEBS_BASE */
#define BASE_SIZE		UINT64_C(0xf)		/* the size is 4 KiB << this */
#define BASE_ADDRESS		UINT64_C(0x000ffffffffff000)
#define PAGE_SHIFT		12

/* IA32_PEBS_INDEX: positions in bytes from the start of the buffer, multiples of 16 */
#define INDEX_WR		UINT64_C(0x07fffff0)
#define INDEX_FULL		(UINT64_C(1) << 31)
#define INDEX_EN		(UINT64_C(1) << 32)
#define INDEX_THRESHOLD_SHIFT	32
#define INDEX_THRESHOLD		(INDEX_WR << INDEX_THRESHOLD_SHIFT)
#define INDEX_WRITABLE		(INDEX_WR | INDEX_FULL | INDEX_EN | INDEX_THRESHOLD)

/* IA32_PMC_GP_CFG_C */
#define CFG_C_RELOAD		UINT64_C(0xffffffff)
#define CFG_C_GROUPS_SHIFT	32	/* CPUID has bits 32 and up in EBX */

/* Counters with PDIST: on real CPUs their records show the exact instruction */
#define PDIST_GP		UINT64_C(0x3)
#define PDIST_FIXED		UINT64_C(0x1)

#define LEAF_CAPABILITIES	4
#define LEAF_COUNTERS		5

static uint64_t groups_there(const struct x86_pmu_config *config)
{
	return ARCH_PEBS_XMM | ARCH_PEBS_GPR | ARCH_PEBS_AUX |
	       (x86_lbr_has_arch(config) ? ARCH_PEBS_LBR : 0) | x86_pebs_counters_groups(config);
}

/**
 * x86_pebs_arch_leaf() - return CPUID leaf 0x23, subleaves 4 and 5
 * @config: the PMU
 * @reported: the counters that CPUID reports, by their bits in the global registers
 * @subleaf: the subleaf
 * @regs: set to subleaf 4 or 5; unchanged for other subleaves
 */
void x86_pebs_arch_leaf(const struct x86_pmu_config *config, uint64_t reported, uint32_t subleaf,
			struct x86_pmu_cpuid *regs)
{
	uint64_t fixed = reported >> X86_PMU_GLOBAL_FIXED;

	if (subleaf == LEAF_CAPABILITIES) {
		regs->ebx = (groups_there(config) | ARCH_PEBS_ALLOW) >> CFG_C_GROUPS_SHIFT;
	} else if (subleaf == LEAF_COUNTERS) {
		regs->eax = reported;
		regs->ebx = reported & PDIST_GP;
		regs->ecx = fixed;
		regs->edx = fixed & PDIST_FIXED;
	}
}

/**
 * x86_pebs_arch_takes() - check whether an overflow of a counter writes a record
 * @pmu: the PMU
 * @i: the counter, its index in struct x86_pmu
 */
bool x86_pebs_arch_takes(const struct x86_pmu *pmu, unsigned int i)
{
	return pmu->pebs.index & INDEX_EN && pmu->pebs.cfg_c[i] & ARCH_PEBS_BASIC;
}

/**
 * x86_pebs_arch_is_on() - check whether any counter writes records
 * @pmu: the PMU
 */
bool x86_pebs_arch_is_on(const struct x86_pmu *pmu)
{
	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++)
		if (x86_pebs_arch_takes(pmu, i))
			return true;
	return false;
}

/**
 * x86_pebs_arch_reload() - return the reload value of a counter, for a record or ACR
 * @pmu: the PMU
 * @i: the counter, its index in struct x86_pmu
 *
 * Return: the value, with all upper bits set; 0 without a reload value.
 */
uint64_t x86_pebs_arch_reload(const struct x86_pmu *pmu, unsigned int i)
{
	uint64_t reload = pmu->pebs.cfg_c[i] & CFG_C_RELOAD;

	return reload ? reload | ~CFG_C_RELOAD : 0;
}

/**
 * x86_pebs_arch_write() - write a record
 * @pmu: the PMU; pebs.due has the record's counters
 * @s: contents of the record; this function sets @s->state
 *
 * Return: true if the buffer has reached its threshold.
 */
bool x86_pebs_arch_write(struct x86_pmu *pmu, struct pebs_sample *s)
{
	uint64_t words[PEBS_WORDS_MAX], groups = 0, wr, threshold, room;
	struct x86_pebs *p = &pmu->pebs;
	bool fragments;
	size_t size;

	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++)
		if (p->due >> i & 1)
			groups |= p->cfg_c[i] & groups_there(pmu->config);
	x86_pebs_counters_arch(pmu, groups, s);
	pmu->ops->state(pmu, &s->state, groups & ARCH_PEBS_XMM);
	fragments = pmu->config->pebs.fragments && p->records % pmu->config->pebs.fragments == 0;
	size = x86_pebs_arch_record(pmu, s, groups, fragments, words) * sizeof(*words);
	wr = p->index & INDEX_WR;
	threshold = p->index >> INDEX_THRESHOLD_SHIFT & INDEX_WR;
	room = UINT64_C(1) << (PAGE_SHIFT + (p->base & BASE_SIZE));
	if (p->index & INDEX_FULL || wr + size > room) {
		p->index |= INDEX_FULL;
		p->full++;
		return wr >= threshold;
	}
	if (!pmu->ops->write_physical(pmu, (p->base & BASE_ADDRESS) + wr, words, size)) {
		p->unmapped++;
		return false;
	}
	p->written++;
	wr += size;
	p->index = (p->index & ~INDEX_WR) | wr;
	return wr >= threshold;
}

/* ---- registers ---- */

X86_MSR_READ(x86_pebs_read_base, pebs.base)

X86_MSR_WRITE(x86_pebs_write_base, pebs.base, BASE_ADDRESS | BASE_SIZE)

X86_MSR_READ(x86_pebs_read_index, pebs.index)

X86_MSR_WRITE(x86_pebs_write_index, pebs.index, INDEX_WRITABLE)

static bool write_cfg_c(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	uint64_t allowed = CFG_C_RELOAD;

	if (x86_pebs_architectural(pmu->config))
		allowed |= groups_there(pmu->config) | ARCH_PEBS_ALLOW | ARCH_PEBS_BASIC;
	if (value & ~allowed)
		return false;
	pmu->pebs.cfg_c[i] = value;
	return true;
}

X86_MSR_READ(x86_pebs_read_gp_cfg_c, pebs.cfg_c[i])

bool x86_pebs_write_gp_cfg_c(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	return write_cfg_c(pmu, i, value);
}

X86_MSR_READ(x86_pebs_read_fx_cfg_c, pebs.cfg_c[X86_PMU_GP_MAX + i])

bool x86_pebs_write_fx_cfg_c(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	return write_cfg_c(pmu, X86_PMU_GP_MAX + i, value);
}
