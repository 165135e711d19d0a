// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of x86's counters: counting, overflow and interrupt
 *
 * The file models what Intel (SDM volume 3, chapter 20) and AMD (APM volume 2, 13.2) share.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/irqflags.h>
#include <linux/minmax.h>

#include "models/model.h"
#include "pebs.h"
#include "access.h"

#define FIXED_BASE		32

#define SELECT_USR		BIT_ULL(16)
#define SELECT_OS		BIT_ULL(17)
#define SELECT_INT		BIT_ULL(20)
#define SELECT_EN		BIT_ULL(22)
#define SELECT_GUEST_ONLY	BIT_ULL(40)
#define SELECT_HOST_ONLY	BIT_ULL(41)
#define SELECT_EVENT_AMD	(GENMASK_ULL(35, 32) | GENMASK_ULL(15, 0))

/* Event that a counter counts instead of its own under an erratum of Intel CPUs */
#define CORE_CYCLES		0x003c

#define STATUS_CTR_FRZ		BIT_ULL(59)
#define DEBUGCTL_FREEZE		BIT_ULL(12)

static x86_model_nmi_t nmi_handler, last_nmi_handler;

static u64 counter_mask(int idx)
{
	return GENMASK_ULL((idx < FIXED_BASE ? x86_model_this()->gp_width :
			    x86_model_this()->fixed_width) - 1, 0);
}

static u64 *counter_value(struct x86_model *m, int idx)
{
	return idx < FIXED_BASE ? &m->counter[idx] : &m->fixed[idx - FIXED_BASE];
}

static bool has_global_ctrl(void)
{
	return x86_model_this()->version >= 2;
}

/*
 * The model runs no guests. While EFER.SVME is 0, a counter with a host-only or guest-only bit
 * counts nothing.
 */
static bool counts_host(u64 select)
{
	if (!x86_model_this()->amd)
		return true;

	return !(select & SELECT_GUEST_ONLY) && (x86_model_svm || !(select & SELECT_HOST_ONLY));
}

static bool gp_counts(struct x86_model *m, int idx, u64 event, bool user)
{
	u64 select = m->select[idx];
	u64 what = x86_model_this()->amd ? SELECT_EVENT_AMD : GENMASK_ULL(15, 0);

	/* The erratum replaces the event, see intel.c. */
	if (m->miscounting & BIT_ULL(idx))
		select = (select & ~what) | CORE_CYCLES;

	return (select & SELECT_EN) && counts_host(select) && (select & what) == event &&
	       (select & (user ? SELECT_USR : SELECT_OS));
}

/*
 * SDM 20.2.2: instructions, core cycles, reference cycles (0x0300 here), slots (0x0400). Zhaoxin:
 * wudaokou_event_constraints[] in openEuler's kernel, arch/x86/events/zhaoxin/core.c.
 */
static bool fixed_counts(struct x86_model *m, int nr, u64 event, bool user)
{
	static const u64 intel[] = { 0x00c0, 0x003c, 0x0300, 0x0400 };
	static const u64 zhaoxin[ARRAY_SIZE(intel)] = { 0x00c0, 0x0082, 0x0083 };
	const u64 *events = x86_model_this()->zhaoxin ? zhaoxin : intel;
	u64 ctrl = m->fixed_ctrl >> (4 * nr);

	return nr < ARRAY_SIZE(intel) && events[nr] == event &&
	       (ctrl & (user ? BIT(1) : BIT(0)));
}

/* Return the lowest @nr bits of @set. */
static u64 lowest_bits(u64 set, unsigned int nr)
{
	u64 rest = set;

	while (nr-- && rest)
		rest &= rest - 1;

	return set & ~rest;
}

/* Return the counters that the hypervisor backs with hardware counters. */
static u64 find_backed(struct x86_model *m)
{
	u64 set = 0;

	if (!m->room)
		return ~m->dead;

	for (int i = 0; i < x86_model_this()->nr_gp; i++)
		if (m->select[i] & SELECT_EN)
			set |= BIT_ULL(i);
	for (int i = 0; i < X86_MODEL_MAX_FIXED; i++)
		if (m->fixed_ctrl >> (4 * i) & (BIT(0) | BIT(1)))
			set |= BIT_ULL(FIXED_BASE + i);
	if (has_global_ctrl())
		set &= m->global_ctrl;

	return lowest_bits(set, m->room) & ~m->dead;
}

