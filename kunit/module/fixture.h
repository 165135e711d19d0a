/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: fixture of the suites that register a PMU
 */
#ifndef _COREPMU_KUNIT_MODULE_FIXTURE_H
#define _COREPMU_KUNIT_MODULE_FIXTURE_H

#include <linux/types.h>

/* Number of events that each register access makes: counters count by themselves */
#define LIVELY	500

struct kunit;
struct testbed;

void load_power_on(const struct testbed *testbed, unsigned int counts, bool deaf);
int load_init(struct kunit *test);
void load_exit(struct kunit *test);

#endif /* _COREPMU_KUNIT_MODULE_FIXTURE_H */
