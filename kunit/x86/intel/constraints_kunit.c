// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of event constraints, Intel CPUs
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/intel/intel.h"
#include "x86/msr.h"
#include "x86/x86.h"
#include "uarch.h"

/*
 * Constraints of the kernel's tables, intel_*_event_constraints[] in arch/x86/events/intel/core.c;
 * the driver's come from perf's named events.
 */
struct constraint {
	u8 model;
	u8 core_type;
	u16 code;
	u16 counters;
};

static const struct constraint constraints[] = {
	/* Core, Core 2 */
	{ 0x0e, 0, 0x0011, 0x2 },
	{ 0x0e, 0, 0x0012, 0x2 },
	{ 0x0e, 0, 0x0013, 0x2 },
	{ 0x0e, 0, 0x0014, 0x1 },
	{ 0x0e, 0, 0x0119, 0x2 },
	{ 0x0e, 0, 0x00c1, 0x1 },
	{ 0x0e, 0, 0x0010, 0x3 },
	{ 0x0e, 0, 0x00cb, 0x3 },
	{ 0x0f, 0, 0x0010, 0x1 },
	{ 0x16, 0, 0x0011, 0x2 },
	{ 0x17, 0, 0x0012, 0x2 },
	{ 0x1d, 0, 0x0013, 0x2 },
	{ 0x0f, 0, 0x0014, 0x1 },
	{ 0x17, 0, 0x0018, 0x1 },
	{ 0x17, 0, 0x0119, 0x2 },
	{ 0x17, 0, 0x3fa1, 0x1 },
	{ 0x0f, 0, 0x00c9, 0x1 },
	{ 0x1d, 0, 0x01cb, 0x1 },
	{ 0x0f, 0, 0x00c1, 0x3 },
	{ 0x17, 0, 0x0f40, 0x3 },
	/* Nehalem, Westmere */
	{ 0x1e, 0, 0x0140, 0x3 },
	{ 0x1a, 0, 0x0241, 0x3 },
	{ 0x2e, 0, 0x0263, 0x3 },
	{ 0x1f, 0, 0x0148, 0x3 },
	{ 0x1e, 0, 0x01b0, 0xf },
	{ 0x2c, 0, 0x0151, 0x3 },
	{ 0x25, 0, 0x0260, 0x1 },
	{ 0x2f, 0, 0x04b3, 0x1 },
	{ 0x2c, 0, 0x0140, 0xf },
	/* Sandy Bridge */
	{ 0x2a, 0, 0x01c0, 0x2 },
	{ 0x2d, 0, 0x0148, 0x4 },
	{ 0x2a, 0, 0x0248, 0x4 },
	{ 0x2a, 0, 0x02a3, 0x4 },
	{ 0x2a, 0, 0x06a3, 0x4 },
	{ 0x2a, 0, 0x04a3, 0xf },
	{ 0x2a, 0, 0x02cd, 0x8 },
	{ 0x2a, 0, 0x81d0, 0xf },
	{ 0x2a, 0, 0x0151, 0xff },
	/* Ivy Bridge */
	{ 0x3a, 0, 0x0148, 0x4 },
	{ 0x3a, 0, 0x0248, 0xff },
	{ 0x3e, 0, 0x08a3, 0x4 },
	{ 0x3e, 0, 0x0ca3, 0x4 },
	{ 0x3a, 0, 0x01c0, 0x2 },
	{ 0x3a, 0, 0x82d0, 0xf },
	/* Haswell, Broadwell */
	{ 0x3c, 0, 0x0148, 0x4 },
	{ 0x45, 0, 0x08a3, 0x4 },
	{ 0x46, 0, 0x0ca3, 0x4 },
	{ 0x3f, 0, 0x01c0, 0x2 },
	{ 0x3c, 0, 0x82d0, 0xf },
	{ 0x3d, 0, 0x0148, 0x4 },
	{ 0x47, 0, 0x0ca3, 0x4 },
	{ 0x4f, 0, 0x81d0, 0xf },
	{ 0x56, 0, 0x02d1, 0xf },
	/* Skylake, Cascade Lake */
	{ 0x5e, 0, 0x01c0, 0x2 },
	{ 0x55, 0, 0x81d0, 0xf },
	{ 0x9e, 0, 0x04d1, 0xf },
	{ 0x8e, 0, 0x0151, 0xff },
	/* Ice Lake: events on eight counters, and on four */
	{ 0x7e, 0, 0x0151, 0xf },
	{ 0x6a, 0, 0x0148, 0xf },
	{ 0x6a, 0, 0x81d0, 0xf },
	{ 0x8c, 0, 0x04a3, 0xff },
	{ 0x7d, 0, 0x10a3, 0xff },
	{ 0x7d, 0, 0x14a3, 0xff },
	{ 0x7d, 0, 0x08a3, 0xf },
	{ 0xa7, 0, 0x010e, 0xff },
	{ 0x6c, 0, 0x20c4, 0xff },
	/* Golden Cove, also Bartlett Lake; Redwood Cove */
	{ 0x8f, 0, 0x0151, 0xf },
	{ 0xcf, 0, 0x02a3, 0xf },
	{ 0x8f, 0, 0x04a4, 0x1 },
	{ 0x97, INTEL_CORE, 0x08a4, 0x1 },
	{ 0xd7, 0, 0x08a4, 0x1 },
	{ 0xd7, INTEL_CORE, 0x02cd, 0x1 },
	{ 0xd7, 0, 0x20c4, 0xff },
	{ 0x8f, 0, 0x02cd, 0x1 },
	{ 0x8f, 0, 0x02ce, 0x1 },
	{ 0x8f, 0, 0x81d0, 0xf },
	{ 0xad, 0, 0x04a4, 0x1 },
	{ 0xaa, INTEL_CORE, 0x02cd, 0x1 },
	{ 0x8f, 0, 0x20c4, 0xff },
	/* Lion Cove, of whose ten counters this CPU has eight, and Skymont */
	{ 0xbd, INTEL_CORE, 0x0148, 0x4 },
	{ 0xbd, INTEL_CORE, 0x01b1, 0x8 },
	{ 0xbd, INTEL_CORE, 0x08a4, 0x1 },
	{ 0xbd, INTEL_CORE, 0x87d0, 0xff },
	{ 0xbd, INTEL_ATOM, 0x02a4, 0x3f },
	{ 0xbd, INTEL_CORE, 0x08a3, 0x4 },
	{ 0xbd, INTEL_CORE, 0x10a4, 0x8 },
	{ 0xbd, INTEL_CORE, 0x02cd, 0x3 },
	{ 0xbd, INTEL_CORE, 0x81d0, 0xf },
	/* Arrow Lake, Panther Lake and Clearwater Forest have the same constraints. */
	{ 0xc6, INTEL_CORE, 0x0148, 0x4 },
	{ 0xc5, INTEL_CORE, 0x08a4, 0x1 },
	{ 0xcc, INTEL_CORE, 0x01b1, 0x8 },
	{ 0xd5, INTEL_CORE, 0x02cd, 0x3 },
	/* Atoms count all events on all counters. */
	{ 0x1c, 0, 0x01c2, 0x3 },
	{ 0x37, 0, 0x01c2, 0x3 },
	{ 0x75, 0, 0x01c2, 0x3 },
	{ 0x57, 0, 0x01c2, 0x3 },
	{ 0x5c, 0, 0x00c2, 0xf },
	{ 0x7a, 0, 0x00c2, 0xf },
	{ 0x86, 0, 0x00c2, 0xf },
	{ 0xbe, 0, 0x00c2, 0x3f },
	{ 0x97, INTEL_ATOM, 0x00c2, 0x3f },
	{ 0xaf, 0, 0x00c2, 0xff },
	{ 0xc6, INTEL_ATOM, 0x02a4, 0x3f },
	{ 0xdd, 0, 0x02a4, 0xff },
};

