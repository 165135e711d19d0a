// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Report taken branches of arm64 vCPUs to the PMU. pmu/trail.c has what architectures share.
 *
 * If a level's branches are not reported, its blocks do not call back, except for the block that an
 * exception returns to. QEMU's function that delivers exceptions reports them.
 */
#include "arm64/cpu/branch.h"
#include "arm64/cpu/decode.h"
#include "arm64/cpu/exceptions.h"
#include "pmu/trail.h"

/**
 * struct follow - the fields of a vCPU that only arm64 has
 * @pmu: the vCPU's PMU
 * @levels: bitmap of the levels with reported branches
 * @wide: the next block calls back, at any level
 */
static struct follow {
	struct arm64_pmu *pmu;
	unsigned int levels;
	bool wide;
} follows[PMU_VCPUS_MAX];

static struct trail trails[PMU_VCPUS_MAX];

static enum arm64_branch_type type_of(unsigned int class)
{
	bool indirect = class & ARM64_INSN_INDIRECT;

	if (class & ARM64_INSN_CONDITIONAL)
		return ARM64_BRANCH_CONDITIONAL;
	if (class & ARM64_INSN_RETURN)
		return ARM64_BRANCH_RETURN;
	if (class & ARM64_INSN_ERET)
		return ARM64_BRANCH_ERET;
	if (class & ARM64_INSN_CALL)
		return indirect ? ARM64_BRANCH_INDIRECT_CALL : ARM64_BRANCH_CALL;
	return indirect ? ARM64_BRANCH_INDIRECT : ARM64_BRANCH_JUMP;
}

static enum arm64_branch_type type_of_exception(int exception)
{
	switch (exception) {
	case EXCP_SWI:
	case EXCP_HVC:
	case EXCP_SMC:
		return ARM64_BRANCH_SYSCALL;
	case EXCP_PREFETCH_ABORT:
		return ARM64_BRANCH_INSN_FAULT;
	case EXCP_DATA_ABORT:
		return ARM64_BRANCH_DATA_FAULT;
	case EXCP_IRQ:
	case EXCP_VIRQ:
	case EXCP_NMI:
	case EXCP_VINMI:
		return ARM64_BRANCH_IRQ;
	case EXCP_FIQ:
	case EXCP_VFIQ:
	case EXCP_VFNMI:
		return ARM64_BRANCH_FIQ;
	case EXCP_BKPT:
		return ARM64_BRANCH_DEBUG;
	case EXCP_UNALIGNED:
		return ARM64_BRANCH_ALIGNMENT;
	case EXCP_VSERR:
		return ARM64_BRANCH_SERROR;
	default:
		return ARM64_BRANCH_TRAP;
	}
}

/*
 * State of the CPU where a branch ends: its exception level, and whether it executes AArch64 code
 */
#define STATE_LEVEL		3u
#define STATE_A64		4u

/*
 * Userdata of block_begins(), above the state: the bit of the block's level, or 0 outside AArch64
 * state
 */
#define BEGINS_QUICK_SHIFT	8

static unsigned int state_of(unsigned int level, bool is_a64)
{
	return level | (is_a64 ? STATE_A64 : 0);
}

static unsigned int present_state(unsigned int vcpu)
{
	return state_of(arm64_qemu_level(vcpu), arm64_qemu_is_a64(vcpu));
}

static void report_pending(unsigned int vcpu, uint64_t pending, uint64_t to, unsigned int state)
{
	const struct trail *t = &trails[vcpu];
	uint64_t from = trail_from(t, pending), next = trail_next(from, pending);
	bool conditional = pending & TRAIL_CONDITIONAL;
	struct arm64_branch b = {
		.from = from, .to = to, .type = trail_type(pending),
		.mispredicted = count_predicted(t->predictor, conditional, next, to != next),
		.source = trail_level(pending), .target = state & STATE_LEVEL,
		.to_a32 = !(state & STATE_A64),
		.cycles = trail_cycles(t),
	};

	if (!(conditional && to == next))
		arm64_brbe_branch(follows[vcpu].pmu, &b);
}

/* Restore the callbacks of blocks, once the pending branch, if any, is reported. */
static void settle(unsigned int vcpu)
{
	struct follow *f = &follows[vcpu];
	struct trail *t = &trails[vcpu];

	if (!t->ending && !f->wide)
		return;
	if (t->ending)
		f->levels = 0;
	t->ending = false;
	f->wide = false;
	t->known = f->levels | TRAIL_ALWAYS;
	trail_set_heads(t, f->levels);
}

