/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: functions that the architecture provides
 */
#ifndef _COREPMU_BACKEND_H
#define _COREPMU_BACKEND_H

#include <linux/string.h>
#include <linux/types.h>

#include <corepmu/features.h>

struct attribute_group;
struct corepmu;
struct corepmu_cpu;
struct hw_perf_event;
struct mm_struct;
struct perf_event;
struct pt_regs;

/* Size in bytes of the buffer that corepmu_backend.counter_name() fills in */
#define COREPMU_COUNTER_NAME	24

/**
 * struct corepmu_backend - functions that the architecture provides to the generic code
 * @name: name in messages
 * @remedy: advice in messages where no overflow interrupt comes; or NULL
 * @builtin_name: name of the built-in driver's PMU, or the beginning of the names of its PMUs
 * @builtin_type: type of the built-in driver's PMU, or -1 for the next free one
 * @tools_know_name: perf's metrics and other tools look for a PMU with @builtin_name, and expect it
 *	to have @builtin_type; elsewhere they look for the file cpus in sysfs
 * @attr_groups: format, events and caps in sysfs
 * @capabilities: PERF_PMU_CAP_* of the architecture
 * @raw_of_first_cpu_type: with several CPU types, only the first type's PMU accepts PERF_TYPE_RAW,
 *	since a raw number is another event on the other types. Otherwise each PMU accepts it
 * @features: functions of the features that events may have on this architecture; NULL for a
 *	feature that the architecture lacks
 * @encode: turn event->attr into config_base, flags and the counters that the event may be placed
 *	on. Return 0, or an errno of perf_event_open(2), see corepmu_refuse(); -ENOENT after
 *	changing attr.type to the PMU that has the event. Process context
 * @leaves: return the counters to which @event would limit @other, a member of the group that it is
 *	about to join, and change nothing; NULL: no limit. Process context
 * @join: change the other events of @event's group as @event needs; NULL: no change. Called once,
 *	when the driver has accepted @event; cannot fail. Process context
 * @check_period: check the period of a sampling event. Return 0 or -EINVAL; NULL where every
 *	period is valid. Process context
 * @acquire: reserve the hardware for one more event. Return 0 or -EBUSY, see corepmu_refuse();
 *	NULL where the module reserves the hardware at load. Process context
 * @release: undo @acquire. Process context
 * @reset: bring this CPU's PMU to a known, stopped state, and reset the copies of its registers in
 *	struct corepmu_cpu. IRQs off or from a CPU hotplug callback
 * @quiesce: leave this CPU's PMU in the state that another driver expects
 * @joins: check whether a CPU that was offline at load belongs to this PMU; NULL where firmware
 *	lists all CPUs. From a CPU hotplug callback
 * @counter_name: write the name of counter idx for messages, at most COREPMU_COUNTER_NAME bytes
 * @self_test_config: return config_base of an event that counts in a busy loop of the kernel, on
 *	counter idx
 * @self_test_end: called after a self-test round in which overflow interrupts came: learn how they
 *	behave; or NULL. On the CPU, IRQs off, while nothing counts
 * @entering_regs: check whether the interrupt with @regs hit the kernel's entry code before the
 *	entry code saved the user's registers; if so, copy the user's registers to @user. NULL
 *	where the entry code masks the interrupt
 * @irq_enable: unmask this CPU's overflow interrupt. On the CPU
 * @irq_disable: mask this CPU's overflow interrupt. On the CPU
 * @clear: set counters without an event to 0. IRQs off
 * @event_idx: pmu.event_idx: return the number by which user space reads the counter of an active
 *	event, plus 1; 0 if user space cannot read it, see corepmu_event_may_be_read(), or if the
 *	event has lost its counter. Any context: perf core calls it for PERF_EVENT_IOC_RESET and
 *	mmap() with IRQs on, maybe on another CPU than the event's
 * @rdpmc_switch: let the current task read the counters of its own events only. Called on every
 *	CPU before a PMU is enabled, also on CPUs of other CPU types. IRQs off
 * @rdpmc_mapped: @mm has mapped the event's page: allow @mm to read counters; NULL where access
 *	does not depend on the mapping. Process context, mmap_lock held for writing
 * @rdpmc_unmapped: @mm has unmapped the event's page: undo @rdpmc_mapped; NULL without
 *	@rdpmc_mapped. Process context
 * @rdpmc_gone: perf core is about to free an event that user space could read; NULL where that
 *	changes no access. Process context
 * @read: return the value of counter hw.idx; bits above its value mask are undefined. IRQs off
 * @enable: make the hardware count on exactly the counters in corepmu_cpu.active. IRQs off
 * @disable: stop all counters and keep their values. IRQs off
 * @program: write the event selection of counter hw.idx, which is not counting, and set its value.
 *	IRQs off
 * @update: corepmu_count_event() with @read. From the overflow interrupt, or where the overflow
 *	interrupt does not update the event. IRQs off, or NMI
 * @update_nmi_safe: the same where the overflow interrupt may update the event meanwhile:
 *	corepmu_count_event_nmi_safe() if that interrupt is an NMI. IRQs off
 * @write: set the value of counter hw.idx. The PMU as a whole is stopped, or the counter is not
 *	enabled. IRQs off
 *
 * @enable, @disable, @program, @update, @update_nmi_safe and @write are hot paths, called through
 * static calls.
 */
