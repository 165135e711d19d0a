#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
ktap.py totals|failures|results FILE...
ktap.py kunit LOG

Judge KTAP, nested or not. FILEs hold the KTAP of suites, each between the lines "# suite: NAME" and
"# suite ended: NAME STATUS". The innermost results count; a "not ok" above them counts too if no
result below it failed. A broken rule of the format is one failure more, so that no result is lost
unnoticed. "not ok" is a failure with any directive.

totals    lines "passed N", "failed N", "skipped N" and "suites N", and "broken SUITE: WHY" for each
          broken rule
failures  each failed test below its suite, with the diagnostic lines before it, and the last lines of
          a suite that did not end
results   lines "passed|failed|skipped<tab>SUITE<tab>TEST"
kunit     the KTAP in the console log of a KUnit kernel, its broken rules and its totals; the status is
          0 if all is well
"""

import re
import sys

RESULT = re.compile(r"(not )?ok ([0-9]{1,9})(?: +(?:- )?(.*))?$")
LIKE_RESULT = re.compile(r"(not )?ok( |$)")
PLAN = re.compile(r"1\.\.([0-9]{1,9})\s*(# *SKIP.*)?$", re.I)
HEADER = re.compile(r"K?TAP version [0-9]+$")
DIRECTIVE = re.compile(r"# *(SKIP|TODO|XFAIL|TIMEOUT|ERROR)\b.*", re.I)
# KUnit counts the results of a parameterised test, which has no plan.
COUNTED = re.compile(r"# (.*): pass:[0-9]+ fail:[0-9]+ skip:[0-9]+ total:([0-9]{1,9})$")


class Block:
    """The results of one indentation below one test."""

    def __init__(self, indent):
        self.indent = indent
        self.name = ""
        self.planned = None
        self.begun = False
        self.nr = self.last = self.failed = 0


class Suite:
    """The KTAP of one suite: its results, and the rules that it breaks."""

    def __init__(self, name):
        self.name = name
        self.blocks = [Block(0)]
        # (passed, failed or skipped, name of the test, result line, diagnostic lines before it)
        self.results = []
        self.broken = []
        self.notes = []
        self.skipped = self.ended = False

    def path(self, name):
        return ": ".join([block.name for block in self.blocks if block.name] + [name])

    def count(self, result):
        return sum(entry[0] == result for entry in self.results)

    def enter(self, indent):
        """Return the block of an indentation. Blocks that are deeper had to have a result."""
        if self.blocks[-1].indent > indent:
            while self.blocks[-1].indent > indent:
                self.close_block()
            self.broken.append(self.path("a subtest has no result of its own"))
        if self.blocks[-1].indent < indent:
            self.blocks.append(Block(indent))
        return self.blocks[-1]

    def close_block(self, skipped=False):
        """End the innermost block, and return it."""
        block = self.blocks[-1]
        if block.planned not in (None, block.nr):
            self.broken.append(self.path(f"{block.planned} tests are planned, {block.nr} have a result"))
        elif not block.nr and not skipped:
            self.broken.append(self.path("no test ran"))
        return self.blocks.pop()

    def result(self, indent, line, ok, number, name):
        skip = ok and DIRECTIVE.search(name)
        skip = bool(skip) and skip[1].upper() == "SKIP"
        name = DIRECTIVE.sub("", name).strip()
        child = None
        while self.blocks[-1].indent > indent and self.blocks[-2].indent >= indent:
            if child:
                self.broken.append(self.path("a subtest has no result of its own"))
            child = self.close_block(skip)
        block = self.enter(indent)
        if number != block.last + 1:
            self.broken.append(self.path(f"test {number} follows test {block.last}"))
        block.begun = True
        block.last = number
        block.nr += 1
        if not ok:
            block.failed += 1
        if not child or not child.nr or (not ok and not child.failed):
            word = "skipped" if skip else "passed" if ok else "failed"
            self.results.append((word, self.path(name), line.strip(), self.notes))
        self.notes = []

    def read(self, line):
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        if match := RESULT.match(text):
            self.result(indent, line, not match[1], int(match[2]), match[3] or "")
        elif LIKE_RESULT.match(text):
            self.broken.append(f"a result has no number: {text}")
        elif match := PLAN.match(text):
            block = self.enter(indent)
            if block.planned is not None:
                self.broken.append(self.path("a second plan"))
            block.planned = int(match[1])
            block.begun = True
            self.skipped = self.skipped or bool(not indent and not block.planned and match[2])
        elif HEADER.match(text):
            block = self.enter(indent)
            if block.begun:
                self.broken.append(self.path("a second header: did the tests begin again?"))
            block.begun = True
        elif indent and text.startswith("# Subtest: "):
            block = self.enter(indent)
            if block.name:
                self.broken.append(self.path("another subtest begins before its result"))
            block.name = text[11:]
            block.begun = True
        elif text.startswith("Bail out!"):
            self.broken.append(text)
        else:
            match = COUNTED.match(text)
            block = self.blocks[-1]
            if match and block.indent > indent and match[1] == block.name and int(match[2]) != block.nr:
                self.broken.append(self.path(f"{block.nr} of {match[2]} results are here"))
            self.notes.append(line)

    def end(self, status):
        """End the suite. The status is what its program ended with, None if it did not end."""
        self.ended = status is not None
        self.enter(0)
        if self.blocks[0].planned is None:
            self.broken.append("no plan")
        self.close_block(self.skipped or self.blocks[0].planned is None)
        if not self.broken:
            if not self.ended:
                self.broken.append("the suite did not end")
            elif status != "0" and not self.count("failed"):
                self.broken.append(f"the suite ended with status {status}, but no test failed")


def lines_of(path):
    # A carriage return inside a line ends no line.
    with open(path, encoding="utf-8", errors="replace", newline="\n") as file:
        for line in file:
            yield line.rstrip("\r\n")


def suites_of(paths):
    """Return the suites of files; the first, without a name, has what is outside of suites."""
    outside = Suite("-")
    suites = [outside]
    suite = None
    for path in paths:
        for line in lines_of(path):
            if line.startswith("# suite: "):
                if suite:
                    suite.end(None)
                suite = Suite(line[9:])
                suites.append(suite)
            elif line.startswith("# suite ended: "):
                name, _, status = line[15:].rpartition(" ")
                if not suite or suite.name != name:
                    outside.broken.append(f"the suite {name} ends, but did not begin")
                else:
                    suite.end(status)
                    suite = None
            elif suite:
                suite.read(line)
            elif LIKE_RESULT.match(line):
                outside.broken.append(f"a result outside of suites: {line}")
    if suite:
        suite.end(None)
    return suites


def totals(suites):
    for suite in suites:
        for why in suite.broken:
            print(f"broken {suite.name}: {why}")
    for word in ("passed", "failed", "skipped"):
        nr = sum(suite.count(word) for suite in suites)
        if word == "failed":
            nr += sum(len(suite.broken) for suite in suites)
        elif word == "skipped":
            nr += sum(suite.skipped for suite in suites)
        print(word, nr)
    print("suites", len(suites) - 1)


def failures(suites):
    for suite in suites[1:]:
        failed = [entry for entry in suite.results if entry[0] == "failed"]
        if not failed and suite.ended:
            continue
        print("# suite:", suite.name)
        for _, name, line, notes in failed:
            print(*notes, line if line.endswith(name) else f"{line} ({name})", sep="\n")
        if not suite.ended:
            print(*suite.notes, sep="\n")


def results(suites):
    for suite in suites:
        for word, name, _, _ in suite.results:
            print(word, suite.name, name, sep="\t")


def kunit(path):
    suite = Suite("kunit")
    prefix = None
    for line in lines_of(path):
        if prefix is None:
            match = re.search(r"K?TAP version [0-9]+$", line)
            if not match:
                continue
            prefix = match.start()
        if re.search(r"reboot: (System halted|Power down|Restarting system)", line):
            break
        line = line[prefix:]
        print(line)
        suite.read(line)
    if prefix is None:
        suite.broken.append("no KTAP header: the kernel ran no test")
    suite.end("0")
    for why in suite.broken:
        print("# broken:", why)
    failed = suite.count("failed") + len(suite.broken)
    print(f"Testing complete. Ran {len(suite.results)} tests: passed: {suite.count('passed')}, "
          f"failed: {failed}, skipped: {suite.count('skipped')}")
    return bool(failed)


def main():
    modes = {"totals": totals, "failures": failures, "results": results, "kunit": kunit}
    if len(sys.argv) < 3 or sys.argv[1] not in modes:
        sys.exit(__doc__.strip())
    if sys.argv[1] == "kunit":
        return kunit(sys.argv[2])
    return modes[sys.argv[1]](suites_of(sys.argv[2:]))


if __name__ == "__main__":
    sys.exit(main())
