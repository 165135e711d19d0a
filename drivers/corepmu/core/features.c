// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: features of events: call the functions of the features that an event or a CPU has
 *
 * An event has a flag for each of its features. Some features start and stop with the PMU:
 * corepmu_cpu.feature_users counts the events on the CPU that have such a feature. A start goes
 * through the features in the order of their numbers, a stop in the opposite order. For an event or
 * a CPU without features none of these functions is called.
 *
 * Each function of a hot path is a static call for each feature, since an indirect call costs more
 * than most of the features' functions.
 */
#include <linux/bitops.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/static_call.h>

#include <corepmu/backend.h>
#include <corepmu/cpu.h>
#include <corepmu/features.h>
#include <corepmu/hw.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

/* State of the PMU that has events with features on this CPU, or NULL */
static DEFINE_PER_CPU(struct corepmu_cpu *, features_cpuc);

/* Static calls of features 0 and up: see the bounds in enum corepmu_feature */

static_assert(COREPMU_NR_SAMPLED == 1);
DEFINE_STATIC_CALL_NULL(corepmu_feature_interrupt_0, corepmu_feature_cpu);
DEFINE_STATIC_CALL_NULL(corepmu_feature_sample_0, corepmu_feature_sample);
DEFINE_STATIC_CALL_NULL(corepmu_feature_sample_end_0, corepmu_feature_cpu);

static_assert(COREPMU_NR_STOPPED == 2);
DEFINE_STATIC_CALL_NULL(corepmu_feature_stop_0, corepmu_feature_cpu);
DEFINE_STATIC_CALL_NULL(corepmu_feature_stop_1, corepmu_feature_cpu);
DEFINE_STATIC_CALL_NULL(corepmu_feature_sched_task_0, corepmu_feature_switch);
DEFINE_STATIC_CALL_NULL(corepmu_feature_sched_task_1, corepmu_feature_switch);

static_assert(COREPMU_NR_STARTED == 3);
DEFINE_STATIC_CALL_NULL(corepmu_feature_start_0, corepmu_feature_cpu);
DEFINE_STATIC_CALL_NULL(corepmu_feature_start_1, corepmu_feature_cpu);
DEFINE_STATIC_CALL_NULL(corepmu_feature_start_2, corepmu_feature_cpu);

static_assert(COREPMU_NR_SHARED == 4);
DEFINE_STATIC_CALL_RET0(corepmu_feature_fits_0, corepmu_feature_fits);
DEFINE_STATIC_CALL_RET0(corepmu_feature_fits_1, corepmu_feature_fits);
DEFINE_STATIC_CALL_RET0(corepmu_feature_fits_2, corepmu_feature_fits);
DEFINE_STATIC_CALL_RET0(corepmu_feature_fits_3, corepmu_feature_fits);

static_assert(COREPMU_NR_FEATURES == 5);
DEFINE_STATIC_CALL_NULL(corepmu_feature_add_0, corepmu_feature_event);
DEFINE_STATIC_CALL_NULL(corepmu_feature_add_1, corepmu_feature_event);
DEFINE_STATIC_CALL_NULL(corepmu_feature_add_2, corepmu_feature_event);
DEFINE_STATIC_CALL_NULL(corepmu_feature_add_3, corepmu_feature_event);
DEFINE_STATIC_CALL_NULL(corepmu_feature_add_4, corepmu_feature_event);
DEFINE_STATIC_CALL_NULL(corepmu_feature_del_0, corepmu_feature_event);
DEFINE_STATIC_CALL_NULL(corepmu_feature_del_1, corepmu_feature_event);
DEFINE_STATIC_CALL_NULL(corepmu_feature_del_2, corepmu_feature_event);
DEFINE_STATIC_CALL_NULL(corepmu_feature_del_3, corepmu_feature_event);
DEFINE_STATIC_CALL_NULL(corepmu_feature_del_4, corepmu_feature_event);

static const struct corepmu_feature_ops none;

static __corepmu_init const struct corepmu_feature_ops *
feature_ops(const struct corepmu_backend *backend, unsigned int nr)
{
	return backend->features[nr] ?: &none;
}

static __corepmu_init void *fits_or_zero(const struct corepmu_backend *backend, unsigned int nr)
{
	return (void *)feature_ops(backend, nr)->fits ?: (void *)__static_call_return0;
}

/**
 * corepmu_features_use() - make the static calls call the features of @backend
 * @backend: the backend of this machine
 *
 * Process context, for each PMU before its registration. Updating a static call that already calls
 * the right function costs nothing.
 */
