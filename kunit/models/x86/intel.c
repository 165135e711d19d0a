// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of Intel's architectural performance monitoring registers
 *
 * Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3, chapter 20 "Performance
 * Monitoring"; comments name the sections.
 *
 * Zhaoxin's CPUs differ in three points. A write of a counter sets all its bits, and drops higher
 * bits. IA32_PERF_CAPABILITIES does not exist (CPUID.01H:ECX[15] is 0). ZX-C ignores the
 * acknowledgment of an overflow while GLOBAL_CTRL is 0. Sources: VirtualBox,
 * VMMR3/cpus/ZHAOXIN_KaiXian_KX_U5581_1_8GHz.h; InstLatx64's CPUID dumps; openEuler's kernel,
 * arch/x86/events/zhaoxin/core.c, zxc_pmu_ack_status().
 */
#include <linux/bits.h>
#include <linux/kernel.h>

#include "pebs.h"
#include "access.h"

#define STATUS_SET		0x391
#define DEBUGCTL		0x1d9
#define DEBUGCTL_FREEZE		BIT_ULL(12)
#define DEBUGCTL_FREEZE_SMM	BIT_ULL(14)
/* LBR, BTF, and FREEZE_LBRS_ON_PMI */
#define DEBUGCTL_LBR		(BIT_ULL(0) | BIT_ULL(1) | BIT_ULL(11))
#define FIXED_BASE		32
/* Indices in x86_model.extra_regs, after MSR_OFFCORE_RSP_0 and 1 */
#define FRONTEND		2
#define OMR			3
/* MSR_OMR_0 to 3; asm/msr-index.h defines them from 7.1 on */
#define FIRST_OMR		0x3e0
#define LAST_OMR		0x3e3
/* MSR_SNOOP_RSP_0 and 1 */
#define SNOOP			7
#define FIRST_SNOOP		0x1328
#define LAST_SNOOP		0x1329
/* 20.3.9.3, "Performance Metrics": EN_PERF_METRICS and OVF_PERF_METRICS; each metric is a byte */
#define PERF_METRICS		BIT_ULL(48)
#define METRIC_BITS		8
/* IA32_PERF_GLOBAL_STATUS, 20.2.4: CTR_FRZ, ASCI, OvfBuf, CondChgd */
#define STATUS_CTR_FRZ		BIT_ULL(59)
#define STATUS_LBR_FRZ		BIT_ULL(58)
#define STATUS_TRACE_TOPA	BIT_ULL(55)

static u64 width_mask(unsigned int width)
{
	return GENMASK_ULL(width - 1, 0);
}

/**
 * intel_model_fixed() - return the fixed counters that the CPU has
 *
 * 20.2.5.1: FxCtr[i]_is_supported := ECX[i] || (EDX[4:0] > i); none in version 1.
 *
 * Return: bitmap, a bit for each fixed counter
 */
u32 intel_model_fixed(void)
{
	const struct x86_model_cpu *cpu = x86_model_this();
	u32 fixed = 0;

	if (cpu->version >= 2 && cpu->nr_fixed)
		fixed = GENMASK(cpu->nr_fixed - 1, 0);
	if (cpu->version >= 5)
		fixed |= cpu->fixed_map;

	return fixed;
}

static u64 all_counters(void)
{
	return (width_mask(x86_model_this()->nr_gp) & ~(u64)x86_model_this()->holes) |
	       (u64)intel_model_fixed() << FIXED_BASE;
}

/* On a CPU with topdown metrics, GLOBAL_CTRL has one more bit. */
static u64 global_bits(void)
{
	return all_counters() | (x86_model_this()->metrics ? PERF_METRICS : 0);
}

static bool has_adaptive(void)
{
	return x86_model_this()->pebs >= 4 && x86_model_this()->pebs != PEBS_MODEL_ARCH;
}

/*
 * 20.2.1.1, figure 20-1: bits 63-32 are reserved, except two bits on CPUs with transactions.
 * AnyThread is in version 3 (20.2.3), until CPUID says that it is deprecated.
 */
static u64 select_bits(unsigned int i)
{
	u64 bits = GENMASK_ULL(31, 0);

	if (x86_model_this()->rtm)
		bits |= GENMASK_ULL(33, 32);
	if (has_adaptive())
		bits |= BIT_ULL(34);
	/* CPUID.1CH:ECX[19:16]: counters that branch records can have event counts of */
	if (x86_model_this()->lbr_ecx >> 16 & BIT(i))
		bits |= BIT_ULL(35);
	/* EQ, RDPMC user disable, UnitMask2 */
	if (x86_model_this()->version >= 6)
		bits |= GENMASK_ULL(37, 36) | GENMASK_ULL(47, 40);

	return x86_model_this()->any ? bits : bits & ~BIT_ULL(21);
}

