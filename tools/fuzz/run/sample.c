// SPDX-License-Identifier: GPL-2.0-only
/*
 * sample.c - fields of samples
 *
 * Only samples of the loops are compared, whose instructions and registers are the same in each
 * run. The fields have the order of PERF_RECORD_SAMPLE in perf_event_open(2).
 */
#include "loop.h"
#include "result.h"
#include "sample.h"

/* Headers of older kernels lack some of these. */
#define SAMPLE_WEIGHT_STRUCT	(1U << 24)
#define BRANCH_HW_INDEX		(1U << 17)
/*
 * Bits of a branch entry to compare: mispredicted, predicted, in_tx, abort, and the fields from
 * type on; not the cycles
 */
#define BRANCH_FLAGS		(0xfULL | ~0xfffffULL)
#define BRANCH_WORDS		3
#define CHAIN_WORDS		2
/*
 * XMM registers have values of functions that ran before. On arm64 x7 may have a random value that
 * libc draws for each process.
 */
#ifdef __aarch64__
#define STEADY_REGS		0xffffff7fULL
#else
#define STEADY_REGS		0xffffffffULL
#endif
#define FNV_PRIME		0x01000193

/**
 * struct cursor - rest of a record
 * @words: next word
 * @nr: number of words left
 */
struct cursor {
	const u64 *words;
	unsigned int nr;
};

/**
 * struct sink - output of the fields
 * @samples: the hashes
 * @show: output in words, or NULL
 */
struct sink {
	struct samples *samples;
	FILE *show;
};

static const struct {
	const char *name;
	u64 types;
} fields[SAMPLE_NR_FIELDS] = {
	[SAMPLE_PLACE]		= { "s-place", PERF_SAMPLE_IP },
	[SAMPLE_MISC]		= { "s-misc", PERF_SAMPLE_IP },
	[SAMPLE_ADDRESS]	= { "s-address", PERF_SAMPLE_ADDR },
	[SAMPLE_PERIOD]		= { "s-period", PERF_SAMPLE_PERIOD },
	[SAMPLE_COUNTS]		= { "s-counts", PERF_SAMPLE_READ },
	[SAMPLE_CHAIN]		= { "s-chain", PERF_SAMPLE_CALLCHAIN },
	[SAMPLE_BRANCHES]	= { "s-branches", PERF_SAMPLE_BRANCH_STACK },
	[SAMPLE_BRANCH_PLACES]	= { "s-branch-places", PERF_SAMPLE_BRANCH_STACK },
	[SAMPLE_BRANCH_KINDS]	= { "s-branch-kinds", PERF_SAMPLE_BRANCH_STACK },
	[SAMPLE_REGS]		= { "s-regs", PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR },
	[SAMPLE_WEIGHT]		= { "s-weight", PERF_SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT },
	[SAMPLE_DATA_SOURCE]	= { "s-source", PERF_SAMPLE_DATA_SRC },
	[SAMPLE_ABORTS]		= { "s-aborts", PERF_SAMPLE_TRANSACTION },
	[SAMPLE_PHYSICAL]	= { "s-physical", PERF_SAMPLE_PHYS_ADDR },
	[SAMPLE_PAGES]		= { "s-pages",
				    PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE },
};

static u64 next(struct cursor *cursor)
{
	if (!cursor->nr)
		return 0;
	cursor->nr--;
	return *cursor->words++;
}

static void skip(struct cursor *cursor, u64 words)
{
	if (words > cursor->nr)
		words = cursor->nr;
	cursor->nr -= words;
	cursor->words += words;
}

static void add_field(const struct sink *sink, enum sample_field field, u64 value)
{
	u32 *hash = &sink->samples->hashes[field];

	*hash = (*hash ^ (u32)value ^ (u32)(value >> 32)) * FNV_PRIME;
	if (sink->show)
		fprintf(sink->show, " %s=%#llx", fields[field].name + 2,
			(unsigned long long)value);
}

static void add_counts(const struct sink *sink, struct cursor *cursor, u64 format)
{
	unsigned int more = !!(format & PERF_FORMAT_ID) + !!(format & 1U << 4);
	unsigned int times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			     !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	u64 nr = 1, i;

	if (format & PERF_FORMAT_GROUP) {
		nr = next(cursor);
		add_field(sink, SAMPLE_COUNTS, nr);
		skip(cursor, times);
	}
	for (i = 0; i < nr && i < FUZZ_EVENTS; i++) {
		add_field(sink, SAMPLE_COUNTS, next(cursor));
		if (!(format & PERF_FORMAT_GROUP))
			skip(cursor, times);
		skip(cursor, more);
	}
}

/* Only the first entry: in programs without frame pointers the others are arbitrary. */
static void add_chain(const struct sink *sink, struct cursor *cursor)
{
	u64 nr = next(cursor), i;

	for (i = 0; i < nr && cursor->nr; i++) {
		u64 address = next(cursor);

		if (i < CHAIN_WORDS)
			add_field(sink, SAMPLE_CHAIN, address);
	}
}

/*
 * Return whether all branch records are the loops' own. The loops execute only conditional
 * branches, in user space. Records of other types are older than the loops, and a task switch loses
 * them. Branches of the kernel include the driver's own.
 */
static bool has_loops_branches(u64 type)
{
	return (type & PERF_SAMPLE_BRANCH_USER) && !(type & PERF_SAMPLE_BRANCH_KERNEL) &&
	       (type & (PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_COND));
}

