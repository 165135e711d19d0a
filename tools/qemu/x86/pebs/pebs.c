// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Precise samples (PEBS) of an x86 core PMU.
 *
 * Registers and the memory they point to as in the Intel SDM, volume 3B, "Debug Store (DS)
 * Mechanism", "Processor Event Based Sampling (PEBS)" and "Adaptive PEBS"; volume 4.
 *
 * A record shows the exact instruction at an overflow. When the overflow is near, the CPU reports
 * each instruction: it calls x86_pmu_step() when an instruction has retired. x86_pmu_step() detects
 * the overflow and writes the record, with the registers after the instruction. An instruction that
 * faults is not reported.
 */
#include <string.h>

#include "common/options.h"
#include "x86/registers/maker.h"
#include "x86/pebs/record.h"

/* IA32_PERF_CAPABILITIES */
#define CAPABILITIES_TRAP	(UINT64_C(1) << 6)
#define CAPABILITIES_REGISTERS	(UINT64_C(1) << 7)	/* records have all registers */
#define CAPABILITIES_FORMAT_SHIFT 8
#define CAPABILITIES_BASELINE	(UINT64_C(1) << 14)	/* all counters have adaptive PEBS */

/*
 * IA32_PEBS_ENABLE in format 3: the counters, and a load latency bit for each. These bits have no
 * effect: each record has its latency, also if a driver forgets them.
 */
#define FIXED_FORMAT_COUNTERS	4
#define ENABLE_LATENCY_SHIFT	32

#define DATA_CFG_FORMAT_4	(PEBS_CFG_MEMORY | PEBS_CFG_GPR | PEBS_CFG_XMM | PEBS_CFG_LBR | \
				 PEBS_CFG_LBRS)
#define LD_LAT_WRITABLE		UINT64_C(0xffff)
#define CANONICAL_SHIFT		47

/* Offsets in the DS area, in bytes */
#define DS_PEBS			0x20
#define DS_INDEX		0x28
#define DS_RESETS		0x40
/* Number of reset values of general-purpose counters; those of fixed-function counters follow. */
#define DS_RESETS_GP_FORMAT_4	8
#define DS_RESETS_GP		32

struct ds_pebs {
	uint64_t base;
	uint64_t index;
	uint64_t maximum;
	uint64_t threshold;
};

/*
 * The maximum advance of a count between two checks: a block has up to 512 instructions, and few
 * instructions access memory more than four times. The CPU calls x86_pmu_near() for some kinds.
 */
#define NEAR			520
#define NEAR_MEMORY		2200

/* ---- for the model ---- */

bool x86_pebs_present(const struct x86_pmu_config *config)
{
	return config->pebs.format;
}

bool x86_pebs_adaptive(const struct x86_pmu_config *config)
{
	return config->pebs.format >= 4 && !x86_pebs_architectural(config);
}

bool x86_pebs_architectural(const struct x86_pmu_config *config)
{
	return config->pebs.format == X86_PEBS_ARCHITECTURAL;
}

bool x86_pebs_in_ds(const struct x86_pmu_config *config)
{
	return x86_pebs_present(config) && !x86_pebs_architectural(config);
}

/**
 * x86_pebs_config_error() - check the PEBS properties of a PMU
 * @config: the PMU
 *
 * Return: NULL, or half a sentence about the error.
 */
const char *x86_pebs_config_error(const struct x86_pmu_config *config)
{
	const struct x86_pebs_config *p = &config->pebs;

	if (p->format && p->format != 3 && p->format != 4 && p->format != 6 &&
	    p->format != X86_PEBS_ARCHITECTURAL)
		return "has no precise samples of that format: see pebs=";
	if (x86_pebs_architectural(config) && config->version != X86_PMU_INTEL_V6)
		return "has no CPUID leaf that reports architectural precise samples: see model=";
	if (p->fragments && !x86_pebs_architectural(config))
		return "has no precise samples in pieces: use pebs=15";
	if (p->format && (x86_pmu_is_amd(config) || config->version < X86_PMU_INTEL_V4))
		return "has no precise samples: use model=intel-v4 or later";
	if (p->format && !config->full_width)
		return "has no IA32_PERF_CAPABILITIES that reports precise samples: see full-width";
	if (config->bts && !x86_pebs_in_ds(config))
		return "has no debug store, which bts=on needs: use pebs=3, 4 or 6";
	if (!p->format && (p->late || p->empty || p->stale))
		return "has no precise samples to be faulty: set pebs=";
	return NULL;
}

/**
 * x86_pebs_capabilities() - return the PEBS bits of IA32_PERF_CAPABILITIES
 * @config: the PMU
 */
