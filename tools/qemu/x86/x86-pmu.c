// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gives a stock qemu-system-x86_64 a core PMU of Intel or AMD.
 *
 * This file reads the options and ties the parts together:
 *
 *	model, msr	counters and registers, know nothing of QEMU
 *	select		what a general-purpose counter counts
 *	intel, amd	what they have of their own
 *	uarch		what microarchitectures have of their own
 *	events		what event selectors mean
 *	lbr		records of branches, likewise
 *	pebs, ibs	precise samples, likewise
 *	second		events with a second register
 *	count		what the guest does
 *	branch		which branches it takes
 *	step		each of its instructions
 *	state		its registers and memory
 *	decode		what its instructions are
 *	deliver, eilvt	interrupts
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
#include "x86/branch.h"
#include "x86/count.h"
#include "x86/deliver.h"
#include "x86/eilvt.h"
#include "x86/model.h"
#include "x86/qemu.h"
#include "x86/state.h"
#include "x86/step.h"
#include "x86/uarch.h"

const char *const plugin_name = "x86-pmu";

/* The options as given. */
static struct {
	const char *model;
	uint64_t perfmon;
	uint64_t counters;
	uint64_t fixed;
	uint64_t width;
	uint64_t fixed_width;
	const char *full_width;
	const char *metrics;
	const char *second;
	const char *misplaced;
	const char *lbr;
	uint64_t lbr_depth;
	uint64_t lbr_counters;
	uint64_t pebs;
	uint64_t pebs_fragments;
	const char *ibs;
	const char *reload;
	uint64_t atoms;
	uint64_t deny;
	const char *deny_event;
	uint64_t missing;
	uint64_t holes;
	const char *stuck;
	uint64_t lose;
	uint64_t delay;
	uint64_t skid;
	uint64_t spurious;
	uint64_t wrong_cpu;
	bool sticky_status;
	uint64_t lose_record;
	uint64_t tear_record;
	bool unfrozen_lbr;
	uint64_t late_pebs;
	uint64_t empty_pebs;
	uint64_t stale_pebs;
	uint64_t late_ibs;
	const char *stats;
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
	{ .name = "second",	 .text = &opt.second },
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
	{ .name = "ibs",	 .text = &opt.ibs },
	{ .name = "reload",	 .text = &opt.reload },
	{ .name = "skid",	 .number = &opt.skid },
	{ .name = "stats",	 .text = &opt.stats },
	{ .name = "verbose",	 .text = &opt.verbose },
}, faults[] = {
	{ .name = "lose-pmi",	   .number = &opt.lose },
	{ .name = "delay-pmi",	   .number = &opt.delay },
	{ .name = "spurious-pmi",  .number = &opt.spurious },
	{ .name = "wrong-cpu-pmi", .number = &opt.wrong_cpu },
	{ .name = "stuck-counter", .text = &opt.stuck },
	{ .name = "sticky-status", .flag = &opt.sticky_status },
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

/* Of all CPUs, or of those that are of the first kind; of those of the other. */
static struct x86_pmu_config config, other_config;

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

static uint64_t pmu_record(struct x86_pmu *pmu, unsigned int rings)
{
	return x86_branch_record(vcpu_of(pmu), rings);
}

static void pmu_single(struct x86_pmu *pmu, unsigned int rings)
{
	x86_step_single(vcpu_of(pmu), rings);
}

static void pmu_sampled(struct x86_pmu *pmu)
{
	x86_deliver_sample(vcpu_of(pmu));
}

static void pmu_state(struct x86_pmu *pmu, struct x86_pebs_state *state, bool vectors)
{
	x86_state_read(vcpu_of(pmu), state, vectors);
}

static bool pmu_memory(struct x86_pmu *pmu, uint64_t addr, void *buf, size_t len, bool write)
{
	return x86_state_memory(vcpu_of(pmu), addr, buf, len, write);
}

static bool pmu_write_physical(struct x86_pmu *pmu, uint64_t addr, void *buf, size_t len)
{
	(void)pmu;
	return x86_state_write_physical(addr, buf, len);
}

static const struct x86_pmu_ops pmu_ops = {
	.read		= pmu_read,
	.watch		= pmu_watch,
	.need		= pmu_need,
	.interrupt	= pmu_interrupt,
	.alarm		= pmu_alarm,
	.record		= pmu_record,
	.single		= pmu_single,
	.sampled	= pmu_sampled,
	.state		= pmu_state,
	.memory		= pmu_memory,
	.write_physical	= pmu_write_physical,
};

static void set_alarm(unsigned int vcpu, uint64_t instructions)
{
	x86_pmu_set_alarm(pmus[vcpu], instructions);
}

static void reached(unsigned int vcpu)
{
	x86_pmu_check(pmus[vcpu]);
}

static void branch_taken(unsigned int vcpu, const struct x86_lbr_branch *branch)
{
	x86_pmu_branch(pmus[vcpu], branch);
}

static void retired(unsigned int vcpu, uint64_t ip, const struct x86_pebs_access *access)
{
	x86_pmu_step(pmus[vcpu], ip ? ip : x86_qemu_pc(vcpu), access);
}

static bool is_slow(unsigned int vcpu, uint64_t addr)
{
	return x86_pmu_is_slow(pmus[vcpu], addr);
}

static const struct x86_step_hooks step_hooks = {
	.retired	= retired,
	.check		= reached,
	.is_slow	= is_slow,
};

static enum x86_pmu_access hook_rdmsr(unsigned int vcpu, uint32_t msr, uint64_t *value)
{
	return x86_pmu_rdmsr(pmus[vcpu], msr, value);
}

static enum x86_pmu_access hook_wrmsr(unsigned int vcpu, uint32_t msr, uint64_t value)
{
	return x86_pmu_wrmsr(pmus[vcpu], msr, value);
}

static enum x86_pmu_access hook_rdpmc(unsigned int vcpu, enum x86_pmu_ring ring,
				      uint32_t selector, uint64_t *value)
{
	return x86_pmu_rdpmc(pmus[vcpu], ring, selector, value);
}

static void hook_cpuid(unsigned int vcpu, uint32_t leaf, uint32_t subleaf,
		       struct x86_pmu_cpuid *regs)
{
	x86_pmu_cpuid(pmus[vcpu]->config, leaf, subleaf, regs);
}

static void hook_exception(unsigned int vcpu, int vector, uint64_t pc, bool in_fetch, bool nested)
{
	x86_step_interrupted(vcpu, x86_count_exception(vcpu, vector, pc, in_fetch, nested));
}

static void hook_interrupt(unsigned int vcpu, uint64_t pc)
{
	x86_step_interrupted(vcpu, x86_count_interrupt(vcpu, pc));
}

static uint32_t hook_read(unsigned int vcpu, uint32_t msr)
{
	return x86_pmu_rdmsr_more(pmus[vcpu], msr);
}

static uint32_t read_eilvt(unsigned int vcpu, unsigned int entry)
{
	return pmus[vcpu]->ibs.eilvt[entry];
}

static void write_eilvt(unsigned int vcpu, unsigned int entry, uint32_t value)
{
	pmus[vcpu]->ibs.eilvt[entry] = value;
}

static const struct x86_eilvt_hooks eilvt_hooks = { read_eilvt, write_eilvt };

static void hook_reset(void)
{
	unsigned int i;

	if (config.ibs.present)
		x86_eilvt_add(&eilvt_hooks);

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
	.delivered	= x86_branch_delivered,
	.exception	= hook_exception,
	.interrupt	= hook_interrupt,
	.interrupted	= x86_count_interrupted,
	.reset		= hook_reset,
	.read		= hook_read,
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
		const char *name = x86_pmu_msr_name(pmu->config, row);

		if (!name)
			continue;
		fprintf(f, "cpu%u.rdmsr.%s %lu\n", vcpu, name, pmu->msr[row].reads);
		fprintf(f, "cpu%u.wrmsr.%s %lu\n", vcpu, name, pmu->msr[row].writes);
	}
	fprintf(f, "cpu%u.rdpmc %lu\n", vcpu, pmu->rdpmc);
	fprintf(f, "cpu%u.overflows %lu\n", vcpu, pmu->overflows);
	fprintf(f, "cpu%u.checks %lu\n", vcpu, pmu->checks);
	fprintf(f, "cpu%u.lbr.records %lu\n", vcpu, pmu->lbr.records);
	fprintf(f, "cpu%u.pebs.records %lu\n", vcpu, pmu->pebs.records);
	fprintf(f, "cpu%u.pebs.written %lu\n", vcpu, pmu->pebs.written);
	fprintf(f, "cpu%u.pebs.full %lu\n", vcpu, pmu->pebs.full);
	fprintf(f, "cpu%u.pebs.unmapped %lu\n", vcpu, pmu->pebs.unmapped);
	fprintf(f, "cpu%u.pebs.inexact %lu\n", vcpu, pmu->pebs.inexact);
	if (pmu->config->reload)
		fprintf(f, "cpu%u.reloads %lu\n", vcpu, pmu->reload.reloads);
	fprintf(f, "cpu%u.ibs.samples %lu\n", vcpu, pmu->ibs.samples);
	fprintf(f, "cpu%u.ibs.inexact %lu\n", vcpu, pmu->ibs.inexact);
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
		return plugin_refuse("'fault=stuck-counter:%s': give its number, with 'fixed' before that of a fixed-function counter",
				     opt.stuck);
	c->stuck = number == opt.stuck ? n : X86_PMU_GP_MAX + n;
	if (c->stuck >= X86_PMU_COUNTERS_MAX)
		return plugin_refuse("'fault=stuck-counter:%s': there is no such counter",
				     opt.stuck);
	return 0;
}

