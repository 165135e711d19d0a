// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the word that counts instructions, branches and cycles, without QEMU. KTAP on stdout.
 */
#include <setjmp.h>
#include <string.h>

#include "pmu/counting.h"
#include "tests/model-test.h"

enum { INSTRUCTIONS, BRANCHES, CYCLES, KINDS };

#define BLOCK_MAX	512	/* instructions of a block, as in QEMU */
#define LIMIT_MAX	3000
#define FAR_AWAY	(UINT64_MAX / 4)

const struct count_config *count_config;
struct counting *countings[PMU_VCPUS_MAX];
struct plugin_api plugin_api;

static struct counting counting;
static struct score score;
static bool overflowed;
static jmp_buf next_block;

/* The check that word_gen_near() has generated */
static struct {
	plugin_exec_cb fn;
	uint64_t value;
	void *userdata;
} check;

static size_t block_size;

static size_t tb_n_insns(const struct qemu_plugin_tb *block)
{
	(void)block;
	return block_size;
}

static void register_cond_cb(struct qemu_plugin_tb *block, plugin_exec_cb fn, int flags,
			     enum plugin_cond cond, struct plugin_slot slot, uint64_t value,
			     void *userdata)
{
	(void)block;
	(void)flags;
	(void)slot;
	check.fn = cond == PLUGIN_COND_GE ? fn : NULL;
	check.value = value;
	check.userdata = userdata;
}

void pmu_qemu_leave_block(unsigned int vcpu, uintptr_t ra)
{
	(void)vcpu;
	(void)ra;
	longjmp(next_block, 1);
}

static void reached(unsigned int vcpu)
{
	(void)vcpu;
	overflowed = true;
}

/* Begin blocks of @n instructions until @limit counts of @kind are seen. Return how many. */
static unsigned int blocks_until(unsigned int kind, uint64_t limit, unsigned int n, bool branch)
{
	static const struct count_config config = {
		.instructions = INSTRUCTIONS, .branches = BRANCHES, .cycles = CYCLES,
		.kinds = KINDS, .levels = 1, .reached = reached,
	};
	const struct count_block b = { .tb = NULL };
	volatile unsigned int blocks = 0;

	count_config = &config;
	countings[0] = &counting;
	plugin_api.tb_n_insns = tb_n_insns;
	plugin_api.register_vcpu_tb_exec_cond_cb = register_cond_cb;
	memset(&counting, 0, sizeof(counting));
	memset(&score, 0, sizeof(score));
	counting.score = &score;
	for (unsigned int i = 0; i < KINDS; i++)
		counting.limit[index_of(i, 0)] = i == kind ? limit : FAR_AWAY;
	word_set(&counting, 0, word_distance(&counting, 0));
	block_size = n;
	word_gen_near(&b, (struct plugin_slot) { 0 });

	overflowed = false;
	for (; blocks <= LIMIT_MAX; blocks++) {
		if (score.word[0] >= check.value && !setjmp(next_block))
			check.fn(0, check.userdata);
		if (overflowed)
			break;
		score.word[0] += n * ONE_INSTRUCTION + branch * ONE_BRANCH;
	}
	return blocks;
}

static uint64_t rounds(uint64_t limit, uint64_t n)
{
	return (limit + n - 1) / n;
}

static void test_limits(void)
{
	for (unsigned int n = 1; n <= BLOCK_MAX; n++) {
		for (unsigned int limit = 1; limit < LIMIT_MAX; limit += 37) {
			EXPECT(blocks_until(INSTRUCTIONS, limit, n, true) == rounds(limit, n));
			EXPECT(blocks_until(BRANCHES, limit, n, true) == limit);
			EXPECT(blocks_until(CYCLES, limit, n, false) == rounds(limit, n));
			EXPECT(blocks_until(CYCLES, limit, n, true) == rounds(limit, n + 1));
		}
	}
}

static const struct model_test tests[] = {
	{ "the next block sees an overflow, however long blocks are", test_limits },
};

int main(void)
{
	return run_model_tests(tests, sizeof(tests) / sizeof(*tests));
}
