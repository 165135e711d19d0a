// SPDX-License-Identifier: GPL-2.0-only
/*
 * acr - counters that reload when another event of their group overflows (auto counter reload)
 *
 * Branches are to be sampled where they are frequent. Each period of instructions reloads the
 * branch counter. Each period of branches reloads the instruction counter and the branch counter
 * itself. The number of samples follows from the program, which is known instruction by
 * instruction. For a virtual PMU that counts exactly.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ring.h"
#include "task.h"

#define STR(x)	#x
#define XSTR(x)	STR(x)

#define NR_IOCTL		16
#define IOC_ENABLE		0x2400
#define IOC_DISABLE		0x2401

#define LOOPS			1400	/* consecutive branches of a round */
#define STRAIGHT		2500	/* instructions after them that are no branches */
#define ROUNDS			50

#define EVENT_INSTRUCTIONS	0x00c0
#define EVENT_BRANCHES		0x00c4

/* program(group, rounds, loops): enable the group right before the first instruction, then run. */
void program(u64 fd, u64 rounds, u64 loops);

asm(".pushsection .text\n"
"	.balign	64\n"
"	.global	program\n"
"program:\n"
"	push	%rbx\n"
"	push	%r12\n"
"	push	%r13\n"
"	mov	%rsi, %rbx\n"
"	mov	%rdx, %r12\n"
"	mov	%edi, %r13d\n"
"	mov	$" XSTR(IOC_ENABLE) ", %esi\n"
"	mov	$1, %edx\n"		/* PERF_IOC_FLAG_GROUP */
"	mov	$" XSTR(NR_IOCTL) ", %eax\n"
"	syscall\n"
"at_round:\n"
"	mov	%r12, %rcx\n"
"at_loop:\n"
"	dec	%rcx\n"
"at_jump:\n"
"	jnz	at_loop\n"
"at_straight:\n"
"	.rept	" XSTR(STRAIGHT) "\n"
"	nop\n"
"	.endr\n"
"at_next:\n"
"	dec	%rbx\n"
"	jnz	at_round\n"
"	mov	%r13d, %edi\n"
"	mov	$" XSTR(IOC_DISABLE) ", %esi\n"
"	mov	$1, %edx\n"
"	mov	$" XSTR(NR_IOCTL) ", %eax\n"
"	syscall\n"
"	pop	%r13\n"
"	pop	%r12\n"
"	pop	%rbx\n"
"	ret\n"
"	.popsection\n");

extern const char at_loop[], at_jump[], at_straight[];

/* ---- expected samples ---- */

/* An event of the group: its period, and the events whose overflows reload it */
struct member {
	u64 config;
	u64 period;
	u64 mask;
	unsigned int precise;
};

#define MEMBERS			2

struct expected {
	unsigned int samples[MEMBERS];
	unsigned int overtaken[MEMBERS];	/* overflows hidden by a reload */
	u64 at[MEMBERS];	/* counts since the present period began */
	u64 since[MEMBERS];	/* instructions since the last overflow */
};

/* Instructions from an overflow to its interrupt, at most */
#define SKID			2

/*
 * Count one instruction. Neither driver sees an overflow if the counter is reloaded between the
 * overflow and its interrupt.
 */
static void count_one(const struct member *group, struct expected *e, bool branch)
{
	unsigned int overflowed = 0, i;

	for (i = 0; i < MEMBERS; i++, e->since[i - 1]++)
		if ((group[i].config == EVENT_INSTRUCTIONS || branch) &&
		    ++e->at[i] == group[i].period)
			overflowed |= 1 << i;
	/* If the CPU has not reloaded the counter, the driver starts its next period. */
	for (i = 0; i < MEMBERS; i++) {
		bool itself = group[i].mask >> i & 1;

		if (overflowed >> i & 1)
			e->since[i] = 0;
		if (overflowed >> i & 1 && !itself)
			e->samples[i]++;
		if (overflowed & group[i].mask && e->since[i] <= SKID && !itself)
			e->overtaken[i]++;
		if (overflowed >> i & 1 || overflowed & group[i].mask)
			e->at[i] = 0;
	}
}

static void expect_of(const struct member *group, u64 rounds, u64 loops, struct expected *e)
{
	memset(e, 0, sizeof(*e));
	for (u64 i = 0; i < MEMBERS; i++)
		e->since[i] = SKID + 1;
	for (u64 round = 0; round < rounds; round++) {
		count_one(group, e, false);
		for (u64 i = 0; i < loops; i++) {
			count_one(group, e, false);
			count_one(group, e, true);
		}
		for (u64 i = 0; i < STRAIGHT + 1; i++)
			count_one(group, e, false);
		count_one(group, e, true);
	}
}

/* ---- groups ---- */

static void member_attr(const struct member *m, struct perf_event_attr *attr)
{
	attr_init(attr, m->config);
	attr->sample_period = m->period;
	attr->sample_type = PERF_SAMPLE_IP;
	attr->config2 = m->mask;
	attr->precise_ip = m->precise;
	attr->wakeup_events = 1;
}

static bool open_group(const struct member *group, int *fds, struct ring *rings)
{
	struct perf_event_attr attr;

	for (unsigned int i = 0; i < MEMBERS; i++) {
		member_attr(&group[i], &attr);
		attr.disabled = !i;
		fds[i] = event_open_self(&attr, i ? fds[0] : -1);
		if (fds[i] < 0 || ring_map(&rings[i], fds[i], 64))
			return false;
	}
	return true;
}

