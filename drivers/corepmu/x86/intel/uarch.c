// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel's microarchitectures: which one it is, and its events' counters
 *
 * The table, constraints.c, is made by scripts/intel-counters.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include <corepmu/pmu.h>

#include "intel.h"
#include "../msr.h"
#include "../x86.h"

/*
 * SDM volume 3, "Architectural Performance Monitoring": an architectural event counts on
 * every general-purpose counter. Others that no table has are placed on counters 0 to 3: most
 * of Ice Lake's and Sapphire Rapids' events do not count on 4 to 7.
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
 * intel_p6_model() - the model of a CPU of family 6
 *
 * Other families number their models anew: what is said of a model of family 6 is to be asked of
 * this.
 *
 * Return: boot_cpu_data.x86_model, or -1 for a CPU of another family
 */
int intel_p6_model(void)
{
	return boot_cpu_data.x86 == FAMILY_P6 ? boot_cpu_data.x86_model : -1;
}

/**
 * intel_core_kind() - the kind of core
 * @native_model: from x86_native_model()
 *
 * Arrow Lake H has atoms of two microarchitectures, which the native model tells apart.
 *
 * Return: INTEL_ATOM, INTEL_CORE, INTEL_LOWPOWER, or what is not known
 */
unsigned int intel_core_kind(u32 native_model)
{
	unsigned int i, kind = x86_core_type(native_model);

	if (kind != INTEL_ATOM || FIELD_GET(EAX_NATIVE_MODEL, native_model) != NATIVE_CRESTMONT)
		return kind;

	for (i = 0; i < intel_nr_models; i++)
		if (is_this(&intel_models[i]) && intel_models[i].kind == INTEL_LOWPOWER)
			return INTEL_LOWPOWER;

	return kind;
}

/*
 * Alder Lake and Raptor Lake without atoms (i3-12100, Xeon E-2400) are no hybrid CPUs, and CPUID
 * need not tell a kind: a hypervisor leaves that leaf at zero, and it is on such a host that it
 * has a virtual PMU at all. Their cores are those of the large kind, as for
 * adl_get_hybrid_cpu_type() in arch/x86/events/intel/core.c.
 */
static unsigned int kind_without_atoms(void)
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
bool intel_hides_metrics(void)
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
 * intel_traces_beside_branches() - can the CPU record branches while Intel PT traces?
 * @uarch: its microarchitecture, NULL if it is not known
 *
 * Where intel_pmu_init() in arch/x86/events/intel/core.c sets lbr_pt_coexist.
 *
 * Return: whether it can
 */
bool intel_traces_beside_branches(const struct intel_uarch *uarch)
{
	enum intel_uarch_id id = uarch ? uarch - intel_uarches : UARCH_CORE;

	return (id >= UARCH_ICE_LAKE && id <= UARCH_PANTHER_COVE) || id >= UARCH_GOLDMONT;
}

/**
 * intel_find_uarch() - the microarchitecture of this CPU
 *
 * A model with two kinds of core, of which CPUID does not tell which it is, is not known, unless
 * it can be of one kind alone.
 *
 * Return: the microarchitecture, or NULL if it is not known
 */
const struct intel_uarch *intel_find_uarch(void)
{
	const struct intel_model *model;
	unsigned int i, kind = intel_core_kind(x86_native_model()) ?: kind_without_atoms();

	for (i = 0; i < intel_nr_models; i++) {
		model = &intel_models[i];
		if (is_this(model) && (!model->kind || model->kind == kind))
			return &intel_uarches[model->uarch];
	}

	return NULL;
}

/**
 * intel_model_has_kinds() - are there CPUs of this model with cores of several kinds?
 *
 * Return: true for a model that is known to have them, be it on this one or not
 */
bool intel_model_has_kinds(void)
{
	unsigned int i;

	for (i = 0; i < intel_nr_models; i++)
		if (is_this(&intel_models[i]))
			return intel_models[i].kind;

	return false;
}

/**
 * intel_nr_general() - how many general-purpose counters this CPU has
 * @uarch: its microarchitecture, NULL if it is not known
 * @told: how many CPUID leaf 0xA tells of
 *
 * Where CPUs are of several kinds the leaf tells of those that all kinds have: of six on
 * Golden Cove beside Gracemont (intel_pmu_init() in arch/x86/events/intel/core.c). The table
 * knows how many there are, if firmware or a hypervisor keeps none of the registers. On the CPU.
 *
 * Return: the number of counters, from 0 on
 */
unsigned int intel_nr_general(const struct intel_uarch *uarch, unsigned int told)
{
	unsigned int i, known = 0;
	u64 value;

	if (!uarch || !boot_cpu_has(X86_FEATURE_HYBRID_CPU))
		return told;

	for (i = 0; i < uarch->nr_codes; i++)
		known = max_t(unsigned int, known, fls(uarch->codes[i].counters));
	while (told < known && !x86_read_msr_safe(MSR_P6_EVNTSEL0 + told, &value))
		told++;

	return told;
}

