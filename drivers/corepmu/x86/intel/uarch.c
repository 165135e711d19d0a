// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel microarchitectures: which one this CPU is, and its event constraints
 *
 * scripts/generate/intel-counters generates the table in constraints.c.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "uarch-bits.h"
#include "../msr.h"
#include "../x86.h"

/*
 * SDM volume 3, "Architectural Performance Monitoring": every general-purpose counter can count an
 * architectural event. An event that is in no table is placed on counters 0 to 3: most events of
 * Ice Lake and Sapphire Rapids do not count on counters 4 to 7.
 */
#define COMMON_COUNTERS	GENMASK_ULL(3, 0)

/* CPUID.1AH:EAX[23:0], and enum intel_native_id in arch/x86/include/asm/intel-family.h of 7.3 */
#define EAX_NATIVE_MODEL	GENMASK(23, 0)
#define NATIVE_CRESTMONT	2

static bool is_this(const struct intel_model *model)
{
	return model->family == boot_cpu_data.x86 && model->model == boot_cpu_data.x86_model;
}

/**
 * intel_p6_model() - return the CPU model, for comparisons with models of family 6
 *
 * Model numbers of other families overlap with those of family 6.
 *
 * Return: boot_cpu_data.x86_model, or -1 on a CPU of another family
 */
int intel_p6_model(void)
{
	return boot_cpu_data.x86 == FAMILY_P6 ? boot_cpu_data.x86_model : -1;
}

/**
 * intel_cpu_type() - return the CPU type of a core
 * @native_model: from x86_native_model()
 *
 * Arrow Lake H has atoms of two microarchitectures; the native model tells which one it is.
 *
 * Return: INTEL_ATOM, INTEL_CORE, INTEL_LOWPOWER, or an unknown type
 */
unsigned int __corepmu_init intel_cpu_type(u32 native_model)
{
	unsigned int i, core_type = x86_native_core_type(native_model);

	if (core_type != INTEL_ATOM ||
	    FIELD_GET(EAX_NATIVE_MODEL, native_model) != NATIVE_CRESTMONT)
		return core_type;

	for (i = 0; i < intel_nr_models; i++)
		if (is_this(&intel_models[i]) && intel_models[i].core_type == INTEL_LOWPOWER)
			return INTEL_LOWPOWER;

	return core_type;
}

/*
 * Alder Lake and Raptor Lake without atoms (i3-12100, Xeon E-2400) are not hybrid, and CPUID leaf
 * 0x1A may have no core type. A hypervisor zeroes the leaf, and only such hosts give their guests a
 * virtual PMU. The cores are Golden Cove: adl_get_hybrid_cpu_type() in
 * arch/x86/events/intel/core.c assumes the same.
 */
static unsigned int __corepmu_init core_type_without_atoms(void)
{
	if (boot_cpu_has(X86_FEATURE_HYBRID_CPU))
		return 0;

	switch (intel_p6_model()) {
	case 0x97:
	case 0x9a:
	case 0xb7:
	case 0xba:
	case 0xbf:
		return INTEL_CORE;
	default:
		return 0;
	}
}

/**
 * intel_hides_metrics() - check whether IA32_PERF_CAPABILITIES may lack PERF_METRICS wrongly
 *
 * On hybrid CPUs, IA32_PERF_CAPABILITIES has the features that all CPU types have. On Raptor Lake
 * its bit 15 is 0 (erratum RPL018), with E-cores or without: intel_pmu_broken_perf_cap() in
 * arch/x86/events/intel/core.c.
 *
 * Return: true if only a read of PERF_METRICS shows whether it exists
 */
bool __corepmu_init intel_hides_metrics(void)
{
	if (boot_cpu_has(X86_FEATURE_HYBRID_CPU))
		return true;

	switch (intel_p6_model()) {
	case 0xb7:
	case 0xba:
	case 0xbf:
		return true;
	default:
		return false;
	}
}

/**
 * intel_lbr_pt_coexist() - check whether the CPU can use LBR and Intel PT simultaneously
 * @uarch: its microarchitecture, NULL if unknown
 *
 * As lbr_pt_coexist in intel_pmu_init(), arch/x86/events/intel/core.c.
 *
 * Return: true if it can
 */
