// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of precise samples: their registers, latencies and throttling
 */
#include <kunit/test.h>

#include <linux/irqflags.h>
#include <linux/limits.h>
#include <linux/perf_event.h>
#include <linux/perf_regs.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>

#include <corepmu/pmu.h>

#include <asm/cpu_entry_area.h>

#include "fixture/testbed.h"
#include "models/x86/pebs.h"
#include "models/x86/access.h"
#include "fixture.h"
#include "x86/intel/intel.h"
#include "x86/pebs/pebs.h"
#include "x86/x86.h"

/* A register value of the kernel, which user space must not see; and the task's user registers */
#define KERNEL_REG	0xffffffff81c0ffeeULL
#define TASK_SP		0x7ffc0ffee000ULL
#define TASK_AX		0xabcd
#define ENTERING_SP	0x7ffc0dead000ULL

/* Registers of the last sample */
static struct pt_regs seen_regs;

static void keep_regs(struct fixture *b, struct perf_event *event)
{
	seen_regs = *b->sample_regs;
}

/* Stack pointer of the kernel code that the interrupt hits */
static unsigned long kernel_sp = KERNEL_REG;

static bool shows_kernel(const struct pt_regs *regs)
{
	const unsigned long *words = (const unsigned long *)regs;

	for (unsigned int i = 0; i < sizeof(*regs) / sizeof(*words); i++)
		if (words[i] == KERNEL_REG)
			return true;

	return false;
}

/*
 * Make the counter overflow in user space. The interrupt hits the kernel: in a task that has left
 * user space, or in a kernel thread. Or, without @interrupt, the event is stopped.
 */
static void overflow_into_kernel(struct fixture *b, struct perf_event *event, bool kthread,
				 bool interrupt)
{
	struct pt_regs *task = task_pt_regs(current), saved = *task;
	unsigned long flags;

	fixture_forget(b);
	b->on_sample = keep_regs;
	memset(&seen_regs, 0xff, sizeof(seen_regs));
	local_irq_save(flags);
	memset64((u64 *)model_regs(false), KERNEL_REG, sizeof(saved) / sizeof(u64));
	model_regs(false)->sp = kernel_sp;
	task->ax = TASK_AX;
	task->sp = TASK_SP;
	task->cs = __USER_CS;
	if (!kthread)
		current->flags &= ~PF_KTHREAD;
	b->testbed->ops->hold(true);
	fixture_run(b, TESTBED_INSTRUCTIONS, 100);
	if (!interrupt)
		fixture_stop_event(event, PERF_EF_UPDATE);
	b->testbed->ops->hold(false);
	current->flags |= PF_KTHREAD;
	*task = saved;
	memset(model_regs(false), 0, sizeof(saved));
	local_irq_restore(flags);
	if (!interrupt)
		fixture_start_event(event, PERF_EF_RELOAD);
	b->on_sample = NULL;
	KUNIT_EXPECT_EQ(b->test, b->nr_samples, 1);
}

/*
 * Perf core takes registers with a user-space IP as the user's. So a sample with such an IP has no
 * kernel registers, wherever the interrupt hit and whoever opened the event.
 */
