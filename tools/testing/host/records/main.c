// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - random bytes for the driver's parsers of PEBS records
 *
 * Usage: records ROUNDS SEED. The program is built with AddressSanitizer, which stops it at the
 * first byte read outside the buffer. A parsed record must point only into itself. Counting and
 * parsing must find the same records in a buffer. Prints the number of records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "precise.h"
#include "record.h"

#define MAX_WORDS	256
#define NR_REGS_WORDS	18
#define NR_XMM_WORDS	32
#define NR_BRANCH_WORDS	3

/* The first word of a group in an architectural record */
#define ARCH_BASIC	BIT_ULL(63)
#define ARCH_CONTINUED	BIT_ULL(31)
#define ARCH_HEADER	16
#define ARCH_BASIC_SIZE	48

static u64 state;

/* xorshift64* */
static u64 rnd(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545f4914f6cdd1dULL;
}

static void fail(const char *what)
{
	printf("%s\n", what);
	exit(1);
}

/* Write a record as the hardware does. Return its words. */
static size_t make_skylake(u64 *word)
{
	return x86_pebs_size(PEBS_FORMAT_SKYLAKE, 0) / sizeof(*word);
}

static size_t make_adaptive(u64 *word)
{
	u64 groups = rnd() & (PEBS_DATA_MEMINFO | PEBS_DATA_GPRS | PEBS_DATA_XMMS);
	size_t size;

	if (rnd() % 2)
		groups |= PEBS_DATA_LBRS | (rnd() % 40) << 24;
	size = x86_pebs_size(PEBS_FORMAT_ADAPTIVE, groups);
	word[0] = groups | (u64)(u16)size << 48 | (rnd() & 0xffff) << 32;

	return size / sizeof(*word);
}

static size_t make_arch(u64 *word)
{
	size_t nr = 0;

	/* An empty group before it */
	if (rnd() % 4 == 0) {
		word[0] = ARCH_HEADER;
		nr = ARCH_HEADER / sizeof(*word);
	}
	word[nr] = ARCH_BASIC | (ARCH_HEADER + ARCH_BASIC_SIZE);
	if (rnd() % 2) {
		word[nr] |= ARCH_CONTINUED;
		nr += (ARCH_HEADER + ARCH_BASIC_SIZE) / sizeof(*word);
		switch (rnd() % 3) {
		case 0:
			word[nr] = PEBS_ARCH_AUX | 80;
			return nr + 80 / sizeof(*word);
		case 1:
			word[nr] = PEBS_ARCH_GPR | 176;
			return nr + 176 / sizeof(*word);
		default:
			/* Six words have the number of branches. */
			word[nr] = PEBS_ARCH_LBR | (ARCH_HEADER + 48 + 4 * 24);
			word[nr + 2 + 2] = 4;
			return nr + (ARCH_HEADER + 48 + 4 * 24) / sizeof(*word);
		}
	}

	return nr + (ARCH_HEADER + ARCH_BASIC_SIZE) / sizeof(*word);
}

/* Write several records. Return their bytes. */
static size_t make_records(unsigned int format, u64 *words)
{
	u64 record[MAX_WORDS];
	size_t nr = 0, size;

	do {
		for (size_t i = 0; i < MAX_WORDS; i++)
			record[i] = rnd();
		if (format == PEBS_FORMAT_SKYLAKE)
			size = make_skylake(record);
		else if (format == PEBS_FORMAT_ARCH)
			size = make_arch(record);
		else
			size = make_adaptive(record);
		if (nr + size > MAX_WORDS)
			break;
		memcpy(&words[nr], record, size * sizeof(*words));
		nr += size;
	} while (rnd() % 4);

	return nr * sizeof(*words);
}

/* Change a bit, a byte or a word, or remove some. Return the bytes. */
static size_t spoil(u64 *words, size_t size)
{
	unsigned char *bytes = (unsigned char *)words;

	switch (size ? rnd() % 6 : 5) {
	case 0:
		bytes[rnd() % size] ^= 1 << rnd() % 8;
		break;
	case 1:
		bytes[rnd() % size] = rnd();
		break;
	case 2:
		words[rnd() % (size / sizeof(*words))] = rnd();
		break;
	case 3:
		words[rnd() % (size / sizeof(*words))] = 0;
		break;
	case 4:
		size = rnd() % size;
		break;
	}

	return size;
}

static u64 sum;

static void use(const u64 *word, size_t nr)
{
	while (nr--)
		sum += *word++;
}

/* Read all fields of a record. */
static void use_record(unsigned int format, const struct x86_pebs_record *record)
{
	sum += record->ip + record->tsc + record->retire;
	if (record->has_memory)
		sum += record->address + record->source + record->latency + record->tsx;
	if (record->regs) {
		use(record->regs, NR_REGS_WORDS);
		/* Registers of architectural records are in the order of format 4. */
		for (unsigned int reg = 0; reg < NR_PEBS_REGS; reg++)
			sum += x86_pebs_reg(format, record, reg);
	}
	if (record->xmm)
		use(record->xmm, NR_XMM_WORDS);
	if (record->branches)
		use(record->branches, NR_BRANCH_WORDS * record->nr_branches);
}

static void judge(unsigned int format, const void *bytes, size_t size, u64 *taken)
{
	const char *at = bytes, *end = at + size;
	u16 counted[COREPMU_MAX_COUNTERS], found[COREPMU_MAX_COUNTERS] = { };
	u64 counters, any = 0, left;
	const void *stopped;

	stopped = x86_pebs_count(format, bytes, end, ~0ULL, counted, &counters);
	while (at < end) {
		struct x86_pebs_record record;

		if (!x86_pebs_parse(format, at, end - at, &record))
			break;
		if (!record.size || record.size > (size_t)(end - at))
			fail("a record ends where there is nothing any more");
		use_record(format, &record);
		any |= record.counters;
		for (left = record.counters; left; left &= left - 1)
			found[__ffs64(left)]++;
		at += record.size;
		++*taken;
	}
	if (stopped != (at < end ? at : NULL))
		fail("counting and parsing stop at different places");
	if (any != counters || memcmp(counted, found, sizeof(found)))
		fail("counting and parsing find different records");
}

int main(int argc, char **argv)
{
	static const unsigned int formats[] = { PEBS_FORMAT_SKYLAKE, 4, 5, PEBS_FORMAT_ARCH };
	unsigned long rounds;
	u64 words[MAX_WORDS], whole = 0, spoilt = 0;

	if (argc != 3)
		fail("usage: records ROUNDS SEED");
	rounds = strtoul(argv[1], NULL, 0);
	state = strtoull(argv[2], NULL, 0) | 1;
	for (unsigned long round = 0; round < rounds; round++) {
		unsigned int format = formats[round % 4];
		size_t size = make_records(format, words);
		u64 *spoil_it = round / 4 % 4 ? &spoilt : &whole;
		void *bytes;

		if (spoil_it == &spoilt)
			size = spoil(words, size);
		/* Allocate exactly the claimed number of bytes, aligned as records are. */
		bytes = malloc(size);
		if (!bytes && size)
			fail("no memory");
		memcpy(bytes, words, size);
		judge(format, bytes, size, spoil_it);
		free(bytes);
	}
	printf("%llu records, and %llu among bytes that were changed\n",
	       (unsigned long long)whole, (unsigned long long)spoilt);

	return sum == 1;
}
