// SPDX-License-Identifier: GPL-2.0-only
/*
 * machine.c - events of real microarchitectures, by number
 *
 * Neighbouring rows share counters or an extra register: a group takes several of them. The
 * numbers are from perf's pmu-events ("EventCode", "UMask", "MSRValue"), and from the Arm ARM's
 * common events. All CPUs of a vendor get the same rows: an event that a CPU lacks is a case too.
 */
#include <string.h>

#include "fuzz.h"
#include "ktap.h"
#include "machine.h"

/**
 * struct row - an event
 * @config: its number, with all other bits
 * @config1: value of its extra register
 * @alike: its user count depends only on the executed instructions
 */
struct row {
	u64 config;
	u64 config1;
	bool alike;
};

/*
 * The value of row.alike. Events that count slow clocks lack it: each of their samples takes a part
 * of a tick.
 */
#define SAME	true
#define EVENT_NUMBER	0xff
#define CMASK(n)	((u64)(n) << 24)
#define INV	(1ULL << 23)
#define EDGE	(1ULL << 18)
#define IN_TX	(1ULL << 32)

static const struct row intel[] = {
	/* Instructions and cycles under all their names */
	{ 0x00c0, 0, SAME }, { 0x01c0, 0, SAME }, { 0x0100, 0, SAME }, { 0x003c, 0, SAME },
	{ 0x0300 }, { 0x013c }, { 0x00c0 | INV | CMASK(16), 0, SAME },
	{ 0x01c0 | INV | CMASK(16), 0, SAME }, { 0x02c2 | INV | CMASK(16), 0, SAME },
	{ 0x02c2, 0, SAME }, { 0x010e, 0, SAME }, { 0x01b1, 0, SAME },
	/* Slots and topdown metrics */
	{ 0x0400 }, { 0x8000 }, { 0x8100 }, { 0x8200 }, { 0x8300 }, { 0x8400 }, { 0x8700 },
	{ 0x01a4, 0, SAME }, { 0x04a4, 0, SAME }, { 0x08a4, 0, SAME },
	/* Branches */
	{ 0x00c4, 0, SAME }, { 0x01c4, 0, SAME }, { 0x02c4, 0, SAME }, { 0x08c4, 0, SAME },
	{ 0x10c4, 0, SAME }, { 0x20c4, 0, SAME }, { 0x40c4 }, { 0x00c5 }, { 0x01c5 },
	/* Counters 0 to 3, 1 or 2 */
	{ 0x0148 }, { 0x08a3 | CMASK(8) }, { 0x04a3 | CMASK(4), 0, SAME },
	{ 0x10a3 | CMASK(16), 0, SAME }, { 0x0151 }, { 0x0879, 0, SAME }, { 0xe124 },
	{ 0x0203, 0, SAME }, { 0x8203, 0, SAME }, { 0x019c, 0, SAME }, { 0x015e, 0, SAME },
	/* Memory */
	{ 0x81d0, 0, SAME }, { 0x82d0, 0, SAME }, { 0x83d0, 0, SAME }, { 0x11d0 }, { 0x41d0 },
	{ 0x01d1 }, { 0x08d1 }, { 0x20d1 }, { 0x02d2 }, { 0x08d2 }, { 0x04d3 },
	{ 0x01cd, 3 }, { 0x01cd, 30 }, { 0x01cd, 0 }, { 0x01cd, 0xffff }, { 0x02cd, 0, SAME },
	{ 0x412e }, { 0x4f2e },
	/* Extra registers */
	{ 0x01b7, 0x10001 }, { 0x01b7, 0x10002 }, { 0x01bb, 0x18000 }, { 0x01bb, 0x30001 },
	{ 0x012a, 0x10001 }, { 0x012a, 0x10002 }, { 0x012b, 0x18000 }, { 0x02b7, 0x10001 },
	{ 0x01b7, 1ULL << 50 }, { 0x01b7, 0 }, { 0x01c6, 0x11 }, { 0x01c6, 0x15 },
	{ 0x01c6, 0x400106 }, { 0x01c6, 0 }, { 0x40ad, 7 }, { 0x40ad, 8 }, { 0x04c2, 8 },
	/* Edges and transactions */
	{ 0x00c0 | EDGE | CMASK(1), 0, SAME }, { 0x00c4 | EDGE | CMASK(1), 0, SAME },
	{ 0x00c4 | INV | CMASK(1), 0, SAME }, { 0x00c0 | IN_TX }, { 0x01c9 }, { 0x04c9 },
	{ 0x01c8 }, { 0x015d },
};

static const struct row amd[] = {
	{ 0x76, 0, SAME }, { 0xc0, 0, SAME }, { 0xc1, 0, SAME }, { 0xc2, 0, SAME }, { 0xc3 },
	{ 0xc4, 0, SAME }, { 0xc6 }, { 0xc8, 0, SAME }, { 0xca, 0, SAME }, { 0xcc },
	{ 0xd1, 0, SAME }, { 0x76 | CMASK(1), 0, SAME }, { 0xc0 | INV | CMASK(1), 0, SAME },
	{ 0xc2 | EDGE | CMASK(1), 0, SAME },
	/* Events with two counters, and others */
	{ 0xff03, 0, SAME }, { 0x0703 }, { 0x0803 }, { 0xc2, 0, SAME }, { 0x0003 },
	{ 0xff03, 0, SAME }, { 0xf000000ff }, { 0xfff }, { 0x1003 },
	/* Memory */
	{ 0x0129, 0, SAME }, { 0x0229, 0, SAME }, { 0x0729, 0, SAME }, { 0x40, 0, SAME },
	{ 0xff60 }, { 0x0964 }, { 0xff45 }, { 0x7d }, { 0x7e }, { 0x0f43 }, { 0x015a },
	{ 0x0187 }, { 0x0287 }, { 0xa9 }, { 0x87a9 }, { 0x100000120 }, { 0x0120 },
	{ 0x100000187 }, { 0x2a0 }, { 0x01cf }, { 0x02cf }, { 0x0ab },
	/* Guest-only, host-only and both */
	{ 1ULL << 41 | 0xc0, 0, SAME }, { 1ULL << 40 | 0xc0 }, { 3ULL << 40 | 0xc0, 0, SAME },
};

