// SPDX-License-Identifier: GPL-2.0-only
/*
 * kexec_load.c - start another kernel: kexec_load [--crash] KERNEL INITRD COMMAND-LINE
 *
 * For guests without kexec-tools: kexec_file_load(2) and reboot(2). With --crash the kernel is
 * loaded as the crash kernel, and starts after a panic.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned long flags = 0;
	int kernel, initrd;

	if (argc > 1 && !strcmp(argv[1], "--crash")) {
		flags = KEXEC_FILE_ON_CRASH;
		argc--;
		argv++;
	}
	if (argc != 4) {
		fprintf(stderr, "usage: kexec_load [--crash] KERNEL INITRD COMMAND-LINE\n");
		return 2;
	}
	kernel = open(argv[1], O_RDONLY | O_CLOEXEC);
	initrd = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (kernel < 0 || initrd < 0) {
		fprintf(stderr, "kexec_load: %s: %s\n", argv[kernel < 0 ? 1 : 2], strerror(errno));
		return 1;
	}
	if (syscall(SYS_kexec_file_load, kernel, initrd, strlen(argv[3]) + 1, argv[3],
		    flags)) {
		fprintf(stderr, "kexec_load: the kernel is not loaded: %s\n", strerror(errno));
		return 1;
	}
	if (flags)
		return 0;

	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
	fprintf(stderr, "kexec_load: the kernel is not started: %s\n", strerror(errno));
	return 1;
}
