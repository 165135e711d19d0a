// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Count what x86 vCPUs do: the part that pmu/count.c does not have.
 *
 * Generated code counts an instruction when it begins. An instruction that faults has not retired
 * and will begin again, so its counts are taken back. Generated code stores the class of the
 * instruction for that.
 */
#include "pmu/count.h"
#include "x86/cpu/branch.h"
#include "x86/cpu/count.h"
#include "x86/cpu/decode.h"
#include "x86/registers/model.h"
#include "x86/qemu.h"
#include "x86/cpu/step.h"

#define VECTOR_DB	1

/* score.last has the class of the instruction above its offset in the page */
#define LAST_CLASS_SHIFT	COUNT_PAGE_SHIFT

/**
 * struct score - the fields of a vCPU that generated code writes
 * @last: the repeated string instruction, or the branch that may fault, that began last. 0 if a
 *	block has begun since: both kinds of instructions end their block.
 * @unused: see PMU_SCORE_SIZE()
 */
struct score {
	uint64_t last;
	uint64_t unused[15];
};

PMU_SCORE_SIZE(struct score);

static struct qemu_plugin_scoreboard *scores;

#define FIELD(name) ((struct plugin_slot) { scores, offsetof(struct score, name) })

static struct score *score_of(unsigned int vcpu)
{
	return plugin_api.scoreboard_find(scores, vcpu);
}

/* ---- exceptions and interrupts ---- */

static uint64_t last_value(unsigned int class, uint64_t pc)
{
	return (uint64_t)class << LAST_CLASS_SHIFT | count_page_offset(pc);
}

/*
 * Return the class of the instruction at @pc if it is the one in score.last, and clear score.last.
 *
 * It is enough to compare page offsets. No block has begun since, so @pc is the address of that
 * instruction or of the next one. After a string instruction, the next one has another offset. The
 * target of a branch may have the same offset in another page. But then the fetch at @pc has
 * faulted, or an interrupt comes before it: neither takes a branch back.
 */
static unsigned int forget_last(unsigned int vcpu, uint64_t pc)
{
	struct score *s = score_of(vcpu);
	uint64_t last = s->last;

	s->last = 0;
	return count_page_offset(last) == count_page_offset(pc) ? last >> LAST_CLASS_SHIFT : 0;
}

static void take_back_instruction(unsigned int vcpu, unsigned int class, unsigned int ring)
{
	count_take_back(vcpu, X86_PMU_INSTRUCTIONS, ring);
	if (!(class & X86_INSN_BRANCH))
		return;
	count_take_back(vcpu, X86_PMU_BRANCHES, ring);
	if (class & X86_INSN_FAR)
		count_take_back(vcpu, X86_PMU_FAR, ring);
	else
		count_take_back(vcpu, X86_PMU_TAKEN, ring);
	if (class & X86_INSN_CALL)
		count_take_back(vcpu, X86_PMU_CALLS, ring);
	if (class & X86_INSN_RETURN)
		count_take_back(vcpu, X86_PMU_RETURNS, ring);
}

/**
 * x86_count_exception() - count an exception that is about to be taken
 * @vcpu: index of the vCPU
 * @vector: the exception's vector
 * @pc: address of the instruction that has not completed, or of the next one
 * @in_fetch: the fetch at @pc has faulted: the instruction has not begun
 * @nested: the delivery of another exception has caused this one, not an instruction
 *
 * Return: the state of the instruction at @pc, or of the one before it.
 */
enum x86_step_end x86_count_exception(unsigned int vcpu, int vector, uint64_t pc, bool in_fetch,
				      bool nested)
{
	unsigned int ring = x86_qemu_ring(vcpu);
	unsigned int class = forget_last(vcpu, pc);
	enum x86_step_end end = X86_STEP_RETIRED;

	count_branch_went(vcpu, pc);
	x86_branch_exception(vcpu, vector, pc, in_fetch);
	/* INT n and INT3 have retired, and do not count as exceptions. */
	if (class & X86_INSN_SOFTWARE_INT)
		return X86_STEP_RETIRED;
	if (!in_fetch && !nested && vector != VECTOR_DB) {
		take_back_instruction(vcpu, class, ring);
		end = class & X86_INSN_REPEATED ? X86_STEP_UNFINISHED : X86_STEP_FAULTED;
	}
	/* An SVM intercept: the guest has not executed the instruction, and takes no exception. */
	if (vector != X86_QEMU_VMEXIT)
		count_add(vcpu, X86_PMU_EXCEPTIONS, ring);
	count_check(vcpu, ring);
	return end;
}

