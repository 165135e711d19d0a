// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: encoding of events, and their format in sysfs
 *
 * Names and formats are those of the built-in driver (arch/x86/events).
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/perf_event.h>
#include <linux/perf_regs.h>
#include <linux/printk.h>
#include <linux/sysfs.h>

#include <corepmu/branch.h>
#include <corepmu/counter.h>
#include <corepmu/module.h>
#include <corepmu/pmu.h>
#include <corepmu/precise.h>

#include "intel/intel.h"
#include "kvm/kvm.h"
#include "lbr/lbr.h"
#include "msr.h"
#include "pebs/precise.h"
#include "x86.h"

/*
 * The kernel and attr.exclude_* decide on these bits. Tools that encode events as the hardware
 * takes them (libpfm4) set some of the bits; the built-in driver ignores them, too.
 *
 * Bit 63 is no bit of the register. It marked raw events in drafts of perf before Linux 2.6.31, and
 * Intel's pcm still sets it.
 */
#define CONFIG_RAW	BIT_ULL(63)
#define CONFIG_IGNORED	(EVNTSEL_USR | EVNTSEL_OS | EVNTSEL_INT | EVNTSEL_EN | CONFIG_RAW)

/* Return the event code for a generic event, or a negative errno. */
static s64 map_hardware(const struct x86_desc *desc, u64 config)
{
	if (config >= PERF_COUNT_HW_MAX)
		return -EINVAL;

	return desc->hardware[config] ?: -ENOENT;
}

/*
 * Check for combinations that no CPU has: stores to instructions, and prefetches into branch
 * predictors and instruction TLBs. They are -EINVAL rather than -ENOENT, as with the built-in
 * driver.
 */
static bool is_senseless(u64 config)
{
	switch (config & GENMASK_ULL(15, 0)) {
	case PERF_COUNT_HW_CACHE_L1I | PERF_COUNT_HW_CACHE_OP_WRITE << 8:
	case PERF_COUNT_HW_CACHE_ITLB | PERF_COUNT_HW_CACHE_OP_WRITE << 8:
	case PERF_COUNT_HW_CACHE_ITLB | PERF_COUNT_HW_CACHE_OP_PREFETCH << 8:
	case PERF_COUNT_HW_CACHE_BPU | PERF_COUNT_HW_CACHE_OP_WRITE << 8:
	case PERF_COUNT_HW_CACHE_BPU | PERF_COUNT_HW_CACHE_OP_PREFETCH << 8:
		return true;
	default:
		return false;
	}
}

static s64 map_cache(const struct x86_desc *desc, u64 config, u64 *value)
{
	u64 known;
	unsigned int cache, op;
	bool miss;
	int ret;

	if (is_senseless(config))
		return -EINVAL;
	ret = corepmu_decode_cache(config, &cache, &op, &miss);
	if (ret)
		return ret;

	config &= GENMASK_ULL(23, 0);
	known = intel_extra_reg_cache(desc, config, value) ?: desc->cache(desc, config);

	return known ?: -ENOENT;
}

static bool is_generic(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
}

/* Return the event code; set @value to the extra register's value, if the event has one. */
static s64 encode_config(const struct x86_desc *desc, const struct perf_event_attr *attr,
			 u64 *value)
{
	u64 generic = attr->config & PERF_HW_EVENT_MASK;
	u64 config;

	*value = attr->config1;
	if (attr->type == PERF_TYPE_HARDWARE)
		return map_hardware(desc, generic);
	if (attr->type == PERF_TYPE_HW_CACHE)
		return map_cache(desc, generic, value);

	config = attr->config & ~CONFIG_IGNORED;
	if (config & ~desc->config_known)
		return corepmu_refuse(-EINVAL,
				      "config %#llx has bits that format/ does not name: leave out %#llx",
				      attr->config, config & ~desc->config_known);

	return config;
}

