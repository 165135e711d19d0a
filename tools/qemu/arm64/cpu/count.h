/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Count what arm64 vCPUs do: the part that depends on the architecture.
 */
#ifndef TOOLS_QEMU_ARM64_COUNT_H
#define TOOLS_QEMU_ARM64_COUNT_H

#include <stdint.h>

void arm64_count_init(void (*reached)(unsigned int vcpu), uint32_t (*needs)(unsigned int vcpu),
		      void (*at_exit)(void));

struct arm64_qemu_exception;

/* An exception is about to be taken (the number is QEMU's); an exception has been taken */
void arm64_count_exception(unsigned int vcpu, int exception);
void arm64_count_delivered(unsigned int vcpu, const struct arm64_qemu_exception *e);

#endif /* TOOLS_QEMU_ARM64_COUNT_H */
