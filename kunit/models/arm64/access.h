/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: the model in place of arm64/access.h: accesses to registers go to the model
 *
 * The macros have the kernel's names, so that the driver's sources compile unchanged. The kernel's
 * own headers are included first, before the macros replace those names.
 */
#ifndef _COREPMU_KUNIT_ARM64_ACCESS_H
#define _COREPMU_KUNIT_ARM64_ACCESS_H

#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/perf_event.h>
#include <linux/platform_device.h>
#include <linux/sysctl.h>
#include <linux/tracepoint.h>
#include <linux/types.h>
#include <trace/events/power.h>

#ifdef CONFIG_ARM64
#include <asm/barrier.h>
#include <asm/cpufeature.h>
#include <asm/sysreg.h>
#include <asm/virt.h>
#else
/* DDI 0487, C5.1.3: encoding of a register in MRS and MSR; bit 5 is the lowest bit of op2. */
#define sys_reg(op0, op1, crn, crm, op2)	\
	(((op0) << 19) | ((op1) << 16) | ((crn) << 12) | ((crm) << 8) | ((op2) << 5))
#define SYS_ID_AA64PFR0_EL1	sys_reg(3, 0, 0, 4, 0)
#endif

#include "registers.h"

/* DDI 0487, D23.5 and D23.2: registers that have names in assembly language */
#define PMUV3_MODEL_pmcr_el0		sys_reg(3, 3, 9, 12, 0)
#define PMUV3_MODEL_pmcntenset_el0	sys_reg(3, 3, 9, 12, 1)
#define PMUV3_MODEL_pmcntenclr_el0	sys_reg(3, 3, 9, 12, 2)
#define PMUV3_MODEL_pmovsclr_el0	sys_reg(3, 3, 9, 12, 3)
#define PMUV3_MODEL_pmselr_el0		sys_reg(3, 3, 9, 12, 5)
#define PMUV3_MODEL_pmceid0_el0		sys_reg(3, 3, 9, 12, 6)
#define PMUV3_MODEL_pmceid1_el0		sys_reg(3, 3, 9, 12, 7)
#define PMUV3_MODEL_pmccntr_el0		sys_reg(3, 3, 9, 13, 0)
#define PMUV3_MODEL_pmxevtyper_el0	sys_reg(3, 3, 9, 13, 1)
#define PMUV3_MODEL_pmxevcntr_el0	sys_reg(3, 3, 9, 13, 2)
#define PMUV3_MODEL_pmuserenr_el0	sys_reg(3, 3, 9, 14, 0)
#define PMUV3_MODEL_pmovsset_el0	sys_reg(3, 3, 9, 14, 3)
#define PMUV3_MODEL_pmuacr_el1		sys_reg(3, 0, 9, 14, 4)
#define PMUV3_MODEL_pmintenset_el1	sys_reg(3, 0, 9, 14, 1)
#define PMUV3_MODEL_pmintenclr_el1	sys_reg(3, 0, 9, 14, 2)
#define PMUV3_MODEL_pmmir_el1		sys_reg(3, 0, 9, 14, 6)
#define PMUV3_MODEL_pmicntr_el0		sys_reg(3, 3, 9, 4, 0)
#define PMUV3_MODEL_pmicfiltr_el0	sys_reg(3, 3, 9, 6, 0)
#define PMUV3_MODEL_pmccfiltr_el0	sys_reg(3, 3, 14, 15, 7)
#define PMUV3_MODEL_midr_el1		sys_reg(3, 0, 0, 0, 0)
#define PMUV3_MODEL_mpidr_el1		sys_reg(3, 0, 0, 0, 5)
#define PMUV3_MODEL_id_aa64dfr0_el1	sys_reg(3, 0, 0, 5, 0)
#define PMUV3_MODEL_id_aa64dfr1_el1	sys_reg(3, 0, 0, 5, 1)

u64 pmuv3_model_read(u32 reg);
void pmuv3_model_write(u32 reg, u64 value);
void pmuv3_model_isb(void);
u64 pmuv3_model_feature(u32 reg);

#undef read_sysreg
#undef write_sysreg
#undef read_sysreg_s
#undef write_sysreg_s
#undef isb
#define read_sysreg(name)		pmuv3_model_read(PMUV3_MODEL_ ## name)
#define write_sysreg(value, name)	pmuv3_model_write(PMUV3_MODEL_ ## name, value)
#define read_sysreg_s(reg)		pmuv3_model_read(reg)
#define write_sysreg_s(value, reg)	pmuv3_model_write(reg, value)
#define isb()				pmuv3_model_isb()
#define read_sanitised_ftr_reg(reg)	pmuv3_model_feature(reg)
#define is_kernel_in_hyp_mode()		(pmuv3_model_cpu->hyp)
#define topology_thread_id(cpu)		((void)(cpu), -1)

/* The model raises its interrupt without an interrupt number. */
#define irq_is_percpu_devid(irq)	((void)(irq), true)
#define enable_percpu_irq(irq, type)	((void)(irq))
#define disable_percpu_irq(irq)		((void)(irq))

#undef register_sysctl
#define register_sysctl(path, table)	pmuv3_model_register_sysctl(path, table)
#define unregister_sysctl_table(header)	pmuv3_model_unregister_sysctl(header)

#define kernel_has_kvm()		pmuv3_model_has_kvm
#define kernel_find_symbol(name)	pmuv3_model_find_symbol(name)
#define tracepoint_synchronize_unregister()	do { } while (0)
#define register_trace_cpu_idle(probe, data)	pmuv3_model_register_idle(probe, data)
#define unregister_trace_cpu_idle(probe, data)	pmuv3_model_unregister_idle(probe, data)

#endif /* _COREPMU_KUNIT_ARM64_ACCESS_H */
