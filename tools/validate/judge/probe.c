// SPDX-License-Identifier: GPL-2.0-only
/*
 * probe.c - probe the PMU by sysfs and by opening events, and choose the events of the checks
 */
#define _GNU_SOURCE
#include <glob.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "outcome.h"
#include "validate.h"

struct pmu pmu;

void attr_instructions(struct perf_event_attr *attr)
{
	*attr = pmu.instructions;
}

void attr_cycles(struct perf_event_attr *attr)
{
	*attr = pmu.cycles;
}

void attr_branches(struct perf_event_attr *attr)
{
	*attr = pmu.instructions;
	attr->type = PERF_TYPE_HARDWARE;
	attr->config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS |
		       (pmu.name ? (u64)pmu.type << PERF_PMU_TYPE_SHIFT : 0);
}

int open_event(struct perf_event_attr *attr)
{
	int fd = event_open_self(attr, -1);

	if (fd < 0)
		abandon_check();
	return fd;
}

int open_instructions(void)
{
	struct perf_event_attr attr;

	attr_instructions(&attr);
	return open_event(&attr);
}

void attr_sampling(struct perf_event_attr *attr, u64 period, u64 sample_type)
{
	attr_instructions(attr);
	attr->sample_period = period;
	attr->sample_type = sample_type;
}

int map_sampling(const char *what, struct ring *ring, int fd, unsigned int pages)
{
	if (!expect_or_say(fd >= 0, "%s: expected a descriptor, got %s", what, strerror(-fd)) ||
	    ring_map(ring, fd, pages))
		abandon_check();
	return fd;
}

int open_sampling(struct ring *ring, struct perf_event_attr *attr, unsigned int pages)
{
	return map_sampling("a sampling event", ring, open_event(attr), pages);
}

int sample_work(struct ring *ring, struct perf_event_attr *attr, unsigned int pages,
		void (*work)(unsigned long times), unsigned long times)
{
	int fd = open_sampling(ring, attr, pages);

	event_enable(fd);
	work(times);
	event_disable(fd);
	return fd;
}

void close_sampling(struct ring *ring, int fd)
{
	ring_unmap(ring);
	close(fd);
}

bool registers_are_locked(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr), .config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000, .sample_type = PERF_SAMPLE_REGS_INTR,
		.sample_regs_intr = 1, .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};
	int fd = event_open(&attr, 0, -1, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd == -EPERM;
}

void call_kernel(unsigned long times)
{
	while (times--)
		syscall(SYS_getppid);
}

