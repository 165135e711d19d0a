// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Report each instruction that an x86 vCPU executes, while the PMU needs it.
 *
 * The vCPU then executes blocks of one instruction. At the start of a block, the last instruction
 * has retired, and all registers are in memory. Exceptions and interrupts are reported before they
 * are taken. A far branch may also change the ring: the first block after it has one instruction,
 * and determines whether to continue this way.
 *
 * Addresses are read from the CPU: see branch.c.
 */
#include <stdlib.h>
#include <string.h>

#include "pmu/count.h"
#include "x86/cpu/count.h"
#include "x86/cpu/decode.h"
#include "x86/cpu/state.h"
#include "x86/qemu.h"
#include "x86/cpu/step.h"

/**
 * struct score - the fields of a vCPU that generated code reads
 * @any: instructions of any ring are reported
 * @unused: see PMU_SCORE_SIZE()
 */
struct score {
	uint64_t any;
	uint64_t unused[15];
};

PMU_SCORE_SIZE(struct score);

/* The counts that an instruction adds to before it is known whether it retires */
static const enum x86_pmu_kind accesses[] = {
	X86_PMU_LOADS, X86_PMU_STORES, X86_PMU_UPDATES, X86_PMU_SLOW_LOADS,
	X86_PMU_CACHE_REFS, X86_PMU_CACHE_MISSES, X86_PMU_LOAD_MISSES,
};

/* Instructions of different tasks that are split at the same time */
#define NR_RESTS	16

/**
 * struct rest - a repeated instruction that an interrupt or a fault has split
 * @pc: its address, 0 if there is none
 * @nr: number of the split, in order
 * @ring: its ring
 * @regs: the registers before its rest
 * @access: its accesses so far
 * @withheld: for each of accesses[], how many were taken back until the instruction continues
 */
struct rest {
	uint64_t pc;
	uint64_t nr;
	unsigned int ring;
	uint64_t regs[X86_REGISTERS];
	struct x86_pebs_access access;
	uint64_t withheld[ARRAY_SIZE(accesses)];
};

/**
 * struct walk - the fields of a vCPU that only C code uses
 * @rings: bitmap of the rings with reported instructions
 * @in_near: in x86_step_near(), which leaves the block itself
 * @pc: address of the instruction being executed, 0 if it is not reported
 * @access: accesses of the instruction
 * @before: the counts of accesses[] before the instruction
 * @rests: the split instructions
 * @nr_splits: number of instructions that were split
 */
struct walk {
	unsigned int rings;
	bool in_near;
	uint64_t pc;
	struct x86_pebs_access access;
	uint64_t before[ARRAY_SIZE(accesses)];
	struct rest rests[NR_RESTS];
	uint64_t nr_splits;
};

static struct walk *walks[PMU_VCPUS_MAX];
static struct qemu_plugin_scoreboard *scores;
static const struct x86_step_hooks *hooks;

#define FIELD(name) ((struct plugin_slot) { scores, offsetof(struct score, name) })

static bool is_wanted(const struct walk *w, unsigned int ring)
{
	return w->rings >> ring & 1;
}

/* Empty work: to run it, the vCPU leaves the chained blocks. */
static void leave(unsigned int vcpu)
{
	(void)vcpu;
}

/**
 * x86_step_single() - set the rings with reported instructions
 * @vcpu: index of the vCPU; called in its thread
 * @rings: bitmap of the rings
 */
void x86_step_single(unsigned int vcpu, unsigned int rings)
{
	struct score *s = plugin_api.scoreboard_find(scores, vcpu);
	struct walk *w = walks[vcpu];

	if (!w->rings)
		w->pc = 0;
	w->rings = rings;
	s->any = rings;
	pmu_qemu_single(vcpu, is_wanted(w, x86_qemu_ring(vcpu)));
	if (rings && !w->in_near)
		pmu_qemu_work(vcpu, leave);
}

/**
 * x86_step_near() - handle a block that may reach an overflow: count_config.near
 * @vcpu: index of the vCPU; called at the start of a block
 * @ring: the block's ring
 * @n: number of instructions
 */
bool x86_step_near(unsigned int vcpu, unsigned int ring, unsigned int n)
{
	bool leave;

	if (!count_is_live(X86_PMU_STEPS))
		return false;
	walks[vcpu]->in_near = true;
	leave = hooks->near(vcpu, ring, n);
	walks[vcpu]->in_near = false;
	return leave;
}

