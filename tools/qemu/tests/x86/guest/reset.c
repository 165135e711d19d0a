// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A bare-metal program that prints the registers of an x86 PMU at each of three boots, and a count
 * of instructions: a line is "N.what value", where N is the number of the boot. Before each reset
 * the program enables all that it can. In the first boot it prints "ready" and waits in user space
 * until the test resets the machine; in the second boot it resets the machine itself. The test
 * script judges the results.
 */
#include "tests/x86/guest/guest.h"

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))

/* The number of boots, in memory that no firmware writes: a reset keeps it. */
#define BOOTS			(*(volatile uint32_t *)0x2000000)
#define LAST_BOOT		3

/* The reset control register of ICH9 */
#define RESET_CONTROL		0xcf9
#define RESET_NOW		6

#define INTEL_SELECT		0x186
#define INTEL_GLOBAL_CTRL	0x38f
#define INTEL_DEBUGCTL		0x1d9
#define INTEL_PEBS_ENABLE	0x3f1
#define INTEL_DS_AREA		0x600
#define AMD_SELECT		0xc0010200
#define AMD_GLOBAL_CTRL		0xc0000301
#define AMD_DEBUG_EXTN		0xc000010f
#define AMD_IBS_OP		0xc0011033

#define INSTRUCTIONS		0xc0
#define PERIOD			300

/* The DS area: its buffer is full, so each record is lost and the counter gets its reset value. */
static uint64_t ds_area[9] = { [5] = 1, [8] = -(uint64_t)PERIOD };

static const struct reg {
	const char *name;
	uint32_t msr;
	uint64_t busy;
} intel[] = {
	{ "select",	 INTEL_SELECT,	     INSTRUCTIONS | SEL_USR | SEL_OS | SEL_INT | SEL_EN },
	{ "counter",	 0x4c1,		     -(uint64_t)PERIOD & 0xffffffffffff },
	{ "other",	 0x187,		     INSTRUCTIONS | SEL_USR | SEL_OS | SEL_INT | SEL_EN },
	{ "fixed",	 0x309,		     12345 },
	{ "fixed-ctrl",	 0x38d,		     0xbbb },
	{ "lbr-select",	 0x1c8,		     0x80 },
	{ "offcore",	 0x1a6,		     0x10001 },
	{ "ds",		 INTEL_DS_AREA,	     0x1234 },
	{ "pebs",	 INTEL_PEBS_ENABLE,  1 },
	{ "debugctl",	 INTEL_DEBUGCTL,     1 },
	{ "global-ctrl", INTEL_GLOBAL_CTRL,  0x70000000f },
}, amd[] = {
	{ "select",	 AMD_SELECT,	     INSTRUCTIONS | SEL_USR | SEL_OS | SEL_INT | SEL_EN },
	{ "counter",	 AMD_SELECT + 1,     (-(uint64_t)PERIOD) & 0xffffffffffff },
	{ "lbr",	 AMD_DEBUG_EXTN,     0x40 },
	{ "ibs",	 AMD_IBS_OP,	     1 << 17 | 0x10 },
	{ "global-ctrl", AMD_GLOBAL_CTRL,    0x3f },
};

static void print_boot(const char *what, uint64_t value)
{
	char name[32] = { '0' + BOOTS, '.' };
	unsigned int n = 2;

	while (*what && n < sizeof(name) - 1)
		name[n++] = *what++;
	print(name, value);
}

static void print_registers(const struct reg *regs, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		print_boot(regs[i].name, rdmsr(regs[i].msr));
	print_boot("status", rdmsr(is_amd() ? 0xc0000300 : 0x38e));
	print_boot("branch", rdmsr(is_amd() ? 0xc0010300 : 0x680));
}

static void count(uint32_t select, uint32_t counter, uint32_t global)
{
	wrmsr(global, 0);
	wrmsr(counter, 0);
	wrmsr(select, INSTRUCTIONS | SEL_OS | SEL_EN);
	counted_loop(global, 1);
	print_boot("instructions", rdmsr(counter));
}

static void enable(const struct reg *regs, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		wrmsr(regs[i].msr, regs[i].msr == INTEL_DS_AREA ? (uint32_t)ds_area : regs[i].busy);
}

static void wait_in_user_space(void)
{
	for (;;)
		__asm__ volatile("");
}

/* Ignore NMIs: a sample of IBS raises one although the local APIC masks LVTPC. */
void handle(struct frame *frame)
{
	if (frame->vector == VECTOR_NMI)
		return;
	print("unexpected.vector", frame->vector);
	print("unexpected.eip", frame->eip);
	stop(1);
}

int main(void)
{
	bool is_intel = !is_amd();
	const struct reg *regs = is_intel ? intel : amd;
	unsigned int len = is_intel ? ARRAY_SIZE(intel) : ARRAY_SIZE(amd);

	BOOTS = BOOTS + 1;
	print_registers(regs, len);
	count(regs[0].msr, is_intel ? 0xc1 : AMD_SELECT + 1,
	      is_intel ? INTEL_GLOBAL_CTRL : AMD_GLOBAL_CTRL);
	if (BOOTS == LAST_BOOT) {
		print("end", 1);
		return 0;
	}
	apic_write(APIC_SPURIOUS, 0x1ff);
	apic_write(APIC_LVTPC, LVT_NMI | LVT_MASKED);
	enable(regs, len);
	if (BOOTS == 1) {
		print("ready", 1);
		run_user(wait_in_user_space);
	}
	__asm__ volatile("outb %b0, %w1" : : "a"(RESET_NOW), "d"(RESET_CONTROL));
	for (;;)
		__asm__ volatile("");
}
