// SPDX-License-Identifier: GPL-2.0-only
/*
 * user_util.c - functions for suites that test counters read by user space
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user_util.h"

void reader_attr_init(struct perf_event_attr *attr, u64 config, u64 config1)
{
	attr_init(attr, config);
	attr->config1 = config1 | ARCH_CONFIG1_RDPMC;
}

bool reader_open_attr(struct reader *reader, struct perf_event_attr *attr)
{
	memset(reader, 0, sizeof(*reader));
	attr->config1 |= ARCH_CONFIG1_RDPMC;
	reader->fd = event_open_self(attr, -1);
	if (reader->fd < 0)
		return false;
	if (reader_map(reader))
		return true;
	close(reader->fd);
	return false;
}

bool reader_open(struct reader *reader, u64 config, u64 config1)
{
	struct perf_event_attr attr;

	reader_attr_init(&attr, config, config1);
	return reader_open_attr(reader, &attr);
}

static const char *allow_path(void)
{
	static char path[256];

#if defined(__x86_64__)
	snprintf(path, sizeof(path), ARCH_USER_READ_FILE, target.pmu);
#else
	snprintf(path, sizeof(path), "%s", ARCH_USER_READ_FILE);
#endif
	return path;
}

int user_read_allow(long value)
{
	return write_number(allow_path(), value);
}

long user_read_allowed(void)
{
	return read_number(allow_path());
}

static __thread sigjmp_buf fault_return;

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(fault_return, 1);
}

void scan_counters(struct counter_scan *scan)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	volatile unsigned int i;
	u64 value;

	/* The handler stays: other threads may be reading too. */
	sigaction(ARCH_USER_READ_SIGNAL, &action, NULL);
	for (i = 0; i < ARRAY_SIZE(arch_user_counters); i++) {
		if (sigsetjmp(fault_return, 0)) {
			scan->faults++;
			continue;
		}
		value = user_read_counter(arch_user_counters[i]);
		scan->values++;
		if (!value || arch_user_counters[i] + 1 == scan->own)
			continue;
		scan->seen++;
		scan->counter = arch_user_counters[i];
		scan->value = value;
	}
}

bool expect_all_zero(const char *what, const struct counter_scan *scan)
{
	return expect_or_say(!scan->seen,
			     "%s: expected zero or a fault, got %llu from counter %#x and %u values more",
			     what, (unsigned long long)scan->value, scan->counter,
			     scan->seen - 1);
}
