"""CUDA kernels in a simulated Hopper or Blackwell GPU, checked: no GPU is needed.

    import numpy as np, palladion
    x, y = np.arange(1024, dtype=np.float32), np.zeros(1024, np.float32)
    result = palladion.check("saxpy.ptx", x, y, np.float32(2), 1024, grid=4, block=256)
    result.findings          # races, barriers, memory, numerics: code, severity, file, line, both sites
    result.verdict           # clean, strict, incomplete or errors, and on what that rests

Subjects of `run`, `check`, `compare` and `time`: PTX (a text or a file), a `triton.jit` function, a kernel of a C++ file
(`load`), a recorded launch (a folder), a function of JAX. Arrays: NumPy, PyTorch, JAX and whatever has DLPack.

`activate` puts the simulated GPU under CUDA programs of this process: PyTorch with Triton; `palladion exec` around others.
"""
from ._errors import Error, FindingsError, InternalError, Unsupported
from ._home import __version__
from ._result import Comparison, Finding, Result, Results, Site, Time, Verdict
from ._arrays import In, Out, TensorMap
from ._programs import Kernel, Program, load
from ._run import check, compare, run, time
from ._active import activate, active, clear_fault, findings, launches

__all__ = [
    "Comparison", "Error", "Finding", "FindingsError", "In", "InternalError", "Kernel", "Out", "Program", "Result", "Results", "Site",
    "TensorMap", "Time", "Unsupported", "Verdict", "__version__", "activate", "active", "check", "clear_fault", "compare",
    "findings", "launches", "load", "run", "time",
]
