// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: machines for the suites: a register model, and a PMU on it
 */
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include <corepmu/counter.h>

#include "machine.h"
#include "models/arm64_access.h"
#include "models/x86_access.h"
#include "x86/x86.h"
#include "arm64/pmuv3.h"

/* x86 */

static const struct x86_model_cpu intel_v1 = {
	.name = "v1", .family = 6, .version = 1, .nr_gp = 2, .gp_width = 40,
	.nr_events = 7,
};

static const struct x86_model_cpu intel_v2 = {
	.name = "v2", .family = 6, .version = 2, .nr_gp = 2, .gp_width = 40,
	.nr_fixed = 3, .fixed_width = 40, .nr_events = 7,
};

static const struct x86_model_cpu intel_v3 = {
	.name = "v3", .family = 6, .version = 3, .nr_gp = 4, .gp_width = 48,
	.nr_fixed = 3, .fixed_width = 48, .full_width = true, .nr_events = 7, .virt = true,
	.any = true,
};

static const struct x86_model_cpu intel_v4 = {
	.name = "v4", .family = 6, .version = 4, .nr_gp = 8, .gp_width = 48,
	.nr_fixed = 3, .fixed_width = 48, .full_width = true, .nr_events = 7, .trace = true,
};

static const struct x86_model_cpu intel_v5 = {
	.name = "v5", .family = 6, .version = 5, .nr_gp = 8, .gp_width = 48,
	.nr_fixed = 2, .fixed_map = 0xf, .fixed_width = 48, .full_width = true,
	.nr_events = 8, .amx = true,
};

/* Counters 0, 1, 2, 5 and 6, of which leaf 0xa tells of the first three */
static const struct x86_model_cpu intel_v6 = {
	.name = "v6", .family = 6, .version = 6, .nr_gp = 7, .told_gp = 3, .holes = 0x18,
	.gp_width = 48, .nr_fixed = 3, .fixed_map = 0x7, .fixed_width = 48, .full_width = true,
	.nr_events = 7,
};

/* Sandy Bridge, hyper-threading off */
static const struct x86_model_cpu intel_snb = {
	.name = "Sandy Bridge", .family = 6, .model = 0x2a, .version = 3, .nr_gp = 8,
	.gp_width = 48, .nr_fixed = 3, .fixed_width = 48, .full_width = true, .nr_events = 7,
	.any = true,
};

/* Westmere: its counters do not count a new event unless they are told how. */
static const struct x86_model_cpu intel_wsm = {
	.name = "Westmere", .family = 6, .model = 0x2c, .version = 3, .nr_gp = 4, .gp_width = 48,
	.nr_fixed = 3, .fixed_width = 48, .nr_events = 7, .any = true, .stale_monitors = true,
};

/* Skylake with transactions */
static const struct x86_model_cpu intel_skl = {
	.name = "Skylake", .family = 6, .model = 0x5e, .version = 4, .nr_gp = 8,
	.gp_width = 48, .nr_fixed = 3, .fixed_width = 48, .full_width = true, .nr_events = 7,
	.any = true, .rtm = true, .smm_freeze = true,
};

/* Skylake with branch records, without transactions, and one that freezes them as before */
static const struct x86_model_cpu intel_lbr = {
	.name = "Skylake with LBR", .family = 6, .model = 0x5e, .version = 4, .nr_gp = 8,
	.gp_width = 48, .nr_fixed = 3, .fixed_width = 48, .full_width = true, .nr_events = 7,
	.lbr_format = 5, .lbr_nr = 32,
};

static const struct x86_model_cpu intel_lbr_v3 = {
	.name = "version 3 with LBR", .family = 6, .version = 3, .nr_gp = 8,
	.gp_width = 48, .nr_fixed = 3, .fixed_width = 48, .full_width = true, .nr_events = 7,
	.lbr_format = 5, .lbr_nr = 32, .rtm = true,
};

static const struct x86_model_cpu intel_arch_lbr = {
	.name = "version 5 with architectural LBR", .family = 6, .version = 5, .nr_gp = 8,
	.gp_width = 48, .nr_fixed = 2, .fixed_map = 0x7, .fixed_width = 48, .full_width = true,
	.nr_events = 8, .arch_lbr = true, .lbr_nr = 16, .lbr_tells = 0x7, .lbr_format = 0x3f,
};

