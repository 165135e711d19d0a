/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts of the PMU as they reach the local APIC.
 */
#ifndef TOOLS_QEMU_X86_DELIVER_H
#define TOOLS_QEMU_X86_DELIVER_H

#include <stdio.h>
#include <stdbool.h>

/* Delivery masks the entry of the local APIC (Intel). */
extern bool x86_deliver_auto_mask;

/* deliver_config.take */
void x86_deliver_sample(unsigned int vcpu);
void x86_deliver_take(unsigned int vcpu, bool due);

void x86_deliver_print(FILE *f, unsigned int vcpu);

#endif /* TOOLS_QEMU_X86_DELIVER_H */
