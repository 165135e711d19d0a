// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of counters that user space reads, x86: who may read, and what is left
 * in counters. On x86 kernels, whose headers x86/user.c wants
 */
#include <kunit/test.h>

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/kthread.h>
#include <linux/mm_types.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>

/* The page's buffer is perf core's own. */
#include <../kernel/events/internal.h>

#include "machine.h"
#include "userpage.h"
#include "models/x86_access.h"
#include "x86/msr.h"
#include "x86/x86.h"

/*
 * While anybody may read, nothing is left in counters without an event. On arm64 a task has
 * them open, see userpage_arm64_task().
 */
static void userpage_x86_clears(struct kunit *test)
{
	struct bench *b = readable_bench(test, test->param_value);
	struct perf_event *event = readable_event(b, 0), *other;
	u32 index;

	WRITE_ONCE(corepmu_user_reads, false);
	map_page(b, event);
	KUNIT_EXPECT_EQ(test, bench_add(event, PERF_EF_START), 0);
	index = event->rb->user_page->index;
	bench_run(b, MACHINE_INSTRUCTIONS, 777);
	bench_del(event);
	KUNIT_EXPECT_NE(test, x86_rdpmc(index - 1), 0);
	KUNIT_EXPECT_NE(test, b->cpuc->dirty, 0);

	WRITE_ONCE(corepmu_user_reads, true);
	other = readable_event(b, 0);
	other->hw.config &= ~BIT_ULL(0);
	if (other->hw.config) {
		/* It leaves alone what an event is on. */
		KUNIT_EXPECT_EQ(test, bench_add(event, PERF_EF_START), 0);
		bench_run(b, MACHINE_INSTRUCTIONS, 100);
		KUNIT_EXPECT_EQ(test, bench_read(event), 877);
		bench_del(event);
	}
	b->pmu->perf_pmu.pmu_disable(&b->pmu->perf_pmu);
	b->pmu->perf_pmu.pmu_enable(&b->pmu->perf_pmu);
	KUNIT_EXPECT_EQ(test, x86_rdpmc(index - 1), 0);
	KUNIT_EXPECT_EQ(test, b->cpuc->dirty, 0);

	unmap_page(event);
	bench_close(other);
	bench_close(event);
	end_readable(b);
}

static const void *clearing_gen_params(const void *prev, char *desc)
{
	return machine_gen_those(prev, desc, machine_is_x86);
}

static ssize_t show_rdpmc(struct bench *b, char *page)
{
	struct device_attribute *attr = container_of(x86_user_group.attrs[0],
						     struct device_attribute, attr);

	return attr->show(b->pmu->perf_pmu.dev, attr, page);
}

static ssize_t store_rdpmc(struct bench *b, const char *text)
{
	struct device_attribute *attr = container_of(x86_user_group.attrs[0],
						     struct device_attribute, attr);

	return attr->store(b->pmu->perf_pmu.dev, attr, text, strlen(text));
}

static umode_t rdpmc_mode(void)
{
	return x86_user_group.is_visible(NULL, x86_user_group.attrs[0], 0);
}

