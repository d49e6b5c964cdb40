"""Functions of JAX, with Pallas kernels in them or not: recorded once in the simulated GPU, each launch is a subject then.

This process needs no GPU for JAX: the function is exported for CUDA here, and called in a process of its own under
`palladion exec`, where XLA compiles it for the chip; `palladion capture` records its launches.
"""
from __future__ import annotations

import dataclasses
import inspect
import json
import os
import pathlib
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import weakref
from typing import Any, Dict, List, Sequence, Tuple

from ._errors import Error
from ._home import home
from ._programs import Bundle
from ._result import Finding, finding_of

_PROGRAM = pathlib.Path(__file__).with_name("_jax_program.py")
_CUSTOM_CALL = re.compile(r"custom_call @([^\s(]+)")
_FILE = re.compile(r'^\s*\.file\s+\d+\s+"([^"]+)"', re.M)
_MOST_LAUNCHES = 10000  # of a kernel


def is_function(subject: Any) -> bool:
    """A function, in a process that uses JAX."""
    return "jax" in sys.modules and callable(subject) and not inspect.isbuiltin(subject)


class Recorded:
    """The launches of one call, in their order, and what the function gave."""

    def __init__(self, function: Any, args: Sequence[Any], kwargs: Dict[str, Any], arch: str) -> None:
        self.name = getattr(function, "__name__", None) or repr(function)
        folder = pathlib.Path(tempfile.mkdtemp(prefix="palladion-jax-"))
        self._end = weakref.finalize(self, shutil.rmtree, folder, True)  # pages run the launches again
        _write(folder, function, args, kwargs)
        done = _record(folder, arch)
        recorded = sorted(b.parent for b in (folder / "launches").glob("*/bundle.json"))
        self.bundles = [Bundle(str(b), arch, _sources(b / "kernel.ptx")) for b in recorded]
        self.fatal = _fatal(folder / "exec.json")
        """what ended the call, which has no outputs then"""
        if done.returncode != 0 and not self.fatal:
            raise Error(f"the function did not run in the simulated {arch}:\n{done.stderr}")
        self.outputs: Any = None if self.fatal else pickle.loads((folder / "outputs").read_bytes())


def _sources(ptx: pathlib.Path) -> List[str]:
    """The folders of the files that it was made of, which lie on this machine."""
    if not ptx.exists():
        return []
    return sorted({os.path.dirname(file) for file in _FILE.findall(ptx.read_text()) if os.path.isabs(file)})


def _write(folder: pathlib.Path, function: Any, args: Sequence[Any], kwargs: Dict[str, Any]) -> None:
    import jax
    import jax.export
    import numpy
    jitted = jax.jit(lambda *given: function(*given, **kwargs))
    args = jax.tree.map(numpy.asarray, tuple(args))
    text = jitted.trace(*args).lower(lowering_platforms=("cuda",)).as_text()
    allowed = [jax.export.DisabledSafetyCheck.custom_call(name) for name in set(_CUSTOM_CALL.findall(text))]
    exported = jax.export.export(jitted, platforms=["cuda"], disabled_checks=allowed)(*args)
    # `serialize` needs another package; the process that reads it has the same JAX.
    (folder / "function").write_bytes(pickle.dumps(dataclasses.replace(exported, _get_vjp=None)))
    (folder / "arguments").write_bytes(pickle.dumps(args))


def _record(folder: pathlib.Path, arch: str) -> "subprocess.CompletedProcess[str]":
    import jax
    palladion = str(home().program)
    # Each array is an allocation of its own, with its own bounds.
    environment = dict(os.environ, JAX_PLATFORMS="cuda", XLA_PYTHON_CLIENT_PREALLOCATE="false",
                       XLA_PYTHON_CLIENT_ALLOCATOR="platform", JAX_ENABLE_X64=str(jax.config.jax_enable_x64))
    return subprocess.run([palladion, "exec", "--arch", arch, "--json", str(folder / "exec.json"), "--",
                           palladion, "capture", "-o", str(folder / "launches"), "--launches", str(_MOST_LAUNCHES), "--",
                           sys.executable, str(_PROGRAM), str(folder)], capture_output=True, text=True, env=environment)


def _fatal(report: pathlib.Path) -> List[Finding]:
    if not report.exists():
        return []
    return [finding_of(f) for f in json.loads(report.read_text())["findings"] if f["fatal"]]


def outputs_against(outputs: Any, wanted: Any) -> Tuple[List[Any], List[Any]]:
    """The arrays of both, in JAX's order of their leaves."""
    import jax
    import numpy
    got, asked = [numpy.array(o) for o in jax.tree.leaves(outputs)], [numpy.asarray(w) for w in jax.tree.leaves(wanted)]
    if len(got) != len(asked):
        raise Error(f"wanted: {len(asked)} arrays, the function gives {len(got)}")
    return got, asked
