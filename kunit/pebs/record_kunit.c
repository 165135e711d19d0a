// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of the parser of PEBS records, and of constraints of precise events
 */
#include <kunit/test.h>

#include <linux/bitfield.h>
#include <linux/perf_event.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <corepmu/pmu.h>

#include "fixture/suite.h"
#include "models/x86/access.h"
#include "x86/intel/intel.h"
#include "x86/pebs/pebs.h"
#include "x86/pebs/precise.h"
#include "x86/x86.h"

/*
 * Precise distribution needs a period of 128 at least, on CPUs where it differs from precise_ip 2.
 */
static void precise_periods(struct kunit *test)
{
	struct x86_desc desc = { .uarch = &intel_uarches[UARCH_GOLDEN_COVE] };
	struct perf_event_attr attr = { .precise_ip = 3 };

	KUNIT_EXPECT_EQ(test, x86_pebs_min_period(&desc, &attr), 128);
	attr.precise_ip = 2;
	KUNIT_EXPECT_EQ(test, x86_pebs_min_period(&desc, &attr), 1);
	attr.precise_ip = 3;
	desc.uarch = &intel_uarches[UARCH_ICE_LAKE];
	KUNIT_EXPECT_EQ(test, x86_pebs_min_period(&desc, &attr), 1);
	desc.uarch = NULL;
	KUNIT_EXPECT_EQ(test, x86_pebs_min_period(&desc, &attr), 1);
}

#define GENERAL		GENMASK_ULL(9, 0)
#define FIXED		BIT_ULL(32)
#define CMASK_1		BIT_ULL(24)
#define EDGE		BIT_ULL(18)
/* boot_cpu_data.x86_model */
#define METEOR_LAKE	0xaa
#define GRANITE_RAPIDS	0xad
#define LUNAR_LAKE	0xbd
#define PANTHER_LAKE	0xcc

/*
 * Counters of precise events that without precise_ip may use any counter; 0: the event is rejected.
 */
