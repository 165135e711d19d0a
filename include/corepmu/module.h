/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: registration, CPU hotplug, shutdown, refusals, self-test and sysfs files
 */
#ifndef _COREPMU_MODULE_H
#define _COREPMU_MODULE_H

#include <linux/compiler.h>
#include <linux/device.h>
#include <linux/init.h>
#include <linux/types.h>

#include <corepmu/compat.h>

struct attribute_group;
struct corepmu;
struct corepmu_backend;
struct corepmu_cpu;

/* Like the kernel's PMU_FORMAT_ATTR(), but corepmu_format_show() shows all formats. */
#define COREPMU_FORMAT_ATTR(_name, _format)				\
	static struct dev_ext_attribute format_attr_##_name = {		\
		.attr	= __ATTR(_name, 0444, corepmu_format_show, NULL),	\
		.var	= _format,					\
	}

/*
 * Functions that run only while the module loads: the kernel frees their code after the load.
 * modpost warns of a call from code that stays, but not of an address that the load stores. KUnit
 * suites load and unload the driver after boot: their functions stay.
 */
#ifdef COREPMU_KUNIT
#define __corepmu_init
#else
#define __corepmu_init	__init
#endif

/* module/main.c: module_init() and module_exit() define these functions, for struct module. */
int __visible init_module(void);
void __visible cleanup_module(void);
extern const bool corepmu_drives_the_counters;

/* module/register.c */
extern char *corepmu_name;
extern int corepmu_type;
extern bool corepmu_as_builtin;
struct corepmu *corepmu_alloc(const struct corepmu_backend *backend);
void corepmu_free(struct corepmu *pmu);
int corepmu_register(struct corepmu *pmu);
void corepmu_unregister(struct corepmu *pmu);

/* module/hotplug.c */
int corepmu_hotplug_init(void);
void corepmu_hotplug_exit(void);
int corepmu_hotplug_add(struct corepmu *pmu);
void corepmu_warn_changed(unsigned int cpu);
void corepmu_registers_changed(struct corepmu_cpu *cpuc);
void corepmu_hotplug_remove(struct corepmu *pmu);

/* module/shutdown.c */
void corepmu_shutdown_add(struct corepmu *pmu);
void corepmu_shutdown_remove(struct corepmu *pmu);

/* module/refuse.c */
int __printf(2, 3) corepmu_refuse(int err, const char *fmt, ...);
void corepmu_refuse_init(void);
void corepmu_refuse_exit(void);

/* module/selftest.c */
int corepmu_self_test(struct corepmu *pmu);

/* module/stale-pmu.c */
#if COMPAT_PMUS_SHARE_CONTEXT
int corepmu_stale_pmus_init(void);
void corepmu_stale_pmus_redirect(struct corepmu *pmu);
bool corepmu_stale_pmus_add(struct corepmu *pmu);
#else
static inline int corepmu_stale_pmus_init(void)
{
	return 0;
}

static inline void corepmu_stale_pmus_redirect(struct corepmu *pmu)
{
}

static inline bool corepmu_stale_pmus_add(struct corepmu *pmu)
{
	return true;
}
#endif

/* module/sysfs.c */
ssize_t corepmu_format_show(struct device *dev, struct device_attribute *attr, char *page);
extern const struct attribute_group corepmu_common_group;
extern struct device_attribute corepmu_attr_max_precise;
extern struct device_attribute corepmu_attr_branches;

/* arm64/ and x86/: find the PMUs of this machine and register them */
int corepmu_arch_init(void);
void corepmu_arch_exit(void);

#endif /* _COREPMU_MODULE_H */
