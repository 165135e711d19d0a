// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz.c - a fuzzer of perf_event_open(2) that knows the ABI
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/child.h"
#include "run/run.h"
#include "perf_util.h"
#include "diff/reduce.h"

static const char usage[] =
"usage: pmu-fuzz [--pmu NAME] [--seed N] [--from N] [--cases N] [--samples]\n"
"       pmu-fuzz [--pmu NAME] [--seed N] [--samples] --from NUMBER --without LIST...\n"
"       pmu-fuzz [--pmu NAME] [--seed N] --seconds N [--workers N] [--rate N]\n"
"                [--burst N] [--hotplug] [--faulty]\n"
"       pmu-fuzz [--pmu NAME] --watch\n"
"       pmu-fuzz [--pmu NAME] [--cases N] --load MODULE\n"
"       pmu-fuzz [--seed N] [--machine intel|amd|arm64] [--without LIST] [--c]\n"
"                --describe NUMBER...\n"
"       pmu-fuzz [--seed N] --pieces NUMBER\n"
"\n"
"Runs cases one after the other, and prints what came of each; or many tasks that race,\n"
"and what they did in all. --samples prints samples too. --watch samples all CPUs and reads\n"
"counters from user space until it is told to end; --load loads the module and unloads it N\n"
"times, each time from under that. --describe says in words what a case is,\n"
"or with --c in a program; --pieces of how many pieces it is made, which --without leaves\n"
"out. With several of these the case is run without each list of pieces in turn.\n";

#define MAX_LISTS	2048

static const char *lists[MAX_LISTS];
static unsigned int nr_lists;

static void run_case(const struct fuzz_case *fuzz, u64 number, struct fuzz_counters *counters)
{
	fuzz_run_case(fuzz, counters);
	printf("%llu", (unsigned long long)number);
	fuzz_print_results(stdout);
	putchar('\n');
}

static void run_cases(u64 seed, u64 from, u64 nr)
{
	struct fuzz_counters counters = { 0 };
	struct fuzz_case fuzz;

	for (u64 number = from; number < from + nr; number++) {
		fuzz_make_case(&fuzz, seed, number);
		run_case(&fuzz, number, &counters);
	}
	printf("# %llu cases, %llu of %llu opens and %llu of %llu calls succeeded, %llu samples, %llu lost\n",
	       (unsigned long long)nr, (unsigned long long)counters.opened,
	       (unsigned long long)counters.opens, (unsigned long long)counters.succeeded,
	       (unsigned long long)counters.calls, (unsigned long long)counters.samples,
	       (unsigned long long)counters.lost);
}

static void run_lists(u64 seed, u64 number)
{
	struct fuzz_counters counters = { 0 };
	struct fuzz_case fuzz;

	for (unsigned int i = 0; i < nr_lists; i++) {
		fuzz_make_case(&fuzz, seed, number);
		reduce_list(&fuzz, lists[i]);
		run_case(&fuzz, i, &counters);
	}
}

static void describe_cases(u64 seed, bool program, char **numbers)
{
	struct fuzz_case fuzz;

	for (; *numbers; numbers++) {
		fuzz_make_case(&fuzz, seed, strtoull(*numbers, NULL, 0));
		if (nr_lists)
			reduce_list(&fuzz, lists[0]);
		if (program) {
			fuzz_print_program(stdout, &fuzz);
			continue;
		}
		printf("%s ", *numbers);
		fuzz_describe(stdout, &fuzz);
		putchar('\n');
	}
}

static void print_pieces(u64 seed, const char *number)
{
	struct fuzz_case fuzz;

	fuzz_make_case(&fuzz, seed, strtoull(number, NULL, 0));
	printf("%u\n", reduce_case(&fuzz, NULL));
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pmu", required_argument, NULL, 'p' },
		{ "seed", required_argument, NULL, 's' },
		{ "from", required_argument, NULL, 'f' },
		{ "cases", required_argument, NULL, 'c' },
		{ "seconds", required_argument, NULL, 't' },
		{ "workers", required_argument, NULL, 'w' },
		{ "burst", required_argument, NULL, 'b' },
		{ "rate", required_argument, NULL, 'r' },
		{ "hotplug", no_argument, NULL, 'h' },
		{ "samples", no_argument, NULL, 'S' },
		{ "machine", required_argument, NULL, 'm' },
		{ "without", required_argument, NULL, 'W' },
		{ "c", no_argument, NULL, 'C' },
		{ "pieces", required_argument, NULL, 'P' },
		{ "faulty", no_argument, NULL, 'y' },
		{ "watch", no_argument, NULL, 'a' },
		{ "load", required_argument, NULL, 'l' },
		{ "describe", no_argument, NULL, 'd' },
		{ NULL, 0, NULL, 0 },
	};
	struct fuzz_storm storm = {
		.seed = 1, .burst = FUZZ_BURST_SECONDS, .workers = 2, .rate = FUZZ_BURST_RATE
	};
	u64 from = 0, cases = 1000;
	char pmu_option[] = "--pmu", *pmu[] = { argv[0], pmu_option, NULL };
	bool describing = false, program = false;
	int opt, pmu_args = 1;
	const char *module = NULL;
	bool watch = false;

	if (argc == 4 && !strcmp(argv[1], "--child")) {
		child_init(argv[0]);
		child_main(atoi(argv[2]), atoi(argv[3]));
	}
	while ((opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 'p':
			pmu[2] = optarg;
			pmu_args = 3;
			break;
		case 's':
			storm.seed = strtoull(optarg, NULL, 0);
			break;
		case 'f':
			from = strtoull(optarg, NULL, 0);
			break;
		case 'c':
			cases = strtoull(optarg, NULL, 0);
			break;
		case 't':
			storm.seconds = strtoul(optarg, NULL, 0);
			break;
		case 'w':
			storm.workers = strtoul(optarg, NULL, 0);
			break;
		case 'b':
			storm.burst = strtoul(optarg, NULL, 0);
			break;
		case 'r':
			storm.rate = strtoul(optarg, NULL, 0);
			break;
		case 'h':
			storm.hotplug = true;
			break;
		case 'y':
			storm.faulty = true;
			break;
		case 'a':
			watch = true;
			break;
		case 'l':
			module = optarg;
			break;
		case 'S':
			fuzz_show_samples(stdout);
			break;
		case 'm':
			if (fuzz_describe_machine(optarg))
				break;
			fputs(usage, stderr);
			return 2;
		case 'W':
			if (nr_lists < MAX_LISTS)
				lists[nr_lists++] = optarg;
			break;
		case 'C':
			program = true;
			break;
		case 'P':
			print_pieces(storm.seed, optarg);
			return 0;
		case 'd':
			describing = true;
			break;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	if (describing) {
		describe_cases(storm.seed, program, argv + optind);
		return 0;
	}
	if (module)
		return fuzz_load(module, cases, pmu_args, pmu);
	target_init(pmu_args, pmu);
	fuzz_run_init(target.type, argv[0]);
	if (watch)
		return fuzz_watch();
	if (storm.seconds)
		return fuzz_storm_run(&storm);
	if (nr_lists)
		run_lists(storm.seed, from);
	else
		run_cases(storm.seed, from, cases);
	return 0;
}
