#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The cache of Debian packages recovers from damaged files, from packages that the archive has
# replaced, and from killed runs. This script serves its own archive on the loopback interface.
. "$(dirname "$0")/../host-test.sh"

server=
clean_up()
{
	[ -z "$server" ] || kill "$server" 2>/dev/null
	rm -rf "$work"
}
trap clean_up EXIT

deb=$(dpkg --print-architecture)
cache=$work/cache
archive=$work/archive
export COREPMU_CACHE=$cache APT_CONFIG=$work/apt.conf
unset http_proxy COREPMU_APT_LOCKED COREPMU_APT_RUN

# package NAME VERSION [FILE [DEPENDS]]: add a package to the pool; its one file, usr/bin/NAME, has name and
# version, or is FILE.
package()
{
	local dir=$work/deb/$1

	rm -rf "$dir"
	mkdir -p "$dir/DEBIAN" "$dir/usr/bin" "$archive/pool"
	printf '%s\n' "Package: $1" "Version: $2" "Architecture: $deb" "Maintainer: nobody <nobody@localhost>" \
		"Description: a test" ${4:+"Depends: $4"} >"$dir/DEBIAN/control"
	if [ -n "${3:-}" ]; then cp "$3" "$dir/usr/bin/$1"; else echo "$1 $2" >"$dir/usr/bin/$1"; fi
	rm -f "$archive/pool/$1"_*.deb
	dpkg-deb --root-owner-group -b "$dir" "$archive/pool/$1_$2_$deb.deb" >/dev/null
}

# lists: write the lists of the packages that the archive has now. Lists of each call are a second newer
# than those before: apt keeps a list that is not newer, in whole seconds.
lists_time=$(($(date +%s) - 1000))
lists()
{
	local suite file dir

	lists_time=$((lists_time + 1))
	for suite in bookworm bookworm-updates bookworm-backports; do
		dir=$archive/dists/$suite/main
		mkdir -p "$dir/binary-$deb" "$dir/source"
		: >"$dir/binary-$deb/Packages"
		: >"$dir/source/Sources"
		if [ $suite = bookworm ]; then
			for file in "$archive"/pool/*.deb; do
				dpkg-deb -f "$file"
				echo "Filename: pool/${file##*/}"
				echo "Size: $(stat -c %s "$file")"
				echo "SHA256: $(sha256sum <"$file" | cut -c 1-64)"
				echo
			done >"$dir/binary-$deb/Packages"
			[ ! -e "$archive/pool/origin_1.0.dsc" ] || sources >"$dir/source/Sources"
		fi
		{
			printf '%s\n' "Origin: Debian" "Suite: $suite" "Codename: $suite" \
				"Architectures: $deb" "Components: main" "Date: $(date -Rud "@$lists_time")" "SHA256:"
			(cd "$archive/dists/$suite" && for file in main/*/*; do
				echo " $(sha256sum <"$file" | cut -c 1-64) $(stat -c %s "$file") $file"
			done)
		} >"$archive/dists/$suite/Release"
		find "$archive/dists/$suite" -type f -exec touch -d "@$lists_time" {} +
	done
}

# sources: print the stanza of the source package.
sources()
{
	local file

	printf '%s\n' "Package: origin" "Binary: origin" "Version: 1.0" "Architecture: any" \
		"Format: 3.0 (native)" "Directory: pool" "Checksums-Sha256:"
	for file in "$archive"/pool/origin_1.0.*; do
		echo " $(sha256sum <"$file" | cut -c 1-64) $(stat -c %s "$file") ${file##*/}"
	done
}

