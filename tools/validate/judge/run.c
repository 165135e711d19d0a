// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.c - run a check in a separate process
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

/* Maximum duration of a check */
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
 * Expectations, noted in the check's process. A check compares numbers between reads of running
 * events, so noting one takes few instructions. The rest is done when the check has ended.
 */
static struct expectation {
	const char *what;
	long long lo, hi, got;
} noted[4096];
static unsigned int nr_noted;

static void observe(const char *what, long long lo, long long hi, long long got)
{
	/* If the array is full, each further expectation overwrites the last element. */
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
		/* Keep the first wrong value. */
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

/* Parse the output of a check's process: diagnostics, and the result at the end. */
static void read_outcome(char *text, bool complete, struct outcome *outcome)
{
	char *skip;

	outcome->result = FAIL;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
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
	/* Without SA_RESTART, a signal interrupts the wait for a check. */
	const struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	/* The program reaps the children of killed checks, so that it knows that all have ended. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

int signal_caught(void)
{
	return caught;
}

/* The check's process, in itself; 0 elsewhere */
static pid_t own_pid;

static void finish_check(void)
{
	print_seen();
	ktap_end();
	fflush(stdout);
}

void abandon_check(void)
{
	if (getpid() != own_pid)
		return;
	finish_check();
	/* The group: children would keep the output open. */
	kill(0, SIGKILL);
}

static void __attribute__((noreturn)) be_check(const struct check *check, int output)
{
	own_pid = getpid();
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
	finish_check();
	exit(0);
}

/* Read the check's output until it ends; return false after a timeout or a signal. */
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

/* Kill and reap the check and its children, so that no process is left to change anything. */
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
	/* Parent and child both set the group: it exists when either continues. */
	setpgid(pid, pid);
	guard_judge(pid);
	close(fds[1]);
	whole = listen_to(fds[0], text, sizeof(text));
	/* After complete output the status is of no use: end_check() kills the group. */
	said = strstr(text, "ok ");
	status = end_check(pid);
	guard_judge(0);
	guard_restore();
	close(fds[0]);
	read_outcome(text, whole, outcome);
	outcome->cut = !whole || (outcome->result == FAIL && WIFSIGNALED(status) &&
				  (!said || WTERMSIG(status) != SIGKILL));
	if (caught)
		add_line(outcome, "expected to end, signal %d (%s) stopped pmu-validate",
			 caught, strsignal(caught));
	else if (!whole)
		add_line(outcome, "expected to end within %d seconds, it did not", CHECK_SECONDS);
	else if (outcome->cut)
		add_line(outcome, "expected to end, was killed by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (outcome->result == FAIL && check->rule)
		add_line(outcome, "breaks: %s", check->rule);
}

/*
 * Lowest permitted rate at which checks of samples run. They take 25 or more samples between two
 * ticks: at a lower rate perf core throttles their events, with any driver.
 */
#define LEAST_RATE	(25 * MAX_HZ)

/* Rate of samples before the first check of samples */
static long first_rate = -1;
/* may_run() has raised the rate to first_rate for the current check. */
static bool is_raised;

static bool is_too_low(long rate, struct outcome *outcome)
{
	if (rate < 0 || rate >= LEAST_RATE)
		return false;
	outcome->result = SKIP;
	snprintf(outcome->reason, sizeof(outcome->reason),
		 "kernel.perf_event_max_sample_rate is %ld, which throttles: set it to 100000",
		 rate);
	return true;
}

bool may_run(const struct check *check, struct outcome *outcome)
{
	unsigned int missing = check->needs & ~pmu.has;
	long rate;

	if (missing) {
		outcome->result = SKIP;
		snprintf(outcome->reason, sizeof(outcome->reason), "%s",
			 pmu.missing[__builtin_ctz(missing)]);
		return false;
	}
	if (!(check->needs & NEED_SAMPLING))
		return true;
	rate = read_number(RATE_FILE);
	if (first_rate < 0)
		first_rate = rate;
	/* Long samples of an earlier check have made the kernel lower the rate. */
	is_raised = rate >= 0 && rate < LEAST_RATE && first_rate >= LEAST_RATE &&
		    !change_number(RATE_FILE, first_rate) && !change_number(PERCENT_FILE, 0);
	/* The first of the two writes may have succeeded, and the second failed: undo the first. */
	if (!is_raised)
		guard_restore();
	return is_raised || !is_too_low(rate, outcome);
}

bool was_throttled(const struct check *check, struct outcome *outcome)
{
	return check->needs & NEED_SAMPLING && !is_raised &&
	       is_too_low(read_number(RATE_FILE), outcome);
}
