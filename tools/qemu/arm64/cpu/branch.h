/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Report each branch that an arm64 vCPU takes to the PMU, with source and target.
 */
#ifndef TOOLS_QEMU_ARM64_BRANCH_H
#define TOOLS_QEMU_ARM64_BRANCH_H

#include <stdbool.h>
#include <stdint.h>

#include "arm64/brbe/brbe.h"
#include "arm64/qemu.h"

uint64_t arm64_branch_record(unsigned int vcpu, struct arm64_pmu *pmu, unsigned int levels);
void arm64_branch_flush(unsigned int vcpu);
void arm64_branch_flush_all(void);

/* An exception is about to be taken (the number is QEMU's); an exception has been taken */
void arm64_branch_exception(unsigned int vcpu, int exception);
void arm64_branch_delivered(unsigned int vcpu, const struct arm64_qemu_exception *e);

/* Instrument a block */
void arm64_branch_gen_start(struct qemu_plugin_tb *tb, enum arm64_pmu_level level);
void arm64_branch_gen(struct qemu_plugin_tb *tb, struct qemu_plugin_insn *at,
		      struct qemu_plugin_insn *insn, enum arm64_pmu_level level,
		      unsigned int class);

#endif /* TOOLS_QEMU_ARM64_BRANCH_H */