bool __corepmu_init intel_lbr_pt_coexist(const struct intel_uarch *uarch)
{
	enum intel_uarch_id id = uarch ? uarch - intel_uarches : UARCH_CORE;

	return (id >= UARCH_ICE_LAKE && id <= UARCH_PANTHER_COVE) || id >= UARCH_GOLDMONT;
}

/**
 * intel_find_uarch() - return the microarchitecture of this CPU
 *
 * If a hybrid model's CPUID has no core type, the microarchitecture is unknown, unless the model is
 * one of those without atoms.
 *
 * Return: the microarchitecture, or NULL if unknown
 */
__corepmu_init const struct intel_uarch *intel_find_uarch(void)
{
	const struct intel_model *model;
	unsigned int i, core_type = intel_cpu_type(x86_native_model());

	if (!core_type)
		core_type = core_type_without_atoms();
	for (i = 0; i < intel_nr_models; i++) {
		model = &intel_models[i];
		if (is_this(model) && (!model->core_type || model->core_type == core_type))
			return &intel_uarches[model->uarch];
	}

	return NULL;
}

/**
 * intel_model_is_hybrid() - check whether this CPU model is hybrid, by the table
 *
 * Return: true for a hybrid model, even if this CPU has only one type of core
 */
bool intel_model_is_hybrid(void)
{
	unsigned int i;

	for (i = 0; i < intel_nr_models; i++)
		if (is_this(&intel_models[i]))
			return intel_models[i].core_type;

	return false;
}

/**
 * intel_nr_general() - return the number of general-purpose counters of this CPU
 * @uarch: its microarchitecture, NULL if unknown
 * @reported: number of general-purpose counters in CPUID leaf 0xA
 *
 * On hybrid CPUs leaf 0xA reports only the counters that all CPU types have: six on Golden Cove
 * with Gracemont (intel_pmu_init() in arch/x86/events/intel/core.c). This function adds the
 * counters of the table whose registers can be read; firmware or a hypervisor may hide some.
 * Must run on the CPU.
 *
 * Return: number of counters, numbered from 0
 */
unsigned int __corepmu_init intel_nr_general(const struct intel_uarch *uarch, unsigned int reported)
{
	unsigned int i, known = 0;
	u64 value;

	if (!uarch || !boot_cpu_has(X86_FEATURE_HYBRID_CPU))
		return reported;

	for (i = 0; i < uarch->nr_codes; i++)
		known = max_t(unsigned int, known, fls(uarch->codes[i].counters));
	while (reported < known && !x86_read_msr_safe(MSR_P6_EVNTSEL0 + reported, &value))
		reported++;

	return reported;
}

/* From Golden Cove and Gracemont on */
#define NEW_UARCHES	(GLC_RWC | LNC_ON | GRT_ON)

static bool is_one_of(const struct intel_uarch *uarch, u32 uarches)
{
	return uarch && uarches & BIT(uarch - intel_uarches);
}

static const struct intel_codes *find_code(const struct intel_codes *sets, unsigned int nr_sets,
					   u16 code)
{
	unsigned int i, j;

	for (i = 0; i < nr_sets; i++)
		for (j = 0; j < sets[i].nr; j++)
			if (sets[i].codes[j] == code)
				return &sets[i];

	return NULL;
}

/* Bit n of CPUID.0AH:EBX says that event n is missing. */
const struct intel_architectural intel_architectural[INTEL_NR_ARCHITECTURAL] = {
	{ EVENT_CORE_CYCLES,	PERF_COUNT_HW_CPU_CYCLES },
	{ EVENT_INSTRUCTIONS,	PERF_COUNT_HW_INSTRUCTIONS },
	{ EVENT_REFERENCE_CYCLES, PERF_COUNT_HW_BUS_CYCLES },
	{ EVENT_LLC_REFERENCES,	PERF_COUNT_HW_CACHE_REFERENCES },
	{ EVENT_LLC_MISSES,	PERF_COUNT_HW_CACHE_MISSES },
	{ EVENT_BRANCHES,	PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ EVENT_BRANCH_MISSES,	PERF_COUNT_HW_BRANCH_MISSES },
};

/**
 * intel_is_architectural() - check for the event code of an architectural event
 * @config: event code; only event and unit mask are compared
 *
 * Return: true for an architectural event, even if this CPU lacks the event
 */
