"""PyTorch's CUDA operators where their kernels are machine code alone: computed by its CPU operators, on the same memory.

    import palladion
    palladion.activate()
    import palladion.torch
    palladion.torch.install()
    import torch
    x = torch.randn(1000, device="cuda")      # computed on the host, not checked
    kernel[(4,)](x, ...)                      # in the machine, checked

What computes on the host is not checked, and takes no time of the clock; `computed()` counts it, and a line on stderr says so
when the process ends. Kernels of Triton, CUDA C++ and others are not concerned.
"""
from __future__ import annotations

import atexit
import collections
import contextlib
import ctypes
import os
import sys
import warnings
from typing import Any, Callable, Counter, Dict, Iterator, List, Set, Tuple

from ._active import activate, attach, host_view
from . import _attention, _plain, _sparse
from ._errors import Error

# Allocate, or read one element: the driver does it.
_KEPT = {"empty", "empty_strided", "resize_", "set_", "record_stream", "is_pinned", "_pin_memory", "_local_scalar_dense",
         "_efficientzerotensor", "_resize_output_", "lift", "lift_fresh"}
# Their kernels for the device choose among others, as machine code: the whole of each is the host's.
_WHOLE = {"convolution", "convolution_backward"}
# Take tensors of the host beside those of the device, as they do on a GPU; others take numbers of the host alone.
_MIXED = {"copy_", "_copy_from", "_copy_from_and_resize", "index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index",
          "_unsafe_index_put", "_ctc_loss", "_ctc_loss_backward", "_use_cudnn_ctc_loss", "_use_miopen_ctc_loss", "_pack_padded_sequence",
          "tensor_split"}
_OPERATORS = {**_attention.OPERATORS, **_plain.OPERATORS}
_counts: Counter[str] = collections.Counter()
_libraries: List[Any] = []
_replaced: Set[str] = set()
_SPARSE = ("SparseCUDA", "SparseCsrCUDA")


def computed() -> Dict[str, int]:
    """Operators that were computed on the host, not checked, and how often."""
    return dict(_counts)


def install(caching: bool = False) -> int:
    """Gives PyTorch's CUDA device operators of the host; the number of them. Activates palladion where that was not done.

    `caching`: PyTorch keeps freed memory and gives it out again, as it does on a GPU, and as CUDA graphs need; without it
    each tensor is an allocation of its own, whose end is known. Raises Error where PyTorch has used its device before.
    """
    if _libraries:
        return len(_replaced)
    if not attach():
        activate()
    if not caching:
        os.environ.setdefault("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")
    import torch
    if torch.version.cuda is None:
        raise Error("this PyTorch was built without CUDA; pip install torch, from PyPI, has it")
    for key in ("CUDA", *_SPARSE):
        _replace_all(torch.library.Library("aten", "IMPL", key), key)
    _choose_plain_implementations()
    atexit.register(_say)
    return len(_replaced)


def as_torch_kernel(kernel: Any, **choice: Any) -> Callable[..., Any]:
    """A kernel of `palladion.load("file.cpp")` as a function of tensors, which gives new tensors on the same device.

    As Pallas' `plgpu.as_torch_kernel`: tensors on a GPU are computed there, in PyTorch's current stream; those on the host,
    and on the device of `activate`, in the simulated GPU. `choice`: sizes and settings by name."""
    def call(*tensors: Any) -> Any:
        import torch
        if not all(isinstance(t, torch.Tensor) for t in tensors):
            raise TypeError("a torch kernel takes tensors")
        return kernel(*tensors, **choice)

    call.__name__ = kernel.name
    return call


def _replace_all(library: Any, key: str) -> None:
    import torch
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel is replaced
        for name in torch._C._dispatch_get_all_op_names():
            _replace(library, name, key)
    # PyTorch lets one library of Python have an operator. Ours is in the place of the machine code: others may override it.
    torch.library._impls.difference_update(library._op_impls)
    _libraries.append(library)


