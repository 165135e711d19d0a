// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of the data sources in PEBS records, Intel CPUs
 *
 * The suite states each layout as a figure of its bits and a text for each code, as a manual does.
 * It compares all 65,536 words of each layout with what the driver makes of them.
 */
#include <kunit/test.h>

#include <linux/bits.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include <corepmu/pmu.h>

#include "fixture/suite.h"
#include "models/x86/access.h"
#include "x86/intel/intel.h"
#include "x86/pebs/pebs.h"
#include "x86/x86.h"

/* Numbers of include/uapi/linux/perf_event.h in Linux 7.3, which older kernels lack */
#define NUMBER_L0	7
#define NUMBER_L2_MHB	5
#define NUMBER_MSC	6
#define REGION_SHIFT	46

/* Words of the texts. "L3" is both a level and a number; "#L3" is the number alone. */
static const struct {
	const char		*word;
	union perf_mem_data_src	data;
} vocabulary[] = {
	{ "hit",	{ .mem_lvl = PERF_MEM_LVL_HIT } },
	{ "miss",	{ .mem_lvl = PERF_MEM_LVL_MISS } },
	{ "no-level",	{ .mem_lvl = PERF_MEM_LVL_NA } },
	{ "L0",		{ .mem_lvl_num = NUMBER_L0 } },
	{ "L1",		{ .mem_lvl = PERF_MEM_LVL_L1, .mem_lvl_num = PERF_MEM_LVLNUM_L1 } },
	{ "LFB",	{ .mem_lvl = PERF_MEM_LVL_LFB, .mem_lvl_num = PERF_MEM_LVLNUM_LFB } },
	{ "L2",		{ .mem_lvl = PERF_MEM_LVL_L2, .mem_lvl_num = PERF_MEM_LVLNUM_L2 } },
	{ "L2-MHB",	{ .mem_lvl_num = NUMBER_L2_MHB } },
	{ "L3",		{ .mem_lvl = PERF_MEM_LVL_L3, .mem_lvl_num = PERF_MEM_LVLNUM_L3 } },
	{ "#L3",	{ .mem_lvl_num = PERF_MEM_LVLNUM_L3 } },
	{ "#L4",	{ .mem_lvl_num = PERF_MEM_LVLNUM_L4 } },
	{ "#PMEM",	{ .mem_lvl_num = PERF_MEM_LVLNUM_PMEM } },
	{ "#cache",	{ .mem_lvl_num = PERF_MEM_LVLNUM_ANY_CACHE } },
	{ "#MSC",	{ .mem_lvl_num = NUMBER_MSC } },
	{ "#RAM",	{ .mem_lvl_num = PERF_MEM_LVLNUM_RAM } },
	{ "#none",	{ .mem_lvl_num = PERF_MEM_LVLNUM_NA } },
	{ "local-RAM",	{ .mem_lvl = PERF_MEM_LVL_LOC_RAM, .mem_lvl_num = PERF_MEM_LVLNUM_RAM } },
	{ "far-cache",	{ .mem_lvl = PERF_MEM_LVL_REM_CCE1 } },
	{ "far-RAM",	{ .mem_lvl = PERF_MEM_LVL_REM_RAM1 } },
	{ "IO",		{ .mem_lvl = PERF_MEM_LVL_IO } },
	{ "uncached",	{ .mem_lvl = PERF_MEM_LVL_UNC } },
	{ "remote",	{ .mem_remote = PERF_MEM_REMOTE_REMOTE } },
	{ "snoop-NA",	{ .mem_snoop = PERF_MEM_SNOOP_NA } },
	{ "snoop-none",	{ .mem_snoop = PERF_MEM_SNOOP_NONE } },
	{ "snoop-miss",	{ .mem_snoop = PERF_MEM_SNOOP_MISS } },
	{ "snoop-hit",	{ .mem_snoop = PERF_MEM_SNOOP_HIT } },
	{ "HitM",	{ .mem_snoop = PERF_MEM_SNOOP_HITM } },
	{ "forward",	{ .mem_snoopx = PERF_MEM_SNOOPX_FWD } },
};

static u64 data_of_word(struct kunit *test, const char *word, size_t len)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(vocabulary); i++)
		if (strlen(vocabulary[i].word) == len && !strncmp(vocabulary[i].word, word, len))
			return vocabulary[i].data.val;
	KUNIT_FAIL(test, "no such word: %.*s", (int)len, word);

	return 0;
}