/* Return the counters that count @event now. */
static u64 find_counting(struct x86_model *m, u64 event, bool user)
{
	u64 set = 0;

	for (int i = 0; i < x86_model_this()->nr_gp; i++)
		if (gp_counts(m, i, event, user))
			set |= BIT_ULL(i);
	if (!x86_model_this()->amd) {
		for (int i = 0; i < X86_MODEL_MAX_FIXED; i++)
			if ((intel_model_fixed() & BIT(i)) && fixed_counts(m, i, event, user))
				set |= BIT_ULL(FIXED_BASE + i);
	}
	set &= find_backed(m);
	if (!has_global_ctrl())
		return set;
	/* SDM 20.2.4.1: CTR_FRZ stops all counters, whatever GLOBAL_CTRL says. */
	return m->global_status & STATUS_CTR_FRZ ? 0 : set & m->global_ctrl;
}

static bool is_interrupting(struct x86_model *m, int idx)
{
	if (idx >= FIXED_BASE)
		return m->fixed_ctrl & BIT_ULL(4 * (idx - FIXED_BASE) + 3);

	return m->select[idx] & SELECT_INT;
}

/*
 * The local APIC takes a PMI if LVTPC is not masked. On Intel the PMI masks LVTPC (SDM 11.5.1,
 * "Local Vector Table"), on AMD it does not.
 */
static void raise_pmi(struct x86_model *m)
{
	if ((m->lvtpc & APIC_LVT_MASKED) || (m->lvtpc & APIC_DM_FIXED_MASK) != APIC_DM_NMI)
		return;
	if (!x86_model_this()->amd || x86_model_masks_all)
		m->lvtpc |= APIC_LVT_MASKED;
	m->pending = true;
}

static void overflow_counters(struct x86_model *m, u64 set)
{
	bool pmi = false;

	set = acr_model_overflow(m, set);
	set = pebs_model_overflow(m, set, &pmi);
	for (; set; set &= set - 1) {
		int idx = __ffs64(set);

		if (has_global_ctrl())
			m->global_status |= BIT_ULL(idx);
		pmi |= is_interrupting(m, idx) && !(m->deaf & BIT_ULL(idx));
	}
	if (!pmi)
		return;

	if (!x86_model_this()->amd && (m->debugctl & DEBUGCTL_FREEZE)) {
		/* 20.4.7: until version 3 the freeze clears GLOBAL_CTRL; later it sets CTR_FRZ. */
		if (x86_model_this()->version >= 4)
			m->global_status |= STATUS_CTR_FRZ;
		else
			m->global_ctrl = 0;
	}
	lbr_model_freeze(m);
	raise_pmi(m);
}

/* Count up to @times events, but stop at the first overflow. Return the number that is left. */
static u64 advance_counters(struct x86_model *m, u64 event, bool user, u64 times)
{
	u64 set = find_counting(m, event, user), full = 0, left, step = times;

	for (left = set; left; left &= left - 1) {
		int idx = __ffs64(left);
		u64 room = counter_mask(idx) - *counter_value(m, idx);

		/* A counter with all bits set wraps with one more count. No caller adds 2^64. */
		if (room < step)
			step = room + 1;
	}

	for (left = set; left; left &= left - 1) {
		int idx = __ffs64(left);
		u64 *value = counter_value(m, idx), before = *value;

		*value = (before + step) & counter_mask(idx);
		if (step > counter_mask(idx) - before)
			full |= BIT_ULL(idx);
	}
	if (full)
		overflow_counters(m, full);

	return times - step;
}

/* Return the registers of the interrupted code: see x86_model_user_cs. */
static struct pt_regs *interrupted_regs(bool user)
{
	struct pt_regs *regs = model_regs(user);

#ifdef CONFIG_X86
	if (user && x86_model_user_cs)
		regs->cs = x86_model_user_cs;
#endif

	return regs;
}

