// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvm.c - counts and branch records of events while KVM runs a guest (arm64)
 *
 * The guest is a loop of known length, at EL1 or at EL0, that ends with a store to an unmapped
 * address. For kernels at EL2 (VHE) and at EL1 below their own EL2 (nVHE), and for either driver:
 * run-guest --machine virtualization=on,gic-version=3. With corepmu_test.branches=yes on the
 * kernel's command line the PMU has branch records, so a driver without them fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "ring.h"

#define KVM_DEVICE	"/tmp/kvm"
#define KVM_MINOR	232

#define CODE		0x40000000ULL	/* the guest's only page of memory */
#define MMIO		0x10000000ULL
#define PAGE		4096

#define PERIOD		10007
#define RING_PAGES	64

#define LOOPS		300000
#define LOOP_LENGTH	2
#define GUEST		(LOOP_LENGTH * LOOPS)

/*
 * Upper bound for instructions of KVM, the rest of the kernel and this program meanwhile; less
 * than the guest's
 */
#define HOST_MOST	(GUEST / 2)

/* First kernel known to have kvm_vcpu_pmu_resync_el0() (arch/arm64/kvm/pmu.c) */
#define HAS_RESYNC	612

/* PSTATE with DAIF masked; DDI 0487, C5.2.19, "SPSR_EL1": M[3:0] */
#define PSTATE_EL0	0x3c0
#define PSTATE_EL1	0x3c5

#define CORE_REG(field)	(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE |	\
			 KVM_REG_ARM_CORE_REG(field))

/* subs x0, x0, #1; b.ne -4; str x0, [x1]; b . */
static const unsigned int program[] = { 0xf1000400, 0x54ffffe1, 0xf9000020, 0x14000000 };

static int kvm = -1, vm = -1, vcpu = -1;
static struct kvm_run *run;

static int vcpu_init(unsigned int features)
{
	struct kvm_vcpu_init init;

	if (ioctl(vm, KVM_ARM_PREFERRED_TARGET, &init))
		return -errno;
	init.features[0] |= features;
	return ioctl(vcpu, KVM_ARM_VCPU_INIT, &init) ? -errno : 0;
}

static bool make_guest(void)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = CODE, .memory_size = PAGE,
	};
	void *page;
	int size;

	if (mknod(KVM_DEVICE, S_IFCHR | 0600, makedev(10, KVM_MINOR)) && errno != EEXIST)
		return expect_eq("mknod", 0, errno);
	kvm = open(KVM_DEVICE, O_RDWR | O_CLOEXEC);
	if (!expect_true("KVM", kvm >= 0))
		return false;
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!expect_true("a virtual machine", vm >= 0) ||
	    !expect_true("its memory", page != MAP_FAILED))
		return false;
	memcpy(page, program, sizeof(program));
	__builtin___clear_cache(page, (char *)page + sizeof(program));
	region.userspace_addr = (unsigned long)page;
	if (!expect_eq("KVM_SET_USER_MEMORY_REGION", 0,
		       ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region)))
		return false;

	vcpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (!expect_true("a vCPU", vcpu >= 0) || !expect_true("its size", size > 0))
		return false;
	run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	return expect_true("struct kvm_run", run != MAP_FAILED);
}

static void unmake_guest(void)
{
	close_all(&vcpu, 1);
	close_all(&vm, 1);
	close_all(&kvm, 1);
}

static bool set_reg(u64 id, u64 value)
{
	struct kvm_one_reg reg = { .id = id, .addr = (unsigned long)&value };

	return expect_eq("KVM_SET_ONE_REG", 0, ioctl(vcpu, KVM_SET_ONE_REG, &reg));
}

/* Run the loop at an exception level, until the guest stores. */
static bool run_loop(u64 pstate)
{
	int ret;

	if (!set_reg(CORE_REG(regs.regs[0]), LOOPS) || !set_reg(CORE_REG(regs.regs[1]), MMIO) ||
	    !set_reg(CORE_REG(regs.pstate), pstate) || !set_reg(CORE_REG(regs.pc), CODE))
		return false;
	do {
		ret = ioctl(vcpu, KVM_RUN, 0);
	} while (ret && errno == EINTR);
	return expect_eq("KVM_RUN", 0, ret ? -errno : 0) &&
	       expect_eq("why it ended", KVM_EXIT_MMIO, run->exit_reason) &&
	       expect_eq("where it stored", MMIO, run->mmio.phys_addr);
}