struct corepmu_backend {
	const char *name;
	const char *remedy;
	char *builtin_name;
	int builtin_type;
	bool tools_know_name;
	const struct attribute_group **attr_groups;
	int capabilities;
	bool raw_of_first_cpu_type;
	const struct corepmu_feature_ops *features[COREPMU_NR_FEATURES];
	int (*encode)(struct corepmu *pmu, struct perf_event *event);
	u64 (*leaves)(const struct perf_event *event, const struct perf_event *other);
	void (*join)(struct corepmu *pmu, struct perf_event *event);
	int (*check_period)(const struct perf_event *event, u64 period);
	int (*acquire)(struct corepmu *pmu);
	void (*release)(struct corepmu *pmu);
	void (*reset)(struct corepmu_cpu *cpuc);
	void (*quiesce)(struct corepmu_cpu *cpuc);
	bool (*joins)(struct corepmu_cpu *cpuc);
	void (*counter_name)(int idx, char *name);
	u64 (*self_test_config)(struct corepmu *pmu, int idx);
	void (*self_test_end)(struct corepmu_cpu *cpuc);
	bool (*entering_regs)(const struct pt_regs *regs, struct pt_regs *user);
	void (*irq_enable)(struct corepmu_cpu *cpuc);
	void (*irq_disable)(struct corepmu_cpu *cpuc);
	void (*clear)(struct corepmu_cpu *cpuc, u64 counters);
	int (*event_idx)(struct perf_event *event);
	void (*rdpmc_switch)(struct corepmu_cpu *cpuc);
	void (*rdpmc_mapped)(struct perf_event *event, struct mm_struct *mm);
	void (*rdpmc_unmapped)(struct perf_event *event, struct mm_struct *mm);
	void (*rdpmc_gone)(struct corepmu *pmu);
	u64 (*read)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc);

	void (*enable)(struct corepmu_cpu *cpuc);
	void (*disable)(struct corepmu_cpu *cpuc);
	void (*program)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value);
	void (*update)(struct corepmu_cpu *cpuc, struct perf_event *event);
	void (*update_nmi_safe)(struct corepmu_cpu *cpuc, struct perf_event *event);
	void (*write)(struct corepmu_cpu *cpuc, struct hw_perf_event *hwc, u64 value);
};

/* Check whether @name is a PMU name of the built-in driver: builtin_name, or with a _SUFFIX. */
static inline bool corepmu_backend_has_name(const struct corepmu_backend *backend,
					    const char *name)
{
	size_t len = strlen(backend->builtin_name);

	return !strncmp(name, backend->builtin_name, len) && (!name[len] || name[len] == '_');
}

#endif /* _COREPMU_BACKEND_H */
