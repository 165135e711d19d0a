/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Microarchitectures: the properties of real PMUs that the version of the registers does not
 * determine. These are the CPU models, additional events, and event constraints.
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
 * struct x86_uarch_models - a range of CPU models in CPUID leaf 1
 * @family: family, including the extended family
 * @first: first model, including the extended model
 * @last: last model
 */
struct x86_uarch_models {
	uint16_t family;
	uint8_t first;
	uint8_t last;
};

/**
 * struct x86_uarch_rule - an event constraint: general-purpose counters for a range of events
 * @first: first event number
 * @last: last event number, 0 for a single event
 * @umask: the unit mask, X86_PMU_ANY_UMASK for any
 * @counters: bitmap of the counters; 0 if the microarchitecture does not have the event
 */
struct x86_uarch_rule {
	uint16_t first;
	uint16_t last;
	int16_t umask;
	uint32_t counters;
};

#define X86_UARCH_MODELS_MAX	6

/* Cache lines differ in latency and data source by their number, modulo this. */
#define X86_PEBS_LINES		8

/**
 * struct x86_uarch - a microarchitecture
 * @name: the name in options
 * @version: version of the registers
 * @gp: number of general-purpose counters with hyper-threading
 * @fixed: bitmap of the fixed-function counters
 * @core_type: the CPU type in a hybrid machine, X86_PMU_CORE_*
 * @other: the other CPU type of the hybrid machine; NULL if not hybrid
 * @unreported: counters that CPUID leaf 0xa does not report on a hybrid machine, because the other
 *	CPU type lacks them; by their bits in the global registers
 * @any_thread: the AnyThread bits exist
 * @zhaoxin: a write of IA32_PMC sets all bits of the counter, IA32_PERF_CAPABILITIES does not
 *	exist, and CPUID leaf 0xa does not say that AnyThread is deprecated
 * @nr_metrics: number of topdown metrics: 4 for level 1, 8 for level 1 and 2
 * @lbr: type of LBR
 * @pebs: format of PEBS records, 0 if the model has none
 * @pebs_sources: data source of each of the X86_PEBS_LINES kinds of cache lines; NULL: Skylake's
 * @pebs_latencies: PEBS records have the latency of stores, and a separate cache latency
 * @ibs: it has instruction-based sampling
 * @merges: two adjacent counters can be merged for events with large increments per cycle
 * @models: CPU models, up to the first without a family
 * @events: events of only this microarchitecture
 * @nr_events: number of @events
 * @common: events shared by several, but not all, of the vendor's microarchitectures; the vendor's
 *	events exist, too
 * @nr_common: number of @common
 * @extra_regs: events with an extra register
 * @nr_extra_regs: number of @extra_regs
 * @rules: event constraints; the first one that matches applies
 * @nr_rules: number of @rules
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
	bool zhaoxin;
	uint8_t nr_metrics;
	enum x86_lbr_kind lbr;
	uint8_t pebs;
	const uint16_t *pebs_sources;
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

/* intel.c, amd.c, zhaoxin.c: tables that end with an entry without a name */
extern const struct x86_uarch x86_uarch_intel[];
extern const struct x86_uarch x86_uarch_amd[];
extern const struct x86_uarch x86_uarch_zhaoxin[];

/* uarch.c */
const struct x86_uarch *x86_uarch_find(const char *name);
bool x86_uarch_is_in(const struct x86_uarch *uarch, uint32_t signature);
unsigned int x86_uarch_family(uint32_t signature);
unsigned int x86_uarch_model(uint32_t signature);
uint32_t x86_uarch_counters(const struct x86_uarch *uarch, unsigned int code,
			    unsigned int umask);

#endif /* TOOLS_QEMU_X86_UARCH_H */
