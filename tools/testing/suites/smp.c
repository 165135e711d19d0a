// SPDX-License-Identifier: GPL-2.0-only
/*
 * smp.c - races between CPUs: migration, concurrent use, forks, execs, exits,
 * buffers that come and go, storms elsewhere
 *
 * For the smp lane, where cycles are the host's time: nothing here is exact.
 * What must hold is that counts never go backwards, that events do not run
 * longer than they are enabled, and that everything ends. The guest's runner
 * looks for complaints in the kernel's log.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ring.h"
#include "task.h"

#define MAX_CPUS	8
#define PERIOD		200000

static unsigned int nr_cpus;

/* Whatever hangs is told apart from what is slow. */
static void on_alarm(int sig)
{
	static const char text[] = "# expected an end, got none in 200 seconds\n";

	(void)sig;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(3);
	_exit(2);
}

static unsigned int next_random(u32 *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 16;
}

/* Threads that keep the other CPUs busy until told to stop. */
static pthread_t busy_threads[MAX_CPUS];
static volatile bool busy_stop;

static void *busy(void *arg)
{
	run_on((unsigned long)arg);
	while (!busy_stop) {
		known_loop(10000);
		syscall(SYS_getppid);
	}
	return NULL;
}

static void busy_start(void)
{
	unsigned long cpu;

	busy_stop = false;
	for (cpu = 0; cpu < nr_cpus; cpu++)
		pthread_create(&busy_threads[cpu], NULL, busy, (void *)cpu);
}

static void busy_end(void)
{
	unsigned int cpu;

	busy_stop = true;
	for (cpu = 0; cpu < nr_cpus; cpu++)
		pthread_join(busy_threads[cpu], NULL);
}

static void check_times(const struct event_times *last,
			const struct event_times *now)
{
	if (now->count >= last->count && now->enabled >= last->enabled &&
	    now->running >= last->running && now->running <= now->enabled)
		return;
	ktap_fail("expected a count and its times to advance, got %llu/%llu/%llu after %llu/%llu/%llu",
		  (unsigned long long)now->count,
		  (unsigned long long)now->enabled,
		  (unsigned long long)now->running,
		  (unsigned long long)last->count,
		  (unsigned long long)last->enabled,
		  (unsigned long long)last->running);
}

/* Every CPU counts, all the time that an event is enabled. */
static void every_cpu_counts(void)
{
	struct perf_event_attr attr;
	struct event_times times;
	unsigned int cpu;
	int fd;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		run_on(cpu);
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.read_format = FORMAT_TIMES;
		fd = event_open(&attr, -1, cpu, -1, 0);
		if (fd < 0) {
			ktap_fail("open on CPU %u: got %s", cpu, strerror(-fd));
			continue;
		}
		event_enable(fd);
		known_loop(100000);
		event_disable(fd);
		event_read_times(fd, &times);
		expect_ne("count of a CPU", 0, times.count);
		expect_eq("time running, as enabled", times.enabled,
			  times.running);
		close(fd);
	}
	run_on_first(nr_cpus);
}

static void migrate_counting(void)
{
	struct event_times last = { 0 }, now;
	struct perf_event_attr attr;
	u32 seed = 1;
	int fd, i;

	attr_init(&attr, ARCH_EVENT_CYCLES);
	attr.read_format = FORMAT_TIMES;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	event_enable(fd);
	for (i = 0; i < 400 && !ktap_failed(); i++) {
		run_on(next_random(&seed) % nr_cpus);
		known_loop(5000);
		event_read_times(fd, &now);
		check_times(&last, &now);
		expect_true("a count to advance", now.count > last.count);
		last = now;
	}
	event_disable(fd);
	event_read_times(fd, &now);
	expect_eq("time running, as enabled", now.enabled, now.running);
	run_on_first(nr_cpus);
	close(fd);
}

static void migrate_group(void)
{
	const unsigned int nr = target.all;
	int fds[ARCH_MAX_COUNTERS];
	struct event_times last[ARRAY_SIZE(fds)] = { 0 }, now;
	struct perf_event_attr attr;
	u32 seed = 2;
	unsigned int i, j;

	for (i = 0; i < nr; i++) {
		/* Where not all counters count cycles, the others have instructions. */
		attr_init(&attr, i < target.cycles ? ARCH_EVENT_CYCLES :
			  ARCH_EVENT_INSTRUCTIONS);
		attr.disabled = !i;
		attr.read_format = FORMAT_TIMES;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
		if (fds[i] < 0) {
			close_all(fds, i);
			return;
		}
	}
	event_enable(fds[0]);
	for (i = 0; i < 200 && !ktap_failed(); i++) {
		run_on(next_random(&seed) % nr_cpus);
		known_loop(5000);
		for (j = 0; j < nr; j++) {
			event_read_times(fds[j], &now);
			check_times(&last[j], &now);
			expect_true("a count to advance",
				    now.count > last[j].count);
			last[j] = now;
		}
	}
	event_disable(fds[0]);
	run_on_first(nr_cpus);
	close_all(fds, nr);
}