/**
 * x86_count_interrupt() - update the counts before an interrupt is taken
 * @vcpu: index of the vCPU
 * @pc: address of the next instruction
 *
 * Return: the state of the last instruction.
 */
enum x86_step_end x86_count_interrupt(unsigned int vcpu, uint64_t pc)
{
	unsigned int ring = x86_qemu_ring(vcpu);
	unsigned int class = forget_last(vcpu, pc);

	live_tick(vcpu);
	count_branch_went(vcpu, pc);
	x86_branch_interrupt(vcpu, pc);
	/* A repeated instruction that is interrupted has not retired. */
	if (class & X86_INSN_REPEATED)
		take_back_instruction(vcpu, class, ring);
	count_check(vcpu, ring);
	return class & X86_INSN_REPEATED ? X86_STEP_UNFINISHED : X86_STEP_RETIRED;
}

void x86_count_interrupted(unsigned int vcpu, enum x86_pmu_ring ring)
{
	count_add(vcpu, X86_PMU_INTERRUPTS, ring);
}

/* ---- repeated string instructions ---- */

/*
 * Count a repeated instruction when it begins. QEMU jumps back to the instruction after some of its
 * iterations; the caller does not call this function then.
 */
static void repeated(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	count_add(vcpu, X86_PMU_INSTRUCTIONS, x86_qemu_ring(vcpu));
}

/**
 * x86_count_is_unfinished() - check whether a block begins with the rest of a repeated instruction
 * @vcpu: index of the vCPU; called in its thread, at the start of the block
 * @pc: the address of the block
 */
bool x86_count_is_unfinished(unsigned int vcpu, uint64_t pc)
{
	return score_of(vcpu)->last == last_value(X86_INSN_REPEATED, pc);
}

/* ---- generated code ---- */

/* Buffer size for an instruction, which has at most 15 bytes */
#define INSN_BYTES	16

static size_t bytes_of(const struct qemu_plugin_insn *insn, uint8_t *bytes)
{
	return plugin_api.insn_data(insn, bytes, INSN_BYTES);
}

static int32_t distance_of(const struct qemu_plugin_insn *insn)
{
	uint8_t bytes[INSN_BYTES];

	return x86_insn_distance(bytes, bytes_of(insn, bytes));
}

static void gen_last(struct qemu_plugin_insn *insn, uint64_t last)
{
	plugin_api.register_vcpu_insn_exec_inline_per_vcpu(insn, PLUGIN_STORE, FIELD(last), last);
}

/* Instrument a branch. @at: the instruction that counts the branch when it begins */
static void gen_branch(struct qemu_plugin_insn *at, struct qemu_plugin_insn *insn,
		       struct count_block *b, unsigned int class)
{
	if (class & X86_INSN_CONDITIONAL) {
		count_gen_add(at, b, X86_PMU_CONDITIONAL, 1);
		count_gen_conditional(at, insn, b, distance_of(insn));
	} else if (class & X86_INSN_FAR) {
		count_gen_add(at, b, X86_PMU_FAR, 1);
	} else {
		count_gen_add(at, b, X86_PMU_TAKEN, 1);
	}
	if (class & X86_INSN_CALL)
		count_gen_add(at, b, X86_PMU_CALLS, 1);
	if (class & X86_INSN_RETURN)
		count_gen_add(at, b, X86_PMU_RETURNS, 1);
	x86_branch_gen(b->tb, at, insn, b->level, class);
	if (class & X86_INSN_FAULTING)
		gen_last(insn, last_value(class, plugin_api.insn_vaddr(insn)));
}

/* Only the first instruction of a block can be the rest of a repeated instruction. */
static void gen_repeated(struct qemu_plugin_insn *insn, bool first)
{
	uint64_t last = last_value(X86_INSN_REPEATED, plugin_api.insn_vaddr(insn));

	if (first)
		plugin_api.register_vcpu_insn_exec_cond_cb(insn, repeated, 0, PLUGIN_COND_NE,
							   FIELD(last), last, NULL);
	gen_last(insn, last);
}

static unsigned int class_of(const struct qemu_plugin_insn *insn)
{
	uint8_t bytes[INSN_BYTES];

	return x86_insn_class(bytes, bytes_of(insn, bytes));
}

