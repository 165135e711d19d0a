// SPDX-License-Identifier: GPL-2.0-only
/*
 * everywhere.c - all CPUs count and sample at once
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmuv3.h"

#define RUNS	20

/**
 * struct job - one CPU's part of a test
 * @cpu: the CPU's number
 * @error: errno of the first system call that failed
 * @run: number of the last run; a job ends with its first run that is not exact
 * @nr: number of events
 * @counts: counts of the events in the last run
 * @sum: totals of the buffer's records
 * @count: count of the sampling event
 */
struct job {
	pthread_t thread;
	unsigned int cpu;
	u64 config1;
	int error;
	unsigned int run;
	unsigned int nr;
	u64 counts[NR_KINDS];
	struct ring_sum sum;
	u64 count;
};

static pthread_barrier_t barrier;

static void everywhere(void *(*fn)(void *), struct job *jobs, u64 config1)
{
	pthread_barrier_init(&barrier, NULL, pmuv3_cpus);
	for (unsigned int i = 0; i < pmuv3_cpus; i++) {
		jobs[i] = (struct job) { .cpu = i, .config1 = config1 };
		pthread_create(&jobs[i].thread, NULL, fn, &jobs[i]);
	}
	for (unsigned int i = 0; i < pmuv3_cpus; i++) {
		pthread_join(jobs[i].thread, NULL);
		if (jobs[i].error)
			ktap_fail("CPU %u: got %s", i, strerror(-jobs[i].error));
	}
	pthread_barrier_destroy(&barrier);
}

/* Open one event of each type in a group; of long events, as many as fit. */
static unsigned int open_kinds(struct job *job, int *fds)
{
	unsigned int nr = job->config1 & LONG && !arch_long_counters() ?
			  target.counters / 2 : NR_KINDS;
	struct perf_event_attr attr;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		attr_init(&attr, pmuv3_kinds[i].event);
		attr.config1 = job->config1;
		attr.disabled = !i;
		fds[i] = event_open(&attr, 0, -1, i ? fds[0] : -1, 0);
		if (fds[i] < 0) {
			job->error = fds[i];
			break;
		}
	}
	return i;
}

static void *count_exactly(void *arg)
{
	struct job *job = arg;
	u64 base[NR_KINDS] = { 0 };
	unsigned int nr;
	bool exact = true;
	int fds[NR_KINDS] = { -1 };

	run_on(job->cpu);
	nr = open_kinds(job, fds);
	job->nr = job->error ? 0 : nr;
	pthread_barrier_wait(&barrier);
	for (unsigned int run = 0; run <= RUNS && !job->error && exact; run++) {
		pmuv3_work(fds[0], run ? ITERATIONS + 1 : 1);
		for (unsigned int i = 0; i < nr; i++) {
			u64 count = pmuv3_count(fds[i]);

			if (!run)
				base[i] = count;
			else if (count - base[i] != pmuv3_kinds[i].each * ITERATIONS)
				exact = false;
			job->counts[i] = count - base[i];
		}
		job->run = run;
	}
	for (unsigned int i = 0; i < nr; i++)
		close(fds[i]);
	return NULL;
}

static void check_counts(unsigned long config1)
{
	struct job jobs[MAX_CPUS];

	everywhere(count_exactly, jobs, config1);
	for (unsigned int cpu = 0; cpu < pmuv3_cpus; cpu++)
		for (unsigned int i = 0; i < jobs[cpu].nr; i++)
			expect_or_say(jobs[cpu].counts[i] == pmuv3_kinds[i].each * ITERATIONS,
				      "run %u on CPU %u: expected %lu %s, got %llu",
				      jobs[cpu].run, cpu, pmuv3_kinds[i].each * ITERATIONS,
				      pmuv3_kinds[i].name,
				      (unsigned long long)jobs[cpu].counts[i]);
}

static void *sample_everything(void *arg)
{
	struct job *job = arg;
	struct perf_event_attr attr;
	struct ring *ring = calloc(1, sizeof(*ring));
	int fd;

	run_on(job->cpu);
	attr_init(&attr, INST_RETIRED);
	attr.config1 = job->config1;
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	fd = event_open(&attr, 0, -1, -1, 0);
	job->error = fd < 0 ? fd : ring_map(ring, fd, 16);
	pthread_barrier_wait(&barrier);
	if (!job->error) {
		pmuv3_work(fd, SAMPLED_ROUNDS);
		ring_drain(ring, &attr, &job->sum);
		job->count = pmuv3_count(fd);
	}
	ring_unmap(ring);
	free(ring);
	close(fd);
	return NULL;
}

static void check_samples(unsigned long config1)
{
	const u64 instructions = SAMPLED_ROUNDS * WORK_INSTRUCTIONS;
	struct job jobs[MAX_CPUS];

	everywhere(sample_everything, jobs, config1);
	for (unsigned int cpu = 0; cpu < pmuv3_cpus; cpu++) {
		const struct ring_sum *sum = &jobs[cpu].sum;

		expect_range("count", instructions, instructions + 200, jobs[cpu].count);
		expect_range("samples", jobs[cpu].count / PERIOD - 1,
			     jobs[cpu].count / PERIOD + 1, sum->samples);
		expect_eq("sum of the periods", sum->samples * (u64)PERIOD, sum->periods);
		expect_eq("lost samples and throttling", 0, sum->lost + sum->throttles);
		expect_eq("samples out of order", 0, sum->backwards);
	}
}

/*
 * With a period above 2^32 the lower half of a pair overflows in the middle of the loop. This carry
 * does not end the period: there is no sample.
 */
static void beyond_32_bits(void)
{
	static struct ring ring;
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	int fd;

	attr_init(&attr, INST_RETIRED);
	attr.config1 = LONG;
	attr.sample_type = PERF_SAMPLE_IP;
	attr.sample_period = (1ULL << 32) + 3 * ITERATIONS;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	if (expect_eq("mapping the buffer", 0, ring_map(&ring, fd, 1))) {
		expect_eq("counts of the loop", WORK_INSTRUCTIONS * ITERATIONS,
			  pmuv3_work_counts(fd, ITERATIONS));
		ring_drain(&ring, &attr, &sum);
		expect_eq("samples", 0, sum.samples);
	}
	ring_unmap(&ring);
	close(fd);
}

static const struct ktap_case cases[] = {
	{ "every CPU counts at once, 20 times", .run_with = check_counts, .value = 0 },
	{ "every CPU samples at once", .run_with = check_samples, .value = 0 },
};

const struct ktap_list pmuv3_everywhere_cases = { cases, ARRAY_SIZE(cases) };

static const struct ktap_case long_cases[] = {
	{ "every CPU counts in 64 bits at once, 20 times",
	  .run_with = check_counts, .value = LONG },
	{ "every CPU samples in 64 bits at once", .run_with = check_samples, .value = LONG },
	{ "a period beyond 32 bits", beyond_32_bits },
};

const struct ktap_list pmuv3_everywhere_long_cases = { long_cases, ARRAY_SIZE(long_cases) };
