/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86.h - the PMUs of the plugin x86-pmu, whose cycles are instructions plus branches
 *
 * Numbers of events and counters are from the Intel SDM, volume 3, "Architectural Performance
 * Monitoring", and the AMD APM, volume 2, "Performance Monitoring Counters"; CPUID selects one of
 * them. Zhaoxin's CPUs have Intel's counters, and the events of openEuler's kernel,
 * arch/x86/events/zhaoxin/core.c.
 */
#ifndef ARCH_X86_H
#define ARCH_X86_H

#include <cpuid.h>
#include <errno.h>
#include <linux/perf_event.h>

static inline unsigned int arch_loop_cycles(const char *pmu)
{
	(void)pmu;
	return 3;
}

#define ARCH_BY_VENDOR(intel, amd, zhaoxin) \
	(arch_is_amd() ? (amd) : arch_is_zhaoxin() ? (zhaoxin) : (intel))

#define ARCH_EVENT_CYCLES	ARCH_BY_VENDOR(0x3c, 0x76, 0x82)
#define ARCH_EVENT_INSTRUCTIONS	0xc0
#define ARCH_EVENT_BRANCHES	ARCH_BY_VENDOR(0xc4, 0xc2, 0x28)
/* An event for any counter that counts nothing on any CPU */
#define ARCH_EVENT_SILENT	0xf7
#define ARCH_EVENT_UNKNOWN	ARCH_EVENT_SILENT
#define ARCH_MISSING_GENERIC	ARCH_BY_VENDOR(PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, \
					       PERF_COUNT_HW_BUS_CYCLES, \
					       PERF_COUNT_HW_REF_CPU_CYCLES)
#define ARCH_MISSING_GENERIC_2	ARCH_BY_VENDOR(PERF_COUNT_HW_STALLED_CYCLES_BACKEND, \
					       PERF_COUNT_HW_BUS_CYCLES, \
					       PERF_COUNT_HW_REF_CPU_CYCLES)
#define ARCH_MISSING_CACHE	ARCH_BY_VENDOR(PERF_COUNT_HW_CACHE_L1I, \
					       PERF_COUNT_HW_CACHE_LL, PERF_COUNT_HW_CACHE_LL)
#define ARCH_WIDE_CYCLES	false
#define ARCH_CONFIG1_LONG	0ULL
#define ARCH_CONFIG1_RDPMC	0ULL
#define ARCH_INTERRUPTS		"NMI:"
/* The file by which the administrator allows user-space reads; %s is the PMU's name. */
#define ARCH_USER_READ_FILE	"/sys/bus/event_source/devices/%s/rdpmc"
/* Signal of a read that is not allowed */
#define ARCH_USER_READ_SIGNAL	SIGSEGV
#define ARCH_EXCLUDE_IDLE	0
#define ARCH_SENSELESS_EVENT	(-EINVAL)
#define ARCH_DEFAULT_PMU	"corepmu"

#define ARCH_KNOWN_LOOP		KNOWN_LOOP("dec %rdi", "jnz 1b", "ret")
#define ARCH_SLOW_LOOP		SLOW_LOOP("imul %rax, %rax", "dec %rdi", "jnz 1b", "ret")

static inline unsigned int arch_vendor_ebx(void)
{
	unsigned int max, ebx, ecx, edx;

	__cpuid(0, max, ebx, ecx, edx);
	return ebx;
}

static inline bool arch_is_amd(void)
{
	return arch_vendor_ebx() == signature_AMD_ebx;
}

/* Zhaoxin's CPUs are "CentaurHauls" or "  Shanghai  ": EBX has the first four characters. */
#define ARCH_SHANGHAI_EBX	0x68532020

static inline bool arch_is_zhaoxin(void)
{
	unsigned int ebx = arch_vendor_ebx();

	return ebx == signature_CENTAUR_ebx || ebx == ARCH_SHANGHAI_EBX;
}

static inline bool arch_long_counters(void)
{
	return false;
}

static inline unsigned int arch_libc_slack(void)
{
	return 0;
}

/* CPUID.0AH: EAX[7:0] version, EAX[15:8] counters, EDX[4:0] and ECX fixed ones. */
static inline unsigned int arch_intel_version(void)
{
	unsigned int eax = 0, ebx, ecx, edx;

	__get_cpuid(0xa, &eax, &ebx, &ecx, &edx);
	return eax & 0xff;
}

/* CPUID.0AH: EAX[31:24] bits of EBX are valid; EBX[0]: the event of cycles is not available. */
static inline bool arch_lacks_cycles(void)
{
	unsigned int eax = 0, ebx = 0, ecx, edx;

	__get_cpuid(0xa, &eax, &ebx, &ecx, &edx);
	return !arch_is_amd() && eax >> 24 && (ebx & 1);
}

