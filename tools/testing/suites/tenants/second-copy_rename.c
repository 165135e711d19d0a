// SPDX-License-Identifier: GPL-2.0-only
/*
 * second-copy_rename.c - change the name in a module's file: second-copy_rename FILE NAME >COPY
 *
 * A module's name is the member name of the struct module in its file
 * (.gnu.linkonce.this_module). The member is an array of MODULE_NAME_LEN bytes, 56 on 64-bit
 * kernels, and filled up with zeros. Nothing else in the file is the name followed by that many
 * zeros.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OLD_NAME	"corepmu"
#define NAME_LEN	56

int main(int argc, char **argv)
{
	static char data[16 << 20];
	char old[NAME_LEN] = OLD_NAME, *at;
	size_t size;
	FILE *file;

	if (argc != 3 || strlen(argv[2]) >= NAME_LEN) {
		fprintf(stderr, "usage: second-copy_rename FILE NAME\n");
		return 2;
	}
	file = fopen(argv[1], "rb");
	size = file ? fread(data, 1, sizeof(data), file) : 0;
	at = memmem(data, size, old, sizeof(old));
	if (!at) {
		fprintf(stderr, "second-copy_rename: %s has no module's name " OLD_NAME "\n",
			argv[1]);
		return 1;
	}
	memset(at, 0, NAME_LEN);
	memcpy(at, argv[2], strlen(argv[2]));

	return fwrite(data, 1, size, stdout) == size ? 0 : 1;
}
