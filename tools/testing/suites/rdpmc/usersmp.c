// SPDX-License-Identifier: GPL-2.0-only
/*
 * usersmp.c - races of counters that user space reads
 *
 * For the smp lane. A reader that is moved, stopped and reset at any moment must not fault, and no
 * other task may see its counts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perf_util.h"
#include "task.h"
#include "user_util.h"

#define MAX_CPUS	8
/* Minimum number of reads: a fault lies between two instructions of a read. */
#define READS		250000

static unsigned int nr_cpus;

/* Tasks without an event, one per CPU, that try to read counters all the time */
struct spies {
	pid_t pids[MAX_CPUS];
	/* Memory that the test and a spy share */
	struct spy {
		volatile unsigned int looks;
		volatile unsigned int seen;
	} *found;
};

static void spy(struct spy *found)
{
	for (;;) {
		struct counter_scan scan = { };

		scan_counters(&scan);
		found->looks++;
		found->seen += scan.seen;
		sched_yield();
	}
}

static bool spies_start(struct spies *spies)
{
	spies->found = mmap(NULL, sizeof(struct spy) * MAX_CPUS, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (spies->found == MAP_FAILED) {
		ktap_fail("shared memory: expected some, got none");
		return false;
	}
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		spies->pids[cpu] = fork();
		if (!spies->pids[cpu]) {
			run_on(cpu);
			spy(&spies->found[cpu]);
		}
	}
	return true;
}

static void spies_end(struct spies *spies)
{
	unsigned int cpu, seen = 0;

	for (cpu = 0; cpu < nr_cpus; cpu++) {
		kill(spies->pids[cpu], SIGKILL);
		waitpid(spies->pids[cpu], NULL, 0);
		expect_ne("looks of a spy", 0, spies->found[cpu].looks);
		seen += spies->found[cpu].seen;
	}
	expect_eq("counters of others that spies saw", 0, seen);
	munmap(spies->found, sizeof(struct spy) * MAX_CPUS);
}

/* A reader, and a thread that moves, stops and resets it */
struct victim {
	struct reader reader;
	pid_t tid;
	volatile bool ready;
	/* Set by the thread that disturbs the reader */
	volatile bool stop;
	volatile bool faulted;
	bool open_failed;
	volatile unsigned int tries;
	volatile unsigned int own;
	unsigned int backwards;
	unsigned int wrong_width;
};

static __thread sigjmp_buf victim_return;

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(victim_return, 1);
}

/*
 * The reader can be moved after it has read the page's index and before it reads the counter. The
 * page's lock must reveal this, not a fault. The loop makes this likely.
 */
static void read_slowly(const struct reader *reader)
{
	u32 index = user_read_once(reader->page->index);

	if (!index)
		return;
	known_loop(100);
	user_read_counter(index - 1);
}

static void *victim_run(void *arg)
{
	struct victim *victim = arg;
	struct reader *reader = &victim->reader;
	u64 last = 0;

	victim->open_failed = !reader_open(reader, ARCH_EVENT_CYCLES, 0);
	victim->tid = syscall(SYS_gettid);
	victim->ready = true;
	if (victim->open_failed)
		return NULL;
	event_enable(reader->fd);
	if (sigsetjmp(victim_return, 1)) {
		victim->faulted = true;
	} else {
		while (!victim->stop) {
			u64 value;

			victim->tries++;
			read_slowly(reader);
			if (!user_read(reader->page, &value))
				continue;
			victim->own++;
			victim->backwards += value < last;
			last = value;
			victim->wrong_width += reader->page->pmc_width != reader->width;
		}
	}
	return NULL;
}

/* Disturb the reader in at least @steps steps. It reads all the time, without a fault. */
static void disturb(struct victim *victim, unsigned int steps,
		    void (*step)(struct victim *victim, unsigned int nr))
{
	struct sigaction old, action = { .sa_handler = on_fault };
	pthread_t thread;
	unsigned int nr = 0;

	sigaction(ARCH_USER_READ_SIGNAL, &action, &old);
	if (pthread_create(&thread, NULL, victim_run, victim)) {
		ktap_fail("a thread: expected one, got none");
		return;
	}
	while (!victim->ready)
		usleep(100);
	while ((nr < steps || victim->tries < READS) && !victim->faulted && !victim->open_failed)
		step(victim, nr++);
	victim->stop = true;
	pthread_join(thread, NULL);
	sigaction(ARCH_USER_READ_SIGNAL, &old, NULL);
	reader_close(&victim->reader);
	expect_ne("reads", 0, victim->own);
	expect_eq("faults of the reader", 0, victim->faulted);
	expect_eq("reads with another width", 0, victim->wrong_width);
}

static void move(struct victim *victim, unsigned int nr)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(nr % nr_cpus, &set);
	sched_setaffinity(victim->tid, sizeof(set), &set);
	usleep(200);
}

static void migration(void)
{
	struct victim victim = { };
	struct spies spies;

	if (!spies_start(&spies))
		return;
	disturb(&victim, 2000, move);
#if defined(__x86_64__)
	/* QEMU's counters of arm64 go backwards at times: corepmu_counter_update(). */
	expect_eq("reads that went backwards", 0, victim.backwards);
#endif
	spies_end(&spies);
}

