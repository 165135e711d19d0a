// SPDX-License-Identifier: GPL-2.0-only
/*
 * make.c - random cases: events, and operations on them
 */
#include "fuzz.h"
#include "ktap.h"
#include "make.h"

static const struct fuzz_choice op_kinds[] = {
	{ FUZZ_ENABLE, 10 }, { FUZZ_DISABLE, 8 }, { FUZZ_RESET, 6 }, { FUZZ_ENABLE_GROUP, 4 },
	{ FUZZ_DISABLE_GROUP, 4 }, { FUZZ_RESET_GROUP, 2 }, { FUZZ_LOOP, 15 }, { FUZZ_MEMORY, 5 },
	{ FUZZ_FORK_LOOP, 1 }, { FUZZ_CHILD_LOOP, 2 }, { FUZZ_CHILD_EXEC, 1 },
	{ FUZZ_CHILD_TRACE, 1 }, { FUZZ_READ, 14 },
	{ FUZZ_READ_SHORT, 2 }, { FUZZ_REFRESH, 2 }, { FUZZ_PERIOD, 5 }, { FUZZ_SET_OUTPUT, 4 },
	{ FUZZ_SET_FILTER, 1 }, { FUZZ_ID, 2 }, { FUZZ_SET_BPF, 2 }, { FUZZ_QUERY_BPF, 1 },
	{ FUZZ_PAUSE_OUTPUT, 2 }, { FUZZ_MODIFY, 2 }, { FUZZ_UNKNOWN_IOCTL, 1 },
	{ FUZZ_MMAP, 8 }, { FUZZ_MMAP_READ_ONLY, 2 }, { FUZZ_MMAP_AUX, 1 }, { FUZZ_MUNMAP, 3 },
	{ FUZZ_DRAIN, 6 }, { FUZZ_USER_READ, 6 }, { FUZZ_POLL, 3 }, { FUZZ_ASYNC, 2 },
	{ FUZZ_PRCTL_DISABLE, 1 }, { FUZZ_PRCTL_ENABLE, 2 }, { FUZZ_CLOSE, 3 },
};

static const struct fuzz_choice loops[] = {
	{ 1, 20 }, { 1000, 40 }, { 10000, 20 }, { 100000, 20 },
};

static u64 make_arg(enum fuzz_op_kind kind, struct fuzz_rng *rng, unsigned int nr_events)
{
	switch (kind) {
	case FUZZ_LOOP:
	case FUZZ_MEMORY:
	case FUZZ_FORK_LOOP:
		return fuzz_choose(rng, loops, ARRAY_SIZE(loops));
	case FUZZ_READ_SHORT:
		return fuzz_below(rng, 40);
	case FUZZ_REFRESH:
		return fuzz_percent(rng, 80) ? fuzz_below(rng, 5) : fuzz_edge(rng);
	case FUZZ_PERIOD:
		return fuzz_percent(rng, 60) ? fuzz_choose_period(rng) :
					       fuzz_edge(rng);
	case FUZZ_SET_OUTPUT:
		return fuzz_below(rng, nr_events + 1);
	case FUZZ_MODIFY:
		return fuzz_below(rng, nr_events);
	case FUZZ_MMAP:
	case FUZZ_MMAP_READ_ONLY:
		return fuzz_percent(rng, 85) ? 1ULL << fuzz_below(rng, 5) : fuzz_below(rng, 20);
	default:
		return fuzz_below(rng, 4);
	}
}

void fuzz_make_op(struct fuzz_op *op, struct fuzz_rng *rng, unsigned int nr_events)
{
	op->kind = fuzz_choose(rng, op_kinds, ARRAY_SIZE(op_kinds));
	op->event = fuzz_below(rng, nr_events);
	op->arg = make_arg(op->kind, rng, nr_events);
}

static void add_op(struct fuzz_case *fuzz, enum fuzz_op_kind kind, unsigned int event, u64 arg)
{
	fuzz->ops[fuzz->nr_ops++] = (struct fuzz_op) { kind, event, arg };
}

/* Distance of rows that share counters or registers */
#define NEARBY_ROWS	8

/* Make a sibling: it has the leader and the task of the first event, and mostly its PMU. */
static void make_sibling(struct fuzz_case *fuzz, unsigned int nr, struct fuzz_rng *rng, bool near)
{
	const struct fuzz_event *first = &fuzz->events[0];
	struct fuzz_event *event = &fuzz->events[nr];

	fuzz_make_event(event, rng, fuzz_percent(rng, 10));
	if (near)
		event->row = first->row + fuzz_below(rng, NEARBY_ROWS);
	event->attr.disabled = fuzz_percent(rng, 8);
	if (event->group == FUZZ_NO_GROUP)
		event->group = fuzz_percent(rng, 97) ? 0 : (int)fuzz_below(rng, nr);
	if (fuzz_percent(rng, 95)) {
		event->pid = first->pid;
		event->cpu = first->cpu;
		event->attr.pinned = 0;
		event->attr.exclusive = 0;
		event->attr.inherit = first->attr.inherit;
	}
}

