// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Report each branch that an arm64 vCPU takes to the PMU.
 *
 * A branch ends its block. Generated code stores the branch's offset in the block when the branch
 * begins; the start of the next block shows the target. The address of a block is read from the
 * CPU, and is not known at translation: QEMU's blocks belong to physical memory (CF_PCREL in its
 * sources), and run at all virtual addresses that map it.
 *
 * If a level's branches are not reported, its blocks do not call back, except for the block that an
 * exception returns to. QEMU's function that delivers exceptions reports them.
 */
#include "arm64/brbe/record.h"
#include "arm64/cpu/branch.h"
#include "arm64/cpu/decode.h"
#include "arm64/cpu/exceptions.h"
#include "pmu/count.h"

#define INSN_SIZE	4

/* Fields of score.pending */
#define PENDING			(UINT64_C(1) << 63)
#define PENDING_OFFSET		UINT64_C(0xffff)	/* from the start of its block */
#define PENDING_TYPE_SHIFT	16
#define PENDING_TYPE		UINT64_C(0xff)
#define PENDING_CONDITIONAL	(UINT64_C(1) << 24)
#define PENDING_LEVEL_SHIFT	32
#define PENDING_LEVEL		UINT64_C(3)
#define PENDING_KNOWN_SHIFT	40	/* bitmap of levels, and KNOWN_ALWAYS; see is_known() */

/* An exception return needs no address if the branches of its level are not reported. */
#define KNOWN_ALWAYS		(1u << ARM64_PMU_LEVELS)

#define ALL_LEVELS		((1u << ARM64_PMU_LEVELS) - 1)

/**
 * struct score - the fields of a vCPU that generated code reads and writes
 * @heads: by level: the starts of blocks at this level call back
 * @any: the starts of blocks at any level call back
 * @pending: the branch that began last, 0 once it is handled
 * @unused: see PMU_SCORE_SIZE()
 */
struct score {
	uint64_t heads[ARM64_PMU_LEVELS];
	uint64_t any;
	uint64_t pending;
	uint64_t unused[16 - ARM64_PMU_LEVELS - 2];
};

PMU_SCORE_SIZE(struct score);

/**
 * struct trail - the fields of a vCPU that only C code uses
 * @score: the vCPU's score, NULL before software turns branch records on. All vCPUs exist then, so
 *	the score does not move
 * @pmu: the vCPU's PMU
 * @predictor: the vCPU's predictor
 * @levels: bitmap of the levels with reported branches
 * @pc: the program counter
 * @block: address of the block that called back last
 * @wide: the next block calls back, at any level
 * @ending: the pending branch is the last one to report
 * @clock: the vCPU's count of cycles
 */
static struct trail {
	struct score *score;
	struct arm64_pmu *pmu;
	struct count_predictor *predictor;
	unsigned int levels;
	const uint64_t *pc;
	uint64_t block;
	bool wide;
	bool ending;
	struct count_clock clock;
} trails[PMU_VCPUS_MAX];

static struct qemu_plugin_scoreboard *scores;

#define FIELD(name) ((struct plugin_slot) { scores, offsetof(struct score, name) })

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

static enum arm64_pmu_level level_of(uint64_t pending)
{
	return pending >> PENDING_LEVEL_SHIFT & PENDING_LEVEL;
}

/* Check whether a branch can be reported: its block has called back with its address. */
static bool is_known(const struct trail *t, uint64_t pending)
{
	return pending >> PENDING_KNOWN_SHIFT & (t->levels | KNOWN_ALWAYS);
}

static uint64_t address_of(const struct trail *t, uint64_t pending)
{
	return t->block + (pending & PENDING_OFFSET);
}

static void set_heads(struct score *s, unsigned int levels)
{
	unsigned int level;

	for (level = 0; level < ARM64_PMU_LEVELS; level++)
		s->heads[level] = levels >> level & 1;
	s->any = levels;
}

/* The CPU where a branch ends: its level, and A64 in AArch64 state */
#define STATE_LEVEL		3u
#define STATE_A64		4u

static unsigned int state_of(unsigned int level, bool is_a64)
{
	return level | (is_a64 ? STATE_A64 : 0);
}

static unsigned int present_state(unsigned int vcpu)
{
	return state_of(arm64_qemu_level(vcpu), arm64_qemu_is_a64(vcpu));
}

static void report_pending(const struct trail *t, uint64_t pending, uint64_t to, unsigned int state)
{
	uint64_t from = address_of(t, pending);
	bool conditional = pending & PENDING_CONDITIONAL, next = to == from + INSN_SIZE;
	struct arm64_branch b = {
		.from = from, .to = to, .type = pending >> PENDING_TYPE_SHIFT & PENDING_TYPE,
		.mispredicted = count_predicted(t->predictor, conditional, from + INSN_SIZE, !next),
		.source = level_of(pending), .target = state & STATE_LEVEL,
		.to_a32 = !(state & STATE_A64),
		.cycles = count_cycles(&t->clock, ARM64_PMU_LEVELS),
	};

	arm64_brbe_branch(t->pmu, &b, !(conditional & next));
}

