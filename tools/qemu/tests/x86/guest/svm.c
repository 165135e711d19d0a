// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A bare-metal hypervisor that runs a guest of SVM, and prints how the PMU of an AMD CPU counts and
 * samples both. The output is as that of pmu.c.
 *
 * The guest is a loop at ring 0 or 3, in flat protected mode. Registers and the layout of the VMCB
 * are as in the AMD APM, volume 2, appendix B; the numbers are taken from Linux (asm/svm.h).
 */
#include "tests/x86/guest/guest.h"

#define MSR_EFER		0xc0000080
#define EFER_SVME		(1u << 12)
#define MSR_VM_HSAVE_PA		0xc0010117

#define MSR_PERF_CTL		0xc0010200
#define MSR_PERF_CTR		0xc0010201
#define MSR_PERF_STATUS_CLEAR	0xc0000302
#define SEL_GUEST_ONLY		(1ull << 40)
#define SEL_HOST_ONLY		(1ull << 41)
#define EVENT_INSTRUCTIONS	0xc0
#define EVENT_EXCEPTIONS	0x1fe	/* only of the model */

#define MSR_LBR_SELECT		0xc000010e
#define LBR_NO_KERNEL		0x1
#define MSR_DBG_EXTN_CFG	0xc000010f
#define LBRV2_ENABLED		(1u << 6)
#define MSR_BR_FROM		0xc0010300
#define MSR_BR_TO		0xc0010301

#define MSR_IBS_OP_CTL		0xc0011033
#define MSR_IBS_OP_RIP		0xc0011034
#define IBS_OP_ENABLE		(1u << 17)
#define IBS_OP_COUNT_OPS	(1u << 19)
#define IBS_OP_PERIOD		(0x8000 >> 4)	/* more than the host executes */

/* The VMCB: words of the control area, and of the state save area */
#define VMCB_WORDS		1024
#define INTERCEPT_EXCEPTIONS	(0x008 / 4)
#define INTERCEPT_3		(0x00c / 4)
#define INTERCEPT_4		(0x010 / 4)
#define MSR_PERMISSIONS		(0x048 / 4)
#define GUEST_ASID		(0x058 / 4)
#define EXIT_CODE		(0x070 / 4)
#define EVENT_INJECTION		(0x0a8 / 4)
#define SAVE_SEGMENTS		(0x400 / 4)
#define SAVE_GDTR		(0x460 / 4)
#define SAVE_IDTR		(0x480 / 4)
#define SAVE_CPL		(0x4c8 / 4)	/* in the highest byte */
#define SAVE_EFER		(0x4d0 / 4)
#define SAVE_CR0		(0x558 / 4)
#define SAVE_RFLAGS		(0x570 / 4)
#define SAVE_RIP		(0x578 / 4)
#define SAVE_RSP		(0x5d8 / 4)

#define INTERCEPT_NMI		(1u << 1)	/* INTERCEPT_3 */
#define INTERCEPT_RDPMC		(1u << 15)
#define INTERCEPT_MSR		(1u << 28)
#define INTERCEPT_VMRUN		(1u << 0)	/* INTERCEPT_4 */
#define INTERCEPT_VMMCALL	(1u << 1)

#define EXIT_UD			(0x40 + VECTOR_UD)
#define EXIT_NMI		0x61
#define EXIT_VMMCALL		0x81

/* EVENTINJ: the exception #UD */
#define INJECT_UD		(1u << 31 | 3u << 8 | VECTOR_UD)

#define CR0_PE_ET		0x11
#define CS			1
#define KERNEL_CS		0x08
#define KERNEL_DS		0x10
#define CODE_SEGMENT		0xc9bu	/* attributes: flat, 32 bits */
#define DATA_SEGMENT		0xc93u

#define PERIOD			1000

static uint32_t vmcb[VMCB_WORDS] __attribute__((aligned(4096)));
static uint32_t host_save[VMCB_WORDS] __attribute__((aligned(4096)));
static uint32_t msr_permissions[2 * VMCB_WORDS] __attribute__((aligned(4096)));
static uint32_t guest_stack[256];
static volatile uint32_t nmis, has_status;

/* Code of the guest: a loop of 1 + 2 * 100000 instructions, and others */
extern const char guest_loop[], guest_loop_end[], guest_ud[], guest_rdpmc[], guest_rdmsr[];
__asm__("guest_loop:\n"
	"	mov $100000, %ecx\n"
	"1:	dec %ecx\n"
	"	jnz 1b\n"
	"guest_loop_end:\n"
	"	vmmcall\n"
	"guest_ud:\n"
	"	nop\n"
	"	ud2\n"
	"guest_rdpmc:\n"
	"	xor %ecx, %ecx\n"
	"	rdpmc\n"
	"	vmmcall\n"
	"guest_rdmsr:\n"
	"	mov $0xc0010201, %ecx\n"
	"	rdmsr\n"
	"	vmmcall\n");

