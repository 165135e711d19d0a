// SPDX-License-Identifier: GPL-2.0-only
/*
 * patch-perf.c - a live patch of perf core; x86 only
 *
 * The patch replaces functions of perf core that corepmu calls. Each replacement counts its calls,
 * and continues in the replaced function behind the call of ftrace, which is the first instruction
 * but for ENDBR64.
 */
#include <linux/atomic.h>
#include <linux/kprobes.h>
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/perf_event.h>

#define ENDBR64		0xfa1e0ff3
#define CALL_SIZE	5

static atomic_t samples, pages;

static int get_calls(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%d\n", atomic_read((atomic_t *)param->arg));
}

static const struct kernel_param_ops calls_ops = { .get = get_calls };

module_param_cb(samples, &calls_ops, &samples, 0444);
MODULE_PARM_DESC(samples, "Calls of perf_output_sample()");
module_param_cb(pages, &calls_ops, &pages, 0444);
MODULE_PARM_DESC(pages, "Calls of perf_event_update_userpage()");

static void (*old_output_sample)(struct perf_output_handle *handle,
				 struct perf_event_header *header,
				 struct perf_sample_data *data, struct perf_event *event);
static void (*old_update_userpage)(struct perf_event *event);

static void new_output_sample(struct perf_output_handle *handle, struct perf_event_header *header,
			      struct perf_sample_data *data, struct perf_event *event)
{
	atomic_inc(&samples);
	old_output_sample(handle, header, data, event);
}

static void new_update_userpage(struct perf_event *event)
{
	atomic_inc(&pages);
	old_update_userpage(event);
}

/* Return the address of a function behind its call of ftrace, NULL if there is no such function. */
static void *find_body(const char *name)
{
	struct kprobe probe = { .symbol_name = name };
	u8 *addr;

	if (register_kprobe(&probe))
		return NULL;
	addr = (u8 *)probe.addr;
	unregister_kprobe(&probe);
	/* A kprobe's address may already be behind ENDBR64. */
	if (*(u32 *)addr == ENDBR64)
		addr += sizeof(u32);

	return addr + CALL_SIZE;
}

static struct klp_func functions[] = {
	{ .old_name = "perf_output_sample", .new_func = new_output_sample },
	{ .old_name = "perf_event_update_userpage", .new_func = new_update_userpage },
	{ }
};

static struct klp_object objects[] = {
	{ .funcs = functions },
	{ }
};

static struct klp_patch patch = { .mod = THIS_MODULE, .objs = objects };

static int __init patch_init(void)
{
	old_output_sample = find_body("perf_output_sample");
	old_update_userpage = find_body("perf_event_update_userpage");
	if (!old_output_sample || !old_update_userpage)
		return -ENOENT;

	return klp_enable_patch(&patch);
}

static void __exit patch_exit(void)
{
}

module_init(patch_init);
module_exit(patch_exit);
MODULE_DESCRIPTION("A live patch of perf core");
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
