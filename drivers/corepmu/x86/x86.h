/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: what the files of the Intel and AMD backends share
 */
#ifndef _COREPMU_X86_H
#define _COREPMU_X86_H

#include <linux/bits.h>
#include <linux/percpu-defs.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <corepmu/pmu.h>

struct device_attribute;
struct static_call_key;
struct intel_uarch;

/* perf_event_attr.config of a PERF_TYPE_HW_CACHE event */
#define X86_CACHE(cache, op, result)			\
	(PERF_COUNT_HW_CACHE_##cache |			\
	 PERF_COUNT_HW_CACHE_OP_##op << 8 |		\
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* Bits of the hash that x86_desc.listed has a bit for */
#define X86_LISTED_BITS	10
#define X86_NR_LISTED	BIT(X86_LISTED_BITS)

/**
 * struct x86_desc - the counters of the CPUs of one kind
 * @pmu: the PMU that they make
 * @native_model: CPUID.1AH:EAX of the kind, 0 in a machine that has one kind alone
 * @nr_gp: general-purpose counters, corepmu counters 0 and up
 * @holes: of these, numbers that no counter has
 * @aliased: the built-in driver calls the counters' registers by other numbers
 * @select_msr: IA32_PERFEVTSEL0 or PERF_CTL0
 * @counter_msr: the first counter's register for writing
 * @step: distance between registers of one kind
 * @global_ctrl: register that enables all counters at once, or 0
 * @global_status: register that tells which overflowed, or 0
 * @global_clear: register that acknowledges overflows
 * @frozen: bit of both that says that branch records stand still, or 0
 * @metrics: parts of the slots, a bit each as if they were counters, or 0
 * @metrics_bit: their bit of all global registers, or 0
 * @capabilities: IA32_PERF_CAPABILITIES, 0 of CPUs that have none
 * @pebs_format: of the records that Intel's CPUs write of precise events, 0 for none
 * @pebs_all: these can be of all counters and events, with what is asked for
 * @pebs_timing: records tell how long the instruction took to retire
 * @pebs_latency: there is the threshold of loads that take long
 * @pebs_branches: they can have the last branches
 * @pebs_groups: groups that architectural records may have: bits of IA32_PMC_GPn_CFG_C
 * @pebs_counters: counters that there are architectural records of
 * @pebs_dist: of these, those whose are most precise
 * @ds_bit: bit of both that says that there are records, or 0
 * @trace_bit: bit of both that says that Intel PT's driver is to be called, or 0
 * @special: bits of the status that are more than a plain counter's overflow: @frozen,
 *	@metrics_bit, @ds_bit, @trace_bit, and that of slots
 * @has_reload: CPUID tells of counters that the overflow of others can have begin anew
 * @reload: these counters
 * @reload_causes: those others
 * @user_disable: a counter can be kept from user space that may read others
 * @masks_lvtpc: an interrupt masks the local APIC's entry
 * @late_nmis: an NMI may come after its overflow has been dealt with
 * @stale_monitors: a counter may not count a new event unless intel_clear_monitors() is called
 * @tells_guests: the counters of AMD's CPUs can count guests alone, or the host: KVM gives its
 *	guests some that cannot
 * @shares_counters: the built-in driver is there too, and has the counters while this one
 *	has no event
 * @has_pairs: an event that needs two counters has been opened since load
 * @has_guest_only: an event that excludes the host has been opened since load (Intel)
 * @config_known: bits of perf_event_attr.config that mean something
 * @counts_only: of these, bits of events that cannot be sampled
 * @hardware: config for each PERF_COUNT_HW_*, 0 if there is none
 * @listed: events that one of Intel's tables has a row for, see intel_is_listed()
 * @second: second registers of events that are there, a bit each
 * @uarch: Intel's microarchitecture, or NULL
 * @cache: returns the config for a PERF_TYPE_HW_CACHE event, or 0
 * @min_period: returns the shortest period that an event can be sampled with, NULL where
 *	that is 1
 * @allowed_counters: returns the counters that can count a config
 * @needs_pair: does an event need two counters? NULL where none does
 * @refuse: returns an errno for a config that this CPU cannot count, or 0
 * @precise: the backend's precise(); NULL where samples have skid
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
	u64		frozen;
	u64		metrics;
	u64		metrics_bit;
	u64		capabilities;
	unsigned int	pebs_format;
	bool		pebs_all;
	bool		pebs_timing;
	bool		pebs_latency;
	bool		pebs_branches;
	u64		pebs_groups;
	u64		pebs_counters;
	u64		pebs_dist;
	u64		ds_bit;
	u64		trace_bit;
	u64		special;
	bool		has_reload;
	u64		reload;
	u64		reload_causes;
	bool		user_disable;
	bool		masks_lvtpc;
	bool		late_nmis;
	bool		stale_monitors;
	bool		tells_guests;
	bool		shares_counters;
	bool		has_pairs;
	bool		has_guest_only;
	u64		config_known;
	u64		counts_only;
	u64		hardware[PERF_COUNT_HW_MAX];
	DECLARE_BITMAP(listed, X86_NR_LISTED);
	unsigned int	second;
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

/* x86/intel/core.c, x86/amd/core.c */
int intel_describe(struct x86_desc *desc);
int amd_describe(struct x86_desc *desc);

/* x86/lbr/core.c, x86/lbr/amd.c: after the counters have been reserved */
int x86_describe_branches(struct x86_desc *desc);
int amd_describe_branches(struct x86_desc *desc);
u64 x86_lbr_select(u64 wanted);

/* x86/lbr/arch.c */
unsigned int x86_lbr_nr_counted(const struct x86_desc *desc);
int x86_lbr_encode_counted(const struct x86_desc *desc, struct perf_event *event, u64 config);

/* x86/intel/acr.c */
void x86_describe_reload(struct x86_desc *desc);
int x86_reload_encode(const struct x86_desc *desc, struct perf_event *event, bool generic);
int x86_reload_check_period(const struct perf_event *event, u64 period);
void x86_reload_start(struct corepmu_cpu *cpuc);
void x86_reload_forget(struct corepmu_cpu *cpuc);
void x86_reload_end(struct corepmu_cpu *cpuc);
void x86_reload_update(struct corepmu_cpu *cpuc, struct perf_event *event,
		       u64 (*read)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc));
