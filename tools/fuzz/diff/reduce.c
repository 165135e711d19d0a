// SPDX-License-Identifier: GPL-2.0-only
/*
 * reduce.c - remove pieces of a case
 */
#include <stdlib.h>
#include <string.h>

#include "reduce.h"

/* Indexes in struct perf_event_attr: type and size, and the words of single bits */
#define FIRST_WORD	1
#define SAMPLE_TYPE_WORD	3
#define READ_FORMAT_WORD	4
#define FLAGS_WORD	5
#define NO_EVENT	FUZZ_EVENTS

/**
 * struct reducer - state of a walk over the pieces
 * @without: for each piece, whether to remove it, or NULL
 * @nr: number of pieces so far
 */
struct reducer {
	const bool *without;
	unsigned int nr;
};

/* Check whether to remove the next piece. */
static bool goes(struct reducer *reducer)
{
	unsigned int nr = reducer->nr++;

	return reducer->without && nr < REDUCE_MAX_PIECES && reducer->without[nr];
}

static void reduce_word(struct reducer *reducer, u64 *word)
{
	if (*word && goes(reducer))
		*word = 0;
}

static void reduce_bits(struct reducer *reducer, u64 *word)
{
	for (u64 left = *word; left; left &= left - 1)
		if (goes(reducer))
			*word &= ~(left & -left);
}

static void reduce_event(struct reducer *reducer, struct fuzz_event *event)
{
	for (unsigned int i = FIRST_WORD; i < FUZZ_ATTR_WORDS; i++)
		if (i == SAMPLE_TYPE_WORD || i == READ_FORMAT_WORD || i == FLAGS_WORD)
			reduce_bits(reducer, &event->words[i]);
		else
			reduce_word(reducer, &event->words[i]);
	if (event->attr.size != PERF_ATTR_SIZE_VER7 && goes(reducer))
		event->attr.size = PERF_ATTR_SIZE_VER7;
	if (event->pid != FUZZ_SELF && goes(reducer))
		event->pid = FUZZ_SELF;
	if (event->cpu != -1 && goes(reducer))
		event->cpu = -1;
	if (event->group != FUZZ_NO_GROUP && goes(reducer))
		event->group = FUZZ_NO_GROUP;
	if (event->flags && goes(reducer))
		event->flags = 0;
	if (event->user && goes(reducer))
		event->user = 0;
}

static unsigned int new_number(const unsigned int *numbers, u64 nr)
{
	return nr < FUZZ_EVENTS ? numbers[nr] : NO_EVENT;
}

/* Remove events: the remaining ones move up, and operations on removed ones are removed. */
static void remove_events(struct fuzz_case *fuzz, const bool *gone)
{
	unsigned int numbers[FUZZ_EVENTS], nr = 0, i;

	for (i = 0; i < FUZZ_EVENTS; i++)
		numbers[i] = i >= fuzz->nr_events || gone[i] ? NO_EVENT : nr++;
	for (i = 0; i < fuzz->nr_events; i++) {
		struct fuzz_event *event = &fuzz->events[i];

		if (gone[i])
			continue;
		if (event->group >= 0)
			event->group = numbers[event->group] == NO_EVENT ?
				       FUZZ_NO_GROUP : (int)numbers[event->group];
		fuzz->events[numbers[i]] = *event;
	}
	fuzz->nr_events = nr;
	nr = 0;
	for (i = 0; i < fuzz->nr_ops; i++) {
		struct fuzz_op op = fuzz->ops[i];

		op.event = new_number(numbers, op.event);
		if (op.kind == FUZZ_SET_OUTPUT || op.kind == FUZZ_MODIFY)
			op.arg = new_number(numbers, op.arg);
		if (op.event == NO_EVENT || (op.kind == FUZZ_MODIFY && op.arg == NO_EVENT))
			continue;
		fuzz->ops[nr++] = op;
	}
	fuzz->nr_ops = nr;
}

unsigned int reduce_case(struct fuzz_case *fuzz, const bool *without)
{
	struct reducer reducer = { .without = without };
	bool gone[FUZZ_EVENTS] = { false };
	unsigned int i, nr = 0, nr_gone = 0;

	for (i = 1; i < fuzz->nr_events; i++) {
		gone[i] = goes(&reducer);
		nr_gone += gone[i];
	}
	for (i = 0; i < fuzz->nr_ops; i++)
		if (!goes(&reducer))
			fuzz->ops[nr++] = fuzz->ops[i];
	fuzz->nr_ops = nr;
	for (i = 0; i < fuzz->nr_events; i++)
		reduce_event(&reducer, &fuzz->events[i]);
	if (nr_gone)
		remove_events(fuzz, gone);
	return reducer.nr;
}

void reduce_list(struct fuzz_case *fuzz, const char *list)
{
	static bool without[REDUCE_MAX_PIECES];
	char *end;

	memset(without, 0, sizeof(without));
	while (*list) {
		unsigned long piece = strtoul(list, &end, 10);

		if (end == list)
			break;
		if (piece < REDUCE_MAX_PIECES)
			without[piece] = true;
		list = *end == ',' ? end + 1 : end;
	}
	reduce_case(fuzz, without);
}