static u64 data_of_text(struct kunit *test, const char *text)
{
	u64 data = 0;

	while (*text) {
		size_t len = strcspn(text, " ");

		data |= data_of_word(test, text, len);
		text += len;
		text += strspn(text, " ");
	}

	return data;
}

#define RESERVED	"#none snoop-NA"
#define NO_CACHE	"no-level #none snoop-NA"
#define UNKNOWN_L3	"miss #L3 snoop-NA"

static const char * const skylake[] = {
	UNKNOWN_L3, "hit L1 snoop-none", "hit LFB snoop-none", "hit L2 snoop-none",
	"hit L3 snoop-none", "hit L3 snoop-miss", "hit L3 snoop-hit", "hit L3 HitM",
	"hit #L4 snoop-hit", "hit #L4 snoop-hit remote", "hit local-RAM snoop-hit",
	"hit #RAM snoop-none remote", "hit #cache forward remote", "hit #cache HitM remote",
	"hit IO #none snoop-none", "hit uncached #none snoop-none", NULL
};

static const char * const gracemont[] = {
	UNKNOWN_L3, "hit L1 snoop-none", "hit LFB snoop-none", "hit L2 snoop-none",
	"hit L3 snoop-none", "hit L3 snoop-hit", "hit L3 HitM", "hit L3 HitM",
	"hit L3 forward", "hit far-cache #L3 HitM remote", "hit local-RAM snoop-hit",
	"hit far-RAM #L3 snoop-hit remote", "hit local-RAM snoop-none snoop-miss",
	"hit far-RAM #RAM snoop-none snoop-miss remote", "hit IO #none snoop-none",
	"hit uncached #none snoop-none", NULL
};

static const char * const crestmont[] = {
	UNKNOWN_L3, "hit L1 snoop-none", "hit LFB snoop-none", "hit L2 snoop-none",
	"hit L3 snoop-none", "hit L3 snoop-miss", "hit L3 snoop-hit", "hit L3 forward",
	"hit L3 HitM", "hit far-cache #L3 HitM remote", "hit local-RAM snoop-none",
	"hit #RAM snoop-none remote", "hit #RAM forward remote", "hit #RAM HitM remote",
	"hit IO #none snoop-none", "hit uncached #none snoop-none", NULL
};

static const char * const lion_cove[] = {
	UNKNOWN_L3, "hit L1 snoop-none", "hit L1 snoop-none", "hit LFB snoop-none",
	RESERVED, "hit L2 snoop-none", "hit L2-MHB snoop-none", RESERVED, "hit L3 snoop-none",
	RESERVED, RESERVED, RESERVED, "hit L3 forward", "hit L3 HitM", RESERVED, "miss L3 HitM",
	"hit #MSC snoop-none", "hit local-RAM snoop-none", NULL
};

static const char * const panther_cove[] = {
	NO_CACHE, "hit L0 snoop-none", "hit L1 snoop-none", "hit LFB snoop-none",
	"hit L2 snoop-none", RESERVED, RESERVED, "hit L2 snoop-hit", "hit L2 HitM",
	"hit L2 snoop-none", "hit L2 snoop-none", RESERVED, RESERVED, RESERVED, RESERVED,
	"hit uncached #none snoop-none", NULL
};

static const char * const arctic_wolf[] = {
	NO_CACHE, "hit L1 snoop-none", "hit LFB snoop-none", "hit L2 snoop-none",
	"hit L2 snoop-hit", "hit L2 HitM", "hit uncached #none snoop-none", NULL
};

/*
 * Bits 15 to 0. c: code, as far as the kernel uses it; M: missed the L2 cache; T: missed the STLB;
 * L: lock prefix; d, a: waited for the data or the address of a store
 */
