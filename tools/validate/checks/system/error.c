// SPDX-License-Identifier: GPL-2.0-only
/*
 * error.c - documented errors, which leave nothing behind
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "judge/guard.h"
#include "judge/validate.h"

#define MAX_STACK	"/proc/sys/kernel/perf_event_max_stack"

/* Placeholder: the descriptor of a file that is no event replaces this number. */
#define NO_EVENT	10000

struct open_case {
	const char *what;
	int error;
	void (*change)(struct perf_event_attr *attr);
	pid_t pid;
	int cpu;	/* 0 stands for the PMU's first CPU. */
	int group;
	unsigned long flags;
};

/* The PMU's type in config of a generic event; 0 if the PMU accepts no such events */
static u64 own_type(void)
{
	return pmu.name && pmu.instructions.type == PERF_TYPE_HARDWARE ?
	       (u64)pmu.type << PERF_PMU_TYPE_SHIFT : 0;
}

#define CHANGE(name, code)						\
	static void name(struct perf_event_attr *attr) { code; }

CHANGE(small, attr->size = PERF_ATTR_SIZE_VER0 - 1)
CHANGE(big, attr->size = 1 << 20)
/* The lowest reserved bit may be a flag of a newer kernel. */
CHANGE(flags_unknown, attr->__reserved_1 = -1)
CHANGE(reserved_2, attr->__reserved_2 = 1)
/*
 * The word after aux_sample_size: newer headers (6.12) name its lowest bits, and __reserved_3 has
 * the others. The highest bits are reserved in every edition.
 */
CHANGE(reserved_3, attr->__reserved_3 = -(1 << 28))
CHANGE(sample_type_unknown, attr->sample_type = 1ULL << 60)
CHANGE(read_format_unknown, attr->read_format = 1ULL << 40)
CHANGE(period_negative, attr->sample_period = 1ULL << 63)
CHANGE(frequency_high, attr->freq = 1; attr->sample_freq = 1ULL << 40)
CHANGE(type_unknown, attr->type = 0x7ffffff0; attr->config = 0)
CHANGE(generic_unknown, attr->type = PERF_TYPE_HARDWARE; attr->config = 1000)
CHANGE(cache_unknown, attr->type = PERF_TYPE_HW_CACHE; attr->config = 0x77)
CHANGE(cache_op_unknown, attr->type = PERF_TYPE_HW_CACHE; attr->config = 0x7700)
CHANGE(cache_result_unknown, attr->type = PERF_TYPE_HW_CACHE; attr->config = 0x770000)
CHANGE(branch_kind_unknown, attr->sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = 1ULL << 50)
CHANGE(regs_none, attr->sample_type = PERF_SAMPLE_REGS_USER)
CHANGE(regs_unknown, attr->sample_type = PERF_SAMPLE_REGS_USER; attr->sample_regs_user = 1ULL << 63)
CHANGE(regs_intr_unknown, attr->sample_type = PERF_SAMPLE_REGS_INTR;
	attr->sample_regs_intr = 1ULL << 63)
CHANGE(stack_odd, attr->sample_type = PERF_SAMPLE_STACK_USER; attr->sample_stack_user = 1001)
CHANGE(stack_huge, attr->sample_type = PERF_SAMPLE_STACK_USER; attr->sample_stack_user = 65536)
CHANGE(clock_unknown, attr->use_clockid = 1; attr->clockid = 99)
CHANGE(chain_deep, attr->sample_type = PERF_SAMPLE_CALLCHAIN; attr->sample_period = 100000;
	attr->exclude_callchain_kernel = 1; attr->sample_max_stack = 60000)
CHANGE(weights, attr->sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)
CHANGE(sigtrap_alone, attr->sigtrap = 1)
CHANGE(exec_twice, attr->remove_on_exec = 1; attr->enable_on_exec = 1)
CHANGE(inherit_thread_alone, attr->inherit_thread = 1)
CHANGE(aux_sample_alone, attr->aux_sample_size = 4096; attr->sample_type = PERF_SAMPLE_AUX;
	attr->sample_period = 100000)
