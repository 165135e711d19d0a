// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counting what vCPUs do, whatever their architecture.
 *
 * For each kind and level, a vCPU has a slot of 64 bits that generated code adds
 * to. The slot does not start at 0, but at minus the distance to the next
 * overflow: when the last instruction of a block begins and the slot is not
 * negative any more, the PMU is told. How far a slot is from the count proper is
 * its origin.
 *
 * What nobody has asked for is not instrumented. When a counter is enabled that
 * counts something new, all translated code is thrown away; that happens before
 * the vCPU goes on to the block after the write that enabled it.
 */
#include <stdlib.h>

#include "pmu/count.h"

/* A slot below this has reached what it was set to watch for. */
#define REACHED			(UINT64_C(1) << 61)

#define PREDICTOR_ENTRIES	1024
#define PREDICTOR_TAKEN		2	/* of 0 to 3, from here on */
#define PREDICTOR_MAX		3

#define CACHE_LINE_SHIFT	6
#define CACHE_LINES		1024

#define TLB_PAGE_SHIFT		12
#define TLB_ENTRIES		64

#define NOWHERE			UINT64_MAX

/* In score.not_taken, above the offset in the page */
#define PENDING			COUNT_PAGE_SIZE
#define TWINS			(COUNT_PAGE_SIZE << 1)

/**
 * struct score - what generated code writes, one for each vCPU
 * @slot: see above
 * @not_taken: where in its page the instruction is that the conditional branch executed
 *	last goes to if it is not taken, and PENDING; and TWINS if it goes to the same
 *	offset in another page if it is taken; 0 if this has been looked at
 */
struct score {
	uint64_t slot[COUNT_KINDS_MAX * COUNT_LEVELS_MAX];
	uint64_t not_taken;
};

/**
 * struct counting - what else there is to know of a vCPU
 * @origin: count less slot
 * @wanted: kinds this vCPU waits for
 * @next: the address of what follows the branch that this block, or the last one, ends
 *	with, if it is one with TWINS
 * @quiet: interrupts since it needed the kind of count_unused() last
 * @predictor: two-bit counters of conditional branches
 * @mispredicted: the last of them that was looked at was
 * @cache: which line is in which place of the direct-mapped cache
 * @tlb: likewise, pages of the TLB
 */
struct counting {
	uint64_t origin[COUNT_KINDS_MAX * COUNT_LEVELS_MAX];
	uint32_t wanted;
	uint64_t next;
	unsigned int quiet;
	uint8_t predictor[PREDICTOR_ENTRIES];
	bool mispredicted;
	uint64_t cache[CACHE_LINES];
	uint64_t tlb[TLB_ENTRIES];
};

unsigned int count_instrumentations;

static const struct count_config *config;
static struct qemu_plugin_scoreboard *scores;
static struct counting *countings[PMU_VCPUS_MAX];

/*
 * The kinds that generated code counts, and those it will after the next time
 * the guest is instrumented. They change only while all vCPUs are stopped.
 */
static uint32_t live;
static uint32_t live_next;

static struct score *score_of(unsigned int vcpu)
{
	return plugin_api.scoreboard_find(scores, vcpu);
}

static unsigned int index_of(unsigned int kind, unsigned int level)
{
	return kind * config->levels + level;
}

static struct plugin_slot slot_of(unsigned int kind, unsigned int level)
{
	return (struct plugin_slot) {
		.score = scores,
		.offset = offsetof(struct score, slot) +
			  index_of(kind, level) * sizeof(uint64_t),
	};
}

static struct plugin_slot not_taken_slot(void)
{
	return (struct plugin_slot) { scores, offsetof(struct score, not_taken) };
}

/* ---- for the PMU ---- */

/**
 * count_read() - how often each kind has happened so far
 * @vcpu: where; in its thread
 * @counts: the result, [kind][level]
 */
void count_read(unsigned int vcpu, uint64_t *counts)
{
	const struct counting *c = countings[vcpu];
	const struct score *s = score_of(vcpu);
	unsigned int i;

	for (i = 0; i < config->kinds * config->levels; i++)
		counts[i] = s->slot[i] + c->origin[i];
}

/**
 * count_cells() - where it is how often something has happened, for who looks often
 * @vcpu: where; in its thread, with all CPUs there: scores do not move any more
 * @kind: what
 *
 * Return: the places, which stay.
 */
struct count_cells count_cells(unsigned int vcpu, unsigned int kind)
{
	unsigned int i = index_of(kind, 0);

	return (struct count_cells) { &score_of(vcpu)->slot[i], &countings[vcpu]->origin[i] };
}

