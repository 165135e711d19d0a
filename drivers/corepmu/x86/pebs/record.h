/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: Intel PEBS: records of precise events
 */
#ifndef _COREPMU_X86_PEBS_RECORD_H
#define _COREPMU_X86_PEBS_RECORD_H

#include <linux/bits.h>
#include <linux/types.h>

/* IA32_PEBS_DATA_CFG, and the word of a format 4 record that lists the record's groups */
#define PEBS_DATA_MEMINFO	BIT_ULL(0)
#define PEBS_DATA_GPRS		BIT_ULL(1)
#define PEBS_DATA_XMMS		BIT_ULL(2)
#define PEBS_DATA_LBRS		BIT_ULL(3)
#define PEBS_DATA_COUNTERS	BIT_ULL(4)
#define PEBS_DATA_METRICS	BIT_ULL(5)
#define PEBS_DATA_NR_LBRS	GENMASK_ULL(31, 24)
/* IA32_PEBS_DATA_CFG alone: the counters of PEBS_DATA_COUNTERS */
#define PEBS_DATA_GP		GENMASK_ULL(47, 32)
#define PEBS_DATA_FIXED		GENMASK_ULL(55, 48)
#define PEBS_NR_GP		16
#define PEBS_NR_FIXED		8
#define PEBS_DATA_WHICH		(PEBS_DATA_COUNTERS | PEBS_DATA_METRICS | PEBS_DATA_GP |	\
				 PEBS_DATA_FIXED)

/* Words of one branch in a PEBS record: the LBR registers, in this order */
enum {
	LBR_WORD_FROM	= 0,
	LBR_WORD_TO,
	LBR_WORD_INFO,
	NR_LBR_WORDS
};

#define X86_PEBS_ARCH_UNIT	16

/* IA32_PMC_GPn_CFG_C, and the first word of an architectural record: the record's groups */
#define PEBS_ARCH_GP		BIT_ULL(36)
#define PEBS_ARCH_FIXED		BIT_ULL(37)
#define PEBS_ARCH_METRICS	BIT_ULL(38)
#define PEBS_ARCH_COUNTERS	(PEBS_ARCH_GP | PEBS_ARCH_FIXED | PEBS_ARCH_METRICS)
#define PEBS_ARCH_LBR		GENMASK_ULL(41, 40)
#define PEBS_ARCH_XMM		BIT_ULL(49)
#define PEBS_ARCH_GPR		BIT_ULL(61)
#define PEBS_ARCH_AUX		BIT_ULL(62)
/* IA32_PMC_GPn_CFG_C alone: records may have the value of this counter. */
#define PEBS_ARCH_ALLOW		BIT_ULL(35)

/* Words of the counter group's header; the first word has a bit for each counter in the group. */
#define PEBS_NR_COUNTER_HEADER	2

/**
 * struct x86_pebs_record - contents of one PEBS record, independent of the format
 * @size: size of the record in bytes
 * @counters: counters that overflowed, a bit each
 * @ip: address of the instruction that caused the event
 * @tsc: time stamp counter at the event
 * @retire: retire latency of the instruction in cycles, 0 if the CPU does not record it
 * @regs: registers after the instruction, in the record's layout, or NULL
 * @has_memory: @address, @source, @latency and @tsx are valid
 * @address: linear address of the data
 * @source: encoded data source
 * @latency: latency in cycles; encoded from Golden Cove on
 * @tsx: abort information of a transaction
 * @xmm: registers XMM0 to XMM15, or NULL
 * @branches: branch records in the layout of the LBR registers, the youngest first, or NULL
 * @nr_branches: maximum number of branch records at @branches
 * @counts: the counter group: a header, whose first word has a bit for each recorded counter, and
 *	the counters' values, the lowest counter first; or NULL
 */
struct x86_pebs_record {
	size_t		size;
	u64		counters;
	u64		ip;
	u64		tsc;
	u16		retire;
	const u64	*regs;
	bool		has_memory;
	u64		address;
	u64		source;
	u64		latency;
	u64		tsx;
	const u64	*xmm;
	const u64	*branches;
	unsigned int	nr_branches;
	const u64	*counts;
};

/* Registers that x86_pebs_reg() can read from a record */
enum x86_pebs_reg {
	PEBS_REG_FLAGS,
	PEBS_REG_IP,
	PEBS_REG_AX,
	PEBS_REG_BX,
	PEBS_REG_CX,
	PEBS_REG_DX,
	PEBS_REG_SI,
	PEBS_REG_DI,
	PEBS_REG_BP,
	PEBS_REG_SP,
	PEBS_REG_R8,
	PEBS_REG_R15 = PEBS_REG_R8 + 7,
	NR_PEBS_REGS
};

/* record.c */
size_t x86_pebs_size(unsigned int format, u64 data);
const void *x86_pebs_count(unsigned int format, const void *at, const void *end, u64 mine, u16 *nr,
			   u64 *counters);
bool x86_pebs_parse(unsigned int format, const void *at, size_t left,
		    struct x86_pebs_record *record);
bool x86_pebs_parse_alike(unsigned int format, const void *at, size_t left,
			  struct x86_pebs_record *record);
bool x86_pebs_has_metrics(const u64 *header);
size_t x86_pebs_counter_words(const u64 *header);
size_t x86_pebs_nr_values(u64 data);
u64 x86_pebs_reg(unsigned int format, const struct x86_pebs_record *record,
		 enum x86_pebs_reg reg);

/* arch/record.c */
u64 x86_pebs_arch_groups(u64 data);
size_t x86_pebs_arch_size(u64 data);
bool x86_pebs_arch_parse(const void *at, size_t left, struct x86_pebs_record *record);

#endif /* _COREPMU_X86_PEBS_RECORD_H */
