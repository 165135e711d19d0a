// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Count what arm64 vCPUs do: the part that pmu/count.c does not have.
 *
 * Generated code counts an instruction when it begins. An instruction that faults has not retired
 * and will begin again, so its counts are taken back. The plugin reads the instruction from the
 * guest's memory: it must be mapped, because it was executed.
 */
#include "arm64/cpu/branch.h"
#include "arm64/cpu/count.h"
#include "arm64/cpu/decode.h"
#include "arm64/registers/events.h"
#include "arm64/cpu/exceptions.h"
#include "arm64/qemu.h"
#include "pmu/count.h"

static void take_back(unsigned int vcpu, uint32_t insn, unsigned int level)
{
	unsigned int class = arm64_insn_class(insn);

	if (class & ARM64_INSN_LOAD)
		count_take_back(vcpu, ARM64_PMU_LOADS, level);
	if (class & ARM64_INSN_STORE)
		count_take_back(vcpu, ARM64_PMU_STORES, level);
	if (class & (ARM64_INSN_LOAD | ARM64_INSN_STORE))
		count_take_back(vcpu, ARM64_PMU_MEMORY, level);
	if (class & ARM64_INSN_BRANCH)
		count_take_back(vcpu, ARM64_PMU_BRANCHES, level);
	if (class & ARM64_INSN_ERET) {
		count_take_back(vcpu, ARM64_PMU_EXCEPTION_RETURNS, level);
		count_take_back(vcpu, ARM64_PMU_TAKEN, level);
	}
}

/**
 * arm64_count_exception() - count an exception that is about to be taken
 * @vcpu: index of the vCPU; called in its thread
 * @exception: QEMU's number of the exception
 */
void arm64_count_exception(unsigned int vcpu, int exception)
{
	unsigned int level = arm64_qemu_level(vcpu);
	uint32_t insn;

	/* Semihosting is no exception of the guest. */
	if (exception == EXCP_SEMIHOST)
		return;
	if (exception == EXCP_IRQ || exception == EXCP_FIQ)
		live_tick(vcpu);
	count_branch_went(vcpu, arm64_qemu_pc(vcpu));
	arm64_branch_exception(vcpu, exception);

	switch (exception) {
	case EXCP_UDEF:
	case EXCP_DATA_ABORT:
	case EXCP_BKPT:
	case EXCP_HYP_TRAP:
	case EXCP_UNALIGNED:
		count_take_back(vcpu, ARM64_PMU_INSTRUCTIONS, level);
		if (arm64_qemu_insn(vcpu, &insn))
			take_back(vcpu, insn, level);
		break;
	/* These instructions have retired, or not begun. */
	case EXCP_SWI:
	case EXCP_HVC:
	case EXCP_SMC:
	case EXCP_PREFETCH_ABORT:
	default:
		break;
	}
	count_add(vcpu, ARM64_PMU_EXCEPTIONS, level);
	count_check(vcpu, level);
}

/**
 * arm64_count_delivered() - report a taken exception as a branch
 * @vcpu: index of the vCPU; called in its thread
 * @e: the exception
 */
void arm64_count_delivered(unsigned int vcpu, const struct arm64_qemu_exception *e)
{
	if (e->number != EXCP_SEMIHOST)
		arm64_branch_delivered(vcpu, e);
}

/* ---- generated code ---- */

static uint32_t word_of(const struct qemu_plugin_insn *insn)
{
	uint32_t word = 0;

	plugin_api.insn_data(insn, &word, sizeof(word));
	return word;
}

/* Instrument a branch. @at: the instruction that counts the branch when it begins */
static void gen_branch(struct qemu_plugin_insn *at, struct qemu_plugin_insn *insn,
		       struct count_block *b, unsigned int class)
{
	if (class & ARM64_INSN_IMMEDIATE)
		count_gen_add(at, b, ARM64_PMU_IMMEDIATE, 1);
	if (class & ARM64_INSN_RETURN)
		count_gen_add(at, b, ARM64_PMU_RETURNS, 1);
	if (class & ARM64_INSN_ERET)
		count_gen_add(at, b, ARM64_PMU_EXCEPTION_RETURNS, 1);
	if (class & ARM64_INSN_CONDITIONAL)
		count_gen_conditional(at, insn, b, arm64_insn_distance(word_of(insn)));
	else
		count_gen_add(at, b, ARM64_PMU_TAKEN, 1);
	arm64_branch_gen(b->tb, at, insn, b->level, class);
}

