"""XLA's fused kernels of jitted functions, and Pallas' kernels through Mosaic GPU and Triton."""
import common
import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl

CASES = []
KEY = jax.random.key(1)


def numbers(*shape, kind=jnp.float32, seed=0):
    return jax.random.normal(jax.random.fold_in(KEY, seed), shape).astype(kind)


def jitted(name, function, *shapes, kind=jnp.float32):
    def body():
        jax.block_until_ready(jax.jit(function)(*[numbers(*s, kind=kind, seed=i) for i, s in enumerate(shapes)]))
    body.__name__ = 'xla_' + name
    CASES.append(body)


jitted('softmax', lambda x: jax.nn.softmax(x), (64, 300))
jitted('softmax_bf16', lambda x: jax.nn.softmax(x), (64, 300), kind=jnp.bfloat16)
jitted('norm', lambda x, w: (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * w, (64, 256), (256,))
jitted('gelu', lambda x: jax.nn.gelu(x), (50, 90))
jitted('gelu_gradient', jax.grad(lambda x: jax.nn.gelu(x).sum()), (50, 90))
jitted('transposed', lambda x: jnp.transpose(x, (2, 0, 1)) * 2, (16, 24, 40))
jitted('column_sum', lambda x: x.sum(0), (300, 129))
jitted('row_max', lambda x: x.max(1), (300, 129))
jitted('total', lambda x: (x * x).sum(), (10000,))
jitted('cumulative', lambda x: jnp.cumsum(x, 1), (32, 200))
jitted('sorted', lambda x: jnp.sort(x, 1), (8, 200))
jitted('arg_max', lambda x: jnp.argmax(x, 1), (32, 200))
jitted('top_k', lambda x: lax.top_k(x, 5), (8, 200))
jitted('scatter', lambda x: jnp.zeros((10, 32)).at[jnp.arange(100) % 10].add(x), (100, 32))
jitted('gather', lambda x: x[jnp.arange(0, 100, 3)] * 2, (100, 32))
jitted('padded', lambda x: jnp.pad(x, ((1, 2), (3, 4)), mode='edge'), (30, 40))
jitted('window', lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'SAME'), (2, 16, 16, 8))
jitted('random', lambda x: x + jax.random.normal(KEY, x.shape), (40, 50))
jitted('functions', lambda x: jnp.sin(x) * jnp.exp(-x) + jnp.arctan2(x, x + 1) + lax.erf(x) + lax.lgamma(jnp.abs(x)), (40, 50))
jitted('complex', lambda x: jnp.abs(jnp.exp(1j * x)), (40, 50))
jitted('doubles', lambda x: jnp.tanh(x.astype(jnp.float16)) / 3, (40, 50))
jitted('concatenated', lambda x, y: jnp.concatenate([x, y * 2], 1), (30, 20), (30, 25))
jitted('loop', lambda x: lax.fori_loop(0, 3, lambda i, v: jnp.tanh(v) + i, x), (64, 64))
jitted('matmul_f16', lambda x, y: x @ y + 1, (128, 64), (64, 128), kind=jnp.float16)
jitted('matmul_fused', lambda x, y: jax.nn.relu(x.astype(jnp.bfloat16) @ y.astype(jnp.bfloat16)), (128, 64), (64, 128))
jitted('attention', lambda q, k, v: jax.nn.dot_product_attention(q, k, v), (1, 64, 2, 32), (1, 64, 2, 32), (1, 64, 2, 32))
jitted('adam', lambda p, g, m: (p - 0.1 * (0.9 * m + 0.1 * g) / (jnp.sqrt(g * g) + 1e-8), 0.9 * m + 0.1 * g), (64, 64), (64, 64), (64, 64))
jitted('quantized', lambda x: jnp.round(x / jnp.abs(x).max() * 127).astype(jnp.int8), (64, 64))
jitted('fp8', lambda x: x.astype(jnp.float8_e4m3fn), (64, 64))
jitted('cholesky', lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(16)), (16, 16))

jitted('one_hot', lambda x: jax.nn.one_hot(jnp.argmax(x, 1), 300), (64, 300))
jitted('log_softmax_gradient', jax.grad(lambda x: -jax.nn.log_softmax(x)[:, 3].sum()), (64, 300))
jitted('norm_gradient', jax.grad(lambda x: ((x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)).sum()), (64, 256))
jitted('convolution', lambda x, w: lax.conv_general_dilated(x, w, (1, 1), 'SAME', dimension_numbers=('NHWC', 'HWIO', 'NHWC')),
       (2, 16, 16, 8), (3, 3, 8, 16))
