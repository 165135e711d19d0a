# SPDX-License-Identifier: GPL-2.0
"""Which counters of Intel's CPUs count which event: the table of the driver.

intel-counters.py generate NEW OLD NEWEST   print drivers/corepmu/x86/intel/constraints.c
intel-counters.py compare NEW OLD NEWEST    hold the table against the kernel's own constraints, and
                                            the events that the driver refuses against perf's

They are directories of Debian's linux-source-6.12, 6.1 and 7.x. The table is made of perf's
events, tools/perf/pmu-events/arch/x86: "Counter" of NEW's, with NEWEST's for what NEW knows but
a part of, and "CounterHTOff" of OLD's, which the later ones have no more. The kernel's
constraints, of arch/x86/events/intel/core.c, are what the table is compared with, not what it is
made of: where they allow less, one of the RESOLVED below says what is done. Perf has no events of
the CPUs before Nehalem: of these, FROM_KERNEL, the table is the kernel's constraints.

If perf's events allow fewer counters than the kernel, the table follows perf. Some of these limits
exist for PEBS only (load latency, PREC_DIST, store sampling). OCR is on counters 0 to 3 in 6.12 and
on all in 7.3: the table has 0 to 3. Cougar Cove and Darkmont share tables with Lion Cove and
Skymont, as in the kernel, and use the counters common to all. IDQ (0x79) of Coyote Cove, which the
list has on all counters, is on counters 0 to 3. Each unit mask of SERIALIZATION (0x75) of Arctic
Wolf is on one counter. Unnamed unit masks use the counters common to the event's named unit masks,
among 0 to 3; the kernel allows most of them anywhere. The driver rejects unnamed unit masks without
a common counter (0xcd of Golden Cove).
"""
import collections
import json
import pathlib
import re
import sys
import textwrap

PERF = "tools/perf/pmu-events/arch/x86"
CORE = "arch/x86/events/intel/core.c"
DRIVER = pathlib.Path(__file__).parents[2] / "drivers/corepmu/x86"

# Counters 0 to 3: for an event that is in no source
DEFAULT = 0xF

# SDM volume 3, "Pre-defined Architectural Performance Events": on every counter, unless
# the events of a microarchitecture say otherwise
ARCHITECTURAL = [0x003C, 0x00C0, 0x013C, 0x4F2E, 0x412E, 0x00C4, 0x00C5]

# A microarchitecture: the kernel's table, and perf's directories, with the kind of core if
# they have two kinds. If directories disagree, each is right for one of the CPUs: take the
# counters that both allow.
UARCHES = {
    "core": ("core", []),
    "core2": ("core2", []),
    "nehalem": ("nehalem", ["nehalemep", "nehalemex"]),
    "westmere": ("westmere", ["westmereep-dp", "westmereep-sp", "westmereex"]),
    "sandy_bridge": ("snb", ["sandybridge", "jaketown"]),
    "ivy_bridge": ("ivb", ["ivybridge", "ivytown"]),
    "haswell": ("hsw", ["haswell", "haswellx"]),
    "broadwell": ("bdw", ["broadwell", "broadwellde", "broadwellx"]),
    "skylake": ("skl", ["skylake", "skylakex", "cascadelakex"]),
    "ice_lake": ("icl", ["icelake", "icelakex", "rocketlake", "tigerlake"]),
    "golden_cove": ("glc", ["alderlake/cpu_core", "sapphirerapids", "emeraldrapids"]),
    "redwood_cove": ("glc", ["meteorlake/cpu_core", "graniterapids"]),
    "lion_cove": ("lnc", ["lunarlake/cpu_core", "arrowlake/cpu_core", "pantherlake/cpu_core"]),
    "coyote_cove": ("pnc", ["novalake/cpu_core"]),
    "panther_cove": ("pnc", ["novalake/cpu_core"]),
    "bonnell": ("gen", ["bonnell"]),
    "silvermont": ("slm", ["silvermont"]),
    "knights_landing": ("slm", ["knightslanding"]),
    "goldmont": ("slm", ["goldmont"]),
    "goldmont_plus": ("slm", ["goldmontplus"]),
    "tremont": ("slm", ["elkhartlake", "snowridgex"]),
    "gracemont": ("grt", ["alderlake/cpu_atom", "alderlaken"]),
    "crestmont": ("grt", ["meteorlake/cpu_atom", "sierraforest", "grandridge",
                          "arrowlake/cpu_lowpower"]),
    "skymont": ("skt", ["lunarlake/cpu_atom", "arrowlake/cpu_atom", "pantherlake/cpu_atom",
                        "clearwaterforest"]),
    "arctic_wolf": ("arw", ["novalake/cpu_atom"]),
}