bool intel_is_architectural(u64 config)
{
	unsigned int i;

	config &= EVNTSEL_EVENT | EVNTSEL_UMASK | EVNTSEL_UMASK2;
	for (i = 0; i < INTEL_NR_ARCHITECTURAL; i++)
		if (config == intel_architectural[i].config)
			return true;

	return false;
}

/**
 * intel_general_counters() - return the general-purpose counters that can count an event
 * @uarch: the microarchitecture, NULL if unknown
 * @config: event code
 *
 * Edge, inversion and threshold do not change the counters.
 *
 * Return: a bit for each counter, even if the CPU lacks the counter; 0 for an unnamed unit mask
 * whose event has named unit masks without a common counter
 */
u64 intel_general_counters(const struct intel_uarch *uarch, u64 config)
{
	u16 code = config & (EVNTSEL_EVENT | EVNTSEL_UMASK);
	const struct intel_codes *found = NULL;

	/* The table has no second unit masks: treat them like unnamed unit masks. */
	if (uarch && !(config & EVNTSEL_UMASK2))
		found = find_code(uarch->codes, uarch->nr_codes, code);

	return found ? found->counters : intel_unlisted_counters(uarch, config);
}

/**
 * intel_unlisted_counters() - return the general-purpose counters of an event that is not in
 * intel_uarch.codes
 * @uarch: the microarchitecture, NULL if unknown
 * @config: event code
 *
 * Return: a bit for each counter, even if the CPU lacks the counter
 */
u64 intel_unlisted_counters(const struct intel_uarch *uarch, u64 config)
{
	const struct intel_codes *found = NULL;

	if (intel_is_architectural(config))
		return GENMASK_ULL(FIXED_COUNTER_BASE - 1, 0);
	if (uarch)
		found = find_code(uarch->rest, uarch->nr_rest, config & EVNTSEL_EVENT);

	return found ? found->counters : COMMON_COUNTERS;
}

/*
 * The tables have hundreds of rows, and most events are in none of them. The bitmap desc->listed
 * has a bit for each hash of event and unit mask: a clear bit saves the search.
 */
static unsigned int list_hash(u64 config)
{
	return hash_32(config & (EVNTSEL_EVENT | EVNTSEL_UMASK), X86_LISTED_BITS);
}

/**
 * intel_list() - note in desc->listed that a table has a row for an event
 * @desc: the PMU description, being filled in
 * @config: event code; only event and unit mask are used
 */
void __corepmu_init intel_list(struct x86_desc *desc, u64 config)
{
	__set_bit(list_hash(config), desc->listed);
}

/**
 * intel_list_codes() - note in desc->listed all events of the microarchitecture's table
 * @desc: the PMU description, being filled in
 */
void __corepmu_init intel_list_codes(struct x86_desc *desc)
{
	const struct intel_codes *set;
	unsigned int i;

	if (!desc->uarch)
		return;
	for (set = desc->uarch->codes; set < desc->uarch->codes + desc->uarch->nr_codes; set++)
		for (i = 0; i < set->nr; i++)
			intel_list(desc, set->codes[i]);
}

/**
 * intel_is_listed() - check whether a table may have a row for an event
 * @desc: the PMU description
 * @config: event code
 *
 * Return: false if none of intel_uarch.codes, extra_reg_events[] and incomplete_events[] has one
 */
bool intel_is_listed(const struct x86_desc *desc, u64 config)
{
	return test_bit(list_hash(config), desc->listed);
}

/* Event that each fixed counter counts */
static const u16 fixed_events[] = {
	EVENT_INSTRUCTIONS, EVENT_CORE_CYCLES, EVENT_REF_CYCLES, EVENT_SLOTS,
};

/*
 * Events of the fixed counters of Skymont and Arctic Wolf, which have no slots:
 * TOPDOWN_BAD_SPECULATION.ALL, TOPDOWN_FE_BOUND.ALL, TOPDOWN_RETIRING.ALL ("Fixed counter 4" to 6
 * in perf's lists for Lunar Lake and Nova Lake). General-purpose counters can count these events
 * too.
 */
