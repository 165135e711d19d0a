// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * QEMU's executable as the dynamic loader mapped it.
 *
 * No function trusts an address: before a plugin follows a pointer found in QEMU, it checks that
 * the pointer lies in a segment of the executable, of code or of data.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/image.h"

/* The bytes that image_walk() looks for, and the flags of their segment */
struct walk {
	uintptr_t addr;
	size_t len;
	bool found;
	Elf64_Word flags;
};

static bool within(const struct dl_phdr_info *info, const Elf64_Phdr *ph, const struct walk *w)
{
	uintptr_t start = info->dlpi_addr + ph->p_vaddr;

	return w->addr >= start && w->len <= ph->p_memsz &&
	       w->addr - start <= ph->p_memsz - w->len;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct walk *w = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *ph = &info->dlpi_phdr[i];

		if (ph->p_type == PT_LOAD && within(info, ph, w)) {
			w->found = true;
			w->flags = ph->p_flags;
		}
	}

	/* Stop after the first object, which is the main program. */
	return 1;
}

static struct walk image_walk(const void *p, size_t len)
{
	struct walk w = { .addr = (uintptr_t)p, .len = len };

	dl_iterate_phdr(visit, &w);
	return w;
}

/**
 * image_is_text() - check whether bytes lie in QEMU's code
 * @p: the first byte
 * @len: number of bytes
 */
bool image_is_text(const void *p, size_t len)
{
	struct walk w = image_walk(p, len);

	return w.found && (w.flags & PF_X);
}

/**
 * image_is_data() - check whether bytes lie in QEMU's data, constant or not
 * @p: the first byte
 * @len: number of bytes
 */
bool image_is_data(const void *p, size_t len)
{
	struct walk w = image_walk(p, len);

	return w.found && !(w.flags & PF_X);
}

/**
 * image_function() - find a function that QEMU exports
 * @name: the function's name
 * @code: set to the function's bytes
 *
 * Return: true if QEMU's executable has the function, with a known size.
 */
bool image_function(const char *name, struct image_code *code)
{
	void *start = dlsym(RTLD_DEFAULT, name);
	const Elf64_Sym *sym = NULL;
	Dl_info info;

	if (!start || !dladdr1(start, &info, (void **)&sym, RTLD_DL_SYMENT) || !sym)
		return false;

	code->start = start;
	code->len = sym->st_size;
	return code->len && image_is_text(code->start, code->len);
}

/**
 * image_code_at() - return the bytes of a function without a name
 * @start: the function's first byte
 * @max: maximum of bytes to return
 *
 * Return: at most @max bytes, none if @start is not in QEMU's code.
 */
struct image_code image_code_at(const uint8_t *start, size_t max)
{
	struct image_code code = { .start = start, .len = max };

	while (code.len && !image_is_text(code.start, code.len))
		code.len /= 2;
	return code;
}

/* The present protection of the page at an address, from the kernel; -1 if unknown */
static int current_protection(const void *p)
{
	unsigned long start, end;
	char line[512], perms[5];
	int prot = -1;
	FILE *maps;

	maps = fopen("/proc/self/maps", "r");
	if (!maps)
		return -1;

	while (prot < 0 && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, perms) != 3)
			continue;
		if ((uintptr_t)p < start || (uintptr_t)p >= end)
			continue;
		prot = (perms[0] == 'r' ? PROT_READ : 0) |
		       (perms[1] == 'w' ? PROT_WRITE : 0) |
		       (perms[2] == 'x' ? PROT_EXEC : 0);
	}
	fclose(maps);
	return prot;
}

/**
 * image_patch() - change data of QEMU, even constant data
 * @dst: the data to change
 * @src: the new bytes
 * @len: number of bytes
 *
 * The pages get back the protection that they had before.
 *
 * Return: true if the data could be changed; otherwise nothing has changed.
 */
bool image_patch(void *dst, const void *src, size_t len)
{
	uintptr_t page = sysconf(_SC_PAGESIZE);
	uintptr_t start = (uintptr_t)dst & -page;
	uintptr_t end = ((uintptr_t)dst + len + page - 1) & -page;
	int prot = current_protection(dst);

	/* Refuse if the first and the last page differ in their protection. */
	if (!image_is_data(dst, len) || prot < 0 ||
	    prot != current_protection((char *)dst + len - 1))
		return false;

	if (mprotect((void *)start, end - start, prot | PROT_WRITE))
		return false;
	memcpy(dst, src, len);
	mprotect((void *)start, end - start, prot);
	return true;
}

/* The pointer that image_find_pointer() looks for, and its places */
struct hunt {
	const void *value;
	bool (*matches)(void **place);
	void **place;
	int found;
};

static int hunt_in(struct dl_phdr_info *info, size_t size, void *data)
{
	struct hunt *h = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *ph = &info->dlpi_phdr[i];
		void **p, **end;

		/* Look at the part of a segment that the file holds: a table is not in .bss. */
		if (ph->p_type != PT_LOAD || ph->p_flags & PF_X)
			continue;
		p = (void **)((info->dlpi_addr + ph->p_vaddr + sizeof(*p) - 1) & -sizeof(*p));
		end = (void **)(info->dlpi_addr + ph->p_vaddr + ph->p_filesz);
		for (; p + 1 <= end; p++) {
			if (*p == h->value && h->matches(p)) {
				h->place = p;
				h->found++;
			}
		}
	}
	return 1;
}

/**
 * image_find_pointer() - find a pointer in a table that has no name
 * @value: the pointer
 * @matches: check whether the table around a place is the right one
 *
 * Return: the pointer's place; NULL if there is none, or more than one.
 */
void **image_find_pointer(const void *value, bool (*matches)(void **place))
{
	struct hunt h = { .value = value, .matches = matches };

	dl_iterate_phdr(hunt_in, &h);
	return h.found == 1 ? h.place : NULL;
}
