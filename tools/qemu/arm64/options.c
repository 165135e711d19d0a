// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Options of the arm64 PMU, and the configuration of the model by options and CPU.
 */
#include <stdlib.h>
#include <string.h>

#include "arm64/options.h"
#include "arm64/qemu.h"
#include "common/options.h"
#include "pmu/deliver.h"
#include "pmu/stats.h"

/* PMMIR_EL1.SLOTS without the option "slots" */
#define DEFAULT_SLOTS	4

/* Number of SPIs of the machine "virt" (QEMU, include/hw/arm/virt.h: NUM_IRQS) */
#define MACHINE_SPIS	256

/* The values of the options */
static struct {
	const char *version;
	uint64_t counters;
	uint64_t slots;
	uint64_t threshold;
	const char *instr_counter;
	uint64_t brbe;
	const char *kind;
	uint64_t spi;
	uint64_t deny;
	const char *deny_event;
	const char *verbose;
	const char *stuck;
	bool sticky_status;
	uint64_t lose_record;
	uint64_t tear_record;
	bool unfrozen_brbe;
} opt = {
	.counters = OPTION_UNSET,
	.slots = OPTION_UNSET,
	.threshold = OPTION_UNSET,
	.spi = OPTION_UNSET,
};

static const struct option options[] = {
	{ .name = "version",		 .text = &opt.version },
	{ .name = "counters",		 .number = &opt.counters },
	{ .name = "slots",		 .number = &opt.slots },
	{ .name = "threshold",		 .number = &opt.threshold },
	{ .name = "instruction-counter", .text = &opt.instr_counter },
	{ .name = "brbe",		 .number = &opt.brbe },
	{ .name = "kind",		 .text = &opt.kind },
	{ .name = "spi",		 .number = &opt.spi },
	{ .name = "deny",		 .number = &opt.deny },
	{ .name = "deny-event",		 .text = &opt.deny_event },
	{ .name = "skid",		 .number = &deliver_config.skid },
	{ .name = "stats",		 .text = &stats_file },
	{ .name = "verbose",		 .text = &opt.verbose },
}, faults[] = {
	{ .name = "lose-pmi",	   .number = &deliver_config.lose },
	{ .name = "delay-pmi",	   .number = &deliver_config.delay },
	{ .name = "spurious-pmi",  .number = &deliver_config.spurious },
	{ .name = "wrong-cpu-pmi", .number = &deliver_config.wrong_cpu },
	{ .name = "stuck-counter", .text = &opt.stuck },
	{ .name = "sticky-status", .flag = &opt.sticky_status },
	{ .name = "lose-record",   .number = &opt.lose_record },
	{ .name = "tear-record",   .number = &opt.tear_record },
	{ .name = "unfrozen-brbe", .flag = &opt.unfrozen_brbe },
};

static const struct option_table option_table = {
	options, ARRAY_SIZE(options), faults, ARRAY_SIZE(faults)
};

static const struct version_name {
	const char *name;
	enum arm64_pmu_version version;
} versions[] = {
	{ "v3",	  ARM64_PMU_V3 },
	{ "v3p1", ARM64_PMU_V3P1 },
	{ "v3p4", ARM64_PMU_V3P4 },
	{ "v3p5", ARM64_PMU_V3P5 },
	{ "v3p7", ARM64_PMU_V3P7 },
	{ "v3p8", ARM64_PMU_V3P8 },
	{ "v3p9", ARM64_PMU_V3P9 },
};

/**
 * struct kind - options of a CPU type, and its PMU
 * @version: ID_AA64DFR0_EL1.PMUVer, 0 for the version of the CPU
 * @counters: number of event counters, or OPTION_UNSET
 * @slots: PMMIR_EL1.SLOTS, or OPTION_UNSET
 * @midr: MIDR_EL1, 0 for the value of the CPU
 * @config: properties of the PMU
 * @configured: @config is set
 */
