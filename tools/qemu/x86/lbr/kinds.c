// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Types of last branch records (LBR), and the CPUID leaves and MSR that report them.
 *
 * CPUID leaf 0x1c and IA32_PERF_CAPABILITIES as in the Intel SDM, volume 2, "CPUID", and volume 3B,
 * "Last Branch Records"; leaf 0x80000022 as in the AMD APM, volume 3, "Extended Performance
 * Monitoring and Debug".
 */
#include "common/plugin.h"
#include "x86/registers/maker.h"

/* IA32_PERF_CAPABILITIES: the format of LBR */
#define FORMAT_FLAGS_TSX	4
#define FORMAT_INFO		5
#define FORMAT_ARCH		0x3f

/* CPUID leaf 0x1c: EAX has a bit for each depth, in steps of eight records */
#define LEAF_DEPTH_STEP		8
#define LEAF_FILTERS		7u	/* EBX: by ring, by type, call stack */
#define LEAF_INFORMATION	7u	/* ECX: mispredicted, cycles, type */
#define LEAF_COUNTERS_SHIFT	16	/* ECX: counters with event counts in the records */

/* CPUID leaf 0x80000022 */
#define AMD_LEAF_LBR_V2		(1u << 1)	/* EAX */
#define AMD_LEAF_FREEZE		(1u << 2)
#define AMD_LEAF_DEPTH_SHIFT	4		/* EBX */

static const struct {
	const char *name;
	unsigned int depth;
} kinds[X86_LBR_KINDS] = {
	[X86_LBR_NONE]	= { "off",   0 },
	[X86_LBR_FLAGS]	= { "flags", 16 },
	[X86_LBR_INFO]	= { "info", 32 },
	[X86_LBR_ARCH]	= { "arch", 32 },
	[X86_LBR_AMD]	= { "amd",  16 },
};

/**
 * x86_lbr_name() - return the name of an LBR type in options
 * @kind: the type
 */
const char *x86_lbr_name(enum x86_lbr_kind kind)
{
	return kinds[kind].name;
}

/**
 * x86_lbr_default_depth() - return the default number of records
 * @kind: the LBR type
 */
unsigned int x86_lbr_default_depth(enum x86_lbr_kind kind)
{
	return kinds[kind].depth;
}

/* The records are a ring with MSR_LASTBRANCH_TOS, and MSR_LBR_SELECT filters branches. */
bool x86_lbr_has_ring(const struct x86_pmu_config *config)
{
	return config->lbr.kind == X86_LBR_FLAGS || config->lbr.kind == X86_LBR_INFO;
}

bool x86_lbr_has_info(const struct x86_pmu_config *config)
{
	return config->lbr.kind == X86_LBR_INFO;
}

bool x86_lbr_has_arch(const struct x86_pmu_config *config)
{
	return config->lbr.kind == X86_LBR_ARCH;
}

bool x86_lbr_has_amd(const struct x86_pmu_config *config)
{
	return config->lbr.kind == X86_LBR_AMD;
}

/**
 * x86_lbr_config_error() - check the LBR properties of a PMU
 * @config: the PMU
 *
 * Return: as x86_pmu_config_error().
 */
const char *x86_lbr_config_error(const struct x86_pmu_config *config)
{
	const struct x86_lbr_config *l = &config->lbr;

	if (l->kind == X86_LBR_NONE)
		return l->lose || l->tear || l->unfrozen ? "has no branch records to be faulty" :
		       l->counters ? "has no branch records to have counts of events" : NULL;
	if (x86_pmu_is_amd(config) != x86_lbr_has_amd(config) ||
	    (x86_pmu_is_amd(config) && config->version < X86_PMU_AMD_V2) ||
	    (!x86_pmu_is_amd(config) && !x86_pmu_version(config)->global))
		return "has no branch records of that kind: see lbr=";
	if (x86_lbr_has_ring(config) && !config->full_width)
		return "has no IA32_PERF_CAPABILITIES that reports branch records: see full-width=";
	if (l->counters && (!x86_lbr_has_arch(config) || l->counters >> X86_LBR_COUNTERS))
		return "cannot count events of these counters in branch records: see lbr-counters=";
	if (x86_lbr_has_arch(config) ? l->depth != 8 && l->depth != 16 && l->depth != 32 :
	    l->depth != kinds[l->kind].depth)
		return "has no such number of branch records: see lbr-depth=";
	return NULL;
}

/**
 * x86_lbr_capabilities() - return the LBR bits of IA32_PERF_CAPABILITIES
 * @config: properties of the records
 */
uint64_t x86_lbr_capabilities(const struct x86_lbr_config *config)
{
	switch (config->kind) {
	case X86_LBR_FLAGS:
		return FORMAT_FLAGS_TSX;
	case X86_LBR_INFO:
		return FORMAT_INFO;
	case X86_LBR_ARCH:
		return FORMAT_ARCH;
	default:
		return 0;
	}
}

static uint32_t depth_bit(unsigned int depth)
{
	return UINT32_C(1) << (depth / LEAF_DEPTH_STEP - 1);
}

/**
 * x86_lbr_arch_leaf() - return CPUID leaf 0x1c
 * @config: properties of architectural LBR
 * @regs: set to the leaf
 */
void x86_lbr_arch_leaf(const struct x86_lbr_config *config, struct x86_pmu_cpuid *regs)
{
	*regs = (struct x86_pmu_cpuid) {
		.ebx = LEAF_FILTERS,
		.ecx = LEAF_INFORMATION | (uint32_t)config->counters << LEAF_COUNTERS_SHIFT,
	};
	for (unsigned int depth = LEAF_DEPTH_STEP; depth <= config->depth; depth *= 2)
		regs->eax |= depth_bit(depth);
}

/**
 * x86_lbr_has_depth() - check whether CPUID reports a depth
 * @config: properties of architectural LBR
 * @depth: number of records
 */
bool x86_lbr_has_depth(const struct x86_lbr_config *config, uint64_t depth)
{
	struct x86_pmu_cpuid leaf;

	if (!depth || depth > config->depth || depth % LEAF_DEPTH_STEP)
		return false;
	x86_lbr_arch_leaf(config, &leaf);
	return leaf.eax & depth_bit(depth);
}

/**
 * x86_lbr_amd_leaf() - add AMD's LBR to CPUID leaf 0x80000022
 * @config: properties of AMD's LBR
 * @regs: the leaf
 */
void x86_lbr_amd_leaf(const struct x86_lbr_config *config, struct x86_pmu_cpuid *regs)
{
	regs->eax |= AMD_LEAF_LBR_V2 | AMD_LEAF_FREEZE;
	regs->ebx |= config->depth << AMD_LEAF_DEPTH_SHIFT;
}
