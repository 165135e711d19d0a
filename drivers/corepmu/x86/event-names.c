// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: names of events in sysfs
 *
 * Names for generic events, for topdown, for memory events, and for transactions. Names and texts
 * are those of the built-in driver (EVENT_ATTR_STR() in arch/x86/events/intel/core.c), so that a
 * script works with both drivers.
 *
 * Before Ice Lake the topdown names are topdown-total-slots and so on, with "any" if a core has
 * several threads. Two events have the codes of perf's event lists, not of the built-in driver:
 * topdown-retiring on Crestmont of hybrid CPUs (0x72, not 0xc2), and topdown-bad-spec on Alder
 * Lake-N, which has Gracemont only (unit mask 0, not Tremont's 6). The names for transactions
 * (tx-start, cycles-t and others, for perf stat -T) exist if the CPU has RTM.
 */
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>

#include <corepmu/pmu.h>

#include "intel/uarch-bits.h"
#include "msr.h"
#include "pebs/precise.h"
#include "x86.h"

static ssize_t generic_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct perf_pmu_events_attr *pmu_attr;
	unsigned int event, umask, cmask;
	int len;
	u64 config;

	pmu_attr = container_of(attr, struct perf_pmu_events_attr, attr);
	config = dev_to_x86(dev)->hardware[pmu_attr->id];
	event = FIELD_GET(EVNTSEL_EVENT, config) |
		FIELD_GET(EVNTSEL_AMD_EVENT_HI, config) << 8;
	umask = FIELD_GET(EVNTSEL_UMASK, config);
	cmask = FIELD_GET(EVNTSEL_CMASK, config);

	len = sysfs_emit(page, "event=0x%02x", event);
	if (umask)
		len += sysfs_emit_at(page, len, ",umask=0x%02x", umask);
	if (config & EVNTSEL_INV)
		len += sysfs_emit_at(page, len, ",inv");
	if (cmask)
		len += sysfs_emit_at(page, len, ",cmask=0x%02x", cmask);

	return len + sysfs_emit_at(page, len, "\n");
}

/* PMU_EVENT_ATTR_ID() does not work here: it makes C identifiers, and the names have dashes. */
#define EVENT_ATTR(_name, _show, _id)					\
	(&((struct perf_pmu_events_attr) {				\
		.attr = {						\
			.attr = { .name = _name, .mode = 0444 },	\
			.show = _show,					\
		},							\
		.id = _id,						\
	}).attr.attr)

#define GENERIC(name, id)	EVENT_ATTR(name, generic_show, id)

/* Names whose text depends on the microarchitecture */
enum text_name {
	TEXT_SLOTS,
	TEXT_RETIRING,
	TEXT_BAD_SPEC,
	TEXT_FE_BOUND,
	TEXT_BE_BOUND,
	TEXT_HEAVY_OPS,
	TEXT_BR_MISPREDICT,
	TEXT_FETCH_LAT,
	TEXT_MEM_BOUND,
	TEXT_TOTAL,
	TEXT_TOTAL_SCALE,
	TEXT_ISSUED,
	TEXT_RETIRED,
	TEXT_BUBBLES,
	TEXT_BUBBLES_SCALE,
	TEXT_RECOVERY,
	TEXT_RECOVERY_SCALE,
	/* From here on, events that need precise_ip */
	TEXT_MEM_LOADS,
	TEXT_MEM_STORES,
	TEXT_MEM_LOADS_AUX,
	/* From here on, events of transactions */
	TEXT_TX_START,
	TEXT_TX_COMMIT,
	TEXT_TX_ABORT,
	TEXT_TX_CONFLICT,
	TEXT_TX_CAPACITY,
	TEXT_TX_CAPACITY_READ,
	TEXT_TX_CAPACITY_WRITE,
	TEXT_EL_START,
	TEXT_EL_COMMIT,
	TEXT_EL_ABORT,
	TEXT_EL_CONFLICT,
	TEXT_EL_CAPACITY,
	TEXT_EL_CAPACITY_READ,
	TEXT_EL_CAPACITY_WRITE,
	TEXT_CYCLES_T,
	TEXT_CYCLES_CT,
};

