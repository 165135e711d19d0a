// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kinds of counts that generated code counts.
 *
 * Kinds that no counter needs are not instrumented. If a guest enables a counter with a new kind,
 * all translated code is discarded. This happens before the vCPU executes the block after the write
 * that enables the counter. If no vCPU has needed a kind for a while, all code is discarded again,
 * and translated without it. Without any kind, QEMU runs its plain code.
 */
#include "pmu/live.h"
#include "pmu/qemu.h"

/*
 * A kind is dropped if no counter has needed it for this many interrupts of a vCPU. Translation
 * takes time: the number doubles with each drop, for a guest that needs a kind now and then.
 */
#define QUIET_INTERRUPTS	100
#define QUIET_INTERRUPTS_MAX	3200

unsigned int live_instrumentations;
uint32_t live_kinds;

static const struct live_config *config;

/* The live kinds after the next instrumentation; changes only while all vCPUs are stopped */
static uint32_t next_kinds;

/* The kinds that any vCPU has needed since the last drop, or since kinds were last found unused */
static uint32_t used_kinds;

static unsigned int quiet_interrupts = QUIET_INTERRUPTS;

/**
 * struct vcpu - the state of a vCPU
 * @wanted: bitmap of the kinds that the vCPU waits for
 * @interrupts: number of interrupts since the vCPU last looked for unused kinds
 */
static struct vcpu {
	uint32_t wanted;
	unsigned int interrupts;
} vcpus[PMU_VCPUS_MAX];

static void instrumented(void)
{
	live_kinds = next_kinds;
	live_instrumentations++;
	config->changed();
}

static void instrument(uint32_t kinds)
{
	next_kinds = kinds;
	pmu_qemu_instrument(kinds ? config->translate : NULL, instrumented, config->at_exit);
}

/*
 * Runs as exclusive work, with every other vCPU stopped. If another vCPU has requested an
 * instrumentation already, the work is queued again until that is done.
 */
static void instrument_for(unsigned int vcpu)
{
	uint32_t wanted = vcpus[vcpu].wanted;

	if (!(wanted & ~(live_kinds & next_kinds))) {
		vcpus[vcpu].wanted = 0;
		return;
	}
	if (next_kinds == live_kinds)
		instrument(live_kinds | wanted);
	pmu_qemu_exclusive_work(vcpu, instrument_for);
}

static void use_kinds(uint32_t kinds)
{
	if (kinds & ~__atomic_load_n(&used_kinds, __ATOMIC_RELAXED))
		__atomic_or_fetch(&used_kinds, kinds, __ATOMIC_RELAXED);
}

/**
 * live_need() - count more kinds of events on a vCPU from now on
 * @vcpu: index of the vCPU; called in its thread
 * @kinds: bitmap of the kinds
 */
void live_need(unsigned int vcpu, uint32_t kinds)
{
	use_kinds(kinds);
	if (!(kinds & ~((live_kinds & next_kinds) | vcpus[vcpu].wanted)))
		return;
	vcpus[vcpu].wanted |= kinds;
	pmu_qemu_exclusive_work(vcpu, instrument_for);
}

/* Runs as exclusive work. If an instrumentation is pending, a later call drops the kinds. */
static void drop_unused(unsigned int vcpu)
{
	uint32_t kinds = used_kinds;

	(void)vcpu;
	if (next_kinds != live_kinds)
		return;
	for (unsigned int i = 0; i < pmu_qemu_vcpus(); i++)
		kinds |= config->needs(i) | vcpus[i].wanted;
	used_kinds = 0;
	if (!(live_kinds & ~kinds))
		return;
	if (quiet_interrupts < QUIET_INTERRUPTS_MAX)
		quiet_interrupts *= 2;
	instrument(live_kinds & kinds);
}

/**
 * live_tick() - note an interrupt, and look for unused kinds after some interrupts
 * @vcpu: index of the vCPU; called in its thread
 */
void live_tick(unsigned int vcpu)
{
	if (!live_kinds)
		return;
	use_kinds(config->needs(vcpu));
	if (++vcpus[vcpu].interrupts < quiet_interrupts)
		return;
	vcpus[vcpu].interrupts = 0;
	if (live_has(~__atomic_load_n(&used_kinds, __ATOMIC_RELAXED)))
		pmu_qemu_exclusive_work(vcpu, drop_unused);
	else
		__atomic_store_n(&used_kinds, 0, __ATOMIC_RELAXED);
}

/**
 * live_init() - set the functions of the architecture
 * @c: the functions; must stay valid
 */
void live_init(const struct live_config *c)
{
	config = c;
}
