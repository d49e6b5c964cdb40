"""Where the program, its libraries and its headers are."""
from __future__ import annotations

import dataclasses
import os
import pathlib
from typing import Iterator

__version__ = "0.1.0"


@dataclasses.dataclass(frozen=True)
class Home:
    """The parts of an installation, or of a build folder."""

    program: pathlib.Path
    library: pathlib.Path
    """libpalladion_python.so, which this package opens"""
    driver: pathlib.Path
    """the folder of libcuda.so.1 and its companions"""


def _places() -> Iterator[Home]:
    here = pathlib.Path(__file__).resolve().parent
    named = os.environ.get("PALLADION_HOME")
    for root in [pathlib.Path(named)] if named else [here / "_installed", here.parents[1] / "build"]:
        for lib in (root / "lib" / "palladion", root):
            program = root / "bin" / "palladion" if lib != root else root / "palladion"
            yield Home(program, lib / "libpalladion_python.so", lib / "exec")


def home() -> Home:
    """The installation within the package, else the build folder of the checkout; PALLADION_HOME names another one."""
    places = list(_places())
    for place in places:
        if place.library.exists():
            return place
    raise ImportError("palladion's library is not there; tried " + ", ".join(str(p.library) for p in places))
