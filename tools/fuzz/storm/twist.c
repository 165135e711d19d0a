// SPDX-License-Identifier: GPL-2.0-only
/*
 * twist.c - changes of cases for a storm
 */
#include "perf_util.h"
#include "storm.h"

/* Keep one in so many slow operations: a fork takes as long as fifty other calls. */
#define SLOW_STAYS		8
#define SHORT_LOOP		1000
#define LONGEST_LOOP		10000

static unsigned int precise, branches;

void twist_init(void)
{
	precise = max_precise();
	branches = branch_records();
}

static void hurry_op(struct fuzz_op *op, struct fuzz_rng *rng)
{
	if (!fuzz_below(rng, SLOW_STAYS))
		return;
	switch (op->kind) {
	case FUZZ_FORK_LOOP:
	case FUZZ_CHILD_LOOP:
	case FUZZ_CHILD_EXEC:
		op->kind = FUZZ_LOOP;
		op->arg = SHORT_LOOP;
		break;
	case FUZZ_LOOP:
		if (op->arg > LONGEST_LOOP)
			op->arg = LONGEST_LOOP;
		break;
	default:
		break;
	}
}

static void ask_for_branches(struct perf_event_attr *attr, struct fuzz_rng *rng)
{
	static const u64 kinds[] = {
		PERF_SAMPLE_BRANCH_ANY, PERF_SAMPLE_BRANCH_ANY, PERF_SAMPLE_BRANCH_ANY_CALL,
		PERF_SAMPLE_BRANCH_ANY_RETURN, PERF_SAMPLE_BRANCH_IND_CALL,
		PERF_SAMPLE_BRANCH_COND, PERF_SAMPLE_BRANCH_CALL, PERF_SAMPLE_BRANCH_IND_JUMP,
		PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_CALL_STACK,
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_TYPE_SAVE,
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_FLAGS |
			PERF_SAMPLE_BRANCH_NO_CYCLES,
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HW_INDEX,
	};

	attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = kinds[fuzz_below(rng, ARRAY_SIZE(kinds))] |
				   PERF_SAMPLE_BRANCH_USER;
	if (!attr->exclude_kernel)
		attr->branch_sample_type |= PERF_SAMPLE_BRANCH_KERNEL;
}

static void twist_event(struct fuzz_event *event, struct fuzz_rng *rng)
{
	struct perf_event_attr *attr = &event->attr;

	if (event->pid == FUZZ_CHILD && fuzz_below(rng, SLOW_STAYS))
		event->pid = FUZZ_SELF;
	/* The leader's buffer, with or without its group. */
	if (event->group >= 0 && fuzz_percent(rng, 5))
		event->flags |= 1 + fuzz_below(rng, PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT);
	if (event->type == FUZZ_SOFTWARE || event->type == FUZZ_BREAKPOINT)
		return;
	if (fuzz_percent(rng, 10))
		attr->config1 |= ARCH_CONFIG1_RDPMC;
	if (!attr->sample_period)
		return;
	if (precise && fuzz_percent(rng, 25))
		attr->precise_ip = 1 + fuzz_below(rng, precise);
	if (branches && fuzz_percent(rng, 25))
		ask_for_branches(attr, rng);
}

void twist_case(struct fuzz_case *fuzz, struct fuzz_rng *rng)
{
	while (fuzz->nr_ops < FUZZ_OPS) {
		fuzz_make_op(&fuzz->ops[fuzz->nr_ops], rng, fuzz->nr_events);
		/* A closed event is of no use for later operations. */
		if (fuzz->ops[fuzz->nr_ops].kind != FUZZ_CLOSE || fuzz->nr_ops >= FUZZ_OPS - 3)
			fuzz->nr_ops++;
	}
	for (unsigned int i = 0; i < fuzz->nr_ops; i++)
		hurry_op(&fuzz->ops[i], rng);
	for (unsigned int i = 0; i < fuzz->nr_events; i++)
		twist_event(&fuzz->events[i], rng);
}
