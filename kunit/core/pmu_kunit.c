// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of core/pmu.c: the contract of struct pmu, on every testbed
 */
#include <kunit/test.h>

#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/prandom.h>

#include "fixture/testbed.h"
#include "fixture/stride.h"

/* The life of an event: open, add, count, read, stop, start, delete. */
static void pmu_counts(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);

	KUNIT_EXPECT_EQ(test, event->hw.idx, -1);
	fixture_run(b, TESTBED_INSTRUCTIONS, 5);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, event->hw.state, 0);
	KUNIT_EXPECT_GE(test, event->hw.idx, 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, 1000);
	RUN_EXPECT_COUNT(b, TESTBED_CYCLES, 77, event, 1000);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 1000);

	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, event->hw.state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 1000);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 1000, event, 1000);

	fixture_start_event(event, PERF_EF_RELOAD);
	fixture_run(b, TESTBED_INSTRUCTIONS, 234);
	fixture_del(event);
	KUNIT_EXPECT_EQ(test, event->hw.idx, -1);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 1234);
	fixture_run(b, TESTBED_INSTRUCTIONS, 1000);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 1234);
}

/*
 * Try all sequences of four operations, with and without their flags, against plain arithmetic. The
 * event counts from a start to a stop.
 */
enum op {
	OP_ADD,
	OP_ADD_START,
	OP_DEL,
	OP_START,
	OP_START_RELOAD,
	OP_STOP,
	OP_STOP_UPDATE,
	OP_READ,
	NR_OPS
};

#define ORDER_LENGTH	4
#define EACH_RUN	10

struct reference {
	bool placed;
	bool started;
	u64 count;
	u64 samples;
};

/* Perf core adds events without a counter, and does all else with events that have one. */
static bool is_allowed(const struct reference *ref, enum op op)
{
	return (op == OP_ADD || op == OP_ADD_START) != ref->placed;
}

static void do_op(struct kunit *test, struct perf_event *event, struct reference *ref,
		  enum op op)
{
	switch (op) {
	case OP_ADD:
	case OP_ADD_START:
		KUNIT_EXPECT_EQ(test, 0,
				fixture_add(event, op == OP_ADD_START ? PERF_EF_START : 0));
		ref->placed = true;
		ref->started = op == OP_ADD_START;
		break;
	case OP_DEL:
		fixture_del(event);
		ref->placed = false;
		ref->started = false;
		break;
	case OP_START:
	case OP_START_RELOAD:
		fixture_start_event(event, op == OP_START_RELOAD ? PERF_EF_RELOAD : 0);
		ref->started = true;
		break;
	case OP_STOP:
	case OP_STOP_UPDATE:
		fixture_stop_event(event, op == OP_STOP_UPDATE ? PERF_EF_UPDATE : 0);
		ref->started = false;
		break;
	case OP_READ:
		KUNIT_EXPECT_EQ(test, fixture_read(event), ref->count);
		break;
	default:
		break;
	}
}

static void try_order(struct kunit *test, unsigned int order, u64 period)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, period);
	struct reference ref = { };

	fixture_forget(b);
	for (unsigned int i = 0; i < ORDER_LENGTH; i++, order /= NR_OPS) {
		enum op op = order % NR_OPS;

		if (!is_allowed(&ref, op))
			break;
		do_op(test, event, &ref, op);
		fixture_run(b, TESTBED_CYCLES, EACH_RUN);
		if (ref.started)
			ref.count += EACH_RUN;
		KUNIT_EXPECT_EQ(test, !!(event->hw.state & PERF_HES_STOPPED), !ref.started);
	}
	if (ref.placed)
		fixture_del(event);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), ref.count);
	KUNIT_EXPECT_EQ(test, b->nr_samples, period ? div64_u64(ref.count, period) : 0);
	KUNIT_EXPECT_EQ(test, b->cpuc->used, 0);
	KUNIT_EXPECT_EQ(test, b->cpuc->active, 0);
	fixture_close(event);
	kunit_kfree(test, event);
}

static void pmu_every_order(struct kunit *test)
{
	unsigned int order, orders = 1, i;

	for (i = 0; i < ORDER_LENGTH; i++)
		orders *= NR_OPS;
	for (order = 0; order < orders; order += CASE_STRIDE) {
		/* A sequence that does not start with add() ends at once. */
		if (order % NR_OPS > OP_ADD_START)
			continue;
		try_order(test, order, 0);
		try_order(test, order, 7);
	}
}

