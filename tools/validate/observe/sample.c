// SPDX-License-Identifier: GPL-2.0-only
/*
 * sample.c - periods and frequencies, and the fields of samples
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <time.h>

#include "observe/observe.h"

static struct ring ring;

#define TYPE	(PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)

/* Return the instructions of known_loop() that this CPU executes in a second. */
static u64 instructions_per_second(void)
{
	u64 begin = now_ns(CLOCK_MONOTONIC);

	for (int i = 0; i < 10; i++)
		one_loop();
	return 10ULL * LOOP * 1000000000 / (now_ns(CLOCK_MONOTONIC) - begin);
}

static void first_periods(u64 frequency)
{
	u64 right = instructions_per_second() / frequency;
	struct perf_event_attr attr;
	struct sample sample;
	unsigned int nr;
	int fd;

	attr_sampling(&attr, frequency, TYPE);
	attr.freq = 1;
	fd = open_ring(&ring, &attr, 0, -1);
	event_enable(fd);
	for (unsigned int i = 0; i < 20; i++)
		one_loop();
	event_disable(fd);
	for (nr = 0; nr < 6 && ring_next_sample(&ring, &attr, &sample); nr++)
		answer("%llu", (unsigned long long)(sample.period * 100 / right + 5) / 10 * 10);
	if (!nr)
		answer("no sample");
}

static void samples_at_1000(void)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	u64 count;
	int fd;

	attr_sampling(&attr, 1000, TYPE);
	attr.freq = 1;
	fd = open_ring(&ring, &attr, 0, -1);
	event_enable(fd);
	for (int i = 0; i < 50; i++)
		one_loop();
	event_disable(fd);
	count = event_read(fd);
	ring_drain(&ring, &attr, &sum);
	answer("about %u samples", (sum.samples + 5) / 10 * 10);
	if (count)
		answer("the periods' sum is %llu percent of the count",
		       (unsigned long long)(sum.periods * 100 + count / 2) / count);
	else
		answer("the count is 0");
}

static void half_a_period(void)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	int fd;

	attr_sampling(&attr, LOOP * 3 / 2, TYPE);
	fd = open_ring(&ring, &attr, 0, -1);
	for (int i = 0; i < 2; i++) {
		event_enable(fd);
		one_loop();
		event_disable(fd);
	}
	ring_drain(&ring, &attr, &sum);
	answer("%s over DISABLE", sum.samples ? "continues" : "begins anew");
}

static void reset_and_period(void)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	int fd;

	attr_sampling(&attr, LOOP * 3 / 2, TYPE);
	fd = open_ring(&ring, &attr, 0, -1);
	event_enable(fd);
	one_loop();
	event_reset(fd);
	one_loop();
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	answer("%s over RESET", sum.samples ? "continues" : "begins anew");
}

/* After half a loop, change the period from two loops to a fifth of a loop. */
static void change_period(u64 running)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	u64 period = LOOP / 5;
	int fd;

	attr_sampling(&attr, 2 * LOOP, TYPE);
	fd = open_ring(&ring, &attr, 0, -1);
	event_enable(fd);
	known_loop(ITERATIONS / 2);
	if (!running)
		event_disable(fd);
	answer_error("PERIOD", ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) ? -errno : 0);
	if (!running)
		event_enable(fd);
	one_loop();
	event_disable(fd);
	ring_drain(&ring, &attr, &sum);
	answer("%u samples in five periods", sum.samples);
	if (sum.samples)
		answer("the first says %s", sum.first_period == period ? "the new period" :
		       sum.first_period == 2 * LOOP ? "the old one" : "another");
}

static void change_to(u64 period)
{
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, LOOP, TYPE);
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		answer_error("the event is refused:", fd);
	answer_error("", ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) ? -errno : 0);
}

static void change_of_counting(void)
{
	u64 period = LOOP;

	answer_error("", ioctl(open_instructions(), PERF_EVENT_IOC_PERIOD, &period) ? -errno : 0);
}

static void change_of_frequency(void)
{
	struct perf_event_attr attr;
	u64 frequency = 1ULL << 32;
	int fd;

	attr_sampling(&attr, 1000, TYPE);
	attr.freq = 1;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		answer_error("the event is refused:", fd);
	answer_error("2^32 Hz:", ioctl(fd, PERF_EVENT_IOC_PERIOD, &frequency) ? -errno : 0);
}

static void mixed_group(void)
{
	struct perf_event_attr attr;
	struct sample sample;
	int leader, member;

	attr_sampling(&attr, LOOP / 4, TYPE | PERF_SAMPLE_READ);
	attr.read_format = PERF_FORMAT_GROUP;
	leader = open_ring(&ring, &attr, 0, -1);
	attr_instructions(&attr);
	attr.disabled = 0;
	attr.read_format = PERF_FORMAT_GROUP;
	member = event_open(&attr, 0, -1, leader, 0);
	if (member < 0)
		return answer_error("the member is refused:", member);
	event_enable(leader);
	one_loop();
	event_disable(leader);
	attr_sampling(&attr, LOOP / 4, TYPE | PERF_SAMPLE_READ);
	attr.read_format = PERF_FORMAT_GROUP;
	if (!ring_next_sample(&ring, &attr, &sample))
		return answer("no sample");
	answer("leader is %lld behind its period", (long long)(sample.values[0] - LOOP / 4));
	answer("member counts %s", sample.values[1] == sample.values[0] ? "the same" :
	       sample.values[1] > sample.values[0] ? "more" : "less");
}

