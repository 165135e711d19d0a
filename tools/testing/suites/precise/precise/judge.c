// SPDX-License-Identifier: GPL-2.0-only
/*
 * judge.c - run the program under an event, and check each sample
 */
#define _GNU_SOURCE
#include <asm/perf_regs.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "precise.h"

/* Instructions after the program's last round that the event still counts */
#define TAIL			8

/* PERF_EFLAGS_EXACT: perf stores this flag in a bit of RFLAGS that is always 1. */
#define FLAG_EXACT		0x8

#define REG(name)		(1ULL << PERF_REG_X86_##name)
#define REGISTERS		(REG(BX) | REG(CX) | REG(IP) | REG(FLAGS) | REG(R10) | REG(R11) | \
				 REG(R14) | REG(R15))

/* The program uses the first entries of the tables; the others have not faulted in yet. */
#define SMALL			0x200

static u64 table[SMALL] __attribute__((aligned(4096))), copy[SMALL];

static const u64 configs[] = {
	[INSTRUCTIONS]	= 0x00c0,
	[CYCLES]	= 0x003c,
	[LOADS]		= 0x81d0,
	[STORES]	= 0x82d0,
	[BRANCHES]	= 0x00c4,
};

/* ---- a sample and the expected program state ---- */

static u64 reg_of(const struct perf_event_attr *attr, const struct sample *s, unsigned int reg)
{
	u64 before = attr->sample_regs_intr & ((1ULL << reg) - 1);

	return s->regs[__builtin_popcountll(before)];
}

/*
 * The built-in driver of Linux 6.1 omits the flags of format 4 records
 * (setup_pebs_adaptive_sample_data()): bit 1, which is always set, is clear.
 */
static bool are_left_out(u64 flags)
{
	return target.in_tree && target.kernel < 612 && !(flags & ~FLAG_EXACT);
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
	       (are_left_out(flags) || (flags & m->known) == m->flags) &&
	       !(flags & FLAG_EXACT) == (attr->precise_ip < 2) &&
	       (!(attr->sample_regs_intr >> XMM3 & 1) || reg_of(attr, s, XMM3) == m->xmm3);
}

static u64 judged;

u64 samples_judged(void)
{
	return judged;
}

#define MAX_SHIFTS		16

unsigned int switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

void expect_shifts(unsigned int shifts, unsigned int before)
{
	unsigned int most = switches() - before;

	expect_range("samples that are late, of which each takes a switch of tasks", 0,
		     most < MAX_SHIFTS ? most : MAX_SHIFTS, shifts);
}

static bool is_at(const struct perf_event_attr *attr, const struct sample *s,
		  const struct moment *m)
{
	return s->ip == (attr->precise_ip < 2 ? m->next : m->ip);
}

struct tally {
	unsigned int samples;
	unsigned int shifts;
	unsigned int latest;
	u64 late;
	unsigned int outside;
	unsigned int elsewhere;
	unsigned int registers;
	unsigned int addresses;
	unsigned int branches;
	unsigned int fewer;
	unsigned int strangers;
	unsigned int inexact;
	unsigned int lost;
	unsigned int throttled;
};

static void print_first(const struct tally *t, const struct sample *s, const struct moment *m,
			u64 n)
{
	if (t->elsewhere + t->registers + t->addresses + t->branches > 1)
		return;
	ktap_diag("at a count of %" PRIu64 ": ip %#" PRIx64 " for %#" PRIx64 ", addr %#" PRIx64
		  " for %#" PRIx64 ", round %" PRIu64, n, s->ip, m->ip, s->addr, m->addr, m->rbx);
}

/*
 * From Golden Cove and Gracemont on, a counter with PDIR is set to 128 events at least. Shorter
 * periods are rejected (glc_limit_period() in arch/x86/events/intel/core.c). If a task switch
 * leaves less of a period, the sample comes later by the difference.
 */
#define MOST_PRECISE		3
#define SHORTEST_MOST_PRECISE	128

/* Return how late a sample may be after a task switch. */
static unsigned int latest_after_switch(const struct perf_event_attr *attr)
{
	struct perf_event_attr shorter = *attr;
	int fd;

	if (attr->precise_ip != MOST_PRECISE)
		return 1;
	shorter.sample_period = SHORTEST_MOST_PRECISE - 1;
	fd = event_open(&shorter, 0, -1, -1, 0);
	if (fd == -EINVAL)
		return SHORTEST_MOST_PRECISE - 1;
	if (fd >= 0)
		close(fd);

	return 1;
}

unsigned int lasting(unsigned int shifts)
{
	return target.in_tree ? shifts : 0;
}

