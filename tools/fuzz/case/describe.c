// SPDX-License-Identifier: GPL-2.0-only
/*
 * describe.c - cases in words
 */
#include "fuzz.h"
#include "ktap.h"
#include "machine.h"
#include "program.h"

static const char *const type_names[] = {
	[FUZZ_HARDWARE]		= "hardware",
	[FUZZ_CACHE]		= "cache",
	[FUZZ_RAW]		= "raw",
	[FUZZ_OWN]		= "own",
	[FUZZ_EXTENDED]		= "extended",
	[FUZZ_SOFTWARE]		= "software",
	[FUZZ_BREAKPOINT]	= "breakpoint",
	[FUZZ_BOGUS]		= "bogus",
};

static const char *const code_names[] = {
	[FUZZ_CYCLES]		= "cycles",
	[FUZZ_INSTRUCTIONS]	= "instructions",
	[FUZZ_BRANCHES]		= "branches",
	[FUZZ_SILENT]		= "silent",
	[FUZZ_ZERO]		= "zero",
	[FUZZ_ROW]		= "row",
};

static const char *const op_names[FUZZ_NR_OPS] = {
	[FUZZ_ENABLE]		= "enable",
	[FUZZ_DISABLE]		= "disable",
	[FUZZ_RESET]		= "reset",
	[FUZZ_ENABLE_GROUP]	= "enable-group",
	[FUZZ_DISABLE_GROUP]	= "disable-group",
	[FUZZ_RESET_GROUP]	= "reset-group",
	[FUZZ_LOOP]		= "loop",
	[FUZZ_MEMORY]		= "memory",
	[FUZZ_FORK_LOOP]	= "fork-loop",
	[FUZZ_CHILD_LOOP]	= "child-loop",
	[FUZZ_CHILD_EXEC]	= "child-exec",
	[FUZZ_CHILD_TRACE]	= "child-trace",
	[FUZZ_READ]		= "read",
	[FUZZ_READ_SHORT]	= "read-short",
	[FUZZ_REFRESH]		= "refresh",
	[FUZZ_PERIOD]		= "period",
	[FUZZ_SET_OUTPUT]	= "set-output",
	[FUZZ_SET_FILTER]	= "set-filter",
	[FUZZ_ID]		= "id",
	[FUZZ_SET_BPF]		= "set-bpf",
	[FUZZ_QUERY_BPF]	= "query-bpf",
	[FUZZ_PAUSE_OUTPUT]	= "pause-output",
	[FUZZ_MODIFY]		= "modify",
	[FUZZ_UNKNOWN_IOCTL]	= "unknown-ioctl",
	[FUZZ_MMAP]		= "mmap",
	[FUZZ_MMAP_READ_ONLY]	= "mmap-read-only",
	[FUZZ_MMAP_AUX]		= "mmap-aux",
	[FUZZ_MUNMAP]		= "munmap",
	[FUZZ_DRAIN]		= "drain",
	[FUZZ_USER_READ]	= "user-read",
	[FUZZ_POLL]		= "poll",
	[FUZZ_ASYNC]		= "async",
	[FUZZ_PRCTL_DISABLE]	= "prctl-disable",
	[FUZZ_PRCTL_ENABLE]	= "prctl-enable",
	[FUZZ_CLOSE]		= "close",
};

static const char *const pid_names[] = {
	[FUZZ_SELF]	= "self",
	[FUZZ_ALL]	= "all",
	[FUZZ_CHILD]	= "child",
	[FUZZ_GONE]	= "gone",
	[FUZZ_CGROUP]	= "cgroup",
};

