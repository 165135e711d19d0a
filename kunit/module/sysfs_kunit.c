// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of sysfs files, and of a PMU registered with perf core
 */
#include <kunit/test.h>

#include <linux/cpu.h>
#include <linux/cpu_pm.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/syscore_ops.h>
#include <linux/sysfs.h>

#include <corepmu/module.h>

#include "fixture/testbed.h"
#include "models/arm64/access.h"
#include "models/x86/access.h"
#include "x86/x86.h"

/* Find a file; NULL if it is not shown. */
static struct device_attribute *find_file(struct fixture *b, const char *group, const char *name)
{
	struct device *dev = b->pmu->perf_pmu.dev;
	const struct attribute_group **groups;

	for (groups = b->pmu->perf_pmu.attr_groups; *groups; groups++) {
		if (strcmp((*groups)->name ?: "", group))
			continue;
		for (struct attribute **attrs = (*groups)->attrs; *attrs; attrs++) {
			if (strcmp((*attrs)->name, name))
				continue;
			if ((*groups)->is_visible &&
			    !(*groups)->is_visible(&dev->kobj, *attrs, 0))
				return NULL;
			return container_of(*attrs, struct device_attribute, attr);
		}
	}

	return NULL;
}

/* Return the text of a file; NULL if it is not shown. */
static char *show_file(struct kunit *test, struct fixture *b, const char *group, const char *name)
{
	struct device_attribute *attr = find_file(b, group, name);
	char *page;

	if (!attr)
		return NULL;
	page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_GT(test, attr->show(b->pmu->perf_pmu.dev, attr, page), 0);

	return page;
}

static void register_pmu(struct fixture *b)
{
	KUNIT_ASSERT_EQ(b->test, perf_pmu_register(&b->pmu->perf_pmu, "corepmu_kunit", -1), 0);
}

/* File and expected text; @text NULL: the file must not be shown */
struct sysfs_file {
	const char *testbed;
	const char *group;
	const char *name;
	const char *text;
};

