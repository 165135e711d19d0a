// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUID of Intel's PMU.
 */
#include "x86/registers/maker.h"
#include "x86/uarch/uarch.h"

#define LEAF_VENDOR		0x00000000
#define LEAF_FEATURES		0x00000001
#define LEAF_STRUCTURED		0x00000007
#define LEAF_PERFMON		0x0000000a
#define LEAF_TSC		0x00000015
#define LEAF_HYBRID		0x0000001a
#define LEAF_PERFMON_EXT	0x00000023
#define LEAF_LBR		0x0000001c

#define FEATURE_DTES64		(UINT32_C(1) << 2)	/* the DS area */
#define FEATURE_DS_CPL		(UINT32_C(1) << 4)
#define FEATURE_DS		(UINT32_C(1) << 21)
#define FEATURE_PDCM		(UINT32_C(1) << 15)	/* IA32_PERF_CAPABILITIES */
#define FEATURE_HYBRID		(UINT32_C(1) << 15)
#define FEATURE_ARCH_LBR	(UINT32_C(1) << 19)
#define FEATURE_ANY_DEPRECATED	(UINT32_C(1) << 15)
#define FEATURE_PERFMON_EXT	(UINT32_C(1) << 8)	/* leaf 7, subleaf 1, EAX */
#define CORE_TYPE_SHIFT		24
#define HZ_PER_MHZ		UINT32_C(1000000)
#define LAPIC_HZ		(1000 * HZ_PER_MHZ)

/* Architectural events: every version has all but the slots. */
#define EVENTS_COMMON		7
#define EVENTS_WITH_SLOTS	8

static bool says_deprecated(const struct x86_pmu_config *config)
{
	return !config->any_thread && !(config->uarch && config->uarch->zhaoxin);
}

static void perfmon_leaf(const struct x86_pmu_config *config, struct x86_pmu_cpuid *regs)
{
	unsigned int version = config->perfmon ?: config->version - X86_PMU_INTEL_V1 + 1u;
	uint64_t reported = x86_pmu_global_counters(config) & ~config->unreported;
	uint32_t fixed = reported >> X86_PMU_GLOBAL_FIXED;
	unsigned int events = fixed & 8 ? EVENTS_WITH_SLOTS : EVENTS_COMMON;
	unsigned int gp = 0, contiguous = 0;

	while (gp < config->gp && reported >> gp & 1)
		gp++;
	while (fixed >> contiguous & 1)
		contiguous++;

	*regs = (struct x86_pmu_cpuid) {
		.eax = version | gp << 8 | config->gp_width << 16 | events << 24,
		.ecx = version >= 5 ? fixed : 0,
		.edx = version >= 2 ? contiguous | config->fixed_width << 5 |
				      (says_deprecated(config) ? FEATURE_ANY_DEPRECATED : 0) : 0,
	};
}

/*
 * Intel SDM, volume 2A, "CPUID", leaf 0x15: ECX is the crystal's frequency in Hz, and the
 * time-stamp counter's is ECX * EBX / EAX. Linux takes the crystal's frequency for the local APIC
 * timer's, which is 1 GHz in QEMU.
 */
static void tsc_leaf(const struct x86_pmu_config *config, struct x86_pmu_cpuid *regs)
{
	*regs = (struct x86_pmu_cpuid) {
		.eax = LAPIC_HZ / HZ_PER_MHZ, .ebx = config->tsc_mhz, .ecx = LAPIC_HZ,
	};
}

/* A hybrid machine: Intel SDM, volume 2A, "CPUID", leaves 0x7 and 0x1a */
static void hybrid_leaf(const struct x86_pmu_config *config, struct x86_pmu_cpuid *regs)
{
	*regs = (struct x86_pmu_cpuid) {
		.eax = (uint32_t)config->core_type << CORE_TYPE_SHIFT,
	};
}

/*
 * Intel SDM, volume 2A, "CPUID", leaf 0x23. Subleaf 0 reports the subleaves and the selector bits;
 * subleaf 1 the counters of this CPU, also on hybrid machines; subleaf 2 the counters with auto
 * counter reload; subleaf 3 the architectural events. Subleaves 4 and 5 report architectural PEBS.
 */
