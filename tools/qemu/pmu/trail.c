// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follow the branches of a vCPU, on any architecture: see trail.h.
 */
#include "pmu/trail.h"

static struct qemu_plugin_scoreboard *scores;

#define FIELD(name) ((struct plugin_slot) { scores, offsetof(struct trail_score, name) })

/**
 * trail_init() - prepare for following branches
 */
void trail_init(void)
{
	scores = plugin_api.scoreboard_new(sizeof(struct trail_score));
}

/**
 * trail_begin() - find what the trail of a vCPU needs
 * @t: the trail
 * @vcpu: index of the vCPU; called in its thread, once all vCPUs exist
 * @pc: the vCPU's program counter
 */
void trail_begin(struct trail *t, unsigned int vcpu, const uint64_t *pc)
{
	t->score = plugin_api.scoreboard_find(scores, vcpu);
	t->predictor = count_predictor(vcpu);
	t->pc = pc;
	t->clock = count_clock(vcpu);
}

/**
 * trail_set_heads() - choose the blocks that call back
 * @t: the trail
 * @levels: bitmap of their levels
 */
void trail_set_heads(struct trail *t, unsigned int levels)
{
	for (unsigned int level = 0; level < COUNT_LEVELS_MAX; level++)
		t->score->heads[level] = levels >> level & 1;
	t->score->any = levels;
	t->quick = 0;
}

/**
 * trail_take() - take the noted branches that are to be recorded
 * @t: the trail; it has no noted branches then
 * @types: bitmaps of types to record; x86: [0] to user space, [1] to the kernel; arm64: only [0]
 * @taken: set to the branches; an array of TRAIL_PASSED_MAX + 1
 *
 * The loop has no "if" on a branch of the guest: the host would mispredict it.
 *
 * Return: number of branches.
 */
unsigned int trail_take(struct trail *t, const unsigned int types[2], struct trail_taken *taken)
{
	unsigned int i, nr = 0;

	for (i = 0; i < t->nr_passed; i++) {
		const struct trail_passed *b = &t->passed[i];
		bool is_taken = (b->to != trail_next(b->from, b->pending)) |
				!(b->pending & TRAIL_CONDITIONAL);
		unsigned int wanted = types[b->pending >> TRAIL_KERNEL_SHIFT & 1] >>
				      trail_type(b->pending);
		unsigned int index = b->pending >> TRAIL_PREDICTOR_SHIFT & TRAIL_PREDICTOR;

		taken[nr].index = i;
		taken[nr].mispredicted = count_predict(t->predictor, index, is_taken);
		nr += is_taken & wanted;
	}
	t->nr_passed = 0;
	return nr;
}

/**
 * trail_gen_start() - instrument the start of a block
 * @tb: the block
 * @begins: called if blocks of this level call back
 * @level: the block's level; COUNT_LEVELS_MAX: call if blocks of any level do
 * @state: user data of @begins
 */
void trail_gen_start(struct qemu_plugin_tb *tb, plugin_exec_cb begins, unsigned int level,
		     uintptr_t state)
{
	struct plugin_slot slot = FIELD(heads);

	slot.offset += level * sizeof(uint64_t);
	plugin_api.register_vcpu_tb_exec_cond_cb(tb, begins, 0, PLUGIN_COND_NE,
						 level < COUNT_LEVELS_MAX ? slot : FIELD(any), 0,
						 (void *)state);
}

/**
 * trail_gen_branch() - instrument a branch
 * @tb: its block
 * @at: the branch, or an earlier instruction that the branch is certain to follow
 * @insn: the branch
 * @pending: its fields but the offset, the length and the index in the predictor
 */
void trail_gen_branch(struct qemu_plugin_tb *tb, struct qemu_plugin_insn *at,
		      struct qemu_plugin_insn *insn, uint64_t pending)
{
	uint64_t offset = plugin_api.insn_vaddr(insn) - plugin_api.tb_vaddr(tb);
	uint64_t length = plugin_api.insn_size(insn);
	uint64_t predictor = count_predictor_index(pending & TRAIL_CONDITIONAL,
						   plugin_api.insn_vaddr(insn) + length);

	pending |= TRAIL_PENDING | offset | length << TRAIL_LENGTH_SHIFT |
		   predictor << TRAIL_PREDICTOR_SHIFT;
	plugin_api.register_vcpu_insn_exec_inline_per_vcpu(at, PLUGIN_STORE, FIELD(pending),
							   pending);
}

/**
 * trail_any() - return the slot with the bitmap of levels whose blocks call back
 */
struct plugin_slot trail_any(void)
{
	return FIELD(any);
}
