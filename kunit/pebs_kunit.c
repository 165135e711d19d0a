// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: tests of precise samples of Intel's CPUs
 */
#include <kunit/test.h>

#include <linux/perf_event.h>
#include <linux/perf_regs.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>

#include <corepmu/pmu.h>

#include "machine.h"
#include "models/pebs.h"
#include "models/x86_access.h"
#include "x86/intel.h"
#include "x86/pebs.h"
#include "x86/x86.h"

#define IP	0x401000ULL
#define ARCH_BASIC	BIT_ULL(63)

static bool has_records(const struct machine *machine)
{
	const struct x86_model_cpu *cpu = machine->cpu;

	return machine_is_x86(machine) && !cpu->amd && cpu->pebs;
}

static const void *gen_params(const void *prev, char *desc)
{
	return machine_gen_those(prev, desc, has_records);
}

static struct x86_model *model(void)
{
	return this_cpu_ptr(&x86_model_state);
}

static const struct x86_model_cpu *cpu_of(const struct bench *b)
{
	return b->machine->cpu;
}

static struct perf_event_attr precise_attr(u64 config, unsigned int precise, u64 period)
{
	return (struct perf_event_attr) {
		.type		= PERF_TYPE_HARDWARE,
		.config		= config,
		.precise_ip	= precise,
		.sample_period	= period,
	};
}

static struct perf_event *open_precise(struct bench *b, u64 config, unsigned int precise,
				       u64 period)
{
	const struct perf_event_attr attr = precise_attr(config, precise, period);
	struct perf_event *event;

	KUNIT_ASSERT_EQ(b->test, bench_open(b, &attr, &event), 0);
	model()->pebs_ip = IP;

	return event;
}

static u64 shown_ip, shown_flags, shown_ax, shown_sp, shown_r15;

static void note_regs(struct bench *b, struct perf_event *event)
{
	shown_ip = b->sample_regs->ip;
	shown_flags = b->sample_regs->flags;
	shown_ax = b->sample_regs->ax;
	shown_sp = b->sample_regs->sp;
	shown_r15 = b->sample_regs->r15;
}

/* A sample is of the record; counts and periods are as those of any other event. */
static void precise_samples(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned int precise;

	for (precise = 1; precise <= 3; precise++) {
		struct perf_event *event;

		event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, precise, 100);
		b->on_sample = note_regs;
		model()->skid = 30;
		KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
		bench_forget(b);
		bench_run(b, MACHINE_INSTRUCTIONS, 1050);
		KUNIT_EXPECT_EQ(test, b->nr_samples, 10);
		KUNIT_EXPECT_EQ(test, bench_read(event), 1050);
		KUNIT_EXPECT_EQ(test, shown_ip, precise == 1 ? IP + PEBS_MODEL_LENGTH : IP);
		KUNIT_EXPECT_EQ(test, !!(shown_flags & PERF_EFLAGS_EXACT), precise > 1);
		bench_del(event);
		bench_close(event);
		b->on_sample = NULL;
	}
	KUNIT_EXPECT_EQ(test, model()->pebs_enable, 0);
	KUNIT_EXPECT_EQ(test, model()->ds_area, 0);
	KUNIT_EXPECT_EQ(test, model()->pebs_base, 0);
	KUNIT_EXPECT_EQ(test, model()->pebs_index, 0);
	KUNIT_EXPECT_EQ(test, pebs_model_mapped, 0);
}

static void precise_regs(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct perf_event *event;

	attr.sample_type = PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = BIT(PERF_REG_X86_AX);
	KUNIT_ASSERT_EQ(test, bench_open(b, &attr, &event), 0);
	model()->pebs_ip = IP;
	b->on_sample = note_regs;
	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	bench_run(b, MACHINE_INSTRUCTIONS, 100);
	KUNIT_EXPECT_EQ(test, shown_ax, PEBS_MODEL_REGS);
	KUNIT_EXPECT_EQ(test, shown_sp, PEBS_MODEL_REGS + 7);
	KUNIT_EXPECT_EQ(test, shown_r15, PEBS_MODEL_REGS + 15);
	KUNIT_EXPECT_EQ(test, shown_flags, PEBS_MODEL_FLAGS | PERF_EFLAGS_EXACT);
	b->on_sample = NULL;
	bench_del(event);
	bench_close(event);
}

