// SPDX-License-Identifier: GPL-2.0-only
/*
 * identity.c - a PMU's files in sysfs, and whether they are true
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>

#include "judge/validate.h"

#define DEVICES	"/sys/bus/event_source/devices"

bool read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "r");
	size_t len;

	if (!file)
		return false;
	len = fread(text, 1, size - 1, file);
	fclose(file);
	text[len] = '\0';
	while (len && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return true;
}

static void pmu_path(char *path, size_t size, const char *dir, const char *name)
{
	snprintf(path, size, DEVICES "/%s/%s%s%s", pmu.name, dir, name ? "/" : "", name ?: "");
}

bool parse_cpus(const char *list, cpu_set_t *set)
{
	unsigned long first, last;
	char *end;

	CPU_ZERO(set);
	do {
		first = strtoul(list, &end, 10);
		if (end == list)
			return false;
		last = first;
		if (*end == '-') {
			list = end + 1;
			last = strtoul(list, &end, 10);
			if (end == list)
				return false;
		}
		for (; first <= last && first < CPU_SETSIZE; first++)
			CPU_SET(first, set);
		list = end + 1;
	} while (*end == ',');
	return !*end;
}

/* Parse a format such as "config1:0-7,32-35": the word, and its bits. */
static bool parse_format(const char *text, int *word, u64 *mask)
{
	char *end;

	if (strncmp(text, "config", 6))
		return false;
	text += 6;
	*word = isdigit((unsigned char)*text) ? *text++ - '0' : 0;
	if (*text++ != ':' || *word > 3)
		return false;
	*mask = 0;
	do {
		unsigned long low, high;

		low = strtoul(text, &end, 10);
		if (end == text)
			return false;
		high = low;
		if (*end == '-') {
			text = end + 1;
			high = strtoul(text, &end, 10);
			if (end == text)
				return false;
		}
		if (low > high || high > 63)
			return false;
		*mask |= (~0ULL << low) & (~0ULL >> (63 - high));
		text = end + 1;
	} while (*end == ',');
	return !*end;
}

static bool set_term(struct perf_event_attr *attr, const char *name, u64 value)
{
	char path[512], text[128];
	u64 mask, *config, bits = 0;
	int word;

	pmu_path(path, sizeof(path), "format", name);
	if (!read_text(path, text, sizeof(text)) || !parse_format(text, &word, &mask))
		return false;
	if (word > 2)
		return false;
	for (int bit = 0; bit < 64; bit++) {
		if (mask & 1ULL << bit) {
			bits |= (value & 1) << bit;
			value >>= 1;
		}
	}
	config = word == 0 ? (u64 *)&attr->config : word == 1 ? (u64 *)&attr->config1 :
							       (u64 *)&attr->config2;
	*config |= bits;
	return !value;
}

bool parse_terms(const char *terms, struct perf_event_attr *attr)
{
	char copy[256], *term, *next, *value;

	snprintf(copy, sizeof(copy), "%s", terms);
	for (term = copy; term; term = next) {
		next = strchr(term, ',');
		if (next)
			*next++ = '\0';
		value = strchr(term, '=');
		if (value)
			*value++ = '\0';
		/* The user has to give a value. */
		if (value && *value == '?')
			continue;
		if (!set_term(attr, term, value ? strtoull(value, NULL, 0) : 1))
			return false;
	}
	return true;
}

bool find_event(const char *const *names, struct perf_event_attr *attr)
{
	char path[512], text[256];

	for (; *names; names++) {
		pmu_path(path, sizeof(path), "events", *names);
		if (read_text(path, text, sizeof(text)) && parse_terms(text, attr))
			return true;
	}
	return false;
}

typedef void (*visit_t)(const char *name, const char *text);

static void visit_files(const char *dir, visit_t visit)
{
	char path[512], text[512];
	struct dirent *entry;
	DIR *handle;

	pmu_path(path, sizeof(path), dir, NULL);
	handle = opendir(path);
	if (!handle) {
		ktap_skip("the PMU has no %s in sysfs", dir);
		return;
	}
	while ((entry = readdir(handle))) {
		if (entry->d_name[0] == '.')
			continue;
		pmu_path(path, sizeof(path), dir, entry->d_name);
		if (!read_text(path, text, sizeof(text)))
			ktap_fail("%s/%s: expected a file that can be read, got %s", dir,
				  entry->d_name, strerror(errno));
		else
			visit(entry->d_name, text);
	}
	closedir(handle);
}

static void type_is_unique(void)
{
	struct dirent *entry;
	unsigned int same = 0;
	char path[512];
	DIR *handle;

	handle = opendir(DEVICES);
	while (handle && (entry = readdir(handle))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), DEVICES "/%s/type", entry->d_name);
		same += read_number(path) == pmu.type;
	}
	if (handle)
		closedir(handle);
	expect_eq("PMUs of this type", 1, same);
}

static void own_type_opens(void)
{
	static const char *const names[] = { "instructions", "inst_retired", "cpu-cycles",
					     "cpu_cycles", NULL };
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = 1, .exclude_kernel = 1,
					.exclude_hv = 1 };
	int fd;

	attr.type = pmu.type;
	if (!find_event(names, &attr)) {
		ktap_skip("events/ has neither instructions nor cycles");
		return;
	}
	fd = open_event(&attr);
	expect_range("counts of a loop", LOOP / 20, 1000 * LOOP, event_count_loop(fd, ITERATIONS));
	close(fd);
}

/*
 * If the PMU has a named event of instructions, its number is also that of a raw event; a machine
 * with several CPU types gives a raw event to any of them. Format long requests a counter of 64
 * bits, which the CPU may lack.
 */
