// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of events with an extra register
 */
#include <kunit/test.h>

#include <linux/perf_event.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "x86/intel/intel.h"
#include "x86/msr.h"
#include "x86/x86.h"
#include "uarch.h"

/* Without OMR, which only Nova Lake and Diamond Rapids have */
#define SNOOP		7
#define ALL_EXTRA_REGS	(GENMASK(2, 0) | BIT(SNOOP) | BIT(SNOOP + 1))

static const struct x86_model_cpu plain = {
	.name = "plain", .family = 6, .version = 4, .nr_gp = 8, .gp_width = 48, .nr_fixed = 3,
	.fixed_width = 48, .full_width = true, .nr_events = 7, .extra_regs = ALL_EXTRA_REGS,
};

static struct perf_event *start_on(struct kunit *test, unsigned int model, unsigned int core_type,
				   unsigned int extra_regs)
{
	struct x86_model_cpu cpu = plain;

	cpu.model = model;
	cpu.core_type = core_type;
	cpu.extra_regs = extra_regs;

	return uarch_start(test, &cpu);
}

static struct x86_model *model_state(void)
{
	return this_cpu_ptr(&x86_model_state);
}

/*
 * Valid bits in the kernel: struct extra_reg, arch/x86/events/intel/core.c; the driver's come from
 * the manual.
 */
static const struct {
	u8	model;
	u8	core_type;
	u16	code;
	u64	bits;
} extra_regs[] = {
	{ 0x1e, 0, 0x01b7, 0xffff }, { 0x2c, 0, 0x01b7, 0xffff }, { 0x2c, 0, 0x01bb, 0xffff },
	{ 0x2a, 0, 0x01b7, 0x3f807f8fff }, { 0x2a, 0, 0x01bb, 0x3f807f8fff },
	{ 0x3a, 0, 0x01b7, 0x3f807f8fff }, { 0x2d, 0, 0x01b7, 0x3fffff8fff },
	{ 0x3e, 0, 0x01bb, 0x3fffff8fff }, { 0x3c, 0, 0x01b7, 0x3fffff8fff },
	{ 0x4f, 0, 0x01bb, 0x3fffff8fff }, { 0x5e, 0, 0x01b7, 0x3fffff8fff },
	{ 0x55, 0, 0x01bb, 0x3fffff8fff }, { 0x55, 0, 0x01c6, 0x7fff17 },
	{ 0x6a, 0, 0x01b7, 0x3fffffbfff }, { 0x6a, 0, 0x01bb, 0x3fffffbfff },
	{ 0x7e, 0, 0x01c6, 0x7fff17 },
	{ 0x8f, 0, 0x012a, 0x3fffffffff }, { 0x8f, 0, 0x012b, 0x3fffffffff },
	{ 0x8f, 0, 0x01c6, 0x7fff1f }, { 0x8f, 0, 0x40ad, 0x7 }, { 0x8f, 0, 0x04c2, 0x8 },
	{ 0xad, 0, 0x012a, 0x3fffffffff }, { 0xad, 0, 0x02c6, 0x9 },
	{ 0xad, 0, 0x03c6, 0x7fff1f }, { 0xad, 0, 0x40ad, 0x7 }, { 0xad, 0, 0x04c2, 0x8 },
	{ 0xbd, INTEL_CORE, 0x012a, 0xfffffffffff }, { 0xbd, INTEL_CORE, 0x012b, 0xfffffffffff },
	{ 0xbd, INTEL_CORE, 0x03c6, 0x7fff1f }, { 0xbd, INTEL_CORE, 0x40ad, 0xf },
	{ 0x37, 0, 0x01b7, 0x768005ffff }, { 0x37, 0, 0x02b7, 0x368005ffff },
	{ 0x57, 0, 0x01b7, 0x799ffbb6e7 }, { 0x57, 0, 0x02b7, 0x399ffbffe7 },
	{ 0x5c, 0, 0x01b7, 0x760005ffbf }, { 0x7a, 0, 0x02b7, 0x360005ffbf },
	{ 0x86, 0, 0x01b7, 0x800ff0ffffff9fff }, { 0x86, 0, 0x02b7, 0xff0ffffff9fff },
	{ 0x97, INTEL_ATOM, 0x01b7, 0x8003f03fffffffff },
	{ 0x97, INTEL_ATOM, 0x02b7, 0x3f03fffffffff },
	{ 0xaf, 0, 0x01b7, 0x800ff3ffffffffff }, { 0xaf, 0, 0x02b7, 0xff3ffffffffff },
	{ 0xaa, INTEL_ATOM, 0x0127, U64_MAX }, { 0xaf, 0, 0x0127, U64_MAX },
	{ 0xaf, 0, 0x0227, U64_MAX }, { 0xbd, INTEL_ATOM, 0x0127, U64_MAX },
	{ 0xdd, 0, 0x0227, U64_MAX },
};

