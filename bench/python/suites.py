#!/usr/bin/env python3
"""Runs the tests of other makers' Python packages, unmodified, under `palladion exec --check all`.

    suites.py run OUT SUITE... [--sources DIR] [--jobs N] [--most K] [--seconds S] [--only REGEX] [--arch CHIP] [--gpu]

The Python that runs this script has the packages; OUT: a folder for results, SUITE.jsonl, to which a later run adds. DIR has
the sources of suites that no package has, by the names in SUITES. `--most`: so many cases of each test function at most,
spread evenly. `--gpu`: on the machine's GPU, without palladion, for comparison.

A process of pytest takes some tests of one file; a test that crashes it or outlasts its seconds ends the process, and the next
takes the rest. Faults of kernels end their own test (python/palladion/pytest_plugin.py)."""
import argparse
import collections
import concurrent.futures
import glob
import importlib.util
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
PALLADION = os.environ.get("PALLADION", "palladion")
A_PROCESS = 40  # tests: their start costs less than they do
START_SECONDS = 120  # of a process, beyond its tests


def installed(package):
    found = importlib.util.find_spec(package)
    return pathlib.Path(found.submodule_search_locations[0] if found else package)


JAX = {"SUITES_PATHS": "jax._src={root}/jax/_src:jax._src.pallas={root}/jax/_src/pallas", "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_FLAGS": "--xla_gpu_autotune_level=0"}


# Where the files of a suite lie, their patterns, and what its own continuous integration sets.
SUITES = {
    "triton": (lambda s: s / "triton", ["python/test/unit/language/test_*.py", "python/test/unit/runtime/test_*.py"], {}),
    "triton-cuda": (lambda s: s / "triton", ["python/test/unit/cuda/test_*.py"], {"PYTEST_ADDOPTS": "--import-mode=importlib"}),
    "gluon": (lambda s: s / "triton", ["python/test/gluon/test_*.py", "python/examples/gluon/*.py",
                                       "python/tutorials/gluon/*.py"], {}),
    "pallas": (lambda s: s / "jax", [f"tests/pallas/{name}_test.py" for name in (
        "triton_pallas", "mosaic_gpu", "pallas", "ops", "gpu_*", "mgpu_*", "pallas_vmap", "indexing")], JAX),
    "jax": (lambda s: s / "jax", [f"tests/{name}_test.py" for name in (
        "lax", "lax_autodiff", "lax_control_flow", "lax_vmap", "lax_vmap_op", "nn", "image", "fft", "linalg", "random_lax", "stax",
        "lax_numpy_reducers", "lax_numpy_indexing", "scipy_signal")], JAX),
    "cupy": (lambda s: s / "cupy", ["tests/cupy_tests/core_tests/**/test_*.py", "tests/cupy_tests/cuda_tests/**/test_*.py"], {}),
    "cupy-sparse": (lambda s: s / "cupy", ["tests/cupyx_tests/scipy_tests/sparse_tests/test_*.py"], {}),
    "numba-cuda": (lambda s: installed("numba_cuda").parent, [f"numba_cuda/numba/cuda/tests/{f}/test_*.py" for f in (
        "cudadrv", "cudapy", "nocuda")], {"PYTEST_ADDOPTS": "-c /dev/null -o consider_namespace_packages=true -p conftest",
                                          "PYTHONPATH": "{sources}/numba-cuda/testing"}),
    "warp": (lambda s: installed("warp") / "tests", ["**/test_*.py"], {"PYTEST_ADDOPTS": "-o python_functions=none"}),  # of unittest
    "liger": (lambda s: s / "liger", ["test/transformers/test_*.py"], {}),
    "flaggems": (lambda s: s / "flaggems", ["tests/test_*.py"], {"GEMS_VENDOR": "nvidia", "PYTHONPATH": "{sources}/flaggems/src"}),
    "tilelang": (lambda s: s / "tilelang", [f"testing/python/{f}/test_*.py" for f in ("language", "kernel", "issue")], {
        "NVCC_APPEND_FLAGS": "-lineinfo", "PYTHONPATH": "{sources}/tilelang"}),  # its tests import its examples
}


