// SPDX-License-Identifier: GPL-2.0-only
/*
 * program.c - print a case as a C program that stands alone
 */
#include "fuzz.h"
#include "ktap.h"
#include "program.h"

static const char head[] =
"/* Made by pmu-fuzz. cc case.c; ./a.out [TYPE], the PMU's number in sysfs */\n"
"#include <errno.h>\n"
"#include <fcntl.h>\n"
"#include <linux/perf_event.h>\n"
"#include <poll.h>\n"
"#include <signal.h>\n"
"#include <stdio.h>\n"
"#include <stdlib.h>\n"
"#include <string.h>\n"
"#include <sys/ioctl.h>\n"
"#include <sys/mman.h>\n"
"#include <sys/prctl.h>\n"
"#include <sys/syscall.h>\n"
"#include <sys/wait.h>\n"
"#include <unistd.h>\n"
"\n"
"#define EVENTS 12\n"
"\n"
"static int fd[EVENTS];\n"
"struct perf_event_mmap_page *page[EVENTS];\n"
"volatile unsigned long memory[4096];\n"
"unsigned long long value, values[64];\n"
"\n"
"static void result(const char *what, int event, long ret)\n"
"{\n"
"	printf(\"%s %d: %ld%s%s\\n\", what, event, ret, ret < 0 ? \", \" : \"\",\n"
"	       ret < 0 ? strerror(errno) : \"\");\n"
"}\n"
"\n"
"void loop(unsigned long rounds)\n"
"{\n"
"	while (rounds--)\n"
"		__asm__ volatile(\"\");\n"
"}\n"
"\n"
"void loop_memory(unsigned long rounds)\n"
"{\n"
"	while (rounds--)\n"
"		memory[rounds * 9 % 4096] = memory[rounds * 5 % 4096] + 1;\n"
"}\n"
"\n"
"void loop_of_child(unsigned long rounds)\n"
"{\n"
"	pid_t pid = fork();\n"
"\n"
"	if (!pid) {\n"
"		loop(rounds);\n"
"		_exit(0);\n"
"	}\n"
"	waitpid(pid, NULL, 0);\n"
"}\n"
"\n"
"void map(int event, int prot, unsigned long pages)\n"
"{\n"
"	void *at = mmap(NULL, (1 + pages) * getpagesize(), prot, MAP_SHARED, fd[event], 0);\n"
"\n"
"	result(\"mmap\", event, at == MAP_FAILED ? -1 : 0);\n"
"	if (at != MAP_FAILED && !page[event])\n"
"		page[event] = at;\n"
"}\n"
"\n"
"void drain(int event)\n"
"{\n"
"	unsigned long long at, samples = 0;\n"
"	struct perf_event_header *header;\n"
"\n"
"	if (!page[event])\n"
"		return;\n"
"	for (at = page[event]->data_tail; at < page[event]->data_head; at += header->size) {\n"
"		header = (void *)((char *)page[event] + page[event]->data_offset +\n"
"				  at % page[event]->data_size);\n"
"		samples += header->type == PERF_RECORD_SAMPLE;\n"
"		if (!header->size)\n"
"			break;\n"
"	}\n"
"	page[event]->data_tail = at;\n"
"	printf(\"samples %d: %llu\\n\", event, samples);\n"
"}\n"
"\n"
"void set_output(int event, unsigned int to)\n"
"{\n"
"	result(\"SET_OUTPUT\", event,\n"
"	       ioctl(fd[event], PERF_EVENT_IOC_SET_OUTPUT, to < EVENTS ? fd[to] : -1));\n"
"}\n"
"\n"
"void show_read(int event, size_t size)\n"
"{\n"
"	long i, len = read(fd[event], values, size);\n"
"\n"
"	result(\"read\", event, len);\n"
"	for (i = 0; i < len / 8; i++)\n"
"		printf(\"	%llu\\n\", values[i]);\n"
"}\n"
"\n"
"void send_signals(int event)\n"
"{\n"
"	fcntl(fd[event], F_SETOWN, getpid());\n"
"	fcntl(fd[event], F_SETFL, O_ASYNC);\n"
"}\n"
"\n"
"static void on_signal(int sig)\n"
"{\n"
"	if (sig == SIGUSR1)\n"
"		loop(1000);\n"
"}\n"
"\n"
"unsigned int type = PERF_TYPE_RAW;\n"
"\n"
"int main(int argc, char **argv)\n"
"{\n"
"	union {\n"
"		struct perf_event_attr attr;\n"
"		unsigned long long words[32];\n"
"	} e;\n"
"	pid_t child;\n"
"\n"
"	if (argc > 1)\n"
"		type = strtoul(argv[1], NULL, 0);\n"
"	signal(SIGIO, on_signal);\n"
"	signal(SIGTRAP, on_signal);\n"
"	signal(SIGUSR1, on_signal);\n"
"	child = fork();\n"
"	if (!child)\n"
"		for (;;)\n"
"			pause();\n";

