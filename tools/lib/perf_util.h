/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf_util.h - perf_event_open(2) for the suites: opening, reading, the ring
 *
 * Everything here returns a negative errno on failure, as the kernel does.
 */
#ifndef PERF_UTIL_H
#define PERF_UTIL_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include "arch.h"
#include "ktap.h"

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST	(1U << 4)
#endif

typedef uint64_t u64;
typedef uint32_t u32;
typedef int64_t s64;

/* The PMU under test: --pmu NAME, or the environment's PMU, or the default. */
struct target {
	const char *pmu;
	int type;
	/* How many events of a kind its counters take at a time: arch_counters. */
	unsigned int counters;		/* of instructions */
	unsigned int cycles;
	unsigned int all;		/* instructions and cycles */
	unsigned int branches;
	/* What the PMU may do that depends on the kernel: 601, 612 ... */
	unsigned int kernel;
	/* The driver of the kernel itself, not ours. */
	bool in_tree;
};

extern struct target target;

/* Read the options, find the PMU; without one there is nothing to test. */
void target_init(int argc, char **argv);

/* A count of user space only, disabled, on the PMU's own type. */
void attr_init(struct perf_event_attr *attr, u64 config);
/* The same for a generic event of PERF_TYPE_HARDWARE. */
void attr_init_generic(struct perf_event_attr *attr, u64 config);

int event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
	       unsigned long flags);
/* For the calling task; fails the running test when the kernel refuses. */
int event_open_self(struct perf_event_attr *attr, int group);
/* An event of the PMU's own type on the calling task, disabled. */
int event_open_user(u64 config, int group);

void event_enable(int fd);
void event_disable(int fd);
void event_reset(int fd);
/* The count of an event without read_format; fails the test if unreadable. */
u64 event_read(int fd);

struct event_times {
	u64 count;
	u64 enabled;
	u64 running;
};

#define FORMAT_TIMES	(PERF_FORMAT_TOTAL_TIME_ENABLED | \
			 PERF_FORMAT_TOTAL_TIME_RUNNING)

/* The count and times of an event with read_format FORMAT_TIMES. */
bool event_read_times(int fd, struct event_times *times);

/* What an event of ARCH_EVENT_* counts of the known loop, in the exact lane. */
u64 loop_counts(u64 config, unsigned long iterations);
/* Reset, enable, loop, disable, read. */
u64 event_count_loop(int fd, unsigned long iterations);
/* Whether fd counts exactly LOOP_INSNS per iteration of the known loop. */
bool event_is_exact(int fd, unsigned long iterations);
/* Open an instructions event, see that it counts exactly, close it. */
bool pmu_is_exact(unsigned long iterations);

void close_all(int *fds, unsigned int nr);

/* The sampling buffer of one event. */
struct ring {
	struct perf_event_mmap_page *page;
	char *data;
	u64 size;
	size_t length;
	/* The record last returned, in one piece. */
	union {
		struct perf_event_header header;
		char bytes[65536];
	} record;
};

int ring_map(struct ring *ring, int fd, unsigned int pages);
void ring_unmap(struct ring *ring);
/* The next record, or NULL; its space is the kernel's again. */
const struct perf_event_header *ring_next(struct ring *ring);
void ring_discard(struct ring *ring);

struct sample {
	u64 identifier;
	u64 ip;
	u32 pid, tid;
	u64 time;
	u64 addr;
	u64 id;
	u64 stream_id;
	u32 cpu;
	u64 period;
	/* PERF_SAMPLE_READ: one value, or as many as the group has. */
	struct event_times read;
	unsigned int nr_values;
	u64 values[16];
	u64 ids[16];
	u64 nr_ips;
	const u64 *ips;
};

/* Take a PERF_RECORD_SAMPLE apart. */
bool sample_parse(const struct perf_event_header *header,
		  const struct perf_event_attr *attr, struct sample *sample);

/* What a ring held. */
struct ring_sum {
	unsigned int samples;
	unsigned int inside;	/* samples whose ip lies in the known loop */
	unsigned int throttles;
	unsigned int unthrottles;
	unsigned int others;
	u64 lost;
	u64 periods;
	u64 first_period;
	u64 last_period;
	u64 first_time;
	u64 last_time;
	unsigned int backwards;	/* samples older than the one before them */
};

/* Add what the ring holds to sum. */
void ring_drain(struct ring *ring, const struct perf_event_attr *attr,
		struct ring_sum *sum);

/* Interrupts of the PMU so far, on all CPUs, or -1 where nothing tells. */
long pmu_interrupts(void);

/* Write a number to a file of /proc/sys or /sys; returns 0 or -errno. */
int write_number(const char *path, long value);
long read_number(const char *path);

#endif /* PERF_UTIL_H */
