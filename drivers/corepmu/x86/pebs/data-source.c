// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel PEBS: data sources of load latency and store latency
 *
 * A record's data source has a code for where the data came from, and single bits. Codes and bits
 * depend on the microarchitecture; a layout describes both. SDM volume 3, table "Data Source
 * Encoding for Load Latency Record", for the cores up to Golden Cove. Linux 7.3,
 * arch/x86/events/intel/ds.c, for the others: union intel_x86_pebs_dse, union omr_encoding,
 * pebs_data_source[] and the like, and the functions named *_latency_data().
 */
#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include <corepmu/compat.h>
#include <corepmu/pmu.h>

#include "pebs.h"
#include "../intel/intel.h"
#include "../x86.h"

#define MEM(level, number, snoop)	((level) | PERF_MEM_S(LVLNUM, number) | (snoop))
#define HIT(level)	(PERF_MEM_S(LVL, HIT) | PERF_MEM_S(LVL, level))
#define MISS(level)	(PERF_MEM_S(LVL, MISS) | PERF_MEM_S(LVL, level))
#define IS_HIT		PERF_MEM_S(LVL, HIT)
#define SNOOP(what)	PERF_MEM_S(SNOOP, what)
#define FORWARD		PERF_MEM_S(SNOOPX, FWD)
#define FROM_REMOTE	PERF_MEM_S(REMOTE, REMOTE)

/* Codes with one meaning on all microarchitectures before Lion Cove and Arctic Wolf */
#define COMMON_SOURCES								\
	[0x0] = MEM(PERF_MEM_S(LVL, MISS), L3, SNOOP(NA)),			\
	[0x1] = MEM(HIT(L1), L1, SNOOP(NONE)),					\
	[0x2] = MEM(HIT(LFB), LFB, SNOOP(NONE)),				\
	[0x3] = MEM(HIT(L2), L2, SNOOP(NONE)),					\
	[0x4] = MEM(HIT(L3), L3, SNOOP(NONE)),					\
	[0xe] = MEM(HIT(IO), NA, SNOOP(NONE)),					\
	[0xf] = MEM(HIT(UNC), NA, SNOOP(NONE))

static const u64 skylake_sources[] = {
	COMMON_SOURCES,
	[0x5] = MEM(HIT(L3), L3, SNOOP(MISS)),
	[0x6] = MEM(HIT(L3), L3, SNOOP(HIT)),
	[0x7] = MEM(HIT(L3), L3, SNOOP(HITM)),
	[0x8] = MEM(IS_HIT, L4, SNOOP(HIT)),
	[0x9] = MEM(IS_HIT, L4, SNOOP(HIT)) | FROM_REMOTE,
	[0xa] = MEM(HIT(LOC_RAM), RAM, SNOOP(HIT)),
	[0xb] = MEM(IS_HIT, RAM, SNOOP(NONE)) | FROM_REMOTE,
	[0xc] = MEM(IS_HIT, ANY_CACHE, FORWARD) | FROM_REMOTE,
	[0xd] = MEM(IS_HIT, ANY_CACHE, SNOOP(HITM)) | FROM_REMOTE,
};

static const u64 gracemont_sources[] = {
	COMMON_SOURCES,
	[0x5] = MEM(HIT(L3), L3, SNOOP(HIT)),
	[0x6] = MEM(HIT(L3), L3, SNOOP(HITM)),
	[0x7] = MEM(HIT(L3), L3, SNOOP(HITM)),
	[0x8] = MEM(HIT(L3), L3, FORWARD),
	[0x9] = MEM(HIT(REM_CCE1), L3, SNOOP(HITM)) | FROM_REMOTE,
	[0xa] = MEM(HIT(LOC_RAM), RAM, SNOOP(HIT)),
	[0xb] = MEM(HIT(REM_RAM1), L3, SNOOP(HIT)) | FROM_REMOTE,
	[0xc] = MEM(HIT(LOC_RAM), RAM, SNOOP(NONE) | SNOOP(MISS)),
	[0xd] = MEM(HIT(REM_RAM1), RAM, SNOOP(NONE) | SNOOP(MISS)) | FROM_REMOTE,
};