/* A BPF program may read an event before perf core has placed it. */
static void pmu_reads_before_a_counter(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);

	KUNIT_EXPECT_TRUE(test, event->hw.state & PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 0);
}

/* Linux 6.16 starts members of a throttled group that have no counter. */
static void pmu_starts_without_a_counter(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);

	model_forget();
	fixture_start_event(event, 0);
	KUNIT_EXPECT_TRUE(test, event->hw.state & PERF_HES_STOPPED);
	KUNIT_EXPECT_EQ(test, b->cpuc->active, 0);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_run(b, TESTBED_CYCLES, 300);
	fixture_del(event);
	fixture_start_event(event, 0);
	KUNIT_EXPECT_EQ(test, b->cpuc->active, 0);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 300);
}

/* Starting twice or stopping twice loses no count and counts nothing twice. */
static void pmu_idempotent(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 1000);

	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_run(b, TESTBED_CYCLES, 300);
	fixture_start_event(event, PERF_EF_RELOAD);
	fixture_run(b, TESTBED_CYCLES, 300);
	fixture_stop_event(event, PERF_EF_UPDATE);
	model_forget();
	fixture_stop_event(event, PERF_EF_UPDATE);
	fixture_run(b, TESTBED_CYCLES, 300);
	fixture_start_event(event, PERF_EF_RELOAD);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 399, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1, 1);
	fixture_del(event);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 1000);
}

/* Add equal events until no counter is left: adding one more fails and changes nothing. */
static void pmu_fills_up(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event[COREPMU_MAX_COUNTERS + 1];
	unsigned int nr, room;
	u64 used;

	event[0] = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
	room = hweight64(corepmu_hw_counters(&event[0]->hw));
	for (nr = 0; nr < room; nr++) {
		if (nr)
			event[nr] = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
		KUNIT_ASSERT_EQ(test, fixture_add(event[nr], PERF_EF_START), 0);
	}
	used = b->cpuc->used;
	KUNIT_EXPECT_EQ(test, hweight64(used), room);
	fixture_run(b, TESTBED_BRANCHES, 100);

	event[nr] = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
	model_forget();
	KUNIT_EXPECT_EQ(test, fixture_add(event[nr], PERF_EF_START), -EAGAIN);
	KUNIT_EXPECT_EQ(test, event[nr]->hw.idx, -1);
	KUNIT_EXPECT_EQ(test, b->cpuc->used, used);
	KUNIT_EXPECT_EQ(test, b->cpuc->active, used);
	fixture_run(b, TESTBED_BRANCHES, 100);

	for (unsigned int i = 0; i <= nr; i++) {
		if (i < nr) {
			KUNIT_EXPECT_EQ(test, fixture_read(event[i]), 200);
			fixture_del(event[i]);
		} else {
			KUNIT_EXPECT_EQ(test, local64_read(&event[i]->count), 0);
		}
		fixture_close(event[i]);
	}
}

/*
 * An event moves to a dedicated counter to make room for an event that has no other counter. The
 * moved event goes on counting.
 */
static void pmu_moves(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event[COREPMU_MAX_COUNTERS + 1], *last;
	struct perf_event *first = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 5000);
	unsigned int nr = 0, room, i;
	u64 others;

	event[0] = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
	others = corepmu_hw_counters(&event[0]->hw);
	KUNIT_ASSERT_NE(test, corepmu_hw_counters(&first->hw) & ~others, 0);

	/* All counters but one are taken; the test forces cycles onto a general counter. */
	room = hweight64(others);
	for (nr = 0; nr < room - 1; nr++) {
		if (nr)
			event[nr] = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
		KUNIT_ASSERT_EQ(test, fixture_add(event[nr], PERF_EF_START), 0);
	}
	corepmu_hw_limit_counters(&first->hw, others);
	KUNIT_ASSERT_EQ(test, fixture_add(first, PERF_EF_START), 0);
	fixture_run(b, TESTBED_CYCLES, 1234);
	corepmu_hw_set_counters(&first->hw, corepmu_hw_counters(&first->hw) |
					    (b->pmu->counters & ~others));
	/* Find the dedicated counters that count cycles. */
	last = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);
	corepmu_hw_set_counters(&first->hw, corepmu_hw_counters(&last->hw));
	fixture_close(last);

	last = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
	KUNIT_EXPECT_EQ(test, fixture_add(last, PERF_EF_START), 0);
	KUNIT_EXPECT_FALSE(test, others & BIT_ULL(first->hw.idx));
	fixture_run(b, TESTBED_CYCLES, 1000);
	RUN_EXPECT_COUNT(b, TESTBED_BRANCHES, 50, first, 2234);
	KUNIT_EXPECT_EQ(test, fixture_read(last), 50);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 5000 - 2234, 1);

	for (i = 0; i < nr; i++) {
		KUNIT_EXPECT_EQ(test, fixture_read(event[i]), 50);
		fixture_del(event[i]);
		fixture_close(event[i]);
	}
}

