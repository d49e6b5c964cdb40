"""Kernels in C++ with palladion's API: the program compiles and records them, and says what is to be launched."""
from __future__ import annotations

import dataclasses
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import Any, Dict, List, Sequence, Tuple

from ._arrays import Arrays, In, Out, View, number_bytes
from ._errors import Error, FindingsError, Unsupported
from ._home import home
from ._library import NativeJob
from ._programs import Launch, Program

Choice = Tuple[Tuple[str, str], ...]


@dataclasses.dataclass(frozen=True)
class Recorded:
    """A kernel that was recorded with sizes and settings: its PTX, and its launch (report/run/launch_json.h)."""

    ptx: str
    launch: Dict[str, Any]

    def arrays(self, role: str) -> List[Dict[str, Any]]:
        return [a for a in self.launch["arrays"] if a["role"] == role]


class KernelFile:
    """The kernels of a file of C++ (or of the shared object that was made of it): `file["add"]`."""

    def __init__(self, path: str, arch: str = "h200") -> None:
        if not pathlib.Path(path).exists():
            raise Error(f"{path}: no such file")
        self.path, self.arch = path, arch

    def __getitem__(self, name: str) -> "FileKernel":
        return FileKernel(self, name)

    def __repr__(self) -> str:
        return f"<KernelFile {self.path}>"


