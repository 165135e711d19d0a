#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf sched of perf 6.1 (Debian 12: linux-perf 6.1.176-1) takes tasks that are pre-empted in the kernel for sleeping
# tasks. There is no message:
#
# - perf sched latency does not count the delay. A task that wants to run and waits five times for 90 ms has an average
#   and a maximum delay of 0, and "1 switch".
# - perf sched timehist --state --summary has the 450 ms as "sleep", and no "preempt" time. The task's state is "W".
# - If a task loses the CPU where it returns to user space, both reports are right. The state is then R, not R+, as perf
#   script prints them.
#
# Tasks are pre-empted in the kernel in cond_resched(), and anywhere with CONFIG_PREEMPT: in a long read(), for example.
#
# Cause: prev_state of such a task is TASK_REPORT_MAX, 0x100 (__trace_sched_switch_state() of Linux 6.1's
# include/trace/events/sched.h). builtin-sched.c has other states. sched_out_state() takes prev_state for an index, and
# task_state_char() takes 0x100 for TASK_WAKING. timehist_update_runtime_stats() takes only 0 for running.
#
# The script writes perf.data files in which a task "urgent" has the CPU for 90 ms of each 100 ms. It needs python3 and
# Debian 12's archive; no tracefs is needed.
# Status: 0 if perf behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in python3 apt-get dpkg; do
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

# A file has the tracepoints' formats, as perf record copies them from tracefs.
cat >make.py <<'END'
import struct
TRACEPOINT, IP, TID, TIME, CPU, PERIOD, RAW, IDENTIFIER = 2, 1, 2, 4, 1 << 7, 1 << 8, 1 << 10, 1 << 16
FORM, SAMPLE_ID_ALL = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | RAW, 1 << 18
MS, BEGIN = 10**6, 1000 * 10**9
RUNNING, SLEEPING, PREEMPTED = 0, 1, 0x100
NAMES = {0: b'swapper', 7: b'worker', 8: b'urgent'}
COMMON = [('unsigned short common_type', 2), ('unsigned char common_flags', 1),
          ('unsigned char common_preempt_count', 1), ('int common_pid', 4)]
EVENTS = {
    'sched_switch': (1, [('char prev_comm[16]', 16), ('int prev_pid', 4), ('int prev_prio', 4), ('long prev_state', 8),
                         ('char next_comm[16]', 16), ('int next_pid', 4), ('int next_prio', 4)],
                     '"prev_pid=%d prev_state=%s%s", REC->prev_pid, (REC->prev_state & 255) ? '
                     '__print_flags(REC->prev_state & 255, "|", {1, "S"}) : "R", REC->prev_state & 256 ? "+" : ""'),
    'sched_wakeup': (2, [('char comm[16]', 16), ('int pid', 4), ('int prio', 4), ('int target_cpu', 4)],
                     '"pid=%d", REC->pid'),
    'sched_stat_runtime': (3, [('char comm[16]', 16), ('int pid', 4), ('u64 runtime', 8)], '"pid=%d", REC->pid'),
}

def fields(members, at=0):
    text = ''
    for name, size in members:
        text += '\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n' % (name, at, size, name.startswith(('int', 'long')))
        at += size
    return text

def sized(text):
    return struct.pack('<Q', len(text)) + text.encode()

def tracing_data():
    page = fields([('u64 timestamp', 8), ('local_t commit', 8), ('char data', 4080)])
    out = b'\x17\x08Dtracing0.6\0\0' + struct.pack('<BI', 8, 4096)
    out += b'header_page\0' + sized(page) + b'header_event\0' + sized('') + struct.pack('<2I', 0, 1)
    out += b'sched\0' + struct.pack('<I', len(EVENTS))
    for name, (ident, members, text) in EVENTS.items():
        out += sized('name: %s\nID: %d\nformat:\n%s\n%s\nprint fmt: %s\n' %
                     (name, ident, fields(COMMON), fields(members, 8), text))
    return out + struct.pack('<2IQ', 0, 0, 0)

def record(kind, misc, body):
    return struct.pack('<I2H', kind, misc, 8 + len(body)) + body