static bool can_exclude_host(const struct x86_desc *desc, const struct perf_event_attr *attr)
{
	if (boot_cpu_has(X86_FEATURE_VMX))
		return x86_vmx_switches;

	return !boot_cpu_has(X86_FEATURE_SVM) || desc->has_guest_filter || attr->exclude_guest;
}

static int encode_filter(struct x86_desc *desc, const struct perf_event_attr *attr, u64 *select)
{
	/* perf_event_open(2) ignores exclude_idle for hardware events. */

	if (attr->exclude_host) {
		if (!can_exclude_host(desc, attr))
			return corepmu_refuse(-EOPNOTSUPP,
					      "exclude_host is 1: this CPU or kernel cannot count guests separately from the host; leave out modifier G");
		/* Such an event must count nothing: give it no privilege level. */
		if (attr->exclude_guest ||
		    !(boot_cpu_has(X86_FEATURE_VMX) || boot_cpu_has(X86_FEATURE_SVM)))
			return 0;
		if (boot_cpu_has(X86_FEATURE_VMX)) {
			if (attr->precise_ip)
				return corepmu_refuse(-EOPNOTSUPP,
						      "precise_ip %u with exclude_host: guests have no records (PEBS); use precise_ip 0",
						      attr->precise_ip);
			WRITE_ONCE(desc->has_guest_only, true);
		}
	}
	if (desc->has_guest_filter)
		*select |= x86_svm_filter(attr);

	if (!attr->exclude_user)
		*select |= EVNTSEL_USR;
	if (!attr->exclude_kernel)
		*select |= EVNTSEL_OS;

	return 0;
}

/* Return the shortest sampling period of an event that has been encoded. */
static unsigned int shortest_period(const struct x86_desc *desc, const struct perf_event *event)
{
	if (!desc->min_period)
		return 1;

	return max(desc->min_period(desc, event->hw.config_base & desc->config_known),
		   x86_pebs_min_period(desc, &event->attr));
}

/*
 * Check for branch instructions with a fixed period of 1. With Intel's built-in driver such an
 * event is a branch trace (BTS): each branch has a sample, with the source in IP and the target in
 * ADDR. gdb's "record btrace bts" opens it. A counter would sample every second branch at best,
 * without the target. So corepmu rejects the event, as the built-in driver does without BTS
 * (intel_pmu_has_bts_period() in arch/x86/events/perf_event.h, intel_pmu_bts_config() in
 * intel/core.c).
 */
static bool is_branch_trace(const struct perf_event *event, u64 period)
{
	return period == 1 && boot_cpu_data.x86_vendor == X86_VENDOR_INTEL &&
	       !event->attr.exclude_host &&
	       (event->hw.config_base & (EVNTSEL_EVENT | EVNTSEL_UMASK)) == EVENT_BRANCHES;
}

/* Check the period of an event; @trace_err is the errno for a branch trace. */
static int check_period(const struct perf_event *event, u64 period, int trace_err)
{
	unsigned int shortest = corepmu_hw_period_floor(&event->hw);
	int ret;

	ret = x86_acr_check_period(event, period);
	if (ret)
		return ret;
	if (period < shortest)
		return corepmu_refuse(-EINVAL,
				      "config %#llx, period %llu: the shortest period on this CPU is %u",
				      event->attr.config, period, shortest);
	if (is_branch_trace(event, period))
		return corepmu_refuse(trace_err,
				      "config %#llx, period 1: branch tracing (BTS) is not supported; use a longer period",
				      event->attr.config);

	return 0;
}

/**
 * x86_check_period() - check a new period of an event: the backend's check_period()
 * @event: sampling event that x86_encode() has accepted
 * @period: number of events between samples
 *
 * Process context.
 *
 * Return: 0, or -EINVAL after corepmu_refuse()
 */
int x86_check_period(const struct perf_event *event, u64 period)
{
	return check_period(event, period, -EINVAL);
}

/*
 * Set the minimum distance from an overflow to the shortest period. It also applies to the rest of
 * a period after a late overflow or a context switch, and to periods that perf core chooses: the
 * next sample comes late.
 */