static void take_nmi(struct x86_model *m, bool user)
{
	m->pending = false;
	m->nmis++;
	if (!nmi_handler || !nmi_handler(NMI_LOCAL, interrupted_regs(user)))
		m->unknown_nmis++;
	if (x86_model_builtin_stops)
		m->global_ctrl = 0;
	if (last_nmi_handler)
		last_nmi_handler(NMI_LOCAL, interrupted_regs(user));
}

/**
 * x86_model_run() - execute: an event happens
 * @event: the event, as in an event select register: unit mask << 8 | event
 * @user: in user space, or in the kernel
 * @times: number of times
 *
 * The CPU takes NMIs as they come. Callers may assume that IRQs are off.
 */
void x86_model_run(u64 event, bool user, u64 times)
{
	struct x86_model *m = this_cpu_ptr(&x86_model_state);
	unsigned long flags;

	local_irq_save(flags);
	intel_model_runs(m);
	while (times) {
		times = advance_counters(m, event, user, times);
		if (m->pending && !m->hold) {
			u64 late = min_t(u64, m->skid, times);

			times -= late;
			while (late)
				late = advance_counters(m, event, user, late);
			take_nmi(m, user);
		}
	}
	if (m->pending && !m->hold)
		take_nmi(m, user);
	local_irq_restore(flags);
}

/**
 * x86_model_spurious_nmi() - raise an NMI without a cause
 */
void x86_model_spurious_nmi(void)
{
	unsigned long flags;

	local_irq_save(flags);
	take_nmi(this_cpu_ptr(&x86_model_state), false);
	local_irq_restore(flags);
}

/**
 * x86_model_fill_bts() - have the branch trace reach its threshold, which raises a PMI
 */
void x86_model_fill_bts(void)
{
	struct x86_model *m = this_cpu_ptr(&x86_model_state);
	unsigned long flags;

	local_irq_save(flags);
	x86_model_bts_full = true;
	raise_pmi(m);
	if (m->pending && !m->hold)
		take_nmi(m, false);
	local_irq_restore(flags);
}

/**
 * x86_model_hold() - hold NMIs back
 * @hold: false: take a pending NMI, in the kernel
 */
void x86_model_hold(bool hold)
{
	struct x86_model *m = this_cpu_ptr(&x86_model_state);
	unsigned long flags;

	local_irq_save(flags);
	m->hold = hold;
	if (!hold && m->pending)
		take_nmi(m, false);
	local_irq_restore(flags);
}

/**
 * x86_model_count_itself() - make counters count by themselves
 * @m: the CPU, whose access takes @m->counts_itself cycles and instructions
 */
void x86_model_count_itself(struct x86_model *m)
{
	if (!m->counts_itself)
		return;
	x86_model_run(x86_model_this()->amd ? 0x0076 : 0x003c, false, m->counts_itself);
	if (!x86_model_this()->amd) {
		x86_model_run(0x00c0, false, m->counts_itself);
		x86_model_run(0x0300, false, m->counts_itself);
		x86_model_run(0x0400, false, m->counts_itself);
	}
}

/**
 * x86_model_register_nmi() - register_nmi_handler()
 * @type: NMI_LOCAL
 * @handler: called for every NMI
 * @flags: NMI_FLAG_FIRST: before the built-in driver; 0: after it
 * @name: not used
 *
 * Return: 0, or -ENOMEM if the test asks for it
 */
int x86_model_register_nmi(unsigned int type, x86_model_nmi_t handler, unsigned long flags,
			   const char *name)
{
	if (x86_model_nmi_refused || type != NMI_LOCAL || flags & ~NMI_FLAG_FIRST)
		return -ENOMEM;
	if (flags)
		nmi_handler = handler;
	else
		last_nmi_handler = handler;
	return 0;
}

/**
 * x86_model_unregister_nmi() - unregister_nmi_handler()
 * @type: NMI_LOCAL
 * @name: "corepmu" is the name of the first handler
 */
void x86_model_unregister_nmi(unsigned int type, const char *name)
{
	if (strcmp(name, "corepmu"))
		last_nmi_handler = NULL;
	else
		nmi_handler = NULL;
}
