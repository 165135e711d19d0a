/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The properties of a virtual x86 PMU.
 */
#ifndef TOOLS_QEMU_X86_CONFIG_H
#define TOOLS_QEMU_X86_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/ibs/ibs.h"
#include "x86/lbr/lbr.h"
#include "x86/pebs/pebs.h"

struct x86_uarch;

#define X86_PMU_GP_MAX		16
#define X86_PMU_FIXED_MAX	7
#define X86_PMU_COUNTERS_MAX	(X86_PMU_GP_MAX + X86_PMU_FIXED_MAX)
#define X86_PMU_NO_COUNTER	X86_PMU_COUNTERS_MAX

#define X86_PMU_DENIED_MAX	8

/* The first bit of the fixed-function counters in Intel's global registers */
#define X86_PMU_GLOBAL_FIXED	32

enum x86_pmu_version {
	X86_PMU_INTEL_V1,
	X86_PMU_INTEL_V2,
	X86_PMU_INTEL_V3,
	X86_PMU_INTEL_V4,
	X86_PMU_INTEL_V5,
	X86_PMU_INTEL_V6,
	X86_PMU_AMD_LEGACY,
	X86_PMU_AMD_CORE,
	X86_PMU_AMD_V2,
	X86_PMU_VERSIONS
};

/* Intel's CPU types of hybrid machines: CPUID leaf 0x1a, EAX[31:24] */
#define X86_PMU_CORE_NONE	0	/* not hybrid */
#define X86_PMU_CORE_ATOM	0x20
#define X86_PMU_CORE_CORE	0x40

/* Topdown metrics of level 1 and 2 */
#define X86_PMU_METRICS_MAX	8

/**
 * struct x86_pmu_config - the properties of a PMU, the same for all CPUs of a type
 * @version: the version, which determines the registers
 * @uarch: microarchitecture with further events and rules; NULL for the architecture alone
 * @perfmon: the version in CPUID leaf 0xa; 0 for the version of the registers (Intel)
 * @gp: number of general-purpose counters
 * @fixed: bitmap of the fixed-function counters (Intel)
 * @holes: bitmap of absent general-purpose counters below the highest one
 * @unreported: counters that CPUID leaf 0xa does not report, by their bits in the global registers
 * @core_type: the CPU type in a hybrid machine, X86_PMU_CORE_*
 * @gp_width: width of a general-purpose counter, in bits
 * @fixed_width: width of a fixed-function counter, in bits
 * @full_width: counters can be written with all their bits (Intel)
 * @any_thread: the AnyThread bits exist; a core has one thread (Intel)
 * @perf_metrics: the PMU has topdown metrics (Intel)
 * @hides_metrics: IA32_PERF_CAPABILITIES does not report the topdown metrics
 * @metrics_clear: RDPMC of the topdown metrics outside ring 0 can clear them and the slots
 * @nr_metrics: number of topdown metrics
 * @tsc_mhz: frequency of the time-stamp counter in CPUID leaf 0x15, in MHz; 0 for QEMU's (Intel)
 * @lbr: properties of its branch records
 * @pebs: properties of its precise samples
 * @ibs: properties of its instruction-based sampling
 * @bts: IA32_MISC_ENABLE reports branch trace stores; needs precise samples
 * @acr: the PMU has auto counter reload (Intel)
 * @has_extra_regs: the extra registers of events exist
 * @misplaced: a counter counts cycles if its event is not permitted on this counter
 * @denied: counters that do not count, by their bits in the global registers
 * @missing: absent counters that CPUID reports, by their bits in the global registers
 * @denied_events: events that do not count on general-purpose counters, as the bits
 *	X86_PMU_SEL_NAME of a selector
 * @nr_denied_events: number of @denied_events
 * @stuck: fault: a counter that never counts, or X86_PMU_NO_COUNTER
 * @sticky_status: fault: the first write does not clear a status bit
 * @blind_to_guests: fault: HostOnly and GuestOnly take an SVM guest's code for the host's (AMD)
 */
struct x86_pmu_config {
	enum x86_pmu_version version;
	const struct x86_uarch *uarch;
	unsigned int perfmon;
	unsigned int gp;
	uint32_t fixed;
	uint32_t holes;
	uint64_t unreported;
	uint8_t core_type;
	unsigned int gp_width;
	unsigned int fixed_width;
	bool full_width;
	bool any_thread;
	bool perf_metrics;
	bool hides_metrics;
	bool metrics_clear;
	unsigned int nr_metrics;
	uint32_t tsc_mhz;
	struct x86_lbr_config lbr;
	struct x86_pebs_config pebs;
	struct x86_ibs_config ibs;
	bool bts;
	bool acr;
	bool has_extra_regs;
	bool misplaced;
	uint64_t denied;
	uint64_t missing;
	uint64_t denied_events[X86_PMU_DENIED_MAX];
	unsigned int nr_denied_events;
	unsigned int stuck;
	bool sticky_status;
	bool blind_to_guests;
};

static inline bool x86_pmu_is_amd(const struct x86_pmu_config *config)
{
	return config->version >= X86_PMU_AMD_LEGACY;
}

const char *x86_pmu_version_name(enum x86_pmu_version version);
const char *x86_pmu_name(const struct x86_pmu_config *config);
void x86_pmu_defaults(struct x86_pmu_config *config, enum x86_pmu_version version);
void x86_pmu_uarch_defaults(struct x86_pmu_config *config, const struct x86_uarch *uarch);
const char *x86_pmu_config_error(const struct x86_pmu_config *config);

#endif /* TOOLS_QEMU_X86_CONFIG_H */
