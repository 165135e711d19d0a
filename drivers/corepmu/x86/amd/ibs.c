// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: precise samples of AMD's CPUs
 *
 * Their core counters have none. Instruction-based sampling has, which is a PMU of its own
 * with a driver of its own (arch/x86/events/amd/ibs.c), and which stays when corepmu takes
 * the place of the core PMU's driver. Events that it can sample too are handed to it, as the
 * built-in driver does (forward_event_to_ibs()).
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/device.h>
#include <linux/perf_event.h>

#include <corepmu/compat.h>
#include <corepmu/pmu.h>

#include "../msr.h"
#include "../x86.h"

/* A sample's instruction is the one that was tagged, but not always can it be told. */
#define IBS_MAX_PRECISE	2

/* AMD PPR for family 19h, Core::X86::Msr::PERF_CTL: both are sampled by IBS op. */
#define EVENT_CYCLES	0x76
#define EVENT_MICRO_OPS	0xc1

/* AMD APM volume 2, "IBS Execution Control Register": micro-ops are counted, not cycles. */
#define IBS_OP_CTL_CNT_CTL	BIT_ULL(19)

/* Its config of ibs_op, or a negative errno. */
static s64 ibs_config(const struct perf_event_attr *attr)
{
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		return attr->config == PERF_COUNT_HW_CPU_CYCLES ? 0 : -ENOENT;
	case PERF_TYPE_HW_CACHE:
		return -ENOENT;
	}

	switch (attr->config) {
	case EVENT_CYCLES:
		return 0;
	case EVENT_MICRO_OPS:
		return IBS_OP_CTL_CNT_CTL;
	default:
		return -ENOENT;
	}
}

/* The type of ibs_op; 0 when there is none. */
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
 * Is ibs_op asked after this PMU? After -ENOENT perf_init_event() (kernel/events/core.c) asks the
 * PMU of attr.type anew if this one was found by its type, and goes on along the list of PMUs if
 * not, in which ibs_op, which was there first, comes later where the newest is the first.
 */
static bool is_ibs_op_asked(const struct corepmu *pmu, const struct perf_event_attr *attr)
{
	return COMPAT_NEWEST_PMU_FIRST || attr->type == pmu->perf_pmu.type ||
	       pmu->perf_pmu.type == PERF_TYPE_RAW;
}

/**
 * amd_precise() - hand an event with precise samples to IBS
 * @pmu: the PMU
 * @event: the event, whose attr.precise_ip is not 0
 *
 * Process context.
 *
 * Return: -ENOENT when attr is that of an event of ibs_op now, or of none that it has;
 *	-EOPNOTSUPP when there is no such PMU, or perf core will not ask it
 */
int amd_precise(struct corepmu *pmu, struct perf_event *event)
{
	struct perf_event_attr *attr = &event->attr;
	s64 config;
	u32 type;

	type = ibs_op_type(pmu);
	if (!type)
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u and must be 0: samples have skid, and there is no PMU ibs_op",
				      attr->precise_ip);
	if (attr->precise_ip > IBS_MAX_PRECISE)
		return corepmu_refuse(-EOPNOTSUPP, "precise_ip is %u: ibs_op samples with 1 and 2",
				      attr->precise_ip);

	config = ibs_config(attr);
	if (config < 0)
		return corepmu_refuse(config,
				      "precise_ip is %u: ibs_op samples cycles and micro-ops (0x76, 0xc1), not config %#llx",
				      attr->precise_ip, attr->config);

	if (!is_ibs_op_asked(pmu, attr))
		return corepmu_refuse(-EOPNOTSUPP,
				      "precise_ip is %u: before Linux 6.5 ibs_op takes such an event by this PMU's name (%s/cycles/p), or with the module loaded with standin=1",
				      attr->precise_ip, pmu->perf_pmu.name);

	attr->type = type;
	attr->config = config;

	return -ENOENT;
}
