"""What can be launched: PTX, a recorded launch, and what `_triton` and `_files` make."""
from __future__ import annotations

import dataclasses
import os
import pathlib
import subprocess
from typing import Any, Dict, Iterator, List, Optional, Sequence, Union

from ._arrays import Arrays, In, TensorMap, dims, is_array, scalar_bytes
from ._errors import Error
from ._home import home
from ._library import NativeJob, NativeProgram

PathLike = Union[str, "os.PathLike[str]"]


@dataclasses.dataclass
class Launch:
    """A kernel with its arguments, ready to run."""

    job: NativeJob
    arrays: Arrays
    path: str
    """what lines of PTX refer to"""
    outputs: Sequence[Any] = ()
    """arrays that the launch makes, for `Result.outputs`"""
    fmad: bool = True
    """whether its assembler would contract products and sums"""


class Kernel:
    """An entry of a program."""

    def __init__(self, program: "Program", about: Dict[str, Any]) -> None:
        self.program = program
        self.name: str = about["name"]
        self.parameters: List[Dict[str, Any]] = about["params"]
        """of each: name, PTX type (empty: an array of bytes), bytes"""
        self.block: Optional[Sequence[int]] = about.get("block")
        self.cluster: Optional[Sequence[int]] = about.get("cluster")
        """as the PTX requires them; None: it does not"""

    def __repr__(self) -> str:
        return f"<Kernel {self.name} of {self.program.path}>"

    def launch(self, args: Sequence[Any], grid: Any = None, block: Any = None, cluster: Any = None,
               shared: int = 0) -> Launch:
        """Binds arguments: arrays, tensor maps and numbers, one for each parameter of the entry."""
        if grid is None:
            raise Error(f"{self.name}: grid=(x, y, z) is needed, in CTAs")
        block = self.block if block is None else block
        if block is None:
            raise Error(f"{self.name}: block=(x, y, z) is needed, in threads")
        request = {"entry": self.name, "grid": dims(grid, "grid"), "block": dims(block, "block"),
                   "cluster": dims(cluster or self.cluster or 1, "cluster"), "shared": int(shared)}
        return self.bind(args, request)

    def bind(self, args: Sequence[Any], request: Dict[str, Any], arrays: Optional[Arrays] = None) -> Launch:
        """The same with the members of the library's request."""
        if len(args) != len(self.parameters):
            names = ", ".join(f"{p['name']} (.{p['type'] or 'b8[]'}, {p['bytes']} bytes)" for p in self.parameters)
            raise Error(f"{self.name} takes {len(self.parameters)} arguments, {len(args)} are given: {names}")
        arrays = arrays or Arrays()
        params = [self._value(i, value, arrays) for i, value in enumerate(args)]
        job = NativeJob(self.program.native, dict(request, arrays=arrays.members(), params=params), arrays.addresses())
        return Launch(job, arrays, self.program.path)

    def _value(self, i: int, value: Any, arrays: Arrays) -> Dict[str, Any]:
        parameter = self.parameters[i]
        if isinstance(value, TensorMap):
            return {"array": arrays.add(value.array, parameter["name"]), "map": [value.members()]}
        if isinstance(value, In) or is_array(value):
            if parameter["bytes"] != 8:
                raise Error(f"argument {i} is an array, parameter {parameter['name']} has {parameter['bytes']} bytes")
            return {"array": arrays.add(value, parameter["name"])}
        if isinstance(value, Scratch):
            return {"array": arrays.add_scratch(value.bytes)}
        try:
            return {"bytes": scalar_bytes(value, parameter["type"], parameter["bytes"]).hex()}
        except Error as e:
            raise Error(f"argument {i}, parameter {parameter['name']}: {e}") from None


@dataclasses.dataclass
class Scratch:
    """Zeroed memory for one launch."""

    bytes: int


class Program:
    """The kernels of a text or a file of PTX: `program["saxpy"]`."""

    def __init__(self, ptx: str, path: str = "kernel.ptx", arch: str = "h200", sources: Sequence[str] = ()) -> None:
        self.path, self.arch = path, arch
        self.native = NativeProgram(ptx=ptx, path=path, arch=arch, sources=list(sources))
        self._kernels = {about["name"]: Kernel(self, about) for about in self.native.about["entries"]}

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._kernels:
            raise KeyError(f"{self.path} has no entry {name!r}; it has {', '.join(self._kernels)}")
        return self._kernels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def kernel(self, name: Optional[str] = None) -> Kernel:
        """The entry of this name, or the only one."""
        if name is not None:
            return self[name]
        if len(self) != 1:
            raise Error(f"{self.path} has {len(self)} entries: name one with entry=; {', '.join(self)}")
        return next(iter(self._kernels.values()))

    def __repr__(self) -> str:
        return f"<Program {self.path}: {', '.join(self)}>"


class Bundle:
    """A launch that `palladion capture` recorded, with its arrays."""

    def __init__(self, folder: str, arch: str = "h200", sources: Sequence[str] = ()) -> None:
        self.path = folder
        self.native = NativeProgram(bundle=folder, arch=arch, sources=list(sources))

    def launch(self) -> Launch:
        return Launch(NativeJob(self.native, {}, []), Arrays(), self.path)


def is_ptx(text: str) -> bool:
    return ".version" in text and ".target" in text


def load(source: PathLike, arch: str = "h200", name: str = "kernel.ptx") -> Any:
    """The kernels of `source`: a file of PTX, a cubin or fatbin that carries its PTX, PTX as a text, a file of C++ with palladion's API, or a recorded launch.

    PTX: a `Program`, `program["saxpy"]` is a kernel for `run` and `check`; `name` stands in messages for a text. C++: a
    `KernelFile`, whose kernels are called with arrays: `load("matmul.cpp")["matmul"](a, b)`. Raises Error where the source
    is not there, does not compile, or breaks a rule of PTX.
    """
    text = os.fspath(source)
    if "\n" in text:
        return Program(text, name, arch)
    path = pathlib.Path(text)
    if path.is_dir():
        return Bundle(text, arch)
    if path.suffix in (".cpp", ".cc", ".so"):
        from ._files import KernelFile
        return KernelFile(text, arch)
    try:
        contents = path.read_bytes()
    except OSError as e:
        raise Error(f"{text}: {e.strerror}") from None
    if contents[:4] in (_ELF, _FATBIN):
        return Program(_carried_ptx(text, arch), text, arch, [str(path.parent)])
    if not is_ptx(ptx := contents.decode("utf-8", "surrogateescape")):
        raise Error(f"{text} is no PTX: it has no .version and .target")
    return Program(ptx, text, arch, [str(path.parent)])


_ELF, _FATBIN = b"\x7fELF", b"\x50\xed\x55\xba"


def _carried_ptx(path: str, arch: str) -> str:
    """Of machine code with line information, or of a fatbin: the program reads them."""
    done = subprocess.run([str(home().program), "ptx", "--ptx", path, "--arch", arch], capture_output=True, text=True)
    if done.returncode != 0:
        raise Error(done.stderr or done.stdout)
    return done.stdout
