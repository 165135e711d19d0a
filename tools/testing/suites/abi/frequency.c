// SPDX-License-Identifier: GPL-2.0-only
/*
 * frequency.c - events with a frequency: samples come at that rate from the start
 *
 * For the exact lane (icount), in which the guest's clock advances with instructions. Each test
 * prints a line "RATE Hz EVENT: N samples of WANTED, longest gap G us". The built-in drivers miss
 * the bounds of rate and gap, which are not asserted for them: their lines serve to compare.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring.h"

#define RING_PAGES	64
#define NS_PER_SECOND	1000000000ULL
#define NS_PER_US	1000ULL
/* Work between two reads of the clock: user instructions, or bytes read from a file */
#define STEP_ITERATIONS	(20000UL / LOOP_INSNS)
#define STEP_BYTES	16384

/* A run lasts for this many samples, and at least this long. */
#define RUN_SAMPLES	20
#define RUN_NS		(NS_PER_SECOND / 20)

/* How long a short task runs, much shorter than the time between two samples */
#define SHORT_NS		500000ULL

/* Bounds: the start in which gaps are ignored, the longest gap, the error in samples */
#define BLIND_PERCENT	1
#define GAP_PERIODS	2
#define NR_PERCENT	5

/* Intel's built-in driver puts the period that begins into a sample, not the one that ended. */
#ifdef __x86_64__
#define HAS_ENDED_PERIODS	(!target.in_tree || arch_is_amd())
#else
#define HAS_ENDED_PERIODS	true
#endif

/**
 * struct run - an event to sample at each of the rates
 * @name: the event's name in descriptions
 * @config: PERF_COUNT_HW_* if @generic, else ARCH_EVENT_*
 * @generic: the type is PERF_TYPE_HARDWARE
 * @kernel: count the kernel, not user space
 * @precise: attr.precise_ip
 * @child: a child that inherits the event does the work
 */
struct run {
	const char *name;
	u64 config;
	bool generic;
	bool kernel;
	unsigned int precise;
	bool child;
};

#define GENERIC(_name, _config, ...)	\
	{ .name = (_name), .config = PERF_COUNT_HW_##_config, .generic = true, __VA_ARGS__ }

static const struct run runs[] = {
	GENERIC("cycles of user space", CPU_CYCLES),
	GENERIC("instructions of user space", INSTRUCTIONS),
	GENERIC("cycles of the kernel", CPU_CYCLES, .kernel = true),
	GENERIC("instructions of the kernel", INSTRUCTIONS, .kernel = true),
	/* A raw event: the driver does not know what its number counts. */
	{ .name = "raw instructions", .config = ARCH_EVENT_INSTRUCTIONS },
	GENERIC("precise instructions", INSTRUCTIONS, .precise = 1),
	GENERIC("cycles of a child", CPU_CYCLES, .child = true),
};

/* Number of runs, from the first, that are repeated with a short task */
#define SHORT_RUNS	4

static const u64 rates[] = { 50, 100, 250, 1000, 4000 };

static struct ring ring;
static int file;

static u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_SECOND + ts.tv_nsec;
}

static bool has_precise(void)
{
	char path[256], most = '0';
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/caps/max_precise",
		 target.pmu);
	f = fopen(path, "r");
	if (!f)
		return false;
	most = fgetc(f);
	fclose(f);
	return most > '0';
}

/* Work at a steady rate until the clock says @end. */
static void work_until(bool kernel, u64 end)
{
	static char buffer[STEP_BYTES];

	while (now() < end) {
		if (!kernel)
			known_loop(STEP_ITERATIONS);
		else if (pread(file, buffer, sizeof(buffer), 0) != sizeof(buffer))
			ktap_fail("pread: got %s", strerror(errno));
	}
}

/*
 * The child works before the event is enabled: its first instructions cause page faults, and the
 * rate in user space would not be steady. Return the time at which the event was enabled.
 */
