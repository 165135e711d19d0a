// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counting what vCPUs do.
 *
 * For each kind and ring, a vCPU has a slot of 64 bits that generated code adds
 * to. The slot does not start at 0, but at minus the distance to the next
 * overflow: when the last instruction of a block begins and the slot is not
 * negative any more, the PMU is told. How far a slot is from the count proper is
 * its origin.
 *
 * What nobody has asked for is not instrumented. When a counter is enabled that
 * counts something new, all translated code is thrown away; that happens before
 * the vCPU goes on to the block after its WRMSR.
 *
 * An instruction is counted when it begins. One that faults has then not retired
 * and will begin again, so it is taken back. The generated code leaves behind
 * what is needed to know what to take back.
 */
#include <stdlib.h>

#include "x86-pmu-count.h"
#include "x86-pmu-decode.h"

/* A slot below this has reached what it was set to watch for. */
#define REACHED		(UINT64_C(1) << 61)

#define VECTOR_DB	1

/* In score.branch: the class of the branch, above its address */
#define BRANCH_CLASS_SHIFT	58
#define BRANCH_ADDRESS		((UINT64_C(1) << BRANCH_CLASS_SHIFT) - 1)

#define PREDICTOR_ENTRIES	1024
#define PREDICTOR_TAKEN		2	/* of 0 to 3, from here on */
#define PREDICTOR_MAX		3

#define CACHE_LINE_SHIFT	6
#define CACHE_LINES		1024

/**
 * struct score - what generated code writes, one for each vCPU
 * @slot: see above
 * @repeated: the repeated string instruction executed last, if nothing came after
 * @branch: the last branch that could have faulted, and its class
 * @software_int: the last INT n or INT3
 * @not_taken: where the conditional branch executed last goes if it is not
 *	taken, 0 if this has been looked at
 */
struct score {
	x86_pmu_counts slot;
	uint64_t repeated;
	uint64_t branch;
	uint64_t software_int;
	uint64_t not_taken;
};

/**
 * struct counting - what else there is to know of a vCPU
 * @origin: count less slot
 * @wanted: kinds this vCPU waits for
 * @predictor: two-bit counters of conditional branches
 * @cache: which line is in which place of the direct-mapped cache
 */
struct counting {
	x86_pmu_counts origin;
	uint32_t wanted;
	uint8_t predictor[PREDICTOR_ENTRIES];
	uint64_t cache[CACHE_LINES];
};

unsigned int count_instrumentations;

static struct qemu_plugin_scoreboard *scores;
static struct counting *countings[X86_QEMU_VCPUS_MAX];

static void (*reached)(unsigned int vcpu);
static void (*at_exit)(void);

/*
 * The kinds that generated code counts, and those it will after the next time
 * the guest is instrumented. They change only while all vCPUs are stopped.
 */
static uint32_t live;
static uint32_t live_next;

#define LIVE(kind)	(live & X86_PMU_KIND_BIT(X86_PMU_##kind))

static struct score *score_of(unsigned int vcpu)
{
	return plugin_api.scoreboard_find(scores, vcpu);
}

static struct plugin_slot slot_of(enum x86_pmu_kind kind, enum x86_pmu_ring ring)
{
	return (struct plugin_slot) {
		.score = scores,
		.offset = offsetof(struct score, slot) +
			  (kind * X86_PMU_RINGS + ring) * sizeof(uint64_t),
	};
}

#define FIELD(name) ((struct plugin_slot) { scores, offsetof(struct score, name) })

/* ---- for the PMU ---- */

void count_read(unsigned int vcpu, x86_pmu_counts counts)
{
	const struct counting *c = countings[vcpu];
	const struct score *s = score_of(vcpu);
	int kind, ring;

	for (kind = 0; kind < X86_PMU_KINDS; kind++)
		for (ring = 0; ring < X86_PMU_RINGS; ring++)
			counts[kind][ring] = s->slot[kind][ring] + c->origin[kind][ring];
}

void count_watch(unsigned int vcpu, x86_pmu_counts distance)
{
	struct counting *c = countings[vcpu];
	struct score *s = score_of(vcpu);
	int kind, ring;

	for (kind = 0; kind < X86_PMU_KINDS; kind++) {
		for (ring = 0; ring < X86_PMU_RINGS; ring++) {
			uint64_t now = s->slot[kind][ring] + c->origin[kind][ring];

			s->slot[kind][ring] = -distance[kind][ring];
			c->origin[kind][ring] = now + distance[kind][ring];
		}
	}
}

