// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A bare-metal program that programs the PMU of an x86 CPU and prints the results on QEMU's debug
 * console, one line "what value" each. The test script judges them.
 */
#include "tests/x86/guest/guest.h"

#define PERIOD		1000

#define CR0_PG		0x80000000
#define CR4_PSE		0x010
#define CR4_PCE		0x100
#define CR4_OSFXSR	0x200

/* 32-bit paging: entries of a table, and bits of an entry */
#define PAGE_ENTRIES	1024
#define PAGE_SHIFT	12
#define LARGE_SHIFT	22
#define PAGE_PRESENT	0x01
#define PAGE_WRITE	0x02
#define PAGE_USER	0x04
#define PAGE_LARGE	0x80

/* Address of the second mapping of the first pages of alias.S, and their number */
#define ALIAS		0x40000000
#define ALIAS_PAGES	2

/* Code that is mapped twice, and the code that continues after a fault: alias.S */
extern const char aliased[], past_fetch[];
extern const uint32_t hole_pointer, return_pointer;
void alias_branches(void);
void alias_twins(void);
void alias_rep(void);
void alias_int3(void);
void alias_calls(void);
void alias_offset(void);
void alias_fetch(void);

/* Registers of the first counter, and the register that enables all counters */
static struct pmu {
	bool amd;
	uint32_t select;
	uint32_t counter;
	uint32_t enable;
	uint32_t enable_value;
	uint32_t status;
	uint32_t status_clear;
} pmu;

static volatile uint32_t resume;
static volatile uint32_t faulted;
static volatile uint32_t ticks;
static volatile uint32_t interrupts, fixed_interrupts, lvt_masked, skid_max, without_status;
static volatile uint32_t exceptions, early_interrupts;

static uint32_t wrmsr_faults(uint32_t msr, uint64_t value)
{
	faulted = 0;
	__asm__ volatile("movl $1f, %0\n\twrmsr\n1:"
			 : "=m"(resume) : "c"(msr), "A"(value) : "memory");
	return faulted;
}

static uint32_t rdmsr_faults(uint32_t msr)
{
	faulted = 0;
	__asm__ volatile("movl $1f, %0\n\trdmsr\n1:"
			 : "=m"(resume) : "c"(msr) : "eax", "edx", "memory");
	return faulted;
}

static uint32_t rdpmc_faults(uint32_t selector)
{
	faulted = 0;
	__asm__ volatile("movl $1f, %0\n\trdpmc\n1:"
			 : "=m"(resume) : "c"(selector) : "eax", "edx", "memory");
	return faulted;
}

/* Note how late this interrupt is, and set the counter for the next one. */
static void on_interrupt(void)
{
	uint64_t late = rdmsr(pmu.counter);

	wrmsr(pmu.enable, 0);
	interrupts++;
	if (late < PERIOD && late > skid_max)
		skid_max = late;
	if (apic_read(APIC_LVTPC) & LVT_MASKED)
		lvt_masked++;
	if (pmu.status) {
		if (!(rdmsr(pmu.status) & 1))
			without_status++;
		wrmsr(pmu.status_clear, 1);
	}
	wrmsr(pmu.counter, -(uint64_t)PERIOD);
}

/* Handle an exception that alias.S expects; return false for any other. */
static bool page_fault(struct frame *frame)
{
	uint32_t address;

	__asm__("mov %%cr2, %0" : "=r"(address));
	if (address == hole_pointer) {
		frame->ecx = (uint32_t)&return_pointer;
		frame->edx = (uint32_t)&return_pointer;
		return true;
	}
	if (frame->eip == ALIAS + (ALIAS_PAGES << PAGE_SHIFT)) {
		frame->eip = (uint32_t)past_fetch;
		return true;
	}
	return false;
}

static void note_exception(void)
{
	if (!exceptions++)
		early_interrupts = interrupts;
}

