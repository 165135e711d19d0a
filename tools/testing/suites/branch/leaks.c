// SPDX-License-Identifier: GPL-2.0-only
/*
 * leaks.c - branch stacks and precise samples of a task without privileges show nothing of the
 * kernel, and nothing of another task
 *
 * Four tasks alternate on a CPU. Two have no privileges, and their own events. One has no event.
 * One belongs to root, with a context of perf core that has no event of the PMU under test. Each
 * task has its code and data at its own addresses, and enters the kernel between its rounds. The
 * program itself is at the same address in all tasks and counts as shared.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__
#include <asm/perf_regs.h>
#endif

#include "ring.h"
#include "task.h"

#define TASKS			4
/* Tasks with events, which check their own samples */
#define WATCHERS		2
/* Minimum number of task switches: in all, and with events of the CPU */
#define SWITCHES		100000
#define SWITCHES_BESIDE		20000
/* Rounds of one turn */
#define ROUNDS			20

#define NOBODY			65534

/* On all architectures nothing else is mapped at such addresses. */
#define TASK_CODE(i)		(0x510000000000ULL + ((u64)(i) << 36))
#define TASK_DATA(i)		(TASK_CODE(i) + (1ULL << 35))
#define TASK_SPAN		(1ULL << 36)

/*
 * Instructions or loads per sample. A turn is no multiple of this period, so that samples come at
 * different places of each turn.
 */
#define PERIOD			701
#define PERIOD_PRECISE		97
#define PERIOD_BOTH		509

#define RING_PAGES		256
/* Number of turns after which samples are read: the ring buffer can hold their samples. */
#define LOOK			64

/* Each round has branches and calls, a load and a store. */
void leak_code(unsigned long rounds, u64 *data);
extern const char leak_code_end[], __executable_start[], etext[];

#ifdef __aarch64__
asm(".pushsection .text\n"
"	.balign	64\n"
"	.global	leak_code, leak_code_end\n"
"leak_code:\n"
"	mov	x9, x30\n"
"1:	ldr	x2, [x1]\n"
"	str	x2, [x1, #8]\n"
"	bl	2f\n"
"	subs	x0, x0, #1\n"
"	b.ne	1b\n"
"	ret	x9\n"
"2:	ret\n"
"leak_code_end:\n"
"	.popsection\n");
#else
asm(".pushsection .text\n"
"	.balign	64\n"
"	.global	leak_code, leak_code_end\n"
"leak_code:\n"
"1:	mov	(%rsi), %rax\n"
"	mov	%rax, 8(%rsi)\n"
"	call	2f\n"
"	dec	%rdi\n"
"	jnz	1b\n"
"	ret\n"
"2:	ret\n"
"leak_code_end:\n"
"	.popsection\n");
#endif

/**
 * struct tally - addresses that one task's samples show
 * @samples: samples of all its events
 * @branches: entries of branch stacks
 * @own: addresses of its own code and data
 * @others: addresses of another task
 * @kernel: addresses of the kernel
 * @strange: addresses of code that the task does not have
 * @switches: number of times that the task was scheduled out
 */
struct tally {
	unsigned long samples;
	unsigned long branches;
	unsigned long own;
	unsigned long others;
	unsigned long kernel;
	unsigned long strange;
	unsigned long switches;
};

/**
 * struct shared - memory that all tasks share
 * @ready: number of tasks that have opened their events
 * @tallies: results of each task
 */
struct shared {
	unsigned int ready;
	struct tally tallies[TASKS];
};

static struct shared *shared;

/**
 * struct watch - an event of a task, and its samples
 * @attr: the event's attributes
 * @ring: its samples
 * @fd: the event, or negative if the PMU lacks such events
 */
struct watch {
	struct perf_event_attr attr;
	struct ring ring;
	int fd;
};

enum { BRANCHES, PRECISE, BOTH, WATCHES };

/* Static, since a ring has space for its largest record */
static struct watch watches[WATCHES];

static bool in_span(unsigned int i, u64 addr)
{
	return addr - TASK_CODE(i) < TASK_SPAN;
}

static void tally_address(struct tally *t, unsigned int task, u64 addr, bool code)
{
	bool program = addr >= (u64)__executable_start && addr < (u64)etext;

	for (unsigned int i = 0; i < TASKS; i++) {
		if (!in_span(i, addr))
			continue;
		if (i == task)
			t->own++;
		else if (!t->others++)
			ktap_diag("task %u has %#llx, which is task %u's", task,
				  (unsigned long long)addr, i);
		return;
	}
	if (addr >> 63) {
		if (!t->kernel++)
			ktap_diag("task %u has %#llx", task, (unsigned long long)addr);
	} else if (code && addr && !program && !t->strange++) {
		ktap_diag("task %u has %#llx, and no code there", task, (unsigned long long)addr);
	}
}

