// SPDX-License-Identifier: GPL-2.0-only
/*
 * quick.c - a verdict on a machine's counts within ten seconds
 *
 * Each test compares a count with work whose instructions are known. A test that fails makes the
 * later tests meaningless if they need what it tests: they are left out then.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "guard.h"
#include "outcome.h"
#include "perf_util.h"
#include "quick.h"
#include "validate.h"

#define ROUNDS		5
#define SYSCALLS	10000U
/* Samples that the loop's length should give, and the number that suffices */
#define SAMPLES		20U
#define ENOUGH_SAMPLES	18U
/* More user instructions than a round of call_kernel() has, and fewer than the kernel executes */
#define SYSCALL_INSNS	50U

/* What to do about a fault */
#define ALLOW_USER	"set kernel.perf_event_paranoid to 2, let containers use perf_event_open"
#define CHOOSE_PMU	"choose a PMU with --pmu NAME"
#define COUNT_INSNS	"use QEMU with -icount shift=0, or a virtual PMU of this project"
#define GIVE_PMU	"give a virtual machine a PMU (KVM: -cpu host,pmu=on), or see dmesg"
#define FREE_COUNTERS	"stop other profilers, and the watchdog: kernel.nmi_watchdog=0"
#define FREE_HOST	"free the counters of the host if this is a guest: profilers, watchdog"
#define USE_SUM		"trust only the sum of user and kernel, or use another virtual PMU"
#define USE_USER	"trust counts of user space only: the hypervisor hides the kernel"
#define USE_STAT	"trust perf stat, but not perf record, or use another virtual PMU"
#define FIND_STORM	"look for a storm of PMU interrupts in /proc/interrupts"

static struct {
	char faults[512];
	const char *remedy;	/* of the first fault */
	char notes[512];
} verdict;

static void append(char *text, size_t size, const char *separator, const char *fmt, va_list ap)
{
	size_t len = strlen(text);

	if (len)
		len += snprintf(text + len, size - len, "%s", separator);
	if (len < size)
		vsnprintf(text + len, size - len, fmt, ap);
}

static void fault(const char *remedy, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Note a reason not to trust the PMU, and what to do about it. */
static void fault(const char *remedy, const char *fmt, ...)
{
	va_list ap;

	if (!verdict.remedy)
		verdict.remedy = remedy;
	va_start(ap, fmt);
	append(verdict.faults, sizeof(verdict.faults), "; also: ", fmt, ap);
	va_end(ap);
}

static void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Note what a trusted PMU shows, or what could not be tested. */
static void note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	append(verdict.notes, sizeof(verdict.notes), ", ", fmt, ap);
	va_end(ap);
}

static void on_alarm(int number)
{
	static const char text[] =
		"counts cannot be trusted: the tests did not end in time; remedy: " FIND_STORM "\n";

	(void)number;
	if (write(STDOUT_FILENO, text, sizeof(text) - 1) < 0)
		_exit(2);
	_exit(1);
}

/* Count @work(@rounds). Return 0, or a negative errno. */
static int count_work(struct perf_event_attr attr, void (*work)(unsigned long),
		      unsigned long rounds, struct event_times *times)
{
	int fd;

	attr.read_format = FORMAT_TIMES;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		return fd;
	event_enable(fd);
	work(rounds);
	event_disable(fd);
	if (read(fd, times, sizeof(*times)) != sizeof(*times))
		memset(times, 0, sizeof(*times));
	close(fd);
	return 0;
}

/* Check whether perf lets this user count instructions. */
static bool is_allowed(void)
{
	const char *why = find_instructions();
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_HARDWARE };
	struct event_times times;
	int error;

	if (!why && pmu.instructions.exclude_kernel)
		return true;
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	error = count_work(attr, known_loop, ITERATIONS, &times);
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	if (!why)
		fault(USE_SUM, "exclude_kernel is refused: counts have the kernel's instructions");
	else if (error == -EACCES || error == -EPERM)
		fault(ALLOW_USER, "this user may not count: %s", strerror(-error));
	else if (!error)
		fault(CHOOSE_PMU, "%s", why);
	else if (!count_work(attr, known_loop, ITERATIONS, &times))
		fault(COUNT_INSNS, "the PMU counts cycles, but no instructions");
	else
		fault(GIVE_PMU, "there is no PMU that counts instructions: %s", strerror(-error));
	return false;
}

