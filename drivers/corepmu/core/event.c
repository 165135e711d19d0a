// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: opening events: check whether an event belongs to this PMU and can be placed
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include <corepmu/assign.h>
#include <corepmu/counter.h>
#include <corepmu/features.h>
#include <corepmu/module.h>
#include <corepmu/overflow.h>
#include <corepmu/pmu.h>
#include <corepmu/rdpmc.h>

/*
 * Return the errno for a rejected event: @err, but -ENOENT for a generic event in coexist mode.
 *
 * A generic event comes here in two cases. Either user space named this PMU, by the type in
 * attr.config. Or user space named no PMU, and perf core asks one PMU after the other
 * (perf_init_event() in kernel/events/core.c). The driver cannot distinguish the cases, since perf
 * core has removed the type. In the second case any errno but -ENOENT ends the search, before perf
 * core asks the PMU that could count the event.
 */
static int refusal_of_generic(const struct corepmu *pmu, const struct perf_event *event, int err)
{
	return pmu->claims_generic || event->attr.type == pmu->perf_pmu.type ? err : -ENOENT;
}

static int refuse_group_of_others(const struct corepmu *pmu, const struct perf_event *event)
{
	int err = corepmu_refuse(-EINVAL,
				 "the group has an event of another hardware PMU: open that event in a group of its own");

	return refusal_of_generic(pmu, event, err);
}

static int refuse_unplaceable_group(void)
{
	return corepmu_refuse(-EINVAL,
			      "the PMU's counters cannot hold the group at the same time: use fewer events in it");
}

/* Fill in @demand for @other, a member of the group that @event is about to join. */
static void member_demand(struct corepmu *pmu, const struct perf_event *event,
			  struct perf_event *other, struct corepmu_demand *demand)
{
	corepmu_event_demand(pmu, other, demand);
	if (pmu->backend->leaves)
		demand->allowed &= pmu->backend->leaves(event, other);
}

/*
 * Fill in @demands for @event, which is being opened, and for the group members that will count
 * with it. Return the number of demands, at most COREPMU_MAX_DEMANDS, or a negative errno.
 */
static int collect_demands(struct corepmu *pmu, struct perf_event *event,
			   struct corepmu_demand *demands)
{
	struct perf_event *leader = event->group_leader, *sibling;
	int nr = 0;

	corepmu_event_demand(pmu, event, &demands[nr++]);

	if (!is_software_event(leader)) {
		if (leader->pmu != &pmu->perf_pmu)
			return refuse_group_of_others(pmu, event);
		member_demand(pmu, event, leader, &demands[nr++]);
	}

	for_each_sibling_event(sibling, leader) {
		if (is_software_event(sibling))
			continue;
		if (sibling->pmu != &pmu->perf_pmu)
			return refuse_group_of_others(pmu, event);
		if (!corepmu_sibling_counts(sibling))
			continue;
		if (nr == COREPMU_MAX_DEMANDS)
			return refuse_unplaceable_group();
		member_demand(pmu, event, sibling, &demands[nr++]);
	}

	return nr;
}

/* Reject an event if its group could never be placed with it: such a group never counts. */
static noinline int validate_group(struct corepmu *pmu, struct perf_event *event)
{
	struct corepmu_demand *demands;
	int nr, ret;

	ret = corepmu_features_check_group(event);
	if (ret)
		return ret;

	demands = kcalloc(COREPMU_MAX_DEMANDS, sizeof(*demands), GFP_KERNEL);
	if (!demands)
		return -ENOMEM;

	nr = collect_demands(pmu, event, demands);
	if (nr < 0)
		ret = nr;
	else if (corepmu_assign(demands, nr))
		ret = refuse_unplaceable_group();

	kfree(demands);
	return ret;
}