/* What nobody may see who is not to see the kernel, and what the task has in user space */
#define KERNEL_REG	0xffffffff81c0ffeeULL
#define TASK_SP		0x7ffc0ffee000ULL
#define TASK_AX		0xabcd

/* The registers of the last sample, as perf core has had them, for a look at all */
static struct pt_regs seen_regs;

static void keep_regs(struct bench *b, struct perf_event *event)
{
	seen_regs = *b->sample_regs;
}

static bool shows_kernel(const struct pt_regs *regs)
{
	const unsigned long *words = (const unsigned long *)regs;
	unsigned int i;

	for (i = 0; i < sizeof(*regs) / sizeof(*words); i++)
		if (words[i] == KERNEL_REG)
			return true;

	return false;
}

/*
 * An overflow in user space, whose interrupt comes in the kernel, in a task that has left user
 * space, or in a kernel thread; or, instead of an interrupt, the event is stopped.
 */
static void overflow_into_kernel(struct bench *b, struct perf_event *event, bool kthread,
				 bool interrupt)
{
	struct pt_regs *task = task_pt_regs(current), saved = *task;
	unsigned long flags;

	bench_forget(b);
	b->on_sample = keep_regs;
	memset(&seen_regs, 0xff, sizeof(seen_regs));
	local_irq_save(flags);
	memset64((u64 *)model_regs(false), KERNEL_REG, sizeof(saved) / sizeof(u64));
	task->ax = TASK_AX;
	task->sp = TASK_SP;
	task->cs = __USER_CS;
	if (!kthread)
		current->flags &= ~PF_KTHREAD;
	b->machine->ops->hold(true);
	bench_run(b, MACHINE_INSTRUCTIONS, 100);
	if (!interrupt)
		bench_stop_event(event, PERF_EF_UPDATE);
	b->machine->ops->hold(false);
	current->flags |= PF_KTHREAD;
	*task = saved;
	memset(model_regs(false), 0, sizeof(saved));
	local_irq_restore(flags);
	if (!interrupt)
		bench_start_event(event, PERF_EF_RELOAD);
	b->on_sample = NULL;
	KUNIT_EXPECT_EQ(b->test, b->nr_samples, 1);
}

/*
 * Perf core takes a place in user space for one with the user's registers: it gets no others,
 * wherever the interrupt came, and whoever opened the event.
 */
