// SPDX-License-Identifier: GPL-2.0-only
/*
 * second.c - events of Intel's that have a second register
 *
 * Numbers and values are those of perf's pmu-events/arch/x86 ("MSRValue"), but for those that are
 * to be refused. The virtual PMU counts another number for each value.
 */
#include <errno.h>

#include "uarch.h"

#define DATA_RD		0x10001	/* OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE */
#define RFO		0x10002	/* .DEMAND_RFO.ANY_RESPONSE */
#define OTHER		0x18000	/* .OTHER.ANY_RESPONSE */
#define TWO_RESPONSES	0x30001	/* two bits of the response, for the count of one twice */
#define RESERVED	(1ull << 50)
#define DSB_MISS	0x11	/* FRONTEND_RETIRED.DSB_MISS */
#define STLB_MISS	0x15	/* .STLB_MISS */
#define LATENCY		0x400106 /* .LATENCY_GE_1 */
#define UNKNOWN_BRANCH	0x7	/* INT_MISC.UNKNOWN_BRANCH_CYCLES */
#define MS		0x8	/* UOPS_RETIRED.MS */

/* The two numbers of the same event, and that of the front end's */
#define OFFCORE(rsp_0, rsp_1)							\
	{ "a request and its response", 0, true, { { rsp_0, DATA_RD } } },	\
	{ "another request", 0, true, { { rsp_0, RFO } } },			\
	{ "another response", 0, true, { { rsp_0, TWO_RESPONSES } } },		\
	{ "a request of the other register", 0, true, { { rsp_1, OTHER } } },	\
	{ "a value that is nothing", 0, false, { { rsp_0, 0 } } },		\
	{ "reserved bits", -EINVAL, true, { { rsp_0, RESERVED | DATA_RD } } },	\
	{ "the same twice", 0, true,						\
	  { { rsp_0, DATA_RD }, { 0xc4, 0 }, { rsp_0, DATA_RD } } },		\
	{ "two requests under one number", 0, true,				\
	  { { rsp_0, DATA_RD }, { rsp_0, RFO } } },				\
	{ "two requests under the other number", 0, true,			\
	  { { rsp_1, DATA_RD }, { rsp_1, RFO } } },				\
	{ "two requests, one of them twice, under both numbers", 0, true,	\
	  { { rsp_1, RFO }, { rsp_0, DATA_RD }, { rsp_0, RFO } } },		\
	{ "three requests", -EINVAL, true,					\
	  { { rsp_0, DATA_RD }, { rsp_0, RFO }, { rsp_1, OTHER } } }

#define FRONTEND(code)								\
	{ "trouble of the front end", 0, true, { { code, STLB_MISS } } },	\
	{ "how long it took", 0, true, { { code, LATENCY } } },			\
	{ "reserved bits of the front end's", -EINVAL, true,			\
	  { { code, RESERVED } } },						\
	{ "the same trouble twice, and requests", 0, true,			\
	  { { code, DSB_MISS }, { code, DSB_MISS }, { 0xc4, 0 } } },		\
	{ "two troubles", -EINVAL, true, { { code, DSB_MISS }, { code, STLB_MISS } } }

static const struct uarch_second haswell_second[] = {
	OFFCORE(0x1b7, 0x1bb),
};

static const struct uarch_second skylake_second[] = {
	OFFCORE(0x1b7, 0x1bb),
	FRONTEND(0x1c6),
	{ "trouble and two requests", 0, true,
	  { { 0x1c6, DSB_MISS }, { 0x1b7, DATA_RD }, { 0x1b7, RFO } } },
};

static const struct uarch_second golden_cove_second[] = {
	OFFCORE(0x12a, 0x12b),
	FRONTEND(0x1c6),
	{ "unknown branches", 0, true, { { 0x40ad, UNKNOWN_BRANCH } } },
	{ "bits of another event's", -EINVAL, true, { { 0x40ad, MS } } },
	{ "micro-operations of the sequencer", 0, true, { { 0x4c2, MS } } },
	{ "two events, and values, of one register", -EINVAL, true,
	  { { 0x40ad, UNKNOWN_BRANCH }, { 0x4c2, MS } } },
};

static const struct uarch_second gracemont_second[] = {
	OFFCORE(0x1b7, 0x2b7),
};

#define LIST(name)	{ name, ARRAY_SIZE(name) }

const struct uarch_second_list uarch_second_lists[] = {
	[UARCH_SECOND_NONE]		= { },
	[UARCH_SECOND_HASWELL]		= LIST(haswell_second),
	[UARCH_SECOND_SKYLAKE]		= LIST(skylake_second),
	[UARCH_SECOND_GOLDEN_COVE]	= LIST(golden_cove_second),
	[UARCH_SECOND_GRACEMONT]	= LIST(gracemont_second),
};
