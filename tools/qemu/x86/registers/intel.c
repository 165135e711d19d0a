// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The PMU of Intel: architectural performance monitoring, versions 1 to 6.
 *
 * Registers as in the Intel SDM, volume 3B, "Performance Monitoring" and volume 4.
 * Events have the numbers of the architectural events, and of the cores since Skylake.
 */
#include "common/plugin.h"
#include "x86/registers/maker.h"
#include "x86/uarch/uarch.h"

/* IA32_FIXED_CTR_CTRL has four bits for each counter: enable OS and USR, AnyThread, PMI. */
#define FIXED_OS		1
#define FIXED_USR		2
#define FIXED_ANY		4
#define FIXED_PMI		8
#define FIXED_BITS		4

/* IA32_PERF_GLOBAL_STATUS */
#define STATUS_TRACE_TOPA	(UINT64_C(1) << 55)
#define STATUS_ASCI		(UINT64_C(1) << 60)
#define STATUS_UNCORE		(UINT64_C(1) << 61)
#define STATUS_CHANGED		(UINT64_C(1) << 63)

/* IA32_PERF_GLOBAL_INUSE */
#define INUSE_PMI		(UINT64_C(1) << 63)

/* IA32_DEBUGCTL */
#define DEBUGCTL_WRITABLE	UINT64_C(0x7fc3)

/* IA32_PERF_CAPABILITIES */
#define CAPABILITIES_FREEZE_SMM	(UINT64_C(1) << 12)
#define CAPABILITIES_FW_WRITE	(UINT64_C(1) << 13)
#define CAPABILITIES_METRICS	(UINT64_C(1) << 15)
#define CAPABILITIES_CLEAR	(UINT64_C(1) << 19)

/*
 * MSR_PERF_METRICS: a byte for each metric, its share of the slots in 255ths. The metrics are
 * retiring, bad speculation, frontend and backend bound; from Golden Cove on also heavy operations,
 * mispredicted branches, fetch latency and memory bound. The model has no bottlenecks: the shares
 * are constant.
 */
#define METRICS			UINT64_C(0x302010204c331a66)
#define METRIC_BITS		8
#define SLOTS			3	/* the fixed-function counter */

/* IA32_FIXED_CTR_CTRL: RDPMC of the metrics outside ring 0 clears them and the slots */
#define FIXED_METRICS_CLEAR	(UINT64_C(1) << 14)

static const struct x86_pmu_version_info intel_versions[X86_PMU_VERSIONS] = {
	[X86_PMU_INTEL_V1]	= { "intel-v1", 2, 8, 0x0, 40, false, false, false },
	[X86_PMU_INTEL_V2]	= { "intel-v2", 4, 8, 0x7, 48, true,  true,  false },
	[X86_PMU_INTEL_V3]	= { "intel-v3", 4, 8, 0x7, 48, true,  true,  false },
	[X86_PMU_INTEL_V4]	= { "intel-v4", 4, 8, 0x7, 48, true,  true,  true },
	[X86_PMU_INTEL_V5]	= { "intel-v5", 8, 8, 0xf, 48, true,  true,  true },
	[X86_PMU_INTEL_V6]	= { "intel-v6", 8, 10, 0xf, 48, true,  true,  true },
};

