// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of files in sysfs that depend on the microarchitecture, Intel CPUs
 *
 * Names and texts are those of EVENT_ATTR_STR() and EVENT_ATTR_STR_HYBRID() in
 * arch/x86/events/intel/core.c of Linux 7.3, with the attribute arrays that intel_pmu_init()
 * chooses for each CPU.
 */
#include <kunit/test.h>

#include <linux/device.h>
#include <linux/sysfs.h>

#include <corepmu/pmu.h>

#include "fixture/testbed.h"
#include "models/x86/access.h"
#include "models/x86/pebs.h"
#include "x86/intel/intel.h"
#include "x86/x86.h"

/* Return the text of a file; NULL if it is not shown. */
static const char *text_of(struct kunit *test, struct fixture *b, const char *group,
			   const char *name)
{
	struct device *dev = kunit_kzalloc(test, sizeof(*dev), GFP_KERNEL);
	char *page = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, dev);
	KUNIT_ASSERT_NOT_NULL(test, page);
	dev_set_drvdata(dev, &b->pmu->perf_pmu);
	for (const struct attribute_group **groups = x86_attr_groups; *groups; groups++) {
		struct attribute **attr = (*groups)->attrs;
		struct device_attribute *file;

		if (!(*groups)->name || strcmp((*groups)->name, group))
			continue;
		while (*attr && strcmp((*attr)->name, name))
			attr++;
		if (!*attr || !(*groups)->is_visible(&dev->kobj, *attr, 0))
			return NULL;
		file = container_of(*attr, struct device_attribute, attr);
		file->show(dev, file, page);
		return page;
	}

	return NULL;
}

#define CORE_LOADS	"event=0xcd,umask=0x1,ldlat=3\n"
#define CORE_STORES	"event=0xcd,umask=0x2\n"
#define LOADS_AUX	"event=0x03,umask=0x82\n"
#define ATOM_LOADS	"event=0xd0,umask=0x5,ldlat=3\n"
#define ATOM_STORES	"event=0xd0,umask=0x6\n"
#define LDLAT		"config1:0-15\n"
#define SNOOP_RSP	"config1:0-63\n"

/* A CPU, and the texts of its files; NULL: the file must not be shown */
static const struct {
	unsigned int	family;
	unsigned int	model;
	unsigned int	core_type;
	unsigned int	pebs;
	const char	*loads;
	const char	*stores;
	const char	*loads_aux;
	const char	*ldlat;
	const char	*snoop_rsp;
} cpus[] = {
	/* Skylake, Ice Lake, Sapphire Rapids, Granite Rapids */
	{ 6, 0x5e, 0, 3, CORE_LOADS, "event=0xd0,umask=0x82\n", NULL, LDLAT, NULL },
	{ 6, 0x6a, 0, 4, CORE_LOADS, "event=0xd0,umask=0x82\n", NULL, LDLAT, NULL },
	{ 6, 0x8f, 0, 4, CORE_LOADS, CORE_STORES, LOADS_AUX, LDLAT, NULL },
	{ 6, 0xad, 0, 4, CORE_LOADS, CORE_STORES, NULL, LDLAT, NULL },
	/* Alder Lake, Meteor Lake, Lunar Lake, Arrow Lake H, Panther Lake */
	{ 6, 0x97, INTEL_CORE, 4, CORE_LOADS, CORE_STORES, LOADS_AUX, LDLAT, NULL },
	{ 6, 0x97, INTEL_ATOM, 4, ATOM_LOADS, ATOM_STORES, NULL, LDLAT, NULL },
	{ 6, 0xaa, INTEL_CORE, 4, CORE_LOADS, CORE_STORES, NULL, LDLAT, NULL },
	{ 6, 0xaa, INTEL_ATOM, 4, ATOM_LOADS, ATOM_STORES, NULL, LDLAT, SNOOP_RSP },
	{ 6, 0xbd, INTEL_CORE, 6, CORE_LOADS, CORE_STORES, NULL, LDLAT, NULL },
	{ 6, 0xbd, INTEL_ATOM, 6, ATOM_LOADS, ATOM_STORES, NULL, LDLAT, SNOOP_RSP },
	{ 6, 0xc5, INTEL_ATOM, 6, ATOM_LOADS, ATOM_STORES, NULL, LDLAT, SNOOP_RSP },
	{ 6, 0xcc, INTEL_CORE, 15, CORE_LOADS, CORE_STORES, NULL, LDLAT, NULL },
	{ 6, 0xcc, INTEL_ATOM, 15, ATOM_LOADS, ATOM_STORES, NULL, LDLAT, SNOOP_RSP },
	/* Alder Lake-N, Sierra Forest, Clearwater Forest */
	{ 6, 0xbe, 0, 4, ATOM_LOADS, ATOM_STORES, NULL, LDLAT, NULL },
	{ 6, 0xaf, 0, 4, ATOM_LOADS, ATOM_STORES, NULL, LDLAT, SNOOP_RSP },
	{ 6, 0xdd, 0, 15, ATOM_LOADS, ATOM_STORES, NULL, LDLAT, SNOOP_RSP },
	/* Nova Lake, Diamond Rapids */
	{ 18, 0x01, INTEL_CORE, 15, CORE_LOADS, CORE_STORES, NULL, LDLAT, NULL },
	{ 18, 0x01, INTEL_ATOM, 15, ATOM_LOADS, ATOM_STORES, NULL, LDLAT, SNOOP_RSP },
	{ 19, 0x01, 0, 15, CORE_LOADS, CORE_STORES, NULL, LDLAT, NULL },
	/* Tremont has PEBS but no load latency; Sierra Forest without PEBS has neither. */
	{ 6, 0x86, 0, 4, NULL, NULL, NULL, NULL, NULL },
	{ 6, 0xaf, 0, 0, NULL, NULL, NULL, NULL, SNOOP_RSP },
};

