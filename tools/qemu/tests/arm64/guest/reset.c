// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A bare-metal program that prints the registers of an arm64 PMU at each of three boots, and a
 * count of instructions: a line is "N.what value", where N is the number of the boot. Before each
 * reset the program enables all that it can. In the first boot it prints "ready" and waits at EL0
 * until the test resets the machine; in the second boot it resets the machine itself. The test
 * script judges the results.
 */
#include "tests/arm64/guest/guest.h"

/* The number of boots, in memory that no firmware writes: a reset keeps it. */
#define BOOTS			(*(volatile u64 *)0x46000000)
#define LAST_BOOT		3

#define PSCI_SYSTEM_RESET	0x84000009

#define TYPE_PRIVILEGED		(1UL << 31)
#define COUNTERS		(1UL << CYCLE_COUNTER | 3)

static void print_boot(const char *what, u64 value)
{
	char name[32] = { '0' + BOOTS, '.' };
	unsigned int n = 2;

	while (*what && n < sizeof(name) - 1)
		name[n++] = *what++;
	print(name, value);
}

static void print_registers(void)
{
	print_boot("enabled", read_reg(pmcr_el0) & PMCR_E);
	print_boot("counters", read_reg(pmcntenset_el0));
	print_boot("interrupts", read_reg(pmintenset_el1));
	print_boot("overflows", read_reg(pmovsset_el0));
	print_boot("type", read_reg(pmevtyper0_el0));
	print_boot("counter", read_reg(pmevcntr0_el0));
	print_boot("cycles", read_reg(pmccntr_el0));
	print_boot("filter", read_reg(pmccfiltr_el0));
	print_boot("pending", !!(gic_read(GICD + 0x200) & 1U << PMU_INTERRUPT));
}

static void count(void)
{
	u64 rounds = LOOP / 2;

	write_reg(pmevtyper0_el0, INST_RETIRED);
	write_reg(pmcntenset_el0, 1);
	write_reg(pmcr_el0, PMCR_LC | PMCR_P);
	/* Counted: the ISB after the MSR that starts it, the loop, and the MSR that stops it. */
	asm volatile("msr	pmcr_el0, %1\n"
		     "isb\n"
		     "1: subs	%0, %0, #1\n"
		     "b.ne	1b\n"
		     "msr	pmcr_el0, %2\n"
		     "isb\n"
		     : "+r" (rounds) : "r" ((u64)(PMCR_LC | PMCR_E)), "r" ((u64)PMCR_LC) : "cc");
	print_boot("instructions", (u32)read_reg(pmevcntr0_el0));
}

/* Leave the interrupt of an overflow pending at the reset, and all counters on. */
static void enable(void)
{
	write_reg(pmevtyper0_el0, INST_RETIRED);
	write_reg(pmevtyper1_el0, INST_RETIRED | TYPE_PRIVILEGED);
	write_reg(pmccfiltr_el0, TYPE_PRIVILEGED);
	write_reg(pmevcntr0_el0, (u32)-PERIOD);
	write_reg(pmevcntr1_el0, 1);
	write_reg(pmintenset_el1, COUNTERS);
	write_reg(pmcntenset_el0, COUNTERS);
	write_reg(pmcr_el0, PMCR_LC | PMCR_E);
	loop(LOOP);
}

void died(void)
{
	say("exception 1\n");
	stop(1);
}

void interrupt(void)
{
	died();
}

static void wait_at_el0(void)
{
	asm volatile("msr	spsr_el1, xzr\n"
		     "adr	x0, 1f\n"
		     "msr	elr_el1, x0\n"
		     "eret\n"
		     "1: b	1b\n" ::: "x0", "memory");
}

static void reset_machine(void)
{
	register u64 x0 asm("x0") = PSCI_SYSTEM_RESET;

	asm volatile("hvc #0" : "+r" (x0) :: "memory");
	for (;;)
		asm volatile("wfi");
}

void run(void)
{
	BOOTS = BOOTS + 1;
	print_registers();
	count();
	if (BOOTS == LAST_BOOT) {
		print("end", 1);
		stop(0);
	}
	enable();
	if (BOOTS == 1) {
		print("ready", 1);
		wait_at_el0();
	}
	reset_machine();
}
