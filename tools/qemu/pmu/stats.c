// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statistics of a virtual PMU, written at exit.
 */
#include <errno.h>
#include <string.h>

#include "common/plugin.h"
#include "pmu/live.h"
#include "pmu/qemu.h"
#include "pmu/stats.h"

const char *stats_file;

/**
 * stats_print() - write the statistics
 * @print_vcpu: write the lines of a CPU, nothing if it has no PMU
 *
 * Without a file, the statistics go to standard error, and only with verbose=on.
 */
void stats_print(void (*print_vcpu)(FILE *f, unsigned int vcpu))
{
	FILE *f = stderr;

	if (stats_file) {
		f = fopen(stats_file, "w");
		if (!f) {
			plugin_refuse("cannot write '%s' (%s): name another file by stats=",
				      stats_file, strerror(errno));
			return;
		}
	} else if (!plugin_verbose) {
		return;
	}

	fprintf(f, "instrumented %u\n", live_instrumentations);
	for (unsigned int i = 0; i < PMU_VCPUS_MAX; i++)
		print_vcpu(f, i);
	if (f != stderr)
		fclose(f);
}
