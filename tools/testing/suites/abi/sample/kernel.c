// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel.c - samples of the kernel, and of code with interrupts off
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sampler.h"

static struct sampler sampler;

static void kernel_samples(void)
{
	struct sampler *s = &sampler;
	const struct perf_event_header *header;
	struct sample sample;
	/* read(2) copies this data; DC ZVA would clear 512 bytes in one instruction. */
	int file = memfd_create("kernel_samples", 0);
	unsigned int user = 0, samples = 0;
	static char buffer[65536];
	u64 count;
	int i;

	expect_eq("bytes written", sizeof(buffer), write(file, buffer, sizeof(buffer)));
	sampler_init(s, ARCH_EVENT_CYCLES, 50000);
	s->attr.exclude_user = 1;
	s->attr.exclude_kernel = 0;
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	event_enable(s->fd);
	for (i = 0; i < 2000; i++)
		expect_eq("bytes read", sizeof(buffer), pread(file, buffer, sizeof(buffer), 0));
	event_disable(s->fd);
	count = sampler_count(s);
	while ((header = ring_next(&s->ring))) {
		if (!sample_parse(header, &s->attr, &sample))
			continue;
		samples++;
		user += sample.ip < 1ULL << 63;
	}
	/*
	 * The handler is kernel code with interrupts off. The counts that the handler adds to
	 * itself delay the next sample.
	 */
	expect_range("samples", count / 50000 * 9 / 10, count / 50000 + 1,
		     samples);
	expect_range("kernel counts", 1000000, 500000000, count);
	/*
	 * The return to user space runs with interrupts off: an overflow there has a sample in
	 * user space. The return is the greater part of a short system call. The number of such
	 * samples depends on the period's phase.
	 */
	expect_range("samples in user space", 0, samples / 10, user);
out:
	sampler_close(s);
	close(file);
}

/*
 * An overflow with interrupts off has a late interrupt. The driver does not count the delay, and
 * does not add it to the next period.
 */
static void late_overflows(void)
{
	struct sampler *s = &sampler;
	u64 count;
	int i;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 20000);
	s->attr.exclude_kernel = 0;
	if (!sampler_open(s, -1, 4 * RING_PAGES))
		goto out;
	event_enable(s->fd);
	for (i = 0; i < 5000; i++)
		syscall(SYS_getppid);
	event_disable(s->fd);
	ring_drain(&s->ring, &s->attr, &s->sum);
	count = sampler_count(s);
	expect_eq("samples lost", 0, s->sum.lost);
	expect_range("samples", count / 20000 - 1, count / 20000,
		     s->sum.samples);
out:
	sampler_close(s);
}

/*
 * The kernel stops an event with interrupts off. A counter that overflows just before has no
 * interrupt any more, but a sample.
 */
static void stops_overtake(void)
{
	struct sampler *s = &sampler;
	u64 count;
	int i;

	if (target.in_tree) {
		ktap_skip("the kernel's own driver loses them");
		return;
	}
	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 10007);
	s->attr.exclude_kernel = 0;
	if (!sampler_open(s, -1, 4 * RING_PAGES))
		goto out;
	for (i = 0; i < 3000; i++) {
		event_enable(s->fd);
		event_disable(s->fd);
	}
	ring_drain(&s->ring, &s->attr, &s->sum);
	count = sampler_count(s);
	expect_range("counts", 1000000, 100000000, count);
	expect_eq("samples lost", 0, s->sum.lost);
	expect_range("samples", count / 10007 - 1, count / 10007 + 1,
		     s->sum.samples);
out:
	sampler_close(s);
}

/*
 * The last user instruction may overflow, and its interrupt comes in the kernel. The sample must
 * not have a kernel address.
 */
static void no_kernel_addresses(void)
{
	struct sampler *s = &sampler;
	const struct perf_event_header *header;
	unsigned int samples = 0, kernel = 0;
	struct sample sample;
	int i;

	if (target.in_tree) {
		ktap_skip("the kernel's own driver tells them");
		return;
	}
	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 307);
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	event_enable(s->fd);
	for (i = 0; i < 10000; i++)
		syscall(SYS_getppid);
	event_disable(s->fd);
	while ((header = ring_next(&s->ring))) {
		if (!sample_parse(header, &s->attr, &sample))
			continue;
		samples++;
		kernel += sample.ip >= 1ULL << 63;
	}
	expect_range("samples", 100, 10000, samples);
	expect_eq("samples in the kernel", 0, kernel);
