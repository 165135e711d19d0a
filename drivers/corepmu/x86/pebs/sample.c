// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: Intel PEBS: sample fields of one record
 *
 * Registers and address come from the record. The callchain starts at the interrupted place, since
 * only its stack can be unwound.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include <asm/cpu_entry_area.h>
#include <asm/ptrace.h>

#include <corepmu/branch.h>
#include <corepmu/ksyms.h>
#include <corepmu/overflow.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

#include "../intel/intel.h"
#include "../msr.h"
#include "pebs.h"
#include "../x86.h"

static bool is_in_ldt(const struct pt_regs *regs)
{
	return (regs->cs & SEGMENT_TI_MASK) == SEGMENT_LDT;
}

/*
 * Set the record's address. The address is linear (Intel SDM volume 3, "BTS and DS Save Area"). A
 * code segment of the LDT may have a base, which perf_instruction_pointer() would add: replace the
 * segment, as set_linear_ip() in arch/x86/events/perf_event.h does.
 */
static void set_ip(struct pt_regs *regs, u64 ip)
{
	/* Bit 63 of an address tells the kernel from user space: corepmu_branch_is_kernel(). */
	if (corepmu_branch_is_kernel(ip) != !user_mode(regs) || is_in_ldt(regs))
		regs->cs = corepmu_branch_is_kernel(ip) ? __KERNEL_CS : __USER_CS;
	regs->ip = ip;
}

/* Offset in struct pt_regs of each register from PEBS_REG_AX on */
static const u8 reg_offsets[NR_PEBS_REGS] = {
	[PEBS_REG_AX]	= offsetof(struct pt_regs, ax),
	[PEBS_REG_BX]	= offsetof(struct pt_regs, bx),
	[PEBS_REG_CX]	= offsetof(struct pt_regs, cx),
	[PEBS_REG_DX]	= offsetof(struct pt_regs, dx),
	[PEBS_REG_SI]	= offsetof(struct pt_regs, si),
	[PEBS_REG_DI]	= offsetof(struct pt_regs, di),
	[PEBS_REG_BP]	= offsetof(struct pt_regs, bp),
	[PEBS_REG_SP]	= offsetof(struct pt_regs, sp),
#ifdef CONFIG_X86_64
	[PEBS_REG_R8]	= offsetof(struct pt_regs, r8),
	offsetof(struct pt_regs, r9),
	offsetof(struct pt_regs, r10),
	offsetof(struct pt_regs, r11),
	offsetof(struct pt_regs, r12),
	offsetof(struct pt_regs, r13),
	offsetof(struct pt_regs, r14),
	offsetof(struct pt_regs, r15),
#endif
};

static noinline void set_regs(struct pt_regs *regs, unsigned int format,
			      const struct x86_pebs_record *record)
{
	unsigned int reg, end = IS_ENABLED(CONFIG_X86_64) ? NR_PEBS_REGS : PEBS_REG_R8;

	for (reg = PEBS_REG_AX; reg < end; reg++)
		*(unsigned long *)((void *)regs + reg_offsets[reg]) =
			x86_pebs_reg(format, record, reg);
}

/*
 * Fields of the transaction word, and abort code in AX: PERF_TXN_* in
 * include/uapi/linux/perf_event.h
 */
#define TSX_FLAGS	GENMASK_ULL(39, 32)
#define TSX_CYCLES	GENMASK_ULL(31, 0)
#define ABORT_IN_AX	BIT(0)
#define ABORT_CODE	GENMASK_ULL(31, 24)

static u64 read_transaction(unsigned int format, const struct x86_pebs_record *record)
{
	u64 txn = FIELD_GET(TSX_FLAGS, record->tsx), ax;

	if ((txn & PERF_TXN_TRANSACTION) && record->regs) {
		ax = x86_pebs_reg(format, record, PEBS_REG_AX);
		if (ax & ABORT_IN_AX)
			txn |= FIELD_GET(ABORT_CODE, ax) << PERF_TXN_ABORT_SHIFT;
	}

	return txn;
}

