// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: events, and what sysfs shows of their format
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

#include <corepmu/counter.h>
#include <corepmu/pmu.h>

#include "intel/intel.h"
#include "msr.h"
#include "x86.h"

/*
 * The kernel and the exclude_ bits decide on these; tools that encode events
 * as the hardware wants them (libpfm4) set some, and the built-in ignores them.
 */
#define CONFIG_IGNORED	(EVNTSEL_USR | EVNTSEL_OS | EVNTSEL_INT | EVNTSEL_EN)

/* config for a generic event, or a negative errno. */
static s64 map_hardware(const struct x86_desc *desc, u64 config)
{
	if (config >= PERF_COUNT_HW_MAX)
		return -EINVAL;

	return desc->hardware[config] ?: -ENOENT;
}

/*
 * Nothing is stored to instructions, nor prefetched to where branches and their
 * addresses are looked up: no CPU has such an event. The built-in driver makes
 * the difference too.
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

static s64 map_cache(const struct x86_desc *desc, u64 config, u64 *second)
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
	known = intel_second_cache(desc, config, second) ?: desc->cache(desc, config);

	return known ?: -ENOENT;
}

static bool is_generic(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
}

/* @second is filled in with what its second register is to hold, should the event have one. */
static s64 encode_config(const struct x86_desc *desc, const struct perf_event_attr *attr,
			 u64 *second)
{
	u64 generic = attr->config & PERF_HW_EVENT_MASK;
	u64 config;

	*second = attr->config1;
	if (attr->type == PERF_TYPE_HARDWARE)
		return map_hardware(desc, generic);
	if (attr->type == PERF_TYPE_HW_CACHE)
		return map_cache(desc, generic, second);

	config = attr->config & ~CONFIG_IGNORED;
	if (config & ~desc->config_known)
		return corepmu_refuse(-EINVAL, "config %#llx has bits that format/ does not name: %#llx",
				      attr->config, config & ~desc->config_known);

	return config;
}

static bool can_exclude_host(const struct x86_desc *desc, const struct perf_event_attr *attr)
{
	if (boot_cpu_has(X86_FEATURE_VMX))
		return x86_vmx_switches;

	return !boot_cpu_has(X86_FEATURE_SVM) || desc->tells_guests || attr->exclude_guest;
}

