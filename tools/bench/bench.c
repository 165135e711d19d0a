// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench.c - the cost of a PMU driver's operations, in instructions
 *
 * For a guest under QEMU's -icount shift=0, where user space's clock counts the instructions that
 * the CPU executes. Each figure is the median of many rounds, less that of an empty round: ticks
 * and deferred work would distort the mean.
 *
 * Prints a line "BENCH operation instructions" for each operation. Some operations have a second
 * line, "BASE operation instructions": the same without the driver, on an event of perf core
 * itself or without an event. The difference is the driver's share. "MARKED operation rounds" is
 * the number of rounds in which the plugin pmu-access has counted register accesses. overflow.c
 * has the overflows.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "task.h"
#include "user_read.h"

/* Maximum and default number of rounds of each operation; the environment's ROUNDS sets another */
#define MAX_ROUNDS	2001
/* Maximum number of rounds of bench_report() */
#define FEW_ROUNDS	101
/* Virtual seconds until the guest has no other work */
#define QUIET_SECONDS	15

void die(const char *what)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

u64 median(u64 *costs, unsigned int nr)
{
	qsort(costs, nr, sizeof(*costs), compare);
	return costs[nr / 2];
}

bool bench_wants(const char *where, const char *what)
{
	const char *globs = getenv("ROWS"), *glob;
	char name[64], *next;

	if (!globs)
		return true;
	next = strdupa(globs);
	snprintf(name, sizeof(name), "%s%s", where, what);
	while ((glob = strsep(&next, ",")))
		if (!fnmatch(glob, name, 0))
			return true;
	return false;
}

static u64 empty_round;

static unsigned int rounds = MAX_ROUNDS;

static u64 measure(void (*op)(struct bench *b), struct bench *b)
{
	static u64 costs[MAX_ROUNDS];

	for (unsigned int i = 0; i < rounds; i++) {
		u64 start = clock_now();

		op(b);
		costs[i] = clock_now() - start;
	}
	return median(costs, rounds) - empty_round;
}

/* Rounds in which register accesses are counted, without reading the clock */
#define MARKED_ROUNDS	100

static void report(const char *kind, const char *where, const char *what,
		   void (*op)(struct bench *b), struct bench *b)
{
	if (!bench_wants(where, what))
		return;
	printf("%s %s%s %llu\n", kind, where, what, (unsigned long long)measure(op, b));
	if (!strcmp(kind, "BASE"))
		return;
	mark();
	for (unsigned int i = 0; i < MARKED_ROUNDS; i++)
		op(b);
	mark();
	printf("MARKED %s%s %u\n", where, what, MARKED_ROUNDS);
}

/* The rounds of these are long: few do. */
void bench_report(const char *kind, const char *what, void (*op)(struct bench *b),
		  struct bench *b)
{
	unsigned int most = rounds;

	rounds = rounds < FEW_ROUNDS ? rounds : FEW_ROUNDS;
	report(kind, "", what, op, b);
	rounds = most;
}

/* Operations */

static void op_none(struct bench *b)
{
	asm volatile("" :: "r" (b) : "memory");
}

static void op_getppid(struct bench *b)
{
	op_none(b);
	getppid();
}

static void op_open_close(struct bench *b)
{
	close(event_open(&b->attr, b->pid, b->cpu, -1, 0));
}

static void op_enable_disable(struct bench *b)
{
	unsigned long flags = b->group ? PERF_IOC_FLAG_GROUP : 0;

	ioctl(b->fds[0], PERF_EVENT_IOC_ENABLE, flags);
	ioctl(b->fds[0], PERF_EVENT_IOC_DISABLE, flags);
}

static void op_reset(struct bench *b)
{
	ioctl(b->fds[0], PERF_EVENT_IOC_RESET, 0);
}

static void op_read(struct bench *b)
{
	if (read(b->fds[0], b->values, sizeof(b->values)) < 0)
		die("read");
}

static int to_partner[2], from_partner[2];

static void op_round_trip(struct bench *b)
{
	char byte = 0;

	op_none(b);
	if (write(to_partner[1], &byte, 1) != 1 || read(from_partner[0], &byte, 1) != 1)
		die("pipe");
}

static void *partner(void *unused)
{
	char byte;

	while (read(to_partner[0], &byte, 1) == 1)
		if (write(from_partner[1], &byte, 1) != 1)
			break;
	return unused;
}

static void op_user_read(struct bench *b)
{
	if (!user_read(b->page, &b->values[0]))
		die("an event without a counter");
}

