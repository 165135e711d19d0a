// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: struct pmu, as perf core calls it
 *
 * No register is touched here. Events that are added, deleted, started or
 * stopped change what is to count; the backend brings the hardware there when
 * perf core enables the PMU again, once for a whole context switch.
 *
 * What a context switch runs through is inline: on kernels that do without
 * tail calls a call costs as much as the work.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/static_call.h>

#include <corepmu/assign.h>
#include <corepmu/counter.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

DEFINE_STATIC_CALL_NULL(corepmu_enable_counters, corepmu_enable_none);
DEFINE_STATIC_CALL_NULL(corepmu_disable_counters, corepmu_enable_none);
DEFINE_STATIC_CALL_NULL(corepmu_select_event, corepmu_select_none);
DEFINE_STATIC_CALL_NULL(corepmu_counter_update, corepmu_update_none);
DEFINE_STATIC_CALL_NULL(corepmu_counter_update_nmi_safe, corepmu_update_none);
DEFINE_STATIC_CALL_NULL(corepmu_write_counter, corepmu_write_none);

/**
 * corepmu_use_backend() - make @backend's hot paths the ones that are called
 * @backend: the backend of this machine
 *
 * Process context, before any PMU is registered.
 */
void corepmu_use_backend(const struct corepmu_backend *backend)
{
	static_call_update(corepmu_enable_counters, backend->enable);
	static_call_update(corepmu_disable_counters, backend->disable);
	static_call_update(corepmu_select_event, backend->select);
	static_call_update(corepmu_counter_update, backend->update);
	static_call_update(corepmu_counter_update_nmi_safe, backend->update_nmi_safe);
	static_call_update(corepmu_write_counter, backend->write);
	corepmu_branch_on();
	corepmu_precise_on();
}

static void enable_none(struct corepmu_cpu *cpuc)
{
}

static void select_none(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc)
{
}

static void write_none(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value)
{
}

/**
 * corepmu_use_none() - from now on perf core changes no counter and starts none
 *
 * Counters can be read still. Process context; corepmu_use_backend() undoes it.
 */
void corepmu_use_none(void)
{
	static_call_update(corepmu_enable_counters, enable_none);
	static_call_update(corepmu_disable_counters, enable_none);
	static_call_update(corepmu_select_event, select_none);
	static_call_update(corepmu_write_counter, write_none);
	corepmu_branch_off();
	corepmu_precise_off();
}

static struct corepmu_cpu *this_cpuc(struct perf_event *event)
{
	return this_cpu_ptr(to_corepmu(event->pmu)->cpu);
}

/* The whole PMU: enable and disable */

static void corepmu_enable(struct pmu *pmu)
{
	struct corepmu_cpu *cpuc = this_cpu_ptr(to_corepmu(pmu)->cpu);

	/*
	 * Also where no event is left: user space may have been given access to counters for the
	 * task that has been scheduled out.
	 */
	if (unlikely(READ_ONCE(corepmu_user_reads)))
		corepmu_user_switch(cpuc);

	/* A CPU without events has nothing to start, nor has one of another kind. */
	if (cpuc->used)
		corepmu_start_cpu(cpuc);
}

static void corepmu_disable(struct pmu *pmu)
{
	struct corepmu_cpu *cpuc = this_cpu_ptr(to_corepmu(pmu)->cpu);

	if (cpuc->running)
		corepmu_stop_cpu(cpuc);
}

/* One event: start, stop, read */

static void set_active(struct corepmu_cpu *cpuc, u64 active)
{
	cpuc->active = active;

	/* Perf core stops the PMU around start() and stop(), as a rule. */
	if (unlikely(cpuc->running))
		corepmu_start_cpu(cpuc);
}

/* Let a stopped event count on from the value that its counter has. */
static __always_inline void event_resume(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;

	hwc->state = 0;
	set_active(cpuc, cpuc->active |
		   corepmu_event_counters(cpuc->pmu, hwc, hwc->idx));
}

/**
 * corepmu_event_start() - start a placed event
 * @event: the event
 * @flags: PERF_EF_RELOAD when the period may have changed since it was stopped
 *
 * Starting a started event does nothing. IRQs off, or the overflow interrupt.
 */
