// SPDX-License-Identifier: GPL-2.0-only
/*
 * load.c - load and unload the module again and again, while watch.c samples and reads
 *
 * One process does everything, and starts no program: on a debug kernel fork and exec take longer
 * than loading the module.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/run.h"
#include "perf_util.h"

#define MODULE_NAME		"corepmu"

/* Some watchers are killed before they have started. */
#define WATCH_STEPS		10
#define WATCH_STEP_US		10000

/* An event of a task that has ended is freed a little later. */
#define UNLOAD_TRIES		10
#define UNLOAD_PAUSE_US		200000

static bool load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long ret;

	if (fd < 0)
		return false;
	ret = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return !ret;
}

static bool unload(void)
{
	for (unsigned int i = 0; i < UNLOAD_TRIES; i++) {
		if (!syscall(SYS_delete_module, MODULE_NAME, O_NONBLOCK))
			return true;
		usleep(UNLOAD_PAUSE_US);
	}
	return !syscall(SYS_delete_module, MODULE_NAME, O_NONBLOCK);
}

/* Check that the watcher was killed before it started, or ended by itself without an error. */
static bool watch(int argc, char **argv, unsigned int us)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		target_init(argc, argv);
		fuzz_run_init(target.type, argv[0]);
		exit(fuzz_watch());
	}
	if (pid < 0)
		return false;
	usleep(us);
	kill(pid, SIGTERM);
	if (waitpid(pid, &status, 0) != pid)
		return false;
	return WIFSIGNALED(status) ? WTERMSIG(status) == SIGTERM : !WEXITSTATUS(status);
}

int fuzz_load(const char *path, u64 times, int argc, char **argv)
{
	const char *what = "load";
	u64 n;

	for (n = 0; n < times; n++) {
		errno = 0;
		what = "load";
		if (!load(path))
			break;
		what = "watch";
		if (!watch(argc, argv, n % WATCH_STEPS * WATCH_STEP_US))
			break;
		what = "unload";
		if (!unload())
			break;
	}
	if (n == times)
		return 0;
	printf("%s %llu: %s\n", what, (unsigned long long)n + 1,
	       errno ? strerror(errno) : "it has complained");
	return 1;
}