static const struct {
	enum intel_uarch_id	uarch;
	unsigned int		precise;
	u64			config;
	u64			counters;
	u64			type;
	u8			model;
	unsigned int		format;
} placements[] = {
	/* Instructions at precise_ip 3: fixed counter 0; on atoms other counters, too */
	{ UARCH_ICE_LAKE, 3, 0x00c0, FIXED },
	{ UARCH_GOLDEN_COVE, 3, 0x00c0, FIXED },
	{ UARCH_REDWOOD_COVE, 3, 0x00c0, FIXED },
	{ UARCH_LION_COVE, 3, 0x00c0, FIXED },
	{ UARCH_TREMONT, 3, 0x00c0, FIXED | BIT_ULL(0) },
	{ UARCH_GRACEMONT, 3, 0x00c0, FIXED | BIT_ULL(0) },
	{ UARCH_CRESTMONT, 3, 0x00c0, FIXED | GENMASK_ULL(1, 0) },
	{ UARCH_SKYMONT, 3, 0x00c0, FIXED | GENMASK_ULL(1, 0) },
	{ UARCH_COYOTE_COVE, 3, 0x00c0, FIXED },
	{ UARCH_PANTHER_COVE, 3, 0x00c0, FIXED },
	{ UARCH_ARCTIC_WOLF, 3, 0x00c0, FIXED | GENMASK_ULL(1, 0) },
	/* With edge, cmask or a unit mask, no counter of the cores supports precise_ip 3. */
	{ UARCH_GOLDEN_COVE, 3, 0x00c0 | CMASK_1, 0 },
	{ UARCH_GOLDEN_COVE, 3, 0x10c0, 0 },
	{ UARCH_REDWOOD_COVE, 3, 0x00c0 | EDGE, 0 },
	{ UARCH_LION_COVE, 3, 0x00c0 | CMASK_1, 0 },
	{ UARCH_COYOTE_COVE, 3, 0x00c0 | CMASK_1, 0 },
	{ UARCH_PANTHER_COVE, 3, 0x10c0, 0 },
	{ UARCH_TREMONT, 3, 0x00c0 | CMASK_1, BIT_ULL(0) },
	{ UARCH_SKYMONT, 3, 0x00c0 | CMASK_1, GENMASK_ULL(1, 0) },
	/* Other events: counter 0 */
	{ UARCH_GOLDEN_COVE, 3, 0x00c4, BIT_ULL(0) },
	{ UARCH_LION_COVE, 3, 0x00c4, BIT_ULL(0) },
	{ UARCH_CRESTMONT, 3, 0x00c4, GENMASK_ULL(1, 0) },
	{ UARCH_COYOTE_COVE, 3, 0x00c4, BIT_ULL(0) },
	{ UARCH_PANTHER_COVE, 3, 0x00c4, BIT_ULL(0) },
	{ UARCH_ARCTIC_WOLF, 3, 0x00c4, GENMASK_ULL(1, 0) },
	/* precise_ip 2 */
	{ UARCH_GOLDEN_COVE, 2, 0x00c0, GENMASK_ULL(7, 1) },
	{ UARCH_GOLDEN_COVE, 2, 0x00c0 | CMASK_1, GENMASK_ULL(7, 1) },
	{ UARCH_LION_COVE, 2, 0x00c0, GENERAL | FIXED },
	{ UARCH_GRACEMONT, 2, 0x00c0, GENERAL | FIXED },
	/* Off-core responses of Lion Cove */
	{ UARCH_LION_COVE, 1, 0x012a, BIT_ULL(0) },
	{ UARCH_LION_COVE, 2, 0x012b, BIT_ULL(0) },
	{ UARCH_GOLDEN_COVE, 2, 0x012b, GENERAL },
	{ UARCH_COYOTE_COVE, 2, 0x012a, GENERAL },
	{ UARCH_PANTHER_COVE, 1, 0x012a, GENERAL },
	/* With a weight, hybrid cores have no records of instructions on fixed counter 0 */
	{ UARCH_LION_COVE, 2, 0x00c0, GENMASK_ULL(7, 1), PERF_SAMPLE_WEIGHT_STRUCT, LUNAR_LAKE },
	{ UARCH_LION_COVE, 2, 0x00c0, GENMASK_ULL(7, 1), PERF_SAMPLE_WEIGHT, LUNAR_LAKE },
	{ UARCH_LION_COVE, 3, 0x00c0, 0, PERF_SAMPLE_WEIGHT_STRUCT, LUNAR_LAKE },
	{ UARCH_LION_COVE, 2, 0x00c4, GENERAL, PERF_SAMPLE_WEIGHT_STRUCT, LUNAR_LAKE },
	{ UARCH_COYOTE_COVE, 2, 0x00c0, GENMASK_ULL(7, 1), PERF_SAMPLE_WEIGHT_STRUCT },
	{ UARCH_COYOTE_COVE, 3, 0x00c0, 0, PERF_SAMPLE_WEIGHT },
	{ UARCH_PANTHER_COVE, 3, 0x00c0, FIXED, PERF_SAMPLE_WEIGHT },
	{ UARCH_ARCTIC_WOLF, 2, 0x00c0, GENERAL | FIXED, PERF_SAMPLE_WEIGHT },
	{ UARCH_REDWOOD_COVE, 3, 0x00c0, 0, PERF_SAMPLE_WEIGHT, METEOR_LAKE },
	{ UARCH_REDWOOD_COVE, 3, 0x00c0, FIXED, PERF_SAMPLE_WEIGHT, GRANITE_RAPIDS },
	{ UARCH_GOLDEN_COVE, 3, 0x00c0, FIXED, PERF_SAMPLE_WEIGHT },
	{ UARCH_SKYMONT, 2, 0x00c0, GENERAL | FIXED, PERF_SAMPLE_WEIGHT, LUNAR_LAKE },
	/* Goldmont Plus at precise_ip 3 */
	{ UARCH_GOLDMONT_PLUS, 3, 0x00c4, BIT_ULL(0), .format = 3 },
	{ UARCH_GOLDMONT_PLUS, 2, 0x00c4, GENMASK_ULL(3, 0), .format = 3 },
	/* Events with edge or cmask: not precise on Skylake and Goldmont */
	{ UARCH_GOLDMONT_PLUS, 3, 0x00c4 | EDGE, BIT_ULL(0), .format = 3 },
	{ UARCH_GOLDMONT_PLUS, 2, 0x00c4 | CMASK_1, GENMASK_ULL(3, 0), .format = 3 },
	{ UARCH_GOLDMONT, 2, 0x00c4 | CMASK_1, 0, .format = 3 },
	{ UARCH_SKYLAKE, 2, 0x00c4 | CMASK_1, 0, .format = 3 },
	/* Architectural PEBS: CPUID reports counters 0 and 1 and fixed counter 0 with PDIR */
	{ UARCH_LION_COVE, 3, 0x00c0, FIXED, .format = PEBS_FORMAT_ARCH },
	{ UARCH_LION_COVE, 3, 0x00c4, BIT_ULL(0), .format = PEBS_FORMAT_ARCH },
	{ UARCH_LION_COVE, 2, 0x012a, BIT_ULL(0), .format = PEBS_FORMAT_ARCH },
	{ UARCH_LION_COVE, 2, 0x00c0, GENMASK_ULL(7, 1), PERF_SAMPLE_WEIGHT, PANTHER_LAKE,
	  PEBS_FORMAT_ARCH },
	{ UARCH_LION_COVE, 3, 0x00c0, 0, PERF_SAMPLE_WEIGHT, PANTHER_LAKE, PEBS_FORMAT_ARCH },
	{ UARCH_SKYMONT, 3, 0x00c4, GENMASK_ULL(1, 0), .format = PEBS_FORMAT_ARCH },
	{ NR_UARCHES, 3, 0x00c0, FIXED | GENMASK_ULL(1, 0), .format = PEBS_FORMAT_ARCH },
	{ NR_UARCHES, 2, 0x012a, GENERAL, .format = PEBS_FORMAT_ARCH },
};

