// SPDX-License-Identifier: GPL-2.0-only
/*
 * validate.c - pmu-validate: does a perf PMU do what perf_event_open(2) says?
 *
 * Each check runs in a process of its own, so that one that crashes or never
 * ends fails alone. What a PMU can do is found out from sysfs and by trying; a
 * check of something else is skipped and says why.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>

#include "guard.h"
#include "outcome.h"
#include "report.h"
#include "validate.h"

static const struct check_list *const lists[] = {
	&identity_checks, &count_checks, &task_checks, &group_checks, &sample_checks,
	&notify_checks, &storm_checks, &field_checks, &ring_checks, &page_checks, &error_checks,
	&machine_checks, &branch_checks,
};

static bool is_chosen(const struct check *check, const char *filter)
{
	char full[256];

	snprintf(full, sizeof(full), "%s: %s", check->area, check->name);
	return !filter || strcasestr(full, filter);
}

static void usage(FILE *out)
{
	fprintf(out,
		"usage: pmu-validate [OPTION]...\n"
		"  --pmu NAME      a PMU of /sys/bus/event_source/devices (without: generic events)\n"
		"  --filter TEXT   only checks whose \"area: name\" has this text\n"
		"  --disrupt       also change settings for a while, make storms, take CPUs off line,\n"
		"                  suspend and try to unload the module (root)\n"
		"  --json          JSON instead of KTAP\n"
		"  --list          what is checked, and by which rule\n");
}

static struct {
	const char *filter;
	bool json, list, disrupt;
} options;

/* False after a complaint; then the status is for main() to return. */
static bool parse_options(int argc, char **argv, int *status)
{
	static const struct option names[] = {
		{ "pmu", required_argument, NULL, 'p' },
		{ "filter", required_argument, NULL, 'f' },
		{ "disrupt", no_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "list", no_argument, NULL, 'l' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int option;

	*status = 2;
	while ((option = getopt_long(argc, argv, "", names, NULL)) != -1) {
		switch (option) {
		case 'p':
			pmu.name = optarg;
			break;
		case 'f':
			options.filter = optarg;
			break;
		case 'd':
			options.disrupt = true;
			break;
		case 'j':
			options.json = true;
			break;
		case 'l':
			options.list = true;
			break;
		case 'h':
			usage(stdout);
			*status = 0;
			return false;
		default:
			usage(stderr);
			return false;
		}
	}
	if (optind < argc) {
		usage(stderr);
		return false;
	}
	if (options.disrupt && geteuid()) {
		fprintf(stderr, "pmu-validate: --disrupt is for root.\n");
		return false;
	}
	return true;
}

/* The checks that were chosen, in order. */
static const struct check **choose_checks(unsigned int *nr)
{
	static const struct check *chosen[1024];
	unsigned int i, j;

	*nr = 0;
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		for (j = 0; j < lists[i]->nr; j++)
			if (*nr < ARRAY_SIZE(chosen) &&
			    is_chosen(&lists[i]->checks[j], options.filter))
				chosen[(*nr)++] = &lists[i]->checks[j];
	return chosen;
}

static bool find_pmu(void)
{
	char path[256];

	if (!pmu.name)
		return true;
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu.name);
	pmu.type = read_number(path);
	if (pmu.type >= 0)
		return true;
	fprintf(stderr, "pmu-validate: there is no PMU %s in /sys/bus/event_source/devices.\n",
		pmu.name);
	return false;
}

static void tell(const char *sentence)
{
	report_note(options.json, sentence);
}

int main(int argc, char **argv)
{
	unsigned int nr, i, totals[3] = { 0 };
	const struct check **checks;
	const char *why;
	int status;

	if (!parse_options(argc, argv, &status))
		return status;
	checks = choose_checks(&nr);
	if (!nr) {
		fprintf(stderr, "pmu-validate: no check has '%s' in its name; see --list.\n",
			options.filter);
		return 2;
	}
	for (i = 0; options.list && i < nr; i++)
		printf("%s: %s\n\t%s\n", checks[i]->area, checks[i]->name, checks[i]->rule);
	if (options.list)
		return 0;
	if (!find_pmu())
		return 2;
	watch_begin();
	catch_signals();
	if (options.disrupt && !guard_start()) {
		perror("pmu-validate: nobody could put changes back");
		return 1;
	}
	why = find_out(options.disrupt);
	report_begin(options.json, why ? 0 : nr);
	for (i = 0; !why && i < nr && !signal_caught(); i++) {
		static struct outcome outcome;

		memset(&outcome, 0, sizeof(outcome));
		if (may_run(checks[i], &outcome))
			run_check(checks[i], &outcome);
		if (signal_caught())
			break;
		totals[outcome.result]++;
		report_check(options.json, checks[i], &outcome, i + 1);
	}
	watch_end(tell);
	guard_stop();
	if (signal_caught())
		why = "it was stopped by a signal";
	report_end(options.json, totals, why);
	if (signal_caught()) {
		signal(signal_caught(), SIG_DFL);
		raise(signal_caught());
	}
	return why || totals[FAIL] ? 1 : 0;
}
