// SPDX-License-Identifier: GPL-2.0-only
/*
 * event.c - random events by the ABI: most are plausible, some have a mistake or two
 */
#include <string.h>

#include "fuzz.h"
#include "ktap.h"
#include "make.h"

/* Headers before 5.12 lack this bit. */
#define SAMPLE_WEIGHT_STRUCT	(1ULL << 24)

static const struct fuzz_choice types[] = {
	{ FUZZ_HARDWARE, 25 }, { FUZZ_CACHE, 10 }, { FUZZ_RAW, 18 }, { FUZZ_OWN, 30 },
	{ FUZZ_EXTENDED, 6 }, { FUZZ_SOFTWARE, 7 }, { FUZZ_BREAKPOINT, 2 }, { FUZZ_BOGUS, 2 },
};

static const struct fuzz_choice codes[] = {
	{ FUZZ_CYCLES, 12 }, { FUZZ_INSTRUCTIONS, 20 }, { FUZZ_BRANCHES, 12 },
	{ FUZZ_SILENT, 5 }, { FUZZ_ZERO, 4 }, { FUZZ_ROW, 47 },
};

/* Bits of an event select register (x86), or bits above the event number (arm64) */
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
		event->code = fuzz_choose(rng, codes, ARRAY_SIZE(codes));
		event->row = fuzz_below(rng, FUZZ_ROWS);
		return fuzz_percent(rng, 10) ? odd_config(rng) : 0;
	}
}

static const struct fuzz_choice frequencies[] = {
	{ 1000, 10 }, { 4000, 10 }, { 100, 5 }, { 1, 2 }, { 100000, 2 }, { 1000000000, 2 },
};

static const u64 sample_types[] = {
	PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ADDR, PERF_SAMPLE_READ,
	PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_ID, PERF_SAMPLE_CPU, PERF_SAMPLE_PERIOD,
	PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_RAW, PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_TRANSACTION,
	PERF_SAMPLE_DATA_SRC, PERF_SAMPLE_WEIGHT, PERF_SAMPLE_PHYS_ADDR, PERF_SAMPLE_CGROUP,
	PERF_SAMPLE_DATA_PAGE_SIZE, PERF_SAMPLE_CODE_PAGE_SIZE, SAMPLE_WEIGHT_STRUCT,
};

/* Fields whose values belong to a precise sample */
static const u64 precise_types[] = {
	PERF_SAMPLE_ADDR, PERF_SAMPLE_DATA_SRC, PERF_SAMPLE_WEIGHT, SAMPLE_WEIGHT_STRUCT,
	PERF_SAMPLE_PHYS_ADDR, PERF_SAMPLE_TRANSACTION, PERF_SAMPLE_DATA_PAGE_SIZE,
	PERF_SAMPLE_CODE_PAGE_SIZE, PERF_SAMPLE_READ, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_REGS_INTR,
};

/* General registers of both architectures, and XMM registers of x86 */
#define GENERAL_REGS	0x1ffULL
#define XMM_REGS	(~0ULL << 32)

static void make_precise(struct perf_event_attr *attr, struct fuzz_rng *rng)
{
	unsigned int nr = fuzz_below(rng, 4);

	attr->precise_ip = 1 + fuzz_below(rng, 3);
	attr->sample_type |= PERF_SAMPLE_IP;
	while (nr--)
		attr->sample_type |= precise_types[fuzz_below(rng, ARRAY_SIZE(precise_types))];
	/* Only one of the weight bits may be set. */
	if (attr->sample_type & SAMPLE_WEIGHT_STRUCT)
		attr->sample_type &= ~(u64)PERF_SAMPLE_WEIGHT;
	if (attr->sample_type & PERF_SAMPLE_REGS_INTR)
		attr->sample_regs_intr = GENERAL_REGS | (fuzz_percent(rng, 40) ? XMM_REGS : 0);
}

/* Bits of branch_sample_type: levels, types, and details */
#define BRANCH_LEVELS		8
#define BRANCH_FIRST_KIND	3
#define BRANCH_NR_KINDS		11
#define BRANCH_FIRST_DETAIL	14
#define BRANCH_NR_DETAILS	6

static void make_branches(struct perf_event_attr *attr, struct fuzz_rng *rng)
{
	unsigned int nr = 1 + fuzz_below(rng, 3);
	u64 type;

	type = fuzz_percent(rng, 75) ? PERF_SAMPLE_BRANCH_USER : fuzz_below(rng, BRANCH_LEVELS);
	if (fuzz_percent(rng, 45))
		type |= PERF_SAMPLE_BRANCH_ANY;
	else
		while (nr--)
			type |= 1ULL << (BRANCH_FIRST_KIND + fuzz_below(rng, BRANCH_NR_KINDS));
	if (fuzz_percent(rng, 40))
		type |= 1ULL << (BRANCH_FIRST_DETAIL + fuzz_below(rng, BRANCH_NR_DETAILS));
	attr->branch_sample_type = type;
	if (fuzz_percent(rng, 97))
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
}