def _replace(library: Any, name: str, key: str) -> None:
    import torch
    space, _, rest = name.partition("::")
    base, _, overload = rest.partition(".")
    if space != "aten" or base in _KEPT or (key in _SPARSE and base in _sparse.KEPT):
        return
    always = key == "CUDA" and (base == "copy_" or base in _WHOLE)
    if not always and not torch._C._dispatch_has_kernel_for_dispatch_key(name, key):
        return
    packet = getattr(torch.ops.aten, base, None)
    operator = getattr(packet, overload or "default", None)
    if operator is None or _is_view(operator._schema):
        return
    library.impl(rest, _on_host(operator))
    _replaced.add(rest)


def _is_view(schema: Any) -> bool:
    """Its result is an argument seen otherwise: no byte is touched."""
    aliases = [r.alias_info for r in schema.returns if r.alias_info is not None]
    return bool(aliases) and not any(a.is_write for a in aliases)


def _choose_plain_implementations() -> None:
    """Those of cuDNN and of fused attention take the device's memory themselves."""
    import torch
    torch.backends.cudnn.enabled = False
    for how in ("flash", "mem_efficient", "cudnn"):
        getattr(torch.backends.cuda, f"enable_{how}_sdp")(False)


def _say() -> None:
    if _counts:
        most = ", ".join(f"{name} ({n})" for name, n in _counts.most_common(5))
        print(f"palladion: {sum(_counts.values())} operations of PyTorch were computed on the host, not checked: {most}"
              f"{', ...' if len(_counts) > 5 else ''}", file=sys.stderr)


@contextlib.contextmanager
def _numbers_of(generator: Any, device: int) -> Iterator[None]:
    """Random numbers of the host as the device's generator asks for them: by its seed, and by how many calls came before.

    The host's own generator is as it was afterwards."""
    import torch
    generator = torch.cuda.default_generators[device] if generator is None else generator
    state = generator.get_state()
    seed, offset = state.view(torch.int64).tolist()
    host = torch.default_generator.get_state()
    torch.default_generator.manual_seed((seed * 0x9E3779B97F4A7C15 + offset) & (2 ** 63 - 1))
    try:
        yield
    finally:
        torch.default_generator.set_state(host)
        state.view(torch.int64)[1] = offset + 4
        generator.set_state(state)


def _span(tensor: Any) -> Tuple[int, int]:
    """The memory from its first element to its last one: address and bytes."""
    if tensor.numel() == 0:
        return tensor.data_ptr(), 0
    elements = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
    return tensor.data_ptr(), elements * tensor.element_size()


def _seen(tensor: Any, writes: bool) -> Any:
    """The same memory as a tensor of the host."""
    import torch
    storage = tensor.untyped_storage()
    size = storage.nbytes()
    if size == 0:
        raw = torch.empty(0, dtype=torch.uint8)
    else:
        if writes and tensor.numel():
            host_view(*_span(tensor), True)
        address, _ = host_view(storage.data_ptr(), size, False)
        raw = torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=torch.uint8)
    seen = torch.empty(0, dtype=tensor.dtype).set_(raw.untyped_storage(), tensor.storage_offset(), tensor.size(),
                                                   tensor.stride())
    return torch._conj(seen) if tensor.is_conj() else torch._neg_view(seen) if tensor.is_neg() else seen


