"""Measurements by repetition: one launch is enough. By the chip's clock all others would be equal; under the other schedules
host time says nothing of the chip, and a kernel that tunes itself would launch each of its settings forty times."""
from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any, Callable, List, Optional, Sequence


def by_one_launch() -> None:
    """triton.testing.do_bench gives the time of one launch from now on. The module may be imported later."""
    after_import("triton.testing", _replace)


def after_import(name: str, act: Callable[[ModuleType], None]) -> None:
    """`act` gets the module: now, where it is there, else when it is loaded."""
    if name in sys.modules:
        act(sys.modules[name])
    elif not any(isinstance(finder, _AfterImport) and finder.name == name for finder in sys.meta_path):
        sys.meta_path.insert(0, _AfterImport(name, act))


class _AfterImport(importlib.abc.MetaPathFinder):
    """Finds a module where all others do, and acts on it when it is loaded."""

    def __init__(self, name: str, act: Callable[[ModuleType], None]) -> None:
        self.name, self.act = name, act

    def find_spec(self, name: str, path: Optional[Sequence[str]] = None,
                  target: Optional[ModuleType] = None) -> Optional[importlib.machinery.ModuleSpec]:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                load(module)
                self.act(module)

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _replace(module: ModuleType) -> None:
    for name in ("do_bench", "do_bench_cudagraph"):
        original = getattr(module, name, None)
        if original is not None and not hasattr(original, "by_repetition"):
            setattr(module, name, _one_launch(original))


def _one_launch(original: Callable[..., Any]) -> Callable[..., Any]:
    def bench(fn: Callable[[], Any], *args: Any, quantiles: Optional[List[float]] = None, return_mode: str = "mean",
              **how: Any) -> Any:
        """Milliseconds of `fn` by the chip's clock, or the host's where it does not run: one run after one that is not counted."""
        import torch
        fn()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        fn()
        end.record()
        torch.cuda.synchronize()
        ms = begin.elapsed_time(end)
        return [ms] * len(quantiles) if quantiles is not None else [ms] if return_mode == "all" else ms

    bench.by_repetition = original  # type: ignore[attr-defined]
    return bench
