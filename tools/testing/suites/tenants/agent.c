// SPDX-License-Identifier: GPL-2.0-only
/*
 * agent.c - another agent writes the PMU's registers, and the next event is right all the same
 *
 * For x86, where /dev/cpu/0/msr writes any register, as Intel's pcm does, and for virtual PMUs
 * that count exactly. The agent clears or changes registers while no event is open, and while
 * events of this task are open and scheduled out. Counts and samples afterwards must be as before.
 * The guest has the module msr in /corepmu/kmods/msr (run-guest --kmod).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring.h"

#define MODULES		"/corepmu/kmods/msr"
#define MSR_DEVICE	"/tmp/msr"
#define MSR_MAJOR	202

#define ROUNDS		20000UL
#define PERIOD		2003
#define RING_PAGES	64
/* Longer than a tick: another task runs meanwhile. */
#define SLEEP_US	20000

/* Loads: MEM_INST_RETIRED.ALL_LOADS and MEM_TRANS_RETIRED.LOAD_LATENCY of Skylake and later */
#define EVENT_LOADS	0x81d0
#define EVENT_LATENCY	0x01cd
#define LATENCY		3
/*
 * OFFCORE_RESPONSE_0 and FRONTEND_RETIRED of Skylake and Ice Lake, with their extra registers'
 * values
 */
#define EVENT_OFFCORE	0x01b7
#define OFFCORE_ANY	0x10001
#define EVENT_FRONTEND	0x01c6
#define FRONTEND_DSB	0x11

static int msrs = -1;
static struct ring ring;

/* Load a module of a directory. */

static bool load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool done = fd >= 0 && (!syscall(SYS_finit_module, fd, "allow_writes=on", 0) ||
				errno == EEXIST);

	close(fd);
	return done;
}

static bool open_registers(void)
{
	struct dirent **names;
	int nr = scandir(MODULES, &names, NULL, alphasort), i;
	char path[300];

	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), MODULES "/%s", names[i]->d_name);
		if (names[i]->d_name[0] != '.')
			expect_true(path, load(path));
		free(names[i]);
	}
	if (nr > 0)
		free(names);
	if (mknod(MSR_DEVICE, S_IFCHR | 0600, makedev(MSR_MAJOR, 0)) && errno != EEXIST)
		return expect_eq("mknod", 0, errno);
	msrs = open(MSR_DEVICE, O_RDWR | O_CLOEXEC);

	return expect_true("the registers of CPU 0, by " MODULES, msrs >= 0);
}

/* A register that does not exist is skipped. */
static void write_register(u32 msr, u64 value)
{
	u64 old;

	if (pread(msrs, &old, sizeof(old), msr) == sizeof(old))
		expect_eq("written", sizeof(value), pwrite(msrs, &value, sizeof(value), msr));
}

/*
 * The in-tree driver trusts its copy of IA32_PEBS_DATA_CFG (active_pebs_data_cfg in
 * arch/x86/events/intel/ds.c), and of DS_AREA while an event is open.
 */
#define PEBS_DATA_CFG	0x3f2
#define DS_AREA		0x600

static const struct agent {
	bool amd;
	const char *name;
	u32 first;
	unsigned int nr;
	unsigned int step;
	u64 value;
} agents[] = {
	{ false, "PERFEVTSEL cleared", 0x186, 8, 1, 0 },
	/* BR_MISP_RETIRED of user space, without an interrupt */
	{ false, "PERFEVTSEL changed", 0x186, 8, 1, 0x4100c5 },
	{ false, "FIXED_CTR_CTRL cleared", 0x38d, 1, 1, 0 },
	{ false, "FIXED_CTR_CTRL changed", 0x38d, 1, 1, 0x222 },
	{ false, "GLOBAL_CTRL cleared", 0x38f, 1, 1, 0 },
	{ false, "OFFCORE_RSP cleared", 0x1a6, 2, 1, 0 },
	{ false, "PEBS_FRONTEND cleared", 0x3f7, 1, 1, 0 },
	{ false, "PEBS_LD_LAT_THRESHOLD changed", 0x3f6, 1, 1, 0xffff },
	{ false, "DS_AREA cleared", DS_AREA, 1, 1, 0 },
	{ false, "PEBS_ENABLE cleared", 0x3f1, 1, 1, 0 },
	{ false, "PEBS_DATA_CFG cleared", PEBS_DATA_CFG, 1, 1, 0 },
	{ false, "LBR_SELECT changed", 0x1c8, 1, 1, 0x1ff },
	{ false, "LBR_CTL cleared", 0x14ce, 1, 1, 0 },
	{ false, "DEBUGCTL cleared", 0x1d9, 1, 1, 0 },
	{ true, "PERF_CTL cleared", 0xc0010200, 6, 2, 0 },
	/* Mispredicted branches of user space, without an interrupt */
	{ true, "PERF_CTL changed", 0xc0010200, 6, 2, 0x4100c3 },
	{ true, "PERF_CNTR_GLOBAL_CTL cleared", 0xc0000301, 1, 1, 0 },
	{ true, "AMD's LBR_SELECT changed", 0xc000010e, 1, 1, 0x1ff },
	{ true, "DBG_EXTN_CFG cleared", 0xc000010f, 1, 1, 0 },
	{ true, "AMD's DEBUGCTL cleared", 0x1d9, 1, 1, 0 },
};

