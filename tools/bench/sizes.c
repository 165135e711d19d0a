// SPDX-License-Identifier: GPL-2.0-only
/*
 * sizes.c - objects of the size of the structures that the driver allocates for each CPU
 *
 * `nm -S` prints their sizes: the module is built without debugging information.
 */
#include <corepmu/branch.h>
#include <corepmu/pmu.h>

char bytes_per_cpu[sizeof(struct corepmu_cpu)];
char bytes_per_cpu_of_branches[sizeof(struct corepmu_branches)];
