// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Report each branch that an x86 vCPU takes to the PMU.
 *
 * A branch ends its block. Generated code stores the branch's offset in the block when the branch
 * begins; the start of the next block shows the target. The address of a block is read from the
 * CPU, and is not known at translation: QEMU's blocks belong to physical memory (CF_PCREL in its
 * sources), and run at all virtual addresses that map it.
 *
 * If a ring's branches are not reported, its blocks do not call back. Blocks that end with a far
 * branch do: the branch may end in another ring, and then its address is needed. QEMU's functions
 * that deliver exceptions and interrupts report them.
 */
#include "pmu/count.h"
#include "x86/cpu/branch.h"
#include "x86/cpu/decode.h"
#include "x86/qemu.h"

#define VECTOR_DB	1

/* Fields of score.pending */
#define PENDING			(UINT64_C(1) << 63)
#define PENDING_OFFSET		UINT64_C(0xffff)	/* from the start of its block */
#define PENDING_LENGTH_SHIFT	16
#define PENDING_LENGTH		UINT64_C(0xff)
#define PENDING_CLASS_SHIFT	24
#define PENDING_CLASS		UINT64_C(0xff)
#define PENDING_RING_SHIFT	32
#define PENDING_RING		UINT64_C(3)

/**
 * struct score - the fields of a vCPU that generated code reads and writes
 * @heads: by ring: the starts of blocks in this ring call back
 * @any: the starts of blocks in any ring call back
 * @pending: the branch that began last, 0 once it is handled
 */
struct score {
	uint64_t heads[X86_PMU_RINGS];
	uint64_t any;
	uint64_t pending;
};

/**
 * struct trail - the fields of a vCPU that only C code uses
 * @score: the vCPU's score, NULL before software turns branch records on. All vCPUs exist then, so
 *	the score does not move
 * @pc: RIP
 * @block: address of the block that called back last
 * @ending: the pending branch is the last one to report
 * @clock: the vCPU's count of cycles
 */
static struct trail {
	struct score *score;
	const uint64_t *pc;
	uint64_t block;
	bool ending;
	struct count_clock clock;
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

/* Check whether the address of a branch is known: its block has called back at its start. */
static bool is_known(const struct score *s, uint64_t pending)
{
	return pending && (class_of(pending) & X86_INSN_FAR ||
			   s->heads[pending >> PENDING_RING_SHIFT & PENDING_RING]);
}

static uint64_t address_of(const struct trail *t, uint64_t pending)
{
	return t->block + (pending & PENDING_OFFSET);
}

static void set_heads(struct score *s, unsigned int rings)
{
	unsigned int ring;

	for (ring = 0; ring < X86_PMU_RINGS; ring++)
		s->heads[ring] = rings >> ring & 1;
	s->any = rings;
}

static void report_pending(unsigned int vcpu, const struct trail *t, uint64_t pending, uint64_t to,
			   enum x86_pmu_ring ring)
{
	unsigned int class = class_of(pending);
	uint64_t from = address_of(t, pending);
	uint64_t next = from + (pending >> PENDING_LENGTH_SHIFT & PENDING_LENGTH);
	struct x86_lbr_branch b = { .from = from, .to = to, .next = to == next };

