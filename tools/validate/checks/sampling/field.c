// SPDX-License-Identifier: GPL-2.0-only
/*
 * field.c - fields of samples and other records, compared with known values
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "judge/validate.h"

#define PERIOD	100000
#define PAGES	64
/* The last period ends this many iterations before the loop does: its interrupt may be late. */
#define REST	(PERIOD / 2 / LOOP_INSNS)

#if defined(__aarch64__)
#define REG_MASK	((1ULL << 33) - 1)
#define REG_SP		31
#define REG_PC		32
#define NR_REGS		33
#elif defined(__x86_64__)
/* AX to R15 without the segments DS, ES, FS, GS. */
#define REG_MASK	0xff0fffULL
#define REG_SP		7
#define REG_PC		8
#define NR_REGS		20
#elif defined(__riscv)
/* PC, and x1 to x31 in their order: asm/perf_regs.h */
#define REG_MASK	((1ULL << 32) - 1)
#define REG_SP		2
#define REG_PC		0
#define NR_REGS		32
#elif defined(__powerpc64__)
/* r0 to r31, nip: asm/perf_regs.h */
#define REG_MASK	((1ULL << 33) - 1)
#define REG_SP		1
#define REG_PC		32
#define NR_REGS		33
#endif

static struct ring ring;

/* Open a sampling event, and sample the known loop and REST. Return as sample_work(). */
static int sample_loop(struct perf_event_attr *attr, unsigned long iterations)
{
	return sample_work(&ring, attr, PAGES, known_loop, iterations + REST);
}

static bool in_loop(u64 ip)
{
	return ip >= (unsigned long)known_loop_start && ip <= (unsigned long)known_loop_end;
}

/* The size of a sample is the sum of its fields: test each fixed-size field, and all together. */
static void sizes(void)
{
	static const struct {
		const char *name;
		u64 bits;
		unsigned int bytes;
	} fields[] = {
		{ "IP", PERF_SAMPLE_IP, 8 },
		{ "TID", PERF_SAMPLE_TID, 8 },
		{ "TIME", PERF_SAMPLE_TIME, 8 },
		{ "ADDR", PERF_SAMPLE_ADDR, 8 },
		{ "ID", PERF_SAMPLE_ID, 8 },
		{ "STREAM_ID", PERF_SAMPLE_STREAM_ID, 8 },
		{ "CPU", PERF_SAMPLE_CPU, 8 },
		{ "PERIOD", PERF_SAMPLE_PERIOD, 8 },
		{ "IDENTIFIER", PERF_SAMPLE_IDENTIFIER, 8 },
		{ "WEIGHT", PERF_SAMPLE_WEIGHT, 8 },
		{ "DATA_SRC", PERF_SAMPLE_DATA_SRC, 8 },
		{ "TRANSACTION", PERF_SAMPLE_TRANSACTION, 8 },
		{ "PHYS_ADDR", PERF_SAMPLE_PHYS_ADDR, 8 },
		{ "READ", PERF_SAMPLE_READ, 8 },
		{ "RAW", PERF_SAMPLE_RAW, 8 },
		{ "all of them but PHYS_ADDR and RAW",
		  PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
		  PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
		  PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |
		  PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_READ, 13 * 8 },
	};
	const struct perf_event_header *header;
	struct perf_event_attr attr;
	unsigned int nr;
	int fd;

	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++) {
		attr_sampling(&attr, PERIOD, fields[i].bits);
		fd = event_open(&attr, 0, -1, -1, 0);
		if (fd == -EACCES || fd == -EOPNOTSUPP || fd == -EINVAL) {
			ktap_diag("PERF_SAMPLE_%s: %s", fields[i].name, strerror(-fd));
			continue;
		}
		map_sampling(fields[i].name, &ring, fd, PAGES);
		event_run_loop(fd, ITERATIONS / 2 + REST);
		for (nr = 0; (header = ring_next(&ring)); nr++) {
			if (header->type == PERF_RECORD_SAMPLE &&
			    !expect_eq(fields[i].name, sizeof(*header) + fields[i].bytes,
				       header->size))
				break;
		}
		expect_range(fields[i].name, LOOP / 2 / PERIOD - 1, LOOP / 2 / PERIOD + 1, nr);
		close_sampling(&ring, fd);
	}
}