/* Return the number of counters of a CPU with these constraints. */
static unsigned int nr_of(const struct constraint *c)
{
	switch (c->model) {
	case 0x0e:
	case 0x0f:
	case 0x16:
	case 0x17:
	case 0x1d:
	case 0x1c:
	case 0x37:
	case 0x57:
	case 0x75:
		return 2;
	case 0x1a:
	case 0x1e:
	case 0x1f:
	case 0x25:
	case 0x2c:
	case 0x2e:
	case 0x2f:
	case 0x5c:
	case 0x7a:
	case 0x86:
		return 4;
	case 0xbe:
		return 6;
	default:
		return c->core_type == INTEL_ATOM ? 6 : 8;
	}
}

static void constraint_desc(const struct constraint *c, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "model %#x core type %#x event %#x", c->model,
		 c->core_type, c->code);
}

KUNIT_ARRAY_PARAM(constraint, constraints, constraint_desc);

static void constraints_as_the_kernels(struct kunit *test)
{
	const struct constraint *c = test->param_value;
	struct perf_event *event = uarch_start_model(test, c->model, c->core_type, nr_of(c));

	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, c->code), c->counters);
	/* Edge, inv and cmask do not change the counters. */
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x1840000 | c->code), c->counters);
}

/* All models of the driver's table */