# unpack [--without REGEX] PACKAGE FILE...: sets status; err has the messages, out the contents of the unpacked files
unpack()
{
	local without=()

	rm -rf "$work/root"
	status=0
	[ "$1" != --without ] || { without=("$1" "$2"); shift 2; }
	timeout 120 scripts/fetch/unpack-programs "${without[@]}" bookworm "$deb" "$work/root" "$@" >"$work/out" 2>"$work/err" \
		</dev/null || status=$?
	cat "$work/root/usr/bin"/* >"$work/out" 2>/dev/null
}

ktap_details()
{
	sed 's/^/stderr: /' "$work/err"
	sed 's/^/stdout: /' "$work/out"
}

got() { [ $status -eq 0 ] && [ "$(cat "$work/out")" = "$1" ]; }
said() { [ "$(grep -c -- "$1" "$work/err")" -eq "${2:-1}" ]; }
cached() { echo "$cache/debs/$1_$2_$deb.deb"; }

mkdir -p "$archive"
cat >"$work/serve.py" <<'EOT'
import functools
import http.server
import sys

class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(
    ("127.0.0.1", 0), functools.partial(Quiet, directory=sys.argv[1]))
with open(sys.argv[2], "w") as file:
    print(server.server_port, file=file)
server.serve_forever()
EOT
python3 "$work/serve.py" "$archive" "$work/port" &
server=$!
for _ in $(seq 100); do
	[ ! -s "$work/port" ] || break
	sleep 0.1
done

echo "deb http://127.0.0.1:$(cat "$work/port")/ bookworm main" >"$work/sources.list"
mkdir "$work/parts"
cat >"$work/apt.conf" <<EOT
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "$work/parts";
Acquire::AllowInsecureRepositories "true";
Acquire::http::Proxy::127.0.0.1 "DIRECT";
APT::Get::AllowUnauthenticated "true";
EOT

plan

package one 1.0
package two 1.0
lists
unpack one usr/bin/one two usr/bin/two
got $'one 1.0\ntwo 1.0'
result "packages are fetched from an archive"

mv "$archive/pool" "$archive/gone"
unpack one usr/bin/one two usr/bin/two
got $'one 1.0\ntwo 1.0' && [ ! -s "$work/err" ]
result "undamaged packages in the cache are not fetched again"
mv "$archive/gone" "$archive/pool"

truncate -s 100 "$(cached one 1.0)"
unpack one usr/bin/one two usr/bin/two
got $'one 1.0\ntwo 1.0' && said "one_1.0_$deb.deb in the cache has 100 bytes and not [0-9]*: fetching it again" &&
	! said 'two_'
result "a truncated package is fetched again, with a message"

: >"$(cached one 1.0)"
unpack one usr/bin/one
got 'one 1.0' && said 'has 0 bytes and not'
result "an empty package is fetched again"

printf x | dd of="$(cached one 1.0)" bs=1 seek=200 conv=notrunc status=none
unpack one usr/bin/one
got 'one 1.0' && said 'has another SHA256 than the archive'
result "a package with a wrong byte is fetched again"

unpack one usr/bin/one
got 'one 1.0' && [ ! -s "$work/err" ]
result "a package that was fetched again is undamaged"

unpack three usr/bin/three
[ $status -ne 0 ] && said "archive has no package three for bookworm-$deb"
result "a package that the archive lacks is named"

# The program loads libunused.so. The package libunused lacks this file.
echo 'int unused(void) { return 0; }' | gcc -shared -fPIC -nostdlib -x c -o "$work/libunused.so" -
gcc -shared -nostdlib -Wl,--no-as-needed -o "$work/loads" -L"$work" -lunused
package libunused 1.0
package loads 1.0 "$work/loads" libunused
lists
rm "$cache/apt/bookworm-$deb/updated"
unpack loads usr/bin/loads
[ $status -ne 0 ] && said "no package that loads depends on holds libunused.so"
result "a library that no package has is named"

rm "$(cached libunused 1.0)"
unpack --without 'lib(unused|other).*' loads usr/bin/loads
[ $status -eq 0 ] && [ -e "$work/root/usr/bin/loads" ] && [ ! -e "$(cached libunused 1.0)" ]
result "a library that is not wanted, and its package, are left out"

# The lists in the cache still name version 1.0.
package two 1.1
rm -f "$cache/debs"/*
lists
unpack one usr/bin/one two usr/bin/two
got $'one 1.0\ntwo 1.1' && said 'starting again with new lists' && said "reading Debian's package lists"
result "the package lists are read again when the archive has replaced a package"

# A program that looks up a version, as get-kernel does, and passes it to another program
mkdir "$work/bin"
cat >"$work/bin/get-two" <<EOT
#!/bin/bash
set -euo pipefail
. "$PWD/scripts/lib/lib.sh"
. "$PWD/scripts/lib/apt.sh"
scratch_dir "\$CACHE/tmp"
echo run >>"$work/runs"
apt_open bookworm $deb
apt_update
IFS=\$'\\t' read -r package version < <(apt_newest '^two\$' 1.)
"$PWD/scripts/fetch/unpack-programs" bookworm $deb "\$SCRATCH/root" one usr/bin/one "\$package=\$version" usr/bin/two
cat "\$SCRATCH/root/usr/bin/two"
EOT
chmod +x "$work/bin/get-two"
package two 1.2
lists
rm -f "$cache/debs"/*
status=0
timeout 120 "$work/bin/get-two" >"$work/out" 2>"$work/err" </dev/null || status=$?
got 'two 1.2' && said 'starting again with new lists' && [ "$(wc -l <"$work/runs")" -eq 2 ]
result "a program starts again when the version that it looked up is gone"

# The archive lists a package that it lacks.
package two 1.3
lists
rm "$archive"/pool/two_* "$cache/debs"/*
rm "$work/runs"
status=0
timeout 120 "$work/bin/get-two" >"$work/out" 2>"$work/err" </dev/null || status=$?
[ $status -eq 1 ] && said 'starting again with new lists' && [ "$(wc -l <"$work/runs")" -eq 2 ] &&
	said "archive did not deliver.* two" && grep -q '404' "$work/err"
result "the package lists are read again at most once in a run"
package two 1.3

file=$(find "$cache/apt/bookworm-$deb/lists" -name '*_dists_bookworm_main_*Packages*')
truncate -s 20 "$file"
touch "$cache/apt/bookworm-$deb/updated"
rm -f "$cache/apt/bookworm-$deb"/*pkgcache.bin
unpack one usr/bin/one
got 'one 1.0' && said "the package lists of bookworm-$deb in the cache are damaged: fetching them again"
result "package lists that are damaged are fetched again"

if command -v dpkg-source >/dev/null; then
	mkdir -p "$work/origin-1.0/debian"
	echo text >"$work/origin-1.0/file"
	tar -C "$work" -czf "$archive/pool/origin_1.0.tar.gz" origin-1.0
	file=$archive/pool/origin_1.0.tar.gz
	printf '%s\n' "Format: 3.0 (native)" "Source: origin" "Binary: origin" "Architecture: any" "Version: 1.0" \
		"Maintainer: nobody <nobody@localhost>" "Checksums-Sha256:" \
		" $(sha256sum <"$file" | cut -c 1-64) $(stat -c %s "$file") ${file##*/}" "Files:" \
		" $(md5sum <"$file" | cut -c 1-32) $(stat -c %s "$file") ${file##*/}" >"${file%.tar.gz}.dsc"
	lists
	cat >"$work/bin/get-origin" <<-EOT
		#!/bin/bash
		set -euo pipefail
		. "$PWD/scripts/lib/lib.sh"
		. "$PWD/scripts/lib/apt.sh"
		scratch_dir "\$CACHE/tmp"
		apt_open bookworm source
		apt_update
		version=\$(apt_fetch_source "\$SCRATCH/source" origin)
		cat "\$SCRATCH/source/file"
	EOT
	chmod +x "$work/bin/get-origin"
	status=0
	"$work/bin/get-origin" >"$work/out" 2>"$work/err" </dev/null || status=$?
	got text && ! said 'in the cache has'
	result "a source package is fetched"
	truncate -s 50 "$cache/sources/bookworm-source/origin/origin_1.0.tar.gz"
	status=0
	"$work/bin/get-origin" >"$work/out" 2>"$work/err" </dev/null || status=$?
	got text && said 'origin_1.0.tar.gz in the cache has 50 bytes and not'
	result "a truncated source package is fetched again"
	truncate -s 20 "$(find "$cache/apt/bookworm-source/lists" -name '*_dists_bookworm_main_*Sources*')"
	"$work/bin/get-origin" >"$work/out" 2>"$work/err" </dev/null || status=$?
	got text && said 'the package lists of bookworm-source in the cache are damaged'
	result "lists of source packages that are damaged are fetched again"
else
	skipped "a source package is fetched" "there is no dpkg-source"
	skipped "a truncated source package is fetched again" "there is no dpkg-source"
	skipped "lists of source packages that are damaged are fetched again" "there is no dpkg-source"
fi

# scratch DIR FILE: make a temporary directory in DIR, write its path to FILE, and wait.
cat >"$work/bin/scratch" <<EOT
#!/bin/bash
. "$PWD/scripts/lib/lib.sh"
scratch_dir "\$1"
echo "\$SCRATCH" >"\$2"
exec {never}<> <(:)
read -ru "\$never"
EOT
chmod +x "$work/bin/scratch"
# begin_scratch DIR: start scratch; sets dir to its directory and pid to its process
begin_scratch()
{
	rm -f "$work/where"
	"$work/bin/scratch" "$1" "$work/where" &
	pid=$!
	for _ in $(seq 100); do
		[ ! -s "$work/where" ] || break
		sleep 0.1
	done
	dir=$(cat "$work/where")
	mkdir "$dir/made"
}
# end_scratch SIGNAL PROCESS: end it by a signal
end_scratch() { kill "-$1" "$2"; wait "$2"; } 2>/dev/null

begin_scratch "$cache/kernels"
killed=$dir
end_scratch KILL "$pid"
[ -d "$killed" ]
result "a killed run leaves its directory behind"
begin_scratch "$cache/tmp"
first=$dir first_pid=$pid
[ ! -d "$killed" ]
result "the next run removes the directory of a killed run"
begin_scratch "$cache/tmp"
[ -d "$first/made" ] && [ -d "$dir/made" ]
result "the directory of a running program stays"
end_scratch TERM "$pid"
end_scratch TERM "$first_pid"
[ -z "$(find "$cache" -name '.scratch.*')" ]
result "a run that is terminated removes its directory"

mkdir -p "$cache/kernels/.tmp.AbCdEf/root" "$cache/tmp/.tmp.GhIjKl"
touch -d '2 days ago' "$cache/kernels/.tmp.AbCdEf"
begin_scratch "$cache/tmp"
end_scratch TERM "$pid"
[ ! -d "$cache/kernels/.tmp.AbCdEf" ] && [ -d "$cache/tmp/.tmp.GhIjKl" ]
result "directories that earlier versions left behind are removed when a day old"

finish
