// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of the CPUID instruction
 */
#include <linux/bits.h>

#include "models/model.h"
#include "pebs.h"
#include "access.h"

/**
 * x86_model_has() - boot_cpu_has()
 * @feature: X86_FEATURE_*
 *
 * Return: true if the CPU has the feature
 */
bool x86_model_has(unsigned int feature)
{
	const struct x86_model_cpu *cpu = x86_model_this();

	switch (feature) {
	case X86_FEATURE_APIC:
		return !x86_model_no_apic;
	case X86_FEATURE_XENPV:
		return x86_model_xen_pv;
	case X86_FEATURE_HYPERVISOR:
		return !cpu->bare;
	case X86_FEATURE_PDCM:
		return !cpu->amd && !cpu->zhaoxin && cpu->version;
	case X86_FEATURE_PERFCTR_CORE:
		return cpu->amd && cpu->version >= 1;
	case X86_FEATURE_VMX:
		return !cpu->amd && cpu->virt;
	case X86_FEATURE_SVM:
		return cpu->amd && cpu->virt;
	case X86_FEATURE_AMX_TILE:
	case X86_FEATURE_AVX_VNNI:
		return cpu->amx;
	case X86_FEATURE_RTM:
		return cpu->rtm;
	case X86_FEATURE_BTS:
	case X86_FEATURE_INTEL_PT:
		return cpu->trace;
	case X86_FEATURE_PTI:
		return x86_model_pti;
	case X86_FEATURE_TSX_FORCE_ABORT:
		return cpu->tsx_force_abort;
	case X86_FEATURE_RTM_ALWAYS_ABORT:
		return cpu->tsx_deprecated;
	case X86_FEATURE_HYBRID_CPU:
		return cpu->hybrid;
	case X86_FEATURE_ARCH_LBR:
		return cpu->arch_lbr;
#ifdef CONFIG_X86
	case X86_FEATURE_PEBS:
	case X86_FEATURE_DTES64:
		return cpu->pebs && cpu->pebs != PEBS_MODEL_ARCH;
#endif
	default:
		return false;
	}
}

/**
 * x86_model_cpuid() - CPUID
 * @leaf: EAX
 * @eax: result
 * @ebx: result
 * @ecx: result
 * @edx: result
 *
 * Leaf 0xa: SDM volume 2, CPUID, "Architectural Performance Monitoring Leaf".
 * Leaf 0x1c: SDM volume 2, CPUID, "Last Branch Records Information Leaf".
 * Leaf 0x1a: SDM volume 2, CPUID, "Native Model ID Enumeration Leaf".
 * Leaf 0x80000022: APM volume 3, E.4.27, "Extended Performance Monitoring".
 */
void x86_model_cpuid(u32 leaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	const struct x86_model_cpu *cpu = x86_model_this();

	*eax = 0;
	*ebx = 0;
	*ecx = 0;
	*edx = 0;
	if (leaf == 0xa && !cpu->amd) {
		*eax = cpu->version | (cpu->reported_gp ?: cpu->nr_gp) << 8 | cpu->gp_width << 16 |
		       cpu->nr_events << 24;
		*ebx = cpu->missing;
		*ecx = cpu->version >= 5 ? cpu->fixed_map : 0;
		*edx = cpu->any ? 0 : BIT(15);
		if (!cpu->hides_fixed)
			*edx |= cpu->nr_fixed | cpu->fixed_width << 5;
	} else if (leaf == 0x1a && !cpu->amd) {
		*eax = cpu->core_type << 24 | cpu->native;
	} else if (leaf == 0x1c && cpu->arch_lbr) {
		*eax = GENMASK(cpu->lbr_nr / 8 - 1, 0);
		*ebx = GENMASK(2, 0);
		*ecx = cpu->lbr_ecx;
	} else if (leaf == 0x80000022 && cpu->amd && cpu->version >= 2) {
		*eax = BIT(0) | (cpu->lbr_nr ? BIT(1) : 0) | (cpu->lbr_freeze ? BIT(2) : 0);
		*ebx = cpu->nr_gp | cpu->lbr_nr << 4;
	}
}

/**
 * x86_model_cpuid_count() - CPUID of a leaf with subleaves
 * @leaf: EAX
 * @subleaf: ECX
 * @eax: result
 * @ebx: result
 * @ecx: result
 * @edx: result
 *
 * Leaves 7.1 and 0x23: SDM volume 2, CPUID, "Architectural Performance Monitoring Extended Leaf".
 */
void x86_model_cpuid_count(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	const struct x86_model_cpu *cpu = x86_model_this();

	*eax = 0;
	*ebx = 0;
	*ecx = 0;
	*edx = 0;
	if (cpu->amd || cpu->version < 6)
		return;
	if (leaf == 7 && subleaf == 1) {
		*eax = BIT(8);
	} else if (leaf == 0x23 && !subleaf) {
		*eax = BIT(0) | BIT(1);
		if (cpu->pebs == PEBS_MODEL_ARCH)
			*eax |= BIT(2) | GENMASK(5, 4);
		*ebx = BIT(0) | BIT(1) | BIT(2);
	} else if (leaf == 0x23 && subleaf == 1) {
		*eax = GENMASK(cpu->nr_gp - 1, 0) & ~cpu->holes;
		*ebx = intel_model_fixed();
#ifdef CONFIG_X86
	} else if (leaf == 0x23 && cpu->pebs == PEBS_MODEL_ARCH && subleaf == 2) {
		*eax = acr_model_counters();
		*ebx = acr_model_counters() >> 32;
		*ecx = *eax;
		*edx = *ebx;
	} else if (leaf == 0x23 && cpu->pebs == PEBS_MODEL_ARCH && subleaf == 4) {
		*ebx = pebs_arch_model_groups();
	} else if (leaf == 0x23 && cpu->pebs == PEBS_MODEL_ARCH && subleaf == 5) {
		/* Records of all counters but one; three counters support PDIR */
		*eax = GENMASK(cpu->nr_gp - 2, 0);
		*ebx = GENMASK(1, 0);
		*ecx = intel_model_fixed();
		*edx = BIT(0);
#endif
	}
}

/**
 * x86_model_cpuid_eax() - read EAX of a CPUID leaf
 * @leaf: EAX before the instruction
 *
 * Return: EAX
 */
u32 x86_model_cpuid_eax(u32 leaf)
{
	u32 eax, ebx, ecx, edx;

	x86_model_cpuid(leaf, &eax, &ebx, &ecx, &edx);
	return eax;
}

/**
 * x86_model_cpuid_ebx() - read EBX of a CPUID leaf
 * @leaf: EAX before the instruction
 *
 * Return: EBX
 */
u32 x86_model_cpuid_ebx(u32 leaf)
{
	u32 eax, ebx, ecx, edx;

	x86_model_cpuid(leaf, &eax, &ebx, &ecx, &edx);
	return ebx;
}
