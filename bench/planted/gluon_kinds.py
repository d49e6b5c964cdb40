"""Planted mistakes in Gluon for Hopper: KIND, and `right` or `broken`. Lines that a finding has to name end with MISTAKE."""
import sys

import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (async_copy, fence_async_shared, mbarrier, tma,
                                                              warpgroup_mma, warpgroup_mma_wait)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

KINDS = {}


def kind(name, **options):
    def take(kernel):
        KINDS[name] = (kernel, options)
        return kernel
    return take


@kind("copy-not-waited")
@gluon.jit
def copy_not_waited(a, b, d, RIGHT: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    mbarrier.expect(full, a.block_type.nbytes)
    tma.async_load(a, [0, 0], full, tile)  # MISTAKE copy-not-waited
    if RIGHT:
        mbarrier.wait(full, 0)
    values = tile.load(rows)  # MISTAKE copy-not-waited
    mbarrier.wait(full, 0)
    tile.store(values + values)
    fence_async_shared()
    tma.async_store(d, [0, 0], tile)
    tma.store_wait(pendings=0)


@kind("store-not-waited")
@gluon.jit
def store_not_waited(a, b, d, RIGHT: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    tile.store(gl.full([64, 64], 1.0, gl.float16, rows))
    fence_async_shared()
    tma.async_store(d, [0, 0], tile)  # MISTAKE store-not-waited
    if RIGHT:
        tma.store_wait(pendings=0)
    tile.store(gl.full([64, 64], 2.0, gl.float16, rows))  # MISTAKE store-not-waited
    fence_async_shared()
    tma.async_store(d, [64, 0], tile)
    tma.store_wait(pendings=0)


@kind("mbarrier-count")
@gluon.jit
def mbarrier_count(a, b, d, RIGHT: gl.constexpr):
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1 if RIGHT else 2)
    mbarrier.expect(full, a.block_type.nbytes)
    tma.async_load(a, [0, 0], full, tile)
    mbarrier.wait(full, 0)  # MISTAKE mbarrier-count
    tma.async_store(d, [0, 0], tile)
    tma.store_wait(pendings=0)


@kind("too-many-bytes")
@gluon.jit
def too_many_bytes(a, b, d, RIGHT: gl.constexpr):
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    mbarrier.expect(full, a.block_type.nbytes if RIGHT else 2 * a.block_type.nbytes)
    tma.async_load(a, [0, 0], full, tile)
    mbarrier.wait(full, 0)  # MISTAKE too-many-bytes
    tma.async_store(d, [0, 0], tile)
    tma.store_wait(pendings=0)


@kind("wrong-phase")
@gluon.jit
def wrong_phase(a, b, d, RIGHT: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    out = gl.allocate_shared_memory(d.dtype, d.block_type.shape, d.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    for k in range(4):
        mbarrier.expect(full, a.block_type.nbytes)
        tma.async_load(a, [0, 0], full, tile)  # MISTAKE wrong-phase
        if RIGHT:
            mbarrier.wait(full, k & 1)
        else:
            mbarrier.wait(full, 0)  # MISTAKE wrong-phase
        out.store(tile.load(rows))  # MISTAKE wrong-phase
    fence_async_shared()
    tma.async_store(d, [0, 0], out)
    tma.store_wait(pendings=0)


@kind("product-not-waited")
@gluon.jit
def product_not_waited(a, b, d, RIGHT: gl.constexpr):
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    x = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    y = gl.allocate_shared_memory(b.dtype, b.block_type.shape, b.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    acc = gl.zeros([64, 64], gl.float32, layout)
    mbarrier.expect(full, a.block_type.nbytes + b.block_type.nbytes)
    tma.async_load(a, [0, 0], full, x)
    tma.async_load(b, [0, 0], full, y)
    mbarrier.wait(full, 0)
    acc = warpgroup_mma(x, y, acc, is_async=True)  # MISTAKE product-not-waited
    if RIGHT:
        acc = warpgroup_mma_wait(num_outstanding=0, deps=[acc])
    mbarrier.expect(full, a.block_type.nbytes)
    tma.async_load(b, [0, 0], full, x)  # MISTAKE product-not-waited
    mbarrier.wait(full, 1)
    if not RIGHT:
        acc = warpgroup_mma_wait(num_outstanding=0, deps=[acc])
    out = gl.allocate_shared_memory(d.dtype, d.block_type.shape, d.layout)
    out.store(acc.to(gl.float16))
    fence_async_shared()
    tma.async_store(d, [0, 0], out)
    tma.store_wait(pendings=0)


@kind("never-arrives")
@gluon.jit
def never_arrives(a, b, d, RIGHT: gl.constexpr):
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    mbarrier.init(empty, count=1)
    for k in range(4):
        mbarrier.wait(empty, (k & 1) ^ 1)  # MISTAKE never-arrives
        mbarrier.expect(full, a.block_type.nbytes)
        tma.async_load(a, [0, 0], full, tile)
        mbarrier.wait(full, k & 1)
        tma.async_store(d, [k * 64, 0], tile)
        tma.store_wait(pendings=0)
        if RIGHT:
            mbarrier.arrive(empty)


@kind("async-copy-not-waited")
@gluon.jit
def async_copy_not_waited(a, b, d, pointer, RIGHT: gl.constexpr):
    rows: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    i = gl.arange(0, 64, gl.SliceLayout(1, rows))
    j = gl.arange(0, 64, gl.SliceLayout(0, rows))
    async_copy.async_load(tile, pointer + i[:, None] * 64 + j[None, :])  # MISTAKE async-copy-not-waited
    async_copy.commit_group()
    if RIGHT:
        async_copy.wait_group(0)
    values = tile.load(rows)  # MISTAKE async-copy-not-waited
    async_copy.wait_group(0)
    tile.store(values + values)
    fence_async_shared()
    tma.async_store(d, [0, 0], tile)
    tma.store_wait(pendings=0)


if __name__ == "__main__":
    kernel, options = KINDS[sys.argv[1]]
    block = [64, 64]
    layout = gl.NVMMASharedLayout.get_default_for(block, gl.float16)
    numbers = torch.Generator().manual_seed(1)
    a, b = (torch.rand(64, 64, generator=numbers).half().cuda() for _ in range(2))
    d = torch.zeros(256, 64).half().cuda()
    maps = [TensorDescriptor.from_tensor(t, block, layout) for t in (a, b, d)]
    extra = [a] if sys.argv[1] == "async-copy-not-waited" else []
    kernel[(1,)](*maps, *extra, RIGHT=sys.argv[2] == "right", num_warps=4, **options)
    torch.cuda.synchronize()
