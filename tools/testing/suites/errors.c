// SPDX-License-Identifier: GPL-2.0-only
/*
 * errors.c - what is refused, with which error, and that the PMU still counts
 * to the instruction after every refusal
 *
 * Errors are those of perf_event_open(2), and where it is silent those of the
 * kernel's own driver. For the exact lane.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ring.h"

/* A table's entry starts from the usual attributes and sets some again. */
#pragma GCC diagnostic ignored "-Woverride-init"

/* Stands for the type of the PMU under test, which is not known yet. */
#define OWN_TYPE	0xfffffff0U

#define OPEN(...)							\
	.cpu = -1, .group = -1, .attr = {				\
		.type = OWN_TYPE,					\
		.size = sizeof(struct perf_event_attr),			\
		.config = ARCH_EVENT_INSTRUCTIONS,			\
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,	\
		__VA_ARGS__						\
	}

/*
 * Bits 28 to 31 of the word after aux_sample_size, reserved in every edition of the ABI. As a
 * negative number they fit __reserved_3 of every uapi header: it has all 32 bits in older ones
 * (Linux 6.1), and in newer ones (6.12.117) the upper 29, where bit 28 of the field is bit 31 of
 * the word; below it are aux_start_paused, aux_pause and aux_resume.
 */
#define RESERVED_3_HIGHEST	(-(1 << 28))

#define CACHE(id, op, result)	((id) | (op) << 8 | (result) << 16)

/* Ours must refuse it; the kernel's own driver may answer what it likes. */
#define OURS_ONLY		1

struct open_case {
	const char *what;
	int error;
	unsigned int flags;
	struct perf_event_attr attr;
	pid_t pid;
	int cpu;
	int group;
	unsigned long open_flags;
};

