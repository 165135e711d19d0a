// SPDX-License-Identifier: GPL-2.0-only
/*
 * filters.c - the suite "filters": combinations of attr.branch_sample_type that perf_event_open(2)
 * accepts
 *
 * The suite opens an event with six level filters (levels[]), up to three branch types (types[])
 * and each flag (flags[]). The table below has the errno of the built-in driver and the one of
 * corepmu. If both differ, the rule's text says why. The suite runs under either driver.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf_util.h"

/* Older uapi headers lack this flag. */
#define COUNTERS		(1ULL << 19)
#define COUNTERS_SINCE		608

#define USER			PERF_SAMPLE_BRANCH_USER
#define KERNEL			PERF_SAMPLE_BRANCH_KERNEL
#define HV			PERF_SAMPLE_BRANCH_HV
#define LEVELS			(USER | KERNEL | HV)
#define STACK			PERF_SAMPLE_BRANCH_CALL_STACK
#define TX			(PERF_SAMPLE_BRANCH_ABORT_TX | PERF_SAMPLE_BRANCH_IN_TX | \
				 PERF_SAMPLE_BRANCH_NO_TX)
/* Branch types that both drivers reject together with a call stack */
#define NOT_BESIDE_STACK	(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_ANY_CALL | \
				 PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_IND_CALL | \
				 PERF_SAMPLE_BRANCH_COND | TX)
#define CALL_OR_JUMP		(PERF_SAMPLE_BRANCH_CALL | PERF_SAMPLE_BRANCH_IND_JUMP)
#define NO_INFO			(PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES)
#define TYPES			(NOT_BESIDE_STACK | CALL_OR_JUMP | STACK)

static const u64 levels[] = { 0, USER, KERNEL, USER | KERNEL, HV, USER | HV };

static const u64 types[] = {
	PERF_SAMPLE_BRANCH_ANY, PERF_SAMPLE_BRANCH_ANY_CALL, PERF_SAMPLE_BRANCH_ANY_RETURN,
	PERF_SAMPLE_BRANCH_IND_CALL, PERF_SAMPLE_BRANCH_ABORT_TX, PERF_SAMPLE_BRANCH_IN_TX,
	PERF_SAMPLE_BRANCH_NO_TX, PERF_SAMPLE_BRANCH_COND, STACK, PERF_SAMPLE_BRANCH_IND_JUMP,
	PERF_SAMPLE_BRANCH_CALL,
};

static const u64 flags[] = {
	0, PERF_SAMPLE_BRANCH_NO_FLAGS, PERF_SAMPLE_BRANCH_NO_CYCLES, NO_INFO,
	PERF_SAMPLE_BRANCH_TYPE_SAVE, PERF_SAMPLE_BRANCH_HW_INDEX, PERF_SAMPLE_BRANCH_PRIV_SAVE,
	COUNTERS,
};

/* Not a bit of branch_sample_type: the event excludes user space and the kernel. */
#define OF_NOTHING		(1ULL << 63)

/* rule.records: CPUs with these branch records */
#define INTEL			1
#define AMD			2
#define BRBE			4
#define EVERY			(INTEL | AMD | BRBE)

/**
 * struct rule - combinations that a driver rejects
 * @what: the reason
 * @records: the CPUs
 * @has: bits of branch_sample_type that must all be set
 * @any: bits of which one must be set, or 0
 * @lacks: bits that must be clear
 * @built_in: the built-in driver's errno
 * @ours: corepmu's errno
 */
struct rule {
	const char *what;
	unsigned int records;
	u64 has;
	u64 any;
	u64 lacks;
	int built_in;
	int ours;
};

/* A driver's errno is that of its first matching rule. The driver accepts everything else. */
static const struct rule rules[] = {
	{ "levels and nothing else", EVERY, 0, 0, ~(LEVELS | OF_NOTHING), EINVAL, EINVAL },
	{ "no counts of events in the records", INTEL, COUNTERS, 0, 0, EINVAL, EINVAL },
	{ "no counts of events in the records", AMD, COUNTERS, 0, 0, 0, EINVAL },
	{ "no counts of events in the records", BRBE, COUNTERS, 0, 0, EOPNOTSUPP, EINVAL },
	{ "no call stacks", AMD | BRBE, STACK, 0, 0, EOPNOTSUPP, EOPNOTSUPP },
	{ "no transactions", AMD | BRBE, 0, TX, 0, EOPNOTSUPP, EOPNOTSUPP },
	{ "no choice of what a record has", AMD, 0, NO_INFO, 0, EOPNOTSUPP, 0 },
	{ "no branch type", BRBE, 0, 0, TYPES, EOPNOTSUPP, EINVAL },
	{ "an event of nothing", BRBE, OF_NOTHING, 0, 0, EOPNOTSUPP, EOPNOTSUPP },
	{ "a call stack with other types", INTEL, STACK, NOT_BESIDE_STACK, 0, EINVAL, EINVAL },
	{ "a call stack with other types", INTEL, STACK, CALL_OR_JUMP, 0, 0, EINVAL },
	{ "a call stack of the kernel", INTEL, STACK | KERNEL, 0, 0, 0, EOPNOTSUPP },
};

static unsigned int records(void)
{
#ifdef __aarch64__
	return BRBE;
#else
	return arch_is_amd() ? AMD : INTEL;
#endif
}

