// SPDX-License-Identifier: GPL-2.0-only
/*
 * count.c - what events count of a guest whose length is known, at ring 0 and ring 3
 */
#include <stdio.h>
#include <sys/ioctl.h>

#include "svm.h"

#define ROUNDS		1000000
#define FEW		1
/* Without global registers, the counters of a group start one after the other. */
#define STAGGER		1000

/* What KVM, the rest of the kernel and this program may execute meanwhile: less than the guest */
#define HOST_MOST	(GUEST_LOOP(ROUNDS) / 2)

/* Which rings an event counts */
static const struct level {
	const char *name;
	bool user, kernel;
} levels[] = {
	{ "all rings", true, true }, { "user space", true, false }, { "the kernel", false, true },
};

/* Not inline: the instructions between the two ioctls are to be the same in each run. */
static __attribute__((noinline, noclone))
u64 count_run(struct machine *m, int event, unsigned int ring, u32 rounds)
{
	bool ran;

	event_reset(event);
	event_enable(event);
	ran = run_machine(m, ring, rounds);
	event_disable(event);
	expect_true("the guest runs", ran);
	return event_read(event);
}

/*
 * The event's counts of a long and of a short run differ by the guest's instructions. The host's
 * user space executes the same in both; its kernel may take interrupts.
 */
static void check_event(struct machine *m, const struct exclusion *e, const struct level *level,
			bool cpu_event, unsigned int ring)
{
	u64 guest = !e->guest && (ring ? level->user : level->kernel) ? 2 * (ROUNDS - FEW) : 0;
	struct perf_event_attr attr;
	char what[120];
	s64 difference;
	u64 few;
	int event;

	snprintf(what, sizeof(what), "%s event, %s, %s, guest at ring %u",
		 cpu_event ? "CPU" : "task", e->name, level->name, ring);
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.exclude_user = !level->user;
	attr.exclude_kernel = !level->kernel;
	attr.exclude_host = e->host;
	attr.exclude_guest = e->guest;
	event = cpu_event ? open_cpu_event(&attr) : event_open(&attr, 0, -1, -1, 0);
	if (!expect_true(what, event >= 0))
		return;
	/* The first run may fault in the guest's memory. */
	count_run(m, event, ring, FEW);
	few = count_run(m, event, ring, FEW);
	difference = count_run(m, event, ring, ROUNDS) - few;
	close_all(&event, 1);

	if (e->host)
		expect_eq(what, guest ? GUEST_LOOP(FEW) : 0, few);
	if (e->host || !level->kernel)
		expect_eq(what, guest, difference);
	else
		expect_range(what, (s64)guest - (s64)HOST_MOST, guest + HOST_MOST, difference);
}

static void check_events(struct machine *m, bool cpu_event)
{
	for (unsigned int e = 0; e < EXCLUSIONS; e++)
		for (unsigned int level = 0; level < ARRAY_SIZE(levels); level++) {
			check_event(m, &exclusions[e], &levels[level], cpu_event, 0);
			check_event(m, &exclusions[e], &levels[level], cpu_event, 3);
		}
}

static void check_task_events(struct machine *m)
{
	check_events(m, false);
}

static void check_cpu_events(struct machine *m)
{
	check_events(m, true);
}

/* The counts of host and guests add up. */
static void check_group(struct machine *m, unsigned int ring)
{
	int fds[EXCLUSIONS] = { -1, -1, -1, -1 };
	u64 counts[EXCLUSIONS];
	bool ran;

	for (unsigned int i = 0; i < EXCLUSIONS; i++) {
		struct perf_event_attr attr;

		attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
		attr.exclude_kernel = 0;
		attr.exclude_host = exclusions[i].host;
		attr.exclude_guest = exclusions[i].guest;
		attr.disabled = !i;
		fds[i] = event_open(&attr, 0, -1, i ? fds[0] : -1, 0);
		expect_true(exclusions[i].name, fds[i] >= 0);
	}
	ioctl(fds[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	ran = run_machine(m, ring, ROUNDS);
	ioctl(fds[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	expect_true("the guest runs", ran);
	for (unsigned int i = 0; i < EXCLUSIONS; i++)
		counts[i] = event_read(fds[i]);
	expect_eq("guests", GUEST_LOOP(ROUNDS), counts[2]);
	expect_range("host and guests", -STAGGER, STAGGER, counts[0] - counts[1] - counts[2]);
	expect_eq("neither", 0, counts[3]);
	close_all(fds, EXCLUSIONS);
}

static void check_groups(struct machine *m)
{
	check_group(m, 0);
	check_group(m, 3);
}

static void task_events(void)
{
	with_machine(check_task_events);
}

static void cpu_events(void)
{
	with_machine(check_cpu_events);
}

static void groups(void)
{
	with_machine(check_groups);
}

static const struct ktap_case cases[] = {
	{ "task events count the host, its guests, both or nothing", task_events },
	{ "CPU events count the host, its guests, both or nothing", cpu_events },
	{ "in a group, the counts of host and guests add up", groups },
};

const struct ktap_list count_cases = { cases, ARRAY_SIZE(cases) };