static const struct open_case open_cases[] = {
	{ "a type that no PMU has", ENOENT, 0,
	  OPEN(.type = 0x7ffffff0) },
	{ "attr.size below the first published one", E2BIG, 0,
	  OPEN(.size = PERF_ATTR_SIZE_VER0 - 1) },
	{ "attr.size above a page", E2BIG, 0,
	  OPEN(.size = 65536) },
	{ "attr.size 0, which stands for the first published one", 0, 0,
	  OPEN(.size = 0) },
	{ "reserved bits beside the flags", EINVAL, 0,
	  OPEN(.__reserved_1 = -1) },
	{ "reserved bits after sample_max_stack", EINVAL, 0,
	  OPEN(.__reserved_2 = 1) },
	{ "reserved bits after aux_sample_size", EINVAL, 0,
	  OPEN(.__reserved_3 = RESERVED_3_HIGHEST) },
	{ "an unknown bit of sample_type", EINVAL, 0,
	  OPEN(.sample_type = 1ULL << 62) },
	{ "an unknown bit of read_format", EINVAL, 0,
	  OPEN(.read_format = 1ULL << 62) },
	{ "a sample_period with its highest bit set", EINVAL, 0,
	  OPEN(.sample_period = 1ULL << 63) },
	{ "a sample_freq above the highest rate", EINVAL, 0,
	  OPEN(.freq = 1, .sample_freq = 1ULL << 40) },
	{ "config with bits that no format names", EINVAL, OURS_ONLY,
	  OPEN(.config = 1ULL << 40 | ARCH_EVENT_INSTRUCTIONS) },
	{ "config with all bits set", EINVAL, OURS_ONLY,
	  OPEN(.config = ~0ULL) },
	{ "config1 with bits that no format names", EINVAL, OURS_ONLY,
	  OPEN(.config1 = 1ULL << 40) },
	{ "config2 set", EINVAL, OURS_ONLY,
	  OPEN(.config2 = 1) },
	{ "precise_ip 1", EOPNOTSUPP, OURS_ONLY,
	  OPEN(.precise_ip = 1, .sample_period = 100000) },
	{ "precise_ip 2", EOPNOTSUPP, OURS_ONLY,
	  OPEN(.precise_ip = 2, .sample_period = 100000) },
	{ "precise_ip 3", EOPNOTSUPP, OURS_ONLY,
	  OPEN(.precise_ip = 3, .sample_period = 100000) },
	{ "exclude_idle", -ARCH_EXCLUDE_IDLE, 0,
	  OPEN(.exclude_idle = 1) },
	{ "PERF_SAMPLE_BRANCH_STACK", EOPNOTSUPP, 0,
	  OPEN(.sample_type = PERF_SAMPLE_BRANCH_STACK,
	       .branch_sample_type = PERF_SAMPLE_BRANCH_ANY |
				     PERF_SAMPLE_BRANCH_USER,
	       .sample_period = 100000) },
	{ "a branch stack of an unknown kind", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_BRANCH_STACK,
	       .branch_sample_type = 1ULL << 50, .sample_period = 100000) },
	{ "a branch stack of no kind", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_BRANCH_STACK,
	       .branch_sample_type = PERF_SAMPLE_BRANCH_USER,
	       .sample_period = 100000) },
	{ "sample_regs_user without any", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_REGS_USER) },
	{ "sample_regs_user with a register that is none", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_REGS_USER,
	       .sample_regs_user = ARCH_BAD_REGS) },
	{ "sample_regs_intr with a register that is none", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_REGS_INTR,
	       .sample_regs_intr = ARCH_BAD_REGS) },
	{ "sample_stack_user that is no multiple of 8", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_STACK_USER,
	       .sample_stack_user = 1001) },
	{ "sample_stack_user above 64 KiB", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_STACK_USER,
	       .sample_stack_user = 65536) },
	{ "sample_max_stack above the system's", EOVERFLOW, 0,
	  OPEN(.sample_type = PERF_SAMPLE_CALLCHAIN, .sample_period = 100000,
	       .sample_max_stack = 60000) },
	{ "both kinds of weight", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT) },
	{ "inherit_thread without inherit", EINVAL, 0,
	  OPEN(.inherit_thread = 1) },
	{ "remove_on_exec and enable_on_exec", EINVAL, 0,
	  OPEN(.remove_on_exec = 1, .enable_on_exec = 1) },
	{ "sigtrap without remove_on_exec", EINVAL, 0,
	  OPEN(.sigtrap = 1, .sample_period = 100000) },
	{ "aux_output", EOPNOTSUPP, 0,
	  OPEN(.aux_output = 1) },
	{ "aux_sample_size without a leader", EINVAL, 0,
	  OPEN(.aux_sample_size = 4096, .sample_type = PERF_SAMPLE_AUX,
	       .sample_period = 100000) },
	{ "a clock that does not exist", EINVAL, 0,
	  OPEN(.use_clockid = 1, .clockid = 99) },
	{ "inherit and PERF_SAMPLE_READ without PERF_SAMPLE_TID", EINVAL, 0,
	  OPEN(.inherit = 1, .sample_type = PERF_SAMPLE_READ,
	       .sample_period = 100000) },
	{ "an unknown flag of the system call", EINVAL, 0,
	  OPEN(), .open_flags = 1 << 5 },
	{ "no task and no CPU", EINVAL, 0,
	  OPEN(), .pid = -1 },
	{ "a CPU beyond all", EINVAL, 0,
	  OPEN(), .pid = -1, .cpu = 100000 },
	{ "a CPU below -1", EINVAL, 0,
	  OPEN(), .cpu = -2 },
	{ "a task that does not exist", ESRCH, 0,
	  OPEN(), .pid = 0x3ffffff },
	{ "a task below -1", ESRCH, 0,
	  OPEN(), .pid = -2 },
	{ "a leader that is no descriptor", EBADF, 0,
	  OPEN(), .group = 9999 },
	{ "a leader that is no event", EBADF, 0,
	  OPEN(), .group = 0 },
	{ "a leader below -1", EBADF, 0,
	  OPEN(), .group = -2 },
	{ "PERF_FLAG_PID_CGROUP with a bad descriptor", EBADF, 0,
	  OPEN(), .pid = 9999, .cpu = 0, .open_flags = PERF_FLAG_PID_CGROUP },
	{ "PERF_FLAG_PID_CGROUP without a CPU", EINVAL, 0,
	  OPEN(), .pid = 0, .open_flags = PERF_FLAG_PID_CGROUP },
	{ "PERF_FLAG_PID_CGROUP without a descriptor", EINVAL, 0,
	  OPEN(), .pid = -1, .cpu = 0, .open_flags = PERF_FLAG_PID_CGROUP },
	{ "a generic event that does not exist", EINVAL, 0,
	  OPEN(.type = PERF_TYPE_HARDWARE, .config = 1000) },
	{ "a cache that does not exist", EINVAL, 0,
	  OPEN(.type = PERF_TYPE_HW_CACHE, .config = CACHE(0x77, 0, 0)) },
	{ "a cache operation that does not exist", EINVAL, 0,
	  OPEN(.type = PERF_TYPE_HW_CACHE, .config = CACHE(0, 0x77, 0)) },
	{ "a cache result that does not exist", EINVAL, 0,
	  OPEN(.type = PERF_TYPE_HW_CACHE, .config = CACHE(0, 0, 0x77)) },
	{ "cache prefetches, which no CPU of its kind counts", ENOENT, 0,
	  OPEN(.type = PERF_TYPE_HW_CACHE,
	       .config = CACHE(PERF_COUNT_HW_CACHE_NODE,
			       PERF_COUNT_HW_CACHE_OP_PREFETCH,
			       PERF_COUNT_HW_CACHE_RESULT_MISS)) },
