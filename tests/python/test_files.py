"""Kernels in C++ from a file, called with arrays."""
import pathlib
import shutil

import numpy as np
import palladion
import pytest
from test_active import TORCH, program

here = pathlib.Path(__file__).resolve().parent


def kernel_of(name):
    if not any(shutil.which(compiler) for compiler in ("g++", "clang++")):
        pytest.skip("no C++ compiler")
    return palladion.load(here / f"{name}.cpp")[name]


@pytest.fixture(scope="module")
def add():
    return kernel_of("add")


@pytest.fixture(scope="module")
def scale():
    return kernel_of("scale")


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


def test_numbers_of_the_launch_are_given_by_name(scale):
    x = np.arange(512, dtype=np.float32)
    assert np.array_equal(scale(x), 2 * x)  # those of the file
    assert np.array_equal(scale(x, alpha=0.5, beta=3), 0.5 * x + 3)
    assert np.array_equal(scale(x, beta=np.float64(0.25), length=128), np.concatenate([2 * x[:128] + 0.25, x[128:]]))
    wanted = 0.5 * x - 1
    assert palladion.compare(scale, x, wanted={"out0": wanted}, alpha=0.5, beta=-1).ok
    assert not palladion.compare(scale, x, wanted={"out0": wanted}, alpha=0.5, beta=np.int32(1)).ok
    assert palladion.check(scale, x, beta=1.0).expect_clean().verdict.decided
    assert palladion.time(scale, x, length=0).cycles < palladion.time(scale, x).cycles
    out = palladion.run(scale, x, alpha=-1, beta=np.array(8), shifted=True).outputs[0]
    assert np.array_equal(out, 8 - x)


def test_numbers_of_the_launch_need_no_new_recording(scale):
    x = np.ones(512, np.float32)
    before = len(scale._recorded)
    for beta in range(5):
        assert (scale(x, beta=beta) == 2 + beta).all()
    assert len(scale._recorded) == before


def test_numbers_are_rounded_as_their_type_is():
    from palladion._arrays import number_bytes

    def bf16(value):
        return int.from_bytes(number_bytes(value, "bf16"), "little")

    one, ulp = 0x3F80, 2.0 ** -7
    assert [bf16(v) for v in (1, 1 + ulp / 2, 1 + ulp * 3 / 2, 1 + ulp / 2 + 2.0 ** -50, 1 + ulp * 3 / 2 - 2.0 ** -50)] \
        == [one, one, one + 2, one + 1, one + 1]
    assert [bf16(-v) for v in (1 + ulp / 2, 1 + ulp / 2 + 2.0 ** -50)] == [0x8000 + one, 0x8000 + one + 1]
    assert (bf16(float("inf")), bf16(-0.0), bf16(float("nan"))) == (0x7F80, 0x8000, 0x7FC0)
    assert number_bytes(0.1, "f32") == np.float32(0.1).tobytes() and number_bytes(0.1, "f16") == np.float16(0.1).tobytes()
    assert number_bytes(-1, "s64") == np.int64(-1).tobytes() and number_bytes(True, "u32") == np.uint32(1).tobytes()
    for value, dtype, text in ((3.4e38, "bf16", "fit"), (1e39, "f32", "fit"), (-1, "u32", "fit"), (2 ** 31, "s32", "fit"), (0.5, "s32", "integer"),
                               ("1", "f32", "number"), (1j, "f32", "number"), (np.ones(1), "f32", "number")):
        with pytest.raises(palladion.Error, match=text):
            number_bytes(value, dtype)


def test_wrong_numbers_of_the_launch_are_refused(scale):
    x = np.zeros(512, np.float32)
    for choice, text in (({"gamma": 1}, r"no size, setting or number of the launch 'gamma'.*beta \(bf16\)"), ({"length": 1.5}, "length.*s32.*integer"),
                         ({"beta": 1, "shifted": 0}, "'beta'.*alpha"), ({"alpha": 9}, "-8 to 8"), ({"beta": "one"}, "number")):
        with pytest.raises(palladion.Error, match=text):
            scale(x, **choice)


def test_settings_with_names_of_options_are_settings(add, scale):
    x = np.zeros(512, np.float32)
    with pytest.raises(palladion.Error, match="cluster"):
        scale(x, cluster=3)
    with pytest.raises(palladion.Error, match="cluster"):
        palladion.run(scale, x, cluster=3)
    with pytest.raises(palladion.Error, match="'grid'"):  # the file states it
        palladion.run(add, x, x, grid=4)


def test_wrong_inputs_are_refused(add):
    a = np.zeros(1024, np.float32)
    for args, choice, text in (((a,), {}, "takes 2 arrays"), ((a, a.astype(np.float16)), {}, "f32"),
                               ((a, a), {"tiles": 1}, "no size, setting .* 'tiles'"), ((a, a), {"tile": 100}, "tile"),
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
    scale = palladion.torch.as_torch_kernel(palladion.load({str(here / "scale.cpp")!r})["scale"], alpha=0.5, beta=3)
    x = torch.arange(512.0, device="cuda")
    assert torch.equal(scale(x).cpu(), x.cpu() * 0.5 + 3)
    product = palladion.torch.as_torch_kernel(palladion.load({str(here.parents[1] / "docs" / "tutorial" / "step1.cpp")!r})["step1"])
    a, b = (torch.randint(-4, 5, (128, 128), device="cuda").half() for _ in range(2))
    assert torch.equal(product(a, b).float().cpu(), a.cpu().float() @ b.cpu().float())
    """)
