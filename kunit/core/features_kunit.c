// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of core/features.c: which functions of which features are called, in order
 */
#include <kunit/test.h>

#include <linux/errno.h>
#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include <corepmu/features.h>
#include <corepmu/pmu.h>

#include "fixture/suite.h"

/* The calls so far: a letter for the function, and the number of the feature */
static char calls[64];

/* Number of a feature whose open(), check_group() and fits() fail, or COREPMU_NR_FEATURES */
static unsigned int busy;

/* Note a call. Return @err if the feature is busy. */
static int note_call(char function, unsigned int nr, int err)
{
	size_t len = strlen(calls);

	snprintf(calls + len, sizeof(calls) - len, "%c%u", function, nr);

	return busy == nr ? err : 0;
}

/* Functions of feature @nr that note their calls */
#define DEFINE_OPEN(nr)							\
static int open_##nr(struct perf_event *event)				\
{									\
	return note_call('o', nr, -EBUSY);				\
}

#define DEFINE_CLOSE(nr)						\
static void close_##nr(struct perf_event *event)			\
{									\
	note_call('c', nr, 0);						\
}

#define DEFINE_CHECK_GROUP(nr)						\
static int check_group_##nr(struct perf_event *event)			\
{									\
	return note_call('g', nr, -EINVAL);				\
}

#define DEFINE_FITS(nr)							\
static int fits_##nr(struct corepmu_cpu *cpuc, struct perf_event *event) \
{									\
	return note_call('f', nr, -EAGAIN);				\
}

#define DEFINE_EVENT(name, letter, nr)					\
static void name##_##nr(struct corepmu_cpu *cpuc, struct perf_event *event) \
{									\
	note_call(letter, nr, 0);					\
}

#define DEFINE_CPU(name, letter, nr)					\
static void name##_##nr(struct corepmu_cpu *cpuc)			\
{									\
	note_call(letter, nr, 0);					\
}

#define DEFINE_SCHED_TASK(nr)						\
static void sched_task_##nr(struct corepmu_cpu *cpuc, bool sched_in)	\
{									\
	note_call(sched_in ? 'I' : 'O', nr, 0);				\
}

DEFINE_OPEN(0)
DEFINE_OPEN(1)
DEFINE_OPEN(2)
DEFINE_OPEN(3)
DEFINE_CLOSE(0)
DEFINE_CLOSE(1)
DEFINE_CLOSE(2)
DEFINE_CLOSE(3)
DEFINE_CHECK_GROUP(0)
DEFINE_CHECK_GROUP(1)
DEFINE_CHECK_GROUP(2)
DEFINE_CHECK_GROUP(3)
DEFINE_FITS(0)
DEFINE_FITS(1)
DEFINE_FITS(2)
DEFINE_FITS(3)
DEFINE_EVENT(add, 'a', 0)
DEFINE_EVENT(add, 'a', 1)
DEFINE_EVENT(add, 'a', 2)
DEFINE_EVENT(add, 'a', 3)
DEFINE_EVENT(moved, 'm', 0)
DEFINE_EVENT(moved, 'm', 1)
DEFINE_EVENT(moved, 'm', 2)
DEFINE_EVENT(moved, 'm', 3)
DEFINE_EVENT(del, 'd', 0)
DEFINE_EVENT(del, 'd', 1)
DEFINE_EVENT(del, 'd', 2)
DEFINE_EVENT(del, 'd', 3)
DEFINE_CPU(start, 's', 0)
DEFINE_CPU(start, 's', 1)
DEFINE_CPU(start, 's', 2)
DEFINE_CPU(stop, 'e', 0)
DEFINE_CPU(stop, 'e', 1)
DEFINE_CPU(interrupt, 'i', 0)
DEFINE_SCHED_TASK(0)
DEFINE_SCHED_TASK(1)

static void late_1(struct corepmu_cpu *cpuc, struct perf_event *event, struct pt_regs *regs)
{
	note_call('l', 1, 0);
}

