// SPDX-License-Identifier: GPL-2.0-only
/*
 * race.c - CPUs, threads and tasks at once: no count or time goes backwards, no event runs longer
 * than it is enabled, and counting works afterwards
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "judge/validate.h"

#define MAX_CPUS	8
#define PERIOD		200000
/* So short that an event overflows many times while other events open and close */
#define SHORT_PERIOD	10000

/* Properties of an event */
#define SAMPLES		1
#define INHERITED_TOO	2
#define STOPPED		4
#define KERNEL_TOO	8
#define OFTEN		16
#define CYCLES		32
/* Every second event counts cycles, which may have a counter of their own. */
#define KIND(i)		((i) & 1 ? CYCLES : 0)

static int cpus[MAX_CPUS], nr_cpus;
/* Events that several threads use, one per CPU */
static int shared[MAX_CPUS];

static int open_racing(pid_t pid, int cpu, unsigned int how)
{
	struct perf_event_attr attr;
	int fd;

	if ((how & CYCLES) && (pmu.has & NEED_CYCLES))
		attr_cycles(&attr);
	else
		attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	attr.disabled = !!(how & STOPPED);
	attr.inherit = !!(how & INHERITED_TOO);
	if ((how & (SAMPLES | OFTEN)) && (pmu.has & NEED_SAMPLING))
		attr.sample_period = how & OFTEN ? SHORT_PERIOD : PERIOD;
	if ((how & KERNEL_TOO) && (pmu.has & NEED_KERNEL))
		attr.exclude_kernel = 0;
	fd = event_open(&attr, pid, cpu, -1, 0);
	expect_or_say(fd >= 0, "an event of task %d on CPU %d: expected a descriptor, got %s",
		      pid, cpu, strerror(-fd));
	return fd;
}

static bool advances(const int *fds, struct event_times *last, int nr)
{
	struct event_times now = { 0 };

	for (int i = 0; i < nr; i++) {
		if (!event_read_times(fds[i], &now) ||
		    !expect_or_say(now.count >= last[i].count && now.enabled >= last[i].enabled &&
				   now.running >= last[i].running && now.running <= now.enabled,
				   "count or time decreased, or running > enabled: got %llu/%llu/%llu after %llu/%llu/%llu",
				   (unsigned long long)now.count, (unsigned long long)now.enabled,
				   (unsigned long long)now.running,
				   (unsigned long long)last[i].count,
				   (unsigned long long)last[i].enabled,
				   (unsigned long long)last[i].running))
			return false;
		last[i] = now;
	}
	return true;
}

/* Return the least count of a loop: a CPU may execute several instructions in a cycle. */
static u64 least_of(u64 instructions, unsigned int how)
{
	return how & CYCLES ? instructions / 20 : instructions;
}

/* Expect each CPU to count after a race, by an event of the CPU if permitted, else of this task. */
static void expect_each_cpu_counts(void)
{
	pid_t pid = pmu.has & NEED_CPU_WIDE ? -1 : 0;
	struct event_times times = { 0 };
	int fd;

	for (int i = 0; i < 2 * nr_cpus; i++) {
		run_on(cpus[i / 2]);
		fd = open_racing(pid, cpus[i / 2], STOPPED | KIND(i));
		if (fd < 0)
			continue;
		event_run_loop(fd, ITERATIONS / 10);
		event_read_times(fd, &times);
		expect_range("counts of a CPU afterwards", least_of(LOOP / 10, KIND(i)),
			     1000 * LOOP, times.count);
		expect_eq("time running of a single event", times.enabled, times.running);
		close(fd);
	}
}

