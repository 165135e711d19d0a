// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of PEBS with a DS area
 *
 * Intel 64 and IA-32 Architectures Software Developer's Manual, volume 3: 20.6.2.4 "Processor Event
 * Based Sampling", 20.3.6.1 "PEBS Record Format" of Skylake, 20.9.2 "Adaptive PEBS". The model has
 * no delay between overflow and record: the overflowing event causes the record, which resets the
 * counter.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/string.h>

#include "access.h"
#include "pebs.h"

/* Number of mapped buffers */
unsigned int pebs_model_mapped;
/* The CPU may run guests. */
bool pebs_model_guests;
/* The hypervisor does not provide the load-latency threshold register. */
bool pebs_model_no_latency;

#ifdef CONFIG_X86

#define FIXED_BASE		32
#define STATUS_OVFBUF		BIT_ULL(62)
#define DATA_CFG_BITS		(GENMASK_ULL(3, 0) | GENMASK_ULL(31, 24))
/* From format 6 on: the counters group, and bitmaps of its counters */
#define DATA_CFG_COUNTERS	BIT_ULL(4)
#define DATA_CFG_METRICS	BIT_ULL(5)
#define SLOTS			3
#define DATA_CFG_GP_SHIFT	32
#define DATA_CFG_FIXED_SHIFT	48

/*
 * DS area, table 20-8: index in words. Format 4 has reset values of 8 counters, then of fixed ones;
 * later formats have values of 32 counters.
 */
#define DS_INDEX		5
#define DS_MAXIMUM		6
#define DS_THRESHOLD		7
#define DS_RESETS		8
#define DS_FIXED_RESETS_4	(DS_RESETS + 8)
#define DS_FIXED_RESETS		(DS_RESETS + 32)
#define DS_WORDS		56

static DEFINE_PER_CPU(u64 [DS_WORDS], ds_areas);

/**
 * x86_ds_find() - replaces the function of ds-map.c
 *
 * Return: 0, or -ENOENT if the kernel hides cea_set_pte()
 */
int x86_ds_find(void)
{
	return x86_model_hidden && !strcmp(x86_model_hidden, "cea_set_pte") ? -ENOENT : 0;
}

/**
 * x86_ds_area() - replaces the function of ds-map.c
 * @cpu: the CPU
 *
 * Return: its DS area
 */
struct x86_ds *x86_ds_area(int cpu)
{
	return (struct x86_ds *)per_cpu_ptr(&ds_areas, cpu);
}

/**
 * x86_ds_map() - replaces the function of ds-map.c
 * @cpu: the CPU
 * @page: memory
 *
 * Return: address of the memory
 */
void *x86_ds_map(int cpu, struct page *page)
{
	pebs_model_mapped++;

	return page_address(page);
}

/**
 * x86_ds_unmap() - replaces the function of ds-map.c
 * @cpu: the CPU
 */
void x86_ds_unmap(int cpu)
{
	pebs_model_mapped--;
}

static bool has_groups(void)
{
	return x86_model_this()->pebs >= 4;
}

static u64 data_cfg_bits(void)
{
	if (x86_model_this()->pebs < 6)
		return DATA_CFG_BITS;

	return DATA_CFG_BITS | DATA_CFG_COUNTERS |
	       (x86_model_this()->metrics ? DATA_CFG_METRICS : 0) |
	       GENMASK_ULL(x86_model_this()->nr_gp - 1, 0) << DATA_CFG_GP_SHIFT |
	       (u64)intel_model_fixed() << DATA_CFG_FIXED_SHIFT;
}

/**
 * pebs_model_read() - RDMSR
 * @m: this CPU
 * @msr: ECX
 * @value: EDX:EAX
 * @name: name of the register
 *
 * Return: false for #GP
 */
bool pebs_model_read(struct x86_model *m, u32 msr, u64 *value, const char **name)
{
	if (!x86_model_this()->pebs)
		return false;
	if (msr == MSR_PEBS_LD_LAT_THRESHOLD) {
		*name = "PEBS_LD_LAT";
		*value = m->pebs_latency;
		return !pebs_model_no_latency;
	}
	if (x86_model_this()->pebs == PEBS_MODEL_ARCH)
		return pebs_arch_model_read(m, msr, value, name);

	switch (msr) {
	case MSR_IA32_DS_AREA:
		*name = "DS_AREA";
		*value = m->ds_area;
		return true;
	case MSR_IA32_PEBS_ENABLE:
		*name = "PEBS_ENABLE";
		*value = m->pebs_enable;
		return true;
	case MSR_PEBS_DATA_CFG:
		*name = "PEBS_DATA_CFG";
		*value = m->pebs_data;
		return has_groups();
	default:
		return false;
	}
}