static void make_group(struct fuzz_case *fuzz, struct fuzz_rng *rng)
{
	bool sampling = fuzz_percent(rng, 25), near = fuzz_percent(rng, 50);

	fuzz->nr_events = 2 + fuzz_below(rng, fuzz_percent(rng, 30) ? FUZZ_EVENTS - 1 : 4);
	fuzz_make_event(&fuzz->events[0], rng, sampling);
	for (unsigned int i = 1; i < fuzz->nr_events; i++)
		make_sibling(fuzz, i, rng, near);
	if (sampling)
		add_op(fuzz, FUZZ_MMAP, 0, 16);
	add_op(fuzz, FUZZ_ENABLE_GROUP, 0, 0);
	add_op(fuzz, FUZZ_LOOP, 0, fuzz_choose(rng, loops, ARRAY_SIZE(loops)));
	if (fuzz_percent(rng, 30))
		add_op(fuzz, FUZZ_MEMORY, 0, fuzz_choose(rng, loops, ARRAY_SIZE(loops)));
	if (fuzz->events[0].attr.inherit)
		add_op(fuzz, FUZZ_FORK_LOOP, 0, fuzz_choose(rng, loops, ARRAY_SIZE(loops)));
	add_op(fuzz, FUZZ_DISABLE_GROUP, 0, 0);
	if (sampling)
		add_op(fuzz, FUZZ_DRAIN, 0, 0);
	for (unsigned int i = 0; i < fuzz->nr_events; i++)
		add_op(fuzz, FUZZ_READ, i, 0);
}

/* Number of samples in a run: interrupts take long in a guest. */
#define SOME_SAMPLES	8
#define SOME_ROUNDS	100000

static u64 sampling_rounds(const struct perf_event_attr *attr)
{
	/* A loop of 0 rounds would not end: the loop counts down to zero. */
	if (attr->freq || !attr->sample_period || attr->sample_period > SOME_ROUNDS / SOME_SAMPLES)
		return SOME_ROUNDS;
	return attr->sample_period * SOME_SAMPLES;
}

/* Make a case of one event and its count or samples. */
static void make_one(struct fuzz_case *fuzz, struct fuzz_rng *rng, bool sampling)
{
	u64 rounds;

	fuzz->nr_events = 1;
	if (sampling && fuzz_percent(rng, 65))
		fuzz_make_clean(&fuzz->events[0], rng);
	else
		fuzz_make_event(&fuzz->events[0], rng, sampling);
	rounds = sampling_rounds(&fuzz->events[0].attr);
	if (sampling)
		add_op(fuzz, FUZZ_MMAP, 0, 1ULL << fuzz_below(rng, 7));
	add_op(fuzz, FUZZ_ENABLE, 0, 0);
	if (!sampling || fuzz_percent(rng, 60))
		add_op(fuzz, FUZZ_LOOP, 0, sampling ? rounds :
		       fuzz_choose(rng, loops, ARRAY_SIZE(loops)));
	else
		add_op(fuzz, FUZZ_MEMORY, 0, rounds);
	if (fuzz->events[0].attr.inherit)
		add_op(fuzz, FUZZ_FORK_LOOP, 0, fuzz_choose(rng, loops, ARRAY_SIZE(loops)));
	add_op(fuzz, FUZZ_DISABLE, 0, 0);
	if (sampling)
		add_op(fuzz, FUZZ_DRAIN, 0, 0);
	add_op(fuzz, FUZZ_READ, 0, 0);
}

/* Percentage of cases with groups, counting events and sampling events; the others do anything. */
#define GROUPS		25
#define COUNTING	45
#define SAMPLING	75

static void make_case(struct fuzz_case *fuzz, struct fuzz_rng *rng)
{
	unsigned int kind;

	fuzz->nr_events = 0;
	fuzz->nr_ops = 0;
	kind = fuzz_below(rng, 100);
	if (kind < GROUPS) {
		make_group(fuzz, rng);
		return;
	}
	if (kind < SAMPLING) {
		make_one(fuzz, rng, kind >= COUNTING);
		return;
	}
	fuzz->nr_events = 1 + fuzz_below(rng, 3);
	for (unsigned int nr = 0; nr < fuzz->nr_events; nr++)
		fuzz_make_event(&fuzz->events[nr], rng, fuzz_percent(rng, 70));
	for (unsigned int nr = 4 + fuzz_below(rng, FUZZ_OPS - 4); nr; nr--)
		fuzz_make_op(&fuzz->ops[fuzz->nr_ops++], rng, fuzz->nr_events);
}

/* Percentage of cases whose events a user without privileges opens */
#define BY_USERS		8

/* Flags of few events that make_odd() sets alone; some are valid only together with others. */
static void make_rare(struct perf_event_attr *attr, struct fuzz_rng *rng)
{
	switch (fuzz_below(rng, 60)) {
	case 0:
		attr->watermark = 1;
		attr->wakeup_watermark = fuzz_percent(rng, 80) ? 64U << fuzz_below(rng, 8) :
								 (u32)fuzz_edge(rng);
		break;
	case 1:
		attr->write_backward = 1;
		break;
	case 2:
		attr->inherit = 1;
		attr->inherit_thread = 1;
		break;
	case 3:
		attr->enable_on_exec = 1;
		attr->remove_on_exec = fuzz_percent(rng, 20);
		break;
	case 4:
		attr->inherit = 1;
		attr->read_format |= PERF_FORMAT_GROUP;
		attr->sample_type |= PERF_SAMPLE_READ | PERF_SAMPLE_TID;
		break;
	}
}

void fuzz_make_case(struct fuzz_case *fuzz, u64 seed, u64 number)
{
	struct fuzz_rng rng = { .state = seed * 0x100000001b3ULL + number * 0x9e3779b9ULL };
	unsigned int user = 0, nr;

	make_case(fuzz, &rng);
	if (fuzz_percent(&rng, BY_USERS))
		user = 1 + fuzz_below(&rng, FUZZ_USERS);
	for (nr = 0; nr < fuzz->nr_events; nr++) {
		fuzz->events[nr].user = user;
		make_rare(&fuzz->events[nr].attr, &rng);
	}
}