static int read_misplaced(struct x86_pmu_config *c)
{
	if (!opt.misplaced || !strcmp(opt.misplaced, "nothing"))
		return 0;
	if (strcmp(opt.misplaced, "other"))
		return plugin_refuse("'misplaced=%s': what a counter counts instead of an event that it cannot count is 'nothing' or 'other'",
				     opt.misplaced);
	if (!c->uarch)
		return plugin_refuse("the model %s has counters that count any event, 'misplaced' wants a microarchitecture",
				     x86_pmu_name(c));
	c->misplaced = true;
	return 0;
}

static int read_denied_events(struct x86_pmu_config *c)
{
	return options_events("deny-event", opt.deny_event, X86_PMU_SEL_NAME, c->denied_events,
			      X86_PMU_DENIED_MAX, &c->nr_denied_events);
}

/* Microarchitectures have records, unless what tells of them is taken away. */
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
			return plugin_refuse("'lbr=%s': branch records are 'off', 'info', 'arch' or 'amd'",
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
	if (opt.lbr_depth != OPTION_UNSET)
		c->lbr.depth = opt.lbr_depth < UINT32_MAX ? opt.lbr_depth : UINT32_MAX;
	return 0;
}

/* Likewise precise samples. */
static void read_pebs(struct x86_pmu_config *c)
{
	unsigned int format = c->full_width ? c->pebs.format : 0;

	if (opt.pebs != OPTION_UNSET)
		format = opt.pebs < UINT32_MAX ? opt.pebs : UINT32_MAX;
	c->pebs = (struct x86_pebs_config) {
		.format		= format,
		.fragments	= opt.pebs_fragments,
		.late		= opt.late_pebs,
		.empty		= opt.empty_pebs,
		.stale		= opt.stale_pebs,
	};
}