static void numbers_count(void)
{
	static const char *const names[] = { "instructions", "inst_retired", NULL };
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = 1, .exclude_kernel = 1,
					.exclude_hv = 1 };
	int fd;

	attr.type = pmu.type;
	if (!find_event(names, &attr)) {
		ktap_skip("events/ has no instructions");
		return;
	}
	for (int raw = 0; raw < (is_hybrid() ? 1 : 2); raw++) {
		attr.type = raw ? PERF_TYPE_RAW : pmu.type;
		fd = event_open_self(&attr, -1);
		if (fd >= 0)
			expect_each("instructions by their number", fd, LOOP_INSNS);
		close_all(&fd, 1);
	}
	attr.type = pmu.type;
	fd = parse_terms("long", &attr) ? event_open(&attr, 0, -1, -1, 0) : -1;
	if (fd >= 0)
		expect_each("instructions with 64 bits", fd, LOOP_INSNS);
	close_all(&fd, 1);
}

static u64 format_masks[4];

static void visit_format(const char *name, const char *text)
{
	u64 mask;
	int word;

	if (expect_or_say(parse_format(text, &word, &mask),
			  "format/%s: expected configN:bits, got '%s'", name, text))
		format_masks[word] |= mask;
}

static void formats_parse(void)
{
	visit_files("format", visit_format);
}

static bool has_suffix(const char *name, const char *suffix)
{
	size_t len = strlen(name), end = strlen(suffix);

	return len > end && !strcmp(name + len - end, suffix);
}

/*
 * Check whether events/ is not enough to open an event: a term has a value of the user, or an Intel
 * event needs the leader "slots" or precise samples.
 */
static bool wants_more(const char *name, const char *text)
{
	static const char *const prefixes[] = { "topdown-", "mem-" };

	for (unsigned int i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return strchr(text, '?');
}

static void visit_event(const char *name, const char *text)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = 1, .exclude_kernel = 1,
					.exclude_hv = 1 };
	int fd;

	if (has_suffix(name, ".scale") || has_suffix(name, ".unit") ||
	    has_suffix(name, ".snapshot"))
		return;
	attr.type = pmu.type;
	if (!parse_terms(text, &attr)) {
		ktap_fail("events/%s: expected terms of format/, got '%s'", name, text);
		return;
	}
	fd = event_open(&attr, 0, -1, -1, 0);
	if ((fd == -EINVAL || fd == -EOPNOTSUPP) && wants_more(name, text)) {
		ktap_diag("events/%s: %s on its own", name, strerror(-fd));
	} else if (fd == -EACCES && geteuid()) {
		ktap_diag("events/%s: %s for this user", name, strerror(-fd));
	} else if (expect_or_say(fd >= 0, "events/%s: expected to be opened, got %s", name,
				 strerror(-fd))) {
		event_count_loop(fd, 1000);
		close(fd);
	}
}

static void events_open(void)
{
	visit_files("events", visit_event);
}

static void cpus_are_cpus(void)
{
	char path[256], text[1024];
	cpu_set_t set;
	int cpu, last = 0;

	pmu_path(path, sizeof(path), "cpus", NULL);
	if (!read_text(path, text, sizeof(text))) {
		pmu_path(path, sizeof(path), "cpumask", NULL);
		if (!read_text(path, text, sizeof(text))) {
			ktap_skip("the PMU is for all CPUs");
			return;
		}
	}
	if (!expect_or_say(parse_cpus(text, &set), "cpus: expected a list of CPUs, got '%s'", text))
		return;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			last = cpu;
	expect_range("the last CPU", 0, sysconf(_SC_NPROCESSORS_CONF) - 1, last);
}

static void generic_is_own(void)
{
	struct perf_event_attr attr = pmu.instructions;
	int fd;

	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_INSTRUCTIONS | (u64)pmu.type << PERF_PMU_TYPE_SHIFT;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd == -ENOENT || fd == -EINVAL) {
		ktap_skip("the PMU accepts no generic events with its type in config");
		return;
	}
	expect_true("the event opens", fd >= 0);
	expect_count("instructions", LOOP, event_count_loop(fd, ITERATIONS));
	close(fd);
}

static const struct check checks[] = {
	{ "identity", "no other PMU has its type",
	  MAN "type: \"This contains an integer that can be used in the type field of perf_event_attr to indicate that you wish to use this PMU.\"",
	  type_is_unique, NEED_PMU },
	{ "identity", "an event with its type counts",
	  MAN "\"This contains an integer that can be used in the type field of perf_event_attr to indicate that you wish to use this PMU.\"",
	  own_type_opens, NEED_PMU },
	{ "identity", "raw events and 64-bit events count",
	  MAN "config: \"Most CPUs support events that are not covered by the\", \"These are implementation defined; see your CPU manual\"",
	  numbers_count, NEED_PMU, ON_USER },
	{ "identity", "formats parse",
	  MAN "format/: \"The content of each file is the name of the config field, followed by a colon, followed by a series of integer bit ranges separated by commas.\"",
	  formats_parse, NEED_PMU },
	{ "identity", "events parse and open",
	  MAN "events/: \"The contents are strings describing the event settings expressed in terms of the fields found in the previously mentioned ./format/ directory.\"",
	  events_open, NEED_PMU },
	{ "identity", "its CPUs exist",
	  "drivers/perf/arm_pmu.c, arch/x86/events/intel/core.c: cpus, the CPUs that the PMU is for",
	  cpus_are_cpus, NEED_PMU },
	{ "identity", "generic events with its type",
	  "linux/perf_event.h, Linux 6.12: \"attr.config layout for type PERF_TYPE_HARDWARE and PERF_TYPE_HW_CACHE [...] EEEEEEEE: PMU type ID\"",
	  generic_is_own, NEED_PMU, ON_USER },
};

const struct check_list identity_checks = { checks, ARRAY_SIZE(checks) };