/* Check whether the event belongs to this PMU. */
static bool event_is_ours(struct corepmu *pmu, struct perf_event *event)
{
	u32 type = event->attr.type;
	u32 extended;

	if (type == pmu->perf_pmu.type)
		return true;

	switch (type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		/*
		 * If attr.config names a PMU's type, perf core finds the PMU and removes the type
		 * from config. Otherwise perf core asks the PMU of PERF_TYPE_RAW first, and then
		 * all PMUs.
		 */
		extended = event->attr.config >> PERF_PMU_TYPE_SHIFT;
		return !extended || extended == pmu->perf_pmu.type;
	case PERF_TYPE_RAW:
		return pmu->claims_generic &&
		       !(pmu->secondary && pmu->backend->raw_of_first_cpu_type);
	default:
		return false;
	}
}

/**
 * corepmu_decode_cache() - decode the config of a PERF_TYPE_HW_CACHE event
 * @config: cache, operation << 8, result << 16
 * @cache: filled in: PERF_COUNT_HW_CACHE_L1D and so on
 * @op: filled in: PERF_COUNT_HW_CACHE_OP_READ and so on
 * @miss: filled in: true for misses, false for accesses
 *
 * Return: 0, or -EINVAL for an unknown config
 */
int corepmu_decode_cache(u64 config, unsigned int *cache, unsigned int *op, bool *miss)
{
	unsigned int result = FIELD_GET(GENMASK_ULL(23, 16), config);

	*cache = FIELD_GET(GENMASK_ULL(7, 0), config);
	*op = FIELD_GET(GENMASK_ULL(15, 8), config);
	*miss = result == PERF_COUNT_HW_CACHE_RESULT_MISS;

	if (*cache >= PERF_COUNT_HW_CACHE_MAX || *op >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return -EINVAL;

	return 0;
}

/**
 * corepmu_counting_period() - compute the period of an event that does not sample
 * @pmu: the PMU
 * @hwc: the event
 * @counters: mask of counters that the event may be placed on
 *
 * Any context.
 *
 * Return: half of the event's range on the narrowest of @counters, in counts
 */
u64 corepmu_counting_period(struct corepmu *pmu, const struct hw_perf_event *hwc, u64 counters)
{
	u64 period = pmu->max_left;

	for (; counters; counters &= counters - 1)
		period = min(period, corepmu_event_mask(pmu, hwc, __ffs64(counters)) >> 1);

	return period;
}

/*
 * An event that does not sample has a period too: half of the range of the narrowest counter, as in
 * x86_perf_event_set_period() and armpmu_event_set_period(). The period is the same on every
 * counter that the event may move to. perf_event_mmap_page.offset equals this period until the
 * event is reset, and a reader in user space sees a positive number in pmc_width bits. An event
 * that asks for a width may be placed on some counters only: the narrowest of these sets the
 * period.
 */
static void set_counting_period(struct corepmu *pmu, struct hw_perf_event *hwc)
{
	u64 period = pmu->counting_period;

	if (hwc->flags & (COREPMU_EVENT_LONG | COREPMU_EVENT_PAIR | COREPMU_EVENT_32BIT))
		period = corepmu_counting_period(pmu, hwc, corepmu_hw_counters(hwc));
	corepmu_counter_first_period(hwc, period);
}

static void corepmu_event_destroy(struct perf_event *event)
{
	struct corepmu *pmu = to_corepmu(event->pmu);

	if (event->hw.flags & COREPMU_EVENT_FEATURES)
		corepmu_features_close(event);
	if (corepmu_event_is_readable(&event->hw) && pmu->backend->rdpmc_gone)
		pmu->backend->rdpmc_gone(pmu);
	if (pmu->backend->release)
		pmu->backend->release(pmu);
}

/* Check whether the event needs corepmu_event_destroy(): most events reserve nothing. */
static bool needs_destroy(struct corepmu *pmu, const struct perf_event *event)
{
	return (event->hw.flags & (COREPMU_EVENT_FEATURES | PERF_EVENT_FLAG_USER_READ_CNT)) ||
	       pmu->backend->acquire;
}

/* Reserve what the event needs besides a counter. corepmu_event_destroy() undoes it. */
static int event_acquire(struct corepmu *pmu, struct perf_event *event)
{
	int ret = 0;

	if (event->hw.flags & COREPMU_EVENT_FEATURES)
		ret = corepmu_features_open(event);
	if (ret || !pmu->backend->acquire)
		return ret;

	ret = pmu->backend->acquire(pmu);
	if (ret == -EBUSY)
		ret = refusal_of_generic(pmu, event, ret);
	if (ret)
		corepmu_features_close(event);

	return ret;
}

/*
 * Return the event's first minimum period. If the limiter has throttled the parent, an inherited
 * event starts with the parent's minimum, unless this CPU's limiter has relaxed since.
 */
static s64 first_min_period(const struct corepmu *pmu, const struct perf_event *event)
{
	if (!event->parent)
		return pmu->min_left;

	return min_t(s64, corepmu_hw_read_min_period(&event->parent->hw),
		     READ_ONCE(raw_cpu_ptr(pmu->cpu)->limiter.min_left));
}

/**
 * corepmu_event_init() - open an event: pmu.event_init of perf core
 * @event: the event, which has no counter yet
 *
 * Process context.
 *
 * Return: 0, -ENOENT if the event belongs to another PMU, or an errno of perf_event_open(2) after
 * corepmu_refuse()
 */
int corepmu_event_init(struct perf_event *event)
{
	struct corepmu *pmu = to_corepmu(event->pmu);
	struct hw_perf_event *hwc = &event->hw;
	int ret;

	if (!event_is_ours(pmu, event))
		return -ENOENT;

	/* CPUs of another type have a PMU of their own. */
	if (event->cpu >= 0 && !cpumask_test_cpu(event->cpu, &pmu->supported_cpus))
		return -ENOENT;

	if (!READ_ONCE(pmu->open))
		return refusal_of_generic(pmu, event, -ENODEV);

	hwc->idx = -1;
	corepmu_hw_set_freq(hwc, 0);
	/* A BPF program may read an event without a counter: the read must find it stopped. */
	hwc->state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	corepmu_hw_set_min_period(hwc, first_min_period(pmu, event));
	hwc->flags = 0;

	ret = pmu->backend->encode(pmu, event);
	/*
	 * In coexist mode perf core asks the built-in PMU of the first CPU type before this
	 * driver's PMUs, but the built-in PMUs of the other types (cpu_atom) after them. So an
	 * error of a secondary PMU must not end the search.
	 */
	if (ret)
		return pmu->secondary ? refusal_of_generic(pmu, event, ret) : ret;

	if (!is_sampling_event(event))
		set_counting_period(pmu, hwc);
	else if (event->attr.freq)
		corepmu_freq_open(event);

	/*
	 * The parent's group may have been opened with disabled members, which need no counter, and
	 * are enabled now. The child's group counts if the parent's does: fork(2) must not fail.
	 */
	if (event->group_leader != event && !event->parent) {
		ret = validate_group(pmu, event);
		if (ret)
			return ret;
	}

	if (needs_destroy(pmu, event)) {
		ret = event_acquire(pmu, event);
		if (ret)
			return ret;
		event->destroy = corepmu_event_destroy;
	}
	if (pmu->backend->join)
		pmu->backend->join(pmu, event);

	return 0;
}

/**
 * corepmu_check_period() - check a new period: pmu.check_period of perf core
 * @event: the event
 * @value: the period in counts, or the frequency in Hz of an event with attr.freq
 *
 * For PERF_EVENT_IOC_PERIOD. Every frequency is valid. Process context.
 *
 * Return: 0 or a negative errno
 */
int corepmu_check_period(struct perf_event *event, u64 value)
{
	const struct corepmu_backend *backend = to_corepmu(event->pmu)->backend;

	if (event->attr.freq || !backend->check_period)
		return 0;

	return backend->check_period(event, value);
}
