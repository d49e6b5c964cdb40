#!/usr/bin/env python3
"""Runs example programs, a list of them as in cute.txt, under `palladion exec --check all`: programs.py LIST FOLDER OUT [SECONDS].

FOLDER: where their files lie. OUT: a line of JSON each, as suites.py has them: a program that ends with 0 has passed. Operators
of PyTorch, with which examples make their inputs and references, are those of the host."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

PALLADION = os.environ.get("PALLADION", "palladion")
FINDING = re.compile(r"^(error|strict|unknown)\[(PLD\d+)\]: ([^\n]*)(?:(?:\n   =[^\n]*)*\n *--> ([^\n]*))?", re.M)
START = """import sys, runpy, palladion, palladion.torch
palladion.activate(arch=sys.argv[1])
palladion.torch.install()
sys.argv[:2] = []
sys.path.insert(0, __import__('os').path.dirname(sys.argv[0]))
runpy.run_path(sys.argv[0], run_name='__main__')"""


def run(words, folder, seconds):
    chip, *program = words
    command = [PALLADION, "exec", "--arch", chip, "--check", "all", "--", sys.executable, "-c", START, chip, *program]
    begin = time.monotonic()
    done = subprocess.run(["timeout", "-k", "5", str(seconds), *command], cwd=folder, capture_output=True, text=True, errors="replace",
                          env=os.environ | {"CUTE_DSL_LINEINFO": "1"})
    said = done.stdout + done.stderr
    found = [list(f) for f in sorted({tuple(f) for f in FINDING.findall(said.replace(str(folder) + "/", ""))})]
    late = done.returncode in (124, 137)
    wrong = late or done.returncode not in (0, 1) or "Traceback" in said or "Error" in done.stderr
    verdict = "too long" if late else "failed" if wrong or any(f[0] == "error" for f in found) else "passed"
    unsupported = re.findall(r"palladion exec: unsupported: (.*)", said)
    why = "" if verdict == "passed" else "; ".join(unsupported[:2]) or "\n".join(done.stderr.strip().splitlines()[-12:])[-600:]
    return [" ".join(words), verdict, round(time.monotonic() - begin, 1), why, found]


def main(programs, folder, out, seconds="120"):
    for line in pathlib.Path(programs).read_text().splitlines():
        if line.startswith("#"):
            continue
        result = json.dumps(run(shlex.split(line), pathlib.Path(folder).resolve(), int(seconds)))
        with open(out, "a") as lines:
            lines.write(result + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
