// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Look up microarchitectures, and counters of an event.
 */
#include <string.h>

#include "common/plugin.h"
#include "x86/uarch/uarch.h"

/**
 * x86_uarch_find() - find a microarchitecture by its name
 * @name: the name
 *
 * Return: the microarchitecture; NULL if there is none.
 */
const struct x86_uarch *x86_uarch_find(const char *name)
{
	static const struct x86_uarch *const makers[] = {
		x86_uarch_intel, x86_uarch_amd, x86_uarch_zhaoxin,
	};
	const struct x86_uarch *u;

	for (size_t i = 0; i < ARRAY_SIZE(makers); i++)
		for (u = makers[i]; u->name; u++)
			if (!strcmp(u->name, name))
				return u;
	return NULL;
}

/*
 * CPUID leaf 1, EAX: Intel SDM, volume 2A, "CPUID"; AMD APM, volume 3, appendix E.3.2.
 * The extended family is valid only for family 15. The extended model is valid for families 6 and
 * 15 of Intel, 15 of AMD, and 7 of Zhaoxin; the tables have no other families.
 */
unsigned int x86_uarch_family(uint32_t signature)
{
	unsigned int family = signature >> 8 & 0xf;

	return family == 0xf ? family + (signature >> 20 & 0xff) : family;
}

unsigned int x86_uarch_model(uint32_t signature)
{
	return (signature >> 12 & 0xf0) | (signature >> 4 & 0xf);
}

/**
 * x86_uarch_is_in() - check whether a CPU has this microarchitecture
 * @uarch: the microarchitecture
 * @signature: EAX of the CPU's CPUID leaf 1
 */
bool x86_uarch_is_in(const struct x86_uarch *uarch, uint32_t signature)
{
	unsigned int family = x86_uarch_family(signature);
	unsigned int model = x86_uarch_model(signature);
	const struct x86_uarch_models *m;

	for (m = uarch->models; m < uarch->models + X86_UARCH_MODELS_MAX && m->family; m++)
		if (family == m->family && model >= m->first && model <= m->last)
			return true;
	return false;
}

/**
 * x86_uarch_counters() - return the general-purpose counters that can count an event
 * @uarch: the microarchitecture
 * @code: the event's number
 * @umask: its unit mask
 *
 * Return: bitmap of the counters; may include counters that the PMU lacks.
 */
uint32_t x86_uarch_counters(const struct x86_uarch *uarch, unsigned int code,
			    unsigned int umask)
{
	for (size_t i = 0; i < uarch->nr_rules; i++) {
		const struct x86_uarch_rule *r = &uarch->rules[i];

		if (code >= r->first && code <= (r->last ? r->last : r->first) &&
		    (r->umask == X86_PMU_ANY_UMASK || (unsigned int)r->umask == umask))
			return r->counters;
	}
	return UINT32_MAX;
}
