/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: the only file that depends on kernel versions
 *
 * The newest kernel is the main path; each #else serves older kernels, and a comment says what
 * upstream changed.
 *
 * A distribution may have backported a change, so that the version does not tell. Kbuild searches
 * the kernel's headers for the change and defines COMPAT_HAVE_*. The defaults below, by version,
 * apply only where Kbuild has not defined the macro.
 *
 * Three tests are by version alone, since the change is in no header. The driver also works if the
 * kernel has the change as a backport, with these effects:
 * - COMPAT_NOTIFIES_EVERY_SWITCH: per-CPU events have no large PEBS, and no branch records
 *   in samples during a task switch;
 * - COMPAT_SNAPSHOT_IS_INLINED: the driver replaces a function that BPF programs do not call;
 * - COMPAT_BUILTIN_LACKS_PMUS_OF_*: the module is loaded at boot although the built-in driver has a
 *   PMU for the CPU.
 */
#ifndef _COREPMU_COMPAT_H
#define _COREPMU_COMPAT_H

#ifndef CONFIG_PERF_EVENTS
#error "corepmu needs a kernel with CONFIG_PERF_EVENTS"
#endif

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/perf_event.h>
#include <linux/platform_device.h>
#include <linux/smp.h>
#include <linux/syscore_ops.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "corepmu needs Linux 6.1 or newer"
#endif

/* The newest kernel that was tested is 7.3: on a newer one module/main.c logs a message. */
#define COMPAT_NEWER_THAN_TESTED	(LINUX_VERSION_CODE >= KERNEL_VERSION(7, 4, 0))

#ifndef COMPAT_HAVE_PMU_FILTER
#define COMPAT_HAVE_PMU_FILTER		(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0))
#endif
#ifndef COMPAT_HAVE_NEWEST_PMU_FIRST
#define COMPAT_HAVE_NEWEST_PMU_FIRST	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0))
#endif
#ifndef COMPAT_HAVE_PMU_PARENT
#define COMPAT_HAVE_PMU_PARENT		(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0))
#endif
#ifndef COMPAT_HAVE_IRQ_AFFINITY
#define COMPAT_HAVE_IRQ_AFFINITY	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0))
#endif
#ifndef COMPAT_HAVE_BTS_ALONE
#define COMPAT_HAVE_BTS_ALONE		(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0))
#endif
#ifndef COMPAT_HAVE_STRUCT_SYSCORE
#define COMPAT_HAVE_STRUCT_SYSCORE	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 19, 0))
#endif
#ifndef COMPAT_HAVE_SCHED_TASK_EPC
#define COMPAT_HAVE_SCHED_TASK_EPC	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0))
#endif
#ifndef COMPAT_HAVE_SCHED_TASK_TASK
#define COMPAT_HAVE_SCHED_TASK_TASK	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0))
#endif
#ifndef COMPAT_HAVE_SAVE_BRSTACK
#define COMPAT_HAVE_SAVE_BRSTACK	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0))
#endif
#ifndef COMPAT_HAVE_PREPARE_HEADER
#define COMPAT_HAVE_PREPARE_HEADER	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0))
#endif
#ifndef COMPAT_HAVE_BR_STACK_CNTR
#define COMPAT_HAVE_BR_STACK_CNTR	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0))
#endif
#ifndef COMPAT_HAVE_EL2_BRBE
#define COMPAT_HAVE_EL2_BRBE		(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0))
#endif
#ifndef COMPAT_HAVE_EL2_PMUV3P9
#define COMPAT_HAVE_EL2_PMUV3P9		(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 14, 0))
#endif
#ifndef COMPAT_HAVE_ACPI_PMU_EARLY
#define COMPAT_HAVE_ACPI_PMU_EARLY	(LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0))
#endif

/*
 * 6.2 gave every PMU its own part of a task's context ("perf: Rewrite core
 * context handling"). Before 6.2
 * - a struct pmu of the hardware context must outlive its module: the context of a task that ever
 *   had an event of the PMU points to the struct pmu, see module/stale-pmu.c;
 * - two PMUs of the hardware context need PERF_PMU_CAP_HETEROGENEOUS_CPUS, and a PMU that is
 *   registered again after an unload counts as a second one;
 * - perf core calls the CPU filter for each event, not for each PMU.
 */
#if COMPAT_HAVE_PMU_FILTER

#define COMPAT_PMUS_SHARE_CONTEXT		0
#define COMPAT_PMU_CAP_HETEROGENEOUS_CPUS	0

