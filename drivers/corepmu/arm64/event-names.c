// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: arm64: names of events, their format, and capabilities in sysfs
 *
 * Names and formats are those of drivers/perf/arm_pmuv3.c, so that scripts and event lists work
 * with both drivers.
 */
#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "pmuv3.h"
#include "sysreg.h"

/* events/ */

static struct pmuv3 *dev_to_pmuv3(struct device *dev)
{
	return to_pmuv3(to_corepmu(dev_get_drvdata(dev)));
}

static ssize_t pmuv3_event_show(struct device *dev, struct device_attribute *attr,
				char *page)
{
	struct perf_pmu_events_attr *pmu_attr;

	pmu_attr = container_of(attr, struct perf_pmu_events_attr, attr);

	return sysfs_emit(page, "event=0x%04llx\n", pmu_attr->id);
}

#define EVENT_ATTR(_name, _id)	PMU_EVENT_ATTR_ID(_name, pmuv3_event_show, _id)

/*
 * SW_INCR (0x0000) and CHAIN (0x001e) have no name: the kernel keeps user space from writing
 * PMSWINC_EL0, and CHAIN counts nothing on its own.
 */
static struct attribute *pmuv3_event_attrs[] = {
	EVENT_ATTR(l1i_cache_refill, 0x0001),
	EVENT_ATTR(l1i_tlb_refill, 0x0002),
	EVENT_ATTR(l1d_cache_refill, 0x0003),
	EVENT_ATTR(l1d_cache, 0x0004),
	EVENT_ATTR(l1d_tlb_refill, 0x0005),
	EVENT_ATTR(ld_retired, 0x0006),
	EVENT_ATTR(st_retired, 0x0007),
	EVENT_ATTR(inst_retired, 0x0008),
	EVENT_ATTR(exc_taken, 0x0009),
	EVENT_ATTR(exc_return, 0x000a),
	EVENT_ATTR(cid_write_retired, 0x000b),
	EVENT_ATTR(pc_write_retired, 0x000c),
	EVENT_ATTR(br_immed_retired, 0x000d),
	EVENT_ATTR(br_return_retired, 0x000e),
	EVENT_ATTR(unaligned_ldst_retired, 0x000f),
	EVENT_ATTR(br_mis_pred, 0x0010),
	EVENT_ATTR(cpu_cycles, 0x0011),
	EVENT_ATTR(br_pred, 0x0012),
	EVENT_ATTR(mem_access, 0x0013),
	EVENT_ATTR(l1i_cache, 0x0014),
	EVENT_ATTR(l1d_cache_wb, 0x0015),
	EVENT_ATTR(l2d_cache, 0x0016),
	EVENT_ATTR(l2d_cache_refill, 0x0017),
	EVENT_ATTR(l2d_cache_wb, 0x0018),
	EVENT_ATTR(bus_access, 0x0019),
	EVENT_ATTR(memory_error, 0x001a),
	EVENT_ATTR(inst_spec, 0x001b),
	EVENT_ATTR(ttbr_write_retired, 0x001c),
	EVENT_ATTR(bus_cycles, 0x001d),
	EVENT_ATTR(l1d_cache_allocate, 0x001f),
	EVENT_ATTR(l2d_cache_allocate, 0x0020),
	EVENT_ATTR(br_retired, 0x0021),
	EVENT_ATTR(br_mis_pred_retired, 0x0022),
	EVENT_ATTR(stall_frontend, 0x0023),
	EVENT_ATTR(stall_backend, 0x0024),
	EVENT_ATTR(l1d_tlb, 0x0025),
	EVENT_ATTR(l1i_tlb, 0x0026),
	EVENT_ATTR(l2i_cache, 0x0027),
	EVENT_ATTR(l2i_cache_refill, 0x0028),
	EVENT_ATTR(l3d_cache_allocate, 0x0029),
	EVENT_ATTR(l3d_cache_refill, 0x002a),
	EVENT_ATTR(l3d_cache, 0x002b),
	EVENT_ATTR(l3d_cache_wb, 0x002c),
	EVENT_ATTR(l2d_tlb_refill, 0x002d),
	EVENT_ATTR(l2i_tlb_refill, 0x002e),
	EVENT_ATTR(l2d_tlb, 0x002f),
	EVENT_ATTR(l2i_tlb, 0x0030),
	EVENT_ATTR(remote_access, 0x0031),
	EVENT_ATTR(ll_cache, 0x0032),
	EVENT_ATTR(ll_cache_miss, 0x0033),
	EVENT_ATTR(dtlb_walk, 0x0034),
	EVENT_ATTR(itlb_walk, 0x0035),
	EVENT_ATTR(ll_cache_rd, 0x0036),
	EVENT_ATTR(ll_cache_miss_rd, 0x0037),
	EVENT_ATTR(remote_access_rd, 0x0038),
	EVENT_ATTR(l1d_cache_lmiss_rd, 0x0039),
	EVENT_ATTR(op_retired, 0x003a),
	EVENT_ATTR(op_spec, 0x003b),
	EVENT_ATTR(stall, 0x003c),
	EVENT_ATTR(stall_slot_backend, 0x003d),
	EVENT_ATTR(stall_slot_frontend, 0x003e),
	EVENT_ATTR(stall_slot, 0x003f),
	EVENT_ATTR(sample_pop, 0x4000),
	EVENT_ATTR(sample_feed, 0x4001),
	EVENT_ATTR(sample_filtrate, 0x4002),
	EVENT_ATTR(sample_collision, 0x4003),
	EVENT_ATTR(cnt_cycles, 0x4004),
	EVENT_ATTR(stall_backend_mem, 0x4005),
	EVENT_ATTR(l1i_cache_lmiss, 0x4006),
	EVENT_ATTR(l2d_cache_lmiss_rd, 0x4009),
	EVENT_ATTR(l2i_cache_lmiss, 0x400a),
	EVENT_ATTR(l3d_cache_lmiss_rd, 0x400b),
	EVENT_ATTR(trb_wrap, 0x400c),
	EVENT_ATTR(trb_trig, 0x400e),
	EVENT_ATTR(trcextout0, 0x4010),
	EVENT_ATTR(trcextout1, 0x4011),
	EVENT_ATTR(trcextout2, 0x4012),
	EVENT_ATTR(trcextout3, 0x4013),
	EVENT_ATTR(cti_trigout4, 0x4018),
	EVENT_ATTR(cti_trigout5, 0x4019),
	EVENT_ATTR(cti_trigout6, 0x401a),
	EVENT_ATTR(cti_trigout7, 0x401b),
	EVENT_ATTR(ldst_align_lat, 0x4020),
	EVENT_ATTR(ld_align_lat, 0x4021),
	EVENT_ATTR(st_align_lat, 0x4022),
	EVENT_ATTR(mem_access_checked, 0x4024),
	EVENT_ATTR(mem_access_checked_rd, 0x4025),
	EVENT_ATTR(mem_access_checked_wr, 0x4026),
	NULL
};

