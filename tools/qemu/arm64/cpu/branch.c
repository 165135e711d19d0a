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
#define PENDING_PREDICTOR_SHIFT	48	/* index in struct count_predictor */
#define PENDING_PREDICTOR	UINT64_C(0x7ff)

/* Number of branches in struct trail that the PMU has yet to record */
#define PASSED_MAX		256

/* In the bitmap of an exception return, which needs no address if its level is not reported */
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
 * struct passed - a branch of trail.passed, within one level; it may not be taken
 * @pending: score.pending
 * @from: address of the branch
 * @to: address of the instruction executed after the branch
 * @cycles: the vCPU's count of cycles
 */
struct passed {
	uint64_t pending;
	uint64_t from;
	uint64_t to;
	uint64_t cycles;
};

/**
 * struct trail - the fields of a vCPU that only C code uses
 * @score: the vCPU's score, NULL before software turns branch records on. All vCPUs exist then, so
 *	the score does not move
 * @pmu: the vCPU's PMU
 * @predictor: the vCPU's predictor
 * @levels: bitmap of the levels with reported branches
 * @quick: levels for block_begins() to note branches within; arm64_branch_flush() sets it to 0
 * @pc: the program counter
 * @block: address of the block that called back last
 * @wide: the next block calls back, at any level
 * @ending: the pending branch is the last one to report
 * @clock: the vCPU's count of cycles
 * @nr_passed: number of branches in @passed
 * @passed: the branches since arm64_branch_flush()
 */
