#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Time limits of guests and of tools in guests (--timeout, --deadline, --tool-timeout): the time
# that each limits, and the message at its end. A guest that hangs at boot is restarted.
# shellcheck disable=SC2030,SC2031 # subshells have a folder of their own
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 1
. tools/lib/ktap.sh

arch=${COREPMU_ARCH:-arm64}
kernel=${COREPMU_KERNEL:-$(. scripts/lib/lib.sh && default_kernel)}
root=$(mktemp -d "${TMPDIR:-/tmp}/corepmu-bounds.XXXXXX") || exit 1
work=$root
hogs=()
end_hogs()
{
	[ ${#hogs[@]} -eq 0 ] || kill "${hogs[@]}" 2>/dev/null
	hogs=()
}
trap 'end_hogs; rm -rf "$root"' EXIT

# shellcheck disable=SC2031 # guest sets it
ktap_details()
{
	echo "status $status"
	sed 's/^/stderr: /' "$work/err"
	head -c 2000 "$work/out" | sed 's/^/stdout: /'
}

guest()
{
	status=0
	scripts/run-guest --arch "$arch" --kernel "$kernel" --mode nomodule "$@" >"$work/out" 2>"$work/err" \
		</dev/null || status=$?
}

says() { grep -qE -- "$1" "$work/err"; }

qemu=$(scripts/fetch/get-qemu "$arch") || exit 1

# does WORD...: put a program in place of QEMU. Each start does the next WORD; the last one is
# repeated.
does()
{
	printf '%s\n' "$@" >"$work/does"
	cat >"$work/qemu" <<EOT
#!/bin/bash
[ "\$1" != --version ] || exec "$qemu" --version
does=\$(head -n 1 "$work/does")
[ "\$(wc -l <"$work/does")" -eq 1 ] || sed -i 1d "$work/does"
case \$does in
boots) exec "$qemu" "\$@" ;;
stands-still) exec sleep 100000 ;;
runs) [ ! -e "$work/cpu" ] || taskset -p -c 0 \$\$ >/dev/null; while :; do :; done ;;
esac
EOT
	chmod +x "$work/qemu"
}

plan

# A guest that makes no progress takes a minute, but no CPU time: the tests below run meanwhile.
hang=$work/hang
mkdir "$hang" "$hang/once" "$hang/always" "$hang/named"
(
	work=$hang/once
	does stands-still boots
	QEMU=$work/qemu guest --timeout 180 -- 'echo here; exit 3'
	exit $status
) &
once=$!
(
	work=$hang/always
	does stands-still
	QEMU=$work/qemu guest --timeout 180 --deadline 130 -- true
	exit $status
) &
always=$!
(
	work=$hang/named
	# In the smp lane the clock is the host's, and a guest that sleeps takes no CPU time.
	guest --lane smp --smp 1 --timeout 45 -- 'perf stat sleep 1000'
	exit $status
) &
named=$!

does runs
QEMU=$work/qemu guest --timeout 3 --deadline 600 -- true
[ $status -eq 124 ] && says 'did not end within 3 seconds \(--timeout; [0-9]+ by the clock\)'
result "a guest that runs for longer than --timeout is ended"

does stands-still
QEMU=$work/qemu guest --timeout 3 --deadline 600 -- true
[ $status -eq 124 ] && says 'did not end within 3 seconds \(--timeout; '
result "a guest that sleeps for longer than --timeout is ended"

if ! command -v taskset >/dev/null || ! taskset -c 0 true 2>/dev/null || [ ! -e /proc/self/schedstat ]; then
	skipped "a guest that waits for a core is not ended by --timeout" "no taskset, or no schedstat"
else
	# Other processes take 90 % of the core's time.
	for _ in 1 2 3; do
		taskset -c 0 bash -c 'while :; do :; done' &
		hogs+=($!)
	done
	: >"$work/cpu"
	does runs
	status=0
	QEMU=$work/qemu nice -n 10 scripts/run-guest --arch "$arch" --kernel "$kernel" --mode nomodule \
		--timeout 4 --deadline 6 -- true >"$work/out" 2>"$work/err" </dev/null || status=$?
	[ $status -eq 124 ] && says 'did not end within 6 seconds by the clock \(--deadline\)'
	result "a guest that waits for a core is not ended by --timeout"
	end_hogs
