// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of Intel's families 18 and 19: Nova Lake and Diamond Rapids
 *
 * Expected values come from arch/x86/events/intel/core.c of Linux 7.3; comments name its tables.
 * The driver's constraints come from perf's event lists, an independent source.
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/intel/intel.h"
#include "x86/msr.h"
#include "x86/x86.h"
#include "uarch.h"

#define NOVA_LAKE	18
#define DIAMOND_RAPIDS	19

#define ALL_EXTRA_REGS	GENMASK(8, 0)
/* Index of MSR_OMR_0 in x86_model.extra_regs */
#define OMR		3
/* Index of MSR_SNOOP_RSP_0 */
#define SNOOP		7

static const struct x86_model_cpu plain = {
	.name = "nova", .version = 6, .nr_gp = 8, .gp_width = 48, .nr_fixed = 3,
	.fixed_map = 0x7f, .fixed_width = 48, .full_width = true, .nr_events = 7,
	.extra_regs = ALL_EXTRA_REGS,
};

static struct perf_event *start_on(struct kunit *test, unsigned int family, unsigned int model,
				   unsigned int core_type)
{
	struct x86_model_cpu cpu = plain;

	cpu.family = family;
	cpu.model = model;
	cpu.core_type = core_type;

	return uarch_start(test, &cpu);
}

static const struct intel_uarch *this_uarch(struct kunit *test)
{
	struct fixture *b = test->priv;

	return to_x86(b->pmu)->uarch;
}

static struct x86_model *model_state(void)
{
	return this_cpu_ptr(&x86_model_state);
}

/* CPUs with the same tables */
struct cpu_id {
	u8 family;
	u8 model;
	u8 core_type;
};

static const struct cpu_id cores[] = {
	{ NOVA_LAKE, 0x01, INTEL_CORE }, { NOVA_LAKE, 0x03, INTEL_CORE },
	{ DIAMOND_RAPIDS, 0x01, 0 },
};

static const struct cpu_id atoms[] = {
	{ NOVA_LAKE, 0x01, INTEL_ATOM }, { NOVA_LAKE, 0x03, INTEL_ATOM },
};

struct constraint {
	u16 code;
	u16 counters;
};

/* Rows of intel_pnc_event_constraints[]. A row for all unit masks is here with some of them. */
static const struct constraint pnc_constraints[] = {
	{ 0x0120, 0xf }, { 0xff20, 0xf }, { 0x0179, 0xf }, { 0x0879, 0xf }, { 0x2079, 0xf },
	{ 0x0275, 0xf }, { 0x0176, 0xf }, { 0x04a4, 0x1 }, { 0x08a4, 0x1 }, { 0x02cd, 0x3 },
	{ 0x81d0, 0xf }, { 0x87d0, 0xf }, { 0x11d0, 0xf }, { 0x02d1, 0xf }, { 0x00d1, 0xf },
	{ 0x02d4, 0xf }, { 0x01d6, 0xf }, { 0x08d6, 0xf }, { 0x01df, 0xf }, { 0x01ce, 0x1 },
	{ 0x80ce, 0x1 }, { 0x01b1, 0x8 }, { 0x01b2, 0xf }, { 0x02b2, 0xf }, { 0x0847, 0xf },
	{ 0x0446, 0xf }, { 0x0846, 0xf }, { 0x0148, 0xf },
	/* Events without a row there: perf's event list has all counters, or counter 3. */
	{ 0xe124, 0xff }, { 0x0246, 0xff }, { 0x4847, 0xff }, { 0x04b2, 0xff }, { 0x10b1, 0xff },
	{ 0x02a4, 0xff }, { 0x0e11, 0xff }, { 0x10a4, 0x8 },
};

/* intel_arw_event_constraints */
static const struct constraint arw_constraints[] = {
	{ 0x01b7, 0x1 }, { 0x02b7, 0x2 }, { 0x04b7, 0x4 }, { 0x08b7, 0x8 }, { 0x0175, 0x1 },
	{ 0x0275, 0x2 }, { 0x21d3, 0x1 },
	/* Events without a row in intel_arw_event_constraints[] */
	{ 0x0475, 0xff }, { 0x0875, 0xff }, { 0x02a4, 0xff }, { 0x0380, 0xff }, { 0x20c6, 0xff },
};

