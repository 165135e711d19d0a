/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: model of the kernel's tracepoints, and of those of the module kvm
 */
#ifndef _COREPMU_KUNIT_TRACEPOINT_H
#define _COREPMU_KUNIT_TRACEPOINT_H

#include <linux/notifier.h>
#include <linux/tracepoint.h>
#include <linux/types.h>

extern const char *tracepoint_model_hidden;
extern bool tracepoint_model_kvm_is_module;
void tracepoint_model_for_each(void (*fn)(struct tracepoint *tp, void *priv), void *priv);
int tracepoint_model_register(struct tracepoint *tp, void *probe, void *data);
int tracepoint_model_unregister(struct tracepoint *tp, void *probe, void *data);
int tracepoint_model_register_notifier(struct notifier_block *block);
int tracepoint_model_unregister_notifier(struct notifier_block *block);
void tracepoint_model_load_kvm(bool load);
void *tracepoint_model_probe(const char *name);
unsigned int tracepoint_model_nr_probes(void);
void tracepoint_model_reset(void);

#define kernel_has_tracepoints()	true
#define kernel_has_kvm_module()		tracepoint_model_kvm_is_module
#define for_each_kernel_tracepoint(fn, priv)	tracepoint_model_for_each(fn, priv)
#define tracepoint_probe_register(tp, probe, data)	tracepoint_model_register(tp, probe, data)
#define tracepoint_probe_unregister(tp, probe, data)	\
	tracepoint_model_unregister(tp, probe, data)
#define register_tracepoint_module_notifier(block)	\
	tracepoint_model_register_notifier(block)
#define unregister_tracepoint_module_notifier(block)	\
	tracepoint_model_unregister_notifier(block)
#define tracepoint_synchronize_unregister()	do { } while (0)

#endif /* _COREPMU_KUNIT_TRACEPOINT_H */
