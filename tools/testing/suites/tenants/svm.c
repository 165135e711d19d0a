// SPDX-License-Identifier: GPL-2.0-only
/*
 * svm.c - events beside KVM on AMD's CPUs
 *
 * A host-only counter stops while EFER.SVME is 0: the driver must follow KVM's changes of the bit.
 * From Linux 7.0 on, KVM may load a guest's own values into the counters (mediated vPMU): perf core
 * then schedules host-only events out, and rejects the others. The modules of KVM are in
 * /corepmu/kmods/kvm-amd (run-guest --kmod).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf_util.h"

#define ROUNDS		100000
#define MODULES		"/corepmu/kmods/kvm-amd"
#define KVM_DEVICE	"/tmp/kvm"
#define KVM_MINOR	232
#define MEDIATED	"/sys/module/kvm_amd/parameters/enable_mediated_pmu"
#define MEMORY		0x10000
#define CODE		0x1000
#define RUNS		3
/* The most user instructions that the ioctls between two loops add */
#define MARGIN		2000

static int load(const char *path, const char *options)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, options, 0) ? -errno : 0;
	close(fd);
	return ret == -EEXIST ? 0 : ret;
}

/* In the order of their names, which is that of who needs whom. */
static bool load_modules(const char *options)
{
	struct dirent **names;
	int nr = scandir(MODULES, &names, NULL, alphasort), i, ret;
	char path[300];
	bool ok = nr > 2;

	if (!expect_true("the modules of KVM in " MODULES, ok))
		return false;
	for (i = 0; i < nr; i++) {
		if (names[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), MODULES "/%s", names[i]->d_name);
			ret = load(path, strstr(path, "kvm-amd.") ? options : "");
			ok = ok && expect_eq(names[i]->d_name, 0, ret);
		}
		free(names[i]);
	}
	free(names);
	return ok;
}

static int unload_module(void)
{
	return syscall(SYS_delete_module, "kvm_amd", O_NONBLOCK) ? -errno : 0;
}

static int open_kvm(void)
{
	int kvm;

	if (mknod(KVM_DEVICE, S_IFCHR | 0600, makedev(10, KVM_MINOR)) && errno != EEXIST)
		return -errno;
	kvm = open(KVM_DEVICE, O_RDWR | O_CLOEXEC);
	return kvm < 0 ? -errno : kvm;
}

/* Some kernels take the CPUs on with the first virtual machine, some with the module. */
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

/* Does the module parameter in the file @path start with @value? */
static bool parameter_is(const char *path, char value)
{
	char first = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, &first, 1) == 1 && first == value;

	if (fd >= 0)
		close(fd);
	return is;
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

/**
 * struct machine - a virtual machine with one CPU
 * @fds: files of KVM, of the machine and of its CPU
 * @run: state that KVM and the program share
 * @size: bytes of @run
 * @memory: the machine's memory, MEMORY bytes
 */
struct machine {
	int		fds[3];
	struct kvm_run	*run;
	size_t		size;
	unsigned char	*memory;
};

/* Create a machine and its CPU, which has a PMU. Return the CPU's file, or a negative errno. */
static int make_cpu(struct machine *m)
{
	struct kvm_userspace_memory_region region = { .memory_size = MEMORY };

	m->memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!expect_true("memory", m->memory != MAP_FAILED))
		return -ENOMEM;
	region.userspace_addr = (unsigned long)m->memory;
	m->fds[0] = open_kvm();
	m->fds[1] = ioctl(m->fds[0], KVM_CREATE_VM, 0);
	if (!expect_true("a virtual machine", m->fds[1] >= 0) ||
	    !expect_eq("its memory", 0, ioctl(m->fds[1], KVM_SET_USER_MEMORY_REGION, &region)) ||
	    !expect_eq("its interrupt controller", 0, ioctl(m->fds[1], KVM_CREATE_IRQCHIP, 0)))
		return -EINVAL;
	m->fds[2] = ioctl(m->fds[1], KVM_CREATE_VCPU, 0);
	if (m->fds[2] < 0)
		return -errno;
	m->size = ioctl(m->fds[0], KVM_GET_VCPU_MMAP_SIZE, 0);
	m->run = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fds[2], 0);

	return m->run == MAP_FAILED ? -errno : m->fds[2];
}

static void end_machine(struct machine *m)
{
	if (m->run && m->run != MAP_FAILED)
		munmap(m->run, m->size);
	close_all(m->fds, ARRAY_SIZE(m->fds));
	munmap(m->memory, MEMORY);
}

/* Run a loop of @rounds in real mode, then an OUT instruction, which ends KVM_RUN. */
static bool run_machine(struct machine *m, u32 rounds)
{
	unsigned char code[] = { 0x66, 0xb9, 0, 0, 0, 0, 0x66, 0x49, 0x75, 0xfc, 0xe6, 0x10 };
	struct kvm_regs regs = { .rip = CODE, .rflags = 2 };
	struct kvm_sregs sregs;

	memcpy(code + 2, &rounds, sizeof(rounds));
	memcpy(m->memory + CODE, code, sizeof(code));
	if (ioctl(m->fds[2], KVM_GET_SREGS, &sregs))
		return false;
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	return !ioctl(m->fds[2], KVM_SET_SREGS, &sregs) &&
	       !ioctl(m->fds[2], KVM_SET_REGS, &regs) && !ioctl(m->fds[2], KVM_RUN, 0) &&
	       m->run->exit_reason == KVM_EXIT_IO;
}

/* A guest's run neither adds to a host-only event nor takes from it. */
static void count_around(struct machine *m, int event)
{
	bool ran = true;
	int i;

	ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
	known_loop(ROUNDS);
	for (i = 0; i < RUNS; i++)
		ran = run_machine(m, ROUNDS) && ran;
	known_loop(ROUNDS);
	ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
	expect_true("the guest runs", ran);
	expect_range("instructions of both loops", 4 * ROUNDS, 4 * ROUNDS + MARGIN,
		     event_read(event));
}

static void mediated(void)
{
	struct machine m = { .fds = { -1, -1, -1 } };
	int event;

	if (!arch_is_amd()) {
		ktap_skip("not a CPU of AMD's");
		return;
	}
	if (!load_modules("enable_mediated_pmu=1"))
		return;
	if (!parameter_is(MEDIATED, 'Y')) {
		ktap_skip("KVM has no mediated vPMU here");
		unload_module();
		return;
	}
	event = open_loop(false, -1);
	expect_true("an event of host and guests, before the guest", event >= 0);
	expect_eq("a guest's CPU while that event is open", -EBUSY, make_cpu(&m));
	end_machine(&m);
	close_all(&event, 1);

	m = (struct machine){ .fds = { -1, -1, -1 } };
	if (expect_true("a guest's CPU", make_cpu(&m) >= 0)) {
		event = open_loop(true, -1);
		if (expect_true("a host-only event", event >= 0))
			count_around(&m, event);
		close_all(&event, 1);
		expect_eq("an event of host and guests", -EOPNOTSUPP, open_loop(false, -1));
	}
	end_machine(&m);
	expect_eq("unloading kvm_amd", 0, unload_module());
}

static const struct ktap_case cases[] = {
	{ "a host-only event counts before, while and after KVM has the CPU", comes_and_goes },
	{ "beside a mediated vPMU, host-only events count exactly and others are rejected", mediated },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