static inline void compat_pmu_set_filter(struct pmu *pmu,
					 bool (*filter)(struct pmu *pmu, int cpu),
					 int (*filter_match)(struct perf_event *event))
{
	pmu->filter = filter;
}

#else /* !COMPAT_HAVE_PMU_FILTER */

#define COMPAT_PMUS_SHARE_CONTEXT		1
#define COMPAT_PMU_CAP_HETEROGENEOUS_CPUS	PERF_PMU_CAP_HETEROGENEOUS_CPUS

static inline void compat_pmu_set_filter(struct pmu *pmu,
					 bool (*filter)(struct pmu *pmu, int cpu),
					 int (*filter_match)(struct perf_event *event))
{
	pmu->filter_match = filter_match;
}

#endif /* COMPAT_HAVE_PMU_FILTER */

/*
 * Parameters of pmu.sched_task: 6.2 replaced the context by the PMU's part of the context, 6.15
 * added the task (Debian's 6.12 has the task too). The driver uses neither.
 */
#if !COMPAT_HAVE_SCHED_TASK_EPC
#define COMPAT_SCHED_TASK_ARGS	struct perf_event_context *ctx, bool sched_in
#elif !COMPAT_HAVE_SCHED_TASK_TASK
#define COMPAT_SCHED_TASK_ARGS	struct perf_event_pmu_context *pmu_ctx, bool sched_in
#else
#define COMPAT_SCHED_TASK_ARGS	struct perf_event_pmu_context *pmu_ctx,		\
				struct task_struct *task, bool sched_in
#endif

/*
 * Check whether perf core calls the PMU's sched_task after perf_sched_cb_inc(). Before 6.2 perf
 * core calls sched_task of the PMU that was registered first on the hardware context, even if
 * another PMU called perf_sched_cb_inc() (__perf_pmu_sched_task()). That PMU is the same on all
 * CPUs.
 */
static inline bool compat_sched_task_is_called(const struct pmu *pmu)
{
#if COMPAT_PMUS_SHARE_CONTEXT
	return raw_cpu_ptr(pmu->pmu_cpu_context)->ctx.pmu == pmu;
#else
	return true;
#endif
}

/*
 * Perf core notifies a PMU of every task switch on a CPU where perf_sched_cb_inc() was called.
 * Before 7.3 perf core gives no notice if the task has events of other PMUs only
 * (perf_pmu_sched_task() in kernel/events/core.c). No header shows the change ("perf/core: Run
 * sched_task() for PMUs with only CPU-wide events"): the version decides. In 6.12 the change is a
 * backport, from 6.12.112 on.
 */
#ifdef COREPMU_KUNIT
extern bool testbed_every_switch;
#define COMPAT_NOTIFIES_EVERY_SWITCH	testbed_every_switch
#else
#define COMPAT_NOTIFIES_EVERY_SWITCH						\
	(LINUX_VERSION_CODE >= KERNEL_VERSION(7, 3, 0) ||			\
	 (LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 112) &&			\
	  LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)))
#endif

/*
 * Return the timer by which perf core rotates a PMU's events on a CPU. perf_pmu_unregister() does
 * not cancel the timer. Before 6.2 the timer is in memory that outlives the module: return NULL.
 */
#ifndef COMPAT_HAVE_CPC_POINTERS
#define COMPAT_HAVE_CPC_POINTERS	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 15, 0))
#endif
static inline struct hrtimer *compat_rotation_timer(struct pmu *pmu, int cpu)
{
#if COMPAT_PMUS_SHARE_CONTEXT
	return NULL;
#elif COMPAT_HAVE_CPC_POINTERS
	return &(*per_cpu_ptr(pmu->cpu_pmu_context, cpu))->hrtimer;
#else
	return &per_cpu_ptr(pmu->cpu_pmu_context, cpu)->hrtimer;
#endif
}

/*
 * Return how far the clock of an event's context is ahead of local_clock(). event->tstamp is a time
 * by the context's clock. From 7.0 on, a context also has a clock for the time in guests: that
 * time does not count for host-only events (exclude_guest).
 */
#ifndef COMPAT_HAVE_TIME_CTX
#define COMPAT_HAVE_TIME_CTX		(LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0))
#endif
static inline u64 compat_event_clock_offset(const struct perf_event *event)
{
#if COMPAT_HAVE_TIME_CTX
	u64 guest = event->attr.exclude_guest ? READ_ONCE(event->ctx->timeguest.time) : 0;

	return READ_ONCE(event->ctx->time.offset) - guest;
#else
	return READ_ONCE(event->ctx->timeoffset);
#endif
}