/* Handle exceptions of the host, and of the guest, which uses the host's interrupt descriptors. */
void handle(struct frame *frame)
{
	switch (frame->vector) {
	case VECTOR_NMI:
		nmis++;
		if (has_status)
			wrmsr(MSR_PERF_STATUS_CLEAR, 1);
		wrmsr(MSR_PERF_CTR, -(uint64_t)PERIOD);
		break;
	case VECTOR_UD:
		frame->eip = (uint32_t)guest_loop_end;
		break;
	default:
		print("unexpected.vector", frame->vector);
		print("unexpected.eip", frame->eip);
		stop(1);
	}
}

/* Set the guest's GDTR or IDTR: SGDT and SIDT store the limit, and then the base. */
static void set_table(unsigned int at, const uint8_t *stored)
{
	vmcb[at + 1] = stored[0] | stored[1] << 8;
	vmcb[at + 2] = stored[2] | stored[3] << 8 | stored[4] << 16 | (uint32_t)stored[5] << 24;
}

static void set_guest(const void *code, unsigned int ring)
{
	uint8_t table[6];

	for (unsigned int i = 0; i < VMCB_WORDS; i++)
		vmcb[i] = 0;
	vmcb[INTERCEPT_EXCEPTIONS] = 1u << VECTOR_UD;
	vmcb[INTERCEPT_3] = INTERCEPT_NMI | INTERCEPT_RDPMC | INTERCEPT_MSR;
	vmcb[INTERCEPT_4] = INTERCEPT_VMRUN | INTERCEPT_VMMCALL;
	vmcb[MSR_PERMISSIONS] = (uint32_t)msr_permissions;
	vmcb[GUEST_ASID] = 1;
	for (unsigned int i = 0; i < 4; i++) {	/* ES, CS, SS, DS */
		uint32_t *segment = &vmcb[SAVE_SEGMENTS + i * 4];

		segment[0] = (i == CS ? KERNEL_CS | CODE_SEGMENT << 16 :
					KERNEL_DS | DATA_SEGMENT << 16) | ring | ring << 21;
		segment[1] = 0xffffffff;
	}
	__asm__ volatile("sgdt %0" : "=m"(table));
	set_table(SAVE_GDTR, table);
	__asm__ volatile("sidt %0" : "=m"(table));
	set_table(SAVE_IDTR, table);
	vmcb[SAVE_CPL] = ring << 24;
	vmcb[SAVE_EFER] = EFER_SVME;
	vmcb[SAVE_CR0] = CR0_PE_ET;
	vmcb[SAVE_RFLAGS] = 2;
	vmcb[SAVE_RIP] = (uint32_t)code;
	vmcb[SAVE_RSP] = (uint32_t)(guest_stack + 256);
}

/* Run the guest until it exits; the guest's ECX persists. An NMI is taken after STGI. */
static uint32_t run_guest(void)
{
	static uint32_t ecx;

	__asm__ volatile("mov %1, %%ecx\n\tclgi\n\tvmrun\n\tstgi\n\tmov %%ecx, %1"
			 : : "a"(vmcb), "m"(ecx) : "ecx", "edx", "memory", "cc");
	return vmcb[EXIT_CODE];
}

static void run_loop(unsigned int ring)
{
	uint32_t code;

	set_guest(guest_loop, ring);
	do
		code = run_guest();
	while (code == EXIT_NMI);
	if (code != EXIT_VMMCALL || vmcb[SAVE_RIP] != (uint32_t)guest_loop_end)
		print("unexpected.exit", code);
}

static void start(uint64_t select, uint64_t value)
{
	wrmsr(MSR_PERF_CTL, 0);
	wrmsr(MSR_PERF_CTR, value);
	wrmsr(MSR_PERF_CTL, SEL_EN | select);
}

static uint64_t stop_counter(void)
{
	wrmsr(MSR_PERF_CTL, 0);
	return rdmsr(MSR_PERF_CTR);
}

static uint64_t count(uint64_t select, unsigned int ring)
{
	start(EVENT_INSTRUCTIONS | select, 0);
	run_loop(ring);
	return stop_counter();
}

static void test_counts(void)
{
	print("all.user.guest3", count(SEL_USR, 3));
	print("all.user.guest0", count(SEL_USR, 0));
	print("all.kernel.guest3", count(SEL_OS, 3));
	print("all.kernel.guest0", count(SEL_OS, 0));
	print("guest.user.guest3", count(SEL_GUEST_ONLY | SEL_USR, 3));
	print("guest.user.guest0", count(SEL_GUEST_ONLY | SEL_USR, 0));
	print("guest.kernel.guest3", count(SEL_GUEST_ONLY | SEL_OS, 3));
	print("guest.kernel.guest0", count(SEL_GUEST_ONLY | SEL_OS, 0));
	print("guest.any.guest0", count(SEL_GUEST_ONLY | SEL_OS | SEL_USR, 0));
	print("host.user.guest3", count(SEL_HOST_ONLY | SEL_USR, 3));
	print("host.any.guest3", count(SEL_HOST_ONLY | SEL_OS | SEL_USR, 3));
	print("host.any.guest0", count(SEL_HOST_ONLY | SEL_OS | SEL_USR, 0));
	print("both.user.guest3", count(SEL_HOST_ONLY | SEL_GUEST_ONLY | SEL_USR, 3));
}