#define FUNCTIONS(nr)							\
	.open		= open_##nr,					\
	.close		= close_##nr,					\
	.check_group	= check_group_##nr,				\
	.fits		= fits_##nr,					\
	.add		= add_##nr,					\
	.moved		= moved_##nr,					\
	.del		= del_##nr
#define SWITCHES(nr)							\
	.start		= start_##nr,					\
	.stop		= stop_##nr,					\
	.sched_task	= sched_task_##nr

/* Feature 2 does not exist. Feature 4 has only the functions that may not be NULL. */
static void do_nothing(struct corepmu_cpu *cpuc, struct perf_event *event)
{
}

static const struct corepmu_backend backend = {
	.features = {
		&(const struct corepmu_feature_ops){
			FUNCTIONS(0), SWITCHES(0), .interrupt = interrupt_0,
		},
		&(const struct corepmu_feature_ops){
			FUNCTIONS(1), SWITCHES(1), .late = late_1,
		},
		NULL,
		&(const struct corepmu_feature_ops){ FUNCTIONS(3) },
		&(const struct corepmu_feature_ops){ .add = do_nothing, .del = do_nothing },
	},
};

/* Feature 2, which starts but never stops, is the only one. */
static const struct corepmu_backend backend_of_2 = {
	.features = {
		[2] = &(const struct corepmu_feature_ops){ FUNCTIONS(2), .start = start_2 },
	},
};

struct fixture {
	struct corepmu		pmu;
	struct corepmu_cpu	cpuc;
	struct perf_event	event;
};

static int features_init(struct kunit *test)
{
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->pmu.backend = &backend;
	f->cpuc.pmu = &f->pmu;
	f->event.pmu = &f->pmu.perf_pmu;
	f->event.hw.flags = COREPMU_EVENT_FEATURE(0) | COREPMU_EVENT_FEATURE(1) |
			    COREPMU_EVENT_FEATURE(3) | COREPMU_EVENT_FEATURE(4);
	corepmu_use_none();
	corepmu_features_use(&backend);
	calls[0] = '\0';
	busy = COREPMU_NR_FEATURES;
	test->priv = f;

	return 0;
}

/* Expect the calls since the last one. */
#define EXPECT_CALLS(test, expected)					\
do {									\
	KUNIT_EXPECT_STREQ(test, calls, expected);			\
	calls[0] = '\0';						\
} while (0)

/* The functions of an event's features are called, in order, and those of no other feature. */
static void features_of_event(struct kunit *test)
{
	struct fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, corepmu_features_open(&f->event), 0);
	EXPECT_CALLS(test, "o0o1o3");
	KUNIT_EXPECT_EQ(test, corepmu_features_check_group(&f->event), 0);
	EXPECT_CALLS(test, "g0g1g3");
	KUNIT_EXPECT_EQ(test, corepmu_features_fit(&f->cpuc, &f->event), 0);
	EXPECT_CALLS(test, "f0f1f3");
	corepmu_features_moved(&f->cpuc, &f->event);
	EXPECT_CALLS(test, "m0m1m3");
	KUNIT_EXPECT_TRUE(test, corepmu_features_late(&f->cpuc, &f->event, NULL));
	EXPECT_CALLS(test, "l1");
	corepmu_features_close(&f->event);
	EXPECT_CALLS(test, "c0c1c3");

	f->event.hw.flags = COREPMU_EVENT_FEATURE(3);
	KUNIT_EXPECT_EQ(test, corepmu_features_open(&f->event), 0);
	KUNIT_EXPECT_EQ(test, corepmu_features_fit(&f->cpuc, &f->event), 0);
	KUNIT_EXPECT_FALSE(test, corepmu_features_late(&f->cpuc, &f->event, NULL));
	EXPECT_CALLS(test, "o3f3");
}

/* A feature that is busy ends the visit. What was opened is closed. */
static void features_busy(struct kunit *test)
{
	struct fixture *f = test->priv;

	busy = 1;
	KUNIT_EXPECT_EQ(test, corepmu_features_open(&f->event), -EBUSY);
	EXPECT_CALLS(test, "o0o1c0");
	KUNIT_EXPECT_EQ(test, corepmu_features_check_group(&f->event), -EINVAL);
	EXPECT_CALLS(test, "g0g1");
	KUNIT_EXPECT_EQ(test, corepmu_features_fit(&f->cpuc, &f->event), -EAGAIN);
	EXPECT_CALLS(test, "f0f1");
}

