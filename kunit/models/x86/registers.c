// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of x86's counters: the common part
 *
 * Counting, overflow and interrupt, as Intel (SDM volume 3, chapter 20) and AMD (APM volume 2,
 * 13.2) have in common.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/smp.h>

#include "models/model.h"
#include "pebs.h"
#include "access.h"

#define FIXED_BASE		32
#define RDPMC_FIXED_BIT		BIT(30)
#define RDPMC_METRICS_INDEX	BIT(29)

#define SELECT_USR		BIT_ULL(16)
#define SELECT_OS		BIT_ULL(17)
#define SELECT_INT		BIT_ULL(20)
#define SELECT_EN		BIT_ULL(22)
#define SELECT_GUEST_ONLY	BIT_ULL(40)
#define SELECT_HOST_ONLY	BIT_ULL(41)
#define SELECT_EVENT_AMD	(GENMASK_ULL(35, 32) | GENMASK_ULL(15, 0))

/* Event that a counter with a wrong event (errata) counts on Intel CPUs */
#define CORE_CYCLES		0x003c

#define STATUS_CTR_FRZ		BIT_ULL(59)
#define DEBUGCTL_FREEZE		BIT_ULL(12)

/* Description of all CPUs, and of CPU @other if that CPU has another type */
static const struct x86_model_cpu *all_cpus, *other_cpu;
static int other;

struct x86_model_cpuinfo x86_model_cpuinfo;
DEFINE_PER_CPU(struct x86_model, x86_model_state);

static x86_model_nmi_t nmi_handler, last_nmi_handler;

/* Result of corepmu_has_builtin_pmu(): 0, 1, or -ENOENT if the kernel hides it */
int x86_model_builtin;
/* register_nmi_handler() fails. */
bool x86_model_nmi_refused;
/* The built-in driver's handler leaves GLOBAL_CTRL at 0. */
bool x86_model_builtin_stops;
/* Counters of AMD's CPUs that the hypervisor does not provide, a bit each */
unsigned int x86_model_missing;
/* Bits of PERF_CTL that a hypervisor forces to 0 */
u64 x86_model_ctl_kept;
/* A PMI masks LVTPC on AMD's CPUs, too, as with some hypervisors. */
bool x86_model_masks_all;
/* The CPU has no local APIC. */
bool x86_model_no_apic;
/* Accesses to the counters' MSRs fault, although CPUID reports the counters. */
bool x86_model_no_msrs;
/* The kernel has no handler for interrupts of Intel PT. */
bool x86_model_no_trace;
/* Number of interrupts that the driver has passed to the handler of Intel PT */
unsigned int x86_model_traced;
/* Cores have several hardware threads. */
bool x86_model_threads;
/* User registers while a task enters the kernel */
const struct pt_regs *x86_model_entering;
/* There are several cores, two per module. */
bool x86_model_cores;
/* Called once, right after the next RDPMC */
void (*x86_model_after_rdpmc)(void);

/* Another driver holds reservations; number of registers that this driver has reserved */
static bool in_use;
static unsigned int reserved;

/**
 * x86_model_this() - find the description of the CPU that this code runs on
 *
 * Return: its description
 */
const struct x86_model_cpu *x86_model_this(void)
{
	return other_cpu && raw_smp_processor_id() == other ? other_cpu : all_cpus;
}

/**
 * corepmu_has_builtin_pmu() - replaces the function of ksyms.c
 *
 * Return: the value that the test has set
 */
int corepmu_has_builtin_pmu(void)
{
	return x86_model_builtin;
}

/**
 * corepmu_has_trace_interrupt() - replaces the function of ksyms.c
 *
 * Return: the value that the test has set
 */
bool corepmu_has_trace_interrupt(void)
{
	return !x86_model_no_trace;
}

/**
 * corepmu_trace_interrupt() - replaces the function of ksyms.c
 */
void corepmu_trace_interrupt(void)
{
	x86_model_traced++;
}

/* Counting */

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