static void translate(struct qemu_plugin_tb *tb);

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

	if (!(c->wanted & ~live))
		return;
	if (live_next == live) {
		live_next |= c->wanted;
		x86_qemu_instrument(translate, instrumented, at_exit);
	}
	x86_qemu_exclusive_work(vcpu, instrument_for);
}

void count_need(unsigned int vcpu, uint32_t kinds)
{
	struct counting *c = countings[vcpu];

	if (!(kinds & ~(live | c->wanted)))
		return;
	c->wanted |= kinds;
	x86_qemu_exclusive_work(vcpu, instrument_for);
}

/* ---- counting here rather than in generated code ---- */

static void add(unsigned int vcpu, enum x86_pmu_kind kind, enum x86_pmu_ring ring)
{
	struct score *s = score_of(vcpu);

	if (!(live & X86_PMU_KIND_BIT(kind)))
		return;
	if (++s->slot[kind][ring] < REACHED)
		reached(vcpu);
}

static void take_back(struct score *s, enum x86_pmu_kind kind, enum x86_pmu_ring ring)
{
	if (live & X86_PMU_KIND_BIT(kind))
		s->slot[kind][ring]--;
}

static void reached_in_block(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	reached(vcpu);
}

/* ---- conditional branches ---- */

/* Where a conditional branch went is known when the next block begins. */
static void branch_went(unsigned int vcpu, uint64_t target, enum x86_pmu_ring ring)
{
	struct score *s = score_of(vcpu);
	uint8_t *p = &countings[vcpu]->predictor[s->not_taken % PREDICTOR_ENTRIES];
	bool taken = s->not_taken != target;
	bool predicted = *p >= PREDICTOR_TAKEN;

	if (taken && *p < PREDICTOR_MAX)
		(*p)++;
	else if (!taken && *p)
		(*p)--;
	s->not_taken = 0;

	add(vcpu, taken ? X86_PMU_TAKEN : X86_PMU_NOT_TAKEN, ring);
	if (taken != predicted)
		add(vcpu, X86_PMU_MISPREDICTED, ring);
}

static void branch_went_user(unsigned int vcpu, void *target)
{
	branch_went(vcpu, (uintptr_t)target, X86_PMU_USER);
}

static void branch_went_kernel(unsigned int vcpu, void *target)
{
	branch_went(vcpu, (uintptr_t)target, X86_PMU_KERNEL);
}

static bool follows_branches(void)
{
	return LIVE(TAKEN) || LIVE(NOT_TAKEN) || LIVE(MISPREDICTED);
}

/* ---- the cache ---- */

static void access_memory(unsigned int vcpu, uint64_t addr, enum x86_pmu_ring ring)
{
	uint64_t line = addr >> CACHE_LINE_SHIFT;
	uint64_t *place = &countings[vcpu]->cache[line % CACHE_LINES];
	bool miss = *place != line;

	*place = line;
	add(vcpu, X86_PMU_CACHE_REFS, ring);
	if (miss)
		add(vcpu, X86_PMU_CACHE_MISSES, ring);
}

static void access_user(unsigned int vcpu, uint32_t info, uint64_t addr, void *userdata)
{
	(void)info;
	(void)userdata;
	access_memory(vcpu, addr, X86_PMU_USER);
}

static void access_kernel(unsigned int vcpu, uint32_t info, uint64_t addr, void *userdata)
{
	(void)info;
	(void)userdata;
	access_memory(vcpu, addr, X86_PMU_KERNEL);
}

/* ---- exceptions and interrupts ---- */

static void take_back_instruction(struct score *s, uint64_t pc, enum x86_pmu_ring ring)
{
	unsigned int class = 0;

	if ((s->branch & BRANCH_ADDRESS) == (pc & BRANCH_ADDRESS))
		class = s->branch >> BRANCH_CLASS_SHIFT;

	take_back(s, X86_PMU_INSTRUCTIONS, ring);
	take_back(s, X86_PMU_CYCLES, ring);
	if (s->repeated == pc)
		s->repeated = 0;
	if (!(class & X86_INSN_BRANCH))
		return;
	take_back(s, X86_PMU_CYCLES, ring);
	take_back(s, X86_PMU_BRANCHES, ring);
	if (class & X86_INSN_FAR)
		take_back(s, X86_PMU_FAR, ring);
	else
		take_back(s, X86_PMU_TAKEN, ring);
	if (class & X86_INSN_CALL)
		take_back(s, X86_PMU_CALLS, ring);
	if (class & X86_INSN_RETURN)
		take_back(s, X86_PMU_RETURNS, ring);
}

/**
 * count_exception() - an exception is about to be taken
 * @vcpu: where
 * @vector: its number
 * @pc: the instruction that did not complete, or the one to come
 * @in_fetch: the instruction could not be read, so it has not begun
 * @nested: it comes from delivering another, no instruction is at fault
 */
