#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The documents: links and file names lead to files, pages are short, and versions agree.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
. tools/lib/ktap.sh

readme_lines=120
guide_lines=300
driver_api_lines=1500
words=20000		# of all pages but the generated ones

mapfile -t pages < <(find Documentation -name '*.rst')
ktap_details() { echo "$said"; }

# longer LINES FILE...: print how many lines the files have if they have more.
longer()
{
	local lines

	lines=$(cat "${@:2}" | wc -l)
	[ "$lines" -le "$1" ] || echo "${*:2}: $lines lines; at most $1"
}

# absent_links FILE...: print links of Markdown to files that do not exist
absent_links()
{
	local page link

	for page in "$@"; do
		grep -oE '\]\([^)]+\)' "$page" | sed 's/^](//; s/)$//; /^https:/d; s/#.*//' | while read -r link; do
			[ -e "$(dirname "$page")/$link" ] || echo "$page: $link"
		done
	done
}

# absent_pages FILE...: print :doc: roles whose page does not exist
# shellcheck disable=SC2016 # backquotes are the page's
absent_pages()
{
	local page target

	for page in "$@"; do
		grep -oE ':doc:`[^`]+`' "$page" | sed 's/^:doc:`//; s/`$//' | while read -r target; do
			case $target in
			/*) target=Documentation$target ;;
			*) target=$(dirname "$page")/$target ;;
			esac
			[ -e "$target.rst" ] || echo "$page: $target"
		done
	done
}

# absent_files FILE...: print names, in literals, of files that do not exist here or in
# drivers/corepmu. Names that begin with another folder are the kernel's.
# shellcheck disable=SC2016 # backquotes are the page's
absent_files()
{
	local page name

	for page in "$@"; do
		grep -oE '`[a-z0-9]+/[A-Za-z0-9_./-]+`' "$page" | tr -d '`' | sort -u | while read -r name; do
			[ -e "${name%%/*}" ] || [ -e "drivers/corepmu/${name%%/*}" ] || continue
			[ -e "$name" ] || [ -e "drivers/corepmu/$name" ] ||
				case $name in
				build/* | *NAME* | *FOLDER* | tools/perf/* | kernel/*) ;;
				*) echo "$page: $name" ;;
				esac
		done
	done
}

# source_options FILE...: print the options of a QEMU plugin's sources, with "=", and its faults
source_options()
{
	awk '
	/^static const struct (plugin_)?option options\[\]/ { table = 1 }
	/^}.*faults\[\] = \{/ { prefix = "fault=" }
	/^};/ { table = 0; prefix = "" }
	(table || /strncmp\(argv\[0\], "/) && match($0, /"[a-z-]+(=[a-z-]*)?"/) {
		name = prefix substr($0, RSTART + 1, RLENGTH - 2)
		if (name !~ /^fault=/)
			sub(/=.*|$/, "=", name)
		print name
	}' "$@" | sort
}

# page_options PAGE: print options and faults that begin a row of a table in a page
# shellcheck disable=SC2016 # backquotes are the page's
page_options()
{
	sed -nE '/^``[^`]*``(  |$)/! d; s/^``(fault=[a-z-]+).*/\1/p; t; s/^``([a-z-]+=).*/\1/p' "$1" | sort
}

# differing_options PAGE FILE...: print options that only a plugin's page has, or only its sources
differing_options()
{
	local page=$1 options

	shift
	options=$(source_options "$@")
	[ -n "$options" ] || echo "$*: no options found"
	diff <(page_options "$page") <(echo "$options") | sed -n "s,^< \(.*\),$page: \1 is in no source,p
		s,^> \(.*\),$page: \1 is missing,p"
}

# wordy WORDS: print how many words all pages but the generated ones have if they have more
wordy()
{
	local count

	count=$(git ls-files -z '*.md' '*.rst' ':!*/corepmu-messages.rst' ':!*/corepmu-record.rst' |
		xargs -0 cat | wc -w)
	[ "$count" -le "$1" ] || echo "the pages have $count words; at most $1"
}

# idle_edits PAGE: print commands "sed -i 'SCRIPT' FILE" of a page that change nothing, and a page without any
idle_edits()
{
	local file script

	grep -qE "^ *sed -i '[^']+' [^ ]+" "$1" || echo "$1 has no command sed -i 'SCRIPT' FILE"
	sed -nE "s/^ *sed -i '([^']+)' ([^ ]+).*/\2\t\1/p" "$1" | while IFS=$'\t' read -r file script; do
		! sed "$script" "$file" | cmp -s - "$file" || echo "$1: sed '$script' changes nothing in $file"
	done
}

# other_versions: print files whose newest version is not that of dkms.conf
other_versions()
{
	local version

	version=$(. ./dkms.conf && echo "$PACKAGE_VERSION")
	[ -n "$version" ] || echo "dkms.conf: no PACKAGE_VERSION"
	grep -qF "MODULE_VERSION(\"$version\")" drivers/corepmu/module/main.c ||
		echo drivers/corepmu/module/main.c
	grep -m 1 '^## ' CHANGELOG.md | grep -qxF "## $version" || echo CHANGELOG.md
	head -n 1 packaging/debian/changelog | grep -qF "corepmu ($version) " ||
		echo packaging/debian/changelog
	! grep -oE 'corepmu[-/][0-9][0-9.]*[0-9]' README.md | grep -vxE "corepmu[-/]${version//./\\.}" ||
		echo README.md
}

plan
said=$(longer $readme_lines README.md; longer $guide_lines Documentation/admin-guide/perf/corepmu.rst
       longer $driver_api_lines Documentation/driver-api/corepmu{,-[!r]*}.rst)
[ -z "$said" ]
result "README, admin guide and driver-api are short"

said=$(wordy $words)
[ -z "$said" ]
result "all pages together have at most $words words"

said=$(other_versions)
[ -z "$said" ]
result "modinfo, dkms, CHANGELOG.md, Debian's changelog and README have one version"

said=$(absent_links README.md CHANGELOG.md tools/qemu/README.md)
[ -z "$said" ]
result "links lead to files"

said=$(absent_pages "${pages[@]}")
[ -z "$said" ]
result "pages name pages that are there"

said=$(absent_files README.md "${pages[@]}")
[ -z "$said" ]
result "pages name files that are there"

said=$(idle_edits README.md)
[ -z "$said" ]
result "README's example of a change applies"

said=$(cd tools/qemu || exit
       differing_options x86/x86-pmu.rst x86/options.c
       differing_options arm64/arm64-pmu.rst arm64/options.c
       differing_options repair/arm64-pmu-repair.rst repair/arm64-pmu-repair.c
       differing_options access/pmu-access.rst access/pmu-access.c)
[ -z "$said" ]
result "pages of QEMU plugins list the options of the sources"

said=$(scripts/generate/messages | diff - Documentation/admin-guide/perf/corepmu-messages.rst && echo ok)
[ "$said" = ok ]
result "the page of messages is what scripts/generate/messages makes of the sources"

said=$(scripts/testing/record --check 2>&1 && echo ok)
[ "$said" = ok ]
result "the page of the record is what scripts/testing/record makes of record.json"

what="Sphinx builds the pages without a warning"
if command -v sphinx-build >/dev/null; then
	said=$(scripts/generate/docs 2>&1)
	result "$what"
else
	skipped "$what" "sphinx-build is missing"
fi
finish
