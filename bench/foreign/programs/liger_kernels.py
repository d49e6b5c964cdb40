"""Liger's row kernels, forward and backward, through their autograd functions."""
import importlib
import math

import common
import torch

torch.manual_seed(2)
CASES = []


def numbers(*shape, kind=torch.float32):
    return torch.randn(*shape, device='cuda', dtype=kind).requires_grad_()


def case(module, function, *arguments, kind=torch.float32):
    def body():
        f = getattr(importlib.import_module('liger_kernel.ops.' + module), function)
        out = f.apply(*[a() if callable(a) else a for a in arguments])
        out = [t for t in (out if isinstance(out, tuple) else (out,)) if isinstance(t, torch.Tensor)]
        total = sum((t.float() * torch.arange(t.numel(), device='cuda').reshape(t.shape).float().cos()).sum()
                    for t in out if t.is_floating_point())
        if total.requires_grad:
            total.backward()
        torch.cuda.synchronize()
    body.__name__ = '%s_%d' % (module, sum(c.__name__.startswith(module + '_') for c in CASES))
    CASES.append(body)


F32, BF16 = torch.float32, torch.bfloat16
targets = lambda: torch.arange(32, device='cuda') * 7 % 300
distribution = lambda: torch.softmax(torch.randn(32, 300, device='cuda'), -1)
logs = lambda: torch.log_softmax(torch.randn(32, 300, device='cuda'), -1).requires_grad_()
angles = lambda f: lambda: f(torch.randn(1, 32, 64, device='cuda'))
for kind in (F32, BF16):
    x = lambda k=kind: numbers(32, 256, kind=k)
    w = lambda k=kind: numbers(256, kind=k)
    case('rms_norm', 'LigerRMSNormFunction', x, w, 1e-5)
    case('rms_norm', 'LigerRMSNormFunction', x, w, 1e-5, 1.0, 'gemma', False)
    case('layer_norm', 'LigerLayerNormFunction', x, w, w, 1e-5)
    case('fused_add_rms_norm', 'LigerFusedAddRMSNormFunction', x, x, w, 1e-5)
    case('swiglu', 'LigerSiLUMulFunction', x, x)
    case('geglu', 'LigerGELUMulFunction', x, x)
    case('relu_squared', 'LigerReLUSquaredFunction', x)
    case('dyt', 'LigerDyTFunction', x, lambda k=kind: numbers(1, kind=k), w, w)
    case('softmax', 'LigerSoftmaxFunction', x)
    case('poly_norm', 'LigerPolyNormFunction', x, lambda k=kind: numbers(3, kind=k), lambda k=kind: numbers(1, kind=k))
    case('rope', 'LigerRopeFunction', lambda k=kind: numbers(1, 4, 32, 64, kind=k),
         lambda k=kind: numbers(1, 2, 32, 64, kind=k), angles(torch.cos), angles(torch.sin))
    case('cross_entropy', 'LigerCrossEntropyFunction', lambda k=kind: numbers(32, 300, kind=k), targets, None)
case('softmax', 'LigerSoftmaxFunction', lambda: numbers(2, 40000))
case('cross_entropy', 'LigerCrossEntropyFunction', lambda: numbers(32, 300), targets, None, 3, 1e-4, 0.1, 'mean', 30.0, True)
case('sparsemax', 'LigerSparsemaxFunction', lambda: numbers(32, 128), -1)
case('kl_div', 'LigerKLDivLossFunction', logs, distribution)
case('jsd', 'LigerJSDFunction', logs, lambda: logs().detach())
case('jsd', 'LigerJSDFunction', logs, lambda: logs().detach(), None, 0.1)
case('tvd', 'LigerTVDLossFunction', lambda: distribution().requires_grad_(), distribution)
case('group_norm', 'LigerGroupNormFunction', lambda: numbers(4, 8, 64), lambda: numbers(8), lambda: numbers(8), 8, 2, 1e-5)
case('fused_linear_cross_entropy', 'LigerFusedLinearCrossEntropyFunction', lambda: numbers(32, 64), lambda: numbers(300, 64),
     targets)
case('llama4_rope', 'LigerLlama4RopeFunction', lambda: numbers(1, 32, 4, 64), lambda: numbers(1, 32, 2, 64),
     lambda: torch.polar(torch.ones(32, 32, device='cuda'), torch.randn(32, 32, device='cuda')))

integers = lambda top, *shape: lambda: torch.arange(math.prod(shape), device='cuda').reshape(shape) * 7 % top
case('modulated_rms_norm', 'LigerModulatedRMSNormFunction', lambda: numbers(2, 16, 256), lambda: numbers(256), lambda: numbers(2, 256),
     lambda: numbers(2, 256), 1e-5)
case('fused_linear_jsd', 'LigerFusedLinearJSDFunction', lambda: numbers(32, 64), lambda: numbers(300, 64), lambda: numbers(32, 64).detach(),
     lambda: numbers(300, 64).detach())
case('grpo_loss', 'GrpoLossFunction', lambda: numbers(2, 17, 300), lambda: -numbers(2, 16).detach().abs(), lambda: -numbers(2, 16).detach().abs(),
     integers(300, 2, 16), lambda: numbers(2).detach(), lambda: torch.ones(2, 16, device='cuda', dtype=torch.int32), 0.9, 0.04, 0.2, 0.4, False)
case('multi_token_attention', 'LigerMultiTokenAttentionFunction', lambda: numbers(1, 4, 32, 32), lambda: numbers(4, 4, 3, 3), None, 1, 1)
case('qwen2vl_mrope', 'LigerQwen2VLMRopeFunction', lambda: numbers(1, 4, 32, 64), lambda: numbers(1, 2, 32, 64),
     lambda: torch.randn(3, 1, 32, 64, device='cuda').cos(), lambda: torch.randn(3, 1, 32, 64, device='cuda').sin(), [8, 12, 12])
case('attn_res', 'LigerAttnResFunction', lambda: numbers(4, 2, 16, 128), lambda: numbers(128), lambda: numbers(128), 1e-6)
case('fused_neighborhood_attention', 'LigerFusedNeighborhoodAttentionFunction', lambda: numbers(1, 2, 64, 32), lambda: numbers(1, 2, 64, 32),
     lambda: numbers(1, 2, 64, 32), 7, 1)
case('fused_moe', 'LigerFusedMoEFunction', lambda: numbers(32, 64, kind=BF16), lambda: numbers(4, 128, 64, kind=BF16),
     lambda: numbers(4, 64, 64, kind=BF16), lambda: integers(4, 32, 2)().int(), lambda: torch.rand(32, 2, device='cuda'))
case('mlp', 'LigerMLPFunction', lambda: numbers(64, 128, kind=BF16), lambda: numbers(256, 128, kind=BF16), lambda: numbers(256, 128, kind=BF16),
     lambda: numbers(128, 256, kind=BF16))
case('mhc', 'LigerMHCPreFunction', lambda: numbers(1, 16, 4, 128, kind=BF16), lambda: numbers(1, 16, 4))
case('mhc', 'LigerMHCPostResFunction', lambda: numbers(1, 16, 4, 128, kind=BF16), lambda: numbers(1, 16, 128, kind=BF16), lambda: numbers(1, 16, 4),
     lambda: numbers(1, 16, 4, 4))


if __name__ == '__main__':
    common.main(CASES)
