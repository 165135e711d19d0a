# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2016,SC2034
#
# Helpers shared by the programs in scripts/. Sourced, never run.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# Add the directories of depmod and the like, which a user's PATH lacks.
PATH=$PATH:/usr/sbin:/sbin
CACHE=${COREPMU_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/corepmu}
# Make CACHE absolute: programs that this one starts may run in another directory.
case $CACHE in
/*) ;;
*) CACHE=$PWD/$CACHE ;;
esac
export COREPMU_CACHE=$CACHE

# build/ in the checkout has all that is made. make and kbuild cannot work in a directory whose
# name has a space or a colon: in such a checkout build/ is a link to a directory in the cache.
BUILD=$TOP/build
is_for_make() { case $1 in *[[:space:]:]*) return 1 ;; esac }

link_build() {
	BUILD=$CACHE/build/$(md5sum <<<"$TOP" | cut -c 1-12)
	mkdir -p "$BUILD" 2>/dev/null ||
		die "cannot create the cache directory $CACHE; set COREPMU_CACHE to a writable place."
	[ -e "$TOP/build" ] || ln -s "$BUILD" "$TOP/build" || die "cannot create $TOP/build."
}

# make's variables from the command line are for the Makefile only: do not pass them on.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL

# say TEXT: progress, on stderr so that a guest command's stdout stays alone.
say() { [ -n "${COREPMU_QUIET:-}" ] || printf '  %s\n' "$*" >&2; }

# die [-STATUS] TEXT: one sentence and a non-zero exit.
die() {
	local status=1

	case $1 in -[0-9]*) status=${1#-}; shift ;; esac
	printf '%s: %s\n' "$(basename "$0")" "$*" >&2
	exit "$status"
}

. "$TOP/scripts/lib/options.sh"
# run-guest prints its own --help: its options fill a page.
[ "${0##*/}" = run-guest ] || print_help "$@"

is_for_make "$CACHE" ||
	die "make cannot work in $CACHE; set COREPMU_CACHE to a directory without a space or a colon in its name."
is_for_make "$TOP" || link_build

# Print a sentence if set -e ends the program without one.
set -E
trap 'unexpected $? "${BASH_SOURCE[0]}" $LINENO "$BASH_COMMAND"' ERR
unexpected() {
	case $BASH_SUBSHELL$4 in
	# The project's own programs and functions have printed a sentence.
	[1-9]* | *'scripts/'* | *'=$('*) return ;;
	esac
	printf '%s: %s line %s failed (status %s).\n' \
		"$(basename "$0")" "$(basename "$2")" "$3" "$1" >&2
}

# need TOOL PACKAGE: if TOOL is missing, end with a sentence that names its package.
need() {
	command -v "$1" >/dev/null 2>&1 ||
		die "$1 is missing; install the Debian package $2 (scripts/install-deps does it)."
}

# is_older VERSION OTHER: check whether VERSION comes before OTHER, in the order of sort
# -V.
is_older() { [ "$1" != "$2" ] && printf '%s\n' "$1" "$2" | sort -VC; }

# bounded SECONDS COMMAND...: run a command with a bound; print its name if it does not end.
bounded() {
	local seconds=$1 status=0

	shift
	timeout -k 10 "$seconds" "$@" || status=$?
	case $status in
	124 | 137) die "${1##*/} did not come to an end within $seconds seconds: $(cut -c 1-200 <<<"$*")" ;;
	esac
	return "$status"
}

host_arch() {
	case $(uname -m) in
	x86_64) echo x86_64 ;;
	aarch64) echo arm64 ;;
	*) uname -m ;;
	esac
}

# with_lock FILE: hold a lock on FILE until this process and all processes that it starts have ended.
LOCK_FDS=()
with_lock() {
	mkdir -p "$(dirname "$1")" || die "cannot create $(dirname "$1")."
	exec {LOCK_FD}>"$1" || die "cannot write $1."
	LOCK_FDS+=("$LOCK_FD")
	flock -n "$LOCK_FD" && return
	say "waiting for another run that holds $1"
	flock -w 3600 "$LOCK_FD" || die "another run has held $1 for an hour."
}

drop_lock() { exec {LOCK_FD}>&-; }

drop_locks() {
	local fd

	for fd in "${LOCK_FDS[@]}"; do
		exec {fd}>&-
	done
	LOCK_FDS=()
}

