// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of AMD's core performance counters
 *
 * AMD64 Architecture Programmer's Manual, volume 2, 13.2 "Performance Monitoring Counters";
 * comments name the sections.
 */
#include <linux/bits.h>
#include <linux/kernel.h>

#include "access.h"

#define NR_LEGACY	4
#define NR_CORE		6

/*
 * 13.2.1, figure 13-5: bits 63-42, 39-36, 21 and 19 are reserved. Processors do not fault on them,
 * nor on reserved bits of the global registers, 13.2.4. In-tree, KVM clears them for guests: commit
 * 9b026073db2f ("KVM: x86/svm: Clear reserved bits written to PerfEvtSeln MSRs"), and
 * kvm_pmu_set_msr().
 */
#define CTL_RESERVED	(GENMASK_ULL(63, 42) | GENMASK_ULL(39, 36) | BIT_ULL(21) | BIT_ULL(19))

/* Return the counter that a register belongs to, or -1; *ctl is true for PERF_CTL. */
static int decode_msr(u32 msr, bool *ctl)
{
	unsigned int version = x86_model_this()->version;
	int index = -1;

	/* 13.2.1: the first four counters have their legacy register numbers, too. */
	if (msr >= MSR_K7_EVNTSEL0 && msr < MSR_K7_EVNTSEL0 + 2 * NR_LEGACY) {
		*ctl = msr < MSR_K7_EVNTSEL0 + NR_LEGACY;
		index = (msr - MSR_K7_EVNTSEL0) % NR_LEGACY;
	} else if (version >= 1 && msr >= MSR_F15H_PERF_CTL &&
		   msr < MSR_F15H_PERF_CTL + 2 * X86_MODEL_MAX_GP) {
		*ctl = !((msr - MSR_F15H_PERF_CTL) & 1);
		index = (msr - MSR_F15H_PERF_CTL) / 2;
	}

	return index < (int)x86_model_this()->nr_gp && !(x86_model_missing >> max(index, 0) & 1) ?
	       index : -1;
}

/**
 * amd_model_read() - RDMSR
 * @m: this CPU
 * @msr: ECX
 * @value: EDX:EAX
 * @name: name of the register
 * @index: filled in with the index of the register
 *
 * Return: false for #GP
 */
bool amd_model_read(struct x86_model *m, u32 msr, u64 *value, const char **name, int *index)
{
	bool ctl;

	*index = decode_msr(msr, &ctl);
	if (*index >= 0) {
		*name = ctl ? "PERF_CTL" : "PERF_CTR";
		*value = ctl ? m->select[*index] : m->counter[*index];
		return true;
	}

	/* 13.2.4: PerfMonV2 */
	switch (msr) {
	case MSR_AMD64_PERF_CNTR_GLOBAL_CTL:
		*name = "GLOBAL_CTL";
		*value = m->global_ctrl;
		break;
	case MSR_AMD64_PERF_CNTR_GLOBAL_STATUS:
		*name = "GLOBAL_STATUS";
		*value = m->global_status;
		break;
	case MSR_AMD64_PERF_CNTR_GLOBAL_STATUS_CLR:
		*name = "GLOBAL_STATUS_CLR";
		*value = 0;
		break;
	case MSR_AMD64_PERF_CNTR_GLOBAL_STATUS_SET:
		*name = "GLOBAL_STATUS_SET";
		*value = 0;
		break;
	default:
		return lbr_model_read(m, msr, value, name, index);
	}

	return x86_model_this()->version >= 2;
}

/**
 * amd_model_write() - WRMSR
 * @m: this CPU
 * @msr: ECX
 * @value: EDX:EAX
 * @name: name of the register
 * @index: filled in with the index of the register
 *
 * Return: false for #GP, on which nothing is written
 */
bool amd_model_write(struct x86_model *m, u32 msr, u64 value, const char **name, int *index)
{
	u64 counters = GENMASK_ULL(x86_model_this()->nr_gp - 1, 0), old;
	bool ctl;

	if (!amd_model_read(m, msr, &old, name, index))
		return false;

	if (decode_msr(msr, &ctl) >= 0) {
		if (ctl)
			m->select[*index] = value & ~(CTL_RESERVED | x86_model_ctl_kept);
		else	/* 13.2.1, figure 13-6: 48 bits; the upper bits are reserved */
			m->counter[*index] = value & GENMASK_ULL(x86_model_this()->gp_width - 1, 0);
		return true;
	}

	switch (msr) {
	case MSR_AMD64_PERF_CNTR_GLOBAL_CTL:
		m->global_ctrl = value & counters;
		return true;
	case MSR_AMD64_PERF_CNTR_GLOBAL_STATUS_CLR:
		m->global_status &= ~value;
		return true;
	case MSR_AMD64_PERF_CNTR_GLOBAL_STATUS_SET:
		m->global_status |= value & counters;
		return true;
	case MSR_AMD64_PERF_CNTR_GLOBAL_STATUS:
		return false;	/* Read only */
	default:
		return lbr_model_write(m, msr, value, name, index);
	}
}
