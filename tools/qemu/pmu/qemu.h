/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Access to QEMU for a virtual PMU of any architecture: the plugin interface, vCPUs and their
 * threads, reset, and QEMU's tables of functions.
 */
#ifndef TOOLS_QEMU_PMU_QEMU_H
#define TOOLS_QEMU_PMU_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/plugin.h"

#define PMU_VCPUS_MAX	256

/* ---- the plugin interface, as QEMU declares it ---- */

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;

/* A field of every vCPU's entry in a scoreboard (QEMU's qemu_plugin_u64) */
struct plugin_slot {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
};

/*
 * Check the size of a scoreboard's entry. With several vCPUs, generated code multiplies the vCPU's
 * index by the size: a shift is faster. Entries of different vCPUs share no cache line.
 */
#define PMU_SCORE_SIZE(type)	_Static_assert(sizeof(type) >= 128 && \
					       !(sizeof(type) & (sizeof(type) - 1)), #type)

enum plugin_cond { PLUGIN_COND_NE = 3, PLUGIN_COND_LT = 4, PLUGIN_COND_GE = 7 };
enum plugin_op { PLUGIN_ADD, PLUGIN_STORE };
enum plugin_rw { PLUGIN_READ = 1, PLUGIN_WRITE = 2, PLUGIN_READ_WRITE = 3 };

typedef void (*plugin_exec_cb)(unsigned int vcpu, void *userdata);
typedef void (*plugin_mem_cb)(unsigned int vcpu, uint32_t info, uint64_t addr, void *userdata);

/**
 * struct plugin_api - pointers to QEMU's plugin functions; member x is qemu_plugin_x()
 *
 * The flags of callbacks are always 0: the callbacks use no registers.
 */
struct plugin_api {
	size_t (*tb_n_insns)(const struct qemu_plugin_tb *tb);
	uint64_t (*tb_vaddr)(const struct qemu_plugin_tb *tb);
	struct qemu_plugin_insn *(*tb_get_insn)(const struct qemu_plugin_tb *tb, size_t i);
	size_t (*insn_data)(const struct qemu_plugin_insn *insn, void *dest, size_t len);
	size_t (*insn_size)(const struct qemu_plugin_insn *insn);
	uint64_t (*insn_vaddr)(const struct qemu_plugin_insn *insn);
	struct qemu_plugin_scoreboard *(*scoreboard_new)(size_t size);
	void *(*scoreboard_find)(struct qemu_plugin_scoreboard *score, unsigned int vcpu);
	void (*register_vcpu_tb_exec_cb)(struct qemu_plugin_tb *tb, plugin_exec_cb cb,
					 int flags, void *userdata);
	void (*register_vcpu_tb_exec_cond_cb)(struct qemu_plugin_tb *tb, plugin_exec_cb cb,
					      int flags, enum plugin_cond cond,
					      struct plugin_slot slot, uint64_t imm,
					      void *userdata);
	void (*register_vcpu_tb_exec_inline_per_vcpu)(struct qemu_plugin_tb *tb,
						      enum plugin_op op,
						      struct plugin_slot slot, uint64_t imm);
	void (*register_vcpu_insn_exec_cond_cb)(struct qemu_plugin_insn *insn,
						plugin_exec_cb cb, int flags,
						enum plugin_cond cond,
						struct plugin_slot slot, uint64_t imm,
						void *userdata);
	void (*register_vcpu_insn_exec_inline_per_vcpu)(struct qemu_plugin_insn *insn,
							enum plugin_op op,
							struct plugin_slot slot,
							uint64_t imm);
	bool (*mem_is_store)(uint32_t info);
	void (*register_vcpu_mem_cb)(struct qemu_plugin_insn *insn, plugin_mem_cb cb,
				     int flags, enum plugin_rw rw, void *userdata);
	void (*register_vcpu_mem_inline_per_vcpu)(struct qemu_plugin_insn *insn,
						  enum plugin_rw rw, enum plugin_op op,
						  struct plugin_slot slot, uint64_t imm);
};

extern struct plugin_api plugin_api;

/* ---- QEMU's functions outside of the plugin interface ---- */

/* QEMU's CPUState; this plugin knows few of its fields */
struct qemu_cpu;

/* The name of a function or variable of QEMU, and the pointer to set to it */
struct pmu_import {
	const char *name;
	void **place;
};

/* Offset of CPUState.exception_index */
extern int32_t pmu_qemu_exception_index;

int pmu_qemu_find(const struct qemu_info *info, const struct pmu_import *imports, size_t len);
int pmu_qemu_find_imports(const struct pmu_import *imports, size_t len);
void **pmu_qemu_neighbour(void **place, const void *fn);
bool pmu_qemu_replace(void *place, const void *fn, void *old);

/* Limit translated blocks to one instruction. */
int pmu_qemu_find_single(void);
void pmu_qemu_single(unsigned int vcpu, bool single);
bool pmu_qemu_is_single(void);
void pmu_qemu_leave_block(unsigned int vcpu, uintptr_t ra) __attribute__((noreturn));

struct qemu_cpu *pmu_qemu_vcpu_init(unsigned int vcpu);
struct qemu_cpu *pmu_qemu_cpu(unsigned int vcpu);
unsigned int pmu_qemu_vcpus(void);
unsigned int pmu_qemu_vcpu_of(const struct qemu_cpu *cpu);
struct qemu_cpu *pmu_qemu_current_cpu(void);
int pmu_qemu_exception(const struct qemu_cpu *cpu);

/* Run @fn in the vCPU's thread before its next block; exclusive: with all other vCPUs stopped. */
void pmu_qemu_work(unsigned int vcpu, void (*fn)(unsigned int vcpu));
void pmu_qemu_exclusive_work(unsigned int vcpu, void (*fn)(unsigned int vcpu));

/* Instrument the guest with @translate from now on, and discard all translated code. */
void pmu_qemu_instrument(void (*translate)(struct qemu_plugin_tb *tb), void (*done)(void),
			 void (*at_exit)(void));
void pmu_qemu_at_exit(qemu_plugin_id_t id, void (*at_exit)(void));
int pmu_qemu_block_snapshots(void);
void pmu_qemu_on_reset(bool (*is_reset)(const struct qemu_cpu *cpu), void (*fn)(void));

#endif /* TOOLS_QEMU_PMU_QEMU_H */
