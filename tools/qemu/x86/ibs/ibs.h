/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instruction-based sampling (IBS) of AMD: after a number of fetches, micro-ops or cycles, the CPU
 * tags an instruction and reports its execution in registers.
 */
#ifndef TOOLS_QEMU_X86_IBS_H
#define TOOLS_QEMU_X86_IBS_H

#include <stdbool.h>
#include <stdint.h>

struct x86_pebs_access;
struct x86_pmu;
struct x86_pmu_config;

enum x86_ibs_unit {
	X86_IBS_FETCH,
	X86_IBS_OP,
	X86_IBS_UNITS
};

/**
 * struct x86_ibs_config - properties of IBS
 * @present: the PMU has IBS
 * @late: fault: every Nth sample shows the next instruction, 0 for none
 */
struct x86_ibs_config {
	bool present;
	uint64_t late;
};

/**
 * struct x86_ibs_counter - one of the two units
 * @ctl: IbsFetchCtl, IbsOpCtl, without the counts
 * @max: the count at which the unit tags an instruction
 * @value: the unit's count
 * @seen: the CPU's count at the last update of @value
 * @due: the unit tags the next instruction that retires
 */
struct x86_ibs_counter {
	uint64_t ctl;
	uint64_t max;
	uint64_t value;
	uint64_t seen;
	bool due;
};

/* Registers that a sample sets; the registers of each unit are in the order of their numbers */
enum x86_ibs_sample {
	X86_IBS_FETCH_LIN_AD,
	X86_IBS_FETCH_PHYS_AD,
	X86_IBS_OP_RIP,
	X86_IBS_OP_DATA,
	X86_IBS_OP_DATA2,
	X86_IBS_OP_DATA3,
	X86_IBS_DC_LIN_AD,
	X86_IBS_DC_PHYS_AD,
	X86_IBS_SAMPLE_REGISTERS
};

#define X86_IBS_EILVT_ENTRIES	4

/**
 * struct x86_ibs - instruction-based sampling of one CPU
 * @counter: the units
 * @sample: the registers of samples
 * @eilvt: entries of x2APIC's extended LVT
 * @put_off: the due sample has been delayed already, see @late of struct x86_ibs_config
 * @samples: statistics: number of samples
 * @inexact: statistics: samples that were due while the CPU did not report each instruction
 */
struct x86_ibs {
	struct x86_ibs_counter counter[X86_IBS_UNITS];
	uint64_t sample[X86_IBS_SAMPLE_REGISTERS];
	uint64_t eilvt[X86_IBS_EILVT_ENTRIES];
	bool put_off;

	uint64_t samples;
	uint64_t inexact;
};

/* For the model and the vendors' files */
void x86_ibs_reset(struct x86_pmu *pmu);
const char *x86_ibs_config_error(const struct x86_pmu_config *config);
uint32_t x86_ibs_needs(const struct x86_pmu *pmu);
bool x86_ibs_is_due(const struct x86_pmu *pmu);
bool x86_ibs_step(struct x86_pmu *pmu, uint64_t ip, const struct x86_pebs_access *access);
uint32_t x86_ibs_capabilities(void);

/* Functions for rows of registers: @present, @read and @write of struct x86_pmu_msr_row */
bool x86_ibs_present(const struct x86_pmu_config *config);
bool x86_ibs_read_fetch_ctl(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_ibs_write_fetch_ctl(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_ibs_read_op_ctl(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_ibs_write_op_ctl(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_ibs_read_fetch(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_ibs_write_fetch(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_ibs_read_op(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_ibs_write_op(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_ibs_read_control(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_ibs_read_eilvt(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_ibs_write_eilvt(struct x86_pmu *pmu, unsigned int i, uint64_t value);

#endif /* TOOLS_QEMU_X86_IBS_H */
