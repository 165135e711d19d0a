/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Common to all plugins: the few declarations of QEMU's plugin interface, options, and refusals.
 *
 * QEMU's qemu-plugin.h is not used. Not all distributions package it, and it needs glib's headers.
 * It also describes one version of the interface, while one binary here works with several.
 */
#ifndef TOOLS_QEMU_COMMON_PLUGIN_H
#define TOOLS_QEMU_COMMON_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_EXPORT	__attribute__((visibility("default")))

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

typedef uint64_t qemu_plugin_id_t;

/**
 * struct qemu_info - QEMU's information for plugins (its qemu_info_t)
 * @target_name: the architecture of the guest, "aarch64", "x86_64", ...
 * @version.min: oldest interface version that QEMU accepts
 * @version.cur: the interface version that QEMU implements
 * @system_emulation: QEMU emulates a machine, not one user program
 * @smp_vcpus: CPUs at start, if @system_emulation
 * @max_vcpus: CPUs possible, if @system_emulation
 */
struct qemu_info {
	const char *target_name;
	struct {
		int min;
		int cur;
	} version;
	bool system_emulation;
	int smp_vcpus;
	int max_vcpus;
};

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info,
				      int argc, char **argv);

/* The start of every message; each plugin defines this. */
extern const char *const plugin_name;

/* plugin_note() prints its messages. */
extern bool plugin_verbose;

/**
 * struct plugin_option - one accepted "name=value"
 * @text: the option as on the command line, "name=value"
 * @flag: set to true if the user has given the option
 */
struct plugin_option {
	const char *text;
	bool *flag;
};

int plugin_refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void plugin_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int plugin_options(int argc, char **argv, const struct plugin_option *table, size_t len);
int plugin_check_target(const struct qemu_info *info, const char *target);
int plugin_on_vcpu_init(qemu_plugin_id_t id, const struct qemu_info *info,
			void (*init)(unsigned int vcpu));

#endif /* TOOLS_QEMU_COMMON_PLUGIN_H */