void handle(struct frame *frame)
{
	switch (frame->vector) {
	case VECTOR_NMI:
		on_interrupt();
		apic_write(APIC_LVTPC, LVT_NMI);
		wrmsr(pmu.enable, pmu.enable_value);
		break;
	case VECTOR_FIXED:
		fixed_interrupts++;
		on_interrupt();
		apic_write(APIC_LVTPC, VECTOR_FIXED);
		apic_write(APIC_EOI, 0);
		wrmsr(pmu.enable, pmu.enable_value);
		break;
	case VECTOR_TICK:
		ticks++;
		apic_write(APIC_EOI, 0);
		break;
	case VECTOR_GP:
		faulted = 1;
		frame->eip = resume;
		break;
	case VECTOR_UD:
		frame->eip += 2;
		break;
	case VECTOR_BP:
		note_exception();
		break;
	case VECTOR_PF:
		note_exception();
		if (page_fault(frame))
			break;
		__attribute__((fallthrough));
	default:
		print("unexpected.vector", frame->vector);
		print("unexpected.eip", frame->eip);
		stop(1);
	}
}

/* Do not count before start(): without global registers, the selector enables the counter. */
static void prepare(uint32_t select, uint64_t value)
{
	wrmsr(pmu.enable, 0);
	wrmsr(pmu.select, pmu.select == pmu.enable ? 0 : select | SEL_EN);
	pmu.enable_value = pmu.select == pmu.enable ? select | SEL_EN : 1;
	wrmsr(pmu.counter, value);
}

/* Events, in the order of enum event */
enum event {
	INSTRUCTIONS, CYCLES, BRANCHES, TAKEN, MISSED, CALLS, RETURNS, LOADS, STORES, EXCEPTIONS,
	CACHE_REFS, CACHE_MISSES, NOT_TAKEN, UNKNOWN, UPDATES, EVENTS
};

static const uint32_t intel_events[EVENTS] = {
	0xc0, 0x3c, 0xc4, 0x20c4, 0xc5, 0x2c4, 0x8c4, 0x81d0, 0x82d0, 0x1fe, 0x4f2e, 0x412e,
	0x10c4, 0x3e, 0x3e
};

static const uint32_t amd_events[EVENTS] = {
	0xc0, 0x76, 0xc2, 0xc4, 0xc3, 0x2fe, 0xc8, 0x129, 0x229, 0x1fe, 0x60, 0x64,
	0x4fe, 0x3e, 0x429
};

static uint32_t event(enum event e)
{
	return pmu.amd ? amd_events[e] : intel_events[e];
}

static uint64_t count(void (*counted)(uint32_t msr, uint32_t value), enum event e)
{
	prepare(event(e) | SEL_OS, 0);
	counted(pmu.enable, pmu.enable_value);
	return rdmsr(pmu.counter);
}

static uint64_t count_user(void (*fn)(void), enum event e)
{
	prepare(event(e) | SEL_USR, 0);
	wrmsr(pmu.enable, pmu.enable_value);
	run_user(fn);
	wrmsr(pmu.enable, 0);
	return rdmsr(pmu.counter);
}

/*
 * The plugin drops a kind that no counter has needed for some interrupts: after this many at most.
 */
#define TICKS		300
#define TICK_CYCLES	20000
#define DIVIDE_BY_1	0xb

static void start_ticks(void)
{
	/* The firmware's timer interrupts by the PIC: mask all of its inputs. */
	__asm__ volatile("outb %b0, $0x21; outb %b0, $0xa1" : : "a"(0xff));
	apic_write(APIC_SPURIOUS, 0x1ff);
	apic_write(APIC_TDCR, DIVIDE_BY_1);
	apic_write(APIC_LVTT, LVT_PERIODIC | VECTOR_TICK);
	apic_write(APIC_TMICT, TICK_CYCLES);
}

static void wait_for_ticks(void)
{
	ticks = 0;
	start_ticks();
	__asm__ volatile("sti");
	while (ticks < TICKS)
		__asm__ volatile("" : : : "memory");
	__asm__ volatile("cli");
	apic_write(APIC_LVTT, LVT_MASKED);
}

