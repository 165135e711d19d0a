// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of branch records: what events ask for, what their samples get
 *
 * Branches happen where the test says; the models record, filter and freeze them. Records are
 * of the task that runs: a test is not scheduled away while it has some.
 */
#include <kunit/test.h>

#include <linux/irqflags.h>
#include <linux/perf_event.h>

#include <corepmu/branch.h>

#include "machine.h"
#include "models/x86_access.h"

#define USER		0x401000ULL
#define USER_TO		0x402000ULL
#define KERNEL		0xffffffff81000000ULL
#define PERIOD		1000
#define MISPREDICTED	BIT_ULL(63)

#define STACK(kinds)	.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES,	\
			.sample_period = PERIOD, .sample_type = PERF_SAMPLE_BRANCH_STACK,	\
			.branch_sample_type = (kinds)

#define ANY_USER	(PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER)
#define ANY_LEVEL	(ANY_USER | PERF_SAMPLE_BRANCH_KERNEL)

/* Instructions at the addresses that branches come from */
static const struct x86_model_code code[] = {
	{ USER, { 0x74, 0x10 } },			/* je */
	{ USER + 0x10, { 0xe8, 1, 0, 0, 0 } },		/* call */
	{ USER + 0x20, { 0xc3 } },			/* ret */
	{ USER + 0x30, { 0xff, 0xe0 } },		/* jmp *%rax */
	{ USER + 0x40, { 0x0f, 0x05 } },		/* syscall */
	{ KERNEL, { 0xff, 0xd0 } },			/* call *%rax */
	{ KERNEL + 0x10, { 0x48, 0x0f, 0x07 } },	/* sysretq */
	{ KERNEL + 0x20, { 0x48, 0x89, 0xe5 } },	/* mov */
};

/* What the last two samples had */
struct seen {
	unsigned int	nr;
	u64		hw_idx;
	struct perf_branch_entry entries[COREPMU_MAX_BRANCHES];
};

static struct seen seen[2];

static void note_branches(struct perf_event *event, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	struct bench *b = event->overflow_handler_context;
	struct seen *s = &seen[b->nr_samples++ % ARRAY_SIZE(seen)];

	*s = (struct seen) { };
	event->hw.interrupts_seq = U64_MAX;
	if (!(data->sample_flags & PERF_SAMPLE_BRANCH_STACK))
		return;
	s->nr = data->br_stack->nr;
	s->hw_idx = data->br_stack->hw_idx;
	memcpy(s->entries, data->br_stack->entries, s->nr * sizeof(s->entries[0]));
}

static struct perf_event *open_stack(struct bench *b, u64 type)
{
	struct perf_event_attr attr = { STACK(type) };
	struct perf_event *event = bench_alloc(b, &attr);

	event->overflow_handler = note_branches;
	KUNIT_ASSERT_EQ(b->test, bench_init_event(event), 0);

	return event;
}

static unsigned long begin(struct bench *b)
{
	unsigned long flags;

	x86_model_code = code;
	x86_model_nr_code = ARRAY_SIZE(code);
	local_irq_save(flags);

	return flags;
}

static void add(struct perf_event *event)
{
	struct bench *b = event->overflow_handler_context;

	KUNIT_EXPECT_EQ(b->test, bench_add(event, PERF_EF_START), 0);
}

/* The counters are released with interrupts enabled. */
static void end(struct perf_event *event, unsigned long flags)
{
	bench_del(event);
	local_irq_restore(flags);
	bench_close(event);
}

static void overflow(struct bench *b)
{
	bench_run(b, MACHINE_CYCLES, PERIOD);
}

static bool has_branches(const struct machine *machine)
{
	const struct x86_model_cpu *cpu = machine->cpu;

	return machine_is_x86(machine) && cpu->lbr_nr;
}

static const void *branch_gen_params(const void *prev, char *desc)
{
	return machine_gen_those(prev, desc, has_branches);
}