static void sample_user_regs(struct kunit *test)
{
	static const u64 types[] = {
		PERF_SAMPLE_REGS_USER, PERF_SAMPLE_STACK_USER,
		PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		PERF_SAMPLE_REGS_INTR, PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER,
		PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER,
	};
	struct fixture *b = test->priv;

	for (unsigned int i = 0; i < 8 * ARRAY_SIZE(types); i++) {
		struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
		u64 type = types[i / 8];
		bool own = type & ~PERF_SAMPLE_CALLCHAIN;
		struct perf_event *event;

		attr.sample_type = type;
		attr.sample_regs_user = BIT(PERF_REG_X86_AX);
		attr.sample_regs_intr = BIT(PERF_REG_X86_AX);
		attr.sample_stack_user = 256;
		attr.exclude_kernel = !(i & 1);
		KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
		pebs_model()->pebs_ip = IP;
		KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		overflow_into_kernel(b, event, i & 2, i & 4);
		KUNIT_EXPECT_EQ_MSG(test, seen_regs.ip, IP, "row %u", i);
		KUNIT_EXPECT_TRUE_MSG(test, user_mode(&seen_regs), "row %u", i);
		KUNIT_EXPECT_FALSE_MSG(test, shows_kernel(&seen_regs), "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, seen_regs.sp,
				    own ? PEBS_MODEL_REGS + 7 : i & 2 ? 0 : TASK_SP, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, seen_regs.ax,
				    own ? PEBS_MODEL_REGS : i & 2 ? 0 : TASK_AX, "row %u", i);

		/*
		 * After the instruction that enters the kernel, the record's registers are not the
		 * user's.
		 */
		pebs_model()->pebs_ip = BIT_ULL(63) - PEBS_MODEL_LENGTH;
		overflow_into_kernel(b, event, i & 2, i & 4);
		KUNIT_EXPECT_TRUE_MSG(test, user_mode(&seen_regs), "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, seen_regs.sp, i & 2 ? 0 : TASK_SP, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, seen_regs.ax, i & 2 ? 0 : TASK_AX, "row %u", i);
		fixture_remove(event);
	}
}

/*
 * SYSCALL is sampled. The interrupt hits before, while and after the kernel saves the user
 * registers. Before and while, the old saved registers are not shown.
 */
static void sample_entering_regs(struct kunit *test)
{
	static const struct pt_regs entering = { .sp = ENTERING_SP, .cs = __USER_CS };
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	const struct pt_regs *task = task_pt_regs(current);
	struct fixture *b = test->priv;
	struct perf_event *event;

	attr.sample_type = PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = BIT(PERF_REG_X86_SP);
	attr.exclude_kernel = 1;
	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
	pebs_model()->pebs_ip = BIT_ULL(63) - PEBS_MODEL_LENGTH;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);

	x86_model_entering = &entering;
	overflow_into_kernel(b, event, false, true);
	x86_model_entering = NULL;
	KUNIT_EXPECT_EQ(test, seen_regs.sp, ENTERING_SP);

	kernel_sp = (unsigned long)&task->ip;
	overflow_into_kernel(b, event, false, true);
	KUNIT_EXPECT_EQ(test, seen_regs.sp, 0);
	kernel_sp = CPU_ENTRY_AREA_PER_CPU + PAGE_SIZE;
	overflow_into_kernel(b, event, false, true);
	KUNIT_EXPECT_EQ(test, seen_regs.sp, 0);
	kernel_sp = (unsigned long)task;
	overflow_into_kernel(b, event, false, true);
	KUNIT_EXPECT_EQ(test, seen_regs.sp, TASK_SP);
	kernel_sp = KERNEL_REG;
}

/* A kernel IP stays a kernel IP, even if the interrupt hits user space. */
static void sample_kernel_ip(struct kunit *test)
{
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct fixture *b = test->priv;
	struct perf_event *event;

	attr.sample_type = PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = BIT(PERF_REG_X86_SP);
	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &event), 0);
	pebs_model()->pebs_ip = KERNEL_REG;
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	b->on_sample = keep_regs;
	fixture_run(b, TESTBED_INSTRUCTIONS, 100);
	KUNIT_EXPECT_EQ(test, seen_regs.ip, KERNEL_REG);
	KUNIT_EXPECT_FALSE(test, user_mode(&seen_regs));
}

/* LDT entry 1, user space */
#define LDT_CS		(BIT(3) | SEGMENT_LDT | USER_RPL)

/*
 * A record's address is linear: a sample shows no code segment with a base, which perf core would
 * add. The segment of a 32-bit task has none.
 */
static void sample_code_segment(struct kunit *test)
{
	static const struct {
		unsigned long interrupted;
		unsigned long shown;
	} rows[] = {
		{ __USER_CS, __USER_CS }, { __USER32_CS, __USER32_CS }, { LDT_CS, __USER_CS },
	};
	struct fixture *b = test->priv;
	struct perf_event *event;

	event = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	b->on_sample = keep_regs;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		x86_model_user_cs = rows[i].interrupted;
		fixture_run(b, TESTBED_INSTRUCTIONS, 100);
		KUNIT_EXPECT_EQ_MSG(test, seen_regs.ip, IP, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, seen_regs.cs, rows[i].shown, "row %u", i);
	}
	x86_model_user_cs = 0;
	b->on_sample = NULL;
}

static u64 seen_xmm0;

static void note_xmm(struct fixture *b, struct perf_event *event)
{
	const struct x86_perf_regs *shown = container_of(b->sample_regs, struct x86_perf_regs,
							 regs);

	seen_xmm0 = shown->xmm_regs ? *shown->xmm_regs : 0;
}

/* XMM registers come from the record, if the event asks for them. */
static void sample_xmm(struct kunit *test)
{
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct fixture *b = test->priv;

	if (pebs_cpu(b)->pebs < PEBS_FORMAT_ADAPTIVE)
		kunit_skip(test, "records of these have no XMM registers");
	attr.sample_type = PERF_SAMPLE_REGS_INTR;
	for (unsigned int wants = 0; wants < 2; wants++) {
		struct perf_event *event;

		attr.sample_regs_intr = BIT_ULL(PERF_REG_X86_AX) |
					(wants ? BIT_ULL(PERF_REG_X86_XMM0) : 0);
		event = fixture_open_start(b, &attr);
		b->on_sample = note_xmm;
		seen_xmm0 = ~0ULL;
		fixture_run(b, TESTBED_INSTRUCTIONS, 100);
		KUNIT_EXPECT_EQ(test, seen_xmm0, wants ? PEBS_MODEL_XMM : 0);
		b->on_sample = NULL;
		fixture_remove(event);
	}
}