/* The file rdpmc */
static void userpage_x86_rdpmc(struct kunit *test)
{
	struct bench *b = readable_bench(test, machine_by_name("intel-v4"));
	struct perf_event *event;
	char *page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_EQ(test, perf_pmu_register(&b->pmu->perf_pmu, "corepmu_kunit", -1), 0);
	KUNIT_EXPECT_EQ(test, rdpmc_mode(), 0600);
	show_rdpmc(b, page);
	KUNIT_EXPECT_STREQ(test, page, "1\n");
	event = readable_event(b, 0);
	map_page(b, event);
	KUNIT_EXPECT_EQ(test, bench_add(event, PERF_EF_START), 0);

	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "3"), -EINVAL);
	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "x"), -EINVAL);
	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "1"), 1);
	KUNIT_EXPECT_EQ(test, x86_model_pce_updates, 0);

	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "0"), 1);
	KUNIT_EXPECT_TRUE(test, x86_model_rdpmc_never());
	KUNIT_EXPECT_FALSE(test, corepmu_user_allowed);
	KUNIT_EXPECT_EQ(test, event->rb->user_page->index, 0);
	KUNIT_EXPECT_EQ(test, x86_model_pce_updates, num_online_cpus());
	KUNIT_EXPECT_FALSE(test, corepmu_user_reads);

	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "2"), 1);
	KUNIT_EXPECT_FALSE(test, x86_model_rdpmc_never());
	KUNIT_EXPECT_TRUE(test, x86_model_rdpmc_always());
	KUNIT_EXPECT_TRUE(test, corepmu_user_allowed);
	KUNIT_EXPECT_TRUE(test, corepmu_user_reads);
	KUNIT_EXPECT_GT(test, event->rb->user_page->index, 0);

	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "0"), 1);
	KUNIT_EXPECT_FALSE(test, x86_model_rdpmc_always());
	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "2"), 1);

	bench_del(event);
	unmap_page(event);
	bench_close(event);
	perf_pmu_unregister(&b->pmu->perf_pmu);
	/* The keys are left as they were found. */
	end_readable(b);
	KUNIT_EXPECT_FALSE(test, x86_model_rdpmc_never());
	KUNIT_EXPECT_FALSE(test, x86_model_rdpmc_always());
	KUNIT_EXPECT_EQ(test, rdpmc_mode(), 0);
}

/* An mm may read while it has a page. */
static void userpage_x86_mapped(struct kunit *test)
{
	struct bench *b = readable_bench(test, machine_by_name("intel-v4"));
	struct perf_event *event = readable_event(b, 0);
	struct mm_struct *mm = mm_alloc();

	KUNIT_ASSERT_NOT_NULL(test, mm);
	cpumask_set_cpu(b->cpu, mm_cpumask(mm));
	b->cpuc->dirty = BIT_ULL(0);
	x86_write_msr(MSR_IA32_PMC0, 1234);
	KUNIT_EXPECT_FALSE(test, corepmu_user_reads);

	b->pmu->perf_pmu.event_mapped(event, mm);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->context.perf_rdpmc_allowed), 1);
	KUNIT_EXPECT_EQ(test, x86_model_pce_updates, 1);
	KUNIT_EXPECT_TRUE(test, corepmu_user_reads);
	KUNIT_EXPECT_EQ(test, x86_rdpmc(0), 0);
	b->pmu->perf_pmu.event_mapped(event, mm);
	KUNIT_EXPECT_EQ(test, x86_model_pce_updates, 1);

	b->pmu->perf_pmu.event_unmapped(event, mm);
	KUNIT_EXPECT_EQ(test, x86_model_pce_updates, 1);
	b->pmu->perf_pmu.event_unmapped(event, mm);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->context.perf_rdpmc_allowed), 0);
	KUNIT_EXPECT_EQ(test, x86_model_pce_updates, 2);

	bench_close(event);
	end_readable(b);

	/* A load finds an mm that an earlier one has let read. */
	atomic_set(&mm->context.perf_rdpmc_allowed, 1);
	kthread_use_mm(mm);
	x86_user_init(to_x86(b->pmu));
	KUNIT_EXPECT_TRUE(test, corepmu_user_reads);
	x86_user_exit(to_x86(b->pmu));
	kthread_unuse_mm(mm);
	atomic_set(&mm->context.perf_rdpmc_allowed, 0);
	mmput(mm);
}