/* Check whether the event belongs to a cgroup. Each cgroup has its own clock. */
static inline bool compat_event_has_cgroup(const struct perf_event *event)
{
#ifdef CONFIG_CGROUP_PERF
	return event->cgrp;
#else
	return false;
#endif
}

/* Check whether overflows of the event run a BPF program. Older kernels have prog only with BPF. */
static inline bool compat_event_has_prog(const struct perf_event *event)
{
#ifdef CONFIG_BPF_SYSCALL
	return event->prog;
#else
	return false;
#endif
}

/*
 * Check whether a process has mapped the event's own buffer: an event may share the buffer of
 * another (PERF_EVENT_IOC_SET_OUTPUT). 6.18 made mmap_count a refcount_t: a struct of one atomic_t.
 */
static inline bool compat_event_is_mapped(const struct perf_event *event)
{
	static_assert(sizeof(event->mmap_count) == sizeof(atomic_t));

	return atomic_read((const atomic_t *)&event->mmap_count);
}

/* 6.8 added PERF_SAMPLE_BRANCH_COUNTERS; earlier perf core rejects the bit. */
#if COMPAT_HAVE_BR_STACK_CNTR
#define COMPAT_SAMPLE_BRANCH_COUNTERS	PERF_SAMPLE_BRANCH_COUNTERS
#else
#define COMPAT_SAMPLE_BRANCH_COUNTERS	0
#endif

/*
 * Give a sample its branch stack. 6.3 added the helper, which also adds the stack's size to the
 * sample's. 6.8 added @counts, the event counts of each branch, or NULL.
 */
static inline void compat_sample_save_brstack(struct perf_sample_data *data,
					      struct perf_event *event,
					      struct perf_branch_stack *stack, u64 *counts)
{
#if !COMPAT_HAVE_SAVE_BRSTACK
	data->br_stack = stack;
	data->sample_flags |= PERF_SAMPLE_BRANCH_STACK;
#elif !COMPAT_HAVE_BR_STACK_CNTR
	perf_sample_save_brstack(data, event, stack);
#else
	perf_sample_save_brstack(data, event, stack, counts);
#endif
}

/*
 * Give a sample its callchain. From 6.3 on, the sample also has its dynamic size. Perf core's
 * helper perf_sample_save_callchain() calls perf_callchain(), which is not exported: the caller
 * passes the result of perf_callchain() instead.
 */
static inline void compat_sample_save_callchain(struct perf_sample_data *data,
						struct perf_callchain_entry *callchain)
{
	data->callchain = callchain;
#if COMPAT_HAVE_SAVE_BRSTACK
	data->dyn_size += (1 + callchain->nr) * sizeof(u64);
#endif
	data->sample_flags |= PERF_SAMPLE_CALLCHAIN;
}

/* Before 6.3 perf_prepare_sample() filled in the header. This function is never called there. */
#if !COMPAT_HAVE_PREPARE_HEADER
void perf_prepare_header(struct perf_event_header *header, struct perf_sample_data *data,
			 struct perf_event *event, struct pt_regs *regs);
#endif

/*
 * 6.5 adds a new PMU at the head of perf core's list ("perf/core: Rework forwarding of
 * {task|cpu}-clock events", which also gave struct perf_event its orig_type). From 6.5 on perf core
 * offers a generic event without a PMU type to the PMU that was registered last; before 6.5, to the
 * first.
 */
#define COMPAT_NEWEST_PMU_FIRST			COMPAT_HAVE_NEWEST_PMU_FIRST

/*
 * From 6.10 on, BPF's verifier writes the address of perf_snapshot_branch_stack()'s implementation
 * into programs (kernel/bpf/verifier.c, "Implement bpf_get_branch_snapshot inline"). No header
 * shows the change: the version decides.
 */
#define COMPAT_SNAPSHOT_IS_INLINED	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0))

/*
 * From 7.0 on, KVM may load a guest's values into the counters (mediated vPMU). For a PMU with this
 * capability, perf core schedules exclude_guest events out meanwhile, and rejects other events.
 */
#ifdef PERF_PMU_CAP_MEDIATED_VPMU
#define COMPAT_PMU_CAP_MEDIATED_VPMU	PERF_PMU_CAP_MEDIATED_VPMU
#else
#define COMPAT_PMU_CAP_MEDIATED_VPMU	0
#endif

