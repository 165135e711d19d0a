// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of counters that user space reads: the page that perf core
 * writes, and who may read
 */
#include <kunit/test.h>

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/kthread.h>
#include <linux/mm_types.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sysctl.h>

/* The page's buffer is perf core's own. */
#include <../kernel/events/internal.h>

#include "machine.h"
#include "models/arm64_access.h"
#include "models/x86_access.h"
#include "arm64/pmuv3.h"
#include "arm64/sysreg.h"
#include "x86/msr.h"
#include "x86/x86.h"

/* format/rdpmc of arm64 */
#define CONFIG1_LONG	BIT(0)
#define CONFIG1_RDPMC	BIT(1)

static bool is_x86(const struct bench *b)
{
	return strncmp(b->machine->name, "pmuv3", 5);
}

/* Write kernel.perf_user_access, as the administrator does. */
static int write_user_access(const char *text)
{
	size_t len = strlen(text);
	char buffer[8];
	loff_t pos = 0;

	strscpy(buffer, text, sizeof(buffer));
	return pmuv3_model_sysctl->proc_handler((compat_ctl_table *)pmuv3_model_sysctl, 1, buffer,
						&len, &pos);
}

/* A bench whose events user space may read */
static struct bench *readable_bench(struct kunit *test, const struct machine *machine)
{
	struct bench *b = bench_start(test, machine);

	test->priv = b;
	if (is_x86(b) && !IS_ENABLED(CONFIG_X86))
		kunit_skip(test, "x86/user.c wants the headers of an x86 kernel");

	corepmu_user_add(b->pmu);
	if (is_x86(b)) {
		x86_user_init(to_x86(b->pmu));
	} else {
		pmuv3_user_init(false);
		KUNIT_ASSERT_EQ(test, write_user_access("1"), 0);
	}
	KUNIT_ASSERT_TRUE(test, corepmu_user_allowed);

	return b;
}

static void end_readable(struct bench *b)
{
	if (is_x86(b)) {
		x86_user_exit(to_x86(b->pmu));
	} else {
		KUNIT_EXPECT_EQ(b->test, write_user_access("0"), 0);
		pmuv3_user_exit();
	}
	corepmu_user_remove(b->pmu);
	KUNIT_EXPECT_FALSE(b->test, corepmu_user_allowed);
	KUNIT_EXPECT_FALSE(b->test, corepmu_user_reads);
}

/* An event as perf core has it when its task asked to read it */
static struct perf_event *readable_event(struct bench *b, u64 period)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.config		= PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period	= period,
		.config1	= is_x86(b) ? 0 : CONFIG1_RDPMC,
	};
	struct perf_event *event = bench_alloc(b, &attr);

	event->attach_state |= PERF_ATTACH_TASK;
	event->hw.target = current;
	KUNIT_ASSERT_EQ(b->test, bench_init_event(event), 0);
	KUNIT_EXPECT_TRUE(b->test, corepmu_event_is_readable(&event->hw));

	return event;
}

/* What RDPMC, or MRS, reads for an index of the page */
static u64 read_counter(struct bench *b, u32 index)
{
	if (is_x86(b))
		return x86_rdpmc(index - 1);
	if (index - 1 == PMUV3_CYCLE_COUNTER)
		return pmuv3_read_pmccntr();

	return pmuv3_read_pmevcntr(index - 1);
}

/* A reader as include/uapi/linux/perf_event.h describes it */
static u64 read_page(struct perf_event *event)
{
	struct bench *b = event->overflow_handler_context;
	struct perf_event_mmap_page *page = event->rb->user_page;
	unsigned int shift = 64 - fls64(event->hw.event_base);
	u64 count = page->offset;

	KUNIT_EXPECT_EQ(b->test, page->lock & 1, 0);
	if (page->index) {
		count += (s64)(read_counter(b, page->index) << shift) >> shift;
		/* The page of an arm64 kernel says it by the event's flags. */
		if (IS_ENABLED(CONFIG_ARM64) && !is_x86(b))
			KUNIT_EXPECT_EQ(b->test, page->pmc_width, 64 - shift);
	}

	return count;
}