/* As count_user(), with interrupts while the counter is enabled. */
static uint64_t count_user_late(void (*fn)(void), enum event e)
{
	prepare(event(e) | SEL_USR, 0);
	wrmsr(pmu.enable, pmu.enable_value);
	wait_for_ticks();
	run_user(fn);
	wrmsr(pmu.enable, 0);
	return rdmsr(pmu.counter);
}

static void find_pmu(void)
{
	uint32_t regs[4], version = 0;

	pmu.amd = is_amd();
	if (pmu.amd) {
		cpuid(0x80000001, regs);
		version = 1 + (regs[2] >> 23 & 1);
		cpuid(0x80000000, regs);
		if (regs[0] >= 0x80000022) {
			cpuid(0x80000022, regs);
			version += regs[0] & 1;
		}
		pmu.select = version == 1 ? 0xc0010000 : 0xc0010200;
		pmu.counter = version == 1 ? 0xc0010004 : 0xc0010201;
		if (version == 3) {
			pmu.enable = 0xc0000301;
			pmu.status = 0xc0000300;
			pmu.status_clear = 0xc0000302;
		}
	} else {
		cpuid(0xa, regs);
		version = regs[0] & 0xff;
		print("cpuid.counters", regs[0] >> 8 & 0xff);
		print("cpuid.width", regs[0] >> 16 & 0xff);
		print("cpuid.fixed", regs[3] & 0x1f);
		pmu.select = 0x186;
		pmu.counter = 0xc1;
		if (version > 1) {
			pmu.enable = 0x38f;
			pmu.status = 0x38e;
			pmu.status_clear = 0x390;
		}
	}
	if (!pmu.enable)
		pmu.enable = pmu.select;
	print("cpuid.version", version);
}

static void test_reserved(void)
{
	print("fault.anythread", wrmsr_faults(pmu.select, 1 << 21));
	print("fault.select", wrmsr_faults(pmu.select, 0x30000));
	print("fault.status", pmu.status ? wrmsr_faults(pmu.status, 0) : 1);
	print("fault.no-counter", rdmsr_faults(pmu.amd ? 0xc0010218 : 0x318));
	print("fault.rdpmc", rdpmc_faults(0));
	print("fault.rdpmc-no-counter", rdpmc_faults(31));
}

void counted_calls(uint32_t msr, uint32_t value);
void counted_rep(uint32_t msr, uint32_t value);
void counted_lines(uint32_t msr, uint32_t value);
void counted_near(uint32_t msr, uint32_t value);
void counted_locked(uint32_t msr, uint32_t value);
void counted_vectors(uint32_t msr, uint32_t value);
void user_ud2(void);
void user_int3(void);
void user_loop(void);

static void enable_sse(void)
{
	uint32_t cr4;

	__asm__ volatile("mov %%cr4, %0" : "=r" (cr4));
	__asm__ volatile("mov %0, %%cr4" : : "r" (cr4 | CR4_OSFXSR));
}