CHANGE(inherit_read, attr->inherit = 1; attr->sample_type = PERF_SAMPLE_READ;
	attr->sample_period = 100000)
CHANGE(own_generic_unknown, attr->type = PERF_TYPE_HARDWARE; attr->config = own_type() | 1000)
CHANGE(own_cache_unknown, attr->type = PERF_TYPE_HW_CACHE; attr->config = own_type() | 0x77)
CHANGE(generic_last, attr->type = PERF_TYPE_HARDWARE; attr->config = PERF_COUNT_HW_MAX)
CHANGE(cache_last, attr->type = PERF_TYPE_HW_CACHE; attr->config = PERF_COUNT_HW_CACHE_MAX)
CHANGE(nothing, (void)attr)

static const struct open_case open_cases[] = {
	{ "attr.size smaller than the first one", E2BIG, small, 0, -1, -1, 0 },
	{ "attr.size larger than a page", E2BIG, big, 0, -1, -1, 0 },
	{ "unknown flags of attr", EINVAL, flags_unknown, 0, -1, -1, 0 },
	{ "reserved bits after sample_max_stack", EINVAL, reserved_2, 0, -1, -1, 0 },
	{ "reserved bits after aux_sample_size", EINVAL, reserved_3, 0, -1, -1, 0 },
	{ "an unknown sample_type", EINVAL, sample_type_unknown, 0, -1, -1, 0 },
	{ "an unknown read_format", EINVAL, read_format_unknown, 0, -1, -1, 0 },
	{ "a period with bit 63", EINVAL, period_negative, 0, -1, -1, 0 },
	{ "a frequency above the limit", EINVAL, frequency_high, 0, -1, -1, 0 },
	{ "an unknown type", ENOENT, type_unknown, 0, -1, -1, 0 },
	{ "an unknown generic event", EINVAL, generic_unknown, 0, -1, -1, 0 },
	{ "an unknown cache", EINVAL, cache_unknown, 0, -1, -1, 0 },
	{ "an unknown cache operation", EINVAL, cache_op_unknown, 0, -1, -1, 0 },
	{ "an unknown cache result", EINVAL, cache_result_unknown, 0, -1, -1, 0 },
	{ "an unknown kind of branches", EINVAL, branch_kind_unknown, 0, -1, -1, 0 },
	{ "no registers to sample", EINVAL, regs_none, 0, -1, -1, 0 },
	{ "unknown registers", EINVAL, regs_unknown, 0, -1, -1, 0 },
	{ "unknown interrupted registers", EINVAL, regs_intr_unknown, 0, -1, -1, 0 },
	{ "a stack size that is no multiple of 8", EINVAL, stack_odd, 0, -1, -1, 0 },
	{ "a stack of 64 KiB", EINVAL, stack_huge, 0, -1, -1, 0 },
	{ "an unknown clock", EINVAL, clock_unknown, 0, -1, -1, 0 },
	{ "a callchain above the limit", EOVERFLOW, chain_deep, 0, -1, -1, 0 },
	{ "two kinds of weight", EINVAL, weights, 0, -1, -1, 0 },
	{ "sigtrap without remove_on_exec", EINVAL, sigtrap_alone, 0, -1, -1, 0 },
	{ "removed and enabled on exec", EINVAL, exec_twice, 0, -1, -1, 0 },
	{ "inherit_thread without inherit", EINVAL, inherit_thread_alone, 0, -1, -1, 0 },
	{ "aux_sample_size without a leader", EINVAL, aux_sample_alone, 0, -1, -1, 0 },
	{ "inherit and READ without TID", EINVAL, inherit_read, 0, -1, -1, 0 },
	{ "an unknown generic event of the PMU", EINVAL, own_generic_unknown, 0, -1, -1, 0 },
	{ "an unknown cache of the PMU", EINVAL, own_cache_unknown, 0, -1, -1, 0 },
	{ "the first unknown generic event", EINVAL, generic_last, 0, -1, -1, 0 },
	{ "the first unknown generic cache event", EINVAL, cache_last, 0, -1, -1, 0 },
	{ "unknown flags of the call", EINVAL, nothing, 0, -1, -1, 1 << 6 },
	{ "the first unknown flag of the call", EINVAL, nothing, 0, -1, -1, 1 << 5 },
	{ "neither a task nor a CPU", EINVAL, nothing, -1, -1, -1, 0 },
	{ "a CPU beyond all", EINVAL, nothing, -1, 100000, -1, 0 },
	{ "a task that does not exist", ESRCH, nothing, 0x3ffffff, -1, -1, 0 },
	{ "a CPU below -1", EINVAL, nothing, 0, -2, -1, 0 },
	{ "a task below -1", ESRCH, nothing, -2, -1, -1, 0 },
	{ "a leader that is no descriptor", EBADF, nothing, 0, -1, 9999, 0 },
	{ "a leader below -1", EBADF, nothing, 0, -1, -2, 0 },
	{ "a leader that is no event", EBADF, nothing, 0, -1, NO_EVENT, 0 },
	{ "a cgroup without a CPU", EINVAL, nothing, 0, -1, -1, PERF_FLAG_PID_CGROUP },
	{ "a cgroup without a descriptor", EINVAL, nothing, -1, 0, -1, PERF_FLAG_PID_CGROUP },
	{ "a cgroup that is no descriptor", EBADF, nothing, 9999, 0, -1, PERF_FLAG_PID_CGROUP },
};

