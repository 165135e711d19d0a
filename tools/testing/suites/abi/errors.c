// SPDX-License-Identifier: GPL-2.0-only
/*
 * errors.c - events that perf_event_open(2) leaves to the driver, and that corepmu rejects: bits
 * that no format names, features and events that the CPU lacks. pmu-validate has the errors of the
 * ABI.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "perf_util.h"

/* An entry of the table starts from the usual attributes and overrides some. */
#pragma GCC diagnostic ignored "-Woverride-init"

/* Stands for the type of the PMU under test, which is known at run time. */
#define OWN_TYPE	0xfffffff0U

#define OPEN(...)							\
	.attr = {							\
		.type = OWN_TYPE,					\
		.size = sizeof(struct perf_event_attr),			\
		.config = ARCH_EVENT_INSTRUCTIONS,			\
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,	\
		__VA_ARGS__						\
	}

/* PERF_TYPE_HW_CACHE: config is the cache, the operation and its result. */
#define CACHE(id, op, result)	((id) | (op) << 8 | (result) << 16)

/* The case is for PMUs without branch records. */
#define NO_RECORDS		1
/* The case is for PMUs whose samples have skid. */
#define NO_PRECISE		2
/* The case is for PMUs with precise samples. */
#define PRECISE			4

static const struct open_case {
	const char *what;
	int error;
	unsigned int flags;
	struct perf_event_attr attr;
} open_cases[] = {
	{ "config with bits that no format names", EINVAL, 0,
	  OPEN(.config = 1ULL << 40 | ARCH_EVENT_INSTRUCTIONS) },
	{ "config with bit 60", EINVAL, 0, OPEN(.config = 1ULL << 60 | ARCH_EVENT_INSTRUCTIONS) },
	{ "config with all bits set", EINVAL, 0, OPEN(.config = ~0ULL) },
	{ "config1 with bits that no format names", EINVAL, 0, OPEN(.config1 = 1ULL << 40) },
	{ "config2 set", EINVAL, 0, OPEN(.config2 = 1) },
	{ "precise_ip 1", EOPNOTSUPP, NO_PRECISE,
	  OPEN(.precise_ip = 1, .sample_period = 100000) },
	{ "precise_ip 2", EOPNOTSUPP, NO_PRECISE,
	  OPEN(.precise_ip = 2, .sample_period = 100000) },
	{ "precise_ip 3", EOPNOTSUPP, NO_PRECISE,
	  OPEN(.precise_ip = 3, .sample_period = 100000) },
	{ "exclude_idle", -ARCH_EXCLUDE_IDLE, 0, OPEN(.exclude_idle = 1) },
	{ "PERF_SAMPLE_BRANCH_STACK without branch records", EOPNOTSUPP, NO_RECORDS,
	  OPEN(.sample_type = PERF_SAMPLE_BRANCH_STACK,
	       .branch_sample_type = PERF_SAMPLE_BRANCH_ANY |
				     PERF_SAMPLE_BRANCH_USER,
	       .sample_period = 100000) },
	{ "branch predictor writes, which no CPU counts", -ARCH_SENSELESS_EVENT, 0,
	  OPEN(.type = PERF_TYPE_HW_CACHE,
	       .config = CACHE(PERF_COUNT_HW_CACHE_BPU, PERF_COUNT_HW_CACHE_OP_WRITE, 0)) },
	{ "node-prefetch-misses, which no CPU type counts", ENOENT, 0,
	  OPEN(.type = PERF_TYPE_HW_CACHE,
	       .config = CACHE(PERF_COUNT_HW_CACHE_NODE,
			       PERF_COUNT_HW_CACHE_OP_PREFETCH,
			       PERF_COUNT_HW_CACHE_RESULT_MISS)) },
#if defined(__aarch64__)
	{ "CHAIN, which counts nothing on its own", EINVAL, 0, OPEN(.config = 0x1e) },
	{ "a threshold where the CPU has none", EINVAL, 0, OPEN(.config1 = 1 << 5) },
#elif defined(__x86_64__)
	{ "AnyThread, bit 21 of config", EINVAL, 0,
	  OPEN(.config = 1 << 21 | ARCH_EVENT_INSTRUCTIONS) },
	{ "pin control, bit 19 of config", EINVAL, 0,
	  OPEN(.config = 1 << 19 | ARCH_EVENT_INSTRUCTIONS) },
	{ "bit 36 of config, between those of any CPU", EINVAL, 0,
	  OPEN(.config = 1ULL << 36 | ARCH_EVENT_INSTRUCTIONS) },
	{ "the guest-only bit of config", EINVAL, 0,
	  OPEN(.config = 1ULL << 41 | ARCH_EVENT_INSTRUCTIONS) },
	{ "bit 62 of config; bit 63 is ignored", EINVAL, 0,
	  OPEN(.config = 1ULL << 62 | ARCH_EVENT_INSTRUCTIONS) },
	{ "an off-core response in config1", EINVAL, 0, OPEN(.config1 = 0x10001) },
	{ "precise_ip of a counting event, without precise samples", EOPNOTSUPP,
	  NO_PRECISE,
	  OPEN(.precise_ip = 1) },
	{ "precise_ip of a counting event", EINVAL, PRECISE, OPEN(.precise_ip = 1) },
	{ "sample_regs_user with segment registers", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_REGS_USER,
	       .sample_regs_user = 0xf << 12) },
	{ "sample_regs_intr with a segment register", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_REGS_INTR,
	       .sample_regs_intr = 1 << 15) },
	{ "sample_regs_intr with a bit that has no register", EINVAL, 0,
	  OPEN(.sample_type = PERF_SAMPLE_REGS_INTR,
	       .sample_regs_intr = 1 << 24) },
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
	{ "the user's USR, OS, INT and EN bits, which have no effect", 0, 0,
	  OPEN(.config = 1 << 16 | 1 << 17 | 1 << 20 | 1 << 22 |
			 ARCH_EVENT_INSTRUCTIONS) },
