/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_util.h - what the suites of counters read from user space share
 */
#ifndef USER_UTIL_H
#define USER_UTIL_H

#include "perf_util.h"
#include "user_read.h"

/* An event on the calling task and its page. */
struct reader {
	int fd;
	unsigned int width;
	struct perf_event_mmap_page *page;
};

/* A disabled count of user space that can be read there. */
void reader_attr_init(struct perf_event_attr *attr, u64 config, u64 config1);
bool reader_open(struct reader *reader, u64 config, u64 config1);
bool reader_open_attr(struct reader *reader, struct perf_event_attr *attr);
/* The page of reader->fd. */
bool reader_map(struct reader *reader);
void reader_close(struct reader *reader);

/* What the administrator allows: the file's number, or a negative errno. */
int user_read_allow(long value);
long user_read_allowed(void);

/* What reading every counter there may be came to. */
struct foreign {
	/* page->index of the event that is the looker's own, or 0. */
	unsigned int own;
	unsigned int faults;
	unsigned int values;
	/* Values that were not zero, and the last of them. */
	unsigned int seen;
	unsigned int counter;
	u64 value;
};

/* Read every counter, adding to foreign; other events of the calling task are seen too. */
void look_at_counters(struct foreign *foreign);
/* Whether nothing of others was seen. */
bool expect_blind(const char *what, const struct foreign *foreign);

#endif /* USER_UTIL_H */