static void gen_memory(struct qemu_plugin_insn *insn, struct count_block *b, unsigned int class)
{
	if (class & ARM64_INSN_LOAD)
		count_gen_add(insn, b, ARM64_PMU_LOADS, 1);
	if (class & ARM64_INSN_STORE)
		count_gen_add(insn, b, ARM64_PMU_STORES, 1);
	if (class & (ARM64_INSN_LOAD | ARM64_INSN_STORE))
		count_gen_add(insn, b, ARM64_PMU_MEMORY, 1);
	count_gen_memory(insn, b, false);
}

/* AArch32 instructions are counted, but not decoded. */
static unsigned int class_of(const struct qemu_plugin_insn *insn)
{
	return arm64_qemu_translating_a64() ? arm64_insn_class(word_of(insn)) : 0;
}

/*
 * Check whether an instruction that begins is certain to complete without leaving the block before
 * its end.
 */
static bool is_certain(unsigned int class)
{
	return class & (ARM64_INSN_SIMPLE | ARM64_INSN_CONDITIONAL | ARM64_INSN_IMMEDIATE);
}

/* Check whether a block that ends with an instruction is certain to end at its own level. */
static bool stays(unsigned int class)
{
	return class & ARM64_INSN_SIMPLE ||
	       (class & ARM64_INSN_BRANCH && !(class & ARM64_INSN_ERET));
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
	struct count_block b = { .tb = tb, .level = arm64_qemu_translating_level() };
	size_t i, n = plugin_api.tb_n_insns(tb), tail = tail_of(tb);
	unsigned int pending = 0;

	count_gen_start(&b);
	arm64_branch_gen_start(tb, b.level);
	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = plugin_api.tb_get_insn(tb, i), *at = insn;
		unsigned int class = class_of(insn);

		pending++;
		if (class & ARM64_INSN_SIMPLE && i < n - 1)
			continue;

		if (i >= tail)
			at = plugin_api.tb_get_insn(tb, tail);
		count_gen_instructions(at, &b, pending, class & ARM64_INSN_BRANCH);
		pending = 0;
		if (class & ARM64_INSN_BRANCH)
			gen_branch(at, insn, &b, class);
		else if (!(class & ARM64_INSN_SIMPLE))
			gen_memory(insn, &b, class);
		if (i == n - 1)
			count_gen_checks(at, &b, stays(class));
	}
}

/* ---- initialization ---- */

/**
 * arm64_count_init() - prepare for counting
 * @reached: see struct count_config
 * @needs: see struct count_config
 * @at_exit: called when QEMU exits
 */
void arm64_count_init(void (*reached)(unsigned int vcpu), uint32_t (*needs)(unsigned int vcpu),
		      void (*at_exit)(void))
{
	static struct count_config config;

	config = (struct count_config) {
		.live		= { .translate = instrument_block, .at_exit = at_exit },
		.needs		= needs,
		.kinds		= ARM64_PMU_KINDS,
		.levels		= ARM64_PMU_LEVELS,
		.instructions	= ARM64_PMU_INSTRUCTIONS,
		.branches	= ARM64_PMU_BRANCHES,
		.cycles		= ARM64_PMU_CYCLES,
		.taken		= ARM64_PMU_TAKEN,
		.not_taken	= ARM64_PMU_NOT_TAKEN,
		.mispredicted	= ARM64_PMU_MISPREDICTED,
		.cache_refs	= ARM64_PMU_CACHE_REFS,
		.cache_misses	= ARM64_PMU_CACHE_MISSES,
		.load_misses	= ARM64_PMU_KINDS,
		.tlb_misses	= ARM64_PMU_TLB_MISSES,
		.loads		= ARM64_PMU_KINDS,
		.stores		= ARM64_PMU_KINDS,
		.updates	= ARM64_PMU_KINDS,
		.level		= arm64_qemu_level,
		.pc		= arm64_qemu_pc,
		.changed	= arm64_branch_flush_all,
		.reached	= reached,
	};
	count_init(&config);
}
