// SPDX-License-Identifier: GPL-2.0-only
/*
 * beside.c - other work during a storm: sampling, files, CPU hotplug
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf_util.h"
#include "run/records.h"
#include "storm.h"

#define MAX_CPUS		8
/* Samples per second of each CPU: with more, a debug kernel does little else. */
#define SYSTEM_FREQUENCY	50
#define SYSTEM_PAGES		8
#define DRAIN_PAUSE_US		20000
#define FILES_PAUSE_US		100000
#define AWAY_US			50000
#define PLUG_PAUSE_US		1000000

void sample_system(u64 seed, time_t end)
{
	const size_t size = (1 + SYSTEM_PAGES) * sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *pages[MAX_CPUS];
	struct perf_event_attr attr;
	struct records records;
	int fds[MAX_CPUS], cpu;

	(void)seed;
	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		attr_init(&attr, ARCH_EVENT_CYCLES);
		attr.exclude_kernel = 0;
		attr.disabled = 0;
		attr.freq = 1;
		attr.sample_freq = SYSTEM_FREQUENCY;
		attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
		attr.task = 1;
		attr.mmap = 1;
		pages[cpu] = MAP_FAILED;
		fds[cpu] = event_open(&attr, -1, cpu, -1, 0);
		if (fds[cpu] >= 0)
			pages[cpu] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
					  fds[cpu], 0);
	}
	while (storm_now() < end) {
		for (cpu = 0; cpu < MAX_CPUS; cpu++) {
			if (pages[cpu] == MAP_FAILED)
				continue;
			records_drain(&records, pages[cpu], size, true);
			tally_add(&tally->system, records.samples);
			tally_add(&tally->fuzz.lost, records.lost);
		}
		usleep(DRAIN_PAUSE_US);
	}
	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		if (pages[cpu] != MAP_FAILED)
			munmap(pages[cpu], size);
	}
	close_all(fds, MAX_CPUS);
}

static void read_files(const char *path)
{
	char name[512], text[4096];
	struct dirent *entry;
	DIR *dir = opendir(path);
	int fd;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_type != DT_REG)
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		fd = open(name, O_RDONLY);
		if (fd < 0)
			continue;
		if (read(fd, text, sizeof(text)) >= 0)
			tally_add(&tally->files, 1);
		close(fd);
	}
	if (dir)
		closedir(dir);
}

void use_sysfs(u64 seed, time_t end)
{
	static const char *const dirs[] = { "", "/events", "/format", "/caps" };
	struct fuzz_rng rng = { .state = seed };
	char path[256];

	while (storm_now() < end) {
		for (unsigned int i = 0; i < ARRAY_SIZE(dirs); i++) {
			snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s%s",
				 target.pmu, dirs[i]);
			read_files(path);
		}
		snprintf(path, sizeof(path),
			 "/sys/bus/event_source/devices/%s/perf_event_mux_interval_ms", target.pmu);
		write_number(path, 1 + fuzz_below(&rng, 20));
		read_files("/sys/kernel/debug/corepmu");
		usleep(FILES_PAUSE_US);
	}
}

void plug_cpus(u64 seed, time_t end)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct fuzz_rng rng = { .state = seed };
	char path[64];

	while (cpus > 1 && storm_now() < end) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
			 1 + (int)fuzz_below(&rng, cpus - 1));
		if (!write_number(path, 0))
			tally_add(&tally->hotplugs, 1);
		usleep(fuzz_below(&rng, AWAY_US));
		write_number(path, 1);
		/*
		 * Hotplug takes hundreds of milliseconds, in which the others do nearly nothing.
		 */
		usleep(fuzz_below(&rng, PLUG_PAUSE_US));
	}
}
