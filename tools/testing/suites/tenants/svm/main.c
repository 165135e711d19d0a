// SPDX-License-Identifier: GPL-2.0-only
/*
 * svm - events beside KVM on AMD's CPUs
 *
 * A host-only counter stops while EFER.SVME is 0: the driver must follow KVM's changes of the bit.
 * From Linux 7.0 on, KVM may load a guest's own values into the counters (mediated vPMU): perf core
 * then schedules host-only events out, and rejects the others. That needs the built-in driver:
 * without it, KVM has no vPMU.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "svm.h"

#define ROUNDS		100000
#define MEDIATED	"/sys/module/kvm_amd/parameters/enable_mediated_pmu"
#define RUNS		3
/* The most user instructions that the ioctls between two loops add */
#define MARGIN		2000

const struct exclusion exclusions[EXCLUSIONS] = {
	{ "host and guests", false, false },
	{ "exclude_guest", false, true },
	{ "exclude_host", true, false },
	{ "exclude_host and exclude_guest", true, true },
};

/*
 * Some kernels enable SVM when the first virtual machine is made, others when the module is loaded.
 */
static int make_machine(void)
{
	int kvm = open_kvm(), vm;

	if (kvm < 0)
		return kvm;
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	if (vm < 0)
		vm = -errno;
	close(kvm);
	return vm;
}

/* Return the value of the module parameter in the file @path, or 0 if there is none. */
static char parameter(const char *path)
{
	char value = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, &value, 1) != 1)
		value = 0;
	close(fd);
	return value;
}

static int open_loop(bool exclude_guest, int leader)
{
	struct perf_event_attr attr;

	attr_init(&attr, ARCH_EVENT_INSTRUCTIONS);
	attr.exclude_kernel = 1;
	attr.exclude_guest = exclude_guest;
	attr.disabled = leader < 0;
	return event_open(&attr, 0, -1, leader, 0);
}

/* Both count the same instructions, whatever KVM does. */
static bool same_so_far(const char *when, int plain, int host, u64 *last)
{
	u64 all, of_host;

	known_loop(ROUNDS);
	ioctl(plain, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	all = event_read(plain);
	of_host = event_read(host);
	ioctl(plain, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	expect_range(when, 2 * ROUNDS, 1000 * ROUNDS, all - *last);
	*last = all;
	return expect_eq(when, all, of_host);
}

static void comes_and_goes(void)
{
	int plain, host, vm;
	u64 last = 0;

	if (!arch_is_amd()) {
		ktap_skip("not a CPU of AMD's");
		return;
	}
	plain = open_loop(false, -1);
	host = open_loop(true, plain);
	if (!expect_true("two events", plain >= 0 && host >= 0))
		return;
	ioctl(plain, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	if (same_so_far("before KVM", plain, host, &last) && load_modules("")) {
		same_so_far("with the modules", plain, host, &last);
		vm = make_machine();
		expect_true("a virtual machine", vm >= 0);
		same_so_far("with a virtual machine", plain, host, &last);
		close_all(&vm, 1);
		expect_eq("unloading kvm_amd", 0, unload_module());
		same_so_far("without the modules again", plain, host, &last);
	}
	close_all(&host, 1);
	close_all(&plain, 1);
}

/* A guest's run neither adds to a host-only event nor takes from it. */
static void count_around(struct machine *m, int event)
{
	bool ran = true;

	ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
	known_loop(ROUNDS);
	for (int i = 0; i < RUNS; i++)
		ran = run_machine(m, 3, ROUNDS) && ran;
	known_loop(ROUNDS);
	ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
	expect_true("the guest runs", ran);
	expect_range("instructions of both loops", 4 * ROUNDS, 4 * ROUNDS + MARGIN,
		     event_read(event));
}

static void beside_mediated(void)
{
	struct machine m;
	int event;

	event = open_loop(false, -1);
	expect_true("an event of host and guests, before the guest", event >= 0);
	expect_eq("a guest's CPU while that event is open", -EBUSY, make_cpu(&m));
	end_machine(&m);
	close_all(&event, 1);

	if (expect_true("a guest's CPU", make_cpu(&m) >= 0)) {
		event = open_loop(true, -1);
		if (expect_true("a host-only event", event >= 0))
			count_around(&m, event);
		close_all(&event, 1);
		expect_eq("an event of host and guests", -EOPNOTSUPP, open_loop(false, -1));
	}
	end_machine(&m);
}

/* KVM turns its option off: guests have no PMU, and events count as without the option. */
static void without_mediated(void)
{
	struct machine m;
	int event;

	expect_eq("enable_mediated_pmu", 'N', parameter(MEDIATED));
	event = open_loop(false, -1);
	expect_true("an event of host and guests", event >= 0);
	expect_true("a guest's CPU while that event is open", make_cpu(&m) >= 0);
	close_all(&event, 1);
	event = open_loop(true, -1);
	if (expect_true("a host-only event", event >= 0))
		count_around(&m, event);
	close_all(&event, 1);
	end_machine(&m);
}

static void mediated(void)
{
	if (!arch_is_amd()) {
		ktap_skip("not a CPU of AMD's");
		return;
	}
	if (!load_modules("enable_mediated_pmu=1"))
		return;
	if (!parameter(MEDIATED))
		ktap_skip("this KVM has no mediated vPMU");
	else if (parameter(MEDIATED) == 'Y')
		beside_mediated();
	else
		without_mediated();
	expect_eq("unloading kvm_amd", 0, unload_module());
}

static const struct ktap_case cases[] = {
	{ "a host-only event counts before, while and after KVM has the CPU", comes_and_goes },
	{ "beside a mediated vPMU, host-only events count exactly, and others are rejected",
	  mediated },
};

static const struct ktap_list main_cases = { cases, ARRAY_SIZE(cases) };

static const struct ktap_list *const lists[] = { &main_cases, &count_cases, &sample_cases };

int main(int argc, char **argv)
{
	target_init(argc, argv);
	return ktap_run_lists(lists, ARRAY_SIZE(lists));
}