static bool records_kernel(struct bench *b)
{
	return strcmp(b->machine->name, "amd-lbr-runs");
}

/* A conditional branch, a call, its return; the kernel and back */
static void branch_all(void)
{
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	x86_model_branch(USER + 0x10, USER_TO, X86_MODEL_CALL, 0);
	x86_model_branch(USER + 0x20, USER_TO, X86_MODEL_RET, 0);
	x86_model_branch(USER + 0x30, USER_TO, X86_MODEL_IND_JUMP, 0);
	x86_model_branch(USER + 0x40, KERNEL, X86_MODEL_FAR, 0);
	x86_model_branch(KERNEL, KERNEL + 0x10, X86_MODEL_IND_CALL, 0);
	x86_model_branch(KERNEL + 0x20, KERNEL, X86_MODEL_FAR, 0);
	x86_model_branch(KERNEL + 0x10, USER, X86_MODEL_FAR, 0);
}

static void expect_from(struct kunit *test, const struct seen *s, const u64 *from,
			unsigned int nr)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(test, s->nr, nr);
	for (i = 0; i < nr && i < s->nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, s->entries[i].from, from[i], "entry %u", i);
}

#define EXPECT_FROM(test, s, ...)						\
	expect_from(test, s, (const u64[]) { __VA_ARGS__ },			\
		    ARRAY_SIZE(((const u64[]) { __VA_ARGS__ })))

/* The youngest comes first, and no more than there are. */
static void branch_order(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = open_stack(b, ANY_USER);
	unsigned long flags = begin(b);
	unsigned int i;

	add(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	x86_model_branch(USER + 0x10, USER_TO + 2, X86_MODEL_CALL, 0);
	overflow(b);
	EXPECT_FROM(test, &seen[0], USER + 0x10, USER);
	KUNIT_EXPECT_EQ(test, seen[0].entries[0].to, USER_TO + 2);

	for (i = 0; i < 100; i++)
		x86_model_branch(USER, USER_TO + i, X86_MODEL_COND, 0);
	overflow(b);
	KUNIT_EXPECT_EQ(test, seen[1].nr, b->pmu->nr_branches);
	for (i = 0; i < seen[1].nr; i++)
		KUNIT_EXPECT_EQ(test, seen[1].entries[i].to, USER_TO + 99 - i);
	end(event, flags);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, machine_cb_users, 0);
}

/* Each kind that can be asked for, in user space and in the kernel */
static void branch_kinds(struct kunit *test)
{
	struct bench *b = test->priv;
	static const struct {
		u64 type;
		u64 from[8];
	} table[] = {
		{ PERF_SAMPLE_BRANCH_ANY, { USER + 0x30, USER + 0x20, USER + 0x10, USER } },
		{ PERF_SAMPLE_BRANCH_ANY_CALL, { USER + 0x10 } },
		{ PERF_SAMPLE_BRANCH_CALL, { USER + 0x10 } },
		{ PERF_SAMPLE_BRANCH_ANY_RETURN, { USER + 0x20 } },
		{ PERF_SAMPLE_BRANCH_COND, { USER } },
		{ PERF_SAMPLE_BRANCH_IND_JUMP, { USER + 0x30 } },
		{ PERF_SAMPLE_BRANCH_IND_CALL },
		{ PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_CALL, { USER + 0x10, USER } },
		{ PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL,
		  { KERNEL + 0x10, KERNEL + 0x20, KERNEL, USER + 0x40, USER + 0x30, USER + 0x20,
		    USER + 0x10, USER } },
		/* A system call, an indirect call, and an interrupt in the kernel */
		{ PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_KERNEL,
		  { KERNEL + 0x20, KERNEL, USER + 0x40, USER + 0x10 } },
		{ PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_KERNEL,
		  { KERNEL + 0x10, USER + 0x20 } },
		{ PERF_SAMPLE_BRANCH_IND_CALL | PERF_SAMPLE_BRANCH_KERNEL, { KERNEL } },
	};
	unsigned long flags;
	unsigned int i, nr;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event *event;

		if ((table[i].type & PERF_SAMPLE_BRANCH_KERNEL) && !records_kernel(b))
			continue;
		event = open_stack(b, table[i].type | PERF_SAMPLE_BRANCH_USER);
		flags = begin(b);
		b->nr_samples = 0;
		add(event);
		branch_all();
		overflow(b);
		for (nr = 0; nr < 8 && table[i].from[nr]; nr++)
			;
		KUNIT_EXPECT_EQ_MSG(test, b->nr_samples, 1, "row %u", i);
		expect_from(test, &seen[0], table[i].from, nr);
		end(event, flags);
	}
}

