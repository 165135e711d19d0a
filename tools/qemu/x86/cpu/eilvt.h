/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The extended LVT of AMD's local APIC, as memory-mapped registers.
 */
#ifndef TOOLS_QEMU_X86_EILVT_H
#define TOOLS_QEMU_X86_EILVT_H

#include <stdint.h>

/**
 * struct x86_eilvt_hooks - access to the entries of the table
 * @read: read an entry of a vCPU
 * @write: write an entry of a vCPU
 */
struct x86_eilvt_hooks {
	uint32_t (*read)(unsigned int vcpu, unsigned int entry);
	void (*write)(unsigned int vcpu, unsigned int entry, uint32_t value);
};

int x86_eilvt_find(void);
void x86_eilvt_add(const struct x86_eilvt_hooks *hooks);

#endif /* TOOLS_QEMU_X86_EILVT_H */
