// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tests of the extra registers of the virtual x86 PMU, without QEMU. KTAP on stdout.
 */
#include "tests/x86/model/uarch-cpu.h"

/* Response bits besides "any" on most microarchitectures: each adds one share of the count */
#define SHARES	21

/* Any response to an off-module request */
#define OMR_ANY	BIT(62)

/*
 * Return the count of counter 0 for SHARES times 1 load, 2 stores, 3 cache references, 5 calls and
 * 7 returns
 */
static uint64_t second(uint64_t event, uint32_t msr, uint64_t value)
{
	uint64_t count;

	if (!put(msr, value) || !put(IA32_PMC, 0) || !put(IA32_PERFEVTSEL, EN | USR | event))
		return 0xdeaddeaddeaddead;
	happens(X86_PMU_LOADS, 1 * SHARES);
	happens(X86_PMU_STORES, 2 * SHARES);
	happens(X86_PMU_CACHE_REFS, 3 * SHARES);
	/* One load and one store miss the cache. */
	happens(X86_PMU_LOAD_MISSES, 1);
	happens(X86_PMU_CACHE_MISSES, 2);
	happens(X86_PMU_CALLS, 5 * SHARES);
	happens(X86_PMU_RETURNS, 7 * SHARES);
	count = get(IA32_PMC);
	put(IA32_PERFEVTSEL, 0);
	return count;
}

/* For each pair of the kernel's generic cache events, misses are at most as many as accesses. */
static void test_cache_pairs(void)
{
	/* Linux 6.12: ..._hw_cache_extra_regs[] */
	static const struct {
		const char *uarch;
		uint64_t event;
		uint64_t access;
		uint64_t miss;
	} pairs[] = {
		{ "haswell", 0x1b7, 0x10001, 0x3fb8400001 },
		{ "haswell", 0x1b7, 0x10002, 0x3fb8400002 },
		{ "haswell", 0x1b7, 0x1f80400001, 0x1fb8000001 },
		{ "skylake", 0x1b7, 0x10001, 0x3ffc020001 },
		{ "skylake", 0x1b7, 0x10002, 0x3ffc020002 },
		{ "skylake", 0x1b7, 0x1fc4000001, 0x1ff8000001 },
		{ "sapphire-rapids", 0x12a, 0x10001, 0x3fbfc00001 },
		{ "sapphire-rapids", 0x12a, 0x3f3ffc0002, 0x3f3fc00002 },
		{ "sapphire-rapids", 0x12a, 0x10c000001, 0x3fb3000001 },
		{ "lunar-lake", 0x12a, 0x10001, 0x9e7fa000001 },
		{ "lunar-lake", 0x12a, 0x10002, 0x9e7fa000002 },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		uint64_t miss, access;

		EXPECT(make(pairs[i].uarch));
		access = second(pairs[i].event, MSR_OFFCORE_RSP_0, pairs[i].access);
		miss = second(pairs[i].event, MSR_OFFCORE_RSP_0, pairs[i].miss);
		EXPECT(miss && miss <= access && access <= 3 * SHARES);
	}
}