/* INST_RETIRED.ANY without modifiers can also use its fixed counter. */
static u64 all_counters(u64 config)
{
	return config == EVENT_INSTRUCTIONS ? GENERAL | FIXED : GENERAL;
}

/* All these record formats have the groups of weights and addresses. */
static void describe_placement(struct x86_desc *desc, unsigned int i)
{
	bool known = placements[i].uarch < NR_UARCHES;

	desc->uarch = known ? &intel_uarches[placements[i].uarch] : NULL;
	desc->config_known = ~0ULL;
	desc->pebs_format = placements[i].format ?: PEBS_FORMAT_ADAPTIVE;
	desc->pebs_all = desc->pebs_format >= PEBS_FORMAT_ADAPTIVE;
	desc->pebs_groups = PEBS_ARCH_AUX | PEBS_ARCH_GPR;
	desc->pebs_counters = GENERAL | FIXED;
	desc->pebs_dist = GENMASK_ULL(1, 0) | FIXED;
}

static void precise_placements(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct x86_desc *desc = kunit_kzalloc(test, sizeof(*desc), GFP_KERNEL);
	u8 family = boot_cpu_data.x86, model = boot_cpu_data.x86_model;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_ASSERT_NOT_NULL(test, desc);
	for (unsigned int i = 0; i < ARRAY_SIZE(placements); i++) {
		describe_placement(desc, i);
		boot_cpu_data.x86 = FAMILY_P6;
		boot_cpu_data.x86_model = placements[i].model;
		event->attr.precise_ip = placements[i].precise;
		event->attr.sample_type = placements[i].type;
		event->hw.config_base = placements[i].config;
		corepmu_hw_set_counters(&event->hw, all_counters(placements[i].config));
		ret = x86_pebs_encode(desc, event);
		KUNIT_EXPECT_EQ_MSG(test, ret, placements[i].counters ? 0 : -EOPNOTSUPP,
				    "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, corepmu_hw_counters(&event->hw),
				    placements[i].counters, "row %u", i);
	}
	boot_cpu_data.x86 = family;
	boot_cpu_data.x86_model = model;
}

