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
#define PENDING_TYPE_SHIFT	24
#define PENDING_TYPE		UINT64_C(0xf)
#define PENDING_CONDITIONAL	(UINT64_C(1) << 28)
#define PENDING_FAULTING	(UINT64_C(1) << 29)
#define PENDING_KNOWN_SHIFT	32	/* reported if trail.known has one of these bits */
#define PENDING_PREDICTOR_SHIFT	40	/* index in struct count_predictor */
#define PENDING_PREDICTOR	UINT64_C(0x7ff)
#define PENDING_RING_SHIFT	56	/* in struct passed: the ring of the target, ... */
#define PENDING_RING		UINT64_C(3)
#define PENDING_KERNEL_SHIFT	62	/* ... and whether it is the kernel's */

/* Number of branches in struct trail that the PMU has yet to record */
#define PASSED_MAX		256

/* A bit of trail.known above the rings, always set: the address of a far branch is always known. */
#define KNOWN_ALWAYS		(1u << X86_PMU_RINGS)

/**
 * struct score - the fields of a vCPU that generated code reads and writes
 * @heads: by ring: the starts of blocks in this ring call back
 * @any: the starts of blocks in any ring call back
 * @pending: the branch that began last, 0 once it is handled
 * @unused: see PMU_SCORE_SIZE()
 */
struct score {
	uint64_t heads[X86_PMU_RINGS];
	uint64_t any;
	uint64_t pending;
	uint64_t unused[16 - X86_PMU_RINGS - 2];
};

PMU_SCORE_SIZE(struct score);

/**
 * struct passed - a branch of trail.passed, which may not be taken
 * @pending: score.pending, with its ring and kernel bits set
 * @from: address of the branch
 * @to: address of the instruction executed after the branch
 * @cycles: the vCPU's count of cycles
 */
struct passed {
	uint64_t pending;
	uint64_t from;
	uint64_t to;
	uint64_t cycles;
};

/**
 * struct trail - the fields of a vCPU that only C code uses
 * @score: the vCPU's score, NULL before software turns branch records on. All vCPUs exist then, so
 *	the score does not move
 * @pmu: the vCPU's PMU
 * @predictor: the vCPU's predictor
 * @known: bitmap of the rings with blocks that call back, and KNOWN_ALWAYS
 * @quick: @known, or 0 if block_begins() must look at each branch; x86_branch_flush() sets it to 0
 * @pc: RIP
 * @block: address of the block that called back last
 * @ending: the pending branch is the last one to report
 * @clock: the vCPU's count of cycles
 * @nr_passed: number of branches in @passed
 * @passed: the branches since x86_branch_flush()
 */
static struct trail {
	struct score *score;
	struct x86_pmu *pmu;
	struct count_predictor *predictor;
	unsigned int known;
	unsigned int quick;
	const uint64_t *pc;
	uint64_t block;
	bool ending;
	struct count_clock clock;
	unsigned int nr_passed;
	struct passed passed[PASSED_MAX];
} trails[PMU_VCPUS_MAX];

static struct qemu_plugin_scoreboard *scores;

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

static enum x86_lbr_type type_of_pending(uint64_t pending)
{
	return pending >> PENDING_TYPE_SHIFT & PENDING_TYPE;
}

/* Check whether the address of a branch is known: only a block that calls back gives it. */
static bool is_known(const struct trail *t, uint64_t pending)
{
	return pending >> PENDING_KNOWN_SHIFT & t->known;
}

static uint64_t address_of(const struct trail *t, uint64_t pending)
{
	return t->block + (pending & PENDING_OFFSET);
}

static void set_heads(struct trail *t, unsigned int rings)
{
	unsigned int ring;

	for (ring = 0; ring < X86_PMU_RINGS; ring++)
		t->score->heads[ring] = rings >> ring & 1;
	t->score->any = rings;
	t->known = rings | KNOWN_ALWAYS;
	t->quick = 0;
}

static void report_pending(const struct trail *t, uint64_t pending, uint64_t to,
			   enum x86_pmu_ring ring)
{
	uint64_t from = address_of(t, pending);
	uint64_t next = from + (pending >> PENDING_LENGTH_SHIFT & PENDING_LENGTH);
	bool conditional = pending & PENDING_CONDITIONAL;
	struct x86_lbr_branch b = {
		.from = from, .to = to, .next = to == next,
		.type = type_of_pending(pending),
		.kernel = x86_pmu_is_kernel(ring),
		.cycles = count_cycles(&t->clock, X86_PMU_RINGS),
	};