uint64_t x86_pebs_capabilities(const struct x86_pmu_config *config)
{
	if (!x86_pebs_present(config))
		return 0;
	return (x86_pebs_in_ds(config) ? CAPABILITIES_TRAP | CAPABILITIES_REGISTERS : 0) |
	       (uint64_t)config->pebs.format << CAPABILITIES_FORMAT_SHIFT |
	       (x86_pebs_adaptive(config) ? CAPABILITIES_BASELINE : 0);
}

/* Return the bits of counters in IA32_PEBS_ENABLE. */
static uint64_t counters(const struct x86_pmu_config *config)
{
	return x86_pebs_adaptive(config) ? x86_pmu_global_counters(config) :
	       x86_pmu_low_bits(config->gp < FIXED_FORMAT_COUNTERS ? config->gp :
				FIXED_FORMAT_COUNTERS);
}

/**
 * x86_pebs_takes() - check whether an overflow of a counter writes a record
 * @pmu: the PMU
 * @i: the counter, its index in struct x86_pmu
 */
bool x86_pebs_takes(const struct x86_pmu *pmu, unsigned int i)
{
	if (x86_pebs_architectural(pmu->config))
		return x86_pebs_arch_takes(pmu, i);
	return pmu->pebs.enable & counters(pmu->config) & UINT64_C(1) << x86_pmu_global_bit(i);
}

/**
 * x86_pebs_is_on() - check whether any counter writes records
 * @pmu: the PMU
 */
bool x86_pebs_is_on(const struct x86_pmu *pmu)
{
	return x86_pebs_architectural(pmu->config) ? x86_pebs_arch_is_on(pmu) : pmu->pebs.enable;
}

/**
 * x86_pebs_status() - return the global status bit of a buffer that has reached its threshold
 * @config: the PMU
 */
uint64_t x86_pebs_status(const struct x86_pmu_config *config)
{
	return x86_pebs_architectural(config) ? X86_PMU_STATUS_PEBS : X86_PMU_STATUS_BUFFER;
}

/**
 * x86_pebs_overflow() - note the overflow of a counter that writes records
 * @pmu: the PMU
 * @i: the counter
 *
 * The overflow does not set the counter's bit in the global status.
 */
void x86_pebs_overflow(struct x86_pmu *pmu, unsigned int i)
{
	struct x86_pebs *p = &pmu->pebs;

	if (!(p->near >> i & 1))
		p->inexact++;
	p->due |= UINT32_C(1) << i;
}

/**
 * x86_pebs_overflows() - check whether the next update of the counters makes a record due
 * @pmu: the PMU of this thread's CPU
 */
bool x86_pebs_overflows(struct x86_pmu *pmu)
{
	int64_t ahead[X86_PMU_COUNTERS_MAX];

	x86_pmu_ahead(pmu, ahead, X86_PMU_COUNTERS_MAX);
	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++)
		if (pmu->pebs.near >> i & 1 && pmu->counter[i].value + ahead[i] >
		    x86_pmu_low_bits(x86_pmu_width(pmu->config, i)))
			return true;
	return false;
}

static bool is_of_memory(enum x86_pmu_kind kind)
{
	return kind == X86_PMU_LOADS || kind == X86_PMU_STORES || kind == X86_PMU_SLOW_LOADS ||
	       kind == X86_PMU_CACHE_REFS || kind == X86_PMU_CACHE_MISSES ||
	       kind == X86_PMU_LOAD_MISSES;
}

/**
 * x86_pebs_is_in_window() - check whether a count can advance by @steps between two checks
 * @pmu: the PMU
 * @kind: kind of the count
 * @steps: in: distance to the overflow; out, if not: distance to the window before the overflow
 *
 * Return: true if the count can.
 */
bool x86_pebs_is_in_window(const struct x86_pmu *pmu, enum x86_pmu_kind kind, uint64_t *steps)
{
	uint64_t window = is_of_memory(kind) ? NEAR_MEMORY : NEAR;

	if (kind == X86_PMU_INSTRUCTIONS || kind == X86_PMU_CYCLES || kind == X86_PMU_BRANCHES)
		window = pmu->pebs.window;
	if (*steps <= window)
		return true;
	*steps -= window;
	return false;
}

/**
 * x86_pebs_is_near() - check whether a counter is near to an overflow that needs each instruction
 * @pmu: the PMU
 * @i: the counter
 * @steps: see x86_pebs_is_in_window()
 *
 * Return: true if the CPU has to report each instruction.
 */
bool x86_pebs_is_near(struct x86_pmu *pmu, unsigned int i, uint64_t *steps)
{
	return (x86_pebs_takes(pmu, i) || x86_acr_is_cause(pmu, i)) &&
	       x86_pebs_is_in_window(pmu, pmu->counter[i].event.kind, steps);
}

