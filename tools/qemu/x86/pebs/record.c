// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Format PEBS records.
 *
 * Intel SDM, volume 3B, "Processor Event Based Sampling (PEBS) Facility" of Skylake (format 3)
 * and "Adaptive PEBS" (format 4).
 */
#include <string.h>

#include "common/plugin.h"
#include "x86/pebs/record.h"
#include "x86/uarch/uarch.h"

#define SIZE_SHIFT		48	/* in the first word of format 4, in bytes */
#define LINE_SHIFT		6
#define CACHE_LATENCY_SHIFT	32

#define STORE_L1_HIT		1	/* the data source of a store */

/*
 * The model derives data source and latency of an access from the number of its cache line, modulo
 * eight. Intel SDM, volume 3B, "Data Source Encoding for Load Latency Record".
 */
static const struct {
	uint8_t source;
	uint16_t latency;
} lines[X86_PEBS_LINES] = {
	{ 0x1, 4 },	/* L1 */
	{ 0x2, 9 },	/* being fetched already */
	{ 0x3, 14 },	/* L2 */
	{ 0x4, 44 },	/* L3, no other core has it */
	{ 0x1, 5 },
	{ 0x6, 70 },	/* L3, another core has it */
	{ 0x3, 16 },
	{ 0xa, 230 },	/* memory */
};

static unsigned int line_of(uint64_t addr)
{
	return addr >> LINE_SHIFT & (ARRAY_SIZE(lines) - 1);
}

/**
 * x86_pebs_latency() - return the latency of an access, in cycles
 * @addr: the linear address
 */
unsigned int x86_pebs_latency(uint64_t addr)
{
	return lines[line_of(addr)].latency;
}

static uint64_t source_of(const struct x86_pmu *pmu, uint64_t addr)
{
	const struct x86_uarch *uarch = pmu->config->uarch;

	if (uarch && uarch->pebs_sources)
		return uarch->pebs_sources[line_of(addr)];
	return lines[line_of(addr)].source;
}

/* Golden Cove's and architectural records have two latencies, also for stores. */
static bool has_latencies(const struct x86_pmu *pmu)
{
	return x86_pebs_architectural(pmu->config) ||
	       (pmu->config->uarch && pmu->config->uarch->pebs_latencies);
}

/* Address, data source, latency and TSX tuning information */
static uint64_t *put_memory(const struct x86_pmu *pmu, const struct pebs_sample *s, uint64_t *w)
{
	const struct x86_pebs_access *a = &s->access;
	bool store = a->stores && (s->store || !a->loads);
	uint64_t addr = store ? a->store : a->load;
	uint64_t latency = x86_pebs_latency(addr), source = source_of(pmu, addr);

	if (!a->loads && !a->stores) {
		memset(w, 0, 4 * sizeof(*w));
		return w + 4;
	}
	if (store && !has_latencies(pmu)) {
		source = source == lines[0].source ? STORE_L1_HIT : 0;
		latency = 0;
	} else if (has_latencies(pmu)) {
		latency |= latency << CACHE_LATENCY_SHIFT;
	}
	*w++ = addr;
	*w++ = source;
	*w++ = latency;
	*w++ = 0;
	return w;
}

static size_t fixed_record(const struct x86_pmu *pmu, const struct pebs_sample *s, uint64_t *w)
{
	static const uint8_t order[] = {
		X86_AX, X86_BX, X86_CX, X86_DX, X86_SI, X86_DI, X86_BP, X86_SP,
		8, 9, 10, 11, 12, 13, 14, 15,
	};
	uint64_t *start = w, memory[4];

	put_memory(pmu, s, memory);
	*w++ = s->state.flags;
	*w++ = s->state.ip;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++)
		*w++ = s->state.regs[order[i]];
	*w++ = s->counters;
	*w++ = memory[0];
	*w++ = memory[1];
	*w++ = memory[2];
	*w++ = s->ip;
	*w++ = memory[3];
	*w++ = s->state.tsc;
	return w - start;
}

static uint64_t *put_lbr(const struct x86_pmu *pmu, uint64_t groups, uint64_t *w)
{
	unsigned int n = (groups & PEBS_CFG_LBRS) >> PEBS_CFG_LBRS_SHIFT, i;

	for (i = 0; i <= n; i++) {
		struct x86_lbr_entry e = x86_lbr_nth(pmu, i);

		*w++ = e.from;
		*w++ = e.to;
		*w++ = e.info;
	}
	return w;
}

static size_t adaptive_record(struct x86_pmu *pmu, const struct pebs_sample *s,
			      uint64_t groups, uint64_t *start)
{
	uint64_t *w = start + 1;

	*w++ = s->ip;
	*w++ = s->counters;
	*w++ = s->state.tsc;
	if (groups & PEBS_CFG_MEMORY)
		w = put_memory(pmu, s, w);
	if (groups & PEBS_CFG_GPR) {
		*w++ = s->state.flags;
		*w++ = s->state.ip;
		memcpy(w, s->state.regs, sizeof(s->state.regs));
		w += X86_REGISTERS;
	}
	if (groups & PEBS_CFG_XMM) {
		memcpy(w, s->state.xmm, sizeof(s->state.xmm));
		w += 2 * X86_REGISTERS;
	}
	if (groups & PEBS_CFG_LBR)
		w = put_lbr(pmu, groups, w);
	if (groups & (PEBS_CFG_COUNTERS | PEBS_CFG_METRICS))
		w = x86_pebs_put_counters(pmu, s, w);
	*start = groups | (uint64_t)(w - start) * sizeof(*w) << SIZE_SHIFT;
	return w - start;
}

