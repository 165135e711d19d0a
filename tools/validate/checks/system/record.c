// SPDX-License-Identifier: GPL-2.0-only
/*
 * record.c - records and fields that need more than a loop: fork and exit, cgroups, page sizes
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "judge/guard.h"
#include "judge/validate.h"

#define PERIOD	100000
#define PAGES	64
#define CHILDREN	5

static struct ring ring;

/* PERF_RECORD_FORK and PERF_RECORD_EXIT, followed by the ids of sample_id_all */
struct task_record {
	struct perf_event_header header;
	u32 pid, ppid, tid, ptid;
	u64 time;
	u32 own_pid, own_tid;
	u64 own_time;
	u64 id;
};

static void forks_and_exits(void)
{
	const struct perf_event_header *header;
	unsigned int forks = 0, exits = 0, wrong = 0;
	struct perf_event_attr attr;
	u64 id = 0, last = 0;
	pid_t pid;
	int fd;

	run_on(pmu.cpu);
	attr_sampling(&attr, 1ULL << 40, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID);
	attr.inherit = 1;
	attr.task = 1;
	attr.sample_id_all = 1;
	fd = event_open(&attr, 0, pmu.cpu, -1, 0);
	if (!expect_true("an inherited event opens", fd >= 0) || ring_map(&ring, fd, PAGES))
		return;
	ioctl(fd, PERF_EVENT_IOC_ID, &id);
	event_enable(fd);
	pid = fork();
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	event_disable(fd);
	while ((header = ring_next(&ring))) {
		const struct task_record *task = (const void *)header;

		if (header->type != PERF_RECORD_FORK && header->type != PERF_RECORD_EXIT)
			continue;
		if (!expect_eq("bytes of the record", sizeof(*task), header->size))
			break;
		forks += header->type == PERF_RECORD_FORK && task->pid == (u32)pid &&
			 task->ppid == (u32)getpid() && task->tid == (u32)pid;
		exits += header->type == PERF_RECORD_EXIT && task->pid == (u32)pid &&
			 task->tid == (u32)pid && forks;
		wrong += task->id != id || task->own_time < last || task->time < last;
		last = task->own_time;
	}
	expect_eq("FORK records of the child", 1, forks);
	expect_eq("EXIT records of the child, behind it", 1, exits);
	expect_eq("records with a wrong id or time", 0, wrong);
	close_sampling(&ring, fd);
}

/* PERF_RECORD_READ without a read_format, followed by the ids of sample_id_all */
struct read_record {
	struct perf_event_header header;
	u32 pid, tid;
	u64 value;
	u32 own_pid, own_tid;
	u64 own_time;
	u64 id;
};

/*
 * Start a child that loops and calls exec. Add the number of its READ records with a wrong task or
 * id to @wrong. Widen the range from @low to @high by each record's count. Return the number of
 * READ records.
 */
static unsigned int reads_of_exec(u64 id, unsigned int *wrong, u64 *low, u64 *high)
{
	const struct perf_event_header *header;
	unsigned int reads = 0;
	pid_t pid = fork();

	if (!pid) {
		known_loop(ITERATIONS);
		close(STDOUT_FILENO);
		execl("/proc/self/exe", "pmu-validate", "--help", (char *)NULL);
		_exit(1);
	}
	waitpid(pid, NULL, 0);
	while ((header = ring_next(&ring))) {
		const struct read_record *record = (const void *)header;

		if (header->type != PERF_RECORD_READ)
			continue;
		if (!expect_eq("bytes of a READ", sizeof(*record), header->size))
			break;
		reads++;
		if (record->value < *low)
			*low = record->value;
		if (record->value > *high)
			*high = record->value;
		*wrong += record->pid != (u32)pid || record->tid != (u32)pid || record->id != id;
	}
	return reads;
}

/*
 * With inherit_stat, the kernel writes a READ record with the count when a child's event is
 * removed. Linux 6.12 writes none when the child exits, because the event has no task then
 * (sync_child_event()). Every Linux writes one when remove_on_exec closes the event. An additional
 * event that is not inherited keeps Linux from exchanging the contexts of parent and child.
 *
 * A kernel may write the count as of the child's last context switch. That count is right if the
 * child was switched between loop and exec. So several children must all have the right count.
 */
