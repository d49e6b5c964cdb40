"""`run`, `check`, `compare`, `time`: one launch of any kind of subject."""
from __future__ import annotations

import os
from typing import Any, Dict, List, Optional

from . import _jax
from ._errors import Error
from ._programs import Bundle, Kernel, Launch, Program, load
from ._result import Comparison, Result, Results


def _launch(subject: Any, args: Any, arch: Optional[str], entry: Optional[str], shape: Dict[str, Any],
            more: Dict[str, Any]) -> "Launch | _jax.Recorded":
    if isinstance(subject, (str, os.PathLike)):
        subject = load(subject, arch or "h200")
    if isinstance(subject, Program):
        subject = subject.kernel(entry)
    if isinstance(subject, Bundle):
        return subject.launch()
    if isinstance(subject, Kernel):
        if more:
            raise TypeError(f"unexpected arguments: {', '.join(more)}")
        return subject.launch(args, **shape)
    if hasattr(subject, "launch_for"):  # of `_files`: its file states grid and block, and may have settings of these names
        named = {name: value for name, value in shape.items() if value not in (None, 0)}
        launch: Launch = subject.launch_for(args, {**more, **named})
        return launch
    from . import _triton
    if _triton.is_kernel(subject):
        return _triton.launch(subject, args, more, arch or "h200", shape["grid"])
    if _jax.is_function(subject):
        return _jax.Recorded(subject, args, more, arch or "h200")
    raise Error(f"{subject!r} is no kernel: PTX, a file, a recorded launch, a kernel of `load`, a triton.jit function or, "
                "where jax is imported, a function of it")


def run_launch(launch: Launch, checks: str) -> Result:
    """Of a kernel that is called: what its settings are named is no option of the run."""
    result: Result = _perform(launch, dict(command="run", schedule="functional", checks=checks, threads=0), write=True)
    return result


def _perform(launch: "Launch | _jax.Recorded", request: Dict[str, Any], write: bool, wanted: Any = None) -> Any:
    if isinstance(launch, _jax.Recorded):
        return _perform_all(launch, request, wanted)
    request = {name: value for name, value in request.items() if value is not None}
    request.setdefault("fmad", launch.fmad)
    addresses = launch.arrays.wanted(wanted)
    answer = launch.job.perform(request, launch.arrays.addresses() if write else None, addresses)
    if write:
        for view in launch.arrays.views:
            view.finish()

    def page() -> str:
        return str(launch.job.perform(dict(request, page=True), None, addresses)["page"])

    return Result(answer, page, launch.path, list(launch.outputs))


def _perform_all(recorded: "_jax.Recorded", request: Dict[str, Any], wanted: Any) -> Results:
    tolerance = {name: request.pop(name) for name in ("relative", "absolute") if name in request}
    launches = [_perform(bundle.launch(), dict(request), write=False) for bundle in recorded.bundles]
    compared = [] if wanted is None or recorded.fatal else _compared(recorded.outputs, wanted, tolerance)
    return Results(recorded.name, launches, recorded.outputs, recorded.fatal, compared)


def _compared(outputs: Any, wanted: Any, tolerance: Dict[str, Any]) -> List[Comparison]:
    """The library compares arrays of a launch: one that changes none."""
    got, asked = _jax.outputs_against(outputs, wanted)
    if not got:
        return []
    parameters = ", ".join(f".param .u64 output{i}" for i in range(len(got)))
    nothing = load(f".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry outputs({parameters}) {{ ret; }}\n")
    result: Result = compare(nothing, *got, wanted=asked, grid=1, block=1, **tolerance)
    return result.comparisons


