// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of architectural PEBS and of auto counter reload (ACR)
 *
 * The records are as those of the virtual hardware in tools/qemu/x86/pebs/arch.c, which Linux'
 * built-in driver accepts. Every second record consists of several fragments.
 */
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "access.h"
#include "pebs.h"

#ifdef CONFIG_X86

#define FIXED_BASE		32
#define STATUS_THRESHOLD	BIT_ULL(54)

#define PEBS_BASE		0x3f4
#define PEBS_INDEX		0x3f5
#define GP_CFG_B		0x1902
#define FX_CFG_B		0x1982
#define GP_CFG_C		0x1903
#define FX_CFG_C		0x1983
#define STEP			4

/* CFG_C: records may have the counter's value */
#define ALLOW_IN_RECORD		BIT_ULL(35)
#define GROUP_GP		BIT_ULL(36)
#define GROUP_FIXED		BIT_ULL(37)
#define GROUP_LBR		GENMASK_ULL(41, 40)
#define GROUP_XMM		BIT_ULL(49)
#define GROUP_GPR		BIT_ULL(61)
#define GROUP_AUX		BIT_ULL(62)
#define GROUP_BASIC		BIT_ULL(63)
#define GROUPS			(GROUP_GP | GROUP_FIXED | GROUP_LBR | GROUP_XMM | \
				 GROUP_GPR | GROUP_AUX)
#define CONTINUED		BIT_ULL(31)
#define MODE_64BIT		BIT_ULL(30)
#define RELOAD			GENMASK_ULL(31, 0)

#define INDEX_WR		GENMASK_ULL(26, 4)
#define INDEX_FULL		BIT_ULL(31)
#define INDEX_EN		BIT_ULL(32)
#define INDEX_BITS		(INDEX_WR | INDEX_FULL | INDEX_EN | GENMASK_ULL(58, 36))

/**
 * pebs_arch_model_groups() - CPUID leaf 0x23, subleaf 4, EBX
 *
 * Return: the groups that records may have
 */
u32 pebs_arch_model_groups(void)
{
	return (ALLOW_IN_RECORD | GROUPS) >> 32;
}

/* Return the register of a counter in the ranges from @gp and @fixed on; NULL: no such counter. */
static u64 *register_of(u32 msr, u32 gp, u32 fixed, u64 *registers)
{
	unsigned int nr = (msr - gp) / STEP;

	if (msr >= gp && (msr - gp) % STEP == 0 && nr < x86_model_this()->nr_gp)
		return &registers[nr];
	nr = (msr - fixed) / STEP;
	if (msr >= fixed && (msr - fixed) % STEP == 0 && nr < X86_MODEL_MAX_FIXED &&
	    (intel_model_fixed() & BIT(nr)))
		return &registers[FIXED_BASE + nr];

	return NULL;
}

static u64 *cfg_c_of(struct x86_model *m, u32 msr)
{
	return register_of(msr, GP_CFG_C, FX_CFG_C, m->pebs_cfg_c);
}

static u64 *cfg_b_of(struct x86_model *m, u32 msr)
{
	return register_of(msr, GP_CFG_B, FX_CFG_B, m->acr_cfg_b);
}

/**
 * acr_model_counters() - CPUID leaf 0x23, subleaf 2
 *
 * Return: counters that support ACR: all but the first
 */
u64 acr_model_counters(void)
{
	return GENMASK_ULL(x86_model_this()->nr_gp - 1, 1) | BIT_ULL(FIXED_BASE);
}

static void reload_counter(struct x86_model *m, int idx, bool itself)
{
	u64 *value = idx < FIXED_BASE ? &m->counter[idx] : &m->fixed[idx - FIXED_BASE];
	u64 mask = GENMASK_ULL((idx < FIXED_BASE ? x86_model_this()->gp_width :
				x86_model_this()->fixed_width) - 1, 0);

	*value = ((itself ? *value : 0) + (m->pebs_cfg_c[idx] | ~RELOAD)) & mask;
}

/**
 * acr_model_overflow() - reload the counters that name an overflowing one in their ACR mask
 * @m: this CPU
 * @set: the counters that overflow
 *
 * SDM volume 3, "Auto Counter Reload". A counter that reloads on its own overflow sets no overflow
 * status bit.
 *
 * Return: counters of @set that set their overflow status bit
 */