static void test_counts(void)
{
	print("loop.instructions", count(counted_loop, INSTRUCTIONS));
	print("loop.cycles", count(counted_loop, CYCLES));
	print("loop.branches", count(counted_loop, BRANCHES));
	print("loop.taken", count(counted_loop, TAKEN));
	print("loop.missed", count(counted_loop, MISSED));
	print("calls.instructions", count(counted_calls, INSTRUCTIONS));
	print("calls.branches", count(counted_calls, BRANCHES));
	print("calls.calls", count(counted_calls, CALLS));
	print("calls.returns", count(counted_calls, RETURNS));
	print("calls.loads", count(counted_calls, LOADS));
	print("calls.stores", count(counted_calls, STORES));
	print("rep.instructions", count(counted_rep, INSTRUCTIONS));
	print("rep.stores", count(counted_rep, STORES));
	print("near.loads", count(counted_near, LOADS));
	print("near.stores", count(counted_near, STORES));
	print("locked.loads", count(counted_locked, LOADS));
	print("locked.stores", count(counted_locked, STORES));
	if (pmu.amd) {
		print("near.updates", count(counted_near, UPDATES));
		print("locked.updates", count(counted_locked, UPDATES));
	}
	enable_sse();
	print("vectors.loads", count(counted_vectors, LOADS));
	print("vectors.stores", count(counted_vectors, STORES));
	print("lines.misses", count(counted_lines, CACHE_MISSES));
	print("lines.refs", count(counted_lines, CACHE_REFS));
	print("unknown.count", count(counted_loop, UNKNOWN));
	print("ud2.instructions", count_user(user_ud2, INSTRUCTIONS));
	print("ud2.exceptions", count_user(user_ud2, EXCEPTIONS));
	print("ud2.late-instructions", count_user_late(user_ud2, INSTRUCTIONS));
	print("ud2.late-cycles", count_user_late(user_ud2, CYCLES));
	print("int3.instructions", count_user(user_int3, INSTRUCTIONS));
	print("int3.exceptions", count_user(user_int3, EXCEPTIONS));
}

static uint32_t user_rdpmc_low;

static void user_rdpmc(void)
{
	uint32_t high;

	faulted = 0;
	__asm__ volatile("movl $1f, %0\n\trdpmc\n1:"
			 : "=m"(resume), "=a"(user_rdpmc_low), "=d"(high)
			 : "c"(0) : "memory");
}

static void test_rdpmc(void)
{
	uint32_t cr4;

	prepare(event(INSTRUCTIONS) | SEL_OS, 1234);
	run_user(user_rdpmc);
	print("rdpmc.user-faults", faulted);
	__asm__("mov %%cr4, %0" : "=r"(cr4));
	__asm__ volatile("mov %0, %%cr4" : : "r"(cr4 | CR4_PCE));
	run_user(user_rdpmc);
	print("rdpmc.user-faults-pce", faulted);
	print("rdpmc.user-value", user_rdpmc_low);
}

/*
 * Have the k-th instruction in ring 3 overflow, for each k up to @n. Return how many interrupts
 * come before the handler of the first exception.
 */
static uint32_t count_early(void (*fn)(void), unsigned int n)
{
	uint32_t early = 0;

	apic_write(APIC_LVTPC, LVT_NMI);
	for (unsigned int k = 1; k <= n; k++) {
		interrupts = 0;
		exceptions = 0;
		prepare(event(INSTRUCTIONS) | SEL_USR | SEL_INT, -(uint64_t)k);
		wrmsr(pmu.enable, pmu.enable_value);
		run_user(fn);
		wrmsr(pmu.enable, 0);
		early += early_interrupts;
	}
	return early;
}

static void sample(uint32_t lvt)
{
	interrupts = 0;
	fixed_interrupts = 0;
	lvt_masked = 0;
	skid_max = 0;
	without_status = 0;
	apic_write(APIC_LVTPC, lvt);
	prepare(event(INSTRUCTIONS) | SEL_USR | SEL_INT, -(uint64_t)PERIOD);
	wrmsr(pmu.enable, pmu.enable_value);
	run_user(user_loop);
	wrmsr(pmu.enable, 0);
}

/* Sample while a timer makes QEMU's local APIC poll. The TPR blocks the timer's interrupts. */
static uint32_t sample_beside_timer(void)
{
	uint32_t sum = 0;

	apic_write(APIC_TPR, TPR_MAX);
	start_ticks();
	for (unsigned int i = 0; i < 5; i++) {
		sample(LVT_NMI);
		sum += interrupts;
	}
	apic_write(APIC_LVTT, LVT_MASKED);
	apic_write(APIC_TPR, 0);
	__asm__ volatile("sti\n\tnop\n\tcli");
	return sum;
}