/**
 * count_of_kind() - how often something has happened so far at any level
 * @vcpu: where; likewise
 * @kind: what
 */
uint64_t count_of_kind(unsigned int vcpu, unsigned int kind)
{
	struct count_cells c = count_cells(vcpu, kind);

	return count_sum(&c, config->levels);
}

/**
 * count_watch() - have the PMU told before anything happens more often than this
 * @vcpu: where; in its thread
 * @distance: from now on, [kind][level]
 */
void count_watch(unsigned int vcpu, const uint64_t *distance)
{
	struct counting *c = countings[vcpu];
	struct score *s = score_of(vcpu);
	unsigned int i;

	for (i = 0; i < config->kinds * config->levels; i++) {
		uint64_t now = s->slot[i] + c->origin[i];

		s->slot[i] = -distance[i];
		c->origin[i] = now + distance[i];
	}
}

static void instrumented(void)
{
	live = live_next;
	count_instrumentations++;
}

/*
 * In work of its own, every other vCPU being stopped. Another vCPU may be about
 * to have the guest instrumented: then wait for it.
 */
static void instrument_for(unsigned int vcpu)
{
	struct counting *c = countings[vcpu];

	if (!(c->wanted & ~(live & live_next)))
		return;
	if (live_next == live) {
		live_next |= c->wanted;
		pmu_qemu_instrument(config->translate, instrumented, config->at_exit);
	}
	pmu_qemu_exclusive_work(vcpu, instrument_for);
}

/**
 * count_need() - kinds that will be read from now on
 * @vcpu: where; in its thread
 * @kinds: a bit each
 */
void count_need(unsigned int vcpu, uint32_t kinds)
{
	struct counting *c = countings[vcpu];

	if (!(kinds & ~((live & live_next) | c->wanted)))
		return;
	c->wanted |= kinds;
	pmu_qemu_exclusive_work(vcpu, instrument_for);
}

/*
 * Interrupts without a use after which a kind is dropped. To instrument the guest takes time: twice
 * as many each time, for what is needed now and then.
 */
#define QUIET_INTERRUPTS	1000
#define QUIET_INTERRUPTS_MAX	(1u << 20)

static unsigned int quiet_interrupts = QUIET_INTERRUPTS;

/* What count_unused() was asked for last */
static unsigned int drop_kind;
static bool (*drop_is_unneeded)(void);

/* In work of its own. Where others have the guest instrumented there will be another time. */
static void drop(unsigned int vcpu)
{
	uint32_t kind = UINT32_C(1) << drop_kind;
	unsigned int i;

	(void)vcpu;
	if (live_next != live || !(live & kind) || !drop_is_unneeded())
		return;
	for (i = 0; i < PMU_VCPUS_MAX; i++)
		if (countings[i])
			countings[i]->wanted &= ~kind;
	live_next &= ~kind;
	if (quiet_interrupts < QUIET_INTERRUPTS_MAX)
		quiet_interrupts *= 2;
	pmu_qemu_instrument(config->translate, instrumented, config->at_exit);
}

/**
 * count_used() - a vCPU needs the kind of count_unused()
 * @vcpu: where; in its thread
 */
void count_used(unsigned int vcpu)
{
	countings[vcpu]->quiet = 0;
}

/**
 * count_unused() - an interrupt has come, and the vCPU does not need a kind for now
 * @vcpu: where; in its thread
 * @kind: one that generated code does not count, and the same at each call
 * @is_unneeded: does none of them need it? Asked while all vCPUs stand still
 *
 * After so many the guest is instrumented without the kind, since it runs slower with it.
 */
void count_unused(unsigned int vcpu, unsigned int kind, bool (*is_unneeded)(void))
{
	struct counting *c = countings[vcpu];

	if (!count_is_live(kind) || ++c->quiet < quiet_interrupts)
		return;
	c->quiet = 0;
	drop_kind = kind;
	drop_is_unneeded = is_unneeded;
	pmu_qemu_exclusive_work(vcpu, drop);
}

/* ---- counting here rather than in generated code ---- */

/**
 * count_is_live() - does generated code count a kind?
 * @kind: the kind
 */
bool count_is_live(unsigned int kind)
{
	return kind < config->kinds && live >> kind & 1;
}

/* With the slots looked up, which takes as long as the rest of counting a branch does. */
static void add(unsigned int vcpu, struct score *s, unsigned int kind, unsigned int level)
{
	if (!count_is_live(kind))
		return;
	if (++s->slot[index_of(kind, level)] < REACHED)
		config->reached(vcpu);
}

/**
 * count_add() - something has happened
 * @vcpu: where; in its thread
 * @kind: what
 * @level: at which level
 */
