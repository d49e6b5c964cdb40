"""Operators and modules of flash-linear-attention, forward and backward: chunks and recurrences in Triton."""
import importlib
import re
import sys
import types

import common
import torch
import torch.nn.functional as F

common.one_configuration()


def einops():
    """The functions of einops that fla needs, from the one that PyTorch ships."""
    from functorch.einops import rearrange
    names = lambda side: re.findall(r'\w+|\.\.\.', side)

    def reduce(x, pattern, reduction, **sizes):
        left, right = pattern.split('->')
        gone = [n for n in names(left) if n not in names(right)]
        return rearrange(x, ' '.join([left, '->', right, *gone]), **sizes).sum(tuple(range(-len(gone), 0)))

    def repeat(x, pattern, **sizes):
        left, right = pattern.split('->')
        new = [n for n in names(right) if n not in names(left)]
        x = x[(...,) + (None,) * len(new)].expand(*x.shape, *[sizes[n] for n in new])
        return rearrange(x, ' '.join([left, *new, '->', right]), **{n: s for n, s in sizes.items() if n not in new})
    return types.SimpleNamespace(rearrange=rearrange, reduce=reduce, repeat=repeat)


try:
    import einops  # noqa: F401
except ImportError:
    sys.modules['einops'] = einops()
sys.modules.update({'fla.models': None})  # they want transformers
# fla refuses this product with Triton 3.4 to 3.7.0 on Hopper, which compile it wrongly; it runs here to see why.
importlib.import_module('fla.ops.common.chunk_o').TRITON_ABOVE_3_7_1 = True

torch.manual_seed(6)
CASES = []
BF16, F32 = torch.bfloat16, torch.float32
B, T, H, D = 1, 128, 2, 64


def x(*shape, kind=BF16):
    return lambda: torch.randn(*shape, device='cuda').to(kind)


def unit(*shape, kind=BF16):
    return lambda: F.normalize(torch.randn(*shape, device='cuda'), dim=-1).to(kind)


def gate(*shape, kind=BF16):
    """A logarithm of a decay."""
    return lambda: (F.logsigmoid(torch.randn(*shape, device='cuda')) / 16).to(kind)


def share(*shape, kind=BF16):
    return lambda: torch.rand(*shape, device='cuda').sigmoid().to(kind)


def of(values, kind=torch.int64):
    return lambda: torch.tensor(values, device='cuda', dtype=kind)


class Fixed(list):
    """An input without gradient."""


def fixed(*shape):
    return Fixed([x(*shape)])


def leaves(a):
    return [t for e in a for t in leaves(e)] if isinstance(a, (tuple, list)) else [a] if isinstance(a, torch.Tensor) else []


def made(a):
    if isinstance(a, Fixed):
        return a[0]()
    a = [made(e) for e in a] if isinstance(a, list) else a() if callable(a) else a
    return a.requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else a


def case(module, function, *arguments, backward=True, **options):
    def body():
        f = getattr(importlib.import_module('fla.' + module), function)
        with torch.set_grad_enabled(backward):
            out = leaves(f(*[made(a) for a in arguments], **{k: made(v) for k, v in options.items()}))
            total = sum((t.float() * torch.arange(t.numel(), device='cuda').reshape(t.shape).float().cos()).sum() for t in out if t.requires_grad)
        if backward:
            total.backward()
        torch.cuda.synchronize()
    body.__name__ = '%s_%d' % (function, sum(c.__name__.rsplit('_', 1)[0] == function for c in CASES))
    CASES.append(body)


q = k = v = x(B, T, H, D)
n = unit(B, T, H, D)
vector, scalar = gate(B, T, H, D), gate(B, T, H, kind=F32)
beta = share(B, T, H)
state = x(B, H, D, D, kind=F32)
packed = of([0, 50, 128])

# Linear attention with and without decay.
for f in ('chunk_retention', 'fused_chunk_retention', 'fused_recurrent_retention', 'parallel_retention'):
    case('ops.retention', f, q, k, v)
case('ops.retention', 'chunk_retention', q, k, v, initial_state=state, output_final_state=True)
case('ops.retention', 'chunk_retention', q, k, v, cu_seqlens=packed)
for f in ('chunk_linear_attn', 'fused_chunk_linear_attn', 'fused_recurrent_linear_attn'):
    case('ops.linear_attn', f, q, k, v, normalize=False)
