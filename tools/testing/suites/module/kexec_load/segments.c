// SPDX-License-Identifier: GPL-2.0-only
/*
 * segments.c - load an arm64 kernel by kexec_load(2)
 *
 * The next kernel gets a copy of this kernel's devicetree with another node /chosen. Instructions
 * at the entry point pass the devicetree's address (Documentation/arch/arm64/booting.rst). A crash
 * kernel gets ELF headers of this kernel's memory, for /proc/vmcore.
 */
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kexec_load.h"

#define ALIGN_2M(x)	(((x) + 0x1fffff) & ~0x1fffffULL)
#define MAX_RANGES	32
#define MAX_SEGMENTS	5

/* Offsets in the header of an arm64 Image */
#define IMAGE_TEXT_OFFSET	8
#define IMAGE_SIZE		16

/* Tokens of a flattened devicetree */
#define FDT_BEGIN_NODE	1
#define FDT_END_NODE	2
#define FDT_PROP	3
#define FDT_END		9

struct fdt_header {
	uint32_t magic;
	uint32_t size;
	uint32_t off_struct;
	uint32_t off_strings;
	uint32_t off_reserved;
	uint32_t version;
	uint32_t last_version;
	uint32_t boot_cpu;
	uint32_t size_strings;
	uint32_t size_struct;
};

struct range {
	uint64_t start;
	uint64_t end;
};

/* A devicetree that is being written */
struct tree {
	char	*data;
	size_t	size;
	char	*strings;
	size_t	size_strings;
};

static struct kexec_segment segments[MAX_SEGMENTS];
static unsigned int nr_segments;

static void *need_memory(size_t size)
{
	void *data = calloc(1, size);

	if (!data) {
		fprintf(stderr, "kexec_load: no memory\n");
		exit(1);
	}
	return data;
}

static void *read_all(int fd, size_t *size)
{
	struct stat status = { };
	ssize_t nr = 1;
	char *data;

	fstat(fd, &status);
	data = need_memory(status.st_size + 1);
	for (*size = 0; nr > 0; *size += nr) {
		nr = read(fd, data + *size, status.st_size - *size);
		if (nr < 0)
			break;
	}
	return data;
}

/* Add a segment at @addr with @room bytes of memory. Return the first address after the segment. */
static uint64_t add_segment(const void *data, size_t size, uint64_t addr, size_t room)
{
	room = (room + 4095) & ~4095UL;
	segments[nr_segments++] = (struct kexec_segment){
		.buf = data, .bufsz = size, .mem = (void *)addr, .memsz = room,
	};
	return addr + room;
}

/* Read the ranges of a resource in /proc/iomem. */
static unsigned int read_ranges(const char *name, struct range *ranges)
{
	FILE *file = fopen("/proc/iomem", "re");
	unsigned int nr = 0;
	char line[256];

	while (file && fgets(line, sizeof(line), file) && nr < MAX_RANGES) {
		unsigned long start, end;

		if (strstr(line, name) && sscanf(line, "%lx-%lx", &start, &end) == 2)
			ranges[nr++] = (struct range){ start, end };
	}
	if (file)
		fclose(file);
	return nr;
}

static void put(struct tree *tree, const void *data, size_t size)
{
	memcpy(tree->data + tree->size, data, size);
	tree->size += (size + 3) & ~3UL;
}

static void put_word(struct tree *tree, uint32_t word)
{
	word = htobe32(word);
	put(tree, &word, sizeof(word));
}

static void put_property(struct tree *tree, const char *name, const void *data, size_t size)
{
	put_word(tree, FDT_PROP);
	put_word(tree, size);
	put_word(tree, tree->size_strings);
	put(tree, data, size);
	memcpy(tree->strings + tree->size_strings, name, strlen(name) + 1);
	tree->size_strings += strlen(name) + 1;
}

static void put_numbers(struct tree *tree, const char *name, uint64_t first, uint64_t second,
			unsigned int nr)
{
	uint64_t numbers[] = { htobe64(first), htobe64(second) };

	put_property(tree, name, numbers, nr * sizeof(numbers[0]));
}

/* Check whether a property of /chosen is not copied: the next kernel has another value, or none. */
static bool is_replaced(const char *name)
{
	static const char * const names[] = {
		"bootargs", "linux,initrd-start", "linux,initrd-end", "linux,elfcorehdr",
		"linux,usable-memory-range", NULL,
	};
	const char * const *other = names;

	while (*other && strcmp(name, *other))
		other++;
	return *other;
}

