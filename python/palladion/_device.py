"""A recorded kernel on the device of this process: a GPU, or the simulated one of `activate`. By the driver API."""
from __future__ import annotations

import ctypes
import functools
from typing import Any, List, Sequence

from ._errors import Error, Unsupported
from ._files import Recorded

_MAX_DYNAMIC_SHARED, _CLUSTER, _COOPERATIVE, _PROGRAMMATIC = 8, 4, 2, 6  # CUfunction_attribute, CUlaunchAttributeID


class _Attribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_uint), ("pad", ctypes.c_uint), ("value", ctypes.c_uint * 16)]


class _Config(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.POINTER(_Attribute)), ("count", ctypes.c_uint)]


@functools.lru_cache(maxsize=None)
def _driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")


def _call(name: str, *args: Any) -> None:
    status = getattr(_driver(), name)(*args)
    if status != 0:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(status, ctypes.byref(text))
        raise Error(f"{name}: {(text.value or b'').decode()} ({status})")


@functools.lru_cache(maxsize=256)
def _function(ptx: str, entry: str, shared: int, device: int) -> ctypes.c_void_p:
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    _call("cuModuleLoadData", ctypes.byref(module), ptx.encode())
    _call("cuModuleGetFunction", ctypes.byref(function), module, entry.encode())
    _call("cuFuncSetAttribute", function, _MAX_DYNAMIC_SHARED, shared)
    return function


def launch(recorded: Recorded, inputs: Sequence[Any], outputs: List[Any]) -> List[Any]:
    """The outputs, when the launch is in PyTorch's current stream. `inputs`, `outputs`: tensors of one device."""
    import torch
    what = recorded.launch
    tensors = list(inputs) + outputs
    device = tensors[0].device
    if any(t.device != device for t in tensors):
        raise Error("the inputs lie on several devices")
    given = iter(tensors)
    with torch.cuda.device(device):
        arrays = [torch.zeros(_elements(a), dtype=torch.uint8, device=device) if a["role"] == "scratch" else next(given)
                  if a["role"] != "profile" else _no_profile() for a in what["arrays"]]
        values = [_value(param, arrays) for param in what["params"]]
        pointers = (ctypes.c_void_p * max(1, len(values)))(*map(ctypes.addressof, values))
        attributes = _attributes(what)
        config = _Config((ctypes.c_uint * 3)(*what["grid"]), (ctypes.c_uint * 3)(*what["block"]), what["shared"],
                         torch.cuda.current_stream().cuda_stream, attributes, len(attributes))
        function = _function(recorded.ptx, what["entry"], what["shared"], device.index or 0)
        _call("cuLaunchKernelEx", ctypes.byref(config), function, pointers, None)
    return outputs


def _elements(array: Any) -> int:
    size = 1
    for n in array["shape"]:
        size *= int(n)
    return size


def _no_profile() -> Any:
    raise Unsupported("a kernel that records scopes (profile=1), on a device")


def _value(param: Any, arrays: Sequence[Any]) -> Any:
    if "bytes" in param:
        return ctypes.create_string_buffer(bytes.fromhex(param["bytes"]), len(param["bytes"]) // 2)
    address = arrays[param["array"]].data_ptr()
    if "tensor_map" not in param:
        return ctypes.c_uint64(address)
    encoded = bytearray.fromhex(param["tensor_map"])  # its first eight bytes are the address
    offset = int.from_bytes(encoded[:8], "little")
    encoded[:8] = (address + offset).to_bytes(8, "little")
    return ctypes.create_string_buffer(bytes(encoded), len(encoded))


def _attributes(what: Any) -> Any:
    found = []
    if list(what["cluster"]) != [1, 1, 1]:
        found.append((_CLUSTER, what["cluster"]))
    if what["cooperative"]:
        found.append((_COOPERATIVE, [1]))
    if what["programmatic"]:
        found.append((_PROGRAMMATIC, [1]))
    attributes = (_Attribute * len(found))()
    for attribute, (number, values) in zip(attributes, found):
        attribute.id = number
        for i, value in enumerate(values):
            attribute.value[i] = value
    return attributes
