// SPDX-License-Identifier: GPL-2.0-only
/*
 * descriptor.c - requests on an event's descriptor that are rejected: ioctl(2), mmap(2), read(2)
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "errors.h"

static void fd_flags(void)
{
	int leader = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	fd = event_open(&attr, 0, -1, leader, PERF_FLAG_FD_NO_GROUP);
	expect_error("PERF_FLAG_FD_NO_GROUP", 0, fd);
	if (fd >= 0) {
		/* The event is no sibling: it counts while the leader is disabled. */
		event_is_exact(fd, 5000);
		close(fd);
	}
	expect_error("PERF_FLAG_FD_OUTPUT to an event without a buffer", EINVAL,
		     event_open(&attr, 0, -1, leader, PERF_FLAG_FD_OUTPUT));
	fd = event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	expect_error("PERF_FLAG_FD_CLOEXEC", 0, fd);
	expect_eq("its close-on-exec flag", FD_CLOEXEC, fcntl(fd, F_GETFD));
	close(fd);
	expect_eq("an event's without it", 0, fcntl(leader, F_GETFD));
	close(leader);
}

static void ioctls_of_counting(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	u64 value = 1000;

	expect_error("REFRESH", EINVAL, try_ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
	expect_error("PERIOD", EINVAL,
		     try_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&value));
	expect_error("PERIOD from nowhere", EFAULT,
		     try_ioctl(fd, PERF_EVENT_IOC_PERIOD, -4096UL));
	expect_error("ID to nowhere", EFAULT,
		     try_ioctl(fd, PERF_EVENT_IOC_ID, -4096UL));
	expect_error("SET_FILTER", EINVAL,
		     try_ioctl(fd, PERF_EVENT_IOC_SET_FILTER,
			       (unsigned long)"pid == 1"));
	expect_error("SET_BPF with a descriptor that is no program", EINVAL,
		     try_ioctl(fd, PERF_EVENT_IOC_SET_BPF, fd));
	expect_error("SET_BPF with no descriptor", EBADF,
		     try_ioctl(fd, PERF_EVENT_IOC_SET_BPF, 9999));
	expect_error("QUERY_BPF", EINVAL,
		     try_ioctl(fd, PERF_EVENT_IOC_QUERY_BPF,
			       (unsigned long)&value));
	expect_error("PAUSE_OUTPUT without a buffer", EINVAL,
		     try_ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	expect_error("an ioctl of perf's that does not exist", ENOTTY,
		     try_ioctl(fd, _IO('$', 200), 0));
	expect_error("an ioctl of others", ENOTTY,
		     try_ioctl(fd, _IO('x', 1), 0));
	event_is_exact(fd, 5000);
	close(fd);
}

static void modify_attributes(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	struct perf_event_attr attr;

	attr_init(&attr, ARCH_EVENT_CYCLES);
	expect_error("MODIFY_ATTRIBUTES of a hardware event", EOPNOTSUPP,
		     try_ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
			       (unsigned long)&attr));
	attr.type++;
	expect_error("MODIFY_ATTRIBUTES to another type", EINVAL,
		     try_ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
			       (unsigned long)&attr));
	event_is_exact(fd, 5000);
	close(fd);
}

static void set_output(void)
{
	int mine = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	struct perf_event_attr attr;
	struct ring ring;
	int cpu;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	cpu = event_open(&attr, -1, 0, -1, 0);
	expect_error("SET_OUTPUT to an event of a CPU", EINVAL,
		     try_ioctl(mine, PERF_EVENT_IOC_SET_OUTPUT, cpu));
	expect_error("SET_OUTPUT to itself", EINVAL,
		     try_ioctl(mine, PERF_EVENT_IOC_SET_OUTPUT, mine));
	expect_error("SET_OUTPUT to a descriptor that is no event", EBADF,
		     try_ioctl(mine, PERF_EVENT_IOC_SET_OUTPUT, 0));
	expect_error("SET_OUTPUT to nowhere", EBADF,
		     try_ioctl(mine, PERF_EVENT_IOC_SET_OUTPUT, 9999));
	expect_error("SET_OUTPUT to none", 0,
		     try_ioctl(mine, PERF_EVENT_IOC_SET_OUTPUT, -1UL));
	if (!ring_map(&ring, mine, 1)) {
		expect_error("SET_OUTPUT of an event with a buffer", EINVAL,
			     try_ioctl(mine, PERF_EVENT_IOC_SET_OUTPUT, -1UL));
		ring_unmap(&ring);
	}
	close(cpu);
	close(mine);
}

