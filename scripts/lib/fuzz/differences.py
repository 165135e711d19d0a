#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# differences.py TABLE FUZZER SEED ARCH MACHINE CPU KERNEL FIRST SECOND [ROW]: compare the
# results of two drivers for the same cases of pmu-fuzz. FIRST is the output of the built-in driver,
# SECOND that of corepmu; both may be compressed. A case counts once, by its first result that
# differs: the later ones depend on it.
#
# TABLE lists the differences that ARCH, CPU and KERNEL may have (tools/fuzz/diff/differences.cfg).
# FUZZER is pmu-fuzz for this machine, which describes a case on MACHINE (intel, amd, arm64) in words.
# Prints each kind of difference with its number of cases and an example, and all cases of ROW. The
# status is 0 if all are in the table, 1 if not, 2 if nothing was compared.

import configparser
import re
import subprocess
import sys

from results import cases, first_difference, kind, plain


def describe(fuzzer, machine, seed, numbers):
    texts = {}
    for i in range(0, len(numbers), 500):
        out = subprocess.run([fuzzer, "--machine", machine, "--seed", seed, "--describe",
                              *map(str, numbers[i:i + 500])], check=True, capture_output=True, text=True).stdout
        for line in out.splitlines():
            number, text = line.split(" ", 1)
            texts[int(number)] = text
    return texts


def event_of(text, word):
    """What the case says of the event that a result is about."""
    number = re.search(r"(\d+):", word)
    if not number:
        return text
    found = re.search(r"\[" + number.group(1) + r" ([^]]*)\]", text)
    return found.group(1) if found else text


def value_of(word):
    value = word.partition(":")[2]
    return int(value) if value else 0


def number_of(event, member):
    found = re.search(f" {member}=(0x[0-9a-f]+)", event)
    return int(found.group(1), 16) if found else 0


class Table:
    def __init__(self, path, arch, cpu, kernel):
        self.rows = configparser.ConfigParser(interpolation=None, strict=True)
        with open(path, encoding="utf-8") as file:
            self.rows.read_file(file)
        self.names = [name for name in self.rows.sections()
                      if arch in self.rows[name].get("arches", arch).split() and
                      re.search(self.rows[name].get("cpu", ""), cpu) and
                      re.search(self.rows[name].get("kernel", ""), kernel)]

    def find(self, text, event, a, b):
        for name in self.names:
            row = self.rows[name]
            wanted = (("builtin", plain(a)), ("corepmu", plain(b)), ("event", event), ("case", text))
            if not all(re.search(row[key], value) for key, value in wanted if key in row):
                continue
            if not all(number_of(event, member) & int(row[member], 0)
                       for member in ("config", "config1", "branches") if member in row):
                continue
            if "more" in row and not 0 < value_of(a) - value_of(b) <= int(row["more"], 0):
                continue
            return name
        return None


def main():
    table, fuzzer, seed, arch, machine, cpu, kernel, first, second = sys.argv[1:10]
    show = sys.argv[10] if len(sys.argv) > 10 else None
    table = Table(table, arch, cpu, kernel)
    first, second = cases(first), cases(second)
    both = sorted(first.keys() & second.keys())
    if not both:
        print("nothing to compare")
        return 2
    differing = {}
    for number in both:
        difference = first_difference(first[number], second[number])
        if difference:
            differing[number] = difference
    texts = describe(fuzzer, machine, seed, list(differing))
    known, unknown = {}, {}
    for number, (a, b) in differing.items():
        text = texts[number]
        name = table.find(text, event_of(text, a if a != "nothing" else b), a, b)
        if name:
            known[name] = known.get(name, 0) + 1
            if show == name:
                print(f"case {number}: {a} {b}: {text}")
        else:
            unknown.setdefault((kind(a), kind(b)), []).append((number, a, b, text))
    for name in table.names:
        print(f"{known.get(name, 0):7} {name}")
    for (a, b), found in sorted(unknown.items(), key=lambda item: -len(item[1])):
        print(f"{len(found):7} NOT EXPLAINED: {a} with the built-in driver, {b} with corepmu")
        for number, result_a, result_b, text in found[:4]:
            print(f"        case {number}: {result_a} {result_b}: {text}")
    missing = len(first.keys() ^ second.keys())
    explained = sum(known.values())
    print(f"{len(both)} cases compared, {len(both) - len(differing)} the same, {explained} explained, "
          f"{len(differing) - explained} not explained, {missing} not run by both")
    return 1 if missing or len(differing) > explained else 0


sys.exit(main())
