#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# perf trace -i of perf 6.1 (Debian 12: linux-perf 6.1.176-1) explains a file of another machine with what it knows of
# its own machine. There is no message:
#
# - System calls have the names of the machine that prints them. On x86-64, in a file of arm64, read() is uname(),
#   write() is semget(), openat() is clone(), close() is fork(), and futex() is getrusage(). The arguments are those of
#   the wrong calls, and the summary of -s counts these.
# - The errors are right: execve() with ENOENT is an fadvise64() with ENOENT.
# - A process id among the arguments gets a name from the machine that prints it: that of the process that has this id
#   now. Here it is the script itself.
#
# The file has the architecture; perf report --header prints it. perf-trace(1) says of -i that it reads a given file.
#
# Cause: cmd_trace() of builtin-trace.c takes the system calls of the machine that perf was built for.
# syscall_arg__scnprintf_pid() of trace/beauty/pid.c reads /proc for a process that the file does not name.
#
# The script writes a perf.data of arm64, and one of x86-64 with kill(). It needs python3 and Debian 12's archive; no
# tracefs is needed.
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

# The file has the tracepoints' formats, as perf record copies them from tracefs.
cat >make.py <<'END'
import struct, sys
TRACEPOINT, IP, TID, TIME, CPU, PERIOD, RAW, IDENTIFIER = 2, 1, 2, 4, 1 << 7, 1 << 8, 1 << 10, 1 << 16
FORM, SAMPLE_ID_ALL = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | RAW, 1 << 18
BEGIN, MS, PID, TRACING, ARCH = 1000 * 10**9, 10**6, 4, 1, 6
COMMON = [('unsigned short common_type', 2), ('unsigned char common_flags', 1),
          ('unsigned char common_preempt_count', 1), ('int common_pid', 4)]
EVENTS = {'sys_enter': (1, [('long id', 8), ('unsigned long args[6]', 48)]),
          'sys_exit': (2, [('long id', 8), ('long ret', 8)])}

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
    out += b'raw_syscalls\0' + struct.pack('<I', len(EVENTS))
    for name, (ident, members) in EVENTS.items():
        out += sized('name: %s\nID: %d\nformat:\n%s\n%s\nprint fmt: "-"\n' %
                     (name, ident, fields(COMMON), fields(members, 8)))
    return out + struct.pack('<2IQ', 0, 0, 0)

def record(kind, misc, body):
    return struct.pack('<I2H', kind, misc, 8 + len(body)) + body

def event(ident, time, form, *values):
    raw = struct.pack('<H2Bi', ident, 0, 0, PID) + struct.pack('<' + form, *values)
    raw += bytes(-(len(raw) + 4) % 8)
    return record(9, 1, struct.pack('<2Q2IQ2IQI', 10 + ident, 0xffff800008000000, PID, PID, time, 0, 0, 1, len(raw)) +
                  raw)

def write(name, machine, calls):
    data, time = record(3, 0, struct.pack('<2I16s2IQ2IQ', PID, PID, b'task', PID, PID, BEGIN, 0, 0, 11)), BEGIN
    for number, argument, result in calls:
        data += event(1, time, '7Q', number, argument, 0, 0, 0, 0, 0) + event(2, time + MS, '2q', number, result)
        time += 2 * MS
    idents = [ident for ident, _ in EVENTS.values()]
    start = 104 + 128 * len(idents)
    attrs = b''.join(struct.pack('<2I5Q', TRACEPOINT, 112, ident, 1, FORM, 0, SAMPLE_ID_ALL).ljust(112, b'\0') +
                     struct.pack('<2Q', start + 8 * nr, 8) for nr, ident in enumerate(idents))
    attrs += b''.join(struct.pack('<Q', 10 + ident) for ident in idents)
    tracing, arch = tracing_data(), struct.pack('<I64s', 64, machine)
    at = 104 + len(attrs)
    end = at + len(data) + 32
    features = 1 << TRACING | 1 << ARCH
    head = b'PERFILE2' + struct.pack('<12Q', 104, 128, 104, start - 104, at, len(data), 0, 0, features, 0, 0, 0)
    table = struct.pack('<4Q', end, len(tracing), end + len(tracing), len(arch))
    open(name, 'wb').write(head + attrs + data + table + tracing + arch)

CALLS = [('read', 63, 5), ('write', 64, 7), ('openat', 56, 3), ('close', 57, 0), ('futex', 98, 0), ('execve', 221, -2)]
print('recorded on arm64:', ', '.join(name for name, _, _ in CALLS))
write('arm64.data', b'aarch64', [(number, 3, result) for _, number, result in CALLS])
write('x86.data', b'x86_64', [(62, int(sys.argv[1]), 0)])
END

export LC_ALL=C
{
	python3 make.py $$
	for file in arm64 x86; do
		perf report --header-only -i $file.data 2>/dev/null | sed -n "s/^# arch : /$file.data: /p"
		perf trace -i $file.data 2>&1 | sed -n '/task\/4/ { s/^.*task\/4 /  /; s/  *= */ = /; s/ $//; p }'
	done
	echo 'arm64.data, summary:'
	perf trace -s -i arm64.data 2>&1 | sed -n 's/^ *\([a-z0-9]*\)  *\([0-9]\) .*%.*/  \1 \2/p' | sort
} | sed "s/ $$ ($(cat /proc/$$/comm))/ PID (the name of this script)/" >seen
echo "# $(perf --version)"
cat seen
cat >expected <<'END'
recorded on arm64: read, write, openat, close, futex, execve
arm64.data: aarch64
  uname(name: 0x3) = 5
  semget(key: 3) = 7
  clone(clone_flags: 0x3) =
  fork() = 0
  getrusage(who: 3) = 0
  fadvise64(fd: 3) = -1 ENOENT (No such file or directory)
x86.data: x86_64
  kill(pid: PID (the name of this script)) = 0
arm64.data, summary:
  clone 1
  fadvise64 1
  fork 1
  getrusage 1
  semget 1
  uname 1
END
diff expected seen >differences || { cat differences; echo 'CHANGED: perf does not behave as described'; exit 1; }
echo 'as described'
