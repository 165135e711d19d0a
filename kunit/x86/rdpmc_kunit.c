// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of user access to counters on x86 (rdpmc): who may read, and cleared
 * counters. On x86 kernels only: x86/rdpmc.c needs their headers
 */
#include <kunit/test.h>

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/kthread.h>
#include <linux/mm_types.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>

#include <uapi/linux/btf.h>

/* The page's buffer is internal to perf core. */
#include <../kernel/events/internal.h>

#include <corepmu/rdpmc.h>

#include "fixture/testbed.h"
#include "fixture/userpage.h"
#include "models/x86/access.h"
#include "x86/msr.h"
#include "x86/x86.h"

/*
 * While a task may read counters, the driver clears counters without an event. On arm64
 * rdpmc_arm64_task() tests this.
 */
static void rdpmc_x86_clears(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, test->param_value);
	struct perf_event *event = readable_event(b, 0), *other;
	u32 index;

	WRITE_ONCE(corepmu_rdpmc_in_use, false);
	map_page(b, event);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	index = event->rb->user_page->index;
	fixture_run(b, TESTBED_INSTRUCTIONS, 777);
	fixture_del(event);
	KUNIT_EXPECT_NE(test, x86_rdpmc(index - 1), 0);
	KUNIT_EXPECT_NE(test, b->cpuc->dirty, 0);

	WRITE_ONCE(corepmu_rdpmc_in_use, true);
	other = readable_event(b, 0);
	corepmu_hw_limit_counters(&other->hw, ~BIT_ULL(0));
	if (corepmu_hw_counters(&other->hw)) {
		/* The driver does not clear the counter of an event. */
		KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		RUN_EXPECT_COUNT(b, TESTBED_INSTRUCTIONS, 100, event, 877);
		fixture_del(event);
	}
	b->pmu->perf_pmu.pmu_disable(&b->pmu->perf_pmu);
	b->pmu->perf_pmu.pmu_enable(&b->pmu->perf_pmu);
	KUNIT_EXPECT_EQ(test, x86_rdpmc(index - 1), 0);
	KUNIT_EXPECT_EQ(test, b->cpuc->dirty, 0);

	unmap_page(event);
	fixture_close(other);
	fixture_close(event);
	end_readable(b);
}

static const void *clearing_gen_params(const void *prev, char *desc)
{
	return testbed_gen_matching(prev, desc, testbed_is_x86);
}

static ssize_t show_rdpmc(struct fixture *b, char *page)
{
	struct device_attribute *attr = container_of(x86_rdpmc_group.attrs[0],
						     struct device_attribute, attr);

	return attr->show(b->pmu->perf_pmu.dev, attr, page);
}

static ssize_t store_rdpmc(struct fixture *b, const char *text)
{
	struct device_attribute *attr = container_of(x86_rdpmc_group.attrs[0],
						     struct device_attribute, attr);

	return attr->store(b->pmu->perf_pmu.dev, attr, text, strlen(text));
}

static umode_t rdpmc_mode(void)
{
	return x86_rdpmc_group.is_visible(NULL, x86_rdpmc_group.attrs[0], 0);
}

