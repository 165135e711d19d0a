// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the functions of QEMU and the fields of its CPU state that the virtual x86 PMU needs.
 *
 * The layout of QEMU's CPU state comes from the code of small functions, and is compared with other
 * functions or with the values after reset. The code is x86-64 code, so this needs a QEMU that runs
 * on an x86-64 host.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "common/image.h"
#include "common/plugin.h"
#include "x86/find.h"
#include "x86/qemu.h"

/* The distance from CPUX86State.eip to .hflags, in all known versions */
#define EIP_TO_HFLAGS		0x30

struct x86_qemu_functions x86_qemu;
struct x86_qemu_offset x86_qemu_offset;
struct x86_qemu_places x86_qemu_places;
bool x86_qemu_apic_msr_wants_apic;

#define IN_QEMU(name)	{ #name, (void **)&x86_qemu.name }

static const struct pmu_import imports[] = {
	IN_QEMU(cpu_interrupt),
	IN_QEMU(cpu_loop_exit),
	IN_QEMU(raise_exception_err_ra),
	IN_QEMU(address_space_rw),
	IN_QEMU(address_space_memory),
	IN_QEMU(cpu_get_current_apic),
	IN_QEMU(apic_msr_read),
	IN_QEMU(apic_msr_write),
	IN_QEMU(cpu_x86_cpuid),
	IN_QEMU(cpu_svm_check_intercept_param),
	IN_QEMU(x86_cpu_pending_interrupt),
	IN_QEMU(x86_cpu_do_interrupt),
	IN_QEMU(x86_cpu_exec_interrupt),
	IN_QEMU(x86_cpu_tlb_fill),
};

/*
 * helper_rdpmc() begins
 *
 *	if (!(env->cr[4] & CR4_PCE_MASK) && (env->hflags & HF_CPL_MASK))
 *						testb $1,cr4+1(%rdi)
 *						testb $3,hflags(%rdi)
 */
static bool find_env_fields(void)
{
	struct image_code code;

	if (!image_function("helper_rdpmc", &code))
		return false;
	for (size_t i = 0; i + 7 <= code.len; i++) {
		const uint8_t *p = code.start + i;

		if (p[0] != 0xf6 || p[1] != 0x87)
			continue;
		if (p[6] == CR4_PCE >> 8 && !x86_qemu_offset.cr4)
			x86_qemu_offset.cr4 = image_disp32(p + 2) - 1;
		if (p[6] == HF_CPL_MASK && !x86_qemu_offset.hflags)
			x86_qemu_offset.hflags = image_disp32(p + 2);
	}
	x86_qemu_offset.eip = x86_qemu_offset.hflags - EIP_TO_HFLAGS;
	return x86_qemu_offset.cr4 > 0 && x86_qemu_offset.eip > 0 &&
	       x86_qemu_offset.cr4 % 8 == 0 && x86_qemu_offset.eip % 8 == 0;
}

/*
 * x86_cpu_do_interrupt() reads exception_index, and passes env to do_vmexit():
 *
 *	mov exception_index(%r),%r32
 *	lea env(%r),%rdi	...	jmp do_vmexit
 */
static bool find_env(void)
{
	const uint8_t *vmexit = dlsym(RTLD_DEFAULT, "do_vmexit");
	bool read_index = false;
	struct image_code code;
	int32_t env = 0;

	if (!vmexit || !image_function("x86_cpu_do_interrupt", &code))
		return false;
	for (size_t i = 0; i + 7 <= code.len; i++) {
		const uint8_t *p = code.start + i;

		if (p[0] == 0x8b && (p[1] & 0xc0) == 0x80 &&
		    image_disp32(p + 2) == pmu_qemu_exception_index)
			read_index = true;
		else if (p[0] == 0x48 && p[1] == 0x8d && (p[2] & 0xf8) == 0xb8)
			env = image_disp32(p + 3);
		else if ((p[0] == 0xe9 || p[0] == 0xe8) && image_rel32(p + 1) == vmexit)
			x86_qemu_offset.env = env;
	}
	return read_index && x86_qemu_offset.env > 0 && x86_qemu_offset.env % 16 == 0;
}

