// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: model of user access to counters (rdpmc)
 *
 * Arm: the sysctl kernel.perf_user_access. x86: the symbols that x86/rdpmc.c looks up because the
 * kernel does not export them. They are cr4_update_pce(), the static keys that override CR4.PCE,
 * and x86_pmu.cntval_bits for arch_perf_update_userpage(). CR4 is the real CPU's register: tests do
 * not write it.
 */
#include <linux/array_size.h>
#include <linux/jump_label.h>
#include <linux/perf_event.h>
#include <linux/string.h>
#include <linux/sysctl.h>

#include "models/arm64/access.h"
#include "models/x86/access.h"
#include "x86/lbr/lbr.h"
#include "x86/x86.h"

/* Arm */

/* The registered table, or NULL */
const struct ctl_table *pmuv3_model_sysctl;

static struct ctl_table_header sysctl_header;

/**
 * pmuv3_model_register_sysctl() - stand in for register_sysctl()
 * @path: directory of the table
 * @table: table with one file
 *
 * Return: a header
 */
struct ctl_table_header *pmuv3_model_register_sysctl(const char *path,
						     const struct ctl_table *table)
{
	pmuv3_model_sysctl = table;

	return &sysctl_header;
}

/**
 * pmuv3_model_unregister_sysctl() - stand in for unregister_sysctl_table()
 * @header: from pmuv3_model_register_sysctl()
 */
void pmuv3_model_unregister_sysctl(struct ctl_table_header *header)
{
	if (header)
		pmuv3_model_sysctl = NULL;
}

/* x86 */

/* Number of events of each user in the kernel's exclusion count */
int x86_model_exclusive[X86_MODEL_USERS];

/* The kernel's default of kernel.perf_event_paranoid, and its present value */
#define PARANOID_DEFAULT	2
int x86_model_paranoid;

#ifdef CONFIG_X86

/* Symbol that kallsyms does not show, or NULL */
const char *x86_model_hidden;
/* x86_pmu; word X86_MODEL_PMU_WIDTH is cntval_bits */
int x86_model_pmu[X86_MODEL_PMU_WORDS];
/* Start and end of the kernel's read-only data */
const char *x86_model_rodata, *x86_model_rodata_end;
/* Calls of cr4_update_pce() and of perf_clear_dirty_counters() */
unsigned int x86_model_pce_updates, x86_model_clears;

/* BTF of the kernel, from __start_BTF to __stop_BTF; NULL: a kernel without BTF */
const void *x86_model_btf, *x86_model_btf_end;
/* Size of arch_perf_update_userpage() in kallsyms */
unsigned long x86_model_code_size;

/* Code of arch_perf_update_userpage(): the driver parses it, and nothing executes it */
static u8 function[192];

static DEFINE_STATIC_KEY_FALSE(never_key);
static DEFINE_STATIC_KEY_FALSE(always_key);

static void update_pce(void *unused)
{
	x86_model_pce_updates++;
}

static void clear_dirty_counters(void)
{
	x86_model_clears++;
}

/* With x86_pmu.lbr_pt_coexist, the kernel does not count events of Intel PT. */
static bool does_coexist(unsigned int what)
{
	return what == X86_MODEL_PT && *(bool *)&x86_model_pmu[X86_MODEL_PMU_COEXIST];
}

/**
 * x86_model_add_exclusive() - x86_add_exclusive()
 * @what: user that opens an event
 *
 * Return: 0, or -EBUSY while another user has an event
 */
int x86_model_add_exclusive(unsigned int what)
{
	if (does_coexist(what))
		return 0;
	for (unsigned int i = 0; i < X86_MODEL_USERS; i++)
		if (i != what && x86_model_exclusive[i])
			return -EBUSY;
	x86_model_exclusive[what]++;

	return 0;
}

/**
 * x86_model_del_exclusive() - x86_del_exclusive()
 * @what: user that closes an event
 */
void x86_model_del_exclusive(unsigned int what)
{
	if (!does_coexist(what))
		x86_model_exclusive[what]--;
}

/**
 * x86_model_rdpmc_never() - check whether the static key forbids RDPMC to all tasks
 *
 * Return: true if the key is enabled
 */
bool x86_model_rdpmc_never(void)
{
	return static_key_enabled(&never_key);
}

/**
 * x86_model_rdpmc_always() - check whether the static key allows RDPMC to all tasks
 *
 * Return: true if the key is enabled
 */
bool x86_model_rdpmc_always(void)
{
	return static_key_enabled(&always_key);
}

/**
 * x86_model_forget_loads() - fill arch_perf_update_userpage() with NOPs
 */
void x86_model_forget_loads(void)
{
	memset(function, 0x90, sizeof(function));	/* NOP */
}

/**
 * x86_model_load() - write a load instruction into arch_perf_update_userpage()
 * @offset: offset in the function
 * @movzx: MOVZX EAX, word, 0f b7 /r, instead of MOV EAX, 8b /r (SDM volume 2)
 * @from: RIP-relative address of the load
 */