#define CROWD	4

/* Each CPU has so many events of its own, which come before those of a task. */
static void multiplex_beside(unsigned int others)
{
	struct event_times last[16] = { 0 }, now;
	struct perf_event_attr attr;
	u32 seed = 3;
	unsigned int ran = 0, i, j;
	u64 sum = 0;
	int fds[16];

	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.read_format = FORMAT_TIMES;
		fds[i] = event_open_self(&attr, -1);
		event_enable(fds[i]);
	}
	for (i = 0; i < 200 && !ktap_failed(); i++) {
		run_on(next_random(&seed) % nr_cpus);
		known_loop(30000);
		for (j = 0; j < ARRAY_SIZE(fds); j++) {
			event_read_times(fds[j], &now);
			check_times(&last[j], &now);
			last[j] = now;
		}
	}
	/* How many get a turn depends on how fast the host is. */
	for (j = 0; j < ARRAY_SIZE(fds); j++) {
		ran += !!last[j].running;
		sum += last[j].count;
	}
	if (!ktap_failed())
		expect_range("events that ran",
			     target.counters > others ? target.counters - others : 0,
			     ARRAY_SIZE(fds), ran);
	expect_ne("count of all events", 0, sum);
	run_on_first(nr_cpus);
	close_all(fds, ARRAY_SIZE(fds));
}

static void migrate_multiplexed(void)
{
	multiplex_beside(0);
}

static void migrate_sampling(void)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	struct ring ring = { 0 };
	u32 seed = 4;
	u64 count;
	int fd, i;

	attr_init(&attr, ARCH_EVENT_CYCLES);
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME |
			   PERF_SAMPLE_PERIOD;
	fd = event_open_self(&attr, -1);
	if (fd < 0 || ring_map(&ring, fd, 64))
		return;
	event_enable(fd);
	for (i = 0; i < 300; i++) {
		run_on(next_random(&seed) % nr_cpus);
		known_loop(20000);
		ring_drain(&ring, &attr, &sum);
	}
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	count = event_read(fd);
	expect_range("samples", count / PERIOD - 1, count / PERIOD + 1, sum.samples);
	expect_eq("samples older than the one before", 0, sum.backwards);
	expect_eq("sum of the periods", (u64)sum.samples * PERIOD, sum.periods);
	run_on_first(nr_cpus);
	ring_unmap(&ring);
	close(fd);
}

static void *open_and_close(void *arg)
{
	u32 seed = (unsigned long)arg;
	struct perf_event_attr attr;
	unsigned long bad = 0;
	u64 count;
	int fd, i;

	for (i = 0; i < 150; i++) {
		unsigned int r = next_random(&seed);
		int cpu = r & 1 ? -1 : (int)(r / 2 % nr_cpus);

		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.disabled = 0;
		attr.exclude_kernel = !!(r & 16);
		attr.sample_period = r & 32 ? PERIOD : 0;
		fd = event_open(&attr, cpu < 0 ? 0 : -1, cpu, -1, 0);
		if (fd < 0) {
			bad++;
			continue;
		}
		known_loop(r % 1000 + 1);
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			bad++;
		close(fd);
	}
	return (void *)bad;
}

