/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of the arm64 PMU, and the configuration of the model by options and CPU.
 */
#ifndef TOOLS_QEMU_ARM64_OPTIONS_H
#define TOOLS_QEMU_ARM64_OPTIONS_H

#include <stdint.h>

#include "arm64/registers/model.h"
#include "arm64/qemu.h"
#include "common/plugin.h"

int arm64_options_read(const struct qemu_info *info, int argc, char **argv);
const struct arm64_pmu_config *arm64_options_config(unsigned int vcpu,
						    const struct arm64_qemu_cpu *cpu);
uint64_t arm64_options_midr(unsigned int vcpu);

#endif /* TOOLS_QEMU_ARM64_OPTIONS_H */
