// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Telling the PMU of each branch that an x86 vCPU takes.
 *
 * A branch ends its block. When it begins, generated code leaves behind how far into the
 * block it is; where it went is seen at the head of the next block. The address of a block is
 * read from the CPU, not known from translation: QEMU's blocks belong to physical memory
 * (CF_PCREL in its sources) and run at all addresses that is mapped at.
 *
 * Blocks of a ring whose branches nobody wants do not call back, except those that may leave
 * the ring: they end with a far branch, whose own address is wanted if it ends in the other.
 * Exceptions and interrupts are told by QEMU's functions that deliver them.
 */
#include "pmu/count.h"
#include "x86/cpu/branch.h"
#include "x86/cpu/decode.h"
#include "x86/qemu.h"

#define VECTOR_DB	1

/* In score.pending */
#define PENDING			(UINT64_C(1) << 63)
#define PENDING_OFFSET		UINT64_C(0xffff)	/* from the head of its block */
#define PENDING_LENGTH_SHIFT	16
#define PENDING_LENGTH		UINT64_C(0xff)
#define PENDING_CLASS_SHIFT	24
#define PENDING_CLASS		UINT64_C(0xff)
#define PENDING_RING_SHIFT	32
#define PENDING_RING		UINT64_C(1)

/**
 * struct score - what generated code reads and writes, one for each vCPU
 * @heads: the heads of blocks in this ring call back
 * @any: those of some ring do
 * @pending: the branch that was begun last, 0 if it has been looked at
 */
struct score {
	uint64_t heads[X86_PMU_RINGS];
	uint64_t any;
	uint64_t pending;
};

/**
 * struct trail - what else there is to know of a vCPU
 * @score: its score, which does not move once all CPUs are there, and they are when software
 *	turns records on; NULL before
 * @block: where the block begins that has called back last
 * @ending: the branch that is pending is the last one to be told
 * @cycles: where its cycles are
 */
static struct trail {
	struct score *score;
	uint64_t block;
	bool ending;
	struct count_cells cycles;
} trails[PMU_VCPUS_MAX];

static struct qemu_plugin_scoreboard *scores;
static void (*report)(unsigned int vcpu, const struct x86_lbr_branch *branch);

#define FIELD(name) ((struct plugin_slot) { scores, offsetof(struct score, name) })

static enum x86_lbr_type type_of(unsigned int class)
{
	bool indirect = class & X86_INSN_INDIRECT;

	if (class & X86_INSN_CONDITIONAL)
		return X86_LBR_CONDITIONAL;
	if (class & X86_INSN_FAR)
		return X86_LBR_OTHER;
	if (class & X86_INSN_CALL)
		return indirect ? X86_LBR_INDIRECT_CALL : X86_LBR_CALL;
	if (class & X86_INSN_RETURN)
		return X86_LBR_RETURN;
	return indirect ? X86_LBR_INDIRECT_JUMP : X86_LBR_JUMP;
}

static unsigned int class_of(uint64_t pending)
{
	return pending >> PENDING_CLASS_SHIFT & PENDING_CLASS;
}

/* Did the block of a branch call back at its head? Only then its address is known. */
static bool is_known(const struct score *s, uint64_t pending)
{
	return pending && (class_of(pending) & X86_INSN_FAR ||
			   s->heads[pending >> PENDING_RING_SHIFT & PENDING_RING]);
}

static uint64_t address_of(const struct trail *t, uint64_t pending)
{
	return t->block + (pending & PENDING_OFFSET);
}

static void set_heads(struct score *s, bool kernel, bool user)
{
	s->heads[X86_PMU_KERNEL] = kernel;
	s->heads[X86_PMU_USER] = user;
	s->any = kernel || user;
}

static void tell(unsigned int vcpu, const struct trail *t, uint64_t pending, uint64_t to)
{
	unsigned int class = class_of(pending);
	uint64_t from = address_of(t, pending);
	uint64_t next = from + (pending >> PENDING_LENGTH_SHIFT & PENDING_LENGTH);
	struct x86_lbr_branch b = { .from = from, .to = to, .next = to == next };

	/*
	 * QEMU has begun the branch anew without an exception: where it wrote to the page of
	 * its own code, or accessed a device.
	 */
	if (class & X86_INSN_FAULTING && to == from)
		return;
	if (class & X86_INSN_CONDITIONAL) {
		b.mispredicted = count_mispredicted(vcpu, next, !b.next);
		if (b.next)
			return;
	}
	b.type = type_of(class);
	b.kernel = x86_qemu_ring(vcpu) == X86_PMU_KERNEL;
	b.cycles = count_sum(&t->cycles, X86_PMU_RINGS);
	report(vcpu, &b);
}

static void end(struct trail *t)
{
	t->ending = false;
	set_heads(t->score, false, false);
}

/* The branch that is pending, if any, has gone there. */
static void went(unsigned int vcpu, uint64_t to)
{
	struct trail *t = &trails[vcpu];
	struct score *s = t->score;
	uint64_t pending = s->pending;

	if (!pending)
		return;
	s->pending = 0;
	if (is_known(s, pending))
		tell(vcpu, t, pending, to);
	if (t->ending)
		end(t);
}

static void block_begins(unsigned int vcpu, void *userdata)
{
	uint64_t pc = x86_qemu_pc(vcpu);

	(void)userdata;
	went(vcpu, pc);
	trails[vcpu].block = pc;
}