static void expect_constraints(struct kunit *test, const struct cpu_id *id,
			       const struct constraint *rows, unsigned int nr)
{
	struct perf_event *event = start_on(test, id->family, id->model, id->core_type);

	for (unsigned int i = 0; i < nr; i++) {
		u64 code = rows[i].code;

		KUNIT_EXPECT_EQ_MSG(test, uarch_counters(test, event, code), rows[i].counters,
				    "family %u model %#x event %#llx", id->family, id->model, code);
		/* Edge, inv and cmask do not change the counters. */
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x1840000 | code),
				rows[i].counters);
	}
}

static void nova_has_the_kernels_constraints(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cores); i++) {
		expect_constraints(test, &cores[i], pnc_constraints, ARRAY_SIZE(pnc_constraints));
		/* Load latency uses counters 2 to 7, which support it with precise_ip. */
		KUNIT_EXPECT_EQ(test, intel_general_counters(this_uarch(test), 0x01cd), 0xfc);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(atoms); i++)
		expect_constraints(test, &atoms[i], arw_constraints, ARRAY_SIZE(arw_constraints));
}

/* Return a fixed counter, and all general-purpose counters unless the code is a fixed counter's. */
static s64 with_fixed(const struct constraint *c)
{
	return FIXED(c->counters) | (c->code & EVNTSEL_EVENT ? GP(8) : 0);
}

/* FIXED_EVENT_CONSTRAINT and METRIC_EVENT_CONSTRAINT of both tables */
static void nova_fixed_counters(struct kunit *test)
{
	static const struct constraint both[] = {
		{ 0x00c0, 0 }, { 0x0100, 0 }, { 0x003c, 1 }, { 0x0200, 1 }, { 0x0300, 2 },
		{ 0x013c, 2 },
	};
	static const struct constraint arw[] = {
		{ 0x0073, 4 }, { 0x0500, 4 }, { 0x019c, 5 }, { 0x0600, 5 }, { 0x02c2, 6 },
		{ 0x0700, 6 },
	};
	struct perf_event *event;

	for (unsigned int i = 0; i < ARRAY_SIZE(cores); i++) {
		event = start_on(test, cores[i].family, cores[i].model, cores[i].core_type);
		for (unsigned int j = 0; j < ARRAY_SIZE(both); j++)
			KUNIT_EXPECT_EQ(test, uarch_counters(test, event, both[j].code),
					with_fixed(&both[j]));
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0400), FIXED(3));
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0500), -EINVAL);
		KUNIT_EXPECT_EQ(test, intel_metric_counters(this_uarch(test)),
				GENMASK_ULL(METRIC_COUNTER_BASE + 7, METRIC_COUNTER_BASE));
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(atoms); i++) {
		event = start_on(test, atoms[i].family, atoms[i].model, atoms[i].core_type);
		for (unsigned int j = 0; j < ARRAY_SIZE(both); j++)
			KUNIT_EXPECT_EQ(test, uarch_counters(test, event, both[j].code),
					with_fixed(&both[j]));
		for (unsigned int j = 0; j < ARRAY_SIZE(arw); j++)
			KUNIT_EXPECT_EQ(test, uarch_counters(test, event, arw[j].code),
					with_fixed(&arw[j]));
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0400), -EINVAL);
		KUNIT_EXPECT_EQ(test, intel_metric_counters(this_uarch(test)), 0);
	}
}

struct extra_reg {
	u16	code;
	u64	bits;
	/* Index in x86_model.extra_regs */
	u8	reg;
};

#define PNC_BITS	0x40ffffff0000ffffull
#define ARW_BITS	0xc0ffffffffffffffull
#define FRONTEND	2

/* intel_pnc_extra_regs */
static const struct extra_reg pnc_extra_regs[] = {
	{ 0x012a, PNC_BITS, OMR }, { 0x022a, PNC_BITS, OMR + 1 }, { 0x042a, PNC_BITS, OMR + 2 },
	{ 0x082a, PNC_BITS, OMR + 3 }, { 0x014f, PNC_BITS, OMR }, { 0x024f, PNC_BITS, OMR + 1 },
	{ 0x044f, PNC_BITS, OMR + 2 }, { 0x084f, PNC_BITS, OMR + 3 }, { 0x01d6, PNC_BITS, OMR },
	{ 0x02d6, PNC_BITS, OMR + 1 }, { 0x04d6, PNC_BITS, OMR + 2 }, { 0x08d6, PNC_BITS, OMR + 3 },
	{ 0x02c6, 0x9, FRONTEND }, { 0x03c6, 0x7fff1f, FRONTEND }, { 0x40ad, 0xf, FRONTEND },
	{ 0x04c2, 0x8, FRONTEND },
};