def run(subject: Any, *args: Any, grid: Any = None, block: Any = None, cluster: Any = None, shared: int = 0,
        entry: Optional[str] = None, arch: Optional[str] = None, schedule: str = "functional", checks: str = "all",
        threads: int = 0, max_instructions: int = 1 << 30, fmad: Optional[bool] = None, strict: bool = False,
        **more: Any) -> "Result | Results":
    """Runs one launch in the simulated GPU, with the checkers, under one schedule; arrays are updated in place.

    `subject`: PTX (a text or a file, `entry` names one of several), a kernel of `load`, a recorded launch (a folder), or
    a Triton kernel, as `kernel[grid]` or with grid=; what a Triton launch takes besides (constexprs, num_warps) is `more`.
    A kernel in C++ of `load`: sizes, settings and numbers of the launch by name (`alpha=0.5`) are `more`.
    A function of JAX, with Pallas kernels or not: all its launches, as `Results`, whose `outputs` are what it gave; its
    arguments by name are `more`, and nothing is updated in place.
    `args`: arrays (NumPy, PyTorch, JAX, DLPack), `In(array)` and `Out(array)` where a kernel only reads or only writes,
    `TensorMap`, numbers, NumPy scalars, bytes. `grid`, `cluster`: in CTAs, `block`: in threads, x first; `shared`: bytes of
    dynamic shared memory. `arch`: h200 (the default), b200 and others of `palladion list`. `schedule`: functional,
    hardware (with the chip's clock), latest, earliest, seeded:N. `checks`: all, none, or some of race, barrier, memory,
    numerics. `threads` of the host; 0: all cores. `max_instructions` of a warp, after which it is taken for endless.
    `fmad`: contract products and sums as ptxas does; None: as the kernel's compiler asks for. `strict`: what only breaks the letter of PTX is an error.

    Raises Error where the launch is refused, Unsupported where this version lacks something.
    """
    launch = _launch(subject, args, arch, entry, dict(grid=grid, block=block, cluster=cluster, shared=shared), more)
    return _perform(launch, dict(command="run", schedule=schedule, checks=checks, threads=threads, strict=strict,
                                 max_instructions=max_instructions, fmad=fmad), write=True)


def check(subject: Any, *args: Any, grid: Any = None, block: Any = None, cluster: Any = None, shared: int = 0,
          entry: Optional[str] = None, arch: Optional[str] = None, schedule: Optional[str] = None, checks: str = "all",
          seeds: int = 20, seed: int = 0, explore: Optional[int] = None, threads: int = 0,
          max_instructions: int = 1 << 30, fmad: Optional[bool] = None, strict: bool = False, wanted: Any = None,
          relative: float = 0, absolute: float = 0, **more: Any) -> "Result | Results":
    """Judges a launch under many schedules: races, barriers, deadlocks, memory, numerics. Arrays are not changed.

    `seeds`: random schedules, unless one run decides for all; `seed`: of the first. `explore`: states of a search through
    all schedules. `schedule`: only this one. `wanted`, `relative`, `absolute`: as of `compare`. The rest: as of `run`.
    """
    launch = _launch(subject, args, arch, entry, dict(grid=grid, block=block, cluster=cluster, shared=shared), more)
    return _perform(launch, dict(command="check", schedule=schedule, checks=checks, seeds=seeds, seed=seed,
                                 explore=explore, threads=threads, strict=strict, max_instructions=max_instructions,
                                 fmad=fmad, relative=relative, absolute=absolute), write=False, wanted=wanted)


def compare(subject: Any, *args: Any, wanted: Any = None, relative: float = 0, absolute: float = 0, grid: Any = None,
            block: Any = None, cluster: Any = None, shared: int = 0, entry: Optional[str] = None,
            arch: Optional[str] = None, schedule: str = "functional", checks: str = "none", threads: int = 0,
            **more: Any) -> "Result | Results":
    """Runs a launch and compares its outputs: `Result.comparisons`. Arrays are not changed.

    `wanted`: a dict of arrays by the name of a parameter, or a list in the order of the arrays that are written (None: not
    compared); of a function of JAX what it gives. An element may differ by absolute + relative * |wanted|; with both 0 only equal bits do. A recorded launch is
    compared with what the GPU left. The rest: as of `run`.
    """
    launch = _launch(subject, args, arch, entry, dict(grid=grid, block=block, cluster=cluster, shared=shared), more)
    if wanted is None and (isinstance(launch, _jax.Recorded) or launch.arrays.views):
        raise TypeError("compare needs wanted=")
    return _perform(launch, dict(command="run", schedule=schedule, checks=checks, threads=threads, relative=relative,
                                 absolute=absolute), write=False, wanted=wanted)


def time(subject: Any, *args: Any, why: bool = False, values: str = "full", l2: str = "cold", grid: Any = None,
         block: Any = None, cluster: Any = None, shared: int = 0, entry: Optional[str] = None,
         arch: Optional[str] = None, threads: int = 0, **more: Any) -> "Result | Results":
    """The time of a launch by the chip's clock: `Result.cycles`, `Result.time`. Arrays are not changed.

    `why`: run again with parts of the chip relaxed: what would help, and what to change. `values`: "none" skips the arithmetic
    where control does not depend on it. `l2`: "cold" or "warm". The rest: as of `run`.
    """
    launch = _launch(subject, args, arch, entry, dict(grid=grid, block=block, cluster=cluster, shared=shared), more)
    return _perform(launch, dict(command="run", schedule="hardware", checks="none", threads=threads, why=why,
                                 values=values, l2=l2), write=False)