static void add_branches(const struct sink *sink, struct cursor *cursor, u64 type)
{
	bool steady = has_loops_branches(type);
	u64 nr = next(cursor), i;

	if (steady)
		add_field(sink, SAMPLE_BRANCHES, nr);
	if (type & BRANCH_HW_INDEX)
		skip(cursor, 1);
	for (i = 0; i < nr && cursor->nr >= BRANCH_WORDS; i++) {
		if (!steady) {
			skip(cursor, BRANCH_WORDS);
			continue;
		}
		add_field(sink, SAMPLE_BRANCH_PLACES, next(cursor));
		add_field(sink, SAMPLE_BRANCH_PLACES, next(cursor));
		add_field(sink, SAMPLE_BRANCH_KINDS, next(cursor) & BRANCH_FLAGS);
	}
}

static void add_regs(const struct sink *sink, struct cursor *cursor, u64 mask)
{
	u64 abi = next(cursor), value;

	add_field(sink, SAMPLE_REGS, abi);
	for (; abi && mask; mask &= mask - 1) {
		value = next(cursor);
		if (mask & -mask & STEADY_REGS)
			add_field(sink, SAMPLE_REGS, value);
	}
}

/* Find the address among the fields before it, which are one word each. */
static u64 find_place(struct cursor *cursor, u64 type)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		skip(cursor, 1);
	return type & PERF_SAMPLE_IP ? next(cursor) : 0;
}

static void add_first(const struct sink *sink, struct cursor *cursor,
		      const struct perf_event_attr *attr)
{
	u64 type = attr->sample_type;

	skip(cursor, !!(type & PERF_SAMPLE_TID) + !!(type & PERF_SAMPLE_TIME));
	if (type & PERF_SAMPLE_ADDR)
		add_field(sink, SAMPLE_ADDRESS, next(cursor));
	skip(cursor, !!(type & PERF_SAMPLE_ID) + !!(type & PERF_SAMPLE_STREAM_ID) +
		     !!(type & PERF_SAMPLE_CPU));
	if (type & PERF_SAMPLE_PERIOD)
		add_field(sink, SAMPLE_PERIOD, next(cursor));
	if (type & PERF_SAMPLE_READ)
		add_counts(sink, cursor, attr->read_format);
	if (type & PERF_SAMPLE_CALLCHAIN)
		add_chain(sink, cursor);
}

static void add_last(const struct sink *sink, struct cursor *cursor,
		     const struct perf_event_attr *attr)
{
	u64 type = attr->sample_type;

	if (type & PERF_SAMPLE_RAW)
		skip(cursor, (sizeof(u32) + (u32)next(cursor)) / sizeof(u64) - 1);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		add_branches(sink, cursor, attr->branch_sample_type);
	if (type & PERF_SAMPLE_REGS_USER)
		add_regs(sink, cursor, attr->sample_regs_user);
	if (type & PERF_SAMPLE_STACK_USER) {
		u64 size = next(cursor);

		/* The stack, and its size */
		skip(cursor, size ? size / sizeof(u64) + 1 : 0);
	}
	if (type & (PERF_SAMPLE_WEIGHT | SAMPLE_WEIGHT_STRUCT))
		add_field(sink, SAMPLE_WEIGHT, next(cursor));
	if (type & PERF_SAMPLE_DATA_SRC)
		add_field(sink, SAMPLE_DATA_SOURCE, next(cursor));
	if (type & PERF_SAMPLE_TRANSACTION)
		add_field(sink, SAMPLE_ABORTS, next(cursor));
	if (type & PERF_SAMPLE_REGS_INTR)
		add_regs(sink, cursor, attr->sample_regs_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		add_field(sink, SAMPLE_PHYSICAL, !!next(cursor));
	if (type & PERF_SAMPLE_CGROUP)
		skip(cursor, 1);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		add_field(sink, SAMPLE_PAGES, next(cursor));
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		add_field(sink, SAMPLE_PAGES, next(cursor));
}

void sample_add(struct samples *samples, const struct perf_event_attr *attr,
		const struct perf_event_header *record, FILE *show)
{
	struct cursor cursor = {
		(const u64 *)(record + 1), (record->size - sizeof(*record)) / sizeof(u64)
	};
	struct sink sink = { samples, show };
	u64 place = find_place(&cursor, attr->sample_type);

	if (show)
		fprintf(show, "# sample");
	if (loop_has(place)) {
		samples->in_loop++;
		add_field(&sink, SAMPLE_PLACE, place);
		add_field(&sink, SAMPLE_MISC, record->misc & (PERF_RECORD_MISC_CPUMODE_MASK |
							      PERF_RECORD_MISC_EXACT_IP));
		add_first(&sink, &cursor, attr);
		add_last(&sink, &cursor, attr);
	} else if (show) {
		fprintf(show, " elsewhere, misc=%#x place=%#llx", record->misc,
			(unsigned long long)place);
	}
	if (show)
		fputc('\n', show);
}

void sample_note(const struct samples *samples, const struct perf_event_attr *attr,
		 unsigned int event)
{
	result_note("in-loop", event, samples->in_loop);
	if (!samples->in_loop)
		return;
	for (unsigned int i = 0; i < SAMPLE_NR_FIELDS; i++)
		if (attr->sample_type & fields[i].types)
			result_note(fields[i].name, event, samples->hashes[i]);
}