/* ---- instructions ---- */

static void take_back_accesses(unsigned int vcpu, struct walk *w)
{
	unsigned int ring = x86_qemu_ring(vcpu);

	for (size_t i = 0; i < ARRAY_SIZE(accesses); i++)
		while (count_is_live(accesses[i]) &&
		       count_of_kind(vcpu, accesses[i]) > w->before[i])
			count_take_back(vcpu, accesses[i], ring);
}

static void count_withheld(unsigned int vcpu, struct rest *rest)
{
	for (size_t i = 0; i < ARRAY_SIZE(accesses); i++)
		for (; rest->withheld[i]; rest->withheld[i]--)
			count_add(vcpu, accesses[i], rest->ring);
}

/* Return a free entry, or else the oldest one: its instruction may never continue. */
static struct rest *new_rest(struct walk *w)
{
	struct rest *oldest = w->rests;

	for (size_t i = 0; i < NR_RESTS; i++) {
		if (!w->rests[i].pc)
			return &w->rests[i];
		if (w->rests[i].nr < oldest->nr)
			oldest = &w->rests[i];
	}
	return oldest;
}

/*
 * An interrupt or a fault has split a repeated instruction. If its accesses so far reach an
 * overflow, the record waits until the instruction retires: the accesses count with the rest.
 * Those of a dropped entry count now, for the task that runs: last, as they are none of this one.
 */
static void split(unsigned int vcpu, struct walk *w)
{
	struct rest *rest = new_rest(w), dropped = *rest;

	*rest = (struct rest) {
		.pc = w->pc,
		.nr = w->nr_splits++,
		.ring = x86_qemu_ring(vcpu),
		.access = w->access,
	};
	x86_state_read_regs(vcpu, rest->regs);
	if (hooks->overflows(vcpu)) {
		for (size_t i = 0; i < ARRAY_SIZE(accesses); i++)
			if (count_is_live(accesses[i]))
				rest->withheld[i] = count_of_kind(vcpu, accesses[i]) - w->before[i];
		take_back_accesses(vcpu, w);
	}
	count_withheld(vcpu, &dropped);
}

/* Another task may execute the same instruction before the rest: compare the registers, too. */
static struct rest *find_rest(unsigned int vcpu, struct walk *w, uint64_t pc)
{
	uint64_t regs[X86_REGISTERS];
	bool read = false;

	for (size_t i = 0; i < NR_RESTS; i++) {
		if (w->rests[i].pc != pc)
			continue;
		if (!read)
			x86_state_read_regs(vcpu, regs);
		read = true;
		if (!memcmp(regs, w->rests[i].regs, sizeof(regs)))
			return &w->rests[i];
	}
	return NULL;
}

static void begin(unsigned int vcpu, struct walk *w, uint64_t pc)
{
	w->pc = pc;
	w->access = (struct x86_pebs_access) { 0 };
	for (size_t i = 0; i < ARRAY_SIZE(accesses); i++)
		w->before[i] = count_of_kind(vcpu, accesses[i]);
}

static void continue_split(unsigned int vcpu, struct walk *w, struct rest *rest)
{
	begin(vcpu, w, rest->pc);
	rest->pc = 0;
	w->access = rest->access;
	count_withheld(vcpu, rest);
}

static void block_begins(unsigned int vcpu, void *userdata)
{
	uint64_t pc = x86_qemu_pc(vcpu);
	struct walk *w = walks[vcpu];
	struct rest *rest;

	(void)userdata;
	if (w->pc == pc && x86_count_is_unfinished(vcpu, pc))
		return;
	rest = w->pc ? NULL : find_rest(vcpu, w, pc);
	if (rest) {
		continue_split(vcpu, w, rest);
		return;
	}
	hooks->retired(vcpu, w->pc, &w->access);
	if (is_wanted(w, x86_qemu_ring(vcpu))) {
		begin(vcpu, w, pc);
	} else {
		w->pc = 0;
		pmu_qemu_single(vcpu, false);
	}
}

