// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: precise samples of Intel's CPUs (PEBS with a debug store)
 *
 * SDM volume 3, "Processor Event Based Sampling (PEBS)". When a counter overflows that
 * IA32_PEBS_ENABLE names, the CPU writes a record, sets the counter to what the debug store
 * has for it, which is 0 here, and goes on; once there is a record it interrupts, with bit 62 of
 * the status. The counter's own bit means nothing then. From 0 on the counter counts what has
 * come since the overflow: for counts and periods it is as any other.
 *
 * Registers and address of a sample are the record's, the callchain is that of where the
 * interrupt came, which can be followed.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/sched/task_stack.h>

#include <asm/ptrace.h>

#include <corepmu/counter.h>
#include <corepmu/ksyms.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

#include "intel.h"
#include "msr.h"
#include "pebs.h"
#include "x86.h"

/**
 * struct pebs - a CPU's records
 * @busy: they are being made samples of
 * @data: what those to come are to have: IA32_PEBS_DATA_CFG
 * @programmed: what that register has
 * @size: how long those to come are
 * @latency: cycles that loads which are counted take at least: MSR_PEBS_LD_LAT_THRESHOLD, or 0
 * @threshold: what that register has
 * @period: of each counter that has a record, the period that has ended
 *
 * Only the CPU itself touches it, with interrupts disabled; an NMI leaves it alone while @busy.
 */
struct pebs {
	bool	busy;
	u64	data;
	u64	programmed;
	size_t	size;
	u64	latency;
	u64	threshold;
	u64	period[COREPMU_MAX_COUNTERS];
};

static DEFINE_PER_CPU(struct pebs, pebs);

/* SDM volume 3, figure "Layout of IA32_PEBS_ENABLE MSR": LL_EN_PMC0 and up, before format 4 */
#define LATENCY_SHIFT	32

static const struct x86_desc *to_desc(const struct corepmu_cpu *cpuc)
{
	return to_x86(cpuc->pmu);
}

static bool is_precise(const struct perf_event *event)
{
	return event && (event->hw.flags & COREPMU_EVENT_PRECISE);
}

/* Those of @counters that precise events are on */
static u64 precise_of(const struct corepmu_cpu *cpuc, u64 counters)
{
	u64 precise = 0;

	for (; counters; counters &= counters - 1) {
		int idx = __ffs64(counters);

		if (is_precise(cpuc->events[idx]))
			precise |= BIT_ULL(idx);
	}

	return precise;
}

/**
 * x86_pebs_counters() - counters whose overflows are told by records
 * @cpuc: this CPU's state
 *
 * IRQs off, or NMI.
 *
 * Return: a bit for each
 */
u64 x86_pebs_counters(const struct corepmu_cpu *cpuc)
{
	return cpuc->precise_users ? precise_of(cpuc, cpuc->used) : 0;
}

/* Events have come or gone: what are records to have now? */
static void pebs_change(struct corepmu_cpu *cpuc)
{
	const struct x86_desc *desc = to_desc(cpuc);
	struct pebs *p = this_cpu_ptr(&pebs);
	u64 left, data = 0;

	p->latency = 0;
	for (left = precise_of(cpuc, cpuc->used); left; left &= left - 1) {
		const struct perf_event *event = cpuc->events[__ffs64(left)];

		if (desc->pebs_all)
			data |= x86_pebs_data(event);
		if (event->hw.flags & EVENT_LATENCY)
			p->latency = event->hw.extra_reg.config;
	}
	p->data = data;
	p->size = x86_pebs_size(desc->pebs_format, data);
}

/*
 * The kernel tells KVM which registers to switch for the built-in driver alone
 * (perf_guest_get_msrs()): in a guest the CPU would write to the same address of that. So
 * events get no records from when KVM takes the CPU on.
 */
static noinline void tell_of_guests(void)
{
	pr_warn_once("KVM has taken a CPU: there are no precise samples while it has\n");
}