/* The file rdpmc in sysfs */
static void rdpmc_x86_rdpmc(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, testbed_by_name("intel-v4"));
	struct perf_event *event;
	char *page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_ASSERT_EQ(test, perf_pmu_register(&b->pmu->perf_pmu, "corepmu_kunit", -1), 0);
	KUNIT_EXPECT_EQ(test, rdpmc_mode(), 0600);
	show_rdpmc(b, page);
	KUNIT_EXPECT_STREQ(test, page, "1\n");
	event = readable_event(b, 0);
	map_page(b, event);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);

	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "3"), -EINVAL);
	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "4294967296"), -EINVAL);
	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "x"), -EINVAL);
	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "1"), 1);
	KUNIT_EXPECT_EQ(test, x86_model_pce_updates, 0);

	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "0"), 1);
	KUNIT_EXPECT_TRUE(test, x86_model_rdpmc_never());
	KUNIT_EXPECT_FALSE(test, corepmu_rdpmc_allowed);
	KUNIT_EXPECT_EQ(test, event->rb->user_page->index, 0);
	KUNIT_EXPECT_EQ(test, x86_model_pce_updates, num_online_cpus());
	KUNIT_EXPECT_FALSE(test, corepmu_rdpmc_in_use);

	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "2"), 1);
	KUNIT_EXPECT_FALSE(test, x86_model_rdpmc_never());
	KUNIT_EXPECT_TRUE(test, x86_model_rdpmc_always());
	KUNIT_EXPECT_TRUE(test, corepmu_rdpmc_allowed);
	KUNIT_EXPECT_TRUE(test, corepmu_rdpmc_in_use);
	KUNIT_EXPECT_GT(test, event->rb->user_page->index, 0);

	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "0"), 1);
	KUNIT_EXPECT_FALSE(test, x86_model_rdpmc_always());
	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "2"), 1);

	fixture_del(event);
	unmap_page(event);
	fixture_close(event);
	perf_pmu_unregister(&b->pmu->perf_pmu);
	/* Unregistering restores the static keys. */
	end_readable(b);
	KUNIT_EXPECT_FALSE(test, x86_model_rdpmc_never());
	KUNIT_EXPECT_FALSE(test, x86_model_rdpmc_always());
	KUNIT_EXPECT_EQ(test, rdpmc_mode(), 0);
}

/* An mm may read counters while it maps an event's page. */
static void rdpmc_x86_mapped(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, testbed_by_name("intel-v4"));
	struct perf_event *event = readable_event(b, 0);
	struct mm_struct *mm = mm_alloc();

	KUNIT_ASSERT_NOT_NULL(test, mm);
	cpumask_set_cpu(b->cpu, mm_cpumask(mm));
	b->cpuc->dirty = BIT_ULL(0);
	x86_write_msr(MSR_IA32_PMC0, 1234);
	KUNIT_EXPECT_FALSE(test, corepmu_rdpmc_in_use);

	b->pmu->perf_pmu.event_mapped(event, mm);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->context.perf_rdpmc_allowed), 1);
	KUNIT_EXPECT_EQ(test, x86_model_pce_updates, 1);
	KUNIT_EXPECT_TRUE(test, corepmu_rdpmc_in_use);
	KUNIT_EXPECT_EQ(test, x86_rdpmc(0), 0);
	b->pmu->perf_pmu.event_mapped(event, mm);
	KUNIT_EXPECT_EQ(test, x86_model_pce_updates, 1);

	b->pmu->perf_pmu.event_unmapped(event, mm);
	KUNIT_EXPECT_EQ(test, x86_model_pce_updates, 1);
	b->pmu->perf_pmu.event_unmapped(event, mm);
	KUNIT_EXPECT_EQ(test, atomic_read(&mm->context.perf_rdpmc_allowed), 0);
	KUNIT_EXPECT_EQ(test, x86_model_pce_updates, 2);

	fixture_close(event);
	end_readable(b);

	/* A new load of the module finds an mm that may read counters since an earlier load. */
	atomic_set(&mm->context.perf_rdpmc_allowed, 1);
	kthread_use_mm(mm);
	x86_rdpmc_init(to_x86(b->pmu));
	KUNIT_EXPECT_TRUE(test, corepmu_rdpmc_in_use);
	x86_rdpmc_exit(to_x86(b->pmu));
	kthread_unuse_mm(mm);
	atomic_set(&mm->context.perf_rdpmc_allowed, 0);
	mmput(mm);
}