void corepmu_event_start(struct perf_event *event, int flags)
{
	struct corepmu_cpu *cpuc = this_cpuc(event);
	struct hw_perf_event *hwc = &event->hw;

	if (!(hwc->state & PERF_HES_STOPPED))
		return;

	if (flags & PERF_EF_RELOAD)
		corepmu_counter_start(cpuc, event);

	event_resume(cpuc, event);
	corepmu_update_userpage(event);
}

static noinline void event_stop_late(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	corepmu_late_overflow(cpuc, event);
	/* perf_event_overflow() may stop and start the event, to change its period. */
	if (!(event->hw.state & PERF_HES_STOPPED))
		corepmu_event_stop(event, PERF_EF_UPDATE);
}

static __always_inline void event_stop(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;

	if (hwc->state & PERF_HES_STOPPED)
		return;

	set_active(cpuc, cpuc->active &
		   ~corepmu_event_counters(cpuc->pmu, hwc, hwc->idx));
	corepmu_counter_update(cpuc, event);

	hwc->state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (is_sampling_event(event) && unlikely(local64_read(&hwc->period_left) <= 0))
		event_stop_late(cpuc, event);
}

/**
 * corepmu_event_stop() - stop a placed event
 * @event: the event
 * @flags: ignored; the count is always brought up to date
 *
 * Stopping a stopped event does nothing. IRQs off, or the overflow interrupt.
 */
void corepmu_event_stop(struct perf_event *event, int flags)
{
	event_stop(this_cpuc(event), event);
	corepmu_update_userpage(event);
}

static void corepmu_event_read(struct perf_event *event)
{
	if (!(event->hw.state & PERF_HES_STOPPED))
		corepmu_counter_update_nmi_safe(this_cpuc(event), event);
}

/* Placement: add and delete */

/* The bits of counter @idx, or of its pair, that the event uses when it is placed there. */
static __always_inline u64 event_mask(struct corepmu *pmu, const struct hw_perf_event *hwc,
				      int idx)
{
	unsigned int width = pmu->width[idx];

	if ((hwc->flags & COREPMU_EVENT_PAIR) && (pmu->pair_counters & BIT_ULL(idx)))
		width = pmu->pair_width;
	if (hwc->flags & COREPMU_EVENT_32BIT)
		width = 32;

	return GENMASK_ULL(width - 1, 0);
}

/* Put @event on counter @idx, stopped, with the counter set for what is left of its period. */
static __always_inline void event_place(struct corepmu_cpu *cpuc,
					struct perf_event *event, int idx)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 counters = corepmu_event_counters(cpuc->pmu, hwc, idx);

	hwc->idx = idx;
	hwc->event_base = event_mask(cpuc->pmu, hwc, idx);

	cpuc->events[idx] = event;
	cpuc->used |= counters;
	cpuc->dirty &= ~counters;
	static_call(corepmu_select_event)(cpuc, hwc);
	corepmu_counter_start(cpuc, event);
}

static void event_unplace(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 counters = corepmu_event_counters(cpuc->pmu, hwc, hwc->idx);

	cpuc->events[hwc->idx] = NULL;
	cpuc->used &= ~counters;
	cpuc->dirty |= counters;
	hwc->idx = -1;
}

static void event_demand(struct corepmu *pmu, struct perf_event *event,
			 struct corepmu_demand *demand)
{
	struct hw_perf_event *hwc = &event->hw;

	*demand = (struct corepmu_demand) {
		.allowed	= hwc->config,
		.pairs		= hwc->flags & COREPMU_EVENT_PAIR ?
				  hwc->config & pmu->pair_counters : 0,
		.counter	= -1,
	};
}

/*
 * No counter that the event may have is free: see whether moving other events makes room, and
 * move them. The PMU is stopped. Returns the counter, or -EAGAIN.
 */