void x86_reload_reset(struct corepmu_cpu *cpuc);
u32 x86_cfg_c_msr(int idx);
void x86_set_cfg_c(int idx, u64 value);
void x86_forget_cfg_c(int idx);

/* x86/lbr/branch-type.c */
u32 x86_branch_kind(const u8 *code, unsigned int len, bool is_64bit, bool fused,
		    unsigned int *offset);
u32 x86_branch_decode(struct perf_branch_entry *entry);
u32 x86_branch_decode_fused(struct perf_branch_entry *entry);

/* hybrid.c */
#define X86_MAX_KINDS	3
u32 x86_native_model(void);
unsigned int x86_core_type(u32 native_model);
void x86_add_kind(struct x86_desc *desc);
struct x86_desc *x86_remove_kind(void);
struct x86_desc *x86_kind(unsigned int nr);
unsigned int x86_nr_kinds(void);
bool x86_joins(struct corepmu_cpu *cpuc);
DECLARE_PER_CPU(struct corepmu *, x86_own_pmu);

/**
 * x86_this_pmu() - the PMU of this CPU
 *
 * Not preemptible; any context, NMI too.
 *
 * Return: the PMU, or NULL for a CPU that has come and is of no kind that is known
 */
static inline struct corepmu *x86_this_pmu(void)
{
	return this_cpu_read(x86_own_pmu);
}

/* counters.c */
void x86_select_again(struct corepmu_cpu *cpuc);
u64 x86_merged_overflows(const struct corepmu_cpu *cpuc, u64 overflowed);
extern const struct corepmu_backend x86_global_backend;
extern const struct corepmu_backend x86_each_backend;

/* other-agent.c */
bool x86_has_changed(const struct corepmu_cpu *cpuc);
void x86_note_changes(struct corepmu *pmu);

/* events.c */
extern const struct attribute_group *x86_attr_groups[];
int x86_encode(struct corepmu *pmu, struct perf_event *event);
int x86_precise(struct corepmu *pmu, struct perf_event *event);
int x86_check_period(const struct perf_event *event, u64 period);

/* x86/intel/extra-regs.c */
void intel_describe_second(struct x86_desc *desc);
void intel_list_second(struct x86_desc *desc);
int intel_refuse_second(const struct x86_desc *desc, u64 config);
bool intel_has_second(const struct x86_desc *desc, u64 config);
bool intel_has_offcore(const struct x86_desc *desc);
bool intel_has_omr(const struct x86_desc *desc);
bool intel_has_frontend(const struct x86_desc *desc);
u64 intel_second_cache(const struct x86_desc *desc, u64 generic, u64 *value);
int intel_second_encode(const struct x86_desc *desc, struct perf_event *event, u64 config,
			u64 value);
int x86_second_choose(struct corepmu *pmu, const struct corepmu_second *second,
		      const struct perf_event *event);
void x86_second_use(struct corepmu *pmu, struct perf_event *event, int reg);
void x86_second_write(struct corepmu_cpu *cpuc, int reg);

/* x86/amd/ibs.c */
int amd_precise(struct corepmu *pmu, struct perf_event *event);

/* event-names.c */
extern const struct attribute_group x86_events_group;
extern struct device_attribute x86_attr_pmu_name;
const char *x86_kernel_name(const struct x86_desc *desc);

/* x86/intel/freeze-on-smi.c */
extern const struct attribute_group x86_smi_group;
void x86_smi_reset(struct corepmu_cpu *cpuc);

/**
 * struct x86_claimed_call - a static call of the kernel's that this driver answers
 * @key: the call, or NULL while the driver does not answer it
 * @trampoline: the call's trampoline
 * @unanswered: the function that stands for no answer
 */
struct x86_claimed_call {
	struct static_call_key	*key;
	void			*trampoline;
	void			*unanswered;
};

