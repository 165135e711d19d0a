// SPDX-License-Identifier: GPL-2.0-only
/*
 * period.c - periods and frequencies, and events across which a period continues
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sampler.h"

static struct sampler sampler;

static void check_period(u64 config, u64 period, unsigned long iterations)
{
	const u64 loop = loop_counts(config, iterations);
	struct sampler *s = &sampler;
	u64 count;

	sampler_init(s, config, period);
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	sampler_run(s, iterations);
	sampler_check(s, period);
	count = sampler_count(s);
	expect_eq("samples", count / period, s->sum.samples);
	expect_eq("samples inside the loop", s->sum.samples, s->sum.inside);
	expect_range("count", loop, loop + 100, count);
out:
	sampler_close(s);
}

static void cycles_1000000(void)
{
	check_period(ARCH_EVENT_CYCLES, 1000000, 5 * TEN_MILLION);
}

static void cycles_100000(void)
{
	check_period(ARCH_EVENT_CYCLES, 100000, 2 * TEN_MILLION);
}

static void cycles_20000(void)
{
	check_period(ARCH_EVENT_CYCLES, 20000, TEN_MILLION);
}

static void instructions_1000000(void)
{
	check_period(ARCH_EVENT_INSTRUCTIONS, 1000000, 5 * TEN_MILLION);
}

static void instructions_100000(void)
{
	check_period(ARCH_EVENT_INSTRUCTIONS, 100000, 2 * TEN_MILLION);
}

static void instructions_20000(void)
{
	check_period(ARCH_EVENT_INSTRUCTIONS, 20000, TEN_MILLION);
}

/* A period that is no power of two and divides no other number here */
static void instructions_odd(void)
{
	check_period(ARCH_EVENT_INSTRUCTIONS, 77777, TEN_MILLION);
}

/* A second cycles event is placed on an event counter. */
static void cycles_on_event_counter(void)
{
	struct perf_event_attr attr;
	int other;

	attr_init(&attr, ARCH_EVENT_CYCLES);
	attr.pinned = 1;
	attr.disabled = 0;
	other = event_open_self(&attr, -1);
	check_period(ARCH_EVENT_CYCLES, 100000, TEN_MILLION);
	if (other >= 0)
		close(other);
}

static void long_instructions(void)
{
	struct sampler *s = &sampler;

	if (!arch_long_counters()) {
		ktap_skip("QEMU cannot chain two counters of 32 bits");
		return;
	}
	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	s->attr.config1 = ARCH_CONFIG1_LONG;
	if (sampler_open(s, -1, RING_PAGES)) {
		sampler_run(s, TEN_MILLION);
		sampler_check(s, 100000);
	}
	sampler_close(s);
}

/* Events are stopped in the middle of a period. The period continues at the start. */
static void periods_survive_disable(void)
{
	struct sampler *s = &sampler;
	u64 count;
	int i;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	if (sampler_open(s, -1, RING_PAGES)) {
		for (i = 0; i < 300; i++)
			sampler_run(s, 33333);
		sampler_check(s, 100000);
		count = sampler_count(s);
		expect_eq("samples", count / 100000, s->sum.samples);
	}
	sampler_close(s);
}

/* Let the frequency settle, then compare it with the guest's clock. */
static void check_frequency(u64 config, u64 frequency)
{
	struct sampler *s = &sampler;
	u64 span, per_second;

	sampler_init(s, config, frequency);
	s->attr.freq = 1;
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	sampler_run(s, 10 * TEN_MILLION);
	expect_eq("samples lost", 0, s->sum.lost);
	expect_true("the count not to be less than the periods",
		    sampler_count(s) >= s->sum.periods);
	expect_range("counts since the last sample", 0,
		     4000000000ULL / frequency,
		     sampler_count(s) - s->sum.periods);
	memset(&s->sum, 0, sizeof(s->sum));
	sampler_run(s, 12 * TEN_MILLION);
	expect_eq("samples lost", 0, s->sum.lost);
	if (!expect_true("more than ten samples", s->sum.samples > 10))
		goto out;
	span = s->sum.last_time - s->sum.first_time;
	per_second = (s->sum.samples - 1) * 1000000000ULL / span;
	expect_range("samples per second", frequency / 10 * 9,
		     frequency / 10 * 11, per_second);
	expect_eq("samples inside the loop", s->sum.samples, s->sum.inside);
out:
	sampler_close(s);
}

