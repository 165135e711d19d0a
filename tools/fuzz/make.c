// SPDX-License-Identifier: GPL-2.0-only
/*
 * make.c - cases, made from the ABI: most are what a program may want, some have a
 * mistake or two
 */
#include <stddef.h>
#include <string.h>

#include "fuzz.h"
#include "ktap.h"

/**
 * struct choice - one of several things, some likelier than others
 * @value: which
 * @weight: how much likelier
 */
struct choice {
	u64 value;
	unsigned int weight;
};

static u64 choose(struct fuzz_rng *rng, const struct choice *choices, unsigned int nr)
{
	unsigned int sum = 0, i;
	u64 at;

	for (i = 0; i < nr; i++)
		sum += choices[i].weight;
	at = fuzz_below(rng, sum);
	for (i = 0; at >= choices[i].weight; i++)
		at -= choices[i].weight;
	return choices[i].value;
}

static const struct choice types[] = {
	{ FUZZ_HARDWARE, 25 }, { FUZZ_CACHE, 10 }, { FUZZ_RAW, 18 }, { FUZZ_OWN, 30 },
	{ FUZZ_EXTENDED, 6 }, { FUZZ_SOFTWARE, 7 }, { FUZZ_BREAKPOINT, 2 }, { FUZZ_BOGUS, 2 },
};

static const struct choice codes[] = {
	{ FUZZ_CYCLES, 25 }, { FUZZ_INSTRUCTIONS, 40 }, { FUZZ_BRANCHES, 20 },
	{ FUZZ_SILENT, 10 }, { FUZZ_ZERO, 5 },
};

/* Bits of an event select (x86) or of what comes after the number of the event (arm64) */
static u64 odd_config(struct fuzz_rng *rng)
{
	static const unsigned int named[] = {
		8, 16, 17, 18, 19, 20, 21, 22, 23, 24, 32, 33, 36, 37
	};

	switch (fuzz_below(rng, 4)) {
	case 0:
		return fuzz_edge(rng);
	case 1:
		return fuzz_below(rng, 256) << 8;
	case 2:
		return fuzz_below(rng, 0x400);
	default:
		return 1ULL << named[fuzz_below(rng, ARRAY_SIZE(named))];
	}
}

static u64 make_config(struct fuzz_event *event, struct fuzz_rng *rng)
{
	switch (event->type) {
	case FUZZ_HARDWARE:
	case FUZZ_EXTENDED:
		return fuzz_below(rng, fuzz_percent(rng, 10) ? 16 : 6);
	case FUZZ_CACHE:
		if (fuzz_percent(rng, 70))
			return fuzz_below(rng, 2) << 16;
		return fuzz_below(rng, 9) | fuzz_below(rng, 4) << 8 | fuzz_below(rng, 3) << 16;
	case FUZZ_SOFTWARE:
		return fuzz_below(rng, 13);
	case FUZZ_BREAKPOINT:
		event->attr.bp_type = 1 + fuzz_below(rng, 7);
		event->attr.bp_len = 1U << fuzz_below(rng, 4);
		event->attr.bp_addr = 0x1000;
		return 0;
	case FUZZ_BOGUS:
		return fuzz_random(rng);
	default:
		event->code = choose(rng, codes, ARRAY_SIZE(codes));
		return fuzz_percent(rng, 15) ? odd_config(rng) : 0;
	}
}

static const struct choice periods[] = {
	{ 100000, 20 }, { 20000, 20 }, { 30011, 10 }, { 50000, 10 }, { 1 << 20, 5 },
	{ 1000, 5 }, { 100, 4 }, { 2, 2 }, { 1, 2 }, { 1ULL << 31, 2 }, { 1ULL << 32, 2 },
	{ 1ULL << 47, 2 }, { (1ULL << 63) - 1, 2 }, { 1ULL << 62, 2 },
};

static const struct choice frequencies[] = {
	{ 1000, 10 }, { 4000, 10 }, { 100, 5 }, { 1, 2 }, { 100000, 2 }, { 1000000000, 2 },
};

static const u64 sample_types[] = {
	PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ADDR, PERF_SAMPLE_READ,
	PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_PERIOD,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_RAW, PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_TRANSACTION,
	PERF_SAMPLE_DATA_SRC, PERF_SAMPLE_WEIGHT, PERF_SAMPLE_PHYS_ADDR, PERF_SAMPLE_CGROUP,
	PERF_SAMPLE_DATA_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE,
};

