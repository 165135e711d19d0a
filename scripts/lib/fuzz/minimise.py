#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
#
# minimise.py FUZZER SEED CASE MACHINE OUT FUZZ-DIFF...: remove pieces of a case of pmu-fuzz as long
# as the results of two drivers still differ.
#
# FUZZ-DIFF is a command that with --lists runs the case in both guests, once without each list of
# pieces. OUT is the directory of their output. Each round first tries the case without each single
# piece. It then removes those pieces one after the other without which the results still differed.
# Prints the remaining case in words, and the numbers of the removed pieces.

import subprocess
import sys

from results import cases, first_difference, kind

ROUNDS = 6


def run(command, out, lists):
    """The kind of the first difference without each of the lists, None where there is none"""
    words = [",".join(map(str, pieces)) or "none" for pieces in lists]
    subprocess.run([*command, "--lists", " ".join(words)], check=True)
    first, second = cases(f"{out}/builtin.gz"), cases(f"{out}/replace.gz")
    result = []
    for i in range(len(lists)):
        difference = first_difference(first[i], second[i])
        result.append(tuple(map(kind, difference)) if difference else None)
    return result


def main():
    fuzzer, seed, number, machine, out = sys.argv[1:6]
    command = sys.argv[6:]
    tell = [fuzzer, "--seed", seed, "--machine", machine]
    pieces = int(subprocess.run([*tell, "--pieces", number], check=True, capture_output=True).stdout)
    gone = []
    for _ in range(ROUNDS):
        left = [piece for piece in range(pieces) if piece not in gone]
        found = run(command, out, [gone] + [gone + [piece] for piece in left])
        wanted = found[0]
        if not wanted:
            print("the results of both drivers are the same", file=sys.stderr)
            return 1
        free = [piece for piece, difference in zip(left, found[1:]) if difference == wanted]
        if not free:
            break
        together = [gone + free[:i + 1] for i in range(len(free))]
        found = run(command, out, together)
        # The first entry differs, as seen before: the list is not empty.
        gone = [pieces for pieces, difference in zip(together, found) if difference == wanted][-1]
    without = ",".join(map(str, sorted(gone))) or "none"
    print(f"{wanted[0]} with the built-in driver, {wanted[1]} with corepmu")
    print(f"--seed {seed} --machine {machine} --without {without} --describe {number}")
    sys.stdout.flush()
    subprocess.run([*tell, "--without", without, "--describe", number], check=True)
    return 0


sys.exit(main())
