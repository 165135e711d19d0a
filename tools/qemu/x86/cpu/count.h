/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Count what x86 vCPUs do: the part that pmu/count.h does not have.
 */
#ifndef TOOLS_QEMU_X86_COUNT_H
#define TOOLS_QEMU_X86_COUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/registers/model.h"
#include "x86/cpu/step.h"

void x86_count_init(void (*reached)(unsigned int vcpu), uint32_t (*needs)(unsigned int vcpu),
		    void (*at_exit)(void));

/* Hooks of struct x86_qemu_hooks */
enum x86_step_end x86_count_exception(unsigned int vcpu, int vector, uint64_t pc, bool in_fetch,
				      bool nested);
enum x86_step_end x86_count_interrupt(unsigned int vcpu, uint64_t pc);
void x86_count_interrupted(unsigned int vcpu, enum x86_pmu_ring ring);

bool x86_count_is_unfinished(unsigned int vcpu, uint64_t pc);

#endif /* TOOLS_QEMU_X86_COUNT_H */