static void extra_reg_has_the_kernels_bits(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(extra_regs); i++) {
		struct perf_event *event = start_on(test, extra_regs[i].model,
						    extra_regs[i].core_type, ALL_EXTRA_REGS);

		for (unsigned int bit = 0; bit < 64; bit++) {
			event->attr.config1 = BIT_ULL(bit);
			KUNIT_EXPECT_EQ_MSG(test, extra_regs[i].bits & BIT_ULL(bit) ? 0 : -EINVAL,
					    min_t(s64, 0, uarch_counters(test, event,
									 extra_regs[i].code)),
					    "model %#x event %#x bit %u", extra_regs[i].model,
					    extra_regs[i].code, bit);
		}
		KUNIT_EXPECT_TRUE(test, event->hw.flags & COREPMU_EVENT_EXTRA_REG ||
				  !(extra_regs[i].bits >> 63));
	}
}

/*
 * Event codes that need an extra register on one microarchitecture, and none on another, by
 * "MSRIndex" of perf's named events. The driver does not know how to use these extra registers.
 */
static void extra_reg_depends_on_uarch(struct kunit *test)
{
	static const struct {
		u8	model;
		u8	core_type;
		bool	incomplete;
		u16	code;
	} table[] = {
		/* MEM_TRANS_RETIRED.LOAD_LATENCY; the atoms' CYCLES_DIV_BUSY, ARITH.IDIV_ACTIVE */
		{ 0x2a, 0, true, 0x01cd }, { 0x3a, 0, true, 0x01cd }, { 0x3c, 0, true, 0x01cd },
		{ 0x3d, 0, true, 0x01cd }, { 0x5e, 0, true, 0x01cd }, { 0x6a, 0, true, 0x01cd },
		{ 0x8f, 0, true, 0x01cd }, { 0xad, 0, true, 0x01cd },
		{ 0xbd, INTEL_CORE, true, 0x01cd },
		{ 0x37, 0, false, 0x01cd }, { 0x57, 0, false, 0x01cd }, { 0x5c, 0, false, 0x01cd },
		{ 0x7a, 0, false, 0x01cd }, { 0x86, 0, false, 0x01cd },
		{ 0x97, INTEL_ATOM, false, 0x01cd }, { 0xaf, 0, false, 0x01cd },
		{ 0xbd, INTEL_ATOM, false, 0x01cd },
		{ 0x1e, 0, true, 0x100b }, { 0x2c, 0, true, 0x100b },
		{ 0x97, INTEL_ATOM, true, 0x05d0 }, { 0xaf, 0, true, 0x05d0 },
		{ 0xbd, INTEL_ATOM, true, 0x05d0 },
		/* OCR; L2_WRITE.RFO, L2_STORE_LOCK_RQSTS.MISS, CORE_SNOOP_RESPONSE */
		{ 0xaf, 0, false, 0x0127 }, { 0xaf, 0, false, 0x0227 },
		{ 0x97, INTEL_ATOM, false, 0x0127 }, { 0x97, INTEL_ATOM, false, 0x0227 },
		{ 0x1e, 0, false, 0x0127 }, { 0x2c, 0, false, 0x0227 }, { 0x2a, 0, false, 0x0127 },
		{ 0x3a, 0, false, 0x0127 }, { 0x8f, 0, false, 0x0127 }, { 0x8f, 0, false, 0x0227 },
		/* The atoms' FRONTEND_RETIRED, CYCLES_INT_MASKED, UOPS_RETIRED.MS; MACRO_FUSED */
		{ 0xaf, 0, false, 0x01c6 }, { 0xaf, 0, false, 0x02c6 },
		{ 0xbd, INTEL_ATOM, false, 0x01c6 }, { 0xbd, INTEL_ATOM, false, 0x02c6 },
		{ 0x1c, 0, false, 0x01c6 }, { 0x1c, 0, false, 0x02c6 },
		{ 0xbd, INTEL_ATOM, false, 0x04c2 }, { 0x5e, 0, false, 0x04c2 },
		/* OFFCORE_RESPONSE_1; EXE.AMX_BUSY, whether the CPU has AMX or not */
		{ 0x5e, 0, true, 0x02b7 }, { 0x8f, 0, false, 0x02b7 },
		/* An unknown model may have any extra register. */
		{ 0xff, 0, true, 0x0127 }, { 0xff, 0, true, 0x100b }, { 0xff, 0, true, 0x01cd },
		{ 0xff, 0, true, 0x05d0 }, { 0xff, 0, true, 0x02c6 },
	};
	struct x86_model_cpu cpu = plain;

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event *event;

		cpu.model = table[i].model;
		cpu.core_type = table[i].core_type;
		/* Also for AVX-VNNI, which both CPU types of a hybrid machine have */
		cpu.amx = cpu.core_type;
		event = uarch_start(test, &cpu);
		KUNIT_EXPECT_EQ_MSG(test, table[i].incomplete ? -EOPNOTSUPP : 0,
				    min_t(s64, 0, uarch_counters(test, event, table[i].code)),
				    "model %#x event %#x", table[i].model, table[i].code);
	}
}