class FileKernel:
    """A kernel of such a file. Called with its inputs it gives its output, or a tuple of them.

    Sizes follow from the inputs' shapes; those that do not, and settings, are given by name: `kernel(a, b, stages=3)`; so
    are numbers of the launch (`.scalars` of plgpu::kernel): `kernel(a, b, alpha=0.5)`, for which nothing is recorded anew.
    """

    def __init__(self, file: KernelFile, name: str) -> None:
        self.file, self.name = file, name
        self._recorded: Dict[Choice, Recorded] = {}
        self._programs: Dict[str, Program] = {}

    def __repr__(self) -> str:
        return f"<FileKernel {self.name} of {self.file.path}>"

    def __call__(self, *inputs: Any, **choice: Any) -> Any:
        """Arrays of NumPy, of PyTorch on the host or of JAX: in the simulated GPU, without checks. Tensors of PyTorch on a
        device: on that device, a GPU or the simulated one of `activate`. Outputs are new arrays beside the inputs.

        Raises Error where the inputs are not what the kernel takes, FindingsError where it does not come to its end."""
        if _on_device(inputs):
            from ._device import launch
            recorded = self.recorded_for(inputs, choice)
            return _one_or_all(launch(recorded, inputs, _new_outputs(recorded, inputs)))
        from ._run import run_launch
        result = run_launch(self.launch_for(inputs, choice), checks="none")
        if not result.completed:
            raise FindingsError(str(result), result)
        return _one_or_all(result.outputs)

    def launch_for(self, inputs: Sequence[Any], choice: Dict[str, Any]) -> Launch:
        """For `run`, `check`, `compare`, `time`. The arrays are the inputs, then the outputs."""
        recorded = self.recorded_for(inputs, choice)
        outputs = _new_outputs(recorded, inputs)
        arrays = Arrays()
        given = iter([In(a) for a in inputs] + [Out(a) for a in outputs])
        numbers = [arrays.add_scratch(_bytes(a)) if a["role"] in ("scratch", "profile") else arrays.add(next(given), a["name"])
                   for a in recorded.launch["arrays"]]
        params = [dict(p, array=numbers[p["array"]]) if "array" in p else p for p in recorded.launch["params"]]
        program = self._program(recorded)
        request = dict(recorded.launch, arrays=arrays.members(), params=params)
        return Launch(NativeJob(program.native, request, arrays.addresses()), arrays, program.path, outputs)

    def _program(self, recorded: Recorded) -> Program:
        if recorded.ptx not in self._programs:
            folder = str(pathlib.Path(self.file.path).resolve().parent)
            self._programs[recorded.ptx] = Program(recorded.ptx, self.name + ".ptx", self.file.arch, [folder])
        return self._programs[recorded.ptx]

    # ---- sizes ----

    def recorded_for(self, inputs: Sequence[Any], choice: Dict[str, Any]) -> Recorded:
        """With the sizes that these inputs have, and the numbers of this launch."""
        known = self._known()
        chosen = {name: _word(value) for name, value in choice.items() if name in known}
        numbers = {name: value for name, value in choice.items() if name not in known}
        return self._with_numbers(self._recorded_for(inputs, chosen), numbers)

    def _recorded_for(self, inputs: Sequence[Any], chosen: Dict[str, str]) -> Recorded:
        given = [_type_of(array) for array in inputs]
        first = self.record(chosen)
        if first.arrays("inout"):
            raise Unsupported(f"{self.name} updates an array in place")
        wanted = first.arrays("in")
        if len(wanted) != len(given):
            raise Error(f"{self.name} takes {len(wanted)} arrays ({', '.join(a['name'] for a in wanted)}), "
                        f"{len(given)} are given")
        if "dtype" in first.launch["settings"] and "dtype" not in chosen and given and wanted[0]["dtype"] != given[0][0]:
            chosen["dtype"] = given[0][0]
            first = self.record(chosen)
        if [tuple(a["shape"]) for a in first.arrays("in")] != [shape for _, shape in given]:
            chosen.update(self._sizes(first, chosen, [shape for _, shape in given]))
            first = self.record(chosen)
        for array, (dtype, shape) in zip(first.arrays("in"), given):
            if (_machine_name(array["dtype"]), tuple(array["shape"])) != (dtype, shape):
                raise Error(f"{self.name} takes {array['dtype']}{array['shape']} as {array['name']} with "
                            f"{', '.join(f'{n}={v}' for n, v in first.launch['sizes'].items())}; given is {dtype}{list(shape)}")
        return first

    def _known(self) -> List[str]:
        """Its sizes and settings."""
        launch = self.record({}).launch
        return [*launch["sizes"], *launch["settings"]]

    def _with_numbers(self, recorded: Recorded, numbers: Dict[str, Any]) -> Recorded:
        """The same program, launched with these numbers in place of those that the file gives."""
        if not numbers:
            return recorded
        there = {p["number"]: p for p in recorded.launch["params"] if "number" in p}
        for name in numbers:
            if name not in there:
                of_launch = ", ".join(f"{n} ({p['dtype']})" for n, p in there.items()) or "none"
                raise Error(f"{self.name} has no size, setting or number of the launch {name!r}; sizes and settings: "
                            f"{', '.join(self._known())}; numbers of this launch: {of_launch}")
        params = [dict(p, bytes=_number(p, numbers[p["number"]])) if p.get("number") in numbers else p
                  for p in recorded.launch["params"]]
        return dataclasses.replace(recorded, launch=dict(recorded.launch, params=params))

    def _sizes(self, first: Recorded, chosen: Dict[str, str], shapes: Sequence[Tuple[int, ...]]) -> Dict[str, str]:
        """Of each size that was not given: the dimensions that grow with it say what it is."""
        found: Dict[str, str] = {}
        for name, size in first.launch["sizes"].items():
            if name in chosen:
                continue
            doubled = self.record(dict(chosen, **{name: str(2 * size)}))
            values = {len_given * size // before
                      for a, b, shape in zip(first.arrays("in"), doubled.arrays("in"), shapes)
                      for before, after, len_given in zip(a["shape"], b["shape"], shape)
                      if after == 2 * before and len_given * size % before == 0}
            if len(values) != 1:
                raise Error(f"{self.name}: the shapes do not say what the size {name} is: give {name}=")
            found[name] = str(values.pop())
        return found

    def record(self, choice: Dict[str, str]) -> Recorded:
        """By `palladion ptx`, which compiles the file when it has changed. Raises Error with the compiler's messages."""
        key = tuple(sorted(choice.items()))
        if key not in self._recorded:
            self._recorded[key] = self._record(choice)
        return self._recorded[key]

    def _record(self, choice: Dict[str, str]) -> Recorded:
        with tempfile.TemporaryDirectory() as folder:
            ptx, launch = pathlib.Path(folder) / "kernel.ptx", pathlib.Path(folder) / "launch.json"
            words = [str(home().program), "ptx", f"{self.file.path}:{self.name}", "--arch", self.file.arch, "-o", str(ptx),
                     "--launch", str(launch)]
            for option, pairs in self._options(choice).items():
                if pairs:
                    words += [option, ",".join(f"{n}={v}" for n, v in pairs.items())]
            done = subprocess.run(words, capture_output=True, text=True)
            if done.returncode != 0:
                raise (Unsupported if done.returncode == 3 else Error)(done.stderr or done.stdout)
            return Recorded(ptx.read_text(), json.loads(launch.read_text()))

    def _options(self, choice: Dict[str, str]) -> Dict[str, Dict[str, str]]:
        """Which of the names are sizes: the file's defaults say so."""
        if not choice:
            return {}
        launch = self.record({}).launch
        return {"--shape": {n: v for n, v in choice.items() if n in launch["sizes"]},
                "--set": {n: v for n, v in choice.items() if n in launch["settings"]}}