static const struct layout {
	const char		*name;
	const char		*figure;
	const char * const	*texts;
	int			flags;
	enum intel_uarch_id	uarches[3];
} layouts[] = {
	{ "Skylake", "..........LTcccc", skylake, EVENT_LATENCY,
	  { UARCH_SKYLAKE, UARCH_ICE_LAKE } },
	{ "Golden Cove, loads", "........adLTcccc", skylake, EVENT_LATENCY,
	  { UARCH_GOLDEN_COVE, UARCH_REDWOOD_COVE } },
	{ "Golden Cove, stores", "..........LTcccc", skylake, EVENT_STORE_LATENCY,
	  { UARCH_GOLDEN_COVE, UARCH_REDWOOD_COVE } },
	{ "Lion Cove", "..adLT..cccccccc", lion_cove, EVENT_LATENCY | EVENT_STORE_LATENCY,
	  { UARCH_LION_COVE } },
	{ "Panther Cove", ".adLT..M....cccc", panther_cove, EVENT_LATENCY | EVENT_STORE_LATENCY,
	  { UARCH_COYOTE_COVE, UARCH_PANTHER_COVE } },
	{ "Gracemont", ".........dTLcccc", gracemont, EVENT_LATENCY | EVENT_STORE_LATENCY,
	  { UARCH_GRACEMONT } },
	{ "Crestmont", "........dTL.cccc", crestmont, EVENT_LATENCY | EVENT_STORE_LATENCY,
	  { UARCH_CRESTMONT, UARCH_SKYMONT } },
	{ "Arctic Wolf", ".adLT..M....cccc", arctic_wolf, EVENT_LATENCY | EVENT_STORE_LATENCY,
	  { UARCH_ARCTIC_WOLF } },
};

/* Return the field of @word that has @letter in @figure. */
static unsigned int parse_field(const char *figure, char letter, unsigned int word)
{
	unsigned int bit, value = 0;

	for (bit = 16; bit-- > 0; figure++)
		if (*figure == letter)
			value = value << 1 | (word >> bit & 1);

	return value;
}

/* After a miss of the L2 cache, bits 7 to 0 are: promoted, snoop, HitM, remote, region. */
static const char * const regions[16] = {
	NO_CACHE " snoop-none", "snoop-none", "hit L3", "hit L3", "hit L3", "hit L3", "hit L3",
	"hit #RAM snoop-none", "hit #RAM snoop-none", "hit #RAM snoop-none",
	"hit #RAM snoop-none", "hit #RAM snoop-none", "hit #RAM snoop-none",
	"hit #RAM snoop-none", "hit #RAM snoop-none", "hit #RAM snoop-none",
};

static u64 shared_cache_snoop(struct kunit *test, unsigned int word)
{
	static const char * const snoops[] = {
		"snoop-NA", "snoop-miss", "snoop-hit", "snoop-none",
	};

	return data_of_text(test, word & BIT(5) ? "HitM" : snoops[word >> 6 & 3]);
}

static u64 omr_expected(struct kunit *test, unsigned int word)
{
	unsigned int region = word & 0xf;
	u64 data = data_of_text(test, regions[region]);

	if (word & BIT(4))
		data |= data_of_text(test, "remote");
	if (region == 2) {
		data |= shared_cache_snoop(test, word);
	} else if (region >= 3 && region <= 6) {
		data |= data_of_text(test, word & BIT(5) ? "HitM" : "snoop-hit");
		data |= word & BIT(6) ? data_of_text(test, "forward") : 0;
	}
	if (region >= 2 && region <= 6 && (word & BIT(4)))
		data |= data_of_text(test, "far-cache");
	if (region >= 8)
		data |= data_of_text(test, word & BIT(4) ? "far-RAM" : "local-RAM");

	return region >= 2 ? data | (u64)region << REGION_SHIFT : data;
}

static u64 expected_code(struct kunit *test, const struct layout *layout, unsigned int word)
{
	unsigned int code = parse_field(layout->figure, 'c', word), i;

	if (parse_field(layout->figure, 'M', word))
		return omr_expected(test, word);
	for (i = 0; layout->texts[i]; i++)
		if (i == code)
			return data_of_text(test, layout->texts[i]);

	return data_of_text(test, RESERVED);
}

/* Return the first bit that has @letter in @figure; 0 if none has. */
static unsigned int mask_of(const char *figure, char letter)
{
	const char *at = strchr(figure, letter);

	return at ? BIT(15 - (at - figure)) : 0;
}

/* The bits of a layout that are no code */
struct flag_masks {
	unsigned int	tlb_miss;
	unsigned int	locked;
	unsigned int	data;
	unsigned int	address;
};

static struct flag_masks masks_of(const struct layout *layout)
{
	return (struct flag_masks) {
		.tlb_miss	= mask_of(layout->figure, 'T'),
		.locked		= mask_of(layout->figure, 'L'),
		.data		= mask_of(layout->figure, 'd'),
		.address	= mask_of(layout->figure, 'a'),
	};
}

