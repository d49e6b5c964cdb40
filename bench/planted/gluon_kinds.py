"""Planted mistakes in Gluon for Hopper: KIND, and `right` or `broken`. Lines that a finding has to name end with MISTAKE."""
import os
import sys

os.environ.setdefault("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")  # each tensor is an allocation, whose end is known
import torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (async_copy, fence_async_shared, mbarrier, tma,
                                                              warpgroup_mma, warpgroup_mma_wait)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

KINDS = {}
LINE = gl.constexpr(gl.BlockedLayout([1], [32], [4], [0]))
ROWS = gl.constexpr(gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0]))


def kind(name, grid=1, **options):
    def take(kernel):
        KINDS[name] = (kernel, grid, options)
        return kernel
    return take


@kind("copy-not-waited")
@gluon.jit
def copy_not_waited(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    mbarrier.expect(full, a.block_type.nbytes)
    tma.async_load(a, [0, 0], full, tile)  # MISTAKE copy-not-waited
    if RIGHT:
        mbarrier.wait(full, 0)
    values = tile.load(ROWS)  # MISTAKE copy-not-waited
    mbarrier.wait(full, 0)
    tile.store(values + values)
    fence_async_shared()
    tma.async_store(d, [0, 0], tile)
    tma.store_wait(pendings=0)


@kind("store-not-waited")
@gluon.jit
def store_not_waited(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    tile.store(gl.full([64, 64], 1.0, gl.float16, ROWS))
    fence_async_shared()
    tma.async_store(d, [0, 0], tile)  # MISTAKE store-not-waited
    if RIGHT:
        tma.store_wait(pendings=0)
    tile.store(gl.full([64, 64], 2.0, gl.float16, ROWS))  # MISTAKE store-not-waited
    fence_async_shared()
    tma.async_store(d, [64, 0], tile)
    tma.store_wait(pendings=0)


@kind("mbarrier-count")
@gluon.jit
def mbarrier_count(a, b, d, source, out, flags, RIGHT: gl.constexpr):
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
def too_many_bytes(a, b, d, source, out, flags, RIGHT: gl.constexpr):
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
def wrong_phase(a, b, d, source, out, flags, RIGHT: gl.constexpr):
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
        out.store(tile.load(ROWS))  # MISTAKE wrong-phase
    fence_async_shared()
    tma.async_store(d, [0, 0], out)
    tma.store_wait(pendings=0)


@kind("product-not-waited")
@gluon.jit
def product_not_waited(a, b, d, source, out, flags, RIGHT: gl.constexpr):
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
def never_arrives(a, b, d, source, out, flags, RIGHT: gl.constexpr):
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
def async_copy_not_waited(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    i = gl.arange(0, 64, gl.SliceLayout(1, ROWS))
    j = gl.arange(0, 64, gl.SliceLayout(0, ROWS))
    async_copy.async_load(tile, source + i[:, None] * 64 + j[None, :])  # MISTAKE async-copy-not-waited
    async_copy.commit_group()
    if RIGHT:
        async_copy.wait_group(0)
    values = tile.load(ROWS)  # MISTAKE async-copy-not-waited
    async_copy.wait_group(0)
    tile.store(values + values)
    fence_async_shared()
    tma.async_store(d, [0, 0], tile)
    tma.store_wait(pendings=0)


@kind("copy-not-committed")
@gluon.jit
def copy_not_committed(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    i = gl.arange(0, 64, gl.SliceLayout(1, ROWS))
    j = gl.arange(0, 64, gl.SliceLayout(0, ROWS))
    async_copy.async_load(tile, source + i[:, None] * 64 + j[None, :])  # MISTAKE copy-not-committed
    if RIGHT:
        async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(out + i[:, None] * 64 + j[None, :], tile.load(ROWS).to(gl.float32))  # MISTAKE copy-not-committed


@kind("one-store-left")
@gluon.jit
def one_store_left(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    tiles = gl.allocate_shared_memory(a.dtype, [2] + a.block_type.shape, a.layout)
    for k in gl.static_range(2):
        tiles.index(k).store(gl.full([64, 64], 1.0 + k, gl.float16, ROWS))
        fence_async_shared()
        tma.async_store(d, [64 * k, 0], tiles.index(k))  # MISTAKE one-store-left
    tma.store_wait(pendings=0 if RIGHT else 1)
    tiles.index(1).store(gl.full([64, 64], 3.0, gl.float16, ROWS))  # MISTAKE one-store-left
    fence_async_shared()
    tma.async_store(d, [128, 0], tiles.index(1))
    tma.store_wait(pendings=0)


@kind("operand-stored")
@gluon.jit
def operand_stored(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    x = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    y = gl.allocate_shared_memory(b.dtype, b.block_type.shape, b.layout)
    x.store(gl.full([64, 64], 1.0, gl.float16, ROWS))
    y.store(gl.full([64, 64], 2.0, gl.float16, ROWS))
    fence_async_shared()
    acc = gl.zeros([64, 64], gl.float32, layout)
    acc = warpgroup_mma(x, y, acc, is_async=True)  # MISTAKE operand-stored
    if RIGHT:
        acc = warpgroup_mma_wait(num_outstanding=0, deps=[acc])
    x.store(gl.full([64, 64], 3.0, gl.float16, ROWS))  # MISTAKE operand-stored
    if not RIGHT:
        acc = warpgroup_mma_wait(num_outstanding=0, deps=[acc])
    i = gl.arange(0, 64, gl.SliceLayout(1, layout))
    j = gl.arange(0, 64, gl.SliceLayout(0, layout))
    gl.store(out + i[:, None] * 64 + j[None, :], acc)


@kind("barrier-not-initialized")
@gluon.jit
def barrier_not_initialized(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    if RIGHT:
        mbarrier.init(full, count=1)
    mbarrier.expect(full, a.block_type.nbytes)  # MISTAKE barrier-not-initialized
    tma.async_load(a, [0, 0], full, tile)
    mbarrier.wait(full, 0)
    tma.async_store(d, [0, 0], tile)
    tma.store_wait(pendings=0)


@gluon.jit
def produce(a, tile, full, empty, PHASE: gl.constexpr):
    for k in range(4):
        mbarrier.wait(empty, (k & 1) ^ PHASE)  # MISTAKE producer-phase
        mbarrier.expect(full, a.block_type.nbytes)
        tma.async_load(a, [0, 0], full, tile)  # MISTAKE slot-freed-early


@gluon.jit
def consume(out, tile, full, empty, EARLY: gl.constexpr):
    i = gl.arange(0, 64, gl.SliceLayout(1, ROWS))
    j = gl.arange(0, 64, gl.SliceLayout(0, ROWS))
    total = gl.zeros([64, 64], gl.float32, ROWS)
    for k in range(4):
        mbarrier.wait(full, k & 1)  # MISTAKE producer-phase
        if EARLY:
            mbarrier.arrive(empty)
        total += tile.load(ROWS).to(gl.float32)  # MISTAKE slot-freed-early
        if not EARLY:
            fence_async_shared()  # the copy that refills is of another proxy than these loads
            mbarrier.arrive(empty)
    gl.store(out + i[:, None] * 64 + j[None, :], total)


@gluon.jit
def queue(a, out, PHASE: gl.constexpr, EARLY: gl.constexpr):
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    full = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(full, count=1)
    mbarrier.init(empty, count=1)
    gl.warp_specialize([(consume, (out, tile, full, empty, EARLY)), (produce, (a, tile, full, empty, PHASE))], [1], [24])


@kind("slot-freed-early")
@gluon.jit
def slot_freed_early(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    queue(a, out, 1, not RIGHT)


@kind("producer-phase")
@gluon.jit
def producer_phase(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    queue(a, out, 1 if RIGHT else 0, False)


@gluon.jit
def fill(tile, ready):
    layout: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    tile.store(gl.full([64, 64], 1.0, gl.float16, layout))  # MISTAKE partitions-without-barrier
    mbarrier.arrive(ready)


@gluon.jit
def drain(out, tile, ready, RIGHT: gl.constexpr):
    i = gl.arange(0, 64, gl.SliceLayout(1, ROWS))
    j = gl.arange(0, 64, gl.SliceLayout(0, ROWS))
    if RIGHT:
        mbarrier.wait(ready, 0)
    gl.store(out + i[:, None] * 64 + j[None, :], tile.load(ROWS).to(gl.float32))  # MISTAKE partitions-without-barrier


@kind("partitions-without-barrier")
@gluon.jit
def partitions_without_barrier(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    ready = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(ready, count=1)
    gl.warp_specialize([(drain, (out, tile, ready, RIGHT)), (fill, (tile, ready))], [4], [64])


@kind("tiles-overlap", grid=3)
@gluon.jit
def tiles_overlap(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    tile.store(gl.full([64, 64], 1.0, gl.float16, ROWS))
    fence_async_shared()
    tma.async_store(d, [gl.program_id(0) * (64 if RIGHT else 48), 0], tile)  # MISTAKE tiles-overlap
    tma.store_wait(pendings=0)


@kind("shared-never-written")
@gluon.jit
def shared_never_written(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    tile = gl.allocate_shared_memory(gl.float32, [256], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    i = gl.arange(0, 128, LINE)
    tile.slice(0, 128).store(gl.load(source + i).to(gl.float32))
    if RIGHT:
        tile.slice(128, 128).store(gl.zeros([128], gl.float32, LINE))
    gl.store(out + i, tile.slice(0, 128).load(LINE) + tile.slice(128, 128).load(LINE))  # MISTAKE shared-never-written


@kind("counter-without-atomic", grid=8)
@gluon.jit
def counter_without_atomic(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    if RIGHT:
        gl.atomic_add(flags, 1)
    else:
        gl.store(flags, gl.load(flags) + 1)  # MISTAKE counter-without-atomic


@kind("global-past-end", grid=33)
@gluon.jit
def global_past_end(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    i = gl.program_id(0) * 128 + gl.arange(0, 128, LINE)
    inside = i < 4096 if RIGHT else i >= 0
    gl.store(out + i, gl.load(source + i, mask=inside).to(gl.float32), mask=i < 4096)  # MISTAKE global-past-end


@kind("never-written", grid=8)
@gluon.jit
def never_written(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    i = gl.program_id(0) * 128 + gl.arange(0, 128, LINE)
    x = gl.load(source + i).to(gl.float32)
    if RIGHT:
        gl.store(out + i, x)
    else:
        gl.store(out + i, x + gl.load(out + i))  # MISTAKE never-written


@kind("flag-without-release", grid=2)
@gluon.jit
def flag_without_release(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    i = gl.arange(0, 128, LINE)
    if gl.program_id(0) == 0:
        gl.store(out + i, gl.load(source + i).to(gl.float32))  # MISTAKE flag-without-release
        gl.barrier()
        gl.atomic_xchg(flags, 1, sem="release" if RIGHT else "relaxed")
    else:
        while gl.atomic_add(flags, 0, sem="acquire") == 0:
            pass
        gl.barrier()
        gl.store(out + 128 + i, gl.load(out + i))  # MISTAKE flag-without-release


@kind("spin-for-ever", grid=2)
@gluon.jit
def spin_for_ever(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    if gl.program_id(0) == 0:
        if RIGHT:
            gl.atomic_xchg(flags, 1)
    else:
        while gl.atomic_add(flags, 0) == 0:  # MISTAKE spin-for-ever
            pass


@kind("failed-assert", debug=True)
@gluon.jit
def failed_assert(a, b, d, source, out, flags, RIGHT: gl.constexpr):
    i = gl.arange(0, 128, LINE)
    x = gl.load(source + i)
    if RIGHT:
        gl.device_assert(x >= 0, "x >= 0")
    else:
        gl.device_assert(x < 0, "x < 0")  # MISTAKE failed-assert
    gl.store(out + i, x.to(gl.float32))


if __name__ == "__main__":
    kernel, grid, options = KINDS[sys.argv[1]]
    block = [64, 64]
    layout = gl.NVMMASharedLayout.get_default_for(block, gl.float16)
    numbers = torch.Generator().manual_seed(1)
    a, b = (torch.rand(64, 64, generator=numbers).half().cuda() for _ in range(2))
    d = torch.zeros(256, 64).half().cuda()
    out, flags = torch.empty(4096, device="cuda"), torch.zeros(64, dtype=torch.int32).cuda()
    maps = [TensorDescriptor.from_tensor(t, block, layout) for t in (a, b, d)]
    kernel[(grid,)](*maps, a, out, flags, RIGHT=sys.argv[2] == "right", num_warps=4, **options)
    torch.cuda.synchronize()