static umode_t pmuv3_event_is_visible(struct kobject *kobj, struct attribute *attr,
				      int unused)
{
	struct pmuv3 *pmuv3 = dev_to_pmuv3(kobj_to_dev(kobj));
	struct perf_pmu_events_attr *pmu_attr;

	pmu_attr = container_of(attr, struct perf_pmu_events_attr, attr.attr);

	return pmuv3_has_event(pmuv3, pmu_attr->id) ? attr->mode : 0;
}

static const struct attribute_group pmuv3_events_group = {
	.name		= "events",
	.attrs		= pmuv3_event_attrs,
	.is_visible	= pmuv3_event_is_visible,
};

/* format/ */

COREPMU_FORMAT_ATTR(event, "config:0-15");
COREPMU_FORMAT_ATTR(long, "config1:0");
COREPMU_FORMAT_ATTR(rdpmc, "config1:1");
COREPMU_FORMAT_ATTR(threshold_count, "config1:2");
COREPMU_FORMAT_ATTR(threshold_compare, "config1:3-4");
COREPMU_FORMAT_ATTR(threshold, "config1:5-16");

static struct attribute *pmuv3_format_attrs[] = {
	&format_attr_event.attr.attr,
	&format_attr_long.attr.attr,
	&format_attr_rdpmc.attr.attr,
	&format_attr_threshold_count.attr.attr,
	&format_attr_threshold_compare.attr.attr,
	&format_attr_threshold.attr.attr,
	NULL
};

static const struct attribute_group pmuv3_format_group = {
	.name		= "format",
	.attrs		= pmuv3_format_attrs,
};

/* caps/: 0 for features that the CPU lacks, and on CPUs without PMMIR_EL1 */

static ssize_t slots_show(struct device *dev, struct device_attribute *attr, char *page)
{
	return sysfs_emit(page, "0x%08llx\n",
			  FIELD_GET(PMMIR_SLOTS, dev_to_pmuv3(dev)->pmmir));
}
static DEVICE_ATTR_RO(slots);

static ssize_t bus_slots_show(struct device *dev, struct device_attribute *attr,
			      char *page)
{
	return sysfs_emit(page, "0x%08llx\n",
			  FIELD_GET(PMMIR_BUS_SLOTS, dev_to_pmuv3(dev)->pmmir));
}
static DEVICE_ATTR_RO(bus_slots);

static ssize_t bus_width_show(struct device *dev, struct device_attribute *attr,
			      char *page)
{
	unsigned int field = FIELD_GET(PMMIR_BUS_WIDTH, dev_to_pmuv3(dev)->pmmir);

	/* The field is log2 of the bytes, plus 1; other values are undefined. */
	return sysfs_emit(page, "0x%08x\n",
			  field > 2 && field < 13 ? 1U << (field - 1) : 0);
}
static DEVICE_ATTR_RO(bus_width);

static ssize_t threshold_max_show(struct device *dev, struct device_attribute *attr,
				  char *page)
{
	return sysfs_emit(page, "0x%08x\n", pmuv3_threshold_max(dev_to_pmuv3(dev)));
}
static DEVICE_ATTR_RO(threshold_max);

static struct attribute *pmuv3_caps_attrs[] = {
	&dev_attr_slots.attr,
	&dev_attr_bus_slots.attr,
	&dev_attr_bus_width.attr,
	&dev_attr_threshold_max.attr,
	&corepmu_attr_max_precise.attr,
	&corepmu_attr_branches.attr,
	NULL
};

static umode_t pmuv3_caps_is_visible(struct kobject *kobj, struct attribute *attr,
				     int unused)
{
	struct pmuv3 *pmuv3 = dev_to_pmuv3(kobj_to_dev(kobj));

	/* The perf tool expects branch records if the file caps/branches exists. */
	if (attr == &corepmu_attr_branches.attr && !pmuv3->pmu->nr_branches)
		return 0;

	return attr->mode;
}

static const struct attribute_group pmuv3_caps_group = {
	.name		= "caps",
	.attrs		= pmuv3_caps_attrs,
	.is_visible	= pmuv3_caps_is_visible,
};

const struct attribute_group *pmuv3_attr_groups[] = {
	&corepmu_common_group,
	&pmuv3_events_group,
	&pmuv3_format_group,
	&pmuv3_caps_group,
	NULL
};