/* Skylake and Ice Lake with precise events */
static const struct x86_model_cpu intel_pebs_skl = {
	.name = "Skylake with PEBS", .family = 6, .model = 0x5e, .version = 4, .nr_gp = 8,
	.gp_width = 48, .nr_fixed = 3, .fixed_width = 48, .full_width = true, .nr_events = 7,
	.pebs = 3, .virt = true,
};

static const struct x86_model_cpu intel_pebs_icl = {
	.name = "Ice Lake with PEBS", .family = 6, .model = 0x6a, .version = 5, .nr_gp = 8,
	.gp_width = 48, .nr_fixed = 3, .fixed_width = 48, .full_width = true, .nr_events = 8,
	.pebs = 4, .lbr_format = 5, .lbr_nr = 32, .virt = true,
};

static const struct x86_model_cpu intel_pebs_arch = {
	.name = "v6 with architectural PEBS", .family = 6, .version = 6, .nr_gp = 8,
	.gp_width = 48, .nr_fixed = 3, .fixed_map = 0x7, .fixed_width = 48, .full_width = true,
	.nr_events = 7, .pebs = 15, .arch_lbr = true, .lbr_nr = 16, .lbr_tells = 0xf0007,
};

static const struct x86_model_cpu amd_legacy = {
	.name = "legacy", .amd = true, .family = 0x10, .version = 0, .nr_gp = 4,
	.gp_width = 48,
};

static const struct x86_model_cpu amd_core = {
	.name = "core", .amd = true, .family = 0x17, .version = 1, .nr_gp = 6,
	.gp_width = 48, .virt = true,
};

static const struct x86_model_cpu amd_zen2 = {
	.name = "Zen 2", .amd = true, .family = 0x17, .model = 0x31, .version = 1, .nr_gp = 6,
	.gp_width = 48,
};

static const struct x86_model_cpu amd_hygon = {
	.name = "Hygon", .amd = true, .hygon = true, .family = 0x18, .version = 1, .nr_gp = 6,
	.gp_width = 48,
};

static const struct x86_model_cpu amd_v2 = {
	.name = "PerfMonV2", .amd = true, .family = 0x19, .version = 2, .nr_gp = 6,
	.gp_width = 48,
};

/* Zen 4 with branch records, and a hypervisor's without freeze */
static const struct x86_model_cpu amd_lbr = {
	.name = "LbrExtV2", .amd = true, .family = 0x19, .model = 0x11, .version = 2, .nr_gp = 6,
	.gp_width = 48, .lbr_nr = 16, .lbr_freeze = true, .virt = true,
};

static const struct x86_model_cpu amd_lbr_runs = {
	.name = "LbrExtV2 without freeze", .amd = true, .family = 0x19, .model = 0x11,
	.version = 2, .nr_gp = 6, .gp_width = 48, .lbr_nr = 16,
};

static void x86_power_on(const struct machine *machine)
{
	x86_model_power_on(machine->cpu);
	x86_model_builtin = machine->has_builtin;
}

static struct corepmu *x86_start(const struct machine *machine)
{
	struct x86_desc *desc;
	struct corepmu *pmu;
	int ret = -ENOMEM;

	desc = kzalloc(sizeof(*desc), GFP_KERNEL);
	pmu = corepmu_alloc(&x86_each_backend);
	if (!desc || !pmu)
		goto out;
	desc->pmu = pmu;
	pmu->private = desc;
	cpumask_copy(&pmu->supported_cpus, cpu_possible_mask);

	ret = x86_model_this()->amd ? amd_describe(desc) : intel_describe(desc);
	if (ret)
		goto out;
	desc->shares_counters = machine->has_builtin;
	if (desc->global_ctrl && !desc->shares_counters)
		pmu->backend = &x86_global_backend;

	x86_add_kind(desc);
	ret = x86_reserve();
	if (ret)
		goto out_kind;
	/* As describe_extras() in x86/probe.c */
	x86_exclusive_init(desc);
	ret = x86_describe_branches(desc);
	if (ret)
		goto out_reserved;
	x86_describe_precise(desc);
	x86_describe_status(desc);
	intel_describe_second(desc);
	x86_describe_reload(desc);
	ret = x86_nmi_init(desc);
	if (!ret)
		return pmu;

out_reserved:
	x86_release(pmu);
out_kind:
	x86_remove_kind();
out:
	if (pmu)
		corepmu_free(pmu);
	kfree(desc);

