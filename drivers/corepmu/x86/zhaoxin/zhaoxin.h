/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: Zhaoxin core performance counters
 */
#ifndef _COREPMU_X86_ZHAOXIN_H
#define _COREPMU_X86_ZHAOXIN_H

struct x86_desc;

int zhaoxin_describe(struct x86_desc *desc);

#endif /* _COREPMU_X86_ZHAOXIN_H */