/**
 * pebs_model_write() - WRMSR
 * @m: this CPU
 * @msr: ECX
 * @value: EDX:EAX
 *
 * Return: false for #GP
 */
bool pebs_model_write(struct x86_model *m, u32 msr, u64 value)
{
	u64 counters = GENMASK_ULL(x86_model_this()->nr_gp - 1, 0);

	if (msr == MSR_PEBS_LD_LAT_THRESHOLD) {
		m->pebs_latency = value;
		return !pebs_model_no_latency && !(value & ~GENMASK_ULL(15, 0));
	}
	if (x86_model_this()->pebs == PEBS_MODEL_ARCH)
		return pebs_arch_model_write(m, msr, value);

	switch (msr) {
	case MSR_IA32_DS_AREA:
		m->ds_area = value;
		return true;
	case MSR_IA32_PEBS_ENABLE:
		counters = has_groups() ? counters | (u64)intel_model_fixed() << FIXED_BASE :
					  GENMASK_ULL(3, 0) | GENMASK_ULL(35, 32);
		m->pebs_enable = value;
		return !(value & ~counters);
	default:
		m->pebs_data = value;
		return !(value & ~data_cfg_bits());
	}
}

static u64 *put_words(u64 *at, unsigned int nr, u64 first)
{
	while (nr--)
		*at++ = first++;

	return at;
}

static size_t write_skylake(const struct x86_model *m, u64 *at, u64 counters)
{
	u64 *start = at;

	*at++ = PEBS_MODEL_FLAGS;
	*at++ = m->pebs_ip + PEBS_MODEL_LENGTH;
	/* RAX, RBX, RCX, RDX, RSI, RDI, RBP, RSP, R8 to R15 */
	at = put_words(at, 16, PEBS_MODEL_REGS);
	*at++ = counters;
	*at++ = PEBS_MODEL_ADDRESS;
	*at++ = 1;
	*at++ = PEBS_MODEL_LATENCY;
	*at++ = m->pebs_ip;
	*at++ = 0;
	*at++ = PEBS_MODEL_TSC;

	return (at - start) * sizeof(u64);
}

/**
 * pebs_model_put_counters() - write the counters group
 * @m: this CPU; its counters have not been reloaded yet
 * @at: place of the group
 * @recorded: the group's counters, a bit each
 * @metrics: the group has the slots counter and PERF_METRICS, too
 *
 * SDM volume 3, "Adaptive PEBS": bitmaps of 32 bits, whether metrics follow, and the values.
 *
 * Return: end of the group
 */
u64 *pebs_model_put_counters(const struct x86_model *m, u64 *at, u64 recorded, bool metrics)
{
	*at++ = recorded;
	*at++ = metrics ? 3 : 0;
	for (; recorded; recorded &= recorded - 1) {
		int idx = __ffs64(recorded);

		*at++ = idx < FIXED_BASE ? m->counter[idx] : m->fixed[idx - FIXED_BASE];
	}
	if (metrics) {
		*at++ = m->fixed[SLOTS];
		*at++ = m->metrics;
	}

	return at;
}

static size_t write_groups(const struct x86_model *m, u64 *at, u64 counters)
{
	u64 *start = at, *format = at++;

	*format = 0;
	*at++ = m->pebs_ip;
	*at++ = counters;
	*at++ = PEBS_MODEL_TSC;
	if (m->pebs_data & BIT(0)) {
		*at++ = PEBS_MODEL_ADDRESS;
		*at++ = 1;
		*at++ = PEBS_MODEL_LATENCY;
		*at++ = 0;
	}
	if (m->pebs_data & BIT(1)) {
		*at++ = PEBS_MODEL_FLAGS;
		*at++ = m->pebs_ip + PEBS_MODEL_LENGTH;
		/* RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15 */
		*at++ = PEBS_MODEL_REGS;
		*at++ = PEBS_MODEL_REGS + 2;
		*at++ = PEBS_MODEL_REGS + 3;
		*at++ = PEBS_MODEL_REGS + 1;
		*at++ = PEBS_MODEL_REGS + 7;
		*at++ = PEBS_MODEL_REGS + 6;
		*at++ = PEBS_MODEL_REGS + 4;
		*at++ = PEBS_MODEL_REGS + 5;
		at = put_words(at, 8, PEBS_MODEL_REGS + 8);
	}
	if (m->pebs_data & BIT(2))
		at = put_words(at, 32, PEBS_MODEL_XMM);
	if (m->pebs_data & BIT(3)) {
		*format |= m->pebs_data & GENMASK_ULL(31, 24);
		at = lbr_model_put(m, at, 1 + (m->pebs_data >> 24 & 0xff));
	}
	if (m->pebs_data & DATA_CFG_COUNTERS)
		at = pebs_model_put_counters(m, at,
					     (m->pebs_data >> DATA_CFG_GP_SHIFT & 0xffff) |
					     (m->pebs_data >> DATA_CFG_FIXED_SHIFT & 0xff) <<
					     FIXED_BASE, m->pebs_data & DATA_CFG_METRICS);
	*format |= (m->pebs_data & GENMASK(5, 0)) | (u64)(at - start) * sizeof(u64) << 48;

	return (at - start) * sizeof(u64);
}