	return ERR_PTR(ret);
}

static void x86_end(struct corepmu *pmu)
{
	struct x86_desc *desc = to_x86(pmu);

	x86_nmi_exit(desc);
	x86_release(pmu);
	x86_remove_kind();
	corepmu_free(pmu);
	kfree(desc);
}

static void x86_run(enum machine_event event, bool user, u64 times)
{
	static const u16 intel[] = { 0x003c, 0x00c0, 0x00c4 }, amd[] = { 0x0076, 0x00c0, 0x00c2 };

	x86_model_run(x86_model_this()->amd ? amd[event] : intel[event], user, times);
}

static unsigned int x86_unknown(void)
{
	return this_cpu_read(x86_model_state.unknown_nmis);
}

static void x86_lose_state(void)
{
	struct x86_model *m = this_cpu_ptr(&x86_model_state);

	memset(m->select, 0, sizeof(m->select));
	memset(m->counter, 0, sizeof(m->counter));
	memset(m->fixed, 0, sizeof(m->fixed));
	m->fixed_ctrl = 0;
	m->global_ctrl = 0;
	m->global_status = 0;
	m->ds_area = 0;
	m->pebs_enable = 0;
	m->pebs_data = 0;
	m->pebs_latency = 0;
	m->pebs_base = 0;
	m->pebs_index = 0;
	memset(m->pebs_cfg_c, 0, sizeof(m->pebs_cfg_c));
}

static const struct machine_ops x86_machine = {
	.power_on	= x86_power_on,
	.start		= x86_start,
	.end		= x86_end,
	.run		= x86_run,
	.hold		= x86_model_hold,
	.spurious	= x86_model_spurious_nmi,
	.lose_state	= x86_lose_state,
	.unknown	= x86_unknown,
};

/* PMUv3 */

static const struct pmuv3_model_cpu pmuv3_old = {
	.name = "PMUv3", .pmuver = 1, .nr = 6, .el2 = true,
	.pmceid0 = 0x663f0f3f, .pmceid1 = 0x06,
};

static const struct pmuv3_model_cpu pmuv3p4_vhe = {
	.name = "PMUv3p4", .pmuver = 5, .nr = 6, .el2 = true, .hyp = true,
	.pmceid0 = 0x400ff7f6f3f, .pmceid1 = 0x1f2ae7f, .pmmir = 0x8,
};

static const struct pmuv3_model_cpu pmuv3p5 = {
	.name = "PMUv3p5", .pmuver = 6, .nr = 6,
	.pmceid0 = 0x400ff7f6f3f, .pmceid1 = 0x1f2ae7f, .pmmir = 0x8,
};

static const struct pmuv3_model_cpu pmuv3p9 = {
	.name = "PMUv3p9", .pmuver = 9, .nr = 31, .instr_counter = true,
	.pmceid0 = ~0ULL, .pmceid1 = ~0ULL, .pmmir = 0x540308,
};

/* With branch records; a kernel at EL1, at EL2, and at EL1 with an EL2 above it */
#define BRBE_CPU(records)						\
	.pmuver = 9, .nr = 6, .instr_counter = true, .pmceid0 = ~0ULL, .pmceid1 = ~0ULL,	\
	.pmmir = 0x8, .brbe = 1, .brbidr0 = 0x5000 | (records)

static const struct pmuv3_model_cpu pmuv3_brbe = {
	.name = "BRBE", BRBE_CPU(64),
};

static const struct pmuv3_model_cpu pmuv3_brbe_vhe = {
	.name = "BRBE at EL2", BRBE_CPU(8), .el2 = true, .hyp = true,
};

static const struct pmuv3_model_cpu pmuv3_brbe_el1 = {
	.name = "BRBE below EL2", BRBE_CPU(32), .el2 = true,
};

static const struct pmuv3_model_cpu pmuv3_brbe_odd = {
	.name = "BRBE of another format", BRBE_CPU(0x164),
};

static void pmuv3_power_on(const struct machine *machine)
{
	pmuv3_model_power_on(machine->cpu);
}

static struct corepmu *pmuv3_start(const struct machine *machine)
{
	struct pmuv3 *pmuv3;
	int ret = -ENOMEM;

