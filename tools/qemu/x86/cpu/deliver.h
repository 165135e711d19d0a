/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Delivery of the PMU's interrupts by the local APIC.
 */
#ifndef TOOLS_QEMU_X86_DELIVER_H
#define TOOLS_QEMU_X86_DELIVER_H

#include <stdio.h>
#include <stdbool.h>

/* Delivery of an interrupt masks LVTPC (Intel). */
extern bool x86_deliver_auto_mask;

void x86_deliver_sample(unsigned int vcpu);
/* deliver_config.take */
void x86_deliver_take(unsigned int vcpu, bool due);

void x86_deliver_print(FILE *f, unsigned int vcpu);

#endif /* TOOLS_QEMU_X86_DELIVER_H */
