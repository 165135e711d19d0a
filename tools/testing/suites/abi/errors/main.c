// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the suite "errors": requests that are rejected, with their errors; the PMU still counts
 * exactly after each
 *
 * The errors are those of perf_event_open(2), and where it says nothing, those of the built-in
 * driver. For the exact lane.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "errors.h"

static const struct ktap_list *const lists[] = {
	&errors_event_cases, &errors_descriptor_cases, &errors_paranoid_cases,
};

int open_on_self(struct perf_event_attr *attr, int group)
{
	return event_open(attr, 0, -1, group, 0);
}

int try_ioctl(int fd, unsigned long request, unsigned long arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

int try_map(int fd, size_t length, int flags, off_t offset)
{
	void *at = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, fd, offset);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, length);
	return 0;
}

bool expect_error(const char *what, int error, int ret)
{
	int got = ret < 0 ? -ret : 0;

	return expect_or_say(got == error, "%s: expected %s, got %s", what,
			     error ? strerror(error) : "success",
			     got ? strerror(got) : "success");
}

static void run_list(const struct ktap_list *list)
{
	unsigned int i;

	for (i = 0; i < list->nr; i++) {
		ktap_begin("%s", list->cases[i].name);
		list->cases[i].run();
		pmu_is_exact(5000);
		ktap_end();
	}
}

int main(int argc, char **argv)
{
	unsigned int nr = errors_open_cases(), i;

	target_init(argc, argv);
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		nr += lists[i]->nr;
	ktap_plan(nr);
	errors_run_open_cases();
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		run_list(lists[i]);
	return ktap_status();
}