/* config1: 64 bits, user-space reads, threshold_compare from bit 3, threshold from bit 5 */
#define LONG		1
#define RDPMC		2
#define THRESHOLD(n, compare)	((u64)(n) << 5 | (u64)(compare) << 3)

static const struct row arm64[] = {
	{ 0x08, 0, SAME }, { 0x11, 0, SAME }, { 0x21, 0, SAME }, { 0x08, LONG, SAME },
	{ 0x11, LONG, SAME }, { 0x21, LONG, SAME }, { 0x08, RDPMC, SAME }, { 0x11, RDPMC, SAME },
	{ 0x08, LONG | RDPMC, SAME }, { 0x21, LONG | RDPMC, SAME },
	{ 0x06, 0, SAME }, { 0x07, 0, SAME }, { 0x13, 0, SAME }, { 0x1b, 0, SAME },
	{ 0x09 }, { 0x0a }, { 0x0b }, { 0x0c, 0, SAME }, { 0x0d, 0, SAME }, { 0x0e, 0, SAME },
	{ 0x0f }, { 0x10 }, { 0x12, 0, SAME }, { 0x22 }, { 0x1e }, { 0x1e, LONG },
	{ 0x00, 0, SAME },
	{ 0x01 }, { 0x03 }, { 0x04, 0, SAME }, { 0x05 }, { 0x14 }, { 0x16 }, { 0x17 }, { 0x18 },
	{ 0x1c, 0, SAME }, { 0x1d }, { 0x23 }, { 0x24 }, { 0x25 }, { 0x2a }, { 0x33 }, { 0x36 },
	{ 0x3a, 0, SAME }, { 0x3b }, { 0x3c }, { 0x3d }, { 0x3f }, { 0x40 }, { 0x41 },
	{ 0x4000 }, { 0x4004 }, { 0x4005 }, { 0x8000 }, { 0x8002 }, { 0x810c }, { 0x8107 },
	{ 0x08, THRESHOLD(1, 0), SAME }, { 0x08, THRESHOLD(1, 1), SAME },
	{ 0x08, THRESHOLD(2, 2), SAME }, { 0x21, THRESHOLD(1, 3), SAME },
	{ 0x11, THRESHOLD(1, 2), SAME }, { 0x13, THRESHOLD(1, 0) | LONG, SAME },
	{ 0x13, THRESHOLD(0xfff, 2), SAME }, { 0x08, 1ULL << 2 | THRESHOLD(1, 0) },
};

/* Events that every microarchitecture has, and a number that counts nothing */
static const u64 intel_codes[] = {
	[FUZZ_CYCLES] = 0x3c, [FUZZ_INSTRUCTIONS] = 0xc0, [FUZZ_BRANCHES] = 0xc4,
	[FUZZ_SILENT] = 0xf7, [FUZZ_ZERO] = 0,
};

static const u64 amd_codes[] = {
	[FUZZ_CYCLES] = 0x76, [FUZZ_INSTRUCTIONS] = 0xc0, [FUZZ_BRANCHES] = 0xc2,
	[FUZZ_SILENT] = 0xf7, [FUZZ_ZERO] = 0,
};

static const u64 arm64_codes[] = {
	[FUZZ_CYCLES] = 0x11, [FUZZ_INSTRUCTIONS] = 0x08, [FUZZ_BRANCHES] = 0x21,
	[FUZZ_SILENT] = 0, [FUZZ_ZERO] = 0,
};

static const struct {
	const char *name;
	const u64 *codes;
	const struct row *rows;
	unsigned int nr;
} machines[] = {
	[MACHINE_INTEL] = { "intel", intel_codes, intel, ARRAY_SIZE(intel) },
	[MACHINE_AMD] = { "amd", amd_codes, amd, ARRAY_SIZE(amd) },
	[MACHINE_ARM64] = { "arm64", arm64_codes, arm64, ARRAY_SIZE(arm64) },
};

static const struct row *row_of(enum machine machine, unsigned int row)
{
	return &machines[machine].rows[row % machines[machine].nr];
}

static bool is_machines(const struct fuzz_event *event)
{
	return event->type == FUZZ_RAW || event->type == FUZZ_OWN;
}

u64 machine_config(enum machine machine, const struct fuzz_event *event)
{
	u64 config = event->attr.config;

	if (!is_machines(event))
		return config;
	if (event->code == FUZZ_ROW)
		return config | row_of(machine, event->row)->config;
	return config | machines[machine].codes[event->code];
}

u64 machine_config1(enum machine machine, const struct fuzz_event *event)
{
	u64 config1 = event->attr.config1;

	if (!is_machines(event) || event->code != FUZZ_ROW)
		return config1;
	return config1 | row_of(machine, event->row)->config1;
}

bool machine_counts_alike(enum machine machine, const struct fuzz_event *event)
{
	/* An edge of another event may have the number of a miss event. */
	if (event->code != FUZZ_ROW)
		return !(event->attr.config & EVENT_NUMBER);
	return !event->attr.config && !event->attr.config1 &&
	       row_of(machine, event->row)->alike;
}

bool machine_find(const char *name, enum machine *machine)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(machines); i++) {
		if (strcmp(name, machines[i].name))
			continue;
		*machine = i;
		return true;
	}
	return false;
}
