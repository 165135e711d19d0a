// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: events that are opened: which are this PMU's, and which could never count
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/perf_event.h>
#include <linux/slab.h>

#include <corepmu/assign.h>
#include <corepmu/counter.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

/*
 * Where another core PMU claims generic events, one that comes here may have named this PMU, by
 * its type in config, which perf core has taken out; or it has named none, and perf core asks all
 * PMUs in turn, since the other one, which it asked first, has no such event or not on that CPU.
 * ENOENT has perf core ask the next (perf_init_event() in kernel/events/core.c): any other errno
 * ends the search, before a PMU that could have counted the event was asked.
 */
static int refusal_of_generic(const struct corepmu *pmu, const struct perf_event *event, int err)
{
	return pmu->claims_generic || event->attr.type == pmu->perf_pmu.type ? err : -ENOENT;
}

static int refuse_group_of_others(const struct corepmu *pmu, const struct perf_event *event)
{
	int err = corepmu_refuse(-EINVAL, "its group has events of another hardware PMU");

	return refusal_of_generic(pmu, event, err);
}

/*
 * Fill in what an event that is being opened, and those of its group that will count with it,
 * demand. Returns the number of demands, at most COREPMU_MAX_DEMANDS, or a negative errno.
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
		corepmu_event_demand(pmu, leader, &demands[nr++]);
	}

	for_each_sibling_event(sibling, leader) {
		if (is_software_event(sibling))
			continue;
		if (sibling->pmu != &pmu->perf_pmu)
			return refuse_group_of_others(pmu, event);
		if (!corepmu_sibling_counts(sibling))
			continue;
		if (nr == COREPMU_MAX_DEMANDS)
			return corepmu_refuse(-EINVAL, "there are not enough counters for its group");
		corepmu_event_demand(pmu, sibling, &demands[nr++]);
	}

	return nr;
}

/* Refuse an event with which its group could never be placed: it would never count. */
static int validate_group(struct corepmu *pmu, struct perf_event *event)
{
	struct corepmu_demand *demands;
	int nr, ret = 0;

	if (event->group_leader == event)
		return 0;

	if (!corepmu_branch_fits_group(event))
		return corepmu_refuse(-EINVAL,
				      "its group has stacks of calls, and other branches");
	if (!corepmu_precise_fits_group(event))
		return corepmu_refuse(-EINVAL,
				      "its group has loads of another latency");
	if (!corepmu_second_fits_group(event))
		return corepmu_refuse(-EINVAL,
				      "its group has events that want other values of its second register");

	demands = kcalloc(COREPMU_MAX_DEMANDS, sizeof(*demands), GFP_KERNEL);
	if (!demands)
		return -ENOMEM;

	nr = collect_demands(pmu, event, demands);
	if (nr < 0)
		ret = nr;
	else if (corepmu_assign(demands, nr))
		ret = corepmu_refuse(-EINVAL, "there are not enough counters for its group");

	kfree(demands);
	return ret;
}

/* Is the event meant for this PMU? */
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
		 * Perf core takes the PMU's type out of config when it has found
		 * the PMU by it. Without one it asks all PMUs, when none is on
		 * PERF_TYPE_RAW or that one does not know the event.
		 */
		extended = event->attr.config >> PERF_PMU_TYPE_SHIFT;
		return !extended || extended == pmu->perf_pmu.type;
	case PERF_TYPE_RAW:
		return pmu->claims_generic &&
		       !(pmu->secondary && pmu->backend->raw_of_first_kind);
	default:
		return false;
	}
}

/**
 * corepmu_decode_cache() - take a PERF_TYPE_HW_CACHE config apart
 * @config: cache, operation << 8, result << 16
 * @cache: PERF_COUNT_HW_CACHE_L1D and so on
 * @op: PERF_COUNT_HW_CACHE_OP_READ and so on
 * @miss: misses are asked for, not accesses
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
 * corepmu_counting_period() - the period of an event that does not sample
 * @pmu: the PMU
 * @hwc: the event
 * @counters: counters that it may be placed on
 *
 * Any context.
 *
 * Return: half the range that the event has on the narrowest of @counters
 */
u64 corepmu_counting_period(struct corepmu *pmu, const struct hw_perf_event *hwc, u64 counters)
{
	u64 period = pmu->max_left;

	for (; counters; counters &= counters - 1)
		period = min(period, corepmu_event_mask(pmu, hwc, __ffs64(counters)) >> 1);

	return period;
}