/*
 * From Golden Cove and Gracemont on, and in architectural records, the latency word has two
 * latencies: of the instruction and of the cache. PMU_FL_INSTR_LATENCY, set by
 * intel_pmu_init_glc() and intel_pmu_init_grt() in arch/x86/events/intel/core.c
 */
#define LATENCY_INSTRUCTION	GENMASK_ULL(15, 0)
#define LATENCY_CACHE		GENMASK_ULL(47, 32)

static bool has_two_latencies(const struct x86_desc *desc)
{
	return desc->pebs_format == PEBS_FORMAT_ARCH || intel_since_alder_lake(desc->uarch);
}

static void set_weight(const struct x86_desc *desc, const struct perf_event *event,
		       const struct x86_pebs_record *record, struct perf_sample_data *data)
{
	u64 latency = record->latency;

	data->weight.full = 0;
	if (desc->pebs_timing && (event->attr.sample_type & PERF_SAMPLE_WEIGHT_STRUCT))
		data->weight.var3_w = record->retire;
	/* Before format 4, only records of the load-latency event have a latency. */
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
		data->data_src.val = x86_pebs_source(desc, event, record->source);
		data->sample_flags |= PERF_SAMPLE_DATA_SRC;
	}
	if (type & SAMPLE_ADDR) {
		data->addr = record->address;
		data->sample_flags |= PERF_SAMPLE_ADDR;
	}
	if (type & PERF_SAMPLE_TRANSACTION) {
		data->txn = read_transaction(desc->pebs_format, record);
		data->sample_flags |= PERF_SAMPLE_TRANSACTION;
	}
}

/*
 * Check for registers of the kernel that the event excludes: see emit_without_kernel() in
 * core/overflow.c.
 */
static bool must_hide(const struct perf_event *event, struct pt_regs *regs)
{
	return event->attr.exclude_kernel && !user_mode(regs);
}

/* Sample fields that need more registers than the place, or unwind from them */
#define SAMPLE_REGS	(PERF_SAMPLE_REGS_INTR | SAMPLE_USER_REGS | PERF_SAMPLE_CALLCHAIN)

/* Copy the registers that perf_instruction_pointer() and perf_misc_flags() read. */
static void copy_place(struct pt_regs *to, const struct pt_regs *from)
{
	to->ip = from->ip;
	to->cs = from->cs;
	to->flags = from->flags;
}

/* Check for kernel entry code. Substitute registers, without an interrupt, have sp 0. */
static bool is_entering(const struct perf_event *event, struct pt_regs *iregs,
			struct pt_regs *user)
{
	return !user_mode(iregs) && iregs->sp &&
	       to_corepmu(event->pmu)->backend->entering_regs(iregs, user);
}

/*
 * Get the user-space registers for an interrupt that came in the kernel: those that the task saved
 * when it entered the kernel. While the task is entering the kernel, its stack has the registers of
 * an earlier entry:
 *
 * - Before the entry code saves registers, the interrupt's registers are the user's.
 * - While the entry code saves registers, and on the stack of the cpu_entry_area, where interrupts
 *   and exceptions from user space begin, no user registers are available (perf_get_regs_user() in
 *   arch/x86/kernel/perf_regs.c).
 *
 * If current has no user space, the record's task has left the CPU, and no user registers are
 * available: see corepmu_saved_user_regs().
 */
static noinline void get_user_regs(const struct perf_event *event, struct pt_regs *iregs,
				   struct pt_regs *to)
{
	const struct pt_regs *saved = corepmu_saved_user_regs();
	unsigned long sp = iregs->sp;

	if (is_entering(event, iregs, to))
		return;
	if ((sp > (unsigned long)saved && sp <= (unsigned long)(saved + 1)) ||
	    (sp > CPU_ENTRY_AREA_BASE && sp <= CPU_ENTRY_AREA_BASE + CPU_ENTRY_AREA_MAP_SIZE))
		*to = corepmu_no_user_regs;
	else
		*to = *saved;
}

