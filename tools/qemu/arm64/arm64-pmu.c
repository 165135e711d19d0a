// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gives the CPUs of a stock qemu-system-aarch64 a PMU (PMUv3) of their own.
 *
 * This file reads the options and ties the parts together:
 *
 *	model		registers and counters, knows nothing of QEMU
 *	events		what event types mean
 *	count		what the guest does
 *	decode		what its instructions are
 *	deliver		interrupts
 *	branch		where its branches go
 *	brbe		records of them, knows nothing of QEMU
 *	qemu		all that depends on QEMU
 *
 * Files of pmu/ and common/ are shared with the x86 PMU. See arm64-pmu.rst for the
 * options, and for what the numbers mean.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arm64/branch.h"
#include "arm64/count.h"
#include "arm64/deliver.h"
#include "arm64/model.h"
#include "arm64/qemu.h"
#include "common/options.h"
#include "common/plugin.h"
#include "pmu/count.h"
#include "pmu/deliver.h"
#include "pmu/stats.h"

const char *const plugin_name = "arm64-pmu";

/* PMMIR_EL1.SLOTS unless something else is asked for. */
#define DEFAULT_SLOTS	4

/* SPIs that the machine "virt" has (QEMU, include/hw/arm/virt.h: NUM_IRQS) */
#define MACHINE_SPIS	256