/* Without the kernel no address of it, not even where a branch to user space comes from */
static void branch_levels(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = open_stack(b, ANY_USER);
	unsigned long flags = begin(b);

	add(event);
	branch_all();
	/* As if hardware filtered nothing */
	this_cpu_write(x86_model_state.lbr_select, 0);
	branch_all();
	overflow(b);
	EXPECT_FROM(test, &seen[0], USER + 0x30, USER + 0x20, USER + 0x10, USER,
		    USER + 0x30, USER + 0x20, USER + 0x10, USER);
	end(event, flags);

	if (records_kernel(b)) {
		event = open_stack(b, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL |
				   PERF_SAMPLE_BRANCH_PRIV_SAVE);
		flags = begin(b);
		b->nr_samples = 0;
		add(event);
		branch_all();
		overflow(b);
		/* To the kernel is what counts. */
		EXPECT_FROM(test, &seen[0], KERNEL + 0x20, KERNEL, USER + 0x40);
		KUNIT_EXPECT_EQ(test, (u64)seen[0].entries[0].priv, PERF_BR_PRIV_KERNEL);
		end(event, flags);
	}
}

/* Two events: the hardware records what either wants, each sample has its own. */
static void branch_union(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *calls = open_stack(b, PERF_SAMPLE_BRANCH_ANY_CALL |
					      PERF_SAMPLE_BRANCH_USER);
	struct perf_event *conds = open_stack(b, PERF_SAMPLE_BRANCH_COND |
					      PERF_SAMPLE_BRANCH_USER |
					      PERF_SAMPLE_BRANCH_TYPE_SAVE);
	unsigned long flags = begin(b);

	add(calls);
	branch_all();
	/* There were conditional branches, too, which nobody recorded: none is better. */
	add(conds);
	overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, seen[0].nr + seen[1].nr, 0);

	branch_all();
	overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 4);
	KUNIT_EXPECT_EQ(test, seen[0].nr, 1);
	KUNIT_EXPECT_EQ(test, seen[1].nr, 1);
	KUNIT_EXPECT_EQ(test, seen[0].entries[0].from + seen[1].entries[0].from,
			USER + USER + 0x10);
	/* A type for the event that asks for it */
	KUNIT_EXPECT_EQ(test, seen[0].entries[0].type + seen[1].entries[0].type, PERF_BR_COND);

	/* The one that is left has what was recorded for both. */
	branch_all();
	bench_del(conds);
	overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 5);
	KUNIT_EXPECT_EQ(test, seen[0].nr, 2);
	KUNIT_EXPECT_EQ(test, seen[0].entries[1].from, USER + 0x10);
	end(calls, flags);
	bench_close(conds);
}