/* In the order of their bits in the word, from bit 0 on; precise_ip has two bits. */
static const char *const flag_names[] = {
	"disabled", "inherit", "pinned", "exclusive", "exclude_user", "exclude_kernel",
	"exclude_hv", "exclude_idle", "mmap", "comm", "freq", "inherit_stat", "enable_on_exec",
	"task", "watermark", "precise_1", "precise_2", "mmap_data", "sample_id_all",
	"exclude_host", "exclude_guest", "exclude_callchain_kernel", "exclude_callchain_user",
	"mmap2", "comm_exec", "use_clockid", "context_switch", "write_backward", "namespaces",
	"ksymbol", "bpf_event", "aux_output", "cgroup", "text_poke", "build_id", "inherit_thread",
	"remove_on_exec", "sigtrap", "defer_callchain", "defer_output",
};

#define FLAGS_WORD	5

static void describe_flags(FILE *out, u64 flags)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(flag_names); i++)
		if (flags >> i & 1)
			fprintf(out, " %s", flag_names[i]);
	if (flags >> i)
		fprintf(out, " flags=%#llx", (unsigned long long)(flags >> i << i));
}

static void describe_number(FILE *out, const char *name, u64 value)
{
	if (value)
		fprintf(out, " %s=%#llx", name, (unsigned long long)value);
}

static enum machine machine;

bool fuzz_describe_machine(const char *name)
{
	return machine_find(name, &machine);
}

static bool has_row(const struct fuzz_event *event)
{
	return (event->type == FUZZ_RAW || event->type == FUZZ_OWN) && event->code == FUZZ_ROW;
}

static void describe_event(FILE *out, const struct fuzz_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	bool row = has_row(event);

	fprintf(out, "%s", type_names[event->type]);
	if (event->type == FUZZ_RAW || event->type == FUZZ_OWN)
		fprintf(out, "/%s/", code_names[event->code]);
	describe_number(out, "config",
			row ? machine_config(machine, event) : attr->config);
	describe_flags(out, event->words[FLAGS_WORD]);
	if (attr->size != PERF_ATTR_SIZE_VER7)
		fprintf(out, " size=%u", attr->size);
	describe_number(out, "period", attr->sample_period);
	describe_number(out, "sample_type", attr->sample_type);
	describe_number(out, "read_format", attr->read_format);
	describe_number(out, "wakeup", attr->wakeup_events);
	describe_number(out, "bp_type", attr->bp_type);
	describe_number(out, "config1",
			row ? machine_config1(machine, event) : attr->config1);
	describe_number(out, "config2", attr->config2);
	describe_number(out, "config3", event->words[FUZZ_CONFIG3]);
	describe_number(out, "branches", attr->branch_sample_type);
	describe_number(out, "regs_user", attr->sample_regs_user);
	describe_number(out, "regs_intr", attr->sample_regs_intr);
	describe_number(out, "stack_user", attr->sample_stack_user);
	describe_number(out, "clockid", (u32)attr->clockid);
	describe_number(out, "aux_watermark", attr->aux_watermark);
	describe_number(out, "max_stack", attr->sample_max_stack);
	if (event->pid != FUZZ_SELF)
		fprintf(out, " pid=%s", pid_names[event->pid]);
	if (event->cpu != -1)
		fprintf(out, " cpu=%d", event->cpu);
	if (event->group != FUZZ_NO_GROUP)
		fprintf(out, " group=%d", event->group);
	describe_number(out, "fd_flags", event->flags);
	if (event->user)
		fprintf(out, " paranoid=%d", (int)event->user - FUZZ_USER_0);
}

void fuzz_describe(FILE *out, const struct fuzz_case *fuzz)
{
	for (unsigned int i = 0; i < fuzz->nr_events; i++) {
		fprintf(out, "[%u ", i);
		describe_event(out, &fuzz->events[i]);
		fputs("] ", out);
	}
	for (unsigned int i = 0; i < fuzz->nr_ops; i++)
		fprintf(out, "%s%s(%u,%#llx)", i ? " " : "", op_names[fuzz->ops[i].kind],
			fuzz->ops[i].event, (unsigned long long)fuzz->ops[i].arg);
}

void fuzz_print_program(FILE *out, const struct fuzz_case *fuzz)
{
	program_print(out, fuzz, machine);
}
