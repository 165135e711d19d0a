// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decode the selector of a general-purpose counter, and check that the counter can count the event.
 */
#include "x86/registers/maker.h"
#include "x86/uarch/uarch.h"

/*
 * AMD PPR, "Large Increment per Cycle Events": a single counter counts up to 15 per cycle. Larger
 * increments need two adjacent counters. The second has an odd number and is enabled with event
 * 0xfff (merge); it then holds bits 48 to 63 of the count.
 */
#define ALONE_MAX	15
#define EVENT_MERGE	0xfff

/* The only second unit mask that the model's events use (Intel) */
#define UMASK2_KNOWN	(UINT64_C(1) << 40)

static bool gp_enabled(const struct x86_pmu *pmu, unsigned int i)
{
	return (pmu->counter[i].select & X86_PMU_SEL_EN) &&
	       (!x86_pmu_version(pmu->config)->global || pmu->global_ctrl >> i & 1);
}

/* Return a counter's selector without the bits of Intel's that do not encode the event. */
static uint64_t select_of(const struct x86_pmu *pmu, unsigned int i)
{
	uint64_t select = pmu->counter[i].select;

	return x86_pmu_is_amd(pmu->config) ? select :
	       select & ~(X86_PMU_SEL_ADAPTIVE | X86_PMU_SEL_LBR_LOG);
}

/* Check that the event of a counter's selector is permitted on the counter. */
static bool is_well_placed(const struct x86_pmu *pmu, unsigned int i)
{
	const struct x86_uarch *uarch = pmu->config->uarch;
	uint64_t select = select_of(pmu, i);

	return !uarch || (x86_uarch_counters(uarch, x86_pmu_event_code(select),
					     x86_pmu_event_umask(select)) >> i & 1);
}

/**
 * x86_pmu_is_denied() - check whether the (simulated) hypervisor keeps a counter from counting
 * @pmu: the PMU
 * @i: the counter, its index in struct x86_pmu
 *
 * Return: true if the configuration denies the counter or its event.
 */
bool x86_pmu_is_denied(const struct x86_pmu *pmu, unsigned int i)
{
	const struct x86_pmu_config *config = pmu->config;

	if (config->denied >> x86_pmu_global_bit(i) & 1)
		return true;
	for (unsigned int n = 0; i < X86_PMU_GP_MAX && n < config->nr_denied_events; n++)
		if ((select_of(pmu, i) & X86_PMU_SEL_NAME) == config->denied_events[n])
			return true;
	return false;
}

/* Set @event to the event of a counter's selector; return false if the counter counts nothing. */
static bool selected_event(const struct x86_pmu *pmu, unsigned int i, struct x86_pmu_event *event)
{
	const struct x86_pmu_maker *maker = x86_pmu_maker(pmu->config);
	const struct x86_uarch *uarch = pmu->config->uarch;
	uint64_t select = select_of(pmu, i);
	bool counts;

	if (!x86_pmu_is_amd(pmu->config) && select & X86_PMU_SEL_UMASK2)
		return (select & X86_PMU_SEL_UMASK2) == UMASK2_KNOWN &&
		       x86_pmu_event_select(maker->umask2_events, maker->nr_umask2_events, select,
					    event);
	if (!is_well_placed(pmu, i)) {
		*event = (struct x86_pmu_event) { X86_PMU_CYCLES, X86_PMU_NOTHING, 1, 1 };
		return pmu->config->misplaced;
	}
	if (x86_extra_reg_event(pmu, select, &counts, event))
		return counts;
	if (uarch && (x86_pmu_event_select(uarch->events, uarch->nr_events, select, event) ||
		      x86_pmu_event_select(uarch->common, uarch->nr_common, select, event)))
		return true;
	return x86_pmu_event_select(maker->events, maker->nr_events, select, event);
}

/* Check whether the next counter holds the upper bits of this one. */
static bool is_merged(const struct x86_pmu *pmu, unsigned int i)
{
	const struct x86_uarch *uarch = pmu->config->uarch;

	return uarch && uarch->merges && i % 2 == 0 && i + 1 < pmu->config->gp &&
	       gp_enabled(pmu, i + 1) &&
	       x86_pmu_event_code(pmu->counter[i + 1].select) == EVENT_MERGE;
}

/*
 * Return the rings that a selector counts. AMD APM, volume 2, "Host/Guest Only Bits": with one of
 * the bits or both, the counter counts only while EFER.SVME is 1.
 */
static unsigned int selected_rings(const struct x86_pmu *pmu, uint64_t select)
{
	unsigned int rings = x86_pmu_rings(pmu, select & X86_PMU_SEL_USR, select & X86_PMU_SEL_OS);
	unsigned int host = X86_PMU_HOST_RINGS;

	if (!x86_pmu_is_amd(pmu->config) || !(select & X86_PMU_SEL_HG_ONLY))
		return rings;
	if (!pmu->svme)
		return 0;
	if (pmu->config->blind_to_guests)
		host = X86_PMU_ALL_RINGS;
	if (!(select & X86_PMU_SEL_GUEST_ONLY))
		return rings & host;
	return select & X86_PMU_SEL_HOST_ONLY ? rings : rings & ~host;
}

/* Report an event that is not counted, once each time that the guest enables a counter with it. */
static void report_unknown(struct x86_pmu *pmu, unsigned int i, bool counts)
{
	const uint64_t name = x86_pmu_is_amd(pmu->config) ? X86_PMU_SEL_NAME :
			      X86_PMU_SEL_NAME | X86_PMU_SEL_UMASK2;
	struct x86_pmu_counter *c = &pmu->counter[i];
	uint64_t select = select_of(pmu, i), unknown = 0;
	bool merge = pmu->config->uarch && pmu->config->uarch->merges &&
		     x86_pmu_event_code(select) == EVENT_MERGE;

	if (gp_enabled(pmu, i) && !counts && !merge)
		unknown = select;
	if (unknown && unknown != c->unknown && pmu->ops->unknown)
		pmu->ops->unknown(pmu, unknown & name);
	c->unknown = unknown;
}

/**
 * x86_pmu_activate_gp() - set the event and the rings of a general-purpose counter
 * @pmu: the PMU
 * @i: the counter, its index in struct x86_pmu
 */
void x86_pmu_activate_gp(struct x86_pmu *pmu, unsigned int i)
{
	struct x86_pmu_counter *c = &pmu->counter[i];
	bool counts = gp_enabled(pmu, i) && selected_event(pmu, i, &c->event);

	c->merged = is_merged(pmu, i);
	c->active = counts;
	report_unknown(pmu, i, counts);
	if (x86_pmu_is_amd(pmu->config) && !c->merged && c->event.times > ALONE_MAX)
		c->event.times = ALONE_MAX;
	c->rings = selected_rings(pmu, c->select);
	c->interrupts = c->select & X86_PMU_SEL_INT;
}