static bool matches(const struct rule *r, u64 mask)
{
	return (r->records & records()) && (mask & r->has) == r->has &&
	       (!r->any || (mask & r->any)) && !(mask & r->lacks);
}

/* Number of combinations that each rule has decided */
static unsigned int decided[ARRAY_SIZE(rules)];

static int expected(u64 mask)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++) {
		int error = target.in_tree ? rules[i].built_in : rules[i].ours;

		if (!error || !matches(&rules[i], mask))
			continue;
		decided[i]++;
		return error;
	}
	return 0;
}

/* Return branch_sample_type. Without a level filter it has the event's levels, as in perf core. */
static u64 with_levels(const struct perf_event_attr *attr)
{
	u64 mask = attr->branch_sample_type;

	if (mask && !(mask & LEVELS)) {
		mask |= attr->exclude_user ? 0 : USER;
		mask |= attr->exclude_kernel ? 0 : KERNEL;
		mask |= attr->exclude_hv ? 0 : HV;
	}
	return mask | (attr->exclude_user && attr->exclude_kernel ? OF_NOTHING : 0);
}

struct tally {
	unsigned int opens;
	unsigned int taken;
	unsigned int wrong;
};

/* Most messages per case */
#define SHOWN			8

static void try(struct perf_event_attr *attr, struct tally *t)
{
	int fd = event_open(attr, 0, -1, -1, 0), got = fd < 0 ? -fd : 0;
	int error = expected(with_levels(attr));

	t->opens++;
	if (fd >= 0) {
		t->taken++;
		close(fd);
	}
	if (got == error || t->wrong++ >= SHOWN)
		return;
	ktap_diag("branch_sample_type %#llx: expected %s, got %s",
		  (unsigned long long)attr->branch_sample_type,
		  error ? strerror(error) : "success", got ? strerror(got) : "success");
}

/* Open @attr without branch_sample_type, and with @others and up to three types. */
static void try_types(struct perf_event_attr *attr, u64 others, struct tally *t)
{
	const unsigned int nr = ARRAY_SIZE(types);

	attr->branch_sample_type = others;
	try(attr, t);
	/* i == j == k opens a single type, i == j < k a pair. */
	for (unsigned int i = 0; i < nr; i++)
		for (unsigned int j = i; j < nr; j++)
			for (unsigned int k = j; k < nr; k++) {
				if (k == j && j != i)
					continue;
				attr->branch_sample_type = others | types[i] | types[j] | types[k];
				try(attr, t);
			}
}

/* Skip COUNTERS if the kernel lacks it, and if records have counts: see suite branchcounts. */
static bool is_tested(u64 flag)
{
	char path[256];

	if (flag != COUNTERS)
		return true;
	if (target.kernel < COUNTERS_SINCE)
		return false;
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/caps/branch_counter_nr",
		 target.pmu);
	return access(path, R_OK);
}

static void try_all(struct perf_event_attr *attr)
{
	struct tally t = { 0 };

	memset(decided, 0, sizeof(decided));
	for (unsigned int l = 0; l < ARRAY_SIZE(levels); l++)
		for (unsigned int f = 0; f < ARRAY_SIZE(flags); f++)
			if (is_tested(flags[f]))
				try_types(attr, levels[l] | flags[f], &t);
	expect_eq("combinations with another answer", 0, t.wrong);
	ktap_diag("%u combinations, %u taken", t.opens, t.taken);
	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++)
		if (decided[i])
			ktap_diag("%u refused with %s: %s", decided[i],
				  strerror(target.in_tree ? rules[i].built_in : rules[i].ours),
				  rules[i].what);
}

static void init_sampling(struct perf_event_attr *attr)
{
	attr_init(attr, ARCH_EVENT_INSTRUCTIONS);
	attr->sample_period = 100003;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
}

static void of_user(void)
{
	struct perf_event_attr attr;

	init_sampling(&attr);
	try_all(&attr);
}

static void of_kernel_too(void)
{
	struct perf_event_attr attr;

	init_sampling(&attr);
	attr.exclude_kernel = 0;
	attr.exclude_hv = 0;
	try_all(&attr);
}

static void of_nothing(void)
{
	struct perf_event_attr attr;

	init_sampling(&attr);
	attr.exclude_user = 1;
	try_all(&attr);
}

static void of_counting(void)
{
	struct perf_event_attr attr;

	if (target.in_tree && target.kernel <= 601 && records() == AMD) {
		ktap_skip("the built-in driver of Linux 6.1 rejects branch records of events that do not sample");
		return;
	}
	init_sampling(&attr);
	attr.sample_period = 0;
	try_all(&attr);
}

static void of_precise(void)
{
	struct perf_event_attr attr;

	if (max_precise() < 2) {
		ktap_skip("no precise samples");
		return;
	}
	init_sampling(&attr);
	attr.precise_ip = 2;
	try_all(&attr);
}

static const struct ktap_case cases[] = {
	{ "a user event takes the filters of the table", of_user },
	{ "an event of user space and the kernel takes the filters of the table", of_kernel_too },
	{ "an event that excludes user space and the kernel takes the filters of the table",
	  of_nothing },
	{ "an event that does not sample takes the filters of the table", of_counting },
	{ "a precise event takes the filters of the table", of_precise },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
