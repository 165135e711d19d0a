// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Options of the x86 PMU, and the configuration of the model by them.
 */
#include <stdlib.h>
#include <string.h>

#include "common/options.h"
#include "pmu/deliver.h"
#include "pmu/stats.h"
#include "x86/options.h"
#include "x86/uarch/uarch.h"

/* The values of the options */
static struct {
	const char *model;
	uint64_t perfmon;
	uint64_t counters;
	uint64_t fixed;
	uint64_t width;
	uint64_t fixed_width;
	const char *full_width;
	const char *metrics;
	const char *metrics_clear;
	const char *extra_regs;
	const char *misplaced;
	const char *lbr;
	uint64_t lbr_depth;
	uint64_t lbr_counters;
	uint64_t pebs;
	uint64_t pebs_fragments;
	const char *bts;
	const char *ibs;
	const char *acr;
	uint64_t atoms;
	uint64_t deny;
	const char *deny_event;
	uint64_t missing;
	uint64_t holes;
	const char *stuck;
	bool sticky_status;
	bool blind_to_guests;
	uint64_t lose_record;
	uint64_t tear_record;
	bool unfrozen_lbr;
	uint64_t late_pebs;
	uint64_t empty_pebs;
	uint64_t stale_pebs;
	uint64_t late_ibs;
	const char *verbose;
	uint64_t tsc_mhz;
} opt = {
	.perfmon = OPTION_UNSET,
	.counters = OPTION_UNSET,
	.fixed = OPTION_UNSET,
	.width = OPTION_UNSET,
	.fixed_width = OPTION_UNSET,
	.atoms = OPTION_UNSET,
	.deny = OPTION_UNSET,
	.missing = OPTION_UNSET,
	.holes = OPTION_UNSET,
	.tsc_mhz = OPTION_UNSET,
	.lbr_depth = OPTION_UNSET,
	.pebs = OPTION_UNSET,
};

static const struct option options[] = {
	{ .name = "model",	 .text = &opt.model },
	{ .name = "perfmon",	 .number = &opt.perfmon },
	{ .name = "counters",	 .number = &opt.counters },
	{ .name = "fixed",	 .number = &opt.fixed },
	{ .name = "width",	 .number = &opt.width },
	{ .name = "fixed-width", .number = &opt.fixed_width },
	{ .name = "full-width",	 .text = &opt.full_width },
	{ .name = "metrics",	 .text = &opt.metrics },
	{ .name = "metrics-clear", .text = &opt.metrics_clear },
	{ .name = "extra-regs",	 .text = &opt.extra_regs },
	{ .name = "misplaced",	 .text = &opt.misplaced },
	{ .name = "atoms",	 .number = &opt.atoms },
	{ .name = "deny",	 .number = &opt.deny },
	{ .name = "deny-event",	 .text = &opt.deny_event },
	{ .name = "missing",	 .number = &opt.missing },
	{ .name = "holes",	 .number = &opt.holes },
	{ .name = "tsc-mhz",	 .number = &opt.tsc_mhz },
	{ .name = "lbr",	 .text = &opt.lbr },
	{ .name = "lbr-depth",	 .number = &opt.lbr_depth },
	{ .name = "lbr-counters", .number = &opt.lbr_counters },
	{ .name = "pebs",	 .number = &opt.pebs },
	{ .name = "pebs-fragments", .number = &opt.pebs_fragments },
	{ .name = "bts",	 .text = &opt.bts },
	{ .name = "ibs",	 .text = &opt.ibs },
	{ .name = "acr",	 .text = &opt.acr },
	{ .name = "skid",	 .number = &deliver_config.skid },
	{ .name = "stats",	 .text = &stats_file },
	{ .name = "verbose",	 .text = &opt.verbose },
}, faults[] = {
	{ .name = "lose-pmi",	   .number = &deliver_config.lose },
	{ .name = "delay-pmi",	   .number = &deliver_config.delay },
	{ .name = "spurious-pmi",  .number = &deliver_config.spurious },
	{ .name = "wrong-cpu-pmi", .number = &deliver_config.wrong_cpu },
	{ .name = "stuck-counter", .text = &opt.stuck },
	{ .name = "sticky-status", .flag = &opt.sticky_status },
	{ .name = "blind-to-guests", .flag = &opt.blind_to_guests },
	{ .name = "lose-record",   .number = &opt.lose_record },
	{ .name = "tear-record",   .number = &opt.tear_record },
	{ .name = "unfrozen-lbr",  .flag = &opt.unfrozen_lbr },
	{ .name = "late-pebs",	   .number = &opt.late_pebs },
	{ .name = "empty-pebs",	   .number = &opt.empty_pebs },
	{ .name = "stale-pebs",	   .number = &opt.stale_pebs },
	{ .name = "late-ibs",	   .number = &opt.late_ibs },
};

