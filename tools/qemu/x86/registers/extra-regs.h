/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that a selector and an extra register encode: MSR_OFFCORE_RSP_0 and 1, MSR_OMR_0 to 3,
 * MSR_SNOOP_RSP_0 and 1, MSR_PEBS_FRONTEND.
 */
#ifndef TOOLS_QEMU_X86_EXTRA_REGS_H
#define TOOLS_QEMU_X86_EXTRA_REGS_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/registers/events.h"

struct x86_pmu;
struct x86_pmu_config;

enum x86_extra_reg {
	X86_EXTRA_REG_RSP_0,
	X86_EXTRA_REG_RSP_1,
	X86_EXTRA_REG_OMR_0,
	X86_EXTRA_REG_OMR_1,
	X86_EXTRA_REG_OMR_2,
	X86_EXTRA_REG_OMR_3,
	X86_EXTRA_REG_SNOOP_0,
	X86_EXTRA_REG_SNOOP_1,
	X86_EXTRA_REG_FRONTEND,
	X86_EXTRA_REGS,
};

/**
 * struct x86_extra_reg_row - an event of a microarchitecture that has an extra register
 * @code: the event's number
 * @umask: its unit mask
 * @reg: the register
 * @bits: the register's bits that the event uses; the register has the bits of all its events
 */
struct x86_extra_reg_row {
	uint16_t code;
	uint8_t umask;
	enum x86_extra_reg reg;
	uint64_t bits;
};

const char *x86_extra_reg_config_error(const struct x86_pmu_config *config);

bool x86_extra_reg_has_rsp_0(const struct x86_pmu_config *config);
bool x86_extra_reg_has_rsp_1(const struct x86_pmu_config *config);
bool x86_extra_reg_has_omr(const struct x86_pmu_config *config);
bool x86_extra_reg_has_snoop(const struct x86_pmu_config *config);
bool x86_extra_reg_has_frontend(const struct x86_pmu_config *config);

bool x86_extra_reg_read_rsp_0(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_extra_reg_read_rsp_1(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_extra_reg_read_omr(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_extra_reg_read_snoop(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_extra_reg_read_frontend(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_extra_reg_write_rsp_0(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_extra_reg_write_rsp_1(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_extra_reg_write_omr(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_extra_reg_write_snoop(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_extra_reg_write_frontend(struct x86_pmu *pmu, unsigned int i, uint64_t value);

bool x86_extra_reg_event(const struct x86_pmu *pmu, uint64_t select, bool *counts,
			 struct x86_pmu_event *event);

#endif /* TOOLS_QEMU_X86_EXTRA_REGS_H */
