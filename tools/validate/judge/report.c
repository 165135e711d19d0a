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

/* The results as JSON, and the notes, which follow the results */
static char *results, *notes;
static size_t results_size, notes_size;
static FILE *json, *noted;
/* Standard output gets JSON, not KTAP. */
static bool quiet;

/* Write a JSON string; bytes that are not printable ASCII are escaped. */
static void put_string(FILE *out, const char *text)
{
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f)
			fprintf(out, "\\u%04x", (unsigned char)*text);
		else
			putc(*text, out);
	}
	putc('"', out);
}

static void put_field(const char *name, const char *text)
{
	fprintf(json, ", \"%s\": ", name);
	put_string(json, text);
}

static const char *judged(void)
{
	return pmu.name ?: "generic events";
}

static unsigned int nr_facts;

static void put_fact(const char *name, const char *fact)
{
	fprintf(json, "%s\n  ", nr_facts++ ? "," : "");
	put_string(json, name);
	fprintf(json, ": ");
	put_string(json, fact);
}

void report_begin(bool as_json, unsigned int nr)
{
	struct utsname uts;

	quiet = as_json;
	json = open_memstream(&results, &results_size);
	noted = open_memstream(&notes, &notes_size);
	if (!json || !noted) {
		perror("pmu-validate");
		exit(1);
	}
	uname(&uts);
	fprintf(json, "{\"format\": 1");
	put_field("pmu", judged());
	put_field("kernel", uts.release);
	put_field("architecture", uts.machine);
	fprintf(json, ", \"group\": %u, \"exact\": %s, \"about\": {", pmu.group,
		pmu.exact && pmu.counts_exact ? "true" : "false");
	about_machine(put_fact);
	fprintf(json, "},\n\"checks\": [");
	if (quiet)
		return;
	printf("KTAP version 1\n");
	if (nr)
		printf("1..%u\n# %s on Linux %s (%s), %u events in a group, %s\n", nr, judged(),
		       uts.release, uts.machine, pmu.group, pmu.exactness);
	fflush(stdout);
}

static void print_ktap(const struct check *check, const struct outcome *outcome,
		       unsigned int number)
{
	for (unsigned int i = 0; i < outcome->nr_lines; i++)
		printf("# %s\n", outcome->lines[i]);
	printf("%sok %u - %s: %s", outcome->result == FAIL ? "not " : "", number,
	       check->area, check->name);
	if (outcome->result == SKIP)
		printf(" # SKIP %s", outcome->reason);
	printf("\n");
	fflush(stdout);
}

static void put_seen(const struct seen *seen, bool first)
{
	fprintf(json, "%s\n    {\"what\": ", first ? "" : ",");
	put_string(json, seen->what);
	fprintf(json, ", \"low\": %lld, \"high\": %lld, \"got\": %lld, \"times\": %u}", seen->lo,
		seen->hi, seen->got, seen->times);
}

void report_check(const struct check *check, const struct outcome *outcome, unsigned int number)
{
	static const char *const words[] = { "pass", "fail", "skip" };

	fprintf(json, "%s\n  {\"area\": ", number > 1 ? "," : "");
	put_string(json, check->area);
	put_field("name", check->name);
	put_field("result", words[outcome->result]);
	put_field("rule", check->rule ?: "");
	if (outcome->result == SKIP)
		put_field("reason", outcome->reason);
	if (outcome->because)
		put_field("because", outcome->because);
	fprintf(json, ", \"lines\": [");
	for (unsigned int i = 0; i < outcome->nr_lines; i++) {
		fprintf(json, "%s", i ? ", " : "");
		put_string(json, outcome->lines[i]);
	}
	fprintf(json, "], \"seen\": [");
	for (unsigned int i = 0; i < outcome->nr_seen; i++)
		put_seen(&outcome->seen[i], !i);
	fprintf(json, "]}");
	if (!quiet)
		print_ktap(check, outcome, number);
}

void report_note(const char *sentence)
{
	if (!quiet)
		printf("# %s\n", sentence);
	fprintf(noted, "%s", ftell(noted) ? ", " : "");
	put_string(noted, sentence);
}

const char *report_end(const unsigned int *totals, const char *why)
{
	fclose(noted);
	fprintf(json, "\n], \"notes\": [%s]", notes);
	if (why)
		put_field("incomplete", why);
	fprintf(json, ",\n\"totals\": {\"pass\": %u, \"fail\": %u, \"skip\": %u}}\n",
		totals[PASS], totals[FAIL], totals[SKIP]);
	fclose(json);
	if (quiet)
		fputs(results, stdout);
	else if (why)
		printf("Bail out! %s: %s\n", judged(), why);
	else
		printf("# Totals: pass:%u fail:%u skip:%u\n", totals[PASS], totals[FAIL],
		       totals[SKIP]);
	fflush(stdout);
	return results;
}
