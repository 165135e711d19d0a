// SPDX-License-Identifier: GPL-2.0-only
/*
 * svm.c - events that count the host alone go on while KVM comes and goes (AMD)
 *
 * A host-only counter stands still while EFER.SVME is 0, so that whoever sets the bit has to be
 * told of KVM. The guest has its modules in /corepmu/kmods/kvm-amd (run-guest --kmod).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/stat.h>
#include <unistd.h>

#include "perf_util.h"

#define ROUNDS		100000
#define MODULES		"/corepmu/kmods/kvm-amd"
#define KVM_DEVICE	"/tmp/kvm"
#define KVM_MINOR	232

static int load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret == -EEXIST ? 0 : ret;
}

/* In the order of their names, which is that of who needs whom. */
static bool load_modules(void)
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
			ret = load(path);
			ok = ok && expect_eq(names[i]->d_name, 0, ret);
		}
		free(names[i]);
	}
	free(names);
	return ok;
}

/* Some kernels take the CPUs on with the first virtual machine, some with the module. */
static int make_machine(void)
{
	int kvm, vm;

	if (mknod(KVM_DEVICE, S_IFCHR | 0600, makedev(10, KVM_MINOR)) && errno != EEXIST)
		return -errno;
	kvm = open(KVM_DEVICE, O_RDWR | O_CLOEXEC);
	if (kvm < 0)
		return -errno;
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	if (vm < 0)
		vm = -errno;
	close(kvm);
	return vm;
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
	if (same_so_far("before KVM", plain, host, &last) && load_modules()) {
		same_so_far("with the modules", plain, host, &last);
		vm = make_machine();
		expect_true("a virtual machine", vm >= 0);
		same_so_far("with a virtual machine", plain, host, &last);
		close_all(&vm, 1);
		expect_eq("unloading kvm_amd", 0,
			  syscall(SYS_delete_module, "kvm_amd", O_NONBLOCK) ? -errno : 0);
		same_so_far("without the modules again", plain, host, &last);
	}
	close_all(&host, 1);
	close_all(&plain, 1);
}

static const struct ktap_case cases[] = {
	{ "a host-only event counts before, while and after KVM has the CPU", comes_and_goes },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
