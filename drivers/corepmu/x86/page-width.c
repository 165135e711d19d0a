// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: where the kernel has the width of counters that user space reads
 *
 * arch_perf_update_userpage() copies x86_pmu.cntval_bits to pmc_width of an event's
 * page, and without the built-in driver that is 0. The type of x86_pmu is the
 * kernel's own (arch/x86/events/perf_event.h), so where the member is has to be found:
 * BTF says it, the description of types that kernels with CONFIG_DEBUG_INFO_BTF carry
 * (Documentation/bpf/btf.rst); without BTF it is the only datum of x86_pmu that the
 * function loads.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/align.h>
#include <linux/limits.h>
#include <linux/printk.h>
#include <linux/string.h>
#include <linux/types.h>

#include <uapi/linux/btf.h>

#include <corepmu/ksyms.h>

#include "msr.h"
#include "x86.h"

/* BTF */

/* The types, one behind the other, and their names */
struct types {
	const void	*first;
	const void	*end;
	const char	*strings;
	u32		strings_len;
};

static bool types_open(struct types *types, unsigned long start, unsigned long stop)
{
	const struct btf_header *header = (const void *)start;
	unsigned long body, size;

	if (!start || stop < start + sizeof(*header))
		return false;
	if (header->magic != BTF_MAGIC || header->version != BTF_VERSION ||
	    header->hdr_len > stop - start)
		return false;

	body = start + header->hdr_len;
	size = stop - body;
	if (header->type_off > size || header->type_len > size - header->type_off ||
	    header->str_off > size || header->str_len > size - header->str_off)
		return false;

	types->first = (const void *)(body + header->type_off);
	types->end = types->first + header->type_len;
	types->strings = (const void *)(body + header->str_off);
	types->strings_len = header->str_len;

	/* Whatever name begins in there ends there. */
	return types->strings_len && !types->strings[types->strings_len - 1];
}

/* What follows a type's head, SIZE_MAX for a kind that has come later */
static size_t types_tail(const struct btf_type *type)
{
	size_t nr = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
		return sizeof(u32);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return nr * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return nr * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return nr * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return nr * sizeof(struct btf_param);
	case BTF_KIND_VAR:
		return sizeof(struct btf_var);
	case BTF_KIND_DATASEC:
		return nr * sizeof(struct btf_var_secinfo);
	case BTF_KIND_DECL_TAG:
		return sizeof(struct btf_decl_tag);
	default:
		return SIZE_MAX;
	}
}

/* A type that is there as a whole, else NULL */
static const struct btf_type *types_check(const struct types *types, const struct btf_type *type)
{
	size_t left = types->end - (const void *)type;

	if (left < sizeof(*type) || types_tail(type) > left - sizeof(*type))
		return NULL;

	return type;
}

static const struct btf_type *types_first(const struct types *types)
{
	return types_check(types, types->first);
}

static const struct btf_type *types_next(const struct types *types, const struct btf_type *type)
{
	return types_check(types, (const void *)(type + 1) + types_tail(type));
}

static bool types_is_named(const struct types *types, u32 name_off, const char *name)
{
	return name_off < types->strings_len && !strcmp(types->strings + name_off, name);
}

/* Types have numbers, from 1 on; 0 is void. */
static bool types_is_int(const struct types *types, u32 id)
{
	const struct btf_type *type;

	for (type = types_first(types); type && id > 1; id--)
		type = types_next(types, type);

	return type && id == 1 && BTF_INFO_KIND(type->info) == BTF_KIND_INT &&
	       type->size == sizeof(int);
}

/* Where a member of a struct is, an int and no bit-field, -1 when BTF has none of them */
static int types_int_at(const struct types *types, const char *name, const char *member_name)
{
	const struct btf_member *member, *end;
	const struct btf_type *type;
	u32 bits;

	for (type = types_first(types); type; type = types_next(types, type))
		if (BTF_INFO_KIND(type->info) == BTF_KIND_STRUCT &&
		    types_is_named(types, type->name_off, name))
			break;
	if (!type)
		return -1;

	member = (const void *)(type + 1);
	for (end = member + BTF_INFO_VLEN(type->info); member < end; member++)
		if (types_is_named(types, member->name_off, member_name))
			break;
	if (member == end || !types_is_int(types, member->type))
		return -1;

	/* With the flag, the upper bits of the offset are the width of a bit-field. */
	bits = member->offset;
	if (BTF_INFO_KFLAG(type->info)) {
		if (BTF_MEMBER_BITFIELD_SIZE(member->offset))
			return -1;
		bits = BTF_MEMBER_BIT_OFFSET(member->offset);
	}
	if (!IS_ALIGNED(bits, BITS_PER_TYPE(int)) || bits / BITS_PER_BYTE >= type->size)
		return -1;

	return bits / BITS_PER_BYTE;
}

static int *find_by_btf(unsigned long data)
{
	unsigned long start = corepmu_find_symbol("__start_BTF");
	unsigned long stop = corepmu_find_symbol("__stop_BTF");
	struct types types;
	int offset;

	if (!types_open(&types, start, stop))
		return NULL;
	offset = types_int_at(&types, "x86_pmu", "cntval_bits");

	return offset < 0 ? NULL : (int *)(data + offset);
}

/* Code */

#define OPCODE_MOV		0x8b
#define OPCODE_TWO_BYTES	0x0f
#define OPCODE_MOVZX		0xb7
/* ModRM: mod 00, r/m 101, an operand at RIP + disp32 */
#define MODRM_RIP_MASK		0xc7
#define MODRM_RIP		0x05
#define DISPLACEMENT_BYTES	sizeof(s32)

#define CODE_BYTES_MAX		1024
#define DATA_BYTES_MAX		1024

static bool loads_from_rip(const u8 *modrm)
{
	if ((modrm[0] & MODRM_RIP_MASK) != MODRM_RIP)
		return false;

	return modrm[-1] == OPCODE_MOV ||
	       (modrm[-1] == OPCODE_MOVZX && modrm[-2] == OPCODE_TWO_BYTES);
}

/* The function and no more: its neighbours load other members. */
static int *find_by_code(unsigned long data, unsigned long function)
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
 * x86_find_cntval_bits() - what the kernel copies to pmc_width
 *
 * Process context.
 *
 * Return: x86_pmu.cntval_bits, NULL after saying why it is not found
 */
int *x86_find_cntval_bits(void)
{
	unsigned long function = corepmu_find_symbol("arch_perf_update_userpage");
	unsigned long data = corepmu_find_symbol("x86_pmu");
	int *bits;

	if (!function || !data) {
		pr_notice("this kernel tells no address of %s, it needs CONFIG_KALLSYMS_ALL: user space cannot read counters\n",
			  function ? "x86_pmu" : "arch_perf_update_userpage");
		return NULL;
	}

	bits = find_by_btf(data);
	if (!bits)
		bits = find_by_code(data, function);
	if (!bits)
		pr_notice("this kernel has no BTF that tells where x86_pmu.cntval_bits is (CONFIG_DEBUG_INFO_BTF), and the code of arch_perf_update_userpage() does not show it: user space cannot read counters\n");

	return bits;
}