/* 20.2.2, figure 20-2: four bits for each fixed counter; bit 2 of them is AnyThread. */
static u64 fixed_ctrl_bits(void)
{
	u64 bits = 0;

	for (unsigned int i = 0; i < X86_MODEL_MAX_FIXED; i++)
		if (intel_model_fixed() & BIT(i))
			bits |= ((x86_model_this()->any ? 0xfULL : 0xbULL) |
				 (i == 3 && x86_model_this()->metrics_clear ? BIT_ULL(2) : 0) |
				 (has_adaptive() ? BIT_ULL(32) : 0) |
				 (x86_model_this()->version >= 6 ? BIT_ULL(33) : 0)) << (4 * i);

	return bits;
}

/* 20.2.4.2: overflow bits; from version 4 on CTR_FRZ, LBR_FRZ and the bit of Intel PT. */
static u64 status_bits(void)
{
	u64 bits = global_bits() | GENMASK_ULL(63, 62) |
		   (x86_model_this()->pebs == PEBS_MODEL_ARCH ? BIT_ULL(54) : 0);

	if (x86_model_this()->version >= 4)
		bits |= STATUS_CTR_FRZ | STATUS_TRACE_TOPA |
			(x86_model_this()->lbr_nr ? STATUS_LBR_FRZ : 0);

	return bits;
}

/*
 * Errata AAK100, AAP53, BD53 of Nehalem and Westmere: a counter "may count at core frequency or not
 * count at all instead of counting the programmed event". Before a select register is programmed
 * "the internal monitoring hardware must be cleared". To clear it, the select registers hold the
 * events 0x4300D2, 0x4300B1 and 0x4300B5. Each register holds one of them, each event is in at
 * least one register, and IA32_PERF_GLOBAL_CTRL[3:0] enables the counters.
 */
#define STALE_COUNTERS		4
#define EVENT_BITS		GENMASK_ULL(15, 0)
#define SELECT_ENABLED		BIT_ULL(22)

static const u32 clearing_selects[] = { 0x4300d2, 0x4300b1, 0x4300b5 };

/* Return a bit for the clearing event in a select register; 0 for another event. */
static unsigned int clearing_select(u64 select)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(clearing_selects); i++)
		if (select == clearing_selects[i])
			return BIT(i);

	return 0;
}

/*
 * An event select register is about to be written: the counter counts wrongly unless the monitors
 * are cleared.
 */
static void stale_select(struct x86_model *m, unsigned int i, u64 value)
{
	if (!x86_model_this()->stale_monitors || !((m->select[i] ^ value) & EVENT_BITS))
		return;
	if (m->monitors_cleared)
		m->miscounting &= ~BIT_ULL(i);
	else
		m->miscounting |= BIT_ULL(i);
}

/* Update monitors_cleared after a write of a select register or of GLOBAL_CTRL. */
static void stale_look(struct x86_model *m)
{
	unsigned int i, seen = 0;

	if (!x86_model_this()->stale_monitors ||
	    ~m->global_ctrl & GENMASK_ULL(STALE_COUNTERS - 1, 0))
		return;
	for (i = 0; i < STALE_COUNTERS; i++) {
		if (!clearing_select(m->select[i]))
			return;
		seen |= clearing_select(m->select[i]);
	}
	if (seen == GENMASK(ARRAY_SIZE(clearing_selects) - 1, 0))
		m->monitors_cleared = true;
}

/**
 * intel_model_runs() - note that the CPU executes: counters with normal events use the monitors
 * @m: this CPU
 */
void intel_model_runs(struct x86_model *m)
{
	for (unsigned int i = 0; i < STALE_COUNTERS; i++)
		if ((m->select[i] & SELECT_ENABLED) && (m->global_ctrl & BIT_ULL(i)) &&
		    !clearing_select(m->select[i]))
			m->monitors_cleared = false;
}

static bool is_zxc(void)
{
	return x86_model_this()->zhaoxin && x86_model_this()->family == 6;
}

/*
 * Volume 4, table 2-2: IA32_PERFEVTSEL0 to 9, and as many counters. CPUID may list more counters,
 * which have registers at other numbers only.
 */
static bool has_gp(const struct x86_model_cpu *cpu, unsigned int idx)
{
	return idx < 10 && idx < cpu->nr_gp && !(cpu->holes & BIT(idx));
}