/*
 * An event that does not sample has a period too: half the range of the narrowest counter, as in
 * x86_perf_event_set_period() and armpmu_event_set_period(). It is the same on every counter that
 * the event may be moved to. Then perf_event_mmap_page.offset is this period until the event is
 * reset, and a reader in user space, who has pmc_width bits, takes it for a positive number. An
 * event that asks for a width may be on few counters: the narrowest of those is looked for.
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

	corepmu_precise_close(event);
	corepmu_branch_close(event);
	if (corepmu_event_is_readable(&event->hw) && pmu->backend->user_gone)
		pmu->backend->user_gone(pmu);
	if (pmu->backend->release)
		pmu->backend->release(pmu);
}

/* Does the event take anything besides a counter? Most do not, and are closed without a call. */
static bool takes_more(struct corepmu *pmu, const struct perf_event *event)
{
	return (event->hw.flags & (COREPMU_EVENT_BRANCHES | COREPMU_EVENT_PRECISE |
				   PERF_EVENT_FLAG_USER_READ_CNT)) ||
	       pmu->backend->acquire;
}

/* What the event takes besides a counter. Undone by corepmu_event_destroy(). */
static int event_acquire(struct corepmu *pmu, struct perf_event *event)
{
	int ret;

	ret = corepmu_branch_open(event);
	if (ret)
		return ret;

	ret = corepmu_precise_open(event);
	if (ret)
		goto out_branches;

	if (pmu->backend->acquire) {
		ret = pmu->backend->acquire(pmu);
		if (ret == -EBUSY)
			ret = refusal_of_generic(pmu, event, ret);
		if (ret)
			goto out_precise;
	}

	return 0;

out_precise:
	corepmu_precise_close(event);
out_branches:
	corepmu_branch_close(event);
	return ret;
}

/*
 * After how many events the counter may be set to overflow at first. The limiter has blamed the
 * parent if that is more than usual; it may have been long ago, and forgotten on this CPU.
 */
static s64 first_min_left(const struct corepmu *pmu, const struct perf_event *event)
{
	if (!event->parent)
		return pmu->min_left;

	return min_t(s64, corepmu_hw_read_min_period(&event->parent->hw),
		     READ_ONCE(raw_cpu_ptr(pmu->cpu)->limiter.min_left));
}

/**
 * corepmu_event_init() - open an event, or say why not
 * @event: the event, which has no counter yet
 *
 * pmu.event_init of perf core. Process context.
 *
 * Return: 0, -ENOENT when it is not this PMU's, or the errno of perf_event_open(2)
 */
int corepmu_event_init(struct perf_event *event)
{
	struct corepmu *pmu = to_corepmu(event->pmu);
	struct hw_perf_event *hwc = &event->hw;
	int ret;

	if (!event_is_ours(pmu, event))
		return -ENOENT;

	if (!READ_ONCE(pmu->open))
		return -ENODEV;

	/* CPUs of another kind have a PMU of their own. */
	if (event->cpu >= 0 && !cpumask_test_cpu(event->cpu, &pmu->supported_cpus))
		return -ENOENT;

	if (event->attr.precise_ip) {
		ret = pmu->backend->precise(pmu, event);
		if (ret)
			return ret;
	}

	hwc->idx = -1;
	hwc->last_cpu = 0;
	/* A BPF program may read it while a counter is looked for: it is to find it stopped. */
	hwc->state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	corepmu_hw_set_min_period(hwc, first_min_left(pmu, event));
	hwc->flags = 0;

	if (has_branch_stack(event)) {
		ret = corepmu_branch_encode(pmu, event);
		if (ret)
			return ret;
	}

	ret = pmu->backend->encode(pmu, event);
	if (ret)
		return ret;

	if (!is_sampling_event(event))
		set_counting_period(pmu, hwc);
	else if (event->attr.freq)
		corepmu_freq_open(event);

	ret = validate_group(pmu, event);
	if (ret)
		return ret;

	if (!takes_more(pmu, event))
		return 0;
	ret = event_acquire(pmu, event);
	if (ret)
		return ret;
	event->destroy = corepmu_event_destroy;

	return 0;
}

/**
 * corepmu_check_period() - may an event have a new period?
 * @event: the event
 * @value: the period, of an event with a frequency the frequency: not looked at
 *
 * pmu.check_period of perf core, for PERF_EVENT_IOC_PERIOD. Process context.
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
