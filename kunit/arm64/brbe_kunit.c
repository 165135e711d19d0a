// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of arm64's branch records (BRBE)
 *
 * The same assertions as in the suite corepmu_branch, where they depend on the record registers.
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include <corepmu/branch.h>

#include "branch/fixture.h"
#include "models/arm64/access.h"

#define ARM_KERNEL	0xffff800080000000ULL

/* BRBINF<n>_EL1: MPRED; and CC with exponent and mantissa */
#define MPRED		BIT_ULL(5)
#define CC(exponent, mantissa)	((u64)(exponent) << 40 | (u64)(mantissa) << 32)

/* BRBINF<n>_EL1.TYPE */
enum {
	JUMP = 0, INDIRECT = 1, CALL = 2, IND_CALL = 3, RET = 5, ERET = 7, COND = 8,
	SYSCALL = 0x22, TRAP = 0x23, SERROR = 0x24, ALIGN_FAULT = 0x2a, INSN_FAULT = 0x2b,
	DATA_FAULT = 0x2c, IRQ = 0x2e,
};

static unsigned int kernel_el(void)
{
	return pmuv3_model_cpu->hyp ? 2 : 1;
}

static void user_branch(u64 from, unsigned int type, u64 info)
{
	pmuv3_model_branch(from, USER_TO, type, 0, 0, info);
}

/*
 * Take one branch of each type in user space, then a system call, a call in the kernel, and the
 * return to user space.
 */
static void every_type(void)
{
	user_branch(USER, COND, 0);
	user_branch(USER + 0x10, CALL, 0);
	user_branch(USER + 0x20, RET, 0);
	user_branch(USER + 0x30, INDIRECT, 0);
	user_branch(USER + 0x40, IND_CALL, 0);
	user_branch(USER + 0x50, JUMP, 0);
	pmuv3_model_branch(USER + 0x60, ARM_KERNEL, SYSCALL, 0, kernel_el(), 0);
	pmuv3_model_branch(ARM_KERNEL + 0x10, ARM_KERNEL, CALL, kernel_el(), kernel_el(), 0);
	pmuv3_model_branch(ARM_KERNEL + 0x20, USER, ERET, kernel_el(), 0, 0);
}

static const struct {
	u64 type;
	u64 from[10];
} types[] = {
	{ ANY_USER, { USER + 0x50, USER + 0x40, USER + 0x30, USER + 0x20, USER + 0x10, USER } },
	{ PERF_SAMPLE_BRANCH_COND | PERF_SAMPLE_BRANCH_USER, { USER } },
	{ PERF_SAMPLE_BRANCH_CALL | PERF_SAMPLE_BRANCH_USER, { USER + 0x10 } },
	{ PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER, { USER + 0x40, USER + 0x10 } },
	{ PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_USER, { USER + 0x20 } },
	{ PERF_SAMPLE_BRANCH_IND_CALL | PERF_SAMPLE_BRANCH_USER, { USER + 0x40 } },
	{ PERF_SAMPLE_BRANCH_IND_JUMP | PERF_SAMPLE_BRANCH_USER, { USER + 0x30 } },
	{ ANY_LEVEL, { ARM_KERNEL + 0x20, ARM_KERNEL + 0x10, USER + 0x60, USER + 0x50, USER + 0x40,
		       USER + 0x30, USER + 0x20, USER + 0x10, USER } },
	{ PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL,
	  { ARM_KERNEL + 0x10, USER + 0x60, USER + 0x40, USER + 0x10 } },
	{ PERF_SAMPLE_BRANCH_ANY_RETURN | PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL,
	  { ARM_KERNEL + 0x20, USER + 0x20 } },
};

/*
 * Each branch type that an event may select. The first sample has no branches of the time before
 * the event.
 */
static void brbe_by_type(struct kunit *test)
{
	struct fixture *b = test->priv;
	unsigned int nr;

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		struct perf_event *event = branch_start(branch_open_stack(b, types[i].type));

		b->nr_samples = 0;
		every_type();
		branch_overflow(b);
		KUNIT_EXPECT_EQ_MSG(test, b->nr_samples, 1, "row %u", i);
		for (nr = 0; types[i].from[nr]; nr++)
			;
		if (nr > b->pmu->nr_branches)
			nr = b->pmu->nr_branches;
		branch_expect_from(test, &branch_seen[0], types[i].from, nr);
		branch_end(event);
	}
}