def comm(pid):
    return record(3, 0, struct.pack('<2I16s2IQ2IQ', pid, pid, NAMES[pid], pid, pid, BEGIN, 0, 0, 11))

def event(name, ms, pid, form, *values):
    ident = EVENTS[name][0]
    raw = struct.pack('<H2Bi', ident, 0, 0, pid) + struct.pack('<' + form, *values)
    raw += bytes(-(len(raw) + 4) % 8)
    return record(9, 1, struct.pack('<2Q2IQ2IQI', 10 + ident, 0xffffffff81000000, pid, pid, BEGIN + ms * MS, 0, 0, 1,
                                    len(raw)) + raw)

def switch(ms, pid, state, other):
    return event('sched_switch', ms, pid, '16s2iq16s2i', NAMES[pid], pid, 120, state, NAMES[other], other, 120)

def wakeup(ms, pid, other):
    return event('sched_wakeup', ms, pid, '16s3i', NAMES[other], other, 120, 0)

def runtime(ms, pid, time):
    return event('sched_stat_runtime', ms, pid, '16siQ', NAMES[pid], pid, time * MS)

def write(name, state):
    data = comm(7) + comm(8) + wakeup(0, 0, 7) + switch(0, 0, RUNNING, 7)
    for ms in range(0, 500, 100):
        data += wakeup(ms + 10, 7, 8) + runtime(ms + 10, 7, 10) + switch(ms + 10, 7, state, 8)
        data += runtime(ms + 100, 8, 90) + switch(ms + 100, 8, SLEEPING, 7)
    data += runtime(510, 7, 10) + switch(510, 7, SLEEPING, 0)
    idents = [event[0] for event in EVENTS.values()]
    start = 104 + 128 * len(idents)
    attrs = b''.join(struct.pack('<2I5Q', TRACEPOINT, 112, ident, 1, FORM, 0, SAMPLE_ID_ALL).ljust(112, b'\0') +
                     struct.pack('<2Q', start + 8 * nr, 8) for nr, ident in enumerate(idents))
    attrs += b''.join(struct.pack('<Q', 10 + ident) for ident in idents)
    at, tracing = 104 + len(attrs), tracing_data()
    head = b'PERFILE2' + struct.pack('<12Q', 104, 128, 104, start - 104, at, len(data), 0, 0, 1 << 1, 0, 0, 0)
    end = struct.pack('<2Q', at + len(data) + 16, len(tracing))
    open(name, 'wb').write(head + attrs + data + end + tracing)

write('kernel.data', PREEMPTED)
write('user.data', RUNNING)
END
python3 make.py

export LC_ALL=C
for mode in user kernel; do
	perf script -i $mode.data -F event,trace 2>/dev/null |
		sed -n "s/.*prev_pid=7 prev_state=\(.*\)/$mode: state \1/p" | sed -n 1p
	perf sched latency -i $mode.data 2>/dev/null |
		sed -n "s/^ *worker:7 *| *\(.*\) | max start.*/$mode: latency: \1/p" | tr -s ' '
	perf sched timehist --state --summary -i $mode.data 2>/dev/null |
		sed -n "s/^ *worker\[7\] *-1 *\([0-9.]*\) *\([0-9.]*\) *\([0-9.]*\) *\([0-9.]*\) *\([0-9.]*\) .*/run \2, sleep \3, \
preempt \5/; s/^run/$mode: timehist: run/p"
	perf sched timehist --state -i $mode.data 2>/dev/null |
		sed -n "s/^ .* worker\[7\] .* \([A-Z?]\) *$/$mode: timehist: state \1/p" | sed -n 1p
done >seen
echo "# $(perf --version)"
cat seen
cat >expected <<'END'
user: state R
user: latency: 60.000 ms | 6 | avg: 75.000 ms | max: 90.000 ms
user: timehist: run 60.000, sleep 0.000, preempt 450.000
user: timehist: state R
kernel: state R+
kernel: latency: 60.000 ms | 1 | avg: 0.000 ms | max: 0.000 ms
kernel: timehist: run 60.000, sleep 450.000, preempt 0.000
kernel: timehist: state W
END
diff expected seen >/dev/null || { echo 'CHANGED: perf does not behave as described'; exit 1; }
echo 'as described'
