// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A bare-metal program for QEMU's machine "virt" (GICv2, EL1, semihosting) that programs the PMU
 * and prints the results, one line "what value" each. The test script judges them.
 */
#include <stdbool.h>

#include "tests/arm64/guest/guest.h"

#define SW_INCR		0x00
#define CHAIN		0x1e
#define STALL_SLOT	0x3f

#define TH(th, tc)	((u64)(th) << 32 | (u64)(tc) << 61)
#define TC_AT_LEAST	5	/* count cycles */

#define PMCR_FZO	(1 << 9)

#define NO_INTERRUPT	1023

#define CPACR_ZEN	(3 << 16)
#define CPACR_FPEN	(3 << 20)

#define PMMIR		s3_0_c9_c14_6
#define PMICNTR		s3_3_c9_c4_0
#define PMICFILTR	s3_3_c9_c6_0
#define INSTR_COUNTER	32

/* Code with known numbers of instructions */
void piece_loop(void);
void piece_memory(void);
void piece_calls(void);
void piece_svc(void);
void piece_udf(void);
void piece_lines(void);
void piece_pages(void);
void piece_near(void);
void piece_zva(void);
void piece_atomics(void);
void piece_sve(void);

/* Code that is mapped twice, see alias.S */
void alias_map(void);
void alias_branches(void);
void alias_twins(void);
void alias_fetch(void);

static int counter;
static volatile u64 interrupts, skid, without_flag;

asm("	.pushsection .text\n"
"piece_loop:\n"			/* 1002 + ret */
"	mov	x0, #500\n"
"1:	subs	x0, x0, #1\n"
"	b.ne	1b\n"
"	nop\n"
"	ret\n"

"piece_memory:\n"		/* 300 loads, 300 stores */
"	mov	x0, #100\n"
"	adr	x1, buffer\n"
"1:	ldr	x2, [x1]\n"
"	str	x2, [x1]\n"
"	ldp	x2, x3, [x1]\n"
"	stp	x2, x3, [x1]\n"
"	ldxr	x2, [x1]\n"
"	stxr	w3, x2, [x1]\n"
"	prfm	pldl1keep, [x1]\n"
"	subs	x0, x0, #1\n"
"	b.ne	1b\n"
"	ret\n"

"piece_calls:\n"		/* 100 calls */
"	mov	x0, #100\n"
"	mov	x1, x30\n"
"1:	bl	2f\n"
"	subs	x0, x0, #1\n"
"	b.ne	1b\n"
"	ret	x1\n"
"2:	ret\n"

"piece_svc:\n"
"	.rept	10\n"
"	svc	#0\n"
"	.endr\n"
"	ret\n"
"piece_udf:\n"
"	.rept	10\n"
"	udf	#0\n"
"	.endr\n"
"	ret\n"

"piece_pages:\n"		/* 65 pages, two of which share a place, twice */
"	mov	x2, #2\n"
"1:	adr	x1, buffer\n"
"	mov	x0, #65\n"
"2:	ldr	x3, [x1]\n"
"	add	x1, x1, #4096\n"
"	subs	x0, x0, #1\n"
"	b.ne	2b\n"
"	subs	x2, x2, #1\n"
"	b.ne	1b\n"
"	ret\n"

"piece_lines:\n"		/* 128 lines of 64 bytes, twice */
"	mov	x2, #2\n"
"1:	adr	x1, buffer\n"
"	mov	x0, #128\n"
"2:	ldr	x3, [x1], #64\n"
"	subs	x0, x0, #1\n"
"	b.ne	2b\n"
"	subs	x2, x2, #1\n"
"	b.ne	1b\n"
"	ret\n"

"piece_near:\n"			/* 100 stores next to this code: QEMU's slow path */
"	mov	x0, #100\n"
"	adr	x1, 2f\n"
"1:	str	x2, [x1]\n"
"	subs	x0, x0, #1\n"
"	b.ne	1b\n"
"	ret\n"
"	.balign	8\n"
"2:	.skip	8\n"

"piece_zva:\n"			/* 100 blocks are cleared */
"	mov	x0, #100\n"
"	adr	x1, buffer\n"
"1:	dc	zva, x1\n"
"	subs	x0, x0, #1\n"
"	b.ne	1b\n"
"	ret\n"

"	.arch_extension lse\n"
"piece_atomics:\n"		/* 400 that load and store, 100 of which fail */
"	mov	x0, #100\n"
"	adr	x1, buffer\n"
"	mov	x2, #1\n"
"	str	xzr, [x1]\n"
"1:	swp	x2, x3, [x1]\n"
"	ldadd	x2, x3, [x1]\n"
"	mov	x3, #1\n"
"	cas	x3, x2, [x1]\n"
"	casp	x2, x3, x2, x3, [x1]\n"
"	subs	x0, x0, #1\n"
"	b.ne	1b\n"
"	ret\n"

"	.arch_extension sve\n"
"piece_sve:\n"			/* 100 loads and stores: a vector, half of one, elements */
"	mov	x0, #100\n"
"	adr	x1, buffer\n"
"	ptrue	p0.d\n"
"	ptrue	p1.d, vl1\n"
"	index	z1.d, #0, #8\n"
"1:	ld1d	{z0.d}, p0/z, [x1]\n"
"	st1d	{z0.d}, p0, [x1]\n"
"	ld1d	{z0.d}, p1/z, [x1]\n"
"	st1d	{z0.d}, p1, [x1]\n"
"	ld1d	{z0.d}, p0/z, [x1, z1.d]\n"
"	st1d	{z0.d}, p0, [x1, z1.d]\n"
"	subs	x0, x0, #1\n"
"	b.ne	1b\n"
"	ret\n"

/* 12 instructions: skip an undefined instruction; after an instruction abort return to x30 */
"	.globl	synchronous\n"
"synchronous:\n"
"	stp	x0, x1, [sp, #-16]!\n"
"	mrs	x0, esr_el1\n"
"	lsr	x0, x0, #26\n"
"	mrs	x1, elr_el1\n"
"	cmp	x0, #0x21\n"
"	csel	x1, x30, x1, eq\n"
"	cmp	x0, #0\n"
"	cset	x0, eq\n"
"	add	x1, x1, x0, lsl #2\n"
"	msr	elr_el1, x1\n"
"	ldp	x0, x1, [sp], #16\n"
"	eret\n"
"	.balign	4096\n"
"buffer:	.skip	8192\n"
"	.popsection\n");

