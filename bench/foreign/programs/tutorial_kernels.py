"""Triton's own tutorials, Gluon's too, at small sizes and without their benchmarks: each file of $TUTORIALS is imported with edits."""
import importlib.util
import os
import pathlib
import re
import sys
import tempfile
import types

import common
import torch
import triton
import triton.testing

FOLDER = pathlib.Path(os.environ.get('TUTORIALS', 'triton-tutorials'))
CASES = []


class NoBenchmark:
    def run(self, *_, **__):
        pass


def quiet():
    """No benchmarks, one configuration a kernel; modules that tutorials import for pictures and tests may be missing."""
    triton.testing.perf_report = lambda *_: lambda *_: NoBenchmark()
    triton.testing.do_bench = lambda *_, **__: 1.0
    autotune = triton.autotune
    triton.autotune = lambda configs, *a, **k: autotune(configs[:1], *a, **k)
    for name in ('tabulate', 'attention_tma'):
        if importlib.util.find_spec(name) is None:
            sys.modules[name] = types.SimpleNamespace(tabulate=lambda *_: '', _attention_bwd_tma=None)
    if importlib.util.find_spec('pytest') is None:
        keep = lambda *_, **__: lambda function: function
        sys.modules['pytest'] = types.SimpleNamespace(mark=types.SimpleNamespace(parametrize=keep, skipif=keep), fixture=keep, skip=print)


def load(file, edits):
    """The tutorial's module. An edit that finds nothing is an error: the file is another version."""
    text = (FOLDER / file).read_text()
    for pattern, replacement in edits.items():
        text, count = re.subn(pattern, replacement, text)
        if count == 0:
            raise ValueError('%s has no `%s`' % (file, pattern))
    copy = pathlib.Path(tempfile.mkdtemp()) / pathlib.Path(file).name
    copy.write_text(text)
    spec = importlib.util.spec_from_file_location('tutorial_' + re.sub(r'\W', '_', file), copy)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str((FOLDER / file).parent))
    spec.loader.exec_module(module)
    return module


def tutorial(file, edits={}, *calls):
    """Runs the file, then `calls`: (function of it, arguments)."""
    def body():
        module = load(file, edits)
        failed = []
        for name, arguments in calls:
            try:
                getattr(module, name)(*[a(module) if callable(a) else a for a in arguments])
            except Exception as error:  # the next call may run
                failed.append('%s%r: %r' % (name, arguments, error))
        torch.cuda.synchronize()
        if failed:
            raise RuntimeError(' | '.join(f[:200] for f in failed))
    body.__name__ = re.sub(r'\W+', '_', file[:-3])
    CASES.append(body)


F16, FP8 = torch.float16, torch.float8_e4m3fn
tutorial('01-vector-add.py', {r'size = 98432': 'size = 3000'})
tutorial('02-fused-softmax.py', {r'randn\(1823, 781': 'randn(70, 781'})
tutorial('03-matrix-multiplication.py', {r'\(512, 512\)': '(256, 320)', r'torch\.(rand|randn)\(\(256, 320\)(.*)\n(.*)\(256, 320\)': r'torch.\1((256, 320)\2\n\3(320, 256)'})
tutorial('04-low-memory-dropout.py')
tutorial('05-layer-norm.py', {r'test_layer_norm\(1151, 8192, torch\.float16\)': 'test_layer_norm(30, 1000, torch.float16)'})
tutorial('06-fused-attention.py', {}, *[('test_op', (1, 2, 256, dim, causal, False, mode, provider))
                                        for mode, provider in (('bwd', 'triton-fp16'), ('fwd', 'triton-fp8'))
                                        for dim in (64, 128) for causal in (False, True)])
tutorial('07-extern-functions.py', {r'size = 98432': 'size = 3000', r'current_file = [\s\S]*': ''})
tutorial('08-grouped-gemm.py', {r'= \[1024, 512, 256, 128\]': '= [256, 256, 128, 128]'})
tutorial('09-persistent-matmul.py', {}, *[('validate', (384, 256, k, kind)) for k in (192,) for kind in (F16, FP8)])
tutorial('11-programmatic-dependent-launch.py', {}, ('validate', (3000,)))
tutorial('gluon/01-intro.py', {}, ('test_copy_scalar', ()), ('test_memcpy', (64, 500)))
tutorial('gluon/02-layouts.py', {}, ('test_memcpy_1d', (256, 1000, 4)), ('test_memcpy_2d', (128, 256, 100, 400, False, 4)),
         ('test_memcpy_2d', (128, 256, 100, 400, True, 4)), ('test_memcpy_2d_inout', (150, 200, True, False)))
tutorial('gluon/03-async-copy.py', {}, ('test_memcpy_1d_cpasync', (1000, 256)), ('test_elementwise_add', (100, 200, 32, 32)),
         ('test_elementwise_add_cpasync', (100, 200, 32, 32)), ('test_elementwise_add_pipelined', (100, 200, 32, 64, 2)))
tutorial('gluon/04-tma.py', {}, ('test_memcpy_1d_tma', (64, 500)), ('test_elementwise_add_pipelined', (100, 200, 32, 64, 1)),
         ('test_elementwise_add_pipelined', (200, 120, 32, 64, 3)))
tutorial('gluon/05-wgmma.py', {}, ('test_small_mma', (64, 32, 32, False, 16, 4)), ('test_small_mma', (64, 256, 128, True, 64, 4)),
         ('test_small_mma', (64, 256, 128, False, 64, 8)), ('test_blocked_matmul', (208, 416, 304, 64, 64, 64, False, 4)),
         ('test_blocked_matmul', (208, 416, 304, 128, 128, 128, True, 8)), ('test_blocked_matmul_pipelined', (208, 416, 304, 64, 64, 64, 4)),
         ('test_blocked_matmul_pipelined', (208, 416, 304, 128, 128, 128, 8)))
schedulers = lambda module: module.schedulers[0]
grouped = lambda module: module.schedulers[-1]
tutorial('gluon/07-persistence.py', {}, ('test_pipelined_matmul', (400, 520, 320, 128, 256, 64, 2, 8)),
         ('test_persistent_matmul', (400, 520, 320, 128, 256, 64, 3, 8, schedulers)), ('test_persistent_matmul', (400, 520, 320, 128, 256, 64, 3, 8, grouped)),
         ('test_persistent_matmul_pipelined', (208, 416, 304, 64, 64, 64, 3, 4, schedulers)),
         ('test_persistent_matmul_pipelined', (208, 416, 304, 64, 64, 64, 4, 8, grouped)))
tutorial('gluon/08-warp-specialization.py', {}, ('test_elementwise_add_warp_specialized', (100, 200, 32, 64, 1, 1, 4)),
         ('test_elementwise_add_warp_specialized', (200, 120, 32, 64, 2, 2, 8)))


if __name__ == '__main__':
    quiet()
    common.main(CASES)