/* static-call.c */
bool x86_claim_call(struct x86_claimed_call *call, const char *key, const char *trampoline,
		    void *answer);
void x86_release_call(struct x86_claimed_call *call);

/* x86/lbr/snapshot.c */
void x86_snapshot_init(const struct x86_desc *desc);
void x86_snapshot_exit(void);

/* x86/kvm/svm.c: bits that no event select has on this CPU for now */
DECLARE_PER_CPU(u64, x86_select_masked);
u64 x86_svm_filter(const struct perf_event_attr *attr);
void x86_svm_reset(void);
void x86_svm_init(void);
void x86_svm_exit(void);

/* x86/kvm/vmx-msrs.c */
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

/* x86/kvm/vmx.c: KVM takes this CPU on, and CR4 does not say so yet */
DECLARE_PER_CPU(bool, x86_vmx_begins);
/* KVM switches counters between host and guests; and no guest has records of precise events. */
extern bool x86_vmx_switches, x86_vmx_isolates;
u64 x86_guest_only(const struct corepmu_cpu *cpuc, u64 counters);
u64 x86_host_only(const struct corepmu_cpu *cpuc, u64 counters);
void x86_vmx_change(bool on);
void x86_vmx_init(const struct x86_desc *desc);
void x86_vmx_exit(void);

/* x86/intel/nehalem.c */
void intel_clear_monitors(struct corepmu_cpu *cpuc, u64 enable, u64 global_ctrl);

/* x86/intel/topdown.c */
int x86_topdown_encode(struct perf_event *event);
bool x86_topdown_update(struct corepmu_cpu *cpuc, struct perf_event *event);
bool x86_topdown_write(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc);
u64 x86_topdown_overflow(struct corepmu_cpu *cpuc, u64 status);

/* x86/pebs/core.c, x86/pebs/event.c, x86/pebs/latency.c: precise samples of Intel's CPUs */
void x86_describe_precise(struct x86_desc *desc);
void x86_pebs_reset(struct corepmu_cpu *cpuc);
void x86_pebs_quiesce(struct corepmu_cpu *cpuc);
bool x86_pebs_update(struct corepmu_cpu *cpuc, const struct perf_event *event);
void x86_pebs_follow_reset(struct corepmu_cpu *cpuc, struct perf_event *event);
u64 x86_pebs_overflow(struct corepmu_cpu *cpuc, u64 overflowed);
u64 x86_pebs_counters(const struct corepmu_cpu *cpuc);
u64 x86_pebs_config(const struct x86_desc *desc, const struct perf_event_attr *attr, u64 config);
unsigned int x86_pebs_min_period(const struct x86_desc *desc, const struct perf_event_attr *attr);
int x86_pebs_encode(const struct x86_desc *desc, struct perf_event *event);
bool x86_pebs_has_latency(const struct x86_desc *desc);
bool x86_pebs_wants_latency(const struct x86_desc *desc, const struct perf_event_attr *attr,
			    u64 config);
int x86_pebs_refuse_latency(const struct x86_desc *desc, const struct perf_event_attr *attr,
			    u64 config);

/* nmi.c */
void x86_describe_status(struct x86_desc *desc);
void x86_restore_global(struct corepmu_cpu *cpuc);
int x86_nmi_init(const struct x86_desc *desc);
void x86_nmi_exit(struct x86_desc *desc);
void x86_irq_learn(struct corepmu_cpu *cpuc);
void x86_irq_enable(struct corepmu_cpu *cpuc);
void x86_irq_disable(struct corepmu_cpu *cpuc);

/* Whoever has the counters, this makes them free. */
#define X86_REMEDY "end what perf runs on them, and write 0 to /proc/sys/kernel/nmi_watchdog"

/* exclusive.c */
void x86_exclusive_init(const struct x86_desc *desc);
bool x86_exclusive_is_known(void);
int x86_exclusive_open(void);
void x86_exclusive_close(void);

/* btf.c */
bool x86_is_read_only(unsigned long addr);
void *x86_pmu_member(const char *name, size_t size);

/* cntval-bits.c */
int *x86_find_cntval_bits(void);

/* rdpmc.c */
extern const struct attribute_group x86_user_group;
void x86_user_init(struct x86_desc *desc);
void x86_user_exit(struct x86_desc *desc);
int x86_user_flags(void);
bool x86_user_is_everybody(void);
int x86_event_idx(struct perf_event *event);
void x86_user_take_over(void);
void x86_user_switch(struct corepmu_cpu *cpuc);
void x86_user_mapped(struct perf_event *event, struct mm_struct *mm);
void x86_user_unmapped(struct perf_event *event, struct mm_struct *mm);

/* reserve.c */
bool x86_keeps(u32 msr, u64 probe);
int x86_reserve(void);
int x86_acquire(struct corepmu *pmu);
void x86_release(struct corepmu *pmu);
extern bool x86_reserved;

/**
 * x86_is_reserved() - are the counters this driver's?
 *
 * Any context, NMI too.
 *
 * Return: whether they are
 */
static inline bool x86_is_reserved(void)
{
	return READ_ONCE(x86_reserved);
}

#endif /* _COREPMU_X86_H */
