// SPDX-License-Identifier: GPL-2.0-only
/*
 * record.c - which records fork, exec, exit, mmap and renaming leave, and in what order
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "observe/observe.h"

static struct ring ring;

/* Set attributes of an event that never overflows: it is for records of tasks and mappings. */
static void attr_records(struct perf_event_attr *attr)
{
	attr_sampling(attr, 1ULL << 40, PERF_SAMPLE_TID);
	attr->sample_id_all = 1;
}

static void rename_self(void)
{
	prctl(PR_SET_NAME, "renamed");
}

static void exec_help(void)
{
	if (freopen("/dev/null", "w", stdout))
		execl("/proc/self/exe", "pmu-validate", "--help", NULL);
	_exit(1);
}

static void *thread_start(void *unused)
{
	return unused;
}

static void start_thread(void)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, thread_start, NULL))
		pthread_join(thread, NULL);
}

static void sleep_once(void)
{
	usleep(1000);
}

static void child_renames(void)
{
	in_child(rename_self);
}

static void child_execs(void)
{
	in_child(exec_help);
}

static void child_loops(void)
{
	in_child(one_loop);
}

/* Enable an event of this task, do @work, and answer with the records. */
static void see(struct perf_event_attr *attr, void (*work)(void))
{
	int fd = open_ring(&ring, attr, 0, attr->inherit ? pmu.cpu : -1);

	event_enable(fd);
	work();
	event_disable(fd);
	answer_records(&ring);
}

void answer_records_of(const struct perf_event_attr *more, void (*work)(void))
{
	struct perf_event_attr attr;

	attr_records(&attr);
	attr_add(&attr, more);
	see(&attr, work);
}

/*
 * Answer with the records of a child with inherit_stat. The other event, which is not inherited,
 * keeps Linux from exchanging the contexts of parent and child.
 */
static void exit_with_stat(void)
{
	struct perf_event_attr attr;

	open_instructions();
	attr_records(&attr);
	attr.task = 1;
	attr.inherit = 1;
	attr.inherit_stat = 1;
	see(&attr, child_loops);
}

static void mark_of_exec(u64 exec)
{
	const struct perf_event_header *header;
	struct perf_event_attr attr;
	int fd;

	attr_records(&attr);
	attr.inherit = 1;
	attr.comm = 1;
	attr.comm_exec = 1;
	fd = open_ring(&ring, &attr, 0, pmu.cpu);
	event_enable(fd);
	in_child(exec ? exec_help : rename_self);
	event_disable(fd);
	while ((header = ring_next(&ring)))
		if (header->type == PERF_RECORD_COMM)
			answer("COMM %s COMM_EXEC",
			       header->misc & PERF_RECORD_MISC_COMM_EXEC ? "with" : "without");
}

static void while_disabled(void)
{
	struct perf_event_attr attr;

	attr_records(&attr);
	attr.comm = 1;
	attr.mmap = 1;
	open_ring(&ring, &attr, 0, -1);
	rename_self();
	answer_records(&ring);
}

static void map_memory(int prot, int more)
{
	size_t size = sysconf(_SC_PAGESIZE);
	void *at = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (more)
		mprotect(at, size, more);
	munmap(at, size);
}

static void map_data(void)
{
	map_memory(PROT_READ, 0);
}

static void map_code(void)
{
	map_memory(PROT_READ | PROT_EXEC, 0);
}

static void make_code(void)
{
	map_memory(PROT_READ, PROT_READ | PROT_EXEC);
}

static void switches(void)
{
	struct perf_event_attr attr;
	const struct perf_event_header *header;
	unsigned int misc;
	int fd;

	attr_records(&attr);
	attr.context_switch = 1;
	fd = open_ring(&ring, &attr, 0, -1);
	event_enable(fd);
	sleep_once();
	event_disable(fd);
	while ((header = ring_next(&ring))) {
		if (header->type != PERF_RECORD_SWITCH)
			continue;
		misc = header->misc;
		answer("SWITCH %s%s", misc & PERF_RECORD_MISC_SWITCH_OUT ? "out" : "in",
		       misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? ", preempted" : "");
	}
}

static void build_ids(void)
{
	const struct perf_event_header *header;
	struct perf_event_attr attr;
	unsigned int with = 0, without = 0;
	int fd;

	attr_records(&attr);
	attr.inherit = 1;
	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.build_id = 1;
	fd = open_ring(&ring, &attr, 0, pmu.cpu);
	event_enable(fd);
	in_child(exec_help);
	event_disable(fd);
	while ((header = ring_next(&ring))) {
		if (header->type != PERF_RECORD_MMAP2)
			continue;
		with += !!(header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
		without += !(header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID);
	}
	answer("MMAP2 %u with build ID, %u without", with, without);
}

static void counting_event(void)
{
	struct perf_event_attr attr;

	attr_instructions(&attr);
	attr.comm = 1;
	see(&attr, rename_self);
}

/* A question for the records that an event with some attributes has of some work */
#define RECORDS(question, work_, ...)	\
	{ "record", question, .work = work_, .attr = { __VA_ARGS__ } }

static const struct observation observations[] = {
	RECORDS("task, inherit: fork and exit of a child", child_loops, .task = 1, .inherit = 1),
	{ "record", "task, inherit, inherit_stat: fork and exit of a child", exit_with_stat },
	RECORDS("task without inherit: fork and exit of a child", child_loops, .task = 1),
	RECORDS("task, inherit: a thread", start_thread, .task = 1, .inherit = 1),
	RECORDS("task, comm, mmap, mmap2, inherit: fork, exec and exit of a child", child_execs,
		.task = 1, .comm = 1, .comm_exec = 1, .mmap = 1, .mmap2 = 1, .inherit = 1),
	RECORDS("comm, inherit: a child renames itself", child_renames, .comm = 1, .inherit = 1),
	{ "record", "comm, comm_exec: COMM of an exec", .look_at = mark_of_exec, .value = true },
	{ "record", "comm, comm_exec: COMM of a renaming",
	  .look_at = mark_of_exec, .value = false },
	{ "record", "comm, mmap: the event is disabled", while_disabled },
	{ "record", "comm: an event without a period", counting_event },
	RECORDS("mmap: data is mapped", map_data, .mmap = 1),
	RECORDS("mmap, mmap_data: data is mapped", map_data, .mmap = 1, .mmap_data = 1),
	RECORDS("mmap: code is mapped", map_code, .mmap = 1),
	RECORDS("mmap, mmap_data: code is mapped", map_code, .mmap = 1, .mmap_data = 1),
	RECORDS("mmap: data becomes code by mprotect()", make_code, .mmap = 1),
	RECORDS("mmap2 without mmap: code is mapped", map_code, .mmap2 = 1),
	{ "record", "context_switch: a task sleeps once", switches },
	RECORDS("namespaces, inherit: an exec of a child", child_execs,
		.namespaces = 1, .inherit = 1),
	{ "record", "build_id: mappings of an exec", build_ids },
};

const struct observation_list record_observations = { observations, ARRAY_SIZE(observations) };