static void map_page(struct bench *b, struct perf_event *event)
{
	event->rb = rb_alloc(0, 0, b->cpu, 0);
	KUNIT_ASSERT_NOT_NULL(b->test, event->rb);
	/* perf core says so before it calls add() */
	event->state = PERF_EVENT_STATE_ACTIVE;
}

static void unmap_page(struct perf_event *event)
{
	rb_free(event->rb);
	event->rb = NULL;
}

/* User space reads what the kernel would, whatever happens to the event. */
static void userpage_counts(struct kunit *test)
{
	struct bench *b = readable_bench(test, test->param_value);
	struct perf_event *event = readable_event(b, 0);
	struct perf_event_mmap_page *page;

	map_page(b, event);
	page = event->rb->user_page;
	KUNIT_EXPECT_EQ(test, bench_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_GT(test, page->index, 0);
	bench_run(b, MACHINE_INSTRUCTIONS, 12345);
	KUNIT_EXPECT_EQ(test, read_page(event), 12345);
	KUNIT_EXPECT_EQ(test, bench_read(event), 12345);
	KUNIT_EXPECT_EQ(test, read_page(event), 12345);

	bench_stop_event(event, PERF_EF_UPDATE);
	KUNIT_EXPECT_EQ(test, page->index, 0);
	KUNIT_EXPECT_EQ(test, read_page(event), 12345);
	bench_run(b, MACHINE_INSTRUCTIONS, 100);
	bench_start_event(event, 0);
	bench_run(b, MACHINE_INSTRUCTIONS, 655);
	KUNIT_EXPECT_EQ(test, read_page(event), 13000);

	bench_del(event);
	KUNIT_EXPECT_EQ(test, page->index, 0);
	KUNIT_EXPECT_EQ(test, read_page(event), 13000);
	unmap_page(event);
	bench_close(event);
	end_readable(b);
}

/* Each overflow sets the counter anew. */
static void userpage_samples(struct kunit *test)
{
	struct bench *b = readable_bench(test, test->param_value);
	struct perf_event *event = readable_event(b, 1000);
	struct mm_struct *mm = mm_alloc();
	int i;

	KUNIT_ASSERT_NOT_NULL(test, mm);
	map_page(b, event);
	KUNIT_EXPECT_EQ(test, bench_add(event, PERF_EF_START), 0);
	/* As it is for an event of a CPU: whoever has the page follows the overflows. */
	event->attach_state &= ~PERF_ATTACH_TASK;
	b->pmu->perf_pmu.event_mapped(event, mm);
	for (i = 1; i <= 10; i++) {
		bench_run(b, MACHINE_INSTRUCTIONS, 700);
		KUNIT_EXPECT_EQ(test, read_page(event), 700 * i);
	}
	KUNIT_EXPECT_EQ(test, b->nr_samples, 7);
	bench_del(event);
	b->pmu->perf_pmu.event_unmapped(event, mm);
	mmput(mm);
	unmap_page(event);
	bench_close(event);
	end_readable(b);
}

/* The administrator says no while events are there, and yes again. */
static void userpage_allowed(struct kunit *test)
{
	struct bench *b = readable_bench(test, test->param_value);
	struct perf_event *event = readable_event(b, 0);
	struct perf_event_mmap_page *page;
	u32 index;

	map_page(b, event);
	page = event->rb->user_page;
	KUNIT_EXPECT_EQ(test, bench_add(event, PERF_EF_START), 0);
	index = page->index;
	bench_run(b, MACHINE_INSTRUCTIONS, 1000);
	/* On arm64 having the page gives no access. */
	if (!is_x86(b)) {
		b->pmu->perf_pmu.event_mapped(event, NULL);
		b->pmu->perf_pmu.event_unmapped(event, NULL);
		KUNIT_EXPECT_EQ(test, page->index, index);
	}

	WRITE_ONCE(corepmu_user_allowed, false);
	corepmu_user_refresh();
	KUNIT_EXPECT_EQ(test, page->index, 0);
	bench_run(b, MACHINE_INSTRUCTIONS, 1000);
	KUNIT_EXPECT_EQ(test, bench_read(event), 2000);

	WRITE_ONCE(corepmu_user_allowed, true);
	corepmu_user_refresh();
	KUNIT_EXPECT_EQ(test, page->index, index);
	KUNIT_EXPECT_EQ(test, read_page(event), 2000);

	bench_del(event);
	unmap_page(event);
	bench_close(event);
	end_readable(b);
}

/* An event that nobody asked to read has no index, though others may be read. */
static void userpage_unreadable(struct kunit *test)
{
	struct bench *b = bench_start(test, test->param_value);
	struct perf_event *event = bench_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);

	test->priv = b;
	KUNIT_EXPECT_FALSE(test, corepmu_event_is_readable(&event->hw));
	map_page(b, event);
	WRITE_ONCE(corepmu_user_allowed, true);
	KUNIT_EXPECT_EQ(test, bench_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, event->rb->user_page->index, 0);
	/* Neither gives it access to anything. */
	b->pmu->perf_pmu.event_mapped(event, NULL);
	b->pmu->perf_pmu.event_unmapped(event, NULL);
	KUNIT_EXPECT_FALSE(test, corepmu_user_reads);
	bench_del(event);
	WRITE_ONCE(corepmu_user_allowed, false);
	unmap_page(event);
	bench_close(event);
}