/* Restore the callbacks of blocks, once the pending branch, if any, is reported. */
static void settle(struct trail *t)
{
	if (!t->ending && !t->wide)
		return;
	if (t->ending)
		t->levels = 0;
	t->ending = false;
	t->wide = false;
	set_heads(t->score, t->levels);
}

/* Report the pending branch, if any, with its target and the state of the CPU there. */
static void went(struct trail *t, uint64_t to, unsigned int state)
{
	uint64_t pending = t->score->pending;

	t->score->pending = 0;
	if (is_known(t, pending))
		report_pending(t, pending, to, state);
	settle(t);
}

static void block_begins(unsigned int vcpu, void *state)
{
	struct trail *t = &trails[vcpu];
	uint64_t pc = *t->pc;

	went(t, pc, (uintptr_t)state);
	t->block = pc;
}

/* Called when an exception return begins: the next block has to call back, at any level. */
static void eret_begins(unsigned int vcpu, void *userdata)
{
	struct trail *t = &trails[vcpu];

	(void)userdata;
	t->wide = true;
	set_heads(t->score, ALL_LEVELS);
}

static bool is_recording(unsigned int vcpu)
{
	return trails[vcpu].score && trails[vcpu].score->any;
}

/* ---- for the PMU ---- */

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
	struct score *s = plugin_api.scoreboard_find(scores, vcpu);
	struct trail *t = &trails[vcpu];

	t->score = s;
	t->pmu = pmu;
	t->predictor = count_predictor(vcpu);
	t->pc = arm64_qemu_pc_field(vcpu);
	t->clock = count_clock(vcpu);
	t->ending = !levels && s->any && is_known(t, s->pending);
	if (t->ending) {
		/* The next block has to call back, at any level. */
		set_heads(s, ALL_LEVELS);
	} else {
		s->pending = 0;
		t->wide = false;
		t->levels = levels;
		set_heads(s, levels);
	}
	return count_cycles(&t->clock, ARM64_PMU_LEVELS);
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

	if (!is_recording(vcpu))
		return;
	pc = arm64_qemu_pc(vcpu);
	if ((exception == EXCP_UDEF || exception == EXCP_HYP_TRAP) && t->score->pending &&
	    address_of(t, t->score->pending) == pc) {
		t->score->pending = 0;
		settle(t);
	} else {
		went(t, pc, present_state(vcpu));
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
	if (!is_recording(vcpu) || (to == e->pc && level == e->level))
		return;
	b = (struct arm64_branch) {
		.from = e->pc, .to = to, .type = type_of_exception(e->number),
		.source = e->level, .target = level, .from_a32 = !e->is_a64,
		.to_a32 = !arm64_qemu_is_a64(vcpu),
		.cycles = count_cycles(&trails[vcpu].clock, ARM64_PMU_LEVELS),
	};
	arm64_brbe_branch(trails[vcpu].pmu, &b, true);
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
	struct plugin_slot slot = FIELD(heads);

	if (!count_is_live(ARM64_PMU_RECORDS))
		return;
	slot.offset += level * sizeof(uint64_t);
	plugin_api.register_vcpu_tb_exec_cond_cb(tb, block_begins, 0, PLUGIN_COND_NE, slot, 0,
						 (void *)state);
}

/**
 * arm64_branch_gen() - instrument a branch
 * @tb: its block
 * @at: the branch, or an earlier instruction: once it begins, the branch is certain to execute
 * @insn: the branch
 * @level: its level
 * @class: its class
 */
void arm64_branch_gen(struct qemu_plugin_tb *tb, struct qemu_plugin_insn *at,
		      struct qemu_plugin_insn *insn, enum arm64_pmu_level level, unsigned int class)
{
	uint64_t offset = plugin_api.insn_vaddr(insn) - plugin_api.tb_vaddr(tb);
	uint64_t known = class & ARM64_INSN_ERET ? KNOWN_ALWAYS : 1u << level;
	uint64_t pending = PENDING | offset | (uint64_t)type_of(class) << PENDING_TYPE_SHIFT |
			   (class & ARM64_INSN_CONDITIONAL ? PENDING_CONDITIONAL : 0) |
			   (uint64_t)level << PENDING_LEVEL_SHIFT | known << PENDING_KNOWN_SHIFT;

	if (!count_is_live(ARM64_PMU_RECORDS))
		return;
	plugin_api.register_vcpu_insn_exec_inline_per_vcpu(at, PLUGIN_STORE, FIELD(pending),
							   pending);
	if (class & ARM64_INSN_ERET)
		plugin_api.register_vcpu_insn_exec_cond_cb(insn, eret_begins, 0, PLUGIN_COND_NE,
							   FIELD(any), 0, NULL);
}

/**
 * arm64_branch_init() - prepare for reporting branches
 */
void arm64_branch_init(void)
{
	scores = plugin_api.scoreboard_new(sizeof(struct score));
}
