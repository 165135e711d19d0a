/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: machines for the suites: a register model, and a PMU on it
 */
#ifndef _COREPMU_KUNIT_MACHINE_H
#define _COREPMU_KUNIT_MACHINE_H

#include <kunit/test.h>

#include <linux/perf_event.h>
#include <linux/types.h>

#include <corepmu/pmu.h>

#include "models/model.h"

#define MACHINE_SAMPLES	64

/* What a CPU of any kind can count */
enum machine_event {
	MACHINE_CYCLES,
	MACHINE_INSTRUCTIONS,
	MACHINE_BRANCHES,
};

struct machine;

/**
 * struct machine_ops - a kind of machine
 * @power_on: make the model such a CPU
 * @start: describe the CPU with the backend and take its interrupt; an errno
 * @end: undo @start
 * @run: the CPU executes
 * @hold: keep interrupts waiting, or take them
 * @spurious: an interrupt without an overflow
 * @lose_state: the registers of this CPU lose what they held
 * @unknown: interrupts that the handler did not know
 */
struct machine_ops {
	void (*power_on)(const struct machine *machine);
	struct corepmu *(*start)(const struct machine *machine);
	void (*end)(struct corepmu *pmu);
	void (*run)(enum machine_event event, bool user, u64 times);
	void (*hold)(bool hold);
	void (*spurious)(void);
	void (*lose_state)(void);
	unsigned int (*unknown)(void);
};

/**
 * struct machine - a machine
 * @name: as a parameter of a test
 * @ops: its kind
 * @cpu: the model's description of its CPU
 * @has_builtin: the kernel has a driver of its own for the counters (x86)
 */
struct machine {
	const char			*name;
	const struct machine_ops	*ops;
	const void			*cpu;
	bool				has_builtin;
};

/* In place of sched_clock() and perf_sample_event_took() in core/overflow.c */
u64 machine_clock(void);
void machine_took(u64 ns);
extern u64 machine_time, machine_sample_ns, machine_took_ns;
extern unsigned int machine_took_calls;

/* In place of perf_sched_cb_inc() and perf_sched_cb_dec() in branch/core.c */
void machine_cb_inc(struct pmu *pmu);
void machine_cb_dec(struct pmu *pmu);
extern int machine_cb_users;

extern const struct machine machines[];
extern const unsigned int nr_machines;
const void *machine_gen_params(const void *prev, char *desc);
const void *machine_gen_those(const void *prev, char *desc,
			      bool (*fits)(const struct machine *machine));
bool machine_is_x86(const struct machine *machine);
bool machine_has_cycle_counter(const struct machine *machine);

/**
 * struct bench - a machine that a test runs on, from machine_init()
 * @test: the test
 * @machine: the machine
 * @cpu: the CPU that the test is bound to
 * @pmu: the PMU on it
 * @cpuc: its state on that CPU
 * @ctx: whose mutex perf core holds when it opens an event
 * @nr_samples: samples since bench_forget()
 * @sample: period of each
 * @sample_user: whether it was taken in user space
 * @sample_regs: where the last was taken
 * @throttle: perf core may stop an event that interrupts too often
 * @on_sample: called for each sample, or NULL
 * @faults_expected: accesses that the test wants refused
 * @unknown_expected: interrupts that the test wants unknown
 */
struct bench {
	struct kunit		*test;
	const struct machine	*machine;
	int			cpu;
	struct corepmu		*pmu;
	struct corepmu_cpu	*cpuc;
	struct perf_event_context ctx;
	unsigned int		nr_samples;
	u64			sample[MACHINE_SAMPLES];
	bool			sample_user[MACHINE_SAMPLES];
	const struct pt_regs	*sample_regs;
	bool			throttle;
	void			(*on_sample)(struct bench *bench, struct perf_event *event);
	unsigned int		faults_expected;
	unsigned int		unknown_expected;
};

int machine_init(struct kunit *test);
void machine_exit(struct kunit *test);
struct bench *bench_start(struct kunit *test, const struct machine *machine);
struct bench *bench_start_on(struct kunit *test, const char *machine);
void bench_end(struct bench *bench);
const struct machine *machine_by_name(const char *name);

/* Opening an event of the bench's PMU; attr.size is filled in. */
struct perf_event *bench_alloc(struct bench *bench, const struct perf_event_attr *attr);
int bench_open(struct bench *bench, const struct perf_event_attr *attr,
	       struct perf_event **event);
int bench_init_event(struct perf_event *event);
struct perf_event *bench_event(struct bench *bench, u64 hardware, u64 period);
void bench_close(struct perf_event *event);

/* What perf core does, the PMU disabled around it. */
int bench_add(struct perf_event *event, int flags);
void bench_del(struct perf_event *event);
struct perf_event *bench_sampling(struct bench *bench, u64 hardware, u64 period);
void bench_remove(struct perf_event *event);
void bench_start_event(struct perf_event *event, int flags);
void bench_stop_event(struct perf_event *event, int flags);
u64 bench_read(struct perf_event *event);
void bench_forget(struct bench *bench);
void bench_run(struct bench *bench, enum machine_event what, u64 times);

void expect_accesses(struct kunit *test, const char *expected);

#endif /* _COREPMU_KUNIT_MACHINE_H */