/* SDM 20.2.2: instructions, core cycles, reference cycles (0x0300 here), slots (0x0400). */
static bool fixed_counts(struct x86_model *m, int nr, u64 event, bool user)
{
	static const u64 events[] = { 0x00c0, 0x003c, 0x0300, 0x0400 };
	u64 ctrl = m->fixed_ctrl >> (4 * nr);

	return nr < ARRAY_SIZE(events) && events[nr] == event &&
	       (ctrl & (user ? BIT(1) : BIT(0)));
}

/* Return the lowest @nr bits of @set. */
static u64 lowest(u64 set, unsigned int nr)
{
	u64 rest = set;

	while (nr-- && rest)
		rest &= rest - 1;

	return set & ~rest;
}

/* Return the counters that the hypervisor backs with hardware counters. */
static u64 backed(struct x86_model *m)
{
	u64 set = 0;
	int i;

	if (!m->room)
		return ~m->dead;

	for (i = 0; i < x86_model_this()->nr_gp; i++)
		if (m->select[i] & SELECT_EN)
			set |= BIT_ULL(i);
	for (i = 0; i < X86_MODEL_MAX_FIXED; i++)
		if (m->fixed_ctrl >> (4 * i) & (BIT(0) | BIT(1)))
			set |= BIT_ULL(FIXED_BASE + i);
	if (has_global_ctrl())
		set &= m->global_ctrl;

	return lowest(set, m->room) & ~m->dead;
}

/* Return the counters that count @event now. */
static u64 counting(struct x86_model *m, u64 event, bool user)
{
	u64 set = 0;
	int i;

	for (i = 0; i < x86_model_this()->nr_gp; i++)
		if (gp_counts(m, i, event, user))
			set |= BIT_ULL(i);
	if (!x86_model_this()->amd) {
		for (i = 0; i < X86_MODEL_MAX_FIXED; i++)
			if ((intel_model_fixed() & BIT(i)) && fixed_counts(m, i, event, user))
				set |= BIT_ULL(FIXED_BASE + i);
	}
	set &= backed(m);
	if (!has_global_ctrl())
		return set;
	/* SDM 20.2.4.1: CTR_FRZ stops all counters, whatever GLOBAL_CTRL says. */
	return m->global_status & STATUS_CTR_FRZ ? 0 : set & m->global_ctrl;
}

static bool interrupts(struct x86_model *m, int idx)
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