/* From Golden Cove and Gracemont on */
#define NEW_UARCHES	(BIT(UARCH_GOLDEN_COVE) | BIT(UARCH_REDWOOD_COVE) |	\
			 BIT(UARCH_LION_COVE) | BIT(UARCH_COYOTE_COVE) |	\
			 BIT(UARCH_PANTHER_COVE) | BIT(UARCH_GRACEMONT) |	\
			 BIT(UARCH_CRESTMONT) | BIT(UARCH_SKYMONT) |		\
			 BIT(UARCH_ARCTIC_WOLF))

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
 * intel_is_architectural() - is an event one that all of Intel's CPUs have?
 * @config: the event; all but event and unit mask is of no account
 *
 * Return: true for an architectural event, be it missing here or not
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
 * intel_general_counters() - the general-purpose counters that can count an event
 * @uarch: the microarchitecture, NULL if it is not known
 * @config: the event
 *
 * Edge, inversion and threshold change what is counted of an event, not where.
 *
 * Return: a bit for each counter, whether the CPU has it or not; 0 for unit masks without a
 * name of an event whose others have no counter in common
 */
u64 intel_general_counters(const struct intel_uarch *uarch, u64 config)
{
	u16 code = config & (EVNTSEL_EVENT | EVNTSEL_UMASK);
	const struct intel_codes *found = NULL;

	/* The table has no second unit masks: these are as unit masks without a name. */
	if (uarch && !(config & EVNTSEL_UMASK2))
		found = find_code(uarch->codes, uarch->nr_codes, code);

	return found ? found->counters : intel_unlisted_counters(uarch, config);
}

/**
 * intel_unlisted_counters() - the same of an event that intel_uarch.codes does not have
 * @uarch: the microarchitecture, NULL if it is not known
 * @config: the event
 *
 * Return: likewise
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
 * Most events that are opened are in none of the tables of hundreds of rows. A bit for each hash
 * of event and unit mask says so without a search.
 */
static unsigned int list_hash(u64 config)
{
	return hash_32(config & (EVNTSEL_EVENT | EVNTSEL_UMASK), X86_LISTED_BITS);
}

/**
 * intel_list() - a table has a row for an event
 * @desc: the counters, being described
 * @config: the event; all but event and unit mask is of no account
 */
void intel_list(struct x86_desc *desc, u64 config)
{
	__set_bit(list_hash(config), desc->listed);
}

/**
 * intel_list_codes() - the table of the microarchitecture has these events
 * @desc: the counters, being described
 */
void intel_list_codes(struct x86_desc *desc)
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
 * intel_is_listed() - may one of the tables have a row for an event?
 * @desc: the counters
 * @config: the event
 *
 * Return: false where none has: intel_uarch.codes, second_events[] and incomplete_events[]
 */
bool intel_is_listed(const struct x86_desc *desc, u64 config)
{
	return test_bit(list_hash(config), desc->listed);
}

/* What each fixed counter counts */
static const u16 fixed_events[] = {
	EVENT_INSTRUCTIONS, EVENT_CORE_CYCLES, EVENT_REF_CYCLES, EVENT_SLOTS,
};

/*
 * Likewise of Skymont and Arctic Wolf, which have no slots: TOPDOWN_BAD_SPECULATION.ALL,
 * TOPDOWN_FE_BOUND.ALL, TOPDOWN_RETIRING.ALL ("Fixed counter 4" to 6 of perf's events of Lunar Lake
 * and Nova Lake). Other counters count them too.
 */
#define SKYMONT_FIXED	(BIT(UARCH_SKYMONT) | BIT(UARCH_ARCTIC_WOLF))
static const u16 skymont_fixed_events[] = {
	EVENT_INSTRUCTIONS, EVENT_CORE_CYCLES, EVENT_REF_CYCLES, 0, 0x0073, 0x019c, 0x02c2,
};

/*
 * A fixed counter by its number, as Intel's lists of events name them: INST_RETIRED.ANY and
 * PREC_DIST are event 0 with unit mask 1, TOPDOWN_RETIRING.ALL of Skymont has 7. Those of Nehalem,
 * Westmere and Bonnell do not, and there are none of older cores. The kernel knows them from 7.x
 * on, of Ice Lake and later (intel_icl_event_constraints[] in arch/x86/events/intel/core.c).
 */
#define PSEUDO_EVENT(n)		(((n) + 1) << 8)
#define PSEUDO_UARCHES		(GENMASK(NR_UARCHES - 1, 0) &				\
				 ~(BIT(UARCH_CORE) | BIT(UARCH_CORE2) |			\
				   BIT(UARCH_NEHALEM) | BIT(UARCH_WESTMERE) |		\
				   BIT(UARCH_BONNELL)))
#define REF_TSC_COUNTER		2

/* 0 stands for a counter that is not there. */
static const u16 *fixed_events_of(const struct intel_uarch *uarch, unsigned int *nr)
{
	if (is_one_of(uarch, SKYMONT_FIXED)) {
		*nr = ARRAY_SIZE(skymont_fixed_events);
		return skymont_fixed_events;
	}
	*nr = ARRAY_SIZE(fixed_events);

	return fixed_events;
}