# The family of all Intel CPUs from 1995 to 2025
P6 = 6

# Microarchitectures without perf's events: their models, all of family 6, from the switch of
# intel_pmu_init() in CORE and from arch/x86/include/asm/intel-family.h, and their number of
# counters
FROM_KERNEL = {"core": [0x0E], "core2": [0x0F, 0x16, 0x17, 0x1D]}
FROM_KERNEL_COUNTERS = 2

# Models that perf's mapfile.csv lacks. From 7.3 on, the switch lists INTEL_ATOM_AIRMONT_NP, 0x75,
# beside others of its microarchitecture. INTEL_BARTLETTLAKE, 0xD7, has Raptor Cove cores, as
# INTEL_EMERALDRAPIDS_X, whose events perf has: intel-family.h.
WITHOUT_EVENTS = {"silvermont": [0x75], "golden_cove": [0xD7]}

# NEW has only some events of Lion Cove and Skymont, 35 of 325 and 40 of 302, and none of Arrow
# Lake and later CPUs. NEWEST has the rest.
FROM_NEWEST = {"lion_cove", "crestmont", "skymont"}

# NEW has neither events nor constraints of these CPUs. NEWEST's list is the first, version 1.00,
# and lacks events that the kernel has constraints for. Where the kernel allows fewer counters, take
# those that both allow. An event that the list lacks may use those of counters 0 to 3 that the
# kernel allows.
NEWEST_ONLY = {"coyote_cove", "panther_cove", "arctic_wolf"}

# Microarchitectures without events of their own, whose constraints in the kernel are those of
# another: Diamond Rapids, which mapfile.csv lacks (INTEL_DIAMONDRAPIDS_X in
# arch/x86/include/asm/intel-family.h). The rows are those of the other microarchitecture, where
# its events agree with the kernel, or what both allow.
BORROWED = {"panther_cove": ("coyote_cove", [(19, 0x01)])}

# Decisions where the sources leave a doubt, and the reason: (event, unit mask or None for
# all) -> (counters, reason).
NOT_NAMED = "perf's events have no such name, the kernel allows less than the default"
RESOLVED = {
    "nehalem": {
        (0x48, None): (0x3, NOT_NAMED),
    },
    "sandy_bridge": {
        (0x48, None): (0x4, "the kernel has all of L1D_PEND_MISS on counter 2, perf's events "
                            "FB_FULL on any: what both have"),
    },
    "skylake": {
        (0xC0, 0x01): (0x2, "PREC_DIST is on counter 1; perf's events have TOTAL_CYCLES_PS, the "
                            "same code with a threshold, on 0, 2 and 3: nothing in common, the "
                            "kernel's counter"),
    },
    "golden_cove": {
        (0xCE, None): (0x1, NOT_NAMED),
    },
    "redwood_cove": {
        (0xCE, None): (0x1, NOT_NAMED),
    },
    "lion_cove": {
        (0xA3, 0x08): (0x4, NOT_NAMED),
        (0xA3, 0x0C): (0x4, NOT_NAMED),
    },
}


def mask(counters):
    """"0,1,2" -> 0x7"""
    return sum(1 << int(counter) for counter in counters.split(","))


def codes(event):
    """The event and unit mask of an event of perf's, as config has them: several for some, and
    none with a second unit mask, which is like one without a name."""
    umask = int(event.get("UMask", "0").split(",")[0], 16)
    if umask > 0xFF:
        return
    for code in event["EventCode"].split(","):
        yield umask << 8 | int(code, 16)


def read(tree, directory):
    """The events of one of perf's directories, of one kind of core where it has two."""
    directory, _, unit = directory.partition("/")
    for file in sorted((tree / PERF / directory).glob("*.json")):
        events = json.loads(file.read_text(encoding="utf-8"))
        # Leave out groups of metrics.
        for event in events if isinstance(events, list) else []:
            if "EventName" in event and event.get("Unit", "") == unit:
                yield event