static void read_of_child(void)
{
	unsigned int reads = 0, wrong = 0, i;
	u64 id = 0, low = -1ULL, high = 0;
	struct perf_event_attr attr;
	int fd, own;

	run_on(pmu.cpu);
	own = open_instructions();
	attr_sampling(&attr, 1ULL << 40, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID);
	attr.inherit = 1;
	attr.inherit_stat = 1;
	attr.remove_on_exec = 1;
	attr.sample_id_all = 1;
	fd = event_open(&attr, 0, pmu.cpu, -1, 0);
	if (fd == -EINVAL) {
		ktap_skip("remove_on_exec is not known to this kernel");
		return;
	}
	if (!expect_true("an inherited event opens", fd >= 0) || ring_map(&ring, fd, PAGES))
		return;
	ioctl(fd, PERF_EVENT_IOC_ID, &id);
	event_enable(fd);
	for (i = 0; i < CHILDREN; i++)
		reads += reads_of_exec(id, &wrong, &low, &high);
	event_disable(fd);
	expect_eq("READ records of the children", CHILDREN, reads);
	expect_eq("READ records of another task or with a wrong id", 0, wrong);
	/* The count includes a fork and an exec. */
	if (reads) {
		expect_range("lowest count of a READ record", LOOP, LOOP + LOOP / 2, low);
		expect_range("highest count of a READ record", LOOP, LOOP + LOOP / 2, high);
	}
	close(own);
	close_sampling(&ring, fd);
}

static void page_sizes(void)
{
	const struct perf_event_header *header;
	unsigned int nr = 0, code = 0, data = 0;
	u64 page = sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | PERF_SAMPLE_DATA_PAGE_SIZE |
		      PERF_SAMPLE_CODE_PAGE_SIZE);
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd == -EINVAL) {
		ktap_skip("page sizes are not known to this kernel");
		return;
	}
	if (!expect_true("page sizes are accepted", fd >= 0) || ring_map(&ring, fd, PAGES))
		return;
	event_run_loop(fd, ITERATIONS);
	while ((header = ring_next(&ring))) {
		const u64 *at = (const u64 *)(header + 1);

		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		nr++;
		if (!expect_eq("bytes", sizeof(*header) + 3 * sizeof(u64), header->size))
			break;
		/* Without a data address there is no page size. */
		data += !at[1] || !(at[1] % page);
		/* This program is mapped from a file, with pages of the usual size or larger. */
		code += at[2] && !(at[2] % page) && !(at[2] & (at[2] - 1));
	}
	expect_range("samples", LOOP / PERIOD - 1, LOOP / PERIOD + 1, nr);
	expect_eq("samples with a page size of code", nr, code);
	expect_eq("samples with a page size of data, or none", nr, data);
	close_sampling(&ring, fd);
}

static void __attribute__((noinline)) deep(unsigned long frames)
{
	if (frames)
		deep(frames - 1);
	else
		known_loop(ITERATIONS);
	asm volatile("" ::: "memory");
}

static void short_chains(void)
{
	struct perf_event_attr attr;
	struct sample sample;
	unsigned int nr = 0;
	int fd;

	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
	attr.exclude_callchain_kernel = !(pmu.has & NEED_KERNEL);
	attr.sample_max_stack = 2;
	fd = sample_work(&ring, &attr, PAGES, deep, 20);
	while (ring_next_sample(&ring, &attr, &sample)) {
		nr++;
		/* PERF_CONTEXT_USER is an entry, but not a frame. */
		if (!expect_range("entries of a chain of two frames", 2, 3, sample.nr_ips))
			break;
	}
	expect_range("samples", LOOP / PERIOD - 1, LOOP / PERIOD + 1, nr);
	close_sampling(&ring, fd);
}

