/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Count what vCPUs do, on any architecture.
 *
 * Each count has a kind (instructions, loads, ...) and a level of privilege. A vCPU's counts are a
 * table of [kind][level], one row after the other.
 */
#ifndef TOOLS_QEMU_PMU_COUNT_H
#define TOOLS_QEMU_PMU_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "pmu/live.h"
#include "pmu/qemu.h"

#define COUNT_KINDS_MAX		32
#define COUNT_ALL_KINDS		UINT32_MAX
#define COUNT_LEVELS_MAX	4

/* The fields of the word that instructions and branches share */
#define COUNT_INSTRUCTIONS_SHIFT	20
#define COUNT_BRANCHES_MASK		((UINT64_C(1) << COUNT_INSTRUCTIONS_SHIFT) - 1)

/* The smallest page size of the supported architectures */
#define COUNT_PAGE_SHIFT	12
#define COUNT_PAGE_SIZE		(UINT64_C(1) << COUNT_PAGE_SHIFT)

/**
 * struct count_config - the kinds and levels of an architecture, and its callbacks
 * @live: functions for live.h; count_init() sets @needs and @changed
 * @needs: return a bitmap of the kinds that a vCPU's PMU needs now; see struct live_config
 * @kinds: number of kinds, less than COUNT_KINDS_MAX
 * @levels: number of levels, at most COUNT_LEVELS_MAX
 * @instructions: kind: instructions
 * @branches: kind: branches of all types
 * @cycles: kind: cycles, one for each instruction and one more for a branch
 * @taken: kind: taken conditional branches
 * @not_taken: kind: conditional branches that are not taken
 * @mispredicted: kind: conditional branches that the predictor's model predicts wrongly
 * @cache_refs: kind: accesses to the cache's model
 * @cache_misses: kind: accesses that miss the cache's model
 * @load_misses: kind: loads that miss the cache's model; @kinds if not counted separately
 * @tlb_misses: kind: accesses that miss the TLB's model; @kinds if there is no TLB
 * @loads: kind: loads; @kinds if the architecture counts loads itself
 * @stores: kind: stores; @kinds if the architecture counts stores itself
 * @updates: kind: read-modify-write accesses; @kinds if the architecture does not count them
 * @level: return a vCPU's level; called in the vCPU's thread
 * @pc: return a vCPU's PC; called in the vCPU's thread, at the start of a block
 * @near: a block of @n instructions begins, and instructions, branches or cycles can reach the
 *	distance of count_watch() in the block, or have reached it. Return true to have QEMU look up
 *	the block anew; may be NULL
 * @changed: the live kinds have changed; called with all vCPUs stopped; may be NULL
 * @reached: a count has reached the distance of count_watch(); called in the vCPU's thread
 */
struct count_config {
	struct live_config live;
	uint32_t (*needs)(unsigned int vcpu);
	unsigned int kinds;
	unsigned int levels;
	unsigned int instructions;
	unsigned int branches;
	unsigned int cycles;
	unsigned int taken;
	unsigned int not_taken;
	unsigned int mispredicted;
	unsigned int cache_refs;
	unsigned int cache_misses;
	unsigned int load_misses;
	unsigned int tlb_misses;
	unsigned int loads;
	unsigned int stores;
	unsigned int updates;
	unsigned int (*level)(unsigned int vcpu);
	uint64_t (*pc)(unsigned int vcpu);
	bool (*near)(unsigned int vcpu, unsigned int level, unsigned int n);
	void (*changed)(void);
	void (*reached)(unsigned int vcpu);
};

/**
 * struct count_clock - the parts of a vCPU's count of cycles, for code that reads it often
 * @word: by level: instructions in the upper bits, branches in the lower
 * @origin: the rest
 */
struct count_clock {
	const uint64_t *word;
	const uint64_t *origin;
};

/**
 * count_cycles() - return a vCPU's count of cycles
 * @clock: from count_clock()
 * @levels: number of levels; a constant of the caller
 *
 * The branches of all levels together fit in the lower bits, see word.c.
 */
static inline uint64_t count_cycles(const struct count_clock *clock, unsigned int levels)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < levels; i++)
		sum += clock->word[i];
	return *clock->origin + ((int64_t)sum >> COUNT_INSTRUCTIONS_SHIFT) +
	       (sum & COUNT_BRANCHES_MASK);
}

#define COUNT_PREDICTOR_ENTRIES	1024

/**
 * struct count_predictor - the model of the predictor of conditional branches
 * @entry: two-bit counters, by count_predictor_index(); the last one predicts "taken"
 * @mispredicted: the last conditional branch was mispredicted
 */
