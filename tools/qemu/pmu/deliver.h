/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delivery of a PMU's interrupts to the CPU, and faults of the delivery.
 */
#ifndef TOOLS_QEMU_PMU_DELIVER_H
#define TOOLS_QEMU_PMU_DELIVER_H

#include <stdio.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/plugin.h"

/**
 * struct deliver_config - how interrupts are delivered, the same for all CPUs
 * @lose: every @lose-th interrupt is lost; this and the next three are options, 0 for never
 * @delay: every @delay-th interrupt is delayed
 * @spurious: every @spurious-th interrupt is followed by a second one without a cause
 * @wrong_cpu: every @wrong_cpu-th interrupt goes to the next CPU
 * @skid: option: instructions between an overflow and its interrupt; not a fault
 * @cpus: number of CPUs
 * @take: take an interrupt; @due is false if no counter of this CPU has caused it. Called in work
 *	of the vCPU, which may access the vCPU's devices.
 * @set_alarm: have deliver_alarm() called after this many instructions
 */
struct deliver_config {
	uint64_t lose;
	uint64_t delay;
	uint64_t spurious;
	uint64_t wrong_cpu;
	uint64_t skid;
	unsigned int cpus;
	void (*take)(unsigned int vcpu, bool due);
	void (*set_alarm)(unsigned int vcpu, uint64_t instructions);
};

/* Delay of a delayed or a spurious interrupt, in instructions */
#define DELIVER_LATER	10000

extern struct deliver_config deliver_config;

int deliver_init(const struct qemu_info *info, void (*take)(unsigned int vcpu, bool due),
		 void (*set_alarm)(unsigned int vcpu, uint64_t instructions));
void deliver_interrupt(unsigned int vcpu);
void deliver_alarm(unsigned int vcpu);
void deliver_reset(void);
void deliver_print(FILE *f, unsigned int vcpu);
void deliver_print_faults(FILE *f, unsigned int vcpu);

#endif /* TOOLS_QEMU_PMU_DELIVER_H */
