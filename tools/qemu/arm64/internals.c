// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the PMU of qemu-system-aarch64.
 *
 * In the executable, neither the table of events nor the functions that use it have names. The
 * functions that refer to them have names, so the plugin searches their code. Each function below
 * checks all known properties of its result. (QEMU's functions and types below have the names of
 * its target/arm sources.)
 *
 * The plugin decodes x86-64 code, so it needs a QEMU that runs on an x86-64 host.
 */
#include <dlfcn.h>
#include <string.h>

#include "arm64/internals.h"
#include "common/image.h"
#include "common/plugin.h"

#if !defined(__x86_64__) || !defined(__LP64__)
#error "the arm64 plugins decode x86-64 code and need an x86-64 host"
#endif

_Static_assert(sizeof(struct arm64_qemu_event) == 32, "stride of QEMU's pm_events[]");
_Static_assert(offsetof(struct arm64_qemu_event, ns_per_count) == 0x18, "pm_event");
_Static_assert(offsetof(struct arm64_sysreg, opaque) == 0x28, "ARMCPRegInfo");
_Static_assert(offsetof(struct arm64_sysreg, resetvalue) == 0x30, "ARMCPRegInfo");
_Static_assert(offsetof(struct arm64_sysreg, fieldoffset) == 0x38, "ARMCPRegInfo");
_Static_assert(offsetof(struct arm64_sysreg, readfn) == 0x58, "ARMCPRegInfo");
_Static_assert(offsetof(struct arm64_sysreg, writefn) == 0x60, "ARMCPRegInfo");

/* Maximum of bytes to search in a function without a name */
#define FUNCTION_MAX	0x180

/* Set by arm64_sysreg_init() */
static int32_t env_offset;
static void *(*qemu_get_cpu)(int index);
static struct arm64_sysreg *(*lookup_cp_reg)(struct arm64_env *env, uint32_t key);

/* Return the address in lea disp32(%rip),%r64 (seven bytes); NULL for another instruction. */
static const void *lea_rip(const uint8_t *p)
{
	if ((p[0] & 0xfb) != 0x48 || p[1] != 0x8d || (p[2] & 0xc7) != 0x05)
		return NULL;
	return image_rel32(p + 3);
}

static bool is_text_pointer(uintptr_t fn)
{
	return image_is_text((const void *)fn, 1);
}

/*
 * Check all known properties of the table: it lies in QEMU's data, it has the six event numbers in
 * order, and each entry has three functions of QEMU. (A function that another plugin has installed
 * fails this check.)
 */
static bool is_event_table(const struct arm64_qemu_event *events)
{
	static const uint16_t numbers[ARM64_PMU_EVENTS] = {
		[ARM64_PMU_SW_INCR]		= 0x00,
		[ARM64_PMU_INST_RETIRED]	= 0x08,
		[ARM64_PMU_CPU_CYCLES]		= 0x11,
		[ARM64_PMU_STALL_FRONTEND]	= 0x23,
		[ARM64_PMU_STALL_BACKEND]	= 0x24,
		[ARM64_PMU_STALL]		= 0x3c,
	};

	if ((uintptr_t)events % _Alignof(struct arm64_qemu_event))
		return false;
	if (!image_is_data(events, sizeof(*events) * ARM64_PMU_EVENTS))
		return false;

	for (size_t i = 0; i < ARM64_PMU_EVENTS; i++) {
		const struct arm64_qemu_event *e = &events[i];

		if (e->number != numbers[i] ||
		    !is_text_pointer((uintptr_t)e->supported) ||
		    !is_text_pointer((uintptr_t)e->get_count) ||
		    !is_text_pointer((uintptr_t)e->ns_per_count))
			return false;
	}
	return true;
}

/**
 * arm64_pmu_events() - find QEMU's table of PMU events, pm_events[]
 *
 * pmu_init() walks the table, so its code has the table's address.
 *
 * Return: the table, or NULL after a refusal.
 */
struct arm64_qemu_event *arm64_pmu_events(void)
{
	struct image_code code;

	if (!image_function("pmu_init", &code)) {
		plugin_refuse("this QEMU does not export pmu_init(): use QEMU 7.2 to 11.1, built with modules");
		return NULL;
	}