/* Check whether the host's kernel runs at EL2 (VHE): then its work does not count as a guest's. */
static bool is_vhe(void)
{
	struct perf_event_attr attr;
	int fd;
	bool vhe;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.disabled = 0;
	attr.exclude_user = 1;
	attr.exclude_hv = 0;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		return false;
	/* KVM runs a guest. Without VHE, KVM's own work at EL2 counts; with VHE, nothing counts. */
	run_loop(PSTATE_EL0);
	vhe = event_read(fd) == 0;
	close(fd);
	return vhe;
}

/*
 * What an event counts: nothing, only the guest's loop, only the host, or both; or it is rejected
 */
enum counts { NOTHING, GUEST_ALONE, HOST_ALONE, BOTH, REFUSED };

struct filter {
	const char *name;
	bool user, kernel, host, guest;
	/* Results for the loop at EL0 and at EL1, with VHE and without */
	enum counts vhe[2], nvhe[2];
};

static const struct filter filters[] = {
	{ "everything", 1, 1, 1, 1, { BOTH, BOTH }, { BOTH, BOTH } },
	{ "no guests", 1, 1, 1, 0, { HOST_ALONE, HOST_ALONE }, { HOST_ALONE, HOST_ALONE } },
	{ "guests alone", 1, 1, 0, 1, { GUEST_ALONE, GUEST_ALONE }, { REFUSED, REFUSED } },
	{ "user space", 1, 0, 1, 1, { BOTH, HOST_ALONE }, { BOTH, HOST_ALONE } },
	{ "user space, no guests", 1, 0, 1, 0, { HOST_ALONE, HOST_ALONE },
	  { HOST_ALONE, HOST_ALONE } },
	{ "user space of guests", 1, 0, 0, 1, { GUEST_ALONE, NOTHING }, { GUEST_ALONE, NOTHING } },
	{ "the kernel, no guests", 0, 1, 1, 0, { HOST_ALONE, HOST_ALONE },
	  { HOST_ALONE, HOST_ALONE } },
	{ "kernels of guests", 0, 1, 0, 1, { NOTHING, GUEST_ALONE }, { REFUSED, REFUSED } },
	{ "neither", 1, 1, 0, 0, { NOTHING, NOTHING }, { NOTHING, NOTHING } },
};

static void try_filter(const struct filter *filter, unsigned int el, enum counts expected)
{
	struct perf_event_attr attr;
	char what[100];
	u64 count;
	int fd;

	snprintf(what, sizeof(what), "%s, the guest at EL%u", filter->name, el);
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.disabled = 0;
	attr.exclude_user = !filter->user;
	attr.exclude_kernel = !filter->kernel;
	attr.exclude_hv = 1;
	attr.exclude_host = !filter->host;
	attr.exclude_guest = !filter->guest;
	fd = event_open(&attr, 0, -1, -1, 0);
	/* KVM switches the built-in driver's counters, so the event is accepted and counts. */
	if (expected == REFUSED && target.in_tree)
		expected = el == 0 && filter->user ? GUEST_ALONE : el == 1 ? GUEST_ALONE : NOTHING;
	if (expected == REFUSED) {
		expect_eq(what, -EOPNOTSUPP, fd);
		close_all(&fd, 1);
		return;
	}
	if (!expect_true(what, fd >= 0))
		return;
	run_loop(el ? PSTATE_EL1 : PSTATE_EL0);
	count = event_read(fd);
	close(fd);
	printf("# %s: %llu\n", what, (unsigned long long)count);
	switch (expected) {
	case NOTHING:
		expect_eq(what, 0, count);
		break;
	case GUEST_ALONE:
		/* KVM emulates the store, which may count. */
		expect_range(what, GUEST, GUEST + 1, count);
		break;
	case HOST_ALONE:
		expect_range(what, 1, HOST_MOST, count);
		break;
	default:
		expect_range(what, GUEST, GUEST + HOST_MOST, count);
		break;
	}
}