u64 now_ns(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* ---- probing ---- */

static void lacks(unsigned int need, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void lacks(unsigned int need, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(pmu.missing[__builtin_ctz(need)], sizeof(pmu.missing[0]), fmt, ap);
	va_end(ap);
}

static void probe(unsigned int need, struct perf_event_attr *attr, pid_t pid, int cpu,
		  const char *what)
{
	int fd = event_open(attr, pid, cpu, -1, 0);

	if (fd >= 0) {
		pmu.has |= need;
		close(fd);
	} else {
		lacks(need, "%s: %s", what, strerror(-fd));
	}
}

/*
 * Open an event of user space. If the PMU can exclude no mode, the event counts all: RISC-V without
 * Sscofpmf refuses exclude_kernel and exclude_hv.
 */
static int open_user(struct perf_event_attr *attr)
{
	int fd = event_open(attr, 0, -1, -1, 0);

	if (fd != -EINVAL)
		return fd;
	attr->exclude_kernel = 0;
	attr->exclude_hv = 0;
	fd = event_open(attr, 0, -1, -1, 0);
	if (fd < 0) {
		attr->exclude_kernel = 1;
		attr->exclude_hv = 1;
	}
	return fd;
}

/* Choose the PMU's generic event or one of its named events; without a PMU a generic event. */
static bool choose_event(struct perf_event_attr *attr, u64 generic, const char *const *names)
{
	int fd;

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;

	attr->type = PERF_TYPE_HARDWARE;
	attr->config = generic | (pmu.name ? (u64)pmu.type << PERF_PMU_TYPE_SHIFT : 0);
	fd = open_user(attr);
	if (fd < 0 && pmu.name) {
		attr->config = 0;
		attr->type = pmu.type;
		if (!find_event(names, attr))
			return false;
		fd = open_user(attr);
	}
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

#ifdef __x86_64__
static const bool watchdog_has_event = true;
#else
static const bool watchdog_has_event;
#endif

/*
 * Check that a group counts. The count alone is no proof: a leader that includes the kernel counts
 * failed attempts to schedule the group. Its running time is then 0.
 */
static bool group_counts(int leader)
{
	struct event_times times;

	event_reset(leader);
	event_run_loop(leader, 1000);
	return event_read_times(leader, &times) && times.running && times.count >= 1000;
}

/* Return the size of the largest group that counts; @opened: of the largest that can be opened. */
static unsigned int largest_group(unsigned int *opened)
{
	int fds[64], nr;

	for (nr = 0; nr < (int)ARRAY_SIZE(fds); nr++) {
		struct perf_event_attr attr = pmu.instructions;

		attr.disabled = !nr;
		attr.read_format = FORMAT_TIMES;
		fds[nr] = event_open(&attr, 0, -1, nr ? fds[0] : -1, 0);
		if (fds[nr] < 0)
			break;
	}
	*opened = nr;
	while (nr > 1 && !group_counts(fds[0]))
		close(fds[--nr]);
	/*
	 * The NMI watchdog's event takes a counter that the driver's check of a group does not know
	 * of: one event more than count may be opened. Only x86's watchdog has an event; on other
	 * architectures the file has 1, too.
	 */
	if (!watchdog_has_event || *opened != nr + 1U ||
	    !read_number("/proc/sys/kernel/nmi_watchdog"))
		*opened = nr;
	close_all(fds, nr);
	return nr;
}

/* Rounds of the known loop, and exact rounds that suffice: interrupts disturb some rounds. */
#define EXACT_ROUNDS		6
#define EXACT_ENOUGH		4
#define EXACT_ITERATIONS	10000UL
#define EXACT_LOOP		(EXACT_ITERATIONS * LOOP_INSNS)

ARCH_SLOW_LOOP;

/* Return whether a loop of these instructions takes a nanosecond for each. */
static bool takes_ns(void (*loop)(unsigned long iterations), u64 instructions)
{
	unsigned int exact = 0, i;
	u64 start, time;

	for (i = 0; i < EXACT_ROUNDS; i++) {
		start = now_ns(CLOCK_MONOTONIC);
		loop(EXACT_ITERATIONS);
		time = now_ns(CLOCK_MONOTONIC) - start;
		exact += time >= instructions && time <= instructions + instructions / 10;
	}
	return exact >= EXACT_ENOUGH;
}

/*
 * Return whether the clock counts instructions: then every count has to be exact. A CPU of 1 GHz
 * may execute one of the two loops at this pace, but not both.
 */
static bool clock_counts_instructions(void)
{
	return takes_ns(known_loop, EXACT_LOOP) &&
	       takes_ns(slow_loop, SLOW_INSNS * EXACT_ITERATIONS);
}

/*
 * Describe in pmu.exactness how exact the counts of the known loop are. The clock alone decides how
 * strict the checks are.
 */
static void probe_counts(void)
{
	const u64 want = EXACT_LOOP - LOOP_INSNS;
	int fd = event_open(&pmu.instructions, 0, -1, -1, 0);
	unsigned int exact = 0, i;
	s64 count, wrong = 0;

	for (i = 0; fd >= 0 && i < EXACT_ROUNDS; i++) {
		count = event_count_loop(fd, 1);
		count = event_count_loop(fd, EXACT_ITERATIONS) - count;
		exact += count == (s64)want;
		if (count != (s64)want)
			wrong = count;
	}
	if (fd >= 0)
		close(fd);
	pmu.counts_exact = exact >= EXACT_ENOUGH;
	if (!pmu.exact)
		snprintf(pmu.exactness, sizeof(pmu.exactness),
			 "counts up to 0.2 percent too high pass");
	else if (pmu.counts_exact)
		snprintf(pmu.exactness, sizeof(pmu.exactness), "every count exact");
	else
		snprintf(pmu.exactness, sizeof(pmu.exactness),
			 "counts not exact (%lld for a loop of %llu), though the clock is",
			 (long long)wrong, (unsigned long long)want);
}

bool is_hybrid(void)
{
	glob_t found;
	bool several;

	several = !glob("/sys/bus/event_source/devices/*/cpus", 0, NULL, &found) &&
		  found.gl_pathc > 1;
	globfree(&found);
	return several;
}

/* Bind the checks to the PMU's CPUs. Return false if this process may use none of them. */
static bool stay_on_its_cpus(void)
{
	char path[256], text[1024] = "";
	cpu_set_t its, set;
	int cpu;

	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof(set), &set);
	if (pmu.name) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpus", pmu.name);
		if (read_text(path, text, sizeof(text)) && parse_cpus(text, &its)) {
			CPU_AND(&set, &set, &its);
			if (sched_setaffinity(0, sizeof(set), &set))
				return false;
		}
	}
	for (cpu = 0; cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &set); cpu++)
		;
	pmu.cpu = cpu;
	pmu.nr_cpus = CPU_COUNT(&set);
	return true;
}

