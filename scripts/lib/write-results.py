#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
write-results.py DIR <JOBS: write the results of jobs of scripts/check to DIR.ktap, and as JUnit to DIR.xml.

DIR has the output of each job in JOB.ktap and its messages in JOB.err. JOBS are lines
"JOB<tab>TITLE<tab>FAILURES<tab>SECONDS<tab>WHY". WHY is empty unless the job was not run. A job with
more failures than failed tests gets a failed test "the job ends well".
"""

import re
import sys
import xml.etree.ElementTree as xml

import ktap


def printable(text):
    return re.sub(r"[^\t\n -\ud7ff\ue000-\ufffd]", "?", text)


def tests_of(directory, job, failures):
    """Return (result, suite, test, details) of each test of a job."""
    suites = ktap.suites_of([f"{directory}/{job}.ktap"])
    tests = [(result, suite.name, name, "\n".join(notes) if result == "failed" else "")
             for suite in suites for result, name, _, notes in suite.results]
    tests += [("skipped", suite.name, "all tests", "") for suite in suites if suite.skipped]
    if failures > sum(test[0] == "failed" for test in tests):
        broken = [f"{suite.name}: {why}" for suite in suites for why in suite.broken]
        with open(f"{directory}/{job}.err", encoding="utf-8", errors="replace") as file:
            broken += file.read().split("\n")[-20:]
        tests.append(("failed", job, "the job ends well", "\n".join(broken)))
    return [tuple(printable(text) for text in test) for test in tests]


def write_ktap(file, jobs):
    print("KTAP version 1", f"1..{len(jobs)}", sep="\n", file=file)
    for nr, (_, title, _, why, tests) in enumerate(jobs, 1):
        failed = any(test[0] == "failed" for test in tests)
        if not why:
            print("    KTAP version 1", f"    # Subtest: {title}", f"    1..{len(tests)}", sep="\n", file=file)
        for test, (result, suite, name, details) in enumerate(tests, 1):
            for line in details.splitlines():
                print("   ", line if line.lstrip().startswith("#") else f"# {line}", file=file)
            print(f"    {'not ' * (result == 'failed')}ok {test} {suite}: {name}"
                  f"{' # SKIP' * (result == 'skipped')}", file=file)
        if why:
            print(f"# not run: {why}", file=file)
        print(f"{'not ' * (failed or bool(why))}ok {nr} {title}", file=file)


def write_junit(path, jobs):
    root = xml.Element("testsuites", name="corepmu")
    for job, title, seconds, why, tests in jobs:
        tests = tests or [("failed", job, "the job is run", why)]
        results = [test[0] for test in tests]
        suite = xml.SubElement(root, "testsuite", name=title, tests=str(len(tests)), time=seconds,
                               failures=str(results.count("failed")), skipped=str(results.count("skipped")))
        for result, of, name, details in tests:
            case = xml.SubElement(suite, "testcase", classname=f"{job}.{of}", name=name)
            if result == "failed":
                xml.SubElement(case, "failure", message=name).text = details
            elif result == "skipped":
                xml.SubElement(case, "skipped")
    xml.indent(root)
    xml.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    jobs = []
    for line in sys.stdin:
        job, title, failures, seconds, why = line.rstrip("\n").split("\t")
        jobs.append((job, title, seconds, why, [] if why else tests_of(sys.argv[1], job, int(failures))))
    with open(f"{sys.argv[1]}.ktap", "w", encoding="utf-8") as file:
        write_ktap(file, jobs)
    write_junit(f"{sys.argv[1]}.xml", jobs)


if __name__ == "__main__":
    main()
