// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel-record.c - records of changes in the kernel: entered name spaces, new cgroups, loaded and
 * unloaded BPF programs with their symbols, changed code
 *
 * Each record ends with the ids of sample_id_all. Rules are quoted from man-pages 6.03.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "judge/guard.h"
#include "judge/validate.h"

#define PAGES	64

static struct ring ring;
static u64 own_id;

/* Attributes of an event without overflows, with all ids; the caller adds the records' bits. */
static void attr_of_records(struct perf_event_attr *attr)
{
	attr_sampling(attr, 1ULL << 40, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
		      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
	attr->sample_id_all = 1;
	attr->disabled = 0;
}

/* Open a running event with a buffer. Return a descriptor, negative after a skip or a failure. */
static int open_records(struct perf_event_attr *attr, const char *what)
{
	int fd = event_open(attr, 0, -1, -1, 0);

	if (fd == -EINVAL) {
		ktap_skip("%s is not known to this kernel", what);
		return fd;
	}
	fd = map_sampling(what, &ring, fd, PAGES);
	if (fd >= 0)
		ioctl(fd, PERF_EVENT_IOC_ID, &own_id);
	return fd;
}

/*
 * Return a record's data if the record has this type, and check its ids. @bytes: length of the data
 * before the ids, or 0 if it ends with a padded string.
 */
static const void *record_of(const struct perf_event_header *header, unsigned int type,
			     size_t bytes)
{
	if (header->type != type)
		return NULL;
	if (bytes && !expect_eq("bytes of a record", bytes + SAMPLE_ID_BYTES, header->size))
		return NULL;
	expect_true("a record ends with the ids of its event", ids_agree(header, own_id));
	return header + 1;
}

/* PERF_RECORD_NAMESPACES; the second name space is UTS (UTS_NS_INDEX). */
struct namespaces_record {
	u32 pid, tid;
	u64 nr;
	struct {
		u64 dev, inode;
	} of[];
};

#define UTS	1

/* Encode a device as records do: new_encode_dev() of include/linux/kdev_t.h */
static u64 encode_dev(dev_t dev)
{
	return (minor(dev) & 0xff) | (major(dev) << 8) | ((u64)(minor(dev) & ~0xff) << 12);
}

static void name_spaces(void)
{
	const struct perf_event_header *header;
	struct stat before, after;
	struct perf_event_attr attr;
	unsigned int nr = 0;
	int fd;

	attr_of_records(&attr);
	attr.namespaces = 1;
	fd = open_records(&attr, "namespaces");
	if (fd < 0)
		return;
	/* The name space is only for this process, which ends soon. */
	if (stat("/proc/self/ns/uts", &before) || unshare(CLONE_NEWUTS) ||
	    stat("/proc/self/ns/uts", &after)) {
		ktap_skip("unshare(2): %s", strerror(errno));
		close_sampling(&ring, fd);
		return;
	}
	while ((header = ring_next(&ring))) {
		const struct namespaces_record *spaces =
			record_of(header, PERF_RECORD_NAMESPACES, 0);

		if (!spaces || !expect_range("name spaces of a record", UTS + 1, 64, spaces->nr))
			continue;
		expect_eq("bytes of the record",
			  sizeof(*header) + sizeof(*spaces) + spaces->nr * sizeof(spaces->of[0]) +
			  SAMPLE_ID_BYTES, header->size);
		expect_eq("device of the UTS name space", encode_dev(after.st_dev),
			  spaces->of[UTS].dev);
		expect_eq("inode of the UTS name space", after.st_ino, spaces->of[UTS].inode);
		expect_ne("inode of the one before", before.st_ino, spaces->of[UTS].inode);
		nr += spaces->pid == (u32)getpid();
	}
	expect_eq("NAMESPACES records of a name space that was entered", 1, nr);
	close_sampling(&ring, fd);
}

struct cgroup_record {
	u64 id;
	char path[];
};

#define CGROUPS		"/sys/fs/cgroup"
#define NEW_CGROUP	"/pmu-validate-new"

/* Return the id of a cgroup by name_to_handle_at(2), or 0. */
static u64 cgroup_id(const char *path)
{
	union {
		struct file_handle handle;
		char bytes[sizeof(struct file_handle) + sizeof(u64)];
	} at = { .handle.handle_bytes = sizeof(u64) };
	int mount;
	u64 id;

	if (name_to_handle_at(AT_FDCWD, path, &at.handle, &mount, 0) ||
	    at.handle.handle_bytes != sizeof(id))
		return 0;
	memcpy(&id, at.bytes + sizeof(struct file_handle), sizeof(id));
	return id;
}

static void new_cgroup(void)
{
	const struct perf_event_header *header;
	struct perf_event_attr attr;
	unsigned int nr = 0;
	char control[256];
	u64 id;
	int fd;

	/* Children have perf's controller only once some controller was enabled for them. */
	if (!read_text(CGROUPS "/cgroup.subtree_control", control, sizeof(control)) ||
	    !strpbrk(control, "abcdefghijklmnopqrstuvwxyz")) {
		ktap_skip("cgroups lack perf's controller: write +pids to " CGROUPS
			  "/cgroup.subtree_control");
		return;
	}
	attr_of_records(&attr);
	attr.cgroup = 1;
	fd = open_records(&attr, "cgroup");
	if (fd < 0)
		return;
	if (make_dir(CGROUPS NEW_CGROUP)) {
		ktap_skip("no cgroup can be made in " CGROUPS);
		close_sampling(&ring, fd);
		return;
	}
	id = cgroup_id(CGROUPS NEW_CGROUP);
	while ((header = ring_next(&ring))) {
		const struct cgroup_record *cgroup = record_of(header, PERF_RECORD_CGROUP, 0);

		if (!cgroup || strcmp(cgroup->path, NEW_CGROUP))
			continue;
		nr++;
		if (id)
			expect_eq("id of the cgroup", id, cgroup->id);
	}
	expect_eq("CGROUP records of " NEW_CGROUP, 1, nr);
	close_sampling(&ring, fd);
}

struct bpf_record {
	uint16_t type, flags;
	u32 id;
	uint8_t tag[BPF_TAG_SIZE];
};

struct ksymbol_record {
	u64 addr;
	u32 len;
	uint16_t ksym_type, flags;
	char name[];
};

/* The kernel's information about a loaded program */
struct program {
	struct bpf_prog_info info;
	u64 symbol;
	char name[64];
};

static bool ask_program(int fd, struct program *program)
{
	union bpf_attr attr;
	int len;

	memset(program, 0, sizeof(*program));
	program->info.nr_jited_ksyms = 1;
	program->info.jited_ksyms = (uintptr_t)&program->symbol;
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = fd;
	attr.info.info_len = sizeof(program->info);
	attr.info.info = (uintptr_t)&program->info;
	if (syscall(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &attr, sizeof(attr)))
		return false;
	len = snprintf(program->name, sizeof(program->name), "bpf_prog_");
	for (unsigned int i = 0; i < BPF_TAG_SIZE; i++)
		len += snprintf(program->name + len, sizeof(program->name) - len, "%02x",
				program->info.tag[i]);
	return true;
}

/* Expect one record of each type, since the last read, that the program was loaded or unloaded. */
static void expect_program(const struct program *program, bool gone)
{
	const struct perf_event_header *header;
	unsigned int programs = 0, symbols = 0;

	while ((header = ring_next(&ring))) {
		const struct bpf_record *bpf;
		const struct ksymbol_record *symbol;

		bpf = record_of(header, PERF_RECORD_BPF_EVENT, sizeof(*header) + sizeof(*bpf));
		programs += bpf && bpf->id == program->info.id &&
			    bpf->type == (gone ? PERF_BPF_EVENT_PROG_UNLOAD :
					  PERF_BPF_EVENT_PROG_LOAD) &&
			    !memcmp(bpf->tag, program->info.tag, BPF_TAG_SIZE);
		symbol = record_of(header, PERF_RECORD_KSYMBOL, 0);
		if (!symbol || strncmp(symbol->name, program->name, strlen(program->name)))
			continue;
		expect_eq("type of the symbol", PERF_RECORD_KSYMBOL_TYPE_BPF, symbol->ksym_type);
		/* The symbol is 0 for users that may not see kernel addresses. */
		if (program->symbol)
			expect_eq("address of the symbol, from that of the program", 0,
				  (long long)(symbol->addr - program->symbol));
		symbols += !!(symbol->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) == gone;
	}
	expect_eq(gone ? "BPF_EVENT records that it is unloaded" :
		  "BPF_EVENT records that it is loaded", 1, programs);
	expect_eq(gone ? "KSYMBOL records that its symbol goes" :
		  "KSYMBOL records that its symbol comes", 1, symbols);
}

static void programs_come_and_go(void)
{
	struct perf_event_attr attr;
	struct program program;
	int fd, loaded;

	attr_of_records(&attr);
	attr.ksymbol = 1;
	attr.bpf_event = 1;
	fd = open_records(&attr, "ksymbol");
	if (fd < 0)
		return;
	loaded = load_program(1);
	if (loaded < 0 || !ask_program(loaded, &program)) {
		ktap_skip("bpf(2): %s", strerror(errno));
	} else if (!program.info.jited_prog_len) {
		ktap_skip("BPF programs are interpreted: they have no symbols");
	} else {
		expect_program(&program, false);
		close(loaded);
		expect_program(&program, true);
	}
	close_sampling(&ring, fd);
}

#define MOST_BYTES	16
#define MOST_POKES	256

struct poke_record {
	u64 addr;
	uint16_t old_len, new_len;
	uint8_t bytes[];
};

struct poke {
	u64 addr;
	unsigned int len;
	uint8_t from[MOST_BYTES], to[MOST_BYTES];
};

/* Read the changes since the last read. */
static unsigned int read_pokes(struct poke *pokes)
{
	const struct perf_event_header *header;
	unsigned int nr = 0;

	while ((header = ring_next(&ring))) {
		const struct poke_record *poke = record_of(header, PERF_RECORD_TEXT_POKE, 0);

		if (!poke)
			continue;
		expect_range("bytes of the record", sizeof(*header) + sizeof(poke->addr) +
			     2 * sizeof(uint16_t) + poke->old_len + poke->new_len + SAMPLE_ID_BYTES,
			     sizeof(*header) + sizeof(*poke) + poke->old_len + poke->new_len + 8 +
			     SAMPLE_ID_BYTES, header->size);
		/* Ignore trampolines, which other users add and remove. */
		if (poke->old_len != poke->new_len || poke->old_len > MOST_BYTES ||
		    nr == MOST_POKES)
			continue;
		pokes[nr].addr = poke->addr;
		pokes[nr].len = poke->old_len;
		memcpy(pokes[nr].from, poke->bytes, poke->old_len);
		memcpy(pokes[nr].to, poke->bytes + poke->old_len, poke->old_len);
		nr++;
	}
	return nr;
}

static bool is_undone(const struct poke *poke, const struct poke *by, unsigned int nr)
{
	for (; nr; nr--, by++)
		if (by->addr == poke->addr && by->len == poke->len &&
		    !memcmp(by->from, poke->to, poke->len) &&
		    !memcmp(by->to, poke->from, poke->len))
			return true;
	return false;
}

/*
 * Check whether the kernel has records of its code changes. x86 has, unless the kernel has no such
 * code: without CONFIG_JUMP_LABEL it also lacks the functions.
 */
static bool records_changes(void)
{
#if defined(__x86_64__)
	FILE *symbols = fopen("/proc/kallsyms", "r");
	bool found = false;
	char line[512];

	if (!symbols)
		return true;
	while (!found && fgets(line, sizeof(line), symbols))
		found = strstr(line, " jump_label_lock\n");
	fclose(symbols);
	return found;
#else
	return false;
#endif
}

/*
 * The kernel has patched branches for its software events. It changes a branch when the first event
 * of a type is opened, and back when the last one is closed (perf_swevent_enabled).
 */
static void code_changes(void)
{
	static const u64 kinds[] = {
		PERF_COUNT_SW_PAGE_FAULTS_MAJ, PERF_COUNT_SW_PAGE_FAULTS_MIN,
		PERF_COUNT_SW_PAGE_FAULTS,
	};
	static struct poke there[MOST_POKES], back[MOST_POKES];
	unsigned int nr = 0, undone = 0, changed = 0, i;
	struct perf_event_attr attr, software = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(software), .disabled = 1,
	};
	int fd, other;

	attr_of_records(&attr);
	attr.text_poke = 1;
	fd = open_records(&attr, "text_poke");
	if (fd < 0)
		return;
	for (i = 0; i < ARRAY_SIZE(kinds) && !nr; i++) {
		unsigned int nr_back;

		software.config = kinds[i];
		ring_discard(&ring);
		other = event_open_self(&software, -1);
		nr = read_pokes(there);
		close(other);
		nr_back = read_pokes(back);
		for (unsigned int j = 0; j < nr; j++) {
			undone += is_undone(&there[j], back, nr_back);
			changed += memcmp(there[j].from, there[j].to, there[j].len) != 0;
		}
	}
	if (!nr && !records_changes()) {
		ktap_skip("no record: this kernel changes no code, or has no records of it");
		close_sampling(&ring, fd);
		return;
	}
	expect_range("TEXT_POKE records of a software event that is opened", 1, MOST_POKES, nr);
	expect_eq("records with old bytes that are not the new ones", nr, changed);
	expect_eq("changes that are undone when it is closed", nr, undone);
	close_sampling(&ring, fd);
}