/*
 * Both codes of an event have the same counters: the driver may replace one code by the other. The
 * atoms' codes differ in the unit mask; perf's named events have one of them, and the kernel has no
 * constraint. On Westmere the counters differ: the driver does not replace the code.
 */
static void extra_reg_has_the_same_counters(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(extra_regs); i++) {
		const struct intel_uarch *uarch;
		u16 code = extra_regs[i].code;
		struct fixture *b;

		if ((code != 0x01bb && code != 0x012b) || extra_regs[i].model == 0x2c)
			continue;
		start_on(test, extra_regs[i].model, extra_regs[i].core_type, ALL_EXTRA_REGS);
		b = test->priv;
		uarch = to_x86(b->pmu)->uarch;
		KUNIT_EXPECT_EQ(test, intel_general_counters(uarch, code),
				intel_general_counters(uarch, code == 0x01bb ? 0x01b7 : 0x012a));
	}
}

/*
 * Events of snoop responses with different values take turns: the built-in driver does not move
 * them to the other register either.
 */
static void extra_reg_keeps_snoop_responses(struct kunit *test)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_RAW, .config = 0x0127, .config1 = 0x1 };
	struct perf_event *first, *second, *other;
	struct fixture *b;

	start_on(test, 0xaf, 0, ALL_EXTRA_REGS);
	b = test->priv;
	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &first), 0);
	attr.config1 = BIT_ULL(63);
	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &second), 0);
	attr.config = 0x0227;
	KUNIT_ASSERT_EQ(test, fixture_open(b, &attr, &other), 0);
	KUNIT_EXPECT_EQ(test, fixture_add(first, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, fixture_add(second, PERF_EF_START), -EAGAIN);
	KUNIT_EXPECT_EQ(test, fixture_add(other, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[SNOOP], 0x1);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[SNOOP + 1], BIT_ULL(63));
	fixture_del(first);
	KUNIT_EXPECT_EQ(test, fixture_add(second, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[SNOOP], BIT_ULL(63));
}

static void extra_reg_may_be_missing(struct kunit *test)
{
	struct perf_event *event = start_on(test, 0x5e, 0, 0);

	event->attr.config1 = 0x10001;
	KUNIT_EXPECT_EQ(test, -ENXIO, uarch_counters(test, event, 0x01b7));
	/* As in the built-in driver, the value is checked first. */
	event->attr.config1 = BIT_ULL(63);
	KUNIT_EXPECT_EQ(test, -EINVAL, uarch_counters(test, event, 0x01b7));
	event->attr.config1 = 0;
	KUNIT_EXPECT_EQ(test, -ENXIO, uarch_counters(test, event, 0x01c6));
	event->attr.type = PERF_TYPE_HW_CACHE;
	KUNIT_EXPECT_EQ(test, -ENOENT, uarch_counters(test, event, PERF_COUNT_HW_CACHE_LL));

	/* Only one of the two registers exists. */
	event = start_on(test, 0x5e, 0, BIT(1));
	event->attr.config1 = 0x10001;
	KUNIT_EXPECT_EQ(test, -ENXIO, uarch_counters(test, event, 0x01b7));
	KUNIT_EXPECT_GT(test, uarch_counters(test, event, 0x01bb), 0);

	/*
	 * config1 is rejected for an event without an extra register. On a CPU without the
	 * register, the event itself is rejected.
	 */
	event = start_on(test, 0x5e, 0, ALL_EXTRA_REGS);
	event->attr.config1 = 0x10001;
	KUNIT_EXPECT_EQ(test, -EINVAL, uarch_counters(test, event, 0x00c4));
	event = start_on(test, 0xff, 0, ALL_EXTRA_REGS);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, uarch_counters(test, event, 0x01b7));
}

