// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The PMU of AMD: four legacy counters, the core counters, and version 2 of performance monitoring.
 *
 * Registers as in the AMD APM, volume 2, "Performance Monitoring Counters". Events have
 * the numbers of families 10h to 19h.
 */
#include "common/plugin.h"
#include "x86/registers/maker.h"

/* DbgCtl */
#define DEBUGCTL_WRITABLE	UINT64_C(0x1803f)

/* Only version 2 has the global registers, and can freeze. */
static const struct x86_pmu_version_info amd_versions[X86_PMU_VERSIONS] = {
	[X86_PMU_AMD_LEGACY]	= { "amd-legacy", 4,  4, 0x0, 48, true, false, false },
	[X86_PMU_AMD_CORE]	= { "amd-core",   6,  6, 0x0, 48, true, false, false },
	[X86_PMU_AMD_V2]	= { "amd-v2",     6, 15, 0x0, 48, true, true,  true },
};

static const struct x86_pmu_event_row amd_events[] = {
	X86_PMU_EVENT(0x76, X86_PMU_ANY_UMASK, CYCLES, 1, 1),
	X86_PMU_EVENT(0xc0, X86_PMU_ANY_UMASK, INSTRUCTIONS, 1, 1),
	X86_PMU_EVENT(0xc2, X86_PMU_ANY_UMASK, BRANCHES, 1, 1),
	X86_PMU_EVENT(0xc3, X86_PMU_ANY_UMASK, MISPREDICTED, 1, 1),
	X86_PMU_EVENT(0xc4, X86_PMU_ANY_UMASK, TAKEN, 1, 1),
	X86_PMU_EVENT(0xc6, X86_PMU_ANY_UMASK, FAR, 1, 1),
	X86_PMU_EVENT(0xc8, X86_PMU_ANY_UMASK, RETURNS, 1, 1),
	X86_PMU_EVENT(0xd1, X86_PMU_ANY_UMASK, CONDITIONAL, 1, 1),
	/* dispatched loads and stores, data cache accesses, interrupts taken */
	X86_PMU_EVENT(0x29, 0x01, LOADS, 1, 1),
	X86_PMU_EVENT(0x29, 0x02, STORES, 1, 1),
	X86_PMU_EVENT(0x29, 0x04, UPDATES, 1, 1),
	X86_PMU_EVENT(0x40, X86_PMU_ANY_UMASK, CACHE_REFS, 1, 1),
	X86_PMU_EVENT(0x2c, X86_PMU_ANY_UMASK, INTERRUPTS, 1, 1),
	X86_PMU_EVENT(0xcf, X86_PMU_ANY_UMASK, INTERRUPTS, 1, 1),
	/* the L2 cache: of family 17h on, and before */
	X86_PMU_EVENT(0x60, X86_PMU_ANY_UMASK, CACHE_REFS, 1, 1),
	X86_PMU_EVENT(0x64, X86_PMU_ANY_UMASK, CACHE_MISSES, 1, 1),
	X86_PMU_EVENT(0x7d, X86_PMU_ANY_UMASK, CACHE_REFS, 1, 1),
	X86_PMU_EVENT(0x7e, X86_PMU_ANY_UMASK, CACHE_MISSES, 1, 1),
	/* events of this virtual PMU only */
	X86_PMU_EVENT(0xfe, 0x01, EXCEPTIONS, 1, 1),
	X86_PMU_EVENT(0xfe, 0x02, CALLS, 1, 1),
	X86_PMU_EVENT(0xfe, 0x04, NOT_TAKEN, 1, 1),
};

static const char *amd_config_error(const struct x86_pmu_config *config)
{
	if (config->gp_width != 48)
		return "has counters of 48 bits only";
	if (config->perf_metrics)
		return "has no metrics: leave out metrics=on";
	if (config->fixed)
		return "has no fixed-function counters: leave out fixed=";
	return NULL;
}

static bool has_core(const struct x86_pmu_config *config)
{
	return config->version >= X86_PMU_AMD_CORE;
}

static bool has_v2(const struct x86_pmu_config *config)
{
	return config->version == X86_PMU_AMD_V2;
}

static uint64_t amd_status(const struct x86_pmu_config *config)
{
	(void)config;
	return X86_PMU_STATUS_LBR_FROZEN | X86_PMU_STATUS_FROZEN;
}

static unsigned int amd_rdpmc(const struct x86_pmu_config *config, uint32_t selector)
{
	return selector < config->gp ? selector : X86_PMU_NO_COUNTER;
}

static bool write_gp(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	x86_msr_set_counter(pmu, i, value);
	return true;
}