#endif
};

static void run_open_case(const struct open_case *c)
{
	struct perf_event_attr attr = c->attr;
	int fd;

	ktap_begin("%s: %s", c->what, c->error ? strerror(c->error) : "accepted");
	if (attr.type == OWN_TYPE)
		attr.type = target.type;
	fd = event_open(&attr, 0, -1, -1, 0);
	if ((c->flags & NO_RECORDS && branch_records()) ||
	    (c->flags & NO_PRECISE && max_precise()) || (c->flags & PRECISE && !max_precise()))
		ktap_skip("%s answers %s", target.pmu, fd < 0 ? strerror(-fd) : "with a descriptor");
	else
		expect_eq("error of perf_event_open(2)", -c->error, fd < 0 ? fd : 0);
	if (fd >= 0)
		close(fd);
	pmu_is_exact(5000);
	ktap_end();
}

static void expect_missing(const char *what, u64 type, u64 config)
{
	struct perf_event_attr attr;

	attr_init(&attr, config);
	attr.type = type;
	expect_eq(what, -ENOENT, event_open(&attr, 0, -1, -1, 0));
}

static void missing_events(void)
{
	expect_missing("a generic event", PERF_TYPE_HARDWARE, ARCH_MISSING_GENERIC);
	expect_missing("another generic event", PERF_TYPE_HARDWARE, ARCH_MISSING_GENERIC_2);
	expect_missing("a generic event with the PMU's type", PERF_TYPE_HARDWARE,
		       (u64)target.type << 32 | ARCH_MISSING_GENERIC);
	expect_missing("accesses to a cache", PERF_TYPE_HW_CACHE,
		       CACHE(ARCH_MISSING_CACHE, PERF_COUNT_HW_CACHE_OP_READ,
			     PERF_COUNT_HW_CACHE_RESULT_ACCESS));
	/* Perf core of Linux 6.1 does not find the software PMU by its type. */
	expect_missing("a cache event of the tracepoint PMU", PERF_TYPE_HW_CACHE,
		       (u64)PERF_TYPE_TRACEPOINT << 32);
}

/* The CPU may count an event that its identification registers do not list. */
static void unannounced_event(void)
{
	int fd = event_open_user(ARCH_EVENT_UNKNOWN, -1);

	if (fd < 0)
		return;
	expect_eq("its count", 0, event_count_loop(fd, 5000));
	close(fd);
}

/* User space can read the counters of one task, not those of a whole CPU. */
static void user_access(void)
{
	struct perf_event_attr attr;
	char path[256];
	int error;

	if (!ARCH_CONFIG1_RDPMC) {
		ktap_skip("this architecture has no attribute for user-space reads");
		return;
	}
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/format/rdpmc", target.pmu);
	error = access(path, R_OK) ? EOPNOTSUPP : EINVAL;
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.config1 = ARCH_CONFIG1_RDPMC;
	expect_eq("user access to a CPU's event", -error, event_open(&attr, -1, 0, -1, 0));
	if (error == EOPNOTSUPP)
		expect_eq("user access to a task's event", -error, event_open(&attr, 0, -1, -1, 0));
}

static const struct ktap_case cases[] = {
	{ "generic events that the CPU lacks are refused", missing_events },
	{ "an event number that the CPU does not announce counts nothing", unannounced_event },
	{ "user access to counters of a CPU is refused", user_access },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	ktap_plan(ARRAY_SIZE(open_cases) + ARRAY_SIZE(cases));
	for (unsigned int i = 0; i < ARRAY_SIZE(open_cases); i++)
		run_open_case(&open_cases[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++)
		ktap_run_case(&cases[i]);
	return ktap_status();
}
