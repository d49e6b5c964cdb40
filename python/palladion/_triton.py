"""Triton kernels: Triton compiles and launches them as always, onto a driver of ours, which keeps the launch.

So neither a GPU nor PyTorch is needed, and decorators (`autotune`, `heuristics`), Gluon, descriptors and constants go Triton's
own ways.
"""
from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import os
import pathlib
import re
import struct
import sys
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

from ._arrays import Arrays, In, TensorMap, is_array
from ._errors import Error, Unsupported
from ._programs import Kernel, Launch, Program, Scratch

_SM = {"h": 90, "b": 100}  # by the first letter of a chip
# What compiled kernels and heuristics ask; a CTA's shared memory and registers decide whether Triton launches.
_PROPERTIES = {"max_shared_mem": 232448, "max_num_regs": 65536, "multiprocessor_count": 132, "warpSize": 32,
               "sm_clock_rate": 1980000, "mem_clock_rate": 3201000, "mem_bus_width": 6144}
_TRIED = (3, 6), (3, 9)  # the first and the last version of Triton with which this was tried


def is_kernel(subject: Any) -> bool:
    """A triton.jit function, under decorators or not, or `kernel[grid]`."""
    return _split(subject) is not None


def _split(subject: Any) -> Optional[Tuple[Any, Any]]:
    """The kernel and its grid, which is None where it is not stated."""
    module = sys.modules.get("triton")
    if module is None:
        return None
    from triton.runtime.jit import KernelInterface
    if isinstance(subject, KernelInterface):
        return subject, None
    if inspect.isfunction(subject) and subject.__closure__:  # what KernelInterface.__getitem__ gives
        held = dict(zip(subject.__code__.co_freevars, (cell.cell_contents for cell in subject.__closure__)))
        if isinstance(held.get("self"), KernelInterface) and "grid" in held:
            return held["self"], held["grid"]
    return None


@dataclasses.dataclass
class _Caught:
    """What a launcher is given."""

    source: Any
    metadata: Any
    grid: Tuple[int, int, int]
    args: Tuple[Any, ...]


    def ptx(self) -> str:
        """Triton keeps what it compiled, in its cache."""
        from triton.runtime.cache import get_cache_manager
        name = self.source.name[:150]
        files = get_cache_manager(self.metadata.hash).get_group(name + ".json") or {}
        return pathlib.Path(files[name + ".ptx"]).read_text()


class _Argument:
    """An array as Triton asks for it: type and address, which decide what it compiles; `autotune` resets and restores it."""

    def __init__(self, given: Any) -> None:
        self.given = given
        self.array = given.array if isinstance(given, In) else given
        self.dtype = self.array.dtype

    def data_ptr(self) -> int:
        return 0  # arrays are aligned in the machine

    def zero_(self) -> None:
        self.array[...] = 0

    def clone(self) -> Any:
        return self.array.copy()

    def copy_(self, other: Any) -> None:
        self.array[...] = other

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)


class _Launcher:
    """A driver's launcher: made once a compiled kernel, called for each launch."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self.source, self.metadata = source, metadata

    def __call__(self, x: int, y: int, z: int, stream: Any, function: Any, *rest: Any) -> None:
        # kernel and launch metadata, two hooks, then the arguments
        _current().caught.append(_Caught(self.source, self.metadata, (x, y, z), rest[4:]))


class _Utils:
    """What a compiled kernel asks of the device."""

    @staticmethod
    def get_device_properties(device: int) -> Dict[str, int]:
        return _PROPERTIES

    @staticmethod
    def load_binary(name: str, kernel: bytes, shared: int, device: int) -> Tuple[Any, Any, int, int, int]:
        return None, None, 0, 0, 1024  # module, which Triton would unload, function, registers, spills, threads


class _Driver:
    """A Triton driver (triton.backends.driver.DriverBase) whose launches are kept."""

    def __init__(self, arch: str) -> None:
        from triton.backends.compiler import GPUTarget
        self.arch, self.target = arch, GPUTarget("cuda", _SM[arch[0]], 32)
        self.utils, self.launcher_cls = _Utils, _Launcher
        self.caught: List[_Caught] = []

    def get_current_device(self) -> int:
        return 900 + int(self.target.arch)  # compiled kernels are kept by device: no GPU of this machine has this number

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_current_target(self) -> Any:
        return self.target

    def get_device_capability(self, device: int = 0) -> Tuple[int, int]:
        return divmod(int(self.target.arch), 10)

    def map_python_to_cpp_type(self, ty: str) -> str:
        from triton.backends.nvidia.driver import ty_to_cpp
        return str(ty_to_cpp(ty))

    def get_benchmarker(self) -> Callable[..., Any]:
        return self._one_launch

    def _one_launch(self, kernel_call: Callable[[], Any], quantiles: Optional[Sequence[float]] = None,
                    **how: Any) -> Any:
        """Of `autotune`: the time of one launch by the chip's clock, in ms."""
        before = len(self.caught)
        kernel_call()
        launches = self.caught[before:]
        del self.caught[before:]
        ms = sum(_microseconds(caught, self.arch) for caught in launches) / 1e3
        return ms if quantiles is None else [ms] * len(quantiles)

    def get_empty_cache_for_benchmark(self) -> None:
        return None

    def clear_cache(self, cache: None) -> None:
        pass


