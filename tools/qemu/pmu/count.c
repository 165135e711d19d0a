// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Count what vCPUs do, on any architecture.
 *
 * For each kind and level, a vCPU has a slot of 64 bits that generated code adds to. The slot
 * starts at minus the distance to the next overflow. If the slot is not negative when the last
 * instruction of a block begins, generated code calls the PMU. A count is its slot plus its origin.
 *
 * Instructions, branches and cycles have a word instead, see word.c. Generated code checks the word
 * where a block begins: there QEMU has no guest registers that a call would have to save. If
 * earlier blocks have reached the distance, generated code calls the PMU. The vCPU then leaves the
 * block before its first instruction, and takes the interrupt.
 */
#include <stdlib.h>

#include "pmu/count.h"
#include "pmu/counting.h"

/* A slot below this value has reached its distance. */
#define REACHED			(UINT64_C(1) << 61)

/* A distance that no count advances by */
#define FAR_AWAY		(UINT64_MAX / 4)

/* An access counts in the line of its first byte. */
#define CACHE_LINE_SHIFT	6
#define TLB_PAGE_SHIFT		12
#define NOWHERE			UINT64_MAX

/* Flags of score.not_taken, above the offset in the page */
#define PENDING			COUNT_PAGE_SIZE
#define TWINS			(COUNT_PAGE_SIZE << 1)

const struct count_config *count_config;
struct counting *countings[PMU_VCPUS_MAX];
bool count_follows;

static struct qemu_plugin_scoreboard *scores;

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

static struct plugin_slot word_of(unsigned int level)
{
	return (struct plugin_slot) {
		scores, offsetof(struct score, word) + level * sizeof(uint64_t)
	};
}

static uint64_t count_of(const struct counting *c, unsigned int kind, unsigned int level)
{
	if (word_kinds() & bit_of(kind))
		return word_count(c, kind, level);
	return c->score->slot[index_of(kind, level)] + c->origin[index_of(kind, level)];
}

/* ---- for the PMU ---- */

/* Remove a kind from a bitmap, and return the kind. */
static unsigned int take_kind(uint32_t *kinds)
{
	unsigned int kind = __builtin_ctz(*kinds);

	*kinds &= *kinds - 1;
	return kind;
}

static uint32_t present_kinds(uint32_t kinds)
{
	return kinds & (bit_of(count_config->kinds) - 1);
}

/**
 * count_read() - read counts of a vCPU
 * @vcpu: index of the vCPU; called in its thread
 * @counts: set to the counts, [kind][level]; only the rows of @kinds
 * @kinds: bitmap of the kinds
 */
void count_read(unsigned int vcpu, uint64_t *counts, uint32_t kinds)
{
	const unsigned int levels = count_config->levels;
	const struct counting *c = countings[vcpu];

	for (kinds = present_kinds(kinds); kinds;) {
		unsigned int kind = take_kind(&kinds);

		for (unsigned int level = 0; level < levels; level++)
			counts[kind * levels + level] = count_of(c, kind, level);
	}
}

/**
 * count_of_kind() - return the count of a kind over all levels
 * @vcpu: index of the vCPU; called in its thread
 * @kind: the kind
 */
uint64_t count_of_kind(unsigned int vcpu, unsigned int kind)
{
	uint64_t sum = 0;

	for (unsigned int level = 0; level < count_config->levels; level++)
		sum += count_of(countings[vcpu], kind, level);
	return sum;
}

/* Add all kinds of the word if @kinds has one: generated code counts all of them, or none. */
static uint32_t with_word(uint32_t kinds)
{
	return kinds & word_kinds() ? kinds | word_kinds() : kinds;
}

/* Have reached() called before a count advances by more than a distance. */
static void watch_at(struct counting *c, unsigned int kind, unsigned int level, uint64_t distance)
{
	unsigned int i = index_of(kind, level);

	if (word_kinds() & bit_of(kind)) {
		c->limit[i] = word_count(c, kind, level) + distance;
		return;
	}
	c->origin[i] += c->score->slot[i] + distance;
	c->score->slot[i] = -distance;
}