/* Sample a loop. */
static void sample_loop(struct perf_event_attr *attr)
{
	int fd = open_ring(&ring, attr, 0, -1);

	event_enable(fd);
	one_loop();
	event_disable(fd);
}

static void place_of_sample(void)
{
	struct perf_event_attr attr;
	unsigned int inside = 0, same = 0, nr = 0;
	struct sample sample;
	u64 first = 0;

	attr_sampling(&attr, LOOP / 20, TYPE);
	sample_loop(&attr);
	while (ring_next_sample(&ring, &attr, &sample)) {
		nr++;
		inside += sample.ip >= (u64)known_loop_start && sample.ip < (u64)known_loop_end;
		first = first ? first : sample.ip;
		same += sample.ip == first;
	}
	answer("%u samples, %u in the loop, %u at one address", nr, inside, same);
}

static void mode_of_sample(void)
{
	const struct perf_event_header *header;
	struct perf_event_attr attr;
	unsigned int nr = 0, user = 0;
	struct sample sample;

	attr_sampling(&attr, LOOP / 20, TYPE);
	sample_loop(&attr);
	while ((header = ring_next_sample(&ring, &attr, &sample))) {
		if (sample.ip < (u64)known_loop_start || sample.ip >= (u64)known_loop_end)
			continue;
		nr++;
		user += (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
	}
	answer("%s of user space", !nr ? "no sample" : user == nr ? "all are" :
	       user ? "some are" : "none is");
}

/* The interrupt of an overflow right before a system call arrives in the kernel. */
static void late_samples(void)
{
	unsigned int nr = 0, kernel = 0, zero = 0;
	struct perf_event_attr attr;
	struct sample sample;
	int fd;

	attr_sampling(&attr, 97, TYPE);
	fd = open_ring(&ring, &attr, 0, -1);
	event_enable(fd);
	call_kernel(2000);
	event_disable(fd);
	while (ring_next_sample(&ring, &attr, &sample)) {
		nr++;
		kernel += sample.ip >> 63;
		zero += !sample.ip;
	}
	answer("%s have the kernel's address, %s have address 0", !kernel ? "none" :
	       kernel == nr ? "all" : "some", !zero ? "none" : zero == nr ? "all" : "some");
}

static void precise_levels(void)
{
	struct perf_event_attr attr;
	char what[16];

	for (int i = 0; i < 4; i++) {
		attr_sampling(&attr, LOOP / 20, TYPE);
		attr.precise_ip = i;
		snprintf(what, sizeof(what), "%d", i);
		answer_error(what, event_open(&attr, 0, -1, -1, 0));
	}
}

static void first_of_chain(void)
{
	struct perf_event_attr attr;
	struct sample sample;

	attr_sampling(&attr, LOOP / 4, PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
	sample_loop(&attr);
	if (!ring_next_sample(&ring, &attr, &sample) || sample.nr_ips < 2)
		return answer("no chain");
	answer("the first entry is %s",
	       sample.ips[0] == (u64)PERF_CONTEXT_USER ? "PERF_CONTEXT_USER" :
	       "another");
	answer("the second is %s", sample.ips[1] == sample.ip ? "the sample's ip" : "another");
}

static void empty_fields(void)
{
	struct perf_event_attr attr;
	struct sample sample;

	attr_sampling(&attr, LOOP / 4, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
		      PERF_SAMPLE_DATA_SRC);
	sample_loop(&attr);
	if (!ring_next_sample(&ring, &attr, &sample))
		return answer("no sample");
	answer("ADDR %#llx, WEIGHT %llu, DATA_SRC %#llx", (unsigned long long)sample.addr,
	       (unsigned long long)sample.weight, (unsigned long long)sample.data_src);
}

static const struct observation observations[] = {
	{ "sample", "the first periods at 1000 Hz, in percent of the right one",
	  .look_at = first_periods, .value = 1000 },
	{ "sample", "the first periods at 4000 Hz, in percent of the right one",
	  .look_at = first_periods, .value = 4000 },
	{ "sample", "1000 Hz over 50 loops", samples_at_1000 },
	{ "sample", "a period over DISABLE and ENABLE", half_a_period },
	{ "sample", "a period over RESET", reset_and_period },
	{ "sample", "PERIOD while the event runs", .look_at = change_period, .value = true },
	{ "sample", "PERIOD while the event is stopped", .look_at = change_period, .value = false },
	{ "sample", "PERIOD of 0", .look_at = change_to, .value = 0 },
	{ "sample", "PERIOD of 2^63", .look_at = change_to, .value = 1ULL << 63 },
	{ "sample", "PERIOD of an event without a period", change_of_counting },
	{ "sample", "PERIOD of a frequency, above the maximum", change_of_frequency },
	{ "sample", "READ of a group, a member that counts the same", mixed_group },
	{ "sample", "places of 20 samples of a loop of two instructions", place_of_sample },
	{ "sample", "CPU mode of samples of a loop in user space", mode_of_sample },
	{ "sample", "user samples of a task that calls the kernel", late_samples },
	{ "sample", "precise_ip 0 to 3", precise_levels },
	{ "sample", "CALLCHAIN of user space", first_of_chain },
	{ "sample", "ADDR, WEIGHT and DATA_SRC of instructions", empty_fields },
};

const struct observation_list sample_observations = { observations, ARRAY_SIZE(observations) };
