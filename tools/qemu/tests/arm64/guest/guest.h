/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the bare-metal programs of the arm64 tests: the machine "virt" of QEMU (GICv2, EL1),
 * and output and exit by semihosting.
 */
#ifndef TOOLS_QEMU_TESTS_ARM64_GUEST_H
#define TOOLS_QEMU_TESTS_ARM64_GUEST_H

typedef unsigned long u64;
typedef unsigned int u32;

#define LOOP		100000UL
#define PERIOD		1000UL
#define BEFORE		20000UL

#define INST_RETIRED	0x08
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

#define read_sysreg(reg) ({						\
	u64 v_;								\
	asm volatile("isb; mrs %0, " reg : "=r" (v_) :: "memory");	\
	v_;								\
})
#define write_sysreg(reg, v) ({						\
	asm volatile("msr " reg ", %0; isb" :: "r" ((u64)(v)) : "memory");	\
})
#define STRING_(x)		#x
#define STRING(x)		STRING_(x)
#define read_reg(reg)		read_sysreg(STRING(reg))
#define write_reg(reg, v)	write_sysreg(STRING(reg), v)

/* Called by head.S. */
void run(void);
void died(void);
void interrupt(void);

static inline u64 semihosting(u64 op, const void *arg)
{
	register u64 x0 asm("x0") = op;
	register const void *x1 asm("x1") = arg;

	asm volatile("hlt #0xf000" : "+r" (x0) : "r" (x1) : "memory");
	return x0;
}

static inline void say(const char *what)
{
	semihosting(SYS_WRITE0, what);
}

/* Print a line "what value". */
static inline void print(const char *what, u64 value)
{
	char digits[24], *p = digits + sizeof(digits);

	*--p = 0;
	*--p = '\n';
	do {
		*--p = '0' + value % 10;
		value /= 10;
	} while (value);
	*--p = ' ';

	say(what);
	say(p);
}

static inline void stop(u64 status)
{
	const u64 block[2] = { STOPPED, status };

	semihosting(SYS_EXIT, block);
	for (;;)
		asm volatile("wfi");
}

static inline void gic_write(u64 addr, u32 value)
{
	*(volatile u32 *)addr = value;
}

static inline u32 gic_read(u64 addr)
{
	return *(volatile u32 *)addr;
}

/* Enable the PMU's interrupt. */
static inline void gic_init(void)
{
	gic_write(GICD + 0x000, 1);
	gic_write(GICD + 0x100, 1U << PMU_INTERRUPT);
	gic_write(GICC + 0x04, 0xff);
	gic_write(GICC + 0x00, 1);
}

/* Execute a number of instructions: two per round */
static inline void loop(u64 instructions)
{
	u64 rounds = instructions / 2;

	asm volatile("0: subs %0, %0, #1; b.ne 0b" : "+r" (rounds) :: "cc");
}

#endif /* TOOLS_QEMU_TESTS_ARM64_GUEST_H */