/* Report the pending branch, if any, with its target and the state of the CPU there. */
static void report_branch(unsigned int vcpu, uint64_t to, unsigned int state)
{
	struct trail *t = &trails[vcpu];
	uint64_t pending = t->score->pending;

	t->score->pending = 0;
	if (trail_knows(t, pending))
		report_pending(vcpu, pending, to, state);
	settle(vcpu);
}

/* Only the last records need contents: they overwrite the earlier ones. */
static void record_passed(unsigned int vcpu)
{
	struct arm64_pmu *pmu = follows[vcpu].pmu;
	const unsigned int types[2] = { pmu->brbe.types, pmu->brbe.types };
	unsigned int depth = pmu->config->brbe.records;
	struct trail *t = &trails[vcpu];
	struct trail_taken taken[TRAIL_PASSED_MAX + 1];
	unsigned int i, skipped = 0, nr = trail_take(t, types, taken);

	if (nr > depth) {
		skipped = nr - depth;
		arm64_brbe_skip(pmu, skipped, t->passed[taken[skipped - 1].index].cycles);
	}
	for (i = skipped; i < nr; i++) {
		const struct trail_passed *b = &t->passed[taken[i].index];

		arm64_brbe_branch(pmu, &(struct arm64_branch) {
			.from = b->from, .to = b->to, .cycles = b->cycles,
			.type = trail_type(b->pending),
			.source = trail_level(b->pending), .target = trail_level(b->pending),
			.mispredicted = taken[i].mispredicted,
		});
	}
}

/* block_begins() for all cases that trail.quick excludes */
static __attribute__((noinline)) void block_begins_slowly(unsigned int vcpu, uintptr_t state)
{
	struct follow *f = &follows[vcpu];
	struct trail *t = &trails[vcpu];
	uint64_t pc = *t->pc;

	if (t->score->pending || t->ending || f->wide) {
		arm64_branch_flush(vcpu);
		report_branch(vcpu, pc, state);
	}
	t->block = pc;
	if (!t->ending && !f->wide && !count_follows)
		t->quick = f->levels & f->pmu->brbe.simple;
}

static void block_begins(unsigned int vcpu, void *userdata)
{
	struct trail *t = &trails[vcpu];
	uintptr_t state = (uintptr_t)userdata;

	if (!(t->score->pending >> TRAIL_KNOWN_SHIFT & (state >> BEGINS_QUICK_SHIFT) & t->quick))
		block_begins_slowly(vcpu, state & (STATE_LEVEL | STATE_A64));
	else if (trail_pass(t, 0))
		record_passed(vcpu);
}

/* Called when an exception return begins: the next block has to call back, at any level. */
static void eret_begins(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	follows[vcpu].wide = true;
	trail_set_heads(&trails[vcpu], TRAIL_ALL_LEVELS);
}

/* ---- for the PMU ---- */

/**
 * arm64_branch_flush() - have the PMU record all branches before the one being executed
 * @vcpu: index of the vCPU; called in its thread, or with all vCPUs stopped
 *
 * Called before the PMU reads or changes what records depend on.
 */
void arm64_branch_flush(unsigned int vcpu)
{
	struct trail *t = &trails[vcpu];

	if (t->nr_passed)
		record_passed(vcpu);
	t->quick = 0;
}

/**
 * arm64_branch_flush_all() - call arm64_branch_flush() for all vCPUs, which are stopped
 */
void arm64_branch_flush_all(void)
{
	for (unsigned int i = 0; i < pmu_qemu_vcpus(); i++)
		arm64_branch_flush(i);
}

/**
 * arm64_branch_record() - set the levels with reported branches
 * @vcpu: index of the vCPU; called in its thread
 * @pmu: its PMU
 * @levels: bitmap of the levels; branches from other levels to these are reported, too. If 0, the
 *	branch being executed is the last one
 *
 * Return: the cycles of the vCPU so far.
 */
