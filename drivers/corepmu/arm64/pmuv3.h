/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: arm64: types and functions that the files of the PMUv3 backend share
 */
#ifndef _COREPMU_ARM64_PMUV3_H
#define _COREPMU_ARM64_PMUV3_H

#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/types.h>

#include <corepmu/pmu.h>

#include "sysreg.h"

/* Common events that have a generic name or a special meaning for the driver: DDI 0487, D13.11 */
#define PMUV3_EVENT_L1I_CACHE_REFILL	0x0001
#define PMUV3_EVENT_L1I_TLB_REFILL	0x0002
#define PMUV3_EVENT_L1D_CACHE_REFILL	0x0003
#define PMUV3_EVENT_L1D_CACHE		0x0004
#define PMUV3_EVENT_L1D_TLB_REFILL	0x0005
#define PMUV3_EVENT_INST_RETIRED	0x0008
#define PMUV3_EVENT_PC_WRITE_RETIRED	0x000c
#define PMUV3_EVENT_BR_MIS_PRED		0x0010
#define PMUV3_EVENT_CPU_CYCLES		0x0011
#define PMUV3_EVENT_BR_PRED		0x0012
#define PMUV3_EVENT_L1I_CACHE		0x0014
#define PMUV3_EVENT_BUS_CYCLES		0x001d
#define PMUV3_EVENT_CHAIN		0x001e
#define PMUV3_EVENT_BR_RETIRED		0x0021
#define PMUV3_EVENT_STALL_FRONTEND	0x0023
#define PMUV3_EVENT_STALL_BACKEND	0x0024
#define PMUV3_EVENT_L1D_TLB		0x0025
#define PMUV3_EVENT_L1I_TLB		0x0026
#define PMUV3_EVENT_LL_CACHE_RD		0x0036
#define PMUV3_EVENT_LL_CACHE_MISS_RD	0x0037

/**
 * struct pmuv3_cache_event - event that counts one combination of PERF_TYPE_HW_CACHE
 * @cache: PERF_COUNT_HW_CACHE_*
 * @op: PERF_COUNT_HW_CACHE_OP_*
 * @result: PERF_COUNT_HW_CACHE_RESULT_*
 * @event: event number
 */
struct pmuv3_cache_event {
	u8	cache;
	u8	op;
	u8	result;
	u16	event;
};

/**
 * struct pmuv3_of_type - a PMU type that a devicetree names
 * @name: name of the built-in driver's PMU for this type
 * @cache_events: model-specific cache events besides the common ones, or NULL
 */
struct pmuv3_of_type {
	char	*name;
	const struct pmuv3_cache_event *cache_events;
};

/**
 * struct pmuv3 - the PMUv3 of one CPU type
 * @pmu: generic part of the PMU
 * @node: ACPI: entry in the list of CPU types (pmuv3_cpu_types)
 * @number: ACPI: number at the end of the built-in driver's name for the PMU
 * @midr: ACPI: MIDR_EL1 of the CPUs; 0 with a devicetree, which lists the CPUs
 * @pmuver: ID_AA64DFR0_EL1.PMUVer
 * @nmi: the overflow interrupts are NMIs
 * @cache_events: model-specific cache events besides the common ones, or NULL
 * @has_el2: the machine has an EL2, and this kernel runs at EL1
 * @has_el3: this kernel runs at EL2, below firmware at EL3
 * @avoid_pmccntr: PMCCNTR_EL0 may count while its CPU waits, unlike the event counters: several
 *	CPUs are threads of one core, or the CPU model is known for it
 * @nr_branches: number of BRBE records, 0 if the kernel cannot use BRBE
 * @pmcr: PMCR_EL0 while the PMU is stopped
 * @pmmir: PMMIR_EL1, 0 before PMUv3p4
 * @pmceid: PMCEID1_EL0 and PMCEID0_EL0 as sets of event numbers: [0] 0x0000-0x003f,
 *	[1] 0x4000-0x403f
 * @hardware: event number for each PERF_COUNT_HW_*, -ENOENT if the CPU lacks the event
 */
