// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: log the reasons why events are refused
 *
 * perf_event_open(2) returns an errno, which does not tell the reason. The kernel log has the
 * reason, the program and the values that it asked for. Tools probe (perf list tries some hundred
 * events): so the log has each reason once for each process, and at most ten lines a minute.
 * debugfs has the last refusals, logged or not, and the number of times that each occurred.
 */
#define pr_fmt(fmt) "corepmu: " fmt

#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/ratelimit.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/string.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#define REFUSALS	32

/**
 * struct refusal - refusals of one process for one reason
 * @reason: format string of the reason: its address identifies the reason; NULL: unused entry
 * @pid: process ID
 * @comm: name of the process
 * @err: negative errno of the last refusal
 * @times: number of refusals
 * @text: reason of the last refusal, with its values
 */
struct refusal {
	const char	*reason;
	pid_t		pid;
	char		comm[TASK_COMM_LEN];
	int		err;
	unsigned int	times;
	char		text[160];
};

/* Ring of the last refusals: the newest is at index newest, older ones are below */
static struct refusal refusals[REFUSALS];
static unsigned int newest;
static DEFINE_MUTEX(refusals_lock);

static DEFINE_RATELIMIT_STATE(log_limit, 60 * HZ, 10);

static struct dentry *directory;

static struct refusal *find_refusal(const char *reason)
{
	unsigned int i;

	for (i = 0; i < REFUSALS; i++)
		if (refusals[i].reason == reason && refusals[i].pid == current->tgid)
			return &refusals[i];

	return NULL;
}

/**
 * corepmu_refuse() - log the reason why an event is refused
 * @err: negative errno for perf_event_open(2)
 * @fmt: format string of the reason
 *
 * Process context, may sleep.
 *
 * Return: @err
 */
int corepmu_refuse(int err, const char *fmt, ...)
{
	struct refusal *refusal;
	bool first;
	va_list args;

	mutex_lock(&refusals_lock);
	refusal = find_refusal(fmt);
	first = !refusal;
	if (first) {
		newest = (newest + 1) % REFUSALS;
		refusal = &refusals[newest];
		*refusal = (struct refusal) { .reason = fmt, .pid = current->tgid };
	}
	get_task_comm(refusal->comm, current);
	refusal->err = err;
	refusal->times++;
	va_start(args, fmt);
	vscnprintf(refusal->text, sizeof(refusal->text), fmt, args);
	va_end(args);

	if (first && __ratelimit(&log_limit))
		pr_notice("event refused: %s (%s[%d])\n", refusal->text, refusal->comm,
			  refusal->pid);
	mutex_unlock(&refusals_lock);

	return err;
}

static int refusals_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	mutex_lock(&refusals_lock);
	for (i = 0; i < REFUSALS; i++) {
		const struct refusal *refusal = &refusals[(newest + REFUSALS - i) % REFUSALS];

		if (refusal->reason)
			seq_printf(m, "%s[%d] %pe %u times: %s\n", refusal->comm, refusal->pid,
				   ERR_PTR(refusal->err), refusal->times, refusal->text);
	}
	mutex_unlock(&refusals_lock);

	return 0;
}
DEFINE_SHOW_ATTRIBUTE(refusals);

/**
 * corepmu_refuse_init() - create the debugfs file that shows refusals
 *
 * Process context.
 */
void __corepmu_init corepmu_refuse_init(void)
{
	directory = debugfs_create_dir("corepmu", NULL);
	debugfs_create_file("refusals", 0400, directory, NULL, &refusals_fops);
}

/**
 * corepmu_refuse_exit() - undo corepmu_refuse_init()
 *
 * Process context.
 */
void corepmu_refuse_exit(void)
{
	debugfs_remove(directory);
}