static void precise_user_regs(struct kunit *test)
{
	static const u64 types[] = {
		PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER,
		PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		PERF_SAMPLE_REGS_INTR, PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER,
		PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER,
	};
	struct bench *b = test->priv;
	unsigned int i;

	for (i = 0; i < 8 * ARRAY_SIZE(types); i++) {
		struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
		u64 type = types[i / 8];
		bool own = type & ~PERF_SAMPLE_CALLCHAIN;
		struct perf_event *event;

		attr.sample_type = type;
		attr.sample_regs_user = BIT(PERF_REG_X86_AX);
		attr.sample_regs_intr = BIT(PERF_REG_X86_AX);
		attr.sample_stack_user = 256;
		attr.exclude_kernel = !(i & 1);
		KUNIT_ASSERT_EQ(test, bench_open(b, &attr, &event), 0);
		model()->pebs_ip = IP;
		KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
		overflow_into_kernel(b, event, i & 2, i & 4);
		KUNIT_EXPECT_EQ_MSG(test, seen_regs.ip, IP, "row %u", i);
		KUNIT_EXPECT_TRUE_MSG(test, user_mode(&seen_regs), "row %u", i);
		KUNIT_EXPECT_FALSE_MSG(test, shows_kernel(&seen_regs), "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, seen_regs.sp,
				    own ? PEBS_MODEL_REGS + 7 : i & 2 ? 0 : TASK_SP, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, seen_regs.ax,
				    own ? PEBS_MODEL_REGS : i & 2 ? 0 : TASK_AX, "row %u", i);

		/* After the instruction that has entered the kernel they are not the user's. */
		model()->pebs_ip = BIT_ULL(63) - PEBS_MODEL_LENGTH;
		overflow_into_kernel(b, event, i & 2, i & 4);
		KUNIT_EXPECT_TRUE_MSG(test, user_mode(&seen_regs), "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, seen_regs.sp, i & 2 ? 0 : TASK_SP, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, seen_regs.ax, i & 2 ? 0 : TASK_AX, "row %u", i);
		bench_del(event);
		bench_close(event);
	}
}

/* A place in the kernel is one, also if the interrupt came in user space. */
static void precise_kernel_place(struct kunit *test)
{
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct bench *b = test->priv;
	struct perf_event *event;

	attr.sample_type = PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = BIT(PERF_REG_X86_SP);
	KUNIT_ASSERT_EQ(test, bench_open(b, &attr, &event), 0);
	model()->pebs_ip = KERNEL_REG;
	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	b->on_sample = keep_regs;
	bench_run(b, MACHINE_INSTRUCTIONS, 100);
	KUNIT_EXPECT_EQ(test, seen_regs.ip, KERNEL_REG);
	KUNIT_EXPECT_FALSE(test, user_mode(&seen_regs));
	b->on_sample = NULL;
	bench_del(event);
	bench_close(event);
}

static u16 seen_instruction_latency;
static u32 seen_latency;

static void note_latencies(struct bench *b, struct perf_event *event)
{
	const struct perf_sample_data *data = this_cpu_ptr(&x86_pebs.sample.data);

	seen_instruction_latency = data->weight.var2_w;
	seen_latency = data->weight.var1_dw;
}

/* The word of the latency is two numbers from Golden Cove and Gracemont on. */
static void precise_two_latencies(struct kunit *test)
{
	static const struct {
		enum intel_uarch_id	uarch;
		bool			two;
	} rows[] = {
		{ UARCH_ICE_LAKE, false }, { UARCH_GOLDEN_COVE, true }, { UARCH_LION_COVE, true },
		{ UARCH_TREMONT, false }, { UARCH_GRACEMONT, true }, { UARCH_CRESTMONT, true },
		{ UARCH_SKYMONT, true },
	};
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct bench *b = test->priv;
	struct x86_desc *desc = to_x86(b->pmu);
	const struct intel_uarch *uarch = desc->uarch;
	struct perf_event *event;
	unsigned int i;

	if (cpu_of(b)->pebs != PEBS_FORMAT_ADAPTIVE)
		return;
	attr.sample_type = PERF_SAMPLE_WEIGHT_STRUCT;
	KUNIT_ASSERT_EQ(test, bench_open(b, &attr, &event), 0);
	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	b->on_sample = note_latencies;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		desc->uarch = &intel_uarches[rows[i].uarch];
		bench_run(b, MACHINE_INSTRUCTIONS, 100);
		KUNIT_EXPECT_EQ_MSG(test, seen_instruction_latency,
				    rows[i].two ? PEBS_MODEL_LATENCY : 0, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, seen_latency, rows[i].two ? 0 : PEBS_MODEL_LATENCY,
				    "row %u", i);
	}
	desc->uarch = uarch;
	b->on_sample = NULL;
	bench_del(event);
	bench_close(event);
}

/* Stopped between the overflow and its interrupt: the record becomes a sample of then. */
static void precise_late(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);

	b->on_sample = note_regs;
	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	bench_forget(b);
	b->machine->ops->hold(true);
	bench_run(b, MACHINE_INSTRUCTIONS, 120);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	shown_ip = 0;
	bench_del(event);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, shown_ip, IP);
	/* The interrupt finds nothing, and is known. */
	b->machine->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);

	/* The next period is shorter by what has been counted of it. */
	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	bench_run(b, MACHINE_INSTRUCTIONS, 79);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	bench_run(b, MACHINE_INSTRUCTIONS, 1);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, bench_read(event), 200);
	b->on_sample = NULL;
	bench_del(event);
	bench_close(event);
}