/*
 * Copy the registers that the record's place will overwrite. If the place is in user space, perf
 * core takes the other registers for the user's, too (perf_sample_regs_user() in
 * kernel/events/core.c).
 */
static void copy_regs(const struct perf_event *event, struct pt_regs *to,
		      struct pt_regs *iregs, bool user)
{
	/* A BPF program of the event may read all registers. */
	if (!(event->attr.sample_type & SAMPLE_REGS) && !compat_event_has_prog(event))
		copy_place(to, iregs);
	else if (!user || user_mode(iregs))
		*to = *iregs;
	else
		get_user_regs(event, iregs, to);
}

/*
 * Check whether the sample shows the record's registers. Samples of user space show them as the
 * user's registers, too, as the built-in driver does from format 4 on (__setup_pebs_gpr_group() in
 * arch/x86/events/intel/ds.c). The registers are those after the instruction: after an instruction
 * that enters the kernel, such as INT, the stack pointer may be the kernel's. Such registers are
 * not shown as the user's.
 */
static bool shows_record(const struct x86_desc *desc, const struct perf_event *event,
			 const struct x86_pebs_record *record, bool user)
{
	u64 type = event->attr.sample_type;

	if (!user)
		return type & PERF_SAMPLE_REGS_INTR;

	return (type & (PERF_SAMPLE_REGS_INTR | SAMPLE_USER_REGS)) &&
	       !corepmu_branch_is_kernel(x86_pebs_reg(desc->pebs_format, record, PEBS_REG_IP));
}

static void fill_regs(const struct x86_desc *desc, const struct perf_event *event,
		      const struct x86_pebs_record *record, struct pt_regs *iregs,
		      struct x86_perf_regs *shown)
{
	bool exact = event->attr.precise_ip > 1, user = user_mode(iregs);
	struct pt_regs *regs = &shown->regs;
	u64 ip = iregs->ip;

	if (exact)
		ip = record->ip;
	else if (record->regs)
		ip = x86_pebs_reg(desc->pebs_format, record, PEBS_REG_IP);
	if (exact || record->regs)
		user = !corepmu_branch_is_kernel(ip);

	copy_regs(event, regs, iregs, user);
	if (record->regs) {
		regs->flags = x86_pebs_reg(desc->pebs_format, record, PEBS_REG_FLAGS);
		if (shows_record(desc, event, record, user))
			set_regs(regs, desc->pebs_format, record);
	}
	regs->flags &= ~(PERF_EFLAGS_EXACT | X86_VM_MASK);
	if (exact)
		regs->flags |= PERF_EFLAGS_EXACT;
	if (exact || record->regs)
		set_ip(regs, ip);
	shown->xmm_regs = (u64 *)record->xmm;
}

/*
 * Copy the record's branches. With large PEBS all records are of the current task, which reset the
 * LBR when it was scheduled in. Otherwise check for a task switch without notification, see
 * branch/task.c.
 */
static void parse_branches(struct corepmu_cpu *cpuc, const struct x86_pebs_record *record,
			   struct x86_pebs_sample *sample)
{
	struct corepmu_branch_list *list = &sample->branches;
	bool waited = this_cpu_read(x86_pebs.large);

	sample->has_branches = true;
	if (waited || corepmu_branch_is_current(cpuc)) {
		cpuc->pmu->branch_backend->parse(cpuc, record->branches, record->nr_branches,
						 waited, list);
		return;
	}
	cpuc->branches->stale = true;
	list->hw_idx = COREPMU_BRANCH_NOWHERE;
	list->nr = 0;
}

static void set_time(struct x86_pebs_sample *sample)
{
	if (!sample->time)
		return;
	sample->data.time = sample->time;
	sample->data.sample_flags |= PERF_SAMPLE_TIME;
}

