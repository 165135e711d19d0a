#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Groups of software-defined events (SDE) of PAPI 7.0.0 (Debian 12: 7.0.0-2) have other values than their
# counters, without an error:
#
# - PAPI_SDE_MIN of 30, 20 and 25 is 0: the minimum begins at 0. PAPI_SDE_MAX of -5 and -7 is 0 likewise.
# - PAPI_SDE_SUM of two PAPI_SDE_int of 2e9 is -294967296. Each of them alone is 2e9, in 64 bits.
# - PAPI_SDE_DELTA counters do not begin at PAPI_start() in a group, but at 0. Counters that grow by 1 and 2
#   from 100 and 200 have the sum 303, not 3. The sum is 203 if the event set has the first counter too.
#
# The script registers counters, adds them to groups and reads the groups. It needs cc and Debian 12's
# archive; no PMU is needed.
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
(cd debs && apt-get -qq download libpapi-dev=7.0.0-2 libpapi7.0=7.0.0-2 libsde1=7.0.0-2 libpfm4=4.13.0-1) \
	2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
lib="$work/root/usr/lib/x86_64-linux-gnu"

cat >program.c <<'END'
#include <stdio.h>
#include <string.h>
#include <papi.h>
#include <sde_lib.h>

static long long a = 30, b = 20, c = 25, m = -5, n = -7, p = 100, q = 200;
static int i = 2000000000, j = 2000000000;

/* Print the values of @count events between PAPI_start() and PAPI_stop(); @p grows by 1 and @q by 2. */
static int measure(const char **names, int count)
{
	int set = PAPI_NULL;
	long long v[8];

	p = 100;
	q = 200;
	if (PAPI_create_eventset(&set) != PAPI_OK)
		return 77;
	for (int k = 0; k < count; k++) {
		char name[80];

		snprintf(name, sizeof(name), "sde:::library::%s", names[k]);
		if (PAPI_add_named_event(set, name) != PAPI_OK)
			return 77;
	}
	if (PAPI_start(set) != PAPI_OK)
		return 77;
	p += 1;
	q += 2;
	if (PAPI_stop(set, v) != PAPI_OK)
		return 77;
	for (int k = 0; k < count; k++)
		printf("%s %lld%s", names[k], v[k], k < count - 1 ? ", " : "\n");
	PAPI_cleanup_eventset(set);
	return 0;
}

int main(void)
{
	static const struct {
		const char *name;
		int mode, type;
		void *data;
		const char *group;
		int operation;
	} counters[] = {
		{ "a", PAPI_SDE_INSTANT, PAPI_SDE_long_long, &a, "minimum", PAPI_SDE_MIN },
		{ "b", PAPI_SDE_INSTANT, PAPI_SDE_long_long, &b, "minimum", PAPI_SDE_MIN },
		{ "c", PAPI_SDE_INSTANT, PAPI_SDE_long_long, &c, "minimum", PAPI_SDE_MIN },
		{ "m", PAPI_SDE_INSTANT, PAPI_SDE_long_long, &m, "maximum", PAPI_SDE_MAX },
		{ "n", PAPI_SDE_INSTANT, PAPI_SDE_long_long, &n, "maximum", PAPI_SDE_MAX },
		{ "i", PAPI_SDE_INSTANT, PAPI_SDE_int, &i, "sum", PAPI_SDE_SUM },
		{ "j", PAPI_SDE_INSTANT, PAPI_SDE_int, &j, "sum", PAPI_SDE_SUM },
		{ "p", PAPI_SDE_DELTA, PAPI_SDE_long_long, &p, "delta", PAPI_SDE_SUM },
		{ "q", PAPI_SDE_DELTA, PAPI_SDE_long_long, &q, "delta", PAPI_SDE_SUM },
	};
	papi_handle_t handle = papi_sde_init("library");

	for (unsigned int k = 0; k < sizeof(counters) / sizeof(*counters); k++) {
		papi_sde_register_counter(handle, counters[k].name, PAPI_SDE_RO | counters[k].mode,
					  counters[k].type, counters[k].data);
		papi_sde_add_counter_to_group(handle, counters[k].name, counters[k].group,
					      counters[k].operation);
	}
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return 77;
	return measure((const char *[]){ "a", "b", "c", "minimum" }, 4) ||
	       measure((const char *[]){ "m", "n", "maximum" }, 3) ||
	       measure((const char *[]){ "i", "j", "sum" }, 3) ||
	       measure((const char *[]){ "delta" }, 1) ||
	       measure((const char *[]){ "p", "delta" }, 2) ? 77 : 0;
}
END
cc -rdynamic -o program program.c -I root/usr/include -L "$lib" "-Wl,-rpath-link,$lib" -lpapi -lsde ||
	{ echo 'SKIP: the program does not build'; exit 77; }
LD_LIBRARY_PATH="$lib" ./program >seen 2>program.log ||
	{ tail -n 3 program.log; echo 'SKIP: PAPI has no software-defined events here'; exit 77; }
echo '# PAPI 7.0.0'
cat seen
cat >expected <<'END'
a 30, b 20, c 25, minimum 0
m -5, n -7, maximum 0
i 2000000000, j 2000000000, sum -294967296
delta 303
p 1, delta 203
END
diff expected seen >/dev/null || { echo 'CHANGED: the library does not behave as described'; exit 1; }
echo 'as described'
