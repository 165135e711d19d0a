// SPDX-License-Identifier: GPL-2.0-only
/*
 * open.c - attributes that perf_event_open(2) rejects, one per line
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "errors.h"

/* An entry of the table starts from the usual attributes and overrides some. */
#pragma GCC diagnostic ignored "-Woverride-init"

/* Stands for the type of the PMU under test, which is known at run time. */
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

/* corepmu must reject the case; the built-in driver may answer anything. */
#define OURS_ONLY		1
/* The case is for PMUs without branch records. */
#define NO_RECORDS		2
/* The case is for PMUs whose samples have skid. */
#define NO_PRECISE		4
/* The case is for PMUs with precise samples. */
#define PRECISE			8

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
	{ "precise_ip 1", EOPNOTSUPP, OURS_ONLY | NO_PRECISE,
	  OPEN(.precise_ip = 1, .sample_period = 100000) },
	{ "precise_ip 2", EOPNOTSUPP, OURS_ONLY | NO_PRECISE,
	  OPEN(.precise_ip = 2, .sample_period = 100000) },
	{ "precise_ip 3", EOPNOTSUPP, OURS_ONLY | NO_PRECISE,
	  OPEN(.precise_ip = 3, .sample_period = 100000) },
	{ "exclude_idle", -ARCH_EXCLUDE_IDLE, 0,
	  OPEN(.exclude_idle = 1) },
	{ "PERF_SAMPLE_BRANCH_STACK without branch records", EOPNOTSUPP, NO_RECORDS,
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
	{ "a threshold where the CPU has none", EINVAL, OURS_ONLY,
	  OPEN(.config1 = 1 << 5) },
#elif defined(__x86_64__)
	{ "AnyThread, bit 21 of config", EINVAL, OURS_ONLY,
	  OPEN(.config = 1 << 21 | ARCH_EVENT_INSTRUCTIONS) },
	{ "pin try_ioctl, bit 19 of config", EINVAL, OURS_ONLY,
	  OPEN(.config = 1 << 19 | ARCH_EVENT_INSTRUCTIONS) },
	{ "bit 36 of config, between those of any CPU", EINVAL, OURS_ONLY,
	  OPEN(.config = 1ULL << 36 | ARCH_EVENT_INSTRUCTIONS) },
	{ "the guest-only bit of config", EINVAL, OURS_ONLY,
	  OPEN(.config = 1ULL << 41 | ARCH_EVENT_INSTRUCTIONS) },
	{ "the highest bit of config", EINVAL, OURS_ONLY,
	  OPEN(.config = 1ULL << 63 | ARCH_EVENT_INSTRUCTIONS) },
	{ "an off-core response in config1", EINVAL, OURS_ONLY,
	  OPEN(.config1 = 0x10001) },
	{ "precise_ip of a counting event, without precise samples", EOPNOTSUPP,
	  OURS_ONLY | NO_PRECISE,
	  OPEN(.precise_ip = 1) },
	{ "precise_ip of a counting event", EINVAL, PRECISE,
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
	silent = (c->flags & OURS_ONLY && target.in_tree) ||
		 (c->flags & NO_RECORDS && branch_records()) ||
		 (c->flags & NO_PRECISE && max_precise()) ||
		 (c->flags & PRECISE && !max_precise());
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

unsigned int errors_open_cases(void)
{
	return ARRAY_SIZE(open_cases);
}

void errors_run_open_cases(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(open_cases); i++)
		run_open_case(&open_cases[i]);
}
