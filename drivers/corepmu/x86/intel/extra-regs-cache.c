// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: values of OFFCORE_RSP and OMR for generic cache events on Intel CPUs
 *
 * The values are those of the *_hw_cache_extra_regs[] in arch/x86/events/intel/core.c of Linux 7.3.
 * From Ice Lake's servers on, perf's lists agree (OCR.DEMAND_DATA_RD.L3_MISS and so on in
 * tools/perf/pmu-events/arch/x86). Up to 6.12 the kernel used the values of older CPUs for these.
 *
 * The events are ENOENT if a hypervisor withholds the registers, and on Nehalem, Westmere,
 * Silvermont and Knights Landing.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>

#include "uarch-bits.h"
#include "../msr.h"
#include "../x86.h"

/*
 * Requests: demand loads and stores (on Sandy Bridge also prefetches into the last-level cache),
 * and prefetches. Responses: any, or memory, by its location.
 */
#define DATA_READ	BIT_ULL(0)
#define OWNERSHIP	BIT_ULL(1)
#define PREFETCH	GENMASK_ULL(5, 4)
#define SNB_READ	(DATA_READ | BIT_ULL(7))
#define SNB_WRITE	(OWNERSHIP | BIT_ULL(8))
#define ANY		BIT_ULL(16)
#define SNB_MEMORY	GENMASK_ULL(36, 22)
#define SNB_REMOTE	GENMASK_ULL(36, 23)
#define SNB_MISS	GENMASK_ULL(37, 22)
#define SNOOPS		GENMASK_ULL(36, 31)
#define NO_DRAM		BIT_ULL(37)
#define HSW_LOCAL	BIT_ULL(22)
#define BDW_LOCAL	BIT_ULL(26)
#define HOPS		GENMASK_ULL(29, 27)
#define NO_SUPPLIER	BIT_ULL(17)
#define SKL_SNOOPS	GENMASK_ULL(36, 30)
#define GLM_MISS	(GENMASK_ULL(34, 33) | GENMASK_ULL(37, 36))
#define GLC_READ_MISS	(GENMASK_ULL(29, 22) | GENMASK_ULL(37, 31))
#define GLC_WRITE	(GENMASK_ULL(29, 18) | GENMASK_ULL(37, 32))
#define GLC_WRITE_MISS	(GENMASK_ULL(29, 22) | GENMASK_ULL(37, 32))
/* LOCAL_DRAM, REMOTE_DRAM */
#define SERVER_NODE	(BIT_ULL(32) | BIT_ULL(26))
#define SERVER_REMOTE	(GENMASK_ULL(34, 32) | GENMASK_ULL(29, 28))
#define LNC_MISS	(BIT_ULL(43) | GENMASK_ULL(40, 37) | GENMASK_ULL(34, 27) | BIT_ULL(25))
#define ARL_MISS	(GENMASK_ULL(43, 37) | GENMASK_ULL(34, 27))
#define GRT_MISS	(GENMASK_ULL(37, 31) | BIT_ULL(26) | BIT_ULL(22))
#define SKT_MISS	(BIT_ULL(40) | GLC_READ_MISS)
#define DKT_MISS	(BIT_ULL(41) | SKT_MISS)
#define TNT_MISS	(BIT_ULL(26) | GENMASK_ULL(37, 32))

/* OMR responses: any; or neither from the last-level cache nor from another CPU's cache */
#define OMR_ANY		BIT_ULL(62)
#define OMR_MISS	(GENMASK_ULL(55, 48) | GENMASK_ULL(41, 36))
#define PNC_MISS	GENMASK_ULL(55, 36)
/* On Arctic Wolf these bits are the demand requests of the data cache. */
#define ARW_DEMAND	BIT_ULL(3)

#define SKX	(SKL | ICL)
#define NEW	(GLC | RWC)
#define ATOMS	(GLM_GLP | TNT | GRT | CMT | SKT)

/* The CPUs of a microarchitecture that a row is for */
enum which {
	CLIENTS		= BIT(0),
	SERVERS		= BIT(1),
	ARROW_LAKE	= BIT(2),
	ALL		= CLIENTS | SERVERS | ARROW_LAKE,
};