static noinline int place_by_moving(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct corepmu_demand *demands = cpuc->demands;
	struct perf_event *events[COREPMU_MAX_DEMANDS];
	u64 restart = 0;
	unsigned int nr = 0, i;
	int idx;

	for (i = 0; i < COREPMU_MAX_COUNTERS; i++) {
		if (!cpuc->events[i])
			continue;
		events[nr] = cpuc->events[i];
		event_demand(cpuc->pmu, events[nr], &demands[nr]);
		demands[nr++].counter = i;
	}
	event_demand(cpuc->pmu, event, &demands[nr]);
	events[nr++] = event;

	if (corepmu_assign(demands, nr))
		return -EAGAIN;

	/* Every event that moves gives up its counter first: another may move there. */
	for (i = 0; i < nr - 1; i++) {
		if (demands[i].counter == events[i]->hw.idx)
			continue;
		if (!(events[i]->hw.state & PERF_HES_STOPPED)) {
			corepmu_event_stop(events[i], PERF_EF_UPDATE);
			restart |= BIT_ULL(i);
		}
		event_unplace(cpuc, events[i]);
	}

	for (i = 0; i < nr - 1; i++) {
		idx = demands[i].counter;
		if (idx == events[i]->hw.idx)
			continue;
		event_place(cpuc, events[i], idx);
		if (events[i]->hw.flags & COREPMU_EVENT_COUNTED)
			corepmu_branch_move_counted(cpuc);
		if (restart & BIT_ULL(i))
			event_resume(cpuc, events[i]);
		corepmu_update_userpage(events[i]);
	}

	return demands[nr - 1].counter;
}

/* A counter for @event, or -EAGAIN when no placement of all events exists. */
static int find_counter(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;
	u64 free = hwc->config & ~cpuc->used;

	while (free) {
		int idx = corepmu_first_choice(free);

		if (!(corepmu_event_counters(cpuc->pmu, hwc, idx) & cpuc->used))
			return idx;
		free &= ~BIT_ULL(idx);
	}

	return place_by_moving(cpuc, event);
}

static int corepmu_event_add(struct perf_event *event, int flags)
{
	struct corepmu_cpu *cpuc = this_cpuc(event);
	struct hw_perf_event *hwc = &event->hw;
	int idx;

	/* Perf core tries a task's event on every CPU that the task comes to. */
	if (!cpumask_test_cpu(smp_processor_id(), &cpuc->pmu->supported_cpus))
		return -ENOENT;

	if (unlikely(hwc->flags & COREPMU_EVENT_EXTRAS) && !corepmu_extras_fit(cpuc, event))
		return -EAGAIN;

	idx = find_counter(cpuc, event);
	if (idx < 0)
		return idx;

	hwc->state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	event_place(cpuc, event, idx);
	if (unlikely(hwc->flags & COREPMU_EVENT_EXTRAS))
		corepmu_add_extras(cpuc, event);

	if (flags & PERF_EF_START)
		event_resume(cpuc, event);
	corepmu_update_userpage(event);

	return 0;
}

static void corepmu_event_del(struct perf_event *event, int flags)
{
	struct corepmu_cpu *cpuc = this_cpuc(event);

	event_stop(cpuc, event);
	event_unplace(cpuc, event);
	if (unlikely(event->hw.flags & COREPMU_EVENT_EXTRAS))
		corepmu_del_extras(cpuc, event);
	corepmu_update_userpage(event);
}

static void corepmu_sched_task(COMPAT_SCHED_TASK_ARGS)
{
	/* First the samples of the task that leaves: they have its branch records, wiped next. */
	corepmu_precise_switch(sched_in);
	corepmu_branch_switch(sched_in);
}

/* Opening an event */

/*
 * Fill in what an event that is being opened, and those of its group that will count with it,
 * demand. Returns the number of demands, at most COREPMU_MAX_DEMANDS, or a negative errno.
 */
static int collect_demands(struct corepmu *pmu, struct perf_event *event,
			   struct corepmu_demand *demands)
{
	struct perf_event *leader = event->group_leader, *sibling;
	int nr = 0;

	event_demand(pmu, event, &demands[nr++]);

	if (!is_software_event(leader)) {
		if (leader->pmu != &pmu->perf_pmu)
			return corepmu_refuse(-EINVAL, "its group has events of another hardware PMU");
		event_demand(pmu, leader, &demands[nr++]);
	}