static const struct option_table option_table = {
	options, ARRAY_SIZE(options), faults, ARRAY_SIZE(faults)
};

/* The PMU of all CPUs, or of the first CPU type of a hybrid machine; the PMU of the other type */
static struct x86_pmu_config config, other_config;

/* There is no option "model": the CPU's vendor determines the model. */
static bool default_model;

/* Return an option's number, limited to @max; @unset without the option. */
static uint64_t number_of(uint64_t option, uint64_t unset, uint64_t max)
{
	if (option == OPTION_UNSET)
		return unset;
	return option < max ? option : max;
}

static int read_stuck_counter(struct x86_pmu_config *c)
{
	const char *number = opt.stuck;
	unsigned long n;
	char *end;

	if (!opt.stuck)
		return 0;
	if (!strncmp(number, "fixed", 5))
		number += 5;
	n = strtoul(number, &end, 0);
	if (!*number || *end || n >= X86_PMU_GP_MAX)
		return plugin_refuse("'fault=stuck-counter:%s': give the number of a counter, or 'fixed' and the number of a fixed-function counter",
				     opt.stuck);
	c->stuck = number == opt.stuck ? n : X86_PMU_GP_MAX + n;
	if (c->stuck >= X86_PMU_COUNTERS_MAX)
		return plugin_refuse("'fault=stuck-counter:%s': there is no such counter, see counters= and fixed=",
				     opt.stuck);
	return 0;
}

static int read_misplaced(struct x86_pmu_config *c)
{
	if (!opt.misplaced || !strcmp(opt.misplaced, "nothing"))
		return 0;
	if (strcmp(opt.misplaced, "other"))
		return plugin_refuse("'misplaced=%s': the count of an event on a wrong counter is 'nothing' or 'other'",
				     opt.misplaced);
	if (!c->uarch)
		return plugin_refuse("the model %s has no event constraints: 'misplaced' needs a microarchitecture, such as model=skylake",
				     x86_pmu_name(c));
	c->misplaced = true;
	return 0;
}

static int read_denied_events(struct x86_pmu_config *c)
{
	return options_events("deny-event", opt.deny_event, X86_PMU_SEL_NAME, c->denied_events,
			      X86_PMU_DENIED_MAX, &c->nr_denied_events);
}

/* Without the option, a microarchitecture has its LBR if IA32_PERF_CAPABILITIES exists. */
static int read_lbr(struct x86_pmu_config *c)
{
	enum x86_lbr_kind kind;

	if (!opt.lbr) {
		kind = c->full_width ? c->lbr.kind : X86_LBR_NONE;
	} else {
		for (kind = 0; kind < X86_LBR_KINDS; kind++)
			if (!strcmp(opt.lbr, x86_lbr_name(kind)))
				break;
		if (kind == X86_LBR_KINDS)
			return plugin_refuse("'lbr=%s': branch records are 'off', 'flags', 'info', 'arch' or 'amd'",
					     opt.lbr);
	}
	c->lbr = (struct x86_lbr_config) {
		.kind		= kind,
		.depth		= x86_lbr_default_depth(kind),
		.counters	= opt.lbr_counters,
		.lose		= opt.lose_record,
		.tear		= opt.tear_record,
		.unfrozen	= opt.unfrozen_lbr,
	};
	c->lbr.depth = number_of(opt.lbr_depth, c->lbr.depth, UINT32_MAX);
	return 0;
}

