// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Delivery of the PMU's interrupts by the local APIC, as its entry LVTPC says.
 */
#include "x86/cpu/deliver.h"
#include "x86/qemu.h"

#define LVT_VECTOR		0xffu
#define LVT_MODE_SHIFT		8
#define LVT_MODE		7u
#define LVT_MODE_FIXED		0
#define LVT_MODE_NMI		4
#define LVT_MASKED		(1u << 16)

bool x86_deliver_auto_mask;

/* Statistics of one CPU: interrupts by their delivery */
static struct {
	uint64_t nmi;
	uint64_t fixed;
	uint64_t masked;
} counts[PMU_VCPUS_MAX];

/**
 * x86_deliver_take() - have the local APIC deliver an interrupt
 * @vcpu: index of the CPU; called in its work
 * @due: a counter of this CPU has caused the interrupt; not used
 */
void x86_deliver_take(unsigned int vcpu, bool due)
{
	uint32_t lvt = x86_qemu_lvtpc(vcpu);

	(void)due;
	if (lvt & LVT_MASKED) {
		counts[vcpu].masked++;
		return;
	}
	if (x86_deliver_auto_mask)
		x86_qemu_set_lvtpc(vcpu, lvt | LVT_MASKED);

	switch (lvt >> LVT_MODE_SHIFT & LVT_MODE) {
	case LVT_MODE_NMI:
		counts[vcpu].nmi++;
		x86_qemu_nmi(vcpu);
		break;
	case LVT_MODE_FIXED:
		counts[vcpu].fixed++;
		x86_qemu_fixed_interrupt(vcpu, lvt & LVT_VECTOR);
		break;
	default:
		plugin_note("CPU %u: the local APIC's entry for the PMU has mode %u, which is not supported",
			    vcpu, lvt >> LVT_MODE_SHIFT & LVT_MODE);
	}
}

/**
 * x86_deliver_sample() - deliver the interrupt of instruction-based sampling (IBS)
 * @vcpu: index of the CPU; called in its thread
 *
 * IBS has an entry in the local APIC's extended LVT, which QEMU does not have. All known software
 * sets that entry to NMI.
 */
void x86_deliver_sample(unsigned int vcpu)
{
	pmu_qemu_work(vcpu, x86_qemu_nmi);
}

/**
 * x86_deliver_print() - print how the interrupts of a CPU were delivered
 * @f: the file of statistics
 * @vcpu: index of the CPU
 */
void x86_deliver_print(FILE *f, unsigned int vcpu)
{
	fprintf(f, "cpu%u.pmi.nmi %lu\n", vcpu, counts[vcpu].nmi);
	fprintf(f, "cpu%u.pmi.fixed %lu\n", vcpu, counts[vcpu].fixed);
	fprintf(f, "cpu%u.pmi.masked %lu\n", vcpu, counts[vcpu].masked);
}
