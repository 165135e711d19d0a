/* SPDX-License-Identifier: GPL-2.0 */
/*
 * corepmu: common part of the register models: a log of every access
 */
#ifndef _COREPMU_KUNIT_MODEL_H
#define _COREPMU_KUNIT_MODEL_H

#include <linux/percpu.h>
#include <linux/types.h>

#define MODEL_LOG	256

/**
 * struct model_access - an access to a register
 * @name: the register's name in the manual
 * @index: index of the register, or -1 if there is only one
 * @write: the access is a write
 * @value: value that was written or read
 */
struct model_access {
	const char	*name;
	int		index;
	bool		write;
	u64		value;
};

/**
 * struct model_log - accesses on one CPU since model_forget()
 * @nr: number of accesses; @access holds the first MODEL_LOG
 * @faults: number of accesses that fault in hardware (#GP, UNDEFINED)
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