static void look(struct watch *w, unsigned int task, struct tally *t)
{
	struct sample s;

	while (ring_next_sample(&w->ring, &w->attr, &s)) {
		t->samples++;
		tally_address(t, task, s.ip, true);
		tally_address(t, task, s.addr, false);
		for (unsigned int n = 0; n < s.nr_regs; n++)
			tally_address(t, task, s.regs[n], false);
		for (unsigned int n = 0; n < s.nr_branches; n++) {
			t->branches++;
			tally_address(t, task, s.branches[n].from, true);
			tally_address(t, task, s.branches[n].to, true);
		}
	}
}

/* ---- events ---- */

static void watch_open(struct watch *w)
{
	w->fd = event_open(&w->attr, 0, -1, -1, 0);
	if (w->fd >= 0 && ring_map(&w->ring, w->fd, RING_PAGES))
		_exit(1);
}

static void want_branches(struct perf_event_attr *attr, u64 kinds)
{
	attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = kinds | PERF_SAMPLE_BRANCH_USER;
}

static void want_precise(struct perf_event_attr *attr)
{
	attr->precise_ip = 2;
	attr->sample_type |= PERF_SAMPLE_ADDR;
#ifdef __x86_64__
	attr->config = 0x81d0;	/* MEM_INST_RETIRED.ALL_LOADS */
	attr->sample_type |= PERF_SAMPLE_REGS_INTR;
	attr->sample_regs_intr = 1ULL << PERF_REG_X86_IP | 1ULL << PERF_REG_X86_SP |
				 1ULL << PERF_REG_X86_SI;
#endif
}

/*
 * The second task uses LBR call stacks if the CPU has them: the driver keeps them while the task
 * is scheduled out.
 */
static void watch_all(unsigned int task)
{
	for (unsigned int i = 0; i < WATCHES; i++) {
		struct perf_event_attr *attr = &watches[i].attr;

		attr_init(attr, ARCH_EVENT_INSTRUCTIONS);
		attr->sample_type = PERF_SAMPLE_IP;
		attr->sample_period = PERIOD;
		if (i == BRANCHES)
			want_branches(attr, task ? PERF_SAMPLE_BRANCH_CALL_STACK :
				      PERF_SAMPLE_BRANCH_ANY);
		if (i == PRECISE || i == BOTH)
			want_precise(attr);
		if (i == PRECISE)
			attr->sample_period = PERIOD_PRECISE;
		if (i == BOTH) {
			want_branches(attr, PERF_SAMPLE_BRANCH_ANY);
			attr->sample_period = PERIOD_BOTH;
		}
		watch_open(&watches[i]);
		if (i == BRANCHES && watches[i].fd < 0) {
			want_branches(attr, PERF_SAMPLE_BRANCH_ANY);
			watch_open(&watches[i]);
		}
	}
	if (watches[BRANCHES].fd < 0)
		_exit(2);
}

static void enable_all(void)
{
	for (unsigned int i = 0; i < WATCHES; i++)
		if (watches[i].fd >= 0)
			event_enable(watches[i].fd);
}

/* Samples of these events are optional. */
static void look_at_all(unsigned int task, struct tally *t)
{
	for (unsigned int i = 0; i < WATCHES; i++)
		if (watches[i].fd >= 0)
			event_disable(watches[i].fd);
	for (unsigned int i = 0; i < WATCHES; i++)
		if (watches[i].fd >= 0)
			look(&watches[i], task, t);
	enable_all();
}

/* ---- tasks ---- */

static void take_turns(unsigned int task, unsigned int turns, int code)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct tally *t = &shared->tallies[task];
	void (*run)(unsigned long rounds, u64 *data);
	u64 *data;

	run = mmap((void *)TASK_CODE(task), page, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED,
		   code, 0);
	data = mmap((void *)TASK_DATA(task), page, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if ((void *)run == MAP_FAILED || data == MAP_FAILED)
		_exit(1);
	if (task == TASKS - 1)
		open_page_faults();
	else if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		_exit(1);
	if (task < WATCHERS)
		watch_all(task);
	/* Opening an event may sleep, and the other tasks would take their turns meanwhile. */
	__atomic_fetch_add(&shared->ready, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&shared->ready, __ATOMIC_SEQ_CST) < TASKS)
		sched_yield();
	if (task < WATCHERS)
		enable_all();
	for (unsigned int turn = 1; turn <= turns; turn++) {
		run(ROUNDS, data);
		getppid();
		run(ROUNDS, data);
		sched_yield();
		if (task < WATCHERS && !(turn % LOOK))
			look_at_all(task, t);
	}
	t->switches = context_switches();
	fflush(NULL);
	_exit(0);
}