	for (size_t i = 0; i + 7 <= code.len; i++) {
		const void *target = lea_rip(code.start + i);

		if (target && is_event_table(target))
			return (struct arm64_qemu_event *)target;
	}

	plugin_refuse("pmu_init() refers to no table of the six known events: another PMU plugin is loaded (load one), or this QEMU is not 7.2 to 11.1");
	return NULL;
}

/*
 * pmevcntr_op_finish() is the only caller of ns_per_count(). Its code is
 *
 *	delta = -(count + 1);				not	%reg
 *	if (!64 bit)
 *		delta = (uint32_t)delta;
 *	overflow_in = pm_events[i].ns_per_count(delta);	lea	pm_events,%reg
 *							call	*0x18(%reg,%reg)
 *
 * For -count the compiler would generate "neg %reg".
 */
static enum arm64_pmu_distance distance_in(struct image_code code,
					   const struct arm64_qemu_event *events)
{
	bool not = false, neg = false;
	size_t lea, call;

	for (lea = 0; lea + 7 <= code.len; lea++)
		if (lea_rip(code.start + lea) == events)
			break;
	for (call = lea + 7; call + 4 <= code.len && call < lea + 32; call++)
		if (code.start[call] == 0xff && code.start[call + 1] == 0x54 &&
		    code.start[call + 3] == offsetof(struct arm64_qemu_event, ns_per_count))
			break;
	if (call + 4 > code.len || call >= lea + 32)
		return ARM64_PMU_DISTANCE_UNKNOWN;

	/* 64-bit "not" and "neg" of a register: REX.W f7 /2 and /3 */
	for (size_t i = call > 64 ? call - 64 : 0; i + 3 <= call; i++) {
		const uint8_t *p = code.start + i;

		if ((p[0] & 0xfe) != 0x48 || p[1] != 0xf7)
			continue;
		not |= (p[2] & 0xf8) == 0xd0;
		neg |= (p[2] & 0xf8) == 0xd8;
	}

	if (not == neg)
		return ARM64_PMU_DISTANCE_UNKNOWN;
	return not ? ARM64_PMU_DISTANCE_SHORT : ARM64_PMU_DISTANCE_RIGHT;
}

/**
 * arm64_pmu_distance() - find out how QEMU computes the distance to an overflow
 * @events: QEMU's table
 *
 * pmu_op_finish() calls pmevcntr_op_finish(), which the compiler may have inlined. So this function
 * searches pmu_op_finish() and each function that it calls.
 */
enum arm64_pmu_distance arm64_pmu_distance(const struct arm64_qemu_event *events)
{
	enum arm64_pmu_distance distance;
	struct image_code code;

	if (!image_function("pmu_op_finish", &code))
		return ARM64_PMU_DISTANCE_UNKNOWN;

	distance = distance_in(code, events);
	for (size_t i = 0; !distance && i + 5 <= code.len; i++)
		if (code.start[i] == 0xe8)
			distance = distance_in(image_code_at(image_rel32(code.start + i + 1),
							     FUNCTION_MAX), events);
	return distance;
}

/* In pmu_init(): lea env(%cpu),%rdi; call *supported(%event) */
static int32_t env_offset_in_pmu_init(void)
{
	struct image_code code;
	int32_t offset;

	if (!image_function("pmu_init", &code))
		return 0;

	for (size_t i = 0; i + 10 <= code.len; i++) {
		const uint8_t *p = code.start + i;

		if ((p[0] & 0xfe) != 0x48 || p[1] != 0x8d || (p[2] & 0xf8) != 0xb8)
			continue;
		if (p[7] != 0xff || (p[8] & 0xf8) != 0x50 ||
		    p[9] != offsetof(struct arm64_qemu_event, supported))
			continue;
		memcpy(&offset, p + 3, sizeof(offset));
		return offset;
	}
	return 0;
}

