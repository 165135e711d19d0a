#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf stat of perf 6.1 (Debian 12: linux-perf 6.1.176-1) ignores the mode of software events, or reports 0. There
# is no message:
#
# - task-clock:u and task-clock:k are both the whole CPU time, not a part each. A program that is in the kernel for most
#   of its time has as much task-clock:u as task-clock.
# - context-switches:u is 0, however often the program sleeps: a task is switched in the kernel. page-faults:u is right,
#   so nothing looks amiss.
# - An ordinary user gets that 0 without asking for a mode. If kernel.perf_event_paranoid is 2 or more, the kernel
#   refuses events that count the kernel, and perf adds ":u" by itself, also to the events of plain `perf stat`. The report
#   then says that the program never sleeps.
#
# Cause: cpu_clock and task_clock of the kernel's kernel/events/core.c do not read exclude_user and exclude_kernel.
# __perf_sw_event_sched() of include/linux/perf_event.h passes the scheduler's registers, which are the kernel's.
#
# The program copies 2 GB from /dev/zero, and sleeps 20 times. The script needs Debian 12's archive, and the right to
# count events of the kernel. As root, with setpriv and kernel.perf_event_paranoid at 2, it also measures as an ordinary
# user.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in awk dd apt-get dpkg; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir bin debs
libraries='libbabeltrace1 libbz2-1.0 libcap2 libdw1 libelf1 libexpat1 libglib2.0-0 liblzma5 libnuma1 libopencsd1'
libraries="$libraries libpcre2-8-0 libperl5.36 libpython3.11 libslang2 libstdc++6 libunwind8 libuuid1 libzstd1 zlib1g"
# shellcheck disable=SC2086 # a list of names
(cd debs && apt-get -qq download linux-perf=6.1.176-1 $libraries) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
cat >bin/perf <<EOT
#!/bin/sh
export LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu"
exec "$work/root/usr/bin/perf" "\$@"
EOT
chmod 755 bin/perf
PATH="$work/bin:$PATH"

cat >program.sh <<'END'
dd if=/dev/zero of=/dev/null bs=1M count=2000 2>/dev/null
for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	sleep 0.01
done
END

# counts WHO COMMAND...: print "WHO: EVENT COUNT" of what perf stat -x counts for the command
counts() {
	LC_ALL=C "$@" sh program.sh 2>&1 >/dev/null | awk -F, 'NF > 3 { print $3, $1 }'
}
events=task-clock,task-clock:u,task-clock:k,context-switches,context-switches:u,context-switches:k
counts perf stat -x, -e $events,page-faults,page-faults:u,page-faults:k >all
grep -q '^context-switches:k [0-9]' all ||
	{ cat all; echo 'SKIP: perf may not count events of the kernel here'; exit 77; }
: >user
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" = 2 ] && command -v setpriv >/dev/null; then
	counts setpriv --reuid=65534 --clear-groups perf stat -x, -e context-switches,page-faults >user
	[ -s user ] || { echo 'SKIP: perf or setpriv does not work for an ordinary user here'; exit 77; }
fi
echo "# $(perf --version), Linux $(uname -r)"
cat all
[ -s user ] || echo 'ordinary user: not measured'
sed 's/^/ordinary user: /' user

# Print whether each :u and :k count is the whole, a part or nothing. The whole is above 99 percent: clocks differ.
judge() {
	awk '
		{ count[$1] = $2; if ($1 !~ /:/) order[nr++] = $1 }
		function share(part, whole) {
			return part == 0 ? "nothing" : part > whole * 0.99 ? "the whole" : "a part"
		}
		END {
			for (i = 0; i < nr; i++)
				for (mode = 1; mode <= 2; mode++) {
					name = order[i] (mode == 1 ? ":u" : ":k")
					if (name in count)
						print name " is " share(count[name], count[order[i]])
				}
		}' all
	[ ! -s user ] || awk '
		$1 ~ /^context-switches/ { print "ordinary user: " $1 " is " ($2 == 0 ? "nothing" : "something") }' user
}
judge >seen
cat seen
cat >expected <<'END'
task-clock:u is the whole
task-clock:k is the whole
context-switches:u is nothing
context-switches:k is the whole
page-faults:u is a part
page-faults:k is a part
END
[ ! -s user ] || echo 'ordinary user: context-switches:u is nothing' >>expected
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
