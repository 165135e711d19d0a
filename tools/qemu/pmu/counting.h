/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counts of a vCPU, for count.c and word.c only.
 */
#ifndef TOOLS_QEMU_PMU_COUNTING_H
#define TOOLS_QEMU_PMU_COUNTING_H

#include "pmu/count.h"

#define CACHE_LINES		1024

#define TLB_ENTRIES		64

/* What generated code adds to a word */
#define ONE_INSTRUCTION		(UINT64_C(1) << COUNT_INSTRUCTIONS_SHIFT)
#define ONE_BRANCH		UINT64_C(1)

/**
 * struct score - the fields of a vCPU that generated code writes
 * @word: by level, see word.c
 * @slot: see count.c; the slots of kinds that @word has are not used
 * @not_taken: about the last conditional branch: the page offset of the next instruction, PENDING,
 *	and TWINS if the branch's target has the same offset in another page; 0 once the branch is
 *	counted
 * @unused: makes the size a power of two
 */
struct score {
	uint64_t word[COUNT_LEVELS_MAX];
	uint64_t slot[COUNT_KINDS_MAX * COUNT_LEVELS_MAX];
	uint64_t not_taken;
	uint64_t unused[256 - COUNT_LEVELS_MAX * (COUNT_KINDS_MAX + 1) - 1];
};

PMU_SCORE_SIZE(struct score);

/**
 * struct counting - the fields of a vCPU that only C code uses
 * @score: the vCPU's score
 * @origin: count minus slot, or minus the field of the word
 * @limit: the counts of the kinds in the word that the PMU waits for
 * @cycles_origin: count of cycles at all levels, minus the fields of the words
 * @next: the address after the branch at the end of this or the last block; only with TWINS
 * @predictor: see count_predict()
 * @cache: the line in each entry of the direct-mapped cache
 * @tlb: the page in each entry of the TLB
 */
struct counting {
	struct score *score;
	uint64_t origin[COUNT_KINDS_MAX * COUNT_LEVELS_MAX];
	uint64_t limit[COUNT_KINDS_MAX * COUNT_LEVELS_MAX];
	uint64_t cycles_origin;
	uint64_t next;
	struct count_predictor predictor;
	uint64_t cache[CACHE_LINES];
	uint64_t tlb[TLB_ENTRIES];
};

extern const struct count_config *count_config;
extern struct counting *countings[PMU_VCPUS_MAX];

static inline unsigned int index_of(unsigned int kind, unsigned int level)
{
	return kind * COUNT_LEVELS_MAX + level;
}

static inline uint32_t bit_of(unsigned int kind)
{
	return UINT32_C(1) << kind;
}

/* Return a bitmap of the kinds in the word: if one is live, all are. */
static inline uint32_t word_kinds(void)
{
	return bit_of(count_config->instructions) | bit_of(count_config->branches) |
	       bit_of(count_config->cycles);
}

/**
 * word_count() - return the count of a kind in the word
 * @c: the vCPU
 * @kind: the kind
 * @level: the level
 */
static inline uint64_t word_count(const struct counting *c, unsigned int kind, unsigned int level)
{
	uint64_t word = c->score->word[level];
	uint64_t instructions = c->origin[index_of(count_config->instructions, level)] +
				((int64_t)word >> COUNT_INSTRUCTIONS_SHIFT);
	uint64_t branches = c->origin[index_of(count_config->branches, level)] +
			    (word & COUNT_BRANCHES_MASK);

	if (kind == count_config->instructions)
		return instructions;
	return kind == count_config->branches ? branches : instructions + branches;
}

/* Instructions that a word can advance beyond its distance before C code sets it again */
#define WORD_BEYOND		1024

/* The value, as an unsigned number, of a word that is @n instructions before its distance */
#define WORD_BEFORE(n)		(-(uint64_t)(WORD_BEYOND + (n)) << COUNT_INSTRUCTIONS_SHIFT)

static inline bool word_is_reached(const struct counting *c, unsigned int level)
{
	return c->score->word[level] >= WORD_BEFORE(0);
}

void word_set(struct counting *c, unsigned int level, uint64_t distance);
int64_t word_distance(const struct counting *c, unsigned int level);
void word_reached(unsigned int vcpu, unsigned int level);
void word_gen_near(const struct count_block *b, struct plugin_slot word);
uint64_t word_step(unsigned int kind);

#endif /* TOOLS_QEMU_PMU_COUNTING_H */
