/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts of the PMU on their way to the CPU.
 */
#ifndef TOOLS_QEMU_X86_PMU_DELIVER_H
#define TOOLS_QEMU_X86_PMU_DELIVER_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct deliver_config - how interrupts are delivered, the same for all CPUs
 * @auto_mask: delivery masks the entry of the local APIC (Intel)
 * @lose: every so manieth is lost, 0 for none; likewise the others
 * @delay: is delayed
 * @spurious: is followed by another, without cause
 * @wrong_cpu: goes to the next CPU
 * @cpus: how many CPUs there are
 */
struct deliver_config {
	bool auto_mask;
	unsigned int lose;
	unsigned int delay;
	unsigned int spurious;
	unsigned int wrong_cpu;
	unsigned int cpus;
};

/* In instructions: when a delayed or a spurious interrupt comes. */
#define DELIVER_LATER	10000

/* What has become of the interrupts signalled to one CPU's local APIC. */
struct deliver_counts {
	uint64_t signalled;
	uint64_t nmi;
	uint64_t fixed;
	uint64_t masked;
	uint64_t lost;
	uint64_t delayed;
	uint64_t spurious;
	uint64_t misdirected;
};

extern struct deliver_config deliver_config;

void deliver_init(void (*set_alarm)(unsigned int vcpu, uint64_t instructions));
void deliver_interrupt(unsigned int vcpu);
void deliver_alarm(unsigned int vcpu);
void deliver_reset(void);
const struct deliver_counts *deliver_counts(unsigned int vcpu);

#endif /* TOOLS_QEMU_X86_PMU_DELIVER_H */
