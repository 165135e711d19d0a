/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PMU of qemu-system-aarch64 as the arm64 plugins know it: its table of events and its system
 * registers. arm64/internals.c finds and checks them.
 */
#ifndef TOOLS_QEMU_ARM64_INTERNALS_H
#define TOOLS_QEMU_ARM64_INTERNALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* QEMU's CPUARMState; the plugins use only offsets found in QEMU */
struct arm64_env;

/**
 * struct arm64_qemu_event - one event of QEMU's PMU (its pm_event)
 * @number: the architecture's event number
 * @supported: check whether this CPU has the event
 * @get_count: return the event's count since power-up
 * @ns_per_count: return the time in ns that @count events take; negative if no time can be given.
 *	QEMU sets its overflow timer by this.
 */
struct arm64_qemu_event {
	uint16_t number;
	bool (*supported)(struct arm64_env *env);
	uint64_t (*get_count)(struct arm64_env *env);
	int64_t (*ns_per_count)(uint64_t count);
};

/* Indexes of the table, in QEMU's order */
enum {
	ARM64_PMU_SW_INCR,
	ARM64_PMU_INST_RETIRED,
	ARM64_PMU_CPU_CYCLES,
	ARM64_PMU_STALL_FRONTEND,
	ARM64_PMU_STALL_BACKEND,
	ARM64_PMU_STALL,
	ARM64_PMU_EVENTS
};

/* How QEMU computes the distance of an event counter to its overflow */
enum arm64_pmu_distance {
	ARM64_PMU_DISTANCE_UNKNOWN,	/* code not recognised */
	ARM64_PMU_DISTANCE_SHORT,	/* -(count + 1): one event short */
	ARM64_PMU_DISTANCE_RIGHT,	/* -count */
};

/**
 * struct arm64_sysreg - one system register of one CPU (QEMU's ARMCPRegInfo)
 *
 * Members that the plugins do not use are not described.
 * @name: name in the architecture
 * @type: ARM64_SYSREG_CONST and other bits
 * @access: the levels that may read and write the register
 * @fgt: the register's fine-grained trap
 * @nv2: offset in the memory of a nested hypervisor (FEAT_NV2), 0 for none
 * @opaque: private to the code that adds the register
 * @fieldoffset: offset of the value in struct arm64_env, 0 for none
 * @readfn: called to read the register, or NULL
 * @writefn: called to write the register, or NULL
 */
struct arm64_sysreg {
	const char *name;
	uint8_t cp;
	uint8_t crn;
	uint8_t crm;
	uint8_t op0;
	uint8_t op1;
	uint8_t op2;
	uint32_t state;
	uint32_t type;
	uint32_t access;
	uint32_t reserved0;
	uint32_t fgt;
	uint32_t nv2;
	void *opaque;
	uint64_t resetvalue;
	ptrdiff_t fieldoffset;
	ptrdiff_t reserved1[2];
	void *accessfn;
	uint64_t (*readfn)(struct arm64_env *env, const struct arm64_sysreg *reg);
	void (*writefn)(struct arm64_env *env, const struct arm64_sysreg *reg, uint64_t value);
};

/* struct arm64_sysreg.type: the register's value becomes part of generated code */
#define ARM64_SYSREG_CONST	(1u << 4)

/* struct arm64_sysreg.access: a level's rights, which the levels above have, too */
#define ARM64_SYSREG_EL0_RW	0xffu
#define ARM64_SYSREG_EL1_RW	0xfcu
#define ARM64_SYSREG_EL1_R	0xa8u
#define ARM64_SYSREG_EL1_W	0x54u
#define ARM64_SYSREG_EL2_RW	0xf0u

/* The operands of MRS and MSR that encode a system register */
struct arm64_sysreg_id {
	uint8_t op0;
	uint8_t op1;
	uint8_t crn;
	uint8_t crm;
	uint8_t op2;
};

struct arm64_qemu_event *arm64_pmu_events(void);
enum arm64_pmu_distance arm64_pmu_distance(const struct arm64_qemu_event *events);
int arm64_sysreg_init(void);
int32_t arm64_env_offset(void);
struct arm64_env *arm64_env(unsigned int vcpu);
struct arm64_sysreg *arm64_sysreg(struct arm64_env *env, const char *name,
				  struct arm64_sysreg_id id);
bool arm64_sysreg_added(struct arm64_env *env, const char *name, struct arm64_sysreg_id id);

/**
 * arm64_sysreg_value() - return the value of a register in CPUARMState
 * @env: the CPU
 * @reg: the register, which must have a @fieldoffset
 */
static inline uint64_t arm64_sysreg_value(struct arm64_env *env, const struct arm64_sysreg *reg)
{
	return *(uint64_t *)((char *)env + reg->fieldoffset);
}

#endif /* TOOLS_QEMU_ARM64_INTERNALS_H */