# need_space MEGABYTES: end before a long step if the disk has less space.
need_space() {
	local free

	mkdir -p "$CACHE" 2>/dev/null ||
		die "cannot create the cache directory $CACHE; set COREPMU_CACHE to a writable place."
	[ -w "$CACHE" ] ||
		die "the cache directory $CACHE is not writable; set COREPMU_CACHE to another place."
	free=$(df -Pm "$CACHE" | awk 'NR == 2 { print $4 }')
	[ "$free" -ge "$1" ] ||
		die "only $free MB are free for $CACHE and $1 MB are needed; set COREPMU_CACHE to another place."
}

# own_dir TEMPLATE: create a temporary directory (TEMPLATE is mktemp's), lock it, and set OWN_DIR. The
# lock tells sweep_dirs that the owner is alive. A sweep between mktemp and the lock removes the
# directory: then own_dir tries again.
own_dir() {
	local fd

	for _ in 1 2 3; do
		OWN_DIR=$(mktemp -d "$1") || die "cannot create a directory in ${1%/*}."
		{ exec {fd}<"$OWN_DIR"; } 2>/dev/null && flock -n "$fd" 2>/dev/null &&
			[ -d "$OWN_DIR" ] && return
	done
	# flock fails on directories of this file system, so no sweep removes one: do without the lock.
	[ -d "$OWN_DIR" ] || mkdir "$OWN_DIR"
}

# sweep_dirs DIR...: remove the temporary directories that no process has locked: their owner was
# killed.
sweep_dirs() {
	local dir fd

	for dir; do
		[ -O "$dir" ] && { exec {fd}<"$dir"; } 2>/dev/null || continue
		! flock -n "$fd" 2>/dev/null || rm -rf "$dir"
		exec {fd}<&-
	done
}