	pmuv3 = kzalloc(sizeof(*pmuv3), GFP_KERNEL);
	if (!pmuv3)
		return ERR_PTR(-ENOMEM);
	pmuv3->pmu = corepmu_alloc(&pmuv3_backend);
	if (!pmuv3->pmu)
		goto out;
	pmuv3->pmu->private = pmuv3;
	cpumask_copy(&pmuv3->pmu->supported_cpus, cpu_possible_mask);

	ret = pmuv3_describe(pmuv3) ?: pmuv3_setup_branches(pmuv3);
	if (ret) {
		corepmu_free(pmuv3->pmu);
		goto out;
	}
	pmuv3_model_connect(pmuv3_interrupt, pmuv3->pmu->cpu);

	return pmuv3->pmu;

out:
	kfree(pmuv3);
	return ERR_PTR(ret);
}

static void pmuv3_end(struct corepmu *pmu)
{
	struct pmuv3 *pmuv3 = to_pmuv3(pmu);

	pmuv3_model_connect(NULL, NULL);
	corepmu_free(pmu);
	kfree(pmuv3);
}

static void pmuv3_run(enum machine_event event, bool user, u64 times)
{
	static const u16 events[] = {
		PMUV3_EVENT_CPU_CYCLES, PMUV3_EVENT_INST_RETIRED, PMUV3_EVENT_BR_RETIRED,
	};

	pmuv3_model_run(events[event], user ? 0 : pmuv3_model_cpu->hyp ? 2 : 1, times);
}

static unsigned int pmuv3_unknown(void)
{
	return this_cpu_read(pmuv3_model_state.unknown_irqs);
}

static void pmuv3_lose_state(void)
{
	struct pmuv3_model *m = this_cpu_ptr(&pmuv3_model_state);

	memset(m->counter, 0x5a, sizeof(m->counter));
	memset(m->type, 0x5a, sizeof(m->type));
	m->pmcr = 0;
	m->enabled = 0;
	m->interrupts = 0;
	m->overflowed = 0;
}

static const struct machine_ops pmuv3_machine = {
	.power_on	= pmuv3_power_on,
	.start		= pmuv3_start,
	.end		= pmuv3_end,
	.run		= pmuv3_run,
	.hold		= pmuv3_model_hold,
	.spurious	= pmuv3_model_spurious_irq,
	.lose_state	= pmuv3_lose_state,
	.unknown	= pmuv3_unknown,
};

const struct machine machines[] = {
	{ "intel-v1",		&x86_machine, &intel_v1 },
	{ "intel-v2",		&x86_machine, &intel_v2 },
	{ "intel-v3",		&x86_machine, &intel_v3 },
	{ "intel-v4",		&x86_machine, &intel_v4 },
	{ "intel-v4-beside",	&x86_machine, &intel_v4, true },
	{ "intel-v5",		&x86_machine, &intel_v5 },
	{ "intel-v6",		&x86_machine, &intel_v6 },
	{ "intel-wsm",		&x86_machine, &intel_wsm },
	{ "intel-wsm-beside",	&x86_machine, &intel_wsm, true },
	{ "intel-snb",		&x86_machine, &intel_snb },
	{ "intel-skl",		&x86_machine, &intel_skl },
	{ "amd-legacy",		&x86_machine, &amd_legacy },
	{ "amd-core",		&x86_machine, &amd_core },
	{ "amd-zen2",		&x86_machine, &amd_zen2 },
	{ "amd-hygon",		&x86_machine, &amd_hygon },
	{ "amd-v2",		&x86_machine, &amd_v2 },
	{ "intel-lbr",		&x86_machine, &intel_lbr },
	{ "intel-lbr-beside",	&x86_machine, &intel_lbr, true },
	{ "intel-lbr-v3",	&x86_machine, &intel_lbr_v3 },
	{ "intel-arch-lbr",	&x86_machine, &intel_arch_lbr },
	{ "intel-pebs-skl",	&x86_machine, &intel_pebs_skl },
	{ "intel-pebs-icl",	&x86_machine, &intel_pebs_icl },
	{ "intel-pebs-arch",	&x86_machine, &intel_pebs_arch },
	{ "amd-lbr",		&x86_machine, &amd_lbr },
	{ "amd-lbr-runs",	&x86_machine, &amd_lbr_runs },
	{ "pmuv3",		&pmuv3_machine, &pmuv3_old },
	{ "pmuv3p4-vhe",	&pmuv3_machine, &pmuv3p4_vhe },
	{ "pmuv3p5",		&pmuv3_machine, &pmuv3p5 },
	{ "pmuv3p9",		&pmuv3_machine, &pmuv3p9 },
	{ "pmuv3-brbe",		&pmuv3_machine, &pmuv3_brbe },
	{ "pmuv3-brbe-vhe",	&pmuv3_machine, &pmuv3_brbe_vhe },
	{ "pmuv3-brbe-el1",	&pmuv3_machine, &pmuv3_brbe_el1 },
	{ "pmuv3-brbe-odd",	&pmuv3_machine, &pmuv3_brbe_odd },
};

