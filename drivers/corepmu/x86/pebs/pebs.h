/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: Intel's records of precise events (PEBS), and where they are written
 */
#ifndef _COREPMU_X86_PEBS_H
#define _COREPMU_X86_PEBS_H

#include <linux/bits.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <corepmu/branch.h>
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

/* As large as that of the kernel's cpu_entry_area (asm/intel_ds.h); a power of two */
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
/* Architectural records, of which CPUID tells the rest */
#define PEBS_FORMAT_ARCH	15
#define X86_PEBS_ARCH_UNIT	16

/* IA32_PMC_GPn_CFG_C, and the first word of an architectural record: its groups */
#define PEBS_ARCH_LBR		GENMASK_ULL(41, 40)
#define PEBS_ARCH_XMM		BIT_ULL(49)
#define PEBS_ARCH_GPR		BIT_ULL(61)
#define PEBS_ARCH_AUX		BIT_ULL(62)

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
 * @branches: the last branches as their registers have them, the youngest first, or NULL
 * @nr_branches: how many there may be
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

/* What shows registers of user space, and where its stack is */
#define SAMPLE_USER_REGS	(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* record.c */
size_t x86_pebs_size(unsigned int format, u64 data);
const void *x86_pebs_count(unsigned int format, const void *at, const void *end, u64 mine, u16 *nr,
			   u64 *counters);
bool x86_pebs_parse(unsigned int format, const void *at, size_t left,
		    struct x86_pebs_record *record);
u64 x86_pebs_reg(unsigned int format, const struct x86_pebs_record *record,
		 enum x86_pebs_reg reg);

/* arch-record.c */
u64 x86_pebs_arch_groups(u64 data);
size_t x86_pebs_arch_size(u64 data);
bool x86_pebs_arch_parse(const void *at, size_t left, struct x86_pebs_record *record);

/* event.c */
u64 x86_pebs_data(const struct perf_event *event);
u64 x86_pebs_source(const struct x86_desc *desc, const struct perf_event *event, u64 source);

/* KUnit reads records on other architectures, too, which have no such registers to show. */
#ifdef CONFIG_X86
/**
 * struct x86_pebs_sample - what a sample is made in
 * @time: when the event happened, by the clock of samples, or 0 for now
 * @data: what perf core is told of it
 * @shown: the registers
 * @branches: the last branches, of events that want any
 * @has_branches: the record has them
 *
 * A CPU has one for all records: kernels that clear what is on the stack would do so each time.
 */
struct x86_pebs_sample {
	u64			time;
	struct perf_sample_data	data;
	struct x86_perf_regs	shown;
	bool			has_branches;
	struct corepmu_branch_list branches;
};

/**
 * struct x86_pebs - a CPU's records
 * @busy: they are being made samples of
 * @data: what those to come are to have: IA32_PEBS_DATA_CFG
 * @programmed: what that register has
 * @size: how long those to come are
 * @latency: cycles that loads which are counted take at least: MSR_PEBS_LD_LAT_THRESHOLD, or 0
 * @threshold: what that register has
 * @gathering: the CPU sets counters to their next period itself, those that @reload has
 * @patient: of all counters, and there is no interrupt before there are many records
 * @now: local_clock() when records began to be made samples of
 * @now_tsc: the time stamp counter of then
 * @period: of each counter that has a record, the period that has ended
 * @reload: what the CPU sets each counter back by, while @gathering
 * @nr: how many records there are of each counter
 * @longest: how much the counter that counted most was set back by, with these
 * @large: one of the events may have its records gather
 * @told: the debug store and IA32_PEBS_ENABLE have what events that do not gather need
 * @enabled: the counters that IA32_PEBS_ENABLE names
 * @barred: none were written since the PMU was started last: KVM has the CPU
 * @index: IA32_PEBS_INDEX, but for how far it has been written
 * @rewinds: how often that has been made 0
 * @sample: what samples are made in, while @busy
 *
 * Only the CPU itself touches it, with interrupts disabled; an NMI leaves it alone while @busy.
 */
struct x86_pebs {
	bool	busy;
	u64	data;
	u64	programmed;
	size_t	size;
	u64	latency;
	u64	threshold;
	bool	gathering;
	bool	patient;
	u64	now;
	u64	now_tsc;
	u64	period[COREPMU_MAX_COUNTERS];
	u64	reload[COREPMU_MAX_COUNTERS];
	u16	nr[COREPMU_MAX_COUNTERS];
	u64	longest;
	bool	large;
	bool	told;
	u64	enabled;
	bool	barred;
	u64	index;
	unsigned int rewinds;
	struct x86_pebs_sample sample;
};

DECLARE_PER_CPU(struct x86_pebs, x86_pebs);

static inline bool x86_pebs_is_precise(const struct perf_event *event)
{
	return event && (event->hw.flags & COREPMU_EVENT_PRECISE);
}

/* core.c */
extern const struct corepmu_precise_backend x86_pebs_backend;

/* drain.c */
u64 x86_pebs_account(struct corepmu_cpu *cpuc, const void *at, const void *end);
void x86_pebs_emit(struct corepmu_cpu *cpuc, const void *at, const void *end, u64 ended,
		   struct pt_regs *regs, bool interrupt);

/* arch.c */
const char *x86_pebs_arch_describe(struct x86_desc *desc);
void x86_pebs_arch_fetch(struct x86_ds *ds);
void x86_pebs_arch_rewind(void);
void x86_pebs_arch_start(struct corepmu_cpu *cpuc, const struct x86_ds *ds, u64 enable,
			 unsigned int rewinds);
void x86_pebs_arch_stop(void);
void x86_pebs_arch_point(struct page *page);
void x86_pebs_arch_reset(const struct x86_desc *desc);

/* sample.c */
void x86_pebs_fill(struct corepmu_cpu *cpuc, struct perf_event *event, u64 period,
		   const struct x86_pebs_record *record, struct pt_regs *iregs,
		   struct x86_pebs_sample *sample);
#endif

/* latency.c */
int x86_pebs_encode_latency(const struct x86_desc *desc, struct perf_event *event, u64 config);
bool x86_pebs_fits(const struct perf_event *event, const struct perf_event *other);
u64 x86_pebs_latency_source(const struct x86_desc *desc, const struct perf_event *event,
			    u64 source);

/* ds.c */
void x86_ds_set_physical(bool physical);
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