/* Events that the benchmark opens */

static const u64 hardware[] = { PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES };

void bench_init(struct bench *b, bool cpu_wide)
{
	memset(b, 0, sizeof(*b));
	attr_init_generic(&b->attr, PERF_COUNT_HW_INSTRUCTIONS);
	b->pid = cpu_wide ? -1 : 0;
	b->cpu = cpu_wide ? 0 : -1;
}

void bench_open(struct bench *b, unsigned int nr, bool group, bool hardware_events)
{
	b->nr = nr;
	b->group = group;
	for (unsigned int i = 0; i < nr; i++) {
		b->attr.disabled = !group || !i;
		if (hardware_events) {
			b->attr.config = hardware[i % ARRAY_SIZE(hardware)];
		} else {
			b->attr.type = PERF_TYPE_SOFTWARE;
			b->attr.config = PERF_COUNT_SW_DUMMY;
		}
		b->fds[i] = event_open(&b->attr, b->pid, b->cpu, group && i ? b->fds[0] : -1, 0);
		if (b->fds[i] < 0) {
			errno = -b->fds[i];
			die("perf_event_open");
		}
	}
}

void bench_enable(struct bench *b)
{
	for (unsigned int i = 0; i < b->nr; i++)
		ioctl(b->fds[i], PERF_EVENT_IOC_ENABLE, 0);
}

void bench_close(struct bench *b)
{
	while (b->nr)
		close(b->fds[--b->nr]);
}

/*
 * Perf core reads a counting event by smp_call_function_single(). For a stopped event it does so
 * little that the difference would mostly be perf core's.
 */
static void bench_running(const char *where, const char *what, void (*op)(struct bench *b),
			  bool cpu_wide, unsigned int nr)
{
	char stopped[32];
	struct bench b;

	snprintf(stopped, sizeof(stopped), "%s-stopped", what);
	for (bool hardware_events = false; ; hardware_events = true) {
		bench_init(&b, cpu_wide);
		if (nr > 1)
			b.attr.read_format = PERF_FORMAT_GROUP;
		bench_open(&b, nr, nr > 1, hardware_events);
		if (hardware_events)
			report("BENCH", where, stopped, op, &b);
		bench_enable(&b);
		report(hardware_events ? "BENCH" : "BASE", where, what, op, &b);
		bench_close(&b);
		if (hardware_events)
			return;
	}
}

static void bench_switching(const char *where, const char *what, void (*op)(struct bench *b),
			    bool cpu_wide, unsigned int nr)
{
	struct bench b;

	for (bool hardware_events = false; ; hardware_events = true) {
		bench_init(&b, cpu_wide);
		bench_open(&b, nr, nr > 1, hardware_events);
		report(hardware_events ? "BENCH" : "BASE", where, what, op, &b);
		bench_close(&b);
		if (hardware_events)
			return;
	}
}

static void bench_open_close(const char *where, bool cpu_wide)
{
	struct bench b;

	bench_init(&b, cpu_wide);
	/*
	 * Another event stays open: the built-in drivers of x86 reserve the hardware for the first
	 * event and release it after the last.
	 */
	bench_open(&b, 1, false, true);
	report("BENCH", where, "open+close", op_open_close, &b);
	bench_close(&b);
}

static void bench_round_trips(const char *where, bool cpu_wide, unsigned int nr, bool group)
{
	struct bench b;
	char what[32];

	snprintf(what, sizeof(what), "switch-%u%s", nr, group ? "-group" : "");
	bench_init(&b, cpu_wide);
	report("BASE", where, what, op_round_trip, &b);
	bench_open(&b, nr, group, true);
	bench_enable(&b);
	report("BENCH", where, what, op_round_trip, &b);
	bench_close(&b);
}

/* With branch records, if the PMU has them */
static void bench_branch_trips(const char *where, const char *what, bool cpu_wide, u64 branches)
{
	struct bench b;

	bench_init(&b, cpu_wide);
	if (!bench_branches(&b, where, what, branches))
		return;
	b.attr.sample_period = NEVER;
	report("BASE", where, what, op_round_trip, &b);
	bench_open(&b, 1, false, true);
	bench_enable(&b);
	report("BENCH", where, what, op_round_trip, &b);
	bench_close(&b);
}

