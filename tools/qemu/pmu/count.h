/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting what vCPUs do, whatever their architecture.
 *
 * What happens has a kind, and happens at a level of privilege. A vCPU's counts
 * are a table of [kind][level], in memory one row after the other.
 */
#ifndef TOOLS_QEMU_PMU_COUNT_H
#define TOOLS_QEMU_PMU_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "pmu/qemu.h"

#define COUNT_KINDS_MAX		32
#define COUNT_LEVELS_MAX	4

/* The smallest page of any architecture here */
#define COUNT_PAGE_SHIFT	12
#define COUNT_PAGE_SIZE		(UINT64_C(1) << COUNT_PAGE_SHIFT)

/**
 * struct count_config - what there is to count
 * @kinds: how many kinds, see COUNT_KINDS_MAX
 * @levels: how many levels
 * @taken: conditional branches that are taken
 * @not_taken: those that are not
 * @mispredicted: those that did not go where the model of a predictor said
 * @cache_refs: accesses to the model of a cache
 * @cache_misses: those that miss
 * @load_misses: loads that miss the model of a cache; @kinds if they are not counted separately
 * @tlb_misses: likewise of the model of a TLB; @kinds if there is none
 * @loads: loads; @kinds if they are counted otherwise
 * @stores: likewise
 * @level: the level a vCPU is at, asked in its thread
 * @pc: the address that a vCPU is at; asked in its thread, at the head of a block
 * @translate: instruments a block
 * @reached: a vCPU has done what was watched for; in its thread
 * @at_exit: QEMU exits
 */
struct count_config {
	unsigned int kinds;
	unsigned int levels;
	unsigned int taken;
	unsigned int not_taken;
	unsigned int mispredicted;
	unsigned int cache_refs;
	unsigned int cache_misses;
	unsigned int load_misses;
	unsigned int tlb_misses;
	unsigned int loads;
	unsigned int stores;
	unsigned int (*level)(unsigned int vcpu);
	uint64_t (*pc)(unsigned int vcpu);
	void (*translate)(struct qemu_plugin_tb *tb);
	void (*reached)(unsigned int vcpu);
	void (*at_exit)(void);
};

/**
 * struct count_cells - where it is how often something has happened, one for each level
 * @slot: what generated code changes
 * @origin: what is to be added to that
 */
struct count_cells {
	const uint64_t *slot;
	const uint64_t *origin;
};

/**
 * count_sum() - how often something has happened so far at any level
 * @c: of count_cells()
 * @levels: how many levels there are, known where it is called
 */
static inline uint64_t count_sum(const struct count_cells *c, unsigned int levels)
{
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < levels; i++)
		sum += c->slot[i] + c->origin[i];
	return sum;
}

/* How often the guest was instrumented anew because something new is counted. */
extern unsigned int count_instrumentations;

void count_init(const struct count_config *config);
void count_vcpu_init(unsigned int vcpu);

/* For the PMU; tables of [kind][level]. */
void count_read(unsigned int vcpu, uint64_t *counts);
void count_watch(unsigned int vcpu, const uint64_t *distance);
void count_need(unsigned int vcpu, uint32_t kinds);
void count_used(unsigned int vcpu);
void count_unused(unsigned int vcpu, unsigned int kind, bool (*is_unneeded)(void));

/* Counting other than in generated code */
bool count_is_live(unsigned int kind);
void count_add(unsigned int vcpu, unsigned int kind, unsigned int level);
void count_take_back(unsigned int vcpu, unsigned int kind, unsigned int level);
void count_branch_went(unsigned int vcpu, uint64_t target);

/* For those who follow branches themselves, in a vCPU's thread */
uint64_t count_of_kind(unsigned int vcpu, unsigned int kind);
struct count_cells count_cells(unsigned int vcpu, unsigned int kind);
bool count_mispredicted(unsigned int vcpu, uint64_t next, bool taken);

/**
 * count_page_offset() - what an address known at translation tells
 * @addr: the virtual address of an instruction
 *
 * QEMU's blocks belong to physical memory (CF_PCREL in its sources): what it translates
 * where it runs first runs at every other address that the page is mapped at. The offset
 * in the page alone is the same at all of them.
 *
 * Return: that offset.
 */
static inline uint64_t count_page_offset(uint64_t addr)
{
	return addr & (COUNT_PAGE_SIZE - 1);
}

/**
 * struct count_block - the block being instrumented
 * @tb: QEMU's name for it
 * @level: its level
 * @counted: kinds that it adds to
 */
struct count_block {
	struct qemu_plugin_tb *tb;
	unsigned int level;
	uint32_t counted;
};

void count_gen_start(const struct count_block *b);
void count_gen_add(struct qemu_plugin_insn *insn, struct count_block *b, unsigned int kind,
		   unsigned int n);
void count_gen_conditional(struct qemu_plugin_insn *insn, const struct count_block *b,
			   int64_t distance);
void count_gen_memory(struct qemu_plugin_insn *insn, const struct count_block *b);
void count_gen_checks(struct qemu_plugin_insn *last, const struct count_block *b);

#endif /* TOOLS_QEMU_PMU_COUNT_H */
