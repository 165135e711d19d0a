// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts.c - x86: precise events and branch records beside events of the PMU intel_bts
 *
 * Precise events and intel_bts need the debug store. Branch records and intel_bts exclude each
 * other in hardware. For guests whose virtual PMU has branch trace stores (bts=on), branch records
 * and precise samples, and without page table isolation. The built-in driver lets precise events
 * and intel_bts share the debug store; corepmu does not.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"

#define BTS		"/sys/bus/event_source/devices/intel_bts/type"

#define TRACING		"/sys/kernel/tracing/"

#define PERIOD		10007
#define ITERATIONS	200000
#define RING_PAGES	16
#define AUX_PAGES	4
#define ROUNDS		3

static int bts_type;

static int open_bts(void)
{
	struct perf_event_attr attr = {
		.type = bts_type, .size = sizeof(attr), .disabled = 1, .exclude_kernel = 1,
	};

	return event_open(&attr, 0, -1, -1, 0);
}

static void precise_attr(struct perf_event_attr *attr)
{
	attr_init(attr, ARCH_EVENT_INSTRUCTIONS);
	attr->sample_period = PERIOD;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	attr->precise_ip = 2;
}

static void branch_attr(struct perf_event_attr *attr)
{
	attr_init(attr, ARCH_EVENT_INSTRUCTIONS);
	attr->sample_period = PERIOD;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
}

static int open_precise(void)
{
	struct perf_event_attr attr;

	precise_attr(&attr);
	return event_open(&attr, 0, -1, -1, 0);
}

static int open_branches(void)
{
	struct perf_event_attr attr;

	branch_attr(&attr);
	return event_open(&attr, 0, -1, -1, 0);
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* Expect a sample for each period since the open, and a growing count. */
static void expect_samples(const char *when, int fd, struct ring *ring, struct ring_sum *sum,
			   const struct perf_event_attr *attr)
{
	u64 before = event_read(fd), count;

	event_run_loop(fd, ITERATIONS);
	count = event_read(fd);
	ring_drain(ring, attr, sum);
	expect_range(when, before + ITERATIONS, before + 100 * ITERATIONS, count);
	expect_range(when, count / PERIOD - 1, count / PERIOD, sum->samples);
	expect_eq("lost samples", 0, sum->lost);
}

static void samples_beside(unsigned long precise)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	struct ring ring = { 0 };
	int fd, bts;

	if (precise)
		precise_attr(&attr);
	else
		branch_attr(&attr);
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	if (!ring_map(&ring, fd, RING_PAGES)) {
		expect_samples("before", fd, &ring, &sum, &attr);
		bts = open_bts();
		expect_samples("while intel_bts is asked for", fd, &ring, &sum, &attr);
		close_fd(bts);
		expect_samples("after it", fd, &ring, &sum, &attr);
		ring_unmap(&ring);
	}
	close(fd);
}

/*
 * The second event is rejected while the first is open, and accepted after its close, again and
 * again.
 */
static void exclude(unsigned long precise)
{
	int (*open_event)(void) = precise ? open_precise : open_branches;
	int refused = precise && target.in_tree ? 0 : -EBUSY;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		int fd = open_event(), second = open_event(), bts = open_bts();

		expect_true("two events", fd >= 0 && second >= 0);
		expect_eq("intel_bts after them", refused, bts < 0 ? bts : 0);
		close_fd(bts);
		close_fd(fd);
		bts = open_bts();
		expect_eq("intel_bts after one of them", refused, bts < 0 ? bts : 0);
		close_fd(bts);
		close_fd(second);

		bts = open_bts();
		expect_true("intel_bts by itself", bts >= 0);
		fd = open_event();
		expect_eq("an event after intel_bts", refused, fd < 0 ? fd : 0);
		close_fd(fd);
		close_fd(bts);
	}
}

/* Other events are not affected. */
static void plain(void)
{
	int bts = open_bts(), fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);

	expect_true("intel_bts", bts >= 0);
	if (fd >= 0)
		expect_true("instructions", event_is_exact(fd, ITERATIONS));
	close_fd(fd);
	close_fd(bts);
}

