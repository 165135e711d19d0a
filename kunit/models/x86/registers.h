/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: model of the counters of an x86 CPU
 */
#ifndef _COREPMU_KUNIT_X86_H
#define _COREPMU_KUNIT_X86_H

#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/types.h>

#include "cpu.h"

#define X86_MODEL_MAX_GP	32
#define X86_MODEL_MAX_FIXED	4
#define X86_MODEL_MAX_LBR	32
#define X86_MODEL_MAX_EXTRA_REGS	9

/* x86_pmu: its size in words, and the words of cntval_bits and of lbr_pt_coexist */
#define X86_MODEL_PMU_WORDS	256
#define X86_MODEL_PMU_WIDTH	37
#define X86_MODEL_PMU_COEXIST	91

/* Users that exclude each other: LBR, BTS, Intel PT */
enum x86_model_user {
	X86_MODEL_LBR,
	X86_MODEL_BTS,
	X86_MODEL_PT,
	X86_MODEL_USERS,
};

struct x86_model;

/* Branch types; each value is the bit of MSR_LBR_SELECT that suppresses branches of this type */
enum x86_model_branch {
	X86_MODEL_COND = 2,
	X86_MODEL_CALL,
	X86_MODEL_IND_CALL,
	X86_MODEL_RET,
	X86_MODEL_IND_JUMP,
	X86_MODEL_JUMP,
	X86_MODEL_FAR,
};

/**
 * struct x86_model_lbr - a branch record
 * @from: FROM
 * @to: TO
 * @info: INFO (Intel)
 */
struct x86_model_lbr {
	u64	from;
	u64	to;
	u64	info;
};

/**
 * struct x86_model - state of one CPU
 * @select: PERFEVTSEL or PERF_CTL
 * @counter: values of the general-purpose counters
 * @fixed: values of the fixed counters
 * @metrics: PERF_METRICS; a test sets it to the shares of the slots
 * @fixed_ctrl: FIXED_CTR_CTRL
 * @global_ctrl: GLOBAL_CTRL
 * @global_status: GLOBAL_STATUS
 * @sticky: bits of GLOBAL_STATUS that cannot be cleared
 * @debugctl: IA32_DEBUGCTL
 * @lvtpc: LVTPC, the local APIC's entry for PMIs
 * @pending: an NMI is pending
 * @skid: number of events between an overflow and its NMI
 * @hold: NMIs stay pending while this is true
 * @nmis: number of NMIs that were taken
 * @unknown_nmis: number of NMIs that the handler did not claim
 * @counts_itself: number of events that each register access makes, for the self-test
 * @dead: bitmap of counters that do not count
 * @deaf: bitmap of counters whose overflow does not interrupt
 * @lbr: branch records; architectural and AMD's records: the youngest first
 * @lbr_tos: MSR_LASTBRANCH_TOS: index of the youngest record
 * @lbr_select: MSR_LBR_SELECT (Intel or AMD)
 * @lbr_ctl: IA32_LBR_CTL, or AMD's DBG_EXTN_CFG
 * @lbr_absent: branch record registers read as 0
 * @extra_regs: MSR_OFFCORE_RSP_0 and 1, MSR_PEBS_FRONTEND, MSR_OMR_0 to 3, MSR_SNOOP_RSP_0 and 1
 * @ds_area: IA32_DS_AREA
 * @pebs_enable: IA32_PEBS_ENABLE
 * @pebs_data: IA32_PEBS_DATA_CFG
 * @pebs_latency: MSR_PEBS_LD_LAT
 * @pebs_base: IA32_PEBS_BASE
 * @pebs_index: IA32_PEBS_INDEX
 * @pebs_cfg_c: IA32_PMC_GPn_CFG_C, from 32 on IA32_PMC_FXm_CFG_C
 * @acr_cfg_b: IA32_PMC_GPn_CFG_B, from 32 on IA32_PMC_FXm_CFG_B
 * @pebs_ip: address of the instruction that makes events happen
 * @pebs_records: number of records since power-on
 * @pebs_lost: the CPU writes no records
 * @pebs_garbage: the CPU writes invalid records
 * @monitors_cleared: select registers may change their event (@stale_monitors)
 * @miscounting: bitmap of counters that count core cycles instead of their event
 * @room: number of enabled counters that count, the lowest ones first; 0 for all
 */