static void opens(void)
{
	int no_event = open("/dev/null", O_RDONLY);
	bool locked = registers_are_locked();

	for (unsigned int i = 0; i < ARRAY_SIZE(open_cases); i++) {
		const struct open_case *c = &open_cases[i];
		struct perf_event_attr attr;
		int fd;

		attr_instructions(&attr);
		c->change(&attr);
		/* The administrator may have raised the limit. */
		if (c->error == EOVERFLOW && attr.sample_max_stack <= read_number(MAX_STACK))
			continue;
		/* A PMU without interrupts refuses a period first. */
		if (attr.sample_period && !(pmu.has & NEED_SAMPLING))
			continue;
		fd = event_open(&attr, c->pid, c->cpu ?: pmu.cpu,
				c->group == NO_EVENT ? no_event : c->group, c->flags);
		/* A kernel that is locked down may check the permission before the registers. */
		expect_eq(c->what, locked && attr.sample_regs_intr && fd == -EPERM ? fd : -c->error,
			  fd);
		if (fd >= 0)
			close(fd);
		if (c->error == E2BIG)
			expect_range("the size that the kernel returns", PERF_ATTR_SIZE_VER7, 1024,
				     attr.size);
	}
	close(no_event);
	expect_sane();
}

/* Expect the samples of an accepted event to agree with its attributes. */
static void check_samples(int fd, bool (*agrees)(const struct perf_event_header *header),
			  const char *what)
{
	const struct perf_event_header *header;
	unsigned int nr = 0, good = 0;
	static struct ring ring;

	if (!ring_map(&ring, fd, 64)) {
		event_run_loop(fd, ITERATIONS);
		while ((header = ring_next(&ring))) {
			nr += header->type == PERF_RECORD_SAMPLE;
			good += header->type == PERF_RECORD_SAMPLE && agrees(header);
		}
		ring_unmap(&ring);
		expect_part(what, 1, "samples", nr, good);
	}
	close(fd);
}

static bool is_precise(const struct perf_event_header *header)
{
	return header->misc & PERF_RECORD_MISC_EXACT_IP;
}

static bool has_branches(const struct perf_event_header *header)
{
	return *(const u64 *)(header + 1) > 0;
}

