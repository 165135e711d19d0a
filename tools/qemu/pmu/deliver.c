// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupts of a PMU on their way to the CPU, and what can go wrong there.
 *
 * A device cannot be used, nor a CPU be interrupted, in the middle of a block.
 * Both wait for its end, where the interrupt is then taken.
 */
#include "pmu/deliver.h"
#include "pmu/qemu.h"

struct deliver_config deliver_config;

/**
 * struct delivery - one CPU
 * @pending: work is on its way to deliver an interrupt
 * @due: one that a counter of this CPU has caused
 * @alarm_set: so is the alarm
 * @alarm_due: likewise
 * @signalled: by counters; and what became of them
 */
struct delivery {
	bool pending;
	bool due;
	bool alarm_set;
	bool alarm_due;
	uint64_t signalled;
	uint64_t lost;
	uint64_t delayed;
	uint64_t spurious;
	uint64_t misdirected;
};

static struct delivery deliveries[PMU_VCPUS_MAX];

/**
 * deliver_init() - begin, with the options in deliver_config
 * @info: what QEMU says of itself
 * @take: as in struct deliver_config
 * @set_alarm: likewise
 *
 * Return: 0, or non-zero after a refusal.
 */
int deliver_init(const struct qemu_info *info, void (*take)(unsigned int vcpu, bool due),
		 void (*set_alarm)(unsigned int vcpu, uint64_t instructions))
{
	if (deliver_config.wrong_cpu && info->max_vcpus < 2)
		return plugin_refuse("'fault=wrong-cpu-pmi' needs another CPU");
	if (deliver_config.skid && deliver_config.spurious)
		return plugin_refuse("'skid' and 'fault=spurious-pmi' both put interrupts off: one of them alone");
	deliver_config.cpus = info->smp_vcpus;
	deliver_config.take = take;
	deliver_config.set_alarm = set_alarm;
	return 0;
}

static void take(unsigned int vcpu)
{
	struct delivery *d = &deliveries[vcpu];

	__atomic_store_n(&d->pending, false, __ATOMIC_RELAXED);
	deliver_config.take(vcpu, __atomic_exchange_n(&d->due, false, __ATOMIC_RELAXED));
}

static void deliver_to(unsigned int vcpu, bool due)
{
	if (due)
		__atomic_store_n(&deliveries[vcpu].due, true, __ATOMIC_RELAXED);
	if (!__atomic_exchange_n(&deliveries[vcpu].pending, true, __ATOMIC_RELAXED))
		pmu_qemu_work(vcpu, take);
}

static void deliver_later(unsigned int vcpu, bool due, uint64_t instructions)
{
	deliveries[vcpu].alarm_set = true;
	deliveries[vcpu].alarm_due = due;
	deliver_config.set_alarm(vcpu, instructions);
}

static bool is_due(const struct delivery *d, uint64_t every)
{
	return every && d->signalled % every == 0;
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
	/* One that is on its way for so long tells of this overflow, too. */
	if (deliver_config.skid && d->alarm_set)
		return;
	d->signalled++;

	if (is_due(d, deliver_config.lose)) {
		d->lost++;
	} else if (is_due(d, deliver_config.delay) && !d->alarm_set) {
		d->delayed++;
		deliver_later(vcpu, true, DELIVER_LATER);
	} else if (is_due(d, deliver_config.wrong_cpu)) {
		d->misdirected++;
		deliver_to((vcpu + 1) % deliver_config.cpus, false);
	} else if (deliver_config.skid) {
		deliver_later(vcpu, true, deliver_config.skid);
	} else {
		deliver_to(vcpu, true);
		if (is_due(d, deliver_config.spurious) && !d->alarm_set) {
			d->spurious++;
			deliver_later(vcpu, false, DELIVER_LATER);
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
	deliver_to(vcpu, deliveries[vcpu].alarm_due);
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

/**
 * deliver_print() - statistics of a CPU: how often its counters signalled
 * @f: where to
 * @vcpu: its index
 */
void deliver_print(FILE *f, unsigned int vcpu)
{
	fprintf(f, "cpu%u.pmi.signalled %lu\n", vcpu, deliveries[vcpu].signalled);
}

/**
 * deliver_print_faults() - statistics of a CPU: what became of its interrupts
 * @f: where to
 * @vcpu: its index
 */
void deliver_print_faults(FILE *f, unsigned int vcpu)
{
	const struct delivery *d = &deliveries[vcpu];

	fprintf(f, "cpu%u.pmi.lost %lu\n", vcpu, d->lost);
	fprintf(f, "cpu%u.pmi.delayed %lu\n", vcpu, d->delayed);
	fprintf(f, "cpu%u.pmi.spurious %lu\n", vcpu, d->spurious);
	fprintf(f, "cpu%u.pmi.misdirected %lu\n", vcpu, d->misdirected);
}
