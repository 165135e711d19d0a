// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The word that counts instructions, branches and cycles, one for each vCPU and level.
 *
 * Generated code adds to instructions and branches at once. Instructions have the upper bits, which
 * start at -(distance + WORD_BEYOND). Branches have the lower bits. Cycles are the sum of both. No
 * kind in the word advances faster than two for each instruction. So generated code checks the
 * upper bits only, and C code then compares each kind with its limit. C code sets a new word before
 * the word reaches 0. So one unsigned comparison finds a word near its distance or beyond it.
 * Between two writes by C code, the lower bits of all levels together do not overflow:
 * count_cycles() adds up whole words. The constants in generated code mostly fit in the immediate
 * operand of an x86-64 instruction.
 */
#include "pmu/counting.h"

/*
 * Start of the branches in a word: more than are ever taken back, so that the field does not borrow
 */
#define BRANCHES_START		UINT64_C(0x10000)
#define DISTANCE_MAX		INT64_C(0x20000)
/* Exceeds the branches counted past the distance, before the next check of generated code */
#define BRANCHES_BEYOND		UINT64_C(0x10000)

_Static_assert(COUNT_LEVELS_MAX * (BRANCHES_START + DISTANCE_MAX + BRANCHES_BEYOND) <=
	       COUNT_BRANCHES_MASK + 1, "branches of all levels have room in the lower bits");

/**
 * word_set() - set a word to a distance; its counts do not change
 * @c: the vCPU
 * @level: the level
 * @distance: the distance, in instructions
 */
void word_set(struct counting *c, unsigned int level, uint64_t distance)
{
	uint64_t *instructions = &c->origin[index_of(count_config->instructions, level)];
	uint64_t *branches = &c->origin[index_of(count_config->branches, level)];

	c->cycles_origin -= *instructions + *branches;
	*instructions = word_count(c, count_config->instructions, level) + distance + WORD_BEYOND;
	*branches = word_count(c, count_config->branches, level) - BRANCHES_START;
	c->cycles_origin += *instructions + *branches;
	c->score->word[level] = WORD_BEFORE(distance) + BRANCHES_START;
}

static int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Return the steps of a kind in the word to its limit. */
static int64_t steps_left(const struct counting *c, unsigned int kind, unsigned int level)
{
	return c->limit[index_of(kind, level)] - word_count(c, kind, level);
}

/**
 * word_distance() - return the least number of instructions after which a kind can reach its limit
 * @c: the vCPU
 * @level: the level
 */
int64_t word_distance(const struct counting *c, unsigned int level)
{
	int64_t cycles = steps_left(c, count_config->cycles, level);

	return min(min(steps_left(c, count_config->instructions, level),
		       steps_left(c, count_config->branches, level)),
		   min(cycles / 2 + cycles % 2, DISTANCE_MAX));
}

/**
 * word_reached() - handle a word that has reached its distance
 * @vcpu: index of the vCPU; called in its thread
 * @level: the level
 */
void word_reached(unsigned int vcpu, unsigned int level)
{
	int64_t distance = word_distance(countings[vcpu], level);

	if (distance <= 0)
		count_config->reached(vcpu);
	else
		word_set(countings[vcpu], level, distance);
}

/* A block for block_is_near(): its number of instructions, and its level above */
#define NEAR_LEVEL_SHIFT	16

/* Called where a block begins, if the word has reached its distance or can reach it in the block */
static void block_is_near(unsigned int vcpu, void *block)
{
	unsigned int level = (uintptr_t)block >> NEAR_LEVEL_SHIFT;
	unsigned int n = (uintptr_t)block & ((1 << NEAR_LEVEL_SHIFT) - 1);
	int64_t distance = word_distance(countings[vcpu], level);
	bool leave = distance <= 0;

	/*
	 * Branches are rarer than instructions, so their limit may be far: without a new word, many
	 * such blocks would wrap the word.
	 */
	if (distance > 0)
		word_set(countings[vcpu], level, distance);
	else
		count_config->reached(vcpu);
	if (distance > n)
		return;
	if (count_config->near)
		leave |= count_config->near(vcpu, level, n);
	if (leave)
		pmu_qemu_leave_block(vcpu, (uintptr_t)__builtin_return_address(0));
}

/**
 * word_gen_near() - check the word at the start of a block
 * @b: the block; this is the first callback at its start
 * @word: the word of its level
 */
void word_gen_near(const struct count_block *b, struct plugin_slot word)
{
	uint64_t n = plugin_api.tb_n_insns(b->tb);
	uintptr_t block = n | b->level << NEAR_LEVEL_SHIFT;

	plugin_api.register_vcpu_tb_exec_cond_cb(b->tb, block_is_near, 0, PLUGIN_COND_GE,
						 word, WORD_BEFORE(n), (void *)block);
}

/**
 * word_step() - return what one count of a kind adds to the word; cycles follow from the others
 * @kind: the kind
 */
uint64_t word_step(unsigned int kind)
{
	if (kind == count_config->instructions)
		return ONE_INSTRUCTION;
	return kind == count_config->branches ? ONE_BRANCH : 0;
}

/**
 * count_clock() - return the parts of a vCPU's count of cycles
 * @vcpu: index of the vCPU; called in its thread, once all vCPUs exist: QEMU may move the scores
 *	when it adds a vCPU
 *
 * Return: the parts, which stay valid.
 */
struct count_clock count_clock(unsigned int vcpu)
{
	const struct counting *c = countings[vcpu];

	return (struct count_clock) { c->score->word, &c->cycles_origin };
}
