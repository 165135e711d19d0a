# SPDX-License-Identifier: GPL-2.0
#
# The output of pmu-fuzz, for differences.py and minimise.py.

import gzip
import re


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
        elif re.match(r"# \d+ cases", line):
            print(f"{path.split('/')[-1]}: {line[2:]}")
    return result


def first_difference(first, second):
    for i in range(max(len(first), len(second))):
        a = first[i] if i < len(first) else "nothing"
        b = second[i] if i < len(second) else "nothing"
        if a != b:
            return a, b
    return None


def plain(word):
    """A result without the number of its event."""
    what, _, value = word.partition(":")
    return re.sub(r"\d+$", "", what) + ":" + value


def kind(word):
    """A result without what tells one event or count from another."""
    what, _, value = plain(word).partition(":")
    return f"{what}:{value}" if what == "open" or value in "01" else f"{what}:N"