/*
 * Events with in_tx or in_tx_cp are not precise; on CPUs without transactions these are other bits.
 */
static void precise_transactions(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct x86_desc *desc = kunit_kzalloc(test, sizeof(*desc), GFP_KERNEL);
	static const u64 bits[] = { EVNTSEL_IN_TX, EVNTSEL_IN_TX_CP };

	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_ASSERT_NOT_NULL(test, desc);
	desc->uarch = &intel_uarches[UARCH_GOLDEN_COVE];
	desc->pebs_format = PEBS_FORMAT_ADAPTIVE;
	desc->pebs_all = true;
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(bits); i++) {
		bool known = i & 1;

		desc->config_known = known ? ~0ULL : (u32)~0;
		event->attr.precise_ip = 1;
		event->hw.config_base = 0x00c4 | bits[i / 2];
		corepmu_hw_set_counters(&event->hw, GENERAL);
		KUNIT_EXPECT_EQ_MSG(test, x86_pebs_encode(desc, event), known ? -EOPNOTSUPP : 0,
				    "row %u", i);
	}
}

/* Memory instructions whose records have a data source: intel_icl_pebs_event_constraints etc. */
static void precise_data_sources(struct kunit *test)
{
	static const struct {
		enum intel_uarch_id	uarch;
		u64			config;
		unsigned int		flags;
	} rows[] = {
		{ UARCH_SKYLAKE, 0x81d0, EVENT_LOAD }, { UARCH_SKYLAKE, 0x82d0, EVENT_STORE },
		{ UARCH_SKYLAKE, 0x83d0, 0 }, { UARCH_SKYLAKE, 0x01d1, EVENT_LOAD },
		{ UARCH_SKYLAKE, 0x01d3, EVENT_LOAD }, { UARCH_SKYLAKE, 0x04d4, 0 },
		{ UARCH_SKYLAKE, 0x00c4, 0 },
		{ UARCH_ICE_LAKE, 0x11d0, EVENT_LOAD }, { UARCH_ICE_LAKE, 0x04d4, EVENT_LOAD },
		{ UARCH_GOLDEN_COVE, 0x42d0, EVENT_STORE },
		{ UARCH_REDWOOD_COVE, 0x81d0, EVENT_LOAD },
		{ UARCH_REDWOOD_COVE, 0x82d0, EVENT_STORE },
		{ UARCH_GRACEMONT, 0x81d0, 0 },
	};
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct x86_desc *desc = kunit_kzalloc(test, sizeof(*desc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_ASSERT_NOT_NULL(test, desc);
	desc->pebs_format = PEBS_FORMAT_ADAPTIVE;
	desc->pebs_all = true;
	desc->config_known = ~0ULL;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		desc->uarch = &intel_uarches[rows[i].uarch];
		event->attr.precise_ip = 1;
		event->hw.flags = 0;
		event->hw.config_base = rows[i].config;
		corepmu_hw_set_counters(&event->hw, GENERAL);
		KUNIT_EXPECT_EQ_MSG(test, x86_pebs_encode(desc, event), 0, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, event->hw.flags & (EVENT_LOAD | EVENT_STORE),
				    rows[i].flags, "row %u", i);
	}
}

#define NOISE_WORDS	128
#define NOISE_ROUNDS	20000

/* Make headers of architectural fragments, most of them valid. */
static void make_pieces(u64 *words, struct rnd_state *rnd)
{
	unsigned int at = 0;
	bool first = true;

	while (at < NOISE_WORDS - 2) {
		u64 noise = prandom_u32_state(rnd), groups;
		unsigned int size;

		groups = (noise & 1 ? PEBS_ARCH_AUX : 0) | (noise & 2 ? PEBS_ARCH_GPR : 0) |
			 (noise & 4 ? PEBS_ARCH_XMM : 0) |
			 (noise & 0x3000 ? 0 : FIELD_PREP(PEBS_ARCH_LBR, 1));
		/* Size without room for more fragments; the basic group is missing, too */
		size = 2 + (noise & 1 ? 8 : 0) + (noise & 2 ? 20 : 0) + (noise & 4 ? 34 : 0) +
		       (noise & 0x3000 ? 0 : 6 + 8 * 3);
		if (first && (noise & 0x70)) {
			groups |= BIT_ULL(63);
			size += 6;
			first = false;
		} else if (first) {
			groups = 0;
			size = 2;
		}
		words[at] = groups | size * sizeof(u64) | (noise & 8 ? BIT_ULL(31) : 0);
		if (!(noise & 0xf00))
			words[at] += 8;
		at += size;
	}
}

static u16 noise_counts[COREPMU_MAX_COUNTERS];

/* Parse exactly @left bytes: with KASAN, reading more is an error. */
static bool parse_bytes(struct kunit *test, unsigned int format, const u64 *words, size_t left)
{
	void *bytes = kmemdup(words, left, GFP_KERNEL);
	struct x86_pebs_record record;
	const char *end;
	u64 counters;
	bool right;

	KUNIT_ASSERT_NOT_NULL(test, bytes);
	x86_pebs_count(format, bytes, bytes + left, GENMASK_ULL(COREPMU_MAX_COUNTERS - 1, 0),
		       noise_counts, &counters);
	right = x86_pebs_parse(format, bytes, left, &record);
	end = bytes + record.size;
	if (right) {
		KUNIT_EXPECT_GT(test, record.size, 0);
		KUNIT_EXPECT_LE(test, record.size, left);
		KUNIT_EXPECT_TRUE(test, !record.regs || (const char *)(record.regs + 18) <= end);
		KUNIT_EXPECT_TRUE(test, !record.xmm || (const char *)(record.xmm + 32) <= end);
		KUNIT_EXPECT_TRUE(test, !record.branches ||
				  (const char *)(record.branches + 3 * record.nr_branches) <= end);
	}
	kfree(bytes);

	return right;
}

/* For any bytes, a parsed record points only into itself, and ends within the bytes. */
static void record_noise(struct kunit *test)
{
	u64 *words = kunit_kcalloc(test, NOISE_WORDS, sizeof(*words), GFP_KERNEL);
	unsigned int round, i, format, taken = 0, arch = 0;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, words);
	prandom_seed_state(&rnd, 22);
	for (round = 0; round < NOISE_ROUNDS; round++) {
		size_t left = 1 + prandom_u32_state(&rnd) % (NOISE_WORDS * sizeof(u64));

		for (i = 0; i < DIV_ROUND_UP(left, sizeof(u64)); i++)
			words[i] = (u64)prandom_u32_state(&rnd) << 32 | prandom_u32_state(&rnd);
		format = round % 5 == 4 ? PEBS_FORMAT_ARCH : 3 + round % 4;
		/* Often the header is nearly valid. */
		if (round & 4)
			words[0] = (words[0] & 0xf) | (x86_pebs_size(4, words[0] & 0xf) +
						       (round & 8)) << 48;
		if (format == PEBS_FORMAT_ARCH && (round & 4))
			make_pieces(words, &rnd);
		if (!parse_bytes(test, format, words, left))
			continue;
		taken++;
		arch += format == PEBS_FORMAT_ARCH;
	}
	KUNIT_EXPECT_GT(test, taken, NOISE_ROUNDS / 10);
	KUNIT_EXPECT_GT(test, arch, NOISE_ROUNDS / 200);
}