/* intel_arw_extra_regs, except load latency */
static const struct extra_reg arw_extra_regs[] = {
	{ 0x01b7, ARW_BITS, OMR }, { 0x02b7, ARW_BITS, OMR + 1 }, { 0x04b7, ARW_BITS, OMR + 2 },
	{ 0x08b7, ARW_BITS, OMR + 3 }, { 0x0127, U64_MAX, SNOOP }, { 0x0227, U64_MAX, SNOOP + 1 },
};

static u32 msr_of(unsigned int reg)
{
	if (reg == FRONTEND)
		return 0x3f7;

	return reg >= SNOOP ? 0x1328 + reg - SNOOP : 0x3e0 + reg - OMR;
}

/* The driver accepts and rejects the same bits as the kernel, and uses the event's register. */
static void expect_extra_regs(struct kunit *test, const struct cpu_id *id,
			      const struct extra_reg *rows, unsigned int nr)
{
	struct perf_event *event = start_on(test, id->family, id->model, id->core_type);

	for (unsigned int i = 0; i < nr; i++) {
		for (unsigned int bit = 0; bit < 64; bit++) {
			event->attr.config1 = BIT_ULL(bit);
			KUNIT_EXPECT_EQ_MSG(test, rows[i].bits & BIT_ULL(bit) ? 0 : -EINVAL,
					    min_t(s64, 0, uarch_counters(test, event,
									 rows[i].code)),
					    "family %u event %#x bit %u", id->family, rows[i].code,
					    bit);
		}
		event->attr.config1 = rows[i].bits;
		KUNIT_EXPECT_GT(test, uarch_counters(test, event, rows[i].code), 0);
		KUNIT_EXPECT_EQ(test, event->hw.extra_reg.reg, msr_of(rows[i].reg));
	}
	event->attr.config1 = 0;
}

static void nova_has_the_kernels_registers(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cores); i++)
		expect_extra_regs(test, &cores[i], pnc_extra_regs, ARRAY_SIZE(pnc_extra_regs));
	for (unsigned int i = 0; i < ARRAY_SIZE(atoms); i++)
		expect_extra_regs(test, &atoms[i], arw_extra_regs, ARRAY_SIZE(arw_extra_regs));
}

/* Unit masks of several registers, or of none, are rejected. */
static void nova_refuses(struct kunit *test)
{
	static const u16 of_cores[] = {
		0x032a, 0x002a, 0x102a, 0xff2a, 0x004f, 0x0c4f, 0x00d6, 0x0fd6, 0x11d6,
		/* Load latency: its records have words that the driver does not know */
		0x01cd,
	};
	static const u16 of_atoms[] = {
		0x00b7, 0x03b7, 0x10b7, 0xffb7,
		/* Load latency */
		0x05d0,
	};
	struct x86_model_cpu cpu = plain;
	struct perf_event *event;

	for (unsigned int i = 0; i < ARRAY_SIZE(cores); i++) {
		event = start_on(test, cores[i].family, cores[i].model, cores[i].core_type);
		for (unsigned int j = 0; j < ARRAY_SIZE(of_cores); j++)
			KUNIT_EXPECT_EQ_MSG(test, uarch_counters(test, event, of_cores[j]),
					    -EOPNOTSUPP, "event %#x", of_cores[j]);
		/* The cores reject the atoms' event code. */
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x01b7), -EOPNOTSUPP);
	}
	event = start_on(test, NOVA_LAKE, 0x01, INTEL_ATOM);
	for (unsigned int i = 0; i < ARRAY_SIZE(of_atoms); i++)
		KUNIT_EXPECT_EQ_MSG(test, uarch_counters(test, event, of_atoms[i]), -EOPNOTSUPP,
				    "event %#x", of_atoms[i]);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x012a), -EOPNOTSUPP);
	/*
	 * On atoms, the codes of load latency and UOPS_RETIRED.MS are other events without a
	 * register.
	 */
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x01cd), GP(8));
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x04c2), GP(8));

	/* A hypervisor without the OMR registers */
	cpu.family = DIAMOND_RAPIDS;
	cpu.model = 0x01;
	cpu.extra_regs = BIT(0) | BIT(1);
	event = uarch_start(test, &cpu);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x012a), -ENXIO);
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x03c6), -ENXIO);
	event->attr.type = PERF_TYPE_HW_CACHE;
	KUNIT_EXPECT_EQ(test, uarch_counters(test, event, X86_CACHE(LL, READ, MISS)), -ENOENT);
}