static void pebs_start(struct corepmu_cpu *cpuc)
{
	struct x86_ds *ds = x86_ds_this();
	struct pebs *p = this_cpu_ptr(&pebs);
	u64 left, enable = precise_of(cpuc, cpuc->active);

	if (!ds)
		return;
	if (unlikely(x86_may_run_guests())) {
		tell_of_guests();
		return;
	}

	if (to_desc(cpuc)->pebs_all && p->programmed != p->data) {
		x86_write_msr(MSR_PEBS_DATA_CFG, p->data);
		p->programmed = p->data;
	}
	/* From format 4 on the event itself says it. */
	for (left = p->latency && !to_desc(cpuc)->pebs_all ? enable : 0; left; left &= left - 1)
		if (cpuc->events[__ffs64(left)]->hw.flags & EVENT_LATENCY)
			enable |= (left & -left) << LATENCY_SHIFT;
	if (p->latency && p->threshold != p->latency) {
		x86_write_msr(MSR_PEBS_LD_LAT_THRESHOLD, p->latency);
		p->threshold = p->latency;
	}
	ds->maximum = ds->base + X86_PEBS_BUFFER_SIZE / p->size * p->size;
	ds->threshold = ds->base + p->size;
	x86_write_msr(MSR_IA32_PEBS_ENABLE, enable);
}

static void pebs_stop(struct corepmu_cpu *cpuc)
{
	x86_write_msr(MSR_IA32_PEBS_ENABLE, 0);
}

/* Samples */

static void set_ip(struct pt_regs *regs, u64 ip)
{
	/* Bit 63: corepmu_branch_is_kernel() */
	if (corepmu_branch_is_kernel(ip) != !user_mode(regs))
		regs->cs = corepmu_branch_is_kernel(ip) ? __KERNEL_CS : __USER_CS;
	regs->ip = ip;
}

static void set_regs(struct pt_regs *regs, unsigned int format,
		     const struct x86_pebs_record *record)
{
	regs->ax = x86_pebs_reg(format, record, PEBS_REG_AX);
	regs->bx = x86_pebs_reg(format, record, PEBS_REG_BX);
	regs->cx = x86_pebs_reg(format, record, PEBS_REG_CX);
	regs->dx = x86_pebs_reg(format, record, PEBS_REG_DX);
	regs->si = x86_pebs_reg(format, record, PEBS_REG_SI);
	regs->di = x86_pebs_reg(format, record, PEBS_REG_DI);
	regs->bp = x86_pebs_reg(format, record, PEBS_REG_BP);
	regs->sp = x86_pebs_reg(format, record, PEBS_REG_SP);
#ifdef CONFIG_X86_64
	regs->r8 = x86_pebs_reg(format, record, PEBS_REG_R8);
	regs->r9 = x86_pebs_reg(format, record, PEBS_REG_R8 + 1);
	regs->r10 = x86_pebs_reg(format, record, PEBS_REG_R8 + 2);
	regs->r11 = x86_pebs_reg(format, record, PEBS_REG_R8 + 3);
	regs->r12 = x86_pebs_reg(format, record, PEBS_REG_R8 + 4);
	regs->r13 = x86_pebs_reg(format, record, PEBS_REG_R8 + 5);
	regs->r14 = x86_pebs_reg(format, record, PEBS_REG_R8 + 6);
	regs->r15 = x86_pebs_reg(format, record, PEBS_REG_R8 + 7);
#endif
}

/* How a transaction ended, and with what code: include/uapi/linux/perf_event.h, PERF_TXN_* */
#define TSX_FLAGS	GENMASK_ULL(39, 32)
#define TSX_CYCLES	GENMASK_ULL(31, 0)
#define ABORT_IN_AX	BIT(0)
#define ABORT_CODE	GENMASK_ULL(31, 24)

static u64 transaction(unsigned int format, const struct x86_pebs_record *record)
{
	u64 txn = FIELD_GET(TSX_FLAGS, record->tsx), ax;

	if ((txn & PERF_TXN_TRANSACTION) && record->regs) {
		ax = x86_pebs_reg(format, record, PEBS_REG_AX);
		if (ax & ABORT_IN_AX)
			txn |= FIELD_GET(ABORT_CODE, ax) << PERF_TXN_ABORT_SHIFT;
	}

	return txn;
}

