"""What Python does first under `palladion exec` with the clock or --torch: measurements by repetition take one launch (_bench.py),
and PyTorch gets its operators of the host (palladion.torch)."""
import importlib.util
import os
import sys
from types import ModuleType

_here = os.path.dirname(os.path.abspath(__file__))


def _take_part() -> None:
    """The part of the package, under its name there: `palladion.activate` in this process has the same one."""
    spec = importlib.util.spec_from_file_location("palladion._bench", os.path.join(_here, "_bench.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    module.by_one_launch()
    if os.environ.get("PALLADION_TORCH") == "1":
        os.environ.setdefault("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")  # as palladion.torch.install
        module.after_import("torch", _install)


def _install(_: ModuleType) -> None:
    try:
        import palladion.torch
    except ModuleNotFoundError as error:
        if error.name != "palladion":
            raise
        raise ImportError(f"palladion exec --torch: {sys.executable} has no package palladion (pip install palladion)") from None
    palladion.torch.install()


def _give_way() -> None:
    """To the file of the same name that this one hides."""
    sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder) != _here]
    hidden = sys.modules.pop(__name__)
    try:
        import sitecustomize  # noqa: F401
    except ModuleNotFoundError:
        pass
    sys.modules.setdefault(__name__, hidden)


_take_part()
_give_way()