/* pnc_, cyc_, glp_ and arw_hw_cache_event_ids[] and _extra_regs[], except events without a name */
static void nova_generic_events(struct kunit *test)
{
	static const struct {
		struct cpu_id	id;
		u32		generic;
		s64		code;
		u64		value;
	} table[] = {
		{ { NOVA_LAKE, 1, INTEL_CORE }, X86_CACHE(L1D, READ, ACCESS), 0x81d0 },
		{ { NOVA_LAKE, 1, INTEL_CORE }, X86_CACHE(L1D, READ, MISS), 0xe124 },
		{ { NOVA_LAKE, 3, INTEL_CORE }, X86_CACHE(L1D, WRITE, ACCESS), 0x82d0 },
		{ { NOVA_LAKE, 1, INTEL_CORE }, X86_CACHE(L1D, WRITE, MISS), -ENOENT },
		{ { DIAMOND_RAPIDS, 1, 0 }, X86_CACHE(L1I, READ, MISS), 0xe424 },
		{ { DIAMOND_RAPIDS, 1, 0 }, X86_CACHE(L1I, READ, ACCESS), -ENOENT },
		{ { DIAMOND_RAPIDS, 1, 0 }, X86_CACHE(DTLB, READ, MISS), 0x0e12 },
		{ { NOVA_LAKE, 3, INTEL_CORE }, X86_CACHE(DTLB, WRITE, MISS), 0x0e13 },
		{ { NOVA_LAKE, 1, INTEL_CORE }, X86_CACHE(ITLB, READ, MISS), 0x0e11 },
		{ { NOVA_LAKE, 1, INTEL_CORE }, X86_CACHE(BPU, READ, ACCESS), 0x00c4 },
		{ { DIAMOND_RAPIDS, 1, 0 }, X86_CACHE(BPU, READ, MISS), 0x00c5 },
		{ { DIAMOND_RAPIDS, 1, 0 }, X86_CACHE(NODE, READ, ACCESS), -ENOENT },
		{ { NOVA_LAKE, 1, INTEL_CORE }, X86_CACHE(LL, READ, ACCESS), 0x012a,
		  0x4000000000000001 },
		{ { NOVA_LAKE, 3, INTEL_CORE }, X86_CACHE(LL, READ, MISS), 0x012a,
		  0xff03f000000001 },
		{ { NOVA_LAKE, 1, INTEL_CORE }, X86_CACHE(LL, WRITE, ACCESS), 0x012a,
		  0x4000000000000002 },
		{ { NOVA_LAKE, 1, INTEL_CORE }, X86_CACHE(LL, WRITE, MISS), 0x012a,
		  0xff03f000000002 },
		{ { DIAMOND_RAPIDS, 1, 0 }, X86_CACHE(LL, READ, ACCESS), 0x012a,
		  0x4000000000000001 },
		{ { DIAMOND_RAPIDS, 1, 0 }, X86_CACHE(LL, READ, MISS), 0x012a, 0xfffff000000001 },
		{ { DIAMOND_RAPIDS, 1, 0 }, X86_CACHE(LL, WRITE, MISS), 0x012a, 0xfffff000000002 },
		{ { DIAMOND_RAPIDS, 1, 0 }, X86_CACHE(LL, PREFETCH, ACCESS), -ENOENT },
		{ { NOVA_LAKE, 1, INTEL_ATOM }, X86_CACHE(L1D, READ, ACCESS), 0x81d0 },
		{ { NOVA_LAKE, 1, INTEL_ATOM }, X86_CACHE(L1D, READ, MISS), -ENOENT },
		{ { NOVA_LAKE, 1, INTEL_ATOM }, X86_CACHE(L1I, READ, ACCESS), 0x0380 },
		{ { NOVA_LAKE, 3, INTEL_ATOM }, X86_CACHE(L1I, READ, MISS), 0x0280 },
		{ { NOVA_LAKE, 3, INTEL_ATOM }, X86_CACHE(DTLB, READ, MISS), 0x0e08 },
		{ { NOVA_LAKE, 3, INTEL_ATOM }, X86_CACHE(DTLB, WRITE, MISS), 0x0e49 },
		{ { NOVA_LAKE, 3, INTEL_ATOM }, X86_CACHE(ITLB, READ, MISS), -ENOENT },
		/*
		 * The kernel uses 0x01b7 for all; the driver gives each event its own register and
		 * counter.
		 */
		{ { NOVA_LAKE, 1, INTEL_ATOM }, X86_CACHE(LL, READ, ACCESS), 0x01b7,
		  0x4000000000000009 },
		{ { NOVA_LAKE, 3, INTEL_ATOM }, X86_CACHE(LL, READ, MISS), 0x02b7,
		  0xff03f000000009 },
		{ { NOVA_LAKE, 1, INTEL_ATOM }, X86_CACHE(LL, WRITE, ACCESS), 0x04b7,
		  0x400000000000000a },
		{ { NOVA_LAKE, 1, INTEL_ATOM }, X86_CACHE(LL, WRITE, MISS), 0x08b7,
		  0xff03f00000000a },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		const struct cpu_id *id = &table[i].id;
		struct perf_event *event = start_on(test, id->family, id->model, id->core_type);
		s64 counters;

		event->attr.type = PERF_TYPE_HW_CACHE;
		counters = uarch_counters(test, event, table[i].generic);
		if (table[i].code < 0) {
			KUNIT_EXPECT_EQ_MSG(test, counters, table[i].code, "row %u", i);
		} else {
			KUNIT_EXPECT_GT_MSG(test, counters, 0, "row %u", i);
			KUNIT_EXPECT_EQ_MSG(test, event->hw.config_base &
					    (EVNTSEL_EVENT | EVNTSEL_UMASK), table[i].code,
					    "row %u", i);
			KUNIT_EXPECT_EQ_MSG(test, event->hw.flags & COREPMU_EVENT_EXTRA_REG ?
					    event->hw.extra_reg.config : 0, table[i].value,
					    "row %u", i);
		}
	}
}