static void bench_user_read(void)
{
	struct bench b;

	if (!bench_wants("", "user-read"))
		return;
	bench_init(&b, false);
#if defined(__aarch64__)
	b.attr.config1 = ARCH_CONFIG1_RDPMC | ARCH_CONFIG1_LONG;
	b.attr.type = target.type;
	b.attr.config = ARCH_EVENT_CYCLES;
#endif
	b.fds[0] = event_open(&b.attr, 0, -1, -1, 0);
	if (b.fds[0] < 0) {
		printf("# user-read: %s\n", strerror(-b.fds[0]));
		return;
	}
	b.nr = 1;
	bench_enable(&b);
	b.page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, b.fds[0], 0);
	if (b.page == MAP_FAILED)
		die("mmap");
	if (b.page->cap_user_rdpmc && b.page->index)
		report("BENCH", "", "user-read", op_user_read, &b);
	else
		printf("# user-read: the page does not allow it\n");
	munmap(b.page, sysconf(_SC_PAGESIZE));
	bench_close(&b);
}

/*
 * Return the instructions of a loop of @times by the clock. A tick may interrupt some, but not all
 * tries.
 */
static u64 loop_cost(unsigned long times)
{
	u64 least = ~0ULL;

	for (unsigned int i = 0; i < 5; i++) {
		u64 start = clock_now(), cost;

		known_loop(times);
		cost = clock_now() - start;
		if (cost < least)
			least = cost;
	}

	return least;
}

/* The clock must count instructions: check it by the cost of a known loop. */
static void calibrate(void)
{
	u64 shorter = loop_cost(1000), longer = loop_cost(3000);

	printf("CALIBRATED %d %llu\n", 2000 * LOOP_INSNS, (unsigned long long)(longer - shorter));
	if (longer - shorter != 2000 * LOOP_INSNS) {
		printf("BROKEN the clock does not count instructions\n");
		exit(1);
	}
}

static void stand_alone(void)
{
	struct sched_param param = { .sched_priority = 50 };

	if (!run_on(0) || sched_setscheduler(0, SCHED_FIFO, &param))
		die("scheduling");
	write_number("/proc/sys/kernel/sched_rt_runtime_us", -1);
	write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 0);
	write_number("/proc/sys/kernel/perf_event_max_sample_rate", 10000000);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		bool cpu_wide;
	} places[] = { { "", false }, { "cpu-", true } };
	static const unsigned int events[] = { 1, 4, 6, 8 };
	static const unsigned int groups[] = { 2, 4, 6 };
	struct bench none = { 0 };
	pthread_t thread;

	target_init(argc, argv);
	if (getenv("ROUNDS"))
		rounds = atoi(getenv("ROUNDS"));
	if (rounds < 1 || rounds > MAX_ROUNDS) {
		fprintf(stderr, "bench: ROUNDS is 1 to %d\n", MAX_ROUNDS);
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	overflow_prepare();
	stand_alone();
	if (pipe(to_partner) || pipe(from_partner) || pthread_create(&thread, NULL, partner, NULL))
		die("partner");
	sleep(QUIET_SECONDS);
	calibrate();

	empty_round = measure(op_none, &none);
	printf("BENCH empty %llu\n", (unsigned long long)empty_round);
	report("BENCH", "", "getppid", op_getppid, &none);
	report("BENCH", "", "switch-0", op_round_trip, &none);

	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++) {
		const char *where = places[i].name;
		bool cpu_wide = places[i].cpu_wide;

		bench_open_close(where, cpu_wide);
		bench_switching(where, "enable+disable", op_enable_disable, cpu_wide, 1);
		/* Enabling a group places all of its events. */
		for (unsigned int j = 0; j < ARRAY_SIZE(groups); j++) {
			char what[32];

			snprintf(what, sizeof(what), "enable+disable-group-%u", groups[j]);
			bench_switching(where, what, op_enable_disable, cpu_wide, groups[j]);
		}
		bench_running(where, "reset", op_reset, cpu_wide, 1);
		bench_running(where, "read", op_read, cpu_wide, 1);
		bench_running(where, "read-group-4", op_read, cpu_wide, 4);
		for (unsigned int j = 0; j < ARRAY_SIZE(events); j++)
			bench_round_trips(where, cpu_wide, events[j], false);
		bench_round_trips(where, cpu_wide, 4, true);
		bench_branch_trips(where, "switch-branches", cpu_wide, ANY_BRANCH);
		if (!cpu_wide)
			bench_branch_trips(where, "switch-calls", cpu_wide, CALL_STACK);
		bench_overflows(where, cpu_wide);
	}
	bench_rotation(16);
	bench_rotation(64);
	bench_inheritance(16);
	bench_user_read();
	return 0;
}
