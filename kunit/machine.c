// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: machines for the suites: a register model, and a PMU on it
 */
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/time64.h>

#include <corepmu/counter.h>

#include "machine.h"
#include "models/arm64_access.h"
#include "models/x86_access.h"
#include "x86/x86.h"
#include "arm64/pmuv3.h"

/* x86 */

static const struct x86_model_cpu intel_v1 = {
	.name = "v1", .family = 6, .version = 1, .nr_gp = 2, .gp_width = 40,
	.nr_events = 7,
};

static const struct x86_model_cpu intel_v2 = {
	.name = "v2", .family = 6, .version = 2, .nr_gp = 2, .gp_width = 40,
	.nr_fixed = 3, .fixed_width = 40, .nr_events = 7,
};

static const struct x86_model_cpu intel_v3 = {
	.name = "v3", .family = 6, .version = 3, .nr_gp = 4, .gp_width = 48,
	.nr_fixed = 3, .fixed_width = 48, .full_width = true, .nr_events = 7, .virt = true,
};

static const struct x86_model_cpu intel_v4 = {
	.name = "v4", .family = 6, .version = 4, .nr_gp = 8, .gp_width = 48,
	.nr_fixed = 3, .fixed_width = 48, .full_width = true, .nr_events = 7,
};

static const struct x86_model_cpu intel_v5 = {
	.name = "v5", .family = 6, .version = 5, .nr_gp = 8, .gp_width = 48,
	.nr_fixed = 2, .fixed_map = 0xf, .fixed_width = 48, .full_width = true,
	.nr_events = 8, .amx = true,
};

static const struct x86_model_cpu amd_legacy = {
	.name = "legacy", .amd = true, .family = 0x10, .version = 0, .nr_gp = 4,
	.gp_width = 48,
};

static const struct x86_model_cpu amd_core = {
	.name = "core", .amd = true, .family = 0x17, .version = 1, .nr_gp = 6,
	.gp_width = 48, .virt = true,
};

static const struct x86_model_cpu amd_zen2 = {
	.name = "Zen 2", .amd = true, .family = 0x17, .model = 0x31, .version = 1, .nr_gp = 6,
	.gp_width = 48,
};

static const struct x86_model_cpu amd_hygon = {
	.name = "Hygon", .amd = true, .hygon = true, .family = 0x18, .version = 1, .nr_gp = 6,
	.gp_width = 48,
};

static const struct x86_model_cpu amd_v2 = {
	.name = "PerfMonV2", .amd = true, .family = 0x19, .version = 2, .nr_gp = 6,
	.gp_width = 48,
};

static void x86_power_on(const struct machine *machine)
{
	x86_model_power_on(machine->cpu);
	x86_model_builtin = machine->has_builtin;
}

static struct corepmu *x86_start(const struct machine *machine)
{
	struct x86_desc *desc;
	struct corepmu *pmu;
	int ret = -ENOMEM;

	desc = kzalloc(sizeof(*desc), GFP_KERNEL);
	pmu = corepmu_alloc(&x86_each_backend);
	if (!desc || !pmu)
		goto out;
	desc->pmu = pmu;
	pmu->private = desc;
	cpumask_copy(&pmu->supported_cpus, cpu_possible_mask);

	ret = x86_model_cpu->amd ? amd_describe(desc) : intel_describe(desc);
	if (ret)
		goto out;
	desc->shares_counters = machine->has_builtin;
	if (desc->global_ctrl && !desc->shares_counters)
		pmu->backend = &x86_global_backend;

	ret = x86_reserve(pmu);
	if (ret)
		goto out;
	ret = x86_nmi_init(desc);
	if (ret)
		x86_release(pmu);
out:
	if (ret) {
		if (pmu)
			corepmu_free(pmu);
		kfree(desc);
		return ERR_PTR(ret);
	}

	return pmu;
}