static const struct fuzz_choice periods[] = {
	{ 100000, 20 }, { 20000, 20 }, { 30011, 10 }, { 50000, 10 }, { 1 << 20, 5 },
	{ 1000, 5 }, { 100, 4 }, { 2, 2 }, { 1, 2 }, { 1ULL << 31, 2 }, { 1ULL << 32, 2 },
	{ 1ULL << 47, 2 }, { (1ULL << 63) - 1, 2 }, { 1ULL << 62, 2 },
};

u64 fuzz_choose_period(struct fuzz_rng *rng)
{
	return fuzz_choose(rng, periods, ARRAY_SIZE(periods));
}

static void make_sampling(struct perf_event_attr *attr, struct fuzz_rng *rng)
{
	unsigned int i, nr = 1 + fuzz_below(rng, 4);

	if (fuzz_percent(rng, 15)) {
		attr->freq = 1;
		attr->sample_freq = fuzz_choose(rng, frequencies, ARRAY_SIZE(frequencies));
	} else {
		attr->sample_period = fuzz_choose_period(rng);
	}
	for (i = 0; i < nr; i++)
		attr->sample_type |= sample_types[fuzz_below(rng, ARRAY_SIZE(sample_types))];
	if (fuzz_percent(rng, 20))
		make_branches(attr, rng);
	if (fuzz_percent(rng, 30))
		make_precise(attr, rng);
	if (fuzz_percent(rng, 10)) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = fuzz_percent(rng, 70) ? GENERAL_REGS : fuzz_edge(rng);
	}
	if (fuzz_percent(rng, 5)) {
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
		attr->sample_regs_intr = fuzz_percent(rng, 70) ? GENERAL_REGS : fuzz_edge(rng);
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

/* Flags of struct perf_event_attr, by their bit in the word */
#define FLAGS_WORD	5
#define FLAGS_BITS	38
#define FLAG_PRECISE	15

/* Add one unusual attribute, or none. */
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
		event->pid = fuzz_percent(rng, 60) ? FUZZ_CHILD : FUZZ_CGROUP;
		if (event->pid == FUZZ_CGROUP)
			event->cpu = fuzz_percent(rng, 90) ? 0 : -1;
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
		/* SIGTRAP requires remove_on_exec. */
		attr->sigtrap = 1;
		attr->remove_on_exec = fuzz_percent(rng, 85);
		attr->sig_data = fuzz_random(rng);
		break;
	case 23:
		attr->aux_watermark = fuzz_edge(rng);
		break;
	}
}

/*
 * Leave out these fields. For them perf core walks the page tables in the NMI. For some kernel
 * addresses perf_get_pgtable_size() never returns, with either driver (Linux 6.12 and 7.3): it
 * takes a page table with unusual flags for a bad one, and reads the same entry again and again.
 */
#define PAGE_SIZES	(PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

void fuzz_make_event(struct fuzz_event *event, struct fuzz_rng *rng, bool sampling)
{
	struct perf_event_attr *attr = &event->attr;
	unsigned int odd = fuzz_below(rng, 100);

	memset(event, 0, sizeof(*event));
	event->pid = FUZZ_SELF;
	event->cpu = -1;
	event->group = FUZZ_NO_GROUP;
	event->code = FUZZ_ZERO;
	event->type = fuzz_choose(rng, types, ARRAY_SIZE(types));
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
	if (!attr->exclude_kernel)
		attr->sample_type &= ~(u64)PAGE_SIZES;
}

static const struct fuzz_choice clean_periods[] = {
	{ 20000, 15 }, { 30011, 15 }, { 50000, 5 }, { 5003, 15 }, { 1000, 15 }, { 997, 5 },
	{ 100, 10 }, { 200003, 5 },
};

static const struct fuzz_choice clean_types[] = {
	{ FUZZ_HARDWARE, 20 }, { FUZZ_CACHE, 5 }, { FUZZ_RAW, 20 }, { FUZZ_OWN, 55 },
};

static const struct fuzz_choice clean_codes[] = {
	{ FUZZ_CYCLES, 15 }, { FUZZ_INSTRUCTIONS, 20 }, { FUZZ_BRANCHES, 20 }, { FUZZ_ROW, 45 },
};

void fuzz_make_clean(struct fuzz_event *event, struct fuzz_rng *rng)
{
	struct perf_event_attr *attr = &event->attr;

	memset(event, 0, sizeof(*event));
	event->pid = FUZZ_SELF;
	event->cpu = -1;
	event->group = FUZZ_NO_GROUP;
	event->type = fuzz_choose(rng, clean_types, ARRAY_SIZE(clean_types));
	event->code = fuzz_choose(rng, clean_codes, ARRAY_SIZE(clean_codes));
	event->row = fuzz_below(rng, FUZZ_ROWS);
	attr->size = PERF_ATTR_SIZE_VER7;
	if (event->type == FUZZ_HARDWARE)
		attr->config = fuzz_below(rng, 6);
	make_sampling(attr, rng);
	attr->freq = 0;
	attr->sample_period = fuzz_choose(rng, clean_periods, ARRAY_SIZE(clean_periods));
	attr->sample_type |= PERF_SAMPLE_IP;
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = fuzz_percent(rng, 50);
	attr->read_format = fuzz_below(rng, 16);
	if (!attr->precise_ip && fuzz_percent(rng, 30))
		make_precise(attr, rng);
	if (!attr->branch_sample_type && fuzz_percent(rng, 10))
		make_branches(attr, rng);
}
