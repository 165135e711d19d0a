// SPDX-License-Identifier: GPL-2.0-only
/*
 * validate.c - pmu-validate: check that a perf PMU follows perf_event_open(2)
 *
 * Each check runs in a separate process, so that a crash or a hang fails only that check. The
 * program probes the PMU's features by sysfs and by opening events. Checks of other features are
 * skipped, with the reason.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>

#include "guard.h"
#include "observe/observe.h"
#include "outcome.h"
#include "quick.h"
#include "report.h"
#include "validate.h"

static const struct check_list *const lists[] = {
	&identity_checks, &count_checks, &level_checks, &task_checks, &group_checks,
	&fit_checks, &multiplex_checks, &sample_checks, &resume_checks, &notify_checks,
	&storm_checks, &field_checks,
	&ring_checks, &page_checks, &error_checks, &machine_checks, &race_checks, &branch_checks,
	&precise_checks, &inherit_checks, &output_checks, &record_checks,
	&kernel_record_checks, &program_checks, &beside_checks,
};

static bool is_called(const struct check *check, const char *text)
{
	char full[256];

	snprintf(full, sizeof(full), "%s: %s", check->area, check->name);
	return strcasestr(full, text);
}

const struct check *find_check(const char *title)
{
	char full[256];

	for (unsigned int i = 0; i < ARRAY_SIZE(lists); i++) {
		for (unsigned int j = 0; j < lists[i]->nr; j++) {
			snprintf(full, sizeof(full), "%s: %s", lists[i]->checks[j].area,
				 lists[i]->checks[j].name);
			if (!strcmp(full, title))
				return &lists[i]->checks[j];
		}
	}
	return NULL;
}

static const char help[] =
	"usage: pmu-validate [OPTION]...\n"
	"Judge a PMU of Linux' perf by perf_event_open(2). Without --disrupt, no setting of the\n"
	"machine changes.\n"
	"\n"
	"  --pmu NAME      a PMU of /sys/bus/event_source/devices (without: generic events)\n"
	"  --quick         say in one line, within ten seconds, whether counts can be trusted\n"
	"  --observe       answer questions that the page leaves open, and judge nothing\n"
	"  --filter TEXT   only checks whose \"area: name\" has this text; may be repeated\n"
	"  --except TEXT   skip checks whose \"area: name\" has this text; may be repeated\n"
	"  --disrupt       also change settings for a while, make storms, take CPUs off line,\n"
	"                  suspend and try to unload the module; as root\n"
	"  --long          also checks that take minutes if an emulator counts instructions\n"
	"  --json          JSON instead of KTAP\n"
	"  --save FILE     also write the JSON to a file, for pmu-validate-report\n"
	"  --list          list the checks, and their rules\n"
	"\n"
	"examples:\n"
	"  pmu-validate --pmu cpu\n"
	"  sudo pmu-validate --pmu armv8_pmuv3_0 --disrupt\n"
	"  pmu-validate --quick\n"
	"  pmu-validate --pmu cpu --filter sample\n"
	"  pmu-validate --pmu cpu --save cpu.json\n"
	"  pmu-validate-report cpu.json --output cpu.html\n"
	"\n"
	"The status is 0 if no check failed, 1 if one failed or could not be judged, 2 for a wrong\n"
	"argument. With --quick it is 0 if counts can be trusted, else 1.\n";

static void usage(FILE *out)
{
	fputs(help, out);
}

/* The texts of an option that may be given several times */
struct texts {
	const char *texts[32];
	unsigned int nr;
};

static struct {
	struct texts filters, excepts;
	const char *save;
	bool json, list, disrupt, allow_long, quick, observe;
} options;

static bool add_text(struct texts *texts, const char *option, const char *text)
{
	if (texts->nr == ARRAY_SIZE(texts->texts)) {
		fprintf(stderr, "pmu-validate: %s: the maximum is %zu texts.\n", option,
			ARRAY_SIZE(texts->texts));
		return false;
	}
	texts->texts[texts->nr++] = text;

	return true;
}

/* Return the first text that the title of the check has, or NULL. */
static const char *find_text(const struct texts *texts, const struct check *check)
{
	for (unsigned int i = 0; i < texts->nr; i++)
		if (is_called(check, texts->texts[i]))
			return texts->texts[i];

	return NULL;
}