/* The options as given. */
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
	const char *stats;
	const char *verbose;
	uint64_t lose;
	uint64_t delay;
	uint64_t skid;
	uint64_t spurious;
	uint64_t wrong_cpu;
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
	{ .name = "skid",		 .number = &opt.skid },
	{ .name = "stats",		 .text = &opt.stats },
	{ .name = "verbose",		 .text = &opt.verbose },
}, faults[] = {
	{ .name = "lose-pmi",	   .number = &opt.lose },
	{ .name = "delay-pmi",	   .number = &opt.delay },
	{ .name = "spurious-pmi",  .number = &opt.spurious },
	{ .name = "wrong-cpu-pmi", .number = &opt.wrong_cpu },
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
 * struct kind - what a kind of CPU was asked to have
 * @version: ID_AA64DFR0_EL1.PMUVer, 0 for that of the CPU
 * @counters: event counters, or OPTION_UNSET
 * @slots: PMMIR_EL1.SLOTS, or OPTION_UNSET
 * @midr: MIDR_EL1, 0 for that of the CPU
 * @config: what its PMU is
 * @configured: @config has been filled in
 */
struct kind {
	uint64_t version;
	uint64_t counters;
	uint64_t slots;
	uint64_t midr;
	struct arm64_pmu_config config;
	bool configured;
};

/* All CPUs, and those from first to last that are of another kind, if there are any */
static struct kind common;
static struct kind other;
static unsigned long first_other = 1;
static unsigned long last_other;

static struct arm64_pmu *pmus[PMU_VCPUS_MAX];

/* ---- the PMU and its CPU ---- */

static unsigned int vcpu_of(const struct arm64_pmu *pmu)
{
	unsigned int i = 0;

	while (pmus[i] != pmu)
		i++;
	return i;
}

static void pmu_read(struct arm64_pmu *pmu, arm64_pmu_counts counts)
{
	count_read(vcpu_of(pmu), counts[0]);
}

static void pmu_watch(struct arm64_pmu *pmu, arm64_pmu_counts distance)
{
	count_watch(vcpu_of(pmu), distance[0]);
}

static void pmu_need(struct arm64_pmu *pmu, uint32_t kinds)
{
	count_need(vcpu_of(pmu), kinds);
}

static enum arm64_pmu_level pmu_level(struct arm64_pmu *pmu)
{
	return arm64_qemu_level(vcpu_of(pmu));
}

static uint64_t pmu_mdcr_el2(struct arm64_pmu *pmu)
{
	return arm64_qemu_mdcr_el2(vcpu_of(pmu));
}

static uint64_t pmu_hcr_el2(struct arm64_pmu *pmu)
{
	return arm64_qemu_hcr_el2(vcpu_of(pmu));
}

static uint64_t pmu_record(struct arm64_pmu *pmu, unsigned int levels)
{
	return arm64_branch_record(vcpu_of(pmu), levels);
}

static void pmu_overflowed(struct arm64_pmu *pmu)
{
	arm64_deliver_overflow(vcpu_of(pmu));
}

static void pmu_alarm(struct arm64_pmu *pmu)
{
	deliver_alarm(vcpu_of(pmu));
}

static const struct arm64_pmu_ops pmu_ops = {
	.read		= pmu_read,
	.watch		= pmu_watch,
	.need		= pmu_need,
	.level		= pmu_level,
	.mdcr_el2	= pmu_mdcr_el2,
	.hcr_el2	= pmu_hcr_el2,
	.record		= pmu_record,
	.overflowed	= pmu_overflowed,
	.alarm		= pmu_alarm,
};

static void set_alarm(unsigned int vcpu, uint64_t instructions)
{
	arm64_pmu_set_alarm(pmus[vcpu], instructions);
}

static void reached(unsigned int vcpu)
{
	arm64_pmu_check(pmus[vcpu]);
}

static void branch_taken(unsigned int vcpu, const struct arm64_branch *branch)
{
	arm64_brbe_branch(pmus[vcpu], branch);
}

static bool is_flags(enum arm64_pmu_reg reg)
{
	return reg == ARM64_PMOVSCLR || reg == ARM64_PMOVSSET;
}

static uint64_t hook_read(unsigned int vcpu, enum arm64_pmu_reg reg, unsigned int n)
{
	uint64_t value = arm64_pmu_read(pmus[vcpu], reg, n);

	if (is_flags(reg))
		arm64_deliver_update(vcpu, true);
	return value;
}

static void hook_write(unsigned int vcpu, enum arm64_pmu_reg reg, unsigned int n, uint64_t value)
{
	arm64_pmu_write(pmus[vcpu], reg, n, value);
	arm64_deliver_update(vcpu, is_flags(reg));
}

static uint64_t hook_read_brbe(unsigned int vcpu, enum arm64_brbe_reg reg, unsigned int n)
{
	return arm64_brbe_read(pmus[vcpu], reg, n);
}

static void hook_write_brbe(unsigned int vcpu, enum arm64_brbe_reg reg, uint64_t value)
{
	arm64_brbe_write(pmus[vcpu], reg, value);
}

static void hook_mdcr_changed(unsigned int vcpu)
{
	arm64_pmu_refresh(pmus[vcpu]);
	arm64_deliver_update(vcpu, false);
}

static void hook_reset(void)
{
	unsigned int i;

	for (i = 0; i < PMU_VCPUS_MAX; i++) {
		if (!pmus[i])
			continue;
		arm64_pmu_reset(pmus[i]);
		arm64_deliver_reset(i);
	}
	deliver_reset();
}

static const struct arm64_qemu_hooks hooks = {
	.read		= hook_read,
	.write		= hook_write,
	.read_brbe	= hook_read_brbe,
	.write_brbe	= hook_write_brbe,
	.mdcr_changed	= hook_mdcr_changed,
	.exception	= arm64_count_exception,
	.delivered	= arm64_count_delivered,
	.reset		= hook_reset,
};

/* ---- statistics ---- */

static void print_vcpu(FILE *f, unsigned int vcpu)
{
	const struct arm64_pmu *pmu = pmus[vcpu];
	arm64_pmu_counts counts;
	unsigned int i;

	if (!pmu)
		return;
	for (i = 0; i < ARM64_PMU_REGS; i++) {
		fprintf(f, "cpu%u.mrs.%s %lu\n", vcpu, arm64_pmu_reg_name(i), pmu->reads[i]);
		fprintf(f, "cpu%u.msr.%s %lu\n", vcpu, arm64_pmu_reg_name(i), pmu->writes[i]);
	}
	fprintf(f, "cpu%u.overflows %lu\n", vcpu, pmu->overflowed);
	fprintf(f, "cpu%u.checks %lu\n", vcpu, pmu->checks);
	fprintf(f, "cpu%u.brbe.records %lu\n", vcpu, pmu->brbe.records);
	deliver_print(f, vcpu);
	arm64_deliver_print(f, vcpu);
	deliver_print_faults(f, vcpu);

	count_read(vcpu, counts[0]);
	for (i = 0; i < ARM64_PMU_LEVELS; i++)
		fprintf(f, "cpu%u.instructions.el%u %lu\n", vcpu, i,
			counts[ARM64_PMU_INSTRUCTIONS][i]);
}

static void print_stats(void)
{
	stats_print(opt.stats, print_vcpu);
}

/* ---- options ---- */

static int read_version(const char *name, uint64_t *version)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(versions); i++)
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
		return plugin_refuse("'fault=stuck-counter:%s': give its number, or 'cycles', or 'instructions'",
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
		return plugin_refuse("'spi=%lu': the machine has %u SPIs, and each CPU needs one",
				     opt.spi, MACHINE_SPIS);
	arm64_qemu_use_spis(opt.spi);
	return 0;
}

