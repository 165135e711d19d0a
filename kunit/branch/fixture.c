// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: events with branch records on the fixture
 *
 * The tests say which branches the CPU takes; the models record, filter and freeze them. Records
 * belong to the current task: tests with records have IRQs off and are not scheduled out.
 */
#include "fixture.h"

/* Instructions at the sources of branches */
static const struct x86_model_code branch_code[] = {
	{ USER, { 0x74, 0x10 } },			/* je */
	{ USER + 0x10, { 0xe8, 1, 0, 0, 0 } },		/* call */
	{ USER + 0x20, { 0xc3 } },			/* ret */
	{ USER + 0x30, { 0xff, 0xe0 } },		/* jmp *%rax */
	{ USER + 0x40, { 0x0f, 0x05 } },		/* syscall */
	{ KERNEL, { 0xff, 0xd0 } },			/* call *%rax */
	{ KERNEL + 0x10, { 0x48, 0x0f, 0x07 } },	/* sysretq */
	{ KERNEL + 0x20, { 0x48, 0x89, 0xe5 } },	/* mov */
};

struct branch_seen branch_seen[2];
bool branch_noise;

static void note_branches(struct perf_event *event, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	struct fixture *b = event->overflow_handler_context;
	struct branch_seen *s = &branch_seen[b->nr_samples++ % ARRAY_SIZE(branch_seen)];

	*s = (struct branch_seen) { };
	event->hw.interrupts_seq = U64_MAX;
	if (!(data->sample_flags & PERF_SAMPLE_BRANCH_STACK))
		return;
	s->nr = data->br_stack->nr;
	s->hw_idx = data->br_stack->hw_idx;
	memcpy(s->entries, data->br_stack->entries, s->nr * sizeof(s->entries[0]));
#if COMPAT_HAVE_BR_STACK_CNTR
	s->has_counts = data->br_stack_cntr;
	if (s->has_counts)
		memcpy(s->counts, data->br_stack_cntr, s->nr * sizeof(s->counts[0]));
#endif
	if (branch_noise)
		x86_model_branch(KERNEL, KERNEL + 0x40, X86_MODEL_IND_CALL, 0);
}

/**
 * branch_open_stack() - open a per-task event with branch records, on the current task
 * @b: the fixture
 * @type: attr.branch_sample_type
 *
 * Return: the event; if the driver rejects it, the test ends
 */
struct perf_event *branch_open_stack(struct fixture *b, u64 type)
{
	const struct perf_event_attr attr = { STACK(type) };

	return branch_open_attr(b, &attr);
}

/**
 * branch_open_attr() - open an event with branch records and other attributes
 * @b: the fixture
 * @attr: attributes
 *
 * Return: the event; if the driver rejects it, the test ends
 */
struct perf_event *branch_open_attr(struct fixture *b, const struct perf_event_attr *attr)
{
	return branch_open_member(b, attr, NULL);
}

/**
 * branch_open_member() - open an event with branch records in a group
 * @b: the fixture
 * @attr: attributes
 * @leader: group leader; NULL: the event is the leader
 *
 * Return: the event; if the driver rejects it, the test ends
 */
struct perf_event *branch_open_member(struct fixture *b, const struct perf_event_attr *attr,
				      struct perf_event *leader)
{
	struct perf_event *event = fixture_alloc(b, attr);

	event->overflow_handler = note_branches;
	event->hw.target = current;
	fixture_join(event, leader);

	return event;
}

/* IRQ flags from branch_begin() to branch_leave() */
static unsigned long branch_irqs;

/**
 * branch_begin() - provide the code at the branches, and disable IRQs until branch_leave()
 */
void branch_begin(void)
{
	x86_model_code = branch_code;
	x86_model_nr_code = ARRAY_SIZE(branch_code);
	local_irq_save(branch_irqs);
}

/**
 * branch_leave() - restore the IRQ flags from before branch_begin()
 */
void branch_leave(void)
{
	local_irq_restore(branch_irqs);
}

/**
 * branch_add() - schedule an event in
 * @event: the event
 */