/* Run @work in @nr threads. Each thread gets its index, and returns how many errors it had. */
static void run_threads(void *(*work)(void *), unsigned long nr)
{
	pthread_t threads[MAX_CPUS];
	void *wrong;

	for (unsigned long i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (unsigned long i = 0; i < nr; i++) {
		pthread_join(threads[i], &wrong);
		expect_eq("errors of a thread", 0, (long)wrong);
	}
}

static volatile bool busy;
static pthread_t busy_threads[MAX_CPUS];

static void *be_busy(void *i)
{
	run_on(cpus[(unsigned long)i]);
	while (busy) {
		known_loop(10000);
		getppid();
	}
	return NULL;
}

static void keep_busy(bool start)
{
	busy = start;
	for (long i = 0; i < nr_cpus; i++) {
		if (start)
			pthread_create(&busy_threads[i], NULL, be_busy, (void *)i);
		else
			pthread_join(busy_threads[i], NULL);
	}
}

/*
 * Run twice as many events as counters in a task that moves from CPU to CPU. @others: number of
 * events of each CPU, which take counters first
 */
static void move_in_turns(int others)
{
	int fds[MANY], nr = 2 * pmu.group < MANY ? 2 * pmu.group : MANY, ran = 0, i;
	struct event_times last[MANY] = { 0 };
	int least = (int)pmu.group > others ? pmu.group - others : 1;
	u64 sum = 0;

	for (i = 0; i < nr; i++)
		fds[i] = open_racing(0, -1, KIND(i));
	for (i = 0; i < 200; i++) {
		run_on(cpus[rand() % nr_cpus]);
		known_loop(30000);
		if (!advances(fds, last, nr))
			break;
	}
	for (i = 0; i < nr; i++) {
		sum += last[i].count;
		ran += last[i].running > 0;
	}
	expect_range("counts of all events", least_of(LOOP_INSNS * 30000, CYCLES), INT64_MAX, sum);
	expect_range("events that counted", least, nr, ran);
	close_all(fds, nr);
}

static void turns_move(void)
{
	nr_cpus = usable_cpus(cpus, MAX_CPUS);
	move_in_turns(0);
	expect_each_cpu_counts();
}

/* Maximum of a CPU's events, which perf core schedules before events of tasks */
#define CROWD	4

static void turns_beside_cpus(void)
{
	struct event_times last[CROWD * MAX_CPUS] = { 0 };
	/* One counter at least is left for the task. */
	int crowd = pmu.group > CROWD ? CROWD : pmu.group > 1 ? pmu.group - 1 : 1;
	int fds[CROWD * MAX_CPUS], i;

	nr_cpus = usable_cpus(cpus, MAX_CPUS);
	for (i = 0; i < crowd * nr_cpus; i++)
		fds[i] = open_racing(-1, cpus[i % nr_cpus],
				     KERNEL_TOO | KIND(i / nr_cpus) |
				     (i / nr_cpus < crowd / 2 ? SAMPLES : 0));
	keep_busy(true);
	for (i = 0; i < 5; i++) {
		move_in_turns(crowd);
		advances(fds, last, crowd * nr_cpus);
	}
	keep_busy(false);
	close_all(fds, crowd * nr_cpus);
	expect_each_cpu_counts();
}

static void *refresh_and_move(void *nr)
{
	int fd = open_racing(0, -1, SAMPLES | STOPPED | KIND((unsigned long)nr)), i, j;
	struct event_times now = { 0 };
	unsigned long wrong = fd < 0;
	u64 last;

	for (i = 1; i <= 20 && fd >= 0; i++) {
		ioctl(fd, PERF_EVENT_IOC_REFRESH, 2);
		/* The second overflow disables the event: the count then stays the same. */
		for (last = 1, j = 0; j < 1000; j++) {
			run_on(cpus[(j + (unsigned long)nr) % nr_cpus]);
			known_loop(50000);
			wrong += read(fd, &now, sizeof(now)) != sizeof(now);
			if (now.count == last && now.count >= 2 * PERIOD * (u64)i)
				break;
			last = now.count;
		}
		wrong += j == 1000;
	}
	close_all(&fd, 1);
	return (void *)wrong;
}

static void refreshed(void)
{
	nr_cpus = usable_cpus(cpus, MAX_CPUS);
	run_threads(refresh_and_move, 6);
	expect_each_cpu_counts();
}

static void *read_remote(void *unused)
{
	struct event_times last[MAX_CPUS] = { 0 }, now;
	unsigned long wrong = 0;

	(void)unused;
	for (int i = 0; i < 60; i++) {
		for (int j = 0; j < nr_cpus; j++) {
			wrong += read(shared[j], &now, sizeof(now)) != sizeof(now) ||
				 now.count < last[j].count;
			last[j] = now;
		}
	}
	return (void *)wrong;
}

static void read_from_elsewhere(void)
{
	struct event_times last[MAX_CPUS] = { 0 };

	nr_cpus = usable_cpus(cpus, MAX_CPUS);
	for (int i = 0; i < nr_cpus; i++)
		shared[i] = open_racing(-1, cpus[i], KERNEL_TOO | KIND(i));
	keep_busy(true);
	run_threads(read_remote, 4);
	keep_busy(false);
	advances(shared, last, nr_cpus);
	for (int i = 0; i < nr_cpus; i++)
		expect_range("counts of a busy CPU", least_of(10000, KIND(i)), INT64_MAX,
			     last[i].count);
	close_all(shared, nr_cpus);
	expect_each_cpu_counts();
}

static void *switch_remote(void *nr)
{
	unsigned int seed = (unsigned long)nr;

	for (int i = 0; i < 400; i++) {
		u64 period = PERIOD + rand_r(&seed) % 65536;
		int fd = shared[rand_r(&seed) % nr_cpus];

		switch (rand_r(&seed) % 4) {
		case 0:
			ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
			break;
		case 1:
			ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
			break;
		case 2:
			ioctl(fd, PERF_EVENT_IOC_PERIOD, &period);
			break;
		default:
			ioctl(fd, PERF_EVENT_IOC_RESET, 0);
		}
	}
	return NULL;
}

static void switched_from_elsewhere(void)
{
	struct event_times last[MAX_CPUS] = { 0 };
	pid_t children[MAX_CPUS];
	int tries;

	nr_cpus = usable_cpus(cpus, MAX_CPUS);
	for (int i = 0; i < nr_cpus; i++) {
		children[i] = fork();
		if (children[i] < 0) {
			ktap_fail("fork: got %s", strerror(errno));
			nr_cpus = i;
			break;
		}
		if (!children[i]) {
			run_on(cpus[i]);
			for (;;)
				known_loop(100000);
		}
		shared[i] = open_racing(children[i], -1, SAMPLES | KIND(i));
	}
	run_threads(switch_remote, 4);
	for (int i = 0; i < nr_cpus; i++) {
		event_enable(shared[i]);
		event_reset(shared[i]);
	}
	for (int i = 0; i < nr_cpus; i++) {
		/* A virtual CPU of a busy host may run late: wait for its first count. */
		for (tries = 0; tries < 1000 && advances(&shared[i], &last[i], 1) && !last[i].count;
		     tries++)
			usleep(10000);
		expect_range("counts afterwards", 1, INT64_MAX, last[i].count);
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
		advances(&shared[i], &last[i], 1);
	}
	close_all(shared, nr_cpus);
	expect_each_cpu_counts();
}

/* Events of every CPU open, count and close while others overflow there again and again. */
static void closed_beside_samples(void)
{
	struct event_times times = { 0 };
	int fd;

	nr_cpus = usable_cpus(cpus, MAX_CPUS);
	for (int i = 0; i < nr_cpus; i++)
		shared[i] = open_racing(-1, cpus[i], KERNEL_TOO | OFTEN | KIND(i));
	keep_busy(true);
	for (int i = 0; i < 200 && !ktap_failed(); i++) {
		int cpu = rand() % nr_cpus;

		fd = open_racing(-1, cpus[cpu], (i & 1 ? OFTEN : 0) | KIND(i / 2));
		if (fd < 0)
			break;
		event_read_times(fd, &times);
		if (i % 8 == 0) {
			close_all(&shared[cpu], 1);
			shared[cpu] = open_racing(-1, cpus[cpu], OFTEN | KIND(i / 8));
		}
		close(fd);
	}
	keep_busy(false);
	close_all(shared, nr_cpus);
	expect_each_cpu_counts();
}

/* Work, and fork three children that do the same, down to a depth. */
static void fork_tree(int depth)
{
	known_loop(2000);
	for (int i = 0; i < 3 && depth; i++) {
		if (!fork()) {
			fork_tree(depth - 1);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static void count_trees(unsigned int how, bool on_cpus)
{
	int fds[MAX_CPUS], nr = on_cpus ? nr_cpus : 1, i;
	struct event_times last[MAX_CPUS] = { 0 };
	u64 sum = 0;

	for (i = 0; i < nr; i++)
		fds[i] = open_racing(0, on_cpus ? cpus[i] : -1, INHERITED_TOO | how);
	fflush(stdout);
	for (i = 0; i < 4; i++) {
		fork_tree(3);
		advances(fds, last, nr);
	}
	for (i = 0; i < nr; i++)
		sum += last[i].count;
	/* Four trees of 1 + 3 + 9 + 27 tasks */
	expect_range("counts of all tasks", least_of(160 * 2000 * LOOP_INSNS, how), INT64_MAX, sum);
	close_all(fds, nr);
}

static void inherited_by_trees(void)
{
	cpu_set_t set;

	nr_cpus = usable_cpus(cpus, MAX_CPUS);
	count_trees(0, false);
	count_trees(CYCLES, false);
	count_trees(SAMPLES | CYCLES, false);
	/* The tasks stay on the CPUs that have an event. */
	CPU_ZERO(&set);
	for (int i = 0; i < nr_cpus; i++)
		CPU_SET(cpus[i], &set);
	sched_setaffinity(0, sizeof(set), &set);
	count_trees(SAMPLES, true);
	count_trees(SAMPLES | CYCLES, true);
	expect_each_cpu_counts();
}

static void closed_while_children_live(void)
{
	pid_t pid;
	int fd;

	nr_cpus = usable_cpus(cpus, MAX_CPUS);
	fflush(stdout);
	for (int i = 0; i < 40; i++) {
		fd = open_racing(0, -1, INHERITED_TOO | (i & 1 ? SAMPLES : 0) | KIND(i / 2));
		pid = fork();
		if (!pid) {
			known_loop(20000);
			fork_tree(1);
			_exit(0);
		}
		known_loop(i * 500 + 1);
		close_all(&fd, 1);
		waitpid(pid, NULL, 0);
	}
	expect_each_cpu_counts();
	expect_sane();
}

/* A task ends while another opens an event on it. */
static void opened_on_the_dying(void)
{
	struct event_times times;
	struct perf_event_attr attr;
	int fd;

	nr_cpus = usable_cpus(cpus, MAX_CPUS);
	fflush(stdout);
	for (int i = 0; i < 300; i++) {
		pid_t pid = fork();

		if (!pid) {
			known_loop(i * 20 + 1);
			_exit(0);
		}
		if ((i & 4) && (pmu.has & NEED_CYCLES))
			attr_cycles(&attr);
		else
			attr_instructions(&attr);
		attr.disabled = 0;
		attr.inherit = i & 1;
		attr.read_format = FORMAT_TIMES;
		if ((i & 2) && (pmu.has & NEED_SAMPLING))
			attr.sample_period = PERIOD;
		known_loop(i * 10 + 1);
		fd = event_open(&attr, pid, -1, -1, 0);
		expect_or_say(fd >= 0 || fd == -ESRCH,
			      "an event on a task that ends: expected a descriptor or ESRCH, got %s",
			      strerror(-fd));
		if (fd >= 0) {
			event_read_times(fd, &times);
			event_disable(fd);
			event_enable(fd);
			close(fd);
		}
		waitpid(pid, NULL, 0);
	}
	expect_each_cpu_counts();
	expect_sane();
}

static const struct check checks[] = {
	{ "machine", "events in turns on a task that migrates", MULTIPLEXED, turns_move,
	  NEED_CPUS, ON_USER },
	{ "machine", "events in turns beside those of all CPUs", MULTIPLEXED, turns_beside_cpus,
	  NEED_CPUS | NEED_CPU_WIDE, ON_USER },
	{ "machine", "PERF_EVENT_IOC_REFRESH of tasks that migrate", REFRESHED, refreshed,
	  NEED_CPUS | NEED_SAMPLING, ON_OVERFLOWS },
	{ "machine", "counts of CPUs read from other CPUs", CPU_WIDE, read_from_elsewhere,
	  NEED_CPUS | NEED_CPU_WIDE },
	{ "machine", "events switched from other CPUs", OTHER_TASK, switched_from_elsewhere,
	  NEED_CPUS },
	{ "machine", "opened and closed beside samples on every CPU", CPU_WIDE,
	  closed_beside_samples, NEED_CPU_WIDE | NEED_SAMPLING },
	{ "machine", "inherited by trees of tasks", INHERITED, inherited_by_trees },
	{ "machine", "closed while children with the event live", INHERITED,
	  closed_while_children_live, 0, ON_USER },
	{ "machine", "opened on a task that ends",
	  MAN "ESRCH: \"Returned if attempting to attach to a process that does not exist.\"",
	  opened_on_the_dying, 0, ON_USER },
};

const struct check_list race_checks = { checks, ARRAY_SIZE(checks) };
