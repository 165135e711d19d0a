// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Repair the overflow interrupts of event counters in QEMU's arm64 PMU, or break them on purpose,
 * to test software that checks its PMU.
 *
 * After every access, QEMU sets a timer to the next overflow. For an event counter,
 * pmevcntr_op_finish() computes the distance as -(count + 1). With -icount, time is a count of
 * instructions, and the timer expires exactly one event early. The counter has not overflowed then,
 * and its distance is 0, for which QEMU sets no timer. So QEMU misses the overflow, until another
 * reason makes it update the counter, such as a change of the exception level. The cycle counter,
 * PMCCNTR_EL0, has the right distance.
 *
 * QEMU converts the distance to time with a function per event. Only CPU_CYCLES and INST_RETIRED
 * advance with time. The plugin replaces the functions of both by functions that add the missing
 * event. It does not instrument the guest's code, so the guest runs as fast as before.
 *
 * See arm64-pmu-repair.rst for the options.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "arm64/internals.h"
#include "common/image.h"
#include "common/plugin.h"

const char *const plugin_name = "arm64-pmu-repair";

/* PMU registers have a bit for each event counter, and bit 31 for the cycle counter. */
#define CYCLE_COUNTER	(UINT64_C(1) << 31)
#define EVENT_COUNTERS	(CYCLE_COUNTER - 1)

#define PMCR_N_SHIFT	11
#define PMCR_N_MASK	0x1f

#define VCPUS_MAX	512

static struct {
	bool no_overflow;
	bool no_count;
	bool cycles_no_overflow;
	bool cycles_no_count;
} opt;

static const struct plugin_option options[] = {
	{ "fault=no-overflow",		&opt.no_overflow },
	{ "fault=no-count",		&opt.no_count },
	{ "fault=cycles-no-overflow",	&opt.cycles_no_overflow },
	{ "fault=cycles-no-count",	&opt.cycles_no_count },
	{ "verbose=on",			&plugin_verbose },
};

/* ---- the table of events ---- */

static int64_t (*instructions_to_ns)(uint64_t count);
static int64_t (*cycles_to_ns)(uint64_t count);

/*
 * If a 64-bit counter is 0, the distance is UINT64_MAX and the sum is 0. QEMU sets no timer then:
 * the overflow is 2^64 events away.
 */
static int64_t instructions_to_ns_repaired(uint64_t distance)
{
	return instructions_to_ns(distance + 1);
}

static int64_t cycles_to_ns_repaired(uint64_t distance)
{
	return cycles_to_ns(distance + 1);
}

static int64_t never(uint64_t distance)
{
	(void)distance;
	return -1;
}

static uint64_t stuck(struct arm64_env *env)
{
	(void)env;
	return 0;
}

static int change_events(struct arm64_qemu_event *events)
{
	struct arm64_qemu_event changed[2] = {
		events[ARM64_PMU_INST_RETIRED],
		events[ARM64_PMU_CPU_CYCLES],
	};

	_Static_assert(ARM64_PMU_INST_RETIRED + 1 == ARM64_PMU_CPU_CYCLES, "neighbours");

	instructions_to_ns = changed[0].ns_per_count;
	cycles_to_ns = changed[1].ns_per_count;

	changed[0].ns_per_count = instructions_to_ns_repaired;
	changed[1].ns_per_count = cycles_to_ns_repaired;
	for (size_t i = 0; i < ARRAY_SIZE(changed); i++) {
		if (opt.no_overflow || opt.no_count)
			changed[i].ns_per_count = never;
		if (opt.no_count)
			changed[i].get_count = stuck;
	}

	if (!image_patch(&events[ARM64_PMU_INST_RETIRED], changed, sizeof(changed)))
		return plugin_refuse("cannot write to this QEMU's table of PMU events: use QEMU 7.2 to 11.1");
	return 0;
}

/* ---- faults that the table cannot express ---- */

