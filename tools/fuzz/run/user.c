// SPDX-License-Identifier: GPL-2.0-only
/*
 * user.c - events that a user without privileges opens
 */
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run.h"

#define UNPRIVILEGED_UID	65534

/* The library's seteuid() would change the other threads of a storm, too. */
static void set_effective_user(uid_t user)
{
	if (syscall(SYS_setresuid, -1, user, -1))
		perror("setresuid");
}

void user_enter(int paranoid)
{
	FILE *sysctl = fopen("/proc/sys/kernel/perf_event_paranoid", "w");

	if (sysctl) {
		fprintf(sysctl, "%d\n", paranoid);
		fclose(sysctl);
	}
	set_effective_user(UNPRIVILEGED_UID);
}

void user_leave(void)
{
	set_effective_user(0);
}