/* One record of two events makes two samples; an event without precision has its own. */
static void precise_several(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *two[2], *plain;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		two[i] = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
		KUNIT_ASSERT_EQ(test, bench_add(two[i], PERF_EF_START), 0);
	}
	plain = bench_event(b, PERF_COUNT_HW_INSTRUCTIONS, 50);
	KUNIT_ASSERT_EQ(test, bench_add(plain, PERF_EF_START), 0);
	bench_forget(b);
	bench_run(b, MACHINE_INSTRUCTIONS, 200);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2 * 2 + 4);
	KUNIT_EXPECT_EQ(test, bench_read(two[0]), 200);
	KUNIT_EXPECT_EQ(test, bench_read(two[1]), 200);
	KUNIT_EXPECT_EQ(test, bench_read(plain), 200);
	for (i = 0; i < 2; i++) {
		bench_del(two[i]);
		bench_close(two[i]);
	}
	bench_del(plain);
	bench_close(plain);
}

/* No record, or one that makes no sense: counts are right, and nothing is made up. */
static void precise_without_records(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);

	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	bench_forget(b);
	model()->pebs_lost = true;
	bench_run(b, MACHINE_INSTRUCTIONS, 150);
	model()->pebs_lost = false;
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	bench_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	bench_start_event(event, PERF_EF_RELOAD);
	bench_run(b, MACHINE_INSTRUCTIONS, 2);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	KUNIT_EXPECT_EQ(test, bench_read(event), 152);
	bench_del(event);
	bench_close(event);
}

/*
 * KVM takes the CPU on while a precise event counts, and CR4 does not say so yet: no more records
 * are written. One that a task inherits meanwhile is opened all the same: fork(2) does not fail.
 */
static void precise_stops_for_guests(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100), *child;
	/* Architectural records have no such register. */
	bool has_enable = cpu_of(b)->pebs != PEBS_MODEL_ARCH;

	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, !!model()->pebs_enable, has_enable);
	x86_vmx_change(true);
	KUNIT_EXPECT_EQ(test, model()->pebs_enable, 0);
	KUNIT_EXPECT_TRUE(test, b->cpuc->running);
	bench_forget(b);
	bench_run(b, MACHINE_INSTRUCTIONS, 250);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	KUNIT_EXPECT_EQ(test, bench_read(event), 250);

	pebs_model_guests = true;
	child = bench_alloc(b, &event->attr);
	KUNIT_ASSERT_NOT_NULL(test, child);
	child->parent = event;
	KUNIT_EXPECT_EQ(test, bench_init_event(child), 0);
	child->parent = NULL;
	bench_close(child);
	pebs_model_guests = false;

	x86_vmx_change(false);
	KUNIT_EXPECT_EQ(test, !!model()->pebs_enable, has_enable);
	bench_del(event);
	bench_close(event);
}

static void precise_refused(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct perf_event *event;

	attr.sample_period = 0;
	KUNIT_EXPECT_EQ(test, bench_open(b, &attr, &event), -EINVAL);
	attr.sample_period = 100;
	pebs_model_guests = true;
	KUNIT_EXPECT_EQ(test, bench_open(b, &attr, &event), -EOPNOTSUPP);
	pebs_model_guests = false;
	attr.config = PERF_COUNT_HW_REF_CPU_CYCLES;
	if (cpu_of(b)->pebs < PEBS_FORMAT_ADAPTIVE)
		KUNIT_EXPECT_EQ(test, bench_open(b, &attr, &event), -EOPNOTSUPP);

	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	attr.sample_type = PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = BIT_ULL(PERF_REG_X86_XMM0);
	if (cpu_of(b)->pebs < PEBS_FORMAT_ADAPTIVE)
		KUNIT_EXPECT_EQ(test, bench_open(b, &attr, &event), -EINVAL);

	/* How often instructions began to retire */
	attr = precise_attr(0x010400c0, 2, 1000);
	attr.type = PERF_TYPE_RAW;
	if (cpu_of(b)->pebs < PEBS_FORMAT_ADAPTIVE)
		KUNIT_EXPECT_EQ(test, bench_open(b, &attr, &event), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, pebs_model_mapped, 0);
}

