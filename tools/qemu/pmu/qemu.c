// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Access to QEMU for a virtual PMU of any architecture.
 *
 * A QEMU built with loadable modules exports its functions. Tables hold pointers to some of them,
 * which can be replaced. (QEMU's functions and types below have the names of QEMU's sources.)
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "common/image.h"
#include "pmu/qemu.h"

#if !defined(__x86_64__) || !defined(__LP64__)
#error "the virtual PMUs decode x86-64 code and need an x86-64 host"
#endif

/* From this interface version on, every callback has an argument for user data. */
#define VERSION_USERDATA	7

/* The greatest distance in a table between functions of interest; their order varies */
#define NEIGHBOURHOOD		10

union work_data {
	uint64_t value;
	void (*fn)(unsigned int vcpu);
};

/* Any callback; its arguments depend on the interface version. */
typedef void (*callback)(void);

typedef void (*work_fn)(struct qemu_cpu *cpu, union work_data data);

/* QEMU's Error */
struct qemu_error;

struct plugin_api plugin_api;

int32_t pmu_qemu_exception_index;

/*
 * CPUState.tcg_cflags: the flags that QEMU translates blocks with, and looks blocks up by. The
 * lowest bits limit the instructions of a block. QEMU's -one-insn-per-tb sets the bits of
 * CF_ONE_INSN (curr_cflags()).
 */
static int32_t cflags_offset;
#define CF_COUNT_MASK		0x1ffu
#define CF_NO_GOTO_TB		0x200u
#define CF_ONE_INSN		(CF_NO_GOTO_TB | 1)

/* Functions of QEMU, found by their names */
static struct {
	struct qemu_cpu *(*qemu_get_cpu)(int index);
	void (*async_run_on_cpu)(struct qemu_cpu *cpu, work_fn fn, union work_data data);
	void (*async_safe_run_on_cpu)(struct qemu_cpu *cpu, work_fn fn, union work_data data);
	void (*qemu_register_reset)(void (*fn)(void *opaque), void *opaque);
	void (*error_setg_internal)(struct qemu_error **errp, const char *src, int line,
				    const char *func, const char *fmt, ...);
	void (*cpu_loop_exit_restore)(struct qemu_cpu *cpu, uintptr_t ra) __attribute__((noreturn));
	int (*migrate_add_blocker)(struct qemu_error **reason, struct qemu_error **errp);
	void (*qemu_plugin_reset)(qemu_plugin_id_t id, callback cb, void *userdata);
	void (*qemu_plugin_register_vcpu_tb_trans_cb)(qemu_plugin_id_t id, callback cb,
						      void *userdata);
	void (*qemu_plugin_register_atexit_cb)(qemu_plugin_id_t id, callback cb,
					       void *userdata);
} qemu;

#define IN_QEMU(name)	{ #name, (void **)&qemu.name }
#define IN_API(name)	{ "qemu_plugin_" #name, (void **)&plugin_api.name }

static const struct pmu_import common_imports[] = {
	IN_API(tb_n_insns),
	IN_API(tb_vaddr),
	IN_API(tb_get_insn),
	IN_API(insn_data),
	IN_API(insn_size),
	IN_API(insn_vaddr),
	IN_API(scoreboard_new),
	IN_API(scoreboard_find),
	IN_API(register_vcpu_tb_exec_cb),
	IN_API(register_vcpu_tb_exec_cond_cb),
	IN_API(register_vcpu_tb_exec_inline_per_vcpu),
	IN_API(register_vcpu_insn_exec_cond_cb),
	IN_API(register_vcpu_insn_exec_inline_per_vcpu),
	IN_API(mem_is_store),
	IN_API(register_vcpu_mem_cb),
	IN_API(register_vcpu_mem_inline_per_vcpu),
	IN_QEMU(qemu_plugin_reset),
	IN_QEMU(qemu_plugin_register_vcpu_tb_trans_cb),
	IN_QEMU(qemu_plugin_register_atexit_cb),
	IN_QEMU(qemu_get_cpu),
	IN_QEMU(async_run_on_cpu),
	IN_QEMU(async_safe_run_on_cpu),
	IN_QEMU(qemu_register_reset),
	IN_QEMU(error_setg_internal),
	IN_QEMU(cpu_loop_exit_restore),
	IN_QEMU(migrate_add_blocker),
};

static struct qemu_cpu *cpus[PMU_VCPUS_MAX];
static unsigned int nr_vcpus;

/* The number of CPUs of the machine, also before plugin_on_vcpu_init() has reported them */
static int machine_cpus;

static bool userdata_callbacks;
static qemu_plugin_id_t plugin_id;

/* ---- finding functions and fields ---- */

/**
 * pmu_qemu_find_imports() - find functions and variables by their names
 * @imports: the names, and the pointers to set
 * @len: number of @imports
 *
 * Return: 0, or non-zero after a refusal.
 */