/**
 * intel_model_read() - RDMSR
 * @m: this CPU
 * @msr: ECX
 * @value: EDX:EAX
 * @name: name of the register
 * @index: filled in with the index of the register
 *
 * Return: false for #GP
 */
bool intel_model_read(struct x86_model *m, u32 msr, u64 *value, const char **name, int *index)
{
	const struct x86_model_cpu *cpu = x86_model_this();

	switch (msr) {
	case MSR_IA32_PERF_CAPABILITIES:
		*name = "PERF_CAPABILITIES";
		/* FREEZE_WHILE_SMM, 17.4.1; FW_WRITE, 20.2.8; PERF_METRICS_AVAILABLE; LBR format */
		*value = (cpu->full_width ? BIT_ULL(13) : 0) | cpu->lbr_format |
			 (cpu->metrics && !cpu->hybrid && !cpu->hides_metrics ? BIT_ULL(15) : 0) |
			 (cpu->metrics_clear ? BIT_ULL(19) : 0) |
			 (cpu->smm_freeze ? BIT_ULL(12) : 0) |
			 /* 20.6.2.4.2: format of records, and "PEBS baseline" */
			 (u64)cpu->pebs << 8 | (has_adaptive() ? BIT_ULL(14) : 0);
		return !cpu->zhaoxin;
	case MSR_P6_EVNTSEL0 ... MSR_P6_EVNTSEL0 + X86_MODEL_MAX_GP - 1:
		*name = "PERFEVTSEL";
		*index = msr - MSR_P6_EVNTSEL0;
		*value = m->select[*index];
		return has_gp(cpu, *index);
	case MSR_P6_PERFCTR0 ... MSR_P6_PERFCTR0 + X86_MODEL_MAX_GP - 1:
		*name = "PMC";
		*index = msr - MSR_P6_PERFCTR0;
		*value = m->counter[*index];
		return has_gp(cpu, *index);
	case MSR_IA32_PMC0 ... MSR_IA32_PMC0 + X86_MODEL_MAX_GP - 1:
		*name = "A_PMC";
		*index = msr - MSR_IA32_PMC0;
		*value = m->counter[*index];
		return has_gp(cpu, *index) && cpu->full_width;
	case MSR_CORE_PERF_FIXED_CTR0 ... MSR_CORE_PERF_FIXED_CTR0 + X86_MODEL_MAX_FIXED - 1:
		*name = "FIXED_CTR";
		*index = msr - MSR_CORE_PERF_FIXED_CTR0;
		*value = m->fixed[*index];
		return intel_model_fixed() & BIT(*index);
	case MSR_PERF_METRICS:
		*name = "PERF_METRICS";
		*value = m->metrics;
		return cpu->metrics;
	case MSR_CORE_PERF_FIXED_CTR_CTRL:
		*name = "FIXED_CTR_CTRL";
		*value = m->fixed_ctrl;
		return intel_model_fixed();
	case MSR_CORE_PERF_GLOBAL_CTRL:
		*name = "GLOBAL_CTRL";
		*value = m->global_ctrl;
		return cpu->version >= 2;
	case MSR_CORE_PERF_GLOBAL_STATUS:
		*name = "GLOBAL_STATUS";
		*value = m->global_status;
		return cpu->version >= 2;
	case MSR_CORE_PERF_GLOBAL_OVF_CTRL:
		*name = "GLOBAL_STATUS_RESET";
		*value = 0;
		return cpu->version >= 2;
	case STATUS_SET:
		*name = "GLOBAL_STATUS_SET";
		*value = 0;
		return cpu->version >= 4;
	case DEBUGCTL:
		*name = "DEBUGCTL";
		*value = m->debugctl;
		return true;
	case MSR_OFFCORE_RSP_0 ... MSR_OFFCORE_RSP_1:
		*name = "OFFCORE_RSP";
		*index = msr - MSR_OFFCORE_RSP_0;
		*value = m->extra_regs[*index];
		return cpu->extra_regs & BIT(*index);
	case MSR_PEBS_FRONTEND:
		*name = "PEBS_FRONTEND";
		*value = m->extra_regs[FRONTEND];
		return cpu->extra_regs & BIT(FRONTEND);
	case FIRST_OMR ... LAST_OMR:
		*name = "OMR";
		*index = msr - FIRST_OMR;
		*value = m->extra_regs[OMR + *index];
		return cpu->extra_regs & BIT(OMR + *index);
	case FIRST_SNOOP ... LAST_SNOOP:
		*name = "SNOOP_RSP";
		*index = msr - FIRST_SNOOP;
		*value = m->extra_regs[SNOOP + *index];
		return cpu->extra_regs & BIT(SNOOP + *index);
	default:
		if (pebs_model_read(m, msr, value, name))
			return true;
		return lbr_model_read(m, msr, value, name, index);
	}
}