/* If the hardware lacks a feature, the event is refused; otherwise the samples have it. */
static void unfeasible(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, 100000, PERF_SAMPLE_IP);
	attr.precise_ip = 3;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		expect_true("precise_ip 3 is EOPNOTSUPP, EINVAL or ENOENT",
			    fd == -EOPNOTSUPP || fd == -EINVAL || fd == -ENOENT);
	else
		check_samples(fd, is_precise, "samples with PERF_RECORD_MISC_EXACT_IP");
	attr_sampling(&attr, 100000, PERF_SAMPLE_BRANCH_STACK);
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		expect_true("a branch stack is EOPNOTSUPP or EINVAL",
			    fd == -EOPNOTSUPP || fd == -EINVAL);
	else
		check_samples(fd, has_branches, "samples with branches");
	attr_instructions(&attr);
	attr.exclude_idle = 1;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		expect_true("exclude_idle is EPERM, EINVAL or EOPNOTSUPP",
			    fd == -EPERM || fd == -EINVAL || fd == -EOPNOTSUPP);
	else
		close(fd);
}

static void attr_sizes(void)
{
	struct {
		struct perf_event_attr attr;
		u64 more[8];
	} future;
	int fd;

	memset(&future, 0, sizeof(future));
	attr_instructions(&future.attr);
	future.attr.size = sizeof(future);
	fd = event_open(&future.attr, 0, -1, -1, 0);
	expect_true("attributes beyond the known size are accepted if zero", fd >= 0);
	close(fd);
	future.more[7] = 1;
	future.attr.size = sizeof(future);
	expect_eq("attributes of the future", -E2BIG, event_open(&future.attr, 0, -1, -1, 0));
	expect_range("the size that the kernel returns", PERF_ATTR_SIZE_VER0, sizeof(future) - 1,
		     future.attr.size);
	attr_instructions(&future.attr);
	future.attr.size = 0;
	fd = event_open(&future.attr, 0, -1, -1, 0);
	expect_true("size 0 means PERF_ATTR_SIZE_VER0", fd >= 0);
	close(fd);
	expect_eq("attributes at an invalid address", -EFAULT,
		  event_open((void *)8, 0, -1, -1, 0));
	expect_eq("no attributes", -EFAULT, event_open(NULL, 0, -1, -1, 0));
}

/* Expect a request on an event's descriptor to fail. */
static void expect_errno(const char *what, int error, int ret)
{
	expect_eq(what, error, ret < 0 ? errno : 0);
}

static void ioctls(void)
{
	static struct ring ring;
	struct perf_event_attr attr;
	u64 period = 100000;
	int fd = open_instructions(), wide, pipes[2];

	if (pipe(pipes))
		return;
	expect_errno("an unknown ioctl", ENOTTY, ioctl(fd, _IO('$', 99), 0));
	expect_errno("an ioctl of another type", ENOTTY, ioctl(fd, _IO('x', 1), 0));
	expect_errno("a period for a counting event", EINVAL,
		     ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
	expect_errno("a period at an invalid address", EFAULT,
		     ioctl(fd, PERF_EVENT_IOC_PERIOD, 8));
	expect_errno("REFRESH of a counting event", EINVAL, ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
	expect_errno("output to a file that is no event", EBADF,
		     ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, pipes[0]));
	expect_errno("output to no descriptor", EBADF, ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, 9999));
	expect_errno("output to itself", EINVAL, ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, fd));
	expect_errno("output to none", 0, ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, -1UL));
	expect_errno("a filter", EINVAL, ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "x"));
	expect_errno("an id at an invalid address", EFAULT, ioctl(fd, PERF_EVENT_IOC_ID, 8));
	expect_errno("an event in place of a BPF program", EINVAL,
		     ioctl(fd, PERF_EVENT_IOC_SET_BPF, fd));
	expect_errno("a BPF program without a descriptor", EBADF,
		     ioctl(fd, PERF_EVENT_IOC_SET_BPF, 9999));
	expect_true("a query of programs is refused",
		    ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, &period) < 0);
	expect_errno("PAUSE_OUTPUT without a buffer", EINVAL,
		     ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	attr_instructions(&attr);
	expect_eq("PERF_FLAG_FD_OUTPUT to an event without a buffer", -EINVAL,
		  event_open(&attr, 0, -1, fd, PERF_FLAG_FD_OUTPUT));
	if (pmu.has & NEED_CPU_WIDE) {
		wide = event_open(&attr, -1, pmu.cpu, -1, 0);
		expect_errno("output to an event of a CPU", EINVAL,
			     ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, wide));
		close(wide);
	}
	if (!ring_map(&ring, fd, 1)) {
		expect_errno("output of an event with a buffer", EINVAL,
			     ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, -1UL));
		ring_unmap(&ring);
	}
	close(fd);
	attr_sampling(&attr, 100000, PERF_SAMPLE_IP);
	attr.inherit = 1;
	fd = event_open_self(&attr, -1);
	if (fd >= 0) {
		expect_errno("REFRESH of an inherited event", EINVAL,
			     ioctl(fd, PERF_EVENT_IOC_REFRESH, 1));
		period = 0;
		expect_errno("a period of 0", EINVAL, ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
		period = 1ULL << 63;
		expect_errno("a period with bit 63", EINVAL,
			     ioctl(fd, PERF_EVENT_IOC_PERIOD, &period));
		close(fd);
	}
	expect_sane();
}

