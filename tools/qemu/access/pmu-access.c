// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Count what a guest's kernel executes between marks that the guest sets: accesses to the registers
 * of its PMU (MRS and MSR on aarch64; RDMSR, WRMSR and RDPMC on x86_64), and instructions by
 * address. The guest has one CPU. A PMU plugin may be loaded, too.
 *
 * A mark is an instruction without effect that no compiler emits:
 *
 *	aarch64		movz xzr, #0xbec5
 *	x86_64		nopl 0xbec5bec5(%rax)
 *
 * At each mark the plugin writes a line "mark N", and a line "INSTRUCTION REGISTER COUNT" for each
 * register accessed since the last mark. A line "block ADDRESS INSTRUCTIONS COUNT" says how often
 * the kernel executed a block of that many instructions. Option: out=FILE.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/plugin.h"

const char *const plugin_name = "pmu-access";

#define MAX_REGISTERS	1024

static struct access {
	const char *kind;
	uint32_t number;
	uint64_t count;
} accesses[MAX_REGISTERS];
static unsigned int nr_accesses, nr_marks;

/* Translated blocks of the kernel: QEMU may translate a block more than once. */
#define MAX_BLOCKS	(1u << 19)

static struct block {
	uint64_t address;
	uint64_t reported;
	uint32_t nr_instructions;
} blocks[MAX_BLOCKS];
static unsigned int nr_blocks;
/* QEMU's array with the number of executions of each block */
static void *executions;

static FILE *out;
static bool is_x86;

/* QEMU's plugin interface, versions 3 to 6 */
enum { CB_NO_REGS, CB_R_REGS };
enum { INLINE_ADD_U64 };

/* A number in an element of a scoreboard, which is QEMU's array with an element for each vCPU */
struct scoreboard_u64 {
	void *scoreboard;
	size_t offset;
};

struct register_descriptor {
	void *handle;
	const char *name;
	const char *feature;
};

struct garray {
	char *data;
	unsigned int len;
};

static struct {
	void (*on_translation)(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, void *tb));
	size_t (*nr_instructions)(const void *tb);
	void *(*instruction)(const void *tb, size_t index);
	size_t (*data)(const void *instruction, void *to, size_t size);
	void (*on_execution)(void *instruction, void (*cb)(unsigned int, void *), int flags,
			     void *userdata);
	uint64_t (*block_address)(const void *tb);
	void (*on_block)(void *tb, int op, struct scoreboard_u64 entry, uint64_t operand);
	void *(*scoreboard_new)(size_t element_size);
	void *(*scoreboard_find)(void *scoreboard, unsigned int vcpu);
	struct garray *(*registers)(void);
	int (*read_register)(void *handle, struct garray *bytes);
	struct garray *(*bytes_new)(void);
	struct garray *(*bytes_resize)(struct garray *bytes, unsigned int size);
} qemu;

static const struct {
	const char *name;
	void **function;
} symbols[] = {
	{ "qemu_plugin_register_vcpu_tb_trans_cb", (void **)&qemu.on_translation },
	{ "qemu_plugin_tb_n_insns", (void **)&qemu.nr_instructions },
	{ "qemu_plugin_tb_get_insn", (void **)&qemu.instruction },
	{ "qemu_plugin_insn_data", (void **)&qemu.data },
	{ "qemu_plugin_register_vcpu_insn_exec_cb", (void **)&qemu.on_execution },
	{ "qemu_plugin_tb_vaddr", (void **)&qemu.block_address },
	{ "qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu", (void **)&qemu.on_block },
	{ "qemu_plugin_scoreboard_new", (void **)&qemu.scoreboard_new },
	{ "qemu_plugin_scoreboard_find", (void **)&qemu.scoreboard_find },
	{ "qemu_plugin_get_registers", (void **)&qemu.registers },
	{ "qemu_plugin_read_register", (void **)&qemu.read_register },
	{ "g_byte_array_new", (void **)&qemu.bytes_new },
	{ "g_byte_array_set_size", (void **)&qemu.bytes_resize },
};