/* Exceptions have the types of the built-in driver (brbe_type_to_perf_type_map[] in arm_brbe.c). */
static void brbe_exceptions(struct kunit *test)
{
	static const struct {
		unsigned int hardware, type, new_type;
	} exceptions[] = {
		{ IRQ, PERF_BR_IRQ },
		{ DATA_FAULT, PERF_BR_EXTEND_ABI, PERF_BR_NEW_FAULT_DATA },
		{ INSN_FAULT, PERF_BR_EXTEND_ABI, PERF_BR_NEW_FAULT_INST },
		{ ALIGN_FAULT, PERF_BR_EXTEND_ABI, PERF_BR_NEW_FAULT_ALGN },
		{ SERROR, PERF_BR_SERROR },
		{ TRAP, PERF_BR_IRQ },
		{ SYSCALL, PERF_BR_SYSCALL },
	};
	const u64 asked = ANY_LEVEL | PERF_SAMPLE_BRANCH_TYPE_SAVE;
	struct fixture *b = test->priv;
	struct perf_event *event = branch_start(branch_open_stack(b, asked));

	for (unsigned int i = 0; i < ARRAY_SIZE(exceptions); i++) {
		const struct perf_branch_entry *entry;

		b->nr_samples = 0;
		pmuv3_model_branch(USER, ARM_KERNEL, exceptions[i].hardware, 0, kernel_el(), 0);
		branch_overflow(b);
		KUNIT_ASSERT_EQ(test, branch_seen[0].nr, 1);
		entry = &branch_seen[0].entries[0];
		KUNIT_EXPECT_EQ_MSG(test, (unsigned int)entry->type, exceptions[i].type,
				    "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, (unsigned int)entry->new_type, exceptions[i].new_type,
				    "row %u", i);
	}
	branch_end(event);
}

static void expect_halves(struct kunit *test, const struct branch_seen *seen)
{
	const struct perf_branch_entry *entry = seen->entries;

	EXPECT_FROM(test, seen, ARM_KERNEL + 0x20, ARM_KERNEL + 0x10, 0);
	KUNIT_EXPECT_EQ(test, entry[0].to, 0);
	KUNIT_EXPECT_EQ(test, (u64)entry[0].type, PERF_BR_ERET);
	KUNIT_EXPECT_EQ(test, entry[2].to, ARM_KERNEL);
	KUNIT_EXPECT_EQ(test, (u64)entry[2].type, PERF_BR_SYSCALL);
	/* The privilege level of the target is known if the record has a target. */
	KUNIT_EXPECT_EQ(test, (u64)entry[0].priv, PERF_BR_PRIV_UNKNOWN);
	KUNIT_EXPECT_EQ(test, (u64)entry[1].priv, PERF_BR_PRIV_KERNEL);
	KUNIT_EXPECT_EQ(test, (u64)entry[2].priv, PERF_BR_PRIV_KERNEL);
	/* The prediction is known if the record has a source. */
	KUNIT_EXPECT_EQ(test, (u64)entry[0].predicted, 1);
	KUNIT_EXPECT_EQ(test, (u64)entry[2].predicted, 0);
}

/*
 * With branches of the kernel only, records of exceptions and of their returns have one address;
 * the other is 0. The same is true while another event wants user space's branches.
 */
static void brbe_halves(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *user = branch_open_stack(b, ANY_USER);
	struct perf_event *event = branch_open_stack(b, PERF_SAMPLE_BRANCH_ANY |
						     PERF_SAMPLE_BRANCH_KERNEL |
						     PERF_SAMPLE_BRANCH_TYPE_SAVE |
						     PERF_SAMPLE_BRANCH_PRIV_SAVE);

	branch_start(event);
	every_type();
	OVERFLOW_EXPECT_SAMPLES(b, 1);
	expect_halves(test, &branch_seen[0]);

	fixture_del(event);
	branch_add(user);
	branch_add(event);
	b->nr_samples = 0;
	every_type();
	OVERFLOW_EXPECT_SAMPLES(b, 2);
	/* The sample of the other event has the branches of user space. */
	expect_halves(test, &branch_seen[branch_seen[0].nr == 3 ? 0 : 1]);
	fixture_del(user);
	branch_end(event);
}

/*
 * With VHE, PERF_SAMPLE_BRANCH_HV selects the kernel's branches, as KERNEL does. An event that
 * excludes the kernel gets none.
 */
