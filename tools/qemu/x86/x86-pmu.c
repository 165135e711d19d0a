// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Add a core PMU of Intel or AMD to a stock qemu-system-x86_64.
 *
 * This file connects the parts:
 *
 *	registers/	counters and registers, independent of QEMU
 *	lbr/		branch records, independent of QEMU
 *	pebs/, ibs/	precise samples, independent of QEMU
 *	uarch/		microarchitectures
 *	cpu/		count and report the instructions and branches of a vCPU, deliver interrupts
 *	options		the plugin's options
 *	qemu		access to QEMU
 *
 * The arm64 PMU shares the files of pmu/ and common/. See x86-pmu.rst for the options, and for the
 * statistics.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/plugin.h"
#include "pmu/count.h"
#include "pmu/deliver.h"
#include "pmu/stats.h"
#include "pmu/trail.h"
#include "x86/cpu/branch.h"
#include "x86/cpu/count.h"
#include "x86/cpu/deliver.h"
#include "x86/cpu/eilvt.h"
#include "x86/registers/model.h"
#include "x86/options.h"
#include "x86/qemu.h"
#include "x86/cpu/state.h"
#include "x86/cpu/step.h"

const char *const plugin_name = "x86-pmu";

static struct x86_pmu *pmus[PMU_VCPUS_MAX];

/* ---- the PMU and its CPU ---- */

static unsigned int vcpu_of(const struct x86_pmu *pmu)
{
	unsigned int i = 0;

	while (pmus[i] != pmu)
		i++;
	return i;
}

static void pmu_read(struct x86_pmu *pmu, x86_pmu_counts counts, uint32_t kinds)
{
	count_read(vcpu_of(pmu), counts[0], kinds);
}

