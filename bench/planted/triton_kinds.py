"""Planted mistakes in Triton: KIND, and `right` or `broken`. Lines that a finding has to name end with MISTAKE."""
import os
import sys

os.environ.setdefault("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")  # each tensor is an allocation, whose end is known
import torch
import triton
import triton.language as tl

N = 1024
KINDS = {}


def kind(name, grid=8, **options):
    def take(kernel):
        KINDS[name] = (kernel, grid, options)
        return kernel
    return take


@kind("counter-without-atomic")
@triton.jit
def counter_without_atomic(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    if RIGHT:
        tl.atomic_add(flags, 1)
    else:
        tl.store(flags, tl.load(flags) + 1)  # MISTAKE counter-without-atomic


@kind("global-past-end", grid=9)
@triton.jit
def global_past_end(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if RIGHT:
        tl.store(out + i, 2 * tl.load(a + i, mask=i < n), mask=i < n)
    else:
        x = tl.load(a + i)  # MISTAKE global-past-end
        tl.store(out + i, 2 * x)


@kind("global-before-begin")
@triton.jit
def global_before_begin(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if RIGHT:
        left = tl.load(a + i - 1, mask=i > 0, other=0)
    else:
        left = tl.load(a + i - 1)  # MISTAKE global-before-begin
    tl.store(out + i, left + tl.load(a + i))


@kind("tiles-overlap")
@triton.jit
def tiles_overlap(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i)
    if RIGHT:
        tl.store(out + i, x)
    else:
        tl.store(out + pid * (BLOCK - 1) + tl.arange(0, BLOCK), x)  # MISTAKE tiles-overlap


@kind("two-writers")
@triton.jit
def two_writers(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i)
    if RIGHT:
        tl.store(out + i, x)
    else:
        tl.store(out + i // 2, x)  # MISTAKE two-writers


@kind("in-place-stencil")
@triton.jit
def in_place_stencil(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(a + i - 1, mask=i > 0, other=0)  # MISTAKE in-place-stencil
    x = left + tl.load(a + i)
    if RIGHT:
        tl.store(out + i, x)
    else:
        tl.store(a + i, x)  # MISTAKE in-place-stencil


@kind("ticket-without-release")
@triton.jit
def ticket_without_release(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(a + i))  # MISTAKE ticket-without-release
    if RIGHT:
        tl.debug_barrier()
        ticket = tl.atomic_add(flags, 1, sem="acq_rel")
        tl.debug_barrier()
    else:
        ticket = tl.atomic_add(flags, 1, sem="relaxed")
    if ticket == tl.num_programs(0) - 1:
        total = tl.sum(tl.load(out + tl.arange(0, 1024)))  # MISTAKE ticket-without-release
        tl.store(out, total)


@kind("flag-without-release", grid=2)
@triton.jit
def flag_without_release(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        tl.store(out + i, tl.load(a + i))  # MISTAKE flag-without-release
        tl.debug_barrier()
        if RIGHT:
            tl.atomic_xchg(flags, 1, sem="release")
        else:
            tl.atomic_xchg(flags, 1, sem="relaxed")
    else:
        while tl.atomic_add(flags, 0, sem="acquire") == 0:
            pass
        tl.debug_barrier()
        tl.store(out + BLOCK + i, tl.load(out + i))  # MISTAKE flag-without-release


@kind("spin-for-ever", grid=2)
@triton.jit
def spin_for_ever(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    if tl.program_id(0) == 0:
        if RIGHT:
            tl.atomic_xchg(flags, 1)
    else:
        while tl.atomic_add(flags, 0) == 0:  # MISTAKE spin-for-ever
            pass


@kind("never-written")
@triton.jit
def never_written(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(a + i)
    if RIGHT:
        tl.store(out + i, x)
    else:
        old = tl.load(out + i)  # MISTAKE never-written
        tl.store(out + i, old + x)


@kind("atomic-and-plain")
@triton.jit
def atomic_and_plain(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(flags, 1)  # MISTAKE atomic-and-plain
    if RIGHT:
        seen = tl.atomic_add(flags, 0)
    else:
        seen = tl.load(flags)  # MISTAKE atomic-and-plain
    tl.store(out + i, tl.load(a + i) + seen)


@kind("failed-assert", grid=1, debug=True)
@triton.jit
def failed_assert(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(a + i)
    if RIGHT:
        tl.device_assert(x >= 0, "x >= 0")
    else:
        tl.device_assert(x < 0, "x < 0")  # MISTAKE failed-assert
    tl.store(out + i, x)


@kind("histogram-without-atomic")
@triton.jit
def histogram_without_atomic(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bucket = (tl.load(a + i) * 16).to(tl.int32)
    if RIGHT:
        tl.atomic_add(flags + bucket, 1)
    else:
        count = tl.load(flags + bucket)  # MISTAKE histogram-without-atomic
        tl.store(flags + bucket, count + 1)  # MISTAKE histogram-without-atomic


@kind("mask-of-another-tile", grid=9)
@triton.jit
def mask_of_another_tile(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n if RIGHT else tl.arange(0, BLOCK) < n
    x = tl.load(a + i, mask=inside)  # MISTAKE mask-of-another-tile
    tl.store(out + i, x, mask=i < n)


@kind("strides-exchanged", grid=1)
@triton.jit
def strides_exchanged(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    rows = tl.arange(0, 16)[:, None]
    columns = tl.arange(0, 64)[None, :]
    x = tl.load(a + rows * 64 + columns)
    if RIGHT:
        tl.store(out + columns * 16 + rows, x)
    else:
        tl.store(out + columns * 64 + rows, x)  # MISTAKE strides-exchanged


@kind("partial-sums-without-atomic", grid=8)
@triton.jit
def partial_sums_without_atomic(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.sum((tl.load(a + i) * 16).to(tl.int32))
    if RIGHT:
        tl.atomic_add(flags, total)
    else:
        tl.store(flags, tl.load(flags) + total)  # MISTAKE partial-sums-without-atomic


@kind("lock-without-acquire", grid=4)
@triton.jit
def lock_without_acquire(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    if RIGHT:
        while tl.atomic_cas(flags, 0, 1, sem="acquire") == 1:
            pass
    else:
        while tl.atomic_cas(flags, 0, 1, sem="relaxed") == 1:
            pass
    tl.debug_barrier()
    count = tl.load(flags + 1)  # MISTAKE lock-without-acquire
    tl.store(flags + 1, count + 1)  # MISTAKE lock-without-acquire
    tl.debug_barrier()
    tl.atomic_xchg(flags, 0, sem="release" if RIGHT else "relaxed")


@kind("split-sum-read-early", grid=8)
@triton.jit
def split_sum_read_early(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    if RIGHT:
        tl.store(out + pid, tl.sum(tl.load(a + i)))
    else:
        tl.store(out + pid, tl.sum(tl.load(a + i)))  # MISTAKE split-sum-read-early
        if pid == 0:
            tl.store(out + 8, tl.sum(tl.load(out + tl.arange(0, 8))))  # MISTAKE split-sum-read-early


@kind("gather-past-end", grid=8)
@triton.jit
def gather_past_end(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = (tl.load(a + i) * n).to(tl.int32)
    if RIGHT:
        x = tl.load(a + index)
    else:
        x = tl.load(a + index + n)  # MISTAKE gather-past-end
    tl.store(out + i, x)


@kind("row-reused-in-place", grid=8)
@triton.jit
def row_reused_in_place(a, out, flags, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    next_row = tl.load(a + (pid + 1) % 8 * BLOCK + i)  # MISTAKE row-reused-in-place
    x = tl.load(a + pid * BLOCK + i) + next_row
    if RIGHT:
        tl.store(out + pid * BLOCK + i, x)
    else:
        tl.store(a + pid * BLOCK + i, x)  # MISTAKE row-reused-in-place


if __name__ == "__main__":
    kernel, grid, options = KINDS[sys.argv[1]]
    a = torch.rand(N, generator=torch.Generator().manual_seed(1)).cuda()
    out = torch.empty(N, device="cuda")
    flags = torch.zeros(64, dtype=torch.int32).cuda()
    kernel[(grid,)](a, out, flags, N, RIGHT=sys.argv[2] == "right", BLOCK=128, **options)
    torch.cuda.synchronize()
