// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The PMU's level-triggered interrupt line.
 *
 * The line is high while an overflow flag with an enabled interrupt is set. After an overflow, the
 * line is held low until the interrupt is delivered: at the end of the block, or after the delay of
 * a fault. If the interrupt is lost or misdirected, the line stays low until the next overflow, or
 * until all flags are cleared. An interrupt without a cause keeps the line high until the guest
 * accesses the flags.
 */
#include "arm64/cpu/deliver.h"
#include "arm64/qemu.h"
#include "pmu/deliver.h"

/**
 * struct line - the interrupt line of one CPU
 * @high: the present level
 * @held: the line is held low: the interrupt has not been delivered
 * @spurious: an interrupt without a cause keeps the line high
 * @raised: statistics: how often the line went high
 * @causeless: statistics: interrupts without a cause
 */
static struct line {
	bool high;
	bool held;
	bool spurious;
	uint64_t raised;
	uint64_t causeless;
} lines[PMU_VCPUS_MAX];

static struct arm64_pmu *const *pmu_of;

static void set_line(unsigned int vcpu)
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
 * arm64_deliver_overflow() - signal the overflow of a counter with an enabled interrupt
 * @vcpu: index of the vCPU; called in its thread
 */
void arm64_deliver_overflow(unsigned int vcpu)
{
	struct line *l = &lines[vcpu];

	/* A line that is high already stays high. */
	if (!l->high)
		l->held = true;
	deliver_interrupt(vcpu);
}

/**
 * arm64_deliver_take() - deliver an interrupt
 * @vcpu: index of the CPU; called in its work
 * @due: a counter of this CPU has caused the interrupt
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
	set_line(vcpu);
}

/**
 * arm64_deliver_update() - update the line after an access to a register
 * @vcpu: index of the vCPU; called in its thread
 * @flags_seen: the register has the overflow flags
 */
void arm64_deliver_update(unsigned int vcpu, bool flags_seen)
{
	struct line *l = &lines[vcpu];

	if (flags_seen)
		l->spurious = false;
	if (!arm64_pmu_flagged(pmu_of[vcpu]))
		l->held = false;
	set_line(vcpu);
}

/**
 * arm64_deliver_reset() - reset the line of a CPU, after the CPU's PMU
 * @vcpu: index of the CPU
 */
void arm64_deliver_reset(unsigned int vcpu)
{
	lines[vcpu].held = false;
	lines[vcpu].spurious = false;
	set_line(vcpu);
}

/**
 * arm64_deliver_print() - print the statistics of a CPU's line
 * @f: the file of statistics
 * @vcpu: index of the CPU
 */
void arm64_deliver_print(FILE *f, unsigned int vcpu)
{
	fprintf(f, "cpu%u.pmi.raised %lu\n", vcpu, lines[vcpu].raised);
	fprintf(f, "cpu%u.pmi.causeless %lu\n", vcpu, lines[vcpu].causeless);
}

/**
 * arm64_deliver_init() - prepare for delivering interrupts
 * @pmus: the PMU of each vCPU; must stay valid
 */
void arm64_deliver_init(struct arm64_pmu *const *pmus)
{
	pmu_of = pmus;
}