static const struct sysfs_file files[] = {
	{ "intel-v4", "events", "cpu-cycles", "event=0x3c\n" },
	{ "intel-v4", "events", "instructions", "event=0xc0\n" },
	{ "intel-v4", "events", "cache-misses", "event=0x2e,umask=0x41\n" },
	{ "intel-v4", "events", "ref-cycles", "event=0x00,umask=0x03\n" },
	{ "intel-v4", "events", "stalled-cycles-frontend", NULL },
	{ "intel-snb", "events", "stalled-cycles-frontend",
	  "event=0x0e,umask=0x01,inv,cmask=0x01\n" },
	{ "intel-snb", "events", "stalled-cycles-backend",
	  "event=0xb1,umask=0x01,inv,cmask=0x01\n" },
	{ "intel-snb", "format", "event", "config:0-7\n" },
	{ "intel-snb", "format", "any", "config:21\n" },
	{ "intel-snb", "format", "in_tx", NULL },
	{ "intel-v5", "format", "umask", "config:8-15\n" },
	{ "intel-v5", "format", "eq", NULL },
	{ "intel-v6", "format", "umask", "config:8-15,40-47\n" },
	{ "intel-v6", "format", "eq", "config:36\n" },
	{ "intel-snb", "caps", "pmu_name", "sandybridge\n" },
	{ "intel-v4", "caps", "pmu_name", NULL },
	{ "intel-skl", "caps", "pmu_name", "skylake\n" },
	{ "amd-v2", "caps", "pmu_name", NULL },
	{ "intel-skl", "", "freeze_on_smi", "1\n" },
	{ "intel-snb", "", "freeze_on_smi", NULL },
	{ "amd-v2", "", "freeze_on_smi", NULL },
	{ "intel-v4", "format", "any", NULL },
	{ "intel-skl", "format", "event", "config:0-7\n" },
	{ "intel-skl", "format", "in_tx", "config:32\n" },
	{ "intel-skl", "format", "in_tx_cp", "config:33\n" },
	{ "amd-v2", "format", "in_tx", NULL },
	{ "amd-v2", "format", "any", NULL },
	{ "intel-v1", "events", "ref-cycles", NULL },
	{ "intel-v4", "format", "event", "config:0-7\n" },
	{ "intel-v4", "format", "umask", "config:8-15\n" },
	{ "intel-v4", "format", "edge", "config:18\n" },
	{ "intel-v4", "format", "inv", "config:23\n" },
	{ "intel-v4", "format", "cmask", "config:24-31\n" },
	{ "intel-v4", "caps", "max_precise", "0\n" },
	{ "intel-v4", "format", "ldlat", NULL },
	{ "intel-v4", "caps", "branches", NULL },
	{ "intel-lbr", "caps", "branches", "32\n" },
	{ "intel-lbr-glm", "caps", "branches", "32\n" },
	{ "intel-lbr-wsm", "caps", "branches", "16\n" },
	{ "intel-lbr-hsw", "caps", "branches", "16\n" },
	{ "intel-arch-lbr", "caps", "branches", "16\n" },
	{ "amd-lbr", "caps", "branches", "16\n" },
	{ "pmuv3p9", "caps", "branches", NULL },
	{ "pmuv3-brbe", "caps", "branches", "64\n" },
	{ "intel-v4", "caps", "no-such-file", NULL },
	{ "amd-v2", "format", "event", "config:0-7,32-35\n" },
	{ "amd-v2", "events", "cpu-cycles", "event=0x76\n" },
	{ "amd-v2", "events", "cache-misses", "event=0x64,umask=0x09\n" },
	{ "amd-legacy", "events", "cache-references", "event=0x7d,umask=0x07\n" },
	{ "amd-legacy", "events", "cache-misses", "event=0x7e,umask=0x07\n" },
	{ "amd-legacy", "events", "stalled-cycles-frontend", "event=0xd0\n" },
	{ "amd-legacy", "events", "stalled-cycles-backend", "event=0xd1\n" },
	{ "amd-legacy", "events", "bus-cycles", NULL },
	{ "pmuv3", "events", "inst_retired", "event=0x0008\n" },
	{ "pmuv3", "events", "stall_slot", NULL },
	{ "pmuv3p9", "events", "stall_slot", "event=0x003f\n" },
	{ "pmuv3p9", "events", "cnt_cycles", "event=0x4004\n" },
	{ "pmuv3", "events", "cnt_cycles", NULL },
	{ "pmuv3", "format", "event", "config:0-15\n" },
	{ "pmuv3", "format", "long", "config1:0\n" },
	{ "pmuv3", "format", "rdpmc", "config1:1\n" },
	{ "pmuv3", "format", "threshold", "config1:5-16\n" },
	{ "pmuv3p9", "format", "threshold_compare", "config1:3-4\n" },
	{ "pmuv3p9", "format", "threshold_count", "config1:2\n" },
	{ "pmuv3", "caps", "max_precise", "0\n" },
	{ "pmuv3", "caps", "slots", "0x00000000\n" },
	{ "pmuv3p9", "caps", "slots", "0x00000008\n" },
	{ "pmuv3p9", "caps", "bus_slots", "0x00000003\n" },
	{ "pmuv3p9", "caps", "bus_width", "0x00000008\n" },
	{ "pmuv3p5", "caps", "bus_width", "0x00000000\n" },
	{ "pmuv3p5", "caps", "threshold_max", "0x00000000\n" },
	{ "pmuv3p9", "caps", "threshold_max", "0x0000001f\n" },
};

static void file_desc(const struct sysfs_file *f, char *desc)
{
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s %s/%s", f->testbed, f->group, f->name);
}

KUNIT_ARRAY_PARAM(file, files, file_desc);