static u64 work_in_child(int fd, u64 ns)
{
	u64 start = 0;
	int pipes[2];
	pid_t child;

	fflush(stdout);
	if (pipe(pipes)) {
		ktap_fail("pipe: got %s", strerror(errno));
		return 0;
	}
	child = fork();
	if (!child) {
		work_until(false, now() + ns / RUN_SAMPLES);
		if (read(pipes[0], &start, sizeof(start)) == sizeof(start))
			work_until(false, start + ns);
		_exit(0);
	}
	usleep(2 * ns / RUN_SAMPLES / NS_PER_US);
	start = now();
	event_enable(fd);
	if (child < 0 || write(pipes[1], &start, sizeof(start)) != sizeof(start) ||
	    waitpid(child, NULL, 0) != child)
		ktap_fail("fork: got %s", strerror(errno));
	close(pipes[0]);
	close(pipes[1]);
	return start;
}

/* An event with attr.inherit can have a buffer only if it is bound to a CPU. */
static int run_open(const struct run *run, u64 rate, struct perf_event_attr *attr)
{
	int fd;

	if (run->generic)
		attr_init_generic(attr, run->config);
	else
		attr_init(attr, run->config);
	attr->freq = 1;
	attr->sample_freq = rate;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->exclude_user = run->kernel;
	attr->exclude_kernel = !run->kernel;
	attr->precise_ip = run->precise;
	attr->inherit = run->child;
	fd = event_open(attr, 0, run->child ? 0 : -1, -1, 0);
	if (fd < 0)
		ktap_fail("open: got %s", strerror(-fd));
	return fd;
}

static u64 run_ns(u64 rate)
{
	u64 ns = RUN_SAMPLES * NS_PER_SECOND / rate;

	return ns > RUN_NS ? ns : RUN_NS;
}

/*
 * Check the samples between @start and @end: number, sum of the periods, longest gap. A child's
 * first sample comes after a part of its period and shows the whole period: the sum omits it.
 */
static void judge(const struct perf_event_attr *attr, u64 rate, u64 start, u64 end, u64 count,
		  const char *name)
{
	u64 nr = 0, periods = 0, longest = 0, last = start + (end - start) * BLIND_PERCENT / 100;
	u64 wanted = (end - start) * rate / NS_PER_SECOND;
	const struct perf_event_header *header;
	struct sample sample;

	while ((header = ring_next(&ring))) {
		if (header->type == PERF_RECORD_LOST || header->type == PERF_RECORD_THROTTLE)
			ktap_fail("a record of type %u: none was expected", header->type);
		if (!sample_parse(header, attr, &sample))
			continue;
		if (nr++ || !attr->inherit)
			periods += sample.period;
		if (sample.time <= last)
			continue;
		if (sample.time - last > longest)
			longest = sample.time - last;
		last = sample.time;
	}
	if (end > last && end - last > longest)
		longest = end - last;
	ktap_diag("%4llu Hz %s: %llu samples of %llu, longest gap %llu us",
		  (unsigned long long)rate, name, (unsigned long long)nr,
		  (unsigned long long)wanted, (unsigned long long)(longest / NS_PER_US));
	expect_ne("samples", 0, nr);
	if (HAS_ENDED_PERIODS)
		expect_range("sum of the periods, no more than the count", 1, count, periods);
	if (target.in_tree)
		return;
	expect_range("us without a sample", 0, GAP_PERIODS * NS_PER_SECOND / NS_PER_US / rate,
		     longest / NS_PER_US);
	expect_range("samples", wanted - wanted * NR_PERCENT / 100,
		     wanted + wanted * NR_PERCENT / 100, nr);
	/* The counts after the last sample and those before a child's first are parts of a period. */
	expect_range("counts of parts of periods", 0,
		     count / wanted * (GAP_PERIODS + attr->inherit), count - periods);
}