void x86_model_load(unsigned int offset, bool movzx, const void *from)
{
	u8 *at = function + offset;
	s32 displacement;

	if (movzx) {
		*at++ = 0x0f;
		*at++ = 0xb7;
	} else {
		*at++ = 0x8b;
	}
	*at++ = 0x05;
	displacement = (const u8 *)from - (at + sizeof(displacement));
	memcpy(at, &displacement, sizeof(displacement));
}

/**
 * x86_model_symbol_size() - corepmu_symbol_size()
 * @addr: address of a symbol
 *
 * Return: size of arch_perf_update_userpage(), 0 for other symbols
 */
unsigned long x86_model_symbol_size(unsigned long addr)
{
	return addr == (unsigned long)function ? x86_model_code_size : 0;
}

/**
 * x86_model_find_symbol() - corepmu_find_symbol()
 * @name: a symbol
 *
 * Return: its address, 0 if the kernel hides the symbol
 */
unsigned long x86_model_find_symbol(const char *name)
{
	const struct {
		const char	*name;
		const void	*address;
	} symbols[] = {
		{ "cr4_update_pce",		update_pce },
		{ "perf_clear_dirty_counters",	clear_dirty_counters },
		{ "rdpmc_never_available_key",	&never_key },
		{ "rdpmc_always_available_key",	&always_key },
		{ "arch_perf_update_userpage",	function },
		{ "x86_pmu",			x86_model_pmu },
		{ "__start_BTF",		x86_model_btf },
		{ "__stop_BTF",			x86_model_btf_end },
		{ "__start_rodata",		x86_model_rodata },
		{ "__end_rodata",		x86_model_rodata_end },
		{ "x86_add_exclusive",		x86_model_add_exclusive },
		{ "x86_del_exclusive",		x86_model_del_exclusive },
		{ "intel_pebs_init",		x86_model_no_bts ? NULL : function },
		{ "sysctl_perf_event_paranoid",	&x86_model_paranoid },
	};

	if (x86_model_hidden && !strcmp(name, x86_model_hidden))
		return 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(symbols); i++)
		if (!strcmp(name, symbols[i].name))
			return (unsigned long)symbols[i].address;

	return vmx_model_find_symbol(name);
}

/**
 * x86_model_has_callchain() - corepmu_has_callchain()
 *
 * Return: true, unless the kernel hides perf_callchain()
 */
bool x86_model_has_callchain(void)
{
	return !x86_model_hidden || strcmp(x86_model_hidden, "perf_callchain");
}

/**
 * x86_model_user_power_on() - set the symbols as in a kernel without a built-in PMU driver
 */
void x86_model_user_power_on(void)
{
	x86_model_hidden = NULL;
	x86_model_paranoid = PARANOID_DEFAULT;
	x86_model_btf = NULL;
	x86_model_btf_end = NULL;
	x86_model_rodata = NULL;
	x86_model_rodata_end = NULL;
	memset(x86_model_exclusive, 0, sizeof(x86_model_exclusive));
	x86_model_code_size = sizeof(function);
	x86_model_pce_updates = 0;
	x86_model_clears = 0;
	memset(x86_model_pmu, 0, sizeof(x86_model_pmu));
	x86_model_forget_loads();
	x86_model_load(40, false, &x86_model_pmu[X86_MODEL_PMU_WIDTH]);
}

#else

/*
 * x86/rdpmc.c uses x86's mm_context_t and static keys: on other architectures no test reads
 * counters from user space.
 */

void x86_exclusive_init(const struct x86_desc *desc)
{
}

bool x86_exclusive_is_known(void)
{
	return true;
}

int x86_exclusive_open(void)
{
	return 0;
}

void x86_exclusive_close(void)
{
}

static struct attribute *no_attrs[] = { NULL };

const struct attribute_group x86_rdpmc_group = { .attrs = no_attrs };

int x86_rdpmc_flags(void)
{
	return 0;
}

bool x86_rdpmc_is_for_all(void)
{
	return false;
}

int x86_event_idx(struct perf_event *event)
{
	return 0;
}

void x86_rdpmc_take_over(void)
{
}

void x86_rdpmc_switch(struct corepmu_cpu *cpuc)
{
}

void x86_rdpmc_mapped(struct perf_event *event, struct mm_struct *mm)
{
}

void x86_rdpmc_unmapped(struct perf_event *event, struct mm_struct *mm)
{
}

void x86_rdpmc_init(struct x86_desc *desc)
{
}

void x86_rdpmc_exit(struct x86_desc *desc)
{
}

void x86_model_user_power_on(void)
{
	x86_model_paranoid = PARANOID_DEFAULT;
}

unsigned long x86_model_find_symbol(const char *name)
{
	return strcmp(name, "sysctl_perf_event_paranoid") ? 0 : (unsigned long)&x86_model_paranoid;
}

#endif /* CONFIG_X86 */
