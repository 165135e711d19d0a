// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of the PMUv3 of an Arm CPU: counting, overflow and interrupt
 *
 * Arm Architecture Reference Manual for A-profile, DDI 0487, chapter D13.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>
#include <linux/smp.h>

#include <asm/irq_regs.h>

#include "access.h"
#include "count.h"
#include "models/model.h"

static irq_handler_t irq_handler;
static void __percpu *irq_dev;

/* CPU whose PMU raises the interrupt (an SPI); -1: the CPU that takes the interrupt */
int pmuv3_model_irq_cpu;

/* Return the last value before a counter overflows; LC and LP of PMCR_EL0 select 32 or 64 bits. */
static u64 overflow_mask(struct pmuv3_model *m, unsigned int n)
{
	if (n == INSTR || (n == CYCLE && (m->pmcr & CR_LC)))
		return U64_MAX;
	if (n < CYCLE && pmuv3_model_is_wide() && (m->pmcr & CR_LP))
		return U64_MAX;

	return GENMASK_ULL(31, 0);
}

/* D13.5: filtering by exception level; the model has no secure state. */
static bool passes_filter(u64 type, unsigned int el)
{
	switch (el) {
	case 0:
		return !(type & TYPE_U);
	case 1:
		return !(type & TYPE_P);
	default:
		return type & TYPE_NSH;
	}
}

static unsigned int event_of(struct pmuv3_model *m, unsigned int n)
{
	if (n == CYCLE)
		return EVENT_CYCLES;
	if (n == INSTR)
		return EVENT_INST;

	return FIELD_GET(TYPE_EVENT, m->type[n]);
}

static u64 find_counting(struct pmuv3_model *m, unsigned int event, unsigned int el)
{
	u64 set = m->enabled & pmuv3_model_counters(), left;

	if (!(m->pmcr & CR_E))
		return 0;
	for (left = set; left; left &= left - 1) {
		unsigned int n = __ffs64(left);

		if (event_of(m, n) != event || !passes_filter(m->type[n], el))
			set &= ~BIT_ULL(n);
	}

	return set;
}

static void add_count(struct pmuv3_model *m, unsigned int n, u64 step, unsigned int el);

/*
 * D13.11.3, CHAIN: an odd counter with this event counts when the even counter below wraps at 32
 * bits. CHAIN counts nothing on an even counter, and nothing with PMCR_EL0.LP.
 */
static void note_wrap(struct pmuv3_model *m, unsigned int n, unsigned int el)
{
	unsigned int odd = n + 1;

	m->overflowed |= BIT_ULL(n);
	if (n != CYCLE)
		pmuv3_model_freeze(m, el);
	if (n & 1 || overflow_mask(m, n) == U64_MAX)
		return;
	if (!pmuv3_model_is_event_counter(odd) || !(m->enabled & BIT_ULL(odd)) ||
	    event_of(m, odd) != EVENT_CHAIN || !passes_filter(m->type[odd], el))
		return;
	add_count(m, odd, 1, el);
}

static void add_count(struct pmuv3_model *m, unsigned int n, u64 step, unsigned int el)
{
	u64 before = m->counter[n], at = overflow_mask(m, n);

	m->counter[n] = (before + step) & pmuv3_model_counter_mask(n);
	/* Callers step up to a wrap and not beyond. */
	if (step > at - (before & at))
		note_wrap(m, n, el);
}

/* Count up to @times events, but stop at the first overflow. Return the number that is left. */
static u64 advance_counters(struct pmuv3_model *m, unsigned int event, unsigned int el, u64 times)
{
	u64 set = find_counting(m, event, el) & ~m->dead, left, step = times;

	for (left = set; left; left &= left - 1) {
		unsigned int n = __ffs64(left);
		u64 at = overflow_mask(m, n), room = at - (m->counter[n] & at);

		/* The wrap comes one count after the maximum. room + 1 is at most @times. */
		if (room < step)
			step = room + 1;
	}
	for (left = set; left; left &= left - 1)
		add_count(m, __ffs64(left), step, el);

	return times - step;
}

/*
 * D13.1.1: the interrupt is requested while PMCR_EL0.E and an overflow flag with its enable bit are
 * set.
 */
static bool is_requested(struct pmuv3_model *m)
{
	return (m->pmcr & CR_E) && (m->overflowed & m->interrupts);
}

static void take_irq(struct pmuv3_model *m, bool user)
{
	int cpu = pmuv3_model_irq_cpu < 0 ? smp_processor_id() : pmuv3_model_irq_cpu;
	struct pt_regs *old = set_irq_regs(model_regs(user));

	m->irqs++;
	if (!irq_handler || irq_handler(0, per_cpu_ptr(irq_dev, cpu)) != IRQ_HANDLED)
		m->unknown_irqs++;
	set_irq_regs(old);
}

/*
 * An interrupt that the handler does not acknowledge is taken again at once. The model takes it
 * eight times at most.
 */
static void take_irqs(struct pmuv3_model *m, bool user)
{
	unsigned int tries = 0;

	while (is_requested(m) && !m->hold && tries++ < 8)
		take_irq(m, user);
}

/**
 * pmuv3_model_run() - execute: an event happens
 * @event: number of the event
 * @el: exception level
 * @times: number of times
 *
 * The CPU takes interrupts as they come. Callers may assume that IRQs are off.
 */
void pmuv3_model_run(unsigned int event, unsigned int el, u64 times)
{
	struct pmuv3_model *m = this_cpu_ptr(&pmuv3_model_state);
	unsigned long flags;

	local_irq_save(flags);
	while (times) {
		times = advance_counters(m, event, el, times);
		if (is_requested(m) && !m->hold) {
			u64 late = min_t(u64, m->skid, times);

			times -= late;
			while (late)
				late = advance_counters(m, event, el, late);
			take_irqs(m, !el);
		}
	}
	local_irq_restore(flags);
}

/**
 * pmuv3_model_spurious_irq() - raise an interrupt without an overflow
 */
void pmuv3_model_spurious_irq(void)
{
	unsigned long flags;

	local_irq_save(flags);
	take_irq(this_cpu_ptr(&pmuv3_model_state), false);
	local_irq_restore(flags);
}

/**
 * pmuv3_model_hold() - hold interrupts back
 * @hold: false: take a pending interrupt, in the kernel
 */
void pmuv3_model_hold(bool hold)
{
	struct pmuv3_model *m = this_cpu_ptr(&pmuv3_model_state);
	unsigned long flags;

	local_irq_save(flags);
	m->hold = hold;
	take_irqs(m, false);
	local_irq_restore(flags);
}

/**
 * pmuv3_model_count_itself() - make counters count by themselves
 * @m: the CPU, whose read of a counter takes @m->counts_itself cycles and instructions
 */
void pmuv3_model_count_itself(struct pmuv3_model *m)
{
	if (!m->counts_itself)
		return;
	pmuv3_model_run(EVENT_CYCLES, pmuv3_model_cpu->hyp ? 2 : 1, m->counts_itself);
	pmuv3_model_run(EVENT_INST, pmuv3_model_cpu->hyp ? 2 : 1, m->counts_itself);
}

/**
 * pmuv3_model_connect() - connect the interrupt
 * @handler: its handler, or NULL
 * @dev: per-CPU argument of the handler
 */
void pmuv3_model_connect(irq_handler_t handler, void __percpu *dev)
{
	irq_handler = handler;
	irq_dev = dev;
}