static void brbe_hypervisor(struct kunit *test)
{
	const struct perf_event_attr user = {
		STACK(ANY_USER | PERF_SAMPLE_BRANCH_HV), .exclude_kernel = 1,
	};
	struct fixture *b = test->priv;
	struct perf_event *event = branch_start(branch_open_stack(b, PERF_SAMPLE_BRANCH_ANY |
								     PERF_SAMPLE_BRANCH_HV));

	every_type();
	OVERFLOW_EXPECT_SAMPLES(b, 1);
	if (pmuv3_model_cpu->hyp)
		EXPECT_FROM(test, &branch_seen[0], ARM_KERNEL + 0x20, ARM_KERNEL + 0x10, 0);
	else
		KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 0);
	branch_end(event);

	event = branch_start(branch_open_attr(b, &user));
	b->nr_samples = 0;
	every_type();
	OVERFLOW_EXPECT_SAMPLES(b, 1);
	EXPECT_FROM(test, &branch_seen[0], USER + 0x50, USER + 0x40, USER + 0x30, USER + 0x20,
		    USER + 0x10, USER);
	branch_end(event);
}

/*
 * A sample of an event for user branches has no kernel address, even while another event records
 * the kernel.
 */
static void brbe_union(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *all = branch_open_stack(b, ANY_LEVEL);
	struct perf_event *user = branch_open_stack(b, PERF_SAMPLE_BRANCH_ANY_CALL |
						    PERF_SAMPLE_BRANCH_USER);

	branch_start(all);
	branch_add(user);
	every_type();
	OVERFLOW_EXPECT_SAMPLES(b, 2);
	for (unsigned int i = 0; i < 2; i++) {
		if (branch_seen[i].nr > 2)
			continue;
		EXPECT_FROM(test, &branch_seen[i], USER + 0x40, USER + 0x10);
		KUNIT_EXPECT_EQ(test, branch_seen[i].entries[0].to, USER_TO);
	}
	KUNIT_EXPECT_GT(test, branch_seen[0].nr + branch_seen[1].nr, 8);
	fixture_del(user);
	branch_end(all);
}

/* The driver reads both banks; the youngest record comes first. */
static void brbe_banks(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_start(branch_open_stack(b, ANY_USER));

	for (unsigned int i = 0; i < 100; i++)
		user_branch(USER + 4 * i, COND, 0);
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, b->pmu->nr_branches);
	for (unsigned int i = 0; i < branch_seen[0].nr; i++)
		KUNIT_EXPECT_EQ(test, branch_seen[0].entries[i].from, USER + 4 * (99 - i));
	branch_end(event);
}

static const struct {
	u64 info;
	unsigned int cycles;
} counts[] = {
	{ CC(0, 0), 0 }, { CC(0, 255), 255 }, { CC(1, 0), 256 }, { CC(1, 255), 511 },
	{ CC(2, 1), 514 }, { CC(8, 255), 65408 }, { CC(9, 0), 65535 }, { CC(63, 255), 65535 },
};

/* Samples show cycles, flags and types only if their event asks for them. */
static void brbe_flags(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *all = branch_open_stack(b, ANY_USER | PERF_SAMPLE_BRANCH_TYPE_SAVE);
	struct perf_event *none = branch_open_stack(b, ANY_USER | PERF_SAMPLE_BRANCH_NO_FLAGS |
						    PERF_SAMPLE_BRANCH_NO_CYCLES);
	const struct perf_branch_entry *entry = branch_seen[0].entries;

	branch_start(all);
	for (unsigned int i = ARRAY_SIZE(counts); i--; )
		user_branch(USER, i ? RET : COND, counts[i].info | (i ? 0 : MPRED));
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, ARRAY_SIZE(counts));
	for (unsigned int i = 0; i < branch_seen[0].nr; i++) {
		KUNIT_EXPECT_EQ(test, (u64)entry[i].cycles, counts[i].cycles);
		KUNIT_EXPECT_EQ(test, (u64)entry[i].mispred, !i);
		KUNIT_EXPECT_EQ(test, (u64)entry[i].predicted, !!i);
		KUNIT_EXPECT_EQ(test, (u64)entry[i].type, i ? PERF_BR_RET : PERF_BR_COND);
	}
	fixture_del(all);

	b->nr_samples = 0;
	branch_add(none);
	user_branch(USER, COND, MPRED | CC(0, 7));
	branch_overflow(b);
	KUNIT_EXPECT_EQ(test, branch_seen[0].nr, 1);
	KUNIT_EXPECT_EQ(test, entry[0].mispred + entry[0].predicted + entry[0].cycles, 0);
	branch_end(none);
}