void __corepmu_init corepmu_features_use(const struct corepmu_backend *backend)
{
	static_call_update(corepmu_feature_interrupt_0, feature_ops(backend, 0)->interrupt);
	static_call_update(corepmu_feature_sample_0, feature_ops(backend, 0)->sample);
	static_call_update(corepmu_feature_sample_end_0, feature_ops(backend, 0)->sample_end);
	static_call_update(corepmu_feature_stop_0, feature_ops(backend, 0)->stop);
	static_call_update(corepmu_feature_stop_1, feature_ops(backend, 1)->stop);
	static_call_update(corepmu_feature_sched_task_0, feature_ops(backend, 0)->sched_task);
	static_call_update(corepmu_feature_sched_task_1, feature_ops(backend, 1)->sched_task);
	static_call_update(corepmu_feature_start_0, feature_ops(backend, 0)->start);
	static_call_update(corepmu_feature_start_1, feature_ops(backend, 1)->start);
	static_call_update(corepmu_feature_start_2, feature_ops(backend, 2)->start);
	static_call_update(corepmu_feature_fits_0, fits_or_zero(backend, 0));
	static_call_update(corepmu_feature_fits_1, fits_or_zero(backend, 1));
	static_call_update(corepmu_feature_fits_2, fits_or_zero(backend, 2));
	static_call_update(corepmu_feature_fits_3, fits_or_zero(backend, 3));
	static_call_update(corepmu_feature_add_0, feature_ops(backend, 0)->add);
	static_call_update(corepmu_feature_add_1, feature_ops(backend, 1)->add);
	static_call_update(corepmu_feature_add_2, feature_ops(backend, 2)->add);
	static_call_update(corepmu_feature_add_3, feature_ops(backend, 3)->add);
	static_call_update(corepmu_feature_add_4, feature_ops(backend, 4)->add);
	static_call_update(corepmu_feature_del_0, feature_ops(backend, 0)->del);
	static_call_update(corepmu_feature_del_1, feature_ops(backend, 1)->del);
	static_call_update(corepmu_feature_del_2, feature_ops(backend, 2)->del);
	static_call_update(corepmu_feature_del_3, feature_ops(backend, 3)->del);
	static_call_update(corepmu_feature_del_4, feature_ops(backend, 4)->del);
}

/**
 * corepmu_features_off() - keep all features from starting
 *
 * Process context; corepmu_features_use() undoes it.
 */
void corepmu_features_off(void)
{
	static_call_update(corepmu_feature_start_0, NULL);
	static_call_update(corepmu_feature_start_1, NULL);
	static_call_update(corepmu_feature_start_2, NULL);
}

/* Features of a CPU */

