// SPDX-License-Identifier: GPL-2.0-only
/*
 * run.c - run cases
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch.h"
#include "case/syscall.h"
#include "cgroup.h"
#include "child.h"
#include "loop.h"
#include "records.h"
#include "result.h"
#include "user_read.h"
#include "run/run.h"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST	(1U << 4)
#endif

/* A control group's events count from the next task switch on. */
#define SWITCH_USEC		100

static long page_size;
static FILE *show;

/**
 * struct running - an event of the running case
 * @fd: descriptor, or -1
 * @pages: its buffer, or NULL
 * @size: bytes of the buffer with the page before it
 * @writable: the kernel reads the position up to which records were read
 * @alike: its count is zero or not with every driver
 * @repeats: its count is the same with every driver
 */
struct running {
	int fd;
	struct perf_event_mmap_page *pages;
	size_t size;
	bool writable;
	bool alike;
	bool repeats;
};

static struct running running[FUZZ_EVENTS];

/*
 * The delivery of a signal may take so long in the kernel that the next sample sends the next
 * signal: the task would never proceed. After so many signals of a case the program removes the
 * handler.
 */
#define MANY_SIGNALS		1000

static volatile sig_atomic_t signals;

static void on_signal(int sig)
{
	if (++signals < MANY_SIGNALS)
		return;
	if (sig == SIGIO) {
		signal(SIGIO, SIG_IGN);
		return;
	}
	/* An ignored SIGTRAP would end the program. */
	for (unsigned int i = 0; i < FUZZ_EVENTS; i++)
		if (running[i].fd > STDERR_FILENO)
			ioctl(running[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void take_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGIO, &action, NULL);
	sigaction(SIGTRAP, &action, NULL);
}

void fuzz_run_init(u32 type, const char *program)
{
	fuzz_attr_init(type);
	page_size = sysconf(_SC_PAGESIZE);
	take_signals();
	signal(SIGPIPE, SIG_IGN);
	call_init();
	cgroup_init();
	child_init(program);
	/* Allocate the loop's memory before the first case. */
	loop_memory(1 << 16);
}

void fuzz_show_samples(FILE *out)
{
	show = out;
}

static pid_t event_pid(struct fuzz_event *event)
{
	switch (event->pid) {
	case FUZZ_ALL:
		return -1;
	case FUZZ_CHILD:
		return child_pid();
	case FUZZ_GONE:
		return 0x3ffffff;
	case FUZZ_CGROUP:
		event->flags |= PERF_FLAG_PID_CGROUP;
		return cgroup_fd();
	default:
		return 0;
	}
}

static void open_event(const struct fuzz_case *fuzz, unsigned int nr,
		       struct fuzz_counters *counters)
{
	struct fuzz_event event = fuzz->events[nr];
	struct running *run = &running[nr];
	int group = event.group, ret;
	pid_t pid;

	*run = (struct running) { .fd = -1 };
	if (group >= 0) {
		group = running[group].fd;
		if (group < 0) {
			result_note("no-leader", nr, 0);
			return;
		}
	} else if (group == FUZZ_BAD_GROUP) {
		group = STDERR_FILENO;
	}
	fuzz_attr_resolve(&event);
	pid = event_pid(&event);
	if (event.user)
		user_enter((int)event.user - FUZZ_USER_0);
	run->fd = syscall(SYS_perf_event_open, &event.attr, pid, event.cpu, group, event.flags);
	ret = run->fd < 0 ? -errno : 0;
	if (event.user)
		user_leave();
	counters->opens++;
	counters->opened += !ret;
	result_note("open", nr, ret);
	/* The caller's event: fuzz_attr_resolve() has changed the other's config. */
	run->alike = fuzz_counts_alike(&fuzz->events[nr]);
	run->repeats = run->alike && event.attr.exclude_kernel && event.pid != FUZZ_ALL;
}

/* Compare enabled and running time: 1 equal, 0 never ran, 2 neither. */
static s64 times_relation(u64 enabled, u64 time_running)
{
	if (!time_running)
		return 0;
	return enabled == time_running ? 1 : 2;
}

static void read_event(const struct fuzz_case *fuzz, unsigned int nr, bool repeats, size_t size,
		       struct fuzz_counters *counters)
{
	u64 format = fuzz->events[nr].attr.read_format, values[4 + 3 * FUZZ_EVENTS];
	unsigned int at = 0, i, nr_values = 1, step = 1;
	struct running *run = &running[nr];
	const bool steady = repeats;
	ssize_t len;

	memset(values, 0, sizeof(values));
	len = read(run->fd, values, size);
	result_note_call(counters, "read", nr, len);
	result_note("size", nr, len);
	if (len <= 0)
		return;
	step += !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	if (format & PERF_FORMAT_GROUP)
		nr_values = values[at++];
	else
		at++;
	if ((format & PERF_FORMAT_TOTAL_TIME_ENABLED) &&
	    (format & PERF_FORMAT_TOTAL_TIME_RUNNING)) {
		s64 relation = times_relation(values[at], values[at + 1]);

		result_note("times", nr, relation);
		repeats = repeats && relation != 2;
	}
	at += !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
	      !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	if (!(format & PERF_FORMAT_GROUP)) {
		/* Whether the event had a counter at all depends on the duration of samples. */
		if (run->alike && steady)
			result_note_count("count", nr, values[0], repeats && run->repeats);
		return;
	}
	result_note("members", nr, nr_values);
	/* The order shows which value belongs to which event; the kernel need not keep it. */
	for (i = 0; i < fuzz->nr_events; i++)
		repeats = repeats && running[i].repeats;
	for (i = 0; repeats && i < nr_values && i < FUZZ_EVENTS; i++, at += step)
		result_note_count("member", nr, values[at], true);
}

static void map_event(unsigned int nr, u64 pages, int prot, struct fuzz_counters *counters)
{
	struct running *run = &running[nr];
	size_t size = (pages + 1) * page_size;
	void *map = mmap(NULL, size, prot, MAP_SHARED, run->fd, 0);

	if (!result_note_call(counters, "mmap", nr, map == MAP_FAILED ? -1 : 0))
		return;
	/* Only one buffer is read; the other is unmapped at the end of the case. */
	if (run->pages) {
		munmap(map, size);
		return;
	}
	run->pages = map;
	run->size = size;
	run->writable = prot & PROT_WRITE;
	result_note("capabilities", nr, run->pages->capabilities);
	result_note("width", nr, run->pages->pmc_width);
}

static void map_aux(unsigned int nr, struct fuzz_counters *counters)
{
	struct running *run = &running[nr];
	void *map;

	if (run->pages && run->writable) {
		run->pages->aux_offset = run->size;
		run->pages->aux_size = page_size;
	}
	map = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, run->fd, run->size);
	if (result_note_call(counters, "mmap-aux", nr, map == MAP_FAILED ? -1 : 0))
		munmap(map, page_size);
}