static void make_sampling(struct perf_event_attr *attr, struct fuzz_rng *rng)
{
	unsigned int i, nr = 1 + fuzz_below(rng, 4);

	if (fuzz_percent(rng, 15)) {
		attr->freq = 1;
		attr->sample_freq = choose(rng, frequencies, ARRAY_SIZE(frequencies));
	} else {
		attr->sample_period = choose(rng, periods, ARRAY_SIZE(periods));
	}
	for (i = 0; i < nr; i++)
		attr->sample_type |= sample_types[fuzz_below(rng, ARRAY_SIZE(sample_types))];
	if (fuzz_percent(rng, 10))
		attr->branch_sample_type = 1ULL << fuzz_below(rng, 20) | fuzz_below(rng, 8);
	if (attr->branch_sample_type && fuzz_percent(rng, 90))
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	if (fuzz_percent(rng, 10)) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = fuzz_percent(rng, 70) ? 0x1ff : fuzz_edge(rng);
	}
	if (fuzz_percent(rng, 5)) {
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
		attr->sample_regs_intr = fuzz_percent(rng, 70) ? 0x1ff : fuzz_edge(rng);
	}
	if (fuzz_percent(rng, 5)) {
		attr->sample_type |= PERF_SAMPLE_STACK_USER;
		attr->sample_stack_user = fuzz_percent(rng, 70) ? 512 : fuzz_edge(rng);
	}
	attr->wakeup_events = fuzz_percent(rng, 50) ? fuzz_below(rng, 4) : 0;
	attr->sample_id_all = fuzz_percent(rng, 50);
	attr->mmap = fuzz_percent(rng, 10);
	attr->comm = fuzz_percent(rng, 10);
	attr->task = fuzz_percent(rng, 10);
	attr->context_switch = fuzz_percent(rng, 5);
}

/* Bits of the flags of struct perf_event_attr, by their place in the word */
#define FLAGS_WORD	5
#define FLAGS_BITS	38
#define FLAG_PRECISE	15

/* One thing that few programs want, or none. */
static void make_odd(struct fuzz_event *event, struct fuzz_rng *rng)
{
	struct perf_event_attr *attr = &event->attr;

	switch (fuzz_below(rng, 24)) {
	case 0:
	case 1:
	case 2:
		event->words[FLAGS_WORD] ^= 1ULL << fuzz_below(rng, FLAGS_BITS);
		break;
	case 3:
		event->words[FLAGS_WORD] |= fuzz_below(rng, 4) << FLAG_PRECISE;
		break;
	case 4:
		event->words[FLAGS_WORD] |= 1ULL << fuzz_below(rng, 64);
		break;
	case 5:
		attr->config1 = fuzz_percent(rng, 50) ? fuzz_below(rng, 8) : fuzz_edge(rng);
		break;
	case 6:
		attr->config2 = fuzz_edge(rng);
		break;
	case 7:
		event->words[FUZZ_CONFIG3] = fuzz_edge(rng);
		attr->size = FUZZ_ATTR_VER8;
		break;
	case 8:
		attr->size = fuzz_percent(rng, 50) ? 64 + 8 * fuzz_below(rng, 16) : fuzz_edge(rng);
		break;
	case 9:
		attr->sample_type |= 1ULL << fuzz_below(rng, 30);
		break;
	case 10:
		attr->read_format = fuzz_edge(rng);
		break;
	case 11:
		event->cpu = 0;
		break;
	case 12:
		event->cpu = fuzz_percent(rng, 50) ? FUZZ_BAD_CPU : -2;
		break;
	case 13:
		event->pid = FUZZ_ALL;
		event->cpu = fuzz_percent(rng, 85) ? 0 : -1;
		break;
	case 14:
		event->pid = FUZZ_CHILD;
		break;
	case 15:
		event->pid = FUZZ_GONE;
		break;
	case 16:
		event->flags = fuzz_percent(rng, 60) ? PERF_FLAG_FD_CLOEXEC : fuzz_below(rng, 32);
		break;
	case 17:
		event->group = FUZZ_BAD_GROUP;
		break;
	case 18:
		attr->use_clockid = 1;
		attr->clockid = fuzz_percent(rng, 70) ? fuzz_below(rng, 12) : fuzz_edge(rng);
		break;
	case 19:
		attr->sample_period = fuzz_edge(rng);
		break;
	case 20:
		attr->branch_sample_type = fuzz_edge(rng);
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		break;
	case 21:
		attr->sample_max_stack = fuzz_percent(rng, 50) ? fuzz_below(rng, 200) :
							 fuzz_edge(rng);
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		break;
	case 22:
		/* SIGTRAP asks for remove_on_exec. */
		attr->sigtrap = 1;
		attr->remove_on_exec = fuzz_percent(rng, 85);
		attr->sig_data = fuzz_random(rng);
		break;
	case 23:
		attr->aux_watermark = fuzz_edge(rng);
		break;
	}
}