static void tally_sample(const struct check *c, const struct run *run,
			 const struct perf_event_attr *attr,
			 const struct perf_event_header *header, const struct sample *s,
			 struct tally *t)
{
	u64 n = (u64)(t->samples + 1) * c->period + lasting(t->late), due = n;
	u64 total = program_total(run, c->what);
	bool right, regs, addr;
	struct moment m;

	if (n > total) {
		t->outside++;
		return;
	}
	t->samples++;
	program_at(run, c->what, n, &m);
	while (n < total && n < due + t->latest &&
	       !(is_at(attr, s, &m) && has_registers(attr, s, &m)))
		program_at(run, c->what, ++n, &m);
	t->shifts += n > due;
	t->late += n - due;
	right = is_at(attr, s, &m);
	regs = has_registers(attr, s, &m);
	addr = !(attr->sample_type & PERF_SAMPLE_ADDR) ||
	       (c->what != LOADS && c->what != STORES) || s->addr == m.addr;
	t->branches += right && attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
		       !has_last_branches(s, run, c->what, n, &t->fewer);
	t->elsewhere += !right;
	t->registers += right && !regs;
	t->addresses += right && !addr;
	t->strangers += s->tid != (u32)getpid();
	t->inexact += !(header->misc & PERF_RECORD_MISC_EXACT_IP) != (attr->precise_ip < 2);
	if (!right || !regs || !addr || t->branches)
		print_first(t, s, &m, n);
}

static void judge(const struct check *c, const struct run *run, struct ring *ring,
		  const struct perf_event_attr *attr, unsigned int before)
{
	u64 total = program_total(run, c->what);
	const struct perf_event_header *header;
	struct tally t = { .latest = latest_after_switch(attr) };
	struct sample s;

	while ((header = ring_next(ring))) {
		t.lost += header->type == PERF_RECORD_LOST;
		t.throttled += header->type == PERF_RECORD_THROTTLE;
		if (sample_parse(header, attr, &s))
			tally_sample(c, run, attr, header, &s, &t);
	}
	expect_eq("samples in the program", (total - lasting(t.late)) / c->period, t.samples);
	expect_shifts(t.shifts, before);
	expect_range("samples after it", 0, TAIL, t.outside);
	expect_eq("samples that are elsewhere", 0, t.elsewhere);
	expect_eq("samples with other registers", 0, t.registers);
	expect_eq("samples with another address", 0, t.addresses);
	expect_eq("samples with other branches", 0, t.branches);
	expect_range("samples with fewer branches, of which each takes a switch of tasks", 0,
		     switches() - before, t.fewer);
	expect_eq("samples of another task", 0, t.strangers);
	expect_eq("samples that claim to be exact, or not, and are not so", 0, t.inexact);
	expect_eq("records that say that others are lost", 0, t.lost);
	expect_eq("throttles", 0, t.throttled);
	expect_range("the count", total, total + TAIL, event_read(run->fd));
	judged += t.samples;
	ktap_diag("%u samples, %u shifts by %" PRIu64, t.samples, t.shifts, t.late);
}

/* ---- an event and its program ---- */

void attr_of(const struct check *c, struct perf_event_attr *attr)
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

bool make_tables(struct run *run, bool faulting)
{
	static char bytes[64];
	size_t len = TABLE_MAX * sizeof(u64);

	run->bytes = bytes;
	if (!faulting) {
		for (unsigned int i = 0; i < SMALL; i++)
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

/*
 * On several CPUs the host's clock counts. On a busy host, samples that each interrupt after a
 * thousand instructions are a storm of tens of milliseconds. They take most of the CPU's time, and
 * corepmu's limiter stretches their periods. It doubles the minimum period every 10 ms, so that a
 * short run with these periods stays below it.
 */
#define PERIODS_LONGER		19

static u64 period_of(const struct check *c)
{
	return c->large || sysconf(_SC_NPROCESSORS_ONLN) == 1 ? c->period :
								PERIODS_LONGER * c->period;
}

void check_attr(const struct check *given, struct perf_event_attr *attr)
{
	struct check here = *given, *c = &here;
	struct run run = { .rounds = 2 };
	struct ring ring = { 0 };
	unsigned int before;
	int fd;

	c->period = period_of(given);
	attr->sample_period = c->period;
	/* Run so many rounds that there are enough samples. */
	run.rounds = 2 * (c->samples * c->period / program_total(&run, c->what) + 1);
	fd = event_open_self(attr, -1);
	if (fd < 0)
		return;
	run.fd = fd;
	if (make_tables(&run, c->faulting) && !ring_map(&ring, fd, RING_PAGES)) {
		before = switches();
		program(&run);
		judge(c, &run, &ring, attr, before);
		drop_tables(&run, c->faulting);
	}
	ring_unmap(&ring);
	close(fd);
}

void check(const struct check *c)
{
	struct perf_event_attr attr;

	attr_of(c, &attr);
	check_attr(c, &attr);
}
