/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of a virtual PMU, written at exit.
 */
#ifndef TOOLS_QEMU_PMU_STATS_H
#define TOOLS_QEMU_PMU_STATS_H

#include <stdint.h>
#include <stdio.h>

/* Option: the file of statistics; NULL for standard error */
extern const char *stats_file;

/* Events that a guest selects and that the PMU does not count: see unknown.c */
void unknown_event(unsigned int vcpu, uint64_t event);
void unknown_print(FILE *f, unsigned int vcpu);

void stats_print(void (*print_vcpu)(FILE *f, unsigned int vcpu));

#endif /* TOOLS_QEMU_PMU_STATS_H */