static const u16 skymont_fixed_events[] = {
	EVENT_INSTRUCTIONS, EVENT_CORE_CYCLES, EVENT_REF_CYCLES, 0, 0x0073, 0x019c, 0x02c2,
};

/*
 * Pseudo-encodings of fixed counters in Intel's event lists: event 0 with the counter's number plus
 * 1 as unit mask. INST_RETIRED.ANY and PREC_DIST have unit mask 1, Skymont's TOPDOWN_RETIRING.ALL
 * has 7. The lists of Nehalem, Westmere and Bonnell do not use pseudo-encodings, and older cores
 * have no list. The kernel accepts them from 7.x on, for Ice Lake and later
 * (intel_icl_event_constraints[] in arch/x86/events/intel/core.c).
 */
#define PSEUDO_EVENT(n)		(((n) + 1) << 8)
#define PSEUDO_UARCHES		(GENMASK(NR_UARCHES - 1, 0) & ~(YNH | C2 | NHM | WSM | BNL))
#define REF_TSC_COUNTER		2

/* In the array, 0 stands for a fixed counter that does not exist. */
static const u16 *fixed_events_of(const struct intel_uarch *uarch, unsigned int *nr)
{
	if (is_one_of(uarch, SKT_ON)) {
		*nr = ARRAY_SIZE(skymont_fixed_events);
		return skymont_fixed_events;
	}
	*nr = ARRAY_SIZE(fixed_events);

	return fixed_events;
}

/**
 * intel_known_fixed() - return the fixed counters whose event the driver knows
 * @uarch: the microarchitecture, NULL if unknown
 * @reported: fixed counters that CPUID reports, from bit 0 on
 *
 * Return: a bit for each fixed counter, from FIXED_COUNTER_BASE on
 */
u64 __corepmu_init intel_known_fixed(const struct intel_uarch *uarch, u64 reported)
{
	unsigned int nr, i;
	const u16 *events = fixed_events_of(uarch, &nr);
	u64 known = 0;

	for (i = 0; i < nr; i++)
		if (events[i])
			known |= BIT_ULL(i);

	return (reported & known) << FIXED_COUNTER_BASE;
}

/**
 * intel_fixed_counters() - return the fixed counters that can count an event
 * @uarch: the microarchitecture, NULL if unknown
 * @config: event code
 *
 * Return: a bit for each fixed counter, from FIXED_COUNTER_BASE on, even if the CPU lacks it
 */
u64 intel_fixed_counters(const struct intel_uarch *uarch, u64 config)
{
	unsigned int nr, i;
	const u16 *events = fixed_events_of(uarch, &nr);
	u64 fixed = 0;

	for (i = 0; i < nr; i++)
		if (events[i] && (config == events[i] ||
				  (config == PSEUDO_EVENT(i) && is_one_of(uarch, PSEUDO_UARCHES))))
			fixed |= BIT_ULL(FIXED_COUNTER_BASE + i);
	if (config == EVENT_REFERENCE_CYCLES && intel_counts_tsc(uarch))
		fixed |= BIT_ULL(FIXED_COUNTER_BASE + REF_TSC_COUNTER);

	return fixed;
}

/*
 * Sandy Bridge to Haswell: one of these events on a counter corrupts the count of the same counter
 * on the core's other hyperthread, whatever event that counter has (errata BJ122, BV98, HSD29). The
 * built-in driver keeps that counter empty (INTEL_EXCLEVT_CONSTRAINT in
 * arch/x86/events/intel/core.c). This driver rejects the events unless the core has no second
 * hyperthread until the next boot. If firmware has disabled hyperthreads, the CPU has eight
 * counters instead of four. With nosmt=force, and in a virtual machine with one thread per core,
 * the CPU has four, and cpu_smt_possible() is false.
 */
#define HT_FIRST_EVENT		0xd0
#define HT_LAST_EVENT		0xd3
#define NR_GP_WITHOUT_HT	8

static bool corrupts_sibling(const struct x86_desc *desc, unsigned int event)
{
	if (!desc->uarch || desc->nr_gp >= NR_GP_WITHOUT_HT || !x86_may_have_threads() ||
	    event < HT_FIRST_EVENT || event > HT_LAST_EVENT)
		return false;

	switch (desc->uarch - intel_uarches) {
	case UARCH_SANDY_BRIDGE:
	case UARCH_IVY_BRIDGE:
	case UARCH_HASWELL:
		return true;
	default:
		return false;
	}
}