static void descriptors(void)
{
	void *volatile nowhere = (void *)8;
	struct perf_event_attr attr;
	u64 value;
	int fd;

	attr_instructions(&attr);
	fd = event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	expect_true("PERF_FLAG_FD_CLOEXEC is accepted", fd >= 0);
	expect_eq("FD_CLOEXEC", FD_CLOEXEC, fcntl(fd, F_GETFD) & FD_CLOEXEC);
	expect_true("a write is EINVAL or EBADF", write(fd, &value, sizeof(value)) < 0 &&
		    (errno == EINVAL || errno == EBADF));
	expect_errno("a seek", ESPIPE, lseek(fd, 8, SEEK_SET));
	expect_errno("a read of no bytes", ENOSPC, read(fd, &value, 0));
	expect_errno("a read of seven bytes", ENOSPC, read(fd, &value, 7));
	expect_errno("a read to an invalid address", EFAULT, read(fd, nowhere, 8));
	close(fd);
	fd = event_open_self(&attr, -1);
	expect_eq("FD_CLOEXEC of an event without the flag", 0, fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

/*
 * Open events as a user without privileges at a level of perf_event_paranoid. Return a bitmap of
 * the wrong answers. At level 3 and above, Debian's kernels refuse every event.
 */
static int try_unprivileged(int level)
{
	struct perf_event_attr attr, kernel;
	int fd, wrong = 0;

	if (setgid(65534) || setuid(65534))
		return 128;
	attr_instructions(&attr);
	kernel = attr;
	kernel.exclude_kernel = 0;
	fd = event_open(&attr, 0, -1, -1, 0);
	wrong |= level < 3 ? fd < 0 : fd < 0 && fd != -EACCES;
	if (fd >= 0)
		wrong |= event_count_loop(fd, ITERATIONS) < LOOP;
	fd = event_open(&kernel, 0, -1, -1, 0);
	if (pmu.has & NEED_KERNEL)
		wrong |= (level < 2 ? fd < 0 : fd != -EACCES) << 1;
	fd = event_open(&attr, -1, pmu.cpu, -1, 0);
	if (pmu.has & NEED_CPU_WIDE)
		wrong |= (level < 1 ? fd < 0 : fd != -EACCES) << 2;
	if (level < 2)
		return wrong;
	wrong |= (event_open(&attr, getppid(), -1, -1, 0) != -EACCES) << 3;
	attr.namespaces = 1;
	wrong |= (event_open(&attr, 0, -1, -1, 0) != -EACCES) << 4;
	attr.namespaces = 0;
	attr.sample_type = PERF_SAMPLE_PHYS_ADDR;
	wrong |= (event_open(&attr, 0, -1, -1, 0) != -EACCES) << 5;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL;
	wrong |= (event_open(&attr, 0, -1, -1, 0) != -EACCES) << 6;
	return wrong;
}

static void paranoid(void)
{
	static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
	int status;

	for (int level = -1; level <= 4; level++) {
		pid_t pid;

		if (change_number(path, level)) {
			ktap_skip("kernel.perf_event_paranoid cannot be set: run as root");
			return;
		}
		pid = fork();
		if (!pid)
			_exit(try_unprivileged(level));
		waitpid(pid, &status, 0);
		status = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
		expect_or_say(!status,
			      "level %d: expected the manual's permissions, got wrong ones for:%s%s%s%s%s%s%s",
			      level, status & 1 ? " the task" : "", status & 2 ? " the kernel" : "",
			      status & 4 ? " a CPU" : "", status & 8 ? " another user's task" : "",
			      status & 16 ? " namespaces" : "",
			      status & 32 ? " physical addresses" : "",
			      status & 64 ? " branches of the kernel" : "");
	}
}

static void no_descriptor_left(void)
{
	struct rlimit old, limit;
	int fds[64], nr = 0, fd;

	getrlimit(RLIMIT_NOFILE, &old);
	limit = old;
	limit.rlim_cur = 32;
	setrlimit(RLIMIT_NOFILE, &limit);
	do {
		struct perf_event_attr attr;

		attr_instructions(&attr);
		fd = event_open(&attr, 0, -1, -1, 0);
		if (fd >= 0)
			fds[nr++] = fd;
	} while (fd >= 0 && nr < 64);
	expect_eq("one descriptor too many", -EMFILE, fd);
	close_all(fds, nr);
	setrlimit(RLIMIT_NOFILE, &old);
	expect_sane();
}

static const struct check checks[] = {
	{ "error", "impossible attributes and arguments are refused",
	  MAN "EINVAL: \"Returned if the specified event is invalid.\", E2BIG: \"too big (larger than the page size)\", ENOENT: \"Returned if the type setting is not valid.\", EOVERFLOW: \"Returned if PERF_SAMPLE_CALLCHAIN is requested and sample_max_stack is larger than the maximum specified in /proc/sys/kernel/perf_event_max_stack.\", ESRCH: \"Returned if attempting to attach to a process that does not exist.\", EBADF: \"Returned if the group_fd file descriptor is not valid\"",
	  opens, 0, ON_USER },
	{ "error", "features that hardware may lack",
	  MAN "EOPNOTSUPP: \"Returned if an event requiring a specific hardware feature is requested but there is no hardware support.\"",
	  unfeasible },
	{ "error", "sizes of perf_event_attr",
	  MAN "E2BIG: \"larger than the kernel supports and the extra bytes are not zero. When E2BIG is returned, the perf_event_attr size field is overwritten by the kernel to be the size of the structure it was expecting.\"",
	  attr_sizes },
	{ "error", "ioctls",
	  MAN "PERF_EVENT_IOC_REFRESH: \"Non-inherited overflow counters can use this\", PERF_EVENT_IOC_PERIOD: \"This updates the overflow period for the event.\", PERF_EVENT_IOC_SET_FILTER: \"This adds an ftrace filter to this event.\"",
	  ioctls, NEED_SAMPLING, ON_USER },
	{ "error", "reads, writes and flags of descriptors",
	  MAN "\"If you attempt to read into a buffer that is not big enough to hold the data, the error ENOSPC results.\"",
	  descriptors },
	{ "error", "perf_event_paranoid",
	  MAN "\"allow only user-space measurements (default since Linux 4.6).\", \"allow both kernel and user measurements (default before Linux 4.6).\", \"allow access to CPU-specific data but not raw tracepoint samples.\", \"no restrictions.\"",
	  paranoid,
	  NEED_DISRUPT, ON_MODES },
	{ "error", "no descriptor left",
	  MAN "EMFILE: \"If a large number of events are opened, the per-process limit on the number of open file descriptors will be reached, and no more events can be created.\"",
	  no_descriptor_left, 0, ON_USER },
};

const struct check_list error_checks = { checks, ARRAY_SIZE(checks) };
