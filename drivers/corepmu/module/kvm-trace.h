/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: probes on KVM's tracepoints kvm_entry and kvm_exit
 */
#ifndef _COREPMU_KVM_TRACE_H
#define _COREPMU_KVM_TRACE_H

#include <linux/kconfig.h>
#include <linux/tracepoint.h>

/* kunit/ compiles the users a second time, with tracepoints in software. */
#ifdef COREPMU_KUNIT
#include <models/tracepoint.h>
#else
#define kernel_has_tracepoints()	IS_ENABLED(CONFIG_TRACEPOINTS)
#define kernel_has_kvm_module()		IS_MODULE(CONFIG_KVM)
#endif

int corepmu_kvm_trace_init(void *entered, void *left);
void corepmu_kvm_trace_exit(void);

#endif /* _COREPMU_KVM_TRACE_H */