#if defined(__aarch64__)
	{ "CHAIN, which counts nothing on its own", EINVAL, OURS_ONLY,
	  OPEN(.config = 0x1e) },
	{ "a threshold above the CPU's highest", EINVAL, OURS_ONLY,
	  OPEN(.config1 = 1 << 5) },
#elif defined(__x86_64__)
	{ "AnyThread, bit 21 of config", EINVAL, OURS_ONLY,
	  OPEN(.config = 1 << 21 | ARCH_EVENT_INSTRUCTIONS) },
	{ "pin control, bit 19 of config", EINVAL, OURS_ONLY,
	  OPEN(.config = 1 << 19 | ARCH_EVENT_INSTRUCTIONS) },
	{ "bit 36 of config, between those of any CPU", EINVAL, OURS_ONLY,
	  OPEN(.config = 1ULL << 36 | ARCH_EVENT_INSTRUCTIONS) },
	{ "the guest-only bit of config", EINVAL, OURS_ONLY,
	  OPEN(.config = 1ULL << 41 | ARCH_EVENT_INSTRUCTIONS) },
	{ "the highest bit of config", EINVAL, OURS_ONLY,
	  OPEN(.config = 1ULL << 63 | ARCH_EVENT_INSTRUCTIONS) },
	{ "an off-core response in config1", EINVAL, OURS_ONLY,
	  OPEN(.config1 = 0x10001) },
	{ "precise_ip of a counting event", EOPNOTSUPP, OURS_ONLY,
	  OPEN(.precise_ip = 1) },
	{ "sample_regs_user with segment registers", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_REGS_USER,
	       .sample_regs_user = 0xf << 12) },
	{ "sample_regs_intr with a segment register", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_REGS_INTR,
	       .sample_regs_intr = 1 << 15) },
	{ "sample_regs_intr with a bit that has no register", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_REGS_INTR,
	       .sample_regs_intr = 1 << 24) },
	{ "a generic event of the PMU's number beyond the last", EINVAL, 0,
	  OPEN(.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_MAX) },
	{ "a cache beyond the last", EINVAL, 0,
	  OPEN(.type = PERF_TYPE_HW_CACHE,
	       .config = CACHE(PERF_COUNT_HW_CACHE_MAX, 0, 0)) },
	{ "stores to the instruction cache", EINVAL, 0,
	  OPEN(.type = PERF_TYPE_HW_CACHE,
	       .config = CACHE(PERF_COUNT_HW_CACHE_L1I,
			       PERF_COUNT_HW_CACHE_OP_WRITE,
			       PERF_COUNT_HW_CACHE_RESULT_ACCESS)) },
	{ "prefetches of the branch predictor", EINVAL, 0,
	  OPEN(.type = PERF_TYPE_HW_CACHE,
	       .config = CACHE(PERF_COUNT_HW_CACHE_BPU,
			       PERF_COUNT_HW_CACHE_OP_PREFETCH,
			       PERF_COUNT_HW_CACHE_RESULT_MISS)) },
	{ "the user's USR, OS, INT and EN bits, which say nothing", 0, 0,
	  OPEN(.config = 1 << 16 | 1 << 17 | 1 << 20 | 1 << 22 |
			 ARCH_EVENT_INSTRUCTIONS) },
#endif
};

