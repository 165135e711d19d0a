// SPDX-License-Identifier: GPL-2.0-only
/*
 * cgroup.c - a control group that has only this program and its children
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"

#define ROOT	"/sys/fs/cgroup"
#define OURS	ROOT "/pmu-fuzz"

static int fd = -1;

void cgroup_init(void)
{
	FILE *file;

	if (access(ROOT "/cgroup.procs", F_OK) && mount("cgroup2", ROOT, "cgroup2", 0, NULL))
		return;
	mkdir(OURS, 0755);
	file = fopen(OURS "/cgroup.procs", "w");
	if (!file)
		return;
	fprintf(file, "%d\n", getpid());
	if (!fclose(file))
		fd = open(OURS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int cgroup_fd(void)
{
	return fd;
}