void count_exception(unsigned int vcpu, int vector, uint64_t pc, bool in_fetch, bool nested)
{
	enum x86_pmu_ring ring = x86_qemu_ring(vcpu);
	struct score *s = score_of(vcpu);

	if (!live)
		return;
	if (s->not_taken)
		branch_went(vcpu, pc, ring);
	/* INT n and INT3 have retired; they are no exceptions here. */
	if (s->software_int && s->software_int == pc) {
		s->software_int = 0;
		return;
	}
	if (!in_fetch && !nested && vector != VECTOR_DB)
		take_back_instruction(s, pc, ring);
	add(vcpu, X86_PMU_EXCEPTIONS, ring);
}

/**
 * count_interrupt() - an interrupt is about to be taken
 * @vcpu: where
 * @pc: the instruction to come
 */
void count_interrupt(unsigned int vcpu, uint64_t pc)
{
	enum x86_pmu_ring ring = x86_qemu_ring(vcpu);
	struct score *s = score_of(vcpu);

	if (!live)
		return;
	if (s->not_taken)
		branch_went(vcpu, pc, ring);
	/* A repeated instruction that is interrupted has not retired. */
	if (s->repeated && s->repeated == pc)
		take_back_instruction(s, pc, ring);
}

void count_interrupted(unsigned int vcpu, enum x86_pmu_ring ring)
{
	add(vcpu, X86_PMU_INTERRUPTS, ring);
}

/* ---- repeated string instructions ---- */

/*
 * QEMU jumps back to such an instruction after some of its iterations; the rest
 * is still the same instruction.
 */
static void repeated(unsigned int vcpu, enum x86_pmu_ring ring)
{
	add(vcpu, X86_PMU_INSTRUCTIONS, ring);
	add(vcpu, X86_PMU_CYCLES, ring);
}

static void repeated_user(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	repeated(vcpu, X86_PMU_USER);
}

static void repeated_kernel(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	repeated(vcpu, X86_PMU_KERNEL);
}

/* ---- generated code ---- */

/**
 * struct block - the block being instrumented
 * @ring: its ring
 * @counted: kinds that it adds to
 * @instructions: how many have not been added yet
 */
struct block {
	enum x86_pmu_ring ring;
	uint32_t counted;
	unsigned int instructions;
};

static void gen_add(struct qemu_plugin_insn *insn, struct block *b, enum x86_pmu_kind kind,
		    unsigned int n)
{
	if (!(live & X86_PMU_KIND_BIT(kind)) || !n)
		return;
	plugin_api.register_vcpu_insn_exec_inline_per_vcpu(insn, PLUGIN_ADD,
							   slot_of(kind, b->ring), n);
	b->counted |= X86_PMU_KIND_BIT(kind);
}

static void gen_store(struct qemu_plugin_insn *insn, struct plugin_slot slot, uint64_t value)
{
	plugin_api.register_vcpu_insn_exec_inline_per_vcpu(insn, PLUGIN_STORE, slot, value);
}

static void gen_branch(struct qemu_plugin_insn *insn, struct block *b, unsigned int class)
{
	uint64_t pc = plugin_api.insn_vaddr(insn);

	gen_add(insn, b, X86_PMU_CYCLES, 1);
	gen_add(insn, b, X86_PMU_BRANCHES, 1);
	if (class & X86_INSN_CONDITIONAL) {
		gen_add(insn, b, X86_PMU_CONDITIONAL, 1);
		if (follows_branches())
			gen_store(insn, FIELD(not_taken), pc + plugin_api.insn_size(insn));
	} else if (class & X86_INSN_FAR) {
		gen_add(insn, b, X86_PMU_FAR, 1);
	} else {
		gen_add(insn, b, X86_PMU_TAKEN, 1);
	}
	if (class & X86_INSN_CALL)
		gen_add(insn, b, X86_PMU_CALLS, 1);
	if (class & X86_INSN_RETURN)
		gen_add(insn, b, X86_PMU_RETURNS, 1);
	if (class & X86_INSN_FAULTING)
		gen_store(insn, FIELD(branch), (pc & BRANCH_ADDRESS) |
			  (uint64_t)(class & X86_INSN_BRANCH_BITS) << BRANCH_CLASS_SHIFT);
	if (class & X86_INSN_SOFTWARE_INT)
		gen_store(insn, FIELD(software_int), pc);
}

