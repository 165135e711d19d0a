/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: what the register models share: a log of every access
 */
#ifndef _COREPMU_KUNIT_MODEL_H
#define _COREPMU_KUNIT_MODEL_H

#include <linux/percpu.h>
#include <linux/types.h>

#define MODEL_LOG	256

/**
 * struct model_access - an access to a register
 * @name: its name, that of the manual
 * @index: which of several it is, or -1
 * @write: it was written
 * @value: what was written or read
 */
struct model_access {
	const char	*name;
	int		index;
	bool		write;
	u64		value;
};

/**
 * struct model_log - accesses on one CPU since model_forget()
 * @nr: how many they were; those beyond MODEL_LOG are only counted
 * @faults: accesses that the hardware would have refused (#GP, UNDEFINED)
 * @access: the accesses
 */
struct model_log {
	unsigned int		nr;
	unsigned int		faults;
	struct model_access	access[MODEL_LOG];
};

DECLARE_PER_CPU(struct model_log, model_log);

struct pt_regs *model_regs(bool user);
void model_note(const char *name, int index, bool write, u64 value);
void model_fault(const char *name, int index, bool write, u64 value);
void model_forget(void);
unsigned int model_accesses(const char *name);
char *model_format(char *text, size_t size);

#endif /* _COREPMU_KUNIT_MODEL_H */