static const struct x86_pmu_event_row intel_events[] = {
	/* architectural */
	X86_PMU_EVENT(0x3c, 0x00, CYCLES, 1, 1),
	X86_PMU_EVENT(0x3c, 0x01, CYCLES, 1, 2),	/* reference cycles */
	X86_PMU_EVENT(0xc0, 0x00, INSTRUCTIONS, 1, 1),
	X86_PMU_EVENT(0x2e, 0x4f, CACHE_REFS, 1, 1),
	X86_PMU_EVENT(0x2e, 0x41, CACHE_MISSES, 1, 1),
	X86_PMU_EVENT(0xc4, 0x00, BRANCHES, 1, 1),
	X86_PMU_EVENT(0xc5, 0x00, MISPREDICTED, 1, 1),
	X86_PMU_EVENT(0xa4, 0x01, CYCLES, 4, 1),	/* issue slots */
	/* of cores since Skylake */
	X86_PMU_EVENT(0xc4, 0x01, CONDITIONAL, 1, 1),
	X86_PMU_EVENT(0xc4, 0x02, CALLS, 1, 1),
	X86_PMU_EVENT(0xc4, 0x04, BRANCHES, 1, 1),
	X86_PMU_EVENT(0xc4, 0x08, RETURNS, 1, 1),
	X86_PMU_EVENT(0xc4, 0x10, NOT_TAKEN, 1, 1),
	X86_PMU_EVENT(0xc4, 0x20, TAKEN, 1, 1),
	X86_PMU_EVENT(0xc4, 0x40, FAR, 1, 1),
	X86_PMU_EVENT(0xc5, 0x01, MISPREDICTED, 1, 1),
	X86_PMU_EVENT(0xc5, 0x04, MISPREDICTED, 1, 1),
	X86_PMU_EVENT(0xd0, 0x81, LOADS, 1, 1),
	X86_PMU_EVENT(0xd0, 0x82, STORES, 1, 1),
	X86_PMU_EVENT(0xcb, 0x01, INTERRUPTS, 1, 1),
	/* only of this model */
	X86_PMU_EVENT(0xfe, 0x01, EXCEPTIONS, 1, 1),
};

/* Events with the second unit mask 1, from version 6 on */
static const struct x86_pmu_event_row intel_umask2_events[] = {
	/* only of this model */
	X86_PMU_EVENT(0xfe, 0x02, BRANCHES, 2, 1),
};

/*
 * The events of fixed-function counters, by number. From 4 on they are Skymont's: slots of bad
 * speculation, frontend bound and retiring. They count as Skymont's events of these names
 * (uarch/intel.c).
 */
static const struct x86_pmu_event fixed_events[] = {
	{ X86_PMU_INSTRUCTIONS,	X86_PMU_NOTHING, 1, 1 },
	{ X86_PMU_CYCLES,	X86_PMU_NOTHING, 1, 1 },
	{ X86_PMU_CYCLES,	X86_PMU_NOTHING, 1, 2 },
	{ X86_PMU_CYCLES,	X86_PMU_NOTHING, 4, 1 },
	{ X86_PMU_CALLS,	X86_PMU_NOTHING, 4, 1 },
	{ X86_PMU_CYCLES,	X86_PMU_INSTRUCTIONS, 1, 1 },
	{ X86_PMU_INSTRUCTIONS,	X86_PMU_NOTHING, 1, 1 },
};

#define FIXED_COMMON		4	/* the counters of more than one microarchitecture */

/* Before version 5, CPUID reports only the number of fixed-function counters, not a bitmap. */
static bool is_contiguous(uint32_t mask)
{
	return !(mask & (mask + 1));
}

static const char *intel_config_error(const struct x86_pmu_config *config)
{
	if (config->perfmon && (config->perfmon < 5 || !x86_intel_has_v6(config)))
		return "cannot report this version in CPUID leaf 0xa: see perfmon=";
	if (config->fixed && !intel_versions[config->version].fixed)
		return "has no fixed-function counters: leave out fixed=";
	if (config->fixed >> FIXED_COMMON && !(config->uarch && config->fixed >> FIXED_COMMON ==
					       config->uarch->fixed >> FIXED_COMMON))
		return "has fixed-function counters 0 to 3 only";
	if (config->version < X86_PMU_INTEL_V5 && !is_contiguous(config->fixed))
		return "can leave out fixed-function counters at the end only";
	if (config->perf_metrics && !(config->fixed >> SLOTS & 1 && config->full_width))
		return "has no metrics without fixed-function counter 3: see fixed=, full-width=";
	if (config->metrics_clear && !config->perf_metrics)
		return "has no metrics to clear: see metrics=";
	if (config->version < X86_PMU_INTEL_V5 && config->fixed & 8)
		return "has no fixed-function counter 3: see fixed=";
	if (config->holes && (config->version < X86_PMU_INTEL_V6 || config->holes & 1 ||
			      config->holes & ~x86_pmu_low_bits(config->gp - 1)))
		return "cannot leave out these counters: see holes=";
	return NULL;
}