jitted('average', lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), 'VALID'), (2, 16, 16, 8))
jitted('scan', lambda x: lax.scan(lambda c, v: (c * 0.9 + v, c), jnp.zeros(40), x)[1], (12, 40))
jitted('associative_scan', lambda x: lax.associative_scan(jnp.maximum, x, axis=1), (32, 200))
jitted('sort_pairs', lambda x: lax.sort_key_val(x, jnp.broadcast_to(jnp.arange(200), (8, 200)), dimension=1), (8, 200))
jitted('segments', lambda x: jax.ops.segment_sum(x, jnp.arange(100) // 9, 12), (100, 32))
jitted('scatter_max', lambda x: jnp.full((10, 32), -9.0).at[jnp.arange(100) * 3 % 10].max(x), (100, 32))
jitted('dynamic_slice', lambda x: lax.dynamic_slice(x, (jnp.argmax(x[:, 0]) // 2, 3), (40, 50)), (100, 90))
jitted('median', lambda x: jnp.median(x, 1), (16, 101))
jitted('histogram', lambda x: jnp.histogram(x, bins=16, range=(-3, 3))[0], (1000,))
jitted('bits', lambda x: lax.population_count(lax.bitcast_convert_type(x, jnp.uint32)) ^ lax.bitcast_convert_type(x, jnp.uint32) >> 3, (40, 50))
jitted('permutation', lambda x: jax.random.permutation(KEY, x), (500,))
jitted('categorical', lambda x: jax.random.categorical(KEY, x), (32, 100))
jitted('dropout', lambda x: jnp.where(jax.random.bernoulli(KEY, 0.7, x.shape), x / 0.7, 0), (40, 50))
jitted('swiglu', lambda x, w, v: (jax.nn.silu(x @ w) * (x @ v)), (64, 64), (64, 128), (64, 128), kind=jnp.bfloat16)
jitted('batched_matmul', lambda x, y: jnp.einsum('bij,bkj->bik', x, y), (4, 64, 32), (4, 48, 32), kind=jnp.bfloat16)
jitted('solve', lambda x, y: jax.scipy.linalg.solve_triangular(jnp.tril(x) + 9 * jnp.eye(32), y), (32, 32), (32, 8))
jitted('more_functions', lambda x: jnp.log1p(jnp.abs(x)) + jnp.expm1(x / 9) + jnp.tan(x / 9) + jnp.cbrt(x), (40, 50))
jitted('integers', lambda x: (x * 100).astype(jnp.int32) // 7 + (x * 100).astype(jnp.int32) % 13, (40, 50))
jitted('int4', lambda x: (x * 3).astype(jnp.int4).astype(jnp.float32) * 0.5, (64, 64))
jitted('fp8_matmul', lambda x, y: (x.astype(jnp.float8_e4m3fn) @ y.astype(jnp.float8_e4m3fn)).astype(jnp.bfloat16), (64, 128), (128, 64))


def case(function):
    CASES.append(function)
    return function


@case
def mosaic_matmul():
    from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu as h
    a, b = numbers(256, 256, kind=jnp.float16), numbers(256, 256, kind=jnp.float16, seed=1)
    for cluster in (None, h.MatmulDimension.M):
        config = h.TuningConfig(tile_m=64, tile_n=64, tile_k=64, max_concurrent_steps=3, epi_tile_n=64, epi_tile_m=64,
                                cluster_dimension=cluster)
        jax.block_until_ready(h.matmul(a, b, config))


@case
def mosaic_attention():
    from jax.experimental.pallas.ops.gpu import attention_mgpu as m
    q, k, v = (numbers(1, 256, 2, 64, kind=jnp.float16, seed=i) for i in range(3))
    for causal in (False, True):
        config = m.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2, causal=causal)
        jax.block_until_ready(m.attention(q, k, v, config))


@case
def mosaic_attention_gradient():
    from jax.experimental.pallas.ops.gpu import attention_mgpu as m
    q, k, v = (numbers(1, 256, 2, 64, kind=jnp.float16, seed=i) for i in range(3))
    config = m.TuningConfig(block_q=64, block_kv=64, max_concurrent_steps=2, block_q_dkv=64, block_kv_dkv=64,
                            block_q_dq=64, block_kv_dq=64)
    f = lambda *x: m.attention(*x, config).astype(jnp.float32).sum()
    jax.block_until_ready(jax.grad(f, argnums=(0, 1, 2))(q, k, v))


@case
def mosaic_ragged():
    from jax.experimental.pallas.ops.gpu import ragged_dot_mgpu as r
    a, b = numbers(256, 128, kind=jnp.float16), numbers(4, 128, 128, kind=jnp.float16, seed=1)
    sizes = jnp.array([60, 70, 100, 26])
    jax.block_until_ready(r.ragged_dot(a, b, group_sizes=sizes, block_m=64, block_n=64, block_k=64, max_concurrent_steps=2,
                                       grid_block_n=2))


@case
def mosaic_mixed():
    from jax.experimental.pallas.ops.gpu import hopper_mixed_type_matmul_mgpu as h
    a = (numbers(256, 256) * 40).astype(jnp.int8)
    b = numbers(256, 256, kind=jnp.bfloat16, seed=1)
    config = h.TuningConfig(tile_m=64, tile_n=64, tile_k=64, max_concurrent_steps=3, epi_tile_n=64, epi_tile_m=64)
    jax.block_until_ready(h.mixed_matmul_kernel(a, b, out_dtype=jnp.bfloat16, config=config))


def triton_pallas(name, kernel, *shapes):
    def body():
        from jax.experimental.pallas import triton as plt
        inputs = [numbers(*s, seed=i) for i, s in enumerate(shapes)]
        out = jax.ShapeDtypeStruct(shapes[0], jnp.float32)
        jax.block_until_ready(pl.pallas_call(kernel, out_shape=out, compiler_params=plt.CompilerParams())(*inputs))
    body.__name__ = 'pallas_triton_' + name
    CASES.append(body)


def _exp(x, o): o[...] = jnp.exp(x[...]) - 1
def _soft(x, o):
    v = x[...]
    e = jnp.exp(v - v.max(1, keepdims=True))
    o[...] = e / e.sum(1, keepdims=True)
def _dot(x, y, o): o[...] = x[...] @ y[...]


triton_pallas('exp', _exp, (64, 64))
triton_pallas('softmax', _soft, (32, 128))
triton_pallas('dot', _dot, (64, 64), (64, 64))
if __name__ == '__main__':
    common.main(CASES)