static int encode_filter(struct x86_desc *desc, const struct perf_event_attr *attr, u64 *select)
{
	/* exclude_idle is for software events: perf_event_open(2) ignores it here. */

	if (attr->exclude_host) {
		if (!can_exclude_host(desc, attr))
			return corepmu_refuse(-EOPNOTSUPP, "exclude_host: guests cannot be told from the host");
		/* Without guests to count, the event gets no privilege level: it counts nothing. */
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
	if (desc->tells_guests)
		*select |= x86_svm_filter(attr);

	if (!attr->exclude_user)
		*select |= EVNTSEL_USR;
	if (!attr->exclude_kernel)
		*select |= EVNTSEL_OS;

	return 0;
}

/**
 * x86_precise() - the backend's precise()
 * @pmu: the PMU
 * @event: an event that is being opened, with attr.precise_ip
 *
 * Process context.
 *
 * Return: an errno, see struct corepmu_backend
 */
int x86_precise(struct corepmu *pmu, struct perf_event *event)
{
	const struct x86_desc *desc = to_x86(pmu);

	if (desc->precise)
		return desc->precise(pmu, event);

	return corepmu_refuse(-EOPNOTSUPP, "precise_ip is %u and must be 0: samples have skid",
			      event->attr.precise_ip);
}

/* The shortest period that the event may have, which has been encoded but for its readers */
static unsigned int shortest_period(const struct x86_desc *desc, const struct perf_event *event)
{
	if (!desc->min_period)
		return 1;

	return max(desc->min_period(desc, event->hw.config_base & desc->config_known),
		   x86_pebs_min_period(desc, &event->attr));
}

/*
 * With Intel's built-in driver branch instructions with a fixed period of 1 are a trace of branches
 * (BTS): of each a sample, with where it comes from in IP and where it leads to in ADDR. gdb's
 * "record btrace bts" opens it. A counter would have a sample of every second branch at best, which
 * lacks the latter: it is as with that driver where there is no BTS (intel_pmu_has_bts_period() in
 * arch/x86/events/perf_event.h, intel_pmu_bts_config() in intel/core.c).
 */
static bool is_branch_trace(const struct perf_event *event, u64 period)
{
	return period == 1 && boot_cpu_data.x86_vendor == X86_VENDOR_INTEL &&
	       !event->attr.exclude_host &&
	       (event->hw.config_base & (EVNTSEL_EVENT | EVNTSEL_UMASK)) == EVENT_BRANCHES;
}

/* May an event have that period? @trace_err is the errno for a trace of branches. */
static int check_period(const struct perf_event *event, u64 period, int trace_err)
{
	unsigned int shortest = corepmu_hw_period_floor(&event->hw);
	int ret;

	ret = x86_reload_check_period(event, period);
	if (ret)
		return ret;
	if (period < shortest)
		return corepmu_refuse(-EINVAL,
				      "config %#llx, period %llu: on this CPU the shortest is %u",
				      event->attr.config, period, shortest);
	if (is_branch_trace(event, period))
		return corepmu_refuse(trace_err,
				      "config %#llx with period 1 asks for a trace of branches (BTS)",
				      event->attr.config);

	return 0;
}

/**
 * x86_check_period() - the backend's check_period()
 * @event: an event that samples, and that x86_encode() has taken
 * @period: every so many counts a sample
 *
 * Process context.
 *
 * Return: 0, or -EINVAL after saying why
 */
int x86_check_period(const struct perf_event *event, u64 period)
{
	return check_period(event, period, -EINVAL);
}

/*
 * What is left of a period, after an overflow that came late or a context switch, is no less than
 * the shortest period either: the next sample comes late. Nor is a period that perf core chooses.
 */
static void set_min_left(const struct x86_desc *desc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;

	corepmu_hw_set_period_floor(hwc, shortest_period(desc, event));
	corepmu_hw_set_min_period(hwc, max(corepmu_hw_min_period(hwc),
					   corepmu_hw_period_floor(hwc)));
}

/*
 * Who may read the event's counter? That of a CPU's event counts what other tasks do, while any
 * reader runs: it is hidden, where it can be, unless everybody may read. A task's counter is
 * cleared when the task is switched out.
 */
static void encode_readers(const struct x86_desc *desc, struct perf_event *event)
{
	struct hw_perf_event *hwc = &event->hw;

	if (desc->user_disable && !(event->attach_state & PERF_ATTACH_TASK) &&
	    !x86_user_is_everybody()) {
		hwc->config_base |= EVNTSEL_RDPMC_USR_DISABLE;
		return;
	}
	/* A counter that the CPU sets by itself is not what a reader expects. */
	if (!(hwc->flags & (COREPMU_EVENT_LARGE | COREPMU_EVENT_RELOAD)))
		hwc->flags |= x86_user_flags();
}

/**
 * x86_encode() - the backend's encode()
 * @pmu: the PMU
 * @event: an event that is being opened
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
	u64 select = EVNTSEL_INT, second;
	bool latency;
	s64 config;
	int ret;

	x86_note_changes(pmu);
	/* XMM registers are in some records of precise events; elsewhere regs has none there. */
	if ((attr->sample_regs_user & PERF_REG_EXTENDED_MASK) ||
	    ((attr->sample_regs_intr & PERF_REG_EXTENDED_MASK) &&
	     !(attr->precise_ip && desc->pebs_all)))
		return corepmu_refuse(-EINVAL,
				      "sample_regs_user %#llx, sample_regs_intr %#llx: XMM registers cannot be sampled",
				      attr->sample_regs_user, attr->sample_regs_intr);

	config = encode_config(desc, attr, &second);
	if (config < 0)
		return config;
	config = x86_pebs_config(desc, attr, config);

	ret = x86_pebs_refuse_latency(desc, attr, config);
	if (ret)
		return ret;
	latency = x86_pebs_wants_latency(desc, attr, config);
	/* What a generic event counts is said by config alone: programs leave anything there. */
	if (!is_generic(attr) && !latency &&
	    ((attr->config1 && !intel_has_second(desc, config)) ||
	     (attr->config2 && !desc->reload) || compat_attr_more_config(attr)))
		return corepmu_refuse(-EINVAL,
				      "config1 %#llx, config2 %#llx: no bit of config1, config2 and config3 means anything for this event",
				      attr->config1, attr->config2);

	/* A generic event that this CPU does not count right is one that it has not. */
	ret = latency ? 0 : desc->refuse(desc, config);
	if (ret)
		return is_generic(attr) ? -ENOENT : ret;
	ret = encode_filter(desc, attr, &select);
	if (ret)
		return ret;

	corepmu_hw_set_counters(hwc, desc->allowed_counters(desc, config));
	if (desc->needs_pair && desc->needs_pair(config)) {
		corepmu_hw_limit_counters(hwc, pmu->pair_counters);
		hwc->flags |= COREPMU_EVENT_PAIR;
		WRITE_ONCE(desc->has_pairs, true);
	}
	if (!corepmu_hw_counters(hwc)) {
		if (is_generic(attr))
			return -ENOENT;
		return corepmu_refuse(-EINVAL, "config %#llx: no counter of this CPU is known to count it",
				      attr->config);
	}
	hwc->config_base = select | config;
	ret = latency ? 0 : intel_second_encode(desc, event, config, second);
	if (ret)
		return ret;
	if (desc->metrics &&
	    (corepmu_hw_counters(hwc) & (desc->metrics | BIT_ULL(SLOTS_COUNTER)))) {
		ret = x86_topdown_encode(event);
		if (ret)
			return ret;
	}
	if (desc->reload) {
		ret = x86_reload_encode(desc, event, is_generic(attr));
		if (ret)
			return ret;
	}
	if (is_sampling_event(event) && (config & desc->counts_only))
		return corepmu_refuse(-EOPNOTSUPP,
				      "config %#llx cannot be sampled: a transaction that aborts takes its counts back, and the overflow with them",
				      attr->config);
	if (hwc->flags & COREPMU_EVENT_COUNTED) {
		ret = x86_lbr_encode_counted(desc, event, config);
		if (ret)
			return ret;
	}
	if (attr->precise_ip) {
		ret = x86_pebs_encode(desc, event);
		if (ret)
			return ret;
	}
	if (is_sampling_event(event))
		set_min_left(desc, event);
	if (is_sampling_event(event) && !attr->freq) {
		ret = check_period(event, attr->sample_period, -EOPNOTSUPP);
		if (ret)
			return ret;
	}
	encode_readers(desc, event);

	return 0;
}

