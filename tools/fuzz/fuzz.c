// SPDX-License-Identifier: GPL-2.0-only
/*
 * fuzz.c - a fuzzer of perf_event_open(2) that knows the ABI
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "fuzz.h"
#include "perf_util.h"

static const char usage[] =
"usage: pmu-fuzz [--pmu NAME] [--seed N] [--from N] [--cases N]\n"
"       pmu-fuzz [--pmu NAME] [--seed N] --seconds N [--workers N] [--rate N] [--hotplug]\n"
"       pmu-fuzz [--seed N] --describe NUMBER...\n"
"\n"
"Runs cases one after the other, and prints what came of each; or many tasks that race,\n"
"and what they did in all. --describe says in words what a case is.\n";

static void run_cases(u64 seed, u64 from, u64 nr)
{
	struct fuzz_counters counters = { 0 };
	struct fuzz_case fuzz;
	u64 number;

	for (number = from; number < from + nr; number++) {
		fuzz_make_case(&fuzz, seed, number);
		fuzz_run_case(&fuzz, &counters);
		printf("%llu", (unsigned long long)number);
		fuzz_print_results(stdout);
		putchar('\n');
	}
	printf("# %llu cases, %llu of %llu opens and %llu of %llu calls succeeded, %llu samples, %llu lost\n",
	       (unsigned long long)nr, (unsigned long long)counters.opened,
	       (unsigned long long)counters.opens, (unsigned long long)counters.succeeded,
	       (unsigned long long)counters.calls, (unsigned long long)counters.samples,
	       (unsigned long long)counters.lost);
}

static void describe_cases(u64 seed, char **numbers)
{
	struct fuzz_case fuzz;

	for (; *numbers; numbers++) {
		fuzz_make_case(&fuzz, seed, strtoull(*numbers, NULL, 0));
		printf("%s ", *numbers);
		fuzz_describe(stdout, &fuzz);
		putchar('\n');
	}
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
		{ "rate", required_argument, NULL, 'r' },
		{ "hotplug", no_argument, NULL, 'h' },
		{ "describe", no_argument, NULL, 'd' },
		{ NULL, 0, NULL, 0 },
	};
	struct fuzz_storm storm = { .seed = 1, .workers = 2, .rate = FUZZ_BURST_RATE };
	u64 from = 0, cases = 1000;
	char pmu_option[] = "--pmu", *pmu[] = { argv[0], pmu_option, NULL };
	int opt, pmu_args = 1;

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
		case 'r':
			storm.rate = strtoul(optarg, NULL, 0);
			break;
		case 'h':
			storm.hotplug = true;
			break;
		case 'd':
			describe_cases(storm.seed, argv + optind);
			return 0;
		default:
			fputs(usage, stderr);
			return 2;
		}
	}
	target_init(pmu_args, pmu);
	fuzz_run_init(target.type, argv[0]);
	if (storm.seconds)
		return fuzz_storm_run(&storm);
	run_cases(storm.seed, from, cases);
	return 0;
}