static void stop_start_or_reset(struct victim *victim, unsigned int nr)
{
	int fd = victim->reader.fd;

	switch (nr % 4) {
	case 0:
		event_disable(fd);
		break;
	case 1:
		event_enable(fd);
		break;
	case 2:
		event_reset(fd);
		break;
	default:
		move(victim, nr / 4);
	}
}

static void restarted_by_others(void)
{
	struct victim victim = { };

	disturb(&victim, 2000, stop_start_or_reset);
}

/*
 * The CPU to which the reader was just moved goes offline and comes back: the reader reads there
 * again.
 */
static void unplug(struct victim *victim, unsigned int nr)
{
	unsigned int cpu = 1 + nr / 2 % (nr_cpus - 1);
	unsigned int own, tries;
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	if (nr % 2 == 0)
		move(victim, cpu);
	if (write_number(path, nr % 2))
		ktap_fail("%s: expected %u to be taken", path, nr % 2);
	if (nr % 2 == 0 || ktap_failed())
		return;
	move(victim, cpu);
	own = victim->own;
	for (tries = 0; victim->own == own && !victim->faulted && tries < 10000; tries++)
		usleep(1000);
	if (victim->own == own)
		ktap_fail("reads on CPU %u that came back: expected some, got none", cpu);
}

static void hotplug(void)
{
	struct victim victim = { };
	char path[64];

	disturb(&victim, 60, unplug);
	for (unsigned int cpu = 1; cpu < nr_cpus; cpu++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
		write_number(path, 1);
	}
}

/* Tasks count, and end without closing or unmapping anything. */
static void ending(void)
{
	struct spies spies;

	if (!spies_start(&spies))
		return;
	for (unsigned int i = 0; i < 60; i++) {
		pid_t pid = fork();

		if (!pid) {
			struct reader reader;

			run_on(i % nr_cpus);
			if (!reader_open(&reader, ARCH_EVENT_CYCLES, 0))
				_exit(1);
			event_enable(reader.fd);
			known_loop(20000);
			sched_yield();
			if (i % 2)
				event_disable(reader.fd);
			raise(SIGKILL);
		}
		waitpid(pid, NULL, 0);
	}
	spies_end(&spies);
}

/* One thread per CPU, each with its own event */
static pthread_barrier_t step;
static volatile bool told;
static volatile unsigned int allowed_reads, refused_reads, freed_reads;

static void *stand_by(void *arg)
{
	struct counter_scan scan = { };
	struct reader reader;
	u64 value;

	run_on((unsigned long)arg);
	if (reader_open(&reader, ARCH_EVENT_CYCLES, 0)) {
		event_enable(reader.fd);
		if (user_read(reader.page, &value))
			__atomic_add_fetch(&allowed_reads, 1, __ATOMIC_SEQ_CST);
	}
	pthread_barrier_wait(&step);
	/* The administrator writes 0. A sleeping reader would not notice before it wakes. */
	while (!told)
		;
	scan_counters(&scan);
	if (!scan.values)
		__atomic_add_fetch(&refused_reads, 1, __ATOMIC_SEQ_CST);
	pthread_barrier_wait(&step);
	/* The administrator writes 1 again. */
	pthread_barrier_wait(&step);
	if (user_read(reader.page, &value))
		__atomic_add_fetch(&allowed_reads, 1, __ATOMIC_SEQ_CST);
	reader_close(&reader);
	pthread_barrier_wait(&step);
	memset(&scan, 0, sizeof(scan));
	scan_counters(&scan);
	if (!scan.values)
		__atomic_add_fetch(&freed_reads, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

static void everywhere(void)
{
	pthread_t threads[MAX_CPUS];

	run_on(0);
	told = false;
	allowed_reads = 0;
	refused_reads = 0;
	freed_reads = 0;
	pthread_barrier_init(&step, NULL, nr_cpus + 1);
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++)
		pthread_create(&threads[cpu], NULL, stand_by, (void *)(unsigned long)cpu);
	pthread_barrier_wait(&step);
	expect_eq("writing 0", 0, user_read_allow(0));
	told = true;
	pthread_barrier_wait(&step);
	expect_eq("writing 1", 0, user_read_allow(1));
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++)
		pthread_join(threads[cpu], NULL);
	pthread_barrier_destroy(&step);
	expect_eq("reads while allowed", 2 * nr_cpus, allowed_reads);
	expect_eq("CPUs that refused at once", nr_cpus, refused_reads);
	expect_eq("CPUs that refused when all was closed", nr_cpus, freed_reads);
}

static const struct ktap_case cases[] = {
	{ "a reader that migrates does not fault, and shows others nothing", migration },
	{ "a reader that others stop, start and reset does not fault", restarted_by_others },
	{ "a reader whose CPUs go offline and online does not fault", hotplug },
	{ "tasks that end leave no counter readable to others", ending },
	{ "all CPUs allow and refuse reads as sysfs was written", everywhere },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (nr_cpus > MAX_CPUS)
		nr_cpus = MAX_CPUS;
	alarm(500);
	user_read_allow(1);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