static const u64 crestmont_sources[] = {
	COMMON_SOURCES,
	[0x5] = MEM(HIT(L3), L3, SNOOP(MISS)),
	[0x6] = MEM(HIT(L3), L3, SNOOP(HIT)),
	[0x7] = MEM(HIT(L3), L3, FORWARD),
	[0x8] = MEM(HIT(L3), L3, SNOOP(HITM)),
	[0x9] = MEM(HIT(REM_CCE1), L3, SNOOP(HITM)) | FROM_REMOTE,
	[0xa] = MEM(HIT(LOC_RAM), RAM, SNOOP(NONE)),
	[0xb] = MEM(IS_HIT, RAM, SNOOP(NONE)) | FROM_REMOTE,
	[0xc] = MEM(IS_HIT, RAM, FORWARD) | FROM_REMOTE,
	[0xd] = MEM(IS_HIT, RAM, SNOOP(HITM)) | FROM_REMOTE,
};

/* From here on, codes that are not listed are reserved. */
static const u64 lion_cove_sources[] = {
	[0x00] = MEM(PERF_MEM_S(LVL, MISS), L3, SNOOP(NA)),
	[0x01] = MEM(HIT(L1), L1, SNOOP(NONE)),
	[0x02] = MEM(HIT(L1), L1, SNOOP(NONE)),
	[0x03] = MEM(HIT(LFB), LFB, SNOOP(NONE)),
	[0x05] = MEM(HIT(L2), L2, SNOOP(NONE)),
	[0x06] = MEM(IS_HIT, L2_MHB, SNOOP(NONE)),
	[0x08] = MEM(HIT(L3), L3, SNOOP(NONE)),
	[0x0c] = MEM(HIT(L3), L3, FORWARD),
	[0x0d] = MEM(HIT(L3), L3, SNOOP(HITM)),
	[0x0f] = MEM(MISS(L3), L3, SNOOP(HITM)),
	[0x10] = MEM(IS_HIT, MSC, SNOOP(NONE)),
	[0x11] = MEM(HIT(LOC_RAM), RAM, SNOOP(NONE)),
};

/* Codes while the bit for a miss of the L2 cache is 0 */
#define NO_CACHE	MEM(PERF_MEM_S(LVL, NA), NA, SNOOP(NA))

static const u64 panther_cove_sources[] = {
	[0x0] = NO_CACHE,
	[0x1] = MEM(IS_HIT, L0, SNOOP(NONE)),
	[0x2] = MEM(HIT(L1), L1, SNOOP(NONE)),
	[0x3] = MEM(HIT(LFB), LFB, SNOOP(NONE)),
	[0x4] = MEM(HIT(L2), L2, SNOOP(NONE)),
	[0x7] = MEM(HIT(L2), L2, SNOOP(HIT)),
	[0x8] = MEM(HIT(L2), L2, SNOOP(HITM)),
	[0x9] = MEM(HIT(L2), L2, SNOOP(NONE)),
	[0xa] = MEM(HIT(L2), L2, SNOOP(NONE)),
	[0xf] = MEM(HIT(UNC), NA, SNOOP(NONE)),
};

static const u64 arctic_wolf_sources[] = {
	[0x0] = NO_CACHE,
	[0x1] = MEM(HIT(L1), L1, SNOOP(NONE)),
	[0x2] = MEM(HIT(LFB), LFB, SNOOP(NONE)),
	[0x3] = MEM(HIT(L2), L2, SNOOP(NONE)),
	[0x4] = MEM(HIT(L2), L2, SNOOP(HIT)),
	[0x5] = MEM(HIT(L2), L2, SNOOP(HITM)),
	[0x6] = MEM(HIT(UNC), NA, SNOOP(NONE)),
};

/**
 * struct source_layout - data sources of some microarchitectures
 * @codes: PERF_MEM_* of each code; 0 for a reserved code
 * @nr_codes: number of @codes; the codes after these are reserved
 * @code: bits with the code
 * @l2_miss: bit: the load missed the L2 cache, and the code is an OMR code; or 0
 * @stlb_miss: bit: the access missed the second-level TLB
 * @locked: bit: the instruction has a lock prefix
 * @data_blk: bit: the load waited for the data of an earlier store; or 0
 * @addr_blk: bit: the load waited for an earlier store whose address may be the same; or 0
 */