static void run_open_case(const struct open_case *c)
{
	struct perf_event_attr attr = c->attr;
	int error = c->error, fd;
	bool silent;

	ktap_begin("%s: %s", c->what,
		   c->error ? strerror(c->error) : "accepted");
	if (attr.type == OWN_TYPE)
		attr.type = target.type;
	fd = event_open(&attr, c->pid, c->cpu, c->group, c->open_flags);
	silent = c->flags & OURS_ONLY && target.in_tree;
	if (silent)
		ktap_skip("%s answers %s", target.pmu,
			  fd < 0 ? strerror(-fd) : "with a descriptor");
	else if (error && fd >= 0)
		ktap_fail("open: expected %s, got a descriptor",
			  strerror(error));
	else if ((fd < 0 ? -fd : 0) != error)
		ktap_fail("open: expected %s, got %s", strerror(error),
			  strerror(fd < 0 ? -fd : 0));
	if (error == E2BIG)
		expect_true("attr.size to be the size the kernel knows",
			    attr.size >= PERF_ATTR_SIZE_VER7 &&
			    attr.size < 1024);
	if (fd >= 0)
		close(fd);
	pmu_is_exact(5000);
	ktap_end();
}

static int usual_open(struct perf_event_attr *attr, int group)
{
	return event_open(attr, 0, -1, group, 0);
}

static void expect_error(const char *what, int error, int ret)
{
	int got = ret < 0 ? -ret : 0;

	if (got != error)
		ktap_fail("%s: expected %s, got %s", what,
			  error ? strerror(error) : "success",
			  got ? strerror(got) : "success");
}

