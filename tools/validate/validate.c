// SPDX-License-Identifier: GPL-2.0-only
/*
 * validate.c - pmu-validate: does a perf PMU do what perf_event_open(2) says?
 *
 * Each check runs in a process of its own, so that one that crashes or never
 * ends fails alone. What a PMU can do is found out from sysfs and by trying; a
 * check of something else is skipped and says why.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#include "validate.h"

/* Seconds of a clock that a check may take. */
#define CHECK_SECONDS	120
#define MAX_LINES	64

struct pmu pmu;

static const struct check_list *const lists[] = {
	&identity_checks, &count_checks, &task_checks, &group_checks, &sample_checks,
	&notify_checks, &storm_checks, &field_checks, &ring_checks, &page_checks, &error_checks,
	&machine_checks, &branch_checks,
};

/* Attributes */

void attr_instructions(struct perf_event_attr *attr)
{
	*attr = pmu.instructions;
}

void attr_cycles(struct perf_event_attr *attr)
{
	*attr = pmu.cycles;
}

int open_instructions(void)
{
	struct perf_event_attr attr;

	attr_instructions(&attr);
	return event_open_self(&attr, -1);
}

void attr_sampling(struct perf_event_attr *attr, u64 period, u64 sample_type)
{
	attr_instructions(attr);
	attr->sample_period = period;
	attr->sample_type = sample_type;
}

int open_sampling(struct ring *ring, struct perf_event_attr *attr, unsigned int pages)
{
	int fd = event_open_self(attr, -1);
	int error = fd < 0 ? 0 : ring_map(ring, fd, pages);

	if (!error)
		return fd;
	close(fd);
	return error;
}

void close_sampling(struct ring *ring, int fd)
{
	ring_unmap(ring);
	close(fd);
}

/* Interrupts of the machine may add some where the machine is not deterministic. */
u64 count_slack(u64 count)
{
	return pmu.exact ? 200 : 2000 + count / 500;
}

bool expect_count(const char *what, u64 want, u64 got)
{
	return expect_range(what, want, want + count_slack(want), got);
}

void expect_sane(void)
{
	int fd = open_instructions();

	if (fd < 0)
		return;
	expect_count("instructions of a loop afterwards", LOOP, event_count_loop(fd, ITERATIONS));
	close(fd);
}