void branch_add(struct perf_event *event)
{
	struct fixture *b = event->overflow_handler_context;

	KUNIT_EXPECT_EQ(b->test, fixture_add(event, PERF_EF_START), 0);
}

/**
 * branch_start() - call branch_begin(), and schedule an event in
 * @event: the event
 *
 * Return: the event, for branch_end()
 */
struct perf_event *branch_start(struct perf_event *event)
{
	branch_begin();
	branch_add(event);

	return event;
}

/**
 * branch_end() - schedule an event out, call branch_leave(), and close the event
 * @event: the event, which is scheduled in
 *
 * Closing the event releases the counters, which needs enabled interrupts.
 */
void branch_end(struct perf_event *event)
{
	fixture_del(event);
	branch_leave();
	fixture_close(event);
}

/**
 * branch_overflow() - end a period
 * @b: the fixture
 */
void branch_overflow(struct fixture *b)
{
	fixture_run(b, TESTBED_CYCLES, PERIOD);
}

static bool has_branches(const struct testbed *testbed)
{
	const struct x86_model_cpu *cpu = testbed->cpu;

	return testbed_is_x86(testbed) && cpu->lbr_nr;
}

/**
 * branch_has_calls() - check whether the CPU has LBR call stacks: Intel, from format 4 on
 * @testbed: the testbed
 *
 * Return: true if it has
 */
bool branch_has_calls(const struct testbed *testbed)
{
	const struct x86_model_cpu *cpu = testbed->cpu;

	return has_branches(testbed) && !cpu->amd && cpu->lbr_format > 3;
}

/**
 * branch_has_cycles() - check whether branch records have cycles: Intel, from format 5 on
 * @testbed: the testbed
 *
 * Return: true if they have
 */
bool branch_has_cycles(const struct testbed *testbed)
{
	const struct x86_model_cpu *cpu = testbed->cpu;

	return branch_has_calls(testbed) && cpu->lbr_format > 4;
}

/**
 * branch_gen_params() - generate testbeds with branch records
 * @prev: the previous testbed
 * @desc: filled in with the name of the next testbed
 *
 * Return: the next testbed
 */
const void *branch_gen_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, has_branches);
}

/**
 * branch_gen_calls_params() - generate testbeds with LBR call stacks
 * @prev: the previous testbed
 * @desc: filled in with the name of the next testbed
 *
 * Return: the next testbed
 */
const void *branch_gen_calls_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, branch_has_calls);
}

/**
 * branch_has_counts() - check whether branch records have event counts
 * @testbed: the testbed
 *
 * Return: true if the testbed and the kernel support event counts
 */
bool branch_has_counts(const struct testbed *testbed)
{
	const struct x86_model_cpu *cpu = testbed->cpu;

	return COMPAT_SAMPLE_BRANCH_COUNTERS && has_branches(testbed) && cpu->lbr_ecx >> 16;
}

/**
 * branch_gen_counts_params() - generate testbeds with event counts in branch records
 * @prev: the previous testbed
 * @desc: filled in with the name of the next testbed
 *
 * Return: the next testbed
 */
const void *branch_gen_counts_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, branch_has_counts);
}

/**
 * branch_records_kernel() - check whether a testbed records the kernel's branches
 * @b: the fixture
 *
 * Return: true if it does
 */
bool branch_records_kernel(struct fixture *b)
{
	return strcmp(b->testbed->name, "amd-lbr-runs");
}

/**
 * branch_all() - take a branch of each type, into the kernel and back
 */
void branch_all(void)
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

/**
 * branch_expect_from() - expect the sources of a sample's branches
 * @test: the test
 * @s: the sample
 * @from: addresses, the youngest first
 * @nr: number of addresses
 */
void branch_expect_from(struct kunit *test, const struct branch_seen *s, const u64 *from,
			unsigned int nr)
{
	KUNIT_EXPECT_EQ(test, s->nr, nr);
	for (unsigned int i = 0; i < nr && i < s->nr; i++)
		KUNIT_EXPECT_EQ_MSG(test, s->entries[i].from, from[i], "entry %u", i);
}
