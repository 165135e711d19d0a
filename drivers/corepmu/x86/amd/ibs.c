// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: AMD: precise samples, by forwarding events to IBS
 *
 * AMD's core counters have no precise samples, but Instruction-Based Sampling (IBS) has. IBS is a
 * PMU with its own driver (arch/x86/events/amd/ibs.c), which stays when corepmu replaces the driver
 * of the core PMU. corepmu forwards events that IBS can sample, too, as the built-in driver does
 * (forward_event_to_ibs()).
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/device.h>
#include <linux/perf_event.h>

#include <corepmu/compat.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "amd.h"
#include "../msr.h"
#include "../x86.h"

/* IBS samples the tagged instruction, but cannot always report its address: precise_ip 2, not 3 */
#define IBS_MAX_PRECISE	2

/* AMD PPR for family 19h, Core::X86::Msr::PERF_CTL */
#define EVENT_MICRO_OPS		0xc1

/* AMD APM volume 2, "IBS Execution Control Register": count micro-ops instead of cycles */
#define IBS_OP_CTL_CNT_CTL	BIT_ULL(19)

/* Return the event's config for ibs_op, or a negative errno. */
static s64 ibs_config(const struct perf_event_attr *attr)
{
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		return attr->config == PERF_COUNT_HW_CPU_CYCLES ? 0 : -ENOENT;
	case PERF_TYPE_HW_CACHE:
		return -ENOENT;
	}

	switch (attr->config) {
	case EVENT_CYCLES_NOT_HALTED:
		return 0;
	case EVENT_MICRO_OPS:
		return IBS_OP_CTL_CNT_CTL;
	default:
		return -ENOENT;
	}
}

/* Return the PMU type of ibs_op, or 0 if there is no such PMU. */
static u32 ibs_op_type(const struct corepmu *pmu)
{
	struct device *dev;
	struct pmu *ibs_op;
	u32 type = 0;

	if (!pmu->perf_pmu.dev)
		return 0;
	dev = bus_find_device_by_name(pmu->perf_pmu.dev->bus, NULL, "ibs_op");
	if (!dev)
		return 0;
	ibs_op = dev_get_drvdata(dev);
	if (ibs_op)
		type = ibs_op->type;
	put_device(dev);

	return type;
}

/*
 * Check whether perf core tries ibs_op after this PMU returns -ENOENT. If perf_init_event()
 * (kernel/events/core.c) found this PMU by its type, it retries with the PMU of the new attr.type.
 * Otherwise it tries the rest of its list of PMUs. ibs_op was registered before this PMU, so ibs_op
 * comes later only if the newest PMU is the first of the list.
 */
static bool is_ibs_op_asked(const struct corepmu *pmu, const struct perf_event_attr *attr)
{
	return COMPAT_NEWEST_PMU_FIRST || attr->type == pmu->perf_pmu.type ||
	       pmu->perf_pmu.type == PERF_TYPE_RAW;
}

/**
 * amd_precise() - forward an event with attr.precise_ip to IBS
 * @pmu: the PMU
 * @event: the event
 *
 * Process context.
 *
 * Return: -ENOENT if @event->attr has been changed to an event of ibs_op, or if ibs_op has no such
 *	event; -EOPNOTSUPP if there is no ibs_op, if precise_ip exceeds its maximum, or if perf
 *	core would not try ibs_op
 */
int amd_precise(struct corepmu *pmu, struct perf_event *event)
{
	struct perf_event_attr *attr = &event->attr;
	s64 config;
	u32 type;

	type = ibs_op_type(pmu);
	if (!type)
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u: this PMU's maximum is 0, and there is no PMU ibs_op; use precise_ip 0",
				      attr->precise_ip);
	if (attr->precise_ip > IBS_MAX_PRECISE)
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u: the maximum of ibs_op is 2; use :pp",
				      attr->precise_ip);

	config = ibs_config(attr);
	if (config < 0)
		return corepmu_refuse(config,
				      "precise_ip is %u: ibs_op can sample only cycles and micro-ops (0x76, 0xc1), not config %#llx",
				      attr->precise_ip, attr->config);

	if (!is_ibs_op_asked(pmu, attr))
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u: before Linux 6.5, name this PMU (%s/cycles/p) or load the module with standin=1 to use ibs_op",
				      attr->precise_ip, pmu->perf_pmu.name);

	attr->type = type;
	attr->config = config;

	return -ENOENT;
}
