// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Options "name=value", and "fault=name:value", of the plugins that are a PMU.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/options.h"
#include "common/plugin.h"

static const struct option *find_option(const struct option *table, size_t len,
					const char *arg, char separator)
{
	size_t n = strcspn(arg, (const char[]) { separator, '\0' });

	for (size_t i = 0; i < len; i++)
		if (strlen(table[i].name) == n && !strncmp(table[i].name, arg, n))
			return &table[i];
	return NULL;
}

static int set_option(const struct option *option, const char *arg, const char *value)
{
	char *end;

	if (option->text) {
		*option->text = value;
		return 0;
	}
	errno = 0;
	*option->number = strtoull(value, &end, 0);
	if (!*value || *end || errno || *value == '-' || *option->number == OPTION_UNSET)
		return plugin_refuse("'%s': '%s' is no number", arg, value);
	return 0;
}

static int refuse_unknown(const char *arg, const char *prefix, const struct option *table,
			  size_t len)
{
	char known[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < len && used < sizeof(known); i++)
		used += snprintf(known + used, sizeof(known) - used, "%s%s%s", i ? ", " : "",
				 prefix, table[i].name);
	return plugin_refuse("unknown option '%s' (known: %s%s)", arg, known,
			     *prefix ? "" : ", fault");
}

static int read_fault(const char *arg, const char *fault, const struct option_table *table)
{
	const struct option *option = find_option(table->faults, table->nr_faults, fault, ':');
	const char *value = strchr(fault, ':');

	if (!option)
		return refuse_unknown(arg, "fault=", table->faults, table->nr_faults);
	if (option->flag) {
		if (value)
			return plugin_refuse("'%s': this fault takes no value", arg);
		*option->flag = true;
		return 0;
	}
	if (!value)
		return plugin_refuse("'%s': this fault takes a value, fault=%s:VALUE", arg,
				     option->name);
	if (set_option(option, arg, value + 1))
		return 1;
	if (option->number && (!*option->number || *option->number > UINT32_MAX))
		return plugin_refuse("'%s': give a number from 1 to %u: every Nth one goes wrong",
				     arg, UINT32_MAX);
	return 0;
}

/**
 * options_read() - read the options given after the plugin's file name
 * @argc: number of options
 * @argv: the options; must stay valid, @table's texts point to them
 * @table: the options that the plugin knows
 *
 * Return: 0, or non-zero after a refusal.
 */
int options_read(int argc, char **argv, const struct option_table *table)
{
	const struct option *option;

	for (int i = 0; i < argc; i++) {
		const char *value = strchr(argv[i], '=');

		if (value && !strncmp(argv[i], "fault=", 6)) {
			if (read_fault(argv[i], value + 1, table))
				return 1;
			continue;
		}
		option = find_option(table->options, table->nr_options, argv[i], '=');
		if (!option || !value)
			return refuse_unknown(argv[i], "", table->options, table->nr_options);
		if (set_option(option, argv[i], value + 1))
			return 1;
	}
	return 0;
}

/**
 * options_switch() - read a value that is on or off
 * @name: the option's name
 * @value: the option's value; NULL if the user has not given the option
 * @result: set to true for "on", false for "off"; unchanged without a value
 *
 * Return: 0, or non-zero after a refusal.
 */
int options_switch(const char *name, const char *value, bool *result)
{
	if (!value)
		return 0;
	if (strcmp(value, "on") && strcmp(value, "off"))
		return plugin_refuse("'%s=%s': it is either on or off", name, value);
	*result = !strcmp(value, "on");
	return 0;
}

/* Read a list separated by '+'. Return its length, 0 on an error, @max + 1 if it is too long. */
static unsigned int read_numbers(const char *list, uint64_t *numbers, unsigned int max)
{
	unsigned int n = 0;
	uint64_t number;
	char *end;

	do {
		number = strtoull(list, &end, 0);
		if (end == list || (*end && *end != '+'))
			return 0;
		if (n == max)
			return max + 1;
		numbers[n++] = number;
		list = end + 1;
	} while (*end);
	return n;
}

/**
 * options_events() - read a list of events
 * @name: the option
 * @list: numbers of events with '+' between them, or NULL if the option was not given
 * @known: the bits that a number may have
 * @events: set to the events
 * @max: maximum number of events
 * @nr: set to the number of events
 *
 * Return: 0, or non-zero after a refusal.
 */
int options_events(const char *name, const char *list, uint64_t known, uint64_t *events,
		   unsigned int max, unsigned int *nr)
{
	unsigned int n, i, wrong = 0;

	if (!list)
		return 0;
	n = read_numbers(list, events, max);
	if (n > max)
		return plugin_refuse("'%s=%s' has more than %u events", name, list, max);
	for (i = 0; i < n; i++)
		wrong += !!(events[i] & ~known);
	if (!n || wrong)
		return plugin_refuse("'%s=%s': give numbers of events, as perf's config has them, with '+' between them",
				     name, list);
	*nr = n;
	return 0;
}
