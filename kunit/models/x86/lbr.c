// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of x86's branch records (LBR)
 *
 * SDM volume 3, chapter 18 "Debug, Branch Profile, ...": 18.4 for IA32_DEBUGCTL and the freeze,
 * 18.4.8.1 for the formats, 18.12 for the registers of Skylake; chapter 19 for architectural LBR.
 * AMD: APM volume 2, 13.1.1.9 "Last Branch Stack". The tests say which branches the CPU takes.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "models/model.h"
#include "access.h"

#define DEBUGCTL_MSR		0x1d9
#define DEBUGCTL_LBR		BIT_ULL(0)
#define DEBUGCTL_FREEZE_LBR	BIT_ULL(11)
#define STATUS_LBR_FRZ		BIT_ULL(58)

#define LBR_SELECT		0x1c8
#define LBR_TOS			0x1c9
#define LBR_FROM		0x680
#define LBR_TO			0x6c0
#define LBR_INFO		0xdc0
#define LBR_FORMAT_FLAGS	3
#define LBR_FORMAT_FLAGS_TSX	4
#define LBR_FORMAT_INFO_TSX	5
#define LBR_FORMAT_TIME		6

/* 18.9, 18.11, 18.12.1 */
#define SELECT_NO_CALL		BIT_ULL(3)
#define SELECT_NO_IND_CALL	BIT_ULL(4)
#define SELECT_NO_RET		BIT_ULL(5)
#define SELECT_NO_IND_JUMP	BIT_ULL(6)
#define SELECT_NO_JUMP		BIT_ULL(7)
#define SELECT_CALL_STACK	BIT_ULL(9)
#define FROM_MISPRED		BIT_ULL(63)
#define FROM_TSX		GENMASK_ULL(62, 61)	/* IN_TX, TX_ABORT */
#define FROM_ABORT		BIT_ULL(61)

#define MODEL_HASWELL		0x3c

#define ARCH_LBR_CTL		0x14ce
#define ARCH_LBR_DEPTH		0x14cf
#define ARCH_LBR_FROM		0x1500
#define ARCH_LBR_TO		0x1600
#define ARCH_LBR_INFO		0x1200

#define AMD_LBR_SELECT		0xc000010e
#define AMD_DBG_EXTN_CFG	0xc000010f
#define AMD_SAMP_BR		0xc0010300
#define AMD_LBRV2EN		BIT_ULL(6)

const struct x86_model_code *x86_model_code;
unsigned int x86_model_nr_code;

static bool read_amd(struct x86_model *m, u32 msr, u64 *value, const char **name, int *index)
{
	unsigned int i = (msr - AMD_SAMP_BR) / 2;

	switch (msr) {
	case DEBUGCTL_MSR:
		*name = "DEBUGCTL";
		*value = m->debugctl;
		return true;
	case AMD_LBR_SELECT:
		*name = "LBR_SELECT";
		*value = m->lbr_select;
		return true;
	case AMD_DBG_EXTN_CFG:
		*name = "DBG_EXTN_CFG";
		*value = m->lbr_ctl;
		return true;
	}
	if (msr < AMD_SAMP_BR || i >= x86_model_this()->lbr_nr)
		return false;
	*name = msr & 1 ? "SAMP_BR_TO" : "SAMP_BR_FROM";
	*index = i;
	*value = msr & 1 ? m->lbr[i].to : m->lbr[i].from;

	return true;
}

/* Check whether @msr is one of @nr registers from @base on, and set @index. */
static bool is_one(u32 msr, u32 base, unsigned int nr, int *index)
{
	if (msr < base || msr >= base + nr)
		return false;
	*index = msr - base;

	return true;
}

static bool has_info(void)
{
	return x86_model_this()->lbr_format >= LBR_FORMAT_INFO_TSX &&
	       x86_model_this()->lbr_format != LBR_FORMAT_TIME;
}

static bool has_tsx_flags(void)
{
	return x86_model_this()->lbr_format == LBR_FORMAT_FLAGS_TSX && x86_model_this()->rtm;
}

/*
 * Bits of a written source address that must have the same value, the sign. Errata HSD172 and
 * BDM127: also those of the flags of transactions, if the CPU has no transactions.
 */
static u64 from_sign_bits(void)
{
	return has_tsx_flags() ? GENMASK_ULL(60, 47) : GENMASK_ULL(62, 47);
}