static u16 seen_instruction_latency;
static u32 seen_latency;

static void note_latencies(struct fixture *b, struct perf_event *event)
{
	const struct perf_sample_data *data = &this_cpu_read(x86_pebs.scratch)->sample.data;

	seen_instruction_latency = data->weight.var2_w;
	seen_latency = data->weight.var1_dw;
}

/* From Golden Cove and Gracemont on, the latency word has two latencies. */
static void sample_two_latencies(struct kunit *test)
{
	static const struct {
		enum intel_uarch_id	uarch;
		bool			two;
	} rows[] = {
		{ UARCH_ICE_LAKE, false }, { UARCH_GOLDEN_COVE, true }, { UARCH_LION_COVE, true },
		{ UARCH_TREMONT, false }, { UARCH_GRACEMONT, true }, { UARCH_CRESTMONT, true },
		{ UARCH_SKYMONT, true }, { UARCH_COYOTE_COVE, true },
		{ UARCH_PANTHER_COVE, true }, { UARCH_ARCTIC_WOLF, true },
	};
	struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 100);
	struct fixture *b = test->priv;
	struct x86_desc *desc = to_x86(b->pmu);
	const struct intel_uarch *uarch = desc->uarch;
	struct perf_event *event;

	if (pebs_cpu(b)->pebs != PEBS_FORMAT_ADAPTIVE)
		kunit_skip(test, "records of these have one latency, or always two");
	attr.sample_type = PERF_SAMPLE_WEIGHT_STRUCT;
	event = fixture_open_start(b, &attr);
	b->on_sample = note_latencies;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		desc->uarch = &intel_uarches[rows[i].uarch];
		fixture_run(b, TESTBED_INSTRUCTIONS, 100);
		KUNIT_EXPECT_EQ_MSG(test, seen_instruction_latency,
				    rows[i].two ? PEBS_MODEL_LATENCY : 0, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, seen_latency, rows[i].two ? 0 : PEBS_MODEL_LATENCY,
				    "row %u", i);
	}
	desc->uarch = uarch;
}

static struct perf_event *two_events[2];

/* As perf_event_throttle() in kernel/events/core.c: throttle the event that has no sample yet. */
static void throttle_other(struct fixture *b, struct perf_event *event)
{
	struct perf_event *other = two_events[event == two_events[0]];

	if (b->nr_samples > 1)
		return;
	other->hw.interrupts = U64_MAX;
	other->pmu->stop(other, 0);
}

/*
 * An interrupt finds records of two events. In the first event's sample perf core throttles the
 * other event (from Linux 6.16 on). The other event's sample keeps perf core's mark: without it no
 * tick would start the event again.
 */
static void sample_keeps_throttled(struct kunit *test)
{
	struct fixture *b = test->priv;
	unsigned int i, nr_throttled = 0;

	for (i = 0; i < 2; i++) {
		two_events[i] = open_precise(b, PERF_COUNT_HW_INSTRUCTIONS, 2, 100 + 10 * i);
		KUNIT_ASSERT_EQ(test, fixture_add(two_events[i], PERF_EF_START), 0);
	}
	fixture_forget(b);
	pebs_model()->skid = 30;
	b->on_sample = throttle_other;
	fixture_run(b, TESTBED_INSTRUCTIONS, 140);
	b->on_sample = NULL;
	pebs_model()->skid = 0;
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	for (i = 0; i < 2; i++)
		if (two_events[i]->hw.interrupts == U64_MAX) {
			nr_throttled++;
			KUNIT_EXPECT_TRUE(test, two_events[i]->hw.state & PERF_HES_STOPPED);
		}
	KUNIT_EXPECT_EQ(test, nr_throttled, 1);
}

static struct kunit_case sample_cases[] = {
	KUNIT_CASE_PARAM(sample_user_regs, pebs_gen_params),
	KUNIT_CASE_PARAM(sample_entering_regs, pebs_gen_params),
	KUNIT_CASE_PARAM(sample_kernel_ip, pebs_gen_params),
	KUNIT_CASE_PARAM(sample_code_segment, pebs_gen_params),
	KUNIT_CASE_PARAM(sample_xmm, pebs_gen_params),
	KUNIT_CASE_PARAM(sample_two_latencies, pebs_gen_params),
	KUNIT_CASE_PARAM(sample_keeps_throttled, pebs_gen_params),
	{ }
};

TESTBED_SUITE(sample, "corepmu_pebs_sample");
