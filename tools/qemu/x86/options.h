/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options of the x86 PMU, and the configuration of the model by them.
 */
#ifndef TOOLS_QEMU_X86_OPTIONS_H
#define TOOLS_QEMU_X86_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/plugin.h"
#include "x86/registers/model.h"

int x86_options_read(const struct qemu_info *info, int argc, char **argv);
const struct x86_pmu_config *x86_options_common(void);
const struct x86_pmu_config *x86_options_config(unsigned int vcpu, bool amd, uint32_t signature);

#endif /* TOOLS_QEMU_X86_OPTIONS_H */