/* The features of a CPU start in order, and stop in reverse order; those without events do not. */
static void features_of_cpu(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned long flags;

	local_irq_save(flags);
	corepmu_features_sched_task(true);
	EXPECT_CALLS(test, "");
	corepmu_features_add(&f->cpuc, &f->event);
	EXPECT_CALLS(test, "a0a1a3");
	KUNIT_EXPECT_PTR_EQ(test, corepmu_features_this_cpu(), &f->cpuc);

	f->cpuc.feature_users[0] = 1;
	f->cpuc.feature_users[1] = 1;
	corepmu_features_start_cpu(&f->cpuc);
	corepmu_features_interrupt(&f->cpuc);
	corepmu_features_stop_cpu(&f->cpuc);
	EXPECT_CALLS(test, "s0s1i0e1e0");
	corepmu_features_sched_task(false);
	corepmu_features_sched_task(true);
	EXPECT_CALLS(test, "O1O0I1I0");

	f->cpuc.feature_users[0] = 0;
	corepmu_features_start_cpu(&f->cpuc);
	corepmu_features_interrupt(&f->cpuc);
	corepmu_features_stop_cpu(&f->cpuc);
	corepmu_features_sched_task(false);
	EXPECT_CALLS(test, "s1e1O1");

	f->cpuc.feature_users[1] = 0;
	corepmu_features_del(&f->cpuc, &f->event);
	EXPECT_CALLS(test, "d3d1d0");
	KUNIT_EXPECT_PTR_EQ(test, corepmu_features_this_cpu(), NULL);
	local_irq_restore(flags);
}

static void features_of_another_backend(struct kunit *test)
{
	struct fixture *f = test->priv;
	unsigned long flags;

	corepmu_features_use(&backend_of_2);
	f->pmu.backend = &backend_of_2;
	f->event.hw.flags = COREPMU_EVENT_FEATURE(2);
	KUNIT_EXPECT_EQ(test, corepmu_features_open(&f->event), 0);
	KUNIT_EXPECT_EQ(test, corepmu_features_check_group(&f->event), 0);
	local_irq_save(flags);
	KUNIT_EXPECT_EQ(test, corepmu_features_fit(&f->cpuc, &f->event), 0);
	corepmu_features_add(&f->cpuc, &f->event);
	corepmu_features_moved(&f->cpuc, &f->event);
	f->cpuc.feature_users[2] = 1;
	corepmu_features_start_cpu(&f->cpuc);
	corepmu_features_stop_cpu(&f->cpuc);
	f->cpuc.feature_users[2] = 0;
	corepmu_features_del(&f->cpuc, &f->event);
	local_irq_restore(flags);
	corepmu_features_close(&f->event);
	EXPECT_CALLS(test, "o2g2f2a2m2s2d2c2");
}

/* After a reboot notification, no feature starts, and all stop. */
static void features_off(struct kunit *test)
{
	struct fixture *f = test->priv;

	f->cpuc.feature_users[0] = 1;
	f->cpuc.feature_users[1] = 1;
	corepmu_features_off();
	corepmu_features_start_cpu(&f->cpuc);
	corepmu_features_stop_cpu(&f->cpuc);
	EXPECT_CALLS(test, "e1e0");
	corepmu_features_use(&backend);
	corepmu_features_start_cpu(&f->cpuc);
	EXPECT_CALLS(test, "s0s1");
}

static struct kunit_case features_cases[] = {
	KUNIT_CASE(features_of_event),
	KUNIT_CASE(features_busy),
	KUNIT_CASE(features_of_cpu),
	KUNIT_CASE(features_of_another_backend),
	KUNIT_CASE(features_off),
	{ }
};

TEST_SUITE(features, "corepmu_features", features_init, NULL);