static void who_when_where(void)
{
	const struct perf_event_header *header;
	struct perf_event_attr attr;
	struct sample sample;
	u64 last = 0, id = 0, start, end, period_sum = 0;
	unsigned int nr = 0, cpu;
	int fd;

	run_on(pmu.cpu);
	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		      PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
		      PERF_SAMPLE_PERIOD | PERF_SAMPLE_IDENTIFIER);
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC_RAW;
	start = now_ns(CLOCK_MONOTONIC_RAW);
	fd = sample_loop(&attr, ITERATIONS);
	end = now_ns(CLOCK_MONOTONIC_RAW);
	ioctl(fd, PERF_EVENT_IOC_ID, &id);
	getcpu(&cpu, NULL);
	while ((header = ring_next_sample(&ring, &attr, &sample))) {
		nr++;
		period_sum += sample.period;
		if (!expect_true("an address inside the loop", in_loop(sample.ip)) ||
		    !expect_eq("process", getpid(), sample.pid) ||
		    !expect_eq("thread", syscall(SYS_gettid), sample.tid) ||
		    !expect_range("time in CLOCK_MONOTONIC_RAW", last ? last : start, end,
				  sample.time) ||
		    !expect_eq("CPU", cpu, sample.cpu) ||
		    !expect_eq("id", id, sample.id) ||
		    !expect_eq("stream id", id, sample.stream_id) ||
		    !expect_eq("identifier", id, sample.identifier) ||
		    !expect_eq("period", PERIOD, sample.period) ||
		    !expect_eq("CPU mode", PERF_RECORD_MISC_USER,
			       header->misc & PERF_RECORD_MISC_CPUMODE_MASK))
			break;
		last = sample.time;
	}
	expect_range("samples", LOOP / PERIOD - 1, LOOP / PERIOD + 1, nr);
	close_sampling(&ring, fd);
}

static void clocks(void)
{
	static const int ids[] = { CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME,
				   CLOCK_BOOTTIME, CLOCK_TAI };
	struct perf_event_attr attr;

	for (unsigned int i = 0; i < ARRAY_SIZE(ids); i++) {
		struct ring_sum sum = { 0 };
		u64 start, end;
		int fd;

		attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | PERF_SAMPLE_TIME);
		attr.use_clockid = 1;
		attr.clockid = ids[i];
		fd = event_open(&attr, 0, -1, -1, 0);
		/* Few clocks can be read in an NMI. */
		if (fd == -EINVAL) {
			ktap_diag("clock %d: %s", ids[i], strerror(-fd));
			continue;
		}
		close(fd);
		start = now_ns(ids[i]);
		fd = sample_loop(&attr, ITERATIONS / 2);
		end = now_ns(ids[i]);
		ring_drain(&ring, &attr, &sum);
		expect_range("samples", 1, 100, sum.samples);
		expect_range("time of the first sample", start, end, sum.first_time);
		expect_range("time of the last sample", sum.first_time, end, sum.last_time);
		expect_eq("samples older than the one before", 0, sum.backwards);
		close_sampling(&ring, fd);
	}
}

static void values(void)
{
	struct perf_event_attr attr;
	struct sample sample;
	unsigned int nr;
	int fd;

	for (unsigned int format = 0; format < 16; format++) {
		u64 last = 0;

		attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | PERF_SAMPLE_READ);
		attr.read_format = format;
		fd = sample_loop(&attr, ITERATIONS / 2);
		for (nr = 0; ring_next_sample(&ring, &attr, &sample); nr++) {
			u64 value = sample.read.count;

			if (!expect_eq("values", 1, sample.nr_values) ||
			    !expect_range("value since the last sample", PERIOD / 2, 2 * PERIOD,
					  value - last) ||
			    (pmu.exact && !expect_range("value at a sample", (nr + 1) * PERIOD,
							(nr + 1) * PERIOD + 200, value)))
				break;
			if ((format & PERF_FORMAT_TOTAL_TIME_ENABLED) &&
			    (format & PERF_FORMAT_TOTAL_TIME_RUNNING) &&
			    !expect_part("time running", 1, "time enabled", sample.read.enabled,
					 sample.read.running))
				break;
			last = value;
		}
		expect_range("samples", LOOP / 2 / PERIOD - 1, LOOP / 2 / PERIOD + 1, nr);
		close_sampling(&ring, fd);
	}
}