/* While anybody may read, nothing is left in counters without an event. */
static void userpage_clears(struct kunit *test)
{
	struct bench *b = readable_bench(test, test->param_value);
	struct perf_event *event = readable_event(b, 0), *other;
	u32 index;

	if (!is_x86(b)) {
		bench_close(event);
		end_readable(b);
		kunit_skip(test, "a task reads: userpage_task");
	}

	WRITE_ONCE(corepmu_user_reads, false);
	map_page(b, event);
	KUNIT_EXPECT_EQ(test, bench_add(event, PERF_EF_START), 0);
	index = event->rb->user_page->index;
	bench_run(b, MACHINE_INSTRUCTIONS, 777);
	bench_del(event);
	KUNIT_EXPECT_NE(test, read_counter(b, index), 0);
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
	KUNIT_EXPECT_EQ(test, read_counter(b, index), 0);
	KUNIT_EXPECT_EQ(test, b->cpuc->dirty, 0);

	unmap_page(event);
	bench_close(other);
	bench_close(event);
	end_readable(b);
}

/* arm64: a task has the counters open from when it comes until it goes. */

static u64 open_counters(struct bench *b)
{
	return per_cpu_ptr(&pmuv3_model_state, b->cpu)->pmuserenr;
}

static void userpage_task(struct kunit *test)
{
	const struct machine *machine = machine_by_name(test->param_value);
	struct bench *b = readable_bench(test, machine);
	bool has_mask = !strcmp(machine->name, "pmuv3p9");
	u64 open = PMUSERENR_ER | PMUSERENR_CR | (has_mask ? PMUSERENR_UEN : 0);
	struct perf_event_attr attr = {
		.size = sizeof(attr), .config = PMUV3_EVENT_INST_RETIRED,
		.config1 = CONFIG1_RDPMC,
	};
	struct perf_event *event, *before[2];
	unsigned int i;
	int idx[2];

	KUNIT_ASSERT_EQ(test, perf_pmu_register(&b->pmu->perf_pmu, "corepmu_kunit", -1), 0);
	attr.type = b->pmu->perf_pmu.type;

	/* What others left behind: the event takes the first one's counter. */
	for (i = 0; i < ARRAY_SIZE(before); i++) {
		before[i] = bench_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
		KUNIT_EXPECT_EQ(test, bench_add(before[i], PERF_EF_START), 0);
		idx[i] = before[i]->hw.idx;
	}
	bench_run(b, MACHINE_BRANCHES, 4711);
	for (i = 0; i < ARRAY_SIZE(before); i++) {
		bench_del(before[i]);
		bench_close(before[i]);
	}
	KUNIT_EXPECT_EQ(test, open_counters(b), 0);

	event = perf_event_create_kernel_counter(&attr, -1, current, NULL, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	KUNIT_EXPECT_EQ(test, event->hw.idx, idx[0]);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);
	if (has_mask)
		KUNIT_EXPECT_EQ(test, this_cpu_read(pmuv3_model_state.pmuacr), BIT_ULL(idx[0]));
	KUNIT_EXPECT_EQ(test, !pmuv3_read_pmevcntr(idx[1]), !has_mask);

	/* It sleeps, and the CPU is another's. */
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_timeout(1);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);
	perf_event_disable(event);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);
	perf_event_enable(event);

	KUNIT_EXPECT_EQ(test, write_user_access("0"), 0);
	KUNIT_EXPECT_EQ(test, open_counters(b), 0);
	KUNIT_EXPECT_EQ(test, write_user_access("1"), 0);
	KUNIT_EXPECT_EQ(test, open_counters(b), open);

	perf_event_disable(event);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_EQ(test, open_counters(b), 0);
	perf_pmu_unregister(&b->pmu->perf_pmu);
	end_readable(b);
}

