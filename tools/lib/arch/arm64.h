/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arm64.h - virtual PMUs that are a PMUv3: six event counters and a cycle counter
 *
 * In the exact lane QEMU's own PMU counts instructions as cycles. arm64-pmu adds one for each
 * branch; only arm64-pmu has an event for branches.
 */
#ifndef ARCH_ARM64_H
#define ARCH_ARM64_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/auxv.h>
#include <sys/klog.h>
#include <asm/hwcap.h>

#define ARCH_EVENT_CYCLES	0x11
#define ARCH_EVENT_INSTRUCTIONS	0x08
/* BR_RETIRED, which QEMU's own PMU lacks */
#define ARCH_EVENT_BRANCHES	0x21
/* An event for any event counter that counts only writes to PMSWINC_EL0: it stays 0 */
#define ARCH_EVENT_SILENT	0x00
/* The cycle counter has 64 bits, and no interrupt at 2^32. */
#define ARCH_WIDE_CYCLES	true
/* An event number that PMCEID*_EL0 do not list */
#define ARCH_EVENT_UNKNOWN	0x3ff
/* A generic event that the virtual CPUs lack */
#define ARCH_MISSING_GENERIC	PERF_COUNT_HW_BUS_CYCLES
#define ARCH_MISSING_GENERIC_2	PERF_COUNT_HW_REF_CPU_CYCLES
/* A PERF_TYPE_HW_CACHE event that the virtual CPUs lack */
#define ARCH_MISSING_CACHE	PERF_COUNT_HW_CACHE_LL
/* attr.config1: the event needs a counter of 64 bits. */
#define ARCH_CONFIG1_LONG	1ULL
/* attr.config1: the event requests reads by user space. */
#define ARCH_CONFIG1_RDPMC	2ULL
/* errno of the PMU for exclude_idle, which it cannot honour */
#define ARCH_EXCLUDE_IDLE	(-EOPNOTSUPP)
#define ARCH_SENSELESS_EVENT	(-ENOENT)
/* The PMU's line in /proc/interrupts */
#define ARCH_INTERRUPTS		"corepmu"
/* The file by which the administrator allows user-space reads */
#define ARCH_USER_READ_FILE	"/proc/sys/kernel/perf_user_access"
/* Signal of a read that is not allowed */
#define ARCH_USER_READ_SIGNAL	SIGILL
#define ARCH_DEFAULT_PMU	"corepmu"

#define ARCH_KNOWN_LOOP		KNOWN_LOOP("subs x0, x0, #1", "b.ne 1b", "ret")
#define ARCH_SLOW_LOOP		SLOW_LOOP("mul x1, x1, x1", "subs x0, x0, #1", "b.ne 1b", "ret")

static inline bool arch_has_event(const char *pmu, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/events/%s", pmu, name);
	return !access(path, F_OK);
}

static inline unsigned int arch_loop_cycles(const char *pmu)
{
	return arch_has_event(pmu, "br_retired") ? 3 : 2;
}

/* Programs cannot read the register that has the number of counters. */
static inline unsigned int arch_listed_counters(void)
{
	return 0;
}

static inline bool arch_lacks_cycles(void)
{
	return false;
}

/*
 * Difference between two equal calls of fork() or pthread_create(), in instructions: without
 * single-instruction atomics an interrupt makes them retry.
 */
static inline unsigned int arch_libc_slack(void)
{
	return getauxval(AT_HWCAP) & HWCAP_ATOMICS ? 0 : 64;
}

/*
 * Difference between the kernel counts of two events in one group, if their counters do not start
 * and stop with one write.
 */
static inline unsigned int arch_group_slack(void)
{
	return 0;
}

/*
 * Check for event counters of 64 bits. Without them a 64-bit event needs two chained counters, and
 * QEMU has no CHAIN event.
 */
static inline bool arch_long_counters(void)
{
	return getauxval(AT_HWCAP2) & HWCAP2_FRINT;
}

/* Return the width of an event's counter in user space, in bits. */
static inline unsigned int arch_user_width(bool is_long)
{
	return is_long ? 64 : 32;
}

/* Counters that user space may try to read */
static const unsigned int arch_user_counters[] = { 0, 1, 2, 3, 4, 5, 31 };

static inline struct arch_level arch_kernel_level(void)
{
	static char log[1 << 20];
	int len = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof(log) - 1);

	log[len < 0 ? 0 : len] = '\0';
	if (!strstr(log, "started at EL2"))
		return (struct arch_level) { "at EL1", false };
	if (strstr(log, "Virtualization Host Extensions"))
		return (struct arch_level) { "at EL2", false };
	return (struct arch_level) { "at EL1, EL2 its own", true };
}

static inline struct arch_counters arch_counters(void)
{
	return (struct arch_counters) {
		.instructions	= 6,
		.cycles		= 7,
		.all		= 7,
		.branches	= 6,
	};
}

#endif /* ARCH_ARM64_H */