/**
 * pebs_model_overflow() - write a record for counters that overflow
 * @m: this CPU
 * @set: the counters that overflow
 * @interrupt: set to true if the PEBS buffer interrupts
 *
 * Return: counters of @set without a record
 */
u64 pebs_model_overflow(struct x86_model *m, u64 set, bool *interrupt)
{
	u64 mine = set & m->pebs_enable, left, *ds = (u64 *)(unsigned long)m->ds_area, *at;
	const u64 *fixed_resets = ds + (x86_model_this()->pebs > 4 ? DS_FIXED_RESETS :
					DS_FIXED_RESETS_4);
	size_t size;

	if (x86_model_this()->pebs == PEBS_MODEL_ARCH)
		return pebs_arch_model_overflow(m, set, interrupt);
	if (!mine || !ds)
		return set;

	if (!m->pebs_lost && ds[DS_INDEX] < ds[DS_MAXIMUM]) {
		at = (u64 *)(unsigned long)ds[DS_INDEX];
		size = has_groups() ? write_groups(m, at, mine) : write_skylake(m, at, mine);
		if (m->pebs_garbage)
			at[has_groups() ? 0 : 18] = 0;
		ds[DS_INDEX] += size;
	}
	for (left = mine; left; left &= left - 1) {
		int idx = __ffs64(left);

		/* Keep the counts since the overflow: add the reset value. */
		if (idx < FIXED_BASE)
			m->counter[idx] += ds[DS_RESETS + idx];
		else
			m->fixed[idx - FIXED_BASE] += fixed_resets[idx - FIXED_BASE];
	}
	m->pebs_records++;
	if (ds[DS_INDEX] >= ds[DS_THRESHOLD]) {
		m->global_status |= STATUS_OVFBUF;
		*interrupt = true;
	}

	return set & ~mine;
}

#else

#include <corepmu/pmu.h>

#include "x86/x86.h"
#include "x86/pebs/precise.h"

bool pebs_model_read(struct x86_model *m, u32 msr, u64 *value, const char **name)
{
	return false;
}

bool pebs_model_write(struct x86_model *m, u32 msr, u64 value)
{
	return false;
}

u64 pebs_model_overflow(struct x86_model *m, u64 set, bool *interrupt)
{
	return set;
}

u64 acr_model_overflow(struct x86_model *m, u64 set)
{
	return set;
}

/* Replaces the driver's function, which uses x86's registers */
void x86_describe_precise(struct x86_desc *desc)
{
}

void x86_pebs_reset(struct corepmu_cpu *cpuc)
{
}

void x86_pebs_quiesce(struct corepmu_cpu *cpuc)
{
}

bool x86_pebs_update(struct corepmu_cpu *cpuc, const struct perf_event *event)
{
	return false;
}

void x86_pebs_follow_reset(struct corepmu_cpu *cpuc, struct perf_event *event)
{
}

u64 x86_pebs_overflow(struct corepmu_cpu *cpuc, u64 overflowed)
{
	return overflowed;
}

u64 x86_precise_counters(const struct corepmu_cpu *cpuc)
{
	return 0;
}

u64 x86_pebs_config(const struct x86_desc *desc, const struct perf_event_attr *attr, u64 config)
{
	return config;
}

int x86_pebs_encode(const struct x86_desc *desc, struct perf_event *event)
{
	return -EOPNOTSUPP;
}

void x86_pebs_counters_join(const struct x86_desc *desc, struct perf_event *event)
{
}

bool x86_pebs_shows_record(void)
{
	return false;
}

void x86_pebs_drain_recorded(struct corepmu_cpu *cpuc)
{
}

bool x86_pebs_has_latency(const struct x86_desc *desc)
{
	return false;
}

bool x86_pebs_wants_latency(const struct x86_desc *desc, const struct perf_event_attr *attr,
			    u64 config)
{
	return false;
}

int x86_pebs_refuse_latency(const struct x86_desc *desc, const struct perf_event_attr *attr,
			    u64 config)
{
	return 0;
}

unsigned int x86_pebs_min_period(const struct x86_desc *desc, const struct perf_event_attr *attr)
{
	return 1;
}

#endif /* CONFIG_X86 */