static bool has_v2(const struct x86_pmu_config *config)
{
	return config->version >= X86_PMU_INTEL_V2;
}

static bool has_v4(const struct x86_pmu_config *config)
{
	return config->version >= X86_PMU_INTEL_V4;
}

static bool has_metrics(const struct x86_pmu_config *config)
{
	return config->perf_metrics;
}

static bool has_full_width(const struct x86_pmu_config *config)
{
	return config->full_width;
}

static void intel_activate_fixed(struct x86_pmu *pmu, unsigned int i)
{
	struct x86_pmu_counter *c = &pmu->counter[i];
	unsigned int n = i - X86_PMU_GP_MAX;
	unsigned int ctrl = pmu->fixed_ctrl >> (n * FIXED_BITS) & x86_pmu_low_bits(FIXED_BITS);

	c->active = (pmu->config->fixed >> n & 1) &&
		    (pmu->global_ctrl >> x86_pmu_global_bit(i) & 1);
	c->event = fixed_events[n];
	c->rings = x86_pmu_rings(pmu, ctrl & FIXED_USR, ctrl & FIXED_OS);
	c->interrupts = ctrl & FIXED_PMI;
}

static bool write_gp_full(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	if (value & ~x86_pmu_low_bits(pmu->config->gp_width))
		return false;
	x86_msr_set_counter(pmu, i, value);
	return true;
}

/* A write to IA32_PMC sign-extends the value from bit 31, but not on Zhaoxin's CPUs. */
static bool write_gp_short(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	if (pmu->config->uarch && pmu->config->uarch->zhaoxin)
		return write_gp_full(pmu, i, value);
	x86_msr_set_counter(pmu, i, (uint64_t)(int64_t)(int32_t)value);
	return true;
}

static bool read_fixed(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	*value = pmu->counter[X86_PMU_GP_MAX + i].value;
	return true;
}

static bool write_fixed(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	if (value & ~x86_pmu_low_bits(pmu->config->fixed_width))
		return false;
	x86_msr_set_counter(pmu, X86_PMU_GP_MAX + i, value);
	if (i == SLOTS) {
		pmu->slots_written = value;
		pmu->metrics_slots = 0;
	}
	return true;
}

static bool read_capabilities(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	(void)i;
	*value = (pmu->config->uarch ? CAPABILITIES_FREEZE_SMM : 0) |
		 (pmu->config->full_width ? CAPABILITIES_FW_WRITE : 0) |
		 (pmu->config->perf_metrics && !pmu->config->hides_metrics ?
		  CAPABILITIES_METRICS : 0) |
		 (pmu->config->metrics_clear ? CAPABILITIES_CLEAR : 0) |
		 x86_lbr_capabilities(&pmu->config->lbr) | x86_pebs_capabilities(pmu->config);
	return true;
}

/*
 * Metrics that the guest writes are fractions of the slots counted until the write. METRICS has the
 * fractions of the slots counted since. So a guest can write back the metrics that it has read. If
 * the guest writes the slots after the metrics, the written slots belong to no metric.
 *
 * The metrics also advance while bit 48 of IA32_PERF_GLOBAL_CTRL is 0, so no test shows a driver
 * that forgets the bit. Only a write of GLOBAL_STATUS_SET sets their overflow bit.
 */
