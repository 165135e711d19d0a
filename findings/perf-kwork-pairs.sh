#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf kwork of perf 6.1 (Debian 12: linux-perf 6.1.176-1) pairs events of the kernel's work that do not belong
# together, and loses others:
#
# - Work items of unbound workqueues are queued on one CPU and run on any. Ten items that wait for 50 ms and run on
#   another CPU are no line of perf kwork latency.
# - If two CPUs queue such an item in turn, and the other CPU runs it 1 ms later, its latency is 101 ms. It is the time
#   since the CPU that runs the item queued it last, for the run before.
# - A worker of such a queue that sleeps can continue on another CPU. perf kwork report has no line for such a run of 2
#   ms. The lost begin is paired with a later end on the same CPU: two runs of 2 ms are one of 1002 ms.
# - A softirq that is raised again before it runs has the latency since the last raise: 10 ms are 1 ms.
#
# The only message is a number of "skipped events". It counts lost events, not those that are paired wrongly.
#
# perf-kwork(1) has the time between raise and entry as the latency, and names workqueues and softirqs.
#
# Cause: the key of a work item in builtin-kwork.c has the CPU of the event, for all kinds of work. work_pop_atom()
# takes the newest event of that CPU.
#
# The script writes perf.data files with these events. It needs python3 and Debian 12's archive; no tracefs is needed.
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
US, BEGIN, TIMER = 1000, 1000 * 10**9, 1
COMMON = [('unsigned short common_type', 2), ('unsigned char common_flags', 1),
          ('unsigned char common_preempt_count', 1), ('int common_pid', 4)]
WORK, FUNCTION, VEC = ('void * work', 8), ('void * function', 8), ('unsigned int vec', 4)
PRINT_VEC = '"vec=%u [action=%s]", REC->vec, __print_symbolic(REC->vec, { 0, "HI" }, { 1, "TIMER" })'
SYSTEMS = {'workqueue': [('workqueue_activate_work', [WORK], '"-"'),
                         ('workqueue_execute_start', [WORK, FUNCTION], '"-"'),
                         ('workqueue_execute_end', [WORK, FUNCTION], '"-"')],
           'irq': [('softirq_raise', [VEC], PRINT_VEC), ('softirq_entry', [VEC], PRINT_VEC),
                   ('softirq_exit', [VEC], PRINT_VEC)]}
IDENT = {name: nr + 1 for nr, name in enumerate(event[0] for events in SYSTEMS.values() for event in events)}

def fields(members, at=0):
    text = ''
    for name, size in members:
        text += '\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n' % (name, at, size, name.startswith('int'))
        at += size
    return text

def sized(text):
    return struct.pack('<Q', len(text)) + text.encode()

def tracing_data():
    page = fields([('u64 timestamp', 8), ('local_t commit', 8), ('char data', 4080)])
    out = b'\x17\x08Dtracing0.6\0\0' + struct.pack('<BI', 8, 4096)
    out += b'header_page\0' + sized(page) + b'header_event\0' + sized('') + struct.pack('<2I', 0, len(SYSTEMS))
    for system, events in SYSTEMS.items():
        out += system.encode() + b'\0' + struct.pack('<I', len(events))
        for name, members, text in events:
            out += sized('name: %s\nID: %d\nformat:\n%s\n%s\nprint fmt: %s\n' %
                         (name, IDENT[name], fields(COMMON), fields(members, 8), text))
    return out + struct.pack('<2IQ', 0, 0, 0)

def record(kind, misc, body):
    return struct.pack('<I2H', kind, misc, 8 + len(body)) + body

def event(name, time, cpu, values):
    raw = struct.pack('<H2Bi', IDENT[name], 0, 0, 7) + values
    raw += bytes(-(len(raw) + 4) % 8)
    return record(9, 1, struct.pack('<2Q2IQ2IQI', 10 + IDENT[name], 0xffffffff81000000, 7, 7, BEGIN + time * US, cpu, 0,
                                    1, len(raw)) + raw)

