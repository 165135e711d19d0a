// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: load and unload, and the module's parameters
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/ctype.h>
#include <linux/export.h>
#include <linux/limits.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <corepmu/counter.h>
#include <corepmu/ksyms.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#if COMPAT_NEWER_THAN_TESTED
#pragma message "this kernel is newer than any that corepmu was tested on"
#endif

module_param_named(name, corepmu_name, charp, 0444);
MODULE_PARM_DESC(name, "name of the PMU in sysfs (default: corepmu)");

module_param_named(type, corepmu_type, int, 0444);
MODULE_PARM_DESC(type, "type of the PMU (default: the next free one)");

module_param_named(standin, corepmu_as_builtin, bool, 0444);
MODULE_PARM_DESC(standin,
		 "take the name and the type of the built-in driver's PMU, where that driver is not running");

module_param_named(start_near_wrap, corepmu_start_near_wrap, ullong, 0444);
MODULE_PARM_DESC(start_near_wrap,
		 "for tests: counting events start this many counts below 2^32 (modulo 2^64)");

/*
 * No module uses this symbol. The kernel rejects a module that exports a symbol of a loaded module,
 * and logs both names: so two copies of this module, under two names, do not load at the same time.
 * Both would change the kernel's static calls and keys. At its unload, a copy would restore the
 * value it found: a function of the other copy, which may be unloaded already.
 */
const bool __visible corepmu_drives_the_counters = true;
EXPORT_SYMBOL_GPL(corepmu_drives_the_counters);

/* A sysfs directory has the PMU's name, with the CPU type that pmu_name() may append. */
#define PMU_NAME_MAX	(NAME_MAX / 2)

/*
 * Check whether perf can use @name in an event (tools/perf/util/parse-events.l), and sysfs in a
 * path. Driver core warns of an empty name. It accepts ".", "a/b" and "0", but no tool finds such a
 * PMU.
 */
static bool __init is_pmu_name(const char *name)
{
	const char *c;

	if (!isalpha(name[0]) && name[0] != '_')
		return false;
	for (c = name; *c; c++) {
		if (!isascii(*c) || (!isalnum(*c) && !strchr("_-.", *c)))
			return false;
	}

	return c - name <= PMU_NAME_MAX;
}

/*
 * Perf core finds the PMU of a generic event (types 0 and 3) by the type in attr.config: a PMU
 * with type 0 or 3 would get no events. PERF_TYPE_RAW is the type of a core PMU. The other types
 * below PERF_TYPE_MAX belong to perf core's own PMUs.
 */
static bool __init is_pmu_type(int type)
{
	return type == -1 || type == PERF_TYPE_RAW || type >= PERF_TYPE_MAX;
}

static int __init corepmu_init(void)
{
	int ret;

	if (COMPAT_NEWER_THAN_TESTED)
		pr_notice("this kernel is newer than any that was tested: report what fails\n");

	if (corepmu_as_builtin && (corepmu_type != -1 || strcmp(corepmu_name, "corepmu"))) {
		pr_err("standin=1 sets name and type: leave out name= and type=\n");
		return -EINVAL;
	}

	if (!is_pmu_type(corepmu_type)) {
		pr_err("type=%d: the type of a PMU must be %d, or at least %d; leave out type= for the next free type\n",
		       corepmu_type, PERF_TYPE_RAW, PERF_TYPE_MAX);
		return -EINVAL;
	}

	if (!is_pmu_name(corepmu_name)) {
		pr_err("name=%.*s: a name is up to %d letters, digits, _, - and ., and starts with a letter or _\n",
		       PMU_NAME_MAX, corepmu_name, PMU_NAME_MAX);
		return -EINVAL;
	}

	ret = corepmu_resolve_symbols();
	if (ret)
		return ret;

	ret = corepmu_stale_pmus_init();
	if (ret)
		return ret;

	ret = corepmu_hotplug_init();
	if (ret)
		return ret;

	corepmu_refuse_init();
	ret = corepmu_arch_init();
	if (ret) {
		corepmu_refuse_exit();
		corepmu_hotplug_exit();
	}

	return ret;
}
module_init(corepmu_init);

static void __exit corepmu_exit(void)
{
	corepmu_arch_exit();
	corepmu_refuse_exit();
	corepmu_hotplug_exit();
}
module_exit(corepmu_exit);

MODULE_AUTHOR("The corepmu authors");
MODULE_DESCRIPTION("Core PMU driver (arm64 PMUv3, Intel and AMD counters) to load, patch and load again");
MODULE_VERSION("0.1");
MODULE_LICENSE("GPL");
