/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: counters of the host and of KVM guests (AMD SVM, Intel VMX)
 */
#ifndef _COREPMU_X86_KVM_H
#define _COREPMU_X86_KVM_H

#include <linux/percpu-defs.h>
#include <linux/types.h>

#include "../msr.h"
#include "../x86.h"

struct perf_event_attr;

/* svm.c: bits that are cleared in all event selection registers of this CPU for now */
DECLARE_PER_CPU(u64, x86_select_masked);

/* Write the event selection register of a general-purpose counter. */
static inline void x86_write_select(const struct x86_desc *desc, int idx, u64 value)
{
	x86_write_msr_inline(desc->select_msr + desc->step * idx,
			     value & ~this_cpu_read(x86_select_masked));
}

u64 x86_svm_filter(const struct perf_event_attr *attr);
void x86_svm_reset(void);
void x86_svm_init(void);
void x86_svm_exit(void);

/* guest.c: KVM runs a guest of SVM on this CPU */
bool x86_guest_update(void);
bool x86_guest_exit_is_missing(void);
void x86_guest_init(const struct x86_desc *desc);
void x86_guest_exit(void);

/* vmx-msrs.c, which KUnit on arm64 does not build */
#ifdef CONFIG_X86
bool x86_vmx_msrs_init(const struct x86_desc *desc);
void x86_vmx_msrs_exit(void);
#else
static inline bool x86_vmx_msrs_init(const struct x86_desc *desc)
{
	return false;
}

static inline void x86_vmx_msrs_exit(void)
{
}
#endif

/* vmx.c: KVM is about to enable VMX on this CPU, and CR4.VMXE is not yet set */
DECLARE_PER_CPU(bool, x86_vmx_is_enabling);
/* KVM switches counters off and on at VM entry and exit. */
extern bool x86_vmx_switches;
u64 x86_vmx_guest_counters(const struct corepmu_cpu *cpuc, u64 counters);
u64 x86_vmx_host_counters(const struct corepmu_cpu *cpuc, u64 counters);
void x86_vmx_restart_pebs(bool on);
void x86_vmx_init(const struct x86_desc *desc);
void x86_vmx_exit(void);

#endif /* _COREPMU_X86_KVM_H */
