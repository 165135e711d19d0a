// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KVM of arm64, in software: a kernel that has it, and guests that it enters and leaves
 */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "arm64_access.h"

/* The kernel has KVM. */
bool pmuv3_model_has_kvm;

/* A tracepoint that this kernel does not have, or NULL */
const char *pmuv3_model_hidden_tracepoint;

static struct tracepoint tracepoints[] = {
	{ .name = "kvm_userspace_exit" },
	{ .name = "kvm_entry" },
	{ .name = "kvm_exit" },
};

#define KVM_ENTRY	(&tracepoints[1])
#define KVM_EXIT	(&tracepoints[2])

/* What was registered, or NULL */
static void *probes[ARRAY_SIZE(tracepoints)];

/**
 * pmuv3_model_for_each_tracepoint() - for_each_kernel_tracepoint()
 * @fn: what is called
 * @priv: its second argument
 */
void pmuv3_model_for_each_tracepoint(void (*fn)(struct tracepoint *tp, void *priv), void *priv)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(tracepoints); i++)
		if (!pmuv3_model_hidden_tracepoint ||
		    strcmp(tracepoints[i].name, pmuv3_model_hidden_tracepoint))
			fn(&tracepoints[i], priv);
}

/**
 * pmuv3_model_register_probe() - tracepoint_probe_register()
 * @tp: the tracepoint
 * @probe: what it is to call
 * @data: its first argument, NULL
 *
 * Return: 0, or -EEXIST
 */
int pmuv3_model_register_probe(struct tracepoint *tp, void *probe, void *data)
{
	if (probes[tp - tracepoints] || data)
		return -EEXIST;

	probes[tp - tracepoints] = probe;
	return 0;
}

/**
 * pmuv3_model_unregister_probe() - tracepoint_probe_unregister()
 * @tp: the tracepoint
 * @probe: what it called
 * @data: NULL
 *
 * Return: 0, or -ENOENT
 */
int pmuv3_model_unregister_probe(struct tracepoint *tp, void *probe, void *data)
{
	if (probes[tp - tracepoints] != probe)
		return -ENOENT;

	probes[tp - tracepoints] = NULL;
	return 0;
}

/**
 * pmuv3_model_nr_probes() - how many are registered?
 *
 * Return: their number
 */
unsigned int pmuv3_model_nr_probes(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		nr += !!probes[i];
	return nr;
}

/**
 * pmuv3_model_enter_guest() - KVM enters a guest on this CPU, or leaves it
 * @enter: which of them
 *
 * arch/arm64/kvm/trace_arm.h: what the tracepoints are called with.
 */
void pmuv3_model_enter_guest(bool enter)
{
	void (*entry)(void *data, unsigned long vcpu_pc) = probes[KVM_ENTRY - tracepoints];
	void (*leave)(void *data, int ret, unsigned int esr_ec, unsigned long vcpu_pc) =
		probes[KVM_EXIT - tracepoints];

	if (enter && entry)
		entry(NULL, 0x40000000);
	if (!enter && leave)
		leave(NULL, 0, 0, 0x40000000);
}