/* A stopped event moves and stays stopped. */
static void pmu_moves_stopped(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *mover, *first, *second;
	u64 config;

	mover = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);
	first = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);
	config = corepmu_hw_counters(&mover->hw);
	corepmu_hw_set_counters(&first->hw, BIT_ULL(corepmu_first_choice(config)));
	KUNIT_ASSERT_EQ(test, fixture_add(mover, PERF_EF_START), 0);
	KUNIT_ASSERT_EQ(test, mover->hw.idx, corepmu_first_choice(config));
	fixture_run(b, TESTBED_CYCLES, 10);
	fixture_stop_event(mover, PERF_EF_UPDATE);

	KUNIT_EXPECT_EQ(test, fixture_add(first, PERF_EF_START), 0);
	KUNIT_EXPECT_NE(test, mover->hw.idx, first->hw.idx);
	KUNIT_EXPECT_TRUE(test, mover->hw.state & PERF_HES_STOPPED);
	RUN_EXPECT_COUNT(b, TESTBED_CYCLES, 10, mover, 10);
	fixture_start_event(mover, PERF_EF_RELOAD);
	RUN_EXPECT_COUNT(b, TESTBED_CYCLES, 10, mover, 20);
	KUNIT_EXPECT_EQ(test, fixture_read(first), 20);

	/* Two events that need the same counter do not both fit. */
	second = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);
	corepmu_hw_set_counters(&second->hw, corepmu_hw_counters(&first->hw));
	KUNIT_EXPECT_EQ(test, fixture_add(second, PERF_EF_START), -EAGAIN);
}

/* A group that can never be placed is rejected at open; other groups are not. */
static void pmu_groups(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	};
	struct perf_event *leader = fixture_event(b, attr.config, 0), *member;
	unsigned int room = hweight64(corepmu_hw_counters(&leader->hw)), nr;
	struct pmu other = { };

	for (nr = 1; nr < room; nr++) {
		member = fixture_alloc(b, &attr);
		fixture_join(member, leader);
		fixture_close(member);
	}

	member = fixture_alloc(b, &attr);
	member->group_leader = leader;
	KUNIT_EXPECT_EQ(test, fixture_init_event(member), -EINVAL);
	/* A child is accepted: its parent may have been disabled at open. fork(2) must not fail. */
	member->parent = leader;
	KUNIT_EXPECT_EQ(test, fixture_init_event(member), 0);
	member->parent = NULL;
	fixture_close(member);
	member = fixture_alloc(b, &attr);
	member->group_leader = leader;

	/* A disabled event does not count; one with enable_on_exec does. */
	if (room > 1) {
		struct perf_event *off = list_first_entry(&leader->sibling_list,
							  struct perf_event, sibling_list);

		off->state = PERF_EVENT_STATE_OFF;
		KUNIT_EXPECT_EQ(test, fixture_init_event(member), 0);
		fixture_close(member);
		off->attr.enable_on_exec = 1;
		member = fixture_alloc(b, &attr);
		member->group_leader = leader;
		KUNIT_EXPECT_EQ(test, fixture_init_event(member), -EINVAL);
	}

	/* A leader of another PMU: a hardware PMU is rejected, a software PMU is accepted. */
	other.task_ctx_nr = perf_hw_context;
	leader->pmu = &other;
	KUNIT_EXPECT_EQ(test, fixture_init_event(member), -EINVAL);
	/* Without the generic types, perf core tries the next PMU. */
	b->pmu->claims_generic = false;
	KUNIT_EXPECT_EQ(test, fixture_init_event(member), -ENOENT);
	b->pmu->claims_generic = true;
	other.task_ctx_nr = perf_sw_context;
	leader->event_caps |= PERF_EV_CAP_SOFTWARE;
	INIT_LIST_HEAD(&leader->sibling_list);
	KUNIT_EXPECT_EQ(test, fixture_init_event(member), 0);
	fixture_close(member);

	leader->pmu = &b->pmu->perf_pmu;
}