/* The hardware records nothing after an overflow, and nothing without an event. */
static void brbe_freezes(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_open_stack(b, ANY_LEVEL);

	branch_begin();
	/* The cycle counter is excluded: its overflow does not freeze the records. */
	KUNIT_EXPECT_FALSE(test, corepmu_hw_counters(&event->hw) & BIT_ULL(31));
	branch_add(event);
	user_branch(USER, COND, 0);
	pmuv3_model_hold(true);
	branch_overflow(b);
	user_branch(USER + 0x10, COND, 0);
	pmuv3_model_branch(USER + 0x20, ARM_KERNEL, IRQ, 0, kernel_el(), 0);
	pmuv3_model_hold(false);
	EXPECT_FROM(test, &branch_seen[0], USER);
	/* After the interrupt, records from before the overflow are gone. */
	user_branch(USER + 0x30, COND, 0);
	user_branch(USER + 0x34, COND, 0);
	OVERFLOW_EXPECT_FROM(b, &branch_seen[1], USER + 0x34, USER + 0x30);
	user_branch(USER + 0x38, COND, 0);

	model_forget();
	branch_end(event);
	user_branch(USER + 0x40, COND, 0);
	KUNIT_EXPECT_EQ(test, this_cpu_read(pmuv3_model_state.record[0].source), USER + 0x38);
}

/*
 * While the PMU is stopped, only the kernel runs, and its branches are not recorded. So records of
 * user branches stay, but not those of an event that wants the kernel's branches.
 */
static void brbe_stops(struct kunit *test)
{
	static const u64 types[] = { ANY_USER, ANY_LEVEL };
	struct fixture *b = test->priv;

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		struct perf_event *event = branch_start(branch_open_stack(b, types[i]));

		b->nr_samples = 0;
		user_branch(USER, COND, 0);
		b->pmu->perf_pmu.pmu_disable(&b->pmu->perf_pmu);
		pmuv3_model_branch(ARM_KERNEL, ARM_KERNEL + 0x10, COND, kernel_el(), kernel_el(),
				   0);
		b->pmu->perf_pmu.pmu_enable(&b->pmu->perf_pmu);
		user_branch(USER + 0x10, COND, 0);
		OVERFLOW_EXPECT_SAMPLES(b, 1);
		if (types[i] == ANY_USER)
			EXPECT_FROM(test, &branch_seen[0], USER + 0x10, USER);
		else
			EXPECT_FROM(test, &branch_seen[0], USER + 0x10);
		branch_end(event);
	}
}

/* Rejected branch_sample_type values and their errno */
static void brbe_refuses(struct kunit *test)
{
	struct fixture *b = test->priv;
	static const struct {
		u64 type;
		int err;
	} table[] = {
		{ ANY_LEVEL | PERF_SAMPLE_BRANCH_HV, 0 },
		{ CALLS_USER, -EOPNOTSUPP },
		{ ANY_USER | PERF_SAMPLE_BRANCH_CALL_STACK, -EOPNOTSUPP },
		{ ANY_USER | PERF_SAMPLE_BRANCH_ABORT_TX, -EOPNOTSUPP },
		{ ANY_USER | PERF_SAMPLE_BRANCH_IN_TX, -EOPNOTSUPP },
		{ ANY_USER | PERF_SAMPLE_BRANCH_COUNTERS, -EINVAL },
		{ PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_HV, 0 },
		{ PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_USER, -EINVAL },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event_attr attr = { STACK(table[i].type) };
		struct perf_event *event;

		KUNIT_EXPECT_EQ_MSG(test, fixture_open(b, &attr, &event), table[i].err,
				    "row %u", i);
		if (!table[i].err)
			fixture_close(event);
		/* A sample in a guest would have the host's branches: exclude_host is rejected. */
		attr.exclude_host = 1;
		KUNIT_EXPECT_NE_MSG(test, fixture_open(b, &attr, &event), 0, "row %u", i);
		/* An event that counts neither the kernel nor user space has no branches. */
		attr.exclude_host = 0;
		attr.exclude_kernel = 1;
		attr.exclude_user = 1;
		KUNIT_EXPECT_EQ_MSG(test, fixture_open(b, &attr, &event),
				    table[i].err ?: -EOPNOTSUPP, "row %u", i);
	}
}