/*
 * QEMU detects an overflow not only by its timer, but at each update of a counter, which the table
 * cannot prevent. So the plugin suppresses the effects of an overflow. The guest cannot set the
 * interrupt enable bits of counters that never overflow, and their overflow flags read as 0. A
 * counter that never counts cannot be enabled. To hide this from the guest, the plugin stores the
 * enable bits that it does not pass on, and returns them to reads.
 */
enum fault_effect {
	HIDE_OVERFLOW,		/* the overflow flag reads as 0 */
	KEEP_INTERRUPT,		/* the interrupt enable bit is not passed on */
	KEEP_COUNTER,		/* the counter enable bit is not passed on */
	NR_EFFECTS
};

static uint64_t affected[NR_EFFECTS];

struct faulty_vcpu {
	struct arm64_env *env;
	const struct arm64_sysreg *pmcr;
	uint64_t kept[NR_EFFECTS];
};

static struct faulty_vcpu faulty_vcpus[VCPUS_MAX];

struct faulty_reg {
	const char *name;
	struct arm64_sysreg_id id;
	enum fault_effect effect;
	bool clears;		/* writing 1 disables */
	void (*write)(struct arm64_env *env, const struct arm64_sysreg *reg, uint64_t value);
};

static struct faulty_reg faulty_regs[] = {
	{ "PMOVSCLR_EL0",   { 3, 3, 9, 12, 3 }, HIDE_OVERFLOW,  false, NULL },
	{ "PMOVSSET_EL0",   { 3, 3, 9, 14, 3 }, HIDE_OVERFLOW,  false, NULL },
	{ "PMINTENSET_EL1", { 3, 0, 9, 14, 1 }, KEEP_INTERRUPT, false, NULL },
	{ "PMINTENCLR_EL1", { 3, 0, 9, 14, 2 }, KEEP_INTERRUPT, true,  NULL },
	{ "PMCNTENSET_EL0", { 3, 3, 9, 12, 1 }, KEEP_COUNTER,   false, NULL },
	{ "PMCNTENCLR_EL0", { 3, 3, 9, 12, 2 }, KEEP_COUNTER,   true,  NULL },
};

static struct faulty_vcpu *find_vcpu(struct arm64_env *env)
{
	struct faulty_vcpu *vcpu = faulty_vcpus;

	/* Only CPUs that break_vcpu() has entered have changed registers. */
	while (vcpu->env != env)
		vcpu++;
	return vcpu;
}

static struct faulty_reg *find_reg(const struct arm64_sysreg *reg)
{
	struct faulty_reg *r = faulty_regs;

	while (r->id.op1 != reg->op1 || r->id.crm != reg->crm || r->id.op2 != reg->op2)
		r++;
	return r;
}

static uint64_t implemented_counters(const struct faulty_vcpu *vcpu)
{
	uint64_t pmcr = arm64_sysreg_value(vcpu->env, vcpu->pmcr);
	unsigned int events = pmcr >> PMCR_N_SHIFT & PMCR_N_MASK;

	return CYCLE_COUNTER | ((UINT64_C(1) << events) - 1);
}

static uint64_t read_flags(struct arm64_env *env, const struct arm64_sysreg *reg)
{
	return arm64_sysreg_value(env, reg) & ~affected[HIDE_OVERFLOW];
}

static uint64_t read_enables(struct arm64_env *env, const struct arm64_sysreg *reg)
{
	return arm64_sysreg_value(env, reg) | find_vcpu(env)->kept[find_reg(reg)->effect];
}

static void write_enables(struct arm64_env *env, const struct arm64_sysreg *reg, uint64_t value)
{
	struct faulty_vcpu *vcpu = find_vcpu(env);
	struct faulty_reg *r = find_reg(reg);
	uint64_t keep = value & affected[r->effect] & implemented_counters(vcpu);

	if (r->clears)
		vcpu->kept[r->effect] &= ~keep;
	else
		vcpu->kept[r->effect] |= keep;
	r->write(env, reg, value & ~affected[r->effect]);
}