/**
 * count_watch() - have reached() called before a count advances by more than @distance
 * @vcpu: index of the vCPU; called in its thread
 * @distance: the distances from the present counts, [kind][level]; only the rows of @kinds
 * @kinds: bitmap of the kinds; for others, reached() is not called
 */
void count_watch(unsigned int vcpu, const uint64_t *distance, uint32_t kinds)
{
	const unsigned int levels = count_config->levels;
	uint32_t all = with_word(present_kinds(kinds | live_kinds));
	struct counting *c = countings[vcpu];

	while (all) {
		unsigned int kind = take_kind(&all);
		bool far = !(kinds & bit_of(kind));

		for (unsigned int level = 0; level < levels; level++)
			watch_at(c, kind, level, far ? FAR_AWAY : distance[kind * levels + level]);
	}
	for (unsigned int level = 0; level < levels; level++) {
		int64_t instructions = word_distance(c, level);

		word_set(c, level, instructions > 0 ? instructions : 0);
	}
}

static uint32_t needs(unsigned int vcpu)
{
	return with_word(count_config->needs(vcpu));
}

/**
 * count_need() - have kinds counted from now on
 * @vcpu: index of the vCPU; called in its thread
 * @kinds: bitmap of the kinds
 */
void count_need(unsigned int vcpu, uint32_t kinds)
{
	live_need(vcpu, with_word(kinds));
}

/* ---- counting outside of generated code ---- */

/**
 * count_is_live() - check whether generated code counts a kind
 * @kind: the kind, or the number of kinds for one that the architecture does not have
 */
bool count_is_live(unsigned int kind)
{
	return live_has(bit_of(kind));
}

static void add_count(unsigned int vcpu, struct score *s, unsigned int kind, unsigned int level)
{
	if (count_is_live(kind) && ++s->slot[index_of(kind, level)] < REACHED)
		count_config->reached(vcpu);
}

/**
 * count_add() - add one to a count
 * @vcpu: index of the vCPU; called in its thread
 * @kind: the kind, not cycles
 * @level: the level
 */
void count_add(unsigned int vcpu, unsigned int kind, unsigned int level)
{
	struct score *s = countings[vcpu]->score;

	if (!(word_kinds() & bit_of(kind))) {
		add_count(vcpu, s, kind, level);
	} else if (count_is_live(kind)) {
		s->word[level] += word_step(kind);
		count_check(vcpu, level);
	}
}

/**
 * count_check() - check the word before an exception or interrupt is taken
 * @vcpu: index of the vCPU; called in its thread
 * @level: the level before the exception or interrupt
 *
 * The next block may begin at another level, and then does not check this level's word.
 */
void count_check(unsigned int vcpu, unsigned int level)
{
	if (live_has(word_kinds()) && word_is_reached(countings[vcpu], level))
		word_reached(vcpu, level);
}

/**
 * count_take_back() - subtract one from a count: the counted instruction has not completed
 * @vcpu: index of the vCPU; called in its thread
 * @kind: the kind, not cycles
 * @level: the level
 */
void count_take_back(unsigned int vcpu, unsigned int kind, unsigned int level)
{
	struct score *s = countings[vcpu]->score;

	if (!count_is_live(kind))
		return;
	if (word_kinds() & bit_of(kind))
		s->word[level] -= word_step(kind);
	else
		s->slot[index_of(kind, level)]--;
}

static void reached_in_block(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	count_config->reached(vcpu);
}

static void word_reached_in_block(unsigned int vcpu, void *level)
{
	word_reached(vcpu, (uintptr_t)level);
}

/* ---- conditional branches ---- */

/*
 * The two targets of a branch mostly differ in their page offsets. If they do, the offset tells
 * them apart, at any address that the page is mapped at.
 */
static bool is_taken(const struct counting *c, uint64_t not_taken, uint64_t target)
{
	if (not_taken & TWINS)
		return target != c->next;
	return count_page_offset(target) != count_page_offset(not_taken);
}

