/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The extended vector table of AMD's local APIC, in memory.
 */
#ifndef TOOLS_QEMU_X86_EILVT_H
#define TOOLS_QEMU_X86_EILVT_H

#include <stdint.h>

/**
 * struct x86_eilvt_hooks - whose entries they are
 * @read: an entry of a vCPU
 * @write: likewise
 */
struct x86_eilvt_hooks {
	uint32_t (*read)(unsigned int vcpu, unsigned int entry);
	void (*write)(unsigned int vcpu, unsigned int entry, uint32_t value);
};

int x86_eilvt_find(void);
void x86_eilvt_add(const struct x86_eilvt_hooks *hooks);

#endif /* TOOLS_QEMU_X86_EILVT_H */