/* Values are MSRValue, and names are EventName, of perf's pmu-events. */
static void test_extra_reg(void)
{
	EXPECT(make("skylake"));
	/* OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE, .DEMAND_RFO.ANY_RESPONSE, .OTHER. */
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x10001) == SHARES);
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x10002) == 2 * SHARES);
	EXPECT(second(0x1bb, MSR_OFFCORE_RSP_1, 0x10003) == 3 * SHARES);
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x18000) == 5 * SHARES);
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x30001) == SHARES + 1);
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x10000) == 0);
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x00001) == 0);
	/* the event of the other register */
	EXPECT(put(MSR_OFFCORE_RSP_0, 0x10001));
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_1, 0x10002) == SHARES);
	/* FRONTEND_RETIRED.DSB_MISS, .STLB_MISS, .LATENCY_GE_1 */
	EXPECT(second(0x1c6, MSR_PEBS_FRONTEND, 0x11) == 7 * SHARES);
	EXPECT(second(0x1c6, MSR_PEBS_FRONTEND, 0x15) == 35 * SHARES);
	EXPECT(second(0x1c6, MSR_PEBS_FRONTEND, 0x400106) == 126 * SHARES);
	/* reserved bits */
	EXPECT(!put(MSR_OFFCORE_RSP_0, BIT(12)) && !put(MSR_OFFCORE_RSP_0, BIT(38)));
	EXPECT(!put(MSR_PEBS_FRONTEND, BIT(3)) && get(MSR_PEBS_FRONTEND) == 0x400106);

	EXPECT(make("sapphire-rapids"));
	EXPECT(second(0x12b, MSR_OFFCORE_RSP_1, 0x10001) == SHARES);
	EXPECT(second(0x1b7, MSR_OFFCORE_RSP_0, 0x10001) == 0);
	/* INT_MISC.UNKNOWN_BRANCH_CYCLES, UOPS_RETIRED.MS: each uses other bits of the register */
	EXPECT(second(0x40ad, MSR_PEBS_FRONTEND, 0x7) == 49 * SHARES);
	EXPECT(second(0x4c2, MSR_PEBS_FRONTEND, 0x8) == 56 * SHARES);
	EXPECT(second(0x4c2, MSR_PEBS_FRONTEND, 0x7) == 0);

	EXPECT(make_uarch(x86_uarch_find("alder-lake")->other));
	EXPECT(second(0x2b7, MSR_OFFCORE_RSP_1, 0x10001) == SHARES && !put(MSR_PEBS_FRONTEND, 0));

	EXPECT(make("lunar-lake"));
	EXPECT(second(0x12a, MSR_OFFCORE_RSP_0, 0x9e7fa000001) == 1);
	EXPECT(second(0x3c6, MSR_PEBS_FRONTEND, 0x14) == 28 * SHARES);
	EXPECT(second(0x40ad, MSR_PEBS_FRONTEND, 0xf) && !put(MSR_OFFCORE_RSP_0, BIT(44)));

	/* OMR of any response, of memory; each unit mask has a register of its own */
	EXPECT(make("diamond-rapids"));
	EXPECT(second(0x12a, MSR_OMR, OMR_ANY | 1) == SHARES);
	EXPECT(second(0x82a, MSR_OMR + 3, OMR_ANY | 2) == 2 * SHARES);
	EXPECT(second(0x44f, MSR_OMR + 2, OMR_ANY | 3) == 3 * SHARES);
	EXPECT(second(0x12a, MSR_OMR, 0xfffff000000001) == 1);
	EXPECT(!put(MSR_OMR, BIT(16)) && !put(MSR_OFFCORE_RSP_0, 0));
	EXPECT(make_uarch(x86_uarch_find("nova-lake")->other));
	EXPECT(second(0x1b7, MSR_OMR, OMR_ANY | 9) == SHARES && !put(MSR_OMR, BIT(56)));
	EXPECT(second(0x227, MSR_SNOOP_RSP + 1, BIT(32)) == 5 * SHARES);

	/* Snoop responses: the two unit masks have registers of their own, with 64 bits. */
	EXPECT(make("sierra-forest"));
	EXPECT(second(0x127, MSR_SNOOP_RSP, BIT(63) | 3) == 7 * 5 * SHARES);
	EXPECT(second(0x227, MSR_SNOOP_RSP, BIT(5)) == 0);
	EXPECT(second(0x227, MSR_SNOOP_RSP + 1, UINT64_MAX) == 128 * 5 * SHARES);
	EXPECT(second(0x127, MSR_SNOOP_RSP, 0) == 0 && second(0x427, MSR_SNOOP_RSP, 1) == 0);
	EXPECT(make("granite-rapids"));
	EXPECT(!put(MSR_SNOOP_RSP, 0));

	EXPECT(make("haswell"));
	EXPECT(!put(MSR_PEBS_FRONTEND, 0) && put(MSR_OFFCORE_RSP_1, 0x3fffff8fff));
	cpu.config.has_extra_regs = false;
	EXPECT(!put(MSR_OFFCORE_RSP_0, 0) && !put(MSR_OFFCORE_RSP_1, 0));
	EXPECT(second(0x1b7, IA32_PMC, 0) == 0);
	EXPECT(make("zen4"));
	cpu.config.has_extra_regs = true;
	EXPECT(x86_pmu_config_error(&cpu.config));
}

static const struct model_test tests[] = {
	{ "extra registers change the counts of events", test_extra_reg },
	{ "cache misses are at most the accesses",	test_cache_pairs },
};

int main(void)
{
	return run_model_tests(tests, ARRAY_SIZE(tests));
}
