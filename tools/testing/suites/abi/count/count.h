/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * count.h - the tests of the suite "count": what counting events count
 *
 * For the exact lane: one CPU, whose cycles and instructions are known.
 */
#ifndef COUNT_H
#define COUNT_H

#include "perf_util.h"
#include "task.h"

/* Iterations of known_loop() that take ten million instructions */
#define TEN_MILLION	(10000000UL / LOOP_INSNS)
#define SHORT		50000UL

extern const struct ktap_list count_exact_cases, count_control_cases, count_task_cases,
	count_group_cases;

#endif /* COUNT_H */