static void unmap_event(struct running *run)
{
	if (run->pages)
		munmap(run->pages, run->size);
	run->pages = NULL;
}

/* Check whether the buffer has other events' samples. */
static bool shares_buffer(const struct fuzz_case *fuzz)
{
	for (unsigned int i = 0; i < fuzz->nr_ops; i++)
		if (fuzz->ops[i].kind == FUZZ_SET_OUTPUT)
			return true;
	return false;
}

/* Fields whose size depends on how much of the kernel they include */
#define UNSTEADY_SIZE	(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_RAW)

/*
 * Check whether all samples have the same size with every driver. The loops fill the branch
 * records with their branches. Records of calls and returns are from before, and the kernel's
 * branches vary.
 */
static bool size_repeats(const struct perf_event_attr *attr)
{
	if (attr->sample_type & UNSTEADY_SIZE)
		return false;
	if (!(attr->sample_type & PERF_SAMPLE_BRANCH_STACK))
		return true;
	return (attr->branch_sample_type & PERF_SAMPLE_BRANCH_ANY) &&
	       !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_KERNEL);
}

/* Check whether all counts in samples are the same with every driver. */
static bool counts_repeat(const struct fuzz_case *fuzz, const struct perf_event_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_READ) || !(attr->read_format & PERF_FORMAT_GROUP))
		return true;
	for (unsigned int i = 0; i < fuzz->nr_events; i++)
		if (running[i].fd >= 0 && !running[i].repeats)
			return false;
	return true;
}

static void drain_rings(const struct fuzz_case *fuzz, unsigned int nr, bool repeats,
			struct fuzz_counters *counters)
{
	const struct perf_event_attr *attr = &fuzz->events[nr].attr;
	struct look look = { .attr = attr, .show = show };
	struct running *run = &running[nr];
	struct records records;

	if (!run->pages)
		return;
	records_look(&records, run->pages, run->size, run->writable, &look);
	counters->samples += records.samples;
	counters->lost += records.lost;
	/* The driver chooses the first period of a frequency. */
	if (attr->freq || !run->alike)
		return;
	repeats = repeats && run->repeats && !records.lost && !records.full && run->writable;
	if (repeats && !(attr->sample_type & PERF_SAMPLE_CALLCHAIN)) {
		result_note("samples", nr, records.samples);
		result_note("types", nr, records.types);
	}
	if (attr->exclude_kernel)
		result_note_count("kernel-samples", nr, records.kernel, false);
	if (repeats && size_repeats(attr))
		result_note("sample-size", nr, records.first_size);
	if (repeats && !shares_buffer(fuzz) && counts_repeat(fuzz, attr))
		sample_note(&look.samples, attr, nr);
}

