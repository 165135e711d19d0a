// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of user access to counters (rdpmc), on any testbed: the mmap page that perf
 * core writes
 */
#include <kunit/test.h>

#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sysctl.h>

/* struct perf_buffer, which perf core keeps to itself */
#include <../kernel/events/internal.h>

#include <corepmu/rdpmc.h>

#include "fixture/testbed.h"
#include "fixture/userpage.h"
#include "models/arm64/access.h"
#include "models/x86/access.h"
#include "arm64/pmuv3.h"
#include "arm64/sysreg.h"
#include "x86/msr.h"
#include "x86/x86.h"

static bool is_x86(const struct fixture *b)
{
	return testbed_is_x86(b->testbed);
}

/**
 * write_user_access() - write kernel.perf_user_access, as the administrator does
 * @text: the text to write
 *
 * Return: 0, or the errno of the sysctl
 */
int write_user_access(const char *text)
{
	size_t len = strlen(text);
	char buffer[8];
	loff_t pos = 0;

	strscpy(buffer, text, sizeof(buffer));
	return pmuv3_model_sysctl->proc_handler((compat_ctl_table *)pmuv3_model_sysctl, 1, buffer,
						&len, &pos);
}

/**
 * readable_fixture() - start a fixture with events that user space may read
 * @test: the test
 * @testbed: the testbed; an x86 one only on x86 kernels: x86/rdpmc.c needs their headers
 *
 * Return: the fixture, for end_readable(); without one, the test ends
 */
struct fixture *readable_fixture(struct kunit *test, const struct testbed *testbed)
{
	struct fixture *b = fixture_start(test, testbed);

	corepmu_rdpmc_add(b->pmu);
	if (is_x86(b)) {
		x86_rdpmc_init(to_x86(b->pmu));
	} else {
		pmuv3_rdpmc_init(false);
		KUNIT_ASSERT_EQ(test, write_user_access("1"), 0);
	}
	KUNIT_ASSERT_TRUE(test, corepmu_rdpmc_allowed);

	return b;
}

/**
 * end_readable() - disable user access, and check that no counter stays readable
 * @b: from readable_fixture()
 */
void end_readable(struct fixture *b)
{
	if (is_x86(b)) {
		x86_rdpmc_exit(to_x86(b->pmu));
	} else {
		KUNIT_EXPECT_EQ(b->test, write_user_access("0"), 0);
		pmuv3_rdpmc_exit();
	}
	corepmu_rdpmc_remove(b->pmu);
	KUNIT_EXPECT_FALSE(b->test, corepmu_rdpmc_allowed);
	KUNIT_EXPECT_FALSE(b->test, corepmu_rdpmc_in_use);
}

/**
 * readable_event() - open an event that its task may read
 * @b: from readable_fixture()
 * @period: sample period, 0 for a counting event
 *
 * Return: an event that counts instructions, for fixture_close()
 */
struct perf_event *readable_event(struct fixture *b, u64 period)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.config		= PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period	= period,
		.config1	= is_x86(b) ? 0 : CONFIG1_RDPMC,
	};
	struct perf_event *event = fixture_alloc(b, &attr);

	event->attach_state |= PERF_ATTACH_TASK;
	event->hw.target = current;
	KUNIT_ASSERT_EQ(b->test, fixture_init_event(event), 0);
	KUNIT_EXPECT_TRUE(b->test, corepmu_event_is_readable(&event->hw));

	return event;
}

/* Read a counter by its index in the page, with RDPMC or MRS. */
static u64 read_counter(struct fixture *b, u32 index)
{
	if (is_x86(b))
		return x86_rdpmc(index - 1);
	if (index - 1 == PMUV3_CYCLE_COUNTER)
		return pmuv3_read_pmccntr();

	return pmuv3_read_counter(index - 1);
}

/**
 * read_page() - read a count as include/uapi/linux/perf_event.h describes
 * @event: an event with the page of map_page()
 *
 * Return: its count
 */
u64 read_page(struct perf_event *event)
{
	struct fixture *b = event->overflow_handler_context;
	struct perf_event_mmap_page *page = event->rb->user_page;
	unsigned int shift = 64 - fls64(corepmu_hw_value_mask(&event->hw));
	u64 count = page->offset;

	KUNIT_EXPECT_EQ(b->test, page->lock & 1, 0);
	if (page->index) {
		count += (s64)(read_counter(b, page->index) << shift) >> shift;
		/* On arm64 kernels, the page's width follows the event's flags. */
		if (IS_ENABLED(CONFIG_ARM64) && !is_x86(b))
			KUNIT_EXPECT_EQ(b->test, page->pmc_width, 64 - shift);
	}

	return count;
}

/**
 * map_page() - give an event a page, as mmap() does, before add()
 * @b: the fixture
 * @event: the event
 */