/**
 * x86_pebs_look() - set the rings with instructions that the CPU reports
 * @pmu: the PMU; pebs.near is up to date
 */
void x86_pebs_look(struct x86_pmu *pmu)
{
	struct x86_pebs *p = &pmu->pebs;
	bool all = p->due || x86_ibs_is_due(pmu) || p->near >> X86_PMU_COUNTERS_MAX;
	unsigned int rings = all ? x86_pmu_rings(pmu, true, true) : 0, i;

	for (i = 0; i < X86_PMU_COUNTERS_MAX; i++)
		if (p->near >> i & 1)
			rings |= pmu->counter[i].rings;
	if (rings == p->rings)
		return;
	p->rings = rings;
	pmu->ops->single(pmu, rings);
}

/**
 * x86_pebs_reset() - set the registers to their values after power-up and RESET
 * @pmu: the PMU
 */
void x86_pebs_reset(struct x86_pmu *pmu)
{
	struct x86_pebs *p = &pmu->pebs, before = *p;

	*p = (struct x86_pebs) {
		.rings = before.rings, .records = before.records, .written = before.written,
		.full = before.full, .unmapped = before.unmapped, .inexact = before.inexact,
	};
}

/* ---- records ---- */

/* Check whether a counter's record has all enabled groups, or only the basic group. */
static bool is_adaptive(const struct x86_pmu *pmu, unsigned int i)
{
	if (i < X86_PMU_GP_MAX)
		return pmu->counter[i].select & X86_PMU_SEL_ADAPTIVE;
	return pmu->fixed_ctrl & X86_PMU_FIXED_ADAPTIVE(i - X86_PMU_GP_MAX);
}

/* Set @s->counters and @s->store from the due counters. Return the groups of the record. */
static uint64_t groups_of(const struct x86_pmu *pmu, struct pebs_sample *s)
{
	uint64_t groups = 0;

	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++) {
		if (!(pmu->pebs.due >> i & 1))
			continue;
		s->counters |= UINT64_C(1) << x86_pmu_global_bit(i);
		if (pmu->counter[i].event.kind == X86_PMU_STORES)
			s->store = true;
		if (is_adaptive(pmu, i))
			groups = pmu->pebs.data_cfg;
	}
	/* Without the LBR group, the number of branches is 0. */
	if (!(groups & PEBS_CFG_LBR))
		groups &= ~PEBS_CFG_LBRS;
	x86_pebs_counters_adaptive(pmu, groups, s);
	return groups & ~(PEBS_CFG_GP | PEBS_CFG_FIXED);
}

/* Write a record to the DS area. Return true if the buffer has reached its threshold. */
static bool write_in_ds(struct x86_pmu *pmu, uint64_t ip, const struct x86_pebs_access *access)
{
	struct pebs_sample s = { .ip = ip, .access = *access };
	uint64_t groups = groups_of(pmu, &s), words[PEBS_WORDS_MAX];
	struct x86_pebs *p = &pmu->pebs;
	struct ds_pebs ds;
	size_t size;

	if (!pmu->ops->memory(pmu, p->ds_area + DS_PEBS, &ds, sizeof(ds), false)) {
		p->unmapped++;
		return false;
	}
	pmu->ops->state(pmu, &s.state, groups & PEBS_CFG_XMM);
	size = x86_pebs_record(pmu, &s, groups, words) * sizeof(*words);
	if (ds.index + size > ds.maximum) {
		p->full++;
		return ds.index >= ds.threshold;
	}
	if (!pmu->ops->memory(pmu, ds.index, words, size, true)) {
		p->unmapped++;
		return false;
	}
	p->written++;
	ds.index += size;
	pmu->ops->memory(pmu, p->ds_area + DS_INDEX, &ds.index, sizeof(ds.index), true);
	return ds.index >= ds.threshold;
}

static bool write_record(struct x86_pmu *pmu, uint64_t ip, const struct x86_pebs_access *access)
{
	struct pebs_sample s = { .ip = ip, .access = *access };

	if (!x86_pebs_architectural(pmu->config))
		return write_in_ds(pmu, ip, access);
	groups_of(pmu, &s);
	return x86_pebs_arch_write(pmu, &s);
}

/*
 * Reload a counter. Hardware sets it to the value in the DS area, or in IA32_PMC_GP_CFG_C. The
 * model keeps counts beyond the overflow (a branch takes two cycles), so that overflows keep their
 * distance. It drops whole periods, so that the counter is below its overflow again.
 */
