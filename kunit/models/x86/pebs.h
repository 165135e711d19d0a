/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: contents of the model's PEBS records, which all have the same values
 */
#ifndef _COREPMU_KUNIT_PEBS_H
#define _COREPMU_KUNIT_PEBS_H

#include <linux/types.h>

struct page;
struct x86_ds;
struct x86_model;

/* RAX; each further register is one more, in the order of format 3 */
#define PEBS_MODEL_REGS		0x1000
#define PEBS_MODEL_XMM		0x2000
#define PEBS_MODEL_FLAGS	0x202
#define PEBS_MODEL_ADDRESS	0x7ffff000ULL
#define PEBS_MODEL_LATENCY	77
#define PEBS_MODEL_TSC		123456
/* Length of an instruction in bytes */
#define PEBS_MODEL_LENGTH	4

extern unsigned int pebs_model_mapped;
extern bool pebs_model_guests;
extern bool pebs_model_no_latency;

int x86_ds_find(void);
struct x86_ds *x86_ds_area(int cpu);
void *x86_ds_map(int cpu, struct page *page);
void x86_ds_unmap(int cpu);

bool pebs_model_read(struct x86_model *m, u32 msr, u64 *value, const char **name);
bool pebs_model_write(struct x86_model *m, u32 msr, u64 value);
u64 *pebs_model_put_counters(const struct x86_model *m, u64 *at, u64 recorded, bool metrics);
u64 pebs_model_overflow(struct x86_model *m, u64 set, bool *interrupt);

/* x86_model_cpu.pebs for architectural PEBS */
#define PEBS_MODEL_ARCH		15

/* pebs-arch.c */
u32 pebs_arch_model_groups(void);
u64 acr_model_counters(void);
u64 acr_model_overflow(struct x86_model *m, u64 set);
bool pebs_arch_model_read(struct x86_model *m, u32 msr, u64 *value, const char **name);
bool pebs_arch_model_write(struct x86_model *m, u32 msr, u64 value);
u64 pebs_arch_model_overflow(struct x86_model *m, u64 set, bool *interrupt);

#endif /* _COREPMU_KUNIT_PEBS_H */
