/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: Intel: microarchitectures, and the features that only Intel has
 */
#ifndef _COREPMU_X86_INTEL_H
#define _COREPMU_X86_INTEL_H

#include <linux/types.h>

#include "../msr.h"

struct attribute_group;
struct corepmu;
struct corepmu_cpu;
struct corepmu_extra_reg;
struct corepmu_feature_ops;
struct perf_event_attr;
struct x86_desc;

/* Microarchitectures of cores, then of atoms. All CPUs of one of them have the same events. */
enum intel_uarch_id {
	UARCH_CORE,		/* Yonah */
	UARCH_CORE2,		/* Merom, Penryn, Dunnington */
	UARCH_NEHALEM,
	UARCH_WESTMERE,
	UARCH_SANDY_BRIDGE,
	UARCH_IVY_BRIDGE,
	UARCH_HASWELL,
	UARCH_BROADWELL,
	UARCH_SKYLAKE,		/* Kaby Lake, Comet Lake, Cascade Lake */
	UARCH_ICE_LAKE,		/* Tiger Lake, Rocket Lake */
	UARCH_GOLDEN_COVE,	/* Alder Lake, Raptor Lake, Sapphire Rapids, Emerald Rapids */
	UARCH_REDWOOD_COVE,	/* Meteor Lake, Granite Rapids */
	UARCH_LION_COVE,	/* Lunar Lake, Arrow Lake; Cougar Cove: Panther Lake */
	UARCH_COYOTE_COVE,	/* Nova Lake */
	UARCH_PANTHER_COVE,	/* Diamond Rapids */
	UARCH_BONNELL,
	UARCH_SILVERMONT,	/* Airmont */
	UARCH_KNIGHTS_LANDING,
	UARCH_GOLDMONT,
	UARCH_GOLDMONT_PLUS,
	UARCH_TREMONT,
	UARCH_GRACEMONT,	/* Alder Lake, Alder Lake-N */
	UARCH_CRESTMONT,	/* Meteor Lake, Sierra Forest, Grand Ridge, Arrow Lake H */
	UARCH_SKYMONT,		/* Lunar, Arrow Lake; Darkmont: Panther Lake, Clearwater Forest */
	UARCH_ARCTIC_WOLF,	/* Nova Lake */
	NR_UARCHES
};

/* CPUID leaves 0xA and 0x23 of architectural performance monitoring; fields of 0xA */
#define CPUID_ARCH_PERFMON	0xa
#define CPUID_PERFMON_EXT	0x23
#define EAX_VERSION		GENMASK(7, 0)
#define EAX_NR_GP		GENMASK(15, 8)
#define EAX_GP_WIDTH		GENMASK(23, 16)
#define EAX_NR_EVENTS		GENMASK(31, 24)
#define EDX_NR_FIXED		GENMASK(4, 0)
#define EDX_FIXED_WIDTH		GENMASK(12, 5)
#define EDX_ANY_DEPRECATED	BIT(15)

/* Intel's CPU family 6. Model numbers in this driver without a family are of family 6. */
#define FAMILY_P6	6

/* CPUID.1AH:EAX[31:24], core type (SDM volume 2, CPUID, "Native Model ID Leaf") */
#define INTEL_ATOM	0x20
#define INTEL_CORE	0x40
/* Not a core type of CPUID: the slower of Arrow Lake H's two atom types */
#define INTEL_LOWPOWER	0x21

/* SDM volume 3, table "Pre-defined Architectural Performance Events" */
#define EVENT_CORE_CYCLES	0x003c
#define EVENT_INSTRUCTIONS	0x00c0
#define EVENT_REFERENCE_CYCLES	0x013c
#define EVENT_LLC_REFERENCES	0x4f2e
#define EVENT_LLC_MISSES	0x412e
#define EVENT_BRANCHES		0x00c4
#define EVENT_BRANCH_MISSES	0x00c5
/* INST_RETIRED.PREC_DIST */
#define EVENT_PREC_DIST		0x01c0
/* The kernel's pseudo-encodings: reference cycles on fixed counter 2, slots on fixed counter 3 */
#define EVENT_REF_CYCLES	0x0300
#define EVENT_SLOTS		0x0400

/**
 * struct intel_codes - event codes that the same counters can count
 * @counters: counters, a bit each
 * @nr: number of @codes
 * @codes: event codes, in ascending order
 */
struct intel_codes {
	u16		counters;
	u16		nr;
	const u16	*codes;
};

/**
 * struct intel_uarch - event constraints of a microarchitecture
 * @name: name of the microarchitecture in scripts/lib/intel-counters.py
 * @nr_codes: number of sets in @codes
 * @nr_rest: number of sets in @rest
 * @codes: constraints by unit mask and event (bits 15-8, 7-0)
 * @rest: constraints by event, for all unit masks that are not in @codes
 *
 * An architectural event that is not in @codes may be on any counter. Another event that is in
 * neither table may be on counters 0 to 3.
 */
struct intel_uarch {
	const char		*name;
	u8			nr_codes;
	u8			nr_rest;
	const struct intel_codes *codes;
	const struct intel_codes *rest;
};

/**
 * struct intel_model - the microarchitecture of a CPU model
 * @family: boot_cpu_data.x86
 * @model: boot_cpu_data.x86_model
 * @core_type: INTEL_ATOM, INTEL_CORE or INTEL_LOWPOWER on hybrid models, else 0
 * @uarch: enum intel_uarch_id
 */
struct intel_model {
	u8	family;
	u8	model;
	u8	core_type;
	u8	uarch;
};

/**
 * struct intel_architectural - an architectural event, which CPUID leaf 0xA enumerates
 * @config: event and unit mask
 * @hardware: the PERF_COUNT_HW_* event with the same meaning
 */
