// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: find members of the kernel's x86_pmu
 *
 * The type of x86_pmu is private to the kernel (arch/x86/events/perf_event.h). Kernels with
 * CONFIG_DEBUG_INFO_BTF describe their types in BTF (Documentation/bpf/btf.rst), which has the
 * offset of each member.
 */
#include <linux/align.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/types.h>

#include <uapi/linux/btf.h>

#include <corepmu/ksyms.h>
#include <corepmu/module.h>

#include "btf.h"
#include "msr.h"
#include "x86.h"

/* BTF's type section, a sequence of types, and its string section with their names */
struct types {
	const void	*first;
	const void	*end;
	const char	*strings;
	u32		strings_len;
};

static bool __corepmu_init types_open(struct types *types, unsigned long start, unsigned long stop)
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

	/* A NUL at the end of the string section ends every name. */
	return types->strings_len && !types->strings[types->strings_len - 1];
}

/* Return the number of bytes that follow a struct btf_type of this kind; SIZE_MAX if unknown. */
static size_t __corepmu_init types_tail(const struct btf_type *type)
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

/* Return @type if all of it is in the type section, else NULL. */
static __corepmu_init const struct btf_type *types_check(const struct types *types,
							 const struct btf_type *type)
{
	size_t left = types->end - (const void *)type;

	if (left < sizeof(*type) || types_tail(type) > left - sizeof(*type))
		return NULL;

	return type;
}

static __corepmu_init const struct btf_type *types_first(const struct types *types)
{
	return types_check(types, types->first);
}

static __corepmu_init const struct btf_type *types_next(const struct types *types,
							const struct btf_type *type)
{
	return types_check(types, (const void *)(type + 1) + types_tail(type));
}

static bool __corepmu_init types_is_named(const struct types *types, u32 name_off, const char *name)
{
	return name_off < types->strings_len && !strcmp(types->strings + name_off, name);
}

/* Return the type with the number @id. The first type has number 1; 0 is void. */
static __corepmu_init const struct btf_type *types_get(const struct types *types, u32 id)
{
	const struct btf_type *type;

	for (type = types_first(types); type && id > 1; id--)
		type = types_next(types, type);

	return id == 1 ? type : NULL;
}

/* The most typedefs between a member's type and an integer; bool is a typedef of _Bool. */
#define MAX_TYPEDEFS	4

static bool __corepmu_init types_is_int(const struct types *types, u32 id, size_t size)
{
	const struct btf_type *type = types_get(types, id);
	unsigned int i;

	for (i = 0; type && BTF_INFO_KIND(type->info) == BTF_KIND_TYPEDEF && i < MAX_TYPEDEFS; i++)
		type = types_get(types, type->type);

	return type && BTF_INFO_KIND(type->info) == BTF_KIND_INT && type->size == size;
}

/* Return the offset of a struct's integer member in bytes; -1 if BTF has none, or a bit-field. */
static int __corepmu_init types_int_at(const struct types *types, const char *name,
				       const char *member_name, size_t size)
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
	if (member == end || !types_is_int(types, member->type, size))
		return -1;

	/* With the flag, the upper bits of the offset are the width of a bit-field. */
	bits = member->offset;
	if (BTF_INFO_KFLAG(type->info)) {
		if (BTF_MEMBER_BITFIELD_SIZE(member->offset))
			return -1;
		bits = BTF_MEMBER_BIT_OFFSET(member->offset);
	}
	if (!IS_ALIGNED(bits, size * BITS_PER_BYTE) || bits / BITS_PER_BYTE >= type->size)
		return -1;

	return bits / BITS_PER_BYTE;
}

/**
 * x86_is_read_only() - check whether an address is in the kernel's read-only data
 * @addr: the address
 *
 * The read-only data includes __ro_after_init. Process context.
 *
 * Return: whether a write would fault
 */
bool __corepmu_init x86_is_read_only(unsigned long addr)
{
	return addr >= corepmu_find_symbol("__start_rodata") &&
	       addr < corepmu_find_symbol("__end_rodata");
}

/**
 * x86_pmu_member() - find an integer member of x86_pmu that may be written
 * @name: the member's name
 * @size: the member's size in bytes
 *
 * Process context.
 *
 * Return: the member's address; NULL if BTF does not describe it, or x86_pmu is read-only
 */
__corepmu_init void *x86_pmu_member(const char *name, size_t size)
{
	unsigned long start = corepmu_find_symbol("__start_BTF");
	unsigned long stop = corepmu_find_symbol("__stop_BTF");
	unsigned long data = corepmu_find_symbol("x86_pmu");
	struct types types;
	int offset;

	if (!data || x86_is_read_only(data) || !types_open(&types, start, stop))
		return NULL;
	offset = types_int_at(&types, "x86_pmu", name, size);

	return offset < 0 ? NULL : (void *)(data + offset);
}