static void pmu_watch(struct x86_pmu *pmu, x86_pmu_counts distance, uint32_t kinds)
{
	count_watch(vcpu_of(pmu), distance[0], kinds);
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
	return x86_branch_record(vcpu_of(pmu), pmu, rings);
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

static void pmu_unknown(struct x86_pmu *pmu, uint64_t event)
{
	unknown_event(vcpu_of(pmu), event);
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
	.unknown	= pmu_unknown,
};

static void set_alarm(unsigned int vcpu, uint64_t instructions)
{
	x86_pmu_set_alarm(pmus[vcpu], instructions);
}

/* Return a vCPU's PMU, with all branches recorded. */
static struct x86_pmu *up_to_date(unsigned int vcpu)
{
	x86_branch_flush(vcpu);
	return pmus[vcpu];
}

static void reached(unsigned int vcpu)
{
	x86_pmu_check(up_to_date(vcpu));
}

static uint32_t needs(unsigned int vcpu)
{
	return x86_pmu_needs(pmus[vcpu]);
}

static void retired(unsigned int vcpu, uint64_t ip, const struct x86_pebs_access *access)
{
	x86_pmu_step(up_to_date(vcpu), ip ? ip : x86_qemu_pc(vcpu), access);
}

static bool is_slow(unsigned int vcpu, uint64_t addr)
{
	return x86_pmu_is_slow(pmus[vcpu], addr);
}

static bool overflows(unsigned int vcpu)
{
	return x86_pebs_overflows(up_to_date(vcpu));
}

static bool near(unsigned int vcpu, unsigned int ring, unsigned int n)
{
	return x86_pmu_near(up_to_date(vcpu), ring, n);
}

static const struct x86_step_hooks step_hooks = {
	.retired	= retired,
	.near		= near,
	.check		= reached,
	.overflows	= overflows,
	.is_slow	= is_slow,
};

static enum x86_pmu_access hook_rdmsr(unsigned int vcpu, uint32_t msr, uint64_t *value)
{
	return x86_pmu_rdmsr(up_to_date(vcpu), msr, value);
}

static enum x86_pmu_access hook_wrmsr(unsigned int vcpu, uint32_t msr, uint64_t value)
{
	return x86_pmu_wrmsr(up_to_date(vcpu), msr, value);
}

static enum x86_pmu_access hook_rdpmc(unsigned int vcpu, enum x86_pmu_ring ring,
				      uint32_t selector, uint64_t *value)
{
	return x86_pmu_rdpmc(up_to_date(vcpu), ring, selector, value);
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
	return x86_pmu_rdmsr_more(up_to_date(vcpu), msr);
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
	if (x86_options_common()->ibs.present)
		x86_eilvt_add(&eilvt_hooks);

	for (unsigned int i = 0; i < PMU_VCPUS_MAX; i++) {
		if (!pmus[i])
			continue;
		x86_pmu_reset(pmus[i]);
		x86_step_reset(i);
	}
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

	if (!pmu)
		return;
	x86_branch_flush(vcpu);
	for (unsigned int row = 0; row < X86_PMU_MSR_ROWS; row++) {
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
	if (pmu->config->acr)
		fprintf(f, "cpu%u.reloads %lu\n", vcpu, pmu->acr.reloads);
	fprintf(f, "cpu%u.ibs.samples %lu\n", vcpu, pmu->ibs.samples);
	fprintf(f, "cpu%u.ibs.inexact %lu\n", vcpu, pmu->ibs.inexact);
	deliver_print(f, vcpu);
	x86_deliver_print(f, vcpu);
	deliver_print_faults(f, vcpu);
	unknown_print(f, vcpu);

	count_read(vcpu, counts[0], X86_PMU_KIND_BIT(X86_PMU_INSTRUCTIONS));
	fprintf(f, "cpu%u.instructions.user %lu\n", vcpu,
		counts[X86_PMU_INSTRUCTIONS][X86_PMU_USER]);
	fprintf(f, "cpu%u.instructions.kernel %lu\n", vcpu,
		counts[X86_PMU_INSTRUCTIONS][X86_PMU_KERNEL]);
	fprintf(f, "cpu%u.instructions.guest-user %lu\n", vcpu,
		counts[X86_PMU_INSTRUCTIONS][X86_PMU_GUEST_USER]);
	fprintf(f, "cpu%u.instructions.guest-kernel %lu\n", vcpu,
		counts[X86_PMU_INSTRUCTIONS][X86_PMU_GUEST_KERNEL]);
}

static void print_stats(void)
{
	stats_print(print_vcpu);
}

/* ---- initialization ---- */

static void vcpu_init(unsigned int vcpu)
{
	const struct x86_pmu_config *config;

	if (vcpu >= PMU_VCPUS_MAX || pmus[vcpu])
		return;
	x86_qemu_vcpu_init(vcpu);
	config = x86_options_config(vcpu, x86_qemu_vcpu_is_amd(vcpu),
				    x86_qemu_vcpu_signature(vcpu));
	if (!config)
		exit(1);
	x86_deliver_auto_mask = !x86_pmu_is_amd(config);

	count_vcpu_init(vcpu);
	x86_step_vcpu_init(vcpu);
	pmus[vcpu] = calloc(1, sizeof(*pmus[vcpu]));
	if (!pmus[vcpu])
		abort();
	x86_pmu_init(pmus[vcpu], config, &pmu_ops);
	plugin_note("CPU %u: %s, %u counters of %u bits, fixed-function counters %#x",
		    vcpu, x86_pmu_name(config), config->gp, config->gp_width, config->fixed);
}

/**
 * qemu_plugin_install() - install the plugin; QEMU calls this function when it loads the plugin
 * @id: QEMU's identifier of this plugin
 * @info: QEMU's information for plugins
 * @argc: number of options
 * @argv: the options
 *
 * The plugin changes QEMU only after all checks.
 *
 * Return: 0, or non-zero to make QEMU exit.
 */
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
			int argc, char **argv)
{
	const struct x86_pmu_config *config = x86_options_common();

	if (x86_options_read(info, argc, argv) || deliver_init(info, x86_deliver_take, set_alarm) ||
	    x86_qemu_find(info))
		return 1;
	if ((config->pebs.format || config->ibs.present || config->acr) &&
	    (pmu_qemu_find_single() || x86_state_find()))
		return 1;
	if (config->ibs.present && x86_eilvt_find())
		return 1;

	x86_count_init(reached, needs, print_stats);
	trail_init();
	x86_step_init(&step_hooks);
	if (pmu_qemu_block_snapshots() || plugin_on_vcpu_init(id, info, vcpu_init) ||
	    x86_qemu_hook(&hooks))
		return 1;
	pmu_qemu_at_exit(id, print_stats);
	return 0;
}