def load(tree, directory):
    """Those that general-purpose counters count."""
    for event in read(tree, directory):
        if "EventCode" in event and re.fullmatch(r"[\d,]+", event.get("Counter", "")):
            yield event


class Uarch:
    """One microarchitecture: counters by code, and how many there are."""

    def __init__(self, trees, name):
        new, old, newest = trees
        self.name = name
        # Where they disagree, take the counters that both allow.
        self.trees = [new, newest] if name in FROM_NEWEST else [new]
        if name in NEWEST_ONLY:
            self.trees = [newest]
        self.kernel, self.directories = UARCHES[name]
        self.named = {}
        self.names = collections.defaultdict(set)
        self.conflicts = []
        self.events = {}
        if name in FROM_KERNEL:
            self.take(new)
            return
        for tree in self.trees:
            for directory in self.directories:
                self.add(tree, old, directory)
        self.all = 0
        for counters in self.named.values():
            self.all |= counters
        self.all = (1 << self.all.bit_length()) - 1
        if name in NEWEST_ONLY:
            self.keep(kernel_tables(newest)[self.kernel])
        self.resolve()

    def keep(self, rows):
        """Take what the kernel's constraints and the events have in common."""
        for code in list(self.named):
            self.named[code] &= kernel_lookup(rows, code, self.all)
        for first, last, bits, counters in rows:
            # Leave out fixed counters: the table has none.
            if not counters:
                continue
            if first != last or bits not in (0xFF, 0xFFFF):
                sys.exit(f"intel-counters.py: {self.kernel} in {CORE} has a constraint "
                         f"that is not on one event ({first:#x} to {last:#x}, mask {bits:#x}).")
            if bits == 0xFF:
                self.events[first] = counters
            elif first not in self.named:
                self.named[first] = counters & DEFAULT
        empty = [f"{code:#06x}" for code, counters in self.named.items() if not counters]
        if empty:
            sys.exit(f"intel-counters.py: {self.name}: perf's lists and the kernel share "
                     f"no counter for {' '.join(empty)}: add rows to RESOLVED.")

    def resolve(self):
        """Apply RESOLVED."""
        for (event, umask), (counters, _) in RESOLVED.get(self.name, {}).items():
            if umask is not None:
                self.named[umask << 8 | event] = counters
                continue
            self.events[event] = counters
            for code in [code for code in self.named if code & 0xFF == event]:
                self.named[code] &= counters

    def take(self, new):
        """Take the kernel's constraints: each is of an event, whatever its unit mask."""
        self.all = (1 << FROM_KERNEL_COUNTERS) - 1
        for first, last, bits, counters in kernel_tables(new)[self.kernel]:
            # Leave out fixed counters: the table has none.
            if not counters:
                continue
            if first != last or bits != 0xFF:
                sys.exit(f"intel-counters.py: {self.kernel} in {CORE} has a constraint "
                         f"that is not on one event ({first:#x} to {last:#x}, mask {bits:#x}).")
            self.events[first] = counters

    def add(self, new, old, directory):
        """Take the events of a directory, what they have in common with those there are."""
        without_ht = {}
        for event in load(old, directory):
            if "CounterHTOff" in event:
                for code in codes(event):
                    counters = mask(event["CounterHTOff"])
                    without_ht[code] = without_ht.get(code, counters) & counters
        events = list(load(new, directory))
        # An event for PEBS only may use the counters that support PEBS.
        plain = {code for event in events if event.get("PEBS") != "2" for code in codes(event)}
        here = {}
        for event in events:
            for code in codes(event):
                # Event 0 belongs to the fixed counters.
                if not code & 0xFF or (event.get("PEBS") == "2" and code in plain):
                    continue
                counters = mask(event["Counter"])
                counters |= without_ht.get(code, 0)
                self.names[code].add(event["EventName"])
                here.setdefault(code, []).append(counters)
        for code, sets in here.items():
            for counters in sets:
                common = self.named.get(code, counters) & counters
                if code in self.named and self.named[code] != counters:
                    self.conflicts.append((code, self.named[code], counters))
                self.named[code] = common

    def rest(self, event):
        """The counters for unit masks of an event that nobody names: those that all of the
        named ones have, and counters 0 to 3."""
        counters = DEFAULT & self.events.get(event, self.all)
        for code, those in self.named.items():
            if code & 0xFF == event and code not in ARCHITECTURAL:
                counters &= those
        return counters

    def lookup(self, code):
        """What the driver makes of the table."""
        if code in self.named:
            return self.named[code]
        if code in ARCHITECTURAL:
            return self.all
        return self.rest(code & 0xFF)

    def rows(self):
        """{counters: [codes]} and {counters: [events]}, of what differs from the default."""
        exact, rest = collections.defaultdict(list), collections.defaultdict(list)
        for event in range(1, 0x100):
            if self.rest(event) != DEFAULT & self.all:
                rest[self.rest(event)].append(event)
        for code, counters in sorted(self.named.items()):
            plain = self.all if code in ARCHITECTURAL else self.rest(code & 0xFF)
            if counters != plain:
                exact[counters].append(code)
        return exact, rest