/* Copy the nodes of a devicetree; @chosen writes the first properties of /chosen. */
static void copy_structure(struct tree *tree, const char *from, const char *strings,
			   void (*chosen)(struct tree *tree, const void *data), const void *data)
{
	bool in_chosen = false;
	const char *name;
	uint32_t token, size;

	for (;;) {
		token = be32toh(*(const uint32_t *)from);
		switch (token) {
		case FDT_BEGIN_NODE:
			name = from + 4;
			size = 4 + strlen(name) + 1;
			put(tree, from, size);
			in_chosen = !strcmp(name, "chosen");
			if (in_chosen)
				chosen(tree, data);
			break;
		case FDT_PROP:
			size = 12 + be32toh(*(const uint32_t *)(from + 4));
			name = strings + be32toh(*(const uint32_t *)(from + 8));
			if (!in_chosen || !is_replaced(name))
				put(tree, from, size);
			break;
		default:
			size = 4;
			put(tree, from, size);
			in_chosen = in_chosen && token != FDT_END_NODE;
		}
		if (token == FDT_END)
			return;
		from += (size + 3) & ~3U;
	}
}

struct chosen {
	const char	*cmdline;
	struct range	initrd;
	struct range	headers;
	struct range	memory;
};

static void put_chosen(struct tree *tree, const void *data)
{
	const struct chosen *chosen = data;

	put_property(tree, "bootargs", chosen->cmdline, strlen(chosen->cmdline) + 1);
	put_numbers(tree, "linux,initrd-start", chosen->initrd.start, 0, 1);
	put_numbers(tree, "linux,initrd-end", chosen->initrd.end, 0, 1);
	if (!chosen->memory.end)
		return;
	put_numbers(tree, "linux,elfcorehdr", chosen->headers.start,
		    chosen->headers.end - chosen->headers.start, 2);
	put_numbers(tree, "linux,usable-memory-range", chosen->memory.start,
		    chosen->memory.end - chosen->memory.start + 1, 2);
}

/* Return a copy of this kernel's devicetree with new properties in /chosen. */
static void *make_tree(const struct chosen *chosen, size_t *size)
{
	int fd = open("/sys/firmware/fdt", O_RDONLY | O_CLOEXEC);
	const struct fdt_header *old;
	struct fdt_header header;
	struct tree tree = { };
	size_t room;

	if (fd < 0)
		return NULL;
	old = read_all(fd, size);
	close(fd);
	if (*size < sizeof(*old))
		return NULL;

	room = *size + strlen(chosen->cmdline) + 4096;
	tree.data = need_memory(room);
	tree.strings = need_memory(room);
	tree.size_strings = be32toh(old->size_strings);
	memcpy(tree.strings, (const char *)old + be32toh(old->off_strings), tree.size_strings);

	/* The header, and an empty list of reserved memory */
	header = *old;
	tree.size = sizeof(header);
	header.off_reserved = htobe32(tree.size);
	tree.size += 16;
	header.off_struct = htobe32(tree.size);
	copy_structure(&tree, (const char *)old + be32toh(old->off_struct),
		       (const char *)old + be32toh(old->off_strings), put_chosen, chosen);
	header.size_struct = htobe32(tree.size - be32toh(header.off_struct));
	header.off_strings = htobe32(tree.size);
	header.size_strings = htobe32(tree.size_strings);
	put(&tree, tree.strings, tree.size_strings);
	header.size = htobe32(tree.size);
	memcpy(tree.data, &header, sizeof(header));

	*size = tree.size;
	return tree.data;
}

/* Describe this kernel's note in a program header: /proc/vmcore needs a note. */
static void put_note(Elf64_Phdr *phdr)
{
	FILE *file = fopen("/sys/kernel/vmcoreinfo", "re");
	unsigned long addr, size;

	if (file && fscanf(file, "%lx %lx", &addr, &size) == 2) {
		phdr->p_type = PT_NOTE;
		phdr->p_offset = addr;
		phdr->p_paddr = addr;
		phdr->p_filesz = size;
		phdr->p_memsz = size;
	}
	if (file)
		fclose(file);
}

