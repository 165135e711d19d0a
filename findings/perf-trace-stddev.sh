#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Columns headed "stddev" in reports of perf 6.1 (Debian 12: linux-perf 6.1.176-1) are no standard deviations. There is
# no message:
#
# - perf trace -s and perf sched timehist --summary print the standard error of the mean: the standard deviation divided
#   by the square root of the number of calls or runs.
# - 400 calls, half of 0.1 ms and half of 1.9 ms, have a standard deviation of 90 % of their mean. The column has 4.51.
# - Four such calls have 51.96 %, and 4000 have 1.42 %: the more often a task calls or runs, the steadier it looks. Two
#   rows of one report are not comparable.
#
# Cause: stddev_stats() of util/stat.c returns the error of the mean, as its comment says; builtin-trace.c and
# builtin-sched.c print it as "stddev".
#
# The script writes perf.data files of raw_syscalls and of sched_switch, whose calls and runs take 0.1 ms and 1.9 ms in
# turn. It needs python3 and Debian 12's archive; no tracefs is needed.
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
import statistics, struct
TRACEPOINT, IP, TID, TIME, CPU, PERIOD, RAW, IDENTIFIER = 2, 1, 2, 4, 1 << 7, 1 << 8, 1 << 10, 1 << 16
FORM, SAMPLE_ID_ALL = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | RAW, 1 << 18
BEGIN, RUNNING, SLEEPING, READ = 1000 * 10**9, 0, 1, 0
NAMES = {0: b'swapper', 4: b'few', 400: b'some', 4000: b'many'}
COMMON = [('unsigned short common_type', 2), ('unsigned char common_flags', 1),
          ('unsigned char common_preempt_count', 1), ('int common_pid', 4)]
EVENTS = {
    'raw_syscalls': {'sys_enter': (1, [('long id', 8), ('unsigned long args[6]', 48)]),
                     'sys_exit': (2, [('long id', 8), ('long ret', 8)])},
    'sched': {'sched_switch': (1, [('char prev_comm[16]', 16), ('int prev_pid', 4), ('int prev_prio', 4),
                                   ('long prev_state', 8), ('char next_comm[16]', 16), ('int next_pid', 4),
                                   ('int next_prio', 4)])},
}

def fields(members, at=0):
    text = ''
    for name, size in members:
        text += '\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n' % (name, at, size, name.startswith(('int', 'long')))
        at += size
    return text

def sized(text):
    return struct.pack('<Q', len(text)) + text.encode()

def tracing_data(system):
    page = fields([('u64 timestamp', 8), ('local_t commit', 8), ('char data', 4080)])
    out = b'\x17\x08Dtracing0.6\0\0' + struct.pack('<BI', 8, 4096)
    out += b'header_page\0' + sized(page) + b'header_event\0' + sized('') + struct.pack('<2I', 0, 1)
    out += system.encode() + b'\0' + struct.pack('<I', len(EVENTS[system]))
    for name, (ident, members) in EVENTS[system].items():
        out += sized('name: %s\nID: %d\nformat:\n%s\n%s\nprint fmt: "-"\n' %
                     (name, ident, fields(COMMON), fields(members, 8)))
    return out + struct.pack('<2IQ', 0, 0, 0)

def record(kind, misc, body):
    return struct.pack('<I2H', kind, misc, 8 + len(body)) + body

def comm(pid):
    return record(3, 0, struct.pack('<2I16s2IQ2IQ', pid, pid, NAMES[pid], pid, pid, BEGIN, 0, 0, 11))

def event(ident, time, pid, form, *values):
    raw = struct.pack('<H2Bi', ident, 0, 0, pid) + struct.pack('<' + form, *values)
    raw += bytes(-(len(raw) + 4) % 8)
    return record(9, 1, struct.pack('<2Q2IQ2IQI', 10 + ident, 0xffffffff81000000, pid, pid, time, 0, 0, 1, len(raw)) +
                  raw)

def switch(time, pid, state, other):
    return event(1, time, pid, '16s2iq16s2i', NAMES[pid], pid, 120, state, NAMES[other], other, 120)

def write(name, system, data):
    idents = [event[0] for event in EVENTS[system].values()]
    start = 104 + 128 * len(idents)
    attrs = b''.join(struct.pack('<2I5Q', TRACEPOINT, 112, ident, 1, FORM, 0, SAMPLE_ID_ALL).ljust(112, b'\0') +
                     struct.pack('<2Q', start + 8 * nr, 8) for nr, ident in enumerate(idents))
    attrs += b''.join(struct.pack('<Q', 10 + ident) for ident in idents)
    at, tracing = 104 + len(attrs), tracing_data(system)
    head = b'PERFILE2' + struct.pack('<12Q', 104, 128, 104, start - 104, at, len(data), 0, 0, 1 << 1, 0, 0, 0)
    end = struct.pack('<2Q', at + len(data) + 16, len(tracing))
    open(name, 'wb').write(head + attrs + data + end + tracing)

calls, runs, time = b'', b'', BEGIN
for number in 4, 400, 4000:
    times = [1900000 if nr % 2 else 100000 for nr in range(number)]
    calls += comm(number)
    runs += comm(number)
    for duration in times:
        calls += event(1, time, number, 'q6Q', READ, 3, 0, 0, 0, 0, 0)
        runs += switch(time, 0, RUNNING, number)
        time += duration
        calls += event(2, time, number, '2q', READ, 1)
        runs += switch(time, number, SLEEPING, 0)
        time += 1000
    mean = statistics.mean(times)
    print('%s: mean %.3f, standard deviation %.2f %%' % (NAMES[number].decode(), mean / 1e6,
                                                         100 * statistics.stdev(times) / mean))
write('calls.data', 'raw_syscalls', calls)
write('runs.data', 'sched', runs)
END

export LC_ALL=C
{
	python3 make.py
	perf trace -s -i calls.data 2>&1 | awk '
		/events, / { name = $1 }
		/syscall .*stddev/ { column = $NF }
		/^ *read / { print "perf trace: " name " calls " $2 ", avg " $6 ", " column, $NF }' | sort
	perf sched timehist --summary -i runs.data 2>/dev/null | awk '
		/stddev/ { column = $8 }
		/^ *[a-z]*\[[0-9]*\] / { print "perf sched: " $1 " runs " $3 ", avg " $6 ", " column, $8 }' | sort
} >seen
echo "# $(perf --version)"
cat seen
cat >expected <<'END'
few: mean 1.000, standard deviation 103.92 %
some: mean 1.000, standard deviation 90.11 %
many: mean 1.000, standard deviation 90.01 %
perf trace: few calls 4, avg 1.000, stddev 51.96%
perf trace: many calls 4000, avg 1.000, stddev 1.42%
perf trace: some calls 400, avg 1.000, stddev 4.51%
perf sched: few[4] runs 4, avg 1.000, stddev 51.96
perf sched: many[4000] runs 4000, avg 1.000, stddev 1.42
perf sched: some[400] runs 400, avg 1.000, stddev 4.51
END
diff expected seen >/dev/null || { echo 'CHANGED: perf does not behave as described'; exit 1; }
echo 'as described'
