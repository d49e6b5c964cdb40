"""Arrays of others as addresses, shapes and element types."""
from __future__ import annotations

import dataclasses
import struct
import sys
from typing import Any, Dict, List, Optional, Sequence, Tuple

from ._errors import Error, Unsupported

_DTYPES = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64",
    "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2", "float8_e8m0fnu": "ue8m0",
}


class In:
    """An array that the kernel only reads: `In(array)`. It is not written back; a kernel that writes it raises Error.

    An array that is read only (of JAX, for example) is one of these by itself."""

    role = "in"

    def __init__(self, array: Any) -> None:
        self.array = array


class Out(In):
    """An array whose contents before the launch mean nothing: what the kernel reads of it before it writes is a finding."""

    role = "out"


@dataclasses.dataclass
class TensorMap:
    """A tensor map (CUtensorMap) over an array, as a parameter of a kernel.

    Shapes are outermost dimension first, as the array's own. `box`: elements of a tile. `strides`: of all dimensions but the
    innermost, in elements; none: dense. `swizzle`: 0, 32, 64 or 128 bytes. `oob`: "zero" or "nan", what comes from outside of
    the array. `l2`: 0, 64, 128 or 256 bytes. `offset`: bytes from the array's start. `shape`: where it is not the array's.
    """

    array: Any
    box: Sequence[int]
    strides: Sequence[int] = ()
    swizzle: int = 0
    oob: str = "zero"
    l2: int = 0
    offset: int = 0
    shape: Optional[Sequence[int]] = None

    def members(self) -> Dict[str, Any]:
        if self.swizzle not in (0, 32, 64, 128) or self.l2 not in (0, 64, 128, 256) or self.oob not in ("zero", "nan"):
            raise ValueError("swizzle is 0, 32, 64 or 128; l2 is 0, 64, 128 or 256; oob is zero or nan")
        out = dataclasses.asdict(dataclasses.replace(self, array=None))
        del out["array"]
        return {name: value if isinstance(value, (int, str, type(None))) else [int(v) for v in value]
                for name, value in out.items()}