static bool has_brbe(const struct testbed *testbed)
{
	return !strcmp(testbed->name, "pmuv3-brbe") || !strcmp(testbed->name, "pmuv3-brbe-vhe");
}

static const void *brbe_gen_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, has_brbe);
}

/* The driver repairs BRBCR and BRBFCR after another agent wrote them while no event recorded. */
static void brbe_after_an_agent(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = branch_start(branch_open_stack(b, ANY_LEVEL));
	unsigned int before;

	every_type();
	branch_overflow(b);
	before = branch_seen[0].nr;
	KUNIT_EXPECT_GT(test, before, 0);
	for (unsigned int i = 0; i < 2; i++) {
		fixture_del(event);
		*this_cpu_ptr(&pmuv3_model_state.brbcr[0]) = 0;
		*this_cpu_ptr(&pmuv3_model_state.brbcr[1]) = 0;
		this_cpu_write(pmuv3_model_state.brbfcr, 0);
		branch_add(event);
		b->nr_samples = 0;
		every_type();
		OVERFLOW_EXPECT_SAMPLES(b, 1);
		KUNIT_EXPECT_EQ(test, branch_seen[0].nr, before);
	}
	branch_end(event);
}

static struct kunit_case brbe_cases[] = {
	KUNIT_CASE_PARAM(brbe_by_type, brbe_gen_params),
	KUNIT_CASE_PARAM(brbe_exceptions, brbe_gen_params),
	KUNIT_CASE_PARAM(brbe_halves, brbe_gen_params),
	KUNIT_CASE_PARAM(brbe_hypervisor, brbe_gen_params),
	KUNIT_CASE_PARAM(brbe_union, brbe_gen_params),
	KUNIT_CASE_PARAM(brbe_banks, brbe_gen_params),
	KUNIT_CASE_PARAM(brbe_flags, brbe_gen_params),
	KUNIT_CASE_PARAM(brbe_freezes, brbe_gen_params),
	KUNIT_CASE_PARAM(brbe_stops, brbe_gen_params),
	KUNIT_CASE_PARAM(brbe_refuses, brbe_gen_params),
	KUNIT_CASE_PARAM(brbe_after_an_agent, brbe_gen_params),
	{ }
};

TESTBED_SUITE(brbe, "corepmu_arm64_brbe");

/*
 * BRBE is used if EL2 opened it, or EL3 where the kernel asks firmware; an unknown BRBIDR0.FORMAT
 * is rejected.
 */
static void brbe_describes(struct kunit *test)
{
	static const struct {
		const char *testbed;
		unsigned int nr;
		bool el3;
	} table[] = {
		{ "pmuv3-brbe", 64 },
		/* In a virtual machine the hypervisor decides. */
		{ "pmuv3-brbe", 64, true },
		{ "pmuv3-brbe-vhe", 8 },
		{ "pmuv3-brbe-vhe", COMPAT_EL2_OPENS_BRBE ? 8 : 0, true },
		{ "pmuv3-brbe-el1", COMPAT_EL2_OPENS_BRBE ? 32 : 0 },
		{ "pmuv3-brbe-odd", 0 },
		{ "pmuv3p9", 0 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event_attr attr = { STACK(ANY_USER) };
		struct perf_event *event;
		struct fixture *b;

		pmuv3_model_el3 = table[i].el3;
		b = fixture_start_on(test, table[i].testbed);
		pmuv3_model_el3 = false;
		KUNIT_EXPECT_EQ_MSG(test, b->pmu->nr_branches, table[i].nr, "%s", table[i].testbed);
		KUNIT_EXPECT_EQ(test, !b->pmu->branch_reason, !!table[i].nr);
		KUNIT_EXPECT_EQ(test, fixture_open(b, &attr, &event),
				table[i].nr ? 0 : -EOPNOTSUPP);
		if (table[i].nr)
			fixture_close(event);
		fixture_end(b);
	}
}

static struct kunit_case brbe_testbed_cases[] = {
	KUNIT_CASE(brbe_describes),
	{ }
};

TEST_SUITE(brbe_testbed, "corepmu_arm64_brbe_machine", NULL, NULL);
