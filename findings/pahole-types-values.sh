#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# pahole 1.24 (Debian 12: 1.24-4.1), which reads DWARF and the kernel's BTF, prints other types and values than
# the object has, without a message:
#
# - A pointer to an array is printed as a pointer to the element: int (*row)[4] is "int * row", and row + 1 has
#   another address. An array of pointers to functions is printed as a pointer to a function that returns an
#   array, which C does not have.
# - The const of a pointer is printed before the type it points to: const int *const p is "const const int * p".
# - --prettify, whose example in the manual is perf.data, prints unsigned members as signed, and signed bit fields
#   as unsigned. The address 0xffffffff81000000 is -2130706432, the weight 65535 is -1, a bit field of -1 is 7.
#   The float 1.5 is 1069547520, the integer of the same bits.
# - The filter of --prettify compares values extended by their sign: weight==65535 drops a record of the weight
#   65535, and weight==-1 keeps it. For a bit field it compares all bits around the field: kind==9 drops a
#   record whose kind is 9.
#
# Cause: __tag__name() of dwarves_fprintf.c returns the element's name for an array, and writes each modifier
# before the type. base_type__value() of pahole.c knows sizes, but not signs; type__filter_value() ignores the
# bit field's offset and size.
#
# The script prints a struct from DWARF and from BTF, and records of known values. It needs cc and Debian 12's
# archive.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in cc apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download pahole=1.24-4.1 libbpf1 libdw1 libelf1 zlib1g libbz2-1.0 liblzma5) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

cat >data.c <<'END'
#include <stdio.h>

struct types {
	int (*row)[4];
	int (*handlers[3])(int (*)[4]);
	const int *const constant;
	char (*const buffer)[8];
} types;

struct record {
	unsigned long address;
	unsigned short weight;
	signed int level:3;
	unsigned int kind:4;
	float ratio;
	unsigned char cpu;
} records[] = { { 0xffffffff81000000, 65535, -1, 9, 1.5, 200 } };

int main(void)
{
	return fwrite(records, sizeof(records), 1, stdout) != 1;
}
END
cc -g -o data data.c || { echo 'SKIP: the data do not build'; exit 77; }
./data >records
pahole() {
	LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu" root/usr/bin/pahole "$@"
}
pahole -J data 2>pahole.log || { tail -n 1 pahole.log; echo 'SKIP: pahole does not run here'; exit 77; }
{
	for format in dwarf btf; do
		pahole -F $format -C types data | sed -n "s/  */ /g; s,^\t\(.*;\) /.*,$format: \1,p"
	done
	pahole -C record --prettify=records data | grep '='
	for filter in weight==65535 weight==-1 kind==9; do
		echo "filter=$filter: records $(pahole -C "record(filter=$filter)" --prettify=records data | grep -c address)"
	done
} >seen
echo '# pahole 1.24'
cat seen
cat >expected <<'END'
dwarf: int * row;
dwarf: int (*handlers)(int *)[3];
dwarf: const const int * constant;
dwarf: const char * buffer;
btf: int * row;
btf: int (*handlers)(int *)[3];
btf: const const int * constant;
btf: const char * buffer;
	.address = -2130706432,
	.weight = -1,
	.level = 7,
	.kind = 9,
	.ratio = 1069547520,
	.cpu = -56,
filter=weight==65535: records 0
filter=weight==-1: records 1
filter=kind==9: records 0
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