/* The driver finds cntval_bits in the kernel's code, for each shape of the load instruction. */
static void rdpmc_x86_width(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4");
	struct x86_desc *desc = to_x86(b->pmu);
	int *width = &x86_model_pmu[X86_MODEL_PMU_WIDTH];
	static int elsewhere;
	static const char * const hidden[] = {
		"cr4_update_pce", "rdpmc_never_available_key", "rdpmc_always_available_key",
		"arch_perf_update_userpage", "x86_pmu",
	};

	x86_rdpmc_init(desc);
	KUNIT_EXPECT_TRUE(test, corepmu_rdpmc_allowed);
	KUNIT_EXPECT_EQ(test, *width, 48);
	x86_rdpmc_exit(desc);
	KUNIT_EXPECT_EQ(test, *width, 0);

	/* The built-in driver has set the width. */
	*width = 48;
	x86_rdpmc_init(desc);
	KUNIT_EXPECT_TRUE(test, corepmu_rdpmc_allowed);
	x86_rdpmc_exit(desc);
	KUNIT_EXPECT_EQ(test, *width, 48);
	*width = 40;
	x86_rdpmc_init(desc);
	KUNIT_EXPECT_FALSE(test, corepmu_rdpmc_allowed);
	KUNIT_EXPECT_EQ(test, *width, 40);
	*width = 0;

	/* Loads from other addresses do not matter, and the load of the width may occur twice. */
	x86_model_load(10, false, &elsewhere);
	x86_model_load(20, false, (u8 *)x86_model_pmu + 6);
	x86_model_load(60, true, width);
	x86_rdpmc_init(desc);
	KUNIT_EXPECT_TRUE(test, corepmu_rdpmc_allowed);
	KUNIT_EXPECT_EQ(test, *width, 48);
	x86_rdpmc_exit(desc);

	/* The driver ignores code behind the function's end: the next function's. */
	x86_model_code_size = 80;
	x86_model_load(80, false, &x86_model_pmu[3]);
	x86_rdpmc_init(desc);
	KUNIT_EXPECT_TRUE(test, corepmu_rdpmc_allowed);
	x86_rdpmc_exit(desc);
	x86_model_code_size = 0;
	x86_rdpmc_init(desc);
	KUNIT_EXPECT_FALSE(test, corepmu_rdpmc_allowed);
	x86_model_code_size = 192;

	/* Two loads from x86_pmu are ambiguous. */
	x86_model_load(80, false, &x86_model_pmu[3]);
	x86_rdpmc_init(desc);
	KUNIT_EXPECT_FALSE(test, corepmu_rdpmc_allowed);

	x86_model_forget_loads();
	x86_model_load(50, true, width);
	x86_rdpmc_init(desc);
	KUNIT_EXPECT_TRUE(test, corepmu_rdpmc_allowed);
	x86_rdpmc_exit(desc);

	x86_model_forget_loads();
	x86_rdpmc_init(desc);
	KUNIT_EXPECT_FALSE(test, corepmu_rdpmc_allowed);
	KUNIT_EXPECT_EQ(test, rdpmc_mode(), 0);

	/*
	 * The driver does not write an x86_pmu in read-only data. It writes one that lies before
	 * the read-only data.
	 */
	x86_model_user_power_on();
	x86_model_rodata = (const char *)x86_model_pmu;
	x86_model_rodata_end = x86_model_rodata + sizeof(x86_model_pmu);
	x86_rdpmc_init(desc);
	KUNIT_EXPECT_FALSE(test, corepmu_rdpmc_allowed);
	KUNIT_EXPECT_EQ(test, *width, 0);
	x86_model_rodata = x86_model_rodata_end;
	x86_model_rodata_end += sizeof(x86_model_pmu);
	x86_rdpmc_init(desc);
	KUNIT_EXPECT_TRUE(test, corepmu_rdpmc_allowed);
	x86_rdpmc_exit(desc);

	x86_model_user_power_on();
	for (unsigned int i = 0; i < ARRAY_SIZE(hidden); i++) {
		x86_model_hidden = hidden[i];
		x86_rdpmc_init(desc);
		KUNIT_EXPECT_FALSE_MSG(test, corepmu_rdpmc_allowed, "%s", hidden[i]);
		KUNIT_EXPECT_EQ(test, *width, 0);
	}
}

/* BTF for the test: names, and a type of each shape before the struct that the driver looks for */
#define BTF_INFO(kind, nr)	((u32)(kind) << 24 | (nr))
#define BTF_WITH_BIT_FIELDS	BIT(31)

static const char btf_names[] = "\0int\0x86_pmu\0cntval_bits\0name";

enum {
	NAME_INT	= 1,
	NAME_X86_PMU	= 5,
	NAME_BITS	= 13,
	NAME_NAME	= 25,
};

