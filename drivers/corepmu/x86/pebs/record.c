// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel PEBS: parser of records with a debug store
 *
 * The parser depends only on the record's bytes. SDM volume 3, "PEBS Record Format" of Skylake
 * (format 3, with a fixed layout) and "Adaptive PEBS" (from format 4 on: each record lists its
 * groups, and has a size).
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include <corepmu/branch.h>

#include "precise.h"
#include "record.h"

/* Words of a format 3 record; the registers come first */
enum {
	SKL_REGS	= 0,
	SKL_COUNTERS	= 18,
	SKL_ADDRESS,
	SKL_SOURCE,
	SKL_LATENCY,
	SKL_EVENTING_IP,
	SKL_TSX,
	SKL_TSC,
	NR_SKL_WORDS
};

/* Words of the groups from format 4 on; every record has the basic group */
enum {
	BASIC_FORMAT	= 0,
	BASIC_IP,
	BASIC_COUNTERS,
	BASIC_TSC,
	NR_BASIC_WORDS
};

#define FORMAT_GROUPS	GENMASK_ULL(31, 0)
#define FORMAT_RETIRE	GENMASK_ULL(47, 32)
#define FORMAT_SIZE	GENMASK_ULL(63, 48)

enum {
	MEMINFO_ADDRESS	= 0,
	MEMINFO_SOURCE,
	MEMINFO_LATENCY,
	MEMINFO_TSX,
	NR_MEMINFO_WORDS
};

#define NR_GPRS_WORDS	18
#define NR_XMMS_WORDS	(16 * 2)

/*
 * Header of the counter group: bits of the general-purpose counters and of the fixed counters, then
 * whether two words for topdown metrics follow the counters. struct pebs_cntr_header in
 * arch/x86/include/asm/perf_event.h
 */
#define COUNTERS_METRICS	GENMASK_ULL(31, 0)
#define METRICS_RECORDED	3
#define NR_METRICS_WORDS	2

/* Positions of the registers in either format, counted from the first register */
static const u8 skl_regs[NR_PEBS_REGS] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17
};

static const u8 gprs_regs[NR_PEBS_REGS] = {
	[PEBS_REG_FLAGS] = 0, [PEBS_REG_IP] = 1, [PEBS_REG_AX] = 2, [PEBS_REG_CX] = 3,
	[PEBS_REG_DX] = 4, [PEBS_REG_BX] = 5, [PEBS_REG_SP] = 6, [PEBS_REG_BP] = 7,
	[PEBS_REG_SI] = 8, [PEBS_REG_DI] = 9,
	[PEBS_REG_R8] = 10, 11, 12, 13, 14, 15, 16, 17
};

#define GROUPS_OF_ONE_SIZE	(PEBS_DATA_MEMINFO | PEBS_DATA_GPRS | PEBS_DATA_XMMS)

/* Words of a record without branches, by its groups */
static const u8 group_words[] = {
	NR_BASIC_WORDS,
	NR_BASIC_WORDS + NR_MEMINFO_WORDS,
	NR_BASIC_WORDS + NR_GPRS_WORDS,
	NR_BASIC_WORDS + NR_MEMINFO_WORDS + NR_GPRS_WORDS,
	NR_BASIC_WORDS + NR_XMMS_WORDS,
	NR_BASIC_WORDS + NR_XMMS_WORDS + NR_MEMINFO_WORDS,
	NR_BASIC_WORDS + NR_XMMS_WORDS + NR_GPRS_WORDS,
	NR_BASIC_WORDS + NR_XMMS_WORDS + NR_MEMINFO_WORDS + NR_GPRS_WORDS,
};

/* Runs twice for each record, so it is inline and table-driven. */
static __always_inline size_t count_words(u64 groups)
{
	size_t nr = group_words[groups & GROUPS_OF_ONE_SIZE];

	if (unlikely(groups & PEBS_DATA_LBRS))
		nr += (FIELD_GET(PEBS_DATA_NR_LBRS, groups) + 1) * NR_LBR_WORDS;

	return nr;
}

/**
 * x86_pebs_has_metrics() - check whether the slots counter and PERF_METRICS follow the counters
 * @header: header of the counter group
 *
 * Return: true if two words follow
 */
bool x86_pebs_has_metrics(const u64 *header)
{
	return FIELD_GET(COUNTERS_METRICS, header[1]) == METRICS_RECORDED;
}

