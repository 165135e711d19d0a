// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: find x86_pmu.cntval_bits, the kernel's width of counters for user space
 *
 * arch_perf_update_userpage() copies x86_pmu.cntval_bits to pmc_width of an event's page. Without
 * the built-in driver the member is 0. The type of x86_pmu is private to the kernel
 * (arch/x86/events/perf_event.h), so the driver must find the member's address. BTF has the
 * member's offset (btf.c). Without BTF, the driver decodes arch_perf_update_userpage(): its only
 * operand within x86_pmu is this member.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/align.h>
#include <linux/limits.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/types.h>

#include <corepmu/ksyms.h>
#include <corepmu/module.h>

#include "btf.h"
#include "msr.h"
#include "x86.h"

/* Opcodes of the loads */

#define OPCODE_MOV		0x8b
#define OPCODE_TWO_BYTES	0x0f
#define OPCODE_MOVZX		0xb7
/* ModRM: mod 00, r/m 101, an operand at RIP + disp32 */
#define MODRM_RIP_MASK		0xc7
#define MODRM_RIP		0x05
#define DISPLACEMENT_BYTES	sizeof(s32)

#define CODE_BYTES_MAX		1024
#define DATA_BYTES_MAX		1024

static bool __corepmu_init loads_from_rip(const u8 *modrm)
{
	if ((modrm[0] & MODRM_RIP_MASK) != MODRM_RIP)
		return false;

	return modrm[-1] == OPCODE_MOV ||
	       (modrm[-1] == OPCODE_MOVZX && modrm[-2] == OPCODE_TWO_BYTES);
}

/* Search exactly this function: the functions next to it load other members. */
static __corepmu_init int *find_by_code(unsigned long data, unsigned long function)
{
	unsigned long size = corepmu_symbol_size(function), found = 0, at;
	const u8 *modrm, *end;
	s32 displacement;

	if (size <= 2 + DISPLACEMENT_BYTES || size > CODE_BYTES_MAX)
		return NULL;

	end = (const u8 *)function + size - DISPLACEMENT_BYTES;
	for (modrm = (const u8 *)function + 2; modrm < end; modrm++) {
		if (!loads_from_rip(modrm))
			continue;
		memcpy(&displacement, modrm + 1, sizeof(displacement));
		at = (unsigned long)(modrm + 1 + sizeof(displacement)) + displacement;
		if (at < data || at >= data + DATA_BYTES_MAX || !IS_ALIGNED(at, sizeof(int)))
			continue;
		if (found && found != at)
			return NULL;
		found = at;
	}

	return (int *)found;
}

/**
 * x86_find_cntval_bits() - find the width of counters that the kernel copies to pmc_width
 *
 * Process context.
 *
 * Return: address of x86_pmu.cntval_bits, or NULL after a message
 */
__corepmu_init int *x86_find_cntval_bits(void)
{
	unsigned long function = corepmu_find_symbol("arch_perf_update_userpage");
	unsigned long data = corepmu_find_symbol("x86_pmu");
	int *bits;

	if (!function || !data) {
		pr_notice("this kernel hides the address of %s (CONFIG_KALLSYMS_ALL is needed): rdpmc is disabled; use read()\n",
			  function ? "x86_pmu" : "arch_perf_update_userpage");
		return NULL;
	}

	if (x86_is_read_only(data)) {
		pr_notice("x86_pmu is read-only in this kernel, so cntval_bits cannot be set: rdpmc is disabled; use read()\n");
		return NULL;
	}

	bits = x86_pmu_member("cntval_bits", sizeof(*bits));
	if (!bits)
		bits = find_by_code(data, function);
	if (!bits)
		pr_notice("x86_pmu.cntval_bits not found: no BTF (CONFIG_DEBUG_INFO_BTF), and arch_perf_update_userpage() has unknown code: rdpmc is disabled; use read()\n");

	return bits;
}