/* ioctl(2) with the error as its result. */
static int control(int fd, unsigned long request, unsigned long arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

static void attr_nowhere(void)
{
	expect_error("open without attributes", EFAULT,
		     event_open(NULL, 0, -1, -1, 0));
	expect_error("open with attributes nowhere", EFAULT,
		     event_open((void *)-4096L, 0, -1, -1, 0));
}

/* Larger attributes of a future kernel are fine as long as they are zero. */
static void attr_of_the_future(void)
{
	struct {
		struct perf_event_attr attr;
		char more[256];
	} future;
	int fd;

	memset(&future, 0, sizeof(future));
	attr_init(&future.attr, ARCH_EVENT_INSTRUCTIONS);
	future.attr.size = sizeof(future);
	fd = usual_open(&future.attr, -1);
	expect_error("larger attributes, zero", 0, fd);
	if (fd >= 0) {
		event_is_exact(fd, 5000);
		close(fd);
	}
	future.more[200] = 1;
	expect_error("larger attributes, not zero", E2BIG,
		     usual_open(&future.attr, -1));
	expect_range("attr.size as the kernel knows it", PERF_ATTR_SIZE_VER7,
		     sizeof(future) - 1, future.attr.size);
}

static void siblings(void)
{
	int leader = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	struct perf_event_attr attr;
	int fd, cpu;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.pinned = 1;
	expect_error("a pinned sibling", EINVAL, usual_open(&attr, leader));
	attr.pinned = 0;
	attr.exclusive = 1;
	expect_error("an exclusive sibling", EINVAL, usual_open(&attr, leader));
	attr.exclusive = 0;
	attr.inherit = 1;
	expect_error("a sibling that alone inherits", EINVAL,
		     usual_open(&attr, leader));
	attr.inherit = 0;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC_RAW;
	expect_error("a sibling with another clock", EINVAL,
		     usual_open(&attr, leader));
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	fd = usual_open(&attr, leader);
	expect_error("a sibling", 0, fd);
	expect_error("a sibling's sibling", EINVAL, usual_open(&attr, fd));
	close(fd);
	expect_error("a sibling on another CPU", EINVAL,
		     event_open(&attr, 0, 0, leader, 0));
	expect_error("a sibling of the CPU's", EINVAL,
		     event_open(&attr, -1, 0, leader, 0));
	cpu = event_open(&attr, -1, 0, -1, 0);
	expect_error("a leader of the CPU's", 0, cpu);
	expect_error("a task's sibling of the CPU's leader", EINVAL,
		     event_open(&attr, 0, 0, cpu, 0));
	close(cpu);
	event_is_exact(leader, 5000);
	close(leader);
}

static void sibling_of_another_task(void)
{
	int leader = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	struct perf_event_attr attr;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	expect_error("a sibling of another task", EINVAL,
		     event_open(&attr, child, -1, leader, 0));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	expect_error("a task that has ended", ESRCH,
		     event_open(&attr, child, -1, -1, 0));
	event_is_exact(leader, 5000);
	close(leader);
}

static void fd_flags(void)
{
	int leader = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	fd = event_open(&attr, 0, -1, leader, PERF_FLAG_FD_NO_GROUP);
	expect_error("PERF_FLAG_FD_NO_GROUP", 0, fd);
	if (fd >= 0) {
		/* No sibling: it counts though the leader does not. */
		event_is_exact(fd, 5000);
		close(fd);
	}
	expect_error("PERF_FLAG_FD_OUTPUT to an event without a buffer", EINVAL,
		     event_open(&attr, 0, -1, leader, PERF_FLAG_FD_OUTPUT));
	fd = event_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	expect_error("PERF_FLAG_FD_CLOEXEC", 0, fd);
	expect_eq("its close-on-exec flag", FD_CLOEXEC, fcntl(fd, F_GETFD));
	close(fd);
	expect_eq("an event's without it", 0, fcntl(leader, F_GETFD));
	close(leader);
}

static void ioctls_of_counting(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	u64 value = 1000;

	expect_error("REFRESH", EINVAL, control(fd, PERF_EVENT_IOC_REFRESH, 1));
	expect_error("PERIOD", EINVAL,
		     control(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&value));
	expect_error("PERIOD from nowhere", EFAULT,
		     control(fd, PERF_EVENT_IOC_PERIOD, -4096UL));
	expect_error("ID to nowhere", EFAULT,
		     control(fd, PERF_EVENT_IOC_ID, -4096UL));
	expect_error("SET_FILTER", EINVAL,
		     control(fd, PERF_EVENT_IOC_SET_FILTER,
			     (unsigned long)"pid == 1"));
	expect_error("SET_BPF with a descriptor that is no program", EINVAL,
		     control(fd, PERF_EVENT_IOC_SET_BPF, fd));
	expect_error("SET_BPF with no descriptor", EBADF,
		     control(fd, PERF_EVENT_IOC_SET_BPF, 9999));
	expect_error("QUERY_BPF", EINVAL,
		     control(fd, PERF_EVENT_IOC_QUERY_BPF,
			     (unsigned long)&value));
	expect_error("PAUSE_OUTPUT without a buffer", EINVAL,
		     control(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1));
	expect_error("an ioctl of perf's that does not exist", ENOTTY,
		     control(fd, _IO('$', 200), 0));
	expect_error("an ioctl of others", ENOTTY,
		     control(fd, _IO('x', 1), 0));
	event_is_exact(fd, 5000);
	close(fd);
}

static void modify_attributes(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	struct perf_event_attr attr;

	attr_init(&attr, ARCH_EVENT_CYCLES);
	expect_error("MODIFY_ATTRIBUTES of a hardware event", EOPNOTSUPP,
		     control(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
			     (unsigned long)&attr));
	attr.type++;
	expect_error("MODIFY_ATTRIBUTES to another type", EINVAL,
		     control(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
			     (unsigned long)&attr));
	event_is_exact(fd, 5000);
	close(fd);
}

static void set_output(void)
{
	int mine = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	struct perf_event_attr attr;
	struct ring ring;
	int cpu;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	cpu = event_open(&attr, -1, 0, -1, 0);
	expect_error("SET_OUTPUT to an event of a CPU", EINVAL,
		     control(mine, PERF_EVENT_IOC_SET_OUTPUT, cpu));
	expect_error("SET_OUTPUT to itself", EINVAL,
		     control(mine, PERF_EVENT_IOC_SET_OUTPUT, mine));
	expect_error("SET_OUTPUT to a descriptor that is no event", EBADF,
		     control(mine, PERF_EVENT_IOC_SET_OUTPUT, 0));
	expect_error("SET_OUTPUT to nowhere", EBADF,
		     control(mine, PERF_EVENT_IOC_SET_OUTPUT, 9999));
	expect_error("SET_OUTPUT to none", 0,
		     control(mine, PERF_EVENT_IOC_SET_OUTPUT, -1UL));
	if (!ring_map(&ring, mine, 1)) {
		expect_error("SET_OUTPUT of an event with a buffer", EINVAL,
			     control(mine, PERF_EVENT_IOC_SET_OUTPUT, -1UL));
		ring_unmap(&ring);
	}
	close(cpu);
	close(mine);
}

static void refresh_inherited(void)
{
	struct perf_event_attr attr;
	u64 value = 0;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = 100000;
	attr.inherit = 1;
	fd = event_open_self(&attr, -1);
	expect_error("REFRESH of an inherited event", EINVAL,
		     control(fd, PERF_EVENT_IOC_REFRESH, 1));
	expect_error("PERIOD of 0", EINVAL,
		     control(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&value));
	value = 1ULL << 63;
	expect_error("PERIOD of 2^63", EINVAL,
		     control(fd, PERF_EVENT_IOC_PERIOD, (unsigned long)&value));
	close(fd);
}

static int try_map(int fd, size_t length, int flags, off_t offset)
{
	void *at = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, fd,
			offset);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, length);
	return 0;
}