static const struct x86_pmu_msr_row amd_msrs[] = {
	{ "DBG_CTL",                     0x1d9, 1, X86_PMU_BANK_ONE,   1,
	  x86_msr_always, x86_msr_read_debugctl,    x86_msr_write_debugctl },
	{ "LBR_SELECT",                  0xc000010e, 1, X86_PMU_BANK_LBR, 1,
	  x86_lbr_has_amd, x86_lbr_read_select,     x86_lbr_write_select },
	{ "DBG_EXTN_CFG",                0xc000010f, 1, X86_PMU_BANK_LBR, 1,
	  x86_lbr_has_amd, x86_lbr_read_ctl,        x86_lbr_write_ctl },
	{ "PERF_CNTR_GLOBAL_STATUS",     0xc0000300, 1, X86_PMU_BANK_ONE, 1,
	  has_v2,         x86_msr_read_status,      NULL },
	{ "PERF_CNTR_GLOBAL_CTL",        0xc0000301, 1, X86_PMU_BANK_ONE, 1,
	  has_v2,         x86_msr_read_global_ctrl, x86_msr_write_global_ctrl },
	{ "PERF_CNTR_GLOBAL_STATUS_CLR", 0xc0000302, 1, X86_PMU_BANK_ONE, 1,
	  has_v2,         x86_msr_read_zero,        x86_msr_write_status_clear },
	{ "PERF_CNTR_GLOBAL_STATUS_SET", 0xc0000303, 1, X86_PMU_BANK_ONE, 1,
	  has_v2,         x86_msr_read_zero,        x86_msr_write_status_set },
	{ "PERF_LEGACY_CTL",             0xc0010000, 1, X86_PMU_BANK_GP, 4,
	  x86_msr_always, x86_msr_read_select,      x86_msr_write_select },
	{ "PERF_LEGACY_CTR",             0xc0010004, 1, X86_PMU_BANK_GP, 4,
	  x86_msr_always, x86_msr_read_gp,          write_gp },
	{ "PERF_CTL",                    0xc0010200, 2, X86_PMU_BANK_GP, 15,
	  has_core,       x86_msr_read_select,      x86_msr_write_select },
	{ "PERF_CTR",                    0xc0010201, 2, X86_PMU_BANK_GP, 15,
	  has_core,       x86_msr_read_gp,          write_gp },
	{ "X2APIC_EILVT",                0x850, 1, X86_PMU_BANK_IBS, X86_IBS_EILVT_ENTRIES,
	  x86_ibs_present, x86_ibs_read_eilvt,      x86_ibs_write_eilvt },
	{ "IBS_FETCH_CTL",               0xc0011030, 1, X86_PMU_BANK_IBS, 1,
	  x86_ibs_present, x86_ibs_read_fetch_ctl,  x86_ibs_write_fetch_ctl },
	{ "IBS_FETCH",                   0xc0011031, 1, X86_PMU_BANK_IBS, 2,
	  x86_ibs_present, x86_ibs_read_fetch,      x86_ibs_write_fetch },
	{ "IBS_OP_CTL",                  0xc0011033, 1, X86_PMU_BANK_IBS, 1,
	  x86_ibs_present, x86_ibs_read_op_ctl,     x86_ibs_write_op_ctl },
	{ "IBS_OP",                      0xc0011034, 1, X86_PMU_BANK_IBS, 6,
	  x86_ibs_present, x86_ibs_read_op,         x86_ibs_write_op },
	{ "IBS_CTL",                     0xc001103a, 1, X86_PMU_BANK_IBS, 1,
	  x86_ibs_present, x86_ibs_read_control,    NULL },
	{ "SAMP_BR_FROM",                0xc0010300, 2, X86_PMU_BANK_RECORD, 16,
	  x86_lbr_has_amd, x86_lbr_read_from,       x86_lbr_write_from },
	{ "SAMP_BR_TO",                  0xc0010301, 2, X86_PMU_BANK_RECORD, 16,
	  x86_lbr_has_amd, x86_lbr_read_to,         x86_lbr_write_to },
};

_Static_assert(ARRAY_SIZE(amd_msrs) < X86_PMU_MSR_ROWS, "X86_PMU_MSR_ROWS");

/* ---- CPUID ---- */

#define LEAF_EXTENDED		0x80000000
#define LEAF_FEATURES		0x80000001
#define LEAF_IBS		0x8000001b
#define LEAF_PERFMON		0x80000022

#define FEATURE_IBS		(UINT32_C(1) << 10)

#define FEATURE_PERFCTR_CORE	(UINT32_C(1) << 23)

static void amd_cpuid(const struct x86_pmu_config *config, uint32_t leaf, uint32_t subleaf,
		      struct x86_pmu_cpuid *regs)
{
	(void)subleaf;
	switch (leaf) {
	case LEAF_EXTENDED:
		if (has_v2(config) && regs->eax < LEAF_PERFMON)
			regs->eax = LEAF_PERFMON;
		if (x86_ibs_present(config) && regs->eax < LEAF_IBS)
			regs->eax = LEAF_IBS;
		break;
	case LEAF_IBS:
		if (x86_ibs_present(config))
			*regs = (struct x86_pmu_cpuid) { .eax = x86_ibs_capabilities() };
		break;
	case LEAF_FEATURES:
		x86_pmu_cpuid_bit(&regs->ecx, FEATURE_IBS, x86_ibs_present(config));
		x86_pmu_cpuid_bit(&regs->ecx, FEATURE_PERFCTR_CORE, has_core(config));
		break;
	case LEAF_PERFMON:
		if (has_v2(config))
			*regs = (struct x86_pmu_cpuid) { .eax = 1, .ebx = config->gp };
		if (x86_lbr_has_amd(config))
			x86_lbr_amd_leaf(&config->lbr, regs);
		break;
	}
}

/*
 * EPYC processors do not fault at a write of reserved bits to an event selector, and clear most of
 * the bits: Linux commit 9b026073db2f ("KVM: x86/svm: Clear reserved bits written to PerfEvtSeln
 * MSRs"). The model clears all. KVM also clears the reserved bits of the global control register:
 * kvm_pmu_set_msr() in arch/x86/kvm/pmu.c.
 */
const struct x86_pmu_maker x86_pmu_amd = {
	.versions		= amd_versions,
	.msrs			= amd_msrs,
	.msr_rows		= ARRAY_SIZE(amd_msrs),
	.select			= X86_PMU_SEL_COMMON | X86_PMU_SEL_EVENT_HIGH | X86_PMU_SEL_HG_ONLY,
	.debugctl		= DEBUGCTL_WRITABLE,
	.reserved_ignored	= true,
	.config_error		= amd_config_error,
	.status			= amd_status,
	.events			= amd_events,
	.nr_events		= ARRAY_SIZE(amd_events),
	.rdpmc			= amd_rdpmc,
	.cpuid			= amd_cpuid,
};
