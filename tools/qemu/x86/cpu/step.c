// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looking at each instruction that an x86 vCPU executes, as long as somebody wants it.
 *
 * The vCPU then executes blocks of one instruction. At the head of a block the instruction before
 * it has retired, and all registers are in memory. An exception or an interrupt comes between: it
 * is told before it is taken. Where the ring changes otherwise, by a far branch, the first block
 * of the other ring has one instruction too, and finds out whether to go on so.
 *
 * Addresses are read from the CPU: see branch.c.
 */
#include <stdlib.h>

#include "pmu/count.h"
#include "x86/cpu/count.h"
#include "x86/cpu/decode.h"
#include "x86/qemu.h"
#include "x86/cpu/step.h"

/**
 * struct score - what generated code reads, one for each vCPU
 * @any: instructions are looked at in some ring
 */
struct score {
	uint64_t any;
};

/* What an instruction adds to before it is known whether it retires. */
static const enum x86_pmu_kind accesses[] = {
	X86_PMU_LOADS, X86_PMU_STORES, X86_PMU_SLOW_LOADS,
	X86_PMU_CACHE_REFS, X86_PMU_CACHE_MISSES, X86_PMU_LOAD_MISSES,
};

/**
 * struct walk - what else there is to know of a vCPU
 * @rings: in which rings instructions are looked at, a bit each
 * @pc: the instruction that has begun, 0 if none has since the vCPU was somewhere else
 * @access: what it has accessed
 * @before: counts of @accesses before it
 */
struct walk {
	unsigned int rings;
	uint64_t pc;
	struct x86_pebs_access access;
	uint64_t before[ARRAY_SIZE(accesses)];
};

static struct walk *walks[PMU_VCPUS_MAX];
static struct qemu_plugin_scoreboard *scores;
static const struct x86_step_hooks *hooks;

#define FIELD(name) ((struct plugin_slot) { scores, offsetof(struct score, name) })

static bool is_wanted(const struct walk *w, unsigned int ring)
{
	return w->rings >> ring & 1;
}

/* The vCPU has been kicked, and has left the blocks that were chained. */
static void leave(unsigned int vcpu)
{
	(void)vcpu;
}

/**
 * x86_step_single() - in which rings to look at each instruction from now on
 * @vcpu: whose; in its thread
 * @rings: a bit each
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
	if (rings)
		pmu_qemu_work(vcpu, leave);
}

/* ---- instructions ---- */

static void begin(unsigned int vcpu, struct walk *w, uint64_t pc)
{
	size_t i;

	w->pc = pc;
	w->access = (struct x86_pebs_access) { 0 };
	for (i = 0; i < ARRAY_SIZE(accesses); i++)
		w->before[i] = count_of_kind(vcpu, accesses[i]);
}

static void take_back_accesses(unsigned int vcpu, struct walk *w)
{
	unsigned int ring = x86_qemu_ring(vcpu);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(accesses); i++)
		while (count_is_live(accesses[i]) &&
		       count_of_kind(vcpu, accesses[i]) > w->before[i])
			count_take_back(vcpu, accesses[i], ring);
}

static void block_begins(unsigned int vcpu, void *userdata)
{
	uint64_t pc = x86_qemu_pc(vcpu);
	struct walk *w = walks[vcpu];

	(void)userdata;
	if (w->pc == pc && x86_count_is_unfinished(vcpu, pc))
		return;
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

/* A far branch, after which the ring may be another */
static void far(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	pmu_qemu_single(vcpu, true);
}

/**
 * x86_step_interrupted() - an exception or an interrupt is about to be taken
 * @vcpu: where; its counts are right
 * @end: what has become of the instruction before
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
		else if (end == X86_STEP_RETIRED)
			hooks->retired(vcpu, w->pc, &w->access);
	}
	w->pc = 0;
	/* Its handler is in the kernel. */
	if (w->rings)
		pmu_qemu_single(vcpu, is_wanted(w, X86_PMU_KERNEL));
}

/* ---- generated code ---- */

/**
 * x86_step_gen_start() - a block begins
 * @tb: the block
 */
void x86_step_gen_start(struct qemu_plugin_tb *tb)
{
	if (count_is_live(X86_PMU_STEPS) && pmu_qemu_is_single())
		plugin_api.register_vcpu_tb_exec_cond_cb(tb, block_begins, 0, PLUGIN_COND_NE,
							 FIELD(any), 0, NULL);
}

/**
 * x86_step_gen() - an instruction
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

/* ---- beginning ---- */

/**
 * x86_step_init() - prepare for looking at instructions
 * @h: who wants to know; it stays in use
 */
void x86_step_init(const struct x86_step_hooks *h)
{
	hooks = h;
	scores = plugin_api.scoreboard_new(sizeof(struct score));
}

/**
 * x86_step_vcpu_init() - prepare for those of a vCPU
 * @vcpu: its index
 */
void x86_step_vcpu_init(unsigned int vcpu)
{
	walks[vcpu] = calloc(1, sizeof(*walks[vcpu]));
	if (!walks[vcpu])
		abort();
}