#define ARCH_BASIC	BIT_ULL(63)
#define ARCH_CONTINUED	BIT_ULL(31)

/* Valid and invalid architectural records, by the headers of their fragments */
static void record_pieces(struct kunit *test)
{
	static const struct {
		u64	first;
		u64	second;
		size_t	left;
		size_t	size;
	} rows[] = {
		{ ARCH_BASIC | 64, 0, 64, 64 },
		{ ARCH_BASIC | 64, 0, 63, 0 },
		{ ARCH_BASIC | 80, 0, 160, 0 },
		{ ARCH_BASIC | BIT_ULL(40) | 64, 0, 160, 0 },
		{ ARCH_BASIC | 0, 0, 160, 0 },
		{ 64, ARCH_BASIC | 64, 160, 128 },
		{ 64, 64, 128, 0 },
		{ ARCH_BASIC | ARCH_CONTINUED | 64, PEBS_ARCH_AUX | 80, 160, 144 },
		{ ARCH_BASIC | ARCH_CONTINUED | 64, PEBS_ARCH_AUX | 80, 143, 0 },
		{ ARCH_BASIC | ARCH_CONTINUED | 64, ARCH_BASIC | 64, 160, 0 },
		{ ARCH_BASIC | ARCH_CONTINUED | 64, 0, 160, 0 },
		{ PEBS_ARCH_AUX | 80, 0, 160, 0 },
		/* The branch group may have no branches; its header has 6 words. */
		{ ARCH_BASIC | PEBS_ARCH_LBR | 112, 0, 112, 112 },
		{ ARCH_BASIC | PEBS_ARCH_LBR | 104, 0, 112, 0 },
	};
	struct x86_pebs_record record;
	u64 words[20] = { };

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		bool right;

		words[0] = rows[i].first;
		words[8] = rows[i].second;
		right = x86_pebs_parse(PEBS_FORMAT_ARCH, words, rows[i].left, &record);
		KUNIT_EXPECT_EQ_MSG(test, right, !!rows[i].size, "row %u", i);
		if (right)
			KUNIT_EXPECT_EQ_MSG(test, record.size, rows[i].size, "row %u", i);
	}
}

