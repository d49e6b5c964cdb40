#!/usr/bin/env python3
"""Runs the tests of the Python package with the first Python that has NumPy and pytest.

  run.py [--home FOLDER] [pytest's arguments]

FOLDER is a build folder or an installation. PLD_TEST_PYTHON names a Python, for example of a virtual environment with PyTorch
and Triton. Exit code 77: there is none, nothing was tested.
"""
import os
import pathlib
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent


def has(python, *modules):
    try:
        return subprocess.run([python, "-c", "import " + ", ".join(modules)], capture_output=True).returncode == 0
    except OSError:
        return False


def main(words):
    candidates = [p for p in (os.environ.get("PLD_TEST_PYTHON"), sys.executable, "/usr/bin/python3") if p]
    python = next((p for p in candidates if has(p, "numpy", "pytest")), None)
    if python is None:
        print("*** no Python with NumPy and pytest (Debian: python3-numpy, python3-pytest): "
              "the tests of the Python package are SKIPPED and prove nothing ***")
        return 77
    for module in ("torch", "triton"):
        if not has(python, module):
            print(f"*** {python} has no {module}: its tests are SKIPPED and prove nothing (PLD_TEST_PYTHON names another) ***")
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
    if words[:1] == ["--home"]:
        environment["PALLADION_HOME"] = str(pathlib.Path(words[1]).resolve())
        words = words[2:]
    return subprocess.run([python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", str(here), *words],
                          env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