const unsigned int nr_machines = ARRAY_SIZE(machines);

/**
 * machine_is_x86() - is it one of x86?
 * @machine: the machine
 *
 * Return: true, or false if it is one of arm64
 */
bool machine_is_x86(const struct machine *machine)
{
	return machine->ops == &x86_machine;
}

static bool own_machines;
module_param(own_machines, bool, 0444);
MODULE_PARM_DESC(own_machines, "Only machines of this kernel's architecture (all)");

/*
 * A kernel that checks itself is slow, emulated besides: that of x86 has all machines, that
 * of arm64 has its own.
 */
static bool is_run(const struct machine *machine)
{
	if (machine_is_x86(machine) == IS_ENABLED(CONFIG_X86))
		return true;

	return !own_machines &&
	       (!IS_ENABLED(CONFIG_PROVE_LOCKING) || IS_ENABLED(CONFIG_X86));
}

/**
 * machine_gen_params() - all machines as parameters of a test
 * @prev: the one before, or NULL
 * @desc: its name
 *
 * Return: the next machine, or NULL
 */
const void *machine_gen_params(const void *prev, char *desc)
{
	return machine_gen_those(prev, desc, NULL);
}

/**
 * machine_gen_those() - some machines as parameters of a test
 * @prev: the one before, or NULL
 * @desc: its name
 * @fits: whether a machine is one of them, NULL for all
 *
 * Return: the next machine, or NULL
 */
const void *machine_gen_those(const void *prev, char *desc,
			      bool (*fits)(const struct machine *machine))
{
	const struct machine *machine = prev ? (const struct machine *)prev + 1 : machines;

	while (machine < machines + nr_machines && (!is_run(machine) || (fits && !fits(machine))))
		machine++;
	if (machine == machines + nr_machines)
		return NULL;
	strscpy(desc, machine->name, KUNIT_PARAM_DESC_SIZE);

	return machine;
}

/**
 * machine_has_cycle_counter() - is there a counter for cycles alone?
 * @machine: the machine
 *
 * Return: true for PMUv3's PMCCNTR_EL0 and for Intel's fixed counter 1
 */
bool machine_has_cycle_counter(const struct machine *machine)
{
	const struct x86_model_cpu *cpu = machine->cpu;

	return !machine_is_x86(machine) || cpu->nr_fixed > 1;
}

/**
 * machine_by_name() - one machine
 * @name: its name
 *
 * Return: the machine
 */
const struct machine *machine_by_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_machines - 1; i++)
		if (!strcmp(machines[i].name, name))
			break;

	return &machines[i];
}

/* Time */

/* What the clock says, and how long a sample takes */
u64 machine_time;
u64 machine_sample_ns;

/* What perf core was told of overflows: how often, and of what time in all */
unsigned int machine_took_calls;
u64 machine_took_ns;

/* Events that want to hear of switches of tasks */
int machine_cb_users;

/**
 * machine_cb_inc() - perf_sched_cb_inc() of branch/core.c
 * @pmu: the PMU
 */
void machine_cb_inc(struct pmu *pmu)
{
	machine_cb_users++;
}

/**
 * machine_cb_dec() - perf_sched_cb_dec() of branch/core.c
 * @pmu: the PMU
 */
void machine_cb_dec(struct pmu *pmu)
{
	machine_cb_users--;
}

/**
 * machine_clock() - sched_clock() of core/overflow.c
 *
 * Return: nanoseconds
 */
u64 machine_clock(void)
{
	return machine_time;
}

/**
 * machine_took() - perf_sample_event_took() of core/overflow.c
 * @ns: how long overflows took
 */
void machine_took(u64 ns)
{
	machine_took_calls++;
	machine_took_ns += ns;
}
