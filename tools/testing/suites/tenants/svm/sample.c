// SPDX-License-Identifier: GPL-2.0-only
/*
 * sample.c - samples and branch records of the host and of a guest whose addresses are known
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "ring.h"
#include "svm.h"

#define ROUNDS		300000
#define PERIOD		10007
#define BUFFER		512
/* Perf core shows no guest for an event that excludes guests: should_sample_guest() */
#define HIDES_GUESTS	613
/* Samples that the host may add, where it is sampled too */
#define HOST_SAMPLES	150

/* For branches: short runs of the guest, and straight code of the host that takes no branch */
#define RUNS		200
#define GUEST_ROUNDS	40
#define BRANCH_PERIOD	3001
#define STRAIGHT	3000

static struct ring ring;

static bool is_guest(u64 address)
{
	return address >= GUEST_CODE && address < GUEST_CODE + GUEST_MEMORY;
}

/**
 * struct seen - what the buffer of an event held
 * @samples: samples
 * @guest: samples whose address is the guest's
 * @guest_mode: samples that perf core takes for the guest's
 * @branches: branch records
 * @guest_branches: branch records with an address of the guest
 */
struct seen {
	unsigned int samples, guest, guest_mode, branches, guest_branches;
};

static struct seen look(const struct perf_event_attr *attr)
{
	const struct perf_event_header *header;
	struct seen seen = { 0 };
	struct sample sample;
	unsigned int mode;

	while ((header = ring_next_sample(&ring, attr, &sample))) {
		mode = header->misc & PERF_RECORD_MISC_CPUMODE_MASK;
		seen.samples++;
		seen.guest += is_guest(sample.ip);
		seen.guest_mode += mode == PERF_RECORD_MISC_GUEST_KERNEL ||
				   mode == PERF_RECORD_MISC_GUEST_USER;
		for (unsigned int i = 0; i < sample.nr_branches; i++)
			seen.guest_branches += is_guest(sample.branches[i].from) ||
					       is_guest(sample.branches[i].to);
		seen.branches += sample.nr_branches;
	}
	return seen;
}

static void check_samples(struct machine *m, const struct exclusion *e, bool cpu_event,
			  unsigned int level)
{
	unsigned int most = GUEST_LOOP(ROUNDS) / PERIOD;
	struct perf_event_attr attr;
	struct seen seen;
	char what[120];
	u64 count;
	bool ran;
	int event;

	snprintf(what, sizeof(what), "%s event, %s, guest at ring %u", cpu_event ? "CPU" : "task",
		 e->name, level);
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.exclude_kernel = 0;
	attr.exclude_host = e->host;
	attr.exclude_guest = e->guest;
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP;
	event = cpu_event ? open_cpu_event(&attr) : event_open(&attr, 0, -1, -1, 0);
	if (!expect_true(what, event >= 0) || ring_map(&ring, event, BUFFER))
		return;
	event_enable(event);
	ran = run_machine(m, level, ROUNDS);
	event_disable(event);
	expect_true("the guest runs", ran);
	count = event_read(event);
	seen = look(&attr);
	printf("# %s: %llu, %u samples, %u of the guest\n", what, (unsigned long long)count,
	       seen.samples, seen.guest);

	expect_eq(what, count / PERIOD, seen.samples);
	expect_eq(what, seen.guest, seen.guest_mode);
	/* KVM takes an NMI in its code around the exit for the guest's. */
	if (e->guest && target.kernel >= HIDES_GUESTS)
		expect_eq(what, 0, seen.guest);
	else if (e->guest)
		expect_range(what, 0, most / 4, seen.guest);
	else
		expect_range(what, most - 1, e->host ? most : seen.samples, seen.guest);
	if (e->host)
		expect_eq(what, e->guest ? 0 : GUEST_LOOP(ROUNDS), count);
	else
		expect_range(what, 0, HOST_SAMPLES, seen.samples - seen.guest);
	ring_unmap(&ring);
	close_all(&event, 1);
}

static void check_all_samples(struct machine *m)
{
	for (unsigned int e = 0; e < EXCLUSIONS; e++) {
		check_samples(m, &exclusions[e], false, 0);
		check_samples(m, &exclusions[e], false, 3);
		check_samples(m, &exclusions[e], true, 0);
		check_samples(m, &exclusions[e], true, 3);
	}
}