static void reload(struct x86_pmu *pmu, unsigned int i)
{
	unsigned int gp = pmu->config->pebs.format > 4 ? DS_RESETS_GP : DS_RESETS_GP_FORMAT_4;
	unsigned int n = i < X86_PMU_GP_MAX ? i : gp + i - X86_PMU_GP_MAX;
	struct x86_pmu_counter *c = &pmu->counter[i];
	uint64_t value = 0;

	if (x86_acr_is_done(pmu, i))
		return;
	if (x86_pebs_architectural(pmu->config))
		value = x86_pebs_arch_reload(pmu, i);
	else
		pmu->ops->memory(pmu, pmu->pebs.ds_area + DS_RESETS + n * sizeof(value), &value,
				 sizeof(value), false);
	c->value = x86_pebs_begin(c->value, value,
				  x86_pmu_low_bits(x86_pmu_width(pmu->config, i)));
}

static void make_record(struct x86_pmu *pmu, uint64_t ip, const struct x86_pebs_access *access)
{
	const struct x86_pebs_config *config = &pmu->config->pebs;
	struct x86_pebs *p = &pmu->pebs;
	bool notify;

	if (!p->put_off)
		p->records++;
	if (fault_is_due(config->late, p->records) && !p->put_off) {
		p->put_off = true;
		return;
	}
	p->put_off = false;
	notify = fault_is_due(config->empty, p->records) || write_record(pmu, ip, access);
	for (unsigned int i = 0; i < X86_PMU_COUNTERS_MAX; i++)
		if (p->due >> i & 1 && !fault_is_due(config->stale, p->records))
			reload(pmu, i);
	p->due = 0;
	if (notify)
		x86_pmu_buffer_overflow(pmu);
}

/**
 * x86_pmu_near() - check whether a block can reach an overflow that needs each instruction
 * @pmu: the PMU of this thread's CPU
 * @ring: the ring of the block, which begins
 * @n: number of instructions of the block
 *
 * Called if instructions, branches or cycles can advance by their distance in the block.
 *
 * Return: true if the CPU has to report each instruction.
 */
bool x86_pmu_near(struct x86_pmu *pmu, unsigned int ring, unsigned int n)
{
	/* A branch takes one more cycle. */
	pmu->pebs.window = n + 1;
	x86_pmu_check(pmu);
	return pmu->pebs.rings >> ring & 1;
}

/**
 * x86_pmu_step() - handle an instruction that has retired, near an overflow
 * @pmu: the PMU of this thread's CPU
 * @ip: address of the instruction
 * @access: accesses of the instruction
 */
void x86_pmu_step(struct x86_pmu *pmu, uint64_t ip, const struct x86_pebs_access *access)
{
	bool overflowed = x86_pmu_advance(pmu), tagged = x86_ibs_step(pmu, ip, access);

	if (pmu->pebs.due)
		make_record(pmu, ip, access);
	else if (!overflowed && !tagged)
		return;
	x86_pmu_activate(pmu);
}

/**
 * x86_pmu_is_slow() - check whether a load's latency exceeds MSR_PEBS_LD_LAT_THRESHOLD
 * @pmu: the PMU
 * @addr: linear address of the load
 */
bool x86_pmu_is_slow(const struct x86_pmu *pmu, uint64_t addr)
{
	return x86_pebs_latency(addr) > pmu->pebs.ld_lat;
}

/* ---- registers ---- */

X86_MSR_READ(x86_pebs_read_ds_area, pebs.ds_area)

bool x86_pebs_write_ds_area(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	int64_t upper = (int64_t)value >> CANONICAL_SHIFT;

	(void)i;
	if (upper != 0 && upper != -1)
		return false;
	pmu->pebs.ds_area = value;
	return true;
}

X86_MSR_READ(x86_pebs_read_enable, pebs.enable)

bool x86_pebs_write_enable(struct x86_pmu *pmu, unsigned int i, uint64_t value)
{
	uint64_t allowed = counters(pmu->config);

	(void)i;
	if (!x86_pebs_adaptive(pmu->config))
		allowed |= allowed << ENABLE_LATENCY_SHIFT;
	if (value & ~allowed)
		return false;
	pmu->pebs.enable = value;
	return true;
}

X86_MSR_READ(x86_pebs_read_data_cfg, pebs.data_cfg)

X86_MSR_WRITE(x86_pebs_write_data_cfg, pebs.data_cfg,
	      DATA_CFG_FORMAT_4 | x86_pebs_counters_cfg(pmu->config))

X86_MSR_READ(x86_pebs_read_ld_lat, pebs.ld_lat)

X86_MSR_WRITE(x86_pebs_write_ld_lat, pebs.ld_lat, LD_LAT_WRITABLE)
