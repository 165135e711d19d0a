// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the suite "sample": periods, frequencies, fields of samples, buffers, signals and
 * wakeups
 */
#include <stdio.h>
#include <string.h>

#include "sampler.h"

static const struct ktap_list *const lists[] = {
	&sample_period_cases, &sample_kernel_cases, &sample_field_cases,
	&sample_wakeup_cases, &sample_buffer_cases, &sample_events_cases,
};

/*
 * In the smp lane the host's clock counts, and the host may stop a CPU at any time. So a frequency
 * is missed, and corepmu's limiter may stretch short periods: overflows take most of the remaining
 * time. Children and interrupts may be on other CPUs.
 */
static bool is_exact_lane(void)
{
	FILE *file = fopen("/corepmu/conf", "r");
	char line[256];
	bool exact = true;

	while (file && fgets(line, sizeof(line), file))
		if (!strcmp(line, "lane=smp\n"))
			exact = false;
	if (file)
		fclose(file);
	return exact;
}

int main(int argc, char **argv)
{
	if (!is_exact_lane()) {
		printf("KTAP version 1\n1..0 # SKIP samples are counted to the unit in the exact lane alone\n");
		return 0;
	}
	target_init(argc, argv);
	/* No rate here is a storm; the suite "storm" has those. */
	limit_sample_rate(100000);
	return ktap_run_lists(lists, ARRAY_SIZE(lists));
}
