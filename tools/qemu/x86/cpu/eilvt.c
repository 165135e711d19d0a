// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The extended LVT of AMD's local APIC, as memory-mapped registers.
 *
 * AMD APM, volume 2, "Extended APIC Registers". QEMU's local APIC has no extended LVT: the
 * registers read as 0, which means "not masked", and Linux takes the entries as used. This file
 * maps four entries over QEMU's local APIC. (QEMU's functions and types have the names of QEMU's
 * sources.)
 */
#include <stdbool.h>
#include <stddef.h>

#include "pmu/qemu.h"
#include "x86/cpu/eilvt.h"
#include "x86/ibs/ibs.h"

#define EILVT_BASE		0xfee00500
#define EILVT_STRIDE		16

/* A priority above the local APIC's memory region (x86_cpu_apic_realize()) */
#define PRIORITY		0x2000

#define DEVICE_LITTLE_ENDIAN	2

/* struct MemoryRegionOps, with room for further members of newer versions */
struct memory_region_ops {
	uint64_t (*read)(void *opaque, uint64_t addr, unsigned int size);
	void (*write)(void *opaque, uint64_t addr, uint64_t data, unsigned int size);
	void *with_attrs[2];
	int endianness;
	uint64_t room[16];
};

/* struct MemoryRegion has less than 300 bytes. */
static uint64_t region[128];

static const struct x86_eilvt_hooks *hooks;

/* Functions of QEMU, found by their names */
static struct {
	void *(*get_system_memory)(void);
	void (*memory_region_init_io)(void *mr, void *owner, const struct memory_region_ops *ops,
				      void *opaque, const char *name, uint64_t size);
	void (*memory_region_add_subregion_overlap)(void *mr, uint64_t offset, void *subregion,
						    int priority);
} qemu;

#define IN_QEMU(name)	{ #name, (void **)&qemu.name }

static const struct pmu_import imports[] = {
	IN_QEMU(get_system_memory),
	IN_QEMU(memory_region_init_io),
	IN_QEMU(memory_region_add_subregion_overlap),
};

/*
 * Each CPU has its own table, at the same address: an access is to the table of the executing CPU.
 */
static uint64_t read_entry(void *opaque, uint64_t addr, unsigned int size)
{
	struct qemu_cpu *cpu = pmu_qemu_current_cpu();

	(void)opaque;
	(void)size;
	return cpu ? hooks->read(pmu_qemu_vcpu_of(cpu), addr / EILVT_STRIDE) : 0;
}

static void write_entry(void *opaque, uint64_t addr, uint64_t data, unsigned int size)
{
	struct qemu_cpu *cpu = pmu_qemu_current_cpu();

	(void)opaque;
	(void)size;
	if (cpu)
		hooks->write(pmu_qemu_vcpu_of(cpu), addr / EILVT_STRIDE, data);
}

static const struct memory_region_ops ops = {
	.read		= read_entry,
	.write		= write_entry,
	.endianness	= DEVICE_LITTLE_ENDIAN,
};

/**
 * x86_eilvt_find() - find the functions of QEMU that this file needs; change nothing
 *
 * Return: 0, or non-zero after a refusal.
 */
int x86_eilvt_find(void)
{
	return pmu_qemu_find_imports(imports, ARRAY_SIZE(imports));
}

/**
 * x86_eilvt_add() - map the table into the memory of the machine, once
 * @h: access to the entries; must stay valid
 *
 * Called from QEMU's main thread, once the machine exists.
 */
void x86_eilvt_add(const struct x86_eilvt_hooks *h)
{
	if (hooks)
		return;
	hooks = h;
	qemu.memory_region_init_io(region, NULL, &ops, NULL, "x86-pmu-eilvt",
				   X86_IBS_EILVT_ENTRIES * EILVT_STRIDE);
	qemu.memory_region_add_subregion_overlap(qemu.get_system_memory(), EILVT_BASE, region,
						 PRIORITY);
}