struct count_predictor {
	uint8_t entry[COUNT_PREDICTOR_ENTRIES + 1];
	bool mispredicted;
};

void count_init(struct count_config *config);
void count_vcpu_init(unsigned int vcpu);

/* For the PMU; the tables are [kind][level], of which the functions use some kinds (a bitmap). */
void count_read(unsigned int vcpu, uint64_t *counts, uint32_t kinds);
void count_watch(unsigned int vcpu, const uint64_t *distance, uint32_t kinds);
void count_need(unsigned int vcpu, uint32_t kinds);

/* Counting outside of generated code */
bool count_is_live(unsigned int kind);
void count_add(unsigned int vcpu, unsigned int kind, unsigned int level);
void count_take_back(unsigned int vcpu, unsigned int kind, unsigned int level);
void count_branch_went(unsigned int vcpu, uint64_t target);
void count_check(unsigned int vcpu, unsigned int level);

/* For code that follows branches itself; called in a vCPU's thread */
uint64_t count_of_kind(unsigned int vcpu, unsigned int kind);
struct count_clock count_clock(unsigned int vcpu);
struct count_predictor *count_predictor(unsigned int vcpu);

/**
 * count_page_offset() - return the part of an address that is the same in each mapping of a page
 * @addr: the virtual address of an instruction, known at translation
 *
 * QEMU's blocks belong to physical memory (CF_PCREL in its sources). QEMU translates a block at one
 * virtual address, and runs it at all others that the page is mapped at. Only the offset in the
 * page is the same.
 *
 * Return: the offset in the page.
 */
static inline uint64_t count_page_offset(uint64_t addr)
{
	return addr & (COUNT_PAGE_SIZE - 1);
}

/* A two-bit counter that predicts "taken" for sure */
#define COUNT_PREDICTOR_TAKEN	3

/* The value of a two-bit counter after a branch: two bits for each taken << 2 | value */
#define COUNT_PREDICTOR_NEXT	0xf990u

/**
 * count_predictor_index() - return the index of a branch in struct count_predictor
 * @conditional: the branch is conditional; others are predicted correctly
 * @next: address of the instruction after the branch
 */
static inline unsigned int count_predictor_index(bool conditional, uint64_t next)
{
	return conditional ? next % COUNT_PREDICTOR_ENTRIES : COUNT_PREDICTOR_ENTRIES;
}

/**
 * count_predict() - train the predictor with a branch
 * @p: the predictor of the vCPU
 * @index: the branch's index, from count_predictor_index()
 * @taken: the branch was taken; true for a branch that is not conditional
 *
 * The function has no branches: the types of the guest's branches are hard to predict for the host.
 *
 * Return: true if the prediction was wrong.
 */
static inline bool count_predict(struct count_predictor *p, unsigned int index, bool taken)
{
	unsigned int value = p->entry[index];

	p->entry[index] = COUNT_PREDICTOR_NEXT >> 2 * (taken << 2 | value) & 3;
	return taken ^ value >> 1;
}

/* Set if count_branch_went() and generated code train the predictor; see count_predicted() */
extern bool count_follows;

/**
 * count_predicted() - check whether a branch was mispredicted
 * @p: the predictor of the vCPU
 * @conditional: the branch is conditional
 * @next: address of the instruction after the branch
 * @taken: the branch was taken
 *
 * Called once for each branch, after count_branch_went() if the caller calls both. A branch trains
 * the predictor once.
 */
static inline bool count_predicted(struct count_predictor *p, bool conditional, uint64_t next,
				   bool taken)
{
	if (count_follows)
		return conditional & p->mispredicted;
	return count_predict(p, count_predictor_index(conditional, next), taken | !conditional);
}

/**
 * struct count_block - the block being instrumented
 * @tb: QEMU's handle of the block
 * @level: the block's level
 * @counted: bitmap of the kinds that the block adds to
 */
struct count_block {
	struct qemu_plugin_tb *tb;
	unsigned int level;
	uint32_t counted;
};

void count_gen_start(const struct count_block *b);
void count_gen_instructions(struct qemu_plugin_insn *insn, struct count_block *b, unsigned int n,
			    bool is_branch);
void count_gen_add(struct qemu_plugin_insn *insn, struct count_block *b, unsigned int kind,
		   unsigned int n);
void count_gen_conditional(struct qemu_plugin_insn *at, struct qemu_plugin_insn *insn,
			   const struct count_block *b, int64_t distance);
void count_gen_memory(struct qemu_plugin_insn *insn, const struct count_block *b, bool is_update);
void count_gen_checks(struct qemu_plugin_insn *last, const struct count_block *b, bool continues);

#endif /* TOOLS_QEMU_PMU_COUNT_H */