# sweep_cache: remove the temporary directories that killed programs left in the cache. Earlier
# versions named them .tmp.* and did not lock them: those are removed when a day old.
sweep_cache() {
	sweep_dirs "$CACHE"/{,*/,*/*/}.scratch.*
	find "$CACHE" -maxdepth 3 -type d -name '.tmp.??????' -mtime +0 -prune \
		-exec rm -rf {} + 2>/dev/null || true
}

# scratch_dir PARENT: create a temporary directory in PARENT, and remove it when this program ends.
scratch_dir() {
	mkdir -p "$1" || die "cannot create $1."
	sweep_cache
	sweep_dirs "$1"/.scratch.*
	own_dir "$1/.scratch.XXXXXX"
	SCRATCH=$OWN_DIR
	trap end_program EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

# Exit status of a program that found the package lists older than the archive, and has read
# them again. The outermost program, which took apt's lock, then restarts (start_anew in
# lib/apt.sh).
LISTS_ARE_NEW=75

end_program() {
	local status=$?

	rm -rf "$SCRATCH"
	[ "$status" -ne $LISTS_ARE_NEW ] || [ -z "${APT_OUTERMOST:-}" ] || start_anew
}

# table_rows FILE: print the names of the [stanzas] of a table.
table_rows() { awk -f "$TOP/scripts/lib/table.awk" "$1" | sed -n 's/^\[\([^]]*\)\][[:space:]]*$/\1/p'; }

# has_row FILE NAME: check whether a table has a [stanza] NAME. In a pipe, sed would fail by SIGPIPE when grep
# ends at the first match.
has_row() { grep -Fqx -- "$2" <(table_rows "$1"); }

# client_file NAME: print the path of a file of tools/clients. A client with several files has
# a folder.
client_file()
{
	local file=$TOP/tools/clients/$1

	[ -e "$file" ] || file=$TOP/tools/clients/${1%.*}/$1
	printf '%s\n' "$file"
}

# kunit_suites: print the names of the KUnit suites.
kunit_suites()
{
	find "$TOP/kunit" -name '*_kunit.c' \
		-exec sed -nE 's/^(OWN_)?TEST(BED)?_SUITE\(\w+, "(corepmu\w*)".*/\3/p' {} +
}

# table_row FILE NAME VARIABLE: read stanza NAME into the associative array VARIABLE.
# A line is "key = value"; '#' in the first column starts a comment. "like = OTHER" adds the keys
# that NAME lacks, from stanza OTHER, then from the stanza that OTHER is like. awk extracts the
# stanza: the shell would take long to read hundreds.
table_row() {
	local -n table=$3
	local like seen=" $2 "

	table=()
	add_stanza "$1" "$2" || return
	while like=${table[like]:-} && [ -n "$like" ]; do
		if [[ $seen == *" $like "* ]]; then
			seen=${seen# }$like
			die "$1: 'like' makes a circle: ${seen// / -> }."
		fi
		seen+="$like "
		unset "table[like]"
		add_stanza "$1" "$like" || die "$1: $2 is like $like, which is not there."
	done
}

# add_stanza FILE NAME: add the keys of a stanza that table[] of table_row() lacks.
add_stanza() {
	local line seen='' key value

	[ -n "$2" ] || return 1
	while IFS= read -r line || [ -n "$line" ]; do
		case $line in
		'#'* | '') ;;
		'['*']') seen=1 ;;
		*=*)
			key=${line%%=*}
			key=${key//[[:space:]]/}
			value=${line#*=}
			value=${value#"${value%%[![:space:]]*}"}
			[ -n "${table[$key]+set}" ] || table["$key"]=${value%"${value##*[![:space:]]}"}
			;;
		esac
	done < <(awk -v only="$2" -f "$TOP/scripts/lib/table.awk" "$1")
	[ -n "$seen" ]
}

# load_arch ARCH: load the row of an architecture into A[]; A[stock] is set if corepmu has no
# backend.
load_arch() {
	declare -gA A
	table_row "$TOP/scripts/tables/arches.cfg" "$1" A && return
	table_row "$TOP/scripts/tables/arches-stock.cfg" "$1" A && A[stock]=1 ||
		die -2 "ARCH=$1 is not known; choose one of: $(table_rows "$TOP/scripts/tables/arches.cfg" | xargs)."
}

# need_backend ARCH: refuse an architecture that corepmu has no backend for, after load_arch.
need_backend() {
	[ -z "${A[stock]:-}" ] ||
		die -2 "ARCH=$1 has no corepmu: only make validate takes it; choose one of: $(table_rows "$TOP/scripts/tables/arches.cfg" | xargs)."
}

# load_kernel KERNEL: load the row of a kernel series or of a flavour into K[].
load_kernel() {
	declare -gA K
	table_row "$TOP/scripts/tables/kernels.cfg" "$1" K ||
		table_row "$TOP/scripts/tables/kernels-flavours.cfg" "$1" K ||
		die -2 "KERNEL=$1 is not known; choose one of: $(all_kernels | xargs)."
}

# kernel_release KERNEL: print the Debian release that has this kernel series for the architecture.
# Call load_arch and load_kernel before.
kernel_release() {
	echo "${A[release_$1]:-${A[release]:-${K[release]}}}"
}

# all_kernels: print the names of the series and the flavours.
all_kernels() { table_rows "$TOP/scripts/tables/kernels.cfg"; table_rows "$TOP/scripts/tables/kernels-flavours.cfg"; }

default_kernel() {
	sed -n '/^\[/h; /^default *= *yes$/{ g; s/[][]//gp; q; }' "$TOP/scripts/tables/kernels.cfg"
}

# cross_prefix ARCH: print the compiler prefix for building ARCH on this host: CROSS_COMPILE,
# or else that of arches.cfg.
cross_prefix() {
	local machine

	if [ -n "${CROSS_COMPILE:-}" ]; then
		load_arch "$1"
		machine=$("${CROSS_COMPILE}gcc" -dumpmachine 2>/dev/null) || machine=
		[ -z "$machine" ] || [[ $machine == "${A[uname]}"-* ]] ||
			die "CROSS_COMPILE=$CROSS_COMPILE compiles for $machine, not for ARCH=$1: unset it, or set it to a compiler for $1."
		echo "$CROSS_COMPILE"
	elif [ "$1" != "$(host_arch)" ]; then
		load_arch "$1"
		echo "${A[cross]}"
	fi
}

# tree_files: print the project's files by their names below TOP: those that git knows or would
# add; without git, or in a folder that git ignores, all that are not built.
tree_files()
{
	local names

	names=$(git -C "$TOP" ls-files --cached --others --exclude-standard 2>/dev/null) || names=
	if [ -n "$names" ]; then
		while IFS= read -r file; do
			[ ! -f "$TOP/$file" ] || echo "$file"
		done <<<"$names"
	else
		(cd "$TOP" && find . -path ./build -prune -o -path ./tools/qemu/build -prune -o \
			-type f -printf '%P\n')
	fi
}

# show_fault NAME WHAT FILE SED: print the change of a fault; fail if there is none.
show_fault()
{
	local differs

	echo "# $1: $2"
	if [ ! -f "$3" ]; then
		echo "${0##*/}: $1 does not apply: there is no ${3#"$TOP/"}." >&2
		return 1
	fi
	if differs=$(sed "$4" "$3" | diff -u "$3" -); then
		echo "${0##*/}: $1 does not apply: ${3#"$TOP/"} has changed." >&2
		return 1
	fi
	sed '1,2d; /^ /d; /^@/d' <<<"$differs"
}