struct intel_architectural {
	u16	config;
	int	hardware;
};

#define INTEL_NR_ARCHITECTURAL	7

/**
 * intel_is_slots() - check whether an event counts slots on fixed counter 3
 * @config: event code, or the event's hw_perf_event.config_base
 *
 * Return: true for the slots event
 */
static inline bool intel_is_slots(u64 config)
{
	return (config & (EVNTSEL_EVENT | EVNTSEL_UMASK)) == EVENT_SLOTS;
}

/* core.c */
int intel_describe(struct x86_desc *desc);

/* constraints.c */
extern const struct intel_uarch intel_uarches[];
extern const struct intel_model intel_models[];
extern const unsigned int intel_nr_models;

/* uarch.c */
extern const struct intel_architectural intel_architectural[INTEL_NR_ARCHITECTURAL];
int intel_p6_model(void);
unsigned int intel_cpu_type(u32 native_model);
const struct intel_uarch *intel_find_uarch(void);
unsigned int intel_nr_general(const struct intel_uarch *uarch, unsigned int reported);
bool intel_model_is_hybrid(void);
bool intel_hides_metrics(void);
bool intel_lbr_pt_coexist(const struct intel_uarch *uarch);
bool intel_is_architectural(u64 config);
u64 intel_general_counters(const struct intel_uarch *uarch, u64 config);
u64 intel_unlisted_counters(const struct intel_uarch *uarch, u64 config);
void intel_list(struct x86_desc *desc, u64 config);
void intel_list_codes(struct x86_desc *desc);
bool intel_is_listed(const struct x86_desc *desc, u64 config);
u64 intel_known_fixed(const struct intel_uarch *uarch, u64 reported);
u64 intel_fixed_counters(const struct intel_uarch *uarch, u64 config);
bool intel_since_alder_lake(const struct intel_uarch *uarch);
bool intel_counts_tsc(const struct intel_uarch *uarch);
bool intel_has_tsx_events(const struct intel_uarch *uarch);
unsigned int intel_min_left(const struct intel_uarch *uarch);
unsigned int intel_min_period(const struct x86_desc *desc, u64 config);
int intel_refuse_uarch(const struct x86_desc *desc, u64 config);

/* cache.c */
u64 intel_uarch_cache(const struct intel_uarch *uarch, u64 generic);
void intel_uarch_hardware(const struct intel_uarch *uarch, u64 *hardware);

/* extra-regs-cache.c */
unsigned int intel_extra_reg_cache_register(const struct intel_uarch *uarch, u64 generic);
bool intel_extra_reg_cache_value(const struct intel_uarch *uarch, u64 generic, u64 *value);

/* nehalem.c */
void intel_clear_monitors(struct corepmu_cpu *cpuc, u64 enable, u64 global_ctrl);
bool intel_has_stale_monitors(const struct intel_uarch *uarch, unsigned int nr_gp);

/* topdown.c */
bool x86_topdown_clears(const struct x86_desc *desc, const struct perf_event_attr *attr,
			u64 config);
int x86_topdown_encode(struct perf_event *event);
u64 x86_topdown_part(u64 slots, u64 metrics, int idx);
bool x86_topdown_update(struct corepmu_cpu *cpuc, struct perf_event *event);
bool x86_topdown_write(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc);
u64 x86_topdown_overflow(struct corepmu_cpu *cpuc, u64 status);
u64 intel_metric_counters(const struct intel_uarch *uarch);

/* acr.c */
extern const struct corepmu_feature_ops x86_acr_feature;
void x86_describe_acr(struct x86_desc *desc);
int x86_acr_encode(const struct x86_desc *desc, struct perf_event *event, bool generic);
u64 x86_acr_leaves(const struct perf_event *event, const struct perf_event *other);
void x86_acr_join(const struct perf_event *event);
int x86_acr_check_period(const struct perf_event *event, u64 period);
void x86_acr_update(struct corepmu_cpu *cpuc, struct perf_event *event,
		    u64 (*read)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc));
void x86_acr_reset(struct corepmu_cpu *cpuc);
u32 x86_cfg_c_msr(int idx);
void x86_set_cfg_c(int idx, u64 value);
void x86_forget_cfg_c(int idx);

/* extra-regs.c */
void intel_describe_extra_regs(struct x86_desc *desc);
void intel_list_extra_reg_events(struct x86_desc *desc);
int intel_refuse_extra_reg(const struct x86_desc *desc, u64 config);
bool intel_event_needs_extra_reg(const struct x86_desc *desc, u64 config);
bool intel_uarch_has_extra_reg(const struct x86_desc *desc, u32 msr);
u64 intel_extra_reg_cache(const struct x86_desc *desc, u64 generic, u64 *value);
int intel_extra_reg_encode(const struct x86_desc *desc, struct perf_event *event, u64 config,
			   u64 value);
int x86_extra_reg_choose(struct corepmu *pmu, const struct corepmu_extra_reg *extra_regs,
			 const struct perf_event *event);
void x86_extra_reg_use(struct corepmu *pmu, struct perf_event *event, int reg);
void x86_extra_reg_write(struct corepmu_cpu *cpuc, int reg);

/* extra-regs-feature.c */
extern const struct corepmu_feature_ops x86_extra_reg_feature;
void x86_extra_regs_reset(struct corepmu_cpu *cpuc);

/* freeze-on-smi.c */
extern const struct attribute_group x86_freeze_on_smi_group;
void x86_freeze_on_smi_reset(struct corepmu_cpu *cpuc);

#endif /* _COREPMU_X86_INTEL_H */