/* format/ */

static const struct x86_desc *dev_to_x86(struct device *dev)
{
	return to_x86(to_corepmu(dev_get_drvdata(dev)));
}

/* AMD's events have four bits more; two of them are Intel's for transactions. */
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
PMU_FORMAT_ATTR(edge, "config:18");
PMU_FORMAT_ATTR(any, "config:21");
PMU_FORMAT_ATTR(inv, "config:23");
PMU_FORMAT_ATTR(cmask, "config:24-31");
PMU_FORMAT_ATTR(eq, "config:36");
PMU_FORMAT_ATTR(in_tx, "config:32");
PMU_FORMAT_ATTR(in_tx_cp, "config:33");
PMU_FORMAT_ATTR(ldlat, "config1:0-15");
PMU_FORMAT_ATTR(offcore_rsp, "config1:0-63");
PMU_FORMAT_ATTR(offmodule_rsp, "config1:0-63");
PMU_FORMAT_ATTR(frontend, "config1:0-23");
PMU_FORMAT_ATTR(acr_mask, "config2:0-63");

static struct attribute *x86_format_attrs[] = {
	&format_attr_event.attr,
	&format_attr_umask.attr,
	&format_attr_edge.attr,
	&format_attr_any.attr,
	&format_attr_inv.attr,
	&format_attr_cmask.attr,
	&format_attr_eq.attr,
	&format_attr_in_tx.attr,
	&format_attr_in_tx_cp.attr,
	&format_attr_ldlat.attr,
	&format_attr_offcore_rsp.attr,
	&format_attr_offmodule_rsp.attr,
	&format_attr_frontend.attr,
	&format_attr_acr_mask.attr,
	NULL
};

/* Not all CPUs have bits besides those of the event. */
static umode_t x86_format_is_visible(struct kobject *kobj, struct attribute *attr, int unused)
{
	const struct x86_desc *desc = dev_to_x86(kobj_to_dev(kobj));
	u64 known = desc->config_known, bit = EVNTSEL_EVENT;

	if (attr == &format_attr_ldlat.attr)
		return x86_pebs_has_latency(desc) ? attr->mode : 0;
	if (attr == &format_attr_offcore_rsp.attr)
		return intel_has_offcore(desc) ? attr->mode : 0;
	if (attr == &format_attr_offmodule_rsp.attr)
		return intel_has_omr(desc) ? attr->mode : 0;
	if (attr == &format_attr_frontend.attr)
		return intel_has_frontend(desc) ? attr->mode : 0;
	if (attr == &format_attr_acr_mask.attr)
		return desc->reload ? attr->mode : 0;
	if (attr == &format_attr_any.attr)
		bit = EVNTSEL_ANY;
	else if (attr == &format_attr_eq.attr)
		bit = EVNTSEL_EQ;
	else if (attr == &format_attr_in_tx.attr)
		bit = EVNTSEL_IN_TX;
	else if (attr == &format_attr_in_tx_cp.attr)
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

/* How many events of a group branch records can have counts of, and with how many bits each */
static ssize_t branch_counter_nr_show(struct device *dev, struct device_attribute *attr,
				      char *page)
{
	return sysfs_emit(page, "%u\n", x86_lbr_nr_counted(dev_to_x86(dev)));
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

/* The perf tool takes the file for the promise of branch records. */
static umode_t x86_caps_is_visible(struct kobject *kobj, struct attribute *attr, int unused)
{
	const struct x86_desc *desc = dev_to_x86(kobj_to_dev(kobj));

	if (attr == &x86_attr_pmu_name.attr)
		return x86_kernel_name(desc) ? attr->mode : 0;
	if (attr == &caps_attr_branch_counter_nr.attr ||
	    attr == &caps_attr_branch_counter_width.attr)
		return x86_lbr_nr_counted(desc) ? attr->mode : 0;

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
	&x86_user_group,
	&x86_smi_group,
	NULL
};