static void report_target(unsigned int vcpu, struct counting *c, uint64_t target,
			  unsigned int level)
{
	struct score *s = c->score;
	bool taken = is_taken(c, s->not_taken, target);
	bool wrong = count_predict(&c->predictor, count_predictor_index(true, s->not_taken), taken);

	c->predictor.mispredicted = wrong;
	s->not_taken = 0;
	add_count(vcpu, s, taken ? count_config->taken : count_config->not_taken, level);
	if (wrong)
		add_count(vcpu, s, count_config->mispredicted, level);
}

/**
 * count_branch_went() - count the pending conditional branch, if any
 * @vcpu: index of the vCPU; called in its thread, at the level of the branch
 * @target: address of the instruction executed after the branch
 */
void count_branch_went(unsigned int vcpu, uint64_t target)
{
	struct counting *c = countings[vcpu];

	if (c->score->not_taken)
		report_target(vcpu, c, target, count_config->level(vcpu));
}

/* The block that follows a branch: its page offset, and its level above */
#define AFTER_LEVEL_SHIFT	COUNT_PAGE_SHIFT

/*
 * Called at the start of the block after a branch. A conditional branch ends at its own level, so
 * its level is the block's.
 */
static void branch_went(unsigned int vcpu, void *block)
{
	struct counting *c = countings[vcpu];
	uintptr_t after = (uintptr_t)block;

	report_target(vcpu, c, c->score->not_taken & TWINS ? count_config->pc(vcpu) : after,
		      after >> AFTER_LEVEL_SHIFT);
}

/* Called at the start of a block that ends with a TWINS branch. @length: bytes of the block */
static void remember_next(unsigned int vcpu, void *length)
{
	countings[vcpu]->next = count_config->pc(vcpu) + (uintptr_t)length;
}

/*
 * Called in place of branch_went() if no other result of a branch than a misprediction is counted.
 * The function has few branches that the host mispredicts.
 */
static void branch_predicted(unsigned int vcpu, void *block)
{
	struct counting *c = countings[vcpu];
	uint64_t not_taken = c->score->not_taken;
	uintptr_t after = (uintptr_t)block;
	uint64_t *slot = &c->score->slot[index_of(count_config->mispredicted,
						  after >> AFTER_LEVEL_SHIFT)];
	bool wrong;

	if (not_taken & TWINS) {
		branch_went(vcpu, block);
		return;
	}
	wrong = count_predict(&c->predictor, count_predictor_index(true, not_taken),
			      is_taken(c, not_taken, after));
	c->predictor.mispredicted = wrong;
	c->score->not_taken = 0;
	*slot += wrong;
	if (*slot < REACHED)
		count_config->reached(vcpu);
}

/* Return the kinds of counts that depend on whether a conditional branch is taken. */
static uint32_t result_kinds(void)
{
	return bit_of(count_config->taken) | bit_of(count_config->not_taken) |
	       bit_of(count_config->mispredicted);
}

static plugin_exec_cb went_callback(void)
{
	return (live_kinds & result_kinds()) == bit_of(count_config->mispredicted) ?
	       branch_predicted : branch_went;
}

/**
 * count_predictor() - return a vCPU's predictor
 * @vcpu: index of the vCPU
 */
struct count_predictor *count_predictor(unsigned int vcpu)
{
	return &countings[vcpu]->predictor;
}

/* ---- the cache and the TLB ---- */

/* Return: true if the entry was not present (a miss) */
static bool enter(uint64_t *places, unsigned int nr, uint64_t entry)
{
	bool miss = places[entry % nr] != entry;

	places[entry % nr] = entry;
	return miss;
}