static bool is_recording(unsigned int vcpu)
{
	return trails[vcpu].score && trails[vcpu].score->any;
}

/* ---- for the PMU ---- */

/**
 * x86_branch_record() - which branches to tell the PMU of from now on
 * @vcpu: whose; in its thread
 * @rings: those that end in these rings, a bit each; if none, the branch that is being
 *	executed is the last one
 *
 * Return: the cycles of the vCPU so far.
 */
uint64_t x86_branch_record(unsigned int vcpu, unsigned int rings)
{
	struct score *s = plugin_api.scoreboard_find(scores, vcpu);
	struct trail *t = &trails[vcpu];

	t->score = s;
	t->cycles = count_cells(vcpu, X86_PMU_CYCLES);
	count_used(vcpu);
	if (!rings && s->any && is_known(s, s->pending)) {
		/* Whatever comes next has to call back. */
		t->ending = true;
		set_heads(s, true, true);
	} else {
		t->ending = false;
		s->pending = 0;
		set_heads(s, rings & 1 << X86_PMU_KERNEL, rings & 1 << X86_PMU_USER);
	}
	return count_sum(&t->cycles, X86_PMU_RINGS);
}

static bool nobody_records(void)
{
	unsigned int i;

	for (i = 0; i < PMU_VCPUS_MAX; i++)
		if (is_recording(i))
			return false;
	return true;
}

/* ---- exceptions and interrupts ---- */

/**
 * x86_branch_exception() - an exception is about to be taken
 * @vcpu: where
 * @vector: its number
 * @pc: the instruction that did not complete, or the one to come
 * @in_fetch: the instruction could not be read, so it has not begun
 *
 * A branch that has faulted was not taken. INT n is in the same place: it is told when it has
 * been delivered.
 */
void x86_branch_exception(unsigned int vcpu, int vector, uint64_t pc, bool in_fetch)
{
	struct trail *t = &trails[vcpu];

	if (!is_recording(vcpu))
		return;
	if (!in_fetch && vector != VECTOR_DB && is_known(t->score, t->score->pending) &&
	    address_of(t, t->score->pending) == pc)
		t->score->pending = 0;
	else
		went(vcpu, pc);
}

/**
 * x86_branch_interrupt() - an interrupt is about to be taken
 * @vcpu: where
 * @pc: the instruction to come
 */
void x86_branch_interrupt(unsigned int vcpu, uint64_t pc)
{
	if (is_recording(vcpu))
		went(vcpu, pc);
	else
		count_unused(vcpu, X86_PMU_RECORDS, nobody_records);
}

/**
 * x86_branch_delivered() - an exception or interrupt has been taken
 * @vcpu: where
 * @from: the instruction that was interrupted
 * @to: its handler
 */
void x86_branch_delivered(unsigned int vcpu, uint64_t from, uint64_t to)
{
	struct x86_lbr_branch b;

	if (!is_recording(vcpu))
		return;
	b = (struct x86_lbr_branch) {
		.from = from, .to = to, .type = X86_LBR_OTHER,
		.kernel = x86_qemu_ring(vcpu) == X86_PMU_KERNEL,
		.cycles = count_sum(&trails[vcpu].cycles, X86_PMU_RINGS),
	};
	report(vcpu, &b);
	if (trails[vcpu].ending)
		end(&trails[vcpu]);
}

/* ---- generated code ---- */

/**
 * x86_branch_gen_start() - a block begins
 * @tb: the block
 * @ring: its ring
 * @class: the class of its last instruction
 */
void x86_branch_gen_start(struct qemu_plugin_tb *tb, enum x86_pmu_ring ring,
			  unsigned int class)
{
	struct plugin_slot slot = FIELD(heads);

	if (!count_is_live(X86_PMU_RECORDS))
		return;
	slot.offset += ring * sizeof(uint64_t);
	if (class & X86_INSN_FAR)
		slot = FIELD(any);
	plugin_api.register_vcpu_tb_exec_cond_cb(tb, block_begins, 0, PLUGIN_COND_NE, slot, 0,
						 NULL);
}

/**
 * x86_branch_gen() - an instruction is a branch
 * @tb: its block
 * @insn: the instruction
 * @ring: its ring
 * @class: its class
 */
void x86_branch_gen(struct qemu_plugin_tb *tb, struct qemu_plugin_insn *insn,
		    enum x86_pmu_ring ring, unsigned int class)
{
	uint64_t offset = plugin_api.insn_vaddr(insn) - plugin_api.tb_vaddr(tb);
	uint64_t pending = PENDING | offset |
			   (uint64_t)plugin_api.insn_size(insn) << PENDING_LENGTH_SHIFT |
			   (class & PENDING_CLASS) << PENDING_CLASS_SHIFT |
			   (uint64_t)ring << PENDING_RING_SHIFT;

	if (count_is_live(X86_PMU_RECORDS))
		plugin_api.register_vcpu_insn_exec_inline_per_vcpu(insn, PLUGIN_STORE,
								   FIELD(pending), pending);
}

/**
 * x86_branch_init() - prepare for telling branches
 * @taken: called for each
 */
void x86_branch_init(void (*taken)(unsigned int vcpu, const struct x86_lbr_branch *branch))
{
	report = taken;
	scores = plugin_api.scoreboard_new(sizeof(struct score));
}