void count_add(unsigned int vcpu, unsigned int kind, unsigned int level)
{
	add(vcpu, score_of(vcpu), kind, level);
}

/**
 * count_take_back() - something that was counted has not happened
 * @vcpu: where; in its thread
 * @kind: what
 * @level: at which level
 */
void count_take_back(unsigned int vcpu, unsigned int kind, unsigned int level)
{
	if (count_is_live(kind))
		score_of(vcpu)->slot[index_of(kind, level)]--;
}

static void reached_in_block(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	config->reached(vcpu);
}

/* ---- conditional branches ---- */

/*
 * A branch goes to one of two addresses, which mostly have different offsets in their
 * pages: no more of them need be known, at whatever addresses the code is executed.
 */
static bool is_taken(const struct counting *c, uint64_t not_taken, uint64_t target)
{
	if (not_taken & TWINS)
		return target != c->next;
	return count_page_offset(target) != count_page_offset(not_taken);
}

/* The predictor learns where a branch went. Return: whether it was wrong. */
static bool mispredicted(struct counting *c, uint64_t next, bool taken)
{
	uint8_t *p = &c->predictor[count_page_offset(next) % PREDICTOR_ENTRIES];
	bool predicted = *p >= PREDICTOR_TAKEN;

	if (taken && *p < PREDICTOR_MAX)
		(*p)++;
	else if (!taken && *p)
		(*p)--;
	c->mispredicted = taken != predicted;
	return c->mispredicted;
}

static void went(unsigned int vcpu, struct score *s, uint64_t target)
{
	struct counting *c = countings[vcpu];
	unsigned int level = config->level(vcpu);
	bool taken = is_taken(c, s->not_taken, target);
	bool wrong = mispredicted(c, s->not_taken, taken);

	s->not_taken = 0;
	add(vcpu, s, taken ? config->taken : config->not_taken, level);
	if (wrong)
		add(vcpu, s, config->mispredicted, level);
}

/**
 * count_branch_went() - where a conditional branch, if any, went
 * @vcpu: where; in its thread, still at the level of the branch
 * @target: the instruction that comes after it
 */
void count_branch_went(unsigned int vcpu, uint64_t target)
{
	struct score *s = score_of(vcpu);

	if (s->not_taken)
		went(vcpu, s, target);
}

/* After a branch a block begins, at this offset in its page. */
static void branch_went(unsigned int vcpu, void *offset)
{
	struct score *s = score_of(vcpu);

	went(vcpu, s, s->not_taken & TWINS ? config->pc(vcpu) : (uintptr_t)offset);
}

/* A block begins that ends with a branch with TWINS. */
static void remember_next(unsigned int vcpu, void *length)
{
	countings[vcpu]->next = config->pc(vcpu) + (uintptr_t)length;
}

static bool follows_branches(void)
{
	return count_is_live(config->taken) || count_is_live(config->not_taken) ||
	       count_is_live(config->mispredicted);
}

/**
 * count_mispredicted() - did a conditional branch go where the predictor did not say?
 * @vcpu: where; in its thread
 * @next: what follows the branch
 * @taken: where it went
 *
 * It is asked once for each, after count_branch_went() where that is called. The predictor
 * learns from each branch once, whoever follows it.
 */
bool count_mispredicted(unsigned int vcpu, uint64_t next, bool taken)
{
	struct counting *c = countings[vcpu];

	return follows_branches() ? c->mispredicted : mispredicted(c, next, taken);
}

/* ---- the cache and the TLB ---- */

/* Return: whether the entry was another's. */
static bool enter(uint64_t *places, unsigned int nr, uint64_t entry)
{
	bool miss = places[entry % nr] != entry;

	places[entry % nr] = entry;
	return miss;
}

static void access_memory(unsigned int vcpu, uint32_t info, uint64_t addr, void *userdata)
{
	struct counting *c = countings[vcpu];
	unsigned int level = config->level(vcpu);
	struct score *s = score_of(vcpu);

	(void)userdata;
	add(vcpu, s, config->cache_refs, level);
	if (enter(c->cache, CACHE_LINES, addr >> CACHE_LINE_SHIFT)) {
		add(vcpu, s, config->cache_misses, level);
		if (!plugin_api.mem_is_store(info))
			add(vcpu, s, config->load_misses, level);
	}
	if (enter(c->tlb, TLB_ENTRIES, addr >> TLB_PAGE_SHIFT))
		add(vcpu, s, config->tlb_misses, level);
}

/* ---- generated code ---- */

/**
 * count_gen_start() - a block begins
 * @b: the block
 */