static void set_min_left(const struct x86_desc *desc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;

	corepmu_hw_set_period_floor(hwc, shortest_period(desc, event));
	corepmu_hw_set_min_period(hwc, max(corepmu_hw_min_period(hwc),
					   corepmu_hw_period_floor(hwc)));
}

/*
 * Decide who may read the event's counter by RDPMC. A CPU-wide event counts other tasks while any
 * reader runs. So its counter is hidden, if the CPU can hide it, unless all tasks may read. The
 * counter of a task's event is cleared when the task is switched out.
 */
static void encode_readers(const struct x86_desc *desc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;

	if (desc->user_disable && !(event->attach_state & PERF_ATTACH_TASK) &&
	    !x86_rdpmc_is_for_all()) {
		hwc->config_base |= EVNTSEL_RDPMC_USR_DISABLE;
		return;
	}
	/* User space cannot interpret a counter that the CPU reloads. */
	if (!(hwc->flags & (COREPMU_EVENT_LARGE | COREPMU_EVENT_ACR)))
		hwc->flags |= x86_rdpmc_flags();
}

/* Check whether the event uses each of config1 to config3 that is not 0. */
static bool uses_all_configs(const struct x86_desc *desc, const struct perf_event_attr *attr,
			     u64 config)
{
	if ((attr->config2 && !desc->acr_counters) || compat_attr_more_config(attr))
		return false;

	return !attr->config1 || intel_event_needs_extra_reg(desc, config) ||
	       x86_topdown_clears(desc, attr, config);
}

/* Reject registers that samples of this CPU, or of this driver, cannot have. */
static int check_sample_regs(const struct x86_desc *desc, const struct perf_event_attr *attr)
{
	/* Only some PEBS records have XMM registers; an interrupt's registers never do. */
	if ((attr->sample_regs_user & PERF_REG_EXTENDED_MASK) ||
	    ((attr->sample_regs_intr & PERF_REG_EXTENDED_MASK) &&
	     !(attr->precise_ip && desc->pebs_all)))
		return corepmu_refuse(-EINVAL,
				      "sample_regs_user %#llx, sample_regs_intr %#llx: XMM registers need precise_ip on a CPU whose PEBS records have them",
				      attr->sample_regs_user, attr->sample_regs_intr);
	if (compat_attr_wants_simd(attr))
		return corepmu_refuse(-EINVAL,
				      "sample_simd_vec_reg_qwords: this driver's samples have XMM registers only: use sample_regs_intr");

	return 0;
}

/* Set the counters that can hold an event with the event code @config. */
static int encode_counters(struct x86_desc *desc, struct perf_event *event, u64 config)
{
	const struct perf_event_attr *attr = &event->attr;
	struct hw_perf_event *hwc = &event->hw;
	u64 pairs = desc->pmu->pair_counters;

	corepmu_hw_set_counters(hwc, desc->allowed_counters(desc, config));
	if (desc->needs_pair && desc->needs_pair(config)) {
		corepmu_hw_limit_counters(hwc, pairs);
		hwc->flags |= COREPMU_EVENT_PAIR;
		/* From now on an overflow of an even counter may be that of a pair. */
		WRITE_ONCE(desc->special, desc->special | pairs >> 1);
	}
	if (corepmu_hw_counters(hwc))
		return 0;
	if (is_generic(attr))
		return -ENOENT;

	return corepmu_refuse(-EINVAL,
			      "config %#llx: no counter of this CPU can count the event; see perf list pmu",
			      attr->config);
}

