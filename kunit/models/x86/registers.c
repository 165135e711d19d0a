// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of x86's counters: register accesses, reservation and power-on
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/smp.h>

#include "models/model.h"
#include "access.h"

#define RDPMC_FIXED_BIT		BIT(30)
#define RDPMC_METRICS_INDEX	BIT(29)

/* PERFEVTSEL after power-on: INT, EN, OS and USR, and the event of instructions */
#define SELECT_AT_POWER_ON	0x5300c0

/* Description of all CPUs, and of CPU @other if that CPU has another type */
static const struct x86_model_cpu *all_cpus, *other_cpu;
static int other;

struct x86_model_cpuinfo x86_model_cpuinfo;
DEFINE_PER_CPU(struct x86_model, x86_model_state);

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
bool x86_model_xen_pv;
/* Accesses to the counters' MSRs fault, although CPUID reports the counters. */
bool x86_model_no_msrs;
/* Number of x86_write_msr_safe() calls with IRQs on: the next access may be on another CPU. */
unsigned int x86_model_migratable;
/* The kernel has no handler for interrupts of Intel PT. */
bool x86_model_no_trace;
/* Number of interrupts that the driver has passed to the handler of Intel PT */
unsigned int x86_model_traced;
/* The kernel has no PMU intel_bts. */
bool x86_model_no_bts;
/* The kernel has its page tables isolated. */
bool x86_model_pti;
/* A branch trace runs; its buffer has reached the interrupt threshold. */
bool x86_model_bts_runs, x86_model_bts_full;
/* Cores have several hardware threads. */
bool x86_model_threads;
/* User registers while a task enters the kernel */
const struct pt_regs *x86_model_entering;
/* Code segment of the interrupted user space; 0: __USER_CS */
unsigned long x86_model_user_cs;
/* There are several cores, two per module. */
bool x86_model_cores;
/* Called once, right after the next RDPMC */
void (*x86_model_after_rdpmc)(void);
/* Called once, right before the next WRMSR */
void (*x86_model_before_wrmsr)(void);

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

/**
 * corepmu_has_bts_interrupt() - replaces the function of ksyms.c
 *
 * Return: the value that the test has set
 */
bool corepmu_has_bts_interrupt(void)
{
	return !x86_model_no_bts;
}

/**
 * corepmu_bts_pause() - replaces the function of ksyms.c
 */
void corepmu_bts_pause(void)
{
	x86_model_bts_runs = false;
}

/**
 * corepmu_bts_interrupt() - replaces the function of ksyms.c
 *
 * intel_bts moves the threshold of a full buffer only while the trace is paused
 * (intel_bts_interrupt() in arch/x86/events/intel/bts.c).
 *
 * Return: 1 if the buffer was full
 */
int corepmu_bts_interrupt(void)
{
	bool full = x86_model_bts_full && !x86_model_bts_runs;

	if (full)
		x86_model_bts_full = false;

	return full;
}

/**
 * corepmu_bts_resume() - replaces the function of ksyms.c
 */
void corepmu_bts_resume(void)
{
	x86_model_bts_runs = true;
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
	void (*before)(void) = x86_model_before_wrmsr;
	const char *name = "MSR";
	int index = -1;

	x86_model_before_wrmsr = NULL;
	if (before)
		before();
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

	x86_model_migratable += !irqs_disabled();

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

	x86_model_count_itself(m);
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

/*
 * The log does not show this read. The driver reads LVTPC only in NMIs that find no overflow, or no
 * event on the CPU.
 */
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

	*m = (struct x86_model) { .lvtpc = APIC_LVT_MASKED };
	for (int idx = 0; idx < cpu->nr_gp; idx++) {
		if (cpu->holes & BIT(idx))
			continue;
		m->select[idx] = SELECT_AT_POWER_ON;
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
					  cpu->zhaoxin ? X86_VENDOR_ZHAOXIN :
					  cpu->amd ? X86_VENDOR_AMD : X86_VENDOR_INTEL,
		/* SDM volume 2, CPUID: Core Duo, which has version 1, has leaves up to 0xa. */
		.cpuid_level		= cpu->version >= 6 ? 0x23 : cpu->core_type ? 0x1a :
					  cpu->version >= 2 ? 0x16 : 0xa,
		.x86_virt_bits		= 48,
		.extended_cpuid_level	= cpu->amd && cpu->version >= 2 ? 0x80000022 : 0x80000008,
	};
	x86_model_builtin = 0;
	x86_model_nmi_refused = false;
	x86_model_builtin_stops = false;
	x86_model_after_rdpmc = NULL;
	x86_model_before_wrmsr = NULL;
	x86_model_no_apic = false;
	x86_model_xen_pv = false;
	x86_model_no_msrs = false;
	x86_model_migratable = 0;
	x86_model_traced = 0;
	x86_model_bts_runs = true;
	x86_model_bts_full = false;
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
