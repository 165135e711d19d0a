/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * records.h - replacements for the kernel's headers, for the driver's parsers in a program
 */
#ifndef HOST_RECORDS_H
#define HOST_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/cdefs.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define BIT(nr)			(1UL << (nr))
#define BIT_ULL(nr)		(1ULL << (nr))
#define GENMASK_ULL(h, l)	((~0ULL << (l)) & (~0ULL >> (63 - (h))))
#define FIELD_GET(mask, value)	(((value) & (mask)) >> __builtin_ctzll(mask))
#define round_up(x, to)		((((x) - 1) | ((to) - 1)) + 1)
#define min_t(type, a, b)	({ type a_ = (a), b_ = (b); a_ < b_ ? a_ : b_; })
#define min(a, b)		({ typeof(a) a_ = (a); typeof(b) b_ = (b); a_ < b_ ? a_ : b_; })
#define noinline		__attribute__((noinline))
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define hweight64(x)		__builtin_popcountll(x)
#define __ffs64(x)		__builtin_ctzll(x)

struct page;
struct perf_event;
struct pt_regs;
struct corepmu_cpu;
struct corepmu_precise_backend;

#endif /* HOST_RECORDS_H */