static void test_interrupts(void)
{
	apic_write(APIC_SPURIOUS, 0x1ff);
	sample(LVT_NMI);
	print("nmi.interrupts", interrupts);
	print("nmi.masked", lvt_masked);
	print("nmi.skid", skid_max);
	print("nmi.without-status", without_status);

	/* Both interrupt controllers of the PC are to be silent. */
	__asm__ volatile("outb %%al, $0x21\n\toutb %%al, $0xa1" : : "a"(0xff));
	__asm__ volatile("sti");
	sample(VECTOR_FIXED);
	__asm__ volatile("cli");
	print("fixed.interrupts", fixed_interrupts);
	print("fixed.masked", lvt_masked);

	sample(LVT_NMI | LVT_MASKED);
	print("masked.interrupts", interrupts);
	print("beside-timer.interrupts", sample_beside_timer());
	print("int3.early", count_early(user_int3, 10));
}

/* Map each address to itself, and the pages of alias.S a second time. */
static void enable_paging(void)
{
	static uint32_t directory[PAGE_ENTRIES] __attribute__((aligned(1 << PAGE_SHIFT)));
	static uint32_t table[PAGE_ENTRIES] __attribute__((aligned(1 << PAGE_SHIFT)));
	const uint32_t usual = PAGE_PRESENT | PAGE_WRITE | PAGE_USER;
	uint32_t cr;

	for (uint32_t i = 0; i < PAGE_ENTRIES; i++)
		directory[i] = i << LARGE_SHIFT | usual | PAGE_LARGE;
	for (uint32_t i = 0; i < ALIAS_PAGES; i++)
		table[i] = ((uint32_t)aliased + (i << PAGE_SHIFT)) | usual;
	directory[ALIAS >> LARGE_SHIFT] = (uint32_t)table | usual;

	__asm__ volatile("mov %0, %%cr3" : : "r"(directory) : "memory");
	__asm__("mov %%cr4, %0" : "=r"(cr));
	__asm__ volatile("mov %0, %%cr4" : : "r"(cr | CR4_PSE));
	__asm__("mov %%cr0, %0" : "=r"(cr));
	__asm__ volatile("mov %0, %%cr0" : : "r"(cr | CR0_PG) : "memory");
}

static void test_alias(void)
{
	enable_paging();
	print("alias.instructions", count_user(alias_branches, INSTRUCTIONS));
	print("alias.branches", count_user(alias_branches, BRANCHES));
	print("alias.taken", count_user(alias_branches, TAKEN));
	print("alias.not-taken", count_user(alias_branches, NOT_TAKEN));
	print("alias.missed", count_user(alias_branches, MISSED));
	print("alias.calls", count_user(alias_branches, CALLS));
	print("alias.returns", count_user(alias_branches, RETURNS));
	print("alias-twins.taken", count_user(alias_twins, TAKEN));
	print("alias-twins.not-taken", count_user(alias_twins, NOT_TAKEN));
	print("alias-rep.instructions", count_user(alias_rep, INSTRUCTIONS));
	print("alias-int3.instructions", count_user(alias_int3, INSTRUCTIONS));
	print("alias-int3.branches", count_user(alias_int3, BRANCHES));
	print("alias-int3.exceptions", count_user(alias_int3, EXCEPTIONS));
	print("alias-calls.instructions", count_user(alias_calls, INSTRUCTIONS));
	print("alias-calls.branches", count_user(alias_calls, BRANCHES));
	print("alias-calls.calls", count_user(alias_calls, CALLS));
	print("alias-calls.exceptions", count_user(alias_calls, EXCEPTIONS));
	print("alias-offset.instructions", count_user(alias_offset, INSTRUCTIONS));
	print("alias-offset.branches", count_user(alias_offset, BRANCHES));
	print("alias-fetch.instructions", count_user(alias_fetch, INSTRUCTIONS));
	print("alias-fetch.not-taken", count_user(alias_fetch, NOT_TAKEN));
	print("alias-fetch.early", count_early(alias_fetch, 20));
}

int main(void)
{
	find_pmu();
	test_reserved();
	test_counts();
	test_rdpmc();
	test_interrupts();
	test_alias();
	print("end", 1);
	return 0;
}
