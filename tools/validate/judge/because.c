// SPDX-License-Identifier: GPL-2.0-only
/*
 * because.c - failures that the failure of another check explains
 *
 * If a PMU counts the kernel in spite of exclude_kernel, most counts are too high: that is one
 * defect, and one failed check. A check's ON_* bits name the checks that it rests on. If one of
 * these fails, a failure of the check says nothing new: the check is not judged. A crash or a
 * timeout is always a failure.
 */
#define _GNU_SOURCE
#include <stdlib.h>

#include "outcome.h"
#include "validate.h"

/**
 * struct base - a check that others rest on
 * @bit: ON_* of checks whose failures it explains
 * @high_bit: ON_* of checks whose failures it explains if all wrong numbers are too high
 * @or_skipped: the check also explains failures if it is skipped, as the PMU lacks the feature
 * @title: "area: name"
 * @judged: @outcome is valid
 * @outcome: the check's only result
 */
static struct base {
	unsigned int bit, high_bit;
	bool or_skipped;
	const char *title;
	bool judged;
	struct outcome outcome;
} bases[] = {
	{ ON_MODES, ON_USER, true, "count: exclude_kernel leaves user space" },
	{ ON_KERNEL, 0, false, "count: exclude_user leaves the kernel" },
	{ ON_COUNTERS, 0, false, "count: on every counter at once" },
	{ ON_BRANCHES, 0, false, "count: branches of a known loop" },
	{ ON_OVERFLOWS, 0, false, "sample: a sample every 100000" },
	{ ON_FIRST, 0, false, "sample: a sample every 1000003" },
};

/*
 * Check whether a failed expectation got too high a number. A measured bound may be too high as
 * well, so a number counts as high down to 2 % below the lower bound. Return true for lines without
 * an expectation.
 */
static bool is_high(const char *line)
{
	const char *at = strstr(line, ": expected ");
	long long lo, hi, got;

	if (!strncmp(line, "breaks: ", 8))
		return true;
	if (!at)
		return !strstr(line, "expected ");
	if (sscanf(at, ": expected %lld..%lld, got %lld", &lo, &hi, &got) != 3) {
		if (sscanf(at, ": expected %lld, got %lld", &lo, &got) != 2)
			return false;
		hi = lo;
	}
	return got > hi || (lo > 0 && got >= lo - lo / 50);
}

static bool all_high(const struct outcome *outcome)
{
	for (unsigned int i = 0; i < outcome->nr_lines; i++)
		if (!is_high(outcome->lines[i]))
			return false;
	/* Lines beyond MAX_LINES are not known. */
	return outcome->nr_lines && outcome->nr_lines < MAX_LINES;
}

static void judge_anew(const struct check *check, struct outcome *outcome);

/* Return the result of a check that others rest on. The check runs once. */
static const struct outcome *judge_base(struct base *base, const struct check *check)
{
	if (!base->judged)
		judge_anew(check, &base->outcome);
	base->judged = true;
	return &base->outcome;
}

/* Return the title of the check that explains a failure, or NULL. */
static const char *find_cause(const struct check *check, const struct outcome *outcome)
{
	for (struct base *base = bases; base < bases + ARRAY_SIZE(bases); base++) {
		const struct check *other = find_check(base->title);
		const struct outcome *result;

		if (!(check->rests_on & base->bit) &&
		    !(check->rests_on & base->high_bit && all_high(outcome)))
			continue;
		result = judge_base(base, other);
		/*
		 * A base check whose failure a third check explains is not the cause: the third
		 * check is, and has an ON_* bit of its own.
		 */
		if (result->result == FAIL ||
		    (result->result == SKIP && base->or_skipped && !result->because))
			return base->title;
	}
	return NULL;
}

static void judge_anew(const struct check *check, struct outcome *outcome)
{
	if (!may_run(check, outcome))
		return;
	run_check(check, outcome);
	if (outcome->result != FAIL || outcome->cut || signal_caught())
		return;
	/* The kernel may have lowered the rate of samples during the check. */
	if (was_throttled(check, outcome))
		return;
	outcome->because = find_cause(check, outcome);
	if (!outcome->because)
		return;
	outcome->result = SKIP;
	snprintf(outcome->reason, sizeof(outcome->reason), "not judged, because of %s",
		 outcome->because);
}

void judge_check(const struct check *check, struct outcome *outcome)
{
	for (struct base *base = bases; base < bases + ARRAY_SIZE(bases); base++) {
		if (find_check(base->title) == check) {
			*outcome = *judge_base(base, check);
			return;
		}
	}
	judge_anew(check, outcome);
}
