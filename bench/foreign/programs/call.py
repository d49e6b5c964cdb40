"""Imports a file of a maker's examples and evaluates expressions in it: call.py FILE EXPRESSION..."""
import importlib.util
import pathlib
import sys

import torch
import tutorial_kernels
from triton._C import libtriton

if __name__ == '__main__':
    tutorial_kernels.quiet()
    libtriton.nvidia.cublas.CublasLt = lambda *_: None  # of benchmarks
    file = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(file.parent))
    spec = importlib.util.spec_from_file_location('example', file)
    module = sys.modules['example'] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for expression in sys.argv[2:]:
        eval(expression, vars(module))
        torch.cuda.synchronize()
        print('ran', expression, flush=True)