uint64_t arm64_branch_record(unsigned int vcpu, struct arm64_pmu *pmu, unsigned int levels)
{
	struct follow *f = &follows[vcpu];
	struct trail *t = &trails[vcpu];

	arm64_branch_flush(vcpu);
	f->pmu = pmu;
	trail_begin(t, vcpu, arm64_qemu_pc_field(vcpu));
	t->ending = !levels && t->score->any && trail_knows(t, t->score->pending);
	if (t->ending) {
		/* The next block has to call back, at any level. */
		trail_set_heads(t, TRAIL_ALL_LEVELS);
	} else {
		t->score->pending = 0;
		f->wide = false;
		f->levels = levels;
		t->known = levels | TRAIL_ALWAYS;
		trail_set_heads(t, levels);
	}
	return trail_cycles(t);
}

/* ---- exceptions ---- */

/**
 * arm64_branch_exception() - handle the pending branch before an exception is taken
 * @vcpu: index of the vCPU; called in its thread
 * @exception: QEMU's number of the exception
 *
 * A branch that has faulted was not taken: its pointer authentication has failed, or it was
 * trapped.
 */
void arm64_branch_exception(unsigned int vcpu, int exception)
{
	struct trail *t = &trails[vcpu];
	uint64_t pc;

	if (!trail_is_on(&trails[vcpu]))
		return;
	arm64_branch_flush(vcpu);
	pc = arm64_qemu_pc(vcpu);
	if ((exception == EXCP_UDEF || exception == EXCP_HYP_TRAP) && t->score->pending &&
	    trail_from(t, t->score->pending) == pc) {
		t->score->pending = 0;
		settle(vcpu);
	} else {
		report_branch(vcpu, pc, present_state(vcpu));
	}
}

/**
 * arm64_branch_delivered() - report the branch to the handler of an exception
 * @vcpu: index of the vCPU; called in its thread
 * @e: the exception
 */
void arm64_branch_delivered(unsigned int vcpu, const struct arm64_qemu_exception *e)
{
	uint64_t to = arm64_qemu_pc(vcpu);
	unsigned int level = arm64_qemu_level(vcpu);
	struct arm64_branch b;

	/* A call of QEMU's built-in firmware (PSCI) has returned already. */
	if (!trail_is_on(&trails[vcpu]) || (to == e->pc && level == e->level))
		return;
	arm64_branch_flush(vcpu);
	b = (struct arm64_branch) {
		.from = e->pc, .to = to, .type = type_of_exception(e->number),
		.source = e->level, .target = level, .from_a32 = !e->is_a64,
		.to_a32 = !arm64_qemu_is_a64(vcpu),
		.cycles = trail_cycles(&trails[vcpu]),
	};
	arm64_brbe_branch(follows[vcpu].pmu, &b);
}

/* ---- generated code ---- */

/**
 * arm64_branch_gen_start() - instrument the start of a block
 * @tb: the block
 * @level: its level
 */
void arm64_branch_gen_start(struct qemu_plugin_tb *tb, enum arm64_pmu_level level)
{
	uintptr_t state = state_of(level, arm64_qemu_translating_a64());

	if (state & STATE_A64)
		state |= (uintptr_t)1 << (BEGINS_QUICK_SHIFT + level);
	if (count_is_live(ARM64_PMU_RECORDS))
		trail_gen_start(tb, block_begins, level, state);
}

/**
 * arm64_branch_gen() - instrument a branch
 * @tb: its block
 * @at: the branch, or an earlier instruction that the branch is certain to follow
 * @insn: the branch
 * @level: its level
 * @class: its class
 */
void arm64_branch_gen(struct qemu_plugin_tb *tb, struct qemu_plugin_insn *at,
		      struct qemu_plugin_insn *insn, enum arm64_pmu_level level, unsigned int class)
{
	uint64_t known = class & ARM64_INSN_ERET ? TRAIL_ALWAYS : 1u << level;

	if (!count_is_live(ARM64_PMU_RECORDS))
		return;
	trail_gen_branch(tb, at, insn, known << TRAIL_KNOWN_SHIFT |
			 (uint64_t)type_of(class) << TRAIL_TYPE_SHIFT |
			 (class & ARM64_INSN_CONDITIONAL ? TRAIL_CONDITIONAL : 0) |
			 (uint64_t)level << TRAIL_LEVEL_SHIFT);
	if (class & ARM64_INSN_ERET)
		plugin_api.register_vcpu_insn_exec_cond_cb(insn, eret_begins, 0, PLUGIN_COND_NE,
							   trail_any(), 0, NULL);
}