def uarches(trees):
    """All of them."""
    return [Uarch(trees, name) for name in UARCHES]


# The kernel's constraints

def kernel_tables(new):
    """{name: [(first, last, mask of code, counters)]}, in the order of the kernel."""
    text = re.sub(r"/\*.*?\*/", "", (new / CORE).read_text(encoding="utf-8"), flags=re.S)
    tables = {}
    for name, body in re.findall(r"intel_(\w+)_event_constraints\[\][^=]*=\s*\{(.*?)\n\};", text,
                                 flags=re.S):
        rows = []
        for macro, args in re.findall(r"(\w+CONSTRAINT\w*)\(([^)]*)\)", body):
            args = [arg.strip() for arg in args.split(",")]
            if macro == "METRIC_EVENT_CONSTRAINT":
                continue
            value = [int(arg.rstrip("ULul"), 0) for arg in args]
            if macro == "FIXED_EVENT_CONSTRAINT":
                # Events with event number 0 use the fixed counter only; others may also
                # use general-purpose counters (use_fixed_pseudo_encoding()).
                counters = None if value[0] & 0xFF else 0
                rows.append((value[0], value[0], 0xFFFF, counters))
            elif macro in ("INTEL_EVENT_CONSTRAINT", "INTEL_EXCLEVT_CONSTRAINT"):
                rows.append((value[0], value[0], 0xFF, value[1]))
            elif macro == "INTEL_EVENT_CONSTRAINT_RANGE":
                rows.append((value[0], value[1], 0xFF, value[2]))
            elif macro == "INTEL_UEVENT_CONSTRAINT":
                rows.append((value[0], value[0], 0xFFFF, value[1]))
            elif macro == "INTEL_UBIT_EVENT_CONSTRAINT":
                rows.append((value[0], value[0], 0xFF | value[0], value[1]))
            else:
                sys.exit(f"intel-counters.py: {CORE} has the unknown macro {macro}: add it here.")
        tables[name] = rows
    return tables


def kernel_lookup(rows, code, everything):
    """The general-purpose counters that the kernel takes for a code."""
    for first, last, bits, counters in rows:
        if first <= code & bits <= last:
            return everything if counters is None else counters & everything
    return everything


def compare(trees):
    """Print each difference. The status is 1 if the table has a counter that the kernel has
    not, or decides what is not in doubt."""
    tables, bad = {tree: kernel_tables(tree) for tree in trees}, 0
    for uarch, tree in [(uarch, tree) for uarch in uarches(trees) for tree in uarch.trees]:
        rows, groups = tables[tree][uarch.kernel], collections.defaultdict(list)
        for code in (code for code in range(0x10000) if code & 0xFF):
            ours, theirs = uarch.lookup(code), kernel_lookup(rows, code, uarch.all)
            if ours != theirs:
                groups[ours & ~theirs == 0, code not in uarch.named, ours, theirs].append(code)
        print(f"{uarch.name}: of counters {uarch.all:#x}; intel_{uarch.kernel}_event_constraints, "
              f"{version(tree)}")
        for (narrower, unnamed, ours, theirs), those in sorted(groups.items()):
            which = " ".join(f"{code:#06x}" for code in those[:64])
            reason = "perf's events say so"
            if unnamed:
                which = f"unit masks without a name of {ranges({code & 0xFF for code in those})}"
                reason = "what the event's others have in common, or the default"
            if not narrower:
                reason = "NOT EXPLAINED"
                bad = 1
            print(f"  {ours:#x}, the kernel {theirs:#x}: {reason}")
            print(textwrap.fill(which, 96, initial_indent="    ", subsequent_indent="    "))
        for (event, umask), (counters, reason) in RESOLVED.get(uarch.name, {}).items():
            code = event | (umask or 0) << 8
            print(f"  resolved {code:#06x}{'' if umask else ' and all unit masks'}: {counters:#x}")
            print(textwrap.fill(reason, 96, initial_indent="    ", subsequent_indent="    "))
            if kernel_lookup(rows, code, uarch.all) & ~counters:
                print("    NOT EXPLAINED: the kernel allows more")
                bad = 1
    return compare_incomplete(trees[2]) | bad


