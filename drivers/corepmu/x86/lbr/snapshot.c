// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: branch records for BPF programs: bpf_get_branch_snapshot()
 *
 * bpf_get_branch_snapshot() calls the driver by a static call of perf core. Before Linux 6.10 this
 * driver answers the call unless the built-in driver does. A program gets the records that the
 * CPU's events request at that moment, without filters. Kernel addresses need an event with the
 * kernel's branches. (The built-in driver always gives a whole stack, partly of old records.)
 *
 * From 6.10 on, the verifier inlines the call's target into programs ("Implement
 * bpf_get_branch_snapshot inline" in kernel/bpf/verifier.c). A program may live longer than the
 * module, so there the driver leaves the static call alone, and programs get ENOENT. On arm64 no
 * driver provides the function.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/static_call.h>

#include <corepmu/branch.h>
#include <corepmu/module.h>

#include "../../module/static-call.h"
#include "lbr.h"
#include "../x86.h"

static struct corepmu_claimed_call snapshot;

/**
 * x86_snapshot_init() - answer bpf_get_branch_snapshot(), unless another driver does
 * @desc: description of a PMU
 *
 * Process context.
 */
void __corepmu_init x86_snapshot_init(const struct x86_desc *desc)
{
	if (COMPAT_SNAPSHOT_IS_INLINED || !desc->pmu->nr_branches)
		return;
	if (corepmu_claim_call(&snapshot, STATIC_CALL_KEY_STR(perf_snapshot_branch_stack),
			       STATIC_CALL_TRAMP_STR(perf_snapshot_branch_stack),
			       corepmu_branch_snapshot))
		pr_debug("bpf_get_branch_snapshot() is available\n");
}

/**
 * x86_snapshot_exit() - undo x86_snapshot_init()
 *
 * When the function returns, no CPU runs corepmu_branch_snapshot() for BPF. Process context.
 */
void x86_snapshot_exit(void)
{
	corepmu_release_call(&snapshot);
}
