// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: what the register models share: a log of every access
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
 * model_regs() - where an interrupt of a model comes
 * @user: in user space, or in the kernel
 *
 * Not preemptible.
 *
 * Return: registers that user_mode() is true, or false, for
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
 * model_note() - note an access
 * @name: the register
 * @index: which of several, or -1
 * @write: it is written
 * @value: with what, or what it reads as
 */
void model_note(const char *name, int index, bool write, u64 value)
{
	struct model_log *log = this_cpu_ptr(&model_log);

	if (log->nr < MODEL_LOG)
		log->access[log->nr] = (struct model_access) { name, index, write, value };
	log->nr++;
}

/**
 * model_fault() - note an access that the hardware refuses
 * @name: the register
 * @index: which of several, or -1
 * @write: it is written
 * @value: with what
 */
void model_fault(const char *name, int index, bool write, u64 value)
{
	pr_err("%s %s %d refused, value %#llx\n", write ? "write of" : "read of", name, index,
	       value);
	this_cpu_inc(model_log.faults);
}

/**
 * model_forget() - begin a new log
 */
void model_forget(void)
{
	this_cpu_write(model_log.nr, 0);
}

/**
 * model_accesses() - how often was a register accessed?
 * @name: its name; that of several covers all of them; NULL for any register
 *
 * Return: reads and writes since model_forget(), within the first MODEL_LOG
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
 * model_format() - the log as text
 * @text: filled in: "NAME=VALUE" for a write, "NAME" for a read, blanks between
 * @size: room in @text
 *
 * Return: @text
 */
char *model_format(char *text, size_t size)
{
	struct model_log *log = this_cpu_ptr(&model_log);
	unsigned int i;
	size_t len = 0;

	text[0] = '\0';
	for (i = 0; i < min_t(unsigned int, log->nr, MODEL_LOG); i++) {
		struct model_access *access = &log->access[i];

		len += scnprintf(text + len, size - len, "%s%s", i ? " " : "", access->name);
		if (access->index >= 0)
			len += scnprintf(text + len, size - len, "%d", access->index);
		if (access->write)
			len += scnprintf(text + len, size - len, "=%llx", access->value);
	}

	return text;
}
