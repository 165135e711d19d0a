/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of a virtual PMU, written at exit.
 */
#ifndef TOOLS_QEMU_PMU_STATS_H
#define TOOLS_QEMU_PMU_STATS_H

#include <stdio.h>

/* Option: the file of statistics; NULL for standard error */
extern const char *stats_file;

void stats_print(void (*print_vcpu)(FILE *f, unsigned int vcpu));

#endif /* TOOLS_QEMU_PMU_STATS_H */