static int check_faults(const struct qemu_info *info)
{
	if (opt.wrong_cpu && info->max_vcpus < 2)
		return plugin_refuse("'fault=wrong-cpu-pmi' needs another CPU");
	if (opt.skid && opt.spurious)
		return plugin_refuse("'skid' and 'fault=spurious-pmi' both put interrupts off: one of them alone");
	deliver_config = (struct deliver_config) {
		.lose		= opt.lose,
		.delay		= opt.delay,
		.spurious	= opt.spurious,
		.wrong_cpu	= opt.wrong_cpu,
		.skid		= opt.skid,
		.cpus		= info->smp_vcpus,
		.take		= arm64_deliver_take,
		.set_alarm	= set_alarm,
	};
	return 0;
}

static unsigned int small(uint64_t number)
{
	return number < UINT32_MAX ? number : UINT32_MAX;
}

/* The CPU model decides, which is known only now. */
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
		return plugin_refuse("this -cpu has no PMMIR_EL1, so its PMU cannot be of a version from v3p4 on");
	if (config->counters > cpu->counters)
		return plugin_refuse("this -cpu has registers for %u event counters only",
				     cpu->counters);
	error = arm64_pmu_config_error(config);
	if (error)
		return plugin_refuse("the PMU of this -cpu and these options %s", error);
	kind->configured = true;
	return 0;
}

/* ---- beginning ---- */

static int make_pmu(unsigned int vcpu)
{
	struct kind *kind = kind_of(vcpu);
	const struct arm64_pmu_config *config = &kind->config;
	struct arm64_qemu_cpu cpu;
	struct arm64_pmu *pmu;

	if (arm64_qemu_vcpu_describe(vcpu, &cpu) || (!kind->configured && configure(kind, &cpu)))
		return 1;

	count_vcpu_init(vcpu);
	pmu = calloc(1, sizeof(*pmu));
	if (!pmu)
		abort();
	pmus[vcpu] = pmu;
	arm64_pmu_init(pmu, config, &pmu_ops);

	if (arm64_qemu_vcpu_hook(vcpu, config, arm64_pmu_ceid(pmu, 0), arm64_pmu_ceid(pmu, 1),
				 arm64_pmu_mmir(pmu)))
		return 1;
	if (kind->midr && arm64_qemu_set_midr(vcpu, kind->midr))
		return 1;
	plugin_note("CPU %u: PMUVer %u, %u event counters, %u slots, threshold of %u bits, %s, %u branch records",
		    vcpu, config->version, config->counters, config->slots, config->threshold,
		    config->instr_counter ? "instruction counter" : "no instruction counter",
		    config->brbe.records);
	return 0;
}

static void vcpu_init(unsigned int vcpu)
{
	if (vcpu < PMU_VCPUS_MAX && !pmus[vcpu] && make_pmu(vcpu))
		exit(1);
}

/**
 * qemu_plugin_install() - QEMU's call when it loads the plugin
 * @id: this plugin, as QEMU names it
 * @info: what QEMU says of itself
 * @argc: number of options
 * @argv: the options
 *
 * QEMU is changed only after everything that can be checked has been.
 *
 * Return: 0, or non-zero to make QEMU exit.
 */
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
			int argc, char **argv)
{
	if (options_read(argc, argv, &option_table) ||
	    options_switch("verbose", opt.verbose, &plugin_verbose) ||
	    plugin_check_target(info, "aarch64") || read_common() || read_stuck_counter() ||
	    read_denied_events() ||
	    read_kind(info) || read_spi(info) || check_faults(info) || arm64_qemu_find(info))
		return 1;

	arm64_count_init(reached, print_stats);
	arm64_branch_init(branch_taken);
	arm64_deliver_init(pmus);
	if (plugin_on_vcpu_init(id, info, vcpu_init) || arm64_qemu_hook(&hooks))
		return 1;
	pmu_qemu_at_exit(id, print_stats);
	return 0;
}