static const void *task_gen_params(const void *prev, char *desc)
{
	static const char * const names[] = { "pmuv3p5", "pmuv3p9" };
	const char *next = !prev ? names[0] : prev == names[0] ? names[1] : NULL;

	if (next)
		strscpy(desc, next, KUNIT_PARAM_DESC_SIZE);

	return next;
}

/* arm64: what can be read at all */
static void userpage_asks(struct kunit *test)
{
	struct bench *b = readable_bench(test, machine_by_name("pmuv3p9"));
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
		.config1 = CONFIG1_RDPMC,
	};
	struct perf_event *event = bench_alloc(b, &attr);

	/* Of a CPU */
	KUNIT_EXPECT_EQ(test, bench_init_event(event), -EINVAL);

	/* One counter that readers know, so wide that the page can say it */
	event->attach_state |= PERF_ATTACH_TASK;
	event->hw.target = current;
	KUNIT_ASSERT_EQ(test, bench_init_event(event), 0);
	KUNIT_EXPECT_EQ(test, event->hw.config, GENMASK_ULL(30, 0));
	KUNIT_EXPECT_EQ(test, event->hw.flags,
			(int)(COREPMU_EVENT_32BIT | PERF_EVENT_FLAG_USER_READ_CNT));
	event->attr.config1 |= CONFIG1_LONG;
	KUNIT_ASSERT_EQ(test, bench_init_event(event), 0);
	KUNIT_EXPECT_EQ(test, event->hw.flags,
			(int)(COREPMU_EVENT_LONG | PERF_EVENT_FLAG_USER_READ_CNT));

	/* One kind of CPU of several: by its own type, and for a task that stays on them */
	if (nr_cpu_ids > 1) {
		cpumask_copy(&b->pmu->supported_cpus, cpumask_of(b->cpu));
		KUNIT_EXPECT_EQ(test, bench_init_event(event), -EOPNOTSUPP);
		event->attr.type = b->pmu->perf_pmu.type;
		event->attr.config = PMUV3_EVENT_INST_RETIRED;
		KUNIT_EXPECT_EQ(test, bench_init_event(event), 0);
		set_cpus_allowed_ptr(current, cpu_possible_mask);
		KUNIT_EXPECT_EQ(test, bench_init_event(event), -EOPNOTSUPP);
		set_cpus_allowed_ptr(current, cpumask_of(b->cpu));
		cpumask_copy(&b->pmu->supported_cpus, cpu_possible_mask);
	}
	end_readable(b);
}

/* arm64: without counters of 64 bits the cycle counter alone is long. */
static void userpage_asks_long(struct kunit *test)
{
	struct bench *b = readable_bench(test, machine_by_name("pmuv3"));
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS,
		.config1 = CONFIG1_RDPMC | CONFIG1_LONG,
	};
	struct perf_event *event = bench_alloc(b, &attr);

	event->attach_state |= PERF_ATTACH_TASK;
	event->hw.target = current;
	KUNIT_EXPECT_EQ(test, bench_init_event(event), -EOPNOTSUPP);
	event->attr.config = PERF_COUNT_HW_CPU_CYCLES;
	KUNIT_EXPECT_EQ(test, bench_init_event(event), 0);
	KUNIT_EXPECT_EQ(test, event->hw.config, BIT_ULL(PMUV3_CYCLE_COUNTER));
	KUNIT_EXPECT_EQ(test, event->hw.flags,
			(int)(COREPMU_EVENT_LONG | PERF_EVENT_FLAG_USER_READ_CNT));
	end_readable(b);
}

