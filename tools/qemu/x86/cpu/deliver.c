// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupts of the PMU as they reach the local APIC: what its entry for the
 * PMU, LVTPC, says happens.
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

/* What has become of the interrupts of one CPU. */
static struct {
	uint64_t nmi;
	uint64_t fixed;
	uint64_t masked;
} counts[PMU_VCPUS_MAX];

/**
 * x86_deliver_take() - an interrupt has arrived at the local APIC
 * @vcpu: of this CPU; in its work
 * @due: whether by a counter of this CPU, which the APIC does not ask
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
 * x86_deliver_sample() - instruction-based sampling has a sample
 * @vcpu: of this CPU; in its thread
 *
 * It has an entry of its own in the local APIC, in the extended vector table, which QEMU's
 * has not. Software that is known has NMIs made there.
 */
void x86_deliver_sample(unsigned int vcpu)
{
	pmu_qemu_work(vcpu, x86_qemu_nmi);
}

/**
 * x86_deliver_print() - statistics of a CPU
 * @f: where to
 * @vcpu: its index
 */
void x86_deliver_print(FILE *f, unsigned int vcpu)
{
	fprintf(f, "cpu%u.pmi.nmi %lu\n", vcpu, counts[vcpu].nmi);
	fprintf(f, "cpu%u.pmi.fixed %lu\n", vcpu, counts[vcpu].fixed);
	fprintf(f, "cpu%u.pmi.masked %lu\n", vcpu, counts[vcpu].masked);
}
