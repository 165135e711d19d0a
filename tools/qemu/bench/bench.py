#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# bench.py --arch ARCH --qemu QEMU --kernel IMAGE --guest PROGRAM [--runs N]
#          [--cpus N] [--states STATE,...] [--update FILE] PLUGIN...
#
# Print what a PMU plugin costs: the CPU time of QEMU for fixed work of a guest, by state of the PMU,
# relative to QEMU without a plugin and otherwise the same. One CPU has -icount; several have a thread
# each, and all do the work. PROGRAM is guest.c, built for ARCH. With several PLUGINs, each has a
# table; one of them can be an earlier build. The table of the last one also replaces the text of
# FILE between the lines "<!-- bench ARCH N -->" and "<!-- end -->".
#
# Each run boots one guest without a plugin and one for each PLUGIN. A figure is the minimum of all
# runs: other load of the machine only adds to it.
import argparse
import os
import subprocess
import sys
import tempfile
import textwrap
import time

MACHINES = {
    "x86_64": {
        "qemu": ["-M", "q35,hpet=off", "-cpu", "Icelake-Server-v4,level=0x15,-erms,-fsrm"],
        "options": "model=icelake",
        "words": "console=ttyS0 pti=off no_timer_check",
    },
    "arm64": {
        "qemu": ["-M", "virt", "-cpu", "max,pauth-impdef=on"],
        "options": "brbe=32",
        "words": "console=ttyAMA0",
    },
}

# States of guest.c, each with the goal: the maximum of a plugin's ratio
STATES = {
    "idle": ("loaded, no event", 1.03),
    "three": ("instructions, cycles, branches", 1.10),
    "misses": ("the same and branch-misses", 1.30),
    "closed": ("all events closed again", 1.05),
    "records": ("branch records, 32 deep", 2.00),
    "precise": ("PEBS, period 10,000", 1.40),
}

# The same for several CPUs
SMP_LIMIT = 1.50


def write_initrd(path, program):
    """Write a cpio archive (newc) whose /init is the program."""
    with open(program, "rb") as f:
        content = f.read()
    with open(path, "wb") as f:
        for ino, name, mode, data in ((1, "init", 0o100755, content), (0, "TRAILER!!!", 0, b"")):
            name = name.encode() + b"\0"
            fields = (ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
            head = b"070701" + b"".join(b"%08X" % field for field in fields) + name
            f.write(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))


def cpu_time(pid):
    """Return the CPU time of a process in seconds; the number is clock_getcpuclockid(3)'s."""
    return time.clock_gettime(~pid << 3 | 2)


def run_guest(args, initrd, plugin):
    """Boot a guest and return the CPU time of each (state, work)."""
    machine = MACHINES[args.arch]
    words = machine["words"] + " quiet panic=-1 nokaslr norandmaps nmi_watchdog=0"
    if plugin:
        words += " states=" + ",".join(args.states)
    command = [args.qemu, *machine["qemu"], "-nodefaults", "-display", "none", "-nic", "none",
               "-no-reboot", "-m", "1G", "-kernel", args.kernel, "-initrd", initrd,
               "-rtc", "base=2024-01-01,clock=vm", "-seed", "1", "-smp", str(args.cpus),
               "-serial", "stdio", "-append", words]
    if args.cpus == 1:
        command += ["-icount", "shift=0,sleep=off"]
    if plugin:
        command += ["-plugin", f"{plugin},{machine['options']}"]
    times, output, begun = {}, [], 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as qemu:
        for line in qemu.stdout:
            now = cpu_time(qemu.pid)
            word = line.decode(errors="replace").split()
            output.append(line)
            if word[:1] == ["begin"]:
                begun = now
            elif word[:1] == ["end"]:
                times[word[1], word[2]] = now - begun
            if word[:1] in (["begin"], ["end"]):
                qemu.stdin.write(b"\n")
                qemu.stdin.flush()
            elif word[:1] == ["done"]:
                qemu.kill()
                return times
    sys.stderr.buffer.writelines(output[-20:])
    sys.exit("bench: the guest ended before its work did")


def table(args, plain, times):
    """Return the CPU times without a plugin in seconds, and with one relative to these."""
    works = [work for _, work in plain]
    wide = max(len(text) for text, _ in STATES.values())
    rows = [f"{'':{wide}}" + "".join(f" {work:>7}" for work in works) + "     goal",
            f"{'no plugin, seconds':{wide}}" +
            "".join(f" {plain['plain', work]:>7.2f}" for work in works)]
    for state, (text, limit) in STATES.items():
        if (state, works[0]) in times:
            rows.append(f"{text:{wide}}" +
                        "".join(f" {times[state, work] / plain['plain', work]:>7.2f}"
                                for work in works) +
                        f"  {limit if args.cpus == 1 else SMP_LIMIT:>7.2f}")
    return "\n".join(rows) + "\n"


def find_table(args):
    """Return the text of a file up to a table, and from its end on; None if the table is not there."""
    head = f"<!-- bench {args.arch} {args.cpus} -->\n"
    with open(args.update, encoding="utf-8") as f:
        before, _, rest = f.read().partition(head)
    _, end, after = rest.partition("<!-- end -->")
    return (before + head, end + after) if end else None


def update(args, text):
    """Replace a table in a file."""
    before, after = find_table(args)
    with open(args.update, "w", encoding="utf-8") as f:
        f.write(before + "\n" + textwrap.indent(text, "    ") + "\n" + after)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch", choices=MACHINES, required=True)
    parser.add_argument("--qemu", required=True)
    parser.add_argument("--kernel", required=True)
    parser.add_argument("--guest", required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cpus", type=int, default=1)
    parser.add_argument("--update", metavar="FILE")
    parser.add_argument("--states", type=lambda names: names.split(","), default=[*STATES])
    parser.add_argument("plugins", nargs="+", metavar="PLUGIN")
    args = parser.parse_args()
    if args.update and not find_table(args):
        sys.exit(f"bench: {args.update} has no lines <!-- bench {args.arch} {args.cpus} --> and <!-- end -->")

    times = {}
    with tempfile.TemporaryDirectory() as directory:
        initrd = os.path.join(directory, "initrd")
        write_initrd(initrd, args.guest)
        for _ in range(args.runs):
            for plugin in (None, *args.plugins):
                best = times.setdefault(plugin, {})
                for key, seconds in run_guest(args, initrd, plugin).items():
                    best[key] = min(seconds, best.get(key, seconds))
    for plugin in args.plugins:
        if len(args.plugins) > 1:
            print(plugin)
        print(table(args, times[None], times[plugin]), end="")
    if args.update:
        update(args, table(args, times[None], times[args.plugins[-1]]))


main()