/* The options, on top of what the model says. */
static int configure(struct x86_pmu_config *c)
{
	const char *error;

	if (opt.perfmon != OPTION_UNSET)
		c->perfmon = opt.perfmon < UINT8_MAX ? opt.perfmon : UINT8_MAX;
	if (opt.counters != OPTION_UNSET)
		c->gp = opt.counters < UINT32_MAX ? opt.counters : UINT32_MAX;
	if (opt.width != OPTION_UNSET)
		c->gp_width = opt.width < UINT32_MAX ? opt.width : UINT32_MAX;
	if (opt.fixed_width != OPTION_UNSET)
		c->fixed_width = opt.fixed_width < UINT32_MAX ? opt.fixed_width : UINT32_MAX;
	if (opt.fixed != OPTION_UNSET)
		c->fixed = opt.fixed < UINT32_MAX ? opt.fixed : UINT32_MAX;
	if (opt.deny != OPTION_UNSET)
		c->denied = opt.deny;
	if (opt.missing != OPTION_UNSET)
		c->missing = opt.missing;
	if (opt.holes != OPTION_UNSET)
		c->holes = opt.holes < UINT32_MAX ? opt.holes : UINT32_MAX;
	if (opt.tsc_mhz != OPTION_UNSET)
		c->tsc_mhz = opt.tsc_mhz < UINT32_MAX ? opt.tsc_mhz : UINT32_MAX;
	c->sticky_status = opt.sticky_status;
	if (options_switch("full-width", opt.full_width, &c->full_width) ||
	    options_switch("metrics", opt.metrics, &c->perf_metrics) ||
	    options_switch("second", opt.second, &c->has_second) ||
	    options_switch("ibs", opt.ibs, &c->ibs.present) ||
	    options_switch("reload", opt.reload, &c->reload) ||
	    read_lbr(c) || read_misplaced(c) || read_denied_events(c) || read_stuck_counter(c))
		return 1;

	read_pebs(c);
	c->ibs.late = opt.late_ibs;
	error = x86_pmu_config_error(c);
	if (error)
		return plugin_refuse("the model %s %s", x86_pmu_name(c), error);
	x86_deliver_auto_mask = !x86_pmu_is_amd(c);
	return 0;
}