void fuzz_make_event(struct fuzz_event *event, struct fuzz_rng *rng, bool sampling)
{
	struct perf_event_attr *attr = &event->attr;
	unsigned int odd = fuzz_below(rng, 100);

	memset(event, 0, sizeof(*event));
	event->pid = FUZZ_SELF;
	event->cpu = -1;
	event->group = FUZZ_NO_GROUP;
	event->code = FUZZ_ZERO;
	event->type = choose(rng, types, ARRAY_SIZE(types));
	attr->size = PERF_ATTR_SIZE_VER7;
	attr->config = make_config(event, rng);
	attr->disabled = fuzz_percent(rng, 85);
	attr->exclude_kernel = fuzz_percent(rng, 85);
	attr->exclude_hv = fuzz_percent(rng, 80);
	attr->exclude_user = fuzz_percent(rng, 3);
	attr->exclude_idle = fuzz_percent(rng, 2);
	attr->exclude_host = fuzz_percent(rng, 2);
	attr->exclude_guest = fuzz_percent(rng, 25);
	attr->pinned = fuzz_percent(rng, 5);
	attr->exclusive = fuzz_percent(rng, 3);
	attr->inherit = fuzz_percent(rng, 12);
	attr->inherit_stat = fuzz_percent(rng, 3);
	attr->enable_on_exec = fuzz_percent(rng, 5);
	if (fuzz_percent(rng, 60))
		attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
				    PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (fuzz_percent(rng, 40))
		attr->read_format |= fuzz_below(rng, 32);
	if (sampling)
		make_sampling(attr, rng);
	if (odd < 30)
		make_odd(event, rng);
	if (odd < 6)
		make_odd(event, rng);
}

static const struct choice op_kinds[] = {
	{ FUZZ_ENABLE, 10 }, { FUZZ_DISABLE, 8 }, { FUZZ_RESET, 6 }, { FUZZ_ENABLE_GROUP, 4 },
	{ FUZZ_DISABLE_GROUP, 4 }, { FUZZ_RESET_GROUP, 2 }, { FUZZ_LOOP, 18 },
	{ FUZZ_FORK_LOOP, 1 }, { FUZZ_CHILD_LOOP, 2 }, { FUZZ_CHILD_EXEC, 1 }, { FUZZ_READ, 14 },
	{ FUZZ_READ_SHORT, 2 }, { FUZZ_REFRESH, 2 }, { FUZZ_PERIOD, 5 }, { FUZZ_SET_OUTPUT, 4 },
	{ FUZZ_SET_FILTER, 1 }, { FUZZ_ID, 2 }, { FUZZ_SET_BPF, 2 }, { FUZZ_QUERY_BPF, 1 },
	{ FUZZ_PAUSE_OUTPUT, 2 }, { FUZZ_MODIFY, 2 }, { FUZZ_UNKNOWN_IOCTL, 1 },
	{ FUZZ_MMAP, 8 }, { FUZZ_MMAP_READ_ONLY, 2 }, { FUZZ_MMAP_AUX, 1 }, { FUZZ_MUNMAP, 3 },
	{ FUZZ_DRAIN, 6 }, { FUZZ_USER_READ, 6 }, { FUZZ_POLL, 3 }, { FUZZ_ASYNC, 2 },
	{ FUZZ_PRCTL_DISABLE, 1 }, { FUZZ_PRCTL_ENABLE, 2 }, { FUZZ_CLOSE, 3 },
};

static const struct choice loops[] = {
	{ 1, 20 }, { 1000, 40 }, { 10000, 20 }, { 100000, 20 },
};

