// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: branch records as a feature of events
 */
#include <corepmu/branch.h>
#include <corepmu/features.h>

const struct corepmu_feature_ops corepmu_branch_feature = {
	.open		= corepmu_branch_open,
	.close		= corepmu_branch_close,
	.check_group	= corepmu_branch_check_group,
	.fits		= corepmu_branch_fits,
	.add		= corepmu_branch_add,
	.del		= corepmu_branch_del,
	.start		= corepmu_branch_start,
	.stop		= corepmu_branch_pause,
	.interrupt	= corepmu_branch_interrupt,
	.sample		= corepmu_branch_sample,
	.sample_end	= corepmu_branch_sample_end,
	.sched_task	= corepmu_branch_switch,
};