/* Parse the options. Return false after --help or an error: main() returns @status then. */
static bool parse_options(int argc, char **argv, int *status)
{
	static const struct option names[] = {
		{ "pmu", required_argument, NULL, 'p' },
		{ "quick", no_argument, NULL, 'q' },
		{ "observe", no_argument, NULL, 'o' },
		{ "filter", required_argument, NULL, 'f' },
		{ "except", required_argument, NULL, 'e' },
		{ "disrupt", no_argument, NULL, 'd' },
		{ "long", no_argument, NULL, 'L' },
		{ "json", no_argument, NULL, 'j' },
		{ "save", required_argument, NULL, 's' },
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
		case 'q':
			options.quick = true;
			break;
		case 'o':
			options.observe = true;
			break;
		case 'f':
			if (!add_text(&options.filters, "--filter", optarg))
				return false;
			break;
		case 'e':
			if (!add_text(&options.excepts, "--except", optarg))
				return false;
			break;
		case 'd':
			options.disrupt = true;
			break;
		case 'L':
			options.allow_long = true;
			break;
		case 'j':
			options.json = true;
			break;
		case 's':
			options.save = optarg;
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
		fprintf(stderr, "pmu-validate: --disrupt needs root.\n");
		return false;
	}
	return true;
}

/* Check whether any filter's text is in a check's name, or there is no filter. */
static bool is_chosen(const struct check *check)
{
	return !options.filters.nr || find_text(&options.filters, check);
}

/* Return the checks that the filters select, in order. */
static const struct check **choose_checks(unsigned int *nr)
{
	static const struct check *chosen[1024];

	*nr = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(lists); i++)
		for (unsigned int j = 0; j < lists[i]->nr; j++)
			if (*nr < ARRAY_SIZE(chosen) && is_chosen(&lists[i]->checks[j]))
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

/* Write to the file of --save; return false after an error. */
static bool save(const char *text)
{
	FILE *file = fopen(options.save, "w");
	bool written = file && fputs(text, file) >= 0;

	if (file && fclose(file))
		written = false;
	if (!written)
		fprintf(stderr, "pmu-validate: %s: %s.\n", options.save, strerror(errno));
	return written;
}

/*
 * Run the checks; @unjudged: incremented for each failure that another check explains; @why: set to
 * the reason if not all could be run.
 */
static const char *run_checks(const struct check **checks, unsigned int nr, unsigned int *totals,
			      unsigned int *unjudged, const char **why)
{
	const char *except;

	*why = find_out(options.disrupt, options.allow_long);
	report_begin(options.json, *why ? 0 : nr);
	for (unsigned int i = 0; !*why && i < nr && !signal_caught(); i++) {
		static struct outcome outcome;

		memset(&outcome, 0, sizeof(outcome));
		except = find_text(&options.excepts, checks[i]);
		if (except) {
			outcome.result = SKIP;
			snprintf(outcome.reason, sizeof(outcome.reason), "--except %s", except);
		} else {
			judge_check(checks[i], &outcome);
		}
		if (signal_caught())
			break;
		totals[outcome.result]++;
		*unjudged += !!outcome.because;
		report_check(checks[i], &outcome, i + 1);
	}
	watch_end(report_note);
	guard_stop();
	if (signal_caught())
		*why = "a signal stopped it";
	return report_end(totals, *why);
}

static int list_checks(const struct check **checks, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		printf("%s: %s\n\t%s\n", checks[i]->area, checks[i]->name, checks[i]->rule);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int nr, totals[3] = { 0 }, unjudged = 0;
	const struct check **checks;
	const char *why, *text;
	int status;

	if (argc == 2 && !strcmp(argv[0], EXEC_AGAIN))
		exec_again(argv[1][0] - '1');
	if (!parse_options(argc, argv, &status))
		return status;
	if (options.observe)
		return find_pmu() ? observe_all(options.filters.texts, options.filters.nr) : 2;
	checks = choose_checks(&nr);
	if (!nr) {
		fprintf(stderr, "pmu-validate: no check has '%s' in its name; see --list.\n",
			options.filters.texts[0]);
		return 2;
	}
	if (options.list)
		return list_checks(checks, nr);
	if (!find_pmu())
		return 2;
	if (options.quick)
		return quick_verdict();
	/* No results of an earlier run stay there if this one is cut. */
	if (options.save && !save(""))
		return 1;
	watch_begin();
	catch_signals();
	if (options.disrupt && !guard_start()) {
		perror("pmu-validate: cannot start the process that undoes changes");
		return 1;
	}
	text = run_checks(checks, nr, totals, &unjudged, &why);
	status = why || totals[FAIL] || unjudged ? 1 : 0;
	if (options.save && !save(text))
		status = 1;
	if (signal_caught()) {
		signal(signal_caught(), SIG_DFL);
		raise(signal_caught());
	}
	return status;
}