/* 6.2 also gave a task one context for all PMUs. */
#ifndef COMPAT_HAVE_ONE_TASK_CTX
#define COMPAT_HAVE_ONE_TASK_CTX	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0))
#endif
static inline struct perf_event_context *compat_task_context(struct task_struct *task)
{
#if COMPAT_HAVE_ONE_TASK_CTX
	return task->perf_event_ctxp;
#else
	return task->perf_event_ctxp[perf_hw_context];
#endif
}

/*
 * Before 6.6 an empty entry must end a sysctl table; 6.11 rejects it. 6.11 also made the handler's
 * table const.
 */
#ifndef COMPAT_HAVE_CONST_CTL_TABLE
#define COMPAT_HAVE_CONST_CTL_TABLE	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0))
#endif
#if COMPAT_HAVE_CONST_CTL_TABLE

#define COMPAT_SYSCTL_END
#define compat_ctl_table	const struct ctl_table

#else

#define COMPAT_SYSCTL_END	{ }
#define compat_ctl_table	struct ctl_table

#endif /* COMPAT_HAVE_CONST_CTL_TABLE */

/* Set the PMU's parent device in sysfs. struct pmu has a parent in 6.7 at the latest. */
static inline void compat_pmu_set_parent(struct pmu *pmu, struct device *parent)
{
#if COMPAT_HAVE_PMU_PARENT
	pmu->parent = parent;
#endif
}

/*
 * From 6.15 on, perf_pmu_unregister() returns an error while events of a PMU with event_mapped()
 * exist.
 */
#define COMPAT_UNREGISTER_MAY_FAIL	\
	__builtin_types_compatible_p(typeof(perf_pmu_unregister(NULL)), int)

static inline int compat_pmu_unregister(struct pmu *pmu)
{
	return __builtin_choose_expr(COMPAT_UNREGISTER_MAY_FAIL, perf_pmu_unregister(pmu),
				     (perf_pmu_unregister(pmu), 0));
}

/*
 * Find the CPUs of a PPI. 6.19 replaced the partitions of a PPI by a CPU mask in the request
 * ("genirq: Kill irq_partition_percpu_devid").
 */
static inline int compat_get_percpu_irq_cpus(struct platform_device *pdev, int irq,
					     struct cpumask *cpus)
{
#if COMPAT_HAVE_IRQ_AFFINITY
	const struct cpumask *affinity = NULL;
	int ret = platform_get_irq_affinity(pdev, 0, &affinity);

	if (ret < 0)
		return ret;
	cpumask_copy(cpus, affinity ?: cpu_possible_mask);
	return 0;
#else
	return irq_get_percpu_devid_partition(irq, cpus);
#endif
}

static inline int compat_request_percpu_irq(unsigned int irq, irq_handler_t handler,
					    const char *name, const struct cpumask *cpus,
					    void __percpu *dev)
{
#if COMPAT_HAVE_IRQ_AFFINITY
	return request_percpu_irq_affinity(irq, handler, name, cpus, dev);
#else
	return request_percpu_irq(irq, handler, name, dev);
#endif
}

/* request_percpu_nmi() is not exported: the caller passes its address. 6.19 added the CPU mask. */
static inline int compat_call_request_percpu_nmi(typeof(request_percpu_nmi) *request,
						 unsigned int irq, irq_handler_t handler,
						 const char *name, const struct cpumask *cpus,
						 void __percpu *dev)
{
#if COMPAT_HAVE_IRQ_AFFINITY
	return request(irq, handler, name, cpus, dev);
#else
	return request(irq, handler, name, dev);
#endif
}

/*
 * 6.19 added an argument to the system suspend and resume callbacks (syscore); some earlier kernels
 * have it as a backport.
 */
#if COMPAT_HAVE_STRUCT_SYSCORE

#define COMPAT_SYSCORE_ARGS		void *data
#define compat_register_syscore		register_syscore
#define compat_unregister_syscore	unregister_syscore