/* In arm_pmu_timer_cb(): lea env(%rdi),%reg */
static int32_t env_offset_in_timer(void)
{
	struct image_code code;
	int32_t offset;

	if (!image_function("arm_pmu_timer_cb", &code))
		return 0;

	for (size_t i = 0; i + 7 <= code.len; i++) {
		const uint8_t *p = code.start + i;

		if ((p[0] & 0xfb) != 0x48 || p[1] != 0x8d || (p[2] & 0xc7) != 0x87)
			continue;
		memcpy(&offset, p + 3, sizeof(offset));
		return offset;
	}
	return 0;
}

/**
 * arm64_sysreg_init() - find the functions and the offset for access to system registers
 *
 * QEMU looks up registers by CPUARMState, which is a member of the ARMCPU that qemu_get_cpu()
 * returns. The code of two functions must have the same offset of that member.
 *
 * Return: 0, or non-zero after a refusal.
 */
int arm64_sysreg_init(void)
{
	struct image_code code;

	if (!image_function("qemu_get_cpu", &code))
		return plugin_refuse("this QEMU does not export qemu_get_cpu(): use QEMU 10.0 to 11.1, built with modules");
	qemu_get_cpu = (void *(*)(int))(uintptr_t)code.start;

	if (!image_function("helper_lookup_cp_reg", &code))
		return plugin_refuse("this QEMU does not export helper_lookup_cp_reg(): use QEMU 10.0 to 11.1, built with modules");
	lookup_cp_reg = (struct arm64_sysreg *(*)(struct arm64_env *, uint32_t))
			(uintptr_t)code.start;

	env_offset = env_offset_in_pmu_init();
	if (env_offset <= 0 || env_offset != env_offset_in_timer())
		return plugin_refuse("cannot tell where this QEMU keeps the state of a CPU: use QEMU 10.0 to 11.1");
	return 0;
}

/**
 * arm64_env_offset() - return the offset of CPUARMState in ARMCPU
 */
int32_t arm64_env_offset(void)
{
	return env_offset;
}

/**
 * arm64_env() - return the CPUARMState of a vCPU
 * @vcpu: index of the vCPU
 */
struct arm64_env *arm64_env(unsigned int vcpu)
{
	return (struct arm64_env *)((char *)qemu_get_cpu(vcpu) + env_offset);
}

static struct arm64_sysreg *look_up(struct arm64_env *env, struct arm64_sysreg_id id)
{
	/* ENCODE_AA64_CP_REG(): bits that mark AArch64, then the operands as in an instruction */
	uint32_t key = 1u << 28 | 0x13u << 16 | id.op0 << 14 | id.op1 << 11 |
		       id.crn << 7 | id.crm << 3 | id.op2;

	return lookup_cp_reg(env, key);
}

/* Compare the encoding first: it differs if QEMU's structure has another layout. */
static bool is_like(const struct arm64_sysreg *reg, const char *name, struct arm64_sysreg_id id)
{
	return reg && reg->op0 == id.op0 && reg->op1 == id.op1 && reg->crn == id.crn &&
	       reg->crm == id.crm && reg->op2 == id.op2 && !strcmp(reg->name, name);
}

/**
 * arm64_sysreg_added() - check whether QEMU has a register that a plugin has added
 * @env: the CPU
 * @name: the register's name
 * @id: its encoding
 */
bool arm64_sysreg_added(struct arm64_env *env, const char *name, struct arm64_sysreg_id id)
{
	return is_like(look_up(env, id), name, id);
}

/**
 * arm64_sysreg() - find a system register
 * @env: the CPU
 * @name: the register's name in the architecture
 * @id: its encoding
 *
 * If the CPU has no such register, QEMU aborts at an assertion. (All CPUs with AArch64 have the
 * PMU's registers.)
 *
 * Return: the register, or NULL after a refusal.
 */
struct arm64_sysreg *arm64_sysreg(struct arm64_env *env, const char *name,
				  struct arm64_sysreg_id id)
{
	struct arm64_sysreg *reg = look_up(env, id);

	if (!is_like(reg, name, id) ||
	    (reg->readfn && !is_text_pointer((uintptr_t)reg->readfn)) ||
	    (reg->writefn && !is_text_pointer((uintptr_t)reg->writefn))) {
		plugin_refuse("this QEMU has an unknown %s: use QEMU 10.0 to 11.1", name);
		return NULL;
	}
	return reg;
}
