#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# gprofng 2.40 (Debian 12: binutils and libgprofng0 2.40-2), whose clock profiling works without a PMU, has wrong
# CPU times in its profiles. gprofng collect app raises no error, and gprofng display text does not either:
#
# - A function that runs for 1 s on the main thread has 0.09 s. With -p 50 it has 0.45 s, with -p hi (1 ms) 0.009 s:
#   the higher the resolution, the less time.
# - A function that runs for 1 s on another thread is not in the profile. The sum of all functions, <Total>, lacks its
#   time. A program whose threads do the work looks idle.
#
# Cause: the collector stops the timer with the wanted interval. Another timer of 100 ms goes on; each of its signals
# counts as one wanted interval. The collector interposes pthread_create() of the symbol version GLIBC_2.2.5; programs
# that are linked to glibc 2.34 or newer call the version GLIBC_2.34, and no timer is started for their threads.
#
# The program works until each thread's own CPU clock says one second. The script needs cc and Debian 12's archive, and
# takes half a minute.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in awk cc cmp apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download binutils=2.40-2 binutils-x86-64-linux-gnu=2.40-2 libgprofng0=2.40-2 libzstd1 zlib1g) \
	2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
lib="$work/root/usr/lib/x86_64-linux-gnu"
ln -s x86_64-linux-gnu/gprofng root/usr/lib/gprofng
# gprofng prefers the collector of the machine to the one beside it.
installed=/usr/lib/x86_64-linux-gnu/gprofng/libgp-collector.so
[ ! -e $installed ] || cmp -s $installed "$lib/gprofng/libgp-collector.so" ||
	{ echo "SKIP: $installed is of another version"; exit 77; }

cat >program.c <<'END'
#include <pthread.h>
#include <time.h>

static volatile long sink;

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* Define a function that works until its thread has had a second of CPU time. */
#define WORK(name)							\
__attribute__((noinline)) static void name(void)			\
{									\
	double end = cpu_seconds() + 1;					\
									\
	while (cpu_seconds() < end)					\
		for (long i = 0; i < 1000000; i++)			\
			sink = i;					\
}

WORK(main_thread)
WORK(other_thread)

static void *start(void *unused)
{
	other_thread();
	return unused;
}

int main(void)
{
	pthread_t thread;

	main_thread();
	if (pthread_create(&thread, NULL, start, NULL))
		return 1;
	return pthread_join(thread, NULL);
}
END
cc -O1 -g -pthread -o program program.c || { echo 'SKIP: the program does not build'; exit 77; }

gprofng() {
	LD_LIBRARY_PATH="$lib:$lib/gprofng" "$work/root/usr/bin/gprofng" "$@"
}

# profile RESOLUTION: print the CPU seconds of each function, with its callees
profile() {
	gprofng collect app -p "$1" -o "$1.er" ./program >collect.log 2>&1 || return 0
	gprofng display text -metrics i.totalcpu:name -functions "$1.er" 2>&1
}
echo '# gprofng 2.40'
for resolution in hi on 50 100; do
	profile $resolution >"$resolution.txt"
	grep -q '<Total>' "$resolution.txt" ||
		{ tail -n 3 collect.log; echo 'SKIP: gprofng does not profile here'; exit 77; }
done
for resolution in hi on 50 100; do
	for name in main_thread other_thread; do
		awk -v name="$name" -v resolution="$resolution" '
			$2 == name { seconds = $1 }
			END { printf "-p %s: %s() %s s\n", resolution, name, seconds == "" ? "no" : seconds }' \
			"$resolution.txt"
	done
done >seen
cat seen
# A second has 9 or 10 signals: 9 to 10 ms, 0.09 to 0.1 s, 0.45 to 0.5 s and 0.9 to 1 s
awk '
	$3 == "other_thread()" && $4 != "no" { wrong = 1 }
	$3 == "main_thread()" {
		intervals["hi"] = 0.001; intervals["on"] = 0.01; intervals["50"] = 0.05; intervals["100"] = 0.1
		sub(/:/, "", $2)
		signals = $4 / intervals[$2]
		if (signals < 7.5 || signals > 11)
			wrong = 1
	}
	END { exit wrong || NR != 8 }' seen || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
