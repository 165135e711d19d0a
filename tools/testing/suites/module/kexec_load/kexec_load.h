/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kexec_load.h - load another kernel
 */
#ifndef KEXEC_LOAD_H
#define KEXEC_LOAD_H

#include <stdbool.h>

/* A kernel to start: descriptors of its files, its command line, and whether a panic starts it */
struct next_kernel {
	int		kernel;
	int		initrd;
	const char	*cmdline;
	bool		crash;
};

int load_by_segments(const struct next_kernel *next);

#endif
