// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: branch records for BPF programs
 *
 * bpf_get_branch_snapshot() asks the driver by a static call of perf core's. Its key is not
 * exported, and is found as functions are. Where the verifier puts the function's address into
 * programs, which may live longer than the module, the call stays as it is: there are no
 * records then.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/static_call.h>

#include <corepmu/branch.h>
#include <corepmu/ksyms.h>

#include "x86.h"

/* The call, while it is this driver's, and what it was before */
static struct {
	struct static_call_key	*key;
	void			*trampoline;
	void			*none;
} snapshot;

/**
 * x86_snapshot_init() - give BPF programs branch records, where nobody else does
 * @desc: a PMU
 *
 * Process context.
 */
void x86_snapshot_init(const struct x86_desc *desc)
{
	void *key, *trampoline, *none;

	if (COMPAT_SNAPSHOT_IS_INLINED || !desc->pmu->nr_branches)
		return;

	key = (void *)corepmu_find_symbol(STATIC_CALL_KEY_STR(perf_snapshot_branch_stack));
	trampoline = (void *)corepmu_find_symbol(STATIC_CALL_TRAMP_STR(perf_snapshot_branch_stack));
	none = (void *)corepmu_find_symbol("__static_call_return0");
	if (!key || !trampoline || !none ||
	    READ_ONCE(((struct static_call_key *)key)->func) != none)
		return;

	snapshot.key = key;
	snapshot.trampoline = trampoline;
	snapshot.none = none;
	__static_call_update(key, trampoline, corepmu_branch_snapshot);
	pr_debug("BPF programs have branch records\n");
}

/**
 * x86_snapshot_exit() - undo x86_snapshot_init()
 *
 * When it returns nobody is in the function any more. Process context.
 */
void x86_snapshot_exit(void)
{
	if (!snapshot.key)
		return;

	__static_call_update(snapshot.key, snapshot.trampoline, snapshot.none);
	snapshot.key = NULL;
	/* It may have been preempted before it had interrupts disabled. */
	synchronize_rcu_tasks();
}
