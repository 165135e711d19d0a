/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting what arm64 vCPUs do: what there is besides pmu/count.h.
 */
#ifndef TOOLS_QEMU_ARM64_COUNT_H
#define TOOLS_QEMU_ARM64_COUNT_H

void arm64_count_init(void (*reached)(unsigned int vcpu), void (*at_exit)(void));

struct arm64_qemu_exception;

/* An exception is about to be taken, its number is QEMU's; and has been. */
void arm64_count_exception(unsigned int vcpu, int exception);
void arm64_count_delivered(unsigned int vcpu, const struct arm64_qemu_exception *e);

#endif /* TOOLS_QEMU_ARM64_COUNT_H */
