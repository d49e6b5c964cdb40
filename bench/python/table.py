#!/usr/bin/env python3
"""Every test of suites.py's results, compact: table.py OUT [GPU] > results.tsv; a summary goes to stderr.

A line of a suite and a file, then one for each of its tests: verdict here and on the GPU (p passed, s skipped, f failed, t too
long, c crashed, - not run), seconds, name, codes of errors."""
import collections
import json
import pathlib
import sys

LETTERS = {"passed": "p", "skipped": "s", "failed": "f", "too long": "t", "crashed": "c"}


def results_of(path):
    """The last result of each test."""
    lines = [json.loads(line) for line in path.open()] if path.exists() else []
    return {line[0]: line for line in lines}


def write_suite(suite, ours, gpu):
    last = None
    for test in sorted(ours):
        file, _, name = test.rpartition("::") if "::" in test else (test, "", "(the file)")
        if file != last:
            print(f"\t{suite}\t{file}")
        last = file
        _, verdict, seconds, _, findings = ours[test]
        codes = ",".join(sorted({f[1] for f in findings if f[0] == "error"}))
        print(f"{LETTERS[verdict]}{LETTERS[gpu[test][1]] if test in gpu else '-'}\t{seconds:g}\t{name}\t{codes}")


def main(out, gpu=None):
    print("# suite, file; then its tests: verdict here and on a GPU, seconds, name, codes of errors (table.py)")
    for path in sorted(pathlib.Path(out).glob("*.jsonl")):
        ours, theirs = results_of(path), results_of(pathlib.Path(gpu) / path.name) if gpu else {}
        write_suite(path.stem, ours, theirs)
        both = [test for test in ours if test in theirs]
        equal = sum(ours[test][1] == theirs[test][1] for test in both)
        print(path.stem, len(ours), dict(collections.Counter(r[1] for r in ours.values())), "compared", len(both), "equal", equal,
              file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
