/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Follow the branches of a vCPU, on any architecture.
 *
 * A branch ends its block. Generated code stores the branch's offset in the block when the branch
 * begins; the start of the next block shows the target. The address of a block is read from the
 * CPU, and is not known at translation: QEMU's blocks belong to physical memory (CF_PCREL in its
 * sources), and run at all virtual addresses that map it.
 */
#ifndef TOOLS_QEMU_PMU_TRAIL_H
#define TOOLS_QEMU_PMU_TRAIL_H

#include "pmu/count.h"

/* Fields of a pending branch */
#define TRAIL_PENDING		(UINT64_C(1) << 63)
#define TRAIL_OFFSET		UINT64_C(0xffff)	/* from the start of its block */
#define TRAIL_LENGTH_SHIFT	16
#define TRAIL_LENGTH		UINT64_C(0xff)
#define TRAIL_TYPE_SHIFT	24
#define TRAIL_TYPE		UINT64_C(0xff)
#define TRAIL_CONDITIONAL	(UINT64_C(1) << 32)
#define TRAIL_FAULTING		(UINT64_C(1) << 33)
#define TRAIL_KNOWN_SHIFT	34	/* reported if trail.known has one of these bits */
#define TRAIL_PREDICTOR_SHIFT	40	/* index in struct count_predictor */
#define TRAIL_PREDICTOR		UINT64_C(0x7ff)
#define TRAIL_LEVEL_SHIFT	56	/* arm64: of the branch; x86: of the target, set at the next block */
#define TRAIL_LEVEL		UINT64_C(3)
#define TRAIL_KERNEL_SHIFT	62	/* the target is in the kernel; x86 only */

/* A bit of trail.known above the levels; each update of trail.known sets it */
#define TRAIL_ALWAYS		(1u << COUNT_LEVELS_MAX)
#define TRAIL_ALL_LEVELS	(TRAIL_ALWAYS - 1)

/* Number of branches in struct trail that the PMU has yet to record */
#define TRAIL_PASSED_MAX	256

/**
 * struct trail_score - the fields of a vCPU that generated code reads and writes
 * @heads: by level: the starts of blocks at this level call back
 * @any: bitmap of the levels with blocks that call back
 * @pending: the branch that began last, 0 once it is handled
 * @unused: see PMU_SCORE_SIZE()
 */
struct trail_score {
	uint64_t heads[COUNT_LEVELS_MAX];
	uint64_t any;
	uint64_t pending;
	uint64_t unused[16 - COUNT_LEVELS_MAX - 2];
};

PMU_SCORE_SIZE(struct trail_score);

/**
 * struct trail_passed - a branch that a block has noted, taken or not
 * @pending: the pending branch
 * @from: address of the branch
 * @to: address of the instruction executed after the branch
 * @cycles: the vCPU's count of cycles
 */
struct trail_passed {
	uint64_t pending;
	uint64_t from;
	uint64_t to;
	uint64_t cycles;
};

/**
 * struct trail_taken - a branch to record
 * @index: its index in trail.passed
 * @mispredicted: the branch was mispredicted
 */
struct trail_taken {
	uint8_t index;
	bool mispredicted;
};

/**
 * struct trail - the fields of a vCPU that only C code uses
 * @score: the vCPU's score, NULL before software turns branch records on. All vCPUs exist then, so
 *	the score does not move
 * @predictor: the vCPU's predictor
 * @known: bitmap of the levels with blocks that call back, and TRAIL_ALWAYS
 * @quick: @known as far as blocks only note branches; trail_set_heads() sets it to 0
 * @pc: the program counter
 * @block: address of the block that called back last
 * @ending: the pending branch is the last one to report
 * @clock: the vCPU's count of cycles
 * @nr_passed: number of branches in @passed
 * @passed: the branches since trail_take()
 */
struct trail {
	struct trail_score *score;
	struct count_predictor *predictor;
	unsigned int known;
	unsigned int quick;
	const uint64_t *pc;
	uint64_t block;
	bool ending;
	struct count_clock clock;
	unsigned int nr_passed;
	struct trail_passed passed[TRAIL_PASSED_MAX];
};

static inline unsigned int trail_type(uint64_t pending)
{
	return pending >> TRAIL_TYPE_SHIFT & TRAIL_TYPE;
}

static inline unsigned int trail_level(uint64_t pending)
{
	return pending >> TRAIL_LEVEL_SHIFT & TRAIL_LEVEL;
}

/* Check whether a branch can be reported: its block has called back with its address. */
static inline bool trail_knows(const struct trail *t, uint64_t pending)
{
	return pending >> TRAIL_KNOWN_SHIFT & t->known;
}

static inline uint64_t trail_from(const struct trail *t, uint64_t pending)
{
	return t->block + (pending & TRAIL_OFFSET);
}

static inline uint64_t trail_next(uint64_t from, uint64_t pending)
{
	return from + (pending >> TRAIL_LENGTH_SHIFT & TRAIL_LENGTH);
}

static inline uint64_t trail_cycles(const struct trail *t)
{
	return count_cycles(&t->clock, COUNT_LEVELS_MAX);
}

static inline bool trail_is_on(const struct trail *t)
{
	return t->score && t->score->any;
}

/**
 * trail_pass() - note the pending branch: the block after it begins
 * @t: the vCPU's trail
 * @state: bits to add to the pending branch
 *
 * Return: true if @t->passed is full.
 */
static inline bool trail_pass(struct trail *t, uint64_t state)
{
	uint64_t pending = t->score->pending;
	struct trail_passed *b = &t->passed[t->nr_passed++];

	b->pending = pending | state;
	b->from = trail_from(t, pending);
	b->to = *t->pc;
	b->cycles = trail_cycles(t);
	t->score->pending = 0;
	t->block = b->to;
	return t->nr_passed == TRAIL_PASSED_MAX;
}

void trail_init(void);
void trail_begin(struct trail *t, unsigned int vcpu, const uint64_t *pc);
void trail_set_heads(struct trail *t, unsigned int levels);
unsigned int trail_take(struct trail *t, const unsigned int types[2], struct trail_taken *taken);

void trail_gen_start(struct qemu_plugin_tb *tb, plugin_exec_cb begins, unsigned int level,
		     uintptr_t state);
void trail_gen_branch(struct qemu_plugin_tb *tb, struct qemu_plugin_insn *at,
		      struct qemu_plugin_insn *insn, uint64_t pending);
struct plugin_slot trail_any(void);

#endif /* TOOLS_QEMU_PMU_TRAIL_H */