u64 now_ns(int clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Finding out what there is */

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

/* The generic event of this very PMU, one of its own, or whoever answers. */
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
	fd = event_open(attr, 0, -1, -1, 0);
	if (fd < 0 && pmu.name) {
		attr->config = 0;
		attr->type = pmu.type;
		if (!find_event(names, attr))
			return false;
		fd = event_open(attr, 0, -1, -1, 0);
	}
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* The most that a group takes and that then also counts. */
static unsigned int largest_group(void)
{
	int fds[64], nr;

	for (nr = 0; nr < (int)ARRAY_SIZE(fds); nr++) {
		struct perf_event_attr attr = pmu.instructions;

		attr.disabled = !nr;
		fds[nr] = event_open(&attr, 0, -1, nr ? fds[0] : -1, 0);
		if (fds[nr] < 0)
			break;
	}
	while (nr > 1 && event_count_loop(fds[0], 1000) < 1000)
		close(fds[--nr]);
	close_all(fds, nr);
	return nr;
}

/* Does the clock count instructions? Then so can we. */
static bool clock_counts_instructions(void)
{
	u64 start, end[3];
	int i;

	for (i = 0; i < 3; i++) {
		start = now_ns(CLOCK_MONOTONIC);
		known_loop(10000);
		end[i] = now_ns(CLOCK_MONOTONIC) - start;
		if (end[i] < 10000 * LOOP_INSNS || end[i] > 10000 * LOOP_INSNS + 2000)
			return false;
	}
	return true;
}

static void find_out(bool disrupt)
{
	static const char *const instructions[] = { "instructions", "inst_retired", NULL };
	static const char *const cycles[] = { "cpu-cycles", "cpu_cycles", "cycles", NULL };
	struct perf_event_attr attr;
	char path[256], text[256];

	pmu.exact = clock_counts_instructions();
	if (pmu.name) {
		pmu.has |= NEED_PMU;
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/cpus", pmu.name);
		if (read_text(path, text, sizeof(text)))
			pmu.cpu = first_cpu_of(text);
	} else {
		lacks(NEED_PMU, "no --pmu was given");
	}
	if (!choose_event(&pmu.instructions, PERF_COUNT_HW_INSTRUCTIONS, instructions)) {
		printf("KTAP version 1\nBail out! %s counts no instructions for this user\n",
		       pmu.name ?: "whoever answers to generic events");
		exit(1);
	}
	if (choose_event(&pmu.cycles, PERF_COUNT_HW_CPU_CYCLES, cycles))
		pmu.has |= NEED_CYCLES;
	else
		lacks(NEED_CYCLES, "it does not count cycles");

	attr_sampling(&attr, 100000, PERF_SAMPLE_IP);
	probe(NEED_SAMPLING, &attr, 0, -1, "it does not sample");
	attr_instructions(&attr);
	attr.exclude_kernel = 0;
	probe(NEED_KERNEL, &attr, 0, -1, "the kernel is not counted");
	probe(NEED_CPU_WIDE, &attr, -1, pmu.cpu, "CPU-wide events are refused");
	pmu.group = largest_group();
	if (pmu.group >= 3)
		pmu.has |= NEED_GROUPS;
	else
		lacks(NEED_GROUPS, "groups have room for %u", pmu.group);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		pmu.has |= NEED_CPUS;
	else
		lacks(NEED_CPUS, "there is one CPU");
	if (!geteuid())
		pmu.has |= NEED_ROOT;
	else
		lacks(NEED_ROOT, "it takes root");
	if (disrupt && !geteuid())
		pmu.has |= NEED_DISRUPT;
	else
		lacks(NEED_DISRUPT, "it disturbs others; --disrupt as root allows it");
}

/* Running a check and telling of it */

enum { PASS, FAIL, SKIP };

struct outcome {
	int result;
	char reason[256];
	char lines[MAX_LINES][600];
	unsigned int nr_lines;
};

static void add_line(struct outcome *outcome, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add_line(struct outcome *outcome, const char *fmt, ...)
{
	va_list ap;

	if (outcome->nr_lines == MAX_LINES)
		return;
	va_start(ap, fmt);
	vsnprintf(outcome->lines[outcome->nr_lines++], sizeof(outcome->lines[0]), fmt, ap);
	va_end(ap);
}

/* What a check's process wrote: diagnostics, and at last how it ended. */
static void read_outcome(char *text, bool complete, struct outcome *outcome)
{
	char *line, *skip;

	outcome->result = FAIL;
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strncmp(line, "# ", 2)) {
			add_line(outcome, "%s", line + 2);
		} else if (!strncmp(line, "ok ", 3) && complete) {
			skip = strstr(line, "# SKIP ");
			outcome->result = skip ? SKIP : PASS;
			if (skip)
				snprintf(outcome->reason, sizeof(outcome->reason), "%s", skip + 7);
		}
	}
}

static void run_check(const struct check *check, struct outcome *outcome)
{
	static char text[1 << 16];
	size_t len = 0;
	int fds[2], status = 0;
	time_t deadline;
	bool late = false;
	pid_t pid;

	fflush(stdout);
	if (pipe(fds)) {
		perror("pmu-validate: pipe");
		exit(1);
	}
	pid = fork();
	if (pid < 0) {
		perror("pmu-validate: fork");
		exit(1);
	}
	if (!pid) {
		setpgid(0, 0);
		dup2(fds[1], STDOUT_FILENO);
		setvbuf(stdout, NULL, _IOLBF, 0);
		close(fds[0]);
		close(fds[1]);
		ktap_begin("%s", check->name);
		check->run();
		ktap_end();
		exit(0);
	}
	close(fds[1]);
	deadline = time(NULL) + CHECK_SECONDS;
	while (len < sizeof(text) - 1) {
		struct pollfd pollfd = { .fd = fds[0], .events = POLLIN };
		ssize_t got;

		if (poll(&pollfd, 1, 1000) > 0) {
			got = read(fds[0], text + len, sizeof(text) - 1 - len);
			if (got <= 0)
				break;
			len += got;
		}
		late = time(NULL) >= deadline;
		if (late)
			break;
	}
	text[len] = '\0';
	kill(-pid, SIGKILL);
	if (late)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(fds[0]);
	/* The group is killed when it has said all: by then its status says nothing. */
	read_outcome(text, !late, outcome);
	if (late)
		add_line(outcome, "expected to end within %d seconds, it did not", CHECK_SECONDS);
	else if (outcome->result == FAIL && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
		add_line(outcome, "expected to end, was killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (outcome->result == FAIL && check->rule)
		add_line(outcome, "breaks: %s", check->rule);
}

static bool may_run(const struct check *check, struct outcome *outcome)
{
	unsigned int missing = check->needs & ~pmu.has;

	if (!missing)
		return true;
	outcome->result = SKIP;
	snprintf(outcome->reason, sizeof(outcome->reason), "%s",
		 pmu.missing[__builtin_ctz(missing)]);
	return false;
}

static void print_ktap(const struct check *check, const struct outcome *outcome,
		       unsigned int number)
{
	unsigned int i;

	for (i = 0; i < outcome->nr_lines; i++)
		printf("# %s\n", outcome->lines[i]);
	printf("%sok %u - %s: %s", outcome->result == FAIL ? "not " : "", number,
	       check->area, check->name);
	if (outcome->result == SKIP)
		printf(" # SKIP %s", outcome->reason);
	printf("\n");
}

static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		if ((unsigned char)*text >= ' ')
			putchar(*text);
	}
	putchar('"');
}