static uint64_t count_without_svme(uint64_t select)
{
	uint32_t n = 1000;

	start(EVENT_INSTRUCTIONS | SEL_OS | select, 0);
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n));
	return stop_counter();
}

static void test_without_svme(void)
{
	wrmsr(MSR_EFER, 0);
	print("off.all", count_without_svme(0));
	print("off.guest", count_without_svme(SEL_GUEST_ONLY));
	print("off.host", count_without_svme(SEL_HOST_ONLY));
	print("off.both", count_without_svme(SEL_GUEST_ONLY | SEL_HOST_ONLY));
	wrmsr(MSR_EFER, EFER_SVME);
}

/* An intercepted instruction is not executed, and the intercept does not count as an exception. */
static void test_exits(void)
{
	uint64_t direct, injected;

	start(EVENT_EXCEPTIONS | SEL_OS | SEL_USR, 0);
	run_loop(3);
	set_guest(guest_ud, 0);
	print("exit.ud", run_guest());
	print("exit.exceptions", stop_counter());

	start(EVENT_INSTRUCTIONS | SEL_GUEST_ONLY | SEL_OS, 0);
	set_guest(guest_ud, 0);
	run_guest();
	print("exit.instructions", rdmsr(MSR_PERF_CTR));
	vmcb[EVENT_INJECTION] = INJECT_UD;
	run_guest();
	injected = stop_counter();

	start(EVENT_INSTRUCTIONS | SEL_GUEST_ONLY | SEL_OS, 0);
	set_guest(guest_ud, 0);
	vmcb[INTERCEPT_EXCEPTIONS] = 0;
	print("exit.handler", run_guest());
	direct = stop_counter();
	print("exit.injected", injected - direct);
}

/* A hypervisor intercepts the registers of the PMU, or gives them to the guest. */
static void test_registers(void)
{
	wrmsr(MSR_PERF_CTL, 0);
	wrmsr(MSR_PERF_CTR, 1234);
	set_guest(guest_rdpmc, 0);
	print("exit.rdpmc", run_guest());
	for (unsigned int i = 0; i < 2 * VMCB_WORDS; i++)
		msr_permissions[i] = 0xffffffff;
	set_guest(guest_rdmsr, 0);
	print("exit.rdmsr", run_guest());
	for (unsigned int i = 0; i < 2 * VMCB_WORDS; i++)
		msr_permissions[i] = 0;
	set_guest(guest_rdmsr, 0);
	print("exit.rdmsr-passed", run_guest());
}

static void sample(const char *what, uint64_t select, unsigned int ring)
{
	nmis = 0;
	start(EVENT_INSTRUCTIONS | SEL_INT | select, -(uint64_t)PERIOD);
	run_loop(ring);
	stop_counter();
	print(what, nmis);
}

static void test_interrupts(void)
{
	apic_write(APIC_SPURIOUS, 0x1ff);
	apic_write(APIC_LVTPC, LVT_NMI);
	sample("nmi.guest.guest3", SEL_GUEST_ONLY | SEL_USR, 3);
	sample("nmi.guest.guest0", SEL_GUEST_ONLY | SEL_OS, 0);
	sample("nmi.host.guest3", SEL_HOST_ONLY | SEL_USR, 3);
}

/* The youngest branch that ends in user space, as the distance from the guest's loop */
static uint64_t user_branch(unsigned int ring)
{
	wrmsr(MSR_LBR_SELECT, LBR_NO_KERNEL);
	wrmsr(MSR_BR_FROM, (uint32_t)guest_loop - 1);
	wrmsr(MSR_DBG_EXTN_CFG, LBRV2_ENABLED);
	run_loop(ring);
	wrmsr(MSR_DBG_EXTN_CFG, 0);
	return (uint32_t)rdmsr(MSR_BR_FROM) - (uint32_t)guest_loop;
}

static void test_branches(void)
{
	print("lbr.guest3", user_branch(3));
	print("lbr.guest0", user_branch(0));
}

static void test_ibs(void)
{
	nmis = 0;
	wrmsr(MSR_IBS_OP_CTL, IBS_OP_ENABLE | IBS_OP_COUNT_OPS | IBS_OP_PERIOD);
	run_loop(3);
	print("ibs.nmis", nmis);
	print("ibs.guest3", (uint32_t)rdmsr(MSR_IBS_OP_RIP) - (uint32_t)guest_loop);
	wrmsr(MSR_IBS_OP_CTL, 0);
}

int main(void)
{
	uint32_t regs[4], features;

	cpuid(0x80000001, regs);
	features = regs[2];
	cpuid(0x80000000, regs);
	if (regs[0] >= 0x80000022) {
		cpuid(0x80000022, regs);
		has_status = regs[0] & 1;
	}
	wrmsr(MSR_EFER, EFER_SVME);
	wrmsr(MSR_VM_HSAVE_PA, (uint32_t)host_save);
	test_counts();
	test_without_svme();
	test_exits();
	test_registers();
	test_interrupts();
	if (has_status && regs[0] & 2)
		test_branches();
	if (features >> 10 & 1)
		test_ibs();
	print("end", 1);
	return 0;
}
