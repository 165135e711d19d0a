# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Small kernels of Debian's sources for guests. Sourced after lib.sh, by who has the row of an
# architecture in A[] and holds the lock of TREE and BUILD.

# copy_sources SOURCES TREE: make a copy to work in, again if the sources have changed. Files get
# the time of the copy: with their own times they may be older than objects of earlier sources.
copy_sources()
{
	cmp -s "$1/Makefile" "$2/Makefile" && return
	need_space 4000
	rm -rf "$2"
	mkdir -p "${2%/*}"
	cp -R --preserve=mode,links "$1" "$2"
}

# build_kernel ARCH TREE BUILD STAMP LOG CONFIG...: build the kernel of TREE in BUILD. Its
# configuration has the options of the files CONFIG, what these imply, and nothing else: no
# defaults. The kernel is kept as long as STAMP, a line that names its sources and options, is the
# same.
build_kernel()
{
	local arch=$1 tree=$2 build=$3 stamp=$4 log=$5 cross
	local kbuild option name
	shift 5

	need flex flex
	need bison bison
	need bc bc
	need_space 4000
	cat "$@" >"$build.config"
	cross=$(cross_prefix "$arch")
	kbuild=(make -C "$tree" ARCH="$arch" CROSS_COMPILE="$cross" O="$build")
	mkdir -p "$build" "${log%/*}"
	"${kbuild[@]}" KCONFIG_ALLCONFIG="$build.config" allnoconfig >"$log" 2>&1 ||
		die "the kernel cannot be configured; the log is $log."
	# make drops an option without a message if another that it depends on is off. Options that
	# this kernel does not know belong to other versions.
	for option in $(grep '^CONFIG.*=[^n]' "$build.config" | grep -vxFf "$build/.config" || true); do
		name=${option#CONFIG_}
		! grep -rqxE "(menu)?config ${name%=*}" --include='Kconfig*' "$tree" ||
			die "this kernel cannot have $option: see ${*##*/}."
	done
	"${kbuild[@]}" -j"$(nproc)" >>"$log" 2>&1 || die "the kernel does not build; the log is $log."
	echo "$stamp" >"$build.stamp"
}
