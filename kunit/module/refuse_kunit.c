// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: KUnit suite of the list of refusals in debugfs
 */
#include <kunit/test.h>

#include <linux/err.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mount.h>
#include <linux/path.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/string.h>

#include <corepmu/module.h>
#include <corepmu/pmu.h>

#include "fixture/suite.h"

/* Entries of the list */
#define ENTRIES		32

static struct vfsmount *debugfs;

static int refuse_init(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_DEBUG_FS))
		kunit_skip(test, "no debugfs");
	debugfs = kern_mount(get_fs_type("debugfs"));
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, debugfs);
	corepmu_refuse_init();

	return 0;
}

static void refuse_exit(struct kunit *test)
{
	if (IS_ERR_OR_NULL(debugfs))
		return;
	corepmu_refuse_exit();
	kern_unmount(debugfs);
	debugfs = NULL;
}

static struct file *open_list(void)
{
	const struct path root = { .mnt = debugfs, .dentry = debugfs->mnt_root };

	return file_open_root(&root, "corepmu/refusals", O_RDONLY, 0);
}

/* Return the list. A read() would copy it to user space, which this thread does not have. */
static char *show_list(struct kunit *test)
{
	char *text = kunit_kzalloc(test, SZ_8K, GFP_KERNEL);
	struct file *file = open_list();
	struct seq_file *m;

	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	m = file->private_data;
	m->buf = text;
	m->size = SZ_8K - 1;
	KUNIT_EXPECT_EQ(test, m->op->show(m, NULL), 0);
	m->buf = NULL;
	fput(file);

	return text;
}

static void expect_newest(struct kunit *test, int err, unsigned int times, const char *reason)
{
	char *text = show_list(test), line[128];

	snprintf(line, sizeof(line), "%s[%d] %pe %u times: %s", current->comm, current->tgid,
		 ERR_PTR(err), times, reason);
	*strchrnul(text, '\n') = '\0';
	KUNIT_EXPECT_STREQ(test, text, line);
}

/* The list has a reason once for each process, with errno and values of the last refusal. */
static void refuse_counts_reasons(struct kunit *test)
{
	static const char first[] = "period %d", second[] = "value %d";

	KUNIT_EXPECT_EQ(test, corepmu_refuse(-EINVAL, first, 1), -EINVAL);
	expect_newest(test, -EINVAL, 1, "period 1");
	KUNIT_EXPECT_EQ(test, corepmu_refuse(-EOPNOTSUPP, first, 2), -EOPNOTSUPP);
	expect_newest(test, -EOPNOTSUPP, 2, "period 2");
	KUNIT_EXPECT_EQ(test, corepmu_refuse(-EACCES, second, 3), -EACCES);
	expect_newest(test, -EACCES, 1, "value 3");
	/* The same reason of another process is another entry. */
	current->tgid++;
	KUNIT_EXPECT_EQ(test, corepmu_refuse(-EINVAL, second, 4), -EINVAL);
	expect_newest(test, -EINVAL, 1, "value 4");
	current->tgid--;
}

/* The list has the last refusals, the newest first. */
static void refuse_keeps_the_last(struct kunit *test)
{
	static char reasons[ENTRIES + 1][8];
	char *text;

	for (unsigned int i = 0; i <= ENTRIES; i++) {
		snprintf(reasons[i], sizeof(reasons[i]), "no %u", i);
		corepmu_refuse(-EINVAL, reasons[i]);
	}
	text = show_list(test);
	for (unsigned int i = ENTRIES; i; i--) {
		char *line = strsep(&text, "\n");

		KUNIT_ASSERT_NOT_NULL(test, line);
		KUNIT_EXPECT_STREQ(test, strstr(line, "no ") ?: line, reasons[i]);
	}
	KUNIT_EXPECT_STREQ(test, text, "");
}

static void refuse_list_ends(struct kunit *test)
{
	corepmu_refuse_exit();
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(open_list()), -ENOENT);
	corepmu_refuse_init();
	KUNIT_EXPECT_NOT_NULL(test, show_list(test));
}

static struct kunit_case refuse_cases[] = {
	KUNIT_CASE(refuse_counts_reasons),
	KUNIT_CASE(refuse_keeps_the_last),
	KUNIT_CASE(refuse_list_ends),
	{ }
};

TEST_SUITE(refuse, "corepmu_refuse", refuse_init, refuse_exit);