for f in ('chunk_lightning_attn', 'fused_recurrent_lightning_attn'):
    case('ops.lightning_attn', f, q, k, v, 2, 8)
case('ops.gla', 'chunk_gla', q, k, v, vector, initial_state=state, output_final_state=True)
case('ops.gla', 'chunk_gla', q, k, v, vector, cu_seqlens=packed)
case('ops.gla', 'fused_recurrent_gla', q, k, v, vector)
case('ops.simple_gla', 'chunk_simple_gla', q, k, v, scalar)
case('ops.simple_gla', 'fused_chunk_simple_gla', q, k, v, scalar)
case('ops.simple_gla', 'fused_recurrent_simple_gla', q, k, v, scalar)
case('ops.simple_gla', 'parallel_simple_gla', q, k, v, scalar)
case('ops.based', 'parallel_based', x(B, T, H, 16), x(B, T, H, 16), v)
case('ops.based', 'fused_chunk_based', x(B, T, H, 16), x(B, T, H, 16), v)
case('ops.rebased', 'parallel_rebased', x(B, T, H, 16), x(B, T, H, 16), v)
case('ops.abc', 'chunk_abc', q, k, v, x(B, T, H, 32))
case('ops.gsa', 'chunk_gsa', q, k, v, x(B, T, H, 32), gate(B, T, H, 32))
case('ops.gsa', 'fused_recurrent_gsa', q, k, v, x(B, T, H, 32), gate(B, T, H, 32))
case('ops.hgrn', 'fused_recurrent_hgrn', x(2, 64, 128), gate(2, 64, 128))
case('ops.hgrn.chunk', 'chunk_hgrn', x(2, 128, 128), gate(2, 128, 128))
case('ops.log_linear_attn', 'chunk_log_linear_attn', x(B, T, 1, D), x(B, T, 1, D), v, scalar, x(B, T, H, 8))
case('ops.rwkv4', 'fused_recurrent_rwkv4', x(128, kind=F32), x(128, kind=F32), x(2, 32, 128, kind=F32), x(2, 32, 128, kind=F32),
     lambda: torch.zeros(2, 3, 1, 128, device='cuda'))
case('ops.rwkv6', 'chunk_rwkv6', q, k, v, vector, x(H, D))
case('ops.rwkv6', 'fused_recurrent_rwkv6', q, k, v, vector, x(H, D))

# Delta rules.
for f in ('chunk_delta_rule', 'fused_recurrent_delta_rule'):
    case('ops.delta_rule', f, q, n, v, beta)
case('ops.delta_rule', 'chunk_delta_rule', q, k, v, beta, initial_state=state, output_final_state=True, use_qk_l2norm_in_kernel=True)
case('ops.gated_delta_rule', 'chunk_gated_delta_rule', q, n, v, scalar, beta)
case('ops.gated_delta_rule', 'chunk_gated_delta_rule', q, n, v, scalar, beta, use_qk_l2norm_in_kernel=True, cu_seqlens=packed)
case('ops.gated_delta_rule', 'fused_recurrent_gated_delta_rule', q, n, v, g=scalar, beta=beta, backward=False)
case('ops.gated_delta_rule.gate', 'fused_gdn_gate', x(B, T, H), x(H, kind=F32), x(H, kind=F32))
case('ops.common.gate', 'fused_beta_sigmoid', x(B, T, H))
case('ops.gated_delta_product', 'chunk_gated_delta_product', q, unit(B, 2 * T, H, D), x(B, 2 * T, H, D), scalar, share(B, 2 * T, H), 2)
case('ops.comba', 'chunk_comba', n, n, v, n, scalar, beta)
case('ops.comba', 'fused_recurrent_comba', n, n, n, v, scalar, beta, backward=False)
case('ops.gated_oja_rule', 'chunk_gated_oja_rule', n, k, unit(B, T, H, D), gate(B, T, H, D, kind=F32), beta)
case('ops.gated_oja_rule', 'fused_recurrent_gated_oja_rule', n, k, unit(B, T, H, D), gate(B, T, H, D, kind=F32), beta, backward=False)
case('ops.gdn2', 'chunk_gdn2', n, n, v, gate(B, T, H, D, kind=F32), share(B, T, H, D), share(B, T, H, D))
case('ops.gdn2', 'fused_recurrent_gdn2', n, n, v, gate(B, T, H, D, kind=F32), share(B, T, H, D), share(B, T, H, D), backward=False)
case('ops.generalized_delta_rule', 'chunk_dplr_delta_rule', q, k, v, n, unit(B, T, H, D), gate(B, T, H, D, kind=F32))
case('ops.generalized_delta_rule', 'fused_recurrent_dplr_delta_rule', q, k, v, n, unit(B, T, H, D), gate(B, T, H, D, kind=F32), backward=False)
case('ops.generalized_delta_rule', 'chunk_iplr_delta_rule', q, k, v, n, unit(B, T, H, D), backward=False)
case('ops.generalized_delta_rule', 'fused_recurrent_iplr_delta_rule', q, k, v, n, unit(B, T, H, D))
case('ops.kda', 'chunk_kda', q, n, v, gate(B, T, H, D, kind=F32), beta)
case('ops.kda', 'chunk_kda', q, k, v, x(B, T, H, D), beta, A_log=x(H, kind=F32), dt_bias=x(H * D, kind=F32), use_qk_l2norm_in_kernel=True,
     use_gate_in_kernel=True)
