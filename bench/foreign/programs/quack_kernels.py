"""QuACK's kernels (CuTe DSL), through its own functions: rows, losses, selections, products."""
import importlib

import common
import torch

cross_entropy, gemm_interface, rmsnorm, softmax, topk = (
    importlib.import_module('quack.' + name) for name in ('cross_entropy', 'gemm_interface', 'rmsnorm', 'softmax', 'topk'))

CASES = []


def x(*shape, kind=torch.bfloat16):
    return torch.randn(*shape, device='cuda').to(kind)


def case(function):
    CASES.append(function)


@case
def rms_norm():
    rmsnorm.rmsnorm_fwd(x(16, 512), x(512, kind=torch.float32), store_rstd=True)


@case
def rms_norm_residual():
    rmsnorm.rmsnorm_fwd(x(16, 512), x(512, kind=torch.float32), residual=x(16, 512))


@case
def rms_norm_backward():
    rstd = torch.rand(16, device='cuda') + 0.5
    rmsnorm.rmsnorm_bwd(x(16, 512), x(512, kind=torch.float32), x(16, 512), rstd)


@case
def layer_norm():
    rmsnorm.layernorm_fwd(x(16, 512), x(512, kind=torch.float32), return_rstd=True, return_mean=True)


@case
def softmax_forward():
    softmax.softmax_fwd(x(16, 512))


@case
def softmax_of_a_cluster():
    softmax.softmax_fwd(x(2, 65536))


@case
def softmax_backward():
    softmax.softmax_bwd(x(16, 512), torch.softmax(x(16, 512, kind=torch.float32), -1).to(torch.bfloat16))


@case
def cross_entropy_forward():
    cross_entropy.cross_entropy_fwd(x(16, 512), torch.arange(16, device='cuda') * 7, return_lse=True)


@case
def cross_entropy_backward():
    target = torch.arange(16, device='cuda') * 7
    cross_entropy.cross_entropy_bwd(x(16, 512), target, torch.rand(16, device='cuda'), torch.rand(16, device='cuda') + 6)


@case
def top_k():
    topk.topk_fwd(x(16, 512), 8, softmax=True)


@case
def gemm():
    gemm_interface.gemm(x(256, 128), x(128, 256), tuned=False)


@case
def gemm_add():
    gemm_interface.gemm_add(x(256, 128), x(128, 256), x(256, 256), tuned=False)


@case
def gemm_act():
    gemm_interface.gemm_act(x(256, 128), x(128, 256), activation='relu', tuned=False)


if __name__ == '__main__':
    common.main(CASES)
