// SPDX-License-Identifier: GPL-2.0-only
/*
 * branch.c - branch records of samples
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>

#include "observe/observe.h"

#define TYPE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_BRANCH_STACK)

static struct ring ring;

static int open_branches(struct perf_event_attr *attr, u64 branches, bool inherit)
{
	attr_sampling(attr, 10007, TYPE);
	attr->branch_sample_type = branches | PERF_SAMPLE_BRANCH_USER;
	attr->inherit = inherit;
	return open_ring(&ring, attr, 0, inherit ? pmu.cpu : -1);
}

static void youngest_branch(void)
{
	unsigned int nr = 0, longest = 0, loops = 0, places = 0;
	struct perf_event_attr attr;
	struct sample sample;
	int fd = open_branches(&attr, PERF_SAMPLE_BRANCH_ANY, false);

	event_enable(fd);
	one_loop();
	event_disable(fd);
	while (ring_next_sample(&ring, &attr, &sample)) {
		const struct perf_branch_entry *entry = sample.branches;

		if (!sample.nr_branches)
			continue;
		nr++;
		longest = sample.nr_branches > longest ? sample.nr_branches : longest;
		loops += entry->to == (u64)known_loop_start;
		places += sample.ip >= entry->to && sample.ip < entry->to + 16;
	}
	answer("longest stack %u, the first entry is the loop's branch in %s samples", longest,
	       !nr ? "no" : loops * 10 > nr * 9 ? "all" : loops ? "some" : "no");
	answer("the sample lies behind its target in %s", !nr ? "none" :
	       places * 10 > nr * 9 ? "all" : places ? "some" : "none");
}

/* Pipes from the parent to the child, and back */
static int pipes[2][2];

#define TURNS	100

/* Work, and let the other task work: each blocks in a read then. */
static void __attribute__((noinline)) take_turns(int from, int to, bool first)
{
	char byte = 0;

	for (int i = 0; i < TURNS; i++) {
		if ((!first || i) && read(from, &byte, 1) != 1)
			break;
		known_loop(ITERATIONS / TURNS);
		if (write(to, &byte, 1) != 1)
			break;
	}
}

static void __attribute__((noinline)) parent_work(void)
{
	take_turns(pipes[1][0], pipes[0][1], true);
	asm volatile("" ::: "memory");
}

static void __attribute__((noinline)) child_work(void)
{
	take_turns(pipes[0][0], pipes[1][1], false);
	asm volatile("" ::: "memory");
}

struct stacks {
	unsigned int nr, own, other;
};

static void look_at(struct stacks *stacks, const struct sample *sample, u64 own, u64 other)
{
	bool has_own = false, has_other = false;

	for (u64 i = 0; i < sample->nr_branches; i++) {
		has_own |= sample->branches[i].to == own;
		has_other |= sample->branches[i].to == other;
	}
	stacks->nr++;
	stacks->own += has_own;
	stacks->other += has_other;
}

static const char *share(unsigned int part, unsigned int nr)
{
	return !part ? "no" : part * 10 >= nr * 9 ? "all" : part * 2 >= nr ? "most" : "few";
}

static void answer_stacks(const char *task, const struct stacks *stacks)
{
	answer("%s: its own caller in %s samples, the other task's in %s", task,
	       share(stacks->own, stacks->nr), share(stacks->other, stacks->nr));
}

/*
 * The events of a child that inherited all of its parent's are equivalent: when the two tasks take
 * turns, perf core exchanges their contexts instead of scheduling the events.
 */
static void exchanged_contexts(void)
{
	struct stacks parent = { 0 }, child = { 0 };
	struct perf_event_attr attr;
	struct sample sample;
	pid_t pid;
	int fd;

	if (pipe(pipes[0]) || pipe(pipes[1]))
		return;
	fd = open_branches(&attr, PERF_SAMPLE_BRANCH_CALL_STACK, true);
	event_enable(fd);
	pid = fork();
	if (!pid) {
		child_work();
		_exit(0);
	}
	parent_work();
	event_disable(fd);
	waitpid(pid, NULL, 0);
	while (ring_next_sample(&ring, &attr, &sample)) {
		if (sample.ip < (u64)known_loop_start || sample.ip >= (u64)known_loop_end)
			continue;
		if (sample.tid == (u32)pid)
			look_at(&child, &sample, (u64)child_work, (u64)parent_work);
		else
			look_at(&parent, &sample, (u64)parent_work, (u64)child_work);
	}
	answer_stacks("parent", &parent);
	answer_stacks("child", &child);
}

static const struct observation observations[] = {
	{ "branch", "BRANCH_STACK of a loop of two instructions", youngest_branch },
	{ "branch", "call stacks of a parent and its child that exchange contexts",
	  exchanged_contexts },
};

const struct observation_list branch_observations = { observations, ARRAY_SIZE(observations) };
