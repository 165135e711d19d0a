#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# fuzz-differences.py TABLE FUZZER SEED ARCH FIRST SECOND: compare what two drivers made of the same
# cases of pmu-fuzz. FIRST is the built-in driver's output, SECOND corepmu's, both may be compressed.
# A case counts once, by the first of its results that differ: what follows depends on it.
#
# TABLE says which differences there may be (tools/fuzz/differences.cfg); FUZZER is pmu-fuzz for
# this machine, which says what a case is. Prints each kind of difference with how often it was met
# and an example. The status is 0 when all are in the table, 1 when not, 2 when nothing was compared.

import configparser
import gzip
import re
import subprocess
import sys


def lines(path):
    """The output's lines, as bytes before a gzip header are not the fuzzer's."""
    with open(path, "rb") as file:
        data = file.read()
    at = data.find(b"\x1f\x8b\x08")
    if at >= 0:
        data = gzip.decompress(data[at:])
    return data.decode().replace("\r", "").splitlines()


def cases(path):
    result = {}
    for line in lines(path):
        words = line.split()
        if words and words[0].isdigit():
            result[int(words[0])] = words[1:]
        elif line.startswith("#"):
            print(f"{path.split('/')[-1]}: {line[2:]}")
    return result


def first_difference(first, second):
    for i in range(max(len(first), len(second))):
        a = first[i] if i < len(first) else "nothing"
        b = second[i] if i < len(second) else "nothing"
        if a != b:
            return a, b
    return None


def describe(fuzzer, seed, numbers):
    texts = {}
    for i in range(0, len(numbers), 500):
        out = subprocess.run([fuzzer, "--seed", seed, "--describe", *map(str, numbers[i:i + 500])],
                             check=True, capture_output=True, text=True).stdout
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


def plain(word):
    """A result without the number of its event."""
    what, _, value = word.partition(":")
    return re.sub(r"\d+$", "", what) + ":" + value


def value_of(word):
    value = word.partition(":")[2]
    return int(value) if value else 0


def config_of(event):
    found = re.search(r" config=(0x[0-9a-f]+)", event)
    return int(found.group(1), 16) if found else 0


def kind(word):
    """A result without what tells one event or count from another."""
    what, _, value = plain(word).partition(":")
    return f"{what}:{value}" if what == "open" or value in "01" else f"{what}:N"


class Table:
    def __init__(self, path, arch):
        self.rows = configparser.ConfigParser(interpolation=None, strict=True)
        with open(path, encoding="utf-8") as file:
            self.rows.read_file(file)
        self.names = [name for name in self.rows.sections()
                      if arch in self.rows[name].get("arches", arch).split()]

    def find(self, text, event, a, b):
        for name in self.names:
            row = self.rows[name]
            wanted = (("builtin", plain(a)), ("corepmu", plain(b)), ("event", event), ("case", text))
            if not all(re.search(row[key], value) for key, value in wanted if key in row):
                continue
            if "config" in row and not config_of(event) & int(row["config"], 0):
                continue
            if "more" in row and not 0 < value_of(a) - value_of(b) <= int(row["more"], 0):
                continue
            return name
        return None


def main():
    table, fuzzer, seed, arch, first, second = sys.argv[1:7]
    table = Table(table, arch)
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
    texts = describe(fuzzer, seed, list(differing))
    known, unknown = {}, {}
    for number, (a, b) in differing.items():
        text = texts[number]
        name = table.find(text, event_of(text, a if a != "nothing" else b), a, b)
        if name:
            known[name] = known.get(name, 0) + 1
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
