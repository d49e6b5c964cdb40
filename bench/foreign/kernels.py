"""Kernels for Blackwell in Triton and Gluon, written for this measurement; triton_blackwell.py runs them."""
import triton
import triton.language as tl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.blackwell import (TensorMemoryLayout, allocate_tensor_memory, clc,
                                                                 fence_async_shared, mbarrier, tcgen05_commit,
                                                                 tcgen05_mma, tma)


@triton.jit
def matmul(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C[M,N] = A[M,K] B[N,K]^T with descriptors made on the device."""
    a = tl.make_tensor_descriptor(A, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(B, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(C, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
    c.store([m, n], acc.to(C.dtype.element_ty))


@triton.jit
def matmul_persistent(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, CTAS: tl.constexpr,
                      WS: tl.constexpr):
    """The same, tile after tile; WS: a warp for copies, one for products, a warpgroup for stores."""
    a = tl.make_tensor_descriptor(A, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(B, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(C, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    for tile in tl.range(tl.program_id(0), tl.cdiv(M, BM) * columns, CTAS, flatten=True, warp_specialize=WS):
        m, n = tile // columns * BM, tile % columns * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(tl.cdiv(K, BK)):
            acc = tl.dot(a.load([m, k * BK]), b.load([n, k * BK]).T, acc)
        c.store([m, n], acc.to(C.dtype.element_ty))


@triton.jit
def matmul_masked(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C[M,N] = leaky(A[M,K] B[K,N]) for sizes that no tile divides, by pointers and cp.async."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    i = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        a = tl.load(A + m[:, None] * K + (k + i)[None, :], mask=(m[:, None] < M) & (i[None, :] < K - k), other=0.0)
        b = tl.load(B + (k + i)[:, None] * N + n[None, :], mask=(n[None, :] < N) & (i[:, None] < K - k), other=0.0)
        acc = tl.dot(a, b, acc)
    acc = tl.where(acc > 0, acc, 0.01 * acc)
    tl.store(C + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def matmul_split_k(A, B, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PARTS: tl.constexpr):
    """Parts of K are added in global memory by TMA."""
    a = tl.make_tensor_descriptor(A, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(B, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(C, [M, N], [N, 1], [BM, BN])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(tl.program_id(2) * BK, K, BK * PARTS):
        acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
    c.atomic_add([m, n], acc)


@triton.jit
def matmul_scaled(A, SA, B, SB, C, M, N, K, FA: tl.constexpr, FB: tl.constexpr, PA: tl.constexpr, PB: tl.constexpr,
                  V: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Block scales of V elements, row by row; the threads store them to tensor memory. P: elements a byte."""
    a = tl.make_tensor_descriptor(A, [M, K // PA], [K // PA, 1], [BM, BK // PA])
    b = tl.make_tensor_descriptor(B, [N, K // PB], [K // PB, 1], [BN, BK // PB])
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    rm, rn, rs = m + tl.arange(0, BM), n + tl.arange(0, BN), tl.arange(0, BK // V)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        sa = tl.load(SA + rm[:, None] * (K // V) + (k // V + rs)[None, :])
        sb = tl.load(SB + rn[:, None] * (K // V) + (k // V + rs)[None, :])
        acc = tl.dot_scaled(a.load([m, k // PA]), sa, FA, b.load([n, k // PB]).T, sb, FB, acc)
    tl.store(C + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def matmul_scaled_copied(A, SA, B, SB, C, M, N, K, F: tl.constexpr, P: tl.constexpr, V: tl.constexpr,
                         BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Block scales in atoms of 128 rows and 4 blocks: TMA fetches them, tcgen05.cp copies them to tensor memory."""
    a = tl.make_tensor_descriptor(A, [M, K // P], [K // P, 1], [BM, BK // P])
    b = tl.make_tensor_descriptor(B, [N, K // P], [K // P, 1], [BN, BK // P])
    RM: tl.constexpr = BM // 128
    RN: tl.constexpr = BN // 128
    RK: tl.constexpr = BK // V // 4
    atoms = K // V // 4
    sa_rows = tl.make_tensor_descriptor(SA, [1, M // 128, atoms, 2, 256],
                                        [M // 128 * atoms * 512, atoms * 512, 512, 256, 1], [1, RM, RK, 2, 256])
    sb_rows = tl.make_tensor_descriptor(SB, [1, N // 128, atoms, 2, 256],
                                        [N // 128 * atoms * 512, atoms * 512, 512, 256, 1], [1, RN, RK, 2, 256])
    m, n = tl.program_id(0), tl.program_id(1)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in tl.range(0, tl.cdiv(K, BK)):
        x, y = a.load([m * BM, k * (BK // P)]), b.load([n * BN, k * (BK // P)])
        sa, sb = sa_rows.load([0, m * RM, k * RK, 0, 0]), sb_rows.load([0, n * RN, k * RK, 0, 0])
        sa = sa.reshape(RM, RK, 32, 4, 4).trans(0, 3, 2, 1, 4).reshape(BM, BK // V)
        sb = sb.reshape(RN, RK, 32, 4, 4).trans(0, 3, 2, 1, 4).reshape(BN, BK // V)
        acc = tl.dot_scaled(x, sa, F, y.T, sb, F, acc)
    rm, rn = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN)
    tl.store(C + rm[:, None] * N + rn[None, :], acc)


@triton.jit
def attention(Q, K, V, O, N, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
              WS: tl.constexpr):
    """Flash attention, forward, [heads * N, D]; one CTA computes BM rows of one head."""
    m, h, heads = tl.program_id(0), tl.program_id(1), tl.num_programs(1)
    q_rows = tl.make_tensor_descriptor(Q, [heads * N, D], [D, 1], [BM, D])
    k_rows = tl.make_tensor_descriptor(K, [heads * N, D], [D, 1], [BN, D])
    v_rows = tl.make_tensor_descriptor(V, [heads * N, D], [D, 1], [BN, D])
    o_rows = tl.make_tensor_descriptor(O, [heads * N, D], [D, 1], [BM, D])
    q = q_rows.load([h * N + m * BM, 0])
    most = tl.full([BM], -float("inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    rows = m * BM + tl.arange(0, BM)
    to_exp2 = scale * 1.4426950408889634
    for j in tl.range(0, (m + 1) * BM if CAUSAL else N, BN, warp_specialize=WS):
        s = tl.dot(q, k_rows.load([h * N + j, 0]).T) * to_exp2
        if CAUSAL:
            s += tl.where(rows[:, None] >= (j + tl.arange(0, BN))[None, :], 0, -1.0e6)
        now = tl.maximum(most, tl.max(s, 1))
        p = tl.math.exp2(s - now[:, None])
        old = tl.math.exp2(most - now)
        total = total * old + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), v_rows.load([h * N + j, 0]), acc * old[:, None])
        most = now
    o_rows.store([h * N + m * BM, 0], (acc / total[:, None]).to(tl.float16))


@triton.jit
def softmax(X, Y, rows, columns, BLOCK: tl.constexpr):
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=3):
        i = tl.arange(0, BLOCK)
        x = tl.load(X + row * columns + i, mask=i < columns, other=-float("inf"))
        x = tl.exp(x - tl.max(x, 0))
        tl.store(Y + row * columns + i, x / tl.sum(x, 0), mask=i < columns)


@triton.jit
def layer_norm(X, Y, W, B, N, eps, BLOCK: tl.constexpr):
    X += tl.program_id(0) * N
    Y += tl.program_id(0) * N
    total = tl.zeros([BLOCK], tl.float32)
    for o in range(0, N, BLOCK):
        i = o + tl.arange(0, BLOCK)
        total += tl.load(X + i, mask=i < N, other=0.).to(tl.float32)
    mean = tl.sum(total, 0) / N
    total = tl.zeros([BLOCK], tl.float32)
    for o in range(0, N, BLOCK):
        i = o + tl.arange(0, BLOCK)
        x = tl.where(i < N, tl.load(X + i, mask=i < N, other=0.).to(tl.float32) - mean, 0.)
        total += x * x
    scale = 1 / tl.sqrt(tl.sum(total, 0) / N + eps)
    for o in range(0, N, BLOCK):
        i = o + tl.arange(0, BLOCK)
        x = tl.load(X + i, mask=i < N, other=0.).to(tl.float32)
        y = (x - mean) * scale * tl.load(W + i, mask=i < N) + tl.load(B + i, mask=i < N)
        tl.store(Y + i, y, mask=i < N)


@triton.jit
def dropout(X, Y, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + i, mask=i < n)
    tl.store(Y + i, tl.where(tl.rand(seed, i) > p, x / (1 - p), 0.0), mask=i < n)


@triton.jit
def gather_rows(X, I, Y, R, C, N: tl.constexpr, BC: tl.constexpr):
    x = tl.make_tensor_descriptor(X, [R, C], [C, 1], [1, BC])
    i, c = tl.program_id(0) * N + tl.arange(0, N), tl.program_id(1) * BC
    tl.store(Y + i[:, None] * C + (c + tl.arange(0, BC))[None, :], x.gather(tl.load(I + i), c))


@triton.jit
def scatter_rows(X, I, Y, R, C, N: tl.constexpr, BC: tl.constexpr):
    y = tl.make_tensor_descriptor(Y, [R, C], [C, 1], [1, BC])
    i, c = tl.program_id(0) * N + tl.arange(0, N), tl.program_id(1) * BC
    y.scatter(tl.load(X + i[:, None] * C + (c + tl.arange(0, BC))[None, :]), tl.load(I + i), c)


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def scan_sort_histogram(X, S, O, H, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(X + i)
    tl.store(S + i, tl.associative_scan(x, 0, plus))
    tl.store(O + i, tl.sort(x))
    tl.atomic_add(H + tl.arange(0, 32), tl.histogram(x & 31, 32))


@gluon.jit
def gluon_matmul(a_map, b_map, c_map, K, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, STAGES: gl.constexpr):
    """A ring of slots, its barriers, copies, products and commits written out."""
    m, n = gl.program_id(0) * BM, gl.program_id(1) * BN
    a = gl.allocate_shared_memory(a_map.dtype, [STAGES] + a_map.block_type.shape, a_map.layout)
    b = gl.allocate_shared_memory(b_map.dtype, [STAGES] + b_map.block_type.shape, b_map.layout)
    full = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    empty = gl.allocate_shared_memory(gl.int64, [STAGES, 1], mbarrier.MBarrierLayout())
    done = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    for i in gl.static_range(STAGES):
        mbarrier.init(full.index(i), count=1)
        mbarrier.init(empty.index(i), count=1)
    mbarrier.init(done, count=1)
    layout: gl.constexpr = TensorMemoryLayout([BM, BN], col_stride=1)
    acc = allocate_tensor_memory(gl.float32, [BM, BN], layout)
    for k in range(gl.cdiv(K, BK)):
        slot, phase = k % STAGES, (k // STAGES) & 1
        mbarrier.wait(empty.index(slot), phase ^ 1, pred=k >= STAGES)
        mbarrier.expect(full.index(slot), a_map.block_type.nbytes + b_map.block_type.nbytes)
        tma.async_load(a_map, [m, k * BK], full.index(slot), a.index(slot))
        tma.async_load(b_map, [n, k * BK], full.index(slot), b.index(slot))
        mbarrier.wait(full.index(slot), phase)
        tcgen05_mma(a.index(slot), b.index(slot).permute((1, 0)), acc, use_acc=k > 0)
        tcgen05_commit(empty.index(slot))
    tcgen05_commit(done)
    mbarrier.wait(done, 0)
    registers: gl.constexpr = acc.get_reg_layout()
    c = gl.allocate_shared_memory(c_map.dtype, c_map.block_type.shape, c_map.layout)
    c.store(acc.load(registers).to(c_map.dtype))
    fence_async_shared()
    tma.async_store(c_map, [m, n], c)
    tma.store_wait(pendings=0)


@gluon.jit
def gluon_cluster_launch_control(X, Y, Times, N, L: gl.constexpr, BLOCK: gl.constexpr):
    """Y = 2 X + 1; a CTA takes the tiles of CTAs that have not started. Times: how often each tile was computed."""
    answer = gl.allocate_shared_memory(gl.int64, [2], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    arrived = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(arrived, count=1)
    tile = gl.program_id(0)
    more = True
    phase = 0
    while more:
        mbarrier.expect(arrived, 16)
        clc.try_cancel(answer, arrived)
        i = tile * BLOCK + gl.arange(0, BLOCK, L)
        gl.store(Y + i, gl.load(X + i, mask=i < N) * 2 + 1, mask=i < N)
        gl.atomic_add(Times + tile, 1)
        mbarrier.wait(arrived, phase)
        phase ^= 1
        result = clc.load_result(answer)
        more = result.is_canceled()
        if more:  # else the answer names no CTA
            tile = result.program_id(0)
