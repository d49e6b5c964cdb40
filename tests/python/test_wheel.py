"""The wheel: built of this build, installed into a clean virtual environment, used there."""
import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

root = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("PALLADION_HOME", root / "build"))

PROGRAM = """
import palladion
result = palladion.run('''.version 8.0
.target sm_90
.address_size 64
.visible .entry nothing() { ret; }
''', grid=2, block=32)
assert result.ok and "_installed" in str(palladion._home.home().library)
print(result)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if not (BUILD / "cmake_install.cmake").exists():
        pytest.skip("no build folder: PALLADION_HOME names an installation")
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run([sys.executable, root / "python" / "build_wheel.py", BUILD, folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return pathlib.Path(done.stdout.strip())


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    folder = tmp_path_factory.mktemp("environment") / "venv"
    made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no virtual environments (Debian: python3-venv): {made.stdout}")
    pip = [folder / "bin" / "python", "-m", "pip", "install", "-q", "--no-index", "--no-deps", wheel]
    done = subprocess.run(pip, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


def run(*words, folder="/"):
    clean = {name: value for name, value in os.environ.items() if name not in ("PALLADION_HOME", "PYTHONPATH")}
    return subprocess.run(words, capture_output=True, text=True, env=clean, cwd=folder)


def test_it_is_small_and_holds_no_debug_sections(wheel):
    assert wheel.stat().st_size < 40 << 20
    assert wheel.name.endswith("-py3-none-manylinux_2_36_x86_64.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert "palladion/py.typed" in names and not any("__pycache__" in name for name in names)
        assert b".debug_info" not in archive.read("palladion/_installed/lib/palladion/libpalladion_python.so")


def test_the_package_works_there(environment):
    done = run(environment / "bin" / "python", "-c", PROGRAM)
    assert done.returncode == 0, done.stderr
    assert "clean" in done.stdout


def test_the_program_works_there(environment, tmp_path):
    program = environment / "bin" / "palladion"
    done = run(program, "check", "zoo/async-store-no-proxy-fence")
    assert done.returncode == 1 and "PLD4309" in done.stderr
    made = run(program, "new", "mine", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    done = run(program, "run", tmp_path / "mine" / "mine.cpp")  # with the headers of the wheel
    assert done.returncode == 0, done.stdout + done.stderr
    done = run(program, "exec", "--", "/bin/true")
    assert "launched no kernel" in done.stderr


def test_two_wheels_of_a_build_are_equal(wheel, tmp_path):
    again = subprocess.run([sys.executable, root / "python" / "build_wheel.py", BUILD, tmp_path], capture_output=True, text=True)
    assert pathlib.Path(again.stdout.strip()).read_bytes() == wheel.read_bytes()
