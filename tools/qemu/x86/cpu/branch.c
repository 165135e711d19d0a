// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Report taken branches of x86 vCPUs to the PMU. pmu/trail.c has what architectures share.
 *
 * If a ring's branches are not reported, its blocks do not call back. Blocks that end with a far
 * branch do: the branch may end in another ring, and then its address is needed. QEMU's functions
 * that deliver exceptions and interrupts report them.
 */
#include "pmu/trail.h"
#include "x86/cpu/branch.h"
#include "x86/cpu/decode.h"
#include "x86/qemu.h"

#define VECTOR_DB	1

static struct trail trails[PMU_VCPUS_MAX];
static struct x86_pmu *pmus[PMU_VCPUS_MAX];

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

static void set_heads(struct trail *t, unsigned int rings)
{
	trail_set_heads(t, rings);
	t->known = rings | TRAIL_ALWAYS;
}

static void report_pending(unsigned int vcpu, uint64_t pending, uint64_t to,
			   enum x86_pmu_ring ring)
{
	const struct trail *t = &trails[vcpu];
	uint64_t from = trail_from(t, pending), next = trail_next(from, pending);
	bool conditional = pending & TRAIL_CONDITIONAL;
	struct x86_lbr_branch b = {
		.from = from, .to = to, .next = to == next,
		.type = trail_type(pending),
		.kernel = x86_pmu_is_kernel(ring),
		.cycles = trail_cycles(t),
	};

	/*
	 * QEMU restarts the branch without an exception if the branch writes to the page of its
	 * own code, or accesses a device.
	 */
	if (to == from && pending & TRAIL_FAULTING)
		return;
	b.mispredicted = count_predicted(t->predictor, conditional, next, !b.next);
	if (!(conditional && b.next))
		x86_pmu_branch(pmus[vcpu], &b);
}

static void end(struct trail *t)
{
	t->ending = false;
	set_heads(t, 0);
}

/* Report the pending branch, if any, with its target and the ring of the target. */
static void report_branch(unsigned int vcpu, uint64_t to, enum x86_pmu_ring ring)
{
	struct trail *t = &trails[vcpu];
	uint64_t pending = t->score->pending;

	if (!pending)
		return;
	t->score->pending = 0;
	if (trail_knows(t, pending))
		report_pending(vcpu, pending, to, ring);
	if (t->ending)
		end(t);
}

/* Only the last records need contents: they overwrite the earlier ones. */
static void record_passed(unsigned int vcpu)
{
	struct x86_pmu *pmu = pmus[vcpu];
	struct trail *t = &trails[vcpu];
	struct trail_taken taken[TRAIL_PASSED_MAX + 1];
	unsigned int i, skipped = 0, nr = trail_take(t, pmu->lbr.types, taken);

	if (nr > pmu->lbr.depth) {
		skipped = nr - pmu->lbr.depth;
		x86_lbr_skip(pmu, skipped, t->passed[taken[skipped - 1].index].cycles);
	}
	for (i = skipped; i < nr; i++) {
		const struct trail_passed *b = &t->passed[taken[i].index];

		x86_pmu_branch(pmu, &(struct x86_lbr_branch) {
			.from = b->from, .to = b->to, .cycles = b->cycles,
			.type = trail_type(b->pending),
			.kernel = b->pending >> TRAIL_KERNEL_SHIFT & 1,
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
		report_branch(vcpu, pc, trail_level((uintptr_t)userdata));
	}
	t->block = pc;
	if (!t->ending && !count_follows && pmus[vcpu]->lbr.simple)
		t->quick = t->known;
}

/* Called at the start of a block. @userdata: TRAIL_LEVEL and the bit of the kernel */
static void block_begins(unsigned int vcpu, void *userdata)
{
	struct trail *t = &trails[vcpu];
	uint64_t pending = t->score->pending;

	if (!(pending >> TRAIL_KNOWN_SHIFT & t->quick) || *t->pc == trail_from(t, pending))
		block_begins_slowly(vcpu, userdata);
	else if (trail_pass(t, (uintptr_t)userdata))
		record_passed(vcpu);
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
		record_passed(vcpu);
	t->quick = 0;
}

/**
 * x86_branch_flush_all() - call x86_branch_flush() for all vCPUs, which are stopped
 */
void x86_branch_flush_all(void)
{
	for (unsigned int i = 0; i < pmu_qemu_vcpus(); i++)
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
	struct trail *t = &trails[vcpu];

	x86_branch_flush(vcpu);
	pmus[vcpu] = pmu;
	trail_begin(t, vcpu, x86_qemu_pc_field(vcpu));
	if (!rings && t->score->any && trail_knows(t, t->score->pending)) {
		/* The next block has to call back, in any ring. */
		t->ending = true;
		set_heads(t, X86_PMU_ALL_RINGS);
	} else {
		t->ending = false;
		t->score->pending = 0;
		set_heads(t, rings);
	}
	return trail_cycles(t);
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

	if (!trail_is_on(&trails[vcpu]))
		return;
	x86_branch_flush(vcpu);
	if (!in_fetch && vector != VECTOR_DB && trail_knows(t, t->score->pending) &&
	    trail_from(t, t->score->pending) == pc)
		t->score->pending = 0;
	else
		report_branch(vcpu, pc, x86_qemu_ring(vcpu));
}

/**
 * x86_branch_interrupt() - report the pending branch before an interrupt is taken
 * @vcpu: index of the vCPU
 * @pc: address of the next instruction
 */
void x86_branch_interrupt(unsigned int vcpu, uint64_t pc)
{
	if (!trail_is_on(&trails[vcpu]))
		return;
	x86_branch_flush(vcpu);
	report_branch(vcpu, pc, x86_qemu_ring(vcpu));
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

	if (!trail_is_on(&trails[vcpu]))
		return;
	x86_branch_flush(vcpu);
	b = (struct x86_lbr_branch) {
		.from = from, .to = to, .type = X86_LBR_OTHER,
		.kernel = x86_pmu_is_kernel(x86_qemu_ring(vcpu)),
		.cycles = trail_cycles(t),
	};
	x86_pmu_branch(pmus[vcpu], &b);
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
	uintptr_t state = (uintptr_t)ring << TRAIL_LEVEL_SHIFT |
			  (uintptr_t)x86_pmu_is_kernel(ring) << TRAIL_KERNEL_SHIFT;

	if (count_is_live(X86_PMU_RECORDS))
		trail_gen_start(tb, block_begins, class & X86_INSN_FAR ? COUNT_LEVELS_MAX : ring,
				state);
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
	uint64_t known = class & X86_INSN_FAR ? TRAIL_ALWAYS : 1u << ring;

	if (count_is_live(X86_PMU_RECORDS))
		trail_gen_branch(tb, at, insn, known << TRAIL_KNOWN_SHIFT |
				 (uint64_t)type_of(class) << TRAIL_TYPE_SHIFT |
				 (class & X86_INSN_CONDITIONAL ? TRAIL_CONDITIONAL : 0) |
				 (class & X86_INSN_FAULTING ? TRAIL_FAULTING : 0));
}
