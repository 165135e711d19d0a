# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Debian packages of any suite and architecture through private apt state: the
# archive's addresses, keyrings and proxies come from this machine's own apt
# configuration, which is only read. Sourced after lib.sh.

# The command line and the directory from which start_anew restarts this program
APT_SELF=("$0" "$@")
APT_SELF_DIR=$PWD

# apt_sources: print every enabled source as "uri<TAB>suite<TAB>components<TAB>signed-by";
# line ends of an inline key become \001. `apt-get indextargets` knows all but the keys.
apt_sources() {
	local list parts files=() f

	eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
	files=("$list")
	for f in "$parts"/*.list "$parts"/*.sources; do
		files+=("$f")
	done
	for f in "${files[@]}"; do
		[ -r "$f" ] && [ -f "$f" ] || continue
		case $f in
		*.sources) awk -f "$TOP/scripts/lib/apt-deb822.awk" "$f" ;;
		*) awk -f "$TOP/scripts/lib/apt-oneline.awk" "$f" ;;
		esac
	done
}

# apt_archive main|security: print "uri<TAB>signed-by" of the Debian archive that this
# machine uses. Another vendor's archive may use Debian's suite names: sources with
# Debian's keyring, or without one, come before others.
apt_archive() {
	local suites

	case $1 in
	security) suites='(-security|/updates)$' ;;
	*) suites='^(bookworm|trixie|forky|sid|oldstable|stable|testing|unstable)(-updates|-backports)?$' ;;
	esac
	apt_sources | awk -F '\t' -v suites="$suites" '
		$2 ~ suites && (" " $3 " ") ~ / main / {
			rank = $4 ~ /debian-archive/ ? 1 : $4 == "" ? 2 : 3
			if (!best || rank < best) {
				best = rank
				found = $1 "\t" $4
			}
		}
		END { if (best) print found }'
}

# apt_write_sources RELEASE ARCH FILE: ARCH may be "source".
apt_write_sources() {
	local kind suite uri key archive what=$'deb\nArchitectures: '$2$'\nTargets: Packages'

	[ "$2" != source ] || what=$'deb-src\nTargets: Sources'

	: >"$3"
	for suite in "$1" "$1-updates" "$1-backports" "$1-security"; do
		case $suite in *-security) kind=security ;; *) kind=main ;; esac
		archive=$(apt_archive "$kind")
		if [ -z "$archive" ]; then
			[ "$kind" = security ] && continue
			die "apt on this machine knows no Debian archive (a source with component main); add one to its sources."
		fi
		IFS=$'\t' read -r uri key <<<"$archive"
		{
			printf 'Types: %s\nURIs: %s\nSuites: %s\nComponents: main\n' \
				"$what" "$uri" "$suite"
			[ -z "$key" ] || printf 'Signed-By: %s\n' "${key//$'\001'/$'\n'}"
			echo
		} >>"$3"
	done
}

# apt_open RELEASE ARCH [STATUS]: open private state for one release and architecture;
# sets APT_CONF. STATUS is the dpkg status file to resolve against (default: an empty
# one). With "source" as ARCH the state is for apt_fetch_source only.
apt_open() {
	local dir=$CACHE/apt/$1-$2 host=${3:+-host} arch=$2 lists

	[ "$arch" != source ] || arch=$(dpkg --print-architecture)

	command -v apt-get >/dev/null 2>&1 ||
		die "apt-get is missing: packages are fetched from Debian's archive, so this needs a Debian system, or the container of packaging/container."
	need_space 200
	# One program at a time uses the state, together with the programs that it
	# starts.
	if [ -z "${COREPMU_APT_LOCKED:-}" ]; then
		with_lock "$CACHE/apt/lock"
		COREPMU_APT_RUN=${COREPMU_APT_RUN:-$$-$EPOCHREALTIME}
		export COREPMU_APT_LOCKED=$COREPMU_APT_RUN
		# shellcheck disable=SC2034 # end_program reads it
		APT_OUTERMOST=1
	fi
	mkdir -p "$dir/archives/partial" "$dir/etc"
	# Begin with the package lists of this machine's own apt: apt-get update then fetches only the lists that
	# have changed in the archive.
	if [ ! -d "$dir/lists" ]; then
		mkdir -p "$dir/lists/partial"
		eval "$(apt-config shell lists Dir::State::lists/d)"
		cp -p "$lists"/*_InRelease "$lists"/*_binary-"$2"_Packages* "$dir/lists/" 2>/dev/null || true
	fi
	APT_DIR=$dir
	APT_CONF=$dir/apt$host.conf
	APT_ARCH=$2
	[ -e "$dir/status" ] || : >"$dir/status"
	apt_write_sources "$1" "$2" "$dir/etc/new.sources"
	if ! cmp -s "$dir/etc/new.sources" "$dir/etc/debian.sources"; then
		rm -f "$dir/updated"
	fi
	mv "$dir/etc/new.sources" "$dir/etc/debian.sources"
	cat >"$APT_CONF" <<-EOC
		#clear APT::Update::Pre-Invoke;
		#clear APT::Update::Post-Invoke;
		#clear APT::Update::Post-Invoke-Success;
		#clear DPkg::Pre-Install-Pkgs;
		#clear DPkg::Post-Invoke;
		#clear APT::Architectures;
		#clear APT::Default-Release;
		APT::Architecture "$arch";
		APT::Architectures { "$arch"; };
		APT::Sandbox::User "root";
		APT::Install-Recommends "false";
		Acquire::Languages "none";
		Acquire::GzipIndexes "true";
		Acquire::Retries "3";
		Acquire::http::Timeout "60";
		Acquire::https::Timeout "60";
		Debug::NoLocking "true";
		Dir::Cache "$dir";
		Dir::Cache::archives "archives/";
		Dir::Cache::pkgcache "pkgcache$host.bin";
		Dir::Cache::srcpkgcache "";
		Dir::State "$dir";
		Dir::State::lists "lists/";
		Dir::State::status "${3:-$dir/status}";
		Dir::State::extended_states "$dir/extended_states";
		Dir::Etc::sourcelist "/dev/null";
		Dir::Etc::sourceparts "$dir/etc";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
	EOC
}

# apt_lists_are_whole: check whether apt can read its lists. apt-get update would keep a damaged list
# that is as new as the archive's.
apt_lists_are_whole() {
	local look=(pkgnames corepmu) said

	[ "$APT_ARCH" != source ] || look=(--only-source showsrc corepmu)
	said=$(apt-cache -c "$APT_CONF" "${look[@]}" 2>&1) || true
	! grep -qE '^E: .*(Read error|parsed or opened|corrupted)' <<<"$said"
}

# apt_update [force]: refresh the package lists when they are missing, a day old or damaged.
apt_update() {
	local log=$APT_DIR/update.log failed

	if [ -e "$APT_DIR/updated" ] && ! apt_lists_are_whole; then
		say "the package lists of ${APT_DIR##*/} in the cache are damaged: fetching them again"
		rm -rf "$APT_DIR/updated" "$APT_DIR/lists" "$APT_DIR"/pkgcache*.bin
		mkdir -p "$APT_DIR/lists/partial"
	fi
	if [ -z "${1:-}" ] && [ -n "$(find "$APT_DIR/updated" -mmin -1440 2>/dev/null)" ]; then
		return
	fi
	say "reading Debian's package lists (${APT_DIR##*/})"
	if ! apt-get -c "$APT_CONF" -q update >"$log" 2>&1 || grep -qE '^(E|W: Failed)' "$log"; then
		if [ -e "$APT_DIR/updated" ] && [ -z "${1:-}" ]; then
			say "the archive cannot be reached now; keeping the package lists of an earlier run"
			return
		fi
		# Accept failures of -updates, -backports and -security: a mirror may be in the middle of a
		# change, and testing has no backports.
		failed=$(grep -E '^E: (Failed to fetch|The repository) ' "$log") &&
			! grep -qvE '(/dists/[^/ ]*-(updates|backports|security)/|[^ /]*-(updates|backports|security) Release)' <<<"$failed" &&
			say "the archive lacks some updates now: older versions will do" && return
		die "Debian's package lists cannot be fetched (no network, or no such suite?): $(grep -m 1 -E '^(E|W): ' "$log"); all of it is in $log."
	fi
	touch "$APT_DIR/updated"
}

