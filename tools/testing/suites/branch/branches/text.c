// SPDX-License-Identifier: GPL-2.0-only
/*
 * text.c - the kernel's instructions from /proc/kcore, an ELF core file
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#define PAGE		4096
#define NR_PAGES	512

/* Segments of /proc/kcore, and pages that were read */
static struct {
	int fd;
	unsigned int nr;
	Elf64_Phdr *segment;
} core = { .fd = -1 };

static struct {
	u64 addr;
	bool readable;
	unsigned char bytes[PAGE];
} pages[NR_PAGES];

bool text_open(void)
{
	Elf64_Ehdr header;
	size_t size;

	core.fd = open("/proc/kcore", O_RDONLY);
	if (!expect_or_say(core.fd >= 0 && pread(core.fd, &header, sizeof(header), 0) ==
			   sizeof(header), "/proc/kcore: %s", strerror(errno)))
		return false;
	size = header.e_phnum * sizeof(*core.segment);
	core.segment = malloc(size);
	core.nr = header.e_phnum;
	return expect_true("segments of /proc/kcore", core.segment &&
			   pread(core.fd, core.segment, size, header.e_phoff) == (ssize_t)size);
}

void text_close(void)
{
	free(core.segment);
	core.segment = NULL;
	if (core.fd >= 0)
		close(core.fd);
	core.fd = -1;
	memset(pages, 0, sizeof(pages));
}

static bool read_page(u64 addr, unsigned char *bytes)
{
	for (unsigned int i = 0; i < core.nr; i++) {
		const Elf64_Phdr *s = &core.segment[i];

		if (s->p_type == PT_LOAD && addr >= s->p_vaddr && addr - s->p_vaddr < s->p_filesz)
			return pread(core.fd, bytes, PAGE,
				     s->p_offset + (addr - s->p_vaddr)) == PAGE;
	}
	return false;
}

static bool text_byte(u64 addr, unsigned char *byte)
{
	u64 page = addr & -(u64)PAGE;
	unsigned int i = page / PAGE % NR_PAGES;

	if (pages[i].addr != page) {
		pages[i].readable = read_page(page, pages[i].bytes);
		pages[i].addr = page;
	}
	*byte = pages[i].bytes[addr % PAGE];
	return pages[i].readable;
}

/* Read up to the end of readable memory. */
static unsigned int text_bytes(u64 addr, unsigned char *bytes, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr && text_byte(addr + i, &bytes[i]); i++)
		;
	return i;
}

#ifdef __aarch64__

#define INSN_SIZE	4

static bool insn_at(u64 addr, u32 *insn)
{
	return text_bytes(addr, (unsigned char *)insn, INSN_SIZE) == INSN_SIZE;
}

/* Return @bits bits of an instruction from @shift on: a signed number of words, in bytes. */
static s64 distance(u32 insn, unsigned int shift, unsigned int bits)
{
	return ((s64)((u64)insn << (64 - shift - bits)) >> (64 - bits)) * INSN_SIZE;
}

/* DDI 0487, C4.1.92 "Branches, Exception Generating and System instructions" */
static enum text_kind classify(u32 insn, s64 *by)
{
	*by = 0;
	if ((insn & 0x7c000000) == 0x14000000) {		/* B, BL */
		*by = distance(insn, 0, 26);
		return TEXT_DIRECT;
	}
	if ((insn & 0xff000000) == 0x54000000 ||		/* B.cond, BC.cond */
	    (insn & 0x7e000000) == 0x34000000) {		/* CBZ, CBNZ */
		*by = distance(insn, 5, 19);
		return TEXT_DIRECT;
	}
	if ((insn & 0x7e000000) == 0x36000000) {		/* TBZ, TBNZ */
		*by = distance(insn, 5, 14);
		return TEXT_DIRECT;
	}
	if ((insn & 0xfe000000) == 0xd6000000 ||		/* BR, BLR, RET, ERET */
	    (insn & 0xff000000) == 0xd4000000)			/* SVC, HVC, BRK */
		return TEXT_ANYWHERE;
	return TEXT_OTHER;
}