	/*
	 * QEMU restarts the branch without an exception if the branch writes to the page of its
	 * own code, or accesses a device.
	 */
	if (class & X86_INSN_FAULTING && to == from)
		return;
	if (class & X86_INSN_CONDITIONAL) {
		b.mispredicted = count_mispredicted(vcpu, next, !b.next);
		if (b.next)
			return;
	}
	b.type = type_of(class);
	b.kernel = x86_pmu_is_kernel(ring);
	b.cycles = count_cycles(&t->clock, X86_PMU_RINGS);
	report(vcpu, &b);
}

static void end(struct trail *t)
{
	t->ending = false;
	set_heads(t->score, 0);
}

/* Report the pending branch, if any, with its target and the ring of the target. */
static void went(unsigned int vcpu, struct trail *t, uint64_t to, enum x86_pmu_ring ring)
{
	struct score *s = t->score;
	uint64_t pending = s->pending;

	if (!pending)
		return;
	s->pending = 0;
	if (is_known(s, pending))
		report_pending(vcpu, t, pending, to, ring);
	if (t->ending)
		end(t);
}

static void block_begins(unsigned int vcpu, void *ring)
{
	struct trail *t = &trails[vcpu];
	uint64_t pc = *t->pc;

	went(vcpu, t, pc, (uintptr_t)ring);
	t->block = pc;
}

static bool is_recording(unsigned int vcpu)
{
	return trails[vcpu].score && trails[vcpu].score->any;
}

/* ---- for the PMU ---- */

/**
 * x86_branch_record() - set the rings with reported branches
 * @vcpu: index of the vCPU; called in its thread
 * @rings: bitmap of the rings that a reported branch ends in; if 0, the branch being executed is
 *	the last one
 *
 * Return: the cycles of the vCPU so far.
 */
uint64_t x86_branch_record(unsigned int vcpu, unsigned int rings)
{
	struct score *s = plugin_api.scoreboard_find(scores, vcpu);
	struct trail *t = &trails[vcpu];

	t->score = s;
	t->pc = x86_qemu_pc_field(vcpu);
	t->clock = count_clock(vcpu);
	if (!rings && s->any && is_known(s, s->pending)) {
		/* The next block has to call back, in any ring. */
		t->ending = true;
		set_heads(s, X86_PMU_ALL_RINGS);
	} else {
		t->ending = false;
		s->pending = 0;
		set_heads(s, rings);
	}
	return count_cycles(&t->clock, X86_PMU_RINGS);
}

/* ---- exceptions and interrupts ---- */

/**
 * x86_branch_exception() - handle the pending branch before an exception is taken
 * @vcpu: index of the vCPU
 * @vector: the exception's vector
 * @pc: address of the instruction that has not completed, or of the next one
 * @in_fetch: the fetch at @pc has faulted: the instruction has not begun
 *
 * A branch that has faulted was not taken. For INT n the branch at @pc is dropped, too:
 * x86_branch_delivered() reports it.
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
		went(vcpu, t, pc, x86_qemu_ring(vcpu));
}

/**
 * x86_branch_interrupt() - report the pending branch before an interrupt is taken
 * @vcpu: index of the vCPU
 * @pc: address of the next instruction
 */
void x86_branch_interrupt(unsigned int vcpu, uint64_t pc)
{
	if (is_recording(vcpu))
		went(vcpu, &trails[vcpu], pc, x86_qemu_ring(vcpu));
}

/**
 * x86_branch_delivered() - report the branch to the handler of an exception or interrupt
 * @vcpu: index of the vCPU
 * @from: address of the interrupted instruction
 * @to: address of the handler
 */
void x86_branch_delivered(unsigned int vcpu, uint64_t from, uint64_t to)
{
	struct trail *t = &trails[vcpu];
	struct x86_lbr_branch b;

	if (!is_recording(vcpu))
		return;
	b = (struct x86_lbr_branch) {
		.from = from, .to = to, .type = X86_LBR_OTHER,
		.kernel = x86_pmu_is_kernel(x86_qemu_ring(vcpu)),
		.cycles = count_cycles(&t->clock, X86_PMU_RINGS),
	};
	report(vcpu, &b);
	if (t->ending)
		end(t);
}

/* ---- generated code ---- */

/**
 * x86_branch_gen_start() - instrument the start of a block
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
						 (void *)(uintptr_t)ring);
}

/**
 * x86_branch_gen() - instrument a branch
 * @tb: its block
 * @at: the instruction after whose begin the branch is certain to execute, or the branch
 * @insn: the branch
 * @ring: its ring
 * @class: its class
 */
void x86_branch_gen(struct qemu_plugin_tb *tb, struct qemu_plugin_insn *at,
		    struct qemu_plugin_insn *insn, enum x86_pmu_ring ring, unsigned int class)
{
	uint64_t offset = plugin_api.insn_vaddr(insn) - plugin_api.tb_vaddr(tb);
	uint64_t pending = PENDING | offset |
			   (uint64_t)plugin_api.insn_size(insn) << PENDING_LENGTH_SHIFT |
			   (class & PENDING_CLASS) << PENDING_CLASS_SHIFT |
			   (uint64_t)ring << PENDING_RING_SHIFT;

	if (count_is_live(X86_PMU_RECORDS))
		plugin_api.register_vcpu_insn_exec_inline_per_vcpu(at, PLUGIN_STORE,
								   FIELD(pending), pending);
}

/**
 * x86_branch_init() - prepare for reporting branches
 * @taken: called for each reported branch
 */
void x86_branch_init(void (*taken)(unsigned int vcpu, const struct x86_lbr_branch *branch))
{
	report = taken;
	scores = plugin_api.scoreboard_new(sizeof(struct score));
}
