// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of KVM's VM entry on Intel CPUs
 *
 * As atomic_switch_perf_msrs() in arch/x86/kvm/vmx/vmx.c: KVM switches a register if its values for
 * host and guest differ.
 */
#include <linux/perf_event.h>
#include <linux/static_call.h>
#include <linux/string.h>

#include <asm/perf_event.h>

#include "access.h"

/* Replaces the kernel's x86_pmu_guest_get_msrs */
DEFINE_STATIC_CALL_RET0(vmx_model_guest_msrs, perf_guest_get_msrs);

/**
 * vmx_model_find_symbol() - find the symbols of KVM's static call
 * @name: a symbol
 *
 * Return: its address, 0 for other symbols
 */
unsigned long vmx_model_find_symbol(const char *name)
{
	if (!strcmp(name, STATIC_CALL_KEY_STR(x86_pmu_guest_get_msrs)))
		return (unsigned long)&STATIC_CALL_KEY(vmx_model_guest_msrs);
	if (!strcmp(name, STATIC_CALL_TRAMP_STR(x86_pmu_guest_get_msrs)))
		return (unsigned long)STATIC_CALL_TRAMP_ADDR(vmx_model_guest_msrs);
	if (!strcmp(name, "__static_call_return0"))
		return (unsigned long)__static_call_return0;

	return 0;
}

/**
 * vmx_model_ask() - ask for the registers to switch, as KVM does
 * @nr: filled in with the number of registers, if a driver answers
 *
 * Return: the registers, NULL if no driver answers
 */
const struct perf_guest_switch_msr *vmx_model_ask(int *nr)
{
	return static_call(vmx_model_guest_msrs)(nr, NULL);
}

/**
 * vmx_model_run() - run a guest: VM entry, some events, VM exit
 * @run: called in the guest
 * @data: argument of @run
 *
 * Not preemptible.
 */
void vmx_model_run(void (*run)(void *data), void *data)
{
	const struct perf_guest_switch_msr *msrs;
	int nr = 0, i;

	msrs = vmx_model_ask(&nr);
	for (i = 0; msrs && i < nr; i++)
		if (msrs[i].host != msrs[i].guest)
			x86_write_msr(msrs[i].msr, msrs[i].guest);
	run(data);
	for (i = 0; msrs && i < nr; i++)
		if (msrs[i].host != msrs[i].guest)
			x86_write_msr(msrs[i].msr, msrs[i].host);
}
