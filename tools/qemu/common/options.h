/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options "name=value", and "fault=name:value", of the plugins that are a PMU.
 */
#ifndef TOOLS_QEMU_COMMON_OPTIONS_H
#define TOOLS_QEMU_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a number is until it is given. */
#define OPTION_UNSET	UINT64_MAX

/**
 * struct option - one option; exactly one of the pointers is there
 * @name: all before the "=", or before the ":" in a fault
 * @number: where its value goes if that is a number
 * @text: where it goes if that is anything else
 * @flag: set if it is given; a fault without a value
 */
struct option {
	const char *name;
	uint64_t *number;
	const char **text;
	bool *flag;
};

/**
 * struct option_table - what may be given
 * @options: with "="
 * @nr_options: how many
 * @faults: with "fault="; their numbers are every how manieth goes wrong
 * @nr_faults: how many
 */
struct option_table {
	const struct option *options;
	size_t nr_options;
	const struct option *faults;
	size_t nr_faults;
};

int options_read(int argc, char **argv, const struct option_table *table);
int options_switch(const char *name, const char *value, bool *result);
int options_events(const char *name, const char *list, uint64_t known, uint64_t *events,
		   unsigned int max, unsigned int *nr);

#endif /* TOOLS_QEMU_COMMON_OPTIONS_H */