struct btf_of_test {
	struct btf_header	header;
	struct btf_type		integer;
	u32			integer_of;
	struct btf_type		pointer;
	struct btf_type		array;
	struct btf_array	array_of;
	struct btf_type		list;
	struct btf_enum		list_of[2];
	struct btf_type		wide_list;
	struct btf_enum64	wide_list_of[1];
	struct btf_type		function;
	struct btf_param	function_of[2];
	struct btf_type		variable;
	struct btf_var		variable_of;
	struct btf_type		section;
	struct btf_var_secinfo	section_of[1];
	struct btf_type		tag;
	struct btf_decl_tag	tag_of;
	struct btf_type		uni;
	struct btf_member	uni_of[1];
	struct btf_type		other;
	struct btf_member	other_of[1];
	struct btf_type		pmu;
	struct btf_member	pmu_of[2];
	char			names[sizeof(btf_names)];
};

static const struct btf_of_test btf_of_test = {
	.header		= { .magic = BTF_MAGIC, .version = BTF_VERSION,
			    .hdr_len = sizeof(struct btf_header),
			    .type_len = offsetof(struct btf_of_test, names) -
					sizeof(struct btf_header),
			    .str_off = offsetof(struct btf_of_test, names) -
				       sizeof(struct btf_header),
			    .str_len = sizeof(btf_names) },
	.integer	= { NAME_INT, BTF_INFO(BTF_KIND_INT, 0), { sizeof(int) } },
	.pointer	= { 0, BTF_INFO(BTF_KIND_PTR, 0), { 1 } },
	.array		= { 0, BTF_INFO(BTF_KIND_ARRAY, 0), { 0 } },
	.list		= { 0, BTF_INFO(BTF_KIND_ENUM, 2), { sizeof(u32) } },
	.wide_list	= { 0, BTF_INFO(BTF_KIND_ENUM64, 1), { sizeof(u64) } },
	.function	= { 0, BTF_INFO(BTF_KIND_FUNC_PROTO, 2), { 0 } },
	.variable	= { NAME_X86_PMU, BTF_INFO(BTF_KIND_VAR, 0), { 12 } },
	.section	= { NAME_NAME, BTF_INFO(BTF_KIND_DATASEC, 1), { 1024 } },
	.tag		= { NAME_NAME, BTF_INFO(BTF_KIND_DECL_TAG, 0), { 1 } },
	.uni		= { NAME_X86_PMU, BTF_INFO(BTF_KIND_UNION, 1), { 8 } },
	.uni_of		= { { NAME_BITS, 1, 0 } },
	.other		= { NAME_NAME, BTF_INFO(BTF_KIND_STRUCT, 1), { 8 } },
	.other_of	= { { NAME_BITS, 1, 32 } },
	.pmu		= { NAME_X86_PMU, BTF_INFO(BTF_KIND_STRUCT, 2), { 1024 } },
	.pmu_of		= { { NAME_NAME, 2, 0 },
			    { NAME_BITS, 1, X86_MODEL_PMU_WIDTH * 32 } },
};

/* Check whether the driver finds the width with BTF, in a kernel whose code has no load of it. */
static bool btf_has_width(struct x86_desc *desc, const struct btf_of_test *btf)
{
	bool found;

	x86_model_btf = btf;
	x86_model_btf_end = btf->names + sizeof(btf->names);
	x86_rdpmc_init(desc);
	found = corepmu_rdpmc_allowed && x86_model_pmu[X86_MODEL_PMU_WIDTH] == 48;
	x86_rdpmc_exit(desc);

	return found;
}

