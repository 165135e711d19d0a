// SPDX-License-Identifier: GPL-2.0-only
/*
 * extra-regs.c - Intel events that have an extra register
 *
 * Numbers and values are those of perf's pmu-events/arch/x86 ("MSRValue"), except for events that
 * must be rejected. The virtual PMU has another count for each value.
 */
#include <errno.h>

#include "uarch.h"

#define DATA_RD		0x10001	/* OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE */
#define RFO		0x10002	/* .DEMAND_RFO.ANY_RESPONSE */
#define OTHER		0x18000	/* .OTHER.ANY_RESPONSE */
#define TWO_RESPONSES	0x30001	/* two response bits, which double the count of one */
#define RESERVED	(1ull << 52)
#define DSB_MISS	0x11	/* FRONTEND_RETIRED.DSB_MISS */
#define STLB_MISS	0x15	/* .STLB_MISS */
#define LATENCY		0x400106 /* .LATENCY_GE_1 */
#define UNKNOWN_BRANCH	0x7	/* INT_MISC.UNKNOWN_BRANCH_CYCLES */
#define MS		0x8	/* UOPS_RETIRED.MS */

/* Replaced by a microarchitecture's own event numbers */
enum extra_reg_number {
	RSP_0 = 1,
	RSP_1,
	FRONTEND,
	NR_NUMBERS,
};

static const struct uarch_extra_reg offcore[] = {
	{ "a request and its response", 0, true, { { RSP_0, DATA_RD } } },
	{ "another request", 0, true, { { RSP_0, RFO } } },
	{ "another response", 0, true, { { RSP_0, TWO_RESPONSES } }, UARCH_REMAINDER },
	{ "a request of the other register", 0, true, { { RSP_1, OTHER } } },
	{ "a value that is nothing", 0, false, { { RSP_0, 0 } } },
	{ "reserved bits", -EINVAL, true, { { RSP_0, RESERVED | DATA_RD } } },
	{ "the same twice", 0, true,
	  { { RSP_0, DATA_RD }, { 0xc4, 0 }, { RSP_0, DATA_RD } } },
	{ "two requests under one number", 0, true,
	  { { RSP_0, DATA_RD }, { RSP_0, RFO } } },
	{ "two requests under the other number", 0, true,
	  { { RSP_1, DATA_RD }, { RSP_1, RFO } } },
	{ "two requests, one of them twice, under both numbers", 0, true,
	  { { RSP_1, RFO }, { RSP_0, DATA_RD }, { RSP_0, RFO } } },
	{ "three requests", -EINVAL, true,
	  { { RSP_0, DATA_RD }, { RSP_0, RFO }, { RSP_1, OTHER } } },
};

static const struct uarch_extra_reg front_end[] = {
	{ "a front-end event", 0, true, { { FRONTEND, STLB_MISS } } },
	{ "how long it took", 0, true, { { FRONTEND, LATENCY } } },
	{ "reserved bits of the front end's", -EINVAL, true, { { FRONTEND, RESERVED } } },
	{ "the same front-end event twice, and requests", 0, true,
	  { { FRONTEND, DSB_MISS }, { FRONTEND, DSB_MISS }, { 0xc4, 0 } } },
	{ "two front-end events", -EINVAL, true,
	  { { FRONTEND, DSB_MISS }, { FRONTEND, STLB_MISS } } },
};

static const struct uarch_extra_reg skylake[] = {
	{ "a front-end event and two requests", 0, true,
	  { { FRONTEND, DSB_MISS }, { RSP_0, DATA_RD }, { RSP_0, RFO } } },
};

static const struct uarch_extra_reg golden_cove[] = {
	{ "unknown branches", 0, true, { { 0x40ad, UNKNOWN_BRANCH } } },
	{ "bits of another event's", -EINVAL, true, { { 0x40ad, MS } } },
	{ "micro-operations of the sequencer", 0, true, { { 0x4c2, MS } } },
	{ "two events, and values, of one register", -EINVAL, true,
	  { { 0x40ad, UNKNOWN_BRANCH }, { 0x4c2, MS } } },
};

static const struct uarch_extra_reg lion_cove[] = {
	{ "unknown branches", 0, true, { { 0x40ad, UNKNOWN_BRANCH } } },
	{ "another branch", 0, true, { { 0x40ad, MS } } },
	{ "bits of another event's", -EINVAL, true, { { 0x4c2, UNKNOWN_BRANCH } } },
	{ "micro-operations of the sequencer", 0, true, { { 0x4c2, MS } } },
	{ "a front-end event with unit mask 2", 0, true, { { 0x2c6, 0x9 } } },
	/* Counters 0 to 3 by Linux 6.12's lists, all by 7.3's */
	{ "two requests after five events for any counter", 0, true,
	  { { 0x2c2, 0 }, { 0xc4, 0 }, { 0x19c, 0 }, { 0x2a4, 0 }, { 0x1a4, 0 },
	    { RSP_0, DATA_RD }, { RSP_0, RFO } } },
	{ "two events, and values, of one register", -EINVAL, true,
	  { { 0x40ad, UNKNOWN_BRANCH }, { 0x4c2, MS } } },
};

