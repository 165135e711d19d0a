// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the suite "sample": periods, frequencies, what a sample says, the buffer,
 * signals and wakeups
 */
#include <stdio.h>
#include <string.h>

#include "sampler.h"

static const struct ktap_list *const lists[] = {
	&sample_period_cases, &sample_kernel_cases, &sample_field_cases,
	&sample_wakeup_cases, &sample_buffer_cases, &sample_events_cases,
};

/*
 * In the smp lane time is the host's, which may stop a CPU at any time: a frequency is missed,
 * and corepmu's limiter may stretch short periods, since overflows take most of what is left. And
 * a child, or an interrupt, may be another CPU's.
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
	/* No rate here is a storm; the storm suite has those. */
	limit_sample_rate(100000);
	return ktap_run_lists(lists, ARRAY_SIZE(lists));
}