static const char tail[] =
"	kill(child, SIGKILL);\n"
"	return 0;\n"
"}\n";

static const char *const types[] = {
	[FUZZ_HARDWARE]		= "PERF_TYPE_HARDWARE",
	[FUZZ_CACHE]		= "PERF_TYPE_HW_CACHE",
	[FUZZ_RAW]		= "PERF_TYPE_RAW",
	[FUZZ_OWN]		= "type",
	[FUZZ_EXTENDED]		= "PERF_TYPE_HARDWARE",
	[FUZZ_SOFTWARE]		= "PERF_TYPE_SOFTWARE",
	[FUZZ_BREAKPOINT]	= "PERF_TYPE_BREAKPOINT",
	[FUZZ_BOGUS]		= "0x7ffffff0",
};

/* Fields of the attributes, by the index of their first word */
static const char *const members[FUZZ_ATTR_WORDS] = {
	[1] = "config", [2] = "sample_period", [3] = "sample_type", [4] = "read_format",
	[5] = "disabled and so on", [6] = "wakeup_events, bp_type", [7] = "config1",
	[8] = "config2", [9] = "branch_sample_type", [10] = "sample_regs_user",
	[11] = "sample_stack_user, clockid", [12] = "sample_regs_intr",
	[13] = "aux_watermark, sample_max_stack", [14] = "aux_sample_size", [15] = "sig_data",
	[16] = "config3",
};

#define CONFIG_WORD	1
#define CONFIG1_WORD	7

static void print_event(FILE *out, enum machine machine, const struct fuzz_event *event,
			unsigned int nr)
{
	static const char *const pids[] = {
		[FUZZ_SELF]	= "0",
		[FUZZ_ALL]	= "-1",
		[FUZZ_CHILD]	= "child",
		[FUZZ_GONE]	= "0x3ffffff",
		[FUZZ_CGROUP]	= "open(\"/sys/fs/cgroup\", O_RDONLY)",
	};
	struct fuzz_event whole = *event;

	whole.words[CONFIG_WORD] = machine_config(machine, event);
	whole.words[CONFIG1_WORD] = machine_config1(machine, event);
	if (event->pid == FUZZ_CGROUP)
		whole.flags |= PERF_FLAG_PID_CGROUP;
	fputs("\n	memset(&e, 0, sizeof(e));\n", out);
	fprintf(out, "	e.attr.type = %s;\n	e.attr.size = %u;\n", types[event->type],
		event->attr.size);
	for (unsigned int i = 1; i < FUZZ_ATTR_WORDS; i++)
		if (whole.words[i])
			fprintf(out, "	e.words[%u] = %#llx;	/* %s */\n", i,
				(unsigned long long)whole.words[i],
				members[i] ? members[i] : "unknown");
	if (event->type == FUZZ_EXTENDED)
		fputs("	e.attr.config |= (unsigned long long)type << 32;\n", out);
	if (event->user)
		fprintf(out, "	/* kernel.perf_event_paranoid is %d */\n"
			"	syscall(SYS_setresuid, -1, 65534, -1);\n",
			(int)event->user - FUZZ_USER_0);
	fprintf(out, "	fd[%u] = syscall(SYS_perf_event_open, &e, %s, %d, ", nr, pids[event->pid],
		event->cpu);
	if (event->group >= 0)
		fprintf(out, "fd[%d]", event->group);
	else
		fprintf(out, "%d", event->group == FUZZ_BAD_GROUP ? 2 : -1);
	fprintf(out, ", %lu);\n	result(\"open\", %u, fd[%u]);\n", whole.flags, nr, nr);
	if (event->user)
		fputs("	syscall(SYS_setresuid, -1, 0, -1);\n", out);
}