class _Call:
    """One operation: arguments to the host, results back."""

    def __init__(self) -> None:
        self.pairs: List[Tuple[Any, Any]] = []  # tensor of the host, of the device
        self.sparse: List[Tuple[Any, Any]] = []  # the same of sparse ones, whose parts are pairs
        self.of_host = False  # a tensor of the host was given, no mere number
        self.generator: Any = None

    def down(self, value: Any, writes: bool) -> Any:
        import torch
        if isinstance(value, torch.Tensor):
            if not value.is_cuda:
                self.of_host = self.of_host or value.dim() > 0
                return value
            if _sparse.is_sparse(value):
                seen = _sparse.of_parts(value, [self.down(part, writes) for part in _sparse.parts(value)])
                self.sparse.append((seen, value))
            else:
                seen = _seen(value, writes)
                self.pairs.append((seen, value))
            return seen
        if isinstance(value, torch.device):
            return torch.device("cpu") if value.type == "cuda" else value
        if isinstance(value, torch.Generator):
            if value.device.type != "cuda":
                return value
            self.generator = value
            return None
        if isinstance(value, (list, tuple)):
            return type(value)(self.down(v, writes) for v in value)
        return value

    def take_resized(self) -> None:
        """An out= of another size was given."""
        for seen, tensor in self.pairs:
            if seen.shape != tensor.shape:
                tensor.resize_(seen.shape)
                _seen(tensor, True).copy_(seen)

    def up(self, result: Any) -> Any:
        import torch
        if isinstance(result, (list, tuple)):
            return type(result)(self.up(r) for r in result)
        if not isinstance(result, torch.Tensor):
            return result
        if _sparse.is_sparse(result):
            return self._sparse_up(result)
        for seen, tensor in self.pairs:
            if result is seen:
                return tensor
        for seen, tensor in self.pairs:
            if result.untyped_storage().nbytes() and \
                    result.untyped_storage().data_ptr() == seen.untyped_storage().data_ptr():
                typed = tensor if tensor.dtype == result.dtype else tensor.view(result.dtype)
                return typed.as_strided(result.size(), result.stride(), result.storage_offset())
        device = next((tensor.device for _, tensor in self.pairs), torch.device("cuda"))
        made = torch.empty_strided(result.size(), result.stride(), dtype=result.dtype, device=device)
        _seen(made, True).copy_(result)
        return made


    def _sparse_up(self, result: Any) -> Any:
        made = _sparse.of_parts(result, [self.up(part) for part in _sparse.parts(result)])
        for seen, tensor in self.sparse:
            if result is seen:  # updated in place: it may have other parts now
                tensor.data = made
                return tensor
        return made


def _is_plain_copy(to: Any, source: Any) -> bool:
    """Bytes as they are: the driver copies them, and judges the order of it."""
    return bool(to.dtype == source.dtype and to.shape == source.shape and to.is_contiguous() and source.is_contiguous()
                and to.is_conj() == source.is_conj() and to.is_neg() == source.is_neg())


def _on_host(operator: Any) -> Callable[..., Any]:
    import torch
    schema = operator._schema
    copy = torch.library.get_kernel("aten::copy_", "CUDA") if schema.name == "aten::copy_" else None
    writes = {a.name: a.alias_info is not None and a.alias_info.is_write for a in schema.arguments}
    order = [a.name for a in schema.arguments]
    name = str(schema.name)
    is_tensor = {a.name: isinstance(a.type, torch.TensorType) for a in schema.arguments}
    plain = None if "out" in schema.overload_name else _OPERATORS.get(name)
    is_mixed = name.partition("::")[2] in _MIXED
    is_random = torch.Tag.nondeterministic_seeded in operator.tags

    def of_overload(args: Any, kwargs: Any) -> Any:
        """A number in place of a tensor (`x & 3`) has another overload, which knows that it gives no type."""
        given = [*zip(order, args), *kwargs.items()]
        numbers = any(is_tensor[key] and isinstance(value, (bool, int, float, complex)) for key, value in given)
        return operator.overloadpacket if numbers else operator

    def computed_on_host(*args: Any, **kwargs: Any) -> Any:
        if copy is not None and _is_plain_copy(*args[:2]):
            return copy.call_boxed(torch._C.DispatchKeySet(torch._C.DispatchKey.CUDA), *args, **kwargs)
        _counts[name] += 1
        torch.cuda.synchronize()
        call = _Call()
        positional = [call.down(value, writes[order[i]]) for i, value in enumerate(args)]
        named = {key: call.down(value, writes[key]) for key, value in kwargs.items()}
        if call.of_host and call.pairs and not is_mixed:
            raise RuntimeError(f"Expected all tensors to be on the same device, but found at least two devices, "
                               f"{call.pairs[0][1].device} and cpu! ({name})")
        device = call.pairs[0][1].device.index if call.pairs else torch.cuda.current_device()
        try:
            with _numbers_of(call.generator, device) if is_random else contextlib.nullcontext():
                result = (plain or of_overload(positional, named))(*positional, **named)
        except NotImplementedError as e:
            raise NotImplementedError(f"palladion: PyTorch has no {name} for the host, and for the device machine code "
                                      "alone") from e
        call.take_resized()
        return call.up(result)

    return computed_on_host