static void run_threads(void *(*work)(void *), unsigned int nr)
{
	pthread_t threads[16];
	void *bad;
	unsigned long i;

	for (i = 0; i < nr; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (i = 0; i < nr; i++) {
		pthread_join(threads[i], &bad);
		expect_eq("a thread's troubles", 0, (long)bad);
	}
}

static void concurrent_opens(void)
{
	run_threads(open_and_close, 8);
	every_cpu_counts();
}

/* Random operations on descriptors that all threads share. */
#define SHARED		48

static int shared[SHARED];
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;

static void shared_put(unsigned int slot, int fd)
{
	int old;

	pthread_mutex_lock(&shared_lock);
	old = shared[slot];
	shared[slot] = fd;
	pthread_mutex_unlock(&shared_lock);
	if (old >= 0)
		close(old);
}

static int random_open(u32 *seed)
{
	unsigned int r = next_random(seed), s = next_random(seed);
	struct perf_event_attr attr;
	int cpu, group;

	attr_init(&attr, r & 1 ? ARCH_EVENT_CYCLES : ARCH_EVENT_SILENT);
	attr.disabled = !!(r & 2);
	attr.exclude_kernel = !!(r & 4);
	attr.pinned = (r & 0x38) == 0x38;
	attr.exclusive = (r & 0x1c0) == 0x1c0;
	attr.sample_period = r & 0x200 ? PERIOD : 0;
	attr.freq = (r & 0xe00) == 0xe00;
	if (attr.freq)
		attr.sample_freq = 1000;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	attr.inherit = (r & 0x3000) == 0x3000;
	cpu = s & 1 ? -1 : (int)(s / 2 % nr_cpus);
	group = s & 0x100 ? -1 : shared[s / 512 % SHARED];
	return event_open(&attr, cpu < 0 || s & 0x80 ? 0 : -1, cpu, group, 0);
}

static void random_operation(u32 *seed)
{
	unsigned int slot = next_random(seed) % SHARED;
	int fd = shared[slot];
	u64 value = 1000 + next_random(seed) * 100;
	u64 buffer[16];
	void *map;

	switch (next_random(seed) % 14) {
	case 0:
	case 1:
	case 2:
		fd = random_open(seed);
		if (fd >= 0)
			shared_put(slot, fd);
		break;
	case 3:
		shared_put(slot, -1);
		break;
	case 4:
		ioctl(fd, PERF_EVENT_IOC_ENABLE, next_random(seed) & 1);
		break;
	case 5:
		ioctl(fd, PERF_EVENT_IOC_DISABLE, next_random(seed) & 1);
		break;
	case 6:
		ioctl(fd, PERF_EVENT_IOC_RESET, next_random(seed) & 1);
		break;
	case 7:
		ioctl(fd, PERF_EVENT_IOC_PERIOD, &value);
		break;
	case 8:
		ioctl(fd, PERF_EVENT_IOC_REFRESH, 3);
		break;
	case 9:
	case 10:
		if (read(fd, buffer, sizeof(buffer)) < 0)
			value = 0;
		break;
	case 11:
		map = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			   fd, 0);
		known_loop(1000);
		if (map != MAP_FAILED)
			munmap(map, 3 * 4096);
		break;
	case 12:
		prctl(next_random(seed) & 1 ? PR_TASK_PERF_EVENTS_DISABLE :
		      PR_TASK_PERF_EVENTS_ENABLE);
		break;
	case 13:
		run_on(next_random(seed) % nr_cpus);
		break;
	}
	known_loop(500);
}

static void *random_operations(void *arg)
{
	u32 seed = (unsigned long)arg * 7919;
	int i;

	for (i = 0; i < 1500; i++)
		random_operation(&seed);
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	return NULL;
}

static void random_stress(void)
{
	unsigned int i;

	for (i = 0; i < SHARED; i++)
		shared[i] = -1;
	run_threads(random_operations, 6);
	for (i = 0; i < SHARED; i++)
		shared_put(i, -1);
	prctl(PR_TASK_PERF_EVENTS_ENABLE);
	every_cpu_counts();
}

/* Children with children, all of them counted, bounded in number. */
static void breed(unsigned int depth)
{
	pid_t children[3];
	unsigned int i;

	known_loop(2000);
	if (!depth)
		return;
	for (i = 0; i < 3; i++) {
		children[i] = fork();
		if (!children[i]) {
			breed(depth - 1);
			_exit(0);
		}
	}
	for (i = 0; i < 3; i++)
		if (children[i] > 0)
			waitpid(children[i], NULL, 0);
}

