// SPDX-License-Identifier: GPL-2.0-only
/*
 * observe.c - ask the questions, each in a process of its own
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "judge/outcome.h"
#include "observe/observe.h"

#define SECONDS		60
/* A whole number of ticks with every CONFIG_HZ */
#define TICKS_NS	20000000

static const struct observation_list *const lists[] = {
	&count_observations, &time_observations, &record_observations, &sample_observations,
	&overflow_observations, &page_observations, &refusal_observations,
	&branch_observations,
};

static char text[2048];
/* Pipe from the process of a question */
static int answer_fd;

void answer(const char *fmt, ...)
{
	size_t len = strlen(text);
	va_list ap;

	if (len)
		len += snprintf(text + len, sizeof(text) - len, ", ");
	if (len >= sizeof(text))
		return;
	va_start(ap, fmt);
	vsnprintf(text + len, sizeof(text) - len, fmt, ap);
	va_end(ap);
}

void answer_error(const char *what, int result)
{
	answer("%s%s%s", what, *what ? " " : "",
	       result < 0 ? strerrorname_np(-result) : "accepted");
}

void answer_loops(const char *what, u64 count)
{
	u64 tenths = (count * 10 + LOOP / 20) / LOOP;

	answer("%s %llu.%llu loops", what, (unsigned long long)tenths / 10,
	       (unsigned long long)tenths % 10);
}

static const char *record_name(u32 type)
{
	static const char *const names[] = {
		[PERF_RECORD_MMAP] = "MMAP", [PERF_RECORD_LOST] = "LOST",
		[PERF_RECORD_COMM] = "COMM", [PERF_RECORD_EXIT] = "EXIT",
		[PERF_RECORD_THROTTLE] = "THROTTLE", [PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
		[PERF_RECORD_FORK] = "FORK", [PERF_RECORD_READ] = "READ",
		[PERF_RECORD_SAMPLE] = "SAMPLE", [PERF_RECORD_MMAP2] = "MMAP2",
		[PERF_RECORD_AUX] = "AUX", [PERF_RECORD_ITRACE_START] = "ITRACE_START",
		[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES", [PERF_RECORD_SWITCH] = "SWITCH",
		[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
		[PERF_RECORD_NAMESPACES] = "NAMESPACES", [PERF_RECORD_KSYMBOL] = "KSYMBOL",
		[PERF_RECORD_BPF_EVENT] = "BPF_EVENT", [PERF_RECORD_CGROUP] = "CGROUP",
		[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
	};

	return type < ARRAY_SIZE(names) && names[type] ? names[type] : "another record";
}

static void answer_run(u32 type, unsigned int nr)
{
	if (nr > 1)
		answer("%u %s", nr, record_name(type));
	else if (nr)
		answer("%s", record_name(type));
}

void answer_records(struct ring *ring)
{
	const struct perf_event_header *header;
	unsigned int nr = 0;
	u32 last = 0;

	while ((header = ring_next(ring))) {
		if (header->type != last) {
			answer_run(last, nr);
			nr = 0;
		}
		last = header->type;
		nr++;
	}
	answer_run(last, nr);
	if (!last)
		answer("no record");
}

void attr_add(struct perf_event_attr *attr, const struct perf_event_attr *more)
{
	const unsigned char *from = (const void *)more;
	unsigned char *to = (void *)attr;

	for (size_t i = 0; i < sizeof(*attr); i++)
		to[i] |= from[i];
}

static void __attribute__((noreturn)) end_question(void)
{
	_exit(write(answer_fd, text, strlen(text)) < 0);
}

static int open_on(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = event_open(attr, pid, cpu, -1, 0);

	if (fd < 0) {
		answer_error("the event is refused:", fd);
		end_question();
	}
	return fd;
}

int open_or_answer(struct perf_event_attr *attr)
{
	return open_on(attr, 0, -1);
}

int open_with(const struct perf_event_attr *more)
{
	struct perf_event_attr attr;

	attr_instructions(&attr);
	attr_add(&attr, more);
	return open_or_answer(&attr);
}

int open_ring(struct ring *ring, struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = open_on(attr, pid, cpu);

	if (ring_map(ring, fd, PAGES)) {
		answer("the buffer is refused");
		end_question();
	}
	return fd;
}

void one_loop(void)
{
	known_loop(ITERATIONS);
}

void in_child(void (*work)(void))
{
	pid_t pid = fork();

	if (!pid) {
		work();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Throttling, and which task runs first, depend on the time until the next tick: wait for one. */
static void wait_for_tick(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	at.tv_nsec = (at.tv_nsec / TICKS_NS + 2) * TICKS_NS;
	at.tv_sec += at.tv_nsec / 1000000000;
	at.tv_nsec %= 1000000000;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void end_group(int number)
{
	(void)number;
	kill(0, SIGKILL);
}

/* Let a child find the answer; @text is the answer afterwards. */
static void observe_in_child(const struct observation *observation)
{
	ssize_t len = 0, more;
	int pipes[2], status;
	pid_t pid;

	fflush(stdout);
	if (pipe(pipes))
		return;
	pid = fork();
	if (!pid) {
		/* The question's own children have the pipe, too: they end with it. */
		setpgid(0, 0);
		signal(SIGALRM, end_group);
		alarm(SECONDS);
		run_on(pmu.cpu);
		wait_for_tick();
		text[0] = '\0';
		answer_fd = pipes[1];
		if (observation->look)
			observation->look();
		else if (observation->look_at)
			observation->look_at(observation->value);
		else if (observation->work)
			answer_records_of(&observation->attr, observation->work);
		else
			answer_refusal(&observation->attr);
		end_question();
	}
	close(pipes[1]);
	while ((more = read(pipes[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += more;
	close(pipes[0]);
	text[len] = '\0';
	if (pid < 0)
		return answer_error("fork(2) fails:", -errno);
	waitpid(pid, &status, 0);
	kill(-pid, SIGKILL);
	if (WIFSIGNALED(status))
		answer("its process is killed by SIG%s", sigabbrev_np(WTERMSIG(status)));
}

static bool is_asked(const struct observation *observation, const char *const *texts,
		     unsigned int nr)
{
	char full[256];

	snprintf(full, sizeof(full), "%s: %s", observation->subject, observation->question);
	for (unsigned int i = 0; i < nr; i++)
		if (strcasestr(full, texts[i]))
			return true;
	return !nr;
}

int observe_all(const char *const *texts, unsigned int nr)
{
	const char *why = find_out(false, false);
	unsigned int i, j, answers = 0;

	if (why) {
		fprintf(stderr, "pmu-validate: %s.\n", why);
		return 1;
	}
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		for (j = 0; j < lists[i]->nr; j++) {
			const struct observation *observation = &lists[i]->observations[j];

			if (!is_asked(observation, texts, nr))
				continue;
			observe_in_child(observation);
			printf("%s: %s\t%s\n", observation->subject, observation->question, text);
			answers++;
		}
	}
	if (!answers)
		fprintf(stderr,
			"pmu-validate: no question has the text of --filter; see --observe.\n");
	return answers ? 0 : 2;
}