static bool can_write_from(u64 value)
{
	if (has_info() || x86_model_this()->lbr_format == LBR_FORMAT_TIME)
		return true;
	value &= from_sign_bits();

	return !value || value == from_sign_bits();
}

static bool read_records(struct x86_model *m, u32 msr, const u32 base[3], u64 *value,
			 const char **name, int *index)
{
	static const char * const names[] = { "LBR_FROM", "LBR_TO", "LBR_INFO" };

	/* In formats 3, 4 and 6 the addresses' registers have the flags and the cycles. */
	for (unsigned int i = 0; i < (has_info() ? 3 : 2); i++) {
		if (!is_one(msr, base[i], x86_model_this()->lbr_nr, index))
			continue;
		*name = names[i];
		*value = i == 0 ? m->lbr[*index].from :
			 i == 1 ? m->lbr[*index].to : m->lbr[*index].info;
		if (m->lbr_absent)
			*value = 0;
		return true;
	}

	return false;
}

static const u32 ring_base[] = { LBR_FROM, LBR_TO, LBR_INFO };
static const u32 arch_base[] = { ARCH_LBR_FROM, ARCH_LBR_TO, ARCH_LBR_INFO };

/**
 * lbr_model_read() - RDMSR of a register that is not a counter's
 * @m: this CPU
 * @msr: ECX
 * @value: EDX:EAX
 * @name: name of the register
 * @index: filled in with the index of the register
 *
 * Return: false for #GP
 */
bool lbr_model_read(struct x86_model *m, u32 msr, u64 *value, const char **name, int *index)
{
	const struct x86_model_cpu *cpu = x86_model_this();

	if (!cpu->lbr_nr)
		return false;
	if (cpu->amd)
		return read_amd(m, msr, value, name, index);

	if (cpu->arch_lbr) {
		switch (msr) {
		case ARCH_LBR_CTL:
			*name = "LBR_CTL";
			*value = m->lbr_ctl;
			return true;
		case ARCH_LBR_DEPTH:
			*name = "LBR_DEPTH";
			*value = cpu->lbr_nr;
			return true;
		}
		return read_records(m, msr, arch_base, value, name, index);
	}

	switch (msr) {
	case LBR_SELECT:
		*name = "LBR_SELECT";
		*value = m->lbr_select;
		return true;
	case LBR_TOS:
		*name = "LBR_TOS";
		*value = m->lbr_tos;
		return true;
	}
	return read_records(m, msr, ring_base, value, name, index);
}

static void write_record(struct x86_model *m, const char *name, int index, u64 value)
{
	if (!strcmp(name, "LBR_FROM") || !strcmp(name, "SAMP_BR_FROM"))
		m->lbr[index].from = value;
	else if (!strcmp(name, "LBR_INFO"))
		m->lbr[index].info = value;
	else
		m->lbr[index].to = value;
}

/**
 * lbr_model_write() - WRMSR of a register that is not a counter's
 * @m: this CPU
 * @msr: ECX
 * @value: EDX:EAX
 * @name: name of the register
 * @index: filled in with the index of the register
 *
 * Return: false for #GP
 */
bool lbr_model_write(struct x86_model *m, u32 msr, u64 value, const char **name, int *index)
{
	u64 old;

	if (!lbr_model_read(m, msr, &old, name, index))
		return false;

	switch (msr) {
	case DEBUGCTL_MSR:
		m->debugctl = value;
		return !(value & ~DEBUGCTL_FREEZE_LBR) && x86_model_this()->lbr_freeze;
	case LBR_SELECT:
	case AMD_LBR_SELECT:
		m->lbr_select = value;
		if (x86_model_this()->lbr_format == LBR_FORMAT_FLAGS && (value & SELECT_CALL_STACK))
			return false;
		return !(value & ~GENMASK_ULL(9, 0));
	case LBR_TOS:
		m->lbr_tos = value;
		return true;
	case ARCH_LBR_CTL:
		/* 19.1.1: reserved bits */
		m->lbr_ctl = value;
		return !(value & ~0x7f000fULL);
	case AMD_DBG_EXTN_CFG:
		m->lbr_ctl = value;
		return true;
	case ARCH_LBR_DEPTH:
		/*
		 * 19.1.3: a write of a depth that CPUID does not list faults; a valid one clears
		 * all records.
		 */
		if (!value || value % 8 || value > x86_model_this()->lbr_nr)
			return false;
		memset(m->lbr, 0, sizeof(m->lbr));
		return true;
	default:
		if (!strcmp(*name, "LBR_FROM") && !can_write_from(value))
			return false;
		write_record(m, *name, *index, value);
		return true;
	}
}

