/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: find variables of the built-in driver, by the kernel's BTF and code
 */
#ifndef _COREPMU_X86_BTF_H
#define _COREPMU_X86_BTF_H

#include <linux/types.h>

bool x86_is_read_only(unsigned long addr);
void *x86_pmu_member(const char *name, size_t size);

/* cntval-bits.c */
int *x86_find_cntval_bits(void);

#endif /* _COREPMU_X86_BTF_H */