void died(void)
{
	say("exception 1\n");
	stop(1);
}

static void pmu_clear(void)
{
	write_reg(pmcr_el0, PMCR_LC | PMCR_P | PMCR_C);
	write_reg(pmcntenclr_el0, ~0UL);
	write_reg(pmintenclr_el1, ~0UL);
	write_reg(pmovsclr_el0, ~0UL);
	write_reg(pmccfiltr_el0, 0);
}

/* Define a function that returns the count of a piece of code, its call and the second read. */
#define MEASURE(reg)							\
static u64 measure_##reg(void (*piece)(void))				\
{									\
	u64 before, after;						\
									\
	asm volatile("isb; mrs %0, " #reg "; blr %2; mrs %1, " #reg	\
		     : "=&r" (before), "=&r" (after) : "r" (piece)	\
		     : "x0", "x1", "x2", "x3", "x30", "cc", "memory");	\
	return after - before;						\
}

MEASURE(pmevcntr0_el0)
MEASURE(pmccntr_el0)
MEASURE(s3_3_c9_c4_0)	/* PMICNTR */

static void measure(const char *what, u64 type, void (*piece)(void))
{
	pmu_clear();
	write_reg(pmevtyper0_el0, type);
	write_reg(pmcntenset_el0, 1);
	write_reg(pmcr_el0, PMCR_LC | PMCR_E);
	print(what, measure_pmevcntr0_el0(piece));
}

static void counts(void)
{
	measure("loop.instructions", INST_RETIRED, piece_loop);
	measure("loop.cycles", 0x11, piece_loop);
	measure("loop.missed", 0x10, piece_loop);
	measure("loop.branches", 0x21, piece_loop);
	measure("loop.immediate", 0x0d, piece_loop);
	measure("loop.taken", 0x0c, piece_loop);
	measure("loop.stalled", 0x3c, piece_loop);
	measure("calls.branches", 0x21, piece_calls);
	measure("calls.immediate", 0x0d, piece_calls);
	measure("calls.returns", 0x0e, piece_calls);
	measure("memory.instructions", INST_RETIRED, piece_memory);
	measure("memory.loads", 0x06, piece_memory);
	measure("memory.stores", 0x07, piece_memory);
	measure("memory.accesses", 0x13, piece_memory);
	measure("svc.instructions", INST_RETIRED, piece_svc);
	measure("svc.taken", 0x09, piece_svc);
	measure("svc.returns", 0x0a, piece_svc);
	measure("udf.instructions", INST_RETIRED, piece_udf);
	measure("udf.taken", 0x09, piece_udf);
	measure("lines.misses", 0x03, piece_lines);
	measure("lines.refs", 0x04, piece_lines);
	measure("pages.misses", 0x05, piece_pages);
	measure("absent.count", 0x3e, piece_loop);

	pmu_clear();
	write_reg(pmcntenset_el0, 1UL << CYCLE_COUNTER);
	write_reg(pmcr_el0, PMCR_LC | PMCR_E);
	print("loop.cycle-counter", measure_pmccntr_el0(piece_loop));
}

