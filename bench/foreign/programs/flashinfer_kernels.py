"""FlashInfer's kernels in Triton, through their own functions: the package's folder is $FLASHINFER, its other modules are not imported."""
import os
import pathlib
import sys
import types

import common
import torch

FOLDER = pathlib.Path(os.environ['FLASHINFER']) / 'flashinfer'
for name, folder in (('flashinfer', FOLDER), ('flashinfer.triton', FOLDER / 'triton')):
    sys.modules[name] = module = types.ModuleType(name)
    module.__path__ = [str(folder)]

from flashinfer.triton import activation, cascade, norm

cascade.check_device = lambda *_, **__: None  # it asks for Hopper
CASES = []


def x(*shape, kind=torch.float16):
    return torch.randn(*shape, device='cuda').to(kind)


def case(function):
    CASES.append(function)


@case
def rms_norm():
    norm.rms_norm(x(20, 500), x(500), torch.empty(20, 500, device='cuda', dtype=torch.float16), 1e-5)


@case
def rms_norm_add_residual():
    norm.rms_norm_add_residual(x(20, 500), x(20, 500), x(500), 1e-5)


@case
def silu_and_mul():
    activation.silu_and_mul(x(20, 600))


@case
def merge_state():
    cascade.merge_state(x(8, 4, 128), x(8, 4, kind=torch.float32), x(8, 4, 128), x(8, 4, kind=torch.float32))


@case
def merge_state_in_place():
    cascade.merge_state_in_place(x(8, 4, 128), x(8, 4, kind=torch.float32), x(8, 4, 128), x(8, 4, kind=torch.float32))


@case
def merge_states():
    cascade.merge_states(x(8, 5, 4, 128), x(8, 5, 4, kind=torch.float32))


@case
def gemm():
    from flashinfer.triton.sm_constraint_gemm import gemm, gemm_persistent, gemm_descriptor_persistent
    for function in (gemm, gemm_persistent, gemm_descriptor_persistent):
        try:
            function(x(256, 192), x(192, 256))
        except Exception as error:  # each by itself
            print('failed', function.__name__, repr(error)[:300])


if __name__ == '__main__':
    common.main(CASES)