#define SNOOP_LOW		0x3	/* any bits: perf's event lists have no values */
#define SNOOP_BOTH		0x8000000000000001

static const struct uarch_extra_reg crestmont[] = {
	{ "a snoop response", 0, true, { { 0x127, SNOOP_LOW } } },
	{ "another snoop response", 0, true, { { 0x127, SNOOP_BOTH } } },
	{ "no snoop response", 0, false, { { 0x127, 0 } } },
	{ "one response in each register of snoops", 0, true,
	  { { 0x127, SNOOP_LOW }, { 0x227, SNOOP_BOTH } } },
	{ "the same snoop response twice, and requests", 0, true,
	  { { 0x127, SNOOP_BOTH }, { RSP_0, DATA_RD }, { 0x127, SNOOP_BOTH } } },
	{ "two snoop responses under one number", -EINVAL, true,
	  { { 0x127, SNOOP_LOW }, { 0x127, SNOOP_BOTH } } },
};

/* Event numbers of a microarchitecture, and its lists of groups */
static const struct extra_reg_lists {
	u64 numbers[NR_NUMBERS];
	struct {
		const struct uarch_extra_reg *rows;
		unsigned int nr;
	} lists[3];
} uarches[] = {
	[UARCH_EXTRA_REGS_NONE] = { },
	[UARCH_EXTRA_REGS_HASWELL] = {
		{ [RSP_0] = 0x1b7, [RSP_1] = 0x1bb },
		{ { offcore, ARRAY_SIZE(offcore) } },
	},
	[UARCH_EXTRA_REGS_SKYLAKE] = {
		{ [RSP_0] = 0x1b7, [RSP_1] = 0x1bb, [FRONTEND] = 0x1c6 },
		{ { offcore, ARRAY_SIZE(offcore) }, { front_end, ARRAY_SIZE(front_end) },
		  { skylake, ARRAY_SIZE(skylake) } },
	},
	[UARCH_EXTRA_REGS_GOLDEN_COVE] = {
		{ [RSP_0] = 0x12a, [RSP_1] = 0x12b, [FRONTEND] = 0x1c6 },
		{ { offcore, ARRAY_SIZE(offcore) }, { front_end, ARRAY_SIZE(front_end) },
		  { golden_cove, ARRAY_SIZE(golden_cove) } },
	},
	[UARCH_EXTRA_REGS_REDWOOD_COVE] = {
		{ [RSP_0] = 0x12a, [RSP_1] = 0x12b, [FRONTEND] = 0x3c6 },
		{ { offcore, ARRAY_SIZE(offcore) }, { front_end, ARRAY_SIZE(front_end) },
		  { golden_cove, ARRAY_SIZE(golden_cove) } },
	},
	[UARCH_EXTRA_REGS_LION_COVE] = {
		{ [RSP_0] = 0x12a, [RSP_1] = 0x12b, [FRONTEND] = 0x3c6 },
		{ { offcore, ARRAY_SIZE(offcore) }, { front_end, ARRAY_SIZE(front_end) },
		  { lion_cove, ARRAY_SIZE(lion_cove) } },
	},
	[UARCH_EXTRA_REGS_GRACEMONT] = {
		{ [RSP_0] = 0x1b7, [RSP_1] = 0x2b7 },
		{ { offcore, ARRAY_SIZE(offcore) } },
	},
	[UARCH_EXTRA_REGS_CRESTMONT] = {
		{ [RSP_0] = 0x1b7, [RSP_1] = 0x2b7 },
		{ { offcore, ARRAY_SIZE(offcore) }, { crestmont, ARRAY_SIZE(crestmont) } },
	},
};

/**
 * uarch_extra_reg_get() - return one of the groups of events with an extra register
 * @uarch: the microarchitecture
 * @index: the group's index, from 0 on
 * @extra_reg: the result
 *
 * Return: true if there is such a group.
 */
bool uarch_extra_reg_get(const struct uarch *uarch, unsigned int index,
			 struct uarch_extra_reg *extra_reg)
{
	const struct extra_reg_lists *its = &uarches[uarch->extra_regs];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(its->lists) && index >= its->lists[i].nr; i++)
		index -= its->lists[i].nr;
	if (i == ARRAY_SIZE(its->lists))
		return false;

	*extra_reg = its->lists[i].rows[index];
	for (i = 0; extra_reg->events[i].config; i++)
		if (extra_reg->events[i].config < NR_NUMBERS)
			extra_reg->events[i].config = its->numbers[extra_reg->events[i].config];
	return true;
}