/**
 * x86_pebs_counter_words() - return the length of a record's counter group
 * @header: the group's header, PEBS_NR_COUNTER_HEADER words
 *
 * Return: words, with the header
 */
size_t x86_pebs_counter_words(const u64 *header)
{
	return PEBS_NR_COUNTER_HEADER + hweight64(header[0]) +
	       (x86_pebs_has_metrics(header) ? NR_METRICS_WORDS : 0);
}

/* Return the length of a counter group that begins at @start; more than @size if it is cut off. */
static size_t counter_size(const u64 *word, size_t start, size_t size)
{
	if (start + PEBS_NR_COUNTER_HEADER * sizeof(u64) > size)
		return size + 1;

	return x86_pebs_counter_words(word + start / sizeof(u64)) * sizeof(u64);
}

/**
 * x86_pebs_nr_values() - return the length of a counter group without its header
 * @data: IA32_PEBS_DATA_CFG
 *
 * Return: words
 */
size_t x86_pebs_nr_values(u64 data)
{
	return hweight64(data & (PEBS_DATA_GP | PEBS_DATA_FIXED)) +
	       (data & PEBS_DATA_METRICS ? NR_METRICS_WORDS : 0);
}

/**
 * x86_pebs_size() - return the size of a record
 * @format: format of the record
 * @data: IA32_PEBS_DATA_CFG, from format 4 on
 *
 * Return: bytes; for architectural records the maximum
 */
size_t x86_pebs_size(unsigned int format, u64 data)
{
	size_t nr;

	if (format == PEBS_FORMAT_ARCH)
		return x86_pebs_arch_size(data);

	if (format == PEBS_FORMAT_SKYLAKE)
		return NR_SKL_WORDS * sizeof(u64);

	nr = count_words(data);
	if (data & PEBS_DATA_COUNTERS)
		nr += PEBS_NR_COUNTER_HEADER + x86_pebs_nr_values(data);

	return nr * sizeof(u64);
}

static __always_inline size_t next_record(unsigned int format, const void *at, size_t left,
					  u64 *counters)
{
	const u64 *word = at;
	size_t size, expected;

	if (format == PEBS_FORMAT_SKYLAKE) {
		size = NR_SKL_WORDS * sizeof(u64);
		if (left < size)
			return 0;
		*counters = word[SKL_COUNTERS];
		return size;
	}

	if (unlikely(format == PEBS_FORMAT_ARCH)) {
		struct x86_pebs_record record;

		if (!x86_pebs_arch_parse(at, left, &record))
			return 0;
		*counters = record.counters;
		return record.size;
	}

	if (left < NR_BASIC_WORDS * sizeof(u64))
		return 0;
	size = FIELD_GET(FORMAT_SIZE, word[BASIC_FORMAT]);
	expected = count_words(FIELD_GET(FORMAT_GROUPS, word[BASIC_FORMAT])) * sizeof(u64);
	if (unlikely(word[BASIC_FORMAT] & (PEBS_DATA_COUNTERS | PEBS_DATA_METRICS)))
		expected += counter_size(word, expected, min(size, left));
	/* The driver requests only groups whose size count_words() knows: another size is an error. */
	if (size != expected || size > left)
		return 0;
	*counters = word[BASIC_COUNTERS];

	return size;
}

/**
 * x86_pebs_count() - count the records of each counter
 * @format: format of the records
 * @at: first record, aligned to a word
 * @end: end of the last record
 * @mine: counters to count records of, a bit each
 * @nr: set to the number of records, for each counter of @mine
 * @counters: set to the counters of @mine that have records, a bit each
 *
 * Any context, NMI too.
 *
 * Return: NULL, or the first invalid record, after which no record can be found
 */
const void *x86_pebs_count(unsigned int format, const void *at, const void *end, u64 mine, u16 *nr,
			   u64 *counters)
{
	u64 left, of_record, any = 0;
	size_t size;

	for (left = mine; left; left &= left - 1)
		nr[__ffs64(left)] = 0;
	for (; at < end; at += size) {
		size = next_record(format, at, end - at, &of_record);
		if (!size)
			break;
		any |= of_record & mine;
		for (left = of_record & mine; left; left &= left - 1)
			nr[__ffs64(left)]++;
	}
	*counters = any;

	return at < end ? at : NULL;
}

