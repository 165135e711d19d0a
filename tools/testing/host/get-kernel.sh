#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Test that get-kernel selects the packages of the newest complete version in the archive, and that
# an update looks for all that the cache has. The test makes the archive: a directory in which
# kernels are empty files.
. "$(dirname "$0")/../host-test.sh"

archive=$work/archive
cache=$work/cache
host=$(dpkg --print-architecture)
export COREPMU_CACHE=$cache APT_CONFIG=$work/apt.conf
unset COREPMU_APT_LOCKED COREPMU_APT_RUN

# package NAME VERSION ARCH [DEPENDS] [FILE...]: add a package of empty files to the pool.
package()
{
	local dir=$work/deb/$1 name=$1 version=$2 arch=$3 depends=${4:-} file

	shift 3
	[ $# -eq 0 ] || shift
	rm -rf "$dir"
	mkdir -p "$dir/DEBIAN" "$archive/pool"
	printf '%s\n' "Package: $name" "Version: $version" "Architecture: $arch" \
		"Maintainer: nobody <nobody@localhost>" "Description: a test" \
		${depends:+"Depends: $depends"} >"$dir/DEBIAN/control"
	for file; do
		mkdir -p "$dir/$(dirname "$file")"
		: >"$dir/$file"
	done
	dpkg-deb --root-owner-group -b "$dir" "$archive/pool/${name}_${version}_$arch.deb" >/dev/null
}

# The suite of each package outside the release's own suite, by package name
declare -A suite_of=()

# lists RELEASE ARCH...: write package lists with the archive's present packages. Lists of each call are a
# second newer than those before: apt keeps a list that is not newer, in whole seconds.
lists_time=$(($(date +%s) - 1000))
lists()
{
	local release=$1 suite arch file name dir

	shift
	lists_time=$((lists_time + 1))
	for suite in "$release" "$release-updates" "$release-backports" "$release-security"; do
		for arch; do
			dir=$archive/dists/$suite/main/binary-$arch
			mkdir -p "$dir"
			: >"$dir/Packages"
			for file in "$archive/pool"/*_"$arch".deb "$archive/pool"/*_all.deb; do
				[ -e "$file" ] || continue
				name=${file##*/}
				[ "${suite_of[${name%%_*}]:-$release}" = "$suite" ] || continue
				dpkg-deb -f "$file"
				echo "Filename: pool/${file##*/}"
				echo "Size: $(stat -c %s "$file")"
				echo "SHA256: $(sha256sum <"$file" | cut -c 1-64)"
				echo
			done >"$dir/Packages"
		done
		{
			printf '%s\n' "Origin: Debian" "Suite: $suite" "Codename: $suite" \
				"Architectures: $*" "Components: main" "Date: $(date -Rud "@$lists_time")" "SHA256:"
			(cd "$archive/dists/$suite" && for file in main/*/*; do
				echo " $(sha256sum <"$file" | cut -c 1-64) $(stat -c %s "$file") $file"
			done)
		} >"$archive/dists/$suite/Release"
		find "$archive/dists/$suite" -type f -exec touch -d "@$lists_time" {} +
	done
	rm -f "$cache/apt"/*/updated
}

# get ARCH [KERNEL]: sets status, and release to the kernel's release; the file err has the
# messages
get()
{
	local kernel=${2:-6.12}

	status=0
	timeout 120 scripts/fetch/get-kernel --refresh "$1" "$kernel" >"$work/out" 2>"$work/err" </dev/null ||
		status=$?
	release=$(cat "$cache/kernels/$1-$kernel/release" 2>/dev/null)
}

ktap_details()
{
	echo "status $status, kernel $release"
	sed 's/^/stderr: /' "$work/err"
}

said() { grep -qE -- "$1" "$work/err"; }

cat >"$work/apt.conf" <<EOT
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "$work/parts";
Acquire::AllowInsecureRepositories "true";
APT::Get::AllowUnauthenticated "true";
EOT
mkdir -p "$work/parts"
echo "deb file:$archive trixie main" >"$work/sources.list"

plan

# A stock architecture needs only the image: no headers and no build tools.
for version in 6.12.8 6.12.9; do
	package "linux-image-$version-riscv64" "$version-1" riscv64 "" "boot/vmlinux-$version" "boot/config-$version"
done
package linux-perf 6.12.9-1 riscv64 "" usr/bin/perf
package busybox-static 1.0 riscv64 "" usr/bin/busybox
lists trixie riscv64
get riscv64
[ $status -eq 0 ] && [ "$release" = 6.12.9-riscv64 ] && [ -e "$cache/kernels/riscv64-6.12/image" ] &&
	[ ! -e "$cache/kernels/riscv64-6.12/tree" ] && ! said headers
result "a stock architecture's kernel needs neither headers nor build tools"

package linux-image-6.12.10-riscv64 6.12.10-1 riscv64 "" boot/vmlinux-6.12.10 boot/config-6.12.10
lists trixie riscv64
rm "$archive/pool"/linux-image-6.12.10-*
rm -rf "$cache/kernels"
get riscv64
[ $status -eq 0 ] && [ "$release" = 6.12.9-riscv64 ] &&
	said 'lacks a package of 6.12.10-riscv64 \(6.12.10-1\): trying the next older version'
result "if the newest version lacks a package, get-kernel takes the version before and says so"

get riscv64
[ $status -eq 0 ] && said 'up to date \(6.12.9-1\)'
result "the version before is up to date once the cache has it"

rm -rf "$archive/pool"/linux-image-* "$cache/kernels" "$cache/debs"
get riscv64
[ $status -ne 0 ] && said 'no version of the kernel 6.12 for riscv64 with all its packages'
result "an archive without any complete version is reported"

# Every suite may have the newest kernel. The security archive has its own line in the sources.
echo "deb file:$archive trixie-security main" >>"$work/sources.list"
patch=8
for suite in trixie trixie-updates trixie-backports trixie-security; do
	patch=$((patch + 1))
	package "linux-image-6.12.$patch-riscv64" "6.12.$patch-1" riscv64 "" \
		"boot/vmlinux-6.12.$patch" "boot/config-6.12.$patch"
	suite_of[linux-image-6.12.$patch-riscv64]=$suite
	lists trixie riscv64
	get riscv64
	[ $status -eq 0 ] && [ "$release" = "6.12.$patch-riscv64" ]
	result "a refresh (make update) finds the newest kernel in $suite"
done

# refuse SUITE: make apt-get print the error that a signed archive without SUITE causes
refuse()
{
	mkdir -p "$work/bin"
	cat >"$work/bin/apt-get" <<EOT
#!/bin/sh
"$apt_get" "\$@" || exit
case "\$*" in
*update) echo "E: The repository 'file:$archive $1 Release' does not have a Release file."; exit 100 ;;
esac
EOT
	chmod 755 "$work/bin/apt-get"
}

apt_get=$(command -v apt-get)
# arches-stock.cfg names another release for this series; testing has no backports.
rm -rf "$archive"
package linux-image-7.2.9-riscv64 7.2.9-1 riscv64 "" boot/vmlinux-7.2.9 boot/config-7.2.9
package linux-perf 7.2.9-1 riscv64 "" usr/bin/perf
package busybox-static 1.0 riscv64 "" usr/bin/busybox
lists forky riscv64
refuse forky-backports
PATH=$work/bin:$PATH get riscv64 7.x
[ $status -eq 0 ] && [ "$release" = 7.2.9-riscv64 ] && said 'the archive lacks some updates'
result "a series comes from the release that its architecture names, without backports"

refuse forky
rm -rf "$cache/kernels" "$cache/apt"
PATH=$work/bin:$PATH get riscv64 7.x
[ $status -ne 0 ] && said 'package lists cannot be fetched'
result "a release that the archive lacks is reported"

# An architecture with modules, whether or not it is this machine's
rm -rf "$archive"
arch=x86_64 deb=amd64
echo "deb file:$archive bookworm main" >"$work/sources.list"
for version in 6.12.8 6.12.9; do
	package "linux-image-$version-$deb" "$version-1" $deb "" "boot/vmlinuz-$version" "boot/config-$version"
	package "linux-headers-$version-$deb" "$version-1" $deb \
		"linux-headers-$version-common, linux-kbuild-$version" \
		"usr/src/linux-headers-$version-$deb/Makefile" \
		"usr/src/linux-headers-$version-$deb/.kernelvariables"
	package "linux-kbuild-$version" "$version-1" "$host"
done
package linux-headers-6.12.8-common 6.12.8-1 all
package linux-perf 6.12.9-1 $deb "" usr/bin/perf
package busybox-static 1.0 $deb "" usr/bin/busybox
lists bookworm $deb "$host"
get $arch
said 'no package linux-headers-6.12.9-common' && said 'lacks a package of 6.12.9-amd64' &&
	said 'linux-headers-6.12.8-amd64 does not name its compiler'
result "if the lists lack headers, get-kernel takes the version before"

package linux-headers-6.12.9-common 6.12.9-1 all
lists bookworm $deb "$host"
rm "$archive/pool"/linux-kbuild-6.12.9_*
get $arch
said 'lacks a package of 6.12.9-amd64' && said 'linux-headers-6.12.8-amd64 does not name its compiler'
result "if the archive lacks build tools, get-kernel takes the version before"

# A flavour's headers may have their own common headers.
package linux-image-6.12.8-rt-$deb 6.12.8-1 $deb "" boot/vmlinuz-6.12.8-rt boot/config-6.12.8-rt
package linux-headers-6.12.8-rt-$deb 6.12.8-1 $deb \
	"linux-headers-6.12.8-common-rt, linux-kbuild-6.12.8" \
	usr/src/linux-headers-6.12.8-rt-$deb/Makefile usr/src/linux-headers-6.12.8-rt-$deb/.kernelvariables
lists bookworm $deb "$host"
get $arch 6.12-rt
[ $status -ne 0 ] && said 'no package linux-headers-6.12.8-common-rt'
result "a flavour's common headers are those that its headers depend on"
package linux-headers-6.12.8-common-rt 6.12.8-1 all
lists bookworm $deb "$host"
get $arch 6.12-rt
said 'linux-headers-6.12.8-rt-amd64 does not name its compiler'
result "a flavour's kernel is that of its name"

get $arch 6.12-16k
[ $status -eq 2 ] && said 'KERNEL=6.12-16k is for ARCH=arm64, not for ARCH=x86_64'
result "a flavour that an architecture has not is refused"

# An installed QEMU that is new enough
mkdir -p "$work/bin"
printf '%s\n' '#!/bin/sh' 'echo "QEMU emulator version 10.0.0"' | tee "$work/bin/qemu-system-riscv64" \
	"$work/bin/qemu-system-x86_64" >/dev/null
chmod 755 "$work/bin"/qemu-*
rm -f "$work/bin/apt-get"
PATH=$work/bin:$PATH

status=0
where=$(timeout 120 scripts/fetch/get-qemu --refresh riscv64 2>"$work/err" </dev/null) || status=$?
[ $status -eq 0 ] && [ "$where" = "$work/bin/qemu-system-riscv64" ] && [ ! -s "$work/err" ]
result "a refresh keeps an installed QEMU that is new enough"

# update ARCH: run scripts/fetch/update. Sets status.
update()
{
	status=0
	timeout 120 scripts/fetch/update "$1" >"$work/out" 2>"$work/err" </dev/null || status=$?
}

# The release lacks this architecture's other series.
rm -rf "$archive" "$cache/kernels"
echo "deb file:$archive trixie main" >"$work/sources.list"
package linux-image-6.12.9-riscv64 6.12.9-1 riscv64 "" boot/vmlinux-6.12.9 boot/config-6.12.9
package linux-perf 6.12.9-1 riscv64 "" usr/bin/perf
package busybox-static 1.0 riscv64 "" usr/bin/busybox
lists trixie riscv64
update riscv64
release=$(cat "$cache/kernels/riscv64-6.12/release")
[ $status -eq 0 ] && [ "$release" = 6.12.9-riscv64 ]
result "an update of a stock architecture fetches its default series"

# A kernel without its file layout: get-kernel replaces it.
mkdir -p "$cache/kernels/riscv64-7.x"
echo 7.2.9-riscv64 >"$cache/kernels/riscv64-7.x/release"
package linux-image-7.2.10-riscv64 7.2.10-1 riscv64 "" boot/vmlinux-7.2.10 boot/config-7.2.10
package linux-perf 7.2.10-1 riscv64 "" usr/bin/perf
lists forky riscv64
echo "deb file:$archive forky main" >>"$work/sources.list"
update riscv64
release=$(cat "$cache/kernels/riscv64-7.x/release")
[ $status -eq 0 ] && [ "$release" = 7.2.10-riscv64 ]
result "an update fetches each series that the cache has"

# sources VERSION: put a package of kernel sources into the archive
sources()
{
	local dir=$work/linux-source-6.12

	rm -rf "$dir"
	mkdir -p "$dir" "$work/deb/linux-source-6.12/usr/src"
	echo "$1" >"$dir/Kbuild"
	package linux-source-6.12 "$1" "$host" "" usr/src/linux-source-6.12.tar.xz
	tar -C "$work" -cJf "$work/deb/linux-source-6.12/usr/src/linux-source-6.12.tar.xz" linux-source-6.12
	rm "$archive/pool/linux-source-6.12_"*
	dpkg-deb --root-owner-group -b "$work/deb/linux-source-6.12" \
		"$archive/pool/linux-source-6.12_$1_$host.deb" >/dev/null
	lists bookworm "$host"
}

echo "deb file:$archive bookworm main" >>"$work/sources.list"
sources 6.12.8-1
update riscv64
[ $status -eq 0 ] && [ ! -e "$cache/kunit" ]
result "an update fetches no kernel sources that the cache lacks"

scripts/fetch/get-linux-source 6.12 >/dev/null 2>"$work/err"
mkdir "$cache/kunit/6.12/build"
sources 6.12.9-1
update riscv64
[ $status -eq 0 ] && [ "$(cat "$cache/kunit/6.12/tree/Kbuild")" = 6.12.9-1 ] && [ ! -e "$cache/kunit/6.12/build" ]
result "an update fetches newer kernel sources and removes builds of the earlier ones"

mkdir "$cache/kunit/6.12/build"
update riscv64
[ $status -eq 0 ] && said 'sources of kernel 6.12 are up to date \(6.12.9-1\)' && [ -e "$cache/kunit/6.12/build" ]
result "an update keeps the newest kernel sources and their builds"

status=0
timeout 120 scripts/fetch/get-linux-source 6.1 >"$work/out" 2>"$work/err" </dev/null || status=$?
[ $status -ne 0 ] && said 'has no linux-source of the series 6\.1'
result "a series without kernel sources is reported"

finish