fi

# The guest's clock advances at once while nothing runs.
guest --tool-timeout 20 -- 'perf stat sleep 1000; echo "status $?"; perf stat sleep 1; true'
[ $status -eq 125 ] && grep -q '^status 137' "$work/out" &&
	grep -q '^perf stat sleep 1000 did not come to an end within 20 seconds of the guest' "$work/out" &&
	says 'ended with status 0, but perf stat sleep 1000 did not come to an end within 20 seconds .*--tool-timeout'
result "a tool that does not come to an end is killed and named"

guest -- 'perf stat sleep 8; perf stat true 2>&1 | grep -c "Performance counter stats for .true.:"; perf --version; exit 4'
[ $status -eq 4 ] && grep -qx 1 "$work/out" && grep -q '^perf version' "$work/out"
result "a tool that comes to an end is not named"

# shellcheck disable=SC2016 # for the guest's shell
guest --timeout 120 -- 'mkdir /tmp/bin; printf "#!/bin/sh\nexec %s \"\$@\"\n" $(command -v perf) >/tmp/bin/perf
	chmod +x /tmp/bin/perf; PATH=/tmp/bin:$PATH perf --version'
[ $status -eq 0 ] && grep -q '^perf version' "$work/out"
result "a script called perf, before it in PATH, calls the tool"

# perf behaves as without the limit: its process, its signals and its children.
guest -- 'perf record -o /tmp/data sleep 1000 2>/dev/null & sleep 2; kill -INT $!; wait $!; echo "status $?"
	cat /proc/$$/comm >/dev/null; perf report -i /tmp/data --header-only | grep -c cmdline; ls /tmp/.bounded.* 2>/dev/null
	echo x | perf stat -x, -e context-switches -o /tmp/out cat; grep -c context-switches /tmp/out
	echo 1 >/proc/sys/kernel/perf_event_paranoid
	su user -c "perf stat -e task-clock true" 2>&1 | grep -c task-clock'
[ $status -eq 0 ] && [ "$(tail -n 4 "$work/out" | xargs)" = "1 x 1 1" ] && grep -q '^status' "$work/out"
result "a tool with a bound takes signals, input and an unprivileged user"

# QEMU must end with a run-guest that is killed.
scripts/run-guest --arch "$arch" --kernel "$kernel" --mode nomodule --timeout 600 --log "$work/log" \
	-- 'while :; do :; done' >"$work/out" 2>"$work/err" </dev/null &
killed=$!
for _ in $(seq 600); do
	! grep -qa . "$work/log" 2>/dev/null || break
	sleep 0.5
done
pid=$(pgrep -P "$killed" -f "file:$work/log")
kill -KILL "$killed"
wait "$killed" 2>/dev/null
for _ in $(seq 100); do
	[ -e "/proc/$pid" ] || break
	sleep 0.1
done
status=0
[ -n "$pid" ] && [ ! -e "/proc/$pid" ]
result "QEMU ends with a run-guest that is killed"

status=0
wait "$named" || status=$?
work=$hang/named
[ $status -eq 124 ] && says 'did not end within 45 seconds .* and was stopped in perf stat sleep 1000'
result "the message names the tool in which a guest hangs"

status=0
wait "$once" || status=$?
work=$hang/once
[ $status -eq 3 ] && [ "$(cat "$work/out")" = here ] &&
	says 'has not started its command in 60 seconds, a third of --timeout; .*restarted once'
result "a guest that hangs at boot is restarted"

status=0
wait "$always" || status=$?
work=$hang/always
[ $status -eq 124 ] && [ "$(grep -c 'restarted once' "$work/err")" -eq 1 ] &&
	says 'did not end within 130 seconds by the clock \(--deadline\)'
result "a guest is restarted once, not twice"

finish