/* A microarchitecture, and the other that its machine may have. */
static int configure_uarch(const struct x86_uarch *uarch)
{
	x86_pmu_uarch_defaults(&config, uarch);
	if (opt.atoms == OPTION_UNSET || !opt.atoms)
		return configure(&config);
	config.untold = uarch->untold;
	x86_pmu_uarch_defaults(&other_config, uarch->other);
	other_config.untold = uarch->other->untold;
	return configure(&config) || configure(&other_config);
}

static int read_model(void)
{
	const struct x86_uarch *uarch = opt.model ? x86_uarch_find(opt.model) : NULL;
	int i;

	if (opt.atoms != OPTION_UNSET && (!uarch || !uarch->other))
		return plugin_refuse("'atoms' wants a model that has two kinds of CPU: alder-lake, lunar-lake");

	if (!opt.model) {
		default_model = true;
		return 0;
	}
	for (i = 0; i < X86_PMU_VERSIONS; i++) {
		if (strcmp(opt.model, x86_pmu_version_name(i)))
			continue;
		x86_pmu_defaults(&config, i);
		return configure(&config);
	}
	if (uarch)
		return configure_uarch(uarch);
	return plugin_refuse("unknown model '%s' (known: intel-v1 to intel-v6, amd-legacy, amd-core, amd-v2, haswell, skylake, icelake, sapphire-rapids, alder-lake, lunar-lake, zen1 to zen5)",
			     opt.model);
}

static bool is_atom(unsigned int vcpu)
{
	return opt.atoms != OPTION_UNSET && vcpu < 64 && opt.atoms >> vcpu & 1;
}

static int check_atoms(const struct qemu_info *info)
{
	if (opt.atoms != OPTION_UNSET && info->max_vcpus < 64 && opt.atoms >> info->max_vcpus)
		return plugin_refuse("'atoms=%#llx' names more CPUs than there are",
				     (unsigned long long)opt.atoms);
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
		.take		= x86_deliver_take,
		.set_alarm	= set_alarm,
	};
	return 0;
}

/* ---- beginning ---- */

/* Does the PMU suit the CPU? If not this process ends. */
static void check_cpu(unsigned int vcpu, bool amd)
{
	uint32_t signature = x86_qemu_vcpu_signature(vcpu);

	if (amd != x86_pmu_is_amd(&config)) {
		plugin_refuse("the model %s does not suit a CPU of %s, choose another -cpu",
			      x86_pmu_name(&config), amd ? "AMD" : "Intel");
		exit(1);
	}
	if (config.uarch && !x86_uarch_is_in(config.uarch, signature)) {
		plugin_refuse("the model %s does not suit a CPU of family %u, model %u, choose another -cpu",
			      x86_pmu_name(&config), x86_uarch_family(signature),
			      x86_uarch_model(signature));
		exit(1);
	}
}

/* The vendor is known only now: of the CPU model, not of the command line. */
static void vcpu_init(unsigned int vcpu)
{
	const struct x86_pmu_config *c = is_atom(vcpu) ? &other_config : &config;
	bool amd;

	if (vcpu >= PMU_VCPUS_MAX || pmus[vcpu])
		return;
	x86_qemu_vcpu_init(vcpu);
	amd = x86_qemu_vcpu_is_amd(vcpu);
	if (default_model) {
		x86_pmu_defaults(&config, amd ? X86_PMU_AMD_CORE : X86_PMU_INTEL_V2);
		if (configure(&config))
			exit(1);
		default_model = false;
	}
	check_cpu(vcpu, amd);

	count_vcpu_init(vcpu);
	x86_step_vcpu_init(vcpu);
	pmus[vcpu] = calloc(1, sizeof(*pmus[vcpu]));
	if (!pmus[vcpu])
		abort();
	x86_pmu_init(pmus[vcpu], c, &pmu_ops);
	plugin_note("CPU %u: %s, %u counters of %u bits, fixed-function counters %#x",
		    vcpu, x86_pmu_name(c), c->gp, c->gp_width, c->fixed);
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
	    plugin_check_target(info, "x86_64") || read_model() || check_atoms(info) ||
	    check_faults(info) || x86_qemu_find(info))
		return 1;
	if ((config.pebs.format || config.ibs.present || config.reload) &&
	    (pmu_qemu_find_single() || x86_state_find()))
		return 1;
	if (config.ibs.present && x86_eilvt_find())
		return 1;

	x86_count_init(reached, print_stats);
	x86_branch_init(branch_taken);
	x86_step_init(&step_hooks);
	if (plugin_on_vcpu_init(id, info, vcpu_init) || x86_qemu_hook(&hooks))
		return 1;
	pmu_qemu_at_exit(id, print_stats);
	return 0;
}
