// SPDX-License-Identifier: GPL-2.0-only
/*
 * tasks.c - tasks that alternate on a CPU: no stack has another task's branches, and each has its
 * own calls
 *
 * Each task has the code of plain() at its own address, and yields the CPU after every round. The
 * program and its libraries, which all tasks share, have the same address in all tasks. Each task
 * makes a different number of calls.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "branches.h"
#include "task.h"

#define TASKS			3
#define TURNS			4000
#define TASK_PERIOD		2003
#define TASK_PAGES		512

/* On all architectures nothing else is mapped at such addresses. */
#define TASK_CODE(i)		(0x510000000000ULL + ((u64)(i) << 36))
#define TASK_SPAN		(1ULL << 36)

struct tally {
	unsigned int samples;
	unsigned int empty;
	unsigned long own;
	unsigned long others;
	unsigned long kernel;
};

/* Return the task whose code an address belongs to, or -1 for shared code. */
static int task_at(u64 addr)
{
	if (addr < TASK_CODE(0) || addr >= TASK_CODE(TASKS))
		return -1;
	return (addr - TASK_CODE(0)) / TASK_SPAN;
}

static void tally_address(struct tally *t, int task, u64 addr)
{
	int at = task_at(addr);

	if (addr >> 63)
		t->kernel++;
	else if (at == task)
		t->own += at >= 0;
	else if (at >= 0)
		t->others++;
}

static int index_of(const pid_t *pids, u32 tid)
{
	for (int i = 0; i < TASKS; i++)
		if ((u32)pids[i] == tid)
			return i;
	return -1;
}

static void tally_ring(struct ring *ring, const struct perf_event_attr *attr, const pid_t *pids,
		       struct tally *t)
{
	struct sample s;

	while (ring_next_sample(ring, attr, &s)) {
		t->samples++;
		t->empty += !s.nr_branches;
		for (unsigned int n = 0; n < s.nr_branches; n++) {
			tally_address(t, index_of(pids, s.tid), s.branches[n].from);
			tally_address(t, index_of(pids, s.tid), s.branches[n].to);
		}
	}
}

static void take_turns(int fd, int i)
{
	const char *code = mmap((void *)TASK_CODE(i), sysconf(_SC_PAGESIZE), PROT_READ | PROT_EXEC,
				MAP_SHARED | MAP_FIXED, fd, 0);

	if (code == MAP_FAILED)
		_exit(1);
	if (i == TASKS - 1)
		open_page_faults();
	for (unsigned int turn = 0; turn < TURNS; turn++) {
		both(1, code, code);
		sched_yield();
	}
	_exit(0);
}

static void run_tasks(void (*task)(int fd, int i), int fd, pid_t *pids)
{
	int status;

	fflush(NULL);
	for (int i = 0; i < TASKS; i++) {
		pids[i] = fork();
		if (!pids[i])
			task(fd, i);
	}
	for (int i = 0; i < TASKS; i++)
		expect_true("a task that ends", pids[i] > 0 && waitpid(pids[i], &status, 0) > 0 &&
			    !status);
}

static void judge_tasks(pid_t pid, bool inherit)
{
	const size_t len = plain_code_end - plain_code;
	struct perf_event_attr attr;
	struct ring ring = { };
	struct tally t = { };
	pid_t pids[TASKS];
	int fd, code;

	code = memfd_create("plain", 0);
	if (!expect_true("a file in memory", code >= 0 &&
			 write(code, plain_code, len) == (ssize_t)len))
		return;
	expect_true("the first CPU", run_on(0));
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.exclude_kernel = 1;
	attr.inherit = inherit;
	attr.sample_period = TASK_PERIOD;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	fd = event_open(&attr, pid, 0, -1, 0);
	if (expect_true("an event with a branch stack", fd >= 0) &&
	    !ring_map(&ring, fd, TASK_PAGES)) {
		event_enable(fd);
		run_tasks(take_turns, code, pids);
		event_disable(fd);
		tally_ring(&ring, &attr, pids, &t);
		expect_eq("addresses of another task", 0, t.others);
		expect_eq("addresses of the kernel", 0, t.kernel);
		/*
		 * Without notification, the first sample after a switch detects it and has no
		 * records.
		 */
		expect_range("addresses of the task's own",
			     is_notified_of_switches() ? 10000 : 1000, INT32_MAX, t.own);
		expect_range("samples", 500, INT32_MAX, t.samples);
		ktap_diag("%u samples, %u empty; %lu addresses of the task's own",
			  t.samples, t.empty, t.own);
	}
	ring_unmap(&ring);
	if (fd >= 0)
		close(fd);
	close(code);
}

void tasks_of_one(void)
{
	judge_tasks(0, true);
}

void tasks_of_cpu(void)
{
	judge_tasks(-1, false);
}

