/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: Intel's records of precise events (PEBS), and where they are written
 */
#ifndef _COREPMU_X86_PEBS_H
#define _COREPMU_X86_PEBS_H

#include <linux/bits.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <corepmu/pmu.h>

struct x86_desc;

/* Values that counters are reset to: general-purpose ones, and from there on fixed ones */
#define DS_RESET_FIXED_FMT4	8
#define DS_RESET_FIXED		32
#define DS_NR_RESETS		48

/**
 * struct x86_ds - the DS management area
 * @bts: of branch trace records, which are not used
 * @base: where the first record is written
 * @index: where the next one is
 * @maximum: none is written from here on
 * @threshold: an interrupt is raised when @index gets here
 * @reset: what the counters are set to after a record
 *
 * SDM volume 3, "Debug Store (DS) Mechanism", figure "Format of the DS save area".
 */
struct x86_ds {
	u64	bts[4];
	u64	base;
	u64	index;
	u64	maximum;
	u64	threshold;
	u64	reset[DS_NR_RESETS];
};

/* As large as that of the kernel's cpu_entry_area (asm/intel_ds.h) */
#define X86_PEBS_BUFFER_SIZE	(PAGE_SIZE << 4)

/* IA32_PEBS_DATA_CFG, and what a record of format 4 says of itself */
#define PEBS_DATA_MEMINFO	BIT_ULL(0)
#define PEBS_DATA_GPRS		BIT_ULL(1)
#define PEBS_DATA_XMMS		BIT_ULL(2)
#define PEBS_DATA_LBRS		BIT_ULL(3)
#define PEBS_DATA_NR_LBRS	GENMASK_ULL(31, 24)

#define PEBS_FORMAT_SKYLAKE	3
#define PEBS_FORMAT_ADAPTIVE	4
#define PEBS_FORMAT_LAST	6

/**
 * struct x86_pebs_record - what a record tells
 * @size: its bytes
 * @counters: those that overflowed, a bit each
 * @ip: the instruction that the event happened at
 * @tsc: when
 * @retire: cycles that it took to retire, of CPUs that tell
 * @regs: registers after the instruction as the record has them, or NULL
 * @has_memory: the next four are there
 * @address: data's linear address
 * @source: where they came from, encoded
 * @latency: cycles, encoded from Golden Cove on
 * @tsx: how a transaction ended
 * @xmm: registers XMM0 to XMM15, or NULL
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
};

/* Registers of a record that @x86_pebs_reg() can be asked for */
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

/* In hw_perf_event.flags: what a record's data source is of */
#define EVENT_LOAD	BIT(COREPMU_EVENT_BACKEND)
#define EVENT_STORE	BIT(COREPMU_EVENT_BACKEND + 1)
/* The event is of loads that take longer than extra_reg.config says. */
#define EVENT_LATENCY	BIT(COREPMU_EVENT_BACKEND + 2)
/* The event is of stores, whose records have the same. */
#define EVENT_STORE_LATENCY	BIT(COREPMU_EVENT_BACKEND + 3)

/* pebs-record.c */
size_t x86_pebs_size(unsigned int format, u64 data);
const void *x86_pebs_count(unsigned int format, const void *at, const void *end, u64 mine, u16 *nr,
			   u64 *counters);
bool x86_pebs_parse(unsigned int format, const void *at, size_t left,
		    struct x86_pebs_record *record);
u64 x86_pebs_reg(unsigned int format, const struct x86_pebs_record *record,
		 enum x86_pebs_reg reg);

/* pebs-event.c */
u64 x86_pebs_data(const struct perf_event *event);
u64 x86_pebs_source(const struct x86_desc *desc, const struct perf_event *event, u64 source);

/* KUnit reads records on other architectures, too, which have no such registers to show. */
#ifdef CONFIG_X86
/**
 * struct x86_pebs_sample - what a sample is made in
 * @time: when the event happened, by the clock of samples, or 0 for now
 * @data: what perf core is told of it
 * @shown: the registers
 *
 * A CPU has one for all records: kernels that clear what is on the stack would do so each time.
 */
struct x86_pebs_sample {
	u64			time;
	struct perf_sample_data	data;
	struct x86_perf_regs	shown;
};

/* pebs.c */
extern const struct corepmu_precise_backend x86_pebs_backend;

/* pebs-sample.c */
void x86_pebs_fill(struct corepmu_cpu *cpuc, struct perf_event *event, u64 period,
		   const struct x86_pebs_record *record, struct pt_regs *iregs,
		   struct x86_pebs_sample *sample);
#endif

/* pebs-latency.c */
int x86_pebs_encode_latency(const struct x86_desc *desc, struct perf_event *event, u64 config);
bool x86_pebs_fits(const struct perf_event *event, const struct perf_event *other);
u64 x86_pebs_latency_source(const struct x86_desc *desc, const struct perf_event *event,
			    u64 source);

/* ds.c */
int x86_ds_open(void);
void x86_ds_close(void);
struct x86_ds *x86_ds_this(void);
void x86_ds_point(bool on);

/* ds-map.c */
int x86_ds_find(void);
struct x86_ds *x86_ds_area(int cpu);
void *x86_ds_map(int cpu, struct page *page);
void x86_ds_unmap(int cpu);

#endif /* _COREPMU_X86_PEBS_H */
