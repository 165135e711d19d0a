// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The PMU's interrupt line, which the interrupt controller sees the level of.
 *
 * It is high while an overflow flag is set whose interrupt is enabled. After an
 * overflow it is held low until the interrupt is delivered: at the end of the
 * block, or when the fault that delays it says so, or, if the interrupt is lost
 * or goes elsewhere, until the next overflow or until all flags are cleared. An
 * interrupt without a cause keeps it high until somebody looks at the flags.
 */
#include "arm64/cpu/deliver.h"
#include "arm64/qemu.h"
#include "pmu/deliver.h"

/**
 * struct line - one CPU
 * @high: what the interrupt controller was told last
 * @held: the interrupt has not been delivered
 * @spurious: there is one without cause
 * @raised: how often the line went high
 * @causeless: how often an interrupt without cause arrived
 */
static struct line {
	bool high;
	bool held;
	bool spurious;
	uint64_t raised;
	uint64_t causeless;
} lines[PMU_VCPUS_MAX];

static struct arm64_pmu *const *pmu_of;

static void set(unsigned int vcpu)
{
	struct line *l = &lines[vcpu];
	bool high = l->spurious || (!l->held && arm64_pmu_line(pmu_of[vcpu]));

	if (high == l->high)
		return;
	l->high = high;
	l->raised += high;
	arm64_qemu_set_line(vcpu, high);
}

/**
 * arm64_deliver_overflow() - a counter that interrupts has overflowed
 * @vcpu: where; in its thread
 */
void arm64_deliver_overflow(unsigned int vcpu)
{
	struct line *l = &lines[vcpu];

	/* Another interrupt adds nothing to one that is there. */
	if (!l->high)
		l->held = true;
	deliver_interrupt(vcpu);
}

/**
 * arm64_deliver_take() - an interrupt has arrived
 * @vcpu: at this CPU; in its work
 * @due: whether by a counter of this CPU
 */
void arm64_deliver_take(unsigned int vcpu, bool due)
{
	struct line *l = &lines[vcpu];

	if (due) {
		l->held = false;
	} else {
		l->spurious = true;
		l->causeless++;
	}
	set(vcpu);
}

/**
 * arm64_deliver_update() - registers have been accessed
 * @vcpu: by this CPU; in its thread
 * @flags_seen: the overflow flags among them
 */
void arm64_deliver_update(unsigned int vcpu, bool flags_seen)
{
	struct line *l = &lines[vcpu];

	if (flags_seen)
		l->spurious = false;
	if (!arm64_pmu_flagged(pmu_of[vcpu]))
		l->held = false;
	set(vcpu);
}

/**
 * arm64_deliver_reset() - the machine is reset
 * @vcpu: for each of its CPUs, after its PMU
 */
void arm64_deliver_reset(unsigned int vcpu)
{
	lines[vcpu].held = false;
	lines[vcpu].spurious = false;
	set(vcpu);
}

/**
 * arm64_deliver_print() - statistics of a CPU
 * @f: where to
 * @vcpu: its index
 */
void arm64_deliver_print(FILE *f, unsigned int vcpu)
{
	fprintf(f, "cpu%u.pmi.raised %lu\n", vcpu, lines[vcpu].raised);
	fprintf(f, "cpu%u.pmi.causeless %lu\n", vcpu, lines[vcpu].causeless);
}

/**
 * arm64_deliver_init() - prepare for delivering interrupts
 * @pmus: the PMU of each vCPU; it stays in use
 */
void arm64_deliver_init(struct arm64_pmu *const *pmus)
{
	pmu_of = pmus;
}
