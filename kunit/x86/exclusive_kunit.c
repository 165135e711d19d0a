// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of events that exclude intel_bts and Intel PT; x86 kernels only
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include <uapi/linux/btf.h>

#include "branch/fixture.h"
#include "fixture/testbed.h"
#include "pebs/fixture.h"
#include "x86/intel/intel.h"
#include "x86/lbr/lbr.h"
#include "x86/pebs/precise.h"
#include "x86/x86.h"

/* Check whether another user can open an event. */
static bool gets_in(enum x86_model_user user)
{
	if (x86_model_add_exclusive(user))
		return false;
	x86_model_del_exclusive(user);

	return true;
}

static int open_branches(struct fixture *b, struct perf_event **event)
{
	const struct perf_event_attr attr = { STACK(ANY_USER) };

	return fixture_open(b, &attr, event);
}

static int open_records(struct fixture *b, struct perf_event **event)
{
	const struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 2, 1000);

	return fixture_open(b, &attr, event);
}

static int open_plain(struct fixture *b, struct perf_event **event)
{
	const struct perf_event_attr attr = precise_attr(PERF_COUNT_HW_INSTRUCTIONS, 0, 1000);

	return fixture_open(b, &attr, event);
}

/* In either order, the second user is rejected until the first user's last event is closed. */
static void exclusive_order(struct kunit *test)
{
	static int (* const open[])(struct fixture *b, struct perf_event **event) = {
		open_branches, open_records,
	};
	static const char * const names[] = { "intel-lbr", "intel-pebs-icl" };
	struct perf_event *event, *other;

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		struct fixture *b = fixture_start_on(test, names[i]);

		KUNIT_ASSERT_EQ_MSG(test, open[i](b, &event), 0, "%s", names[i]);
		KUNIT_EXPECT_FALSE(test, gets_in(X86_MODEL_BTS));
		KUNIT_ASSERT_EQ(test, open[i](b, &other), 0);
		fixture_close(event);
		KUNIT_EXPECT_FALSE(test, gets_in(X86_MODEL_BTS));
		fixture_close(other);
		KUNIT_EXPECT_TRUE(test, gets_in(X86_MODEL_BTS));

		KUNIT_EXPECT_EQ(test, x86_model_add_exclusive(X86_MODEL_BTS), 0);
		KUNIT_EXPECT_EQ(test, open[i](b, &event), -EBUSY);
		KUNIT_ASSERT_EQ(test, open_plain(b, &event), 0);
		fixture_close(event);
		x86_model_del_exclusive(X86_MODEL_BTS);
		KUNIT_ASSERT_EQ(test, open[i](b, &event), 0);
		fixture_close(event);
		KUNIT_EXPECT_EQ(test, x86_model_exclusive[X86_MODEL_LBR], 0);
		fixture_end(b);
	}
}

/* Without a precise event, the driver does not write DS_AREA. */
static void exclusive_keeps_ds_area(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-pebs-icl");
	struct perf_event *event;

	pebs_model()->ds_area = 0xabc000;
	b->pmu->backend->reset(b->cpuc);
	KUNIT_EXPECT_EQ(test, pebs_model()->ds_area, 0xabc000);
	KUNIT_ASSERT_EQ(test, open_records(b, &event), 0);
	KUNIT_EXPECT_NE(test, pebs_model()->ds_area, 0xabc000);
	pebs_model()->ds_area = 0;
	b->pmu->backend->reset(b->cpuc);
	KUNIT_EXPECT_NE(test, pebs_model()->ds_area, 0);
	fixture_close(event);
	KUNIT_EXPECT_EQ(test, pebs_model()->ds_area, 0);
	fixture_end(b);
}

/*
 * Architectural PEBS needs no DS area: nothing to exclude. In coexist mode the driver excludes
 * nothing.
 */