/* A record that lacks a part of its first word is not read. */
static void record_end(struct kunit *test)
{
	static const unsigned int formats[] = { 3, 4, 5, 6, PEBS_FORMAT_ARCH };
	void *memory = vmalloc(PAGE_SIZE), *end = memory + PAGE_SIZE;
	u64 counters;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	for (unsigned int i = 0; i < ARRAY_SIZE(formats); i++)
		KUNIT_EXPECT_PTR_EQ(test, end,
				    (void *)x86_pebs_count(formats[i], end, end + 4, BIT_ULL(0),
							   noise_counts, &counters));
	vfree(memory);
}

/* The computed size has room for the selected groups, in as many fragments as a record may have. */
static void record_sizes(struct kunit *test)
{
	u64 all = PEBS_DATA_MEMINFO | PEBS_DATA_GPRS | PEBS_DATA_XMMS;

	KUNIT_EXPECT_EQ(test, x86_pebs_size(PEBS_FORMAT_ARCH, 0), 3 * 16 + 48);
	KUNIT_EXPECT_EQ(test, x86_pebs_size(PEBS_FORMAT_ARCH, all),
			3 * 16 + 48 + 64 + 160 + 272);
}

static struct kunit_case record_cases[] = {
	KUNIT_CASE(record_noise),
	KUNIT_CASE(record_pieces),
	KUNIT_CASE(record_sizes),
	KUNIT_CASE(record_end),
	KUNIT_CASE(precise_periods),
	KUNIT_CASE(precise_placements),
	KUNIT_CASE(precise_transactions),
	KUNIT_CASE(precise_data_sources),
	{ }
};

TEST_SUITE(record, "corepmu_pebs_record", NULL, NULL);
