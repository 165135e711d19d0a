// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf_util.c - perf_event_open(2) for programs of guests
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "perf_util.h"

ARCH_KNOWN_LOOP;

struct target target;

long read_number(const char *path)
{
	long value = -1;
	FILE *file;

	file = fopen(path, "r");
	if (!file)
		return -errno;
	if (fscanf(file, "%ld", &value) != 1)
		value = -EINVAL;
	fclose(file);
	return value;
}

bool command_line_has(const char *word)
{
	FILE *file = fopen("/proc/cmdline", "re");
	char line[4096] = "";

	if (file) {
		if (!fgets(line, sizeof(line), file))
			line[0] = 0;
		fclose(file);
	}
	return strstr(line, word);
}

static unsigned int capability(const char *name)
{
	char path[128];
	long nr;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/caps/%s", target.pmu, name);
	nr = read_number(path);
	return nr > 0 ? nr : 0;
}

unsigned int branch_records(void)
{
	return capability("branches");
}

unsigned int max_precise(void)
{
	return capability("max_precise");
}

int write_number(const char *path, long value)
{
	char text[32];
	int fd, len, ret = 0;

	fd = open(path, O_WRONLY);
	if (fd < 0)
		return -errno;
	len = snprintf(text, sizeof(text), "%ld\n", value);
	if (write(fd, text, len) != len)
		ret = -errno;
	close(fd);
	return ret;
}

void limit_sample_rate(unsigned int rate)
{
	write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 25);
	write_number("/proc/sys/kernel/perf_event_max_sample_rate", rate);
	write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 0);
}

/*
 * The module's PMUs start with the name with which it was loaded, which may be the built-in
 * driver's.
 */
static bool is_in_tree(const char *pmu)
{
	FILE *file = fopen("/sys/module/corepmu/parameters/name", "r");
	char name[64] = "corepmu";

	if (file) {
		if (fscanf(file, "%63s", name) != 1)
			ktap_diag("the module's name cannot be read");
		fclose(file);
	}
	return strncmp(pmu, name, strlen(name)) != 0;
}

void target_init(int argc, char **argv)
{
	const struct arch_counters counters = arch_counters();
	unsigned int major = 0, minor = 0;
	struct utsname uts;
	char path[256];

	target.pmu = getenv("PMU");
	if (!target.pmu || !target.pmu[0])
		target.pmu = ARCH_DEFAULT_PMU;
	target.counters = counters.instructions;
	target.cycles = counters.cycles;
	target.all = counters.all;
	target.branches = counters.branches;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--pmu") && i + 1 < argc) {
			target.pmu = argv[++i];
		} else {
			fprintf(stderr, "usage: %s [--pmu NAME]\n", argv[0]);
			exit(2);
		}
	}
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type",
		 target.pmu);
	target.type = read_number(path);
	if (target.type < 0) {
		printf("KTAP version 1\nBail out! no PMU named %s\n",
		       target.pmu);
		exit(1);
	}
	target.loop_cycles = arch_loop_cycles(target.pmu);
	target.in_tree = is_in_tree(target.pmu);
	uname(&uts);
	if (sscanf(uts.release, "%u.%u", &major, &minor) != 2)
		printf("# cannot tell the kernel from %s\n", uts.release);
	target.kernel = major * 100 + minor;
}

void attr_init(struct perf_event_attr *attr, u64 config)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = target.type;
	attr->config = config;
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
}

void attr_init_generic(struct perf_event_attr *attr, u64 config)
{
	attr_init(attr, config);
	attr->type = PERF_TYPE_HARDWARE;
}

int event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
	       unsigned long flags)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, flags);

	return fd < 0 ? -errno : fd;
}

int event_open_self(struct perf_event_attr *attr, int group)
{
	int fd = event_open(attr, 0, -1, group, 0);

	if (fd < 0)
		ktap_fail("open of type %u config 0x%llx: expected a descriptor, got %s",
			  attr->type, (unsigned long long)attr->config,
			  strerror(-fd));
	return fd;
}

int event_open_user(u64 config, int group)
{
	struct perf_event_attr attr;

	attr_init(&attr, config);
	if (group != -1)
		attr.disabled = 0;
	return event_open_self(&attr, group);
}

void open_page_faults(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
	};

	event_open(&attr, 0, -1, -1, 0);
}

void event_enable(int fd)
{
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

void event_disable(int fd)
{
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

void event_reset(int fd)
{
	ioctl(fd, PERF_EVENT_IOC_RESET, 0);
}

u64 event_read(int fd)
{
	u64 value = 0;
	ssize_t len;

	len = read(fd, &value, sizeof(value));
	if (len != sizeof(value))
		ktap_fail("read of a count: expected 8 bytes, got %zd (%s)",
			  len, len < 0 ? strerror(errno) : "short");
	return value;
}

bool event_read_times(int fd, struct event_times *times)
{
	ssize_t len;

	len = read(fd, times, sizeof(*times));
	if (len == sizeof(*times))
		return true;
	memset(times, 0, sizeof(*times));
	ktap_fail("read of a count with times: expected 24 bytes, got %zd (%s)",
		  len, len < 0 ? strerror(errno) : "short");
	return false;
}

u64 loop_counts(u64 config, unsigned long iterations)
{
	if (config == ARCH_EVENT_CYCLES)
		return target.loop_cycles * iterations;
	if (config == ARCH_EVENT_INSTRUCTIONS)
		return LOOP_INSNS * iterations;
	return iterations;
}

__attribute__((noipa)) u64 event_count_loop(int fd, unsigned long iterations)
{
	event_reset(fd);
	event_run_loop(fd, iterations);
	return event_read(fd);
}

bool event_is_exact(int fd, unsigned long iterations)
{
	u64 base = event_count_loop(fd, 1);
	u64 count = event_count_loop(fd, iterations);

	return expect_eq("user instructions of the known loop",
			 LOOP_INSNS * (iterations - 1), count - base);
}

bool pmu_is_exact(unsigned long iterations)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	bool ret;

	if (fd < 0)
		return false;
	ret = event_is_exact(fd, iterations);
	close(fd);
	return ret;
}

/* Add the numbers of one line of /proc/interrupts, one per CPU. */
static long sum_numbers(const char *text)
{
	long sum = 0, number;
	int len;

	while (sscanf(text, "%ld%n", &number, &len) == 1) {
		sum += number;
		text += len;
	}
	return sum;
}

long pmu_interrupts(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	long number = -1;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, ARCH_INTERRUPTS) && strchr(line, ':')) {
			number = sum_numbers(strchr(line, ':') + 1);
			break;
		}
	}
	if (file)
		fclose(file);
	return number;
}

void close_all(int *fds, unsigned int nr)
{
	while (nr--) {
		if (fds[nr] >= 0)
			close(fds[nr]);
		fds[nr] = -1;
	}
}