enum text_kind text_kind(u64 from, u64 *to)
{
	enum text_kind kind;
	s64 by;
	u32 insn;

	if (!insn_at(from, &insn))
		return TEXT_UNKNOWN;
	kind = classify(insn, &by);
	*to = from + by;
	return kind;
}

bool text_goes_on(u64 to, u64 from)
{
	u32 insn;

	for (; to < from && insn_at(to, &insn); to += INSN_SIZE)
		if ((insn & 0xfc000000) == 0x14000000 ||	/* B */
		    (insn & 0xfe000000) == 0xd6000000)		/* BR, BLR, RET, ERET */
			return false;
	return true;
}

/* "each entry is 128 bytes": DDI 0487, D1.3.1.5 "Exception vectors" */
bool text_is_vector(u64 to)
{
	return !(to % 0x80);
}

#else /* x86-64 */

#define INSN_MAX	15

static bool is_in(unsigned char byte, unsigned char first, unsigned char last)
{
	return byte >= first && byte <= last;
}

static bool is_prefix(unsigned char byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0x66: case 0x67:
	case 0xf0: case 0xf2: case 0xf3:
		return true;
	}
	return is_in(byte, 0x40, 0x4f);				/* REX */
}

/* SDM volume 2, appendix A "Opcode Map" */
static enum text_kind classify(const unsigned char *code, unsigned int *displacement)
{
	unsigned char second = code[1];

	*displacement = 0;
	if (is_in(code[0], 0x70, 0x7f) || is_in(code[0], 0xe0, 0xe3) || code[0] == 0xeb) {
		*displacement = 1;
		return TEXT_DIRECT;
	}
	if (code[0] == 0xe8 || code[0] == 0xe9 ||
	    (code[0] == 0x0f && is_in(second, 0x80, 0x8f))) {
		*displacement = 4;
		return TEXT_DIRECT;
	}
	if (code[0] == 0xc2 || code[0] == 0xc3 || is_in(code[0], 0xca, 0xcf) || code[0] == 0xf1)
		return TEXT_ANYWHERE;				/* RET, IRET, INT */
	if (code[0] == 0xff && is_in(second >> 3 & 7, 2, 5))
		return TEXT_ANYWHERE;				/* CALL, JMP */
	if (code[0] == 0x0f && (second == 0x05 || second == 0x07 || second == 0x34 ||
				second == 0x35 || second == 0x0b))
		return TEXT_ANYWHERE;				/* SYSCALL, SYSRET, UD2 */
	return TEXT_OTHER;
}

enum text_kind text_kind(u64 from, u64 *to)
{
	unsigned char code[INSN_MAX + 2] = { 0 };
	unsigned int nr = text_bytes(from, code, INSN_MAX), i = 0, displacement;
	enum text_kind kind;
	s64 by = 0;

	if (!nr)
		return TEXT_UNKNOWN;
	while (i < nr - 1 && is_prefix(code[i]))
		i++;
	kind = classify(&code[i], &displacement);
	if (kind != TEXT_DIRECT)
		return kind;
	i += code[i] == 0x0f ? 2 : 1;
	if (displacement == 1)
		by = (signed char)code[i];
	else
		by = (int32_t)(code[i] | code[i + 1] << 8 | code[i + 2] << 16 |
			   (u32)code[i + 3] << 24);
	*to = from + i + displacement + by;
	return TEXT_DIRECT;
}

bool text_goes_on(u64 to, u64 from)
{
	return to <= from;
}

/* IDT_ALIGN of the kernel's arch/x86/include/asm/irqflags.h and idtentry.h: 8, or 16 */
bool text_is_vector(u64 to)
{
	return !(to % 8);
}

#endif
