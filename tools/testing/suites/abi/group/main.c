// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - the suite "group": groups and multiplexing
 */
#include "group.h"

static const struct ktap_list *const lists[] = {
	&group_fit_cases, &group_rotate_cases, &group_member_cases,
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	return ktap_run_lists(lists, ARRAY_SIZE(lists));
}