static void sysfs_files(struct kunit *test)
{
	const struct sysfs_file *f = test->param_value;
	struct fixture *b = fixture_start_on(test, f->testbed);
	char *text;

	register_pmu(b);
	text = show_file(test, b, f->group, f->name);
	if (f->text)
		KUNIT_EXPECT_STREQ(test, text ?: "(not shown)", f->text);
	else
		KUNIT_EXPECT_NULL(test, text);
	perf_pmu_unregister(&b->pmu->perf_pmu);
}

/* Every file shows one line, and makes no register access. */
static void sysfs_every_file(struct kunit *test)
{
	struct fixture *b = fixture_start(test, test->param_value);
	const struct attribute_group **groups;
	unsigned int nr = 0;

	register_pmu(b);
	model_forget();
	for (groups = b->pmu->perf_pmu.attr_groups; *groups; groups++) {
		for (struct attribute **attrs = (*groups)->attrs; *attrs; attrs++) {
			char *text = show_file(test, b, (*groups)->name ?: "", (*attrs)->name);

			if (!text)
				continue;
			KUNIT_EXPECT_PTR_EQ(test, strchr(text, '\n'), text + strlen(text) - 1);
			nr++;
		}
	}
	KUNIT_EXPECT_GT(test, nr, 5);
	KUNIT_EXPECT_EQ(test, model_accesses(NULL), 0);
	perf_pmu_unregister(&b->pmu->perf_pmu);
}

static int others_online(int cpu, bool online)
{
	int other, ret = 0;

	for_each_possible_cpu(other) {
		if (other != cpu && !ret)
			ret = online ? add_cpu(other) : remove_cpu(other);
	}

	return ret;
}

static void expect_cpus(struct fixture *b, const struct cpumask *mask)
{
	char cpus[32];

	snprintf(cpus, sizeof(cpus), "%*pbl\n", cpumask_pr_args(mask));
	KUNIT_EXPECT_STREQ(b->test, show_file(b->test, b, "", "cpus") ?: "(not shown)", cpus);
}

/* The file cpus lists the online CPUs; it is shown only for the core PMU. */
static void sysfs_cpus(struct kunit *test)
{
	struct fixture *b;

	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	b = fixture_start(test, test->param_value);
	register_pmu(b);
	expect_cpus(b, cpu_online_mask);
	if (IS_ENABLED(CONFIG_HOTPLUG_CPU)) {
		KUNIT_EXPECT_EQ(test, others_online(b->cpu, false), 0);
		expect_cpus(b, cpumask_of(b->cpu));
		KUNIT_EXPECT_EQ(test, others_online(b->cpu, true), 0);
		expect_cpus(b, cpu_online_mask);
	}
	b->pmu->claims_generic = false;
	KUNIT_EXPECT_NULL(test, show_file(test, b, "", "cpus"));
	perf_pmu_unregister(&b->pmu->perf_pmu);
}

/*
 * On x86 the file alias has the built-in driver's name for the CPU type. It is not shown beside the
 * built-in driver, or if the PMU has that driver's name.
 */
static void sysfs_alias(struct kunit *test)
{
	struct fixture *b = fixture_start(test, test->param_value);
	const char *cpu_type = b->pmu->cpu_type;
	bool known = b->pmu->backend->tools_know_name;

	register_pmu(b);
	b->pmu->cpu_type = NULL;
	KUNIT_EXPECT_STREQ(test, show_file(test, b, "", "alias") ?: "(not shown)",
			   known ? "cpu\n" : "(not shown)");
	b->pmu->cpu_type = "atom";
	KUNIT_EXPECT_STREQ(test, show_file(test, b, "", "alias") ?: "(not shown)",
			   known ? "cpu_atom\n" : "(not shown)");
	b->pmu->cpu_type = cpu_type;

	b->pmu->perf_pmu.name = "cpu_atom";
	KUNIT_EXPECT_NULL(test, show_file(test, b, "", "alias"));
	b->pmu->perf_pmu.name = "cpu";
	KUNIT_EXPECT_NULL(test, show_file(test, b, "", "alias"));
	b->pmu->perf_pmu.name = "cpux";
	KUNIT_EXPECT_EQ(test, !!show_file(test, b, "", "alias"), known);
	b->pmu->perf_pmu.name = "corepmu_kunit";
	b->pmu->claims_generic = false;
	KUNIT_EXPECT_NULL(test, show_file(test, b, "", "alias"));
	perf_pmu_unregister(&b->pmu->perf_pmu);
}

