#!/usr/bin/env python3
"""Programs with one planted mistake each, in several frameworks, and their right twins, under `palladion exec`.

A mistake counts as found if a finding names a line that ends with `MISTAKE`; a twin counts as clean if it has
no error. The table goes to standard output, the exit code is 1 where a row is not as it should be."""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent


class Program:
    """A command for the broken or the right twin, and the file whose lines are marked."""

    def __init__(self, framework, kind, source, command):
        self.framework, self.kind, self.source, self.command = framework, kind, source, command

    def marked(self):
        return marked_lines(self.source, self.kind)


def marked_lines(source, kind):
    """Lines of the file, from 1, that end with `MISTAKE`, or with `MISTAKE KIND` where one file has many."""
    out = set()
    for number, line in enumerate(source.read_text().splitlines(), 1):
        found = re.search(r"(?://|#) MISTAKE\b\s*([\w-]*)\s*\\?$", line)
        if found and found[1] in ("", kind):
            out.add(number)
    return out


def cuda_programs(_):
    """CUDA C++ that nvcc compiles."""
    for source in sorted((HERE / "cuda").glob("*.cu")):
        grid, block = re.search(r"// grid (\d+), block (\d+)", source.read_text()).groups()

        def command(right, folder, source=source, grid=grid, block=block):
            program = folder / source.stem
            subprocess.run(
                ["nvcc", "-lineinfo", "-gencode", "arch=compute_90a,code=compute_90a", f'-DKERNEL="{source}"',
                 f"-DGRID={grid}", f"-DBLOCK={block}", *(["-DRIGHT"] if right else []),
                 HERE / "cuda_host.cu", "-o", program], check=True)
            return [program]

        yield Program("cuda", source.stem, source, command)


def python_programs(framework, python):
    """Kinds of a Python file: functions that it lists itself."""
    source = HERE / f"{framework}_kinds.py"
    listed = re.findall(r"^@kind\(\"([\w-]+)\"", source.read_text(), re.M)
    for name in listed:
        def command(right, _, name=name):
            return [python, source, name, "right" if right else "broken"]
        yield Program(framework, name, source, command)


def cupy_programs(python):
    """The kernels of `cuda`, as texts that CuPy gives to NVRTC."""
    for source in sorted((HERE / "cuda").glob("*.cu")):
        def command(right, _, source=source):
            return [python, HERE / "cupy_host.py", source, "right" if right else "broken"]
        yield Program("cupy", source.stem, source, command)


FRAMEWORKS = {
    "cuda": cuda_programs,
    "cupy": cupy_programs,
    "numba": lambda python: python_programs("numba", python),
    "triton": lambda python: python_programs("triton", python),
    "gluon": lambda python: python_programs("gluon", python),
    "pallas": lambda python: python_programs("pallas", python),
    "cute": lambda python: python_programs("cute", python),
}


def findings_of(palladion, command, limit):
    """(exit code, findings, what the program printed last)."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        words = [palladion, "exec", "--check", "all", "--json", report, "--", *command]
        ran = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            said = "".join(ran.communicate(timeout=limit))
        except subprocess.TimeoutExpired:  # exec reports what waits, then the program ends
            ran.terminate()
            said = "".join(ran.communicate())
        found = json.loads(report.read_text())["findings"] if report.exists() else []
        lines = [line for line in said.splitlines() if line.strip()]
        return ran.returncode, found, lines[-1] if lines else ""


def sites_in(finding, source):
    """Lines of the file that the finding names, its frames' too."""
    out = set()
    for site in finding.get("sites", []):
        places = [site.get("source") or {}, *site.get("frames", [])]
        for place in places:
            # CuPy gives NVRTC a text under a name of its own.
            name = pathlib.Path(str(place.get("file", ""))).name
            if name == source.name or name.endswith(".cubin.cu"):
                out.add(place.get("line"))
    return out


def judge(program, palladion, limit):
    """One row: how the broken twin was found, and whether the right one is clean."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.monotonic()
        code, found, last = findings_of(palladion, program.command(False, pathlib.Path(folder)), limit)
        seconds = time.monotonic() - start
        lines = set().union(*(sites_in(f, program.source) for f in found)) if found else set()
        codes = ",".join(dict.fromkeys(f["code"] for f in found)) or "none"
        where = "line" if lines & program.marked() else f"elsewhere {sorted(filter(None, lines))}" if found else last
        errors = any(f["severity"] == "error" for f in found)
        right_code, right, right_last = findings_of(palladion, program.command(True, pathlib.Path(folder)), limit)
        clean = right_code == 0 and all(f["severity"] == "strict" for f in right)
        why = ",".join(f"{f['severity']} {f['code']}" for f in right) or ("clean" if clean else right_last)
    good = clean and where == "line"
    return good, (program.framework, program.kind, codes, "error" if errors else "strict" if found else "-",
                  where, why, f"{seconds:.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--palladion", required=True, help="the program")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has the frameworks")
    parser.add_argument("--frameworks", default=",".join(FRAMEWORKS))
    parser.add_argument("--kinds", default="", help="a regular expression")
    parser.add_argument("--limit", type=float, default=120, help="seconds a run")
    options = parser.parse_args()
    rows, all_good = [], True
    print("| framework | mistake | findings | severity | at the marked line | right twin | seconds |")
    print("|---|---|---|---|---|---|---|")
    for framework in options.frameworks.split(","):
        for program in FRAMEWORKS[framework](options.python):
            if not re.search(options.kinds, program.kind):
                continue
            good, row = judge(program, options.palladion, options.limit)
            rows.append((framework, good))
            all_good &= good
            print("| " + " | ".join(row) + " |", flush=True)
    for framework in dict.fromkeys(name for name, _ in rows):
        mine = [good for name, good in rows if name == framework]
        print(f"\n{framework}: {sum(mine)} of {len(mine)}")
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
