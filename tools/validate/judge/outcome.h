/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * outcome.h - results of checks, for reports
 */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <stdbool.h>

struct check;

#define MAX_LINES	256

enum result { PASS, FAIL, SKIP };

/**
 * struct seen - a measured number and its expected range
 * @what: name of the number
 * @lo: lowest expected value
 * @hi: highest expected value
 * @got: the last value, or a wrong one
 * @times: how often it was compared
 */
struct seen {
	char what[96];
	long long lo, hi, got;
	unsigned int times;
};

#define MAX_SEEN	24

/**
 * struct outcome - the result of a check
 * @result: PASS, FAIL or SKIP
 * @reason: why the check was skipped
 * @because: NULL, or "area: name" of the check whose failure explains this check's failure; the
 *	result is SKIP then
 * @cut: the check crashed, or did not end in time
 * @lines: messages of the check, and failed expectations
 * @nr_lines: number of @lines
 * @seen: the first numbers that the check compared
 * @nr_seen: number of @seen
 */
struct outcome {
	enum result result;
	char reason[256];
	const char *because;
	bool cut;
	char lines[MAX_LINES][600];
	unsigned int nr_lines;
	struct seen seen[MAX_SEEN];
	unsigned int nr_seen;
};

/**
 * as_expected() - check whether a number is in its expected range
 * @seen: the number
 */
static inline bool as_expected(const struct seen *seen)
{
	return seen->got >= seen->lo && seen->got <= seen->hi;
}

/**
 * find_instructions() - choose the PMU's event of instructions, and bind this process to its CPUs
 *
 * Return: NULL, or why the PMU cannot be judged.
 */
const char *find_instructions(void);

/**
 * find_out() - probe the PMU, and fill in @pmu
 * @disrupt: checks may change and disturb the machine
 * @allow_long: checks may take minutes in an emulator
 *
 * Return: NULL, or why the PMU cannot be judged.
 */
const char *find_out(bool disrupt, bool allow_long);

/**
 * may_run() - check whether a check's needs are met, and the permitted rate of samples suffices
 * @check: the check, which must run next
 * @outcome: set to SKIP, with the reason, if they are not
 *
 * Raise the rate of samples if the kernel has lowered it since the first check of samples.
 * run_check() then puts the lowered rate back.
 *
 * Return: true if the check may run.
 */
bool may_run(const struct check *check, struct outcome *outcome);

/**
 * was_throttled() - check whether the kernel lowered the rate of samples while a check ran
 * @check: the check that ran last
 * @outcome: set to SKIP, with the reason, if the rate is too low now
 *
 * Return: true if the rate is too low now: then the check's failure proves nothing.
 */
bool was_throttled(const struct check *check, struct outcome *outcome);

/**
 * run_check() - run a check, and undo its changes of the machine
 * @check: the check
 * @outcome: set to the result
 */
void run_check(const struct check *check, struct outcome *outcome);

/**
 * judge_check() - run a check if its needs are met, and look for the cause of a failure
 * @check: the check
 * @outcome: set to the result
 *
 * If another check explains a failure, the result is SKIP, and @outcome keeps what was seen.
 */
void judge_check(const struct check *check, struct outcome *outcome);

/**
 * find_check() - return the check with this "area: name"
 * @title: the area and the name
 *
 * Return: the check, or NULL.
 */
const struct check *find_check(const char *title);

/**
 * catch_signals() - have SIGINT, SIGTERM and SIGHUP end the running check first
 */
void catch_signals(void);

/**
 * signal_caught() - return the signal that was caught
 *
 * Return: the signal's number, or 0.
 */
int signal_caught(void);

#endif /* OUTCOME_H */