/* Use CPU 0 and SCHED_FIFO, so that tasks run strictly in turn. */
static bool wait_in_line(void)
{
	struct sched_param param = { .sched_priority = 1 };

	return run_on(0) && !sched_setscheduler(0, SCHED_FIFO, &param);
}

static void run_tasks(unsigned int switches, int code)
{
	const unsigned int turns = switches / TASKS + 10;
	struct sched_param normal = { 0 };
	struct tally sum = { 0 };
	pid_t pids[TASKS];
	int status;

	memset(shared, 0, sizeof(*shared));
	fflush(NULL);
	expect_true("the first CPU, in line", wait_in_line());
	for (unsigned int i = 0; i < TASKS; i++) {
		pids[i] = fork();
		if (!pids[i])
			take_turns(i, turns, code);
	}
	for (unsigned int i = 0; i < TASKS; i++) {
		if (!expect_true("a task that ends", pids[i] > 0 &&
				 waitpid(pids[i], &status, 0) > 0))
			continue;
		expect_eq("how a task ended", 0, status);
		sum.switches += shared->tallies[i].switches;
		sum.samples += shared->tallies[i].samples;
		sum.branches += shared->tallies[i].branches;
		sum.own += shared->tallies[i].own;
		sum.others += shared->tallies[i].others;
		sum.kernel += shared->tallies[i].kernel;
		sum.strange += shared->tallies[i].strange;
	}
	sched_setscheduler(0, SCHED_OTHER, &normal);
	expect_eq("addresses of the kernel", 0, sum.kernel);
	expect_eq("addresses of another task", 0, sum.others);
	expect_eq("addresses of code that nobody has", 0, sum.strange);
	expect_range("switches of tasks", switches, INT32_MAX, sum.switches);
	expect_range("samples", turns / 2, INT32_MAX, sum.samples);
	/* Without notification, the first sample after a switch detects it and has no records. */
	expect_range("branches", turns, INT32_MAX, sum.branches);
	expect_range("addresses of the task's own", turns, INT32_MAX, sum.own);
	ktap_diag("%lu switches, %lu samples, %lu branches; addresses: %lu own, %lu of others, %lu of the kernel",
		  sum.switches, sum.samples, sum.branches, sum.own, sum.others, sum.kernel);
}

static void judge_beside(struct perf_event_attr *attr)
{
	const size_t len = leak_code_end - (const char *)leak_code;
	int code = memfd_create("code", 0), fd = -1;
	static struct ring ring;

	ring.page = NULL;
	if (!expect_true("a file in memory", code >= 0 &&
			 write(code, (const void *)leak_code, len) == (ssize_t)len))
		return;
	if (attr) {
		fd = event_open(attr, -1, 0, -1, 0);
		if (fd == -EOPNOTSUPP && attr->branch_sample_type) {
			attr->branch_sample_type &= ~PERF_SAMPLE_BRANCH_KERNEL;
			fd = event_open(attr, -1, 0, -1, 0);
		}
		if (fd < 0) {
			ktap_skip("there is no such event of a CPU: %s", strerror(-fd));
			close(code);
			return;
		}
		/* The buffer soon fills up, and the hardware continues. */
		if (!ring_map(&ring, fd, 1))
			event_enable(fd);
	}
	run_tasks(attr ? SWITCHES_BESIDE : SWITCHES, code);
	ring_unmap(&ring);
	if (fd >= 0)
		close(fd);
	close(code);
}

static void alone(void)
{
	judge_beside(NULL);
}

static void init_root(struct perf_event_attr *attr)
{
	attr_init(attr, ARCH_EVENT_INSTRUCTIONS);
	attr->exclude_kernel = 0;
	attr->sample_type = PERF_SAMPLE_IP;
	attr->sample_period = 100003;
}

static void beside_branches(void)
{
	struct perf_event_attr attr;

	init_root(&attr);
	attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER |
				  PERF_SAMPLE_BRANCH_KERNEL;
	judge_beside(&attr);
}

static void beside_precise(void)
{
	struct perf_event_attr attr;

	if (max_precise() < 2) {
		ktap_skip("this PMU has no precise samples");
		return;
	}
	init_root(&attr);
	want_precise(&attr);
	judge_beside(&attr);
}

static const struct ktap_case cases[] = {
	{ "no leak in 100000 switches", alone },
	{ "no leak beside root's branch records of the CPU", beside_branches },
	{ "no leak beside root's precise samples of the CPU", beside_precise },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	/* Debian's value, or lower */
	write_number("/proc/sys/kernel/perf_event_paranoid", 2);
	write_number("/proc/sys/kernel/perf_event_mlock_kb", 65536);
	limit_sample_rate(100000);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