static void gen_memory(struct qemu_plugin_insn *insn, const struct block *b)
{
	if (LIVE(LOADS))
		plugin_api.register_vcpu_mem_inline_per_vcpu(insn, PLUGIN_READ, PLUGIN_ADD,
							     slot_of(X86_PMU_LOADS, b->ring),
							     1);
	if (LIVE(STORES))
		plugin_api.register_vcpu_mem_inline_per_vcpu(insn, PLUGIN_WRITE, PLUGIN_ADD,
							     slot_of(X86_PMU_STORES, b->ring),
							     1);
	if (LIVE(CACHE_REFS) || LIVE(CACHE_MISSES))
		plugin_api.register_vcpu_mem_cb(insn,
						b->ring == X86_PMU_USER ? access_user :
									  access_kernel,
						0, PLUGIN_READ_WRITE, NULL);
}

/* Only the first instruction of a block can be one that is continued. */
static void gen_repeated(struct qemu_plugin_insn *insn, struct block *b, bool first)
{
	uint64_t pc = plugin_api.insn_vaddr(insn);

	if (first) {
		plugin_api.register_vcpu_insn_exec_cond_cb(insn, b->ring == X86_PMU_USER ?
							   repeated_user : repeated_kernel,
							   0, PLUGIN_COND_NE, FIELD(repeated),
							   pc, NULL);
		b->instructions = 0;
	}
	gen_store(insn, FIELD(repeated), pc);
}

/* Tell the PMU if the block has gone far enough. */
static void gen_checks(struct qemu_plugin_insn *last, const struct block *b)
{
	int kind;

	for (kind = 0; kind < X86_PMU_KINDS; kind++)
		if (b->counted & X86_PMU_KIND_BIT(kind))
			plugin_api.register_vcpu_insn_exec_cond_cb(last, reached_in_block, 0,
								   PLUGIN_COND_LT,
								   slot_of(kind, b->ring),
								   REACHED, NULL);
}

static void gen_start(struct qemu_plugin_tb *tb, const struct block *b, bool repeated)
{
	static const enum x86_pmu_kind memory[] = { X86_PMU_LOADS, X86_PMU_STORES };
	size_t i;

	if (!repeated)
		plugin_api.register_vcpu_tb_exec_inline_per_vcpu(tb, PLUGIN_STORE,
								 FIELD(repeated), 0);
	if (follows_branches())
		plugin_api.register_vcpu_tb_exec_cond_cb(tb, b->ring == X86_PMU_USER ?
							 branch_went_user : branch_went_kernel,
							 0, PLUGIN_COND_NE, FIELD(not_taken),
							 0, (void *)plugin_api.tb_vaddr(tb));

	/* Accesses come after the checks of their own block. */
	for (i = 0; i < ARRAY_SIZE(memory); i++)
		if (live & X86_PMU_KIND_BIT(memory[i]))
			plugin_api.register_vcpu_tb_exec_cond_cb(tb, reached_in_block, 0,
								 PLUGIN_COND_LT,
								 slot_of(memory[i], b->ring),
								 REACHED, NULL);
}

static unsigned int class_of(const struct qemu_plugin_insn *insn)
{
	uint8_t bytes[16];

	return x86_insn_class(bytes, plugin_api.insn_data(insn, bytes, sizeof(bytes)));
}

/*
 * Instructions that cannot leave the block are added together with the next one
 * that can, which makes no difference that anybody could see.
 */
static void translate(struct qemu_plugin_tb *tb)
{
	struct block b = { .ring = x86_qemu_translating_ring() };
	size_t n = plugin_api.tb_n_insns(tb);
	size_t i;

	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = plugin_api.tb_get_insn(tb, i);
		unsigned int class = class_of(insn);

		if (!i)
			gen_start(tb, &b, class & X86_INSN_REPEATED);
		b.instructions++;
		if (class & X86_INSN_SIMPLE && i < n - 1)
			continue;

		if (class & X86_INSN_REPEATED)
			gen_repeated(insn, &b, !i);
		gen_add(insn, &b, X86_PMU_INSTRUCTIONS, b.instructions);
		gen_add(insn, &b, X86_PMU_CYCLES, b.instructions);
		b.instructions = 0;
		if (class & X86_INSN_BRANCH)
			gen_branch(insn, &b, class);
		if (!(class & X86_INSN_SIMPLE))
			gen_memory(insn, &b);
		if (i == n - 1)
			gen_checks(insn, &b);
	}
}

/* ---- beginning ---- */

/**
 * count_init() - prepare for counting
 * @on_reached: called when a vCPU has done what was watched for
 * @on_exit: called when QEMU exits
 */
void count_init(void (*on_reached)(unsigned int vcpu), void (*on_exit)(void))
{
	reached = on_reached;
	at_exit = on_exit;
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
		countings[vcpu]->cache[i] = UINT64_MAX;
}