struct kind {
	uint64_t version;
	uint64_t counters;
	uint64_t slots;
	uint64_t midr;
	struct arm64_pmu_config config;
	bool configured;
};

/* CPUs first_other to last_other have the CPU type other, all other CPUs the type common. */
static struct kind common;
static struct kind other;
static unsigned long first_other = 1;
static unsigned long last_other;

static int read_version(const char *name, uint64_t *version)
{
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++)
		if (!strcmp(versions[i].name, name)) {
			*version = versions[i].version;
			return 0;
		}
	return plugin_refuse("unknown version '%s' (known: v3, v3p1, v3p4, v3p5, v3p7, v3p8, v3p9)",
			     name);
}

static int read_common(void)
{
	common.counters = opt.counters;
	common.slots = opt.slots;
	return opt.version ? read_version(opt.version, &common.version) : 0;
}

static unsigned int stuck_counter = ARM64_PMU_NO_COUNTER;

static int read_stuck_counter(void)
{
	unsigned long n;
	char *end;

	if (!opt.stuck)
		return 0;
	if (!strcmp(opt.stuck, "cycles")) {
		stuck_counter = ARM64_PMU_CYCLE_COUNTER;
		return 0;
	}
	if (!strcmp(opt.stuck, "instructions")) {
		stuck_counter = ARM64_PMU_INSTR_COUNTER;
		return 0;
	}
	n = strtoul(opt.stuck, &end, 0);
	if (!*opt.stuck || *end || n >= ARM64_PMU_EVENT_COUNTERS_MAX)
		return plugin_refuse("'fault=stuck-counter:%s': give the number of a counter, 'cycles' or 'instructions'",
				     opt.stuck);
	stuck_counter = n;
	return 0;
}

static uint64_t denied_events[ARM64_PMU_DENIED_MAX];
static unsigned int nr_denied_events;

static int read_denied_events(void)
{
	return options_events("deny-event", opt.deny_event, PMEVTYPER_EVENT, denied_events,
			      ARM64_PMU_DENIED_MAX, &nr_denied_events);
}

static int read_others(const struct qemu_info *info, const char *cpus)
{
	char *end;

	first_other = strtoul(cpus, &end, 0);
	last_other = first_other;
	if (end != cpus && *end == '-') {
		cpus = end + 1;
		last_other = strtoul(cpus, &end, 0);
	}
	if (end == cpus || *end || first_other > last_other ||
	    last_other >= (unsigned long)info->smp_vcpus)
		return plugin_refuse("'kind=%s': it begins with the number of a CPU, or FIRST-LAST",
				     opt.kind);
	return 0;
}

static int read_property(char *property)
{
	static const struct option properties[] = {
		{ .name = "midr",     .number = &other.midr },
		{ .name = "counters", .number = &other.counters },
		{ .name = "slots",    .number = &other.slots },
	};
	static const struct option_table table = { properties, ARRAY_SIZE(properties), NULL, 0 };

	if (!strncmp(property, "version=", strlen("version=")))
		return read_version(strchr(property, '=') + 1, &other.version);
	return options_read(1, &property, &table);
}

/* kind=CPUS:PROPERTY=VALUE:... */
static int read_kind(const struct qemu_info *info)
{
	char *text, *word, *rest = NULL;
	int ret = 0;

	if (!opt.kind)
		return 0;
	other = common;
	text = strdup(opt.kind);
	if (!text)
		abort();
	word = strtok_r(text, ":", &rest);
	ret = read_others(info, word ? word : "");
	while (!ret && (word = strtok_r(NULL, ":", &rest)))
		ret = read_property(word);
	free(text);
	if (ret)
		return ret;
	if (!other.midr || other.midr > UINT32_MAX)
		return plugin_refuse("'kind=%s': give its midr=, a number of 32 bits, not 0",
				     opt.kind);
	return 0;
}

