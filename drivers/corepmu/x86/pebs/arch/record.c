// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel PEBS: parser of architectural records
 *
 * The parser depends only on the record's bytes. A record is a sequence of pieces. Each piece has a
 * header with its size, its groups, and whether the record continues; pieces without groups may
 * come before the record. Linux 6.19: struct arch_pebs_header and the following in
 * arch/x86/include/asm/perf_event.h, arch_pebs_record_continued() in arch/x86/events/intel/ds.c.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include <corepmu/branch.h>

#include "../record.h"

/* First word of a header; the second word is unused */
#define HEADER_SIZE		GENMASK_ULL(15, 0)
#define HEADER_CONTINUED	BIT_ULL(31)
#define HEADER_GROUPS		(GENMASK_ULL(41, 35) | GENMASK_ULL(55, 49) | GENMASK_ULL(63, 61))
#define HEADER_BASIC		BIT_ULL(63)
#define KNOWN_GROUPS		(HEADER_BASIC | PEBS_ARCH_AUX | PEBS_ARCH_GPR | PEBS_ARCH_XMM |	\
				 PEBS_ARCH_LBR | PEBS_ARCH_COUNTERS)
#define NR_HEADER_WORDS		2

/* The size of a piece, and the size of each group, are multiples of this many bytes. */
#define PIECE_UNIT		(NR_HEADER_WORDS * sizeof(u64))

enum {
	ARCH_BASIC_IP		= 0,
	ARCH_BASIC_COUNTERS,
	ARCH_BASIC_TSC,
	ARCH_BASIC_RETIRE,
	ARCH_NR_BASIC_WORDS	= 6
};

#define RETIRE_LATENCY		GENMASK_ULL(15, 0)
#define RETIRE_VALID		BIT_ULL(16)

enum {
	AUX_ADDRESS	= 0,
	AUX_SOURCE	= 5,
	AUX_LATENCY,
	AUX_TSX,
	NR_AUX_WORDS
};

#define NR_GPR_WORDS		20
/* The XMM group has its own header before the registers. */
#define NR_XMM_HEADER_WORDS	2
#define NR_XMM_WORDS		(NR_XMM_HEADER_WORDS + 16 * 2)

/*
 * The branch group has a header; the number of branches is in the group's bits or in this header.
 */
#define NR_LBR_HEADER_WORDS	6
#define LBR_DEPTH		2

#define LBR_AS_HEADER		3
#define LBR_UNIT		8

/* Words of all groups but the branches */
static size_t arch_group_words(u64 groups)
{
	return (groups & HEADER_BASIC ? ARCH_NR_BASIC_WORDS : 0) +
	       (groups & PEBS_ARCH_AUX ? NR_AUX_WORDS : 0) +
	       (groups & PEBS_ARCH_GPR ? NR_GPR_WORDS : 0) +
	       (groups & PEBS_ARCH_XMM ? NR_XMM_WORDS : 0);
}

/**
 * x86_pebs_arch_groups() - convert IA32_PEBS_DATA_CFG to the groups of architectural records
 * @data: groups as in IA32_PEBS_DATA_CFG
 *
 * Return: bits of IA32_PMC_GPn_CFG_C, which a record's header uses too
 */
u64 x86_pebs_arch_groups(u64 data)
{
	return (data & PEBS_DATA_MEMINFO ? PEBS_ARCH_AUX : 0) |
	       (data & PEBS_DATA_GPRS ? PEBS_ARCH_GPR : 0) |
	       (data & PEBS_DATA_XMMS ? PEBS_ARCH_XMM : 0) |
	       (data & PEBS_DATA_LBRS ? PEBS_ARCH_LBR : 0) |
	       (data & PEBS_DATA_GP ? PEBS_ARCH_GP : 0) |
	       (data & PEBS_DATA_FIXED ? PEBS_ARCH_FIXED : 0) |
	       (data & PEBS_DATA_METRICS ? PEBS_ARCH_METRICS : 0);
}

/* Records consist of units of two words, and a group may have an odd number of counters. */
static size_t counter_words(size_t words)
{
	return round_up(words, PIECE_UNIT / sizeof(u64));
}

/* Allow for one empty piece before the record and one piece boundary within. */
#define MORE_PIECES		2

/**
 * x86_pebs_arch_size() - return the maximum size of an architectural record
 * @data: groups as in IA32_PEBS_DATA_CFG
 *
 * Return: bytes
 */
size_t x86_pebs_arch_size(u64 data)
{
	size_t words = arch_group_words(HEADER_BASIC | x86_pebs_arch_groups(data));

	if (data & PEBS_DATA_LBRS)
		words += NR_LBR_HEADER_WORDS +
			 (FIELD_GET(PEBS_DATA_NR_LBRS, data) + 1) * NR_LBR_WORDS;
	if (data & PEBS_DATA_COUNTERS)
		words += counter_words(PEBS_NR_COUNTER_HEADER + x86_pebs_nr_values(data));

	return ((1 + MORE_PIECES) * NR_HEADER_WORDS + words) * sizeof(u64);
}