static void refresh_inherited(void)
{
	struct perf_event_attr attr;
	u64 value = 0;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = 100000;
	attr.inherit = 1;
	fd = event_open_self(&attr, -1);
	expect_error("REFRESH of an inherited event", EINVAL,
		     try_ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
	expect_error("PERIOD of 0", EINVAL,
		     try_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&value));
	value = 1ULL << 63;
	expect_error("PERIOD of 2^63", EINVAL,
		     try_ioctl(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&value));
	close(fd);
}

static void mappings(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr;
	struct ring ring;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = 100000;
	fd = event_open_self(&attr, -1);
	expect_error("a private mapping", EINVAL,
		     try_map(fd, 2 * page, MAP_PRIVATE, 0));
	expect_error("three data pages", EINVAL,
		     try_map(fd, 4 * page, MAP_SHARED, 0));
	expect_error("an offset before any buffer", EINVAL,
		     try_map(fd, page, MAP_SHARED, page));
	expect_error("an offset that is no page", EINVAL,
		     try_map(fd, page, MAP_SHARED, 100));
	expect_error("the first page alone", 0,
		     try_map(fd, page, MAP_SHARED, 0));
	if (!ring_map(&ring, fd, 2)) {
		expect_error("a second mapping of another size", EINVAL,
			     try_map(fd, 2 * page, MAP_SHARED, 0));
		expect_error("a second mapping of the same size", 0,
			     try_map(fd, 3 * page, MAP_SHARED, 0));
		expect_error("an offset without a trace buffer", EINVAL,
			     try_map(fd, page, MAP_SHARED, 3 * page));
		ring_unmap(&ring);
	}
	event_is_exact(fd, 5000);
	close(fd);

	attr.inherit = 1;
	fd = event_open_self(&attr, -1);
	expect_error("an inherited event of any CPU", EINVAL,
		     try_map(fd, 2 * page, MAP_SHARED, 0));
	close(fd);
}

static void reads_and_writes(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	u64 buffer[4];

	expect_error("a read of no bytes", ENOSPC,
		     read(fd, buffer, 0) < 0 ? -errno : 0);
	expect_error("a read of seven bytes", ENOSPC,
		     read(fd, buffer, 7) < 0 ? -errno : 0);
	expect_error("a read to nowhere", EFAULT,
		     read(fd, (void *)-4096L, 8) < 0 ? -errno : 0);
	expect_error("a write", EINVAL,
		     write(fd, buffer, 8) < 0 ? -errno : 0);
	expect_error("a seek", ESPIPE,
		     lseek(fd, 8, SEEK_SET) < 0 ? -errno : 0);
	event_is_exact(fd, 5000);
	close(fd);
}

static void running_out_of_descriptors(void)
{
	struct rlimit old, few = { 16, 0 };
	struct perf_event_attr attr;
	int fds[32], nr = 0, i;

	getrlimit(RLIMIT_NOFILE, &old);
	few.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_NOFILE, &few);
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	for (i = 0; i < 32; i++) {
		fds[nr] = open_on_self(&attr, -1);
		if (fds[nr] < 0)
			break;
		nr++;
	}
	setrlimit(RLIMIT_NOFILE, &old);
	expect_eq("open with no descriptor left", -EMFILE, fds[nr]);
	close_all(fds, nr);
}

static const struct ktap_case cases[] = {
	{ "PERF_FLAG_FD_*, taken and refused", fd_flags },
	{ "ioctls that a counting event refuses", ioctls_of_counting },
	{ "MODIFY_ATTRIBUTES is refused", modify_attributes },
	{ "SET_OUTPUT to what cannot be is refused", set_output },
	{ "REFRESH of an inherited event and bad periods are refused", refresh_inherited },
	{ "mappings that cannot be are refused", mappings },
	{ "short reads, writes and seeks are refused", reads_and_writes },
	{ "open without a descriptor left is refused", running_out_of_descriptors },
};

const struct ktap_list errors_descriptor_cases = { cases, ARRAY_SIZE(cases) };
