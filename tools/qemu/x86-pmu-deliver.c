// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupts of the PMU on their way to the CPU, and what can go wrong there.
 *
 * The local APIC cannot be used, nor a CPU be interrupted, in the middle of a
 * block. Both wait for its end, where the interrupt is then taken.
 */
#include "x86-pmu-deliver.h"
#include "x86-pmu-qemu.h"

#define LVT_VECTOR		0xffu
#define LVT_MODE_SHIFT		8
#define LVT_MODE		7u
#define LVT_MODE_FIXED		0
#define LVT_MODE_NMI		4
#define LVT_MASKED		(1u << 16)

struct deliver_config deliver_config;

/**
 * struct delivery - one CPU
 * @pending: work is on its way to deliver an interrupt
 * @alarm_set: so is the alarm
 * @counts: see there
 */
struct delivery {
	bool pending;
	bool alarm_set;
	struct deliver_counts counts;
};

static struct delivery deliveries[X86_QEMU_VCPUS_MAX];
static void (*alarm_in)(unsigned int vcpu, uint64_t instructions);

static void deliver(unsigned int vcpu)
{
	struct deliver_counts *counts = &deliveries[vcpu].counts;
	uint32_t lvt = x86_qemu_lvtpc(vcpu);

	__atomic_store_n(&deliveries[vcpu].pending, false, __ATOMIC_RELAXED);
	if (lvt & LVT_MASKED) {
		counts->masked++;
		return;
	}
	if (deliver_config.auto_mask)
		x86_qemu_set_lvtpc(vcpu, lvt | LVT_MASKED);

	switch (lvt >> LVT_MODE_SHIFT & LVT_MODE) {
	case LVT_MODE_NMI:
		counts->nmi++;
		x86_qemu_nmi(vcpu);
		break;
	case LVT_MODE_FIXED:
		counts->fixed++;
		x86_qemu_fixed_interrupt(vcpu, lvt & LVT_VECTOR);
		break;
	default:
		plugin_note("CPU %u: the local APIC's entry for the PMU has mode %u, which is not supported",
			    vcpu, lvt >> LVT_MODE_SHIFT & LVT_MODE);
	}
}

static void deliver_to(unsigned int vcpu)
{
	if (!__atomic_exchange_n(&deliveries[vcpu].pending, true, __ATOMIC_RELAXED))
		x86_qemu_work(vcpu, deliver);
}

static bool is_due(const struct deliver_counts *counts, unsigned int every)
{
	return every && counts->signalled % every == 0;
}

/**
 * deliver_interrupt() - a counter that interrupts has overflowed
 * @vcpu: where; in its thread
 *
 * Overflows that happen together make one interrupt.
 */
void deliver_interrupt(unsigned int vcpu)
{
	struct delivery *d = &deliveries[vcpu];

	if (__atomic_load_n(&d->pending, __ATOMIC_RELAXED))
		return;
	d->counts.signalled++;

	if (is_due(&d->counts, deliver_config.lose)) {
		d->counts.lost++;
	} else if (is_due(&d->counts, deliver_config.delay) && !d->alarm_set) {
		d->counts.delayed++;
		d->alarm_set = true;
		alarm_in(vcpu, DELIVER_LATER);
	} else if (is_due(&d->counts, deliver_config.wrong_cpu)) {
		d->counts.misdirected++;
		deliver_to((vcpu + 1) % deliver_config.cpus);
	} else {
		deliver_to(vcpu);
		if (is_due(&d->counts, deliver_config.spurious) && !d->alarm_set) {
			d->counts.spurious++;
			d->alarm_set = true;
			alarm_in(vcpu, DELIVER_LATER);
		}
	}
}

/**
 * deliver_alarm() - it is time for the interrupt that was put off
 * @vcpu: where; in its thread
 */
void deliver_alarm(unsigned int vcpu)
{
	deliveries[vcpu].alarm_set = false;
	deliver_to(vcpu);
}

/**
 * deliver_reset() - the machine is reset
 */
void deliver_reset(void)
{
	unsigned int i;

	for (i = 0; i < deliver_config.cpus; i++)
		deliveries[i].alarm_set = false;
}

const struct deliver_counts *deliver_counts(unsigned int vcpu)
{
	return &deliveries[vcpu].counts;
}

/**
 * deliver_init() - prepare for delivering interrupts
 * @set_alarm: have deliver_alarm() called after so many instructions
 */
void deliver_init(void (*set_alarm)(unsigned int vcpu, uint64_t instructions))
{
	alarm_in = set_alarm;
}
