// SPDX-License-Identifier: GPL-2.0-only
/*
 * about.c - facts about the machine, the kernel and the PMU
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "report.h"
#include "validate.h"

#define DEVICES	"/sys/bus/event_source/devices"

/* Read the value of the first line of /proc/cpuinfo with a name. */
static bool cpu_says(const char *name, char *text, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "r");
	char line[4096], *value;
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file)) {
		value = strchr(line, ':');
		if (!value || strncmp(line, name, strlen(name)) ||
		    line[strlen(name) + strspn(line + strlen(name), " \t")] != ':')
			continue;
		value += 1 + strspn(value + 1, " ");
		value[strcspn(value, "\n")] = '\0';
		snprintf(text, size, "%s", value);
		found = true;
	}
	if (file)
		fclose(file);
	return found;
}

static void report_cpu(void (*report)(const char *name, const char *fact))
{
	static const char *const names[] = {
		/* x86 */
		"vendor_id", "model name", "cpu family", "model", "stepping", "microcode",
		/* arm64 */
		"CPU implementer", "CPU part", "CPU variant", "CPU revision",
		/* RISC-V */
		"isa", "uarch", "mvendorid", "marchid", "mimpid",
	};
	char name[64], text[4096];

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		if (!cpu_says(names[i], text, sizeof(text)))
			continue;
		snprintf(name, sizeof(name), "CPU: %s", names[i]);
		report(name, text);
	}
	/* known-defects.cfg asks for this flag. */
	if (cpu_says("flags", text, sizeof(text)) && strstr(text, " arch_lbr"))
		report("CPU: arch_lbr", "yes");
}

/* Report the files of a directory of the PMU: their names, or with @values their contents. */
static void report_files(void (*report)(const char *name, const char *fact), const char *dir,
			 bool values)
{
	char path[512], text[256], name[300], all[2048] = "";
	struct dirent **entries;
	int nr;

	snprintf(path, sizeof(path), DEVICES "/%s/%s", pmu.name, dir);
	nr = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < nr; i++) {
		const char *file = entries[i]->d_name;

		if (file[0] == '.')
			continue;
		if (!values) {
			if (strlen(all) + strlen(file) + 2 < sizeof(all))
				sprintf(all + strlen(all), "%s%s", all[0] ? " " : "", file);
			continue;
		}
		snprintf(path, sizeof(path), DEVICES "/%s/%s/%s", pmu.name, dir, file);
		snprintf(name, sizeof(name), "PMU: %s/%s", dir, file);
		if (read_text(path, text, sizeof(text)))
			report(name, text);
	}
	if (all[0]) {
		snprintf(name, sizeof(name), "PMU: %s", dir);
		report(name, all);
	}
}

static void report_pmu(void (*report)(const char *name, const char *fact))
{
	char path[256], text[256], module[128];

	if (!pmu.name)
		return;
	snprintf(text, sizeof(text), "%d", pmu.type);
	report("PMU: type", text);
	snprintf(path, sizeof(path), DEVICES "/%s/cpus", pmu.name);
	if (read_text(path, text, sizeof(text)))
		report("PMU: cpus", text);
	if (module_of_pmu(module, sizeof(module))) {
		report("PMU: module", module);
		snprintf(path, sizeof(path), "/sys/module/%s/version", module);
		if (read_text(path, text, sizeof(text)))
			report("PMU: version of the module", text);
		snprintf(path, sizeof(path), "/sys/module/%s/srcversion", module);
		if (read_text(path, text, sizeof(text)))
			report("PMU: sources of the module", text);
	}
	report_files(report, "caps", true);
	report_files(report, "format", true);
	report_files(report, "events", false);
}

void about_machine(void (*report)(const char *name, const char *fact))
{
	static const struct {
		const char *name;
		const char *path;
	} files[] = {
		{ "machine", "/sys/class/dmi/id/product_name" },
		{ "devicetree model", "/proc/device-tree/model" },
		{ "vendor", "/sys/class/dmi/id/sys_vendor" },
		{ "firmware", "/sys/class/dmi/id/bios_version" },
		{ "hypervisor", "/sys/hypervisor/type" },
		{ "CPUs on line", "/sys/devices/system/cpu/online" },
		{ "kernel.perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid" },
		{ "kernel.perf_event_max_sample_rate",
		  "/proc/sys/kernel/perf_event_max_sample_rate" },
		{ "kernel.perf_user_access", "/proc/sys/kernel/perf_user_access" },
		{ "kernel.nmi_watchdog", "/proc/sys/kernel/nmi_watchdog" },
		{ "kernel.tainted", "/proc/sys/kernel/tainted" },
	};
	char text[512];
	struct utsname uts;

	uname(&uts);
	report("kernel", uts.release);
	report("kernel build", uts.version);
	report("architecture", uts.machine);
	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++)
		if (read_text(files[i].path, text, sizeof(text)))
			report(files[i].name, text);
	report_cpu(report);
	report_pmu(report);
	report("user", geteuid() ? "not root" : "root");
	snprintf(text, sizeof(text), "%u", pmu.group);
	report("events in a group", text);
	report("how exact", pmu.exactness);
}