void count_gen_start(const struct count_block *b)
{
	uintptr_t offset = count_page_offset(plugin_api.tb_vaddr(b->tb));
	const unsigned int memory[] = { config->loads, config->stores };
	size_t i;

	if (follows_branches())
		plugin_api.register_vcpu_tb_exec_cond_cb(b->tb, branch_went, 0, PLUGIN_COND_NE,
							 not_taken_slot(), 0, (void *)offset);

	/* Accesses come after the checks of their own block. */
	for (i = 0; i < ARRAY_SIZE(memory); i++)
		if (count_is_live(memory[i]))
			plugin_api.register_vcpu_tb_exec_cond_cb(b->tb, reached_in_block, 0,
								 PLUGIN_COND_LT,
								 slot_of(memory[i], b->level),
								 REACHED, NULL);
}

/**
 * count_gen_add() - with an instruction something happens
 * @insn: the instruction; it counts when it begins
 * @b: its block
 * @kind: what happens
 * @n: how often
 */
void count_gen_add(struct qemu_plugin_insn *insn, struct count_block *b, unsigned int kind,
		   unsigned int n)
{
	if (!count_is_live(kind) || !n)
		return;
	plugin_api.register_vcpu_insn_exec_inline_per_vcpu(insn, PLUGIN_ADD,
							   slot_of(kind, b->level), n);
	b->counted |= UINT32_C(1) << kind;
}

/**
 * count_gen_conditional() - an instruction is a conditional branch
 * @insn: the instruction
 * @b: its block, which it ends
 * @distance: from the instruction after it to where it goes if it is taken, in bytes
 *
 * A branch to the instruction after it counts as not taken.
 */
void count_gen_conditional(struct qemu_plugin_insn *insn, const struct count_block *b,
			   int64_t distance)
{
	uint64_t next = plugin_api.insn_vaddr(insn) + plugin_api.insn_size(insn);
	uint64_t not_taken = PENDING | count_page_offset(next);

	if (!follows_branches())
		return;
	if (distance && !count_page_offset(distance)) {
		uintptr_t length = next - plugin_api.tb_vaddr(b->tb);

		not_taken |= TWINS;
		plugin_api.register_vcpu_tb_exec_cb(b->tb, remember_next, 0, (void *)length);
	}
	plugin_api.register_vcpu_insn_exec_inline_per_vcpu(insn, PLUGIN_STORE,
							   not_taken_slot(), not_taken);
}

/**
 * count_gen_memory() - an instruction may access memory
 * @insn: the instruction
 * @b: its block
 */
void count_gen_memory(struct qemu_plugin_insn *insn, const struct count_block *b)
{
	if (count_is_live(config->loads))
		plugin_api.register_vcpu_mem_inline_per_vcpu(insn, PLUGIN_READ, PLUGIN_ADD,
							     slot_of(config->loads, b->level),
							     1);
	if (count_is_live(config->stores))
		plugin_api.register_vcpu_mem_inline_per_vcpu(insn, PLUGIN_WRITE, PLUGIN_ADD,
							     slot_of(config->stores, b->level),
							     1);
	if (count_is_live(config->cache_refs) || count_is_live(config->cache_misses) ||
	    count_is_live(config->load_misses) || count_is_live(config->tlb_misses))
		plugin_api.register_vcpu_mem_cb(insn, access_memory, 0, PLUGIN_READ_WRITE,
						NULL);
}

/**
 * count_gen_checks() - tell the PMU if a block has gone far enough
 * @last: its last instruction
 * @b: the block
 */
void count_gen_checks(struct qemu_plugin_insn *last, const struct count_block *b)
{
	unsigned int kind;

	for (kind = 0; kind < config->kinds; kind++)
		if (b->counted >> kind & 1)
			plugin_api.register_vcpu_insn_exec_cond_cb(last, reached_in_block, 0,
								   PLUGIN_COND_LT,
								   slot_of(kind, b->level),
								   REACHED, NULL);
}

/* ---- beginning ---- */

/**
 * count_init() - prepare for counting
 * @c: what there is to count; it stays in use
 */
void count_init(const struct count_config *c)
{
	config = c;
	scores = plugin_api.scoreboard_new(sizeof(struct score));
}

/**
 * count_vcpu_init() - prepare for counting a vCPU
 * @vcpu: its index
 */
void count_vcpu_init(unsigned int vcpu)
{
	size_t i;

	countings[vcpu] = calloc(1, sizeof(*countings[vcpu]));
	if (!countings[vcpu])
		abort();
	for (i = 0; i < CACHE_LINES; i++)
		countings[vcpu]->cache[i] = NOWHERE;
	for (i = 0; i < TLB_ENTRIES; i++)
		countings[vcpu]->tlb[i] = NOWHERE;
}
