# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# host-test.sh - the start of the tests on the host; sourced first
#
# Sets work to a new directory, which is deleted at the end, and changes to the top of the tree.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
. tools/lib/ktap.sh

work=$(mktemp -d "${TMPDIR:-/tmp}/corepmu-$(basename "$0" .sh).XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
