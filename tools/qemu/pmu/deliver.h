/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts of a PMU on their way to the CPU, and what can go wrong there.
 */
#ifndef TOOLS_QEMU_PMU_DELIVER_H
#define TOOLS_QEMU_PMU_DELIVER_H

#include <stdio.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/plugin.h"

/**
 * struct deliver_config - how interrupts are delivered, the same for all CPUs; the numbers are the
 * user's options
 * @lose: every so manieth is lost, 0 for none; likewise the others
 * @delay: is delayed
 * @spurious: is followed by another, without cause
 * @wrong_cpu: goes to the next CPU
 * @skid: instructions after the overflow that each comes, which is no fault
 * @cpus: how many CPUs there are
 * @take: an interrupt has arrived; @due is false if nothing in this CPU has
 *	caused it. In work of the vCPU, which may touch its devices.
 * @set_alarm: have deliver_alarm() called after so many instructions
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

/* In instructions: when a delayed or a spurious interrupt comes. */
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