static struct access *find_access(const char *kind, uint32_t number)
{
	for (unsigned int i = 0; i < nr_accesses; i++)
		if (!strcmp(accesses[i].kind, kind) && accesses[i].number == number)
			return &accesses[i];
	if (nr_accesses == MAX_REGISTERS) {
		plugin_refuse("the guest accesses more registers than the maximum, %d: run less in it",
			      MAX_REGISTERS);
		abort();
	}
	accesses[nr_accesses] = (struct access){ .kind = kind, .number = number };
	return &accesses[nr_accesses++];
}

static void report_blocks(unsigned int vcpu)
{
	const uint64_t *count = qemu.scoreboard_find(executions, vcpu);

	for (unsigned int i = 0; i < nr_blocks; i++) {
		if (count[i] != blocks[i].reported)
			fprintf(out, "block %llx %u %llu\n", (unsigned long long)blocks[i].address,
				blocks[i].nr_instructions,
				(unsigned long long)(count[i] - blocks[i].reported));
		blocks[i].reported = count[i];
	}
}

static void on_mark(unsigned int vcpu, void *unused)
{
	(void)unused;
	fprintf(out, "mark %u\n", nr_marks++);
	for (unsigned int i = 0; i < nr_accesses; i++) {
		if (accesses[i].count)
			fprintf(out, "%s 0x%x %llu\n", accesses[i].kind, accesses[i].number,
				(unsigned long long)accesses[i].count);
		accesses[i].count = 0;
	}
	report_blocks(vcpu);
	fflush(out);
}

static void on_access(unsigned int vcpu, void *access)
{
	(void)vcpu;
	((struct access *)access)->count++;
}

/* ---- aarch64: the instruction encodes the register ---- */

#define A64_MARK		0xd297d8bf	/* movz xzr, #0xbec5 */
#define A64_SYSREG_MASK		0xffd00000	/* MSR (register) and MRS */
#define A64_SYSREG		0xd5100000
/* BRB IALL and BRB INJ are SYS instructions (op0 is 1); they differ in the last bit of op2. */
#define A64_BRB_MASK		0xffffffdf
#define A64_BRB			0xd509729f
#define A64_READ		(1u << 21)
#define A64_REGISTER		0x001fffe0
/*
 * CRn is 9 for registers of the PMU and of BRBE, 14 with CRm from 8 on for counters, and 8 for
 * BRBE's records.
 */
#define A64_CRN(insn)		((insn) >> 12 & 0xf)
#define A64_CRM(insn)		((insn) >> 8 & 0xf)
#define A64_RECORD_MASK		0xffdff000
#define A64_RECORD		0xd5118000

static bool is_counted_a64(uint32_t insn)
{
	if ((insn & A64_BRB_MASK) == A64_BRB)
		return true;
	if ((insn & A64_SYSREG_MASK) != A64_SYSREG)
		return false;
	return A64_CRN(insn) == 9 || (A64_CRN(insn) == 14 && A64_CRM(insn) >= 8) ||
	       (insn & A64_RECORD_MASK) == A64_RECORD;
}

static void translate_a64(void *instruction)
{
	uint32_t insn;

	if (qemu.data(instruction, &insn, sizeof(insn)) != sizeof(insn))
		return;
	if (insn == A64_MARK) {
		qemu.on_execution(instruction, on_mark, CB_NO_REGS, NULL);
		return;
	}
	if (is_counted_a64(insn))
		qemu.on_execution(instruction, on_access, CB_NO_REGS,
				  find_access(insn & A64_READ ? "mrs" : "msr",
					      (insn & A64_REGISTER) >> 5));
}

/* ---- x86: RCX has the register's number ---- */

static const unsigned char x86_mark[] = { 0x0f, 0x1f, 0x80, 0xc5, 0xbe, 0xc5, 0xbe };

