/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: the model in place of x86/access.h: accesses to registers go to the model
 *
 * The macros have the kernel's names, so that the driver's sources compile unchanged. The kernel's
 * own headers are included first, before the macros replace those names.
 */
#ifndef _COREPMU_KUNIT_X86_ACCESS_H
#define _COREPMU_KUNIT_X86_ACCESS_H

#include <linux/interrupt.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/types.h>

#ifdef CONFIG_X86
#include <asm/apic.h>
#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/perf_event.h>
#include <asm/processor.h>
#else
/* Of x86's headers, other architectures can include only those that define numbers. */
#include <../arch/x86/include/asm/msr-index.h>
#include <../arch/x86/include/asm/apicdef.h>
#define X86_VENDOR_INTEL		0
#define X86_VENDOR_AMD			2
#define X86_VENDOR_CENTAUR		5
#define X86_VENDOR_HYGON		9
#define X86_VENDOR_ZHAOXIN		10
#define X86_FEATURE_APIC		(0 * 32 + 9)
#define X86_FEATURE_BTS			(3 * 32 + 12)
#define X86_FEATURE_PDCM		(4 * 32 + 15)
#define X86_FEATURE_VMX			(4 * 32 + 5)
#define X86_FEATURE_HYPERVISOR		(4 * 32 + 31)
#define X86_FEATURE_SVM			(6 * 32 + 2)
#define X86_FEATURE_PERFCTR_CORE	(6 * 32 + 23)
#define X86_FEATURE_PTI			(7 * 32 + 11)
#define X86_FEATURE_AVX_VNNI		(12 * 32 + 4)
#define X86_FEATURE_XENPV		(8 * 32 + 16)
#define X86_FEATURE_HLE			(9 * 32 + 4)
#define X86_FEATURE_RTM			(9 * 32 + 11)
#define X86_FEATURE_INTEL_PT		(9 * 32 + 25)
#define X86_FEATURE_RTM_ALWAYS_ABORT	(18 * 32 + 11)
#define X86_FEATURE_TSX_FORCE_ABORT	(18 * 32 + 13)
#define X86_FEATURE_HYBRID_CPU		(18 * 32 + 15)
#define X86_FEATURE_ARCH_LBR		(18 * 32 + 19)
#define X86_FEATURE_AMX_TILE		(18 * 32 + 24)
#define NMI_LOCAL			0
#define NMI_DONE			0
#define NMI_FLAG_FIRST			1
#define NMI_HANDLED			1
#endif

/* ksyms.h declares these functions only for x86. */
int corepmu_has_builtin_pmu(void);
bool corepmu_has_trace_interrupt(void);
void corepmu_trace_interrupt(void);
bool corepmu_has_bts_interrupt(void);
void corepmu_bts_pause(void);
int corepmu_bts_interrupt(void);
void corepmu_bts_resume(void);

#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>

unsigned long x86_model_find_symbol(const char *name);
#define corepmu_find_symbol x86_model_find_symbol
unsigned long x86_model_symbol_size(unsigned long addr);
#define corepmu_symbol_size x86_model_symbol_size
bool x86_model_has_callchain(void);
#define corepmu_has_callchain x86_model_has_callchain

#include "registers.h"

u64 x86_read_msr(u32 msr);
void x86_write_msr(u32 msr, u64 value);
#define x86_read_msr_inline x86_read_msr
#define x86_write_msr_inline x86_write_msr
#define x86_write_msr_untraced x86_write_msr
#define x86_msr_writes_are_traced() false
int x86_read_msr_safe(u32 msr, u64 *value);
int x86_write_msr_safe(u32 msr, u64 value);
u64 x86_rdpmc(u32 counter);

struct x86_model_cpuinfo {
	u8	x86;
	u8	x86_model;
	u8	x86_vendor;
	u8	x86_stepping;
	int	cpuid_level;
	u32	extended_cpuid_level;
	u8	x86_virt_bits;
};

extern struct x86_model_cpuinfo x86_model_cpuinfo;
#define boot_cpu_data x86_model_cpuinfo

bool x86_model_has(unsigned int feature);
#undef boot_cpu_has
#define boot_cpu_has(feature) x86_model_has(feature)

unsigned int x86_read_code(u64 addr, u8 *code, unsigned int size);
bool x86_is_64bit_code(u64 addr);

extern bool pebs_model_guests;
#define x86_may_run_guests() pebs_model_guests

struct kprobe;
struct kvm_vcpu;

extern bool x86_model_svm, x86_model_no_kprobes;
#define x86_svm_is_on() x86_model_svm
int x86_model_register_kprobes(struct kprobe **list, int nr);
void x86_model_unregister_kprobes(struct kprobe **list, int nr);
void x86_model_switch_svm(bool on);
void x86_model_enter_guest(void);
void x86_model_end_guest(void);
void x86_model_trace_exit(void);
#define register_kprobes x86_model_register_kprobes
#define unregister_kprobes x86_model_unregister_kprobes

extern bool x86_model_threads;
#define x86_has_threads() x86_model_threads
#define x86_may_have_threads() x86_model_threads
extern bool x86_model_cores;
#define x86_has_cores() x86_model_cores

void x86_model_cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx);
void x86_model_cpuid_count(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx);
u32 x86_model_cpuid_eax(u32 leaf);
u32 x86_model_cpuid_ebx(u32 leaf);
#define cpuid x86_model_cpuid
#define cpuid_count x86_model_cpuid_count
#define cpuid_eax x86_model_cpuid_eax
#define cpuid_ebx x86_model_cpuid_ebx

struct x86_model_apic {
	u32 (*read)(u32 reg);
	void (*write)(u32 reg, u32 value);
};

extern const struct x86_model_apic x86_model_apic;
#define apic (&x86_model_apic)

int x86_model_register_nmi(unsigned int type, x86_model_nmi_t handler, unsigned long flags,
			   const char *name);
void x86_model_unregister_nmi(unsigned int type, const char *name);
#undef register_nmi_handler
#define register_nmi_handler(type, handler, flags, name, source...)	\
	x86_model_register_nmi(type, handler, flags, name)
#define unregister_nmi_handler x86_model_unregister_nmi

int x86_model_reserve(u32 msr);
void x86_model_release(u32 msr);
#define reserve_perfctr_nmi x86_model_reserve
#define release_perfctr_nmi x86_model_release
#define reserve_evntsel_nmi x86_model_reserve
#define release_evntsel_nmi x86_model_release

/* User registers while a task enters the kernel; NULL: no task is entering it. */
extern const struct pt_regs *x86_model_entering;

static inline bool x86_entering_regs(const struct pt_regs *regs, struct pt_regs *user)
{
	if (!x86_model_entering)
		return false;

	*user = *x86_model_entering;
	return true;
}

#define compat_inc_pmi_count() do { } while (0)

#endif /* _COREPMU_KUNIT_X86_ACCESS_H */
