# SPDX-License-Identifier: GPL-2.0
"""The project's tables, "[stanza]" and "key = value" lines, for programs in Python."""

import configparser
import functools
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
GUESTS = "tools/testing/guests.cfg"
TESTS = "tools/testing/tests.map"
# All suites but corepmu_assign, which takes the longest
MOST_KUNIT = "corepmu_?[!s]*"


@functools.cache
def table(path):
    """Read the table at path, a name from the top of the project."""
    rows = configparser.ConfigParser(interpolation=None, delimiters="=", comment_prefixes="#",
                                     empty_lines_in_values=False)
    rows.optionxform = str
    if (TOP / path).exists():
        words = ["awk", "-f", TOP / "scripts/lib/table.awk", TOP / path]
        rows.read_string(subprocess.run(words, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout)
    # "like = OTHER" adds the keys that a row lacks: of OTHER, then of the row that OTHER is like.
    for name, row in rows.items():
        seen = [name]
        while "like" in row:
            seen.append(row.pop("like"))
            if seen[-1] in seen[:-1]:
                sys.exit(f"{path}: 'like' makes a circle: {' -> '.join(seen)}.")
            if seen[-1] not in rows:
                sys.exit(f"{path}: {name} is like {seen[-1]}, which is not there.")
            for key, value in rows[seen[-1]].items():
                row.setdefault(key, value)
    return rows


def default_kernel():
    return next(name for name, row in table("scripts/tables/kernels.cfg").items()
                if row.get("default"))


def kunit_suites(path):
    """Return the names of the KUnit suites that the source path defines."""
    return re.findall(r'TEST(?:BED)?_SUITE\(\w+, "(corepmu\w*)"', path.read_text())


def known_tests(file, key):
    """Return [(name, times)] of the tests of file in tests.map, the likeliest first."""
    words = table(TESTS)[file].get(key, "").split() if table(TESTS).has_section(file) else []
    return [(name, int(times)) for name, _, times in (word.rpartition("=") for word in words)]