static void check_breed(u64 period, bool on_cpus)
{
	struct event_times times, last[MAX_CPUS] = { 0 };
	struct perf_event_attr attr;
	int fds[MAX_CPUS], round;
	unsigned int i, nr = on_cpus ? nr_cpus : 1;
	u64 sum = 0;

	for (i = 0; i < nr; i++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.inherit = 1;
		attr.sample_period = period;
		attr.read_format = FORMAT_TIMES;
		fds[i] = event_open(&attr, 0, on_cpus ? (int)i : -1, -1, 0);
		if (fds[i] < 0) {
			ktap_fail("open: got %s", strerror(-fds[i]));
			close_all(fds, i);
			return;
		}
		event_enable(fds[i]);
	}
	fflush(stdout);
	for (round = 0; round < 4; round++) {
		breed(3);
		for (i = 0; i < nr; i++) {
			event_read_times(fds[i], &times);
			check_times(&last[i], &times);
			last[i] = times;
		}
	}
	for (i = 0; i < nr; i++) {
		event_disable(fds[i]);
		sum += last[i].count;
	}
	expect_ne("count of all generations", 0, sum);
	close_all(fds, nr);
}

static void breed_counting(void)
{
	check_breed(0, false);
}

static void breed_sampling(void)
{
	check_breed(PERIOD, false);
}

static void breed_on_cpus(void)
{
	check_breed(PERIOD, true);
}

/* The event disappears while its children live. */
static void close_under_children(void)
{
	struct perf_event_attr attr;
	pid_t child;
	int fd, i;

	fflush(stdout);
	for (i = 0; i < 40; i++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.inherit = 1;
		attr.disabled = 0;
		attr.sample_period = i & 1 ? PERIOD : 0;
		fd = event_open_self(&attr, -1);
		child = fork();
		if (!child) {
			known_loop(20000);
			breed(1);
			_exit(0);
		}
		known_loop(i * 500 + 1);
		close(fd);
		waitpid(child, NULL, 0);
	}
	every_cpu_counts();
}

static int race_fd;

static void *map_and_unmap(void *arg)
{
	unsigned long bad = 0;
	void *map;
	int i;

	(void)arg;
	for (i = 0; i < 400; i++) {
		map = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
			   race_fd, 0);
		if (map == MAP_FAILED) {
			bad++;
			continue;
		}
		known_loop(500);
		munmap(map, 5 * 4096);
	}
	return (void *)bad;
}

/* The buffer comes and goes while its event overflows. */
static void mapping_races(void)
{
	struct perf_event_attr attr;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		for (;;)
			known_loop(100000);
	}
	attr_init(&attr, ARCH_EVENT_CYCLES);
	attr.disabled = 0;
	attr.sample_period = PERIOD / 4;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME;
	race_fd = event_open(&attr, child, -1, -1, 0);
	if (race_fd < 0)
		ktap_fail("open: got %s", strerror(-race_fd));
	else
		run_threads(map_and_unmap, 4);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(race_fd);
	every_cpu_counts();
}

/* Storms on all CPUs while events on all CPUs open, count and close. */
static void close_in_storms(void)
{
	struct perf_event_attr attr;
	int storms[MAX_CPUS], fd;
	unsigned int cpu;
	u32 seed = 5;
	u64 count;
	int i;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.exclude_kernel = 0;
		attr.disabled = 0;
		attr.sample_period = 10000;
		storms[cpu] = event_open(&attr, -1, cpu, -1, 0);
		if (storms[cpu] < 0)
			ktap_fail("open on CPU %u: got %s", cpu,
				  strerror(-storms[cpu]));
	}
	busy_start();
	for (i = 0; i < 200 && !ktap_failed(); i++) {
		cpu = next_random(&seed) % nr_cpus;
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.disabled = 0;
		attr.sample_period = i & 1 ? 10000 : 0;
		fd = event_open(&attr, -1, cpu, -1, 0);
		if (fd < 0) {
			ktap_fail("open on CPU %u: got %s", cpu, strerror(-fd));
			break;
		}
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			ktap_fail("read on CPU %u: got %s", cpu,
				  strerror(errno));
		if (i % 8 == 0) {
			close(storms[cpu]);
			attr.sample_period = 10000;
			storms[cpu] = event_open(&attr, -1, cpu, -1, 0);
		}
		close(fd);
	}
	busy_end();
	close_all(storms, nr_cpus);
	every_cpu_counts();
}

static void *read_remote(void *arg)
{
	u64 last[MAX_CPUS] = { 0 }, count;
	int *fds = shared;
	unsigned long bad = 0;
	unsigned int cpu;
	int i;

	(void)arg;
	for (i = 0; i < 60; i++) {
		for (cpu = 0; cpu < nr_cpus; cpu++) {
			if (read(fds[cpu], &count, sizeof(count)) !=
			    sizeof(count) || count < last[cpu])
				bad++;
			last[cpu] = count;
		}
	}
	return (void *)bad;
}

