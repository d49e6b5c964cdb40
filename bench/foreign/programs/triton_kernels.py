"""Kernels in Triton in the ways people write them; Triton makes the PTX."""
import common
import torch
import triton
import triton.language as tl

torch.manual_seed(3)
CASES = []


def case(function):
    CASES.append(function)
    return function


def numbers(*shape, kind=torch.float32):
    return torch.randn(*shape, device='cuda').to(kind)


@triton.jit
def t_add(x, y, z, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(z + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


@triton.jit
def t_softmax(x, y, columns, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * columns + i, i < columns, -float('inf'))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * columns + i, e / tl.sum(e, 0), i < columns)


@triton.jit
def t_matmul(a, b, c, M, N, K, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, fast: tl.constexpr):
    m, n, k = tl.program_id(0) * A + tl.arange(0, A), tl.program_id(1) * B + tl.arange(0, B), tl.arange(0, C)
    sum = tl.zeros((A, B), tl.float32)
    for s in range(0, K, C):
        p = tl.load(a + m[:, None] * K + (s + k)[None, :], (m[:, None] < M) & ((s + k)[None, :] < K), 0)
        q = tl.load(b + (s + k)[:, None] * N + n[None, :], ((s + k)[:, None] < K) & (n[None, :] < N), 0)
        sum = tl.dot(p, q, sum, input_precision='tf32' if fast else 'ieee')
    tl.store(c + m[:, None] * N + n[None, :], sum.to(c.dtype.element_ty), (m[:, None] < M) & (n[None, :] < N))


@triton.jit
def t_attention(q, k, v, o, T, scale, causal: tl.constexpr, B: tl.constexpr, D: tl.constexpr):
    h, d = tl.program_id(1) * T * D, tl.arange(0, D)
    m = tl.program_id(0) * B + tl.arange(0, B)
    x = tl.load(q + h + m[:, None] * D + d[None, :])
    top, total, out = tl.full((B,), -1e30, tl.float32), tl.zeros((B,), tl.float32), tl.zeros((B, D), tl.float32)
    for s in range(0, T, B):
        n = s + tl.arange(0, B)
        y = tl.dot(x, tl.trans(tl.load(k + h + n[:, None] * D + d[None, :]))) * scale
        if causal:
            y = tl.where(m[:, None] >= n[None, :], y, -1e30)
        new = tl.maximum(top, tl.max(y, 1))
        p, f = tl.exp2(y - new[:, None]), tl.exp2(top - new)
        total = total * f + tl.sum(p, 1)
        out = tl.dot(p.to(tl.float16), tl.load(v + h + n[:, None] * D + d[None, :]), out * f[:, None])
        top = new
    tl.store(o + h + m[:, None] * D + d[None, :], (out / total[:, None]).to(tl.float16))


@triton.jit
def t_dropout(x, y, n, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n)
    tl.store(y + i, tl.where(tl.rand(seed, i) > 0.4, v / 0.6, 0), i < n)


@triton.jit
def t_scan_sort(x, y, z, h, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(y + i, tl.cumsum(v, 0))
    tl.store(z + i, tl.sort(v))
    tl.store(h + tl.arange(0, 16), tl.histogram((v * 2 + 8).to(tl.int32) & 15, 16))


@triton.jit
def t_tma(x, y, M, N, B: tl.constexpr):
    p = tl.make_tensor_descriptor(x, [M, N], [N, 1], [B, B])
    q = tl.make_tensor_descriptor(y, [N, M], [M, 1], [B, B])
    i, j = tl.program_id(0) * B, tl.program_id(1) * B
    q.store([j, i], tl.trans(p.load([i, j])))


@triton.jit
def t_matmul_tma(a, b, c, M, N, K, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    p = tl.make_tensor_descriptor(a, [M, K], [K, 1], [A, C])
    q = tl.make_tensor_descriptor(b, [N, K], [K, 1], [B, C])
    r = tl.make_tensor_descriptor(c, [M, N], [N, 1], [A, B])
    i, j = tl.program_id(0) * A, tl.program_id(1) * B
    sum = tl.zeros((A, B), tl.float32)
    for k in range(0, K, C):
        sum = tl.dot(p.load([i, k]), q.load([j, k]).T, sum)
    r.store([i, j], sum.to(tl.float16))


@triton.jit
def t_atomics(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n, 0)
    tl.atomic_add(y + i % 7, v, i < n)
    tl.atomic_max(y + 8 + i % 5, v, i < n)


@triton.jit
def t_argmax(x, y, columns, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * columns + i, i < columns, -float('inf'))
    tl.store(y + row, tl.argmax(v, 0))


@triton.jit
def t_math(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n, 1)
    w = tl.abs(v) + 0.1
    tl.store(y + i, tl.erf(v) + tl.sin(v) + tl.cos(v) + tl.log2(w) + tl.rsqrt(w) + tl.sigmoid(v) + tl.fma(v, w, v) + v / w, i < n)


@triton.jit
def t_associative(x, y, T, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + tl.program_id(0) * T + i, i < T, 1)
    tl.store(y + tl.program_id(0) * T + i, tl.cumprod(v, 0, reverse=True), i < T)


def product(name, kind, out, fast=True, options={}, shape=(64, 64, 32)):
    def body():
        M, N, K = 128, 192, 160
        a, b = numbers(M, K, kind=kind), numbers(K, N, kind=kind)
        c = torch.empty(M, N, device='cuda', dtype=out)
        A, B, C = shape
        t_matmul[(triton.cdiv(M, A), triton.cdiv(N, B))](a, b, c, M, N, K, A, B, C, fast, **options)
        torch.cuda.synchronize()
    body.__name__ = name
    CASES.append(body)


product('matmul_f16', torch.float16, torch.float16)
product('matmul_bf16', torch.bfloat16, torch.bfloat16, options=dict(num_warps=8, num_stages=4), shape=(128, 64, 64))
product('matmul_tf32', torch.float32, torch.float32)
product('matmul_f32', torch.float32, torch.float32, fast=False)
product('matmul_fp8', torch.float8_e4m3fn, torch.float16, shape=(64, 64, 64))


@case
def add():
    t_add[(8,)](numbers(1000), numbers(1000), numbers(1000), 1000, 128)


@case
def softmax():
    t_softmax[(32,)](numbers(32, 781), numbers(32, 781), 781, 1024)


@case
def attention():
    for causal in (False, True):
        q, k, v = (numbers(2, 256, 64, kind=torch.float16) for _ in range(3))
        t_attention[(4, 2)](q, k, v, torch.empty_like(q), 256, 0.18, causal, 64, 64)


@case
def dropout():
    t_dropout[(8,)](numbers(1000), numbers(1000), 1000, 123, 128)


@case
def scan_sort():
    t_scan_sort[(1,)](numbers(512), numbers(512), numbers(512), torch.zeros(16, device='cuda', dtype=torch.int32), 512)


@case
def atomics():
    t_atomics[(4,)](torch.arange(500, device='cuda'), torch.zeros(16, device='cuda', dtype=torch.int64), 500, 128)


@case
def arg_max():
    t_argmax[(32,)](numbers(32, 300), torch.zeros(32, device='cuda', dtype=torch.int32), 300, 512)


@case
def functions():
    t_math[(8,)](numbers(1000), numbers(1000), 1000, 128)


@case
def associative():
    t_associative[(16,)](numbers(16, 200), numbers(16, 200), 200, 256)


@case
def tma():
    triton.set_allocator(lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device='cuda'))
    t_tma[(4, 4)](numbers(256, 256, kind=torch.float16), numbers(256, 256, kind=torch.float16), 256, 256, 64)
    a, b = numbers(256, 128, kind=torch.float16), numbers(256, 128, kind=torch.float16)
    t_matmul_tma[(2, 2)](a, b, torch.empty(256, 256, device='cuda', dtype=torch.float16), 256, 256, 128, 128, 128, 64,
                         num_warps=8, num_stages=3)


if __name__ == '__main__':
    common.main(CASES)
    torch.cuda.synchronize()
