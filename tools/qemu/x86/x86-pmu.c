// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gives a stock qemu-system-x86_64 a core PMU of Intel or AMD.
 *
 * This file reads the options and ties the parts together:
 *
 *	model, msr	counters and registers, know nothing of QEMU
 *	intel, amd	what they have of their own
 *	events		what event selectors mean
 *	count		what the guest does
 *	decode		what its instructions are
 *	deliver		interrupts
 *	qemu		all that depends on QEMU
 *
 * Files of pmu/ and common/ are shared with the arm64 PMU. See x86-pmu.rst for the
 * options, and for what the numbers mean.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/options.h"
#include "common/plugin.h"
#include "pmu/count.h"
#include "pmu/deliver.h"
#include "pmu/stats.h"
#include "x86/count.h"
#include "x86/deliver.h"
#include "x86/model.h"
#include "x86/qemu.h"

const char *const plugin_name = "x86-pmu";

/* The options as given. */
static struct {
	const char *model;
	uint64_t counters;
	uint64_t fixed;
	uint64_t width;
	uint64_t fixed_width;
	const char *full_width;
	const char *stuck;
	uint64_t lose;
	uint64_t delay;
	uint64_t spurious;
	uint64_t wrong_cpu;
	bool sticky_status;
	const char *stats;
	const char *verbose;
} opt = {
	.counters = OPTION_UNSET,
	.fixed = OPTION_UNSET,
	.width = OPTION_UNSET,
	.fixed_width = OPTION_UNSET,
};

static const struct option options[] = {
	{ .name = "model",	 .text = &opt.model },
	{ .name = "counters",	 .number = &opt.counters },
	{ .name = "fixed",	 .number = &opt.fixed },
	{ .name = "width",	 .number = &opt.width },
	{ .name = "fixed-width", .number = &opt.fixed_width },
	{ .name = "full-width",	 .text = &opt.full_width },
	{ .name = "stats",	 .text = &opt.stats },
	{ .name = "verbose",	 .text = &opt.verbose },
}, faults[] = {
	{ .name = "lose-pmi",	   .number = &opt.lose },
	{ .name = "delay-pmi",	   .number = &opt.delay },
	{ .name = "spurious-pmi",  .number = &opt.spurious },
	{ .name = "wrong-cpu-pmi", .number = &opt.wrong_cpu },
	{ .name = "stuck-counter", .text = &opt.stuck },
	{ .name = "sticky-status", .flag = &opt.sticky_status },
};

static const struct option_table option_table = {
	options, ARRAY_SIZE(options), faults, ARRAY_SIZE(faults)
};

static struct x86_pmu_config config;

static struct x86_pmu *pmus[PMU_VCPUS_MAX];

static bool default_model;

/* ---- the PMU and its CPU ---- */

static unsigned int vcpu_of(const struct x86_pmu *pmu)
{
	unsigned int i = 0;

	while (pmus[i] != pmu)
		i++;
	return i;
}

static void pmu_read(struct x86_pmu *pmu, x86_pmu_counts counts)
{
	count_read(vcpu_of(pmu), counts[0]);
}

static void pmu_watch(struct x86_pmu *pmu, x86_pmu_counts distance)
{
	count_watch(vcpu_of(pmu), distance[0]);
}

static void pmu_need(struct x86_pmu *pmu, uint32_t kinds)
{
	count_need(vcpu_of(pmu), kinds);
}

static void pmu_interrupt(struct x86_pmu *pmu)
{
	deliver_interrupt(vcpu_of(pmu));
}

static void pmu_alarm(struct x86_pmu *pmu)
{
	deliver_alarm(vcpu_of(pmu));
}

static const struct x86_pmu_ops pmu_ops = {
	.read		= pmu_read,
	.watch		= pmu_watch,
	.need		= pmu_need,
	.interrupt	= pmu_interrupt,
	.alarm		= pmu_alarm,
};

static void set_alarm(unsigned int vcpu, uint64_t instructions)
{
	x86_pmu_set_alarm(pmus[vcpu], instructions);
}

static void reached(unsigned int vcpu)
{
	x86_pmu_check(pmus[vcpu]);
}

static enum x86_pmu_access hook_rdmsr(unsigned int vcpu, uint32_t msr, uint64_t *value)
{
	return x86_pmu_rdmsr(pmus[vcpu], msr, value);
}

static enum x86_pmu_access hook_wrmsr(unsigned int vcpu, uint32_t msr, uint64_t value)
{
	return x86_pmu_wrmsr(pmus[vcpu], msr, value);
}

static enum x86_pmu_access hook_rdpmc(unsigned int vcpu, uint32_t selector, uint64_t *value)
{
	return x86_pmu_rdpmc(pmus[vcpu], selector, value);
}

static void hook_cpuid(uint32_t leaf, struct x86_pmu_cpuid *regs)
{
	x86_pmu_cpuid(&config, leaf, regs);
}

static void hook_reset(void)
{
	unsigned int i;

	for (i = 0; i < PMU_VCPUS_MAX; i++)
		if (pmus[i])
			x86_pmu_reset(pmus[i]);
	deliver_reset();
}

static const struct x86_qemu_hooks hooks = {
	.rdmsr		= hook_rdmsr,
	.wrmsr		= hook_wrmsr,
	.rdpmc		= hook_rdpmc,
	.cpuid		= hook_cpuid,
	.exception	= x86_count_exception,
	.interrupt	= x86_count_interrupt,
	.interrupted	= x86_count_interrupted,
	.reset		= hook_reset,
};

/* ---- statistics ---- */

