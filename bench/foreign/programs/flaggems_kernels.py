"""Operators of FlagGems, called by themselves: kernels in Triton, many of them generated."""
import ast
import os
import sys
import types

import common
import torch

os.environ.update(GEMS_VENDOR='nvidia', FLAGGEMS_ENABLE_DISK_CACHE='0')
common.one_configuration()


def table(file):
    """What yaml.safe_load gives for a file of maps, lists and plain values."""
    lines = [l.rstrip() for l in file if l.strip()]
    depth = lambda: len(lines[0]) - len(lines[0].lstrip()) if lines else -1

    def value(text):
        return ast.literal_eval({'true': 'True', 'false': 'False'}.get(text, text))

    def block(d):
        if lines[0][d:].startswith('- '):
            out = []
            while depth() == d and lines[0][d:].startswith('- '):
                lines[0] = lines[0].replace('- ', '  ', 1)
                out.append(block(d + 2) if ':' in lines[0] else value(lines.pop(0).strip()))
            return out
        out = {}
        while depth() == d and not lines[0][d:].startswith('- '):
            key, text = lines.pop(0).strip().split(':', 1)
            out[key] = value(text.strip()) if text.strip() else block(depth()) if depth() >= d else None
        return out
    return block(0)


try:
    import yaml  # noqa: F401: FlagGems needs its safe_load
except ImportError:
    sys.modules['yaml'] = types.SimpleNamespace(safe_load=table, YAMLError=ValueError)
sys.modules.setdefault('pytest', types.ModuleType('pytest'))  # imported, and used in tests alone

import flag_gems
from flag_gems.ops import mm_streamk

entries = sys.modules['flag_gems.utils.libentry']
entries.minor_version = min(entries.minor_version, 5)  # it passes constants to a kernel again for 3.3 to 3.5 alone; 3.6 wants them too
torch.manual_seed(5)
CASES = []
F16, BF16, F32, I32, I64 = torch.float16, torch.bfloat16, torch.float32, torch.int32, torch.int64


def x(*shape, kind=F32):
    return lambda: torch.randn(*shape, device='cuda').to(kind)


def positive(*shape):
    return lambda: torch.rand(*shape, device='cuda') + 0.1


def integers(top, *shape, kind=I64):
    return lambda: torch.randint(0, top, shape, device='cuda').to(kind)


def bits(*shape):
    return lambda: torch.rand(*shape, device='cuda') < 0.5


def of(values, kind=I32):
    return lambda: torch.tensor(values, device='cuda', dtype=kind)


def made(a):
    return [made(e) for e in a] if isinstance(a, list) else a() if callable(a) else a


def add(name, body):
    body.__name__ = '%s_%d' % (name, sum(c.__name__.rsplit('_', 1)[0] == name for c in CASES))
    CASES.append(body)


def case(function, *arguments, **options):
    def body():
        getattr(flag_gems, function)(*made(list(arguments)), **{k: made(v) for k, v in options.items()})
        torch.cuda.synchronize()
    add(function, body)


def both(function, *arguments, **options):
    """Forward and backward, of an operator that knows its own gradient."""
    def body():
        inputs = [a.requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in made(list(arguments))]
        out = getattr(flag_gems, function)(*inputs, **options)
        for t in out if isinstance(out, tuple) else (out,):
            if isinstance(t, torch.Tensor) and t.requires_grad:
                t.float().cos().sum().backward(retain_graph=True)
        torch.cuda.synchronize()
    add(function, body)


# Elementwise. A transposed or broadcast input makes another kernel than one of a plain array.
A, B, C = x(40, 100), x(40, 100), x(40, 100)
for name in ('abs', 'atan', 'cos', 'celu', 'elu', 'erf', 'exp', 'exp2', 'gelu', 'isfinite', 'isinf', 'isnan', 'log_sigmoid', 'logical_not',
             'nan_to_num', 'neg', 'reciprocal', 'relu', 'sigmoid', 'silu', 'sin', 'softplus', 'tanh', 'glu', 'angle'):
    case(name, A)
for name in ('log', 'rsqrt', 'sqrt'):
    case(name, positive(40, 100))
for name in ('add', 'sub', 'mul', 'true_divide', 'floor_divide', 'remainder', 'maximum', 'minimum', 'eq', 'ne', 'lt', 'le', 'gt', 'ge', 'logical_and',
             'logical_or', 'logical_xor', 'isclose', 'polar'):
    case(name, A, B)