/* Set up the features of an event whose code, filter and counters have been encoded. */
static int encode_features(struct x86_desc *desc, struct perf_event *event, u64 config)
{
	const struct perf_event_attr *attr = &event->attr;
	struct hw_perf_event *hwc = &event->hw;
	int ret = 0;

	if (desc->metrics &&
	    (corepmu_hw_counters(hwc) & (desc->metrics | BIT_ULL(SLOTS_COUNTER))))
		ret = x86_topdown_encode(event);
	if (!ret && desc->acr_counters)
		ret = x86_acr_encode(desc, event, is_generic(attr));
	if (ret)
		return ret;
	if (is_sampling_event(event) && (config & desc->counts_only))
		return corepmu_refuse(-EOPNOTSUPP,
				      "config %#llx cannot sample: an abort of a transaction (in_tx_cp) also undoes the overflow; use perf stat",
				      attr->config);
	if (hwc->flags & COREPMU_EVENT_BRANCH_COUNTERS)
		ret = x86_lbr_encode_counters(desc, event, config);
	if (!ret && attr->precise_ip)
		ret = x86_pebs_encode(desc, event);

	return ret;
}

/**
 * x86_encode() - encode an event: the backend's encode()
 * @pmu: the PMU
 * @event: event that is being opened
 *
 * Process context.
 *
 * Return: 0 or an errno of perf_event_open(2)
 */
int x86_encode(struct corepmu *pmu, struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	struct x86_desc *desc = to_x86(pmu);
	struct hw_perf_event *hwc = &event->hw;
	u64 select = EVNTSEL_INT, value;
	bool latency;
	s64 config;
	int ret;

	if (attr->precise_ip) {
		ret = desc->precise ? desc->precise(pmu, event) :
				      corepmu_precise_check(pmu, event);
		if (ret)
			return ret;
	}
	if (has_branch_stack(event)) {
		ret = corepmu_branch_encode(pmu, event);
		if (ret)
			return ret;
	}

	x86_warn_of_changes(pmu);
	ret = check_sample_regs(desc, attr);
	if (ret)
		return ret;

	config = encode_config(desc, attr, &value);
	if (config < 0)
		return config;
	config = x86_pebs_config(desc, attr, config);

	ret = x86_pebs_refuse_latency(desc, attr, config);
	if (ret)
		return ret;
	latency = x86_pebs_wants_latency(desc, attr, config);
	/* Ignore config1 to config3 of generic events: programs leave arbitrary values there. */
	if (!is_generic(attr) && !latency && !uses_all_configs(desc, attr, config))
		return corepmu_refuse(-EINVAL,
				      "config1 %#llx, config2 %#llx: this event uses no bit of config1, config2 and config3: leave them out",
				      attr->config1, attr->config2);

	/*
	 * A generic event that the CPU miscounts is treated as one that the CPU lacks. A child's
	 * parent has passed the check, maybe with more privileges: fork(2) must not fail.
	 */
	ret = latency || event->parent ? 0 : desc->refuse(desc, config);
	if (ret)
		return is_generic(attr) ? -ENOENT : ret;
	/*
	 * An overflow interrupt would abort the transaction, and the abort takes an in_tx_cp
	 * counter back to before the overflow: each later transaction would abort, too. Without
	 * the interrupt the counter wraps. The driver loses a wrap only if nothing reads or
	 * reschedules the event within the counter's range: a day of cycles.
	 */
	if (config & desc->counts_only)
		select = 0;
	ret = encode_filter(desc, attr, &select);
	if (ret)
		return ret;

	ret = encode_counters(desc, event, config);
	if (ret)
		return ret;
	hwc->config_base = select | config;
	ret = latency ? 0 : intel_extra_reg_encode(desc, event, config, value);
	if (ret)
		return ret;
	ret = encode_features(desc, event, config);
	if (ret)
		return ret;
	if (is_sampling_event(event)) {
		set_min_left(desc, event);
		ret = attr->freq ? 0 : check_period(event, attr->sample_period, -EOPNOTSUPP);
		if (ret)
			return ret;
	}
	encode_readers(desc, event);

	return 0;
}

/**
 * x86_join() - change the other events of an event's group: the backend's join()
 * @pmu: the PMU
 * @event: the event, which the driver has accepted
 *
 * Process context; perf core has locked the group's context.
 */