static void print_vcpu(FILE *f, unsigned int vcpu)
{
	const struct x86_pmu *pmu = pmus[vcpu];
	x86_pmu_counts counts;
	unsigned int row;

	if (!pmu)
		return;
	for (row = 0; row < X86_PMU_MSR_ROWS; row++) {
		const char *name = x86_pmu_msr_name(&config, row);

		if (!name)
			continue;
		fprintf(f, "cpu%u.rdmsr.%s %lu\n", vcpu, name, pmu->msr[row].reads);
		fprintf(f, "cpu%u.wrmsr.%s %lu\n", vcpu, name, pmu->msr[row].writes);
	}
	fprintf(f, "cpu%u.rdpmc %lu\n", vcpu, pmu->rdpmc);
	fprintf(f, "cpu%u.overflows %lu\n", vcpu, pmu->overflows);
	fprintf(f, "cpu%u.checks %lu\n", vcpu, pmu->checks);
	deliver_print(f, vcpu);
	x86_deliver_print(f, vcpu);
	deliver_print_faults(f, vcpu);

	count_read(vcpu, counts[0]);
	fprintf(f, "cpu%u.instructions.user %lu\n", vcpu,
		counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER]);
	fprintf(f, "cpu%u.instructions.kernel %lu\n", vcpu,
		counts[X86_PMU_INSTRUCTIONS][X86_PMU_KERNEL]);
}

static void print_stats(void)
{
	stats_print(opt.stats, print_vcpu);
}

/* ---- options ---- */

static int read_stuck_counter(void)
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
		return plugin_refuse("'fault=stuck-counter:%s': give its number, with 'fixed' before that of a fixed-function counter",
				     opt.stuck);
	config.stuck = number == opt.stuck ? n : X86_PMU_GP_MAX + n;
	if (config.stuck >= X86_PMU_COUNTERS_MAX)
		return plugin_refuse("'fault=stuck-counter:%s': there is no such counter",
				     opt.stuck);
	return 0;
}

static int configure(enum x86_pmu_version version)
{
	const char *error;

	x86_pmu_defaults(&config, version);
	if (opt.counters != OPTION_UNSET)
		config.gp = opt.counters < UINT32_MAX ? opt.counters : UINT32_MAX;
	if (opt.width != OPTION_UNSET)
		config.gp_width = opt.width < UINT32_MAX ? opt.width : UINT32_MAX;
	if (opt.fixed_width != OPTION_UNSET)
		config.fixed_width = opt.fixed_width < UINT32_MAX ? opt.fixed_width : UINT32_MAX;
	if (opt.fixed != OPTION_UNSET)
		config.fixed = opt.fixed < UINT32_MAX ? opt.fixed : UINT32_MAX;
	config.sticky_status = opt.sticky_status;
	if (options_switch("full-width", opt.full_width, &config.full_width) ||
	    read_stuck_counter())
		return 1;

	error = x86_pmu_config_error(&config);
	if (error)
		return plugin_refuse("the model %s %s", x86_pmu_version_name(version), error);
	x86_deliver_auto_mask = !x86_pmu_is_amd(&config);
	return 0;
}

static int read_model(void)
{
	int i;

	if (!opt.model) {
		default_model = true;
		return 0;
	}
	for (i = 0; i < X86_PMU_VERSIONS; i++)
		if (!strcmp(opt.model, x86_pmu_version_name(i)))
			return configure(i);
	return plugin_refuse("unknown model '%s' (known: intel-v1 to intel-v5, amd-legacy, amd-core, amd-v2)",
			     opt.model);
}

static int check_faults(const struct qemu_info *info)
{
	if (opt.wrong_cpu && info->max_vcpus < 2)
		return plugin_refuse("'fault=wrong-cpu-pmi' needs another CPU");
	deliver_config = (struct deliver_config) {
		.lose		= opt.lose,
		.delay		= opt.delay,
		.spurious	= opt.spurious,
		.wrong_cpu	= opt.wrong_cpu,
		.cpus		= info->smp_vcpus,
		.take		= x86_deliver_take,
		.set_alarm	= set_alarm,
	};
	return 0;
}

/* ---- beginning ---- */

/* The vendor is known only now: of the CPU model, not of the command line. */
static void vcpu_init(unsigned int vcpu)
{
	bool amd;

	if (vcpu >= PMU_VCPUS_MAX || pmus[vcpu])
		return;
	x86_qemu_vcpu_init(vcpu);
	amd = x86_qemu_vcpu_is_amd(vcpu);
	if (default_model) {
		if (configure(amd ? X86_PMU_AMD_CORE : X86_PMU_INTEL_V2))
			exit(1);
		default_model = false;
	}
	if (amd != x86_pmu_is_amd(&config)) {
		plugin_refuse("the model %s does not suit a CPU of %s, choose another -cpu",
			      x86_pmu_version_name(config.version), amd ? "AMD" : "Intel");
		exit(1);
	}

	count_vcpu_init(vcpu);
	pmus[vcpu] = calloc(1, sizeof(*pmus[vcpu]));
	if (!pmus[vcpu])
		abort();
	x86_pmu_init(pmus[vcpu], &config, &pmu_ops);
	plugin_note("CPU %u: %s, %u counters of %u bits, fixed-function counters %#x",
		    vcpu, x86_pmu_version_name(config.version), config.gp, config.gp_width,
		    config.fixed);
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
	    plugin_check_target(info, "x86_64") || read_model() || check_faults(info) ||
	    x86_qemu_find(info))
		return 1;

	x86_count_init(reached, print_stats);
	if (plugin_on_vcpu_init(id, info, vcpu_init) || x86_qemu_hook(&hooks))
		return 1;
	pmu_qemu_at_exit(id, print_stats);
	return 0;
}
