// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events with an extra register. uarch/intel.c has the register of each event, and the bits that
 * can be written. The events count combinations of exact counts, so that each value of the register
 * gives another count: see x86-pmu.rst.
 */
#include "common/plugin.h"
#include "x86/registers/maker.h"
#include "x86/uarch/uarch.h"

/* MSR_OFFCORE_RSP_0 and 1: bits 0 to 15 select types of requests, the others types of responses */
#define REQUESTS		UINT64_C(0xffff)
#define ANY_RESPONSE		(UINT64_C(1) << 16)
#define L3_HITS			(UINT64_C(0xf) << 18)	/* M, E, S, F */
#define DEMAND_DATA_RD		(UINT64_C(1) << 0)
#define DEMAND_RFO		(UINT64_C(1) << 1)

/* MSR_OMR_0 to 3: the same requests; Linux 7.3, pnc_hw_cache_extra_regs[] in intel/core.c */
#define OMR_ANY_RESPONSE	(UINT64_C(1) << 62)

/* MSR_PEBS_FRONTEND: the event, and above it the latency */
#define FRONTEND_EVENT		UINT64_C(0xf)
#define FRONTEND_REST		(~UINT64_C(0xff))

static uint64_t bits_of(const struct x86_pmu_config *config, enum x86_extra_reg reg)
{
	const struct x86_uarch *uarch = config->uarch;
	uint64_t bits = 0;

	if (!uarch || !config->has_extra_regs)
		return 0;
	for (size_t i = 0; i < uarch->nr_extra_regs; i++)
		if (uarch->extra_regs[i].reg == reg)
			bits |= uarch->extra_regs[i].bits;
	return bits;
}

/**
 * x86_extra_reg_config_error() - check that the PMU can have extra registers
 * @config: the PMU
 *
 * Return: NULL, or half a sentence about the error.
 */
const char *x86_extra_reg_config_error(const struct x86_pmu_config *config)
{
	if (config->has_extra_regs && !(config->uarch && config->uarch->nr_extra_regs))
		return "has no events with an extra register: leave out extra-regs=on";
	return NULL;
}

static bool write_extra_reg(struct x86_pmu *pmu, enum x86_extra_reg reg, uint64_t value)
{
	if (value & ~bits_of(pmu->config, reg))
		return false;
	pmu->extra_regs[reg] = value;
	return true;
}

/*
 * Define a row of extra registers that begins with @reg: its @present, x86_extra_reg_has_NAME(),
 * its @read, x86_extra_reg_read_NAME(), and its @write, x86_extra_reg_write_NAME().
 */
#define EXTRA_REG_MSR(name, reg)							\
	bool x86_extra_reg_has_##name(const struct x86_pmu_config *config)		\
	{										\
		return bits_of(config, X86_EXTRA_REG_##reg);				\
	}										\
											\
	X86_MSR_READ(x86_extra_reg_read_##name, extra_regs[X86_EXTRA_REG_##reg + i])	\
											\
	bool x86_extra_reg_write_##name(struct x86_pmu *pmu, unsigned int i, uint64_t value) \
	{										\
		return write_extra_reg(pmu, X86_EXTRA_REG_##reg + i, value);			\
	}

EXTRA_REG_MSR(rsp_0, RSP_0)
EXTRA_REG_MSR(rsp_1, RSP_1)
EXTRA_REG_MSR(omr, OMR_0)
EXTRA_REG_MSR(snoop, SNOOP_0)
EXTRA_REG_MSR(frontend, FRONTEND)

static uint8_t nr_bits(uint64_t value)
{
	return (uint8_t)__builtin_popcountll(value);
}

/*
 * The request bits select the kind of access. With "any response" or an L3 hit among the response
 * bits, all accesses count; otherwise, misses. With "any response", each other response bit adds a
 * share of the count, so that a wrong value in the register shows in the count.
 */
static void offcore(uint64_t value, uint64_t bits, bool omr, struct x86_pmu_event *event)
{
	static const struct {
		enum x86_pmu_kind all;
		enum x86_pmu_kind misses;
		enum x86_pmu_kind less;
	} demands[] = {
		[0] = { X86_PMU_CALLS, X86_PMU_CALLS, X86_PMU_NOTHING },
		[DEMAND_DATA_RD] = { X86_PMU_LOADS, X86_PMU_LOAD_MISSES, X86_PMU_NOTHING },
		[DEMAND_RFO] = { X86_PMU_STORES, X86_PMU_CACHE_MISSES, X86_PMU_LOAD_MISSES },
		[DEMAND_DATA_RD | DEMAND_RFO] = { X86_PMU_CACHE_REFS, X86_PMU_CACHE_MISSES,
						  X86_PMU_NOTHING },
	};
	const uint64_t any = omr ? OMR_ANY_RESPONSE : ANY_RESPONSE, others = ~(REQUESTS | any);
	unsigned int d = value & (DEMAND_DATA_RD | DEMAND_RFO);

	if (value & (omr ? any : any | L3_HITS)) {
		event->kind = demands[d].all;
	} else {
		event->kind = demands[d].misses;
		event->less = demands[d].less;
	}
	event->times = value & REQUESTS && value & ~REQUESTS;
	if (event->times && value & any) {
		event->per = nr_bits(bits & others);
		event->times = event->per + nr_bits(value & others);
	}
}

/* Each bit adds its share to the count, a bit of the lower half three shares. */
static void snoop(uint64_t value, struct x86_pmu_event *event)
{
	event->kind = X86_PMU_CALLS;
	event->times = (uint8_t)(nr_bits(value) + 2 * nr_bits((uint32_t)value));
}

static void frontend(uint64_t value, struct x86_pmu_event *event)
{
	event->kind = X86_PMU_RETURNS;
	event->times = (uint8_t)((value & FRONTEND_EVENT) * (1 + nr_bits(value & FRONTEND_REST)));
}

/**
 * x86_extra_reg_event() - decode the selector of an event with an extra register
 * @pmu: the PMU
 * @select: the selector's value
 * @counts: set to whether the event counts anything
 * @event: set to the event
 *
 * Return: false if the event has no extra register.
 */
bool x86_extra_reg_event(const struct x86_pmu *pmu, uint64_t select, bool *counts,
			 struct x86_pmu_event *event)
{
	unsigned int code = x86_pmu_event_code(select), umask = x86_pmu_event_umask(select);
	const struct x86_uarch *uarch = pmu->config->uarch;
	const struct x86_extra_reg_row *s;
	struct x86_pmu_event_row row;
	uint64_t value;

	if (!uarch || !pmu->config->has_extra_regs)
		return false;
	for (s = uarch->extra_regs; s < uarch->extra_regs + uarch->nr_extra_regs; s++) {
		if (s->code != code || s->umask != umask)
			continue;
		value = pmu->extra_regs[s->reg] & s->bits;
		row = (struct x86_pmu_event_row) {
			.code = s->code, .umask = s->umask,
			.event = { .less = X86_PMU_NOTHING, .per = 1 },
		};
		if (s->reg == X86_EXTRA_REG_FRONTEND)
			frontend(value, &row.event);
		else if (s->reg >= X86_EXTRA_REG_SNOOP_0)
			snoop(value, &row.event);
		else
			offcore(value, s->bits, s->reg >= X86_EXTRA_REG_OMR_0, &row.event);
		*counts = row.event.times && x86_pmu_event_select(&row, 1, select, event);
		return true;
	}
	return false;
}
