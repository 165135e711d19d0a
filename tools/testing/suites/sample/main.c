// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the suite "sample": periods, frequencies, what a sample says, the buffer,
 * signals and wakeups
 */
#include "sampler.h"

static const struct ktap_list *const lists[] = {
	&sample_period_cases, &sample_kernel_cases, &sample_field_cases,
	&sample_wakeup_cases, &sample_buffer_cases, &sample_events_cases,
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	/* No rate here is a storm; the storm suite has those. */
	write_number("/proc/sys/kernel/perf_event_max_sample_rate", 100000);
	write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 0);
	return ktap_run_lists(lists, ARRAY_SIZE(lists));
}