static bool opens_precisely(int level)
{
	struct perf_event_attr attr;
	int fd;

	attr_sampling(&attr, PERIOD, PERF_SAMPLE_IP);
	attr.precise_ip = level;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0 && (pmu.has & NEED_CYCLES)) {
		attr_cycles(&attr);
		attr.sample_period = PERIOD;
		attr.sample_type = PERF_SAMPLE_IP;
		attr.precise_ip = level;
		fd = event_open(&attr, 0, -1, -1, 0);
	}
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The PMU accepts precise_ip up to caps/max_precise, and refuses more. */
static void levels_of_precision(void)
{
	char path[256];
	long most;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/caps/max_precise", pmu.name);
	most = read_number(path);
	if (most < 0) {
		ktap_skip("the PMU has no caps/max_precise");
		return;
	}
	expect_range("caps/max_precise", 0, 3, most);
	for (int level = 0; level <= 3; level++)
		expect_or_say(opens_precisely(level) == (level <= most),
			      "precise_ip %d, caps/max_precise %ld: expected %s", level, most,
			      level <= most ? "a descriptor" : "an error");
}

#define CGROUPS	"/sys/fs/cgroup"

static void of_a_cgroup(void)
{
	static const char group[] = CGROUPS "/pmu-validate";
	struct perf_event_attr attr;
	struct child child;
	int dir, fd;

	if (make_dir(group)) {
		ktap_skip("no cgroup can be made in " CGROUPS);
		return;
	}
	run_on(pmu.cpu);
	if (!child_start(&child, known_loop, ITERATIONS))
		return;
	if (write_number(CGROUPS "/pmu-validate/cgroup.procs", child.pid)) {
		ktap_skip("no task can be moved into a cgroup");
		child_kill(&child);
		return;
	}
	dir = open(group, O_RDONLY | O_CLOEXEC);
	attr_instructions(&attr);
	fd = event_open(&attr, dir, pmu.cpu, -1, PERF_FLAG_PID_CGROUP);
	if (fd == -EINVAL) {
		ktap_skip("this kernel has no events of cgroups");
	} else if (fd == -ENOENT) {
		/* Children have perf's controller only once one was enabled for them. */
		ktap_skip("cgroups lack perf's controller: write +pids to " CGROUPS
			  "/cgroup.subtree_control");
	} else if (expect_or_say(fd >= 0, "an event of a cgroup: expected a descriptor, got %s",
				 strerror(-fd))) {
		event_enable(fd);
		known_loop(5 * ITERATIONS);
		child_run(&child);
		known_loop(5 * ITERATIONS);
		event_disable(fd);
		expect_range("instructions of the cgroup's task alone", LOOP, LOOP + LOOP / 2,
			     event_read(fd));
		close(fd);
	}
	close(dir);
	child_kill(&child);
}

static const struct check checks[] = {
	{ "field", "FORK and EXIT of a child",
	  MAN "PERF_RECORD_EXIT: \"This record indicates a process exit event.\", PERF_RECORD_FORK: \"This record indicates a fork event.\"",
	  forks_and_exits, NEED_SAMPLING },
	{ "field", "READ of a child's event that is closed",
	  MAN "PERF_RECORD_READ: \"This record indicates a read event.\", inherit_stat: \"This bit enables saving of event counts on context switch for inherited tasks.\"",
	  read_of_child, NEED_SAMPLING | NEED_CPU_WIDE },
	{ "field", "CODE_PAGE_SIZE and DATA_PAGE_SIZE",
	  MAN "\"Records page size of ip like in PERF_SAMPLE_IP.\", \"Records page size of data like in PERF_SAMPLE_ADDR.\"",
	  page_sizes, NEED_SAMPLING, ON_MODES | ON_OVERFLOWS | ON_FIRST },
	{ "field", "sample_max_stack",
	  MAN "\"When sample_type includes PERF_SAMPLE_CALLCHAIN, this field specifies how many stack frames to report when generating the callchain.\"",
	  short_chains, NEED_SAMPLING, ON_USER | ON_OVERFLOWS },
	{ "identity", "caps/max_precise",
	  "Documentation/ABI/testing/sysfs-bus-event_source-devices-caps, Linux 6.12: \"Attribute group to describe the capabilities exposed for a particular pmu.\"",
	  levels_of_precision, NEED_PMU | NEED_SAMPLING },
	{ "task", "an event of a cgroup",
	  MAN "\"the event is measured only if the thread running on the monitored CPU belongs to the designated container (cgroup).\"",
	  of_a_cgroup, NEED_CPU_WIDE | NEED_DISRUPT },
};

const struct check_list record_checks = { checks, ARRAY_SIZE(checks) };
