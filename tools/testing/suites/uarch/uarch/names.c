// SPDX-License-Identifier: GPL-2.0-only
/*
 * names.c - sysfs files of the built-in driver and of the driver under test
 *
 * The test compares format/, events/ and caps/ of both, file by file. Each difference has its
 * reason here and in Documentation/admin-guide/perf/corepmu.rst.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "uarch.h"

#define TEXT_MAX	256

/**
 * struct difference - a file that differs
 * @name: directory and file
 * @ours: the driver under test has it too, with another text
 */
struct difference {
	const char *name;
	bool ours;
};

static const struct difference differences[] = {
	/* The kernel shows this bit and ignores it. */
	{ "format/pc", false },
	/* For precise events, which corepmu lacks beside the built-in driver. */
	{ "format/ldlat", false },
	{ "events/mem-loads", false },
	{ "events/mem-loads-aux", false },
	{ "events/mem-stores", false },
	{ "caps/max_precise", true },
};

static const struct difference *find_difference(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(differences); i++)
		if (!strcmp(differences[i].name, name))
			return &differences[i];
	return NULL;
}

/* Read a file without its newline; an absent file is an empty text. */
static void read_text(const char *pmu, const char *name, char *text)
{
	char path[512];
	FILE *file;

	*text = 0;
	snprintf(path, sizeof(path), UARCH_DEVICES "%s/%s", pmu, name);
	file = fopen(path, "r");
	if (!file)
		return;
	if (!fgets(text, TEXT_MAX, file))
		*text = 0;
	text[strcspn(text, "\n")] = 0;
	fclose(file);
}

static void compare(const char *own, const char *ours, const char *name)
{
	const struct difference *difference = find_difference(name);
	char own_text[TEXT_MAX], our_text[TEXT_MAX];

	read_text(own, name, own_text);
	read_text(ours, name, our_text);
	if (!strcmp(own_text, our_text))
		return;
	ktap_check(difference && *own_text && !*our_text == !difference->ours,
		   "%s: the built-in driver has '%s', corepmu '%s'", name, own_text,
		   our_text);
}

/* Compare each file that @pmu has. Return their number. */
static unsigned int compare_all(const char *pmu, const char *own, const char *ours,
				const char *directory)
{
	char path[512], name[TEXT_MAX + 16];
	unsigned int nr = 0;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), UARCH_DEVICES "%s/%s", pmu, directory);
	dir = opendir(path);
	if (!dir)
		return 0;
	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", directory, entry->d_name);
		compare(own, ours, name);
		nr++;
	}
	closedir(dir);
	return nr;
}

/**
 * uarch_names() - compare format/, events/ and caps/ of both PMUs
 * @own: name of the built-in driver's PMU
 * @ours: name of the PMU under test
 */
void uarch_names(const char *own, const char *ours)
{
	static const char * const directories[] = { "format", "events", "caps" };

	for (size_t i = 0; i < ARRAY_SIZE(directories); i++) {
		expect_ne("files of the built-in driver", 0,
			  compare_all(own, own, ours, directories[i]));
		expect_ne("files of corepmu", 0, compare_all(ours, own, ours, directories[i]));
	}
}