static void frequency_cycles(void)
{
	check_frequency(ARCH_EVENT_CYCLES, 1000);
}

static void frequency_instructions(void)
{
	check_frequency(ARCH_EVENT_INSTRUCTIONS, 1000);
}

static void frequency_high(void)
{
	check_frequency(ARCH_EVENT_CYCLES, 4000);
}

static int set_period(int fd, u64 period)
{
	return ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) ? -errno : 0;
}

static void ioc_period(void)
{
	struct sampler *s = &sampler;
	struct ring_sum first;
	u64 before, after;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	sampler_run(s, TEN_MILLION);
	sampler_check(s, 100000);
	before = sampler_count(s);
	first = s->sum;
	expect_eq("period of 20000 while disabled", 0, set_period(s->fd, 20000));
	sampler_run(s, TEN_MILLION);
	after = sampler_count(s);
	expect_range("samples of the new period", (after - before) / 20000 - 1,
		     (after - before) / 20000 + 1,
		     s->sum.samples - first.samples);
	expect_eq("period of the last sample", 20000, s->sum.last_period);
	expect_eq("period of 0", -EINVAL, set_period(s->fd, 0));
	expect_eq("period of 2^63", -EINVAL, set_period(s->fd, 1ULL << 63));
	before = after;
	first = s->sum;
	sampler_run(s, TEN_MILLION);
	after = sampler_count(s);
	expect_range("samples after the refusals", (after - before) / 20000 - 1,
		     (after - before) / 20000 + 1,
		     s->sum.samples - first.samples);
out:
	sampler_close(s);
}

static void ioc_period_running(void)
{
	static const u64 periods[] = { 100000, 50000, 1000000, 30000, 200000 };
	const struct perf_event_header *header;
	struct sampler *s = &sampler;
	unsigned int old, new, i;
	struct sample sample;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, periods[0]);
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	for (i = 1; i < ARRAY_SIZE(periods); i++) {
		event_enable(s->fd);
		known_loop(TEN_MILLION / 2);
		expect_eq("period while running", 0,
			  set_period(s->fd, periods[i]));
		known_loop(TEN_MILLION);
		event_disable(s->fd);
		old = 0;
		new = 0;
		while ((header = ring_next(&s->ring))) {
			if (!sample_parse(header, &s->attr, &sample))
				continue;
			if (sample.period == periods[i])
				new++;
			else
				old++;
		}
		expect_range("samples of the old period",
			     5000000 / periods[i - 1] - 1,
			     5000000 / periods[i - 1] + 1, old);
		expect_range("samples of the new period",
			     10000000 / periods[i] - 1,
			     10000000 / periods[i] + 1, new);
	}
out:
	sampler_close(s);
}

static void ioc_period_frequency(void)
{
	struct sampler *s = &sampler;
	u64 span;

	sampler_init(s, ARCH_EVENT_CYCLES, 1000);
	s->attr.freq = 1;
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	expect_eq("frequency above the highest", -EINVAL,
		  set_period(s->fd, 1ULL << 40));
	expect_eq("frequency of 5000", 0, set_period(s->fd, 5000));
	sampler_run(s, 8 * TEN_MILLION);
	memset(&s->sum, 0, sizeof(s->sum));
	sampler_run(s, 8 * TEN_MILLION);
	if (!expect_true("more than ten samples", s->sum.samples > 10))
		goto out;
	span = s->sum.last_time - s->sum.first_time;
	expect_range("samples per second", 4500, 5500,
		     (s->sum.samples - 1) * 1000000000ULL / span);
out:
	sampler_close(s);
}