#define OLD_CORES	(SNB_IVB | HSW_BDW | SKL)
#define LEVEL_2_CORES	(GLC_RWC | LNC_ON)
#define NEW_CORES	(ICL | LEVEL_2_CORES)
/* Cores with transactions: those with the events of hsw_tsx_events_attrs[]; those with HLE; all */
#define HSW_TX_CORES	(HSW_BDW | SKL)
#define HLE_CORES	(HSW_TX_CORES | ICL)
#define TX_CORES	(HSW_TX_CORES | NEW_CORES)

/**
 * struct event_text - text of a name on some microarchitectures
 * @uarches: microarchitectures that have the name, a bit each
 * @name: enum text_name
 * @text: contents of the sysfs file
 * @smt: contents if cores have several hyperthreads, NULL if the same
 */
struct event_text {
	u32		uarches;
	unsigned int	name;
	const char	*text;
	const char	*smt;
};

static const struct event_text event_texts[] = {
	/* TOPDOWN.SLOTS and PERF_METRICS */
	{ NEW_CORES, TEXT_SLOTS, "event=0x00,umask=0x4" },
	{ NEW_CORES, TEXT_RETIRING, "event=0x00,umask=0x80" },
	{ NEW_CORES, TEXT_BAD_SPEC, "event=0x00,umask=0x81" },
	{ NEW_CORES, TEXT_FE_BOUND, "event=0x00,umask=0x82" },
	{ NEW_CORES, TEXT_BE_BOUND, "event=0x00,umask=0x83" },
	{ LEVEL_2_CORES, TEXT_HEAVY_OPS, "event=0x00,umask=0x84" },
	{ LEVEL_2_CORES, TEXT_BR_MISPREDICT, "event=0x00,umask=0x85" },
	{ LEVEL_2_CORES, TEXT_FETCH_LAT, "event=0x00,umask=0x86" },
	{ LEVEL_2_CORES, TEXT_MEM_BOUND, "event=0x00,umask=0x87" },
	/* TOPDOWN_RETIRING, _BAD_SPECULATION, _FE_BOUND, _BE_BOUND of the atoms */
	{ TNT | GRT, TEXT_RETIRING, "event=0xc2,umask=0x0" },
	{ CMT, TEXT_RETIRING, "event=0x72,umask=0x0" },
	{ SKT_ON, TEXT_RETIRING, "event=0xc2,umask=0x02" },
	{ TNT, TEXT_BAD_SPEC, "event=0x73,umask=0x6" },
	{ GRT | CMT | SKT_ON, TEXT_BAD_SPEC, "event=0x73,umask=0x0" },
	{ TNT | GRT | CMT, TEXT_FE_BOUND, "event=0x71,umask=0x0" },
	{ SKT_ON, TEXT_FE_BOUND, "event=0x9c,umask=0x01" },
	{ TNT | GRT | CMT, TEXT_BE_BOUND, "event=0x74,umask=0x0" },
	{ SKT_ON, TEXT_BE_BOUND, "event=0xa4,umask=0x02" },
	/*
	 * Earlier cores: events in cycles, four slots each; a hyperthread has half of its core's
	 * slots
	 */
	{ OLD_CORES, TEXT_TOTAL, "event=0x3c,umask=0x0", "event=0x3c,umask=0x0,any=1" },
	{ OLD_CORES, TEXT_TOTAL_SCALE, "4", "2" },
	{ OLD_CORES, TEXT_ISSUED, "event=0xe,umask=0x1" },
	{ OLD_CORES, TEXT_RETIRED, "event=0xc2,umask=0x2" },
	{ OLD_CORES, TEXT_BUBBLES, "event=0x9c,umask=0x1" },
	{ OLD_CORES & ~SKL, TEXT_RECOVERY, "event=0xd,umask=0x3,cmask=1",
	  "event=0xd,umask=0x3,cmask=1,any=1" },
	{ SKL, TEXT_RECOVERY, "event=0xd,umask=0x1,cmask=1",
	  "event=0xd,umask=0x1,cmask=1,any=1" },
	{ OLD_CORES, TEXT_RECOVERY_SCALE, "4", "2" },
	{ SLM | GLM_GLP, TEXT_TOTAL, "event=0x3c" },
	{ SLM, TEXT_TOTAL_SCALE, "2" },
	{ GLM, TEXT_TOTAL_SCALE, "3" },
	{ GLP, TEXT_TOTAL_SCALE, "4" },
	{ SLM, TEXT_ISSUED, "event=0xc2,umask=0x10" },
	{ GLM_GLP, TEXT_ISSUED, "event=0x0e" },
	{ SLM, TEXT_RETIRED, "event=0xc2,umask=0x10" },
	{ GLM_GLP, TEXT_RETIRED, "event=0xc2" },
	{ SLM, TEXT_BUBBLES, "event=0xca,umask=0x50" },
	{ GLM_GLP, TEXT_BUBBLES, "event=0x9c" },
	{ SLM, TEXT_BUBBLES_SCALE, "2" },
	{ GLM_GLP, TEXT_RECOVERY, "event=0xca,umask=0x02" },
	/*
	 * For perf mem and perf c2c: MEM_TRANS_RETIRED.LOAD_LATENCY, MEM_INST_RETIRED.ALL_STORES,
	 * MEM_TRANS_RETIRED.STORE_SAMPLE and LD_BLOCKS.STORE_FORWARD of the cores,
	 * MEM_UOPS_RETIRED.LOAD_LATENCY and .STORE_LATENCY of the atoms
	 */
	{ SKL | NEW_CORES, TEXT_MEM_LOADS, "event=0xcd,umask=0x1,ldlat=3" },
	{ GRT | CMT | SKT_ON, TEXT_MEM_LOADS, "event=0xd0,umask=0x5,ldlat=3" },
	{ SKL | ICL, TEXT_MEM_STORES, "event=0xd0,umask=0x82" },
	{ LEVEL_2_CORES, TEXT_MEM_STORES, "event=0xcd,umask=0x2" },
	{ GRT | CMT | SKT_ON, TEXT_MEM_STORES, "event=0xd0,umask=0x6" },
	{ GLC, TEXT_MEM_LOADS_AUX, "event=0x03,umask=0x82" },
	/*
	 * RTM_RETIRED (tx), HLE_RETIRED (el) and TX_MEM (both), for perf stat -T:
	 * {hsw,icl,glc}_tsx_events_attrs[], and adl_hybrid_tsx_attrs[] for cores of hybrid CPUs
	 */
	{ TX_CORES, TEXT_TX_START, "event=0xc9,umask=0x1" },
	{ TX_CORES, TEXT_TX_COMMIT, "event=0xc9,umask=0x2" },
	{ TX_CORES, TEXT_TX_ABORT, "event=0xc9,umask=0x4" },
	{ TX_CORES, TEXT_TX_CONFLICT, "event=0x54,umask=0x1" },
	{ HSW_TX_CORES, TEXT_TX_CAPACITY, "event=0x54,umask=0x2" },
	{ NEW_CORES, TEXT_TX_CAPACITY_READ, "event=0x54,umask=0x80" },
	{ NEW_CORES, TEXT_TX_CAPACITY_WRITE, "event=0x54,umask=0x2" },
	{ HLE_CORES, TEXT_EL_START, "event=0xc8,umask=0x1" },
	{ HLE_CORES, TEXT_EL_COMMIT, "event=0xc8,umask=0x2" },
	{ HLE_CORES, TEXT_EL_ABORT, "event=0xc8,umask=0x4" },
	{ HLE_CORES, TEXT_EL_CONFLICT, "event=0x54,umask=0x1" },
	{ HSW_TX_CORES, TEXT_EL_CAPACITY, "event=0x54,umask=0x2" },
	{ ICL, TEXT_EL_CAPACITY_READ, "event=0x54,umask=0x80" },
	{ ICL, TEXT_EL_CAPACITY_WRITE, "event=0x54,umask=0x2" },
	{ TX_CORES, TEXT_CYCLES_T, "event=0x3c,in_tx=1" },
	{ TX_CORES, TEXT_CYCLES_CT, "event=0x3c,in_tx=1,in_tx_cp=1" },
};

