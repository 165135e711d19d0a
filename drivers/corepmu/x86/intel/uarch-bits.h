/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: x86: a bit for each Intel microarchitecture, and groups of these bits, for table rows
 *
 * The abbreviations come from arch/x86/events/intel and from perf's event lists. A_B is A and B.
 * A_ON is A and the later microarchitectures of its line: cores or atoms.
 */
#ifndef COREPMU_X86_INTEL_UARCH_BITS_H
#define COREPMU_X86_INTEL_UARCH_BITS_H

#include <linux/bits.h>

#include "intel.h"

#define YNH	BIT(UARCH_CORE)
#define C2	BIT(UARCH_CORE2)
#define NHM	BIT(UARCH_NEHALEM)
#define WSM	BIT(UARCH_WESTMERE)
#define SNB	BIT(UARCH_SANDY_BRIDGE)
#define IVB	BIT(UARCH_IVY_BRIDGE)
#define HSW	BIT(UARCH_HASWELL)
#define BDW	BIT(UARCH_BROADWELL)
#define SKL	BIT(UARCH_SKYLAKE)
#define ICL	BIT(UARCH_ICE_LAKE)
#define GLC	BIT(UARCH_GOLDEN_COVE)
#define RWC	BIT(UARCH_REDWOOD_COVE)
#define LNC	BIT(UARCH_LION_COVE)
#define CYC	BIT(UARCH_COYOTE_COVE)
#define PNC	BIT(UARCH_PANTHER_COVE)
#define BNL	BIT(UARCH_BONNELL)
#define SLM	BIT(UARCH_SILVERMONT)
#define KNL	BIT(UARCH_KNIGHTS_LANDING)
#define GLM	BIT(UARCH_GOLDMONT)
#define GLP	BIT(UARCH_GOLDMONT_PLUS)
#define TNT	BIT(UARCH_TREMONT)
#define GRT	BIT(UARCH_GRACEMONT)
#define CMT	BIT(UARCH_CRESTMONT)
#define SKT	BIT(UARCH_SKYMONT)
#define ARW	BIT(UARCH_ARCTIC_WOLF)

#define SNB_IVB	(SNB | IVB)
#define HSW_BDW	(HSW | BDW)
#define GLC_RWC	(GLC | RWC)
#define CYC_PNC	(CYC | PNC)
#define LNC_ON	(LNC | CYC | PNC)
#define SLM_KNL	(SLM | KNL)
#define GLM_GLP	(GLM | GLP)
#define CMT_SKT	(CMT | SKT)
#define SKT_ON	(SKT | ARW)
#define GRT_ON	(GRT | CMT | SKT | ARW)

#endif /* COREPMU_X86_INTEL_UARCH_BITS_H */