static void mappings(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr;
	struct ring ring;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = 100000;
	fd = event_open_self(&attr, -1);
	expect_error("a private mapping", EINVAL,
		     try_map(fd, 2 * page, MAP_PRIVATE, 0));
	expect_error("three data pages", EINVAL,
		     try_map(fd, 4 * page, MAP_SHARED, 0));
	expect_error("an offset before any buffer", EINVAL,
		     try_map(fd, page, MAP_SHARED, page));
	expect_error("an offset that is no page", EINVAL,
		     try_map(fd, page, MAP_SHARED, 100));
	expect_error("the first page alone", 0,
		     try_map(fd, page, MAP_SHARED, 0));
	if (!ring_map(&ring, fd, 2)) {
		expect_error("a second mapping of another size", EINVAL,
			     try_map(fd, 2 * page, MAP_SHARED, 0));
		expect_error("a second mapping of the same size", 0,
			     try_map(fd, 3 * page, MAP_SHARED, 0));
		expect_error("an offset without a trace buffer", EINVAL,
			     try_map(fd, page, MAP_SHARED, 3 * page));
		ring_unmap(&ring);
	}
	event_is_exact(fd, 5000);
	close(fd);

	attr.inherit = 1;
	fd = event_open_self(&attr, -1);
	expect_error("an inherited event of any CPU", EINVAL,
		     try_map(fd, 2 * page, MAP_SHARED, 0));
	close(fd);
}

static void reads_and_writes(void)
{
	int fd = event_open_user(ARCH_EVENT_INSTRUCTIONS, -1);
	u64 buffer[4];

	expect_error("a read of no bytes", ENOSPC,
		     read(fd, buffer, 0) < 0 ? -errno : 0);
	expect_error("a read of seven bytes", ENOSPC,
		     read(fd, buffer, 7) < 0 ? -errno : 0);
	expect_error("a read to nowhere", EFAULT,
		     read(fd, (void *)-4096L, 8) < 0 ? -errno : 0);
	expect_error("a write", EINVAL,
		     write(fd, buffer, 8) < 0 ? -errno : 0);
	expect_error("a seek", ESPIPE,
		     lseek(fd, 8, SEEK_SET) < 0 ? -errno : 0);
	event_is_exact(fd, 5000);
	close(fd);
}

static void inherit_group_read(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.inherit = 1;
	attr.read_format = PERF_FORMAT_GROUP;
	fd = usual_open(&attr, -1);
	expect_error("inherit with PERF_FORMAT_GROUP", 0, fd);
	if (fd >= 0)
		close(fd);
	attr.sample_period = 100000;
	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_TID;
	fd = usual_open(&attr, -1);
	/* Allowed since 6.12. */
	expect_error("inherit with PERF_SAMPLE_READ and PERF_SAMPLE_TID",
		     target.kernel < 612 ? EINVAL : 0, fd);
	if (fd >= 0)
		close(fd);
}

static void extended_types(void)
{
	struct perf_event_attr attr;
	int fd;

	if (target.in_tree && target.kernel < 612) {
		ktap_skip("%s does not know extended types", target.pmu);
		return;
	}
	attr_init_generic(&attr, (u64)target.type << 32 |
			  PERF_COUNT_HW_INSTRUCTIONS);
	fd = event_open_self(&attr, -1);
	if (fd >= 0) {
		event_is_exact(fd, 5000);
		close(fd);
	}
	attr.config = (u64)target.type << 32 | 1000;
	expect_error("a generic event that does not exist", EINVAL,
		     usual_open(&attr, -1));
	attr.config = (u64)target.type << 32 | ARCH_MISSING_GENERIC;
	expect_error("a generic event the CPU lacks", ENOENT,
		     usual_open(&attr, -1));
	attr.type = PERF_TYPE_HW_CACHE;
	attr.config = (u64)target.type << 32 | CACHE(0x77, 0, 0);
	expect_error("a cache that does not exist", EINVAL,
		     usual_open(&attr, -1));
	/* Perf core of 6.1 does not find the software PMU by its type. */
	attr.config = (u64)PERF_TYPE_TRACEPOINT << 32 | CACHE(0, 0, 0);
	expect_error("a cache event of the tracepoint PMU", ENOENT,
		     usual_open(&attr, -1));
}