/* Where the width comes from, in whatever shape a compiler gives it */
static void userpage_x86_width(struct kunit *test)
{
	struct bench *b = bench_start(test, machine_by_name("intel-v4"));
	struct x86_desc *desc = to_x86(b->pmu);
	int *width = &x86_model_pmu[X86_MODEL_PMU_WIDTH];
	static int elsewhere;
	unsigned int i;
	static const char * const hidden[] = {
		"cr4_update_pce", "rdpmc_never_available_key", "rdpmc_always_available_key",
		"arch_perf_update_userpage", "x86_pmu",
	};

	test->priv = b;
	x86_user_init(desc);
	KUNIT_EXPECT_TRUE(test, corepmu_user_allowed);
	KUNIT_EXPECT_EQ(test, *width, 48);
	x86_user_exit(desc);
	KUNIT_EXPECT_EQ(test, *width, 0);

	/* The kernel's own driver has written it. */
	*width = 48;
	x86_user_init(desc);
	KUNIT_EXPECT_TRUE(test, corepmu_user_allowed);
	x86_user_exit(desc);
	KUNIT_EXPECT_EQ(test, *width, 48);
	*width = 40;
	x86_user_init(desc);
	KUNIT_EXPECT_FALSE(test, corepmu_user_allowed);
	KUNIT_EXPECT_EQ(test, *width, 40);
	*width = 0;

	/* Loads of something else are none of ours, and one may come twice. */
	x86_model_load(10, false, &elsewhere);
	x86_model_load(20, false, (u8 *)x86_model_pmu + 6);
	x86_model_load(60, true, width);
	x86_user_init(desc);
	KUNIT_EXPECT_TRUE(test, corepmu_user_allowed);
	KUNIT_EXPECT_EQ(test, *width, 48);
	x86_user_exit(desc);

	/* It might be either. */
	x86_model_load(80, false, &x86_model_pmu[3]);
	x86_user_init(desc);
	KUNIT_EXPECT_FALSE(test, corepmu_user_allowed);

	x86_model_forget_loads();
	x86_model_load(50, true, width);
	x86_user_init(desc);
	KUNIT_EXPECT_TRUE(test, corepmu_user_allowed);
	x86_user_exit(desc);

	x86_model_forget_loads();
	x86_user_init(desc);
	KUNIT_EXPECT_FALSE(test, corepmu_user_allowed);
	KUNIT_EXPECT_EQ(test, rdpmc_mode(), 0);

	x86_model_user_power_on();
	for (i = 0; i < ARRAY_SIZE(hidden); i++) {
		x86_model_hidden = hidden[i];
		x86_user_init(desc);
		KUNIT_EXPECT_FALSE_MSG(test, corepmu_user_allowed, "%s", hidden[i]);
		KUNIT_EXPECT_EQ(test, *width, 0);
	}
}

/* A counter that is narrower than the page says cannot be read. */
static void userpage_x86_narrow(struct kunit *test)
{
	struct bench *b = readable_bench(test, machine_by_name("intel-v4"));
	struct perf_event *event = readable_event(b, 0);

	map_page(b, event);
	b->pmu->width[COREPMU_MAX_COUNTERS - 1] = 40;
	KUNIT_EXPECT_EQ(test, bench_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_GT(test, event->rb->user_page->index, 0);
	b->pmu->width[event->hw.idx] = 47;
	corepmu_user_refresh();
	KUNIT_EXPECT_EQ(test, event->rb->user_page->index, 0);
	b->pmu->width[event->hw.idx] = 48;
	bench_del(event);
	unmap_page(event);
	bench_close(event);
	end_readable(b);
}

/* Counters that were the built-in driver's are cleared by it. */
static void userpage_x86_take_over(struct kunit *test)
{
	struct bench *b = readable_bench(test, machine_by_name("intel-v4-beside"));
	struct perf_event *event;
	unsigned int before;

	KUNIT_EXPECT_TRUE(test, corepmu_user_reads);
	x86_release(b->pmu);
	before = x86_model_clears;
	event = readable_event(b, 0);
	KUNIT_EXPECT_EQ(test, x86_model_clears, before + num_online_cpus());
	bench_close(event);
	KUNIT_EXPECT_EQ(test, x86_reserve(), 0);
	end_readable(b);
}

static struct kunit_case userpage_x86_cases[] = {
	KUNIT_CASE_PARAM(userpage_x86_clears, clearing_gen_params),
	KUNIT_CASE(userpage_x86_rdpmc),
	KUNIT_CASE(userpage_x86_mapped),
	KUNIT_CASE(userpage_x86_width),
	KUNIT_CASE(userpage_x86_narrow),
	KUNIT_CASE(userpage_x86_take_over),
	{ }
};

static struct kunit_suite userpage_x86_suite = {
	.name		= "corepmu_userpage_x86",
	.exit		= machine_exit,
	.test_cases	= userpage_x86_cases,
};

kunit_test_suite(userpage_x86_suite);
