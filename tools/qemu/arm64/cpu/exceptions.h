/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exceptions by QEMU's numbers, as in its target/arm/cpu.h.
 */
#ifndef TOOLS_QEMU_ARM64_EXCEPTIONS_H
#define TOOLS_QEMU_ARM64_EXCEPTIONS_H

#define EXCP_UDEF		1
#define EXCP_SWI		2
#define EXCP_PREFETCH_ABORT	3
#define EXCP_DATA_ABORT		4
#define EXCP_IRQ		5
#define EXCP_FIQ		6
#define EXCP_BKPT		7
#define EXCP_HVC		11
#define EXCP_HYP_TRAP		12
#define EXCP_SMC		13
#define EXCP_VIRQ		14
#define EXCP_VFIQ		15
#define EXCP_SEMIHOST		16
#define EXCP_UNALIGNED		22
#define EXCP_VSERR		24
#define EXCP_NMI		26
#define EXCP_VINMI		27
#define EXCP_VFNMI		28

#endif /* TOOLS_QEMU_ARM64_EXCEPTIONS_H */
