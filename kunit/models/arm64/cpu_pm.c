// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of idle CPUs (arm64): the tracepoint cpu_idle
 */
#include <linux/errno.h>
#include <linux/smp.h>

#include "access.h"

static void (*idle_probe)(void *data, unsigned int state, unsigned int cpu);

/**
 * pmuv3_model_register_idle() - register_trace_cpu_idle()
 * @probe: function to call
 * @data: its first argument, NULL
 *
 * Return: 0, or -EEXIST
 */
int pmuv3_model_register_idle(void (*probe)(void *data, unsigned int state, unsigned int cpu),
			      void *data)
{
	if (idle_probe || data)
		return -EEXIST;

	idle_probe = probe;
	return 0;
}

/**
 * pmuv3_model_unregister_idle() - unregister_trace_cpu_idle()
 * @probe: the registered function
 * @data: NULL
 *
 * Return: 0, or -ENOENT
 */
int pmuv3_model_unregister_idle(void (*probe)(void *data, unsigned int state, unsigned int cpu),
				void *data)
{
	if (idle_probe != probe)
		return -ENOENT;

	idle_probe = NULL;
	return 0;
}

/**
 * pmuv3_model_idle() - this CPU enters or leaves an idle state
 * @state: an idle state, or PWR_EVENT_EXIT
 */
void pmuv3_model_idle(unsigned int state)
{
	if (idle_probe)
		idle_probe(NULL, state, smp_processor_id());
}