static struct trail {
	struct score *score;
	struct arm64_pmu *pmu;
	struct count_predictor *predictor;
	unsigned int levels;
	unsigned int quick;
	const uint64_t *pc;
	uint64_t block;
	bool wide;
	bool ending;
	struct count_clock clock;
	unsigned int nr_passed;
	struct passed passed[PASSED_MAX];
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

static enum arm64_branch_type type_of_pending(uint64_t pending)
{
	return pending >> PENDING_TYPE_SHIFT & PENDING_TYPE;
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

static void set_heads(struct trail *t, unsigned int levels)
{
	unsigned int level;

	for (level = 0; level < ARM64_PMU_LEVELS; level++)
		t->score->heads[level] = levels >> level & 1;
	t->score->any = levels;
	t->quick = 0;
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

static void report_pending(const struct trail *t, uint64_t pending, uint64_t to, unsigned int state)
{
	uint64_t from = address_of(t, pending);
	bool conditional = pending & PENDING_CONDITIONAL, next = to == from + INSN_SIZE;
	struct arm64_branch b = {
		.from = from, .to = to, .type = type_of_pending(pending),
		.mispredicted = count_predicted(t->predictor, conditional, from + INSN_SIZE, !next),
		.source = level_of(pending), .target = state & STATE_LEVEL,
		.to_a32 = !(state & STATE_A64),
		.cycles = count_cycles(&t->clock, ARM64_PMU_LEVELS),
	};

	if (!(conditional && next))
		arm64_brbe_branch(t->pmu, &b);
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
	set_heads(t, t->levels);
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

/*
 * Record the branches in trail.passed. Only the last records need contents: they overwrite the
 * earlier ones. The first loop has no "if" on a branch of the guest: the host would mispredict it.
 */
static void record_passed(struct trail *t)
{
	unsigned int i, nr = 0, skipped = 0, n = t->nr_passed, types = t->pmu->brbe.types;
	unsigned int depth = t->pmu->config->brbe.records;
	struct {
		uint8_t index;
		bool mispredicted;
	} taken[PASSED_MAX + 1];

	for (i = 0; i < n; i++) {
		const struct passed *b = &t->passed[i];
		bool is_taken = (b->to != b->from + INSN_SIZE) |
				!(b->pending & PENDING_CONDITIONAL);
		unsigned int wanted = types >> type_of_pending(b->pending);
		unsigned int index = b->pending >> PENDING_PREDICTOR_SHIFT & PENDING_PREDICTOR;

		taken[nr].index = i;
		taken[nr].mispredicted = count_predict(t->predictor, index, is_taken);
		nr += is_taken & wanted;
	}
	t->nr_passed = 0;
	if (nr > depth) {
		skipped = nr - depth;
		arm64_brbe_skip(t->pmu, skipped, t->passed[taken[skipped - 1].index].cycles);
	}
	for (i = skipped; i < nr; i++) {
		const struct passed *b = &t->passed[taken[i].index];

		arm64_brbe_branch(t->pmu, &(struct arm64_branch) {
			.from = b->from, .to = b->to, .cycles = b->cycles,
			.type = type_of_pending(b->pending),
			.source = level_of(b->pending), .target = level_of(b->pending),
			.mispredicted = taken[i].mispredicted,
		});
	}
}

/* block_begins() for all cases that trail.quick excludes */
static __attribute__((noinline)) void block_begins_slowly(unsigned int vcpu, uintptr_t state)
{
	struct trail *t = &trails[vcpu];
	uint64_t pc = *t->pc;

	if (t->score->pending || t->ending || t->wide) {
		arm64_branch_flush(vcpu);
		went(t, pc, state);
	}
	t->block = pc;
	if (!t->ending && !t->wide && !count_follows)
		t->quick = t->levels & t->pmu->brbe.simple;
}

static void block_begins(unsigned int vcpu, void *userdata)
{
	struct trail *t = &trails[vcpu];
	uint64_t pc = *t->pc, pending = t->score->pending;
	uintptr_t state = (uintptr_t)userdata;
	struct passed *b = &t->passed[t->nr_passed];

	if (!(pending >> PENDING_KNOWN_SHIFT & (state >> BEGINS_QUICK_SHIFT) & t->quick)) {
		block_begins_slowly(vcpu, state & (STATE_LEVEL | STATE_A64));
		return;
	}
	t->score->pending = 0;
	b->pending = pending;
	b->from = address_of(t, pending);
	b->to = pc;
	b->cycles = count_cycles(&t->clock, ARM64_PMU_LEVELS);
	t->block = pc;
	if (++t->nr_passed == PASSED_MAX)
		record_passed(t);
}

/* Called when an exception return begins: the next block has to call back, at any level. */
static void eret_begins(unsigned int vcpu, void *userdata)
{
	struct trail *t = &trails[vcpu];

	(void)userdata;
	t->wide = true;
	set_heads(t, ALL_LEVELS);
}

static bool is_recording(unsigned int vcpu)
{
	return trails[vcpu].score && trails[vcpu].score->any;
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
		record_passed(t);
	t->quick = 0;
}

/**
 * arm64_branch_flush_all() - call arm64_branch_flush() for all vCPUs, which are stopped
 */
void arm64_branch_flush_all(void)
{
	unsigned int i;

	for (i = 0; i < pmu_qemu_vcpus(); i++)
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
	struct score *s = plugin_api.scoreboard_find(scores, vcpu);
	struct trail *t = &trails[vcpu];

	arm64_branch_flush(vcpu);
	t->score = s;
	t->pmu = pmu;
	t->predictor = count_predictor(vcpu);
	t->pc = arm64_qemu_pc_field(vcpu);
	t->clock = count_clock(vcpu);
	t->ending = !levels && s->any && is_known(t, s->pending);
	if (t->ending) {
		/* The next block has to call back, at any level. */
		set_heads(t, ALL_LEVELS);
	} else {
		s->pending = 0;
		t->wide = false;
		t->levels = levels;
		set_heads(t, levels);
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
	arm64_branch_flush(vcpu);
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
	arm64_branch_flush(vcpu);
	b = (struct arm64_branch) {
		.from = e->pc, .to = to, .type = type_of_exception(e->number),
		.source = e->level, .target = level, .from_a32 = !e->is_a64,
		.to_a32 = !arm64_qemu_is_a64(vcpu),
		.cycles = count_cycles(&trails[vcpu].clock, ARM64_PMU_LEVELS),
	};
	arm64_brbe_branch(trails[vcpu].pmu, &b);
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
	if (state & STATE_A64)
		state |= (uintptr_t)1 << (BEGINS_QUICK_SHIFT + level);
	slot.offset += level * sizeof(uint64_t);
	plugin_api.register_vcpu_tb_exec_cond_cb(tb, block_begins, 0, PLUGIN_COND_NE, slot, 0,
						 (void *)state);
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
	uint64_t offset = plugin_api.insn_vaddr(insn) - plugin_api.tb_vaddr(tb);
	uint64_t predictor = count_predictor_index(class & ARM64_INSN_CONDITIONAL,
						   plugin_api.insn_vaddr(insn) + INSN_SIZE);
	uint64_t known = class & ARM64_INSN_ERET ? KNOWN_ALWAYS : 1u << level;
	uint64_t pending = PENDING | offset | (uint64_t)type_of(class) << PENDING_TYPE_SHIFT |
			   (class & ARM64_INSN_CONDITIONAL ? PENDING_CONDITIONAL : 0) |
			   (uint64_t)level << PENDING_LEVEL_SHIFT |
			   known << PENDING_KNOWN_SHIFT | predictor << PENDING_PREDICTOR_SHIFT;

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