/* Records of another task, or of a gap: wiped, or not shown */
static void branch_tasks(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = open_stack(b, ANY_USER);
	unsigned long flags = begin(b);

	add(event);
	KUNIT_EXPECT_EQ(test, machine_cb_users, 1);
	branch_all();
	/* Perf core tells of a switch. */
	event->pmu->pmu_disable(event->pmu);
	corepmu_branch_switch(false);
	corepmu_branch_switch(true);
	event->pmu->pmu_enable(event->pmu);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	overflow(b);
	EXPECT_FROM(test, &seen[0], USER);

	/* The same while the PMU runs, as before 6.2 it may */
	branch_all();
	corepmu_branch_switch(true);
	overflow(b);
	KUNIT_EXPECT_EQ(test, seen[1].nr, 0);

	/* It does not tell: somebody else has run meanwhile. */
	branch_all();
	current->nvcsw++;
	overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 3);
	KUNIT_EXPECT_EQ(test, seen[0].nr, 0);
	/* From then on they are known to be of this task. */
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	overflow(b);
	EXPECT_FROM(test, &seen[1], USER);
	branch_all();
	b->cpuc->branches->task = NULL;
	overflow(b);
	KUNIT_EXPECT_EQ(test, seen[0].nr, 0);

	/* An event that was away */
	branch_all();
	bench_del(event);
	KUNIT_EXPECT_EQ(test, machine_cb_users, 0);
	branch_all();
	add(event);
	overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 6);
	KUNIT_EXPECT_EQ(test, seen[1].nr, 0);
	end(event, flags);
}

/* The records stand still at the overflow, and go on after the interrupt. */
static void branch_freeze(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = open_stack(b, ANY_USER);
	unsigned long flags = begin(b);
	unsigned int i;

	add(event);
	for (i = 0; i < 3; i++) {
		bench_forget(b);
		x86_model_branch(USER, USER_TO + i, X86_MODEL_COND, 0);
		b->machine->ops->hold(true);
		overflow(b);
		if (records_kernel(b))
			x86_model_branch(USER + 0x10, USER_TO, X86_MODEL_CALL, 0);
		b->machine->ops->hold(false);
		KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
		KUNIT_EXPECT_EQ(test, seen[0].nr, i + 1);
		KUNIT_EXPECT_EQ(test, seen[0].entries[0].to, USER_TO + i);
	}
	end(event, flags);
}

/* An overflow that a stop has overtaken has the records of when it came. */
static void branch_late(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = open_stack(b, ANY_USER);
	unsigned long flags = begin(b);

	add(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	b->machine->ops->hold(true);
	overflow(b);
	bench_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);
	EXPECT_FROM(test, &seen[0], USER);
	b->machine->ops->hold(false);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 1);

	/* With the PMU running, which perf core does not do */
	bench_start_event(event, PERF_EF_RELOAD);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	b->machine->ops->hold(true);
	overflow(b);
	event->pmu->stop(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, seen[1].entries[0].from, USER);
	b->machine->ops->hold(false);
	KUNIT_EXPECT_TRUE(test, b->cpuc->running);
	KUNIT_EXPECT_EQ(test, b->cpuc->branches->nesting, 0);
	end(event, flags);
	b->unknown_expected = b->machine->ops->unknown();
}

/* Only so many samples have records at a time, each a stack of its own. */
static void branch_nesting(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = open_stack(b, ANY_USER);
	struct perf_branch_stack *outer = (void *)b->cpuc->branches->stack[0];
	unsigned long flags = begin(b);

	add(event);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
	/* Of a sample that is under way */
	outer->nr = COREPMU_MAX_BRANCHES;
	b->cpuc->branches->nesting = COREPMU_BRANCH_NESTING - 1;
	overflow(b);
	EXPECT_FROM(test, &seen[0], USER);
	KUNIT_EXPECT_EQ(test, outer->nr, COREPMU_MAX_BRANCHES);
	b->cpuc->branches->nesting++;
	overflow(b);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);
	KUNIT_EXPECT_EQ(test, seen[1].nr, 0);
	KUNIT_EXPECT_EQ(test, b->cpuc->branches->nesting, COREPMU_BRANCH_NESTING);
	b->cpuc->branches->nesting = 0;
	end(event, flags);
}