struct source_layout {
	const u64	*codes;
	u8		nr_codes;
	u8		code;
	u16		l2_miss;
	u16		stlb_miss;
	u16		locked;
	u16		data_blk;
	u16		addr_blk;
};

static const struct source_layout skylake = {
	.codes = skylake_sources, .nr_codes = ARRAY_SIZE(skylake_sources),
	.code = GENMASK(3, 0),
	.stlb_miss = BIT(4), .locked = BIT(5),
};

static const struct source_layout golden_cove = {
	.codes = skylake_sources, .nr_codes = ARRAY_SIZE(skylake_sources),
	.code = GENMASK(3, 0),
	.stlb_miss = BIT(4), .locked = BIT(5), .data_blk = BIT(6), .addr_blk = BIT(7),
};

static const struct source_layout gracemont = {
	.codes = gracemont_sources, .nr_codes = ARRAY_SIZE(gracemont_sources),
	.code = GENMASK(3, 0),
	.locked = BIT(4), .stlb_miss = BIT(5), .data_blk = BIT(6),
};

/* Bit 4 is the code's highest bit: this driver ignores the bit, as the built-in driver does. */
static const struct source_layout crestmont = {
	.codes = crestmont_sources, .nr_codes = ARRAY_SIZE(crestmont_sources),
	.code = GENMASK(3, 0),
	.locked = BIT(5), .stlb_miss = BIT(6), .data_blk = BIT(7),
};

static const struct source_layout lion_cove = {
	.codes = lion_cove_sources, .nr_codes = ARRAY_SIZE(lion_cove_sources),
	.code = GENMASK(7, 0),
	.stlb_miss = BIT(10), .locked = BIT(11), .data_blk = BIT(12), .addr_blk = BIT(13),
};

#define OMR_BITS								\
	.code = GENMASK(3, 0), .l2_miss = BIT(8), .stlb_miss = BIT(11), .locked = BIT(12),	\
	.data_blk = BIT(13), .addr_blk = BIT(14)

static const struct source_layout panther_cove = {
	.codes = panther_cove_sources, .nr_codes = ARRAY_SIZE(panther_cove_sources), OMR_BITS,
};

static const struct source_layout arctic_wolf = {
	.codes = arctic_wolf_sources, .nr_codes = ARRAY_SIZE(arctic_wolf_sources), OMR_BITS,
};

static const struct source_layout *layout_of(const struct x86_desc *desc,
					     const struct perf_event *event)
{
	switch (desc->uarch - intel_uarches) {
	case UARCH_GOLDEN_COVE:
	case UARCH_REDWOOD_COVE:
		/* Only loads have the bits of blocked loads. */
		return event->hw.flags & EVENT_LATENCY ? &golden_cove : &skylake;
	case UARCH_LION_COVE:
		return &lion_cove;
	case UARCH_COYOTE_COVE:
	case UARCH_PANTHER_COVE:
		return &panther_cove;
	case UARCH_GRACEMONT:
		return &gracemont;
	case UARCH_CRESTMONT:
	case UARCH_SKYMONT:
		return &crestmont;
	case UARCH_ARCTIC_WOLF:
		return &arctic_wolf;
	default:
		return &skylake;
	}
}

/*
 * OMR ("off-module response") codes: the region that had the data, numbered as PERF_MEM_REGION_*,
 * and bits. Caches of the same cluster of cores (CA, caching agent) or of others are L3 caches for
 * perf. Regions 0 (invalid) and 1 (reserved) have no level; samples show them as the built-in
 * driver does.
 */
#define OMR_REGION		GENMASK_ULL(3, 0)
#define OMR_REMOTE		BIT_ULL(4)
#define OMR_HITM		BIT_ULL(5)
#define OMR_SNOOP		BIT_ULL(6)
#define OMR_PROMOTED		BIT_ULL(7)

