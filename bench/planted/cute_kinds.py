"""Planted mistakes in CuTe DSL: KIND, and `right` or `broken`. Lines that a finding has to name end with MISTAKE."""
import os
import sys

os.environ["CUTE_DSL_LINEINFO"] = "1"
import cutlass
import cutlass.cute as cute
import torch
from cutlass import Float32, Int32, Int64
from cutlass.cute.runtime import from_dlpack

RIGHT = sys.argv[2] == "right"
N = 1024
KINDS = {}


def kind(name, grid=1, block=128):
    def take(kernel):
        KINDS[name] = (kernel, grid, block)
        return kernel
    return take


def shared(layout, dtype=Float32):
    return cutlass.utils.SmemAllocator().allocate_tensor(dtype, cute.make_layout(layout), 16)


def index():
    i, _, _ = cute.arch.thread_idx()
    b, _, _ = cute.arch.block_idx()
    n, _, _ = cute.arch.block_dim()
    return b * n + i


@kind("shared-no-barrier")
@cute.kernel
def shared_no_barrier(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    tile = shared(128)
    i, _, _ = cute.arch.thread_idx()
    tile[i] = a[i]  # MISTAKE shared-no-barrier
    if cutlass.const_expr(RIGHT):
        cute.arch.sync_threads()
    out[i] = tile[127 - i]  # MISTAKE shared-no-barrier


@kind("shared-overwritten")
@cute.kernel
def shared_overwritten(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    tile = shared(128)
    i, _, _ = cute.arch.thread_idx()
    total = Float32(0)
    for step in range(8):
        tile[i] = a[step * 128 + i]  # MISTAKE shared-overwritten
        cute.arch.sync_threads()
        total += tile[(i + 64) % 128]  # MISTAKE shared-overwritten
        if cutlass.const_expr(RIGHT):
            cute.arch.sync_threads()
    out[i] = total


@kind("shared-past-end")
@cute.kernel
def shared_past_end(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    tile = shared(128)
    i, _, _ = cute.arch.thread_idx()
    if cutlass.const_expr(RIGHT):
        tile[i] = a[i]
    else:
        tile[i + 65536] = a[i]  # MISTAKE shared-past-end
    cute.arch.sync_threads()
    out[i] = tile[127 - i]


@kind("copy-not-waited")
@cute.kernel
def copy_not_waited(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    tile = shared(128)
    i, _, _ = cute.arch.thread_idx()
    atom = cute.make_copy_atom(cute.nvgpu.cpasync.CopyG2SOp(), Float32, num_bits_per_copy=32)
    here = cute.local_tile(a, (1,), (i,))
    there = cute.local_tile(tile, (1,), (i,))
    cute.copy(atom, here, there)  # MISTAKE copy-not-waited
    cute.arch.cp_async_commit_group()
    if cutlass.const_expr(RIGHT):
        cute.arch.cp_async_wait_group(0)
    cute.arch.sync_threads()
    out[i] = tile[127 - i]  # MISTAKE copy-not-waited


@kind("global-past-end", grid=9)
@cute.kernel
def global_past_end(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    i = index()
    if cutlass.const_expr(not RIGHT) or i < N:
        out[i] = a[i] * 2  # MISTAKE global-past-end


@kind("global-before-begin", grid=8)
@cute.kernel
def global_before_begin(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    i = index()
    left = Float32(0)
    if cutlass.const_expr(not RIGHT) or i > 0:
        left = a[i - 1]  # MISTAKE global-before-begin
    out[i] = left + a[i]


@kind("counter-without-atomic", grid=8)
@cute.kernel
def counter_without_atomic(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    if i == 0:
        if cutlass.const_expr(RIGHT):
            cute.arch.atomic_add(flags.iterator.llvm_ptr, Int32(1))
        else:
            flags[0] = flags[0] + 1  # MISTAKE counter-without-atomic


@kind("atomic-and-plain", grid=8)
@cute.kernel
def atomic_and_plain(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    i = index()
    cute.arch.atomic_add(flags.iterator.llvm_ptr, Int32(1))  # MISTAKE atomic-and-plain
    seen = Int32(0)
    if cutlass.const_expr(RIGHT):
        seen = cute.arch.atomic_add(flags.iterator.llvm_ptr, Int32(0))
    else:
        seen = flags[0]  # MISTAKE atomic-and-plain
    out[i] = a[i] + seen.to(Float32)


@kind("two-writers")
@cute.kernel
def two_writers(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    if cutlass.const_expr(RIGHT):
        out[i] = a[i]
    else:
        out[i // 2] = a[i]  # MISTAKE two-writers


@kind("in-place-stencil", grid=8)
@cute.kernel
def in_place_stencil(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    i = index()
    if i > 0:
        if cutlass.const_expr(RIGHT):
            out[i] = a[i - 1] + a[i]
        else:
            a[i] = a[i - 1] + a[i]  # MISTAKE in-place-stencil


@kind("never-written", grid=8)
@cute.kernel
def never_written(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    i = index()
    if cutlass.const_expr(RIGHT):
        out[i] = a[i]
    else:
        out[i] = out[i] + a[i]  # MISTAKE never-written


@kind("shared-never-written")
@cute.kernel
def shared_never_written(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    tile = shared(256)
    i, _, _ = cute.arch.thread_idx()
    tile[i] = a[i]
    if cutlass.const_expr(RIGHT):
        tile[i + 128] = Float32(0)
    cute.arch.sync_threads()
    out[i] = tile[i] + tile[i + 128]  # MISTAKE shared-never-written


@kind("warp-without-syncwarp", block=32)
@cute.kernel
def warp_without_syncwarp(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    tile = shared(32)
    i, _, _ = cute.arch.thread_idx()
    tile[i] = a[i]  # MISTAKE warp-without-syncwarp
    if cutlass.const_expr(RIGHT):
        cute.arch.sync_warp()
    out[i] = tile[31 - i]  # MISTAKE warp-without-syncwarp


@kind("spin-for-ever")
@cute.kernel
def spin_for_ever(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    i, _, _ = cute.arch.thread_idx()
    if cutlass.const_expr(RIGHT):
        if i == 32:
            cute.arch.atomic_add(flags.iterator.llvm_ptr, Int32(1))
    if i == 0:
        seen = Int32(0)
        while seen == 0:
            seen = cute.arch.atomic_add(flags.iterator.llvm_ptr, Int32(0))  # MISTAKE spin-for-ever
    out[i] = a[i]


@kind("mbarrier-count")
@cute.kernel
def mbarrier_count(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    tile, full = shared(128), shared(1, Int64).iterator
    i, _, _ = cute.arch.thread_idx()
    if i == 0:
        cute.arch.mbarrier_init(full, 128 if RIGHT else 129)
    cute.arch.mbarrier_init_fence()
    cute.arch.sync_threads()
    tile[i] = a[i]
    cute.arch.mbarrier_arrive(full)
    cute.arch.mbarrier_wait(full, 0)  # MISTAKE mbarrier-count
    out[i] = tile[127 - i]


@kind("bulk-copy-not-waited")
@cute.kernel
def bulk_copy_not_waited(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    tile, full = shared(128), shared(1, Int64).iterator
    i, _, _ = cute.arch.thread_idx()
    if i == 0:
        cute.arch.mbarrier_init(full, 1)
    cute.arch.mbarrier_init_fence()
    cute.arch.sync_threads()
    if i == 0:
        cute.arch.mbarrier_arrive_and_expect_tx(full, 512)
    if i == 0:
        atom = cute.make_copy_atom(cute.nvgpu.cpasync.CopyBulkG2SOp(), Float32, num_bits_per_copy=4096)
        cute.copy(atom, cute.local_tile(a, (128,), (0,)), tile, mbar_ptr=full)  # MISTAKE bulk-copy-not-waited
    if cutlass.const_expr(RIGHT):
        cute.arch.mbarrier_wait(full, 0)
    out[i] = tile[127 - i]  # MISTAKE bulk-copy-not-waited
    cute.arch.mbarrier_wait(full, 0)


@kind("store-without-proxy-fence")
@cute.kernel
def store_without_proxy_fence(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    tile = shared(128)
    i, _, _ = cute.arch.thread_idx()
    tile[i] = a[i]  # MISTAKE store-without-proxy-fence
    if cutlass.const_expr(RIGHT):
        cute.arch.fence_proxy("async.shared", space="cta")
    cute.arch.sync_threads()
    if i == 0:
        atom = cute.make_copy_atom(cute.nvgpu.cpasync.CopyBulkS2GOp(), Float32, num_bits_per_copy=4096)
        cute.copy(atom, tile, cute.local_tile(out, (128,), (0,)))  # MISTAKE store-without-proxy-fence
        cute.arch.cp_async_bulk_commit_group()
        cute.arch.cp_async_bulk_wait_group(0)


@kind("copy-not-committed")
@cute.kernel
def copy_not_committed(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    tile = shared(128)
    i, _, _ = cute.arch.thread_idx()
    atom = cute.make_copy_atom(cute.nvgpu.cpasync.CopyG2SOp(), Float32, num_bits_per_copy=32)
    cute.copy(atom, cute.local_tile(a, (1,), (i,)), cute.local_tile(tile, (1,), (i,)))  # MISTAKE copy-not-committed
    if cutlass.const_expr(RIGHT):
        cute.arch.cp_async_commit_group()
    cute.arch.cp_async_wait_group(0)
    cute.arch.sync_threads()
    out[i] = tile[127 - i]  # MISTAKE copy-not-committed


@kind("bulk-store-not-waited")
@cute.kernel
def bulk_store_not_waited(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    tile = shared(128)
    i, _, _ = cute.arch.thread_idx()
    tile[i] = a[i]
    cute.arch.fence_proxy("async.shared", space="cta")
    cute.arch.sync_threads()
    if i == 0:
        atom = cute.make_copy_atom(cute.nvgpu.cpasync.CopyBulkS2GOp(), Float32, num_bits_per_copy=4096)
        cute.copy(atom, tile, cute.local_tile(out, (128,), (0,)))  # MISTAKE bulk-store-not-waited
        cute.arch.cp_async_bulk_commit_group()
        if cutlass.const_expr(RIGHT):
            cute.arch.cp_async_bulk_wait_group(0)
    cute.arch.sync_threads()
    tile[i] = Float32(0)  # MISTAKE bulk-store-not-waited
    if i == 0:
        cute.arch.cp_async_bulk_wait_group(0)


@kind("barrier-of-too-many")
@cute.kernel
def barrier_of_too_many(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    tile = shared(128)
    i, _, _ = cute.arch.thread_idx()
    tile[i] = a[i]
    cute.arch.barrier(barrier_id=1, number_of_threads=128 if RIGHT else 160)  # MISTAKE barrier-of-too-many
    out[i] = tile[127 - i]


@kind("gather-past-end")
@cute.kernel
def gather_past_end(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
    i = index()
    where = a[i].to(Int32)
    if cutlass.const_expr(RIGHT):
        out[i] = a[N - 1 - where]
    else:
        out[i] = a[N + 1048576 + where]  # MISTAKE gather-past-end


def main(name):
    kernel, grid, block = KINDS[name]

    @cute.jit
    def launch(a: cute.Tensor, out: cute.Tensor, flags: cute.Tensor):
        kernel(a, out, flags).launch(grid=(grid, 1, 1), block=(block, 1, 1))

    a, out = torch.arange(N, dtype=torch.float32).cuda(), torch.empty(N, device="cuda")
    flags = torch.zeros(64, dtype=torch.int32).cuda()
    launch(*(from_dlpack(t, assumed_align=16) for t in (a, out, flags)))
    torch.cuda.synchronize()


main(sys.argv[1])