/* Writes of freeze_on_smi change neither other bits of DEBUGCTL nor counts. */
static void sysfs_freeze_on_smi(struct kunit *test)
{
	const u64 own = DEBUGCTLMSR_FREEZE_IN_SMM, others = BIT_ULL(12);
	struct fixture *b = fixture_start_on(test, "intel-skl");
	struct device_attribute *attr;
	struct perf_event *event;
	struct device *dev;

	register_pmu(b);
	dev = b->pmu->perf_pmu.dev;
	KUNIT_EXPECT_EQ(test, x86_read_msr(MSR_IA32_DEBUGCTLMSR), own);
	x86_write_msr(MSR_IA32_DEBUGCTLMSR, own | others);
	attr = find_file(b, "", "freeze_on_smi");
	KUNIT_ASSERT_NOT_NULL(test, attr);

	event = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);
	KUNIT_EXPECT_EQ(test, fixture_add(event, PERF_EF_START), 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, 300);
	KUNIT_EXPECT_EQ(test, attr->store(dev, attr, "0\n", 2), 2);
	KUNIT_EXPECT_EQ(test, x86_read_msr(MSR_IA32_DEBUGCTLMSR), others);
	KUNIT_EXPECT_STREQ(test, show_file(test, b, "", "freeze_on_smi"), "0\n");
	fixture_run(b, TESTBED_INSTRUCTIONS, 44);
	KUNIT_EXPECT_EQ(test, attr->store(dev, attr, "2\n", 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, attr->store(dev, attr, "on\n", 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, x86_read_msr(MSR_IA32_DEBUGCTLMSR), others);

	KUNIT_EXPECT_EQ(test, fixture_read(event), 344);
	fixture_remove(event);

	/* reset() writes freeze_on_smi, after another agent changed DEBUGCTL or the CPU lost it. */
	x86_write_msr(MSR_IA32_DEBUGCTLMSR, own);
	b->pmu->backend->reset(b->cpuc);
	KUNIT_EXPECT_EQ(test, x86_read_msr(MSR_IA32_DEBUGCTLMSR), 0);
	KUNIT_EXPECT_EQ(test, attr->store(dev, attr, "1\n", 2), 2);
	KUNIT_EXPECT_EQ(test, x86_read_msr(MSR_IA32_DEBUGCTLMSR), own);
	x86_write_msr(MSR_IA32_DEBUGCTLMSR, 0);
	b->pmu->backend->reset(b->cpuc);
	KUNIT_EXPECT_EQ(test, x86_read_msr(MSR_IA32_DEBUGCTLMSR), own);
	perf_pmu_unregister(&b->pmu->perf_pmu);
}

/* Events that perf core schedules on the PMU */

static void note_overflow(struct perf_event *event, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	struct fixture *b = event->overflow_handler_context;

	b->nr_samples++;
}

static struct perf_event *create_event(struct fixture *b, u64 config, u64 period)
{
	struct perf_event_attr attr = {
		.type = b->pmu->perf_pmu.type, .size = sizeof(attr), .config = config,
		.sample_period = period, .pinned = 1,
	};

	return perf_event_create_kernel_counter(&attr, b->cpu, NULL, note_overflow, b);
}

static u64 value_of(struct perf_event *event)
{
	u64 enabled, running;

	return perf_event_read_value(event, &enabled, &running);
}

static void perf_core_events(struct kunit *test)
{
	struct fixture *b = fixture_start(test, test->param_value);
	struct perf_event *counting, *sampling, *refused;
	/* cycles, instructions */
	u64 config[2] = { 0x3c, 0xc0 };

	if (!strncmp(b->testbed->name, "amd", 3)) {
		config[0] = 0x76;
	} else if (!strcmp(b->testbed->name, "zhaoxin")) {
		config[0] = 0x82;
	} else if (!strncmp(b->testbed->name, "pmuv3", 5)) {
		config[0] = 0x11;
		config[1] = 0x08;
	}
	register_pmu(b);
	counting = create_event(b, config[1], 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, counting);
	sampling = create_event(b, config[0], 1000000);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sampling);
	/* Creating an event with the code ~0 fails: no CPU has this event. */
	refused = create_event(b, ~0ULL, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(refused), -EINVAL);

	fixture_run(b, TESTBED_INSTRUCTIONS, 1234567);
	fixture_run(b, TESTBED_CYCLES, 2500000);
	KUNIT_EXPECT_EQ(test, value_of(counting), 1234567);
	KUNIT_EXPECT_EQ(test, value_of(sampling), 2500000);
	KUNIT_EXPECT_EQ(test, b->nr_samples, 2);

	perf_event_disable(counting);
	fixture_run(b, TESTBED_INSTRUCTIONS, 1000);
	KUNIT_EXPECT_EQ(test, value_of(counting), 1234567);
	perf_event_enable(counting);
	fixture_run(b, TESTBED_INSTRUCTIONS, 1000);
	KUNIT_EXPECT_EQ(test, value_of(counting), 1235567);

	/* PERF_EVENT_IOC_PERIOD drops the rest of the old period. */
	KUNIT_EXPECT_EQ(test, perf_event_period(sampling, 400000), 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 399999, 2);
	RUN_EXPECT_SAMPLES(b, TESTBED_CYCLES, 1, 3);

	perf_event_release_kernel(counting);
	perf_event_release_kernel(sampling);
	perf_pmu_unregister(&b->pmu->perf_pmu);
}