/* Show the user's registers in place of the kernel's. */
static noinline void hide_kernel(const struct perf_event *event, struct pt_regs *iregs,
				 struct x86_perf_regs *shown)
{
	if (!is_entering(event, iregs, &shown->regs))
		shown->regs = *corepmu_saved_user_regs();
	shown->xmm_regs = NULL;
}

/**
 * x86_pebs_fill() - fill in a sample from a record
 * @cpuc: state of this CPU
 * @event: precise event whose counter has written the record
 * @period: the event's period that has ended
 * @record: the record
 * @iregs: registers at the interrupt, or a substitute
 * @sample: the sample; @sample->time is set, the function fills in the rest
 *
 * IRQs off, or NMI.
 */
void x86_pebs_fill(struct corepmu_cpu *cpuc, struct perf_event *event, u64 period,
		   const struct x86_pebs_record *record, struct pt_regs *iregs,
		   struct x86_pebs_sample *sample)
{
	const struct x86_desc *desc = to_x86(cpuc->pmu);
	struct x86_perf_regs *shown = &sample->shown;
	struct perf_sample_data *data = &sample->data;

	perf_sample_data_init(data, 0, period);
	fill_regs(desc, event, record, iregs, shown);
	if (must_hide(event, &shown->regs))
		hide_kernel(event, iregs, shown);
	else if (record->has_memory)
		set_memory(desc, event, record, data);
	sample->has_branches = false;
	if (unlikely(record->branches) && (event->hw.flags & COREPMU_EVENT_BRANCHES))
		parse_branches(cpuc, record, sample);
	set_time(sample);
	if (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN) {
		if (must_hide(event, iregs))
			iregs = corepmu_saved_user_regs();
		/* A late sample has no RCU read lock; with IRQs off the callchain buffers stay. */
		rcu_read_lock();
		compat_sample_save_callchain(data, corepmu_perf_callchain(event, iregs));
		rcu_read_unlock();
	}
}

/* Sample fields that need only the address and the time of a record */
#define PLACE_TYPES							\
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |	\
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID |		\
	 PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CODE_PAGE_SIZE)

/**
 * x86_pebs_shows_place_only() - check whether x86_pebs_refill() can make the event's samples
 * @event: a precise event
 *
 * Return: true if the samples show only the address and the time of a record
 */
bool x86_pebs_shows_place_only(const struct perf_event *event)
{
	return event->attr.precise_ip > 1 && !(event->attr.sample_type & ~PLACE_TYPES) &&
	       !(event->hw.flags & COREPMU_EVENT_BRANCHES) && !compat_event_has_prog(event);
}

/**
 * x86_pebs_may_refill() - check whether x86_pebs_refill() can make the record's sample
 * @sample: the previous sample, of an event with x86_pebs_shows_place_only()
 * @record: the record
 *
 * Sample and record must both be of the kernel, or both of user space. The sample must be exact. An
 * event with exclude_kernel hides the address of a kernel record; its sample is then not exact.
 *
 * Return: true if the samples differ in address and time only
 */
bool x86_pebs_may_refill(struct x86_pebs_sample *sample,
			 const struct x86_pebs_record *record)
{
	struct pt_regs *regs = &sample->shown.regs;

	return (regs->flags & PERF_EFLAGS_EXACT) &&
	       corepmu_branch_is_kernel(record->ip) == !user_mode(regs);
}

/**
 * x86_pebs_refill() - change the address and the time of the previous sample
 * @period: the event's period that has ended
 * @record: the record
 * @sample: the previous sample; @sample->time is set
 *
 * Precondition: x86_pebs_may_refill(). The sample is then as x86_pebs_fill() would make it. IRQs
 * off, or NMI.
 */
void x86_pebs_refill(u64 period, const struct x86_pebs_record *record,
		     struct x86_pebs_sample *sample)
{
	struct perf_sample_data *data = &sample->data;

	perf_sample_data_init(data, 0, period);
	sample->shown.regs.ip = record->ip;
	set_time(sample);
}