/* Rejected attributes and their errno */
static void pmu_refuses(struct kunit *test)
{
	struct fixture *b = test->priv;
	static const struct {
		struct perf_event_attr attr;
		int err;
	} table[] = {
		{ { .type = PERF_TYPE_SOFTWARE }, -ENOENT },
		{ { .type = PERF_TYPE_TRACEPOINT }, -ENOENT },
		{ { .type = PERF_TYPE_BREAKPOINT }, -ENOENT },
		{ { .type = PERF_TYPE_MAX + 7 }, -ENOENT },
		{ { .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_MAX }, -EINVAL },
		{ { .type = PERF_TYPE_HARDWARE, .config = 1ULL << 32 }, -ENOENT },
		{ { .type = PERF_TYPE_HW_CACHE, .config = PERF_COUNT_HW_CACHE_MAX }, -EINVAL },
		{ { .type = PERF_TYPE_HW_CACHE, .config = 3 << 8 }, -EINVAL },
		{ { .type = PERF_TYPE_HW_CACHE, .config = 2 << 16 }, -EINVAL },
		{ { .type = PERF_TYPE_HW_CACHE,
		    .config = PERF_COUNT_HW_CACHE_NODE | 1 << 8 }, -ENOENT },
		{ { .type = PERF_TYPE_HW_CACHE, .config = PERF_COUNT_HW_CACHE_NODE }, -ENOENT },
		{ { .type = PERF_TYPE_RAW, .config = 0xc0, .config2 = 1 }, -EINVAL },
	};
	static const struct perf_event_attr precise = {
		.type		= PERF_TYPE_HARDWARE,
		.precise_ip	= 1,
	};
	/* The suite corepmu_branch tests more refused branch filters. */
	static const struct perf_event_attr branches = {
		.type			= PERF_TYPE_HARDWARE,
		.sample_type		= PERF_SAMPLE_BRANCH_STACK,
		.branch_sample_type	= PERF_SAMPLE_BRANCH_ANY | 1ULL << 40,
	};
	struct perf_event *event;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++)
		KUNIT_EXPECT_EQ_MSG(test, fixture_open(b, &table[i].attr, &event), table[i].err,
				    "row %u", i);
	/* precise_ip without samples */
	KUNIT_EXPECT_EQ(test, fixture_open(b, &precise, &event),
			b->pmu->max_precise ? -EINVAL : -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, fixture_open(b, &branches, &event),
			b->pmu->nr_branches ? -EINVAL : -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, model_accesses(NULL), 0);
}

/* Types of events that the PMU accepts */
static void pmu_types(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event_attr generic = { .type = PERF_TYPE_HARDWARE };
	struct perf_event_attr raw = { .type = PERF_TYPE_RAW, .config = 0x11 };
	struct perf_event_attr own = { .type = b->pmu->perf_pmu.type, .config = 0x11 };
	struct perf_event *event;

	KUNIT_EXPECT_EQ(test, fixture_open(b, &raw, &event), 0);
	fixture_close(event);
	KUNIT_EXPECT_EQ(test, fixture_open(b, &own, &event), 0);
	fixture_close(event);

	/*
	 * In coexist mode the PMU accepts only its own type, in attr.type or as an extended type,
	 * which perf core removes from config.
	 */
	b->pmu->claims_generic = false;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &raw, &event), -ENOENT);
	generic.config |= (u64)(b->pmu->perf_pmu.type + 1) << PERF_PMU_TYPE_SHIFT;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &generic, &event), -ENOENT);
	generic.config &= PERF_HW_EVENT_MASK;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &generic, &event), 0);
	fixture_close(event);
	KUNIT_EXPECT_EQ(test, fixture_open(b, &own, &event), 0);
	fixture_close(event);

	/*
	 * Perf core asks cpu_core before this driver's PMUs, and cpu_atom after them: a secondary
	 * PMU must not end the search.
	 */
	generic.config = PERF_COUNT_HW_MAX;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &generic, &event), -EINVAL);
	b->pmu->secondary = true;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &generic, &event), -ENOENT);
	b->pmu->claims_generic = true;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &generic, &event), -EINVAL);
	b->pmu->claims_generic = false;
	own.config2 = ~0ULL;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &own, &event), -EINVAL);
	own.config2 = 0;
	b->pmu->secondary = false;

	/* The PMU rejects events before it is open, and on a CPU of another PMU. */
	b->pmu->open = false;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &own, &event), -ENODEV);
	generic.config = PERF_COUNT_HW_CPU_CYCLES;
	KUNIT_EXPECT_EQ(test, fixture_open(b, &generic, &event), -ENOENT);
	cpumask_clear(&b->pmu->supported_cpus);
	event = fixture_alloc(b, &own);
	event->cpu = 0;
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -ENOENT);
	b->pmu->open = true;
	event = fixture_alloc(b, &own);
	event->cpu = 0;
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), -ENOENT);
	KUNIT_EXPECT_TRUE(test, corepmu_filter(&b->pmu->perf_pmu, event->cpu));
	event = fixture_alloc(b, &own);
	KUNIT_EXPECT_EQ(test, fixture_init_event(event), 0);
	b->pmu->on_all_cpus = false;
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), -ENOENT);
	b->pmu->on_all_cpus = true;
	fixture_close(event);
	cpumask_copy(&b->pmu->supported_cpus, cpu_possible_mask);
	KUNIT_EXPECT_FALSE(test, corepmu_filter(&b->pmu->perf_pmu, 0));
}