class Process:
    """pytest over some tests of one file, started where the file's suite starts it."""

    def __init__(self, options, suite):
        root, _, self.variables = SUITES[suite]
        self.options, self.root = options, root(options.sources).resolve()  # as pytest names tests

    def start(self, arguments, out):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "kept", "--rootdir", str(self.root), *arguments]
        if not self.options.gpu:
            plugin = ["-p", "palladion.pytest_plugin", "--palladion", "--palladion-torch", "--palladion-arch", self.options.arch]
            threads = max(1, (os.cpu_count() or 1) // self.options.jobs)
            command = [PALLADION, "exec", "--arch", self.options.arch, "--check", "all", "--threads", str(threads), "--", *command, *plugin]
        own = {name: value.format(root=self.root, sources=self.options.sources) for name, value in self.variables.items()}
        paths = [str(HERE), own.pop("PYTHONPATH", ""), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | own | {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "SUITES_OUT": str(out),
            "SUITES_SECONDS": str(self.options.seconds)}
        return subprocess.Popen(command, cwd=self.root, env=environment, stdin=subprocess.DEVNULL, stdout=open(f"{out}.said", "w"),
                                stderr=subprocess.STDOUT, start_new_session=True)

    def run(self, arguments, most_seconds):
        """The lines that it has written, its exit code and the last of what it said."""
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "lines"
            process = self.start(arguments, out)
            try:
                code = process.wait(timeout=most_seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                code = process.wait()
            lines = [json.loads(line) for line in out.open()] if out.exists() else []
            said = pathlib.Path(f"{out}.said").read_text(errors="replace")
            trace = pathlib.Path(f"{out}.trace")
            return lines, code, said, trace.read_text(errors="replace") if trace.exists() else ""


def function_of(test):
    return re.sub(r"\[.*", "", test)


def spread(tests, most):
    """At most so many cases of each function, evenly over them; in the order of the tests."""
    cases = collections.defaultdict(list)
    for test in tests:
        cases[function_of(test)].append(test)
    kept = {c[i * len(c) // min(most, len(c))] for c in cases.values() for i in range(min(most, len(c)))}
    return [test for test in tests if test in kept]


def collect(process, options, suite):
    """The names of tests, and results of files that cannot be imported."""
    if options.like:
        return [line[0] for line in results_of(options.like / f"{suite}.jsonl") if "::" in line[0]], []
    files = [f for pattern in SUITES[suite][1] for f in sorted(glob.glob(str(process.root / pattern), recursive=True)) if re.search(options.files, f)]
    if not files:
        print(f"{suite}: no tests in {process.root}", file=sys.stderr)
        return [], []
    lines, code, said, _ = process.run(["--collect-only", *files], START_SECONDS + 20 * len(files))
    if not lines and code not in (0, 5):
        print(f"{suite}: its tests cannot be collected: {said[-2000:]}", file=sys.stderr)
    tests = [line[0] for line in lines if len(line) == 1 and re.search(options.only, line[0])]
    return spread(tests, options.most), [line for line in lines if len(line) > 1]


def run_some(process, options, tests, keep, deadline):
    """Each test ends in one process: passed, failed, skipped, or with its process: crashed, too long."""
    while tests and time.monotonic() < deadline:
        most = START_SECONDS + options.seconds * 4 + 10 * len(tests)
        lines, code, said, trace = process.run(tests, min(most, deadline - time.monotonic()))
        ended = {line[0] for line in lines if len(line) > 1}
        for line in lines:
            if len(line) > 1:
                keep(line)
        if time.monotonic() >= deadline:
            return
        begun = [line[0] for line in lines if len(line) == 1 and line[0] not in ended]
        for test in begun[-1:]:
            late = "Timeout" in trace or code == -9
            keep([test, "too long" if late else "crashed", options.seconds if late else 0, (trace if late else said)[-600:], []])
            ended.add(test)
        rest = [test for test in tests if test not in ended]
        if len(rest) == len(tests):
            named = [test for test in rest if f"not found: {process.root / test.split('[')[0]}" in said]  # the others may run
            for test in named or rest:
                keep([test, "failed", 0, "the process had no result: " + said[-400:], []])
            rest = [test for test in rest if named and test not in named]
        tests = rest


def keeper(results):
    """Writes lines of results."""
    lock = threading.Lock()

    def keep(line):
        with lock, results.open("a") as kept:
            kept.write(json.dumps(line) + "\n")

    return keep


def results_of(path):
    return [json.loads(line) for line in path.open()] if path.exists() else []


def chunks_of(suite, options):
    """Tests that have no result yet, by processes: some tests of one file."""
    process, results = Process(options, suite), options.out / f"{suite}.jsonl"
    keep, done = keeper(results), {line[0] for line in results_of(results)}
    tests, failures = collect(process, options, suite)
    for line in failures:
        if line[0] not in done:
            keep(line)
    tests = [test for test in tests if test not in done]
    for _, some in itertools.groupby(tests, lambda test: test.split("::")[0]):
        some = list(some)
        yield from ((process, some[i:i + A_PROCESS], keep) for i in range(0, len(some), A_PROCESS))


def run(options):
    """All suites at once: each has its share of the time."""
    deadline = time.monotonic() + options.minutes * 60
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        chunks = pool.map(lambda suite: list(chunks_of(suite, options)), options.suites)
        turns = [chunk for turn in itertools.zip_longest(*chunks) for chunk in turn if chunk]

        def some(chunk):
            if time.monotonic() < deadline:
                run_some(chunk[0], options, chunk[1], chunk[2], deadline)

        list(pool.map(some, turns))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["run"])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("suites", nargs="*", choices=list(SUITES))
    parser.add_argument("--sources", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--most", type=int, default=10**9)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--minutes", type=float, default=10**6, help="for all of them")
    parser.add_argument("--only", default="")
    parser.add_argument("--files", default="")
    parser.add_argument("--arch", default="h200", help="the simulated chip")
    parser.add_argument("--like", type=pathlib.Path, help="the tests that have results in this folder")
    parser.add_argument("--gpu", action="store_true")
    options = parser.parse_args()
    options.sources, options.out = options.sources.absolute(), options.out.absolute()
    options.out.mkdir(parents=True, exist_ok=True)
    run(options)


if __name__ == "__main__":
    main()