	for_each_sibling_event(sibling, leader) {
		if (is_software_event(sibling))
			continue;
		if (sibling->pmu != &pmu->perf_pmu)
			return corepmu_refuse(-EINVAL, "its group has events of another hardware PMU");
		if (!corepmu_sibling_counts(sibling))
			continue;
		if (nr == COREPMU_MAX_DEMANDS)
			return corepmu_refuse(-EINVAL, "there are not enough counters for its group");
		event_demand(pmu, sibling, &demands[nr++]);
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

/* Half the range that the event has on the narrowest of @counters. */
static u64 counting_period(struct corepmu *pmu, const struct hw_perf_event *hwc, u64 counters)
{
	u64 period = pmu->max_left;

	for (; counters; counters &= counters - 1)
		period = min(period, event_mask(pmu, hwc, __ffs64(counters)) >> 1);

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
		period = counting_period(pmu, hwc, hwc->config);
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
	return (event->hw.flags & (COREPMU_EVENT_BRANCHES | COREPMU_EVENT_PRECISE)) ||
	       (corepmu_event_is_readable(&event->hw) && pmu->backend->user_gone) ||
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

static int corepmu_event_init(struct perf_event *event)
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
	hwc->event_base_rdpmc = event->parent ? READ_ONCE(event->parent->hw.event_base_rdpmc) :
						pmu->min_left;
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
 * corepmu_filter() - is perf core to keep a PMU's events from a CPU?
 * @pmu: the PMU
 * @cpu: the CPU
 *
 * IRQs off.
 *
 * Return: true for a CPU of another kind
 */
bool corepmu_filter(struct pmu *pmu, int cpu)
{
	return !cpumask_test_cpu(cpu, &to_corepmu(pmu)->supported_cpus);
}

/* PERF_EVENT_IOC_PERIOD; of an event with a frequency @value is the frequency: not a period. */
static int corepmu_check_period(struct perf_event *event, u64 value)
{
	const struct corepmu_backend *backend = to_corepmu(event->pmu)->backend;

	if (event->attr.freq || !backend->check_period)
		return 0;

	return backend->check_period(event, value);
}

/**
 * corepmu_init_pmu() - fill in what perf core is to know
 * @pmu: a PMU that is not registered yet, whose counters are known
 *
 * Process context.
 */
void corepmu_init_pmu(struct corepmu *pmu)
{
	static const struct hw_perf_event any_event;
	int cpu;

	/* 0 events are not to be had: a counter that is set to 0 overflows when it has wrapped. */
	pmu->min_left = max_t(s64, pmu->min_left, 1);
	for_each_possible_cpu(cpu) {
		struct corepmu_cpu *cpuc = per_cpu_ptr(pmu->cpu, cpu);

		cpuc->min_left = pmu->min_left;
		cpuc->longest = COREPMU_LIMIT_SHORT_NS;
	}
	pmu->counting_period = counting_period(pmu, &any_event, pmu->counters);
	pmu->perf_pmu = (struct pmu) {
		.module		= THIS_MODULE,
		.task_ctx_nr	= perf_hw_context,
		.attr_groups	= pmu->backend->attr_groups,
		.capabilities	= pmu->backend->capabilities | pmu->capabilities |
				  PERF_PMU_CAP_EXTENDED_HW_TYPE |
				  COMPAT_PMU_CAP_HETEROGENEOUS_CPUS,
		.pmu_enable	= corepmu_enable,
		.pmu_disable	= corepmu_disable,
		.event_init	= corepmu_event_init,
		.add		= corepmu_event_add,
		.del		= corepmu_event_del,
		.start		= corepmu_event_start,
		.stop		= corepmu_event_stop,
		.read		= corepmu_event_read,
		.event_idx	= pmu->backend->event_idx,
		.event_mapped	= corepmu_event_mapped,
		.event_unmapped	= corepmu_event_unmapped,
		.check_period	= corepmu_check_period,
	};
	if (pmu->nr_branches || pmu->precise_backend)
		pmu->perf_pmu.sched_task = corepmu_sched_task;
	if (!cpumask_equal(&pmu->supported_cpus, cpu_possible_mask))
		compat_pmu_set_filter(&pmu->perf_pmu);
	compat_pmu_set_parent(&pmu->perf_pmu, pmu->parent);
}