static void run_one(const struct run *run, u64 rate)
{
	struct perf_event_attr attr;
	u64 start, end;
	int fd;

	if (run->precise && !has_precise()) {
		ktap_skip("%s has no precise samples", target.pmu);
		return;
	}
	fd = run_open(run, rate, &attr);
	if (fd < 0)
		return;
	if (!ring_map(&ring, fd, RING_PAGES)) {
		if (run->child) {
			start = work_in_child(fd, run_ns(rate));
		} else {
			start = now();
			event_enable(fd);
			work_until(run->kernel, start + run_ns(rate));
		}
		event_disable(fd);
		end = now();
		judge(&attr, rate, start, end, event_read(fd), run->name);
	}
	ring_unmap(&ring);
	close(fd);
}

/* A new frequency takes effect at once, whether the event counts or is disabled. */
static void run_changed(u64 from, u64 to, bool running)
{
	struct perf_event_attr attr;
	u64 start, end, before;
	int fd;

	fd = run_open(&runs[0], from, &attr);
	if (fd < 0)
		return;
	if (!ring_map(&ring, fd, RING_PAGES)) {
		event_enable(fd);
		work_until(false, now() + run_ns(from));
		if (!running)
			event_disable(fd);
		expect_eq("PERF_EVENT_IOC_PERIOD", 0, ioctl(fd, PERF_EVENT_IOC_PERIOD, &to));
		ring_discard(&ring);
		before = event_read(fd);
		start = now();
		if (!running)
			event_enable(fd);
		work_until(false, start + run_ns(to));
		event_disable(fd);
		end = now();
		judge(&attr, to, start, end, event_read(fd) - before, "cycles, after the change");
	}
	ring_unmap(&ring);
	close(fd);
}

/* A task that ends long before the first period has a sample that shows what the event counted. */
static void run_short(const struct run *run)
{
	const struct perf_event_header *header;
	struct perf_event_attr attr;
	struct sample sample;
	u64 nr = 0, periods = 0;
	int fd;

	fd = run_open(run, rates[0], &attr);
	if (fd < 0)
		return;
	if (!ring_map(&ring, fd, RING_PAGES)) {
		event_enable(fd);
		work_until(run->kernel, now() + SHORT_NS);
		event_disable(fd);
		while ((header = ring_next(&ring))) {
			if (!sample_parse(header, &attr, &sample))
				continue;
			nr++;
			periods += sample.period;
		}
		expect_ne("samples", 0, nr);
		if (HAS_ENDED_PERIODS)
			expect_range("sum of the periods", 1, event_read(fd), periods);
	}
	ring_unmap(&ring);
	close(fd);
}

static const struct change {
	u64 from, to;
	bool running;
} changes[] = {
	{ 4000, 100, true }, { 100, 4000, true }, { 4000, 100, false }, { 100, 4000, false },
};

int main(int argc, char **argv)
{
	static char bytes[STEP_BYTES];

	target_init(argc, argv);
	limit_sample_rate(100000);
	/* Reads copy this data. Reads of a hole would clear memory with few, long instructions. */
	file = memfd_create("frequency", 0);
	if (file < 0 || write(file, bytes, sizeof(bytes)) != sizeof(bytes))
		return EXIT_FAILURE;

	ktap_plan(ARRAY_SIZE(runs) * ARRAY_SIZE(rates) + ARRAY_SIZE(changes) + SHORT_RUNS);
	for (unsigned int i = 0; i < ARRAY_SIZE(runs); i++) {
		for (unsigned int k = 0; k < ARRAY_SIZE(rates); k++) {
			ktap_begin("%s: samples come at %llu Hz from the start", runs[i].name,
				   (unsigned long long)rates[k]);
			run_one(&runs[i], rates[k]);
			ktap_end();
		}
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(changes); i++) {
		ktap_begin("%llu Hz changed to %llu Hz while the event %s",
			   (unsigned long long)changes[i].from, (unsigned long long)changes[i].to,
			   changes[i].running ? "counts" : "is disabled");
		run_changed(changes[i].from, changes[i].to, changes[i].running);
		ktap_end();
	}
	for (unsigned int i = 0; i < SHORT_RUNS; i++) {
		ktap_begin("%s: a short task has a sample", runs[i].name);
		run_short(&runs[i]);
		ktap_end();
	}
	return ktap_status();
}