/* The driver finds the width with BTF, and rejects invalid BTF. */
static void rdpmc_x86_btf(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-v4");
	struct btf_of_test *btf = kunit_kzalloc(test, sizeof(*btf), GFP_KERNEL);
	struct x86_desc *desc = to_x86(b->pmu);

	KUNIT_ASSERT_NOT_NULL(test, btf);
	*btf = btf_of_test;
	memcpy(btf->names, btf_names, sizeof(btf_names));
	x86_model_forget_loads();
	KUNIT_EXPECT_TRUE(test, btf_has_width(desc, btf));

	/* BTF has precedence over the code. */
	x86_model_load(40, false, &x86_model_pmu[3]);
	KUNIT_EXPECT_TRUE(test, btf_has_width(desc, btf));
	x86_model_forget_loads();

	/* Bit-fields elsewhere in the struct are fine; the width must not be one. */
	btf->pmu.info |= BTF_WITH_BIT_FIELDS;
	KUNIT_EXPECT_TRUE(test, btf_has_width(desc, btf));
	btf->pmu_of[1].offset |= 8 << 24;
	KUNIT_EXPECT_FALSE(test, btf_has_width(desc, btf));
	btf->pmu_of[1] = btf_of_test.pmu_of[1];
	btf->pmu.info = btf_of_test.pmu.info;

	/*
	 * The driver rejects a width of another type, beyond the struct's end, or between two ints.
	 */
	btf->pmu_of[1].type = 2;
	KUNIT_EXPECT_FALSE(test, btf_has_width(desc, btf));
	btf->pmu_of[1].type = 1;
	btf->pmu_of[1].offset = 1024 * 8;
	KUNIT_EXPECT_FALSE(test, btf_has_width(desc, btf));
	btf->pmu_of[1].offset = btf_of_test.pmu_of[1].offset + 8;
	KUNIT_EXPECT_FALSE(test, btf_has_width(desc, btf));
	btf->pmu_of[1].offset = btf_of_test.pmu_of[1].offset;

	/* The driver rejects an unterminated name, an unknown BTF kind, and a truncated section. */
	btf->names[sizeof(btf_names) - 1] = 'x';
	KUNIT_EXPECT_FALSE(test, btf_has_width(desc, btf));
	btf->names[sizeof(btf_names) - 1] = 0;
	btf->tag.info = BTF_INFO(NR_BTF_KINDS, 0);
	KUNIT_EXPECT_FALSE(test, btf_has_width(desc, btf));
	btf->tag.info = btf_of_test.tag.info;
	btf->header.type_len -= sizeof(struct btf_member);
	KUNIT_EXPECT_FALSE(test, btf_has_width(desc, btf));
	/* The type section may end where BTF ends, not later. */
	btf->header.type_len = btf_of_test.header.type_len + sizeof(btf_names);
	KUNIT_EXPECT_TRUE(test, btf_has_width(desc, btf));
	btf->header.type_len++;
	KUNIT_EXPECT_FALSE(test, btf_has_width(desc, btf));
	btf->header.type_len = btf_of_test.header.type_len;
	btf->header.str_len++;
	KUNIT_EXPECT_FALSE(test, btf_has_width(desc, btf));
	btf->header.str_len--;
	btf->header.magic = 0;
	KUNIT_EXPECT_FALSE(test, btf_has_width(desc, btf));
	btf->header.magic = BTF_MAGIC;
	KUNIT_EXPECT_TRUE(test, btf_has_width(desc, btf));

	/* Without BTF the driver parses the code. */
	btf->header.magic = 0;
	x86_model_load(40, false, &x86_model_pmu[X86_MODEL_PMU_WIDTH]);
	KUNIT_EXPECT_TRUE(test, btf_has_width(desc, btf));
}

/* A counter that is narrower than the page's pmc_width cannot be read. */
static void rdpmc_x86_narrow(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, testbed_by_name("intel-v4"));
	struct perf_event *event = readable_event(b, 0);

	map_page(b, event);
	b->pmu->width[COREPMU_MAX_COUNTERS - 1] = 40;
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_GT(test, event->rb->user_page->index, 0);
	b->pmu->width[event->hw.idx] = 47;
	corepmu_rdpmc_refresh();
	KUNIT_EXPECT_EQ(test, event->rb->user_page->index, 0);
	b->pmu->width[event->hw.idx] = 48;
	fixture_del(event);
	unmap_page(event);
	fixture_close(event);
	end_readable(b);
}

