// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: the bench: a PMU on a machine, with which a test does what perf core does
 */
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include <corepmu/counter.h>

#include "machine.h"
#include "models/x86_access.h"

/* A test stays where it is: models and PMUs are per CPU. */
static void stay_on_cpu(int cpu)
{
	set_cpus_allowed_ptr(current, cpumask_of(cpu));
}

/**
 * bench_start() - a PMU on a machine, with which a test does what perf core does
 * @test: the test
 * @machine: the machine
 *
 * The PMU is not registered.
 *
 * Return: the bench; the test ends when there is none
 */
struct bench *bench_start(struct kunit *test, const struct machine *machine)
{
	struct bench *bench;
	struct corepmu *pmu;
	unsigned long flags;

	stay_on_cpu(raw_smp_processor_id());
	bench = kunit_kzalloc(test, sizeof(*bench), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, bench);
	bench->test = test;
	bench->machine = machine;
	bench->cpu = raw_smp_processor_id();
	mutex_init(&bench->ctx.mutex);

	machine_time = NSEC_PER_SEC;
	machine_sample_ns = 0;
	machine_took_calls = 0;
	machine_took_ns = 0;
	machine->ops->power_on(machine);
	pmu = machine->ops->start(machine);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pmu);
	bench->pmu = pmu;
	bench->cpuc = this_cpu_ptr(pmu->cpu);
	pmu->claims_generic = true;

	corepmu_use_backend(pmu->backend);
	local_irq_save(flags);
	pmu->backend->reset(bench->cpuc);
	local_irq_restore(flags);
	pmu->backend->irq_enable(bench->cpuc);
	corepmu_init_pmu(pmu);
	pmu->perf_pmu.type = PERF_TYPE_MAX;
	pmu->open = true;
	model_forget();

	return bench;
}

/**
 * bench_start_on() - bench_start() on the machine of that name, for a suite whose exit() ends it
 * @test: the test; its priv becomes the bench
 * @machine: the machine's name
 *
 * Return: likewise
 */
struct bench *bench_start_on(struct kunit *test, const char *machine)
{
	struct bench *b = bench_start(test, machine_by_name(machine));

	test->priv = b;

	return b;
}

/**
 * bench_end() - take the PMU away, and see that nothing is left behind
 * @bench: from bench_start()
 */
void bench_end(struct bench *bench)
{
	struct kunit *test = bench->test;
	struct corepmu_cpu *cpuc = bench->cpuc;
	unsigned int idx;

	/* exit() of a suite is another thread's. */
	stay_on_cpu(bench->cpu);
	KUNIT_EXPECT_EQ(test, cpuc->used, 0);
	KUNIT_EXPECT_EQ(test, cpuc->active, 0);
	for (idx = 0; idx < COREPMU_MAX_COUNTERS; idx++)
		KUNIT_EXPECT_NULL(test, cpuc->events[idx]);
	KUNIT_EXPECT_NULL(test, cpuc->regs);
	KUNIT_EXPECT_EQ(test, bench->machine->ops->unknown(), bench->unknown_expected);

	bench->pmu->backend->irq_disable(cpuc);
	bench->machine->ops->end(bench->pmu);

	KUNIT_EXPECT_EQ_MSG(test, this_cpu_read(model_log.faults), bench->faults_expected,
			    "accesses that the CPU refuses");
	KUNIT_EXPECT_EQ(test, x86_model_reserved(), 0);
	/* Every event with records has been closed. */
	KUNIT_EXPECT_EQ(test, x86_model_exclusive[X86_MODEL_LBR], 0);
	corepmu_start_near_wrap = 0;
}

/**
 * machine_init() - init() of a suite whose tests have machines for parameters
 * @test: a test
 *
 * Return: 0
 */
int machine_init(struct kunit *test)
{
	test->priv = bench_start(test, test->param_value ?: &machines[0]);
	return 0;
}

/**
 * machine_exit() - exit() of such a suite
 * @test: a test
 */
void machine_exit(struct kunit *test)
{
	if (test->priv)
		bench_end(test->priv);
}

/* In place of what perf core does with a sample */
static void note_sample(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	struct bench *bench = event->overflow_handler_context;

	if (bench->nr_samples < MACHINE_SAMPLES) {
		bench->sample[bench->nr_samples] = data->period;
		bench->sample_user[bench->nr_samples] = user_mode(regs);
	}
	bench->sample_regs = regs;
	bench->nr_samples++;
	machine_time += machine_sample_ns;
	/* Each is the first of its tick: a model is faster than perf core allows. */
	if (!bench->throttle)
		event->hw.interrupts_seq = U64_MAX;
	if (bench->on_sample)
		bench->on_sample(bench, event);
}

/**
 * bench_alloc() - an event as perf core has it before event_init()
 * @bench: the bench
 * @attr: its attributes
 *
 * Return: the event; the test ends without memory
 */
struct perf_event *bench_alloc(struct bench *bench, const struct perf_event_attr *attr)
{
	struct perf_event *event;