/* Flags, cycles, types and levels, for those who ask */
static void branch_flags(struct kunit *test)
{
	struct bench *b = test->priv;
	bool amd = !strncmp(b->machine->name, "amd", 3);
	struct perf_event *all = open_stack(b, ANY_USER | PERF_SAMPLE_BRANCH_TYPE_SAVE |
					    PERF_SAMPLE_BRANCH_PRIV_SAVE |
					    PERF_SAMPLE_BRANCH_HW_INDEX);
	struct perf_event *none = open_stack(b, ANY_USER | PERF_SAMPLE_BRANCH_NO_FLAGS |
					     PERF_SAMPLE_BRANCH_NO_CYCLES);
	unsigned long flags = begin(b);
	struct perf_branch_entry *entry;

	add(all);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, MISPREDICTED | 7);
	x86_model_branch(USER + 0x20, USER_TO, X86_MODEL_RET, 9);
	overflow(b);
	entry = seen[0].entries;
	KUNIT_EXPECT_EQ(test, (u64)entry[0].mispred, 0);
	KUNIT_EXPECT_EQ(test, (u64)entry[0].predicted, 1);
	KUNIT_EXPECT_EQ(test, (u64)entry[1].mispred, 1);
	KUNIT_EXPECT_EQ(test, (u64)entry[1].predicted, 0);
	KUNIT_EXPECT_EQ(test, (u64)entry[0].cycles, amd ? 0 : 9);
	KUNIT_EXPECT_EQ(test, (u64)entry[1].cycles, amd ? 0 : 7);
	KUNIT_EXPECT_EQ(test, (u64)entry[0].type, PERF_BR_RET);
	KUNIT_EXPECT_EQ(test, (u64)entry[1].type, PERF_BR_COND);
	KUNIT_EXPECT_EQ(test, (u64)entry[0].priv, PERF_BR_PRIV_USER);
	KUNIT_EXPECT_EQ(test, (u64)entry[0].spec, amd ? PERF_BR_NON_SPEC_CORRECT_PATH :
						   PERF_BR_SPEC_NA);
	KUNIT_EXPECT_EQ(test, seen[0].hw_idx, this_cpu_read(x86_model_state.lbr_tos));
	bench_del(all);

	b->nr_samples = 0;
	add(none);
	x86_model_branch(USER, USER_TO, X86_MODEL_COND, MISPREDICTED | 7);
	overflow(b);
	KUNIT_EXPECT_EQ(test, seen[0].nr, 1);
	KUNIT_EXPECT_EQ(test, entry[0].mispred + entry[0].predicted + entry[0].cycles, 0);
	KUNIT_EXPECT_EQ(test, entry[0].type + entry[0].priv + entry[0].spec, 0);
	end(none, flags);
	bench_close(all);
}

/* What is refused, and how */
static void branch_refuses(struct kunit *test)
{
	struct bench *b = test->priv;
	bool tsx = !strcmp(b->machine->name, "intel-lbr-v3");
	struct {
		u64 type;
		int err;
	} table[] = {
		{ ANY_USER, 0 },
		{ ANY_LEVEL | PERF_SAMPLE_BRANCH_HV, records_kernel(b) ? 0 : -EOPNOTSUPP },
		{ ANY_USER | PERF_SAMPLE_BRANCH_CALL_STACK, -EOPNOTSUPP },
		{ PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_USER, -EOPNOTSUPP },
		{ ANY_USER | PERF_SAMPLE_BRANCH_COUNTERS, -EOPNOTSUPP },
		{ ANY_USER | 1ULL << 40, -EOPNOTSUPP },
		{ ANY_USER | PERF_SAMPLE_BRANCH_ABORT_TX, tsx ? 0 : -EOPNOTSUPP },
		{ ANY_USER | PERF_SAMPLE_BRANCH_IN_TX, tsx ? 0 : -EOPNOTSUPP },
		{ ANY_USER | PERF_SAMPLE_BRANCH_NO_TX, tsx ? 0 : -EOPNOTSUPP },
		{ PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_TYPE_SAVE, -EINVAL },
		{ PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HV, -EINVAL },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event_attr attr = { STACK(table[i].type) };
		struct perf_event *event;

		KUNIT_EXPECT_EQ_MSG(test, bench_open(b, &attr, &event), table[i].err,
				    "row %u", i);
		if (table[i].err)
			continue;
		KUNIT_EXPECT_TRUE(test, event->attach_state & PERF_ATTACH_SCHED_CB);
		bench_close(event);
	}
	KUNIT_EXPECT_EQ(test, model_accesses(NULL), 0);
}