u64 acr_model_overflow(struct x86_model *m, u64 set)
{
	u64 left, reported = set;

	if (x86_model_this()->pebs != PEBS_MODEL_ARCH)
		return set;
	for (left = acr_model_counters(); left; left &= left - 1) {
		int idx = __ffs64(left);
		bool itself = m->acr_cfg_b[idx] & set & BIT_ULL(idx);

		if (!(m->acr_cfg_b[idx] & set))
			continue;
		reload_counter(m, idx, itself);
		if (itself)
			reported &= ~BIT_ULL(idx);
	}

	return reported;
}

/**
 * pebs_arch_model_read() - RDMSR
 * @m: this CPU
 * @msr: ECX
 * @value: EDX:EAX
 * @name: name of the register
 *
 * Return: false for #GP
 */
bool pebs_arch_model_read(struct x86_model *m, u32 msr, u64 *value, const char **name)
{
	u64 *cfg_c = cfg_c_of(m, msr);

	switch (msr) {
	case PEBS_BASE:
		*name = "PEBS_BASE";
		*value = m->pebs_base;
		return true;
	case PEBS_INDEX:
		*name = "PEBS_INDEX";
		*value = m->pebs_index;
		return true;
	default:
		*name = cfg_c ? "CFG_C" : "CFG_B";
		if (!cfg_c)
			cfg_c = cfg_b_of(m, msr);
		if (cfg_c)
			*value = *cfg_c;
		return cfg_c;
	}
}

/**
 * pebs_arch_model_write() - WRMSR of a register that pebs_arch_model_read() knows
 * @m: this CPU
 * @msr: ECX
 * @value: EDX:EAX
 *
 * Return: false for #GP
 */
bool pebs_arch_model_write(struct x86_model *m, u32 msr, u64 value)
{
	u64 groups = (u64)pebs_arch_model_groups() << 32;

	switch (msr) {
	case PEBS_BASE:
		m->pebs_base = value;
		return !(value & GENMASK_ULL(11, 4));
	case PEBS_INDEX:
		m->pebs_index = value;
		return !(value & ~INDEX_BITS);
	default:
		if (cfg_b_of(m, msr)) {
			*cfg_b_of(m, msr) = value;
			return !(value & ~acr_model_counters()) &&
			       (!value || (acr_model_counters() & BIT_ULL(cfg_b_of(m, msr) -
									  m->acr_cfg_b)));
		}
		*cfg_c_of(m, msr) = value;
		return !(value & ~(RELOAD | groups | GROUP_BASIC));
	}
}

static u64 *start_piece(u64 *start, u64 *end, u64 format)
{
	start[0] = format | (end - start) * sizeof(u64);
	start[1] = 0;

	return end;
}

static u64 *put_basic(const struct x86_model *m, u64 *at, u64 counters)
{
	memset(at, 0, 6 * sizeof(*at));
	at[0] = m->pebs_ip;
	at[1] = counters;
	at[2] = PEBS_MODEL_TSC;

	return at + 6;
}

/* Return the counters that a record with @groups has the values of. */
static u64 find_recorded(const struct x86_model *m, u64 groups)
{
	u64 counters = 0;

	for (int idx = 0; idx < ARRAY_SIZE(m->pebs_cfg_c); idx++)
		if ((groups & (idx < FIXED_BASE ? GROUP_GP : GROUP_FIXED)) &&
		    (m->pebs_cfg_c[idx] & ALLOW_IN_RECORD))
			counters |= BIT_ULL(idx);

	return counters;
}

