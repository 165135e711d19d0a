// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A bare-metal program for QEMU's machine "virt" (GICv2, EL1, -icount shift=0,
 * semihosting) that says how its PMU treats overflows. Output is one
 * "counter.what value" per line, for a script to judge:
 *
 * flag		overflow flag after the counter has wrapped, nothing but the flag
 *		having been looked at
 * pending	likewise, the interrupt seen from the CPU
 * count	the counter after that
 * flag-late	overflow flag after the counter has been read
 * enabled	the interrupt is enabled, says the register
 * interrupts	how often it interrupts in LOOP instructions, each time set up
 *		PERIOD before its overflow
 * skid		largest value found in the counter by the interrupt handler
 */

typedef unsigned long u64;
typedef unsigned int u32;

#define LOOP		100000UL
#define PERIOD		1000UL
#define BEFORE		20000UL

#define INST_RETIRED	0x08
#define CPU_CYCLES	0x11
#define CYCLE_COUNTER	31

#define PMCR_E		(1 << 0)
#define PMCR_P		(1 << 1)
#define PMCR_C		(1 << 2)
#define PMCR_LC		(1 << 6)

#define GICD		0x08000000UL
#define GICC		0x08010000UL
#define PMU_INTERRUPT	23
#define ISR_I		(1 << 7)

#define SYS_WRITE0	0x04
#define SYS_EXIT	0x18
#define STOPPED		0x20026

#define read_reg(reg) ({						\
	u64 v_;								\
	asm volatile("isb; mrs %0, " #reg : "=r" (v_) :: "memory");	\
	v_;								\
})
#define write_reg(reg, v) ({						\
	asm volatile("msr " #reg ", %0; isb" :: "r" ((u64)(v)) : "memory");	\
})

/* Called by arm64-head.S. */
void run(void);
void died(void);
void interrupt(void);

static int counter;
static volatile u64 interrupts, skid;

static u64 semihosting(u64 op, const void *arg)
{
	register u64 x0 asm("x0") = op;
	register const void *x1 asm("x1") = arg;

	asm volatile("hlt #0xf000" : "+r" (x0) : "r" (x1) : "memory");
	return x0;
}

static void say(const char *what)
{
	semihosting(SYS_WRITE0, what);
}

static void say_value(const char *name, const char *what, u64 value)
{
	char digits[24], *p = digits + sizeof(digits);

	*--p = 0;
	*--p = '\n';
	do {
		*--p = '0' + value % 10;
		value /= 10;
	} while (value);

	say(name);
	say(what);
	say(p);
}

static void stop(u64 status)
{
	const u64 block[2] = { STOPPED, status };

	semihosting(SYS_EXIT, block);
	for (;;)
		asm volatile("wfi");
}

void died(void)
{
	say("exception\n");
	stop(1);
}

static void gic_write(u64 addr, u32 value)
{
	*(volatile u32 *)addr = value;
}

static u32 gic_read(u64 addr)
{
	return *(volatile u32 *)addr;
}

/* Two instructions a round. */
static void loop(u64 instructions)
{
	u64 rounds = instructions / 2;

	asm volatile("0: subs %0, %0, #1; b.ne 0b" : "+r" (rounds) :: "cc");
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
	say_value(name, ".flag ", !!(flag & bit()));
	say_value(name, ".pending ", !!(pending & ISR_I));
	say_value(name, ".count ", get());
	say_value(name, ".flag-late ", !!(read_reg(pmovsset_el0) & bit()));
	say_value(name, ".enabled ", read_reg(pmintenset_el1) == bit());

	interrupts = 0;
	skid = 0;
	start(which, event, PERIOD);
	asm volatile("msr daifclr, #2" ::: "memory");
	loop(LOOP);
	asm volatile("msr daifset, #2" ::: "memory");
	write_reg(pmcntenclr_el0, bit());
	write_reg(pmovsclr_el0, ~0U);
	say_value(name, ".interrupts ", interrupts);
	say_value(name, ".skid ", skid);
}

void run(void)
{
	gic_write(GICD + 0x000, 1);
	gic_write(GICD + 0x100, 1U << PMU_INTERRUPT);
	gic_write(GICC + 0x04, 0xff);
	gic_write(GICC + 0x00, 1);

	examine("instructions", 0, INST_RETIRED);
	examine("cycles", 0, CPU_CYCLES);
	examine("cycle-counter", CYCLE_COUNTER, 0);
	stop(0);
}
