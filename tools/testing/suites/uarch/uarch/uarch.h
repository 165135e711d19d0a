/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uarch.h - what the suite "uarch" knows of microarchitectures
 */
#ifndef UARCH_H
#define UARCH_H

#include "perf_util.h"

/* As struct target has it */
#define LINUX_7		700

#define UARCH_DEVICES	"/sys/bus/event_source/devices/"

/* Events of a group, at most: one more than the largest PMU here has counters */
#define GROUP_MAX	13

/**
 * enum uarch_precision - how near two counts of the same are
 * @UARCH_EXACT: they are the same
 * @UARCH_HALVES: of every other cycle, of which one may be left over from before
 * @UARCH_MISSES: of cache misses: what is in the cache before is not known
 */
enum uarch_precision {
	UARCH_EXACT,
	UARCH_HALVES,
	UARCH_MISSES,
};

/**
 * struct uarch_event - an event of the PMU's own
 * @name: what perf calls it
 * @config: its number
 * @precision: how near two counts of the same are
 * @refused: corepmu refuses it, with this error and a reason in the kernel's log; 0 if it
 *	counts
 * @since: the kernel's own driver knows it from this kernel on, as struct target has it; 0 if
 *	always
 */
struct uarch_event {
	const char *name;
	u64 config;
	enum uarch_precision precision;
	int refused;
	unsigned int since;
};

#define EVENT(name, config)		{ name, config, UARCH_EXACT, 0, 0 }
#define MISSES(name, config)		{ name, config, UARCH_MISSES, 0, 0 }
#define HALVES(name, config)		{ name, config, UARCH_HALVES, 0, 0 }
#define REFUSED(name, config, error)	{ name, config, UARCH_EXACT, error, 0 }
#define SINCE(name, config, kernel)	{ name, config, UARCH_EXACT, 0, kernel }

/**
 * struct uarch_group - events that are to count at the same time
 * @name: what is peculiar to them
 * @fits: there are counters for all of them
 * @events: their numbers, up to the first 0
 */
struct uarch_group {
	const char *name;
	bool fits;
	u64 events[GROUP_MAX + 1];
};

struct uarch_events {
	const struct uarch_event *rows;
	unsigned int nr;
};

struct uarch_groups {
	const struct uarch_group *rows;
	unsigned int nr;
};

/* Events with an extra register, in a group: no more are needed */
#define EXTRA_REG_EVENTS_MAX	7

/**
 * struct uarch_extra_reg - events with an extra register, that are to count at the same time
 * @name: what is peculiar to them
 * @error: what the last of them is refused with, 0 if all count
 * @counts: they count something
 * @events: their numbers, and values of the extra register, up to the first without a number
 */
struct uarch_extra_reg {
	const char *name;
	int error;
	bool counts;
	struct {
		u64 config;
		u64 config1;
	} events[EXTRA_REG_EVENTS_MAX + 1];
};

enum uarch_extra_reg_lists {
	UARCH_EXTRA_REGS_NONE,
	UARCH_EXTRA_REGS_HASWELL,
	UARCH_EXTRA_REGS_SKYLAKE,
	UARCH_EXTRA_REGS_GOLDEN_COVE,
	UARCH_EXTRA_REGS_LION_COVE,
	UARCH_EXTRA_REGS_GRACEMONT,
};

#define UARCH_LISTS	2

/**
 * struct uarch - a microarchitecture
 * @name: of the model of the virtual PMU
 * @family: CPUID's, with the extended one
 * @model: CPUID's, with the extended one
 * @other_model: another CPU of the same microarchitecture, or 0
 * @kind: the end of its PMUs' names where CPUs are of several kinds, NULL elsewhere
 * @cpu: one of that kind
 * @nameless: a generic cache event, as perf_event_attr.config has it, for which the kernel
 *	has a number that perf's events do not name: corepmu has none; 0 if there is no such
 * @corrected: before Linux 7 the kernel's own driver has the values of other CPUs for generic
 *	events of the last cache and of the node, which perf's events contradict
 * @events: events that count something in uarch_work(): those of several, and its own
 * @groups: groups of them
 * @extra_regs: events with an extra register
 */
struct uarch {
	const char *name;
	unsigned int family;
	unsigned int model;
	unsigned int other_model;
	const char *kind;
	unsigned int cpu;
	u64 nameless;
	bool corrected;
	struct uarch_events events[UARCH_LISTS];
	struct uarch_groups groups[UARCH_LISTS];
	enum uarch_extra_reg_lists extra_regs;
};

void uarch_names(const char *own, const char *ours);
bool uarch_extra_reg_get(const struct uarch *uarch, unsigned int index,
			 struct uarch_extra_reg *extra_reg);

/* Up to the first without a name */
extern const struct uarch uarch_intel[], uarch_amd[];

#endif /* UARCH_H */