_driver = functools.lru_cache(maxsize=None)(_Driver)


def _current() -> _Driver:
    from triton.runtime.driver import driver
    active: _Driver = driver.active
    return active


@contextlib.contextmanager
def _active(arch: str) -> Iterator[_Driver]:
    from triton.runtime.driver import driver
    before, ours = driver._active, _driver(arch)
    ours.caught.clear()
    driver.set_active(ours)
    try:
        yield ours
    finally:
        driver.set_active(before)
        ours.caught.clear()


@contextlib.contextmanager
def _naming_the_version() -> Iterator[None]:
    """A version that was not tried, whose interface to drivers is another, is named."""
    try:
        yield
    except (AttributeError, ImportError, TypeError) as error:
        import triton
        version = str(triton.__version__)
        numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
        if _TRIED[0] <= numbers <= _TRIED[1]:
            raise
        first, last = (".".join(map(str, tried)) for tried in _TRIED)
        raise Unsupported(f"Triton {version} is not known: versions {first} to {last} were tried, and this one may want another "
                          f"driver than ours ({type(error).__name__}: {error}). `palladion exec` takes any version") from error


def _wrapped(value: Any) -> Any:
    if isinstance(value, TensorMap):
        raise Error("Triton makes tensor maps itself: give the array, or a TensorDescriptor")
    return _Argument(value) if isinstance(value, In) or (is_array(value) and not hasattr(value, "data_ptr")) else value


def launch(subject: Any, args: Sequence[Any], kwargs: Dict[str, Any], arch: str, grid: Any) -> Launch:
    """Compiles the kernel for the chip and binds the launch that `kernel[grid](*args, **kwargs)` makes."""
    split = _split(subject)
    assert split is not None
    kernel, own = split
    grid = own if grid is None else grid
    if grid is None:
        raise Error("a Triton kernel needs its grid: kernel[grid], or grid=")
    if isinstance(grid, int):
        grid = (grid,)
    if arch[:1] not in _SM:
        raise Unsupported(f"Triton kernels for {arch}")
    wrapped, named = [_wrapped(value) for value in args], {name: _wrapped(value) for name, value in kwargs.items()}
    with _naming_the_version(), _active(arch) as driver:
        compiled = kernel.run(*wrapped, grid=grid, warmup=False, **named)
        if not driver.caught:
            raise Error("Triton launched nothing: the grid is empty")
        function = driver.caught[-1].source.fn
        if _names_another_file(compiled.asm["ptx"], function):
            function.device_caches.pop(driver.get_current_device(), None)
            with _compiling_anew():
                compiled = kernel.run(*wrapped, grid=grid, warmup=False, **named)
        return _bind(driver.caught[-1], compiled.asm["ptx"], arch)


def _names_another_file(ptx: str, function: Any) -> bool:
    """Triton's cache knows the text of a kernel, not its file: what was compiled elsewhere has lines of that file."""
    files = re.findall(r'^\s*\.file\s+\d+\s+"([^"]*)"', ptx, re.M)
    source = inspect.getsourcefile(function.fn)
    return bool(files) and source is not None and os.path.abspath(source) not in map(os.path.abspath, files)


@contextlib.contextmanager
def _compiling_anew() -> Iterator[None]:
    from triton import knobs
    with knobs.compilation.scope():
        knobs.compilation.always_compile = True
        yield


def _microseconds(caught: _Caught, arch: str) -> float:
    request = {"command": "run", "schedule": "hardware", "checks": "none"}
    clock = _bind(caught, caught.ptx(), arch).job.perform(request)["report"]["sim"].get("clock")
    return float("inf") if clock is None else float(clock["microseconds"])