/* ioctl(2) requests on the event, and their arguments */
static const struct {
	const char *name;
	const char *arg;
} ioctls[FUZZ_NR_OPS] = {
	[FUZZ_ENABLE]		= { "ENABLE", "0" },
	[FUZZ_DISABLE]		= { "DISABLE", "0" },
	[FUZZ_RESET]		= { "RESET", "0" },
	[FUZZ_ENABLE_GROUP]	= { "ENABLE", "PERF_IOC_FLAG_GROUP" },
	[FUZZ_DISABLE_GROUP]	= { "DISABLE", "PERF_IOC_FLAG_GROUP" },
	[FUZZ_RESET_GROUP]	= { "RESET", "PERF_IOC_FLAG_GROUP" },
	[FUZZ_REFRESH]		= { "REFRESH", "value" },
	[FUZZ_PERIOD]		= { "PERIOD", "&value" },
	[FUZZ_ID]		= { "ID", "&value" },
	[FUZZ_PAUSE_OUTPUT]	= { "PAUSE_OUTPUT", "value" },
	[FUZZ_SET_FILTER]	= { "SET_FILTER", "value & 1 ? \"common_pid != 1\" : \"\"" },
};

/* Other operations that are one call: @ stands for the event's number, # for the operation's */
static const char *const calls[FUZZ_NR_OPS] = {
	[FUZZ_LOOP]		= "loop(#);",
	[FUZZ_MEMORY]		= "loop_memory(#);",
	[FUZZ_FORK_LOOP]	= "loop_of_child(#);",
	[FUZZ_CHILD_LOOP]	= "kill(child, SIGUSR1); usleep(1000);",
	[FUZZ_READ]		= "show_read(@, sizeof(values));",
	[FUZZ_READ_SHORT]	= "show_read(@, #);",
	[FUZZ_SET_OUTPUT]	= "set_output(@, #);",
	[FUZZ_MMAP]		= "map(@, PROT_READ | PROT_WRITE, #);",
	[FUZZ_MMAP_READ_ONLY]	= "map(@, PROT_READ, #);",
	[FUZZ_DRAIN]		= "drain(@);",
	[FUZZ_ASYNC]		= "send_signals(@);",
	[FUZZ_PRCTL_DISABLE]	= "prctl(PR_TASK_PERF_EVENTS_DISABLE);",
	[FUZZ_PRCTL_ENABLE]	= "prctl(PR_TASK_PERF_EVENTS_ENABLE);",
	[FUZZ_CLOSE]		= "close(fd[@]); fd[@] = -1;",
};

static void print_call(FILE *out, const char *call, const struct fuzz_op *op)
{
	for (; *call; call++) {
		if (*call == '@')
			fprintf(out, "%u", op->event);
		else if (*call == '#')
			fprintf(out, "%llu", (unsigned long long)op->arg);
		else
			fputc(*call, out);
	}
}

static void print_op(FILE *out, const struct fuzz_op *op)
{
	if (ioctls[op->kind].name) {
		fprintf(out, "	value = %#llx;\n", (unsigned long long)op->arg);
		fprintf(out, "	result(\"%s\", %u, ioctl(fd[%u], PERF_EVENT_IOC_%s, %s));\n",
			ioctls[op->kind].name, op->event, op->event, ioctls[op->kind].name,
			ioctls[op->kind].arg);
	} else if (calls[op->kind]) {
		fputc('\t', out);
		print_call(out, calls[op->kind], op);
		fputc('\n', out);
	} else {
		fprintf(out, "	/* operation %d(%u, %#llx) is not in this program */\n",
			op->kind, op->event, (unsigned long long)op->arg);
	}
}

void program_print(FILE *out, const struct fuzz_case *fuzz, enum machine machine)
{
	fputs(head, out);
	for (unsigned int i = 0; i < fuzz->nr_events; i++)
		print_event(out, machine, &fuzz->events[i], i);
	fputc('\n', out);
	for (unsigned int i = 0; i < fuzz->nr_ops; i++)
		print_op(out, &fuzz->ops[i]);
	fputs(tail, out);
}