static void group_values(void)
{
	struct perf_event_attr attr;
	struct sample sample;
	u64 ids[2] = { 0 }, last[2] = { 0 };
	unsigned int nr = 0;
	int fds[2];

	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | PERF_SAMPLE_READ);
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	fds[0] = event_open_self(&attr, -1);
	if (fds[0] < 0 || ring_map(&ring, fds[0], PAGES))
		return;
	attr_instructions(&attr);
	attr.disabled = 0;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	fds[1] = event_open_self(&attr, fds[0]);
	ioctl(fds[0], PERF_EVENT_IOC_ID, &ids[0]);
	ioctl(fds[1], PERF_EVENT_IOC_ID, &ids[1]);
	event_run_loop(fds[0], ITERATIONS + REST);
	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | PERF_SAMPLE_READ);
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	while (ring_next_sample(&ring, &attr, &sample)) {
		nr++;
		if (!expect_eq("values", 2, sample.nr_values) ||
		    !expect_eq("id of the leader", ids[0], sample.ids[0]) ||
		    !expect_eq("id of the member", ids[1], sample.ids[1]) ||
		    !expect_near("the member's value beside the leader's", sample.values[0], 500,
				 sample.values[1]) ||
		    !expect_range("growth from sample to sample", PERIOD / 2, 2 * PERIOD,
				  sample.values[1] - last[1]))
			break;
		last[0] = sample.values[0];
		last[1] = sample.values[1];
	}
	expect_range("samples", LOOP / PERIOD - 1, LOOP / PERIOD + 1, nr);
	close(fds[1]);
	close_sampling(&ring, fds[0]);
}

static void __attribute__((noinline)) chain_inner(unsigned long iterations)
{
	known_loop(iterations);
	asm volatile("" ::: "memory");
}

static void callchain(void)
{
	struct perf_event_attr attr;
	struct sample sample;
	unsigned int nr = 0, contexts = 0, kernel = 0;
	int fd;

	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
	attr.exclude_callchain_kernel = !(pmu.has & NEED_KERNEL);
	fd = sample_work(&ring, &attr, PAGES, chain_inner, ITERATIONS + REST);
	while (ring_next_sample(&ring, &attr, &sample)) {
		nr++;
		if (!expect_range("addresses", 2, 200, sample.nr_ips))
			break;
		for (u64 i = 0; i < sample.nr_ips; i++) {
			contexts += sample.ips[i] == PERF_CONTEXT_USER;
			kernel += sample.ips[i] == PERF_CONTEXT_KERNEL;
		}
		if (!expect_true("PERF_CONTEXT_USER first", sample.ips[0] == PERF_CONTEXT_USER) ||
		    !expect_eq("address after PERF_CONTEXT_USER", sample.ip, sample.ips[1]))
			break;
	}
	expect_range("samples", LOOP / PERIOD - 1, LOOP / PERIOD + 1, nr);
	expect_eq("chains with a user part", nr, contexts);
	expect_eq("chains with a kernel part", 0, kernel);
	close_sampling(&ring, fd);
}