static void exclusive_uncounted(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-pebs-arch");
	struct perf_event *event;

	KUNIT_ASSERT_EQ(test, open_records(b, &event), 0);
	KUNIT_EXPECT_EQ(test, x86_model_exclusive[X86_MODEL_LBR], 0);
	fixture_close(event);
	KUNIT_EXPECT_EQ(test, x86_model_exclusive[X86_MODEL_LBR], 0);
	fixture_end(b);

	b = fixture_start_on(test, "intel-lbr-beside");
	KUNIT_ASSERT_EQ(test, open_branches(b, &event), 0);
	KUNIT_EXPECT_EQ(test, x86_model_exclusive[X86_MODEL_LBR], 0);
	fixture_close(event);
	KUNIT_EXPECT_EQ(test, x86_model_exclusive[X86_MODEL_LBR], 0);
	fixture_end(b);
}

/*
 * Without intel_bts, precise events exclude nothing, and Intel PT does not exclude them: on kernels
 * before 6.16, and with page table isolation. Branch records exclude Intel PT nevertheless.
 */
static void exclusive_without_bts(struct kunit *test)
{
	static const struct {
		const char *testbed;
		bool no_bts, pti;
	} table[] = {
		{ "intel-pebs-skl", .no_bts = true }, { "intel-pebs-skl", .pti = true },
		{ "intel-pebs-icl", .no_bts = true }, { "intel-pebs-fmt6" },
	};
	struct perf_event *event;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct fixture *b;

		x86_model_no_bts = table[i].no_bts;
		x86_model_pti = table[i].pti;
		b = fixture_start_on(test, table[i].testbed);
		x86_model_no_bts = false;
		x86_model_pti = false;
		KUNIT_EXPECT_EQ(test, x86_model_add_exclusive(X86_MODEL_PT), 0);
		KUNIT_ASSERT_EQ_MSG(test, open_records(b, &event), 0, "row %u", i);
		KUNIT_EXPECT_EQ(test, x86_model_exclusive[X86_MODEL_LBR], 0);
		if (b->pmu->nr_branches) {
			struct perf_event *other;

			KUNIT_EXPECT_EQ(test, open_branches(b, &other), -EBUSY);
		}
		fixture_close(event);
		KUNIT_EXPECT_EQ(test, x86_model_exclusive[X86_MODEL_LBR], 0);
		x86_model_del_exclusive(X86_MODEL_PT);
		fixture_end(b);
	}
}

/*
 * If the kernel hides the exclusion functions, the driver offers neither branch records nor precise
 * events.
 */
static void exclusive_hidden(struct kunit *test)
{
	static const char * const hidden[] = { "x86_add_exclusive", "x86_del_exclusive" };
	struct perf_event *event;

	for (unsigned int i = 0; i < ARRAY_SIZE(hidden); i++) {
		struct fixture *b = fixture_start_on(test, "intel-pebs-icl");

		x86_model_hidden = hidden[i];
		x86_exclusive_init(to_x86(b->pmu));
		KUNIT_EXPECT_FALSE(test, x86_exclusive_is_known());
		b->pmu->nr_branches = 0;
		KUNIT_EXPECT_EQ(test, x86_describe_branches(to_x86(b->pmu)), 0);
		KUNIT_EXPECT_EQ(test, b->pmu->nr_branches, 0);
		b->pmu->precise_backend = NULL;
		b->pmu->max_precise = 0;
		x86_describe_precise(to_x86(b->pmu));
		KUNIT_EXPECT_PTR_EQ(test, b->pmu->precise_backend, NULL);
		KUNIT_EXPECT_EQ(test, open_records(b, &event), -EOPNOTSUPP);
		x86_model_hidden = NULL;
		fixture_end(b);
	}
}

/* BTF of bool, as the kernel's C defines it, and of x86_pmu with a bool member */
static const char btf_names[] = "\0_Bool\0bool\0x86_pmu\0lbr_pt_coexist";

struct btf_of_test {
	struct btf_header	header;
	struct btf_type		integer;
	u32			integer_of;
	struct btf_type		alias;
	struct btf_type		pmu;
	struct btf_member	pmu_of[1];
	char			names[sizeof(btf_names)];
};

static struct btf_of_test btf_of_test = {
	.header		= { .magic = BTF_MAGIC, .version = BTF_VERSION,
			    .hdr_len = sizeof(struct btf_header),
			    .type_len = offsetof(struct btf_of_test, names) -
					sizeof(struct btf_header),
			    .str_off = offsetof(struct btf_of_test, names) -
				       sizeof(struct btf_header),
			    .str_len = sizeof(btf_names) },
	.integer	= { 1, BTF_KIND_INT << 24, { sizeof(bool) } },
	.alias		= { 7, BTF_KIND_TYPEDEF << 24, { .type = 1 } },
	.pmu		= { 12, BTF_KIND_STRUCT << 24 | 1, { 1024 } },
	.pmu_of		= { { 20, 2, X86_MODEL_PMU_COEXIST * 32 } },
};