static struct perf_event *open_extra_reg(struct kunit *test, u64 config, u64 value)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .config = config, .config1 = value,
	};
	struct perf_event *event = fixture_alloc(test->priv, &attr);

	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	return event;
}

/*
 * A child of an open event is accepted, though another CPU shares the register meanwhile: fork(2)
 * must not fail. Like its parent, the child waits.
 */
static void expect_child_waits(struct kunit *test, struct perf_event *event)
{
	struct perf_event *child = fixture_alloc(test->priv, &event->attr);

	child->parent = event;
	KUNIT_EXPECT_EQ(test, fixture_init_event(child), 0);
	child->parent = NULL;
	KUNIT_EXPECT_EQ(test, -EAGAIN, fixture_add(child, PERF_EF_START));
	fixture_close(child);
}

/* On Nehalem and Westmere both threads of a core share the registers. */
static void extra_reg_shared_by_threads(struct kunit *test)
{
	struct perf_event *other, *event = start_on(test, 0x2c, 0, ALL_EXTRA_REGS);
	struct fixture *b;

	event->attr.config = 0x01b7;
	event->attr.config1 = 0x0101;
	KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
	x86_model_threads = true;
	KUNIT_EXPECT_EQ(test, -EAGAIN, fixture_add(event, PERF_EF_START));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, uarch_counters(test, event, 0x01b7));
	expect_child_waits(test, event);
	x86_model_threads = false;
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[0], 0x0101);
	other = open_extra_reg(test, 0x01b7, 0x0102);
	KUNIT_EXPECT_EQ(test, -EAGAIN, fixture_add(other, PERF_EF_START));
	fixture_close(other);
	fixture_remove(event);

	event = start_on(test, 0x5e, 0, ALL_EXTRA_REGS);
	b = test->priv;
	KUNIT_EXPECT_GT(test, uarch_counters(test, event, 0x01b7), 0);
	x86_model_threads = true;
	KUNIT_EXPECT_EQ(test, x86_extra_reg_choose(b->pmu, b->cpuc->extra_regs, event), 0);
	x86_model_threads = false;
}

