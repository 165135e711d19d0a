// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress.c - events that are created and closed under overflows
 *
 * pmu-validate opens and closes events of tasks from several threads; pmu-fuzz does random
 * operations at once, on events and on buffers.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "smp.h"

/* Events on all CPUs open, count and close during storms on all CPUs. */
static void close_in_storms(void)
{
	struct perf_event_attr attr;
	int storms[MAX_CPUS], fd;
	unsigned int cpu;
	u32 seed = 5;
	u64 count;
	int i;

	for (cpu = 0; cpu < smp_cpus; cpu++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.exclude_kernel = 0;
		attr.disabled = 0;
		attr.sample_period = 10000;
		storms[cpu] = event_open(&attr, -1, cpu, -1, 0);
		if (storms[cpu] < 0)
			ktap_fail("open on CPU %u: got %s", cpu,
				  strerror(-storms[cpu]));
	}
	smp_busy_start();
	for (i = 0; i < 200 && !ktap_failed(); i++) {
		cpu = smp_random(&seed) % smp_cpus;
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.disabled = 0;
		attr.sample_period = i & 1 ? 10000 : 0;
		fd = event_open(&attr, -1, cpu, -1, 0);
		if (fd < 0) {
			ktap_fail("open on CPU %u: got %s", cpu, strerror(-fd));
			break;
		}
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			ktap_fail("read on CPU %u: got %s", cpu,
				  strerror(errno));
		if (i % 8 == 0) {
			close(storms[cpu]);
			attr.sample_period = 10000;
			storms[cpu] = event_open(&attr, -1, cpu, -1, 0);
		}
		close(fd);
	}
	smp_busy_end();
	close_all(storms, smp_cpus);
	smp_every_cpu_counts();
}

static const struct ktap_case cases[] = {
	{ "closes beside storms on every CPU", close_in_storms },
};

const struct ktap_list smp_stress_cases = { cases, ARRAY_SIZE(cases) };
