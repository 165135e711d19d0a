#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# lttng-cputop of LTTng-analyses 0.6.1 (Debian 12: python3-lttnganalyses 0.6.1-3) reports other CPU usage than the
# trace has, without a message:
#
# - A CPU that idles until its first context switch is busy until then. A CPU that runs a task in the last second of
#   ten has 100 %. The same second at the begin of the trace is 10 %.
# - A CPU without a switch is in no line, and the total does not count it. It may have idled, or have run one task all
#   the time.
# - The total of four CPUs that run tasks for 0.5 s, 1 s, 1 s and 0 s of ten is 70 %, not 6.25 %. The same report has
#   two tasks with 15 % and 10 % of one CPU.
#
# Cause: _process_sched_switch_per_cpu() of core/cputop.py begins a CPU's first run at the begin of the period, and does
# not ask whether the first switch comes from the idle task. CPUs are known from their switches alone.
#
# The script writes a trace of sched_switch in CTF 1.8, as lttng-modules does. It needs python3 3.11 and Debian 12's
# archive; no LTTng is needed.
# Status: 0 if the program behaves as described, 1 if not, 77 if it cannot be tested.
set -eu

for program in apt-get dpkg /usr/bin/python3.11; do
	command -v "$program" >/dev/null || { echo "SKIP: $program is missing; install it"; exit 77; }
done
[ "$(dpkg --print-architecture)" = amd64 ] || { echo 'SKIP: the architecture is not amd64'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
cd "$work"

mkdir debs
(cd debs && apt-get -qq download python3-lttnganalyses=0.6.1-3 python3-babeltrace=1.5.11-1+b2 \
	babeltrace=1.5.11-1+b2 libbabeltrace1=1.5.11-1+b2 libbabeltrace-ctf1 libglib2.0-0 libpcre2-8-0 libpopt0 libuuid1 \
	libdw1 libelf1 python3-pyparsing python3-progressbar) 2>apt.log || { echo "SKIP: $(tail -n 1 apt.log)"; exit 77; }
for deb in debs/*.deb; do
	dpkg -x "$deb" root
done

cat >make.py <<'END'
import os, struct
S, BEGIN = 10**9, 1000 * 10**9
NAMES = {0: b'swapper', 7: b'worker', 8: b'batch'}

def integer(size, more='signed = false;'):
    return f'integer {{ size = {size}; align = 8; {more} }}'

text, number = integer(8, 'signed = false; encoding = UTF8;'), integer(32, 'signed = true;')
metadata = f'''/* CTF 1.8 */
trace {{
	major = 1; minor = 8; byte_order = le;
	packet.header := struct {{ {integer(32)} magic; {integer(32)} stream_id; }};
}};
env {{
	hostname = "host"; domain = "kernel"; sysname = "Linux"; kernel_release = "6.1.0";
	tracer_name = "lttng-modules"; tracer_major = 2; tracer_minor = 13; tracer_patchlevel = 0;
}};
clock {{ name = "monotonic"; freq = 1000000000; offset = 0; }};
typealias {integer(64, 'signed = false; map = clock.monotonic.value;')} := stamp;
stream {{
	id = 0;
	packet.context := struct {{
		stamp timestamp_begin; stamp timestamp_end; {integer(64)} content_size; {integer(64)} packet_size;
		{integer(64)} events_discarded; {integer(32)} cpu_id;
	}};
	event.header := struct {{ {integer(16)} id; stamp timestamp; }};
}};
event {{
	name = "sched_switch"; id = 0; stream_id = 0;
	fields := struct {{
		{text} _prev_comm[16]; {number} _prev_tid; {number} _prev_prio; {integer(64)} _prev_state;
		{text} _next_comm[16]; {number} _next_tid; {number} _next_prio;
	}};
}};
'''
os.mkdir('trace')
with open('trace/metadata', 'w') as file:
    file.write(metadata)

def stream(cpu, *switches):
    """Write the switches (seconds, from, to) of a CPU in ten seconds."""
    events = b''.join(struct.pack('<HQ16s2iQ16s2i', 0, BEGIN + int(at * S), NAMES[old], old, 20, 0, NAMES[new], new, 20)
                      for at, old, new in switches)
    size = 8 * (8 + 44 + len(events))
    with open(f'trace/cpu{cpu}', 'wb') as file:
        file.write(struct.pack('<2I5QI', 0xc1fc1fc1, 0, BEGIN, BEGIN + 10 * S, size, size, 0, cpu) + events)

stream(0, (0, 0, 7), (1, 7, 0))
stream(1, (9, 0, 8), (10, 8, 0))
stream(2, (9.5, 0, 7), (10, 7, 0))
# CPU 3 idles: its stream has no event.
stream(3)
END
/usr/bin/python3.11 make.py
export LC_ALL=C.UTF-8 LD_LIBRARY_PATH="$work/root/usr/lib/x86_64-linux-gnu:$work/root/lib/x86_64-linux-gnu"
export PATH="$work/root/usr/bin:$PATH" PYTHONPATH="$work/root/usr/lib/python3/dist-packages" TZ=UTC
/usr/bin/python3.11 -c '
import sys
from lttnganalyses.cli import cputop
sys.argv = ["lttng-cputop", "--no-progress", "trace"]
cputop.run()' >report 2>log || { tail -n 1 log; echo 'SKIP: the program does not run here'; exit 77; }
sed -n 's/^.* \([0-9.]* %\)  *\([a-zC].* ([0-9]*)\|CPU [0-9]*\).*/\2: \1/p; /^Total/p' report >seen
echo '# LTTng-analyses 0.6.1'
cat seen
cat >expected <<'END'
worker (7): 15.00 %
batch (8): 10.00 %
swapper (0): 0.00 %
CPU 0: 10.00 %
CPU 1: 100.00 %
CPU 2: 100.00 %
Total CPU Usage: 70.00%
END
diff expected seen >/dev/null || { echo 'CHANGED: the program does not behave as described'; exit 1; }
echo 'as described'
