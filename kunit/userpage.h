/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: what the suites of counters that user space reads share
 */
#ifndef COREPMU_KUNIT_USERPAGE_H
#define COREPMU_KUNIT_USERPAGE_H

#include <linux/bits.h>
#include <linux/types.h>

struct bench;
struct kunit;
struct machine;
struct perf_event;

/* format/long and format/rdpmc of arm64 */
#define CONFIG1_LONG	BIT(0)
#define CONFIG1_RDPMC	BIT(1)

int write_user_access(const char *text);
struct bench *readable_bench(struct kunit *test, const struct machine *machine);
void end_readable(struct bench *b);
struct perf_event *readable_event(struct bench *b, u64 period);
u64 read_page(struct perf_event *event);
void map_page(struct bench *b, struct perf_event *event);
void unmap_page(struct perf_event *event);

#endif /* COREPMU_KUNIT_USERPAGE_H */
