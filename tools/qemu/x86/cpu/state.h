/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers and the memory of an x86 vCPU between two blocks.
 */
#ifndef TOOLS_QEMU_X86_STATE_H
#define TOOLS_QEMU_X86_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/pebs/pebs.h"

int x86_state_find(void);

/* Called in a vCPU's thread, at the start of a block or between two blocks */
void x86_state_read_regs(unsigned int vcpu, uint64_t *regs);
void x86_state_read(unsigned int vcpu, struct x86_pebs_state *state, bool vectors);
bool x86_state_memory(unsigned int vcpu, uint64_t addr, void *buf, size_t len, bool write);
bool x86_state_write_physical(uint64_t addr, void *buf, size_t len);

#endif /* TOOLS_QEMU_X86_STATE_H */