#define CALL(op, nr, ...)						\
do {									\
	if (cpuc->feature_users[nr])					\
		static_call_cond(corepmu_feature_##op##_##nr)(cpuc, ##__VA_ARGS__); \
} while (0)

/**
 * corepmu_features_start_cpu() - start the features of this CPU's events, then the counters
 * @cpuc: this CPU's state, with a feature in use
 *
 * From corepmu_start_cpu().
 */
void corepmu_features_start_cpu(struct corepmu_cpu *cpuc)
{
	CALL(start, 0);
	CALL(start, 1);
	CALL(start, 2);
	static_call(corepmu_enable_counters)(cpuc);
}

/**
 * corepmu_features_stop_cpu() - stop the counters, then the features of this CPU's events
 * @cpuc: this CPU's state, with a feature in use
 *
 * From corepmu_stop_cpu().
 */
void corepmu_features_stop_cpu(struct corepmu_cpu *cpuc)
{
	static_call(corepmu_disable_counters)(cpuc);
	CALL(stop, 1);
	CALL(stop, 0);
}

/**
 * corepmu_features_interrupt() - prepare the features of this CPU's events for an interrupt
 * @cpuc: this CPU's state, with a feature in use
 *
 * From corepmu_overflow_begin().
 */
void corepmu_features_interrupt(struct corepmu_cpu *cpuc)
{
	CALL(interrupt, 0);
}

/**
 * corepmu_features_sched_task() - notify the features of this CPU's events of a task switch
 * @sched_in: true: the current task has been scheduled in; false: it is about to be scheduled out
 *
 * From pmu.sched_task, which perf core may call for another PMU than this CPU's. IRQs off.
 */
void corepmu_features_sched_task(bool sched_in)
{
	struct corepmu_cpu *cpuc = this_cpu_read(features_cpuc);

	if (!cpuc)
		return;
	/* Feature 1 first: its samples may show what feature 0 then discards. */
	CALL(sched_task, 1, sched_in);
	CALL(sched_task, 0, sched_in);
}

/**
 * corepmu_features_this_cpu() - return the PMU that has events with features on this CPU
 *
 * IRQs off, or NMI.
 *
 * Return: the PMU's state on this CPU, or NULL
 */
struct corepmu_cpu *corepmu_features_this_cpu(void)
{
	return this_cpu_read(features_cpuc);
}

/* Features of an event: hot paths */

#define FIT(nr)								\
do {									\
	if (!ret && (event->hw.flags & COREPMU_EVENT_FEATURE(nr)))	\
		ret = static_call(corepmu_feature_fits_##nr)(cpuc, event); \
} while (0)

/**
 * corepmu_features_fit() - check whether an event's features are free on this CPU
 * @cpuc: this CPU's state
 * @event: an event with COREPMU_EVENT_FEATURES that is about to be placed
 *
 * IRQs off.
 *
 * Return: 0, or -EAGAIN while other events use a feature in another way
 */
int corepmu_features_fit(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	int ret = 0;

	FIT(0);
	FIT(1);
	FIT(2);
	FIT(3);

	return ret;
}

#define CALL_EVENT(op, nr)						\
do {									\
	if (event->hw.flags & COREPMU_EVENT_FEATURE(nr))		\
		static_call(corepmu_feature_##op##_##nr)(cpuc, event);	\
} while (0)

/**
 * corepmu_features_add() - set up the features of an event that has been placed
 * @cpuc: this CPU's state
 * @event: an event with COREPMU_EVENT_FEATURES
 *
 * IRQs off, and the PMU stopped.
 */
void corepmu_features_add(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	CALL_EVENT(add, 0);
	CALL_EVENT(add, 1);
	CALL_EVENT(add, 2);
	CALL_EVENT(add, 3);
	CALL_EVENT(add, 4);
	this_cpu_write(features_cpuc, cpuc);
}

/**
 * corepmu_features_del() - undo corepmu_features_add()
 * @cpuc: this CPU's state
 * @event: an event with COREPMU_EVENT_FEATURES
 *
 * IRQs off, and the PMU stopped.
 */
void corepmu_features_del(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	CALL_EVENT(del, 4);
	CALL_EVENT(del, 3);
	CALL_EVENT(del, 2);
	CALL_EVENT(del, 1);
	CALL_EVENT(del, 0);
	if (!cpuc->features)
		this_cpu_write(features_cpuc, NULL);
}

/* Features of an event: rare calls */

static unsigned long features_of(const struct perf_event *event)
{
	return (event->hw.flags & COREPMU_EVENT_FEATURES) >> COREPMU_EVENT_FIRST_FEATURE;
}

static const struct corepmu_feature_ops *ops_of(const struct perf_event *event, unsigned int nr)
{
	return to_corepmu(event->pmu)->backend->features[nr];
}

static void close_features(struct perf_event *event, unsigned long features)
{
	unsigned int nr;

	for_each_set_bit(nr, &features, COREPMU_NR_FEATURES)
		if (ops_of(event, nr)->close)
			ops_of(event, nr)->close(event);
}

/**
 * corepmu_features_open() - reserve what an event's features need
 * @event: an event that is being opened, or inherited
 *
 * Process context; corepmu_features_close() undoes it.
 *
 * Return: 0, or an errno after corepmu_refuse()
 */
int corepmu_features_open(struct perf_event *event)
{
	unsigned long features = features_of(event);
	unsigned int nr;
	int ret;

	for_each_set_bit(nr, &features, COREPMU_NR_FEATURES) {
		ret = ops_of(event, nr)->open ? ops_of(event, nr)->open(event) : 0;
		if (ret) {
			close_features(event, features & (BIT(nr) - 1));
			return ret;
		}
	}

	return 0;
}

/**
 * corepmu_features_close() - undo corepmu_features_open()
 * @event: an event that is being freed
 *
 * Process context.
 */
void corepmu_features_close(struct perf_event *event)
{
	close_features(event, features_of(event));
}

/**
 * corepmu_features_check_group() - check whether an event's group can use its features together
 * @event: an event that is being opened
 *
 * Process context.
 *
 * Return: 0, or an errno after corepmu_refuse()
 */
int corepmu_features_check_group(struct perf_event *event)
{
	unsigned long features = features_of(event);
	unsigned int nr;
	int ret = 0;

	for_each_set_bit(nr, &features, COREPMU_NR_FEATURES)
		if (!ret && ops_of(event, nr)->check_group)
			ret = ops_of(event, nr)->check_group(event);

	return ret;
}

/**
 * corepmu_features_moved() - notify an event's features that the event has changed its counter
 * @cpuc: this CPU's state
 * @event: an event with COREPMU_EVENT_FEATURES
 *
 * IRQs off, and the PMU stopped.
 */
void corepmu_features_moved(struct corepmu_cpu *cpuc, struct perf_event *event)
{
	unsigned long features = features_of(event);
	unsigned int nr;

	for_each_set_bit(nr, &features, COREPMU_NR_FEATURES)
		if (ops_of(event, nr)->moved)
			ops_of(event, nr)->moved(cpuc, event);
}

/**
 * corepmu_features_late() - let a feature emit the sample of an overflow before its interrupt comes
 * @cpuc: this CPU's state
 * @event: a stopped sampling event with COREPMU_EVENT_FEATURES and an ended period
 * @regs: the interrupted registers, or the caller's
 *
 * IRQs off, or NMI.
 *
 * Return: false if the caller must emit the sample
 */
bool corepmu_features_late(struct corepmu_cpu *cpuc, struct perf_event *event,
			   struct pt_regs *regs)
{
	unsigned long features = features_of(event);
	unsigned int nr;

	for_each_set_bit(nr, &features, COREPMU_NR_FEATURES) {
		if (!ops_of(event, nr)->late)
			continue;
		ops_of(event, nr)->late(cpuc, event, regs);
		return true;
	}

	return false;
}