int pmu_qemu_find_imports(const struct pmu_import *imports, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		*imports[i].place = dlsym(RTLD_DEFAULT, imports[i].name);
		if (!*imports[i].place)
			return plugin_refuse("this QEMU does not export %s(): use QEMU 10.0 to 11.1, built with modules",
					     imports[i].name);
	}
	return 0;
}

/* cpu_loop_exit_noexc() sets exception_index to -1: movl $-1,exception_index(%rdi) */
static bool find_exception_index(void)
{
	static const uint8_t minus_one[4] = { 0xff, 0xff, 0xff, 0xff };
	struct image_code code;

	if (!image_function("cpu_loop_exit_noexc", &code))
		return false;
	for (size_t i = 0; i + 10 <= code.len; i++) {
		const uint8_t *p = code.start + i;

		if (p[0] == 0xc7 && p[1] == 0x87 && !memcmp(p + 6, minus_one, 4)) {
			pmu_qemu_exception_index = image_disp32(p + 2);
			return pmu_qemu_exception_index > 0;
		}
	}
	return false;
}

static bool is_parallel(void)
{
	const bool *variable = dlsym(RTLD_DEFAULT, "mttcg_enabled");
	bool (*function)(void);

	function = dlsym(RTLD_DEFAULT, "qemu_tcg_mttcg_enabled");
	return function ? function() : variable && *variable;
}

static int check_accelerator(const struct qemu_info *info)
{
	const bool *tcg = dlsym(RTLD_DEFAULT, "tcg_allowed");

	if (!tcg || !*tcg)
		return plugin_refuse("needs QEMU's own emulation: run QEMU with -accel tcg");
	if (info->max_vcpus > PMU_VCPUS_MAX)
		return plugin_refuse("%d CPUs: the maximum is %d, use a smaller -smp",
				     info->max_vcpus, PMU_VCPUS_MAX);
	if (info->max_vcpus != info->smp_vcpus)
		return plugin_refuse("all CPUs must be there from the start: use -smp without maxcpus=");
	if (info->max_vcpus > 1 && !is_parallel())
		return plugin_refuse("several CPUs in one thread (-icount, thread=single) crash in QEMU's plugin code, use -smp 1 or -accel tcg,thread=multi");
	return 0;
}

/**
 * pmu_qemu_find() - find the functions and fields of QEMU that every PMU needs; change nothing
 * @info: QEMU's information for plugins
 * @imports: further functions and variables that this PMU needs
 * @len: number of @imports
 *
 * Return: 0, or non-zero after a refusal.
 */
int pmu_qemu_find(const struct qemu_info *info, const struct pmu_import *imports, size_t len)
{
	if (check_accelerator(info) ||
	    pmu_qemu_find_imports(common_imports, ARRAY_SIZE(common_imports)) ||
	    pmu_qemu_find_imports(imports, len))
		return 1;
	if (!dlsym(RTLD_DEFAULT, "current_cpu"))
		return plugin_refuse("this QEMU does not export current_cpu: use QEMU 10.0 to 11.1");
	if (!find_exception_index())
		return plugin_refuse("cannot tell where this QEMU keeps CPUState.exception_index: use QEMU 10.0 to 11.1");
	userdata_callbacks = info->version.cur >= VERSION_USERDATA;
	machine_cpus = info->smp_vcpus;
	return 0;
}

/**
 * pmu_qemu_find_single() - find the field that pmu_qemu_single() sets; change nothing
 *
 * tcg_cflags_set() has one instruction besides its return: or %esi,tcg_cflags(%rdi)
 *
 * Return: 0, or non-zero after a refusal.
 */
int pmu_qemu_find_single(void)
{
	struct image_code code;

	for (size_t i = 0; image_function("tcg_cflags_set", &code) && i + 6 <= code.len; i++) {
		const uint8_t *p = code.start + i;

		if (p[0] != 0x09 || p[1] != 0xb7)
			continue;
		cflags_offset = image_disp32(p + 2);
		if (cflags_offset > 0 && cflags_offset % sizeof(uint32_t) == 0)
			return 0;
	}
	return plugin_refuse("cannot tell where this QEMU keeps CPUState.tcg_cflags: use QEMU 10.0 to 11.1");
}

/**
 * pmu_qemu_neighbour() - find a function's entry in a table, near a known entry
 * @place: the known entry
 * @fn: the function
 *
 * Return: the entry; NULL if @fn has none, or more than one, within NEIGHBOURHOOD.
 */