static struct perf_event *open_omr(struct kunit *test, u64 config, u64 value)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .config = config, .config1 = value,
	};
	struct perf_event *event = fixture_alloc(test->priv, &attr);

	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	return event;
}

/* Return the event code in the select register of the event's counter. */
static u16 selected_event(const struct perf_event *event)
{
	return model_state()->select[event->hw.idx];
}

/*
 * As intel_alt_er() and intel_fixup_er(): an event moves to a free register and keeps its meaning.
 */
static void nova_registers_are_shared(struct kunit *test)
{
	static const u16 codes[] = { 0x012a, 0x01d6, 0x014f, 0x012a, 0x08d6, 0x022a };
	static const u64 values[] = { 1, 2, 4, 8, 2, 16 };
	/* The fifth event has the second's value; no register is left for the sixth. */
	static const u16 placed[] = { 0x012a, 0x02d6, 0x044f, 0x082a, 0x02d6 };
	struct perf_event *events[ARRAY_SIZE(codes)];

	start_on(test, DIAMOND_RAPIDS, 0x01, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(codes); i++)
		events[i] = open_omr(test, codes[i], values[i]);
	/* These events use counters 0 to 3: four at a time. */
	for (unsigned int i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, fixture_add(events[i], PERF_EF_START), 0);
		KUNIT_EXPECT_EQ_MSG(test, selected_event(events[i]), placed[i], "event %u", i);
		KUNIT_EXPECT_EQ_MSG(test, model_state()->extra_regs[OMR + i], values[i],
				    "event %u", i);
	}
	KUNIT_EXPECT_EQ(test, -EAGAIN, fixture_add(events[5], PERF_EF_START));
	fixture_del(events[0]);
	KUNIT_EXPECT_EQ(test, fixture_add(events[4], PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, selected_event(events[4]), placed[4]);
	/* Register 0 is free, and deleting the third event frees a counter. */
	fixture_del(events[2]);
	KUNIT_EXPECT_EQ(test, fixture_add(events[5], PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, selected_event(events[5]), 0x012a);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[OMR], 16);
}

