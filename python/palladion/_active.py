"""The simulated GPU under the CUDA programs of this process, such as PyTorch and Triton."""
from __future__ import annotations

import ctypes
import json
import os
import pathlib
import re
from typing import Any, Dict, List, Optional, Tuple

from . import _bench
from ._errors import Error
from ._home import home
from ._result import Finding, finding_of

_DRIVER = "libcuda.so.1"


class _Active:
    """The driver that this process has loaded, and what it was asked for."""

    def __init__(self, driver: ctypes.CDLL, settings: Dict[str, str]) -> None:
        self.driver, self.settings = driver, settings
        for name in ("findings", "launches", "host_view"):
            getattr(driver, "palladion_exec_" + name).restype = ctypes.c_void_p
        driver.palladion_exec_host_view.argtypes = [ctypes.c_uint64, ctypes.c_size_t, ctypes.c_int]

    def text(self, name: str) -> List[Dict[str, Any]]:
        """The JSON of one of its functions, which is the C library's to free."""
        address = getattr(self.driver, "palladion_exec_" + name)()
        text: List[Dict[str, Any]] = json.loads(ctypes.string_at(address))
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        free(address)
        return text


_active: Optional[_Active] = None


def activate(arch: str = "h200", check: str = "all", schedule: str = "functional", schedules: "int | str" = 1,
             threads: int = 0, max_instructions: int = 1 << 30, fmad: bool = True, quiet: bool = False) -> None:
    """Puts a simulated GPU under this process: what uses CUDA from now on runs in it, checked.

    Call it before PyTorch or another user of CUDA is imported: they find our libraries then, as under `palladion exec`,
    within which it attaches to that one's. `check`, `schedule`, `threads`, `max_instructions`, `fmad`: as of `run`, for each
    launch. `schedules`: how many each launch is judged under, or "all". `quiet`: findings are not printed when they are
    found; `findings()` has them in any case. Called again it may change `schedule` and `quiet` alone.

    Raises Error where another libcuda was loaded before, or other settings are active.
    """
    global _active
    settings = dict(arch=arch, check=check, schedules=str(schedules), threads=str(threads), max=str(max_instructions),
                    fmad=str(int(fmad)))
    if _active is None:
        loaded = _loaded_driver()
        _active = _attach(loaded) if loaded is not None else _load(dict(settings, schedule=schedule))
    elif _active.settings != settings and _active.settings:
        changed = [name for name, value in settings.items() if _active.settings.get(name) != value]
        raise Error(f"palladion is active with other settings of {', '.join(changed)}: this process keeps them")
    if not _active.settings:
        _active.settings = settings
    set_schedule(schedule)
    _bench.by_one_launch()
    _active.driver.palladion_exec_listen(int(quiet))


def attach() -> bool:
    """To `palladion exec` around this process, with the settings that it was given. False: there is none."""
    global _active
    if _active is None and "PALLADION_EXEC" in os.environ:
        loaded = _loaded_driver()
        _active = _attach(loaded) if loaded is not None else None
        _bench.by_one_launch()
    return _active is not None


def set_schedule(name: str) -> None:
    """Of launches from now on."""
    if _needed().driver.palladion_exec_schedule(name.encode()) != 0:
        raise Error(f"there is no schedule {name!r}: functional, hardware, seeded:N, latest, earliest")


def wait() -> None:
    """Until all that was asked of the device is over, or has failed."""
    _needed().driver.cuCtxSynchronize()


def end_launches() -> None:
    """Launches that wait for ever end, as deadlocks, and one that another thread runs ends where it is."""
    _needed().driver.palladion_exec_end_launches()


def _loaded_driver() -> Optional[pathlib.Path]:
    """The libcuda.so.1 of this process, or of `palladion exec` around it; None: there is none yet."""
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        match = re.search(r"(/.*/libcuda\.so[.\d]*)$", line)
        if match:
            return pathlib.Path(match.group(1))
    under_exec = re.search(r"report=(\d+)", os.environ.get("PALLADION_EXEC", ""))
    return pathlib.Path(_DRIVER) if under_exec else None  # which the search path of exec finds


def _attach(path: pathlib.Path) -> _Active:
    driver = ctypes.CDLL(str(path))
    if not hasattr(driver, "palladion_exec_listen"):
        raise Error(f"{path} is loaded already: call palladion.activate() before importing what uses CUDA, "
                    "or run `palladion exec -- python ...`")
    return _Active(driver, {})


def _load(settings: Dict[str, str]) -> _Active:
    folder = home().driver
    if not (folder / _DRIVER).exists():
        raise Error(f"{folder} has no {_DRIVER}: this build has no exec")
    words = ";".join(f"{name}={value}" for name, value in settings.items())
    os.environ["PALLADION_EXEC"] = f"v1;{words};report=-1"
    # Who looks for libraries by itself: processes of this one, Triton's launcher.
    before = os.environ.get("LD_LIBRARY_PATH")
    os.environ["LD_LIBRARY_PATH"] = f"{folder}:{before}" if before else str(folder)
    os.environ["TRITON_LIBCUDA_PATH"] = str(folder)
    driver = ctypes.CDLL(str(folder / _DRIVER), mode=ctypes.RTLD_GLOBAL)
    for library in sorted(folder.glob("lib*.so.*")):  # a library that is loaded is found by its name alone
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    del settings["schedule"]
    return _Active(driver, settings)


def active() -> bool:
    """Whether the simulated GPU is under this process."""
    return _active is not None


def _needed() -> _Active:
    if _active is None:
        raise Error("palladion is not active: palladion.activate() before importing what uses CUDA")
    return _active


def findings() -> List[Finding]:
    """Of the launches, and of the order of operations, since the last call. They are given once."""
    return [finding_of(noted["finding"], noted["text"]) for noted in _needed().text("findings")]


def launches() -> List[Dict[str, Any]]:
    """What was launched, by kernel, grid and block: launches, instructions, cycles, microseconds (by the clock), incomplete:
    why the checks of it were no whole answer."""
    return _needed().text("launches")


def clear_fault() -> int:
    """The device works again after a kernel failed, which on a GPU it does not. Gives the CUresult that it had; 0: none."""
    return int(_needed().driver.palladion_exec_clear_fault())


def host_view(address: int, size: int, writes: bool) -> Tuple[int, int]:
    """Where the host finds bytes of device memory: (address, size). What uses them on the device must be over.

    Raises Error where they are no memory of the device."""
    view = _needed().driver.palladion_exec_host_view(address, size, int(writes))
    if view is None:
        raise Error(f"0x{address:x}: no memory of the device")
    return view, size
