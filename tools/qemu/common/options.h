/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options "name=value", and "fault=name:value", of the plugins that are a PMU.
 */
#ifndef TOOLS_QEMU_COMMON_OPTIONS_H
#define TOOLS_QEMU_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of a number that the user has not given */
#define OPTION_UNSET	UINT64_MAX

/**
 * struct option - one option; exactly one of the pointers is set
 * @name: the part before the "=", or before the ":" of a fault
 * @number: set to the value of an option that takes a number
 * @text: set to the value of an option that takes a text
 * @flag: set to true by a fault without a value
 */
struct option {
	const char *name;
	uint64_t *number;
	const char **text;
	bool *flag;
};

/**
 * struct option_table - all options of a plugin
 * @options: options "name=value"
 * @nr_options: number of @options
 * @faults: faults, "fault=name:value"; a number N means that every Nth goes wrong
 * @nr_faults: number of @faults
 */
struct option_table {
	const struct option *options;
	size_t nr_options;
	const struct option *faults;
	size_t nr_faults;
};

/* Check whether record or sample number @i has a fault that each @n-th one has; @n 0: none has. */
static inline bool fault_is_due(uint64_t n, uint64_t i)
{
	return n && i % n == 0;
}

int options_read(int argc, char **argv, const struct option_table *table);
int options_switch(const char *name, const char *value, bool *result);
int options_events(const char *name, const char *list, uint64_t known, uint64_t *events,
		   unsigned int max, unsigned int *nr);

#endif /* TOOLS_QEMU_COMMON_OPTIONS_H */