# apt_is_older LOG: if apt's LOG says that the package lists are older than the archive, read the
# lists again and end with status $LISTS_ARE_NEW, on which end_program restarts the program. That
# happens once in a run for each release and architecture; otherwise return.
apt_is_older() {
	[ "$(cat "$APT_DIR/read-anew" 2>/dev/null)" != "$COREPMU_APT_LOCKED" ] &&
		grep -qE '^E: Failed to fetch .*(404 +Not Found|File not found|Hash Sum mismatch|unexpected size)' "$1" ||
		return 0
	say "the archive has changed since the package lists of ${APT_DIR##*/} were read: starting again with new lists"
	apt_update force
	echo "$COREPMU_APT_LOCKED" >"$APT_DIR/read-anew"
	exit "$LISTS_ARE_NEW"
}

# start_anew: restart the program that took apt's lock; end_program calls this at its end.
start_anew() {
	drop_locks
	unset COREPMU_APT_LOCKED
	cd "$APT_SELF_DIR" || die "there is no $APT_SELF_DIR any more."
	COREPMU_APT_RUN=$COREPMU_APT_RUN exec "${APT_SELF[@]}"
}

# apt_read PACKAGE[=VERSION]...: read the records of packages into APT_RECORD ("version architecture size
# sha256") and APT_DEPENDS, by "$APT_DIR PACKAGE[=VERSION]". A package that the lists lack gets an empty
# record. apt-cache unpacks a whole list in each call: one call reads all, and nothing is read twice.
declare -A APT_RECORD=() APT_DEPENDS=()
apt_read() {
	local spec pkg record depends todo=()
	local -A asked=()

	for spec; do
		[ -z "${APT_RECORD[$APT_DIR $spec]+read}" ] || continue
		APT_RECORD[$APT_DIR $spec]=
		asked[$spec]=1
		todo+=("$spec")
	done
	[ ${#todo[@]} -gt 0 ] || return 0
	while IFS=$'\t' read -r pkg record depends; do
		for spec in "$pkg" "$pkg=${record%% *}"; do
			[ -n "${asked[$spec]:-}" ] || continue
			APT_RECORD[$APT_DIR $spec]=$record
			APT_DEPENDS[$APT_DIR $spec]=$depends
		done
	done < <({ apt-cache -c "$APT_CONF" --no-all-versions show "${todo[@]}" 2>/dev/null || true; } | awk '
		match($0, /^(Package|Version|Architecture|Size|SHA256|Pre-Depends|Depends): /) {
			field[$1] = substr($0, RLENGTH + 1)
		}
		function record()
		{
			if ("SHA256:" in field)
				printf "%s\t%s %s %s %s\t%s, %s\n", field["Package:"], field["Version:"],
					field["Architecture:"], field["Size:"], field["SHA256:"],
					field["Pre-Depends:"], field["Depends:"]
			delete field
		}
		/^$/ { record() }
		END { record() }')
}

# apt_version PACKAGE: print the version that the lists have, or nothing.
apt_version() {
	apt_read "$1"
	echo "${APT_RECORD[$APT_DIR $1]%% *}"
}

# apt_depends PACKAGE[=VERSION]: print what the package depends on, separated by commas.
apt_depends() {
	apt_read "$1"
	echo "${APT_DEPENDS[$APT_DIR $1]:-}"
}

# apt_libraries PACKAGE[=VERSION]: print the libraries that the package depends on.
apt_libraries() {
	apt_depends "$1" | tr ',' '\n' | sed -nE 's/^ *((lib|zlib)[^ :|]*).*/\1/p'
}

# apt_read_libraries PACKAGE[=VERSION]...: apt_read these packages, and all libraries that they depend on,
# directly or not.
apt_read_libraries() {
	local spec names

	apt_read "$@"
	mapfile -t names < <(for spec; do apt_libraries "$spec"; done | sort -u)
	mapfile -t names < <(apt-cache -c "$APT_CONF" depends --recurse --no-recommends --no-suggests \
		--no-conflicts --no-breaks --no-replaces --no-enhances "${names[@]}" 2>/dev/null |
		grep -xE '(lib|zlib)[^ :]*')
	apt_read "${names[@]}"
}

# apt_versions REGEX VERSION-PREFIX: print "package<TAB>version" of each match, the newest last.
apt_versions() {
	apt-cache -c "$APT_CONF" pkgnames | grep -E "$1" | xargs -r apt-cache -c "$APT_CONF" madison |
		awk -F ' *[|] *' -v prefix="$2" '{ sub(/^ +/, "", $1) } index($2, prefix) == 1 { print $2 "\t" $1 }' |
		sort -t "$(printf '\t')" -k 1,1V | awk -F '\t' '!seen[$0]++ { print $2 "\t" $1 }'
}

# apt_newest REGEX VERSION-PREFIX: print the last line of apt_versions, the newest version.
apt_newest() { apt_versions "$1" "$2" | tail -n 1; }

# linux_source_package KERNEL: print a pattern of the package with the sources of the series that
# load_kernel has loaded.
linux_source_package() {
	if [ -n "${K[series]:-}" ]; then
		echo "linux-source-${K[series]//./\\.}[0-9]+"
	else
		echo "linux-source-${1//./\\.}"
	fi
}

# apt_unpack_linux_source KERNEL DIR [PART...]: unpack the sources of Debian's newest kernel of that
# series, from any suite of the release, into DIR; with PARTs only these, which are tar's patterns
# below DIR. Sets linux_source_version. Call apt_update before.
apt_unpack_linux_source() {
	local kernel=$1 dir=$2 package patterns

	shift 2
	patterns=("${@/#/*/}")
	IFS=$'\t' read -r package linux_source_version \
		< <(apt_newest "^$(linux_source_package "$kernel")\$" "") || true
	[ -n "${linux_source_version:-}" ] ||
		die "Debian ${K[release]} has no linux-source of the series $kernel."
	apt_fetch "$SCRATCH/debs" "$package=$linux_source_version"
	say "unpacking $package ($linux_source_version)"
	mkdir -p "$dir"
	dpkg-deb --fsys-tarfile "$SCRATCH/debs/${package}"_*.deb |
		tar -x -O --wildcards "./usr/src/$package.tar.*" |
		tar -x -J -C "$dir" --strip-components=1 --wildcards "${patterns[@]}"
}

# megabytes BYTES: print BYTES in megabytes, rounded up.
megabytes() {
	echo "$((($1 + 999999) / 1000000)) MB"
}

# apt_download WHAT BYTES ARG...: run apt-get ARG... in a new directory, $SCRATCH/fetch.
# Print WHAT with its size, and every ten seconds how much has arrived. apt's own output
# goes to a log. With APT_SILENT small downloads are not printed.
apt_download() {
	local what=$1 bytes=$2 log=$APT_DIR/fetch.log progress never status=0

	shift 2
	rm -rf "$SCRATCH/fetch"
	mkdir -p "$SCRATCH/fetch"
	if [ -z "${APT_SILENT:-}" ] || [ "$bytes" -ge 10000000 ]; then
		say "fetching $what ($(megabytes "$bytes"))"
	fi
	# Wait without a child process, which would keep the lock. End with this shell if it is
	# killed.
	exec {never}<> <(:)
	while ! read -rt 10 -u "$never" && kill -0 $$ 2>/dev/null; do
		say "    $(megabytes "$(du -sb "$SCRATCH/fetch" | cut -f 1)") of $(megabytes "$bytes")"
	done &
	progress=$!
	(cd "$SCRATCH/fetch" && apt-get -c "$APT_CONF" -q "$@" >"$log" 2>&1) || status=$?
	kill "$progress" 2>/dev/null || :
	wait "$progress" 2>/dev/null || :
	exec {never}>&-
	[ $status -ne 0 ] || return 0
	apt_is_older "$log"
	die "Debian's archive did not deliver $what (no network, or no space in $CACHE?): $(grep -m 1 -E '^E: ' "$log"); all of it is in $log."
}

# is_whole FILE SIZE SHA256: check whether FILE has the size and the checksum of the archive's lists.
# If FILE exists and differs, say so.
is_whole() {
	local size

	[ -e "$1" ] || return 1
	size=$(stat -c %s "$1")
	if [ "$size" != "$2" ]; then
		say "${1##*/} in the cache has $size bytes and not $2: fetching it again"
	elif [ "$(sha256sum <"$1")" != "$3  -" ]; then
		say "${1##*/} in the cache has another SHA256 than the archive's: fetching it again"
	else
		return 0
	fi
	return 1
}

# apt_fetch DIR PACKAGE[=VERSION]...: put the .debs into DIR. They stay in the cache, and a cached
# .deb is used only if its size and checksum are those of the lists. Call scratch_dir before.
apt_fetch() {
	local into=$1 spec pkg version arch size sha file bytes=0 missing=() names=()

	shift
	mkdir -p "$into" "$CACHE/debs"
	apt_read "$@"
	for spec in "$@"; do
		pkg=${spec%%=*}
		[ -n "${APT_RECORD[$APT_DIR $spec]:-}" ] || die "Debian's archive has no package $spec for ${APT_DIR##*/}."
		read -r version arch size sha <<<"${APT_RECORD[$APT_DIR $spec]}"
		file=$CACHE/debs/${pkg}_${version//:/%3a}_$arch.deb
		if ! is_whole "$file" "$size" "$sha"; then
			rm -f "$file"
			missing+=("$pkg=$version")
			bytes=$((bytes + size))
		fi
		names+=("$file")
	done
	if [ ${#missing[@]} -gt 0 ]; then
		apt_download "${missing[*]%%=*}" "$bytes" download "${missing[@]}"
		mv "$SCRATCH/fetch"/*.deb "$CACHE/debs/"
	fi
	for file in "${names[@]}"; do
		ln -f "$file" "$into/" 2>/dev/null || cp "$file" "$into/"
	done
}

# apt_source_files PACKAGE VERSION: print "sha256 size name" of each file of the source package.
apt_source_files() {
	apt-cache -c "$APT_CONF" --only-source showsrc "$1" 2>/dev/null |
		awk -v version="$2" '
			/^[^ ]/ { ours = ours && !/^Package:/; files = /^Checksums-Sha256:/ }
			/^Version: / { ours = $2 == version }
			files && ours && /^ / { print $1, $2, $3 }' | sort -u
}

# apt_fetch_source DIR PACKAGE: unpack the newest source package into DIR, with Debian's
# patches; print its version. The cache keeps the downloads. Call scratch_dir before.
apt_fetch_source() {
	local keep=$CACHE/sources/${APT_DIR##*/}/$2 files version sha size name bytes=0 whole=1

	need dpkg-source dpkg-dev
	version=$(apt-cache -c "$APT_CONF" --only-source showsrc "$2" 2>/dev/null |
		sed -n 's/^Version: //p' | sort -V | tail -n 1)
	[ -n "$version" ] || die "Debian's archive has no source package $2 for ${APT_DIR##*/}."
	files=$(apt_source_files "$2" "$version")
	while read -r sha size name; do
		bytes=$((bytes + size))
		is_whole "$keep/$name" "$size" "$sha" || whole=
	done <<<"$files"
	if [ -z "$whole" ]; then
		apt_download "the source of $2" "$bytes" --only-source --download-only source "$2=$version"
		rm -rf "$keep"
		mkdir -p "${keep%/*}"
		mv "$SCRATCH/fetch" "$keep"
	fi
	# apt has checked the signature of the archive that names the files.
	dpkg-source --no-check -x "$keep/${2}_${version#*:}.dsc" "$1" >"$SCRATCH/dpkg-source.log" 2>&1 ||
		die "the source of $2 cannot be unpacked: $(tail -n 1 "$SCRATCH/dpkg-source.log")"
	echo "$version"
}