static const struct {
	unsigned int	pebs;
	u64		config;
	unsigned int	precise;
	u64		select;
	u64		counters;
	u32		type;
} encodings[] = {
	/* Cycles: INST_RETIRED, inverted, 16; the most precise, INST_RETIRED.PREC_DIST */
	{ 3, PERF_COUNT_HW_CPU_CYCLES, 1, 0x108300c0, 0xf },
	{ 3, PERF_COUNT_HW_CPU_CYCLES, 3, 0x108301c0, 0x2 },
	{ 3, PERF_COUNT_HW_INSTRUCTIONS, 2, 0x300c0, 0xf },
	/* Adaptive records of all counters; fixed counter 0 alone is most precise. */
	{ 4, PERF_COUNT_HW_CPU_CYCLES, 2, 0x40003003c, 0x2000000ff },
	{ 4, PERF_COUNT_HW_INSTRUCTIONS, 2, 0x4000300c0, 0x1000000ff },
	{ 4, PERF_COUNT_HW_INSTRUCTIONS, 3, 0x4000300c0, 0x100000000 },
	/* How often instructions began to retire, which fixed counters do not count */
	{ 4, 0x010400c0, 3, 0x4010700c0, 0xff, PERF_TYPE_RAW },
	/* INST_RETIRED.PREC_DIST by its number on Skylake */
	{ 4, 0x01c0, 2, 0x4000301c0, 0x100000000, PERF_TYPE_RAW },
	{ 3, 0x108000c0, 2, 0x108300c0, 0xf, PERF_TYPE_RAW },
	/* What CPUID says: all but one, and three that are most precise; not for user space */
	{ 15, PERF_COUNT_HW_CPU_CYCLES, 2, 0x200003003c, 0x20000007f },
	{ 15, PERF_COUNT_HW_INSTRUCTIONS, 1, 0x20000300c0, 0x10000007f },
	{ 15, PERF_COUNT_HW_INSTRUCTIONS, 3, 0x20000300c0, 0x100000003 },
};

static void precise_encodes(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event_attr attr;
	struct perf_event *event;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(encodings); i++) {
		if (encodings[i].pebs != cpu_of(b)->pebs)
			continue;
		attr = precise_attr(encodings[i].config, encodings[i].precise, 1000);
		attr.type = encodings[i].type;
		KUNIT_ASSERT_EQ(test, bench_open(b, &attr, &event), 0);
		KUNIT_EXPECT_EQ_MSG(test, event->hw.config_base, encodings[i].select, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, event->hw.config, encodings[i].counters, "row %u", i);
		bench_close(event);
	}
}

/* Records gather; counts and places are what they are with an interrupt each. */
static void precise_gathers(struct kunit *test)
{
	const struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct bench *b = test->priv;
	struct perf_event *event = bench_alloc(b, &attr);
	unsigned int before;

	event->hw.target = current;
	KUNIT_ASSERT_EQ(test, bench_init_event(event), 0);
	model()->pebs_ip = IP;
	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, machine_cb_users, 1);
	bench_forget(b);
	before = model()->nmis;
	bench_run(b, MACHINE_INSTRUCTIONS, 1050);
	KUNIT_EXPECT_EQ(test, model()->nmis, before);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	KUNIT_EXPECT_EQ(test, bench_read(event), 1050);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 10);
	bench_run(b, MACHINE_INSTRUCTIONS, 149);
	bench_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 11);

	/* One is left, and the counter cannot be set to it: the next period is the shorter. */
	bench_start_event(event, PERF_EF_RELOAD);
	bench_run(b, MACHINE_INSTRUCTIONS, 2);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 12);
	bench_run(b, MACHINE_INSTRUCTIONS, 99);
	KUNIT_EXPECT_EQ(test, bench_read(event), 1300);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 13);

	/* A full buffer interrupts. */
	bench_run(b, MACHINE_INSTRUCTIONS, 4200 * 100);
	KUNIT_EXPECT_GT(test, model()->nmis, before + 1);
	KUNIT_EXPECT_LT(test, model()->nmis, before + 20);
	bench_del(event);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 4213);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 421300);
	KUNIT_EXPECT_EQ(test, machine_cb_users, 0);
	bench_close(event);
}