static struct x86_model_cpu this_cpu;
static struct testbed this_testbed;

static struct fixture *start_fixture(struct kunit *test)
{
	this_testbed = *testbed_by_name("intel-pebs-icl");
	this_testbed.cpu = &this_cpu;

	return fixture_start(test, &this_testbed);
}

static void set_cpu(unsigned int row)
{
	this_cpu = (struct x86_model_cpu) {
		.name = "names", .family = cpus[row].family, .model = cpus[row].model,
		.core_type = cpus[row].core_type, .pebs = cpus[row].pebs, .nr_gp = 8,
		.version = cpus[row].pebs == PEBS_MODEL_ARCH ? 6 : cpus[row].pebs == 3 ? 4 : 5,
		.gp_width = 48, .nr_fixed = 3, .fixed_map = 0x7, .fixed_width = 48,
		.full_width = true, .nr_events = 7,
	};
}

static void event_names_of_memory(struct kunit *test)
{
	for (unsigned int row = 0; row < ARRAY_SIZE(cpus); row++) {
		struct fixture *b;

		set_cpu(row);
		b = start_fixture(test);
		kunit_info(test, "model %u, %#x, type %#x\n", cpus[row].family, cpus[row].model,
			   cpus[row].core_type);
		KUNIT_EXPECT_STREQ(test, text_of(test, b, "events", "mem-loads") ?: "",
				   cpus[row].loads ?: "");
		KUNIT_EXPECT_STREQ(test, text_of(test, b, "events", "mem-stores") ?: "",
				   cpus[row].stores ?: "");
		KUNIT_EXPECT_STREQ(test, text_of(test, b, "events", "mem-loads-aux") ?: "",
				   cpus[row].loads_aux ?: "");
		KUNIT_EXPECT_STREQ(test, text_of(test, b, "format", "ldlat") ?: "",
				   cpus[row].ldlat ?: "");
		KUNIT_EXPECT_STREQ(test, text_of(test, b, "format", "snoop_rsp") ?: "",
				   cpus[row].snoop_rsp ?: "");
		fixture_end(b);
	}
}

/* Without the threshold register (hypervisor), the files of load latency are not shown. */
static void event_names_need_threshold(struct kunit *test)
{
	for (unsigned int row = 0; row < ARRAY_SIZE(cpus); row++) {
		struct fixture *b;

		set_cpu(row);
		pebs_model_no_latency = true;
		b = start_fixture(test);
		pebs_model_no_latency = false;
		KUNIT_EXPECT_NULL(test, text_of(test, b, "events", "mem-loads"));
		KUNIT_EXPECT_NULL(test, text_of(test, b, "format", "ldlat"));
		fixture_end(b);
	}
}

/* metrics_clear exists if IA32_PERF_CAPABILITIES reports it, and the CPU has topdown metrics. */
static void event_names_of_metrics(struct kunit *test)
{
	for (unsigned int i = 0; i < 4; i++) {
		struct fixture *b;

		set_cpu(2);
		this_cpu.nr_fixed = 4;
		this_cpu.fixed_map = 0xf;
		this_cpu.metrics = i & 1 ? 8 : 0;
		this_cpu.metrics_clear = i & 2;
		b = start_fixture(test);
		KUNIT_EXPECT_STREQ(test, text_of(test, b, "format", "metrics_clear") ?: "",
				   i == 3 ? "config1:0\n" : "");
		fixture_end(b);
	}
}

static struct kunit_case event_names_cases[] = {
	KUNIT_CASE(event_names_of_memory),
	KUNIT_CASE(event_names_need_threshold),
	KUNIT_CASE(event_names_of_metrics),
	{ }
};

TEST_SUITE(event_names, "corepmu_x86_event_names", NULL, NULL);
