// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Delivery of a PMU's interrupts to the CPU, and faults of the delivery.
 *
 * In the middle of a block, no device can be used and no CPU be interrupted. So the CPU takes the
 * interrupt at the end of the block.
 */
#include "pmu/deliver.h"
#include "pmu/qemu.h"

struct deliver_config deliver_config;

/**
 * struct delivery - delivery of interrupts to one CPU
 * @pending: work that delivers an interrupt is queued
 * @due: a counter of this CPU has caused the pending interrupt
 * @alarm_set: an alarm is set for a late interrupt
 * @alarm_due: a counter of this CPU has caused the late interrupt
 * @signalled: statistics: interrupts that counters have signalled
 * @lost: statistics: lost interrupts
 * @delayed: statistics: delayed interrupts
 * @spurious: statistics: interrupts without a cause
 * @misdirected: statistics: interrupts that went to the next CPU
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
 * deliver_init() - check the options in deliver_config, and complete it
 * @info: QEMU's information for plugins
 * @take: see struct deliver_config
 * @set_alarm: see struct deliver_config
 *
 * Return: 0, or non-zero after a refusal.
 */
int deliver_init(const struct qemu_info *info, void (*take)(unsigned int vcpu, bool due),
		 void (*set_alarm)(unsigned int vcpu, uint64_t instructions))
{
	if (deliver_config.wrong_cpu && info->max_vcpus < 2)
		return plugin_refuse("'fault=wrong-cpu-pmi' needs another CPU: use -smp 2 or more");
	if (deliver_config.skid && deliver_config.spurious)
		return plugin_refuse("'skid' and 'fault=spurious-pmi' both delay interrupts: use one of them");
	deliver_config.cpus = info->smp_vcpus;
	deliver_config.take = take;
	deliver_config.set_alarm = set_alarm;
	return 0;
}

static void take_interrupt(unsigned int vcpu)
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
		pmu_qemu_work(vcpu, take_interrupt);
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
 * deliver_interrupt() - signal the overflow of a counter
 * @vcpu: index of the vCPU; called in its thread
 *
 * An overflow while an interrupt is pending causes no second interrupt.
 */
void deliver_interrupt(unsigned int vcpu)
{
	struct delivery *d = &deliveries[vcpu];

	if (__atomic_load_n(&d->pending, __ATOMIC_RELAXED))
		return;
	/* An earlier overflow's interrupt, delayed by skid=, signals this overflow, too. */
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
 * deliver_alarm() - deliver the late interrupt: its alarm has expired
 * @vcpu: index of the vCPU; called in its thread
 */
void deliver_alarm(unsigned int vcpu)
{
	deliveries[vcpu].alarm_set = false;
	deliver_to(vcpu, deliveries[vcpu].alarm_due);
}

/**
 * deliver_reset() - clear all alarms: the machine is reset
 */
void deliver_reset(void)
{
	for (unsigned int i = 0; i < deliver_config.cpus; i++)
		deliveries[i].alarm_set = false;
}

/**
 * deliver_print() - print how many interrupts the counters of a CPU have signalled
 * @f: the file of statistics
 * @vcpu: index of the CPU
 */
void deliver_print(FILE *f, unsigned int vcpu)
{
	fprintf(f, "cpu%u.pmi.signalled %lu\n", vcpu, deliveries[vcpu].signalled);
}

/**
 * deliver_print_faults() - print how many interrupts of a CPU had which fault
 * @f: the file of statistics
 * @vcpu: index of the CPU
 */
void deliver_print_faults(FILE *f, unsigned int vcpu)
{
	const struct delivery *d = &deliveries[vcpu];

	fprintf(f, "cpu%u.pmi.lost %lu\n", vcpu, d->lost);
	fprintf(f, "cpu%u.pmi.delayed %lu\n", vcpu, d->delayed);
	fprintf(f, "cpu%u.pmi.spurious %lu\n", vcpu, d->spurious);
	fprintf(f, "cpu%u.pmi.misdirected %lu\n", vcpu, d->misdirected);
}