void **pmu_qemu_neighbour(void **place, const void *fn)
{
	void **found = NULL;

	if (!image_is_data(place - NEIGHBOURHOOD, 2 * NEIGHBOURHOOD * sizeof(*place)))
		return NULL;
	for (int i = -NEIGHBOURHOOD; i < NEIGHBOURHOOD; i++) {
		if (place[i] != fn)
			continue;
		if (found)
			return NULL;
		found = &place[i];
	}
	return found;
}

/**
 * pmu_qemu_replace() - replace a function in a table of QEMU
 * @place: the function's entry in the table
 * @fn: the new function
 * @old: the function pointer to set to the old function
 *
 * Return: true if the entry could be changed.
 */
bool pmu_qemu_replace(void *place, const void *fn, void *old)
{
	memcpy(old, place, sizeof(fn));
	return image_patch(place, &fn, sizeof(fn));
}

/* ---- vCPUs ---- */

/**
 * pmu_qemu_vcpu_init() - note a new vCPU, which QEMU may not have completed yet
 * @vcpu: index of the vCPU
 *
 * Return: the vCPU's CPUState.
 */
struct qemu_cpu *pmu_qemu_vcpu_init(unsigned int vcpu)
{
	cpus[vcpu] = qemu.qemu_get_cpu(vcpu);
	if (vcpu >= nr_vcpus)
		nr_vcpus = vcpu + 1;
	return cpus[vcpu];
}

/**
 * pmu_qemu_cpu() - return the CPUState of a known vCPU
 * @vcpu: index of the vCPU
 */
struct qemu_cpu *pmu_qemu_cpu(unsigned int vcpu)
{
	return cpus[vcpu];
}

/**
 * pmu_qemu_vcpus() - return the number of known vCPUs
 */
unsigned int pmu_qemu_vcpus(void)
{
	return nr_vcpus;
}

/**
 * pmu_qemu_vcpu_of() - return the index of a known vCPU; QEMU exits if the vCPU is unknown
 * @cpu: the vCPU's CPUState
 */
unsigned int pmu_qemu_vcpu_of(const struct qemu_cpu *cpu)
{
	for (unsigned int i = 0; i < nr_vcpus; i++)
		if (cpus[i] == cpu)
			return i;
	plugin_refuse("an unknown CPU executes instructions: use QEMU 10.0 to 11.1");
	exit(1);
}

/* QEMU's thread-local variable current_cpu */
static struct qemu_cpu **current_cpu(void)
{
	static __thread struct qemu_cpu **address;

	if (!address)
		address = dlsym(RTLD_DEFAULT, "current_cpu");
	return address;
}

/**
 * pmu_qemu_current_cpu() - return the vCPU that this thread executes
 */
struct qemu_cpu *pmu_qemu_current_cpu(void)
{
	return *current_cpu();
}

/**
 * pmu_qemu_exception() - return the exception that a vCPU is about to take
 * @cpu: the vCPU
 */
int pmu_qemu_exception(const struct qemu_cpu *cpu)
{
	return image_disp32((const uint8_t *)cpu + pmu_qemu_exception_index);
}

static uint32_t *cflags_of(struct qemu_cpu *cpu)
{
	return (uint32_t *)((char *)cpu + cflags_offset);
}

/**
 * pmu_qemu_single() - have a vCPU execute blocks of one instruction, or of the usual size
 * @vcpu: index of the vCPU; called in its thread
 * @single: blocks of one instruction
 *
 * This holds from the next block that QEMU looks up. QEMU does not look up blocks that are chained
 * to the present one; queued work makes the vCPU leave them.
 */
void pmu_qemu_single(unsigned int vcpu, bool single)
{
	uint32_t *cflags = cflags_of(cpus[vcpu]);

	*cflags &= ~(CF_COUNT_MASK | CF_NO_GOTO_TB);
	if (single)
		*cflags |= CF_ONE_INSN;
}

/**
 * pmu_qemu_is_single() - check whether QEMU is translating a block of one instruction
 */
bool pmu_qemu_is_single(void)
{
	return cflags_offset && (*cflags_of(pmu_qemu_current_cpu()) & CF_COUNT_MASK) == 1;
}

/**
 * pmu_qemu_leave_block() - make a vCPU look up again the block that it has just begun
 * @vcpu: index of the vCPU; called in a callback at the block's start
 * @ra: the callback's return address, in the block's code
 *
 * QEMU restores its own count of instructions.
 */
void pmu_qemu_leave_block(unsigned int vcpu, uintptr_t ra)
{
	qemu.cpu_loop_exit_restore(cpus[vcpu], ra);
}

static void run_work(struct qemu_cpu *cpu, union work_data data)
{
	struct qemu_cpu *before = *current_cpu();

	/* One thread may run the work of several CPUs. */
	*current_cpu() = cpu;
	data.fn(pmu_qemu_vcpu_of(cpu));
	*current_cpu() = before;
}