static void close_group(int *fds, struct ring *rings)
{
	for (unsigned int i = 0; i < MEMBERS; i++) {
		ring_unmap(&rings[i]);
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

/* Count the samples of a member; @inside: those in the loop, for precise events at its branch. */
static unsigned int samples_of(struct ring *ring, const struct member *m, unsigned int *inside)
{
	struct perf_event_attr attr;
	unsigned int samples = 0;
	struct sample s;

	member_attr(m, &attr);
	*inside = 0;
	while (ring_next_sample(ring, &attr, &s)) {
		samples++;
		*inside += m->precise ? s.ip == (uintptr_t)at_jump :
			   s.ip >= (uintptr_t)at_loop && s.ip <= (uintptr_t)at_straight;
	}
	return samples;
}

static void run(const struct member *group, u64 loops, bool in_loop)
{
	struct ring rings[MEMBERS] = { 0 };
	int fds[MEMBERS] = { -1, -1 };
	unsigned int inside, samples;
	struct expected e;

	expect_of(group, ROUNDS, loops, &e);
	if (open_group(group, fds, rings)) {
		program(fds[0], ROUNDS, loops);
		for (unsigned int i = 0; i < MEMBERS; i++) {
			samples = samples_of(&rings[i], &group[i], &inside);
			ktap_diag("event %u: %u samples, %u in the loop, %u overtaken", i, samples,
				  inside, e.overtaken[i]);
			expect_range("samples", e.samples[i] - e.overtaken[i], e.samples[i],
				     samples);
			if (in_loop)
				expect_eq("of them in the loop", samples, inside);
		}
	}
	close_group(fds, rings);
}

static bool has_acr(void)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/format/acr_mask",
		 target.pmu);
	return !access(path, R_OK);
}

static bool need_acr(void)
{
	if (!has_acr())
		ktap_skip("this PMU has no auto counter reload (format/acr_mask)");
	return has_acr();
}

/* ---- tests ---- */

static void format_is_listed(void)
{
	char path[256], line[64] = "";
	FILE *file;

	if (!need_acr())
		return;
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/format/acr_mask",
		 target.pmu);
	file = fopen(path, "r");
	if (file) {
		if (!fgets(line, sizeof(line), file))
			line[0] = 0;
		fclose(file);
	}
	expect_true("config2:0-63", !strcmp(line, "config2:0-63\n"));
}

/* Members of a group, and whether all samples are in the loop */
struct scenario {
	struct member group[MEMBERS];
	bool in_loop;
};

#define SCENARIO(in_loop, ...)						\
	.run_with = run_scenario,					\
	.value = (unsigned long)&(const struct scenario) { { __VA_ARGS__ }, in_loop }

static void run_scenario(unsigned long value)
{
	const struct scenario *scenario = (const struct scenario *)value;

	if (need_acr())
		run(scenario->group, LOOPS, scenario->in_loop);
}

/* The reload registers are clear afterwards. */
static void plain_after(void)
{
	static const struct member many[] = {
		{ EVENT_BRANCHES, 307, 0x2, 0 }, { EVENT_INSTRUCTIONS, 1009, 0x3, 0 },
	};
	static const struct member group[] = {
		{ EVENT_BRANCHES, 307, 0, 0 }, { EVENT_INSTRUCTIONS, 1009, 0, 0 },
	};

	if (!need_acr())
		return;
	run(many, LOOPS, true);
	run(group, LOOPS, false);
}

static void refused(void)
{
	const struct member m = { EVENT_BRANCHES, 307, 0x1, 0 };
	struct perf_event_attr attr;

	if (!need_acr())
		return;
	member_attr(&m, &attr);
	attr.freq = 1;
	attr.sample_freq = 1000;
	expect_eq("a frequency", -EINVAL, event_open(&attr, 0, -1, -1, 0));
	member_attr(&m, &attr);
	attr.precise_ip = 3;
	expect_eq("precise_ip 3", -EINVAL, event_open(&attr, 0, -1, -1, 0));
	if (target.in_tree)
		return;
	member_attr(&m, &attr);
	attr.sample_period = 0;
	expect_eq("no period", -EINVAL, event_open(&attr, 0, -1, -1, 0));
	member_attr(&m, &attr);
	attr.sample_period = (1ULL << 31) + 1;
	expect_eq("a long period", -EINVAL, event_open(&attr, 0, -1, -1, 0));
}

static const struct ktap_case cases[] = {
	{ "sysfs has format/acr_mask", format_is_listed },
	/* In the loop half of the instructions are branches: at least a third is asked for. */
	{ "branches are sampled only where they are frequent",
	  SCENARIO(true, { EVENT_BRANCHES, 307, 0x2, 0 }, { EVENT_INSTRUCTIONS, 1009, 0x3, 0 }) },
	{ "precise samples show the branch",
	  SCENARIO(true, { EVENT_BRANCHES, 307, 0x2, 2 }, { EVENT_INSTRUCTIONS, 1009, 0x3, 0 }) },
	{ "an event that reloads another has precise samples, too",
	  SCENARIO(false, { EVENT_BRANCHES, 307, 0x2, 2 }, { EVENT_INSTRUCTIONS, 1009, 0, 2 }) },
	/* 601 branches never come within 1009 instructions, after which both counters reload. */
	{ "no samples where branches are too rare",
	  SCENARIO(true, { EVENT_BRANCHES, 601, 0x2, 0 }, { EVENT_INSTRUCTIONS, 1009, 0x3, 0 }) },
	{ "an event that reloads another has samples",
	  SCENARIO(false, { EVENT_BRANCHES, 307, 0x2, 0 }, { EVENT_INSTRUCTIONS, 1009, 0, 0 }) },
	{ "the leader reloads another event",
	  SCENARIO(false, { EVENT_INSTRUCTIONS, 1009, 0, 0 }, { EVENT_BRANCHES, 307, 0x1, 0 }) },
	{ "later events without acr_mask are not reloaded", plain_after },
	{ "a frequency, precise_ip 3, no period and a long one are EINVAL", refused },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 0);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
