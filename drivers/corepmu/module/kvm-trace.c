// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: probes on KVM's tracepoints kvm_entry and kvm_exit
 *
 * KVM does not notify other drivers when a CPU enters or leaves a guest. It has a tracepoint before
 * the entry and one after the exit. The tracepoints belong to the kernel, or to the module kvm
 * (x86), which may be loaded and unloaded at any time.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/errno.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <corepmu/module.h>

#include "kvm-trace.h"

static struct {
	const char *name;
	void *probe;
	struct tracepoint *tracepoint;
} hooks[] = {
	{ "kvm_entry" },
	{ "kvm_exit" },
};

/* The probes are registered. */
static bool has_probes;

static void forget_hooks(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		hooks[i].tracepoint = NULL;
}

static void find_hook(struct tracepoint *tracepoint, void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(tracepoint->name, hooks[i].name))
			hooks[i].tracepoint = tracepoint;
}

static int register_probes(void)
{
	int i, ret = 0;

	for (i = 0; i < ARRAY_SIZE(hooks) && !ret; i++) {
		ret = -ENOENT;
		if (hooks[i].tracepoint)
			ret = tracepoint_probe_register(hooks[i].tracepoint, hooks[i].probe, NULL);
	}
	/* After a failure at hooks[i - 1], unregister the probes before it. */
	for (i -= 2; ret && i >= 0; i--)
		tracepoint_probe_unregister(hooks[i].tracepoint, hooks[i].probe, NULL);
	has_probes = !ret;
	if (ret)
		forget_hooks();

	return ret;
}

static void unregister_probes(void)
{
	int i;

	for (i = 0; has_probes && i < ARRAY_SIZE(hooks); i++)
		tracepoint_probe_unregister(hooks[i].tracepoint, hooks[i].probe, NULL);
	has_probes = false;
	forget_hooks();
}

#if defined(CONFIG_TRACEPOINTS) && defined(CONFIG_MODULES)

static int module_changes(struct notifier_block *block, unsigned long action, void *data)
{
	const struct module *module = ((struct tp_module *)data)->mod;
	unsigned int i;
	int ret;

	if (strcmp(module->name, "kvm"))
		return NOTIFY_DONE;
	if (action == MODULE_STATE_GOING)
		unregister_probes();
	if (action != MODULE_STATE_COMING)
		return NOTIFY_OK;

	for (i = 0; i < module->num_tracepoints; i++)
		find_hook(tracepoint_ptr_deref(&module->tracepoints_ptrs[i]), NULL);
	ret = register_probes();
	if (ret)
		pr_notice("no probe on the tracepoints of the module kvm (%d): the driver cannot distinguish guests from the host; load the module kvm of this kernel\n",
			  ret);

	return NOTIFY_OK;
}

static struct notifier_block module_notifier = { .notifier_call = module_changes };

/*
 * The kernel also calls the notifier for modules that are loaded already: with COMING when the
 * notifier is registered, with GOING when it is unregistered.
 */
static int __corepmu_init watch_module(void)
{
	return register_tracepoint_module_notifier(&module_notifier);
}

static void unwatch_module(void)
{
	unregister_tracepoint_module_notifier(&module_notifier);
}

#else

static int __corepmu_init watch_module(void)
{
	return -ENOENT;
}

static void unwatch_module(void)
{
}

#endif

/**
 * corepmu_kvm_trace_init() - have functions called when KVM enters and leaves a guest
 * @entered: probe of kvm_entry; called on the CPU, IRQs off
 * @left: probe of kvm_exit; called with preemption disabled. IRQs may be on. Where KVM calls it
 *	late (x86, 6.1), the task may have moved to another CPU
 *
 * The functions' parameters are in arch/x86/kvm/trace.h and arch/arm64/kvm/trace_arm.h. A call of
 * @left may be missing: KVM may not enter the guest after all. Process context.
 *
 * Return: 0, also if the module kvm is not loaded yet, or a negative errno
 */
int __corepmu_init corepmu_kvm_trace_init(void *entered, void *left)
{
	if (!kernel_has_tracepoints())
		return -ENOENT;

	hooks[0].probe = entered;
	hooks[1].probe = left;
	if (kernel_has_kvm_module())
		return watch_module();

	for_each_kernel_tracepoint(find_hook, NULL);
	return register_probes();
}

/**
 * corepmu_kvm_trace_exit() - undo a successful corepmu_kvm_trace_init()
 *
 * When the function returns, no CPU runs a probe. Process context.
 */
void corepmu_kvm_trace_exit(void)
{
	if (!kernel_has_tracepoints())
		return;

	if (kernel_has_kvm_module())
		unwatch_module();
	unregister_probes();
	tracepoint_synchronize_unregister();
}
