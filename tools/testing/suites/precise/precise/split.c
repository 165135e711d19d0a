// SPDX-License-Identifier: GPL-2.0-only
/*
 * split.c - repeated instructions of two tasks, split by interrupts at the same time
 *
 * The virtual PMU counts an instruction's accesses with its record, when the instruction retires.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "precise.h"

/* Nanoseconds from one timer interrupt to the next */
#define TICK_NS			10007
#define STRING_BYTES		8192
#define STRINGS			1000
/* About as long as a string: most instructions are split after an overflow. */
#define STRING_PERIOD		9001
/* Loads of this program besides the string's */
#define OTHER_LOADS		10000

static int open_loads(void)
{
	const struct check c = { .what = LOADS, .precise = 2, .period = STRING_PERIOD };
	struct perf_event_attr attr;

	attr_of(&c, &attr);
	attr.sample_type = PERF_SAMPLE_IP;
	attr.sample_regs_intr = 0;
	attr.disabled = 0;
	return event_open_self(&attr, -1);
}

static void move_strings(unsigned int nr)
{
	static char from[STRING_BYTES], to[STRING_BYTES];

	while (nr--) {
		const void *source = from;
		unsigned long bytes = STRING_BYTES;
		void *target = to;

		asm volatile("rep movsb" : "+D" (target), "+S" (source), "+c" (bytes) : : "memory");
	}
}

/* Preempt the parent in the middle of its strings, and be interrupted in strings of its own. */
static void preempt_with_strings(const struct perf_event_attr *timer)
{
	const struct sched_param param = { .sched_priority = 1 };
	const struct timespec sleep = { .tv_nsec = 2 * TICK_NS };
	struct perf_event_attr attr = *timer;

	sched_setscheduler(0, SCHED_FIFO, &param);
	event_open_self(&attr, -1);
	open_loads();
	for (;;) {
		nanosleep(&sleep, NULL);
		move_strings(10);
	}
}

void split_twice(void)
{
	struct perf_event_attr timer = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(timer),
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = TICK_NS,
	};
	int fd, tick;
	pid_t child;
	u64 before;

	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		ktap_skip("with several CPUs such short times depend on the host's speed");
		return;
	}
	move_strings(1);
	tick = event_open_self(&timer, -1);
	fd = open_loads();
	expect_true("loads, precise", fd >= 0);
	fflush(NULL);
	child = fork();
	if (!child)
		preempt_with_strings(&timer);
	before = event_read(fd);
	move_strings(STRINGS);
	expect_range("loads", STRINGS * STRING_BYTES, STRINGS * STRING_BYTES + OTHER_LOADS,
		     event_read(fd) - before);
	expect_true("the end of the other task", child > 0 && !kill(child, SIGKILL) &&
		    waitpid(child, NULL, 0) == child);
	close(fd);
	close(tick);
}
