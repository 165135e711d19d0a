#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# releases: `make run` works as the first command on every Debian release that README.md names.
# For each release and architecture, the test makes a root directory with a minimal Debian, make,
# git and certificates. In it the test builds the module, the programs of tools/ and the plugins,
# and boots guests of all kernels. It downloads everything again except packages in this machine's
# cache.
#
# Needs root, mmdebstrap and 5 GB below build/. COREPMU_RELEASES, COREPMU_ARCHES and COREPMU_KERNEL
# select some of all.
set -uo pipefail
cd "$(dirname "$0")/../../../.." || exit 1
. tools/lib/ktap.sh
. scripts/lib/lib.sh
. scripts/lib/apt.sh
trap - ERR

read -ra releases <<<"${COREPMU_RELEASES:-bookworm trixie}"
read -ra arches <<<"${COREPMU_ARCHES:-$(table_rows scripts/tables/arches.cfg | xargs)}"
read -ra kernels <<<"${COREPMU_KERNEL:-$(default_kernel) $(table_rows scripts/tables/kernels.cfg |
	grep -vx "$(default_kernel)" | xargs)}"

plan

# skip_all REASON: skip all tests
skip_all()
{
	skipped "make run on a Debian with nothing else prepared" "$1"
	finish
}

[ "$(id -u)" = 0 ] || skip_all "it takes root to make a Debian of its own"
command -v mmdebstrap >/dev/null || skip_all "mmdebstrap is missing"
unshare --mount --pid --fork --kill-child true 2>/dev/null ||
	skip_all "this machine does not let root make namespaces"
mkdir -p build
free=$(df -Pm build | awk 'NR == 2 { print $4 }')
[ "$free" -ge 5000 ] || skip_all "5000 MB are needed below build/, $free MB are free"

with_lock "$BUILD/.releases.lock"
work=$BUILD/releases
# The runs mount the directory only in mount namespaces of their own: nothing is mounted
# here.
trap 'rm -rf --one-file-system "$work"' EXIT
rm -rf --one-file-system "$work"
mkdir "$work" || exit 1
trap 'exit 130' INT
trap 'exit 143' TERM

ktap_details() { { grep -v '^    ' "$work/err"; cat "$work/out"; } | tail -n 40; }

# inside ROOT COMMAND...: run a command there as after a login, and end the processes that it
# leaves
inside()
{
	local name words=()

	for name in http_proxy https_proxy no_proxy; do
		[ -z "${!name:-}" ] || words+=("$name=${!name}")
	done
	# shellcheck disable=SC2016 # for the other shell
	unshare --mount --pid --fork --kill-child sh -c '
		root=$1
		shift
		mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" || exit 1
		exec chroot "$root" /usr/bin/env -i HOME=/root TERM=dumb \
			PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' \
		sh "$1" "${words[@]}" "${@:2}" </dev/null
}

# make_release RELEASE: make a minimal Debian in $work/RELEASE, from this machine's archive,
# without backports
make_release()
{
	local root=$work/$1 key

	apt_write_sources "$1" "$(dpkg --print-architecture)" "$work/all.sources" &&
		awk -v RS= -v ORS='\n\n' '!/-backports/' "$work/all.sources" >"$work/debian.sources" &&
		mmdebstrap --quiet --variant=minbase --include=make,git,ca-certificates \
			"$1" "$root" "$work/debian.sources" || return
	rm -f "$root"/etc/apt/sources.list "$root"/etc/apt/sources.list.d/*
	cp "$work/debian.sources" "$root/etc/apt/sources.list.d/"
	sed -n 's/^Signed-By: *\(\/.*\)/\1/p' "$work/debian.sources" | sort -u | while read -r key; do
		[ -e "$root$key" ] || install -D -m 644 "$key" "$root$key"
	done
	apt-config dump | grep -E '^Acquire::https?::Proxy' >"$root/etc/apt/apt.conf.d/proxy" || true
	cp /etc/resolv.conf /etc/hosts "$root/etc/"
	mkdir -p "$root/root/corepmu" "$root/root/.cache/corepmu/debs"
	tree_files | tar -c -T - | tar -x -C "$root/root/corepmu"
}

# run ROOT WORDS...: `make run` there; sets out to stdout, err to stderr
run()
{
	local root=$1

	shift
	status=0
	inside "$root" timeout -k 10 1800 make -s -C /root/corepmu run "$@" \
		>"$work/out" 2>"$work/err" || status=$?
}

# try RELEASE ARCH: test all kernels there
try()
{
	local root=$work/$1-$2 kernel words first=1

	cp -a "$work/$1" "$root"
	for deb in "$CACHE"/debs/*.deb; do
		ln "$deb" "$root/root/.cache/corepmu/debs/" 2>/dev/null ||
			cp "$deb" "$root/root/.cache/corepmu/debs/"
	done
	for kernel in "${kernels[@]}"; do
		words=()
		[ "$2" = arm64 ] || words+=("ARCH=$2")
		if [ "$kernel" = "$(default_kernel)" ]; then
			run "$root" "${words[@]}"
			[ "$status" -eq 0 ] && grep -q ' spin_70_percent' "$work/out"
		else
			words+=("KERNEL=$kernel")
			load_kernel "$kernel"
			run "$root" "${words[@]}" CMD="uname -r; perf stat -x, -e instructions:u true 2>&1"
			[ "$status" -eq 0 ] && grep -q "^${K[series]:-$kernel.}" "$work/out" &&
				grep -q '^[1-9][0-9]*,,instructions:u,' "$work/out"
		fi
		result "$1: make run${words[*]:+ ${words[*]}}"

		! grep -q 'warning:' "$work/err"
		result "$1: no compiler warned ($2, $kernel)"
		if [ -z "$first" ]; then
			! grep -q '^  installing ' "$work/err"
			result "$1: packages were installed by the first command ($2, $kernel)"
		fi
		first=
	done
	rm -rf --one-file-system "$root"
}

for release in "${releases[@]}"; do
	make_release "$release" >"$work/out" 2>"$work/err"
	result "$release: a minimal Debian was made" || continue
	for arch in "${arches[@]}"; do
		try "$release" "$arch"
	done
	rm -rf --one-file-system "${work:?}/$release"
done

finish
