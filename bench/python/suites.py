#!/usr/bin/env python3
"""Runs the tests of other makers' Python packages, unmodified, under `palladion exec --check all`.

    suites.py run OUT SUITE...    with the Python that runs this script, which has the packages; OUT: a folder for results
    suites.py table OUT           the table of results, as Markdown

Each file of tests is one process with a time limit. A test that fails there runs once more, alone: a fault of a kernel
stays with its process, as on a GPU, and fails what follows."""
import collections
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

SECONDS_OF_A_FILE, SECONDS_OF_A_TEST = 240, 120
PALLADION = os.environ.get("PALLADION", "palladion")
FINDING = re.compile(r"error\[(PLD\d+)\]")
UNSUPPORTED = re.compile(r"palladion exec: unsupported: (.*)")


def modules(package, within, pattern):
    """The names of modules of tests; a Python package says itself where they lie."""
    base = pathlib.Path(importlib.util.find_spec(package).submodule_search_locations[0])
    return [".".join([within, *path.relative_to(base).with_suffix("").parts]) for path in sorted(base.glob(pattern))]


SUITES = {  # the package, its tests; those of unittest are modules, those of pytest are files
    "numba-cuda": ("numba-cuda", lambda: [m.replace("numba_cuda.numba.", "numba.") for m in modules(
        "numba_cuda", "numba_cuda", "numba/cuda/tests/cud*/test_*.py")]),
    "warp": ("warp-lang", lambda: modules("warp", "warp", "tests/**/test_*.py")),
    "cupy": ("cupy-cuda13x", lambda: [str(f) for f in sorted(
        pathlib.Path(os.environ["CUPY_TESTS"]).glob("c*_tests/*/test_*.py"))]),
}


class Kept(unittest.TestResult):
    """Writes each result when it is there: a process that is ended leaves those before."""

    def __init__(self, out):
        super().__init__()
        self.out = out

    def keep(self, test, verdict, why=""):
        why = re.sub(r"[^\s\"]*/site-packages/", "", why)  # where the packages lie on this machine
        with open(self.out, "a") as out:
            out.write(json.dumps([test.id(), verdict, why[-300:]]) + "\n")

    def addSuccess(self, test):
        self.keep(test, "passed")

    def addSkip(self, test, reason):
        self.keep(test, "skipped", reason)

    def addExpectedFailure(self, test, err):
        self.keep(test, "passed")

    def addFailure(self, test, err):
        self.keep(test, "failed", self._exc_info_to_string(err, test))

    addError = addFailure

    def addUnexpectedSuccess(self, test):
        self.keep(test, "failed", "an expected failure did not come")

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.keep(test, "failed", self._exc_info_to_string(err, test))


def unittests(out, name):
    unittest.defaultTestLoader.loadTestsFromName(name).run(Kept(out))


class Kept_by_pytest:
    def __init__(self, out):
        self.out = out

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.outcome != "passed":
            with open(self.out, "a") as out:
                out.write(json.dumps([report.nodeid, report.outcome, str(report.longrepr or "")[-300:]]) + "\n")


def pytests(out, name):
    import pytest
    pytest.main(["-q", "-p", "no:cacheprovider", name], plugins=[Kept_by_pytest(out)])


def run(name, out, seconds):
    """The result of each test by its name, the findings and what was not supported."""
    results = out / "results"
    results.unlink(missing_ok=True)
    command = [PALLADION, "exec", "--check", "all", "--", sys.executable, __file__, "test", str(results), name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=seconds, cwd=out)
        said, late = done.stdout + done.stderr, False
    except subprocess.TimeoutExpired as stopped:
        said, late = "\n".join((p or b"").decode(errors="replace") for p in (stopped.stdout, stopped.stderr)), True
    tests = {}
    if results.exists():
        for test, verdict, why in map(json.loads, results.open()):
            if tests.get(test, ["passed"])[0] != "failed":
                tests[test] = [verdict, why]
    if late or not tests:
        tests["(the rest)"] = ["too long" if late else "failed", said[-300:]]
    return tests, collections.Counter(FINDING.findall(said)), sorted(set(UNSUPPORTED.findall(said))), said


def run_file(name, out):
    tests, findings, unsupported, _ = run(name, out, SECONDS_OF_A_FILE)
    for test in [t for t, (verdict, _) in tests.items() if verdict == "failed" and t != "(the rest)"]:
        alone, *_ = run(test, out, SECONDS_OF_A_TEST)
        tests[test] = alone.get(test) or alone["(the rest)"]
    return {"file": name, "tests": tests, "findings": findings, "unsupported": unsupported}


def run_suite(suite, out):
    package, files = SUITES[suite]
    results = out / f"{suite}.jsonl"
    seen = {json.loads(line)["file"] for line in results.open()} if results.exists() else set()
    for path in files():
        if str(path) in seen:
            continue
        with results.open("a") as kept:
            kept.write(json.dumps(run_file(path, out) | {"version": importlib.metadata.version(package)}) + "\n")


def table(out):
    for results in sorted(out.glob("*.jsonl")):
        files = [json.loads(line) for line in results.open()]
        total = collections.Counter(t[0] for f in files for t in f["tests"].values())
        print(f"\n## {results.stem} {files[0]['version']}\n")
        print(", ".join(f"{n} {verdict}" for verdict, n in total.most_common()), "\n")
        print("| file | passed | skipped | failed | findings | not there |\n|---|---:|---:|---:|---|---|")
        for f in files:
            n = collections.Counter(t[0] for t in f["tests"].values())
            findings = ", ".join(f"{code} {k}" for code, k in f["findings"].items())
            print(f"| {pathlib.Path(f['file']).name} | {n['passed']} | {n['skipped']} | {n['failed'] + n['too long']} | "
                  f"{findings} | {'; '.join(u[:60] for u in f['unsupported'][:2])} |")
        for f in files:
            for name, test in f["tests"].items():
                if test[0] in ("failed", "too long"):
                    print(f"- `{pathlib.Path(f['file']).name}` {name}: {test[0]}: {' '.join(test[1].split())[:160]}")


if __name__ == "__main__":
    verb, place, *suites = sys.argv[1:]
    if verb == "test":
        (pytests if ".py" in suites[0] else unittests)(place, suites[0])
        os._exit(0)
    place = pathlib.Path(place).absolute()
    place.mkdir(parents=True, exist_ok=True)
    if verb == "table":
        table(place)
    for suite in suites:
        run_suite(suite, place)