static const struct check checks[] = {
	{ "field", "NAMESPACES: which, and its ids",
	  MAN "\"This enables the generation of PERF_RECORD_NAMESPACES records when a task enters a new namespace. Each namespace has a combination of device and inode numbers.\"",
	  name_spaces, NEED_SAMPLING | NEED_ROOT },
	{ "field", "CGROUP of a new one, and its ids",
	  MAN "\"This record indicates a new cgroup is created and activated.\", id: \"is the cgroup identifier. This can be also retrieved by name_to_handle_at(2) on the cgroup path (as a file handle).\"",
	  new_cgroup, NEED_SAMPLING | NEED_DISRUPT },
	{ "field", "BPF_EVENT and KSYMBOL of a program, and their ids",
	  MAN "\"This record indicates BPF program is loaded or unloaded.\", \"This record indicates kernel symbol register/unregister events.\"",
	  programs_come_and_go, NEED_SAMPLING | NEED_ROOT },
	{ "field", "TEXT_POKE of code that is changed and changed back, and its ids",
	  MAN "\"This record indicates a change in the kernel text.\", bytes: \"contains old bytes immediately followed by new bytes.\"",
	  code_changes, NEED_SAMPLING | NEED_ROOT },
};

const struct check_list kernel_record_checks = { checks, ARRAY_SIZE(checks) };