/*
 * The kernel's name for a microarchitecture, on models that are not hybrid and on hybrid models:
 * "name" in intel_pmu_init(), arch/x86/events/intel/core.c
 */
static const struct {
	const char *name;
	const char *hybrid;
} kernel_names[NR_UARCHES] = {
	[UARCH_CORE]		= { "core" },
	[UARCH_CORE2]		= { "core2" },
	[UARCH_NEHALEM]		= { "nehalem" },
	[UARCH_WESTMERE]	= { "westmere" },
	[UARCH_SANDY_BRIDGE]	= { "sandybridge" },
	[UARCH_IVY_BRIDGE]	= { "ivybridge" },
	[UARCH_HASWELL]		= { "haswell" },
	[UARCH_BROADWELL]	= { "broadwell" },
	[UARCH_SKYLAKE]		= { "skylake" },
	[UARCH_ICE_LAKE]	= { "icelake" },
	[UARCH_GOLDEN_COVE]	= { "sapphire_rapids", "alderlake_hybrid" },
	[UARCH_REDWOOD_COVE]	= { "granite_rapids", "meteorlake_hybrid" },
	[UARCH_LION_COVE]	= { NULL, "lunarlake_hybrid" },
	[UARCH_COYOTE_COVE]	= { NULL, "novalake_hybrid" },
	[UARCH_PANTHER_COVE]	= { "panthercove" },
	[UARCH_BONNELL]		= { "bonnell" },
	[UARCH_SILVERMONT]	= { "silvermont" },
	[UARCH_KNIGHTS_LANDING]	= { "knights-landing" },
	[UARCH_GOLDMONT]	= { "goldmont" },
	[UARCH_GOLDMONT_PLUS]	= { "goldmont_plus" },
	[UARCH_TREMONT]		= { "Tremont" },
	[UARCH_GRACEMONT]	= { "gracemont", "alderlake_hybrid" },
	[UARCH_CRESTMONT]	= { "crestmont", "meteorlake_hybrid" },
	[UARCH_SKYMONT]		= { "darkmont", "lunarlake_hybrid" },
	[UARCH_ARCTIC_WOLF]	= { NULL, "novalake_hybrid" },
};