void map_page(struct fixture *b, struct perf_event *event)
{
	event->rb = rb_alloc(0, 0, b->cpu, 0);
	KUNIT_ASSERT_NOT_NULL(b->test, event->rb);
	atomic_set((atomic_t *)&event->mmap_count, 1);
	/* As perf core does before it calls add() */
	event->state = PERF_EVENT_STATE_ACTIVE;
}

/**
 * unmap_page() - free the page of map_page()
 * @event: the event, which has no counter
 */
void unmap_page(struct perf_event *event)
{
	rb_free(event->rb);
	event->rb = NULL;
	atomic_set((atomic_t *)&event->mmap_count, 0);
}

/* User space reads the same count as the kernel, whatever happens to the event. */
static void rdpmc_counts(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, test->param_value);
	struct perf_event *event = readable_event(b, 0);
	struct perf_event_mmap_page *page;

	map_page(b, event);
	page = event->rb->user_page;
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_GT(test, page->index, 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, 12345);
	KUNIT_EXPECT_EQ(test, read_page(event), 12345);
	KUNIT_EXPECT_EQ(test, fixture_read(event), 12345);
	KUNIT_EXPECT_EQ(test, read_page(event), 12345);

	fixture_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, page->index, 0);
	KUNIT_EXPECT_EQ(test, read_page(event), 12345);
	fixture_run(b, TESTBED_INSTRUCTIONS, 100);
	fixture_start_event(event, 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, 655);
	KUNIT_EXPECT_EQ(test, read_page(event), 13000);

	fixture_del(event);
	KUNIT_EXPECT_EQ(test, page->index, 0);
	KUNIT_EXPECT_EQ(test, read_page(event), 13000);
	unmap_page(event);
	fixture_close(event);
	end_readable(b);
}

/* An event that writes its samples to another event's buffer leaves that event's page alone. */
static void rdpmc_redirected(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, test->param_value);
	struct perf_event *event = readable_event(b, 0), *other = readable_event(b, 1000);
	struct perf_event_mmap_page *page;
	u32 index;

	map_page(b, event);
	page = event->rb->user_page;
	other->rb = event->rb;
	other->state = PERF_EVENT_STATE_ACTIVE;
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	index = page->index;
	KUNIT_EXPECT_EQ(test, fixture_add(other, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, page->index, index);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 2500, 2);
	KUNIT_EXPECT_EQ(test, read_page(event), 2500);
	fixture_stop_event(other, PERF_EF_UPDATE);
	fixture_start_event(other, PERF_EF_RELOAD);
	fixture_del(other);
	KUNIT_EXPECT_EQ(test, page->index, index);
	KUNIT_EXPECT_EQ(test, read_page(event), 2500);

	other->rb = NULL;
	fixture_close(other);
	fixture_del(event);
	unmap_page(event);
	fixture_close(event);
	end_readable(b);
}

/* User space reads the count of a sampling event, although each overflow writes the counter. */
static void rdpmc_samples(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, test->param_value);
	struct perf_event *event = readable_event(b, 1000);
	struct mm_struct *mm = mm_alloc();

	KUNIT_ASSERT_NOT_NULL(test, mm);
	map_page(b, event);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	/* Make the event per-CPU: once its page is mapped, each overflow updates the page. */
	event->attach_state &= ~PERF_ATTACH_TASK;
	b->pmu->perf_pmu.event_mapped(event, mm);
	for (int i = 1; i <= 10; i++) {
		fixture_run(b, TESTBED_INSTRUCTIONS, 700);
		KUNIT_EXPECT_EQ(test, read_page(event), 700 * i);
	}
	KUNIT_EXPECT_EQ(test, b->nr_samples, 7);
	fixture_del(event);
	b->pmu->perf_pmu.event_unmapped(event, mm);
	mmput(mm);
	unmap_page(event);
	fixture_close(event);
	end_readable(b);
}

/* CPU that updated a page last, and the number of updates */
static int updating_cpu;
static unsigned int updates;

/* Perf core calls pmu.event_idx in each update of the page of an event that counts. */
static int note_update(struct perf_event *event)
{
	updating_cpu = smp_processor_id();
	updates++;

	return 0;
}

static void expect_update(struct kunit *test, struct perf_event *event, int cpu)
{
	updates = 0;
	event->pmu->event_mapped(event, NULL);
	KUNIT_EXPECT_EQ(test, updates, 1);
	KUNIT_EXPECT_EQ(test, updating_cpu, cpu);
}

/*
 * A process maps the page of an event that counts on another CPU. That CPU updates the page: two
 * CPUs that increment the page's lock at the same time could leave it odd.
 */