/* exclude_user and exclude_kernel, alone and together */
static void pmu_excludes(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
	};
	struct perf_event *event;

	for (int i = 0; i < 4; i++) {
		attr.exclude_user = i & 1;
		attr.exclude_kernel = i >> 1;
		attr.exclude_hv = attr.exclude_kernel;
		event = fixture_open_start(b, &attr);
		b->testbed->ops->run(TESTBED_INSTRUCTIONS, true, 1000);
		b->testbed->ops->run(TESTBED_INSTRUCTIONS, false, 77);
		fixture_del(event);
		KUNIT_EXPECT_EQ(test, local64_read(&event->count),
				(attr.exclude_user ? 0 : 1000) + (attr.exclude_kernel ? 0 : 77));
		fixture_close(event);
	}
}

/* A CPU without events makes no register accesses. */
static void pmu_idle_costs_nothing(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct pmu *pmu = &b->pmu->perf_pmu;
	unsigned long flags;

	model_forget();
	local_irq_save(flags);
	pmu->pmu_disable(pmu);
	pmu->pmu_enable(pmu);
	pmu->pmu_enable(pmu);
	pmu->pmu_disable(pmu);
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, model_accesses(NULL), 0);
}

/* start() and stop() while the PMU is enabled, as an overflow handler may call them */
static void pmu_running(struct kunit *test)
{
	struct fixture *b = test->priv;
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_CPU_CYCLES, 0);
	struct pmu *pmu = event->pmu;
	unsigned long flags;

	KUNIT_ASSERT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_run(b, TESTBED_CYCLES, 10);
	local_irq_save(flags);
	pmu->stop(event, PERF_EF_UPDATE);
	local_irq_restore(flags);
	fixture_run(b, TESTBED_CYCLES, 10);
	local_irq_save(flags);
	pmu->start(event, 0);
	local_irq_restore(flags);
	RUN_EXPECT_COUNT(b, TESTBED_CYCLES, 10, event, 20);
}

static const void *cycle_counter_gen_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, testbed_has_cycle_counter);
}

static struct kunit_case pmu_cases[] = {
	KUNIT_CASE_PARAM(pmu_counts, testbed_gen_params),
	KUNIT_CASE_PARAM(pmu_every_order, testbed_gen_params),
	KUNIT_CASE_PARAM(pmu_reads_before_a_counter, testbed_gen_params),
	KUNIT_CASE_PARAM(pmu_starts_without_a_counter, testbed_gen_params),
	KUNIT_CASE_PARAM(pmu_idempotent, testbed_gen_params),
	KUNIT_CASE_PARAM(pmu_fills_up, testbed_gen_params),
	KUNIT_CASE_PARAM(pmu_moves, cycle_counter_gen_params),
	KUNIT_CASE_PARAM(pmu_moves_stopped, testbed_gen_params),
	KUNIT_CASE_PARAM(pmu_groups, testbed_gen_params),
	KUNIT_CASE_PARAM(pmu_refuses, testbed_gen_params),
	KUNIT_CASE_PARAM(pmu_types, testbed_gen_params),
	KUNIT_CASE_PARAM(pmu_excludes, testbed_gen_params),
	KUNIT_CASE_PARAM(pmu_idle_costs_nothing, testbed_gen_params),
	KUNIT_CASE_PARAM(pmu_running, testbed_gen_params),
	{ }
};

TESTBED_SUITE(pmu, "corepmu_pmu");