static struct helper_info *find_helper(const char *name)
{
	struct helper_info *info;
	char symbol[64];
	void *func;

	snprintf(symbol, sizeof(symbol), "helper_info_%s", name);
	info = dlsym(RTLD_DEFAULT, symbol);
	snprintf(symbol, sizeof(symbol), "helper_%s", name);
	func = dlsym(RTLD_DEFAULT, symbol);

	if (!info || !func || !image_is_data(info, sizeof(*info)) || info->func != func ||
	    !image_is_data(info->name, strlen(name) + 1) || strcmp(info->name, name)) {
		plugin_refuse("helper_info_%s is not as expected: another PMU plugin is loaded (load one), or this QEMU is not 10.0 to 11.1",
			      name);
		return NULL;
	}
	return info;
}

static bool is_ops(void **place)
{
	return pmu_qemu_neighbour(place, x86_qemu.x86_cpu_exec_interrupt) &&
	       pmu_qemu_neighbour(place, x86_qemu.x86_cpu_tlb_fill);
}

static bool find_ops(void)
{
	x86_qemu_places.do_interrupt = image_find_pointer(x86_qemu.x86_cpu_do_interrupt, is_ops);
	if (!x86_qemu_places.do_interrupt)
		return false;
	x86_qemu_places.exec_interrupt = pmu_qemu_neighbour(x86_qemu_places.do_interrupt,
							    x86_qemu.x86_cpu_exec_interrupt);
	x86_qemu_places.tlb_fill = pmu_qemu_neighbour(x86_qemu_places.do_interrupt,
						      x86_qemu.x86_cpu_tlb_fill);
	return true;
}

/* apic_msr_read() finds the APIC itself (10.0), or takes it as an argument (11.1). */
static bool find_apic_call(void)
{
	struct image_code code;
	const uint8_t *get = (const uint8_t *)x86_qemu.cpu_get_current_apic;

	if (!image_function("apic_msr_read", &code))
		return false;
	x86_qemu_apic_msr_wants_apic = true;
	for (size_t i = 0; i + 5 <= code.len; i++)
		if (code.start[i] == 0xe8 && image_rel32(code.start + i + 1) == get)
			x86_qemu_apic_msr_wants_apic = false;
	return true;
}

/**
 * x86_qemu_find() - find the functions and fields of QEMU that the PMU needs; change nothing
 * @info: QEMU's information for plugins
 *
 * Return: 0, or non-zero after a refusal.
 */
int x86_qemu_find(const struct qemu_info *info)
{
	if (pmu_qemu_find(info, imports, ARRAY_SIZE(imports)))
		return 1;
	if (!find_env_fields() || !find_env())
		return plugin_refuse("cannot tell where this QEMU keeps the state of a CPU: use QEMU 10.0 to 11.1");
	if (!find_ops())
		return plugin_refuse("finds no table of QEMU's functions for interrupts: another PMU plugin is loaded (load one), or this QEMU is not 10.0 to 11.1");
	if (!find_apic_call())
		return plugin_refuse("cannot tell how to call this QEMU's apic_msr_read(): use QEMU 10.0 to 11.1");

	x86_qemu_places.rdmsr = find_helper("rdmsr");
	x86_qemu_places.wrmsr = x86_qemu_places.rdmsr ? find_helper("wrmsr") : NULL;
	x86_qemu_places.rdpmc = x86_qemu_places.wrmsr ? find_helper("rdpmc") : NULL;
	x86_qemu_places.cpuid = x86_qemu_places.rdpmc ? find_helper("cpuid") : NULL;
	x86_qemu_places.vmrun = x86_qemu_places.cpuid ? find_helper("vmrun") : NULL;
	return !x86_qemu_places.vmrun;
}
