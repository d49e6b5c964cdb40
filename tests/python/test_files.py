"""Kernels in C++ from a file, called with arrays."""
import pathlib
import shutil

import numpy as np
import palladion
import pytest
from test_active import TORCH, program

here = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def add():
    if not any(shutil.which(compiler) for compiler in ("g++", "clang++")):
        pytest.skip("no C++ compiler")
    return palladion.load(here / "add.cpp")["add"]


def test_a_kernel_is_a_function_of_arrays(add):
    a, b = np.arange(4096, dtype=np.float32), np.ones(4096, np.float32)
    out = add(a, b)  # n follows from the shapes
    assert isinstance(out, np.ndarray) and np.array_equal(out, a + b)
    assert np.array_equal(add(a[:512], b[:512], tile=128), (a + b)[:512])


def test_it_is_checked_compared_and_timed(add):
    a, b = np.arange(2048, dtype=np.float32), np.ones(2048, np.float32)
    assert palladion.check(add, a, b).expect_clean().verdict.decided
    assert palladion.compare(add, a, b, wanted={"out0": a + b}).ok
    assert palladion.time(add, a, b).cycles > 100
    result = palladion.check(add, a, b, racy=1)
    assert result.findings[0].code.startswith("PLD6") and result.findings[0].file.endswith("add.cpp")


def test_wrong_inputs_are_refused(add):
    a = np.zeros(1024, np.float32)
    for args, choice, text in (((a,), {}, "takes 2 arrays"), ((a, a.astype(np.float16)), {}, "f32"),
                               ((a, a), {"tiles": 1}, "no size or setting 'tiles'"), ((a, a), {"tile": 100}, "tile"),
                               ((a, a[::2]), {}, "densely"), ((a, 1.0), {}, "no array")):
        with pytest.raises(palladion.Error, match=text):
            add(*args, **choice)
    with pytest.raises(palladion.Error, match="no such file"):
        palladion.load("nothing.cpp")
    with pytest.raises(palladion.Error, match="subtract"):
        palladion.load(here / "add.cpp")["subtract"](a, a)


def test_what_does_not_compile_says_so(add, tmp_path):
    (tmp_path / "broken.cpp").write_text("#include <palladion/program.h>\nint broken( {\n")
    with pytest.raises(palladion.Error, match="broken.cpp:2"):
        palladion.load(tmp_path / "broken.cpp")["broken"]()


def test_tensors_of_torch(add):
    torch = pytest.importorskip("torch")
    import palladion.torch
    a, b = torch.arange(2048.0), torch.ones(2048)
    function = palladion.torch.as_torch_kernel(add, tile=512)
    out = function(a, b)
    assert torch.equal(out, a + b) and function.__name__ == "add"
    with pytest.raises(TypeError, match="tensors"):
        function(a, b.numpy())


def test_tensors_on_a_device_are_computed_there(add):
    """On the simulated one of `activate`, by the calls that a GPU gets."""
    pytest.importorskip("torch")
    program(TORCH + f"""
    add = palladion.torch.as_torch_kernel(palladion.load({str(here / "add.cpp")!r})["add"])
    a, b = torch.arange(2048.0, device="cuda"), torch.ones(2048, device="cuda")
    out = add(a, b)
    assert out.is_cuda and torch.equal(out.cpu(), a.cpu() + 1)
    (row,) = palladion.launches()
    assert row["kernel"]["name"] == "add" and palladion.findings() == []
    product = palladion.torch.as_torch_kernel(palladion.load({str(here.parents[1] / "docs" / "tutorial" / "step1.cpp")!r})["step1"])
    a, b = (torch.randint(-4, 5, (128, 128), device="cuda").half() for _ in range(2))
    assert torch.equal(product(a, b).float().cpu(), a.cpu().float() @ b.cpu().float())
    """)
