"""Gluon kernels as subjects, with tensor maps and barriers."""
import pathlib

import palladion
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton.experimental.gluon")
from triton.experimental import gluon  # noqa: E402
from triton.experimental.gluon import language as gl  # noqa: E402
from triton.experimental.gluon.language.nvidia.hopper import fence_async_shared, mbarrier, tma  # noqa: E402
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor  # noqa: E402


@gluon.jit
def twice(a, d, WAIT: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    mbarrier.expect(full, a.block_type.nbytes)
    tma.async_load(a, [0, 0], full, tile)
    if WAIT:
        mbarrier.wait(full, 0)
    values = tile.load(rows)  # before the copy has come
    mbarrier.wait(full, 0)
    tile.store(values + values)
    fence_async_shared()
    tma.async_store(d, [0, 0], tile)
    tma.store_wait(pendings=0)


def descriptors():
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16)
    x, y = torch.arange(64 * 64).reshape(64, 64).to(torch.float16) / 64, torch.zeros(64, 64, dtype=torch.float16)
    return x, y, [TensorDescriptor.from_tensor(t, [64, 64], layout) for t in (x, y)]


def test_a_kernel_is_run_checked_and_timed():
    x, y, given = descriptors()
    assert palladion.run(twice[(1,)], *given, WAIT=True).ok and torch.equal(y, x + x)
    result = palladion.check(twice[(1,)], *given, WAIT=True)
    assert result.verdict.word == "clean" and result.verdict.decided, str(result)
    assert palladion.time(twice[(1,)], *given, WAIT=True).cycles > 1000


def test_a_read_before_the_copy_has_come_is_found_at_its_line():
    _, _, given = descriptors()
    result = palladion.check(twice[(1,)], *given, WAIT=False)
    found = [f for f in result.findings if f.severity == "error"]
    assert found and found[0].file == __file__
    lines = pathlib.Path(__file__).read_text().splitlines()
    assert any("before the copy" in lines[site.line - 1] for f in found for site in f.sites), str(result)
