/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PMU's level-triggered interrupt line.
 */
#ifndef TOOLS_QEMU_ARM64_DELIVER_H
#define TOOLS_QEMU_ARM64_DELIVER_H

#include <stdio.h>
#include <stdbool.h>

#include "arm64/registers/model.h"

void arm64_deliver_init(struct arm64_pmu *const *pmus);

/* deliver_config.take */
void arm64_deliver_take(unsigned int vcpu, bool due);

/* All but arm64_deliver_overflow() are called with QEMU's lock held. */
void arm64_deliver_overflow(unsigned int vcpu);
void arm64_deliver_update(unsigned int vcpu, bool flags_seen);
void arm64_deliver_reset(unsigned int vcpu);

void arm64_deliver_print(FILE *f, unsigned int vcpu);

#endif /* TOOLS_QEMU_ARM64_DELIVER_H */