static void x86_end(struct corepmu *pmu)
{
	struct x86_desc *desc = to_x86(pmu);

	x86_release(pmu);
	x86_nmi_exit(desc);
	corepmu_free(pmu);
	kfree(desc);
}

static void x86_run(enum machine_event event, bool user, u64 times)
{
	static const u16 intel[] = { 0x003c, 0x00c0, 0x00c4 }, amd[] = { 0x0076, 0x00c0, 0x00c2 };

	x86_model_run(x86_model_cpu->amd ? amd[event] : intel[event], user, times);
}

static unsigned int x86_unknown(void)
{
	return this_cpu_read(x86_model_state.unknown_nmis);
}

static void x86_lose_state(void)
{
	struct x86_model *m = this_cpu_ptr(&x86_model_state);

	memset(m->select, 0, sizeof(m->select));
	memset(m->counter, 0, sizeof(m->counter));
	memset(m->fixed, 0, sizeof(m->fixed));
	m->fixed_ctrl = 0;
	m->global_ctrl = 0;
	m->global_status = 0;
}

static const struct machine_ops x86_machine = {
	.power_on	= x86_power_on,
	.start		= x86_start,
	.end		= x86_end,
	.run		= x86_run,
	.hold		= x86_model_hold,
	.spurious	= x86_model_spurious_nmi,
	.lose_state	= x86_lose_state,
	.unknown	= x86_unknown,
};

/* PMUv3 */

static const struct pmuv3_model_cpu pmuv3_old = {
	.name = "PMUv3", .pmuver = 1, .nr = 6, .el2 = true,
	.pmceid0 = 0x663f0f3f, .pmceid1 = 0x06,
};

static const struct pmuv3_model_cpu pmuv3p4_vhe = {
	.name = "PMUv3p4", .pmuver = 5, .nr = 6, .el2 = true, .hyp = true,
	.pmceid0 = 0x400ff7f6f3f, .pmceid1 = 0x1f2ae7f, .pmmir = 0x8,
};

static const struct pmuv3_model_cpu pmuv3p5 = {
	.name = "PMUv3p5", .pmuver = 6, .nr = 6,
	.pmceid0 = 0x400ff7f6f3f, .pmceid1 = 0x1f2ae7f, .pmmir = 0x8,
};

static const struct pmuv3_model_cpu pmuv3p9 = {
	.name = "PMUv3p9", .pmuver = 9, .nr = 31, .instr_counter = true,
	.pmceid0 = ~0ULL, .pmceid1 = ~0ULL, .pmmir = 0x540308,
};

static void pmuv3_power_on(const struct machine *machine)
{
	pmuv3_model_power_on(machine->cpu);
}

static struct corepmu *pmuv3_start(const struct machine *machine)
{
	struct pmuv3 *pmuv3;
	int ret = -ENOMEM;

	pmuv3 = kzalloc(sizeof(*pmuv3), GFP_KERNEL);
	if (!pmuv3)
		return ERR_PTR(-ENOMEM);
	pmuv3->pmu = corepmu_alloc(&pmuv3_backend);
	if (!pmuv3->pmu)
		goto out;
	pmuv3->pmu->private = pmuv3;
	cpumask_copy(&pmuv3->pmu->supported_cpus, cpu_possible_mask);

	ret = pmuv3_describe(pmuv3);
	if (ret) {
		corepmu_free(pmuv3->pmu);
		goto out;
	}
	pmuv3_model_connect(pmuv3_interrupt, pmuv3->pmu->cpu);

	return pmuv3->pmu;

out:
	kfree(pmuv3);
	return ERR_PTR(ret);
}

static void pmuv3_end(struct corepmu *pmu)
{
	struct pmuv3 *pmuv3 = to_pmuv3(pmu);

	pmuv3_model_connect(NULL, NULL);
	corepmu_free(pmu);
	kfree(pmuv3);
}

