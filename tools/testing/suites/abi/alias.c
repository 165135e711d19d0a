// SPDX-License-Identifier: GPL-2.0-only
/*
 * alias.c - code that is in memory once and has two addresses, as a shared library has in two
 * processes: it counts the same at both
 *
 * For the virtual PMUs (tools/qemu): QEMU translates such code once. tools/qemu/x86/x86-pmu.rst
 * says which branches they count as mispredicted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "perf_util.h"

#define ROUNDS		10000UL

/* The kernel's own branches change some entries of the predictor. */
#define DISTURBED	16

/*
 * aliased_code has a branch that is taken if a register is 0. aliased_rounds() calls the code at
 * both addresses. Before the rounds the branch is taken at one address and not taken at the other:
 * the first path differs. In each round it is not taken at either address, then taken at both.
 */
void aliased_rounds(const void *here, const void *there, unsigned long rounds);
extern const char aliased_code[], aliased_code_end[];

#if defined(__x86_64__)

asm(".pushsection .text\n"
"	.global	aliased_rounds, aliased_code, aliased_code_end\n"
"aliased_rounds:\n"
"	xor	%eax, %eax\n"
"	call	*%rdi\n"
"	inc	%eax\n"
"	call	*%rsi\n"
"1:	mov	$1, %eax\n"
"	call	*%rdi\n"
"	call	*%rsi\n"
"	xor	%eax, %eax\n"
"	call	*%rsi\n"
"	call	*%rdi\n"
"	dec	%rdx\n"
"	jnz	1b\n"
"	ret\n"
"aliased_code:\n"
"	test	%eax, %eax\n"
"	jz	1f\n"
"	nop\n"
"	ret\n"
"1:	ret\n"
"aliased_code_end:\n"
".popsection");

#define INSTRUCTIONS	22	/* in a round */
#define EVENT_TAKEN	(arch_is_amd() ? 0xc4 : 0x20c4)
#define EVENT_MISSED	(arch_is_amd() ? 0xc3 : 0xc5)
#define EVENT_BRANCHES	ARCH_EVENT_BRANCHES

#elif defined(__aarch64__)

asm(".pushsection .text\n"
"	.global	aliased_rounds, aliased_code, aliased_code_end\n"
"aliased_rounds:\n"
"	mov	x9, x30\n"
"	mov	x3, #0\n"
"	blr	x0\n"
"	mov	x3, #1\n"
"	blr	x1\n"
"1:	mov	x3, #1\n"
"	blr	x0\n"
"	blr	x1\n"
"	mov	x3, #0\n"
"	blr	x1\n"
"	blr	x0\n"
"	subs	x2, x2, #1\n"
"	b.ne	1b\n"
"	ret	x9\n"
"aliased_code:\n"
"	cbz	x3, 1f\n"
"	nop\n"
"	ret\n"
"1:	ret\n"
"aliased_code_end:\n"
".popsection");

#define INSTRUCTIONS	18
#define EVENT_TAKEN	0x0c	/* PC_WRITE_RETIRED */
#define EVENT_MISSED	0x10	/* BR_MIS_PRED */
#define EVENT_BRANCHES	0x21	/* BR_RETIRED */

#endif

/*
 * In a round: four calls, four conditional branches and four returns, and the branch that ends the
 * round
 */
#define BRANCHES	13
#define TAKEN		11
#define MISSED		3	/* of the four conditional branches */

static const void *here, *there;

static bool map_code(void)
{
	const size_t size = sysconf(_SC_PAGESIZE);
	const size_t len = aliased_code_end - aliased_code;
	int fd;

	if (here)
		return true;
	fd = memfd_create("alias", 0);
	if (fd < 0 || write(fd, aliased_code, len) != (ssize_t)len) {
		ktap_fail("a file in memory: got %s", strerror(errno));
		return false;
	}
	here = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	there = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	close(fd);
	if (here == MAP_FAILED || there == MAP_FAILED) {
		ktap_fail("code mapped twice: got %s", strerror(errno));
		here = NULL;
		return false;
	}
	return true;
}

static u64 count_rounds(int fd, unsigned long rounds)
{
	event_reset(fd);
	event_enable(fd);
	aliased_rounds(here, there, rounds);
	event_disable(fd);
	return event_read(fd);
}

static void counts_of(u64 config, unsigned int each, unsigned int slack)
{
	u64 base, count;
	int fd;

	if (!map_code())
		return;
	fd = event_open_user(config, -1);
	if (fd < 0)
		return;
	base = count_rounds(fd, 1);
	count = count_rounds(fd, ROUNDS + 1);
	expect_range("counts of the rounds", each * ROUNDS - slack, each * ROUNDS + slack,
		     count - base);
	close(fd);
}

static void instructions(void)
{
	counts_of(ARCH_EVENT_INSTRUCTIONS, INSTRUCTIONS, 0);
}

static void branches(void)
{
	counts_of(EVENT_BRANCHES, BRANCHES, 0);
}

static void taken(void)
{
	counts_of(EVENT_TAKEN, TAKEN, 0);
}

static void missed(void)
{
	counts_of(EVENT_MISSED, MISSED, DISTURBED);
}

static const struct ktap_case cases[] = {
	{ "instructions of code at two addresses", instructions },
	{ "branches of code at two addresses", branches },
	{ "branches taken of code at two addresses", taken },
	{ "mispredicted branches of code at two addresses", missed },
};

int main(int argc, char **argv)
{
	target_init(argc, argv);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