def _word(value: Any) -> str:
    """As the command line takes it: true, false."""
    text = str(value)
    return text.lower() if text in ("True", "False") else text


def _number(param: Dict[str, Any], value: Any) -> str:
    try:
        return number_bytes(value, param["dtype"]).hex()
    except Error as e:
        raise Error(f"{param['number']} is a number of the launch, {param['dtype']}: {e}") from None


def _new_outputs(recorded: Recorded, inputs: Sequence[Any]) -> List[Any]:
    return [_new(a, inputs) for a in recorded.arrays("out")]


def _one_or_all(outputs: Sequence[Any]) -> Any:
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


def _bytes(array: Dict[str, Any]) -> int:
    size = 1
    for n in array["shape"]:
        size *= n
    return size  # of bytes: scratch


def _machine_name(dtype: str) -> str:
    """The frontend's names as those of arrays: s32 is i32."""
    return "i" + dtype[1:] if dtype[:1] == "s" and dtype[1:].isdigit() else dtype


def _type_of(array: Any) -> Tuple[str, Tuple[int, ...]]:
    if not hasattr(array, "dtype"):
        raise Error(f"a {type(array).__name__} is no array")
    view = View.type_of(array)
    if not view[2]:
        raise Error("an input must lie densely, row by row: array.contiguous(), numpy.ascontiguousarray(array)")
    return view[0], view[1]


def _on_device(inputs: Sequence[Any]) -> bool:
    return bool(inputs) and all(getattr(a, "is_cuda", False) for a in inputs)


_TORCH = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "bool": "bool", "e4m3": "float8_e4m3fn",
          "e5m2": "float8_e5m2", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16",
          "u32": "uint32", "u64": "uint64"}


def _new(array: Dict[str, Any], inputs: Sequence[Any]) -> Any:
    """An output beside the inputs: of the same library."""
    name = _TORCH.get(_machine_name(array["dtype"]))
    if name is None:
        raise Unsupported(f"an output of {array['dtype']}")
    torch = sys.modules.get("torch")
    if torch is not None and inputs and isinstance(inputs[0], torch.Tensor):
        return torch.empty(tuple(array["shape"]), dtype=getattr(torch, name), device=inputs[0].device)
    import numpy
    try:
        return numpy.empty(tuple(array["shape"]), dtype=name)
    except TypeError:
        import ml_dtypes  # bfloat16 and formats of 8 bits
        return numpy.empty(tuple(array["shape"]), dtype=getattr(ml_dtypes, name))


