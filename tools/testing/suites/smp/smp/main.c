// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the suite "smp": races between CPUs
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "smp.h"

static const struct ktap_case counts_cases[] = {
	{ "every CPU counts", smp_every_cpu_counts },
};

static const struct ktap_case still_counts_cases[] = {
	{ "every CPU counts after all the races", smp_every_cpu_counts },
};

static const struct ktap_list counts = { counts_cases, ARRAY_SIZE(counts_cases) };
static const struct ktap_list still_counts = {
	still_counts_cases, ARRAY_SIZE(still_counts_cases)
};

static const struct ktap_list *const lists[] = {
	&counts, &smp_migrate_cases, &smp_stress_cases, &smp_family_cases, &smp_remote_cases,
	&still_counts,
};

/*
 * The alarm ends a test that hangs, before the guest's time is over. In the smp lane the guest's
 * clock is the host's: a host with other work takes several times as long as a quiet one.
 */
static void on_alarm(int sig)
{
	static const char text[] = "# expected an end, got none in 500 seconds\n";

	(void)sig;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(3);
	_exit(2);
}

int main(int argc, char **argv)
{
	char again[2] = { 0 };

	/* exec_while_sampling() executes this again and again. */
	if (argc == 3 && !strcmp(argv[1], "again")) {
		known_loop(20000);
		if (argv[2][0] == '0')
			return 0;
		again[0] = argv[2][0] - 1;
		execl("/proc/self/exe", "smp", "again", again, NULL);
		return 1;
	}
	target_init(argc, argv);
	smp_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (smp_cpus > MAX_CPUS)
		smp_cpus = MAX_CPUS;
	/* On a slow host perf core's throttling by time would throttle the events. */
	limit_sample_rate(100000);
	signal(SIGALRM, on_alarm);
	alarm(500);
	return ktap_run_lists(lists, ARRAY_SIZE(lists));
}