static bool applies(const struct agent *agent)
{
	if (target.in_tree && (agent->first == PEBS_DATA_CFG || agent->first == DS_AREA))
		return false;

	return agent->amd == arch_is_amd();
}

static void act(const struct agent *agent)
{
	for (unsigned int i = 0; i < agent->nr; i++)
		write_register(agent->first + i * agent->step, agent->value);
}

/* The measured work: conditional branches, and loads from the stack */

static void work(unsigned long rounds)
{
	asm volatile("1:	movq	(%%rsp), %%rax\n"
		     "	dec	%0\n"
		     "	jnz	1b\n"
		     : "+r" (rounds) : : "rax", "cc", "memory");
}

enum {
	INSTRUCTIONS,
	BRANCHES,
	SAMPLED,
	OFFCORE,
	FRONTEND,
	RECORDED,
	PRECISE,
	FAR_LOADS,
	NR_EVENTS
};

static struct perf_event_attr attrs[NR_EVENTS];

static void describe(void)
{
	for (unsigned int i = 0; i < NR_EVENTS; i++)
		attr_init(&attrs[i], i == INSTRUCTIONS ? ARCH_EVENT_INSTRUCTIONS :
				     i == OFFCORE ? EVENT_OFFCORE :
				     i == FRONTEND ? EVENT_FRONTEND :
				     i == PRECISE ? EVENT_LOADS :
				     i == FAR_LOADS ? EVENT_LATENCY : ARCH_EVENT_BRANCHES);
	attrs[OFFCORE].config1 = OFFCORE_ANY;
	attrs[FRONTEND].config1 = FRONTEND_DSB;
	for (unsigned int i = SAMPLED; i < NR_EVENTS; i++) {
		if (i == OFFCORE || i == FRONTEND)
			continue;
		attrs[i].sample_period = PERIOD;
		attrs[i].sample_type = PERF_SAMPLE_IP;
	}
	attrs[RECORDED].sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attrs[RECORDED].branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	attrs[PRECISE].precise_ip = 2;
	attrs[PRECISE].sample_type |= PERF_SAMPLE_ADDR;
	attrs[FAR_LOADS].config1 = LATENCY;
	attrs[FAR_LOADS].precise_ip = 2;
	attrs[FAR_LOADS].sample_type |= PERF_SAMPLE_ADDR;
}