/* Several readers of every CPU's count; none may ever see it go backwards. */
static void remote_reads(void)
{
	struct perf_event_attr attr;
	unsigned int cpu;
	u64 count;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.exclude_kernel = 0;
		attr.disabled = 0;
		shared[cpu] = event_open(&attr, -1, cpu, -1, 0);
		if (shared[cpu] < 0)
			ktap_fail("open on CPU %u: got %s", cpu,
				  strerror(-shared[cpu]));
	}
	busy_start();
	run_threads(read_remote, 4);
	busy_end();
	for (cpu = 0; cpu < nr_cpus; cpu++) {
		count = 0;
		if (read(shared[cpu], &count, sizeof(count)) != sizeof(count))
			ktap_fail("read of CPU %u: got %s", cpu, strerror(errno));
		expect_ne("count of a busy CPU", 0, count);
	}
	close_all(shared, nr_cpus);
}

static void *switch_remote(void *arg)
{
	u32 seed = (unsigned long)arg * 31;
	int i;

	for (i = 0; i < 400; i++) {
		u64 period = PERIOD + next_random(&seed);
		int fd = shared[next_random(&seed) % nr_cpus];

		switch (next_random(&seed) % 4) {
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

/* Events of busy tasks on other CPUs, switched and changed from here. */
static void remote_switches(void)
{
	struct perf_event_attr attr;
	pid_t children[MAX_CPUS];
	struct event_times times;
	unsigned int i;

	fflush(stdout);
	for (i = 0; i < nr_cpus; i++) {
		children[i] = fork();
		if (!children[i]) {
			run_on(i);
			for (;;)
				known_loop(100000);
		}
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.disabled = 0;
		attr.sample_period = PERIOD;
		attr.read_format = FORMAT_TIMES;
		shared[i] = event_open(&attr, children[i], -1, -1, 0);
		if (shared[i] < 0)
			ktap_fail("open: got %s", strerror(-shared[i]));
	}
	run_threads(switch_remote, 4);
	for (i = 0; i < nr_cpus; i++) {
		event_enable(shared[i]);
		event_reset(shared[i]);
	}
	usleep(50000);
	for (i = 0; i < nr_cpus; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
		event_read_times(shared[i], &times);
		expect_ne("count afterwards", 0, times.count);
		expect_true("time running never to exceed time enabled",
			    times.running <= times.enabled);
	}
	close_all(shared, nr_cpus);
}

static void exec_while_sampling(void)
{
	struct perf_event_attr attr;
	struct event_times times;
	int go[2], fd, i;
	pid_t child;
	char c = 0;

	fflush(stdout);
	for (i = 0; i < 40 && !ktap_failed(); i++) {
		if (pipe(go))
			return;
		child = fork();
		if (!child) {
			if (read(go[0], &c, 1) == 1)
				execl("/proc/self/exe", "smp", "again", "5",
				      NULL);
			_exit(1);
		}
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.sample_period = PERIOD / 4;
		attr.read_format = FORMAT_TIMES;
		attr.inherit = i & 1;
		attr.disabled = !(i & 2);
		attr.enable_on_exec = !(i & 2);
		attr.remove_on_exec = (i & 6) == 6 && !attr.inherit;
		fd = event_open(&attr, child, -1, -1, 0);
		if (fd < 0)
			ktap_fail("open: got %s", strerror(-fd));
		if (write(go[1], &c, 1) != 1)
			ktap_fail("expected a child to wait, it died");
		waitpid(child, NULL, 0);
		event_read_times(fd, &times);
		expect_true("time running never to exceed time enabled",
			    times.running <= times.enabled);
		if (!attr.remove_on_exec)
			expect_ne("count across execs", 0, times.count);
		close(fd);
		close(go[0]);
		close(go[1]);
	}
}

/* The task ends while an event is opened on it. */
static void open_on_the_dying(void)
{
	unsigned int opened = 0, refused = 0;
	struct perf_event_attr attr;
	pid_t child;
	u64 count;
	int fd, i;

	fflush(stdout);
	for (i = 0; i < 300; i++) {
		child = fork();
		if (!child) {
			known_loop(i * 20 + 1);
			_exit(0);
		}
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.disabled = 0;
		attr.inherit = i & 1;
		attr.sample_period = i & 2 ? PERIOD : 0;
		known_loop(i * 10 + 1);
		fd = event_open(&attr, child, -1, -1, 0);
		if (fd >= 0) {
			opened++;
			if (read(fd, &count, sizeof(count)) != sizeof(count))
				ktap_fail("read: got %s", strerror(errno));
			event_disable(fd);
			event_enable(fd);
			close(fd);
		} else if (fd == -ESRCH) {
			refused++;
		} else {
			ktap_fail("open: expected success or ESRCH, got %s",
				  strerror(-fd));
		}
		waitpid(child, NULL, 0);
	}
	ktap_diag("%u opened, %u too late", opened, refused);
	every_cpu_counts();
}

static void *refresh_thread(void *arg)
{
	struct perf_event_attr attr;
	u64 last, count;
	unsigned long bad = 0;
	int fd, i;

	run_on((unsigned long)arg % nr_cpus);
	attr_init(&attr, ARCH_EVENT_CYCLES);
	attr.sample_period = PERIOD;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		return (void *)1;
	for (i = 0; i < 20; i++) {
		last = 0;
		ioctl(fd, PERF_EVENT_IOC_REFRESH, 2);
		/* Until it is switched off: the count stands still. */
		do {
			run_on((i + (unsigned long)arg) % nr_cpus);
			known_loop(50000);
			if (read(fd, &count, sizeof(count)) != sizeof(count))
				bad++;
			if (count == last)
				break;
			last = count;
		} while (1);
	}
	if (last < 40 * PERIOD)
		bad++;
	close(fd);
	return (void *)bad;
}

static void refresh_everywhere(void)
{
	run_threads(refresh_thread, 6);
}

/* System-wide events on all CPUs, task events beside them, all sharing. */
static void crowd(void)
{
	struct event_times last[CROWD * MAX_CPUS] = { 0 }, now;
	struct perf_event_attr attr;
	int fds[CROWD * MAX_CPUS];
	unsigned int i, round;

	for (i = 0; i < CROWD * nr_cpus; i++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.exclude_kernel = 0;
		attr.disabled = 0;
		attr.read_format = FORMAT_TIMES;
		attr.sample_period = i & 1 ? PERIOD : 0;
		fds[i] = event_open(&attr, -1, i % nr_cpus, -1, 0);
		if (fds[i] < 0)
			ktap_fail("open: got %s", strerror(-fds[i]));
	}
	busy_start();
	for (round = 0; round < 5; round++) {
		multiplex_beside(CROWD);
		for (i = 0; i < CROWD * nr_cpus; i++) {
			event_read_times(fds[i], &now);
			check_times(&last[i], &now);
			last[i] = now;
		}
	}
	busy_end();
	close_all(fds, CROWD * nr_cpus);
}

static const struct ktap_case cases[] = {
	{ "every CPU counts", every_cpu_counts },
	{ "counting while migrating", migrate_counting },
	{ "a full group while migrating", migrate_group },
	{ "multiplexing while migrating", migrate_multiplexed },
	{ "sampling while migrating", migrate_sampling },
	{ "opens and closes from eight threads", concurrent_opens },
	{ "random operations from six threads", random_stress },
	{ "inherited by children of children, counting", breed_counting },
	{ "inherited by children of children, sampling", breed_sampling },
	{ "inherited by children of children, on every CPU", breed_on_cpus },
	{ "closed while children live", close_under_children },
	{ "buffers come and go under overflows", mapping_races },
	{ "closes beside storms on every CPU", close_in_storms },
	{ "counts read from other CPUs", remote_reads },
	{ "events switched from other CPUs", remote_switches },
	{ "execs while sampling", exec_while_sampling },
	{ "opened on a task that ends", open_on_the_dying },
	{ "PERF_EVENT_IOC_REFRESH while migrating", refresh_everywhere },
	{ "a crowd of events on every CPU", crowd },
	{ "every CPU counts afterwards", every_cpu_counts },
};

int main(int argc, char **argv)
{
	char again[2] = { 0 };

	/* What exec_while_sampling() runs, over and over. */
	if (argc == 3 && !strcmp(argv[1], "again")) {
		known_loop(20000);
		if (argv[2][0] == '0')
			return 0;
		again[0] = argv[2][0] - 1;
		execl("/proc/self/exe", "smp", "again", again, NULL);
		return 1;
	}
	target_init(argc, argv);
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (nr_cpus > MAX_CPUS)
		nr_cpus = MAX_CPUS;
	/* Throttling by time would blame the events for a slow host. */
	write_number("/proc/sys/kernel/perf_event_max_sample_rate", 100000);
	write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 0);
	signal(SIGALRM, on_alarm);
	alarm(200);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