/* With x86_pmu.lbr_pt_coexist, the kernel counts no events of Intel PT from load on. */
static void exclusive_trace_from_load(struct kunit *test)
{
	struct fixture *b = fixture_start_on(test, "intel-pebs-icl");
	struct perf_event *event;

	memcpy(btf_of_test.names, btf_names, sizeof(btf_names));
	x86_model_btf = &btf_of_test;
	x86_model_btf_end = &btf_of_test + 1;
	x86_exclusive_init(to_x86(b->pmu));
	KUNIT_EXPECT_EQ(test, x86_model_exclusive[X86_MODEL_LBR], 0);
	KUNIT_EXPECT_EQ(test, x86_model_add_exclusive(X86_MODEL_PT), 0);
	KUNIT_ASSERT_EQ(test, open_branches(b, &event), 0);
	fixture_close(event);
	x86_model_del_exclusive(X86_MODEL_PT);
	KUNIT_EXPECT_EQ(test, x86_model_exclusive[X86_MODEL_PT], 0);
	fixture_end(b);
}

/*
 * If an event of Intel PT is open at load, the kernel counts it, and it excludes records. After its
 * close the first event with records sets x86_pmu.lbr_pt_coexist. No count is left behind.
 */
static void exclusive_trace(struct kunit *test)
{
	static const struct {
		const char *testbed;
		bool btf, coexist;
	} table[] = {
		{ "intel-pebs-icl", true, true },
		{ "intel-pebs-icl", false, false },
		{ "intel-pebs-skl", true, false },
	};
	const int *flag = &x86_model_pmu[X86_MODEL_PMU_COEXIST];
	struct perf_event *event, *other;

	memcpy(btf_of_test.names, btf_names, sizeof(btf_names));
	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct fixture *b = fixture_start_on(test, table[i].testbed);

		x86_model_btf = table[i].btf ? &btf_of_test : NULL;
		x86_model_btf_end = table[i].btf ? &btf_of_test + 1 : NULL;
		KUNIT_EXPECT_EQ(test, x86_model_add_exclusive(X86_MODEL_PT), 0);
		x86_exclusive_init(to_x86(b->pmu));
		KUNIT_EXPECT_EQ(test, open_records(b, &event), -EBUSY);
		KUNIT_EXPECT_EQ(test, *flag, 0);
		x86_model_del_exclusive(X86_MODEL_PT);

		KUNIT_ASSERT_EQ(test, open_records(b, &event), 0);
		KUNIT_EXPECT_EQ_MSG(test, *flag, table[i].coexist, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, x86_model_add_exclusive(X86_MODEL_PT),
				    table[i].coexist ? 0 : -EBUSY, "row %u", i);
		KUNIT_EXPECT_FALSE(test, gets_in(X86_MODEL_BTS));
		KUNIT_EXPECT_EQ(test, open_records(b, &other), 0);
		fixture_close(other);
		fixture_close(event);
		if (table[i].coexist)
			x86_model_del_exclusive(X86_MODEL_PT);
		KUNIT_EXPECT_EQ(test, x86_model_exclusive[X86_MODEL_LBR], 0);
		KUNIT_EXPECT_EQ(test, x86_model_exclusive[X86_MODEL_PT], 0);
		fixture_end(b);
	}
}

static struct kunit_case exclusive_cases[] = {
	KUNIT_CASE(exclusive_order),
	KUNIT_CASE(exclusive_keeps_ds_area),
	KUNIT_CASE(exclusive_uncounted),
	KUNIT_CASE(exclusive_without_bts),
	KUNIT_CASE(exclusive_hidden),
	KUNIT_CASE(exclusive_trace_from_load),
	KUNIT_CASE(exclusive_trace),
	{ }
};

TEST_SUITE(exclusive, "corepmu_x86_exclusive", NULL, NULL);
