"""Planted mistakes in CuTe DSL: KIND, and `right` or `broken`. Lines that a finding has to name end with MISTAKE."""
import os
import sys

os.environ["CUTE_DSL_LINEINFO"] = "1"
import cutlass
import cutlass.cute as cute
import torch
from cutlass import Float32
from cutlass.cute.runtime import from_dlpack

RIGHT = sys.argv[2] == "right"
N = 1024
KINDS = {}


def kind(name, grid=1, block=128):
    def take(kernel):
        KINDS[name] = (cute.kernel(kernel), grid, block)
        return kernel
    return take


def shared(layout, dtype=Float32):
    return cutlass.utils.SmemAllocator().allocate_tensor(dtype, cute.make_layout(layout), 16)


@kind("shared-no-barrier")
def shared_no_barrier(a: cute.Tensor, out: cute.Tensor):
    tile = shared(128)
    i, _, _ = cute.arch.thread_idx()
    tile[i] = a[i]  # MISTAKE shared-no-barrier
    if cutlass.const_expr(RIGHT):
        cute.arch.sync_threads()
    out[i] = tile[127 - i]  # MISTAKE shared-no-barrier


@kind("shared-overwritten")
def shared_overwritten(a: cute.Tensor, out: cute.Tensor):
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
def shared_past_end(a: cute.Tensor, out: cute.Tensor):
    tile = shared(128)
    i, _, _ = cute.arch.thread_idx()
    if cutlass.const_expr(RIGHT):
        tile[i] = a[i]
    else:
        tile[i + 65536] = a[i]  # MISTAKE shared-past-end
    cute.arch.sync_threads()
    out[i] = tile[127 - i]


@kind("copy-not-waited")
def copy_not_waited(a: cute.Tensor, out: cute.Tensor):
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


def main(name):
    kernel, grid, block = KINDS[name]

    @cute.jit
    def launch(a: cute.Tensor, out: cute.Tensor):
        kernel(a, out).launch(grid=(grid, 1, 1), block=(block, 1, 1))

    a, out = torch.arange(N, dtype=torch.float32).cuda(), torch.zeros(N).cuda()
    launch(from_dlpack(a), from_dlpack(out))
    torch.cuda.synchronize()


main(sys.argv[1])
