// SPDX-License-Identifier: GPL-2.0-only
/*
 * precise.c - samples without skid, if the PMU has them: address of the instruction, registers,
 * and data address of known accesses
 */
#define _GNU_SOURCE
#ifdef __x86_64__
#include <asm/perf_regs.h>
#endif

#include "judge/validate.h"

#define PAGES		64
#define PERIOD		10007

static struct ring ring;

/* precise_ip: request 0 skid */
#define NO_SKID		2

/* Open a precise event. Return a descriptor; negative, after a skip, if the PMU has none. */
static int open_precise(struct perf_event_attr *attr)
{
	int fd = event_open(attr, 0, -1, -1, 0);

	if (fd < 0) {
		expect_true("an errno of a missing feature", fd == -EOPNOTSUPP || fd == -EINVAL ||
			    fd == -ENOENT || fd == -ENODATA);
		ktap_skip("the PMU has no precise samples: %s", strerror(-fd));
		return fd;
	}
	return map_sampling("a precise event", &ring, fd, PAGES);
}

static bool in_loop(u64 addr)
{
	return addr >= (u64)known_loop_start && addr < (u64)known_loop_end;
}

/* Maximum number of addresses in the loop that samples may have */
#define PLACES_MAX	8

static void place(void)
{
	unsigned int samples = 0, inside = 0, inexact = 0, nr = 0, i;
	const struct perf_event_header *header;
	u64 places[PLACES_MAX] = { 0 };
	struct perf_event_attr attr;
	struct sample s;
	int fd;

	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP);
	attr.precise_ip = NO_SKID;
	fd = open_precise(&attr);
	if (fd < 0)
		return;
	event_run_loop(fd, ITERATIONS);
	while ((header = ring_next_sample(&ring, &attr, &s))) {
		samples++;
		inexact += !(header->misc & PERF_RECORD_MISC_EXACT_IP);
		if (!in_loop(s.ip))
			continue;
		inside++;
		for (i = 0; i < nr && places[i] != s.ip; i++)
			;
		if (i == nr && nr < PLACES_MAX)
			places[nr++] = s.ip;
	}
	expect_range("samples", LOOP / PERIOD - 1, LOOP / PERIOD + 1, samples);
	expect_most("samples inside the loop", 2, "samples", samples, inside);
	expect_eq("samples that are not said to be exact", 0, inexact);
	/* The period is odd, so the samples show different instructions of the loop. */
	if (pmu.exact)
		expect_eq("instructions of the loop that have samples", LOOP_INSNS, nr);
	else
		expect_range("instructions of the loop that have samples", 1, LOOP_INSNS, nr);
	close_sampling(&ring, fd);
}

#ifdef __x86_64__

/* AX is 1 before and after the access; the next instruction changes it. */
void store_loop(unsigned long rounds, u64 *cell);
void load_loop(unsigned long rounds, u64 *cell);
extern const char store_insn[], load_insn[];

asm(".pushsection .text\n"
"store_loop:\n"
"	mov	$1, %eax\n"
"store_insn:\n"
"	mov	%rdi, (%rsi)\n"
"	mov	$2, %eax\n"
"	dec	%rdi\n"
"	jnz	store_loop\n"
"	ret\n"
"load_loop:\n"
"	mov	$1, %eax\n"
"load_insn:\n"
"	mov	(%rsi), %rdx\n"
"	mov	$2, %eax\n"
"	dec	%rdi\n"
"	jnz	load_loop\n"
"	ret\n"
"	.popsection\n");

static u64 cell __attribute__((aligned(64)));

/* A sufficient number of samples */
#define FEW		10

#define REGISTERS	(1ULL << PERF_REG_X86_AX | 1ULL << PERF_REG_X86_SI)

static void accesses(const char *const *names, void (*code)(unsigned long rounds, u64 *cell),
		     const char *insn)
{
	unsigned int samples = 0, elsewhere = 0, addresses = 0, registers = 0, rounds;
	struct perf_event_attr attr;
	struct sample s;
	u64 count;
	int fd;

	if (registers_are_locked()) {
		ktap_skip("the kernel is locked down: kernel_lockdown(7)");
		return;
	}
	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_INTR);
	attr.type = pmu.type;
	attr.config = 0;
	if (!find_event(names, &attr)) {
		ktap_skip("events/ has no %s", names[0]);
		return;
	}
	attr.precise_ip = NO_SKID;
	attr.sample_regs_intr = REGISTERS;
	fd = open_precise(&attr);
	if (fd < 0)
		return;
	/* An event of loads may count only some loads, which the CPU selects. */
	event_enable(fd);
	for (rounds = 0; rounds < FEW * FEW && event_read(fd) < FEW * PERIOD; rounds++)
		code(ITERATIONS, &cell);
	event_disable(fd);
	count = event_read(fd);
	while (ring_next_sample(&ring, &attr, &s)) {
		samples++;
		if (s.ip != (u64)insn) {
			elsewhere++;
			continue;
		}
		addresses += s.addr != (u64)&cell;
		/* AX is the first register. */
		registers += s.nr_regs != 2 || s.regs[0] != 1 || s.regs[1] != (u64)&cell;
	}
	expect_range("accesses counted", FEW * PERIOD, rounds * (ITERATIONS + 1000), count);
	expect_samples("samples", count, PERIOD, 1, 1, samples);
	/* Code around the loop accesses memory, too. */
	expect_range("samples that are not at the access", 0, rounds, elsewhere);
	expect_eq("samples with another address", 0, addresses);
	expect_eq("samples with registers of another moment", 0, registers);
	close_sampling(&ring, fd);
}

static void stores(void)
{
	static const char *const names[] = { "mem-stores", NULL };

	accesses(names, store_loop, store_insn);
}

static void loads(void)
{
	static const char *const names[] = { "mem-loads", NULL };

	accesses(names, load_loop, load_insn);
}

#else

static void stores(void)
{
	ktap_skip("this architecture has no known accesses");
}

static void loads(void)
{
	stores();
}

#endif

static const struct check checks[] = {
	{ "precise", "instructions at their place, and said to be",
	  MAN "\"SAMPLE_IP must have 0 skid. See also the description of PERF_RECORD_MISC_EXACT_IP.\", \"This indicates that the content of PERF_SAMPLE_IP points to the actual instruction that triggered the event.\"",
	  place, NEED_SAMPLING },
	{ "precise", "stores: place, address and registers",
	  MAN "\"If the CPU supports hardware sampling of register state (i.e., PEBS on Intel x86) and precise_ip is set higher than zero then the register values returned are those captured by hardware at the time of the sampled instruction's retirement.\"",
	  stores, NEED_SAMPLING | NEED_PMU },
	{ "precise", "loads: place, address and registers",
	  MAN "PERF_SAMPLE_ADDR: \"Records an address, if applicable.\"",
	  loads, NEED_SAMPLING | NEED_PMU },
};

const struct check_list precise_checks = { checks, ARRAY_SIZE(checks) };
