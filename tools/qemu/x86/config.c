// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The properties of a virtual x86 PMU: defaults of versions and of microarchitectures, and checks.
 */
#include "x86/registers/maker.h"
#include "x86/uarch/uarch.h"

/**
 * x86_pmu_version_name() - return the name of a version in options
 * @version: the version
 */
const char *x86_pmu_version_name(enum x86_pmu_version version)
{
	const struct x86_pmu_config config = { .version = version };

	return x86_pmu_version(&config)->name;
}

/**
 * x86_pmu_name() - return the name of a PMU in options
 * @config: the PMU
 */
const char *x86_pmu_name(const struct x86_pmu_config *config)
{
	return config->uarch ? config->uarch->name : x86_pmu_version(config)->name;
}

/**
 * x86_pmu_defaults() - set the default properties of a version
 * @config: the properties to set
 * @version: the version
 */
void x86_pmu_defaults(struct x86_pmu_config *config, enum x86_pmu_version version)
{
	const struct x86_pmu_version_info *v;

	*config = (struct x86_pmu_config) { .version = version, .stuck = X86_PMU_NO_COUNTER };
	v = x86_pmu_version(config);
	config->gp = v->gp;
	config->fixed = v->fixed;
	config->gp_width = v->width;
	config->fixed_width = v->width;
	config->full_width = v->full_width;
	config->nr_metrics = X86_PMU_METRICS_MAX;
}

/**
 * x86_pmu_uarch_defaults() - set the properties of a microarchitecture
 * @config: the properties to set
 * @uarch: the microarchitecture
 */
void x86_pmu_uarch_defaults(struct x86_pmu_config *config, const struct x86_uarch *uarch)
{
	x86_pmu_defaults(config, uarch->version);
	config->uarch = uarch;
	config->gp = uarch->gp;
	config->fixed = uarch->fixed;
	config->core_type = uarch->core_type;
	config->any_thread = uarch->any_thread;
	config->full_width &= !uarch->zhaoxin;
	config->perf_metrics = uarch->nr_metrics;
	if (uarch->nr_metrics)
		config->nr_metrics = uarch->nr_metrics;
	config->lbr.kind = uarch->lbr;
	config->lbr.depth = x86_lbr_default_depth(uarch->lbr);
	config->pebs.format = uarch->pebs;
	config->ibs.present = uarch->ibs;
	config->has_extra_regs = uarch->nr_extra_regs;
}

/**
 * x86_pmu_config_error() - check the properties of a PMU
 * @config: the PMU
 *
 * Return: NULL, or half a sentence about the error.
 */
const char *x86_pmu_config_error(const struct x86_pmu_config *config)
{
	const struct x86_pmu_version_info *v = x86_pmu_version(config);
	const char *error;

	if (!config->gp || config->gp > v->gp_max)
		return "has no such number of counters: see counters=";
	if (config->gp_width < 32 || config->gp_width > 48 ||
	    config->fixed_width < 32 || config->fixed_width > 48)
		return "has no counters of that width (32 to 48)";
	error = x86_pmu_maker(config)->config_error(config);
	if (!error)
		error = x86_lbr_config_error(config);
	if (!error)
		error = x86_pebs_config_error(config);
	if (!error)
		error = x86_ibs_config_error(config);
	if (!error)
		error = x86_acr_config_error(config);
	if (!error)
		error = x86_extra_reg_config_error(config);
	if (error)
		return error;
	if (config->stuck < X86_PMU_GP_MAX ? config->stuck >= config->gp :
	    config->stuck != X86_PMU_NO_COUNTER &&
	    !(config->fixed >> (config->stuck - X86_PMU_GP_MAX) & 1))
		return "does not have the counter to be stuck: see counters= and fixed=";
	if ((config->denied | config->missing) & ~x86_pmu_global_counters(config))
		return "does not have all of the counters to be denied or missing: see counters=";
	if (config->sticky_status && !v->global)
		return "has no status register to be sticky: use another model";
	if (config->blind_to_guests && !x86_pmu_is_amd(config))
		return "has no host-only and guest-only bits to be blind: use an AMD model";
	return NULL;
}

/**
 * x86_pmu_width() - return the width of a counter, in bits
 * @config: the PMU
 * @i: the counter, its index in struct x86_pmu
 */
unsigned int x86_pmu_width(const struct x86_pmu_config *config, unsigned int i)
{
	return i < X86_PMU_GP_MAX ? config->gp_width : config->fixed_width;
}

/**
 * x86_pmu_global_bit() - return the bit of a counter in the global registers
 * @i: the counter, its index in struct x86_pmu
 */
unsigned int x86_pmu_global_bit(unsigned int i)
{
	return i < X86_PMU_GP_MAX ? i : X86_PMU_GLOBAL_FIXED + i - X86_PMU_GP_MAX;
}

/**
 * x86_pmu_global_counters() - return all counters, by their bits in the global registers
 * @config: the PMU
 */
uint64_t x86_pmu_global_counters(const struct x86_pmu_config *config)
{
	return (x86_pmu_low_bits(config->gp) & ~(uint64_t)config->holes) |
	       (uint64_t)config->fixed << X86_PMU_GLOBAL_FIXED;
}

/**
 * x86_pmu_is_missing() - check whether a counter is absent, by @missing or @holes
 * @config: the PMU
 * @i: the counter, its index in struct x86_pmu
 */
bool x86_pmu_is_missing(const struct x86_pmu_config *config, unsigned int i)
{
	return (config->missing | config->holes) >> x86_pmu_global_bit(i) & 1;
}