static void chain_parts(void)
{
	struct perf_event_attr attr;
	struct sample sample;
	int fd;

	for (int part = 0; part < 2; part++) {
		unsigned int user = 0, kernel = 0;

		attr_sampling(&attr, 20011, PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
		attr.exclude_kernel = 0;
		attr.exclude_callchain_kernel = part == 0;
		attr.exclude_callchain_user = part == 1;
		fd = sample_work(&ring, &attr, PAGES, call_kernel, 20000);
		while (ring_next_sample(&ring, &attr, &sample)) {
			for (u64 j = 0; j < sample.nr_ips; j++) {
				user += sample.ips[j] == PERF_CONTEXT_USER;
				kernel += sample.ips[j] == PERF_CONTEXT_KERNEL;
			}
		}
		if (part)
			expect_eq("user parts with exclude_callchain_user", 0, user);
		else
			expect_eq("kernel parts with exclude_callchain_kernel", 0, kernel);
		expect_range("parts of the other kind", 1, 1000000, user + kernel);
		close_sampling(&ring, fd);
	}
}

/* The field has the ABI, and then the requested registers. */
static void registers(u64 sample_type, const char *what)
{
	const struct perf_event_header *header;
	struct perf_event_attr attr;
	unsigned int nr = 0;
	char here;
	int fd;

	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | sample_type);
	if (sample_type == PERF_SAMPLE_REGS_USER)
		attr.sample_regs_user = REG_MASK;
	else
		attr.sample_regs_intr = REG_MASK;
	fd = sample_loop(&attr, ITERATIONS);
	while ((header = ring_next(&ring))) {
		const u64 *at = (const u64 *)(header + 1);

		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		nr++;
		if (!expect_eq("bytes", 8 * (3 + NR_REGS), header->size) ||
		    !expect_eq("ABI", PERF_SAMPLE_REGS_ABI_64, at[1]) ||
		    !expect_eq(what, at[0], at[2 + REG_PC]) ||
		    !expect_range("stack pointer", (unsigned long)&here - 65536,
				  (unsigned long)&here + 65536, at[2 + REG_SP]))
			break;
	}
	expect_range("samples", LOOP / PERIOD - 1, LOOP / PERIOD + 1, nr);
	close_sampling(&ring, fd);
}

static void user_registers(void)
{
	registers(PERF_SAMPLE_REGS_USER, "program counter among the user's registers");
}

static void interrupted_registers(void)
{
	if (registers_are_locked())
		ktap_skip("the kernel is locked down: kernel_lockdown(7)");
	else
		registers(PERF_SAMPLE_REGS_INTR, "program counter among the interrupted registers");
}

static void user_stack(void)
{
	const struct perf_event_header *header;
	volatile u64 magic = 0x5ca1ab1e0ddba11ULL;
	struct perf_event_attr attr;
	unsigned int nr = 0, found = 0;
	int fd;

	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | PERF_SAMPLE_STACK_USER);
	attr.sample_stack_user = 4096;
	fd = sample_loop(&attr, ITERATIONS / 2);
	while ((header = ring_next(&ring))) {
		const u64 *at = (const u64 *)(header + 1);
		u64 size, i;

		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		nr++;
		size = at[1];
		/* The stack may be smaller than requested. */
		if (!expect_range("bytes of stack", 512, 4096, size) ||
		    !expect_eq("bytes of the record", 8 + 8 + 8 + size + 8, header->size) ||
		    !expect_range("bytes of stack that are valid", 1, size, at[2 + size / 8]))
			break;
		for (i = 0; i < size / 8; i++)
			if (at[2 + i] == magic)
				break;
		found += i < size / 8;
	}
	expect_range("samples", LOOP / 2 / PERIOD - 1, LOOP / 2 / PERIOD + 1, nr);
	expect_eq("stacks with a variable of the caller", nr, found);
	close_sampling(&ring, fd);
}

bool ids_agree(const struct perf_event_header *header, u64 id)
{
	const u64 *end = (const u64 *)((const char *)header + header->size);

	/* The order is TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER. */
	return (end[-6] & 0xffffffff) != 0 && end[-4] == id && end[-3] == id && end[-1] == id;
}