/* Return ELF headers of all memory but the crash kernel's memory, @reserved. */
static void *make_headers(const struct range *reserved, size_t *size)
{
	struct range ranges[MAX_RANGES];
	unsigned int nr = read_ranges("System RAM", ranges), i;
	Elf64_Phdr *headers;
	Elf64_Ehdr *elf;

	*size = sizeof(*elf) + (2 * nr + 2) * sizeof(*headers);
	elf = need_memory(*size);
	headers = (Elf64_Phdr *)(elf + 1);
	memcpy(elf->e_ident, ELFMAG, SELFMAG);
	elf->e_ident[EI_CLASS] = ELFCLASS64;
	elf->e_ident[EI_DATA] = ELFDATA2LSB;
	elf->e_ident[EI_VERSION] = EV_CURRENT;
	elf->e_type = ET_CORE;
	elf->e_machine = EM_AARCH64;
	elf->e_version = EV_CURRENT;
	elf->e_phoff = sizeof(*elf);
	elf->e_ehsize = sizeof(*elf);
	elf->e_phentsize = sizeof(*headers);
	put_note(&headers[elf->e_phnum++]);
	for (i = 0; i < nr; i++) {
		struct range parts[] = { ranges[i], { 1, 0 } };

		if (reserved->start >= ranges[i].start && reserved->end <= ranges[i].end) {
			parts[0].end = reserved->start - 1;
			parts[1] = (struct range){ reserved->end + 1, ranges[i].end };
		}
		for (unsigned int part = 0; part < 2; part++) {
			Elf64_Phdr *phdr = &headers[elf->e_phnum];

			if (parts[part].start > parts[part].end)
				continue;
			phdr->p_type = PT_LOAD;
			phdr->p_flags = PF_R | PF_W | PF_X;
			phdr->p_offset = parts[part].start;
			phdr->p_paddr = parts[part].start;
			phdr->p_filesz = parts[part].end - parts[part].start + 1;
			phdr->p_memsz = phdr->p_filesz;
			elf->e_phnum++;
		}
	}
	return elf;
}

/**
 * load_by_segments() - load an arm64 kernel by kexec_load(2)
 * @next: the kernel
 *
 * Return: 0, or -1 with errno.
 */
int load_by_segments(const struct next_kernel *next)
{
	static struct {
		uint32_t code[6];
		uint64_t tree;
		uint64_t kernel;
	} entry = {
		.code = {
			0x580000c0,	/* ldr x0, tree */
			0x580000e4,	/* ldr x4, kernel */
			0xaa1f03e1,	/* mov x1, xzr */
			0xaa1f03e2,	/* mov x2, xzr */
			0xaa1f03e3,	/* mov x3, xzr */
			0xd61f0080,	/* br x4 */
		},
	};
	struct chosen chosen = { .cmdline = next->cmdline };
	struct range ranges[MAX_RANGES];
	size_t size, size_initrd;
	uint64_t addr, text_offset, room;
	char *image, *initrd, *headers, *tree;

	if (!read_ranges(next->crash ? "Crash kernel" : "System RAM", ranges)) {
		errno = ENOMEM;
		return -1;
	}
	image = read_all(next->kernel, &size);
	initrd = read_all(next->initrd, &size_initrd);
	if (size < 64 || memcmp(image + 56, "ARM\x64", 4)) {
		errno = ENOEXEC;
		return -1;
	}
	memcpy(&text_offset, image + IMAGE_TEXT_OFFSET, sizeof(text_offset));
	memcpy(&room, image + IMAGE_SIZE, sizeof(room));

	entry.kernel = ALIGN_2M(ranges[0].start) + text_offset;
	addr = add_segment(image, size, entry.kernel, room);
	chosen.initrd.start = addr;
	chosen.initrd.end = addr + size_initrd;
	addr = add_segment(initrd, size_initrd, addr, size_initrd);
	if (next->crash) {
		chosen.memory = ranges[0];
		headers = make_headers(&ranges[0], &size);
		chosen.headers = (struct range){ addr, addr + size };
		addr = add_segment(headers, size, addr, size);
	}
	entry.tree = ALIGN_2M(addr);
	tree = make_tree(&chosen, &size);
	if (!tree) {
		errno = ENODEV;
		return -1;
	}
	addr = add_segment(tree, size, entry.tree, size);
	add_segment(&entry, sizeof(entry), addr, sizeof(entry));

	return syscall(SYS_kexec_load, addr, (unsigned long)nr_segments, segments,
		       KEXEC_ARCH_AARCH64 | (next->crash ? KEXEC_ON_CRASH : 0));
}