void x86_join(struct corepmu *pmu, struct perf_event *event)
{
	const struct x86_desc *desc = to_x86(pmu);

	x86_acr_join(event);
	if (desc->pebs_recorded)
		x86_pebs_counters_join(desc, event);
}

/* format/ */

/**
 * dev_to_x86() - return the description of a PMU in sysfs
 * @dev: the PMU's device
 *
 * Return: the PMU description
 */
const struct x86_desc *dev_to_x86(struct device *dev)
{
	return to_x86(to_corepmu(dev_get_drvdata(dev)));
}

/* AMD's event codes have four more bits; on Intel, two of these are in_tx and in_tx_cp. */
static bool has_amd_event(const struct x86_desc *desc)
{
	return (desc->config_known & EVNTSEL_AMD_EVENT_HI) == EVNTSEL_AMD_EVENT_HI;
}

static ssize_t event_show(struct device *dev, struct device_attribute *attr, char *page)
{
	if (has_amd_event(dev_to_x86(dev)))
		return sysfs_emit(page, "config:0-7,32-35\n");

	return sysfs_emit(page, "config:0-7\n");
}

static ssize_t umask_show(struct device *dev, struct device_attribute *attr, char *page)
{
	if (dev_to_x86(dev)->config_known & EVNTSEL_UMASK2)
		return sysfs_emit(page, "config:8-15,40-47\n");

	return sysfs_emit(page, "config:8-15\n");
}

static struct device_attribute format_attr_event = __ATTR_RO(event);
static struct device_attribute format_attr_umask = __ATTR_RO(umask);
COREPMU_FORMAT_ATTR(edge, "config:18");
COREPMU_FORMAT_ATTR(any, "config:21");
COREPMU_FORMAT_ATTR(inv, "config:23");
COREPMU_FORMAT_ATTR(cmask, "config:24-31");
COREPMU_FORMAT_ATTR(eq, "config:36");
COREPMU_FORMAT_ATTR(in_tx, "config:32");
COREPMU_FORMAT_ATTR(in_tx_cp, "config:33");
COREPMU_FORMAT_ATTR(ldlat, "config1:0-15");
COREPMU_FORMAT_ATTR(offcore_rsp, "config1:0-63");
COREPMU_FORMAT_ATTR(offmodule_rsp, "config1:0-63");
COREPMU_FORMAT_ATTR(snoop_rsp, "config1:0-63");
COREPMU_FORMAT_ATTR(frontend, "config1:0-23");
COREPMU_FORMAT_ATTR(metrics_clear, "config1:0");
COREPMU_FORMAT_ATTR(acr_mask, "config2:0-63");

static struct attribute *x86_format_attrs[] = {
	&format_attr_event.attr,
	&format_attr_umask.attr,
	&format_attr_edge.attr.attr,
	&format_attr_any.attr.attr,
	&format_attr_inv.attr.attr,
	&format_attr_cmask.attr.attr,
	&format_attr_eq.attr.attr,
	&format_attr_in_tx.attr.attr,
	&format_attr_in_tx_cp.attr.attr,
	&format_attr_ldlat.attr.attr,
	&format_attr_offcore_rsp.attr.attr,
	&format_attr_offmodule_rsp.attr.attr,
	&format_attr_snoop_rsp.attr.attr,
	&format_attr_frontend.attr.attr,
	&format_attr_metrics_clear.attr.attr,
	&format_attr_acr_mask.attr.attr,
	NULL
};