static void pmuv3_run(enum machine_event event, bool user, u64 times)
{
	static const u16 events[] = {
		PMUV3_EVENT_CPU_CYCLES, PMUV3_EVENT_INST_RETIRED, PMUV3_EVENT_BR_RETIRED,
	};

	pmuv3_model_run(events[event], user ? 0 : pmuv3_model_cpu->hyp ? 2 : 1, times);
}

static unsigned int pmuv3_unknown(void)
{
	return this_cpu_read(pmuv3_model_state.unknown_irqs);
}

static void pmuv3_lose_state(void)
{
	struct pmuv3_model *m = this_cpu_ptr(&pmuv3_model_state);

	memset(m->counter, 0x5a, sizeof(m->counter));
	memset(m->type, 0x5a, sizeof(m->type));
	m->pmcr = 0;
	m->enabled = 0;
	m->interrupts = 0;
	m->overflowed = 0;
}

static const struct machine_ops pmuv3_machine = {
	.power_on	= pmuv3_power_on,
	.start		= pmuv3_start,
	.end		= pmuv3_end,
	.run		= pmuv3_run,
	.hold		= pmuv3_model_hold,
	.spurious	= pmuv3_model_spurious_irq,
	.lose_state	= pmuv3_lose_state,
	.unknown	= pmuv3_unknown,
};

const struct machine machines[] = {
	{ "intel-v1",		&x86_machine, &intel_v1 },
	{ "intel-v2",		&x86_machine, &intel_v2 },
	{ "intel-v3",		&x86_machine, &intel_v3 },
	{ "intel-v4",		&x86_machine, &intel_v4 },
	{ "intel-v4-beside",	&x86_machine, &intel_v4, true },
	{ "intel-v5",		&x86_machine, &intel_v5 },
	{ "amd-legacy",		&x86_machine, &amd_legacy },
	{ "amd-core",		&x86_machine, &amd_core },
	{ "amd-zen2",		&x86_machine, &amd_zen2 },
	{ "amd-hygon",		&x86_machine, &amd_hygon },
	{ "amd-v2",		&x86_machine, &amd_v2 },
	{ "pmuv3",		&pmuv3_machine, &pmuv3_old },
	{ "pmuv3p4-vhe",	&pmuv3_machine, &pmuv3p4_vhe },
	{ "pmuv3p5",		&pmuv3_machine, &pmuv3p5 },
	{ "pmuv3p9",		&pmuv3_machine, &pmuv3p9 },
};

const unsigned int nr_machines = ARRAY_SIZE(machines);

/**
 * machine_gen_params() - all machines as parameters of a test
 * @prev: the one before, or NULL
 * @desc: its name
 *
 * Return: the next machine, or NULL
 */
const void *machine_gen_params(const void *prev, char *desc)
{
	const struct machine *machine = prev ? (const struct machine *)prev + 1 : machines;

	if (machine == machines + nr_machines)
		return NULL;
	strscpy(desc, machine->name, KUNIT_PARAM_DESC_SIZE);

	return machine;
}

/**
 * machine_by_name() - one machine
 * @name: its name
 *
 * Return: the machine
 */
const struct machine *machine_by_name(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_machines - 1; i++)
		if (!strcmp(machines[i].name, name))
			break;

	return &machines[i];
}

/* Time */

/* What the clock says, and how long a sample takes */
u64 machine_time;
u64 machine_sample_ns;

/* What perf core was told of overflows: how often, and of what time in all */
unsigned int machine_took_calls;
u64 machine_took_ns;

/**
 * machine_clock() - sched_clock() of overflow.c
 *
 * Return: nanoseconds
 */
u64 machine_clock(void)
{
	return machine_time;
}

/**
 * machine_took() - perf_sample_event_took() of overflow.c
 * @ns: how long overflows took
 */
void machine_took(u64 ns)
{
	machine_took_calls++;
	machine_took_ns += ns;
}

/* The bench */

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
