# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2154
#
# Small kernels of Debian's sources for guests. Sourced after lib.sh, by who has the row of an
# architecture in A[] and holds the lock of TREE and BUILD.

# copy_sources SOURCES TREE: a copy to work in, made anew when the sources have changed.
copy_sources()
{
	cmp -s "$1/Makefile" "$2/Makefile" && return
	need_space 4000
	rm -rf "$2"
	mkdir -p "${2%/*}"
	cp -a "$1" "$2"
}

# build_kernel ARCH TREE BUILD STAMP LOG CONFIG...: the kernel of TREE in BUILD, of a configuration
# that has what is in the files CONFIG, what that implies, and nothing else: no default either. It is
# kept as long as STAMP, a line that says what it is made of, is the same.
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
	# What depends on something that is not there is left out without a word. What this kernel does not
	# know is an older or newer one's.
	for option in $(grep '^CONFIG.*=[^n]' "$build.config" | grep -vxFf "$build/.config" || true); do
		name=${option#CONFIG_}
		! grep -rqxE "(menu)?config ${name%=*}" --include='Kconfig*' "$tree" ||
			die "this kernel cannot have $option: see ${*##*/}."
	done
	"${kbuild[@]}" -j"$(nproc)" >>"$log" 2>&1 || die "the kernel does not build; the log is $log."
	echo "$stamp" >"$build.stamp"
}