struct x86_model {
	u64		select[X86_MODEL_MAX_GP];
	u64		counter[X86_MODEL_MAX_GP];
	u64		fixed[X86_MODEL_MAX_FIXED];
	u64		metrics;
	u64		fixed_ctrl;
	u64		global_ctrl;
	u64		global_status;
	u64		sticky;
	u64		debugctl;
	u32		lvtpc;
	bool		pending;
	unsigned int	skid;
	bool		hold;
	unsigned int	nmis;
	unsigned int	unknown_nmis;
	unsigned int	counts_itself;
	u64		dead;
	u64		deaf;
	struct x86_model_lbr lbr[X86_MODEL_MAX_LBR];
	unsigned int	lbr_tos;
	u64		lbr_select;
	u64		lbr_ctl;
	bool		lbr_absent;
	u64		extra_regs[X86_MODEL_MAX_EXTRA_REGS];
	u64		ds_area;
	u64		pebs_enable;
	u64		pebs_data;
	u64		pebs_latency;
	u64		pebs_base;
	u64		pebs_index;
	u64		pebs_cfg_c[32 + X86_MODEL_MAX_FIXED];
	u64		acr_cfg_b[32 + X86_MODEL_MAX_FIXED];
	u64		pebs_ip;
	unsigned int	pebs_records;
	bool		pebs_lost;
	bool		pebs_garbage;
	bool		monitors_cleared;
	u64		miscounting;
	unsigned int	room;
};

typedef int (*x86_model_nmi_t)(unsigned int type, struct pt_regs *regs);

const struct x86_model_cpu *x86_model_this(void);
DECLARE_PER_CPU(struct x86_model, x86_model_state);

/* MSRs of a vendor; the functions return false for #GP. */
bool intel_model_read(struct x86_model *m, u32 msr, u64 *value, const char **name, int *index);
bool intel_model_write(struct x86_model *m, u32 msr, u64 value, const char **name, int *index);
bool amd_model_read(struct x86_model *m, u32 msr, u64 *value, const char **name, int *index);
bool amd_model_write(struct x86_model *m, u32 msr, u64 value, const char **name, int *index);
u32 intel_model_fixed(void);
void intel_model_runs(struct x86_model *m);

bool lbr_model_read(struct x86_model *m, u32 msr, u64 *value, const char **name, int *index);
bool lbr_model_write(struct x86_model *m, u32 msr, u64 value, const char **name, int *index);
void lbr_model_freeze(struct x86_model *m);
u64 *lbr_model_put(const struct x86_model *m, u64 *at, unsigned int nr);
void x86_model_branch(u64 from, u64 to, enum x86_model_branch type, u64 flags);

/**
 * struct x86_model_code - code at the source of a branch
 * @addr: address; other addresses cannot be read
 * @code: the instruction, and bytes after it
 * @len: number of bytes that can be read, 0 for all
 * @is_32bit: 32-bit code
 */
struct x86_model_code {
	u64	addr;
	u8	code[16];
	u8	len;
	bool	is_32bit;
};

extern const struct x86_model_code *x86_model_code;
extern unsigned int x86_model_nr_code;

void x86_model_power_on(const struct x86_model_cpu *cpu);
void x86_model_power_on_other(int which, const struct x86_model_cpu *cpu);
void x86_model_run(u64 event, bool user, u64 times);
void x86_model_spurious_nmi(void);
void x86_model_fill_bts(void);
void x86_model_hold(bool hold);
void x86_model_count_itself(struct x86_model *m);
void x86_model_use(bool use);
unsigned int x86_model_reserved(void);
extern void (*x86_model_after_rdpmc)(void);
extern void (*x86_model_before_wrmsr)(void);
extern int x86_model_builtin;
extern bool x86_model_nmi_refused;
extern bool x86_model_no_apic;
/* The kernel is a Xen PV domain. */
extern bool x86_model_xen_pv;
extern bool x86_model_no_msrs;
extern unsigned int x86_model_migratable;
extern bool x86_model_no_trace;
extern bool x86_model_no_bts, x86_model_pti, x86_model_bts_runs, x86_model_bts_full;
extern bool x86_model_builtin_stops;
extern bool x86_model_masks_all;
extern unsigned int x86_model_missing;
extern u64 x86_model_ctl_kept;
extern unsigned int x86_model_traced;
extern unsigned long x86_model_user_cs;

/* models/rdpmc.c: symbols that the kernel does not export, for x86/rdpmc.c; x86 kernels only */
extern const char *x86_model_hidden;
/* kernel.perf_event_paranoid */
extern int x86_model_paranoid;
extern int x86_model_pmu[X86_MODEL_PMU_WORDS];
extern const char *x86_model_rodata, *x86_model_rodata_end;
extern int x86_model_exclusive[X86_MODEL_USERS];
int x86_model_add_exclusive(unsigned int what);
void x86_model_del_exclusive(unsigned int what);
extern const void *x86_model_btf, *x86_model_btf_end;
extern unsigned long x86_model_code_size;
extern unsigned int x86_model_pce_updates, x86_model_clears;
void x86_model_user_power_on(void);

/* vmx.c; x86 kernels only */
struct perf_guest_switch_msr;
unsigned long vmx_model_find_symbol(const char *name);
const struct perf_guest_switch_msr *vmx_model_ask(int *nr);
void vmx_model_run(void (*run)(void *data), void *data);

/* models/rdpmc.c */
void x86_model_forget_loads(void);
void x86_model_load(unsigned int offset, bool movzx, const void *from);
bool x86_model_rdpmc_never(void);
bool x86_model_rdpmc_always(void);

#endif /* _COREPMU_KUNIT_X86_H */