static void print_json(const struct check *check, const struct outcome *outcome,
		       unsigned int number)
{
	static const char *const results[] = { "pass", "fail", "skip" };
	unsigned int i;

	printf("%s\n  {\"area\": ", number > 1 ? "," : "");
	print_string(check->area);
	printf(", \"name\": ");
	print_string(check->name);
	printf(", \"result\": \"%s\", \"rule\": ", results[outcome->result]);
	print_string(check->rule ?: "");
	if (outcome->result == SKIP) {
		printf(", \"reason\": ");
		print_string(outcome->reason);
	}
	printf(", \"lines\": [");
	for (i = 0; i < outcome->nr_lines; i++) {
		printf("%s", i ? ", " : "");
		print_string(outcome->lines[i]);
	}
	printf("]}");
	fflush(stdout);
}

static bool is_chosen(const struct check *check, const char *filter)
{
	char full[256];

	snprintf(full, sizeof(full), "%s: %s", check->area, check->name);
	return !filter || strcasestr(full, filter);
}

static void usage(FILE *out)
{
	fprintf(out,
		"usage: pmu-validate [OPTION]...\n"
		"  --pmu NAME      a PMU of /sys/bus/event_source/devices (without: generic events)\n"
		"  --filter TEXT   only checks whose \"area: name\" has this text\n"
		"  --disrupt       also take CPUs off line, suspend and try to unload the module\n"
		"  --json          JSON instead of KTAP\n"
		"  --list          what is checked, and by which rule\n");
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pmu", required_argument, NULL, 'p' },
		{ "filter", required_argument, NULL, 'f' },
		{ "disrupt", no_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "list", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	unsigned int nr = 0, number = 0, totals[3] = { 0 }, i, j;
	bool json = false, list = false, disrupt = false;
	const char *filter = NULL;
	struct utsname uts;
	char path[256];
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 'p':
			pmu.name = optarg;
			break;
		case 'f':
			filter = optarg;
			break;
		case 'd':
			disrupt = true;
			break;
		case 'j':
			json = true;
			break;
		case 'l':
			list = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return 2;
		}
	}
	if (optind < argc) {
		usage(stderr);
		return 2;
	}
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		for (j = 0; j < lists[i]->nr; j++) {
			const struct check *check = &lists[i]->checks[j];

			if (!is_chosen(check, filter))
				continue;
			nr++;
			if (list)
				printf("%s: %s\n\t%s\n", check->area, check->name, check->rule);
		}
	}
	if (list)
		return 0;
	if (!nr) {
		fprintf(stderr, "pmu-validate: no check has '%s' in its name; see --list.\n",
			filter);
		return 2;
	}
	if (pmu.name) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu.name);
		pmu.type = read_number(path);
		if (pmu.type < 0) {
			fprintf(stderr, "pmu-validate: there is no PMU %s in /sys/bus/event_source/devices.\n",
				pmu.name);
			return 2;
		}
	}
	find_out(disrupt);
	uname(&uts);
	if (json) {
		printf("[");
	} else {
		printf("KTAP version 1\n1..%u\n", nr);
		printf("# %s on Linux %s (%s), %u events in a group, %s\n",
		       pmu.name ?: "generic events", uts.release, uts.machine, pmu.group,
		       pmu.exact ? "every count exact" : "counts within 0.2 percent");
	}
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		for (j = 0; j < lists[i]->nr; j++) {
			const struct check *check = &lists[i]->checks[j];
			static struct outcome outcome;

			if (!is_chosen(check, filter))
				continue;
			memset(&outcome, 0, sizeof(outcome));
			if (may_run(check, &outcome))
				run_check(check, &outcome);
			totals[outcome.result]++;
			if (json)
				print_json(check, &outcome, ++number);
			else
				print_ktap(check, &outcome, ++number);
		}
	}
	if (json)
		printf("\n]\n");
	else
		printf("# Totals: pass:%u fail:%u skip:%u\n", totals[PASS], totals[FAIL],
		       totals[SKIP]);
	return totals[FAIL] ? 1 : 0;
}
