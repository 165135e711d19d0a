// SPDX-License-Identifier: GPL-2.0-only
/*
 * snapshot.c - branch records that a BPF program requests
 *
 * The program runs at the start of each system call, before the kernel executes it.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "branches.h"

/*
 * Arguments of the raw tracepoint "sys_enter": struct pt_regs, and the number of the system call
 */
#define ARG_NUMBER		8

#define NEVER			1000000000000ULL

/* Space for the records of any hardware, and the helper's return value */
struct answer {
	s64 bytes;
	struct perf_branch_entry entries[64];
};

#define INSN(op, d, s, o, i)	\
	((struct bpf_insn) { .code = (op), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) })
#define MOV_REG(d, s)		INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i)		INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD_IMM(d, i)		INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define RSH_IMM(d, i)		INSN(BPF_ALU64 | BPF_RSH | BPF_K, d, 0, 0, i)
#define CALL(func)		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, func)
#define UNLESS(d, i, o)		INSN(BPF_JMP | BPF_JNE | BPF_K, d, 0, o, i)
#define IF(d, i, o)		INSN(BPF_JMP | BPF_JEQ | BPF_K, d, 0, o, i)
#define STORE(d, o, s)		INSN(BPF_STX | BPF_MEM | BPF_DW, d, s, o, 0)
#define STORE_IMM(d, o, i)	INSN(BPF_ST | BPF_MEM | BPF_W, d, 0, o, i)

static long bpf(int command, union bpf_attr *attr, size_t size)
{
	return syscall(SYS_bpf, command, attr, size);
}

static int new_map(void)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_ARRAY, .key_size = sizeof(u32),
		.value_size = sizeof(struct answer), .max_entries = 1,
	};

	return bpf(BPF_MAP_CREATE, &attr, sizeof(attr));
}

/* Load a program that puts the helper's answer into the map at each getppid() of this process. */
static int new_program(int map)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_LDX | BPF_MEM | BPF_DW, 6, 1, ARG_NUMBER, 0),
		UNLESS(6, SYS_getppid, 17),
		CALL(BPF_FUNC_get_current_pid_tgid),
		RSH_IMM(0, 32),
		UNLESS(0, getpid(), 14),
		STORE_IMM(10, -4, 0),
		INSN(BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map), INSN(0, 0, 0, 0, 0),
		MOV_REG(2, 10),
		ADD_IMM(2, -4),
		CALL(BPF_FUNC_map_lookup_elem),
		IF(0, 0, 7),
		MOV_REG(7, 0),
		MOV_REG(1, 0),
		ADD_IMM(1, offsetof(struct answer, entries)),
		MOV_IMM(2, sizeof(((struct answer *)NULL)->entries)),
		MOV_IMM(3, 0),
		CALL(BPF_FUNC_get_branch_snapshot),
		STORE(7, offsetof(struct answer, bytes), 0),
		MOV_IMM(0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT, .insns = (u64)(unsigned long)insns,
		.insn_cnt = ARRAY_SIZE(insns),
		.license = (u64)(unsigned long)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr, sizeof(attr));
}

static int attach(int program)
{
	union bpf_attr attr = {
		.raw_tracepoint = { .name = (u64)(unsigned long)"sys_enter", .prog_fd = program },
	};

	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
}

static bool look_up(int map, struct answer *answer)
{
	u32 key = 0;
	union bpf_attr attr = {
		.map_fd = map, .key = (u64)(unsigned long)&key,
		.value = (u64)(unsigned long)answer,
	};

	return !bpf(BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr));
}

#ifdef __aarch64__

/* The drivers of arm64 do not provide the helper. */
static bool is_answered(void)
{
	return false;
}

#else

#define PUTS_ADDRESS	610

/*
 * Linux 6.10 and later put the driver's address into the program, which may outlive a module, so
 * corepmu does not provide the helper. The built-in driver does; for AMD since 6.10.
 */
static bool is_answered(void)
{
	bool puts = target.kernel >= PUTS_ADDRESS;

	return target.in_tree ? puts || !arch_is_amd() : !puts;
}

#endif

static void judge_answer(const struct answer *answer)
{
	static struct course course;
	struct verdict v = {
		.course = &course,
		.kinds = ~(KIND_BIT(KIND_ENTER) | KIND_BIT(KIND_LEAVE)),
	};
	struct sample sample = {
		.nr_branches = answer->bytes / sizeof(answer->entries[0]),
		.branches = (void *)answer->entries,
	};

	course_kernel(&course);
	drop_empty(&sample);
	/* The first system call is the fourth step of the course, after the end of a loop. */
	if (!expect_range("records", 3, depth_of_stack(), sample.nr_branches))
		return;
	expect_eq("where the youngest branch comes from", course.steps[2].from,
		  sample.branches[0].from);
	/* The built-in driver shows a whole stack, partly of older records. */
	if (target.in_tree)
		return;
	judge(&v, &sample);
	expect_eq("answers that are no part of what the program did", 0, v.wrong);
}

void snapshot(void)
{
	int map = new_map(), program = map < 0 ? map : new_program(map);
	int link = program < 0 ? program : attach(program);
	static struct answer answer;
	struct sampling s;

	if (link < 0) {
		ktap_skip("bpf(2): %s", strerror(errno));
		return;
	}
	if (!target.in_tree && strcmp(target.pmu, "cpu") &&
	    !access("/sys/bus/event_source/devices/cpu", F_OK)) {
		ktap_skip("the built-in driver beside %s returns branches of its own events",
			  target.pmu);
		goto out;
	}
	if (kernel_prepare() &&
	    sampling_open(&s, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER, NEVER)) {
		kernel(1);
		/* Without an event, in-tree drivers show the records that the last event left. */
		if (expect_true("the answer", look_up(map, &answer)) && !target.in_tree)
			expect_eq("without an event that counts", -ENOENT, answer.bytes);
		event_enable(s.fd);
		kernel(20);
		event_disable(s.fd);
		if (!expect_true("the answer", look_up(map, &answer)))
			;
		else if (is_answered())
			judge_answer(&answer);
		else
			expect_eq("what the kernel says", -ENOENT, answer.bytes);
		sampling_close(&s);
	}
out:
	close(link);
	close(program);
	close(map);
}
