// SPDX-License-Identifier: GPL-2.0
/*
 * Check whether this machine's PMU counts. If not, print a sentence that says why, and end with
 * status 1.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS	1000000UL

int main(void)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.size		= sizeof(attr),
		.config		= PERF_COUNT_HW_INSTRUCTIONS,
		.disabled	= 1,
		.exclude_kernel	= 1,
		.exclude_hv	= 1,
	};
	unsigned long long count = 0;
	unsigned long n = ROUNDS;
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0) {
		if (errno == EACCES || errno == EPERM)
			printf("this machine's PMU may not be used: see %s\n",
			       "/proc/sys/kernel/perf_event_paranoid");
		else
			printf("this machine has no PMU that counts instructions (%s)\n",
			       strerror(errno));
		return 1;
	}

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	while (n--)
		asm volatile("" ::: "memory");
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);

	if (read(fd, &count, sizeof(count)) != sizeof(count) || count < ROUNDS) {
		printf("this machine's PMU counts %llu instructions of a loop with more than %lu\n",
		       count, ROUNDS);
		return 1;
	}
	return 0;
}