struct pmuv3 {
	struct corepmu	*pmu;
	struct list_head node;
	char		number[4];
	u32		midr;
	unsigned int	pmuver;
	bool		nmi;
	const struct pmuv3_cache_event *cache_events;
	bool		has_el2;
	bool		has_el3;
	bool		avoid_pmccntr;
	unsigned int	nr_branches;
	u64		pmcr;
	u64		pmmir;
	u64		pmceid[2];
	s16		hardware[PERF_COUNT_HW_MAX];
};

static inline struct pmuv3 *to_pmuv3(struct corepmu *pmu)
{
	return pmu->private;
}

/*
 * Check whether the registers of PMUv3p9 and of FEAT_PMUv3_ICNTR can be used. At EL1, below an
 * EL2, accesses trap to EL2 unless the kernel opened the registers while it was at EL2
 * (asm/el2_setup.h). At EL2, below an EL3, accesses trap to EL3 unless firmware has set
 * MDCR_EL3.EnPM2. Kernels that open the registers require that of firmware
 * (Documentation/arch/arm64/booting.rst). For older kernels the bit is unknown, and most firmware
 * does not survive such a trap.
 */
static inline bool pmuv3_reaches_v3p9(const struct pmuv3 *pmuv3)
{
	return (!pmuv3->has_el2 && !pmuv3->has_el3) || COMPAT_EL2_OPENS_PMUV3P9;
}

/**
 * pmuv3_has_event() - check whether the CPU implements a common event, by PMCEID<n>_EL0
 * @pmuv3: the PMU
 * @event: event number; PMCEID<n>_EL0 cover 0x0000-0x003f and 0x4000-0x403f
 *
 * Return: false for all other numbers, and for events that the CPU lacks
 */
static inline bool pmuv3_has_event(const struct pmuv3 *pmuv3, unsigned int event)
{
	unsigned int set = event >> 14, number = event & GENMASK(13, 0);

	return set < 2 && number < 64 && (pmuv3->pmceid[set] & BIT_ULL(number));
}

/* counters.c */
extern const struct corepmu_backend pmuv3_backend;
extern const struct corepmu_backend pmuv3_nmi_backend;

/* probe.c */
int pmuv3_describe(struct pmuv3 *pmuv3);
const struct pmuv3_of_type *pmuv3_of_type(const struct device_node *np);

/* events.c */
extern bool pmuv3_lenient;
int pmuv3_encode(struct corepmu *pmu, struct perf_event *event);
void pmuv3_describe_hardware(struct pmuv3 *pmuv3);
unsigned int pmuv3_threshold_max(const struct pmuv3 *pmuv3);

/* cache.c */
extern const struct pmuv3_cache_event pmuv3_a53_events[];
extern const struct pmuv3_cache_event pmuv3_a57_events[];
extern const struct pmuv3_cache_event pmuv3_a73_events[];
extern const struct pmuv3_cache_event pmuv3_thunderx_events[];
extern const struct pmuv3_cache_event pmuv3_vulcan_events[];
int pmuv3_map_cache(const struct pmuv3 *pmuv3, u64 config);

/* brbe/core.c */
void pmuv3_describe_branches(struct pmuv3 *pmuv3);
int pmuv3_setup_branches(struct pmuv3 *pmuv3);

/* event-names.c */
extern const struct attribute_group *pmuv3_attr_groups[];

/* rdpmc.c */
bool pmuv3_sysctl_exists(void);
void pmuv3_rdpmc_init(bool taken);
void pmuv3_rdpmc_exit(void);
int pmuv3_encode_rdpmc(struct pmuv3 *pmuv3, struct perf_event *event, bool is_long);
int pmuv3_event_idx(struct perf_event *event);
void pmuv3_rdpmc_switch(struct corepmu_cpu *unused);
void pmuv3_rdpmc_close(void);
void pmuv3_rdpmc_rewrite(void);
void pmuv3_rdpmc_gone(struct corepmu *pmu);

