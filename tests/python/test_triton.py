"""Triton kernels, compiled without a GPU and without PyTorch."""
import inspect

import numpy as np
import palladion
import pytest

triton = pytest.importorskip("triton")
tl = pytest.importorskip("triton.language")


@triton.jit
def add(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def lost_update(x, total, B: tl.constexpr):
    s = tl.sum(tl.load(x + tl.program_id(0) * B + tl.arange(0, B)), 0)
    tl.store(total, tl.load(total) + s)  # every program reads and writes the same element


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, K, BK):
        acc = tl.dot(tl.load(a + m[:, None] * K + (k0 + k)[None, :]), tl.load(b + (k0 + k)[:, None] * N + n[None, :]), acc)
    tl.store(c + m[:, None] * N + n[None, :], acc)


@triton.jit
def scaled(x, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i) * factor)


def test_a_kernel_runs_on_arrays_of_numpy():
    x, z = np.arange(1000, dtype=np.float32), np.zeros(1000, np.float32)
    result = palladion.run(add[(4,)], x, x, z, 1000, B=256)
    assert result.ok, str(result)
    assert np.array_equal(z, 2 * x)
    z[:] = 0
    assert palladion.run(add, x, x, z, n=1000, B=256, grid=lambda meta: (triton.cdiv(1000, meta["B"]),)).ok
    assert np.array_equal(z, 2 * x)


def test_a_race_is_found_at_its_line():
    source, first = inspect.getsourcelines(lost_update.fn)
    line = first + next(i for i, text in enumerate(source) if "tl.store" in text)
    x, total = np.ones(512, np.float32), np.zeros(1, np.float32)
    result = palladion.check(lost_update[(4,)], x, total, B=128)
    races = [f for f in result.findings if f.code == "PLD6001"]
    assert result.verdict.word == "errors" and races
    assert (races[0].file, races[0].line) == (__file__, line)
    assert "tl.store(total, tl.load(total) + s)" in races[0].text and "`total`" in races[0].text


@pytest.mark.parametrize("arch", ["h200", "b200"])
def test_a_product_is_right(arch):
    random = np.random.default_rng(1)
    a, b = (random.integers(-4, 5, (128, 128)).astype(np.float16) for _ in range(2))
    c = np.zeros((128, 128), np.float32)
    wanted = a.astype(np.float32) @ b.astype(np.float32)
    result = palladion.compare(product[(1, 1)], a, b, c, 128, 128, 128, BM=128, BN=128, BK=64, num_warps=4, arch=arch,
                               wanted={"c": wanted})
    assert result.ok, str(result)
    assert palladion.time(product[(1, 1)], a, b, c, 128, 128, 128, BM=128, BN=128, BK=64, arch=arch).cycles > 1000


def test_a_kernel_that_was_compiled_elsewhere_has_its_own_lines(tmp_path):
    """Triton's cache knows the text of a kernel alone."""
    import importlib.util
    text = inspect.getsource(lost_update.fn)
    for folder in ("first", "second"):
        file = tmp_path / folder / "moved.py"
        file.parent.mkdir()
        file.write_text("import triton\nimport triton.language as tl\n" + text)
        spec = importlib.util.spec_from_file_location("moved", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        result = palladion.check(module.lost_update[(4,)], np.ones(512, np.float32), np.zeros(1, np.float32), B=128)
        assert {f.file for f in result.findings} == {str(file)}


def test_contraction_is_what_the_launch_asks_for():
    @triton.jit
    def fused(x, out, B: tl.constexpr):
        i = tl.arange(0, B)
        v = tl.load(x + i)
        tl.store(out + i, v * v + v)

    x = np.random.default_rng(1).random(128).astype(np.float32)
    together, apart = np.zeros_like(x), np.zeros_like(x)
    palladion.run(fused[(1,)], x, together, B=128, enable_fp_fusion=True)
    palladion.run(fused[(1,)], x, apart, B=128, enable_fp_fusion=False)
    assert np.array_equal(apart, x * x + x)
    wide = x.astype(np.float64)
    assert np.array_equal(together, (wide * wide + wide).astype(np.float32)) and not np.array_equal(together, apart)


def test_autotune_takes_the_fastest_by_the_clock():
    tuned = triton.autotune([triton.Config({"BLOCK": 128}, num_warps=4), triton.Config({"BLOCK": 1024}, num_warps=1)],
                            key=[])(scaled)
    x = np.ones(4096, np.float32)
    result = palladion.run(tuned, x, 2.0, grid=lambda meta: (4096 // meta["BLOCK"],))
    assert result.ok and set(x) == {2.0}
    times = {config.kwargs["BLOCK"]: ms[0] for config, ms in tuned.configs_timings.items()}
    assert tuned.best_config.kwargs["BLOCK"] == min(times, key=times.get) and 0 < min(times.values()) < 1


def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    x, z = torch.randn(1000), torch.zeros(1000)
    assert palladion.run(add[(4,)], x, x, z, 1000, B=256).ok
    torch.testing.assert_close(z, x + x)


def test_a_descriptor_is_a_tensor_map():
    torch = pytest.importorskip("torch")
    from triton.tools.tensor_descriptor import TensorDescriptor

    @triton.jit
    def transpose(source, out, B: tl.constexpr):
        tile = source.load([B, 0])
        i = tl.arange(0, B)
        tl.store(out + i[:, None] * B + i[None, :], tl.trans(tile))

    x, out = torch.arange(64 * 64, dtype=torch.float32).reshape(64, 64), torch.zeros(32, 32)
    result = palladion.run(transpose[(1,)], TensorDescriptor.from_tensor(x, [32, 32]), out, B=32)
    assert result.ok, str(result)
    assert torch.equal(out, x[32:, :32].T)


def test_what_is_no_launch_is_refused():
    x = np.ones(4, np.float32)
    with pytest.raises(palladion.Error, match="grid"):
        palladion.run(scaled, x, 2.0, BLOCK=4)
    with pytest.raises(palladion.Unsupported, match="for x100"):
        palladion.run(scaled[(1,)], x, 2.0, BLOCK=4, arch="x100")
    with pytest.raises(palladion.Error, match="no kernel"):
        palladion.run(print, x)


def test_a_version_that_is_not_known_is_named(monkeypatch):
    from palladion import _triton
    monkeypatch.delattr(_triton._Driver, "get_current_stream")  # as if Triton asked for what ours does not have
    x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
    with pytest.raises(AttributeError):
        palladion.run(add[(1,)], x, x, y, 8, B=8)
    monkeypatch.setattr(triton, "__version__", "9.1.0")
    with pytest.raises(palladion.Unsupported, match=r"Triton 9.1.0 is not known: versions 3.6 to 3.9 were tried.*get_current_stream"):
        palladion.run(add[(1,)], x, x, y, 8, B=8)
