/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * uarch.h - the suite "uarch": its microarchitectures
 */
#ifndef UARCH_H
#define UARCH_H

#include "perf_util.h"

/* A version as in struct target */
#define LINUX_7		700

#define UARCH_DEVICES	"/sys/bus/event_source/devices/"

/* Maximum number of events in a group: one more than the largest PMU here has counters */
#define GROUP_MAX	13

/**
 * enum uarch_precision - how close two counts of the same work are
 * @UARCH_EXACT: equal
 * @UARCH_REMAINDER: differ by one at most. The counter counts a fraction of the occurrences, and a
 *	task switch loses the remainder
 * @UARCH_MISSES: cache misses, which depend on the earlier contents
 */
enum uarch_precision {
	UARCH_EXACT,
	UARCH_REMAINDER,
	UARCH_MISSES,
};

/**
 * struct uarch_event - a model-specific event
 * @name: its name in perf
 * @config: its number
 * @precision: how close two counts of the same work are
 * @refused: errno with which corepmu rejects it, with a reason in the kernel's log; 0 if it
 *	counts
 * @since: first kernel whose built-in driver knows it, as in struct target; 0 for all
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
#define HALVES(name, config)		{ name, config, UARCH_REMAINDER, 0, 0 }
#define REFUSED(name, config, error)	{ name, config, UARCH_EXACT, error, 0 }
#define SINCE(name, config, kernel)	{ name, config, UARCH_EXACT, 0, kernel }

/**
 * struct uarch_group - events to count at the same time
 * @name: what is special about them
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

/* An array as struct uarch_events or struct uarch_groups */
#define LIST(rows)		{ rows, sizeof(rows) / sizeof((rows)[0]) }

/* Maximum number of events with an extra register in a group */
#define EXTRA_REG_EVENTS_MAX	7

/**
 * struct uarch_extra_reg - events with an extra register, to count at the same time
 * @name: what is special about them
 * @error: errno with which the last of them is rejected, 0 if all count
 * @counts: they count something
 * @events: their numbers and extra register values, up to the first without a number
 * @precision: how close two counts of the same work are
 */
struct uarch_extra_reg {
	const char *name;
	int error;
	bool counts;
	struct {
		u64 config;
		u64 config1;
	} events[EXTRA_REG_EVENTS_MAX + 1];
	enum uarch_precision precision;
};

enum uarch_extra_reg_lists {
	UARCH_EXTRA_REGS_NONE,
	UARCH_EXTRA_REGS_HASWELL,
	UARCH_EXTRA_REGS_SKYLAKE,
	UARCH_EXTRA_REGS_GOLDEN_COVE,
	UARCH_EXTRA_REGS_REDWOOD_COVE,
	UARCH_EXTRA_REGS_LION_COVE,
	UARCH_EXTRA_REGS_GRACEMONT,
	UARCH_EXTRA_REGS_CRESTMONT,
};

#define UARCH_LISTS	2

/**
 * struct uarch - a microarchitecture
 * @name: model of the virtual PMU
 * @family: CPUID's family, with the extended one
 * @model: CPUID's model, with the extended one
 * @others: models of other CPUs of the same microarchitecture, or 0
 * @kind: suffix of its PMUs' names on a hybrid machine, else NULL
 * @cpu: a CPU of that type
 * @nameless: a generic cache event (perf_event_attr.config) for which the kernel has an event
 *	number that perf's event lists lack, so corepmu lacks it, too; 0 if there is none
 * @corrected: before Linux 7 the built-in driver has other CPUs' values for generic events
 *	of the last-level cache and the node, which perf's events contradict
 * @events: events that count something in uarch_work(): common ones and its own
 * @groups: groups of them
 * @extra_regs: events with an extra register
 */
struct uarch {
	const char *name;
	unsigned int family;
	unsigned int model;
	unsigned int others[2];
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

/* Tables of microarchitectures; a row without a name ends each */
extern const struct uarch uarch_intel[], uarch_amd[], uarch_zhaoxin[];

#endif /* UARCH_H */
