// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: common part of the register models: a log of every access
 */
#define pr_fmt(fmt) "corepmu_kunit: " fmt

#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/string.h>

#include "model.h"

DEFINE_PER_CPU(struct model_log, model_log);

static DEFINE_PER_CPU(struct pt_regs, model_user_regs);
static DEFINE_PER_CPU(struct pt_regs, model_kernel_regs);

/**
 * model_regs() - return the registers of the code that a model's interrupt hits
 * @user: user space, or the kernel
 *
 * Not preemptible.
 *
 * Return: registers for which user_mode() returns @user
 */
struct pt_regs *model_regs(bool user)
{
	struct pt_regs *regs = this_cpu_ptr(user ? &model_user_regs : &model_kernel_regs);

#ifdef CONFIG_X86
	regs->cs = user ? __USER_CS : __KERNEL_CS;
#else
	regs->pstate = user ? PSR_MODE_EL0t : PSR_MODE_EL1h;
#endif
	return regs;
}

/**
 * model_note() - log a register access
 * @name: the register
 * @index: index of the register, or -1 if there is only one
 * @write: the access is a write
 * @value: value that was written or read
 */
void model_note(const char *name, int index, bool write, u64 value)
{
	struct model_log *log = this_cpu_ptr(&model_log);

	if (log->nr < MODEL_LOG)
		log->access[log->nr] = (struct model_access) { name, index, write, value };
	log->nr++;
}

/**
 * model_fault() - report an access that faults in hardware
 * @name: the register
 * @index: index of the register, or -1 if there is only one
 * @write: the access is a write
 * @value: value of a write
 */
void model_fault(const char *name, int index, bool write, u64 value)
{
	pr_err("%s %s %d refused, value %#llx\n", write ? "write of" : "read of", name, index,
	       value);
	this_cpu_inc(model_log.faults);
}

/**
 * model_forget() - clear the log
 */
void model_forget(void)
{
	this_cpu_write(model_log.nr, 0);
}

/**
 * model_accesses() - count the accesses to a register
 * @name: the register, with all indices; NULL for any register
 *
 * Return: reads and writes since model_forget(), among the first MODEL_LOG accesses
 */
unsigned int model_accesses(const char *name)
{
	struct model_log *log = this_cpu_ptr(&model_log);
	unsigned int i, nr = 0;

	for (i = 0; i < min_t(unsigned int, log->nr, MODEL_LOG); i++)
		nr += !name || !strcmp(log->access[i].name, name);

	return nr;
}

/**
 * model_format() - print the log
 * @text: filled in: "NAME=VALUE" for a write, "NAME" for a read, separated by blanks
 * @size: size of @text
 *
 * Return: @text
 */
char *model_format(char *text, size_t size)
{
	struct model_log *log = this_cpu_ptr(&model_log);
	size_t len = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < min_t(unsigned int, log->nr, MODEL_LOG); i++) {
		struct model_access *access = &log->access[i];

		len += scnprintf(text + len, size - len, "%s%s", i ? " " : "", access->name);
		if (access->index >= 0)
			len += scnprintf(text + len, size - len, "%d", access->index);
		if (access->write)
			len += scnprintf(text + len, size - len, "=%llx", access->value);
	}

	return text;
}
