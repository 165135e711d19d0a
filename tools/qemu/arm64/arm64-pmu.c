// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Replace the PMU (PMUv3) of a stock qemu-system-aarch64.
 *
 * This file connects the parts:
 *
 *	registers/		counters and registers (sysregs: add them to QEMU)
 *	brbe/			branch records (regs: add their registers to QEMU)
 *	cpu/			count and report instructions and branches, deliver interrupts
 *	options			the plugin's options
 *	qemu, internals		access to QEMU
 *
 * The x86 PMU shares the files of pmu/ and common/. See arm64-pmu.rst for the options, and for the
 * statistics.
 */
#include <stdio.h>
#include <stdlib.h>

#include "arm64/cpu/branch.h"
#include "arm64/cpu/count.h"
#include "arm64/cpu/deliver.h"
#include "arm64/registers/model.h"
#include "arm64/options.h"
#include "arm64/qemu.h"
#include "common/plugin.h"
#include "pmu/count.h"
#include "pmu/deliver.h"
#include "pmu/stats.h"
#include "pmu/trail.h"

const char *const plugin_name = "arm64-pmu";

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
	count_read(vcpu_of(pmu), counts[0], COUNT_ALL_KINDS);
}

static void pmu_watch(struct arm64_pmu *pmu, arm64_pmu_counts distance)
{
	count_watch(vcpu_of(pmu), distance[0], COUNT_ALL_KINDS);
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
	return arm64_branch_record(vcpu_of(pmu), pmu, levels);
}

static void pmu_overflowed(struct arm64_pmu *pmu)
{
	arm64_deliver_overflow(vcpu_of(pmu));
}

static void pmu_alarm(struct arm64_pmu *pmu)
{
	deliver_alarm(vcpu_of(pmu));
}

static void pmu_unknown(struct arm64_pmu *pmu, unsigned int event)
{
	unknown_event(vcpu_of(pmu), event);
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
	.unknown	= pmu_unknown,
};

static void set_alarm(unsigned int vcpu, uint64_t instructions)
{
	arm64_pmu_set_alarm(pmus[vcpu], instructions);
}

/* Return a vCPU's PMU, with all branches recorded. */
static struct arm64_pmu *up_to_date(unsigned int vcpu)
{
	arm64_branch_flush(vcpu);
	return pmus[vcpu];
}

static void reached(unsigned int vcpu)
{
	arm64_pmu_check(up_to_date(vcpu));
}

static uint32_t needs(unsigned int vcpu)
{
	return arm64_pmu_needs(pmus[vcpu]);
}

static bool is_flags(enum arm64_pmu_reg reg)
{
	return reg == ARM64_PMOVSCLR || reg == ARM64_PMOVSSET;
}

static uint64_t hook_read(unsigned int vcpu, enum arm64_pmu_reg reg, unsigned int n)
{
	uint64_t value = arm64_pmu_read(up_to_date(vcpu), reg, n);

	if (is_flags(reg))
		arm64_deliver_update(vcpu, true);
	return value;
}

static void hook_write(unsigned int vcpu, enum arm64_pmu_reg reg, unsigned int n, uint64_t value)
{
	arm64_pmu_write(up_to_date(vcpu), reg, n, value);
	arm64_deliver_update(vcpu, is_flags(reg));
}

static uint64_t hook_read_brbe(unsigned int vcpu, enum arm64_brbe_reg reg, unsigned int n)
{
	return arm64_brbe_read(up_to_date(vcpu), reg, n);
}

static void hook_write_brbe(unsigned int vcpu, enum arm64_brbe_reg reg, uint64_t value)
{
	arm64_brbe_write(up_to_date(vcpu), reg, value);
}

static void hook_mdcr_changed(unsigned int vcpu)
{
	arm64_pmu_refresh(up_to_date(vcpu));
	arm64_deliver_update(vcpu, false);
}

static void hook_reset(void)
{
	for (unsigned int i = 0; i < PMU_VCPUS_MAX; i++) {
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

	if (!pmu)
		return;
	arm64_branch_flush(vcpu);
	for (unsigned int i = 0; i < ARM64_PMU_REGS; i++) {
		fprintf(f, "cpu%u.mrs.%s %lu\n", vcpu, arm64_pmu_reg_name(i), pmu->reads[i]);
		fprintf(f, "cpu%u.msr.%s %lu\n", vcpu, arm64_pmu_reg_name(i), pmu->writes[i]);
	}
	fprintf(f, "cpu%u.overflows %lu\n", vcpu, pmu->overflowed);
	fprintf(f, "cpu%u.checks %lu\n", vcpu, pmu->checks);
	fprintf(f, "cpu%u.brbe.records %lu\n", vcpu, pmu->brbe.records);
	deliver_print(f, vcpu);
	arm64_deliver_print(f, vcpu);
	deliver_print_faults(f, vcpu);
	unknown_print(f, vcpu);

	count_read(vcpu, counts[0], COUNT_ALL_KINDS);
	for (unsigned int i = 0; i < ARM64_PMU_LEVELS; i++)
		fprintf(f, "cpu%u.instructions.el%u %lu\n", vcpu, i,
			counts[ARM64_PMU_INSTRUCTIONS][i]);
}

static void print_stats(void)
{
	stats_print(print_vcpu);
}

/* ---- initialization ---- */

static int make_pmu(unsigned int vcpu)
{
	const uint64_t midr = arm64_options_midr(vcpu);
	const struct arm64_pmu_config *config;
	struct arm64_qemu_cpu cpu;
	struct arm64_pmu *pmu;

	if (arm64_qemu_vcpu_describe(vcpu, &cpu))
		return 1;
	config = arm64_options_config(vcpu, &cpu);
	if (!config)
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
	if (midr && arm64_qemu_set_midr(vcpu, midr))
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
 * qemu_plugin_install() - install the plugin; QEMU calls this function when it loads the plugin
 * @id: QEMU's identifier of this plugin
 * @info: QEMU's information for plugins
 * @argc: number of options
 * @argv: the options
 *
 * The plugin changes QEMU only after all checks, except for checks of a vCPU.
 *
 * Return: 0, or non-zero to make QEMU exit.
 */
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
			int argc, char **argv)
{
	if (arm64_options_read(info, argc, argv) ||
	    deliver_init(info, arm64_deliver_take, set_alarm) || arm64_qemu_find(info))
		return 1;

	arm64_count_init(reached, needs, print_stats);
	trail_init();
	arm64_deliver_init(pmus);
	if (pmu_qemu_block_snapshots() || plugin_on_vcpu_init(id, info, vcpu_init) ||
	    arm64_qemu_hook(&hooks))
		return 1;
	pmu_qemu_at_exit(id, print_stats);
	return 0;
}
