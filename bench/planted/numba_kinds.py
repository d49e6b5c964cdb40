"""Planted mistakes in numba's CUDA: KIND, and `right` or `broken`. Lines that a finding has to name end with MISTAKE."""
import sys

import numpy as np
from numba import cuda, float32

RIGHT = sys.argv[2] == "right"
N = 1024
KINDS = {}


def kind(name, grid=1, block=128):
    def take(kernel):
        KINDS[name] = (cuda.jit(lineinfo=True)(kernel), grid, block)
        return kernel
    return take


@kind("shared-no-barrier")
def shared_no_barrier(a, out, flags):
    tile = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    tile[i] = a[i]  # MISTAKE shared-no-barrier
    if RIGHT:
        cuda.syncthreads()
    out[i] = tile[127 - i]  # MISTAKE shared-no-barrier


@kind("shared-overwritten")
def shared_overwritten(a, out, flags):
    tile = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    total = float32(0)
    for step in range(8):
        tile[i] = a[step * 128 + i]  # MISTAKE shared-overwritten
        cuda.syncthreads()
        total += tile[(i + 64) % 128]  # MISTAKE shared-overwritten
        if RIGHT:
            cuda.syncthreads()
    out[i] = total


@kind("barrier-in-branch")
def barrier_in_branch(a, out, flags):
    tile = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    tile[i] = a[i]
    if RIGHT or i % 32 < 16:
        cuda.syncthreads()  # MISTAKE barrier-in-branch
    out[i] = tile[i]


@kind("shared-past-end")
def shared_past_end(a, out, flags):
    tile = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    if RIGHT:
        tile[i] = a[i]
    else:
        tile[i + 65536] = a[i]  # MISTAKE shared-past-end
    cuda.syncthreads()
    out[i] = tile[127 - i]


@kind("global-past-end", grid=9)
def global_past_end(a, out, flags):
    i = cuda.grid(1)
    if not RIGHT or i < out.size:
        out[i] = 2 * a[i]  # MISTAKE global-past-end


@kind("counter-without-atomic", grid=8)
def counter_without_atomic(a, out, flags):
    if cuda.threadIdx.x == 0:
        if RIGHT:
            cuda.atomic.add(flags, 0, 1)
        else:
            flags[0] += 1  # MISTAKE counter-without-atomic


@kind("ticket-without-fence", grid=8)
def ticket_without_fence(a, out, flags):
    i = cuda.grid(1)
    out[i] = a[i]  # MISTAKE ticket-without-fence
    if RIGHT:
        cuda.threadfence()
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        if cuda.atomic.add(flags, 0, 1) == cuda.gridDim.x - 1:
            if RIGHT:
                cuda.threadfence()
            total = float32(0)
            for b in range(cuda.gridDim.x):
                total += out[b * cuda.blockDim.x + 5]  # MISTAKE ticket-without-fence
            out[0] = total


@kind("spin-for-ever")
def spin_for_ever(a, out, flags):
    i = cuda.threadIdx.x
    if RIGHT and i == 32:
        cuda.atomic.exch(flags, 0, 1)
    if i == 0:
        while cuda.atomic.add(flags, 0, 0) == 0:  # MISTAKE spin-for-ever
            pass
    out[i] = a[i]


@kind("never-written")
def never_written(a, out, flags):
    i = cuda.threadIdx.x
    if RIGHT:
        out[i] = 0
    out[i] = out[i] + a[i]  # MISTAKE never-written


@kind("shared-never-written")
def shared_never_written(a, out, flags):
    tile = cuda.shared.array(256, float32)
    i = cuda.threadIdx.x
    tile[i] = a[i]
    if RIGHT:
        tile[i + 128] = 0
    cuda.syncthreads()
    out[i] = tile[i] + tile[i + 128]  # MISTAKE shared-never-written


@kind("shuffle-mask")
def shuffle_mask(a, out, flags):
    i = cuda.threadIdx.x
    v = a[i]
    if RIGHT or i % 32 < 16:
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, 16)  # MISTAKE shuffle-mask
    out[i] = v


@kind("two-writers")
def two_writers(a, out, flags):
    i = cuda.threadIdx.x
    out[i if RIGHT else i // 2] = a[i]  # MISTAKE two-writers


@kind("atomic-and-plain", grid=8)
def atomic_and_plain(a, out, flags):
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        cuda.atomic.add(flags, 0, 1)  # MISTAKE atomic-and-plain
    seen = cuda.atomic.add(flags, 0, 0) if RIGHT else flags[0]  # MISTAKE atomic-and-plain
    out[i] = a[i] if seen > 0 else 0


@kind("warp-without-syncwarp", block=32)
def warp_without_syncwarp(a, out, flags):
    tile = cuda.shared.array(32, float32)
    i = cuda.threadIdx.x
    tile[i] = a[i]  # MISTAKE warp-without-syncwarp
    if RIGHT:
        cuda.syncwarp()
    out[i] = tile[31 - i]  # MISTAKE warp-without-syncwarp


@kind("in-place-stencil", grid=8)
def in_place_stencil(a, out, flags):
    i = cuda.grid(1)
    if i > 0:
        if RIGHT:
            out[i] = a[i - 1] + a[i]
        else:
            a[i] = a[i - 1] + a[i]  # MISTAKE in-place-stencil


@kind("gather-past-end", grid=8)
def gather_past_end(a, out, flags):
    i = cuda.grid(1)
    index = int(a[i] * N)
    out[i] = a[index if RIGHT else index + N]  # MISTAKE gather-past-end


@kind("flag-without-release", grid=2)
def flag_without_release(a, out, flags):
    i = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        out[i] = a[i]  # MISTAKE flag-without-release
        if RIGHT:
            cuda.threadfence()
        cuda.syncthreads()
        if i == 0:
            cuda.atomic.exch(flags, 0, 1)
    else:
        if i == 0:
            while cuda.atomic.add(flags, 0, 0) == 0:
                pass
            if RIGHT:
                cuda.threadfence()
        cuda.syncthreads()
        out[128 + i] = out[i]  # MISTAKE flag-without-release


@kind("histogram-without-atomic", grid=8)
def histogram_without_atomic(a, out, flags):
    bucket = int(a[cuda.grid(1)] * 16)
    if RIGHT:
        cuda.atomic.add(flags, bucket, 1)
    else:
        flags[bucket] += 1  # MISTAKE histogram-without-atomic


@kind("tiles-overlap", grid=8)
def tiles_overlap(a, out, flags):
    i = cuda.threadIdx.x
    size = 128 if RIGHT else 127
    out[cuda.blockIdx.x * size + i] = a[cuda.blockIdx.x * 128 + i]  # MISTAKE tiles-overlap


@kind("reduction-without-barrier")
def reduction_without_barrier(a, out, flags):
    tile = cuda.shared.array(128, float32)
    i = cuda.threadIdx.x
    tile[i] = a[i]
    cuda.syncthreads()
    half = 64
    while half > 0:
        if i < half:
            tile[i] += tile[i + half]  # MISTAKE reduction-without-barrier
        if RIGHT:
            cuda.syncthreads()
        half //= 2
    if i == 0:
        out[0] = tile[0]


if __name__ == "__main__":
    kernel, grid, block = KINDS[sys.argv[1]]
    a = cuda.to_device(np.random.default_rng(1).random(N, dtype=np.float32))
    out = cuda.device_array(N, np.float32)
    flags = cuda.to_device(np.zeros(64, np.int32))
    kernel[grid, block](a, out, flags)
    cuda.synchronize()