	/*
	 * QEMU restarts the branch without an exception if the branch writes to the page of its
	 * own code, or accesses a device.
	 */
	if (to == from && pending & PENDING_FAULTING)
		return;
	b.mispredicted = count_predicted(t->predictor, conditional, next, !b.next);
	if (!(conditional && b.next))
		x86_pmu_branch(t->pmu, &b);
}

static void end(struct trail *t)
{
	t->ending = false;
	set_heads(t, 0);
}

/* Report the pending branch, if any, with its target and the ring of the target. */
static void went(struct trail *t, uint64_t to, enum x86_pmu_ring ring)
{
	uint64_t pending = t->score->pending;

	if (!pending)
		return;
	t->score->pending = 0;
	if (is_known(t, pending))
		report_pending(t, pending, to, ring);
	if (t->ending)
		end(t);
}

/*
 * Record the branches in trail.passed. Only the last records need contents: they overwrite the
 * earlier ones. The first loop has no "if" on a branch of the guest: the host would mispredict it.
 */
static void record_passed(struct trail *t)
{
	const struct x86_lbr *lbr = &t->pmu->lbr;
	unsigned int i, nr = 0, skipped = 0, n = t->nr_passed;
	struct {
		uint8_t index;
		bool mispredicted;
	} taken[PASSED_MAX + 1];

	for (i = 0; i < n; i++) {
		const struct passed *b = &t->passed[i];
		uint64_t next = b->from + (b->pending >> PENDING_LENGTH_SHIFT & PENDING_LENGTH);
		bool is_taken = (b->to != next) | !(b->pending & PENDING_CONDITIONAL);
		bool kernel = b->pending >> PENDING_KERNEL_SHIFT & 1;
		unsigned int wanted = lbr->types[kernel] >> type_of_pending(b->pending);
		unsigned int index = b->pending >> PENDING_PREDICTOR_SHIFT & PENDING_PREDICTOR;

		taken[nr].index = i;
		taken[nr].mispredicted = count_predict(t->predictor, index, is_taken);
		nr += is_taken & wanted;
	}
	t->nr_passed = 0;
	if (nr > lbr->depth) {
		skipped = nr - lbr->depth;
		x86_lbr_skip(t->pmu, skipped, t->passed[taken[skipped - 1].index].cycles);
	}
	for (i = skipped; i < nr; i++) {
		const struct passed *b = &t->passed[taken[i].index];

		x86_pmu_branch(t->pmu, &(struct x86_lbr_branch) {
			.from = b->from, .to = b->to, .cycles = b->cycles,
			.type = type_of_pending(b->pending),
			.kernel = b->pending >> PENDING_KERNEL_SHIFT & 1,
			.mispredicted = taken[i].mispredicted,
		});
	}
}

/* block_begins() for all cases that trail.quick excludes */
static __attribute__((noinline)) void block_begins_slowly(unsigned int vcpu, void *userdata)
{
	struct trail *t = &trails[vcpu];
	uint64_t pc = *t->pc;

	if (t->score->pending) {
		x86_branch_flush(vcpu);
		went(t, pc, (uintptr_t)userdata >> PENDING_RING_SHIFT & PENDING_RING);
	}
	t->block = pc;
	if (!t->ending && !count_follows && t->pmu->lbr.simple)
		t->quick = t->known;
}

/* Called at the start of a block. @userdata: the ring and kernel bits of PENDING_* */
static void block_begins(unsigned int vcpu, void *userdata)
{
	struct trail *t = &trails[vcpu];
	uint64_t pc = *t->pc, pending = t->score->pending, from = address_of(t, pending);
	struct passed *b = &t->passed[t->nr_passed];

	if (!(pending >> PENDING_KNOWN_SHIFT & t->quick) || pc == from) {
		block_begins_slowly(vcpu, userdata);
		return;
	}
	t->score->pending = 0;
	t->block = pc;
	t->nr_passed++;
	b->pending = pending | (uintptr_t)userdata;
	b->from = from;
	b->to = pc;
	b->cycles = count_cycles(&t->clock, X86_PMU_RINGS);
	if (t->nr_passed == PASSED_MAX)
		record_passed(t);
}

static bool is_recording(unsigned int vcpu)
{
	return trails[vcpu].score && trails[vcpu].score->any;
}

/* ---- for the PMU ---- */

/**
 * x86_branch_flush() - have the PMU record all branches before the one being executed
 * @vcpu: index of the vCPU; called in its thread, or with all vCPUs stopped
 *
 * Called before the PMU reads or changes what records depend on.
 */
void x86_branch_flush(unsigned int vcpu)
{
	struct trail *t = &trails[vcpu];

	if (t->nr_passed)
		record_passed(t);
	t->quick = 0;
}

/**
 * x86_branch_flush_all() - call x86_branch_flush() for all vCPUs, which are stopped
 */
