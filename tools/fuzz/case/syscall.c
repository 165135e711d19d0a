// SPDX-License-Identifier: GPL-2.0-only
/*
 * syscall.c - system calls on descriptors of events
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arch.h"
#include "syscall.h"
#include "ktap.h"

#define RACE_WAITS_USEC		200

static int bpf_prog = -1;

/* r0 = 1; exit: a program for overflows that lets the kernel take the sample */
static int load_bpf(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (unsigned long)insns;
	attr.insn_cnt = ARRAY_SIZE(insns);
	attr.license = (unsigned long)"GPL";
	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

void call_init(void)
{
	bpf_prog = load_bpf();
}

long call_ioctl(int fd, const struct fuzz_op *op)
{
	struct { u32 ids_len, prog_cnt, ids[4]; } query = { .ids_len = 4 };
	u64 value = op->arg;

	switch (op->kind) {
	case FUZZ_ENABLE:
		return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	case FUZZ_DISABLE:
		return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	case FUZZ_RESET:
		return ioctl(fd, PERF_EVENT_IOC_RESET, 0);
	case FUZZ_ENABLE_GROUP:
		return ioctl(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	case FUZZ_DISABLE_GROUP:
		return ioctl(fd, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	case FUZZ_RESET_GROUP:
		return ioctl(fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	case FUZZ_REFRESH:
		return ioctl(fd, PERF_EVENT_IOC_REFRESH, (long)value);
	case FUZZ_PERIOD:
		return ioctl(fd, PERF_EVENT_IOC_PERIOD, &value);
	case FUZZ_SET_FILTER:
		return ioctl(fd, PERF_EVENT_IOC_SET_FILTER, value & 1 ? "common_pid != 1" : "");
	case FUZZ_ID:
		return ioctl(fd, PERF_EVENT_IOC_ID, value == 3 ? NULL : &value);
	case FUZZ_SET_BPF:
		return ioctl(fd, PERF_EVENT_IOC_SET_BPF, value & 1 ? bpf_prog : STDERR_FILENO);
	case FUZZ_QUERY_BPF:
		return ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, &query);
	case FUZZ_PAUSE_OUTPUT:
		return ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, value);
	case FUZZ_UNKNOWN_IOCTL:
		return ioctl(fd, _IO('$', 99), value);
	case FUZZ_PRCTL_DISABLE:
		return prctl(PR_TASK_PERF_EVENTS_DISABLE);
	case FUZZ_PRCTL_ENABLE:
		return prctl(PR_TASK_PERF_EVENTS_ENABLE);
	default:
		errno = EINVAL;
		return -1;
	}
}

/*
 * Find an event of the case that the other thread runs, from @first on, or -1. Its number may
 * belong to another file meanwhile: only an event is safe, since a read of other files may wait
 * forever.
 */
static int find_event(unsigned int first)
{
	u64 id;
	int fd;

	for (unsigned int i = 0; i < FUZZ_EVENTS; i++) {
		fd = fuzz_running_fd((first + i) % FUZZ_EVENTS);
		if (fd > STDERR_FILENO && !ioctl(fd, PERF_EVENT_IOC_ID, &id))
			return fd;
	}
	return -1;
}

void fuzz_race(struct fuzz_rng *rng, struct fuzz_counters *counters)
{
	const long page_size = sysconf(_SC_PAGESIZE);
	u64 values[4 + 3 * FUZZ_EVENTS];
	struct fuzz_op op;
	void *map;
	long ret;
	int fd;

	fuzz_make_op(&op, rng, FUZZ_EVENTS);
	fd = find_event(op.event);
	if (fd < 0) {
		/* Let the other thread proceed. */
		usleep(RACE_WAITS_USEC);
		return;
	}
	switch (op.kind) {
	case FUZZ_READ:
	case FUZZ_READ_SHORT:
		ret = read(fd, values, sizeof(values));
		break;
	case FUZZ_SET_OUTPUT:
		ret = ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT,
			    fuzz_running_fd(op.arg % FUZZ_EVENTS));
		break;
	case FUZZ_MMAP:
	case FUZZ_MMAP_READ_ONLY:
	case FUZZ_MMAP_AUX:
	case FUZZ_DRAIN:
		map = mmap(NULL, (1 + op.arg) * page_size, PROT_READ, MAP_SHARED, fd, 0);
		ret = map == MAP_FAILED ? -1 : 0;
		if (!ret)
			munmap(map, (1 + op.arg) * page_size);
		break;
	case FUZZ_LOOP:
	case FUZZ_MEMORY:
	case FUZZ_FORK_LOOP:
	case FUZZ_CHILD_LOOP:
	case FUZZ_CHILD_EXEC:
	case FUZZ_CHILD_TRACE:
	case FUZZ_USER_READ:
		known_loop(1000);
		return;
	case FUZZ_CLOSE:
	case FUZZ_MUNMAP:
	case FUZZ_POLL:
	case FUZZ_ASYNC:
	case FUZZ_MODIFY:
		ret = fcntl(fd, F_SETFL, op.arg & 1 ? O_ASYNC : O_NONBLOCK);
		break;
	default:
		ret = call_ioctl(fd, &op);
	}
	counters->calls++;
	counters->succeeded += ret >= 0;
}
