#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The harness finds Debian's archive in all formats of apt's sources.
. "$(dirname "$0")/../host-test.sh"

# archive KIND: print what the harness finds as the main or the security archive
archive()
{
	printf 'Dir::Etc::sourcelist "%s";\nDir::Etc::sourceparts "%s";\n' \
		"$work/sources.list" "$work/parts" >"$work/apt.conf"
	# shellcheck disable=SC2016 # for the other shell
	APT_CONFIG=$work/apt.conf COREPMU_CACHE=$work/cache bash -c \
		'. scripts/lib/lib.sh; . scripts/lib/apt.sh; apt_archive "$1"' "$work/test" "$1"
}

begin() { rm -rf "$work/sources.list" "$work/parts"; mkdir "$work/parts"; }

# expect KIND VALUE NAME: expect this archive
expect()
{
	check "$3" expect_equal "the $1 archive" "$2" "$(archive "$1" | tr '\t\001' '|;')"
}

plan

begin
cat >"$work/sources.list" <<'EOT'
# deb http://old.example/debian bookworm main
deb http://a.example/debian/ bookworm main contrib
deb-src http://src.example/debian bookworm main
deb http://s.example/security bookworm-security main # updates
EOT
expect main 'http://a.example/debian/|' "one-line sources"
expect security 'http://s.example/security|' "the security archive of one-line sources"

begin
cat >"$work/parts/x.list" <<'EOT'
deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] https://a.example/debian bookworm-updates main
EOT
expect main 'https://a.example/debian|/usr/share/keyrings/debian-archive-keyring.gpg' "options of a one-line source"
expect security '' "no security archive"

begin
cat >"$work/parts/debian.sources" <<'EOT'
Types: deb deb-src
URIs: http://off.example/debian
Suites: bookworm
Components: main
Enabled: no

# A comment
Types: deb
URIs: http://a.example/debian
Suites: bookworm
 bookworm-updates
Components: main non-free-firmware
Signed-By: /etc/key.gpg

Types: deb
URIs: http://s.example/debian-security
Suites: bookworm-security
Components: main
EOT
expect main 'http://a.example/debian|/etc/key.gpg' "deb822 sources, one of them disabled"
expect security 'http://s.example/debian-security|' "the security archive of deb822 sources"

begin
cat >"$work/parts/debian.sources" <<'EOT'
Types: deb
URIs: http://a.example/debian
Suites: bookworm
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 aGVsbG8=
 -----END PGP PUBLIC KEY BLOCK-----
EOT
expect main 'http://a.example/debian|; -----BEGIN PGP PUBLIC KEY BLOCK-----; .; aGVsbG8=; -----END PGP PUBLIC KEY BLOCK-----' \
	"a key given inline"

begin
cat >"$work/parts/a.list" <<'EOT'
deb [signed-by=/usr/share/keyrings/vendor.gpg] https://vendor.example/linux bookworm main
deb https://other.example/linux bookworm stable
deb https://cloud.example/apt cloud-bookworm main
EOT
cat >"$work/sources.list" <<'EOT'
deb http://a.example/debian bookworm main
EOT
expect main 'http://a.example/debian|' "another vendor's archive with Debian's suite names"

begin
expect main '' "no archive at all"

finish