	event = kunit_kzalloc(bench->test, sizeof(*event), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(bench->test, event);

	event->attr = *attr;
	event->attr.size = sizeof(event->attr);
	event->cpu = -1;
	event->state = PERF_EVENT_STATE_INACTIVE;
	event->group_leader = event;
	INIT_LIST_HEAD(&event->sibling_list);
	INIT_LIST_HEAD(&event->active_list);
	event->clock = local_clock;
	event->overflow_handler = note_sample;
	event->overflow_handler_context = bench;
	event->pmu = &bench->pmu->perf_pmu;
	event->ctx = &bench->ctx;

	/* perf_event_alloc() */
	event->hw.sample_period = attr->freq && attr->sample_freq ? 1 : attr->sample_period;
	event->hw.last_period = event->hw.sample_period;
	local64_set(&event->hw.period_left, event->hw.sample_period);
	event->hw.interrupts_seq = U64_MAX;

	return event;
}

/**
 * bench_open() - perf_event_open(2), as far as the driver is concerned
 * @bench: the bench
 * @attr: attributes
 * @event: the event, to be closed with bench_close()
 *
 * Return: what event_init() returns
 */
int bench_open(struct bench *bench, const struct perf_event_attr *attr,
	       struct perf_event **event)
{
	*event = bench_alloc(bench, attr);

	return bench_init_event(*event);
}

/**
 * bench_init_event() - event_init()
 * @event: from bench_alloc()
 *
 * Return: what it returns
 */
int bench_init_event(struct perf_event *event)
{
	struct bench *bench = event->overflow_handler_context;
	int ret;

	mutex_lock(&bench->ctx.mutex);
	ret = bench->pmu->perf_pmu.event_init(event);
	mutex_unlock(&bench->ctx.mutex);

	return ret;
}

/**
 * bench_event() - a generic event that there has to be
 * @bench: the bench
 * @hardware: PERF_COUNT_HW_*
 * @period: 0 for one that only counts
 *
 * Return: the event; the test ends when it is refused
 */
struct perf_event *bench_event(struct bench *bench, u64 hardware, u64 period)
{
	struct perf_event_attr attr = {
		.type		= PERF_TYPE_HARDWARE,
		.config		= hardware,
		.sample_period	= period,
	};
	struct perf_event *event;

	KUNIT_ASSERT_EQ(bench->test, bench_open(bench, &attr, &event), 0);

	return event;
}

/**
 * bench_close() - the end of an event
 * @event: one that event_init() took
 */
void bench_close(struct perf_event *event)
{
	if (event->destroy)
		event->destroy(event);
}

/**
 * bench_add() - schedule an event in
 * @event: the event
 * @flags: PERF_EF_START or not
 *
 * Return: what add() returns
 */
int bench_add(struct perf_event *event, int flags)
{
	unsigned long irqs;
	int ret;

	local_irq_save(irqs);
	event->pmu->pmu_disable(event->pmu);
	ret = event->pmu->add(event, flags);
	event->pmu->pmu_enable(event->pmu);
	local_irq_restore(irqs);

	return ret;
}

/**
 * bench_del() - schedule an event out
 * @event: the event
 */
void bench_del(struct perf_event *event)
{
	unsigned long irqs;

	local_irq_save(irqs);
	event->pmu->pmu_disable(event->pmu);
	event->pmu->del(event, 0);
	event->pmu->pmu_enable(event->pmu);
	local_irq_restore(irqs);
}

/**
 * bench_sampling() - open a generic event of hardware that samples, and start it
 * @bench: the bench
 * @hardware: PERF_COUNT_HW_*
 * @period: its period
 *
 * Return: the event, to be ended with bench_remove()
 */
struct perf_event *bench_sampling(struct bench *bench, u64 hardware, u64 period)
{
	struct perf_event *event = bench_event(bench, hardware, period);

	KUNIT_ASSERT_EQ(bench->test, bench_add(event, PERF_EF_START), 0);
	bench_forget(bench);

	return event;
}

/**
 * bench_remove() - schedule an event out and close it
 * @event: the event
 */
void bench_remove(struct perf_event *event)
{
	bench_del(event);
	bench_close(event);
}

/**
 * bench_start_event() - start()
 * @event: the event
 * @flags: PERF_EF_RELOAD or not
 */
void bench_start_event(struct perf_event *event, int flags)
{
	unsigned long irqs;

	local_irq_save(irqs);
	event->pmu->pmu_disable(event->pmu);
	event->pmu->start(event, flags);
	event->pmu->pmu_enable(event->pmu);
	local_irq_restore(irqs);
}

/**
 * bench_stop_event() - stop()
 * @event: the event
 * @flags: PERF_EF_UPDATE or not
 */
void bench_stop_event(struct perf_event *event, int flags)
{
	unsigned long irqs;

	local_irq_save(irqs);
	event->pmu->pmu_disable(event->pmu);
	event->pmu->stop(event, flags);
	event->pmu->pmu_enable(event->pmu);
	local_irq_restore(irqs);
}

/**
 * bench_read() - read(2)
 * @event: the event
 *
 * Return: its count
 */
u64 bench_read(struct perf_event *event)
{
	unsigned long irqs;

	local_irq_save(irqs);
	event->pmu->read(event);
	local_irq_restore(irqs);

	return local64_read(&event->count);
}

/**
 * bench_forget() - forget samples and accesses
 * @bench: the bench
 */
void bench_forget(struct bench *bench)
{
	bench->nr_samples = 0;
	model_forget();
}

/**
 * bench_run() - something happens in user space
 * @bench: the bench
 * @what: what
 * @times: how often
 */
void bench_run(struct bench *bench, enum machine_event what, u64 times)
{
	bench->machine->ops->run(what, true, times);
}

/**
 * expect_accesses() - the registers accessed since the last look, in order
 * @test: the test
 * @expected: as model_format() has it
 */
void expect_accesses(struct kunit *test, const char *expected)
{
	char *text = kunit_kzalloc(test, SZ_4K, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_EXPECT_STREQ(test, model_format(text, SZ_4K), expected);
	model_forget();
	kunit_kfree(test, text);
}