class View:
    """The memory that a kernel gets for an array: from its first element to its last one, as a pointer has it.

    `address` in the host's memory, `dtype` by the machine's names, `shape`: the array's where it is dense and row-major, else
    one dimension of elements. Overlapping arrays are one memory where they are the same, else refused (`kernel_arrays`).
    """

    def __init__(self, array: Any, role: Optional[str] = None) -> None:
        shape, strides, size, writable = self._take_torch(array) if _is_torch(array) else self._take_numpy(array)
        if any(s < 0 for s in strides):
            raise Error("an array with negative strides: a kernel takes an address; numpy.ascontiguousarray makes a copy")
        self.elements = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides))
        self.dense = strides == _dense(shape)
        self.shape: Tuple[int, ...] = tuple(shape) if self.dense else (self.elements,)
        self.bytes = self.elements * size
        self.role = role or ("inout" if writable else "in")
        if self.role == "out" and not writable:
            raise Error("Out of an array that is read only: give one that can be written, numpy.empty_like")
        self.place = self.address  # on its device
        if self._device is not None:
            self._copy = self._device.as_strided((self.elements,), (1,)).cpu()
            self.address = self._copy.data_ptr()

    def _take_torch(self, tensor: Any) -> Tuple[Sequence[int], List[int], int, bool]:
        if str(tensor.layout) != "torch.strided" or tensor.device.type not in ("cpu", "cuda"):
            raise Error(f"a tensor of layout {tensor.layout} on {tensor.device.type}: a kernel takes the address of elements")
        if tensor.is_neg() or tensor.is_conj():
            raise Error("a tensor whose elements are negated or conjugated when they are read: tensor.resolve_neg() and "
                        "resolve_conj() do it now")
        self._kept = tensor.detach()
        self._device = None if tensor.device.type == "cpu" else self._kept
        self.device = str(tensor.device)
        self.address = tensor.data_ptr()
        self._name(str(tensor.dtype).replace("torch.", ""))
        return tuple(tensor.shape), list(tensor.stride()), tensor.element_size(), True

    def _take_numpy(self, array: Any) -> Tuple[Sequence[int], List[int], int, bool]:
        if not hasattr(array, "__array_interface__"):
            array = _numpy_of(array)
        self._kept, self._device, self.device = array, None, "cpu"
        interface = array.__array_interface__
        if not array.dtype.isnative or hasattr(array, "mask"):
            raise Error("an array with the bytes of its elements in another order, or with a mask: a kernel sees the elements as "
                        "they lie in memory")
        self.address, read_only = interface["data"]
        self._name(array.dtype.name)
        size = array.dtype.itemsize
        if any(s % size for s in array.strides):
            raise Error("an array whose strides are no multiples of its elements: numpy.ascontiguousarray makes a copy")
        return interface["shape"], [s // size for s in array.strides], size, not read_only

    @staticmethod
    def type_of(array: Any) -> Tuple[str, Tuple[int, ...], bool]:
        """Element type by the machine's name, shape, whether it lies densely, without its bytes."""
        if not _is_torch(array):
            view = View(array)
            return view.dtype, tuple(array.shape), view.dense
        view = View.__new__(View)
        view._name(str(array.dtype).replace("torch.", ""))
        return view.dtype, tuple(array.shape), bool(array.is_contiguous())

    def _name(self, name: str) -> None:
        if name not in _DTYPES:
            raise Error(f"the machine has no element type {name}; give the array as integers: array.view(...)")
        self.dtype = _DTYPES[name]

    def finish(self) -> None:
        """After the launch: an array on a device gets its contents."""
        if self._device is not None and self.role != "in":
            self._device.as_strided((self.elements,), (1,)).copy_(self._copy)

    def members(self, name: str) -> Dict[str, Any]:
        return {"name": name, "role": self.role, "dtype": self.dtype, "shape": list(self.shape)}


def _dense(shape: Sequence[int]) -> List[int]:
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= n
    return strides[::-1]


class Arrays:
    """The arrays of one launch, in the order in which the library gets them."""

    def __init__(self) -> None:
        self.views: List[View] = []
        self.names: List[str] = []
        self.scratch: List[Dict[str, Any]] = []

    def add(self, array: Any, name: str) -> int:
        """The number of its memory. An array that is given twice is one memory; those that overlap otherwise are refused."""
        view = View(array.array, array.role) if isinstance(array, In) else View(array)
        for i, known in enumerate(self.views):
            if known.device != view.device:
                raise Error(f"{self.names[i]} is on {known.device}, {name} on {view.device}: a launch takes arrays of one device")
            if (known.place, known.bytes, known.dtype) == (view.place, view.bytes, view.dtype):
                if known.role != view.role:
                    known.role = "inout"
                return i
            if known.place < view.place + view.bytes and view.place < known.place + known.bytes:
                raise Unsupported(f"{name} and {self.names[i]} share memory, but not the same of it: give one array")
        self.views.append(view)
        self.names.append(name)
        return len(self.views) - 1

    def add_scratch(self, size: int) -> int:
        """Zeroed memory of the launch. After the last array."""
        self.scratch.append({"name": "scratch", "role": "scratch", "dtype": "u8", "shape": [size]})
        return len(self.views) + len(self.scratch) - 1

    def members(self) -> List[Dict[str, Any]]:
        return [v.members(n) for v, n in zip(self.views, self.names)] + self.scratch

    def addresses(self) -> List[Optional[int]]:
        return [v.address for v in self.views] + [None] * len(self.scratch)

    def wanted(self, given: Any) -> Optional[List[Optional[int]]]:
        """Addresses of arrays that are wanted, beside `self._wanted`, which keeps them."""
        if given is None:
            return None
        written = [i for i, v in enumerate(self.views) if v.role != "in"]
        if isinstance(given, dict):
            unknown = [name for name in given if name not in self.names]
            if unknown:
                raise Error(f"wanted: there is no array {unknown[0]!r}; there are {', '.join(self.names)}")
            pairs = [(self.names.index(name), array) for name, array in given.items()]
        elif isinstance(given, (list, tuple)):
            if len(given) != len(written):
                raise Error(f"wanted: {len(given)} arrays for {len(written)} that the kernel may write "
                            f"({', '.join(self.names[i] for i in written)}); None for what is not compared")
            pairs = list(zip(written, given))
        else:
            raise TypeError("wanted: a dict of arrays by the name of a parameter, or a list in the order of the arrays")
        out: List[Optional[int]] = [None] * (len(self.views) + len(self.scratch))
        self._wanted = []
        for i, array in pairs:
            if array is None:
                continue
            view = View(array)
            if i not in written:
                raise Error(f"wanted: {self.names[i]} is only read")
            if (view.dtype, view.bytes, view.dense) != (self.views[i].dtype, self.views[i].bytes, self.views[i].dense):
                raise Error(f"wanted: {self.names[i]} is {self.views[i].dtype}{list(self.views[i].shape)}, given is "
                            f"{view.dtype}{list(view.shape)}")
            self._wanted.append(view)
            out[i] = view.address
        return out


def _is_torch(array: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def _numpy_of(array: Any) -> Any:
    """JAX and others, without a copy where they are in the host's memory."""
    import numpy
    if hasattr(array, "__array__"):
        return numpy.asarray(array)
    return numpy.from_dlpack(array)


def is_array(value: Any) -> bool:
    """NumPy's scalars have an array interface as well: they are numbers."""
    if _is_torch(value):
        return True
    if hasattr(value, "__array_interface__"):
        return not _is_numpy_scalar(value)
    return hasattr(value, "__dlpack__")


def _is_numpy_scalar(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def number_bytes(value: Any, dtype: str) -> bytes:
    """Of a number by the machine's type: f16, bf16, f32, f64, or an integer of 32 or 64 bits, rounded to nearest even.

    Takes what has one number: of Python, a NumPy scalar, an array without dimensions. Raises Error where it does not fit."""
    if not isinstance(value, (bool, int, float)):
        if getattr(value, "shape", None) != () or not hasattr(value, "item"):
            raise Error(f"a {type(value).__name__} is no number")
        value = value.item()
    if dtype in _FLOATS or dtype == "bf16":
        if not isinstance(value, (int, float)):
            raise Error(f"{value!r} is no real number")
    elif not isinstance(value, int):
        raise Error(f"{value!r} is no integer")
    try:
        return _bf16_bytes(float(value)) if dtype == "bf16" else struct.pack("<" + {**_INTEGERS, **_FLOATS}[dtype], value)
    except (struct.error, OverflowError):
        raise Error(f"{value!r} does not fit {dtype}") from None


def _bf16_bytes(value: float) -> bytes:
    """By way of f32 rounded to odd, so that the second rounding is that of the value itself."""
    if value != value:
        return b"\xc0\x7f"
    bits: int = struct.unpack("<I", struct.pack("<f", value))[0]
    nearest: float = struct.unpack("<f", struct.pack("<f", value))[0]
    if nearest != value:
        bits = (bits - (abs(nearest) > abs(value))) | 1
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    if bits & 0x7FFF == 0x7F80 and abs(value) != float("inf"):
        raise OverflowError
    return struct.pack("<H", bits)


_INTEGERS = {"u8": "B", "s8": "b", "b8": "B", "u16": "H", "s16": "h", "b16": "H", "u32": "I", "s32": "i", "b32": "I",
             "u64": "Q", "s64": "q", "b64": "Q"}
_FLOATS = {"f16": "e", "f32": "f", "f64": "d"}


def scalar_bytes(value: Any, type_name: str, size: int) -> bytes:
    """A parameter's bytes: of an int, a float, a bool, a NumPy or ctypes value, or bytes as they are.

    Raises Error where the value does not fit the parameter."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        raw = bytes(value)
    elif _is_numpy_scalar(value):
        raw = value.tobytes()
    elif isinstance(value, bool) or isinstance(value, int):
        raw = _packed(_FLOATS.get(type_name) or _INTEGERS.get(type_name), value, type_name)
    elif isinstance(value, float):
        raw = _packed(_FLOATS.get(type_name), value, type_name)
    elif value is None:
        raw = bytes(8)
    else:
        try:
            raw = bytes(memoryview(value))  # of ctypes
        except TypeError:
            raise Error(f"a {type(value).__name__} is no parameter of a kernel") from None
    if len(raw) != size:
        raise Error(f"{value!r} has {len(raw)} bytes, the parameter has {size} (.{type_name or 'b8[]'})")
    return raw


def _packed(letter: Optional[str], value: Any, type_name: str) -> bytes:
    if letter is None:
        raise Error(f"{value!r} for a parameter of type .{type_name or 'b8[]'}: give a NumPy scalar, or bytes")
    if letter.islower() is False and isinstance(value, int) and value < 0:
        letter = letter.lower()  # the bits of a negative number
    try:
        return struct.pack("<" + letter, value)
    except (struct.error, OverflowError):
        raise Error(f"{value!r} does not fit a parameter of type .{type_name}") from None


def dims(value: Any, what: str) -> Tuple[int, int, int]:
    """4, (4,), (4, 2) or (4, 2, 1): x first, as CUDA has it."""
    sizes = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not 1 <= len(sizes) <= 3 or any(int(s) < 1 for s in sizes):
        raise Error(f"{what}={value!r}: one to three sizes of at least 1")
    x, y, z = [int(s) for s in sizes] + [1] * (3 - len(sizes))
    return x, y, z