static void parse_basic(const u64 *word, struct x86_pebs_record *record)
{
	u64 retire = word[ARCH_BASIC_RETIRE];

	record->ip = word[ARCH_BASIC_IP];
	record->counters = word[ARCH_BASIC_COUNTERS];
	record->tsc = word[ARCH_BASIC_TSC];
	record->retire = retire & RETIRE_VALID ? FIELD_GET(RETIRE_LATENCY, retire) : 0;
}

/* Set @record's branches. Return the words of the branch group; 0 if the piece is too short. */
static size_t branch_words(const u64 *word, u64 groups, size_t words, size_t size,
			   struct x86_pebs_record *record)
{
	unsigned int lbr_group = FIELD_GET(PEBS_ARCH_LBR, groups);
	u64 nr;

	if (size < (words + NR_LBR_HEADER_WORDS) * sizeof(u64))
		return 0;
	nr = lbr_group == LBR_AS_HEADER ? word[words + LBR_DEPTH] : lbr_group * LBR_UNIT;
	if (nr > COREPMU_MAX_BRANCHES)
		return 0;
	record->branches = word + words + NR_LBR_HEADER_WORDS;
	record->nr_branches = nr;

	return NR_LBR_HEADER_WORDS + nr * NR_LBR_WORDS;
}

/*
 * Check whether the size of a piece fits its groups, and set @record's branches and counts.
 * These two groups come last; their headers have the number of branches and of counters.
 */
static bool is_as_long(const u64 *word, u64 groups, size_t size, struct x86_pebs_record *record)
{
	size_t words = NR_HEADER_WORDS + arch_group_words(groups), more;

	if (groups & PEBS_ARCH_LBR) {
		more = branch_words(word, groups, words, size, record);
		if (!more)
			return false;
		words += more;
	}
	if (groups & PEBS_ARCH_COUNTERS) {
		if (size < (words + PEBS_NR_COUNTER_HEADER) * sizeof(u64))
			return false;
		record->counts = word + words;
		words += counter_words(x86_pebs_counter_words(record->counts));
	}

	return size == words * sizeof(u64);
}

static void parse_groups(const u64 *word, u64 groups, struct x86_pebs_record *record)
{
	if (groups & HEADER_BASIC) {
		parse_basic(word, record);
		word += ARCH_NR_BASIC_WORDS;
	}
	if (groups & PEBS_ARCH_AUX) {
		record->has_memory = true;
		record->address = word[AUX_ADDRESS];
		record->source = word[AUX_SOURCE];
		record->latency = word[AUX_LATENCY];
		record->tsx = word[AUX_TSX];
		word += NR_AUX_WORDS;
	}
	if (groups & PEBS_ARCH_GPR) {
		record->regs = word;
		word += NR_GPR_WORDS;
	}
	if (groups & PEBS_ARCH_XMM)
		record->xmm = word + NR_XMM_HEADER_WORDS;
}

/**
 * x86_pebs_arch_parse() - parse an architectural record
 * @at: the record, or empty pieces before it, aligned to a word
 * @left: bytes from @at to the end of the last record
 * @record: filled in; has pointers into the record
 *
 * Any context, NMI too.
 *
 * Return: false if the record is invalid, and the next record cannot be found
 */
bool x86_pebs_arch_parse(const void *at, size_t left, struct x86_pebs_record *record)
{
	bool begun = false, more;
	const u64 *word = at;

	record->size = 0;
	record->has_memory = false;
	record->tsx = 0;
	record->regs = NULL;
	record->xmm = NULL;
	record->branches = NULL;
	record->counts = NULL;
	do {
		size_t size, rest = left - record->size;
		u64 groups;

		if (rest < PIECE_UNIT)
			return false;
		size = FIELD_GET(HEADER_SIZE, *word);
		groups = *word & HEADER_GROUPS;
		if (size < PIECE_UNIT || size % PIECE_UNIT || size > rest)
			return false;
		/* The driver has not asked for groups that it does not know. */
		if (groups & ~KNOWN_GROUPS)
			return false;
		if (groups && !is_as_long(word, groups, size, record))
			return false;
		/* The first piece with groups has the basic group; no other piece may have it. */
		if (groups && begun == !!(groups & HEADER_BASIC))
			return false;
		begun |= !!groups;
		parse_groups(word + NR_HEADER_WORDS, groups, record);
		more = !groups || (*word & HEADER_CONTINUED);
		record->size += size;
		word += size / sizeof(u64);
	} while (more);

	return true;
}