/**
 * intel_refuse_uarch() - reject events that this microarchitecture miscounts
 * @desc: the PMU description
 * @config: event code
 *
 * Process context.
 *
 * Return: 0, or -EOPNOTSUPP after corepmu_refuse()
 */
int intel_refuse_uarch(const struct x86_desc *desc, u64 config)
{
	unsigned int event = FIELD_GET(EVNTSEL_EVENT, config);

	if (corrupts_sibling(desc, event))
		return corepmu_refuse(-EOPNOTSUPP,
				      "config %#llx: event %#x corrupts the counts of the core's other hyperthread: write \"forceoff\" to /sys/devices/system/cpu/smt/control",
				      config, event);

	return 0;
}

/**
 * intel_since_alder_lake() - check for Golden Cove, Gracemont, and later microarchitectures
 * @uarch: the microarchitecture, NULL if unknown
 *
 * Return: true for these
 */
bool intel_since_alder_lake(const struct intel_uarch *uarch)
{
	return is_one_of(uarch, NEW_UARCHES);
}

/**
 * intel_counts_tsc() - check whether event 0x013c (reference cycles) counts at the TSC's rate
 * @uarch: the microarchitecture, NULL if unknown
 *
 * From Golden Cove and Gracemont on the event is CPU_CLK_UNHALTED.REF_TSC_P, which fixed counter 2
 * counts too. On earlier microarchitectures the event counts the core crystal clock.
 *
 * Return: true if it counts at the TSC's rate
 */
bool intel_counts_tsc(const struct intel_uarch *uarch)
{
	return intel_since_alder_lake(uarch);
}

/**
 * intel_has_tsx_events() - check whether events can be counted in transactions only
 * @uarch: the microarchitecture, NULL if unknown
 *
 * From Haswell on, if the CPU has RTM; atoms have no transactions. hsw_hw_config() in
 * arch/x86/events/intel/core.c
 *
 * Return: true if IA32_PERFEVTSELx has the bits IN_TX and IN_TX_CP
 */
bool intel_has_tsx_events(const struct intel_uarch *uarch)
{
	return uarch >= &intel_uarches[UARCH_HASWELL] &&
	       uarch <= &intel_uarches[UARCH_PANTHER_COVE] && boot_cpu_has(X86_FEATURE_RTM);
}

/*
 * Minimum distance of a counter from its overflow: nhm_limit_period(), hsw_limit_period() and
 * bdw_limit_period() in arch/x86/events/intel/core.c; x86_perf_event_set_period() for all other
 * CPUs. The errata HSW11 and BDM11 of INST_RETIRED.PREC_DIST are about PEBS.
 */
#define MIN_LEFT		2
#define MIN_LEFT_32		32
#define MIN_PERIOD_PREC_DIST	128

/**
 * intel_min_left() - return the minimum distance of a counter from its overflow
 * @uarch: the microarchitecture, NULL if unknown
 *
 * Return: number of counts
 */
unsigned int intel_min_left(const struct intel_uarch *uarch)
{
	if (uarch == &intel_uarches[UARCH_NEHALEM] || uarch == &intel_uarches[UARCH_HASWELL])
		return MIN_LEFT_32;

	return MIN_LEFT;
}

/**
 * intel_min_period() - return the shortest sampling period of an event
 * @desc: the PMU description
 * @config: event code
 *
 * Where the minimum distance from an overflow is two counts, period 1 is allowed, as in the
 * built-in driver, but has the effect of period 2.
 *
 * Return: number of counts
 */
unsigned int intel_min_period(const struct x86_desc *desc, u64 config)
{
	const struct intel_uarch *uarch = desc->uarch;
	unsigned int min_left = intel_min_left(uarch);

	if ((config & (EVNTSEL_EVENT | EVNTSEL_UMASK)) == EVENT_PREC_DIST &&
	    (uarch == &intel_uarches[UARCH_HASWELL] || uarch == &intel_uarches[UARCH_BROADWELL]))
		return MIN_PERIOD_PREC_DIST;

	return min_left > MIN_LEFT ? min_left : 1;
}
