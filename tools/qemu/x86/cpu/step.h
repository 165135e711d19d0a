/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looking at each instruction that an x86 vCPU executes, as long as somebody wants it.
 */
#ifndef TOOLS_QEMU_X86_STEP_H
#define TOOLS_QEMU_X86_STEP_H

#include "pmu/qemu.h"
#include "x86/registers/model.h"

/* What has become of the instruction before an exception or an interrupt. */
enum x86_step_end {
	X86_STEP_RETIRED,
	X86_STEP_FAULTED,	/* it will begin anew */
	X86_STEP_UNFINISHED,	/* a repeated string instruction that will go on */
};

/**
 * struct x86_step_hooks - who wants to know
 * @retired: an instruction has retired: where it is, 0 if that is not known, and what it accessed
 * @check: a block was left in its middle: look at the counters
 * @is_slow: does a load count as one that takes long?
 *
 * All are called in the vCPU's thread.
 */
struct x86_step_hooks {
	void (*retired)(unsigned int vcpu, uint64_t ip, const struct x86_pebs_access *access);
	void (*check)(unsigned int vcpu);
	bool (*is_slow)(unsigned int vcpu, uint64_t addr);
};

void x86_step_init(const struct x86_step_hooks *hooks);
void x86_step_vcpu_init(unsigned int vcpu);
void x86_step_single(unsigned int vcpu, unsigned int rings);
void x86_step_interrupted(unsigned int vcpu, enum x86_step_end end);

/* For generated code, in the order of a block */
void x86_step_gen_start(struct qemu_plugin_tb *tb);
void x86_step_gen(struct qemu_plugin_insn *insn, unsigned int class);

#endif /* TOOLS_QEMU_X86_STEP_H */