#define EXT_UMASK2		1
#define EXT_EQ			2
#define EXT_USER_DISABLE	4
#define EXT_SUBLEAVES		UINT32_C(0xb)
#define EXT_PEBS		UINT32_C(0x30)
#define EXT_ACR			UINT32_C(0x04)

static void perfmon_ext_leaf(const struct x86_pmu_config *config, uint32_t subleaf,
			     struct x86_pmu_cpuid *regs)
{
	uint64_t reported = x86_pmu_global_counters(config);

	*regs = (struct x86_pmu_cpuid) { 0 };
	switch (subleaf) {
	case 0:
		regs->eax = EXT_SUBLEAVES | (x86_pebs_architectural(config) ? EXT_PEBS : 0) |
			    (config->acr ? EXT_ACR : 0);
		regs->ebx = EXT_UMASK2 | EXT_EQ | EXT_USER_DISABLE;
		break;
	case 1:
		regs->eax = reported;
		regs->ebx = reported >> X86_PMU_GLOBAL_FIXED;
		break;
	case 2:
		x86_acr_leaf(config, reported, regs);
		break;
	case 3:
		regs->eax = x86_pmu_low_bits(reported >> X86_PMU_GLOBAL_FIXED & 8 ?
					     EVENTS_WITH_SLOTS : EVENTS_COMMON);
		break;
	default:
		if (x86_pebs_architectural(config))
			x86_pebs_arch_leaf(config, reported, subleaf, regs);
		break;
	}
}

/**
 * x86_intel_cpuid() - change the result of CPUID, as x86_pmu_cpuid(), on Intel's CPUs
 * @config: the PMU
 * @leaf: EAX
 * @subleaf: ECX
 * @regs: the result, as QEMU returns it
 */
void x86_intel_cpuid(const struct x86_pmu_config *config, uint32_t leaf, uint32_t subleaf,
		     struct x86_pmu_cpuid *regs)
{
	uint32_t last = x86_intel_has_v6(config) ? LEAF_PERFMON_EXT :
			x86_lbr_has_arch(config) ? LEAF_LBR :
			config->core_type ? LEAF_HYBRID : LEAF_PERFMON;

	switch (leaf) {
	case LEAF_VENDOR:
		if (regs->eax < last)
			regs->eax = last;
		break;
	case LEAF_FEATURES:
		x86_pmu_cpuid_bit(&regs->ecx, FEATURE_PDCM, x86_intel_has_capabilities(config));
		if (x86_pebs_in_ds(config)) {
			regs->ecx |= FEATURE_DTES64 | FEATURE_DS_CPL;
			regs->edx |= FEATURE_DS;
		}
		break;
	case LEAF_STRUCTURED:
		if (!subleaf && config->core_type)
			x86_pmu_cpuid_bit(&regs->edx, FEATURE_HYBRID, true);
		if (!subleaf)
			x86_pmu_cpuid_bit(&regs->edx, FEATURE_ARCH_LBR, x86_lbr_has_arch(config));
		if (!subleaf && x86_intel_has_v6(config) && !regs->eax)
			regs->eax = 1;
		if (subleaf == 1)
			x86_pmu_cpuid_bit(&regs->eax, FEATURE_PERFMON_EXT,
					  x86_intel_has_v6(config));
		break;
	case LEAF_PERFMON:
		perfmon_leaf(config, regs);
		break;
	case LEAF_TSC:
		if (config->tsc_mhz)
			tsc_leaf(config, regs);
		break;
	case LEAF_HYBRID:
		if (config->core_type)
			hybrid_leaf(config, regs);
		break;
	case LEAF_PERFMON_EXT:
		if (x86_intel_has_v6(config))
			perfmon_ext_leaf(config, subleaf, regs);
		break;
	case LEAF_LBR:
		if (x86_lbr_has_arch(config))
			x86_lbr_arch_leaf(&config->lbr, regs);
		break;
	}
}