/* On Silvermont both cores of a module share the registers; on Goldmont each core has its own. */
static void extra_reg_shared_by_cores(struct kunit *test)
{
	static const u8 models[] = { 0x37, 0x4c, 0x75 };
	struct perf_event *event;

	for (unsigned int i = 0; i < ARRAY_SIZE(models); i++) {
		event = start_on(test, models[i], 0, ALL_EXTRA_REGS);
		event->attr.config = 0x01b7;
		event->attr.config1 = 0x10001;
		KUNIT_ASSERT_EQ(test, fixture_init_event(event), 0);
		x86_model_cores = true;
		KUNIT_EXPECT_EQ(test, -EAGAIN, fixture_add(event, PERF_EF_START));
		KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, uarch_counters(test, event, 0x01b7));
		KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, uarch_counters(test, event, 0x02b7));
		x86_model_cores = false;
		KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
		KUNIT_EXPECT_EQ(test, model_state()->extra_regs[0], 0x10001);
		fixture_remove(event);
	}

	event = start_on(test, 0x5c, 0, ALL_EXTRA_REGS);
	x86_model_cores = true;
	KUNIT_EXPECT_GT(test, uarch_counters(test, event, 0x01b7), 0);
}

/* Return the event code in the select register of the event's counter. */
static u16 selected_event(const struct perf_event *event)
{
	return model_state()->select[event->hw.idx];
}