/* Check whether the PMU has such an event. Events of one Intel model are opened as a test. */
static bool is_there(unsigned int which)
{
	int fd;

	if (which == RECORDED && !branch_records())
		return false;
	if (which >= OFFCORE && which != RECORDED && (arch_is_amd() || max_precise() < 2))
		return false;
	fd = event_open(&attrs[which], 0, -1, -1, 0);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/* Return the number of samples with all requested fields: branches, or an address. */
static u64 good_samples(unsigned int which)
{
	struct sample sample;
	u64 nr = 0;

	while (ring_next_sample(&ring, &attrs[which], &sample)) {
		nr += (which != RECORDED || sample.nr_branches) &&
		      (!(attrs[which].sample_type & PERF_SAMPLE_ADDR) || sample.addr);
	}

	return nr;
}

/* Return the count or the samples of an open event while the program runs. */
static u64 measure_open(unsigned int which, int fd)
{
	u64 before = event_read(fd);

	event_enable(fd);
	work(ROUNDS);
	event_disable(fd);

	return attrs[which].sample_period ? good_samples(which) : event_read(fd) - before;
}

static int open_one(unsigned int which)
{
	int fd = event_open(&attrs[which], 0, -1, -1, 0);

	if (!expect_true("event", fd >= 0))
		return -1;
	if (attrs[which].sample_period && ring_map(&ring, fd, RING_PAGES)) {
		expect_true("buffer", false);
		close(fd);
		return -1;
	}

	return fd;
}

static void close_one(unsigned int which, int fd)
{
	if (attrs[which].sample_period)
		ring_unmap(&ring);
	close(fd);
}

static u64 measure(unsigned int which)
{
	int fd = open_one(which);
	u64 value;

	if (fd < 0)
		return 0;
	value = measure_open(which, fd);
	close_one(which, fd);

	return value;
}

/* An event is open: the agent writes the registers while the task sleeps, or while it counts. */
static u64 measure_over(unsigned int which, const struct agent *agent, bool counting)
{
	int fd = open_one(which);
	u64 value;

	if (fd < 0)
		return 0;
	measure_open(which, fd);
	if (counting)
		event_enable(fd);
	act(agent);
	usleep(SLEEP_US);
	if (counting)
		event_disable(fd);
	if (attrs[which].sample_period)
		good_samples(which);
	value = measure_open(which, fd);
	close_one(which, fd);

	return value;
}

static void each(u64 (*with)(unsigned int which, const struct agent *agent), const char *when)
{
	char what[80];
	unsigned int which, i, nr = 0;
	u64 before;

	for (which = 0; which < NR_EVENTS; which++) {
		if (!is_there(which))
			continue;
		measure(which);
		before = measure(which);
		/* The CPU model lacks these events. */
		if (!before && (which == OFFCORE || which == FRONTEND || which == FAR_LOADS))
			continue;
		nr++;
		snprintf(what, sizeof(what), "event %u before", which);
		expect_range(what, 1, 1000 * ROUNDS, before);
		for (i = 0; i < ARRAY_SIZE(agents); i++) {
			if (!applies(&agents[i]))
				continue;
			snprintf(what, sizeof(what), "event %u, %s %s", which, agents[i].name,
				 when);
			/*
			 * Before the agent writes, an open event may have counted a part of its
			 * period.
			 */
			expect_range(what, before, before + !!attrs[which].sample_period,
				     with(which, &agents[i]));
		}
	}
	ktap_diag("%u events", nr);
	expect_range("events that there are", 3, NR_EVENTS, nr);
}

static u64 closed(unsigned int which, const struct agent *agent)
{
	act(agent);
	return measure(which);
}

static u64 disabled(unsigned int which, const struct agent *agent)
{
	return measure_over(which, agent, false);
}

static u64 counting(unsigned int which, const struct agent *agent)
{
	return measure_over(which, agent, true);
}

static void while_closed(void)
{
	each(closed, "while no event is open");
}

static void while_disabled(void)
{
	each(disabled, "while it is open and stopped");
}

static void while_counting(void)
{
	each(counting, "while it counts");
}

/* With an event of the CPU open, too, a task's event counts right after each agent's write. */
static void beside_a_cpu_event(void)
{
	struct perf_event_attr attr;
	int cpu, task;
	u64 before;

	attr_init_generic(&attr, PERF_COUNT_HW_CPU_CYCLES);
	attr.disabled = 0;
	cpu = event_open(&attr, -1, 0, -1, 0);
	task = open_one(BRANCHES);
	if (!expect_true("an event of the CPU", cpu >= 0) || task < 0)
		return;
	measure_open(BRANCHES, task);
	before = measure_open(BRANCHES, task);
	for (unsigned int i = 0; i < ARRAY_SIZE(agents); i++) {
		if (!applies(&agents[i]))
			continue;
		act(&agents[i]);
		expect_eq(agents[i].name, before, measure_open(BRANCHES, task));
	}
	close(task);
	close(cpu);
}

static const struct ktap_case cases[] = {
	{ "an event is right after registers were written while none was open", while_closed },
	{ "an open event is right after registers were written while it was stopped",
	  while_disabled },
	{ "an open event is right after the switch that follows the write", while_counting },
	{ "a task's event is right beside an event of the CPU", beside_a_cpu_event },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	describe();
	if (!open_registers())
		return 1;

	return ktap_run(cases, ARRAY_SIZE(cases));
}