/**
 * intel_known_fixed() - the fixed counters of which it is known what they count
 * @uarch: the microarchitecture, NULL if it is not known
 * @told: those that CPUID tells of, from bit 0 on
 *
 * Return: a bit for each, from FIXED_COUNTER_BASE on
 */
u64 intel_known_fixed(const struct intel_uarch *uarch, u64 told)
{
	unsigned int nr, i;
	const u16 *events = fixed_events_of(uarch, &nr);
	u64 known = 0;

	for (i = 0; i < nr; i++)
		if (events[i])
			known |= BIT_ULL(i);

	return (told & known) << FIXED_COUNTER_BASE;
}

/**
 * intel_fixed_counters() - the fixed counters that can count an event
 * @uarch: the microarchitecture, NULL if it is not known
 * @config: the event
 *
 * Return: a bit for each, from FIXED_COUNTER_BASE on, whether the CPU has it or not
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
 * Sandy Bridge to Haswell: counting one of these events on a counter corrupts what the
 * counter of the same number counts on the core's other hyperthread, whatever that is
 * (erratum BJ122, BV98, HSD29; INTEL_EXCLEVT_CONSTRAINT in arch/x86/events/intel/core.c). A
 * core that firmware has taken its hyperthreads from has eight counters instead of four for each;
 * a virtual CPU of one thread, or with nosmt=force, still has four and no sibling.
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
 * intel_refuse_uarch() - refuse what this microarchitecture cannot count right
 * @desc: the counters
 * @config: the event
 *
 * Process context.
 *
 * Return: 0, or -EOPNOTSUPP after saying why
 */
int intel_refuse_uarch(const struct x86_desc *desc, u64 config)
{
	unsigned int event = FIELD_GET(EVNTSEL_EVENT, config);

	if (corrupts_sibling(desc, event))
		return corepmu_refuse(-EOPNOTSUPP,
				      "config %#llx: event %#x corrupts the counts of the core's other hyperthread; \"forceoff\" in cpu/smt/control allows it",
				      config, event);

	return 0;
}

/**
 * intel_since_alder_lake() - is it Golden Cove, Gracemont, or later?
 * @uarch: the microarchitecture, NULL if it is not known
 *
 * Return: true if it is
 */
bool intel_since_alder_lake(const struct intel_uarch *uarch)
{
	return is_one_of(uarch, NEW_UARCHES);
}

/**
 * intel_counts_tsc() - does the architectural event of reference cycles count at the TSC's rate?
 * @uarch: the microarchitecture, NULL if it is not known
 *
 * CPU_CLK_UNHALTED.REF_TSC_P of perf's events from Golden Cove and Gracemont on, which is what
 * fixed counter 2 counts. Before, the event is of the core crystal's clock.
 *
 * Return: true if it does
 */
bool intel_counts_tsc(const struct intel_uarch *uarch)
{
	return intel_since_alder_lake(uarch);
}

/**
 * intel_has_tsx_events() - can events be counted in transactions alone?
 * @uarch: the microarchitecture, NULL if it is not known
 *
 * From Haswell on, where the CPU has transactions at all; the atoms have none. hsw_hw_config()
 * in arch/x86/events/intel/core.c
 *
 * Return: whether IN_TX and IN_TX_CP are bits of IA32_PERFEVTSELx
 */
bool intel_has_tsx_events(const struct intel_uarch *uarch)
{
	return uarch >= &intel_uarches[UARCH_HASWELL] &&
	       uarch <= &intel_uarches[UARCH_PANTHER_COVE] && boot_cpu_has(X86_FEATURE_RTM);
}

/*
 * How near to its end a counter may be set: nhm_limit_period(), hsw_limit_period() and
 * bdw_limit_period() in arch/x86/events/intel/core.c, and of all others
 * x86_perf_event_set_period(). 0x01c0 is INST_RETIRED.PREC_DIST, whose errata HSW11 and
 * BDM11 are about PEBS.
 */
#define MIN_LEFT		2
#define MIN_LEFT_32		32
#define MIN_PERIOD_PREC_DIST	128
#define EVENT_PREC_DIST		0x01c0

/**
 * intel_min_left() - after how many events a counter may be set to overflow
 * @uarch: the microarchitecture, NULL if it is not known
 *
 * Return: events, at least
 */
unsigned int intel_min_left(const struct intel_uarch *uarch)
{
	if (uarch == &intel_uarches[UARCH_NEHALEM] || uarch == &intel_uarches[UARCH_HASWELL])
		return MIN_LEFT_32;

	return MIN_LEFT;
}

/**
 * intel_min_period() - the shortest period that an event may be sampled with
 * @desc: the counters
 * @config: the event
 *
 * One of 1 is taken where counters overflow after two events at least, as by the built-in
 * driver: there are half as many samples then.
 *
 * Return: events
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
