/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Report each branch that an x86 vCPU takes to the PMU, with source and target.
 */
#ifndef TOOLS_QEMU_X86_BRANCH_H
#define TOOLS_QEMU_X86_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#include "pmu/qemu.h"
#include "x86/registers/model.h"

uint64_t x86_branch_record(unsigned int vcpu, struct x86_pmu *pmu, unsigned int rings);
void x86_branch_flush(unsigned int vcpu);
void x86_branch_flush_all(void);

/* Called by the hooks of struct x86_qemu_hooks */
void x86_branch_exception(unsigned int vcpu, int vector, uint64_t pc, bool in_fetch);
void x86_branch_interrupt(unsigned int vcpu, uint64_t pc);
void x86_branch_delivered(unsigned int vcpu, uint64_t from, uint64_t to);

/* Instrument a block; @class: the class of its last instruction */
void x86_branch_gen_start(struct qemu_plugin_tb *tb, enum x86_pmu_ring ring,
			  unsigned int class);
void x86_branch_gen(struct qemu_plugin_tb *tb, struct qemu_plugin_insn *at,
		    struct qemu_plugin_insn *insn, enum x86_pmu_ring ring, unsigned int class);

#endif /* TOOLS_QEMU_X86_BRANCH_H */
