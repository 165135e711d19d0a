/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the virtual x86 PMU needs of QEMU beyond its plugin interface, and that
 * interface itself.
 */
#ifndef TOOLS_QEMU_X86_PMU_QEMU_H
#define TOOLS_QEMU_X86_PMU_QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin.h"
#include "x86-pmu-model.h"

#define X86_QEMU_VCPUS_MAX	256

/* ---- the plugin interface, as QEMU declares it ---- */

struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_scoreboard;

/* A field of every vCPU's entry in a scoreboard (its qemu_plugin_u64). */
struct plugin_slot {
	struct qemu_plugin_scoreboard *score;
	size_t offset;
};

enum plugin_cond { PLUGIN_COND_NE = 3, PLUGIN_COND_LT = 4 };
enum plugin_op { PLUGIN_ADD, PLUGIN_STORE };
enum plugin_rw { PLUGIN_READ = 1, PLUGIN_WRITE = 2, PLUGIN_READ_WRITE = 3 };

typedef void (*plugin_exec_cb)(unsigned int vcpu, void *userdata);
typedef void (*plugin_mem_cb)(unsigned int vcpu, uint32_t info, uint64_t addr, void *userdata);

/**
 * struct plugin_api - QEMU's functions of the same names, less "qemu_plugin_"
 *
 * Flags of callbacks are always 0: they use no registers.
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
	void (*register_vcpu_mem_cb)(struct qemu_plugin_insn *insn, plugin_mem_cb cb,
				     int flags, enum plugin_rw rw, void *userdata);
	void (*register_vcpu_mem_inline_per_vcpu)(struct qemu_plugin_insn *insn,
						  enum plugin_rw rw, enum plugin_op op,
						  struct plugin_slot slot, uint64_t imm);
};

extern struct plugin_api plugin_api;

/* ---- beyond it ---- */

/**
 * struct x86_qemu_hooks - what the PMU does in place of, or besides, QEMU
 * @rdmsr: RDMSR in ring 0
 * @wrmsr: WRMSR in ring 0
 * @rdpmc: RDPMC where CR4.PCE and the ring allow it
 * @cpuid: change the result of CPUID
 * @exception: an exception is about to be taken; pc is where
 * @interrupt: an interrupt (of any kind) is about to be taken
 * @interrupted: an interrupt request of a device has been taken, in this ring
 * @reset: the machine is reset
 *
 * All but @reset are called in the vCPU's thread.
 */
struct x86_qemu_hooks {
	enum x86_pmu_access (*rdmsr)(unsigned int vcpu, uint32_t msr, uint64_t *value);
	enum x86_pmu_access (*wrmsr)(unsigned int vcpu, uint32_t msr, uint64_t value);
	enum x86_pmu_access (*rdpmc)(unsigned int vcpu, uint32_t selector, uint64_t *value);
	void (*cpuid)(uint32_t leaf, struct x86_pmu_cpuid *regs);
	void (*exception)(unsigned int vcpu, int vector, uint64_t pc, bool in_fetch, bool nested);
	void (*interrupt)(unsigned int vcpu, uint64_t pc);
	void (*interrupted)(unsigned int vcpu, enum x86_pmu_ring ring);
	void (*reset)(void);
};

int x86_qemu_find(const struct qemu_info *info);
int x86_qemu_hook(qemu_plugin_id_t id, const struct x86_qemu_hooks *hooks);
void x86_qemu_vcpu_init(unsigned int vcpu);
bool x86_qemu_vcpu_is_amd(unsigned int vcpu);

/* Called in a vCPU's thread. */
enum x86_pmu_ring x86_qemu_ring(unsigned int vcpu);
enum x86_pmu_ring x86_qemu_translating_ring(void);

/* @fn will run in the vCPU's thread before its next block; "exclusive": alone. */
void x86_qemu_work(unsigned int vcpu, void (*fn)(unsigned int vcpu));
void x86_qemu_exclusive_work(unsigned int vcpu, void (*fn)(unsigned int vcpu));

/* Called in work of the vCPU. */
uint32_t x86_qemu_lvtpc(unsigned int vcpu);
void x86_qemu_set_lvtpc(unsigned int vcpu, uint32_t lvtpc);
void x86_qemu_nmi(unsigned int vcpu);
void x86_qemu_fixed_interrupt(unsigned int vcpu, uint8_t vector);

/* Instrument the guest with @translate, from now on; forget what was before. */
void x86_qemu_instrument(void (*translate)(struct qemu_plugin_tb *tb), void (*done)(void),
			 void (*at_exit)(void));
void x86_qemu_at_exit(void (*at_exit)(void));

#endif /* TOOLS_QEMU_X86_PMU_QEMU_H */
