/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: types and functions that the Intel and AMD backends share
 */
#ifndef _COREPMU_X86_H
#define _COREPMU_X86_H

#include <linux/bits.h>
#include <linux/percpu-defs.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <corepmu/pmu.h>

struct intel_uarch;

/* perf_event_attr.config of a PERF_TYPE_HW_CACHE event */
#define X86_CACHE(cache, op, result)			\
	(PERF_COUNT_HW_CACHE_##cache |			\
	 PERF_COUNT_HW_CACHE_OP_##op << 8 |		\
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* Bits of an event code's hash; the bitmap x86_desc.listed has one bit for each hash */
#define X86_LISTED_BITS	10
#define X86_NR_LISTED	BIT(X86_LISTED_BITS)

/**
 * struct x86_desc - PMU of one CPU type, as CPUID and the model tables describe it
 * @pmu: the PMU of this CPU type
 * @native_model: CPUID.1AH:EAX of the CPU type, 0 if the machine is not hybrid
 * @nr_gp: number of general-purpose counters; corepmu calls them counters 0 and up
 * @holes: numbers below @nr_gp that no counter has, a bit each
 * @aliased: the built-in driver uses other MSR numbers for the counters (MSR aliasing)
 * @select_msr: MSR number of the first event selection register: IA32_PERFEVTSEL0 or PERF_CTL0
 * @counter_msr: MSR number of the first counter, for writing
 * @step: distance between the MSR numbers of neighbouring counters
 * @global_ctrl: MSR number of the register that enables all counters at once, or 0
 * @global_status: MSR number of the register that has the overflow flags, or 0
 * @global_clear: MSR number of the register that acknowledges overflow flags
 * @clear_needs_ctrl: @global_clear has no effect while @global_ctrl is 0
 * @frozen: bit of @global_status and @global_clear: the branch records are frozen; or 0
 * @metrics: topdown metrics, a bit each, numbered as counters (METRIC_COUNTER_BASE and up), or 0
 * @metrics_bit: bit of the topdown metrics in all global registers, or 0
 * @metrics_clear: a user-space read of the metrics can clear them (metrics_clear)
 * @capabilities: IA32_PERF_CAPABILITIES, 0 on CPUs without this register
 * @pebs_format: format of the PEBS records, 0 without PEBS
 * @pebs_all: all counters and events support PEBS, and records have selectable groups
 * @pebs_timing: PEBS records have the retire latency of the instruction
 * @pebs_latency: the CPU has a load-latency threshold
 * @pebs_branches: PEBS records can have the last branches
 * @pebs_groups: groups that architectural records may have: bits of IA32_PMC_GPn_CFG_C
 * @pebs_counters: counters that support architectural PEBS, a bit each
 * @pebs_dist: counters of @pebs_counters that support PDIR (precise_ip 3), a bit each
 * @pebs_recorded: counters whose values PEBS records can have, a bit each
 * @pebs_metrics: topdown metrics that PEBS records can have, numbered as @metrics
 * @ds_bit: bit of @global_status and @global_clear: the buffer has PEBS records; or 0
 * @trace_bit: bit of @global_status and @global_clear: Intel PT's handler must run; or 0
 * @special: status bits that need more than the overflow handling of a counter: @frozen,
 *	@metrics_bit, @ds_bit, @trace_bit, and the bit of the slots counter. The first event that
 *	needs a pair of counters adds the bits of all counters that can be the even one of a pair
 * @has_acr: CPUID has a leaf for auto counter reload (ACR)
 * @acr_counters: counters that ACR can reload, a bit each
 * @acr_causes: counters whose overflow can reload the counters of @acr_counters, a bit each
 * @user_disable: user space can be kept from reading one counter while it reads others
 * @masks_lvtpc: a PMI masks the local APIC's LVTPC entry
 * @late_nmis: an NMI may arrive after its overflow has been handled
 * @stale_monitors: a counter may miscount a new event until intel_clear_monitors() has run
 * @has_guest_filter: AMD: counters can count the host alone or guests alone; KVM may give its
 *	guests CPUs that cannot
 * @shares_counters: the built-in driver is present too, and uses the counters while this driver
 *	has no event
 * @has_guest_only: Intel: an event that excludes the host has been opened since load
 * @config_known: bits of perf_event_attr.config that the CPU implements
 * @counts_only: bits of @config_known that are for counting events only, not for sampling
 * @hardware: event code for each PERF_COUNT_HW_*, 0 if there is none
 * @listed: hashes of the event codes that have a row in one of Intel's tables, see
 *	intel_is_listed()
 * @extra_regs: extra registers that the CPU has, a bit each
 * @uarch: Intel microarchitecture, or NULL
 * @cache: return the event code for a PERF_TYPE_HW_CACHE event, or 0
 * @min_period: return the shortest sampling period of an event; NULL if periods of 1 are allowed
 * @allowed_counters: return the counters that can count an event code, a bit each
 * @needs_pair: check whether an event needs two counters; NULL if no event does
 * @refuse: return an errno for an event code that this CPU cannot count, or 0
 * @precise: check whether an event with attr.precise_ip is available, and return an errno as the
 *	backend's encode(); NULL: corepmu_precise_check()
 */
struct x86_desc {
	struct corepmu	*pmu;
	u32		native_model;
	unsigned int	nr_gp;
	u64		holes;
	bool		aliased;
	u32		select_msr;
	u32		counter_msr;
	u32		step;
	u32		global_ctrl;
	u32		global_status;
	u32		global_clear;
	bool		clear_needs_ctrl;
	u64		frozen;
	u64		metrics;
	u64		metrics_bit;
	bool		metrics_clear;
	u64		capabilities;
	unsigned int	pebs_format;
	bool		pebs_all;
	bool		pebs_timing;
	bool		pebs_latency;
	bool		pebs_branches;
	u64		pebs_groups;
	u64		pebs_counters;
	u64		pebs_dist;
	u64		pebs_recorded;
	u64		pebs_metrics;
	u64		ds_bit;
	u64		trace_bit;
	u64		special;
	bool		has_acr;
	u64		acr_counters;
	u64		acr_causes;
	bool		user_disable;
	bool		masks_lvtpc;
	bool		late_nmis;
	bool		stale_monitors;
	bool		has_guest_filter;
	bool		shares_counters;
	bool		has_guest_only;
	u64		config_known;
	u64		counts_only;
	u64		hardware[PERF_COUNT_HW_MAX];
	DECLARE_BITMAP(listed, X86_NR_LISTED);
	unsigned int	extra_regs;
	const struct intel_uarch *uarch;
	u64		(*cache)(const struct x86_desc *desc, u64 generic);
	unsigned int	(*min_period)(const struct x86_desc *desc, u64 config);
	u64		(*allowed_counters)(const struct x86_desc *desc, u64 config);
	bool		(*needs_pair)(u64 config);
	int		(*refuse)(const struct x86_desc *desc, u64 config);
	int		(*precise)(struct corepmu *pmu, struct perf_event *event);
};

static inline struct x86_desc *to_x86(struct corepmu *pmu)
{
	return pmu->private;
}

/* Check whether one register starts and stops all counters: x86_global_backend. */
static inline bool x86_is_global(const struct x86_desc *desc)
{
	return desc->global_ctrl && !desc->clear_needs_ctrl && !desc->shares_counters;
}

/* x86_each_backend: value of the global control register, if there is one, that stops no counter */
static inline u64 x86_each_global_ctrl(const struct x86_desc *desc)
{
	return desc->pmu->counters | desc->metrics_bit;
}

/* probe.c */
int x86_describe_branches(struct x86_desc *desc);

/* hybrid.c */
#define X86_MAX_CPU_TYPES	3
u32 x86_native_model(void);
unsigned int x86_native_core_type(u32 native_model);
void x86_cpu_type_add(struct x86_desc *desc);
struct x86_desc *x86_cpu_type_remove(void);
struct x86_desc *x86_cpu_type(unsigned int nr);
unsigned int x86_nr_cpu_types(void);
bool x86_joins(struct corepmu_cpu *cpuc);
DECLARE_PER_CPU(struct corepmu *, x86_own_pmu);

/**
 * x86_this_pmu() - return the PMU of this CPU
 *
 * Not preemptible; any context, NMI too.
 *
 * Return: the PMU, or NULL if this CPU came online later and its CPU type is unknown
 */
static inline struct corepmu *x86_this_pmu(void)
{
	return this_cpu_read(x86_own_pmu);
}

/* counters.c */
extern const struct corepmu_backend x86_global_backend;
extern const struct corepmu_backend x86_each_backend;

/* other-agent.c */
bool x86_has_changed(const struct corepmu_cpu *cpuc);
void x86_warn_of_changes(struct corepmu *pmu);

/* events.c */
const struct x86_desc *dev_to_x86(struct device *dev);
extern const struct attribute_group *x86_attr_groups[];
int x86_encode(struct corepmu *pmu, struct perf_event *event);
void x86_join(struct corepmu *pmu, struct perf_event *event);
int x86_check_period(const struct perf_event *event, u64 period);

/* event-names.c */
extern const struct attribute_group x86_events_group;
extern struct device_attribute x86_attr_pmu_name;
const char *x86_kernel_name(const struct x86_desc *desc);

/* nmi.c */
void x86_describe_status(struct x86_desc *desc);
int x86_nmi_init(const struct x86_desc *desc);
void x86_nmi_exit(struct x86_desc *desc);
void x86_irq_learn(struct corepmu_cpu *cpuc);
void x86_irq_enable(struct corepmu_cpu *cpuc);
void x86_irq_disable(struct corepmu_cpu *cpuc);

/* Advice in messages: how to free the counters that another user holds */
#define X86_REMEDY "end all programs that use perf, and write 0 to /proc/sys/kernel/nmi_watchdog"

/* rdpmc.c */
extern const struct attribute_group x86_rdpmc_group;
void x86_rdpmc_init(struct x86_desc *desc);
void x86_rdpmc_exit(struct x86_desc *desc);
int x86_rdpmc_flags(void);
bool x86_rdpmc_is_for_all(void);
int x86_event_idx(struct perf_event *event);
void x86_rdpmc_take_over(void);
void x86_rdpmc_switch(struct corepmu_cpu *cpuc);
void x86_rdpmc_mapped(struct perf_event *event, struct mm_struct *mm);
void x86_rdpmc_unmapped(struct perf_event *event, struct mm_struct *mm);

/* reserve.c */
bool x86_msr_keeps(u32 msr, u64 probe);
int x86_reserve(void);
int x86_acquire(struct corepmu *pmu);
void x86_release(struct corepmu *pmu);
extern bool x86_reserved;

/* Check whether this driver holds the reservation of the counters. Any context, NMI too. */
static inline bool x86_is_reserved(void)
{
	return READ_ONCE(x86_reserved);
}

#endif /* _COREPMU_X86_H */
