// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit: no access of user space
 *
 * CR4.PCE, PMUSERENR_EL0 and who has which page are the machine's own; the
 * suites userread and usersmp try them in guests.
 */
#include <linux/perf_event.h>

#include "../../arm64/pmuv3.h"

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
