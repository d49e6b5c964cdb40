"""The pages' blocks that need Python: each command is run beside the pages' files, its output is what the page shows."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

root = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted((root / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```console needs=python(?: exit=(\d+))?\n(.*?)^```", re.M | re.S)


def commands():
    for page in PAGES:
        for code, text in BLOCK.findall(page.read_text()):
            for command in re.split(r"^\$ ", text, flags=re.M)[1:]:
                line, _, output = command.partition("\n")
                yield pytest.param(line, output, int(code or 0), id=f"{page.name}: {line}")


def pattern(output):
    """`...` stands for any text, a line of it for any lines."""
    lines = [r"(?:.*\n)*?" if line == "..." else re.escape(line).replace(r"\.\.\.", ".*") + "\n" for line in output.splitlines()]
    return "".join(lines)


@pytest.mark.parametrize("line, output, code", list(commands()))
def test_a_command_does_what_the_page_shows(line, output, code, tmp_path):
    if line.startswith("pip "):
        pytest.skip("test_wheel.py installs the package")
    pytest.importorskip("triton")
    words = line.split()
    for module, word in (("torch", "torch"), ("jax_cuda13_plugin", "jax")):
        if word in line:
            pytest.importorskip(module)
    folder = tmp_path / "work"
    shutil.copytree(root / "docs" / "howto" / "python", folder)
    start = {"python": [sys.executable, "-W", "ignore"],
             "pytest": [sys.executable, "-m", "pytest", "-W", "ignore", "-p", "no:cacheprovider", "-p", "palladion.pytest_plugin"]}
    done = subprocess.run(start[words[0]] + words[1:], capture_output=True, text=True, cwd=folder, env=dict(
        os.environ, TRITON_CACHE_DIR=str(tmp_path / "triton"), PYTHONPATH=f"{root / 'python'}:{os.environ.get('PYTHONPATH', '')}"))
    assert done.returncode == code, done.stdout + done.stderr
    assert re.fullmatch(pattern(output), done.stdout), done.stdout


def test_the_pages_have_such_blocks():
    assert len(list(commands())) >= 4
