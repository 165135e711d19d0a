#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# gprof profiles of long runs lose multiples of 655.36 s of a hot loop, with glibc 2.36 and gprof 2.40 (Debian 12:
# binutils 2.40-2). There is no message, and the hottest function can be the last of the list:
#
# - A program that spends 660 s in one instruction of work(), and 60 s in other(), has 5 s of work(). gprof says that
#   other() takes 93 percent.
# - gprof -s, which sums profiles, has the same limit for the sum of all runs. Two runs of 400 s in work() have 145 s
#   in gmon.sum. `gprof PROGRAM gmon.1 gmon.2' of the same files has 800 s.
#
# Cause: a sample is 10 ms, and the counter of a few bytes of code has 16 bits. profil_count() of glibc's
# sysdeps/posix/profil.c increments it without a check. hist_write_hist() of gprof's hist.c writes a sum that it
# has in 32 bits with bfd_put_16(). profil(3) says that its counters are unsigned short; gprof(1) states no limit.
#
# The program stops the timer of the samples, and sends itself the timer's signal: no run takes long. The script
# needs cc and Debian 12's archive.
# Status: 0 if the programs behave as described, 1 if not, 77 if they cannot be tested.
set -eu

for program in apt-get awk cc dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 libc6 libzstd1 zlib1g) \
	2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
case $(echo debs/libc6_*) in
debs/libc6_2.36-*) ;;
*) echo 'SKIP: the archive has another glibc than 2.36'; exit 77 ;;
esac
libs="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu"

cat >program.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* gprof rounds addresses to a share of the program: a large program has small errors. */
__asm__(".text; .skip 0x40000; .previous");

static long pid;

/* Take signals of the timer, which are samples of the instruction after the system call. */
#define SAMPLE(ticks)	do {								\
		for (long tick = 0; tick < (ticks); tick++) {				\
			long result = SYS_tgkill;					\
			__asm__ volatile("syscall" : "+a"(result)			\
					 : "D"(pid), "S"(pid), "d"((long)SIGPROF)	\
					 : "rcx", "r11", "memory");			\
		}									\
	} while (0)

__attribute__((noinline)) void work(long ticks)
{
	SAMPLE(ticks);
}

__attribute__((noinline)) void other(long ticks)
{
	SAMPLE(ticks);
}

/* Arguments: seconds in work(), seconds in other() */
int main(int argc, char **argv)
{
	struct itimerval off = { 0 };

	if (argc != 3)
		return 2;
	setitimer(ITIMER_PROF, &off, NULL);
	pid = getpid();
	work(100 * atol(argv[1]));
	other(100 * atol(argv[2]));
	return 0;
}
END
cc -O1 -pg -fno-pie -no-pie -o program program.c || { echo 'SKIP: the program does not build'; exit 77; }

# profiled WORK OTHER FILE: run the program, and name its profile.
profiled() {
	root/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 --library-path "$libs" ./program "$1" "$2"
	mv gmon.out "$3"
}

# gprof ARG...: run gprof 2.40.
gprof() {
	LD_LIBRARY_PATH="$libs" root/usr/bin/x86_64-linux-gnu-gprof "$@"
}

# seconds NAME FILE...: print the functions of a flat profile in its order.
seconds() {
	name=$1
	shift
	gprof -b -p program "$@" | awk -v name="$name" '
		$NF == "work" || $NF == "other" { text = text sprintf(", %s %.0f s", $NF, $3) }
		END { print name ": " substr(text, 3) }'
}

profiled 660 60 gmon.long
profiled 400 10 gmon.1
profiled 400 10 gmon.2
gprof -s program gmon.1 gmon.2
{
	seconds '660 s and 60 s' gmon.long
	seconds '400 s and 10 s' gmon.1
	seconds 'twice, both files' gmon.1 gmon.2
	seconds 'twice, summed by -s' gmon.sum
} >seen
echo "# $(gprof --version | head -n 1), $(basename debs/libc6_*)"
cat seen
cat >expected <<'END'
660 s and 60 s: other 60 s, work 5 s
400 s and 10 s: work 400 s, other 10 s
twice, both files: work 800 s, other 20 s
twice, summed by -s: work 145 s, other 20 s
END
diff expected seen >/dev/null || { echo 'CHANGED: the programs do not behave as described'; exit 1; }
echo 'as described'
