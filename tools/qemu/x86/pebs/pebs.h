/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Precise samples of an x86 core PMU (Intel's PEBS): when a counter overflows, the CPU writes a
 * record of the instruction to memory.
 */
#ifndef TOOLS_QEMU_X86_PEBS_H
#define TOOLS_QEMU_X86_PEBS_H

#include <stdbool.h>
#include <stdint.h>

#include "x86/registers/events.h"

/* The general-purpose registers by their numbers in instructions; as many vector registers */
enum {
	X86_AX, X86_CX, X86_DX, X86_BX, X86_SP, X86_BP, X86_SI, X86_DI,
	X86_REGISTERS = 16
};

/* The format in IA32_PERF_CAPABILITIES if CPUID leaf 0x23 reports the details */
#define X86_PEBS_ARCHITECTURAL	15

/* The number of counters in struct x86_pmu */
#define X86_PEBS_COUNTERS	23

/**
 * struct x86_pebs_config - properties of PEBS
 * @format: format of the records: 3, 4, 6, or X86_PEBS_ARCHITECTURAL; 0 without PEBS
 * @fragments: every Nth architectural record has several fragments, 0 for none
 * @late: fault: every Nth record shows the next instruction, 0 for none
 * @empty: fault: every Nth record is not written, but signalled, 0 for none
 * @stale: fault: every Nth record does not reload the counter, 0 for none
 */
struct x86_pebs_config {
	unsigned int format;
	uint64_t fragments;
	uint64_t late;
	uint64_t empty;
	uint64_t stale;
};

/**
 * struct x86_pebs_access - an instruction's first load and first store
 * @loads: the instruction loads
 * @stores: the instruction stores
 * @load: linear address of the load
 * @store: linear address of the store
 */
struct x86_pebs_access {
	bool loads;
	bool stores;
	uint64_t load;
	uint64_t store;
};

/**
 * struct x86_pebs_state - registers of a CPU between two instructions
 * @regs: the general-purpose registers, by X86_AX and so on
 * @ip: address of the next instruction
 * @flags: RFLAGS
 * @tsc: the time-stamp counter
 * @xmm: the vector registers, 128 bits each; 0 unless requested
 */
struct x86_pebs_state {
	uint64_t regs[X86_REGISTERS];
	uint64_t ip;
	uint64_t flags;
	uint64_t tsc;
	uint64_t xmm[X86_REGISTERS][2];
};

/**
 * struct x86_pebs - PEBS of one CPU
 * @ds_area: IA32_DS_AREA
 * @enable: IA32_PEBS_ENABLE
 * @data_cfg: MSR_PEBS_DATA_CFG
 * @ld_lat: MSR_PEBS_LD_LAT_THRESHOLD
 * @base: IA32_PEBS_BASE
 * @index: IA32_PEBS_INDEX
 * @cfg_c: IA32_PMC_GP_CFG_C and IA32_PMC_FX_CFG_C, by index in struct x86_pmu
 * @near: bitmap, by index in struct x86_pmu, of the counters so near to an overflow that the CPU
 *	reports each instruction; above them the units of instruction-based sampling
 * @window: the advance of instructions, branches and cycles in the block of x86_pmu_near(), or 0
 * @due: bitmap, by index, of the overflowed counters with a record to write
 * @rings: bitmap of the rings with instructions that the CPU reports
 * @put_off: the due record has been delayed already, see @late of struct x86_pebs_config
 * @records: statistics: number of due records
 * @written: statistics: written records
 * @full: statistics: records that did not fit into the buffer
 * @unmapped: statistics: records with no memory at an address
 * @inexact: statistics: overflows while the CPU did not report each instruction
 */
struct x86_pebs {
	uint64_t ds_area;
	uint64_t enable;
	uint64_t data_cfg;
	uint64_t ld_lat;
	uint64_t base;
	uint64_t index;
	uint64_t cfg_c[X86_PEBS_COUNTERS];
	uint32_t near;
	unsigned int window;
	uint32_t due;
	unsigned int rings;
	bool put_off;

	uint64_t records;
	uint64_t written;
	uint64_t full;
	uint64_t unmapped;
	uint64_t inexact;
};

struct x86_pmu;
struct x86_pmu_config;
struct x86_pmu_cpuid;

unsigned int x86_pebs_latency(uint64_t addr);

/* For the model and the vendors' files */
const char *x86_pebs_config_error(const struct x86_pmu_config *config);
uint64_t x86_pebs_capabilities(const struct x86_pmu_config *config);
void x86_pebs_reset(struct x86_pmu *pmu);
bool x86_pebs_takes(const struct x86_pmu *pmu, unsigned int i);
void x86_pebs_overflow(struct x86_pmu *pmu, unsigned int i);
bool x86_pebs_is_near(struct x86_pmu *pmu, unsigned int i, uint64_t *steps);
bool x86_pebs_is_in_window(const struct x86_pmu *pmu, enum x86_pmu_kind kind, uint64_t *steps);
bool x86_pebs_overflows(struct x86_pmu *pmu);
void x86_pebs_look(struct x86_pmu *pmu);
bool x86_pebs_is_on(const struct x86_pmu *pmu);
uint64_t x86_pebs_status(const struct x86_pmu_config *config);

/*
 * Return the value of a counter after a reload with @value. @beyond: counts since the overflow;
 * they are added to @value, less whole periods.
 */
static inline uint64_t x86_pebs_begin(uint64_t beyond, uint64_t value, uint64_t mask)
{
	uint64_t period = -value & mask;

	return (value + (period ? beyond % period : beyond)) & mask;
}

/* arch.c */
bool x86_pebs_arch_is_on(const struct x86_pmu *pmu);
bool x86_pebs_arch_takes(const struct x86_pmu *pmu, unsigned int i);
uint64_t x86_pebs_arch_reload(const struct x86_pmu *pmu, unsigned int i);
void x86_pebs_arch_leaf(const struct x86_pmu_config *config, uint64_t reported, uint32_t subleaf,
			struct x86_pmu_cpuid *regs);

/* Functions for rows of registers: @present, @read and @write of struct x86_pmu_msr_row */
bool x86_pebs_present(const struct x86_pmu_config *config);
bool x86_pebs_in_ds(const struct x86_pmu_config *config);
bool x86_pebs_adaptive(const struct x86_pmu_config *config);
bool x86_pebs_architectural(const struct x86_pmu_config *config);
bool x86_pebs_read_ds_area(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_pebs_write_ds_area(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_pebs_read_enable(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_pebs_write_enable(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_pebs_read_data_cfg(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_pebs_write_data_cfg(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_pebs_read_ld_lat(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_pebs_write_ld_lat(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_pebs_read_base(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_pebs_write_base(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_pebs_read_index(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_pebs_write_index(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_pebs_read_gp_cfg_c(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_pebs_write_gp_cfg_c(struct x86_pmu *pmu, unsigned int i, uint64_t value);
bool x86_pebs_read_fx_cfg_c(struct x86_pmu *pmu, unsigned int i, uint64_t *value);
bool x86_pebs_write_fx_cfg_c(struct x86_pmu *pmu, unsigned int i, uint64_t value);

#endif /* TOOLS_QEMU_X86_PEBS_H */