static void break_vcpu(unsigned int index)
{
	const struct arm64_sysreg_id pmcr_id = { 3, 3, 9, 12, 0 };
	struct faulty_vcpu *vcpu = &faulty_vcpus[index];
	struct arm64_sysreg *regs[ARRAY_SIZE(faulty_regs)];

	if (index >= VCPUS_MAX) {
		plugin_refuse("faults work with up to %d CPUs: use a smaller -smp", VCPUS_MAX);
		exit(1);
	}

	vcpu->env = arm64_env(index);
	vcpu->pmcr = arm64_sysreg(vcpu->env, "PMCR_EL0", pmcr_id);
	if (!vcpu->pmcr)
		exit(1);

	for (size_t i = 0; i < ARRAY_SIZE(faulty_regs); i++) {
		struct faulty_reg *r = &faulty_regs[i];

		regs[i] = arm64_sysreg(vcpu->env, r->name, r->id);
		if (!regs[i])
			exit(1);
		/* The two registers of a pair share a value; only writes call a function. */
		if (regs[i]->readfn || !regs[i]->writefn || regs[i]->fieldoffset <= 0 ||
		    regs[i]->fieldoffset != regs[i & ~1]->fieldoffset) {
			plugin_refuse("this QEMU has an unknown %s: use QEMU 7.2 to 11.1", r->name);
			exit(1);
		}
	}

	for (size_t i = 0; i < ARRAY_SIZE(faulty_regs); i++) {
		struct faulty_reg *r = &faulty_regs[i];

		if (!affected[r->effect])
			continue;
		if (r->effect == HIDE_OVERFLOW) {
			regs[i]->readfn = read_flags;
		} else {
			r->write = regs[i]->writefn;
			regs[i]->readfn = read_enables;
			regs[i]->writefn = write_enables;
		}
		plugin_note("CPU %u: %s changed", index, r->name);
	}
}

static void forget_kept(void *opaque)
{
	(void)opaque;
	for (unsigned int i = 0; i < VCPUS_MAX; i++)
		memset(faulty_vcpus[i].kept, 0, sizeof(faulty_vcpus[i].kept));
}

static int break_registers(qemu_plugin_id_t id, const struct qemu_info *info)
{
	void (*register_reset)(void (*fn)(void *opaque), void *opaque);
	uint64_t silent = 0;

	if (opt.no_overflow)
		silent |= EVENT_COUNTERS;
	if (opt.cycles_no_overflow)
		silent |= CYCLE_COUNTER;
	affected[HIDE_OVERFLOW] = silent;
	affected[KEEP_INTERRUPT] = silent;
	if (opt.cycles_no_count)
		affected[KEEP_COUNTER] = CYCLE_COUNTER;

	if (!silent && !affected[KEEP_COUNTER])
		return 0;
	register_reset = (void (*)(void (*)(void *), void *))
			 dlsym(RTLD_DEFAULT, "qemu_register_reset");
	if (!register_reset)
		return plugin_refuse("this QEMU does not export qemu_register_reset(), which faults need: use QEMU 10.0 to 11.1");
	if (arm64_sysreg_init() || plugin_on_vcpu_init(id, info, break_vcpu))
		return 1;
	register_reset(forget_kept, NULL);
	return 0;
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
	struct arm64_qemu_event *events;

	if (plugin_options(argc, argv, options, ARRAY_SIZE(options)) ||
	    plugin_check_target(info, "aarch64"))
		return 1;

	events = arm64_pmu_events();
	if (!events)
		return 1;

	switch (arm64_pmu_distance(events)) {
	case ARM64_PMU_DISTANCE_SHORT:
		break;
	case ARM64_PMU_DISTANCE_RIGHT:
		return plugin_refuse("this QEMU computes the distance to an overflow correctly: run it without this plugin");
	default:
		return plugin_refuse("cannot tell whether this QEMU computes the distance to an overflow wrongly: use QEMU 7.2 to 11.1");
	}

	if (break_registers(id, info) || change_events(events))
		return 1;

	plugin_note("INST_RETIRED and CPU_CYCLES changed, plugin interface %d", info->version.cur);
	return 0;
}
