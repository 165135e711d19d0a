// SPDX-License-Identifier: GPL-2.0-only
/*
 * page.c - user space reads a precise event while it samples
 */
#include <linux/perf_event.h>

#include "precise.h"
#include "user_util.h"

#define PERIOD		20000
#define READS		20
/* A round has two instructions: each run is longer than a period. */
#define ROUNDS		15000

/* Counts continue across overflows. */
void read_by_user(void)
{
	struct perf_event_attr attr;
	u64 value, before, after;
	struct reader reader;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.exclude_kernel = 1;
	attr.precise_ip = 2;
	attr.sample_period = PERIOD;
	/*
	 * Samples with a call chain: the event cannot use large PEBS, so that each record
	 * interrupts, and user space can read the counter.
	 */
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	if (target.in_tree) {
		ktap_skip("user-space reads with the built-in driver are off by 2^48 (6.12)");
		return;
	}
	if (!reader_open_attr(&reader, &attr))
		return;
	event_enable(reader.fd);
	for (unsigned int i = 0; i < READS && !ktap_failed(); i++) {
		known_loop(ROUNDS);
		before = event_read(reader.fd);
		if (!user_read(reader.page, &value)) {
			ktap_fail("a read of an event that counts: expected one, got none");
			break;
		}
		after = event_read(reader.fd);
		expect_range("what user space reads between two read(2)s", before, after, value);
	}
	reader_close(&reader);
}