/**
 * lbr_model_freeze() - freeze the records when an overflow interrupts
 * @m: this CPU
 */
void lbr_model_freeze(struct x86_model *m)
{
	if (!x86_model_this()->lbr_nr || !(m->debugctl & DEBUGCTL_FREEZE_LBR))
		return;
	/* 18.4.7: until version 3 the freeze clears the enable bit. */
	if (x86_model_this()->amd || x86_model_this()->version >= 4)
		m->global_status |= STATUS_LBR_FRZ;
	else
		m->debugctl &= ~DEBUGCTL_LBR;
}

static bool is_recording(struct x86_model *m)
{
	const struct x86_model_cpu *cpu = x86_model_this();

	if (m->global_status & STATUS_LBR_FRZ)
		return false;
	if (cpu->amd)
		return m->lbr_ctl & AMD_LBRV2EN;

	return cpu->arch_lbr ? m->lbr_ctl & BIT_ULL(0) : m->debugctl & DEBUGCTL_LBR;
}

/* 19.1.1: bits of IA32_LBR_CTL enable branch types; bits of MSR_LBR_SELECT suppress them. */
static bool arch_passes(u64 ctl, bool user, enum x86_model_branch type)
{
	static const u8 bits[] = {
		[X86_MODEL_COND] = 16, [X86_MODEL_JUMP] = 17, [X86_MODEL_IND_JUMP] = 18,
		[X86_MODEL_CALL] = 19, [X86_MODEL_IND_CALL] = 20, [X86_MODEL_RET] = 21,
		[X86_MODEL_FAR] = 22,
	};

	return (ctl & (user ? BIT_ULL(2) : BIT_ULL(1))) && (ctl & BIT_ULL(bits[type]));
}

/* Erratum of Nehalem and Westmere: calls and returns are lost if jumps are suppressed. */
static u64 select_with_erratum(u64 select)
{
	if (!x86_model_this()->lbr_errata)
		return select;
	if (select & SELECT_NO_JUMP)
		select |= SELECT_NO_CALL | SELECT_NO_RET;
	if (select & SELECT_NO_IND_JUMP)
		select |= SELECT_NO_CALL | SELECT_NO_RET | SELECT_NO_IND_CALL;

	return select;
}

static bool passes_filter(struct x86_model *m, u64 to, enum x86_model_branch type)
{
	bool user = (s64)to >= 0;

	if (x86_model_this()->arch_lbr)
		return arch_passes(m->lbr_ctl, user, type);
	if (select_with_erratum(m->lbr_select) & BIT_ULL(type))
		return false;

	return !(m->lbr_select & (user ? BIT_ULL(1) : BIT_ULL(0)));
}

/* 19.1.3.3: BR_TYPE */
static u64 type_of(enum x86_model_branch type)
{
	static const u8 types[] = {
		[X86_MODEL_COND] = 0, [X86_MODEL_IND_JUMP] = 1, [X86_MODEL_JUMP] = 2,
		[X86_MODEL_IND_CALL] = 3, [X86_MODEL_CALL] = 4, [X86_MODEL_RET] = 5,
		[X86_MODEL_FAR] = 8,
	};

	return (u64)types[type] << 56 | BIT_ULL(60);
}

/* 18.12.2 and 19.1.2.4: in call-stack mode a return removes the youngest record. */
static bool follows_calls(const struct x86_model *m)
{
	if (x86_model_this()->amd)
		return false;

	return x86_model_this()->arch_lbr ? m->lbr_ctl & BIT_ULL(3) : m->lbr_select & BIT_ULL(9);
}

static void pop_call(struct x86_model *m)
{
	unsigned int nr = x86_model_this()->lbr_nr;

	if (x86_model_this()->arch_lbr) {
		memmove(&m->lbr[0], &m->lbr[1], (nr - 1) * sizeof(m->lbr[0]));
		m->lbr[nr - 1] = (struct x86_model_lbr) { };
	} else {
		m->lbr[m->lbr_tos] = (struct x86_model_lbr) { };
		m->lbr_tos = (m->lbr_tos + nr - 1) % nr;
	}
}