/* From Golden Cove on two latencies are in one word: of the instruction, and of the cache. */
#define LATENCY_INSTRUCTION	GENMASK_ULL(15, 0)
#define LATENCY_CACHE		GENMASK_ULL(47, 32)

static bool has_two_latencies(const struct x86_desc *desc)
{
	return desc->uarch >= &intel_uarches[UARCH_GOLDEN_COVE] &&
	       desc->uarch <= &intel_uarches[UARCH_LION_COVE];
}

static void set_weight(const struct x86_desc *desc, const struct perf_event *event,
		       const struct x86_pebs_record *record, struct perf_sample_data *data)
{
	u64 latency = record->latency;

	data->weight.full = 0;
	if (desc->pebs_timing && (event->attr.sample_type & PERF_SAMPLE_WEIGHT_STRUCT))
		data->weight.var3_w = record->retire;
	/* Before format 4 it is of loads alone that were chosen by it. */
	if (!desc->pebs_all && !(event->hw.flags & EVENT_LATENCY))
		latency = 0;
	if (has_two_latencies(desc)) {
		data->weight.var2_w = FIELD_GET(LATENCY_INSTRUCTION, latency);
		latency = FIELD_GET(LATENCY_CACHE, latency);
	}
	latency = latency ?: FIELD_GET(TSX_CYCLES, record->tsx);
	if (event->attr.sample_type & PERF_SAMPLE_WEIGHT)
		data->weight.full = latency;
	else
		data->weight.var1_dw = latency;
	data->sample_flags |= PERF_SAMPLE_WEIGHT_TYPE;
}

#define SAMPLE_ADDR	(PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_DATA_PAGE_SIZE)

static void set_memory(const struct x86_desc *desc, const struct perf_event *event,
		       const struct x86_pebs_record *record, struct perf_sample_data *data)
{
	u64 type = event->attr.sample_type;

	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		set_weight(desc, event, record, data);
	if (type & PERF_SAMPLE_DATA_SRC) {
		data->data_src.val = x86_pebs_source(event, record->source);
		data->sample_flags |= PERF_SAMPLE_DATA_SRC;
	}
	if (type & SAMPLE_ADDR) {
		data->addr = record->address;
		data->sample_flags |= PERF_SAMPLE_ADDR;
	}
	if (type & PERF_SAMPLE_TRANSACTION) {
		data->txn = transaction(desc->pebs_format, record);
		data->sample_flags |= PERF_SAMPLE_TRANSACTION;
	}
}

/* What a record shows of an event that excludes the kernel: see emit_hidden() in overflow.c. */
static struct pt_regs *user_regs(const struct perf_event *event, struct pt_regs *regs)
{
	if (!event->attr.exclude_kernel || user_mode(regs) || (current->flags & PF_KTHREAD))
		return regs;

	return task_pt_regs(current);
}

static void fill_regs(const struct x86_desc *desc, const struct perf_event *event,
		      const struct x86_pebs_record *record, struct x86_perf_regs *shown)
{
	struct pt_regs *regs = &shown->regs;

	if (record->regs) {
		regs->flags = x86_pebs_reg(desc->pebs_format, record, PEBS_REG_FLAGS);
		if (event->attr.sample_type & PERF_SAMPLE_REGS_INTR)
			set_regs(regs, desc->pebs_format, record);
	}
	regs->flags &= ~(PERF_EFLAGS_EXACT | X86_VM_MASK);
	if (event->attr.precise_ip > 1) {
		set_ip(regs, record->ip);
		regs->flags |= PERF_EFLAGS_EXACT;
	} else if (record->regs) {
		set_ip(regs, x86_pebs_reg(desc->pebs_format, record, PEBS_REG_IP));
	}
	shown->xmm_regs = (u64 *)record->xmm;
}