static void missing_events(void)
{
	struct perf_event_attr attr;

	attr_init_generic(&attr, ARCH_MISSING_GENERIC);
	expect_error("a generic event", ENOENT, usual_open(&attr, -1));
	attr_init_generic(&attr, ARCH_MISSING_GENERIC_2);
	expect_error("another generic event", ENOENT, usual_open(&attr, -1));
	attr_init(&attr, CACHE(ARCH_MISSING_CACHE, PERF_COUNT_HW_CACHE_OP_READ,
			       PERF_COUNT_HW_CACHE_RESULT_ACCESS));
	attr.type = PERF_TYPE_HW_CACHE;
	expect_error("accesses to a cache", ENOENT, usual_open(&attr, -1));
}

/* An event number that the CPU does not announce may still exist. */
static void unannounced_event(void)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_UNKNOWN);
	fd = event_open_self(&attr, -1);
	if (fd < 0)
		return;
	expect_eq("its count", 0, event_count_loop(fd, 5000));
	close(fd);
}

/* Counters that the user space of one task reads, not of a whole CPU. */
static void user_access(void)
{
	struct perf_event_attr attr;
	char path[256];
	int error;

	if (!ARCH_CONFIG1_RDPMC) {
		ktap_skip("not asked for with an attribute here");
		return;
	}
	snprintf(path, sizeof(path),
		 "/sys/bus/event_source/devices/%s/format/rdpmc", target.pmu);
	error = access(path, R_OK) ? EOPNOTSUPP : EINVAL;
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.config1 = ARCH_CONFIG1_RDPMC;
	expect_error("user access to a CPU's event", error,
		     event_open(&attr, -1, 0, -1, 0));
	if (error == EOPNOTSUPP)
		expect_error("user access to a task's event", error,
			     usual_open(&attr, -1));
}

static void running_out_of_descriptors(void)
{
	struct rlimit old, few = { 16, 0 };
	struct perf_event_attr attr;
	int fds[32], nr = 0, i;

	getrlimit(RLIMIT_NOFILE, &old);
	few.rlim_max = old.rlim_max;
	setrlimit(RLIMIT_NOFILE, &few);
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	for (i = 0; i < 32; i++) {
		fds[nr] = usual_open(&attr, -1);
		if (fds[nr] < 0)
			break;
		nr++;
	}
	setrlimit(RLIMIT_NOFILE, &old);
	expect_eq("open with no descriptor left", -EMFILE, fds[nr]);
	close_all(fds, nr);
}

/* Run a check as user 1000 in a child; its results come back as text. */
static void unprivileged(void (*check)(void))
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		if (setgid(1000) || setuid(1000))
			_exit(2);
		check();
		fflush(stdout);
		_exit(ktap_failed());
	}
	waitpid(child, &status, 0);
	expect_eq("status of the child of user 1000", 0, status);
}

static void try_unprivileged(int user, int kernel, int cpu)
{
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	fd = usual_open(&attr, -1);
	expect_error("a user event", user, fd);
	if (fd >= 0) {
		event_is_exact(fd, 5000);
		close(fd);
	}
	attr.exclude_kernel = 0;
	fd = usual_open(&attr, -1);
	expect_error("a kernel event", kernel, fd);
	if (fd >= 0)
		close(fd);
	attr.exclude_kernel = 1;
	fd = event_open(&attr, -1, 0, -1, 0);
	expect_error("a CPU's event", cpu, fd);
	if (fd >= 0)
		close(fd);
}

static void check_paranoid_none(void)
{
	try_unprivileged(0, 0, 0);
}

static void check_paranoid_0(void)
{
	try_unprivileged(0, 0, 0);
}

static void check_paranoid_1(void)
{
	try_unprivileged(0, 0, EACCES);
}

