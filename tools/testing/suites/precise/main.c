// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the suite "precise": each precise sample is at the very instruction with which the
 * count has reached a multiple of the period, with the registers of that moment
 *
 * For PMUs that have precise samples of format 3 or 4 (Intel, on a virtual PMU that counts
 * exactly): every PMU that this runs on is expected to.
 */
#define _GNU_SOURCE
#include <asm/perf_regs.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "precise.h"
#include "task.h"

#define RING_PAGES		1024

/* Instructions after the program's last round in which the event still counts */
#define TAIL			8

/* PERF_EFLAGS_EXACT: perf puts it where RFLAGS has a bit that is always 0. */
#define FLAG_EXACT		0x8

#define XMM3			(PERF_REG_X86_XMM0 + 6)

#define REG(name)		(1ULL << PERF_REG_X86_##name)
#define REGISTERS		(REG(BX) | REG(CX) | REG(IP) | REG(FLAGS) | REG(R10) | REG(R11) | \
				 REG(R14) | REG(R15))

/* The first entries of the tables are of the program, the rest of what does not fault in yet. */
#define SMALL			0x200

static u64 table[SMALL] __attribute__((aligned(4096))), copy[SMALL];

/**
 * struct check - how an event is sampled
 * @config: the event
 * @what: it counts
 * @period: its period
 * @precise: precise_ip
 * @large: records may gather before there is an interrupt
 * @faulting: the program's memory faults in as it goes
 * @samples: how many there are to be
 */
struct check {
	u64 config;
	enum counted what;
	u64 period;
	unsigned int precise;
	bool large;
	bool faulting;
	unsigned int samples;
};

static const u64 configs[] = {
	[INSTRUCTIONS]	= 0x00c0,
	[CYCLES]	= 0x003c,
	[LOADS]		= 0x81d0,
	[STORES]	= 0x82d0,
	[BRANCHES]	= 0x00c4,
};