static void parse_skylake(const u64 *word, struct x86_pebs_record *record)
{
	record->ip = word[SKL_EVENTING_IP];
	record->tsc = word[SKL_TSC];
	record->retire = 0;
	record->regs = &word[SKL_REGS];
	record->has_memory = true;
	record->address = word[SKL_ADDRESS];
	record->source = word[SKL_SOURCE];
	record->latency = word[SKL_LATENCY];
	record->tsx = word[SKL_TSX];
	record->xmm = NULL;
	record->branches = NULL;
	record->counts = NULL;
}

static void parse_adaptive(const u64 *word, struct x86_pebs_record *record)
{
	u64 groups = FIELD_GET(FORMAT_GROUPS, word[BASIC_FORMAT]);

	record->retire = FIELD_GET(FORMAT_RETIRE, word[BASIC_FORMAT]);
	record->ip = word[BASIC_IP];
	record->tsc = word[BASIC_TSC];
	word += NR_BASIC_WORDS;
	record->has_memory = groups & PEBS_DATA_MEMINFO;
	record->tsx = 0;
	if (record->has_memory) {
		record->address = word[MEMINFO_ADDRESS];
		record->source = word[MEMINFO_SOURCE];
		record->latency = word[MEMINFO_LATENCY];
		record->tsx = word[MEMINFO_TSX];
		word += NR_MEMINFO_WORDS;
	}
	record->regs = NULL;
	if (groups & PEBS_DATA_GPRS) {
		record->regs = word;
		word += NR_GPRS_WORDS;
	}
	record->xmm = NULL;
	if (groups & PEBS_DATA_XMMS) {
		record->xmm = word;
		word += NR_XMMS_WORDS;
	}
	record->branches = NULL;
	if (unlikely(groups & PEBS_DATA_LBRS)) {
		record->branches = word;
		record->nr_branches = min_t(unsigned int, COREPMU_MAX_BRANCHES,
					    FIELD_GET(PEBS_DATA_NR_LBRS, groups) + 1);
		word += (FIELD_GET(PEBS_DATA_NR_LBRS, groups) + 1) * NR_LBR_WORDS;
	}
	record->counts = groups & (PEBS_DATA_COUNTERS | PEBS_DATA_METRICS) ? word : NULL;
}

/**
 * x86_pebs_parse() - parse a record
 * @format: format of the record
 * @at: the record, aligned to a word
 * @left: bytes from @at to the end of the last record
 * @record: filled in; has pointers into the record
 *
 * Any context, NMI too.
 *
 * Return: false if the record is invalid, and the next record cannot be found
 */
bool x86_pebs_parse(unsigned int format, const void *at, size_t left,
		    struct x86_pebs_record *record)
{
	if (unlikely(format == PEBS_FORMAT_ARCH))
		return x86_pebs_arch_parse(at, left, record);
	record->size = next_record(format, at, left, &record->counters);
	if (!record->size)
		return false;

	if (format == PEBS_FORMAT_SKYLAKE)
		parse_skylake(at, record);
	else
		parse_adaptive(at, record);

	return true;
}

/**
 * x86_pebs_parse_alike() - parse a record with the groups and counters of the record before
 * @format: format of the records
 * @at: the record, aligned to a word
 * @left: bytes from @at to the end of the last record
 * @record: the record right before @at; its address and time become those of the record at @at
 *
 * The caller uses no other member of @record. Two records of the same groups have the same length,
 * which x86_pebs_parse() has checked for the first. Any context, NMI too.
 *
 * Return: true if @record has been updated; false if the record has other groups or counters, or if
 * @format is not 4 to 6
 */
bool x86_pebs_parse_alike(unsigned int format, const void *at, size_t left,
			  struct x86_pebs_record *record)
{
	const u64 *word = at, *before = at - record->size;

	if (format < PEBS_FORMAT_ADAPTIVE || format > PEBS_FORMAT_COUNTERS || left < record->size ||
	    ((word[BASIC_FORMAT] ^ before[BASIC_FORMAT]) & ~FORMAT_RETIRE) ||
	    word[BASIC_COUNTERS] != record->counters)
		return false;
	record->ip = word[BASIC_IP];
	record->tsc = word[BASIC_TSC];

	return true;
}

/**
 * x86_pebs_reg() - return the value of a register in a record
 * @format: format of the record
 * @record: a record with registers
 * @reg: the register
 *
 * Return: the value
 */
u64 x86_pebs_reg(unsigned int format, const struct x86_pebs_record *record,
		 enum x86_pebs_reg reg)
{
	return record->regs[format == PEBS_FORMAT_SKYLAKE ? skl_regs[reg] : gprs_regs[reg]];
}