void x86_branch_flush_all(void)
{
	unsigned int i;

	for (i = 0; i < pmu_qemu_vcpus(); i++)
		x86_branch_flush(i);
}

/**
 * x86_branch_record() - choose the branches to report by the rings that they end in
 * @vcpu: index of the vCPU; called in its thread
 * @pmu: its PMU
 * @rings: bitmap of these rings; 0: report the branch that is being executed, and no further ones
 *
 * Return: the cycles of the vCPU so far.
 */
uint64_t x86_branch_record(unsigned int vcpu, struct x86_pmu *pmu, unsigned int rings)
{
	struct score *s = plugin_api.scoreboard_find(scores, vcpu);
	struct trail *t = &trails[vcpu];

	x86_branch_flush(vcpu);
	t->score = s;
	t->pmu = pmu;
	t->predictor = count_predictor(vcpu);
	t->pc = x86_qemu_pc_field(vcpu);
	t->clock = count_clock(vcpu);
	if (!rings && s->any && is_known(t, s->pending)) {
		/* The next block has to call back, in any ring. */
		t->ending = true;
		set_heads(t, X86_PMU_ALL_RINGS);
	} else {
		t->ending = false;
		s->pending = 0;
		set_heads(t, rings);
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
	x86_branch_flush(vcpu);
	if (!in_fetch && vector != VECTOR_DB && is_known(t, t->score->pending) &&
	    address_of(t, t->score->pending) == pc)
		t->score->pending = 0;
	else
		went(t, pc, x86_qemu_ring(vcpu));
}

/**
 * x86_branch_interrupt() - report the pending branch before an interrupt is taken
 * @vcpu: index of the vCPU
 * @pc: address of the next instruction
 */
void x86_branch_interrupt(unsigned int vcpu, uint64_t pc)
{
	if (!is_recording(vcpu))
		return;
	x86_branch_flush(vcpu);
	went(&trails[vcpu], pc, x86_qemu_ring(vcpu));
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
	x86_branch_flush(vcpu);
	b = (struct x86_lbr_branch) {
		.from = from, .to = to, .type = X86_LBR_OTHER,
		.kernel = x86_pmu_is_kernel(x86_qemu_ring(vcpu)),
		.cycles = count_cycles(&t->clock, X86_PMU_RINGS),
	};
	x86_pmu_branch(t->pmu, &b);
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
	uintptr_t state = (uintptr_t)ring << PENDING_RING_SHIFT |
			  (uintptr_t)x86_pmu_is_kernel(ring) << PENDING_KERNEL_SHIFT;
	struct plugin_slot slot = FIELD(heads);

	if (!count_is_live(X86_PMU_RECORDS))
		return;
	slot.offset += ring * sizeof(uint64_t);
	if (class & X86_INSN_FAR)
		slot = FIELD(any);
	plugin_api.register_vcpu_tb_exec_cond_cb(tb, block_begins, 0, PLUGIN_COND_NE, slot, 0,
						 (void *)state);
}

/**
 * x86_branch_gen() - instrument a branch
 * @tb: its block
 * @at: the branch, or an earlier instruction that the branch is certain to follow
 * @insn: the branch
 * @ring: its ring
 * @class: its class
 */
void x86_branch_gen(struct qemu_plugin_tb *tb, struct qemu_plugin_insn *at,
		    struct qemu_plugin_insn *insn, enum x86_pmu_ring ring, unsigned int class)
{
	uint64_t offset = plugin_api.insn_vaddr(insn) - plugin_api.tb_vaddr(tb);
	uint64_t next = plugin_api.insn_vaddr(insn) + plugin_api.insn_size(insn);
	uint64_t predictor = count_predictor_index(class & X86_INSN_CONDITIONAL, next);
	uint64_t known = class & X86_INSN_FAR ? KNOWN_ALWAYS : 1u << ring;
	uint64_t pending = PENDING | offset |
			   (uint64_t)plugin_api.insn_size(insn) << PENDING_LENGTH_SHIFT |
			   (uint64_t)type_of(class) << PENDING_TYPE_SHIFT |
			   (class & X86_INSN_CONDITIONAL ? PENDING_CONDITIONAL : 0) |
			   (class & X86_INSN_FAULTING ? PENDING_FAULTING : 0) |
			   known << PENDING_KNOWN_SHIFT | predictor << PENDING_PREDICTOR_SHIFT;

	if (count_is_live(X86_PMU_RECORDS))
		plugin_api.register_vcpu_insn_exec_inline_per_vcpu(at, PLUGIN_STORE,
								   FIELD(pending), pending);
}

/**
 * x86_branch_init() - prepare for reporting branches
 */
void x86_branch_init(void)
{
	scores = plugin_api.scoreboard_new(sizeof(struct score));
}