/* On atoms each register belongs to one counter: the event code stays. */
static void nova_atoms_keep_their_register(struct kunit *test)
{
	struct perf_event *first, *other, *second;

	start_on(test, NOVA_LAKE, 0x01, INTEL_ATOM);
	first = open_omr(test, 0x01b7, 1);
	other = open_omr(test, 0x01b7, 2);
	second = open_omr(test, 0x02b7, 2);
	KUNIT_EXPECT_EQ(test, fixture_add(first, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, -EAGAIN, fixture_add(other, PERF_EF_START));
	KUNIT_EXPECT_EQ(test, fixture_add(second, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, first->hw.idx, 0);
	KUNIT_EXPECT_EQ(test, second->hw.idx, 1);
	KUNIT_EXPECT_EQ(test, selected_event(second), 0x02b7);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[OMR], 1);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[OMR + 1], 2);
	fixture_del(first);
	KUNIT_EXPECT_EQ(test, fixture_add(other, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, selected_event(other), 0x01b7);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[OMR], 2);
}

/* intel-family.h: only IFM(18, 1), IFM(18, 3) and IFM(19, 1); names of intel_pmu_init() */
static void nova_models(struct kunit *test)
{
	static const struct {
		struct cpu_id	id;
		const char	*uarch;
		const char	*name;
	} table[] = {
		{ { NOVA_LAKE, 0x01, INTEL_CORE }, "coyote_cove", "novalake_hybrid" },
		{ { NOVA_LAKE, 0x03, INTEL_CORE }, "coyote_cove", "novalake_hybrid" },
		{ { NOVA_LAKE, 0x01, INTEL_ATOM }, "arctic_wolf", "novalake_hybrid" },
		{ { NOVA_LAKE, 0x03, INTEL_ATOM }, "arctic_wolf", "novalake_hybrid" },
		{ { DIAMOND_RAPIDS, 0x01, 0 }, "panther_cove", "panthercove" },
		{ { NOVA_LAKE, 0x01, 0 } }, { { NOVA_LAKE, 0x00, INTEL_CORE } },
		{ { NOVA_LAKE, 0x02, INTEL_CORE } }, { { NOVA_LAKE, 0x04, INTEL_ATOM } },
		{ { DIAMOND_RAPIDS, 0x00, 0 } }, { { DIAMOND_RAPIDS, 0x02, 0 } },
		{ { DIAMOND_RAPIDS, 0x03, 0 } }, { { 17, 0x01, 0 } }, { { 20, 0x01, 0 } },
		/* Models that exist in another family only */
		{ { FAMILY_P6, 0x01, 0 } }, { { FAMILY_P6, 0x01, INTEL_CORE } },
		{ { FAMILY_P6, 0x03, INTEL_ATOM } }, { { NOVA_LAKE, 0xc6, INTEL_CORE } },
		{ { NOVA_LAKE, 0x97, 0 } }, { { DIAMOND_RAPIDS, 0x8f, 0 } },
		{ { DIAMOND_RAPIDS, 0xad, 0 } },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		const struct cpu_id *id = &table[i].id;
		struct perf_event *event = start_on(test, id->family, id->model, id->core_type);
		struct fixture *b = test->priv;
		const struct intel_uarch *uarch = this_uarch(test);
		bool hybrid = id->family == NOVA_LAKE && (id->model == 0x01 || id->model == 0x03);

		KUNIT_EXPECT_STREQ(test, uarch ? uarch->name : "(none)",
				   table[i].uarch ?: "(none)");
		KUNIT_EXPECT_STREQ(test, x86_kernel_name(to_x86(b->pmu)) ?: "(none)",
				   table[i].name ?: "(none)");
		KUNIT_EXPECT_EQ(test, intel_model_is_hybrid(), hybrid);
		/* On unknown models, only architectural events are accepted. */
		if (!uarch && id->family != FAMILY_P6)
			KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x0148), -EOPNOTSUPP);
		KUNIT_EXPECT_EQ(test, uarch_counters(test, event, 0x00c5), GP(8));
	}
}

static struct kunit_case nova_cases[] = {
	KUNIT_CASE(nova_has_the_kernels_constraints),
	KUNIT_CASE(nova_fixed_counters),
	KUNIT_CASE(nova_has_the_kernels_registers),
	KUNIT_CASE(nova_refuses),
	KUNIT_CASE(nova_generic_events),
	KUNIT_CASE(nova_registers_are_shared),
	KUNIT_CASE(nova_atoms_keep_their_register),
	KUNIT_CASE(nova_models),
	{}
};

OWN_TESTBED_SUITE(nova, "corepmu_x86_nova");
