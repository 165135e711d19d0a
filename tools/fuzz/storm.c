// SPDX-License-Identifier: GPL-2.0-only
/*
 * storm.c - many tasks at once, and whether the PMU still works afterwards
 *
 * A burst is a second or two of everything side by side: tasks that run cases while a thread of
 * theirs does anything to the same descriptors, one that samples all CPUs, one that reads what
 * sysfs has of the PMU, and, if wanted, one that takes CPUs away and brings them back. Then all are
 * gone, and what a plain event counts is known.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"
#include "perf_util.h"
#include "records.h"

#define BURST_SECONDS		5
/* Of these a burst's tasks need not see the end: the kernel may be slow. */
#define GRACE_SECONDS		600
/* After so many it is shown where they are, so that slow can be told from stuck. */
#define SHOW_SECONDS		120
#define MAX_CPUS		8
#define CHECK_ITERATIONS	100000
#define CHECK_PERIOD		10000
#define SYSTEM_PERIOD		200000
/* Samples a second, of each event: what a check of a short loop needs */
#define RATE_FILE		"/proc/sys/kernel/perf_event_max_sample_rate"
/* While this is 0 the rate cannot be written. */
#define PERCENT_FILE		"/proc/sys/kernel/perf_cpu_time_max_percent"
#define PERCENT			25
#define CHECK_RATE		100000
#define SYSTEM_PAGES		8
#define PLUG_PAUSE_US		1000000

/**
 * struct tally - what all tasks did, in memory that they share
 * @fuzz: of those that run cases
 * @system: samples of all CPUs
 * @hotplugs: CPUs that went and came back
 * @files: files of sysfs that were read
 * @bursts: bursts
 * @late: seconds that the last task of a burst took to end, of the burst that took longest
 * @stuck: tasks that had to be killed
 * @crashed: tasks that a signal ended
 */
struct tally {
	struct fuzz_counters fuzz;
	u64 system;
	u64 hotplugs;
	u64 files;
	u64 bursts;
	u64 late;
	u64 stuck;
	u64 crashed;
};

static struct tally *tally;
static volatile bool over;

static time_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec;
}

static void add(u64 *to, u64 number)
{
	__atomic_fetch_add(to, number, __ATOMIC_RELAXED);
}

static void add_counters(const struct fuzz_counters *counters)
{
	add(&tally->fuzz.opens, counters->opens);
	add(&tally->fuzz.opened, counters->opened);
	add(&tally->fuzz.calls, counters->calls);
	add(&tally->fuzz.succeeded, counters->succeeded);
	add(&tally->fuzz.samples, counters->samples);
	add(&tally->fuzz.lost, counters->lost);
}

static void *race(void *arg)
{
	struct fuzz_rng rng = { .state = *(u64 *)arg };
	struct fuzz_counters counters = { 0 };

	while (!over)
		fuzz_race(&rng, &counters);
	add_counters(&counters);
	return NULL;
}

static void run_cases(u64 seed, time_t end)
{
	struct fuzz_counters counters = { 0 };
	u64 number, racer_seed = ~seed;
	struct fuzz_case fuzz;
	pthread_t racer;
	bool racing;

	racing = !pthread_create(&racer, NULL, race, &racer_seed);
	for (number = 0; now() < end; number++) {
		fuzz_make_case(&fuzz, seed, number);
		fuzz_run_case(&fuzz, &counters);
	}
	over = true;
	if (racing)
		pthread_join(racer, NULL);
	add_counters(&counters);
}

/* What `perf record -a` does. */
static void sample_system(u64 seed, time_t end)
{
	const size_t size = (1 + SYSTEM_PAGES) * sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *pages[MAX_CPUS];
	struct perf_event_attr attr;
	struct records records;
	int fds[MAX_CPUS], cpu;

	(void)seed;
	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.exclude_kernel = 0;
		attr.disabled = 0;
		attr.sample_period = SYSTEM_PERIOD;
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
		attr.task = 1;
		attr.mmap = 1;
		pages[cpu] = MAP_FAILED;
		fds[cpu] = event_open(&attr, -1, cpu, -1, 0);
		if (fds[cpu] >= 0)
			pages[cpu] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
					  fds[cpu], 0);
	}
	while (now() < end) {
		for (cpu = 0; cpu < MAX_CPUS; cpu++) {
			if (pages[cpu] == MAP_FAILED)
				continue;
			records_drain(&records, pages[cpu], size, true);
			add(&tally->system, records.samples);
			add(&tally->fuzz.lost, records.lost);
		}
		usleep(1000);
	}
	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (pages[cpu] != MAP_FAILED)
			munmap(pages[cpu], size);
	}
	close_all(fds, MAX_CPUS);
}

