/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampler.h - one sampling event and its buffer, and the tests of the suite "sample"
 *
 * For the exact lane: one CPU, whose cycles and instructions are known, with one instruction per
 * nanosecond.
 */
#ifndef SAMPLER_H
#define SAMPLER_H

#include "ring.h"

/* Iterations of known_loop() that take ten million instructions */
#define TEN_MILLION	(10000000UL / LOOP_INSNS)
#define RING_PAGES	64

#define SAMPLE_USUAL	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
			 PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

/**
 * struct sampler - one sampling event and its buffer
 * @attr: the event's attributes
 * @ring: its buffer
 * @sum: totals of the records that were read
 * @fd: the event, or -1
 */
struct sampler {
	struct perf_event_attr attr;
	struct ring ring;
	struct ring_sum sum;
	int fd;
};

/**
 * sampler_init() - make the attributes of an event with a period and SAMPLE_USUAL
 * @s: the event, which is not open
 * @config: ARCH_EVENT_*
 * @period: its period
 */
void sampler_init(struct sampler *s, u64 config, u64 period);

/**
 * sampler_open() - open the event on the calling task, with a buffer
 * @s: the event
 * @group: its leader, or -1
 * @pages: pages of data of the buffer
 *
 * Return: true on success. On failure the running test has failed, and the caller must still call
 * sampler_close().
 */
bool sampler_open(struct sampler *s, int group, unsigned int pages);

/**
 * sampler_close() - close whatever sampler_open() opened
 * @s: the event
 */
void sampler_close(struct sampler *s);

/**
 * sampler_run() - enable the event, run the loop, disable the event, and add its records to the
 * sum
 * @s: the event
 * @iterations: of known_loop()
 */
void sampler_run(struct sampler *s, unsigned long iterations);

/**
 * sampler_count() - read the event, whatever its read_format is
 * @s: the event
 *
 * Return: its count, or the number of its group's members with PERF_FORMAT_GROUP.
 */
u64 sampler_count(struct sampler *s);

/**
 * sampler_check() - expect one sample per period, none lost and none late
 * @s: the event
 * @period: its period
 */
void sampler_check(struct sampler *s, u64 period);

extern const struct ktap_list sample_period_cases, sample_kernel_cases, sample_field_cases,
	sample_wakeup_cases, sample_buffer_cases, sample_events_cases;

#endif /* SAMPLER_H */
