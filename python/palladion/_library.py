"""The library of C++, by ctypes: requests and answers are JSON (python/native/interface.h)."""
from __future__ import annotations

import ctypes
import functools
import json
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence

from ._errors import raise_for
from ._home import home

Addresses = Sequence[Optional[int]]


@functools.lru_cache(maxsize=None)
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(home().library))
    pointer, text, pointers = ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)
    for name, arguments in {
            "open_program": [text, pointers],
            "open_job": [pointer, text, pointers, pointers],
            "perform": [pointer, text, pointers, pointers],
    }.items():
        function = getattr(library, "palladion_" + name)
        function.argtypes, function.restype = arguments, pointer
    for name in ("close_job", "close_program", "free"):
        function = getattr(library, "palladion_" + name)
        function.argtypes, function.restype = [pointer], None
    return library


def _answer(address: int) -> Dict[str, Any]:
    answer: Dict[str, Any] = json.loads(ctypes.string_at(address))
    _library().palladion_free(address)
    if "error" in answer:
        raise_for(answer["error"])
    return answer


def _array(addresses: Optional[Addresses]) -> Any:
    return None if addresses is None else (ctypes.c_void_p * max(1, len(addresses)))(*addresses)


class _Handle:
    """An object of the library, closed when it is no longer used."""

    def __init__(self, value: Optional[int], close: Callable[[int], None], keep: Any = None) -> None:
        self.value = value
        self._keep = keep  # what must live as long
        self._finalizer = weakref.finalize(self, _close, close, value, keep)


def _close(close: Callable[[int], None], value: Optional[int], keep: Any) -> None:
    del keep
    if value is not None:
        close(value)


class NativeProgram(_Handle):
    """PTX or a bundle, read and verified."""

    about: Dict[str, Any]

    def __init__(self, **request: Any) -> None:
        out = ctypes.c_void_p()
        self.about = _answer(_library().palladion_open_program(json.dumps(request).encode(), ctypes.byref(out)))
        super().__init__(out.value, _library().palladion_close_program)


class NativeJob(_Handle):
    """A launch with copies of its arrays."""

    def __init__(self, program: NativeProgram, request: Dict[str, Any], arrays: Addresses) -> None:
        out = ctypes.c_void_p()
        text = json.dumps(request).encode()
        _answer(_library().palladion_open_job(program.value, text, _array(arrays), ctypes.byref(out)))
        super().__init__(out.value, _library().palladion_close_job, program)

    def perform(self, request: Dict[str, Any], outputs: Optional[Addresses] = None,
                wanted: Optional[Addresses] = None) -> Dict[str, Any]:
        """Runs or checks it; Ctrl-C ends that and raises KeyboardInterrupt."""
        text = json.dumps(request).encode()
        return _answer(_interruptible(lambda: _library().palladion_perform(
            self.value, text, _array(outputs), _array(wanted))))


def _interruptible(function: Callable[[], int]) -> int:
    """The answer of a call. Python delivers signals between its own instructions, in its main thread: the call happens in
    another one."""
    if threading.current_thread() is not threading.main_thread():
        return function()
    results: List[int] = []
    done = threading.Event()  # Thread.join that was interrupted does not wait again before Python 3.13

    def call() -> None:
        try:
            results.append(function())
        finally:
            done.set()

    threading.Thread(target=call).start()
    try:
        done.wait()
    except KeyboardInterrupt:
        _library().palladion_stop(1)
        done.wait()
        _library().palladion_stop(0)
        _library().palladion_free(results[0])
        raise
    return results[0]