/**
 * intel_model_write() - WRMSR
 * @m: this CPU
 * @msr: ECX
 * @value: EDX:EAX
 * @name: name of the register
 * @index: filled in with the index of the register
 *
 * Return: false for #GP; the register keeps its value then
 */
bool intel_model_write(struct x86_model *m, u32 msr, u64 value, const char **name, int *index)
{
	const struct x86_model_cpu *cpu = x86_model_this();
	u64 old;

	/* Registers that can be read can be written, with these exceptions. */
	if (!intel_model_read(m, msr, &old, name, index))
		return false;

	switch (msr) {
	case MSR_P6_EVNTSEL0 ... MSR_P6_EVNTSEL0 + X86_MODEL_MAX_GP - 1:
		if (value & ~select_bits(*index))
			return false;
		stale_select(m, *index, value);
		m->select[*index] = value;
		stale_look(m);
		return true;
	case MSR_P6_PERFCTR0 ... MSR_P6_PERFCTR0 + X86_MODEL_MAX_GP - 1:
		/* 20.2.8: the write sets bits 31-0, and sign-extends bit 31. */
		if (!cpu->zhaoxin)
			value = (s32)value;
		m->counter[*index] = value & width_mask(cpu->gp_width);
		return true;
	case MSR_IA32_PMC0 ... MSR_IA32_PMC0 + X86_MODEL_MAX_GP - 1:
		/* 20.2.8: bits beyond the counter's width are reserved. */
		if (value & ~width_mask(cpu->gp_width))
			return false;
		m->counter[*index] = value;
		return true;
	case MSR_CORE_PERF_FIXED_CTR0 ... MSR_CORE_PERF_FIXED_CTR0 + X86_MODEL_MAX_FIXED - 1:
		if (value & ~width_mask(cpu->fixed_width))
			return false;
		m->fixed[*index] = value;
		return true;
	case MSR_PERF_METRICS:
		if (value & ~width_mask(cpu->metrics * METRIC_BITS))
			return false;
		m->metrics = value;
		return true;
	case MSR_CORE_PERF_FIXED_CTR_CTRL:
		if (value & ~fixed_ctrl_bits())
			return false;
		m->fixed_ctrl = value;
		return true;
	case MSR_CORE_PERF_GLOBAL_CTRL:
		if (value & ~global_bits())
			return false;
		m->global_ctrl = value;
		stale_look(m);
		return true;
	case MSR_CORE_PERF_GLOBAL_OVF_CTRL:
		if (value & ~status_bits())
			return false;
		if (m->global_ctrl || !is_zxc())
			m->global_status &= ~value | m->sticky;
		return true;
	case STATUS_SET:
		if (value & ~status_bits())
			return false;
		m->global_status |= value;
		return true;
	case DEBUGCTL:
		m->debugctl = value;
		return !(value & ~(DEBUGCTL_FREEZE | (cpu->smm_freeze ? DEBUGCTL_FREEZE_SMM : 0) |
				   (cpu->lbr_nr ? DEBUGCTL_LBR : 0)));
	case MSR_OFFCORE_RSP_0 ... MSR_OFFCORE_RSP_1:
		m->extra_regs[*index] = value;
		return true;
	case MSR_PEBS_FRONTEND:
		m->extra_regs[FRONTEND] = value;
		return true;
	case FIRST_OMR ... LAST_OMR:
		m->extra_regs[OMR + *index] = value;
		return true;
	case FIRST_SNOOP ... LAST_SNOOP:
		m->extra_regs[SNOOP + *index] = value;
		return true;
	case MSR_CORE_PERF_GLOBAL_STATUS:
	case MSR_IA32_PERF_CAPABILITIES:
		return false;	/* Read only */
	case MSR_IA32_DS_AREA:
	case MSR_IA32_PEBS_ENABLE:
	case MSR_PEBS_DATA_CFG:
	case MSR_PEBS_LD_LAT_THRESHOLD:
	case 0x3f4 ... 0x3f5:
	case 0x1902 ... 0x19ff:
		return pebs_model_write(m, msr, value);
	default:
		return lbr_model_write(m, msr, value, name, index);
	}
}
