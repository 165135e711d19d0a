#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# libpfm4 4.13.0 (Debian 12: 4.13.0-1) encodes modifiers with the value 0 wrongly for perf_event_open(2): the event
# counts nothing, or what the modifier excludes. Each encoding succeeds:
#
# - :k=0, "without the kernel", excludes user space too, whatever the privilege levels that the program has asked for.
#   The event is valid, and counts 0 for ever. So do :u=0, and :u=0:k=0. :u=1:k=0 counts user space, as :u does.
# - :mg=0, "without guests", counts guests alone, as :mg=1 does: exclude_host is set, exclude_guest is not. On a
#   machine without guests a hardware event counts 0. :mh=0, "without the host", counts the host alone, as :mh=1 does.
# - The event name that libpfm4 returns shows the wrong encoding: :mg=0 has become mg=1:mh=0.
#
# The script encodes the event perf::PERF_COUNT_HW_INSTRUCTIONS; no PMU is needed. It needs cc and Debian 12's archive.
# Status: 0 if the library behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in cc apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download libpfm4=4.13.0-1 libpfm4-dev=4.13.0-1) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
lib="$work/root/usr/lib/x86_64-linux-gnu"

cat >program.c <<'END'
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <string.h>

/* Print what an event excludes; @levels: privilege levels if the modifiers name none. */
static int print_encoding(const char *modifiers, int levels)
{
	struct perf_event_attr attr;
	char *name = NULL, event[80];
	pfm_perf_encode_arg_t arg = { .attr = &attr, .fstr = &name, .size = sizeof(arg) };

	memset(&attr, 0, sizeof(attr));
	snprintf(event, sizeof(event), "perf::PERF_COUNT_HW_INSTRUCTIONS%s", modifiers);
	if (pfm_get_os_event_encoding(event, levels, PFM_OS_PERF_EVENT_EXT, &arg))
		return 77;
	printf("%s%s excludes:%s%s%s%s; %s\n", levels == PFM_PLM3 ? "PFM_PLM3, " : "",
	       *modifiers ? modifiers : "no modifier", attr.exclude_user ? " user" : "",
	       attr.exclude_kernel ? " kernel" : "", attr.exclude_guest ? " guest" : "",
	       attr.exclude_host ? " host" : "", strchr(strstr(name, "::") + 2, ':') + 1);
	return 0;
}

int main(void)
{
	static const char *const modifiers[] = {
		"", ":u", ":u=1:k=0", ":k=0", ":u=0", ":u=0:k=0", ":mg=1", ":mg=0", ":mh=1", ":mh=0", ":mg=1:mh=1",
	};
	int status = 0;

	if (pfm_initialize() != PFM_SUCCESS)
		return 77;
	for (unsigned int i = 0; i < sizeof(modifiers) / sizeof(*modifiers); i++)
		status |= print_encoding(modifiers[i], PFM_PLM0 | PFM_PLM3);
	return status | print_encoding("", PFM_PLM3) | print_encoding(":k=0", PFM_PLM3);
}
END
cc -o program program.c -I root/usr/include -L "$lib" -lpfm || { echo 'SKIP: the program does not build'; exit 77; }
# Some machines have the modifier h (hypervisor), too.
LD_LIBRARY_PATH="$lib" ./program >raw || { echo 'SKIP: libpfm4 does not encode the event here'; exit 77; }
sed 's/:h=0//' raw >seen
echo '# libpfm4 4.13.0'
cat seen
cat >expected <<'END'
no modifier excludes: guest; u=1:k=1:precise=0:excl=0:mg=0:mh=1
:u excludes: kernel guest; u=1:k=0:precise=0:excl=0:mg=0:mh=1
:u=1:k=0 excludes: kernel guest; u=1:k=0:precise=0:excl=0:mg=0:mh=1
:k=0 excludes: user kernel guest; u=0:k=0:precise=0:excl=0:mg=0:mh=1
:u=0 excludes: user kernel guest; u=0:k=0:precise=0:excl=0:mg=0:mh=1
:u=0:k=0 excludes: user kernel guest; u=0:k=0:precise=0:excl=0:mg=0:mh=1
:mg=1 excludes: host; u=1:k=1:precise=0:excl=0:mg=1:mh=0
:mg=0 excludes: host; u=1:k=1:precise=0:excl=0:mg=1:mh=0
:mh=1 excludes: guest; u=1:k=1:precise=0:excl=0:mg=0:mh=1
:mh=0 excludes: guest; u=1:k=1:precise=0:excl=0:mg=0:mh=1
:mg=1:mh=1 excludes:; u=1:k=1:precise=0:excl=0:mg=1:mh=1
PFM_PLM3, no modifier excludes: kernel guest; u=1:k=0:precise=0:excl=0:mg=0:mh=1
PFM_PLM3, :k=0 excludes: user kernel guest; u=0:k=0:precise=0:excl=0:mg=0:mh=1
END
diff expected seen >/dev/null || { echo 'CHANGED: the library does not behave as described'; exit 1; }
echo 'as described'