/* Check whether an instruction that begins is certain to complete and not to leave its block. */
static bool is_certain(unsigned int class)
{
	return class & X86_INSN_SIMPLE || (class & X86_INSN_BRANCH && !(class & X86_INSN_FAULTING));
}

/* Check whether a block that ends with an instruction is certain to end in its own ring. */
static bool stays(unsigned int class)
{
	return class & X86_INSN_SIMPLE || (class & X86_INSN_BRANCH && !(class & X86_INSN_FAR));
}

/* Return the index of the block's tail: the instructions at the end that are certain to execute. */
static size_t tail_of(const struct qemu_plugin_tb *tb)
{
	size_t i = plugin_api.tb_n_insns(tb);

	while (i && is_certain(class_of(plugin_api.tb_get_insn(tb, i - 1))))
		i--;
	return i;
}

/*
 * Instrument a block. Instructions that cannot leave the block are counted together with the next
 * one that can; no read of a counter can see the difference. The tail is counted and checked when
 * its first instruction begins: between a comparison and its branch, code for the check would keep
 * QEMU from joining the two.
 */
static void instrument_block(struct qemu_plugin_tb *tb)
{
	struct count_block b = { .tb = tb, .level = x86_qemu_translating_ring() };
	size_t i, n = plugin_api.tb_n_insns(tb), tail = tail_of(tb);
	unsigned int pending = 0;

	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = plugin_api.tb_get_insn(tb, i), *at = insn;
		unsigned int class = class_of(insn);

		if (!i) {
			count_gen_start(&b);
			if (!(class & X86_INSN_REPEATED))
				plugin_api.register_vcpu_tb_exec_inline_per_vcpu(tb,
						PLUGIN_STORE, FIELD(last), 0);
			x86_branch_gen_start(tb, b.level,
					     class_of(plugin_api.tb_get_insn(tb, n - 1)));
			x86_step_gen_start(tb);
		}
		pending++;
		if (class & X86_INSN_SIMPLE && i < n - 1)
			continue;

		if (i >= tail)
			at = plugin_api.tb_get_insn(tb, tail);
		if (class & X86_INSN_REPEATED) {
			gen_repeated(insn, !i);
			/* repeated() counts this instruction. */
			if (!i)
				pending = 0;
		}
		count_gen_instructions(at, &b, pending, class & X86_INSN_BRANCH);
		pending = 0;
		if (class & X86_INSN_BRANCH)
			gen_branch(at, insn, &b, class);
		if (!(class & X86_INSN_SIMPLE))
			count_gen_memory(insn, &b, class & X86_INSN_UPDATE);
		x86_step_gen(insn, class);
		if (i == n - 1)
			count_gen_checks(at, &b, stays(class));
	}
}

/* ---- initialization ---- */

static const struct count_config count_config = {
	.live.translate	= instrument_block,
	.kinds		= X86_PMU_KINDS,
	.levels		= X86_PMU_RINGS,
	.instructions	= X86_PMU_INSTRUCTIONS,
	.branches	= X86_PMU_BRANCHES,
	.cycles		= X86_PMU_CYCLES,
	.taken		= X86_PMU_TAKEN,
	.not_taken	= X86_PMU_NOT_TAKEN,
	.mispredicted	= X86_PMU_MISPREDICTED,
	.cache_refs	= X86_PMU_CACHE_REFS,
	.cache_misses	= X86_PMU_CACHE_MISSES,
	.load_misses	= X86_PMU_LOAD_MISSES,
	.tlb_misses	= X86_PMU_NOTHING,
	.loads		= X86_PMU_LOADS,
	.stores		= X86_PMU_STORES,
	.updates	= X86_PMU_UPDATES,
	.level		= x86_qemu_ring,
	.pc		= x86_qemu_pc,
	.near		= x86_step_near,
	.changed	= x86_branch_flush_all,
};

/**
 * x86_count_init() - prepare for counting
 * @reached: see struct count_config
 * @needs: see struct count_config
 * @at_exit: called when QEMU exits
 */
void x86_count_init(void (*reached)(unsigned int vcpu), uint32_t (*needs)(unsigned int vcpu),
		    void (*at_exit)(void))
{
	static struct count_config config;

	config = count_config;
	config.reached = reached;
	config.needs = needs;
	config.live.at_exit = at_exit;
	count_init(&config);
	scores = plugin_api.scoreboard_new(sizeof(struct score));
}