/* Transactions: in, out, and aborted */
static void branch_transactions(struct kunit *test)
{
	struct bench *b = bench_start(test, machine_by_name("intel-lbr-v3"));
	static const struct {
		u64 type;
		u64 from[3];
	} table[] = {
		{ PERF_SAMPLE_BRANCH_ANY, { USER + 0x30, USER + 0x20, USER } },
		{ PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_IN_TX, { USER + 0x30, USER + 0x20 } },
		{ PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_TX, { USER } },
		{ PERF_SAMPLE_BRANCH_ABORT_TX, { USER + 0x30 } },
		{ PERF_SAMPLE_BRANCH_COND, { USER } },
	};
	unsigned long flags;
	unsigned int i, nr;

	test->priv = b;
	for (i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event *event = open_stack(b, table[i].type | PERF_SAMPLE_BRANCH_USER |
						      PERF_SAMPLE_BRANCH_NO_FLAGS |
						      PERF_SAMPLE_BRANCH_NO_CYCLES);

		flags = begin(b);
		b->nr_samples = 0;
		add(event);
		x86_model_branch(USER, USER_TO, X86_MODEL_COND, 0);
		x86_model_branch(USER + 0x20, USER_TO, X86_MODEL_RET, LBR_INFO_IN_TX);
		x86_model_branch(USER + 0x30, USER_TO, X86_MODEL_FAR,
				 LBR_INFO_IN_TX | LBR_INFO_ABORT);
		overflow(b);
		for (nr = 0; nr < 3 && table[i].from[nr]; nr++)
			;
		expect_from(test, &seen[0], table[i].from, nr);
		end(event, flags);
	}
}

/* Without samples, or without the flag, nothing is recorded. */
static void branch_counting(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event_attr attr = { STACK(ANY_USER) };
	struct perf_event *event;
	unsigned long flags;

	attr.sample_period = 0;
	KUNIT_ASSERT_EQ(test, bench_open(b, &attr, &event), 0);
	flags = begin(b);
	add(event);
	KUNIT_EXPECT_EQ(test, b->cpuc->branch_users, 0);
	end(event, flags);

	attr.sample_period = PERIOD;
	attr.sample_type = 0;
	KUNIT_ASSERT_EQ(test, bench_open(b, &attr, &event), 0);
	flags = begin(b);
	add(event);
	KUNIT_EXPECT_EQ(test, b->cpuc->branch_users, 0);
	end(event, flags);
}

/* The accesses of a sample, of a start and a stop, and of a reset */
struct accesses {
	const char *machine;
	const char *start;
	const char *stop;
	const char *reset;
};

static const struct accesses accesses[] = {
	{ "intel-lbr", "LBR_SELECT=1 DEBUGCTL DEBUGCTL=801 GLOBAL_CTRL=200000000",
	  "GLOBAL_CTRL=0 DEBUGCTL DEBUGCTL=0", "DEBUGCTL DEBUGCTL=0" },
	{ "intel-arch-lbr", "DEBUGCTL DEBUGCTL=800 LBR_CTL=7f0005 GLOBAL_CTRL=200000000",
	  "GLOBAL_CTRL=0 LBR_CTL=0", "DEBUGCTL LBR_CTL=0 DEBUGCTL=0" },
	{ "amd-lbr", "LBR_SELECT=1 DEBUGCTL DEBUGCTL=800 DBG_EXTN_CFG DBG_EXTN_CFG=40 GLOBAL_CTL=1",
	  "GLOBAL_CTL=0 DBG_EXTN_CFG DBG_EXTN_CFG=0",
	  "DBG_EXTN_CFG DBG_EXTN_CFG=0 DEBUGCTL DEBUGCTL=0" },
};

