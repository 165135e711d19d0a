// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Let a vCPU that spins sleep.
 *
 * Kernels spin while they wait for another CPU: for a lock, or for the answer to an IPI. A vCPU is
 * a thread of the host. With more vCPUs than free host CPUs, a spinning vCPU takes the host CPU
 * that the awaited vCPU needs, until the host's scheduler switches. QEMU does not yield: in MTTCG
 * it translates WFE and YIELD to nothing.
 *
 * Spinning code executes an instruction for that purpose in each round: PAUSE on x86 (Intel SDM,
 * volume 2, "PAUSE"); YIELD or WFE on arm64 (Arm ARM DDI 0487, C6.2, "YIELD", "WFE"). A vCPU sleeps
 * SLEEP_NS after SPINS of these instructions within SPIN_NS. An interrupt waits until then.
 */
#include <dlfcn.h>
#include <string.h>
#include <time.h>

#include "common/plugin.h"

const char *const plugin_name = "spin-sleep";

#define MAX_VCPUS	64

/* PAUSE also leaves QEMU's translated code, and takes as long as many other instructions. */
#define SPINS_A64	64
#define SPINS_X86	16
#define SPIN_NS		20000
#define SLEEP_NS	50000

#define A64_YIELD	0xd503203f
#define A64_WFE		0xd503205f

static const unsigned char x86_pause[] = { 0xf3, 0x90 };

/* QEMU's plugin interface from version 3 on, which is QEMU 9.1 */
#define VERSION_MIN		3
#define VERSION_USERDATA	7
enum { CB_NO_REGS };
enum { COND_GE = 7 };
enum { INLINE_ADD_U64 };

/* A number in an element of a scoreboard, which is QEMU's array with an element for each vCPU */
struct scoreboard_u64 {
	void *scoreboard;
	size_t offset;
};

static struct {
	void (*on_translation)(qemu_plugin_id_t id, void (*cb)(void), void *userdata);
	size_t (*nr_instructions)(const void *tb);
	void *(*instruction)(const void *tb, size_t index);
	size_t (*data)(const void *instruction, void *to, size_t size);
	size_t (*size)(const void *instruction);
	void (*on_execution_inline)(void *instruction, int op, struct scoreboard_u64 entry,
				    uint64_t operand);
	void (*on_execution_if)(void *instruction, void (*cb)(unsigned int, void *), int flags,
				int condition, struct scoreboard_u64 entry, uint64_t operand,
				void *userdata);
	void *(*scoreboard_new)(size_t element_size);
	void (*set)(struct scoreboard_u64 entry, unsigned int vcpu, uint64_t value);
} qemu;

static const struct {
	const char *name;
	void **function;
} symbols[] = {
	{ "qemu_plugin_register_vcpu_tb_trans_cb", (void **)&qemu.on_translation },
	{ "qemu_plugin_tb_n_insns", (void **)&qemu.nr_instructions },
	{ "qemu_plugin_tb_get_insn", (void **)&qemu.instruction },
	{ "qemu_plugin_insn_data", (void **)&qemu.data },
	{ "qemu_plugin_insn_size", (void **)&qemu.size },
	{ "qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu",
	  (void **)&qemu.on_execution_inline },
	{ "qemu_plugin_register_vcpu_insn_exec_cond_cb", (void **)&qemu.on_execution_if },
	{ "qemu_plugin_scoreboard_new", (void **)&qemu.scoreboard_new },
	{ "qemu_plugin_u64_set", (void **)&qemu.set },
};

static bool is_x86;
/* Instructions of spinning since the last callback, by vCPU */
static struct scoreboard_u64 spins;
/* Time of the last callback, by vCPU */
static uint64_t last_ns[MAX_VCPUS];

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}

static void has_spun(unsigned int vcpu, void *unused)
{
	static const struct timespec pause = { .tv_nsec = SLEEP_NS };
	uint64_t now = now_ns();

	(void)unused;
	qemu.set(spins, vcpu, 0);
	if (now - last_ns[vcpu] < SPIN_NS) {
		nanosleep(&pause, NULL);
		now = now_ns();
	}
	last_ns[vcpu] = now;
}

static bool is_spin(const void *instruction)
{
	unsigned char code[sizeof(uint32_t)];
	size_t size = qemu.size(instruction);
	uint32_t a64;

	if (size != (is_x86 ? sizeof(x86_pause) : sizeof(a64)) ||
	    qemu.data(instruction, code, size) != size)
		return false;
	if (is_x86)
		return !memcmp(code, x86_pause, size);
	memcpy(&a64, code, size);
	return a64 == A64_YIELD || a64 == A64_WFE;
}

static void translate(const void *tb)
{
	size_t nr = qemu.nr_instructions(tb), i;

	for (i = 0; i < nr; i++) {
		void *instruction = qemu.instruction(tb, i);

		if (!is_spin(instruction))
			continue;
		qemu.on_execution_inline(instruction, INLINE_ADD_U64, spins, 1);
		qemu.on_execution_if(instruction, has_spun, CB_NO_REGS, COND_GE, spins,
				     is_x86 ? SPINS_X86 : SPINS_A64, NULL);
	}
}

static void on_translation(qemu_plugin_id_t id, void *tb)
{
	(void)id;
	translate(tb);
}

static void on_translation_userdata(void *tb, void *userdata)
{
	(void)userdata;
	translate(tb);
}

/**
 * qemu_plugin_install() - install the plugin; QEMU calls this function when it loads the plugin
 * @id: QEMU's identifier of this plugin
 * @info: QEMU's information for plugins
 * @argc: number of options; there are none
 * @argv: the options
 *
 * Return: 0, or non-zero to make QEMU exit.
 */
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	is_x86 = !strcmp(info->target_name, "x86_64");
	if (plugin_options(argc, argv, NULL, 0) ||
	    plugin_check_target(info, is_x86 ? "x86_64" : "aarch64"))
		return 1;
	if (info->max_vcpus > MAX_VCPUS)
		return plugin_refuse("%d CPUs: the maximum is %d, use a smaller -smp",
				     info->max_vcpus, MAX_VCPUS);
	if (info->version.cur < VERSION_MIN)
		return plugin_refuse("needs QEMU 9.1 or newer: older versions have another plugin interface");
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		*symbols[i].function = dlsym(RTLD_DEFAULT, symbols[i].name);
		if (!*symbols[i].function)
			return plugin_refuse("this QEMU does not export %s(): use QEMU 9.1 or newer, built with modules",
					     symbols[i].name);
	}
	spins.scoreboard = qemu.scoreboard_new(sizeof(uint64_t));
	qemu.on_translation(id, info->version.cur >= VERSION_USERDATA ?
			    (void (*)(void))on_translation_userdata :
			    (void (*)(void))on_translation, NULL);
	return 0;
}