static void runs(void)
{
	if (make_guest() && expect_eq("KVM_ARM_VCPU_INIT", 0, vcpu_init(0)) &&
	    run_loop(PSTATE_EL1))
		run_loop(PSTATE_EL0);
}

static void has_no_pmu(void)
{
	int has = ioctl(kvm, KVM_CHECK_EXTENSION, KVM_CAP_ARM_PMU_V3), ret;

	expect_eq("KVM_CAP_ARM_PMU_V3", target.in_tree, has);
	/* A vCPU keeps the features of its first initialisation. */
	unmake_guest();
	if (!make_guest())
		return;
	ret = vcpu_init(1 << KVM_ARM_VCPU_PMU_V3);
	expect_true("a vCPU with a PMU", target.in_tree ? !ret : ret < 0);
	unmake_guest();
	if (make_guest())
		expect_eq("a vCPU without", 0, vcpu_init(0));
}

static void counts(void)
{
	bool vhe = is_vhe();

	printf("# the host's kernel is at EL%u\n", vhe ? 2 : 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(filters); i++)
		for (unsigned int el = 0; el < 2; el++)
			try_filter(&filters[i], el, vhe ? filters[i].vhe[el] : filters[i].nvhe[el]);
}

/* More events than counters: the tick rotates the events while the guest runs. */
static void take_turns(void)
{
	struct perf_event_attr attr;
	int fd[2 * ARCH_MAX_COUNTERS];
	u64 count;

	/*
	 * Events that a tick places have the host's filter until the guest exits for another
	 * reason.
	 */
	if (target.in_tree && target.kernel < HAS_RESYNC) {
		ktap_skip("the built-in driver of this kernel has no kvm_vcpu_pmu_resync_el0()");
		return;
	}
	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.disabled = 0;
	attr.exclude_guest = 1;
	for (unsigned int i = 0; i < ARRAY_SIZE(fd); i++)
		fd[i] = event_open(&attr, 0, -1, -1, 0);
	for (unsigned int i = 0; i < 20; i++)
		run_loop(PSTATE_EL0);
	for (unsigned int i = 0; i < ARRAY_SIZE(fd); i++) {
		count = event_read(fd[i]);
		expect_range("user space, no guests", 0, HOST_MOST, count);
		close(fd[i]);
	}
}

/* Samples while the guest runs show no branch of the guest, with exclude_guest and without. */
static void try_branches(unsigned int el, bool exclude_guest)
{
	static struct ring ring;
	const struct perf_event_header *header;
	unsigned int branches = 0, guest = 0, i;
	struct perf_event_attr attr;
	struct sample s;
	int fd;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.disabled = 0;
	attr.exclude_kernel = 0;
	attr.exclude_guest = exclude_guest;
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (!expect_true("an event with branch records", fd >= 0) ||
	    ring_map(&ring, fd, RING_PAGES))
		return;
	for (i = 0; i < 5; i++)
		run_loop(el ? PSTATE_EL1 : PSTATE_EL0);
	close(fd);
	while ((header = ring_next(&ring))) {
		if (!sample_parse(header, &attr, &s))
			continue;
		branches += s.nr_branches;
		for (i = 0; i < s.nr_branches; i++)
			guest += s.branches[i].from - CODE < PAGE || s.branches[i].to - CODE < PAGE;
	}
	ring_unmap(&ring);
	printf("# the guest at EL%u, exclude_guest %d: %u branches, %u of the guest\n", el,
	       exclude_guest, branches, guest);
	expect_true("branches of the host", branches > 0);
	expect_eq("branches of the guest", 0, guest);
}

static void no_branches(void)
{
	if (!branch_records()) {
		if (command_line_has("corepmu_test.branches=yes"))
			expect_true("branch records, which the PMU has", false);
		else
			ktap_skip("the PMU has no branch records");
		return;
	}
	for (unsigned int el = 0; el < 2; el++) {
		try_branches(el, false);
		try_branches(el, true);
	}
}

static const struct ktap_case cases[] = {
	{ "a guest runs at either level", runs },
	{ "guests have the PMU that KVM has", has_no_pmu },
	{ "events count the host, guests or both", counts },
	{ "events that take turns while a guest runs leave it out", take_turns },
	{ "branch records show no guest", no_branches },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