/**
 * struct extra_reg_generic - value of an extra register for a generic cache event
 * @uarches: microarchitectures of the row, a bit each
 * @which: CPUs of these microarchitectures: enum which
 * @generic: perf_event_attr.config
 * @value: value of an MSR_OFFCORE_RSP_n or MSR_OMR_n register
 */
struct extra_reg_generic {
	u32		uarches;
	enum which	which;
	u32		generic;
	u64		value;
};

static const struct extra_reg_generic offcore_events[] = {
	{ SNB_IVB, ALL, X86_CACHE(LL, READ, ACCESS), SNB_READ | ANY },
	{ SNB_IVB, ALL, X86_CACHE(LL, READ, MISS), SNB_READ | SNB_MISS },
	{ SNB_IVB, ALL, X86_CACHE(LL, WRITE, ACCESS), SNB_WRITE | ANY },
	{ SNB_IVB, ALL, X86_CACHE(LL, WRITE, MISS), SNB_WRITE | SNB_MISS },
	{ SNB_IVB, ALL, X86_CACHE(LL, PREFETCH, ACCESS), PREFETCH | ANY },
	{ SNB_IVB, ALL, X86_CACHE(LL, PREFETCH, MISS), PREFETCH | SNB_MISS },
	{ SNB_IVB, ALL, X86_CACHE(NODE, READ, ACCESS), SNB_READ | SNB_MEMORY },
	{ SNB_IVB, ALL, X86_CACHE(NODE, READ, MISS), SNB_READ | SNB_REMOTE },
	{ SNB_IVB, ALL, X86_CACHE(NODE, WRITE, ACCESS), SNB_WRITE | SNB_MEMORY },
	{ SNB_IVB, ALL, X86_CACHE(NODE, WRITE, MISS), SNB_WRITE | SNB_REMOTE },
	{ SNB_IVB, ALL, X86_CACHE(NODE, PREFETCH, ACCESS), PREFETCH | SNB_MEMORY },
	{ SNB_IVB, ALL, X86_CACHE(NODE, PREFETCH, MISS), PREFETCH | SNB_REMOTE },

	{ HSW | BDW | ATOMS, ALL, X86_CACHE(LL, READ, ACCESS), DATA_READ | ANY },
	{ HSW | BDW | ATOMS, ALL, X86_CACHE(LL, WRITE, ACCESS), OWNERSHIP | ANY },
	{ HSW, ALL, X86_CACHE(LL, READ, MISS), DATA_READ | HSW_LOCAL | HOPS | SNOOPS | NO_DRAM },
	{ HSW, ALL, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | HSW_LOCAL | HOPS | SNOOPS | NO_DRAM },
	{ BDW, ALL, X86_CACHE(LL, READ, MISS), DATA_READ | BDW_LOCAL | HOPS | SNOOPS },
	{ BDW, ALL, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | BDW_LOCAL | HOPS | SNOOPS },
	{ HSW, ALL, X86_CACHE(NODE, READ, ACCESS), DATA_READ | HSW_LOCAL | SNOOPS },
	{ HSW, ALL, X86_CACHE(NODE, WRITE, ACCESS), OWNERSHIP | HSW_LOCAL | SNOOPS },
	{ BDW, ALL, X86_CACHE(NODE, READ, ACCESS), DATA_READ | BDW_LOCAL | SNOOPS },
	{ BDW, ALL, X86_CACHE(NODE, WRITE, ACCESS), OWNERSHIP | BDW_LOCAL | SNOOPS },
	{ HSW | BDW, ALL, X86_CACHE(NODE, READ, MISS), DATA_READ | HOPS | SNOOPS },
	{ HSW | BDW, ALL, X86_CACHE(NODE, WRITE, MISS), OWNERSHIP | HOPS | SNOOPS },

	{ SKX, CLIENTS, X86_CACHE(LL, READ, ACCESS), DATA_READ | ANY | SKL_SNOOPS | NO_DRAM },
	{ SKX, CLIENTS, X86_CACHE(LL, READ, MISS),
	  DATA_READ | NO_SUPPLIER | BDW_LOCAL | HOPS | SKL_SNOOPS | NO_DRAM },
	{ SKX, CLIENTS, X86_CACHE(LL, WRITE, ACCESS), OWNERSHIP | ANY | SKL_SNOOPS | NO_DRAM },
	{ SKX, CLIENTS, X86_CACHE(LL, WRITE, MISS),
	  OWNERSHIP | NO_SUPPLIER | BDW_LOCAL | HOPS | SKL_SNOOPS | NO_DRAM },
	{ SKX, CLIENTS, X86_CACHE(NODE, READ, ACCESS), DATA_READ | BDW_LOCAL | SKL_SNOOPS },
	{ SKX, CLIENTS, X86_CACHE(NODE, READ, MISS), DATA_READ | HOPS | SKL_SNOOPS },
	{ SKX, CLIENTS, X86_CACHE(NODE, WRITE, ACCESS), OWNERSHIP | BDW_LOCAL | SKL_SNOOPS },
	{ SKX, CLIENTS, X86_CACHE(NODE, WRITE, MISS), OWNERSHIP | HOPS | SKL_SNOOPS },

	{ ICL | NEW, SERVERS, X86_CACHE(LL, READ, ACCESS), DATA_READ | ANY },
	{ ICL | NEW, SERVERS, X86_CACHE(LL, READ, MISS), DATA_READ | GLC_READ_MISS },
	{ ICL | NEW, SERVERS, X86_CACHE(LL, WRITE, ACCESS), OWNERSHIP | GLC_WRITE },
	{ ICL | NEW, SERVERS, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | GLC_WRITE_MISS },
	{ ICL | NEW, SERVERS, X86_CACHE(NODE, READ, ACCESS), DATA_READ | SERVER_NODE },
	{ ICL | NEW, SERVERS, X86_CACHE(NODE, READ, MISS), DATA_READ | SERVER_REMOTE },
	{ ICL, SERVERS, X86_CACHE(NODE, WRITE, ACCESS), OWNERSHIP | SERVER_NODE },
	{ ICL, SERVERS, X86_CACHE(NODE, WRITE, MISS), OWNERSHIP | SERVER_REMOTE },
	{ NEW, CLIENTS, X86_CACHE(LL, READ, ACCESS), DATA_READ | ANY },
	{ NEW, CLIENTS, X86_CACHE(LL, WRITE, ACCESS), OWNERSHIP | ANY },
	{ LNC, ALL, X86_CACHE(LL, READ, ACCESS), DATA_READ | ANY },
	{ LNC, ALL, X86_CACHE(LL, WRITE, ACCESS), OWNERSHIP | ANY },
	{ NEW, CLIENTS, X86_CACHE(LL, READ, MISS), DATA_READ | GLC_READ_MISS },
	{ NEW, CLIENTS, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | GLC_READ_MISS },
	{ LNC, CLIENTS, X86_CACHE(LL, READ, MISS), DATA_READ | LNC_MISS },
	{ LNC, CLIENTS, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | LNC_MISS },
	{ LNC, ARROW_LAKE, X86_CACHE(LL, READ, MISS), DATA_READ | ARL_MISS },
	{ LNC, ARROW_LAKE, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | ARL_MISS },

	{ GLM, ALL, X86_CACHE(LL, PREFETCH, ACCESS), PREFETCH | ANY },
	{ GLM, ALL, X86_CACHE(LL, PREFETCH, MISS), PREFETCH | GLM_MISS },
	{ GLM_GLP, ALL, X86_CACHE(LL, READ, MISS), DATA_READ | GLM_MISS },
	{ GLM_GLP, ALL, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | GLM_MISS },
	{ TNT, ALL, X86_CACHE(LL, READ, MISS), DATA_READ | TNT_MISS },
	{ TNT, ALL, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | TNT_MISS },
	{ GRT, ALL, X86_CACHE(LL, READ, MISS), DATA_READ | GRT_MISS },
	{ GRT, ALL, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | GRT_MISS },
	{ CMT, ALL, X86_CACHE(LL, READ, MISS), DATA_READ | GLC_READ_MISS },
	{ CMT, ALL, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | GLC_READ_MISS },
	{ SKT, CLIENTS | ARROW_LAKE, X86_CACHE(LL, READ, MISS), DATA_READ | SKT_MISS },
	{ SKT, CLIENTS | ARROW_LAKE, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | SKT_MISS },
	{ SKT, SERVERS, X86_CACHE(LL, READ, MISS), DATA_READ | DKT_MISS },
	{ SKT, SERVERS, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | DKT_MISS },

	{ CYC | PNC, ALL, X86_CACHE(LL, READ, ACCESS), DATA_READ | OMR_ANY },
	{ CYC | PNC, ALL, X86_CACHE(LL, WRITE, ACCESS), OWNERSHIP | OMR_ANY },
	{ CYC, ALL, X86_CACHE(LL, READ, MISS), DATA_READ | OMR_MISS },
	{ CYC, ALL, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | OMR_MISS },
	{ PNC, ALL, X86_CACHE(LL, READ, MISS), DATA_READ | PNC_MISS },
	{ PNC, ALL, X86_CACHE(LL, WRITE, MISS), OWNERSHIP | PNC_MISS },
	{ ARW, ALL, X86_CACHE(LL, READ, ACCESS), ARW_DEMAND | DATA_READ | OMR_ANY },
	{ ARW, ALL, X86_CACHE(LL, WRITE, ACCESS), ARW_DEMAND | OWNERSHIP | OMR_ANY },
	{ ARW, ALL, X86_CACHE(LL, READ, MISS), ARW_DEMAND | DATA_READ | OMR_MISS },
	{ ARW, ALL, X86_CACHE(LL, WRITE, MISS), ARW_DEMAND | OWNERSHIP | OMR_MISS },
};