const char *find_instructions(void)
{
	static const char *const names[] = { "instructions", "inst_retired", NULL };

	if (!pmu.name && is_hybrid())
		return "the machine has several CPU types: choose the PMU of one with --pmu";
	if (!stay_on_its_cpus())
		return "this process may use none of the PMU's CPUs";
	if (!choose_event(&pmu.instructions, PERF_COUNT_HW_INSTRUCTIONS, names))
		return "it counts no instructions for this user";
	return NULL;
}

const char *find_out(bool disrupt, bool allow_long)
{
	static const char *const cycles[] = { "cpu-cycles", "cpu_cycles", "cycles", NULL };
	const char *why = find_instructions();
	struct perf_event_attr attr;

	if (why)
		return why;
	pmu.exact = clock_counts_instructions();
	if (allow_long || !pmu.exact)
		pmu.has |= NEED_LONG;
	else
		lacks(NEED_LONG, "it takes minutes in an emulator: use --long");
	if (pmu.name)
		pmu.has |= NEED_PMU;
	else
		lacks(NEED_PMU, "it needs the PMU's name: use --pmu NAME");
	probe_counts();
	if (choose_event(&pmu.cycles, PERF_COUNT_HW_CPU_CYCLES, cycles))
		pmu.has |= NEED_CYCLES;
	else
		lacks(NEED_CYCLES, "it does not count cycles");

	attr_sampling(&attr, 100000, PERF_SAMPLE_IP);
	probe(NEED_SAMPLING, &attr, 0, -1, "it does not sample");
	attr_instructions(&attr);
	attr.exclude_kernel = 0;
	if (pmu.instructions.exclude_kernel)
		probe(NEED_KERNEL, &attr, 0, -1, "the kernel cannot be counted");
	else
		lacks(NEED_KERNEL, "exclude_kernel is refused");
	attr_instructions(&attr);
	probe(NEED_CPU_WIDE, &attr, -1, pmu.cpu, "CPU-wide events are refused");
	pmu.group = largest_group(&pmu.group_opened);
	if (pmu.group >= 3)
		pmu.has |= NEED_GROUPS;
	else
		lacks(NEED_GROUPS, "groups have room for %u", pmu.group);
	if (pmu.nr_cpus > 1)
		pmu.has |= NEED_CPUS;
	else
		lacks(NEED_CPUS, "there is one CPU");
	if (!geteuid())
		pmu.has |= NEED_ROOT;
	else
		lacks(NEED_ROOT, "it needs root");
	if (disrupt)
		pmu.has |= NEED_DISRUPT;
	else
		lacks(NEED_DISRUPT, "it changes the machine or disturbs it: use --disrupt");
	return NULL;
}