/*
 * Architectural records: Intel's Instruction Set Extensions Programming Reference, "Architectural
 * PEBS". Each fragment has a header of two words.
 */
#define ARCH_64BIT		(UINT64_C(1) << 30)
#define ARCH_CONTINUED		(UINT64_C(1) << 31)
#define HEADER_WORDS		2
#define BASIC_WORDS		6
#define AUX_WORDS		8
#define GPR_WORDS		20
#define XER_XMM			UINT64_C(2)	/* in the group's header: the component of XSAVE */
#define LBR_HEADER_WORDS	6
#define ARCH_UNIT_WORDS		2

static size_t finish_piece(uint64_t *start, const uint64_t *end, uint64_t format)
{
	size_t words = end - start;

	start[0] = format | words * sizeof(*start);
	start[1] = 0;
	return words;
}

static uint64_t *put_arch_basic(const struct pebs_sample *s, uint64_t *w)
{
	memset(w, 0, BASIC_WORDS * sizeof(*w));
	w[0] = s->ip;
	w[1] = s->counters;
	w[2] = s->state.tsc;
	return w + BASIC_WORDS;
}

/* The address, four reserved words, and data source, latency and TSX information */
static uint64_t *put_arch_aux(const struct x86_pmu *pmu, const struct pebs_sample *s, uint64_t *w)
{
	uint64_t memory[4];

	put_memory(pmu, s, memory);
	memset(w, 0, AUX_WORDS * sizeof(*w));
	w[0] = memory[0];
	w[5] = memory[1];
	w[6] = memory[2];
	w[7] = memory[3];
	return w + AUX_WORDS;
}

static uint64_t *put_arch_lbr(const struct x86_pmu *pmu, uint64_t *w)
{
	memset(w, 0, LBR_HEADER_WORDS * sizeof(*w));
	w[1] = pmu->lbr.ctl;
	w[2] = pmu->lbr.depth;
	w += LBR_HEADER_WORDS;
	for (unsigned int i = 0; i < pmu->lbr.depth; i++) {
		struct x86_lbr_entry e = x86_lbr_nth(pmu, i);

		*w++ = e.from;
		*w++ = e.to;
		*w++ = e.info;
	}
	return w;
}

static uint64_t *put_arch_groups(struct x86_pmu *pmu, const struct pebs_sample *s,
				 uint64_t groups, uint64_t *w)
{
	uint64_t *start;

	if (groups & ARCH_PEBS_AUX)
		w = put_arch_aux(pmu, s, w);
	if (groups & ARCH_PEBS_GPR) {
		memset(w, 0, GPR_WORDS * sizeof(*w));
		w[0] = s->state.flags;
		w[1] = s->state.ip;
		memcpy(w + 2, s->state.regs, sizeof(s->state.regs));
		w += GPR_WORDS;
	}
	if (groups & ARCH_PEBS_XMM) {
		*w++ = XER_XMM;
		*w++ = 0;
		memcpy(w, s->state.xmm, sizeof(s->state.xmm));
		w += 2 * X86_REGISTERS;
	}
	if (groups & ARCH_PEBS_LBR)
		w = put_arch_lbr(pmu, w);
	if (groups & ARCH_PEBS_COUNTERS) {
		start = w;
		w = x86_pebs_put_counters(pmu, s, w);
		/* The write position advances by units of two words. */
		if ((w - start) % ARCH_UNIT_WORDS)
			*w++ = 0;
	}
	return w;
}

/**
 * x86_pebs_arch_record() - format an architectural record
 * @pmu: the PMU
 * @s: contents of the record
 * @groups: groups after the basic one, as in IA32_PMC_GP_CFG_C
 * @fragments: write an empty fragment first, and the basic group in a fragment of its own
 * @words: set to the record
 *
 * Return: number of words.
 */
size_t x86_pebs_arch_record(struct x86_pmu *pmu, const struct pebs_sample *s,
			    uint64_t groups, bool fragments, uint64_t *words)
{
	uint64_t *start = words, *w;

	if (fragments)
		start += finish_piece(start, start + HEADER_WORDS, 0);
	w = put_arch_basic(s, start + HEADER_WORDS);
	if (fragments && groups) {
		start += finish_piece(start, w, ARCH_PEBS_BASIC | ARCH_64BIT | ARCH_CONTINUED);
		w = put_arch_groups(pmu, s, groups, start + HEADER_WORDS);
		start += finish_piece(start, w, groups | ARCH_64BIT);
	} else {
		w = put_arch_groups(pmu, s, groups, w);
		start += finish_piece(start, w, ARCH_PEBS_BASIC | groups | ARCH_64BIT);
	}
	return start - words;
}

/**
 * x86_pebs_record() - format a record for the DS area
 * @pmu: the PMU
 * @s: contents of the record
 * @groups: groups after the basic one, as in MSR_PEBS_DATA_CFG; only for format 4
 * @words: set to the record
 *
 * Return: number of words.
 */
size_t x86_pebs_record(struct x86_pmu *pmu, const struct pebs_sample *s, uint64_t groups,
		       uint64_t *words)
{
	if (x86_pebs_adaptive(pmu->config))
		return adaptive_record(pmu, s, groups, words);
	return fixed_record(pmu, s, words);
}