void pmu_qemu_work(unsigned int vcpu, void (*fn)(unsigned int vcpu))
{
	qemu.async_run_on_cpu(cpus[vcpu], run_work, (union work_data) { .fn = fn });
}

void pmu_qemu_exclusive_work(unsigned int vcpu, void (*fn)(unsigned int vcpu))
{
	qemu.async_safe_run_on_cpu(cpus[vcpu], run_work, (union work_data) { .fn = fn });
}

/* ---- reset ---- */

static bool (*is_cpu_reset)(const struct qemu_cpu *cpu);
static void (*reset_handler)(void);

static void check_cpus(void)
{
	for (int i = 0; i < machine_cpus; i++) {
		const struct qemu_cpu *cpu = qemu.qemu_get_cpu(i);

		if (!cpu || is_cpu_reset(cpu))
			continue;
		plugin_refuse("finds a CPU that is not in the state of reset at power-up: use QEMU 10.0 to 11.1");
		exit(1);
	}
}

/*
 * The first reset of the machine is power-up: QEMU reset each CPU when it created the CPU, and no
 * CPU has run since. A later reset may call this function before it resets the CPUs, so that their
 * state proves nothing.
 */
static void on_reset(void *opaque)
{
	static bool powered_up;

	(void)opaque;
	if (!powered_up)
		check_cpus();
	powered_up = true;
	reset_handler();
}

/**
 * pmu_qemu_on_reset() - have a function called when the machine is reset
 * @is_reset: check whether a CPU is in its state of reset; called for each CPU at power-up. If a
 *	CPU is not, QEMU exits: the plugin does not know the layout of this QEMU's CPU
 * @fn: the function
 */
void pmu_qemu_on_reset(bool (*is_reset)(const struct qemu_cpu *cpu), void (*fn)(void))
{
	is_cpu_reset = is_reset;
	reset_handler = fn;
	qemu.qemu_register_reset(on_reset, NULL);
}

/* ---- snapshots ---- */

/**
 * pmu_qemu_block_snapshots() - have QEMU refuse to save the machine (savevm, migration)
 *
 * QEMU cannot save a plugin's state: a guest that loadvm restores would find the counters as at
 * power-up.
 *
 * Return: 0, or non-zero after a refusal.
 */
int pmu_qemu_block_snapshots(void)
{
	static struct qemu_error *reason;

	qemu.error_setg_internal(&reason, __FILE__, __LINE__, __func__,
				 "%s: the PMU's state cannot be saved: run QEMU without the plugin to save or migrate the machine",
				 plugin_name);
	if (qemu.migrate_add_blocker(&reason, NULL))
		return plugin_refuse("the PMU's state cannot be saved: run QEMU without -only-migratable, or without the plugin");
	return 0;
}

/* ---- instrumentation ---- */

static void (*translate_block)(struct qemu_plugin_tb *tb);
static void (*next_translate)(struct qemu_plugin_tb *tb);
static void (*instrumented)(void);
static void (*exit_handler)(void);

static void translate_plain(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	translate_block(tb);
}

static void translate_userdata(struct qemu_plugin_tb *tb, void *userdata)
{
	(void)userdata;
	translate_block(tb);
}

static void on_exit_callback(void)
{
	exit_handler();
}

/* Runs with all vCPUs stopped, after QEMU has discarded all translated code. */
static void register_all(void)
{
	callback translated = (callback)translate_plain;

	/* Until here other vCPUs may translate blocks with the previous callback. */
	translate_block = next_translate;
	if (userdata_callbacks)
		translated = (callback)translate_userdata;
	if (translate_block)
		qemu.qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, translated, NULL);
	qemu.qemu_plugin_register_atexit_cb(plugin_id, on_exit_callback, NULL);
	instrumented();
}

/**
 * pmu_qemu_instrument() - have all blocks translated again, and instrumented
 * @translate: called for each block that QEMU translates; NULL to instrument none
 * @done: called when all translated code is discarded
 * @at_exit: called when QEMU exits
 *
 * Called in work of a vCPU, after pmu_qemu_at_exit(). QEMU discards the translated code before the
 * vCPU's next block.
 */
void pmu_qemu_instrument(void (*translate)(struct qemu_plugin_tb *tb), void (*done)(void),
			 void (*at_exit)(void))
{
	next_translate = translate;
	instrumented = done;
	exit_handler = at_exit;
	qemu.qemu_plugin_reset(plugin_id, register_all, NULL);
}

/**
 * pmu_qemu_at_exit() - have a function called when QEMU exits
 * @id: QEMU's identifier of this plugin
 * @at_exit: the function
 */
void pmu_qemu_at_exit(qemu_plugin_id_t id, void (*at_exit)(void))
{
	plugin_id = id;
	exit_handler = at_exit;
	qemu.qemu_plugin_register_atexit_cb(plugin_id, on_exit_callback, NULL);
}