# Events that need an extra register: the driver rejects those whose register it cannot set.

def incomplete_events():
    """{code: microarchitectures} of the driver's incomplete_events[], but for rows that look at
    features of the CPU, and of extra_reg_events[], which it does not refuse."""
    names, found = list(UARCHES), []
    for file, table in ("intel/core.c", "incomplete_events"), ("intel/extra-regs.c", "extra_reg_events"):
        text = (DRIVER / file).read_text(encoding="utf-8")
        words = {f"UARCH_{name.upper()}": i for i, name in enumerate(names)}
        words |= {"NR_UARCHES": len(names), "BIT": lambda bit: 1 << bit,
                  "GENMASK": lambda high, low: (2 << high) - (1 << low)}
        for name, value in re.findall(r"^#define (\w+)\s+(.*(?:BIT|GENMASK)\(.*UARCH.*)$", text,
                                      flags=re.M):
            words[name] = eval(value, words)  # pylint: disable=eval-used
        rows = collections.defaultdict(set)
        body = re.search(rf" {table}\[\] = {{\n(.*?)\n}};", text, flags=re.S)[1]
        for cells in re.findall(r"^\t\{ (.*) \},$", body, flags=re.M):
            code, uarches = cells.split(", ")[:2]
            if not code.startswith("0x"):
                code, uarches = uarches, code
            elif " 0, 0, " not in cells:
                continue
            uarches = eval(uarches, words)  # pylint: disable=eval-used
            rows[int(code, 16)] |= {name for i, name in enumerate(names) if uarches >> i & 1}
        found.append(rows)
    return found


def compare_incomplete(newest):
    """Print each event that is refused though perf's events name no extra register for it
    (MSRIndex), and each that has one and is counted without. The status is 1 if there is one."""
    incomplete, second = incomplete_events()
    bad = 0
    for name, (_, directories) in UARCHES.items():
        registers = collections.defaultdict(set)
        for event in (event for directory in directories for event in read(newest, directory)):
            for code in codes(event) if "EventCode" in event else []:
                registers[code].add(event.get("MSRIndex", "0").strip("0x,") != "")
        for code, has in sorted(registers.items()):
            refused = name in incomplete[code] and name not in second[code]
            if refused and True not in has:
                print(f"{name}: {code:#06x} is refused and has no MSRIndex: NOT EXPLAINED")
                bad = 1
            if True in has and name not in incomplete[code] | second[code]:
                print(f"{name}: {code:#06x} has an MSRIndex and no row: NOT EXPLAINED")
                bad = 1
    return bad


def ranges(values):
    """[1, 2, 3, 7] -> "01-03 07" """
    text, values = [], sorted(values)
    while values:
        first = last = values.pop(0)
        while values and values[0] == last + 1:
            last = values.pop(0)
        text.append(f"{first:02x}" if first == last else f"{first:02x}-{last:02x}")
    return " ".join(text)


# The table

HEAD = """\
// SPDX-License-Identifier: GPL-2.0
/*
 * corepmu: x86: which counters of Intel's CPUs count which event
 *
 * scripts/generate/intel-counters makes this file: edit scripts/lib/intel-counters.py instead.
 * struct intel_uarch describes the tables. Sources: perf's event lists
 * (tools/perf/pmu-events/arch/x86) of {new} and {old}, from Lunar Lake on of
 * {newest}. perf has no lists for Core and Core 2: for these the source is the kernel's
 * constraints (arch/x86/events/intel/core.c).
 */
#include <linux/kernel.h>
#include <linux/types.h>

#include "intel.h"
"""


