/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arch-arm64.h - virtual PMUs that are a PMUv3: six event counters and one for cycles
 *
 * Cycles of the exact lane are instructions where the PMU is QEMU's own, and instructions
 * and, once more, branches where it is arm64-pmu, the one that has an event for them.
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
/* BR_RETIRED, which QEMU's own PMU does not have */
#define ARCH_EVENT_BRANCHES	0x21
/* Schedules on any event counter, never counts unless software says so. */
#define ARCH_EVENT_SILENT	0x00
/* The cycle counter has 64 bits, and does not interrupt when it wraps. */
#define ARCH_WIDE_CYCLES	true
/* A number that the CPU does not announce. */
#define ARCH_EVENT_UNKNOWN	0x3ff
/* Generic events that the virtual CPUs do not have. */
#define ARCH_MISSING_GENERIC	PERF_COUNT_HW_BUS_CYCLES
#define ARCH_MISSING_GENERIC_2	PERF_COUNT_HW_REF_CPU_CYCLES
/* Of PERF_TYPE_HW_CACHE, likewise. */
#define ARCH_MISSING_CACHE	PERF_COUNT_HW_CACHE_LL
/* attr.config1: the event wants a counter of 64 bits. */
#define ARCH_CONFIG1_LONG	1ULL
/* attr.config1: user space wants to read the counter. */
#define ARCH_CONFIG1_RDPMC	2ULL
/* First bit of sample_regs_* that the architecture does not define. */
#define ARCH_BAD_REGS		(1ULL << 63)
/* What events of the PMU give for exclude_idle, which has no meaning for them. */
#define ARCH_EXCLUDE_IDLE	(-EOPNOTSUPP)
#define ARCH_SENSELESS_EVENT	(-ENOENT)
/* The PMU's line in /proc/interrupts. */
#define ARCH_INTERRUPTS		"corepmu"
/* What the administrator lets user space read counters with. */
#define ARCH_USER_READ_FILE	"/proc/sys/kernel/perf_user_access"
/* What a counter that may not be read answers with. */
#define ARCH_USER_READ_SIGNAL	SIGILL
#define ARCH_DEFAULT_PMU	"corepmu"

#define ARCH_KNOWN_LOOP							\
	asm(".pushsection .text\n"					\
	    "	.global	known_loop, known_loop_start, known_loop_end\n"	\
	    "	.type	known_loop, %function\n"			\
	    "	.balign	64\n"						\
	    "known_loop:\n"						\
	    "known_loop_start:\n"					\
	    "1:	subs	x0, x0, #1\n"					\
	    "	b.ne	1b\n"						\
	    "known_loop_end:\n"						\
	    "	ret\n"							\
	    "	.size	known_loop, . - known_loop\n"			\
	    ".popsection")

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

/*
 * Instructions by which two equal calls of fork() or pthread_create() may
 * differ: without single-instruction atomics an interrupt makes them retry.
 */
static inline unsigned int arch_libc_slack(void)
{
	return getauxval(AT_HWCAP) & HWCAP_ATOMICS ? 0 : 64;
}

/*
 * Counts of the kernel by which events of one group may differ, where their
 * counters do not start and stop with one write.
 */
static inline unsigned int arch_group_slack(void)
{
	return 0;
}

/*
 * Whether event counters have 64 bits. Where they do not, a 64-bit event
 * needs two chained ones, and QEMU has no CHAIN event.
 */
static inline bool arch_long_counters(void)
{
	return getauxval(AT_HWCAP2) & HWCAP2_FRINT;
}

/* Bits that user space sees of an event's counter. */
static inline unsigned int arch_user_width(bool is_long)
{
	return is_long ? 64 : 32;
}

/* Counters that user space may ask for. */
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
