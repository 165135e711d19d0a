/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting what vCPUs do.
 */
#ifndef TOOLS_QEMU_X86_PMU_COUNT_H
#define TOOLS_QEMU_X86_PMU_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "x86-pmu-model.h"
#include "x86-pmu-qemu.h"

/* How often the guest was instrumented anew because something new is counted. */
extern unsigned int count_instrumentations;

void count_init(void (*reached)(unsigned int vcpu), void (*at_exit)(void));
void count_vcpu_init(unsigned int vcpu);

/* As the operations of the same names in struct x86_pmu_ops. */
void count_read(unsigned int vcpu, x86_pmu_counts counts);
void count_watch(unsigned int vcpu, x86_pmu_counts distance);
void count_need(unsigned int vcpu, uint32_t kinds);

/* As the hooks of the same names in struct x86_qemu_hooks. */
void count_exception(unsigned int vcpu, int vector, uint64_t pc, bool in_fetch, bool nested);
void count_interrupt(unsigned int vcpu, uint64_t pc);
void count_interrupted(unsigned int vcpu, enum x86_pmu_ring ring);

#endif /* TOOLS_QEMU_X86_PMU_COUNT_H */
