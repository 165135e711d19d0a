// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A bare-metal program for QEMU's machine "virt" (GICv2, EL1, -icount shift=0,
 * semihosting) that tests the overflows of its PMU. Output is one
 * "counter.what value" per line, for a script to judge:
 *
 * flag		overflow flag after the counter has wrapped; no other register
 *		has been read
 * pending	the interrupt is pending in the CPU at that time
 * count	the counter after that
 * flag-late	overflow flag after the counter has been read
 * enabled	the interrupt enable bit of the register
 * interrupts	number of interrupts in LOOP instructions; each interrupt sets the
 *		counter to PERIOD before its overflow
 * skid		largest value found in the counter by the interrupt handler
 */
#include "tests/arm64/guest/guest.h"

#define CPU_CYCLES	0x11

static int counter;
static volatile u64 interrupts, skid;

/* Print a line "counter.what value"; the dot is part of @what. */
static void say_value(const char *name, const char *what, u64 value)
{
	say(name);
	print(what, value);
}

void died(void)
{
	say("exception\n");
	stop(1);
}

static u64 bit(void)
{
	return 1UL << counter;
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

void interrupt(void)
{
	u32 which = gic_read(GICC + 0x0c);
	u64 now = get();

	interrupts++;
	if (now > skid)
		skid = now;

	write_reg(pmovsclr_el0, bit());
	set(-PERIOD);
	gic_write(GICC + 0x10, which);
}

static void start(int which, u64 event, u64 before)
{
	counter = which;
	write_reg(pmcr_el0, PMCR_LC | PMCR_P | PMCR_C);
	write_reg(pmcntenclr_el0, ~0U);
	write_reg(pmintenclr_el1, ~0U);
	write_reg(pmccfiltr_el0, 0);
	write_reg(pmevtyper0_el0, event);
	set(-before);
	write_reg(pmovsclr_el0, ~0U);
	write_reg(pmcr_el0, PMCR_LC | PMCR_E);
	write_reg(pmintenset_el1, bit());
	write_reg(pmcntenset_el0, bit());
}

static void examine(const char *name, int which, u64 event)
{
	u64 flag, pending;

	start(which, event, BEFORE);
	loop(LOOP);
	flag = read_reg(pmovsclr_el0);
	pending = read_reg(isr_el1);
	write_reg(pmcntenclr_el0, bit());
	say_value(name, ".flag", !!(flag & bit()));
	say_value(name, ".pending", !!(pending & ISR_I));
	say_value(name, ".count", get());
	say_value(name, ".flag-late", !!(read_reg(pmovsset_el0) & bit()));
	say_value(name, ".enabled", read_reg(pmintenset_el1) == bit());

	interrupts = 0;
	skid = 0;
	start(which, event, PERIOD);
	asm volatile("msr daifclr, #2" ::: "memory");
	loop(LOOP);
	asm volatile("msr daifset, #2" ::: "memory");
	write_reg(pmcntenclr_el0, bit());
	write_reg(pmovsclr_el0, ~0U);
	say_value(name, ".interrupts", interrupts);
	say_value(name, ".skid", skid);
}

void run(void)
{
	gic_init();

	examine("instructions", 0, INST_RETIRED);
	examine("cycles", 0, CPU_CYCLES);
	examine("cycle-counter", CYCLE_COUNTER, 0);
	stop(0);
}