/* Without the option, a microarchitecture has its PEBS if IA32_PERF_CAPABILITIES exists. */
static void read_pebs(struct x86_pmu_config *c)
{
	unsigned int format = c->full_width ? c->pebs.format : 0;

	format = number_of(opt.pebs, format, UINT32_MAX);
	c->pebs = (struct x86_pebs_config) {
		.format		= format,
		.fragments	= opt.pebs_fragments,
		.late		= opt.late_pebs,
		.empty		= opt.empty_pebs,
		.stale		= opt.stale_pebs,
	};
}

/* Apply the options to a model's properties. */
static int configure(struct x86_pmu_config *c)
{
	const char *error;

	c->perfmon = number_of(opt.perfmon, c->perfmon, UINT8_MAX);
	c->gp = number_of(opt.counters, c->gp, UINT32_MAX);
	c->gp_width = number_of(opt.width, c->gp_width, UINT32_MAX);
	c->fixed_width = number_of(opt.fixed_width, c->fixed_width, UINT32_MAX);
	c->fixed = number_of(opt.fixed, c->fixed, UINT32_MAX);
	c->denied = number_of(opt.deny, c->denied, UINT64_MAX);
	c->missing = number_of(opt.missing, c->missing, UINT64_MAX);
	c->holes = number_of(opt.holes, c->holes, UINT32_MAX);
	c->tsc_mhz = number_of(opt.tsc_mhz, c->tsc_mhz, UINT32_MAX);
	c->sticky_status = opt.sticky_status;
	c->blind_to_guests = opt.blind_to_guests;
	if (options_switch("full-width", opt.full_width, &c->full_width) ||
	    options_switch("metrics", opt.metrics, &c->perf_metrics) ||
	    options_switch("metrics-clear", opt.metrics_clear, &c->metrics_clear) ||
	    options_switch("extra-regs", opt.extra_regs, &c->has_extra_regs) ||
	    options_switch("bts", opt.bts, &c->bts) ||
	    options_switch("ibs", opt.ibs, &c->ibs.present) ||
	    options_switch("acr", opt.acr, &c->acr) ||
	    read_lbr(c) || read_misplaced(c) || read_denied_events(c) || read_stuck_counter(c))
		return 1;

	read_pebs(c);
	c->ibs.late = opt.late_ibs;
	error = x86_pmu_config_error(c);
	if (error)
		return plugin_refuse("the model %s %s", x86_pmu_name(c), error);
	return 0;
}

/* Configure a microarchitecture, and the other one of a hybrid machine. */
static int configure_uarch(const struct x86_uarch *uarch)
{
	x86_pmu_uarch_defaults(&config, uarch);
	if (opt.atoms == OPTION_UNSET || !opt.atoms)
		return configure(&config);
	config.unreported = uarch->unreported;
	x86_pmu_uarch_defaults(&other_config, uarch->other);
	other_config.unreported = uarch->other->unreported;
	return configure(&config) || configure(&other_config);
}

static int read_model(void)
{
	const struct x86_uarch *uarch = opt.model ? x86_uarch_find(opt.model) : NULL;

	if (opt.atoms != OPTION_UNSET && (!uarch || !uarch->other))
		return plugin_refuse("'atoms' needs a hybrid model: use model=alder-lake or model=lunar-lake");

	if (!opt.model) {
		default_model = true;
		return 0;
	}
	for (int i = 0; i < X86_PMU_VERSIONS; i++) {
		if (strcmp(opt.model, x86_pmu_version_name(i)))
			continue;
		x86_pmu_defaults(&config, i);
		return configure(&config);
	}
	if (uarch)
		return configure_uarch(uarch);
	return plugin_refuse("unknown model '%s' (known: intel-v1 to intel-v6, amd-legacy, amd-core, amd-v2, haswell, skylake, icelake, sapphire-rapids, granite-rapids, sierra-forest, alder-lake, lunar-lake, nova-lake, diamond-rapids, clearwater-forest, kx-6000, zen1 to zen6)",
			     opt.model);
}