for name in ('sigmoid_backward', 'silu_backward', 'tanh_backward', 'gelu_backward'):
    case(name, A, B)
case('add', lambda: A().T, x(100, 40))
case('mul', x(4, 1, 64, kind=F16), x(4, 30, 1, kind=F16))
case('sub', x(40, 100, kind=BF16), 1.5)
case('div_mode', A, B, rounding_mode='trunc')
case('floor_divide', integers(1000, 4000, kind=I32), lambda: integers(30, 4000, kind=I32)() + 1)
case('remainder', integers(1000, 4000), 7)
case('gelu', A, approximate='tanh')
case('gelu_backward', A, B, approximate='tanh')
case('exp', x(40, 100, kind=BF16))
case('threshold', A, 0.1, -1.0)
case('threshold_backward', A, B, 0.1)
case('elu_backward', A, 1.0, 1.0, 1.0, False, B)
case('glu_backward', x(40, 50), A)
case('pow_tensor_tensor', positive(40, 100), B)
case('pow_tensor_scalar', positive(40, 100), 2.5)
case('pow_scalar', 1.5, B)
for name in ('bitwise_and_tensor', 'bitwise_or_tensor'):
    case(name, integers(1 << 30, 4000, kind=I32), integers(1 << 30, 4000, kind=I32))
for name in ('bitwise_left_shift', 'bitwise_right_shift'):
    case(name, integers(1 << 20, 4000, kind=I32), integers(8, 4000, kind=I32))
case('bitwise_not', integers(1 << 30, 4000, kind=I32))
case('lerp_tensor', A, B, C)
case('lerp_scalar', A, B, 0.3)
case('where_self', bits(40, 100), A, B)
case('where_scalar_other', bits(40, 100), A, 2.0)
case('clamp', A, -0.5, 0.5)
case('clamp_tensor', A, B, C)
case('addcmul', A, B, C, value=0.5)
case('addcdiv', A, B, positive(40, 100), value=0.5)
case('masked_fill', A, bits(40, 100), 3.0)
both('gelu_and_mul', A, B)
both('silu_and_mul', A, B)

# Reductions.
for name in ('all', 'any', 'amax', 'argmax', 'argmin', 'max', 'min', 'mean', 'prod', 'sum', 'count_nonzero', 'std', 'var_mean', 'vector_norm'):
    case(name, x(60, 300))
for name in ('all_dim', 'any_dim', 'argmax', 'argmin', 'max_dim', 'min_dim', 'prod_dim', 'count_nonzero'):
    case(name, x(60, 300), 1)
for name in ('argmax', 'max_dim', 'min_dim', 'prod_dim'):
    case(name, x(8, 60, 50), 1)
for name in ('amax', 'sum_dim', 'mean_dim', 'var_mean', 'std', 'all_dims', 'any_dims'):
    case(name, x(60, 300), [1])
for name in ('sum_dim', 'mean_dim', 'var_mean'):
    case(name, x(60, 300), [0])
for order in (0, 1, 3, float('inf'), float('-inf')):
    case('vector_norm', x(60, 300), order, [1])
    case('vector_norm', x(60, 300), order)
case('sum', x(20000, kind=F16))
case('trace', x(100, 100))
case('dot', x(5000), x(5000))
case('vdot', x(5000), x(5000))
case('mse_loss', A, B)
case('mse_loss', A, B, 0)
case('quantile', x(60, 300), of([0.1, 0.5], F32), 1)
case('allclose', A, B)

# Softmax, losses, norms.
for name in ('softmax', 'log_softmax'):
    case(name, x(60, 300), 1)
    case(name, x(8, 60, 50), 1)
    case(name, x(4, 9000, kind=F16), 1)
    case(name + '_backward', x(60, 300), positive(60, 300), 1, F32)
    case(name + '_backward', x(8, 60, 50), positive(8, 60, 50), 1, F32)
case('nll_loss_forward', x(60, 30), integers(30, 60))
case('nll_loss_forward', x(60, 30), integers(30, 60), positive(30), 0)
case('nll_loss_backward', lambda: torch.ones((), device='cuda'), x(60, 30), integers(30, 60), None, 1, -100, lambda: torch.full((), 60.0, device='cuda'))
case('nll_loss2d_forward', x(2, 30, 1, 64), integers(30, 2, 1, 64))
case('nll_loss2d_backward', lambda: torch.ones((), device='cuda'), x(2, 30, 1, 64), integers(30, 2, 1, 64), None, 1, -100,
     lambda: torch.full((), 128.0, device='cuda'))