static void extra_reg_shared_by_events(struct kunit *test)
{
	struct perf_event *first, *same, *another, *third, *front, *other;
	struct fixture *b;

	start_on(test, 0x5e, 0, ALL_EXTRA_REGS);
	b = test->priv;
	first = open_extra_reg(test, 0x01b7, 0x10001);
	same = open_extra_reg(test, 0x01b7, 0x10001);
	another = open_extra_reg(test, 0x01b7, 0x10002);
	third = open_extra_reg(test, 0x01bb, 0x18000);
	front = open_extra_reg(test, 0x01c6, 0x11);
	other = open_extra_reg(test, 0x01c6, 0x12);

	KUNIT_EXPECT_EQ(test, fixture_add(first, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[0], 0x10001);
	KUNIT_EXPECT_EQ(test, fixture_add(same, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, fixture_add(another, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[1], 0x10002);
	KUNIT_EXPECT_EQ(test, selected_event(first), 0x01b7);
	KUNIT_EXPECT_EQ(test, selected_event(same), 0x01b7);
	KUNIT_EXPECT_EQ(test, selected_event(another), 0x01bb);
	KUNIT_EXPECT_EQ(test, -EAGAIN, fixture_add(third, PERF_EF_START));
	KUNIT_EXPECT_EQ(test, fixture_add(front, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[2], 0x11);
	KUNIT_EXPECT_EQ(test, -EAGAIN, fixture_add(other, PERF_EF_START));

	/* One of two events with this value is deleted: the register keeps the value. */
	fixture_del(first);
	KUNIT_EXPECT_EQ(test, -EAGAIN, fixture_add(third, PERF_EF_START));
	/* Both are deleted: the third event gets the register, with that register's event code. */
	fixture_del(same);
	KUNIT_EXPECT_EQ(test, fixture_add(third, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[0], 0x18000);
	KUNIT_EXPECT_EQ(test, selected_event(third), 0x01b7);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[1], 0x10002);

	/* reset() restores a register that has lost its value, as in suspend. */
	model_state()->extra_regs[0] = 0;
	b->pmu->backend->reset(b->cpuc);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[0], 0x18000);

	fixture_del(third);
	fixture_del(front);
	KUNIT_EXPECT_EQ(test, fixture_add(other, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[2], 0x12);
	fixture_del(other);
	fixture_del(another);
	/* Without events, reset() leaves the registers alone. */
	model_state()->extra_regs[1] = 0xabc;
	b->pmu->backend->reset(b->cpuc);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[1], 0xabc);
}

/*
 * Another agent writes the registers: adding an event writes its value again, even while another
 * event uses the same register.
 */
static void extra_reg_after_an_agent(struct kunit *test)
{
	struct perf_event *permanent, *event, *front;
	struct fixture *b;

	start_on(test, 0x5e, 0, ALL_EXTRA_REGS);
	b = test->priv;
	permanent = open_extra_reg(test, 0x01b7, 0x10001);
	event = open_extra_reg(test, 0x01b7, 0x10001);
	front = open_extra_reg(test, 0x01c6, 0x11);

	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, fixture_add(front, PERF_EF_START), 0);
	fixture_del(event);
	fixture_del(front);
	model_state()->extra_regs[0] = 0;
	model_state()->extra_regs[2] = 0;
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, fixture_add(front, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[0], 0x10001);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[2], 0x11);
	fixture_del(event);

	KUNIT_EXPECT_EQ(test, fixture_add(permanent, PERF_EF_START), 0);
	model_state()->extra_regs[0] = 0;
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	KUNIT_EXPECT_EQ(test, model_state()->extra_regs[0], 0x10001);
}

/* Values of skl_, hsw_, snb_, glc_ and tnt_hw_cache_extra_regs[] */
static void extra_reg_counts_generic_events(struct kunit *test)
{
	static const struct {
		u8	model;
		u8	core_type;
		u32	generic;
		u64	value;
	} table[] = {
		{ 0x5e, 0, X86_CACHE(LL, READ, ACCESS), 0x3fc0010001 },
		{ 0x55, 0, X86_CACHE(LL, READ, MISS), 0x3ffc020001 },
		{ 0x7e, 0, X86_CACHE(LL, WRITE, ACCESS), 0x3fc0010002 },
		{ 0x6a, 0, X86_CACHE(LL, WRITE, ACCESS), 0x3f3ffc0002 },
		{ 0x7e, 0, X86_CACHE(LL, WRITE, MISS), 0x3ffc020002 },
		{ 0x6a, 0, X86_CACHE(LL, WRITE, MISS), 0x3f3fc00002 },
		{ 0x6c, 0, X86_CACHE(NODE, WRITE, ACCESS), 0x104000002 },
		{ 0x5e, 0, X86_CACHE(NODE, READ, ACCESS), 0x1fc4000001 },
		{ 0x5e, 0, X86_CACHE(NODE, WRITE, MISS), 0x1ff8000002 },
		{ 0x3c, 0, X86_CACHE(LL, READ, ACCESS), 0x10001 },
		{ 0x3c, 0, X86_CACHE(LL, READ, MISS), 0x3fb8400001 },
		{ 0x3c, 0, X86_CACHE(NODE, WRITE, ACCESS), 0x1f80400002 },
		{ 0x4f, 0, X86_CACHE(LL, READ, MISS), 0x1fbc000001 },
		{ 0x4f, 0, X86_CACHE(NODE, READ, ACCESS), 0x1f84000001 },
		{ 0x4f, 0, X86_CACHE(NODE, READ, MISS), 0x1fb8000001 },
		{ 0x2d, 0, X86_CACHE(LL, READ, ACCESS), 0x10081 },
		{ 0x2d, 0, X86_CACHE(LL, PREFETCH, MISS), 0x3fffc00030 },
		{ 0x2d, 0, X86_CACHE(NODE, WRITE, MISS), 0x1fff800102 },
		/* Client CPUs have no remote memory. */
		{ 0x2a, 0, X86_CACHE(LL, READ, MISS), 0x3f80400081 },
		{ 0x8f, 0, X86_CACHE(LL, READ, MISS), 0x3fbfc00001 },
		{ 0x8f, 0, X86_CACHE(LL, WRITE, ACCESS), 0x3f3ffc0002 },
		{ 0x8f, 0, X86_CACHE(NODE, READ, ACCESS), 0x104000001 },
		{ 0xad, 0, X86_CACHE(NODE, READ, MISS), 0x730000001 },
		{ 0x97, INTEL_CORE, X86_CACHE(LL, WRITE, ACCESS), 0x10002 },
		{ 0xaa, INTEL_CORE, X86_CACHE(LL, WRITE, MISS), 0x3fbfc00002 },
		{ 0xbd, INTEL_CORE, X86_CACHE(LL, READ, MISS), 0x9e7fa000001 },
		{ 0xbd, INTEL_ATOM, X86_CACHE(LL, WRITE, MISS), 0x13fbfc00002 },
		{ 0xcc, INTEL_CORE, X86_CACHE(LL, WRITE, MISS), 0x9e7fa000002 },
		{ 0xc5, INTEL_CORE, X86_CACHE(LL, READ, MISS), 0xfe7f8000001 },
		{ 0xc6, INTEL_CORE, X86_CACHE(LL, WRITE, MISS), 0xfe7f8000002 },
		{ 0xc6, INTEL_CORE, X86_CACHE(LL, READ, ACCESS), 0x10001 },
		{ 0xc6, INTEL_ATOM, X86_CACHE(LL, READ, MISS), 0x13fbfc00001 },
		{ 0xdd, 0, X86_CACHE(LL, WRITE, MISS), 0x33fbfc00002 },
		{ 0xaf, 0, X86_CACHE(LL, READ, MISS), 0x3fbfc00001 },
		{ 0x97, INTEL_ATOM, X86_CACHE(LL, READ, MISS), 0x3f84400001 },
		{ 0x86, 0, X86_CACHE(LL, READ, MISS), 0x3f04000001 },
		{ 0x97, INTEL_ATOM, X86_CACHE(LL, WRITE, ACCESS), 0x10002 },
		{ 0x5c, 0, X86_CACHE(LL, PREFETCH, MISS), 0x3600000030 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct perf_event *event = start_on(test, table[i].model, table[i].core_type,
						    ALL_EXTRA_REGS);
		struct fixture *b = test->priv;
		u64 code;

		event->attr.type = PERF_TYPE_HW_CACHE;
		/* The driver ignores config1: config alone names a generic event. */
		event->attr.config1 = ~0ULL;
		KUNIT_EXPECT_GT_MSG(test, uarch_counters(test, event, table[i].generic), 0,
				    "model %#x", table[i].model);
		KUNIT_EXPECT_EQ_MSG(test, event->hw.extra_reg.config, table[i].value,
				    "model %#x generic %#x", table[i].model, table[i].generic);
		code = event->hw.config_base & (EVNTSEL_EVENT | EVNTSEL_UMASK);
		KUNIT_EXPECT_TRUE(test, intel_event_needs_extra_reg(to_x86(b->pmu), code));
	}
}

static struct kunit_case extra_regs_cases[] = {
	KUNIT_CASE(extra_reg_has_the_kernels_bits),
	KUNIT_CASE(extra_reg_depends_on_uarch),
	KUNIT_CASE(extra_reg_has_the_same_counters),
	KUNIT_CASE(extra_reg_keeps_snoop_responses),
	KUNIT_CASE(extra_reg_may_be_missing),
	KUNIT_CASE(extra_reg_shared_by_threads),
	KUNIT_CASE(extra_reg_shared_by_cores),
	KUNIT_CASE(extra_reg_shared_by_events),
	KUNIT_CASE(extra_reg_after_an_agent),
	KUNIT_CASE(extra_reg_counts_generic_events),
	{}
};

OWN_TESTBED_SUITE(extra_regs, "corepmu_x86_extra_regs");