/* More events than counters: the period continues at the event's next turn. */
static void multiplexed_periods(void)
{
	static struct sampler samplers[ARCH_MAX_COUNTERS];
	struct event_times times;
	unsigned int nr = target.counters + 2, waited = 0, i;

	for (i = 0; i < nr; i++) {
		sampler_init(&samplers[i], ARCH_EVENT_INSTRUCTIONS, 100000);
		samplers[i].attr.read_format = FORMAT_TIMES;
	}
	for (i = 0; i < nr; i++)
		if (!sampler_open(&samplers[i], -1, 32))
			goto out;
	for (i = 0; i < nr; i++)
		event_enable(samplers[i].fd);
	known_loop(12 * TEN_MILLION);
	for (i = 0; i < nr; i++)
		event_disable(samplers[i].fd);
	for (i = 0; i < nr; i++) {
		struct sampler *s = &samplers[i];

		ring_drain(&s->ring, &s->attr, &s->sum);
		event_read_times(s->fd, &times);
		waited += times.running < times.enabled;
		sampler_check(s, 100000);
	}
	expect_ne("events that lost their turn", 0, waited);
out:
	for (i = 0; i < nr; i++)
		sampler_close(&samplers[i]);
}

/* Two tasks alternate on one CPU: the period of each continues. */
static void periods_survive_switches(void)
{
	struct sampler *s = &sampler;
	int there[2], back[2], i;
	pid_t child;
	char c = 0;

	if (pipe(there) || pipe(back))
		return;
	fflush(stdout);
	child = fork();
	if (!child) {
		close(there[1]);
		while (read(there[0], &c, 1) == 1) {
			known_loop(10000);
			if (write(back[1], &c, 1) != 1)
				break;
		}
		_exit(0);
	}
	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 100000);
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	event_enable(s->fd);
	for (i = 0; i < 300; i++) {
		known_loop(12345);
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			ktap_fail("expected the child to answer, it died");
	}
	event_disable(s->fd);
	ring_drain(&s->ring, &s->attr, &s->sum);
	sampler_check(s, 100000);
	expect_range("count", 300 * LOOP_INSNS * 12345UL,
		     300 * LOOP_INSNS * 12345UL + 50000, sampler_count(s));
out:
	close(there[0]);
	close(there[1]);
	close(back[0]);
	close(back[1]);
	waitpid(child, NULL, 0);
	sampler_close(s);
}

/* With a period that no run reaches, the count is exact. */
static void huge_period(void)
{
	static const u64 periods[] = { 1ULL << 32, (1ULL << 33) + 12345,
				       (1ULL << 63) - 1 };
	struct sampler *s = &sampler;
	unsigned int i;
	u64 base;

	for (i = 0; i < ARRAY_SIZE(periods); i++) {
		sampler_init(s, ARCH_EVENT_INSTRUCTIONS, periods[i]);
		if (sampler_open(s, -1, 1)) {
			base = event_count_loop(s->fd, 1);
			expect_eq("counts of the loop",
				  LOOP_INSNS * (TEN_MILLION - 1),
				  event_count_loop(s->fd, TEN_MILLION) - base);
			ring_drain(&s->ring, &s->attr, &s->sum);
			expect_eq("samples", 0, s->sum.samples);
		}
		sampler_close(s);
	}
}

static const struct ktap_case cases[] = {
	{ "cycles, period 1000000", cycles_1000000 },
	{ "cycles, period 100000", cycles_100000 },
	{ "cycles, period 20000", cycles_20000 },
	{ "instructions, period 1000000", instructions_1000000 },
	{ "instructions, period 100000", instructions_100000 },
	{ "instructions, period 20000", instructions_20000 },
	{ "instructions, period 77777", instructions_odd },
	{ "cycles on an event counter", cycles_on_event_counter },
	{ "64-bit instructions", long_instructions },
	{ "periods survive disable and enable", periods_survive_disable },
	{ "periods survive context switches", periods_survive_switches },
	{ "1000 cycles samples per second", frequency_cycles },
	{ "1000 instructions samples per second", frequency_instructions },
	{ "4000 cycles samples per second", frequency_high },
	{ "PERF_EVENT_IOC_PERIOD while disabled", ioc_period },
	{ "PERF_EVENT_IOC_PERIOD while running", ioc_period_running },
	{ "PERF_EVENT_IOC_PERIOD sets a frequency", ioc_period_frequency },
	{ "events with periods above 2^32 count exactly", huge_period },
	{ "multiplexed events keep their periods", multiplexed_periods },
};

const struct ktap_list sample_period_cases = { cases, ARRAY_SIZE(cases) };
