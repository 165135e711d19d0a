/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: answer a static call of the kernel
 */
#ifndef _COREPMU_STATIC_CALL_H
#define _COREPMU_STATIC_CALL_H

#include <linux/types.h>

struct static_call_key;

/**
 * struct corepmu_claimed_call - a static call of the kernel that this driver has taken over
 * @key: the static call's key, or NULL while the driver does not answer the call
 * @trampoline: the static call's trampoline
 * @unanswered: the kernel's default function, which the static call gets back on release
 */
struct corepmu_claimed_call {
	struct static_call_key	*key;
	void			*trampoline;
	void			*unanswered;
};

bool corepmu_claim_call(struct corepmu_claimed_call *call, const char *key, const char *trampoline,
			void *answer);
void corepmu_release_call(struct corepmu_claimed_call *call);

#endif /* _COREPMU_STATIC_CALL_H */
