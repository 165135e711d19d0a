// SPDX-License-Identifier: GPL-2.0-only
/*
 * guard.c - changes of the machine by checks, and their restoration
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "guard.h"

#define ARRAY_LEN(array)	(sizeof(array) / sizeof((array)[0]))

/* Maximum of changes at a time, and of bytes of an old value */
#define MAX_CHANGES	16
#define MAX_TEXT	128

/* A change; an empty @before is for a new directory. */
struct change {
	char path[256];
	char before[MAX_TEXT];
};

/* Shared by the program, its checks and the keeper */
struct changes {
	struct change made[MAX_CHANGES];
	unsigned int nr;
	pid_t group;
};

static struct changes *changes;
/* The write end of the keeper's pipe, only in the program: it closes when the program ends. */
static int alive = -1;

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* Read the first line of a file; if a word is in brackets, only that word. */
static int read_choice(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char line[512], *from = line, *to;
	ssize_t len;

	if (fd < 0)
		return -errno;
	len = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (len < 0)
		return -EIO;
	line[len] = '\0';
	line[strcspn(line, "\n")] = '\0';
	from = strchr(line, '[');
	to = from ? strchr(from, ']') : NULL;
	if (to)
		*to = '\0';
	from = to ? from + 1 : line;
	if (strlen(from) >= size)
		return -EFBIG;
	memcpy(text, from, strlen(from) + 1);
	return 0;
}

/* Kill the processes of a check, so that none changes a value after its restoration. */
static void end_group(pid_t group)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	if (!group)
		return;
	kill(-group, SIGKILL);
	for (int i = 0; i < 1000 && !kill(-group, 0); i++)
		nanosleep(&pause, NULL);
}

static void keep(int from)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT };
	unsigned int i;
	ssize_t got;
	char byte;

	setsid();
	for (i = 0; i < ARRAY_LEN(ignored); i++)
		signal(ignored[i], SIG_IGN);
	/* A reader of the program's output must not wait for the keeper. */
	i = open("/dev/null", O_RDWR);
	dup2(i, STDIN_FILENO);
	dup2(i, STDOUT_FILENO);
	dup2(i, STDERR_FILENO);
	do {
		got = read(from, &byte, 1);
	} while (got < 0 && errno == EINTR);
	if (!got) {
		end_group(changes->group);
		guard_restore();
	}
	_exit(0);
}

bool guard_start(void)
{
	pid_t keeper;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return false;
	changes = mmap(NULL, sizeof(*changes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (changes == MAP_FAILED) {
		changes = NULL;
		return false;
	}
	fflush(stdout);
	keeper = fork();
	if (keeper < 0) {
		munmap(changes, sizeof(*changes));
		changes = NULL;
		return false;
	}
	if (!keeper) {
		close(ends[1]);
		keep(ends[0]);
	}
	close(ends[0]);
	alive = ends[1];
	return true;
}

void guard_judge(pid_t group)
{
	if (changes)
		changes->group = group;
}

void guard_leave(void)
{
	if (alive >= 0)
		close(alive);
	alive = -1;
}

void guard_restore(void)
{
	while (changes && changes->nr) {
		struct change *change = &changes->made[changes->nr - 1];
		int error = change->before[0] ? write_text(change->path, change->before) :
			    rmdir(change->path) ? -errno : 0;

		if (error)
			fprintf(stderr, "pmu-validate: %s: cannot restore '%s': %s\n",
				change->path, change->before, strerror(-error));
		changes->nr--;
	}
}

void guard_stop(void)
{
	guard_restore();
	if (alive < 0)
		return;
	if (write(alive, "", 1) < 0)
		perror("pmu-validate: keeper");
	guard_leave();
}

static bool is_known(const char *path)
{
	for (unsigned int i = 0; i < changes->nr; i++)
		if (!strcmp(changes->made[i].path, path))
			return true;
	return false;
}

/* Wait after a change, for tests that kill the program at this point. */
static void hold(void)
{
	const char *seconds = getenv("PMU_VALIDATE_HOLD");

	if (seconds)
		sleep(atoi(seconds));
}

/* Note a change. From now on it is undone, also if the program is killed before it is made. */
static int remember(const char *path, const char *before)
{
	struct change *change = &changes->made[changes->nr];

	if (changes->nr == MAX_CHANGES || strlen(path) >= sizeof(change->path))
		return -ENOSPC;
	snprintf(change->path, sizeof(change->path), "%s", path);
	snprintf(change->before, sizeof(change->before), "%s", before);
	__atomic_store_n(&changes->nr, changes->nr + 1, __ATOMIC_RELEASE);
	return 0;
}

int change_text(const char *path, const char *text)
{
	char before[MAX_TEXT];
	int ret = 0;

	if (!changes)
		return -EPERM;
	if (!is_known(path)) {
		ret = read_choice(path, before, sizeof(before));
		/* An empty value would stand for a new directory. */
		if (!ret && !before[0])
			ret = -EINVAL;
		if (!ret)
			ret = remember(path, before);
	}
	if (!ret)
		ret = write_text(path, text);
	hold();
	return ret;
}

int make_dir(const char *path)
{
	int ret;

	if (!changes)
		return -EPERM;
	if (!access(path, F_OK))
		return -EEXIST;
	ret = remember(path, "");
	if (!ret && mkdir(path, 0755)) {
		ret = -errno;
		changes->nr--;
	}
	hold();
	return ret;
}

int change_number(const char *path, long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", value);
	return change_text(path, text);
}

static const char *const watched[] = {
	"/proc/sys/kernel/perf_event_paranoid",
	"/proc/sys/kernel/perf_event_max_sample_rate",
	"/proc/sys/kernel/perf_event_mlock_kb",
	"/proc/sys/kernel/perf_event_max_stack",
	"/proc/sys/kernel/perf_cpu_time_max_percent",
	"/proc/sys/kernel/perf_user_access",
	"/sys/bus/event_source/devices/cpu/rdpmc",
	"/sys/devices/system/cpu/online",
	"/sys/power/pm_test",
};

static char seen[ARRAY_LEN(watched)][MAX_TEXT];

void watch_begin(void)
{
	for (unsigned int i = 0; i < ARRAY_LEN(watched); i++)
		if (read_choice(watched[i], seen[i], sizeof(seen[i])))
			seen[i][0] = '\0';
}

void watch_end(void (*report)(const char *sentence))
{
	char now[MAX_TEXT], sentence[2048];

	for (unsigned int i = 0; i < ARRAY_LEN(watched); i++) {
		bool back;

		if (!seen[i][0] || read_choice(watched[i], now, sizeof(now)) ||
		    !strcmp(now, seen[i]))
			continue;
		back = changes && !write_text(watched[i], seen[i]);
		snprintf(sentence, sizeof(sentence), "%s was %s and became %s%s%s", watched[i],
			 seen[i], now,
			 strstr(watched[i], "sample_rate") ?
			 ": the kernel lowers it if samples take long" : "",
			 back ? "; it is restored" : "");
		report(sentence);
	}
}
