/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Definitions that the bare-metal programs of the x86 tests share. head.S calls main(), and
 * handle() for each exception. print() writes a line "what value" to QEMU's debug console.
 */
#ifndef TOOLS_QEMU_TESTS_X86_GUEST_H
#define TOOLS_QEMU_TESTS_X86_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#define SEL_USR		(1u << 16)
#define SEL_OS		(1u << 17)
#define SEL_INT		(1u << 20)
#define SEL_EN		(1u << 22)

#define LVT_NMI		0x400
#define LVT_MASKED	0x10000
#define LVT_PERIODIC	0x20000
#define VECTOR_NMI	2
#define VECTOR_GP	13
#define VECTOR_UD	6
#define VECTOR_PF	14
#define VECTOR_BP	3
#define VECTOR_TICK	0x3f
#define VECTOR_FIXED	0x40
#define TPR_MAX		0xff

#define APIC		0xfee00000
#define APIC_TPR	0x080
#define APIC_EOI	0x0b0
#define APIC_SPURIOUS	0x0f0
#define APIC_LVTT	0x320
#define APIC_LVTPC	0x340
#define APIC_TMICT	0x380
#define APIC_TDCR	0x3e0

/* The stack when head.S calls handle() for an exception */
struct frame {
	uint32_t edi, esi, ebp, esp, ebx, edx, ecx, eax;
	uint32_t vector, error;
	uint32_t eip, cs, eflags;
};

int main(void);
void handle(struct frame *frame);
void run_user(void (*fn)(void));
void counted_loop(uint32_t msr, uint32_t value);

static inline void print(const char *what, uint64_t value)
{
	char digits[24];
	int n = sizeof(digits);
	uint32_t high = value >> 32, low = value;

	/* Without libgcc there is no 64-bit division: divide 32 bits at a time. */
	digits[--n] = '\n';
	do {
		uint32_t rest, part;

		part = high / 10;
		rest = high % 10;
		high = part;
		__asm__("div %2" : "+a"(low), "+d"(rest) : "r"(10));
		digits[--n] = '0' + rest;
	} while (high || low);
	digits[--n] = ' ';

	for (; *what; what++)
		__asm__ volatile("outb %b0, %w1" : : "a"(*what), "d"(0xe9));
	for (; n < (int)sizeof(digits); n++)
		__asm__ volatile("outb %b0, %w1" : : "a"(digits[n]), "d"(0xe9));
}

static inline void cpuid(uint32_t leaf, uint32_t regs[4])
{
	__asm__ volatile("cpuid"
			 : "=a"(regs[0]), "=b"(regs[1]), "=c"(regs[2]), "=d"(regs[3])
			 : "a"(leaf), "c"(0));
}

static inline void wrmsr(uint32_t msr, uint64_t value)
{
	__asm__ volatile("wrmsr" : : "c"(msr), "A"(value) : "memory");
}

static inline uint64_t rdmsr(uint32_t msr)
{
	uint64_t value;

	__asm__ volatile("rdmsr" : "=A"(value) : "c"(msr) : "memory");
	return value;
}

static inline uint32_t apic_read(uint32_t reg)
{
	return *(volatile uint32_t *)(APIC + reg);
}

static inline void apic_write(uint32_t reg, uint32_t value)
{
	*(volatile uint32_t *)(APIC + reg) = value;
}

static inline bool is_amd(void)
{
	uint32_t regs[4];

	cpuid(0, regs);
	return regs[1] == 0x68747541;
}

/* End QEMU with an exit status made of @status; does not return. */
static inline void stop(uint32_t status)
{
	__asm__ volatile("outl %0, %w1" : : "a"(status), "d"(0x501));
}

#endif /* TOOLS_QEMU_TESTS_X86_GUEST_H */