/* Start a fixture whose PMU handles hotplug and power-down of its CPU. */
static struct fixture *start_followed(struct kunit *test)
{
	struct fixture *b = fixture_start(test, test->param_value);

	KUNIT_ASSERT_EQ(test, corepmu_hotplug_init(), 0);
	KUNIT_ASSERT_EQ(test, corepmu_hotplug_add(b->pmu), 0);

	return b;
}

static void end_followed(struct fixture *b)
{
	corepmu_hotplug_remove(b->pmu);
	corepmu_hotplug_exit();
}

/* Start an event, and count 300 instructions. */
static struct perf_event *start_counting(struct fixture *b)
{
	struct perf_event *event = fixture_event(b, PERF_COUNT_HW_INSTRUCTIONS, 0);

	KUNIT_EXPECT_EQ(b->test, fixture_add(event, PERF_EF_START), 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, 300);

	return event;
}

static void end_counting(struct fixture *b, struct perf_event *event, u64 count)
{
	KUNIT_EXPECT_EQ(b->test, fixture_read(event), count);
	fixture_remove(event);
}

/* Events survive a power-down of their CPU, which loses all registers. */
static void perf_core_power(struct kunit *test)
{
	struct fixture *b = start_followed(test);
	struct perf_event *counting, *sampling;
	struct notifier_block *nb;
	unsigned long flags;
	u64 config = 0xc0;

	if (!strncmp(b->testbed->name, "pmuv3", 5))
		config = 0x08;
	register_pmu(b);
	counting = create_event(b, config, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, counting);
	sampling = create_event(b, config, 1000000);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, sampling);
	perf_event_disable(counting);
	perf_event_enable(counting);
	fixture_run(b, TESTBED_INSTRUCTIONS, 300000);

	nb = &b->pmu->pm_nb;
	local_irq_save(flags);
	nb->notifier_call(nb, CPU_PM_ENTER, NULL);
	/* No event counts between CPU_PM_ENTER and CPU_PM_EXIT. */
	fixture_run(b, TESTBED_INSTRUCTIONS, 55);
	b->testbed->ops->lose_state();
	nb->notifier_call(nb, CPU_PM_EXIT, NULL);
	local_irq_restore(flags);

	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 699999, 0);
	RUN_EXPECT_SAMPLES(b, TESTBED_INSTRUCTIONS, 1, 1);

	/* The power-down fails. */
	local_irq_save(flags);
	nb->notifier_call(nb, CPU_PM_ENTER, NULL);
	nb->notifier_call(nb, CPU_PM_ENTER_FAILED, NULL);
	KUNIT_EXPECT_EQ(test, nb->notifier_call(nb, CPU_CLUSTER_PM_ENTER, NULL), NOTIFY_DONE);
	local_irq_restore(flags);
	fixture_run(b, TESTBED_INSTRUCTIONS, 234);
	KUNIT_EXPECT_EQ(test, value_of(counting), 1000234);
	KUNIT_EXPECT_EQ(test, value_of(sampling), 1000234);

	perf_event_release_kernel(counting);
	perf_event_release_kernel(sampling);
	perf_pmu_unregister(&b->pmu->perf_pmu);
	end_followed(b);
}