static struct kind *kind_of(unsigned int vcpu)
{
	return vcpu >= first_other && vcpu <= last_other ? &other : &common;
}

static int read_spi(const struct qemu_info *info)
{
	if (opt.spi == OPTION_UNSET)
		return 0;
	if (opt.spi + info->smp_vcpus > MACHINE_SPIS)
		return plugin_refuse("'spi=%lu': the machine has %u SPIs, and each CPU needs one: use a lower number",
				     opt.spi, MACHINE_SPIS);
	arm64_qemu_use_spis(opt.spi);
	return 0;
}

static unsigned int small(uint64_t number)
{
	return number < UINT32_MAX ? number : UINT32_MAX;
}

/* Set the properties of a CPU type's PMU, once QEMU has created a CPU. */
static int configure(struct kind *kind, const struct arm64_qemu_cpu *cpu)
{
	struct arm64_pmu_config *config = &kind->config;
	const char *error;

	config->version = kind->version ? kind->version : cpu->version;
	config->counters = kind->counters != OPTION_UNSET ? small(kind->counters) : cpu->counters;
	config->slots = config->version >= ARM64_PMU_V3P4 ? DEFAULT_SLOTS : 0;
	if (kind->slots != OPTION_UNSET)
		config->slots = small(kind->slots);
	if (opt.threshold != OPTION_UNSET)
		config->threshold = small(opt.threshold);
	if (options_switch("instruction-counter", opt.instr_counter, &config->instr_counter))
		return 1;
	config->brbe = (struct arm64_brbe_config) {
		.records	= small(opt.brbe),
		.lose		= opt.lose_record,
		.tear		= opt.tear_record,
		.unfrozen	= opt.unfrozen_brbe,
	};
	config->has_el2 = cpu->has_el2;
	config->has_el3 = cpu->has_el3;
	config->denied = opt.deny;
	memcpy(config->denied_events, denied_events, sizeof(denied_events));
	config->nr_denied_events = nr_denied_events;
	config->stuck = stuck_counter;
	config->sticky_status = opt.sticky_status;

	if (config->version >= ARM64_PMU_V3P4 && cpu->version < ARM64_PMU_V3P4)
		return plugin_refuse("this -cpu has no PMMIR_EL1, which v3p4 and later need: use version=v3p1 or another -cpu");
	if (config->counters > cpu->counters)
		return plugin_refuse("this -cpu has registers for %u event counters only: see counters=",
				     cpu->counters);
	error = arm64_pmu_config_error(config);
	if (error)
		return plugin_refuse("the PMU of this -cpu and these options %s", error);
	kind->configured = true;
	return 0;
}

/**
 * arm64_options_read() - read the plugin's options
 * @info: QEMU's information for plugins
 * @argc: number of options
 * @argv: the options; must stay valid
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_options_read(const struct qemu_info *info, int argc, char **argv)
{
	if (options_read(argc, argv, &option_table) ||
	    options_switch("verbose", opt.verbose, &plugin_verbose) ||
	    plugin_check_target(info, "aarch64") || read_common() || read_stuck_counter() ||
	    read_denied_events() || read_kind(info))
		return 1;
	return read_spi(info);
}

/**
 * arm64_options_config() - return the PMU of a new CPU
 * @vcpu: index of the CPU
 * @cpu: properties of the CPU
 *
 * Return: the configuration, or NULL after a refusal.
 */
const struct arm64_pmu_config *arm64_options_config(unsigned int vcpu,
						    const struct arm64_qemu_cpu *cpu)
{
	struct kind *kind = kind_of(vcpu);

	if (!kind->configured && configure(kind, cpu))
		return NULL;
	return &kind->config;
}

/**
 * arm64_options_midr() - return MIDR_EL1 of a CPU
 * @vcpu: index of the CPU
 *
 * Return: the value; 0 for the value of the CPU model.
 */
uint64_t arm64_options_midr(unsigned int vcpu)
{
	return kind_of(vcpu)->midr;
}