static void accesses_desc(const struct accesses *a, char *desc)
{
	strscpy(desc, a->machine, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(accesses, accesses, accesses_desc);

static void branch_accesses(struct kunit *test)
{
	const struct accesses *a = test->param_value;
	struct bench *b = bench_start(test, machine_by_name(a->machine));
	struct perf_event *event = open_stack(b, ANY_USER);
	unsigned long flags = begin(b);

	test->priv = b;
	KUNIT_EXPECT_EQ(test, bench_add(event, PERF_EF_START), 0);
	event->pmu->pmu_disable(event->pmu);
	b->cpuc->branches->selected = ~0ULL;
	b->cpuc->branches->freezes = false;
	this_cpu_write(x86_model_state.debugctl, 0);
	model_forget();
	event->pmu->pmu_enable(event->pmu);
	local_irq_restore(flags);
	expect_accesses(test, a->start);

	local_irq_save(flags);
	event->pmu->pmu_disable(event->pmu);
	local_irq_restore(flags);
	expect_accesses(test, a->stop);

	local_irq_save(flags);
	corepmu_branch_reset(b->cpuc);
	local_irq_restore(flags);
	expect_accesses(test, a->reset);
	KUNIT_EXPECT_TRUE(test, b->cpuc->branches->stale);

	local_irq_save(flags);
	event->pmu->pmu_enable(event->pmu);
	end(event, flags);
}

/* A system that ends records no more. */
static void branch_off(struct kunit *test)
{
	struct bench *b = test->priv;
	struct perf_event *event = open_stack(b, ANY_USER);
	unsigned long flags = begin(b);

	corepmu_branch_off();
	add(event);
	branch_all();
	overflow(b);
	KUNIT_EXPECT_EQ(test, seen[0].nr, 0);
	corepmu_branch_on();
	end(event, flags);
}

static struct kunit_case branch_cases[] = {
	KUNIT_CASE_PARAM(branch_order, branch_gen_params),
	KUNIT_CASE_PARAM(branch_kinds, branch_gen_params),
	KUNIT_CASE_PARAM(branch_levels, branch_gen_params),
	KUNIT_CASE_PARAM(branch_union, branch_gen_params),
	KUNIT_CASE_PARAM(branch_tasks, branch_gen_params),
	KUNIT_CASE_PARAM(branch_freeze, branch_gen_params),
	KUNIT_CASE_PARAM(branch_late, branch_gen_params),
	KUNIT_CASE_PARAM(branch_nesting, branch_gen_params),
	KUNIT_CASE_PARAM(branch_flags, branch_gen_params),
	KUNIT_CASE_PARAM(branch_refuses, branch_gen_params),
	KUNIT_CASE_PARAM(branch_counting, branch_gen_params),
	KUNIT_CASE_PARAM(branch_off, branch_gen_params),
	{ }
};

static struct kunit_suite branch_suite = {
	.name		= "corepmu_branch",
	.init		= machine_init,
	.exit		= machine_exit,
	.test_cases	= branch_cases,
};

/* These start a machine of their own. */
static struct kunit_case branch_machine_cases[] = {
	KUNIT_CASE(branch_transactions),
	KUNIT_CASE_PARAM(branch_accesses, accesses_gen_params),
	{ }
};

static struct kunit_suite branch_machine_suite = {
	.name		= "corepmu_branch_machine",
	.exit		= machine_exit,
	.test_cases	= branch_machine_cases,
};

kunit_test_suites(&branch_suite, &branch_machine_suite);
