/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Report each instruction that an x86 vCPU executes, while the PMU needs it.
 */
#ifndef TOOLS_QEMU_X86_STEP_H
#define TOOLS_QEMU_X86_STEP_H

#include "pmu/qemu.h"
#include "x86/registers/model.h"

/* The state of the last instruction at an exception or an interrupt. */
enum x86_step_end {
	X86_STEP_RETIRED,
	X86_STEP_FAULTED,	/* the instruction will be executed again */
	X86_STEP_UNFINISHED,	/* a repeated string instruction, which will continue */
};

/**
 * struct x86_step_hooks - callbacks, all called in the vCPU's thread
 * @retired: an instruction has retired; @ip: its address, 0 if unknown; @access: its accesses
 * @near: a block of @n instructions begins in @ring, and a counter may overflow in it. Return true
 *	if each instruction is to be reported
 * @check: check the counters: the vCPU has left a block in its middle
 * @overflows: check whether the present counts reach an overflow that writes a record
 * @is_slow: check whether a load at an address counts as slow
 */
struct x86_step_hooks {
	void (*retired)(unsigned int vcpu, uint64_t ip, const struct x86_pebs_access *access);
	bool (*near)(unsigned int vcpu, unsigned int ring, unsigned int n);
	void (*check)(unsigned int vcpu);
	bool (*overflows)(unsigned int vcpu);
	bool (*is_slow)(unsigned int vcpu, uint64_t addr);
};

void x86_step_init(const struct x86_step_hooks *hooks);
void x86_step_vcpu_init(unsigned int vcpu);
void x86_step_single(unsigned int vcpu, unsigned int rings);
bool x86_step_near(unsigned int vcpu, unsigned int ring, unsigned int n);
void x86_step_reset(unsigned int vcpu);
void x86_step_interrupted(unsigned int vcpu, enum x86_step_end end);

/* Instrument a block: its start, then each of its instructions in order */
void x86_step_gen_start(struct qemu_plugin_tb *tb);
void x86_step_gen(struct qemu_plugin_insn *insn, unsigned int class);

#endif /* TOOLS_QEMU_X86_STEP_H */