/* Perf core throttles by overflows: an interrupt is one, whatever it brings. */
static void precise_one_overflow(struct kunit *test)
{
	const struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct bench *b = test->priv;
	struct perf_event *event = bench_alloc(b, &attr);
	unsigned int before;

	event->hw.target = current;
	KUNIT_ASSERT_EQ(test, bench_init_event(event), 0);
	model()->pebs_ip = IP;
	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	bench_forget(b);
	b->throttle = true;
	event->hw.interrupts_seq = 0;
	event->hw.interrupts = 0;
	before = model()->nmis;
	bench_run(b, MACHINE_INSTRUCTIONS, 4200 * 100);
	KUNIT_EXPECT_EQ(test, bench_read(event), 4200 * 100);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 4200);
	KUNIT_EXPECT_EQ(test, event->hw.interrupts, model()->nmis - before);

	/* Whoever is told of overflows has an interrupt each, and is in time. */
	bench_stop_event(event, PERF_EF_UPDATE);
	atomic_set(&event->event_limit, 1000);
	bench_start_event(event, PERF_EF_RELOAD);
	before = model()->nmis;
	bench_run(b, MACHINE_INSTRUCTIONS, 10 * 100);
	KUNIT_EXPECT_EQ(test, model()->nmis, before + 10);
	KUNIT_EXPECT_EQ(test, atomic_read(&event->event_limit), 990);
	b->throttle = false;
	bench_del(event);
	bench_close(event);
}

static void latency_attr(struct perf_event_attr *attr, u64 cycles)
{
	*attr = (struct perf_event_attr) {
		.type		= PERF_TYPE_RAW,
		.config		= 0x01cd,
		.config1	= cycles,
		.precise_ip	= 2,
		.sample_period	= 1000,
	};
}

/* The register with the least latency is shared: others wait, and cannot be in one group. */
static void precise_latency(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *events[3];
	struct perf_event_attr attr;
	static const u64 cycles[] = { 30, 40, 30 };
	unsigned int i;

	if (cpu_of(b)->pebs == PEBS_MODEL_ARCH)
		return;
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		latency_attr(&attr, cycles[i]);
		KUNIT_ASSERT_EQ(test, bench_open(b, &attr, &events[i]), 0);
		KUNIT_EXPECT_EQ(test, bench_add(events[i], PERF_EF_START), i == 1 ? -EAGAIN : 0);
	}
	KUNIT_EXPECT_EQ(test, model()->pebs_latency, 30);
	KUNIT_EXPECT_EQ(test, model()->pebs_enable, cpu_of(b)->pebs == 3 ? 0x300000003 : 0x3);
	bench_del(events[0]);
	bench_del(events[2]);
	KUNIT_EXPECT_EQ(test, bench_add(events[1], PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model()->pebs_latency, 40);
	bench_del(events[1]);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		bench_close(events[i]);

	latency_attr(&attr, 1 << 16);
	KUNIT_EXPECT_EQ(test, bench_open(b, &attr, &events[0]), -EINVAL);
	latency_attr(&attr, 30);
	attr.precise_ip = 0;
	KUNIT_EXPECT_EQ(test, bench_open(b, &attr, &events[0]), -EINVAL);
}

