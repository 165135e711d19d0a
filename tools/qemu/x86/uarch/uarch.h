/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Microarchitectures: what a PMU that is sold has beyond the version of its registers.
 * Which CPUs it is in, events with numbers of their own, and which of its counters
 * count which events.
 */
#ifndef TOOLS_QEMU_X86_UARCH_H
#define TOOLS_QEMU_X86_UARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "x86/registers/events.h"
#include "x86/registers/model.h"
#include "x86/registers/extra-regs.h"

/**
 * struct x86_uarch_models - CPUs that are told by CPUID leaf 1
 * @family: family, with the extended one
 * @first: model, with the extended one
 * @last: the last of a row of models
 */
struct x86_uarch_models {
	uint16_t family;
	uint8_t first;
	uint8_t last;
};

/**
 * struct x86_uarch_rule - general-purpose counters that events can be counted on
 * @first: the event's number
 * @last: the last of a row of numbers, 0 if there is one alone
 * @umask: the unit mask, X86_PMU_ANY_UMASK if it is not looked at
 * @counters: a bit for each counter; none: it is no event of this microarchitecture
 */
struct x86_uarch_rule {
	uint16_t first;
	uint16_t last;
	int16_t umask;
	uint32_t counters;
};

#define X86_UARCH_MODELS_MAX	6

/**
 * struct x86_uarch - a microarchitecture
 * @name: what the user calls it
 * @version: of its registers
 * @gp: how many general-purpose counters a CPU has that runs several threads
 * @fixed: which fixed-function counters
 * @core_type: of its CPUs in a machine that has several kinds, X86_PMU_CORE_*
 * @other: the other kind there; NULL if there is none
 * @unreported: counters that CPUID leaf 0xa does not tell of where the other kind is there, as it
 *	does not have them; by their bits in the global registers
 * @any_thread: events can be counted of all threads of a core
 * @nr_metrics: metrics that it divides its slots into: 4 are level 1, 8 level 2 too
 * @lbr: its branch records
 * @pebs: the format of its precise samples, 0 if the model has none of them
 * @pebs_latencies: these tell the latency of stores, and of the cache apart
 * @ibs: it has instruction-based sampling
 * @merges: two adjacent counters make one for events that happen often in a cycle
 * @models: CPUs it is in, up to the first without a family
 * @events: its own events
 * @nr_events: how many
 * @common: events that it has and that not all of the maker's CPUs have; those of the maker
 *	count besides
 * @nr_common: how many
 * @extra_regs: events with an extra register
 * @nr_extra_regs: how many
 * @rules: events that not all counters count; the first one that fits holds
 * @nr_rules: how many
 */
struct x86_uarch {
	const char *name;
	enum x86_pmu_version version;
	unsigned int gp;
	uint32_t fixed;
	uint8_t core_type;
	const struct x86_uarch *other;
	uint64_t unreported;
	bool any_thread;
	uint8_t nr_metrics;
	enum x86_lbr_kind lbr;
	uint8_t pebs;
	bool pebs_latencies;
	bool ibs;
	bool merges;
	struct x86_uarch_models models[X86_UARCH_MODELS_MAX];
	const struct x86_pmu_event_row *events;
	size_t nr_events;
	const struct x86_pmu_event_row *common;
	size_t nr_common;
	const struct x86_extra_reg_row *extra_regs;
	size_t nr_extra_regs;
	const struct x86_uarch_rule *rules;
	size_t nr_rules;
};

/* intel.c, amd.c: up to the first without a name */
extern const struct x86_uarch x86_uarch_intel[];
extern const struct x86_uarch x86_uarch_amd[];

/* uarch.c */
const struct x86_uarch *x86_uarch_find(const char *name);
bool x86_uarch_is_in(const struct x86_uarch *uarch, uint32_t signature);
unsigned int x86_uarch_family(uint32_t signature);
unsigned int x86_uarch_model(uint32_t signature);
uint32_t x86_uarch_counters(const struct x86_uarch *uarch, unsigned int code,
			    unsigned int umask);

#endif /* TOOLS_QEMU_X86_UARCH_H */