/*
 * map_trace() - map the buffer of an event of intel_bts, as perf record does
 *
 * Return: the buffer, or NULL with which the running test has failed.
 */
static void *map_trace(struct ring *ring, int bts)
{
	struct perf_event_mmap_page *page;
	void *aux;

	if (ring_map(ring, bts, RING_PAGES))
		return NULL;
	page = ring->page;
	page->aux_offset = ring->length;
	page->aux_size = AUX_PAGES * getpagesize();
	aux = mmap(NULL, page->aux_size, PROT_READ | PROT_WRITE, MAP_SHARED, bts, page->aux_offset);
	expect_true("mmap of the trace's buffer", aux != MAP_FAILED);

	return aux == MAP_FAILED ? NULL : aux;
}

/*
 * The virtual PMU writes no branch trace, but intel_bts sets its bits in IA32_DEBUGCTL, and pauses
 * the trace in each overflow interrupt.
 */
static void samples_beside_trace(void)
{
	struct perf_event_attr attr;
	struct ring ring = { 0 }, trace = { 0 };
	struct ring_sum sum = { 0 };
	int bts = open_bts(), fd;
	void *aux;

	expect_true("intel_bts", bts >= 0);
	if (bts < 0)
		return;
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	fd = event_open_self(&attr, -1);
	aux = map_trace(&trace, bts);
	if (fd >= 0 && aux && !ring_map(&ring, fd, RING_PAGES)) {
		expect_samples("before", fd, &ring, &sum, &attr);
		event_enable(bts);
		expect_samples("during the trace", fd, &ring, &sum, &attr);
		event_disable(bts);
		expect_samples("after it", fd, &ring, &sum, &attr);
		ring_unmap(&ring);
	}
	if (aux)
		munmap(aux, trace.page->aux_size);
	ring_unmap(&trace);
	close_fd(fd);
	close(bts);
}

static void write_trace_file(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_TRUNC);

	expect_true(file, fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close_fd(fd);
}

static unsigned int traced_calls(const char *function)
{
	FILE *file = fopen(TRACING "trace", "r");
	unsigned int calls = 0;
	char line[256];

	expect_true("the trace", file);
	while (file && fgets(line, sizeof(line), file))
		calls += line[0] != '#' && strstr(line, function);
	if (file)
		fclose(file);

	return calls;
}

/* An interrupt of intel_bts has no status bit: intel_bts must see the NMIs of all events. */
static void interrupts_passed_on(void)
{
	struct perf_event_attr attr;
	struct ring_sum sum = { 0 };
	struct ring ring = { 0 };
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	if (!ring_map(&ring, fd, RING_PAGES)) {
		write_trace_file(TRACING "set_ftrace_filter", "intel_bts_interrupt");
		write_trace_file(TRACING "current_tracer", "function");
		expect_samples("while traced", fd, &ring, &sum, &attr);
		expect_range("calls of intel_bts_interrupt()", sum.samples, 2 * sum.samples + 10,
			     traced_calls("intel_bts_interrupt"));
		write_trace_file(TRACING "current_tracer", "nop");
		write_trace_file(TRACING "set_ftrace_filter", "");
		ring_unmap(&ring);
	}
	close(fd);
}

static const struct ktap_case cases[] = {
	{ "an event of intel_bts costs precise events no sample",
	  .run_with = samples_beside, .value = true },
	{ "an event of intel_bts costs events with branch records no sample",
	  .run_with = samples_beside, .value = false },
	{ "corepmu's precise events and intel_bts exclude each other, the built-in driver's do not",
	  .run_with = exclude, .value = true },
	{ "branch records and intel_bts exclude each other, in either order",
	  .run_with = exclude, .value = false },
	{ "an event without either counts beside intel_bts", plain },
	{ "an event without either samples beside a trace of intel_bts", samples_beside_trace },
	{ "intel_bts sees the interrupts of other events", interrupts_passed_on },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	bts_type = read_number(BTS);
	if (bts_type < 0) {
		ktap_diag("there is no PMU intel_bts");
		ktap_plan(0);
		return 1;
	}
	return ktap_run(cases, ARRAY_SIZE(cases));
}
