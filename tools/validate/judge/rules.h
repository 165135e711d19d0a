/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rules.h - sentences of perf_event_open(2) that several checks quote
 */
#ifndef RULES_H
#define RULES_H

/*
 * The source of the rules' sentences. Rules quote the page word by word between quotation marks;
 * "[...]" stands for omitted words.
 */
#define MAN	"perf_event_open(2), man-pages 6.03: "

#define SCHEDULED	MAN "\"An event group is scheduled onto the CPU as a unit: it will be put onto the CPU only if all of the events in the group can be put onto the CPU.\""
#define COUNTED	MAN \
	"\"A counting event is one that is used for counting the aggregate number of events that occur.\""
#define PERIODS	MAN \
	"\"generates an overflow notification every N events, where N is given by sample_period.\""
#define INHERITED	MAN \
	"\"The inherit bit specifies that this counter should count events of child tasks as well as the task specified.\""
#define NO_LEVEL	MAN \
	"exclude_user: \"If this bit is set, the count excludes events that happen in user space.\", exclude_kernel: \"If this bit is set, the count excludes events that happen in kernel space.\""
#define NO_USER	MAN \
	"exclude_user: \"If this bit is set, the count excludes events that happen in user space.\""
#define NO_KERNEL	MAN \
	"exclude_kernel: \"If this bit is set, the count excludes events that happen in kernel space.\""
#define READ_FORMAT	MAN \
	"read_format: \"This field specifies the format of the data returned by read(2) on a perf_event_open() file descriptor.\""
#define OTHER_TASK	MAN \
	"pid > 0 and cpu == -1: \"This measures the specified process/thread on any CPU.\""
#define OWN_TASK	MAN \
	"pid == 0 and cpu == -1: \"This measures the calling process/thread on any CPU.\""
#define CPU_WIDE	MAN \
	"pid == -1 and cpu >= 0: \"This measures all processes/threads on the specified CPU.\""
#define NO_ROOM	MAN \
	"EINVAL: \"there is not enough room to add the selected event.\""
#define USER_READS	MAN \
	"cap_user_rdpmc: \"the following code can be used to do a read\""
#define SET_OUTPUT	MAN \
	"PERF_EVENT_IOC_SET_OUTPUT: \"This tells the kernel to report event notifications to the specified file descriptor rather than the default one.\""
#define NEW_PERIOD	MAN \
	"\"Since Linux 3.7 (on ARM) and Linux 3.14 (all other architectures), the new period takes effect immediately.\""
#define MULTIPLEXED	MAN \
	"\"Multiplexing happens if the number of events is more than the number of available PMU counter slots.\""

#define REFRESHED	MAN \
	"PERF_EVENT_IOC_REFRESH: \"Non-inherited overflow counters can use this to enable a counter for a number of overflows specified by the argument, after which it is disabled.\""

#endif /* RULES_H */