#define DEFINE_COMPAT_SYSCORE(_name, _suspend, _resume)		\
static const struct syscore_ops _name##_ops = {			\
	.suspend	= _suspend,				\
	.resume		= _resume,				\
};								\
static struct syscore _name = { .ops = &_name##_ops }

#else

#define COMPAT_SYSCORE_ARGS		void
#define compat_register_syscore		register_syscore_ops
#define compat_unregister_syscore	unregister_syscore_ops

#define DEFINE_COMPAT_SYSCORE(_name, _suspend, _resume)		\
static struct syscore_ops _name = {				\
	.suspend	= _suspend,				\
	.resume		= _resume,				\
}

#endif /* COMPAT_HAVE_STRUCT_SYSCORE */

/*
 * The initcall in which the built-in arm64 driver takes its interrupts with ACPI. Before 6.2 it is
 * arm_pmu_acpi_init(), which also registers the SPE device. From 6.2 on ("arm_pmu: rework ACPI
 * probing") that function registers the SPE and TRBE devices only.
 */
#if COMPAT_HAVE_ACPI_PMU_EARLY
#define COMPAT_ACPI_PMU_INITCALL	"arm_pmu_acpi_init"
#else
#define COMPAT_ACPI_PMU_INITCALL	"armv8_pmu_driver_init"
#endif

/*
 * Parameters of probes on KVM's tracepoints on x86, after the probe's data (arch/x86/kvm/trace.h).
 * 6.9 added force_immediate_exit, together with a parameter of vcpu_run() in struct kvm_x86_ops;
 * Debian's 6.1 has both. Only a kernel with CFI compares the parameters.
 */
struct kvm_vcpu;

#ifndef COMPAT_HAVE_KVM_ENTRY_EXIT
#define COMPAT_HAVE_KVM_ENTRY_EXIT	(LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0))
#endif
#if COMPAT_HAVE_KVM_ENTRY_EXIT
#define COMPAT_KVM_ENTRY_ARGS	struct kvm_vcpu *vcpu, bool force_immediate_exit
#else
#define COMPAT_KVM_ENTRY_ARGS	struct kvm_vcpu *vcpu
#endif
#define COMPAT_KVM_EXIT_ARGS	struct kvm_vcpu *vcpu, u32 isa

#ifdef CONFIG_X86

#include <asm/hardirq.h>
#include <asm/msr.h>
#include <asm/nmi.h>

/* 6.16 moved cpuid() from asm/processor.h to a header of its own. */
#include <asm/processor.h>
#ifdef __has_include
#if __has_include("asm/cpuid/api.h")
#include <asm/cpuid/api.h>
#endif
#endif

/* 6.16 gave MSR accessors names that say how wide they are. */
#ifdef rdmsrq

static inline u64 compat_rdmsr(u32 msr)
{
	u64 value;

	rdmsrq(msr, value);
	return value;
}

static inline void compat_wrmsr(u32 msr, u64 value)
{
	wrmsrq(msr, value);
}

static inline int compat_rdmsr_safe(u32 msr, u64 *value)
{
	return rdmsrq_safe(msr, value);
}

static inline int compat_wrmsr_safe(u32 msr, u64 value)
{
	return wrmsrq_safe(msr, value);
}

#else /* !rdmsrq */

static inline int compat_rdmsr_safe(u32 msr, u64 *value)
{
	return rdmsrl_safe(msr, value);
}

static inline int compat_wrmsr_safe(u32 msr, u64 value)
{
	return wrmsrl_safe(msr, value);
}

static inline u64 compat_rdmsr(u32 msr)
{
	u64 value;

	rdmsrl(msr, value);
	return value;
}

static inline void compat_wrmsr(u32 msr, u64 value)
{
	wrmsrl(msr, value);
}

#endif /* rdmsrq */

/* Increment the line PMI of /proc/interrupts. Some version after 6.12 made the counts an array. */
static inline void compat_inc_pmi_count(void)
{
#ifdef inc_perf_irq_stat
	inc_perf_irq_stat();
#else
	inc_irq_stat(apic_perf_irqs);
#endif
}

/*
 * Registers of a precise sample beside struct pt_regs: x86/pebs/sample.c sets xmm_regs of struct
 * x86_perf_regs. The structure may have further members ("Support SIMD/eGPRs/SSP registers sampling
 * for perf", posted in 2026). The driver leaves these members 0: pointers to registers are NULL,
 * and ABI 0 means XMM registers.
 */
#ifndef COMPAT_HAVE_XMM_REGS
#define COMPAT_HAVE_XMM_REGS		1
#endif
#if !COMPAT_HAVE_XMM_REGS
#error "struct x86_perf_regs has no xmm_regs: this kernel is newer than corepmu"
#endif

#endif /* CONFIG_X86 */

/*
 * The source of an NMI, which FRED may report ("x86/nmi: Assign and register NMI-source vectors",
 * posted in 2025): LVTPC names the source of PMIs, and handlers name theirs. A handler without a
 * source runs only if the CPU reports none.
 */
#ifndef COMPAT_HAVE_NMI_SOURCE
#define COMPAT_HAVE_NMI_SOURCE		0
#endif
#ifndef COMPAT_HAVE_NMI_SOURCE_PMI
#define COMPAT_HAVE_NMI_SOURCE_PMI	0
#endif
#if defined(CONFIG_X86) && COMPAT_HAVE_NMI_SOURCE_PMI

#define COMPAT_LVTPC_NMI	(APIC_DM_NMI | NMIS_VECTOR_PMI)
#define compat_register_pmi_handler(handler, flags, name)	\
	register_nmi_handler(NMI_LOCAL, handler, flags, name, NMIS_VECTOR_PMI)

#elif defined(CONFIG_X86) && COMPAT_HAVE_NMI_SOURCE
#error "asm/nmi.h has NMI sources, but no NMIS_VECTOR_PMI: this kernel is newer than corepmu"
#else

#define COMPAT_LVTPC_NMI	APIC_DM_NMI
#define compat_register_pmi_handler(handler, flags, name)	\
	register_nmi_handler(NMI_LOCAL, handler, flags, name)

#endif

/*
 * Check whether the event asks for registers that the driver cannot sample: SIMD, APX or shadow
 * stack. The masks of APX and the shadow stack reuse the bits of the XMM registers.
 */
#ifndef COMPAT_HAVE_SIMD_REGS
#define COMPAT_HAVE_SIMD_REGS		0
#endif
static inline bool compat_attr_wants_simd(const struct perf_event_attr *attr)
{
#if COMPAT_HAVE_SIMD_REGS
	return attr->sample_simd_regs_enabled || attr->sample_simd_vec_reg_qwords;
#else
	return false;
#endif
}

/* From 6.17 on, a kernel that boots at EL2 and runs at EL1 disables EL2's traps of BRBE. */
#define COMPAT_EL2_OPENS_BRBE			COMPAT_HAVE_EL2_BRBE

/*
 * A kernel that boots at EL2 and runs at EL1 disables EL2's traps of the PMUv3p9 registers, and
 * requires firmware to disable EL3's.
 */
#define COMPAT_EL2_OPENS_PMUV3P9		COMPAT_HAVE_EL2_PMUV3P9

/*
 * Kernels whose built-in arm64 driver lacks compatible strings that drivers/perf/arm_pmuv3.c of 7.3
 * or 6.12 has. Source: strings in Debian's kernel images 6.1.192, 6.12.117 and 7.3.4. No header
 * shows them: the version decides.
 */
#define COMPAT_BUILTIN_LACKS_PMUS_OF_7_3	(LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0))
#define COMPAT_BUILTIN_LACKS_PMUS_OF_6_12	(LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0))

/*
 * Cache levels and memory regions of perf_mem_data_src that newer headers have: L2_MHB and MSC,
 * then L0 and regions. On earlier kernels the numbers and the bits were unused, and a newer perf
 * tool shows them.
 */
#ifndef PERF_MEM_LVLNUM_L2_MHB
#define PERF_MEM_LVLNUM_L2_MHB		0x05
#endif
#ifndef PERF_MEM_LVLNUM_MSC
#define PERF_MEM_LVLNUM_MSC		0x06
#endif
#ifndef PERF_MEM_LVLNUM_L0
#define PERF_MEM_LVLNUM_L0		0x07
#endif
#ifndef PERF_MEM_REGION_SHIFT
#define PERF_MEM_REGION_NA		0x00
#define PERF_MEM_REGION_RSVD		0x01
#define PERF_MEM_REGION_L_SHARE		0x02
#define PERF_MEM_REGION_L_NON_SHARE	0x03
#define PERF_MEM_REGION_O_NON_SHARE	0x06
#define PERF_MEM_REGION_MMIO		0x07
#define PERF_MEM_REGION_SHIFT		46
#endif

/* Return the bits that are set in attr.config3 (PERF_ATTR_SIZE_VER8) or attr.config4 (VER9). */
static inline u64 compat_attr_more_config(const struct perf_event_attr *attr)
{
	u64 config = 0;

#ifdef PERF_ATTR_SIZE_VER8
	config |= attr->config3;
#endif
#ifdef PERF_ATTR_SIZE_VER9
	config |= attr->config4;
#endif

	return config;
}

#endif /* _COREPMU_COMPAT_H */