/*
 * SERVERS: Ice Lake, Sapphire Rapids, Emerald Rapids, Granite Rapids, Clearwater Forest
 * (arch/x86/include/asm/intel-family.h). Skylake's servers have the clients' values. Arrow Lake's
 * last-level cache differs from Lunar Lake's.
 */
static enum which which_is_this(void)
{
	switch (intel_p6_model()) {
	case 0x6a:
	case 0x6c:
	case 0x8f:
	case 0xad:
	case 0xae:
	case 0xcf:
	case 0xdd:
		return SERVERS;
	case 0xc5:
	case 0xc6:
		return ARROW_LAKE;
	default:
		return CLIENTS;
	}
}

/* Bits of perf_event_attr.config that differ between the four events of the last-level cache */
#define GENERIC_WRITES	(X86_CACHE(LL, WRITE, ACCESS) & ~X86_CACHE(LL, READ, ACCESS))
#define GENERIC_MISSES	(X86_CACHE(LL, READ, MISS) & ~X86_CACHE(LL, READ, ACCESS))

/**
 * intel_extra_reg_cache_register() - choose the extra register for a PERF_TYPE_HW_CACHE event
 * @uarch: the microarchitecture
 * @generic: cache, operation << 8, result << 16
 *
 * On Arctic Wolf an event cannot change its register, and each register belongs to one counter. So
 * each of the four last-level cache events gets its own register, and they need not take turns.
 *
 * Return: offset from the first register; meaningless for events without a value
 */
unsigned int intel_extra_reg_cache_register(const struct intel_uarch *uarch, u64 generic)
{
	if (uarch != &intel_uarches[UARCH_ARCTIC_WOLF])
		return 0;

	return (generic & GENERIC_WRITES ? 2 : 0) + (generic & GENERIC_MISSES ? 1 : 0);
}

/**
 * intel_extra_reg_cache_value() - return the value of OFFCORE_RSP or OMR for a PERF_TYPE_HW_CACHE
 * event
 * @uarch: the microarchitecture
 * @generic: cache, operation << 8, result << 16
 * @value: set to the value
 *
 * Return: true if there is such an event
 */
bool intel_extra_reg_cache_value(const struct intel_uarch *uarch, u64 generic, u64 *value)
{
	enum which own = which_is_this();
	const struct extra_reg_generic *event;

	for (event = offcore_events; event < offcore_events + ARRAY_SIZE(offcore_events); event++) {
		if (event->generic != generic || !(event->uarches & BIT(uarch - intel_uarches)) ||
		    !(event->which & own))
			continue;
		*value = event->value;
		return true;
	}

	return false;
}