case('ops.kda', 'fused_recurrent_kda', q, n, v, gate(B, T, H, D, kind=F32), beta, backward=False)
case('ops.kda.gate', 'fused_kda_gate', x(B, T, H, D), x(H, kind=F32))
case('ops.precond_kda', 'chunk_precond_kda', n, n, v, gate(B, T, H, D, kind=F32), scalar, beta, beta)
case('ops.precond_kda', 'fused_recurrent_precond_kda', n, n, v, gate(B, T, H, D, kind=F32), scalar, beta, beta, backward=False)
case('ops.precond_gated_delta_rule', 'chunk_precond_gated_delta_rule', n, n, v, scalar, scalar, beta, beta)
case('ops.precond_gated_delta_rule', 'fused_recurrent_precond_gated_delta_rule', n, n, v, g=scalar, beta=beta, g_atk=scalar, beta_atk=beta, backward=False)
case('ops.rwkv7', 'chunk_rwkv7', q, vector, k, v, n, unit(B, T, H, D))
case('ops.rwkv7', 'fused_recurrent_rwkv7', q, vector, k, v, n, unit(B, T, H, D), backward=False)
case('ops.rwkv7.fused_recurrent', 'fused_mul_recurrent_rwkv7', q, vector, k, v, n, share(B, T, H, D), backward=False)
case('ops.rwkv7.fused_addcmul', 'fused_addcmul_rwkv7', x(2, 64, 128), x(2, 64, 128), *[x(1, 1, 128)] * 6)
case('ops.rwkv7.fused_k_update', 'fused_k_rwkv7', x(2, 64, 128), share(2, 64, 128), x(128))
case('ops.rwkv7.gate_output_correction', 'gate_output_correction', x(B, T, H * D), q, k, x(H, D), v, x(B, T, H * D))
case('ops.mesa_net', 'chunk_mesa_net', q, n, v, gate(B, T, H, kind=F32), beta, lambda: torch.rand(H, D, device='cuda').to(BF16) * 0.5 + 0.3,
     max_CG_iteration=4)
case('ops.ttt', 'chunk_ttt_linear', q, n, v, x(H, D), x(H, D), lambda: x(B, T, H, 1)() * 5e-3)
case('ops.ttt', 'fused_chunk_ttt_linear', q, n, v, x(H, D), x(H, D), lambda: x(B, T, H, 1)() * 5e-3)

# Softmax attention.
case('ops.attn', 'parallel_attn', x(B, T, 4, D), k, v)
case('ops.attn', 'parallel_attn', x(B, T, 4, D), k, v, gate(B, T, 4, kind=F32), window_size=40)
case('ops.forgetting_attn', 'parallel_forgetting_attn', q, k, v, scalar)
case('ops.path_attn', 'parallel_path_attn', q, k, v, unit(B, T, H, D, kind=F32), share(B, T, H, kind=F32), scalar)
case('ops.nsa', 'parallel_nsa', x(B, 256, 16, D), x(B, 256, 1, D), x(B, 256, 1, D), share(B, 256, 16), share(B, 256, 16), block_counts=2, block_size=32)
case('ops.parallax', 'parallel_parallax', x(B, T, 4, D), x(B, T, 4, D), k, v)
case('ops.wall_attn', 'parallel_wall_attn', x(B, T, 4, D), k, v, lambda: -torch.rand(B, T, 4, D, device='cuda').to(BF16) * 0.02)
case('ops.attnres', 'fused_attnres', x(128), [x(2, 64, 128), x(2, 64, 128), x(2, 64, 128)], x(128))

