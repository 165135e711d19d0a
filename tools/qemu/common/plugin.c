// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Common to all plugins: the interface version, options, refusals, the vCPU callback.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/plugin.h"

/* From this interface version on, every callback has an argument for user data. */
#define VERSION_USERDATA	7

/*
 * QEMU reads this after dlopen() and refuses a plugin outside its range:
 *
 *	QEMU	accepts
 *	7.2	0..1
 *	10.0	2..4
 *	11.1	7..7
 *
 * No number is in all ranges, so choose_version() replaces it before QEMU reads it. The common code
 * uses the install function and one callback of the interface.
 */
PLUGIN_EXPORT int qemu_plugin_version = 2;

bool plugin_verbose;

/* The start of VersionInfo, QEMU's reply to query-version */
struct version_info {
	const struct {
		int64_t major;
		int64_t minor;
		int64_t micro;
	} *qemu;
};

/*
 * Runs during dlopen(). If QEMU has no qmp_query_version(), the default stays; QEMU prints an error
 * if it does not accept the default.
 */
static void __attribute__((constructor)) choose_version(void)
{
	const struct version_info *(*query_version)(void *errp);
	const struct version_info *v;

	query_version = (const struct version_info *(*)(void *))
			dlsym(RTLD_DEFAULT, "qmp_query_version");
	if (!query_version)
		return;

	/* Never freed: a few bytes, once. */
	v = query_version(NULL);
	if (v->qemu->major < 9)
		qemu_plugin_version = 1;
	else if (v->qemu->major > 11 || (v->qemu->major == 11 && v->qemu->minor >= 1))
		qemu_plugin_version = VERSION_USERDATA;
}

/**
 * plugin_refuse() - print why the plugin does not load
 * @fmt: one sentence, without a newline
 *
 * Return: the non-zero value that makes QEMU exit, for the caller to return.
 */
int plugin_refuse(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fprintf(stderr, "%s: ", plugin_name);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
	return 1;
}

/**
 * plugin_note() - print a message if the user has asked for messages
 * @fmt: one sentence, without a newline
 */
void plugin_note(const char *fmt, ...)
{
	va_list args;

	if (!plugin_verbose)
		return;

	va_start(args, fmt);
	fprintf(stderr, "%s: ", plugin_name);
	vfprintf(stderr, fmt, args);
	fputc('\n', stderr);
	va_end(args);
}

static int refuse_option(const char *arg, const struct plugin_option *table, size_t len)
{
	char known[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < len && used < sizeof(known); i++)
		used += snprintf(known + used, sizeof(known) - used, "%s%s",
				 i ? ", " : "", table[i].text);

	return plugin_refuse("unknown option '%s' (known: %s)", arg, known);
}

/**
 * plugin_options() - read the options given after the plugin's file name
 * @argc: number of options
 * @argv: the options, each "name=value"
 * @table: the options that the plugin knows
 * @len: number of entries of @table
 *
 * Return: 0, or non-zero after a refusal.
 */
int plugin_options(int argc, char **argv, const struct plugin_option *table, size_t len)
{
	size_t i;

	for (int n = 0; n < argc; n++) {
		for (i = 0; i < len; i++)
			if (!strcmp(argv[n], table[i].text))
				break;
		if (i == len)
			return refuse_option(argv[n], table, len);
		*table[i].flag = true;
	}
	return 0;
}

/**
 * plugin_check_target() - check that QEMU emulates a machine of the plugin's architecture
 * @info: QEMU's information for plugins
 * @target: the plugin's architecture
 *
 * Return: 0, or non-zero after a refusal.
 */
int plugin_check_target(const struct qemu_info *info, const char *target)
{
	if (!info->system_emulation)
		return plugin_refuse("needs qemu-system-%s, this QEMU runs single programs",
				     target);
	if (strcmp(info->target_name, target))
		return plugin_refuse("needs qemu-system-%s, this QEMU emulates %s",
				     target, info->target_name);
	return 0;
}

static void (*vcpu_init)(unsigned int vcpu);

static void vcpu_init_plain(qemu_plugin_id_t id, unsigned int vcpu)
{
	(void)id;
	vcpu_init(vcpu);
}

static void vcpu_init_userdata(unsigned int vcpu, void *userdata)
{
	(void)userdata;
	vcpu_init(vcpu);
}

/**
 * plugin_on_vcpu_init() - have a function called once for each vCPU
 * @id: QEMU's identifier of this plugin
 * @info: QEMU's information for plugins
 * @init: called in the vCPU's thread before its first instruction
 *
 * Return: 0, or non-zero after a refusal.
 */
int plugin_on_vcpu_init(qemu_plugin_id_t id, const struct qemu_info *info,
			void (*init)(unsigned int vcpu))
{
	void *reg = dlsym(RTLD_DEFAULT, "qemu_plugin_register_vcpu_init_cb");

	if (!reg)
		return plugin_refuse("this QEMU does not export qemu_plugin_register_vcpu_init_cb(): use Debian's QEMU");

	vcpu_init = init;
	if (info->version.cur >= VERSION_USERDATA)
		((void (*)(qemu_plugin_id_t, void (*)(unsigned int, void *), void *))reg)
			(id, vcpu_init_userdata, NULL);
	else
		((void (*)(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, unsigned int)))reg)
			(id, vcpu_init_plain);
	return 0;
}
