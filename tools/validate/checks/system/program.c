// SPDX-License-Identifier: GPL-2.0-only
/*
 * program.c - counts that a BPF program reads: of an event in a map, and of the event that has
 * overflowed
 */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <sys/syscall.h>

#include "judge/validate.h"

#define PERIOD	100000
#define PAGES	8

/* Result of a program: the values, and the return value of the function that read them */
struct result {
	struct bpf_perf_event_value value;
	s64 error;
};

/* Offsets of the result, the error and the key 0 on the programs' stack */
#define AT_RESULT	(-(int)sizeof(struct result))
#define AT_ERROR	(AT_RESULT + (int)offsetof(struct result, error))
#define AT_KEY		(AT_RESULT - 8)

struct code {
	struct bpf_insn insns[32];
	unsigned int nr;
};

static void emit(struct code *code, __u8 what, __u8 to, __u8 from, __s16 offset, __s32 number)
{
	code->insns[code->nr++] = (struct bpf_insn) {
		.code = what, .dst_reg = to, .src_reg = from, .off = offset, .imm = number,
	};
}

static void emit_number(struct code *code, __u8 reg, __s32 number)
{
	emit(code, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, number);
}

static void emit_stack(struct code *code, __u8 reg, __s32 at)
{
	emit(code, BPF_ALU64 | BPF_MOV | BPF_X, reg, BPF_REG_10, 0, 0);
	emit(code, BPF_ALU64 | BPF_ADD | BPF_K, reg, 0, 0, at);
}

static void emit_map(struct code *code, __u8 reg, int map)
{
	emit(code, BPF_LD | BPF_DW | BPF_IMM, reg, BPF_PSEUDO_MAP_FD, 0, map);
	emit(code, 0, 0, 0, 0, 0);
}

static void emit_call(struct code *code, __s32 function)
{
	emit(code, BPF_JMP | BPF_CALL, 0, 0, 0, function);
}