static void access_memory(unsigned int vcpu, uint32_t info, uint64_t addr, void *userdata)
{
	struct counting *c = countings[vcpu];
	unsigned int level = count_config->level(vcpu);
	struct score *s = c->score;

	(void)userdata;
	add_count(vcpu, s, count_config->cache_refs, level);
	if (enter(c->cache, CACHE_LINES, addr >> CACHE_LINE_SHIFT)) {
		add_count(vcpu, s, count_config->cache_misses, level);
		if (!plugin_api.mem_is_store(info))
			add_count(vcpu, s, count_config->load_misses, level);
	}
	if (enter(c->tlb, TLB_ENTRIES, addr >> TLB_PAGE_SHIFT))
		add_count(vcpu, s, count_config->tlb_misses, level);
}

/* ---- generated code ---- */

/**
 * count_gen_start() - instrument the start of a block
 * @b: the block; these are the first callbacks at its start
 */
void count_gen_start(const struct count_block *b)
{
	uintptr_t after = count_page_offset(plugin_api.tb_vaddr(b->tb)) |
			  b->level << AFTER_LEVEL_SHIFT;
	const unsigned int memory[] = {
		count_config->loads, count_config->stores, count_config->updates
	};

	if (live_has(word_kinds()) && !pmu_qemu_is_single())
		word_gen_near(b, word_of(b->level));
	if (count_follows)
		plugin_api.register_vcpu_tb_exec_cond_cb(b->tb, went_callback(), 0, PLUGIN_COND_NE,
							 not_taken_slot(), 0, (void *)after);

	/* Accesses come after the checks of their block, so check them in the next one. */
	for (size_t i = 0; i < ARRAY_SIZE(memory); i++)
		if (count_is_live(memory[i]))
			plugin_api.register_vcpu_tb_exec_cond_cb(b->tb, reached_in_block, 0,
								 PLUGIN_COND_LT,
								 slot_of(memory[i], b->level),
								 REACHED, NULL);
}

/**
 * count_gen_instructions() - have an instruction count itself and instructions before it
 * @insn: the instruction; it counts when it begins
 * @b: its block
 * @n: number of instructions
 * @is_branch: the instruction is a branch
 */
void count_gen_instructions(struct qemu_plugin_insn *insn, struct count_block *b, unsigned int n,
			    bool is_branch)
{
	uint64_t steps = n * ONE_INSTRUCTION + is_branch * ONE_BRANCH;

	if (!live_has(word_kinds()) || !steps)
		return;
	plugin_api.register_vcpu_insn_exec_inline_per_vcpu(insn, PLUGIN_ADD, word_of(b->level),
							   steps);
	b->counted |= word_kinds();
}

/**
 * count_gen_add() - have an instruction add to a count
 * @insn: the instruction; it adds when it begins
 * @b: its block
 * @kind: the kind, not one of count_gen_instructions()
 * @n: the number to add
 */
void count_gen_add(struct qemu_plugin_insn *insn, struct count_block *b, unsigned int kind,
		   unsigned int n)
{
	if (!count_is_live(kind) || !n)
		return;
	plugin_api.register_vcpu_insn_exec_inline_per_vcpu(insn, PLUGIN_ADD,
							   slot_of(kind, b->level), n);
	b->counted |= bit_of(kind);
}

/**
 * count_gen_conditional() - instrument a conditional branch
 * @at: the branch, or an earlier instruction that the branch is certain to follow
 * @insn: the branch
 * @b: its block, which the branch ends
 * @distance: bytes from the next instruction to the branch's target
 *
 * A branch to the instruction after it counts as not taken.
 */
void count_gen_conditional(struct qemu_plugin_insn *at, struct qemu_plugin_insn *insn,
			   const struct count_block *b, int64_t distance)
{
	uint64_t next = plugin_api.insn_vaddr(insn) + plugin_api.insn_size(insn);
	uint64_t not_taken = PENDING | count_page_offset(next);

	if (!count_follows)
		return;
	if (distance && !count_page_offset(distance)) {
		uintptr_t length = next - plugin_api.tb_vaddr(b->tb);

		not_taken |= TWINS;
		plugin_api.register_vcpu_tb_exec_cb(b->tb, remember_next, 0, (void *)length);
	}
	plugin_api.register_vcpu_insn_exec_inline_per_vcpu(at, PLUGIN_STORE,
							   not_taken_slot(), not_taken);
}

