"""Kernels in Python that numba-cuda compiles: reductions, scans, tiles, atomics, local arrays, random numbers."""
import math
import os

import common
import numba
import numpy as np
from numba import cuda
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float32

# numba-cuda names functions that NumPy 2.4 no longer has; no kernel here calls them.
for removed, present in (('row_stack', np.vstack), ('in1d', np.isin), ('trapz', np.trapezoid)):
    if not hasattr(np, removed):
        setattr(np, removed, present)

G = np.random.default_rng(4)


def numbers(*shape, kind=np.float32):
    return cuda.to_device((G.standard_normal(shape) * 4).astype(kind))


@cuda.jit
def saxpy(a, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def block_sum(x, y):
    t = cuda.shared.array(128, numba.float32)
    i, l = cuda.grid(1), cuda.threadIdx.x
    t[l] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    s = 64
    while s > 0:
        if l < s:
            t[l] += t[l + s]
        cuda.syncthreads()
        s //= 2
    if l == 0:
        y[cuda.blockIdx.x] = t[0]


@cuda.jit
def tiles(a, b, c):
    s, t = cuda.shared.array((16, 16), numba.float32), cuda.shared.array((16, 16), numba.float32)
    x, y = cuda.grid(2)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    sum = numba.float32(0)
    for k in range(a.shape[1] // 16):
        s[j, i] = a[y, k * 16 + i]
        t[j, i] = b[k * 16 + j, x]
        cuda.syncthreads()
        for l in range(16):
            sum += s[j, l] * t[l, i]
        cuda.syncthreads()
    c[y, x] = sum


@cuda.jit
def histogram(x, bins):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, int(min(max(x[i] + 16, 0), 31)), 1)


@cuda.jit
def warp_scan(x, y):
    i = cuda.grid(1)
    v = x[i]
    for d in (1, 2, 4, 8, 16):
        u = cuda.shfl_up_sync(0xFFFFFFFF, v, d)
        if cuda.laneid >= d:
            v += u
    y[i] = v


@cuda.jit
def votes(x, y):
    i = cuda.grid(1)
    mask = cuda.ballot_sync(0xFFFFFFFF, x[i] > 0)
    y[i] = cuda.popc(mask) + cuda.clz(mask) + cuda.ffs(mask)


@cuda.jit
def special(x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = abs(x[i]) + 0.25
        y[i] = math.exp(-v) * math.sin(v) + math.log(v) + math.sqrt(v) / math.pow(v, 1.5) + math.erf(v) + math.gamma(v)


@cuda.jit
def mandelbrot(out):
    x, y = cuda.grid(2)
    if x < out.shape[1] and y < out.shape[0]:
        c = complex(-2 + 3 * x / out.shape[1], -1 + 2 * y / out.shape[0])
        z = 0j
        n = 0
        while n < 50 and z.real * z.real + z.imag * z.imag < 4:
            z = z * z + c
            n += 1
        out[y, x] = n


@cuda.jit
def local_sort(x):
    t = cuda.local.array(16, numba.float32)
    base = cuda.grid(1) * 16
    for i in range(16):
        t[i] = x[base + i]
    for i in range(1, 16):
        v, j = t[i], i
        while j > 0 and t[j - 1] > v:
            t[j] = t[j - 1]
            j -= 1
        t[j] = v
    for i in range(16):
        x[base + i] = t[i]


@cuda.jit
def stencil(x, y):
    i, j, k = cuda.grid(3)
    if 0 < i < x.shape[2] - 1 and 0 < j < x.shape[1] - 1 and 0 < k < x.shape[0] - 1:
        y[k, j, i] = (x[k, j, i - 1] + x[k, j, i + 1] + x[k, j - 1, i] + x[k, j + 1, i] + x[k - 1, j, i]
                      + x[k + 1, j, i]) / 6


@cuda.jit(fastmath=True)
def fast(x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = math.sin(x[i]) / (1 + math.exp(x[i])) + math.sqrt(abs(x[i]))


@cuda.jit
def draws(states, y):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = xoroshiro128p_normal_float32(states, i)


@cuda.jit
def swaps(locks, x):
    i = cuda.grid(1)
    cuda.atomic.max(x, i % 7, i)
    cuda.atomic.cas(locks, i % 13, 0, i)
    cuda.atomic.exch(x, 7 + i % 3, 5)


@cuda.jit
def integers(x, y):
    i = cuda.grid(1)
    if i < x.size:
        v = x[i]
        y[i] = v // 7 + v % 13 + (v << 3) + (v >> 2) + cuda.brev(v & 0xFFFF)


def one(kernel, grid, block, arguments):
    def body():
        kernel[grid, block](*arguments())
        cuda.synchronize()
        for i, text in enumerate(kernel.inspect_asm().values()):
            if 'PTX_DIR' in os.environ:
                with open('%s/%s.%d.ptx' % (os.environ['PTX_DIR'], kernel.__name__, i), 'w') as f:
                    f.write(text)
    body.__name__ = kernel.__name__
    return body


zeros = lambda *shape, kind=np.float32: cuda.to_device(np.zeros(shape, kind))
CASES = [
    one(saxpy, 8, 128, lambda: (np.float32(2), numbers(1000), numbers(1000))),
    one(block_sum, 8, 128, lambda: (numbers(1000), zeros(8))),
    one(tiles, (4, 4), (16, 16), lambda: (numbers(64, 64), numbers(64, 64), zeros(64, 64))),
    one(histogram, 8, 128, lambda: (numbers(1000), zeros(32, kind=np.int32))),
    one(warp_scan, 4, 64, lambda: (numbers(256), zeros(256))),
    one(votes, 4, 64, lambda: (numbers(256), zeros(256, kind=np.int32))),
    one(special, 4, 64, lambda: (numbers(256, kind=np.float64), zeros(256, kind=np.float64))),
    one(mandelbrot, (4, 4), (16, 8), lambda: (zeros(32, 64, kind=np.int32),)),
    one(local_sort, 2, 32, lambda: (numbers(1024),)),
    one(stencil, (2, 2, 4), (8, 8, 4), lambda: (numbers(16, 16, 16), zeros(16, 16, 16))),
    one(fast, 4, 64, lambda: (numbers(256), zeros(256))),
    one(draws, 4, 64, lambda: (create_xoroshiro128p_states(256, seed=1), zeros(256))),
    one(swaps, 4, 64, lambda: (zeros(13, kind=np.int32), zeros(16, kind=np.int32))),
    one(integers, 4, 64, lambda: (cuda.to_device(np.arange(-100, 156, dtype=np.int32)), zeros(256, kind=np.int32))),
]
if __name__ == '__main__':
    common.main(CASES)