@functools.lru_cache(maxsize=256)
def _program(ptx: str, name: str, arch: str, sources: Tuple[str, ...]) -> Program:
    return Program(ptx, name + ".ptx", arch, sources)


def _sources(function: Any) -> Tuple[str, ...]:
    """The kernel's folder, and Triton's own, whose functions are inlined."""
    import triton
    module = inspect.getsourcefile(function.fn)
    folders = [] if module is None else [os.path.dirname(os.path.abspath(module))]
    return tuple(folders + [os.path.dirname(os.path.abspath(str(triton.__file__)))])


def _bind(caught: _Caught, ptx: str, arch: str) -> Launch:
    source, metadata = caught.source, caught.metadata
    kernel = _program(ptx, metadata.name, arch, _sources(source.fn)).kernel(metadata.name)
    ctas = getattr(metadata, "num_ctas", 1)
    arrays = Arrays()
    values = list(_flat(source, metadata, caught.args, arrays))
    scratch = getattr(metadata, "global_scratch_size", 0) * caught.grid[0] * caught.grid[1] * caught.grid[2] * ctas
    values += [Scratch(scratch) if scratch else None]
    values += [None] * (len(kernel.parameters) - len(values))  # of a profiler; null as without one
    if kernel.block is None:
        raise Unsupported(f"{metadata.name}: its PTX does not state the number of threads")
    x, y, z = caught.grid
    request = {"entry": metadata.name, "grid": (x * ctas, y, z), "block": kernel.block,
               "cluster": kernel.cluster or (ctas, 1, 1),
               "shared": metadata.shared, "cooperative": bool(getattr(metadata, "launch_cooperative_grid", False)),
               "programmatic": bool(getattr(metadata, "launch_pdl", False))}
    _name_parameters(kernel, source)
    bound = kernel.bind(values[:len(kernel.parameters)], request, arrays)
    bound.fmad = bool(getattr(metadata, "enable_fp_fusion", True))
    return bound


def _flat(source: Any, metadata: Any, args: Sequence[Any], arrays: Arrays) -> Iterator[Any]:
    """The arguments that the compiled kernel takes: without constants, tuples and descriptors spread."""
    maps = iter(getattr(metadata, "tensordesc_meta", None) or ())

    def visit(kind: Any, value: Any) -> Iterator[Any]:
        if isinstance(kind, tuple):
            for inner, each in zip(kind, value):
                yield from visit(inner, each)
        elif kind == "constexpr":
            return
        elif isinstance(kind, str) and kind.startswith("tensordesc"):
            yield from _descriptor(value, next(maps, None))
        else:
            yield value.given if isinstance(value, _Argument) else _number(kind, value)

    for kind, value in zip(source.signature.values(), args):
        yield from visit(kind, value)


_PACKED = {"fp16": "e", "fp32": "f", "f32": "f", "fp64": "d"}


def _number(kind: str, value: Any) -> Any:
    """A number as the parameter has it; an array or an address as it is."""
    if kind.startswith("*"):
        return value
    if kind == "bf16":
        return struct.pack("<f", value)[2:]
    return struct.pack("<" + _PACKED[kind], value) if kind in _PACKED else int(value)


def _descriptor(value: Any, how: Optional[Dict[str, Any]]) -> Iterator[Any]:
    """A TensorDescriptor: the map or the parts of it, then shape and strides."""
    base = value.base.given if isinstance(value.base, _Argument) else value.base
    shape, strides = [int(n) for n in value.shape], [int(n) for n in value.strides]
    if how is None:
        yield from [base, *shape, *strides, value.padding == "nan", value.round_f32_to_tf32]
    else:
        if how.get("is_im2col") or how.get("fp4_padded"):
            raise Unsupported("descriptors of im2col and of padded fp4")
        yield TensorMap(base, box=how["block_size"], strides=strides[:-1], swizzle=(0, 32, 64, 128)[how["swizzle"]],
                        oob="nan" if value.padding == "nan" else "zero", shape=shape)
    yield from [*shape, *strides]


def _name_parameters(kernel: Kernel, source: Any) -> None:
    """Triton's PTX numbers them: reports say the author's names, where one argument is one parameter."""
    names = [name for name, kind in source.signature.items() if kind != "constexpr"]
    plain = all(isinstance(kind, str) and not kind.startswith("tensordesc") for kind in source.signature.values())
    if plain:
        for parameter, name in zip(kernel.parameters, names):
            parameter["name"] = name

