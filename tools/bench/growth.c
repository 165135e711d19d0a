// SPDX-License-Identifier: GPL-2.0-only
/*
 * growth.c - costs that grow with the number of events: rotation, and inheritance
 */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* A longer time between two reads of the clock is an interruption, in ns. */
#define GAP		200
/* Virtual time of one measurement, and perf core's default between two rotations, in ns */
#define LONG		200000000ULL
#define ROTATION	4000000ULL

/* Return the time that user space loses in LONG. */
static u64 lost_time(void)
{
	u64 first = clock_now(), last, now, lost = 0;

	for (last = first; last - first < LONG; last = now) {
		now = clock_now();
		if (now - last >= GAP)
			lost += now - last;
	}
	return lost;
}

/* More events than counters: perf core rotates them. */
void bench_rotation(unsigned int nr)
{
	const unsigned int rotations = LONG / ROTATION;
	struct bench b;
	char what[32];
	u64 lost;

	snprintf(what, sizeof(what), "rotate-%u", nr);
	if (!bench_wants("", what))
		return;
	for (bool hardware_events = false; ; hardware_events = true) {
		bench_init(&b, false);
		bench_open(&b, nr, false, hardware_events);
		bench_enable(&b);
		if (hardware_events)
			mark();
		lost = lost_time();
		if (hardware_events)
			mark();
		printf("%s %s %llu\n", hardware_events ? "BENCH" : "BASE", what,
		       (unsigned long long)lost / rotations);
		bench_close(&b);
		if (hardware_events)
			break;
	}
	printf("MARKED %s %u\n", what, rotations);
}

/* A child that inherits events and exits */
static void op_fork(struct bench *b)
{
	pid_t pid = fork();

	(void)b;
	if (!pid)
		_exit(0);
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		die("fork");
}

void bench_inheritance(unsigned int nr)
{
	struct bench b;
	char what[32];

	snprintf(what, sizeof(what), "fork-%u", nr);
	for (bool hardware_events = false; ; hardware_events = true) {
		bench_init(&b, false);
		b.attr.inherit = 1;
		bench_open(&b, nr, false, hardware_events);
		bench_enable(&b);
		bench_report(hardware_events ? "BENCH" : "BASE", what, op_fork, &b);
		bench_close(&b);
		if (hardware_events)
			return;
	}
}