static void other_records(void)
{
	unsigned int seen[32] = { 0 }, wrong = 0;
	const struct perf_event_header *header;
	struct perf_event_attr attr;
	u64 id = 0;
	void *map;
	int fd;

	attr_sampling(&attr, 1000000000, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
		      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
	attr.sample_id_all = 1;
	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.mmap_data = 1;
	attr.comm = 1;
	attr.comm_exec = 1;
	attr.task = 1;
	attr.context_switch = 1;
	attr.disabled = 0;
	fd = open_sampling(&ring, &attr, PAGES);
	ioctl(fd, PERF_EVENT_IOC_ID, &id);
	map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(map, 4096);
	prctl(PR_SET_NAME, "pmu-comm");
	if (!fork())
		_exit(0);
	wait(NULL);
	usleep(20000);
	event_disable(fd);
	while ((header = ring_next(&ring))) {
		if (header->type < ARRAY_SIZE(seen))
			seen[header->type]++;
		if (header->type != PERF_RECORD_SAMPLE)
			wrong += !ids_agree(header, id);
	}
	expect_range("MMAP2 records", 1, 1000, seen[PERF_RECORD_MMAP2]);
	expect_range("COMM records", 1, 1000, seen[PERF_RECORD_COMM]);
	expect_range("FORK records", 1, 1000, seen[PERF_RECORD_FORK]);
	expect_range("SWITCH records", 2, 1000, seen[PERF_RECORD_SWITCH]);
	expect_eq("records whose trailing ids are wrong", 0, wrong);
	close_sampling(&ring, fd);
}

static const struct check checks[] = {
	{ "field", "each field has its size",
	  MAN "\"The order in which the values are saved in the sample are documented in the MMAP Layout subsection below; it is not the enum perf_event_sample_format order.\"",
	  sizes,
	  NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "field", "IP, TID, TIME, CPU, IDs and PERIOD are true",
	  MAN "\"Records instruction pointer.\", \"Records the process and thread IDs.\", \"Records a timestamp.\", \"Records CPU number.\", \"Records a unique ID for the opened event.\", \"Records the current sampling period.\"",
	  who_when_where, NEED_SAMPLING, ON_MODES | ON_OVERFLOWS },
	{ "field", "times are of the clock asked for",
	  MAN "\"If use_clockid is set, then this field selects which internal Linux timer to use for timestamps.\"",
	  clocks, NEED_SAMPLING },
	{ "field", "READ with every read_format",
	  MAN "\"The values included depend on the read_format value used at perf_event_open() time.\"",
	  values, NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "field", "READ of a group",
	  MAN "PERF_SAMPLE_READ: \"Record counter values for all events in a group, not just the group leader.\"",
	  group_values,
	  NEED_SAMPLING | NEED_GROUPS, ON_USER | ON_COUNTERS | ON_OVERFLOWS },
	{ "field", "CALLCHAIN begins at IP",
	  MAN "PERF_SAMPLE_CALLCHAIN: \"Records the callchain (stack backtrace).\"",
	  callchain, NEED_SAMPLING, ON_MODES | ON_OVERFLOWS },
	{ "field", "parts of callchains are left out",
	  MAN "\"Do not include kernel callchains.\", \"Do not include user callchains.\"",
	  chain_parts, NEED_SAMPLING | NEED_KERNEL },
	{ "field", "REGS_USER",
	  MAN "PERF_SAMPLE_REGS_USER: \"Records the current user-level CPU register state (the values in the process before the kernel was called).\"",
	  user_registers, NEED_SAMPLING, ON_MODES | ON_OVERFLOWS },
	{ "field", "REGS_INTR",
	  MAN "PERF_SAMPLE_REGS_INTR: \"Records a subset of the current CPU register state as specified by sample_regs_intr.\"",
	  interrupted_registers, NEED_SAMPLING, ON_MODES | ON_OVERFLOWS },
	{ "field", "STACK_USER",
	  MAN "PERF_SAMPLE_STACK_USER: \"Records the user level stack, allowing stack unwinding.\"",
	  user_stack, NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "field", "MMAP2, COMM, FORK, SWITCH and their ids",
	  MAN "\"If set, then TID, TIME, ID, STREAM_ID, and CPU can additionally be included in non-PERF_RECORD_SAMPLEs if the corresponding sample_type is selected.\"",
	  other_records, NEED_SAMPLING },
};

const struct check_list field_checks = { checks, ARRAY_SIZE(checks) };