static void overflow(struct x86_model *m, u64 set)
{
	bool pmi = false;

	set = acr_model_overflow(m, set);
	set = pebs_model_overflow(m, set, &pmi);
	for (; set; set &= set - 1) {
		int idx = __ffs64(set);

		if (has_global_ctrl())
			m->global_status |= BIT_ULL(idx);
		pmi |= interrupts(m, idx) && !(m->deaf & BIT_ULL(idx));
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
static u64 advance(struct x86_model *m, u64 event, bool user, u64 times)
{
	u64 set = counting(m, event, user), full = 0, left, step = times;

	for (left = set; left; left &= left - 1) {
		int idx = __ffs64(left);
		u64 room = counter_mask(idx) - *counter_value(m, idx);

		/* The wrap comes one count later. Callers never ask for 2^64. */
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
		overflow(m, full);

	return times - step;
}

static void take_nmi(struct x86_model *m, bool user)
{
	m->pending = false;
	m->nmis++;
	if (!nmi_handler || !nmi_handler(NMI_LOCAL, model_regs(user)))
		m->unknown_nmis++;
	if (x86_model_builtin_stops)
		m->global_ctrl = 0;
	if (last_nmi_handler)
		last_nmi_handler(NMI_LOCAL, model_regs(user));
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
		times = advance(m, event, user, times);
		if (m->pending && !m->hold) {
			u64 late = min_t(u64, m->skid, times);

			times -= late;
			while (late)
				late = advance(m, event, user, late);
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

/* Make counters count by themselves: each access takes some cycles and instructions. */
static void count_itself(struct x86_model *m)
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

/* Functions that the driver calls */

static bool read_msr(u32 msr, u64 *value, const char **name, int *index)
{
	struct x86_model *m = this_cpu_ptr(&x86_model_state);

	if (x86_model_this()->amd)
		return amd_model_read(m, msr, value, name, index);

	return intel_model_read(m, msr, value, name, index);
}

static bool write_msr(u32 msr, u64 value, const char **name, int *index)
{
	struct x86_model *m = this_cpu_ptr(&x86_model_state);

	if (x86_model_this()->amd)
		return amd_model_write(m, msr, value, name, index);

	return intel_model_write(m, msr, value, name, index);
}

/**
 * x86_read_msr() - RDMSR
 * @msr: ECX
 *
 * Return: EDX:EAX
 */
u64 x86_read_msr(u32 msr)
{
	const char *name = "MSR";
	u64 value = 0;
	int index = -1;

	if (!read_msr(msr, &value, &name, &index))
		model_fault(name, msr, false, 0);
	model_note(name, index, false, value);

	return value;
}

/**
 * x86_write_msr() - WRMSR
 * @msr: ECX
 * @value: EDX:EAX
 */
void x86_write_msr(u32 msr, u64 value)
{
	const char *name = "MSR";
	int index = -1;

	if (!write_msr(msr, value, &name, &index))
		model_fault(name, msr, true, value);
	model_note(name, index, true, value);
}

/**
 * x86_read_msr_safe() - RDMSR that may raise #GP
 * @msr: ECX
 * @value: EDX:EAX
 *
 * Return: 0, or -EIO for #GP
 */
int x86_read_msr_safe(u32 msr, u64 *value)
{
	const char *name;
	int index;

	return !x86_model_no_msrs && read_msr(msr, value, &name, &index) ? 0 : -EIO;
}

/**
 * x86_write_msr_safe() - WRMSR that may raise #GP
 * @msr: ECX
 * @value: EDX:EAX
 *
 * Return: 0, or -EIO for #GP
 */
int x86_write_msr_safe(u32 msr, u64 value)
{
	const char *name;
	int index;

	return !x86_model_no_msrs && write_msr(msr, value, &name, &index) ? 0 : -EIO;
}

/**
 * x86_rdpmc() - RDPMC
 * @counter: ECX
 *
 * SDM volume 2, RDPMC: ECX[30] selects the fixed counters, ECX[29] PERF_METRICS; #GP for
 * others.
 *
 * Return: EDX:EAX
 */
u64 x86_rdpmc(u32 counter)
{
	struct x86_model *m = this_cpu_ptr(&x86_model_state);
	bool fixed = counter & RDPMC_FIXED_BIT;
	u32 idx = counter & ~RDPMC_FIXED_BIT;
	const char *name = fixed ? "rdpmc-fixed" : "rdpmc";
	void (*after)(void) = x86_model_after_rdpmc;
	u64 value;
	bool ok;

	count_itself(m);
	if (counter == RDPMC_METRICS_INDEX && x86_model_this()->metrics) {
		model_note("rdpmc-metrics", -1, false, m->metrics);
		return m->metrics;
	}
	if (fixed)
		ok = !x86_model_this()->amd && idx < X86_MODEL_MAX_FIXED &&
		     (intel_model_fixed() & BIT(idx));
	else
		ok = idx < x86_model_this()->nr_gp && !(x86_model_this()->holes & BIT(idx));
	if (!ok) {
		model_fault(name, counter, false, 0);
		return 0;
	}

	value = fixed ? m->fixed[idx] : m->counter[idx];
	model_note(name, idx, false, value);
	x86_model_after_rdpmc = NULL;
	if (after)
		after();
	return value;
}

/* The log does not show this read: the driver reads LVTPC only for NMIs without an overflow. */
static u32 read_apic(u32 reg)
{
	if (reg != APIC_LVTPC) {
		model_fault("APIC", reg, false, 0);
		return 0;
	}
	return this_cpu_read(x86_model_state.lvtpc);
}

static void write_apic(u32 reg, u32 value)
{
	struct x86_model *m = this_cpu_ptr(&x86_model_state);

	if (reg != APIC_LVTPC) {
		model_fault("APIC", reg, true, value);
		return;
	}
	m->lvtpc = value;
	model_note("LVTPC", -1, true, value);
}

const struct x86_model_apic x86_model_apic = {
	.read	= read_apic,
	.write	= write_apic,
};

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

/**
 * x86_model_use() - let another driver reserve the last event select register
 * @use: false: release it
 */
void x86_model_use(bool use)
{
	in_use = use;
}

/**
 * x86_model_reserve() - reserve_perfctr_nmi(), reserve_evntsel_nmi()
 * @msr: register to reserve
 *
 * As arch/x86/kernel/cpu/perfctr-watchdog.c.
 *
 * Return: 1 if the register is reserved, 0 if it was in use
 */
int x86_model_reserve(u32 msr)
{
	/* The other driver has the last event select register, which the driver reserves last. */
	if (in_use && reserved == 2 * x86_model_this()->nr_gp - 1)
		return 0;
	reserved++;
	return 1;
}

/**
 * x86_model_release() - release_perfctr_nmi(), release_evntsel_nmi()
 * @msr: the register
 */
void x86_model_release(u32 msr)
{
	reserved--;
}

/**
 * x86_model_reserved() - count the registers that the driver has reserved
 *
 * Return: their number
 */
unsigned int x86_model_reserved(void)
{
	return reserved;
}

static void power_on_cpu(int which, const struct x86_model_cpu *cpu)
{
	struct x86_model *m = per_cpu_ptr(&x86_model_state, which);
	int idx;

	*m = (struct x86_model) { .lvtpc = APIC_LVT_MASKED };
	for (idx = 0; idx < cpu->nr_gp; idx++) {
		if (cpu->holes & BIT(idx))
			continue;
		m->select[idx] = SELECT_EN | SELECT_INT | SELECT_OS | SELECT_USR | 0xc0;
		m->counter[idx] = 0x1234 + idx;
	}
	if (!cpu->amd && intel_model_fixed())
		m->fixed_ctrl = 0xb;
	if (cpu->version >= 2) {
		m->global_ctrl = GENMASK_ULL(cpu->nr_gp - 1, 0) & ~(u64)cpu->holes;
		m->global_status = BIT_ULL(0);
	}
	*per_cpu_ptr(&model_log, which) = (struct model_log) { };
}

/**
 * x86_model_power_on() - reset all CPUs to the state after power-on
 * @cpu: description of the CPUs
 *
 * Process context. SDM volume 3, table 10-1: GLOBAL_CTRL enables the general-purpose counters. The
 * other registers get values that firmware may have left.
 */
void x86_model_power_on(const struct x86_model_cpu *cpu)
{
	int i;

	all_cpus = cpu;
	other_cpu = NULL;
	x86_model_cpuinfo = (struct x86_model_cpuinfo) {
		.x86			= cpu->family,
		.x86_model		= cpu->model,
		.x86_vendor		= cpu->hygon ? X86_VENDOR_HYGON :
					  cpu->amd ? X86_VENDOR_AMD : X86_VENDOR_INTEL,
		.cpuid_level		= cpu->version >= 6 ? 0x23 : cpu->core_type ? 0x1a : 0x16,
		.x86_virt_bits		= 48,
		.microcode		= U32_MAX,
		.extended_cpuid_level	= cpu->amd && cpu->version >= 2 ? 0x80000022 : 0x80000008,
	};
	x86_model_builtin = 0;
	x86_model_nmi_refused = false;
	x86_model_builtin_stops = false;
	x86_model_after_rdpmc = NULL;
	x86_model_no_apic = false;
	x86_model_no_msrs = false;
	x86_model_traced = 0;
	x86_model_threads = false;
	x86_model_cores = false;
	x86_model_user_power_on();
	pebs_model_guests = false;
	x86_model_svm = false;
	x86_model_no_kprobes = false;
	in_use = false;

	for_each_possible_cpu(i)
		power_on_cpu(i, cpu);
}

/**
 * x86_model_power_on_other() - give one CPU another type
 * @which: the CPU
 * @cpu: description of this CPU
 *
 * After x86_model_power_on(), which gives all CPUs the same type again.
 */
void x86_model_power_on_other(int which, const struct x86_model_cpu *cpu)
{
	other = which;
	other_cpu = cpu;
	power_on_cpu(which, cpu);
}
