/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * svm.h - a virtual machine of known length, and the test cases of the suite "svm"
 */
#ifndef SVM_H
#define SVM_H

#include <linux/kvm.h>

#include "perf_util.h"

/* The guest's memory and code: addresses that this program can map, too */
#define GUEST_CODE	0x10000000
#define GUEST_MEMORY	0x10000

/* Instructions of the guest's loop, without the intercepted OUT that ends the run */
#define GUEST_LOOP(rounds)	(1 + 2 * (u64)(rounds))

/**
 * struct machine - a virtual machine with one CPU
 * @fds: files of KVM, of the machine and of its CPU
 * @run: state that KVM and the program share
 * @size: bytes of @run
 * @memory: the machine's memory, GUEST_MEMORY bytes
 * @reset: segment registers after reset
 */
struct machine {
	int		fds[3];
	struct kvm_run	*run;
	size_t		size;
	unsigned char	*memory;
	struct kvm_sregs reset;
};

/* machine.c */
bool load_modules(const char *options);
int unload_module(void);
int open_kvm(void);
int make_cpu(struct machine *m);
void end_machine(struct machine *m);
int open_cpu_event(struct perf_event_attr *attr);
bool run_machine(struct machine *m, unsigned int ring, u32 rounds);
void with_machine(void (*test)(struct machine *m));

/**
 * struct exclusion - attributes of an event that exclude the host or guests
 * @name: their name in messages
 * @host: exclude_host
 * @guest: exclude_guest
 */
struct exclusion {
	const char *name;
	bool host, guest;
};

#define EXCLUSIONS	4
extern const struct exclusion exclusions[EXCLUSIONS];

extern const struct ktap_list count_cases, sample_cases;

#endif /* SVM_H */