static u64 make_arg(enum fuzz_op_kind kind, struct fuzz_rng *rng, unsigned int nr_events)
{
	switch (kind) {
	case FUZZ_LOOP:
	case FUZZ_FORK_LOOP:
		return choose(rng, loops, ARRAY_SIZE(loops));
	case FUZZ_READ_SHORT:
		return fuzz_below(rng, 40);
	case FUZZ_REFRESH:
		return fuzz_percent(rng, 80) ? fuzz_below(rng, 5) : fuzz_edge(rng);
	case FUZZ_PERIOD:
		return fuzz_percent(rng, 60) ? choose(rng, periods, ARRAY_SIZE(periods)) :
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
	op->kind = choose(rng, op_kinds, ARRAY_SIZE(op_kinds));
	op->event = fuzz_below(rng, nr_events);
	op->arg = make_arg(op->kind, rng, nr_events);
}

static void add_op(struct fuzz_case *fuzz, enum fuzz_op_kind kind, unsigned int event, u64 arg)
{
	fuzz->ops[fuzz->nr_ops++] = (struct fuzz_op) { kind, event, arg };
}

/* A group: siblings on leader and task of the first, and mostly of the PMU. */
static void make_group(struct fuzz_case *fuzz, struct fuzz_rng *rng)
{
	unsigned int i;

	fuzz->nr_events = 2 + fuzz_below(rng, fuzz_percent(rng, 30) ? FUZZ_EVENTS - 1 : 4);
	for (i = 0; i < fuzz->nr_events; i++) {
		struct fuzz_event *event = &fuzz->events[i];

		fuzz_make_event(event, rng, fuzz_percent(rng, 5));
		if (!i)
			continue;
		event->attr.disabled = fuzz_percent(rng, 8);
		if (event->group == FUZZ_NO_GROUP)
			event->group = fuzz_percent(rng, 97) ? 0 : (int)fuzz_below(rng, i);
		if (fuzz_percent(rng, 95)) {
			event->pid = fuzz->events[0].pid;
			event->cpu = fuzz->events[0].cpu;
			event->attr.pinned = 0;
			event->attr.exclusive = 0;
			event->attr.inherit = fuzz->events[0].attr.inherit;
		}
	}
	add_op(fuzz, FUZZ_ENABLE_GROUP, 0, 0);
	add_op(fuzz, FUZZ_LOOP, 0, choose(rng, loops, ARRAY_SIZE(loops)));
	add_op(fuzz, FUZZ_DISABLE_GROUP, 0, 0);
	for (i = 0; i < fuzz->nr_events; i++)
		add_op(fuzz, FUZZ_READ, i, 0);
}

void fuzz_make_case(struct fuzz_case *fuzz, u64 seed, u64 number)
{
	struct fuzz_rng rng = { .state = seed * 0x100000001b3ULL + number * 0x9e3779b9ULL };
	unsigned int kind, nr;

	fuzz->nr_events = 0;
	fuzz->nr_ops = 0;
	kind = fuzz_below(&rng, 100);
	if (kind < 20) {
		make_group(fuzz, &rng);
		return;
	}
	fuzz->nr_events = kind < 75 ? 1 : 1 + fuzz_below(&rng, 3);
	for (nr = 0; nr < fuzz->nr_events; nr++)
		fuzz_make_event(&fuzz->events[nr], &rng, kind >= 50 && fuzz_percent(&rng, 70));
	if (kind < 50) {
		add_op(fuzz, FUZZ_ENABLE, 0, 0);
		add_op(fuzz, FUZZ_LOOP, 0, choose(&rng, loops, ARRAY_SIZE(loops)));
		add_op(fuzz, FUZZ_DISABLE, 0, 0);
		add_op(fuzz, FUZZ_READ, 0, 0);
	} else if (kind < 75) {
		add_op(fuzz, FUZZ_MMAP, 0, 1ULL << fuzz_below(&rng, 5));
		add_op(fuzz, FUZZ_ENABLE, 0, 0);
		add_op(fuzz, FUZZ_LOOP, 0, 100000);
		add_op(fuzz, FUZZ_DISABLE, 0, 0);
		add_op(fuzz, FUZZ_DRAIN, 0, 0);
		add_op(fuzz, FUZZ_READ, 0, 0);
	} else {
		for (nr = 4 + fuzz_below(&rng, FUZZ_OPS - 4); nr; nr--)
			fuzz_make_op(&fuzz->ops[fuzz->nr_ops++], &rng, fuzz->nr_events);
	}
}