struct piece {
	const char *loads, *stores, *accesses, *refs;
	void (*run)(void);
};

/*
 * Known loads and stores, and what the model of the cache makes of them: QEMU reports some accesses
 * to plugins in other ways than those of LDR and STR.
 */
static void unusual_accesses(void)
{
	static const struct piece pieces[] = {
		{ "near.loads", "near.stores", "near.accesses", "near.refs", piece_near },
		{ "zva.loads", "zva.stores", "zva.accesses", "zva.refs", piece_zva },
		{ "atomics.loads", "atomics.stores", "atomics.accesses", "atomics.refs",
		  piece_atomics },
		{ "sve.loads", "sve.stores", "sve.accesses", "sve.refs", piece_sve },
	};
	bool has_lse = read_reg(id_aa64isar0_el1) >> 20 & 0xf;
	bool has_sve = read_reg(id_aa64pfr0_el1) >> 32 & 0xf;
	const struct piece *piece;

	if (has_sve)
		write_reg(cpacr_el1, CPACR_FPEN | CPACR_ZEN);
	for (piece = pieces; piece < pieces + 4; piece++) {
		if ((piece->run == piece_atomics && !has_lse) ||
		    (piece->run == piece_sve && !has_sve))
			continue;
		measure(piece->loads, 0x06, piece->run);
		measure(piece->stores, 0x07, piece->run);
		measure(piece->accesses, 0x13, piece->run);
		measure(piece->refs, 0x04, piece->run);
	}
}

static void aliases(void)
{
	alias_map();
	measure("alias.instructions", INST_RETIRED, alias_branches);
	measure("alias.branches", 0x21, alias_branches);
	measure("alias.taken", 0x0c, alias_branches);
	measure("alias.missed", 0x10, alias_branches);
	measure("alias.returns", 0x0e, alias_branches);
	measure("alias-twins.branches", 0x21, alias_twins);
	measure("alias-twins.taken", 0x0c, alias_twins);
	measure("alias-fetch.branches", 0x21, alias_fetch);
	measure("alias-fetch.taken", 0x0c, alias_fetch);
	measure("alias-fetch.exceptions", 0x09, alias_fetch);
}

static void chain(const char *low, const char *high, const char *flags, u64 upper)
{
	pmu_clear();
	write_reg(pmevtyper2_el0, INST_RETIRED);
	write_reg(pmevtyper3_el0, CHAIN);
	write_reg(pmevcntr2_el0, 0xffffff00UL);
	write_reg(pmevcntr3_el0, upper);
	write_reg(pmcntenset_el0, 3 << 2);
	write_reg(pmcr_el0, PMCR_LC | PMCR_E);
	piece_loop();
	write_reg(pmcr_el0, PMCR_LC);
	print(low, (u32)read_reg(pmevcntr2_el0));
	print(high, (u32)read_reg(pmevcntr3_el0));
	print(flags, read_reg(pmovsclr_el0));
}

static void software(void)
{
	pmu_clear();
	write_reg(pmevtyper0_el0, SW_INCR);
	write_reg(pmevtyper1_el0, CHAIN);
	write_reg(pmevcntr0_el0, 0xfffffffeUL);
	write_reg(pmevcntr1_el0, 7);
	write_reg(pmcntenset_el0, 3);
	write_reg(pmcr_el0, PMCR_LC | PMCR_E);
	for (int i = 0; i < 5; i++)
		write_reg(pmswinc_el0, 3);
	print("swinc.low", (u32)read_reg(pmevcntr0_el0));
	print("swinc.high", (u32)read_reg(pmevcntr1_el0));
}

static u64 get(void)
{
	return counter == CYCLE_COUNTER ? read_reg(pmccntr_el0) : (u32)read_reg(pmevcntr0_el0);
}

static void set(u64 value)
{
	if (counter == CYCLE_COUNTER)
		write_reg(pmccntr_el0, value);
	else
		write_reg(pmevcntr0_el0, (u32)value);
}

static u64 bit(void)
{
	return 1UL << counter;
}

void interrupt(void)
{
	u32 which = gic_read(GICC + 0x0c);
	u64 now = get();

	if (which == NO_INTERRUPT)
		return;
	interrupts++;
	if (!(read_reg(pmovsclr_el0) & bit())) {
		without_flag++;
	} else {
		if (now > skid)
			skid = now;
		/* It may take more than one write. */
		write_reg(pmovsclr_el0, bit());
		write_reg(pmovsclr_el0, bit());
		set(-PERIOD);
	}
	gic_write(GICC + 0x10, which);
}