/* Clearing the monitors (Nehalem) writes all counters: readers still get correct counts. */
static void rdpmc_x86_nehalem(struct kunit *test)
{
	static const char * const names[] = { "intel-wsm", "intel-wsm-beside" };

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		struct fixture *b = readable_fixture(test, testbed_by_name(names[i]));
		/*
		 * Longer than the counter's range: the driver sets the counter to the same value
		 * again.
		 */
		struct perf_event *event = readable_event(b, 1ULL << 40), *other;

		corepmu_hw_limit_counters(&event->hw, GENMASK_ULL(FIXED_COUNTER_BASE - 1, 0));
		map_page(b, event);
		KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		fixture_run(b, TESTBED_INSTRUCTIONS, 500);
		other = fixture_event(b, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 0);
		KUNIT_EXPECT_EQ(test, fixture_add(other, PERF_EF_START), 0);
		KUNIT_EXPECT_GT(test, event->rb->user_page->index, 0);
		KUNIT_EXPECT_EQ(test, read_page(event), 500);
		fixture_run(b, TESTBED_INSTRUCTIONS, 250);
		KUNIT_EXPECT_EQ(test, read_page(event), 750);
		KUNIT_EXPECT_EQ(test, fixture_read(event), 750);
		fixture_remove(other);
		fixture_del(event);
		unmap_page(event);
		fixture_close(event);
		end_readable(b);
		fixture_end(b);
	}
}

/* The built-in driver clears the counters that it hands over. */
static void rdpmc_x86_take_over(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, testbed_by_name("intel-v4-beside"));
	struct perf_event *event;
	unsigned int before;

	KUNIT_EXPECT_TRUE(test, corepmu_rdpmc_in_use);
	x86_release(b->pmu);
	before = x86_model_clears;
	event = readable_event(b, 0);
	KUNIT_EXPECT_EQ(test, x86_model_clears, before + num_online_cpus());
	fixture_close(event);
	KUNIT_EXPECT_EQ(test, x86_reserve(), 0);
	end_readable(b);
}

/* With RDPMC user disable, user space cannot read per-CPU events, unless all tasks may read. */
static void rdpmc_x86_hidden(struct kunit *test)
{
	struct fixture *b = readable_fixture(test, testbed_by_name("intel-v6"));
	struct perf_event *event;

	KUNIT_ASSERT_EQ(test, perf_pmu_register(&b->pmu->perf_pmu, "corepmu_kunit", -1), 0);
	event = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);
	KUNIT_EXPECT_TRUE(test, event->hw.config_base & EVNTSEL_RDPMC_USR_DISABLE);
	KUNIT_EXPECT_FALSE(test, event->hw.flags & PERF_EVENT_FLAG_USER_READ_CNT);
	/* Instructions use fixed counter 0. */
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_TRUE(test, this_cpu_read(x86_model_state.fixed_ctrl) & BIT_ULL(33));
	fixture_del(event);

	/* The same event, per task */
	event->attach_state |= PERF_ATTACH_TASK;
	event->hw.flags = 0;
	KUNIT_ASSERT_EQ(test, b->pmu->backend->encode(b->pmu, event), 0);
	KUNIT_EXPECT_FALSE(test, event->hw.config_base & EVNTSEL_RDPMC_USR_DISABLE);
	KUNIT_EXPECT_TRUE(test, event->hw.flags & PERF_EVENT_FLAG_USER_READ_CNT);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_FALSE(test, this_cpu_read(x86_model_state.fixed_ctrl) & BIT_ULL(33));
	fixture_del(event);
	event->attach_state &= ~PERF_ATTACH_TASK;
	fixture_close(event);

	KUNIT_EXPECT_EQ(test, store_rdpmc(b, "2"), 1);
	event = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);
	KUNIT_EXPECT_FALSE(test, event->hw.config_base & EVNTSEL_RDPMC_USR_DISABLE);
	KUNIT_EXPECT_TRUE(test, event->hw.flags & PERF_EVENT_FLAG_USER_READ_CNT);
	fixture_close(event);
	perf_pmu_unregister(&b->pmu->perf_pmu);
	end_readable(b);
}

static struct kunit_case rdpmc_x86_cases[] = {
	KUNIT_CASE_PARAM(rdpmc_x86_clears, clearing_gen_params),
	KUNIT_CASE(rdpmc_x86_rdpmc),
	KUNIT_CASE(rdpmc_x86_mapped),
	KUNIT_CASE(rdpmc_x86_width),
	KUNIT_CASE(rdpmc_x86_btf),
	KUNIT_CASE(rdpmc_x86_narrow),
	KUNIT_CASE(rdpmc_x86_nehalem),
	KUNIT_CASE(rdpmc_x86_take_over),
	KUNIT_CASE(rdpmc_x86_hidden),
	{ }
};

OWN_TESTBED_SUITE(rdpmc_x86, "corepmu_x86_rdpmc");