static void read_files(const char *path)
{
	char name[512], text[4096];
	struct dirent *entry;
	DIR *dir = opendir(path);
	int fd;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_type != DT_REG)
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		fd = open(name, O_RDONLY);
		if (fd < 0)
			continue;
		if (read(fd, text, sizeof(text)) >= 0)
			add(&tally->files, 1);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

static void use_sysfs(u64 seed, time_t end)
{
	static const char *const dirs[] = { "", "/events", "/format", "/caps" };
	struct fuzz_rng rng = { .state = seed };
	char path[256];
	unsigned int i;

	while (now() < end) {
		for (i = 0; i < ARRAY_SIZE(dirs); i++) {
			snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s%s",
				 target.pmu, dirs[i]);
			read_files(path);
		}
		snprintf(path, sizeof(path),
			 "/sys/bus/event_source/devices/%s/perf_event_mux_interval_ms", target.pmu);
		write_number(path, 1 + fuzz_below(&rng, 20));
		read_files("/sys/kernel/debug/corepmu");
		usleep(10000);
	}
}

static void plug(u64 seed, time_t end)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct fuzz_rng rng = { .state = seed };
	char path[64];

	while (cpus > 1 && now() < end) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
			 1 + (int)fuzz_below(&rng, cpus - 1));
		if (!write_number(path, 0))
			add(&tally->hotplugs, 1);
		usleep(fuzz_below(&rng, 50000));
		write_number(path, 1);
		/* It takes hundreds of milliseconds, in which the others do next to nothing. */
		usleep(fuzz_below(&rng, PLUG_PAUSE_US));
	}
}

static void start(pid_t *pid, void (*work)(u64 seed, time_t end), u64 seed, time_t end)
{
	*pid = fork();
	if (*pid)
		return;
	/* What it leaves to its children ends with it. */
	setpgid(0, 0);
	work(seed, end);
	_exit(0);
}

/* The processes of a task that is late: state, times in user space and in the kernel, place. */
static void show_late(pid_t group)
{
	static const char *const files[] = { "stat", "wchan", "stack" };
	char name[300], text[2048];
	struct dirent *entry;
	DIR *dir = opendir("/proc");
	unsigned int i;
	ssize_t size;
	pid_t pid;
	int fd;

	while (dir && (entry = readdir(dir))) {
		pid = atoi(entry->d_name);
		if (pid <= 0 || getpgid(pid) != group)
			continue;
		for (i = 0; i < ARRAY_SIZE(files); i++) {
			snprintf(name, sizeof(name), "/proc/%d/%s", pid, files[i]);
			fd = open(name, O_RDONLY);
			if (fd < 0)
				continue;
			size = read(fd, text, sizeof(text) - 1);
			close(fd);
			if (size > 0)
				ktap_diag("late: %s: %.*s", name, (int)size, text);
		}
	}
	if (dir)
		closedir(dir);
}

static void reap(pid_t pid, time_t end)
{
	time_t show = end + SHOW_SECONDS;
	int status;

	if (pid <= 0)
		return;
	while (!waitpid(pid, &status, WNOHANG)) {
		if (now() > show) {
			show_late(pid);
			show += SHOW_SECONDS;
		}
		if (now() > end + GRACE_SECONDS) {
			add(&tally->stuck, 1);
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			return;
		}
		usleep(10000);
	}
	kill(-pid, SIGKILL);
	if (now() > end && tally->late < (u64)(now() - end))
		tally->late = now() - end;
	if (WIFSIGNALED(status)) {
		printf("# a task was ended by signal %d\n", WTERMSIG(status));
		add(&tally->crashed, 1);
	}
}