/* From version 6 on leaf 0x23 lists the counters, whatever leaf 0xa reports. */
static inline void arch_intel_bitmaps(unsigned int *gp, unsigned int *fixed)
{
	unsigned int eax = 0, ebx = 0, ecx, edx;

	if (!__get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) || !(eax & 1U << 8) ||
	    !__get_cpuid_count(0x23, 0, &eax, &ebx, &ecx, &edx) || !(eax & 1U << 1))
		return;
	__get_cpuid_count(0x23, 1, &eax, &ebx, &ecx, &edx);
	*gp = __builtin_popcount(eax);
	*fixed = ebx;
}

static inline struct arch_counters arch_intel_counters(void)
{
	unsigned int eax = 0, ebx, ecx = 0, edx = 0, version, fixed, gp;

	__get_cpuid(0xa, &eax, &ebx, &ecx, &edx);
	version = eax & 0xff;
	gp = eax >> 8 & 0xff;
	fixed = version >= 2 ? (1U << (edx & 0x1f)) - 1 : 0;
	if (version >= 5)
		fixed |= ecx;
	arch_intel_bitmaps(&gp, &fixed);
	return (struct arch_counters) {
		.instructions	= gp + (fixed & 1),
		.cycles		= gp + (fixed >> 1 & 1),
		.all		= gp + (fixed & 1) + (fixed >> 1 & 1),
		.branches	= gp,
	};
}

#define ARCH_AMD_PERFCTR_CORE	(1U << 23)	/* CPUID Fn8000_0001 ECX */
#define ARCH_AMD_PERFMON_V2	(1U << 0)	/* CPUID Fn8000_0022 EAX */

static inline bool arch_amd_v2(unsigned int *counters)
{
	unsigned int eax = 0, ebx = 0, ecx, edx;

	__get_cpuid(0x80000022, &eax, &ebx, &ecx, &edx);
	*counters = ebx & 0xf;
	return eax & ARCH_AMD_PERFMON_V2;
}

static inline struct arch_counters arch_amd_counters(void)
{
	unsigned int eax, ebx, ecx = 0, edx, nr;

	if (!arch_amd_v2(&nr)) {
		__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx);
		nr = ecx & ARCH_AMD_PERFCTR_CORE ? 6 : 4;
	}
	return (struct arch_counters) { nr, nr, nr, nr };
}

static inline struct arch_counters arch_counters(void)
{
	return arch_is_amd() ? arch_amd_counters() : arch_intel_counters();
}

#define ARCH_TSX_FORCE_ABORT	(1U << 13)	/* CPUID.(EAX=07H,ECX=0H) EDX */

/*
 * Instructions events that fit the counters listed by CPUID; 0 if it lists none. A driver may leave
 * out the counter that microcode uses while a transaction runs (TSX_FORCE_ABORT).
 */
static inline unsigned int arch_listed_counters(void)
{
	unsigned int eax, ebx, ecx, edx = 0;

	if (!arch_is_amd() && !arch_intel_version())
		return 0;
	__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx);
	return arch_counters().instructions - !!(edx & ARCH_TSX_FORCE_ABORT);
}

#define ARCH_INTEL_VMX		(1U << 5)	/* CPUID.01H ECX */

static inline struct arch_level arch_kernel_level(void)
{
	unsigned int eax, ebx, vmx = 0, edx;

	__get_cpuid(1, &eax, &ebx, &vmx, &edx);
	return (struct arch_level) {
		.name		= "in ring 0",
		/* AMD's counters distinguish guests in hardware. */
		.has_guests	= vmx & ARCH_INTEL_VMX,
	};
}

/* Bits of the counters: CPUID.0AH:EAX[23:16]; AMD has 48. */
static inline unsigned int arch_user_width(bool is_long)
{
	unsigned int eax = 0, ebx, ecx, edx;

	(void)is_long;
	__get_cpuid(0xa, &eax, &ebx, &ecx, &edx);
	return arch_is_amd() ? 48 : eax >> 16 & 0xff;
}

/* Counters that user space may try to read */
static const unsigned int arch_user_counters[] = {
	0, 1, 2, 3, 4, 5, 6, 7, 1U << 30, (1U << 30) + 1, (1U << 30) + 2
};

/* Intel's version 2 and AMD's PerfMonV2 have a register that enables all counters. */
static inline unsigned int arch_group_slack(void)
{
	unsigned int nr;

	if (arch_is_amd() ? arch_amd_v2(&nr) : arch_intel_version() >= 2)
		return 0;
	return 64;
}

#endif /* ARCH_X86_H */
