/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much of what is tested exhaustively. A kernel that checks each access of its own is some ten
 * times as slow; it is there for what the code does, which every seventh case shows as well. The
 * plain kernels do all of them.
 */
#ifndef _COREPMU_KUNIT_STRIDE_H
#define _COREPMU_KUNIT_STRIDE_H

#include <linux/kconfig.h>

#define BENCH_STRIDE	(IS_ENABLED(CONFIG_KASAN) ? 7U : 1U)

#endif /* _COREPMU_KUNIT_STRIDE_H */
