// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of the kernel's tracepoints, and of those of the module kvm
 *
 * As kernel/tracepoint.c: the notifier of a module's tracepoints is called when the module is
 * loaded and unloaded, and for a loaded module when the notifier is registered and unregistered.
 */
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/string.h>

#include "models/tracepoint.h"

/* Tracepoint that the kernel hides, or NULL */
const char *tracepoint_model_hidden;

/* KVM's tracepoints belong to the module kvm; otherwise to the kernel. */
bool tracepoint_model_kvm_is_module;

static struct tracepoint tracepoints[] = {
	{ .name = "kvm_userspace_exit" },
	{ .name = "kvm_entry" },
	{ .name = "kvm_exit" },
};

/* Registered functions, or NULL */
static void *probes[ARRAY_SIZE(tracepoints)];

static struct notifier_block *notifier;
static bool kvm_is_loaded;

static bool is_hidden(const struct tracepoint *tracepoint)
{
	return tracepoint_model_hidden && !strcmp(tracepoint->name, tracepoint_model_hidden);
}

/**
 * tracepoint_model_for_each() - for_each_kernel_tracepoint()
 * @fn: function to call
 * @priv: its second argument
 */
void tracepoint_model_for_each(void (*fn)(struct tracepoint *tp, void *priv), void *priv)
{
	for (int i = 0; i < ARRAY_SIZE(tracepoints); i++)
		if (!tracepoint_model_kvm_is_module && !is_hidden(&tracepoints[i]))
			fn(&tracepoints[i], priv);
}

/**
 * tracepoint_model_register() - tracepoint_probe_register()
 * @tp: the tracepoint
 * @probe: function to call
 * @data: its first argument, NULL
 *
 * Return: 0, or -EEXIST
 */
int tracepoint_model_register(struct tracepoint *tp, void *probe, void *data)
{
	if (probes[tp - tracepoints] || data)
		return -EEXIST;

	probes[tp - tracepoints] = probe;
	return 0;
}

/**
 * tracepoint_model_unregister() - tracepoint_probe_unregister()
 * @tp: the tracepoint
 * @probe: the registered function
 * @data: NULL
 *
 * Return: 0, or -ENOENT
 */
int tracepoint_model_unregister(struct tracepoint *tp, void *probe, void *data)
{
	if (probes[tp - tracepoints] != probe)
		return -ENOENT;

	probes[tp - tracepoints] = NULL;
	return 0;
}

#if defined(CONFIG_TRACEPOINTS) && defined(CONFIG_MODULES)

static void notify_module(unsigned long action)
{
	/* As tracepoint_ptr_t, which is const */
#ifdef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
	static int pointers[ARRAY_SIZE(tracepoints)];
#else
	static struct tracepoint *pointers[ARRAY_SIZE(tracepoints)];
#endif
	static struct module kvm;
	struct tp_module module = { .mod = &kvm };

	if (!notifier || !kvm_is_loaded)
		return;

	strscpy(kvm.name, "kvm", sizeof(kvm.name));
	kvm.tracepoints_ptrs = (tracepoint_ptr_t *)pointers;
	kvm.num_tracepoints = 0;
	for (int i = 0; i < ARRAY_SIZE(tracepoints); i++) {
		typeof(*pointers) *pointer = &pointers[kvm.num_tracepoints];

		if (is_hidden(&tracepoints[i]))
			continue;
#ifdef CONFIG_HAVE_ARCH_PREL32_RELOCATIONS
		*pointer = (long)&tracepoints[i] - (long)pointer;
#else
		*pointer = &tracepoints[i];
#endif
		kvm.num_tracepoints++;
	}
	notifier->notifier_call(notifier, action, &module);
}

#else

static void notify_module(unsigned long action)
{
}

#endif

/**
 * tracepoint_model_register_notifier() - register_tracepoint_module_notifier()
 * @block: the notifier
 *
 * Return: 0
 */
int tracepoint_model_register_notifier(struct notifier_block *block)
{
	notifier = block;
	notify_module(MODULE_STATE_COMING);
	return 0;
}

/**
 * tracepoint_model_unregister_notifier() - unregister_tracepoint_module_notifier()
 * @block: the notifier
 *
 * Return: 0
 */
int tracepoint_model_unregister_notifier(struct notifier_block *block)
{
	notify_module(MODULE_STATE_GOING);
	notifier = NULL;
	return 0;
}

/**
 * tracepoint_model_load_kvm() - load or unload the module kvm
 * @load: true: load
 */
void tracepoint_model_load_kvm(bool load)
{
	if (load)
		kvm_is_loaded = true;
	notify_module(load ? MODULE_STATE_COMING : MODULE_STATE_GOING);
	kvm_is_loaded = load;
}

/**
 * tracepoint_model_probe() - return the function that is registered with a tracepoint
 * @name: the tracepoint
 *
 * Return: the function, or NULL
 */
void *tracepoint_model_probe(const char *name)
{
	for (int i = 0; i < ARRAY_SIZE(tracepoints); i++)
		if (!strcmp(tracepoints[i].name, name))
			return probes[i];

	return NULL;
}

/**
 * tracepoint_model_nr_probes() - count the registered functions
 *
 * Return: their number
 */
unsigned int tracepoint_model_nr_probes(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		nr += !!probes[i];
	return nr;
}

/**
 * tracepoint_model_reset() - go back to a kernel with KVM built in, and without probes
 */
void tracepoint_model_reset(void)
{
	memset(probes, 0, sizeof(probes));
	tracepoint_model_hidden = NULL;
	tracepoint_model_kvm_is_module = false;
	kvm_is_loaded = false;
	notifier = NULL;
}