out:
	sampler_close(s);
}

/* Overflows do not separate the counts of a group that also counts the kernel. */
static void group_in_the_kernel(void)
{
	struct sampler *s = &sampler;
	struct perf_event_attr attr;
	int siblings[3], i;
	u64 slack;

	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 20000);
	s->attr.exclude_kernel = 0;
	if (!sampler_open(s, -1, 4 * RING_PAGES))
		goto out;
	for (i = 0; i < 3; i++) {
		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.disabled = 0;
		attr.exclude_kernel = 0;
		siblings[i] = event_open_self(&attr, s->fd);
	}
	event_enable(s->fd);
	known_loop(TEN_MILLION / 5);
	for (i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	event_disable(s->fd);
	ring_drain(&s->ring, &s->attr, &s->sum);
	expect_true("a hundred samples", s->sum.samples > 100);
	/* Each overflow stops the group's counters one after the other, and starts them again. */
	slack = s->sum.samples * arch_group_slack();
	for (i = 0; i < 3; i++)
		expect_range("count of a sibling, as the leader's",
			     sampler_count(s) - slack, sampler_count(s) + slack,
			     event_read(siblings[i]));
	close_all(siblings, 3);
out:
	sampler_close(s);
}

static void user_and_kernel_samples(void)
{
	const struct perf_event_header *header;
	struct sampler *s = &sampler;
	unsigned int kernel = 0, user = 0;
	struct sample sample;
	int i;

	sampler_init(s, ARCH_EVENT_CYCLES, 50000);
	s->attr.exclude_kernel = 0;
	if (!sampler_open(s, -1, RING_PAGES))
		goto out;
	event_enable(s->fd);
	known_loop(TEN_MILLION / 4);
	for (i = 0; i < 5000; i++)
		syscall(SYS_getppid);
	event_disable(s->fd);
	while ((header = ring_next(&s->ring))) {
		if (!sample_parse(header, &s->attr, &sample))
			continue;
		if (sample.ip < 1ULL << 63)
			user++;
		else
			kernel++;
	}
	expect_range("samples in user space", 20 * target.loop_cycles, 40 * target.loop_cycles,
		     user);
	expect_true("samples in the kernel", kernel > 5);
	expect_range("samples", sampler_count(s) / 50000 * 9 / 10,
		     sampler_count(s) / 50000 + 1, kernel + user);
out:
	sampler_close(s);
}

/*
 * The kernel switches tasks with interrupts off: a counter that overflows there loses its event
 * before the interrupt.
 */
static void overflows_before_switches(void)
{
	struct sampler *s = &sampler;
	int there[2], back[2], i;
	u64 count;
	pid_t child;
	char c = 0;

	if (target.in_tree) {
		ktap_skip("the kernel's own driver loses them");
		return;
	}
	if (pipe(there) || pipe(back))
		return;
	fflush(stdout);
	child = fork();
	if (!child) {
		close(there[1]);
		while (read(there[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
			;
		_exit(0);
	}
	sampler_init(s, ARCH_EVENT_INSTRUCTIONS, 10000);
	s->attr.exclude_kernel = 0;
	if (!sampler_open(s, -1, 4 * RING_PAGES))
		goto out;
	event_enable(s->fd);
	for (i = 0; i < 2000; i++)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			ktap_fail("expected the child to answer, it died");
	event_disable(s->fd);
	ring_drain(&s->ring, &s->attr, &s->sum);
	count = sampler_count(s);
	expect_eq("samples lost", 0, s->sum.lost);
	expect_true("500 samples", s->sum.samples > 500);
	expect_range("samples", count / 10000 - 1, count / 10000,
		     s->sum.samples);
out:
	close(there[0]);
	close(there[1]);
	close(back[0]);
	close(back[1]);
	waitpid(child, NULL, 0);
	sampler_close(s);
}

static const struct ktap_case cases[] = {
	{ "an event that excludes user space samples the kernel", kernel_samples },
	{ "samples of user space and of the kernel are all there", user_and_kernel_samples },
	{ "overflows that are served late are not added up", late_overflows },
	{ "no sample is lost to a stop before its interrupt", stops_overtake },
	{ "samples of user events have no kernel addresses", no_kernel_addresses },
	{ "no sample is lost to a context switch before its interrupt", overflows_before_switches },
	{ "members of a group that counts the kernel agree", group_in_the_kernel },
};

const struct ktap_list sample_kernel_cases = { cases, ARRAY_SIZE(cases) };