static bool read_metrics(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	uint64_t slots = pmu->counter[X86_PMU_GP_MAX + SLOTS].value, known = pmu->metrics_slots;
	uint64_t counted = slots - pmu->slots_written, part;

	(void)i;
	*value = pmu->perf_metrics;
	if (slots == known || !slots || slots < pmu->slots_written)
		return true;

	*value = 0;
	for (unsigned int n = 0; n < pmu->config->nr_metrics; n++) {
		part = (pmu->perf_metrics >> n * METRIC_BITS & x86_pmu_low_bits(METRIC_BITS)) *
		       known;
		part += (METRICS >> n * METRIC_BITS & x86_pmu_low_bits(METRIC_BITS)) * counted;
		*value |= (part + slots / 2) / slots << n * METRIC_BITS;
	}
	return true;
}

static bool write_metrics(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	(void)i;
	if (value & ~x86_pmu_low_bits(pmu->config->nr_metrics * METRIC_BITS))
		return false;
	pmu->perf_metrics = value;
	pmu->metrics_slots = pmu->counter[X86_PMU_GP_MAX + SLOTS].value;
	pmu->slots_written = pmu->metrics_slots;
	return true;
}

static bool read_fixed_ctrl(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	(void)i;
	*value = pmu->fixed_ctrl;
	return true;
}

static bool write_fixed_ctrl(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	uint64_t allowed = 0;

	(void)i;
	for (unsigned int n = 0; n < X86_PMU_FIXED_MAX; n++) {
		if (!(pmu->config->fixed >> n & 1))
			continue;
		allowed |= (uint64_t)(FIXED_OS | FIXED_USR | FIXED_PMI) << (n * FIXED_BITS);
		if (pmu->config->any_thread)
			allowed |= (uint64_t)FIXED_ANY << (n * FIXED_BITS);
		if (x86_pebs_adaptive(pmu->config))
			allowed |= X86_PMU_FIXED_ADAPTIVE(n);
		if (x86_intel_has_v6(pmu->config))
			allowed |= X86_PMU_FIXED_USER_DISABLE(n);
	}
	if (pmu->config->metrics_clear)
		allowed |= FIXED_METRICS_CLEAR;
	if (value & ~allowed)
		return false;
	pmu->fixed_ctrl = value;
	return true;
}

static bool read_inuse(struct x86_pmu *pmu, unsigned int i, uint64_t *value)
{
	unsigned int ctrl;

	(void)i;
	*value = 0;
	for (unsigned int n = 0; n < pmu->config->gp; n++) {
		if (pmu->counter[n].select & X86_PMU_SEL_EVENT)
			*value |= UINT64_C(1) << n;
		if (pmu->counter[n].select & X86_PMU_SEL_INT)
			*value |= INUSE_PMI;
	}
	for (unsigned int n = 0; n < X86_PMU_FIXED_MAX; n++) {
		ctrl = pmu->fixed_ctrl >> (n * FIXED_BITS);
		if (ctrl & (FIXED_OS | FIXED_USR))
			*value |= UINT64_C(1) << (X86_PMU_GLOBAL_FIXED + n);
		if (ctrl & FIXED_PMI)
			*value |= INUSE_PMI;
	}
	return true;
}

static uint64_t intel_status(const struct x86_pmu_config *config)
{
	uint64_t bits = X86_PMU_STATUS_BUFFER | STATUS_CHANGED;

	if (x86_pebs_architectural(config))
		bits |= X86_PMU_STATUS_PEBS;
	if (config->version >= X86_PMU_INTEL_V3)
		bits |= STATUS_UNCORE;
	if (config->version >= X86_PMU_INTEL_V4)
		bits |= STATUS_TRACE_TOPA | X86_PMU_STATUS_LBR_FROZEN |
			X86_PMU_STATUS_FROZEN | STATUS_ASCI;
	if (config->perf_metrics)
		bits |= X86_PMU_GLOBAL_METRICS;
	return bits;
}

/* The upper half of RDPMC's selector is a type. */
#define RDPMC_FIXED	UINT32_C(0x40000000)