static bool is_atom(unsigned int vcpu)
{
	return opt.atoms != OPTION_UNSET && vcpu < 64 && opt.atoms >> vcpu & 1;
}

static int check_atoms(const struct qemu_info *info)
{
	if (opt.atoms != OPTION_UNSET && info->max_vcpus < 64 && opt.atoms >> info->max_vcpus)
		return plugin_refuse("'atoms=%#llx' names more CPUs than there are: use bits 0 to %d",
				     (unsigned long long)opt.atoms, info->max_vcpus - 1);
	return 0;
}

/* Check that the PMU's model suits the CPU. */
static int check_cpu(bool amd, uint32_t signature)
{
	if (amd != x86_pmu_is_amd(&config))
		return plugin_refuse("the model %s does not suit a CPU of %s: use another -cpu or model",
				     x86_pmu_name(&config), amd ? "AMD" : "Intel");
	if (config.uarch && !x86_uarch_is_in(config.uarch, signature))
		return plugin_refuse("the model %s does not suit a CPU of family %u, model %u: use another -cpu or model",
				     x86_pmu_name(&config), x86_uarch_family(signature),
				     x86_uarch_model(signature));
	return 0;
}

/*
 * Raptor Lake: erratum RPL018 hides the metrics (intel_pmu_broken_perf_cap() of Linux 7.3). A CPU
 * without E-cores (i3-13100, Xeon E-2400) is not hybrid.
 */
static void configure_raptor_lake(void)
{
	config.hides_metrics = true;
	if (opt.atoms == OPTION_UNSET || !opt.atoms)
		config.core_type = X86_PMU_CORE_NONE;
}

static bool is_raptor_lake(uint32_t signature)
{
	unsigned int model = x86_uarch_model(signature);

	return x86_uarch_family(signature) == 6 &&
	       (model == 0xb7 || model == 0xba || model == 0xbf);
}

/**
 * x86_options_read() - read the plugin's options, and configure the model
 * @info: QEMU's information for plugins
 * @argc: number of options
 * @argv: the options; must stay valid
 *
 * Return: 0, or non-zero after a refusal.
 */
int x86_options_read(const struct qemu_info *info, int argc, char **argv)
{
	if (options_read(argc, argv, &option_table) ||
	    options_switch("verbose", opt.verbose, &plugin_verbose) ||
	    plugin_check_target(info, "x86_64") || read_model())
		return 1;
	return check_atoms(info);
}

/**
 * x86_options_common() - return the PMU of all CPUs, or of the first CPU type
 *
 * Return: the configuration; without the option "model", empty until x86_options_config().
 */
const struct x86_pmu_config *x86_options_common(void)
{
	return &config;
}

/**
 * x86_options_config() - return the PMU of a new CPU
 * @vcpu: index of the CPU
 * @amd: the CPU's vendor is AMD, otherwise Intel; known only once QEMU has created the CPU
 * @signature: family and model of the CPU, CPUID.1.EAX
 *
 * Return: the configuration, or NULL after a refusal.
 */
const struct x86_pmu_config *x86_options_config(unsigned int vcpu, bool amd, uint32_t signature)
{
	if (default_model) {
		x86_pmu_defaults(&config, amd ? X86_PMU_AMD_CORE : X86_PMU_INTEL_V2);
		if (configure(&config))
			return NULL;
		default_model = false;
	}
	if (check_cpu(amd, signature))
		return NULL;
	if (is_raptor_lake(signature))
		configure_raptor_lake();
	return is_atom(vcpu) ? &other_config : &config;
}
