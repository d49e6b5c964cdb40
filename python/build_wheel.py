#!/usr/bin/env python3
"""Makes the wheel of a build: `build_wheel.py BUILD FOLDER` prints its path. `./dev wheel` builds first.

Python's library alone is needed: what is packed is what `cmake --install` gives, stripped, below palladion/_installed, beside
the package. The tag states what the libraries need of a system: glibc 2.36 (`auditwheel show` agrees) and no version of Python,
for the library is opened by ctypes.
"""
import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

root = pathlib.Path(__file__).resolve().parent.parent
TAG = "py3-none-manylinux_2_36_x86_64"
MOST_BYTES = 40 << 20
# The headers that <palladion/program.h> includes, for kernels in C++; tl::expected is the only one of another.
HEADERS = ("isa", "frontend", "verify/arrays", "kernels/frame")
EXPECTED = pathlib.Path("/usr/include/tl/expected.hpp")

METADATA = """Metadata-Version: 2.1
Name: palladion
Version: {version}
Summary: CUDA kernels in a simulated Hopper or Blackwell GPU: run, check and time them without a GPU
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Description-Content-Type: text/markdown

{readme}"""
ENTRY_POINTS = """[console_scripts]
palladion = palladion.__main__:main

[pytest11]
palladion = palladion.pytest_plugin
"""
WHEEL = f"Wheel-Version: 1.0\nGenerator: palladion\nRoot-Is-Purelib: false\nTag: {TAG}\n"


def version():
    return re.search(r"project\(palladion VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text()).group(1)


def strip(path):
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return
    subprocess.run(["strip", "--strip-unneeded", str(path)], check=True)


def take_libraries(source, target):
    """A wheel has no links: a program is copied. A copy of a library would be a second device in a program, so its link
    becomes a library that needs its target."""
    shutil.copytree(source, target, symlinks=True)
    for link in [p for p in target.rglob("*") if p.is_symlink()]:
        needed = link.resolve().name
        link.unlink()
        if ".so" not in needed:
            shutil.copy2(link.parent / needed, link)
            continue
        subprocess.run(["g++", "-shared", "-nostdlib", "-x", "c++", "/dev/null", "-o", str(link), f"-Wl,-soname,{link.name}",
                        "-Wl,--no-as-needed", f"-L{link.parent}", f"-l:{needed}", "-Wl,-rpath,$ORIGIN"], check=True)


def take_installed(build, stage, target):
    """The program, the libraries that it and the package open, the headers for kernels in C++."""
    subprocess.run(["cmake", "--install", str(build), "--prefix", str(stage)], check=True, stdout=subprocess.DEVNULL)
    (target / "bin").mkdir(parents=True)
    shutil.copy2(stage / "bin" / "palladion", target / "bin" / "palladion")
    take_libraries(stage / "lib" / "palladion", target / "lib" / "palladion")
    shutil.copy2(next(stage.glob("lib/**/libpalladion_capture.so")), target / "lib" / "libpalladion_capture.so")
    for path in list(target.rglob("*")):
        if path.is_file():
            strip(path)
    include = target / "include" / "palladion"
    for folder in HEADERS:
        shutil.copytree(stage / "include" / "palladion" / folder, include / folder)
    shutil.copy2(stage / "include" / "palladion" / "program.h", include / "program.h")
    (target / "include" / "tl").mkdir()
    shutil.copy2(EXPECTED, target / "include" / "tl" / "expected.hpp")


def take_package(target):
    shutil.copytree(root / "python" / "palladion", target, ignore=shutil.ignore_patterns("__pycache__", "_installed"))


def write_info(folder, name):
    info = folder / f"{name}.dist-info"
    info.mkdir()
    readme = (root / "docs" / "howto" / "python.md").read_text()
    (info / "METADATA").write_text(METADATA.format(version=version(), readme=readme))
    (info / "WHEEL").write_text(WHEEL)
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    for notice in ("LICENSE", "NOTICE"):
        shutil.copy2(root / notice, info / notice)
    return info


def record_line(path, name):
    digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{path.stat().st_size}\n"


def pack(folder, info, wheel):
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    names = [p.relative_to(folder).as_posix() for p in files]
    record = f"{info.name}/RECORD"
    (info / "RECORD").write_text("".join(map(record_line, files, names)) + f"{record},,\n")
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, name in [*zip(files, names), (info / "RECORD", record)]:
            entry = zipfile.ZipInfo(name, date_time=(2020, 1, 1, 0, 0, 0))  # equal builds give equal wheels
            entry.external_attr = (0o100755 if path.stat().st_mode & 0o100 else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())


def main(build, out):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary) / "wheel"
        take_package(folder / "palladion")
        take_installed(pathlib.Path(build), pathlib.Path(temporary) / "stage", folder / "palladion" / "_installed")
        name = f"palladion-{version()}"
        wheel = out / f"{name}-{TAG}.whl"
        pack(folder, write_info(folder, name), wheel)
    if wheel.stat().st_size > MOST_BYTES:
        sys.exit(f"{wheel} has {wheel.stat().st_size >> 20} MiB, more than {MOST_BYTES >> 20}")
    print(wheel)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