def item(ident, queued, started, ended):
    """The time in us and the CPU of each of an item's events"""
    work = struct.pack('<Q', ident)
    return (event('workqueue_activate_work', *queued, work) +
            event('workqueue_execute_start', *started, work + bytes(8)) +
            event('workqueue_execute_end', *ended, work + bytes(8)))

def write(name, *data):
    data = record(3, 0, struct.pack('<2I16s2IQ2IQ', 7, 7, b'kworker', 7, 7, BEGIN, 0, 0, 11)) + b''.join(data)
    idents = list(IDENT.values())
    start = 104 + 128 * len(idents)
    attrs = b''.join(struct.pack('<2I5Q', TRACEPOINT, 112, ident, 1, FORM, 0, SAMPLE_ID_ALL).ljust(112, b'\0') +
                     struct.pack('<2Q', start + 8 * nr, 8) for nr, ident in enumerate(idents))
    attrs += b''.join(struct.pack('<Q', 10 + ident) for ident in idents)
    at, tracing = 104 + len(attrs), tracing_data()
    head = b'PERFILE2' + struct.pack('<12Q', 104, 128, 104, start - 104, at, len(data), 0, 0, 1 << 1, 0, 0, 0)
    end = struct.pack('<2Q', at + len(data) + 16, len(tracing))
    open(name, 'wb').write(head + attrs + data + end + tracing)

MS = 1000
rounds = [nr * 100 * MS for nr in range(10)]
write('here.data', *[item(0xa, (at, 0), (at + MS, 0), (at + 3 * MS, 0)) for at in rounds])
write('other.data', *[item(0xa, (at, 0), (at + 50 * MS, 1), (at + 52 * MS, 1)) for at in rounds])
write('turns.data', *[item(0xa, (at, nr % 2), (at + MS, 1 - nr % 2), (at + 3 * MS, 1 - nr % 2))
                      for nr, at in enumerate(rounds)])
write('moves.data', item(0xa, (0, 0), (0, 0), (2 * MS, 1)), item(0xa, (1000 * MS, 1), (1000 * MS, 1), (1002 * MS, 0)))
vec = struct.pack('<I', TIMER)
write('again.data', *[event('softirq_raise', at, 0, vec) for at in (0, 3 * MS, 6 * MS, 9 * MS)],
      event('softirq_entry', 10 * MS, 0, vec), event('softirq_exit', 12 * MS, 0, vec))
END

python3 make.py
export LC_ALL=C
# kwork REPORT NAME: print the lines of a report, and its message
kwork() {
	perf kwork "$1" -i "$2.data" 2>/dev/null | awk -v FS=' *[|] *' -v what="$2, $1:" '
		/^ *\([sw]\)/ {
			sub(/^ */, "")
			print what, $1 ", CPU " $2 + 0 ", " $3 ", count " $4 ", max " $5
			lines++
		}
		/INFO/ { sub(/^ *INFO: [0-9.]*% /, ""); info = $0 }
		END { if (!lines) print what, "no line"; if (info) print "  " info }'
}
{
	kwork latency here
	kwork report here
	kwork latency other
	kwork latency turns
	kwork report moves
	kwork latency again
} >seen
echo "# $(perf --version)"
cat seen
cat >expected <<'END'
here, latency: (w)0xa, CPU 0, 1.000 ms, count 10, max 1.000 ms
here, report: (w)0xa, CPU 0, 20.000 ms, count 10, max 2.000 ms
other, latency: no line
  skipped events (20 including 10 raise, 10 entry, 0 exit)
turns, latency: (w)0xa, CPU 0, 101.000 ms, count 5, max 101.000 ms
turns, latency: (w)0xa, CPU 1, 101.000 ms, count 4, max 101.000 ms
  skipped events (2 including 1 raise, 1 entry, 0 exit)
moves, report: (w)0xa, CPU 0, 1002.000 ms, count 1, max 1002.000 ms
  skipped events (2 including 0 raise, 1 entry, 1 exit)
again, latency: (s)TIMER:1, CPU 0, 1.000 ms, count 1, max 1.000 ms
  skipped events (3 including 3 raise, 0 entry, 0 exit)
END
diff expected seen >differences || { cat differences; echo 'CHANGED: perf does not behave as described'; exit 1; }
echo 'as described'
