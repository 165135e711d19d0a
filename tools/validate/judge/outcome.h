/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * outcome.h - how checks ended, from the process that ran them to whoever tells of it
 */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <stdbool.h>

struct check;

#define MAX_LINES	64

enum result { PASS, FAIL, SKIP };

/**
 * struct seen - a number that was expected, and seen
 * @what: which one
 * @lo: the lowest it may be
 * @hi: the highest it may be
 * @got: what it was, the last time or when it was wrong
 * @times: how often it was looked at
 */
struct seen {
	char what[96];
	long long lo, hi, got;
	unsigned int times;
};

#define MAX_SEEN	24

/**
 * struct outcome - how a check ended
 * @result: PASS, FAIL or SKIP
 * @reason: of a check that was skipped
 * @lines: what it said, and what was expected and seen where that differs
 * @nr_lines: how many
 * @seen: the first of all numbers that were expected
 * @nr_seen: how many
 */
struct outcome {
	enum result result;
	char reason[256];
	char lines[MAX_LINES][600];
	unsigned int nr_lines;
	struct seen seen[MAX_SEEN];
	unsigned int nr_seen;
};

/**
 * as_expected() - whether a number is one of those that it may be
 * @seen: the number
 *
 * Return: whether it is so.
 */
static inline bool as_expected(const struct seen *seen)
{
	return seen->got >= seen->lo && seen->got <= seen->hi;
}

/**
 * find_out() - find out what the PMU can do, into pmu
 * @disrupt: the machine may be changed and disturbed
 * @patient: what takes minutes in an emulator may take them
 *
 * Return: NULL, or why nothing can be judged.
 */
const char *find_out(bool disrupt, bool patient);

/**
 * may_run() - whether the PMU and the user have what a check needs
 * @check: the check
 * @outcome: skipped, with the reason, if not
 *
 * Return: whether it may run.
 */
bool may_run(const struct check *check, struct outcome *outcome);

/**
 * run_check() - run a check, and undo what it did to the machine
 * @check: the check
 * @outcome: how it ended
 */
void run_check(const struct check *check, struct outcome *outcome);

/**
 * catch_signals() - have SIGINT, SIGTERM and SIGHUP end the running check first
 */
void catch_signals(void);

/**
 * signal_caught() - which of them came
 *
 * Return: its number, or 0.
 */
int signal_caught(void);

#endif /* OUTCOME_H */