both('cross_entropy_loss', x(60, 300), integers(300, 60))
both('cross_entropy_loss', x(60, 300), integers(300, 60), label_smoothing=0.1)
both('cross_entropy_loss', x(60, 300), lambda: torch.softmax(x(60, 300)(), 1))
both('cross_entropy_loss', x(2, 30, 20), integers(30, 2, 20), reduction='none')
case('layer_norm', x(60, 300), [300], x(300), x(300))
case('layer_norm', x(60, 100, kind=F16), [100], x(100, kind=F16), x(100, kind=F16))
case('layer_norm', x(4, 9000), [9000], x(9000), x(9000))
case('layer_norm_backward', x(60, 300), x(60, 300), [300], x(60), positive(60), x(300), x(300), [True, True, True])
case('group_norm', x(4, 8, 100), x(8), x(8), 4, 8, 100, 2)
case('group_norm_backward', x(4, 8, 100), x(4, 8, 100), x(4, 2), positive(4, 2), x(8), 4, 8, 100, 2, [True, True, True])
case('batch_norm', x(8, 6, 50), x(6), x(6), x(6), positive(6), True)
case('batch_norm', x(8, 6, 50), x(6), x(6), x(6), positive(6), False)
case('batch_norm_backward', x(8, 6, 50), x(8, 6, 50), x(6), x(6), positive(6), x(6), positive(6), True, 1e-5, [True, True, True])
both('rms_norm', x(60, 300), [300], x(300))
both('instance_norm', x(4, 8, 10, 10), x(8), x(8))
case('instance_norm', x(4, 8, 10, 10), x(8), x(8), x(8), positive(8), False)
case('skip_layer_norm', x(60, 300), x(60, 300), [300], x(300), x(300))
case('fused_add_rms_norm', x(60, 300), x(60, 300), [300], x(300))
for d in (0, 1):
    case('weight_norm_interface', x(60, 300), x(60, 1) if d == 0 else x(1, 300), d)
    case('weight_norm_interface_backward', x(60, 300), x(60, 300), x(60, 1) if d == 0 else x(1, 300), positive(60 if d == 0 else 300), d)
both('weight_norm', x(30, 20, 10), x(1, 20, 1), 1)

# Indices, copies.
case('gather', x(40, 100), 1, integers(100, 40, 30))
case('gather', x(40, 100), 0, integers(40, 30, 100))
case('gather_backward', x(40, 30), x(40, 100), 1, integers(100, 40, 30), False)
case('scatter', x(40, 100), 1, lambda: torch.rand(40, 100, device='cuda').argsort(1)[:, :30].contiguous(), x(40, 30))
case('scatter', x(40, 100), 1, integers(100, 40, 30), x(40, 30), 'add')
case('scatter', x(40, 100), 1, integers(100, 40, 30), x(40, 30), 'multiply')
case('index_select', x(40, 100), 1, integers(100, 30))
case('index_select', x(40, 100), 0, integers(40, 30))
case('index_add', x(40, 100), 0, integers(40, 30), x(30, 100))
case('index_add', x(40, 100), 1, integers(100, 30), x(40, 30))
case('index', x(40, 100), [integers(40, 50), integers(100, 50)])
case('index_put', x(40, 100), [integers(40, 50), integers(100, 50)], x(50), True)
case('index_put_', x(40, 100), [lambda: torch.randperm(40, device='cuda')[:20]], x(20, 100), False)
case('masked_select', x(40, 100), bits(40, 100))
case('masked_select', x(9000), bits(9000))
case('nonzero', lambda: bits(40, 100)().int())
case('embedding', x(50, 64), integers(50, 4, 10))
case('embedding_backward', x(4, 10, 64), integers(50, 4, 10), 50)
case('embedding_backward', x(4, 10, 64), integers(50, 4, 10), 50, 3, True)
case('select_scatter', x(40, 100), x(40), 1, 7)
case('slice_scatter', x(40, 100), x(40, 20), 1, 10, 90, 4)
case('repeat', x(20, 30), [2, 3])
case('tile', x(20, 30), [2, 2, 2])
case('repeat_interleave_self_int', x(20, 30), 3, 1)
case('repeat_interleave_tensor', integers(5, 40))
case('repeat_interleave_self_tensor', x(20, 30), integers(4, 20), 0)
case('flip', x(20, 30), [0, 1])
case('cat', [x(20, 30), x(20, 50), x(20, 10)], 1)
case('stack', [x(20, 30), x(20, 30)], 1)
case('hstack', [x(20, 30), x(20, 50)])
case('vstack', [x(20, 30), x(50, 30)])
for mode in ('constant', 'reflect', 'replicate', 'circular'):
    case('pad', x(8, 8, 20, 30), [2, 3, 1, 4], mode)