static u64 expected_bits(const struct flag_masks *masks, unsigned int word, int flag)
{
	union perf_mem_data_src data = { .val = 0 };

	data.mem_op = flag == EVENT_LATENCY ? PERF_MEM_OP_LOAD : PERF_MEM_OP_STORE;
	data.mem_dtlb = word & masks->tlb_miss ?
			PERF_MEM_TLB_MISS | PERF_MEM_TLB_L2 :
			PERF_MEM_TLB_HIT | PERF_MEM_TLB_L1 | PERF_MEM_TLB_L2;
	if (word & masks->locked)
		data.mem_lock = PERF_MEM_LOCK_LOCKED;
	data.mem_blk = (word & masks->data ? PERF_MEM_BLK_DATA : 0) |
		       (word & masks->address ? PERF_MEM_BLK_ADDR : 0);
	if (!data.mem_blk)
		data.mem_blk = PERF_MEM_BLK_NA;

	return data.val;
}

/* Compare all words of one layout; @flag is EVENT_LATENCY or EVENT_STORE_LATENCY. */
static void compare_words(struct kunit *test, const struct layout *layout,
			  const struct x86_desc *desc, struct perf_event *event)
{
	const struct flag_masks masks = masks_of(layout);
	static u64 codes[512];
	unsigned int word, wrong = 0, first = 0;

	for (word = 0; word < ARRAY_SIZE(codes); word++)
		codes[word] = expected_code(test, layout, word);
	for (word = 0; word <= U16_MAX; word++) {
		u64 wanted = codes[word % ARRAY_SIZE(codes)] |
			     expected_bits(&masks, word, event->hw.flags);

		if (x86_pebs_source(desc, event, word) != wanted && !wrong++)
			first = word;
	}
	KUNIT_EXPECT_EQ_MSG(test, wrong, 0, "%s, %s: first %#x is %#llx, not %#llx", layout->name,
			    event->hw.flags == EVENT_LATENCY ? "loads" : "stores", first,
			    x86_pebs_source(desc, event, first),
			    codes[first % ARRAY_SIZE(codes)] |
			    expected_bits(&masks, first, event->hw.flags));
}

/* Clients, and servers from Skylake to Granite Rapids, which may have persistent memory */
static const struct x86_model_cpu client = {
	.name = "client", .family = 6, .model = 0x97, .version = 5,
};

static const struct x86_model_cpu server = {
	.name = "server", .family = 6, .model = 0x8f, .version = 5,
};

static void precise_all_sources(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct x86_desc *desc = kunit_kzalloc(test, sizeof(*desc), GFP_KERNEL);
	unsigned int j;

	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_ASSERT_NOT_NULL(test, desc);
	x86_model_power_on(&client);
	for (unsigned int i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct layout *layout = &layouts[i];

		for (j = 0; j < ARRAY_SIZE(layout->uarches) && layout->uarches[j]; j++) {
			desc->uarch = &intel_uarches[layout->uarches[j]];
			event->hw.flags = layout->flags & EVENT_LATENCY;
			if (event->hw.flags)
				compare_words(test, layout, desc, event);
			event->hw.flags = layout->flags & EVENT_STORE_LATENCY;
			if (event->hw.flags)
				compare_words(test, layout, desc, event);
		}
	}
}

/* Servers have persistent memory in place of an L4 cache; Gracemont has no L4 cache. */
static void precise_persistent_memory(struct kunit *test)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct x86_desc *desc = kunit_kzalloc(test, sizeof(*desc), GFP_KERNEL);
	const struct flag_masks masks = masks_of(&layouts[0]);
	u64 bits = expected_bits(&masks, 0, EVENT_LATENCY);

	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_ASSERT_NOT_NULL(test, desc);
	event->hw.flags = EVENT_LATENCY;
	x86_model_power_on(&server);
	desc->uarch = &intel_uarches[UARCH_GOLDEN_COVE];
	KUNIT_EXPECT_EQ(test, x86_pebs_source(desc, event, 0x8),
			data_of_text(test, "hit #PMEM snoop-hit") | bits);
	KUNIT_EXPECT_EQ(test, x86_pebs_source(desc, event, 0x9),
			data_of_text(test, "hit #PMEM snoop-hit remote") | bits);
	desc->uarch = &intel_uarches[UARCH_GRACEMONT];
	KUNIT_EXPECT_EQ(test, x86_pebs_source(desc, event, 0x8),
			data_of_text(test, "hit L3 forward") | bits);
}

static struct kunit_case data_source_cases[] = {
	KUNIT_CASE(precise_all_sources),
	KUNIT_CASE(precise_persistent_memory),
	{ }
};

TEST_SUITE(data_source, "corepmu_pebs_data_source", NULL, NULL);
