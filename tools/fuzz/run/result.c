// SPDX-License-Identifier: GPL-2.0-only
/*
 * result.c - results of a case
 */
#include <errno.h>

#include "result.h"
#include "run/run.h"

#define MAX_RESULTS	256

static struct result {
	const char *what;
	unsigned int event;
	s64 value;
} results[MAX_RESULTS];
static unsigned int nr_results;

void result_clear(void)
{
	nr_results = 0;
}

void result_note(const char *what, unsigned int event, s64 value)
{
	if (nr_results < MAX_RESULTS)
		results[nr_results++] = (struct result) { what, event, value };
}

bool result_note_call(struct fuzz_counters *counters, const char *what, unsigned int event,
		      long ret)
{
	counters->calls++;
	counters->succeeded += ret >= 0;
	result_note(what, event, ret < 0 ? -errno : 0);
	return ret >= 0;
}

void result_note_count(const char *what, unsigned int event, u64 count, bool repeats)
{
	result_note(what, event, repeats ? count : count > 0);
}

void fuzz_print_results(FILE *out)
{
	for (unsigned int i = 0; i < nr_results; i++)
		fprintf(out, " %s%u:%lld", results[i].what, results[i].event,
			(long long)results[i].value);
}
