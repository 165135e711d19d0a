// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: answer a static call of the kernel
 *
 * The kernel calls functions of the built-in driver by static calls. The keys of static calls are
 * not exported; the driver looks them up like functions (corepmu_find_symbol()).
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/rcupdate.h>
#include <linux/static_call.h>
#include <linux/types.h>

#include <corepmu/ksyms.h>
#include <corepmu/module.h>

#include "static-call.h"
/* For KUnit, this header replaces corepmu_find_symbol(). */
#include "../x86/access.h"

/**
 * corepmu_claim_call() - answer a static call that no other driver answers
 * @call: filled in for corepmu_release_call()
 * @key: name of the static call's key
 * @trampoline: name of the static call's trampoline
 * @answer: function with the static call's type
 *
 * Process context.
 *
 * Return: false if the kernel hides the static call, or if another driver answers it
 */
bool __corepmu_init corepmu_claim_call(struct corepmu_claimed_call *call, const char *key,
				       const char *trampoline, void *answer)
{
	call->key = (void *)corepmu_find_symbol(key);
	call->trampoline = (void *)corepmu_find_symbol(trampoline);
	call->unanswered = (void *)corepmu_find_symbol("__static_call_return0");
	if (!call->key || !call->trampoline || !call->unanswered ||
	    READ_ONCE(call->key->func) != call->unanswered) {
		call->key = NULL;
		return false;
	}
	__static_call_update(call->key, call->trampoline, answer);

	return true;
}

/**
 * corepmu_release_call() - undo corepmu_claim_call(), if that has succeeded
 * @call: filled in by corepmu_claim_call()
 *
 * When this function returns, no CPU runs the answer any more. Process context.
 */
void corepmu_release_call(struct corepmu_claimed_call *call)
{
	if (!call->key)
		return;

	__static_call_update(call->key, call->trampoline, call->unanswered);
	call->key = NULL;
	/* A task may be preempted between the call and the answer's first instruction. */
	synchronize_rcu_tasks();
}
