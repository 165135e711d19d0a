#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Files of `make -C tools/qemu install`: each plugin, which QEMU loads from there, and its page
. "$(dirname "$0")/../host-test.sh"

aarch64=$(scripts/fetch/get-qemu arm64) || exit 1
x86_64=$(scripts/fetch/get-qemu x86_64) || exit 1

ktap_details() { tail -n 30 "$work/said"; }

lib=$work/stage/opt/x/lib/corepmu/qemu
doc=$work/stage/opt/x/share/doc/corepmu/qemu

# loads PLUGIN QEMU WORDS...: expect that QEMU loads the installed plugin, and that the plugin
# rejects an unknown option
loads()
{
	local file=$lib/$1.so name=$1

	shift
	timeout 60 "$@" -nodefaults -display none -plugin "$file,no-such-option=1" \
		>"$work/said" 2>&1 </dev/null
	[ $? -eq 1 ] && grep -q "^$name: .*option" "$work/said"
}

plan

make -s -C tools/qemu install DESTDIR="$work/stage" PREFIX=/opt/x >"$work/said" 2>&1
result "the plugins install below DESTDIR and PREFIX"

loads x86-pmu "$x86_64" -M q35 -cpu Skylake-Client
result "QEMU loads the installed x86-pmu"
loads arm64-pmu "$aarch64" -M virt -cpu max
result "QEMU loads the installed arm64-pmu"
loads arm64-pmu-repair "$aarch64" -M virt -cpu max
result "QEMU loads the installed arm64-pmu-repair"
loads pmu-access "$aarch64" -M virt -cpu max
result "QEMU loads the installed pmu-access"
loads spin-sleep "$aarch64" -M virt -cpu max
result "QEMU loads the installed spin-sleep"

(cd "$lib" && for plugin in *.so; do
	[ -s "$doc/${plugin%.so}.rst" ] || echo "${plugin%.so} has no page"
	grep -q "\`${plugin%.so}\`" "$doc/README.md" || echo "README.md does not name ${plugin%.so}"
done) >"$work/said" 2>&1
[ ! -s "$work/said" ]
result "each installed plugin has a page and is named in the README"

finish