/*
 * Models of family 6 with a name of their own from 7.x on; before, they had an earlier model's
 * name.
 */
static const struct {
	u8 model;
	const char *name;
} kernel_model_names[] = {
	{ 0xc5, "arrowlake_h_hybrid" },
	{ 0xc6, "arrowlake_hybrid" },
	{ 0xcc, "pantherlake_hybrid" },
	{ 0xd5, "pantherlake_hybrid" },
};

/**
 * x86_kernel_name() - return the built-in driver's name for the CPU, as in caps/pmu_name
 * @desc: the PMU description
 *
 * Return: the name, or NULL for an unknown CPU, and on AMD, which has no names
 */
const char *x86_kernel_name(const struct x86_desc *desc)
{
	unsigned int i, uarch;

	if (!desc->uarch)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(kernel_model_names); i++)
		if (kernel_model_names[i].model == intel_p6_model())
			return kernel_model_names[i].name;
	uarch = desc->uarch - intel_uarches;

	return intel_model_is_hybrid() ? kernel_names[uarch].hybrid : kernel_names[uarch].name;
}

static ssize_t pmu_name_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", x86_kernel_name(dev_to_x86(dev)));
}

struct device_attribute x86_attr_pmu_name = __ATTR_RO(pmu_name);

static const struct event_text *find_text(const struct x86_desc *desc, unsigned int name)
{
	unsigned int i;

	if (!desc->uarch)
		return NULL;

	for (i = 0; i < ARRAY_SIZE(event_texts); i++)
		if (event_texts[i].name == name &&
		    event_texts[i].uarches & BIT(desc->uarch - intel_uarches))
			return &event_texts[i];

	return NULL;
}

static ssize_t text_show(struct device *dev, struct device_attribute *attr, char *page)
{
	struct perf_pmu_events_attr *pmu_attr;
	const struct event_text *found;
	const char *text;

	pmu_attr = container_of(attr, struct perf_pmu_events_attr, attr);
	found = find_text(dev_to_x86(dev), pmu_attr->id);
	if (!found)
		return -ENODEV;
	text = found->smt && x86_has_threads() ? found->smt : found->text;

	return sysfs_emit(page, "%s\n", text);
}

#define TEXT(name, id)		EVENT_ATTR(name, text_show, id)

