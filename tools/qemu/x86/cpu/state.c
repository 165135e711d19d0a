// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The registers and the memory of an x86 vCPU between two blocks.
 *
 * In a block, QEMU keeps registers of the guest in registers of the host, and computes flags only
 * when they are needed. Between two blocks all are in CPUX86State. (QEMU's functions and types
 * below have the names of QEMU's sources.)
 */
#include <dlfcn.h>
#include <string.h>

#include "x86/qemu.h"
#include "x86/cpu/state.h"

/*
 * gdb's register numbers differ between versions of QEMU. XMM0 is the first register of 128 bits
 * after the general-purpose registers. Outside of 64-bit code there are no XMM registers.
 */
#define GDB_FIRST		X86_REGISTERS
#define GDB_LAST		80

#define VECTOR_SIZE		16

/* GLib's GByteArray; these are its public members */
struct byte_array {
	uint8_t *data;
	unsigned int len;
};

/* Functions of QEMU and GLib, found by their names */
static struct {
	int (*cpu_memory_rw_debug)(struct qemu_cpu *cpu, uint64_t addr, void *buf, size_t len,
				   bool is_write);
	uint64_t (*helper_read_eflags)(void *env);
	uint64_t (*cpu_get_tsc)(void *env);
	uint32_t (*address_space_rw)(void *space, uint64_t addr, uint64_t attrs, void *buf,
				     uint64_t len, bool is_write);
	void *address_space_memory;
	int (*x86_cpu_gdb_read_register)(struct qemu_cpu *cpu, struct byte_array *buf, int n);
	struct byte_array *(*g_byte_array_new)(void);
	struct byte_array *(*g_byte_array_set_size)(struct byte_array *array, unsigned int len);
	uint8_t *(*g_byte_array_free)(struct byte_array *array, int free_segment);
} qemu;

#define IN_QEMU(name)	{ #name, (void **)&qemu.name }

static const struct pmu_import imports[] = {
	IN_QEMU(cpu_memory_rw_debug),
	IN_QEMU(helper_read_eflags),
	IN_QEMU(cpu_get_tsc),
	IN_QEMU(address_space_rw),
	IN_QEMU(address_space_memory),
	IN_QEMU(x86_cpu_gdb_read_register),
	IN_QEMU(g_byte_array_new),
	IN_QEMU(g_byte_array_set_size),
	IN_QEMU(g_byte_array_free),
};

/**
 * x86_state_find() - find the functions of QEMU that this file needs; change nothing
 *
 * Return: 0, or non-zero after a refusal.
 */
int x86_state_find(void)
{
	return pmu_qemu_find_imports(imports, ARRAY_SIZE(imports));
}

static bool read_vector(unsigned int vcpu, unsigned int number, struct byte_array *a)
{
	qemu.g_byte_array_set_size(a, 0);
	return qemu.x86_cpu_gdb_read_register(pmu_qemu_cpu(vcpu), a, number) == VECTOR_SIZE;
}

static void read_vectors(unsigned int vcpu, struct x86_pebs_state *state)
{
	struct byte_array *a = qemu.g_byte_array_new();
	unsigned int first = GDB_FIRST, i;

	while (first < GDB_LAST && !read_vector(vcpu, first, a))
		first++;
	for (i = 0; i < X86_REGISTERS && read_vector(vcpu, first + i, a); i++)
		memcpy(state->xmm[i], a->data, VECTOR_SIZE);
	qemu.g_byte_array_free(a, true);
}

/**
 * x86_state_read_regs() - read the general-purpose registers of a vCPU
 * @vcpu: index of the vCPU; called in its thread, at the start of a block or between two blocks
 * @regs: set to the X86_REGISTERS registers
 */
void x86_state_read_regs(unsigned int vcpu, uint64_t *regs)
{
	/* CPUX86State begins with them. */
	memcpy(regs, x86_qemu_env(vcpu), X86_REGISTERS * sizeof(*regs));
}

/**
 * x86_state_read() - read the registers of a vCPU
 * @vcpu: index of the vCPU; called in its thread, at the start of a block or between two blocks
 * @state: set to the registers
 * @vectors: read the vector registers, too; otherwise they are 0
 */
void x86_state_read(unsigned int vcpu, struct x86_pebs_state *state, bool vectors)
{
	void *env = x86_qemu_env(vcpu);

	x86_state_read_regs(vcpu, state->regs);
	state->ip = x86_qemu_pc(vcpu);
	state->flags = qemu.helper_read_eflags(env);
	state->tsc = qemu.cpu_get_tsc(env);
	memset(state->xmm, 0, sizeof(state->xmm));
	if (vectors)
		read_vectors(vcpu, state);
}

/**
 * x86_state_memory() - read or write the memory of a vCPU, by the vCPU's page tables
 * @vcpu: index of the vCPU; called in its thread
 * @addr: the linear address
 * @buf: the data to write, or the buffer to read into
 * @len: number of bytes
 * @write: write, otherwise read
 *
 * Access rights are not checked, and the guest takes no fault.
 *
 * Return: false if there is no memory.
 */
bool x86_state_memory(unsigned int vcpu, uint64_t addr, void *buf, size_t len, bool write)
{
	return !qemu.cpu_memory_rw_debug(pmu_qemu_cpu(vcpu), addr, buf, len, write);
}

/**
 * x86_state_write_physical() - write physical memory
 * @addr: the address
 * @buf: the data
 * @len: number of bytes
 *
 * (MemTxAttrs without a device are a word of zeros; MEMTX_OK is 0.)
 *
 * Return: false if there is no memory.
 */
bool x86_state_write_physical(uint64_t addr, void *buf, size_t len)
{
	return !qemu.address_space_rw(qemu.address_space_memory, addr, 0, buf, len, true);
}