case('diag', x(50))
case('diag', x(40, 50), 2)
case('diag_embed', x(6, 20), 1)
case('diagonal_backward', x(20), [20, 30], 0, 0, 1)
case('triu', x(40, 100), 1)
case('triu', x(3, 40, 50), -1)
case('kron', x(6, 10), x(8, 9))
case('contiguous', lambda: x(40, 100)().T)
case('to_copy', x(40, 100), dtype=F16)

# Sorting, scans, sets.
case('sort', x(20, 300), 1)
case('sort', integers(1000, 2000, kind=I32), 0, True)
case('sort_stable', x(20, 100, kind=F16), stable=True, dim=1)
case('topk', x(20, 300), 8)
case('topk', x(4, 5000), 5, -1, False)
case('_unique2', integers(100, 1500), True, True, True)
case('_unique2', integers(100, 9000), True, False, True)
case('isin', integers(100, 50), integers(100, 20))
case('isin', integers(1000, 4000), integers(1000, 2000))
case('cumsum', x(20, 300), 1)
case('cumsum', x(3, 100, 40), 1)
case('cumsum', x(9000), 0)
case('normed_cumsum', positive(20, 300))
case('cummax', x(20, 300), 1)
case('cummax', x(3, 100, 40), 1)
case('cummin', x(9000), 0)
case('multinomial', positive(4, 200), 100, True)
case('randperm', 1000, device='cuda')

# New arrays, random numbers.
case('arange', 1000, device='cuda')
case('eye', 50, device='cuda')
case('eye_m', 50, 70, device='cuda')
case('full', [40, 100], 3.0, device='cuda')
case('ones', [40, 100], device='cuda')
case('zeros_like', A)
case('fill_tensor', A, of(2.5, F32))
case('linspace', 0.0, 1.0, 1000, device='cuda')
case('logspace', 0.0, 1.0, 1000, device='cuda')
for name in ('rand', 'randn'):
    case(name, [5000], device='cuda')
case('uniform_', A, -1.0, 1.0)
case('exponential_', A, 1.5)
case('normal_tensor_tensor', A, positive(40, 100))
case('dropout', A, 0.3, True)
case('dropout_backward', A, bits(40, 100), 1.5)

# Products.
case('mm', x(128, 96, kind=F16), x(96, 160, kind=F16))
case('mm', x(100, 70), x(70, 90))
case('mm', x(128, 96, kind=BF16), lambda: x(160, 96, kind=BF16)().T)
case('addmm', x(160, kind=F16), x(128, 96, kind=F16), x(96, 160, kind=F16), beta=0.5, alpha=2.0)
case('bmm', x(3, 64, 80, kind=F16), x(3, 80, 72, kind=F16))
case('mv', x(100, 300), x(300))
case('addmv', x(100), x(100, 300), x(300), beta=0.5, alpha=2.0)
case('addr', x(80), x(60), x(80))
both('outer', x(60), x(80))
case('rwkv_mm_sparsity', lambda: torch.relu(x(512, kind=F16)()), x(512, 128, kind=F16))


def stream_k():
    mm_streamk.streamk_mm(x(128, 1024, kind=F16)(), x(1024, 128, kind=F16)(), torch.empty(128, 128, device='cuda', dtype=F16), 128, 128, 1024, sm_count=16)
    torch.cuda.synchronize()


CASES.append(stream_k)

# Attention.
for causal in (False, True):
    both('scaled_dot_product_attention', x(1, 2, 128, 64, kind=F16), x(1, 2, 128, 64, kind=F16), x(1, 2, 128, 64, kind=F16), None, 0.0, causal)
    case('flash_attention_forward', x(1, 128, 2, 64, kind=F16), x(1, 128, 2, 64, kind=F16), x(1, 128, 2, 64, kind=F16), None, None, 128, 128, 0.0, causal,
         False, disable_splitkv=True)
case('flash_attention_forward', x(1, 16, 2, 64, kind=F16), x(1, 512, 2, 64, kind=F16), x(1, 512, 2, 64, kind=F16), None, None, 16, 512, 0.0, False, False)
case('flash_attention_forward', x(1, 128, 2, 64, kind=BF16), x(1, 128, 2, 64, kind=BF16), x(1, 128, 2, 64, kind=BF16), None, None, 128, 128, 0.2, True,
     False, softcap=0.0, window_size_left=40, window_size_right=0, disable_splitkv=True)