static void rdpmc_mapped_elsewhere(struct kunit *test)
{
	struct fixture *b = fixture_start(test, test->param_value);
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);
	int other = cpumask_any_but(cpu_online_mask, b->cpu);

	if (other >= nr_cpu_ids)
		kunit_skip(test, "one CPU");

	map_page(b, event);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	b->pmu->perf_pmu.event_idx = note_update;
	expect_update(test, event, b->cpu);
	event->oncpu = other;
	expect_update(test, event, other);
	/* If the event has no CPU, the CPU that maps the page updates it. */
	event->oncpu = -1;
	expect_update(test, event, b->cpu);

	fixture_del(event);
	unmap_page(event);
}

/* The administrator disables user access while events exist, and enables it again. */
static void rdpmc_allowed(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, test->param_value);
	struct perf_event *event = readable_event(b, 0);
	struct perf_event_mmap_page *page;
	u32 index;

	map_page(b, event);
	page = event->rb->user_page;
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	index = page->index;
	fixture_run(b, TESTBED_INSTRUCTIONS, 1000);
	/* On arm64 mapping the page gives no access. */
	if (!is_x86(b)) {
		b->pmu->perf_pmu.event_mapped(event, NULL);
		b->pmu->perf_pmu.event_unmapped(event, NULL);
		KUNIT_EXPECT_EQ(test, page->index, index);
	}

	WRITE_ONCE(corepmu_rdpmc_allowed, false);
	corepmu_rdpmc_refresh();
	KUNIT_EXPECT_EQ(test, page->index, 0);
	RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 1000, event, 2000);

	WRITE_ONCE(corepmu_rdpmc_allowed, true);
	corepmu_rdpmc_refresh();
	KUNIT_EXPECT_EQ(test, page->index, index);
	KUNIT_EXPECT_EQ(test, read_page(event), 2000);

	fixture_del(event);
	unmap_page(event);
	fixture_close(event);
	end_readable(b);
}

/*
 * An event without user access has no index, although other events may be read. Its page has the
 * count at the last overflow.
 */
static void rdpmc_unreadable(struct kunit *test)
{
	struct fixture *b = fixture_start(test, test->param_value);
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 1000);

	KUNIT_EXPECT_FALSE(test, corepmu_event_is_readable(&event->hw));
	map_page(b, event);
	WRITE_ONCE(corepmu_rdpmc_allowed, true);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, event->rb->user_page->index, 0);
	/* Mapping the page gives the event no access, either. */
	b->pmu->perf_pmu.event_mapped(event, NULL);
	b->pmu->perf_pmu.event_unmapped(event, NULL);
	KUNIT_EXPECT_FALSE(test, corepmu_rdpmc_in_use);
	fixture_run(b, TESTBED_INSTRUCTIONS, 1500);
	KUNIT_EXPECT_EQ(test, event->rb->user_page->offset, 1000);
	fixture_del(event);
	KUNIT_EXPECT_EQ(test, event->rb->user_page->offset, 1500);
	WRITE_ONCE(corepmu_rdpmc_allowed, false);
	unmap_page(event);
}

/*
 * An event has no index without a counter. Perf core may ask on another CPU than the event's
 * (PERF_EVENT_IOC_RESET, mmap()), and the event may lose its counter meanwhile. On x86 the index is
 * 0 even if the driver uses counter -1: UBSAN of a debug kernel reports this use.
 */
static void rdpmc_without_counter(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, test->param_value);
	struct perf_event *event = readable_event(b, 0);

	KUNIT_EXPECT_EQ(test, event->hw.idx, -1);
	KUNIT_EXPECT_EQ(test, b->pmu->perf_pmu.event_idx(event), 0);
	fixture_close(event);
	end_readable(b);
}

/* x86/rdpmc.c needs the headers of an x86 kernel. */
static bool can_be_read(const struct testbed *testbed)
{
	return IS_ENABLED(CONFIG_X86) || !testbed_is_x86(testbed);
}

static const void *readable_gen_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, can_be_read);
}

static struct kunit_case rdpmc_cases[] = {
	KUNIT_CASE_PARAM(rdpmc_counts, readable_gen_params),
	KUNIT_CASE_PARAM(rdpmc_redirected, readable_gen_params),
	KUNIT_CASE_PARAM(rdpmc_samples, readable_gen_params),
	KUNIT_CASE_PARAM(rdpmc_mapped_elsewhere, testbed_gen_params),
	KUNIT_CASE_PARAM(rdpmc_allowed, readable_gen_params),
	KUNIT_CASE_PARAM(rdpmc_unreadable, testbed_gen_params),
	KUNIT_CASE_PARAM(rdpmc_without_counter, readable_gen_params),
	{ }
};

OWN_TESTBED_SUITE(rdpmc, "corepmu_rdpmc");