static bool has_vectors(void)
{
	/* With the adaptive records of Ice Lake on */
	struct perf_event_attr attr;
	int fd;

	attr_init(&attr, configs[INSTRUCTIONS]);
	attr.sample_period = 1000;
	attr.precise_ip = 2;
	attr.sample_type = PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = 1ULL << XMM3;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* ---- a sample and the moment that it is to show ---- */

static u64 reg_of(const struct perf_event_attr *attr, const struct sample *s, unsigned int reg)
{
	u64 before = attr->sample_regs_intr & ((1ULL << reg) - 1);

	return s->regs[__builtin_popcountll(before)];
}

static bool has_registers(const struct perf_event_attr *attr, const struct sample *s,
			  const struct moment *m)
{
	u64 flags;

	if (!attr->sample_regs_intr)
		return true;
	if (!s->nr_regs)
		return false;
	flags = reg_of(attr, s, PERF_REG_X86_FLAGS);
	return reg_of(attr, s, PERF_REG_X86_BX) == m->rbx &&
	       reg_of(attr, s, PERF_REG_X86_CX) == m->rcx &&
	       reg_of(attr, s, PERF_REG_X86_R10) == m->r10 &&
	       reg_of(attr, s, PERF_REG_X86_R11) == m->r11 &&
	       reg_of(attr, s, PERF_REG_X86_R14) == m->r14 &&
	       reg_of(attr, s, PERF_REG_X86_R15) == m->r15 &&
	       reg_of(attr, s, PERF_REG_X86_IP) == s->ip &&
	       (flags & m->known) == m->flags && !(flags & FLAG_EXACT) == (attr->precise_ip < 2) &&
	       (!(attr->sample_regs_intr >> XMM3 & 1) || reg_of(attr, s, XMM3) == m->xmm3);
}

/*
 * x86_perf_event_set_period() makes two of a period that has one left, when a task begins: what
 * follows comes one later.
 */
#define IN_TREE_SHIFTS		16

static bool is_at(const struct perf_event_attr *attr, const struct sample *s,
		  const struct moment *m)
{
	return s->ip == (attr->precise_ip < 2 ? m->next : m->ip);
}

struct tally {
	unsigned int samples;
	unsigned int shift;
	unsigned int outside;
	unsigned int elsewhere;
	unsigned int registers;
	unsigned int addresses;
	unsigned int strangers;
	unsigned int inexact;
	unsigned int lost;
	unsigned int throttled;
};

static void print_first(const struct tally *t, const struct sample *s, const struct moment *m,
			u64 n)
{
	if (t->elsewhere + t->registers + t->addresses > 1)
		return;
	ktap_diag("at a count of %" PRIu64 ": ip %#" PRIx64 " for %#" PRIx64 ", addr %#" PRIx64
		  " for %#" PRIx64 ", round %" PRIu64, n, s->ip, m->ip, s->addr, m->addr, m->rbx);
}

static void tally_sample(const struct check *c, const struct run *run,
			 const struct perf_event_attr *attr,
			 const struct perf_event_header *header, const struct sample *s,
			 struct tally *t)
{
	u64 n = (u64)(t->samples + 1) * c->period + t->shift;
	u64 total = program_total(run, c->what);
	bool right, regs, addr;
	struct moment m;

	if (n > total) {
		t->outside++;
		return;
	}
	t->samples++;
	program_at(run, c->what, n, &m);
	if (target.in_tree && n < total && !(is_at(attr, s, &m) && has_registers(attr, s, &m))) {
		t->shift++;
		program_at(run, c->what, n + 1, &m);
	}
	right = is_at(attr, s, &m);
	regs = has_registers(attr, s, &m);
	addr = !(attr->sample_type & PERF_SAMPLE_ADDR) ||
	       (c->what != LOADS && c->what != STORES) || s->addr == m.addr;
	t->elsewhere += !right;
	t->registers += right && !regs;
	t->addresses += right && !addr;
	t->strangers += s->tid != (u32)getpid();
	t->inexact += !(header->misc & PERF_RECORD_MISC_EXACT_IP) != (attr->precise_ip < 2);
	if (!right || !regs || !addr)
		print_first(t, s, &m, n);
}

static void judge(const struct check *c, const struct run *run, struct ring *ring,
		  const struct perf_event_attr *attr)
{
	u64 total = program_total(run, c->what);
	const struct perf_event_header *header;
	struct tally t = { 0 };
	struct sample s;

	while ((header = ring_next(ring))) {
		t.lost += header->type == PERF_RECORD_LOST;
		t.throttled += header->type == PERF_RECORD_THROTTLE;
		if (sample_parse(header, attr, &s))
			tally_sample(c, run, attr, header, &s, &t);
	}
	expect_eq("samples in the program", (total - t.shift) / c->period, t.samples);
	expect_range("shifts", 0, target.in_tree ? IN_TREE_SHIFTS : 0, t.shift);
	expect_range("samples after it", 0, TAIL, t.outside);
	expect_eq("samples that are elsewhere", 0, t.elsewhere);
	expect_eq("samples with other registers", 0, t.registers);
	expect_eq("samples with another address", 0, t.addresses);
	expect_eq("samples of another task", 0, t.strangers);
	expect_eq("samples that claim to be exact, or not, and are not so", 0, t.inexact);
	expect_eq("records that say that others are lost", 0, t.lost);
	expect_eq("throttles", 0, t.throttled);
	expect_range("the count", total, total + TAIL, event_read(run->fd));
	ktap_diag("%u samples, %u shifts", t.samples, t.shift);
}

/* ---- an event and its program ---- */

static void attr_of(const struct check *c, struct perf_event_attr *attr)
{
	attr_init(attr, c->config ?: configs[c->what]);
	attr->sample_period = c->period;
	attr->precise_ip = c->precise;
	attr->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_ADDR |
			    PERF_SAMPLE_REGS_INTR;
	attr->sample_regs_intr = REGISTERS;
	attr->watermark = c->large;
	attr->wakeup_events = c->large ? 0 : 1;
	if (c->large)
		attr->wakeup_watermark = 1 << 20;
}

static bool make_tables(struct run *run, bool faulting)
{
	static char bytes[64];
	size_t len = TABLE_MAX * sizeof(u64);
	unsigned int i;

	run->bytes = bytes;
	if (!faulting) {
		for (i = 0; i < SMALL; i++)
			table[i] = 0x1111111100000000 + i;
		run->from = table;
		run->to = copy;
		run->mask = SMALL - 1;
		return true;
	}
	run->from = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	run->to = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	run->mask = TABLE_MAX - 1;
	return expect_true("memory", run->from != MAP_FAILED && run->to != MAP_FAILED);
}

static void drop_tables(const struct run *run, bool faulting)
{
	if (!faulting)
		return;
	munmap((void *)run->from, TABLE_MAX * sizeof(u64));
	munmap(run->to, TABLE_MAX * sizeof(u64));
}

static void check_attr(const struct check *c, struct perf_event_attr *attr)
{
	struct run run = { .rounds = 2 };
	struct ring ring = { 0 };
	int fd;

	/* As many rounds as it takes. */
	run.rounds = 2 * (c->samples * c->period / program_total(&run, c->what) + 1);
	fd = event_open_self(attr, -1);
	if (fd < 0)
		return;
	run.fd = fd;
	if (make_tables(&run, c->faulting) && !ring_map(&ring, fd, RING_PAGES)) {
		program(&run);
		judge(c, &run, &ring, attr);
		drop_tables(&run, c->faulting);
	}
	ring_unmap(&ring);
	close(fd);
}

static void check(const struct check *c)
{
	struct perf_event_attr attr;

	attr_of(c, &attr);
	check_attr(c, &attr);
}

/* ---- tests ---- */

#define SHORT			1009
#define LONG			20011
#define SAMPLES			2000
#define SAMPLES_PMI		200

static void each_event(bool large)
{
	struct check c = { .precise = 2, .large = large };

	for (c.what = INSTRUCTIONS; c.what <= BRANCHES; c.what++) {
		c.samples = large ? SAMPLES : SAMPLES_PMI;
		c.period = c.what == INSTRUCTIONS || c.what == CYCLES ? SHORT : SHORT / 8;
		check(&c);
	}
}

static void gathered(void)
{
	each_event(true);
}

static void interrupting(void)
{
	each_event(false);
}

/* Where the overflow is near all the time, and where the engine is off in between. */
static void periods(void)
{
	static const u64 all[] = { 37, 500, 523, LONG };
	struct check c = { .what = INSTRUCTIONS, .precise = 2, .large = true, .samples = 300 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++) {
		c.period = all[i];
		check(&c);
	}
}

static void following(void)
{
	const struct check c = {
		.what = INSTRUCTIONS, .precise = 1, .period = SHORT, .large = true,
		.samples = SAMPLES,
	};

	check(&c);
}

static void exactest(void)
{
	const struct check c = {
		.what = INSTRUCTIONS, .precise = 3, .period = SHORT, .large = true,
		.samples = SAMPLES,
	};

	check(&c);
}

static void faulting(void)
{
	struct check c = {
		.precise = 2, .large = true, .faulting = true, .samples = SAMPLES,
	};

	c.what = INSTRUCTIONS;
	c.period = 211;
	check(&c);
	c.what = LOADS;
	c.period = 19;
	check(&c);
	c.what = STORES;
	check(&c);
}

static void vectors(void)
{
	struct check c = {
		.what = INSTRUCTIONS, .precise = 2, .period = SHORT, .samples = SAMPLES_PMI,
	};
	struct perf_event_attr attr;

	if (!has_vectors()) {
		ktap_skip("this PMU has no vector registers in its records");
		return;
	}
	attr_of(&c, &attr);
	attr.sample_regs_intr |= 1ULL << XMM3;
	check_attr(&c, &attr);
}

/* ---- loads that take long ---- */

#define LOAD_LATENCY		0x01cd	/* MEM_TRANS_RETIRED.LOAD_LATENCY */
#define LOADS_AUX		0x8203	/* Golden Cove wants this in the group */
#define THRESHOLD		10

/* How long an access takes, and to where, by its line: see x86-pmu.rst. */
static const struct {
	unsigned int latency;
	unsigned int level;
} lines[] = {
	{ 4, PERF_MEM_LVL_L1 }, { 9, PERF_MEM_LVL_LFB }, { 14, PERF_MEM_LVL_L2 },
	{ 44, PERF_MEM_LVL_L3 }, { 5, PERF_MEM_LVL_L1 }, { 70, PERF_MEM_LVL_L3 },
	{ 16, PERF_MEM_LVL_L2 }, { 230, PERF_MEM_LVL_LOC_RAM },
};

#define LINE(addr)		((addr) >> 6 & (ARRAY_SIZE(lines) - 1))

static bool is_latency_right(const struct sample *s, const struct moment *m)
{
	union perf_mem_data_src source = { .val = s->data_src };
	unsigned int line = LINE(m->addr);

	return s->weight == lines[line].latency && source.mem_op == PERF_MEM_OP_LOAD &&
	       source.mem_lvl == (lines[line].level | PERF_MEM_LVL_HIT);
}

static void judge_slow(const struct run *run, struct ring *ring,
		       const struct perf_event_attr *attr)
{
	unsigned int samples = 0, wrong = 0, displaced = 0;
	const struct perf_event_header *header;
	u64 round = 0, slow = 0;
	struct moment m = { 0 };
	struct sample s;

	while ((header = ring_next(ring))) {
		if (!sample_parse(header, attr, &s))
			continue;
		samples++;
		/* The loads of the strings are of a line that does not take long. */
		while (slow < samples * attr->sample_period && round < run->rounds) {
			program_at(run, LOADS, program_loads(round++) + 1, &m);
			slow += lines[LINE(m.addr)].latency > THRESHOLD;
		}
		displaced += s.ip != m.ip || s.addr != m.addr;
		wrong += !is_latency_right(&s, &m);
		if (displaced + wrong == 1)
			ktap_diag("ip %#" PRIx64 ", addr %#" PRIx64 " for %#" PRIx64 ", weight %"
				  PRIu64 ", source %#" PRIx64, s.ip, s.addr, m.addr, s.weight,
				  s.data_src);
	}
	expect_eq("samples that are elsewhere", 0, displaced);
	expect_eq("samples with another latency or source", 0, wrong);
	expect_range("samples", SAMPLES / 2, SAMPLES, samples);
	ktap_diag("%u samples", samples);
}

static void slow_loads(void)
{
	struct run run = { .rounds = 13 * SAMPLES };
	struct ring ring = { 0 };
	struct perf_event_attr attr;
	int leader, fd;

	attr_init(&attr, LOADS_AUX);
	attr.disabled = 0;
	leader = event_open_self(&attr, -1);
	attr_init(&attr, LOAD_LATENCY);
	attr.config1 = THRESHOLD;
	attr.sample_period = 13;
	attr.precise_ip = 2;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
			   PERF_SAMPLE_DATA_SRC;
	fd = event_open_self(&attr, leader);
	run.fd = fd;
	if (fd >= 0 && make_tables(&run, false) && !ring_map(&ring, fd, RING_PAGES)) {
		program(&run);
		judge_slow(&run, &ring, &attr);
	}
	ring_unmap(&ring);
	close(fd);
	close(leader);
}

/* ---- tasks that take turns ---- */

#define TASKS			3
#define TASK_SAMPLES		6000

static void task(unsigned int i)
{
	const struct check c = {
		.what = INSTRUCTIONS, .precise = 2, .period = SHORT + 2 * i, .large = true,
		.samples = TASK_SAMPLES,
	};

	check(&c);
	fflush(NULL);
	_exit(ktap_failed());
}

static void tasks(void)
{
	pid_t pids[TASKS];
	unsigned int i;
	int status;

	expect_true("the first CPU", run_on(0));
	fflush(NULL);
	for (i = 0; i < TASKS; i++) {
		pids[i] = fork();
		if (!pids[i])
			task(i);
	}
	for (i = 0; i < TASKS; i++)
		expect_true("a task whose samples are right", pids[i] > 0 &&
			    waitpid(pids[i], &status, 0) > 0 && !status);
}

static const struct ktap_case cases[] = {
	{ "records that gather: at the instruction, with its registers and address", gathered },
	{ "an interrupt each: at the instruction, with its registers and address", interrupting },
	{ "short and long periods", periods },
	{ "precise_ip 1: at the instruction that follows", following },
	{ "precise_ip 3: at the instruction", exactest },
	{ "instructions that fault and begin anew", faulting },
	{ "vector registers", vectors },
	{ "loads that take long: address, latency and source", slow_loads },
	{ "tasks that take turns have their own samples, all of them", tasks },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	write_number("/proc/sys/kernel/perf_event_max_sample_rate", 10000000);
	write_number("/proc/sys/kernel/perf_cpu_time_max_percent", 0);
	write_number("/proc/sys/kernel/perf_event_mlock_kb", 65536);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
