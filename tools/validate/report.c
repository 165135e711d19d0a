// SPDX-License-Identifier: GPL-2.0-only
/*
 * report.c - results as KTAP and as JSON
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/utsname.h>

#include "outcome.h"
#include "report.h"
#include "validate.h"

/* Notes wait for the end, where JSON has a place for them. */
static char *notes[32];
static unsigned int nr_notes;

/* Whatever bytes there are: control characters escaped, those beyond ASCII as they are. */
static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			printf("\\%c", *text);
		else if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f)
			printf("\\u%04x", (unsigned char)*text);
		else
			putchar(*text);
	}
	putchar('"');
}

static void print_field(const char *name, const char *text)
{
	printf(", \"%s\": ", name);
	print_string(text);
}

static const char *judged(void)
{
	return pmu.name ?: "generic events";
}

void report_begin(bool json, unsigned int nr)
{
	struct utsname uts;

	uname(&uts);
	if (json) {
		printf("{\"format\": 1");
		print_field("pmu", judged());
		print_field("kernel", uts.release);
		print_field("architecture", uts.machine);
		printf(", \"group\": %u, \"exact\": %s, \"checks\": [", pmu.group,
		       pmu.exact ? "true" : "false");
		return;
	}
	printf("KTAP version 1\n");
	if (!nr)
		return;
	printf("1..%u\n", nr);
	printf("# %s on Linux %s (%s), %u events in a group, %s\n", judged(), uts.release,
	       uts.machine, pmu.group,
	       pmu.exact ? "every count exact" : "counts within 0.2 percent");
}

static void print_ktap(const struct check *check, const struct outcome *outcome,
		       unsigned int number)
{
	unsigned int i;

	for (i = 0; i < outcome->nr_lines; i++)
		printf("# %s\n", outcome->lines[i]);
	printf("%sok %u - %s: %s", outcome->result == FAIL ? "not " : "", number,
	       check->area, check->name);
	if (outcome->result == SKIP)
		printf(" # SKIP %s", outcome->reason);
	printf("\n");
}

static void print_json(const struct check *check, const struct outcome *outcome,
		       unsigned int number)
{
	static const char *const results[] = { "pass", "fail", "skip" };
	unsigned int i;

	printf("%s\n  {\"area\": ", number > 1 ? "," : "");
	print_string(check->area);
	print_field("name", check->name);
	print_field("result", results[outcome->result]);
	print_field("rule", check->rule ?: "");
	if (outcome->result == SKIP)
		print_field("reason", outcome->reason);
	printf(", \"lines\": [");
	for (i = 0; i < outcome->nr_lines; i++) {
		printf("%s", i ? ", " : "");
		print_string(outcome->lines[i]);
	}
	printf("]}");
}

void report_check(bool json, const struct check *check, const struct outcome *outcome,
		  unsigned int number)
{
	if (json)
		print_json(check, outcome, number);
	else
		print_ktap(check, outcome, number);
	fflush(stdout);
}

void report_note(bool json, const char *sentence)
{
	if (!json)
		printf("# %s\n", sentence);
	else if (nr_notes < ARRAY_SIZE(notes))
		notes[nr_notes++] = strdup(sentence);
}

void report_end(bool json, const unsigned int *totals, const char *why)
{
	unsigned int i;

	if (json) {
		printf("\n], \"notes\": [");
		for (i = 0; i < nr_notes; i++) {
			printf("%s", i ? ", " : "");
			print_string(notes[i] ?: "");
		}
		printf("]");
		if (why)
			print_field("incomplete", why);
		printf(", \"totals\": {\"pass\": %u, \"fail\": %u, \"skip\": %u}}\n",
		       totals[PASS], totals[FAIL], totals[SKIP]);
	} else if (why) {
		printf("Bail out! %s: %s\n", judged(), why);
	} else {
		printf("# Totals: pass:%u fail:%u skip:%u\n", totals[PASS], totals[FAIL],
		       totals[SKIP]);
	}
	fflush(stdout);
}