/* cpu-types.c */
extern struct list_head pmuv3_cpu_types;
void pmuv3_note_cpus(struct cpumask *cpus);
void pmuv3_cpu_type_take(struct pmuv3 *pmuv3, struct cpumask *left);
void pmuv3_cpu_type_forget(struct pmuv3 *pmuv3);
const struct pmuv3 *pmuv3_irq_owner(const struct pmuv3 *pmuv3, int irq);
int pmuv3_cpu_of_mpidr(struct pmuv3 *pmuv3, u64 mpidr);
bool pmuv3_joins(struct corepmu_cpu *cpuc);

/* Initcall of the built-in driver for devicetrees */
#define PMUV3_BUILTIN_INITCALL		"armv8_pmu_driver_init"

/* irq.c */
extern bool pmuv3_sampling;
struct corepmu *pmuv3_this_pmu(void);
irqreturn_t pmuv3_interrupt(int irq, void *dev);
int pmuv3_parse_irqs_of(struct pmuv3 *pmuv3, struct platform_device *pdev);
int pmuv3_parse_irqs_acpi(struct pmuv3 *pmuv3);
int pmuv3_request_irqs(struct pmuv3 *pmuv3);
void pmuv3_free_irqs(struct pmuv3 *pmuv3);
void pmuv3_irq_enable(struct corepmu_cpu *cpuc);
void pmuv3_irq_disable(struct corepmu_cpu *cpuc);

/* nmi.c */
void pmuv3_nmi_init(void);
bool pmuv3_nmi_is_possible(void);
int pmuv3_nmi_request_spi(int irq, struct corepmu_cpu *cpuc);
void pmuv3_nmi_free_spi(int irq, struct corepmu_cpu *cpuc);
int pmuv3_nmi_request_ppi(int irq, const struct cpumask *cpus, struct corepmu_cpu __percpu *cpuc);
void pmuv3_nmi_free_ppi(int irq, struct corepmu_cpu __percpu *cpuc);
int pmuv3_nmi_prepare_ppi(int irq);
void pmuv3_nmi_teardown_ppi(int irq);

/* cpu-pm.c */
void pmuv3_idle_expect(u64 interrupts);
void pmuv3_idle_init(void);
void pmuv3_idle_exit(void);

/* kvm.c */
extern bool (*pmuv3_kvm_set_pmuserenr)(u64 value);
void pmuv3_write_selection(int idx, u64 config);
void pmuv3_kvm_reset(void);
int pmuv3_kvm_encode(const struct pmuv3 *pmuv3, const struct perf_event_attr *attr,
		     struct hw_perf_event *hwc);
void pmuv3_kvm_init(void);
void pmuv3_kvm_exit(void);

/**
 * pmuv3_kvm_write_pmuserenr() - set PMUSERENR_EL0 for the host's user space on this CPU
 * @value: PMUSERENR_EL0
 *
 * As update_pmuserenr() in drivers/perf/arm_pmuv3.c. While a vCPU is loaded, KVM keeps the value.
 * KVM writes the value when it puts the vCPU, before user space of the host runs. Kernels before
 * 6.4 lack kvm_set_pmuserenr(). There, if the built-in driver has a PMU of another CPU type,
 * putting a vCPU overwrites the value. KVM switches the register with IRQs off, too
 * (arch/arm64/kvm/hyp/vhe/switch.c). So KVM cannot switch it between the call of
 * kvm_set_pmuserenr() and the write. IRQs off.
 */
static inline void pmuv3_kvm_write_pmuserenr(u64 value)
{
	if (pmuv3_kvm_set_pmuserenr && pmuv3_kvm_set_pmuserenr(value))
		return;

	pmuv3_write_pmuserenr(value);
}

#endif /* _COREPMU_ARM64_PMUV3_H */
