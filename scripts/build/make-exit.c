// SPDX-License-Identifier: GPL-2.0
/*
 * GNU make ends with status 2 whatever the status of the recipe that failed. This library, loaded
 * into make, adds the function $(exit-with STATUS). It ends make with that status unless STATUS is
 * 0 or empty: so make has the status of a guest's command.
 */
#include <stdlib.h>
#include <gnumake.h>

int plugin_is_GPL_compatible;

int make_exit_gmk_setup(void);

static char *exit_with(const char *name, unsigned int argc, char **argv)
{
	int status = atoi(argv[0]);

	(void)name;
	(void)argc;
	if (status)
		exit(status);
	return NULL;
}

int make_exit_gmk_setup(void)
{
	gmk_add_function("exit-with", exit_with, 1, 1, GMK_FUNC_DEFAULT);
	return 1;
}