static void emit_record(struct corepmu_cpu *cpuc, struct perf_event *event, u64 period,
			const struct x86_pebs_record *record, struct pt_regs *iregs)
{
	const struct x86_desc *desc = to_desc(cpuc);
	struct x86_perf_regs shown = { .regs = *iregs };
	struct perf_sample_data data;
	bool hidden;

	perf_sample_data_init(&data, 0, period);
	fill_regs(desc, event, record, &shown);
	hidden = user_regs(event, &shown.regs) != &shown.regs;
	if (hidden) {
		shown.regs = *task_pt_regs(current);
		shown.xmm_regs = NULL;
	} else if (record->has_memory) {
		set_memory(desc, event, record, &data);
	}
	if (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
		compat_sample_save_callchain(&data, corepmu_perf_callchain(event,
							user_regs(event, iregs)));
	corepmu_precise_emit(cpuc, event, &data, &shown.regs);
}

/* Records */

/* A record of which it cannot be told where it ends: neither can it of those after it. */
static noinline void tell_of_garbage(const void *at)
{
	pr_warn_once("a record of a precise event makes no sense (%#llx ...): it is left out, and those after it\n",
		     *(const u64 *)at);
}

/* All counters are brought up to date before perf core hears of any. Returns those with a sample. */
static u64 account_records(struct corepmu_cpu *cpuc, const void *at, const void *end)
{
	struct pebs *p = this_cpu_ptr(&pebs);
	u64 mine = x86_pebs_counters(cpuc), overflowed = 0, ended = 0;
	unsigned int format = to_desc(cpuc)->pebs_format;
	struct x86_pebs_record record;

	for (; at < end; at += record.size) {
		if (!x86_pebs_parse(format, at, end - at, &record)) {
			tell_of_garbage(at);
			break;
		}
		overflowed |= record.counters & mine;
	}

	for (; overflowed; overflowed &= overflowed - 1) {
		int idx = __ffs64(overflowed);

		if (corepmu_precise_account(cpuc, cpuc->events[idx], &p->period[idx]))
			ended |= BIT_ULL(idx);
	}

	return ended;
}

static void emit_records(struct corepmu_cpu *cpuc, const void *at, const void *end, u64 ended,
			 struct pt_regs *regs)
{
	unsigned int format = to_desc(cpuc)->pebs_format;
	const struct pebs *p = this_cpu_ptr(&pebs);
	struct x86_pebs_record record;

	for (; ended && at < end && x86_pebs_parse(format, at, end - at, &record);
	     at += record.size) {
		u64 left = record.counters & ended;

		/* A counter overflows once between two interrupts: it goes on from 0. */
		ended &= ~left;
		for (; left; left &= left - 1) {
			int idx = __ffs64(left);
			struct perf_event *event = cpuc->events[idx];

			if (is_precise(event))
				emit_record(cpuc, event, p->period[idx], &record, regs);
		}
	}
}

static bool pebs_drain(struct corepmu_cpu *cpuc, struct pt_regs *regs)
{
	struct pebs *p = this_cpu_ptr(&pebs);
	struct x86_ds *ds = x86_ds_this();
	bool resume = cpuc->running;
	const void *base, *end;
	u64 ended;

	if (p->busy || !ds)
		return false;

	p->busy = true;
	barrier();
	/* Not while an event is stopped, as a rule: perf core stops the PMU before. */
	if (unlikely(resume))
		corepmu_stop_cpu(cpuc);
	base = (const void *)(unsigned long)ds->base;
	end = (const void *)(unsigned long)min(ds->index, ds->base + X86_PEBS_BUFFER_SIZE);
	if (base < end) {
		ended = account_records(cpuc, base, end);
		emit_records(cpuc, base, end, ended, regs);
		ds->index = ds->base;
	}
	barrier();
	p->busy = false;
	if (unlikely(resume))
		corepmu_start_cpu(cpuc);

	return true;
}

/**
 * x86_pebs_overflow() - overflows have been acknowledged
 * @cpuc: this CPU's state
 * @overflowed: bits of the status
 *
 * From the overflow interrupt.
 *
 * Return: @overflowed, without the bits that records stand for
 */
u64 x86_pebs_overflow(struct corepmu_cpu *cpuc, u64 overflowed)
{
	u64 ds_bit = to_desc(cpuc)->ds_bit, precise = x86_pebs_counters(cpuc);

	if ((overflowed & ds_bit) && pebs_drain(cpuc, cpuc->regs))
		cpuc->overflow_handled++;

	return overflowed & ~(ds_bit | precise);
}

static const struct corepmu_precise_backend pebs_backend = {
	.open		= x86_ds_open,
	.close		= x86_ds_close,
	.fits		= x86_pebs_fits,
	.change		= pebs_change,
	.start		= pebs_start,
	.stop		= pebs_stop,
	.drain		= pebs_drain,
};

/* The registers */

/**
 * x86_pebs_reset() - nothing is recorded, and nothing is known of the registers
 * @cpuc: this CPU's state
 *
 * From the backend's reset().
 */
void x86_pebs_reset(struct corepmu_cpu *cpuc)
{
	if (!cpuc->pmu->precise_backend)
		return;

	x86_write_msr(MSR_IA32_PEBS_ENABLE, 0);
	this_cpu_write(pebs.threshold, 0);
	if (to_desc(cpuc)->pebs_all) {
		x86_write_msr(MSR_PEBS_DATA_CFG, 0);
		this_cpu_write(pebs.programmed, 0);
	}
	x86_ds_point(true);
}

/**
 * x86_pebs_quiesce() - nothing is to be recorded on this CPU for now
 * @cpuc: this CPU's state
 *
 * From the backend's quiesce().
 */
void x86_pebs_quiesce(struct corepmu_cpu *cpuc)
{
	if (cpuc->pmu->precise_backend)
		x86_ds_point(false);
}

/* What this machine has */

static bool format_is_known(const struct x86_desc *desc, unsigned int format, bool all)
{
	if (format == PEBS_FORMAT_SKYLAKE)
		return desc->uarch == &intel_uarches[UARCH_SKYLAKE] ||
		       desc->uarch == &intel_uarches[UARCH_GOLDMONT] ||
		       desc->uarch == &intel_uarches[UARCH_GOLDMONT_PLUS];

	return format >= PEBS_FORMAT_ADAPTIVE && format <= PEBS_FORMAT_LAST && all;
}

static const char *describe(struct x86_desc *desc)
{
	unsigned int format;
	u64 value;

	if (!IS_ENABLED(CONFIG_X86_64))
		return "samples have skid: the kernel is of 32 bits";
	if (desc->shares_counters)
		return "samples have skid: the debug store is the built-in driver's";
	if (!boot_cpu_has(X86_FEATURE_PEBS) || !boot_cpu_has(X86_FEATURE_DTES64) ||
	    !desc->global_ctrl)
		return "samples have skid: the CPU writes no records of events (PEBS)";

	format = FIELD_GET(PERF_CAP_PEBS_VERSION, desc->capabilities);
	if (!format_is_known(desc, format, desc->capabilities & PERF_CAP_PEBS_ALL))
		return "samples have skid: the CPU's records of events (PEBS) are of a kind that is not known";
	if (x86_read_msr_safe(MSR_IA32_PEBS_ENABLE, &value) ||
	    x86_read_msr_safe(MSR_IA32_DS_AREA, &value))
		return "samples have skid: the registers of PEBS are kept from this virtual machine";
	if (!corepmu_has_callchain() || x86_ds_find())
		return "samples have skid: this kernel does not tell how to map the CPU's records of events";

	desc->pebs_format = format;
	desc->pebs_all = format >= PEBS_FORMAT_ADAPTIVE;
	desc->pebs_timing = desc->capabilities & PERF_CAP_PEBS_TIMING;
	desc->ds_bit = STATUS_DS_BUFFER;
	desc->pmu->precise_backend = &pebs_backend;
	if (desc->pebs_all)
		desc->pmu->capabilities |= PERF_PMU_CAP_EXTENDED_REGS;
	/* Without a name the CPU's counters for the most precise samples are not known. */
	desc->pmu->max_precise = desc->uarch ? 3 : 2;

	return NULL;
}

/**
 * x86_describe_precise() - find out how precise samples can be
 * @desc: the PMU, whose counters are described and reserved
 *
 * Process context, on any CPU.
 */
void x86_describe_precise(struct x86_desc *desc)
{
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL)
		return;
	desc->precise = corepmu_precise_check;
	desc->pmu->precise_reason = describe(desc);
	if (!desc->pmu->precise_reason)
		pr_debug("records of precise events are of format %u\n", desc->pebs_format);
}
