#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Debian packages of the committed tree: built in a minimal Debian, checked by lintian, and used as
# their users do (scripts/build/use-debs). Needs root, mmdebstrap and dkms.
set -uo pipefail
cd "$(dirname "$0")/../../../.." || exit 1

skip_all()
{
	echo "KTAP version 1"
	echo "1..0 # SKIP $1"
	exit 0
}

[ "$(id -u)" = 0 ] || skip_all "a minimal Debian is root's to make"
for program in mmdebstrap dkms; do
	command -v $program >/dev/null || skip_all "$program is missing"
done
work=$(mktemp -d "${TMPDIR:-/tmp}/corepmu-debs.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
CLEAN=1 scripts/build/build-debs "$work" >/dev/null || exit 1
scripts/build/use-debs "$work"