static void samples(void)
{
	with_machine(check_all_samples);
}

/* ---- branch records ---- */

static int open_branches(struct perf_event_attr *attr, bool exclude_guest, bool kernel)
{
	attr_init(attr, ARCH_EVENT_INSTRUCTIONS);
	attr->exclude_kernel = !kernel;
	attr->exclude_guest = exclude_guest;
	attr->sample_period = BRANCH_PERIOD;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER |
				   (kernel ? PERF_SAMPLE_BRANCH_KERNEL : 0);
	return event_open(attr, 0, -1, -1, 0);
}

/* Guest and host take turns. The host's samples come after straight code, without branches. */
static void run_turns(struct machine *m, unsigned int level)
{
	bool ran = true;

	for (int i = 0; i < RUNS; i++) {
		ran = run_machine(m, level, GUEST_ROUNDS) && ran;
		__asm__ volatile(".rept %c0\n\tnop\n\t.endr" : : "i"(STRAIGHT));
	}
	expect_true("the guest runs", ran);
}

static struct seen run_and_look(struct machine *m, int event, const struct perf_event_attr *attr,
				const char *what)
{
	struct seen seen;

	event_enable(event);
	run_turns(m, 0);
	run_turns(m, 3);
	event_disable(event);
	seen = look(attr);
	printf("# %s: %u samples, %u branches, %u of the guest\n", what, seen.samples,
	       seen.branches, seen.guest_branches);
	return seen;
}

static void check_no_guest_branches(struct machine *m, bool kernel, const char *what)
{
	struct perf_event_attr attr;
	struct seen seen;
	int event = open_branches(&attr, true, kernel);

	if (!expect_true(what, event >= 0) || ring_map(&ring, event, BUFFER))
		return;
	seen = run_and_look(m, event, &attr, what);
	expect_eq(what, 0, seen.guest_branches);
	expect_range(what, RUNS, 1000 * RUNS, seen.branches);
	ring_unmap(&ring);
	close_all(&event, 1);
}

/* An event that includes guests shows them; but none while another event excludes guests. */
static void check_guest_branches(struct machine *m)
{
	struct perf_event_attr attr, other_attr;
	struct seen seen;
	int event = open_branches(&attr, false, false), other;

	if (!expect_true("host and guests", event >= 0) || ring_map(&ring, event, BUFFER))
		return;
	seen = run_and_look(m, event, &attr, "host and guests");
	expect_range("host and guests", RUNS, 1000 * RUNS, seen.guest_branches);

	other = open_branches(&other_attr, true, false);
	expect_true("another event", other >= 0);
	event_enable(other);
	seen = run_and_look(m, event, &attr, "host and guests, beside an event without guests");
	expect_eq("host and guests, beside an event without guests", 0, seen.guest_branches);
	ring_unmap(&ring);
	close_all(&other, 1);
	close_all(&event, 1);
}

static void check_branches(struct machine *m)
{
	struct perf_event_attr attr;
	int event = open_branches(&attr, true, false);
	void *code;

	if (event < 0) {
		ktap_skip("no branch records");
		return;
	}
	close_all(&event, 1);
	check_no_guest_branches(m, false, "user space");
	event = open_branches(&attr, true, true);
	if (event >= 0) {
		close_all(&event, 1);
		check_no_guest_branches(m, true, "all rings");
	}
	/* The built-in driver drops records only if this program has no code at their addresses. */
	if (target.in_tree)
		return;
	code = mmap((void *)GUEST_CODE, GUEST_MEMORY, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	if (!expect_true("code at the guest's addresses", code == (void *)GUEST_CODE))
		return;
	memcpy(code, m->memory, GUEST_MEMORY);
	check_no_guest_branches(m, false, "user space with the guest's code");
	munmap(code, GUEST_MEMORY);
	check_guest_branches(m);
}

static void branches(void)
{
	with_machine(check_branches);
}

static const struct ktap_case cases[] = {
	{ "samples are of the host, its guests, both or nothing", samples },
	{ "branch records of the host show no guest", branches },
};

const struct ktap_list sample_cases = { cases, ARRAY_SIZE(cases) };