/* ---- LBR call stacks ---- */

#define CALLS			6

/* Return the number of calls that are open while a task yields the CPU. */
static unsigned int calls_of(int task)
{
	return CALLS + 4 * task;
}

struct calls_tally {
	unsigned int samples;
	unsigned int wrong;
};

/*
 * Check whether a sample in nest() has @calls recursive calls, followed by the calls that led
 * there.
 */
static void tally_calls(struct calls_tally *t, const struct sample *s, unsigned int calls)
{
	unsigned int n;

	if (s->ip < (u64)nest_turn || s->ip >= (u64)nest_turn_end)
		return;
	for (n = 0; n < s->nr_branches && n < calls; n++) {
		const struct perf_branch_entry *e = &s->branches[n];
		const char *from = n + 1 == calls ? nest_first : nest_call;

		if (e->from != (u64)from || e->to != (u64)nest_called)
			break;
	}
	if (n != calls && !t->wrong++)
		ktap_diag("of %u calls, %u in the stack, %u are right", calls,
			  (unsigned int)s->nr_branches, n);
	t->samples++;
}

static bool open_calls(struct perf_event_attr *attr, struct ring *ring, int *fd, int cpu)
{
	attr_init(attr, ARCH_EVENT_INSTRUCTIONS);
	attr->exclude_kernel = 1;
	attr->inherit = cpu >= 0;
	attr->sample_period = TASK_PERIOD;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER;
	ring->page = NULL;
	*fd = event_open(attr, 0, cpu, -1, 0);
	return expect_true("an event with an LBR call stack", *fd >= 0) &&
	       !ring_map(ring, *fd, TASK_PAGES);
}

/* Check the call stack of each sample. @pids is NULL if all samples are of one task. */
static void judge_nested(struct ring *ring, const struct perf_event_attr *attr, const pid_t *pids)
{
	struct calls_tally t = { };
	struct sample s;
	int task;

	while (ring_next_sample(ring, attr, &s)) {
		task = pids ? index_of(pids, s.tid) : 0;
		if (task >= 0)
			tally_calls(&t, &s, calls_of(task));
	}
	expect_eq("samples without the task's calls", 0, t.wrong);
	expect_range("samples", 100, INT32_MAX, t.samples);
	ktap_diag("%u samples", t.samples);
}

static void yield(void)
{
	sched_yield();
}

/* Number of tasks that have ended, in shared memory */
static unsigned int *ended;

/*
 * All tasks end together. The end of a task closes the events in its context, and frees the call
 * stack of the task for which the events were opened.
 */
static void take_nested_turns(int fd, int i)
{
	(void)fd;
	nest(calls_of(i), TURNS, yield);
	__atomic_fetch_add(ended, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(ended, __ATOMIC_SEQ_CST) < TASKS)
		sched_yield();
	_exit(0);
}

/*
 * Since Linux 6.15 the built-in driver counts the users of call stacks in the data of the task for
 * which the event was opened (intel_pmu_lbr_add()). It then looks in the data of the outgoing task
 * (intel_pmu_lbr_save()). After an exchange of contexts that is another task, and nothing is
 * saved.
 */
#define WANTED_BY_ANOTHER_TASK	615

/* Tasks that inherit the same events exchange their contexts at a switch. */
void tasks_calls(void)
{
	struct perf_event_attr attr;
	pid_t pids[TASKS];
	struct ring ring;
	int fd;

	if (!calls_are_followed())
		return;
	if (target.in_tree && target.kernel >= WANTED_BY_ANOTHER_TASK) {
		ktap_skip("the built-in driver saves no stack when contexts are exchanged");
		return;
	}
	ended = mmap(NULL, sizeof(*ended), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (!expect_true("memory of all tasks", ended != MAP_FAILED))
		return;
	expect_true("the first CPU", run_on(0));
	if (open_calls(&attr, &ring, &fd, 0)) {
		event_enable(fd);
		run_tasks(take_nested_turns, -1, pids);
		event_disable(fd);
		judge_nested(&ring, &attr, pids);
	}
	ring_unmap(&ring);
	if (fd >= 0)
		close(fd);
}

static void move(void)
{
	static int cpu;

	cpu = !cpu;
	run_on(cpu);
}

/* The task moves from one CPU to another, and back. */
void mover_calls(void)
{
	struct perf_event_attr attr;
	struct ring ring;
	int fd;

	if (!calls_are_followed())
		return;
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2) {
		ktap_skip("there is one CPU");
		return;
	}
	if (open_calls(&attr, &ring, &fd, -1)) {
		event_enable(fd);
		nest(calls_of(0), TURNS, move);
		event_disable(fd);
		judge_nested(&ring, &attr, NULL);
	}
	ring_unmap(&ring);
	if (fd >= 0)
		close(fd);
	run_on(0);
}