# Parts that the others use.
case('ops.utils.solve_tril', 'solve_tril', lambda: torch.randn(B, T, H, 64, device='cuda').tril(-1) * 0.1, backward=False)
case('ops.utils.cumsum', 'chunk_global_cumsum', x(B, T, H, kind=F32), backward=False)
case('ops.utils.cumsum', 'chunk_global_cumsum', x(B, T, H, D, kind=F32), reverse=True, backward=False)
case('ops.utils.cumsum', 'chunk_local_cumsum', x(B, T, H, D, kind=F32), 64, reverse=True, backward=False)
case('ops.utils.matmul', 'matmul', x(100, 64), x(64, 120), 'leaky_relu', backward=False)
case('ops.utils.matmul', 'addmm', x(100, 120), x(100, 64), x(64, 120), backward=False)
case('ops.utils.pooling', 'mean_pooling', q, 32)
case('ops.utils.pack', 'pack_sequence', x(2, 100, 64), packed)
case('ops.utils.logsumexp', 'logsumexp_fwd', x(64, 300), backward=False)
case('ops.utils.softmax', 'softmax_fwd', x(64, 300), backward=False)

# Modules.
rows, weight = x(64, 256), x(256)
for f in ('layer_norm', 'rms_norm'):
    case('modules.layernorm', f, rows, weight, weight)
    case('modules.layernorm', f, rows, weight, weight, residual=rows, prenorm=True)
    case('modules.layernorm', f + '_linear', rows, weight, weight, x(128, 256), x(128))
case('modules.layernorm', 'group_norm', rows, weight, weight, num_groups=4)
case('modules.layernorm_gated', 'layernorm_fn', rows, weight, weight, z=rows)
case('modules.layernorm_gated', 'rmsnorm_fn', rows, weight, None, z=rows, group_size=64, norm_before_gate=False)
for f in ('layer_norm', 'rms_norm'):
    case('modules.fused_norm_gate', f + '_gated', rows, rows, weight, weight)
    case('modules.fused_norm_gate', f + '_swish_gate_linear', rows, rows, weight, weight, x(128, 256), x(128))
case('modules.l2norm', 'l2norm', x(B, T, H, D))
case('modules.rotary', 'rotary_embedding', q, x(T, D // 2), x(T, D // 2))
case('modules.rotary', 'rotary_embedding', q, x(T, D // 2), x(T, D // 2), interleaved=True, cu_seqlens=packed)
case('modules.conv.causal_conv1d', 'causal_conv1d', x(2, 100, 128), x(128, 4), x(128), activation='silu')
case('modules.conv.causal_conv1d', 'causal_conv1d', x(1, 128, 128), x(128, 4), residual=x(1, 128, 128), cu_seqlens=packed)
case('modules.conv.triton.ops', 'causal_conv1d_update', x(2, 128), x(2, 128, 4), weight=x(128, 4), activation='silu', backward=False)
case('modules.token_shift', 'token_shift', x(2, 100, 128))
case('modules.token_shift', 'token_shift', x(1, 128, 128), packed)
case('modules.fused_cross_entropy', 'cross_entropy_loss', x(32, 300), lambda: torch.arange(32, device='cuda') * 7 % 300, 0.1)
case('modules.fused_linear_cross_entropy', 'fused_linear_cross_entropy_loss', x(32, 64), lambda: torch.arange(32, device='cuda') * 7 % 300, x(300, 64))
case('modules.fused_kl_div', 'fused_kl_div_loss', x(32, 64), fixed(32, 64), x(300, 64), fixed(300, 64))
case('modules.grpo', 'fused_grpo_loss', x(2, 17, 300), x(2, 16, kind=F32), lambda: torch.arange(32, device='cuda').reshape(2, 16), x(2, kind=F32))
case('modules.fused_bitlinear', 'layer_norm_linear_quant_fn', rows, weight, weight, x(128, 256), None)
for f in ('swiglu', 'powglu'):
    case('modules.activations', f, rows, rows)
    case('modules.activations', f + '_linear', rows, rows, x(128, 256), None)
for f in ('logsigmoid', 'sigmoid', 'swish', 'sqrelu', 'bias_gelu'):
    case('modules.activations', f, rows, *([weight] if f == 'bias_gelu' else []))


if __name__ == '__main__':
    common.main(CASES)
