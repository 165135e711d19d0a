// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit: no access of user space
 *
 * CR4.PCE, PMUSERENR_EL0 and who has which page are the machine's own; the
 * suites userread and usersmp try them in guests.
 */
#include <linux/perf_event.h>
#include <linux/sysfs.h>

#include "../../arm64/pmuv3.h"
#include "../../x86/x86.h"

static struct attribute *no_attrs[] = { NULL };

const struct attribute_group x86_user_group = { .attrs = no_attrs };

int x86_user_flags(void)
{
	return 0;
}

int x86_user_index(struct corepmu *pmu, const struct hw_perf_event *hwc)
{
	return 0;
}

void x86_user_take_over(void)
{
}

void x86_user_switch(struct corepmu_cpu *cpuc)
{
}

void x86_user_mapped(struct perf_event *event, struct mm_struct *mm)
{
}

void x86_user_unmapped(struct perf_event *event, struct mm_struct *mm)
{
}

int pmuv3_encode_user(struct pmuv3 *pmuv3, struct perf_event *event, bool is_long)
{
	return -EOPNOTSUPP;
}

int pmuv3_user_index(struct corepmu *pmu, const struct hw_perf_event *hwc)
{
	return 0;
}

void pmuv3_user_switch(struct corepmu_cpu *cpuc)
{
}

void pmuv3_user_gone(struct corepmu *pmu)
{
}

void x86_user_init(struct x86_desc *desc)
{
}

void x86_user_exit(struct x86_desc *desc)
{
}
