// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: branch records for BPF programs
 *
 * bpf_get_branch_snapshot() asks the driver by a static call of perf core's. Where the verifier
 * puts the function's address into programs, which may live longer than the module, the call stays
 * as it is: there are no records then.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/static_call.h>

#include <corepmu/branch.h>

#include "../x86.h"

static struct x86_claimed_call snapshot;

/**
 * x86_snapshot_init() - give BPF programs branch records, where nobody else does
 * @desc: a PMU
 *
 * Process context.
 */
void x86_snapshot_init(const struct x86_desc *desc)
{
	if (COMPAT_SNAPSHOT_IS_INLINED || !desc->pmu->nr_branches)
		return;
	if (x86_claim_call(&snapshot, STATIC_CALL_KEY_STR(perf_snapshot_branch_stack),
			   STATIC_CALL_TRAMP_STR(perf_snapshot_branch_stack),
			   corepmu_branch_snapshot))
		pr_debug("BPF programs have branch records\n");
}

/**
 * x86_snapshot_exit() - undo x86_snapshot_init()
 *
 * When it returns nobody is in the function any more. Process context.
 */
void x86_snapshot_exit(void)
{
	x86_release_call(&snapshot);
}