def version(tree):
    """"Linux 6.12.117" """
    text = (tree / "Makefile").read_text(encoding="utf-8")
    return "Linux " + ".".join(re.search(rf"^{key} = (\d+)$", text, flags=re.M)[1]
                               for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))


def print_codes(uarch, what, rows, width):
    """Arrays of codes, one for each set of counters, and the array of them."""
    for counters, those in sorted(rows.items()):
        text = " ".join(f"{code:#0{width}x}," for code in those)
        print(f"\nstatic const u16 {uarch}_{what}_{counters:x}[] = {{")
        print(textwrap.fill(text, 92, initial_indent="\t", subsequent_indent="\t"))
        print("};")
    if rows:
        print(f"\nstatic const struct intel_codes {uarch}_{what}[] = {{")
        for counters in sorted(rows):
            name = f"{uarch}_{what}_{counters:x}"
            print(f"\t{{ {counters:#x}, ARRAY_SIZE({name}), {name} }},")
        print("};")


def models(newest):
    """(family, model, kind of core, microarchitecture) of each CPU in perf's mapfile.csv, and
    of those that are not there."""
    for name, numbers in (FROM_KERNEL | WITHOUT_EVENTS).items():
        for model in numbers:
            yield P6, model, "", name
    for name, (_, numbers) in BORROWED.items():
        for family, model in numbers:
            yield family, model, "", name
    where = {}
    for name, (_, directories) in UARCHES.items():
        for directory in directories if name not in BORROWED else []:
            where.setdefault(directory.partition("/")[0], []).append(
                (directory.partition("/")[2], name))
    for line in (newest / PERF / "mapfile.csv").read_text(encoding="utf-8").splitlines()[1:]:
        cpu, _, directory, _ = line.split(",")
        maker, family = cpu.split("-")[:2]
        if maker != "GenuineIntel" or directory not in where:
            continue
        # Ignore steppings: the only division by stepping separates CPUs of one
        # microarchitecture.
        pattern = re.compile("-".join(cpu.split("-")[:3]))
        for model in range(0x100):
            if pattern.fullmatch(f"{maker}-{family}-{model:X}"):
                for unit, name in where[directory]:
                    yield int(family), model, unit, name


def generate(trees):
    """Print the table."""
    new, old, newest = trees
    print(HEAD.format(new=version(new), old=version(old), newest=version(newest)), end="")
    everything = uarches(trees)
    for uarch in everything:
        if uarch.name in BORROWED:
            continue
        exact, rest = uarch.rows()
        print_codes(uarch.name, "codes", exact, 6)
        print_codes(uarch.name, "rest", rest, 4)
    print("\nconst struct intel_uarch intel_uarches[] = {")
    for uarch in everything:
        exact, rest = uarch.rows()
        print(f"\t[UARCH_{uarch.name.upper()}] = {{")
        print(f'\t\t.name = "{uarch.name}",')
        for what, rows in ("codes", exact), ("rest", rest):
            if rows:
                name = f"{BORROWED.get(uarch.name, [uarch.name])[0]}_{what}"
                print(f"\t\t.{what} = {name},")
                print(f"\t\t.nr_{what} = ARRAY_SIZE({name}),")
        print("\t},")
    print("};\n\nconst struct intel_model intel_models[] = {")
    kinds = {"": "0", "cpu_core": "INTEL_CORE", "cpu_atom": "INTEL_ATOM",
             "cpu_lowpower": "INTEL_LOWPOWER"}
    for family, model, unit, name in sorted(set(models(newest))):
        print(f"\t{{ {family}, {model:#04x}, {kinds[unit]}, UARCH_{name.upper()} }},")
    print("};\n\nconst unsigned int intel_nr_models = ARRAY_SIZE(intel_models);")


def main():
    """The command line."""
    if len(sys.argv) != 5 or sys.argv[1] not in ("generate", "compare"):
        sys.exit(__doc__)
    trees = [pathlib.Path(arg) for arg in sys.argv[2:]]
    if sys.argv[1] == "compare":
        sys.exit(compare(trees))
    generate(trees)


if __name__ == "__main__":
    main()
