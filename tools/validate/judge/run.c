// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.c - one check, in a process of its own
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "guard.h"
#include "outcome.h"
#include "validate.h"

/* Seconds of a clock that a check may take. */
#define CHECK_SECONDS	120

static void add_line(struct outcome *outcome, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void add_line(struct outcome *outcome, const char *fmt, ...)
{
	va_list ap;

	if (outcome->nr_lines == MAX_LINES)
		return;
	va_start(ap, fmt);
	vsnprintf(outcome->lines[outcome->nr_lines++], sizeof(outcome->lines[0]), fmt, ap);
	va_end(ap);
}

/*
 * In the check's process. Expectations stand between reads of running events: to note one takes
 * few instructions, and all else is done when the check has ended.
 */
static struct expectation {
	const char *what;
	long long lo, hi, got;
} noted[4096];
static unsigned int nr_noted;

static void observe(const char *what, long long lo, long long hi, long long got)
{
	/* When there is no room, the last one is of no use but to be replaced. */
	noted[nr_noted] = (struct expectation) { what, lo, hi, got };
	nr_noted += nr_noted < ARRAY_SIZE(noted) - 1;
}

#define SEEN	"= "

static void print_seen(void)
{
	static struct seen seen[MAX_SEEN];
	unsigned int nr = 0, i;
	struct seen *at;

	for (i = 0; i < nr_noted; i++) {
		for (at = seen; at < seen + nr; at++)
			if (!strncmp(at->what, noted[i].what, sizeof(at->what) - 1))
				break;
		if (at == seen + MAX_SEEN)
			continue;
		if (at == seen + nr) {
			snprintf(at->what, sizeof(at->what), "%s", noted[i].what);
			nr++;
		}
		/* One that is wrong stays. */
		if (at->times++ && !as_expected(at))
			continue;
		at->lo = noted[i].lo;
		at->hi = noted[i].hi;
		at->got = noted[i].got;
	}
	for (at = seen; at < seen + nr; at++)
		printf(SEEN "%lld %lld %lld %u %s\n", at->lo, at->hi, at->got, at->times,
		       at->what);
}

static void read_seen(const char *line, struct outcome *outcome)
{
	struct seen *at = &outcome->seen[outcome->nr_seen];

	if (outcome->nr_seen < MAX_SEEN &&
	    sscanf(line, "%lld %lld %lld %u %95[^\n]", &at->lo, &at->hi, &at->got, &at->times,
		   at->what) == 5)
		outcome->nr_seen++;
}

/* What a check's process wrote: diagnostics, and at last how it ended. */
static void read_outcome(char *text, bool complete, struct outcome *outcome)
{
	char *line, *skip;

	outcome->result = FAIL;
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strncmp(line, "# ", 2)) {
			add_line(outcome, "%s", line + 2);
		} else if (!strncmp(line, SEEN, strlen(SEEN))) {
			read_seen(line + strlen(SEEN), outcome);
		} else if (!strncmp(line, "ok ", 3) && complete) {
			skip = strstr(line, "# SKIP ");
			outcome->result = skip ? SKIP : PASS;
			if (skip)
				snprintf(outcome->reason, sizeof(outcome->reason), "%s", skip + 7);
		}
	}
}

static volatile sig_atomic_t caught;

static void on_signal(int number)
{
	caught = number;
}

void catch_signals(void)
{
	/* Not restarted: whoever waits for a check hears of it. */
	const struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	/* Children of checks that were killed end here, so that all are known to have ended. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int signal_caught(void)
{
	return caught;
}

static void __attribute__((noreturn)) be_check(const struct check *check, int output)
{
	setpgid(0, 0);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
	guard_leave();
	dup2(output, STDOUT_FILENO);
	setvbuf(stdout, NULL, _IOLBF, 0);
	close(output);
	ktap_observe(observe);
	ktap_begin("%s", check->name);
	check->run();
	print_seen();
	ktap_end();
	exit(0);
}

/* All that the check says until it ends; false when it takes too long, or a signal came. */
static bool listen_to(int from, char *text, size_t size)
{
	time_t deadline = time(NULL) + CHECK_SECONDS;
	size_t len = 0;

	text[0] = '\0';
	while (len < size - 1 && !caught) {
		struct pollfd pollfd = { .fd = from, .events = POLLIN };
		ssize_t got;

		if (poll(&pollfd, 1, 1000) > 0) {
			got = read(from, text + len, size - 1 - len);
			if (got <= 0)
				return true;
			len += got;
			text[len] = '\0';
		}
		if (time(NULL) >= deadline)
			return false;
	}
	return !caught;
}

/* The check and its children: nobody is left who could change anything. */
static int end_check(pid_t pid)
{
	int status = 0, other;

	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	while (waitpid(-pid, &other, 0) > 0 || errno == EINTR)
		errno = 0;
	return status;
}

void run_check(const struct check *check, struct outcome *outcome)
{
	static char text[1 << 16];
	bool whole, said;
	int fds[2], status;
	pid_t pid;

	fflush(stdout);
	if (pipe2(fds, O_CLOEXEC)) {
		perror("pmu-validate: pipe");
		exit(1);
	}
	pid = fork();
	if (pid < 0) {
		perror("pmu-validate: fork");
		exit(1);
	}
	if (!pid) {
		close(fds[0]);
		be_check(check, fds[1]);
	}
	/* Whichever of us is first: the group is there when it is to be killed. */
	setpgid(pid, pid);
	guard_judge(pid);
	close(fds[1]);
	whole = listen_to(fds[0], text, sizeof(text));
	/* The group is killed when it has said all: by then its status says nothing. */
	said = strstr(text, "ok ");
	status = end_check(pid);
	guard_judge(0);
	guard_restore();
	close(fds[0]);
	read_outcome(text, whole, outcome);
	if (caught)
		add_line(outcome, "expected to end, pmu-validate was stopped by signal %d (%s)",
			 caught, strsignal(caught));
	else if (!whole)
		add_line(outcome, "expected to end within %d seconds, it did not", CHECK_SECONDS);
	else if (outcome->result == FAIL && WIFSIGNALED(status) &&
		 (!said || WTERMSIG(status) != SIGKILL))
		add_line(outcome, "expected to end, was killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (outcome->result == FAIL && check->rule)
		add_line(outcome, "breaks: %s", check->rule);
}

bool may_run(const struct check *check, struct outcome *outcome)
{
	unsigned int missing = check->needs & ~pmu.has;

	if (!missing)
		return true;
	outcome->result = SKIP;
	snprintf(outcome->reason, sizeof(outcome->reason), "%s",
		 pmu.missing[__builtin_ctz(missing)]);
	return false;
}