/* A counter has a register that says what its records have, and goes on from it. */
static void arch_registers(struct kunit *test)
{
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct bench *b = test->priv;
	struct perf_event *event, *plain;

	if (cpu_of(b)->pebs != PEBS_MODEL_ARCH)
		return;
	attr.sample_type = PERF_SAMPLE_ADDR;
	event = bench_alloc(b, &attr);
	event->hw.target = current;
	KUNIT_ASSERT_EQ(test, bench_init_event(event), 0);
	model()->pebs_ip = IP;
	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model()->pebs_cfg_c[32],
			ARCH_BASIC | PEBS_ARCH_AUX | (-100U & GENMASK_ULL(31, 0)));
	KUNIT_EXPECT_EQ(test, model()->pebs_base & GENMASK_ULL(11, 0), 4);
	bench_del(event);
	KUNIT_EXPECT_FALSE(test, model()->pebs_index & BIT_ULL(32));

	/* One whose records do not gather: nothing is drained after it. */
	plain = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	KUNIT_ASSERT_EQ(test, bench_add(plain, PERF_EF_START), 0);
	KUNIT_EXPECT_TRUE(test, model()->pebs_index & BIT_ULL(32));
	bench_del(plain);
	KUNIT_EXPECT_FALSE(test, model()->pebs_index & BIT_ULL(32));
	bench_close(plain);

	/* An event without precision that comes to that counter has an overflow of its own. */
	plain = bench_event(b, PERF_COUNT_HW_INSTRUCTIONS, 50);
	KUNIT_ASSERT_EQ(test, bench_add(plain, PERF_EF_START), 0);
	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model()->pebs_cfg_c[plain->hw.idx], 0);
	bench_forget(b);
	bench_run(b, MACHINE_INSTRUCTIONS, 100);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	bench_del(plain);
	bench_del(event);
	bench_close(plain);
	bench_close(event);
}

/* A period that the register has no room for: each record interrupts. */
static void arch_long_period(struct kunit *test)
{
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2,
						   BIT_ULL(31) + 1);
	struct bench *b = test->priv;
	struct perf_event *event;

	if (cpu_of(b)->pebs != PEBS_MODEL_ARCH)
		return;
	event = bench_alloc(b, &attr);
	event->hw.target = current;
	KUNIT_ASSERT_EQ(test, bench_init_event(event), 0);
	KUNIT_ASSERT_EQ(test, bench_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model()->pebs_cfg_c[32], ARCH_BASIC);
	bench_del(event);
	bench_close(event);
}

static struct kunit_case pebs_cases[] = {
	KUNIT_CASE_PARAM(precise_samples, gen_params),
	KUNIT_CASE_PARAM(precise_regs, gen_params),
	KUNIT_CASE_PARAM(precise_user_regs, gen_params),
	KUNIT_CASE_PARAM(precise_kernel_place, gen_params),
	KUNIT_CASE_PARAM(precise_two_latencies, gen_params),
	KUNIT_CASE_PARAM(precise_late, gen_params),
	KUNIT_CASE_PARAM(precise_several, gen_params),
	KUNIT_CASE_PARAM(precise_without_records, gen_params),
	KUNIT_CASE_PARAM(precise_stops_for_guests, gen_params),
	KUNIT_CASE_PARAM(precise_refused, gen_params),
	KUNIT_CASE_PARAM(precise_encodes, gen_params),
	KUNIT_CASE_PARAM(precise_gathers, gen_params),
	KUNIT_CASE_PARAM(precise_one_overflow, gen_params),
	KUNIT_CASE_PARAM(precise_latency, gen_params),
	KUNIT_CASE_PARAM(arch_registers, gen_params),
	KUNIT_CASE_PARAM(arch_long_period, gen_params),
	{ }
};

static struct kunit_suite pebs_suite = {
	.name		= "corepmu_pebs",
	.init		= machine_init,
	.exit		= machine_exit,
	.test_cases	= pebs_cases,
};

kunit_test_suite(pebs_suite);