static u64 omr_snoop(u64 source)
{
	bool snoop = source & OMR_SNOOP, promoted = source & OMR_PROMOTED;
	unsigned int region = FIELD_GET(OMR_REGION, source);

	switch (region) {
	case PERF_MEM_REGION_L_SHARE:
		if (source & OMR_HITM)
			return SNOOP(HITM);
		if (promoted)
			return snoop ? SNOOP(NONE) : SNOOP(HIT);
		return snoop ? SNOOP(MISS) : SNOOP(NA);
	case PERF_MEM_REGION_L_NON_SHARE ... PERF_MEM_REGION_O_NON_SHARE:
		return (source & OMR_HITM ? SNOOP(HITM) : SNOOP(HIT)) | (snoop ? FORWARD : 0);
	default:
		return SNOOP(NONE);
	}
}

static u64 omr_data(u64 source)
{
	u64 region = FIELD_GET(OMR_REGION, source), data = omr_snoop(source);
	bool remote = source & OMR_REMOTE;

	if (remote)
		data |= FROM_REMOTE;
	switch (region) {
	case PERF_MEM_REGION_NA:
		return data | NO_CACHE;
	case PERF_MEM_REGION_RSVD:
		return data;
	case PERF_MEM_REGION_L_SHARE ... PERF_MEM_REGION_O_NON_SHARE:
		data |= HIT(L3) | PERF_MEM_S(LVLNUM, L3);
		if (remote)
			data |= PERF_MEM_S(LVL, REM_CCE1);
		break;
	case PERF_MEM_REGION_MMIO:
		data |= IS_HIT | PERF_MEM_S(LVLNUM, RAM);
		break;
	default:
		data |= (remote ? HIT(REM_RAM1) : HIT(LOC_RAM)) | PERF_MEM_S(LVLNUM, RAM);
	}

	return data | region << PERF_MEM_REGION_SHIFT;
}

#define SOURCE_L4	0x8
#define SOURCE_L4_FAR	0x9

/* Servers have persistent memory (PMEM) in place of an L4 cache. */
static bool has_persistent_memory(void)
{
	switch (intel_p6_model()) {
	case 0x55: /* Skylake */
	case 0x6a: /* Ice Lake */
	case 0x6c:
	case 0x8f: /* Sapphire Rapids */
	case 0xcf: /* Emerald Rapids */
	case 0xad: /* Granite Rapids */
	case 0xae:
		return true;
	default:
		return false;
	}
}

static u64 code_data(const struct source_layout *layout, u64 source)
{
	unsigned int code = source & layout->code;
	u64 data = code < layout->nr_codes ? layout->codes[code] : 0;

	if (layout->codes == skylake_sources && (code == SOURCE_L4 || code == SOURCE_L4_FAR) &&
	    has_persistent_memory())
		data ^= PERF_MEM_S(LVLNUM, L4) ^ PERF_MEM_S(LVLNUM, PMEM);

	return data ?: MEM(0, NA, SNOOP(NA));
}

static u64 block_data(const struct source_layout *layout, u64 source)
{
	u64 data = 0;

	if (source & layout->data_blk)
		data |= PERF_MEM_S(BLK, DATA);
	if (source & layout->addr_blk)
		data |= PERF_MEM_S(BLK, ADDR);

	return data ?: PERF_MEM_S(BLK, NA);
}

/**
 * x86_pebs_latency_source() - convert a record's data source for perf
 * @desc: the PMU description
 * @event: an event with EVENT_LATENCY or EVENT_STORE_LATENCY
 * @source: encoded data source of the record
 *
 * Any context, NMI too.
 *
 * Return: perf_mem_data_src
 */
u64 x86_pebs_latency_source(const struct x86_desc *desc, const struct perf_event *event,
			    u64 source)
{
	const struct source_layout *layout = layout_of(desc, event);
	u64 data = source & layout->l2_miss ? omr_data(source) : code_data(layout, source);

	data |= event->hw.flags & EVENT_LATENCY ? PERF_MEM_S(OP, LOAD) : PERF_MEM_S(OP, STORE);
	data |= block_data(layout, source);
	data |= PERF_MEM_S(TLB, L2);
	data |= source & layout->stlb_miss ? PERF_MEM_S(TLB, MISS) :
					     PERF_MEM_S(TLB, HIT) | PERF_MEM_S(TLB, L1);
	if (source & layout->locked)
		data |= PERF_MEM_S(LOCK, LOCKED);

	return data;
}
