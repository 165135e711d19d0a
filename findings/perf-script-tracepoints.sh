#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Three scripts that perf 6.1 brings along (perf script; Debian 12: linux-perf 6.1.176-1) print other values than their
# headings say. There is no message:
#
# - futex-contention.py prints an "avg" that depends on the order of the waits. 999 waits of 1 ms and one of 1 s have an
#   average of 2 ms. If the long wait is the last one, "avg" is 500.5 ms. If it is the first one, "avg" is 1 ms.
# - rw-by-pid.pl prints "bytes_written", which is what the program asked to write. Ten writes of 1000000 bytes to a pipe
#   write 65536 bytes: one is cut short, and nine fail with EAGAIN. "bytes_written" is 10000000. rwtop.pl prints
#   the same.
# - For reads rw-by-pid.pl has two columns, "bytes_requested" and "bytes_read", and both are right.
#
# Cause: add_stats() of Util.py takes (avg + value) / 2 for the new average, so that the last wait counts for half.
# rw-by-pid.pl and rwtop.pl add the argument of sys_enter_write, and take only errors from sys_exit_write.
#
# The script writes perf.data files of syscalls' tracepoints. It needs python3 and Debian 12's archive; no tracefs is
# needed.
# Status: 0 if the scripts behave as described, 1 if not, 77 if they cannot be tested.
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
libraries="$libraries libpython3.11-minimal libpython3.11-stdlib perl-base perl-modules-5.36"
# shellcheck disable=SC2086 # a list of names
(cd debs && apt-get -qq download linux-perf=6.1.176-1 $libraries) 2>apt.log ||
	{ echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done
cat >bin/perf <<EOT
#!/bin/sh
lib="$work/root/usr/lib/x86_64-linux-gnu"
export LD_LIBRARY_PATH="\$lib:$work/root/lib/x86_64-linux-gnu" PYTHONHOME="$work/root/usr"
export PERL5LIB="\$lib/perl/5.36:$work/root/usr/share/perl/5.36:\$lib/perl-base"
export PERF_EXEC_PATH="$work/root/usr/lib/perf-core"
exec "$work/root/usr/bin/perf" "\$@"
EOT
chmod 755 bin/perf
PATH="$work/bin:$PATH"
scripts="$work/root/usr/lib/perf-core/scripts"

# A file has the tracepoints' formats, as perf record copies them from tracefs.
cat >make.py <<'END'
import struct
TRACEPOINT, IP, TID, TIME, CPU, PERIOD, RAW, IDENTIFIER = 2, 1, 2, 4, 1 << 7, 1 << 8, 1 << 10, 1 << 16
FORM, SAMPLE_ID_ALL = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | RAW, 1 << 18
BEGIN, MS, WAIT_PRIVATE, EAGAIN = 1000 * 10**9, 10**6, 128, 11
NAMES = {7: b'last', 8: b'first', 9: b'writer'}
COMMON = [('unsigned short common_type', 2), ('unsigned char common_flags', 1),
          ('unsigned char common_preempt_count', 1), ('int common_pid', 4)]
FUTEX = ['u32 * uaddr', 'int op', 'u32 val', 'const struct __kernel_timespec * utime', 'u32 * uaddr2', 'u32 val3']
READ_WRITE = ['unsigned int fd', 'char * buf', 'size_t count']
EVENTS = {'sys_enter_futex': FUTEX, 'sys_exit_futex': ['long ret'], 'sys_enter_read': READ_WRITE,
          'sys_exit_read': ['long ret'], 'sys_enter_write': READ_WRITE, 'sys_exit_write': ['long ret']}
IDENT = {name: nr + 1 for nr, name in enumerate(EVENTS)}

def fields(members, at=0):
    text = ''
    for name, size in members:
        at += -at % size
        text += '\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n' % (name, at, size, name.startswith(('int', 'long')))
        at += size
    return text

def sized(text):
    return struct.pack('<Q', len(text)) + text.encode()

def tracing_data():
    page = fields([('u64 timestamp', 8), ('local_t commit', 8), ('char data', 4080)])
    out = b'\x17\x08Dtracing0.6\0\0' + struct.pack('<BI', 8, 4096)
    out += b'header_page\0' + sized(page) + b'header_event\0' + sized('') + struct.pack('<2I', 0, 1)
    out += b'syscalls\0' + struct.pack('<I', len(EVENTS))
    for name, members in EVENTS.items():
        members = [('int __syscall_nr', 4)] + [(member, 8) for member in members]
        out += sized('name: %s\nID: %d\nformat:\n%s\n%s\nprint fmt: "-"\n' %
                     (name, IDENT[name], fields(COMMON), fields(members, 8)))
    return out + struct.pack('<2IQ', 0, 0, 0)

def record(kind, misc, body):
    return struct.pack('<I2H', kind, misc, 8 + len(body)) + body

def comm(pid):
    return record(3, 0, struct.pack('<2I16s2IQ2IQ', pid, pid, NAMES[pid], pid, pid, BEGIN, 0, 0, 11))

def event(name, time, pid, *values):
    raw = struct.pack('<H2Bi2i%dq' % len(values), IDENT[name], 0, 0, pid, 0, 0, *values)
    raw += bytes(-(len(raw) + 4) % 8)
    return record(9, 1, struct.pack('<2Q2IQ2IQI', 10 + IDENT[name], 0xffffffff81000000, pid, pid, time, 0, 0, 1,
                                    len(raw)) + raw)

def call(name, time, duration, pid, arguments, result):
    return (event('sys_enter_' + name, time, pid, *arguments) +
            event('sys_exit_' + name, time + duration, pid, result))

def write(name, data):
    idents = list(IDENT.values())
    start = 104 + 128 * len(idents)
    attrs = b''.join(struct.pack('<2I5Q', TRACEPOINT, 112, ident, 1, FORM, 0, SAMPLE_ID_ALL).ljust(112, b'\0') +
                     struct.pack('<2Q', start + 8 * nr, 8) for nr, ident in enumerate(idents))
    attrs += b''.join(struct.pack('<Q', 10 + ident) for ident in idents)
    at, tracing = 104 + len(attrs), tracing_data()
    head = b'PERFILE2' + struct.pack('<12Q', 104, 128, 104, start - 104, at, len(data), 0, 0, 1 << 1, 0, 0, 0)
    end = struct.pack('<2Q', at + len(data) + 16, len(tracing))
    open(name, 'wb').write(head + attrs + data + end + tracing)

data, time = b'', BEGIN
for pid, waits in (7, [1] * 999 + [1000]), (8, [1000] + [1] * 999):
    data += comm(pid)
    print('%s: %d waits, average %d ns' % (NAMES[pid].decode(), len(waits), sum(waits) * MS / len(waits)))
    for wait in waits:
        data += call('futex', time, wait * MS, pid, [0x1000 * pid, WAIT_PRIVATE, 2, 0, 0, 0], 0)
        time += 2 * wait * MS
write('futex.data', data)

data, time = comm(9), BEGIN
for done in [65536] + [-EAGAIN] * 9:
    for name in 'read', 'write':
        data += call(name, time, 1000, 9, [3, 0x1000, 1000000], done)
        time += 2000
print('writer: 10 reads and 10 writes of 1000000, each 65536 bytes in all')
write('writes.data', data)
END

export LC_ALL=C
{
	python3 make.py
	perf script -i futex.data -s "$scripts/python/futex-contention.py" 2>&1 |
		sed -n 's/^\(.*\[\)/futex-contention.py: \1/p' | sort
	perf script -i writes.data -s "$scripts/perl/rw-by-pid.pl" 2>&1 | awk '
		/^ *pid .*bytes/ { head = $0; sub(/^.*comm */, "", head); gsub(/  +/, ", ", head) }
		/^failed / { head = $0 }
		$2 == "writer" && head ~ /bytes/ { print "rw-by-pid.pl: " head ": " $3, $4 (NF > 4 ? " " $5 : "") }
		$2 == "writer" && head !~ /bytes/ { print "rw-by-pid.pl: " head " error " $3 ": " $4 }'
	perf script -i writes.data -s "$scripts/perl/rwtop.pl" 2>&1 | awk '
		/^ *pid .*bytes_w/ { head = $0; sub(/^.*comm */, "", head); gsub(/  +/, ", ", head) }
		$2 == "writer" && head { print "rwtop.pl: " head ": " $3, $4 }'
} >seen
echo "# $(perf --version)"
cat seen
cat >expected <<'END'
last: 1000 waits, average 1999000 ns
first: 1000 waits, average 1999000 ns
writer: 10 reads and 10 writes of 1000000, each 65536 bytes in all
futex-contention.py: first[8] lock 8000 contended 1000 times, 1000000 avg ns [max: 1000000000 ns, min 1000000 ns]
futex-contention.py: last[7] lock 7000 contended 1000 times, 500500000 avg ns [max: 1000000000 ns, min 1000000 ns]
rw-by-pid.pl: # reads, bytes_requested, bytes_read: 10 10000000 65536
rw-by-pid.pl: failed reads by pid: error -11: 9
rw-by-pid.pl: # writes, bytes_written: 10 10000000
rw-by-pid.pl: failed writes by pid: error -11: 9
rwtop.pl: # writes, bytes_written: 10 10000000
END
diff expected seen >differences || { cat differences; echo 'CHANGED: the scripts do not behave as described'; exit 1; }
echo 'as described'