/* Check whether an event gets a counter, which counts the instructions of the known loop. */
static bool is_counting(void)
{
	struct event_times times;
	u64 best = 0, off = ~0ULL;
	u64 share = 0;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		u64 differs;

		if (count_work(pmu.instructions, known_loop, ITERATIONS, &times))
			continue;
		if (times.enabled && times.running * 100 / times.enabled > share)
			share = times.running * 100 / times.enabled;
		differs = times.count > LOOP ? times.count - LOOP : LOOP - times.count;
		if (times.running == times.enabled && times.running && differs <= off) {
			off = differs;
			best = times.count;
		}
	}
	if (off == ~0ULL)
		fault(FREE_COUNTERS,
		      "the counters are held: an event has one for at most %u percent of its time",
		      (unsigned int)share);
	else if (!best)
		fault(FREE_HOST, "the counter is stuck: 0 instructions of %lu", LOOP);
	else if (best < LOOP || best > LOOP + count_slack(LOOP))
		fault(COUNT_INSNS, "%lu instructions are counted as %llu", LOOP,
		      (unsigned long long)best);
	else
		note("%lu instructions are counted as %llu", LOOP, (unsigned long long)best);
	return !verdict.remedy;
}

/* Check that exclude_kernel and exclude_user leave out what they name. */
static void test_modes(void)
{
	struct perf_event_attr attr = pmu.instructions;
	struct event_times user, all, kernel;
	int error;

	if (count_work(attr, call_kernel, SYSCALLS, &user))
		return;
	attr.exclude_kernel = 0;
	error = count_work(attr, call_kernel, SYSCALLS, &all);
	attr.exclude_user = 1;
	if (!error)
		error = count_work(attr, known_loop, ITERATIONS, &kernel);
	if (user.count > SYSCALL_INSNS * SYSCALLS)
		fault(USE_SUM, "exclude_kernel is ignored: %llu instructions of %u system calls",
		      (unsigned long long)user.count, SYSCALLS);
	else if (!error && all.count < user.count + SYSCALL_INSNS * SYSCALLS)
		fault(USE_USER, "the kernel is not counted: %llu instructions of %u system calls",
		      (unsigned long long)all.count, SYSCALLS);
	if (!error && kernel.count > LOOP / 2)
		fault(USE_SUM, "exclude_user is ignored: %llu instructions of a loop in user space",
		      (unsigned long long)kernel.count);
	if (error)
		note("the kernel's counts are not tested (%s)", strerror(-error));
	else
		note("user and kernel are apart");
}

/* Check that overflows interrupt. */
static void test_interrupts(void)
{
	struct perf_event_attr attr = pmu.instructions;
	struct ring_sum sum = { 0 };
	struct ring ring;
	int fd, error;

	attr.sample_period = LOOP / SAMPLES;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = event_open(&attr, 0, -1, -1, 0);
	error = fd < 0 ? fd : ring_map(&ring, fd, 1);
	if (error) {
		fault(USE_STAT, "the PMU has no overflow interrupt: %s", strerror(-error));
	} else {
		event_run_loop(fd, ITERATIONS);
		ring_drain(&ring, &attr, &sum);
		ring_unmap(&ring);
		if (sum.throttles)
			note("samples are not tested (kernel.perf_event_max_sample_rate is %ld)",
			     read_number(RATE_FILE));
		else if (sum.samples < ENOUGH_SAMPLES)
			fault(USE_STAT, "%s: %u samples of %u",
			      sum.samples ? "overflow interrupts are late or lost" :
					    "no overflow interrupt arrives",
			      sum.samples, SAMPLES);
		else
			note("%u samples of %u", sum.samples, SAMPLES);
	}
	if (fd >= 0)
		close(fd);
}

/* Note cycles that are the clock's nanoseconds. */
static void test_cycles(void)
{
	struct perf_event_attr attr = pmu.instructions;
	struct event_times times;

	if (attr.type != PERF_TYPE_HARDWARE)
		return;
	attr.config += PERF_COUNT_HW_CPU_CYCLES - PERF_COUNT_HW_INSTRUCTIONS;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		if (count_work(attr, known_loop, ITERATIONS, &times) || !times.running ||
		    llabs((s64)(times.count - times.running)) > (s64)times.running / 100)
			return;
	}
	note("but cycles are the clock's nanoseconds, as in an emulator: trust no cycles");
}

int quick_verdict(void)
{
	signal(SIGALRM, on_alarm);
	alarm(QUICK_SECONDS);
	if (is_allowed() && is_counting()) {
		test_modes();
		test_interrupts();
		test_cycles();
	}
	alarm(0);
	if (verdict.remedy)
		printf("counts cannot be trusted: %s; remedy: %s\n", verdict.faults,
		       verdict.remedy);
	else
		printf("counts can be trusted: %s\n", verdict.notes);
	return !!verdict.remedy;
}