/**
 * count_gen_memory() - instrument an instruction that may access memory
 * @insn: the instruction
 * @b: its block
 * @is_update: the instruction reads, modifies and writes one operand in memory
 */
void count_gen_memory(struct qemu_plugin_insn *insn, const struct count_block *b, bool is_update)
{
	unsigned int loads = count_config->loads, stores = count_config->stores;
	unsigned int updates = count_config->updates;

	if (count_is_live(loads))
		plugin_api.register_vcpu_mem_inline_per_vcpu(insn, PLUGIN_READ, PLUGIN_ADD,
							     slot_of(loads, b->level), 1);
	if (count_is_live(stores))
		plugin_api.register_vcpu_mem_inline_per_vcpu(insn, PLUGIN_WRITE, PLUGIN_ADD,
							     slot_of(stores, b->level), 1);
	if (is_update && count_is_live(updates))
		plugin_api.register_vcpu_mem_inline_per_vcpu(insn, PLUGIN_WRITE, PLUGIN_ADD,
							     slot_of(updates, b->level), 1);
	if (count_is_live(count_config->cache_refs) || count_is_live(count_config->cache_misses) ||
	    count_is_live(count_config->load_misses) || count_is_live(count_config->tlb_misses))
		plugin_api.register_vcpu_mem_cb(insn, access_memory, 0, PLUGIN_READ_WRITE,
						NULL);
}

/**
 * count_gen_checks() - check the counts that a block adds to
 * @last: the instruction that adds last
 * @b: the block
 * @continues: the block is certain to end at its level. Then the next block checks the word, or
 *	count_check() does at an exception or interrupt before that block
 */
void count_gen_checks(struct qemu_plugin_insn *last, const struct count_block *b, bool continues)
{
	uint32_t counted = b->counted & ~word_kinds();

	if (b->counted & word_kinds() && (!continues || pmu_qemu_is_single()))
		plugin_api.register_vcpu_insn_exec_cond_cb(last, word_reached_in_block, 0,
							   PLUGIN_COND_GE, word_of(b->level),
							   WORD_BEFORE(0),
							   (void *)(uintptr_t)b->level);
	for (unsigned int kind = 0; kind < count_config->kinds; kind++)
		if (counted & bit_of(kind))
			plugin_api.register_vcpu_insn_exec_cond_cb(last, reached_in_block, 0,
								   PLUGIN_COND_LT,
								   slot_of(kind, b->level),
								   REACHED, NULL);
}

/* ---- initialization ---- */

/* Find all scores: they may move when a vCPU is added. No vCPU executes code meanwhile. */
static void find_scores(void)
{
	for (unsigned int i = 0; i < PMU_VCPUS_MAX; i++)
		if (countings[i])
			countings[i]->score = plugin_api.scoreboard_find(scores, i);
}

static void changed(void)
{
	find_scores();
	count_follows = live_has(result_kinds());
	if (count_config->changed)
		count_config->changed();
}

/**
 * count_init() - prepare for counting
 * @c: the configuration; must stay valid
 */
void count_init(struct count_config *c)
{
	count_config = c;
	c->live.needs = needs;
	c->live.changed = changed;
	live_init(&c->live);
	scores = plugin_api.scoreboard_new(sizeof(struct score));
}

/**
 * count_vcpu_init() - prepare for counting a vCPU
 * @vcpu: its index
 */
void count_vcpu_init(unsigned int vcpu)
{
	countings[vcpu] = calloc(1, sizeof(*countings[vcpu]));
	if (!countings[vcpu])
		abort();
	find_scores();
	countings[vcpu]->predictor.entry[COUNT_PREDICTOR_ENTRIES] = COUNT_PREDICTOR_TAKEN;
	for (size_t i = 0; i < CACHE_LINES; i++)
		countings[vcpu]->cache[i] = NOWHERE;
	for (size_t i = 0; i < TLB_ENTRIES; i++)
		countings[vcpu]->tlb[i] = NOWHERE;
}
