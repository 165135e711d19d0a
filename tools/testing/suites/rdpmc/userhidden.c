// SPDX-License-Identifier: GPL-2.0-only
/*
 * userhidden.c - user space can read its own counters, but not those of a CPU's events
 *
 * For guests with RDPMC user disable (CPUID leaf 0x23, EBX bit 2). A built-in driver that knows
 * this feature does the same (intel_pmu_update_rdpmc_user_disable(), Linux 7.3).
 */
#include <cpuid.h>
#include <string.h>

#include "perf_util.h"
#include "user_util.h"

#define EBX_RDPMC_USR_DISABLE	(1U << 2)

static bool has_user_disable(void)
{
	unsigned int eax, ebx = 0, ecx, edx;

	if (__get_cpuid_count(0x23, 0, &eax, &ebx, &ecx, &edx) && (ebx & EBX_RDPMC_USR_DISABLE))
		return true;
	ktap_skip("this CPU has no RDPMC user disable");
	return false;
}

/* Instructions on a fixed counter, and, with a threshold, on a general-purpose one */
#define INSTRUCTIONS_OR_MORE	(ARCH_EVENT_INSTRUCTIONS | 1ULL << 24)

static bool open_on_cpu(struct reader *reader, u64 config)
{
	struct perf_event_attr attr;

	attr_init(&attr, config);
	attr.exclude_kernel = 1;
	reader->fd = event_open(&attr, -1, 0, -1, 0);
	if (!expect_true("an event of a CPU", reader->fd >= 0))
		return false;
	if (reader_map(reader)) {
		event_enable(reader->fd);
		return true;
	}
	close_all(&reader->fd, 1);
	return false;
}

/*
 * Scan the counters that a task with its own counter can read while two events count for the CPU.
 */
static void scan_beside(struct counter_scan *scan, bool expect_index)
{
	struct reader fixed, general, own;

	if (!open_on_cpu(&fixed, ARCH_EVENT_INSTRUCTIONS))
		return;
	if (!open_on_cpu(&general, INSTRUCTIONS_OR_MORE))
		goto out_fixed;
	if (!reader_open(&own, ARCH_EVENT_BRANCHES, 0))
		goto out_general;

	event_enable(own.fd);
	known_loop(1000);
	expect_ne("index of the task's own", 0, own.page->index);
	expect_eq("cap_user_rdpmc of a CPU's", expect_index, fixed.page->cap_user_rdpmc);
	if (expect_index) {
		expect_ne("index of a CPU's", 0, fixed.page->index);
		expect_ne("index of a CPU's, general-purpose", 0, general.page->index);
	} else {
		expect_eq("index of a CPU's", 0, fixed.page->index);
		expect_eq("index of a CPU's, general-purpose", 0, general.page->index);
	}
	memset(scan, 0, sizeof(*scan));
	scan->own = own.page->index;
	scan_counters(scan);
	event_disable(own.fd);
	expect_range("count of the task's own", 1000, 1000000, event_read(own.fd));
	/* A hidden counter still counts. */
	expect_range("count of a CPU's", 1000, 10000000, event_read(fixed.fd));
	expect_range("count of a CPU's, general-purpose", 1000, 10000000,
		     event_read(general.fd));
	reader_close(&own);
out_general:
	reader_close(&general);
out_fixed:
	reader_close(&fixed);
}

static void hidden(void)
{
	struct counter_scan scan = { };

	if (!has_user_disable())
		return;
	scan_beside(&scan, false);
	expect_all_zero("a task with a counter of its own", &scan);
	expect_ne("counters that can be read", 0, scan.values);
}

static void shown_to_everybody(void)
{
	struct counter_scan scan = { };

	if (!has_user_disable())
		return;
	expect_eq("writing 2", 0, user_read_allow(2));
	scan_beside(&scan, true);
	expect_eq("counters of the CPU's that it sees", 2, scan.seen);
	expect_eq("writing 1", 0, user_read_allow(1));
}

static const struct ktap_case cases[] = {
	{ "counters of a CPU's events read zero", hidden },
	{ "with rdpmc 2 everybody reads them", shown_to_everybody },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	user_read_allow(1);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