/* kernel.perf_user_access */
static void userpage_sysctl(struct kunit *test)
{
	char buffer[8] = "";
	size_t len = sizeof(buffer);
	loff_t pos = 0;

	pmuv3_user_init(false);
	KUNIT_ASSERT_NOT_NULL(test, pmuv3_model_sysctl);
	KUNIT_EXPECT_STREQ(test, pmuv3_model_sysctl->procname, "perf_user_access");
	KUNIT_EXPECT_EQ(test, write_user_access("2"), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_user_access("-1"), -EINVAL);
	KUNIT_EXPECT_FALSE(test, corepmu_user_allowed);
	KUNIT_EXPECT_EQ(test, write_user_access("1"), 0);
	KUNIT_EXPECT_TRUE(test, corepmu_user_allowed);
	KUNIT_EXPECT_TRUE(test, corepmu_user_reads);
	KUNIT_EXPECT_EQ(test, pmuv3_model_sysctl->proc_handler((void *)pmuv3_model_sysctl, 0,
							       buffer, &len, &pos), 0);
	KUNIT_EXPECT_STREQ(test, buffer, "1\n");
	KUNIT_EXPECT_EQ(test, write_user_access("0"), 0);
	KUNIT_EXPECT_FALSE(test, corepmu_user_allowed);
	KUNIT_EXPECT_FALSE(test, corepmu_user_reads);
	pmuv3_user_exit();
	KUNIT_EXPECT_NULL(test, pmuv3_model_sysctl);

	/* One that there is already must not be registered: the kernel does not mend that. */
	pmuv3_user_init(true);
	KUNIT_EXPECT_NULL(test, pmuv3_model_sysctl);
	pmuv3_user_exit();
}

#ifdef CONFIG_X86

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

/* x86: the file rdpmc */
static void userpage_rdpmc(struct kunit *test)
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

/* x86: an mm may read while it has a page. */
static void userpage_mapped(struct kunit *test)
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

/* x86: where the width comes from, in whatever shape a compiler gives it */
static void userpage_width(struct kunit *test)
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

/* x86: a counter that is narrower than the page says cannot be read. */
static void userpage_narrow(struct kunit *test)
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

/* x86: counters that were the built-in driver's are cleared by it. */
static void userpage_take_over(struct kunit *test)
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
	KUNIT_EXPECT_EQ(test, x86_reserve(b->pmu), 0);
	end_readable(b);
}

#endif /* CONFIG_X86 */

static struct kunit_case userpage_cases[] = {
	KUNIT_CASE_PARAM(userpage_counts, machine_gen_params),
	KUNIT_CASE_PARAM(userpage_samples, machine_gen_params),
	KUNIT_CASE_PARAM(userpage_allowed, machine_gen_params),
	KUNIT_CASE_PARAM(userpage_unreadable, machine_gen_params),
	KUNIT_CASE_PARAM(userpage_clears, machine_gen_params),
	KUNIT_CASE_PARAM(userpage_task, task_gen_params),
	KUNIT_CASE(userpage_asks),
	KUNIT_CASE(userpage_asks_long),
	KUNIT_CASE(userpage_sysctl),
#ifdef CONFIG_X86
	KUNIT_CASE(userpage_rdpmc),
	KUNIT_CASE(userpage_mapped),
	KUNIT_CASE(userpage_width),
	KUNIT_CASE(userpage_narrow),
	KUNIT_CASE(userpage_take_over),
#endif
	{ }
};

static struct kunit_suite userpage_suite = {
	.name		= "corepmu_userpage",
	.exit		= machine_exit,
	.test_cases	= userpage_cases,
};

kunit_test_suite(userpage_suite);
