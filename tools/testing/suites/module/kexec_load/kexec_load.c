// SPDX-License-Identifier: GPL-2.0-only
/*
 * kexec_load.c - start another kernel: kexec_load [--crash] KERNEL INITRD COMMAND-LINE
 *
 * For guests without kexec-tools: kexec_file_load(2) on x86, kexec_load(2) on arm64, and reboot(2).
 * With --crash the kernel is loaded as the crash kernel, and starts after a panic.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kexec_load.h"

/* Debian's arm64 kernels have no kexec_file_load(2). */
static int load(const struct next_kernel *next)
{
#ifdef __x86_64__
	return syscall(SYS_kexec_file_load, next->kernel, next->initrd, strlen(next->cmdline) + 1,
		       next->cmdline, next->crash ? KEXEC_FILE_ON_CRASH : 0);
#else
	return load_by_segments(next);
#endif
}

int main(int argc, char **argv)
{
	struct next_kernel next = { };

	if (argc > 1 && !strcmp(argv[1], "--crash")) {
		next.crash = true;
		argc--;
		argv++;
	}
	if (argc != 4) {
		fprintf(stderr, "usage: kexec_load [--crash] KERNEL INITRD COMMAND-LINE\n");
		return 2;
	}
	next.kernel = open(argv[1], O_RDONLY | O_CLOEXEC);
	next.initrd = open(argv[2], O_RDONLY | O_CLOEXEC);
	next.cmdline = argv[3];
	if (next.kernel < 0 || next.initrd < 0) {
		fprintf(stderr, "kexec_load: %s: %s\n", argv[next.kernel < 0 ? 1 : 2],
			strerror(errno));
		return 1;
	}
	if (load(&next)) {
		fprintf(stderr, "kexec_load: the kernel is not loaded: %s\n", strerror(errno));
		return 1;
	}
	if (next.crash)
		return 0;

	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
	fprintf(stderr, "kexec_load: the kernel is not started: %s\n", strerror(errno));
	return 1;
}
