// SPDX-License-Identifier: GPL-2.0-only
/*
 * ibs.c - x86: precise samples on AMD, by instruction-based sampling
 *
 * For guests whose virtual PMU has IBS, under either driver: the core PMU's driver passes events
 * with precise_ip to the PMU ibs_op. Each sample is of one instruction of a small program. It
 * shows the address that this instruction accesses, or none.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ring.h"

#define SYSFS		"/sys/bus/event_source/devices/"

#define CYCLES		0x0076
#define MICRO_OPS	0x00c1
#define BRANCHES	0x00c2

/* ibs_op's format */
#define CNT_CTL		(1 << 19)

/* So long that the kernel's work between a sample and user space is a small part */
#define PERIOD		48000
/*
 * ibs_op requires multiples of 16. No such number is a multiple of a round's micro-ops or cycles.
 */
#define PERIOD_STEP	16
#define RUNS		22

#define ROUNDS		110000
#define INSNS		9
#define BRANCHES_TAKEN	2

#define RING_PAGES	256

static unsigned long table[8] __attribute__((aligned(512)));

/* Each round has 9 instructions and 11 cycles: a branch takes two. */
void program(unsigned long rounds, unsigned long *table);
asm(".pushsection .text\n"
"	.balign	64\n"
"	.global	program\n"
"program:\n"
"insn_load:\n"
"	mov	(%rsi), %rax\n"
"insn_add:\n"
"	lea	1(%rax), %rdx\n"
"insn_store:\n"
"	mov	%rdx, 8(%rsi)\n"
"insn_other:\n"
"	mov	16(%rsi), %rcx\n"
"insn_move:\n"
"	mov	%rdi, %rax\n"
"insn_jump:\n"
"	jmp	insn_none\n"
"insn_none:\n"
"	nop\n"
"insn_count:\n"
"	dec	%rdi\n"
"insn_branch:\n"
"	jnz	program\n"
"	ret\n"
"	.popsection\n");

extern const char insn_load[], insn_add[], insn_store[], insn_other[], insn_move[], insn_jump[],
	insn_none[], insn_count[], insn_branch[];

static const struct {
	const char *ip;
	const unsigned long *addr;
	unsigned int cycles;
} insns[INSNS] = {
	{ insn_load, &table[0], 1 }, { insn_add, NULL, 1 }, { insn_store, &table[1], 1 },
	{ insn_other, &table[2], 1 }, { insn_move, NULL, 1 }, { insn_jump, NULL, 2 },
	{ insn_none, NULL, 1 }, { insn_count, NULL, 1 }, { insn_branch, NULL, 2 },
};

/**
 * struct found - samples of a run
 * @of: number of samples of each instruction
 * @elsewhere: samples of the kernel, and of user space around the program
 * @addresses: samples with another data address than their instruction's
 * @inexact: samples without PERF_RECORD_MISC_EXACT_IP
 * @lost: number of lost samples that records report
 */
struct found {
	unsigned int of[INSNS];
	unsigned int elsewhere;
	unsigned int addresses;
	unsigned int inexact;
	unsigned int lost;
};

static u32 ibs_op_type(void)
{
	return read_number(SYSFS "ibs_op/type");
}

static void tell(const struct perf_event_header *header, const struct sample *s,
		 struct found *found)
{
	unsigned int i;

	found->inexact += !(header->misc & PERF_RECORD_MISC_EXACT_IP);
	for (i = 0; i < INSNS; i++)
		if (s->ip == (uintptr_t)insns[i].ip)
			break;
	if (i == INSNS) {
		found->elsewhere++;
		return;
	}
	found->of[i]++;
	if (s->addr != (uintptr_t)insns[i].addr && found->addresses++ == 0)
		ktap_diag("instruction %u: address %#llx for %p", i, (unsigned long long)s->addr,
			  (const void *)insns[i].addr);
}

static void read_samples(struct ring *ring, const struct perf_event_attr *attr,
			 struct found *found)
{
	const struct perf_event_header *header;
	struct sample s;

	while ((header = ring_next(ring))) {
		found->lost += header->type == PERF_RECORD_LOST;
		if (sample_parse(header, attr, &s))
			tell(header, &s, found);
	}
}

/* Before Linux 6.2 ibs_op samples only CPUs, not tasks. */
#define SAMPLES_TASKS		602

static bool run(struct perf_event_attr *attr, struct found *found)
{
	bool task = target.kernel >= SAMPLES_TASKS;
	struct ring ring = { 0 };
	int fd;

	fd = event_open(attr, task ? 0 : -1, task ? -1 : 0, -1, 0);
	expect_range("an event", 0, INT_MAX, fd);
	if (fd < 0)
		return false;
	if (!ring_map(&ring, fd, RING_PAGES)) {
		event_enable(fd);
		program(ROUNDS, table);
		event_disable(fd);
		read_samples(&ring, attr, found);
	}
	ring_unmap(&ring);
	close(fd);
	return true;
}

/*
 * The program has one sample per period, or a few more: the kernel's counts before it returns are
 * included. The samples are spread over the instructions as the counts are, except in two of the 22
 * runs. There samples are a multiple of a round apart, and so all of one instruction.
 */
