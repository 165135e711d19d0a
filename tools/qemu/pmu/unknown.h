/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unknown.h - events that a guest selects and that the PMU does not count
 */
#ifndef TOOLS_QEMU_PMU_UNKNOWN_H
#define TOOLS_QEMU_PMU_UNKNOWN_H

#include <stdint.h>
#include <stdio.h>

void unknown_event(unsigned int vcpu, uint64_t event);
void unknown_print(FILE *f, unsigned int vcpu);

#endif /* TOOLS_QEMU_PMU_UNKNOWN_H */