static void user_read_event(unsigned int nr, bool repeats)
{
	struct running *run = &running[nr];
	u64 count;

	/* A throttled event has no counter that can be read. */
	if (!run->pages || !repeats)
		return;
	if (!user_read(run->pages, &count))
		result_note("no-user-count", nr, 0);
	else if (run->alike)
		result_note_count("user-count", nr, count, run->repeats);
}

static void poll_event(unsigned int nr, bool repeats, struct fuzz_counters *counters)
{
	struct pollfd fd = { .fd = running[nr].fd, .events = POLLIN };

	if (result_note_call(counters, "poll", nr, poll(&fd, 1, 0)) && repeats)
		result_note("events", nr, fd.revents);
}

static void set_output(const struct fuzz_op *op, unsigned int nr_events,
		       struct fuzz_counters *counters)
{
	int to = op->arg < nr_events ? running[op->arg].fd : -1;

	result_note_call(counters, "set-output", op->event,
			 ioctl(running[op->event].fd, PERF_EVENT_IOC_SET_OUTPUT, to));
}

static void modify(const struct fuzz_case *fuzz, const struct fuzz_op *op,
		   struct fuzz_counters *counters)
{
	struct fuzz_event event = fuzz->events[op->arg];

	fuzz_attr_resolve(&event);
	result_note_call(counters, "modify", op->event,
			 ioctl(running[op->event].fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
			       &event.attr));
}

static void run_op(const struct fuzz_case *fuzz, const struct fuzz_op *op, bool repeats,
		   struct fuzz_counters *counters)
{
	struct running *run = &running[op->event];

	switch (op->kind) {
	case FUZZ_LOOP:
		known_loop(op->arg);
		return;
	case FUZZ_MEMORY:
		loop_memory(op->arg);
		return;
	case FUZZ_FORK_LOOP:
		child_fork_loop(op->arg);
		return;
	case FUZZ_CHILD_LOOP:
		child_tell(CHILD_LOOP);
		return;
	case FUZZ_CHILD_EXEC:
		child_tell(CHILD_EXEC);
		return;
	case FUZZ_CHILD_TRACE:
		child_trace();
		return;
	case FUZZ_READ:
		if (run->fd >= 0)
			read_event(fuzz, op->event, repeats,
				   sizeof(u64) * (4 + 3 * FUZZ_EVENTS), counters);
		return;
	case FUZZ_READ_SHORT:
		if (run->fd >= 0)
			read_event(fuzz, op->event, false, op->arg, counters);
		return;
	case FUZZ_SET_OUTPUT:
		set_output(op, fuzz->nr_events, counters);
		return;
	case FUZZ_MODIFY:
		modify(fuzz, op, counters);
		return;
	case FUZZ_MMAP:
		map_event(op->event, op->arg, PROT_READ | PROT_WRITE, counters);
		return;
	case FUZZ_MMAP_READ_ONLY:
		map_event(op->event, op->arg, PROT_READ, counters);
		return;
	case FUZZ_MMAP_AUX:
		map_aux(op->event, counters);
		return;
	case FUZZ_MUNMAP:
		unmap_event(run);
		return;
	case FUZZ_DRAIN:
		drain_rings(fuzz, op->event, repeats, counters);
		return;
	case FUZZ_USER_READ:
		user_read_event(op->event, repeats);
		return;
	case FUZZ_POLL:
		poll_event(op->event, repeats, counters);
		return;
	case FUZZ_ASYNC:
		result_note_call(counters, "own", op->event, fcntl(run->fd, F_SETOWN, getpid()));
		result_note_call(counters, "async", op->event, fcntl(run->fd, F_SETFL, O_ASYNC));
		return;
	case FUZZ_CLOSE:
		if (run->fd >= 0)
			close(run->fd);
		run->fd = -1;
		return;
	default:
		result_note_call(counters, "ioctl", op->event, call_ioctl(run->fd, op));
	}
}

int fuzz_running_fd(unsigned int nr)
{
	return __atomic_load_n(&running[nr].fd, __ATOMIC_RELAXED);
}

void fuzz_run_case(const struct fuzz_case *fuzz, struct fuzz_counters *counters)
{
	bool repeats = !fuzz_takes_many_samples(fuzz);
	unsigned int i;

	result_clear();
	for (i = 0; i < fuzz->nr_events; i++)
		open_event(fuzz, i, counters);
	for (i = 0; i < fuzz->nr_events; i++)
		if (fuzz->events[i].pid == FUZZ_CGROUP)
			usleep(SWITCH_USEC);
	for (i = 0; i < fuzz->nr_ops; i++)
		run_op(fuzz, &fuzz->ops[i], repeats, counters);
	for (i = fuzz->nr_events; i--;) {
		unmap_event(&running[i]);
		if (running[i].fd >= 0)
			close(running[i].fd);
	}
	child_end();
	if (signals)
		take_signals();
	signals = 0;
}
