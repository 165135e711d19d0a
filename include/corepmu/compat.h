/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: the only file that knows kernel versions
 *
 * The newest kernel is the main path; each #else serves older ones and says
 * what upstream changed.
 */
#ifndef _COREPMU_COMPAT_H
#define _COREPMU_COMPAT_H

#include <linux/perf_event.h>
#include <linux/platform_device.h>
#include <linux/smp.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#error "corepmu needs Linux 6.1 or newer"
#endif

/*
 * 6.2 gave every PMU its own part of a task's context ("perf: Rewrite core
 * context handling"). Before that
 * - a struct pmu of the hardware context must outlive its module: the context
 *   of a task that ever had one of its events points to it, see generations.c;
 * - two such PMUs need PERF_PMU_CAP_HETEROGENEOUS_CPUS, and one that is
 *   registered a second time counts as two;
 * - the CPU filter was asked per event.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)

#define COMPAT_PMU_OUTLIVES_MODULE		0
#define COMPAT_PMU_CAP_HETEROGENEOUS_CPUS	0

#define COMPAT_PMU_FILTER(_name, _is_other)				\
static bool _name(struct pmu *pmu, int cpu)				\
{									\
	return _is_other(pmu, cpu);					\
}
#define compat_pmu_set_filter(_pmu, _name)	((_pmu)->filter = (_name))

#else /* < 6.2 */

#define COMPAT_PMU_OUTLIVES_MODULE		1
#define COMPAT_PMU_CAP_HETEROGENEOUS_CPUS	PERF_PMU_CAP_HETEROGENEOUS_CPUS

#define COMPAT_PMU_FILTER(_name, _is_other)				\
static int _name(struct perf_event *event)				\
{									\
	return !_is_other(event->pmu, smp_processor_id());		\
}
#define compat_pmu_set_filter(_pmu, _name)	((_pmu)->filter_match = (_name))

#endif /* 6.2 */

/* 6.7, "drivers/perf: Add parent to struct pmu": before, no parent in sysfs. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
#define compat_pmu_set_parent(_pmu, _parent)	((_pmu)->parent = (_parent))
#else
#define compat_pmu_set_parent(_pmu, _parent)	((void)(_parent))
#endif

/* 6.11 made platform_driver::remove() return nothing. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
#define COMPAT_REMOVE_TYPE		void
#define COMPAT_REMOVE_RETURN
#else
#define COMPAT_REMOVE_TYPE		int
#define COMPAT_REMOVE_RETURN		return 0
#endif

/* attr.config3 came with PERF_ATTR_SIZE_VER8. */
#ifdef PERF_ATTR_SIZE_VER8
#define compat_attr_config3(_attr)	((_attr)->config3)
#else
#define compat_attr_config3(_attr)	0ULL
#endif

#endif /* _COREPMU_COMPAT_H */