/* Emit code: store R0 as the error, copy the result to the map's element, and return. */
static void emit_end(struct code *code, int results, __s32 returned)
{
	emit(code, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_0, AT_ERROR, 0);
	emit(code, BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, AT_KEY, 0);
	emit_map(code, BPF_REG_1, results);
	emit_stack(code, BPF_REG_2, AT_KEY);
	emit_stack(code, BPF_REG_3, AT_RESULT);
	emit_number(code, BPF_REG_4, BPF_ANY);
	emit_call(code, BPF_FUNC_map_update_elem);
	emit_number(code, BPF_REG_0, returned);
	emit(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int make_map(unsigned int type, unsigned int size)
{
	union bpf_attr attr = {
		.map_type = type, .key_size = sizeof(u32), .value_size = size, .max_entries = 1,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

static int map_element(int command, int map, void *value)
{
	u32 key = 0;
	union bpf_attr attr = {
		.map_fd = map, .key = (uintptr_t)&key, .value = (uintptr_t)value,
	};

	return bpf(command, &attr);
}

static int load(unsigned int type, const struct code *code)
{
	union bpf_attr attr = {
		.prog_type = type, .insns = (uintptr_t)code->insns, .insn_cnt = code->nr,
		.license = (uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

/* Load a program that reads the event in a map; bpf(2) runs the program in the calling task. */
static int load_reader(int events, int results)
{
	struct code code = { .nr = 0 };

	emit_map(&code, BPF_REG_1, events);
	emit_number(&code, BPF_REG_2, 0);
	emit_stack(&code, BPF_REG_3, AT_RESULT);
	emit_number(&code, BPF_REG_4, sizeof(struct bpf_perf_event_value));
	emit_call(&code, BPF_FUNC_perf_event_read_value);
	emit_end(&code, results, 0);
	return load(BPF_PROG_TYPE_RAW_TRACEPOINT, &code);
}

/* Load a program that reads the overflowed event, and has the kernel write the sample. */
static int load_overflow_reader(int results)
{
	struct code code = { .nr = 0 };

	emit_stack(&code, BPF_REG_2, AT_RESULT);
	emit_number(&code, BPF_REG_3, sizeof(struct bpf_perf_event_value));
	emit_call(&code, BPF_FUNC_perf_prog_read_value);
	emit_end(&code, results, 1);
	return load(BPF_PROG_TYPE_PERF_EVENT, &code);
}

static bool run_reader(int program, int results, struct result *result)
{
	union bpf_attr attr = { .test = { .prog_fd = program } };

	if (bpf(BPF_PROG_TEST_RUN, &attr)) {
		ktap_skip("bpf(2), BPF_PROG_TEST_RUN: %s", strerror(errno));
		return false;
	}
	return expect_eq("reading the map", 0, map_element(BPF_MAP_LOOKUP_ELEM, results, result)) &&
	       expect_eq("bpf_perf_event_read_value()", 0, result->error);
}

static void read_by_program(void)
{
	struct event_times before = { 0 }, after = { 0 };
	int events = make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, sizeof(u32));
	int results = make_map(BPF_MAP_TYPE_ARRAY, sizeof(struct result));
	int program = load_reader(events, results), fd;
	struct perf_event_attr attr;
	struct result result = { 0 };

	if (program < 0) {
		ktap_skip("bpf(2): %s", strerror(errno));
		return;
	}
	attr_instructions(&attr);
	attr.read_format = FORMAT_TIMES;
	fd = open_event(&attr);
	expect_eq("the event becomes the map's", 0,
		  map_element(BPF_MAP_UPDATE_ELEM, events, &fd));
	event_enable(fd);
	for (unsigned int i = 1; i <= 10; i++) {
		event_read_times(fd, &before);
		known_loop(ITERATIONS);
		if (!run_reader(program, results, &result))
			break;
		event_read_times(fd, &after);
		expect_range("the count that the program reads", before.count + LOOP, after.count,
			     result.value.counter);
		expect_range("the time enabled", before.enabled, after.enabled,
			     result.value.enabled);
		expect_range("the time running", before.running, after.running,
			     result.value.running);
	}
	close(fd);
}

static void read_at_overflow(void)
{
	int results = make_map(BPF_MAP_TYPE_ARRAY, sizeof(struct result));
	int program = load_overflow_reader(results), fd;
	struct perf_event_attr attr;
	struct result result = { 0 };
	struct sample sample = { 0 };
	static struct ring ring;
	unsigned int i, nr = 0;

	if (program < 0) {
		ktap_skip("bpf(2): %s", strerror(errno));
		return;
	}
	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | PERF_SAMPLE_READ);
	fd = open_sampling(&ring, &attr, PAGES);
	expect_eq("PERF_EVENT_IOC_SET_BPF", 0, ioctl(fd, PERF_EVENT_IOC_SET_BPF, program));
	/* After each round, the map has the values of the last overflow. */
	for (i = 0; i < 20; i++) {
		unsigned int samples = 0;

		event_run_loop(fd, ITERATIONS / 10);
		while (ring_next_sample(&ring, &attr, &sample))
			samples++;
		nr += samples;
		if (!samples)
			continue;
		expect_eq("reading the map", 0, map_element(BPF_MAP_LOOKUP_ELEM, results, &result));
		expect_eq("bpf_perf_prog_read_value()", 0, result.error);
		expect_near("the count that the program reads", sample.read.count,
			    pmu.exact ? 0 : count_slack(0), result.value.counter);
	}
	expect_range("samples", 20 * (LOOP / 10) / PERIOD - 2, 20 * (LOOP / 10) / PERIOD + 2, nr);
	close_sampling(&ring, fd);
}

#define HELPERS	"bpf-helpers(7), man-pages 6.03: "

static const struct check checks[] = {
	{ "count", "a BPF program reads what read(2) does",
	  HELPERS "\"Read the value of a perf event counter, and store it into buf of size buf_size.\"",
	  read_by_program, NEED_ROOT },
	{ "sample", "a BPF program reads the count of the overflow",
	  HELPERS "\"attached to a perf event, retrieve the value of the event counter associated to ctx and store it in the structure pointed by buf and of size buf_size.\"",
	  read_at_overflow, NEED_SAMPLING | NEED_ROOT, ON_USER | ON_OVERFLOWS },
};

const struct check_list program_checks = { checks, ARRAY_SIZE(checks) };
