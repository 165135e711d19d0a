// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Count what QEMU's memory callbacks report of pieces of a guest's code: loads, stores and bytes. A
 * PMU plugin may be loaded, too.
 *
 * Options: out=FILE, and for each piece, by ascending address, piece=NAME:ADDRESS. A piece ends
 * where the next begins. The last has no name: piece=:ADDRESS. At exit FILE has lines
 * "PIECE.loads N", "PIECE.stores N" and "PIECE.bytes N", for one run of the piece. Interface
 * versions 1 to 4 (QEMU 7.2 to 10.0) are supported; the guest has one CPU.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/plugin.h"

const char *const plugin_name = "memory-callbacks";

#define OLDEST_VERSION	1
#define NEWEST_VERSION	4

enum { CB_NO_REGS };
enum { MEM_RW = 3 };

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*cb)(qemu_plugin_id_t, void *tb));
size_t qemu_plugin_tb_n_insns(const void *tb);
void *qemu_plugin_tb_get_insn(const void *tb, size_t index);
uint64_t qemu_plugin_insn_vaddr(const void *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(void *insn, void (*cb)(unsigned int, void *), int flags,
					    void *userdata);
void qemu_plugin_register_vcpu_mem_cb(void *insn,
				      void (*cb)(unsigned int, uint32_t, uint64_t, void *),
				      int flags, int rw, void *userdata);
bool qemu_plugin_mem_is_store(uint32_t info);
unsigned int qemu_plugin_mem_size_shift(uint32_t info);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t, void *),
				    void *userdata);

static struct piece {
	const char *name;
	uint64_t begin;
	uint64_t runs, loads, stores, bytes;
} pieces[32];
static unsigned int nr_pieces;
static const char *out;

static void on_run(unsigned int vcpu, void *piece)
{
	(void)vcpu;
	((struct piece *)piece)->runs++;
}

static void on_access(unsigned int vcpu, uint32_t info, uint64_t address, void *userdata)
{
	struct piece *piece = userdata;

	(void)vcpu;
	(void)address;
	if (qemu_plugin_mem_is_store(info))
		piece->stores++;
	else
		piece->loads++;
	piece->bytes += 1u << qemu_plugin_mem_size_shift(info);
}

static void on_translation(qemu_plugin_id_t id, void *tb)
{
	size_t i, nr = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (i = 0; i < nr; i++) {
		void *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);

		for (unsigned int p = 0; p + 1 < nr_pieces; p++) {
			if (address < pieces[p].begin || address >= pieces[p + 1].begin)
				continue;
			if (address == pieces[p].begin)
				qemu_plugin_register_vcpu_insn_exec_cb(insn, on_run, CB_NO_REGS,
								       &pieces[p]);
			qemu_plugin_register_vcpu_mem_cb(insn, on_access, CB_NO_REGS, MEM_RW,
							 &pieces[p]);
		}
	}
}

static void report(qemu_plugin_id_t id, void *userdata)
{
	FILE *file = fopen(out, "w");

	(void)id;
	(void)userdata;
	for (const struct piece *p = pieces; file && p + 1 < pieces + nr_pieces; p++)
		if (p->runs)
			fprintf(file, "%s.loads %llu\n%s.stores %llu\n%s.bytes %llu\n",
				p->name, (unsigned long long)(p->loads / p->runs),
				p->name, (unsigned long long)(p->stores / p->runs),
				p->name, (unsigned long long)(p->bytes / p->runs));
	if (file)
		fclose(file);
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv)
{
	if (info->version.cur < OLDEST_VERSION || info->version.min > NEWEST_VERSION)
		return plugin_refuse("the plugin interface is of version %d: use QEMU 7.2 to 10.0",
				     info->version.cur);
	for (int i = 0; i < argc; i++) {
		char *colon = strchr(argv[i], ':');

		if (!strncmp(argv[i], "out=", 4)) {
			out = argv[i] + 4;
		} else if (!strncmp(argv[i], "piece=", 6) && colon &&
			   nr_pieces < ARRAY_SIZE(pieces)) {
			*colon = '\0';
			pieces[nr_pieces].name = argv[i] + 6;
			pieces[nr_pieces++].begin = strtoull(colon + 1, NULL, 16);
		} else {
			return plugin_refuse("unknown option '%s' (known: out=, piece=)", argv[i]);
		}
	}
	if (!out)
		return plugin_refuse("needs out=FILE");
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_atexit_cb(id, report, NULL);
	return 0;
}