/* Show only the formats that the CPU implements. */
static umode_t x86_format_is_visible(struct kobject *kobj, struct attribute *attr, int unused)
{
	const struct x86_desc *desc = dev_to_x86(kobj_to_dev(kobj));
	u64 known = desc->config_known, bit = EVNTSEL_EVENT;

	if (attr == &format_attr_ldlat.attr.attr)
		return x86_pebs_has_latency(desc) ? attr->mode : 0;
	if (attr == &format_attr_offcore_rsp.attr.attr)
		return intel_uarch_has_extra_reg(desc, MSR_OFFCORE_RSP_0) ? attr->mode : 0;
	if (attr == &format_attr_offmodule_rsp.attr.attr)
		return intel_uarch_has_extra_reg(desc, MSR_OMR_0) ? attr->mode : 0;
	if (attr == &format_attr_snoop_rsp.attr.attr)
		return intel_uarch_has_extra_reg(desc, MSR_SNOOP_RSP_0) ? attr->mode : 0;
	if (attr == &format_attr_frontend.attr.attr)
		return intel_uarch_has_extra_reg(desc, MSR_PEBS_FRONTEND) ? attr->mode : 0;
	if (attr == &format_attr_metrics_clear.attr.attr)
		return desc->metrics_clear ? attr->mode : 0;
	if (attr == &format_attr_acr_mask.attr.attr)
		return desc->acr_counters ? attr->mode : 0;
	if (attr == &format_attr_any.attr.attr)
		bit = EVNTSEL_ANY;
	else if (attr == &format_attr_eq.attr.attr)
		bit = EVNTSEL_EQ;
	else if (attr == &format_attr_in_tx.attr.attr)
		bit = EVNTSEL_IN_TX;
	else if (attr == &format_attr_in_tx_cp.attr.attr)
		bit = EVNTSEL_IN_TX_CP;
	if (has_amd_event(desc))
		known &= ~EVNTSEL_AMD_EVENT_HI;

	return known & bit ? attr->mode : 0;
}

static const struct attribute_group x86_format_group = {
	.name		= "format",
	.attrs		= x86_format_attrs,
	.is_visible	= x86_format_is_visible,
};

/* caps/ */

/* Number of events whose counts branch records can have, and bits of each count */
static ssize_t branch_counter_nr_show(struct device *dev, struct device_attribute *attr,
				      char *page)
{
	return sysfs_emit(page, "%u\n", x86_lbr_nr_counters(dev_to_x86(dev)));
}

static ssize_t branch_counter_width_show(struct device *dev, struct device_attribute *attr,
					 char *page)
{
	return sysfs_emit(page, "%u\n", COREPMU_BRANCH_COUNT_BITS);
}

static struct device_attribute caps_attr_branch_counter_nr = __ATTR_RO(branch_counter_nr);
static struct device_attribute caps_attr_branch_counter_width = __ATTR_RO(branch_counter_width);

static struct attribute *x86_caps_attrs[] = {
	&corepmu_attr_branches.attr,
	&caps_attr_branch_counter_nr.attr,
	&caps_attr_branch_counter_width.attr,
	&corepmu_attr_max_precise.attr,
	&x86_attr_pmu_name.attr,
	NULL
};

/* The perf tool expects branch records if the file caps/branches exists. */
static umode_t x86_caps_is_visible(struct kobject *kobj, struct attribute *attr, int unused)
{
	const struct x86_desc *desc = dev_to_x86(kobj_to_dev(kobj));

	if (attr == &x86_attr_pmu_name.attr)
		return x86_kernel_name(desc) ? attr->mode : 0;
	if (attr == &caps_attr_branch_counter_nr.attr ||
	    attr == &caps_attr_branch_counter_width.attr)
		return x86_lbr_nr_counters(desc) ? attr->mode : 0;

	return attr != &corepmu_attr_branches.attr || desc->pmu->nr_branches ? attr->mode : 0;
}

static const struct attribute_group x86_caps_group = {
	.name		= "caps",
	.attrs		= x86_caps_attrs,
	.is_visible	= x86_caps_is_visible,
};

const struct attribute_group *x86_attr_groups[] = {
	&corepmu_common_group,
	&x86_events_group,
	&x86_format_group,
	&x86_caps_group,
	&x86_rdpmc_group,
	&x86_freeze_on_smi_group,
	NULL
};
