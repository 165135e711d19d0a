/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: model of the PMUv3 of an Arm CPU
 */
#ifndef _COREPMU_KUNIT_PMUV3_H
#define _COREPMU_KUNIT_PMUV3_H

#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/sysctl.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

#define PMUV3_MODEL_MAX_EVENT_COUNTERS	31

/* MIDR_EL1 of the CPUs: Implementer Arm, Architecture given by features, PartNum 0xd0c, r4p1 */
#define PMUV3_MODEL_MIDR		0x414fd0c1

/**
 * struct pmuv3_model_cpu - description of a CPU, by its ID registers
 * @name: name in messages
 * @pmuver: ID_AA64DFR0_EL1.PMUVer
 * @nr: PMCR_EL0.N
 * @instr_counter: FEAT_PMUv3_ICNTR
 * @pmceid0: PMCEID0_EL0
 * @pmceid1: PMCEID1_EL0
 * @pmmir: PMMIR_EL1
 * @el2: ID_AA64PFR0_EL1.EL2
 * @hyp: the kernel runs at EL2 (VHE)
 * @brbe: ID_AA64DFR0_EL1.BRBE
 * @brbidr0: BRBIDR0_EL1
 */
struct pmuv3_model_cpu {
	const char	*name;
	unsigned int	pmuver;
	unsigned int	nr;
	bool		instr_counter;
	u64		pmceid0;
	u64		pmceid1;
	u64		pmmir;
	bool		el2;
	bool		hyp;
	unsigned int	brbe;
	u64		brbidr0;
};

extern bool pmuv3_model_el3;

#define PMUV3_MODEL_MAX_RECORDS	64

/* BRBSRC<n>_EL1, BRBTGT<n>_EL1 and BRBINF<n>_EL1 */
struct pmuv3_model_record {
	u64		source;
	u64		target;
	u64		info;
};

/**
 * struct pmuv3_model - state of one CPU
 * @midr: MIDR_EL1
 * @pmcr: PMCR_EL0 without N
 * @pmselr: PMSELR_EL0
 * @pmuserenr: PMUSERENR_EL0
 * @pmuacr: PMUACR_EL1
 * @enabled: PMCNTENSET_EL0
 * @interrupts: PMINTENSET_EL1
 * @overflowed: PMOVSSET_EL0
 * @counter: PMEVCNTR<n>_EL0; [31] PMCCNTR_EL0, [32] PMICNTR_EL0
 * @type: PMEVTYPER<n>_EL0; [31] PMCCFILTR_EL0, [32] PMICFILTR_EL0
 * @skid: number of events between an overflow and its interrupt
 * @hold: interrupts stay pending while this is true
 * @irqs: number of interrupts that were taken
 * @unknown_irqs: number of interrupts that the handler did not claim
 * @counts_itself: number of events that each read of a counter makes, for the self-test
 * @dead: bitmap of counters that do not count
 * @brbcr: BRBCR_EL1 and BRBCR_EL2
 * @brbfcr: BRBFCR_EL1
 * @record: branch records, the youngest first
 */
struct pmuv3_model {
	u64		midr;
	u64		pmcr;
	u64		pmselr;
	u64		pmuserenr;
	u64		pmuacr;
	u64		enabled;
	u64		interrupts;
	u64		overflowed;
	u64		counter[33];
	u64		type[33];
	unsigned int	skid;
	bool		hold;
	unsigned int	irqs;
	unsigned int	unknown_irqs;
	unsigned int	counts_itself;
	u64		dead;
	u64		brbcr[2];
	u64		brbfcr;
	struct pmuv3_model_record record[PMUV3_MODEL_MAX_RECORDS];
};

extern const struct pmuv3_model_cpu *pmuv3_model_cpu;
extern int pmuv3_model_irq_cpu;
DECLARE_PER_CPU(struct pmuv3_model, pmuv3_model_state);

void pmuv3_model_power_on(const struct pmuv3_model_cpu *cpu);
void pmuv3_model_connect(irq_handler_t handler, void __percpu *dev);
void pmuv3_model_run(unsigned int event, unsigned int el, u64 times);
void pmuv3_model_spurious_irq(void);
void pmuv3_model_hold(bool hold);

/* brbe.c */
bool pmuv3_model_read_brbe(u32 reg, u64 *value);
bool pmuv3_model_write_brbe(u32 reg, u64 value);
void pmuv3_model_freeze(struct pmuv3_model *m, unsigned int el);
void pmuv3_model_branch(u64 from, u64 to, unsigned int type, unsigned int from_el,
			unsigned int to_el, u64 info);

/* models/rdpmc.c: kernel.perf_user_access */
extern const struct ctl_table *pmuv3_model_sysctl;
struct ctl_table_header *pmuv3_model_register_sysctl(const char *path,
						     const struct ctl_table *table);
void pmuv3_model_unregister_sysctl(struct ctl_table_header *header);

/* cpu_pm.c */
int pmuv3_model_register_idle(void (*probe)(void *data, unsigned int state, unsigned int cpu),
			      void *data);
int pmuv3_model_unregister_idle(void (*probe)(void *data, unsigned int state, unsigned int cpu),
				void *data);
void pmuv3_model_idle(unsigned int state);

/* kvm.c */
extern bool pmuv3_model_has_kvm;
void pmuv3_model_enter_guest(bool enter);
extern bool pmuv3_model_hides_pmuserenr;
unsigned long pmuv3_model_find_symbol(const char *name);
bool pmuv3_model_set_pmuserenr(u64 value);
void pmuv3_model_load_vcpu(bool load);

#endif /* _COREPMU_KUNIT_PMUV3_H */