static void set_rate(long rate)
{
	long percent = read_number(PERCENT_FILE);

	write_number(PERCENT_FILE, PERCENT);
	write_number(RATE_FILE, rate);
	write_number(PERCENT_FILE, percent);
	if (read_number(RATE_FILE) != rate)
		ktap_diag("the rate of samples cannot be set to %ld", rate);
}

static void burst(const struct fuzz_storm *storm, u64 number)
{
	const u64 seed = storm->seed + number * 1000;
	const time_t end = now() + BURST_SECONDS;
	pid_t pids[64] = { 0 };
	unsigned int nr = 0, i;

	for (i = 0; i < storm->workers && i < ARRAY_SIZE(pids) - 3; i++)
		start(&pids[nr++], run_cases, seed + i, end);
	start(&pids[nr++], sample_system, seed, end);
	start(&pids[nr++], use_sysfs, seed, end);
	if (storm->hotplug)
		start(&pids[nr++], plug, seed, end);
	for (i = 0; i < nr; i++)
		reap(pids[i], end);
	tally->bursts++;
}

/* Samples of a loop: as many as its counts have periods. */
static bool samples_are_right(void)
{
	const size_t size = (1 + SYSTEM_PAGES) * sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *pages;
	struct perf_event_attr attr;
	struct records records;
	u64 count;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = CHECK_PERIOD;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return false;
	pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pages == MAP_FAILED) {
		ktap_fail("mmap: %s", strerror(errno));
		close(fd);
		return false;
	}
	count = event_count_loop(fd, CHECK_ITERATIONS);
	records_drain(&records, pages, size, true);
	munmap(pages, size);
	close(fd);
	return expect_range("samples of the known loop", count / CHECK_PERIOD - 1,
			    count / CHECK_PERIOD + 1, records.samples + records.lost);
}

static bool nothing_is_left(void)
{
	unsigned int tries = 100;
	long users;

	/* An event of a task that has ended is freed a little later. */
	while ((users = read_number("/sys/module/corepmu/refcnt")) > 0 && tries--)
		usleep(10000);
	return users < 0 || expect_eq("users of the module", 0, users);
}

int fuzz_storm_run(const struct fuzz_storm *storm)
{
	const time_t end = now() + storm->seconds;
	const struct fuzz_counters *all;
	u64 number;

	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tally == MAP_FAILED)
		return 1;
	all = &tally->fuzz;
	setvbuf(stdout, NULL, _IOLBF, 0);
	ktap_plan(3);
	ktap_begin("after each burst the PMU counts and samples exactly, and is not in use");
	for (number = 0; now() < end && !ktap_failed(); number++) {
		set_rate(storm->rate);
		burst(storm, number);
		set_rate(CHECK_RATE);
		if (!pmu_is_exact(CHECK_ITERATIONS) || !samples_are_right() || !nothing_is_left())
			ktap_diag("burst %llu, seed %llu", (unsigned long long)number,
				  (unsigned long long)(storm->seed + number * 1000));
	}
	ktap_end();
	ktap_begin("every task comes to its end");
	expect_eq("tasks that did not end", 0, tally->stuck);
	expect_eq("tasks that a signal ended", 0, tally->crashed);
	ktap_end();
	ktap_begin("more than half of the events are opened");
	expect_true("opened * 2 > opens", all->opened * 2 > all->opens);
	ktap_end();
	printf("# fuzz: %llu opens, %llu opened, %llu calls, %llu succeeded, %llu samples, %llu lost\n",
	       (unsigned long long)all->opens, (unsigned long long)all->opened,
	       (unsigned long long)all->calls, (unsigned long long)all->succeeded,
	       (unsigned long long)all->samples, (unsigned long long)all->lost);
	printf("# beside: %llu bursts, %llu samples of all CPUs, %llu hotplugs, %llu files\n",
	       (unsigned long long)tally->bursts, (unsigned long long)tally->system,
	       (unsigned long long)tally->hotplugs, (unsigned long long)tally->files);
	printf("# late: tasks ended %llu seconds after their burst at most\n",
	       (unsigned long long)tally->late);
	return ktap_status();
}