case('flash_attn_varlen_func', x(135, 4, 64, kind=F16), x(20, 32, 2, 64, kind=F16), x(20, 32, 2, 64, kind=F16), 129, of([0, 1, 6, 135]), 160,
     seqused_k=of([100, 18, 160]), softmax_scale=0.125, causal=True, window_size=(-1, -1),
     block_table=lambda: torch.arange(15, device='cuda', dtype=I32).reshape(3, 5), softcap=10.0, fa_version=2)
case('flash_mla', x(2, 1, 16, 160, kind=BF16), lambda: torch.arange(8, device='cuda', dtype=I32).reshape(2, 4), x(8, 64, 1, 160, kind=BF16), 256, 64, 2, 1,
     of([200, 130]), 16, 1, 160, 128, True)
slots = lambda: torch.randperm(64, device='cuda')[:20]
case('reshape_and_cache', x(20, 4, 64, kind=F16), x(20, 4, 64, kind=F16), x(8, 4, 8, 8, 8, kind=F16), x(8, 4, 64, 8, kind=F16), slots, 'auto', of(1.0, F32),
     of(1.0, F32))
case('reshape_and_cache_flash', x(20, 4, 64, kind=F16), x(20, 4, 64, kind=F16), x(8, 8, 4, 64, kind=F16), x(8, 8, 4, 64, kind=F16), slots, 'auto',
     of(1.0, F32), of(1.0, F32))
case('concat_and_cache_mla', x(20, 128, kind=F16), x(20, 32, kind=F16), x(8, 8, 160, kind=F16), slots, 'auto', of(1.0, F32))
case('concat_and_cache_mla', x(20, 128, kind=F16), x(20, 32, kind=F16), integers(256, 8, 8, 160, kind=torch.uint8), slots, 'fp8', of(0.1, F32))
case('moe_align_block_size', integers(8, 60, 2, kind=I32), 16, 8)
case('topk_softmax', x(30, 4), integers(9, 30, 4, kind=I32), integers(9, 30, 4, kind=I32), x(30, 16))
case('get_scheduler_metadata', 2, 1, 256, 8, 2, 64, 64, F16, of([200, 100]), pack_gqa=True)
case('apply_rotary_pos_emb', x(40, 4, 64), x(40, 2, 64), x(50, 32), x(50, 32), integers(50, 40))
case('apply_rotary_pos_emb', x(2, 40, 4, 64, kind=F16), x(2, 40, 2, 64, kind=F16), x(50, 32), x(50, 32), None, True)
case('rwkv_ka_fusion', x(20, 128), x(128), x(20, 128), x(128), 2, 64)

# Convolution, pooling, resizing.
both('conv2d', x(2, 8, 12, 12, kind=F16), x(16, 8, 3, 3, kind=F16), x(16, kind=F16), 1, 1)
both('conv2d', x(1, 8, 12, 12), x(16, 4, 3, 3), None, 2, 1, 1, 2)
case('conv1d', x(2, 8, 40), x(16, 8, 3), x(16), 1, 1)
case('conv3d', x(1, 8, 6, 8, 8, kind=F16), x(16, 8, 3, 3, 3, kind=F16), x(16, kind=F16), 1, 1)
case('_conv_depthwise2d', x(2, 8, 12, 12), x(8, 1, 3, 3), [3, 3], None, [1, 1], [1, 1], [1, 1])
case('avg_pool2d', x(2, 4, 20, 20), [3, 3], [2, 2], [1, 1])
case('avg_pool2d_backward', x(2, 4, 10, 10), x(2, 4, 20, 20), [3, 3], [2, 2], [1, 1], False, True, None)
case('max_pool2d_with_indices', x(2, 4, 20, 20), [3, 3], [2, 2], [1, 1])
case('max_pool2d_backward', x(2, 4, 10, 10), x(2, 4, 20, 20), integers(400, 2, 4, 10, 10), [3, 3], [2, 2], [1, 1], [1, 1], False)
case('upsample_nearest2d', x(2, 3, 20, 20), [30, 45])
case('_upsample_bicubic2d_aa', x(2, 3, 20, 20), [30, 45])
case('_upsample_bicubic2d_aa', x(2, 3, 30, 45), [20, 20], True)


if __name__ == '__main__':
    common.main(CASES)