#define RDPMC_METRICS	UINT32_C(0x20000000)

static bool intel_metrics(struct x86_pmu *pmu, uint32_t selector, uint64_t *value)
{
	return has_metrics(pmu->config) && selector == RDPMC_METRICS &&
	       read_metrics(pmu, 0, value);
}

static bool intel_clear_metrics(struct x86_pmu *pmu)
{
	if (!pmu->config->metrics_clear || !(pmu->fixed_ctrl & FIXED_METRICS_CLEAR))
		return false;
	return write_fixed(pmu, SLOTS, 0) && write_metrics(pmu, 0, 0);
}

static unsigned int intel_rdpmc(const struct x86_pmu_config *config, uint32_t selector)
{
	uint32_t n = selector & ~RDPMC_FIXED;

	if (selector < config->gp)
		return selector;
	if (selector & RDPMC_FIXED && n < X86_PMU_FIXED_MAX && config->fixed >> n & 1)
		return X86_PMU_GP_MAX + n;
	return X86_PMU_NO_COUNTER;
}

static const struct x86_pmu_msr_row intel_msrs[] = {
	{ "IA32_PMC",                    0x0c1, 1, X86_PMU_BANK_GP,    10,
	  x86_msr_always, x86_msr_read_gp,          write_gp_short },
	{ "IA32_PERFEVTSEL",             0x186, 1, X86_PMU_BANK_GP,    10,
	  x86_msr_always, x86_msr_read_select,      x86_msr_write_select },
	{ "MSR_OFFCORE_RSP_0",           0x1a6, 1, X86_PMU_BANK_ONE,   1,
	  x86_extra_reg_has_rsp_0, x86_extra_reg_read_rsp_0, x86_extra_reg_write_rsp_0 },
	{ "MSR_OFFCORE_RSP_1",           0x1a7, 1, X86_PMU_BANK_ONE,   1,
	  x86_extra_reg_has_rsp_1, x86_extra_reg_read_rsp_1, x86_extra_reg_write_rsp_1 },
	{ "IA32_DEBUGCTL",               0x1d9, 1, X86_PMU_BANK_ONE,   1,
	  x86_msr_always, x86_msr_read_debugctl,    x86_msr_write_debugctl },
	{ "IA32_FIXED_CTR",              0x309, 1, X86_PMU_BANK_FIXED, 16,
	  has_v2,         read_fixed,               write_fixed },
	{ "MSR_PERF_METRICS",            0x329, 1, X86_PMU_BANK_ONE,   1,
	  has_metrics,    read_metrics,             write_metrics },
	{ "IA32_PERF_CAPABILITIES",      0x345, 1, X86_PMU_BANK_ONE,   1,
	  x86_intel_has_capabilities, read_capabilities,      NULL },
	{ "IA32_FIXED_CTR_CTRL",         0x38d, 1, X86_PMU_BANK_ONE,   1,
	  has_v2,         read_fixed_ctrl,          write_fixed_ctrl },
	{ "IA32_PERF_GLOBAL_STATUS",     0x38e, 1, X86_PMU_BANK_ONE,   1,
	  has_v2,         x86_msr_read_status,      NULL },
	{ "IA32_PERF_GLOBAL_CTRL",       0x38f, 1, X86_PMU_BANK_ONE,   1,
	  has_v2,         x86_msr_read_global_ctrl, x86_msr_write_global_ctrl },
	/* IA32_PERF_GLOBAL_STATUS_RESET from version 4 on */
	{ "IA32_PERF_GLOBAL_OVF_CTRL",   0x390, 1, X86_PMU_BANK_ONE,   1,
	  has_v2,         x86_msr_read_zero,        x86_msr_write_status_clear },
	{ "IA32_PERF_GLOBAL_STATUS_SET", 0x391, 1, X86_PMU_BANK_ONE,   1,
	  has_v4,         x86_msr_read_zero,        x86_msr_write_status_set },
	{ "IA32_PERF_GLOBAL_INUSE",      0x392, 1, X86_PMU_BANK_ONE,   1,
	  has_v4,         read_inuse,               NULL },
	{ "MSR_OMR",                     0x3e0, 1, X86_PMU_BANK_ONE,   4,
	  x86_extra_reg_has_omr, x86_extra_reg_read_omr, x86_extra_reg_write_omr },
	{ "IA32_PEBS_ENABLE",            0x3f1, 1, X86_PMU_BANK_PEBS,  1,
	  x86_pebs_in_ds, x86_pebs_read_enable,   x86_pebs_write_enable },
	{ "MSR_PEBS_DATA_CFG",           0x3f2, 1, X86_PMU_BANK_PEBS,  1,
	  x86_pebs_adaptive, x86_pebs_read_data_cfg, x86_pebs_write_data_cfg },
	{ "IA32_PEBS_BASE",              0x3f4, 1, X86_PMU_BANK_PEBS,  1,
	  x86_pebs_architectural, x86_pebs_read_base, x86_pebs_write_base },
	{ "IA32_PEBS_INDEX",             0x3f5, 1, X86_PMU_BANK_PEBS,  1,
	  x86_pebs_architectural, x86_pebs_read_index, x86_pebs_write_index },
	{ "MSR_PEBS_LD_LAT_THRESHOLD",   0x3f6, 1, X86_PMU_BANK_PEBS,  1,
	  x86_pebs_present, x86_pebs_read_ld_lat,   x86_pebs_write_ld_lat },
	{ "MSR_PEBS_FRONTEND",           0x3f7, 1, X86_PMU_BANK_ONE,   1,
	  x86_extra_reg_has_frontend, x86_extra_reg_read_frontend, x86_extra_reg_write_frontend },
	{ "IA32_DS_AREA",                0x600, 1, X86_PMU_BANK_PEBS,  1,
	  x86_pebs_in_ds, x86_pebs_read_ds_area,  x86_pebs_write_ds_area },
	{ "IA32_A_PMC",                  0x4c1, 1, X86_PMU_BANK_GP,    10,
	  has_full_width, x86_msr_read_gp,          write_gp_full },
	/* The numbers of version 6 for the same registers, and ACR's registers */
	{ "IA32_PMC_GP_CTR",             0x1900, 4, X86_PMU_BANK_GP,   10,
	  x86_intel_has_v6,         x86_msr_read_gp,          write_gp_full },
	{ "IA32_PMC_GP_CFG_A",           0x1901, 4, X86_PMU_BANK_GP,   10,
	  x86_intel_has_v6,         x86_msr_read_select,      x86_msr_write_select },
	{ "IA32_PMC_FX_CTR",             0x1980, 4, X86_PMU_BANK_FIXED, 16,
	  x86_intel_has_v6,         read_fixed,               write_fixed },
	{ "IA32_PMC_GP_CFG_B",           0x1902, 4, X86_PMU_BANK_GP,   10,
	  x86_acr_present, x86_acr_read_gp_cfg_b, x86_acr_write_gp_cfg_b },
	{ "IA32_PMC_FX_CFG_B",           0x1982, 4, X86_PMU_BANK_FIXED, 16,
	  x86_acr_present, x86_acr_read_fx_cfg_b, x86_acr_write_fx_cfg_b },
	{ "IA32_PMC_GP_CFG_C",           0x1903, 4, X86_PMU_BANK_GP,   10,
	  x86_acr_has_cfg_c, x86_pebs_read_gp_cfg_c, x86_pebs_write_gp_cfg_c },
	{ "IA32_PMC_FX_CFG_C",           0x1983, 4, X86_PMU_BANK_FIXED, 16,
	  x86_acr_has_cfg_c, x86_pebs_read_fx_cfg_c, x86_pebs_write_fx_cfg_c },
	{ "MSR_SNOOP_RSP",               0x1328, 1, X86_PMU_BANK_ONE,  2,
	  x86_extra_reg_has_snoop, x86_extra_reg_read_snoop, x86_extra_reg_write_snoop },
	/* branch records before Nehalem: this PMU lacks them, accesses fault */
	{ "MSR_LASTBRANCH_FROM_IP of Core", 0x040, 1, X86_PMU_BANK_LBR, 8,
	  x86_lbr_has_ring, NULL,                   NULL },
	{ "MSR_LASTBRANCH_TO_IP of Core", 0x060, 1, X86_PMU_BANK_LBR,  8,
	  x86_lbr_has_ring, NULL,                   NULL },
	{ "MSR_LBR_SELECT",              0x1c8, 1, X86_PMU_BANK_LBR,   1,
	  x86_lbr_has_ring, x86_lbr_read_select,    x86_lbr_write_select },
	{ "MSR_LASTBRANCH_TOS",          0x1c9, 1, X86_PMU_BANK_RECORD, 1,
	  x86_lbr_has_ring, x86_lbr_read_tos,       x86_lbr_write_tos },
	{ "MSR_LASTBRANCH_FROM_IP",      0x680, 1, X86_PMU_BANK_RECORD, 32,
	  x86_lbr_has_ring, x86_lbr_read_from,      x86_lbr_write_from },
	{ "MSR_LASTBRANCH_TO_IP",        0x6c0, 1, X86_PMU_BANK_RECORD, 32,
	  x86_lbr_has_ring, x86_lbr_read_to,        x86_lbr_write_to },
	{ "MSR_LBR_INFO",                0xdc0, 1, X86_PMU_BANK_RECORD, 32,
	  x86_lbr_has_info, x86_lbr_read_info,      x86_lbr_write_info },
	{ "IA32_LBR_CTL",                0x14ce, 1, X86_PMU_BANK_LBR,  1,
	  x86_lbr_has_arch, x86_lbr_read_ctl,       x86_lbr_write_ctl },
	{ "IA32_LBR_DEPTH",              0x14cf, 1, X86_PMU_BANK_LBR,  1,
	  x86_lbr_has_arch, x86_lbr_read_depth,     x86_lbr_write_depth },
	{ "IA32_LBR_FROM_IP",            0x1500, 1, X86_PMU_BANK_RECORD, 32,
	  x86_lbr_has_arch, x86_lbr_read_from,      x86_lbr_write_from },
	{ "IA32_LBR_TO_IP",              0x1600, 1, X86_PMU_BANK_RECORD, 32,
	  x86_lbr_has_arch, x86_lbr_read_to,        x86_lbr_write_to },
	{ "IA32_LBR_INFO",               0x1200, 1, X86_PMU_BANK_RECORD, 32,
	  x86_lbr_has_arch, x86_lbr_read_info,      x86_lbr_write_info },
};

_Static_assert(ARRAY_SIZE(intel_msrs) < X86_PMU_MSR_ROWS, "X86_PMU_MSR_ROWS");

const struct x86_pmu_maker x86_pmu_intel = {
	.versions	= intel_versions,
	.msrs		= intel_msrs,
	.msr_rows	= ARRAY_SIZE(intel_msrs),
	.select		= X86_PMU_SEL_COMMON | X86_PMU_SEL_PIN,
	.debugctl	= DEBUGCTL_WRITABLE,
	.config_error	= intel_config_error,
	.status		= intel_status,
	.events		= intel_events,
	.nr_events	= ARRAY_SIZE(intel_events),
	.umask2_events	= intel_umask2_events,
	.nr_umask2_events = ARRAY_SIZE(intel_umask2_events),
	.activate_fixed	= intel_activate_fixed,
	.metrics	= intel_metrics,
	.clear_metrics	= intel_clear_metrics,
	.rdpmc		= intel_rdpmc,
	.cpuid		= x86_intel_cpuid,
};