static void start(int which, u64 event, u64 before)
{
	counter = which;
	pmu_clear();
	write_reg(pmevtyper0_el0, event);
	set(-before);
	write_reg(pmcr_el0, PMCR_LC | PMCR_E);
	write_reg(pmintenset_el1, bit());
	write_reg(pmcntenset_el0, bit());
}

/* Test overflows twice: first only read the flag and the interrupt, then take many interrupts. */
static void overflow(const char *flag, const char *pending, const char *taken, const char *far,
		     int which, u64 event)
{
	u64 seen;

	start(which, event, BEFORE);
	loop(LOOP);
	seen = read_reg(isr_el1);
	print(pending, !!(seen & ISR_I));
	print(flag, !!(read_reg(pmovsclr_el0) & bit()));

	interrupts = 0;
	skid = 0;
	start(which, event, PERIOD);
	asm volatile("msr daifclr, #2" ::: "memory");
	loop(LOOP);
	asm volatile("msr daifset, #2" ::: "memory");
	pmu_clear();
	write_reg(pmovsclr_el0, ~0UL);
	print(taken, interrupts);
	print(far, skid);
}

/* A disabled PMU has no interrupt pending. */
static void disabled(void)
{
	start(0, INST_RETIRED, PERIOD);
	loop(LOOP);
	write_reg(pmcr_el0, PMCR_LC);
	print("disabled.pending", !!(read_reg(isr_el1) & ISR_I));
	write_reg(pmcr_el0, PMCR_LC | PMCR_E);
	print("enabled.pending", !!(read_reg(isr_el1) & ISR_I));
	pmu_clear();
}

static void freeze(void)
{
	start(0, INST_RETIRED, PERIOD);
	write_reg(pmcr_el0, PMCR_LC | PMCR_E | PMCR_FZO);
	loop(LOOP);
	print("fzo.count", (u32)get());
	pmu_clear();
}

static void instruction_counter(void)
{
	pmu_clear();
	write_reg(PMICFILTR, 0);
	write_reg(PMICNTR, 0);
	write_reg(pmcntenset_el0, 1UL << INSTR_COUNTER);
	write_reg(pmcr_el0, PMCR_LC | PMCR_E);
	print("icntr.instructions", measure_s3_3_c9_c4_0(piece_loop));
	write_reg(PMICNTR, -100UL);
	loop(LOOP);
	print("icntr.flags", read_reg(pmovsclr_el0));
	print("icntr.filter", read_reg(PMICFILTR));
	pmu_clear();
}

static void reserved(void)
{
	pmu_clear();
	write_reg(pmcr_el0, ~7UL);
	print("reserved.pmcr", read_reg(pmcr_el0));
	write_reg(pmevtyper0_el0, ~0UL);
	print("reserved.type", read_reg(pmevtyper0_el0));
	write_reg(pmselr_el0, 31);
	write_reg(pmxevtyper_el0, 1UL << 31);
	print("reserved.ccfiltr", read_reg(pmccfiltr_el0));
	write_reg(pmselr_el0, 1);
	write_reg(pmxevcntr_el0, 77);
	print("reserved.counter", read_reg(pmevcntr1_el0));
	write_reg(pmcntenset_el0, ~0UL);
	print("reserved.enabled", read_reg(pmcntenclr_el0));
	pmu_clear();
}

void run(void)
{
	u64 version, mmir = 0;

	gic_init();

	print("id.midr", read_reg(midr_el1));
	version = read_reg(id_aa64dfr0_el1) >> 8 & 0xf;
	print("id.version", version);
	print("id.ceid0", read_reg(pmceid0_el0));
	print("id.ceid1", read_reg(pmceid1_el0));
	if (version >= 5)
		mmir = read_reg(PMMIR);
	print("id.mmir", mmir);

	reserved();
	counts();
	software();
	chain("chain.low", "chain.high", "chain.flags", 7);
	chain("chain-end.low", "chain-end.high", "chain-end.flags", 0xffffffff);
	overflow("event.flag", "event.pending", "event.interrupts", "event.skid", 0,
		 INST_RETIRED);
	overflow("cycles.flag", "cycles.pending", "cycles.interrupts", "cycles.skid",
		 CYCLE_COUNTER, 0);
	disabled();
	if (version >= 7)
		freeze();
	if (mmir >> 20 & 0xf) {
		measure("threshold.none", STALL_SLOT, piece_loop);
		measure("threshold.all", STALL_SLOT | TH(3, TC_AT_LEAST), piece_loop);
		measure("threshold.some", STALL_SLOT | TH(4, TC_AT_LEAST), piece_loop);
	}
	if (read_reg(id_aa64dfr1_el1) >> 36 & 0xf)
		instruction_counter();
	aliases();
	unusual_accesses();
	print("without-flag", without_flag);
	print("end", 1);
	stop(0);
}