static void loads(unsigned int vcpu, uint32_t info, uint64_t addr, void *userdata)
{
	struct x86_pebs_access *a = &walks[vcpu]->access;

	(void)info;
	(void)userdata;
	if (!a->loads)
		a->load = addr;
	a->loads = true;
}

static void stores(unsigned int vcpu, uint32_t info, uint64_t addr, void *userdata)
{
	struct x86_pebs_access *a = &walks[vcpu]->access;

	(void)info;
	(void)userdata;
	if (!a->stores)
		a->store = addr;
	a->stores = true;
}

static void loads_slowly(unsigned int vcpu, uint32_t info, uint64_t addr, void *userdata)
{
	(void)info;
	(void)userdata;
	if (hooks->is_slow(vcpu, addr))
		count_add(vcpu, X86_PMU_SLOW_LOADS, x86_qemu_ring(vcpu));
}

/* Called at a far branch, which may change the ring */
static void far(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	pmu_qemu_single(vcpu, true);
}

/**
 * x86_step_interrupted() - handle an exception or an interrupt that is about to be taken
 * @vcpu: index of the vCPU; its counts are up to date
 * @end: the state of the last instruction
 */
void x86_step_interrupted(unsigned int vcpu, enum x86_step_end end)
{
	struct walk *w = walks[vcpu];

	if (!count_is_live(X86_PMU_STEPS))
		return;
	if (!w->rings) {
		hooks->check(vcpu);
	} else if (w->pc) {
		if (end == X86_STEP_FAULTED)
			take_back_accesses(vcpu, w);
		else if (end == X86_STEP_UNFINISHED)
			split(vcpu, w);
		else
			hooks->retired(vcpu, w->pc, &w->access);
	}
	w->pc = 0;
	/* The handler is in the kernel. */
	if (w->rings)
		pmu_qemu_single(vcpu, is_wanted(w, X86_PMU_KERNEL));
}

/**
 * x86_step_reset() - forget the split instructions of a vCPU: the machine is reset
 * @vcpu: index of the vCPU
 */
void x86_step_reset(unsigned int vcpu)
{
	struct walk *w = walks[vcpu];

	w->pc = 0;
	memset(w->rests, 0, sizeof(w->rests));
}

/* ---- generated code ---- */

/**
 * x86_step_gen_start() - instrument the start of a block
 * @tb: the block
 */
void x86_step_gen_start(struct qemu_plugin_tb *tb)
{
	if (count_is_live(X86_PMU_STEPS) && pmu_qemu_is_single())
		plugin_api.register_vcpu_tb_exec_cond_cb(tb, block_begins, 0, PLUGIN_COND_NE,
							 FIELD(any), 0, NULL);
}

/**
 * x86_step_gen() - instrument an instruction
 * @insn: the instruction
 * @class: its class
 */
void x86_step_gen(struct qemu_plugin_insn *insn, unsigned int class)
{
	bool single = count_is_live(X86_PMU_STEPS) && pmu_qemu_is_single();

	if (count_is_live(X86_PMU_STEPS) && class & X86_INSN_FAR)
		plugin_api.register_vcpu_insn_exec_cond_cb(insn, far, 0, PLUGIN_COND_NE,
							   FIELD(any), 0, NULL);
	if (class & X86_INSN_SIMPLE)
		return;
	if (count_is_live(X86_PMU_SLOW_LOADS))
		plugin_api.register_vcpu_mem_cb(insn, loads_slowly, 0, PLUGIN_READ, NULL);
	if (single) {
		plugin_api.register_vcpu_mem_cb(insn, loads, 0, PLUGIN_READ, NULL);
		plugin_api.register_vcpu_mem_cb(insn, stores, 0, PLUGIN_WRITE, NULL);
	}
}

/* ---- initialization ---- */

/**
 * x86_step_init() - prepare for reporting instructions
 * @h: callbacks; must stay valid
 */
void x86_step_init(const struct x86_step_hooks *h)
{
	hooks = h;
	scores = plugin_api.scoreboard_new(sizeof(struct score));
}

/**
 * x86_step_vcpu_init() - prepare for reporting the instructions of a vCPU
 * @vcpu: index of the vCPU
 */
void x86_step_vcpu_init(unsigned int vcpu)
{
	walks[vcpu] = calloc(1, sizeof(*walks[vcpu]));
	if (!walks[vcpu])
		abort();
}