static void *find_rcx(void)
{
	static void *handle;
	struct garray *list;

	if (handle)
		return handle;
	list = qemu.registers();
	for (unsigned int i = 0; i < list->len; i++) {
		struct register_descriptor *descriptor =
			(struct register_descriptor *)list->data + i;

		if (!strcmp(descriptor->name, "rcx"))
			handle = descriptor->handle;
	}
	return handle;
}

static void on_x86_access(unsigned int vcpu, void *kind)
{
	static struct garray *bytes;
	uint32_t number = 0;

	(void)vcpu;
	if (!bytes)
		bytes = qemu.bytes_new();
	qemu.bytes_resize(bytes, 0);
	if (qemu.read_register(find_rcx(), bytes) >= (int)sizeof(number))
		memcpy(&number, bytes->data, sizeof(number));
	/* Count all registers here: the reader of the file selects those of the PMU. */
	find_access(kind, number)->count++;
}

static void translate_x86(void *instruction)
{
	static const char *const kinds[] = { [0x30] = "wrmsr", [0x32] = "rdmsr", [0x33] = "rdpmc" };
	unsigned char code[sizeof(x86_mark)];
	size_t size = qemu.data(instruction, code, sizeof(code));

	if (size == sizeof(x86_mark) && !memcmp(code, x86_mark, sizeof(x86_mark)))
		qemu.on_execution(instruction, on_mark, CB_NO_REGS, NULL);
	else if (size == 2 && code[0] == 0x0f && code[1] < ARRAY_SIZE(kinds) && kinds[code[1]])
		qemu.on_execution(instruction, on_x86_access, CB_R_REGS, (void *)kinds[code[1]]);
}

/* Addresses of the kernel have bit 63 set on both architectures. */
static void count_block(void *tb, size_t nr)
{
	uint64_t address = qemu.block_address(tb);
	struct scoreboard_u64 entry = { executions, nr_blocks * sizeof(uint64_t) };

	if (!(address >> 63))
		return;
	if (nr_blocks == MAX_BLOCKS) {
		plugin_refuse("QEMU translates more blocks than the maximum, %u: run less in the guest",
			      MAX_BLOCKS);
		abort();
	}
	blocks[nr_blocks++] = (struct block){ .address = address, .nr_instructions = nr };
	qemu.on_block(tb, INLINE_ADD_U64, entry, 1);
}

static void on_translation(qemu_plugin_id_t id, void *tb)
{
	size_t nr = qemu.nr_instructions(tb), i;

	(void)id;
	count_block(tb, nr);
	for (i = 0; i < nr; i++) {
		if (is_x86)
			translate_x86(qemu.instruction(tb, i));
		else
			translate_a64(qemu.instruction(tb, i));
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	is_x86 = !strcmp(info->target_name, "x86_64");
	if (plugin_check_target(info, is_x86 ? "x86_64" : "aarch64"))
		return 1;
	if (info->version.cur < 3 || info->version.cur > 6)
		return plugin_refuse("needs QEMU 9.0 to 11.0: other versions have another plugin interface");
	if (info->smp_vcpus != 1)
		return plugin_refuse("%d CPUs: the maximum is 1, use -smp 1", info->smp_vcpus);
	if (argc != 1 || strncmp(argv[0], "out=", 4))
		return plugin_refuse("needs one option, out=FILE");
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		*symbols[i].function = dlsym(RTLD_DEFAULT, symbols[i].name);
		if (!*symbols[i].function)
			return plugin_refuse("this QEMU does not export %s(): use QEMU 9.0 to 11.0, built with modules",
					     symbols[i].name);
	}
	out = fopen(argv[0] + 4, "w");
	if (!out)
		return plugin_refuse("cannot write '%s': name another file by out=", argv[0] + 4);
	executions = qemu.scoreboard_new(MAX_BLOCKS * sizeof(uint64_t));
	qemu.on_translation(id, on_translation);
	return 0;
}
