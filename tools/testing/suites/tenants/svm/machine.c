// SPDX-License-Identifier: GPL-2.0-only
/*
 * machine.c - KVM's modules, and a virtual machine that runs a loop at ring 0 or 3
 *
 * The guest is in protected mode with flat segments, without paging: its addresses are those of its
 * memory. The modules of KVM are in /corepmu/kmods/kvm-amd (run-guest --kmod).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "task.h"
#include "svm.h"

#define MODULES		"/corepmu/kmods/kvm-amd"
#define KVM_DEVICE	"/tmp/kvm"
#define KVM_MINOR	232

/* Bits of registers, and types of segments: AMD APM, volume 2 */
#define CR0_PE		1
#define RFLAGS_FIXED	0x0002
#define RFLAGS_IOPL_3	0x3000
#define TYPE_DATA	3
#define TYPE_CODE	11

static int load(const char *path, const char *options)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, options, 0) ? -errno : 0;
	close(fd);
	return ret == -EEXIST ? 0 : ret;
}

/**
 * load_modules() - load KVM's modules, in the order of their names: none needs a later one
 * @options: module parameters of kvm_amd
 *
 * Return: false if the running test has failed
 */
bool load_modules(const char *options)
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

/**
 * unload_module() - unload kvm_amd
 *
 * Return: 0 or a negative errno
 */
int unload_module(void)
{
	return syscall(SYS_delete_module, "kvm_amd", O_NONBLOCK) ? -errno : 0;
}

/**
 * open_kvm() - open KVM's device
 *
 * Return: a descriptor or a negative errno
 */
int open_kvm(void)
{
	int kvm;

	if (mknod(KVM_DEVICE, S_IFCHR | 0600, makedev(10, KVM_MINOR)) && errno != EEXIST)
		return -errno;
	kvm = open(KVM_DEVICE, O_RDWR | O_CLOEXEC);
	return kvm < 0 ? -errno : kvm;
}

/**
 * make_cpu() - make a virtual machine, its interrupt controller and its CPU
 * @m: the machine; end_machine() also ends one whose CPU could not be made
 *
 * Return: the CPU's descriptor, or a negative errno
 */
int make_cpu(struct machine *m)
{
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = GUEST_CODE, .memory_size = GUEST_MEMORY,
	};

	*m = (struct machine){ .fds = { -1, -1, -1 } };
	m->memory = mmap(NULL, GUEST_MEMORY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			 -1, 0);
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
	if (m->run == MAP_FAILED || ioctl(m->fds[2], KVM_GET_SREGS, &m->reset))
		return -errno;

	return m->fds[2];
}

/**
 * end_machine() - undo make_cpu()
 * @m: the machine
 */
void end_machine(struct machine *m)
{
	if (m->run && m->run != MAP_FAILED)
		munmap(m->run, m->size);
	close_all(m->fds, ARRAY_SIZE(m->fds));
	munmap(m->memory, GUEST_MEMORY);
}

static struct kvm_segment flat_segment(unsigned int ring, unsigned int type, unsigned int selector)
{
	return (struct kvm_segment){
		.limit = 0xffffffff, .selector = selector | ring, .type = type, .present = 1,
		.dpl = ring, .db = 1, .s = 1, .g = 1,
	};
}

/**
 * run_machine() - run a loop in the guest, then an OUT instruction, which ends KVM_RUN
 * @m: the machine
 * @ring: 0 or 3
 * @rounds: rounds of the loop
 *
 * Return: whether the guest ran to its end
 */
bool run_machine(struct machine *m, unsigned int ring, u32 rounds)
{
	/* mov $rounds, %ecx; 1: dec %ecx; jnz 1b; out %al, $0x10 */
	unsigned char code[] = { 0xb9, 0, 0, 0, 0, 0x49, 0x75, 0xfd, 0xe6, 0x10 };
	struct kvm_regs regs = { .rip = GUEST_CODE, .rflags = RFLAGS_FIXED };
	struct kvm_sregs sregs = m->reset;
	int ret;

	memcpy(code + 1, &rounds, sizeof(rounds));
	memcpy(m->memory, code, sizeof(code));
	sregs.cr0 |= CR0_PE;
	sregs.cs = flat_segment(ring, TYPE_CODE, 0x08);
	sregs.ds = flat_segment(ring, TYPE_DATA, 0x10);
	sregs.es = sregs.ds;
	sregs.fs = sregs.ds;
	sregs.gs = sregs.ds;
	sregs.ss = sregs.ds;
	if (ring)
		regs.rflags |= RFLAGS_IOPL_3;
	if (ioctl(m->fds[2], KVM_SET_SREGS, &sregs) || ioctl(m->fds[2], KVM_SET_REGS, &regs))
		return false;
	do {
		ret = ioctl(m->fds[2], KVM_RUN, 0);
	} while (ret && errno == EINTR);

	return !ret && m->run->exit_reason == KVM_EXIT_IO;
}

/**
 * open_cpu_event() - open an event of one CPU, which then runs this program and its guests
 * @attr: the event's attributes
 *
 * Return: a descriptor or a negative errno
 */
int open_cpu_event(struct perf_event_attr *attr)
{
	return run_on(0) ? event_open(attr, -1, 0, -1, 0) : -EINVAL;
}

/**
 * with_machine() - run a test with a virtual machine that has no mediated vPMU
 * @test: the test
 */
void with_machine(void (*test)(struct machine *m))
{
	struct machine m;

	if (!arch_is_amd()) {
		ktap_skip("not a CPU of AMD's");
		return;
	}
	/* The module kvm keeps the option of the last load. */
	if (!load_modules("enable_mediated_pmu=0"))
		return;
	if (expect_true("a guest's CPU", make_cpu(&m) >= 0))
		test(&m);
	end_machine(&m);
	expect_eq("unloading kvm_amd", 0, unload_module());
}