static u64 *put_groups(const struct x86_model *m, u64 *at, u64 groups)
{
	if (groups & GROUP_AUX) {
		memset(at, 0, 8 * sizeof(*at));
		at[0] = PEBS_MODEL_ADDRESS;
		at[5] = 1;
		at[6] = PEBS_MODEL_LATENCY;
		at += 8;
	}
	if (groups & GROUP_GPR) {
		/* RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8 to R15; SSP */
		static const u8 order[] = {
			0, 2, 3, 1, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15
		};

		*at++ = PEBS_MODEL_FLAGS;
		*at++ = m->pebs_ip + PEBS_MODEL_LENGTH;
		for (unsigned int i = 0; i < ARRAY_SIZE(order); i++)
			*at++ = PEBS_MODEL_REGS + order[i];
		*at++ = 0;
		*at++ = 0;
	}
	if (groups & GROUP_XMM) {
		*at++ = BIT(1);
		*at++ = 0;
		for (unsigned int i = 0; i < 32; i++)
			*at++ = PEBS_MODEL_XMM + i;
	}
	/* The LBR group starts with a header; its third word is the number of branches. */
	if (groups & GROUP_LBR) {
		memset(at, 0, 6 * sizeof(*at));
		at[1] = m->lbr_ctl;
		at[2] = x86_model_this()->lbr_nr;
		at = lbr_model_put(m, at + 6, x86_model_this()->lbr_nr);
	}
	if (groups & (GROUP_GP | GROUP_FIXED)) {
		at = pebs_model_put_counters(m, at, find_recorded(m, groups), false);
		/* Pieces consist of units of 16 bytes. */
		if (hweight64(find_recorded(m, groups)) & 1)
			*at++ = 0;
	}

	return at;
}

static size_t write_record(const struct x86_model *m, u64 *start, u64 counters, u64 groups)
{
	u64 *at = start;

	if (m->pebs_records & 1) {
		at = start_piece(at, at + 2, 0);
		at = start_piece(at, put_basic(m, at + 2, counters),
				 GROUP_BASIC | MODE_64BIT | (groups ? CONTINUED : 0));
		if (groups)
			at = start_piece(at, put_groups(m, at + 2, groups), groups | MODE_64BIT);
	} else {
		at = start_piece(at, put_groups(m, put_basic(m, at + 2, counters), groups),
				 GROUP_BASIC | groups | MODE_64BIT);
	}

	return (at - start) * sizeof(u64);
}

/* Keep the counts since the overflow: add the reload value. */
static void reload_after_record(struct x86_model *m, int idx)
{
	u64 cfg_c = m->pebs_cfg_c[idx], reload = cfg_c & RELOAD ? cfg_c | ~RELOAD : 0;

	if (idx < FIXED_BASE)
		m->counter[idx] += reload & GENMASK_ULL(x86_model_this()->gp_width - 1, 0);
	else
		m->fixed[idx - FIXED_BASE] += reload &
					      GENMASK_ULL(x86_model_this()->fixed_width - 1, 0);
}

/**
 * pebs_arch_model_overflow() - write a record for counters that overflow
 * @m: this CPU
 * @set: the counters that overflow
 * @interrupt: set to true if the PEBS buffer interrupts
 *
 * Return: counters of @set without a record
 */
u64 pebs_arch_model_overflow(struct x86_model *m, u64 set, bool *interrupt)
{
	u64 left, mine = 0, groups = 0, wr = m->pebs_index & INDEX_WR;
	u64 threshold = m->pebs_index >> 32 & INDEX_WR;
	size_t room = PAGE_SIZE << (m->pebs_base & 0xf);
	char *buffer = phys_to_virt(m->pebs_base & PAGE_MASK);
	u64 *at = (u64 *)(buffer + wr);

	if (!(m->pebs_index & INDEX_EN))
		return set;
	for (left = set; left; left &= left - 1) {
		int idx = __ffs64(left);
		u64 cfg_c = m->pebs_cfg_c[idx];

		if (!(cfg_c & GROUP_BASIC))
			continue;
		mine |= BIT_ULL(idx);
		groups |= cfg_c & GROUPS;
	}
	if (!mine)
		return set;

	/* The longest record has 144 words and two more headers. */
	if (!m->pebs_lost && m->pebs_base && wr + 148 * sizeof(u64) <= room) {
		wr += write_record(m, at, mine, groups);
		if (m->pebs_garbage)
			at[0] = 0;
		m->pebs_index = (m->pebs_index & ~INDEX_WR) | wr;
	} else if (!m->pebs_lost) {
		m->pebs_index |= INDEX_FULL;
	}
	for (left = mine; left; left &= left - 1)
		reload_after_record(m, __ffs64(left));
	m->pebs_records++;
	if (wr >= threshold) {
		m->global_status |= STATUS_THRESHOLD;
		*interrupt = true;
	}

	return set & ~mine;
}

#endif