static struct attribute *x86_event_attrs[] = {
	GENERIC("cpu-cycles", PERF_COUNT_HW_CPU_CYCLES),
	GENERIC("instructions", PERF_COUNT_HW_INSTRUCTIONS),
	GENERIC("cache-references", PERF_COUNT_HW_CACHE_REFERENCES),
	GENERIC("cache-misses", PERF_COUNT_HW_CACHE_MISSES),
	GENERIC("branch-instructions", PERF_COUNT_HW_BRANCH_INSTRUCTIONS),
	GENERIC("branch-misses", PERF_COUNT_HW_BRANCH_MISSES),
	GENERIC("bus-cycles", PERF_COUNT_HW_BUS_CYCLES),
	GENERIC("stalled-cycles-frontend", PERF_COUNT_HW_STALLED_CYCLES_FRONTEND),
	GENERIC("stalled-cycles-backend", PERF_COUNT_HW_STALLED_CYCLES_BACKEND),
	GENERIC("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES),
	TEXT("slots", TEXT_SLOTS),
	TEXT("topdown-retiring", TEXT_RETIRING),
	TEXT("topdown-bad-spec", TEXT_BAD_SPEC),
	TEXT("topdown-fe-bound", TEXT_FE_BOUND),
	TEXT("topdown-be-bound", TEXT_BE_BOUND),
	TEXT("topdown-heavy-ops", TEXT_HEAVY_OPS),
	TEXT("topdown-br-mispredict", TEXT_BR_MISPREDICT),
	TEXT("topdown-fetch-lat", TEXT_FETCH_LAT),
	TEXT("topdown-mem-bound", TEXT_MEM_BOUND),
	TEXT("topdown-total-slots", TEXT_TOTAL),
	TEXT("topdown-total-slots.scale", TEXT_TOTAL_SCALE),
	TEXT("topdown-slots-issued", TEXT_ISSUED),
	TEXT("topdown-slots-retired", TEXT_RETIRED),
	TEXT("topdown-fetch-bubbles", TEXT_BUBBLES),
	TEXT("topdown-fetch-bubbles.scale", TEXT_BUBBLES_SCALE),
	TEXT("topdown-recovery-bubbles", TEXT_RECOVERY),
	TEXT("topdown-recovery-bubbles.scale", TEXT_RECOVERY_SCALE),
	TEXT("mem-loads", TEXT_MEM_LOADS),
	TEXT("mem-stores", TEXT_MEM_STORES),
	TEXT("mem-loads-aux", TEXT_MEM_LOADS_AUX),
	TEXT("tx-start", TEXT_TX_START),
	TEXT("tx-commit", TEXT_TX_COMMIT),
	TEXT("tx-abort", TEXT_TX_ABORT),
	TEXT("tx-conflict", TEXT_TX_CONFLICT),
	TEXT("tx-capacity", TEXT_TX_CAPACITY),
	TEXT("tx-capacity-read", TEXT_TX_CAPACITY_READ),
	TEXT("tx-capacity-write", TEXT_TX_CAPACITY_WRITE),
	TEXT("el-start", TEXT_EL_START),
	TEXT("el-commit", TEXT_EL_COMMIT),
	TEXT("el-abort", TEXT_EL_ABORT),
	TEXT("el-conflict", TEXT_EL_CONFLICT),
	TEXT("el-capacity", TEXT_EL_CAPACITY),
	TEXT("el-capacity-read", TEXT_EL_CAPACITY_READ),
	TEXT("el-capacity-write", TEXT_EL_CAPACITY_WRITE),
	TEXT("cycles-t", TEXT_CYCLES_T),
	TEXT("cycles-ct", TEXT_CYCLES_CT),
	NULL
};

/* Check whether sysfs shows a name that has a text for this microarchitecture. */
static bool text_is_visible(const struct x86_desc *desc, unsigned int name)
{
	if (name >= TEXT_TX_START)
		return intel_has_tsx_events(desc->uarch);
	if (name >= TEXT_MEM_LOADS)
		return x86_pebs_has_latency(desc);

	/* The perf tool uses slots only together with topdown metrics. */
	return !(NEW_CORES & BIT(desc->uarch - intel_uarches)) || desc->metrics;
}

static umode_t x86_event_is_visible(struct kobject *kobj, struct attribute *attr, int unused)
{
	const struct x86_desc *desc = dev_to_x86(kobj_to_dev(kobj));
	struct perf_pmu_events_attr *pmu_attr;
	u64 config;

	pmu_attr = container_of(attr, struct perf_pmu_events_attr, attr.attr);
	if (pmu_attr->attr.show == text_show)
		return find_text(desc, pmu_attr->id) && text_is_visible(desc, pmu_attr->id) ?
		       attr->mode : 0;
	config = desc->hardware[pmu_attr->id];

	return config && desc->allowed_counters(desc, config) ? attr->mode : 0;
}

const struct attribute_group x86_events_group = {
	.name		= "events",
	.attrs		= x86_event_attrs,
	.is_visible	= x86_event_is_visible,
};
