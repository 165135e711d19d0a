// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the suite "count", and the program that its test of exec(2) executes
 */
#include <string.h>

#include "count.h"

static const unsigned long exec_loops[2] = { 1, TEN_MILLION };

static const struct ktap_list *const lists[] = {
	&count_exact_cases, &count_control_cases, &count_task_cases, &count_group_cases,
};

int main(int argc, char **argv)
{
	/*
	 * What enable_on_exec() executes. Both programs run the same instructions before their
	 * loop.
	 */
	if (argc == 2 && !strncmp(argv[1], "loop-", 5)) {
		known_loop(exec_loops[argv[1][5] & 1]);
		return 0;
	}
	target_init(argc, argv);
	return ktap_run_lists(lists, ARRAY_SIZE(lists));
}