/* Write the next record of a ring. @flags: MISPRED and the flags of TSX, as in LBR_INFO; cycles */
static void push_record(struct x86_model *m, u64 from, u64 to, u64 flags)
{
	const struct x86_model_cpu *cpu = x86_model_this();
	struct x86_model_lbr *record;

	m->lbr_tos = (m->lbr_tos + 1) % cpu->lbr_nr;
	record = &m->lbr[m->lbr_tos];
	*record = (struct x86_model_lbr) { .from = from, .to = to };
	if (has_info()) {
		record->info = flags;
		return;
	}
	record->from = (from & ~FROM_MISPRED) | (flags & FROM_MISPRED);
	if (cpu->lbr_format == LBR_FORMAT_FLAGS_TSX)
		record->from = (record->from & ~FROM_TSX) | (cpu->rtm ? flags & FROM_TSX : 0);
	if (cpu->lbr_format == LBR_FORMAT_TIME)
		record->to = (to & GENMASK_ULL(47, 0)) | flags << 48;
}

/**
 * x86_model_branch() - take a branch
 * @from: address of the branch
 * @to: its target
 * @type: branch type
 * @flags: further bits of INFO; on AMD bit 63 of FROM and bit 62 of TO
 */
void x86_model_branch(u64 from, u64 to, enum x86_model_branch type, u64 flags)
{
	struct x86_model *m = this_cpu_ptr(&x86_model_state);
	struct x86_model_lbr record = { .from = from, .to = to, .info = flags };

	if (!is_recording(m) || !passes_filter(m, to, type))
		return;
	if (follows_calls(m) && type == X86_MODEL_RET) {
		pop_call(m);
		return;
	}

	if (!x86_model_this()->amd && !x86_model_this()->arch_lbr) {
		push_record(m, from, to, flags);
		/* A record without the flag: lbr_double_abort in arch/x86/events/intel/lbr.c */
		if (x86_model_this()->model == MODEL_HASWELL && (flags & FROM_ABORT))
			push_record(m, from, to, flags & ~FROM_ABORT);
		return;
	}
	if (x86_model_this()->amd) {
		record.from = (from & GENMASK_ULL(57, 0)) | (flags & BIT_ULL(63));
		record.to = (to & GENMASK_ULL(57, 0)) | (flags & BIT_ULL(62)) | BIT_ULL(63);
	} else {
		record.info |= type_of(type);
	}
	memmove(&m->lbr[1], &m->lbr[0], (x86_model_this()->lbr_nr - 1) * sizeof(m->lbr[0]));
	m->lbr[0] = record;
}

/**
 * lbr_model_put() - write branches into a PEBS record
 * @m: this CPU
 * @at: where to write
 * @nr: number of branches
 *
 * 20.9.2.3 "LBR": FROM, TO and INFO of each branch, the youngest first; zeros for missing ones.
 *
 * Return: the address behind the branches
 */
u64 *lbr_model_put(const struct x86_model *m, u64 *at, unsigned int nr)
{
	const struct x86_model_cpu *cpu = x86_model_this();

	for (unsigned int i = 0; i < nr; i++) {
		unsigned int where = cpu->arch_lbr ? i : (m->lbr_tos - i) % cpu->lbr_nr;
		struct x86_model_lbr none = { };
		const struct x86_model_lbr *record = i < cpu->lbr_nr ? &m->lbr[where] : &none;

		*at++ = record->from;
		*at++ = record->to;
		*at++ = record->info;
	}

	return at;
}

static const struct x86_model_code *find_code(u64 addr)
{
	for (unsigned int i = 0; i < x86_model_nr_code; i++)
		if (x86_model_code[i].addr == addr)
			return &x86_model_code[i];

	return NULL;
}

/**
 * x86_read_code() - read the code at an address
 * @addr: the address
 * @code: filled in
 * @size: size of @code
 *
 * Return: number of bytes that can be read
 */
unsigned int x86_read_code(u64 addr, u8 *code, unsigned int size)
{
	const struct x86_model_code *at = find_code(addr);

	if (!at)
		return 0;
	size = min_t(unsigned int, size, at->len ?: sizeof(at->code));
	memcpy(code, at->code, size);

	return size;
}

/**
 * x86_is_64bit_code() - check whether the code at an address is 64-bit code
 * @addr: the address
 *
 * Return: true for 64-bit code
 */
bool x86_is_64bit_code(u64 addr)
{
	const struct x86_model_code *at = find_code(addr);

	return !at || !at->is_32bit;
}