static const void *model_gen_params(const void *prev, char *desc)
{
	const struct intel_model *model = prev ? (const struct intel_model *)prev + 1 :
						 intel_models;

	if (model == intel_models + intel_nr_models)
		return NULL;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "family %u model %#x core type %#x", model->family,
		 model->model, model->core_type);

	return model;
}

static void expect_codes(struct kunit *test, struct perf_event *event,
			 const struct intel_codes *set, u64 all)
{
	KUNIT_EXPECT_NE(test, set->counters, 0);
	for (unsigned int i = 0; i < set->nr; i++) {
		u64 code = set->codes[i];
		s64 counters = uarch_counters(test, event, code);

		/* Codes are in order, so that each occurs once. */
		KUNIT_EXPECT_TRUE(test, !i || set->codes[i - 1] < code);
		KUNIT_EXPECT_TRUE(test, code & EVNTSEL_EVENT);
		/* Fixed counters only, or rejected for another reason */
		if (counters == -EOPNOTSUPP || counters == -ENXIO)
			continue;
		/* STALL_CYCLES has a cmask. Without it the code is PREC_DIST: uarch_prec_dist() */
		if (code == 0x01c0 && counters == FIXED(0))
			continue;
		counters = counters == -EINVAL ? 0 : counters & GP(FIXED_COUNTER_BASE);
		KUNIT_EXPECT_EQ_MSG(test, counters, set->counters & all, "event %#llx", code);
	}
}

/* Return the number of times that @code occurs in the sets. */
static unsigned int times_in(const struct intel_codes *sets, unsigned int nr, u16 code)
{
	unsigned int i, j, times = 0;

	for (i = 0; i < nr; i++)
		for (j = 0; j < sets[i].nr; j++)
			times += sets[i].codes[j] == code;

	return times;
}

/* Unit masks without a row have the counters of the event's other unit masks. */
static void expect_rest(struct kunit *test, struct perf_event *event,
			const struct intel_uarch *uarch, const struct intel_codes *set, u64 all)
{
	s64 expected = set->counters & all ?: -EINVAL;

	for (unsigned int i = 0; i < set->nr; i++) {
		KUNIT_EXPECT_TRUE(test, set->codes[i] && set->codes[i] <= 0xff);
		KUNIT_EXPECT_EQ(test, times_in(uarch->rest, uarch->nr_rest, set->codes[i]), 1);
		for (unsigned int umask = 0; umask <= 0xff; umask++) {
			u16 code = umask << 8 | set->codes[i];
			s64 counters;

			if (times_in(uarch->codes, uarch->nr_codes, code) ||
			    intel_is_architectural(code))
				continue;
			counters = uarch_counters(test, event, code);
			if (counters == -EOPNOTSUPP || counters == -ENXIO)
				continue;
			KUNIT_EXPECT_EQ_MSG(test, counters, expected, "event %#x", code);
		}
	}
}

static void constraints_of_every_row(struct kunit *test)
{
	const struct intel_model *model = test->param_value;
	const struct intel_uarch *uarch = &intel_uarches[model->uarch];
	static const unsigned int sizes[] = { 2, 4, 8, 10 };

	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		u64 all = GP(sizes[i]);
		struct perf_event *event = uarch_start_family(test, model->family, model->model,
							      model->core_type, sizes[i]);
		struct fixture *b = test->priv;

		all &= b->pmu->counters;
		KUNIT_EXPECT_PTR_EQ(test, to_x86(b->pmu)->uarch, uarch);
		for (unsigned int j = 0; j < uarch->nr_codes; j++)
			expect_codes(test, event, &uarch->codes[j], all);
		for (unsigned int j = 0; j < uarch->nr_rest; j++)
			expect_rest(test, event, uarch, &uarch->rest[j], all);
		/*
		 * Every counter counts architectural events; counters 0 to 3 count unknown events.
		 */
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00c0), all | FIXED(0));
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x4f2e), all);
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x55ff), all & GP(4));
	}
}

static struct kunit_case constraint_cases[] = {
	KUNIT_CASE_PARAM(constraints_as_the_kernels, constraint_gen_params),
	KUNIT_CASE_PARAM(constraints_of_every_row, model_gen_params),
	{ }
};

OWN_TESTBED_SUITE(constraint, "corepmu_x86_constraints");