/* A stopped event survives a power-down, too. */
static void perf_core_power_stopped(struct kunit *test)
{
	struct fixture *b = start_followed(test);
	struct perf_event *event = start_counting(b);
	struct notifier_block *nb;
	unsigned long flags;

	fixture_stop_event(event, PERF_EF_UPDATE);

	nb = &b->pmu->pm_nb;
	local_irq_save(flags);
	nb->notifier_call(nb, CPU_PM_ENTER, NULL);
	b->testbed->ops->lose_state();
	nb->notifier_call(nb, CPU_PM_EXIT, NULL);
	local_irq_restore(flags);

	fixture_run(b, TESTBED_INSTRUCTIONS, 55);
	fixture_start_event(event, 0);
	fixture_run(b, TESTBED_INSTRUCTIONS, 44);
	end_counting(b, event, 344);
	end_followed(b);
}

/* Events survive suspend: the last CPU loses its registers without going offline. */
static void perf_core_sleep(struct kunit *test)
{
	struct perf_event *event;
	unsigned long flags;
	struct fixture *b;
	int ret;

	if (!IS_ENABLED(CONFIG_PM_SLEEP))
		kunit_skip(test, "a kernel that cannot sleep");

	set_cpus_allowed_ptr(current, cpumask_of(cpumask_first(cpu_online_mask)));
	b = start_followed(test);
	event = start_counting(b);
	KUNIT_EXPECT_EQ(test, others_online(b->cpu, false), 0);
	local_irq_save(flags);
	ret = syscore_suspend();
	if (!ret) {
		fixture_run(b, TESTBED_INSTRUCTIONS, 55);
		b->testbed->ops->lose_state();
		syscore_resume();
	}
	local_irq_restore(flags);
	KUNIT_EXPECT_EQ(test, others_online(b->cpu, true), 0);
	KUNIT_EXPECT_EQ(test, ret, 0);

	fixture_run(b, TESTBED_INSTRUCTIONS, 44);
	end_counting(b, event, 344);
	end_followed(b);
}

static struct kunit_case sysfs_cases[] = {
	KUNIT_CASE_PARAM(sysfs_files, file_gen_params),
	KUNIT_CASE_PARAM(sysfs_every_file, testbed_gen_params),
	KUNIT_CASE(sysfs_freeze_on_smi),
	KUNIT_CASE_PARAM(sysfs_cpus, testbed_gen_params),
	KUNIT_CASE_PARAM(sysfs_alias, testbed_gen_params),
	KUNIT_CASE_PARAM(perf_core_events, testbed_gen_params),
	KUNIT_CASE_PARAM(perf_core_power, testbed_gen_params),
	KUNIT_CASE_PARAM(perf_core_power_stopped, testbed_gen_params),
	KUNIT_CASE_PARAM(perf_core_sleep, testbed_gen_params),
	{ }
};

OWN_TESTBED_SUITE(sysfs, "corepmu_sysfs");