static void check_paranoid_2(void)
{
	struct perf_event_attr attr;

	try_unprivileged(0, EACCES, EACCES);
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	expect_error("an event on another user's task", EACCES,
		     event_open(&attr, getppid(), -1, -1, 0));
	attr.namespaces = 1;
	expect_error("namespaces", EACCES, usual_open(&attr, -1));
	attr.namespaces = 0;
	attr.sample_type = PERF_SAMPLE_PHYS_ADDR;
	expect_error("physical addresses", EACCES, usual_open(&attr, -1));
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY |
				  PERF_SAMPLE_BRANCH_KERNEL;
	expect_error("kernel branches", EACCES, usual_open(&attr, -1));
	attr_init_generic(&attr, PERF_COUNT_HW_CPU_CYCLES);
	attr.exclude_kernel = 0;
	expect_error("generic kernel cycles", EACCES, usual_open(&attr, -1));
}

/* Debian's kernels know more than upstream's 2. */
static void check_paranoid_3(void)
{
	try_unprivileged(EACCES, EACCES, EACCES);
}

static void check_mlock(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	struct rlimit limit = { 0, 0 };
	struct perf_event_attr attr;
	int fd;

	setrlimit(RLIMIT_MEMLOCK, &limit);
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.sample_period = 100000;
	fd = event_open_self(&attr, -1);
	expect_error("a small buffer", 0,
		     try_map(fd, 9 * page, MAP_SHARED, 0));
	expect_error("a buffer above perf_event_mlock_kb", EPERM,
		     try_map(fd, 1025 * page, MAP_SHARED, 0));
	close(fd);
}

static void with_paranoia(int level, void (*check)(void))
{
	static const char path[] = "/proc/sys/kernel/perf_event_paranoid";
	long before = read_number(path);

	if (write_number(path, level)) {
		ktap_fail("%s: expected to write %d", path, level);
		return;
	}
	unprivileged(check);
	write_number(path, before);
	pmu_is_exact(5000);
}

static void paranoid_none(void)
{
	with_paranoia(-1, check_paranoid_none);
}

static void paranoid_0(void)
{
	with_paranoia(0, check_paranoid_0);
}

static void paranoid_1(void)
{
	with_paranoia(1, check_paranoid_1);
}

static void paranoid_2(void)
{
	with_paranoia(2, check_paranoid_2);
}

static void paranoid_3(void)
{
	with_paranoia(3, check_paranoid_3);
}

static void paranoid_4(void)
{
	with_paranoia(4, check_paranoid_3);
}

static void mlock_limit(void)
{
	with_paranoia(2, check_mlock);
}

static const struct ktap_case cases[] = {
	{ "attributes nowhere", attr_nowhere },
	{ "attributes of the future", attr_of_the_future },
	{ "siblings that cannot be", siblings },
	{ "a sibling of another task", sibling_of_another_task },
	{ "flags of descriptors", fd_flags },
	{ "ioctls of a counting event", ioctls_of_counting },
	{ "MODIFY_ATTRIBUTES", modify_attributes },
	{ "SET_OUTPUT", set_output },
	{ "REFRESH and PERIOD of an inherited event", refresh_inherited },
	{ "mmap", mappings },
	{ "read, write and seek", reads_and_writes },
	{ "inherit and group reads", inherit_group_read },
	{ "generic events with a PMU's type", extended_types },
	{ "generic events that the CPU lacks", missing_events },
	{ "an event number the CPU does not announce", unannounced_event },
	{ "user access to counters", user_access },
	{ "no descriptor left", running_out_of_descriptors },
	{ "perf_event_paranoid -1", paranoid_none },
	{ "perf_event_paranoid 0", paranoid_0 },
	{ "perf_event_paranoid 1", paranoid_1 },
	{ "perf_event_paranoid 2", paranoid_2 },
	{ "perf_event_paranoid 3", paranoid_3 },
	{ "perf_event_paranoid 4", paranoid_4 },
	{ "perf_event_mlock_kb", mlock_limit },
};

int main(int argc, char **argv)
{
	unsigned int i;

	target_init(argc, argv);
	ktap_plan(ARRAY_SIZE(open_cases) + ARRAY_SIZE(cases));
	for (i = 0; i < ARRAY_SIZE(open_cases); i++)
		run_open_case(&open_cases[i]);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ktap_begin("%s", cases[i].name);
		cases[i].run();
		pmu_is_exact(5000);
		ktap_end();
	}
	return ktap_status();
}