static void expect_found(const struct found *found, bool cycles)
{
	unsigned int per_round = cycles ? INSNS + BRANCHES_TAKEN : INSNS;
	unsigned int all = (unsigned long)RUNS * ROUNDS * per_round / PERIOD, sum = 0, i;

	for (i = 0; i < INSNS; i++)
		sum += found->of[i];
	expect_range("samples in the program", all - all / 10, all + all / 10, sum);
	expect_range("samples elsewhere", 0, all / 10, found->elsewhere);
	for (i = 0; i < INSNS; i++) {
		unsigned int share = sum * (cycles ? insns[i].cycles : 1) / per_round;

		expect_range("samples of an instruction", share / 3, 3 * share, found->of[i]);
	}
	expect_eq("samples with another address", 0, found->addresses);
	expect_eq("samples that are not said to be exact", 0, found->inexact);
	expect_eq("records that say that others are lost", 0, found->lost);
}

static void sample(struct perf_event_attr *attr, bool cycles)
{
	struct found found = { 0 };

	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	attr->disabled = 1;
	for (unsigned int i = 0; i < RUNS; i++) {
		attr->sample_period = PERIOD + i * PERIOD_STEP;
		if (!run(attr, &found))
			return;
	}
	expect_found(&found, cycles);
}

/* ---- tests ---- */

static void init_attr(struct perf_event_attr *attr, u32 type, u64 config, unsigned int precise)
{
	attr_init(attr, config);
	attr->type = type;
	attr->precise_ip = precise;
	/* IBS samples all privilege levels. */
	attr->exclude_kernel = 0;
	attr->exclude_hv = 0;
}

static void ibs_itself(void)
{
	struct perf_event_attr attr;

	init_attr(&attr, ibs_op_type(), 0, 0);
	sample(&attr, true);
	init_attr(&attr, ibs_op_type(), CNT_CTL, 0);
	sample(&attr, false);
}

/*
 * Perf core asks PMUs for an event that names none in the order of its list: see ibs.c of the
 * driver.
 */
#define NEWEST_FIRST		605

static void sample_unnamed(struct perf_event_attr *attr, bool cycles)
{
	if (target.in_tree || target.type == PERF_TYPE_RAW || target.kernel >= NEWEST_FIRST) {
		sample(attr, cycles);
		return;
	}
	attr->sample_period = PERIOD;
	expect_eq("an event that does not name the PMU", -EOPNOTSUPP,
		  event_open(attr, -1, 0, -1, 0));
}

static void of_generic_cycles(void)
{
	struct perf_event_attr attr;

	for (unsigned int precise = 1; precise <= 2; precise++) {
		init_attr(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, precise);
		sample_unnamed(&attr, true);
	}
}

static void of_numbers(void)
{
	struct perf_event_attr attr;

	init_attr(&attr, PERF_TYPE_RAW, CYCLES, 1);
	sample_unnamed(&attr, true);
	init_attr(&attr, PERF_TYPE_RAW, MICRO_OPS, 2);
	sample_unnamed(&attr, false);
	init_attr(&attr, target.type, CYCLES, 2);
	sample(&attr, true);
	init_attr(&attr, target.type, MICRO_OPS, 1);
	sample(&attr, false);
}

static void expect_refused(const char *what, int err, struct perf_event_attr *attr)
{
	attr->sample_period = PERIOD;
	expect_eq(what, -err, event_open(attr, 0, -1, -1, 0));
}

static void refused(void)
{
	struct perf_event_attr attr;

	init_attr(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 3);
	expect_refused("precise_ip 3", EOPNOTSUPP, &attr);
	init_attr(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1);
	expect_refused("generic branches", ENOENT, &attr);
	init_attr(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 2);
	expect_refused("generic instructions", ENOENT, &attr);
	init_attr(&attr, PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D, 2);
	expect_refused("accesses of a cache", ENOENT, &attr);
	init_attr(&attr, target.type, BRANCHES, 2);
	expect_refused("branches by number", ENOENT, &attr);
}

/* IBS does not disturb the counter of a core event that counts at the same time. */
static void beside(void)
{
	unsigned long branches = (unsigned long)RUNS * ROUNDS * BRANCHES_TAKEN;
	struct perf_event_attr attr;
	int fd = event_open_user(BRANCHES, -1);

	if (fd < 0)
		return;
	init_attr(&attr, target.type, CYCLES, 2);
	event_enable(fd);
	sample(&attr, true);
	event_disable(fd);
	/* The code around the program, and reading the samples, has some more branches. */
	expect_range("branches", branches, branches + branches / 10, event_read(fd));
	close(fd);
}

static const struct ktap_case cases[] = {
	{ "ibs_op samples the instructions of a program, and what they access", ibs_itself },
	{ "generic cycles with precise_ip 1 and 2 are ibs_op's", of_generic_cycles },
	{ "cycles and micro-ops by number are ibs_op's, of either type", of_numbers },
	{ "what ibs_op lacks is refused", refused },
	{ "a core event counts while ibs_op samples", beside },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
